"""What other packages hold: data frames, parquet files and the collections of ir_datasets.

Data frames are anything with the Arrow PyCapsule interface, and pandas without pyarrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.io.batches import read_batches
from gainful.io.columns import (
    NAMES,
    SESSION_NAMES,
    Names,
    find_role,
    find_roles,
    find_session_roles,
    has_header,
    is_list_name,
    is_session_header,
    names_of,
)
from gainful.io.formats import Reading, RunFile, SessionContent
from gainful.io.rows import (
    Entry,
    FrameRows,
    Origin,
    Rows,
    Spans,
    hint_at_grades,
    input_error,
    is_frame,
    is_pandas,
    numbers_of_words,
    packed,
    read_closely,
    words_note,
)
from gainful.io.session_records import OPTIONAL, SessionRecord, SessionRows, read_time, session_rows
from gainful.io.sources import Text
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress, in_parallel
from gainful.notation import printable

_SHOWN = 10
#: So many rows of a large file are read at a time.
_BATCH = 1 << 18
#: So many rows tell whether a column has numbers.
_SAMPLE = 100
_SESSION_IDS = ("session", "document", "query_id", "text", "topic", "user", "system", "event")
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
    origin: Origin | None = None  # what messages call rows, if not by their numbers


def read_frame(
    frame: Any,
    columns: Mapping[str, str],
    *,
    run: bool,
    name: str,
    pairs_only: bool = False,
    origin: Origin | None = None,
) -> Rows:
    """The columns that matter, as rows; ``origin`` says where they stand, if it is not in a frame of their own."""

    called: tuple[Sequence[str], Mapping[str, int]] = (), {}

    def roles(names: Sequence[str]) -> dict[str, int]:
        nonlocal called
        values = partial(_first_values, frame)
        found = find_roles(names, columns, run=run, where=name, pairs_only=pairs_only, values=values)
        called = names, found
        return found

    wanted = Wanted(roles, ("query", "document", "subtopic"), origin=origin)
    notes: tuple[str, ...] = ()
    try:
        found = read_columns(frame, wanted, name)
    except InputError as error:
        words = _words(frame, called[1])
        numbers = numbers_of_words(words)
        if numbers is None or len(words) < len(frame):
            raise InputError(error.message, hint_at_grades(words) or error.hint) from None
        others = {role: place for role, place in called[1].items() if role != "grade"}
        found = read_columns(frame, wanted._replace(find_roles=lambda _: others), name)
        found["grade"], notes = np.array([float(numbers[word]) for word in words]), (words_note(name, numbers),)
    value, places = found.get("score" if run else "grade"), origin or FrameRows(name)
    rows = Rows(found["query"], found["document"], value, places, found.get("rank"), found.get("subtopic"), notes=notes)
    return read_closely(rows, *called, run=run)


def _words(frame: Any, roles: Mapping[str, int]) -> list[str]:
    """The grades of a frame, if all are words."""
    cells = _first_values(frame, roles["grade"], None) if "grade" in roles else []
    return [str(cell) for cell in cells] if all(isinstance(cell, str) for cell in cells) else []


def frame_content(frame: Any, reading: Reading, *, run: bool, name: str) -> Rows | Iterable[Entry]:
    """The rows of a frame, or the queries of one whose cells hold the documents of a query each."""
    queries = _with_lists(frame, reading.columns, name, names_of(run)) if is_frame(frame) else None
    if queries is None:
        return read_frame(frame, reading.columns, run=run, name=name, pairs_only=reading.pairs_only)
    from gainful.io.json_text import read_objects

    return read_objects(queries, name, reading, run=run)


def read_columns(frame: Any, wanted: Wanted, name: str) -> dict[str, Any]:
    """The columns that have a role: spans of ids (empty where there is none), or numbers (NaN where there is none)."""
    if not is_frame(frame):
        raise UsageError(
            f"{name}: expected a data frame (pandas, polars, pyarrow, ...), found {type(frame).__name__}",
            "call .collect() first" if hasattr(frame, "collect") else None,
        )
    return _read_pandas(frame, wanted, name) if is_pandas(frame) else _read_arrow(frame, wanted, name)


def read_parquet(text: Text, reading: Reading, *, run: bool) -> Rows | Iterable[Entry]:
    """A parquet file, through pyarrow or polars."""
    return frame_content(_unnested(open_parquet(text), run), reading, run=run, name=text.name)


def read_parquet_folder(path: str, reading: Reading, *, run: bool) -> Rows:
    """A folder of parts, as Spark writes a table, through pyarrow."""
    try:
        from pyarrow import lib, parquet
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: reading a folder of parquet needs pyarrow", "install it: pip install 'gainful[parquet]'"
        ) from error
    try:
        table = _unnested(parquet.read_table(path), run)
    except (lib.ArrowException, OSError) as error:
        raise InputError(f"{path}: expected parts of one table in parquet, found others ({error})") from error
    return read_frame(table, reading.columns, run=run, name=path, pairs_only=reading.pairs_only)


def _unnested(table: Any, run: bool) -> Any:
    """A table of pyarrow with a row a document, where a column has all documents of a query; any other as it is.

    The documents may be ids, or structures, such as the recommendations of Spark's ALS, whose one number that has no
    other name is the score.
    """
    if not hasattr(table, "column_names"):
        return table
    from pyarrow import compute, types

    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    listed = (name for name, kind in kinds.items() if types.is_list(kind) or types.is_large_list(kind))
    name = next((each for each in listed if is_list_name(each, run=run)), None)
    if name is None:
        return table
    lists = table.column(name)
    rows, each = table.drop_columns([name]).take(compute.list_parent_indices(lists)), compute.list_flatten(lists)
    if not types.is_struct(each.type):
        return rows.append_column(name, each)
    fields = {field.name: field.type for field in each.type}
    numbers = [field for field, kind in fields.items() if types.is_floating(kind)]
    has_value = any(find_role(role, [*fields], {}, name) is not None for role in ("score", "rank"))
    for field in fields:
        is_score = run and not has_value and numbers == [field]
        rows = rows.append_column("score" if is_score else field, compute.struct_field(each, field))
    return rows


def parquet_pieces(text: Text, reading: Reading) -> Iterator[Rows]:
    """A run in a parquet file, some rows at a time, through pyarrow."""
    from pyarrow import parquet

    file = parquet.ParquetFile(text.path, pre_buffer=False)
    names = file.schema_arrow.names
    roles = find_roles(names, reading.columns, run=True, where=text.name)
    batches = file.iter_batches(_BATCH, columns=[names[at] for at in roles.values()])
    yield from read_batches(batches, reading.columns, text.name, _BATCH)


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


def read_session_parquet(text: Text, how: Reading) -> SessionContent:
    """Sessions in a parquet file, or a run."""
    frame = open_parquet(text)
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
    if not is_session_header(names, how.columns) and has_header(names, how.columns, known=NAMES):
        return RunFile(text, how._replace(format="parquet"))
    return read_session_frame(frame, how, text.name)


def read_session_frame(frame: Any, how: Reading, name: str) -> SessionRows | Iterator[SessionRecord]:
    """The rows of a data frame, or the sessions of a log."""
    events = _with_lists(frame, how.columns, name, SESSION_NAMES) if is_frame(frame) else None
    if events is not None:
        from gainful.io.json_text import log_of_objects

        return log_of_objects([(event, f"{name}: row {i}") for i, event in enumerate(events)], name, how)
    moments: list[object] | None = None
    log: tuple[Sequence[str], Mapping[str, int]] = (), {}

    def find_roles(names: Sequence[str]) -> dict[str, int]:
        nonlocal moments, log
        roles = find_session_roles(
            names, how.columns, name, partial(_first_values, frame), by_gap=how.session_gap is not None
        )
        log = names, roles
        if "time" in roles:
            moments = _moments(frame, roles["time"])
        return roles if moments is None else {role: at for role, at in roles.items() if role != "time"}

    found = read_columns(frame, Wanted(find_roles, _SESSION_IDS, OPTIONAL, ("time",)), name)
    if moments is not None:
        found["time"] = np.array([read_time(moment) for moment in moments], np.float64)
    if "query" not in found:
        from gainful.io.session_log import log_records

        return log_records(found, FrameRows(name), *log, how)
    return session_rows(found, FrameRows(name), None if moments is None else partial(_moment_text, moments))


def _with_lists(frame: Any, columns: Mapping[str, str], name: str, known: Names) -> list[dict[str, Any]] | None:
    """The rows of a frame whose cells hold the documents of a query each, as dicts; None if they hold one."""
    names = [str(each) for each in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    document = find_role("document", names, columns, name, known) if names else None
    if document is None or not any(isinstance(each, (list, np.ndarray)) for each in _first_values(frame, document)):
        return None
    if not is_pandas(frame):
        return list(frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_pylist())
    # What parquet has as lists, pandas has as arrays.
    found = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in frame.iloc[:, document].tolist()]
    return [{**row, names[document]: cell} for row, cell in zip(frame.to_dict("records"), found, strict=True)]


def _first_values(frame: Any, column: int, most: int | None = _SAMPLE) -> list[object]:
    """What stands in a column of the first rows, or of all."""
    if is_pandas(frame):
        return list(frame.iloc[:most, column].dropna().tolist())
    if hasattr(frame, "to_series"):  # polars
        return list(frame.to_series(column)[:most].drop_nulls().to_list())
    if hasattr(frame, "schema") and hasattr(frame, "column"):  # pyarrow
        return list(frame.column(column).slice(0, most).drop_null().to_pylist())
    return []


def _moments(frame: Any, column: int) -> list[object] | None:
    """The values of a column of dates and times, which are neither ids nor numbers; None if it is none."""
    if is_pandas(frame):
        series = frame.iloc[:, column]
        moments = zip(series.tolist(), series.isna().tolist(), strict=True)
        is_moment = getattr(series.dtype, "kind", "") == "M"
        return [None if missing else moment for moment, missing in moments] if is_moment else None
    if hasattr(frame, "to_series"):  # polars
        series = frame.to_series(column)
        return list(series.to_list()) if str(series.dtype).startswith("Datetime") else None
    if hasattr(frame, "schema") and hasattr(frame, "column"):  # pyarrow
        is_moment = str(frame.schema.field(column).type).startswith("timestamp")
        return list(frame.column(column).to_pylist()) if is_moment else None
    return None


def _moment_text(moments: Sequence[object], row: int) -> str:
    return str(moments[row])


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
        roles, self._origin = wanted.find_roles(self._names), wanted.origin or FrameRows(self._name)
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
                f"{self._origin.where(row)}: expected {expected} in column '{self._names[column]}', "
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
        raise InputError(f"{name}: expected a table of columns, found a {type(frame).__name__}") from error

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
        raise InputError(f"{name}: expected a table of columns, found a {type(frame).__name__}") from error
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


_PREFIX = "irds:"


def is_dataset(source: str) -> bool:
    """Whether a source that is no file is the id of a collection: marked by ``irds:``, or known to ir_datasets."""
    if source.startswith(_PREFIX):
        return True
    if find_spec("ir_datasets") is None:
        return False
    import ir_datasets

    return source in ir_datasets.registry


def read_dataset(source: str) -> Rows:
    """The judgments of a collection."""
    dataset = _dataset(source)
    if not dataset.has_qrels():
        raise InputError(f"{source}: expected a collection with judgments, found one without")
    judgments = list(dataset.qrels_iter())

    def where(row: int) -> str:
        return f"{source}: judgment {row + 1}"

    subtopics = [
        getattr(judgment, "subtopic_id", None) or getattr(judgment, "iteration", "0") for judgment in judgments
    ]
    return Rows(
        packed([judgment.query_id for judgment in judgments], where),
        packed([judgment.doc_id for judgment in judgments], where),
        np.array([judgment.relevance for judgment in judgments], np.float64),
        FrameRows(source),
        subtopic=packed(subtopics, where),
    )


def _dataset(source: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(
            f"{source}: reading it needs the package ir_datasets", "install it with: pip install 'gainful[datasets]'"
        ) from error
    try:
        return ir_datasets.load(source.removeprefix(_PREFIX))
    except KeyError as error:
        raise InputError(f"{source}: expected the id of a collection, found none that ir_datasets knows") from error
