"""What a comparison of several systems found: verdicts of pairs, places of systems, who may be the best, and letters
for the groups of those that are not significantly different."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats, Ints, freeze
from gainful.notation import bytes_of_id, count_of, letter, nearest, printable, units
from gainful.stats.catalogues import CORRECTIONS
from gainful.stats.paired_tests import Verdict, margin_verdict, signed_verdict, unmargined_verdict
from gainful.stats.repeatable import settle


class PairVerdict(NamedTuple):
    """Two systems of a family: the mean of the first one's scores minus the other's, p alone and adjusted, the
    simultaneous limits, the verdict, and what the test alone finds, however many queries there are."""

    system: str
    other: str
    difference: float
    p: float
    adjusted: float
    low: float | None
    high: float | None
    verdict: Verdict
    tested: Verdict


class RankInterval(NamedTuple):
    """The places (1 is best) that a system may have, from best to worst."""

    best: int
    worst: int


@dataclass(frozen=True, eq=False, repr=False)
class FamilyResult:
    """What :func:`gainful.stats.families.families_of` found.

    Pairs are ``first[i]`` and ``second[i]``, places in ``systems``.

    ``p`` are of each pair by itself, ``adjusted`` corrected for the family; ``half_width`` that of simultaneous
    intervals (None where the test has none), so wide with maxT that an interval holds 0 wherever the pair is not told
    apart. ``threshold``: systems whose means are that far or further apart differ; later steps of maxT may find more
    (None where there is no such number). ``tests`` counts the family. ``direction`` is the statistic of tests that do
    not go by means: above 0 it speaks for higher scores of the first; None where means decide. ``margin`` is within
    what systems count as equal: verdicts are then those of the simultaneous intervals.
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
    margin: float | None = None
    unit: str = "query"

    def __post_init__(self) -> None:
        freeze(self.means, self.first, self.second, self.difference, self.p, self.adjusted)

    def __repr__(self) -> str:
        found = int(np.count_nonzero(self.is_significant))
        return (
            f"<FamilyResult of {self.measure}, {count_of(len(self.systems), 'system')}, "
            f"{units(self.n, self.unit)}: {found:,} of {count_of(self.p.size, 'pair')} significantly "
            f"different ({self.test}, {self.correction})>"
        )

    @cached_property
    def is_significant(self) -> Bools:
        """For each pair whether it differs: adjusted p < alpha."""
        return np.asarray(self.adjusted < self.alpha)

    @property
    def is_simultaneous(self) -> bool:
        """Whether the correction bounds the chance of any false finding, so that all of them hold together."""
        return self.correction not in CORRECTIONS or CORRECTIONS[self.correction].is_simultaneous

    @property
    def directions(self) -> Floats:
        """What the test of each pair goes by: above 0 the first has the higher scores."""
        return self.difference if self.direction is None else self.direction

    @property
    def is_against_mean(self) -> Bools:
        """For each pair whether a rank test finds the system better whose mean is the worse one, or no better."""
        against = (self.directions != 0) & (self.directions * self.difference <= 0)
        return np.asarray(self.is_significant & against)

    @cached_property
    def monte_carlo_error(self) -> Floats | None:
        """For each pair the standard error of its own p; None where p are exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return np.sqrt(self.p * (1 - self.p) / self.draws)

    @property
    def least_p(self) -> float | None:
        """What the least p of a pair that draws can give is below; None where p are exact."""
        return None if self.draws is None or self.is_enumerated else 1 / self.draws

    @cached_property
    def _pair_of(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True))}

    def where(self, a: str, b: str) -> tuple[int, int]:
        """The place of a pair among all, and 1 if A is the first of it, else -1."""
        one, other = (self._place(system) for system in (a, b))
        sign = 1 if (one, other) in self._pair_of else -1
        place = self._pair_of.get((one, other) if sign > 0 else (other, one))
        if place is None:
            raise UsageError(f"expected a pair with the baseline '{self.baseline}', found '{a}' and '{b}'")
        return place, sign

    def pair(self, a: str, b: str) -> PairVerdict:
        """What was found of two systems, A's scores minus B's."""
        place, sign = self.where(a, b)
        difference, direction = (sign * float(each[place]) for each in (self.difference, self.directions))
        tested = signed_verdict(bool(self.is_significant[place]), direction, self.better)
        verdict = tested if self.margin is not None else unmargined_verdict(tested, self.n)
        low = high = None
        if self.half_width is not None:
            reach = float(self.half_width[place])
            low, high = difference - reach, difference + reach
            if self.margin is not None:
                verdict = margin_verdict(low, high, self.margin, tested, self.better)
        p, adjusted = float(self.p[place]), float(self.adjusted[place])
        return PairVerdict(a, b, difference, p, adjusted, low, high, verdict, tested)

    def _place(self, system: str) -> int:
        if system not in self.systems:
            raise UsageError(f"unknown system '{printable(system)}'", nearest(system, self.systems))
        return self.systems.index(system)

    @cached_property
    def standing(self) -> Floats:
        """What systems are ordered by: their means, or of a test that does not go by means its statistic, the mean over
        the pairs that a system is in."""
        if self.direction is None:
            return self.means
        ends = np.concatenate((self.first, self.second))
        sums = np.zeros(len(self.systems))
        np.add.at(sums, ends, np.concatenate((self.direction, -self.direction)))
        if self.baseline is not None:
            sums[self._place(self.baseline)] = 0.0
            return sums
        return np.asarray(sums / max(1, len(self.systems) - 1))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The places of the systems, the best :attr:`standing` first; equals in byte order of their names."""
        badness = settle(-self.standing if self.better == "higher" else self.standing).tolist()
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


_MOST_CLIQUES = 1000  # there may be as many as 3^(m / 3)


def letters(different: Bools) -> tuple[str, ...]:
    """A compact letter display: systems that share a letter are not significantly different, which does not make them
    equal. Letters stand for the maximal cliques of pairs that are not (systems x systems, symmetric; Piepho 2004).

    Insert and absorb: all systems have one letter at first; a pair that is significantly different splits every letter
    that both have, and a letter inside another one goes. Put systems in order, best first: letters then run from best
    to worst.

    >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)
    >>> letters(apart)
    ('a', 'ab', 'b')
    """
    relation = np.asarray(different, bool)
    systems = relation.shape[0]
    if relation.shape != (systems, systems) or (relation != relation.T).any() or relation.diagonal().any():
        raise UsageError("letters: expected a symmetric relation of systems, none different from itself")
    sets = [(1 << systems) - 1] if systems else []
    for i, j in combinations(range(systems), 2):
        if relation[i, j]:
            sets = _split(sets, 1 << i, 1 << j)
    cliques = sorted(tuple(i for i in range(systems) if members >> i & 1) for members in sets)
    return tuple("".join(letter(k) for k, clique in enumerate(cliques) if i in clique) for i in range(systems))


def _split(sets: list[int], one: int, other: int) -> list[int]:
    both = one | other
    kept = [members for members in sets if members & both != both]
    halves = [members & ~part for members in sets if members & both == both for part in (one, other)]
    for half in dict.fromkeys(halves):
        if not any(half & members == half for members in kept) and not any(
            half & rival == half and half != rival for rival in halves
        ):
            kept.append(half)
    if len(kept) > _MOST_CLIQUES:
        raise UsageError(
            f"letters: expected at most {_MOST_CLIQUES} groups, found more", "rank intervals have no such limit"
        )
    return kept
