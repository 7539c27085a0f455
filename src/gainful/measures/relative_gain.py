"""Gain relative to the ideal list: measures that otherwise only trec_eval has."""

from __future__ import annotations

import numpy as np

from gainful.data.lists import GainLists, count_to, cumulated
from gainful.discounts import divisors
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Graded
from gainful.measures.block import Block, ratios
from gainful.measures.cumulated_gain import DCG
from gainful.measures.precision import Binary


class IdealDCG(DCG):
    """The DCG of the ideal list, the denominator of nDCG.

    Formula:
        idealDCG[k] = I[1] / d(1) + ... + I[k] / d(k)

    I[i] is the i-th largest gain of the judged documents; d is the discount, as in DCG.

    Conventions:
        - independent of the run
        - no relevant documents: 0

    Agrees with:
        trec_eval 10 ideal_dcg

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, section 2.2

    Example:
        >>> gainful.parse("idealDCG(discount=rank)").score([1, 0], unretrieved=[3])  # 3/1 + 1/2
        3.5
    """

    name = "idealDCG"
    total = "idealDCG"
    better = "neither"

    def _run_lists(self, block: Block) -> GainLists:
        return self._ideal_lists(block)


def _discounts(lists: GainLists) -> Floats:
    return divisors("burges2005", 2.0, np.arange(1.0, int(lists.rank.max(initial=1)) + 1.0))


def _discounted(lists: GainLists) -> Floats:
    return np.asarray(lists.gain / _discounts(lists)[lists.rank - 1])


def _vectors(ideal: GainLists) -> Floats:
    discounts = _discounts(ideal)
    return np.asarray(np.cumsum(ideal.dense(discounts.size) / discounts, axis=1))


class NDCGRel(Graded):
    """nDCG averaged over the ranks of all documents with a gain.

    Formula:
        nDCGrel = (sum over documents found with a gain at rank i of nDCG@i + missed * nDCG) / n

    n documents have a gain above 0; missed of them are not in the list.

    Conventions:
        - nDCG has linear gain and discount burges2005; nDCG without @ is at the end of both lists
        - no document with a gain above 0: undefined

    Example:
        Found at rank 2, one missed: nDCG@2 and nDCG are both (1/log2 3) / (1 + 1/log2 3).

        >>> round(gainful.parse("nDCGrel").score([0, 1], unretrieved=[1]), 4)
        0.3869
    """

    name = "nDCGrel"
    exempt = {"swap": "nDCG is taken only at ranks of documents with a gain, and a moved document takes its rank along"}

    def compute(self, block: Block) -> Floats:
        run, ideal = self._run_lists(block), self._ideal_lists(block)
        base: Ints = np.diff(ideal.offsets)
        ideal_dcg, discounted = _vectors(ideal), _discounted(run)
        shares = cumulated(run.row, discounted, block.size) / _at(ideal_dcg, run.row, run.rank, base)
        total = np.bincount(run.row, discounted, minlength=block.size)
        at_end = total * (base - np.diff(run.offsets)) / np.where(base == 0, np.nan, ideal_dcg[:, -1])
        return np.minimum((np.bincount(run.row, shares, minlength=block.size) + at_end) / np.maximum(base, 1), 1.0)


def _at(vectors: Floats, row: Ints, rank: Ints, length: Ints) -> Floats:
    """Return the value of each row's vector at a rank; it is constant after the row's length."""
    return np.asarray(vectors[row, np.minimum(rank, length[row]) - 1])


