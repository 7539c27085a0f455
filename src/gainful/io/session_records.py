"""The formats of sessions, and what the columns of their tables mean; JSON has the same names for the same things.

The keys of a session's objects: which role each has, and which was probably meant to have one.
What session formats are read into: records, one a session, or rows, one a result; and the rules for both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

from gainful.errors import InputError, UsageError
from gainful.io.formats import NAMES as RUN_NAMES, Names, find_role, has_header, missing_column, read_role
from gainful.io.rows import Origin, Spans, input_error
from gainful.kernel.arrays import Floats
from gainful.notation import NUMBER, choose, nearest, printable

#: The formats of sessions, each with what it looks like. In runs of any format a query's id is session and turn.
SESSION_FORMATS: Mapping[str, str] = {
    "jsonl": '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1"]}]}',
    "json": "a list of such objects",
    "tsv": "a header (session, query, rank, document, ...), then fields between tabs",
    "csv": "a header (session, query, rank, document, ...), then fields between commas or semicolons",
    "parquet": "such a table, read with pyarrow or polars",
    "xml": "the log of TREC's Session Track",
    "trec": "session_turn Q0 document rank score tag",
    "msmarco": "session_turn document rank",
}
#: What a missing query number means: that something is wrong, or an empty result page.
GAPS = ("error", "empty")
#: What stands between session and turn in a query's id.
SEPARATOR = "_"

#: The names that each role is known by, best first. The role ``query`` is the query's number in its session,
#: ``query_id`` what judgments by query call it.
SESSION_NAMES: Names = {
    "session": (("session_id", "session-id", "sessionid", "session_num"), ("session",)),
    "query": (
        ("qno", "query_number", "query-number", "query_no", "query_num", "turn_number", "turn_no", "turn"),
        ("query", "interaction"),
    ),
    "query_id": (("query_id", "query-id", "queryid"), ("turn_id", "turn-id")),
    "rank": RUN_NAMES["rank"],
    "document": RUN_NAMES["document"],
    "topic": (("topic_id", "topic-id", "topicid", "topic_num"), ("topic",)),
    "user": (("user_id", "user-id", "userid"), ("user",)),
    "system": (("system_id", "system-id"), ("system",)),
    "score": RUN_NAMES["score"],
    "grade": (("grade", "relevance", "rel", "label"),),
    "scanned": (("scanned",),),
    "time": (("time", "timestamp", "start_time", "starttime"),),
}
_SIDES = ("qrels", "sessions")
_NEEDED = ("session", "query", "document")


def is_session_header(names: Sequence[str], given: Mapping[str, str]) -> bool:
    """Whether names look like the header of a table of sessions.

    >>> is_session_header(["SessionID", "Qno", "rank", "URL"], {}), is_session_header(["qid", "docno", "score"], {})
    (True, False)
    """
    return has_header(names, given, ("session", "document"), SESSION_NAMES)


def find_session_roles(names: Sequence[str], given: Mapping[str, str], where: str) -> dict[str, int]:
    """Which column is what. Without a rank there has to be a score, as rows may stand in any order."""
    found = {role: find_role(role, names, given, where, SESSION_NAMES) for role in SESSION_NAMES}
    roles = {role: column for role, column in found.items() if column is not None}
    for role in _NEEDED:
        if role not in roles:
            raise missing_column(role, names, where, SESSION_NAMES)
    if "rank" not in roles and "score" not in roles:
        raise missing_column("rank", names, where, SESSION_NAMES)
    return roles


def read_session_mapping(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """What ``--columns`` says of sessions, and of judgments where ``qrels.`` stands before a role.

    >>> read_session_mapping("session=SessionID,query=Qno,doc=URL,qrels.query=SessionID")
    ({'session': 'SessionID', 'query': 'Qno', 'document': 'URL'}, {'query': 'SessionID'})
    """
    sessions: dict[str, str] = {}
    qrels: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            listed = ", ".join(SESSION_NAMES)
            raise UsageError(f"--columns: expected role=name, found '{part}'", f"the roles are {listed}")
        of_side, dot, of_role = role.rpartition(".")
        if dot and choose(of_side, _SIDES, "--columns") == "qrels":
            qrels[read_role(of_role, "--columns")] = name
        else:
            sessions[read_role(of_role, "--columns", SESSION_NAMES)] = name
    return sessions, qrels


#: What others call the keys of a query.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("query_id", "query-id", "qid", "turn_id"),
    "results": ("docs", "documents", "hits", "ranking"),
    "number": ("query_number", "turn_number", "qno"),
    "time": ("timestamp", "start_time", "starttime"),
    "scanned": ("scanning_depth", "scan_depth"),
}
#: What objects are refused without anyway.
_KEYS_NEEDED = ("session", "queries", "results")
_CLOSE = 0.81


class Keys:
    """Which keys of objects have which roles, found once for all objects with the same keys.

    Keys without a role are left alone, unless one is nearly what a role that is not there is called.
    """

    def __init__(self, given: Mapping[str, str], known: Names, roles: Sequence[str], others: Sequence[str]) -> None:
        self._given, self._known, self._roles, self._others = given, known, roles, others
        self._found: dict[tuple[object, ...], dict[str, str]] = {}

    def of(self, value: Mapping[Any, Any], where: str) -> dict[str, str]:
        """The key of every role that has one."""
        keys = tuple(value)
        found = self._found.get(keys)
        if found is None:
            names = [key for key in keys if isinstance(key, str)]
            # What is given for another level of the object is not looked for here.
            given = {role: name for role, name in self._given.items() if name in names}
            places = {role: find_role(role, names, given, where, self._known) for role in self._roles}
            found = {role: names[place] for role, place in places.items() if place is not None}
            if self._others:
                refuse_nearly(names, {**{role: role for role in self._others if role in names}, **found}, self, where)
            self._found[keys] = found
        return found

    @property
    def wanted(self) -> tuple[str, ...]:
        """All keys that mean something."""
        return (*self._roles, *self._others)


class TurnKeys:
    """The keys of queries, checked once for all objects with the same keys."""

    wanted = ("query", "id", "number", "time", "scanned", "results")

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()

    def check(self, value: Mapping[Any, Any], where: str) -> None:
        """Refuses a query without results, or with a key that nearly is one that it lacks."""
        keys = tuple(value)
        if keys not in self._seen:
            if "results" not in value:
                error = missing_key("results", value, self.wanted, where, None)
                raise InputError(error.message, error.hint or 'an empty result page is "results": []')
            names = [key for key in keys if isinstance(key, str)]
            refuse_nearly(names, {name: name for name in names if name in self.wanted}, self, where)
            self._seen.add(keys)


def refuse_nearly(names: Sequence[str], found: Mapping[str, str], keys: Keys | TurnKeys, where: str) -> None:
    """Refuses names that nearly are those of roles that are not found."""
    lacking = [role for role in keys.wanted if role not in found and role not in _KEYS_NEEDED]
    for name in names:
        if name not in found.values():
            meant = next((role for role in lacking if _is_nearly(name, role)), None)
            if meant is not None:
                raise InputError(
                    f"{where}: expected {', '.join(keys.wanted)} as far as they are known, found {name}",
                    f"is {name} meant to be {meant}? Other keys may be anything",
                )


def _is_nearly(name: str, role: str) -> bool:
    folded = name.casefold()
    if folded in _OTHER_NAMES.get(role, ()):
        return True
    import difflib

    return difflib.SequenceMatcher(None, folded, role).ratio() >= _CLOSE


def missing_key(
    key: str, value: Mapping[Any, Any], known: Sequence[str], where: str, example: str | None
) -> InputError:
    """What is said of an object without a key that it needs, and of one that may have been meant."""
    names = [str(name) for name in value]
    others = [name for name in names if name not in known]
    meant = next((name for name in others if nearest(name, [key]) or name in _OTHER_NAMES.get(key, ())), None)
    return InputError(
        f"{where}: expected {key} in an object, found {', '.join(names) or 'nothing'}",
        f"is {meant} meant to be {key}?" if meant else None if example is None else f"a line is {example}",
    )


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
