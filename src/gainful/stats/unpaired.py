"""Comparison of two systems on different sessions.

Nothing is paired, so labels are shuffled instead of signs flipped, and the statistic is the difference divided by its
standard error (Welch's t), because variances may differ. If both systems have sessions of the same topics, topics are
blocks: labels are shuffled within topics, and the difference is the least-squares estimate with topics as the other
factor. Topics of one system only are left out; if they make up most sessions of a system, topics are not used at all.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate, combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from gainful.errors import InputError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.notation import choose, count_of, percent_text
from gainful.stats.catalogues import LABELS, MOST_FLIPPED, UNPAIRED_TESTS, WELCH, TestOutcome
from gainful.stats.distributions import LEAST_P, noncentrality_interval, t_p, t_quantile
from gainful.stats.findings import Finding, Interval
from gainful.stats.paired import FEW_QUERIES, TestedPair, hedges_factor, tested_fields, too_few_draws
from gainful.stats.paired_tests import USUAL_PLAN, PairPlan, mid_ranks, tidy
from gainful.stats.repeatable import BLOCK, check_draws, least_count, settle, settled_step, stream

#: Default number of shuffles; up to MOST_LABELLINGS labellings, all are enumerated.
SHUFFLES, MOST_LABELLINGS = 10_000, 50_000
_MOST_STEPS = 2_000_000  # to count an exact distribution: about a second

_CELLS = 1 << 21
_BLOCK_BITS = 20  # of a sort key: keeps blocks together


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Scores of two systems; ``topics`` are block numbers, shared by both systems, or None.

    >>> two = TwoGroups(np.array([3.0, 5.0]), np.array([1.0, 2.0]))
    >>> two.mean, two.weight, two.df
    (2.5, 1.0, 2)
    """

    a: Floats
    b: Floats
    topics: tuple[Ints, Ints] | None = None
    plan: PairPlan = USUAL_PLAN

    @property
    def sizes(self) -> tuple[int, int]:
        return int(self.a.size), int(self.b.size)

    @cached_property
    def scale(self) -> float:
        return max(float(np.abs(each).max()) for each in (self.a, self.b))

    @cached_property
    def pooled(self) -> Floats:
        """All scores, A's first, with ties made exact."""
        return settle(np.concatenate((self.a, self.b)), self.scale)

    @property
    def sides(self) -> tuple[Floats, Floats]:
        return self.pooled[: self.a.size], self.pooled[self.a.size :]

    @cached_property
    def block(self) -> Ints:
        """The block number of each score, from 0; without topics a single block."""
        if self.topics is None:
            return np.zeros(self.pooled.size, np.int64)
        return np.unique(np.concatenate(self.topics), return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def weight(self) -> float:
        """The variance of a score over that of the difference; 1 / (1 / n_A + 1 / n_B), summed over blocks."""
        both = np.bincount(self.block)
        of_a = np.bincount(self.block[: self.a.size], minlength=both.size)
        return float((of_a * (both - of_a) / both).sum())

    def _aligned(self, values: Floats) -> Floats:
        means = np.bincount(self.block, values) / np.bincount(self.block)
        return np.asarray(values - means[self.block])

    @cached_property
    def mean(self) -> float:
        """The mean of A minus that of B, within blocks if there are any; 0 if it is only rounding error."""
        if self.topics is None:
            found = math.fsum(self.sides[0].tolist()) / self.a.size - math.fsum(self.sides[1].tolist()) / self.b.size
        else:
            # A's deviations from the means of their blocks add up to the weighted sum of the blocks' differences.
            found = math.fsum(self._aligned(self.pooled)[: self.a.size].tolist()) / self.weight
        return found if settle(np.array(found), self.scale) else 0.0

    @property
    def df(self) -> int:
        """Degrees of freedom of the spread: the number of sessions, minus one per block, minus one."""
        return self.pooled.size - int(self.block.max()) - 2

    @cached_property
    def sd(self) -> float | None:
        """The sd within systems and blocks: None without degrees of freedom, 0 if it is only rounding error."""
        if self.df < 1:
            return None
        left = self._aligned(np.concatenate((self.sides[0] - self.mean, self.sides[1])))
        return math.sqrt(math.fsum((left**2).tolist()) / self.df) if settle(left, self.scale).any() else 0.0

    @property
    def standard_error(self) -> float | None:
        """The standard error of the difference, with a common spread of both systems."""
        return None if self.sd is None else self.sd / math.sqrt(self.weight)

    @property
    def t(self) -> float | None:
        """The difference in standard errors; None without a spread."""
        return self.mean / self.standard_error if self.standard_error else None

    @cached_property
    def by_label(self) -> list[Floats]:
        """Each session's z and w if labelled A, if labelled B, and as observed.

        z is the indicator of A minus its block mean, u the score minus its block mean. The variance of the difference
        is the sum of w (u - difference z)^2: HC2 (MacKinnon & White 1985) of least squares or, without topics, Welch's
        s_A^2 / n_A + s_B^2 / n_B.
        """
        both, of_a = (
            np.bincount(each, minlength=int(self.block.max()) + 1)[self.block]
            for each in (self.block, self.block[: self.a.size])
        )
        found = []
        for z in ((both - of_a) / both, -of_a / both):
            left = 1 - 1 / both - z**2 / self.weight  # 1 - leverage; 0 for the only session of a system
            found += [z, np.divide((z / self.weight) ** 2, left, out=np.zeros(z.size), where=left > 1e-9)]
        return found + [np.where(np.arange(both.size) < self.a.size, *found[i::2]) for i in (0, 1)]

    @cached_property
    def error(self) -> float | None:
        """The standard error of the difference with unequal variances; None if a system has one session."""
        z, w = self.by_label[4:]
        rest = settle(self._aligned(self.pooled) - self.mean * z, self.scale)
        return math.sqrt(math.fsum((w * rest**2).tolist())) if min(self.sizes) > 1 else None

    @property
    def is_limit(self) -> bool:
        """Whether the limit of shuffled labels for many sessions is used: t with the same standard error."""
        return self.pooled.size > MOST_FLIPPED and self.plan.draws is None and bool(self.error)

    @cached_property
    def labellings(self) -> Labellings:
        return Labellings.of(self)


@dataclass(frozen=True, eq=False)
class Labellings:
    """Assignments of the label A to the observed number of sessions in each block.

    ``sums`` are, per assignment, the sums over sessions labelled A that the studentised difference is computed from;
    ``fixed`` are the parts of its variance that labels do not change.
    """

    groups: TwoGroups
    sums: tuple[Floats, ...]
    fixed: tuple[float, ...]
    is_enumerated: bool

    @classmethod
    def of(cls, groups: TwoGroups) -> Labellings:
        """Enumerate or draw labellings.

        Labels are drawn for the smaller group, or the one with lower scores, in order of the scores, so the result
        depends neither on the naming of the systems nor on the order of sessions.
        """
        n, u, (z_a, w_a, z_b, w_b, z, w) = groups.a.size, groups._aligned(groups.pooled), groups.by_label
        sides = [
            np.lexsort((groups.pooled[part], groups.block[part])) + part.start
            for part in (slice(0, n), slice(n, u.size))
        ]
        first, second = sorted(sides, key=lambda side: (side.size, groups.pooled[side].tolist()))
        order = np.concatenate((first, second))
        more, line = w_a - w_b, w_a * z_a - w_b * z_b
        columns = (u, z, more * u**2, more * u * z, more * z**2, line * u, line * z)
        pool = _Pool(groups.block[order], int(first.size), tuple(each[order] for each in columns))
        is_enumerated = pool.ways <= MOST_LABELLINGS
        sums = pool.all_sums() if is_enumerated else pool.drawn_sums(groups.plan)
        if first is not sides[0]:
            sums = [math.fsum(each.tolist()) - sum_ for each, sum_ in zip(columns, sums, strict=True)]
        fixed = (math.fsum(each.tolist()) for each in (w_b * u**2, w_b * u * z, w_b * z**2, w * z**2))
        return cls(groups, tuple(sums), tuple(fixed), is_enumerated)

    @property
    def own(self) -> int:
        """1 for the observed labelling, which is not among random ones; 0 if all are enumerated."""
        return 0 if self.is_enumerated else 1

    @property
    def draws(self) -> int:
        return self.sums[0].size

    @property
    def total(self) -> int:
        return self.draws + self.own

    def as_high(self, shift: float = 0.0) -> tuple[int, int]:
        """Count labellings with t at least, and at most, as high as observed, after subtracting a shift from A."""
        groups, (u, z, uu, uz, zz, line_u, line_z), (own_uu, own_uz, own_zz, own) = self.groups, self.sums, self.fixed
        difference = (u - shift * z) / groups.weight
        variance = uu + own_uu - 2 * shift * (uz + own_uz) + shift**2 * (zz + own_zz)
        variance += difference * (difference * own - 2 * (line_u - shift * line_z))
        # A zero spread is replaced with a tiny one; with one session there is no own spread, and differences decide.
        least = (1e7 if groups.error is None else 1e-7) * (groups.scale or 1.0)
        error = max(groups.error or 0.0, least)
        observed = (groups.mean - shift) / error
        near = 1e-8 * abs(observed) + 0.1 * settled_step(groups.scale) / error
        beyond = np.where(self._are_observed, 0.0, difference / np.sqrt(np.maximum(variance, least**2)) - observed)
        return int(np.count_nonzero(beyond >= -near)) + self.own, int(np.count_nonzero(beyond <= near)) + self.own

    @property
    def _are_observed(self) -> Bools:
        return np.asarray(self.sums[1] > self.groups.weight * (1 - 1e-9))

    def limit(self, side: int, extreme: int) -> float:
        """Return the last shift below (-1) or above (1) the difference with at least this many extreme labellings."""
        groups, mean = self.groups, self.groups.mean
        if np.count_nonzero(self._are_observed) + self.own >= extreme:
            return side * math.inf  # the observed labels are extreme for any shift

        def holds(shift: float) -> bool:
            return self.as_high(shift)[side > 0] >= extreme

        # p itself decides whether the interval contains 0.
        inside, outside, step = mean, 0.0, groups.error or groups.scale or 1.0
        if mean * side >= 0 or holds(0.0):
            inside = 0.0 if mean * side < 0 else mean
            while holds(outside := inside + side * step):
                inside, step = outside, 2 * step
        enough = max(1e-7 * (groups.error or 0.0), settled_step(groups.scale))
        while abs(outside - inside) > enough and (middle := (inside + outside) / 2) not in (inside, outside):
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside


class _Pool(NamedTuple):
    """Columns of all scores with their blocks; the first ``size`` belong to the group that labels are assigned to."""

    block: Ints
    size: int
    columns: tuple[Floats, ...]

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """Number of scores per block, in the group and in total."""
        both = np.bincount(self.block)
        return np.bincount(self.block[: self.size], minlength=both.size), both

    @property
    def ways(self) -> int:
        own, both = self.counts
        return math.prod(map(math.comb, both.tolist(), own.tolist()))

    def all_sums(self) -> list[Floats]:
        """Return each column's sum over the group, for every labelling."""
        sums = [np.zeros(1) for _ in self.columns]
        for block, size in enumerate(self.counts[0].tolist()):
            members = np.flatnonzero(self.block == block)
            chosen = members[np.array(list(combinations(range(members.size), size)), np.int64).reshape(-1, size)]
            more = (column[chosen].sum(axis=1) for column in self.columns)
            sums = [np.add.outer(old, new).ravel() for old, new in zip(sums, more, strict=True)]
        return sums

    def drawn_sums(self, plan: PairPlan) -> list[Floats]:
        """Return the same for random labellings: each block is shuffled, and its first scores form the group."""
        draws, seed = plan.draws or SHUFFLES, plan.seed
        check_draws(draws, seed)
        own, both = self.counts
        first = np.repeat(np.cumsum(both) - both - np.cumsum(own) + own, own) + np.arange(self.size)
        high = self.block.astype(np.uint64) << np.uint64(64 - _BLOCK_BITS)
        n = self.block.size
        rows = max(1, min(BLOCK, _CELLS // n))
        sums = []
        for number, start in enumerate(range(0, draws, rows)):
            raw = stream(seed, number).bit_generator.random_raw(rows * n).reshape(rows, -1)
            order = np.argsort((raw >> np.uint64(_BLOCK_BITS)) | high, axis=1, kind="stable")
            chosen = order[: draws - start, first]
            sums.append([column[chosen].sum(axis=1) for column in self.columns])
        return [np.concatenate(each) for each in zip(*sums, strict=True)]


def labels(groups: TwoGroups) -> Finding:
    """The test of shuffled labels: p is twice the smaller share of labellings with t at least as high, or as low.

    t is the difference divided by its standard error under each labelling, Welch's without topics: exact if labels are
    exchangeable, and asymptotically valid if only means are equal (Janssen 1997, Chung & Romano 2013). Above 5,000
    sessions the asymptotic t is used, unless a number of draws is set.
    """
    t = groups.mean / groups.error if groups.error else None
    if groups.is_limit and t is not None:
        return Finding(t_p(t, groups.df), groups.mean, t)
    found = groups.labellings
    p = min(1.0, 2 * min(found.as_high()) / found.total)
    return Finding(p, groups.mean, t, found.draws, found.is_enumerated)


def labels_interval(groups: TwoGroups, alpha: float) -> Interval:
    """Return the shifts that shuffled labels do not reject, by bisection."""
    if groups.is_limit and groups.error:
        reach = t_quantile(1 - alpha / 2, groups.df) * groups.error
        return Interval(groups.mean - reach, groups.mean + reach, alpha, "labels")
    found = groups.labellings
    low, high = (found.limit(side, least_count(alpha / 2, found.total)) for side in (-1, 1))
    return tidy(Interval(low, high, alpha, "labels"), groups.scale)


def welch(groups: TwoGroups) -> Finding:
    """t = difference / sqrt(s_A^2 / n_A + s_B^2 / n_B) on Satterthwaite's degrees of freedom (Welch 1947).

    >>> found = welch(TwoGroups(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 9.0])))
    >>> round(found.statistic, 5), round(found.p, 5)
    (-1.38873, 0.28383)
    """
    if not groups.sd:
        return Finding(1.0, groups.mean)  # nothing varies, so there is nothing to test
    if not groups.mean:
        return Finding(1.0, 0.0, 0.0)
    found = _welch(groups)
    return Finding(max(float(found.pvalue), LEAST_P), groups.mean, float(found.statistic))


def welch_interval(groups: TwoGroups, alpha: float) -> Interval:
    """Return difference +- t error: the shifts that Welch's test does not reject."""
    if not groups.sd:
        return Interval(groups.mean, groups.mean, alpha, "welch")
    found = _welch(groups).confidence_interval(1 - alpha)
    return Interval(float(found.low), float(found.high), alpha, "welch")


def _welch(groups: TwoGroups) -> Any:
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a group without variance
        return ttest_ind(*groups.sides, equal_var=False)


def mann_whitney(groups: TwoGroups) -> Finding:
    """The Mann-Whitney test: exact without ties or in small groups, else normal with corrections."""
    n, m = groups.sizes
    u = float(mid_ranks(groups.pooled)[:n].sum() - n * (n + 1) / 2)
    return Finding(_p_of_u(groups)(u), 2 * u / (n * m) - 1, u)


def _p_of_u(groups: TwoGroups) -> Callable[[float], float]:
    """Return a function for the two-sided p of U, the number of pairs in which A has the higher rank."""
    ranks, (n, m) = mid_ranks(groups.pooled), groups.sizes
    total, few, many = n + m, min(n, m), max(n, m)
    if n * m * few <= _MOST_STEPS and np.diff(np.sort(ranks)).min() >= 1:
        # Counts of orders by U, from the Gaussian binomial coefficient: the product over i of
        # (1 - x^(many + i)) / (1 - x^i).
        ways = [1] + [0] * (n * m)
        for i in range(1, few + 1):
            for u in range(n * m, many + i - 1, -1):
                ways[u] -= ways[u - many - i]
            for u in range(i, n * m + 1):
                ways[u] += ways[u - i]
        at_most = list(accumulate(ways))
        return lambda u: min(1.0, float(2 * at_most[int(min(u, n * m - u))] / at_most[-1]))
    pool = _Pool(np.zeros(total, np.int64), n, (2 * ranks,))
    if pool.ways <= MOST_LABELLINGS:
        twice = np.sort(pool.all_sums()[0] - n * (n + 1))

        def counted(u: float) -> float:
            below, above = np.searchsorted(twice, 2 * u, "right"), twice.size - np.searchsorted(twice, 2 * u, "left")
            return min(1.0, 2 * int(min(below, above)) / twice.size)

        return counted
    ties = np.bincount((2 * ranks).astype(np.int64))
    variance = n * m / 12 * (total + 1 - float((ties**3 - ties).sum()) / (total * (total - 1)))

    def normal(u: float) -> float:
        z = max(abs(u - n * m / 2) - 0.5, 0.0) / math.sqrt(variance) if variance > 0 else 0.0
        return max(math.erfc(z / math.sqrt(2)), LEAST_P)

    return normal


def hodges_lehmann_interval(groups: TwoGroups, alpha: float) -> Interval:
    """Return the shifts that the Mann-Whitney test does not reject (Moses).

    The limits are order statistics of all differences between a score of A and one of B, around their median (Hodges &
    Lehmann 1963).
    """
    n, m = groups.sizes
    first, second = (np.sort(side) for side in groups.sides)
    p = _p_of_u(groups)

    # The smallest U that is not rejected; with ties the distribution of U can be asymmetric.
    smaller = range(n * m // 2 + 1)
    lower = bisect_left(smaller, True, key=lambda u: p(n * m - u) >= alpha)
    upper = bisect_left(smaller, True, key=lambda u: p(u) >= alpha)
    if min(lower, upper) < 1:
        return Interval(-math.inf, math.inf, alpha, "hodges-lehmann", of="median")
    low_end, high_end = (_difference_at(first, second, place, groups.scale) for place in (lower, n * m - upper + 1))
    return Interval(low_end, high_end, alpha, "hodges-lehmann", of="median")


def _difference_at(first: Floats, second: Floats, place: int, scale: float) -> float:
    """Return the order statistic at ``place`` (from 1) of all differences between two ascending arrays."""
    low, high = float(first[0] - second[-1]), float(first[-1] - second[0])
    step = settled_step(scale)
    while high - low > step / 4:
        middle = (low + high) / 2
        # Number of differences up to the middle.
        at_most = int((second.size - np.searchsorted(second, first - middle - step / 8, side="left")).sum())
        low, high = (low, middle) if at_most >= place else (middle, high)
    return float(settle(np.array(high), scale)) + 0.0


@dataclass(frozen=True)
class UnpairedEffects:
    """Effect sizes that do not depend on the measure's unit; None if undefined."""

    hedges_g: float | None  # difference / spread within systems (and topics), without its bias in small samples
    hedges_g_interval: Interval | None
    cliffs_delta: float  # share of session pairs that the system wins minus the share it loses
    cliffs_delta_interval: Interval | None  # Feng and Cliff's (2004)
    superiority: float  # (1 + Cliff's delta) / 2: the probability that the system's session is the better one (A12)


def unpaired_effects(groups: TwoGroups, better: str, alpha: float) -> UnpairedEffects:
    """Compute all effect sizes for two systems on different sessions."""
    g = limits = None
    if groups.t is not None and groups.sd:
        factor = hedges_factor(groups.df) if groups.df > 1 else 1.0
        g = factor * groups.mean / groups.sd
        low, high = (limit / math.sqrt(groups.weight) for limit in noncentrality_interval(groups.t, groups.df, alpha))
        limits = Interval(low, high, alpha, "noncentral t")
    n, m = groups.sizes
    first, second = (side if better == "higher" else -side for side in groups.sides)
    ordered = np.sort(first), np.sort(second)
    # For each score, the number of the other system's scores below it, and up to it.
    below, up_to = (np.searchsorted(ordered[1], first, side) for side in ("left", "right"))
    below_b, up_to_b = (np.searchsorted(ordered[0], second, side) for side in ("left", "right"))
    # For each score of A, wins minus losses against B as a share; for each score of B, seen from A.
    of_first, of_second = (below + up_to) / m - 1, 1 - (below_b + up_to_b) / n
    delta = math.fsum(of_first.tolist()) / n
    delta_limits = None
    if min(n, m) > 1 and abs(delta) < 1:
        cells, tied = n * m, int((up_to - below).sum())
        around = m * m * float(((of_first - delta) ** 2).sum()) + n * n * float(((of_second - delta) ** 2).sum())
        variance = (around - (cells - tied - cells * delta**2)) / (cells * (n - 1) * (m - 1))
        variance = max(variance, (1 - delta**2) / (cells - 1))
        z = NormalDist().inv_cdf(1 - alpha / 2)
        spread = z * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + z**2 * variance)
        whole = 1 - delta**2 + z**2 * variance
        low, high = ((delta - delta**3 + side * spread) / whole for side in (-1, 1))
        delta_limits = Interval(low, high, alpha, "feng-cliff")
    return UnpairedEffects(g, limits, delta, delta_limits, (1 + delta) / 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnpairedResult(TestedPair):
    """The comparison of a system with its baseline on different sessions."""

    sizes: tuple[int, int]  # numbers of sessions, the system's first
    topics: int  # number of shared topics, 0 if labels were shuffled without topics
    alone: int  # number of sessions left out because only one system has their topic
    effect: UnpairedEffects
    is_alike: bool


def compare_unpaired(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    topics: tuple[Sequence[str | None], Sequence[str | None]] | None = None,
    plan: PairPlan = USUAL_PLAN,
    *,
    names: tuple[str, str] = ("A", "B"),
    measure: str = "",
    better: str = "higher",
    farthest: float = math.inf,
) -> UnpairedResult:
    """Compare system A with the baseline B, each on its own sessions; scores differ by at most ``farthest``.

    With ``topics``, labels are shuffled within shared topics and other sessions are left out; if these are most of a
    system's sessions, topics are not used. The default test is ``labels``, or ``welch`` for more than 5,000 sessions
    without shared topics.

    >>> found = compare_unpaired([0.5, 0.7, 0.6, 0.9], [0.1, 0.2, 0.4, 0.3])
    >>> round(found.difference, 3), round(found.p, 4), found.verdict, found.effect.superiority
    (0.425, 0.0286, 'better', 1.0)
    """
    choose(better, ("higher", "lower"), "better")
    scores = tuple(np.asarray(each, np.float64) for each in (a, b))
    for each in scores:
        if not each.size or not np.isfinite(each).all():
            raise InputError("scores: both systems need at least one score, and all must be finite numbers")
    # Numbers of the shared topics; -1 for others.
    shared = sorted(set(topics[0]).intersection(topics[1]) - {None}, key=str) if topics else []
    number = {topic: i for i, topic in enumerate(shared)}
    codes = [np.array([number.get(topic, -1) for topic in each], np.int64) for each in topics or ()] if shared else []
    is_kept = bool(codes) and all(2 * np.count_nonzero(each >= 0) >= each.size for each in codes)
    sizes = [each.size for each in scores]
    varies = min(sizes) > 1 and any(np.ptp(each) > 0 for each in scores)
    usual = WELCH if sum(sizes) > MOST_FLIPPED and varies and not is_kept else LABELS
    test = UNPAIRED_TESTS[choose(plan.test, UNPAIRED_TESTS, "test")] if plan.test else usual
    blocks, unused = None, []
    if is_kept and test is LABELS:
        blocks = (codes[0][codes[0] >= 0], codes[1][codes[1] >= 0])
        scores = tuple(each[of >= 0] for each, of in zip(scores, codes, strict=True))
    elif is_kept:
        unused = [f"both systems have sessions of the same topics, which {test.name} ignores; labels uses them"]
    elif codes:
        first, second = (f"{np.count_nonzero(each >= 0):,} of {each.size:,}" for each in codes)
        unused = [f"only {first} and {second} sessions are of shared topics: topics are not used"]
    groups = TwoGroups(scores[0], scores[1], blocks, plan)
    reason = ""
    if min(groups.sizes) < 2:
        reason = "a system has fewer than 2 sessions"
    elif not groups.sd and groups.mean:
        reason = "scores are the same in all sessions of each system, so there is no spread to use"
    if test.needs_spread and reason:
        of = f"{measure}, " if measure else ""
        raise InputError(f"{of}test {test.name}: {reason}", "the test labels works without a spread")
    means = [math.fsum(each.tolist()) / each.size for each in scores]
    tested = tested_fields(groups, test, partial(test.limits, groups), means, better, farthest)
    return UnpairedResult(
        names=names,
        measure=measure,
        better=better,
        alpha=plan.alpha,
        unit="session",
        **tested,
        n=sum(groups.sizes),
        sizes=groups.sizes,
        topics=len(shared) if blocks else 0,
        alone=sum(sizes) - sum(groups.sizes),
        effect=unpaired_effects(groups, better, plan.alpha),
        is_alike=bool(np.ptp(groups.pooled) == 0),
        warnings=tuple(_warnings(groups, tested["test"], tested["interval"], unused)),
    )


def _warnings(groups: TwoGroups, outcome: TestOutcome, interval: Interval, unused: list[str]) -> list[str]:
    alpha, test, n = groups.plan.alpha, outcome.test, sum(groups.sizes)
    level = percent_text(alpha)
    found = []
    if np.ptp(groups.pooled) == 0:
        found.append("all sessions have the same score: there is no difference to test")
    elif test is LABELS and outcome.is_enumerated and 2 / groups.labellings.total >= alpha:
        found.append(f"{count_of(groups.labellings.total, 'labelling')} cannot reach {level}")
    elif min(groups.sizes) < FEW_QUERIES:
        found.append(
            f"with {groups.sizes[0]:,} and {groups.sizes[1]:,} sessions only large differences can be "
            "detected: see the minimum detectable difference"
        )
    if not interval.is_bounded:
        found.append("the interval is unbounded: there are too few sessions for this level")
    if n > MOST_FLIPPED:
        found.append(f"with {n:,} sessions tiny differences are significant: read the interval, and set a margin")
    few, many = (float(np.std(side)) for side in sorted(groups.sides, key=len))
    if test is LABELS and 2 * max(groups.sizes) >= 3 * min(groups.sizes) and few > 2.5 * many > 0:
        found.append(
            f"scores of the system with fewer sessions vary {few / many:.1f} times as much as the other's: shuffled "
            "labels then find too much (about 10% at the 5% level), welch does not"
        )
    found += unused
    if test.of != "mean":
        found.append(f"null hypothesis: {test.hypothesis}; the interval is for the {interval.of}")
    if outcome.draws is not None and not outcome.is_enumerated and 2 / (outcome.draws + 1) >= alpha:
        found.append(too_few_draws(outcome.draws, alpha / 2))
    return found
