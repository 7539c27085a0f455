"""Results of the formulas of tests and intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

from gainful.frozen import dataclass, replace


class NullSummary(NamedTuple):
    """The null distribution of the mean difference: its standard deviation and the critical value."""

    sd: float
    critical: float


@dataclass(frozen=True)
class Finding:
    """The result of a test's formula; p is never 0."""

    p: float
    effect: float  # the quantity tested, above 0 if it favours higher scores of the first system
    statistic: float | None = None
    draws: int | None = None  # the number of sign flips or resamples; None if p has a formula
    is_enumerated: bool = False  # whether every sign assignment was counted, so that p is exact
    null: NullSummary | None = None

    @property
    def monte_carlo_error(self) -> float | None:
        if self.draws is None or self.is_enumerated:
            return None
        return math.sqrt(self.p * (1 - self.p) / self.draws)


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float  # the limits; infinite if unbounded
    high: float
    alpha: float
    method: str
    is_stopgap: bool = False  # whether it replaces the test's own interval, which would be unbounded
    of: str = "mean"  # the quantity estimated

    @property
    def level(self) -> float:
        """The confidence level."""
        return round(1 - self.alpha, 12)

    @property
    def is_bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, farthest: float) -> Interval:
        """Clip the interval to the largest possible difference, unless it is unbounded."""
        return replace(self, low=max(self.low, -farthest), high=min(self.high, farthest)) if self.is_bounded else self

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high
