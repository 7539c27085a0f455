"""Two systems on the same queries: their differences, and what a test and an interval of them are.

All there are stand in :mod:`gainful.stats.catalogues`; Student's formulas are here, others in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.catalogues import PairedTest
from gainful.stats.repeatable import settle, settled_differences, settled_step, t_p, t_quantile

_Made = TypeVar("_Made")

Verdict: TypeAlias = Literal[
    "better",
    "worse",
    "superior",
    "inferior",
    "equivalent",
    "not inferior",
    "not superior",
    "cannot tell",
    "needs margin",
]
Zeros: TypeAlias = Literal["drop", "pratt"]

#: Above so many queries, Student's t says the same as flips, and everything is significant.
MOST_FLIPPED = 5_000


class NamedPair:
    """What was found of two systems knows them by name."""

    names: tuple[str, str]

    @property
    def system(self) -> str:
        """The system that is compared."""
        return self.names[0]

    @property
    def baseline(self) -> str:
        """The one that it is compared with."""
        return self.names[1]


@dataclass(frozen=True)
class Settings:
    """What tests and intervals go by beside the scores: ``draws`` of flips or samples, None for as many as usual;
    ``zeros`` and ``continuity`` are Wilcoxon's; ``unit`` is what a score is of."""

    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    zeros: Zeros = "drop"
    continuity: bool = False
    unit: str = "query"


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two systems in byte order of their queries; ``weights``, 1 on average, say how much each query counts.

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats
    settings: Settings = Settings()
    weights: Floats | None = None
    _made: dict[Callable[[PairedScores], Any], Any] = field(default_factory=dict)

    @cached_property
    def plain_differences(self) -> Floats:
        """a - b, settled."""
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
        """How many queries there are."""
        return int(self.a.size)

    @cached_property
    def nonzero(self) -> int:
        """How many differences are not 0."""
        return int(np.count_nonzero(self.differences))

    @cached_property
    def scale(self) -> float:
        """The largest absolute score of both."""
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
        """The differences' standard deviation: None for one query, 0 where all are equal but for rounding."""
        return self.spread_of(self.differences, self.mean, self.n - 1)

    @property
    def is_constant(self) -> bool:
        """Whether the systems differ, and on all of several queries by the same, but for rounding."""
        return self.sd == 0 and bool(self.mean)

    def spread_of(self, values: Floats, centre: float, df: int) -> float | None:
        """sqrt(sum of squared deviations / df): None without degrees of freedom, 0 where it is but rounding.

        With weights each deviation counts as its query does: w (d - centre), whose mean square is the variance of a
        weighted mean (Cochran 1977, 6.4, for a ratio of sums).
        """
        if df < 1:
            return None
        deviations = values - self.weighted(np.full(values.size, centre))
        if not settle(deviations, self.scale).any():
            return 0.0
        return math.sqrt(math.fsum((deviations**2).tolist()) / df)

    @property
    def t(self) -> float | None:
        """Student's t; None where there is no spread."""
        return self.mean / (self.sd / math.sqrt(self.n)) if self.sd else None

    @property
    def can_reach(self) -> bool:
        """Whether flips of the differences that are not 0 can be rare enough at all: the rarest has p 2^(1-k)."""
        return 2.0 ** (1 - self.nonzero) < self.settings.alpha

    def once(self, make: Callable[[PairedScores], _Made]) -> _Made:
        """What a test and its interval share, such as flips: made when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("_Made", self._made[make])


class NullSummary(NamedTuple):
    """Mean differences under the hypothesis: their standard deviation, and what a significant one has to exceed."""

    sd: float
    critical: float


class Finding(NamedTuple):
    """What a test's formula gives: p, which is never 0, and where they exist the statistic and how p was found.

    ``draws`` is the number of flips or samples; ``is_enumerated`` says that all flips were looked at, so that p is
    exact. ``direction`` is of a test that does not go by the mean: above 0 it speaks for higher scores of A, whatever
    the means do.
    """

    p: float
    statistic: float | None = None
    draws: int | None = None
    is_enumerated: bool = False
    null: NullSummary | None = None
    direction: float | None = None


@dataclass(frozen=True)
class TestOutcome:
    """A test and what it found; the fields are those of :class:`Finding`."""

    __test__ = False  # no test of pytest's

    test: PairedTest
    p: float
    statistic: float | None = None
    draws: int | None = None
    is_enumerated: bool = False
    null: NullSummary | None = None
    direction: float | None = None

    @classmethod
    def of(cls, test: PairedTest, scores: object) -> TestOutcome:
        """What a test finds."""
        return cls(test, *test.formula(scores))

    @property
    def name(self) -> str:
        """The test's name."""
        return self.test.name

    @property
    def hypothesis(self) -> str:
        """What the test holds true until the scores say otherwise."""
        return self.test.hypothesis

    @property
    def monte_carlo_error(self) -> float | None:
        """sqrt(p (1 - p) / draws); None where p is exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return math.sqrt(self.p * (1 - self.p) / self.draws)

    @property
    def p_text(self) -> str:
        """p for people: two figures or four places; the least that draws can give is written as what it is, a bound.

        >>> from gainful.stats.catalogues import STUDENT
        >>> TestOutcome(STUDENT, 1 / 100_001, draws=100_000).p_text, TestOutcome(STUDENT, 0.0210988).p_text
        ('p < 0.00001', 'p = 0.0211')
        """
        least = (2 if self.test.is_two_tailed else 1) / (self.draws or math.inf)
        if self.monte_carlo_error is not None and self.p <= least:
            return f"p < {bound_text(least)}"
        return f"p = {self.p:.4f}" if self.p >= 0.001 else f"p = {self.p:.2g}"


@dataclass(frozen=True)
class Interval:
    """Limits (infinite where there is none), what share of such intervals may miss, and how they were found.

    ``is_stopgap`` marks an interval of another kind than the test, where the test's own would say nothing.
    """

    low: float
    high: float
    alpha: float
    method: str
    is_stopgap: bool = False

    @property
    def level(self) -> float:
        """The share of such intervals that is meant to hold what they are of."""
        return round(1 - self.alpha, 12)

    @property
    def is_bounded(self) -> bool:
        """Whether both limits exist."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


