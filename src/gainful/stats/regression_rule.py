"""Has a mean fallen from a frozen baseline? A rule for gates: neither blind to collapses nor alarmed by noise.

A drop is a regression if a one-sided paired test finds it at the level and it is at least a quarter of the margin, or
if it is at least the margin and more than chance makes of the spread that accepted changes had. What is neither, but
may be a drop by the margin, is a warning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.catalogues import INTERVALS, MOST_FLIPPED, RANDOMISATION, STUDENT, PairedTest
from gainful.stats.distributions import t_quantile, upper_normal
from gainful.stats.paired_tests import PairedScores, PairPlan, randomisation_p
from gainful.stats.run_noise import RunNoise, run_noise, satterthwaite

Verdict: TypeAlias = Literal["regression", "warning", "pass"]
#: The limits of an interval that misses a share of the time.
Limits: TypeAlias = Callable[[float], tuple[float, float]]

#: The level of the one-sided test, and of the one-sided limit that warns.
LEVEL, WARNING_LEVEL = 0.01, 0.05
#: A significant drop counts from this share of the margin on.
LEAST_SHARE = 0.25
#: From so many accepted changes on, their spread is known; before, that of the change at hand stands for it.
KNOWN_FROM = 5
_EXPANDED = 30


@dataclass(frozen=True, eq=False)
class Change:
    """What became of a mean. ``difference`` is new minus baseline; ``limits`` makes intervals of it.

    ``drop`` is how far it fell, whichever direction is better (negative: it rose); ``p_fell`` and ``p_rose`` are
    one-sided. ``margin`` is absolute, ``noise`` the drop that chance does not show at the level. ``spread`` is the
    standard deviation of per-query differences.
    """

    n: int
    baseline: float
    new: float
    difference: float
    drop: float
    p_fell: float
    p_rose: float
    margin: float
    noise: float
    level: float
    spread: float
    test: str
    is_higher_better: bool
    limits: Limits

    @cached_property
    def interval(self) -> tuple[float, float]:
        return self.limits(WARNING_LEVEL)

    @cached_property
    def most_dropped(self) -> float:
        """The one-sided 95 % limit of the drop."""
        low, high = self.limits(2 * WARNING_LEVEL)
        return -low if self.is_higher_better else high

    @property
    def is_regression(self) -> bool:
        """Whether it fell by more than chance and by more than nothing that matters."""
        is_shown = self.p_fell <= self.level and self.drop >= LEAST_SHARE * self.margin
        return self.drop > 0 and (is_shown or self.drop >= max(self.margin, self.noise))

    @property
    def is_too_small(self) -> bool:
        """Whether nothing could be shown: no test of so few queries reaches the level, and no spread is known."""
        return 2.0**-self.n > self.level and self.drop < self.noise

    @property
    def is_improvement(self) -> bool:
        return self.p_rose <= self.level and self.drop < 0

    @property
    def verdict(self) -> Verdict:
        """regression; warning where a drop by the margin cannot be excluded; else pass."""
        if self.is_regression:
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
    spread: float | None = None,
    level: float = LEVEL,
    draws: int | None = None,
    runs: RunNoise | None = None,
) -> Change:
    """What became of the mean of a baseline's scores, query by query.

    ``new`` are the scores, or queries x repeats where a system was run several times: then what varies from run to run
    counts as noise, too. ``margin`` is absolute. ``spread`` is the standard deviation of differences that accepted
    changes had, else it is that of this change. ``draws`` is how many flips there are, if not as many as usual;
    ``runs`` what is known of the baseline's runs.

    >>> found = assess_change(np.full(100, 0.5), np.full(100, 0.45), margin=0.01)
    >>> found.verdict, round(found.drop, 3)
    ('regression', 0.05)
    >>> assess_change(np.full(100, 0.5), np.full(100, 0.5), margin=0.01).verdict
    'pass'
    """
    repeats = new.reshape(baseline.size, -1)
    means = repeats[:, 0].copy()
    if repeats.shape[1] > 1:
        means = np.array([math.fsum(row) / len(row) for row in repeats.tolist()])  # whatever the order of repeats
    of_runs = run_noise(repeats, weights).pooled(runs).of_difference(repeats.shape[1])
    scores = PairedScores(means, baseline, PairPlan(alpha=2 * WARNING_LEVEL, draws=draws), weights, runs=of_runs)
    is_large = scores.n > MOST_FLIPPED and not scores.is_constant
    test = STUDENT if of_runs.variance or is_large else RANDOMISATION
    p, limits = _by_queries(scores, test)
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
        noise=_noise(scores, spread, of_runs, level),
        level=level,
        spread=scores.sd or 0.0,
        test=test.name,
        is_higher_better=better == "higher",
        limits=limits,
    )


def noise_of(spread: float, n: float, level: float = LEVEL) -> float:
    """The drop of a mean over n queries that chance shows only with this probability, if differences have a spread.

    >>> round(noise_of(0.13, 200), 4)
    0.0214
    """
    return upper_normal(level) * spread / math.sqrt(n)


def _noise(scores: PairedScores, spread: float | None, of_runs: RunNoise, level: float) -> float:
    """The same of queries and runs: by the spread of this change, in which weights are, or by a known one, to which
    they come; without limit where there is none."""
    df = scores.weight - 1
    if spread is not None:
        of_queries, df = spread**2 / scores.weight, math.inf
    elif scores.sd is None:
        return math.inf
    else:
        of_queries = scores.sd**2 / scores.weight
    df = satterthwaite((of_queries, df), (of_runs.variance, of_runs.df))
    if df < _EXPANDED:
        quantile = t_quantile(1 - level, df)
    else:
        # Student's t by its expansion about the normal quantile (Fisher and Cornish): five digits, without scipy.
        z = upper_normal(level)
        second, third = (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        quantile = sum(term / df**power for power, term in enumerate((z, (z**3 + z) / 4, second, third)))
    return quantile * math.sqrt(of_queries + of_runs.variance)


def _by_queries(scores: PairedScores, test: PairedTest) -> tuple[float, Limits]:
    """p and the limits of a test of queries; flips of very few set none, so that Student's stand in."""
    p = randomisation_p(scores)[0] if test is RANDOMISATION else test.formula(scores).p

    def limits(alpha: float) -> tuple[float, float]:
        if not scores.nonzero:
            return 0.0, 0.0  # nothing changed
        kind = INTERVALS[test.interval if test is STUDENT or scores.can_reach(alpha) else STUDENT.interval]
        found = kind.formula(scores, alpha)
        return found.low, found.high

    return p, limits
