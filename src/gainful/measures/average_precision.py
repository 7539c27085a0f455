"""Measures of the ranks of relevant documents."""

from __future__ import annotations

import numpy as np

from gainful.data.lists import in_columns
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.arithmetic import Arithmetic, Step, last, ranks_of
from gainful.measures.block import Block, ratios
from gainful.measures.expected import expected_reciprocals
from gainful.measures.precision import Binary, OfRelevant

#: trec_eval adds this to the number of documents that a recall level needs, before truncating it.
_ADDED = {"round": 0.5, "ceil0.9": 0.9}


def _needed(recall: float, base: Ints, cut: str) -> Ints:
    level = recall * base
    if cut in _ADDED:
        return np.asarray(np.floor(level + _ADDED[cut]), np.int64)
    whole = np.asarray(np.floor(level), np.int64)
    # Compare quotients, which round as the level did: 3 / 10 is 0.3, although 0.3 * 10 need not be 3.
    return np.asarray(whole + (ratios(whole, base) < recall), np.int64)


class AP(Binary, takes="cutoff"):
    """Average precision: the mean of the precision at the rank of each relevant document.

    Formula:
        AP = sum over relevant documents at rank i of P@i, divided by the number of relevant judged documents

    Conventions:
        - a relevant document that was not retrieved adds 0 but counts in the denominator
        - AP@k stops at rank k but still divides by all relevant documents
        - no relevant documents: undefined

    Agrees with:
        trec_eval map and map_cut_k, ir_measures AP, ranx map
    Differs from:
        torchmetrics, which divides by relevant documents retrieved; NTCIREVAL AP@k, which divides by min(n, k)

    Reference:
        Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000

    Example:
        Relevant at ranks 1 and 3, one missed: (1/1 + 2/3) / 3.

        >>> round(gainful.parse("AP").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.5556
    """

    name = "AP"

    def compute(self, block: Block) -> Floats:
        return ratios(block.precision_sums(self._relevant(block), self.cutoff), self._base(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        precisions = np.where(columns["relevant"] > 0, columns["found"] / ranks_of(columns["found"]), np.nan)
        columns |= {"precision": precisions, "sum": np.cumsum(np.nan_to_num(precisions))}
        total, base = last(columns["sum"]), int(self._base(block)[0])
        steps = (
            Step.sum_of("sum of precisions", precisions[~np.isnan(precisions)], total),
            Step.division(str(self), total, base, undefined="nothing is relevant"),
        )
        return Arithmetic(columns, steps, adds="relevant", running="sum")


class RR(Binary, takes="cutoff"):
    """Reciprocal rank of the first relevant document.

    Formula:
        RR = 1 / rank of the first relevant document

    Conventions:
        - no relevant document retrieved (with RR@k, in the top k): 0
        - no relevant documents: 0
        - some papers abbreviate relative relevance as RR: that is RelativeRelevance

    Agrees with:
        trec_eval recip_rank, ir_measures RR, ranx mrr
    Differs from:
        ir_measures RR@k, which breaks ties in the opposite order (docid-asc)

    Reference:
        Voorhees, The TREC-8 question answering track report, 1999

    Example:
        >>> gainful.parse("RR").score([0, None, 0, 1])
        0.25
    """

    name = "RR"

    def compute(self, block: Block) -> Floats:
        relevant = self._relevant(block)
        if block.averages_ties:
            return expected_reciprocals(block.groups(relevant), self.cutoff, block.size)
        first = relevant.ordinal == 1
        if self.cutoff is not None:
            first &= relevant.rank <= self.cutoff
        scores = np.zeros(block.size)
        scores[relevant.row[first]] = 1.0 / relevant.rank[first]
        return scores

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        if columns["relevant"].any():
            rank = int(columns["relevant"].argmax()) + 1
            step = Step(str(self), "1 / {}", (rank,), 1 / rank, f"the first relevant document is at rank {rank}")
        else:
            top = f" in the top {self.cutoff}" if self.cutoff else ""
            step = Step(str(self), "", (), 0.0, f"no relevant document{top}")
        return Arithmetic(columns, (step,), adds="relevant", running="found")


class IPrec(Binary):
    """Interpolated precision: the maximum precision at a recall level or above.

    Formula:
        IPrec@r = max of P@i over the ranks i by which at least c relevant documents were found

    For n relevant documents, c is r n rounded up (recall-cut=exact), rounded to nearest (recall-cut=round, as in
    trec_eval 10), or r n + 0.9 truncated (recall-cut=ceil0.9, as in trec_eval 9).

    Conventions:
        - r is a recall level from 0 to 1; IPrec@0 is the maximum precision at any rank
        - recall level not reached: 0
        - no relevant documents: undefined

    Agrees with:
        trec_eval 10 iprec_at_recall_r (recall-cut=round), trec_eval 9 and ir_measures IPrec@r (recall-cut=ceil0.9)

    Example:
        Relevant documents at ranks 1 and 3: recall 1 is reached at rank 3 with precision 2/3.

        >>> round(gainful.parse("IPrec@0.5").score([1, 0, 1]), 4), round(gainful.parse("IPrec@1").score([1, 0, 1]), 4)
        (1.0, 0.6667)
    """

    name = "IPrec"
    at = "recall"
    needs_at = True
    recall: float | None = None

    def compute(self, block: Block) -> Floats:
        relevant, base = self._relevant(block), self._base(block)
        needed = _needed(self.recall or 0.0, base, block.policy.recall_cut)
        # Precision peaks at relevant documents, so other ranks can be ignored.
        enough = relevant.ordinal >= needed[relevant.row]
        scores = np.zeros(block.size)
        np.maximum.at(scores, relevant.row[enough], relevant.ordinal[enough] / relevant.rank[enough])
        return np.where(base == 0, np.nan, scores)


class IAP(OfRelevant, takes="points rel level unjudged"):
    """Interpolated average precision: the mean interpolated precision over 11 recall levels.

    Formula:
        IAP = mean over the points r of IPrec@r

    Conventions:
        - points are 0, 0.1, ..., 1 by default; points=0-0.5-1 sets others
        - recall-cut sets the number of documents that a point needs, as in IPrec
        - no relevant documents: undefined

    Agrees with:
        trec_eval 11pt_avg (recall-cut as in IPrec)

    Example:
        Relevant documents at ranks 1 and 3: precision 1 up to recall 0.5, then 2/3.

        >>> round(gainful.parse("IAP(points=0.25-0.5-1)").score([1, 0, 1]), 4)
        0.8889
    """

    name = "IAP"
    points = "0-0.1-0.2-0.3-0.4-0.5-0.6-0.7-0.8-0.9-1"

    def _levels(self) -> list[float]:
        return [float(point) for point in self.points.split("-")]

    def compute(self, block: Block) -> Floats:
        relevant, base = self._relevant(block), self._base(block)
        by_count, _ = in_columns(relevant.row, relevant.ordinal / relevant.rank, block.size)
        # The maximum precision at or after each relevant document; the last column is for recall never reached.
        best = np.maximum.accumulate(np.pad(by_count, ((0, 0), (0, 1)))[:, ::-1], axis=1)[:, ::-1]
        row, total = np.arange(block.size), np.zeros(block.size)
        for level in reversed(self._levels()):  # in trec_eval's order, to round alike
            needed = _needed(level, base, block.policy.recall_cut)
            total += best[row, np.minimum(np.maximum(needed, 1), best.shape[1]) - 1]
        return np.where(base == 0, np.nan, total / len(self._levels()))


class GMAP(AP):
    """Average precision, aggregated by geometric mean, which emphasises the worst queries.

    Formula:
        GMAP = exp(mean over queries of ln max(AP, 0.00001))

    Conventions:
        - per-query scores are AP
        - no relevant documents: undefined

    Differs from:
        pytrec_eval, whose per-query scores are logarithms

    Reference:
        Robertson, On GMAP, CIKM 2006

    Example:
        >>> judged, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["b", "c", "d", "a"]}
        >>> round(gainful.evaluate(judged, run, "GMAP").aggregate("GMAP"), 4)  # the root of 1 * 1/4
        0.5
    """

    name = "GMAP"
    aggregate = "geometric"
