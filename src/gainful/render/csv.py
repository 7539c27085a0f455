"""Comma-separated values: for spreadsheets and data frames, full precision, one line a row (RFC 4180, LF line ends)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from gainful.render.page import Cell, Heading, Page, Showable, Table
from gainful.render.shown import exact, plain

_NEEDS_QUOTES = re.compile(r'[",\r\n]')


def write(content: Showable, out: TextIO) -> None:
    """The tables, an empty line between them; of several each has its title above it, as ``# title``. No notes."""
    tables = list(_titled(content.page()))
    for i, (title, table) in enumerate(tables):
        out.write("\n" if i else "")
        if title and len(tables) > 1:
            out.write(f"# {plain(title)}\n")
        out.writelines(_lines(table))


def _titled(page: Page) -> Iterator[tuple[str, Table]]:
    """The tables with their titles, after the heading that they stand under."""
    heading = ""
    for part in page.parts:
        if isinstance(part, Heading):
            heading = part
        elif isinstance(part, Table) and not part.for_people:
            yield ": ".join(filter(None, (heading, part.title))), part


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
