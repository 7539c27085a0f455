"""How far the system's estimates of relevance are from what the user says, and how many are right.

Right is what lies within a distance, or on the right side of thresholds.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gainful.gains import Gain
from gainful.kernel.arrays import Floats
from gainful.measures.base import SCALED
from gainful.measures.block import Block, ratios
from gainful.measures.score_based import ROUNDING, Compared, Estimating


class AverageDistance(Estimating):
    """What the three average distances have in common."""

    distance: str = "absolute"
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def compute(self, block: Block) -> Floats:
        compared = self.compared(block)
        summed = np.bincount(compared.row, self.distances(compared), minlength=block.size)
        return 1.0 - ratios(summed, compared.documents)

    def distances(self, compared: Compared) -> Floats:
        """How far the two scores of every document are from each other, as far as that counts."""
        distances = self._counted(compared.srs - compared.urs)
        return distances**2 if self.distance == "squared" else distances

    def _counted(self, difference: Floats) -> Floats:
        """What counts of SRS - URS."""
        return np.abs(difference)


class ADM(AverageDistance):
    """Average distance measure: how close the system's estimates of relevance are to what the user says.

    Formula:
        ADM = 1 - (sum of |SRS - URS|) / number of documents; with distance=squared the sum of (SRS - URS)^2

    URS is the user's relevance score of a document and SRS the system's, both from 0 to 1. By default URS is grade /
    scale (0 where it was not judged), and SRS is (k - rank + 1) / k, 0 where the document was not retrieved.

    Conventions:
        - @k is both the cut and the depth of srs=rank, 1000 unless given: a list of 1000 has SRS 1, 0.999, ... 0.001
        - over: documents retrieved or relevant; retrieved; relevant; judged; or all N of a collection, of which those
          that are neither retrieved nor relevant have distance 0. Relevant is by the judgment (rel), not by URS
        - srs=score takes scores as they are, an error outside of [0, 1]; of the scores s of the first k, minmax makes
          (s - min) / (max - min), 1 where all are the same; of scores of at least 0, max makes s / max (0 where all are
          0), ratio s / (1 + s), exp 1 - e^-s
        - urs is any gain map, divided by the highest gain that it gives, or given: the grade itself
        - urs_levels=N and srs_levels=M are the article's ADM^(M)_(N): score x becomes min(floor(xN), N - 1) / (N - 1);
          2 levels are a threshold at .5
        - distance=squared adds up squares
        - no document to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, eq. 1; its experiments with URS' are ADM with all defaults on binary
        judgments, sets 6 and 7 of Table 4 with over=retrieved and over=relevant

    Example:
        Table 1, IRS1: |.9 - .8|, |.5 - .4| and |.2 - .1| are .1 on average.

        >>> from gainful import evaluate
        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> round(evaluate(user, system, "ADM(srs=score, urs=given)").mean("ADM(srs=score, urs=given)"), 4)
        0.9
    """

    name = "ADM"


class ADP(AverageDistance):
    """Average distance precision: how little the system overestimates documents.

    Formula:
        ADP = 1 - (sum of SRS - URS over the documents where it is above 0) / number of documents

    Conventions:
        - all documents count in the divisor, as in ADM, so that ADM = ADP + ADR - 1
        - parameters and defaults are those of ADM
        - no document to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM"

    Example:
        Two documents, the one of grade 0 is at rank 1: it is overestimated by 1, the other one underestimated.

        >>> from gainful import parse
        >>> parse("ADP@2").score([0, 1]), parse("ADR@2").score([0, 1]), parse("ADM@2").score([0, 1])
        (0.5, 0.75, 0.25)
    """

    name = "ADP"

    def _counted(self, difference: Floats) -> Floats:
        return np.maximum(difference, 0.0)


class ADR(AverageDistance):
    """Average distance recall: how little the system underestimates documents.

    Formula:
        ADR = 1 - (sum of URS - SRS over the documents where it is above 0) / number of documents

    Conventions:
        - all documents count in the divisor, as in ADM, so that ADM = ADP + ADR - 1
        - parameters and defaults are those of ADM
        - no document to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM"

    Example:
        One of two relevant documents was not retrieved: it is underestimated by 1.

        >>> from gainful import parse
        >>> parse("ADR").score([1], unretrieved=[1])
        0.5
    """

    name = "ADR"

    def _counted(self, difference: Floats) -> Floats:
        return np.maximum(-difference, 0.0)


class _Agreement(Estimating):
    """What the two measures with a limit to the distance have in common.

    Conventions:
        - t is 0.1 unless given; the article leaves it open
        - documents of a collection (over=N) that are neither retrieved nor relevant are estimated right
        - distances that exceed t by less than 1e-12 do not exceed it: rounding does not decide
        - the other parameters and their defaults are those of ADM
        - no document that counts: undefined
    """

    #: What the wrong estimates that it counts are called: n+ or n-.
    wrong: ClassVar[str]
    t: float = 0.1
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def compute(self, block: Block) -> Floats:
        compared, limit = self.compared(block), self.t + ROUNDING
        difference = compared.srs - compared.urs
        over, under = difference > limit, difference < -limit
        agreed = compared.documents - compared.number(over | under)
        return ratios(agreed, agreed + compared.number(over if self.wrong == "n+" else under))


class Pstar(_Agreement):
    """The share of right estimates among those that are not too low: a precision without retrieved and not retrieved.

    Formula:
        Pstar(t) = n0 / (n0 + n+)

    n0 is the number of documents with |SRS - URS| <= t, n+ of those with SRS - URS > t: the overestimated ones.

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM" (P*; n0, n+ and n- are alpha_1, gamma_1, beta_1)

    Example:
        Scores 1, .9 and .8 for what the user gives 1, .2 and 0: one estimate is right, two are too high.

        >>> from gainful import evaluate
        >>> user, system = {"q": {"d1": 1, "d2": 0.2, "d3": 0}}, {"q": {"d1": 1, "d2": 0.9, "d3": 0.8}}
        >>> round(evaluate(user, system, "Pstar(srs=score)").mean("Pstar(srs=score)"), 4)
        0.3333
    """

    name = "Pstar"
    wrong = "n+"


class Rstar(_Agreement):
    """The share of right estimates among those that are not too high: a recall without retrieved and not retrieved.

    Formula:
        Rstar(t) = n0 / (n0 + n-)

    n0 is the number of documents with |SRS - URS| <= t, n- of those with URS - SRS > t: the underestimated ones.

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM" (R*; n0, n+ and n- are alpha_1, gamma_1, beta_1)

    Example:
        One of two relevant documents is at rank 1, the other one was not retrieved.

        >>> from gainful import parse
        >>> parse("Rstar").score([1], unretrieved=[1])
        0.5
    """

    name = "Rstar"
    wrong = "n-"


class _Thresholds(Estimating):
    """What the three measures have in common for which documents are retrieved or not, relevant or not.

    Conventions:
        - srs_threshold and urs_threshold set other thresholds, above 0 and up to 1
        - scores that miss a threshold by less than 1e-12 reach it: rounding does not decide
        - the other parameters and their defaults are those of ADM
    """

    urs_threshold: float = 0.5
    srs_threshold: float = 0.5
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def _precision_and_recall(self, block: Block) -> tuple[Floats, Floats]:
        compared = self.compared(block)
        retrieved = compared.srs >= self.srs_threshold - ROUNDING
        relevant = compared.urs >= self.urs_threshold - ROUNDING
        both = compared.number(retrieved & relevant)
        return ratios(both, compared.number(retrieved)), ratios(both, compared.number(relevant))


class ThresholdP(_Thresholds):
    """Precision of what the system estimates to be relevant, by thresholds on both scores.

    Formula:
        ThresholdP = documents with SRS >= .5 and URS >= .5 / documents with SRS >= .5

    Conventions:
        - with srs=rank the first half of k documents is retrieved
        - no SRS reaches the threshold: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Figure 2 and Table 1. Erratum: with a the documents that are only retrieved
        and b those that are relevant, too, its P = a / (a + b) must be b / (a + b)

    Example:
        Table 1, IRS1: .9 and .5 are retrieved, and of these the user gives .5 or more to one.

        >>> from gainful import evaluate
        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> evaluate(user, system, "ThresholdP(srs=score, urs=given)").mean("ThresholdP(srs=score, urs=given)")
        0.5
    """

    name = "ThresholdP"

    def compute(self, block: Block) -> Floats:
        return self._precision_and_recall(block)[0]


class ThresholdR(_Thresholds):
    """Recall of what the system estimates to be relevant, by thresholds on both scores.

    Formula:
        ThresholdR = documents with SRS >= .5 and URS >= .5 / documents with URS >= .5

    Conventions:
        - no URS reaches the threshold: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Figure 2 and Table 1

    Example:
        Two documents are fully relevant; one of them is in the list.

        >>> from gainful import parse
        >>> parse("ThresholdR").score([1, 0], unretrieved=[1])
        0.5
    """

    name = "ThresholdR"

    def compute(self, block: Block) -> Floats:
        return self._precision_and_recall(block)[1]


class PRmean(_Thresholds):
    """The mean of precision and recall of what the system estimates to be relevant.

    Formula:
        PRmean = (ThresholdP + ThresholdR) / 2

    Conventions:
        - either of the two undefined: undefined

    Differs from:
        F, the harmonic mean, and van Rijsbergen's E, which the article's E is not

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Table 1 (E). Table 2 prints .84 for .8333: it is the mean of .67 and 1

    Example:
        Table 1, IRS1: P = 1/2 and R = 1.

        >>> from gainful import evaluate
        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> evaluate(user, system, "PRmean(srs=score, urs=given)").mean("PRmean(srs=score, urs=given)")
        0.75
    """

    name = "PRmean"

    def compute(self, block: Block) -> Floats:
        precision, recall = self._precision_and_recall(block)
        return (precision + recall) / 2.0
