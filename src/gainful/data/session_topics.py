"""Topics that sessions have from elsewhere, such as from a table of a user study."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from gainful.data.sessions import Sessions
from gainful.errors import InputError, UsageError
from gainful.io.objects import read_id
from gainful.io.session_topics import read_topics
from gainful.notation import count_of, printable

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
