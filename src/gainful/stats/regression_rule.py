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
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.catalogues import INTERVALS, RANDOMISATION, STUDENT, PairedTest
from gainful.stats.paired_tests import MOST_FLIPPED, PairedScores, Settings, TestOutcome
from gainful.stats.power import t_p, t_quantile
from gainful.stats.resampling import randomisation_p

Verdict: TypeAlias = Literal["regression", "warning", "pass"]
#: The limits of an interval that misses a share of the time.
Limits: TypeAlias = Callable[[float], tuple[float, float]]

#: The level of the one-sided test, and of the one-sided limit that warns.
LEVEL, WARNING_LEVEL = 0.01, 0.05
#: A significant drop counts from this share of the margin on.
LEAST_SHARE = 0.25
#: From so many accepted changes on, their spread is known; before, that of the change at hand stands for it.
KNOWN_FROM = 5
#: The spread of per-query differences that small changes have, relative to the mean; real collections have less.
USUAL_SPREAD = 0.13


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
        """The 95 % interval of the difference."""
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
    def is_improvement(self) -> bool:
        """Whether it rose, by the same test at the same level."""
        return self.p_rose <= self.level and self.drop < 0

    @property
    def verdict(self) -> Verdict:
        """regression; warning where a drop by the margin cannot be excluded; else pass."""
        if self.is_regression:
            return "regression"
        return "warning" if self.most_dropped > self.margin else "pass"

    @property
    def relative(self) -> float | None:
        """The difference relative to the baseline's mean."""
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
) -> Change:
    """What became of the mean of a baseline's scores, query by query.

    ``new`` are the scores, or queries x repeats where a system was run several times: then what varies from run to run
    counts as noise, too. ``margin`` is absolute. ``spread`` is the standard deviation of differences that accepted
    changes had, else it is that of this change. ``draws`` is how many flips there are, if not as many as usual.

    >>> found = assess_change(np.full(100, 0.5), np.full(100, 0.45), margin=0.01)
    >>> found.verdict, round(found.drop, 3)
    ('regression', 0.05)
    >>> assess_change(np.full(100, 0.5), np.full(100, 0.5), margin=0.01).verdict
    'pass'
    """
    repeats = new.reshape(baseline.size, -1)
    scores = PairedScores(_means(repeats), baseline, Settings(2 * WARNING_LEVEL, draws), weights)
    sign = 1.0 if better == "higher" else -1.0
    of_runs = _variance_of_runs(repeats, scores)
    is_large = scores.n > MOST_FLIPPED and not scores.is_constant
    test = STUDENT if of_runs or is_large else RANDOMISATION
    p, limits = _by_runs(scores, of_runs, repeats.shape[1]) if of_runs else _by_queries(scores, test)
    own = scores.sd or 0.0
    known = own if spread is None else spread
    p_high, p_low = (p / 2, 1 - p / 2) if scores.mean > 0 else (1 - p / 2, p / 2)
    p_rose, p_fell = (p_high, p_low) if sign > 0 else (p_low, p_high)
    mean = math.fsum(scores.weighted(scores.b).tolist()) / scores.n
    return Change(
        n=scores.n,
        baseline=mean,
        new=mean + scores.mean,
        difference=scores.mean,
        drop=-sign * scores.mean,
        p_fell=p_fell if scores.nonzero else 1.0,
        p_rose=p_rose if scores.nonzero else 1.0,
        margin=margin,
        noise=noise_of(known, scores.n, level, of_runs),
        level=level,
        spread=own,
        test=test.name,
        is_higher_better=better == "higher",
        limits=limits,
    )


def noise_of(spread: float, n: int, level: float = LEVEL, of_runs: float = 0.0) -> float:
    """The drop of a mean over n queries that chance shows only with this probability, if differences have a spread.

    >>> round(noise_of(0.13, 200), 4)
    0.0214
    """
    return NormalDist().inv_cdf(1 - level) * math.sqrt(spread**2 / n + of_runs)


def _means(repeats: Floats) -> Floats:
    """Each query's mean over repeats, whatever their order."""
    if repeats.shape[1] == 1:
        return np.ascontiguousarray(repeats[:, 0])
    return np.array([math.fsum(row) / len(row) for row in repeats.tolist()])


def _by_queries(scores: PairedScores, test: PairedTest) -> tuple[float, Limits]:
    """p and the limits of a test of queries; flips of very few set none, so that Student's stand in."""
    p = randomisation_p(scores)[0] if test is RANDOMISATION else TestOutcome.of(test, scores).p
    kind = INTERVALS[test.interval if test is STUDENT or scores.can_reach else STUDENT.interval]

    def limits(alpha: float) -> tuple[float, float]:
        if not scores.nonzero:
            return 0.0, 0.0  # nothing changed
        found = kind.formula(scores, alpha)
        return found.low, found.high

    return p, limits


def _variance_of_runs(repeats: Floats, scores: PairedScores) -> float:
    """The variance that the difference has because runs of one system differ as a whole: 0 of a single one.

    Run means vary by what all queries of a run share, and by what each query has for itself; the second part is in the
    spread over queries already. The baseline is one run, this the mean of several.
    """
    queries, runs = repeats.shape
    if runs < 2 or queries < 2:
        return 0.0
    weighted = np.stack([scores.weighted(column) for column in repeats.T])  # runs x queries
    means = np.array([math.fsum(row) / queries for row in weighted.tolist()])
    centred = weighted - means[:, np.newaxis] - weighted.mean(axis=0) + means.mean()
    residual = math.fsum((centred**2).ravel().tolist()) / ((runs - 1) * (queries - 1))
    of_runs = max(0.0, float(np.var(means, ddof=1)) - residual / queries)
    return float(of_runs * (1 + 1 / runs))


def _by_runs(scores: PairedScores, of_runs: float, runs: int) -> tuple[float, Limits]:
    """Student's test with both sources of variance, degrees of freedom by Satterthwaite."""
    of_queries = (scores.sd or 0.0) ** 2 / scores.n
    total = of_queries + of_runs
    df = total**2 / (of_queries**2 / (scores.n - 1) + of_runs**2 / (runs - 1))
    error = math.sqrt(total)

    def limits(alpha: float) -> tuple[float, float]:
        reach = t_quantile(1 - alpha / 2, df) * error
        return scores.mean - reach, scores.mean + reach

    return t_p(scores.mean / error, df), limits
