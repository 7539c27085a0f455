"""Ranked lists with their groups of equal scores, and the rank-biased overlap of two such lists."""

from __future__ import annotations

import math

import numpy as np

from gainful.data.run import Run, fitting_policy, join_columns
from gainful.frozen import dataclass
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints, offsets_of
from gainful.kernel.parallel import current_progress
from gainful.policy import Policy

#: Ranks whose weights sum to less than 2 to the power of minus this change no digit.
_BITS = 53


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The rows of a run in rank order; ``first`` and ``last`` are the ranks of their groups of equal scores."""

    run: Run
    offsets: Ints
    row: Ints
    rank: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, run: Run, policy: Policy, threads: int) -> RankedLists:
        settled, offsets = fitting_policy(run, policy), run.list_offsets
        has_scores = settled.order == "score" and len(run) > 0
        # The join orders the lists of judged queries; one judged document is enough.
        some = np.flatnonzero(np.diff(offsets))
        data, start, length = run.document_spans
        index = core.JudgmentIndex(list(run.query_ids), some, data, start[offsets[some]], length[offsets[some]])
        wants = {"want_rows": True, "want_scores": has_scores}
        joined = join_columns(index, run.query_ids, run, settled, threads, current_progress(), **wants)
        counts = joined["retrieved"]
        offsets = offsets_of(counts)
        rank = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], counts)
        if has_scores:
            score = joined["scores"] if settled.scores == "float64" else joined["scores"].astype(np.float32)
            # Row i is tied with row i + 1; most rows are tied with none.
            tied = np.flatnonzero((score[1:] == score[:-1]) & (rank[1:] > 1))
            if tied.size:
                is_gap = np.diff(tied) > 1
                begin, end = tied[np.append(True, is_gap)], tied[np.append(is_gap, True)] + 1
                size, first, last = end - begin + 1, rank.copy(), rank.copy()
                members = np.arange(size.sum()) + np.repeat(begin - np.cumsum(size) + size, size)
                first[members], last[members] = np.repeat(rank[begin], size), np.repeat(rank[end], size)
                return cls(run, offsets, joined["rows"], rank, first, last)
        return cls(run, offsets, joined["rows"], rank, rank, rank)

    def shared(self, other: RankedLists, threads: int, depth: int | None = None) -> tuple[Ints, Ints, Ints]:
        """Return the query of every document in both lists, and its place among the rows of this run and the other.

        ``depth`` leaves out documents that are tied below it in one of the lists.
        """
        queries = np.arange(len(self.run.query_ids))
        found = []
        for lists in (self, other):
            places = np.arange(lists.row.size) if depth is None else np.flatnonzero(lists.first <= depth)
            start, length = (each[lists.row[places]] for each in lists.run.document_spans[1:])
            found.append((places, np.searchsorted(places, lists.offsets), (lists.run.data, start, length)))
        (mine, offsets, spans), (theirs, other_offsets, other_spans) = found
        index = core.JudgmentIndex(list(self.run.query_ids), np.repeat(queries, np.diff(offsets)), *spans)
        row, query, item, _ = index.find_hits(queries, other_offsets, *other_spans, threads)
        return query, mine[item], theirs[row]  # no document is twice in a list, so items are rows


def depth_of(p: float) -> int:
    """Return the number of ranks whose weights determine every digit of RBO."""
    return math.ceil(-_BITS / math.log2(p))


def rank_biased_overlap(a: RankedLists, b: RankedLists, shared: tuple[Ints, Ints, Ints], p: float, ties: str) -> Floats:
    """Return the extrapolated rank-biased overlap (RBO_EXT) of the two lists of every query.

    With s and l the lengths of the shorter and the longer list::

        RBO = (1 - p) * sum over depths d to l of p^(d - 1) * A(d) + p^l * A(l)
        A(d) = (X(d) + max(0, d - s) * A(s)) / n(d)

    ``equality``: tied documents share the first rank of their group (RBO^w). X(d) is the number of documents at ranks
    up to d in both lists, n(d) the mean of the two numbers of documents at ranks up to d; a list past its end has d.

    ``indecision``: every order of tied documents is equally likely, independently in the two lists (RBO^a). X(d) is the
    expected number of documents in the top d of both lists, n(d) = d. RBO_EXT is linear in X, so this is its mean over
    all orders. A document tied at ranks f to t is in the top d with probability (d - f + 1) / (t - f + 1), at most 1.

    Without ties both are Webber's eq. 32. Two empty lists have 1, an empty list and another one 0.

    Corsi and Urbano, The treatment of ties in rank-biased overlap, SIGIR 2024, whose tool extrapolates ``indecision``
    differently if lengths differ; Webber, Moffat and Zobel, A similarity measure for indefinite rankings, TOIS 2010.
    """
    most = min(depth_of(p), max(int(np.diff(each.offsets).max(initial=1)) for each in (a, b)))
    lengths = [np.minimum(np.diff(each.offsets), most) for each in (a, b)]
    short, long = np.minimum(*lengths), np.maximum(*lengths)
    offsets = offsets_of(long)
    start, query = offsets[:-1], np.repeat(np.arange(long.size), long)
    depth = np.arange(query.size) - start[query] + 1
    near = np.maximum(a.first[shared[1]], b.first[shared[2]]) <= most
    of, row_a, row_b = (each[near] for each in shared)
    (first_a, last_a), (first_b, last_b) = (
        (lists.first[row], lists.last[row]) for lists, row in ((a, row_a), (b, row_b))
    )

    def counted(begin: Ints, end: Ints) -> Floats:
        """Return the number of documents with begin <= d < end at every depth d of every query."""
        steps = np.zeros(query.size, np.int64)
        for places, sign in ((begin, 1), (end, -1)):
            inside = (begin < end) & (places <= long[of])
            steps += sign * np.bincount((start[of] + places - 1)[inside], minlength=query.size)
        sums = np.append(0, np.cumsum(steps))
        return np.asarray(sums[1:] - sums[start][query], np.float64)

    size: Floats = depth.astype(np.float64)
    never = np.full(of.size, most + 1)
    chances = []
    for lists, length in zip((a, b), lengths, strict=True):
        inside = depth <= length[query]
        row = (lists.offsets[query] + depth - 1)[inside]
        first, last = lists.first[row], lists.last[row]
        if ties == "equality":
            size[inside] += (last - depth[inside]) / 2
        chances.append(np.zeros(depth.size))
        chances[-1][inside] = (depth[inside] - first + 1) / (last - first + 1)
    if ties == "equality":
        found = counted(np.maximum(first_a, first_b), never)
    else:  # in the top d of both for certain; with the chance of the group at d in one of them; of both groups
        found = counted(np.maximum(last_a, last_b), never)
        found += chances[0] * counted(np.maximum(first_a, last_b), last_a)
        found += chances[1] * counted(np.maximum(first_b, last_a), last_b)
        found += chances[0] * chances[1] * counted(np.maximum(first_a, first_b), np.minimum(last_a, last_b))
    padded = np.append(found / size, 0.0)  # for lists that are empty
    at_short = np.where(short > 0, padded[start + short - 1], 0.0)
    agreement = (found + np.maximum(0, depth - short[query]) * at_short[query]) / size
    at_end = np.where(long > 0, np.append(agreement, 0.0)[offsets[1:] - 1], 1.0)
    # The weights sum to 1, so that equal lists have exactly 1.
    powers = p ** np.arange(most + 1.0)
    lost = np.bincount(query, (1 - p) * powers[depth - 1] * (1 - agreement), minlength=long.size)
    return np.asarray(np.maximum(0.0, 1.0 - lost - powers[long] * (1 - at_end)))
