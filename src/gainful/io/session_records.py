"""What session formats are read into: records, one a session, or rows, one a result; and the rules for both."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time
from numbers import Real
from types import MappingProxyType
from typing import NamedTuple

from gainful.arrays import Floats
from gainful.errors import InputError
from gainful.io.origin import Origin
from gainful.io.rows import Spans
from gainful.io.session_columns import GAPS, SEPARATOR
from gainful.io.trec import input_error
from gainful.notation import NUMBER, choose, printable

#: The highest query number there may be: what is above it is no number of a query.
MOST_QUERIES = 1_000_000
#: The deepest place that somebody may have looked at: above it not every whole number can be told from the next.
DEEPEST = 2**53

_MOST_SHOWN = 10

FROM_ONE = "queries of a session are numbered 1, 2, 3, ..."
FILL_GAPS = "--gaps empty (gaps='empty' in Python) takes missing queries for empty result pages"
OF_SEVERAL = "sessions of several systems that share their ids stand in a file each"
RANKS_FROM_ONE = "results of a query have the ranks 1, 2, 3, ..."


class SessionReading(NamedTuple):
    """How sessions are to be read, as far as it is not recognised."""

    format: str | None = None
    columns: Mapping[str, str] = MappingProxyType({})
    separator: str = SEPARATOR  # between session and turn in a query's id
    gaps: str = "error"

    @property
    def fills_gaps(self) -> bool:
        """Whether a missing query is an empty result page."""
        return choose(self.gaps, GAPS, "gaps") == "empty"


class TurnRecord(NamedTuple):
    """A query and its results."""

    where: str
    text: str = ""
    id: bytes | None = None  # what judgments by query call it; None: its session and number
    documents: Sequence[object] = ()
    scores: Sequence[float] | None = None
    grades: Sequence[float] | None = None  # NaN: not given
    scanned: int = -1


class SessionRecord(NamedTuple):
    """A session with its queries in their order."""

    where: str
    session: bytes
    topic: bytes | None
    user: str | None
    system: str | None
    ratings: Mapping[str, float]
    turns: Sequence[TurnRecord]
    line: bytes = b""  # what it was read from, where that can be shown


class SessionRows(NamedTuple):
    """One row a result, or an empty result page, in any order."""

    session: Spans
    number: Floats
    document: Spans
    origin: Origin
    rank: Floats | None = None
    score: Floats | None = None
    grade: Floats | None = None
    scanned: Floats | None = None
    time: Floats | None = None
    time_text: Callable[[int], str] | None = None  # a row's time as it is written
    query_id: Spans | None = None
    topic: Spans | None = None
    user: Spans | None = None
    system: Spans | None = None


class BadPlaces:
    """Collects errors of one source: ten are told, the others counted."""

    def __init__(self) -> None:
        self.count = 0
        self._errors: list[InputError] = []

    def add(self, error: InputError, shown: str) -> None:
        """One more, with what stands there unless it says that itself."""
        self.count += 1
        if self.count <= _MOST_SHOWN:
            message = error.message if "\n" in error.message else error.message + shown
            self._errors.append(InputError(message, error.hint))

    def refuse(self) -> None:
        """Raises one error for all of them, if there are any."""
        if self.count:
            hint = next((error.hint for error in self._errors if error.hint), None)
            raise input_error([error.message for error in self._errors], self.count, hint)


def shown_line(line: bytes) -> str:
    """A line as messages show it, on a line of its own; nothing if there is none."""
    return f"\n    {printable(line, 120)}" if line else ""


def gap_message(where: str, session: bytes, missing: int, number: int) -> str:
    """What is said where a query number is missing before another."""
    return f"{where}: expected query {missing} of session '{printable(session)}' before query {number}, found none"


def repeated_query(where: str, session: bytes, number: int, first: str) -> str:
    """What is said of a query number that comes again."""
    return (
        f"{where}: expected every query of session '{printable(session)}' once, found query {number} again "
        f"(first: {first})"
    )


def in_order(turns: Sequence[tuple[int, TurnRecord]], session: bytes, fills_gaps: bool) -> list[TurnRecord]:
    """Turns by their numbers, which begin with 1 and leave none out; or what is left out is an empty result page."""
    ordered: list[TurnRecord] = []
    for number, turn in sorted(turns, key=lambda numbered: numbered[0]):
        if number <= len(ordered):
            raise InputError(repeated_query(turn.where, session, number, ordered[number - 1].where), FROM_ONE)
        if number > len(ordered) + 1:
            if not fills_gaps:
                raise InputError(gap_message(turn.where, session, len(ordered) + 1, number), FILL_GAPS)
            ordered += [TurnRecord(turn.where)] * (number - len(ordered) - 1)
        ordered.append(turn)
    return ordered


def by_rank(ranks: Sequence[float], wheres: Sequence[str]) -> list[int]:
    """The places of results in the order of their ranks, which begin with 1 and leave none out."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    for expected, place in enumerate(order, 1):
        found = ranks[place]
        if expected > 1 and found == expected - 1:
            raise InputError(repeated_rank(wheres[place], found, wheres[order[expected - 2]]), RANKS_FROM_ONE)
        if found != expected:
            raise InputError(missing_rank(wheres[place], expected, found), RANKS_FROM_ONE)
    return order


def repeated_rank(where: str, rank: float, first: str, of: str = "a list") -> str:
    """What is said of a rank that comes again in a list."""
    return f"{where}: expected every rank of {of} once, found rank {rank:g} again (first: {first})"


def missing_rank(where: str, expected: int, rank: float, of: str = "a list") -> str:
    """What is said where a rank is missing before another."""
    return f"{where}: expected rank {expected} of {of} before rank {rank:g}, found none"


def time_back(where: str, session: bytes, found: str, before: str, before_where: str) -> str:
    """What is said of a time stamp that is earlier than one before it."""
    return (
        f"{where}: expected time stamps of session '{printable(session)}' that do not go back, found {found} after "
        f"{before} ({before_where})"
    )


def read_time(value: object) -> float | None:
    """Seconds from a number or its text, from an ISO date and time (without a zone: UTC) or a time of the day.

    >>> read_time("99.5"), read_time("1970-01-01T00:01:00Z"), read_time("01:00:00"), read_time("soon")
    (99.5, 60.0, 3600.0, None)
    """
    text = value.strip() if isinstance(value, str) else None
    if isinstance(value, Real) or (text and NUMBER.fullmatch(text)):
        try:
            seconds = float(value)  # type: ignore[arg-type]
        except OverflowError:
            return None
        return seconds if math.isfinite(seconds) else None
    if isinstance(value, datetime):
        return _seconds(value)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _time_of_day(text)
    return _seconds(moment)


def time_hint(value: object) -> str:
    """How to write a time that cannot be read.

    >>> time_hint("9:59")
    'write 09:59'
    """
    text = value.strip() if isinstance(value, str) else ""
    if re.match(r"\d:", text) and read_time(f"0{text}") is not None:
        return f"write 0{text}"
    return "such as 99.5 or 2024-05-01T10:15:00Z"


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _time_of_day(text: str) -> float | None:
    try:
        clock = time.fromisoformat(text)
    except ValueError:
        return None
    return clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6
