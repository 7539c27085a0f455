"""Sessions as columns: sequences of queries with ranked results, their topics, and the ordering of their lists."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gainful.data.graded import JoinFacts
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run, falling_ranks, fitting_policy, join_columns
from gainful.data.session_table import (
    PART_SIZE,
    SessionTable,
    parts_of_source,
    refuse_repeated_ranks,
    sessions_of_frame,
    sessions_of_objects,
    sessions_of_run,
)
from gainful.errors import InputError, UsageError, option
from gainful.frozen import dataclass, fields, replace
from gainful.io.formats import Reading
from gainful.io.records import read_topics
from gainful.io.rows import Frame, Spans, is_frame, read_id, wanted_ids
from gainful.io.sources import BLANKS, Source, Text, as_source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, offsets_of
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress
from gainful.notation import bytes_of_id, count_of, grouped, number_text, printable, some_of, text_of_id
from gainful.policy import BY_GRADE, Policy

if TYPE_CHECKING:
    from gainful.kernel.core import Joined

#: Any supported description of sessions.
SessionsLike: TypeAlias = "Sessions | Run | Source | Iterable[Mapping[str, Any]] | Mapping[str, Any] | Frame"


@dataclass(frozen=True, eq=False, repr=False)
class Sessions(SessionTable):
    """Sessions, each a sequence of turns: a query and its ranked results, which may be none. Immutable.

    >>> sessions = Sessions.of([{"session": "s1", "queries": [{"results": ["d1", "d2"]}, {"results": []}]}])
    >>> sessions.ids, sessions.query_counts.tolist(), sessions.lists.queries
    (['s1'], [2], ['s1_1', 's1_2'])
    """

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - the usual name
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        gaps: str = "error",
        session_gap: str | None = None,
        threads: int | None = None,
    ) -> Sessions:
        """Read sessions from a path, ``-`` or bytes: JSON lines, a table with a header, a run, a log, or TREC's XML.

        The format is recognised unless given; ``columns`` maps roles (session, query for its number, query_id for its
        ID in judgments by query, rank, document, topic, user, system, score, grade, scanned, cost, time) to names in
        the header. In a run, a query ID consists of session, ``separator`` (``_``) and turn; a duplicate rank in a list
        is an error unless all ranks of the run are equal. Unknown JSON keys are ignored, except near misses (query_id
        for id, result for results), which are errors. A missing query number is an error, or an empty result page with
        ``gaps="empty"``. Logs of users or sessions with times, query texts and documents need no numbers;
        ``session_gap="30m"`` splits a user's queries into sessions.
        """
        how = Reading.of_sessions(format, columns, separator, gaps, session_gap)
        return cls._of_table(next(parts_of_source(source, how, thread_count(threads))))

    @classmethod
    def read_parts(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - as in read
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        gaps: str = "error",
        session_gap: str | None = None,
        threads: int | None = None,
        size: int = PART_SIZE,
    ) -> Iterator[Sessions]:
        """Yield the sessions in parts of at most ``size``, each sorted by ID bytes.

        JSON lines and XML are streamed one part at a time. Each session ID must occur once across all parts.
        """
        if size < 1:
            raise UsageError(f"size: expected at least 1 session, found {size}")
        how = Reading.of_sessions(format, columns, separator, gaps, session_gap)
        return map(cls._of_table, parts_of_source(source, how, thread_count(threads), size))

    @classmethod
    def of(cls, value: SessionsLike) -> Sessions:
        """Return sessions from any supported input: sessions, dicts as in JSON lines, a data frame, a run, a path."""
        if isinstance(value, Sessions):
            return value
        if isinstance(value, Run):
            return cls._of_table(sessions_of_run(value, Reading.of_sessions()))
        if is_frame(value):
            return cls.from_frame(value)
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview, Text)):
            return cls._of_table(sessions_of_objects([value] if isinstance(value, Mapping) else value))
        return cls.read(as_source(value, "Sessions"))

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        columns: Mapping[str, str] | None = None,
        gaps: str = "error",
        session_gap: str | None = None,
        name: str = "<frame>",
    ) -> Sessions:
        """Return sessions from a data frame with columns for session, query number, rank and document, or a log."""
        how = Reading.of_sessions(None, columns, None, gaps, session_gap)
        return cls._of_table(sessions_of_frame(frame, how, name))

    @classmethod
    def _of_table(cls, table: SessionTable) -> Sessions:
        return cls(**{each.name: getattr(table, each.name) for each in fields(table)})

    def __repr__(self) -> str:
        queries = count_of(int(self.turn_offsets[-1]), "query", "queries")
        return f"<Sessions {printable(self.name, 80)}: {count_of(len(self), 'session')}, {queries}>"

    def select(self, sessions: Iterable[str | bytes | int]) -> Sessions:
        """Return the given sessions.

        >>> whole = Sessions.of([{"session": i, "queries": [{"results": [f"d{i}"]}]} for i in (1, 2, 3)])
        >>> whole.select(["3", "1"]).ids
        ['1', '3']
        """
        wanted = wanted_ids(sessions, self.name, "session", "sessions")
        unknown = wanted.difference(self.session_ids)
        if unknown:
            first = text_of_id(min(unknown))
            raise UsageError(f"{self.name}: {count_of(len(unknown), 'session')} not found, such as '{first}'")
        return self.take([i for i, identifier in enumerate(self.session_ids) if identifier in wanted])

    def with_topics(self, topics: TopicsLike) -> Sessions:
        """Return the sessions with topics by session, from a dict or the file of a table.

        >>> sessions = Sessions.of([{"session": s, "queries": [{"results": ["d1"]}]} for s in ("s1", "s2")])
        >>> sessions.with_topics({"s1": "harbours", "s2": "trains"}).topics
        (b'harbours', b'trains')
        """
        given = SessionTopics.of(topics)
        found = given.given_to(self)
        given.check(self.name)
        return found

    def by_system(self) -> Iterator[tuple[str, Sessions]]:
        """Yield the sessions of every system, in source order if known."""
        places = grouped((str(system), i) for i, system in enumerate(self.systems))
        for system in sorted(places, key=self.system_order.index) if self.system_order else sorted(places):
            yield system, self if len(places) == 1 else self.take(places[system])

    def split_by_system(self) -> dict[str, Sessions]:
        """Return the sessions of every system by its name, or all under their own name if none names a system.

        >>> both = [{"session": i, "system": name, "queries": [{"results": []}]} for i, name in enumerate("ABA")]
        >>> {name: each.ids for name, each in Sessions.of(both).split_by_system().items()}
        {'A': ['0', '2'], 'B': ['1']}
        """
        if not self.systems:
            return {self.name: self}
        if None in self.systems:
            without = self.ids[self.systems.index(None)]
            raise InputError(f"{self.name}: session '{without}' has no system, but other sessions have one")
        return {system: replace(some, name=system) for system, some in sorted(self.by_system())}


#: The file of a table of sessions and topics, or topics by session.
TopicsLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | SessionTopics"

_MOST_NAMED = 3


class SessionTopics:
    """Topics by session. Records which sessions it has assigned topics to, in order to report those without one.

    >>> topics = SessionTopics.of({"s1": "harbours"})
    >>> topics.given_to(Sessions.of([{"session": "s1", "queries": [{"results": ["d1"]}]}])).topics
    (b'harbours',)
    """

    def __init__(
        self, topics: Mapping[bytes, bytes], name: str = "topics", users: Mapping[bytes, bytes] | None = None
    ) -> None:
        self.name = name
        self._users = dict(users or {})
        self._topics = dict(topics)
        self._met: set[bytes] = set()
        self._without: set[bytes] = set()
        self._others: set[bytes] = set()  # sessions without a topic here
        self._open = 0

    @classmethod
    def of(cls, value: TopicsLike, columns: Mapping[str, str] | None = None) -> SessionTopics:
        """Return topics from a file or a dict by session; ``columns`` names the columns of the file."""
        if isinstance(value, SessionTopics):
            return value
        if isinstance(value, Mapping):
            if not value:
                raise InputError("topics: no topics of sessions")
            return cls(
                {
                    read_id(session, "topics: session"): read_id(topic, f"topics: topic of session {session!r}")
                    for session, topic in value.items()
                }
            )
        if not isinstance(value, (str, os.PathLike)):
            raise UsageError(f"topics: expected a file or a dict of sessions and topics, found {type(value).__name__}")
        topics, users = read_topics(value, columns)
        return cls(topics, os.fspath(value), users)

    def given_to(self, sessions: Sessions) -> Sessions:
        """Return the sessions with topics; those not listed here keep their own, and conflicts are errors."""
        ids, own = sessions.session_ids, sessions.topics or (None,) * len(sessions)
        found = tuple(map(self._topics.get, ids, own))
        for session, before, topic in zip(ids, own, found, strict=True):
            if before is not None and topic != before:
                raise InputError(
                    f"{self.name}: topic '{printable(topic or b'')}' for session '{printable(session)}' conflicts with "
                    f"'{printable(before)}' in {sessions.name}"
                )
        self._met.update(self._topics.keys() & ids)
        self._others.update(set(ids) - self._met)
        self._without.update(session for session, topic in zip(ids, found, strict=True) if topic is None)
        users = sessions.users
        if self._users and not users:
            named = (self._users.get(session) for session in sessions.session_ids)
            users = tuple(None if user is None else text_of_id(user) for user in named)
        return replace(sessions, topics=found if any(topic is not None for topic in found) else (), users=users)

    def given_to_all(self, sources: Mapping[str, Iterable[Sessions]]) -> dict[str, Iterator[Sessions]]:
        """Return sources of sessions with topics; after the last one, raise InputError if no topic was used."""
        self._open = len(sources)
        names = ", ".join(map(printable, sources))
        return {name: self._each(parts, names) for name, parts in sources.items()}

    def _each(self, parts: Iterable[Sessions], names: str) -> Iterator[Sessions]:
        for part in parts:
            yield self.given_to(part)
            del part  # release it before the next one is read
        self._open -= 1
        if not self._open:
            self.check(names)

    def check(self, names: str) -> None:
        """Raise InputError if all topics are for other sessions."""
        if not self._met and self._others:
            raise InputError(
                f"{self.name}: no topics for the sessions of {names}: these include session "
                f"'{printable(min(self._others))}', but topics are given for '{printable(min(self._topics))}'"
            )

    def notices(self) -> list[str]:
        """Return notices about sessions without a topic, and topics without a session."""
        kinds = (
            ("without a topic", self._without),
            ("with a topic not among the sessions", self._topics.keys() - self._met),
        )
        return [
            f"{printable(self.name, 80)}: {count_of(len(ids), 'session')} {what}: {some_of(sorted(ids), _MOST_NAMED)}"
            for what, ids in kinds
            if ids
        ]


def sessions_from_lists(
    lists: Mapping[str, Sequence[Sequence[str]]],
    topics: Mapping[str, str] | None = None,
    *,
    name: str = "<dict>",
    separator: str = "_",
) -> Sessions:
    """Return sessions from ``{session: [[document, ...], ...]}``: the results of each query in rank order.

    >>> sessions_from_lists({"s1": [["d1", "d2"], []]})
    <Sessions <dict>: 1 session, 2 queries>
    """
    ordered = sorted(lists, key=bytes_of_id)
    turns = {f"{session}{separator}{i}": list(turn) for session in ordered for i, turn in enumerate(lists[session], 1)}
    return Sessions(
        name,
        tuple(map(bytes_of_id, ordered)),
        offsets_of([len(lists[session]) for session in ordered]),
        Run.from_dict(turns, name=name),
        () if topics is None else tuple(bytes_of_id(topics[s]) if s in topics else None for s in ordered),
    )


#: Keys by which a turn's results can be judged.
JUDGED_BY = ("topic", "session", "query", "text")


class RankedSessions(NamedTuple):
    """Sessions with lists in rank order, without duplicates and cut off as the policy requires."""

    sessions: Sessions
    policy: Policy
    judged_query: Ints  # by turn: position among the judged queries, -1 if there is none
    list_offsets: Ints
    document_start: Ints
    document_length: Ints
    grade: Floats  # by document, or empty
    judged_by: str
    facts: JoinFacts
    is_unchecked: bool  # whether duplicate documents, which are errors, have yet to be detected

    def spans(self, rows: slice | Ints) -> Spans:
        return self.sessions.lists.data, self.document_start[rows], self.document_length[rows]


def rank_sessions(judged: Judged, sessions: Sessions, judged_by: str, threads: int = 1) -> RankedSessions:
    """Order every list by the policy and find its judgments."""
    if judged.policy.ties in BY_GRADE:
        raise UsageError(f"ties={judged.policy.ties} cannot be used with sessions")
    if judged.policy.credits_chunks:
        raise UsageError(f"{option('parent' if judged.policy.has_parents else 'spans')} cannot be used with sessions")
    lists = sessions.lists
    settled = fitting_policy(lists, judged.policy)
    if settled.order == "rank" and lists.has_ranks and len(lists):
        refuse_repeated_ranks(lists)
    rows, offsets, facts = _ranked_rows(lists, settled, threads)
    return RankedSessions(
        sessions,
        settled,
        judged_turns(judged.qrels, sessions, judged_by),
        offsets,
        lists.document_start if rows is None else lists.document_start[rows],
        lists.document_length if rows is None else lists.document_length[rows],
        _given_grades(sessions, judged, rows),
        "query" if judged_by == "text" else judged_by,  # in both cases queries have their own judgments
        facts,
        rows is None and settled.duplicates == "error",
    )


def _given_grades(sessions: Sessions, judged: Judged, rows: Ints | None) -> Floats:
    """Return the grades in the sessions themselves, on the scale of the judgments."""
    grade = sessions.grade
    if not grade.size:
        return grade
    highest, zero = grade[~np.isnan(grade)].max(initial=-np.inf), judged.policy.grade_zero
    if highest > judged.qrels.scale:
        row = int(np.nanargmax(grade))
        origin = sessions.lists.origin
        raise InputError(
            f"{origin.where(row)}: expected grades up to the scale of the judgments, "
            f"{number_text(judged.qrels.scale)}, found {number_text(highest)}{origin.shown(row)}",
            f"use {option('scale', highest)}",
        )
    grade = np.maximum(grade - zero, 0.0) if zero else grade
    return grade if rows is None else grade[rows]


def judged_turns(qrels: Qrels, sessions: Sessions, judged_by: str) -> Ints:
    """Return the position of each turn's judgments among all judged queries, -1 if there are none."""
    place: dict[bytes | None, int] = {identifier: i for i, identifier in enumerate(qrels.query_ids)}

    def places(ids: Sequence[bytes | None]) -> Ints:
        # None is never an ID: sessions without a topic have no judgments.
        return np.fromiter(map(place.get, ids, repeat(-1)), np.int64, len(ids))

    turns = len(sessions.lists.query_ids)
    if judged_by == "query":
        return places(sessions.lists.query_ids)
    if judged_by == "text":
        return places([bytes_of_id(text.strip(BLANKS)) or None for text in sessions.texts] or [None] * turns)
    ids = sessions.session_ids if judged_by == "session" else sessions.topics or (None,) * len(sessions)
    return np.repeat(places(ids), sessions.query_counts)


