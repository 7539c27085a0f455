"""Measures of the four groups that a collection falls into: retrieved or not, relevant or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.measures.arithmetic import Arithmetic, Step, found_by_rank, last, ranks_of, ratios, seen
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.collection import collection_size, unknown_size
from gainful.measures.precision import ratio, recall_step


@dataclass(frozen=True, eq=False, repr=False)
class VanRijsbergenE(Measure):
    """Van Rijsbergen's E: what is lost of precision and recall, in one number.

    Formula:
        VanRijsbergenE = 1 - 1 / (alpha / P + (1 - alpha) / R)

    Conventions:
        - lower is better; alpha is the weight of precision, 0.5 unless given
        - with @k P and R are those of the first k documents, else P is SetP and R is SetR
        - nothing found: 1; nothing relevant: undefined
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g

    Agrees with:
        1 - F@k or 1 - SetF where beta^2 = (1 - alpha) / alpha; with alpha=0.5 1 - trec_eval set_F

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        P = 2/4, R = 2/3: 1 - 1 / (0.5 * 2 + 0.5 * 1.5).

        >>> from gainful import parse
        >>> round(parse("VanRijsbergenE").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.4286
    """

    name = "VanRijsbergenE"
    better = "lower"
    exempt = {"append": "of a longer list the precision is lower"}
    alpha: float = 0.5
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        found = block.count(block.relevant(self.rel, self.level), self.cutoff)
        base = block.recall_base(self.rel, self.level)
        # P and R multiplied out, so that nothing found is 1.
        weighed = self.alpha * (self.cutoff or block.retrieved) + (1.0 - self.alpha) * base
        return np.where(base == 0, np.nan, 1.0 - found / np.where(found == 0, 1.0, weighed))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = found_by_rank(block, self.rel, self.level, self.cutoff)
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        precision = Step.division(
            f"P{at}" if at else "SetP",
            last(columns["found"]),
            self.cutoff or seen(block),
            undefined="nothing retrieved",
        )
        base = int(block.recall_base(self.rel, self.level)[0])
        recall = recall_step(f"R{at}" if at else "SetR", columns["found"], base)
        p, r = precision.value, recall.value
        if not r > 0:
            value, why = (math.nan, "nothing is relevant") if math.isnan(r) else (1.0, "nothing was found")
            final = Step(str(self), "", (), value, why)
        else:
            value = 1 - 1 / (self.alpha / p + (1 - self.alpha) / r)
            final = Step(str(self), "1 - 1 / ({} / {} + {} / {})", (self.alpha, p, 1 - self.alpha, r), value)
        return Arithmetic(columns, (precision, recall, final), adds="relevant", running="found")


@dataclass(frozen=True, eq=False, repr=False)
class Fallout(Measure):
    """Fallout: the share of the collection's non-relevant documents that was retrieved.

    Formula:
        Fallout = non-relevant documents retrieved / (N - n)

    N is the size of the collection, n the number of relevant judged documents.

    Conventions:
        - lower is better; with @k only the first k documents count, else the whole list
        - unjudged documents are not relevant
        - without N, or with nothing non-relevant in the collection: undefined

    Reference:
        Salton and McGill, Introduction to Modern Information Retrieval, 1983, chapter 5

    Example:
        Two documents of the list are not relevant, of ten in the collection seven.

        >>> from gainful import parse
        >>> round(parse("Fallout(N=10)").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.2857
    """

    name = "Fallout"
    better = "lower"
    exempt = {"append": "unjudged documents are non-relevant ones"}
    N: int | None = None
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        size = collection_size(self, block, self.N)
        if size is None:
            return np.full(block.size, np.nan)
        shown = block.retrieved if self.cutoff is None else np.minimum(block.retrieved, self.cutoff)
        found = block.count(block.relevant(self.rel, self.level), self.cutoff)
        return ratio(shown - found, size - block.recall_base(self.rel, self.level))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = found_by_rank(block, self.rel, self.level, self.cutoff)
        wrong = ranks_of(columns["found"]) - columns["found"]
        columns = {"non-relevant": 1.0 - columns["relevant"], "non-relevant so far": wrong}
        base = int(block.recall_base(self.rel, self.level)[0])
        if self.N is None:
            return Arithmetic(columns, (unknown_size(str(self)),), adds="non-relevant", running="non-relevant so far")
        columns["Fallout"] = ratios(wrong, float(self.N - base))
        steps = (
            Step("non-relevant documents", "{} - {}", (self.N, base), self.N - base),
            Step.division(str(self), last(wrong), self.N - base, undefined="everything is relevant"),
        )
        return Arithmetic(columns, steps, adds="non-relevant", running="Fallout")


@dataclass(frozen=True, eq=False, repr=False)
class Generality(Measure):
    """Generality: the share of the collection that is relevant. It describes the query, not the run.

    Formula:
        Generality = n / N

    N is the size of the collection, n the number of relevant judged documents.

    Conventions:
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g
        - without N: undefined

    Reference:
        Salton and McGill, Introduction to Modern Information Retrieval, 1983, chapter 5

    Example:
        >>> from gainful import parse
        >>> parse("Generality(N=10)").score([2, 0, 1, 0], unretrieved=[1])
        0.3
    """

    name = "Generality"
    better = "neither"
    at = None
    N: int | None = None
    rel: float | None = None
    level: float | None = None

    def compute(self, block: Block) -> Floats:
        size = collection_size(self, block, self.N)
        base = block.recall_base(self.rel, self.level)
        return np.full(block.size, np.nan) if size is None else base / float(size)

    def arithmetic(self, block: Block) -> Arithmetic:
        base = int(block.recall_base(self.rel, self.level)[0])
        step = unknown_size(str(self)) if self.N is None else Step.division(str(self), base, self.N)
        return Arithmetic({}, (step,))
