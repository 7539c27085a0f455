"""The differences of two systems on the same queries, and the tests that need nothing drawn.

How large a difference is: standardised, by ranks, by queries won, and relative to the baseline.
What a comparison of two systems found, as data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.intervals import Interval, percentile_limits, resampled_rows
from gainful.stats.noncentral import LEAST_P, noncentrality_interval, t_p
from gainful.stats.rank_tests import Zeros, rank_biserial, sign_p, wilcoxon
from gainful.stats.settled import settle, settled_differences, settled_step


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two systems in byte order of their queries.

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats

    @cached_property
    def differences(self) -> Floats:
        """a - b, settled."""
        return settled_differences(self.a, self.b)

    @property
    def n(self) -> int:
        """How many queries there are."""
        return int(self.a.size)

    @cached_property
    def nonzero(self) -> int:
        """How many differences are not 0."""
        return int(np.count_nonzero(self.differences))

    @cached_property
    def scale(self) -> float:
        """The largest absolute score of both."""
        return max(float(np.abs(self.a).max()), float(np.abs(self.b).max()))

    @property
    def error(self) -> float:
        """How far a difference may be from what it is in exact arithmetic."""
        return settled_step(self.scale)

    @cached_property
    def mean(self) -> float:
        """The mean difference."""
        return math.fsum(self.differences.tolist()) / self.n

    @cached_property
    def sd(self) -> float | None:
        """The differences' standard deviation: None for one query, 0 where all are equal but for rounding."""
        if self.n < 2:
            return None
        deviations = self.differences - self.mean
        if not settle(deviations, self.scale).any():
            return 0.0
        return math.sqrt(math.fsum((deviations**2).tolist()) / (self.n - 1))

    @property
    def t(self) -> float | None:
        """Student's t; None where there is no spread."""
        return self.mean / (self.sd / math.sqrt(self.n)) if self.sd else None

    def outcome(self, test: str, zeros: Zeros = "drop", continuity: bool = False) -> TestOutcome:
        """The tests ``t``, ``wilcoxon`` and ``sign``."""
        if test == "t":
            return self._student()
        if test == "wilcoxon":
            found = wilcoxon(self.differences, zeros=zeros, continuity=continuity)
            apart = found.positive - found.negative
            return TestOutcome(test, found.p, min(found.positive, found.negative), direction=apart)
        above = int(np.count_nonzero(self.differences > 0))
        below = self.nonzero - above
        return TestOutcome(test, sign_p(above, below), float(above), direction=float(above - below))

    def _student(self) -> TestOutcome:
        statistic = self.t
        if statistic is None:
            # Without spread there is no t: equal scores are no evidence, and a constant difference is all there can be.
            return TestOutcome("t", LEAST_P if self.mean and self.n > 1 else 1.0)
        return TestOutcome("t", t_p(statistic, self.n - 1), statistic)


_DRAWS = 2_000  # of a description, not of a test

#: What people call a relative difference (Spärck Jones 1974, Järvelin & Kekäläinen 2002), and from where on.
LABELS = ("marginal", "noticeable", "essential")
_NOTICEABLE, _ESSENTIAL = 0.05, 0.10


@dataclass(frozen=True)
class EffectSizes:
    """Sizes of a difference that do not depend on the measure's unit. None where one is undefined.

    ``d_z``            mean / standard deviation of the differences: what the t test sees
    ``g_z``            d_z without its bias in small samples (Hedges 1981, exact factor)
    ``d_av``           mean / root of the mean of both variances: comparable with unpaired studies
    ``rank_biserial``  (W+ - W-) / (W+ + W-) of the signed ranks (Kerby 2014), its interval from resampled queries
    ``share_won``      (wins + ties / 2) / queries
    """

    d_z: float | None
    d_z_interval: Interval | None
    g_z: float | None
    d_av: float | None
    rank_biserial: float | None
    rank_biserial_interval: Interval | None
    share_won: float


@dataclass(frozen=True)
class PracticalSize:
    """A difference relative to the baseline's mean, in words; ``also`` are the other words that the interval allows.

    ``either_way`` says that the interval also allows the opposite sign.
    """

    relative: float
    label: str
    also: tuple[str, ...]
    either_way: bool


def effect_sizes(scores: PairedScores, share_won: float, alpha: float, seed: int) -> EffectSizes:
    """All effect sizes of the differences of two systems."""
    n, mean, t = scores.n, scores.mean, scores.t
    d_z = limits = None
    if scores.sd and t is not None:
        d_z = mean / scores.sd
        low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(t, n - 1, alpha))
        limits = Interval(low, high, alpha, "noncentral t")
    by_ranks = rank_biserial(scores.differences)
    return EffectSizes(
        d_z,
        limits,
        None if d_z is None or n < 3 else d_z * hedges_factor(n - 1),
        _d_av(scores.a, scores.b, mean),
        by_ranks,
        None if by_ranks is None else _rank_biserial_interval(scores.differences, alpha, seed),
        share_won,
    )