class TestedPair(NamedPair):
    """What a test found of two systems, and what that makes of them."""

    __test__ = False  # no test of pytest's

    if TYPE_CHECKING:
        better: str
        alpha: float
        difference: float
        test: TestOutcome
        margin: MarginVerdict | None

        @property
        def n(self) -> int: ...

    @property
    def p(self) -> float:
        """The p of the test."""
        return self.test.p

    @property
    def is_significant(self) -> bool:
        """p < alpha; for a test with its own interval just if 0 is outside of it."""
        return self.p < self.alpha

    @property
    def verdict(self) -> Verdict:
        """``better`` or ``worse`` (than the baseline) or ``cannot tell``; with a margin that of :func:`margin_verdict`.

        ``needs margin`` where only a margin could make one: with over 5,000 queries the tiniest difference is
        significant.
        """
        if self.margin:
            return self.margin.verdict
        return unmargined_verdict(signed_verdict(self.is_significant, self.direction, self.better), self.n)

    @property
    def direction(self) -> float:
        """What the test goes by, above 0 for the system: the mean difference, or a rank test's own statistic."""
        return self.difference if self.test.direction is None else self.test.direction

    @property
    def is_against_mean(self) -> bool:
        """Whether a rank test finds the system better whose mean is the worse one, or no better."""
        return self.is_significant and bool(self.direction) and self.direction * self.difference <= 0


@dataclass(frozen=True)
class MarginVerdict:
    """What can be said with a margin within which systems count as equal.

    ``interval`` has level 1 - 2 alpha: inside the margin on both sides, the systems are equivalent (two one-sided
    tests); above the margin's lower end, the system is not inferior. Superior and inferior are significantly better
    and worse.
    """

    margin: float
    verdict: Verdict
    is_not_inferior: bool
    interval: Interval


def decided_within(
    outcome: TestOutcome, difference: float, interval: Interval, margin: float, better: str, alpha: float
) -> MarginVerdict:
    """What a test and an interval of level 1 - 2 alpha say with a margin; a stopgap decides nothing."""
    direction = difference if outcome.direction is None else outcome.direction
    signed = signed_verdict(outcome.p < alpha, direction, better)
    least = interval.low if better == "higher" else -interval.high
    verdict = signed if interval.is_stopgap else margin_verdict(interval.low, interval.high, margin, signed, better)
    return MarginVerdict(margin, verdict, least > -margin, interval)


def student(scores: PairedScores) -> Finding:
    """The paired t test: t = mean / (sd / sqrt n) on n - 1 degrees of freedom."""
    return t_finding(scores.t, scores.n - 1)


