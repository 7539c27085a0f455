"""Sessions as columns: sequences of queries, each with its ranked results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.arrays import Floats, Ints, freeze
from gainful.core import default_threads
from gainful.data.lists import gather
from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful.io.objects import read_id
from gainful.io.rows import Frame, as_source, is_frame
from gainful.io.sources import Source, Text
from gainful.notation import count_of, text_of_id

if TYPE_CHECKING:
    from gainful.data.session_topics import TopicsLike

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
        from gainful.data.session_sources import join_parts, parts_of_source
        from gainful.io.session_reader import session_reading

        how = session_reading(format, columns, separator, gaps)
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
        from gainful.data.session_sources import parts_of_source
        from gainful.io.session_reader import session_reading

        if size < 1:
            raise UsageError(f"size: expected at least 1 session, found {size}")
        how = session_reading(format, columns, separator, gaps)
        return parts_of_source(source, how, threads or default_threads(), size)

    @classmethod
    def of(cls, value: SessionsLike) -> Sessions:
        """Sessions from whatever describes them: themselves, dicts as JSON lines have them, a frame, a run, a path."""
        from gainful.data.session_sources import join_parts, parts_of_objects
        from gainful.data.session_turns import sessions_of_run
        from gainful.io.session_reader import session_reading

        if isinstance(value, Sessions):
            return value
        if isinstance(value, Run):
            return sessions_of_run(value, session_reading())
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
        from gainful.data.session_sources import sessions_of_frame

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
        if isinstance(sessions, (str, bytes)):
            raise UsageError(f"{self.name}: expected several sessions to select, found one text, {sessions!r}")
        wanted = {read_id(session, f"{self.name}: session") for session in sessions}
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
        from gainful.data.session_topics import SessionTopics

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
