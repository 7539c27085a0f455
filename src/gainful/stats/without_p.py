"""Inference without p: posterior probabilities, and confidence sequences that allow a look after every query.

Under the reference prior, p(mean, sd) ~ 1 / sd, the posterior of the mean is Student's t around the observed mean, with
the standard error as its scale and n - 1 degrees of freedom (Benavoli, Corani, Demšar & Zaffalon 2017). It is exact.
docs/explanation/beyond-p.md compares it with the Bayesian bootstrap.

A confidence sequence holds after every query jointly, however often one looks. For each possible mean there is a bet
against it, at odds that are fair if that mean is true; a mean is excluded once its bets have won 2 / alpha (one half
for means too low, one for those too high), which by Ville's inequality ever happens with probability at most alpha.
Stakes are spread over eight fractions of the capital (diversified Kelly bets, Waudby-Smith & Ramdas 2023), so none has
to be chosen; docs/explanation/beyond-p.md compares widths with other bets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gainful.errors import InputError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats
from gainful.notation import plural_of, printable
from gainful.stats.catalogues import Verdict
from gainful.stats.findings import Interval
from gainful.stats.paired import NamedPair, described, signed_verdict
from gainful.stats.paired_tests import PairedScores, PairPlan, SystemScores, t_interval
from gainful.stats.repeatable import check_alpha, check_margin, settled_differences


class Probabilities(NamedTuple):
    """Probabilities that a system is worse than its baseline by more than the margin, equivalent, or better by more."""

    worse: float
    equivalent: float
    better: float


@dataclass(frozen=True, kw_only=True)
class Posterior(NamedPair):
    """The posterior of a system's mean minus its baseline's, even if lower scores are better.

    ``difference`` is its centre, the observed mean difference; ``sd`` is the standard deviation of ``n`` differences.
    """

    margin: float
    n: int
    difference: float
    sd: float

    @property
    def df(self) -> int:
        return self.n - 1

    @property
    def scale(self) -> float:
        return self.sd / math.sqrt(self.n)

    def below(self, value: float) -> float:
        from scipy.special import stdtr

        return float(stdtr(self.df, (value - self.difference) / self.scale))

    def above(self, value: float) -> float:
        return self.below(2 * self.difference - value)

    def density(self, value: float) -> float:
        half, t = (self.df + 1) / 2, (value - self.difference) / self.scale
        constant = math.lgamma(half) - math.lgamma(self.df / 2) - math.log(self.df * math.pi) / 2
        return math.exp(constant - half * math.log1p(t * t / self.df)) / self.scale

    @cached_property
    def probabilities(self) -> Probabilities | None:
        """Probabilities of worse, equivalent and better; None if all differences are equal, without a spread."""
        if not self.sd:
            return None
        above, below = self.above(self.margin), self.below(-self.margin)
        between = max(0.0, 1 - above - below)
        return Probabilities(below, between, above) if self.better == "higher" else Probabilities(above, between, below)

    @property
    def interval(self) -> Interval:
        return t_interval(self.difference, self.sd, self.n, self.alpha)

    @property
    def verdict(self) -> Verdict:
        found = self.probabilities
        for word in ("better", "worse", "equivalent"):
            if found is not None and getattr(found, word) >= 1 - self.alpha:
                return word
        return "inconclusive"


def posterior(matrix: SystemScores, system: str, baseline: str, margin: float, alpha: float = 0.05) -> Posterior:
    """Return the posterior of the mean difference between two systems on the same queries.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("RR", {"a": [0.5, 0.7, 0.4, 0.6], "b": [0.4, 0.5, 0.1, 0.4]})
    >>> found = posterior(matrix, "a", "b", 0.01)
    >>> [round(probability, 3) for probability in found.probabilities], found.verdict
    ([0.007, 0.002, 0.991], 'better')
    """
    check_margin(margin)
    scores = PairedScores.of(matrix, system, baseline, PairPlan(alpha=alpha))
    if scores.sd is None:
        raise InputError(
            f"{matrix.measure}: at least 2 {plural_of(matrix.unit)} are needed for a spread, found {scores.n}"
        )
    return Posterior(
        **described(matrix, system, baseline, alpha), margin=margin, n=scores.n, difference=scores.mean, sd=scores.sd
    )


#: Nodes of the arcsine distribution, the prior of universal portfolios: dense near 0 and 1.
_BETS = 8
_SHARES = np.sin(np.pi * (np.arange(_BETS) + 0.5) / (2 * _BETS)) ** 2
#: Limits are rounded outwards to this grid, which hides the rounding errors of logarithms.
_GRID = 2.0**-24
#: With more queries, looks come in batches; fewer looks do not affect validity.
MOST_LOOKS = 500


@dataclass(frozen=True, kw_only=True)
class ConfidenceSequence(NamedPair):
    """The limits of a system's mean minus its baseline's after more and more queries, even if lower scores are better.

    ``looks`` are numbers of queries; ``means``, ``lows`` and ``highs`` are the mean difference so far and its limits,
    which never widen. All limits of ``pairs`` such sequences hold jointly with 1 - alpha.
    """

    pairs: int
    queries: tuple[str, ...]
    looks: tuple[int, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.queries)

    @property
    def difference(self) -> float:
        return self.means[-1]

    @property
    def interval(self) -> Interval:
        return Interval(self.lows[-1], self.highs[-1], self.alpha, "betting")

    @property
    def is_empty(self) -> bool:
        """Whether every mean is excluded: the order of the queries then depends on the scores."""
        return self.lows[-1] > self.highs[-1]

    @cached_property
    def significant_after(self) -> int | None:
        """The number of queries after which 0 was first excluded."""
        limits = zip(self.looks, self.lows, self.highs, strict=True)
        return next((look for look, low, high in limits if low > 0 or high < 0), None)

    @property
    def verdict(self) -> Verdict:
        is_significant = self.significant_after is not None and not self.is_empty
        return signed_verdict(is_significant, self.lows[-1] + self.highs[-1], self.better)


def confidence_sequence(
    matrix: SystemScores,
    system: str,
    baseline: str,
    bounds: tuple[float, float],
    *,
    rows: Sequence[int] | None = None,
    alpha: float = 0.05,
    pairs: int = 1,
) -> ConfidenceSequence:
    """Return the confidence sequence of two systems with scores between ``bounds``, in the order of ``rows`` if given.

    >>> from gainful import ScoreMatrix
    >>> found = confidence_sequence(ScoreMatrix.of("RR", {"a": [0.9] * 30, "b": [0.2] * 30}), "a", "b", (0, 1))
    >>> found.significant_after, round(found.lows[-1], 3), found.highs[-1] > 0.7
    (10, 0.441, True)
    """
    check_alpha(alpha)
    low, high = bounds
    order = range(len(matrix.queries)) if rows is None else rows
    queries = tuple(matrix.queries[row] for row in order)
    a, b = (matrix.values[:, matrix.place(name)][list(order)] for name in (system, baseline))
    for scores in (a, b):
        outside = np.flatnonzero((scores < low) | (scores > high))
        if outside.size:
            raise InputError(
                f"{matrix.measure}: expected scores from {low:g} to {high:g}, found {scores[outside[0]]:g} "
                f"for {matrix.unit} '{printable(queries[outside[0]])}'"
            )
    differences, reach = settled_differences(a, b), high - low
    step = math.ceil(len(queries) / MOST_LOOKS)
    looks = tuple(sorted({*range(step, len(queries) + 1, step), len(queries)}))
    shares = (differences / reach + 1) / 2
    limits = [tuple(_lower_limits(side, looks, alpha / pairs)) for side in (shares, 1 - shares)]
    return ConfidenceSequence(
        **described(matrix, system, baseline, alpha),
        pairs=pairs,
        queries=queries,
        looks=looks,
        means=tuple(math.fsum(differences[:look].tolist()) / look for look in looks),
        lows=tuple((2 * limit - 1) * reach for limit in limits[0]),
        highs=tuple((1 - 2 * limit) * reach for limit in limits[1]),
    )


def _lower_limits(values: Floats, looks: Iterable[int], alpha: float) -> Iterator[float]:
    """Yield, for each look, the largest mean excluded as too low; values are between 0 and 1.

    The winnings of bets against a mean decrease in that mean, and are at most 1 for the mean of the values themselves,
    so the limit is their only root.
    """
    from scipy.optimize import brentq

    limit = 0.0
    for look in looks:
        seen = values[:look]
        mean = float(np.mean(seen))
        if limit + _GRID < mean and _won(limit + _GRID, seen, alpha) >= 0:
            root = brentq(_won, limit + _GRID, mean, (seen, alpha), xtol=_GRID / 1024)
            limit = max(limit, math.floor(root / _GRID) * _GRID)
        yield limit


def _won(mean: float, values: Floats, alpha: float) -> float:
    """Return the log of the winnings of bets that a mean is too low, minus the log of the amount that excludes it."""
    logs = np.log1p(np.multiply.outer(_SHARES, values / mean - 1)).sum(axis=1)
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).mean())) - math.log(2 / alpha)
