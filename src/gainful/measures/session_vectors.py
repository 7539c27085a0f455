"""Session vectors: the value after every position, of real and of ideal sessions.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, ECIR 2008, section 3.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.lists import ordinal_in_row, running_sums, sum_by
from gainful.errors import UsageError
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cumulation import SessionGain, Worth


class Trajectories(NamedTuple):
    """Sessions position by position: whose it is, how many equal positions it stands for, and the values there."""

    session: Ints
    weight: Ints
    gained: Floats
    ideal: Floats


def mean_ratio(measure: SessionGain, block: SessionBlock) -> Floats:
    """The mean over all positions of a session of what it has gained as a share of the ideal."""
    found = _trajectories(measure, block)
    ratio = measure.ratio(found.gained, found.ideal)
    exists = ~np.isnan(ratio)
    session, weight = found.session[exists], found.weight[exists].astype(np.float64)
    summed = sum_by(session, ratio[exists] * weight, block.size)
    count = sum_by(session, weight, block.size)
    return np.where(count > 0, summed / np.maximum(count, 1.0), np.nan)


def same_positions(measure: SessionGain) -> int:
    """How many positions every query has; refuses measures of which that is not known."""
    if measure.cutoff is None or measure.scan != "k":
        raise UsageError(
            f"{measure}: expected the same number of positions for every query",
            f"write {measure.name}@10, without scan=recorded",
        )
    return measure.cutoff


def gained_and_ideal(block: SessionBlock, measure: SessionGain, queries: int) -> tuple[Floats, Floats]:
    """What sessions and ideal ones have given after every position, sessions x positions, of so many queries.

    After a session's last position its value stays as it is; of sessions with more queries the first ones count.

    >>> from gainful import Qrels, parse
    >>> from gainful.sessions.lists import hand_made
    >>> block = hand_made(Qrels.from_dict({"s": {"a": 2, "b": 1}}), {"s": [["a", "x"], ["b"]]})
    >>> gained_and_ideal(block, parse("sDCG(query_base=2)@2"), 3)[0].tolist()
    [[2.0, 2.0, 2.5, 2.5, 2.5, 2.5]]
    """
    width = queries * same_positions(measure)
    gained, ideal = np.zeros((block.size, width)), np.zeros((block.size, width))
    for chosen, part in block.parts(np.full(block.size, width)):
        found = _trajectories(measure, part, queries)
        column = ordinal_in_row(found.session) - 1
        counts = np.bincount(found.session, minlength=part.size)
        for vectors, values in ((gained[chosen], found.gained), (ideal[chosen], found.ideal)):
            vectors[found.session, column] = values
            _hold(vectors, counts)
    return gained, ideal


def _hold(vectors: Floats, counts: Ints) -> None:
    """Puts the last of so many values into all positions after it."""
    last = np.where(counts > 0, vectors[np.arange(counts.size), np.maximum(counts, 1) - 1], 0.0)
    after = np.arange(vectors.shape[1]) >= counts[:, None]
    vectors[:] = np.where(after, last[:, None], vectors)


def _trajectories(measure: SessionGain, block: SessionBlock, queries: int | None = None) -> Trajectories:
    """Real and ideal session position by position: of so many queries all, of all queries those that change a value.

    What follows a position without a change is part of it: that is its weight.
    """
    turns, positions = measure.ideal_turns(block), measure.positions(block)
    is_own = turns.own >= 0
    count = turns.depth.copy()
    count[is_own] = positions
    if queries is not None:
        count[turns.position > queries] = 0
    worth = measure.worth(block, np.minimum(measure.depths(block), count[is_own]))
    ideal = measure.ideal_worth(block, turns, turns.depth)
    kept = count
    if queries is None:
        last_change = np.bincount(ideal.turn, minlength=count.size)
        last_change[is_own] = np.maximum(last_change[is_own], block.shown)
        kept = np.minimum(count, np.maximum(last_change, 1))
    starts = np.concatenate(([0], np.cumsum(kept)))
    turn = np.repeat(np.arange(kept.size), kept)
    first_turns = np.searchsorted(turns.session, np.arange(block.size + 1))
    weight = np.ones(turn.size, np.int64)
    weight[starts[1:][kept > 0] - 1] += (count - kept)[kept > 0]
    by_query = measure.divisors_at(turns.position)
    steps = _steps(worth, by_query[is_own], starts[:-1][is_own], int(starts[-1]))
    gained = running_sums(starts[first_turns], steps)
    # All of the earlier queries' lists, whether or not the real ones were as long, and this one's down to the rank.
    earlier = np.append(0.0, running_sums(first_turns, measure.by_turn(ideal, turns.position)))[:-1]
    earlier[first_turns[:-1][np.diff(first_turns) > 0]] = 0.0
    inside = ideal.rank <= kept[ideal.turn]
    ideal = Worth(ideal.turn[inside], ideal.rank[inside], ideal.value[inside])
    so_far = running_sums(starts, _steps(ideal, by_query, starts[:-1], int(starts[-1]))) + earlier[turn]
    return Trajectories(turns.session[turn], weight, gained, so_far)


def _steps(worth: Worth, by_query: Floats, starts: Ints, count: int) -> Floats:
    """What is added at every position."""
    steps = np.zeros(count)
    steps[starts[worth.turn] + worth.rank - 1] = worth.value / by_query[worth.turn]
    return steps
