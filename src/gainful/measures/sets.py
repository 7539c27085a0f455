"""Precision, recall and F of whole lists, as sets."""

from __future__ import annotations

from dataclasses import dataclass

from gainful.arrays import Floats
from gainful.measures.arithmetic import Arithmetic, Step, last, ranks_of, seen
from gainful.measures.block import Block
from gainful.measures.precision import Binary, f_arithmetic, f_measure, ratio, recall_arithmetic, recall_step


def _precision_step(name: str, found: Floats, length: int) -> Step:
    return Step.division(name, last(found), length, undefined="nothing was retrieved")


@dataclass(frozen=True, eq=False, repr=False)
class SetP(Binary):
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
        return ratio(self._found(block), block.retrieved)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        found = columns["found"]
        columns["P"] = found / ranks_of(found)
        steps = (_precision_step(str(self), found, seen(block)),)
        return Arithmetic(columns, steps, adds="relevant", running="P")


@dataclass(frozen=True, eq=False, repr=False)
class SetR(Binary):
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
        return ratio(self._found(block), self._base(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        return recall_arithmetic(str(self), self._by_rank(block), int(self._base(block)[0]))


@dataclass(frozen=True, eq=False, repr=False)
class SetF(Binary):
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
        return f_measure(self._found(block), block.retrieved, self._base(block), self.beta)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        precision = _precision_step("SetP", columns["found"], seen(block))
        recall = recall_step("SetR", columns["found"], int(self._base(block)[0]))
        return f_arithmetic(str(self), columns, precision, recall, self.beta)
