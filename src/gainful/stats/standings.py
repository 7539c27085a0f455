"""What a comparison of several systems found, as data: verdicts of pairs, places of systems, who may be the best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools, Floats, Ints, freeze
from gainful.errors import UsageError
from gainful.notation import bytes_of_id, count_of, nearest, printable
from gainful.stats.outcomes import Verdict, signed_verdict
from gainful.stats.settled import settle


class PairVerdict(NamedTuple):
    """Two systems of a family: the mean of A's scores minus B's, p alone and adjusted, and the simultaneous limits."""

    a: str
    b: str
    difference: float
    p: float
    adjusted: float
    low: float | None
    high: float | None
    verdict: Verdict


class RankInterval(NamedTuple):
    """The places (1 is best) that a system may have, from best to worst."""

    best: int
    worst: int


@dataclass(frozen=True, eq=False, repr=False)
class FamilyResult:
    """What :func:`gainful.stats.families.compare_family` found.

    Pairs are ``first[i]`` and ``second[i]``, places in ``systems``.

    ``p`` are of each pair by itself, ``adjusted`` corrected for the family; ``half_width`` that of simultaneous
    intervals (None where the test has none), with maxT at least the threshold, so that an interval holds 0 wherever the
    pair is not told apart. ``threshold``: systems whose means are that far or further apart differ, and no others (None
    where no single number decides). ``tests`` counts the family. ``direction`` is of rank tests, which go by ranks and
    not by means: above 0 they speak for higher scores of the first; None where means decide.
    """

    measure: str
    better: str
    systems: tuple[str, ...]
    means: Floats
    n: int
    baseline: str | None
    first: Ints
    second: Ints
    difference: Floats
    p: Floats
    adjusted: Floats
    half_width: Floats | None
    threshold: float | None
    test: str
    correction: str
    tests: int
    alpha: float
    draws: int | None
    is_enumerated: bool
    seed: int
    notes: tuple[str, ...]
    direction: Floats | None = None

    def __post_init__(self) -> None:
        freeze(self.means, self.first, self.second, self.difference, self.p, self.adjusted)

    def __repr__(self) -> str:
        found = int(np.count_nonzero(self.is_significant))
        return (
            f"<FamilyResult of {self.measure}, {count_of(len(self.systems), 'system')}, "
            f"{count_of(self.n, 'query', 'queries')}: {found:,} of {count_of(self.p.size, 'pair')} differ "
            f"({self.test}, {self.correction})>"
        )

    @property
    def is_significant(self) -> Bools:
        """For each pair whether it differs: adjusted p < alpha."""
        return np.asarray(self.adjusted < self.alpha)

    @property
    def is_simultaneous(self) -> bool:
        """Whether the correction bounds the chance of any false finding, so that all of them hold together."""
        return self.correction not in ("none", "bh", "by")

    @property
    def directions(self) -> Floats:
        """What the test of each pair goes by: above 0 the first has the higher scores."""
        return self.difference if self.direction is None else self.direction

    @property
    def is_against_mean(self) -> Bools:
        """For each pair whether a rank test finds the system better whose mean is the worse one, or no better."""
        against = (self.directions != 0) & (self.directions * self.difference <= 0)
        return np.asarray(self.is_significant & against)

    @property
    def monte_carlo_error(self) -> Floats | None:
        """For each pair the standard error of its own p; None where p are exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return np.sqrt(self.p * (1 - self.p) / self.draws)

    @cached_property
    def _pair_of(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True))}

    def pair(self, a: str, b: str) -> PairVerdict:
        """What was found of two systems, A's scores minus B's."""
        one, other = (self._place(system) for system in (a, b))
        sign = 1 if (one, other) in self._pair_of else -1
        place = self._pair_of.get((one, other) if sign > 0 else (other, one))
        if place is None:
            raise UsageError(f"expected a pair with the baseline '{self.baseline}', found '{a}' and '{b}'")
        difference, direction = (sign * float(each[place]) for each in (self.difference, self.directions))
        reach = None if self.half_width is None else float(self.half_width[place])
        return PairVerdict(
            a,
            b,
            difference,
            float(self.p[place]),
            float(self.adjusted[place]),
            None if reach is None else difference - reach,
            None if reach is None else difference + reach,
            signed_verdict(bool(self.is_significant[place]), direction, self.better),
        )

    def _place(self, system: str) -> int:
        if system not in self.systems:
            raise UsageError(f"unknown system '{printable(system)}'", nearest(system, self.systems))
        return self.systems.index(system)

    @property
    def order(self) -> tuple[int, ...]:
        """The places of the systems, the best mean first; equals in byte order of their names."""
        badness = settle(-self.means if self.better == "higher" else self.means).tolist()
        return tuple(sorted(range(len(badness)), key=lambda i: (badness[i], bytes_of_id(self.systems[i]))))

    @cached_property
    def rank_intervals(self) -> tuple[RankInterval, ...]:
        """For each system the places it may have; all of them together hold with 1 - alpha where the correction bounds
        the chance of any false finding (Al Mohamad, Goeman & van Zwet 2021). Empty against a baseline.

        From 1 + the number of systems that are significantly better to m - the number that are significantly worse.
        Rank tests may find systems that beat each other in a circle: a place is 1 + how many are better than this one.
        """
        if self.baseline is not None:
            return ()
        m, found = len(self.systems), self.is_significant
        first_is_better = (self.directions > 0) == (self.better == "higher")
        better = np.where(first_is_better, self.first, self.second)[found]
        worse = np.where(first_is_better, self.second, self.first)[found]
        above, below = np.bincount(worse, minlength=m), np.bincount(better, minlength=m)
        return tuple(RankInterval(1 + a, m - b) for a, b in zip(above.tolist(), below.tolist(), strict=True))

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The systems that no other is significantly better than; none where rank tests find a circle."""
        return tuple(s for s, places in zip(self.systems, self.rank_intervals, strict=False) if places.best == 1)
