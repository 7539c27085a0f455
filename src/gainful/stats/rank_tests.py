"""Rank tests: Wilcoxon for two systems, Friedman for several, and Mann-Whitney and Kruskal-Wallis for groups.

None tests means; each names its null hypothesis. Friedman's test is the two-way analysis of variance of ranks: Iman and
Davenport's F is its F, Kendall's W the systems' share of its sum of squares, and Conover's comparisons are least
significant differences with its residual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats
from gainful.stats.anova import PairComparisons, TwoWayAnova, pairs_of, two_way
from gainful.stats.distributions import LEAST_P
from gainful.stats.findings import Finding
from gainful.stats.paired_tests import PairedScores, mid_ranks, signed_ranks
from gainful.stats.repeatable import settle
from gainful.stats.tukey import studentised_range_critical, studentised_range_sf

#: Up to this many nonzero differences, Wilcoxon's null distribution is exact.
MOST_EXACT = 50


def wilcoxon(scores: PairedScores) -> Finding:
    """Wilcoxon's two-sided signed-rank test; the null hypothesis is that differences are symmetric about 0.

    Zeros are dropped, ties share their mid-rank. The null distribution is exact, even with ties, up to 50 differences;
    beyond, it is normal with a correction for ties and none for continuity.

    >>> found = wilcoxon(PairedScores(np.array([1.0, 2.0, 3.0, 0.0]), np.array([0.0, 0.0, 0.0, 4.0])))
    >>> found.p, found.statistic, found.effect
    (0.875, 4.0, 0.2)
    """
    ranks, positive, negative = signed_ranks(scores.differences)
    if not ranks.size:
        return Finding(1.0, 0.0, 0.0)
    apart, smaller = positive - negative, min(positive, negative)
    if ranks.size <= MOST_EXACT:
        # Twice the share of sign assignments with a rank sum at most the smaller one; doubled ranks are integers.
        doubled = np.rint(2 * ranks).astype(np.int64).tolist()
        ways = np.zeros(sum(doubled) + 1)
        ways[0] = 1.0
        top = 0
        for rank in doubled:
            top += rank
            # Counts are halved as they grow, so they sum to 1; powers of 2 are exact.
            ways[rank : top + 1] += ways[: top + 1 - rank].copy()
            ways[: top + 1] /= 2
        p = 2 * math.fsum(ways[: round(2 * smaller) + 1])
    else:
        from scipy.special import ndtr

        # W+ - W- has mean 0 and, even with ties, the sum of squared ranks as its variance.
        deviation = math.sqrt(math.fsum(ranks**2)) / 2
        p = max(2 * float(ndtr(-abs(apart) / 2 / deviation)), LEAST_P)
    return Finding(min(1.0, p), apart / (positive + negative), smaller)


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test with mid-ranks and a correction for ties, and its F form (Iman & Davenport 1980).

    ``rank_sums`` use rank 1 for the worst system of a query, ``mean_ranks`` 1 for the best. With one query or one
    system there is nothing to test: ``f`` is None and both p are 1.
    """

    anova: TwoWayAnova  # of the ranks
    rank_sums: Floats
    chi2: float
    chi2_p: float
    w: float  # Kendall's: 0 if queries do not agree on the order at all, 1 if all agree
    f: float | None
    p: float  # of F

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of queries and systems."""
        n, m = self.anova.residuals.shape
        return n, m

    @property
    def df(self) -> tuple[int, int]:
        """The degrees of freedom of F; the first is also that of chi2."""
        return self.anova.systems.df, self.anova.residual.df

    @property
    def mean_ranks(self) -> Floats:
        n, m = self.shape
        return np.asarray(m + 1 - self.rank_sums / n)

    @property
    def differences(self) -> Floats:
        """Differences between rank sums of every pair, in the order of :func:`pairs_of`."""
        first, second = pairs_of(self.rank_sums.size)
        return np.asarray(self.rank_sums[first] - self.rank_sums[second])


def friedman(scores: Floats) -> Friedman:
    """Apply Friedman's test to queries x systems.

    chi2 = (m - 1) (sum R^2 - n^2 m (m + 1)^2 / 4) / (A - n m (m + 1)^2 / 4), with A the sum of squared ranks; F = (n -
    1) chi2 / (n (m - 1) - chi2). If all queries agree, F is infinite and p is the probability of that agreement:
    (1 / m!)^(n-1) (Conover) or, with ties common to all queries, the probability of the same ties.

    >>> found = friedman(np.array([[0.1, 0.2, 0.3]] * 6))
    >>> found.f, round(found.p, 9), found.w
    (inf, 0.000128601, 1.0)
    """
    from scipy.special import chdtrc

    ranks = mid_ranks(settle(scores, float(np.ptp(scores))))
    table = two_way(ranks)
    n, m = ranks.shape
    total = table.total.sum_of_squares
    w = table.systems.sum_of_squares / total if total else 0.0
    chi2 = n * (m - 1) * w
    f, p = table.systems.f, table.systems.p
    if f is not None and math.isinf(f):
        # All queries have the ties of the first.
        log_ties = sum(math.lgamma(times + 1) for times in np.bincount((2 * ranks[0]).astype(np.int64)).tolist())
        p = max(math.exp((n - 1) * (log_ties - math.lgamma(m + 1))), LEAST_P)
    chi2_p = float(chdtrc(m - 1, chi2)) if m > 1 else 1.0
    return Friedman(table, ranks.sum(axis=0), chi2, chi2_p, w, f, 1.0 if p is None else p)


def conover(found: Friedman, *, alpha: float = 0.05) -> PairComparisons:
    """Return Conover's comparisons (1999) after Friedman's test: least significant differences of rank sums.

    t = |R_i - R_j| / sqrt(2 (n A - sum R^2) / ((n - 1) (m - 1))) on (n - 1) (m - 1) degrees of freedom.
    They are uncorrected, and valid only after the overall test rejects. If all queries agree, there is no residual, and
    p is that of the overall test.

    >>> found = conover(friedman(np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.3, 0.2]])))
    >>> found.difference.tolist(), found.p.round(4).tolist()
    ([-3.0, -6.0, -3.0], [0.2143, 0.0321, 0.2143])
    """
    from scipy.special import stdtr, stdtrit

    difference, (n, _) = found.differences, found.shape
    df, mse = found.df[1], found.anova.residual.mean_square
    apart = np.abs(difference)
    if not df or not mse:
        t = np.where(apart > 0, math.inf if df else 0.0, 0.0)
        return PairComparisons(difference, t, np.where(apart > 0, found.p, 1.0), 0.0 if df else math.inf)
    t = apart / math.sqrt(2 * n * mse)
    p = np.clip(2 * stdtr(df, -t), LEAST_P, 1.0)
    return PairComparisons(difference, t, p, float(stdtrit(df, 1 - alpha / 2)) * math.sqrt(2 * mse / n))


def nemenyi(found: Friedman, *, alpha: float = 0.05) -> PairComparisons:
    """Return Nemenyi's comparisons of mean ranks, with one critical difference from the studentised range.

    q = |difference of mean ranks| / sqrt(m (m + 1) / (12 n)); CD = q_crit / sqrt 2 * sqrt(m (m + 1) / (6 n)).

    >>> round(nemenyi(friedman(np.arange(56.0).reshape(14, 4))).critical, 3)
    1.254
    """
    difference, (n, m) = found.differences, found.shape
    if m < 2:
        return PairComparisons(difference, difference, difference, math.inf)
    unit = math.sqrt(m * (m + 1) / (12 * n))
    q = np.abs(difference) / n / unit
    p = np.maximum(studentised_range_sf(q, m), LEAST_P)
    return PairComparisons(difference, q, p, studentised_range_critical(alpha, m) * unit)


_MOST_STEPS = 2_000_000  # to compute an exact p


@dataclass(frozen=True)
class MannWhitney:
    """A rank comparison of two groups; ``u`` is the number of pairs in which the first group's value is higher."""

    u: float
    p: float  # two-sided
    is_exact: bool


