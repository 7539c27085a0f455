"""The door: whatever describes judgments, a run or sessions, read into rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError, UsageError, option
from gainful.io.formats import (
    FORMATS,
    SESSION_FORMATS,
    Reading,
    SessionSample,
    fitting_format,
    format_of,
    header_line,
    load_reader,
)
from gainful.io.rows import Rows, gather_dicts, gather_entries, is_frame
from gainful.io.sources import Text, as_source, open_source

if TYPE_CHECKING:
    from gainful.io.session_records import SessionContent

#: Files of so many bytes are read piece by piece, if their format can be.
LARGE = 1 << 26


def read_rows(value: object, how: Reading, *, run: bool, name: str | None = None) -> Rows:
    """The rows of judgments or of a run: a path, bytes, a dict, a list of dicts as JSON lines have them, a data frame,
    a folder, or the id of a collection. ``name`` is what messages call a value that is no file."""
    # Readers are loaded where they are needed: most commands take TREC text, which needs none of these.
    if isinstance(value, Mapping):
        return read_dict(value, name or "<dict>", run=run)
    if isinstance(value, (list, tuple)) and (run or (value and isinstance(value[0], dict))):
        from gainful.io.json_text import read_objects

        return read_objects(value, name or "<list>", how, run=run)
    if is_frame(value):
        from gainful.io.frames import read_frame

        return read_frame(value, how, run=run, name=name or "<frame>")
    if isinstance(value, (str, os.PathLike)) and not os.path.isfile(value):
        found = _read_other_path(os.fspath(value), how, run)
        if found is not None:
            return found
    text = open_source(as_source(value, "a Run" if run else "Qrels"))
    rows: Rows = FORMATS[format_of(text, how, run=run)].read(text, how, run=run)
    return rows


def read_dict(lists: Mapping[Any, Any], name: str, *, run: bool) -> Rows:
    """The rows of ``{query: {document: value}}`` or ``{query: [document, ...]}``; a list may be empty."""
    rows = gather_dicts(lists, name)
    if rows is None:
        from gainful.io.json_text import dict_entries

        rows = gather_entries(dict_entries(lists, name, run=run), name, "score" if run else "grade")
    return rows


def _read_other_path(path: str, how: Reading, run: bool) -> Rows | None:
    """What NTCIR's folders, folders of parts in parquet and the collections of ir_datasets hold; None for the rest."""
    if os.path.isdir(path):
        if any(part.startswith("part-") and part.endswith(".parquet") for part in os.listdir(path)):
            from gainful.io.frames import read_parquet_folder

            return read_parquet_folder(path, how, run=run)
        from gainful.io.delimited import read_folder

        return read_folder(path, run=run)
    if run or path == "-" or os.path.exists(path):
        return None
    from gainful.io.frames import is_dataset, read_dataset

    return read_dataset(path) if is_dataset(path) else None


def is_read_in_pieces(value: object, how: Reading) -> bool:
    """Whether a run is a large file of a format that can be read piece by piece."""
    if not isinstance(value, (str, os.PathLike)) or not os.path.isfile(value) or os.path.getsize(value) < LARGE:
        return False
    format_ = FORMATS[format_of(open_source(value), how, run=True)]
    return bool(format_.piece_reader) and (format_.name != "parquet" or find_spec("pyarrow") is not None)


def read_pieces(value: str | os.PathLike[str], how: Reading) -> Iterator[Rows]:
    """The rows of such a run, some at a time."""
    text = open_source(value)
    pieces: Iterator[Rows] = load_reader(FORMATS[format_of(text, how, run=True)].piece_reader)(text, how)
    return pieces


def read_session_content(text: Text, how: Reading) -> SessionContent:
    """What a text of sessions holds."""
    if not header_line(text)[1].strip():
        raise InputError(f"{text.name}: expected at least one session, found an empty file")
    name = how.format
    if name is None:
        sample = SessionSample(text, how.columns)
        name = fitting_format(sample, SESSION_FORMATS)
        if name is None:
            sample.refuse_unknown_table()
    content: SessionContent = SESSION_FORMATS[name or "trec"].read(text, how)
    if how.session_gap is not None and (name == "xml" or isinstance(content, Rows)):
        raise UsageError(f"{text.name}: {option('session_gap')} is for logs with times, found a run or sessions")
    return content


def read_run_of_sessions(text: Text, how: Reading) -> Rows:
    """A run whose queries are named by session and turn."""
    return read_rows(text, how, run=True)
