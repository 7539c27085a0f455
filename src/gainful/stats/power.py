"""Power analysis: minimum detectable differences and numbers of queries, for two or more systems.

Compute power for a difference that would matter, never for the observed one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats
from gainful.notation import choose
from gainful.stats.catalogues import VARIANCES
from gainful.stats.distributions import detectable_noncentrality, least_with_power, noncentral_t_beyond, t_quantile
from gainful.stats.repeatable import check_alpha

_MOST_QUERIES = 10**9


def variance_of_difference(scores: Floats, variance: str = "residual") -> float:
    """Return the variance of the difference between two systems' scores on a query, from queries x systems.

    ``pair`` uses the only two systems; ``residual`` is twice the residual mean square of the two-way analysis of
    variance, the average over pairs; ``sakai2016`` is twice that of the one-way analysis, for designs without known
    pairs: much larger, because the difficulty of queries counts as noise.

    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.3], [0.4, 0.5], [0.2, 0.6]])
    >>> [round(variance_of_difference(scores, name), 6) for name in VARIANCES]
    [0.023333, 0.023333, 0.046667]
    """
    from gainful.stats.anova import pair_variances, two_way  # not needed for the power of two systems

    kind = choose(variance, VARIANCES, "variance")
    if kind == "pair":
        if scores.shape[1] != 2:
            raise UsageError(f"variance: 'pair' requires two systems, not {scores.shape[1]}")
        return float(pair_variances(scores)[0])
    table = two_way(scores)
    return 2 * (table.residual if kind == "residual" else table.within).mean_square


@dataclass(frozen=True)
class Design:
    """A test in a planned study: its power, and the queries it needs.

    ``sd`` is the standard deviation, over queries, of the difference between two systems; ``systems`` are compared
    jointly; if not ``is_paired``, each has its own queries.

    >>> PairedT(0.194848).queries_needed(0.05), round(PairedT(0.194848).power(122, 0.05), 4)
    (122, 0.8028)
    >>> [kind(0.194848, systems=10).queries_needed(0.05) for kind in (AnovaF, TukeyHsd)]
    [239, 245]
    """

    sd: float
    alpha: float = 0.05
    systems: int = 2
    is_paired: bool = True

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if not 0 <= self.sd < math.inf:
            raise UsageError(f"sd: expected a number of at least 0, found {self.sd!r}")
        if self.systems < 2:
            raise UsageError(f"systems: expected at least 2, found {self.systems}")

    def power(self, queries: int, difference: float) -> float:
        check_queries(queries)
        return self.chance(queries, abs(difference / self.sd) * math.sqrt(queries)) if self.sd else 1.0

    def chance(self, queries: int, noncentrality: float) -> float:
        """Return the power for a difference in standard errors."""
        raise NotImplementedError

    def residual_df(self, queries: int) -> int:
        """Return the degrees of freedom of the residual."""
        return (self.systems - 1 if self.is_paired else self.systems) * (queries - 1)

    def detectable(self, queries: int, power: float = 0.8) -> float:
        """Return the minimum detectable difference.

        >>> [round(kind(0.194848).detectable(50), 5) for kind in (PairedT, AnovaF, TukeyHsd)]
        [0.07875, 0.07875, 0.07875]
        """
        self._check_power(power)
        return least_with_power(lambda difference: self.power(queries, difference), power, self.sd) if self.sd else 0.0

    def queries_needed(self, difference: float, power: float = 0.8) -> int:
        self._check_power(power)
        if not difference or not math.isfinite(difference):
            raise UsageError(f"difference: expected a nonzero number, found {difference!r}")
        return _fewest(lambda queries: self.power(queries, difference) >= power)

    def _check_power(self, power: float) -> None:
        if not self.alpha < power < 1:
            raise UsageError(f"power: expected a number between alpha ({self.alpha:g}) and 1, found {power:g}")


class PairedT(Design):
    """The paired t test for two systems."""

    def chance(self, queries: int, noncentrality: float) -> float:
        df = queries - 1
        return noncentral_t_beyond(t_quantile(1 - self.alpha / 2, df), df, noncentrality)

    def detectable(self, queries: int, power: float = 0.8) -> float:
        self._check_power(power)
        check_queries(queries)
        return self.sd * detectable_noncentrality(queries - 1, power, self.alpha) / math.sqrt(queries)


class AnovaF(Design):
    """An analysis of variance in the least favourable case; for two systems, the paired t test.

    The best and the worst system differ by the difference; all others are halfway between (Nagata; Sakai 2016).
    """

    def chance(self, queries: int, noncentrality: float) -> float:
        from scipy.special import fdtri, ncfdtr

        df, df_against = self.systems - 1, self.residual_df(queries)
        critical = float(fdtri(df, df_against, 1 - self.alpha))
        # n difference^2 / (2 sigma^2), because the variance of a difference is 2 sigma^2.
        with np.errstate(invalid="ignore"):
            below = float(ncfdtr(df, df_against, noncentrality**2, critical))
        return float(df + noncentrality**2 > df * critical) if math.isnan(below) else 1 - below  # NaN in extreme tails


class TukeyHsd(Design):
    """Tukey's HSD of two of several systems; for two systems, the paired t test.

    The pair's t must exceed the studentised range's critical value over sqrt 2, on the residual degrees of freedom of
    all systems. Only the number of other systems matters.
    """

    def chance(self, queries: int, noncentrality: float) -> float:
        from gainful.stats.tukey import studentised_range_critical

        df = self.residual_df(queries)
        critical = studentised_range_critical(self.alpha, self.systems, df) / math.sqrt(2)
        return noncentral_t_beyond(critical, df, noncentrality)


def check_queries(queries: int) -> None:
    """Raise UsageError for a number of queries too small for a spread."""
    if queries < 2:
        raise UsageError(f"queries: expected at least 2, found {queries}")


def expected_width(queries: int, sd: float, confidence: float = 0.95) -> float:
    """Return the mean width of the t interval of a difference.

    2 t sd sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2) / sqrt n.

    >>> round(expected_width(50, 0.2), 3)
    0.113
    """
    check_queries(queries)
    check_alpha(1 - confidence)
    # The sample standard deviation underestimates sd slightly on average.
    shrunk = math.exp(math.lgamma(queries / 2) - math.lgamma((queries - 1) / 2)) * math.sqrt(2 / (queries - 1))
    return 2 * t_quantile((1 + confidence) / 2, queries - 1) * sd * shrunk / math.sqrt(queries)


def queries_for_interval(width: float, sd: float, confidence: float = 0.95) -> int:
    """Return the queries needed for a t interval of this mean width.

    >>> n = queries_for_interval(0.1, 0.2)
    >>> expected_width(n, 0.2) <= 0.1 < expected_width(n - 1, 0.2)
    True
    """
    if not width > 0:
        raise UsageError(f"width: expected a number above 0, found {width!r}")
    return _fewest(lambda queries: expected_width(queries, sd, confidence) <= width)


def _fewest(is_enough: Callable[[int], bool]) -> int:
    """Return the smallest sufficient number of queries, by bisection."""
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            raise UsageError(f"power: the difference is too small to be detected with {_MOST_QUERIES:,} queries")
    return low + 1 + bisect_left(range(low + 1, high), True, key=is_enough)
