"""What a number of queries can show, and how many are needed: for two systems, and for several.

Power is asked for a difference that would matter, never for the one that was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose
from gainful.stats.anova import checked, one_way, pair_variances, two_way
from gainful.stats.noncentral import (
    check_alpha,
    check_power,
    detectable_effect,
    noncentral_f_above,
    power_of_t,
    queries_needed,
    t_quantile,
)

#: Where the variance of a difference comes from: the pair itself, the two-way residual, the one-way residual.
VARIANCES = ("pair", "residual", "sakai2016")

_MOST_QUERIES = 10**9


def variance_of_difference(scores: Floats, variance: str = "residual") -> float:
    """The variance of the difference of two systems' scores on a query, from a matrix of queries x systems.

    ``pair`` is that of the two systems, which have to be the only ones; ``residual`` twice the residual mean square of
    the two-way analysis of variance, what pairs have in the middle; ``sakai2016`` twice that of the one-way analysis,
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
    return _spread(sd) * detectable_effect(queries, power, alpha)


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
    return _smallest(lambda queries: expected_width(queries, sd, confidence=confidence) <= width)


def expected_width(queries: int, sd: float, *, confidence: float = 0.95) -> float:
    """How wide the t interval of a difference is on average, from end to end.

    >>> round(expected_width(50, 0.2), 3)
    0.113
    """
    _check_queries(queries)
    check_alpha(1 - confidence)
    # The sample's standard deviation is on average a little below sd.
    shrunk = math.exp(math.lgamma(queries / 2) - math.lgamma((queries - 1) / 2)) * math.sqrt(2 / (queries - 1))
    return 2 * t_quantile((1 + confidence) / 2, queries - 1) * _spread(sd) * shrunk / math.sqrt(queries)


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

    _check_queries(queries)
    check_alpha(alpha)
    if systems < 2:
        raise UsageError(f"systems: expected at least 2, found {systems}")
    if not variance > 0:
        return 1.0
    df = systems - 1
    df_against = df * (queries - 1) if is_paired else systems * (queries - 1)
    critical = float(fdtri(df, df_against, 1 - alpha))
    return noncentral_f_above(critical, df, df_against, queries * gap**2 / (2 * variance))


def queries_for_anova(
    systems: int,
    gap: float,
    variance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    is_paired: bool = True,
) -> int:
    """The queries needed to find systems different whose best and worst are ``gap`` apart.

    >>> queries_for_anova(2, 0.05, 0.194848**2 / 2), queries_for_anova(10, 0.05, 0.194848**2 / 2)
    (122, 239)
    """
    check_power(power, alpha)
    if not gap:
        raise UsageError("gap: expected one that is not 0, found 0")
    return _smallest(lambda n: power_of_anova(n, systems, gap, variance, alpha=alpha, is_paired=is_paired) >= power)


def detectable_gap(
    queries: int,
    systems: int,
    variance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    is_paired: bool = True,
) -> float:
    """The smallest gap between best and worst that an analysis of variance finds with this power.

    >>> round(detectable_gap(50, 2, 0.194848**2 / 2), 4)
    0.0788
    """
    check_power(power, alpha)
    if not variance > 0:
        return 0.0

    def is_enough(gap: float) -> bool:
        return power_of_anova(queries, systems, gap, variance, alpha=alpha, is_paired=is_paired) >= power

    low, high = 0.0, math.sqrt(variance)
    while not is_enough(high):
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _smallest(is_enough: Callable[[int], bool]) -> int:
    """The smallest number of queries that is enough, where every larger one is."""
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            raise UsageError(f"power: expected what {_MOST_QUERIES:,} queries can show, found a smaller difference")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _effect(difference: float, sd: float) -> float:
    if not difference or not math.isfinite(difference):
        raise UsageError(f"difference: expected one that is not 0, found {difference!r}")
    return difference / _spread(sd)


def _spread(sd: float) -> float:
    if not 0 <= sd < math.inf:
        raise UsageError(f"sd: expected a number of at least 0, found {sd!r}")
    return sd


def _check_queries(queries: int) -> None:
    if queries < 2:
        raise UsageError(f"queries: expected at least 2, found {queries}")
