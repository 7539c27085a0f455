"""Entry points: read judgments, runs or sessions from any input into rows; large runs in blocks of whole queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import InputError, UsageError, option
from gainful.io.columns import NAMES, SPAN, ParentColumn, is_called, names_of
from gainful.io.formats import (
    FORMATS,
    PER_QUERY,
    PER_ROW,
    SESSION_FORMATS,
    Reading,
    SessionSample,
    fitting_format,
    format_of,
    header_line,
    load_reader,
)
from gainful.io.rows import Rows, gather_dicts, gather_entries, is_frame, joined_spans
from gainful.io.sources import Text, as_source, max_list_bytes, open_source, require_memory
from gainful.notation import NUMBER

if TYPE_CHECKING:
    from gainful.io.session_records import SessionContent

#: Formats with named values.
_WITH_NAMES = ("csv", "tsv", "json", "jsonl", "parquet")
#: Files of at least this many bytes are read in pieces, if their format supports it.
LARGE = 1 << 26
_NO_GRADES: Mapping[str, float] = MappingProxyType({})


def read_rows(value: object, how: Reading, *, run: bool, name: str | None = None) -> Rows:
    """Read judgments or a run from a path, bytes, a dict, a list of dicts as in JSON lines, a data frame, a folder, or
    the ID of a collection. ``name`` names a value that is not a file in messages."""
    # Readers are imported late: most commands read TREC text, which needs none of these.
    if any(isinstance(each, str) and SPAN.fullmatch(each) for each in how.columns.values()):
        value, name = _objects_of_table(value, how, run, name)
    if isinstance(value, Mapping):
        return read_dict(value, name or "<dict>", how.columns, run=run, grades=how.grades)
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
    format_ = FORMATS[format_of(text, how, run=run)]
    if format_.name not in _WITH_NAMES and any(isinstance(name, ParentColumn) for name in how.columns.values()):
        from gainful.io.json_text import refuse_plain

        refuse_plain(how.columns, text.name)
    if format_.name == "trec" and how.grades:
        format_ = format_._replace(reader="delimited:read_trec_words")
    rows: Rows = format_.read(text, how, run=run)
    if format_.per_line:
        text.require_memory(format_.per_line, PER_QUERY * len(rows.query_ids))
    return rows


def _objects_of_table(value: object, how: Reading, run: bool, name: str | None) -> tuple[object, str | None]:
    """Return the rows of a table or frame as objects, to build IDs from several columns; anything else unchanged."""
    from gainful.io.records import read_records

    if not is_frame(value):
        if isinstance(value, (Mapping, list, tuple)):
            return value, name
        value = open_source(as_source(value, "a Run" if run else "Qrels"))
        if format_of(value, how, run=run) not in ("csv", "tsv", "parquet"):
            return value, name
    name = name or str(getattr(value, "name", "<frame>"))
    values = [name for role in ("grade", "score", "rank") for name in (how.columns.get(role, role), *NAMES[role])]
    return [
        {
            key: float(cell) if isinstance(cell, str) and is_called(key, values) and NUMBER.fullmatch(cell) else cell
            for key, cell in record.values.items()
        }
        for record in read_records(value, name, names_of(run)["query"])
    ], name


def read_dict(
    lists: Mapping[Any, Any],
    name: str,
    columns: Mapping[str, str] = MappingProxyType({}),
    *,
    run: bool,
    grades: Mapping[str, float] = _NO_GRADES,
) -> Rows:
    """Read ``{query: {document: value}}`` or ``{query: [document, ...]}``; a list may be empty."""
    rows = None if grades or "document" in columns else gather_dicts(lists, name)
    if rows is None:
        from gainful.io.json_text import dict_entries

        rows = gather_entries(dict_entries(lists, name, columns, run=run), name, "score" if run else "grade", grades)
    return rows


def _read_other_path(path: str, how: Reading, run: bool) -> Rows | None:
    """Read an NTCIR folder, a folder of parquet parts or a collection of ir_datasets; return None for other paths."""
    if os.path.isdir(path):
        if any(part.startswith("part-") and part.endswith(".parquet") for part in os.listdir(path)):
            from gainful.io.frames import read_parquet

            return read_parquet(path, how, run=run)
        from gainful.io.delimited import read_folder

        return read_folder(path, run=run)
    if run or path == "-" or os.path.exists(path):
        return None
    from gainful.io.frames import is_dataset, read_dataset

    return read_dataset(path) if is_dataset(path) else None


def is_read_in_pieces(value: object, how: Reading) -> bool:
    """Return whether a run can be read in pieces and is large: its size, or its columns under a low memory limit."""
    if not isinstance(value, (str, os.PathLike)) or not os.path.isfile(value):
        return False
    text, size = open_source(value), os.path.getsize(value)
    format_ = FORMATS[format_of(text, how, run=True)]
    if format_.name == "parquet":
        size = 0
        with suppress(Exception):  # reading it whole reports what is wrong
            from pyarrow import parquet

            size = max(os.path.getsize(value), parquet.read_metadata(text.path).num_rows * PER_ROW // 10)
    elif text.path is None:
        size *= 20  # as well as runs are usually compressed
    return bool(format_.piece_reader) and size >= min(LARGE, max_list_bytes() // 10)


def read_pieces(value: str | os.PathLike[str], how: Reading) -> Iterator[Rows]:
    """Yield the rows of a large run in pieces."""
    text = open_source(value)
    pieces: Iterator[Rows] = load_reader(FORMATS[format_of(text, how, run=True)].piece_reader)(text, how)
    return pieces


def whole_queries(pieces: Iterable[Rows], least: int) -> Iterator[Rows]:
    """Regroup rows into blocks that end at the end of a query; a query that spans several pieces is held until then."""
    held: list[Rows] = []
    count, wanted = 0, least
    for piece in pieces:
        held.append(piece)
        count += piece.size
        require_memory(piece.origin.name, PER_ROW * count + sum(rows.document[0].size for rows in held))
        if count >= wanted:
            block = _concatenated(held)
            others = np.flatnonzero(block.query != block.query[-1])
            cut = int(others[-1]) + 1 if others.size else 0
            if cut:
                yield _part(block, 0, cut)
            held, count = [_part(block, cut, count)], count - cut
            wanted = max(least, 2 * count)  # avoids copying a long query once per piece
    if count:
        yield _concatenated(held)


def _part(rows: Rows, first: int, end: int) -> Rows:
    """Return a range of rows, without queries and bytes that only other rows use."""
    there, query = np.unique(rows.query[first:end], return_inverse=True)
    data, start, length = rows.document[0], rows.document[1][first:end], rows.document[2][first:end]
    begin = int(start.min(initial=data.size))
    return Rows(
        [rows.query_ids[at] for at in there.tolist()],
        query,
        (data[begin : int((start + length).max(initial=begin))], start - begin, length),
        None if rows.value is None else rows.value[first:end],
        # Rows of a piece are in source order, so its first row determines their places.
        replace(rows.origin, first=rows.origin.first + first),
        None if rows.rank is None else rows.rank[first:end],
        notes=rows.notes,
    )


def _concatenated(pieces: Sequence[Rows]) -> Rows:
    if len(pieces) == 1:
        return pieces[0]
    values, ranks = ([getattr(piece, what) for piece in pieces] for what in ("value", "rank"))
    for what, parts in (("scores", values), ("ranks", ranks)):
        at = next((i for i, part in enumerate(parts) if (part is None) != (parts[0] is None)), None)
        if at is not None:
            found = f"no {what}, but earlier batches have them" if parts[at] is None else f"{what} only from here"
            raise InputError(f"{pieces[at].origin.where(0)}: batches have different columns: {found}")
    place: dict[bytes, int] = {}
    for piece in pieces:
        for identifier in piece.query_ids:
            place.setdefault(identifier, len(place))
    places = [np.array([place[each] for each in piece.query_ids], np.int64) for piece in pieces]
    return Rows(
        list(place),
        np.concatenate([at[piece.query] for at, piece in zip(places, pieces, strict=True)]),
        joined_spans([piece.document for piece in pieces]),
        None if values[0] is None else np.concatenate(values),
        pieces[0].origin,
        None if ranks[0] is None else np.concatenate(ranks),
        notes=tuple(dict.fromkeys(note for piece in pieces for note in piece.notes)),
    )


def read_session_content(text: Text, how: Reading) -> SessionContent:
    """Read a text of sessions."""
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
        raise UsageError(f"{text.name}: {option('session_gap')} applies only to logs with times")
    return content


def read_run_of_sessions(text: Text, how: Reading) -> Rows:
    """Read a run with query IDs that consist of session and turn."""
    return read_rows(text, how, run=True)
