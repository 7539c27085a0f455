"""What a test and an interval find of two systems, and what that makes of them in a word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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

#: Above so many queries, Student's t says the same as flips, and everything is significant.
MOST_FLIPPED = 5_000


class NullSummary(NamedTuple):
    """Mean differences under the hypothesis: their standard deviation, and what a significant one has to exceed."""

    sd: float
    critical: float


@dataclass(frozen=True)
class Finding:
    """What a test's formula gives: p, which is never 0, the effect that it is the p of, and how it was found.

    ``effect`` is what the test goes by: above 0 it speaks for higher scores of A, whatever the means do. ``draws`` is
    the number of flips or samples; ``is_enumerated`` says that all flips were looked at, so that p is exact.
    """

    p: float
    effect: float
    statistic: float | None = None
    draws: int | None = None
    is_enumerated: bool = False
    null: NullSummary | None = None

    @property
    def monte_carlo_error(self) -> float | None:
        """sqrt(p (1 - p) / draws); None where p is exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return math.sqrt(self.p * (1 - self.p) / self.draws)


@dataclass(frozen=True)
class Interval:
    """Limits (infinite where there is none), what share of such intervals may miss, and how they were found.

    ``of`` is what they are limits of. ``is_stopgap`` marks an interval of another kind than the test, where the test's
    own would say nothing.
    """

    low: float
    high: float
    alpha: float
    method: str
    is_stopgap: bool = False
    of: str = "mean"

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


@dataclass(frozen=True, kw_only=True)
class NamedPair:
    """What was found of a system and its baseline: who they are, by which measure, and at which level.

    ``left_out`` is how many queries lack a score of either; ``unit`` is what a score is of.
    """

    names: tuple[str, str] = ("A", "B")
    measure: str = ""
    better: str = "higher"
    alpha: float = 0.05
    left_out: int = 0
    unit: str = "query"

    @property
    def system(self) -> str:
        """The system that is compared."""
        return self.names[0]

    @property
    def baseline(self) -> str:
        """The one that it is compared with."""
        return self.names[1]


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
    # The error of the bound itself is not rounded up.
    shown = math.ceil(round(bound * 10.0**places, 9)) / float(10**places)
    return f"{shown:.{places}f}".rstrip("0")
