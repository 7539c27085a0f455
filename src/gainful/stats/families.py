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
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.kernel.parallel import Progress
from gainful.notation import choose, count_of, units
from gainful.stats.catalogues import CORRECTIONS, TESTS, PairedTest
from gainful.stats.corrections import corrected, refuse_coarse
from gainful.stats.distributions import LEAST_P
from gainful.stats.family_results import FamilyResult
from gainful.stats.flips import FLIPS, MOST_ENUMERATED, Flips, exact_extremes, exponent, on_grid
from gainful.stats.paired import FROM_RANKED, rank_warning
from gainful.stats.paired_tests import MOST_FLIPPED, Finding
from gainful.stats.repeatable import check_alpha, check_margin, largest_at, least_told
from gainful.stats.samples import PairedScores, SystemScores

#: How notes begin that are about intervals.
OF_INTERVALS = "simultaneous intervals"


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
    """What to do with every pair: all, those with a baseline, or the ``pairs`` that are named."""

    baseline: str | None = None
    test: str = "randomisation"
    correction: str = "maxt"
    alpha: float = 0.05
    draws: int = FLIPS
    seed: int = 0
    progress: Progress | None = None
    threads: int | None = None
    margin: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_margin(self.margin)
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
    def of(cls, matrices: Sequence[SystemScores], plan: FamilyPlan) -> _Family:
        systems = len(matrices[0].systems)
        if systems < 2:
            raise UsageError(f"systems: expected at least two, found {systems}")
        if plan.pairs:
            first, second = np.array([[matrices[0].place(name) for name in pair] for pair in plan.pairs]).T
        elif plan.baseline is None:
            first, second = np.triu_indices(systems, 1)
        else:
            place = matrices[0].place(plan.baseline)
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
    family = _Family.of(matrices, plan)
    flips = Flips(len(matrices[0].queries), plan.draws, plan.seed)
    direction: Floats | None = None
    if plan.by_flips:
        found = _by_flips(family, flips, plan)
    else:
        test = TESTS[plan.test]
        outcomes = [_outcome(test, pair) for pair in family.pairs]
        alone = np.array([outcome.p for outcome in outcomes])
        found = _Ps(alone, corrected(alone, plan.correction))
        if test.of != "mean":
            # The side that it is on need not be that of the mean.
            direction = np.array([outcome.effect for outcome in outcomes])
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
                notes=(
                    *_notes(plan, family),
                    *_note_of_constants(plan, family.pairs[own], matrix.unit),
                    *_note_of_intervals(plan, found, means, own),
                ),
                direction=None if direction is None else direction[own],
                margin=plan.margin,
                is_of_named=bool(plan.pairs),
                unit=matrix.unit,
            )
        )
    return results


def _outcome(test: PairedTest, pair: PairedScores) -> Finding:
    """What a test finds of a pair. A constant difference, which some refuse, must not end a comparison of many systems:
    its p is that of all flips of signs, of which only those of none and of all are as extreme."""
    if test.needs_spread and pair.is_constant:
        return Finding(max(2.0 ** (1 - pair.n), LEAST_P), pair.mean)
    return test.formula(pair)


def _by_flips(family: _Family, flips: Flips, plan: FamilyPlan) -> _Ps:
    few = [i for i, pair in enumerate(family.pairs) if pair.nonzero <= MOST_ENUMERATED]
    if len(few) < len(family.pairs):
        refuse_coarse(plan.correction, len(family.pairs), plan.draws, plan.alpha)
    weights = None
    if family.is_across_measures:
        weights = _inverse(family.roots([math.fsum((pair.differences**2).tolist()) for pair in family.pairs]))
    flipped = FlippedPairs(family.scores, family.first, family.second, flips, weights, plan.progress, plan.threads)
    extreme, among = flipped.step_down()
    alone = flips.p(extreme)
    for i in few:
        count, of = exact_extremes(family.pairs[i].differences, family.pairs[i].error)
        alone[i] = count / of
    reach = _half_widths(family, flips, plan)
    if CORRECTIONS[plan.correction].steps:
        return _Ps(alone, corrected(alone, plan.correction), reach)
    adjusted = flipped.adjusted(among, alone)
    least = _least_told(family, flipped, adjusted, plan.alpha)
    threshold = None if family.is_across_measures else _threshold(family, flips, adjusted, plan)
    # What is smaller is not significantly different; so no interval may be narrower, or it would say that it is.
    return _Ps(alone, adjusted, np.maximum(reach, least), threshold)


