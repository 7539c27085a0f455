"""Records of sessions gathered into columns, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.run import Run
from gainful.data.session_turns import turn_ids
from gainful.data.sessions import Sessions
from gainful.errors import InputError
from gainful.io.origin import ItemRows
from gainful.io.rows import packed
from gainful.io.session_records import OF_SEVERAL, SessionRecord, TurnRecord, shown_line
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
        yield _gathered(sorted(part, key=lambda record: record.session), name, separator)
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
    return Run(name, tuple(ids), offsets, *documents, np.array(scores, np.float64), origin=origin)


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
