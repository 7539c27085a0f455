"""Student's t and its noncentral form: p, quantiles, power, and what a number of queries can detect.

The noncentral distribution function is our own quadrature: scipy's returns NaN in the tails that searches run into.

The noncentral F distribution, as a mixture: scipy's is not the same in all versions that gainful allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats

#: A p is never 0: what float64 cannot hold is written as its smallest normal number.
LEAST_P = 2.2250738585072014e-308

_NODES = 96
_TAIL = 1e-15  # of the spread's distribution that is left out at either end
_REACH = 9.0  # standard deviations beyond which a normal tail is nothing
_MOST_QUERIES = 10**9
_LEAST_ALPHA = 1e-12


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


def noncentral_t_below(t: float, df: float, noncentrality: float) -> float:
    """The chance that a noncentral t is at most ``t``.

    The integral over the sample's spread s of Phi(t s - noncentrality), s being chi / sqrt(df).

    >>> round(noncentral_t_below(2.0, 49, 1.5), 8)
    0.68441103
    """
    from scipy.special import ndtr

    s, weight = _spread(df, *_where_it_bends(t, noncentrality))
    return min(1.0, float((weight * ndtr(t * s - noncentrality)).sum()))


def power_of_t(n: int, effect: float, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t test on ``n`` queries finds a difference of ``effect`` standard deviations.

    >>> round(power_of_t(122, 0.05 / 0.194848), 4), round(power_of_t(121, 0.05 / 0.194848), 4)
    (0.8028, 0.7996)
    """
    _check(n, alpha)
    df, noncentrality = n - 1, abs(effect) * math.sqrt(n)
    critical = t_quantile(1 - alpha / 2, df)
    above = noncentral_t_below(-critical, df, -noncentrality)
    return min(1.0, above + noncentral_t_below(-critical, df, noncentrality))


@lru_cache(maxsize=256)
def detectable_effect(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference, in standard deviations, that a paired t test on ``n`` queries finds with this power.

    >>> round(0.194848 * detectable_effect(50), 5)
    0.07875
    """
    _check(n, alpha)
    check_power(power, alpha)
    low, high = 0.0, 1.0
    while power_of_t(n, high, alpha) < power:
        low, high = high, 2 * high
    return _bisect(lambda effect: power_of_t(n, effect, alpha) >= power, low, high)


def queries_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The smallest number of queries with which a paired t test finds a difference of ``effect`` standard deviations.

    >>> queries_needed(0.05 / 0.194848)
    122
    """
    check_power(power, alpha)
    if not effect or not math.isfinite(effect):
        raise UsageError(f"effect: expected a difference that is not 0, found {effect:g}")
    low, high = 1, 2
    while power_of_t(high, effect, alpha) < power:
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            raise UsageError(f"effect: expected one that {_MOST_QUERIES:,} queries can show, found {effect:g}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of_t(middle, effect, alpha) >= power else (middle, high)
    return high


def noncentrality_interval(t: float, df: float, alpha: float) -> tuple[float, float]:
    """The noncentralities for which a t statistic is not in either tail; divided by sqrt(n) these are limits of d_z.

    >>> low, high = noncentrality_interval(2.382915, 49, 0.05)
    >>> round(low / 50**0.5, 5), round(high / 50**0.5, 5)
    (0.05031, 0.62043)
    """
    tail = alpha / 2
    return _noncentrality(t, df, 1 - tail), _noncentrality(t, df, tail)


def _noncentrality(t: float, df: float, below: float) -> float:
    """The noncentrality with which a share ``below`` of the distribution is at most t: it falls as that grows."""
    width = 1.0
    while noncentral_t_below(t, df, t - width) < below:
        width *= 2
    low = t - width
    width = 1.0
    while noncentral_t_below(t, df, t + width) > below:
        width *= 2
    return _bisect(lambda value: noncentral_t_below(t, df, value) <= below, low, t + width)


def _bisect(is_enough: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest number between two that is enough, to the last digits."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _where_it_bends(t: float, noncentrality: float) -> tuple[float, float]:
    """Between which spreads Phi(t s - noncentrality) climbs; where it is flat, one piece is enough."""
    if not t:
        return math.inf, math.inf
    ends = sorted(((noncentrality - _REACH) / t, (noncentrality + _REACH) / t))
    return ends[0], ends[1]


def _spread(df: float, bend_low: float, bend_high: float) -> tuple[Floats, Floats]:
    """Nodes and weights (with the density) over chi / sqrt(df), finer where the integrand bends."""
    from scipy.special import gammaln

    low, high = _range_of_spread(df)
    cuts = sorted({low, high, *(cut for cut in (bend_low, bend_high) if low < cut < high)})
    nodes, weights = _legendre()
    s = np.concatenate([(b - a) / 2 * nodes + (a + b) / 2 for a, b in pairwise(cuts)])
    step = np.concatenate([(b - a) / 2 * weights for a, b in pairwise(cuts)])
    constant = math.log(2) + df / 2 * math.log(df / 2) - float(gammaln(df / 2))
    density = np.exp(constant + (df - 1) * np.log(s) - df * s * s / 2)
    weight = step * density
    return s, np.asarray(weight / weight.sum())


@lru_cache(maxsize=256)
def _range_of_spread(df: float) -> tuple[float, float]:
    from scipy.special import gammainccinv, gammaincinv

    return (
        math.sqrt(2 * float(gammaincinv(df / 2, _TAIL)) / df),
        math.sqrt(2 * float(gammainccinv(df / 2, _TAIL)) / df),
    )


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _check(n: int, alpha: float) -> None:
    if n < 2:
        raise UsageError(f"n: expected at least 2 queries, found {n}")
    check_alpha(alpha)


def check_alpha(alpha: float) -> None:
    """Refuses a level that is none, or so small that float64 cannot count to its inverse."""
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha: expected a number between 0 and 0.5, found {alpha:g}")
    if alpha < _LEAST_ALPHA:
        raise UsageError(f"alpha: expected at least {_LEAST_ALPHA:g}, found {alpha:g}")


def check_power(power: float, alpha: float) -> None:
    """Refuses a power that is none, or no more than chance."""
    check_alpha(alpha)
    if not alpha < power < 1:
        raise UsageError(f"power: expected a number between alpha ({alpha:g}) and 1, found {power:g}")


_NONCENTRAL_F_REACH = 12  # standard deviations of the mixing distribution on either side: the rest is below 1e-15


def noncentral_f_above(f: float, df: float, df_against: float, noncentrality: float) -> float:
    """The chance that a noncentral F is above ``f``.

    The sum over j of Poisson(j; noncentrality / 2) times the chance of a beta(df / 2 + j, df_against / 2) variable to
    be above df f / (df f + df_against).

    >>> round(noncentral_f_above(4.0, 1, 49, 0.0), 6), round(noncentral_f_above(4.0, 1, 49, 9.0), 2)
    (0.051059, 0.84)
    """
    from scipy.special import betaincc, gammaln

    half = noncentrality / 2
    around = _NONCENTRAL_F_REACH * (math.sqrt(half) + 1)
    j = np.arange(max(0, math.floor(half - around)), math.ceil(half + around) + 1)
    log_weight = j * math.log(half) - half - gammaln(j + 1) if half else np.where(j == 0, 0.0, -np.inf)
    weight = np.exp(log_weight - log_weight.max())  # far out the logarithms are so large that their last digits matter
    below = df * f / (df * f + df_against)
    return min(1.0, math.fsum(weight * betaincc(df / 2 + j, df_against / 2, below)) / math.fsum(weight))
