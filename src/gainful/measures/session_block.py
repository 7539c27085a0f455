"""What a session measure sees: some sessions whose results have met the judgments, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np

from gainful.arrays import Bools, Floats, Ints
from gainful.core import core
from gainful.data.judged import Judged
from gainful.data.lists import is_relevant
from gainful.data.ranked_sessions import RankedSessions
from gainful.gains import Gain

_T = TypeVar("_T")


class SessionBlock:
    """Some sessions. Turns are numbered through the block; ranks and positions count from 1.

    By session:  ``queries`` how many turns it has
    By turn:     ``session`` whose it is; ``position`` its place there; ``shown`` how many documents it shows;
                 ``judged_query`` which judged query its results are judged by, -1 where none does; ``scanned`` how
                 far the user looked, -1 where that is not known
    By document: ``turn``; ``rank``; ``item`` the judged item, -1 where there is none; ``grade``, NaN where there is no
                 judgment (a grade of the appearance itself beats the judgments); ``is_repeat``
    """

    def __init__(self, judged: Judged, sessions: RankedSessions, first: int, end: int, threads: int = 1) -> None:
        self.judged = judged
        self.scale = judged.scale
        self.size = end - first
        self._sessions, self._threads = sessions, threads
        turns = slice(int(sessions.turn_offsets[first]), int(sessions.turn_offsets[end]))
        self.queries: Ints = np.diff(sessions.turn_offsets[first : end + 1])
        self.turn_offsets: Ints = sessions.turn_offsets[first : end + 1] - turns.start
        self.session: Ints = np.repeat(np.arange(self.size), self.queries)
        self.position: Ints = np.arange(1, self.session.size + 1) - self.turn_offsets[:-1][self.session]
        self.judged_query: Ints = sessions.judged_query[turns]
        self.scanned: Ints = sessions.scanned[turns]
        offsets = sessions.list_offsets[turns.start : turns.stop + 1]
        self._documents = slice(int(offsets[0]), int(offsets[-1]))
        self.list_offsets: Ints = offsets - offsets[0]
        self.shown: Ints = np.diff(offsets)
        self.turn: Ints = np.repeat(np.arange(self.session.size), self.shown)
        self.rank: Ints = np.arange(1, self.turn.size + 1) - self.list_offsets[:-1][self.turn]
        self._cache: dict[object, object] = {}

    @cached_property
    def item(self) -> Ints:
        sessions, rows = self._sessions, self._documents
        return self.judged.index.find_items(
            self.judged_query,
            self.list_offsets,
            sessions.data,
            sessions.document_start[rows],
            sessions.document_length[rows],
            self._threads,
        ).astype(np.int64)

    @cached_property
    def grade(self) -> Floats:
        # One grade more, NaN, which -1 finds.
        grades = np.append(self.judged.grade, np.nan)[self.item]
        given = self._sessions.grade[self._documents]
        return np.where(np.isnan(given), grades, given) if given.size else grades

    @cached_property
    def is_repeat(self) -> Bools:
        """Whether the same document has come before in its session."""
        sessions, rows = self._sessions, self._documents
        return core.find_repeats(
            self.list_offsets[self.turn_offsets],
            sessions.data,
            sessions.document_start[rows],
            sessions.document_length[rows],
            self._threads,
        )

    def relevant(self, rel: float | None = None, level: float | None = None) -> Bools:
        """Which documents are relevant: grade above 0, at least ``rel``, or exactly ``level``."""
        return self.cached(("relevant", rel, level), lambda: is_relevant(self.grade, rel, level))

    def gains(self, gain: Gain, rel: float | None = None, level: float | None = None) -> Floats:
        """The gain of every document; 0 for those without a judgment. ``rel`` and ``level`` set all others to 0."""

        def made() -> Floats:
            gains = np.where(np.isnan(self.grade), 0.0, gain.of_grades(np.nan_to_num(self.grade), self.scale))
            return gains if rel is None and level is None else np.where(self.relevant(rel, level), gains, 0.0)

        return self.cached(("gains", gain, rel, level), made)

    def cached(self, key: object, make: Callable[[], _T]) -> _T:
        """What several measures need, made once for this block."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[return-value]
