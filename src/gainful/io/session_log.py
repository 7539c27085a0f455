"""Sessions from logs of searches: user or session, time, query, and documents shown or clicked.

Query numbers are derived from times or the order of rows. Consecutive rows with the same query text are one query until
a document or a rank recurs, which means that the query was repeated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.io.columns import DEFAULT_GAP, GUESSED_SYSTEMS, LISTINGS, SESSION_NAMES, is_called, log_notes
from gainful.io.formats import Reading
from gainful.io.rows import Origin, Spans, ids_of, refuse_rows
from gainful.io.session_records import SessionRows, read_times
from gainful.io.sources import BLANKS
from gainful.kernel.arrays import Floats, offsets_of
from gainful.notation import count_of, number_text, printable, some_of, text_of_id

#: Thresholds above which epochs are in milliseconds, microseconds and nanoseconds, with the number of units per second.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
#: Serial dates of spreadsheets, in days, from 1982 to 2064; unlike seconds, they have more than three decimals.
_SERIAL = (30_000, 60_000)
#: The highest rank of a click if the results above it are not in the log.
_DEEPEST_CLICK = 1000
_EMPTY = (b"", b"-")
_BLANKS = BLANKS.encode()
#: Event names for results that were shown, and for clicks.
_SHOWN = frozenset((b"impression", b"impressions", b"view", b"show", b"shown", b"search", b"serp"))
_CLICKED = frozenset((b"click", b"clicks", b"clicked"))
_CLICKED_NAMES = SESSION_NAMES["document"][-2:-1]
_QUOTED = re.compile(r"""\[\s*["'].*["']\s*\]""", re.DOTALL)


def log_rows(
    found: Mapping[str, Any], origin: Origin, names: Sequence[str], roles: Mapping[str, int], how: Reading
) -> SessionRows:
    """Return the rows of a log by role, with query numbers; a gap in time ends a session."""
    gap = DEFAULT_GAP if how.session_gap is None and "session" not in roles else how.session_gap
    notes = log_notes(roles, names, by_gap=how.session_gap is not None)
    log = _Log(found, origin, names[roles["document"]])
    notes += log.notes
    rows: Sequence[int] = range(len(log.who))
    are_clicks = False
    if "event" in found:
        events = [event.strip().lower() for event in ids_of(found["event"])]
        rows, clicks = log.shown_rows(events, names[roles["event"]])
        if clicks:
            ignored = f"{count_of(clicks, 'click')} ignored"
            notes += (f"column '{names[roles['event']]}': lists contain impressions; {ignored}",)
        are_clicks = bool(events) and _CLICKED.issuperset(events)
    if are_clicks or is_called(names[roles["document"]], _CLICKED_NAMES):
        if "rank" in roles:
            scored = "unclicked results above a click count as unjudged, those below are missing"
        else:
            scored = "clicked documents are scored as if they were the whole result list"
        notes += (f"{origin.name}: clicks without impressions: {scored}",)
    sessions = log.sessions(rows, gap)
    labels = {r: [each.strip(_BLANKS) for each in ids_of(found[r])] for r in ("topic", "user", "system") if r in found}
    if "system" in roles and "system" not in how.columns and is_called(names[roles["system"]], GUESSED_SYSTEMS):
        # A guessed system column must have several values in the log and one per session.
        of_sessions = [{labels["system"][row] for row in rows} - {b""} for _, rows in sessions]
        if len(set().union(*of_sessions)) < 2 or any(len(each) != 1 for each in of_sessions):
            del labels["system"]
    results = [
        (session, number, query, *result)
        for session, rows in sessions
        for number, query in enumerate(log.queries(rows), 1)
        for result in log.results(query)
    ]
    ids, number, queries, place, documents, grade = zip(*results, strict=True) if results else [()] * 6
    at, document = np.array(place, np.int64), _spans(documents)
    label_spans: dict[str, Any] = {role: _spans([values[row] for row in place]) for role, values in labels.items()}
    return SessionRows(
        _spans(ids),
        np.array(number, np.float64),
        document,
        document[2] == 0,
        origin.take(at),
        # With ranks, the log holds the displayed order, whatever the scores are.
        score=found["score"][at] if "score" in found and "rank" not in found else None,
        grade=np.array(grade, np.float64) if "grade" in found else None,
        cost=np.array(list(map(log.cost, queries)), np.float64) if "cost" in found else None,
        text=_spans([log.texts[row] for row in place]),
        notes=notes,
        gap=gap,
        **label_spans,
    )


def _spans(values: Sequence[bytes]) -> Spans:
    length = np.fromiter(map(len, values), np.int64, len(values))
    return np.frombuffer(b"".join(values), np.uint8), offsets_of(length)[:-1], length


class _Log:
    """The columns of a log by row: session or user, time, query text, and documents shown or clicked."""

    def __init__(self, found: Mapping[str, Any], origin: Origin, document_name: str) -> None:
        self._origin = origin
        self.notes: tuple[str, ...] = ()
        self.who = ids_of(found["session" if "session" in found else "user"])
        refuse_rows(
            [row for row, each in enumerate(self.who) if not each],
            lambda row: f"{origin.where(row)}: no session or user",
            None,
        )
        # Judgments refer to a query by its ID, or else by its text.
        texts = found.get("query_id", found.get("text"))
        self._has_text = texts is not None
        self.texts = [b""] * len(self.who) if texts is None else [text.strip(_BLANKS) for text in ids_of(texts)]
        self._times = self._seconds(found.get("time"))
        unknown = [math.nan] * len(self.who)
        self._grades, self._costs = (found[role].tolist() if role in found else unknown for role in ("grade", "cost"))
        self._ranks: list[float] | None = found["rank"].tolist() if "rank" in found else None
        self._cells, self._is_listing = _cells(found["document"], document_name, may_list=self._ranks is None)
        for row, rank in enumerate(self._ranks or ()):
            if self._cells[row] and not (rank.is_integer() and 0 <= rank <= _DEEPEST_CLICK):
                there = f"{'none' if math.isnan(rank) else number_text(rank)}{origin.shown(row)}"
                expected = f"expected a whole number up to {_DEEPEST_CLICK:,} as rank"
                raise InputError(f"{origin.where(row)}: {expected}, found {there}")
        if any(rank == 0 and self._cells[row] for row, rank in enumerate(self._ranks or ())):
            self._ranks = [rank + 1 for rank in self._ranks or ()]

    def _seconds(self, times: Spans | Floats | None) -> list[float]:
        if times is None:
            return [float(row) for row in range(len(self.who))]  # rows are in chronological order
        seconds = read_times(times, self._origin) if isinstance(times, tuple) else times
        refuse_rows(np.flatnonzero(np.isnan(seconds)), lambda row: f"{self._origin.where(row)}: no time", None)
        if seconds.size and _SERIAL[0] < np.median(seconds) < _SERIAL[1] and np.any(seconds * 1000 % 1):
            self.notes += ("times read as spreadsheet serial dates, in days",)
            return list((seconds * 86400).round(3).tolist())
        unit = next((unit for least, unit in _UNITS if seconds.size and np.median(np.abs(seconds)) > least), 1.0)
        found: list[float] = (seconds / unit).tolist()
        return found

    def shown_rows(self, events: Sequence[bytes], name: str) -> tuple[Sequence[int], int]:
        """Return the rows to read and the number of clicks left out: clicks are ignored if the log has impressions."""
        there = [event for event, documents in zip(events, self._cells, strict=True) if documents]
        if _SHOWN.isdisjoint(there) or _CLICKED.isdisjoint(events):
            return range(len(events)), 0
        others = [row for row, event in enumerate(events) if event not in _SHOWN | _CLICKED]
        if others:
            listed = some_of(sorted({f"'{printable(events[row])}'" for row in others}), 12)
            raise InputError(
                f"{self._origin.where(others[0])}: expected impressions and clicks in column '{name}', found {listed}",
                "remove the rows that are neither",
            )
        shown = [row for row, event in enumerate(events) if event in _SHOWN]
        return shown, len(events) - len(shown)

    def sessions(self, rows: Iterable[int], gap: float | None) -> list[tuple[bytes, list[int]]]:
        """Return the rows of each session by time, sessions by their first row; rows of equal time keep their order."""
        found: list[tuple[bytes, list[int]]] = []
        before, number = -1, 0
        for row in sorted(rows, key=lambda row: (self.who[row], self._times[row])):
            is_same = before >= 0 and self.who[before] == self.who[row]
            if not is_same or (gap is not None and self._times[row] - self._times[before] > gap):
                number = number + 1 if is_same else 1
                found.append((self.who[row] if gap is None else b"%b/%d" % (self.who[row], number), []))
            found[-1][1].append(row)
            before = row
        return sorted(found, key=lambda session: min(session[1]))

    def queries(self, rows: Iterable[int]) -> Iterator[list[int]]:
        """Split the rows of a session into queries."""
        query: list[int] = []
        seen: set[object] = set()  # its documents and ranks
        for row in rows:
            documents, before = self._cells[row], query[-1] if query else -1
            marks = {*documents, *([self._ranks[row]] if self._ranks and documents else [])}
            if query:
                is_more = seen.isdisjoint(marks) if self._has_text else self._times[before] == self._times[row]
                if self._is_listing or self.texts[before] != self.texts[row] or not is_more:
                    yield query
                    query, seen = [], set()
            query.append(row)
            seen |= marks
        if query:
            yield query

    def cost(self, query: Sequence[int]) -> float:
        """Return the first cost in the rows of a query; NaN if there is none."""
        return next((cost for row in query if not math.isnan(cost := self._costs[row])), math.nan)

    def results(self, query: Sequence[int]) -> Iterator[tuple[int, bytes, float]]:
        """Yield row, document and grade of each result of a query; an empty document for an empty result page.

        Ranks above a click that are not in the log count as unjudged.
        """
        shown = [row for row in query if self._cells[row]]
        if not shown:
            yield query[0], b"", math.nan
        if self._ranks is None or self._is_listing:
            yield from ((row, document, self._grades[row]) for row in shown for document in self._cells[row])
            return
        expected = 1
        for row in sorted(shown, key=self._ranks.__getitem__):
            rank = int(self._ranks[row])
            if rank < expected:
                message = f"{self._origin.where(row)}: duplicate rank {rank} in one query"
                raise InputError(message + self._origin.shown(row))
            yield from ((row, b"(rank %d)" % missing, math.nan) for missing in range(expected, rank))
            yield row, self._cells[row][0], self._grades[row]
            expected = rank + 1


def _cells(found: Spans | list[Sequence[bytes]], name: str, *, may_list: bool) -> tuple[list[Sequence[bytes]], bool]:
    """Return the documents of every row, and whether rows hold lists: separated by ``|`` or blanks, or as in Python."""
    if isinstance(found, list):
        return found, any(len(each) > 1 for each in found) or is_called(name, LISTINGS)
    cells = [cell.strip(_BLANKS) for cell in ids_of(found)]
    single: list[Sequence[bytes]] = [[] if cell in _EMPTY else [cell] for cell in cells]
    if not may_list:
        return single, False
    if any(b"|" in cell for cell in cells):
        return [_parts(cell.split(b"|")) for cell in cells], True
    if cells and all(_QUOTED.fullmatch(text_of_id(cell)) or cell in (*_EMPTY, b"[]") for cell in cells):
        return [_parts(re.split(rb"[\[\]'\", \t\r\n]+", cell)) for cell in cells], True
    words = [re.findall(rb"[^ \t\r\n]+", cell) for cell in cells]
    # A title is one document despite its words; IDs contain digits.
    are_ids = any(len(each) > 1 for each in words) and all(re.search(rb"\d", word) for each in words for word in each)
    if are_ids or is_called(name, LISTINGS):
        return [_parts(each) for each in words], True
    return single, False


def _parts(parts: Iterable[bytes]) -> list[bytes]:
    return [part.strip(_BLANKS) for part in parts if part.strip(_BLANKS) not in _EMPTY]
