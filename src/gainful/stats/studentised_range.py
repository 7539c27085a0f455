"""The studentised range: how far the largest and the smallest of several means lie apart by chance.

With R the range of m independent standard normal values and S an independent estimate of their standard deviation on v
degrees of freedom, q = R / S. Both integrals are Gauss-Legendre sums, for all q at once.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from gainful.arrays import Floats
from gainful.errors import UsageError

_ROOT_2PI = math.sqrt(2 * math.pi)
_Z_NODES = 128
_S_NODES = ((4.0, 80), (8.0, 200), (math.inf, 1000))  # for stretches of log s up to so long: longer with few df
_Z_END = 8.0  # a normal value is not beyond it but once in 10^15
_TAIL = 1e-14
_CELLS = 1 << 19  # of the double integral at a time
_DEGREE = 200  # of the polynomial that stands for log p where p is wanted for more values than this


def studentised_range_sf(q: Floats, systems: int, df: float = math.inf) -> Floats:
    """The probability of a studentised range above ``q``, for every q; ``df`` may be infinite.

    P(q) = integral over s of chi density(s) times P(R > q s), P(R > w) = m integral of phi(z) (Phi(z)^(m-1) - (Phi(z) -
    Phi(z - w))^(m-1)) dz. Absolute error below 1e-10.

    >>> round(float(studentised_range_sf(np.array([3.649]), 3, 16)[0]), 3)
    0.05
    """
    _check(systems, df)
    q = np.asarray(q, np.float64)
    if np.isnan(q).any():
        raise UsageError("studentised range: expected numbers, found NaN")
    found = np.where(q <= 0, 1.0, 0.0)
    proper = (q > 0) & np.isfinite(q)
    if proper.any():
        values = q[proper]
        found[proper] = (_interpolated if values.size > 2 * _DEGREE else _survival)(values, systems, df)
    return found


@cache
def studentised_range_critical(alpha: float, systems: int, df: float = math.inf) -> float:
    """The value that a studentised range exceeds with probability ``alpha``.

    >>> round(studentised_range_critical(0.05, 5, 20), 2)
    4.23
    """
    _check(systems, df)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha: expected a number between 0 and 1, found {alpha!r}")
    low, high = 0.0, 1.0
    while _survival(np.array([high]), systems, df)[0] > alpha:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _survival(np.array([middle]), systems, df)[0] > alpha else (low, middle)
    return high


def _check(systems: int, df: float) -> None:
    if systems < 2:
        raise UsageError(f"studentised range: expected at least 2 systems, found {systems}")
    if not df > 0:
        raise UsageError(f"studentised range: expected degrees of freedom above 0, found {df}")


def _interpolated(q: Floats, systems: int, df: float) -> Floats:
    """Thousands of values from a few hundred: log p is so smooth that a polynomial through them loses nothing."""
    from numpy.polynomial.chebyshev import chebval

    low, high = float(q.min()), float(q.max())
    half = (high - low) / 2 or 1.0

    nodes = _DEGREE + 1
    angle = (np.arange(nodes) + 0.5) * (math.pi / nodes)
    log_p = np.log(np.maximum(_survival(low + half * (np.cos(angle) + 1), systems, df), 1e-300))
    polynomial = (np.cos(np.arange(nodes)[:, np.newaxis] * angle) * log_p).sum(axis=1) * (2 / nodes)
    polynomial[0] /= 2
    return np.asarray(np.minimum(np.exp(chebval((q - low) / half - 1, polynomial)), 1.0))


def _survival(q: Floats, systems: int, df: float) -> Floats:
    return np.minimum(_range_survival(q, systems) if math.isinf(df) else _studentised(q, systems, df), 1.0)


def _studentised(q: Floats, systems: int, df: float) -> Floats:
    """The outer sum, over log s: there the density is equally wide at any s."""
    from scipy.special import gammainccinv, gammaincinv, gammaln

    lowest, highest = (math.sqrt(2 / df * limit(df / 2, _TAIL)) for limit in (gammaincinv, gammainccinv))
    # Where p is small, what makes it is an s that happens to be small: the density times exp(-(q s)^2 / 4).
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
    """P(R > w), for every w."""
    at_once = _CELLS // _Z_NODES
    parts = [_part_of_range_survival(w[i : i + at_once], systems) for i in range(0, w.size, at_once)]
    return np.concatenate(parts)


def _part_of_range_survival(w: Floats, systems: int) -> Floats:
    """The inner sum: a difference of powers, taken so that what is small is not lost beside 1."""
    from scipy.special import ndtr

    nodes, weights = _rule(_Z_NODES)
    width = (_Z_END + w / 4)[:, np.newaxis]  # from -8 to 8 + w / 2: at a large w both ends are far out
    z = -_Z_END + width * (nodes + 1)
    below = ndtr(z)
    with np.errstate(divide="ignore"):  # log(1 - 1): everything below z is beyond the range
        kept = (systems - 1) * np.log1p(-np.minimum(ndtr(z - w[:, np.newaxis]) / below, 1.0))
    integrand = np.exp(-(z**2) / 2) / _ROOT_2PI * below ** (systems - 1) * -np.expm1(kept)
    return np.asarray(systems * (integrand * weights * width).sum(axis=1))


@cache
def _rule(nodes: int) -> tuple[Floats, Floats]:
    x, weights = np.polynomial.legendre.leggauss(nodes)
    return x, weights
