"""Comparison of several systems on the same queries, with all pairs tested jointly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError, option
from gainful.frozen import dataclass, replace
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, distinct, freeze
from gainful.kernel.parallel import Progress
from gainful.notation import bytes_of_id, choose, count_of, letter, listed, nearest, percent_text, printable, units
from gainful.stats.anova import PairComparisons, TwoWayAnova, t_of_all_pairs, two_way
from gainful.stats.catalogues import (
    CORRECTIONS,
    MOST_FLIPPED,
    MOST_WITH_LETTERS,
    PROCEDURES,
    TESTS,
    Correction,
    PairedTest,
    Verdict,
    corrected,
)
from gainful.stats.distributions import LEAST_P, noncentrality_intervals
from gainful.stats.findings import Finding
from gainful.stats.paired import FROM_RANKED, margin_verdict, rank_warning, signed_verdict, too_few_draws
from gainful.stats.paired_tests import PairedScores, SystemScores
from gainful.stats.rank_tests import Friedman, conover, friedman, nemenyi
from gainful.stats.repeatable import (
    FLIPS,
    MOST_ENUMERATED,
    Flips,
    check_alpha,
    check_margin,
    exact_extremes,
    exponent,
    largest_at,
    least_significant,
    on_flip_grid,
    settle,
)
from gainful.stats.run_noise import noise_of_means
from gainful.stats.tukey import PERMUTATIONS, RandomisedTukeyTest, TukeyTest, randomised_tukey, tukey


class PairVerdict(NamedTuple):
    """The comparison of two systems of a family."""

    system: str
    other: str
    difference: float  # the first system's mean minus the other's
    p: float  # unadjusted
    adjusted: float  # for the family
    low: float | None  # simultaneous limits
    high: float | None
    verdict: Verdict
    tested: Verdict  # the verdict of the test alone, with no margin and any number of queries


class RankInterval(NamedTuple):
    """The ranks (1 is best) consistent with all significant differences of a system."""

    best: int
    worst: int


@dataclass(frozen=True, eq=False, repr=False)
class FamilyResult:
    """The result of :func:`families_of` for one measure."""

    measure: str
    better: str
    systems: tuple[str, ...]
    means: Floats
    n: int
    baseline: str | None
    first: Ints  # indices in ``systems`` of the two systems of each pair
    second: Ints
    difference: Floats
    p: Floats  # unadjusted
    adjusted: Floats  # for the family
    #: Half-widths of simultaneous intervals; None if the test has none. With maxT an interval contains 0 if the pair
    #: does not differ significantly.
    half_width: Floats | None
    #: All pairs with means at least this far apart differ; later steps of maxT may find more. None if the procedure has
    #: no such number.
    threshold: float | None
    test: str
    correction: str
    tests: int  # number of tests in the family
    alpha: float
    draws: int | None
    is_enumerated: bool
    seed: int
    notes: tuple[str, ...]
    #: The statistic of a test that is not based on means, above 0 if it favours higher scores of the first system; None
    #: for tests of means.
    direction: Floats | None = None
    #: The difference within which systems count as equivalent; verdicts then use the simultaneous intervals.
    margin: float | None = None
    unit: str = "query"
    farthest: float = math.inf

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
        return np.asarray(self.adjusted < self.alpha)

    @property
    def is_simultaneous(self) -> bool:
        """Whether the probability of any false finding is bounded, so that all findings hold jointly."""
        return self.correction not in CORRECTIONS or CORRECTIONS[self.correction].is_simultaneous

    @property
    def directions(self) -> Floats:
        """The statistic whose sign decides each pair: above 0 the first system has the higher scores."""
        return self.difference if self.direction is None else self.direction

    @property
    def is_against_mean(self) -> Bools:
        """Whether a rank test favours the system whose mean is not better, per pair."""
        against = (self.directions != 0) & (self.directions * self.difference <= 0)
        return np.asarray(self.is_significant & against)

    @cached_property
    def monte_carlo_error(self) -> Floats | None:
        """The Monte Carlo standard error of each pair's unadjusted p; None if p are exact."""
        if self.draws is None or self.is_enumerated:
            return None
        return np.sqrt(self.p * (1 - self.p) / self.draws)

    @property
    def least_p(self) -> float | None:
        """A bound on the smallest p that the sign flips can give; None if p are exact."""
        return None if self.draws is None or self.is_enumerated else 1 / self.draws

    @cached_property
    def _pair_of(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True))}

    def where(self, a: str, b: str) -> tuple[int, int]:
        """Return the index of a pair and its sign: 1 if A is its first system, else -1."""
        for system in (a, b):
            if system not in self.systems:
                raise UsageError(f"unknown system '{printable(system)}'", nearest(system, self.systems))
        one, other = self.systems.index(a), self.systems.index(b)
        sign = 1 if (one, other) in self._pair_of else -1
        place = self._pair_of.get((one, other) if sign > 0 else (other, one))
        if place is None:
            raise UsageError(f"only pairs with the baseline '{self.baseline}' are tested, not '{a}' and '{b}'")
        return place, sign

    def pair(self, a: str, b: str) -> PairVerdict:
        place, sign = self.where(a, b)
        difference, direction = (sign * float(each[place]) for each in (self.difference, self.directions))
        tested = signed_verdict(bool(self.is_significant[place]), direction, self.better)
        verdict: Verdict = "margin required" if self.margin is None and self.n > MOST_FLIPPED else tested
        low = high = None
        if self.half_width is not None:
            reach = float(self.half_width[place])
            low, high = difference - reach, difference + reach
            if math.isfinite(reach):
                low, high = max(low, -self.farthest), min(high, self.farthest)
            if self.margin is not None:
                verdict = margin_verdict(low, high, self.margin, tested, self.better)
        p, adjusted = float(self.p[place]), float(self.adjusted[place])
        return PairVerdict(a, b, difference, p, adjusted, low, high, verdict, tested)

    @cached_property
    def standing(self) -> Floats:
        """The values that order the systems: means or, for other tests, the statistic averaged over the pairs."""
        if self.direction is None:
            return self.means
        ends = np.concatenate((self.first, self.second))
        sums = np.zeros(len(self.systems))
        np.add.at(sums, ends, np.concatenate((self.direction, -self.direction)))
        if self.baseline is not None:
            sums[self.systems.index(self.baseline)] = 0.0
            return sums
        return np.asarray(sums / max(1, len(self.systems) - 1))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The indices of the systems, best :attr:`standing` first; ties in byte order of their names."""
        badness = settle(-self.standing if self.better == "higher" else self.standing).tolist()
        return tuple(sorted(range(len(badness)), key=lambda i: (badness[i], bytes_of_id(self.systems[i]))))

    @cached_property
    def rank_intervals(self) -> tuple[RankInterval, ...]:
        """The rank range of each system; empty if compared with a baseline.

        From 1 + the number of significantly better systems to m - the number of significantly worse ones. All ranges
        hold jointly with 1 - alpha if the correction bounds the probability of any false finding (Al Mohamad, Goeman &
        van Zwet 2021).
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
        """Systems that no other significantly beats; none if a rank test finds a cycle."""
        return tuple(s for s, places in zip(self.systems, self.rank_intervals, strict=False) if places.best == 1)


