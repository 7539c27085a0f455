"""Measures of a list beside the same list in another order: what was not retrieved does not count.

K. Järvelin and J. Kekäläinen, ACM TOIS 20(4), 2002, section 2.4, compare cumulated gain with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.data.lists import Documents, GainLists
from gainful.gains import Gain
from gainful.measures.arithmetic import Arithmetic, Step, found_by_rank, last, ranks_of, ratios
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.cumulated_gain import CumulatedGain, mean_over_ranks
from gainful.measures.precision import ratio

_LINEAR = Gain("linear")
_WHOLE_LIST = "the whole list is put into another order and then cut, so that what stands below k counts, too"


class _Reordered(CumulatedGain):
    """Cumulated gain beside that of the same list in its best order."""

    total = "CG"
    normalised = True
    shares_ideal = False
    discount = "none"
    base = 2.0
    needs_at = True
    nothing = "no retrieved document has a gain above 0"


@dataclass(frozen=True, eq=False, repr=False)
class SlidingRatio(_Reordered):
    """Sliding ratio: the gain by rank k beside that of the same list in its best order.

    Formula:
        SlidingRatio@k = CG[k] / CG[k] of the whole list in descending order of gain

    Conventions:
        - the whole list is reordered and then cut at k; what was not retrieved does not count (nCG counts it)
        - needs @k: to the end of the list every order gains the same
        - unjudged documents and negative grades have gain 0
        - no gain in the list: undefined
        - average=ranks is the mean of the ratios at ranks 1 to k

    Differs from:
        nCG, whose ideal list has all judged documents and stays the same however long the list is

    Reference:
        Pollack, Measures for the comparison of information retrieval systems, 1968; Järvelin and Kekäläinen, TOIS 2002,
        section 2.4

    Example:
        The list gains 3 + 2 + 3 = 8 by rank 5; in its best order 3 + 3 + 3 + 2 + 2 = 13.

        >>> from gainful import parse
        >>> parse("SlidingRatio@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]) == 8 / 13
        True
    """

    name = "SlidingRatio"
    exempt = {"cutoff": _WHOLE_LIST}
    gain: Gain = _LINEAR
    average: str | None = None
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def _ideal_lists(self, block: Block) -> GainLists:
        lists = GainLists.of(block.found, block.size, self.gain, block.scale, self.rel, self.level)
        return lists.best_first()


@dataclass(frozen=True, eq=False, repr=False)
class Satisfaction(_Reordered):
    """Satisfaction: the gain of the relevant documents by rank k beside that of the same list in its best order.

    Formula:
        Satisfaction@k = gains of the relevant documents in the top k / the same with the whole list in its best order

    Conventions:
        - the whole list is reordered and then cut at k; what was not retrieved does not count
        - needs @k: to the end of the list every order gains the same
        - as SlidingRatio, except that a document that is not relevant has no gain whatever the gain map gives it
        - nothing relevant in the list: undefined
        - average=ranks is the mean of the ratios at ranks 1 to k

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        The list gains 3 + 2 + 3 = 8 by rank 5; in its best order 3 + 3 + 3 + 2 + 2 = 13.

        >>> from gainful import parse
        >>> parse("Satisfaction@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]) == 8 / 13
        True
    """

    name = "Satisfaction"
    exempt = {"cutoff": _WHOLE_LIST}
    gain: Gain = _LINEAR
    average: str | None = None
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def _run_lists(self, block: Block) -> GainLists:
        return self._gains(block, block.relevant(self.rel, self.level))

    def _ideal_lists(self, block: Block) -> GainLists:
        return self._gains(block, block.found.relevant(self.rel, self.level)).best_first()

    def _gains(self, block: Block, relevant: Documents) -> GainLists:
        return GainLists.of(relevant, block.size, self.gain, block.scale, None, None)


@dataclass(frozen=True, eq=False, repr=False)
class Frustration(Measure):
    """Frustration: the non-relevant documents by rank k beside those of the same list in its worst order.

    Formula:
        Frustration@k = non-relevant documents in the top k / the same with all non-relevant documents first

    Conventions:
        - the whole list is reordered and then cut at k; lower is better
        - needs @k: to the end of the list every order is the same
        - unjudged documents are not relevant
        - nothing non-relevant in the list: undefined
        - average=ranks is the mean of the ratios at ranks 1 to k

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        Two of the first five are not relevant; in the worst order it would be all three that the list has.

        >>> from gainful import parse
        >>> round(parse("Frustration@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]), 4)
        0.6667
    """

    name = "Frustration"
    better = "lower"
    needs_at = True
    exempt = {
        "cutoff": _WHOLE_LIST,
        "perfect": "it is undefined where nothing is non-relevant",
        "append": "unjudged documents are non-relevant ones, and the worst order has them first",
    }
    average: str | None = None
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        relevant, k = block.relevant(self.rel, self.level), self.cutoff or 1
        wrong = block.retrieved - block.count(relevant)
        if self.average is None:
            shown = np.minimum(block.retrieved, k) - block.count(relevant, k)
            return ratio(shown, np.minimum(wrong, k))
        depth = min(k, block.width)
        found = np.zeros((block.size, depth))
        seen = relevant.rank <= depth
        found[relevant.row[seen], relevant.rank[seen] - 1] = 1.0
        ranks = np.arange(1, depth + 1)
        shown = np.minimum(ranks, block.retrieved[:, None]) - np.cumsum(found, axis=1)
        vectors = ratio(shown, np.minimum(ranks, wrong[:, None]))
        return mean_over_ranks(vectors, np.minimum(block.retrieved, depth), k)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns, k = found_by_rank(block, self.rel, self.level, self.cutoff), self.cutoff or 1
        ranks = ranks_of(columns["relevant"])
        wrong = int(block.retrieved[0] - block.count(block.relevant(self.rel, self.level))[0])
        columns = {
            "non-relevant": 1.0 - columns["relevant"],
            "non-relevant so far": ranks - columns["found"],
            "in the worst order": np.minimum(ranks, wrong),
        }
        columns[self.name] = ratios(columns["non-relevant so far"], columns["in the worst order"])
        if not wrong:
            step = Step(str(self), "0 / 0", (), math.nan, "nothing non-relevant was retrieved")
        elif self.average is not None:
            step = Step.mean_of(str(self), columns[self.name], k)
        else:
            step = Step.division(str(self), last(columns["non-relevant so far"]), last(columns["in the worst order"]))
        return Arithmetic(columns, (step,), adds="non-relevant", running=self.name)


@dataclass(frozen=True, eq=False, repr=False)
class SFTotal(Measure):
    """Satisfaction and frustration in one number: rewarded for relevant documents, punished for others.

    Formula:
        SFTotal@k = w Satisfaction@k + (1 - w) (1 - Frustration@k)

    Conventions:
        - w is 0.5 unless given
        - needs @k: to the end of the list every order is the same
        - nothing relevant, or nothing non-relevant in the list: undefined, unless w leaves that part out
        - average=ranks is the mean of the values at ranks 1 to k

    Reference:
        Myaeng and Korfhage, Integration of user profiles, 1990; Korfhage, Information Storage and Retrieval, 1997

    Example:
        Satisfaction@5 is 8 / 13, Frustration@5 is 2 / 3: (8 / 13 + 1 / 3) / 2.

        >>> from gainful import parse
        >>> round(parse("SFTotal@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]), 4)
        0.4744
    """

    name = "SFTotal"
    needs_at = True
    exempt = Frustration.exempt
    gain: Gain = _LINEAR
    w: float = 0.5
    average: str | None = None
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    @property
    def _parts(self) -> tuple[Satisfaction, Frustration]:
        common = (self.average, self.rel, self.level, self.unjudged, self.cutoff)
        return Satisfaction(self.gain, *common), Frustration(*common)

    def compute(self, block: Block) -> Floats:
        satisfaction, frustration = self._parts
        total = np.zeros(block.size)
        if self.w > 0:
            total += self.w * satisfaction.compute(block)
        if self.w < 1:
            total += (1.0 - self.w) * (1.0 - frustration.compute(block))
        return total

    def arithmetic(self, block: Block) -> Arithmetic:
        of_gain, of_wrong = (part.arithmetic(block) for part in self._parts)
        depth = max(of_gain.depth, of_wrong.depth)
        columns = {name: _held(values, depth) for name, values in {**of_gain.columns, **of_wrong.columns}.items()}
        s, f, w = of_gain.value, of_wrong.value, self.w
        if w in (0.0, 1.0):
            last_step = Step(str(self), "", (), s) if w else Step(str(self), "1 - {}", (f,), 1 - f)
        else:
            numbers = (w, s, 1 - w, f)
            last_step = Step(str(self), "{} * {} + {} * (1 - {})", numbers, w * s + (1 - w) * (1 - f))
        if math.isnan(last_step.value):
            last_step = Step(str(self), "", (), math.nan, "one of the two is undefined")
        steps = (*of_gain.steps, *of_wrong.steps, last_step)
        return Arithmetic(columns, steps, frozenset({"discount"}), "gain", "CG")


def _held(values: Floats, depth: int) -> Floats:
    """The values down to a rank; past the end of a list they have none."""
    return np.append(values, np.full(depth - values.size, np.nan))
