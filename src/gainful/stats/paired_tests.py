"""Two systems' scores on the same queries, and the tests and intervals that are made of them.

Flips of all differences have a distribution of their own under every shift (randomisation); samples of queries with
replacement have the spread that the mean has (bootstrap: studentised, percentile, BCa); Student's t and Yuen's, of
means without the largest and smallest differences, have a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from gainful.frozen import dataclass, field, replace
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.kernel.exact_sums import effective_number
from gainful.stats.distributions import t_p, t_quantile, upper_normal
from gainful.stats.findings import Finding, Interval, NullSummary
from gainful.stats.repeatable import (
    BLOCK,
    FLIPS,
    MOST_ENUMERATED,
    Columns,
    Flips,
    check_alpha,
    check_draws,
    check_margin,
    exact_extremes,
    fixed_point,
    largest_at,
    least_count,
    on_flip_grid,
    settle,
    settled_differences,
    settled_step,
)
from gainful.stats.run_noise import RunNoise, noise_of_means, satterthwaite

_Made = TypeVar("_Made")
#: Weights that leave less than this beside one query leave no spread to speak of.
_LEAST_DF = 0.25


class SystemScores(Protocol):
    """Scores of several systems by one measure, queries (in byte order of their ids) x systems."""

    @property
    def measure(self) -> str: ...
    @property
    def better(self) -> str: ...
    @property
    def queries(self) -> Sequence[str]: ...
    @property
    def unit(self) -> str: ...
    @property
    def left_out(self) -> Sequence[str]: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def values(self) -> Floats: ...
    @property
    def means(self) -> Floats: ...
    @property
    def weights(self) -> Floats | None: ...
    @property
    def worth(self) -> float | None: ...
    @property
    def farthest(self) -> float: ...
    @property
    def unanswered(self) -> Mapping[str, int]: ...
    @property
    def repeats(self) -> Mapping[str, Floats]: ...
    def place(self, system: str) -> int: ...


@dataclass(frozen=True)
class PairPlan:
    """How two systems are compared.

    ``test`` and ``interval`` are names in :mod:`gainful.stats.catalogues`; without one it is the test for so many
    queries, and the interval that inverts the test. ``draws`` are flips, samples or shuffles, None for as many as
    usual. Within ``margin`` systems count as equal. ``most`` is how many queries that speak for either are kept: five,
    or of very few queries all.
    """

    test: str | None = None
    interval: str | None = None
    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    margin: float | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_margin(self.margin)


#: What is done unless anything else is asked for.
USUAL_PLAN = PairPlan()


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two systems in byte order of their queries; ``weights``, 1 on average, say how much each query counts.

    Where a system has several runs, its scores are their means, and ``runs`` is what noise between runs adds to the
    variance of the mean difference.

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats
    plan: PairPlan = USUAL_PLAN
    weights: Floats | None = None
    unit: str = "query"
    runs: RunNoise | None = None
    _made: dict[Callable[[PairedScores], Any], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: SystemScores, system: str, baseline: str, plan: PairPlan = USUAL_PLAN) -> PairedScores:
        a, b = (np.ascontiguousarray(scores.values[:, scores.place(name)]) for name in (system, baseline))
        runs = noise_of_means([scores.repeats.get(name) for name in (system, baseline)], scores.weights)
        return cls(a, b, plan, scores.weights, scores.unit, runs)

    @cached_property
    def plain_differences(self) -> Floats:
        return settled_differences(self.a, self.b)

    @cached_property
    def differences(self) -> Floats:
        """The differences as they count: times their weights."""
        return self.weighted(self.plain_differences)

    def weighted(self, values: Floats) -> Floats:
        """Values times their weights, the mean of which is the weighted mean."""
        return values if self.weights is None else values * self.weights

    @property
    def n(self) -> int:
        return int(self.a.size)

    @cached_property
    def weight(self) -> float:
        """The effective number of queries, n without weights: the variance of the mean difference is that of a
        difference divided by it."""
        return self.n if self.weights is None else effective_number(self.weights)

    @property
    def df(self) -> float:
        of_queries = ((self.sd or 0.0) ** 2 / self.weight, self.weight - 1)
        return of_queries[1] if self.runs is None else satterthwaite(of_queries, (self.runs.variance, self.runs.df))

    @property
    def standard_error(self) -> float | None:
        """That of the mean difference: of queries, and of runs where there are several."""
        if self.sd is None:
            return None
        return math.hypot(self.sd / math.sqrt(self.weight), math.sqrt(self.runs.variance if self.runs else 0.0))

    @cached_property
    def above(self) -> int:
        return int(np.count_nonzero(self.differences > 0))

    @cached_property
    def nonzero(self) -> int:
        return int(np.count_nonzero(self.differences))

    @cached_property
    def scale(self) -> float:
        return max(float(np.abs(self.weighted(scores)).max()) for scores in (self.a, self.b))

    @property
    def error(self) -> float:
        """How far a difference may be from what it is in exact arithmetic."""
        return settled_step(self.scale)

    @cached_property
    def mean(self) -> float:
        """The mean difference; 0 where it is but rounding."""
        found = math.fsum(self.differences.tolist()) / self.n
        return found if settle(np.array(found), self.scale) else 0.0

    @cached_property
    def sd(self) -> float | None:
        """The differences' standard deviation: None for one query, 0 where all are equal but for rounding.

        With weights, that of the mean is sd / sqrt(weight): sqrt(sum (w (d - mean) / (1 - h))^2) / sum w, where
        h = w / sum w is the leverage of a query (HC3, MacKinnon & White 1985).
        """
        if self.weight - 1 < _LEAST_DF:
            return None
        if self.weights is None:
            return self.spread_of(self.differences, self.mean, self.n - 1)
        deviations = self.weighted(settle(self.plain_differences - self.mean, self.scale)) / (1 - self.weights / self.n)
        return math.sqrt(math.fsum((deviations**2).tolist()) * self.weight) / self.n

    @property
    def is_constant(self) -> bool:
        """Whether the systems differ, and on all of several queries by the same, but for rounding."""
        return self.standard_error == 0 and bool(self.mean)

    def spread_of(self, values: Floats, centre: float, df: int) -> float | None:
        """sqrt(sum of squared deviations / df): None without degrees of freedom, 0 where it is but rounding."""
        if df < 1:
            return None
        deviations = values - centre
        if not settle(deviations, self.scale).any():
            return 0.0
        return math.sqrt(math.fsum((deviations**2).tolist()) / df)

    @property
    def t(self) -> float | None:
        return self.mean / self.standard_error if self.standard_error else None

    def can_reach(self, alpha: float) -> bool:
        """Whether flips of the differences that are not 0 can be rare enough at all: the rarest has p 2^(1-k)."""
        return 2.0 ** (1 - self.nonzero) < alpha

    def once(self, make: Callable[[PairedScores], _Made]) -> _Made:
        """What a test and its interval share, such as flips: made when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("_Made", self._made[make])


