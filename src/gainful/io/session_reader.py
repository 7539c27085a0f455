"""Sessions from tables with a header: text, parquet or data frames. One row a result.

Columns are session, query (its number in the session), rank and document, and as far as they are known query_id (what
judgments by query call it), topic, user, system, score, grade, scanned and time. An empty result page is one row with
rank 0 and ``-`` or nothing as document.

What users said of their sessions: a table with a header, one row a session.
What sessions are about: a table with a header, one row a session.
From a source in any format to sessions' records or rows, or to a run whose queries are named by session and turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.io.delimited import header_line, open_table, read_columns
from gainful.io.formats import (
    HEAD,
    NAMES,
    Names,
    checked_columns,
    find_role,
    has_header,
    header_separator,
    missing_column,
    refuse_binary,
)
from gainful.io.frames import Wanted, read_columns as read_frame_columns
from gainful.io.json_text import parse_json
from gainful.io.rows import FrameRows, Origin, Reading, RunFile, Spans, input_error, is_pandas
from gainful.io.session_records import (
    GAPS,
    SEPARATOR,
    SESSION_FORMATS,
    SESSION_NAMES,
    SessionReading,
    SessionRecord,
    SessionRows,
    find_session_roles,
    is_session_header,
    read_time,
    time_hint,
)
from gainful.io.sources import Source, Text, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.notation import choose, printable, text_of_id

_NUMBERS = ("query", "rank", "score", "grade", "scanned")
_IDS = ("session", "document", "query_id", "topic", "user", "system")
#: What an empty result page, or a row without more to tell, leaves empty.
_OPTIONAL = ("document", "score", "grade", "scanned", "time", "query_id", "topic", "user", "system")
_SHOWN = 10


def read_session_table(text: Text, how: SessionReading) -> SessionRows:
    """The rows of a CSV or TSV with a header."""
    table = open_table(text, how.format, lambda names: is_session_header(names, how.columns))
    roles = find_session_roles(table.names, how.columns, table.where)
    spans, numbers, origin = read_columns(table, roles, _NUMBERS, _OPTIONAL)
    return _rows({**spans, **numbers}, origin)


def read_session_frame(frame: Any, columns: Mapping[str, str], name: str) -> SessionRows:
    """The rows of a data frame."""
    moments: list[object] | None = None

    def find_roles(names: Sequence[str]) -> dict[str, int]:
        nonlocal moments
        roles = find_session_roles(names, columns, name)
        if "time" in roles:
            moments = _moments(frame, roles["time"])
        return roles if moments is None else {role: at for role, at in roles.items() if role != "time"}

    found = read_frame_columns(frame, Wanted(find_roles, _IDS, _OPTIONAL, ("time",)), name)
    if moments is not None:
        found["time"] = np.array([read_time(moment) for moment in moments], np.float64)
        return _rows(found, FrameRows(name), partial(_moment_text, moments))
    return _rows(found, FrameRows(name))


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


def _rows(found: Mapping[str, Any], origin: Origin, time_text: Callable[[int], str] | None = None) -> SessionRows:
    time = found.get("time")
    if isinstance(time, tuple):
        time_text = partial(_text, time)
        time = _times(time, origin)
    return SessionRows(
        found["session"],
        found["query"],
        found["document"],
        origin,
        found.get("rank"),
        found.get("score"),
        found.get("grade"),
        found.get("scanned"),
        time,
        time_text,
        found.get("query_id"),
        found.get("topic"),
        found.get("user"),
        found.get("system"),
    )


def _text(spans: Spans, row: int) -> str:
    data, start, length = spans
    first = int(start[row])
    return printable(data[first : first + int(length[row])].tobytes())


def _times(spans: Spans, origin: Origin) -> Floats:
    """Seconds, NaN where there are none. Every different text is read once."""
    texts, row = core.number_ids(*spans)
    seconds = [read_time(text_of_id(text)) if text else np.nan for text in texts]
    known = np.array([value is not None for value in seconds], bool)[row]
    if not known.all():
        bad = np.flatnonzero(~known)
        messages = [
            f"{origin.where(at)}: expected seconds or a date and time as time, found "
            f"'{printable(texts[int(row[at])])}'{origin.shown(at)}"
            for at in bad[:_SHOWN].tolist()
        ]
        raise input_error(messages, int(bad.size), time_hint(text_of_id(texts[int(row[bad[0]])])))
    return np.array(seconds, np.float64)[row]


_NAMES: Names = {"session": SESSION_NAMES["session"], "rating": ()}


def read_ratings(source: Source | Text, column: str, session_column: str | None = None) -> dict[str, float]:
    """One column of a table by session; sessions without a rating are left out.

    >>> read_ratings(b"SessionID,Performance,Difficulty\\n22,3,5\\n23,,4\\n", "Performance")
    {'22': 3.0}
    """
    text = source if isinstance(source, Text) else open_source(source)
    given = {"rating": column} if session_column is None else {"rating": column, "session": session_column}
    table = open_table(text, None, lambda names: column in names)
    found = {role: find_role(role, table.names, given, table.where, _NAMES) for role in ("rating", "session")}
    roles = {role: field for role, field in found.items() if field is not None}
    if "session" not in roles:
        raise missing_column("session", table.names, table.where, _NAMES)
    spans, numbers, origin = read_columns(table, roles, ("rating",), ("rating",))
    data, start, length = spans["session"]
    whole = data.tobytes()
    first_row: dict[bytes, int] = {}
    ratings: dict[str, float] = {}
    for row, (at, size) in enumerate(zip(start.tolist(), length.tolist(), strict=True)):
        session = whole[at : at + size]
        if session in first_row:
            raise InputError(
                f"{origin.where(row)}: expected every session once, found '{printable(session)}' again "
                f"(first: {origin.place(first_row[session])}){origin.shown(row)}"
            )
        first_row[session] = row
        if not np.isnan(numbers["rating"][row]):
            ratings[text_of_id(session)] = float(numbers["rating"][row])
    if not ratings:
        raise InputError(f"{text.name}: expected ratings in column '{column}', found none")
    return ratings


_TOPICS_NAMES: Names = {role: SESSION_NAMES[role] for role in ("session", "topic")}


def read_topics(source: Source | Text, columns: Mapping[str, str] | None = None) -> dict[bytes, bytes]:
    """The topic of every session in a table.

    ``columns`` maps session and topic to the names that its header has for them; names that it has not are those of
    the sessions' own table, and left alone.

    >>> read_topics(b"SessionID,User,Topic\\n22,S05,11\\n23,S05,4\\n")
    {b'22': b'11', b'23': b'4'}
    """
    text = source if isinstance(source, Text) else open_source(source)
    wanted = {role: name for role, name in (columns or {}).items() if role in _TOPICS_NAMES}
    table = open_table(
        text, None, lambda names: has_header(names, _known(wanted, names), tuple(_TOPICS_NAMES), _TOPICS_NAMES)
    )
    given = _known(wanted, table.names)
    roles: dict[str, int] = {}
    for role in _TOPICS_NAMES:
        field = find_role(role, table.names, given, table.where, _TOPICS_NAMES)
        if field is None:
            raise missing_column(role, table.names, table.where, _TOPICS_NAMES)
        roles[role] = field
    spans, _, origin = read_columns(table, roles, ())
    sessions, topics = (
        [data[at : at + size].tobytes() for at, size in zip(start.tolist(), length.tolist(), strict=True)]
        for data, start, length in (spans["session"], spans["topic"])
    )
    first_row: dict[bytes, int] = {}
    for row, session in enumerate(sessions):
        first = first_row.setdefault(session, row)
        if first != row:
            raise InputError(
                f"{origin.where(row)}: expected every session once, found '{printable(session)}' again "
                f"(first: {origin.place(first)}){origin.shown(row)}"
            )
    if not sessions:
        raise InputError(f"{text.name}: expected topics of sessions, found none")
    return dict(zip(sessions, topics, strict=True))


def _known(wanted: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {role: name for role, name in wanted.items() if name in names}


#: What a source of sessions holds.
SessionContent: TypeAlias = Iterable[SessionRecord] | SessionRows | RunFile


def session_reading(
    format_: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    gaps: str = "error",
) -> SessionReading:
    """How to read, checked."""
    if format_ is not None:
        choose(format_, SESSION_FORMATS, "format")
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise UsageError(f"separator: expected a text between session and turn, found {separator!r}")
    mapping = checked_columns(columns, SESSION_NAMES)
    return SessionReading(format_, mapping, separator or SEPARATOR, choose(gaps, GAPS, "gaps"))


def read_session_content(text: Text, how: SessionReading) -> SessionContent:
    """What a text holds. A format's file is loaded when it is met."""
    line = header_line(text.data)[1].strip()
    if not line:
        raise InputError(f"{text.name}: expected at least one session, found an empty file")
    kind = how.format or _recognise(text, line, how.columns)
    if kind == "xml":
        from gainful.io.session_objects import read_session_log

        return read_session_log(text, how)
    if kind in ("json", "jsonl"):
        return _json(text, kind, line, how)
    if kind in ("csv", "tsv") and not _is_run_header(line, how.columns):
        return read_session_table(text, how)
    if kind == "parquet":
        return _parquet(text, how)
    return _run(text, how.format, how)


