"""What a number of queries can detect, and how many are needed: for two systems, and for several.

Power is asked for a difference that would matter, never for the one that was found.
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
    """The variance of the difference between two systems' scores on a query, from a matrix of queries x systems.

    ``pair`` is that of the two systems, which have to be the only ones; ``residual`` twice the residual mean square of
    the two-way analysis of variance, the average over pairs; ``sakai2016`` twice that of the one-way analysis,
    as Sakai takes it where no pairs are known: much larger, because queries' difficulty counts as noise.

    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.3], [0.4, 0.5], [0.2, 0.6]])
    >>> [round(variance_of_difference(scores, name), 6) for name in VARIANCES]
    [0.023333, 0.023333, 0.046667]
    """
    from gainful.stats.anova import pair_variances, two_way  # the power of two systems needs none

    kind = choose(variance, VARIANCES, "variance")
    if kind == "pair":
        if scores.shape[1] != 2:
            raise UsageError(f"variance: expected two systems for 'pair', found {scores.shape[1]}")
        return float(pair_variances(scores)[0])
    table = two_way(scores)
    return 2 * (table.residual if kind == "residual" else table.within).mean_square


@dataclass(frozen=True)
class Design:
    """A test that a study plans for: how often it shows a true difference, and what that takes.

    ``sd`` is the standard deviation, over queries, of the difference between two systems. ``systems`` are how many
    are compared together; without ``is_paired``, each has queries of its own.

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
        """The same of a difference in standard errors."""
        raise NotImplementedError

    def residual_df(self, queries: int) -> int:
        """The degrees of freedom of what systems and queries leave over."""
        return (self.systems - 1 if self.is_paired else self.systems) * (queries - 1)

    def detectable(self, queries: int, power: float = 0.8) -> float:
        """The smallest difference that is shown with this power.

        >>> [round(kind(0.194848).detectable(50), 5) for kind in (PairedT, AnovaF, TukeyHsd)]
        [0.07875, 0.07875, 0.07875]
        """
        self._check_power(power)
        return least_with_power(lambda difference: self.power(queries, difference), power, self.sd) if self.sd else 0.0

    def queries_needed(self, difference: float, power: float = 0.8) -> int:
        self._check_power(power)
        if not difference or not math.isfinite(difference):
            raise UsageError(f"difference: expected one that is not 0, found {difference!r}")
        return _fewest(lambda queries: self.power(queries, difference) >= power)

    def _check_power(self, power: float) -> None:
        if not self.alpha < power < 1:
            raise UsageError(f"power: expected a number between alpha ({self.alpha:g}) and 1, found {power:g}")


class PairedT(Design):
    """The paired t test of two systems."""

    def chance(self, queries: int, noncentrality: float) -> float:
        df = queries - 1
        return noncentral_t_beyond(t_quantile(1 - self.alpha / 2, df), df, noncentrality)

    def detectable(self, queries: int, power: float = 0.8) -> float:
        self._check_power(power)
        check_queries(queries)
        return self.sd * detectable_noncentrality(queries - 1, power, self.alpha) / math.sqrt(queries)


class AnovaF(Design):
    """An analysis of variance of systems of which the best and the worst differ by the difference, and the rest is in
    the middle between them: the worst case (Nagata; Sakai 2016). Of two systems: the paired t test."""

    def chance(self, queries: int, noncentrality: float) -> float:
        from scipy.special import fdtri, ncfdtr

        df, df_against = self.systems - 1, self.residual_df(queries)
        critical = float(fdtri(df, df_against, 1 - self.alpha))
        # n difference^2 / (2 sigma^2): the variance of a difference is 2 sigma^2.
        with np.errstate(invalid="ignore"):
            below = float(ncfdtr(df, df_against, noncentrality**2, critical))
        return float(df + noncentrality**2 > df * critical) if math.isnan(below) else 1 - below  # as in the tails of t


class TukeyHsd(Design):
    """Tukey's HSD of two systems among several: what the others do does not matter, but how many they are.

    The pair's t has to exceed the studentised range's critical value over sqrt 2, on the degrees of freedom of all. Of
    two systems: the paired t test.
    """

    def chance(self, queries: int, noncentrality: float) -> float:
        from gainful.stats.tukey import studentised_range_critical

        df = self.residual_df(queries)
        return noncentral_t_beyond(
            studentised_range_critical(self.alpha, self.systems, df) / math.sqrt(2), df, noncentrality
        )


def check_queries(queries: int) -> None:
    """Refuses a number of queries without a spread."""
    if queries < 2:
        raise UsageError(f"queries: expected at least 2, found {queries}")


def expected_width(queries: int, sd: float, confidence: float = 0.95) -> float:
    """How wide the t interval of a difference is on average, from end to end.

    2 t sd sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2) / sqrt n.

    >>> round(expected_width(50, 0.2), 3)
    0.113
    """
    check_queries(queries)
    check_alpha(1 - confidence)
    # The sample's standard deviation is on average a little below sd.
    shrunk = math.exp(math.lgamma(queries / 2) - math.lgamma((queries - 1) / 2)) * math.sqrt(2 / (queries - 1))
    return 2 * t_quantile((1 + confidence) / 2, queries - 1) * sd * shrunk / math.sqrt(queries)


def queries_for_interval(width: float, sd: float, confidence: float = 0.95) -> int:
    """The queries needed to make the t interval of a difference this wide on average, from end to end.

    >>> n = queries_for_interval(0.1, 0.2)
    >>> expected_width(n, 0.2) <= 0.1 < expected_width(n - 1, 0.2)
    True
    """
    if not width > 0:
        raise UsageError(f"width: expected a number above 0, found {width!r}")
    return _fewest(lambda queries: expected_width(queries, sd, confidence) <= width)


def _fewest(is_enough: Callable[[int], bool]) -> int:
    """The smallest number of queries that is enough, where every larger one is."""
    low, high = 1, 2
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            raise UsageError(f"power: expected what {_MOST_QUERIES:,} queries can detect, found a smaller difference")
    return low + 1 + bisect_left(range(low + 1, high), True, key=is_enough)
