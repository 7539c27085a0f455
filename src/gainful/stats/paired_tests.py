"""Paired scores of two systems, and the tests and intervals based on them.

Randomisation flips the signs of differences and is inverted by shifting them; the bootstrap (studentised, percentile,
BCa) resamples queries; Student's t and Yuen's test of trimmed means have formulas.
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
    largest_at,
    least_count,
    on_flip_grid,
    on_grid,
    settle,
    settled_differences,
    settled_step,
)
from gainful.stats.run_noise import RunNoise, noise_of_means, satterthwaite

_Made = TypeVar("_Made")
#: Minimum degrees of freedom: weights that leave less are concentrated on one query, without a usable spread.
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
    """The settings of a comparison between two systems."""

    #: Names in :mod:`gainful.stats.catalogues`; by default the test for this number of queries, and the interval that
    #: inverts the test.
    test: str | None = None
    interval: str | None = None
    alpha: float = 0.05
    draws: int | None = None  # number of sign flips, resamples or shuffles; None for the default
    seed: int = 0
    margin: float | None = None  # the difference within which systems count as equivalent
    most: int | None = None  # number of queries listed per system; by default five, or all if there are very few

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_margin(self.margin)


#: The default settings.
USUAL_PLAN = PairPlan()


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two systems, in byte order of query ids.

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats
    plan: PairPlan = USUAL_PLAN
    weights: Floats | None = None  # query weights with mean 1
    unit: str = "query"
    #: Variance of the mean difference due to noise between runs; a system's scores are then means of its runs.
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
        """Differences multiplied by their weights."""
        return self.weighted(self.plain_differences)

    def weighted(self, values: Floats) -> Floats:
        """Multiply values by their weights, so that the plain mean is the weighted mean."""
        return values if self.weights is None else values * self.weights

    @property
    def n(self) -> int:
        return int(self.a.size)

    @cached_property
    def weight(self) -> float:
        """The effective number of queries: variance of a difference over variance of the mean; n without weights."""
        return self.n if self.weights is None else effective_number(self.weights)

    @property
    def df(self) -> float:
        of_queries = ((self.sd or 0.0) ** 2 / self.weight, self.weight - 1)
        return of_queries[1] if self.runs is None else satterthwaite(of_queries, (self.runs.variance, self.runs.df))

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean difference, including noise between runs if a system has several."""
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
        """The largest rounding error of a difference."""
        return settled_step(self.scale)

    @cached_property
    def mean(self) -> float:
        """The mean difference; 0 if it is only rounding error."""
        found = math.fsum(self.differences.tolist()) / self.n
        return found if settle(np.array(found), self.scale) else 0.0

    @cached_property
    def sd(self) -> float | None:
        """The standard deviation of differences: None for one query, 0 if they are equal up to rounding.

        With weights, sd / sqrt(weight) is the standard error of the mean, sqrt(sum (w (d - mean) / (1 - h))^2) / sum w,
        where h = w / sum w is the leverage of a query (HC3, MacKinnon & White 1985).
        """
        if self.weight - 1 < _LEAST_DF:
            return None
        if self.weights is None:
            return self.spread_of(self.differences, self.mean, self.n - 1)
        deviations = self.weighted(settle(self.plain_differences - self.mean, self.scale)) / (1 - self.weights / self.n)
        return math.sqrt(math.fsum((deviations**2).tolist()) * self.weight) / self.n

    @property
    def is_constant(self) -> bool:
        """Whether the difference is nonzero and the same on all of several queries, up to rounding."""
        return self.standard_error == 0 and bool(self.mean)

    def spread_of(self, values: Floats, centre: float, df: int) -> float | None:
        """Return sqrt(sum of squared deviations / df): None without degrees of freedom, 0 if only rounding error."""
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
        """Whether p of sign flips can be below alpha: with k nonzero differences the smallest p is 2^(1-k)."""
        return 2.0 ** (1 - self.nonzero) < alpha

    def once(self, make: Callable[[PairedScores], _Made]) -> _Made:
        """Return ``make(self)``, cached, so that a test and its interval share e.g. sign flips."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("_Made", self._made[make])


def mid_ranks(values: Floats) -> Floats:
    """Rank values along each row, 1 for the lowest; ties share their mean rank.

    >>> mid_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """

    def of_row(row: Floats) -> Floats:
        ordered = np.sort(row)
        return np.asarray((np.searchsorted(ordered, row) + np.searchsorted(ordered, row, "right") + 1) / 2)

    return np.asarray(np.apply_along_axis(of_row, -1, values))


def signed_ranks(differences: Floats) -> tuple[Floats, float, float]:
    """Return ranks of the nonzero absolute differences, and the rank sums of positive and negative differences."""
    some = differences[differences != 0]
    ranks = mid_ranks(np.abs(some))
    return ranks, math.fsum(ranks[some > 0]), math.fsum(ranks[some < 0])


def rank_biserial(differences: Floats) -> float | None:
    """Return (W+ - W-) / (W+ + W-), zeros dropped (Kerby 2014); None if all differences are 0.

    >>> rank_biserial(np.array([1.0, 2.0, 3.0, -4.0, 0.0]))
    0.2
    """
    ranks, positive, negative = signed_ranks(differences)
    return (positive - negative) / (positive + negative) if ranks.size else None


def t_interval(mean: float, sd: float, n: float, alpha: float) -> Interval:
    """Return mean +- t sd / sqrt(n); unbounded for a single query, or an effective number close to 1.

    >>> found = t_interval(0.0656626, 0.194848, 50, 0.05)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0103, 0.121)
    """
    reach = t_quantile(1 - alpha / 2, n - 1) * sd / math.sqrt(n) if n - 1 >= _LEAST_DF else math.inf
    return Interval(mean - reach, mean + reach, alpha, "t")


def student_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return the interval of all shifts that Student's test does not reject."""
    error = scores.standard_error
    reach = math.inf if error is None else t_quantile(1 - alpha / 2, scores.df) * error
    return Interval(scores.mean - reach, scores.mean + reach, alpha, "t")


