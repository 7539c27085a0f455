"""Counts: not better or worse, but the first thing to look at. They are added up over queries, not averaged."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.measures.base import Aggregate, Better, Measure
from gainful.measures.block import Block
from gainful.measures.precision import OfRelevant


class _Count(Measure):
    """A number of documents, or of queries, that needs no arithmetic."""

    better: ClassVar[Better] = "neither"
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)
    aggregate: ClassVar[Aggregate] = "sum"


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

    def compute(self, block: Block) -> Floats:
        return np.ones(block.size)


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
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        return block.retrieved.astype(np.float64)


class NumRel(_Count, OfRelevant):
    """How many documents are judged relevant.

    Formula:
        NumRel = relevant judged documents, retrieved or not

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
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return self._base(block).astype(np.float64)


class NumRelRet(_Count, OfRelevant):
    """How many relevant documents were retrieved.

    Formula:
        NumRelRet = relevant documents in the list

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
    better = "higher"
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return self._found(block).astype(np.float64)


class NumNonRelJudgedRet(_Count, OfRelevant):
    """How many documents were retrieved that are judged not relevant.

    Formula:
        NumNonRelJudgedRet = judged documents in the list that are not relevant

    Conventions:
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
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return (block.count(block.hits) - self._found(block)).astype(np.float64)
