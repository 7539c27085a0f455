"""Several systems on the same queries: which pairs differ once all of them are looked at, and who may be the best.

The step-down maxT procedure: p of many pairs at once, corrected by the flips themselves (Westfall & Young 1993).
Flipping signs moves all pairs together, as they really hang together. The largest of the flipped differences says how
large one gets by chance in a family; pairs that are larger than that differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.kernel.parallel import Progress
from gainful.notation import choose, count_of
from gainful.stats.catalogues import CORRECTIONS, TESTS
from gainful.stats.corrections import corrected, refuse_coarse
from gainful.stats.family_results import FamilyResult
from gainful.stats.flips import MOST_ENUMERATED, Flips, exact_extremes, exponent, on_grid
from gainful.stats.paired import MOST_RANKED, rank_warning
from gainful.stats.paired_tests import MOST_FLIPPED, PairedScores, TestOutcome
from gainful.stats.repeatable import check_alpha, largest_at, least_told

#: Flips unless another number is asked for.
FLIPS = 10_000

_DRAWS_AT_A_TIME = 10_000


class SystemScores(Protocol):
    """Scores of several systems by one measure, queries x systems: what a comparison of many needs to know."""

    @property
    def measure(self) -> str: ...
    @property
    def better(self) -> str: ...
    @property
    def queries(self) -> Sequence[str]: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def values(self) -> Floats: ...
    @property
    def means(self) -> Floats: ...
    def place(self, system: str) -> int:
        """Which column a system is."""
        ...


def compare_family(
    scores: SystemScores,
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str = "maxt",
    alpha: float = 0.05,
    draws: int = FLIPS,
    seed: int = 0,
    progress: Progress | None = None,
) -> FamilyResult:
    """Compares all pairs of systems, or each with a baseline, and corrects p for their number.

    The correction ``maxt`` is the step-down procedure over the very flips that give each pair its p; the others of
    :data:`gainful.stats.catalogues.CORRECTIONS` work on the p of any test that draws no samples.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("P@10", {"a": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "b": [0.1, 0.2, 0.1, 0.3, 0.2, 0.2],
    ...                                  "c": [0.1, 0.3, 0.1, 0.2, 0.2, 0.1]})
    >>> found = compare_family(matrix)
    >>> found.pair("a", "b").adjusted, found.rank_intervals[0], found.may_be_best
    (0.03125, RankInterval(best=1, worst=1), ('a',))
    """
    [found] = families_of([scores], FamilyPlan(baseline, test, correction, alpha, draws, seed, progress))
    return found


def families_of(matrices: Sequence[SystemScores], plan: FamilyPlan, is_one: bool = False) -> list[FamilyResult]:
    """A comparison for each matrix; ``is_one`` makes all their pairs one family, on the same queries and systems.

    Their differences then have different units, so that maxT divides them by one number a measure: the root of the mean
    square of its pairs' differences. Flips leave that as it is; dividing each pair by its own spread would make those
    that happen to vary little the largest, and find too much with few queries (docs/which-test.md).
    """
    if is_one:
        return _compared(matrices, plan)
    return [result for matrix in matrices for result in _compared([matrix], plan)]


@dataclass(frozen=True)
class FamilyPlan:
    """What to do with every pair."""

    baseline: str | None = None
    test: str = "randomisation"
    correction: str = "maxt"
    alpha: float = 0.05
    draws: int = FLIPS
    seed: int = 0
    progress: Progress | None = None

    def __post_init__(self) -> None:
        choose(self.test, (test.name for test in TESTS.values() if test.is_for_families), "test")
        choose(self.correction, CORRECTIONS, "correction")
        check_alpha(self.alpha)
        if not CORRECTIONS[self.correction].steps and not self.by_flips:
            raise UsageError(
                f"correction {self.correction}: expected the test randomisation, found {self.test}",
                "holm works on any test",
            )

    @property
    def by_flips(self) -> bool:
        return TESTS[self.test].draws == "flip"


class _Family(NamedTuple):
    """The columns of all matrices beside each other, and which two make a pair: those of a matrix after another's."""

    matrices: Sequence[SystemScores]
    scores: Floats
    first: Ints
    second: Ints
    pairs: tuple[PairedScores, ...]

    @classmethod
    def of(cls, matrices: Sequence[SystemScores], baseline: str | None) -> _Family:
        systems = len(matrices[0].systems)
        if systems < 2:
            raise UsageError(f"systems: expected at least two, found {systems}")
        if baseline is None:
            first, second = np.triu_indices(systems, 1)
        else:
            place = matrices[0].place(baseline)
            first = np.delete(np.arange(systems), place)
            second = np.full(systems - 1, place)
        shift = np.repeat(np.arange(len(matrices)) * systems, first.size)
        first, second = (np.tile(each, len(matrices)) + shift for each in (first, second))
        scores = np.concatenate([matrix.values for matrix in matrices], axis=1)
        columns = np.ascontiguousarray(scores.T)
        pairs = tuple(
            PairedScores(columns[i], columns[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)
        )
        return cls(matrices, scores, first, second, pairs)

    @property
    def is_across_measures(self) -> bool:
        return len(self.matrices) > 1

    def roots(self, squares: Sequence[float]) -> Floats:
        """For each pair the scale of its measure: the root of the mean of its pairs' sums of squares."""
        pairs = len(squares) // len(self.matrices)
        parts = [squares[i : i + pairs] for i in range(0, len(squares), pairs)]
        return np.repeat([math.sqrt(math.fsum(part) / pairs) for part in parts], pairs)


class _Ps(NamedTuple):
    """p of each pair, alone and adjusted, and what follows from flips only."""

    alone: Floats
    adjusted: Floats
    half_width: Floats | None = None
    threshold: float | None = None


def _compared(matrices: Sequence[SystemScores], plan: FamilyPlan) -> list[FamilyResult]:
    """One result a matrix; all pairs of all matrices are one family."""
    family = _Family.of(matrices, plan.baseline)
    flips = Flips(len(matrices[0].queries), plan.draws, plan.seed)
    direction: Floats | None = None
    if plan.by_flips:
        found = _by_flips(family, flips, plan)
    else:
        test = TESTS[plan.test]
        outcomes = [TestOutcome.of(test, pair) for pair in family.pairs]
        alone = np.array([outcome.p for outcome in outcomes])
        found = _Ps(alone, corrected(alone, plan.correction))
        if test.of != "mean":
            # The side that it is on need not be that of the mean.
            direction = np.array([outcome.direction or 0.0 for outcome in outcomes])
    means = np.array([pair.mean for pair in family.pairs])
    pairs = means.size // len(matrices)
    results = []
    for i, matrix in enumerate(matrices):
        own = slice(i * pairs, (i + 1) * pairs)
        results.append(
            FamilyResult(
                measure=matrix.measure,
                better=matrix.better,
                systems=matrix.systems,
                means=matrix.means,
                n=len(matrix.queries),
                baseline=plan.baseline,
                first=family.first[:pairs],
                second=family.second[:pairs],
                difference=means[own],
                p=found.alone[own],
                adjusted=found.adjusted[own],
                half_width=None if found.half_width is None else found.half_width[own],
                threshold=found.threshold,
                test=plan.test,
                correction=plan.correction,
                tests=means.size,
                alpha=plan.alpha,
                draws=flips.count if plan.by_flips else None,
                is_enumerated=plan.by_flips and flips.enumerated,
                seed=plan.seed,
                notes=(*_notes(plan, family), *_note_of_intervals(plan, found, means, own)),
                direction=None if direction is None else direction[own],
            )
        )
    return results


def _by_flips(family: _Family, flips: Flips, plan: FamilyPlan) -> _Ps:
    few = [i for i, pair in enumerate(family.pairs) if pair.nonzero <= MOST_ENUMERATED]
    if len(few) < len(family.pairs):
        refuse_coarse(plan.correction, len(family.pairs), plan.draws, plan.alpha)
    weights = None
    if family.is_across_measures:
        weights = _inverse(family.roots([math.fsum((pair.differences**2).tolist()) for pair in family.pairs]))
    flipped = FlippedPairs(family.scores, family.first, family.second, flips, weights, plan.progress)
    extreme, among = flipped.step_down()
    alone = flips.p(extreme)
    for i in few:
        count, of = exact_extremes(family.pairs[i].differences, family.pairs[i].error)
        alone[i] = count / of
    reach = _half_widths(family, flips, plan)
    if CORRECTIONS[plan.correction].steps:
        return _Ps(alone, corrected(alone, plan.correction), reach)
    adjusted = flipped.adjusted(among, alone)
    thresholds = _thresholds(family, flipped, adjusted, plan.alpha)
    # Below the threshold nothing is told apart; so no interval may be narrower, or it would say that something is.
    threshold = None if family.is_across_measures else float(thresholds[0])
    return _Ps(alone, adjusted, np.maximum(reach, thresholds), threshold)


def _inverse(roots: Floats) -> Floats:
    """1 / root; 0 where nothing differs."""
    return np.divide(1.0, roots, out=np.zeros(roots.size), where=roots > 0)


def _thresholds(family: _Family, flipped: FlippedPairs, adjusted: Floats, alpha: float) -> Floats:
    """For each pair the mean difference from which on it is told apart: by the pairs that are not, as the last step
    compares it. Without weights one and the same; with them 0 for pairs that are told apart, which have no last step.
    """
    if not _can_reach(flipped.flips.queries, alpha):
        return np.full(adjusted.size, math.inf)
    is_told = adjusted < alpha
    left = np.flatnonzero(~is_told)
    critical = flipped.critical(left if left.size else np.array([np.argmin(flipped.observed)]), alpha)
    apart = np.abs([pair.mean for pair in family.pairs])
    if flipped.weights is None:
        scale = float(np.max(np.abs(family.scores), initial=0.0))
        return np.full(adjusted.size, least_told(critical, apart, is_told, scale))
    return np.where(is_told, 0.0, np.maximum(critical * _inverse(flipped.weights), apart))


def _can_reach(queries: int, alpha: float) -> bool:
    """Whether flips of so few queries can be rare enough at all; else nothing limits a difference."""
    return 2.0 ** (1 - queries) < alpha


def _half_widths(family: _Family, flips: Flips, plan: FamilyPlan) -> Floats:
    """Of simultaneous intervals: from flips of centred scores; across measures in proportion to each measure's spread.

    With maxT they are widened to the threshold (in :func:`_by_flips`): an interval never excludes 0 where the pair is
    not told apart.
    """
    if not _can_reach(flips.queries, plan.alpha):
        return np.full(len(family.pairs), math.inf)
    if not family.is_across_measures:
        matrix = family.matrices[0]
        place = None if plan.baseline is None else matrix.place(plan.baseline)
        return np.full(len(family.pairs), widest(matrix.values, flips, place, plan.alpha))
    means = np.concatenate([matrix.means for matrix in family.matrices])
    spreads = family.roots([(pair.sd or 0.0) ** 2 * max(0, pair.n - 1) for pair in family.pairs])
    centred = FlippedPairs(family.scores - means, family.first, family.second, flips, _inverse(spreads))
    return np.asarray(centred.critical(np.arange(spreads.size), plan.alpha) * spreads)


def _note_of_intervals(plan: FamilyPlan, found: _Ps, means: Floats, own: slice) -> list[str]:
    """Intervals are those of flips; corrections other than maxT know nothing of them."""
    if found.half_width is None or not CORRECTIONS[plan.correction].steps:
        return []
    excludes_zero = np.abs(means[own]) > found.half_width[own]
    if not (excludes_zero & (found.adjusted[own] >= plan.alpha)).any():
        return []
    return [f"simultaneous intervals are not of {plan.correction}: one excludes 0 where the pair is not told apart"]


def _notes(plan: FamilyPlan, family: _Family) -> list[str]:
    """What to know before trusting the numbers."""
    queries = len(family.scores)
    test, promise = TESTS[plan.test], CORRECTIONS[plan.correction].promise
    found = [f"{plan.correction}: {promise}"] if promise else []
    if family.is_across_measures and not CORRECTIONS[plan.correction].steps:
        found.append(
            f"one family of {count_of(len(family.matrices), 'measure')}: differences are compared after dividing them "
            "by one number a measure, the root mean square of its differences"
        )
    if test.of != "mean":
        found.append(f"the test is of this: {test.hypothesis}")
    if test.is_of_ranks and queries > MOST_RANKED:
        found.append(rank_warning(queries))
    if queries > MOST_FLIPPED:
        found.append(f"with {queries:,} queries tiny differences are significant: read the intervals")
    return found


class _Part(NamedTuple):
    """The columns on the grid of one scale, and what rounding to it can do to a sum, in units of scores."""

    steps: Floats
    unit: float
    slack: float


@dataclass(frozen=True, eq=False)
class FlippedPairs:
    """Pairs of columns (scores of systems, queries x columns) under flips.

    ``weights`` multiply each pair's difference; without them, differences are compared as they are. A pair's grid
    depends on its own two columns only, so that nothing said of it alone depends on the others.
    """

    scores: Floats
    first: Ints
    second: Ints
    flips: Flips
    weights: Floats | None = None
    progress: Progress | None = None

    @cached_property
    def _exponents(self) -> Ints:
        return np.array([exponent(column) for column in self.scores.T], np.int64)

    @cached_property
    def _part_of_pair(self) -> Ints:
        """For each pair the place of its scale among :attr:`_parts`."""
        larger = np.maximum(self._exponents[self.first], self._exponents[self.second])
        return np.searchsorted(self._scales, larger)

    @cached_property
    def _scales(self) -> Ints:
        return distinct(self._exponents.astype(np.float64)).astype(np.int64)

    @cached_property
    def _parts(self) -> list[_Part]:
        parts = []
        for scale in self._scales.tolist():
            # Larger columns take no part at this scale: no pair of this scale has them.
            columns = on_grid(np.where(self._exponents <= scale, self.scores, 0.0), scale)
            parts.append(_Part(columns.steps, columns.unit, columns.slack * columns.unit))
        return parts

    @cached_property
    def observed(self) -> Floats:
        """The absolute (weighted) sum of each pair's differences."""
        sums = [part.steps.sum(axis=0) * part.unit for part in self._parts]
        found = np.empty(self.first.size)
        for place, total in enumerate(sums):
            chosen = self._part_of_pair == place
            found[chosen] = np.abs(total[self.first[chosen]] - total[self.second[chosen]])
        return found if self.weights is None else found * self.weights

    @cached_property
    def _slack(self) -> Floats:
        """What rounding can do to each pair's (weighted) sum."""
        slack = np.array([part.slack for part in self._parts])[self._part_of_pair]
        return slack if self.weights is None else slack * self.weights

    @cached_property
    def _levels(self) -> list[Ints]:
        """The pairs from the smallest observed sum up; those with the same sum, but for rounding, are one step."""
        order = np.lexsort((self._slack, self.observed))
        gaps = np.diff(self.observed[order])
        is_new = gaps > np.maximum(self._slack[order[1:]], self._slack[order[:-1]])
        return np.split(order, np.flatnonzero(is_new) + 1)

    def _sums(self) -> Iterator[list[Floats]]:
        """For some draws at a time and each scale: columns x draws, the columns' flipped sums."""
        whole = [part.steps.sum(axis=0) for part in self._parts]
        sources = [self.flips.sums(part.steps) for part in self._parts]
        left = self.flips.count
        while left > 0:
            size = min(left, _DRAWS_AT_A_TIME)
            found = [np.empty((self.scores.shape[1], size)) for _ in self._parts]
            for part, total, source, out in zip(self._parts, whole, sources, found, strict=True):
                filled = 0
                while filled < size:
                    piece = next(source)
                    out[:, filled : filled + len(piece)] = ((total - 2 * piece) * part.unit).T
                    filled += len(piece)
            left -= size
            yield found

    def step_down(self) -> tuple[Ints, Ints]:
        """For each pair: how many draws are as extreme as the pair by itself; and how many have, among this pair and
        all whose difference is no larger, one as large as this pair's."""
        edges = (self.observed - self._slack).tolist()
        # What a step's last pair has to reach is what all of the step have to.
        last = {int(level[-1]): (level, min(edges[pair] for pair in level)) for level in self._levels}
        order = np.concatenate(self._levels).tolist()
        alone, among = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
        for sums in self._sums():
            largest = np.zeros(sums[0].shape[1])
            is_reached = np.empty(largest.size, np.bool_)
            for pair, one in self._each(order, sums):
                alone[pair] += np.count_nonzero(np.greater_equal(one, edges[pair], out=is_reached))
                np.maximum(largest, one, out=largest)
                if pair in last:
                    level, edge = last[pair]
                    among[level] += np.count_nonzero(np.greater_equal(largest, edge, out=is_reached))
            if self.progress is not None:
                self.progress.advance(largest.size)
        return alone, among

    def _each(self, pairs: list[int], sums: list[Floats]) -> Iterator[tuple[int, Floats]]:
        """Each pair with its absolute (weighted) flipped differences, which the next pair overwrites.

        One pair after the other, because a row of draws stays in the processor's cache, and a matrix of all does not.
        """
        first, second, part = (each.tolist() for each in (self.first, self.second, self._part_of_pair))
        one = np.empty(sums[0].shape[1])
        for pair in pairs:
            rows = sums[part[pair]]
            np.subtract(rows[first[pair]], rows[second[pair]], out=one)
            np.abs(one, out=one)
            if self.weights is not None:
                one *= self.weights[pair]
            yield pair, one

    def adjusted(self, among: Ints, alone: Floats) -> Floats:
        """p of the step-down procedure: the running maximum from the largest difference down.

        ``alone`` are p of pairs by themselves. Exact ones and those from draws may differ by a hair; what is adjusted
        is never below what it was, nor below that of a larger difference.
        """
        raw = np.maximum(self.flips.p(among), alone)
        found, so_far = np.empty(raw.size), 0.0
        for level in reversed(self._levels):
            so_far = max(so_far, float(raw[level].max()))
            found[level] = so_far
        return found

    def critical(self, pairs: Ints, alpha: float) -> float:
        """What the largest (weighted) mean difference of some pairs has to exceed to be there by chance in less than a
        share alpha of draws."""
        found = []
        for sums in self._sums():
            largest = np.zeros(sums[0].shape[1])
            for _, one in self._each(pairs.tolist(), sums):
                np.maximum(largest, one, out=largest)
            found.append(largest)
        return largest_at(np.concatenate(found), self.flips.least_extreme(alpha)) / self.flips.queries


def widest(scores: Floats, flips: Flips, baseline: int | None, alpha: float) -> float:
    """How far means of systems get apart by chance in a share alpha of draws: all pairs, or each and a baseline.

    Scores are centred, so that this is the half-width of simultaneous intervals around the observed differences. The
    largest difference among all pairs is that of the highest and the lowest.
    """
    means = np.array([math.fsum(column) / column.size for column in scores.T])
    centred = scores - means
    columns = on_grid(centred, exponent(centred))
    whole = columns.steps.sum(axis=0)
    found = []
    for piece in flips.sums(columns.steps):
        sums = whole - 2 * piece
        if baseline is None:
            found.append(sums.max(axis=1) - sums.min(axis=1))
        else:
            found.append(np.abs(sums - sums[:, [baseline]]).max(axis=1))
    place = flips.least_extreme(alpha)
    return largest_at(np.concatenate(found), place) * columns.unit / flips.queries
