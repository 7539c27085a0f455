"""Unjudged documents in the lists of several systems, and how much their judgments could change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gainful.data.completions import Completed, completed, unjudged_ranks
from gainful.data.graded import GradedRun
from gainful.data.lists import sum_by
from gainful.evaluation.evaluate import join_each
from gainful.evaluation.results import settled
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass
from gainful.io.rows import joined_spans
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import gains_of, raw_scores
from gainful.measures.holes import linear_form, quotient_bounds, refuse_bounds, score_bounds

#: Documents judged at once, each in a copy of its query.
_AT_ONCE = 1 << 11


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The unjudged documents of several lists, by query.

    Attributes:
        runs: The lists of each system.
        query: The position of each document's query.
        document: The ID of each document.
        rank: Its rank in each system's list (documents x systems), 0 if it is not there.
    """

    runs: tuple[GradedRun, ...]
    query: Ints
    document: tuple[bytes, ...]
    rank: Ints

    @classmethod
    def of_scores(cls, scores: Scores, systems: Sequence[str], threads: int | None, what: str) -> Unjudged:
        """Read the lists of some systems again; ``what`` names the option that needs them, for messages."""
        judged, runs = scores.judged_and_runs(what)
        chosen = {name: runs[name] for name in systems}
        joined = join_each(judged, chosen, lambda _, graded: graded, frozenset(["documents"]), threads=threads)
        return cls.of([*joined.values()])

    @classmethod
    def of(cls, runs: Sequence[GradedRun]) -> Unjudged:
        """Match the unjudged documents of lists that were joined with their documents."""
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
        return cls(tuple(runs), query, tuple(ids[each] for each in number.tolist()), rank)

    def scores(self, measure: Measure, chosen: Ints, grade: Floats) -> Floats:
        """Return the scores (queries x systems) if the chosen documents had these grades."""
        every = np.arange(len(self.runs[0].query_ids))
        judged = Completed(self.runs[0].judged, every, self.query[chosen], grade)
        return self._scores(measure, every, self.query[chosen], chosen, grade, judged)

    def changes(self, measure: Measure, chosen: Ints, grade: float) -> Floats:
        """Return the change of each system's score if one of the documents had the grade, for each chosen document."""
        before = self.scores(measure, chosen[:0], np.zeros(0))
        found = np.zeros((chosen.size, len(self.runs)))
        for first in range(0, chosen.size, _AT_ONCE):
            part = chosen[first : first + _AT_ONCE]
            query, row, grades = self.query[part], np.arange(part.size), np.full(part.size, grade)
            judged = Completed(self.runs[0].judged, query, row, grades)
            found[first : first + _AT_ONCE] = self._scores(measure, query, row, part, grades, judged) - before[query]
        return found

    def _scores(
        self, measure: Measure, queries: Ints, row: Ints, chosen: Ints, grade: Floats, judged: Completed
    ) -> Floats:
        columns = []
        for system, graded in enumerate(self.runs):
            lists = completed(graded, queries, row, self.rank[chosen, system], grade, judged)
            raw, policy = raw_scores(lists, [measure])[0], graded.policy
            columns.append(settled(raw, lists.answered, measure, policy.missing, policy.undefined))
        # A query that the policy leaves out adds nothing to a mean.
        return np.nan_to_num(np.stack(columns, axis=1))

    def difference_bounds(self, measure: Measure) -> tuple[Floats, Floats]:
        """Return the extremes, per query, of the difference of the first two systems' scores, first minus second.

        They are attained if the measure has a :func:`linear_form`; else they are those of independent judgments.
        """
        form, judged, size = linear_form(measure), self.runs[0].judged, self.runs[0].retrieved.size
        if form is None:
            ranks = [np.where(rank > 0, rank, np.iinfo(np.int64).max) for rank in self.rank.T[:2]]
            orders = [np.lexsort((rank, self.query)) for rank in ranks]
            (low, high), (other_low, other_high) = (
                score_bounds(graded, measure, (self.query[order], rank[order]))
                for graded, order, rank in zip(self.runs, orders, self.rank.T, strict=False)
            )
            return low - other_high, high - other_low
        fixed, weight = np.zeros(size), np.zeros(self.query.size)
        for system, sign in ((0, 1.0), (1, -1.0)):
            graded = self.runs[system]
            refuse_bounds(measure, graded)
            query = np.repeat(np.arange(size), np.diff(graded.hit_offsets))
            gains = gains_of(measure, graded.hit_grade, judged.scale)
            fixed += sign * sum_by(query, gains * form.weights(graded.hit_rank), size)
            weight += sign * form.weights(self.rank[:, system])
        return quotient_bounds(measure, form, judged, self.query, weight, fixed)