def hedges_factor(df: int) -> float:
    """Gamma(v/2) / (sqrt(v/2) Gamma((v-1)/2)), which takes the bias out of a standardised difference.

    >>> round(hedges_factor(49), 6)
    0.984602
    """
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def practical_size(difference: float, baseline_mean: float, interval: Interval) -> PracticalSize | None:
    """The words for a difference and its interval; None where the baseline's mean is no ground for a ratio.

    >>> practical_size(0.25, 2.0, Interval(0.125, 0.375, 0.05, "t"))
    PracticalSize(relative=0.125, label='essential', also=('noticeable',), either_way=False)
    """
    if baseline_mean <= 0:
        return None
    label = _label(abs(difference) / baseline_mean)
    either_way = interval.low < 0 < interval.high
    sizes = sorted(abs(limit) / baseline_mean for limit in (interval.low, interval.high))
    least, most = (LABELS.index(_label(size)) for size in (0.0 if either_way else sizes[0], sizes[1]))
    also = tuple(word for word in LABELS[least : most + 1] if word != label)
    return PracticalSize(difference / baseline_mean, label, also, either_way)


def _label(relative: float) -> str:
    # Ratios of printed scores that are 5 or 10 % are so but for rounding.
    relative = round(relative, 12)
    return LABELS[(relative >= _NOTICEABLE) + (relative > _ESSENTIAL)] if relative < math.inf else LABELS[-1]


def _d_av(a: Floats, b: Floats, mean: float) -> float | None:
    if a.size < 2:
        return None
    spread = math.sqrt((_variance(a) + _variance(b)) / 2)
    return mean / spread if spread else None


def _variance(values: Floats) -> float:
    if values.min() == values.max():
        return 0.0
    mean = math.fsum(values) / values.size
    return math.fsum((values - mean) ** 2) / (values.size - 1)


def _rank_biserial_interval(differences: Floats, alpha: float, seed: int) -> Interval:
    """Percentiles over resampled queries: the ranks of a sample follow from how often it has each size."""
    sizes = np.abs(differences)
    ordered = np.sort(sizes[sizes > 0])
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    groups = distinct.size
    # A size's place, after all places for those that are negative; zeros after everything.
    code = np.where(sizes > 0, np.searchsorted(distinct, sizes) + groups * (differences < 0), 2 * groups)
    values = []
    for rows in resampled_rows(differences.size, _DRAWS, seed):
        width = 2 * groups + 1
        cells = code[rows] + width * np.arange(len(rows))[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=width * len(rows)).reshape(len(rows), width)
        positive, negative = counts[:, :groups], counts[:, groups : 2 * groups]
        both = positive + negative
        ranks = np.cumsum(both, axis=1) - (both - 1) / 2
        ranked = (ranks * both).sum(axis=1)
        apart = (ranks * (positive - negative)).sum(axis=1)
        values.append(np.divide(apart, ranked, out=np.zeros(len(rows)), where=ranked > 0))
    low, high = percentile_limits(np.concatenate(values), alpha)
    return Interval(low, high, alpha, "percentile")


Verdict: TypeAlias = Literal["better", "worse", "equivalent", "cannot tell"]

#: Above so many queries, Student's t says the same as flips, and everything is significant.
MOST_FLIPPED = 5_000

#: What each test holds true until the scores say otherwise.
HYPOTHESES = {
    "randomisation": "differences are symmetric about 0: each might as well have had the other sign",
    "t": "the mean difference is 0",
    "wilcoxon": "differences are symmetric about 0 (their ranks, not their mean)",
    "sign": "the median difference is 0 (how often, not how much)",
    "bootstrap": "the mean difference is 0",
}


@dataclass(frozen=True)
class NullSummary:
    """Mean differences under the hypothesis: their standard deviation, and what a significant one has to exceed."""

    sd: float
    critical: float