def mid_ranks(values: Floats) -> Floats:
    """The ranks along each row, 1 for the lowest; equals share the mean of their ranks.

    >>> mid_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """

    def of_row(row: Floats) -> Floats:
        ordered = np.sort(row)
        return np.asarray((np.searchsorted(ordered, row) + np.searchsorted(ordered, row, "right") + 1) / 2)

    return np.asarray(np.apply_along_axis(of_row, -1, values))


def signed_ranks(differences: Floats) -> tuple[Floats, float, float]:
    """The ranks of the sizes of settled differences, zeros dropped; their sums where positive, and where negative."""
    some = differences[differences != 0]
    ranks = mid_ranks(np.abs(some))
    return ranks, math.fsum(ranks[some > 0]), math.fsum(ranks[some < 0])


def rank_biserial(differences: Floats) -> float | None:
    """(W+ - W-) / (W+ + W-), zeros dropped (Kerby 2014); None if all are.

    >>> rank_biserial(np.array([1.0, 2.0, 3.0, -4.0, 0.0]))
    0.2
    """
    ranks, positive, negative = signed_ranks(differences)
    return (positive - negative) / (positive + negative) if ranks.size else None


def t_interval(mean: float, sd: float, n: float, alpha: float) -> Interval:
    """mean +- t sd / sqrt(n); without limits for a single query, or for what weights make as good as one.

    >>> found = t_interval(0.0656626, 0.194848, 50, 0.05)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0103, 0.121)
    """
    reach = t_quantile(1 - alpha / 2, n - 1) * sd / math.sqrt(n) if n - 1 >= _LEAST_DF else math.inf
    return Interval(mean - reach, mean + reach, alpha, "t")


