"""Sessions from rows, one a result, in any order; and from runs whose query ids are session and turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gainful.data.run import Run
from gainful.data.session_table import SessionTable, offsets_of, turn_ids, turn_places
from gainful.errors import InputError
from gainful.io.formats import Reading
from gainful.io.rows import refuse_rows
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
_NONE: Floats = np.zeros(0)


def sessions_of_rows(rows: SessionRows, name: str, how: Reading) -> SessionTable:
    """Sessions from rows, checked."""
    if not rows.number.size:
        raise InputError(f"{name}: expected at least one session, found none")
    _check_rows(rows, _is_empty_page(rows))
    return _OrderedRows(rows).table(name, how)


def _is_empty_page(rows: SessionRows) -> Bools:
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


def _in_order(rows: SessionRows, order: Ints) -> SessionRows:
    """The rows in another order."""

    def taken(column: Any) -> Any:
        if isinstance(column, tuple):
            data, start, length = column
            return data, start[order], length[order]
        return None if column is None else column[order]

    columns = {name: taken(getattr(rows, name)) for name in rows._fields if name not in ("origin", "time_text")}
    time_text = rows.time_text
    return SessionRows(
        origin=rows.origin.take(order),
        time_text=None if time_text is None else lambda row: time_text(int(order[row])),
        **columns,
    )


class _OrderedRows:
    """Rows by session, query and rank, with the turn of each row and the session and number of each turn."""

    def __init__(self, given: SessionRows) -> None:
        self._session_ids, session = core.number_ids(*given.session)
        key = session * (MOST_QUERIES + 1) + given.number.astype(np.int64)
        ranks = np.zeros(key.size) if given.rank is None else given.rank
        steps, rank_steps = np.diff(key), np.diff(ranks)
        is_ordered = ((steps > 0) | ((steps == 0) & (rank_steps >= 0))).all()
        self._came: Ints = np.arange(key.size) if is_ordered else np.lexsort((ranks, key))
        self._rows = rows = given if is_ordered else _in_order(given, self._came)
        key = key[self._came]
        starts = np.diff(key, prepend=-1) != 0
        self._first: Ints = np.flatnonzero(starts)  # by turn
        self._turn: Ints = np.cumsum(starts) - 1  # by row
        self._session, self._number = np.divmod(key[self._first], MOST_QUERIES + 1)  # by turn
        self._is_empty = _is_empty_page(rows)

    def table(self, name: str, how: Reading) -> SessionTable:
        """The sessions; refuses rows that contradict each other."""
        rows = self._rows
        # Several systems in one table have every rank of a session several times: what is wrong is told by the system.
        systems = self._told_of_sessions("system", OF_SEVERAL)
        self._check_pages_and_ranks()
        self._check_times()
        offsets, place = turn_places(self._session, self._number, None if how.fills_gaps else self._refuse_gaps)
        turns = int(offsets[-1])
        ids = turn_ids(self._session_ids, offsets, how.separator)
        for at, identifier in zip(place.tolist(), self._told("query_id", by_turn=True), strict=False):
            if identifier is not None:
                ids[at] = identifier
        if len(set(ids)) < len(ids):
            self._refuse_shared(ids, place)
        counts = np.zeros(turns, np.int64)
        counts[place] = np.bincount(self._turn[~self._is_empty], minlength=self._first.size)
        kept = np.flatnonzero(~self._is_empty) if self._is_empty.any() else slice(None)
        data, start, length = rows.document
        score, rank, grade = (_NONE if each is None else each[kept] for each in (rows.score, rows.rank, rows.grade))
        origin = rows.origin if isinstance(kept, slice) else rows.origin.take(kept)

        def by_turn(role: str, nothing: float) -> Floats:
            told = self._told(role, by_turn=True)
            found = np.full(turns if told else 0, nothing)
            if told:
                found[place] = [nothing if each is None else each for each in told]
            return found

        return SessionTable(
            name,
            tuple(self._session_ids),
            offsets,
            Run(name, tuple(ids), offsets_of(counts), data, start[kept], length[kept], score, rank, origin),
            tuple(self._told("topic", by_turn=False)),
            _NONE if np.isnan(grade).all() else grade,
            by_turn("scanned", -1.0).astype(np.int64),
            self._turn_texts(place, turns),
            self._told_of_sessions("user"),
            systems,
            costs=by_turn("cost", math.nan),
            system_order=self._system_order(),
        )

    def _told(self, role: str, *, by_turn: bool, hint: str | None = None) -> list[Any]:
        """What the rows of each turn, or of each session, say of it, all the same; None where they say nothing, and
        nothing at all where none does."""
        column = getattr(self._rows, role)
        if column is None:
            return []
        shown: Callable[[Any], str | bytes] = number_text
        value, known = column, None
        if isinstance(column, tuple):
            labels, value = core.number_ids(*column)
            shown, known = labels.__getitem__, column[2] > 0
        telling = np.flatnonzero(~np.isnan(value) if known is None else known)
        group = self._turn if by_turn else self._session[self._turn]
        first = np.full(self._first.size if by_turn else len(self._session_ids), -1)
        first[group[telling[::-1]]] = telling[::-1]

        def message(row: int) -> str:
            other = int(first[group[row]])
            of = self._of_query(row) if by_turn else f"session '{printable(self._id(row))}'"
            return (
                f"{self._rows.origin.where(row)}: expected one {role} in {of}, found '{printable(shown(value[row]))}' "
                f"and '{printable(shown(value[other]))}' ({self._rows.origin.place(other)})"
            )

        self._refuse(telling[value[telling] != value[first[group[telling]]]], message, hint)
        if not telling.size:
            return []
        return [None if row < 0 else value[row] if known is None else labels[value[row]] for row in first.tolist()]

    def _told_of_sessions(self, role: str, hint: str | None = None) -> tuple[str | None, ...]:
        told = self._told(role, by_turn=False, hint=hint)
        return tuple(None if label is None else text_of_id(label) for label in told)

    def _system_order(self) -> tuple[str, ...]:
        """The systems in the order of the rows as they came."""
        if self._rows.system is None:
            return ()
        systems, number = core.number_ids(*self._rows.system)
        found, first = np.unique(number[np.argsort(self._came)], return_index=True)
        return tuple(text_of_id(systems[at]) for at in found[np.argsort(first)].tolist())

    def _turn_texts(self, place: Ints, turns: int) -> tuple[str, ...]:
        """What was typed; a column whose rows differ within a query has something else."""
        if self._rows.text is None:
            return ()
        texts, number = core.number_ids(*self._rows.text)
        agree = np.logical_and.reduceat(number == number[self._first][self._turn], self._first)
        found = [""] * turns
        for at, value in zip(place[agree].tolist(), number[self._first][agree].tolist(), strict=True):
            found[at] = text_of_id(texts[value])
        return tuple(found) if any(found) else ()

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
        origin = self._rows.origin

        def message(row: int) -> str:
            at = others[row]
            where = f"first: {origin.place(row_of[at])}" if at in row_of else "a missing query's"
            return f"{origin.where(row)}: expected every query's id once, found '{printable(ids[at])}' again ({where})"

        hint = "queries without an id are called by their session and number"
        self._refuse(np.array(list(others), np.int64), message, hint)

    def _check_pages_and_ranks(self) -> None:
        rank, origin = self._rows.rank, self._rows.origin
        shown = np.diff(self._first, append=self._turn.size)

        def page_message(row: int) -> str:
            found = f"{self._of_query(row)}, found {shown[self._turn[row]]} rows"
            return f"{origin.where(row)}: expected an empty result page to be the only row of {found}"

        self._refuse(np.flatnonzero(self._is_empty & (shown[self._turn] > 1)), page_message, _EMPTY_PAGE)
        if rank is None:
            return
        expected = np.arange(1, rank.size + 1) - self._first[self._turn]
        bad = np.flatnonzero((rank != expected) & ~self._is_empty)
        # Behind the first wrong rank of a list all are wrong.
        bad = bad[np.diff(self._turn[bad], prepend=-1) != 0]

        def message(row: int) -> str:
            if expected[row] > 1 and rank[row] == rank[row - 1]:
                return repeated_rank(origin.where(row), rank[row], origin.place(row - 1), self._of_query(row))
            return missing_rank(origin.where(row), int(expected[row]), rank[row], self._of_query(row))

        self._refuse(bad, message, RANKS_FROM_ONE)

    def _check_times(self) -> None:
        time, shown, origin = self._rows.time, self._rows.time_text, self._rows.origin
        if time is None:
            return
        known = np.flatnonzero(~np.isnan(time))
        session = self._session[self._turn[known]]
        back = np.flatnonzero((np.diff(session) == 0) & (np.diff(time[known]) < 0)) + 1
        before = dict(zip(known[back].tolist(), known[back - 1].tolist(), strict=True))

        def message(row: int) -> str:
            earlier = before[row]
            found, after = (number_text(float(time[at])) if shown is None else shown(at) for at in (row, earlier))
            return time_back(origin.where(row), self._id(row), found, after, origin.place(earlier))

        self._refuse(known[back], message, None)

    def _refuse_gaps(self, turns: Ints, missing: Ints) -> None:
        gap = dict(zip(self._first[turns].tolist(), missing.tolist(), strict=True))

        def message(row: int) -> str:
            where, number = self._rows.origin.where(row), int(self._number[self._turn[row]])
            return gap_message(where, self._id(row), gap[row], number)

        self._refuse(self._first[turns], message, fill_gaps())

    def _refuse(self, bad: Ints, message: Callable[[int], str], hint: str | None) -> None:
        """Refuses rows, those first that came first."""
        came = bad[np.argsort(self._came[bad])]
        refuse_rows(came, lambda row: message(row) + self._rows.origin.shown(row), hint)

    def _id(self, row: int) -> bytes:
        return self._session_ids[int(self._session[self._turn[row]])]

    def _of_query(self, row: int) -> str:
        return f"query {self._number[self._turn[row]]} of session '{printable(self._id(row))}'"


def sessions_of_run(run: Run, how: Reading) -> SessionTable:
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
    table = SessionTable(run.name, session_ids, offsets, lists)
    if place.size == int(offsets[-1]):
        return table
    ids = turn_ids(session_ids, offsets, how.separator)
    for at, identifier in zip(place.tolist(), lists.query_ids, strict=True):
        ids[at] = identifier
    return table.with_turns(offsets, place, ids)


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
    if run.origin is None:
        return
    origin = run.origin

    def message(at: int) -> str:
        row, first = int(order[at]), int(order[at - 1])
        of = f"query '{printable(run.query_of(row))}'"
        return repeated_rank(origin.where(row), rank[at], origin.place(first), of) + origin.shown(row)

    refuse_rows(again[np.argsort(order[again])], message, RANKS_FROM_ONE)