def letters(different: Bools) -> tuple[str, ...]:
    """Return a compact letter display: systems that share a letter do not differ significantly (Piepho 2004).

    Letters are the maximal cliques of the pairs that are not ``different`` (systems x systems, symmetric). Insert and
    absorb: all systems start with one letter; a significant pair splits every letter that both have; a letter contained
    in another is dropped. If systems are ordered from best to worst, so are the letters.

    >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)
    >>> letters(apart)
    ('a', 'ab', 'b')
    """
    systems = range(len(different))
    cliques = {frozenset(systems)} if systems else set()
    for pair in combinations(systems, 2):
        if different[pair]:
            split = {clique for clique in cliques if clique.issuperset(pair)}
            cliques = (cliques - split) | {clique - {system} for clique in split for system in pair}
            cliques = {clique for clique in cliques if not any(clique < other for other in cliques)}
    ordered = sorted(map(sorted, cliques))
    return tuple("".join(letter(k) for k, clique in enumerate(ordered) if i in clique) for i in systems)


#: Multiplying corrections need this many expected flips at least as extreme as the smallest p that matters.
_FOR_EACH = 10
#: The opening words of notes about intervals.
OF_INTERVALS = "simultaneous intervals"


@dataclass(frozen=True)
class SystemsPlan:
    """The settings of a comparison of several systems: all pairs, or each with a ``baseline``."""

    procedure: str = "maxt"
    baseline: str | None = None
    #: For maxt and anova, which test each pair: by default randomisation with maxT, or another test with Holm. The
    #: other procedures test all pairs jointly, even with a baseline, and report p (unadjusted) from the randomisation
    #: test.
    test: str | None = None
    correction: str | None = None
    family: str = "each"  # "all" makes the pairs of all measures one family
    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    threads: int | None = None
    margin: float | None = None

    def __post_init__(self) -> None:
        choose(self.procedure, PROCEDURES, "procedure")
        choose(self.family, ("each", "all"), "family")
        if self.is_of_the_pool:
            for name in ("test", "correction"):
                if getattr(self, name) is not None:
                    hint = "the procedure maxt takes a test and a correction"
                    raise UsageError(f"{name}: cannot be used with the procedure {self.procedure}", hint)
            if self.family == "all":
                hint = "only maxt and the corrections combine the pairs of several measures"
                raise UsageError(f"family: 'all' cannot be used with the procedure {self.procedure}", hint)
        check_margin(self.margin)
        choose(self.test or "randomisation", (test.name for test in TESTS.values() if test.draws != "sample"), "test")
        choose(self.correction or "none", CORRECTIONS, "correction")
        check_alpha(self.alpha)
        if not self.pair_correction.steps and not self.by_flips:
            message = f"correction {self.correction}: requires the test randomisation, not {self.test}"
            raise UsageError(message, "holm works with any test")

    @property
    def is_of_the_pool(self) -> bool:
        return PROCEDURES[self.procedure].is_of_the_pool

    @property
    def pair_test(self) -> PairedTest:
        return TESTS[self.test or "randomisation"]

    @property
    def pair_correction(self) -> Correction:
        usual = "none" if self.is_of_the_pool else "maxt" if self.by_flips else "holm"
        return CORRECTIONS[self.correction or usual]

    @property
    def by_flips(self) -> bool:
        """Whether maxT can be used, which requires sign flips of mean differences."""
        return self.pair_test.draws == "flip" and self.pair_test.of == "mean"


