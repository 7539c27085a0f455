"""Bootstrap over queries: the studentised test, its interval, percentile and BCa, and what resamples describe."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.stats.draws import BLOCK, check_draws
from gainful.stats.intervals import Interval
from gainful.stats.settled import least_count, settle

_STREAM = 2**63  # keys above are for resamples, those below for flips
_CELLS = 1 << 21


@dataclass(frozen=True, eq=False)
class Resamples:
    """Means and standard errors of samples of queries, drawn with replacement."""

    mean: float
    error: float  # standard error of the mean
    means: Floats
    errors: Floats

    @classmethod
    def of(cls, differences: Floats, draws: int, seed: int) -> Resamples:
        """Draws from differences, in the order of their queries' ids."""
        parts = [_moments(differences[rows]) for rows in resampled_rows(differences.size, draws, seed)]
        means, errors = (np.concatenate(each) for each in zip(*parts, strict=True))
        [mean], [error] = _moments(differences[np.newaxis])
        return cls(float(mean), float(error), means, errors)

    @property
    def _statistics(self) -> Floats:
        """|t| of each sample around the observed mean; a sample without spread counts as extreme."""
        apart = np.abs(self.means - self.mean)
        return np.asarray(np.divide(apart, self.errors, out=np.full(apart.size, math.inf), where=self.errors > 0))

    def p(self) -> float:
        """(samples whose |t| is at least the observed one + 1) / (samples + 1); 1 where no difference is observed."""
        observed = self._observed()
        extreme = np.count_nonzero(self._statistics >= observed * (1 - 1e-12))
        return (int(extreme) + 1) / (self.means.size + 1)

    def _observed(self) -> float:
        if not self.mean:
            return 0.0
        return abs(self.mean) / self.error if self.error else math.inf

    def studentised(self, alpha: float) -> Interval:
        """The symmetric bootstrap-t interval: the shifts that the test of :meth:`p` does not reject (Hall 1988)."""
        draws = self.means.size
        place = least_count(alpha, draws + 1) - 1
        reach = float(np.sort(self._statistics)[draws - place]) if place >= 1 else math.inf
        if math.isinf(reach):
            return Interval(-math.inf, math.inf, alpha, "bootstrap-t")
        # A hair wider, as p takes a hair more for equal.
        width = reach * self.error * (1 + 1e-12)
        return Interval(self.mean - width, self.mean + width, alpha, "bootstrap-t")

    def percentile(self, alpha: float) -> Interval:
        """The middle of the means: quantiles at alpha / 2 and its complement."""
        low, high = percentile_limits(self.means, alpha)
        return Interval(low, high, alpha, "percentile")

    def bca(self, differences: Floats, alpha: float) -> Interval:
        """Percentiles corrected for bias and acceleration (Efron 1987)."""
        from scipy.special import ndtr, ndtri

        below = (np.count_nonzero(self.means < self.mean) + np.count_nonzero(self.means <= self.mean)) / 2
        share = below / self.means.size
        if not self.error or not 0 < share < 1:
            return Interval(self.mean, self.mean, alpha, "bca")
        bias, acceleration = float(ndtri(share)), _acceleration(differences)
        quantiles = []
        for tail in (alpha / 2, 1 - alpha / 2):
            z = bias + float(ndtri(tail))
            quantiles.append(float(ndtr(bias + z / (1 - acceleration * z))))
        low, high = np.quantile(self.means, quantiles).tolist()
        return Interval(low, high, alpha, "bca")


def resampled_rows(queries: int, draws: int, seed: int) -> Iterator[Ints]:
    """Samples x queries: which queries are drawn, some samples at a time; Philox with the key (seed, block)."""
    check_draws(draws, seed)
    rows = max(1, min(BLOCK, _CELLS // max(1, queries)))
    for block in range(math.ceil(draws / BLOCK)):
        key = np.array([seed, _STREAM + block], np.uint64)
        generator = np.random.Philox(key=key)
        left = min(BLOCK, draws - block * BLOCK)
        for start in range(0, left, rows):
            size = min(rows, left - start)
            high_halves = generator.random_raw(size * queries) >> np.uint64(32)
            yield ((high_halves * np.uint64(queries)) >> np.uint64(32)).astype(np.int64).reshape(size, queries)


def percentile_limits(values: Floats, alpha: float) -> tuple[float, float]:
    """The quantiles between which the middle of some values lies."""
    low, high = np.quantile(values, [alpha / 2, 1 - alpha / 2]).tolist()
    return low, high


def _moments(samples: Floats) -> tuple[Floats, Floats]:
    """Mean and standard error of each row; 0 where it has no spread but for rounding."""
    n = samples.shape[1]
    means = samples.mean(axis=1)
    if n < 2:
        return means, np.zeros(means.size)
    deviations = settle(samples - means[:, np.newaxis], float(np.abs(samples).max(initial=0.0)))
    return means, np.sqrt((deviations**2).sum(axis=1) / (n - 1) / n)


def _acceleration(differences: Floats) -> float:
    apart = differences - math.fsum(differences) / differences.size
    spread = math.fsum(apart**2)
    return math.fsum(apart**3) / (6 * spread**1.5) if spread else 0.0