@dataclass(frozen=True)
class TestOutcome:
    """A test by its name, what it tests, and its p, which is never 0.

    ``draws`` is the number of flips or samples, None where none were needed; ``is_enumerated`` says that all flips were
    looked at, so that p is exact; ``monte_carlo_error`` is the standard error of a p from draws. ``direction`` is of a
    rank test: above 0 the ranks (or the number of queries) speak for higher scores of A, whatever the means do.
    """

    __test__ = False  # no test of pytest's

    name: str
    p: float
    statistic: float | None = None
    draws: int | None = None
    is_enumerated: bool = False
    null: NullSummary | None = None
    direction: float | None = None

    @property
    def hypothesis(self) -> str:
        """What the test holds true until the scores say otherwise."""
        return HYPOTHESES[self.name]

    @property
    def monte_carlo_error(self) -> float | None:
        """sqrt(p (1 - p) / draws); None where p is exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return math.sqrt(self.p * (1 - self.p) / self.draws)

    @property
    def p_text(self) -> str:
        """p for people: two figures or four places; the least that draws can give is written as what it is, a bound.

        >>> TestOutcome("randomisation", 1 / 100_001, draws=100_000).p_text, TestOutcome("t", 0.0210988).p_text
        ('p < 0.00001', 'p = 0.0211')
        """
        if self.monte_carlo_error is not None and self.draws and self.p <= 1 / self.draws:
            return f"p < {bound_text(1 / self.draws)}"
        return f"p = {self.p:.4f}" if self.p >= 0.001 else f"p = {self.p:.2g}"


class Decider(NamedTuple):
    """A query, both scores, A's minus B's, and the share of all differences (without their signs) that this one is."""

    query: str
    a: float
    b: float
    difference: float
    share: float


@dataclass(frozen=True)
class MarginVerdict:
    """What can be said with a margin within which systems count as equal.

    ``interval`` has level 1 - 2 alpha: inside the margin on both sides, the systems are equivalent (two one-sided
    tests); above the margin's lower end, A is not inferior.
    """

    margin: float
    verdict: Verdict
    is_not_inferior: bool
    interval: Interval


@dataclass(frozen=True, eq=False)
class PairResult:
    """What :func:`gainful.stats.paired.compare_pair` found of systems A and B; B is the baseline.

    ``difference`` is the mean of A's scores minus B's, whichever is better; wins and verdicts know what is better.
    ``sd`` is that of the differences (None for one query). ``detectable`` is the smallest difference that a t test on
    as many queries finds with 80 % power. ``for_a`` and ``for_b`` are the queries that speak most for either system.
    """

    names: tuple[str, str]
    measure: str
    better: str
    alpha: float
    seed: int
    n: int
    nonzero: int
    mean_a: float
    mean_b: float
    difference: float
    sd: float | None
    wins: int
    ties: int
    losses: int
    test: TestOutcome
    interval: Interval
    effect: EffectSizes
    practical: PracticalSize | None
    detectable: float | None
    margin: MarginVerdict | None
    for_a: tuple[Decider, ...]
    for_b: tuple[Decider, ...]
    warnings: tuple[str, ...]

    @property
    def p(self) -> float:
        """The p of the test."""
        return self.test.p

    @property
    def is_significant(self) -> bool:
        """p < alpha; for a test with its own interval just if 0 is outside of it."""
        return self.p < self.alpha

    @property
    def verdict(self) -> Verdict | None:
        """``better`` or ``worse`` (A than B), ``equivalent`` within the margin, or ``cannot tell``.

        None where only a margin could make one: with over 5,000 queries the tiniest difference is significant.
        """
        if self.margin and self.margin.verdict == "equivalent":
            return "equivalent"
        if self.margin is None and self.n > MOST_FLIPPED:
            return None
        return signed_verdict(self.is_significant, self.direction, self.better)

    @property
    def direction(self) -> float:
        """What the test goes by: the mean difference, or of a rank test its own statistic. Above 0: A is higher."""
        return self.difference if self.test.direction is None else self.test.direction

    @property
    def is_against_mean(self) -> bool:
        """Whether a rank test finds the system better whose mean is the worse one, or no better."""
        return self.is_significant and bool(self.direction) and self.direction * self.difference <= 0


def signed_verdict(is_significant: bool, difference: float, better: str) -> Verdict:
    """better or worse by the sign of a significant difference.

    >>> signed_verdict(True, -0.1, "lower"), signed_verdict(False, -0.1, "lower")
    ('better', 'cannot tell')
    """
    if not is_significant or not difference:
        return "cannot tell"
    return "better" if (difference > 0) == (better == "higher") else "worse"


def bound_text(bound: float) -> str:
    """A number above 0 with two figures, rounded up: what is below the number is below the text.

    >>> bound_text(1 / 10_000), bound_text(1 / 999), bound_text(1 / 300_000)
    ('0.0001', '0.0011', '0.0000034')
    """
    places = max(1, 1 - math.floor(math.log10(bound)))
    return f"{rounded_up(bound, places):.{places}f}".rstrip("0")


def rounded_up(value: float, places: int) -> float:
    """The least number of so many decimal places that is not below the value, but for the error of the value itself.

    >>> rounded_up(0.8626, 2), rounded_up(0.86, 2)
    (0.87, 0.86)
    """
    return math.ceil(round(value * 10.0**places, 9)) / float(10**places)
