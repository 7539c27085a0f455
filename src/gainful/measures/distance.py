"""How far the system's estimates of relevance are from what the user says.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.gains import Gain
from gainful.measures.arithmetic import Arithmetic, Step, last, seen
from gainful.measures.block import Block
from gainful.measures.estimates import Compared, Estimating
from gainful.measures.precision import ratio
from gainful.notation import count_of

_SCALED = Gain("scaled")


@dataclass(frozen=True, eq=False, repr=False)
class AverageDistance(Estimating):
    """What the three average distances have in common."""

    distance: str = "absolute"
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = _SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def compute(self, block: Block) -> Floats:
        compared = self.compared(block)
        summed = np.bincount(compared.row, self.distances(compared), minlength=block.size)
        return 1.0 - ratio(summed, compared.documents)

    def distances(self, compared: Compared) -> Floats:
        """How far the two scores of every document are from each other, as far as that counts."""
        distances = self._counted(compared.srs - compared.urs)
        return distances**2 if self.distance == "squared" else distances

    def _counted(self, difference: Floats) -> Floats:
        """What counts of SRS - URS."""
        return np.abs(difference)

    def arithmetic(self, block: Block) -> Arithmetic:
        compared = self.compared(block)
        distances, count, listed = self.distances(compared), int(compared.documents[0]), compared.rank.size
        columns = compared.columns(seen(block, self.cutoff), {"distance": distances})
        columns["sum"] = np.cumsum(columns["distance"])
        missed = last(np.cumsum(distances[listed:]))
        steps = [Step.sum_of("distances in the list", columns["distance"], last(columns["sum"]))]
        if listed < distances.size:
            name = f"distances of {count_of(distances.size - listed, 'document')} not in the list"
            steps.append(Step.sum_of(name, distances[listed:], missed))
        if count:
            numbers = (last(columns["sum"]), missed, count)
            value = 1 - (numbers[0] + missed) / count
            steps.append(Step(str(self), "1 - ({} + {}) / {}", numbers, value, f"over {count_of(count, 'document')}"))
        else:
            steps.append(Step(str(self), "1 - 0 / 0", (), np.nan, "there is no document to compare"))
        return Arithmetic(columns, tuple(steps), adds="distance", running="sum")


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False, repr=False)
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