def student_interval(scores: PairedScores, alpha: float) -> Interval:
    """The shifts that Student's test does not reject."""
    error = scores.standard_error
    reach = math.inf if error is None else t_quantile(1 - alpha / 2, scores.df) * error
    return Interval(scores.mean - reach, scores.mean + reach, alpha, "t")


def student(scores: PairedScores) -> Finding:
    """t = mean / (sd / sqrt n) on n - 1 degrees of freedom; equal scores are no evidence, nor is a single query. With
    weights n is the effective number of queries. With several runs, their noise adds to sd^2 / n, and degrees of
    freedom are Satterthwaite's."""
    t = scores.t
    return Finding(1.0, scores.mean) if t is None else Finding(t_p(t, scores.df), scores.mean, t)


#: The share of differences that is left out at either end.
TRIMMED = 0.2


class TrimmedMean(NamedTuple):
    """The trimmed mean of differences, its standard error (None where there is none), and of how many it is."""

    mean: float
    error: float | None
    kept: int


def trimmed_mean(scores: PairedScores) -> TrimmedMean:
    """The mean of the h = n - 2 g middle differences, g = floor(n / 5), and its error (Tukey & McLaughlin 1963).

    error = sqrt(SSD_w / (h (h - 1))), SSD_w being the sum of squared deviations of the winsorised differences, those
    left out put in the place of the nearest that is kept, from their own mean. With less than 5 queries: the mean.

    >>> found = trimmed_mean(PairedScores(np.array([0.1, 0.2, 0.3, 0.5, 9.0]), np.zeros(5)))
    >>> round(found.mean, 6), round(found.error, 6), found.kept
    (0.333333, 0.123828, 3)
    """
    cut = math.floor(round(TRIMMED * scores.n, 9))
    kept = sorted(scores.differences.tolist())[cut : scores.n - cut]
    winsorised = scores.differences.clip(kept[0], kept[-1])
    spread = scores.spread_of(winsorised, math.fsum(winsorised.tolist()) / scores.n, len(kept) - 1)
    # That many are equal says nothing of the spread of those that are not.
    error = None if spread is None or (not spread and scores.sd) else spread / math.sqrt(len(kept))
    return TrimmedMean(math.fsum(kept) / len(kept), error, len(kept))


def yuen(scores: PairedScores) -> Finding:
    """t = trimmed mean / error on h - 1 degrees of freedom (Yuen 1974, of one sample of differences)."""
    mean, error, kept = scores.once(trimmed_mean)
    return Finding(t_p(mean / error, kept - 1), mean, mean / error) if error else Finding(1.0, mean)


