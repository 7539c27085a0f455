"""Some of the sessions: named ones, those of a topic, those with enough queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from gainful.data.sessions import Sessions
from gainful.errors import InputError, UsageError
from gainful.measures.parameters import read_whole
from gainful.notation import bytes_of_id, nearest, printable, text_of_id


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
        self.sessions = frozenset(map(_identifier, _several(sessions, "sessions")))
        self.topics = frozenset(map(_identifier, _several(topics, "topics")))
        self.at_least = 1 if at_least is None else read_whole(at_least, "at_least")
        self._met_sessions: set[bytes] = set()
        self._met_topics: set[bytes] = set()
        self._near_sessions: list[str] = []
        self._longest = 0

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
                shown = ", ".join(map(printable, known[:5])) + (", ..." if len(known) > 5 else "")
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


def _several(values: Iterable[str | bytes], what: str) -> Iterable[str | bytes]:
    if isinstance(values, (str, bytes)):
        raise UsageError(f"{what}: expected several ids, found one text, {values!r}")
    return values


def _identifier(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else bytes_of_id(value)


def _members(ids: Sequence[bytes | None], wanted: frozenset[bytes]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.fromiter((identifier in wanted for identifier in ids), bool, len(ids))
