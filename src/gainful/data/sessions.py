"""Turns in their sessions: which numbers they have, and runs whose query ids are session and turn.

Sessions as columns: sequences of queries, each with its ranked results.
Topics that sessions have from elsewhere, such as from a table of a user study.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from gainful.data.lists import gather
from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful.io.delimited import read_topics
from gainful.io.formats import Reading
from gainful.io.rows import Frame, input_error, is_frame, read_id, wanted_ids
from gainful.io.session_records import (
    FILL_GAPS,
    FROM_ONE,
    MOST_QUERIES,
    RANKS_FROM_ONE,
    gap_message,
    repeated_query,
    repeated_rank,
)
from gainful.io.sources import Source, Text, as_source
from gainful.kernel.arrays import Floats, Ints, freeze
from gainful.kernel.core import default_threads
from gainful.notation import bytes_of_id, count_of, printable, text_of_id

_SHOWN = 10


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


#: Whatever describes sessions.
SessionsLike: TypeAlias = "Sessions | Run | Source | Iterable[Mapping[str, Any]] | Mapping[str, Any] | Frame"

#: How many sessions are read at a time.
PART_SIZE = 4096

_NO_VALUES: Floats = np.zeros(0)
_NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Sessions:
    """Sessions, each a sequence of turns: a query and its ranked results, which may be none. Immutable.

    Turns of session i are ``turn_offsets[i] : turn_offsets[i + 1]``, in the order in which they were made. ``lists``
    has one list a turn, in the same order; its query ids are what judgments by query call the turns. Sessions stand in
    byte order of their ids. What is by turn, document or session is empty where the source does not tell it.

    >>> sessions = Sessions.of([{"session": "s1", "queries": [{"results": ["d1", "d2"]}, {"results": []}]}])
    >>> sessions.ids, sessions.query_counts.tolist(), sessions.lists.queries
    (['s1'], [2], ['s1_1', 's1_2'])
    """

    name: str
    session_ids: tuple[bytes, ...]
    turn_offsets: Ints
    lists: Run
    topics: tuple[bytes | None, ...] = ()  # by session: what judgments by topic call it
    grade: Floats = field(default_factory=lambda: _NO_VALUES)  # by row of lists: of this appearance; NaN: not given
    scanned: Ints = field(default_factory=lambda: _NO_COUNTS)  # by turn: how far the user looked; -1: not known
    texts: tuple[str, ...] = ()  # by turn: what the user typed
    users: tuple[str | None, ...] = ()  # by session
    systems: tuple[str | None, ...] = ()  # by session
    ratings: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))  # by session; NaN: not given

    def __post_init__(self) -> None:
        freeze(self.turn_offsets, self.grade, self.scanned, *self.ratings.values())

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - it is what people call it
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        gaps: str = "error",
        threads: int | None = None,
    ) -> Sessions:
        """Sessions from a path, ``-`` or bytes: JSON lines, a table with a header, a run, or TREC's log in XML.

        The format is recognised unless given; ``columns`` maps roles (session, query for its number, query_id for
        what judgments by query call it, rank, document, topic, user, system, score, grade, scanned, time) to the names
        that a header has for them. In a run a query's id is session, ``separator`` (``_``) and turn; a list that has a
        rank twice is an error unless all ranks of the run are the same. Keys of JSON that are not known are left
        alone, but one that nearly is a known one (query_id for id, result for results) is an error. A missing query
        number is an error, or, with ``gaps="empty"``, an empty result page.
        """
        from gainful.data.session_gathering import join_parts, parts_of_source

        how = Reading.of_sessions(format, columns, separator, gaps)
        return join_parts(parts_of_source(source, how, threads or default_threads()))

    @classmethod
    def read_parts(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - as in read
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        gaps: str = "error",
        threads: int | None = None,
        size: int = PART_SIZE,
    ) -> Iterator[Sessions]:
        """The same sessions, at most ``size`` at a time and each part in byte order of its ids.

        Of JSON lines and XML no more than a part is held at a time. A session may not come twice, in no two parts.
        """
        from gainful.data.session_gathering import parts_of_source

        if size < 1:
            raise UsageError(f"size: expected at least 1 session, found {size}")
        how = Reading.of_sessions(format, columns, separator, gaps)
        return parts_of_source(source, how, threads or default_threads(), size)

    @classmethod
    def of(cls, value: SessionsLike) -> Sessions:
        """Sessions from whatever describes them: themselves, dicts as JSON lines have them, a frame, a run, a path."""
        from gainful.data.session_gathering import join_parts, parts_of_objects

        if isinstance(value, Sessions):
            return value
        if isinstance(value, Run):
            return sessions_of_run(value, Reading.of_sessions())
        if is_frame(value):
            return cls.from_frame(value)
        if isinstance(value, Mapping):
            return join_parts(parts_of_objects([value]))
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview, Text)):
            return join_parts(parts_of_objects(value))
        return cls.read(as_source(value, "Sessions"))

    @classmethod
    def from_frame(
        cls, frame: Frame, *, columns: Mapping[str, str] | None = None, gaps: str = "error", name: str = "<frame>"
    ) -> Sessions:
        """Sessions from a data frame with columns for session, query (its number), rank and document."""
        from gainful.data.session_gathering import sessions_of_frame

        return sessions_of_frame(frame, columns, gaps, name)

    def __len__(self) -> int:
        return len(self.session_ids)

    def __repr__(self) -> str:
        return f"<Sessions {self.name}: {len(self)} with {int(self.turn_offsets[-1])} queries>"

    @cached_property
    def ids(self) -> list[str]:
        """The sessions' ids as texts."""
        return [text_of_id(identifier) for identifier in self.session_ids]

    @property
    def query_counts(self) -> Ints:
        """How many queries each session has."""
        return np.diff(self.turn_offsets)

    def select(self, sessions: Iterable[str | bytes | int]) -> Sessions:
        """Some of the sessions.

        >>> whole = Sessions.of([{"session": i, "queries": [{"results": [f"d{i}"]}]} for i in (1, 2, 3)])
        >>> whole.select(["3", "1"]).ids
        ['1', '3']
        """
        wanted = wanted_ids(sessions, self.name, "session", "sessions")
        unknown = wanted.difference(self.session_ids)
        if unknown:
            first = text_of_id(min(unknown))
            raise UsageError(f"{self.name}: {count_of(len(unknown), 'session')} not there, '{first}' first")
        return self.take([i for i, identifier in enumerate(self.session_ids) if identifier in wanted])

    def with_topics(self, topics: TopicsLike) -> Sessions:
        """The same with topics from elsewhere: by session, or the file of a table of sessions and topics.

        >>> sessions = Sessions.of([{"session": s, "queries": [{"results": ["d1"]}]} for s in ("s1", "s2")])
        >>> sessions.with_topics({"s1": "harbours", "s2": "trains"}).topics
        (b'harbours', b'trains')
        """
        given = SessionTopics.of(topics)
        found = given.given_to(self)
        given.check(self.name)
        return found

    def part(self, first: int, end: int) -> Sessions:
        """The sessions from one place to another."""
        return self.take(range(*slice(first, end).indices(len(self))))

    def split_by_system(self) -> dict[str, Sessions]:
        """The sessions of every system, by its name. Where no session names one, all are of one with this name.

        >>> both = [{"session": i, "system": name, "queries": [{"results": []}]} for i, name in enumerate("ABA")]
        >>> {name: each.ids for name, each in Sessions.of(both).split_by_system().items()}
        {'A': ['0', '2'], 'B': ['1']}
        """
        if not self.systems:
            return {self.name: self}
        without = next((i for i, system in enumerate(self.systems) if system is None), None)
        if without is not None:
            raise InputError(
                f"{self.name}: expected a system for every session or for none, found none for '{self.ids[without]}'"
            )
        places: dict[str, list[int]] = {}
        for i, system in enumerate(self.systems):
            places.setdefault(str(system), []).append(i)
        return {system: replace(self.take(places[system]), name=system) for system in sorted(places)}

    def take(self, places: Sequence[int]) -> Sessions:
        """The sessions at some places, in this order."""
        kept = np.array(places, np.int64)
        _, turns = gather(self.turn_offsets, kept)
        _, rows = gather(self.lists.list_offsets, turns)

        def by_session(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(values[i] for i in places) if values else ()

        return Sessions(
            self.name,
            by_session(self.session_ids),
            np.append(0, np.cumsum(self.query_counts[kept])),
            self.lists.take(turns),
            by_session(self.topics),
            self.grade[rows] if self.grade.size else self.grade,
            self.scanned[turns] if self.scanned.size else self.scanned,
            tuple(self.texts[i] for i in turns.tolist()) if self.texts else (),
            by_session(self.users),
            by_session(self.systems),
            {name: values[kept] for name, values in self.ratings.items()},
        )


#: The file of a table of sessions and topics, or topics by session.
TopicsLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | SessionTopics"

_MOST_NAMED = 3


class SessionTopics:
    """Topics by session. Remembers what it was shown, so that it can say which sessions have none.

    >>> topics = SessionTopics.of({"s1": "harbours"})
    >>> topics.given_to(Sessions.of([{"session": "s1", "queries": [{"results": ["d1"]}]}])).topics
    (b'harbours',)
    """

    def __init__(self, topics: Mapping[bytes, bytes], name: str = "topics") -> None:
        self.name = name
        self._topics = dict(topics)
        self._met: set[bytes] = set()
        self._without: set[bytes] = set()
        self._other: bytes | None = None  # the first of the sessions that are not named here
        self._open = 0

    @classmethod
    def of(cls, value: TopicsLike, columns: Mapping[str, str] | None = None) -> SessionTopics:
        """From a file, or from a mapping of sessions to topics; ``columns`` are those of the file."""
        if isinstance(value, SessionTopics):
            return value
        if isinstance(value, Mapping):
            if not value:
                raise InputError("topics: expected topics of sessions, found none")
            return cls(
                {
                    read_id(session, "topics: session"): read_id(topic, f"topics: topic of session {session!r}")
                    for session, topic in value.items()
                }
            )
        if not isinstance(value, (str, os.PathLike)):
            raise UsageError(f"topics: expected a file or a dict of sessions and topics, found {type(value).__name__}")
        return cls(read_topics(value, columns), os.fspath(value))

    def given_to(self, sessions: Sessions) -> Sessions:
        """The sessions with their topics; one that is not named here keeps its own, and another topic is refused."""
        own = sessions.topics or (None,) * len(sessions)
        found: list[bytes | None] = []
        for session, before in zip(sessions.session_ids, own, strict=True):
            topic = self._topics.get(session, before)
            if before is not None and topic != before:
                raise InputError(
                    f"{self.name}: expected topic '{printable(before)}' for session '{printable(session)}', as "
                    f"{sessions.name} has it, found '{printable(topic or b'')}'"
                )
            if session in self._topics:
                self._met.add(session)
            else:
                self._other = session if self._other is None else min(self._other, session)
                if topic is None:
                    self._without.add(session)
            found.append(topic)
        return replace(sessions, topics=tuple(found) if any(topic is not None for topic in found) else ())

    def given_to_all(self, sources: Mapping[str, Iterable[Sessions]]) -> dict[str, Iterator[Sessions]]:
        """Sources of sessions with their topics; where the last one ends, topics that none has are refused."""
        self._open = len(sources)
        names = ", ".join(map(printable, sources))
        return {name: self._each(parts, names) for name, parts in sources.items()}

    def _each(self, parts: Iterable[Sessions], names: str) -> Iterator[Sessions]:
        for part in parts:
            yield self.given_to(part)
            del part  # so that the next one is not read beside it
        self._open -= 1
        if not self._open:
            self.check(names)

    def check(self, names: str) -> None:
        """Refuses topics of other sessions only."""
        if not self._met and self._other is not None:
            raise InputError(
                f"{self.name}: expected topics of the sessions of {names}, found none: there is session "
                f"'{printable(self._other)}'; session '{printable(min(self._topics))}' has a topic"
            )

    def notices(self) -> list[str]:
        """Sessions without a topic, and topics without a session, one line each."""
        kinds = (
            ("without a topic", self._without),
            ("with a topic not among the sessions", self._topics.keys() - self._met),
        )
        return [
            f"{printable(self.name, 80)}: {count_of(len(ids), 'session')} {what}: {_some(sorted(ids))}"
            for what, ids in kinds
            if ids
        ]


def _some(ids: Sequence[bytes]) -> str:
    return ", ".join(map(printable, ids[:_MOST_NAMED])) + (", ..." if len(ids) > _MOST_NAMED else "")


def sessions_from_lists(
    lists: Mapping[str, Sequence[Sequence[str]]],
    topics: Mapping[str, str] | None = None,
    *,
    name: str = "<dict>",
    separator: str = "_",
) -> Sessions:
    """Sessions from ``{session: [[document, ...], ...]}``: for every query its results in rank order.

    >>> sessions_from_lists({"s1": [["d1", "d2"], []]})
    <Sessions <dict>: 1 with 2 queries>
    """
    ordered = sorted(lists, key=bytes_of_id)
    turns = {f"{session}{separator}{i}": list(turn) for session in ordered for i, turn in enumerate(lists[session], 1)}
    return Sessions(
        name,
        tuple(map(bytes_of_id, ordered)),
        np.concatenate(([0], np.cumsum([len(lists[session]) for session in ordered]))).astype(np.int64),
        Run.from_dict(turns, name=name),
        () if topics is None else tuple(bytes_of_id(topics[s]) if s in topics else None for s in ordered),
    )