def families_of(
    matrices: Sequence[SystemScores], plan: SystemsPlan, progress: Progress | None = None
) -> list[FamilyResult]:
    """Compare the systems of each matrix; all pairs can form one family.

    Pairs of different measures have different units, so maxT then divides the differences by one number per measure,
    the root mean square of its differences, which sign flips do not change. Dividing each pair by its own spread would
    favour pairs that vary little, with too many false findings on few queries (docs/explanation/which-test.md).

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("P@10", {"a": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "b": [0.1, 0.2, 0.1, 0.3, 0.2, 0.2],
    ...                                  "c": [0.1, 0.3, 0.1, 0.2, 0.2, 0.1]})
    >>> [found] = families_of([matrix], SystemsPlan())
    >>> found.pair("a", "b").adjusted, found.rank_intervals[0], found.may_be_best
    (0.03125, RankInterval(best=1, worst=1), ('a',))
    """
    if plan.family == "all":
        return _compared(matrices, plan, progress)
    return [result for matrix in matrices for result in _compared([matrix], plan, progress)]


class _Family(NamedTuple):
    """The columns of all matrices, concatenated, and the pairs of columns to compare, matrix by matrix."""

    matrices: Sequence[SystemScores]
    baseline: int | None
    scores: Floats
    first: Ints
    second: Ints
    pairs: tuple[PairedScores, ...]

    @classmethod
    def of(cls, matrices: Sequence[SystemScores], plan: SystemsPlan) -> _Family:
        systems, place = len(matrices[0].systems), None
        if systems < 2:
            raise UsageError(f"systems: expected at least two, found {systems}")
        first, second = np.triu_indices(systems, 1)
        if plan.baseline is not None and not plan.is_of_the_pool:
            place = matrices[0].place(plan.baseline)
            first, second = np.delete(np.arange(systems), place), np.full(systems - 1, place)
        shift = np.repeat(np.arange(len(matrices)) * systems, first.size)
        first, second = (np.tile(each, len(matrices)) + shift for each in (first, second))
        scores = np.concatenate([matrix.values for matrix in matrices], axis=1)
        columns = np.ascontiguousarray(scores.T)
        repeats = [matrix.repeats.get(system) for matrix in matrices for system in matrix.systems]
        ends = zip(first.tolist(), second.tolist(), strict=True)
        pairs = tuple(
            PairedScores(columns[i], columns[j], runs=noise_of_means((repeats[i], repeats[j]))) for i, j in ends
        )
        return cls(matrices, place, scores, first, second, pairs)

    @property
    def is_across_measures(self) -> bool:
        return len(self.matrices) > 1

    def roots(self, squares: Sequence[float]) -> Floats:
        """Return the root mean sum of squares of each pair's measure; 1 for a single measure."""
        if not self.is_across_measures:
            return np.ones(len(squares))
        pairs = len(squares) // len(self.matrices)
        parts = [squares[i : i + pairs] for i in range(0, len(squares), pairs)]
        return np.repeat([math.sqrt(math.fsum(part) / pairs) for part in parts], pairs)


class _Ps(NamedTuple):
    """Unadjusted and adjusted p of each pair, with statistics that only sign flips give."""

    alone: Floats
    adjusted: Floats
    half_width: Floats | None = None
    threshold: float | None = None
    direction: Floats | None = None


def _compared(matrices: Sequence[SystemScores], plan: SystemsPlan, progress: Progress | None) -> list[FamilyResult]:
    family = _Family.of(matrices, plan)
    flips, test = Flips(len(matrices[0].queries), plan.draws or FLIPS, plan.seed), plan.pair_test
    if plan.by_flips:
        found = _by_flips(family, flips, plan, progress)
    else:
        # Some tests reject constant differences, which must not end a comparison of many systems: p is then that of
        # all sign flips, of which only "none" and "all" are as extreme.
        findings = [
            Finding(max(2.0 ** (1 - pair.n), LEAST_P), pair.mean)
            if test.needs_spread and pair.is_constant
            else test.formula(pair)
            for pair in family.pairs
        ]
        alone = np.array([finding.p for finding in findings])
        direction = None if test.of == "mean" else np.array([finding.effect for finding in findings])
        found = _Ps(alone, corrected(alone, plan.pair_correction.name), direction=direction)
    means = np.array([pair.mean for pair in family.pairs])
    pairs = means.size // len(matrices)
    results = []
    for i, matrix in enumerate(matrices):
        own = slice(i * pairs, (i + 1) * pairs)
        half_width = None if found.half_width is None else found.half_width[own]
        direction = None if found.direction is None else found.direction[own]
        part = _Ps(found.alone[own], found.adjusted[own], half_width, found.threshold, direction)
        results.append(
            FamilyResult(
                measure=matrix.measure,
                better=matrix.better,
                systems=matrix.systems,
                means=matrix.means,
                n=len(matrix.queries),
                unit=matrix.unit,
                farthest=matrix.farthest,
                baseline=None if family.baseline is None else plan.baseline,
                first=family.first[:pairs],
                second=family.second[:pairs],
                difference=means[own],
                p=part.alone,
                adjusted=part.adjusted,
                half_width=part.half_width,
                threshold=part.threshold,
                test=test.name,
                correction=plan.pair_correction.name,
                tests=means.size,
                alpha=plan.alpha,
                draws=flips.count if plan.by_flips else None,
                is_enumerated=plan.by_flips and flips.enumerated,
                seed=plan.seed,
                notes=tuple(_notes(plan, family, family.pairs[own], part, means[own])),
                direction=part.direction,
                margin=plan.margin,
            )
        )
    return results