@dataclass(frozen=True)
class KruskalWallis:
    """A rank comparison of several groups (rank 1 is the lowest), corrected for ties."""

    h: float
    df: int
    p: float
    sizes: tuple[int, ...]
    mean_ranks: tuple[float, ...]
    medians: tuple[float, ...]


@dataclass(frozen=True)
class GroupComparison:
    """Named groups compared jointly and in pairs.

    Only descriptive if the groups were selected by a measure of the same systems: significance is then assured.
    """

    names: tuple[str, ...]
    overall: KruskalWallis
    pairs: tuple[tuple[str, str, MannWhitney], ...]


def compare_groups(groups: Mapping[str, Sequence[float]]) -> GroupComparison:
    """Apply Kruskal-Wallis to all groups and Mann-Whitney to every pair.

    >>> found = compare_groups({"best": [0.5, 0.4], "worst": [0.1, 0.2]})
    >>> [(one, other, test.u) for one, other, test in found.pairs]
    [('best', 'worst', 4.0)]
    """
    names = tuple(groups)
    return GroupComparison(
        names,
        kruskal_wallis(list(groups.values())),
        tuple((one, other, mann_whitney(groups[one], groups[other])) for one, other in combinations(names, 2)),
    )


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> KruskalWallis:
    """Test whether values of some group tend to be higher than another's.

    H = (12 / (N (N + 1)) sum R_g^2 / n_g - 3 (N + 1)) / (1 - sum (t^3 - t) / (N^3 - N)), chi2 on g - 1 degrees of
    freedom.

    >>> found = kruskal_wallis([[1, 2, 3], [4, 5, 6]])
    >>> round(found.h, 4), found.mean_ranks
    (3.8571, (2.0, 5.0))
    """
    from scipy.stats import kruskal

    sizes = tuple(map(len, groups))
    ranks = _pooled_ranks(groups)
    of_groups = np.split(ranks, np.cumsum(sizes)[:-1])
    h, p = (0.0, 1.0) if np.ptp(ranks) == 0 else kruskal(*of_groups)
    means = tuple(float(each.sum() / each.size) for each in of_groups)
    medians = tuple(float(np.median(group)) for group in groups)
    return KruskalWallis(float(h), len(groups) - 1, float(p), sizes, means, medians)


