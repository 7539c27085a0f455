"""Data frames: anything with the Arrow PyCapsule interface, and pandas without pyarrow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from gainful.errors import InputError, MissingExtraError
from gainful.io.formats import find_roles
from gainful.io.rows import FrameRows, Reading, Rows, Spans, input_error, is_pandas
from gainful.io.sources import Text
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress, in_parallel
from gainful.notation import printable

_SHOWN = 10
_TEXTS = ("u", "U", "vu", "z", "Z", "vz")
#: How Arrow's formats begin, and what is behind them.
_KINDS = {
    "d:": "decimals",
    "e": "float16",
    "f": "float32",
    "g": "float64",
    "b": "booleans",
    "n": "only nulls",
    "u": "texts",
    "U": "texts",
    "vu": "texts",
    "t": "times",
    "+": "nested values",
}
#: The same for the names of pyarrow's types.
_PYARROW_KINDS = {
    "decimal": "decimals",
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "bool": "booleans",
    "null": "only nulls",
    "string": "texts",
    "large_string": "texts",
    "date": "times",
    "time": "times",
    "duration": "times",
    "binary_view": "Arrow's format vz",
    "binary": "Arrow's format z",
    "large_binary": "Arrow's format Z",
}
_T = TypeVar("_T")


#: Which column has which role, by the names of all columns.
FindRoles: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]


class Wanted(NamedTuple):
    """Which columns are wanted, and as what: ids, or numbers, or what they are of the two.

    Those that are optional need not have a value in every row.
    """

    find_roles: FindRoles
    ids: Sequence[str]
    optional: Sequence[str] = ()
    either: Sequence[str] = ()


def read_frame(frame: Any, columns: Mapping[str, str], *, run: bool, name: str) -> Rows:
    """The columns that matter, as rows."""
    found = read_columns(
        frame,
        Wanted(lambda names: find_roles(names, columns, run=run, where=name), ("query", "document", "subtopic")),
        name,
    )
    value = found.get("score" if run else "grade")
    return Rows(found["query"], found["document"], value, FrameRows(name), found.get("rank"), found.get("subtopic"))


def read_columns(frame: Any, wanted: Wanted, name: str) -> dict[str, Any]:
    """The columns that have a role: spans of ids (empty where there is none), or numbers (NaN where there is none)."""
    return _read_pandas(frame, wanted, name) if is_pandas(frame) else _read_arrow(frame, wanted, name)


def column_names(frame: Any) -> list[str]:
    """The names of a frame's columns."""
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return [str(name) for name in names]


def read_parquet(text: Text, reading: Reading, *, run: bool) -> Rows:
    """A parquet file, through pyarrow or polars."""
    return read_frame(open_parquet(text), reading.columns, run=run, name=text.name)


