"""How often the last query of a session is its best one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gainful import Sessions
from gainful.data.judged import Judged
from gainful.tasks.sessions.session_evaluation import score_systems


class LastAgainstBest(NamedTuple):
    """The number of sessions with several queries and some gain, and of those in which no query beats the last.

    Queries are compared with the discount by position (``last_is_best``) or without it (``last_is_best_list``).
    ``without_gain`` is the number of sessions with several queries and no gain.
    """

    sessions: int
    last_is_best: int
    last_is_best_list: int
    without_gain: int


NO_SESSIONS = LastAgainstBest(0, 0, 0, 0)


def last_against_best(
    judged: Judged, parts: Mapping[str, Iterable[Sessions]], measure: Any, **how: Any
) -> dict[str, LastAgainstBest]:
    """Compare the last queries of each system's sessions with the others, by sDCG; only judged queries count."""
    values: dict[str, _QueryValues] = {}

    def watch(system: str) -> Any:
        values[system] = _QueryValues(measure)
        return values[system].add

    evaluations, _ = score_systems(judged, parts, [measure], [watch], **how)
    return {system: values[system].found() for system in evaluations}


class _QueryValues:
    """Collector of the values of judged queries: session, whether it is the last, with and without the discount."""

    def __init__(self, measure: Any) -> None:
        self._measure, self._sessions, self._columns = measure, 0, list[Any]()

    def add(self, part: Sessions, chosen: slice, block: Any) -> None:
        seen = block.seen_by(self._measure)
        worth = self._measure.worth(seen, self._measure.depths(seen))
        positions = seen.position, np.ones_like(seen.position)
        values = (self._measure.by_turn(worth, each) for each in positions)
        columns = block.session + self._sessions, block.is_last_turn, *values
        self._sessions += block.size
        self._columns.append(tuple(column[block.is_judged_turn] for column in columns))

    def found(self) -> LastAgainstBest:
        session, is_last, *values = (np.concatenate(each) for each in zip(*self._columns, strict=True))
        if not session.size:
            return NO_SESSIONS
        starts = np.flatnonzero(np.diff(session, prepend=-1))
        ends = np.append(starts[1:], session.size) - 1
        # If judgments are by query, the last query may have none.
        several = (ends > starts) & is_last[ends]
        # A tie with the best counts as best.
        (last_value, best), (last_list, best_list) = (
            (each[ends][several], np.maximum.reduceat(each, starts)[several]) for each in values
        )
        gains = best > 0
        numbers = (gains, gains & (last_value >= best), gains & (last_list >= best_list), ~gains)
        return LastAgainstBest(*(int(np.count_nonzero(each)) for each in numbers))
