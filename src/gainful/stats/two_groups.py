"""Two systems on different sessions, as samples: nothing is paired, so that labels are shuffled, and not signs.

Where both systems have sessions of the same topics, the topic is a block: labels are shuffled within topics only, and
the difference is that of least squares with topics as the other factor.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gainful.kernel.arrays import Floats, Ints
from gainful.stats.catalogues import MOST_FLIPPED, Finding, Interval
from gainful.stats.distributions import LEAST_P, t_p, t_quantile
from gainful.stats.paired_tests import USUAL_PLAN, PairPlan, mid_ranks
from gainful.stats.rank_tests import exact_u_p, normal_u_p, u_of
from gainful.stats.repeatable import BLOCK, check_draws, fixed_point, least_count, settle, settled_step, stream

#: Shuffles unless another number is asked for; and up to so many labellings all are looked at.
SHUFFLES, MOST_LABELLINGS = 10_000, 50_000

_CELLS = 1 << 21
_BLOCK_BITS = 20  # of a key: blocks stay together when keys are put in order


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Scores of two systems; ``topics`` are numbers of blocks, the same for both, or None where there are none.

    >>> two = TwoGroups(np.array([3.0, 5.0]), np.array([1.0, 2.0]))
    >>> two.difference, two.weight, two.df
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
        """All scores, those of A first; what is equal but for rounding is equal."""
        return settle(np.concatenate((self.a, self.b)), self.scale)

    @property
    def sides(self) -> tuple[Floats, Floats]:
        return self.pooled[: self.a.size], self.pooled[self.a.size :]

    @cached_property
    def block(self) -> Ints:
        """Of each score the number of its block, from 0 on; one block of all without topics."""
        if self.topics is None:
            return np.zeros(self.pooled.size, np.int64)
        return np.unique(np.concatenate(self.topics), return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def weight(self) -> float:
        """The variance of the difference is that of a score divided by this: over blocks 1 / (1 / n_A + 1 / n_B)."""
        both = np.bincount(self.block)
        of_a = np.bincount(self.block[: self.a.size], minlength=both.size)
        return float((of_a * (both - of_a) / both).sum())

    def _aligned(self, values: Floats) -> Floats:
        means = np.bincount(self.block, values) / np.bincount(self.block)
        return np.asarray(values - means[self.block])

    @cached_property
    def difference(self) -> float:
        """The mean of A minus that of B, within blocks where there are some; 0 where it is but rounding."""
        if self.topics is None:
            found = math.fsum(self.sides[0].tolist()) / self.a.size - math.fsum(self.sides[1].tolist()) / self.b.size
        else:
            # What A's scores are above the means of their blocks is the weighted sum of the blocks' differences.
            found = math.fsum(self._aligned(self.pooled)[: self.a.size].tolist()) / self.weight
        return found if settle(np.array(found), self.scale) else 0.0

    @property
    def df(self) -> int:
        """Degrees of freedom of the spread: those of sessions, without one a block and one for the difference."""
        return self.pooled.size - int(self.block.max()) - 2

    @cached_property
    def sd(self) -> float | None:
        """The standard deviation of scores within systems and blocks; None without degrees of freedom, 0 where there
        is none but rounding."""
        if self.df < 1:
            return None
        left = self._aligned(np.concatenate((self.sides[0] - self.difference, self.sides[1])))
        return math.sqrt(math.fsum((left**2).tolist()) / self.df) if settle(left, self.scale).any() else 0.0

    @property
    def t(self) -> float | None:
        """The difference in standard errors, one spread for both; None where there is no spread."""
        return self.difference * math.sqrt(self.weight) / self.sd if self.sd else None

    @property
    def is_limit(self) -> bool:
        """Whether shuffled labels go by what they come to with many sessions: Student's t, within blocks."""
        return self.pooled.size > MOST_FLIPPED and self.plan.draws is None and bool(self.sd)

    @cached_property
    def labellings(self) -> Labellings:
        return Labellings.of(self)


