"""The possible differences of two means if unjudged documents had any grades: `gainful compare --bounds`."""

from __future__ import annotations

import math

import numpy as np

from gainful.errors import option
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.evaluation.unjudged import Unjudged
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Ints
from gainful.measures.holes import end_grades, linear_form
from gainful.notation import count_of, listed, text_of_id
from gainful.tasks.compare.compare_words import name_text

#: Without a cutoff, documents at later ranks are not tried as those that reverse a difference.
_DEPTH = 100
_NAMED = 5
#: Differences of sums that are equal but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairBounds:
    """The extremes of a difference of means, first minus second, over all grades of the unjudged documents.

    Attributes:
        is_exact: Whether both extremes are attained by some grades.
        unjudged: The number of unjudged documents in both lists, ``near`` of them down to the ``cutoff``.
        reversing: Few of them, as (query, document, grade), that reverse the order if they alone are judged so; empty
            if none were found.
    """

    measure: str
    names: tuple[str, str]
    difference: float
    low: float
    high: float
    is_higher_better: bool
    is_exact: bool
    unjudged: int
    near: int
    cutoff: int | None
    reversing: tuple[tuple[str, str, float], ...] = ()

    @property
    def least_lead(self) -> float:
        """The smallest possible lead of the system that is ahead; below 0 if the order could be reversed."""
        return self.low if self.difference > 0 else -self.high

    @property
    def sentence(self) -> str:
        a, b = (name_text(name, self.names) for name in self.names)
        ahead, behind = (a, b) if (self.difference > 0) == self.is_higher_better else (b, a)
        if not self.unjudged:
            return f"All documents of both systems are judged, so that mean {self.measure} cannot change."
        if not math.isfinite(self.high - self.low):
            return f"{self.measure} has no finite bounds."
        widest = "" if self.is_exact else " at the widest"
        at = f"mean {self.measure} differs by {self.low:+.4f} to {self.high:+.4f}{widest}"
        among = f", {self.near:,} of them in the top {self.cutoff}" if self.cutoff else ""
        found = f"{count_of(self.unjudged, 'unjudged document')}{among}"
        if abs(self.difference) <= _ROUNDING:
            return f"The means are equal; with other judgments {at} ({found})."
        if self.least_lead > _ROUNDING:
            return f"{ahead} stays ahead of {behind} whatever the unjudged documents are: {at} ({found})."
        if self.least_lead >= -_ROUNDING:
            return f"Unjudged documents cannot put {behind} ahead of {ahead}: {at} ({found})."
        if not self.reversing:
            return f"Unjudged documents {'could' if self.is_exact else 'may'} reverse the order: {at} ({found})."
        which = listed([f"{query} {document}" for query, document, _ in self.reversing], most=_NAMED)
        judgments = f"{count_of(len(self.reversing), 'judgment')} could reverse the order: {which}"
        return f"{judgments}. With all judged, {at} ({found})."


def pair_bounds(scores: Scores, matrix: ScoreMatrix, names: tuple[str, str]) -> PairBounds:
    """Return the possible differences of two systems' means, first minus second."""
    found = Unjudged.of(scores, matrix, names, option("bounds"))
    measure = found.measure
    counted = found.weights > 0  # other queries may have no finite bounds
    low, high = (math.fsum(found.weights[counted] * each[counted]) for each in found.difference_bounds())
    difference = math.fsum(found.weights * found.differences(np.zeros(0, np.int64), np.zeros(0)))
    near = ((found.rank > 0) & (found.rank <= (measure.rank_cutoff or _DEPTH))).any(axis=1)
    counts = found.weights[found.query] > 0
    is_higher_better, is_exact = matrix.better == "higher", linear_form(measure) is not None
    unjudged, shown = (int(np.count_nonzero(each)) for each in (counts, counts & near))
    of = matrix.measure, names, difference, low, high, is_higher_better, is_exact
    bounded = PairBounds(*of, unjudged, shown, measure.rank_cutoff)
    if abs(difference) <= _ROUNDING or bounded.least_lead >= -_ROUNDING:
        return bounded
    return replace(bounded, reversing=_reversing(found, np.flatnonzero(counts & near), math.copysign(1.0, difference)))


def _reversing(found: Unjudged, tried: Ints, sign: float) -> tuple[tuple[str, str, float], ...]:
    """Return few documents, with grades, that turn ``sign`` times the difference negative; none if none were found."""
    judged = found.runs[0].judged
    ends = np.array(end_grades(found.measure, judged))
    moves = np.stack([sign * (each[:, 0] - each[:, 1]) for each in (found.changes(tried, grade) for grade in ends)])
    order = np.argsort(moves.min(axis=0), kind="stable")
    order = order[moves.min(axis=0)[order] < 0]
    chosen, grades = tried[order], ends[moves.argmin(axis=0)[order]]

    def difference(number: int) -> float:
        return sign * math.fsum(found.weights * found.differences(chosen[:number], grades[:number]))

    # Judgments of one query interact, so that the sum of single changes is only a first guess.
    reached = difference(0) + np.cumsum(moves.min(axis=0)[order])
    number = int(np.searchsorted(-reached, 0.0, "right")) + 1
    while number <= chosen.size and difference(number) >= -_ROUNDING:
        number += max(1, number // 10)
    if number > chosen.size:
        return ()
    while number > 1 and difference(number - 1) < -_ROUNDING:
        number -= 1
    return tuple(
        (text_of_id(judged.query_ids[found.query[i]]), text_of_id(found.document[i]), float(grade))
        for i, grade in zip(chosen[:number].tolist(), grades[:number].tolist(), strict=True)
    )