def _by_flips(family: _Family, flips: Flips, plan: SystemsPlan, progress: Progress | None) -> _Ps:
    few = [i for i, pair in enumerate(family.pairs) if pair.nonzero <= MOST_ENUMERATED]
    tests, correction = len(family.pairs), plan.pair_correction
    needed = math.ceil(round(_FOR_EACH * tests / plan.alpha, 6))
    if len(few) < tests and correction.multiplies and flips.draws < needed:
        raise UsageError(
            f"correction {correction.name}: {flips.draws:,} sign flips are too few for {tests:,} tests: p cannot be "
            f"below {1 / (flips.draws + 1):.2g}",
            f"use at least {needed:,} sign flips, the correction maxt, which has no such limit, or the test t",
        )
    spreads = family.roots([math.fsum((pair.differences**2).tolist()) for pair in family.pairs])
    flipped = FlippedPairs.of(family.scores, family.first, family.second, spreads, flips, plan.threads)
    extreme, among = flipped.step_down(progress)
    alone = flips.p(extreme)
    for i in few:
        count, of = exact_extremes(family.pairs[i].differences, family.pairs[i].error)
        alone[i] = count / of
    # With too few queries p never reaches alpha, and intervals are unbounded.
    can_reach = 2.0 ** (1 - flips.queries) < plan.alpha
    reach = _half_widths(family, flips, plan) if can_reach else np.full(tests, math.inf)
    if correction.steps:
        return _Ps(alone, corrected(alone, correction.name), reach)
    adjusted = flipped.adjusted(among, alone)
    if not can_reach:
        return _Ps(alone, adjusted, reach, None if family.is_across_measures else math.inf)
    is_significant, apart = adjusted < plan.alpha, np.abs([pair.mean for pair in family.pairs])
    # The smallest significant difference, from the pairs that the last step compared. Intervals of the other pairs must
    # be at least this wide, so that they never contradict p.
    left = np.flatnonzero(~is_significant)
    critical = flipped.critical(left if left.size else np.array([np.argmin(flipped.observed)]), plan.alpha)
    if family.is_across_measures:
        least = np.where(is_significant, 0.0, np.maximum(critical * spreads, apart))
        return _Ps(alone, adjusted, np.maximum(reach, least))
    scale = float(np.max(np.abs(family.scores), initial=0.0))
    smallest = least_significant(critical, apart, is_significant, scale)
    # Differences above the threshold of the first step are significant whatever the other systems are. Later steps have
    # smaller thresholds, which depend on the pairs left, down to near-duplicates, and do not apply to other pairs.
    first = widest(family.scores, flips, family.baseline, plan.alpha, plan.threads)
    threshold = least_significant(first, apart, (apart > first) & is_significant, scale)
    return _Ps(alone, adjusted, np.maximum(reach, smallest), threshold)


def _half_widths(family: _Family, flips: Flips, plan: SystemsPlan) -> Floats:
    """Return half-widths of simultaneous intervals from flips of centred scores; per measure, scaled by its spread."""
    centred = family.scores - np.concatenate([matrix.means for matrix in family.matrices])
    if not family.is_across_measures:
        return np.full(len(family.pairs), widest(centred, flips, family.baseline, plan.alpha, plan.threads))
    spreads = family.roots([(pair.sd or 0.0) ** 2 * max(0, pair.n - 1) for pair in family.pairs])
    flipped = FlippedPairs.of(centred, family.first, family.second, spreads, flips, plan.threads)
    return np.asarray(flipped.critical(np.arange(spreads.size), plan.alpha) * spreads)


def _notes(plan: SystemsPlan, family: _Family, pairs: Sequence[PairedScores], found: _Ps, means: Floats) -> list[str]:
    queries, unit = len(family.scores), family.matrices[0].unit
    test, correction = plan.pair_test, plan.pair_correction
    notes = [f"{correction.name}: {correction.promise}"] if correction.promise else []
    if family.is_across_measures and not correction.steps:
        notes.append(
            f"one family of {count_of(len(family.matrices), 'measure')}: differences are divided by one number per "
            "measure, the root mean square of its differences, before they are compared"
        )
    if test.of != "mean":
        notes.append(f"null hypothesis: {test.hypothesis}")
    if test.is_of_ranks and queries >= FROM_RANKED:
        notes.append(rank_warning(units(queries, unit)))
    if queries > MOST_FLIPPED and plan.margin is None:
        notes.append(
            f"with {units(queries, unit)} tiny differences are significant: read the intervals, and set a margin"
        )
    constant = sum(pair.is_constant for pair in pairs) if test.needs_spread else 0
    if constant:
        which = f"{count_of(constant, 'pair')} {'has' if constant == 1 else 'have'} the same difference on every {unit}"
        notes.append(f"{which}: {test.name} has no spread to use, so p is from all random sign flips")
    # The intervals come from sign flips, which corrections other than maxT do not use.
    half_width = found.half_width if correction.steps else None
    if half_width is not None and ((np.abs(means) > half_width) & (found.adjusted >= plan.alpha)).any():
        notes.append(
            f"{OF_INTERVALS} do not use {correction.name}: one excludes 0 although p (adjusted) is not significant"
        )
    return notes


