"""Counts, neither better nor worse, summed over queries instead of averaged."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.measures.base import Aggregate, Better, Usual
from gainful.measures.block import Block
from gainful.measures.precision import OfRelevant


class _Count(Usual):
    better: ClassVar[Better] = "neither"
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)
    aggregate: ClassVar[Aggregate] = "sum"


class NumQ(_Count):
    """Number of evaluated queries.

    Formula:
        NumQ = 1 per query

    Conventions:
        - unanswered judged queries count unless missing=skip

    Agrees with:
        trec_eval num_q, ir_measures NumQ

    Example:
        >>> gainful.parse("NumQ").score([1, 0])
        1.0
    """

    name = "NumQ"

    def compute(self, block: Block) -> Floats:
        return np.ones(block.size)


class NumRet(_Count, takes="unjudged"):
    """Number of retrieved documents.

    Formula:
        NumRet = length of the list, after removing duplicates and ranks below depth

    Conventions:
        - with unjudged=condensed, only judged documents count

    Agrees with:
        trec_eval num_ret, ir_measures NumRet

    Example:
        >>> gainful.parse("NumRet").score([1, None, 0])
        3.0
    """

    name = "NumRet"

    def compute(self, block: Block) -> Floats:
        return block.retrieved.astype(np.float64)


class NumRel(_Count, OfRelevant, takes="rel level"):
    """Number of documents judged relevant.

    Formula:
        NumRel = relevant judged documents, retrieved or not

    Agrees with:
        trec_eval num_rel, ir_measures NumRel

    Example:
        >>> gainful.parse("NumRel").score([2, 0], unretrieved=[1])
        2.0
    """

    name = "NumRel"

    def compute(self, block: Block) -> Floats:
        return self._base(block).astype(np.float64)


class NumRelRet(_Count, OfRelevant, takes="rel level"):
    """Number of relevant documents retrieved.

    Formula:
        NumRelRet = relevant documents in the list

    Agrees with:
        trec_eval num_rel_ret, ir_measures NumRelRet

    Example:
        >>> gainful.parse("NumRelRet").score([2, 0], unretrieved=[1])
        1.0
    """

    name = "NumRelRet"
    better = "higher"

    def compute(self, block: Block) -> Floats:
        return self._found(block).astype(np.float64)


class NumNonRelJudgedRet(_Count, OfRelevant, takes="rel level"):
    """Number of retrieved documents judged non-relevant.

    Formula:
        NumNonRelJudgedRet = documents in the list that are judged non-relevant

    Conventions:
        - negative=unjudged treats negative grades as unjudged

    Example:
        >>> gainful.parse("NumNonRelJudgedRet").score([2, 0, None, 0], unretrieved=[0])
        2.0
    """

    name = "NumNonRelJudgedRet"

    def compute(self, block: Block) -> Floats:
        return (block.count(block.hits) - self._found(block)).astype(np.float64)
