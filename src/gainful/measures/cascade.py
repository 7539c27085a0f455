"""Cascade models: a user who reads down and stops at a document with a probability that grows with its grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.arrays import Floats
from gainful.data.lists import GainLists, highest_gain, in_columns
from gainful.gains import Gain
from gainful.measures.arithmetic import Arithmetic, Step, last, ranks_of
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.precision import ratio

_EXP2 = Gain("exp2")


class _Cascade(Measure):
    """What both have in common. Not a dataclass: every measure lists its parameters itself."""

    if TYPE_CHECKING:
        gain: Gain
        rel: float | None
        level: float | None
        cutoff: int | None

    def _run(self, block: Block) -> GainLists:
        return block.gain_lists(self.gain, self.rel, self.level)

    def _ideal(self, block: Block) -> GainLists:
        return block.ideal_lists(self.gain, self.rel, self.level)

    def _divisor(self, block: Block) -> float:
        return 1.0 + highest_gain(self.gain, block.scale)

    def _expected(self, lists: GainLists, divisor: float) -> Floats:
        """The sum over ranks of (probability to stop there) / rank."""
        row, rank, gain = lists.to(self.cutoff)
        stops = gain / divisor
        by_place, place = in_columns(row, stops, lists.size)
        reaches = np.cumprod(1.0 - by_place, axis=1)
        reached = np.where(place == 0, 1.0, reaches[row, np.maximum(place, 1) - 1])
        return np.bincount(row, stops * reached / rank, minlength=lists.size).astype(np.float64, copy=False)

    def _columns(self, lists: GainLists, block: Block) -> dict[str, Floats]:
        gains = lists.dense(min(self.cutoff or block.width, block.width))[0]
        stops = gains / self._divisor(block)
        reached = np.append(1.0, np.cumprod(1.0 - stops)[:-1])
        terms = stops * reached / ranks_of(stops)
        return {"gain": gains, "stops": stops, "reached": reached, "adds": terms, "ERR": np.cumsum(terms)}

    def _at(self) -> str:
        return "" if self.cutoff is None else f"@{self.cutoff}"


@dataclass(frozen=True, eq=False, repr=False)
class ERR(_Cascade):
    """Expected reciprocal rank: 1 / rank of the document that satisfies a user who reads from the top.

    Formula:
        ERR = sum over ranks i of 1/i * S[i] * (1 - S[1]) * ... * (1 - S[i - 1])

    S[i] = (2^g - 1) / 2^scale is the probability to be satisfied by the document at rank i. With another gain map it is
    gain / (1 + highest gain).

    Conventions:
        - scale is the highest grade of the judgments, or what scale= says
        - unjudged documents and negative grades satisfy nobody
        - ERR@k stops at rank k
        - nothing relevant: 0

    Agrees with:
        gdeval err@k and ir_measures ERR@k if scale is 4 (they print 5 digits)
    Differs from:
        NTCIREVAL, where S = gain / (1 + highest gain): gain=linear here

    Reference:
        Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009

    Example:
        Grades 1 and 2 of at most 2: S = 1/4 and 3/4, so 1/4 + 1/2 * 3/4 * 3/4.

        >>> from gainful import parse
        >>> parse("ERR").score([1, 2], scale=2)
        0.53125
    """

    name = "ERR"
    gain: Gain = _EXP2
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return self._expected(self._run(block), self._divisor(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._columns(self._run(block), block)
        steps = (Step.sum_of(str(self), columns["adds"], last(columns["ERR"])),)
        return Arithmetic(columns, steps, adds="gain", running="ERR")


@dataclass(frozen=True, eq=False, repr=False)
class NERR(_Cascade):
    """Expected reciprocal rank as a share of what the best possible list would have.

    Formula:
        nERR@k = ERR@k / ERR@k of the ideal list

    The ideal list has all judged documents, best first.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - no document with a gain above 0: undefined

    Differs from:
        ir_measures NERR8 to NERR11, which are other measures

    Reference:
        Chapelle et al., CIKM 2009; normalised as nDCG is

    Example:
        Grades 1 and 2 in the wrong order: (1/4 + 1/2 * 3/4 * 3/4) / (3/4 + 1/2 * 1/4 * 1/4).

        >>> from gainful import parse
        >>> parse("nERR").score([1, 2], scale=2)
        0.68
    """

    name = "nERR"
    gain: Gain = _EXP2
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        divisor = self._divisor(block)
        ideal = self._expected(self._ideal(block), divisor)
        # The same documents in another order may differ from the ideal in the last bit.
        return np.minimum(ratio(self._expected(self._run(block), divisor), ideal), 1.0)

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = self._columns(self._run(block), block)
        ideal = self._columns(self._ideal(block), block)
        columns = {**columns, "ideal gain": ideal["gain"], "ideal ERR": ideal["ERR"]}
        found, best = last(columns["ERR"]), last(ideal["ERR"])
        share = Step.division(str(self), found, best, undefined="no document has a gain above 0")
        steps = (
            Step.sum_of(f"ERR{self._at()}", columns["adds"], found),
            Step.sum_of(f"ideal ERR{self._at()}", ideal["adds"], best),
            share._replace(value=1.0) if share.value > 1 else share,
        )
        return Arithmetic(columns, steps, frozenset({"ideal gain", "ideal ERR"}), "gain", "ERR")
