"""Comma-separated values: for spreadsheets and data frames, full precision, one line a row (RFC 4180, LF line ends)."""

from __future__ import annotations

import re
from typing import TextIO

from gainful.render.page import Cell, Column, Showable, Table
from gainful.render.shown import present

_NEEDS_QUOTES = re.compile(r'[",\r\n]')


def write(content: Showable, out: TextIO) -> None:
    """The tables, an empty line between them; no titles, no notes."""
    for i, table in enumerate(content.page().tables):
        out.write("\n" if i else "")
        out.writelines(_lines(table))


def _lines(table: Table) -> list[str]:
    header = _line([_quoted(column.name) for column in table.columns])
    return [header] + [
        _line([exact(cell, c) for cell, c in zip(row, table.columns, strict=True)]) for row in table.rows
    ]


def _line(fields: list[str]) -> str:
    # A lone empty field would be an empty line, and that separates tables.
    return (",".join(fields) or '""') + "\n"


def exact(cell: Cell, column: Column) -> str:
    """A value as it can be read back: floats as Python writes them, nothing where there is none."""
    cell = present(cell)
    if cell is None:
        return ""
    if isinstance(cell, str) or column.kind == "text":
        return _quoted(str(cell))
    return str(int(cell)) if column.kind == "count" or isinstance(cell, int) else repr(float(cell))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
