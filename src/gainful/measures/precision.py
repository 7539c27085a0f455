"""Precision, recall and measures derived from them, down to a rank or of the whole list."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from gainful.data.lists import Documents
from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.arithmetic import Arithmetic, Step, last, ranks_of, seen
from gainful.measures.base import Usual
from gainful.measures.block import Block, ratios
from gainful.measures.expected import expected_completions, expected_successes


class _OfChosen(Usual):
    """A measure of documents chosen by grade. Without ``cutoff``, the whole list."""

    def _relevant(self, block: Block) -> Documents:
        return block.relevant(self.rel, self.level)

    def _found(self, block: Block) -> Ints | Floats:
        return block.count(self._relevant(block), self.cutoff)

    def _any_found(self, block: Block) -> Floats:
        if block.averages_ties:
            return expected_successes(block.groups(self._relevant(block)), self.cutoff, block.size)
        return (self._found(block) > 0).astype(np.float64)

    def _base(self, block: Block) -> Ints:
        return block.recall_base(self.rel, self.level)

    def _by_rank(self, block: Block) -> dict[str, Floats]:
        """Return relevance and the number of relevant documents so far, by rank of the block's only list."""
        ranks, relevant = self._relevant(block).rank, np.zeros(seen(block, self.cutoff))
        relevant[ranks[ranks <= relevant.size] - 1] = 1.0
        return {"relevant": relevant, "found": np.cumsum(relevant)}


class OfRelevant(_OfChosen):
    """A measure of binary relevance; subclasses take its parameters.

    Conventions:
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g
    """


class Binary(OfRelevant, takes="rel level unjudged"):
    """A measure of binary relevance with the usual parameters.

    Conventions:
        - unjudged documents are not relevant
    """

    def _hint_at(self) -> str:
        return super()._hint_at() + (f", or Set{self.name} for the whole list" if self.at == "cutoff" else "")


class Precision(Binary):
    """Relevant documents / k, or / the length of the list."""

    def compute(self, block: Block) -> Floats:
        return ratios(self._found(block), self.cutoff or block.retrieved)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        columns["P"] = columns["found"] / ranks_of(columns["found"])
        found, looked_at = last(columns["found"]), self.cutoff or seen(block)
        step = Step.division(str(self), found, looked_at, undefined="nothing was retrieved")
        return Arithmetic(columns, (step,), adds="relevant", running="P")


