"""Comma-separated values: for spreadsheets and data frames, full precision, one line a row (RFC 4180, LF line ends)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from gainful.render.page import Cell, Showable, Table
from gainful.render.shown import exact, plain

_NEEDS_QUOTES = re.compile(r'[",\r\n]')


def write(content: Showable, out: TextIO) -> None:
    """The tables, an empty line between them; of several each has its title above it, as ``# title``. No notes."""
    tables = list(content.page().tables_for_machines)
    for i, table in enumerate(tables):
        out.write("\n" if i else "")
        if table.title and len(tables) > 1:
            out.write(f"# {plain(table.title)}\n")
        out.writelines(_lines(table))


def _lines(table: Table) -> Iterator[str]:
    yield _line([_quoted(column.name) for column in table.columns])
    for row in table.rows:
        yield _line([_field(exact(cell, column)) for cell, column in zip(row, table.columns, strict=True)])


def _line(fields: list[str]) -> str:
    # A lone empty field would be an empty line, and that separates tables.
    return (",".join(fields) or '""') + "\n"


def _field(cell: Cell) -> str:
    """A value as it can be read back, nothing where there is none."""
    return "" if cell is None else _quoted(cell) if isinstance(cell, str) else repr(cell)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
