"""Similarity of a list to the ideal list, and separation of relevant from other documents.

A reference list can replace judgments, with a grade for each rank (:meth:`gainful.Qrels.from_run`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gainful.data.lists import ordinal_in_row, sum_by
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.measures.base import Usual
from gainful.measures.block import Block, ratios
from gainful.measures.precision import Binary


class Compat(Usual, takes="p normalize depth unjudged"):
    """Compatibility: the rank-biased overlap of a list with the most similar ideal list.

    Formula:
        RBO = sum over depths i of p^(i - 1) * (documents in the top i of both lists) / i
        Compat = RBO of the list and the ideal list / RBO of the ideal list with itself

    The ideal list has the documents with a grade above 0, best first; equal grades keep the order of the list.

    Conventions:
        - only the order of grades matters, so preferences suffice
        - lists are compared down to rank 1000, or with depth=lists to the end of the longer one
        - normalize=false divides by the sum of p^(i - 1) instead, as RBO does
        - no relevant documents: 0

    Agrees with:
        Clarke's compatibility.py, whose depth is 1000; ir_measures Compat with depth=lists

    Reference:
        Clarke, Vtyurina and Smucker, Assessing top-k preferences, TOIS 39(3), 2021; Webber, Moffat and Zobel, A
        similarity measure for indefinite rankings, TOIS 28(4), 2010

    Example:
        Two ranks, grades in the wrong order: no overlap at depth 1, full overlap at depth 2: 0.5 / (1 + 0.5).

        >>> round(gainful.parse("Compat(p=0.5, depth=2)").score([1, 2]), 4)
        0.3333
    """

    name = "Compat"
    meanings = {"normalize": "`true` divides by the ideal list's overlap with itself, `false` by all weights p^(i - 1)"}
    p, normalize, depth = 0.95, True, "1000"

    def _shared(self, block: Block) -> tuple[Ints, Ints]:
        """Return the row of each relevant document, and the depth at which list and ideal list first share it."""
        hits, judged = block.hits.relevant(None, None), block.judged.relevant(None, None)
        # Ranks in the ideal list: after all better documents, and after equal ones that the list has above.
        order = np.lexsort((hits.rank, -hits.grade, hits.row))
        starts = (np.diff(hits.row[order], prepend=-1) != 0) | (np.diff(hits.grade[order], prepend=np.nan) != 0)
        group = np.cumsum(starts)
        levels = distinct(judged.grade)

        def key(row: Ints, grade: Floats) -> Ints:
            return row * (levels.size + 1) + levels.size - np.searchsorted(levels, grade)

        row = hits.row[order]
        better = np.searchsorted(key(judged.row, judged.grade), key(row, hits.grade[order]))
        place = np.empty(order.size, np.int64)
        place[order] = better - np.searchsorted(judged.row, row) + ordinal_in_row(group)
        return hits.row, np.maximum(hits.rank, place)

    def _overlap(self, row: Ints, depth: Ints, ends: Ints) -> Floats:
        """Return the overlap down to the end of each query's comparison."""
        inside = depth <= ends[row]
        row, depth = row[inside], depth[inside]
        below = self._below(int(ends.max(initial=0)))
        return sum_by(row, below[ends[row]] - below[depth - 1], ends.size)

    def _below(self, end: int) -> Floats:
        """Return the sums of p^(i - 1) / i down to each depth, starting with 0."""
        depths = np.arange(1.0, end + 1.0)
        return np.append(0.0, np.cumsum(self.p ** (depths - 1.0) / depths))

    def _best(self, block: Block, ends: Ints) -> Floats:
        if not self.normalize:
            return np.append(0.0, np.cumsum(self.p ** np.arange(float(ends.max(initial=0)))))[ends]
        row = np.repeat(np.arange(block.size), block.recall_base())
        return self._overlap(row, ordinal_in_row(row), ends)

    def compute(self, block: Block) -> Floats:
        lists = np.maximum(block.retrieved, block.recall_base())
        ends = lists if self.depth == "lists" else np.full(block.size, int(self.depth))
        found = ratios(self._overlap(*self._shared(block), ends), self._best(block, ends))
        return np.minimum(np.nan_to_num(found), 1.0)


