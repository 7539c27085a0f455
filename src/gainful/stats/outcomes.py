"""What a comparison of two systems found, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from gainful.stats.effects import EffectSizes, PracticalSize
    from gainful.stats.intervals import Interval

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
