"""What scores make of a mean difference: probabilities of worse, equivalent and better, in place of p.

Under the reference prior, p(mean, sd) ~ 1 / sd, the posterior of the mean is Student's t about the mean that was found,
with the standard error as its scale and n - 1 degrees of freedom (Benavoli, Corani, Demšar & Zaffalon 2017).
It is exact: nothing is drawn. docs/beyond-p.md has it beside the Bayesian bootstrap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gainful.errors import InputError
from gainful.notation import plural_of
from gainful.stats.catalogues import Interval, Verdict
from gainful.stats.paired import NamedPair, described
from gainful.stats.paired_tests import PairedScores, PairPlan, SystemScores, t_interval
from gainful.stats.repeatable import check_margin


class Probabilities(NamedTuple):
    """How probable it is that a system is worse than its baseline by more than the margin, equivalent within it, or
    better by more."""

    worse: float
    equivalent: float
    better: float


@dataclass(frozen=True, kw_only=True)
class Posterior(NamedPair):
    """The posterior of a system's mean minus its baseline's, whichever is better.

    ``difference`` is its centre, the mean that was found; ``sd`` is that of the differences, ``n`` their number.
    """

    margin: float
    n: int
    difference: float
    sd: float

    @property
    def df(self) -> int:
        return self.n - 1

    @property
    def scale(self) -> float:
        return self.sd / math.sqrt(self.n)

    def below(self, value: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self.df, (value - self.difference) / self.scale))

    def above(self, value: float) -> float:
        return self.below(2 * self.difference - value)

    def density(self, value: float) -> float:
        half, t = (self.df + 1) / 2, (value - self.difference) / self.scale
        constant = math.lgamma(half) - math.lgamma(self.df / 2) - math.log(self.df * math.pi) / 2
        return math.exp(constant - half * math.log1p(t * t / self.df)) / self.scale

    @cached_property
    def probabilities(self) -> Probabilities | None:
        """Worse, equivalent, better; None where all differences are equal, so that there is no spread to go by."""
        if not self.sd:
            return None
        above, below = self.above(self.margin), self.below(-self.margin)
        between = max(0.0, 1 - above - below)
        return Probabilities(below, between, above) if self.better == "higher" else Probabilities(above, between, below)

    @property
    def interval(self) -> Interval:
        return t_interval(self.difference, self.sd, self.n, self.alpha)

    @property
    def verdict(self) -> Verdict:
        found = self.probabilities
        for word in ("better", "worse", "equivalent"):
            if found is not None and getattr(found, word) >= 1 - self.alpha:
                return word
        return "cannot tell"


def posterior(matrix: SystemScores, system: str, baseline: str, margin: float, alpha: float = 0.05) -> Posterior:
    """What two systems' scores on the same queries say of their mean difference.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("RR", {"a": [0.5, 0.7, 0.4, 0.6], "b": [0.4, 0.5, 0.1, 0.4]})
    >>> found = posterior(matrix, "a", "b", 0.01)
    >>> [round(probability, 3) for probability in found.probabilities], found.verdict
    ([0.007, 0.002, 0.991], 'better')
    """
    check_margin(margin)
    scores = PairedScores.of(matrix, system, baseline, PairPlan(alpha=alpha))
    if scores.sd is None:
        raise InputError(
            f"{matrix.measure}: expected at least 2 {plural_of(matrix.unit)}, found {scores.n}: one has no spread to "
            "go by"
        )
    return Posterior(
        **described(matrix, system, baseline, alpha), margin=margin, n=scores.n, difference=scores.mean, sd=scores.sd
    )
