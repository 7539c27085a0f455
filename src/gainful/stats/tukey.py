"""Tukey's honestly significant difference for all pairs of systems, and its randomised form.

The studentised range is q = R / S, with R the range of m independent standard normal values and S an independent
estimate of their standard deviation on v degrees of freedom. Both integrals are Gauss-Legendre sums, vectorised over q.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property

import numpy as np

from gainful.frozen import dataclass
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.stats.anova import PairComparisons, TwoWayAnova, column_means, pairs_of, two_way
from gainful.stats.distributions import LEAST_P, crossing
from gainful.stats.repeatable import BLOCK, check_draws, largest_at, least_count, least_significant, on_grid, settle

#: Default number of permutations.
PERMUTATIONS = 10_000

_ROOT_2PI = math.sqrt(2 * math.pi)
_Z_NODES = 128
_S_NODES = ((4.0, 80), (8.0, 200), (math.inf, 1000))  # by maximum width of log s, which is larger with few df
_Z_END = 8.0  # normal values beyond have probability 1e-15
_TAIL = 1e-14
_CELLS = 1 << 19  # of the double integral per batch
_DEGREE = 200  # of the polynomial that interpolates log p for many values


def studentised_range_sf(q: Floats, systems: int, df: float = math.inf) -> Floats:
    """Return the probability that a studentised range exceeds each ``q``, for two or more systems; df may be infinite.

    P(q) = integral over s of chi density(s) times P(R > q s), P(R > w) = m integral of phi(z) (Phi(z)^(m-1) - (Phi(z) -
    Phi(z - w))^(m-1)) dz. Absolute error below 1e-10.

    >>> round(float(studentised_range_sf(np.array([3.649]), 3, 16)[0]), 3)
    0.05
    """
    found = np.where(q <= 0, 1.0, 0.0)
    proper = (q > 0) & np.isfinite(q)
    if proper.any():
        values = q[proper]
        found[proper] = (_interpolated if values.size > 2 * _DEGREE else _survival)(values, systems, df)
    return found


@cache
def studentised_range_critical(alpha: float, systems: int, df: float = math.inf) -> float:
    """Return the value that a studentised range exceeds with probability ``alpha``.

    >>> round(studentised_range_critical(0.05, 5, 20), 2)
    4.23
    """

    def missing(value: float) -> float:
        return alpha - float(_survival(np.array([value]), systems, df)[0])

    high = 1.0
    while missing(high) < 0:
        high *= 2
    return crossing(missing, high / 2 if high > 1 else 0.0, high)


def _interpolated(q: Floats, systems: int, df: float) -> Floats:
    """Interpolate: log p is so smooth that a polynomial is accurate to rounding."""
    low, high = float(q.min()), float(q.max())
    half = (high - low) / 2 or 1.0
    nodes = _DEGREE + 1
    angle = (np.arange(nodes) + 0.5) * (math.pi / nodes)
    log_p = np.log(np.maximum(_survival(low + half * (np.cos(angle) + 1), systems, df), 1e-300))
    # Not a matrix product: its order of addition depends on the linear algebra library.
    polynomial = (np.cos(np.arange(nodes)[:, np.newaxis] * angle) * log_p).sum(axis=1) * (2 / nodes)
    polynomial[0] /= 2
    found = np.polynomial.chebyshev.chebval((q - low) / half - 1, polynomial)
    return np.asarray(np.minimum(np.exp(found), 1.0))


def _survival(q: Floats, systems: int, df: float) -> Floats:
    return np.minimum(_range_survival(q, systems) if math.isinf(df) else _studentised(q, systems, df), 1.0)


def _studentised(q: Floats, systems: int, df: float) -> Floats:
    """Return the outer sum, over log s, where the width of the density does not depend on s."""
    from scipy.special import gammainccinv, gammaincinv, gammaln

    lowest, highest = (math.sqrt(2 / df * limit(df / 2, _TAIL)) for limit in (gammaincinv, gammainccinv))
    # A small p comes from small s, because the density is multiplied by exp(-(q s)^2 / 4).
    centre = np.sqrt(df / (df + q**2 / 2))
    start, end = np.log(lowest * centre), math.log(highest)
    nodes, weights = _rule(next(number for longest, number in _S_NODES if end - start.min() < longest))
    width = ((end - start) / 2)[:, np.newaxis]
    t = start[:, np.newaxis] + width * (nodes + 1)
    s = np.exp(t)
    log_density = df / 2 * math.log(df / 2) + math.log(2) - gammaln(df / 2) + df * t - df * s**2 / 2
    beyond = _range_survival((q[:, np.newaxis] * s).ravel(), systems).reshape(s.shape)
    return np.asarray((np.exp(log_density) * beyond * weights * width).sum(axis=1))


def _range_survival(w: Floats, systems: int) -> Floats:
    """Return the inner sum, a difference of powers computed without cancellation."""
    from scipy.special import ndtr

    nodes, weights = _rule(_Z_NODES)
    found, at_once = np.empty(w.size), _CELLS // _Z_NODES
    for first in range(0, w.size, at_once):
        part = w[first : first + at_once, np.newaxis]
        width = _Z_END + part / 4  # from -8 to 8 + w / 2: for large w both ends matter
        z = -_Z_END + width * (nodes + 1)
        below = ndtr(z)
        with np.errstate(divide="ignore"):  # log(1 - 1) = -inf is correct here
            kept = (systems - 1) * np.log1p(-np.minimum(ndtr(z - part) / below, 1.0))
        integrand = np.exp(-(z**2) / 2) / _ROOT_2PI * below ** (systems - 1) * -np.expm1(kept)
        found[first : first + at_once] = systems * (integrand * weights * width).sum(axis=1)
    return found


@cache
def _rule(nodes: int) -> tuple[Floats, Floats]:
    x, weights = np.polynomial.legendre.leggauss(nodes)
    return x, weights


@dataclass(frozen=True, eq=False)
class TukeyTest(PairComparisons):
    """Tukey's test of every pair; the statistic is q, a difference of means in units of sqrt(MSE / n)."""

    anova: TwoWayAnova