def mann_whitney(first: Sequence[float], second: Sequence[float], exact_up_to: float = 8) -> MannWhitney:
    """Test, two-sided, whether values of one group tend to be higher than the other's.

    Exact for groups up to ``exact_up_to`` without ties, unless that would take long; else normal, corrected for ties
    and continuity.

    >>> mann_whitney([1, 2, 3], [4, 5, 6])
    MannWhitney(u=0.0, p=0.1, is_exact=True)
    >>> mann_whitney(range(9), range(9, 18), math.inf).p == 2 / math.comb(18, 9)
    True
    """
    n, m = len(first), len(second)
    ranks = _pooled_ranks([first, second])
    if np.ptp(ranks) == 0:
        return MannWhitney(n * m / 2, 1.0, False)
    from scipy.stats import mannwhitneyu

    is_quick = max(n, m) <= exact_up_to and n * m * min(n, m) <= _MOST_STEPS
    is_exact = is_quick and np.diff(np.sort(ranks)).min() == 1
    found = mannwhitneyu(ranks[:n], ranks[n:], method="exact" if is_exact else "asymptotic")
    return MannWhitney(float(found.statistic), max(float(found.pvalue), LEAST_P), bool(is_exact))


def _pooled_ranks(groups: Sequence[Sequence[float]]) -> Floats:
    if not all(map(len, groups)):
        raise UsageError("groups: a group is empty; each needs at least 1 value")
    return mid_ranks(settle(np.concatenate([np.asarray(group, np.float64) for group in groups])))
