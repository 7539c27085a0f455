"""Whole lists as sets: precision, recall and what is made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.measures.block import Block, ratios
from gainful.measures.precision import Binary, FMeasure, Precision, Recall


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
    at = None

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        return ratios(found * found, np.maximum(block.retrieved, 1) * base)


@dataclass(frozen=True, eq=False, repr=False)
class SetRelP(Binary):
    """Precision of the whole list relative to the best that is possible with a list of that length.

    Formula:
        SetRelP = relevant documents retrieved / min(documents retrieved, n), n = relevant judged documents

    Conventions:
        - nothing retrieved: undefined; nothing relevant: undefined

    Agrees with:
        trec_eval set_relative_P

    Reference:
        trec_eval, m_set_relative_P.c

    Example:
        >>> from gainful import parse
        >>> round(parse("SetRelP").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "SetRelP"
    at = None

    def compute(self, block: Block) -> Floats:
        return ratios(self._found(block), np.minimum(self._base(block), block.retrieved))


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
