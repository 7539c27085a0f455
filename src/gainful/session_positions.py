"""Which queries of a session give how much: by their position, and the last one against all earlier ones.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, ECIR 2008, section 3.2 and Figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools, Floats, Ints
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.ranked_sessions import rank_sessions
from gainful.data.sessions import Sessions
from gainful.errors import UsageError
from gainful.evaluation import condenses
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.measures.session_block import SessionBlock, session_blocks
from gainful.measures.session_cumulation import SessionGain
from gainful.policy import Policy
from gainful.session_evaluation import check_session_measures, choose_judged_by


class LastAndEarlier(NamedTuple):
    """Mean sDCG vectors by rank, 1 to k: of the last queries, and of all earlier ones together; how many these are.

    Without any earlier query their vector is NaN.
    """

    last: Floats
    earlier: Floats
    last_count: int
    earlier_count: int


class ByPosition(NamedTuple):
    """For the first query of a session, the second, ...: how many sessions have it, and the mean sDCG of the query."""

    counts: Ints
    means: Floats


def last_and_earlier(
    qrels: QrelsLike,
    sessions: Sessions,
    measure: str | Measure = "sDCG@100",
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
) -> LastAndEarlier:
    """What the last query of sessions gives down to every rank, and what the earlier ones give, not normalised.

    Every query is discounted by its position. A session of one query has a last one only.

    >>> from gainful.session_lists import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["a", "b"], ["x", "b"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> found = last_and_earlier({"t": {"a": 1, "b": 2}}, sessions, "sDCG(query_base=2)@2")
    >>> found.last.tolist(), found.earlier.tolist()
    ([0.5, 0.75], [1.0, 2.0])
    """
    gain = _gain_measure(measure)
    if gain.cutoff is None:
        raise UsageError(f"{gain}: expected a cutoff, found none", f"write {gain.name}@100")
    sums: tuple[list[Floats], list[Floats]] = ([], [])
    counts = [0, 0]
    for block in _blocks(Judged(Qrels.of(qrels), Policy.of(policy)), sessions, gain, judged_by):
        is_last = np.zeros(block.session.size, bool)
        is_last[block.turn_offsets[1:][block.queries > 0] - 1] = True
        for i, chosen in enumerate((is_last, ~is_last)):
            counted = chosen & block.is_judged[block.session]
            sums[i].append(_summed_vectors(gain, block, counted))
            counts[i] += int(np.count_nonzero(counted))
    last, earlier = (_mean_vector(summed, count) for summed, count in zip(sums, counts, strict=True))
    return LastAndEarlier(last, earlier, *counts)


def by_position(
    qrels: QrelsLike,
    sessions: Sessions,
    measure: str | Measure = "sDCG@10",
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
) -> ByPosition:
    """What the first queries of sessions give on average, what the second ones give, and so on, not normalised.

    >>> from gainful.session_lists import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["a", "b"], ["b"]], "s2": [["b"]]}, {"s1": "t", "s2": "t"})
    >>> found = by_position({"t": {"a": 1, "b": 2}}, sessions, "sDCG(query_base=2)@2")
    >>> found.counts.tolist(), found.means.tolist()
    ([2, 1], [2.0, 1.0])
    """
    gain = _gain_measure(measure)
    longest = int(sessions.query_counts.max(initial=0))
    values: list[list[float]] = [[] for _ in range(longest)]
    for block in _blocks(Judged(Qrels.of(qrels), Policy.of(policy)), sessions, gain, judged_by):
        by_turn = gain.by_turn(gain.worth(block, gain.depths(block)), block.position)
        counted = block.is_judged[block.session]
        for q in range(int(block.queries.max(initial=0))):
            values[q].extend(by_turn[counted & (block.position == q + 1)].tolist())
    counts = np.array([len(each) for each in values], np.int64)
    means = np.array([math.fsum(each) / len(each) if each else math.nan for each in values])
    return ByPosition(counts, means)


def _gain_measure(measure: str | Measure) -> SessionGain:
    found = parse(measure)
    if not isinstance(found, SessionGain) or found.normalised or found.summary != "final":
        raise UsageError(f"{found}: expected sDCG, whose values by query are wanted", "write sDCG@10")
    return found


def _blocks(judged: Judged, sessions: Sessions, measure: SessionGain, judged_by: str | None) -> Iterator[SessionBlock]:
    judged_by = judged_by or choose_judged_by(judged.qrels, [sessions])
    ranked = rank_sessions(judged, sessions, judged_by, judged.policy)
    check_session_measures(judged, ranked, [measure])
    for _, make in session_blocks(judged, ranked):
        block = make()
        yield block.condensed() if condenses(measure, judged.policy) else block


def _summed_vectors(measure: SessionGain, block: SessionBlock, turns: Bools) -> Floats:
    """The sum of the chosen turns' vectors."""
    worth = measure.worth(block, measure.depths(block))
    chosen = turns[worth.turn] & (worth.rank <= (measure.cutoff or 0))
    values = worth.value / measure.divisors_at(block.position)[worth.turn]
    steps = np.bincount(worth.rank[chosen] - 1, values[chosen], minlength=measure.cutoff or 0)
    return np.asarray(np.cumsum(steps), np.float64)


def _mean_vector(summed: list[Floats], count: int) -> Floats:
    columns = np.array(summed).T if summed else np.zeros((0, 0))
    return np.array([math.fsum(column) / count if count else math.nan for column in columns.tolist()])
