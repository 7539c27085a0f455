"""Counts: not better or worse, but the first thing to look at. Added up over queries, not averaged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gainful.arrays import Floats
from gainful.measures.arithmetic import Arithmetic, Step, found_by_rank, last, seen
from gainful.measures.base import Aggregate, Better, Measure
from gainful.measures.block import Block


@dataclass(frozen=True, eq=False, repr=False)
class _Count(Measure):
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

    def arithmetic(self, block: Block) -> Arithmetic:
        return Arithmetic({}, (Step(str(self), "", (), 1.0, "this query"),))


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

    def arithmetic(self, block: Block) -> Arithmetic:
        return Arithmetic({}, (Step(str(self), "", (), float(seen(block)), "the length of the list"),))


@dataclass(frozen=True, eq=False, repr=False)
class NumRel(_Count):
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
        return block.recall_base(self.rel, self.level).astype(np.float64)

    def arithmetic(self, block: Block) -> Arithmetic:
        base = float(block.recall_base(self.rel, self.level)[0])
        return Arithmetic({}, (Step(str(self), "", (), base, "the size of the recall base"),))


@dataclass(frozen=True, eq=False, repr=False)
class NumRelRet(_Count):
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
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        return block.count(block.relevant(self.rel, self.level)).astype(np.float64)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = found_by_rank(block, self.rel, self.level)
        return Arithmetic(columns, (Step(str(self), "", (), last(columns["found"])),), adds="relevant", running="found")


@dataclass(frozen=True, eq=False, repr=False)
class NumNonRelJudgedRet(_Count):
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
        found = block.count(block.relevant(self.rel, self.level))
        return (block.count(block.hits) - found).astype(np.float64)

    def arithmetic(self, block: Block) -> Arithmetic:
        relevant = found_by_rank(block, self.rel, self.level)["relevant"]
        judged = np.zeros(relevant.size)
        judged[block.hits.rank - 1] = 1.0
        columns = {"judged": judged, "relevant": relevant, "not relevant so far": np.cumsum(judged - relevant)}
        step = Step(str(self), "", (), last(columns["not relevant so far"]))
        return Arithmetic(columns, (step,), adds="judged", running="not relevant so far")