class Recall(Binary):
    """Relevant documents found / relevant documents."""

    def compute(self, block: Block) -> Floats:
        return ratios(self._found(block), self._base(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns, base = self._by_rank(block), int(self._base(block)[0])
        columns["R"] = ratios(columns["found"], base)
        step = Step.division(str(self), last(columns["found"]), base, undefined="nothing is relevant")
        return Arithmetic(columns, (step,), adds="relevant", running="R")


def squared(beta: float) -> float:
    """Square beta, undoing a square root exactly: other tools take beta^2.

    >>> math.sqrt(2.0) ** 2, squared(math.sqrt(2.0)), squared(0.3)
    (2.0000000000000004, 2.0, 0.09)
    """
    square = beta**2
    near = (square, math.nextafter(square, 0.0), math.nextafter(square, math.inf))
    return min((number for number in near if math.sqrt(number) == beta), key=lambda n: len(repr(n)), default=square)


class FMeasure(Binary):
    """F of precision and recall."""

    beta = 1.0

    def compute(self, block: Block) -> Floats:
        # In trec_eval's order of operations, to round alike.
        found, base, weight = self._found(block), self._base(block), squared(self.beta)
        precision, recall = found / np.maximum(self.cutoff or block.retrieved, 1), found / np.maximum(base, 1)
        with np.errstate(invalid="ignore"):
            weighted = (weight + 1.0) * precision * recall / (weight * precision + recall)
        return np.where(base == 0, np.nan, np.where(found == 0, 0.0, weighted))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns, base, k = self._by_rank(block), int(self._base(block)[0]), self.cutoff
        found, of_p, of_r = last(columns["found"]), *(("SetP", "SetR") if k is None else (f"P@{k}", f"R@{k}"))
        precision = Step.division(of_p, found, k or seen(block), undefined="nothing was retrieved")
        recall = Step.division(of_r, found, base, undefined="nothing is relevant")
        p, r, weight = precision.value, recall.value, squared(self.beta)
        if not base:
            step = Step.undefined(str(self), "nothing is relevant")
        elif not found:
            step = Step(str(self), "", (), 0.0, "no relevant document was found")
        else:
            value = (1 + weight) * p * r / (weight * p + r)
            step = Step(str(self), "(1 + {}) * {} * {} / ({} * {} + {})", (weight, p, r, weight, p, r), value)
        return Arithmetic(columns, (precision, recall, step), adds="relevant", running="found")


class P(Precision, takes="cutoff"):
    """Precision: the share of the first k documents that are relevant.

    Formula:
        P@k = relevant documents in the top k / k

    Conventions:
        - divides by k even if the list is shorter; SetP divides by the length of the list
        - no relevant documents: 0

    Agrees with:
        trec_eval P_k, ir_measures P@k, ranx precision@k

    Example:
        >>> gainful.parse("P@4").score([2, 0, 1, 0])
        0.5
    """

    name = "P"
    needs_at = True


class R(Recall, takes="cutoff"):
    """Recall: the share of relevant documents that are among the first k.

    Formula:
        R@k = relevant documents in the top k / relevant judged documents

    Conventions:
        - the recall base is never cut: with more than k relevant documents, R@k is below 1
        - no relevant documents: undefined

    Agrees with:
        trec_eval recall_k, ir_measures R@k, ranx recall@k

    Example:
        Two of the three relevant documents are found.

        >>> round(gainful.parse("R@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "R"
    needs_at = True


class F(FMeasure, takes="beta cutoff"):
    """F: the weighted harmonic mean of precision and recall of the first k documents.

    Formula:
        F@k = (1 + beta^2) P R / (beta^2 P + R), P = P@k and R = R@k

    Conventions:
        - beta above 1 favours recall, below 1 precision
        - no relevant documents found: 0; no relevant documents: undefined

    Agrees with:
        ranx f1@k (beta=1)
    Differs from:
        trec_eval set_F, whose parameter is beta^2

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        P = 2/4, R = 2/3: 2 * (1/2) * (2/3) / (1/2 + 2/3).

        >>> round(gainful.parse("F@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.5714
    """

    name = "F"
    needs_at = True


class Rprec(Binary):
    """R-precision: precision at rank n for n relevant documents.

    Formula:
        Rprec = relevant documents in the top n / n, n = relevant judged documents

    Conventions:
        - has no cutoff
        - no relevant documents: undefined

    Agrees with:
        trec_eval Rprec, ir_measures Rprec, ranx r-precision

    Example:
        Three documents are relevant; two are in the top three.

        >>> round(gainful.parse("Rprec").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "Rprec"

    def compute(self, block: Block) -> Floats:
        base = self._base(block)
        return ratios(block.count(self._relevant(block), base), base)


class RprecMult(Binary):
    """Precision at a multiple of the number of relevant documents.

    Formula:
        RprecMult@m = relevant documents in the top c / c, c = floor(m n + 0.9), n = relevant judged documents

    Conventions:
        - m is a multiple such as 0.2 or 2; RprecMult@1 is Rprec
        - c is computed in 64-bit floats, as in trec_eval: 0.7 * 3 + 0.9 is just below 3, so c is 2
        - divides by c even if the list is shorter
        - nothing relevant, or c = 0: undefined

    Agrees with:
        trec_eval Rprec_mult_m, all versions

    Example:
        Three documents are relevant; two are in the top six.

        >>> round(gainful.parse("RprecMult@2").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.3333
    """

    name = "RprecMult"
    at = "multiple"
    needs_at = True
    multiple: float | None = None

    def compute(self, block: Block) -> Floats:
        depth = np.floor((self.multiple or 0.0) * self._base(block) + 0.9)
        return ratios(block.count(self._relevant(block), depth), depth)


class RelP(Binary, takes="cutoff"):
    """Precision relative to the maximum possible with k documents.

    Formula:
        RelP@k = relevant documents in the top k / min(k, n), n = relevant judged documents

    Conventions:
        - equals precision for k <= n and recall for k >= n; also called capped recall
        - no relevant documents: undefined

    Example:
        Two of three relevant documents are in the top four, which could hold all three.

        >>> round(gainful.parse("RelP@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "RelP"
    needs_at = True

    def compute(self, block: Block) -> Floats:
        return ratios(self._found(block), np.minimum(self._base(block), self.cutoff or 1))


class Success(Binary, takes="cutoff"):
    """Success: whether any of the first k documents is relevant.

    Formula:
        Success@k = 1 if a relevant document is in the top k, else 0

    Conventions:
        - without @k, the whole list counts
        - no relevant documents: 0

    Agrees with:
        trec_eval success_k, ir_measures Success@k, ranx hit_rate@k

    Example:
        >>> gainful.parse("Success@1").score([0, 1]), gainful.parse("Success@5").score([0, 1])
        (0.0, 1.0)
    """

    name = "Success"

    def compute(self, block: Block) -> Floats:
        return self._any_found(block)


class Complete(Binary, takes="cutoff"):
    """Completeness: whether all relevant documents are among the first k.

    Formula:
        Complete@k = 1 if all relevant judged documents are in the top k, else 0

    Conventions:
        - without @k, the whole list counts
        - more than k relevant documents: 0; no relevant documents: undefined

    Agrees with:
        recall_all@k of LongMemEval

    Reference:
        Wu et al., LongMemEval: Benchmarking chat assistants on long-term interactive memory, ICLR 2025

    Example:
        >>> gainful.parse("Complete@2").score([2, 0, 1]), gainful.parse("Complete@3").score([2, 0, 1])
        (0.0, 1.0)
    """

    name = "Complete"

    def compute(self, block: Block) -> Floats:
        base, relevant = self._base(block), self._relevant(block)
        is_retrieved = np.bincount(relevant.row, minlength=block.size) == base
        is_seen = np.asarray(self._found(block) == base, np.float64)
        if block.averages_ties:
            is_seen = expected_completions(block.groups(relevant), self.cutoff, block.size)
        return np.where(base == 0, np.nan, is_retrieved * is_seen)


class Leak(_OfChosen, takes="forbidden cutoff"):
    """Leak: whether any of the first k documents is forbidden.

    Formula:
        Leak@k = 1 if a forbidden document is in the top k, else 0

    Conventions:
        - forbidden is grade < 0, with forbidden=g grade <= g; unjudged documents are not forbidden
        - without @k, the whole list counts, always with its unjudged documents
        - a query that is not answered shows nothing: 0
        - judgments that forbid no document of any query, such as those with negative=unjudged: undefined, and 0 with
          undefined=zero

    Reference:
        trec_eval, m_success.c, for forbidden instead of relevant documents

    Example:
        >>> gainful.parse("Leak@2").score([1, 0, -1]), gainful.parse("Leak(forbidden=0)@2").score([1, 0, -1])
        (0.0, 1.0)
    """

    name = "Leak"
    better = "lower"
    worst = 0.0  # without an answer
    whole_list = True
    forbidden = cast("float | None", None)

    def is_forbidden(self, grades: Floats) -> Bools:
        """Return whether documents of these grades are forbidden."""
        return np.asarray(grades < 0 if self.forbidden is None else grades <= self.forbidden)

    def _relevant(self, block: Block) -> Documents:
        hits, chosen = block.hits, self.is_forbidden(block.hits.grade)
        documents = Documents(hits.row[chosen], hits.rank[chosen], hits.grade[chosen])
        return block.cached(("forbidden", self.forbidden), lambda: documents)

    def compute(self, block: Block) -> Floats:
        judged = block.graded.judged
        if not self.is_forbidden(judged.settled(np.array(judged.qrels.levels))).any():
            return np.full(block.size, np.nan)
        return self._any_found(block)


class SetP(Precision):
    """Precision of the whole list.

    Formula:
        SetP = relevant documents retrieved / documents retrieved

    Conventions:
        - no documents retrieved: undefined

    Agrees with:
        trec_eval set_P, ir_measures SetP

    Example:
        >>> gainful.parse("SetP").score([2, 0, 1, 0])
        0.5
    """

    name = "SetP"


class SetR(Recall):
    """Recall of the whole list.

    Formula:
        SetR = relevant documents retrieved / relevant judged documents

    Conventions:
        - no relevant documents: undefined

    Agrees with:
        trec_eval set_recall, ir_measures SetR

    Example:
        >>> round(gainful.parse("SetR").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "SetR"


class SetF(FMeasure, takes="beta"):
    """F of the whole list.

    Formula:
        SetF = (1 + beta^2) P R / (beta^2 P + R), P = SetP and R = SetR

    Conventions:
        - no relevant documents found: 0; no relevant documents: undefined

    Agrees with:
        trec_eval set_F with its default parameter
    Differs from:
        trec_eval set_F.x, whose x is beta^2

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        >>> round(gainful.parse("SetF").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.5714
    """

    name = "SetF"


class SetAP(Binary):
    """Precision times recall of the whole list: the expected AP if the list were in random order.

    Formula:
        SetAP = SetP * SetR

    Conventions:
        - no relevant documents found: 0; no relevant documents: undefined

    Agrees with:
        trec_eval set_map, ir_measures SetAP

    Example:
        >>> round(gainful.parse("SetAP").score([2, 0, 1, 0], unretrieved=[1]), 4)  # 2/4 * 2/3
        0.3333
    """

    name = "SetAP"

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        return ratios(found * found, np.maximum(block.retrieved, 1) * base)


class SetRelP(Binary):
    """Precision of the whole list relative to the maximum possible at its length.

    Formula:
        SetRelP = relevant documents retrieved / min(documents retrieved, n), n = relevant judged documents

    Conventions:
        - no documents retrieved: undefined; no relevant documents: undefined

    Example:
        >>> round(gainful.parse("SetRelP").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "SetRelP"

    def compute(self, block: Block) -> Floats:
        return ratios(self._found(block), np.minimum(self._base(block), block.retrieved))


class Utility(Binary, takes="a b c d N"):
    """Linear utility: a weighted count of relevant and non-relevant documents, retrieved or not.

    Formula:
        Utility = a * found + b * (m - found) + c * (n - found) + d * (N - m - n + found)

    m documents are retrieved, n are relevant, and found are both; N is the size of the collection.

    Conventions:
        - defaults are a = 1, b = -1, c = d = 0; d requires N
        - an unanswered query has the value of an empty list

    Example:
        Two of four documents are relevant, one relevant document is missed: 2 * 2 - 2 - 0.5 * 1.

        >>> gainful.parse("Utility(a=2, c=-0.5)").score([2, 0, 1, 0], unretrieved=[1])
        1.5
    """

    name = "Utility"
    bounds = (-math.inf, math.inf)
    a, b, c, d = 1.0, -1.0, 0.0, 0.0
    N = cast("int | None", None)

    def validate(self) -> None:
        super().validate()
        if self.d and self.N is None:
            raise UsageError(f"{self.name}: d requires N, the size of the collection", "write d=1, N=100000")

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        scores = self.a * found + self.b * (block.retrieved - found) + self.c * (base - found)
        if self.d and self.N is not None:
            known = block.retrieved + base - found
            if known.max(initial=0) > self.N:
                raise UsageError(f"{self.name}: N={self.N}, but a query has {known.max()} documents")
            scores = scores + self.d * (self.N - known)
        return np.asarray(scores, np.float64)