def student(scores: PairedScores) -> Finding:
    """Student's paired t test: t = mean / (sd / sqrt n) on n - 1 degrees of freedom.

    p is 1 for equal scores and for a single query. With weights, n is the effective number of queries. With several
    runs, their noise is added to sd^2 / n, and the degrees of freedom are Satterthwaite's.
    """
    t = scores.t
    return Finding(1.0, scores.mean) if t is None else Finding(t_p(t, scores.df), scores.mean, t)


#: The share of differences trimmed at either end.
TRIMMED = 0.2


class TrimmedMean(NamedTuple):
    """The trimmed mean of differences, its standard error (None if undefined), and the number of differences kept."""

    mean: float
    error: float | None
    kept: int


def trimmed_mean(scores: PairedScores) -> TrimmedMean:
    """Return the mean of the h = n - 2 g middle differences, g = floor(n / 5), and its error (Tukey & McLaughlin 1963).

    error = sqrt(SSD_w / (h (h - 1))), with SSD_w the sum of squared deviations of the winsorised differences, in which
    each trimmed value is replaced with the nearest one kept. With fewer than 5 queries this is the mean.

    >>> found = trimmed_mean(PairedScores(np.array([0.1, 0.2, 0.3, 0.5, 9.0]), np.zeros(5)))
    >>> round(found.mean, 6), round(found.error, 6), found.kept
    (0.333333, 0.123828, 3)
    """
    cut = math.floor(round(TRIMMED * scores.n, 9))
    kept = sorted(scores.differences.tolist())[cut : scores.n - cut]
    winsorised = scores.differences.clip(kept[0], kept[-1])
    spread = scores.spread_of(winsorised, math.fsum(winsorised.tolist()) / scores.n, len(kept) - 1)
    # If only the kept differences are equal, their spread is unknown, not 0.
    error = None if spread is None or (not spread and scores.sd) else spread / math.sqrt(len(kept))
    return TrimmedMean(math.fsum(kept) / len(kept), error, len(kept))


def yuen(scores: PairedScores) -> Finding:
    """Yuen's test (1974) for one sample of differences: t = trimmed mean / error on h - 1 degrees of freedom."""
    mean, error, kept = scores.once(trimmed_mean)
    return Finding(t_p(mean / error, kept - 1), mean, mean / error) if error else Finding(1.0, mean)


