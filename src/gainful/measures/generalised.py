"""Generalised precision and recall, with mean relevance in place of the share of relevant documents.

J. Kekäläinen and K. Järvelin, Using graded relevance assessments in IR evaluation, JASIST 53(13), 2002.
"""

from __future__ import annotations

import numpy as np

from gainful.data.lists import GainLists, cumulated
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import SCALED, Graded
from gainful.measures.block import Block, ratios

#: Tolerance for comparing recall, a sum of gains, with a level.
_ROUNDING = 1e-10

#: The recall levels of the curve.
_POINTS = tuple(tenth / 10 for tenth in range(11))


class Generalised(Graded):
    """A measure that sums relevance from 0 to 1."""

    gain: Gain = SCALED

    def _found(self, block: Block, cutoff: int | None) -> Floats:
        return self._to_1(self._run_lists(block), block).total(np.ones_like, cutoff)

    def _base(self, block: Block) -> Floats:
        return self._to_1(self._ideal_lists(block), block).total(np.ones_like, None)

    def _to_1(self, lists: GainLists, block: Block) -> GainLists:
        highest = self.gain.highest(block.scale) or 1.0
        return lists if highest == 1.0 else GainLists(lists.size, lists.row, lists.rank, lists.gain / highest)

    def _curve(self, block: Block) -> tuple[Ints, Floats, Floats, Floats]:
        """Return row, precision and recall at each rank with a gain, and the sum over each query's recall base."""

        def curve() -> tuple[Ints, Floats, Floats, Floats]:
            lists, base = self._to_1(self._run_lists(block), block), self._base(block)
            sums = cumulated(lists.row, lists.gain, block.size)
            return lists.row, sums / lists.rank, sums / base[lists.row], base

        return block.cached(("generalised curve", self.gain, self.rel, self.level), curve)


class GP(Generalised, takes="cutoff"):
    """Generalised precision: the mean relevance of the first k documents.

    Formula:
        gP@k = sum of r(d) over the top k / k

    r(d) is the gain of a document scaled to 1: by default its grade / scale (gain=scaled); with another map, its gain /
    the highest gain of the map. With gain=binary it is precision.

    Conventions:
        - divides by k even if the list is shorter
        - unjudged documents and negative grades have r = 0
        - rel and level set other gains to 0 without changing the scale
        - no relevant documents: 0

    Reference:
        Kekäläinen and Järvelin, JASIST 2002 (for sets); Järvelin and Kekäläinen, TOIS 2002, section 2.4 (for cut-offs)

    Example:
        Grades 3, 0 and 1 of at most 3: (1 + 0 + 1/3) / 4.

        >>> round(gainful.parse("gP@4").score([3, 0, 1]), 4)
        0.3333
    """

    name = "gP"
    needs_at = True

    def compute(self, block: Block) -> Floats:
        return self._found(block, self.cutoff) / float(self.cutoff or 1)


class GR(Generalised, takes="cutoff"):
    """Generalised recall: the share of the total relevance that is in the first k documents.

    Formula:
        gR@k = sum of r(d) over the top k / sum of r(d) over all judged documents

    r(d) is the gain of a document, as in gP; the scale cancels out. With gain=binary it is recall.

    Conventions:
        - the recall base is never cut
        - unjudged documents and negative grades have r = 0
        - no document with a gain above 0: undefined

    Reference:
        Kekäläinen and Järvelin, JASIST 2002 (for sets); Järvelin and Kekäläinen, TOIS 2002, section 2.4 (for cut-offs)

    Example:
        Grades 3 and 1 are found, 2 is missed: (3 + 1) / 6.

        >>> round(gainful.parse("gR@4").score([3, 0, 1], unretrieved=[2]), 4)
        0.6667
    """

    name = "gR"
    needs_at = True

    def compute(self, block: Block) -> Floats:
        # The same gains added in another order may differ in the last bit.
        return np.minimum(ratios(self._found(block, self.cutoff), self._base(block)), 1.0)


class GIPrec(Generalised):
    """Interpolated generalised precision: the maximum at a level of generalised recall or above.

    Formula:
        gIPrec@r = max of gP@i over the ranks i with gR@i >= r

    Conventions:
        - r is a recall level from 0 to 1; gIPrec@0 is the maximum generalised precision at any rank
        - recall level not reached: 0
        - no document with a gain above 0: undefined
        - recalls that differ by less than 1e-10 are equal; recall-cut does not apply, because recall is a sum of gains

    Agrees with:
        IPrec@r, with gain=binary and recall-cut=exact

    Reference:
        Kekäläinen and Järvelin, JASIST 2002: precision as a function of recall, both generalised

    Example:
        Grades 3, 0, 1 of at most 3: recall 1 takes all three documents, (1 + 0 + 1/3) / 3.

        >>> round(gainful.parse("gIPrec@0.5").score([3, 0, 1]), 4), round(gainful.parse("gIPrec@1").score([3, 0, 1]), 4)
        (1.0, 0.4444)
    """

    name = "gIPrec"
    at = "recall"
    needs_at = True
    recall: float | None = None

    def compute(self, block: Block) -> Floats:
        (row, precision, recall, base), scores = self._curve(block), np.zeros(block.size)
        reached = recall >= (self.recall or 0.0) - _ROUNDING
        np.maximum.at(scores, row[reached], precision[reached])
        return np.where(base == 0, np.nan, scores)


class GIAP(Generalised):
    """Interpolated generalised average precision: the mean over eleven recall levels.

    Formula:
        gIAP = (gIPrec@0 + gIPrec@0.1 + ... + gIPrec@1) / 11

    Conventions:
        - recall levels not reached add 0
        - no document with a gain above 0: undefined

    Reference:
        Kekäläinen and Järvelin, JASIST 2002: precision as a function of recall, both generalised, at eleven points

    Example:
        Grades 3, 0, 1 of at most 3: rank 1 has gP 1 and gR 3/4, rank 3 has gP 4/9 and gR 1: (8 * 1 + 3 * 4/9) / 11.

        >>> round(gainful.parse("gIAP").score([3, 0, 1]), 4)
        0.8485
    """

    name = "gIAP"

    def compute(self, block: Block) -> Floats:
        (row, precision, recall, base), points = self._curve(block), len(_POINTS)
        # The last point that each rank reaches; its precision counts for all points up to it.
        reached = np.searchsorted(_POINTS, recall + _ROUNDING, "right") - 1
        best = np.zeros(block.size * points)
        np.maximum.at(best, row * points + reached, precision)
        interpolated = np.maximum.accumulate(best.reshape(block.size, points)[:, ::-1], axis=1)
        return np.where(base == 0, np.nan, np.cumsum(interpolated, axis=1)[:, -1] / points)
