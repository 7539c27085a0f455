"""Unjudged documents in the lists of several systems, and how much their judgments could change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gainful.data.completions import Completed, completed, unjudged_ranks
from gainful.data.graded import GradedRun
from gainful.data.lists import sum_by
from gainful.errors import UsageError
from gainful.evaluation.evaluate import join_each
from gainful.evaluation.results import settled
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass
from gainful.io.rows import joined_spans
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import gains_of, raw_scores
from gainful.measures.expected import BOUNDED_BY_GRADE
from gainful.measures.holes import linear_form, quotient_bounds, refuse_bounds, refuse_undefined, score_bounds
from gainful.notation import bytes_of_id

#: Documents judged at once, each in a copy of its query.
_AT_ONCE = 1 << 11


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The unjudged documents of several lists, by query."""

    measure: Measure  # the measure whose scores their judgments would change
    weights: Floats  # the weight of each query in means, 0 if it does not count
    runs: tuple[GradedRun, ...]  # the lists of each system
    query: Ints  # the position of each document's query
    document: tuple[bytes, ...]  # the ID of each document
    rank: Ints  # its rank in each system's list (documents x systems), 0 if it is not there

    @classmethod
    def of(
        cls, scores: Scores, matrix: ScoreMatrix, systems: Sequence[str], what: str, threads: int | None = None
    ) -> Unjudged:
        """Read the lists of some systems again; ``what`` needs them, for messages."""
        judged, sources = scores.judged_and_runs(what)
        measure = scores.evaluations[systems[0]]._measure(matrix.measure)
        if measure.budget is None and measure.needed() - {"ties"}:
            raise UsageError(f"{measure}: {what} cannot use measures of tables of documents or of scores")
        chosen = {name: sources[name] for name in systems}
        joined = join_each(judged, chosen, lambda _, graded: graded, frozenset(["documents"]), threads=threads)
        for name, graded in joined.items():
            if "ties" in measure.needed() and graded.facts.tied_count:
                raise UsageError(f"{measure}: {what} cannot use measures of ties, and {graded.source} has ties")
            refuse_bounds(measure, graded)
            refuse_undefined(measure, scores.evaluations[name].settled_scores(measure), graded.answered)
        position, weights = {query: i for i, query in enumerate(judged.query_ids)}, np.zeros(len(judged.query_ids))
        counts = np.ones(len(matrix.queries)) if matrix.weights is None else matrix.weights
        weights[[position[bytes_of_id(query)] for query in matrix.queries]] = counts / counts.sum()
        runs = tuple(joined.values())
        queries, ranks, spans = [], [], []
        for graded in runs:
            query, rank = unjudged_ranks(graded)
            assert graded.run is not None
            row = graded.row[graded.list_offsets[query] + rank - 1]
            data, start, length = graded.run.document_spans
            queries.append(query)
            ranks.append(rank)
            spans.append((data, start[row], length[row]))
        ids, number = core.number_ids(*joined_spans(spans))
        system = np.repeat(np.arange(len(runs)), [each.size for each in ranks])
        keys, place = np.unique(np.concatenate(queries) * (len(ids) + 1) + number, return_inverse=True)
        rank = np.zeros((keys.size, len(runs)), np.int64)
        rank[place, system] = np.concatenate(ranks)
        query, number = np.divmod(keys, len(ids) + 1)
        return cls(measure, weights, runs, query, tuple(ids[each] for each in number.tolist()), rank)

    def scores(self, chosen: Ints, grade: Floats) -> Floats:
        """Return the scores (queries x systems) if the chosen documents had these grades."""
        every, row = np.arange(len(self.runs[0].query_ids)), self.query[chosen]
        return self._scores(every, row, chosen, grade, Completed(self.runs[0].judged, every, row, grade))

    def differences(self, chosen: Ints, grade: Floats) -> Floats:
        """Return the differences of the first two systems' scores, by query, if the documents had these grades."""
        scores = self.scores(chosen, grade)
        return scores[:, 0] - scores[:, 1]

    def changes(self, chosen: Ints, grade: float) -> Floats:
        """Return, for each chosen document, the change of each system's mean if it alone had the grade."""
        before = self.scores(chosen[:0], np.zeros(0))
        found = np.zeros((chosen.size, len(self.runs)))
        if self.measure.name in BOUNDED_BY_GRADE and not gains_of(self.measure, np.array([grade]), 1.0).any():
            return found  # like an unjudged document
        for first in range(0, chosen.size, _AT_ONCE):
            part = chosen[first : first + _AT_ONCE]
            query, row, grades = self.query[part], np.arange(part.size), np.full(part.size, grade)
            judged = Completed(self.runs[0].judged, query, row, grades)
            found[first : first + _AT_ONCE] = self._scores(query, row, part, grades, judged) - before[query]
        return found * self.weights[self.query[chosen], None]

    def _scores(self, queries: Ints, row: Ints, chosen: Ints, grade: Floats, judged: Completed) -> Floats:
        columns = []
        for system, graded in enumerate(self.runs):
            lists = completed(graded, queries, row, self.rank[chosen, system], grade, judged)
            raw, policy = raw_scores(lists, [self.measure])[0], graded.policy
            columns.append(settled(raw, lists.answered, self.measure, policy.missing, policy.undefined))
        # A query that the policy leaves out adds nothing to a mean.
        return np.nan_to_num(np.stack(columns, axis=1))

    def difference_bounds(self) -> tuple[Floats, Floats]:
        """Return the extremes, per query, of the difference of the first two systems' scores, first minus second.

        They are attained if the measure has a :func:`linear_form`; else they are those of independent judgments.
        """
        measure, judged, size = self.measure, self.runs[0].judged, self.runs[0].retrieved.size
        form, now = linear_form(measure), self.scores(np.zeros(0, np.int64), np.zeros(0))
        if form is None:
            ends = []
            for graded, rank, score in zip(self.runs, self.rank.T, now.T, strict=False):
                order = np.lexsort((np.where(rank > 0, rank, np.iinfo(np.int64).max), self.query))
                both, policy = np.stack(score_bounds(graded, measure, (self.query[order], rank[order]))), graded.policy
                low, high = settled(both, graded.answered, measure, policy.missing, policy.undefined)
                ends.append((np.fmin(low, score), np.fmax(high, score)))
            return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
        fixed, weight = np.zeros(size), np.zeros(self.query.size)
        for system, sign in ((0, 1.0), (1, -1.0)):
            graded = self.runs[system]
            query = np.repeat(np.arange(size), np.diff(graded.hit_offsets))
            gains = gains_of(measure, graded.hit_grade, judged.scale)
            fixed += sign * sum_by(query, gains * form.weights(graded.hit_rank), size)
            weight += sign * form.weights(self.rank[:, system])
        low, high = quotient_bounds(measure, form, judged, self.query, weight, fixed)
        # The scores themselves are possible, also if they are undefined.
        score = now[:, 0] - now[:, 1]
        return np.fmin(low, score), np.fmax(high, score)