def yuen_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return trimmed mean +- t error on h - 1 degrees of freedom: all shifts that the test does not reject."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Interval(-math.inf, math.inf, alpha, "yuen", of="trimmed mean")
    found = t_interval(mean, error * math.sqrt(kept), kept, alpha)
    return Interval(found.low, found.high, alpha, "yuen", of="trimmed mean")


def without_middle_spread(scores: PairedScores) -> str:
    """Return a warning if all differences that remain after trimming are equal."""
    if scores.once(trimmed_mean).error is not None or scores.n < 2:
        return ""
    return "all differences that remain after trimming are equal: Yuen's test has no spread; use another test"


def tidy(interval: Interval, scale: float) -> Interval:
    """Remove rounding to the grid from the limits; a nonzero limit stays nonzero, because its sign decides."""
    low, high = (float(settle(np.array(limit), scale)) or limit for limit in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


@dataclass(frozen=True, eq=False)
class FlippedSubsets:
    """The flipped part of the differences per draw: sums (0 if only rounding error) and number (or weight) of queries.

    The second half of the arrays holds the complements: the same draws with all other queries flipped instead.
    """

    flips: Flips
    total: float  # of all differences; exact
    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, columns: Columns, flips: Flips, weights: Floats | None = None) -> FlippedSubsets:
        """Flip the differences between the first two columns; ``weights`` are per query."""
        steps = columns.steps[:, 0] - columns.steps[:, 1]
        counts = Columns(np.ones(steps.size), 1.0) if weights is None else on_flip_grid(weights)
        found = np.concatenate(list(flips.sums(np.column_stack((steps, counts.steps)))))
        total, near = float(steps.sum()), columns.slack / 2
        sums = np.concatenate((found[:, 0], total - found[:, 0]))
        sizes = np.concatenate((found[:, 1], float(counts.steps.sum()) - found[:, 1])) * counts.unit
        return cls(flips, total * columns.unit, np.where(np.abs(sums) <= near, 0.0, sums) * columns.unit, sizes)

    @property
    def extreme(self) -> int:
        """The number of draws at least as extreme as the observed sum."""
        half = self.sums.size // 2
        no_less = self.sums <= 0 if self.total > 0 else self.sums >= 0
        return int(np.count_nonzero(no_less[:half] | no_less[half:])) if self.total else half

    def critical(self, alpha: float) -> float:
        """Return the absolute sum of differences above which p is below alpha."""
        half = self.sums.size // 2
        return largest_at(np.abs(self.total - 2 * self.sums[:half]), self.flips.least_extreme(alpha))

    def interval(self, alpha: float) -> Interval:
        """Return the shifts that the test does not reject.

        After subtracting a shift from every difference, the flipped sum is at least as large as the observed one if and
        only if the shift is at least the (weighted) mean of the flipped part: the limits are order statistics of these
        means (Hartigan 1969).
        """
        some = self.sizes > 0
        means = np.sort(self.sums[some] / self.sizes[some])
        place = self.flips.least_extreme(alpha) - (some.size - means.size)
        low, high = (float(means[place - 1]), float(means[-place])) if place > 0 else (-math.inf, math.inf)
        return Interval(low, high, alpha, "randomisation")