@dataclass(frozen=True, eq=False)
class FlippedPairs:
    """Differences of pairs under sign flips, each divided by a scale: the step-down maxT procedure.

    Each flip changes the signs of all pairs together, which preserves their dependence. Pairs differ if their
    difference exceeds the largest one expected by chance in the family (Westfall & Young 1993).
    """

    steps: Floats  # columns of scores as whole numbers, once per unit
    units: Floats
    first: Ints  # columns in ``steps`` of each pair
    second: Ints
    weights: Floats
    observed: Floats  # absolute scaled sum of differences of each pair
    slack: Floats  # largest rounding error of ``observed``
    levels: Sequence[Ints]  # pairs by ascending ``observed``; sums that are equal up to rounding are one level
    flips: Flips
    threads: int | None

    @classmethod
    def of(
        cls, scores: Floats, first: Ints, second: Ints, spreads: Floats, flips: Flips, threads: int | None
    ) -> FlippedPairs:
        """Put the scores on grids; a pair's grid depends on its own two columns, so its unadjusted p does too."""
        exponents = np.array([exponent(column) for column in scores.T], np.int64)
        scales = distinct(exponents.astype(np.float64)).astype(np.int64)
        # Larger columns are left out: no pair on this grid contains them.
        grids = [on_flip_grid(np.where(exponents <= scale, scores, 0.0), scale) for scale in scales.tolist()]
        steps = np.concatenate([grid.steps for grid in grids], axis=1)
        units = np.repeat([grid.unit for grid in grids], scores.shape[1])
        scale_of = np.searchsorted(scales, np.maximum(exponents[first], exponents[second]))
        first, second = (each + scale_of * scores.shape[1] for each in (first, second))
        weights = np.divide(1.0, spreads, out=np.zeros(spreads.size), where=spreads > 0)
        whole = steps.sum(axis=0) * units
        observed = np.abs(whole[first] - whole[second]) * weights
        slack = np.array([grid.slack * grid.unit for grid in grids])[scale_of] * weights
        order = np.lexsort((slack, observed))
        is_new = np.diff(observed[order]) > np.maximum(slack[order[1:]], slack[order[:-1]])
        levels = np.split(order, np.flatnonzero(is_new) + 1)
        return cls(steps, units, first, second, weights, observed, slack, levels, flips, threads)

    def _counted(self, pairs: Ints, edges: Floats, reaches: Floats) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield :func:`core.count_extremes` of some pairs, in batches of flips."""
        unit = self.units[:, np.newaxis]
        whole = self.steps.sum(axis=0)[:, np.newaxis] * unit
        pair = self.first[pairs], self.second[pairs], self.weights[pairs]
        for piece in self.flips.sums(self.steps, self.threads):
            sums = piece.T
            sums *= -2 * unit
            sums += whole
            yield core.count_extremes(sums, *pair, edges, reaches, core.thread_count(self.threads))

    def step_down(self, progress: Progress | None) -> tuple[Ints, Ints]:
        """Count, for each pair, the flips as extreme as the pair itself, and as extreme among it and all smaller pairs.

        The first count gives unadjusted p, the second adjusted p.
        """
        order = np.concatenate(self.levels)
        sizes = np.array([level.size for level in self.levels])
        edges = (self.observed - self.slack)[order]
        # The last pair of a level uses the smallest threshold of the level; earlier ones are not counted.
        last = np.cumsum(sizes) - 1
        reaches = np.full(order.size, math.inf)
        reaches[last] = np.minimum.reduceat(edges, last - sizes + 1)
        counted = np.zeros((2, order.size), np.int64)
        for alone, among, largest in self._counted(order, edges, reaches):
            counted += alone, among
            if progress is not None:
                progress.advance(largest.size)
        found = np.empty_like(counted)
        found[:, order] = counted[0], np.repeat(counted[1][last], sizes)
        return found[0], found[1]

    def adjusted(self, among: Ints, alone: Floats) -> Floats:
        """Return step-down p: the running maximum from the largest difference down.

        Exact unadjusted p may differ slightly from p of random flips; adjusted p is at least the unadjusted one.
        """
        raw = np.maximum(self.flips.p(among), alone)
        found, so_far = np.empty(raw.size), 0.0
        for level in reversed(self.levels):
            so_far = max(so_far, float(raw[level].max()))
            found[level] = so_far
        return found

    def critical(self, pairs: Ints, alpha: float) -> float:
        """Return the (scaled) mean difference that the largest of some pairs exceeds in a share alpha of flips."""
        nothing = np.full(pairs.size, math.inf)
        found = [largest for _, _, largest in self._counted(pairs, nothing, nothing)]
        return largest_at(np.concatenate(found), self.flips.least_extreme(alpha)) / self.flips.queries


def widest(scores: Floats, flips: Flips, baseline: int | None, alpha: float, threads: int | None = None) -> float:
    """Return the largest difference between means expected by chance, for all pairs or with a baseline.

    It is exceeded in a share alpha of flips. For centred
    scores this is the half-width of simultaneous intervals.
    """
    columns = on_flip_grid(scores)
    whole = columns.steps.sum(axis=0)
    found = []
    for piece in flips.sums(columns.steps, threads):
        sums = whole - 2 * piece
        if baseline is None:
            found.append(sums.max(axis=1) - sums.min(axis=1))
        else:
            found.append(np.abs(sums - sums[:, [baseline]]).max(axis=1))
    return largest_at(np.concatenate(found), flips.least_extreme(alpha)) * columns.unit / flips.queries


_SHOWN = 5


class PairRecord(NamedTuple):
    """All numbers for two systems; None if the procedure does not give them."""

    system: str
    other: str
    difference: float  # the system's mean minus the other's
    low: float | None
    high: float | None
    p: float  # unadjusted
    adjusted_p: float
    monte_carlo_error: float | None  # standard error due to the random seed
    rank_difference: float | None
    conover_p: float | None
    conover_holm_p: float | None
    q: float | None  # Tukey's statistic
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    adjusted_p_error: float | None  # the same for ``adjusted_p``
    statistic: float | None  # the statistic of a test that is not based on means
    wins: int
    ties: int
    losses: int
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class SystemsResult:
    """The result of a procedure for several systems and one measure."""

    scores: SystemScores
    procedure: str
    #: The deciding p: ``p`` are unadjusted (randomisation), ``adjusted`` are the procedure's. For Friedman's test
    #: ``means`` are mean ranks, and Nemenyi's test decides.
    family: FamilyResult
    anova: TwoWayAnova | None = None
    tukey: TukeyTest | None = None
    randomised: RandomisedTukeyTest | None = None
    friedman: Friedman | None = None
    conover: PairComparisons | None = None
    identical: tuple[tuple[str, ...], ...] = ()  # groups of systems with the same score on every query
    warnings: tuple[str, ...] = ()  # cautions for the reader of the numbers

    @property
    def depends_on_pool(self) -> bool:
        return PROCEDURES[self.procedure].is_of_the_pool

    @property
    def deciding(self) -> str:
        found = CORRECTIONS.get(self.family.correction)
        return found.title if found else PROCEDURES[self.procedure].deciding

    @property
    def tested(self) -> str:
        by = () if self.depends_on_pool else (TESTS[self.family.test].noun.removeprefix("the "),)
        return ", ".join((*by, self.deciding, percent_text(self.family.alpha)))

    @property
    def has_conover(self) -> bool:
        """Whether Conover's comparisons may be shown: only if Friedman's test itself is significant."""
        return self.friedman is not None and self.friedman.p < self.family.alpha

    @property
    def least_p(self) -> float | None:
        """A bound on the smallest adjusted p that resampling can give; None if p are exact or multiplied."""
        if self.randomised is not None:
            return 1 / self.randomised.draws
        is_multiplied = self.depends_on_pool or CORRECTIONS[self.family.correction].multiplies
        return None if is_multiplied else self.family.least_p

    def record(self, a: str, b: str) -> PairRecord:
        family, pair, scores = self.family, self.family.pair(a, b), self.scores
        place, sign = family.where(a, b)

        def at(values: Floats | None) -> float | None:
            return None if values is None else float(values[place])

        means = scores.means.tolist()
        size = low = high = None
        if self.effects is not None:
            size, *limits = (sign * float(each[place]) for each in self.effects)
            low, high = sorted(limits)
        won = PairedScores.of(scores, a, b)
        above, below = won.above, won.nonzero - won.above
        wins, losses = (above, below) if scores.better == "higher" else (below, above)
        conover = self.conover if self.has_conover else None
        return PairRecord(
            a,
            b,
            pair.difference if self.conover is None else means[scores.place(a)] - means[scores.place(b)],
            pair.low,
            pair.high,
            pair.p,
            pair.adjusted,
            at(family.monte_carlo_error),
            None if self.conover is None else pair.difference,
            at(conover.p) if conover else None,
            at(self.conover_holm) if conover else None,
            at(self.tukey.statistic) if self.tukey else None,
            size,
            low,
            high,
            at(self.randomised.error) if self.randomised else None,
            None if family.direction is None else sign * float(family.direction[place]),
            wins,
            won.n - above - below,
            losses,
            pair.verdict,
        )

    @cached_property
    def conover_holm(self) -> Floats | None:
        return None if self.conover is None else corrected(self.conover.p, "holm")

    @cached_property
    def effects(self) -> tuple[Floats, Floats, Floats] | None:
        """The effect size of each pair, (mean_i - mean_j) / sqrt(V), with its unadjusted limits.

        V is the residual mean square of systems and queries (Sakai). t = effect sqrt(n / 2) is noncentral on the
        residual's degrees of freedom. None without a residual, and for tests that are not based on means.
        """
        family, residual = self.family, two_way(self.scores.values).residual
        if not residual.mean_square or family.direction is not None:
            return None
        means, per_query = self.scores.means, math.sqrt(family.n / 2)
        sizes = (means[family.first] - means[family.second]) / math.sqrt(residual.mean_square)
        low, high = noncentrality_intervals(sizes * per_query, residual.df, family.alpha)
        return sizes, low / per_query, high / per_query

    def bars(self, most: int) -> tuple[tuple[int, int], ...]:
        """Return the longest runs of the leaderboard without a significant difference, as first and last rank."""
        apart = self.apart[:most, :most]
        bars: list[tuple[int, int]] = []
        for first in range(len(apart)):
            last = first
            while last + 1 < len(apart) and not apart[first : last + 1, last + 1].any():
                last += 1
            if last > first and (not bars or last > bars[-1][1]):
                bars.append((first, last))
        return tuple(bars)

    @property
    def is_single_threshold(self) -> bool:
        """Whether one threshold decides all pairs, so that bars over systems can show the result."""
        return self.family.threshold is not None and bool(self.family.rank_intervals)

    @cached_property
    def apart(self) -> Bools:
        """Significantly different pairs, systems x systems, in leaderboard order."""
        family = self.family
        relation = np.zeros((len(family.systems), len(family.systems)), bool)
        relation[family.first, family.second] = relation[family.second, family.first] = family.is_significant
        return relation[np.ix_(family.order, family.order)]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of each system in leaderboard order; see :func:`letters`.

        Empty for more than 12 systems, and with a baseline, because most pairs are then not tested.
        """
        if len(self.family.systems) > MOST_WITH_LETTERS or not self.family.rank_intervals:
            return ()
        return letters(self.apart)


