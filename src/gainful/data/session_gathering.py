"""Sessions from sources of any kind: records gathered into columns, some at a time, and the parts as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np

from gainful.data.run import Run
from gainful.data.session_rows import sessions_of_rows, sessions_of_run, turn_ids
from gainful.data.sessions import PART_SIZE, Sessions
from gainful.errors import InputError
from gainful.io.formats import Reading
from gainful.io.frames import read_session_frame
from gainful.io.readers import read_session_content
from gainful.io.rows import Frame, ItemRows, Rows, packed
from gainful.io.session_objects import read_session_objects
from gainful.io.session_records import OF_SEVERAL, SessionRecord, SessionRows, TurnRecord, shown_line
from gainful.io.sources import Source, Text, as_source, open_source
from gainful.kernel.arrays import Floats, Ints
from gainful.notation import printable

_NONE: Floats = np.zeros(0)


#: Reads the same records again, where that is possible, to say where something stood first.
Again: TypeAlias = Callable[[], Iterable[SessionRecord]] | None


def gather_sessions(
    records: Iterable[SessionRecord], name: str, separator: str, size: int, again: Again = None
) -> Iterator[Sessions]:
    """Sessions of at most ``size`` records each. What has to differ between sessions does between all of them."""
    checked = _distinct(records, again)
    part = list(islice(checked, size))
    if not part:
        raise InputError(f"{name}: expected at least one session, found none")
    while part:
        systems = tuple(dict.fromkeys(record.system for record in part if record.system is not None))
        found = _gathered(sorted(part, key=lambda record: record.session), name, separator)
        yield replace(found, system_order=systems)
        part = list(islice(checked, size))


def _distinct(records: Iterable[SessionRecord], again: Again) -> Iterator[SessionRecord]:
    """The records, as long as no session and no query's id comes twice and all results have scores, or none has.

    Of all that was read only ids are kept.
    """
    sessions: set[bytes] = set()
    ids: set[bytes] = set()
    first: TurnRecord | None = None
    for record in records:
        if record.session in sessions:
            found = ((each.where, each.session) for each in again()) if again else ()
            raise InputError(
                f"{record.where}: expected every session once, found '{printable(record.session)}' again"
                f"{_first_place(record.session, found)}{shown_line(record.line)}",
                OF_SEVERAL,
            )
        sessions.add(record.session)
        for turn in record.turns:
            if turn.id is not None and turn.id in ids:
                turns = ((each.where, each.id) for earlier in again() for each in earlier.turns) if again else ()
                raise InputError(
                    f"{turn.where}: expected every query's id once, found '{printable(turn.id)}' again"
                    f"{_first_place(turn.id, turns)}{shown_line(record.line)}"
                )
            if turn.id is not None:
                ids.add(turn.id)
            if len(turn.documents):
                first = first or turn._replace(documents=())
                _check_alike(first, turn, record)
        yield record


def _first_place(identifier: bytes, found: Iterable[tuple[str, bytes | None]]) -> str:
    return next((f" (first: {where})" for where, each in found if each == identifier), "")


def _check_alike(first: TurnRecord, turn: TurnRecord, record: SessionRecord) -> None:
    if (first.scores is None) != (turn.scores is None):
        found = "without" if turn.scores is None else "with"
        raise InputError(
            f"{turn.where}: expected scores for all results or for none, found results {found} them, unlike those of "
            f"{first.where}{shown_line(record.line)}"
        )


def _gathered(records: Sequence[SessionRecord], name: str, separator: str) -> Sessions:
    turns = [turn for record in records for turn in record.turns]
    turn_offsets = _offsets([len(record.turns) for record in records])
    session_ids = tuple(record.session for record in records)
    topics, users, systems = (
        tuple(getattr(record, role) for record in records) for role in ("topic", "user", "system")
    )
    scanned = np.array([turn.scanned for turn in turns], np.int64)
    texts = tuple(turn.text for turn in turns)
    costs = np.array([turn.cost for turn in turns], np.float64)
    return Sessions(
        name,
        session_ids,
        turn_offsets,
        _lists(records, turns, turn_ids(session_ids, turn_offsets, separator), name),
        topics if any(topic is not None for topic in topics) else (),
        _grades(turns),
        scanned if (scanned >= 0).any() else scanned[:0],
        texts if any(texts) else (),
        users if any(user is not None for user in users) else (),
        systems if any(system is not None for system in systems) else (),
        _ratings(records),
        costs[:0] if np.isnan(costs).all() else costs,
        records[0].gap,
    )


def _offsets(counts: Sequence[int]) -> Ints:
    return np.append(0, np.cumsum(np.array(counts, np.int64)))


def _lists(
    records: Sequence[SessionRecord], turns: Sequence[TurnRecord], default_ids: Sequence[bytes], name: str
) -> Run:
    offsets = _offsets([len(turn.documents) for turn in turns])
    origin = ItemRows(name, offsets, [turn.where for turn in turns])
    bad: list[TurnRecord] = []

    def where(row: int) -> str:
        at = origin.place_of(row)
        bad.append(turns[at])
        return f"{turns[at].where}.results[{row - int(offsets[at])}]"

    ids = [default if turn.id is None else turn.id for turn, default in zip(turns, default_ids, strict=True)]
    _refuse_shared(ids, turns, records)
    scores = [score for turn in turns for score in turn.scores or ()]
    try:
        documents = packed(list(chain.from_iterable(turn.documents for turn in turns)), where)
    except InputError as error:
        raise InputError(error.message + _shown(bad[-1], records), error.hint) from error
    values, notes = np.array(scores, np.float64), records[0].notes
    return Run(name, tuple(ids), offsets, *documents, values, origin=origin, notes=notes)


def _shown(turn: TurnRecord, records: Sequence[SessionRecord]) -> str:
    return next(shown_line(record.line) for record in records if any(each is turn for each in record.turns))


def _refuse_shared(ids: Sequence[bytes], turns: Sequence[TurnRecord], records: Sequence[SessionRecord]) -> None:
    """Refuses an id that is given to one query and made for another."""
    if len(set(ids)) < len(ids):
        place_of: dict[bytes, str] = {}
        for identifier, turn in zip(ids, turns, strict=True):
            if identifier in place_of:
                raise InputError(
                    f"{turn.where}: expected every query's id once, found '{printable(identifier)}' again "
                    f"(first: {place_of[identifier]}){_shown(turn, records)}",
                    "queries without an id are called by their session and number",
                )
            place_of[identifier] = turn.where


def _grades(turns: Sequence[TurnRecord]) -> Floats:
    if all(turn.grades is None for turn in turns):
        return _NONE
    unknown = [np.nan]
    return np.array(
        [grade for turn in turns for grade in (unknown * len(turn.documents) if turn.grades is None else turn.grades)],
        np.float64,
    )


def _ratings(records: Sequence[SessionRecord]) -> dict[str, Floats]:
    names = dict.fromkeys(name for record in records for name in record.ratings)
    return {
        name: np.array([record.ratings.get(name, np.nan) for record in records], np.float64) for name in sorted(names)
    }


def parts_of_source(source: Source | Text, how: Reading, threads: int, size: int | None = None) -> Iterator[Sessions]:
    """The sessions of a source, at most ``size`` at a time; without a size as they are read best."""
    given = as_source(source, "Sessions")
    text = open_source(given)
    content = read_session_content(text, how._replace(threads=threads))
    if not isinstance(content, (SessionRows, Rows)):
        again = partial(_records, text, how)
        yield from gather_sessions(content, text.name, how.separator, size or PART_SIZE, again)
        return
    if isinstance(content, SessionRows):
        whole = sessions_of_rows(content, text.name, how)
    else:
        whole = sessions_of_run(Run.from_rows(content).read_from(text.name), how)
    size = size or len(whole)
    for first in range(0, len(whole), size):
        yield whole if size >= len(whole) else whole.part(first, first + size)


def _records(text: Text, how: Reading) -> Iterable[SessionRecord]:
    content = read_session_content(text, how)
    return () if isinstance(content, (SessionRows, Rows)) else content


def parts_of_objects(values: Iterable[Any], name: str = "<list>") -> Iterator[Sessions]:
    """Sessions from dicts as JSON lines have them."""
    how = Reading.of_sessions()
    # What can be walked through only once cannot be asked where something stood first.
    again = None if iter(values) is values else partial(read_session_objects, values, how, name)
    return gather_sessions(read_session_objects(values, how, name), name, how.separator, PART_SIZE, again)


def sessions_of_frame(frame: Frame, how: Reading, name: str) -> Sessions:
    """Sessions from a data frame, one row a result, or of a log."""
    found = read_session_frame(frame, how, name)
    if isinstance(found, SessionRows):
        return sessions_of_rows(found, name, how)
    return join_parts(gather_sessions(found, name, how.separator, PART_SIZE))


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
        _floats([part.costs for part in found], turns),
        found[0].gap,
        tuple(dict.fromkeys(system for part in found for system in part.system_order)),
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
