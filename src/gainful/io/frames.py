"""Data of other packages: data frames (Arrow PyCapsule interface, or pandas), parquet and ir_datasets."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import numpy as np

from gainful.errors import InputError, MissingExtraError, UsageError
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
from gainful.io.formats import PER_QUERY, PER_ROW, SESSION_FORMATS, Reading
from gainful.io.json_text import read_objects
from gainful.io.rows import (
    FrameRows,
    Origin,
    Rows,
    Spans,
    dicts_of_frame,
    is_frame,
    is_pandas,
    packed,
    refuse_rows,
    rows_of_table,
)
from gainful.io.session_log import log_rows
from gainful.io.session_objects import log_of_objects
from gainful.io.session_records import OPTIONAL, SessionContent, SessionRows, read_time, session_rows
from gainful.io.sources import Text, max_list_bytes, require_memory
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress, in_parallel
from gainful.notation import printable

#: Number of rows of a large file read at a time.
_BATCH = 1 << 18
#: Number of rows sampled to decide whether a column holds numbers.
_SAMPLE = 100
_SESSION_IDS = ("session", "document", "query_id", "text", "topic", "user", "system", "event")
#: Prefixes of date and time types in pandas, polars and pyarrow.
_MOMENTS = ("datetime64", "Datetime", "timestamp")
_TEXTS = ("u", "U", "vu", "z", "Z", "vz")
#: Prefixes of Arrow's format strings, with names for messages.
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


def read_frame(frame: Any, how: Reading, *, run: bool, name: str, origin: Origin | None = None) -> Rows:
    """Read the relevant columns of a frame as rows; cells may hold all documents of a query. ``origin`` overrides the
    places of rows, for parts of a larger table."""
    _require_frame(frame, name)
    queries = _with_lists(frame, how.columns, name, names_of(run))
    if queries is not None:
        return read_objects(queries, name, how, run=run)
    columns, places = FrameColumns.of(frame, name), origin or FrameRows(name)
    ids = ("query", "document", "subtopic")

    def read(roles: Mapping[str, int]) -> Rows:
        return Rows.of_columns(columns.read(roles, ids, places), places)

    return rows_of_table(columns.names, how, name, partial(_first_values, frame), read, run=run)


def _require_frame(frame: object, name: str) -> None:
    if not is_frame(frame):
        message = f"{name}: expected a data frame (pandas, polars, pyarrow, ...), found {type(frame).__name__}"
        raise UsageError(message, "call .collect() first" if hasattr(frame, "collect") else None)


def read_batches(batches: Any, columns: Mapping[str, str], name: str, least: int) -> Iterator[Rows]:
    """Yield the rows of a run in Arrow batches, numbered across batches, at least ``least`` at a time if possible.

    Small pyarrow batches are combined, because each has a fixed cost.
    """
    if is_frame(batches) and (is_pandas(batches) or find_spec("pyarrow") is None):
        batches = [batches]  # without pyarrow, a stream is read in one step
    elif is_frame(batches):
        import pyarrow

        batches = pyarrow.RecordBatchReader.from_stream(batches)
    elif isinstance(batches, (str, bytes)) or not isinstance(batches, Iterable):
        raise UsageError(
            f"{name}: expected Arrow batches (an iterable of them, or a stream such as pyarrow.RecordBatchReader), "
            f"found {type(batches).__name__}"
        )
    held: list[Any] = []
    first = count = 0

    def rows_of_held() -> Rows:
        frame = held[0] if len(held) == 1 else sys.modules["pyarrow"].Table.from_batches(held)
        return read_frame(frame, Reading(columns=columns), run=True, name=name, origin=FrameRows(name, first=first))

    for batch in batches:
        arrow = sys.modules.get("pyarrow")
        size = batch.num_rows if arrow and isinstance(batch, arrow.RecordBatch) else least
        is_another = held and (type(held[0]) is not type(batch) or count + size > least)
        if is_another or (held and held[0].schema != batch.schema):
            rows = rows_of_held()
            first, held, count = first + rows.size, [], 0
            yield rows
        held.append(batch)
        count += size
    if held:
        yield rows_of_held()


def read_parquet(source: Text | str, reading: Reading, *, run: bool) -> Rows:
    """Read a parquet file, or a folder of parts as written by Spark, through pyarrow or polars."""
    name = source if isinstance(source, str) else source.name
    rows = read_frame(_unnested(open_parquet(source), run), reading, run=run, name=name)
    require_memory(name, PER_ROW * rows.size + PER_QUERY * len(rows.query_ids))
    return rows


def _unnested(table: Any, run: bool) -> Any:
    """Return a pyarrow table with one row per document if a column holds lists of documents; any other table as is.

    Documents may be IDs, or structures such as the recommendations of Spark's ALS, in which the only unnamed number is
    the score.
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
    """Yield a run in a parquet file, some rows at a time, through pyarrow."""
    from pyarrow import parquet

    with _parquet_errors(text.name):
        file = parquet.ParquetFile(text.path, pre_buffer=False)
        names = file.schema_arrow.names
        roles = find_roles(names, reading.columns, run=True, where=text.name)
        size = min(_BATCH, max_list_bytes() // PER_ROW)
        batches = file.iter_batches(size, columns=[names[at] for at in roles.values()])
        yield from read_batches(batches, reading.columns, text.name, size)


def _require_parquet(name: str, parts: Sequence[Any], per_row: int) -> int:
    """Check the memory for the rows in parquet metadata against the limit; return the bytes for the rows."""
    rows = sum(part.num_rows for part in parts)
    size = sum(part.row_group(i).total_byte_size for part in parts for i in range(part.num_row_groups))
    require_memory(name, size + per_row * rows)
    return int(per_row * rows)


def open_parquet(source: Text | str, per_row: int = PER_ROW) -> Any:
    """Open a parquet file or folder as a frame of pyarrow or polars; ``per_row`` bounds the memory in bytes per row, in
    addition to its values."""
    name = source if isinstance(source, str) else source.name
    path = source if isinstance(source, str) else source.path
    with _parquet_errors(name):
        if find_spec("pyarrow") is not None:
            import pyarrow
            from pyarrow import parquet

            if isinstance(source, str):
                whole = parquet.ParquetDataset(source)
                _require_parquet(name, [part.metadata for part in whole.fragments], per_row)
                return whole.read()
            file = parquet.ParquetFile(path or pyarrow.BufferReader(source.data))
            size, batches = _require_parquet(name, [file.metadata], per_row), []
            # Dictionary and prefix encodings expand beyond the size in the metadata.
            for batch in file.iter_batches(_BATCH):
                size += batch.nbytes
                require_memory(name, size)
                batches.append(batch)
            source.refuse_changed()
            return pyarrow.Table.from_batches(batches, file.schema_arrow)
        if find_spec("polars") is not None:
            import polars

            content = path or BytesIO(source.buffer)  # type: ignore[union-attr]
            rows = polars.scan_parquet(content).select(polars.len()).collect().item()
            require_memory(name, per_row * rows)
            return polars.read_parquet(content)
        install = "install one: pip install 'gainful[parquet]'"
        raise MissingExtraError(f"{name}: reading parquet needs pyarrow or polars", install)


@contextmanager
def _parquet_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (MissingExtraError, InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{name}: expected parquet, found a file that cannot be read ({error})") from error


def read_session_parquet(text: Text, how: Reading) -> SessionContent:
    """Read sessions, or a run, from a parquet file."""
    frame = open_parquet(text, SESSION_FORMATS["csv"].per_line)
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
    if not is_session_header(names, how.columns) and has_header(names, how.columns, known=NAMES):
        return read_frame(frame, how, run=True, name=text.name)
    return read_session_frame(frame, how, text.name)


def read_session_frame(frame: Any, how: Reading, name: str) -> SessionRows:
    """Read sessions, or a log, from a data frame."""
    _require_frame(frame, name)
    events = _with_lists(frame, how.columns, name, SESSION_NAMES)
    if events is not None:
        return log_of_objects([(event, f"{name}: row {i}") for i, event in enumerate(events)], name, how)
    columns, origin = FrameColumns.of(frame, name), FrameRows(name)
    roles = find_session_roles(
        columns.names, how.columns, name, partial(_first_values, frame), by_gap=how.session_gap is not None
    )
    moments = None
    if "time" in roles and _column(frame, roles["time"], 0)[0].startswith(_MOMENTS):
        moments = _column(frame, roles["time"])[1]
    wanted = {role: at for role, at in roles.items() if role != "time" or moments is None}
    found = columns.read(wanted, _SESSION_IDS, origin, optional=OPTIONAL, either=("time",))
    if moments is not None:
        found["time"] = np.array([read_time(moment) for moment in moments], np.float64)
    if "query" not in found:
        return log_rows(found, origin, columns.names, roles, how)
    return session_rows(found, origin, None if moments is None else lambda row: str(moments[row]))


def _with_lists(frame: Any, columns: Mapping[str, str], name: str, known: Names) -> list[dict[str, Any]] | None:
    """Return the rows of a frame as dicts if its cells hold lists of documents; None otherwise."""
    names = [str(each) for each in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    document = find_role("document", names, columns, name, known) if names else None
    if document is None or not any(isinstance(each, (list, np.ndarray)) for each in _first_values(frame, document)):
        return None
    return dicts_of_frame(frame)


def _first_values(frame: Any, column: int, most: int | None = _SAMPLE) -> list[object]:
    return [cell for cell in _column(frame, column, most)[1] if cell is not None]


def _column(frame: Any, column: int, most: int | None = None) -> tuple[str, Sequence[object]]:
    """Return the type and the first or all cells of a column, None for missing; nothing if the frame hides them."""
    if is_pandas(frame):
        series = frame.iloc[:most, column]
        cells = zip(series.tolist(), series.isna().tolist(), strict=True)
        return str(series.dtype), [None if missing else cell for cell, missing in cells]
    if hasattr(frame, "to_series"):  # polars
        series = frame.to_series(column)[:most]
        return str(series.dtype), series.to_list()
    if hasattr(frame, "schema") and hasattr(frame, "column"):  # pyarrow
        values = frame.column(column).slice(0, most)
        return str(values.type), values.to_pylist()
    return "", []


class FrameColumns:
    """The columns of a frame by position, read through the Arrow PyCapsule interface: IDs, numbers and invalid rows."""

    def __init__(self, frame: Any, name: str) -> None:
        self._name = name
        try:
            self._table = core.ArrowTable(frame.__arrow_c_stream__())
        except ValueError as error:
            raise InputError(f"{name}: expected a table of columns, found a {type(frame).__name__}") from error
        except ImportError as error:
            message = f"{name}: without the compiled core, reading this data frame needs pyarrow"
            raise MissingExtraError(message, "install it: pip install 'gainful[frames]'") from error
        self.names: Sequence[str] = self._table.names

    @staticmethod
    def of(frame: Any, name: str) -> FrameColumns:
        return _PandasColumns(frame, name) if is_pandas(frame) else FrameColumns(frame, name)

    def ids(self, column: int) -> Spans:
        """Return the IDs of a column, empty where missing; raise TypeError for other types."""
        data, start, length, _ = self._table.ids(column)
        return data, start, length

    def numbers(self, column: int) -> Floats:
        """Return the numbers of a column, NaN where missing; raise TypeError for other types."""
        values: Floats = self._table.numbers(column)[0]
        return values

    def kind(self, column: int) -> str:
        format_ = self._format(column)
        return next((name for start, name in _KINDS.items() if format_.startswith(start)), f"Arrow's format {format_}")

    def shown(self, column: int, row: int) -> str:
        """Return an invalid cell as messages show it."""
        format_ = self._format(column)
        return "null, NaN or infinity" if format_ in "efg" else "null or an empty text" if format_ in _TEXTS else "null"

    def _format(self, column: int) -> str:
        return self._table.formats[column].removeprefix("dictionary of ")

    def unusable(self, column: int, rows: Ints) -> Ints:
        """Return those of the rows without a usable value whose cell is not missing."""
        return rows[:0]

    def read(
        self,
        roles: Mapping[str, int],
        ids: Sequence[str],
        origin: Origin,
        *,
        optional: Sequence[str] = (),
        either: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return columns by role: ``ids`` as spans, empty where missing; others as numbers, NaN where missing;
        ``either`` as numbers or else IDs. Roles that are not ``optional`` need a value in every row."""

        def read_column(role: str, column: int) -> Any:
            try:
                return self._read_column(role, column, role in ids, role in optional, origin)
            except InputError:
                if role not in either:
                    raise
            return self._read_column(role, column, True, role in optional, origin)

        # In parallel: the core copies columns without holding the interpreter's lock.
        tasks = [partial(read_column, role, column) for role, column in roles.items()]
        return dict(zip(roles, in_parallel(tasks, default_threads(), Progress()), strict=True))

    def _read_column(self, role: str, column: int, is_id: bool, is_optional: bool, origin: Origin) -> Any:
        named = f"as {role} in column '{self.names[column]}', found"
        try:
            found: Any = self.ids(column) if is_id else self.numbers(column)
        except TypeError as error:
            expected, cast = ("an id", "text or integers") if is_id else ("a number", "float64")
            message = f"{self._name}: expected {expected} {named} {self.kind(column)}"
            raise InputError(message, f"cast the column to {cast}") from error
        rows = np.flatnonzero(found[2] == 0 if is_id else ~np.isfinite(found))
        if is_optional:
            absent = np.ones(rows.size, bool) if is_id else np.isnan(found[rows])
            rows = np.sort(np.append(rows[~absent], self.unusable(column, rows[absent])))
        expected = f"expected {'an id' if is_id else 'a finite number'} {named}"
        hint = "cast the column to text or integers" if is_id and "float" in self.kind(column) else None
        refuse_rows(rows, lambda row: f"{origin.where(row)}: {expected} {self.shown(column, row)}", hint)
        return found


class _PandasColumns(FrameColumns):
    """The columns of a pandas frame, in its own types."""

    def __init__(self, frame: Any, name: str) -> None:
        self._name, self._frame, self.names = name, frame, [str(column) for column in frame.columns]

    def ids(self, column: int) -> Spans:
        series = self._frame.iloc[:, column]
        if hasattr(series, "cat"):
            # Pack the categories once, then index them by row; code -1 (missing) selects the appended empty ID.
            data, start, length, bad = core.pack_ids(series.cat.categories.tolist())
            if bad < 0:
                codes = series.cat.codes.to_numpy().astype(np.int64)
                return data, np.append(start, 0)[codes], np.append(length, 0)[codes]
        dtype = series.dtype
        if getattr(dtype, "kind", "") in ("i", "u") or str(dtype).startswith(("str", "large_str")):
            # Arrow returns values that are not Python objects at once; pyarrow may be missing or too old.
            with suppress(ImportError, AttributeError):
                return FrameColumns(self._frame.iloc[:, [column]], self._name).ids(0)
        data, start, length, _ = core.pack_ids(series.tolist())
        return data, start, length

    def numbers(self, column: int) -> Floats:
        series = self._frame.iloc[:, column]
        if getattr(series.dtype, "kind", "") in tuple("iufb"):
            is_numpy = isinstance(series.dtype, np.dtype)
            values = series.to_numpy() if is_numpy else series.to_numpy(np.float64, na_value=math.nan)
            return np.ascontiguousarray(values, np.float64)
        return np.array([_number(value) for value in series.tolist()], np.float64)

    def kind(self, column: int) -> str:
        return str(self._frame.dtypes.iloc[column])

    def shown(self, column: int, row: int) -> str:
        value = self._frame.iloc[row, column]
        return printable(repr(value.item() if isinstance(value, np.generic) else value))

    def unusable(self, column: int, rows: Ints) -> Ints:
        series = self._frame.iloc[rows, column]
        is_empty = [isinstance(value, (str, bytes)) and not value for value in series.tolist()]
        missing: Bools = series.isna().to_numpy(bool) | np.array(is_empty, bool)
        return rows[~missing]


def _number(value: object) -> float:
    with suppress(OverflowError):
        if isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            return float(value)
    return math.nan


_PREFIX = "irds:"


def is_dataset(source: str) -> bool:
    """Return whether a source is the ID of a collection: prefixed with ``irds:``, or known to ir_datasets."""
    if source.startswith(_PREFIX):
        return True
    if find_spec("ir_datasets") is None:
        return False
    import ir_datasets

    return source in ir_datasets.registry


def read_dataset(source: str) -> Rows:
    """Read the judgments of a collection."""
    try:
        import ir_datasets

        dataset = ir_datasets.load(source.removeprefix(_PREFIX))
    except ImportError as error:
        install = "install it with: pip install 'gainful[datasets]'"
        raise MissingExtraError(f"{source}: reading it needs the package ir_datasets", install) from error
    except KeyError as error:
        raise InputError(f"{source}: ir_datasets has no collection with this ID") from error
    if not dataset.has_qrels():
        raise InputError(f"{source}: this collection has no judgments")
    judgments = list(dataset.qrels_iter())

    def where(row: int) -> str:
        return f"{source}: judgment {row + 1}"

    subtopics = [getattr(each, "subtopic_id", None) or getattr(each, "iteration", "0") for each in judgments]
    columns = {
        "query": packed([judgment.query_id for judgment in judgments], where),
        "document": packed([judgment.doc_id for judgment in judgments], where),
        "grade": np.array([judgment.relevance for judgment in judgments], np.float64),
        "subtopic": packed(subtopics, where),
    }
    return Rows.of_columns(columns, FrameRows(source))
