"""Precision, recall and what is made of them: how many of the documents read were relevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import Block


def _ratio(numerator: Ints | Floats, denominator: Ints | Floats) -> Floats:
    """Element by element; NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator == 0, np.nan, numerator / denominator)


@dataclass(frozen=True, eq=False, repr=False)
class _Binary(Measure):
    """A measure that only asks whether a document is relevant."""

    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None

    def _found(self, block: Block, cutoff: int | None = None) -> Ints:
        return block.count(block.relevant(self.rel, self.level), cutoff)

    def _base(self, block: Block) -> Ints:
        return block.recall_base(self.rel, self.level)

    def _hint_at(self) -> str:
        return f"write {self.name}@10, or Set{self.name} for the whole list"


@dataclass(frozen=True, eq=False, repr=False)
class P(_Binary):
    """Precision: the share of relevant documents among the first k.

    Formula:
        P@k = relevant documents in the top k / k

    Conventions:
        - divides by k even where the list is shorter; SetP divides by the length of the list
        - unjudged documents are not relevant
        - nothing relevant: 0
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        trec_eval P_k, ir_measures P@k, ranx precision@k

    Reference:
        trec_eval, m_P.c

    Example:
        >>> from gainful import parse
        >>> parse("P@4").score([2, 0, 1, 0])
        0.5
    """

    name = "P"
    trec_eval_at = "P_{}"
    needs_at = True
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return self._found(block, self.cutoff) / float(self.cutoff or 1)


@dataclass(frozen=True, eq=False, repr=False)
class R(_Binary):
    """Recall: the share of the relevant documents that the first k hold.

    Formula:
        R@k = relevant documents in the top k / relevant judged documents

    Conventions:
        - the recall base is never cut: with more than k relevant documents R@k stays below 1
        - nothing relevant: undefined
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        trec_eval recall_k, ir_measures R@k, ranx recall@k

    Reference:
        trec_eval, m_recall.c

    Example:
        Two of the three relevant documents are found.

        >>> from gainful import parse
        >>> round(parse("R@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "R"
    trec_eval_at = "recall_{}"
    needs_at = True
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return _ratio(self._found(block, self.cutoff), self._base(block))


def _f_measure(found: Ints, retrieved: Ints | float, base: Ints, beta: float) -> Floats:
    # (1 + b^2) P R / (b^2 P + R) with P = found / retrieved and R = found / base, multiplied out: nothing found is 0.
    total = beta**2 * base + retrieved
    weighted = (1 + beta**2) * found / np.where(found == 0, 1.0, total)
    return np.where(base == 0, np.nan, weighted)


@dataclass(frozen=True, eq=False, repr=False)
class F(_Binary):
    """F: precision and recall of the first k in one number.

    Formula:
        F@k = (1 + beta^2) P R / (beta^2 P + R), P and R at k

    Conventions:
        - beta above 1 favours recall, below 1 precision
        - nothing found: 0; nothing relevant: undefined

    Agrees with:
        ranx f1@k (beta=1)
    Differs from:
        trec_eval set_F, which has x where the formula has beta^2

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        P = 2/4, R = 2/3: 2 * (1/2) * (2/3) / (1/2 + 2/3).

        >>> from gainful import parse
        >>> round(parse("F@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.5714
    """

    name = "F"
    needs_at = True
    beta: float = 1.0
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return _f_measure(self._found(block, self.cutoff), float(self.cutoff or 1), self._base(block), self.beta)


@dataclass(frozen=True, eq=False, repr=False)
class Rprec(_Binary):
    """R-precision: precision after as many documents as there are relevant ones.

    Formula:
        Rprec = relevant documents in the top n / n, n = relevant judged documents

    Conventions:
        - takes no k
        - nothing relevant: undefined

    Agrees with:
        trec_eval Rprec, ir_measures Rprec, ranx r-precision

    Reference:
        trec_eval, m_Rprec.c

    Example:
        Three documents are relevant; two of them are among the first three.

        >>> from gainful import parse
        >>> round(parse("Rprec").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "Rprec"
    trec_eval = "Rprec"
    at = None

    def compute(self, block: Block) -> Floats:
        relevant, base = block.relevant(self.rel, self.level), self._base(block)
        found = np.bincount(relevant.row[relevant.rank <= base[relevant.row]], minlength=block.size)
        return _ratio(found, base)


@dataclass(frozen=True, eq=False, repr=False)
class Success(_Binary):
    """Success: whether the first k hold anything relevant at all.

    Formula:
        Success@k = 1 if a relevant document is in the top k, else 0

    Conventions:
        - without @k the whole list counts
        - nothing relevant: 0

    Agrees with:
        trec_eval success_k, ir_measures Success@k, ranx hit_rate@k

    Reference:
        trec_eval, m_success.c

    Example:
        >>> from gainful import parse
        >>> parse("Success@1").score([0, 1]), parse("Success@5").score([0, 1])
        (0.0, 1.0)
    """

    name = "Success"
    trec_eval_at = "success_{}"
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return (self._found(block, self.cutoff) > 0).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class SetP(_Binary):
    """Precision of the whole list, as a set.

    Formula:
        SetP = relevant documents retrieved / documents retrieved

    Conventions:
        - nothing retrieved: undefined

    Agrees with:
        trec_eval set_P, ir_measures SetP

    Reference:
        trec_eval, m_set_P.c

    Example:
        >>> from gainful import parse
        >>> parse("SetP").score([2, 0, 1, 0])
        0.5
    """

    name = "SetP"
    trec_eval = "set_P"
    at = None

    def compute(self, block: Block) -> Floats:
        return _ratio(self._found(block), block.retrieved)


@dataclass(frozen=True, eq=False, repr=False)
class SetR(_Binary):
    """Recall of the whole list.

    Formula:
        SetR = relevant documents retrieved / relevant judged documents

    Conventions:
        - nothing relevant: undefined

    Agrees with:
        trec_eval set_recall, ir_measures SetR

    Reference:
        trec_eval, m_set_recall.c

    Example:
        >>> from gainful import parse
        >>> round(parse("SetR").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "SetR"
    trec_eval = "set_recall"
    at = None

    def compute(self, block: Block) -> Floats:
        return _ratio(self._found(block), self._base(block))


@dataclass(frozen=True, eq=False, repr=False)
class SetF(_Binary):
    """F of the whole list, as a set.

    Formula:
        SetF = (1 + beta^2) P R / (beta^2 P + R), P = SetP and R = SetR

    Conventions:
        - nothing found: 0; nothing relevant: undefined

    Agrees with:
        trec_eval set_F with its default parameter
    Differs from:
        trec_eval set_F.x, which has x where the formula has beta^2

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        >>> from gainful import parse
        >>> round(parse("SetF").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.5714
    """

    name = "SetF"
    trec_eval = "set_F"
    at = None
    beta: float = 1.0

    def compute(self, block: Block) -> Floats:
        return _f_measure(self._found(block), block.retrieved, self._base(block), self.beta)


@dataclass(frozen=True, eq=False, repr=False)
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
        seen = block.retrieved if self.cutoff is None else np.minimum(block.retrieved, self.cutoff)
        return _ratio(block.count(block.hits, self.cutoff), seen)
