"""Precision relative to how much there is to find."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.measures.arithmetic import Arithmetic, Step, last, seen
from gainful.measures.block import Block
from gainful.measures.precision import Binary, ratio


@dataclass(frozen=True, eq=False, repr=False)
class RelP(Binary):
    """Precision relative to the best that is possible with k documents.

    Formula:
        RelP@k = relevant documents in the top k / min(k, n), n = relevant judged documents

    Conventions:
        - precision as long as k is at most n, recall from there on; also known as capped recall
        - nothing relevant: undefined
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        trec_eval relative_P_k

    Reference:
        trec_eval, m_relative_P.c

    Example:
        Two of the three relevant documents are found, where four places would hold all three.

        >>> from gainful import parse
        >>> round(parse("RelP@4").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.6667
    """

    name = "RelP"
    trec_eval_at = "relative_P_{}"
    needs_at = True
    cutoff: int | None = None

    def _hint_at(self) -> str:
        return "write RelP@10, or SetRelP for the whole list"

    def compute(self, block: Block) -> Floats:
        return ratio(self._found(block, self.cutoff), np.minimum(self._base(block), self.cutoff or 1))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block, self.cutoff)
        most = min(int(self._base(block)[0]), self.cutoff or 1)
        steps = (Step.division(str(self), last(columns["found"]), most, undefined="nothing is relevant"),)
        return Arithmetic(columns, steps, adds="relevant", running="found")


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
    trec_eval = "set_relative_P"
    at = None

    def compute(self, block: Block) -> Floats:
        return ratio(self._found(block), np.minimum(self._base(block), block.retrieved))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._by_rank(block)
        base, length = int(self._base(block)[0]), seen(block)
        reason = "nothing was retrieved" if base else "nothing is relevant"
        steps = (Step.division(str(self), last(columns["found"]), min(base, length), undefined=reason),)
        return Arithmetic(columns, steps, adds="relevant", running="found")


@dataclass(frozen=True, eq=False, repr=False)
class RprecMult(Binary):
    """Precision after a multiple of as many documents as there are relevant ones.

    Formula:
        RprecMult@m = relevant documents in the top c / c, c = floor(m n + 0.9), n = relevant judged documents

    Conventions:
        - m is a multiple such as 0.2 or 2; RprecMult@1 is Rprec
        - divides by c even where the list is shorter
        - nothing relevant, or m so small that c is 0: undefined

    Agrees with:
        trec_eval Rprec_mult_m, all versions

    Reference:
        trec_eval, m_Rprec_mult.c

    Example:
        Three documents are relevant; after twice as many, two of them have been found.

        >>> from gainful import parse
        >>> round(parse("RprecMult@2").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.3333
    """

    name = "RprecMult"
    trec_eval_at = "Rprec_mult_{:.2f}"
    at = "multiple"
    needs_at = True
    multiple: float | None = None

    def _hint_at(self) -> str:
        return "write RprecMult@0.5, or Rprec for RprecMult@1"

    def compute(self, block: Block) -> Floats:
        relevant = block.relevant(self.rel, self.level)
        depth = np.floor((self.multiple or 0.0) * self._base(block) + 0.9)
        found = np.bincount(relevant.row[relevant.rank <= depth[relevant.row]], minlength=block.size)
        return ratio(found, depth)

    def arithmetic(self, block: Block) -> Arithmetic:
        base, multiple = int(self._base(block)[0]), self.multiple or 0.0
        depth = math.floor(multiple * base + 0.9)
        columns = self._by_rank(block, depth)
        reason = "no document to look at" if base else "nothing is relevant"
        steps = (
            Step("documents", "floor({} * {} + 0.9)", (multiple, base), depth),
            Step.division(str(self), last(columns["found"]), depth, undefined=reason),
        )
        return Arithmetic(columns, steps, adds="relevant", running="found")