def open_parquet(text: Text) -> Any:
    """A parquet file as a frame of pyarrow or polars."""
    try:
        return _parquet_frame(text)
    except (MissingExtraError, MemoryError):
        raise
    except Exception as error:  # each library has its own exceptions for damaged data
        raise InputError(f"{text.name}: expected parquet, found a file that cannot be read ({error})") from error


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
        kind: Callable[[int], str],
        missing: Callable[[int], Bools] | None = None,  # what has no value; None: all that is neither id nor number
    ) -> None:
        self._name, self._names = name, names
        self._ids, self._numbers, self._shown, self._kind, self._missing = ids, numbers, shown, kind, missing

    def read(self, wanted: Wanted) -> dict[str, Any]:
        roles = wanted.find_roles(self._names)
        # Columns are read beside each other: it is copying, and the core does it without the interpreter's lock.
        tasks: list[Callable[[], Any]] = []
        for role, column in roles.items():
            read = self._id if role in wanted.ids else self._either if role in wanted.either else self._number
            tasks.append(partial(read, column, role, role in wanted.optional))
        return dict(zip(roles, in_parallel(tasks, default_threads(), Progress()), strict=True))

    def _id(self, column: int, role: str, optional: bool) -> Spans:
        spans, bad = self._checked(lambda: self._ids(column), column, f"an id as {role}")
        if optional:
            bad = self._without_missing(np.flatnonzero(spans[2] == 0), column).tolist()
        self._refuse(bad[:_SHOWN], len(bad), column, f"an id as {role}")
        return spans

    def _number(self, column: int, role: str, optional: bool) -> Floats:
        values, bad = self._checked(lambda: self._numbers(column), column, f"a number as {role}")
        if not np.isfinite(values).all():
            infinite = np.flatnonzero(~np.isfinite(values))
            if optional:
                absent = np.isnan(values[infinite])
                infinite = np.sort(np.append(infinite[~absent], self._without_missing(infinite[absent], column)))
            self._refuse(infinite[:_SHOWN].tolist(), int(infinite.size), column, f"a finite number as {role}")
        if not optional:
            self._refuse(bad, len(bad), column, f"a finite number as {role}")
        return values

    def _either(self, column: int, role: str, optional: bool) -> Spans | Floats:
        try:
            return self._number(column, role, optional)
        except InputError:
            return self._id(column, role, optional)

    def _without_missing(self, rows: Ints, column: int) -> Ints:
        """Those of the rows that have a value, if not a good one."""
        return rows[:0] if self._missing is None or not rows.size else rows[~self._missing(column)[rows]]

    def _checked(self, read: Callable[[], _T], column: int, expected: str) -> _T:
        try:
            return read()
        except TypeError as error:
            raise InputError(
                f"{self._name}: expected {expected} in column '{self._names[column]}', found {self._kind(column)}",
                "cast the column to text or integers" if "id" in expected else "cast the column to float64",
            ) from error

    def _refuse(self, rows: Sequence[int], count: int, column: int, expected: str) -> None:
        if len(rows):
            messages = [
                f"{self._name}: row {row} (counting from 0): expected {expected} in column '{self._names[column]}', "
                f"found {self._shown(column, row)}"
                for row in rows
            ]
            raise input_error(messages, count, None)


def _read_arrow(frame: Any, wanted: Wanted, name: str) -> dict[str, Any]:
    if not hasattr(core, "ArrowTable"):
        return _read_pyarrow(frame, wanted, name)
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
        return "null, NaN or infinity" if kind in "efg" else "null or an empty text" if kind in _TEXTS else "null"

    return _Columns(name, table.names, ids, numbers, shown, lambda i: _kind(table.formats[i])).read(wanted)


def _kind(format_: str) -> str:
    """What Arrow's format of a column means."""
    plain = format_.removeprefix("dictionary of ")
    return next((name for start, name in _KINDS.items() if plain.startswith(start)), f"Arrow's format {plain}")


