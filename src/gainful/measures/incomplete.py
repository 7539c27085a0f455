"""Measures for incomplete judgments: scores from judged documents only, and the share of judged documents."""

from __future__ import annotations

import numpy as np

from gainful.data.lists import count_to, is_relevant, ordinal_in_row
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Usual
from gainful.measures.block import Block, ratios
from gainful.measures.precision import OfRelevant

#: Keeps InfAP's estimate of precision defined if no judged document ranks above.
_EPSILON = 1e-5


class _OfJudged(OfRelevant):
    def _hits(self, block: Block) -> tuple[Ints, Ints, Ints, Ints]:
        """Return row and rank of relevant hits, and the relevant and other judged documents above each."""
        hits = block.hits
        chosen = is_relevant(hits.grade, self.rel, self.level)
        row = hits.row[chosen]
        relevant_above = ordinal_in_row(row) - 1
        return row, hits.rank[chosen], relevant_above, block.condensed_rank[chosen] - 1 - relevant_above

    def _mean(self, block: Block, row: Ints, shares: Floats) -> Floats:
        return ratios(np.bincount(row, shares, minlength=block.size), self._base(block))


class Bpref(_OfJudged, takes="rel level"):
    """Binary preference: how often relevant documents rank above documents judged non-relevant.

    Formula:
        Bpref = 1/n * sum over relevant documents found of (1 - min(m, n) / min(M, n))

    n documents are relevant and M are judged non-relevant; m of these M rank above the relevant document.

    Conventions:
        - unjudged documents are ignored; no cutoff
        - a relevant document below none judged non-relevant adds 1; one that was not retrieved adds 0
        - no relevant documents: undefined
        - negative=unjudged treats negative grades as unjudged

    Agrees with:
        trec_eval bpref, ir_measures Bpref
    Differs from:
        the article's formula, which divides by n instead of min(M, n)

    Reference:
        Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; trec_eval, m_bpref.c

    Example:
        Three relevant documents, two non-relevant ones, one of them above the second relevant: (1 + 1 - 1/2) / 3.

        >>> gainful.parse("Bpref").score([1, None, 0, 1, 0], unretrieved=[1])
        0.5
    """

    name = "Bpref"

    def compute(self, block: Block) -> Floats:
        row, _, _, others_above = self._hits(block)
        base = self._base(block)
        counted = np.minimum(block.judged_counts - base, base)[row]
        # With no non-relevant judgments, none is above, and the share is 1.
        return self._mean(block, row, 1.0 - np.minimum(others_above, base[row]) / np.maximum(counted, 1))


class GMBpref(Bpref):
    """Bpref, aggregated by geometric mean, which emphasises the worst queries.

    Formula:
        GMBpref = exp(mean over queries of ln max(Bpref, 0.00001))

    Conventions:
        - per-query scores are Bpref
        - no relevant documents: undefined

    Differs from:
        pytrec_eval, whose per-query scores are logarithms

    Reference:
        Robertson, On GMAP, CIKM 2006; trec_eval, m_gm_bpref.c

    Example:
        >>> judged, run = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0, "c": 1}}, {"q1": ["a"], "q2": ["a", "b"]}
        >>> round(gainful.evaluate(judged, run, "GMBpref").aggregate("GMBpref"), 4)  # the root of 1 * 1/2
        0.7071
    """

    name = "GMBpref"
    aggregate = "geometric"


class InfAP(_OfJudged, takes="rel level unjudged"):
    """Inferred average precision: an estimate of AP from a pool that was judged only in part.

    Formula:
        InfAP = 1/n * sum over relevant documents found at rank k of (1 + pool * (r + e) / (r + s + 2e)) / k

    n documents are relevant; above rank k are r relevant documents, s judged non-relevant, and pool documents in the
    pool, judged or not; e = 0.00001.

    Conventions:
        - with negative=unjudged, a negative grade marks an unjudged document of the pool; a document without a grade
          was not in the pool and counts as non-relevant
        - has no cutoff
        - no relevant documents: undefined

    Agrees with:
        trec_eval infAP, ir_measures infAP (both with negative=unjudged)

    Reference:
        Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006

    Example:
        Of the two documents above the second relevant one, half are relevant: (1 + (1 + 2 * 1/2) / 3) / 2.

        >>> round(gainful.parse("InfAP").score([1, 0, 1]), 4)
        0.8333
    """

    name = "InfAP"

    def compute(self, block: Block) -> Floats:
        row, rank, relevant, others = self._hits(block)
        unknown = count_to(block.pooled, row, rank)
        # Expected precision above a relevant document.
        share = (relevant + _EPSILON) / (relevant + others + 2 * _EPSILON)
        return self._mean(block, row, (1.0 + (relevant + others + unknown) * share) / rank)


class Judged(Usual, takes="cutoff"):
    """Share of the first k documents that are judged; below 1, other scores rest on assumptions about the rest.

    Formula:
        Judged@k = judged documents in the top k / min(k, documents retrieved)

    Conventions:
        - without @k, the whole list counts
        - computed before unjudged=condensed removes documents
        - no documents retrieved: undefined
        - negative=unjudged treats negative grades as unjudged

    Agrees with:
        ir_measures Judged@k

    Reference:
        ir_measures, Judged

    Example:
        >>> gainful.parse("Judged@4").score([2, None, 0, None])
        0.5
    """

    name = "Judged"
    better = "neither"
    whole_list = True
    exempt = {"perfect": "a list of judged documents need not be good", "swap": "it ignores grades"}

    def compute(self, block: Block) -> Floats:
        shown = block.retrieved if self.cutoff is None else np.minimum(block.retrieved, self.cutoff)
        return ratios(block.count(block.hits, self.cutoff), shown)


class Unjudged(Usual, takes="cutoff"):
    """Share of the first k documents that are unjudged.

    Formula:
        Unjudged@k = unjudged documents in the top k / k

    Conventions:
        - divides by k even if the list is shorter; Judged@k divides by the documents retrieved
        - computed before unjudged=condensed removes documents
        - negative=unjudged treats negative grades as unjudged

    Agrees with:
        trec_eval 10 unj_k without -J, which makes it 0

    Reference:
        trec_eval 10, m_unjudged.c

    Example:
        >>> gainful.parse("Unjudged@4").score([2, None, 0])
        0.25
    """

    name = "Unjudged"
    better = "neither"
    whole_list = True
    needs_at = True

    def compute(self, block: Block) -> Floats:
        shown = np.minimum(block.retrieved, self.cutoff or 1)
        return (shown - block.count(block.hits, self.cutoff)) / float(self.cutoff or 1)