def yuen_interval(scores: PairedScores, alpha: float) -> Interval:
    """trimmed mean +- t error on h - 1 degrees of freedom: the shifts that the test does not reject."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Interval(-math.inf, math.inf, alpha, "yuen", of="trimmed mean")
    found = t_interval(mean, error * math.sqrt(kept), kept, alpha)
    return Interval(found.low, found.high, alpha, "yuen", of="trimmed mean")


def without_middle_spread(scores: PairedScores) -> str:
    """A caution where trimming leaves equal differences only."""
    if scores.once(trimmed_mean).error is not None or scores.n < 2:
        return ""
    return "all differences that trimming leaves are equal: Yuen's test has no spread to go by; take another one"


def tidy(interval: Interval, scale: float) -> Interval:
    """The interval without the traces of the grid; a limit that is not 0 stays so, because it decides."""
    low, high = (float(settle(np.array(limit), scale)) or limit for limit in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


@dataclass(frozen=True, eq=False)
class FlippedSubsets:
    """The flipped part of the differences in every draw: how many queries (or their weight), and their sum, 0 where it
    is 0 but for rounding. With each draw stands the one that flips the other queries."""

    flips: Flips
    total: float  # of all differences; exact
    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, columns: Columns, flips: Flips, weights: Floats | None = None) -> FlippedSubsets:
        """Flips the difference of the first two columns, whose queries have these weights."""
        steps = columns.steps[:, 0] - columns.steps[:, 1]
        counts = Columns(np.ones(steps.size), 1.0) if weights is None else on_flip_grid(weights)
        found = np.concatenate(list(flips.sums(np.column_stack((steps, counts.steps)))))
        total, near = float(steps.sum()), columns.slack / 2
        sums = np.concatenate((found[:, 0], total - found[:, 0]))
        sizes = np.concatenate((found[:, 1], float(counts.steps.sum()) - found[:, 1])) * counts.unit
        return cls(flips, total * columns.unit, np.where(np.abs(sums) <= near, 0.0, sums) * columns.unit, sizes)

    @property
    def extreme(self) -> int:
        """How many draws are as far from 0 as what was observed: those that flip a part which does not carry it."""
        half = self.sums.size // 2
        no_less = self.sums <= 0 if self.total > 0 else self.sums >= 0
        return int(np.count_nonzero(no_less[:half] | no_less[half:])) if self.total else half

    def critical(self, alpha: float) -> float:
        """What the absolute sum of differences has to exceed for p to be below alpha."""
        half = self.sums.size // 2
        return largest_at(np.abs(self.total - 2 * self.sums[:half]), self.flips.least_extreme(alpha))

    def interval(self, alpha: float) -> Interval:
        """The shifts that the test does not reject.

        Taking a shift from every difference, the flipped sum is as large as the observed one just if the shift is at
        least the (weighted) mean of the flipped part: limits are order statistics of these means (Hartigan 1969).
        """
        some = self.sizes > 0
        means = np.sort(self.sums[some] / self.sizes[some])
        place = self.flips.least_extreme(alpha) - (some.size - means.size)
        low, high = (float(means[place - 1]), float(means[-place])) if place > 0 else (-math.inf, math.inf)
        return Interval(low, high, alpha, "randomisation")


@dataclass(frozen=True, eq=False)
class AllSubsets:
    """Every subset of the non-zero differences, by its size and sum; and how many differences are 0.

    Equal differences are alike: how many of them a subset has says all, and ``ways`` how many such subsets there are. A
    shift moves the zeros, too. How many of them a flip takes has a binomial distribution, which stands for flipping
    them one by one.
    """

    sums: Floats
    sizes: Floats
    ways: Floats
    zeros: int

    @classmethod
    def of(cls, differences: Floats, error: float = 0.0) -> AllSubsets:
        """All subsets of at most 20 non-zero differences, each known to within ``error``."""
        some = differences[differences != 0]
        fixed = fixed_point(some)
        sums, sizes, ways = np.zeros(1), np.zeros(1), np.ones(1)
        for step in distinct(fixed.steps).tolist():
            taken = np.arange(np.count_nonzero(fixed.steps == step) + 1.0)
            chosen = np.array([math.comb(taken.size - 1, int(size)) for size in taken])
            sums, sizes = (np.add.outer(more, old).ravel() for more, old in ((step * taken, sums), (taken, sizes)))
            ways = np.multiply.outer(chosen, ways).ravel()
        settled = np.where(np.abs(sums) <= fixed.near(error), 0.0, sums) * fixed.unit
        return cls(settled, sizes, ways, differences.size - some.size)

    @cached_property
    def count(self) -> int:
        return int(self.ways.sum())

    def critical(self, alpha: float) -> float:
        return -_in_place(-np.abs(self.sums[-1] - 2 * self.sums), self.ways, least_count(alpha, self.count))

    def interval(self, alpha: float) -> Interval:
        """As :meth:`FlippedSubsets.interval`, over all flips."""
        low = self._limit(alpha)
        high = -AllSubsets(-self.sums, self.sizes, self.ways, self.zeros)._limit(alpha)
        return Interval(low, high, alpha, "randomisation")

    def _limit(self, alpha: float) -> float:
        """The smallest shift that is not rejected: where flips that are as extreme reach alpha of all."""
        if not self.zeros:
            # Of all flips as many are far above as far below; the empty set is as extreme for every shift.
            place = math.ceil(least_count(alpha, self.count) / 2) - 1
            return _in_place(self.sums[1:] / self.sizes[1:], self.ways[1:], place)
        empty = 0.5**self.zeros / self.count
        below, up_to = (float(self.ways[part].sum()) / self.count for part in (self.sums < 0, self.sums <= 0))
        if 2 * empty >= alpha:
            return -math.inf
        # What decides whether 0 is inside is counted, not searched for: it is p itself.
        if 2 * (below + empty) < alpha <= 2 * up_to:
            return 0.0
        beyond = 2 * float(np.abs(self.sums[self.sizes == 1]).max())
        return self._search(alpha, 0.0, beyond) if 2 * up_to < alpha else self._search(alpha, -beyond, 0.0)

    def _search(self, alpha: float, low: float, high: float) -> float:
        """Bisection for the limit, around where normal sums would have it. Subsets that neither end distinguishes any
        more are counted once and left out."""
        from scipy.special import bdtr

        guesses = iter(self._guesses(alpha))
        exactness = 1e-15 * (high - low)
        wanted, sums, sizes, ways = alpha / 2 * self.count, self.sums, self.sizes, self.ways
        # The chance that a flip takes fewer than i of the zeros, from i = 0 to all of them and one more.
        chances = np.concatenate(([0.0], bdtr(np.arange(self.zeros + 1), self.zeros, 0.5)))
        at_low, at_high = (_shares(end, sums, sizes, chances) for end in (low, high))
        while high - low > exactness:
            undecided = at_low != at_high
            wanted -= float((at_low * ways)[~undecided].sum())
            sums, sizes, ways, at_low, at_high = (each[undecided] for each in (sums, sizes, ways, at_low, at_high))
            middle = next((guess for guess in guesses if low < guess < high), (low + high) / 2)
            at_middle = _shares(middle, sums, sizes, chances)
            if float((at_middle * ways).sum()) >= wanted:
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
        return high

    def _guesses(self, alpha: float) -> tuple[float, float]:
        """A little below and above the limit if flipped sums were normal: n (mean - limit) / root of sum (d - limit)^2
        is then the normal quantile."""
        is_single = self.sizes == 1
        n, quantile = self.sizes[-1] + self.zeros, upper_normal(alpha / 2)
        mean = float(self.sums[-1]) / n
        around = float((self.ways * self.sums**2)[is_single].sum()) - n * mean**2
        apart = quantile * math.sqrt(max(0.0, around) / n / max(1.0, n - quantile**2))
        return mean - 1.1 * apart, mean - 0.9 * apart


def _in_place(values: Floats, ways: Floats, place: int) -> float:
    """The value at a place, the smallest being the first, each as often as there are ways to it; below is nothing."""
    if place < 1:
        return -math.inf
    if ways.max() == 1:
        return float(np.partition(values, place - 1)[place - 1])
    order = np.argsort(values)
    return float(values[order[np.searchsorted(np.cumsum(ways[order]), place)]])


def _shares(shift: float, sums: Floats, sizes: Floats, chances: Floats) -> Floats:
    """For each subset the share of flips of the zeros beside it that make its mean, sum / (size + zeros), at most a
    shift, or leave it empty."""
    if not shift:
        # Approached from above or from below, as its neighbour in the search has it: 0 itself is decided before.
        return np.where(sums <= 0, 1.0, 0.0)
    zeros = chances.size - 2
    limit = sums / shift - sizes
    if shift > 0:
        return np.asarray(1.0 - chances[np.clip(np.ceil(limit), 0, zeros + 1).astype(np.int64)])
    return np.asarray(chances[np.clip(np.floor(limit) + 1, 0, zeros + 1).astype(np.int64)])


def _subsets(scores: PairedScores) -> AllSubsets | FlippedSubsets:
    if scores.nonzero <= MOST_ENUMERATED and scores.weights is None:
        return AllSubsets.of(scores.differences, scores.error)
    both = np.stack((scores.weighted(scores.a), scores.weighted(scores.b)), axis=1)
    flips = Flips(scores.n, scores.plan.draws or FLIPS, scores.plan.seed)
    return FlippedSubsets.of(on_flip_grid(both), flips, scores.weights)


def randomisation_p(scores: PairedScores) -> tuple[float, int, bool]:
    """The share of flips with a mean as far from 0 as the observed one, of how many, and whether these are all."""
    if scores.nonzero <= MOST_ENUMERATED and scores.weights is None:
        extreme, of = exact_extremes(scores.differences, scores.error)
        return extreme / of, of, True
    subsets = scores.once(_subsets)
    assert isinstance(subsets, FlippedSubsets)
    flips = subsets.flips
    return float(flips.p(np.array(subsets.extreme))), flips.count, flips.enumerated


def randomisation(scores: PairedScores) -> Finding:
    """The share of flips with a mean as far from 0 as the observed one: of all, or of those drawn and the observed."""
    subsets = scores.once(_subsets)
    sd = math.sqrt(math.fsum(scores.differences**2)) / scores.n
    critical = subsets.critical(scores.plan.alpha) / scores.n
    null = NullSummary(sd, float(settle(np.array(critical), scores.scale)) or critical)
    p, of, is_enumerated = randomisation_p(scores)
    return Finding(p, scores.mean, scores.mean, of, is_enumerated, null)


def randomisation_interval(scores: PairedScores, alpha: float) -> Interval:
    """The shifts that the randomisation test does not reject."""
    return tidy(scores.once(_subsets).interval(alpha), scores.scale)


_STREAM = 2**63  # keys above are for resamples, those below for flips
_CELLS = 1 << 21
_SAMPLES = 10_000


@dataclass(frozen=True, eq=False)
class Resamples:
    """Means and standard errors of samples of queries, drawn with replacement.

    ``apart`` is what the samples' means are above the observed one. Sums are exact, and what is equal in exact
    arithmetic is equal here: of scores with few values many samples have the observed mean.
    """

    mean: float
    error: float  # standard error of the mean
    apart: Floats
    errors: Floats
    scale: float

    @classmethod
    def of(cls, scores: PairedScores) -> Resamples:
        """Draws from differences, in the order of their queries' ids, as the plan has it."""
        fixed, draws = fixed_point(scores.differences), scores.plan.draws or _SAMPLES
        total, [error] = _sums_and_errors(fixed.steps[np.newaxis], fixed.unit, scores.scale)
        rows = resampled_rows(scores.n, draws, scores.plan.seed)
        parts = [_sums_and_errors(fixed.steps[each], fixed.unit, scores.scale) for each in rows]
        sums, errors = (np.concatenate(each) for each in zip(*parts, strict=True))
        mean, apart = (settle(each * (fixed.unit / scores.n), scores.scale) for each in (total, sums - total))
        return cls(float(mean[0]), float(error), apart, errors, scores.scale)

    @property
    def statistics(self) -> Floats:
        """|t| of each sample around the observed mean; a sample without spread counts as extreme."""
        unlike = np.full(self.apart.size, math.inf)
        return np.asarray(np.divide(np.abs(self.apart), self.errors, out=unlike, where=self.errors > 0))

    def between(self, quantiles: Sequence[float], alpha: float, method: str) -> Interval:
        low, high = settle(self.mean + np.quantile(self.apart, quantiles), self.scale).tolist()
        return Interval(low, high, alpha, method)