class RBO(Compat):
    """Rank-biased overlap of a list with another one, weighted towards the top.

    Formula:
        RBO = sum over depths i of p^(i - 1) * X(i) / i, divided by the sum of p^(i - 1)

    X(i) is the number of documents in the top i of both lists. The other list is a run in place of judgments:
    Qrels.from_run, or --qrels-format run on the command line. With judgments, it is the ideal list of Compat.

    Conventions:
        - by default a lower bound: lists share nothing past their ends, so a short list scores below 1 with itself
        - depths go to 1000, or with depth=lists to the end of the longer list
        - extrapolate=true is the paper's RBO_EXT, which extends the agreement past the end; a list scores 1 with itself
        - one of the lists is empty: 0

    Agrees with:
        the paper's RBO_MIN (except past rank 1000) and RBO_EXT; ir_measures Compat(normalize=False) with depth=lists

    Reference:
        Webber, Moffat and Zobel, A similarity measure for indefinite rankings, TOIS 28(4), 2010, eq. 11 and 32

    Example:
        Two documents, reversed: none shared at depth 1, both at depth 2; extrapolated, 0.5 * 0.5 * 2/2 + 0.5^2.

        >>> other = gainful.Qrels.from_run({"q": ["a", "b"]})
        >>> found = gainful.evaluate(other, {"q": ["b", "a"]}, "RBO(p=0.5, extrapolate=true)")
        >>> found.mean("RBO(p=0.5, extrapolate=true)")
        0.5
    """

    name = "RBO"
    exempt = {"append": "extrapolated, a list that continues with other documents agrees less"}
    meanings = {"extrapolate": "whether agreement is extrapolated past the ends of lists"}
    normalize: ClassVar[bool] = False  # type: ignore[misc]  # not a parameter here
    extrapolate: bool = False

    def compute(self, block: Block) -> Floats:
        if not self.extrapolate:
            return super().compute(block)
        (row, depth), base = self._shared(block), block.recall_base()
        most = block.width if self.depth == "lists" else int(self.depth)
        short, long = (np.minimum(of(block.retrieved, base), most) for of in (np.minimum, np.maximum))
        at_short, at_long = (np.bincount(row[depth <= ends[row]], minlength=block.size) for ends in (short, long))
        share = np.nan_to_num(ratios(at_short, short))
        below, weights = self._below(int(long.max(initial=0))), self.p ** np.arange(float(long.max(initial=0)))
        summed = np.append(0.0, np.cumsum(weights))
        # The overlap, the extrapolated overlap of the shorter list down to the end of the longer, and the rest.
        more = summed[long] - summed[short] - short * (below[long] - below[short])
        rest = np.nan_to_num(ratios(at_long - at_short, long)) + share
        overlap = self._overlap(row, depth, long)
        found = (1.0 - self.p) * overlap + (1.0 - self.p) * share * more + rest * self.p**long
        return np.asarray(np.minimum(found, 1.0))


class PairAccuracy(Binary, takes="cutoff"):
    """Pairwise accuracy: how often a relevant document ranks above a non-relevant one.

    Formula:
        PairAccuracy = pairs of a relevant and a non-relevant document in the list with the relevant one above / pairs

    Conventions:
        - documents not retrieved are in no pair
        - PairAccuracy@k counts pairs among the first k documents
        - no relevant or no non-relevant documents in the list: undefined

    Agrees with:
        ir_measures Accuracy, if there are pairs

    Reference:
        Mann and Whitney, Annals of Mathematical Statistics 18, 1947: the area under the ROC curve of one list

    Example:
        Three of four pairs are in order.

        >>> gainful.parse("PairAccuracy").score([1, 0, 1, 0])
        0.75
    """

    name = "PairAccuracy"
    exempt = {
        "append": "added documents form pairs with the relevant ones above them",
        "swap": "with a cutoff, a document that moves below it removes its pairs",
    }

    def compute(self, block: Block) -> Floats:
        relevant = self._relevant(block)
        shown = relevant.rank <= (self.cutoff or block.width)
        row, rank, ordinal = relevant.row[shown], relevant.rank[shown], relevant.ordinal[shown]
        length = np.minimum(block.retrieved, self.cutoff or block.width)
        found = np.bincount(row, minlength=block.size)
        others = length - found
        above = sum_by(row, rank - ordinal, block.size)
        return np.asarray(1.0 - ratios(above, found * others))
