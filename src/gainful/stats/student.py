"""Student's t and the normal distribution: p and quantiles, loaded without what plans of studies need."""

from __future__ import annotations

import math

from gainful.stats.repeatable import LEAST_P


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