def compare_several(
    matrices: Mapping[str, SystemScores], plan: SystemsPlan, progress: Progress | None = None
) -> dict[str, SystemsResult]:
    """Compare the systems of each measure, as one family per measure or as one family in all.

    In one family, matrices have the same queries and systems.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("RR", {"a": [1, 1, 0.5, 1, 1, 0.5], "b": [0.1] * 6, "c": [0.2] * 6})
    >>> compare_several({"RR": matrix}, SystemsPlan())["RR"].letters
    ('a', 'b', 'c')
    """
    if any(matrix.repeats for matrix in matrices.values()):
        if plan.procedure != "maxt" or plan.test not in (None, "t") or plan.correction == "maxt":
            named = plan.procedure if plan.procedure != "maxt" else plan.test or "maxt"
            raise UsageError(f"{named}: cannot account for noise between several runs of a system; the test t can")
        if plan.margin is not None:
            raise UsageError("margin: cannot be used with several runs of a system; compare two systems at a time")
        plan = replace(plan, test="t")
    families = families_of(list(matrices.values()), plan, progress)
    found = {}
    for (name, matrix), family in zip(matrices.items(), families, strict=True):
        result = PROCEDURES[plan.procedure].find(matrix, family, plan)
        if plan.margin is not None and result.family.half_width is None:
            raise UsageError(
                f"margin: requires simultaneous intervals, which {result.deciding} does not have",
                "use maxt or tukey; --test randomisation has intervals with any correction",
            )
        identical = identical_systems(matrix)
        found[name] = replace(result, identical=identical, warnings=tuple(_warnings(result, plan, identical)))
    return found


