"""Distance of the system's relevance estimates from the user's, and the share of correct estimates.

An estimate is correct if it is within a distance, or on the correct side of a threshold.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.measures.block import Block, ratios
from gainful.measures.score_based import ROUNDING, Compared, Estimating

#: The parameters of all these measures.
_COMPARED = "over srs urs urs_levels srs_levels rel unjudged cutoff"


class AverageDistance(Estimating, takes=f"distance {_COMPARED}"):
    """Base of ADM, ADP and ADR."""

    distance = "absolute"

    def compute(self, block: Block) -> Floats:
        compared = self.compared(block)
        summed = np.bincount(compared.row, self.distances(compared), minlength=block.size)
        return 1.0 - ratios(summed, compared.documents)

    def distances(self, compared: Compared) -> Floats:
        """Return the distance between the two scores of each document, of the sign that counts."""
        distances = self._counted(compared.srs - compared.urs)
        return distances**2 if self.distance == "squared" else distances

    def _counted(self, difference: Floats) -> Floats:
        return np.abs(difference)


class ADM(AverageDistance):
    """Average distance measure: how close the system's relevance estimates are to the user's grades.

    Formula:
        ADM = 1 - (sum of |SRS - URS|) / number of documents; with distance=squared the sum of (SRS - URS)^2

    URS is the user's relevance score of a document and SRS the system's, both from 0 to 1. By default URS is grade /
    scale (0 if unjudged), and SRS is (k - rank + 1) / k (0 if not retrieved).

    Conventions:
        - @k is both the cutoff and the depth of srs=rank, 1000 by default: a list of 1000 has SRS 1, 0.999, ... 0.001
        - over selects documents: retrieved or relevant; retrieved; relevant; judged; or all N of a collection, where
          documents neither retrieved nor relevant have distance 0. Relevance is by grade (rel), not by URS
        - srs=score uses scores unchanged (an error outside [0, 1]); srs=minmax is (s - min) / (max - min) of the top
          k scores s, 1 if all are equal; for s >= 0, max is s / max, 0 if all are 0; ratio s / (1 + s); exp 1 - e^-s
        - urs is a gain map, divided by its highest gain, or given: the grade itself
        - urs_levels=N and srs_levels=M are the article's ADM^(M)_(N): score x becomes min(floor(xN), N - 1) / (N - 1);
          2 levels are a threshold at 0.5
        - no documents to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, eq. 1; its experiments with URS' are ADM with default parameters on binary
        judgments, sets 6 and 7 of Table 4 with over=retrieved and over=relevant

    Example:
        Table 1, IRS1: |0.9 - 0.8|, |0.5 - 0.4| and |0.2 - 0.1| are 0.1 on average.

        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> round(gainful.evaluate(user, system, "ADM(srs=score, urs=given)").mean("ADM(srs=score, urs=given)"), 4)
        0.9
    """

    name = "ADM"


class ADP(AverageDistance):
    """Average distance precision: how little the system overestimates documents.

    Formula:
        ADP = 1 - (sum of SRS - URS over documents with SRS > URS) / number of documents

    Conventions:
        - all documents count in the denominator, so ADM = ADP + ADR - 1
        - parameters and defaults as in ADM
        - no documents to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM"

    Example:
        The document of grade 0 at rank 1 is overestimated by 1, the other underestimated by 0.5.

        >>> [gainful.parse(name).score([0, 1]) for name in ("ADP@2", "ADR@2", "ADM@2")]
        [0.5, 0.75, 0.25]
    """

    name = "ADP"

    def _counted(self, difference: Floats) -> Floats:
        return np.maximum(difference, 0.0)


class ADR(AverageDistance):
    """Average distance recall: how little the system underestimates documents.

    Formula:
        ADR = 1 - (sum of URS - SRS over documents with URS > SRS) / number of documents

    Conventions:
        - all documents count in the denominator, so ADM = ADP + ADR - 1
        - parameters and defaults as in ADM
        - no documents to compare: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM"

    Example:
        One of two relevant documents was not retrieved, so it is underestimated by 1.

        >>> gainful.parse("ADR").score([1], unretrieved=[1])
        0.5
    """

    name = "ADR"

    def _counted(self, difference: Floats) -> Floats:
        return np.maximum(-difference, 0.0)


class _Agreement(Estimating, takes=f"t {_COMPARED}"):
    """Base of Pstar and Rstar.

    Conventions:
        - t is 0.1 by default; the article does not set it
        - with over=N, documents neither retrieved nor relevant are estimated correctly
        - distances may exceed t by 1e-12, a tolerance for rounding
        - other parameters and defaults as in ADM
        - no documents that count: undefined
    """

    #: The wrong estimates that count: n+ or n-.
    wrong: ClassVar[str]
    t = 0.1

    def compute(self, block: Block) -> Floats:
        compared, limit = self.compared(block), self.t + ROUNDING
        difference = compared.srs - compared.urs
        over, under = difference > limit, difference < -limit
        agreed = compared.documents - compared.number(over | under)
        return ratios(agreed, agreed + compared.number(over if self.wrong == "n+" else under))


class Pstar(_Agreement):
    """Share of correct estimates among those not too low, a precision without a retrieved set.

    Formula:
        Pstar(t) = n0 / (n0 + n+)

    n0 documents have |SRS - URS| <= t, and n+ documents are overestimated: SRS - URS > t.

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM" (P*; n0, n+ and n- are alpha_1, gamma_1, beta_1)

    Example:
        SRS 1, 0.9 and 0.8 for URS 1, 0.2 and 0: one estimate is correct, two are too high.

        >>> user, system = {"q": {"d1": 1, "d2": 0.2, "d3": 0}}, {"q": {"d1": 1, "d2": 0.9, "d3": 0.8}}
        >>> round(gainful.evaluate(user, system, "Pstar(srs=score)").mean("Pstar(srs=score)"), 4)
        0.3333
    """

    name = "Pstar"
    wrong = "n+"


class Rstar(_Agreement):
    """Share of correct estimates among those not too high, a recall without a retrieved set.

    Formula:
        Rstar(t) = n0 / (n0 + n-)

    n0 documents have |SRS - URS| <= t, and n- documents are underestimated: URS - SRS > t.

    Reference:
        Della Mea and Mizzaro, JASIST 2004, section "Adequacy of ADM" (R*; n0, n+ and n- are alpha_1, gamma_1, beta_1)

    Example:
        One of two relevant documents is at rank 1, the other was not retrieved.

        >>> gainful.parse("Rstar").score([1], unretrieved=[1])
        0.5
    """

    name = "Rstar"
    wrong = "n-"


class _Thresholds(Estimating, takes=f"urs_threshold srs_threshold {_COMPARED}"):
    """Base of the measures with thresholds on both scores.

    Conventions:
        - srs_threshold and urs_threshold set other thresholds, above 0 and up to 1
        - scores may miss a threshold by 1e-12, a tolerance for rounding
        - other parameters and defaults as in ADM
    """

    urs_threshold = srs_threshold = 0.5

    def _precision_and_recall(self, block: Block) -> tuple[Floats, Floats]:
        compared = self.compared(block)
        retrieved = compared.srs >= self.srs_threshold - ROUNDING
        relevant = compared.urs >= self.urs_threshold - ROUNDING
        both = compared.number(retrieved & relevant)
        return ratios(both, compared.number(retrieved)), ratios(both, compared.number(relevant))


class ThresholdP(_Thresholds):
    """Precision of the documents estimated relevant, with thresholds on both scores.

    Formula:
        ThresholdP = documents with SRS >= 0.5 and URS >= 0.5 / documents with SRS >= 0.5

    Conventions:
        - with srs=rank, documents down to rank k / 2 + 1 count as retrieved
        - no SRS reaches the threshold: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Figure 2 and Table 1. Erratum: with a the documents only retrieved and b
        those also relevant, its P = a / (a + b) must be b / (a + b)

    Example:
        Table 1, IRS1: the documents of SRS 0.9 and 0.5 are retrieved, and one of them has URS >= 0.5.

        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> gainful.evaluate(user, system, "ThresholdP(srs=score, urs=given)").mean("ThresholdP(srs=score, urs=given)")
        0.5
    """

    name = "ThresholdP"

    def compute(self, block: Block) -> Floats:
        return self._precision_and_recall(block)[0]


class ThresholdR(_Thresholds):
    """Recall of the documents estimated relevant, with thresholds on both scores.

    Formula:
        ThresholdR = documents with SRS >= 0.5 and URS >= 0.5 / documents with URS >= 0.5

    Conventions:
        - no URS reaches the threshold: undefined

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Figure 2 and Table 1

    Example:
        One of two fully relevant documents is in the list.

        >>> gainful.parse("ThresholdR").score([1, 0], unretrieved=[1])
        0.5
    """

    name = "ThresholdR"

    def compute(self, block: Block) -> Floats:
        return self._precision_and_recall(block)[1]


class PRmean(_Thresholds):
    """Arithmetic mean of ThresholdP and ThresholdR.

    Formula:
        PRmean = (ThresholdP + ThresholdR) / 2

    Conventions:
        - undefined if either is undefined

    Differs from:
        F, the harmonic mean; van Rijsbergen's E, which has the same letter as the article's E

    Reference:
        Della Mea and Mizzaro, JASIST 2004, Table 1 (E). Table 2 prints 0.84, the mean of 0.67 and 1, for 0.8333

    Example:
        Table 1, IRS1: P = 1/2 and R = 1.

        >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
        >>> gainful.evaluate(user, system, "PRmean(srs=score, urs=given)").mean("PRmean(srs=score, urs=given)")
        0.75
    """

    name = "PRmean"

    def compute(self, block: Block) -> Floats:
        precision, recall = self._precision_and_recall(block)
        return (precision + recall) / 2.0
