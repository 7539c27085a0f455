"""Cumulated gain: the total gain of a user who reads down to a rank.

References: K. Järvelin and J. Kekäläinen, IR evaluation methods for retrieving highly relevant documents, SIGIR 2000;
Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, cast

import numpy as np

from gainful.data.lists import GainLists
from gainful.discounts import DISCOUNTS, Base, divisors
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.arithmetic import Arithmetic, Step, last
from gainful.measures.base import OfGains, value_text
from gainful.measures.block import Block, ratios


def mean_over_ranks(vectors: Floats, last_change: Ints, cutoff: int | None) -> Floats:
    """avg-pos(V, k): the mean over ranks 1 to k.

    A vector is constant after its last change, so the rest is one product. Each row uses its own last change: its score
    must not depend on the length of other lists in the block.
    """
    k = cutoff or vectors.shape[1]
    row, last = np.arange(vectors.shape[0]), np.maximum(last_change, 1) - 1
    summed = np.cumsum(vectors, axis=1)[row, last] + (k - 1 - last) * vectors[row, last]
    return np.asarray(summed / k)


class CumulatedGain(OfGains):
    """Base of the cumulated gain measures: discounted gains of the run and of the ideal list.

    Conventions:
        - unjudged documents and negative grades have gain 0
        - average=ranks is the mean of {name}[1], ..., {name}[k]
    """

    #: Whether it is divided by the value of the ideal list.
    normalised: ClassVar[bool] = False
    #: Name of the sum, and whether all runs have the same ideal list.
    total: ClassVar[str] = "DCG"
    shares_ideal: ClassVar[bool] = True
    #: The reason for an undefined value.
    nothing: ClassVar[str] = "no document has a gain above 0"

    discount, base = "burges2005", cast("Base", 2.0)
    average = cast("str | None", None)

    def validate(self) -> None:
        super().validate()
        if self.average is not None and self._given("cutoff") is None:
            raise UsageError(f"{self.name}: average=ranks requires a cutoff", f"write {self.name}(average=ranks)@10")
        if "base" in self._unused() and self.base != self.parameters().get("base", self.base):
            raise UsageError(f"{self.name}: discount={self.discount} has no base (base={value_text(self.base)})")

    def _unused(self) -> frozenset[str]:
        return frozenset() if DISCOUNTS[self.discount].has_base else frozenset({"base"})

    def compute(self, block: Block) -> Floats:
        lists = (self._run_lists(block), self._ideal_lists(block)) if self.normalised else (self._run_lists(block),)
        if self.average is None:
            totals = [each.total(self._divisors, self.cutoff) for each in lists]
            return self.share(*totals) if self.normalised else totals[0]
        depth = block.depth_to(self.cutoff)
        vectors = [self.cumulated(each, depth) for each in lists]
        last_change = np.maximum.reduce([each.last_rank(depth) for each in lists])
        if not self.normalised:
            return mean_over_ranks(vectors[0], last_change, self.cutoff)
        with np.errstate(invalid="ignore"):
            return self.capped(mean_over_ranks(vectors[0] / vectors[1], last_change, self.cutoff))

    def _divisors(self, ranks: Floats) -> Floats:
        return divisors(self.discount, self.base, ranks)

    def share(self, run: Floats, ideal: Floats) -> Floats:
        """Divide the run's values by the ideal; NaN if the ideal is 0."""
        with np.errstate(invalid="ignore"):
            return self.capped(run / ideal)

    def capped(self, scores: Floats) -> Floats:
        """Reduce ratios that exceed 1 by rounding error to 1."""
        # The same gains added in another order may differ in the last bit.
        return scores if self.favours_rank_2 else np.minimum(scores, 1.0)

    @property
    def favours_rank_2(self) -> bool:
        """Whether rank 2 counts more than rank 1 (jarvelin2000, base above 2): the ideal list is not the best one."""
        return bool(np.diff(self._divisors(np.array([1.0, 2.0])))[0] < 0)

    def vectors(self, block: Block, depth: int) -> tuple[Floats, Floats]:
        """Return the cumulated values of the run and of the ideal lists, queries x ranks (at most ``width``)."""
        ranks = min(depth, block.width)

        def vectors_of(lists: GainLists) -> Floats:
            # Shared by measures that differ only in how they use the vectors.
            key = ("cumulated", lists, self.discount, self.base, ranks)
            return block.cached(key, lambda: self.cumulated(lists, ranks))

        return vectors_of(self._run_lists(block)), vectors_of(self._ideal_lists(block))

    def cumulated(self, lists: GainLists, depth: int) -> Floats:
        """Return the cumulated value of each list at ranks 1 to ``depth``."""
        return np.cumsum(lists.dense(depth) / self._divisors(np.arange(1.0, depth + 1.0)), axis=1)

    def arithmetic(self, block: Block) -> Arithmetic:
        total = self.total
        columns = self._by_rank(self._run_lists(block), block, total)
        if not self.normalised:
            return Arithmetic(columns, (self._last_step(columns, total),), frozenset({"discount"}), "gain", total)
        ideal = self._by_rank(self._ideal_lists(block), block, total)
        totals = columns[total], ideal[total]
        best = {"ideal gain": ideal["gain"], f"ideal {total}": ideal[total]}
        columns = {**columns, **best, self.name: ratios(*totals)}
        if self.average is not None:
            steps: tuple[Step, ...] = (self._last_step(columns, self.name),)
        else:
            name = total if self.cutoff is None else f"{total}@{self.cutoff}"
            steps = (
                self._sum_step(columns, name),
                self._sum_step(ideal, f"ideal {name}"),
                Step.division(str(self), last(totals[0]), last(totals[1]), undefined=self.nothing),
            )
        if steps[-1].value > 1.0 and self.discount != "jarvelin2000":
            steps = (*steps[:-1], steps[-1]._replace(value=1.0))  # as in capped
        running = total if self.average is None else self.name
        shared = frozenset({"discount", *best}) if self.shares_ideal else frozenset({"discount"})
        return Arithmetic(columns, steps, shared, "gain", running)

    def _by_rank(self, lists: GainLists, block: Block, total: str) -> dict[str, Floats]:
        gains = lists.dense(block.depth_to(self.cutoff))[0]
        if self.discount == "none":
            return {"gain": gains, total: np.cumsum(gains)}
        discount = self._divisors(np.arange(1.0, gains.size + 1.0))
        discounted = gains / discount
        return {"gain": gains, "discount": discount, "gain/discount": discounted, total: np.cumsum(discounted)}

    def _last_step(self, columns: Mapping[str, Floats], vector: str) -> Step:
        if self.average is None:
            return self._sum_step(columns, str(self))
        if np.isnan(columns[vector]).any():
            return Step(str(self), "0 / 0", (), math.nan, self.nothing)
        return Step.mean_of(str(self), columns[vector], self.cutoff or 1)

    def _sum_step(self, columns: Mapping[str, Floats], name: str) -> Step:
        terms = columns.get("gain/discount", columns["gain"])
        return Step.sum_of(name, terms, last(np.cumsum(terms)))


