"""Measures for judgments that do not cover everything: what only judged documents say, and how many there are."""

from __future__ import annotations

import numpy as np

from gainful.data.lists import count_to, is_relevant, ordinal_in_row
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import Block, ratios
from gainful.measures.precision import OfRelevant

#: Keeps InfAP's estimate of precision defined where nothing judged stands above a document.
_EPSILON = 1e-5


class _OfJudged(OfRelevant):
    """What Bpref and InfAP have in common."""

    def _hits(self, block: Block) -> tuple[Ints, Ints, Ints, Ints]:
        """The relevant hits: row, rank, and how many relevant and other judged documents stand above each."""
        hits = block.hits
        chosen = is_relevant(hits.grade, self.rel, self.level)
        row = hits.row[chosen]
        relevant_above = ordinal_in_row(row) - 1
        return row, hits.rank[chosen], relevant_above, block.condensed_rank[chosen] - 1 - relevant_above

    def _mean(self, block: Block, row: Ints, shares: Floats) -> Floats:
        """The sum over the documents found, divided by the recall base."""
        return ratios(np.bincount(row, shares, minlength=block.size), self._base(block))


class Bpref(_OfJudged):
    """Binary preference: how often relevant documents stand above documents judged not relevant.

    Formula:
        Bpref = 1/n * sum over relevant documents found of (1 - min(m, n) / min(M, n))

    n documents are relevant and M are judged not relevant; m of those stand above the relevant document.

    Conventions:
        - unjudged documents do not count at all; takes no k
        - a document with nothing judged not relevant above it adds 1
        - a relevant document that was not retrieved adds 0
        - nothing relevant: undefined
        - negative=unjudged makes a grade below 0 count as not judged

    Agrees with:
        trec_eval bpref, ir_measures Bpref
    Differs from:
        the formula of the article, which divides by n instead of min(M, n)

    Reference:
        Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; trec_eval, m_bpref.c

    Example:
        Three are relevant, two are not; one of the two is above the second document found: (1 + 1 - 1/2) / 3.

        >>> from gainful import parse
        >>> parse("Bpref").score([1, None, 0, 1, 0], unretrieved=[1])
        0.5
    """

    name = "Bpref"
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        row, _, _, others_above = self._hits(block)
        base = self._base(block)
        others = block.judged_counts - base
        counted = np.minimum(others, base)[row]
        # Where no other is judged none is above, and the share is 1.
        return self._mean(block, row, 1.0 - np.minimum(others_above, base[row]) / np.maximum(counted, 1))


class GMBpref(Bpref):
    """Bpref, of which a table shows the geometric mean: bad queries weigh more.

    Formula:
        GMBpref = exp(mean over queries of ln max(Bpref, 0.00001))

    Conventions:
        - the score of a query is its Bpref
        - nothing relevant: undefined

    Agrees with:
        trec_eval gm_bpref
    Differs from:
        pytrec_eval, whose score of a query is the logarithm

    Reference:
        Robertson, On GMAP, CIKM 2006; trec_eval, m_gm_bpref.c

    Example:
        >>> from gainful import evaluate
        >>> judged, run = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0, "c": 1}}, {"q1": ["a"], "q2": ["a", "b"]}
        >>> round(evaluate(judged, run, "GMBpref").aggregate("GMBpref"), 4)  # the root of 1 * 1/2
        0.7071
    """

    name = "GMBpref"
    aggregate = "geometric"


class InfAP(_OfJudged):
    """Inferred average precision: what AP would be if all documents of the pool had been judged.

    Formula:
        InfAP = 1/n * sum over relevant documents found at rank k of (1 + pool * (r + e) / (r + s + 2e)) / k

    n documents are relevant; above rank k are r relevant documents, s judged not relevant, and pool documents that were
    in the pool at all; e = 0.00001.

    Conventions:
        - a grade below 0 is a document of the pool that was not judged, if negative=unjudged says so; a document
          without any grade was not in the pool and counts as not relevant
        - takes no k
        - nothing relevant: undefined

    Agrees with:
        trec_eval infAP, ir_measures infAP (both with negative=unjudged)

    Reference:
        Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006

    Example:
        Nothing judged is above the first relevant document, and of the two above the second one half are relevant:
        (1 + (1 + 2 * 1/2) / 3) / 2.

        >>> from gainful import parse
        >>> round(parse("InfAP").score([1, 0, 1]), 4)
        0.8333
    """

    name = "InfAP"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        row, rank, relevant, others = self._hits(block)
        unknown = count_to(block.pooled, row, rank)
        # The precision at a relevant document, expected from what is known of the documents above it.
        share = (relevant + _EPSILON) / (relevant + others + 2 * _EPSILON)
        return self._mean(block, row, (1.0 + (relevant + others + unknown) * share) / rank)


class Judged(Measure):
    """How much of what the user sees was judged at all: below 1, the other numbers are guesses about the rest.

    Formula:
        Judged@k = judged documents in the top k / min(k, documents retrieved)

    Conventions:
        - without @k the whole list counts
        - looks at the list before unjudged=condensed removes anything
        - nothing retrieved: undefined
        - negative=unjudged makes a grade below 0 count as not judged

    Agrees with:
        ir_measures Judged@k

    Reference:
        ir_measures, Judged

    Example:
        >>> from gainful import parse
        >>> parse("Judged@4").score([2, None, 0, None])
        0.5
    """

    name = "Judged"
    better = "neither"
    whole_list = True
    exempt = {
        "perfect": "a judged list need not be a good one",
        "swap": "it does not look at grades",
    }
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        shown = block.retrieved if self.cutoff is None else np.minimum(block.retrieved, self.cutoff)
        return ratios(block.count(block.hits, self.cutoff), shown)


class Unjudged(Measure):
    """How much of what the user sees was not judged.

    Formula:
        Unjudged@k = unjudged documents in the top k / k

    Conventions:
        - divides by k even where the list is shorter; Judged@k divides by what there is
        - looks at the list before unjudged=condensed removes anything
        - negative=unjudged makes a grade below 0 count as not judged

    Agrees with:
        trec_eval 10 unj_k, except that -J makes that 0

    Reference:
        trec_eval 10, m_unjudged.c

    Example:
        >>> from gainful import parse
        >>> parse("Unjudged@4").score([2, None, 0])
        0.25
    """

    name = "Unjudged"
    better = "neither"
    whole_list = True
    needs_at = True
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        shown = np.minimum(block.retrieved, self.cutoff or 1)
        return (shown - block.count(block.hits, self.cutoff)) / float(self.cutoff or 1)
