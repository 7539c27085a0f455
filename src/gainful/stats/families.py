"""Several systems on the same queries: which pairs differ once all of them are looked at, by which yardstick."""

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
from gainful.stats.paired import (
    FROM_RANKED,
    margin_verdict,
    rank_warning,
    signed_verdict,
    too_few_draws,
)
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
    least_told,
    on_flip_grid,
    settle,
)
from gainful.stats.run_noise import noise_of_means
from gainful.stats.tukey import PERMUTATIONS, RandomisedTukeyTest, TukeyTest, randomised_tukey, tukey


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
        for system in (a, b):
            if system not in self.systems:
                raise UsageError(f"unknown system '{printable(system)}'", nearest(system, self.systems))
        one, other = self.systems.index(a), self.systems.index(b)
        sign = 1 if (one, other) in self._pair_of else -1
        place = self._pair_of.get((one, other) if sign > 0 else (other, one))
        if place is None:
            raise UsageError(f"expected a pair with the baseline '{self.baseline}', found '{a}' and '{b}'")
        return place, sign

    def pair(self, a: str, b: str) -> PairVerdict:
        place, sign = self.where(a, b)
        difference, direction = (sign * float(each[place]) for each in (self.difference, self.directions))
        tested = signed_verdict(bool(self.is_significant[place]), direction, self.better)
        verdict: Verdict = "needs margin" if self.margin is None and self.n > MOST_FLIPPED else tested
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
        """What systems are ordered by: their means, or of a test that does not go by means its statistic, the mean over
        the pairs that a system is in."""
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
    systems = range(len(different))
    cliques = {frozenset(systems)} if systems else set()
    for pair in combinations(systems, 2):
        if different[pair]:
            split = {clique for clique in cliques if clique.issuperset(pair)}
            cliques = (cliques - split) | {clique - {system} for clique in split for system in pair}
            cliques = {clique for clique in cliques if not any(clique < other for other in cliques)}
    ordered = sorted(map(sorted, cliques))
    return tuple("".join(letter(k) for k, clique in enumerate(ordered) if i in clique) for i in systems)


#: Flips as extreme that the smallest p in question has to be counted from.
_FOR_EACH = 10
#: How notes begin that are about intervals.
OF_INTERVALS = "simultaneous intervals"


@dataclass(frozen=True)
class SystemsPlan:
    """How several systems are compared: all pairs, or each with a ``baseline``.

    ``test`` and ``correction`` are what maxt and anova do with every pair: randomisation corrected by maxT, any other
    test by Holm's, unless named. A procedure of the pool has its own, and looks at all pairs against a baseline, too:
    that is what it is; pairs by themselves are then tested by randomisation. ``family="all"`` makes the pairs of all
    measures one family.
    """

    procedure: str = "maxt"
    baseline: str | None = None
    test: str | None = None
    correction: str | None = None
    family: str = "each"
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
                    raise UsageError(
                        f"{name}: has no meaning with the procedure {self.procedure}, which has its own",
                        "the procedure maxt takes a test and a correction",
                    )
            if self.family == "all":
                raise UsageError(
                    f"family: expected each with the procedure {self.procedure}, found all",
                    "only maxt and the corrections look at pairs of several measures together",
                )
        check_margin(self.margin)
        choose(self.test or "randomisation", (test.name for test in TESTS.values() if test.draws != "sample"), "test")
        choose(self.correction or "none", CORRECTIONS, "correction")
        check_alpha(self.alpha)
        if not self.pair_correction.steps and not self.by_flips:
            raise UsageError(
                f"correction {self.correction}: expected the test randomisation, found {self.test}",
                "holm works on any test",
            )

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
        """Whether maxT can share the sign flips of the test: only flips of means are made for all pairs at once."""
        return self.pair_test.draws == "flip" and self.pair_test.of == "mean"


def families_of(
    matrices: Sequence[SystemScores], plan: SystemsPlan, progress: Progress | None = None
) -> list[FamilyResult]:
    """A comparison for each matrix; all their pairs are one family if the plan says so.

    Their differences then have different units, so that maxT divides them by one number a measure: the root of the mean
    square of its pairs' differences. Flips leave that as it is; dividing each pair by its own spread would make those
    that happen to vary little the largest, and find too much with few queries (docs/explanation/which-test.md).

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
    """The columns of all matrices beside each other, and which two make a pair: those of a matrix after another's."""

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
        """For each pair the scale of its measure: the root of its pairs' mean sum of squares; 1 of one alone."""
        if not self.is_across_measures:
            return np.ones(len(squares))
        pairs = len(squares) // len(self.matrices)
        parts = [squares[i : i + pairs] for i in range(0, len(squares), pairs)]
        return np.repeat([math.sqrt(math.fsum(part) / pairs) for part in parts], pairs)


