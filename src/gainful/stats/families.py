"""Corrections of p for the number of tests in a family.

Several systems on the same queries: which pairs differ once all of them are looked at, and who may be the best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix, aligned
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.parallel import Progress
from gainful.notation import choose
from gainful.stats.corrections import CORRECTIONS, corrected, refuse_coarse
from gainful.stats.effects import HYPOTHESES, MOST_FLIPPED, PairedScores
from gainful.stats.flips import MOST_ENUMERATED, Flips, exact_extremes
from gainful.stats.groups import FamilyResult
from gainful.stats.max_t import FlippedPairs, widest
from gainful.stats.noncentral import check_alpha
from gainful.stats.paired import MOST_RANKED
from gainful.stats.settled import least_told

#: Tests that go by ranks, and not by means; all that there are.
RANK_TESTS = ("wilcoxon", "sign")
TESTS = ("randomisation", "t", *RANK_TESTS)

_FLIPS = 10_000


def compare_family(
    scores: ScoreMatrix,
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str = "maxt",
    alpha: float = 0.05,
    draws: int = _FLIPS,
    seed: int = 0,
    progress: Progress | None = None,
) -> FamilyResult:
    """Compares all pairs of systems, or each with a baseline, and corrects p for their number.

    ``maxt`` is the step-down procedure over the very flips that give each pair its p; ``holm``, ``bonferroni``, ``bh``,
    ``by`` and ``none`` work on the p of any test: ``randomisation``, ``t``, ``wilcoxon``, ``sign``.

    >>> matrix = ScoreMatrix.of("P@10", {"a": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "b": [0.1, 0.2, 0.1, 0.3, 0.2, 0.2],
    ...                                  "c": [0.1, 0.3, 0.1, 0.2, 0.2, 0.1]})
    >>> found = compare_family(matrix)
    >>> found.pair("a", "b").adjusted, found.rank_intervals[0], found.may_be_best
    (0.03125, RankInterval(best=1, worst=1), ('a',))
    """
    [found] = _compared([scores], _Plan(baseline, test, correction, alpha, draws, seed, progress))
    return found


def compare_measures(
    matrices: Mapping[str, ScoreMatrix],
    *,
    family: str = "each",
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str = "maxt",
    alpha: float = 0.05,
    draws: int = _FLIPS,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, FamilyResult]:
    """A comparison for each measure, on the queries and systems that all have; the first measure is the primary one.

    ``family="each"`` corrects for the pairs of a measure, ``"all"`` for those of all measures together; their
    differences then have different units, so that maxT divides each by its spread.
    """
    choose(family, ("each", "all"), "family")
    on_same = aligned(list(matrices.values()))
    plan = _Plan(baseline, test, correction, alpha, draws, seed, progress)
    groups = [on_same] if family == "all" else [[matrix] for matrix in on_same]
    results = [result for group in groups for result in _compared(group, plan)]
    return dict(zip(matrices, results, strict=True))


@dataclass(frozen=True)
class _Plan:
    """What to do with every pair."""

    baseline: str | None
    test: str
    correction: str
    alpha: float
    draws: int
    seed: int
    progress: Progress | None

    def __post_init__(self) -> None:
        choose(self.test, TESTS, "test")
        choose(self.correction, ("maxt", *CORRECTIONS), "correction")
        check_alpha(self.alpha)
        if self.correction == "maxt" and not self.by_flips:
            raise UsageError(
                f"correction maxt: expected the test randomisation, found {self.test}", "holm works on any test"
            )

    @property
    def by_flips(self) -> bool:
        return self.test == "randomisation"


class _Family(NamedTuple):
    """The columns of all matrices beside each other, and which two make a pair: those of a matrix after another's."""

    matrices: Sequence[ScoreMatrix]
    scores: Floats
    first: Ints
    second: Ints
    pairs: tuple[PairedScores, ...]

    @classmethod
    def of(cls, matrices: Sequence[ScoreMatrix], baseline: str | None) -> _Family:
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


class _Ps(NamedTuple):
    """p of each pair, alone and adjusted, and what follows from flips only."""

    alone: Floats
    adjusted: Floats
    half_width: Floats | None = None
    threshold: float | None = None


