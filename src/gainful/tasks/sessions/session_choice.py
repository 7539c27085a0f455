"""Which sessions are looked at, and which should be there: judged turns and whole sessions that nobody answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.judged import Judged
from gainful.data.run import Run
from gainful.data.session_table import offsets_of, turn_ids
from gainful.data.sessions import Sessions
from gainful.errors import InputError
from gainful.io.session_records import MOST_QUERIES
from gainful.notation import bytes_of_id, nearest, printable, read_whole, some_of, text_of_id

if TYPE_CHECKING:
    from gainful.tasks.curve_questions import SessionCurveOptions, SessionStudyOptions

_DIGITS = b"0123456789"
_LONGEST = len(str(MOST_QUERIES))


class SessionChoice:
    """Which sessions are looked at. Remembers what it was shown, so that it can say why nothing was left.

    >>> choice = SessionChoice(topics=["t1"], at_least=2)
    >>> queries = [{"results": ["d1"]}] * 2
    >>> sessions = Sessions.of([{"session": t, "topic": t, "queries": queries} for t in ("t1", "t2")])
    >>> choice.of(sessions).ids
    ['t1']
    """

    def __init__(
        self, sessions: Iterable[str | bytes] = (), topics: Iterable[str | bytes] = (), at_least: int | None = None
    ) -> None:
        self.sessions, self.topics = (
            frozenset(each if isinstance(each, bytes) else bytes_of_id(each) for each in ids)
            for ids in (sessions, topics)
        )
        self.at_least = 1 if at_least is None else read_whole(at_least, "at_least")
        self._met_sessions: set[bytes] = set()
        self._met_topics: set[bytes] = set()
        self._near_sessions: list[str] = []
        self._longest = 0

    @classmethod
    def asked(cls, asked: SessionCurveOptions | SessionStudyOptions, kind: str | None) -> SessionChoice:
        """The sessions that the options choose; in curves of subsets the number of queries is theirs."""
        return cls(asked.session, asked.topic, None if kind == "subset" else asked.at_least)

    @property
    def is_all(self) -> bool:
        """Whether every session is chosen."""
        return not self.sessions and not self.topics and self.at_least == 1

    def expected(self, judged: Collection[bytes]) -> frozenset[bytes]:
        """Those of the judged sessions that have to be there."""
        # Nobody knows the topic or the number of queries of a session that is not there.
        if self.topics or self.at_least > 1:
            return frozenset()
        return self.sessions.intersection(judged) if self.sessions else frozenset(judged)

    def of(self, sessions: Sessions) -> Sessions:
        """Those of the sessions that are chosen."""
        if self.is_all:
            return sessions
        kept = np.ones(len(sessions), bool)
        if self.sessions:
            kept &= _members(sessions.session_ids, self.sessions)
            self._met_sessions.update(self.sessions.intersection(sessions.session_ids))
            self._near_sessions += sessions.ids[: 200 - len(self._near_sessions)]
        if self.topics:
            topics = sessions.topics or (None,) * len(sessions)
            kept &= _members(topics, self.topics)
            self._met_topics.update(topic for topic in topics if topic is not None)
        self._longest = max(self._longest, int(sessions.query_counts[kept].max(initial=0)))
        kept &= sessions.query_counts >= self.at_least
        return sessions if kept.all() else sessions.take(np.flatnonzero(kept).tolist())

    def check(self, found: int, name: str) -> None:
        """Refuses names that no session has, and a choice that leaves nothing."""
        for wanted, met, known, what in (
            (self.sessions, self._met_sessions, self._near_sessions, "session"),
            (self.topics, self._met_topics, sorted(map(text_of_id, self._met_topics)), "topic"),
        ):
            unknown = sorted(map(text_of_id, wanted - met))
            if unknown:
                shown = some_of(known)
                there = f"there {'is' if len(known) == 1 else 'are'} {shown}" if known else "no session has one"
                raise InputError(
                    f"{name}: no {what} is called '{printable(unknown[0])}'; {there}", nearest(unknown[0], known)
                )
        if not found and not self.is_all:
            raise InputError(
                f"{name}: expected a session with at least {self.at_least} queries, found at most {self._longest}"
                if self._longest
                else f"{name}: expected a session that is chosen by both session and topic, found none"
            )


def _members(ids: Sequence[bytes | None], wanted: frozenset[bytes]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.fromiter((identifier in wanted for identifier in ids), bool, len(ids))


def separator_of(sessions: Sessions) -> bytes | None:
    """What stands between session and number in the ids of all turns; None where these are made in another way.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> separator_of(sessions_from_lists({"s": [["a"], ["b"]]}, separator="/"))
    b'/'
    >>> separator_of(Sessions.of([{"session": "s", "queries": [{"id": "mine", "results": []}]}]))
    """
    found: bytes | None = None
    ids, offsets = sessions.lists.query_ids, sessions.turn_offsets.tolist()
    for session, first, end in zip(sessions.session_ids, offsets, offsets[1:], strict=False):
        for number, identifier in enumerate(ids[first:end], 1):
            if found is None:
                found = identifier[len(session) :].rstrip(_DIGITS)
            prefix = session + found
            if not found or not identifier.startswith(prefix) or _number(identifier[len(prefix) :]) != number:
                return None
    return found


def _number(text: bytes) -> int:
    """The number of a turn, 0 where it is none."""
    number = int(text) if text.isdigit() and len(text) <= _LONGEST else 0
    return number if number <= MOST_QUERIES else 0


class JudgedTurns:
    """The turns that judgments by query name, by session, wherever a separator tells which session that is."""

    def __init__(self, query_ids: Iterable[bytes]) -> None:
        self._query_ids = tuple(query_ids)
        self._by_separator: dict[bytes, dict[bytes, dict[int, bytes]]] = {}

    def by_session(self, separator: bytes) -> Mapping[bytes, Mapping[int, bytes]]:
        """For every judged session the ids of its judged turns, by number."""
        if separator not in self._by_separator:
            found: dict[bytes, dict[int, bytes]] = {}
            for identifier in self._query_ids:
                session, _, text = identifier.rpartition(separator)
                number = _number(text)
                if session and number:
                    found.setdefault(session, {})[number] = identifier
            self._by_separator[separator] = found
        return self._by_separator[separator]

    def completed(self, sessions: Sessions, separator: bytes) -> tuple[Sessions, tuple[bytes, ...]]:
        """The sessions with an empty page for every turn up to the last judged one, and these turns.

        >>> from gainful.data.sessions import sessions_from_lists
        >>> whole, added = JudgedTurns([b"s_1", b"s_3"]).completed(sessions_from_lists({"s": [["a"]]}), b"_")
        >>> whole.lists.queries, added
        (['s_1', 's_2', 's_3'], (b's_2', b's_3'))
        """
        judged, counts = self.by_session(separator), sessions.query_counts
        ends = [max(judged.get(session, ()), default=0) for session in sessions.session_ids]
        wanted = np.maximum(counts, np.array(ends, np.int64))
        if np.array_equal(wanted, counts):
            return sessions, ()
        offsets = offsets_of(wanted)
        place = np.arange(int(counts.sum())) + np.repeat(offsets[:-1] - sessions.turn_offsets[:-1], counts)
        # Turns are called as the judgments have it, or session, separator, number.
        ids = turn_ids(sessions.session_ids, offsets, separator)
        for session, first in zip(sessions.session_ids, offsets.tolist(), strict=False):
            for number, identifier in judged.get(session, {}).items():
                ids[first + number - 1] = identifier
        is_added = np.ones(len(ids), bool)
        is_added[place] = False
        added = tuple(ids[i] for i in np.flatnonzero(is_added).tolist())
        for at, identifier in zip(place.tolist(), sessions.lists.query_ids, strict=True):
            ids[at] = identifier
        return sessions.with_turns(offsets, place, ids), added

    def empty(self, name: str, session_ids: Collection[bytes], separator: bytes) -> Sessions:
        """Judged sessions that show nothing: an empty page for every turn up to the last judged one."""
        none, ordered = np.zeros(0, np.int64), tuple(sorted(session_ids))
        lists = Run(name, (), np.zeros(1, np.int64), np.zeros(0, np.uint8), none, none, np.zeros(0))
        without_turns = Sessions(name, ordered, np.zeros(len(ordered) + 1, np.int64), lists)
        return self.completed(without_turns, separator)[0]


class ExpectedSessions:
    """What the systems of a call should answer, because it is judged, and what each of them does not.

    Judged by session, a session that any of the systems has is nobody else's: only one that none has is missing, for
    all of them. Judged by query, every system should answer every judged session (but for those that its own source
    says to be another system's), and each to its last judged turn. By topic nobody knows who should have searched.
    """

    def __init__(self, judged: Judged, judged_by: str, choice: SessionChoice) -> None:
        self._judged, self._judged_by, self._choice = judged, judged_by, choice
        self._turns = JudgedTurns(judged.qrels.query_ids if judged_by == "query" else ())
        self._found: dict[str, set[bytes]] = {}  # by source
        self._sources: dict[str, set[str]] = {}  # by system
        self._separators: dict[str, set[bytes | None]] = {}  # by system
        self._added: dict[str, set[bytes]] = {}  # by system: the turns after the ends of its sessions
        self._met: dict[str, set[bytes]] = {}  # by system: the turns that are there

    def has_met(self, source: str) -> bool:
        """Whether a source has any sessions."""
        return source in self._found

    def chosen(self, source: str, system: str, sessions: Sessions) -> Sessions:
        """A system's sessions that are chosen; missing=zero adds judged turns after their ends as empty pages."""
        found_before = self._found.setdefault(source, set())
        if self._judged_by != "topic":  # of a topic no session is expected
            found_before.update(sessions.session_ids)
        self._sources.setdefault(system, set()).add(source)
        if self._judged_by != "query":
            return self._choice.of(sessions)
        separator = separator_of(sessions)
        self._separators.setdefault(system, set()).add(separator)
        self._met.setdefault(system, set()).update(sessions.lists.query_ids)
        if separator is None:
            return self._choice.of(sessions)
        whole, added = self._turns.completed(sessions, separator)
        found = self._choice.of(whole if self._judged.policy.missing == "zero" else sessions)
        if added:
            kept = set(found.session_ids)
            self._added.setdefault(system, set()).update(t for t in added if t.rpartition(separator)[0] in kept)
        return found

    def missing(self, system: str) -> tuple[bytes, ...]:
        """The judged sessions that a system should have and has not."""
        if self._judged_by == "session":
            expected: Collection[bytes] = self._judged.qrels.query_ids
            sources: Collection[str] = self._found
        else:
            separator = self._separator(system)
            expected = () if separator is None else self._turns.by_session(separator)
            sources = self._sources[system]
        wanted = self._choice.expected(expected)
        return tuple(sorted(wanted.difference(*(self._found[source] for source in sources))))

    def empty(self, system: str, missing: Collection[bytes]) -> Sessions | None:
        """Missing sessions as empty pages, where it is known how many they have and the policy wants them."""
        separator = self._separator(system)
        if not missing or separator is None or self._judged.policy.missing != "zero":
            return None
        return self._turns.empty(system, missing, separator)

    def unanswered(self, system: str) -> list[bytes]:
        """The turns after the ends of a system's sessions, up to the last judged one."""
        return sorted(self._added.get(system, ()))

    def unplaced(self, system: str) -> list[bytes]:
        """Judged turns that a system does not answer, where their ids do not tell whose they are."""
        if self._judged_by != "query" or self._separator(system) is not None or not self._choice.is_all:
            return []
        met = self._met[system].union(self._added.get(system, ()))
        return sorted(set(self._judged.qrels.query_ids) - met)

    def _separator(self, system: str) -> bytes | None:
        found = self._separators.get(system, set())
        return next(iter(found)) if len(found) == 1 else None