class _Ps(NamedTuple):
    """p of each pair, alone and adjusted, and what follows from flips only."""

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
        # A constant difference, which some tests refuse, must not end a comparison of many systems: its p is that of
        # all random sign flips, of which only those of none and of all are as extreme.
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
            f"correction {correction.name}: expected at least {needed:,} draws for {tests:,} tests, found "
            f"{flips.draws:,}, which cannot show a p below {1 / (flips.draws + 1):.2g}",
            f"ask for {needed:,} draws, take the correction maxt, which has no such limit, or the test t",
        )
    spreads = family.roots([math.fsum((pair.differences**2).tolist()) for pair in family.pairs])
    flipped = FlippedPairs.of(family.scores, family.first, family.second, spreads, flips, plan.threads)
    extreme, among = flipped.step_down(progress)
    alone = flips.p(extreme)
    for i in few:
        count, of = exact_extremes(family.pairs[i].differences, family.pairs[i].error)
        alone[i] = count / of
    # Flips of so few queries are never rare enough: then nothing limits a difference.
    can_reach = 2.0 ** (1 - flips.queries) < plan.alpha
    reach = _half_widths(family, flips, plan) if can_reach else np.full(tests, math.inf)
    if correction.steps:
        return _Ps(alone, corrected(alone, correction.name), reach)
    adjusted = flipped.adjusted(among, alone)
    if not can_reach:
        return _Ps(alone, adjusted, reach, None if family.is_across_measures else math.inf)
    is_told, apart = adjusted < plan.alpha, np.abs([pair.mean for pair in family.pairs])
    # The mean difference from which on a pair is significantly different: by the pairs that are not, as the last step
    # compares it. What is smaller is not; so no interval may be narrower, or it would say that it is.
    left = np.flatnonzero(~is_told)
    critical = flipped.critical(left if left.size else np.array([np.argmin(flipped.observed)]), plan.alpha)
    if family.is_across_measures:
        least = np.where(is_told, 0.0, np.maximum(critical * spreads, apart))
        return _Ps(alone, adjusted, np.maximum(reach, least))
    scale = float(np.max(np.abs(family.scores), initial=0.0))
    told_from = least_told(critical, apart, is_told, scale)
    # The difference above which a pair is significantly different by the first step, whatever the others are. Later
    # steps look at fewer pairs and may find smaller ones, down to near-duplicates: that says nothing of other pairs.
    first = widest(family.scores, flips, family.baseline, plan.alpha, plan.threads)
    threshold = least_told(first, apart, (apart > first) & is_told, scale)
    return _Ps(alone, adjusted, np.maximum(reach, told_from), threshold)


def _half_widths(family: _Family, flips: Flips, plan: SystemsPlan) -> Floats:
    """Of simultaneous intervals: from flips of centred scores; across measures in proportion to their spreads."""
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
            f"one family of {count_of(len(family.matrices), 'measure')}: differences are compared after dividing them "
            "by one number a measure, the root mean square of its differences"
        )
    if test.of != "mean":
        notes.append(f"the test is of this: {test.hypothesis}")
    if test.is_of_ranks and queries >= FROM_RANKED:
        notes.append(rank_warning(units(queries, unit)))
    if queries > MOST_FLIPPED and plan.margin is None:
        notes.append(
            f"with {units(queries, unit)} tiny differences are significant: read the intervals, and give a margin"
        )
    constant = sum(pair.is_constant for pair in pairs) if test.needs_spread else 0
    if constant:
        which = f"{count_of(constant, 'pair')} {'has' if constant == 1 else 'have'} the same difference on every {unit}"
        notes.append(f"{which}: {test.name} has no spread to go by, and p is that of all random sign flips")
    # Intervals are those of flips; corrections other than maxT know nothing of them.
    half_width = found.half_width if correction.steps else None
    if half_width is not None and ((np.abs(means) > half_width) & (found.adjusted >= plan.alpha)).any():
        notes.append(
            f"{OF_INTERVALS} are not of {correction.name}: one excludes 0 where the pair is not significantly different"
        )
    return notes