def _compared(matrices: Sequence[ScoreMatrix], plan: _Plan) -> list[FamilyResult]:
    """One result a matrix; all pairs of all matrices are one family."""
    family = _Family.of(matrices, plan.baseline)
    flips = Flips(len(matrices[0].queries), plan.draws, plan.seed)
    direction: Floats | None = None
    if plan.by_flips:
        found = _by_flips(family, flips, plan)
    else:
        outcomes = [pair.outcome(plan.test) for pair in family.pairs]
        alone = np.array([outcome.p for outcome in outcomes])
        found = _Ps(alone, corrected(alone, plan.correction))
        if plan.test in RANK_TESTS:
            # The side that a rank test is on need not be that of the mean.
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
                notes=(*_notes(plan, len(matrix.queries)), *_note_of_intervals(plan, found, means, own)),
                direction=None if direction is None else direction[own],
            )
        )
    return results


def _by_flips(family: _Family, flips: Flips, plan: _Plan) -> _Ps:
    few = [i for i, pair in enumerate(family.pairs) if pair.nonzero <= MOST_ENUMERATED]
    if len(few) < len(family.pairs):
        refuse_coarse(plan.correction, len(family.pairs), plan.draws, plan.alpha)
    weights = _inverse_roots(family.pairs) if family.is_across_measures else None
    flipped = FlippedPairs(family.scores, family.first, family.second, flips, weights, plan.progress)
    extreme, among = flipped.step_down()
    alone = flips.p(extreme)
    for i in few:
        count, of = exact_extremes(family.pairs[i].differences, family.pairs[i].error)
        alone[i] = count / of
    reach = _half_widths(family, flips, plan)
    if plan.correction != "maxt":
        return _Ps(alone, corrected(alone, plan.correction), reach)
    adjusted = flipped.adjusted(among, alone)
    thresholds = _thresholds(family, flipped, adjusted, plan.alpha)
    # Below the threshold nothing is told apart; so no interval may be narrower, or it would say that something is.
    threshold = None if family.is_across_measures else float(thresholds[0])
    return _Ps(alone, adjusted, np.maximum(reach, thresholds), threshold)


def _inverse_roots(pairs: Sequence[PairedScores]) -> Floats:
    """1 / sqrt(sum of squares) of each pair's differences; 0 where all are 0.

    Flips do not change the sum of squares, so that t is the same increasing function of the sum divided by its root,
    for every pair and every flip: comparing these is comparing t.
    """
    roots = [math.sqrt(math.fsum((pair.differences**2).tolist())) for pair in pairs]
    return np.array([1 / root if root else 0.0 for root in roots])


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
    roots = np.divide(1.0, flipped.weights, out=np.zeros(adjusted.size), where=flipped.weights > 0)
    return np.where(is_told, 0.0, np.maximum(critical * roots, apart))


def _can_reach(queries: int, alpha: float) -> bool:
    """Whether flips of so few queries can be rare enough at all; else nothing limits a difference."""
    return 2.0 ** (1 - queries) < alpha


def _half_widths(family: _Family, flips: Flips, plan: _Plan) -> Floats:
    """Of simultaneous intervals: from flips of centred scores; across measures in proportion to each pair's spread.

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
    spreads = np.array([(pair.sd or 0.0) * math.sqrt(max(0, pair.n - 1)) for pair in family.pairs])
    weights = np.divide(1.0, spreads, out=np.zeros(spreads.size), where=spreads > 0)
    centred = FlippedPairs(family.scores - means, family.first, family.second, flips, weights)
    return np.asarray(centred.critical(np.arange(spreads.size), plan.alpha) * spreads)


def _note_of_intervals(plan: _Plan, found: _Ps, means: Floats, own: slice) -> list[str]:
    """Intervals are those of flips; corrections other than maxT know nothing of them."""
    if found.half_width is None or plan.correction == "maxt":
        return []
    excludes_zero = np.abs(means[own]) > found.half_width[own]
    if not (excludes_zero & (found.adjusted[own] >= plan.alpha)).any():
        return []
    return [f"simultaneous intervals are not of {plan.correction}: one excludes 0 where the pair is not told apart"]


def _notes(plan: _Plan, queries: int) -> list[str]:
    """What to know before trusting the numbers."""
    found = []
    if plan.correction in CORRECTIONS:
        found.append(f"{plan.correction}: {CORRECTIONS[plan.correction]}")
    if plan.test in ("wilcoxon", "sign"):
        found.append(f"the test is of this: {HYPOTHESES[plan.test]}")
        if queries > MOST_RANKED:
            found.append(
                f"with {queries:,} queries a rank test often calls systems different whose means are equal: "
                "it answers another question"
            )
    if queries > MOST_FLIPPED:
        found.append(f"with {queries:,} queries tiny differences are significant: read the intervals")
    return found