@dataclass(frozen=True, eq=False)
class Labellings:
    """Ways to call as many sessions of each block A as there are: what A's scores lose in sum against the observed
    ones, exactly 0 where that is but rounding, and how many sessions have another label."""

    lost: Floats
    changed: Ints
    is_enumerated: bool

    @classmethod
    def of(cls, groups: TwoGroups) -> Labellings:
        """Labels are drawn for the smaller group, or the one with the lower scores, in order of the scores: what is
        found depends neither on which system is called A nor on the order of sessions."""
        fixed, n = fixed_point(groups.pooled), groups.a.size
        sides = [
            np.lexsort((fixed.steps[part], groups.block[part])) + part.start
            for part in (slice(0, n), slice(n, fixed.steps.size))
        ]
        first, second = sorted(sides, key=lambda side: (side.size, fixed.steps[side].tolist()))
        order = np.concatenate((first, second))
        pool = _Pool(fixed.steps[order], groups.block[order], int(first.size))
        is_enumerated = pool.ways <= MOST_LABELLINGS
        sums, kept = pool.all_sums() if is_enumerated else pool.drawn_sums(groups.plan)
        lost = pool.steps[: pool.size].sum() - sums
        lost[np.abs(lost) <= fixed.near(settled_step(groups.scale))] = 0.0
        # What one group loses the other gains.
        sign = 1.0 if first is sides[0] else -1.0
        return cls(sign * fixed.unit * lost + 0.0, pool.size - kept, is_enumerated)

    @property
    def total(self) -> int:
        """How many there are, the observed one included, which is not among drawn ones."""
        return self.lost.size + (0 if self.is_enumerated else 1)

    def p(self) -> float:
        """Twice the smaller share of labellings that give A as much as the observed one, or as little; never 0."""
        own = self.total - self.lost.size
        smaller = min(int(np.count_nonzero(self.lost <= 0)), int(np.count_nonzero(self.lost >= 0)))
        return min(1.0, 2 * (smaller + own) / self.total)

    def interval(self, alpha: float) -> Interval:
        """The shifts that the test does not reject.

        Taking a shift from all scores of A, another labelling gives A as much as the observed one just if the shift is
        at least what the sessions that change their label lose on average. So the limits are order statistics of that.
        """
        some = self.changed > 0
        shifts = np.sort(self.lost[some] / self.changed[some])
        place = least_count(alpha / 2, self.total) - (self.total - shifts.size)
        if place < 1:
            return Interval(-math.inf, math.inf, alpha, "labels")
        return Interval(float(shifts[place - 1]), float(shifts[-place]), alpha, "labels")


