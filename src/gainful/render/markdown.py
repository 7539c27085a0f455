"""Markdown: pipe tables as GitHub draws them, the best in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from gainful.render.page import Heading, Showable, Table
from gainful.render.shown import Paragraph, Shown, explained, groups, is_code, plain, shown_rows

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def write(content: Showable, out: TextIO) -> None:
    """Titles as headings, tables, paragraphs, and notes below."""
    page = content.page()
    blocks: list[str] = []
    for part in page.parts_for_people:
        if isinstance(part, str):
            blocks.append(_paragraph(part))
        elif isinstance(part, Table):
            blocks += _table(part)
        else:
            blocks.append(_verbatim(page.chart_text(part)))
    out.write("\n\n".join([*blocks, *map(_note, page.notes)]) + "\n")


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"### {escaped(table.title)}"
    columns = groups(table)
    header = [escaped(group.column.name) for group in columns]
    rows = [[_cell(cell) for cell in row] for row in shown_rows(table, columns)]
    widths = [max(3, *(len(row[i]) for row in [header, *rows])) for i in range(len(columns))]
    is_left = [group.is_text for group in columns]
    rule = ["-" * width if left else "-" * (width - 1) + ":" for width, left in zip(widths, is_left, strict=True)]
    yield "\n".join(_line(row, widths, is_left) for row in [header, rule, *rows])
    yield from map(_note, table.notes)


def _line(texts: list[str], widths: list[int], is_left: list[bool]) -> str:
    cells = [
        text.ljust(width) if left else text.rjust(width)
        for text, width, left in zip(texts, widths, is_left, strict=True)
    ]
    return f"| {' | '.join(cells)} |"


def _cell(cell: Shown) -> str:
    text = escaped(cell.text)
    bold = f"**{text}**" if cell.is_marked and text else text
    marks = f" <sup>{escaped(cell.marks)}</sup>" if cell.marks else ""
    return f"{bold} {cell.difference}".rstrip() + marks


def _paragraph(text: str) -> str:
    if isinstance(text, Heading):
        return f"## {escaped(text)}"
    lines, is_verbatim = Paragraph.of(text)
    if is_verbatim:
        return _verbatim([line[4:] for line in lines])
    return "\n".join(map(escaped, lines))


def _verbatim(lines: list[str]) -> str:
    # Names may hold backticks: what fences the lines is longer than any of them.
    longest = max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _note(note: str) -> str:
    """Sentences as they are, signatures as code."""
    words = plain(explained(note, "bold")).split(" ")
    return " ".join(f"`{word}`" if is_code(word) and "`" not in word else escaped(word) for word in words)


def escaped(text: str) -> str:
    """Text that is shown as it is."""
    return _SPECIAL.sub(r"\\\1", plain(text))