@dataclass(frozen=True, eq=False)
class FlippedPairs:
    """Pairs of columns of scores under flips, each difference divided by a spread: the step-down maxT procedure.

    Flipping signs moves all pairs together, as they really hang together. The largest of the flipped differences says
    how large one gets by chance in a family; pairs that are larger than that differ (Westfall & Young 1993).

    ``steps`` are the columns on the grid of each scale, ``first`` and ``second`` those of each pair, ``observed`` its
    summed differences, ``slack`` what rounding can do to these, ``levels`` the pairs from the smallest sum up: those
    with the same sum, but for rounding, are one step.
    """

    steps: Floats
    units: Floats
    first: Ints
    second: Ints
    weights: Floats
    observed: Floats
    slack: Floats
    levels: Sequence[Ints]
    flips: Flips
    threads: int | None

    @classmethod
    def of(
        cls, scores: Floats, first: Ints, second: Ints, spreads: Floats, flips: Flips, threads: int | None
    ) -> FlippedPairs:
        """A pair's grid depends on its own two columns, so that nothing said of it alone depends on the others."""
        exponents = np.array([exponent(column) for column in scores.T], np.int64)
        scales = distinct(exponents.astype(np.float64)).astype(np.int64)
        # Larger columns take no part at a scale: no pair of this scale has them.
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
        """:func:`core.count_extremes` of some pairs, one after the other, for some draws at a time."""
        unit = self.units[:, np.newaxis]
        whole = self.steps.sum(axis=0)[:, np.newaxis] * unit
        pair = self.first[pairs], self.second[pairs], self.weights[pairs]
        for piece in self.flips.sums(self.steps, self.threads):
            sums = piece.T
            sums *= -2 * unit
            sums += whole
            yield core.count_extremes(sums, *pair, edges, reaches, core.thread_count(self.threads))

    def step_down(self, progress: Progress | None) -> tuple[Ints, Ints]:
        """For each pair: how many draws are as extreme as the pair by itself; and how many have, among this pair and
        all whose difference is no larger, one as large as this pair's."""
        order = np.concatenate(self.levels)
        sizes = np.array([level.size for level in self.levels])
        edges = (self.observed - self.slack)[order]
        # What a step's last pair has to reach is what all of the step have to; before it, nothing is asked.
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
        """p of the step-down procedure: the running maximum from the largest difference down.

        ``alone`` are p of pairs by themselves. Exact ones and those from draws may differ by a hair; what is adjusted
        is never below what it was, nor below that of a larger difference.
        """
        raw = np.maximum(self.flips.p(among), alone)
        found, so_far = np.empty(raw.size), 0.0
        for level in reversed(self.levels):
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
    columns = on_flip_grid(scores)
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


_SHOWN = 5