def resampled_rows(queries: int, draws: int, seed: int) -> Iterator[Ints]:
    """Samples x queries: which queries are drawn, some samples at a time; Philox with the key (seed, block)."""
    check_draws(draws, seed)
    rows = max(1, min(BLOCK, _CELLS // max(1, queries)))
    for block in range(math.ceil(draws / BLOCK)):
        key = np.array([seed, _STREAM + block], np.uint64)
        generator = np.random.Philox(key=key)
        left = min(BLOCK, draws - block * BLOCK)
        for start in range(0, left, rows):
            size = min(rows, left - start)
            high_halves = generator.random_raw(size * queries) >> np.uint64(32)
            yield ((high_halves * np.uint64(queries)) >> np.uint64(32)).astype(np.int64).reshape(size, queries)


def _sums_and_errors(steps: Floats, unit: float, scale: float) -> tuple[Floats, Floats]:
    """Of each row the sum, in steps, and the standard error of its mean; that is 0 without spread but for rounding."""
    n = steps.shape[1]
    sums = steps.sum(axis=1)
    if n < 2:
        return sums, np.zeros(sums.size)
    deviations = settle((steps - sums[:, np.newaxis] / n) * unit, scale)
    return sums, np.sqrt((deviations**2).sum(axis=1) / (n - 1) / n)


def bootstrap(scores: PairedScores) -> Finding:
    """The studentised bootstrap test: means of samples, shifted to 0.

    p = (samples whose |t| is at least the observed one + 1) / (samples + 1); 1 where no difference is observed.
    """
    samples = scores.once(Resamples.of)
    observed = 0.0 if not samples.mean else abs(samples.mean) / samples.error if samples.error else math.inf
    extreme = int(np.count_nonzero(samples.statistics >= observed * (1 - 1e-12)))
    draws = samples.apart.size
    return Finding((extreme + 1) / (draws + 1), scores.mean, scores.t, draws)


def bootstrap_t_interval(scores: PairedScores, alpha: float) -> Interval:
    """The symmetric bootstrap-t interval: the shifts that the bootstrap test does not reject (Hall 1988).

    Of differences that do not vary it is a point, whatever samples there are.
    """
    if scores.sd == 0:
        return Interval(scores.mean, scores.mean, alpha, "bootstrap-t")
    samples = scores.once(Resamples.of)
    draws = samples.apart.size
    reach = largest_at(samples.statistics, least_count(alpha, draws + 1) - 1)
    if math.isinf(reach):
        return Interval(-math.inf, math.inf, alpha, "bootstrap-t")
    # A hair wider, as p takes a hair more for equal.
    width = reach * samples.error * (1 + 1e-12)
    return Interval(samples.mean - width, samples.mean + width, alpha, "bootstrap-t")


def percentile_interval(scores: PairedScores, alpha: float) -> Interval:
    """The percentiles of the samples' means."""
    return scores.once(Resamples.of).between([alpha / 2, 1 - alpha / 2], alpha, "percentile")


def bca_interval(scores: PairedScores, alpha: float) -> Interval:
    """Percentiles corrected for bias and acceleration (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    samples, differences = scores.once(Resamples.of), scores.differences
    below = (np.count_nonzero(samples.apart < 0) + np.count_nonzero(samples.apart <= 0)) / 2
    share = below / samples.apart.size
    if not samples.error or not 0 < share < 1:
        return Interval(samples.mean, samples.mean, alpha, "bca")
    apart = differences - math.fsum(differences) / differences.size
    spread = math.fsum(apart**2)
    acceleration = math.fsum(apart**3) / (6 * spread**1.5) if spread else 0.0
    bias = float(ndtri(share))
    quantiles = []
    for tail in (alpha / 2, 1 - alpha / 2):
        z = bias + float(ndtri(tail))
        quantiles.append(float(ndtr(bias + z / (1 - acceleration * z))))
    return samples.between(quantiles, alpha, "bca")
