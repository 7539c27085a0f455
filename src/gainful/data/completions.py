"""Lists with unjudged documents, and what they would be if these were judged."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from gainful.data.graded import GradedRun, with_hits
from gainful.data.judged import Judged
from gainful.data.lists import gather
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints, offsets_of


def unjudged_ranks(graded: GradedRun) -> tuple[Ints, Ints]:
    """Return query and rank of every retrieved document without a judgment, by query, then by rank."""
    is_judged = np.zeros(int(graded.list_offsets[-1]), bool)
    is_judged[graded.hit_place] = True
    place = np.flatnonzero(~is_judged)
    query = np.repeat(np.arange(graded.retrieved.size), graded.retrieved)[place]
    return query, place - graded.list_offsets[query] + 1


class Completed(Judged):
    """The judgments of some queries, which may repeat, with more documents: document i belongs to ``row[i]`` of them.

    Items are numbered by query, added ones last.
    """

    def __init__(self, judged: Judged, queries: Ints, row: Ints, grade: Floats) -> None:
        judged._require_all()
        self.qrels, self.policy, self.scale, self.unlisted = judged.qrels, judged.policy, judged.scale, None
        self._names = tuple(judged.query_ids[i] for i in queries.tolist())
        self._ideal_lists, self._cache = {}, {}
        old_row, old_item = gather(judged.item_offsets, queries)
        rows = np.concatenate([old_row, row])
        order = np.argsort(rows, kind="stable")
        self.item_offsets = offsets_of(np.bincount(rows, minlength=queries.size))
        self.grade = np.concatenate([judged.grade[old_item], grade])[order]
        #: The number of each added item.
        self.added = np.empty(order.size, np.int64)
        self.added[order] = np.arange(order.size)
        self.added = self.added[old_row.size :]

    @property
    def query_ids(self) -> tuple[bytes, ...]:
        return self._names

    @property
    def by_subtopic(self) -> NoReturn:
        raise UsageError("measures of sub-topics cannot score unjudged documents as if they were judged")


def completed(
    graded: GradedRun, queries: Ints, row: Ints, rank: Ints, grade: Floats, judged: Completed | None = None
) -> GradedRun:
    """Return the lists of some queries, which may repeat, after unjudged documents were given grades.

    Document i belongs to list ``row[i]``, a position in ``queries``, and is at ``rank[i]``, or not retrieved (0).
    ``judged`` has the same documents, if it was made before. Scores are kept; ties, documents and sub-topics are not.

    >>> from gainful import Policy, Qrels
    >>> from gainful.data.graded import join
    >>> from gainful.measures.block import raw_scores
    >>> from gainful.measures.catalog import parse
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> graded = join(Judged(qrels, Policy()), {"q": ["x", "a"]}, Policy())
    >>> twice = completed(graded, np.array([0, 0]), np.array([1]), np.array([1]), np.array([1.0]))
    >>> raw_scores(twice, [parse("RR"), parse("AP")]).tolist()
    [[0.5, 1.0], [0.5, 1.0]]
    """
    judged = judged or Completed(graded.judged, queries, row, grade)
    hit_row, hit = gather(graded.hit_offsets, queries)
    item = graded.hit_item[hit] - graded.judged.item_offsets[queries][hit_row] + judged.item_offsets[hit_row]
    placed = rank > 0
    rows = np.concatenate([hit_row, row[placed]])
    ranks = np.concatenate([graded.hit_rank[hit], rank[placed]])
    # A stable sort of one key merges the two sorted parts.
    order = np.argsort(rows * (int(ranks.max(initial=0)) + 1) + ranks, kind="stable")
    none, pooled = np.zeros(0, np.int64), graded.pooled
    place = gather(graded.list_offsets, queries)[1] if graded.score.size else none
    if pooled is not None:  # without those that were given a grade
        pooled_row, at = gather(pooled[0], queries)
        size = int(graded.retrieved.max(initial=0)) + 1
        kept = ~np.isin(pooled_row * size + pooled[1][at], (row * size + rank)[placed])
        pooled = offsets_of(np.bincount(pooled_row[kept], minlength=queries.size)), pooled[1][at[kept]]
    return with_hits(
        graded,
        rows,
        ranks[order],
        np.concatenate([graded.hit_grade[hit], grade[placed]])[order],
        np.concatenate([item, judged.added[placed]])[order],
        judged=judged,
        answered=graded.answered[queries],
        retrieved=graded.retrieved[queries],
        score=graded.score[place],
        pooled=pooled,
        run=None,
    )
