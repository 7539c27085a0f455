"""Sessions from sources of any kind, in parts, and the parts as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.run import Run
from gainful.data.session_gathering import gather_sessions
from gainful.data.session_rows import sessions_of_rows
from gainful.data.session_turns import sessions_of_run
from gainful.data.sessions import PART_SIZE, Sessions
from gainful.io.origin import ItemRows
from gainful.io.reader import read_content
from gainful.io.rows import Frame, RunFile, as_source
from gainful.io.session_objects import read_session_objects
from gainful.io.session_reader import read_session_content, session_reading
from gainful.io.session_records import SessionReading, SessionRecord, SessionRows
from gainful.io.session_table import read_session_frame
from gainful.io.sources import Source, Text, open_source


def parts_of_source(
    source: Source | Text, how: SessionReading, threads: int, size: int | None = None
) -> Iterator[Sessions]:
    """The sessions of a source, at most ``size`` at a time; without a size as they are read best."""
    given = as_source(source, "Sessions")
    text = given if isinstance(given, Text) else open_source(given)
    content = read_session_content(text, how)
    if not isinstance(content, (SessionRows, RunFile)):
        again = partial(_records, text, how)
        yield from gather_sessions(content, text.name, how.separator, size or PART_SIZE, again)
        return
    if isinstance(content, SessionRows):
        whole = sessions_of_rows(content, text.name, how)
    else:
        whole = sessions_of_run(Run.of_content(*read_content(*content, run=True), threads), how)
    size = size or len(whole)
    for first in range(0, len(whole), size):
        yield whole if size >= len(whole) else whole.part(first, first + size)


def _records(text: Text, how: SessionReading) -> Iterable[SessionRecord]:
    content = read_session_content(text, how)
    return () if isinstance(content, (SessionRows, RunFile)) else content


def parts_of_objects(values: Iterable[Any], name: str = "<list>") -> Iterator[Sessions]:
    """Sessions from dicts as JSON lines have them."""
    how = session_reading()
    # What can be walked through only once cannot be asked where something stood first.
    again = None if iter(values) is values else partial(read_session_objects, values, how, name)
    return gather_sessions(read_session_objects(values, how, name), name, how.separator, PART_SIZE, again)


def sessions_of_frame(frame: Frame, columns: Mapping[str, str] | None, gaps: str, name: str) -> Sessions:
    """Sessions from a data frame, one row a result."""
    how = session_reading(columns=columns, gaps=gaps)
    return sessions_of_rows(read_session_frame(frame, how.columns, name), name, how)


def join_parts(parts: Iterable[Sessions]) -> Sessions:
    """All parts of a source as one, in byte order of the sessions' ids."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    rows = [len(part.lists) for part in found]
    turns = [int(part.turn_offsets[-1]) for part in found]
    sessions = [len(part) for part in found]
    whole = Sessions(
        found[0].name,
        tuple(identifier for part in found for identifier in part.session_ids),
        _chained([part.turn_offsets for part in found]),
        _joined_lists([part.lists for part in found]),
        _values([part.topics for part in found], sessions, None),
        _floats([part.grade for part in found], rows),
        np.array(_values([part.scanned.tolist() for part in found], turns, -1), np.int64),
        _values([part.texts for part in found], turns, ""),
        _values([part.users for part in found], sessions, None),
        _values([part.systems for part in found], sessions, None),
        {
            name: _floats([part.ratings.get(name, np.zeros(0)) for part in found], sessions)
            for name in sorted({name for part in found for name in part.ratings})
        },
    )
    return whole.take(sorted(range(len(whole)), key=whole.session_ids.__getitem__))


def _values(parts: Sequence[Sequence[Any]], sizes: Sequence[int], nothing: object) -> tuple[Any, ...]:
    """What all parts tell; what a part does not tell is nothing for each of its own."""
    if not any(map(len, parts)):
        return ()
    filled = (part if len(part) else [nothing] * size for part, size in zip(parts, sizes, strict=True))
    return tuple(value for part in filled for value in part)


def _floats(parts: Sequence[Floats], sizes: Sequence[int]) -> Floats:
    if not any(part.size for part in parts):
        return np.zeros(0)
    return np.concatenate(
        [part if part.size else np.full(size, np.nan) for part, size in zip(parts, sizes, strict=True)]
    )


def _chained(offsets: Sequence[Ints]) -> Ints:
    return np.append(0, np.cumsum(np.concatenate([np.diff(each) for each in offsets])))


def _joined_lists(lists: Sequence[Run]) -> Run:
    before = np.cumsum([0, *(run.data.size for run in lists)])
    offsets = _chained([run.list_offsets for run in lists])
    places = [place for run in lists if isinstance(run.origin, ItemRows) for place in run.origin.places]
    return Run(
        lists[0].name,
        tuple(identifier for run in lists for identifier in run.query_ids),
        offsets,
        np.concatenate([run.data for run in lists]),
        np.concatenate([run.document_start + shift for run, shift in zip(lists, before.tolist(), strict=False)]),
        np.concatenate([run.document_length for run in lists]),
        np.concatenate([run.score for run in lists]),
        origin=ItemRows(lists[0].name, offsets, places),
    )