class Undiscounted(CumulatedGain, takes="gain average rel level unjudged cutoff"):
    """Gain without a discount."""

    total = "CG"
    discount = "none"
    base = 2.0


class _Discounted(CumulatedGain, takes="gain discount base average rel level unjudged cutoff"):
    """Gain with a rank discount."""


class CG(Undiscounted):
    """Cumulated gain: the total gain of the first k documents.

    Formula:
        CG[k] = G[1] + ... + G[k]

    G[i] is the gain of the document at rank i: its grade, or the value that the gain map assigns to it.

    Conventions:
        - ranks past the end of a list have gain 0; without @k, the whole list counts
        - no relevant documents: 0

    Agrees with:
        MATTERS (CG vectors)

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, eq. 1

    Example:
        >>> gainful.parse("CG@5").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0])
        8.0
    """

    name = "CG"
    bounds = (0.0, math.inf)


class DCG(_Discounted):
    """Discounted cumulated gain: the total gain of the first k documents, discounted by rank.

    Formula:
        DCG[k] = G[1] / d(1) + ... + G[k] / d(k)

    d is the discount: burges2005 (the default) log_b(j + 1); jarvelin2002 1 for j < b, else log_b j; jarvelin2000 1 for
    j = 1, else log_b j; jarvelin2008 1 + log_b j; rank j; none 1. The base b is 2 by default.

    Conventions:
        - ranks past the end of a list have gain 0; without @k, the whole list counts
        - no relevant documents: 0

    Agrees with:
        ranx dcg@k (linear gain), ranx dcg_burges@k (gain=exp2), scikit-learn dcg_score without ties
    Differs from:
        scikit-learn's log_base, which scales the result; jarvelin2002 leaves ranks before its base undiscounted

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, eq. 2; Burges et al., ICML 2005

    Example:
        Grades 3, 2, 3 with jarvelin2002 and base 2: 3/1 + 2/1 + 3/log2(3).

        >>> round(gainful.parse("DCG(discount=jarvelin2002)@3").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0]), 2)
        6.89
    """

    name = "DCG"
    bounds = (0.0, math.inf)


class NCG(Undiscounted):
    """Normalised cumulated gain: CG divided by the CG of the ideal list.

    Formula:
        nCG[k] = CG[k] / CG[k] of the ideal list

    The ideal list has the gains of all judged documents, retrieved or not, in descending order.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - no document with a gain above 0: undefined
        - AnCG is short for average=ranks

    Agrees with:
        MATTERS (nCG vectors)

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, section 2.3

    Example:
        The list in the article has gained 8 by rank 4, its ideal list 3 + 3 + 3 + 2 = 11.

        >>> round(gainful.parse("nCG@4").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0], unretrieved=[1, 1, 1]), 2)
        0.73
    """

    name = "nCG"
    normalised = True


class NDCG(_Discounted):
    """Normalised discounted cumulated gain: DCG divided by the DCG of the ideal list.

    Formula:
        nDCG[k] = DCG[k] / DCG[k] of the ideal list

    The ideal list has the gains of all judged documents, retrieved or not, in descending order.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - no document with a gain above 0: undefined
        - AnDCG is short for average=ranks
        - with discount=jarvelin2000 and a base above 2 it can exceed 1, because rank 2 counts more than rank 1

    Agrees with:
        trec_eval ndcg and ndcg_cut_k, ranx ndcg@k; with gain=exp2 ranx ndcg_burges@k and gdeval
    Differs from:
        - scikit-learn, whose ideal list has only the documents passed in, and which averages over ties
        - trec_eval -l, which does not affect nDCG; rel does

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, section 2.3; Burges et al., ICML 2005

    Example:
        Grades 1 and 2 in the wrong order: (1/1 + 2/log2(3)) / (2/1 + 1/log2(3)).

        >>> round(gainful.parse("nDCG@10").score([1, 2]), 4)
        0.8597
    """

    name = "nDCG"
    normalised = True