class PairRecord(NamedTuple):
    """All numbers of two systems; None where the procedure has no such number.

    ``difference`` is of means, the system's minus the other's; ``p`` is of the pair alone; the errors are what other
    seeds would change; ``q`` is Tukey's, ``statistic`` that of a test that does not go by means.
    """

    system: str
    other: str
    difference: float
    low: float | None
    high: float | None
    p: float
    adjusted_p: float
    monte_carlo_error: float | None
    rank_difference: float | None
    conover_p: float | None
    conover_holm_p: float | None
    q: float | None
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    adjusted_p_error: float | None
    statistic: float | None
    wins: int
    ties: int
    losses: int
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class SystemsResult:
    """What a procedure found of several systems by one measure.

    ``family`` is what decides: its ``p`` are those of pairs alone (randomisation), its ``adjusted`` those of the
    procedure; of Friedman's, its ``means`` are mean ranks, and Nemenyi decides. ``identical`` are systems with the same
    score on every query. ``warnings`` is what to know before trusting the numbers.
    """

    scores: SystemScores
    procedure: str
    family: FamilyResult
    anova: TwoWayAnova | None = None
    tukey: TukeyTest | None = None
    randomised: RandomisedTukeyTest | None = None
    friedman: Friedman | None = None
    conover: PairComparisons | None = None
    identical: tuple[tuple[str, ...], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def depends_on_pool(self) -> bool:
        return PROCEDURES[self.procedure].is_of_the_pool

    @property
    def deciding(self) -> str:
        found = CORRECTIONS.get(self.family.correction)
        return found.title if found else PROCEDURES[self.procedure].said

    @property
    def tested(self) -> str:
        by = () if self.depends_on_pool else (TESTS[self.family.test].said.removeprefix("the "),)
        return ", ".join((*by, self.deciding, percent_text(self.family.alpha)))

    @property
    def has_conover(self) -> bool:
        """Whether Conover's comparisons may be looked at: only where Friedman's test itself is significant."""
        return self.friedman is not None and self.friedman.p < self.family.alpha

    @property
    def least_p(self) -> float | None:
        """What the least adjusted p that draws can give is below; None where p are exact, or multiplied."""
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
        """For each pair (mean_i - mean_j) / sqrt(V), V the residual mean square of systems and queries (Sakai), and the
        limits of what it estimates, each pair by itself; None where nothing is left over, and of tests that
        do not go by means.

        t = effect sqrt(n / 2) is noncentral on the residual's degrees of freedom, and its limits are those of t divided
        by sqrt(n / 2).
        """
        family, residual = self.family, two_way(self.scores.values).residual
        if not residual.mean_square or family.direction is not None:
            return None
        means, per_query = self.scores.means, math.sqrt(family.n / 2)
        sizes = (means[family.first] - means[family.second]) / math.sqrt(residual.mean_square)
        low, high = noncentrality_intervals(sizes * per_query, residual.df, family.alpha)
        return sizes, low / per_query, high / per_query

    def bars(self, most: int) -> tuple[tuple[int, int], ...]:
        """The longest stretches of the leaderboard without a significant difference, from first to last place."""
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
        """Whether one number decides: systems further apart than this differ, so that bars over systems are legal."""
        return self.family.threshold is not None and bool(self.family.rank_intervals)

    @cached_property
    def apart(self) -> Bools:
        """Systems x systems, in the order of the leaderboard: which are significantly different."""
        family = self.family
        relation = np.zeros((len(family.systems), len(family.systems)), bool)
        relation[family.first, family.second] = relation[family.second, family.first] = family.is_significant
        return relation[np.ix_(family.order, family.order)]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of each system in the order of the leaderboard: two share one just if they are not significantly
        different. Empty with more than 12 systems, and against a baseline, where most pairs are not looked at."""
        if len(self.family.systems) > MOST_WITH_LETTERS or not self.family.rank_intervals:
            return ()
        return letters(self.apart)


def compare_several(
    matrices: Mapping[str, SystemScores], plan: SystemsPlan, progress: Progress | None = None
) -> dict[str, SystemsResult]:
    """Compares the systems of each measure; families are those of a measure, unless the plan makes all one family:
    matrices then have the same queries and systems.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("RR", {"a": [1, 1, 0.5, 1, 1, 0.5], "b": [0.1] * 6, "c": [0.2] * 6})
    >>> compare_several({"RR": matrix}, SystemsPlan())["RR"].letters
    ('a', 'b', 'c')
    """
    if any(matrix.repeats for matrix in matrices.values()):
        if plan.procedure != "maxt" or plan.test not in (None, "t") or plan.correction == "maxt":
            named = plan.procedure if plan.procedure != "maxt" else plan.test or "maxt"
            raise UsageError(f"{named}: knows nothing of noise between several runs of a system; the test t does")
        if plan.margin is not None:
            raise UsageError("margin: needs one run of each system, or two systems at a time")
        plan = replace(plan, test="t")
    families = families_of(list(matrices.values()), plan, progress)
    found = {}
    for (name, matrix), family in zip(matrices.items(), families, strict=True):
        result = PROCEDURES[plan.procedure].find(matrix, family, plan)
        if plan.margin is not None and result.family.half_width is None:
            raise UsageError(
                f"margin: expected a procedure with simultaneous intervals, found {result.deciding}",
                "these are maxt and tukey; --test randomisation has them with any correction",
            )
        identical = identical_systems(matrix)
        found[name] = replace(result, identical=identical, warnings=tuple(_warnings(result, plan, identical)))
    return found


def identical_systems(matrix: SystemScores) -> tuple[tuple[str, ...], ...]:
    """Systems that score every query alike, in groups of at least two.

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
    """Pairs by a test, corrected: the family as it is."""
    return SystemsResult(matrix, plan.procedure, family)


def by_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Tukey's p and interval of every pair."""
    test = tukey(matrix.values, alpha=plan.alpha)
    decided = _decided(family, test.p, test.critical, "tukey", np.full(test.p.size, test.critical))
    return SystemsResult(matrix, plan.procedure, decided, anova=test.anova, tukey=test)


def by_randomised_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Randomised Tukey's p of every pair."""
    randomised = randomised_tukey(
        matrix.values, draws=plan.draws or PERMUTATIONS, seed=plan.seed, alpha=plan.alpha, threads=plan.threads
    )
    decided = _decided(family, randomised.p, randomised.critical, "rthsd")
    return SystemsResult(matrix, plan.procedure, decided, randomised=randomised)


def by_ranks(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Nemenyi's p of every pair after Friedman's test, Conover's beside."""
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
    """The analysis of variance, and pairs by a test, corrected."""
    return SystemsResult(matrix, plan.procedure, family, anova=two_way(matrix.values))


def _decided(
    family: FamilyResult, p: Floats, threshold: float, name: str, half_width: Floats | None = None
) -> FamilyResult:
    """The family with the p of another procedure; pairs are the same, in the same order."""
    return replace(family, adjusted=p, threshold=threshold, correction=name, half_width=half_width, notes=())


def _warnings(result: SystemsResult, plan: SystemsPlan, identical: Sequence[Sequence[str]]) -> list[str]:
    family, n = result.family, result.family.n
    level = percent_text(plan.alpha)
    found = list(family.notes)
    if result.depends_on_pool:
        found.append(
            f"{family.correction}: p depends on the systems compared, and would be another one beside others; "
            "the p of a pair alone stands beside it"
        )
    if result.friedman is not None:
        found.append(
            f"friedman is of this: within a {family.unit} every order of the systems is as likely as any other "
            "(their ranks, not their means)"
        )
        if not result.has_conover:
            found.append(f"Friedman's test is not significant at {level}: Conover's comparisons are not made")
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
            f"pairs of systems vary unevenly: standard deviations of differences from {spread.lowest:.4f} to "
            f"{spread.highest:.4f}, pooled {spread.pooled:.4f}; one yardstick for all misjudges some"
        )
    if (
        family.half_width is not None
        and (family.is_significant & (np.abs(family.difference) <= family.half_width)).any()
    ):
        found.append(
            f"{OF_INTERVALS} are of one step, the correction of several: an interval may hold 0 where the pair "
            "is significantly different"
        )
    # From so many systems on Tukey's yardstick, and up to so many queries Holm on t, finds too much (which-test.md).
    systems = len(family.systems)
    if result.tukey is not None or result.randomised is not None:
        name, measured, is_liberal = result.deciding, "10 or 20 real systems", systems >= 10
    else:
        name, measured = f"{result.deciding} on t", "20 real systems and 25 or 50 queries"
        is_of_t = family.test == "t" and family.correction in ("holm", "hochberg", "bonferroni")
        is_liberal = is_of_t and family.baseline is None and systems >= 15 and n <= 50
    if is_liberal:
        found.append(
            f"with {count_of(systems, 'system')} {name} finds more than it should: of samples of {measured}, made "
            "equal, 6 to 12% had a false finding at the 5% level; the default, maxt, holds the level"
        )
    found += _against_means(family)
    if family.correction == "maxt" and plan.family == "each" and 2.0 ** (1 - n) < plan.alpha:
        found += _consistent_only(result)
    for group in identical[:_SHOWN]:
        found.append(
            f"{' = '.join(printable(name, 40) for name in group)}: the same score on every {family.unit}; "
            "p = 1, and counted in the family"
        )
    return found


def _consistent_only(result: SystemsResult) -> list[str]:
    """Pairs that Holm on t finds and maxT does not: maxT goes by differences as they are, t by the spread of each."""
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
        f"Holm on t also finds {listed(pairs, most=_SHOWN)}, whose differences vary less from {family.unit} to "
        f"{family.unit} than others: t judges a difference by its own spread, maxt by the largest that chance makes of "
        f"any pair. If small consistent gains matter: {option('test', 't')}"
    ]


def _against_means(family: FamilyResult) -> list[str]:
    """Pairs of which the rank test finds the one better whose mean is the worse, or no better."""
    places = np.flatnonzero(family.is_against_mean).tolist()
    found = []
    for place in places[:_SHOWN]:
        pair = family.pair(family.systems[family.first[place]], family.systems[family.second[place]])
        ahead, behind = (pair.system, pair.other) if pair.tested == "better" else (pair.other, pair.system)
        better, worse = (printable(name, 40) for name in (ahead, behind))
        mean = f"the mean of {worse} is better" if pair.difference else "their means are equal"
        found.append(f"by the {family.test} test {better} beats {worse}, although {mean}")
    if len(places) > _SHOWN:
        found.append(f"and {count_of(len(places) - _SHOWN, 'pair')} more against their means: places go by the test")
    if family.rank_intervals and not family.may_be_best:
        found.append("the test has systems beat each other in a circle: by ranks there is no best one")
    return found