@dataclass(frozen=True, eq=False)
class AllSubsets:
    """Every subset of the nonzero differences by sum and size, and the number of zero differences.

    ``ways`` counts the subsets that are alike because they differ only in which of several equal differences they hold.
    A shift also moves the zeros; the number of zeros that a flip takes is binomial, so they need not be enumerated.
    """

    sums: Floats
    sizes: Floats
    ways: Floats
    zeros: int

    @classmethod
    def of(cls, differences: Floats, error: float = 0.0) -> AllSubsets:
        """Enumerate the subsets of at most 20 nonzero differences, each accurate to within ``error``."""
        some = differences[differences != 0]
        fixed = on_grid(some)
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
        """Return the shifts that the test does not reject, as :meth:`FlippedSubsets.interval`."""
        low = self._limit(alpha)
        high = -AllSubsets(-self.sums, self.sizes, self.ways, self.zeros)._limit(alpha)
        return Interval(low, high, alpha, "randomisation")

    def _limit(self, alpha: float) -> float:
        """Return the smallest shift that is not rejected."""
        if not self.zeros:
            # Flips are symmetric, and the empty set is extreme for every shift.
            place = math.ceil(least_count(alpha, self.count) / 2) - 1
            return _in_place(self.sums[1:] / self.sizes[1:], self.ways[1:], place)
        empty = 0.5**self.zeros / self.count
        below, up_to = (float(self.ways[part].sum()) / self.count for part in (self.sums < 0, self.sums <= 0))
        if 2 * empty >= alpha:
            return -math.inf
        # p itself decides whether the interval contains 0; a search could contradict it by rounding.
        if 2 * (below + empty) < alpha <= 2 * up_to:
            return 0.0
        beyond = 2 * float(np.abs(self.sums[self.sizes == 1]).max())
        return self._search(alpha, 0.0, beyond) if 2 * up_to < alpha else self._search(alpha, -beyond, 0.0)

    def _search(self, alpha: float, low: float, high: float) -> float:
        """Find the limit by bisection, starting from a normal approximation.

        Subsets on which both ends agree are counted once and dropped.
        """
        from scipy.special import bdtr

        guesses = iter(self._guesses(alpha))
        exactness = 1e-15 * (high - low)
        wanted, sums, sizes, ways = alpha / 2 * self.count, self.sums, self.sizes, self.ways
        # The probability that a flip takes fewer than i of the zeros, for i = 0, ..., zeros + 1.
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
        """Return values slightly below and above the limit for normally distributed sums.

        There n (mean - limit) / sqrt(sum (d - limit)^2) equals the normal quantile.
        """
        is_single = self.sizes == 1
        n, quantile = self.sizes[-1] + self.zeros, upper_normal(alpha / 2)
        mean = float(self.sums[-1]) / n
        around = float((self.ways * self.sums**2)[is_single].sum()) - n * mean**2
        apart = quantile * math.sqrt(max(0.0, around) / n / max(1.0, n - quantile**2))
        return mean - 1.1 * apart, mean - 0.9 * apart


def _in_place(values: Floats, ways: Floats, place: int) -> float:
    """Return the order statistic at ``place`` (from 1) of values repeated ``ways`` times; -inf below place 1."""
    if place < 1:
        return -math.inf
    if ways.max() == 1:
        return float(np.partition(values, place - 1)[place - 1])
    order = np.argsort(values)
    return float(values[order[np.searchsorted(np.cumsum(ways[order]), place)]])


def _shares(shift: float, sums: Floats, sizes: Floats, chances: Floats) -> Floats:
    """Return, per subset, the share of flips of the zeros for which sum / (size + zeros) is at most ``shift``.

    The empty subset counts as well.
    """
    if not shift:
        # The limit of the other branches as the shift approaches 0; exactly 0 is decided before the search.
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
    """Return p, the number of flips it is based on, and whether these are all sign assignments."""
    if scores.nonzero <= MOST_ENUMERATED and scores.weights is None:
        extreme, of = exact_extremes(scores.differences, scores.error)
        return extreme / of, of, True
    subsets = scores.once(_subsets)
    assert isinstance(subsets, FlippedSubsets)
    flips = subsets.flips
    return float(flips.p(np.array(subsets.extreme))), flips.count, flips.enumerated


def randomisation(scores: PairedScores) -> Finding:
    """The randomisation test: p is the share of sign flips with a mean at least as far from 0 as observed."""
    subsets = scores.once(_subsets)
    sd = math.sqrt(math.fsum(scores.differences**2)) / scores.n
    critical = subsets.critical(scores.plan.alpha) / scores.n
    null = NullSummary(sd, float(settle(np.array(critical), scores.scale)) or critical)
    p, of, is_enumerated = randomisation_p(scores)
    return Finding(p, scores.mean, scores.mean, of, is_enumerated, null)


