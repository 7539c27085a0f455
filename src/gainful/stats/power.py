"""What a number of queries can detect, and how many are needed: for two systems, and for several.

Power is asked for a difference that would matter, never for the one that was found. Below are Student's t and the
noncentral distributions, by quadrature of our own: scipy's t returns NaN in the tails that searches run into, and its F
is not the same in all versions that gainful allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose
from gainful.stats.anova import checked, one_way, pair_variances, two_way
from gainful.stats.catalogues import VARIANCES
from gainful.stats.repeatable import check_alpha, crossing, t_quantile

_NODES = 96
_INTERPOLATED = 64  # limits through which all others are found, to nine digits and more
_TAIL = 1e-15  # of the spread's distribution that is left out at either end
_REACH = 9.0  # standard deviations beyond which a normal tail is nothing
_MIXED = 12  # standard deviations of the distribution that mixes F's on either side: the rest is below 1e-15
_MOST_QUERIES = 10**9


def variance_of_difference(scores: Floats, variance: str = "residual") -> float:
    """The variance of the difference of two systems' scores on a query, from a matrix of queries x systems.

    ``pair`` is that of the two systems, which have to be the only ones; ``residual`` twice the residual mean square of
    the two-way analysis of variance, the average over pairs; ``sakai2016`` twice that of the one-way analysis,
    as Sakai takes it where no pairs are known: much larger, because queries' difficulty counts as noise.

    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.3], [0.4, 0.5], [0.2, 0.6]])
    >>> [round(variance_of_difference(scores, name), 6) for name in VARIANCES]
    [0.023333, 0.023333, 0.046667]
    """
    scores = checked(scores)
    kind = choose(variance, VARIANCES, "variance")
    if kind == "pair":
        if scores.shape[1] != 2:
            raise UsageError(f"variance: expected two systems for 'pair', found {scores.shape[1]}")
        return float(pair_variances(scores)[0])
    return 2 * (two_way(scores).residual if kind == "residual" else one_way(scores).within).mean_square


def power_of_pair(queries: int, difference: float, sd: float, *, alpha: float = 0.05) -> float:
    """The chance that a paired t test shows a difference whose standard deviation over queries is ``sd``.

    >>> round(power_of_pair(122, 0.05, 0.194848), 4)
    0.8028
    """
    return power_of_t(queries, _effect(difference, sd), alpha) if sd else 1.0


def detectable_difference(queries: int, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference that a paired t test shows with this power.

    >>> round(detectable_difference(50, 0.194848), 5)
    0.07875
    """
    return _checked_sd(sd) * detectable_effect(queries, power, alpha)


