"""The rule of gates for a drop of a mean below a frozen baseline: sensitive to collapses, robust to noise.

A drop is a regression if its one-sided p is at most 0.01 and it is at least a quarter of the margin, or if p is at most
0.025 (the 95% interval excludes 0) and it is at least the margin. Otherwise, if a drop by the margin cannot be
excluded, it is a warning. Only the change itself counts: false alarms stay below 0.025 for changes of any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats
from gainful.stats.catalogues import INTERVALS, MOST_FLIPPED, RANDOMISATION, STUDENT
from gainful.stats.distributions import upper_normal
from gainful.stats.paired_tests import PairedScores, PairPlan, randomisation_p
from gainful.stats.run_noise import RunNoise, run_noise

Verdict: TypeAlias = Literal["regression", "warning", "pass"]
#: The limits of an interval as a function of alpha.
Limits: TypeAlias = Callable[[float], tuple[float, float]]

#: One-sided levels: of the test, of the test for drops of at least the margin, and of the limit for warnings.
LEVEL, MARGIN_LEVEL, WARNING_LEVEL = 0.01, 0.025, 0.05
#: A drop that is significant at LEVEL must be at least this share of the margin.
LEAST_SHARE = 0.25
#: Minimum number of queries that must fall, with none rising, to be significant with sign flips: 1 in 2^6.
LEAST_FALLEN = math.ceil(-math.log2(MARGIN_LEVEL))


@dataclass(frozen=True, eq=False)
class Change:
    """The change of a mean, and the verdict."""

    n: int
    baseline: float
    new: float
    difference: float  # new minus baseline
    drop: float  # the change for the worse; negative for an improvement
    p_fell: float  # one-sided, as is ``p_rose``
    p_rose: float
    margin: float  # an absolute difference
    level: float
    spread: float  # standard deviation of per-query differences
    test: str
    is_higher_better: bool
    limits: Limits  # returns the limits of the difference at level 1 - alpha

    @cached_property
    def interval(self) -> tuple[float, float]:
        return self.limits(WARNING_LEVEL)

    @cached_property
    def most_dropped(self) -> float:
        """The one-sided 95% limit of the drop."""
        low, high = self.limits(2 * WARNING_LEVEL)
        return -low if self.is_higher_better else high

    @property
    def margin_level(self) -> float:
        """The level for drops of at least the margin."""
        return self.level * MARGIN_LEVEL / LEVEL

    @property
    def clause(self) -> Literal["test", "margin"] | None:
        """The criterion met by a regression: the test at its stricter level, or the margin; None for neither."""
        if self.p_fell <= self.level and self.drop >= LEAST_SHARE * self.margin:
            return "test"
        return "margin" if self.p_fell <= self.margin_level and self.drop >= self.margin else None

    @property
    def is_too_small(self) -> bool:
        """Whether no result can be significant with this few queries."""
        return 2.0**-self.n > self.margin_level

    @property
    def is_improvement(self) -> bool:
        return self.p_rose <= self.level and self.drop < 0

    @property
    def verdict(self) -> Verdict:
        """``regression``; ``warning`` if a drop by the margin cannot be excluded; else ``pass``."""
        if self.clause is not None:
            return "regression"
        return "warning" if self.most_dropped > self.margin else "pass"

    @property
    def relative(self) -> float | None:
        return self.difference / self.baseline if self.baseline else None


def assess_change(
    baseline: Floats,
    new: Floats,
    margin: float,
    *,
    better: str = "higher",
    weights: Floats | None = None,
    level: float = LEVEL,
    draws: int | None = None,
    runs: RunNoise | None = None,
) -> Change:
    """Assess the change of a mean, query by query.

    ``new`` are scores, or queries x repeats of several runs, whose variation then counts as noise. ``margin`` is
    absolute; ``runs`` is the noise known from the baseline's runs.

    >>> found = assess_change(np.full(100, 0.5), np.full(100, 0.45), margin=0.01)
    >>> found.verdict, round(found.drop, 3)
    ('regression', 0.05)
    >>> assess_change(np.full(100, 0.5), np.full(100, 0.5), margin=0.01).verdict
    'pass'
    """
    repeats = new.reshape(baseline.size, -1)
    means = repeats[:, 0].copy()
    if repeats.shape[1] > 1:
        means = np.array([math.fsum(row) / len(row) for row in repeats.tolist()])  # independent of the order of repeats
    of_runs = run_noise(repeats, weights).of_difference(repeats.shape[1], runs)
    scores = PairedScores(means, baseline, PairPlan(alpha=2 * WARNING_LEVEL, draws=draws), weights, runs=of_runs)
    is_large = scores.n > MOST_FLIPPED and not scores.is_constant
    test = STUDENT if of_runs.variance or is_large else RANDOMISATION
    p = randomisation_p(scores)[0] if test is RANDOMISATION else test.formula(scores).p

    def limits(alpha: float) -> tuple[float, float]:
        """Return the limits of the test, or Student's if sign flips of very few queries are unbounded."""
        if not scores.nonzero:
            return 0.0, 0.0  # nothing changed
        kind = INTERVALS[test.interval if test is STUDENT or scores.can_reach(alpha) else STUDENT.interval]
        found = kind.formula(scores, alpha)
        return found.low, found.high

    p_high, p_low = (p / 2, 1 - p / 2) if scores.mean > 0 else (1 - p / 2, p / 2)
    p_rose, p_fell = (p_high, p_low) if better == "higher" else (p_low, p_high)
    mean = math.fsum(scores.weighted(scores.b).tolist()) / scores.n
    return Change(
        n=scores.n,
        baseline=mean,
        new=mean + scores.mean,
        difference=scores.mean,
        drop=-scores.mean if better == "higher" else scores.mean,
        p_fell=p_fell if scores.nonzero else 1.0,
        p_rose=p_rose if scores.nonzero else 1.0,
        margin=margin,
        level=level,
        spread=scores.sd or 0.0,
        test=test.name,
        is_higher_better=better == "higher",
        limits=limits,
    )


def least_shown(spread: float, n: float, are_flips: bool = False) -> float:
    """Return the drop of a mean over n queries that is significant for a given sd of differences.

    With scores of 0 and 1, at least LEAST_FALLEN queries must fall (minus a half, because drops are whole queries).

    >>> round(least_shown(0.13, 200), 4), least_shown(0.2, 40, are_flips=True)
    (0.0214, 0.1375)
    """
    return max(upper_normal(LEVEL) * spread / math.sqrt(n), (LEAST_FALLEN - 0.5) / n if are_flips else 0.0)
