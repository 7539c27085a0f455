"""Sessions from tables with a header: text, parquet or data frames. One row a result.

Columns are session, query (its number in the session), rank and document, and as far as they are known query_id (what
judgments by query call it), topic, user, system, score, grade, scanned and time. An empty result page is one row with
rank 0 and ``-`` or nothing as document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gainful.arrays import Floats
from gainful.core import core
from gainful.io.delimited import open_table, read_columns
from gainful.io.frames import Wanted
from gainful.io.frames import read_columns as read_frame_columns
from gainful.io.origin import FrameRows, Origin
from gainful.io.rows import Spans, is_pandas
from gainful.io.session_columns import find_session_roles, is_session_header
from gainful.io.session_records import SessionReading, SessionRows, read_time, time_hint
from gainful.io.sources import Text
from gainful.io.trec import input_error
from gainful.notation import printable, text_of_id

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
