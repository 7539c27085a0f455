"""How many of the system's estimates of relevance are right: within a distance, or on the right side of thresholds.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gainful.arrays import Bools, Floats
from gainful.gains import Gain
from gainful.measures.arithmetic import Arithmetic, Step, seen
from gainful.measures.block import Block
from gainful.measures.estimates import ROUNDING, Compared, Estimating
from gainful.measures.precision import ratio

_SCALED = Gain("scaled")


def _number(name: str, chosen: Bools, compared: Compared, rest: int = 0) -> Step:
    """How many documents of a block's only query are chosen: in its list, missed, in the rest of the collection."""
    listed = compared.rank.size
    parts = [int(chosen[:listed].sum()), int(chosen[listed:].sum()), *([rest] if rest else [])]
    note = "in the list, not in it" + (", in the rest of the collection" if rest else "")
    return Step(name, " + ".join(["{}"] * len(parts)), tuple(parts), float(sum(parts)), note)


@dataclass(frozen=True, eq=False, repr=False)
class _Agreement(Estimating):
    """What the two measures with a limit to the distance have in common."""

    #: What the wrong estimates that it counts are called: n+ or n-.
    wrong: ClassVar[str]
    t: float = 0.1
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = _SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def _beyond(self, compared: Compared) -> tuple[Bools, Bools]:
        """Which documents are overestimated, and which underestimated."""
        difference, limit = compared.srs - compared.urs, self.t + ROUNDING
        return np.asarray(difference > limit), np.asarray(difference < -limit)

    def compute(self, block: Block) -> Floats:
        compared = self.compared(block)
        over, under = self._beyond(compared)
        agreed = compared.documents - compared.number(over | under)
        return ratio(agreed, agreed + compared.number(over if self.wrong == "n+" else under))

    def arithmetic(self, block: Block) -> Arithmetic:
        compared = self.compared(block)
        over, under = self._beyond(compared)
        agrees, wrong = ~(over | under), over if self.wrong == "n+" else under
        columns = compared.columns(seen(block, self.cutoff), {"n0": agrees, self.wrong: wrong})
        agreed = _number("n0", agrees, compared, int(compared.rest[0]))
        beyond = _number(self.wrong, wrong, compared)
        total = agreed.value + beyond.value
        share = Step.division(str(self), agreed.value, total, undefined=f"n0 + {self.wrong} is 0")
        return Arithmetic(columns, (agreed, beyond, share), adds="n0")


@dataclass(frozen=True, eq=False, repr=False)
class Pstar(_Agreement):
    """The share of right estimates among those that are not too low: a precision without retrieved and not retrieved.

    Formula:
        Pstar(t) = n0 / (n0 + n+)

    n0 is the number of documents with |SRS - URS| <= t, n+ of those with SRS - URS > t: the overestimated ones.

    Conventions:
        - t is 0.1 unless given; the article leaves it open
        - documents of a collection (over=N) that are neither retrieved nor relevant are estimated right
        - distances that exceed t by less than 1e-12 do not exceed it: rounding does not decide
        - the other parameters and their defaults are those of ADM
        - no document that counts: undefined

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


@dataclass(frozen=True, eq=False, repr=False)
class Rstar(_Agreement):
    """The share of right estimates among those that are not too high: a recall without retrieved and not retrieved.

    Formula:
        Rstar(t) = n0 / (n0 + n-)

    n0 is the number of documents with |SRS - URS| <= t, n- of those with URS - SRS > t: the underestimated ones.

    Conventions:
        - t is 0.1 unless given; the article leaves it open
        - documents of a collection (over=N) that are neither retrieved nor relevant are estimated right
        - distances that exceed t by less than 1e-12 do not exceed it: rounding does not decide
        - the other parameters and their defaults are those of ADM
        - no document that counts: undefined

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


