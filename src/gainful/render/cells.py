"""The values of tables: formatted for people, or exact for machines, also as pandas, polars and Arrow frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from math import isinf, isnan
from typing import Any, NamedTuple

from gainful.errors import MissingExtraError, UsageError
from gainful.notation import ENDLESS, bytes_of_id, nearest, printable
from gainful.pages.page import Cell, Column, Conventions, Page, Table


class Shown(NamedTuple):
    """A cell: its text, whether it is emphasised, and the texts of its difference and marks (may be empty)."""

    text: str
    is_marked: bool
    difference: str = ""
    marks: str = ""


class Group(NamedTuple):
    """A column with its index, and the differences or marks that follow it."""

    column: Column
    place: int
    difference: Column | None
    has_marks: bool = False

    @property
    def is_text(self) -> bool:
        return self.column.kind == "text"


def groups(table: Table) -> list[Group]:
    """Return the visible columns of a table, each with its differences."""
    found = []
    for i, column in enumerate(table.columns):
        after = table.columns[i + 1] if i + 1 < len(table.columns) else Column("")
        if (column.kind not in ("difference", "marks") or i == 0) and not column.for_machines:
            found.append(Group(column, i, after if after.kind == "difference" else None, after.kind == "marks"))
    return found


def shown_rows(table: Table, columns: list[Group]) -> list[tuple[Shown, ...]]:
    """Return the visible cells of a table as texts, row by row."""
    by_column = list(zip(*table.rows[: table.most], strict=True))
    return list(zip(*(_shown_column(table, group, by_column) for group in columns), strict=True)) if by_column else []


def _shown_column(table: Table, group: Group, by_column: Sequence[Sequence[Cell]]) -> list[Shown]:
    column, place, difference, has_marks = group
    cells, marked = by_column[place], {row for row, marked_place in table.marked if marked_place == place}
    if column.kind == "number":  # the most frequent kind in long tables
        form = f"{'+' if column.signed else ''}.{column.decimals}f"
        texts = [
            format(cell, form) if type(cell) is float and not isnan(cell) else shown(cell, column) for cell in cells
        ]
    else:
        texts = [shown(cell, column) for cell in cells]
    differences = marks = [""] * len(texts)
    if has_marks:
        marks = [plain(str(beside or "")) for beside in by_column[place + 1]]
    elif difference is not None:
        form = f"({{:+.{difference.decimals}f}})"
        differences = ["" if present(cell) is None else form.format(cell) for cell in by_column[place + 1]]
    return [Shown(text, i in marked, differences[i], marks[i]) for i, text in enumerate(texts)]


def shown(cell: Cell, column: Column) -> str:
    """Format a value for people.

    >>> shown(0.73, Column("agree", "share")), shown(2 / 3, Column("AP", "number", 2)), shown(None, Column("AP"))
    ('73.0%', '0.67', '-')
    """
    cell = present(cell)
    if cell is None:
        return column.none
    if isinstance(cell, str):
        return plain(cell)
    if isinstance(cell, bool):
        return "yes" if cell else column.none
    if column.kind in ("text", "exact"):
        return str(cell)
    if column.kind == "share":
        return f"{100 * cell:.{column.decimals}f}%"
    return f"{cell:{'+' if column.signed else ''}.{column.decimals}f}"


def exact(cell: Cell, column: Column) -> Cell:
    """Convert a value for machines: a text, bool, float, int for counts, or None.

    >>> exact(0.73, Column("agree", "share")), exact(3.0, Column("documents", "count")), exact(3, Column("query"))
    (0.73, 3, '3')
    """
    cell = present(cell)
    if cell is None or isinstance(cell, (str, bool)):
        return cell
    if column.kind in ("text", "marks"):
        return str(cell)
    if isinstance(cell, int) and column.kind != "share":
        return cell
    value = float(cell)
    if column.kind == "exact" and isinf(value):
        return None
    return int(value) if column.kind == "count" and value.is_integer() else value


def present(cell: Cell) -> Cell:
    """Return the value, or None for NaN."""
    return None if cell != cell else cell  # noqa: PLR0124 - NaN is not equal to itself


def plain(text: str) -> str:
    """Return a text or ID on one line, with unprintable characters escaped."""
    return text if text.isascii() and text.isprintable() else printable(text, ENDLESS).replace("\t", " ")


class Paragraph(NamedTuple):
    """The lines of a paragraph; ``is_verbatim`` if all are indented by four, like formulas."""

    lines: list[str]
    is_verbatim: bool

    @classmethod
    def of(cls, text: str) -> Paragraph:
        lines = [plain(line.rstrip()) for line in text.strip("\n").split("\n")]
        return cls(lines, all(line.startswith("    ") or not line for line in lines) and any(lines))


def explained(note: str, emphasis: str) -> str:
    """Name the mark of a note as a format shows it.

    >>> explained("* best in column", "bold")
    'bold: best in column'
    """
    return f"{emphasis}: {note[2:]}" if note.startswith("* ") else note


def as_code(note: str) -> list[tuple[str, bool]]:
    """Split a note into pieces, with whether each is set as code: short conventions and full signatures are.

    >>> as_code("bm25: order:score|ties:input")
    [('bm25:', False), ('order:score|ties:input', True)]
    """
    return [(note, True)] if isinstance(note, Conventions) else [(word, is_code(word)) for word in note.split(" ")]


def is_code(word: str) -> bool:
    """Whether a word of a note is set as code, as signatures are."""
    return "|" in word and ":" in word


class FrameColumn(NamedTuple):
    """Values of one type: ``str``, ``bool``, ``int`` or ``float``; None if missing."""

    type: type
    values: Sequence[Cell]

    @classmethod
    def of(cls, cells: Iterable[Cell], column: Column) -> FrameColumn:
        """Convert cells for machines: texts, bools, integers if all are whole, or floats."""
        values = [exact(cell, column) for cell in cells]
        types = {type(value) for value in values if value is not None}
        if types == {bool}:
            return cls(bool, values)
        if str in types or column.kind in ("text", "marks"):
            return cls(str, [None if value is None else readable(str(value)) for value in values])
        if column.kind == "count" and types <= {int}:
            return cls(int, values)
        return cls(float, [None if value is None else float(value) for value in values])


def columns_of(page: Page, name: str | None) -> dict[str, FrameColumn]:
    """Return the columns of the table with a title, or of a page's main table."""
    tables = list(page.titled_tables)
    if not tables:
        raise UsageError("a frame needs a result with a table")
    # By default the first table made for machines, or the first of all.
    whole = [table for _, table in tables if all(column.for_machines for column in table.columns)]
    fitting = [*whole, tables[0][1]] if name is None else [table for title, table in tables if title == name]
    if name is not None and not fitting:
        titles = [title for title, _ in tables]
        listed = " | ".join(filter(None, titles)) or "one without a title"
        raise UsageError(f"table: no table '{printable(name)}'; tables are: {listed}", nearest(name, titles))
    table = fitting[0]
    cells = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
    return {column.name: FrameColumn.of(each, column) for column, each in zip(table.columns, cells, strict=True)}


def stacked(parts: Sequence[Mapping[str, FrameColumn]]) -> dict[str, FrameColumn]:
    """Concatenate frames with the same columns; a number column is integer if all parts are."""
    if not parts:
        raise UsageError("a frame needs at least one evaluation")
    made = {}
    for name in parts[0]:
        kinds = {part[name].type for part in parts}
        values = [value for part in parts for value in part[name].values]
        made[name] = FrameColumn(kinds.pop() if len(kinds) == 1 else float, values)
    return made


def readable(identifier: str) -> str:
    """Escape the bytes of an ID that are not UTF-8 as ``\\xff``, because frames hold UTF-8."""
    return bytes_of_id(identifier).decode("utf-8", "backslashreplace")


def frame_library(name: str) -> Any:
    """Import pandas, polars or pyarrow; raise MissingExtraError with a hint if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        hint = "install it with: pip install 'gainful[frames]'"
        raise MissingExtraError(f"a frame of {name} needs the package {name}", hint) from error