def _read_pyarrow(frame: Any, wanted: Wanted, name: str) -> dict[str, Any]:
    """The same where the core does not read Arrow itself."""
    try:
        import pyarrow
        from pyarrow import types
    except ImportError as error:
        raise MissingExtraError(
            f"{name}: without the compiled core, reading this data frame needs pyarrow",
            "install it: pip install 'gainful[frames]'",
        ) from error
    try:
        table = pyarrow.RecordBatchReader.from_stream(frame).read_all()
    except ValueError as error:
        raise InputError(f"{name}: expected a table of columns, found {error}") from error
    kinds = [kind.value_type if types.is_dictionary(kind) else kind for kind in table.schema.types]

    def is_text(column: int) -> bool:
        return str(kinds[column]).removeprefix("large_").removesuffix("_view") in ("string", "binary")

    def values(column: int) -> Any:
        """The values without a dictionary, texts as bytes: they need not be UTF-8."""
        kind = pyarrow.large_binary() if is_text(column) else kinds[column]
        chunks = []
        for chunk in table.column(column).chunks:
            is_dictionary = types.is_dictionary(chunk.type)
            words = (chunk.dictionary if is_dictionary else chunk).cast(kind)
            chunks.append(words.take(chunk.indices) if is_dictionary else words)
        return pyarrow.chunked_array(chunks, kind)

    def ids(column: int) -> tuple[Spans, Sequence[int]]:
        if not (is_text(column) or types.is_integer(kinds[column])):
            raise TypeError("not ids")
        data, start, length, _ = core.pack_ids(values(column).to_pylist())
        return (data, start, length), np.flatnonzero(length == 0)[:_SHOWN].tolist()

    def numbers(column: int) -> tuple[Floats, Sequence[int]]:
        if not any(is_kind(kinds[column]) for is_kind in (types.is_integer, types.is_floating, types.is_boolean)):
            raise TypeError("not numbers")
        found = values(column)
        with np.errstate(all="ignore"):  # a signalling NaN is a NaN like any other
            numbers = np.array(found.to_numpy(), np.float64)  # None becomes NaN
        return numbers, np.flatnonzero(found.is_null().to_numpy())[:_SHOWN].tolist()

    def shown(column: int, row: int) -> str:
        if types.is_floating(kinds[column]):
            return "null, NaN or infinity"
        return "null or an empty text" if is_text(column) else "null"

    def kind(column: int) -> str:
        if types.is_nested(kinds[column]):
            return "nested values"
        text = str(kinds[column])
        return next((name for start, name in _PYARROW_KINDS.items() if text.startswith(start)), f"Arrow's type {text}")

    return _Columns(name, table.column_names, ids, numbers, shown, kind).read(wanted)


def _read_pandas(frame: Any, wanted: Wanted, name: str) -> dict[str, Any]:
    names = [column if isinstance(column, str) else str(column) for column in frame.columns]
    roles = wanted.find_roles(names)
    if hasattr(frame, "__arrow_c_stream__"):
        places = {role: i for i, role in enumerate(roles)}
        try:
            return _read_arrow(frame.iloc[:, list(roles.values())], wanted._replace(find_roles=lambda _: places), name)
        except Exception:
            pass

    def ids(column: int) -> tuple[Spans, Sequence[int]]:
        return _pandas_ids(frame.iloc[:, column])

    def numbers(column: int) -> tuple[Floats, Sequence[int]]:
        return _pandas_numbers(frame.iloc[:, column])

    def shown(column: int, row: int) -> str:
        value = frame.iloc[row, column]
        return printable(repr(value.item() if isinstance(value, np.generic) else value))

    def missing(column: int) -> Bools:
        series = frame.iloc[:, column]
        is_empty = [isinstance(value, (str, bytes)) and not value for value in series.tolist()]
        return np.asarray(series.isna().to_numpy(bool) | np.array(is_empty, bool))

    return _Columns(name, names, ids, numbers, shown, lambda i: str(frame.dtypes.iloc[i]), missing).read(wanted)


def _pandas_ids(series: Any) -> tuple[Spans, Sequence[int]]:
    if hasattr(series, "cat"):
        # The categories once, then a span for every row.
        (data, start, length), bad = _packed(series.cat.categories.tolist())
        if not bad:
            codes = series.cat.codes.to_numpy().astype(np.int64)
            rows = np.flatnonzero(codes < 0)[:_SHOWN].tolist()
            return (data, _taken(start, codes), _taken(length, codes)), rows
    return _packed(series.tolist())


def _taken(values: Ints, codes: Ints) -> Ints:
    return values[codes] if values.size else np.zeros(codes.size, np.int64)


def _packed(values: list[object]) -> tuple[Spans, Sequence[int]]:
    data, start, length, bad = core.pack_ids(values)
    return (data, start, length), [] if bad < 0 else [bad]


def _pandas_numbers(series: Any) -> tuple[Floats, Sequence[int]]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iufb":
        return np.ascontiguousarray(series.to_numpy(), np.float64), []
    return np.array([_number(value) for value in series.tolist()], np.float64), []


def _number(value: object) -> float:
    """A number, or NaN for what is none."""
    if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
