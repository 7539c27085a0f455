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
    """The result of a test's formula; p is never 0.

    Attributes:
        effect: The quantity tested, above 0 if it favours higher scores of the first system.
        draws: The number of sign flips or resamples; None if p has a formula.
        is_enumerated: Whether every sign assignment was counted, so that p is exact.
    """

    p: float
    effect: float
    statistic: float | None = None
    draws: int | None = None
    is_enumerated: bool = False
    null: NullSummary | None = None

    @property
    def monte_carlo_error(self) -> float | None:
        if self.draws is None or self.is_enumerated:
            return None
        return math.sqrt(self.p * (1 - self.p) / self.draws)


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes:
        low, high: The limits; infinite if unbounded.
        is_stopgap: Whether it replaces the test's own interval, which would be unbounded.
        of: The quantity estimated.
    """

    low: float
    high: float
    alpha: float
    method: str
    is_stopgap: bool = False
    of: str = "mean"

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
