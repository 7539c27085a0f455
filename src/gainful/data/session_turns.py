"""Turns in their sessions: which numbers they have, and runs whose query ids are session and turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gainful.arrays import Ints
from gainful.data.run import Run
from gainful.data.sessions import Sessions
from gainful.io.session_records import (
    FILL_GAPS,
    FROM_ONE,
    MOST_QUERIES,
    RANKS_FROM_ONE,
    SessionReading,
    gap_message,
    repeated_query,
    repeated_rank,
)
from gainful.io.trec import input_error
from gainful.notation import printable

_SHOWN = 10


def sessions_of_run(run: Run, how: SessionReading) -> Sessions:
    """Sessions from a run: what stands before the last separator of a query's id is the session, then its turn.

    The same rank twice in a list is an error, even where scores order it, because one of the lines must be wrong. A
    rank column that is the same everywhere, as some tools write it, says nothing and is no error until ranks are asked
    to order the lists.
    """
    if run.has_ranks and len(run) and run.rank.min() != run.rank.max():
        refuse_repeated_ranks(run)
    session_ids, session, number = _split(run, how.separator.encode())
    order = np.lexsort((number, session))
    session, number = session[order], number[order]
    _refuse_repeats(run, order, session_ids, session, number)

    def complain(turns: Ints, missing: Ints) -> None:
        messages = [
            gap_message(_where(run, int(order[at])), session_ids[int(session[at])], int(gap), int(number[at]))
            + _shown(run, int(order[at]))
            for at, gap in zip(turns[:_SHOWN].tolist(), missing[:_SHOWN].tolist(), strict=True)
        ]
        raise input_error(messages, int(turns.size), FILL_GAPS)

    offsets, place = turn_places(session, number, None if how.fills_gaps else complain)
    lists = run if np.array_equal(order, np.arange(order.size)) else run.take(order)
    return Sessions(run.name, session_ids, offsets, spread(lists, place, offsets, session_ids, how.separator))


def refuse_repeated_ranks(run: Run) -> None:
    """Refuses lists that have a rank twice."""
    is_first = np.zeros(len(run), bool)
    is_first[run.list_offsets[:-1][np.diff(run.list_offsets) > 0]] = True
    if (is_first[1:] | (np.diff(run.rank) > 0)).all():
        return
    turn = np.cumsum(is_first)
    order = np.lexsort((run.rank, turn))
    turn, rank = turn[order], run.rank[order]
    again = np.flatnonzero((np.diff(turn) == 0) & (np.diff(rank) == 0)) + 1
    if again.size and run.origin is not None:
        origin = run.origin
        again = again[np.argsort(order[again])]
        messages = [
            repeated_rank(
                origin.where(int(order[at])),
                rank[at],
                origin.place(int(order[at - 1])),
                f"query '{printable(run.query_of(int(order[at])))}'",
            )
            + origin.shown(int(order[at]))
            for at in again[:_SHOWN].tolist()
        ]
        raise input_error(messages, int(again.size), RANKS_FROM_ONE)


def turn_places(session: Ints, number: Ints, complain: Callable[[Ints, Ints], None] | None) -> tuple[Ints, Ints]:
    """Where each session's turns start, and the place of every turn; given by session and number, ascending.

    ``complain`` is told of turns before which a number is missing, and which; without it places are left free.
    """
    is_first = np.diff(session, prepend=-1) != 0
    expected = np.where(is_first, 1, np.append(0, number[:-1]) + 1)
    if complain is not None and not np.array_equal(number, expected):
        gaps = np.flatnonzero(number != expected)
        complain(gaps, expected[gaps])
    last = np.append(is_first[1:], True)
    offsets = np.append(0, np.cumsum(number[last]))
    return offsets, offsets[session] + number - 1


def spread(lists: Run, place: Ints, offsets: Ints, session_ids: Sequence[bytes], separator: str) -> Run:
    """The lists at their places; those in between are empty."""
    turns = int(offsets[-1])
    if place.size == turns:
        return lists
    ids = turn_ids(session_ids, offsets, separator)
    for at, identifier in zip(place.tolist(), lists.query_ids, strict=True):
        ids[at] = identifier
    counts = np.zeros(turns, np.int64)
    counts[place] = np.diff(lists.list_offsets)
    return replace(lists, query_ids=tuple(ids), list_offsets=np.append(0, np.cumsum(counts)))


def turn_ids(session_ids: Sequence[bytes], offsets: Ints, separator: str) -> list[bytes]:
    """What turns are called that have no name of their own: session, separator, number."""
    between = separator.encode()
    counts = np.diff(offsets).tolist()
    return [
        b"%b%b%d" % (identifier, between, number)
        for identifier, count in zip(session_ids, counts, strict=True)
        for number in range(1, count + 1)
    ]


def _split(run: Run, separator: bytes) -> tuple[tuple[bytes, ...], Ints, Ints]:
    parts = [identifier.rpartition(separator) for identifier in run.query_ids]
    # What is not a number, or too long to be one, becomes 0, which no turn has.
    turns = np.array([int(turn) if session and turn.isdigit() and len(turn) < 10 else 0 for session, _, turn in parts])
    bad = np.flatnonzero((turns < 1) | (turns > MOST_QUERIES)).tolist()
    if bad:
        messages = [
            f"{_where(run, i)}: expected a session, '{printable(separator)}' and the number of a query in it as query, "
            f"found '{printable(run.query_ids[i])}'{_shown(run, i)}"
            for i in bad[:_SHOWN]
        ]
        example = f"106{printable(separator)}1"
        hint = f"such as {example}; {FROM_ONE}; --session-separator (separator= in Python) names another separator"
        raise input_error(messages, len(bad), hint)
    session_ids = sorted({session for session, _, _ in parts})
    place = {identifier: i for i, identifier in enumerate(session_ids)}
    session = np.array([place[session] for session, _, _ in parts], np.int64)
    return tuple(session_ids), session, turns


def _refuse_repeats(run: Run, order: Ints, session_ids: Sequence[bytes], session: Ints, number: Ints) -> None:
    """Turns 1 and 01 are the same."""
    again = np.flatnonzero((np.diff(session) == 0) & (np.diff(number) == 0)) + 1
    if again.size:
        messages = [
            repeated_query(
                _where(run, int(order[at])),
                session_ids[int(session[at])],
                int(number[at]),
                f"'{printable(run.query_ids[int(order[at - 1])])}'",
            )
            for at in again[:_SHOWN].tolist()
        ]
        raise input_error(messages, int(again.size), FROM_ONE)


def _first_row(run: Run, turn: int) -> int | None:
    start, end = run.list_offsets[turn : turn + 2].tolist()
    return start if end > start and run.origin is not None else None


def _where(run: Run, turn: int) -> str:
    row = _first_row(run, turn)
    return run.name if row is None or run.origin is None else run.origin.where(row)


def _shown(run: Run, turn: int) -> str:
    row = _first_row(run, turn)
    return "" if row is None or run.origin is None else run.origin.shown(row)
