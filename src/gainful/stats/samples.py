"""What is compared: two systems' scores on the same queries, and how: the plan of a comparison of two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.repeatable import check_alpha, check_margin, settle, settled_differences, settled_step

_Made = TypeVar("_Made")


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
    def place(self, system: str) -> int:
        """Which column a system is."""
        ...


def described(scores: SystemScores, system: str, baseline: str, alpha: float) -> dict[str, Any]:
    """The fields of a :class:`gainful.stats.paired_tests.NamedPair`."""
    of = {"measure": scores.measure, "better": scores.better, "unit": scores.unit}
    return {"names": (system, baseline), **of, "left_out": len(scores.left_out), "alpha": alpha}


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

    >>> pair = PairedScores(np.array([0.3, 0.5]), np.array([0.1 + 0.2, 0.3]))
    >>> pair.differences.tolist(), pair.nonzero, pair.mean
    ([0.0, 0.2], 1, 0.1)
    """

    a: Floats
    b: Floats
    plan: PairPlan = USUAL_PLAN
    weights: Floats | None = None
    unit: str = "query"
    _made: dict[Callable[[PairedScores], Any], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: SystemScores, system: str, baseline: str, plan: PairPlan = USUAL_PLAN) -> PairedScores:
        """Two columns of a matrix."""
        a, b = (np.ascontiguousarray(scores.values[:, scores.place(name)]) for name in (system, baseline))
        return cls(a, b, plan, scores.weights, scores.unit)

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
    def above(self) -> int:
        """How many differences are above 0."""
        return int(np.count_nonzero(self.differences > 0))

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
