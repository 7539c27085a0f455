"""Means as a trusted judge of some queries would find them, from the scores by another judge of all queries.

Prediction-powered inference (Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453); for a mean it is the regression
estimator of double sampling (Cochran, Sampling Techniques, 1977, chapter 12).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.stats.distributions import t_quantile

#: With fewer trusted scores, hardly anything is known of the other judge's errors.
FEWEST = 4


class PoweredMean(NamedTuple):
    """A mean as the trusted judge would find it, with its interval."""

    value: float
    low: float
    high: float
    other: float  # the mean by the other judge
    weight: float  # lambda, of the other judge
    needed: int  # number of further trusted queries that would halve the interval
    noise: float | None  # how far one judging by the other judge may be from the mean of many; None if there is one

    @property
    def shown(self) -> tuple[float | None, ...]:
        """Value, interval, the other judge's mean, its bias (this mean minus the value), ``needed`` and ``noise``."""
        return (*self[:4], self.other - self.value, self.needed, self.noise)

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return not self.low <= 0 <= self.high


def _variance(values: Floats) -> float:
    """Return the sample variance; 0 if the values differ only by rounding."""
    return float(np.var(values, ddof=1)) if np.ptp(values) > 1e-12 * np.abs(values).max() else 0.0


def judging_noise(judgings: Floats, alpha: float = 0.05, weights: Floats | None = None) -> float:
    """Return how far the mean by one judging may be from that of many, from the spread between judgings x queries.

    >>> round(judging_noise(np.array([[0.2, 0.6], [0.4, 0.6]])), 4)  # variance (0.02 + 0) / 4, t with 2 degrees
    0.3042
    """
    shares = np.full(judgings.shape[1], 1 / judgings.shape[1]) if weights is None else weights / weights.sum()
    variance = float((np.var(judgings, axis=0, ddof=1) * shares**2).sum())
    return t_quantile(1 - alpha / 2, (len(judgings) - 1) * judgings.shape[1]) * math.sqrt(variance)


def powered_mean(trusted: Floats, judgings: Floats, alpha: float = 0.05) -> PoweredMean:
    """Return the mean of trusted scores for queries like these; NaN where there is none.

    ``judgings`` are scores of all queries by the other judge, one row per judging; their mean f is used. With n trusted
    scores y and N queries without, the mean is w mean(f of the N) + mean(y - w f of the n), without bias whatever the
    errors of f are. The variance is least if w is N / (n + N) times the slope of y by f. The interval is Student's with
    n - 2 degrees of freedom, because the slope is estimated. The n must be a random sample of all queries. The
    interval is for queries like these, also if all are trusted.

    >>> y, f = [0, 1, 1, 2, *[math.nan] * 4], [0, 0, 2, 2, 0, 2, 2, 4]
    >>> found = powered_mean(np.array(y), np.array([f]))
    >>> found.value, found.weight  # the slope is 2/4, and half of it the weight: 0.25 * 2 + 1 - 0.25 * 1
    (1.25, 0.25)
    """
    usable = ~np.isnan(judgings).any(axis=0)
    y, rows = trusted[usable], judgings[:, usable]
    f, both = rows.mean(axis=0), ~np.isnan(y)
    n, every, y_both, f_both = int(both.sum()), f.size, y[both], f[both]
    if n < FEWEST:
        raise UsageError(f"calibration: at least {FEWEST} queries need scores by both judges, found {n}")
    spread, spread_y = _variance(f_both) if n < every else 0.0, _variance(y_both)
    slope = float(np.cov(y_both, f_both)[0, 1]) / spread if spread > 0 and spread_y > 0 else 0.0
    weight = slope * (every - n) / every
    rest, df = y_both - weight * f_both, n - 1 - (weight != 0)
    value, variance = float(rest.mean()), _variance(rest) * (n - 1) / df / n
    if n < every:
        value += weight * float(f[~both].mean())
        variance += weight**2 * float(np.var(f, ddof=1)) / (every - n)
    reach = t_quantile(1 - alpha / 2, df) * math.sqrt(variance)
    # With m of all queries trusted, the variance is unexplained / m + explained / all.
    explained = slope**2 * spread
    unexplained = spread_y - explained
    quarter = (unexplained / n + explained / every) / 4
    m = unexplained / (quarter - explained / every) if quarter > explained / every else math.inf
    if m > every:  # also new queries
        m = (unexplained + explained) / quarter if quarter > 0 else n
    noise = judging_noise(rows, alpha) if len(rows) > 1 else None
    return PoweredMean(value, value - reach, value + reach, float(f.mean()), weight, math.ceil(m - 1e-9) - n, noise)
