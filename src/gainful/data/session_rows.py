"""Sessions from rows, one a result, in any order; and from runs whose query ids are session and turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.data.run import Run
from gainful.data.sessions import Sessions, refuse_repeated_ranks
from gainful.errors import InputError
from gainful.io.formats import Reading
from gainful.io.rows import Spans, refuse_rows
from gainful.io.session_records import (
    DEEPEST,
    FROM_ONE,
    MOST_QUERIES,
    OF_SEVERAL,
    RANKS_FROM_ONE,
    SessionRows,
    fill_gaps,
    gap_message,
    missing_rank,
    repeated_query,
    repeated_rank,
    time_back,
)
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.notation import number_text, printable, text_of_id

_EMPTY_PAGE = "an empty result page is one row with rank 0 and - as document"
_OF_SESSIONS = ("topic", "user", "system")
_NONE: Floats = np.zeros(0)
_Kind = TypeVar("_Kind", np.bool_, np.int64, np.float64)


def sessions_of_rows(rows: SessionRows, name: str, how: Reading) -> Sessions:
    """Sessions from rows, checked."""
    if not rows.number.size:
        raise InputError(f"{name}: expected at least one session, found none")
    is_empty = _empty_pages(rows)
    _check_rows(rows, is_empty)
    return _Table(rows, is_empty, name, how).sessions()


def _empty_pages(rows: SessionRows) -> Bools:
    """Which rows are empty result pages: rank 0, where there are ranks, and nothing or ``-`` as document."""
    data, start, length = rows.document
    none = length == 0
    single = np.flatnonzero(length == 1)
    none[single] = data[start[single]] == ord("-")
    return none if rows.rank is None else np.asarray(none & (rows.rank == 0))


def _check_rows(rows: SessionRows, is_empty: Bools) -> None:
    """Refuses values that no row may have."""

    def refuse(bad: Bools, expected: str, values: Floats | None, hint: str | None) -> None:
        def message(row: int) -> str:
            found = "nothing" if values is None else number_text(values[row])
            return f"{rows.origin.where(row)}: expected {expected}, found {found}{rows.origin.shown(row)}"

        refuse_rows(np.flatnonzero(bad), message, hint)

    number = rows.number
    is_number = (number >= 1) & (number <= MOST_QUERIES) & (number == np.floor(number))
    refuse(~is_number, f"a whole number from 1 to {MOST_QUERIES:,} as query's number", number, FROM_ONE)
    if rows.rank is not None:
        is_rank = (rows.rank >= 0) & (rows.rank == np.floor(rows.rank))
        refuse(~is_rank, "a whole number as rank", rows.rank, RANKS_FROM_ONE)
        refuse((rows.rank == 0) & ~is_empty, "ranks from 1", rows.rank, f"{RANKS_FROM_ONE}; {_EMPTY_PAGE}")
        refuse((rows.document[2] == 0) & ~is_empty, "an id as document", None, _EMPTY_PAGE)
    if rows.score is not None:
        refuse(np.isnan(rows.score) & ~is_empty, "a number as score", None, None)
    if rows.scanned is not None:
        is_depth = (rows.scanned >= 0) & (rows.scanned <= DEEPEST) & (rows.scanned == np.floor(rows.scanned))
        expected = f"a whole number from 0 to {DEEPEST:,} as scanned"
        refuse(~(is_depth | np.isnan(rows.scanned)), expected, rows.scanned, None)
    if rows.cost is not None:
        refuse(rows.cost < 0, "a number from 0 on as cost", rows.cost, None)


class _Table:
    """Rows by session, query and rank. Rows are numbered in this order; turns and sessions are, too."""

    def __init__(self, rows: SessionRows, is_empty: Bools, name: str, how: Reading) -> None:
        self._rows, self._name, self._how = rows, name, how
        self._session_ids, session = core.number_ids(*rows.session)
        key = session * (MOST_QUERIES + 1) + rows.number.astype(np.int64)
        self._order = _ordering(key, rows.rank)
        key = self._ordered(key)
        starts = np.diff(key, prepend=-1) != 0
        self._first: Ints = np.flatnonzero(starts)  # by turn
        self._turn: Ints = np.cumsum(starts) - 1  # by row
        self._session, self._number = np.divmod(key[self._first], MOST_QUERIES + 1)  # by turn
        self._is_empty = self._ordered(is_empty)

    def sessions(self) -> Sessions:
        # Several systems in one table have every rank of a session several times: what is wrong is told by the system.
        systems = _texts(self._labels(self._rows.system, "system", OF_SEVERAL))
        self._check_pages()
        self._check_ranks()
        self._check_times()
        offsets, place = turn_places(self._session, self._number, None if self._how.fills_gaps else self._refuse_gaps)
        rows = self._rows
        kept = self._kept()
        grade = _NONE if rows.grade is None else _taken(rows.grade, kept)
        return Sessions(
            self._name,
            tuple(self._session_ids),
            offsets,
            self._lists(kept, offsets, place),
            tuple(self._labels(rows.topic, "topic")),
            _NONE if np.isnan(grade).all() else grade,
            self._by_turn(rows.scanned, "scanned", place, int(offsets[-1]), -1.0).astype(np.int64),
            self._turn_texts(place, int(offsets[-1])),
            users=_texts(self._labels(rows.user, "user")),
            systems=systems,
            system_order=self._system_order(),
            costs=self._by_turn(rows.cost, "cost", place, int(offsets[-1]), math.nan),
        )

    def _ordered(self, column: NDArray[_Kind]) -> NDArray[_Kind]:
        return _taken(column, self._order)

    def _kept(self) -> Ints | None:
        """Which rows, as they came, hold a document; None: all, and in order."""
        if not self._is_empty.any():
            return self._order
        return np.flatnonzero(~self._is_empty) if self._order is None else self._order[~self._is_empty]

    def _lists(self, kept: Ints | None, offsets: Ints, place: Ints) -> Run:
        rows = self._rows
        data, start, length = rows.document
        counts = np.zeros(int(offsets[-1]), np.int64)
        counts[place] = np.bincount(self._turn[~self._is_empty], minlength=self._first.size)
        return Run(
            self._name,
            tuple(self._ids(offsets, place)),
            np.append(0, np.cumsum(counts)),
            data,
            _taken(start, kept),
            _taken(length, kept),
            _NONE if rows.score is None else _taken(rows.score, kept),
            _NONE if rows.rank is None else _taken(rows.rank, kept),
            rows.origin if kept is None else rows.origin.take(kept),
        )

    def _ids(self, offsets: Ints, place: Ints) -> list[bytes]:
        """What judgments by query call each turn: what rows say, or else its session and number."""
        ids = turn_ids(self._session_ids, offsets, self._how.separator)
        if self._rows.query_id is None:
            return ids
        given, found = core.number_ids(*self._rows.query_id)
        found = self._ordered(found)
        known = self._ordered(self._rows.query_id[2]) > 0
        row = self._agreed(found, known, self._turn, self._first.size, "query_id", lambda value: given[value])
        for at, told in zip(place.tolist(), row.tolist(), strict=True):
            if told >= 0:
                ids[at] = given[found[told]]
        if len(set(ids)) < len(ids):
            self._refuse_shared(ids, place)
        return ids

    def _refuse_shared(self, ids: list[bytes], place: Ints) -> None:
        """Refuses ids that several turns have, of which some may be empty result pages without a row."""
        row_of = dict(zip(place.tolist(), self._first.tolist(), strict=True))
        first: dict[bytes, int] = {}
        others: dict[int, int] = {}  # by row: another turn with the same id
        for at, identifier in enumerate(ids):
            other = first.setdefault(identifier, at)
            if other != at:
                row = row_of.get(at)
                others[row_of[other] if row is None else row] = at if row is None else other

        def message(row: int) -> str:
            at = others[row]
            where = f"first: {self._place(row_of[at])}" if at in row_of else "a missing query's"
            return f"{self._where(row)}: expected every query's id once, found '{printable(ids[at])}' again ({where})"

        hint = "queries without an id are called by their session and number"
        self._refuse(np.array(list(others), np.int64), message, hint)

    def _check_pages(self) -> None:
        shown = np.diff(self._first, append=self._turn.size)
        bad = np.flatnonzero(self._is_empty & (shown[self._turn] > 1))
        self._refuse(
            bad,
            lambda row: (
                f"{self._where(row)}: expected an empty result page to be the only row of {self._of(row)}, found "
                f"{shown[self._turn[row]]} rows"
            ),
            _EMPTY_PAGE,
        )

    def _check_ranks(self) -> None:
        if self._rows.rank is None:
            return
        rank = self._ordered(self._rows.rank)
        expected = np.arange(1, rank.size + 1) - self._first[self._turn]
        bad = np.flatnonzero((rank != expected) & ~self._is_empty)
        # Behind the first wrong rank of a list all are wrong.
        bad = bad[np.diff(self._turn[bad], prepend=-1) != 0]

        def message(row: int) -> str:
            if expected[row] > 1 and rank[row] == rank[row - 1]:
                return repeated_rank(self._where(row), rank[row], self._place(row - 1), self._of(row))
            return missing_rank(self._where(row), int(expected[row]), rank[row], self._of(row))

        self._refuse(bad, message, RANKS_FROM_ONE)

    def _check_times(self) -> None:
        if self._rows.time is None:
            return
        time, shown = self._ordered(self._rows.time), self._rows.time_text
        known = np.flatnonzero(~np.isnan(time))
        session = self._session[self._turn[known]]
        back = np.flatnonzero((np.diff(session) == 0) & (np.diff(time[known]) < 0)) + 1
        before = dict(zip(known[back].tolist(), known[back - 1].tolist(), strict=True))

        def message(row: int) -> str:
            earlier = before[row]
            found, after = (
                number_text(float(time[at])) if shown is None else shown(self._came(at)) for at in (row, earlier)
            )
            return time_back(self._where(row), self._id(row), found, after, self._place(earlier))

        self._refuse(known[back], message, None)

    def _refuse_gaps(self, turns: Ints, missing: Ints) -> None:
        gap = dict(zip(self._first[turns].tolist(), missing.tolist(), strict=True))
        self._refuse(
            self._first[turns],
            lambda row: gap_message(self._where(row), self._id(row), gap[row], int(self._number[self._turn[row]])),
            fill_gaps(),
        )

    def _labels(self, spans: Spans | None, role: str, hint: str | None = None) -> list[bytes | None]:
        """What rows say of their sessions; nothing where none says anything."""
        if spans is None:
            return []
        labels, label = core.number_ids(*spans)
        label = self._ordered(label)
        known = self._ordered(spans[2]) > 0
        row = self._agreed(
            label, known, self._session[self._turn], len(self._session_ids), role, lambda value: labels[value], hint
        )
        return [None if at < 0 else labels[label[at]] for at in row.tolist()] if known.any() else []

    def _system_order(self) -> tuple[str, ...]:
        """The systems in the order of the rows as they came."""
        if self._rows.system is None:
            return ()
        systems, number = core.number_ids(*self._rows.system)
        _, first = np.unique(number, return_index=True)
        return tuple(text_of_id(systems[number[at]]) for at in sorted(first.tolist()))

    def _turn_texts(self, place: Ints, turns: int) -> tuple[str, ...]:
        """What was typed; a column whose rows differ within a query has something else."""
        if self._rows.text is None:
            return ()
        texts, number = core.number_ids(*self._rows.text)
        number = self._ordered(number)
        agree = np.logical_and.reduceat(number == number[self._first][self._turn], self._first)
        found = [""] * turns
        for at, value in zip(place[agree].tolist(), number[self._first][agree].tolist(), strict=True):
            found[at] = text_of_id(texts[value])
        return tuple(found) if any(found) else ()

    def _by_turn(self, column: Floats | None, role: str, place: Ints, turns: int, nothing: float) -> Floats:
        """What the rows of a query say of it, all the same; empty where none says anything."""
        if column is None or np.isnan(column).all():
            return np.zeros(0)
        values = self._ordered(column)
        row = self._agreed(values, ~np.isnan(values), self._turn, self._first.size, role, number_text)
        found = np.full(turns, nothing)
        found[place[row >= 0]] = values[row[row >= 0]]
        return found

    def _agreed(
        self,
        value: NDArray[Any],
        known: Bools,
        group: Ints,
        groups: int,
        role: str,
        shown: Callable[[Any], str | bytes],
        hint: str | None = None,
    ) -> Ints:
        """For every group the first row that tells its value, -1 where none does; all that do have to agree."""
        telling = np.flatnonzero(known)
        first = np.full(groups, -1)
        first[group[telling[::-1]]] = telling[::-1]
        bad = telling[value[telling] != value[first[group[telling]]]]
        self._refuse(
            bad,
            lambda row: (
                f"{self._where(row)}: expected one {role} in "
                f"{self._in(row) if role in _OF_SESSIONS else self._of(row)}, "
                f"found '{printable(shown(value[row]))}' and '{printable(shown(value[first[group[row]]]))}' "
                f"({self._place(int(first[group[row]]))})"
            ),
            hint,
        )
        return first

    def _refuse(self, bad: Ints, message: Callable[[int], str], hint: str | None) -> None:
        """Refuses rows, those first that came first."""
        came = bad if self._order is None else bad[np.argsort(self._order[bad])]
        refuse_rows(came, lambda row: message(row) + self._rows.origin.shown(self._came(row)), hint)

    def _came(self, row: int) -> int:
        return row if self._order is None else int(self._order[row])

    def _where(self, row: int) -> str:
        return self._rows.origin.where(self._came(row))

    def _place(self, row: int) -> str:
        return self._rows.origin.place(self._came(row))

    def _id(self, row: int) -> bytes:
        return self._session_ids[int(self._session[self._turn[row]])]

    def _in(self, row: int) -> str:
        return f"session '{printable(self._id(row))}'"

    def _of(self, row: int) -> str:
        return f"query {self._number[self._turn[row]]} of {self._in(row)}"


def _ordering(key: Ints, rank: Floats | None) -> Ints | None:
    """What puts rows in order; None where they are."""
    steps = np.diff(key)
    if rank is None:
        return None if (steps >= 0).all() else np.argsort(key, kind="stable")
    if ((steps > 0) | ((steps == 0) & (np.diff(rank) >= 0))).all():
        return None
    return np.lexsort((rank, key))


def _taken(column: NDArray[_Kind], rows: Ints | None) -> NDArray[_Kind]:
    return column if rows is None else column[rows]


def _texts(labels: list[bytes | None]) -> tuple[str | None, ...]:
    return tuple(None if label is None else text_of_id(label) for label in labels)


def sessions_of_run(run: Run, how: Reading) -> Sessions:
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
        gap = dict(zip(turns.tolist(), missing.tolist(), strict=True))

        def message(at: int) -> str:
            where, shown = _place(run, int(order[at]))
            return gap_message(where, session_ids[int(session[at])], gap[at], int(number[at])) + shown

        refuse_rows(turns, message, fill_gaps())

    offsets, place = turn_places(session, number, None if how.fills_gaps else complain)
    lists = run if np.array_equal(order, np.arange(order.size)) else run.take(order)
    return Sessions(run.name, session_ids, offsets, spread(lists, place, offsets, session_ids, how.separator))


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


def _split(run: Run, separator: bytes) -> tuple[tuple[bytes, ...], Ints, Ints]:
    parts = [identifier.rpartition(separator) for identifier in run.query_ids]
    # What is not a number, or too long to be one, becomes 0, which no turn has.
    turns = np.array([int(turn) if session and turn.isdigit() and len(turn) < 10 else 0 for session, _, turn in parts])
    between = printable(separator)

    def message(turn: int) -> str:
        where, shown = _place(run, turn)
        return (
            f"{where}: expected a session, '{between}' and the number of a query in it as query, "
            f"found '{printable(run.query_ids[turn])}'{shown}"
        )

    hint = f"such as 106{between}1; {FROM_ONE}; --session-separator (separator= in Python) names another separator"
    refuse_rows(np.flatnonzero((turns < 1) | (turns > MOST_QUERIES)), message, hint)
    session_ids = sorted({session for session, _, _ in parts})
    place = {identifier: i for i, identifier in enumerate(session_ids)}
    session = np.array([place[session] for session, _, _ in parts], np.int64)
    return tuple(session_ids), session, turns


def _refuse_repeats(run: Run, order: Ints, session_ids: Sequence[bytes], session: Ints, number: Ints) -> None:
    """Turns 1 and 01 are the same."""
    again = np.flatnonzero((np.diff(session) == 0) & (np.diff(number) == 0)) + 1

    def message(at: int) -> str:
        first = f"'{printable(run.query_ids[int(order[at - 1])])}'"
        return repeated_query(_place(run, int(order[at]))[0], session_ids[int(session[at])], int(number[at]), first)

    refuse_rows(again, message, FROM_ONE)


def _place(run: Run, turn: int) -> tuple[str, str]:
    """Where a list begins, and what stands there, as far as that is known."""
    start, end = run.list_offsets[turn : turn + 2].tolist()
    if start == end or run.origin is None:
        return run.name, ""
    return run.origin.where(start), run.origin.shown(start)


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


def turn_ids(session_ids: Sequence[bytes], offsets: Ints, separator: str) -> list[bytes]:
    """What turns are called that have no name of their own: session, separator, number."""
    between = separator.encode()
    counts = np.diff(offsets).tolist()
    return [
        b"%b%b%d" % (identifier, between, number)
        for identifier, count in zip(session_ids, counts, strict=True)
        for number in range(1, count + 1)
    ]