def _recognise(text: Text, line: bytes, columns: Mapping[str, str]) -> str:
    head = text.data[:HEAD].tobytes()
    if head.startswith(b"PAR1"):
        return "parquet"
    refuse_binary(head, text.name)
    if line.startswith(b"<"):
        return "xml"
    if line[:1] in b"{[":
        return "jsonl" if _is_one_of_many(line) else "json"
    # Who names the column of the sessions has a table, even if the name is wrong.
    separator = header_separator(line, lambda names: "session" in columns or is_session_header(names, columns))
    if separator is None:
        _refuse_unknown_table(text, line, columns)
        return "trec"
    return "tsv" if separator == "\t" else "csv"


def _refuse_unknown_table(text: Text, line: bytes, columns: Mapping[str, str]) -> None:
    """A table whose header says nothing would be told off for not being a run."""
    is_run = _is_run_header(line, columns) or len(line.split()) in (3, 6)
    if not is_run and max(line.count(mark) for mark in (b"\t", b",", b";")) > 1:
        raise InputError(
            f"{text.name}: expected a header with session, query (its number), rank and document, found\n    "
            f"{printable(line, 120)}",
            "--columns session=NAME,query=NAME,rank=NAME,document=NAME (columns= in Python) says what names mean",
        )


def _is_one_of_many(line: bytes) -> bool:
    """Whether a line of JSON is an object that ends with it, and not all there is: ``{query: results}``."""
    value = _object_or_none(line)
    if isinstance(value, dict) and "queries" not in value:
        return any(not isinstance(each, (dict, list)) for each in value.values())
    return line.startswith(b"{") and line.endswith(b"}")


