"""Student's t and the normal distribution, and root finding."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gainful.kernel.arrays import Floats

#: The smallest p: below it float64 would round to 0, which p never is.
LEAST_P = 2.2250738585072014e-308

_INTERPOLATED = 64  # limits to interpolate between, with at least nine correct digits


def crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return the smallest number between two at which an increasing function is 0 or more, to the last digits.

    Inverse quadratic interpolation, with bisection as a fallback (Chandrupatla 1997), takes a quarter of the steps of
    bisection alone.

    >>> crossing(lambda x: x * x - 2, 1.0, 2.0) == math.sqrt(2)
    True
    """
    # The newest point, the one on the other side of the root, and the previous one.
    (x, f), (other, at_other) = (low, excess(low)), (high, excess(high))
    if f >= 0:
        return low
    share = 0.5
    while (x + other) / 2 not in (x, other):
        new = x + share * (other - x)
        at_new = excess(new)
        if (at_new >= 0) == (f >= 0):
            third, at_third = x, f
        else:
            third, at_third, other, at_other = other, at_other, x, f
        x, f = new, at_new
        along, rise = (x - other) / (third - other), (f - at_other) / (at_third - at_other)
        share = 0.5
        if rise**2 < along and (1 - rise) ** 2 < 1 - along:
            share = f / (at_other - f) * at_third / (at_other - at_third)
            share += (third - x) / (other - x) * f / (at_third - f) * at_other / (at_third - at_other)
        least = min(2 * math.ulp(x) / abs(other - x), 0.5)
        share = min(max(share, least), 1 - least)
    return max(x, other)


def t_p(statistic: float, df: float) -> float:
    """Return the two-sided p of a t statistic.

    >>> round(t_p(2.38291, 49), 6)
    0.021099
    """
    from scipy.special import stdtr

    return max(float(2 * stdtr(df, -abs(statistic))), LEAST_P)


def t_quantile(probability: float, df: float) -> float:
    """Return a quantile of Student's t distribution.

    >>> round(t_quantile(0.975, 49), 5)
    2.00958
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def upper_normal(share: float) -> float:
    """Return the normal quantile with an upper tail of at most one half, by Newton's method from 0.

    >>> round(upper_normal(0.01), 12), round(upper_normal(0.5), 12)
    (2.326347874041, 0.0)
    """
    z, step = 0.0, 1.0
    while step > 1e-15 * z:
        step = (math.erfc(z / math.sqrt(2)) / 2 - share) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
        z += step
    return z


def noncentral_t_below(t: float, df: float, noncentrality: float) -> float:
    """Return the probability that a noncentral t is at most ``t``.

    >>> round(noncentral_t_below(2.0, 49, 1.5), 8)
    0.68441103
    """
    from scipy.special import nctdtr

    with np.errstate(invalid="ignore"):
        found = float(nctdtr(df, noncentrality, t))
    # SciPy returns NaN if less than 1e-15 is left in a tail.
    return float(t > noncentrality) if math.isnan(found) else found


def noncentral_t_beyond(critical: float, df: float, noncentrality: float) -> float:
    """Return the probability that the absolute value of a noncentral t exceeds a critical value."""
    above = noncentral_t_below(-critical, df, -noncentrality)
    return min(1.0, above + noncentral_t_below(-critical, df, noncentrality))


@lru_cache(maxsize=256)
def detectable_noncentrality(df: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest difference, in standard errors, that a t test detects with this power.

    >>> round(0.194848 * detectable_noncentrality(49) / 50**0.5, 5)
    0.07875
    """
    critical = t_quantile(1 - alpha / 2, df)
    return least_with_power(lambda noncentrality: noncentral_t_beyond(critical, df, noncentrality), power, 1.0)


def noncentrality_interval(t: float, df: float, alpha: float) -> tuple[float, float]:
    """Return the noncentralities that put a t statistic in neither tail; divided by sqrt(n) they are limits of d_z.

    >>> low, high = noncentrality_interval(2.382915, 49, 0.05)
    >>> round(low / 50**0.5, 5), round(high / 50**0.5, 5)
    (0.05031, 0.62043)
    """
    tail = alpha / 2
    return _noncentrality(t, df, 1 - tail), _noncentrality(t, df, tail)


def noncentrality_intervals(t: Floats, df: float, alpha: float) -> tuple[Floats, Floats]:
    """Vectorised :func:`noncentrality_interval`; more than 128 values are interpolated with a polynomial.

    With t = sqrt(df) sinh(u), a limit divided by cosh(u) is smooth in u and bounded; the upper limit of t is minus the
    lower limit of -t.

    >>> low, high = noncentrality_intervals(np.array([2.382915, -2.382915]), 49, 0.05)
    >>> np.round(low / 50**0.5, 5).tolist(), np.round(high / 50**0.5, 5).tolist()
    ([0.05031, -0.62043], [0.62043, -0.05031])
    """
    place = np.arcsinh(t / math.sqrt(df))

    def lower(places: Floats) -> Floats:
        wanted = (math.sqrt(df) * np.sinh(places)).tolist()
        return np.array([_noncentrality(value, df, 1 - alpha / 2) for value in wanted]) / np.cosh(places)

    reach = float(np.max(np.abs(place), initial=0.0))
    found: Callable[[Floats], Any] = lower
    if t.size > 2 * _INTERPOLATED and reach:
        found = np.polynomial.Chebyshev.interpolate(lower, _INTERPOLATED - 1, [-reach, reach])
    return np.asarray(found(place) * np.cosh(place)), np.asarray(-found(-place) * np.cosh(place))


@lru_cache(maxsize=256)
def _noncentrality(t: float, df: float, below: float) -> float:
    """Return the noncentrality at which a share ``below`` of the distribution is at most t."""
    width = 1.0
    while noncentral_t_below(t, df, t - width) < below:
        width *= 2
    low = t - width
    width = 1.0
    while noncentral_t_below(t, df, t + width) > below:
        width *= 2
    return crossing(lambda value: below - noncentral_t_below(t, df, value), low, t + width)


def least_with_power(reached: Callable[[float], float], power: float, start: float) -> float:
    """Return the smallest positive number for which ``reached`` is at least ``power``."""
    low, high = 0.0, start
    while reached(high) < power:
        low, high = high, 2 * high
    return crossing(lambda value: reached(value) - power, low, high)
