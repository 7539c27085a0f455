"""Measures of the order of a list, relative to its best or worst order, or pair by pair.

K. Järvelin and J. Kekäläinen, ACM TOIS 20(4), 2002, section 2.4, compare cumulated gain with them.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from gainful.data.lists import Documents, GainLists, ordinal_in_row
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure, OfGains
from gainful.measures.block import Block, ratios
from gainful.measures.cumulated_gain import Undiscounted, mean_over_ranks
from gainful.measures.precision import OfRelevant

_WHOLE_LIST = "the whole list is reordered before it is cut, so documents below k also count"


class _Reordered(Undiscounted):
    """Cumulated gain relative to the same list in its best order."""

    normalised = True
    shares_ideal = False
    needs_at = True
    nothing = "no retrieved document has a gain above 0"
    exempt = {"cutoff": _WHOLE_LIST}


class SlidingRatio(_Reordered):
    """Sliding ratio: the gain of the first k documents relative to the same list in its best order.

    Formula:
        SlidingRatio@k = CG[k] / CG[k] of the whole list in descending order of gain

    Conventions:
        - the whole list is reordered and then cut at k; documents not retrieved do not count (in nCG they do)
        - requires @k: at the end of the list, every order has the same gain
        - no documents with a gain in the list: undefined

    Differs from:
        nCG, whose ideal list has all judged documents

    Reference:
        Pollack, Measures for the comparison of information retrieval systems, 1968; Järvelin and Kekäläinen, TOIS 2002

    Example:
        The list gains 3 + 2 + 3 = 8 by rank 5, in its best order 3 + 3 + 3 + 2 + 2 = 13.

        >>> gainful.parse("SlidingRatio@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]) == 8 / 13
        True
    """

    name = "SlidingRatio"

    def _ideal_lists(self, block: Block) -> GainLists:
        return GainLists.of(block.found, block.size, self.gain, block.scale, self.rel, self.level).best_first()


class Satisfaction(_Reordered):
    """Satisfaction: the gain of relevant documents in the top k relative to the same list in its best order.

    Formula:
        Satisfaction@k = gain of relevant documents in the top k / the same after sorting the list by gain

    Conventions:
        - the whole list is reordered and then cut at k; documents not retrieved do not count
        - requires @k: at the end of the list, every order has the same gain
        - as SlidingRatio, except that non-relevant documents have gain 0 whatever the gain map
        - no relevant documents in the list: undefined

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        The list gains 3 + 2 + 3 = 8 by rank 5, in its best order 3 + 3 + 3 + 2 + 2 = 13.

        >>> gainful.parse("Satisfaction@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]) == 8 / 13
        True
    """

    name = "Satisfaction"

    def _run_lists(self, block: Block) -> GainLists:
        return self._gains(block, block.relevant(self.rel, self.level))

    def _ideal_lists(self, block: Block) -> GainLists:
        return self._gains(block, block.found.relevant(self.rel, self.level)).best_first()

    def _gains(self, block: Block, relevant: Documents) -> GainLists:
        return GainLists.of(relevant, block.size, self.gain, block.scale, None, None)


class Frustration(OfRelevant, takes="average rel level unjudged cutoff"):
    """Frustration: non-relevant documents in the top k relative to the same list in its worst order.

    Formula:
        Frustration@k = non-relevant documents in the top k / the same with all non-relevant documents first

    Conventions:
        - the whole list is reordered and then cut at k; lower is better
        - requires @k: at the end of the list, every order has the same value
        - unjudged documents are not relevant
        - no non-relevant documents in the list: undefined
        - average=ranks is the mean of the ratios at ranks 1 to k

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        Two of the first five documents are non-relevant; in the worst order, all three would be.

        >>> round(gainful.parse("Frustration@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]), 4)
        0.6667
    """

    name = "Frustration"
    better = "lower"
    needs_at = True
    exempt = {
        "cutoff": _WHOLE_LIST,
        "perfect": "it is undefined without non-relevant documents",
        "append": "unjudged documents count as non-relevant, and the worst order has them first",
    }
    average = cast("str | None", None)

    def compute(self, block: Block) -> Floats:
        relevant, k = self._relevant(block), self.cutoff or 1
        wrong = block.retrieved - block.count(relevant)
        if self.average is None:
            shown = np.minimum(block.retrieved, k) - block.count(relevant, k)
            return ratios(shown, np.minimum(wrong, k))
        depth = min(k, block.width)
        found = np.zeros((block.size, depth))
        seen = relevant.rank <= depth
        found[relevant.row[seen], relevant.rank[seen] - 1] = 1.0
        ranks = np.arange(1, depth + 1)
        shown = np.minimum(ranks, block.retrieved[:, None]) - np.cumsum(found, axis=1)
        vectors = ratios(shown, np.minimum(ranks, wrong[:, None]))
        return mean_over_ranks(vectors, np.minimum(block.retrieved, depth), k)


class SFTotal(OfGains, takes="gain w average rel level unjudged cutoff"):
    """Weighted mean of satisfaction and (1 - frustration).

    Formula:
        SFTotal@k = w Satisfaction@k + (1 - w) (1 - Frustration@k)

    Conventions:
        - w is 0.5 by default
        - requires @k: at the end of the list, every order has the same value
        - undefined if a part with nonzero weight is
        - average=ranks is the mean of the values at ranks 1 to k

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        Satisfaction@5 is 8 / 13, Frustration@5 is 2 / 3: (8 / 13 + 1 / 3) / 2.

        >>> round(gainful.parse("SFTotal@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]), 4)
        0.4744
    """

    name = "SFTotal"
    needs_at = True
    exempt = Frustration.exempt
    w = 0.5
    average = cast("str | None", None)

    def compute(self, block: Block) -> Floats:
        common = (self.average, self.rel, self.level, self.unjudged, self.cutoff)
        total = np.zeros(block.size)
        if self.w > 0:
            total += self.w * Satisfaction(self.gain, *common).compute(block)
        if self.w < 1:
            total += (1.0 - self.w) * (1.0 - Frustration(*common).compute(block))
        return total


class NDPM(Measure):
    """Normalised distance-based performance measure: how often a ranking contradicts the user's preferences.

    Formula:
        NDPM = (2 C- + Cu) / (2 C)

    Of C pairs of judged documents with different grades, C- have the worse document first, and Cu are tied.

    Conventions:
        - lower is better: 0 for the order of the grades, 1 for its reverse, 0.5 if all scores are equal
        - equal scores are ties; judged documents not retrieved are tied below the retrieved ones
        - unjudged documents are in no pair; negative grades are worse than 0
        - fewer than two different grades: undefined
        - a run without scores has no ties

    Agrees with:
        (1 - D) / 2, where D is Somers' D of the system's order given the grades (scipy.stats.somersd)

    Reference:
        Yao, Measuring retrieval effectiveness based on user preference of documents, JASIS 46, 1995

    Example:
        Grades 1, 2, 0 in this order: one of three pairs is reversed.

        >>> round(gainful.parse("NDPM").score([1, 2, 0]), 4)
        0.3333
    """

    name = "NDPM"
    better = "lower"
    needs = frozenset({"ties"})
    exempt = {
        "perfect": "negative grades and 0 are distinguished, so not only relevant documents count",
        "swap": "an unjudged document is in no pair, so swapping it moves one document alone",
    }

    def compute(self, block: Block) -> Floats:
        hits, missed, size, levels = block.hits, block.missed, block.size, block.graded.judged.levels
        row, first, code = hits.row, block.hit_ties[0], np.searchsorted(levels, hits.grade)
        # Order ties best first, so that no tied pair rises.
        code = code[np.lexsort((-code, first, row))]
        missed_code = np.searchsorted(levels, missed.grade)
        tied = _pairs_in_runs(size, row, first) - _pairs_in_runs(size, row, first, code)
        tied += _pairs_in_runs(size, missed.row) - _pairs_in_runs(size, missed.row, missed_code)
        found, lost = np.bincount(row, minlength=size), np.bincount(missed.row, minlength=size)
        start = np.cumsum(found + lost) - found - lost
        codes = np.empty(row.size + missed.row.size, np.int64)
        codes[start[row] + ordinal_in_row(row) - 1] = code
        codes[(start + found)[missed.row] + missed.rank - 1] = missed_code
        rows = np.repeat(np.arange(size), found + lost)
        alike = np.sort(rows * levels.size + codes)
        # All pairs of documents with different grades.
        pairs = _pairs_in_runs(size, rows) - _pairs_in_runs(size, alike // levels.size, alike)
        return ratios(2.0 * _rising_pairs(rows, codes, size) + tied, 2.0 * pairs)


def _pairs_in_runs(size: int, row: Ints, *keys: Ints | Floats) -> Floats:
    """Count each row's pairs within runs of equal keys."""
    if not row.size:
        return np.zeros(size)
    changes = row[1:] != row[:-1]
    for key in keys:
        changes = changes | (key[1:] != key[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    lengths = np.diff(starts, append=row.size)
    return np.asarray(np.bincount(row[starts], lengths * (lengths - 1) / 2.0, minlength=size), np.float64)


def _rising_pairs(row: Ints, codes: Ints, size: int) -> Floats:
    """Count the pairs of each row whose earlier code is lower than the later one.

    From the highest bit of the codes to the lowest: two codes with equal higher bits rise if the earlier has a 0 and
    the later a 1. Codes with a 0 and with a 1 are then separated, stably, so the steps are the bits of a code.

    >>> _rising_pairs(np.array([0, 0, 0, 1, 1]), np.array([1, 0, 2, 0, 5]), 2).tolist()
    [2.0, 1.0]
    """
    rising = np.zeros(size)
    if not row.size:
        return rising
    length = np.bincount(row, minlength=size)
    end = np.cumsum(length)[row]
    start = end - length[row]
    for bit in reversed(range(int(codes.max()).bit_length())):
        is_one = (codes >> bit) & 1 == 1
        zeros = np.concatenate(([0], np.cumsum(~is_one)))
        before = zeros[:-1] - zeros[start]
        rising += np.bincount(row[is_one], before[is_one], minlength=size)
        if bit:
            middle = start + zeros[end] - zeros[start]
            place = np.where(is_one, middle + np.arange(row.size) - start - before, start + before)
            moved = np.empty((3, row.size), np.int64)
            moved[:, place] = codes, np.where(is_one, middle, start), np.where(is_one, end, middle)
            codes, start, end = moved
    return rising