def queries_for_pair(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """The queries needed to show a difference with this power.

    >>> queries_for_pair(0.05, 0.194848)
    122
    """
    return queries_needed(_effect(difference, sd), power, alpha) if sd else 2


def queries_for_interval(width: float, sd: float, *, confidence: float = 0.95) -> int:
    """The queries needed to make the t interval of a difference this wide on average, from end to end.

    Expected width 2 t sd sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2) / sqrt n.

    >>> n = queries_for_interval(0.1, 0.2)
    >>> expected_width(n, 0.2) <= 0.1 < expected_width(n - 1, 0.2)
    True
    """
    if not width > 0:
        raise UsageError(f"width: expected a number above 0, found {width!r}")
    return _least_queries(lambda queries: expected_width(queries, sd, confidence=confidence) <= width)


def expected_width(queries: int, sd: float, *, confidence: float = 0.95) -> float:
    """How wide the t interval of a difference is on average, from end to end.

    >>> round(expected_width(50, 0.2), 3)
    0.113
    """
    _check_queries(queries)
    check_alpha(1 - confidence)
    # The sample's standard deviation is on average a little below sd.
    shrunk = math.exp(math.lgamma(queries / 2) - math.lgamma((queries - 1) / 2)) * math.sqrt(2 / (queries - 1))
    return 2 * t_quantile((1 + confidence) / 2, queries - 1) * _checked_sd(sd) * shrunk / math.sqrt(queries)


def power_of_anova(
    queries: int, systems: int, gap: float, variance: float, *, alpha: float = 0.05, is_paired: bool = True
) -> float:
    """The chance that an analysis of variance finds systems different whose best and worst are ``gap`` apart.

    The worst case: one system half a gap above, one half a gap below, the rest between (Nagata; Sakai 2016).
    Noncentrality n gap^2 / (2 sigma^2), ``variance`` being sigma^2, the residual mean square: two-way on (m - 1, (m -
    1)(n - 1)) degrees of freedom if paired, else one-way on (m - 1, m (n - 1)). For two systems: the paired t test.

    >>> round(power_of_anova(50, 2, 0.05, 0.0162), 6) == round(power_of_pair(50, 0.05, 0.18), 6)
    True
    """
    from scipy.special import fdtri

    df_against = _residual_freedom(queries, systems, alpha, is_paired)
    if not variance > 0:
        return 1.0
    critical = float(fdtri(systems - 1, df_against, 1 - alpha))
    return noncentral_f_above(critical, systems - 1, df_against, queries * gap**2 / (2 * variance))


def power_of_tukey(
    queries: int, systems: int, difference: float, variance: float, *, alpha: float = 0.05, is_paired: bool = True
) -> float:
    """The chance that Tukey's HSD among so many systems shows the difference of two of them: the power of a pair.

    What the other systems do does not matter, but how many they are: the pair's t has to exceed the studentised range's
    critical value over sqrt 2, on the degrees of freedom of all. ``variance`` as in :func:`power_of_anova`. For two
    systems: the paired t test.

    >>> round(power_of_tukey(50, 2, 0.05, 0.0162), 6) == round(power_of_pair(50, 0.05, 0.18), 6)
    True
    """
    from gainful.stats.tukey import studentised_range_critical

    df = _residual_freedom(queries, systems, alpha, is_paired)
    if not variance > 0:
        return 1.0
    critical = studentised_range_critical(alpha, systems, df) / math.sqrt(2)
    return _beyond(critical, df, abs(difference) * math.sqrt(queries / (2 * variance)))


def _residual_freedom(queries: int, systems: int, alpha: float, is_paired: bool) -> int:
    _check_queries(queries)
    check_alpha(alpha)
    if systems < 2:
        raise UsageError(f"systems: expected at least 2, found {systems}")
    return (systems - 1 if is_paired else systems) * (queries - 1)


def queries_for_several(
    power_of: Callable[..., float],
    systems: int,
    difference: float,
    variance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    is_paired: bool = True,
) -> int:
    """The queries with which :func:`power_of_anova` or :func:`power_of_tukey` of a difference reaches this power.

    >>> queries_for_several(power_of_anova, 10, 0.05, 0.194848**2 / 2)
    239
    >>> queries_for_several(power_of_tukey, 10, 0.05, 0.194848**2 / 2), queries_for_pair(0.05, 0.194848)
    (245, 122)
    """
    check_power(power, alpha)
    if not difference:
        raise UsageError("difference: expected one that is not 0, found 0")
    return _least_queries(
        lambda n: power_of(n, systems, difference, variance, alpha=alpha, is_paired=is_paired) >= power
    )


def detectable_of_several(
    power_of: Callable[..., float],
    queries: int,
    systems: int,
    variance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    is_paired: bool = True,
) -> float:
    """The smallest difference of which :func:`power_of_anova` or :func:`power_of_tukey` reaches this power.

    >>> [round(detectable_of_several(of, 50, 2, 0.194848**2 / 2), 4) for of in (power_of_anova, power_of_tukey)]
    [0.0788, 0.0788]
    """
    check_power(power, alpha)
    if not variance > 0:
        return 0.0

    def reached(difference: float) -> float:
        return power_of(queries, systems, difference, variance, alpha=alpha, is_paired=is_paired)

    return _least(reached, power, math.sqrt(variance))


def _least_queries(is_enough: Callable[[int], bool], refusal: str = "") -> int:
    """The smallest number of queries that is enough, where every larger one is."""
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            few = f"power: expected what {_MOST_QUERIES:,} queries can detect, found a smaller difference"
            raise UsageError(refusal or few)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _least(reached: Callable[[float], float], power: float, start: float) -> float:
    """The smallest number above 0 with which a power is reached."""
    low, high = 0.0, start
    while reached(high) < power:
        low, high = high, 2 * high
    return crossing(lambda value: reached(value) - power, low, high)


def _effect(difference: float, sd: float) -> float:
    if not difference or not math.isfinite(difference):
        raise UsageError(f"difference: expected one that is not 0, found {difference!r}")
    return difference / _checked_sd(sd)


def _checked_sd(sd: float) -> float:
    if not 0 <= sd < math.inf:
        raise UsageError(f"sd: expected a number of at least 0, found {sd!r}")
    return sd


def _check_queries(queries: int, name: str = "queries", unit: str = "") -> None:
    if queries < 2:
        raise UsageError(f"{name}: expected at least 2{unit}, found {queries}")


def noncentral_t_below(t: float, df: float, noncentrality: float) -> float:
    """The chance that a noncentral t is at most ``t``.

    The integral over the sample's spread s of Phi(t s - noncentrality), s being chi / sqrt(df).

    >>> round(noncentral_t_below(2.0, 49, 1.5), 8)
    0.68441103
    """
    from scipy.special import ndtr

    s, weight = _nodes_of_spread(df, *_where_it_bends(t, noncentrality))
    return min(1.0, float((weight * ndtr(t * s - noncentrality)).sum()))


def power_of_t(n: int, effect: float, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t test on ``n`` queries finds a difference of ``effect`` standard deviations.

    >>> round(power_of_t(122, 0.05 / 0.194848), 4), round(power_of_t(121, 0.05 / 0.194848), 4)
    (0.8028, 0.7996)
    """
    _check_queries(n, "n", " queries")
    check_alpha(alpha)
    df, noncentrality = n - 1, abs(effect) * math.sqrt(n)
    return _beyond(t_quantile(1 - alpha / 2, df), df, noncentrality)


def _beyond(critical: float, df: float, noncentrality: float) -> float:
    """The chance that a noncentral t is beyond a critical value, on either side."""
    above = noncentral_t_below(-critical, df, -noncentrality)
    return min(1.0, above + noncentral_t_below(-critical, df, noncentrality))


@lru_cache(maxsize=256)
def detectable_effect(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference, in standard deviations, that a paired t test on ``n`` queries finds with this power.

    >>> round(0.194848 * detectable_effect(50), 5)
    0.07875
    """
    _check_queries(n, "n", " queries")
    check_alpha(alpha)
    check_power(power, alpha)
    return _least(lambda effect: power_of_t(n, effect, alpha), power, 1.0)


@lru_cache(maxsize=256)
def detectable_noncentrality(df: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference, in standard errors, that a t test on so many degrees of freedom finds with this power.

    >>> round(detectable_noncentrality(49) / 50**0.5, 6) == round(detectable_effect(50), 6)
    True
    """
    check_power(power, alpha)
    critical = t_quantile(1 - alpha / 2, df)
    return _least(lambda noncentrality: _beyond(critical, df, noncentrality), power, 1.0)


def queries_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The smallest number of queries with which a paired t test finds a difference of ``effect`` standard deviations.

    >>> queries_needed(0.05 / 0.194848)
    122
    """
    check_power(power, alpha)
    if not effect or not math.isfinite(effect):
        raise UsageError(f"effect: expected a difference that is not 0, found {effect:g}")
    refusal = f"effect: expected one that {_MOST_QUERIES:,} queries can detect, found {effect:g}"
    return _least_queries(lambda n: power_of_t(n, effect, alpha) >= power, refusal)


def noncentrality_interval(t: float, df: float, alpha: float) -> tuple[float, float]:
    """The noncentralities for which a t statistic is not in either tail; divided by sqrt(n) these are limits of d_z.

    >>> low, high = noncentrality_interval(2.382915, 49, 0.05)
    >>> round(low / 50**0.5, 5), round(high / 50**0.5, 5)
    (0.05031, 0.62043)
    """
    tail = alpha / 2
    return _noncentrality(t, df, 1 - tail), _noncentrality(t, df, tail)


def noncentrality_intervals(t: Floats, df: float, alpha: float) -> tuple[Floats, Floats]:
    """The same for many t: beyond a hundred, by a polynomial through limits that are found one by one.

    With t = sqrt(df) sinh(u), a limit over cosh(u) is smooth in u and bounded; the upper limit of t is minus the lower
    one of -t.

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
    """The noncentrality with which a share ``below`` of the distribution is at most t: it falls as that grows."""
    width = 1.0
    while noncentral_t_below(t, df, t - width) < below:
        width *= 2
    low = t - width
    width = 1.0
    while noncentral_t_below(t, df, t + width) > below:
        width *= 2
    return crossing(lambda value: below - noncentral_t_below(t, df, value), low, t + width)


def _where_it_bends(t: float, noncentrality: float) -> tuple[float, float]:
    """Between which spreads Phi(t s - noncentrality) climbs; where it is flat, one piece is enough."""
    if not t:
        return math.inf, math.inf
    ends = sorted(((noncentrality - _REACH) / t, (noncentrality + _REACH) / t))
    return ends[0], ends[1]


def _nodes_of_spread(df: float, bend_low: float, bend_high: float) -> tuple[Floats, Floats]:
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


def check_power(power: float, alpha: float) -> None:
    """Refuses a power that is none, or no more than chance."""
    check_alpha(alpha)
    if not alpha < power < 1:
        raise UsageError(f"power: expected a number between alpha ({alpha:g}) and 1, found {power:g}")


def noncentral_f_above(f: float, df: float, df_against: float, noncentrality: float) -> float:
    """The chance that a noncentral F is above ``f``.

    The sum over j of Poisson(j; noncentrality / 2) times the chance of a beta(df / 2 + j, df_against / 2) variable to
    be above df f / (df f + df_against).

    >>> round(noncentral_f_above(4.0, 1, 49, 0.0), 6), round(noncentral_f_above(4.0, 1, 49, 9.0), 2)
    (0.051059, 0.84)
    """
    from scipy.special import betaincc, gammaln

    half = noncentrality / 2
    around = _MIXED * (math.sqrt(half) + 1)
    j = np.arange(max(0, math.floor(half - around)), math.ceil(half + around) + 1)
    log_weight = j * math.log(half) - half - gammaln(j + 1) if half else np.where(j == 0, 0.0, -np.inf)
    weight = np.exp(log_weight - log_weight.max())  # far out the logarithms are so large that their last digits matter
    below = df * f / (df * f + df_against)
    return min(1.0, math.fsum(weight * betaincc(df / 2 + j, df_against / 2, below)) / math.fsum(weight))
