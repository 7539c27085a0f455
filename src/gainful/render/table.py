"""Tables for people: aligned columns, the best marked, the conventions below."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import zip_longest
from typing import TextIO

from gainful.render.page import Heading, Showable, Table
from gainful.render.shown import Group, Paragraph, Shown, groups, plain, shown_rows

_WIDEST_LABEL, _WIDEST_TEXT, _WIDEST_LINE = 80, 60, 100
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def write(content: Showable, out: TextIO) -> None:
    """Tables and paragraphs one below the other, marked cells with an asterisk (on a terminal in bold), then notes."""
    page = content.page()
    bold = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    always = content.has_place_for_marks
    blocks = [
        _paragraph(part)
        if isinstance(part, str)
        else _table(part, bold, always)
        if isinstance(part, Table)
        else page.chart_text(part)
        for part in page.parts_for_people
    ]
    if page.notes:
        blocks.append([plain(note) for note in page.notes])
    out.write("\n\n".join("\n".join(block) for block in blocks) + "\n")


def _paragraph(text: str) -> list[str]:
    if isinstance(text, Heading):
        return [plain(text), "=" * len(plain(text))]
    lines, is_verbatim = Paragraph.of(text)
    return lines if is_verbatim else [piece for line in lines for piece in _wrapped(line, _WIDEST_LINE)]


def _table(table: Table, bold: bool, always: bool) -> list[str]:
    columns, labels = groups(table), table.labels
    marked = {place for _, place in table.marked}
    has_marks = [not group.is_text and (always or group.place in marked) for group in columns]
    header = [plain(group.column.name) for group in columns]
    shown_cells = shown_rows(table, columns)
    raised = [max((len(row[i].marks) for row in shown_cells), default=0) for i in range(len(columns))]
    rows = [_physical_lines(row, columns, labels, has_marks, raised) for row in shown_cells]
    texts = [header, *(line for _, lines in rows for line in lines)]
    widths = [max(len(line[i]) for line in texts) for i in range(len(columns))]
    is_left = [group.is_text for group in columns]
    shown = [_line(header, widths, is_left), "  ".join("-" * width for width in widths)]
    for row, lines in rows:
        shown.append(_line(lines[0], widths, is_left, [bold and cell.is_marked for cell in row]))
        shown += [_line(line, widths, is_left) for line in lines[1:]]
    return [
        *([plain(table.title)] if table.title else []),
        *shown,
        *(["", *map(plain, table.notes)] if table.notes else []),
    ]


def _physical_lines(
    row: list[Shown], columns: list[Group], labels: int, has_marks: list[bool], raised: list[int]
) -> tuple[list[Shown], list[Sequence[str]]]:
    """A row with the lines that it takes: more than one where a text is long."""
    texts = [_text(*each) for each in zip(row, columns, has_marks, raised, strict=True)]
    if all(len(text) <= _WIDEST_TEXT for text in texts):
        return row, [texts]
    pieces = [
        [text] if not group.is_text else _label_lines(text) if i < labels else _wrapped(text, _WIDEST_TEXT)
        for i, (text, group) in enumerate(zip(texts, columns, strict=True))
    ]
    return row, list(zip_longest(*pieces, fillvalue=""))


def _label_lines(text: str) -> list[str]:
    """A sentence takes several lines; an id that is too long is cut."""
    lines = _wrapped(text, _WIDEST_LABEL)
    return [line if len(line) <= _WIDEST_LABEL else line[: _WIDEST_LABEL - 3] + "..." for line in lines]


def _text(cell: Shown, group: Group, has_marks: bool, raised: int) -> str:
    """The value, a place for the mark, and where there are differences or letters a place for these."""
    text = cell.text + ("*" if cell.is_marked else " " if has_marks else "")
    if raised:
        return f"{text} {cell.marks.ljust(raised)}"
    if group.difference is None:
        return text
    return f"{text} {cell.difference or ' ' * len(f'({0.0:+.{group.difference.decimals}f})')}"


def _line(texts: Sequence[str], widths: Sequence[int], is_left: Sequence[bool], bold: Sequence[bool] = ()) -> str:
    cells = [
        text.ljust(width) if left else text.rjust(width)
        for text, width, left in zip(texts, widths, is_left, strict=True)
    ]
    for i, emphasised in enumerate(bold):
        if emphasised:
            value, mark, rest = cells[i].rpartition("*")
            indent = len(value) - len(value.lstrip())
            cells[i] = f"{value[:indent]}{_BOLD}{value[indent:]}{mark}{_PLAIN}{rest}"
    return "  ".join(cells).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
