"""Measures of NTCIR: the expected utility for a population of users who stop at different ranks.

All but GAP are a sum over the ranks of relevant documents of a stopping probability times a utility: precision, or the
*blended ratio* of precision and cumulated gain, which uses grades. They differ in where users stop (T. Sakai and S.
Robertson, Modelling a user population for designing information retrieval metrics, EVIA 2008).
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from gainful.data.lists import GainLists, TiedGainLists, highest_gain, ordinal_in_row, running_sums, sum_by
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.measures.arithmetic import Arithmetic, Step, last, seen
from gainful.measures.base import LINEAR, Graded
from gainful.measures.block import Block, ratios
from gainful.measures.expected import expected_blended
from gainful.measures.user_models import cascade


class Stops:
    """The relevant documents down to a cutoff, at which users may stop, with their utility."""

    def __init__(self, run: GainLists, ideal: GainLists, cutoff: int | None) -> None:
        self.size, self.ideal = run.size, ideal
        self.row, self.rank, self.gain = run.to(cutoff)
        self._offsets = GainLists(run.size, self.row, self.rank, self.gain).offsets
        #: Relevant documents per query, and how many of them a list of k can hold.
        self.base: Ints = np.diff(ideal.offsets)
        self.held = self.base if cutoff is None else np.minimum(self.base, cutoff)

    @cached_property
    def found(self) -> Ints:
        """The number of relevant documents down to each one."""
        return ordinal_in_row(self.row)

    def blended(self, beta: float) -> Floats:
        """Return the blended ratio: (found + beta CG) / (rank + beta ideal CG)."""
        gained = running_sums(self._offsets, self.gain)
        best = np.append(running_sums(self.ideal.offsets, self.ideal.gain), 0.0)
        reached = self.ideal.offsets[self.row] + np.minimum(self.rank, self.base[self.row]) - 1
        return np.asarray((self.found + beta * gained) / (self.rank + beta * best[reached]))

    def preferred(self) -> Ints:
        """Return, for each document, the rank of the first one with the highest gain in its list."""
        best = np.zeros(self.size)
        np.maximum.at(best, self.row, self.gain)
        is_best = self.gain == best[self.row]
        first = np.full(self.size, np.iinfo(np.int64).max)
        np.minimum.at(first, self.row[is_best], self.rank[is_best])
        return np.asarray(first[self.row])


class _Stopping(Graded, takes="cutoff"):
    """A sum over relevant documents of stopping probability times utility down to there."""

    #: The name of the utility.
    utility_name: ClassVar[str] = "BR"
    #: Whether it divides by the number of relevant documents, and so is undefined without any.
    is_share: ClassVar[bool] = True

    def stopping(self, stops: Stops, block: Block) -> Floats:
        """Return the probability of stopping at each relevant document."""
        raise NotImplementedError

    def utility(self, stops: Stops) -> Floats:
        """Return the utility down to each relevant document."""
        raise NotImplementedError

    def _stops(self, block: Block) -> Stops:
        return Stops(self._run_lists(block), self._ideal_lists(block), self.cutoff)

    def compute(self, block: Block) -> Floats:
        stops = self._stops(block)
        terms = self.stopping(stops, block) * self.utility(stops)
        # Rounding must not lift a sum of probabilities above 1.
        scores = np.minimum(sum_by(stops.row, terms, block.size), 1.0)
        return np.where(stops.base == 0, np.nan, scores) if self.is_share else scores

    def arithmetic(self, block: Block) -> Arithmetic:
        stops, length = self._stops(block), seen(block, self.cutoff)

        def by_rank(values: Floats | Ints) -> Floats:
            column = np.zeros(length)
            column[stops.rank - 1] = values
            return column

        gains, stop, utility = by_rank(stops.gain), by_rank(self.stopping(stops, block)), by_rank(self.utility(stops))
        columns = {"gain": gains, "CG": np.cumsum(gains), self.utility_name: utility, "stops": stop}
        columns |= {"adds": stop * utility, "sum": np.cumsum(stop * utility)}
        if self.is_share and not stops.base[0]:
            step = Step.undefined(str(self), "no document has a gain above 0")
        else:
            step = Step.sum_of(str(self), columns["adds"], last(columns["sum"])).capped()
        return Arithmetic(columns, (step,), adds="gain", running="sum")


class _Blended(_Stopping):
    """A measure whose utility is the blended ratio."""

    meanings = {"beta": "the weight of cumulated gain in the blended ratio; 0 leaves precision"}
    exempt = {"swap": "past the recall base the ideal gains nothing, so a document may have a higher ratio lower down"}
    beta: float = 1.0

    def utility(self, stops: Stops) -> Floats:
        return stops.blended(self.beta)


class Q(_Blended):
    """Q-measure: average precision generalised to graded relevance by the blended ratio.

    Formula:
        Q = 1/n * sum over relevant documents at rank i of BR(i)
        BR(i) = (C(i) + beta CG[i]) / (i + beta ideal CG[i])

    C(i) of n relevant documents are down to rank i. BR is the blended ratio: with beta=0 it is precision, and Q is AP.

    Conventions:
        - documents with a gain above 0 are relevant
        - Q@k stops at rank k and divides by min(n, k)
        - no document with a gain above 0: undefined

    Agrees with:
        NTCIREVAL Q-measure and Q@k
    Differs from:
        AP@k here, which divides by n

    Reference:
        Sakai, On the reliability of information retrieval metrics based on graded relevance, IPM 43(2), 2007

    Example:
        Grades 1, 0, 2: BR(1) = (1 + 1)/(1 + 2), BR(3) = (2 + 3)/(3 + 3).

        >>> gainful.parse("Q").score([1, 0, 2])
        0.75
    """

    name = "Q"

    def compute(self, block: Block) -> Floats:
        run, ideal = self._run_lists(block), self._ideal_lists(block)
        if not isinstance(run, TiedGainLists):
            return super().compute(block)
        base = np.diff(ideal.offsets)
        held = base if self.cutoff is None else np.minimum(base, self.cutoff)
        return np.minimum(ratios(expected_blended(run, ideal, self.beta, self.cutoff), held), 1.0)

    def stopping(self, stops: Stops, block: Block) -> Floats:
        return np.asarray(1.0 / stops.held[stops.row])


class O(_Blended):  # noqa: E742  (its name in the literature)
    """O-measure: the blended ratio at the first relevant document.

    Formula:
        O = BR(i) at the rank i of the first relevant document

    BR is the blended ratio of Q.

    Conventions:
        - no relevant document retrieved (with O@k, in the top k): 0
        - no relevant documents: 0

    Agrees with:
        NTCIREVAL O-measure

    Reference:
        Sakai, On the task of finding one highly relevant document with high precision, IPSJ TOD 29, 2006

    Example:
        The first relevant document, of grade 1, is at rank 2: (1 + 1)/(2 + 3).

        >>> gainful.parse("O").score([0, 1, 2])
        0.4
    """

    name = "O"
    is_share = False

    def stopping(self, stops: Stops, block: Block) -> Floats:
        return np.asarray(stops.found == 1, np.float64)


class PMeasure(_Blended):
    """P-measure: the blended ratio at the first document with the highest gain in the list.

    Formula:
        P-measure = BR(i) at the preferred rank i

    The preferred rank is that of the first document with the highest gain. BR is the blended ratio of Q.

    Conventions:
        - no relevant document retrieved: 0
        - no relevant documents: 0
        - P-measure@k uses the first k documents, also for the preferred rank

    Agrees with:
        NTCIREVAL P-measure

    Reference:
        Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ TOD 35, 2007

    Example:
        The best document is at rank 3: (2 + 3)/(3 + 3).

        >>> round(gainful.parse("P-measure").score([0, 1, 2]), 4)
        0.8333
    """

    name = "P-measure"
    is_share = False

    def stopping(self, stops: Stops, block: Block) -> Floats:
        return np.asarray(stops.rank == stops.preferred(), np.float64)


class PPlus(_Blended):
    """P+: the mean blended ratio over relevant documents down to the first one with the highest gain.

    Formula:
        P+ = 1/C(p) * sum over relevant documents at rank i <= p of BR(i)

    p is the preferred rank, as in P-measure. BR is the blended ratio of Q.

    Conventions:
        - no relevant document retrieved: 0
        - no relevant documents: 0
        - P+@k uses the first k documents, also for the preferred rank

    Agrees with:
        NTCIREVAL P+

    Reference:
        Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ TOD 35, 2007

    Example:
        Relevant documents at ranks 2 and 3, the better one last: ((1 + 1)/(2 + 3) + (2 + 3)/(3 + 3)) / 2.

        >>> round(gainful.parse("P+").score([0, 1, 2]), 4)
        0.6167
    """

    name = "P+"
    is_share = False

    def stopping(self, stops: Stops, block: Block) -> Floats:
        chosen = stops.rank <= stops.preferred()
        counts = np.bincount(stops.row[chosen], minlength=stops.size)
        return np.where(chosen, 1.0 / np.maximum(counts, 1)[stops.row], 0.0)


class NCU(_Blended):
    """Normalised cumulative utility: the expected utility of users who stop more often at good or early documents.

    Formula:
        NCU = sum over relevant documents at rank i of p(i) U(i)

    With stop=graded, p(i) is the weight of the document's grade (stops) / the weights of all relevant documents. With
    stop=rank, it is gamma^(C(i) - 1) / the sum of gamma^(j - 1) for j = 1 to n; with gamma below 1, users are content
    sooner. U is the blended ratio BR of Q, or precision with beta=0.

    Conventions:
        - NCUguBR and NCUrbBR are short names for stop=graded and stop=rank, NCUguP and NCUrbP the same with beta=0
        - stops is a gain map, by default the grade; it applies to stop=graded, gamma to stop=rank
        - a relevant document that was not retrieved adds 0
        - no document with a gain above 0: undefined

    Agrees with:
        NTCIREVAL NCUgu,P and NCUgu,BR; NCUrb,P and NCUrb,BR with gamma=0.95, its default
    Differs from:
        NTCIREVAL NCUrb,P@k and NCUrb,BR@k, which divide by min(n, k)

    Reference:
        Sakai and Robertson, Modelling a user population for designing information retrieval metrics, EVIA 2008

    Example:
        Grades 1, 0, 2 with weights 1 and 2: 1/3 * (1 + 1)/(1 + 2) + 2/3 * (2 + 3)/(3 + 3).

        >>> round(gainful.parse("NCU").score([1, 0, 2]), 4)
        0.7778
    """

    name = "NCU"
    exempt = {**_Blended.exempt, "perfect": "users may stop most often at documents other than the best"}
    stop: str = "graded"
    stops: Gain = LINEAR
    gamma: float = 0.99

    def _unused(self) -> frozenset[str]:
        return frozenset({"gamma"} if self.stop == "graded" else {"stops"})

    def check(self, levels: Floats) -> None:
        super().check(levels)
        self.stops.check(levels)

    def stopping(self, stops: Stops, block: Block) -> Floats:
        if self.stop == "rank":
            weights = self.gamma ** np.arange(max(1, int(stops.base.max(initial=0))))
            totals = np.append(0.0, np.cumsum(weights))[stops.base]
            return np.asarray(weights[stops.found - 1] / totals[stops.row])
        judged = block.judged
        if self.rel is not None or self.level is not None:
            judged = judged.relevant(self.rel, self.level)
        is_relevant = self.gain.of_grades(judged.grade, block.scale) > 0
        weight = self.stops.of_grades(judged.grade, block.scale) * is_relevant
        totals = sum_by(judged.row, weight, stops.size)
        lists = block.gain_lists(self.stops, self.rel, self.level).dense(max(1, int(stops.rank.max(initial=0))))
        return np.nan_to_num(ratios(lists[stops.row, stops.rank - 1], totals[stops.row]))


#: Up to this many distinct gains are processed one at a time.
_FEW = 16


def _sums_of_smaller(row: Ints, gain: Floats) -> Floats:
    """Return for each document the sum, over documents down to it in its row, of the smaller of both gains."""
    shared, below, thresholds = np.zeros(row.size), 0.0, distinct(gain)
    if thresholds.size > _FEW:
        return _sums_by_halves(row, gain)
    for threshold in thresholds.tolist():
        # Pairs that reach the threshold share at least that; the share below is already counted.
        reached = gain >= threshold
        shared[reached] += (threshold - below) * ordinal_in_row(row[reached])
        below = threshold
    return shared


def _sums_by_halves(row: Ints, gain: Floats) -> Floats:
    """Do the same for many distinct gains, merging neighbouring parts of a row sorted by gain, as in merge sort."""
    place, shared = ordinal_in_row(row) - 1, gain.copy()
    longest, half = int(place.max(initial=0)) + 1, 1
    while half < longest:
        part = row * longest + place // (2 * half)
        order = np.lexsort((gain, part))
        is_left, of_part = (place[order] // half) % 2 == 0, np.flatnonzero(np.diff(part[order], prepend=-1))
        offsets = np.append(of_part, row.size)
        smaller = running_sums(offsets, np.where(is_left, gain[order], 0.0))
        count = np.cumsum(is_left)
        larger = np.repeat(count[offsets[1:] - 1], np.diff(offsets)) - count
        shared[order] += np.where(is_left, 0.0, smaller + larger * gain[order])
        half *= 2
    return shared


class GAP(Graded, takes="cutoff"):
    """Graded average precision: expected AP for users with different relevance thresholds.

    Formula:
        GAP = sum over ranks i of 1/i * sum over ranks j <= i of min(G[i], G[j]), divided by the sum of all judged gains

    The gain of a grade is proportional to the share of users whose threshold is that grade or lower.

    Conventions:
        - with gain=binary it is AP; with gain=linear, thresholds are equally likely for all grades above 0
        - GAP@k stops at rank k but still divides by all gains
        - no document with a gain above 0: undefined

    Differs from:
        - NTCIREVAL GAP, which weights level l by l (l + 1), as gain=0-2-6-12; GAP@k divides by the ideal top k's gains
        - muAP, which averages AP over levels; in GAP, a level counts once per document

    Reference:
        Robertson, Kanoulas and Yilmaz, Extending average precision to graded relevance judgments, SIGIR 2010

    Example:
        Grades 1, 0, 2: (1/1 * 1 + 1/3 * (min(2, 1) + 2)) / (1 + 2).

        >>> round(gainful.parse("GAP").score([1, 0, 2]), 4)
        0.6667
    """

    name = "GAP"

    def compute(self, block: Block) -> Floats:
        row, rank, gain = self._run_lists(block).to(self.cutoff)
        ideal, shared = self._ideal_lists(block), _sums_of_smaller(row, gain)
        scores = ratios(sum_by(row, shared / rank, block.size), sum_by(ideal.row, ideal.gain, block.size))
        return np.minimum(scores, 1.0)


class _Cascade(_Stopping):
    """A measure of users who stop at the document that satisfies them, as in ERR."""

    is_share = False

    def stopping(self, stops: Stops, block: Block) -> Floats:
        return cascade(stops.row, stops.gain / (1.0 + highest_gain(self.gain, block.scale)), stops.size)


class EBR(_Cascade, _Blended):
    """Expected blended ratio at the document that satisfies a user who reads from the top.

    Formula:
        EBR = sum over ranks i of BR(i) * S[i] * (1 - S[1]) * ... * (1 - S[i - 1])

    S[i] = gain / (1 + highest gain) is the probability of satisfaction at rank i, as in ERR; BR is that of Q.

    Conventions:
        - the highest gain is the gain of scale, the highest grade of the judgments
        - EBR@k stops at rank k
        - no relevant documents: 0; an ideal list can score below 1, because some users are never satisfied

    Agrees with:
        NTCIREVAL EBR

    Reference:
        Sakai and Zeng, Retrieval evaluation measures that agree with users' SERP preferences, TOIS 39(2), 2021

    Example:
        Grades 1 and 2 of at most 2: 1/3 * (1 + 1)/(1 + 2) + 2/3 * 2/3 * (2 + 3)/(2 + 3).

        >>> round(gainful.parse("EBR").score([1, 2]), 4)
        0.6667
    """

    name = "EBR"


class IRBU(_Cascade):
    """Intentwise rank-biased utility of a user who stops at the document that satisfies them.

    Formula:
        iRBU = sum over ranks i of p^i * S[i] * (1 - S[1]) * ... * (1 - S[i - 1])

    S[i] = gain / (1 + highest gain) is the probability of satisfaction at rank i, as in ERR, which has 1/i for p^i.

    Conventions:
        - p is 0.99 by default: reading on costs hardly any effort
        - the highest gain is the gain of scale, the highest grade of the judgments
        - iRBU@k stops at rank k
        - no relevant documents: 0; an ideal list can score below 1

    Agrees with:
        NTCIREVAL iRBU

    Reference:
        Sakai and Zeng, Retrieval evaluation measures that agree with users' SERP preferences, TOIS 39(2), 2021

    Example:
        Grades 1 and 2 of at most 2 and p = 0.5: 1/3 * 0.5 + 2/3 * 2/3 * 0.25.

        >>> round(gainful.parse("iRBU(p=0.5)").score([1, 2]), 4)
        0.2778
    """

    name = "iRBU"
    utility_name = "p^rank"
    meanings = {"p": "the factor by which utility falls with each document read"}
    p: float = 0.99

    def utility(self, stops: Stops) -> Floats:
        return np.asarray(self.p**stops.rank)