@dataclass(frozen=True, eq=False, repr=False)
class _Thresholds(Estimating):
    """What the three measures have in common for which documents are retrieved or not, relevant or not."""

    urs_threshold: float = 0.5
    srs_threshold: float = 0.5
    over: str | int = "retrieved+relevant"
    srs: str = "rank"
    urs: Gain | str = _SCALED
    urs_levels: int | None = None
    srs_levels: int | None = None
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int = 1000

    def _retrieved(self, compared: Compared) -> Bools:
        return np.asarray(compared.srs >= self.srs_threshold - ROUNDING)

    def _relevant(self, compared: Compared) -> Bools:
        return np.asarray(compared.urs >= self.urs_threshold - ROUNDING)

    def _precision(self, compared: Compared) -> Floats:
        retrieved = self._retrieved(compared)
        return ratio(compared.number(retrieved & self._relevant(compared)), compared.number(retrieved))

    def _recall(self, compared: Compared) -> Floats:
        relevant = self._relevant(compared)
        return ratio(compared.number(relevant & self._retrieved(compared)), compared.number(relevant))

    def _columns(self, compared: Compared, block: Block) -> dict[str, Floats]:
        retrieved, relevant = self._retrieved(compared), self._relevant(compared)
        marks = {"retrieved": retrieved, "relevant": relevant, "both": retrieved & relevant}
        return compared.columns(seen(block, self.cutoff), marks)

    def _precision_step(self, name: str, columns: dict[str, Floats]) -> Step:
        both, retrieved = float(columns["both"].sum()), float(columns["retrieved"].sum())
        return Step.division(name, both, retrieved, undefined="no SRS reaches the threshold")

    def _recall_steps(self, name: str, columns: dict[str, Floats], compared: Compared) -> tuple[Step, Step]:
        relevant, both = _number("relevant", self._relevant(compared), compared), float(columns["both"].sum())
        return relevant, Step.division(name, both, relevant.value, undefined="no URS reaches the threshold")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdP(_Thresholds):
    """Precision of what the system estimates to be relevant, by thresholds on both scores.

    Formula:
        ThresholdP = documents with SRS >= .5 and URS >= .5 / documents with SRS >= .5

    Conventions:
        - srs_threshold and urs_threshold set other thresholds, above 0 and up to 1
        - scores that miss a threshold by less than 1e-12 reach it: rounding does not decide
        - the other parameters and their defaults are those of ADM; with srs=rank the first half of k documents is
          retrieved
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
        return self._precision(self.compared(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._columns(self.compared(block), block)
        return Arithmetic(columns, (self._precision_step(str(self), columns),), adds="retrieved")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdR(_Thresholds):
    """Recall of what the system estimates to be relevant, by thresholds on both scores.

    Formula:
        ThresholdR = documents with SRS >= .5 and URS >= .5 / documents with URS >= .5

    Conventions:
        - srs_threshold and urs_threshold set other thresholds, above 0 and up to 1
        - scores that miss a threshold by less than 1e-12 reach it: rounding does not decide
        - the other parameters and their defaults are those of ADM
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
        return self._recall(self.compared(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        compared = self.compared(block)
        columns = self._columns(compared, block)
        return Arithmetic(columns, self._recall_steps(str(self), columns, compared), adds="relevant")


@dataclass(frozen=True, eq=False, repr=False)
class PRmean(_Thresholds):
    """The mean of precision and recall of what the system estimates to be relevant.

    Formula:
        PRmean = (ThresholdP + ThresholdR) / 2

    Conventions:
        - parameters and defaults are those of ThresholdP
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
        compared = self.compared(block)
        return (self._precision(compared) + self._recall(compared)) / 2.0

    def arithmetic(self, block: Block) -> Arithmetic:
        compared = self.compared(block)
        columns = self._columns(compared, block)
        precision = self._precision_step("ThresholdP", columns)
        relevant, recall = self._recall_steps("ThresholdR", columns, compared)
        p, r = precision.value, recall.value
        mean = Step(str(self), "({} + {}) / 2", (p, r), (p + r) / 2)
        if np.isnan(mean.value):
            mean = Step(str(self), "", (), np.nan, precision.note or recall.note)
        return Arithmetic(columns, (precision, relevant, recall, mean), adds="both")
