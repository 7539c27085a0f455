"""Tests that go by ranks: Wilcoxon's and the sign test of two systems, Friedman's of several, and those of groups.

None is about means: each names what it tests. Friedman's test is the two-way analysis of variance of the ranks: Iman
and Davenport's F is its F, Kendall's W the share of the systems in its sum of squares, and Conover's comparisons are
least significant differences with its residual.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.notation import choose, count_of
from gainful.stats.anova import TwoWayAnova, checked, pairs_of, two_way
from gainful.stats.corrections import corrected
from gainful.stats.paired_tests import Finding, PairedScores, Zeros
from gainful.stats.repeatable import LEAST_P, settle
from gainful.stats.tukey import studentised_range_critical, studentised_range_sf


def mid_ranks(values: Floats) -> Floats:
    """The ranks along each row, 1 for the lowest; equals share the mean of their ranks.

    >>> mid_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    rows = np.atleast_2d(values)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    place = np.arange(rows.shape[1])
    changes = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((rows.shape[0], 1), bool)
    first = np.maximum.accumulate(np.where(np.hstack((edge, changes)), place, 0), axis=1)
    is_last = np.hstack((changes, edge))
    last = np.minimum.accumulate(np.where(is_last, place, rows.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks.reshape(values.shape)


#: Up to so many non-zero differences Wilcoxon's null distribution is counted out.
MOST_EXACT = 50


class SignedRanks(NamedTuple):
    """Sums of the ranks of positive and of negative differences, p, and whether it was counted out or is normal."""

    positive: float
    negative: float
    p: float
    is_exact: bool


def wilcoxon(
    differences: Floats, *, zeros: Zeros = "drop", exact: bool | None = None, continuity: bool = False
) -> SignedRanks:
    """Wilcoxon's signed-rank test that settled differences are symmetric about 0, two-sided.

    Zeros are dropped (``pratt`` ranks them, then drops their ranks); equal sizes share the middle rank. The null
    distribution is counted out over the actual ranks up to 50 differences; beyond it is normal with the correction for
    ties, and without one for continuity unless asked for. Who asks for that gets the normal form of any number: what is
    counted out needs none.

    >>> wilcoxon(np.array([1.0, 2.0, 3.0, -4.0]))
    SignedRanks(positive=6.0, negative=4.0, p=0.875, is_exact=True)
    """
    choose(zeros, ("drop", "pratt"), "zeros")
    ranked = differences if zeros == "pratt" else differences[differences != 0]
    ranks = mid_ranks(np.abs(ranked))
    positive, negative = math.fsum(ranks[ranked > 0]), math.fsum(ranks[ranked < 0])
    ranks = ranks[ranked != 0]
    if not ranks.size:
        return SignedRanks(0.0, 0.0, 1.0, True)
    if exact is None:
        exact = ranks.size <= MOST_EXACT and not continuity
    p = _counted_p(ranks, min(positive, negative)) if exact else _normal_p(ranks, positive - negative, continuity)
    return SignedRanks(positive, negative, p, exact)


def sign_p(wins: int, losses: int) -> float:
    """The two-sided p of the exact sign test that the median difference is 0; zeros take no part.

    >>> sign_p(4, 1)
    0.375
    """
    from scipy.special import bdtr

    trials = wins + losses
    return min(1.0, 2 * float(bdtr(min(wins, losses), trials, 0.5))) if trials else 1.0


def rank_biserial(differences: Floats) -> float | None:
    """(W+ - W-) / (W+ + W-), zeros dropped (Kerby 2014); None if all are.

    >>> rank_biserial(np.array([1.0, 2.0, 3.0, -4.0, 0.0]))
    0.2
    """
    found = wilcoxon(differences, exact=False)
    ranked = found.positive + found.negative
    return (found.positive - found.negative) / ranked if ranked else None


def _counted_p(ranks: Floats, smaller: float) -> float:
    """Twice the share of all signs whose sum is at most the smaller of the two; ranks doubled are whole numbers."""
    doubled = np.rint(2 * ranks).astype(np.int64).tolist()
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1.0
    top = 0
    for rank in doubled:
        top += rank
        # Counts are halved as they grow: the sum stays 1, and powers of 2 lose nothing.
        ways[rank : top + 1] += ways[: top + 1 - rank].copy()
        ways[: top + 1] /= 2
    return min(1.0, 2 * math.fsum(ways[: round(2 * smaller) + 1]))


def _normal_p(ranks: Floats, apart: float, continuity: bool) -> float:
    """W+ - W- has mean 0 and variance sum of squared ranks, ties and Pratt's zeros included."""
    from scipy.special import ndtr

    distance = max(0.0, abs(apart) / 2 - (0.5 if continuity else 0.0))
    deviation = math.sqrt(math.fsum(ranks**2)) / 2
    return max(min(1.0, 2 * float(ndtr(-distance / deviation))), LEAST_P)


def wilcoxon_finding(scores: PairedScores) -> Finding:
    """Wilcoxon's test of two systems, by its settings."""
    settings = scores.settings
    found = wilcoxon(scores.differences, zeros=settings.zeros, continuity=settings.continuity)
    whole = found.positive + found.negative
    direction = (found.positive - found.negative) / whole if whole else 0.0
    return Finding(found.p, min(found.positive, found.negative), direction=direction)


def sign_finding(scores: PairedScores) -> Finding:
    """The sign test of two systems."""
    above = int(np.count_nonzero(scores.differences > 0))
    below = scores.nonzero - above
    return Finding(sign_p(above, below), float(above), direction=(above - below) / max(1, scores.nonzero))


#: The papers' marks: the levels and their stars, strictest first.
STARS: tuple[tuple[float, str], ...] = ((0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test with mid-ranks and the correction for ties, and its F form (Iman & Davenport 1980).

    ``rank_sums`` count 1 for the worst of a query, ``mean_ranks`` 1 for the best. With one query or one system there is
    nothing to test: ``f`` is None and both p are 1.
    """

    anova: TwoWayAnova  # of the ranks
    rank_sums: Floats
    chi2: float
    chi2_p: float
    w: float  # Kendall's: 0 no agreement of queries, 1 all give the same order
    f: float | None
    p: float  # of F

    @property
    def queries(self) -> int:
        return self.anova.query_count

    @property
    def systems(self) -> int:
        return self.anova.system_count

    @property
    def df(self) -> tuple[int, int]:
        """Those of F; the first is that of chi2, too."""
        return self.anova.systems.df, self.anova.residual.df

    @property
    def mean_ranks(self) -> Floats:
        return np.asarray(self.systems + 1 - self.rank_sums / self.queries)


@dataclass(frozen=True, eq=False)
class RankComparisons:
    """Every pair of systems by its rank sums, in the order of :func:`gainful.stats.anova.pairs_of`.

    ``difference`` is of rank sums (first - second): above 0 the first is better. ``critical`` is the difference of
    *mean* ranks from which a pair is significantly different at ``alpha`` before any correction for the number of pairs
    beyond the procedure's own. All of it depends on the systems compared."""

    procedure: str
    first: Ints
    second: Ints
    difference: Floats
    statistic: Floats
    p: Floats
    adjusted_p: Floats
    critical: float
    alpha: float


def within_query_ranks(scores: Floats) -> Floats:
    """The rank of every system within each query, 1 for the worst; equals share the mean of their ranks.

    >>> within_query_ranks(np.array([[0.1, 0.5, 0.5], [0.3, 0.2, 0.1]])).tolist()
    [[1.0, 2.5, 2.5], [3.0, 2.0, 1.0]]
    """
    return mid_ranks(settle(checked(scores), float(np.ptp(scores))))


def friedman(scores: Floats) -> Friedman:
    """Whether the systems' ranks within queries differ more than by chance.

    chi2 = (m - 1) (sum R^2 - n^2 m (m + 1)^2 / 4) / (A - n m (m + 1)^2 / 4), A the sum of squared ranks; F = (n - 1)
    chi2 / (n (m - 1) - chi2). Where all queries agree F is infinite, and p the chance that they would: (1 / m!)^(n-1)
    (Conover), where some systems are tied in every query that of drawing the same ties.

    >>> found = friedman(np.array([[0.1, 0.2, 0.3]] * 6))
    >>> found.f, round(found.p, 9), found.w
    (inf, 0.000128601, 1.0)
    """
    ranks = within_query_ranks(scores)
    table = two_way(ranks)
    n, m = ranks.shape
    total = table.total.sum_of_squares
    w = table.systems.sum_of_squares / total if total else 0.0
    chi2 = n * (m - 1) * w
    f = table.systems.f
    return Friedman(table, ranks.sum(axis=0), chi2, _p_of_chi2(chi2, m - 1), w, f, _p(table, ranks))


def conover(found: Friedman, *, alpha: float = 0.05) -> RankComparisons:
    """Conover's comparisons after Friedman's test (1999): least significant differences of the rank sums.

    t = |R_i - R_j| / sqrt(2 (n A - sum R^2) / ((n - 1) (m - 1))) on (n - 1) (m - 1) degrees of freedom.
    ``adjusted_p`` is Holm's. The book has no correction but compares only after the overall test rejects: see
    :func:`protected`. Where all queries agree, nothing is left to measure a difference with: p is then that of the
    overall test.

    >>> found = conover(friedman(np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.3, 0.2]])))
    >>> found.difference.tolist(), found.p.round(4).tolist()
    ([-3.0, -6.0, -3.0], [0.2143, 0.0321, 0.2143])
    """
    from scipy.special import stdtr, stdtrit

    first, second, difference = _rank_differences(found)
    df, mse, n = found.df[1], found.anova.residual.mean_square, found.queries
    apart = np.abs(difference)
    if not df or not mse:
        t = np.where(apart > 0, math.inf if df else 0.0, 0.0)
        p, critical = np.where(apart > 0, found.p, 1.0), 0.0
    else:
        t = apart / math.sqrt(2 * n * mse)
        p = np.clip(2 * stdtr(df, -t), LEAST_P, 1.0)
        critical = float(stdtrit(df, 1 - alpha / 2)) * math.sqrt(2 * mse / n)
    return RankComparisons(
        "Conover", first, second, difference, t, p, corrected(p, "holm"), critical if df else math.inf, alpha
    )


def nemenyi(found: Friedman, *, alpha: float = 0.05) -> RankComparisons:
    """Nemenyi's comparisons: mean ranks by the studentised range, with a critical difference for all pairs.

    q = |difference of mean ranks| / sqrt(m (m + 1) / (12 n)); CD = q_crit / sqrt 2 * sqrt(m (m + 1) / (6 n)).

    >>> round(nemenyi(friedman(np.arange(56.0).reshape(14, 4))).critical, 3)
    1.254
    """
    m, n = found.systems, found.queries
    first, second, difference = _rank_differences(found)
    if m < 2:
        empty = np.zeros(0)
        return RankComparisons("Nemenyi", first, second, empty, empty, empty, empty, math.inf, alpha)
    unit = math.sqrt(m * (m + 1) / (12 * n))
    q = np.abs(difference) / n / unit
    p = np.maximum(studentised_range_sf(q, m), LEAST_P)
    critical = studentised_range_critical(alpha, m) * unit
    return RankComparisons("Nemenyi", first, second, difference, q, p, p, critical, alpha)


def protected(found: Friedman, comparisons: RankComparisons, alpha: float) -> Bools:
    """Which pairs the papers call different: p below ``alpha``, and the overall test's, too."""
    return np.asarray((comparisons.p < alpha) & (found.p < alpha))


def stars_text(found: Friedman, names: Sequence[str], levels: Sequence[tuple[float, str]] = STARS) -> str:
    """Who beats whom as Table 2 of Järvelin and Kekäläinen (2002) has it: ``D,E > A**``; empty if nobody.

    Conover's comparisons without correction, a level only where the overall test reaches it; who is better is decided
    by the rank sums, which may differ from the means. Winners over the same loser with the same stars are joined.

    >>> scores = np.array([[0.1, 0.2, 0.3]] * 6)
    >>> stars_text(friedman(scores), ["A", "B", "C"])
    'B,C > A**; C > B**'
    """
    if len(names) != found.systems:
        raise UsageError(f"names: expected one a system, {found.systems}, found {len(names)}")
    comparisons = conover(found)
    winners: dict[tuple[int, int], list[int]] = {}
    marked = np.zeros(comparisons.p.size, bool)
    for level, (alpha, _) in enumerate(sorted(levels)):
        for pair in np.flatnonzero(protected(found, comparisons, alpha) & ~marked).tolist():
            marked[pair] = True
            i, j = int(comparisons.first[pair]), int(comparisons.second[pair])
            winner, loser = (i, j) if comparisons.difference[pair] > 0 else (j, i)
            winners.setdefault((loser, level), []).append(winner)
    stars = [mark for _, mark in sorted(levels)]
    return "; ".join(
        f"{','.join(names[winner] for winner in sorted(winners[loser, level]))} > {names[loser]}{stars[level]}"
        for loser, level in sorted(winners)
    )


def _rank_differences(found: Friedman) -> tuple[Ints, Ints, Floats]:
    first, second = pairs_of(found.systems)
    return first, second, found.rank_sums[first] - found.rank_sums[second]


def _p(table: TwoWayAnova, ranks: Floats) -> float:
    f, p = table.systems.f, table.systems.p
    if f is None or p is None:
        return 1.0
    if not math.isinf(f):
        return p
    # All queries have the same ranks: those of the first say which systems are tied.
    log_ties = sum(math.lgamma(times + 1) for times in np.bincount((2 * ranks[0]).astype(np.int64)).tolist())
    return max(math.exp((ranks.shape[0] - 1) * (log_ties - math.lgamma(ranks.shape[1] + 1))), LEAST_P)


def _p_of_chi2(chi2: float, df: int) -> float:
    if not df:
        return 1.0
    from scipy.special import chdtrc

    return float(chdtrc(df, chi2))


_EXACT_UP_TO = 8
_MOST_STEPS = 2_000_000  # that an exact P is worth: about a second


@dataclass(frozen=True)
class MannWhitney:
    """Two groups by the ranks of their members; ``u`` counts the pairs in which the first group's is higher."""

    u: float
    p: float  # two-sided
    is_exact: bool
    sizes: tuple[int, int]


@dataclass(frozen=True)
class KruskalWallis:
    """Several groups by the ranks of their members (1 is the lowest), corrected for ties."""

    h: float
    df: int
    p: float
    sizes: tuple[int, ...]
    mean_ranks: tuple[float, ...]
    medians: tuple[float, ...]


@dataclass(frozen=True)
class GroupComparison:
    """Named groups compared, all at once and two by two.

    Descriptive where the groups were chosen by a measure of the same systems: significance is then foregone.
    """

    names: tuple[str, ...]
    overall: KruskalWallis
    pairs: tuple[tuple[str, str, MannWhitney], ...]


def compare_groups(groups: Mapping[str, Sequence[float]]) -> GroupComparison:
    """Kruskal-Wallis over all groups and Mann-Whitney for every two of them.

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
    """Whether some group's values tend to be higher than another's.

    H = (12 / (N (N + 1)) sum R_g^2 / n_g - 3 (N + 1)) / (1 - sum (t^3 - t) / (N^3 - N)), chi2 on g - 1 degrees of
    freedom.

    >>> found = kruskal_wallis([[1, 2, 3], [4, 5, 6]])
    >>> round(found.h, 4), found.mean_ranks
    (3.8571, (2.0, 5.0))
    """
    if len(groups) < 2:
        raise UsageError(f"groups: expected at least 2, found {len(groups)}")
    ranks, of_group = _pooled_ranks(groups)
    sizes = np.bincount(of_group, minlength=len(groups))
    total = ranks.size
    means = np.bincount(of_group, ranks, len(groups)) / sizes
    # The spread of the group means over that of all ranks: the tie correction is in the latter.
    spread = math.fsum((ranks - (total + 1) / 2) ** 2)
    between = math.fsum(sizes * (means - (total + 1) / 2) ** 2)
    h = (total - 1) * between / spread if spread else 0.0
    from scipy.special import chdtrc

    df = len(groups) - 1
    medians = tuple(float(np.median(group)) for group in groups)
    return KruskalWallis(h, df, float(chdtrc(df, h)), tuple(sizes.tolist()), tuple(means.tolist()), medians)


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> MannWhitney:
    """Whether the values of one group tend to be higher than those of the other, two-sided.

    Exact where both groups have at most 8 members and no two values are equal; else normal, corrected for ties and for
    continuity.

    >>> mann_whitney([1, 2, 3], [4, 5, 6])
    MannWhitney(u=0.0, p=0.1, is_exact=True, sizes=(3, 3))
    """
    found = exact_mann_whitney(first, second) if max(len(first), len(second)) <= _EXACT_UP_TO else None
    if found is not None:
        return found
    u = _u_of(*_pooled_ranks([first, second]))
    return MannWhitney(u, normal_u_p(first, second)(u), False, (len(first), len(second)))


def exact_mann_whitney(first: Sequence[float], second: Sequence[float]) -> MannWhitney | None:
    """The same with the exact P for groups of any size; None where values are equal or counting would take long.

    >>> exact_mann_whitney(range(9), range(9, 18)).p == 2 / math.comb(18, 9)
    True
    >>> exact_mann_whitney([1, 2], [2, 3]) is None
    True
    """
    p = exact_u_p(first, second)
    if p is None:
        return None
    u = _u_of(*_pooled_ranks([first, second]))
    return MannWhitney(u, p(u), True, (len(first), len(second)))


def exact_u_p(first: Sequence[float], second: Sequence[float]) -> Callable[[float], float] | None:
    """The exact two-sided P of any U of two groups; None where values are equal or counting would take long."""
    ranks, _ = _pooled_ranks([first, second])
    n, m = len(first), len(second)
    if n * m * min(n, m) > _MOST_STEPS or np.diff(np.sort(ranks)).min() < 1:
        return None
    at_most = list(accumulate(_ways(min(n, m), max(n, m))))
    return lambda u: min(1.0, float(2 * at_most[int(min(u, n * m - u))] / at_most[-1]))


def normal_u_p(first: Sequence[float], second: Sequence[float]) -> Callable[[float], float]:
    """The two-sided P of any U of two groups by the normal distribution, corrected for ties and for continuity."""
    ranks, _ = _pooled_ranks([first, second])
    n, m = len(first), len(second)
    ties, total = np.bincount((2 * ranks).astype(np.int64)), n + m
    variance = n * m / 12 * (total + 1 - float((ties**3 - ties).sum()) / (total * (total - 1)))

    def p(u: float) -> float:
        z = max(abs(u - n * m / 2) - 0.5, 0.0) / math.sqrt(variance) if variance > 0 else 0.0
        return max(math.erfc(z / math.sqrt(2)), LEAST_P)

    return p


def _u_of(ranks: Floats, of_group: Ints) -> float:
    own = ranks[of_group == 0]
    return float(own.sum() - own.size * (own.size + 1) / 2)


def _ways(n: int, m: int) -> list[int]:
    """In how many orders of n and m things U has each value."""
    ways = [1] + [0] * (n * m)
    # The Gaussian binomial coefficient: product over i of (1 - x^(m + i)) / (1 - x^i).
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def _pooled_ranks(groups: Sequence[Sequence[float]]) -> tuple[Floats, Ints]:
    if not all(len(group) for group in groups):
        raise UsageError(f"groups: expected {count_of(1, 'value')} or more in each, found an empty one")
    values = np.concatenate([np.asarray(group, np.float64) for group in groups])
    of_group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return mid_ranks(settle(values)), of_group
