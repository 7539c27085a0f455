"""The best lists there can be, as sessions use them: repeated for every query, or dealt out over the queries."""

from __future__ import annotations

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.judged import Judged
from gainful.data.lists import GainLists, is_relevant, ordinal_in_row, running_sums
from gainful.gains import Gain


class IdealLists:
    """The ideal list of every judged query, and its discounted gain down to every rank. A query of -1 has none.

    ``lengths`` has one entry more, which -1 finds.
    """

    def __init__(self, lists: GainLists, divisors: Floats) -> None:
        self._gain = lists.gain
        self._starts = np.append(lists.offsets[:-1], 0)
        self.lengths: Ints = np.append(np.diff(lists.offsets), 0)
        # 0 comes first: what no document has given.
        self._totals = np.append(0.0, running_sums(lists.offsets, lists.gain / divisors[lists.rank - 1]))

    def total(self, query: Ints, depth: Ints) -> Floats:
        """The discounted gain of each query's ideal list down to a depth."""
        taken = np.minimum(depth, self.lengths[query])
        return np.asarray(self._totals[np.where(taken > 0, self._starts[query] + taken, 0)])

    def dealt(self, query: Ints, before: Ints, depth: Ints) -> tuple[Ints, Ints, Floats]:
        """So many documents of each query's ideal list after the ones before: turn, rank in the turn, and gain."""
        taken = np.clip(self.lengths[query] - before, 0, depth)
        turn = np.repeat(np.arange(query.size), taken)
        rank = ordinal_in_row(turn)
        return turn, rank, self._gain[(self._starts[query] + before)[turn] + rank - 1]


def unclipped_gains(grades: Floats) -> Floats:
    """2^grade - 1, below 0 for grades below 0."""
    # Close to 0 the difference would lose digits; at whole grades the power is exact.
    return np.where(np.abs(grades) < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def unclipped_lists(judged: Judged, rel: float | None, level: float | None) -> GainLists:
    """All judged documents of every query, the largest gain first; what gains less than nothing is at the end."""
    documents = judged.best_first[1]
    gains = unclipped_gains(documents.grade)
    if rel is not None or level is not None:
        gains = np.where(is_relevant(documents.grade, rel, level), gains, 0.0)
    order = np.lexsort((-gains, documents.row))
    row = documents.row[order]
    return GainLists(len(judged.qrels.query_ids), row, ordinal_in_row(row), gains[order])


def first_places(lists: GainLists, depth: int | None) -> GainLists:
    """The lists down to a depth."""
    return lists if depth is None else GainLists(lists.size, *lists.to(depth))


def ideal_gains(judged: Judged, gain: Gain | None, rel: float | None, level: float | None) -> GainLists:
    """The ideal lists under a gain map; None is the unclipped one."""
    return unclipped_lists(judged, rel, level) if gain is None else judged.ideal_lists(gain, rel, level)
