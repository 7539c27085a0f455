"""From a source in any format to sessions' records or rows, or to a run whose queries are named by session and turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from gainful.errors import InputError, UsageError
from gainful.io.columns import NAMES, checked_columns, has_header
from gainful.io.delimited import header_line
from gainful.io.json_text import parse_json
from gainful.io.recognise import HEAD, header_separator, refuse_binary
from gainful.io.rows import Reading, RunFile
from gainful.io.session_columns import GAPS, SEPARATOR, SESSION_FORMATS, SESSION_NAMES, is_session_header
from gainful.io.session_records import SessionReading, SessionRecord, SessionRows
from gainful.io.sources import Text
from gainful.notation import choose, printable

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
        from gainful.io.session_xml import read_session_log

        return read_session_log(text, how)
    if kind in ("json", "jsonl"):
        return _json(text, kind, line, how)
    if kind in ("csv", "tsv") and not _is_run_header(line, how.columns):
        from gainful.io.session_table import read_session_table

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
    from gainful.io.session_table import read_session_frame

    frame: Any = open_parquet(text)
    names = column_names(frame)
    if not is_session_header(names, how.columns) and has_header(names, how.columns, known=NAMES):
        return _run(text, "parquet", how)
    return read_session_frame(frame, how.columns, text.name)


def _run(text: Text, format_: str | None, how: SessionReading) -> RunFile:
    return RunFile(text, Reading(format_, how.columns))
