"""Noise between runs of one system: seeds, shards, repeated calls of a language model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats


@dataclass(frozen=True, eq=False)
class RunNoise:
    """The variance of a system's mean from run to run, its degrees of freedom, and the number of baseline runs.

    Only the part that all queries of a run share counts.
    """

    variance: float = 0.0
    df: float = 0
    baseline_runs: int = 1

    def of_difference(self, runs: int, baseline: RunNoise | None = None) -> RunNoise:
        """Return the noise of the difference between means of ``runs`` runs and of the baseline's runs."""
        other = baseline or RunNoise()
        df = self.df + other.df
        variance = (self.df * self.variance + other.df * other.variance) / df if df else 0.0
        return RunNoise(variance * (1 / runs + 1 / other.baseline_runs), df)


def run_noise(repeats: Floats, weights: Floats | None = None) -> RunNoise:
    """Estimate the noise between runs of one system from queries x repeats.

    Means vary by a component that all queries of a run share, and by per-query noise. The spread over queries already
    contains the second, so it is subtracted (two-way analysis of variance without replication).
    """
    queries, runs = repeats.shape
    if runs < 2 or queries < 2:
        return RunNoise()
    counted = repeats if weights is None else repeats * weights[:, np.newaxis]
    counted = counted[:, np.lexsort(counted[::-1])]  # makes the result independent of the order of runs
    means = np.array([math.fsum(column) / queries for column in counted.T.tolist()])
    by_query = np.array([math.fsum(row) / runs for row in counted.tolist()])
    residuals = counted - means - by_query[:, np.newaxis] + math.fsum(means.tolist()) / runs
    residual = math.fsum((residuals**2).ravel().tolist()) / ((runs - 1) * (queries - 1))
    return RunNoise(max(0.0, float(np.var(means, ddof=1)) - residual / queries), runs - 1)


def noise_of_means(systems: Sequence[Floats | None], weights: Floats | None = None) -> RunNoise | None:
    """Return the noise of a difference between systems, each queries x repeats; None if no system has repeats.

    Variances may differ; a system without repeats counts as noiseless.
    """
    found = [(run_noise(each, weights), each.shape[1]) for each in systems if each is not None]
    parts = [(noise.variance / runs, noise.df) for noise, runs in found]
    return RunNoise(sum(variance for variance, _ in parts), satterthwaite(*parts)) if parts else None


def satterthwaite(*parts: tuple[float, float]) -> float:
    """Return the degrees of freedom of a sum of independent variances; if all are 0, those of the first.

    >>> satterthwaite((1.0, 10), (1.0, 10)), satterthwaite((1.0, 49), (0.0, 2))
    (20.0, 49)
    """
    some = [(variance, df) for variance, df in parts if variance and df] or parts[:1]
    if len(some) == 1:
        return some[0][1]
    return float(sum(variance for variance, _ in parts) ** 2 / sum(variance**2 / df for variance, df in some))
