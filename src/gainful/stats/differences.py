"""The differences of two systems on the same queries, and the tests that need nothing drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gainful.arrays import Floats
from gainful.stats.noncentral import LEAST_P, t_p
from gainful.stats.outcomes import TestOutcome
from gainful.stats.rank_tests import Zeros, sign_p, wilcoxon
from gainful.stats.settled import settle, settled_differences, settled_step


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two systems in byte order of their queries.

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats

    @cached_property
    def differences(self) -> Floats:
        """a - b, settled."""
        return settled_differences(self.a, self.b)

    @property
    def n(self) -> int:
        """How many queries there are."""
        return int(self.a.size)

    @cached_property
    def nonzero(self) -> int:
        """How many differences are not 0."""
        return int(np.count_nonzero(self.differences))

    @cached_property
    def scale(self) -> float:
        """The largest absolute score of both."""
        return max(float(np.abs(self.a).max()), float(np.abs(self.b).max()))

    @property
    def error(self) -> float:
        """How far a difference may be from what it is in exact arithmetic."""
        return settled_step(self.scale)

    @cached_property
    def mean(self) -> float:
        """The mean difference."""
        return math.fsum(self.differences.tolist()) / self.n

    @cached_property
    def sd(self) -> float | None:
        """The differences' standard deviation: None for one query, 0 where all are equal but for rounding."""
        if self.n < 2:
            return None
        deviations = self.differences - self.mean
        if not settle(deviations, self.scale).any():
            return 0.0
        return math.sqrt(math.fsum((deviations**2).tolist()) / (self.n - 1))

    @property
    def t(self) -> float | None:
        """Student's t; None where there is no spread."""
        return self.mean / (self.sd / math.sqrt(self.n)) if self.sd else None

    def outcome(self, test: str, zeros: Zeros = "drop", continuity: bool = False) -> TestOutcome:
        """The tests ``t``, ``wilcoxon`` and ``sign``."""
        if test == "t":
            return self._student()
        if test == "wilcoxon":
            found = wilcoxon(self.differences, zeros=zeros, continuity=continuity)
            apart = found.positive - found.negative
            return TestOutcome(test, found.p, min(found.positive, found.negative), direction=apart)
        above = int(np.count_nonzero(self.differences > 0))
        below = self.nonzero - above
        return TestOutcome(test, sign_p(above, below), float(above), direction=float(above - below))

    def _student(self) -> TestOutcome:
        statistic = self.t
        if statistic is None:
            # Without spread there is no t: equal scores are no evidence, and a constant difference is all there can be.
            return TestOutcome("t", LEAST_P if self.mean and self.n > 1 else 1.0)
        return TestOutcome("t", t_p(statistic, self.n - 1), statistic)