class RNDCG(Graded):
    """nDCG averaged over the last rank of each gain in the ideal list.

    Formula:
        RnDCG = mean of nDCG@i over these ranks i, and of nDCG at the end of the list if it is longer than n + 1

    n documents have a gain above 0. With 5 documents of gain 3 and 10 of gain 1, the ranks are 5 and 15.

    Conventions:
        - nDCG has linear gain and discount burges2005
        - a list of n + 1 documents does not count at its end, as in trec_eval
        - no document with a gain above 0: undefined

    Differs from:
        trec_eval -l, which sets Rndcg to 0 if no document reaches the level, and otherwise leaves it unchanged

    Example:
        Gains 2 and 1: nDCG@1 = 1/2, nDCG@2 = (1 + 2/log2 3) / (2 + 1/log2 3).

        >>> round(gainful.parse("RnDCG").score([1, 2]), 4)
        0.6799
    """

    name = "RnDCG"
    exempt = {"append": "the end of a longer list adds a point to the mean"}

    def compute(self, block: Block) -> Floats:
        run, ideal = self._run_lists(block), self._ideal_lists(block)
        base, found = np.diff(ideal.offsets), np.diff(run.offsets)
        discounted, ideal_dcg = _discounted(run), _vectors(ideal)
        next_differs = np.append((np.diff(ideal.gain) != 0) | (np.diff(ideal.row) != 0), True)
        last_of_gain = next_differs[: ideal.gain.size]
        row, rank = ideal.row[last_of_gain], ideal.rank[last_of_gain]
        seen = count_to((run.row, run.rank), row, rank)
        dcg = np.append(0.0, cumulated(run.row, discounted, block.size))
        first = np.cumsum(found) - found
        shares = np.where(seen > 0, dcg[np.where(seen > 0, first[row] + seen, 0)], 0.0) / ideal_dcg[row, rank - 1]
        goes_on = block.retrieved > base + 1
        at_end = ratios(np.bincount(run.row, discounted, minlength=block.size), ideal_dcg[:, -1])
        points = np.bincount(row, minlength=block.size) + goes_on
        summed = np.bincount(row, shares, minlength=block.size) + np.where(goes_on, at_end, 0.0)
        return np.where(base == 0, np.nan, np.minimum(summed / np.maximum(points, 1), 1.0))


class G(Graded):
    """Buckley's G: gains discounted by the gain that the list has missed so far.

    Formula:
        G = sum over ranks i of G[i] / log2(2 + cost[i] - CG[i]), divided by the sum of all judged gains

    CG[i] is the gain cumulated by rank i, and cost[i] = max(1, I[1]) + ... + max(1, I[i]) the gain cumulated by the
    ideal list I, in which every document counts at least 1.

    Conventions:
        - no document with a gain above 0: undefined
        - binG is G with binary gains

    Differs from:
        the help text of trec_eval, which omits that a document counts at least 1

    Example:
        Gains 0 and 2, ideal 2: the cost of two ranks is 2 + 1, so 2 / log2(2 + 3 - 2) / 2.

        >>> round(gainful.parse("G").score([0, 2]), 4)
        0.6309
    """

    name = "G"
    exempt = {"swap": "divisors depend on all gains above, so a gain for one document can cost others more"}

    def compute(self, block: Block) -> Floats:
        run, ideal = self._run_lists(block), self._ideal_lists(block)
        base = np.diff(ideal.offsets)
        cost = np.cumsum(np.maximum(ideal.dense(int(ideal.rank.max(initial=1))), 1.0), axis=1)
        paid = _at(cost, run.row, run.rank, base) + np.maximum(run.rank - base[run.row], 0)
        terms = run.gain / np.log2(2.0 + paid - cumulated(run.row, run.gain, block.size))
        most = np.bincount(ideal.row, ideal.gain, minlength=block.size)
        return np.minimum(ratios(np.bincount(run.row, terms, minlength=block.size), most), 1.0)


class BinG(Binary):
    """Buckley's G with binary relevance: relevant documents discounted by the non-relevant documents above them.

    Formula:
        binG = 1/n * sum over relevant documents found of 1 / log2(2 + non-relevant documents above it)

    Conventions:
        - a relevant document that was not retrieved adds 0
        - no relevant documents: undefined

    Example:
        One non-relevant document above the second relevant one: (1/log2 2 + 1/log2 3) / 2.

        >>> round(gainful.parse("binG").score([1, 0, 1]), 4)
        0.8155
    """

    name = "binG"

    def compute(self, block: Block) -> Floats:
        relevant = self._relevant(block)
        terms = 1.0 / np.log2(2.0 + relevant.rank - relevant.ordinal)
        return ratios(np.bincount(relevant.row, terms, minlength=block.size), self._base(block))