def t_finding(t: float | None, df: int) -> Finding:
    """p of a t statistic; 1 where there is none: equal scores are no evidence, nor is a single query."""
    return Finding(1.0) if t is None else Finding(t_p(t, df), t)


def t_interval(mean: float, sd: float, n: int, alpha: float) -> Interval:
    """mean +- t sd / sqrt(n); without limits for a single query.

    >>> found = t_interval(0.0656626, 0.194848, 50, 0.05)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0103, 0.121)
    """
    if n < 2:
        return Interval(-math.inf, math.inf, alpha, "t")
    reach = t_quantile(1 - alpha / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean - reach, mean + reach, alpha, "t")


def student_interval(scores: PairedScores, alpha: float) -> Interval:
    """The interval of the paired t test."""
    return t_interval(scores.mean, scores.sd or 0.0, scores.n, alpha)


def signed_verdict(is_significant: bool, difference: float, better: str) -> Verdict:
    """better or worse by the sign of a significant difference.

    >>> signed_verdict(True, -0.1, "lower"), signed_verdict(False, -0.1, "lower")
    ('better', 'cannot tell')
    """
    if not is_significant or not difference:
        return "cannot tell"
    return "better" if (difference > 0) == (better == "higher") else "worse"


def unmargined_verdict(signed: Verdict, queries: int) -> Verdict:
    """The verdict of a test where nobody named a margin: with very many queries the tiniest difference is significant,
    so that only a margin makes one.

    >>> unmargined_verdict("better", 5_000), unmargined_verdict("better", 5_001)
    ('better', 'needs margin')
    """
    return "needs margin" if queries > MOST_FLIPPED else signed


def margin_verdict(low: float, high: float, margin: float, signed: Verdict, better: str) -> Verdict:
    """What an interval of a difference says with a margin within which systems count as equal.

    ``signed`` is the verdict of the test. Inside the margin a difference that is significant is equivalent all the
    same: too small to matter.

    >>> margin_verdict(0.002, 0.02, 0.01, "better", "higher"), margin_verdict(0.002, 0.009, 0.01, "better", "higher")
    ('superior', 'equivalent')
    >>> margin_verdict(-0.005, 0.02, 0.01, "cannot tell", "higher"), margin_verdict(-1, 1, 0.01, "cannot tell", "lower")
    ('not inferior', 'cannot tell')
    """
    least, most = (low, high) if better == "higher" else (-high, -low)
    if -margin < least and most < margin:
        return "equivalent"
    if signed != "cannot tell":
        return "superior" if signed == "better" else "inferior"
    if least > -margin:
        return "not inferior"
    return "not superior" if most < margin else "cannot tell"


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


# Yuen's test: the mean of the differences without the largest and the smallest fifth of them.
#
# With few queries one or two that fail altogether can decide a mean, and widen its interval until nothing can be told.
# A trimmed mean looks at the middle, and still has a unit and an interval, which ranks have not.

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
    ordered = np.sort(scores.differences)
    cut = math.floor(round(TRIMMED * scores.n, 9))
    kept = ordered[cut : scores.n - cut]
    winsorised = np.clip(scores.differences, kept[0], kept[-1])
    spread = scores.spread_of(winsorised, math.fsum(winsorised.tolist()) / scores.n, kept.size - 1)
    # That many are equal says nothing of the spread of those that are not.
    error = None if spread is None or (not spread and scores.sd) else spread / math.sqrt(kept.size)
    return TrimmedMean(math.fsum(kept.tolist()) / kept.size, error, int(kept.size))


def yuen(scores: PairedScores) -> Finding:
    """t = trimmed mean / error on h - 1 degrees of freedom (Yuen 1974, of one sample of differences)."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Finding(1.0, direction=mean)
    return t_finding(mean / error if error else None, kept - 1)._replace(direction=mean)


def yuen_interval(scores: PairedScores, alpha: float) -> Interval:
    """trimmed mean +- t error on h - 1 degrees of freedom: the shifts that the test does not reject."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Interval(-math.inf, math.inf, alpha, "yuen")
    return replace(t_interval(mean, error * math.sqrt(kept), kept, alpha), method="yuen")


def without_middle_spread(scores: PairedScores) -> str:
    """Where Yuen's test has nothing to go by."""
    if scores.once(trimmed_mean).error is not None or scores.n < 2:
        return ""
    return "all differences that trimming leaves are equal: Yuen's test has no spread to go by; take another one"
