"""Data frames: anything with the Arrow PyCapsule interface, and pandas without pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.core import core
from gainful.errors import InputError, MissingExtraError
from gainful.io.columns import find_roles
from gainful.io.origin import FrameRows
from gainful.io.rows import Reading, Rows, Spans, is_pandas
from gainful.io.sources import Text
from gainful.io.trec import input_error
from gainful.notation import printable

_SHOWN = 10
_T = TypeVar("_T")


def read_frame(frame: Any, columns: Mapping[str, str], *, run: bool, name: str) -> Rows:
    """The columns that matter, as rows."""
    if is_pandas(frame):
        return _read_pandas(frame, columns, run, name)
    return _read_arrow(frame, columns, run, name)


def read_parquet(text: Text, reading: Reading, *, run: bool) -> Rows:
    """A parquet file, through pyarrow or polars."""
    try:
        frame = _parquet_frame(text)
    except (MissingExtraError, MemoryError):
        raise
    except Exception as error:  # each library has its own exceptions for damaged data
        raise InputError(f"{text.name}: expected parquet, found a file that cannot be read ({error})") from error
    return _read_arrow(frame, reading.columns, run, text.name)


def _parquet_frame(text: Text) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet

        return parquet.read_table(pyarrow.BufferReader(text.data))
    except ImportError:
        pass
    try:
        import io

        import polars

        return polars.read_parquet(io.BytesIO(text.data.tobytes()))
    except ImportError as error:
        raise MissingExtraError(
            f"{text.name}: reading parquet needs pyarrow or polars", "install one: pip install 'gainful[parquet]'"
        ) from error


class _Columns:
    """The columns of a frame by their place: ids, numbers, and what is wrong with a row."""

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        ids: Callable[[int], tuple[Spans, Sequence[int]]],
        numbers: Callable[[int], tuple[Floats, Sequence[int]]],
        shown: Callable[[int, int], str],
    ) -> None:
        self._name, self._names = name, names
        self._ids, self._numbers, self._shown = ids, numbers, shown

    def rows(self, given: Mapping[str, str], run: bool) -> Rows:
        roles = find_roles(self._names, given, run=run, where=self._name)
        query = self._id(roles["query"], "query")
        value = roles.get("score" if run else "grade")
        return Rows(
            query,
            self._id(roles["document"], "document"),
            None if value is None else self._number(value, "score" if run else "grade"),
            FrameRows(self._name, np.arange(query[1].size)),
            self._number(roles["rank"], "rank") if "rank" in roles else None,
            self._id(roles["subtopic"], "subtopic") if "subtopic" in roles else None,
        )

    def _id(self, column: int, role: str) -> Spans:
        spans, bad = self._checked(lambda: self._ids(column), column, f"an id as {role}")
        self._refuse(bad, len(bad), column, f"an id as {role}")
        return spans

    def _number(self, column: int, role: str) -> Floats:
        values, bad = self._checked(lambda: self._numbers(column), column, f"a number as {role}")
        infinite = np.flatnonzero(~np.isfinite(values))
        if infinite.size:
            self._refuse(infinite[:_SHOWN].tolist(), int(infinite.size), column, f"a finite number as {role}")
        self._refuse(bad, len(bad), column, f"a finite number as {role}")
        return values

    def _checked(self, read: Callable[[], _T], column: int, expected: str) -> _T:
        try:
            return read()
        except TypeError as error:
            raise InputError(
                f"{self._name}: expected {expected} in column '{self._names[column]}', found {error}"
            ) from error

    def _refuse(self, rows: Sequence[int], count: int, column: int, expected: str) -> None:
        if len(rows):
            messages = [
                f"{self._name}: row {row} (counting from 0): expected {expected} in column '{self._names[column]}', "
                f"found {self._shown(column, row)}"
                for row in rows
            ]
            raise input_error(messages, count, None)


def _read_arrow(frame: Any, columns: Mapping[str, str], run: bool, name: str) -> Rows:
    try:
        table = core.ArrowTable(frame.__arrow_c_stream__())
    except ValueError as error:
        raise InputError(f"{name}: expected a table of columns, found {error}") from error

    def ids(column: int) -> tuple[Spans, Sequence[int]]:
        data, start, length, bad = table.ids(column)
        return (data, start, length), bad.tolist()

    def numbers(column: int) -> tuple[Floats, Sequence[int]]:
        values, bad = table.numbers(column)
        return values, bad.tolist()

    def shown(column: int, row: int) -> str:
        kind = table.formats[column].removeprefix("dictionary of ")
        return "null" if kind not in ("f", "g", "e") else "null, NaN or infinity"

    return _Columns(name, table.names, ids, numbers, shown).rows(columns, run)


def _read_pandas(frame: Any, columns: Mapping[str, str], run: bool, name: str) -> Rows:
    names = [column if isinstance(column, str) else str(column) for column in frame.columns]
    roles = find_roles(names, columns, run=run, where=name)
    wanted = frame.iloc[:, list(roles.values())]
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _read_arrow(wanted, {role: names[i] for role, i in roles.items()}, run, name)
        except (ImportError, InputError):
            pass  # without pyarrow, or with what Arrow cannot hold, such as texts and integers in one column
        except Exception as error:  # pyarrow's own, raised while pandas converts
            if not type(error).__module__.startswith("pyarrow"):
                raise

    def ids(column: int) -> tuple[Spans, Sequence[int]]:
        return _pandas_ids(frame.iloc[:, column])

    def numbers(column: int) -> tuple[Floats, Sequence[int]]:
        return _pandas_numbers(frame.iloc[:, column])

    def shown(column: int, row: int) -> str:
        return printable(repr(frame.iloc[row, column]))

    return _Columns(name, names, ids, numbers, shown).rows(columns, run)


def _pandas_ids(series: Any) -> tuple[Spans, Sequence[int]]:
    if hasattr(series, "cat"):
        # The categories once, then a span for every row.
        (data, start, length), bad = _packed(series.cat.categories.tolist())
        if not bad:
            codes = series.cat.codes.to_numpy().astype(np.int64)
            rows = np.flatnonzero(codes < 0)[:_SHOWN].tolist()
            return (data, _taken(start, codes), _taken(length, codes)), rows
    if series.dtype.kind in "iu":
        return _packed(series.to_numpy().tolist())
    return _packed(series.tolist())


def _taken(values: Ints, codes: Ints) -> Ints:
    return values[codes] if values.size else np.zeros(codes.size, np.int64)


def _packed(values: list[object]) -> tuple[Spans, Sequence[int]]:
    data, start, length, bad = core.pack_ids(values)
    return (data, start, length), [] if bad < 0 else [bad]


def _pandas_numbers(series: Any) -> tuple[Floats, Sequence[int]]:
    if series.dtype.kind in "iufb" and isinstance(series.to_numpy(), np.ndarray) and series.to_numpy().dtype != object:
        return np.ascontiguousarray(series.to_numpy(), np.float64), []
    values = series.tolist()
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, (int, float, np.integer, np.floating)):
            numbers[row] = float(value)
    return numbers, []
