"""HTML: one small page that needs nothing else, or a piece of one for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TextIO

from gainful.render.page import Heading, Page, Showable, Table
from gainful.render.shown import Group, Paragraph, Shown, explained, groups, is_code, plain, shown_rows

_PAGE_STYLE = """\
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: Canvas; color: CanvasText; }
"""

#: Colours come from the text's own, so that light and dark pages both work.
_STYLE = """\
.gainful { font: 15px/1.5 system-ui, sans-serif; overflow-x: auto; }
.gainful table { border-collapse: collapse; margin: 1rem 0; border-block: 2px solid; }
.gainful table { font-variant-numeric: tabular-nums; }
.gainful caption { text-align: left; font-weight: 600; padding-bottom: .4rem; white-space: nowrap; }
.gainful th, .gainful td { padding: .2rem .8rem; text-align: left; vertical-align: baseline; border: 0; }
.gainful th:first-child, .gainful td:first-child { padding-left: .2rem; }
.gainful thead th { border-bottom: 1px solid; font-weight: 600; }
.gainful tbody tr:nth-child(n) { background: none; }
.gainful tbody tr:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
.gainful .number { text-align: right; white-space: nowrap; }
.gainful .marked { font-weight: 700; }
.gainful .difference { display: inline-block; min-width: 5.5em; opacity: .7; font-weight: 400; }
.gainful .note { font-size: .8em; opacity: .7; margin: .3rem 0; overflow-wrap: anywhere; }
"""


def write(content: Showable, out: TextIO) -> None:
    """A page that stands alone."""
    page = content.page()
    out.write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>gainful {escape(plain(page.command))}</title>\n<style>\n{_PAGE_STYLE}{_STYLE}</style>\n</head>\n"
        f'<body class="gainful">\n{_body(page)}</body>\n</html>\n'
    )


def fragment(page: Page) -> str:
    """The part of a page that a notebook shows, with its style."""
    return f'<div class="gainful">\n<style>\n{_STYLE}</style>\n{_body(page)}</div>\n'


def _body(page: Page) -> str:
    lines: list[str] = []
    for part in page.parts_for_people:
        if isinstance(part, str):
            lines.append(_paragraph(part))
        elif isinstance(part, Table):
            lines += _table(part)
        else:
            lines.append(_verbatim(page.chart_text(part)))
    return "".join(f"{line}\n" for line in [*lines, *map(_note, page.notes)])


def _paragraph(text: str) -> str:
    if isinstance(text, Heading):
        return f"<h2>{escape(plain(text))}</h2>"
    lines, is_verbatim = Paragraph.of(text)
    if is_verbatim:
        return _verbatim([line[4:] for line in lines])
    return "<p>" + "<br>\n".join(map(escape, lines)) + "</p>"


def _verbatim(lines: list[str]) -> str:
    return "<pre>" + "\n".join(map(escape, lines)) + "</pre>"


def _table(table: Table) -> Iterator[str]:
    columns = groups(table)
    yield "<table>"
    if table.title:
        yield f"<caption>{escape(plain(table.title))}</caption>"
    names = "".join(f"<th{_class(group)}>{escape(plain(group.column.name))}</th>" for group in columns)
    yield f"<thead>\n<tr>{names}</tr>\n</thead>\n<tbody>"
    for row in shown_rows(table, columns):
        cells = "".join(_cell(cell, group) for cell, group in zip(row, columns, strict=True))
        yield f"<tr>{cells}</tr>"
    yield "</tbody>\n</table>"
    yield from map(_note, table.notes)


def _cell(cell: Shown, group: Group) -> str:
    difference = "" if group.difference is None else f' <span class="difference">{escape(cell.difference)}</span>'
    marks = f"<sup>{escape(cell.marks)}</sup>" if cell.marks else ""
    return f"<td{_class(group, cell.is_marked)}>{escape(cell.text)}{difference}{marks}</td>"


def _class(group: Group, is_marked: bool = False) -> str:
    names = [*([] if group.is_text else ["number"]), *(["marked"] if is_marked else [])]
    return f' class="{" ".join(names)}"' if names else ""


def _note(note: str) -> str:
    """Sentences as they are, signatures as code."""
    words = escape(plain(explained(note, "bold"))).split(" ")
    return f'<p class="note">{" ".join(f"<code>{word}</code>" if is_code(word) else word for word in words)}</p>'