def judged_sessions(turn_offsets: Ints, judged_query: Ints) -> Bools:
    """Return whether each session has judgments for at least one turn."""
    return np.asarray(np.diff(offsets_of(judged_query >= 0)[turn_offsets]) > 0)


def _ranked_rows(lists: Run, policy: Policy, threads: int) -> tuple[Ints | None, Ints, JoinFacts]:
    """Return the rows in rank order and the offsets of lists; None for rows if they are already in order."""
    by_score, conflicts = policy.order == "score", 0
    if lists.has_ranks and len(lists) and not by_score:
        conflicts = int(np.count_nonzero(falling_ranks(lists, set(lists.query_ids))))
    is_ordered = policy.order == "input" or not (by_score or conflicts or np.isnan(lists.rank).any())
    if is_ordered and policy.depth is None:
        # Duplicate documents that are errors are detected later, in the same pass as the join.
        is_error = policy.duplicates == "error"
        if is_error or not core.find_repeats(lists.list_offsets, *lists.document_spans, threads).any():
            return None, lists.list_offsets, JoinFacts(rank_conflicts=conflicts)
    joined = _in_rank_order(lists, policy, threads)
    facts = JoinFacts((), joined["duplicate_count"], joined["rank_conflicts"], joined["float32_ties"])
    return joined["rows"], offsets_of(joined["retrieved"]), facts


def refuse_repeats(ranked: RankedSessions) -> None:
    """Raise InputError for lists with a duplicate document."""
    _in_rank_order(ranked.sessions.lists, ranked.policy, 1)


def _in_rank_order(lists: Run, policy: Policy, threads: int) -> Joined:
    # The join only orders lists of judged queries: declare every list judged, without judged documents.
    none, data = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    unjudged = Qrels(lists.name, lists.query_ids, none, data, none, none, (), none, np.zeros(0), 0.0, ())
    index = Judged(unjudged, policy).index
    return join_columns(index, lists.query_ids, lists, policy, threads, Progress(), want_rows=True)
