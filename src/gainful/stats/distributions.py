"""Student's t and the normal distribution, and the search for where a function crosses 0."""

from __future__ import annotations

import math
from collections.abc import Callable

#: A p is never 0: what float64 cannot hold is written as its smallest normal number.
LEAST_P = 2.2250738585072014e-308


def crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """The smallest number between two at which a rising function is 0 or more, to the last digits.

    By inverse quadratic interpolation where it can be trusted, else by halving (Chandrupatla 1997): a quarter of the
    steps that halving alone takes.

    >>> crossing(lambda x: x * x - 2, 1.0, 2.0) == math.sqrt(2)
    True
    """
    # The newest point, the one on the other side of the crossing, and the one before.
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
    """The two-sided p of a t statistic.

    >>> round(t_p(2.38291, 49), 6)
    0.021099
    """
    from scipy.special import stdtr

    return max(float(2 * stdtr(df, -abs(statistic))), LEAST_P)


def t_quantile(probability: float, df: float) -> float:
    """Student's t below which a share of the distribution lies.

    >>> round(t_quantile(0.975, 49), 5)
    2.00958
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def upper_normal(share: float) -> float:
    """What a normal deviate exceeds with a probability up to one half: Newton's steps from 0, which never overshoot.

    >>> round(upper_normal(0.01), 12), round(upper_normal(0.5), 12)
    (2.326347874041, 0.0)
    """
    z, step = 0.0, 1.0
    while step > 1e-15 * z:
        step = (math.erfc(z / math.sqrt(2)) / 2 - share) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
        z += step
    return z
