"""The possible differences of two means if unjudged documents had any grades: `gainful compare --bounds`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.evaluation.unjudged import Unjudged
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.exact_sums import weighted_mean
from gainful.measures.base import Measure
from gainful.measures.holes import end_grades, linear_form
from gainful.notation import bytes_of_id, count_of, some_of, text_of_id
from gainful.tasks.compare.compare_words import name_text

#: Without a cutoff, documents at later ranks are not tried as those that reverse a difference.
_DEPTH = 100
_NAMED = 5


@dataclass(frozen=True)
class PairBounds:
    """The extremes of a difference of means, first minus second, over all grades of the unjudged documents.

    Attributes:
        is_exact: Whether both extremes are attained by some grades.
        unjudged: The number of unjudged documents in the lists, down to the ``cutoff`` of the measure.
        reversing: Few of them, as (query, document), that reverse the order if they alone are judged, with the highest
            or lowest possible gain; empty if none were found.
    """

    measure: str
    names: tuple[str, str]
    is_first_ahead: bool
    low: float
    high: float
    is_exact: bool
    unjudged: int
    cutoff: int | None
    reversing: tuple[tuple[str, str], ...]

    @property
    def is_settled(self) -> bool:
        """Whether the sign of the difference does not depend on unjudged documents."""
        return self.low > 0 or self.high < 0

    @property
    def sentence(self) -> str:
        names = [name_text(name, self.names) for name in self.names]
        ahead, behind = names if self.is_first_ahead else names[::-1]
        where = f" in the top {self.cutoff}" if self.cutoff else ""
        at = f"mean {self.measure} differs by {self.low:+.4f} to {self.high:+.4f}"
        if self.low == self.high:
            return f"All documents that count for {self.measure} are judged."
        if self.is_settled:
            return (
                f"{ahead} stays ahead of {behind} whatever the unjudged documents are ({self.unjudged:,}{where}): {at}."
            )
        if self.reversing:
            which = some_of([" ".join(pair) for pair in self.reversing], _NAMED)
            number = f"{len(self.reversing):,} of {count_of(self.unjudged, 'unjudged document')}{where}"
            return f"{number} could reverse it: {which}. In all, {at}."
        return f"Unjudged documents ({self.unjudged:,}{where}) {'could' if self.is_exact else 'may'} reverse it: {at}."


def pair_bounds(scores: Scores, matrix: ScoreMatrix, names: tuple[str, str], threads: int | None = None) -> PairBounds:
    """Return the possible differences of two systems' means, first minus second."""
    found = Unjudged.of_scores(scores, names, threads, "bounds")
    measure: Measure = next(iter(scores.evaluations.values()))._measure(matrix.measure)
    position = {query: i for i, query in enumerate(found.runs[0].query_ids)}
    places = np.array([position[bytes_of_id(query)] for query in matrix.queries], np.int64)
    weights = np.ones(places.size) if matrix.weights is None else matrix.weights

    def mean(differences: Floats) -> float:
        return weighted_mean(differences, weights)

    current = matrix.column(names[0]) - matrix.column(names[1])
    low, high = (each[places] for each in found.difference_bounds(measure))
    difference, cutoff = mean(current), measure.rank_cutoff
    near = (found.rank > 0) & (found.rank <= (cutoff or np.inf))
    counted = near.any(axis=1) & np.isin(found.query, places)
    sign = 1.0 if difference > 0 else -1.0
    bounds = (mean(np.fmin(low, current)), mean(np.fmax(high, current)))
    reversing: Sequence[int] = ()
    if bounds[0] <= 0 <= bounds[1] and difference:
        tried = np.flatnonzero(counted & (found.rank <= (cutoff or _DEPTH)).any(axis=1))
        by_place = np.zeros(len(position))
        by_place[places] = weights / places.size
        reversing = _reversing(found, measure, tried, by_place * sign)
    return PairBounds(
        matrix.measure,
        names,
        difference * (1 if matrix.better == "higher" else -1) > 0,
        *bounds,
        linear_form(measure) is not None,
        int(np.count_nonzero(counted)),
        cutoff,
        tuple((text_of_id(found.runs[0].query_ids[found.query[i]]), text_of_id(found.document[i])) for i in reversing),
    )


def _reversing(found: Unjudged, measure: Measure, tried: Ints, weights: Floats) -> Sequence[int]:
    """Return few documents that turn the weighted sum of differences negative; none if greedy choice finds none."""
    ends = np.array(end_grades(measure, found.runs[0].judged))
    each = [found.changes(measure, tried, float(grade)) for grade in ends]
    moves = np.stack([(change[:, 0] - change[:, 1]) * weights[found.query[tried]] for change in each])
    order = np.argsort(moves.min(axis=0), kind="stable")
    order = order[moves.min(axis=0)[order] < 0]
    chosen, grades = tried[order], ends[moves.argmin(axis=0)[order]]

    def difference(number: int) -> float:
        after = found.scores(measure, chosen[:number], grades[:number])
        return float((weights * (after[:, 0] - after[:, 1])).sum())

    # Judgments of one query interact, so that the sum of single changes is only a first guess.
    reached = difference(0) + np.cumsum(moves.min(axis=0)[order])
    number = int(np.searchsorted(-reached, 0.0, "right")) + 1
    while number <= chosen.size and difference(number) >= 0:
        number += max(1, number // 10)
    if number > chosen.size:
        return ()
    while number > 1 and difference(number - 1) < 0:
        number -= 1
    return [*map(int, chosen[:number])]