def _threshold(family: _Family, flips: Flips, adjusted: Floats, plan: FamilyPlan) -> float:
    """The difference above which a pair is significantly different by the first step, whatever the others are.

    Later steps look at fewer pairs and may find smaller differences, down to those of near-duplicates: their limit
    says nothing of other pairs.
    """
    if not _can_reach(flips.queries, plan.alpha):
        return math.inf
    critical = _reach(family, family.scores, flips, plan)
    apart = np.abs([pair.mean for pair in family.pairs])
    scale = float(np.max(np.abs(family.scores), initial=0.0))
    return least_told(critical, apart, (apart > critical) & (adjusted < plan.alpha), scale)


def _inverse(roots: Floats) -> Floats:
    """1 / root; 0 where nothing differs."""
    return np.divide(1.0, roots, out=np.zeros(roots.size), where=roots > 0)


def _least_told(family: _Family, flipped: FlippedPairs, adjusted: Floats, alpha: float) -> Floats:
    """For each pair the mean difference from which on it is significantly different: by the pairs that are not, as the
    last step compares it. Without weights one and the same; with them 0 for pairs that are significantly different,
    which have no last step."""
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

    With maxT they are widened (in :func:`_by_flips`): an interval never excludes 0 where the pair is not significantly
    different."""
    if not _can_reach(flips.queries, plan.alpha):
        return np.full(len(family.pairs), math.inf)
    if not family.is_across_measures:
        return np.full(len(family.pairs), _reach(family, family.scores - family.matrices[0].means, flips, plan))
    means = np.concatenate([matrix.means for matrix in family.matrices])
    spreads = family.roots([(pair.sd or 0.0) ** 2 * max(0, pair.n - 1) for pair in family.pairs])
    centred = FlippedPairs(
        family.scores - means, family.first, family.second, flips, _inverse(spreads), threads=plan.threads
    )
    return np.asarray(centred.critical(np.arange(spreads.size), plan.alpha) * spreads)


def _reach(family: _Family, scores: Floats, flips: Flips, plan: FamilyPlan) -> float:
    """How far the two of any pair get apart by chance in a share alpha of draws."""
    if plan.pairs:
        pairs = FlippedPairs(scores, family.first, family.second, flips, threads=plan.threads)
        return pairs.critical(np.arange(family.first.size), plan.alpha)
    place = None if plan.baseline is None else family.matrices[0].place(plan.baseline)
    return widest(scores, flips, place, plan.alpha, plan.threads)


def _note_of_intervals(plan: FamilyPlan, found: _Ps, means: Floats, own: slice) -> list[str]:
    """Intervals are those of flips; corrections other than maxT know nothing of them."""
    if found.half_width is None or not CORRECTIONS[plan.correction].steps:
        return []
    excludes_zero = np.abs(means[own]) > found.half_width[own]
    if not (excludes_zero & (found.adjusted[own] >= plan.alpha)).any():
        return []
    return [
        f"{OF_INTERVALS} are not of {plan.correction}: one excludes 0 where the pair is not significantly different"
    ]


def _note_of_constants(plan: FamilyPlan, pairs: Sequence[PairedScores], unit: str) -> list[str]:
    count = sum(pair.is_constant for pair in pairs) if TESTS[plan.test].needs_spread else 0
    if not count:
        return []
    which = f"{count_of(count, 'pair')} {'has' if count == 1 else 'have'} the same difference on every {unit}"
    return [f"{which}: {plan.test} has no spread to go by, and p is that of all flips of signs"]


def _notes(plan: FamilyPlan, family: _Family) -> list[str]:
    """What to know before trusting the numbers."""
    queries, unit = len(family.scores), family.matrices[0].unit
    test, promise = TESTS[plan.test], CORRECTIONS[plan.correction].promise
    found = [f"{plan.correction}: {promise}"] if promise else []
    if family.is_across_measures and not CORRECTIONS[plan.correction].steps:
        found.append(
            f"one family of {count_of(len(family.matrices), 'measure')}: differences are compared after dividing them "
            "by one number a measure, the root mean square of its differences"
        )
    if test.of != "mean":
        found.append(f"the test is of this: {test.hypothesis}")
    if test.is_of_ranks and queries >= FROM_RANKED:
        found.append(rank_warning(units(queries, unit)))
    if queries > MOST_FLIPPED and plan.margin is None:
        found.append(
            f"with {units(queries, unit)} tiny differences are significant: read the intervals, and give a margin"
        )
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
    threads: int | None = None

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

    def _sums(self) -> Iterator[Floats]:
        """For some draws at a time, the columns of one scale after those of another: columns x draws, their sums with
        flipped signs."""
        steps = np.concatenate([part.steps for part in self._parts], axis=1)
        unit = np.repeat([part.unit for part in self._parts], self.scores.shape[1])[:, np.newaxis]
        whole = steps.sum(axis=0)[:, np.newaxis] * unit
        for piece in self.flips.sums(steps, self.threads):
            sums = piece.T
            sums *= -2 * unit
            sums += whole
            yield sums

    def _counted(self, pairs: Ints, edges: Floats, reaches: Floats) -> Iterator[tuple[Ints, Ints, Floats]]:
        """:func:`core.count_extremes` of some pairs, one after the other, for some draws at a time."""
        shift = self._part_of_pair[pairs] * self.scores.shape[1]
        first, second = (each[pairs] + shift for each in (self.first, self.second))
        weights = np.ones(pairs.size) if self.weights is None else self.weights[pairs]
        for sums in self._sums():
            yield core.count_extremes(sums, first, second, weights, edges, reaches, core.thread_count(self.threads))

    def step_down(self) -> tuple[Ints, Ints]:
        """For each pair: how many draws are as extreme as the pair by itself; and how many have, among this pair and
        all whose difference is no larger, one as large as this pair's."""
        order = np.concatenate(self._levels)
        sizes = np.array([level.size for level in self._levels])
        edges = (self.observed - self._slack)[order]
        # What a step's last pair has to reach is what all of the step have to; before it, nothing is asked.
        last = np.cumsum(sizes) - 1
        reaches = np.full(order.size, math.inf)
        reaches[last] = np.minimum.reduceat(edges, last - sizes + 1)
        counted = np.zeros((2, order.size), np.int64)
        for alone, among, largest in self._counted(order, edges, reaches):
            counted += alone, among
            if self.progress is not None:
                self.progress.advance(largest.size)
        found = np.empty_like(counted)
        found[:, order] = counted[0], np.repeat(counted[1][last], sizes)
        return found[0], found[1]

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
        nothing = np.full(pairs.size, math.inf)
        found = [largest for _, _, largest in self._counted(pairs, nothing, nothing)]
        return largest_at(np.concatenate(found), self.flips.least_extreme(alpha)) / self.flips.queries


def widest(scores: Floats, flips: Flips, baseline: int | None, alpha: float, threads: int | None = None) -> float:
    """How far means of systems get apart by chance in a share alpha of draws: all pairs, or each and a baseline.

    Of centred scores this is the half-width of simultaneous intervals around the observed differences. The largest
    difference among all pairs is that of the highest and the lowest.
    """
    columns = on_grid(scores, exponent(scores))
    whole = columns.steps.sum(axis=0)
    found = []
    for piece in flips.sums(columns.steps, threads):
        sums = whole - 2 * piece
        if baseline is None:
            found.append(sums.max(axis=1) - sums.min(axis=1))
        else:
            found.append(np.abs(sums - sums[:, [baseline]]).max(axis=1))
    place = flips.least_extreme(alpha)
    return largest_at(np.concatenate(found), place) * columns.unit / flips.queries
