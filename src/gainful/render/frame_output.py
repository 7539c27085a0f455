"""Columns as data frames: of pandas, polars and Arrow, each with the type that its values have."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.errors import MissingExtraError, UsageError
from gainful.notation import bytes_of_id, nearest, printable
from gainful.pages.page import Cell, Column, Page, Table
from gainful.render.cells import exact

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class FrameColumn(NamedTuple):
    """Values of one type, ``str``, ``bool``, ``int`` or ``float``; None where there is none."""

    type: type
    values: Sequence[Cell]

    @classmethod
    def of(cls, cells: Iterable[Cell], column: Column) -> FrameColumn:
        """What a table's column has for machines: texts, truth values, whole numbers if all are, or numbers."""
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
    """The columns of the table of a page that has a title, or of its main one."""
    table = _chosen(list(page.titled_tables), name)
    cells = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
    return {column.name: FrameColumn.of(each, column) for column, each in zip(table.columns, cells, strict=True)}


def _chosen(tables: Sequence[tuple[str, Table]], name: str | None) -> Table:
    """The table of that title; without one the first that is made for machines, or the first of all."""
    if not tables:
        raise UsageError("a frame: expected something with a table, found none")
    if name is None:
        whole = (table for _, table in tables if all(column.for_machines for column in table.columns))
        return next(whole, tables[0][1])
    for title, table in tables:
        if title == name:
            return table
    titles = [title for title, _ in tables]
    listed = " | ".join(filter(None, titles)) or "one without a title"
    raise UsageError(f"table: no table is called '{printable(name)}'; there are: {listed}", nearest(name, titles))


def stacked(parts: Sequence[Mapping[str, FrameColumn]]) -> dict[str, FrameColumn]:
    """The rows of several frames of the same columns, one below the other; a number is whole if all are."""
    if not parts:
        raise UsageError("a frame: expected at least one evaluation, found none")
    made = {}
    for name in parts[0]:
        kinds = {part[name].type for part in parts}
        values = [value for part in parts for value in part[name].values]
        made[name] = FrameColumn(kinds.pop() if len(kinds) == 1 else float, values)
    return made


def readable(identifier: str) -> str:
    """Frames hold UTF-8: bytes that are not are written ``\\xff``."""
    return bytes_of_id(identifier).decode("utf-8", "backslashreplace")


def to_pandas(columns: Mapping[str, FrameColumn]) -> pandas.DataFrame:
    """A frame of pandas; numbers that lack a value are floats with NaN."""
    library = _library("pandas")
    made: dict[str, Any] = {}
    for name, (kind, values) in columns.items():
        if kind is str:
            made[name] = list(values)
        elif kind is bool:
            made[name] = library.Series(values, dtype="boolean" if None in values else "bool")
        else:
            present = [math.nan if value is None else value for value in values]
            made[name] = library.Series(present, dtype="int64" if kind is int and None not in values else "float64")
    frame: pandas.DataFrame = library.DataFrame(made)
    return frame


def to_polars(columns: Mapping[str, FrameColumn]) -> polars.DataFrame:
    """A frame of polars."""
    library = _library("polars")
    types = {str: library.String, bool: library.Boolean, int: library.Int64, float: library.Float64}
    schema = {name: types[column.type] for name, column in columns.items()}
    data = {name: column.values for name, column in columns.items()}
    frame: polars.DataFrame = library.DataFrame(data, schema=schema)
    return frame


def to_arrow(columns: Mapping[str, FrameColumn]) -> pyarrow.Table:
    """A table of Arrow."""
    library = _library("pyarrow")
    types = {str: library.string(), bool: library.bool_(), int: library.int64(), float: library.float64()}
    schema = library.schema({name: types[column.type] for name, column in columns.items()})
    table: pyarrow.Table = library.table({name: column.values for name, column in columns.items()}, schema=schema)
    return table


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"a frame of {name} needs the package {name}", "install it with: pip install 'gainful[frames]'"
        ) from error
