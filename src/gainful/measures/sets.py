"""Whole lists as sets: precision, recall and what is made of them, and counts.

Counts are not better or worse, but the first thing to look at. They are added up over queries, not averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.measures.base import Aggregate, Better, Measure
from gainful.measures.block import Block, ratios
from gainful.measures.precision import Binary, FMeasure, OfRelevant, Precision, Recall


@dataclass(frozen=True, eq=False, repr=False)
class SetP(Precision):
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


@dataclass(frozen=True, eq=False, repr=False)
class SetR(Recall):
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


@dataclass(frozen=True, eq=False, repr=False)
class SetF(FMeasure):
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


@dataclass(frozen=True, eq=False, repr=False)
class SetAP(Binary):
    """Precision times recall of the whole list: the AP to expect if its order were random.

    Formula:
        SetAP = SetP * SetR

    Conventions:
        - nothing found: 0; nothing relevant: undefined

    Agrees with:
        trec_eval set_map, ir_measures SetAP

    Reference:
        trec_eval, m_set_map.c

    Example:
        >>> from gainful import parse
        >>> round(parse("SetAP").score([2, 0, 1, 0], unretrieved=[1]), 4)  # 2/4 * 2/3
        0.3333
    """

    name = "SetAP"
    trec_eval = "set_map"
    at = None

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        return ratios(found * found, np.maximum(block.retrieved, 1) * base)


@dataclass(frozen=True, eq=False, repr=False)
class Utility(Binary):
    """What a list is worth if every document has its price: so much if relevant, so much if not.

    Formula:
        Utility = a * found + b * (m - found) + c * (n - found) + d * (N - m - n + found)

    m documents are retrieved, n are relevant, and found are both; N is the size of the collection.

    Conventions:
        - a = 1, b = -1, c = d = 0 unless given; d needs N
        - unjudged documents are not relevant
        - a query that is not answered has the value of an empty list

    Agrees with:
        trec_eval utility

    Reference:
        trec_eval, m_utility.c

    Example:
        Two of four documents are relevant, and one is missed: 2 * 2 - 2 - 0.5 * 1.

        >>> from gainful import parse
        >>> parse("Utility").score([2, 0, 1, 0]), parse("Utility(a=2, c=-0.5)").score([2, 0, 1, 0], unretrieved=[1])
        (0.0, 1.5)
    """

    name = "Utility"
    trec_eval = "utility"
    bounds = (-math.inf, math.inf)
    at = None
    a: float = 1.0
    b: float = -1.0
    c: float = 0.0
    d: float = 0.0
    N: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.d and self.N is None:
            raise UsageError(f"{self.name}: d needs the size of the collection, found no N", "write d=1, N=100000")

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        scores = self.a * found + self.b * (block.retrieved - found) + self.c * (base - found)
        if self.d and self.N is not None:
            known = block.retrieved + base - found
            if known.max(initial=0) > self.N:
                raise UsageError(
                    f"{self.name}: expected N of at least {known.max()}, the documents of one query, found {self.N}"
                )
            scores = scores + self.d * (self.N - known)
        return np.asarray(scores, np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class _Count(Measure):
    """A number of documents, or of queries, that needs no arithmetic."""

    better: ClassVar[Better] = "neither"
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)
    aggregate: ClassVar[Aggregate] = "sum"
    at = None


@dataclass(frozen=True, eq=False, repr=False)
class NumQ(_Count):
    """How many queries were evaluated.

    Formula:
        NumQ = 1 for every query, added up

    Conventions:
        - a judged query that the run does not answer counts unless missing=skip

    Agrees with:
        trec_eval num_q, ir_measures NumQ

    Reference:
        trec_eval, m_num_q.c

    Example:
        >>> from gainful import parse
        >>> parse("NumQ").score([1, 0])
        1.0
    """

    name = "NumQ"
    trec_eval = "num_q"

    def compute(self, block: Block) -> Floats:
        return np.ones(block.size)


@dataclass(frozen=True, eq=False, repr=False)
class NumRet(_Count):
    """How many documents were retrieved.

    Formula:
        NumRet = length of the list, after duplicates and depth

    Conventions:
        - unjudged=condensed leaves the judged ones

    Agrees with:
        trec_eval num_ret, ir_measures NumRet

    Reference:
        trec_eval, m_num_ret.c

    Example:
        >>> from gainful import parse
        >>> parse("NumRet").score([1, None, 0])
        3.0
    """

    name = "NumRet"
    trec_eval = "num_ret"
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        return block.retrieved.astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class NumRel(_Count, OfRelevant):
    """How many documents are judged relevant.

    Formula:
        NumRel = relevant judged documents, retrieved or not

    Conventions:
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        trec_eval num_rel, ir_measures NumRel

    Reference:
        trec_eval, m_num_rel.c

    Example:
        >>> from gainful import parse
        >>> parse("NumRel").score([2, 0], unretrieved=[1])
        2.0
    """

    name = "NumRel"
    trec_eval = "num_rel"
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return self._base(block).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class NumRelRet(_Count, OfRelevant):
    """How many relevant documents were retrieved.

    Formula:
        NumRelRet = relevant documents in the list

    Conventions:
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        trec_eval num_rel_ret, ir_measures NumRelRet

    Reference:
        trec_eval, m_num_rel_ret.c

    Example:
        >>> from gainful import parse
        >>> parse("NumRelRet").score([2, 0], unretrieved=[1])
        1.0
    """

    name = "NumRelRet"
    trec_eval = "num_rel_ret"
    better = "higher"
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return self._found(block).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class NumNonRelJudgedRet(_Count, OfRelevant):
    """How many documents were retrieved that are judged not relevant.

    Formula:
        NumNonRelJudgedRet = judged documents in the list that are not relevant

    Conventions:
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g
        - negative=unjudged makes a grade below 0 count as not judged

    Agrees with:
        trec_eval num_nonrel_judged_ret

    Reference:
        trec_eval, m_num_nonrel_judged_ret.c

    Example:
        >>> from gainful import parse
        >>> parse("NumNonRelJudgedRet").score([2, 0, None, 0], unretrieved=[0])
        2.0
    """

    name = "NumNonRelJudgedRet"
    trec_eval = "num_nonrel_judged_ret"
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return (block.count(block.hits) - self._found(block)).astype(np.float64)
