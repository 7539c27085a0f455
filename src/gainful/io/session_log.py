"""Sessions from ordinary logs: who searched when for what, and which documents were shown or clicked.

A log has no numbers of queries: these are derived from its times, or from the order of its rows. Rows that follow one
another with the same query text are one query, until a document or a rank comes again: then it was asked again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.io.columns import DEFAULT_GAP, GUESSED_SYSTEMS, LISTINGS, is_called, log_notes
from gainful.io.formats import Reading
from gainful.io.rows import Origin, Spans, all_places, ids_of, refuse_rows
from gainful.io.session_records import OF_SEVERAL, SessionRecord, TurnRecord, read_times
from gainful.kernel.arrays import Floats
from gainful.notation import count_of, number_text, printable, some_of, text_of_id

#: Above these, epochs are not in seconds but in milliseconds, microseconds, nanoseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
#: So deep may be clicked where the results above are not in the log.
_DEEPEST_CLICK = 1000
_EMPTY = (b"", b"-")
#: What logs call rows of results that were shown, and of those that were clicked.
_SHOWN = frozenset((b"impression", b"impressions", b"view", b"show", b"shown", b"search", b"serp"))
_CLICKED = frozenset((b"click", b"clicks", b"clicked"))
_QUOTED = re.compile(r"""\[\s*["'].*["']\s*\]""", re.DOTALL)


@dataclass(slots=True)
class _Row:
    """One row: a document that was shown or clicked, or all of a query's."""

    place: int
    session: bytes
    time: float
    text: bytes
    documents: Sequence[object]
    rank: float
    score: float
    grade: float


def log_records(
    found: Mapping[str, Any], origin: Origin, names: Sequence[str], roles: Mapping[str, int], how: Reading
) -> Iterator[SessionRecord]:
    """The sessions of a log by the roles of its columns, as they begin; after a gap without a query begins another."""
    log, gap = _Log(found, origin, names[roles["document"]]), how.session_gap
    log.notes = log_notes(roles, names, by_gap=gap is not None)
    if "event" in found:
        log.keep_shown([event.strip().lower() for event in ids_of(found["event"])], names[roles["event"]])
    gap = DEFAULT_GAP if gap is None and "session" not in roles else gap
    sessions: list[tuple[bytes, list[_Row]]] = []
    for rows in _groups(log.rows(), lambda row, other: row.session == other.session):
        parts = _groups(rows, lambda row, other: gap is None or other.time - row.time <= gap)
        for number, part in enumerate(parts, 1):
            sessions.append((part[0].session if gap is None else b"%b/%d" % (part[0].session, number), part))
    if "system" in roles and "system" not in how.columns and is_called(names[roles["system"]], GUESSED_SYSTEMS):
        log.keep_system_if_told([rows for _, rows in sessions])
    for session, rows in sorted(sessions, key=lambda each: min(row.place for row in each[1])):
        yield log.record(session, rows)._replace(gap=gap)


def _groups(rows: Iterable[_Row], belongs: Callable[[_Row, _Row], bool]) -> Iterator[list[_Row]]:
    """Rows that belong together, each to the one before it."""
    group: list[_Row] = []
    for row in rows:
        if group and not belongs(group[-1], row):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


class _Log:
    """The columns of a log."""

    notes: tuple[str, ...] = ()
    _keeps: Callable[[_Row], bool] = staticmethod(lambda row: True)

    def __init__(self, found: Mapping[str, Any], origin: Origin, document_name: str) -> None:
        self._origin = origin
        self._labels = {role: ids_of(found[role]) for role in ("topic", "user", "system") if role in found}
        self._sessions = ids_of(found["session"]) if "session" in found else self._labels["user"]
        self._size = len(self._sessions)
        self._wheres = all_places(origin, self._size)
        # What judgments call a query is its id, or else its text.
        self._has_text = "query_id" in found or "text" in found
        texts = found.get("query_id", found.get("text"))
        self._texts = [text.strip() for text in ids_of(texts)] if texts is not None else [b""] * self._size
        self._times = self._seconds(found.get("time"))
        self._rank, self._score, self._grade = (
            found[role].tolist() if role in found else [math.nan] * self._size for role in ("rank", "score", "grade")
        )
        self._cost = found["cost"].tolist() if "cost" in found else [math.nan] * self._size
        self._has_ranks, self._has_scores, self._has_grades = (role in found for role in ("rank", "score", "grade"))
        self._cells, self._is_listing = _cells(found["document"], document_name, may_list=not self._has_ranks)
        self._shift = 1 if any(r == 0 and d for r, d in zip(self._rank, self._cells, strict=True)) else 0
        self._check()

    def rows(self) -> list[_Row]:
        """The rows by session, then by time; what happened at one time stands as in the log."""
        columns = (self._sessions, self._times, self._texts, self._cells, self._rank, self._score, self._grade)
        rows = [_Row(place, *values) for place, values in enumerate(zip(*columns, strict=True))]
        return sorted((row for row in rows if self._keeps(row)), key=lambda row: (row.session, row.time))

    def keep_shown(self, events: Sequence[bytes], name: str) -> None:
        """Leaves out clicks where what was shown is in the log, too: a click on a result is no other query."""
        there = [event for event, documents in zip(events, self._cells, strict=True) if documents]
        if _SHOWN.isdisjoint(there) or _CLICKED.isdisjoint(events):
            return
        others = [row for row, event in enumerate(events) if event not in _SHOWN | _CLICKED]
        if others:
            listed = some_of(sorted({f"'{printable(events[row])}'" for row in others}), 12)
            raise InputError(
                f"{self._wheres[others[0]]}: expected impressions and clicks in column '{name}', found {listed}",
                "leave out the rows that are neither",
            )
        self._keeps = lambda row: events[row.place] in _SHOWN
        clicks = count_of(sum(event in _CLICKED for event in events), "click")
        self.notes += (f"column '{name}': lists are what was shown; {clicks} left out",)

    def record(self, session: bytes, rows: Sequence[_Row]) -> SessionRecord:
        """A session of some of the rows."""
        topic, user, system = (self._label(role, session, rows) for role in ("topic", "user", "system"))
        return SessionRecord(
            self._wheres[rows[0].place],
            session,
            topic,
            None if user is None else text_of_id(user),
            None if system is None else text_of_id(system),
            {},
            [self._turn(query) for query in self._queries(rows)],
            notes=self.notes,
        )

    def keep_system_if_told(self, sessions: Iterable[Sequence[_Row]]) -> None:
        """Forgets systems that may be something else: if the log has one alone, or a session none or several."""
        systems = self._labels["system"]
        of_sessions = [{systems[row.place].strip() for row in rows} - {b""} for rows in sessions]
        if len(set().union(*of_sessions)) < 2 or any(len(each) != 1 for each in of_sessions):
            del self._labels["system"]

    def _label(self, role: str, session: bytes, rows: Sequence[_Row]) -> bytes | None:
        """What the rows of a session say of it, all the same."""
        values = self._labels.get(role, ())
        first: bytes | None = None
        for row in rows if values else ():
            value = values[row.place].strip() or first
            if first is not None and value != first:
                raise InputError(
                    f"{self._wheres[row.place]}: expected one {role} in session '{printable(session)}', found "
                    f"'{printable(value or b'')}' and '{printable(first)}'{self._origin.shown(row.place)}",
                    OF_SEVERAL if role == "system" else None,
                )
            first = value
        return first

    def _queries(self, rows: Iterable[_Row]) -> Iterator[list[_Row]]:
        """Rows that are one query each."""
        query: list[_Row] = []
        seen: set[object] = set()  # its documents and ranks
        for row in rows:
            marks = {*row.documents, *([row.rank] if self._has_ranks and row.documents else [])}
            if query:
                is_more = seen.isdisjoint(marks) if self._has_text else query[-1].time == row.time
                if self._is_listing or query[-1].text != row.text or not is_more:
                    yield query
                    query, seen = [], set()
            query.append(row)
            seen |= marks
        if query:
            yield query

    def _turn(self, rows: Sequence[_Row]) -> TurnRecord:
        where, text = self._wheres[rows[0].place], text_of_id(rows[0].text)
        shown = [row for row in rows if row.documents]
        cost = next((cost for row in rows if not math.isnan(cost := self._cost[row.place])), math.nan)
        if self._is_listing:
            return TurnRecord(where, text, documents=[each for row in shown for each in row.documents], cost=cost)
        if self._has_ranks:
            shown.sort(key=lambda row: row.rank)
            shown = list(self._with_gaps(shown))
        return TurnRecord(
            where,
            text,
            None,
            [row.documents[0] for row in shown],
            # Somebody who logs ranks logs what was seen, whatever the scores were.
            [row.score for row in shown] if self._has_scores and not self._has_ranks else None,
            [row.grade for row in shown] if self._has_grades else None,
            cost=cost,
        )

    def _with_gaps(self, rows: Sequence[_Row]) -> Iterator[_Row]:
        """Rows by rank; what was shown above a click and is not in the log counts as unjudged."""
        expected = 1
        for row in rows:
            rank = int(row.rank) + self._shift
            if rank < expected:
                where, shown = self._wheres[row.place], self._origin.shown(row.place)
                raise InputError(f"{where}: expected every rank of a query once, found rank {rank} again{shown}")
            for missing in range(expected, rank):
                yield _Row(row.place, row.session, row.time, row.text, [b"(rank %d)" % missing], missing, 0.0, math.nan)
            yield row
            expected = rank + 1

    def _seconds(self, times: Spans | Floats | None) -> list[float]:
        if times is None:
            return [float(place) for place in range(self._size)]  # rows stand in the order in which things happened
        seconds = read_times(times, self._origin) if isinstance(times, tuple) else times
        bad = np.flatnonzero(np.isnan(seconds))
        refuse_rows(bad, lambda row: f"{self._origin.where(row)}: expected a time, found none", None)
        unit = next((unit for least, unit in _UNITS if seconds.size and np.median(np.abs(seconds)) > least), 1.0)
        found: list[float] = (seconds / unit).tolist()
        return found

    def _check(self) -> None:
        origin = self._origin
        nobody = [row for row, session in enumerate(self._sessions) if not session]
        refuse_rows(nobody, lambda row: f"{origin.where(row)}: expected a session or a user, found none", None)
        if not self._has_ranks:
            return
        for row, (rank, documents) in enumerate(zip(self._rank, self._cells, strict=True)):
            if documents and not (float(rank).is_integer() and 0 <= rank <= _DEEPEST_CLICK):
                found = "none" if math.isnan(rank) else number_text(rank)
                raise InputError(
                    f"{origin.where(row)}: expected a whole number up to {_DEEPEST_CLICK:,} as rank, found {found}"
                    f"{origin.shown(row)}"
                )


def _cells(found: Spans | list[Sequence[object]], name: str, *, may_list: bool) -> tuple[list[Sequence[object]], bool]:
    """The documents of every row, and whether rows hold whole lists: between ``|`` or blanks, or as Python has them."""
    if isinstance(found, list):
        return found, any(len(each) > 1 for each in found) or is_called(name, LISTINGS)
    cells = [cell.strip() for cell in ids_of(found)]
    single: list[Sequence[object]] = [[] if cell in _EMPTY else [cell] for cell in cells]
    if not may_list:
        return single, False
    if any(b"|" in cell for cell in cells):
        return [_parts(cell.split(b"|")) for cell in cells], True
    if cells and all(_QUOTED.fullmatch(text_of_id(cell)) or cell in (*_EMPTY, b"[]") for cell in cells):
        return [_parts(re.split(rb"[\[\]'\",\s]+", cell)) for cell in cells], True
    words = [cell.split() for cell in cells]
    # A title is one document, however many words it has; ids have digits.
    are_ids = any(len(each) > 1 for each in words) and all(re.search(rb"\d", word) for each in words for word in each)
    if are_ids or is_called(name, LISTINGS):
        return [_parts(each) for each in words], True
    return single, False


def _parts(parts: Iterable[bytes]) -> list[object]:
    return [part.strip() for part in parts if part.strip() not in _EMPTY]