class _Pool(NamedTuple):
    """All scores in whole steps with their blocks; the first ``size`` are of the group that labels are given for."""

    steps: Floats
    block: Ints
    size: int

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """By block: how many scores of the group, and of both."""
        both = np.bincount(self.block)
        return np.bincount(self.block[: self.size], minlength=both.size), both

    @property
    def ways(self) -> int:
        own, both = self.counts
        return math.prod(map(math.comb, both.tolist(), own.tolist()))

    def all_sums(self) -> tuple[Floats, Ints]:
        """Of every labelling the sum of the group's scores, and how many of its scores keep their label."""
        sums, kept = np.zeros(1), np.zeros(1, np.int64)
        for block, size in enumerate(self.counts[0].tolist()):
            members = np.flatnonzero(self.block == block)
            chosen = members[np.array(list(combinations(range(members.size), size)), np.int64).reshape(-1, size)]
            sums = np.add.outer(sums, self.steps[chosen].sum(axis=1)).ravel()
            kept = np.add.outer(kept, (chosen < self.size).sum(axis=1)).ravel()
        return sums, kept

    def drawn_sums(self, plan: PairPlan) -> tuple[Floats, Ints]:
        """The same of labellings that are drawn: scores of each block in random order, its first ones are the
        group's."""
        draws, seed = plan.draws or SHUFFLES, plan.seed
        check_draws(draws, seed)
        own, both = self.counts
        first = np.repeat(np.cumsum(both) - both - np.cumsum(own) + own, own) + np.arange(self.size)
        high = self.block.astype(np.uint64) << np.uint64(64 - _BLOCK_BITS)
        rows = max(1, min(BLOCK, _CELLS // self.steps.size))
        sums, kept = [], []
        for number, start in enumerate(range(0, draws, rows)):
            raw = stream(seed, number).bit_generator.random_raw(rows * self.steps.size).reshape(rows, -1)
            order = np.argsort((raw >> np.uint64(_BLOCK_BITS)) | high, axis=1, kind="stable")
            chosen = order[: draws - start, first]
            sums.append(self.steps[chosen].sum(axis=1))
            kept.append((chosen < self.size).sum(axis=1))
        return np.concatenate(sums), np.concatenate(kept)


def labels(groups: TwoGroups) -> Finding:
    """The share of labellings that are as extreme as the observed one: of all, or of those drawn and the observed.

    Beyond 5,000 sessions it is the limit of that, unless draws are asked for.
    """
    if groups.is_limit and groups.t is not None:
        return Finding(t_p(groups.t, groups.df), groups.difference, groups.difference)
    found = groups.labellings
    return Finding(found.p(), groups.difference, groups.difference, found.lost.size, found.is_enumerated)


def labels_interval(groups: TwoGroups, alpha: float) -> Interval:
    """The shifts that shuffled labels do not reject."""
    if groups.is_limit and groups.sd:
        reach = t_quantile(1 - alpha / 2, groups.df) * groups.sd / math.sqrt(groups.weight)
        return Interval(groups.difference - reach, groups.difference + reach, alpha, "labels")
    found = groups.labellings.interval(alpha)
    low, high = (float(settle(np.array(limit), groups.scale)) or limit for limit in (found.low, found.high))
    return replace(found, low=low, high=high)


def welch(groups: TwoGroups) -> Finding:
    """t = difference / sqrt(s_A^2 / n_A + s_B^2 / n_B) on Satterthwaite's degrees of freedom (Welch 1947).

    >>> found = welch(TwoGroups(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 9.0])))
    >>> round(found.statistic, 5), round(found.p, 5)
    (-1.38873, 0.28383)
    """
    if not groups.sd:
        return Finding(1.0, groups.difference)  # where nothing varies and nothing differs there is nothing to test
    if not groups.difference:
        return Finding(1.0, 0.0, 0.0)
    found = _welch(groups)
    return Finding(max(float(found.pvalue), LEAST_P), groups.difference, float(found.statistic))


def welch_interval(groups: TwoGroups, alpha: float) -> Interval:
    """difference +- t error: the shifts that Welch's test does not reject."""
    if not groups.sd:
        return Interval(groups.difference, groups.difference, alpha, "welch")
    found = _welch(groups).confidence_interval(1 - alpha)
    return Interval(float(found.low), float(found.high), alpha, "welch")


def _welch(groups: TwoGroups) -> Any:
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one of the two may not vary
        return ttest_ind(*groups.sides, equal_var=False)


def mann_whitney(groups: TwoGroups) -> Finding:
    """The Mann-Whitney test: exact without ties or in small groups, else normal, corrected for ties and for
    continuity."""
    n, m = groups.sizes
    u = u_of(mid_ranks(groups.pooled), n)
    return Finding(_u_p(groups)(u), 2 * u / (n * m) - 1, u)


def _u_p(groups: TwoGroups) -> Callable[[float], float]:
    ranks, n = mid_ranks(groups.pooled), groups.a.size
    return exact_u_p(ranks, n) or _counted_u_p(ranks, n) or normal_u_p(ranks, n)


def _counted_u_p(ranks: Floats, n: int) -> Callable[[float], float] | None:
    """The same with ties, of all ways to give labels to the ranks; None where these are many."""
    pool = _Pool(2 * ranks, np.zeros(ranks.size, np.int64), n)
    if pool.ways > MOST_LABELLINGS:
        return None
    twice = np.sort(pool.all_sums()[0] - n * (n + 1))

    def p(u: float) -> float:
        below, above = np.searchsorted(twice, 2 * u, "right"), twice.size - np.searchsorted(twice, 2 * u, "left")
        return min(1.0, 2 * int(min(below, above)) / twice.size)

    return p


def hodges_lehmann_interval(groups: TwoGroups, alpha: float) -> Interval:
    """The shifts that the Mann-Whitney test does not reject: order statistics of all differences of a score of A and
    one of B (Moses), around their median (Hodges & Lehmann 1963)."""
    n, m = groups.sizes
    first, second = (np.sort(side) for side in groups.sides)
    p = _u_p(groups)

    def least(of: Callable[[float], float]) -> int:
        """The least U that is not rejected."""
        low, high = 0, (n * m) // 2 + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if of(middle) >= alpha else (middle + 1, high)
        return low

    # With ties the distribution of U need not be symmetric.
    lower, upper = least(lambda u: p(n * m - u)), least(p)
    if min(lower, upper) < 1:
        return Interval(-math.inf, math.inf, alpha, "hodges-lehmann", of="median")
    low_end, high_end = (_difference_at(first, second, place, groups.scale) for place in (lower, n * m - upper + 1))
    return Interval(low_end, high_end, alpha, "hodges-lehmann", of="median")


def _difference_at(first: Floats, second: Floats, place: int, scale: float) -> float:
    """The difference at a place among all of one score and another, the smallest being the first; both ascend."""
    low, high = float(first[0] - second[-1]), float(first[-1] - second[0])
    step = settled_step(scale)
    while high - low > step / 4:
        middle = (low + high) / 2
        # How many are at most the middle: for each of the first the seconds from first - middle on.
        at_most = int((second.size - np.searchsorted(second, first - middle - step / 8, side="left")).sum())
        low, high = (low, middle) if at_most >= place else (middle, high)
    return float(settle(np.array(high), scale)) + 0.0