def randomisation_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return the interval of all shifts that the randomisation test does not reject."""
    return tidy(scores.once(_subsets).interval(alpha), scores.scale)


_STREAM = 2**63  # Philox keys from here are for resamples, smaller ones for sign flips
_CELLS = 1 << 21
_SAMPLES = 10_000


@dataclass(frozen=True, eq=False)
class Resamples:
    """Means and standard errors of resamples of queries, drawn with replacement.

    ``apart`` are the resampled means minus the observed one. Sums are exact, so values that are equal in exact
    arithmetic compare equal: with few distinct scores, many resamples have exactly the observed mean.
    """

    mean: float
    error: float  # standard error of the mean
    apart: Floats
    errors: Floats
    scale: float

    @classmethod
    def of(cls, scores: PairedScores) -> Resamples:
        """Resample the differences, in byte order of query ids."""
        fixed, draws = on_grid(scores.differences), scores.plan.draws or _SAMPLES
        total, [error] = _sums_and_errors(fixed.steps[np.newaxis], fixed.unit, scores.scale)
        rows = resampled_rows(scores.n, draws, scores.plan.seed)
        parts = [_sums_and_errors(fixed.steps[each], fixed.unit, scores.scale) for each in rows]
        sums, errors = (np.concatenate(each) for each in zip(*parts, strict=True))
        mean, apart = (settle(each * (fixed.unit / scores.n), scores.scale) for each in (total, sums - total))
        return cls(float(mean[0]), float(error), apart, errors, scores.scale)

    @property
    def statistics(self) -> Floats:
        """|t| of each resample around the observed mean; infinite for a resample without spread."""
        unlike = np.full(self.apart.size, math.inf)
        return np.asarray(np.divide(np.abs(self.apart), self.errors, out=unlike, where=self.errors > 0))

    def between(self, quantiles: Sequence[float], alpha: float, method: str) -> Interval:
        low, high = settle(self.mean + np.quantile(self.apart, quantiles), self.scale).tolist()
        return Interval(low, high, alpha, method)


def resampled_rows(queries: int, draws: int, seed: int) -> Iterator[Ints]:
    """Yield row indices, samples x queries, in pieces; Philox is keyed by (seed, block)."""
    check_draws(draws, seed)
    rows = max(1, min(BLOCK, _CELLS // max(1, queries)))
    for block in range(math.ceil(draws / BLOCK)):
        generator = np.random.Philox(key=np.array([seed, _STREAM + block], np.uint64))
        left = min(BLOCK, draws - block * BLOCK)
        for start in range(0, left, rows):
            size = min(rows, left - start)
            high_halves = generator.random_raw(size * queries) >> np.uint64(32)
            yield ((high_halves * np.uint64(queries)) >> np.uint64(32)).astype(np.int64).reshape(size, queries)


def _sums_and_errors(steps: Floats, unit: float, scale: float) -> tuple[Floats, Floats]:
    """Return each row's sum, in steps, and the standard error of its mean; 0 if the spread is only rounding error."""
    n = steps.shape[1]
    sums = steps.sum(axis=1)
    if n < 2:
        return sums, np.zeros(sums.size)
    deviations = settle((steps - sums[:, np.newaxis] / n) * unit, scale)
    return sums, np.sqrt((deviations**2).sum(axis=1) / (n - 1) / n)


def bootstrap(scores: PairedScores) -> Finding:
    """The studentised bootstrap test, with resampled means shifted to 0.

    p = (resamples with |t| at least the observed one + 1) / (resamples + 1); 1 if the observed difference is 0.
    """
    samples = scores.once(Resamples.of)
    observed = 0.0 if not samples.mean else abs(samples.mean) / samples.error if samples.error else math.inf
    extreme = int(np.count_nonzero(samples.statistics >= observed * (1 - 1e-12)))
    draws = samples.apart.size
    return Finding((extreme + 1) / (draws + 1), scores.mean, scores.t, draws)


def bootstrap_t_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return the symmetric bootstrap-t interval: the shifts that the bootstrap test does not reject (Hall 1988).

    For constant differences it is a point.
    """
    if scores.sd == 0:
        return Interval(scores.mean, scores.mean, alpha, "bootstrap-t")
    samples = scores.once(Resamples.of)
    draws = samples.apart.size
    reach = largest_at(samples.statistics, least_count(alpha, draws + 1) - 1)
    if math.isinf(reach):
        return Interval(-math.inf, math.inf, alpha, "bootstrap-t")
    # The same tolerance as in the test, so that the interval never contradicts p.
    width = reach * samples.error * (1 + 1e-12)
    return Interval(samples.mean - width, samples.mean + width, alpha, "bootstrap-t")


def percentile_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return percentiles of the resampled means."""
    return scores.once(Resamples.of).between([alpha / 2, 1 - alpha / 2], alpha, "percentile")


def bca_interval(scores: PairedScores, alpha: float) -> Interval:
    """Return percentiles corrected for bias and acceleration (Efron 1987)."""
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
