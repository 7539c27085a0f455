"""What scores say of a mean difference without a p: probabilities, and intervals that hold at every look.

Under the reference prior, p(mean, sd) ~ 1 / sd, the posterior of the mean is Student's t about the mean that was found,
with the standard error as its scale and n - 1 degrees of freedom (Benavoli, Corani, Demšar & Zaffalon 2017).
It is exact: nothing is drawn. docs/explanation/beyond-p.md has it beside the Bayesian bootstrap.

A confidence sequence holds after every query at once, however often one looks. Somebody bets against each mean that the
scores may have, at fair odds if that is the true one; a mean is excluded once the bets against it have won 2 / alpha
(one half for means too low, one for those too high), which by Ville's inequality happens with probability alpha at
most, ever. Stakes are spread over eight shares of what may be staked (diversified Kelly bets, Waudby-Smith & Ramdas
2023), so that none has to be chosen; docs/explanation/beyond-p.md has the widths of others.
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
    """How probable it is that a system is worse than its baseline by more than the margin, equivalent within it, or
    better by more."""

    worse: float
    equivalent: float
    better: float


@dataclass(frozen=True, kw_only=True)
class Posterior(NamedPair):
    """The posterior of a system's mean minus its baseline's, whichever is better.

    ``difference`` is its centre, the mean that was found; ``sd`` is that of the differences, ``n`` their number.
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
        """Worse, equivalent, better; None where all differences are equal, so that there is no spread to go by."""
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
        return "cannot tell"


def posterior(matrix: SystemScores, system: str, baseline: str, margin: float, alpha: float = 0.05) -> Posterior:
    """What two systems' scores on the same queries say of their mean difference.

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
            f"{matrix.measure}: expected at least 2 {plural_of(matrix.unit)}, found {scores.n}: one has no spread to "
            "go by"
        )
    return Posterior(
        **described(matrix, system, baseline, alpha), margin=margin, n=scores.n, difference=scores.mean, sd=scores.sd
    )


#: Nodes of the arcsine distribution, the prior of universal portfolios: dense towards 0 and 1.
_BETS = 8
_SHARES = np.sin(np.pi * (np.arange(_BETS) + 0.5) / (2 * _BETS)) ** 2
#: Limits are rounded outwards to a grid, so that the last digits of logarithms do not show.
_GRID = 2.0**-24
#: With more queries, one looks after batches of them: fewer looks take nothing from what holds at each.
MOST_LOOKS = 500


@dataclass(frozen=True, kw_only=True)
class ConfidenceSequence(NamedPair):
    """The limits of a system's mean minus its baseline's, whichever is better, after more and more queries.

    ``looks`` are numbers of queries; ``means``, ``lows`` and ``highs`` are the mean difference until then and its
    limits, which never get wider. All limits of ``pairs`` such sequences hold together with 1 - alpha.
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
        """Whether every mean is excluded: then the order of the queries cannot be independent of the scores."""
        return self.lows[-1] > self.highs[-1]

    @cached_property
    def told_after(self) -> int | None:
        """The number of queries after which 0 was first excluded."""
        limits = zip(self.looks, self.lows, self.highs, strict=True)
        return next((look for look, low, high in limits if low > 0 or high < 0), None)

    @property
    def verdict(self) -> Verdict:
        is_told = self.told_after is not None and not self.is_empty
        return signed_verdict(is_told, self.lows[-1] + self.highs[-1], self.better)


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
    """The confidence sequence of two systems' scores, which lie between ``bounds``, in the order of ``rows`` if given.

    >>> from gainful import ScoreMatrix
    >>> found = confidence_sequence(ScoreMatrix.of("RR", {"a": [0.9] * 30, "b": [0.2] * 30}), "a", "b", (0, 1))
    >>> found.told_after, round(found.lows[-1], 3), found.highs[-1] > 0.7
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
    """After each look the largest mean that is excluded as too low; values are between 0 and 1.

    What bets against a mean have won falls with that mean, and is at most 1 for the mean of the values themselves, so
    that one root is the limit.
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
    """The logarithm of what bets that a mean is too low have won, less that of what excludes it."""
    logs = np.log1p(np.multiply.outer(_SHARES, values / mean - 1)).sum(axis=1)
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).mean())) - math.log(2 / alpha)
