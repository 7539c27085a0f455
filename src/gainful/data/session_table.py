"""Sessions as one table, built from records of sessions, rows in any order, or runs with one list per query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from gainful.data.lists import gather
from gainful.data.run import Run
from gainful.errors import InputError
from gainful.frozen import dataclass, field, replace
from gainful.io.formats import Reading
from gainful.io.frames import read_session_frame
from gainful.io.readers import read_session_content
from gainful.io.rows import Frame, ItemRows, Rows, packed, refuse_rows
from gainful.io.session_objects import read_session_objects
from gainful.io.session_records import (
    EMPTY_PAGE,
    FROM_ONE,
    MOST_QUERIES,
    OF_SEVERAL,
    RANKS_FROM_ONE,
    SessionContent,
    SessionRecord,
    SessionRows,
    TurnRecord,
    fill_gaps,
    gap_message,
    missing_rank,
    repeated_query,
    repeated_rank,
    shown_line,
    time_back,
)
from gainful.io.sources import Source, Text, as_source, max_list_bytes, open_source, require_memory
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints, freeze, offsets_of
from gainful.notation import number_text, printable, text_of_id

#: Number of sessions read at a time.
PART_SIZE = 4096

#: Optional columns by the level of their values, with the value for missing entries.
_SESSION_COLUMNS: Mapping[str, Any] = {"topics": None, "users": None, "systems": None}
_TURN_COLUMNS: Mapping[str, Any] = {"scanned": -1, "texts": "", "costs": np.nan}
_ROW_COLUMNS: Mapping[str, Any] = {"grade": np.nan}

_OWN_ID = "a query without an id is identified by its session and number"
_NO_VALUES: Floats = np.zeros(0)
_NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class SessionTable:
    """Sessions, each a sequence of turns: a query and its ranked results, which may be none. Immutable.

    Turns of session i are ``turn_offsets[i] : turn_offsets[i + 1]``, in chronological order. ``lists`` has one list per
    turn, in the same order, whose query IDs identify turns in judgments by query. Sessions are in byte order of their
    IDs. Columns by turn, document or session are empty if the source lacks them.
    """

    name: str
    session_ids: tuple[bytes, ...]
    turn_offsets: Ints
    lists: Run
    topics: tuple[bytes | None, ...] = ()  # by session: IDs in judgments by topic
    grade: Floats = field(default_factory=lambda: _NO_VALUES)  # by row of lists: of this appearance; NaN: not given
    scanned: Ints = field(default_factory=lambda: _NO_COUNTS)  # by turn: results scanned by the user; -1: not known
    texts: tuple[str, ...] = ()  # by turn: query text
    users: tuple[str | None, ...] = ()  # by session
    systems: tuple[str | None, ...] = ()  # by session
    ratings: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))  # by session; NaN: not given
    costs: Floats = field(default_factory=lambda: _NO_VALUES)  # by turn: time, money, tokens; NaN: not given
    gap: float | None = None  # seconds without a query that end a session of a log, whose IDs are derived from it
    system_order: tuple[str, ...] = ()  # the systems in the order of the source

    def __post_init__(self) -> None:
        freeze(self.turn_offsets, self.grade, self.scanned, self.costs, *self.ratings.values())

    def __len__(self) -> int:
        return len(self.session_ids)

    @cached_property
    def ids(self) -> list[str]:
        """The session IDs as texts."""
        return [text_of_id(identifier) for identifier in self.session_ids]

    @property
    def query_counts(self) -> Ints:
        """Number of queries per session."""
        return np.diff(self.turn_offsets)

    @property
    def asked(self) -> tuple[str, ...]:
        """The query texts of each session, or else the number of queries, with the source if the topic is unknown."""
        if not self.texts:
            of = "" if self.topics else f", not known, in {self.name}"
            return tuple(f"{count}{of}" for count in self.query_counts.tolist())
        return tuple(", ".join(self.texts[first:end]) for first, end in pairwise(self.turn_offsets.tolist()))

    def part(self, first: int, end: int) -> Self:
        """Return the sessions in a range of positions."""
        return self.take(range(*slice(first, end).indices(len(self))))

    def take(self, places: Sequence[int]) -> Self:
        """Return the sessions at the given positions, in this order."""
        kept = np.array(places, np.int64)
        _, turns = gather(self.turn_offsets, kept)
        _, rows = gather(self.lists.list_offsets, turns)

        def picked(values: Any, at: Ints) -> Any:
            if not len(values):
                return values
            return values[at] if isinstance(values, np.ndarray) else tuple(map(values.__getitem__, at.tolist()))

        levels = ((("session_ids", *_SESSION_COLUMNS), kept), (_TURN_COLUMNS, turns), (_ROW_COLUMNS, rows))
        columns = {name: picked(getattr(self, name), at) for names, at in levels for name in names}
        return replace(
            self,
            turn_offsets=offsets_of(self.query_counts[kept]),
            lists=self.lists.take(turns),
            ratings={name: values[kept] for name, values in self.ratings.items()},
            **columns,
        )

    def with_turns(self, turn_offsets: Ints, place: Ints, ids: list[bytes]) -> Self:
        """Return the sessions with additional empty turns named by ``ids``; existing turns move to ``place`` and keep
        their IDs."""

        def spread(values: Any, nothing: Any) -> Any:
            if not len(values):
                return values
            found = np.full(len(ids), nothing, values.dtype if isinstance(values, np.ndarray) else object)
            found[place] = values
            return found if isinstance(values, np.ndarray) else tuple(found.tolist())

        for at, identifier in zip(place.tolist(), self.lists.query_ids, strict=True):
            ids[at] = identifier
        counts = np.zeros(len(ids), np.int64)
        counts[place] = np.diff(self.lists.list_offsets)
        return replace(
            self,
            turn_offsets=turn_offsets,
            lists=replace(self.lists, query_ids=tuple(ids), list_offsets=offsets_of(counts)),
            **{name: spread(getattr(self, name), nothing) for name, nothing in _TURN_COLUMNS.items()},
        )


def turn_places(session: Ints, number: Ints, complain: Callable[[Ints, Ints], None] | None) -> tuple[Ints, Ints]:
    """Return the offsets of sessions and the position of every turn, given session and number in ascending order.

    ``complain`` receives turns that follow a gap and the missing numbers; without it, gaps are left free.
    """
    is_first = np.diff(session, prepend=-1) != 0
    expected = np.where(is_first, 1, np.append(0, number[:-1]) + 1)
    if complain is not None and not np.array_equal(number, expected):
        gaps = np.flatnonzero(number != expected)
        complain(gaps, expected[gaps])
    offsets = offsets_of(number[np.append(is_first[1:], True)])
    return offsets, offsets[session] + number - 1


def turn_ids(session_ids: Sequence[bytes], offsets: Ints, separator: str | bytes) -> list[bytes]:
    """Return the default IDs of turns: session, separator, number."""
    between = separator.encode() if isinstance(separator, str) else separator
    return [
        b"%b%b%d" % (identifier, between, number)
        for identifier, count in zip(session_ids, np.diff(offsets).tolist(), strict=True)
        for number in range(1, count + 1)
    ]


def _session_tables(
    content: SessionContent, name: str, how: Reading, size: int | None = None
) -> Iterator[SessionTable]:
    """Yield the sessions that were read, at most ``size`` at a time, or all at once without a size."""
    if isinstance(content, SessionRows):
        whole = _sessions_of_rows(content, name, how)
    elif isinstance(content, Rows):
        whole = sessions_of_run(Run.from_rows(content).read_from(name), how)
    else:
        # Uniqueness is checked across all parts.
        records, is_empty = _distinct(content), True
        while (table := _gathered(islice(records, size), name, how.separator, size is None)) is not None:
            yield table
            del table  # release it before the next one is built
            is_empty = False
        if is_empty:
            raise InputError(f"{name}: no sessions")
        return
    size = size or len(whole)
    for first in range(0, len(whole), size):
        yield whole if size >= len(whole) else whole.part(first, first + size)


def _distinct(records: Iterable[SessionRecord]) -> Iterator[SessionRecord]:
    """Yield records, checking that session and query IDs are unique and that either all or no results have scores.

    Only IDs and their places are kept.
    """
    sessions: dict[bytes, str] = {}
    ids: dict[bytes, str] = {}
    first: TurnRecord | None = None  # with results
    for record in records:
        if record.session in sessions:
            raise InputError(
                f"{record.where}: duplicate session '{printable(record.session)}' "
                f"(first: {sessions[record.session]}){shown_line(record.line)}",
                OF_SEVERAL,
            )
        sessions[record.session] = record.where
        for turn in record.turns:
            if turn.id in ids:
                first_place = f"(first: {ids[turn.id]}){shown_line(record.line)}"
                raise InputError(f"{turn.where}: duplicate query id '{printable(turn.id)}' {first_place}")
            if turn.id is not None:
                ids[turn.id] = turn.where
            if len(turn.documents):
                first = first or turn._replace(documents=())
                if (first.scores is None) != (turn.scores is None):
                    has = "without" if turn.scores is None else "with"
                    found = f"results {has} scores, unlike those of {first.where}{shown_line(record.line)}"
                    raise InputError(f"{turn.where}: {found}")
        yield record


def _gathered(records: Iterable[SessionRecord], name: str, separator: str, is_whole: bool) -> SessionTable | None:
    """Return records as columns, in byte order of session IDs; None if there are none. Unless ``is_whole``, stop at a
    fraction of the memory limit."""
    sessions: list[SessionRecord] = []
    turns: list[tuple[int, bytes, str, str, int, float, int]] = []
    documents: list[object] = []
    scores: list[float] = []
    grades: list[tuple[int, Sequence[float]]] = []  # with the row of the first
    between, text = separator.encode(), 0
    # Discard turns one by one: holding them all would slow down Python's garbage collector.
    for session, record in enumerate(records):
        sessions.append(record._replace(turns=()))
        for number, turn in enumerate(record.turns, 1):
            identifier = b"%b%b%d" % (record.session, between, number) if turn.id is None else turn.id
            size = len(turn.documents)
            turns.append((session, identifier, turn.where, turn.text, turn.scanned, turn.cost, size))
            grades += [] if turn.grades is None else [(len(documents), turn.grades)]
            documents += turn.documents
            scores += turn.scores or ()
        text += len(record.line)
        held = text + 1000 * len(sessions) + 1000 * len(turns) + 300 * len(documents)
        if is_whole:
            require_memory(name, held)
        elif held > max_list_bytes():
            break
    if not sessions:
        return None
    of_session, ids, wheres, texts, scanned, costs, sizes = zip(*turns, strict=True)
    if len(set(ids)) < len(ids):  # an explicit ID equals a derived one
        first_at = dict(zip(reversed(ids), reversed(range(len(ids))), strict=True))
        at = next(i for i, identifier in enumerate(ids) if first_at[identifier] < i)
        raise InputError(
            f"{wheres[at]}: duplicate query id '{printable(ids[at])}' "
            f"(first: {wheres[first_at[ids[at]]]}){shown_line(sessions[of_session[at]].line)}",
            _OWN_ID,
        )
    origin = ItemRows(name, offsets_of(sizes), wheres)

    def where(row: int) -> str:
        at = origin.place_of(row)
        bad.append(shown_line(sessions[of_session[at]].line))
        return f"{wheres[at]}.results[{row - int(origin.offsets[at])}]"

    bad: list[str] = []
    try:
        spans = packed(documents, where)
    except InputError as error:
        raise InputError(error.message + bad[-1], error.hint) from error
    grade = np.full(len(documents) if grades else 0, np.nan)
    for first, values in grades:
        grade[first : first + len(values)] = values
    topics, users, systems = (
        labels if any(label is not None for label in labels) else ()
        for labels in (tuple(getattr(record, role) for record in sessions) for role in ("topic", "user", "system"))
    )
    session_ids = tuple(record.session for record in sessions)
    table = SessionTable(
        name,
        session_ids,
        offsets_of(np.bincount(of_session, minlength=len(sessions))),
        Run(name, ids, origin.offsets, *spans, np.array(scores, np.float64), origin=origin),
        topics,
        grade,
        np.array(scanned if max(scanned) >= 0 else (), np.int64),
        texts if any(texts) else (),
        users,
        systems,
        {
            rating: np.array([record.ratings.get(rating, np.nan) for record in sessions], np.float64)
            for rating in sorted({rating for record in sessions for rating in record.ratings})
        },
        np.array(() if all(map(math.isnan, costs)) else costs, np.float64),
        system_order=tuple(dict.fromkeys(system for system in systems if system is not None)),
    )
    return table.take(sorted(range(len(sessions)), key=session_ids.__getitem__))


def parts_of_source(
    source: Source | Text, how: Reading, threads: int, size: int | None = None
) -> Iterator[SessionTable]:
    """Yield the sessions of a source, at most ``size`` at a time, or all at once without a size."""
    text = open_source(as_source(source, "Sessions"))
    return _session_tables(read_session_content(text, how._replace(threads=threads)), text.name, how, size)


def sessions_of_objects(values: Iterable[Any]) -> SessionTable:
    """Return sessions from dicts as in JSON lines."""
    how = Reading.of_sessions()
    return next(_session_tables(read_session_objects(values, how, "<list>"), "<list>", how))


def sessions_of_frame(frame: Frame, how: Reading, name: str) -> SessionTable:
    """Return sessions from a data frame with one row per result, or from a log."""
    return _sessions_of_rows(read_session_frame(frame, how, name), name, how)


def _sessions_of_rows(rows: SessionRows, name: str, how: Reading) -> SessionTable:
    if not rows.number.size:
        raise InputError(f"{name}: no sessions")
    return _OrderedRows(rows).table(name, how)


def _in_order(rows: SessionRows, order: Ints) -> SessionRows:
    def taken(column: Any) -> Any:
        if isinstance(column, tuple):
            data, start, length = column
            return data, start[order], length[order]
        return None if column is None else column[order]

    others = ("origin", "time_text", "notes", "gap")
    columns = {name: taken(getattr(rows, name)) for name in rows._fields if name not in others}
    text = rows.time_text
    time_text = None if text is None else lambda row: text(int(order[row]))
    return rows._replace(origin=rows.origin.take(order), time_text=time_text, **columns)


class _OrderedRows:
    """Rows by session, query and rank, with the turn of each row, and the session and number of each turn."""

    def __init__(self, given: SessionRows) -> None:
        self._session_ids, session = core.number_ids(*given.session)
        key = session * (MOST_QUERIES + 1) + given.number.astype(np.int64)
        ranks = np.zeros(key.size) if given.rank is None else given.rank
        steps, rank_steps = np.diff(key), np.diff(ranks)
        is_ordered = ((steps > 0) | ((steps == 0) & (rank_steps >= 0))).all()
        self._came: Ints = np.arange(key.size) if is_ordered else np.lexsort((ranks, key))
        self._rows = given if is_ordered else _in_order(given, self._came)
        key = key[self._came]
        starts = np.diff(key, prepend=-1) != 0
        self._first: Ints = np.flatnonzero(starts)  # by turn
        self._turn: Ints = np.cumsum(starts) - 1  # by row
        self._session, self._number = np.divmod(key[self._first], MOST_QUERIES + 1)  # by turn
        self._is_empty = self._rows.is_empty

    def table(self, name: str, how: Reading) -> SessionTable:
        """Return the sessions; raise InputError for contradictory rows."""
        rows = self._rows
        # Check systems first: several systems in one table also repeat ranks, which is a less helpful error.
        systems = self._labels_of_sessions("system", OF_SEVERAL)
        self._check_pages_and_ranks()
        self._check_times()
        offsets, place = turn_places(self._session, self._number, None if how.fills_gaps else self._refuse_gaps)
        turns = int(offsets[-1])
        ids = turn_ids(self._session_ids, offsets, how.separator)
        for at, identifier in zip(place.tolist(), self._values_of("query_id", by_turn=True), strict=False):
            if identifier is not None:
                ids[at] = identifier
        if len(set(ids)) < len(ids):
            self._refuse_shared(ids, place)
        counts = np.zeros(turns, np.int64)
        counts[place] = np.bincount(self._turn[~self._is_empty], minlength=self._first.size)
        kept = np.flatnonzero(~self._is_empty) if self._is_empty.any() else slice(None)
        data, start, length = rows.document
        documents = data, start[kept], length[kept]
        score, rank, grade = (
            _NO_VALUES if each is None else each[kept] for each in (rows.score, rows.rank, rows.grade)
        )
        origin = rows.origin if isinstance(kept, slice) else rows.origin.take(kept)

        def by_turn(role: str, nothing: float) -> Floats:
            values = self._values_of(role, by_turn=True)
            found = np.full(turns if values else 0, nothing)
            if values:
                found[place] = [nothing if each is None else each for each in values]
            return found

        return SessionTable(
            name,
            tuple(self._session_ids),
            offsets,
            Run(name, tuple(ids), offsets_of(counts), *documents, score, rank, origin, notes=rows.notes),
            tuple(self._values_of("topic", by_turn=False)),
            _NO_VALUES if np.isnan(grade).all() else grade,
            by_turn("scanned", -1.0).astype(np.int64),
            self._turn_texts(place, turns),
            self._labels_of_sessions("user"),
            systems,
            costs=by_turn("cost", math.nan),
            gap=rows.gap,
            system_order=self._system_order(),
        )

    def _values_of(self, role: str, *, by_turn: bool, hint: str | None = None) -> list[Any]:
        """Return the value of each turn or session, which must be equal in all its rows; None where missing, and an
        empty list if there are no values at all."""
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
                f"{self._rows.origin.where(row)}: conflicting {role} in {of}: '{printable(shown(value[row]))}' "
                f"and '{printable(shown(value[other]))}' ({self._rows.origin.place(other)})"
            )

        self._refuse(telling[value[telling] != value[first[group[telling]]]], message, hint)
        if not telling.size:
            return []
        return [None if row < 0 else value[row] if known is None else labels[value[row]] for row in first.tolist()]

    def _labels_of_sessions(self, role: str, hint: str | None = None) -> tuple[str | None, ...]:
        labels = self._values_of(role, by_turn=False, hint=hint)
        return tuple(None if label is None else text_of_id(label) for label in labels)

    def _system_order(self) -> tuple[str, ...]:
        if self._rows.system is None:
            return ()
        systems, number = core.number_ids(*self._rows.system)
        found, first = np.unique(number[np.argsort(self._came)], return_index=True)
        return tuple(text_of_id(systems[at]) for at in found[np.argsort(first)].tolist())

    def _turn_texts(self, place: Ints, turns: int) -> tuple[str, ...]:
        """Return the text of each turn; texts that vary within a turn are ignored."""
        if self._rows.text is None:
            return ()
        texts, number = core.number_ids(*self._rows.text)
        agree = np.logical_and.reduceat(number == number[self._first][self._turn], self._first)
        found = [""] * turns
        for at, value in zip(place[agree].tolist(), number[self._first][agree].tolist(), strict=True):
            found[at] = text_of_id(texts[value])
        return tuple(found) if any(found) else ()

    def _refuse_shared(self, ids: list[bytes], place: Ints) -> None:
        """Raise InputError for IDs shared by several turns, some of which may be filled gaps without rows."""
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
            where = f"first: {origin.place(row_of[at])}" if at in row_of else "of a missing query"
            return f"{origin.where(row)}: duplicate query id '{printable(ids[at])}' ({where})"

        self._refuse(np.array(list(others), np.int64), message, _OWN_ID)

    def _check_pages_and_ranks(self) -> None:
        rank, origin = self._rows.rank, self._rows.origin
        shown = np.diff(self._first, append=self._turn.size)

        def page_message(row: int) -> str:
            found = f"{self._of_query(row)}, found {shown[self._turn[row]]} rows"
            return f"{origin.where(row)}: an empty result page must be the only row of {found}"

        self._refuse(np.flatnonzero(self._is_empty & (shown[self._turn] > 1)), page_message, EMPTY_PAGE)
        if rank is None:
            return
        expected = np.arange(1, rank.size + 1) - self._first[self._turn]
        bad = np.flatnonzero((rank != expected) & ~self._is_empty)
        # After the first wrong rank of a list, all ranks are wrong.
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
        """Raise InputError for bad rows, in the order of the source."""
        came = bad[np.argsort(self._came[bad])]
        refuse_rows(came, lambda row: message(row) + self._rows.origin.shown(row), hint)

    def _id(self, row: int) -> bytes:
        return self._session_ids[int(self._session[self._turn[row]])]

    def _of_query(self, row: int) -> str:
        return f"query {self._number[self._turn[row]]} of session '{printable(self._id(row))}'"


def sessions_of_run(run: Run, how: Reading) -> SessionTable:
    """Return sessions from a run, splitting query IDs at the last separator into session and turn.

    A duplicate rank in a list is an error even if scores order it, because one of the lines must be wrong. A rank
    column that is constant throughout, as some tools write it, is ignored unless lists are ordered by rank.
    """
    if run.has_ranks and len(run) and run.rank.min() != run.rank.max():
        refuse_repeated_ranks(run)
    parts = [identifier.rpartition(how.separator.encode()) for identifier in run.query_ids]
    # Anything but a number of reasonable length becomes 0, which no turn has.
    number = np.array([int(turn) if session and turn.isdigit() and len(turn) < 10 else 0 for session, _, turn in parts])
    between = printable(how.separator)

    def unnumbered(turn: int) -> str:
        where, shown = _place(run, turn)
        return (
            f"{where}: expected a query id that consists of session, '{between}' and query number, "
            f"found '{printable(run.query_ids[turn])}'{shown}"
        )

    hint = f"such as 106{between}1; {FROM_ONE}; choose a separator with --session-separator (separator= in Python)"
    refuse_rows(np.flatnonzero((number < 1) | (number > MOST_QUERIES)), unnumbered, hint)
    session_ids = tuple(sorted({session for session, _, _ in parts}))
    place_of = {identifier: i for i, identifier in enumerate(session_ids)}
    session = np.array([place_of[session] for session, _, _ in parts], np.int64)
    order = np.lexsort((number, session))
    session, number = session[order], number[order]

    def repeated(at: int) -> str:
        where, _ = _place(run, int(order[at]))
        first = f"'{printable(run.query_ids[int(order[at - 1])])}'"
        return repeated_query(where, session_ids[int(session[at])], int(number[at]), first)

    # Turns 1 and 01 are the same.
    refuse_rows(np.flatnonzero((np.diff(session) == 0) & (np.diff(number) == 0)) + 1, repeated, FROM_ONE)

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
    return table.with_turns(offsets, place, turn_ids(session_ids, offsets, how.separator))


def _place(run: Run, turn: int) -> tuple[str, str]:
    """Return the place of the beginning of a list and the quoted row, as far as known."""
    start, end = run.list_offsets[turn : turn + 2].tolist()
    if start == end:
        return run.name, ""
    return run.origin.where(start), run.origin.shown(start)


def refuse_repeated_ranks(run: Run) -> None:
    """Raise InputError for lists with a duplicate rank."""
    is_first = np.zeros(len(run), bool)
    is_first[run.list_offsets[:-1][np.diff(run.list_offsets) > 0]] = True
    if (is_first[1:] | (np.diff(run.rank) > 0)).all():
        return
    turn = np.cumsum(is_first)
    order = np.lexsort((run.rank, turn))
    turn, rank = turn[order], run.rank[order]
    again = np.flatnonzero((np.diff(turn) == 0) & (np.diff(rank) == 0)) + 1
    origin = run.origin

    def message(at: int) -> str:
        row, first = int(order[at]), int(order[at - 1])
        of = f"query '{printable(run.query_of(row))}'"
        return repeated_rank(origin.where(row), rank[at], origin.place(first), of) + origin.shown(row)

    refuse_rows(again[np.argsort(order[again])], message, RANKS_FROM_ONE)