@dataclass(frozen=True, eq=False)
class RandomisedTukeyTest(PairComparisons):
    """The randomised test of every pair: p is the share of permutations with a *largest* difference at least as large.

    The statistic is the absolute difference; ``ranges`` are the largest differences of the permutations, ascending.
    """

    ranges: Floats
    draws: int
    seed: int

    @cached_property
    def error(self) -> Floats:
        return np.asarray(np.sqrt(self.p * (1 - self.p) / self.draws))


def tukey(scores: Floats, *, alpha: float = 0.05) -> TukeyTest:
    """Apply Tukey's test to paired scores, with the residual of the two-way analysis of variance.

    q = |mean_i - mean_j| / sqrt(MSE / n), p = P(studentised range of m means on (m - 1)(n - 1) degrees of freedom >
    q). Unlike in the test for independent samples, the difficulty of queries is no noise.

    >>> found = tukey(np.array([[0.1, 0.3], [0.4, 0.5], [0.2, 0.6]]))
    >>> found.p.round(6).tolist()  # with two systems equal to the paired t test
    [0.118083]
    """
    table = two_way(scores)
    n, m = table.residuals.shape
    first, second = pairs_of(m)
    difference = settle(table.means[first] - table.means[second], float(np.ptp(scores)))
    df, mse = table.residual.df, table.residual.mean_square
    unit = math.sqrt(mse / n)
    if not df or not mse:
        # Without a residual, any difference is significant; without degrees of freedom, none can be.
        q = np.where((difference != 0) & (df > 0), math.inf, 0.0)
        p = np.where(q > 0, LEAST_P, 1.0)
        critical = least_significant(0.0, np.abs(difference), p < alpha, float(np.ptp(scores))) if df else math.inf
    else:
        q = np.abs(difference) / unit
        p = np.maximum(studentised_range_sf(q, m, df), LEAST_P)
        critical = studentised_range_critical(alpha, m, df) * unit
    return TukeyTest(difference, q, p, critical, table)


def randomised_tukey(
    scores: Floats, *, draws: int = PERMUTATIONS, seed: int = 0, alpha: float = 0.05, threads: int | None = None
) -> RandomisedTukeyTest:
    """Apply randomised Tukey HSD (Carterette 2012), which permutes each query's scores among the systems.

    R = max - min of the column means of a permutation. p_ij = (#{R >= |mean_i - mean_j|} + 1) / (draws + 1). The result
    does not depend on the number of threads or the order of systems.

    >>> found = randomised_tukey(np.array([[0.1, 0.3, 0.2]] * 30), draws=999)
    >>> found.p.tolist()  # no permutation has a difference as large as any of these
    [0.001, 0.001, 0.001]
    """
    n, m = scores.shape
    check_draws(draws, seed)
    first, second = pairs_of(m)
    # Subtract per-query minima: ranges are unchanged, the grid is finer.
    rows = scores - scores.min(axis=1, keepdims=True)
    grid = on_grid(rows, n)
    sums = grid.steps.sum(axis=0)
    observed = np.abs(sums[first] - sums[second])
    ascending, starts = np.sort(grid.steps, axis=1), range(0, draws, BLOCK)
    with ThreadPoolExecutor(core.thread_count(threads)) as pool:
        parts = pool.map(lambda start: _ranges(ascending, min(BLOCK, draws - start), seed, start // BLOCK), starts)
        ranges = np.sort(np.concatenate(list(parts)))
    # Rounding a score changes it by half a step, a difference of sums by n steps, and a comparison of two by 2 n.
    reached = draws - np.searchsorted(ranges, observed - 2 * n)
    means, scale = column_means(scores), float(np.ptp(scores))
    difference, p = settle(means[first] - means[second], scale), (reached + 1) / (draws + 1)
    critical = largest_at(ranges, least_count(alpha, draws + 1) - 1) * (grid.unit / n)
    critical = least_significant(critical, np.abs(difference), p < alpha, scale)
    return RandomisedTukeyTest(difference, np.abs(difference), p, critical, ranges * (grid.unit / n), draws, seed)


def _ranges(rows: Floats, draws: int, seed: int, block: int) -> Floats:
    """Return ranges of the permuted columns' sums; rows hold ascending whole numbers, so sums are exact.

    Permutes by sorting keys, which is fastest in NumPy: high bits are random, low bits are the index of the score.
    Random bits are equal at most once in 2^22 (far more rarely above 1,024 systems); only then does the index decide.
    """
    # Generating the same bits with Philox takes three times as long, longer than sorting.
    state = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(block,))).state["state"]["state"]
    systems = rows.shape[1]
    sums, keys = np.zeros((draws, systems)), np.empty((draws, systems), np.uint32 if systems <= 1024 else np.uint64)
    for row in rows:
        core.random_keys(state, keys)
        keys.sort(axis=1)
        core.add_at_places(sums, row, keys)
    return np.asarray(sums.max(axis=1) - sums.min(axis=1))