def identical_systems(matrix: SystemScores) -> tuple[tuple[str, ...], ...]:
    """Group systems that score every query alike.

    >>> from gainful import ScoreMatrix
    >>> identical_systems(ScoreMatrix.of("RR", {"a": [1, 0.3], "b": [1, 0], "c": [1, 0.1 + 0.2]}))
    (('a', 'c'),)
    """
    groups: dict[bytes, list[str]] = {}
    settled = settle(matrix.values) + 0.0
    for system, column in zip(matrix.systems, settled.T, strict=True):
        groups.setdefault(column.tobytes(), []).append(system)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def by_flips(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Test each pair and correct p: the family as it is."""
    return SystemsResult(matrix, plan.procedure, family)


def by_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Apply Tukey's test to every pair."""
    test = tukey(matrix.values, alpha=plan.alpha)
    decided = _decided(family, test.p, test.critical, "tukey", np.full(test.p.size, test.critical))
    return SystemsResult(matrix, plan.procedure, decided, anova=test.anova, tukey=test)


def by_randomised_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Apply the randomised Tukey test to every pair."""
    randomised = randomised_tukey(
        matrix.values, draws=plan.draws or PERMUTATIONS, seed=plan.seed, alpha=plan.alpha, threads=plan.threads
    )
    decided = _decided(family, randomised.p, randomised.critical, "rthsd")
    return SystemsResult(matrix, plan.procedure, decided, randomised=randomised)


def by_ranks(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Apply Friedman's test, then Nemenyi's and Conover's comparisons of every pair."""
    overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
    by_range = nemenyi(overall, alpha=plan.alpha)
    ranks = overall.mean_ranks
    decided = replace(
        _decided(family, by_range.p, by_range.critical, "nemenyi"),
        means=ranks,
        better="lower",
        difference=np.asarray(ranks[family.first] - ranks[family.second]),
    )
    conovers = conover(overall, alpha=plan.alpha)
    return SystemsResult(matrix, plan.procedure, decided, friedman=overall, conover=conovers)


def by_anova(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Add the analysis of variance to the family."""
    return SystemsResult(matrix, plan.procedure, family, anova=two_way(matrix.values))


def _decided(
    family: FamilyResult, p: Floats, threshold: float, name: str, half_width: Floats | None = None
) -> FamilyResult:
    """Replace the p of a family with those of another procedure, which has the same pairs in the same order."""
    return replace(family, adjusted=p, threshold=threshold, correction=name, half_width=half_width, notes=())


def _warnings(result: SystemsResult, plan: SystemsPlan, identical: Sequence[Sequence[str]]) -> list[str]:
    family, n = result.family, result.family.n
    level = percent_text(plan.alpha)
    found = list(family.notes)
    if result.depends_on_pool:
        found.append(
            f"{family.correction}: p (adjusted) depends on the set of systems compared; p (unadjusted) does not"
        )
    if result.friedman is not None:
        found.append(
            f"null hypothesis of friedman: within a {family.unit} every order of the systems is equally likely "
            "(ranks, not means)"
        )
        if not result.has_conover:
            found.append(f"Friedman's test is not significant at {level}: Conover's comparisons are omitted")
        if n >= FROM_RANKED:
            found.append(rank_warning(units(n, family.unit), "5 systems: 8 to 75% by Nemenyi's"))
    elif family.draws is not None and 2.0 ** (1 - n) >= plan.alpha and not result.depends_on_pool:
        found.append(
            f"with {units(n, family.unit)} random sign flips cannot reach {level}: no difference can be significant"
        )
    draws = result.randomised.draws if result.randomised else family.draws
    if draws is not None and not (family.is_enumerated and not result.randomised) and 1 / (draws + 1) >= plan.alpha:
        found.append(too_few_draws(draws, plan.alpha))
    if result.anova is not None and result.anova.spread is not None and result.anova.spread.is_uneven:
        spread = result.anova.spread
        found.append(
            f"variances differ between pairs of systems: standard deviations of differences from {spread.lowest:.4f} "
            f"to {spread.highest:.4f}, pooled {spread.pooled:.4f}; a pooled variance misjudges some pairs"
        )
    if (
        family.half_width is not None
        and (family.is_significant & (np.abs(family.difference) <= family.half_width)).any()
    ):
        found.append(
            f"{OF_INTERVALS} use a single step, the correction several: an interval may contain 0 although the pair "
            "differs significantly"
        )
    # Above these limits Tukey's test, and Holm on t, have too many false findings (docs/explanation/which-test.md).
    systems = len(family.systems)
    if result.tukey is not None or result.randomised is not None:
        name, measured, is_liberal = result.deciding, "10 or 20 real systems", systems >= 10
    else:
        name, measured = f"{result.deciding} on t", "20 real systems and 25 or 50 queries"
        is_of_t = family.test == "t" and family.correction in ("holm", "hochberg", "bonferroni")
        is_liberal = is_of_t and family.baseline is None and systems >= 15 and n <= 50
    if is_liberal:
        found.append(
            f"with {count_of(systems, 'system')} {name} finds too much: in samples of {measured} without true "
            "differences, 6 to 12% had a false finding at the 5% level; the default, maxt, keeps the level"
        )
    found += _against_means(family)
    if family.correction == "maxt" and plan.family == "each" and 2.0 ** (1 - n) < plan.alpha:
        found += _consistent_only(result)
    for group in identical[:_SHOWN]:
        found.append(
            f"{' = '.join(printable(name, 40) for name in group)}: the same score on every {family.unit}; "
            "p = 1, counted in the family"
        )
    return found


def _consistent_only(result: SystemsResult) -> list[str]:
    """Return a hint about pairs that Holm on t finds and maxT does not, because their differences vary little."""
    family, systems = result.family, len(result.family.systems)
    square = np.ones((systems, systems))
    square[np.triu_indices(systems, 1)] = t_of_all_pairs(result.scores.values).p
    adjusted = corrected(np.minimum(square, square.T)[family.first, family.second], "holm")
    found = np.flatnonzero((adjusted < family.alpha) & ~family.is_significant)
    if not found.size:
        return []
    names, order = [printable(name, 40) for name in family.systems], found[np.argsort(adjusted[found], kind="stable")]
    ends = zip(family.first[order], family.second[order], np.maximum(adjusted[order], 1e-15), strict=True)
    pairs = [f"{names[i]} v {names[j]} (p = {p:.2g})" for i, j, p in ends]
    return [
        f"Holm on t also finds {listed(pairs, most=_SHOWN)}, with differences that vary less than others: t compares a "
        "difference with its own spread, maxt with the largest difference expected by chance in any pair. If small "
        f"consistent gains matter: {option('test', 't')}"
    ]


def _against_means(family: FamilyResult) -> list[str]:
    """Return notes on pairs for which the rank test favours the system whose mean is not better."""
    places = np.flatnonzero(family.is_against_mean).tolist()
    found = []
    for place in places[:_SHOWN]:
        pair = family.pair(family.systems[family.first[place]], family.systems[family.second[place]])
        ahead, behind = (pair.system, pair.other) if pair.tested == "better" else (pair.other, pair.system)
        better, worse = (printable(name, 40) for name in (ahead, behind))
        mean = f"the mean of {worse} is better" if pair.difference else "their means are equal"
        found.append(f"the {family.test} test favours {better} over {worse}, although {mean}")
    if len(places) > _SHOWN:
        found.append(f"and {count_of(len(places) - _SHOWN, 'more pair')} against their means: ranks follow the test")
    if family.rank_intervals and not family.may_be_best:
        found.append("the test finds a cycle of systems that beat each other: no system is best by ranks")
    return found