def _is_run_header(line: bytes, columns: Mapping[str, str]) -> bool:
    """Whether a header has queries and documents but no sessions."""
    if "session" in columns or header_separator(line, lambda names: is_session_header(names, columns)):
        return False
    return header_separator(line, lambda names: has_header(names, columns, known=NAMES)) is not None


def _json(text: Text, kind: str, line: bytes, how: SessionReading) -> SessionContent:
    from gainful.io.session_objects import read_session_lines, read_session_objects

    if kind == "jsonl":
        is_run = _is_run_object(_object_or_none(line), how.columns)
        return _run(text, kind, how) if is_run else read_session_lines(text, how)
    value = parse_json(bytes(text.data), text.name, text.name)
    if isinstance(value, dict) and ("session" in value or "queries" in value):
        value = [value]
    if not isinstance(value, list) or (value and _is_run_object(value[0], how.columns)):
        return _run(text, kind, how)
    return read_session_objects(value, how, text.name)


def _object_or_none(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_run_object(value: object, columns: Mapping[str, str]) -> bool:
    """Whether an object is a query with its results, or a row of a run, and no session."""
    if not isinstance(value, dict) or "queries" in value or is_session_header([*value, "document"], columns):
        return False
    return "results" in value or has_header(list(value), columns, known=NAMES)


def _parquet(text: Text, how: SessionReading) -> SessionContent:
    from gainful.io.frames import column_names, open_parquet

    frame: Any = open_parquet(text)
    names = column_names(frame)
    if not is_session_header(names, how.columns) and has_header(names, how.columns, known=NAMES):
        return _run(text, "parquet", how)
    return read_session_frame(frame, how.columns, text.name)


def _run(text: Text, format_: str | None, how: SessionReading) -> RunFile:
    return RunFile(text, Reading(format_, how.columns))
