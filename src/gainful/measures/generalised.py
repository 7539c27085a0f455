"""What becomes of binary measures where there are many grades.

Generalised precision and recall: as a set of documents has a share of relevant ones, it has a mean of relevance
(J. Kekäläinen and K. Järvelin, Using graded relevance assessments in IR evaluation, JASIST 53(13), 2002). And measures
whose values stay comparable however many grades there are (C. Scheel, A. Lommatzsch and S. Albayrak, Performance
measures for multi-graded relevance, SPIM workshop at ISWC 2011).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.data.lists import Documents, GainLists, cumulated, ordinal_in_row
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import Block, ratios
from gainful.measures.cumulated_gain import CumulatedGain

_SCALED = Gain("scaled")

#: Recall is a sum of gains and so is the level it is compared with: what differs by this much is the same.
_ROUNDING = 1e-10

#: The recall levels of the curve.
_POINTS = tuple(tenth / 10 for tenth in range(11))


class _Curve(NamedTuple):
    """Generalised precision and recall at every rank that has a gain: elsewhere neither rises.

    ``base`` is the sum over the recall base, of every query.
    """

    row: Ints
    precision: Floats
    recall: Floats
    base: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Generalised(Measure):
    """A measure that adds up how relevant documents are, from 0 to 1."""

    gain: Gain = _SCALED
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None

    def _found(self, block: Block, cutoff: int | None) -> Floats:
        """The sum over each list down to the cutoff."""
        return self._to_1(block.gain_lists(self.gain, self.rel, self.level), block).total(np.ones_like, cutoff)

    def _base(self, block: Block) -> Floats:
        """The sum over the recall base, of every query."""
        return self._to_1(block.ideal_lists(self.gain, self.rel, self.level), block).total(np.ones_like, None)

    def _to_1(self, lists: GainLists, block: Block) -> GainLists:
        highest = self.gain.highest(block.scale) or 1.0
        return lists if highest == 1.0 else GainLists(lists.size, lists.row, lists.rank, lists.gain / highest)

    def _curve(self, block: Block) -> _Curve:
        def drawn() -> _Curve:
            lists, base = self._to_1(block.gain_lists(self.gain, self.rel, self.level), block), self._base(block)
            sums = cumulated(lists.row, lists.gain, block.size)
            return _Curve(lists.row, sums / lists.rank, sums / base[lists.row], base)

        return block.cached(("generalised curve", self.gain, self.rel, self.level), drawn)


def _reached(recall: Floats, level: float) -> Bools:
    return np.asarray(recall >= level - _ROUNDING)


@dataclass(frozen=True, eq=False, repr=False)
class GP(Generalised):
    """Generalised precision: how relevant the first k documents are on average.

    Formula:
        gP@k = sum of r(d) over the top k / k

    r(d) is the gain of a document scaled to 1: with gain=scaled, the default, its grade / scale; with another map its
    gain / the highest gain that the map gives. With gain=binary it is precision.

    Conventions:
        - divides by k even where the list is shorter
        - unjudged documents and negative grades have r = 0
        - rel and level set all other gains to 0; what they are scaled by stays
        - nothing relevant: 0

    Reference:
        Kekäläinen and Järvelin, JASIST 2002 (defined there for whole sets); Järvelin and Kekäläinen, TOIS 2002, section
        2.4, for cut-off values

    Example:
        Grades 3, 0, 1 of at most 3: (1 + 0 + 1/3) / 4.

        >>> from gainful import parse
        >>> round(parse("gP@4").score([3, 0, 1]), 4)
        0.3333
    """

    name = "gP"
    needs_at = True
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return self._found(block, self.cutoff) / float(self.cutoff or 1)


@dataclass(frozen=True, eq=False, repr=False)
class GR(Generalised):
    """Generalised recall: the share of all the relevance there is that the first k documents hold.

    Formula:
        gR@k = sum of r(d) over the top k / sum of r(d) over all judged documents

    r(d) is the gain of a document scaled to 1, as in gP; here what it is scaled by cancels out. With gain=binary it is
    recall.

    Conventions:
        - the recall base is never cut
        - unjudged documents and negative grades have r = 0
        - no document with a gain above 0: undefined

    Reference:
        Kekäläinen and Järvelin, JASIST 2002 (defined there for whole sets); Järvelin and Kekäläinen, TOIS 2002, section
        2.4, for cut-off values

    Example:
        Grades 3 and 1 are found, 2 is missed: (3 + 1) / 6.

        >>> from gainful import parse
        >>> round(parse("gR@4").score([3, 0, 1], unretrieved=[2]), 4)
        0.6667
    """

    name = "gR"
    needs_at = True
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        # The same gains added in another order may differ in the last bit.
        return np.minimum(ratios(self._found(block, self.cutoff), self._base(block)), 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class GIPrec(Generalised):
    """Interpolated generalised precision: the best there is at a generalised recall, or at any higher one.

    Formula:
        gIPrec@r = max of gP@i over the ranks i with gR@i >= r

    Conventions:
        - r is a recall level from 0 to 1; gIPrec@0 is the best generalised precision anywhere
        - 0 where that recall is never reached
        - no document with a gain above 0: undefined
        - recalls that differ by less than 1e-10 are the same: rounding does not decide. Recall is a sum of gains, not a
          number of documents, so that the policy's recall-cut does not apply

    Agrees with:
        IPrec@r, where gain=binary and recall-cut=exact

    Reference:
        Kekäläinen and Järvelin, JASIST 2002: precision as a function of recall, both generalised

    Example:
        Grades 3, 0, 1 of at most 3: a recall of 1 takes all three documents, (1 + 0 + 1/3) / 3.

        >>> from gainful import parse
        >>> round(parse("gIPrec@0.5").score([3, 0, 1]), 4), round(parse("gIPrec@1").score([3, 0, 1]), 4)
        (1.0, 0.4444)
    """

    name = "gIPrec"
    at = "recall"
    needs_at = True
    recall: float | None = None

    def _hint_at(self) -> str:
        return "write gIPrec@0.5"

    def compute(self, block: Block) -> Floats:
        curve, scores = self._curve(block), np.zeros(block.size)
        reached = _reached(curve.recall, self.recall or 0.0)
        np.maximum.at(scores, curve.row[reached], curve.precision[reached])
        return np.where(curve.base == 0, np.nan, scores)


@dataclass(frozen=True, eq=False, repr=False)
class GIAP(Generalised):
    """Interpolated generalised average precision: the mean over the curve's eleven points.

    Formula:
        gIAP = (gIPrec@0 + gIPrec@0.1 + ... + gIPrec@1) / 11

    Conventions:
        - a recall that is never reached adds 0
        - no document with a gain above 0: undefined

    Reference:
        Kekäläinen and Järvelin, JASIST 2002: precision as a function of recall, both generalised, at eleven points

    Example:
        Grades 3, 0, 1 of at most 3: rank 1 has gP 1 and gR 3/4, rank 3 has gP 4/9 and gR 1: (8 * 1 + 3 * 4/9) / 11.

        >>> from gainful import parse
        >>> round(parse("gIAP").score([3, 0, 1]), 4)
        0.8485
    """

    name = "gIAP"
    at = None

    def compute(self, block: Block) -> Floats:
        curve = self._curve(block)
        points = len(_POINTS)
        # How many of the points' recalls each rank has reached; the best of those ranks counts for all of them.
        reached = np.searchsorted(_POINTS, curve.recall + _ROUNDING, "right") - 1
        best = np.zeros(block.size * points)
        np.maximum.at(best, curve.row * points + reached, curve.precision)
        interpolated = np.maximum.accumulate(best.reshape(block.size, points)[:, ::-1], axis=1)
        return np.where(curve.base == 0, np.nan, np.cumsum(interpolated, axis=1)[:, -1] / points)


class _Levels(NamedTuple):
    """The positive grades of every query, best first, each with its distance from the next lower one (or from 0).

    ``base`` is how many documents have at least that grade, ``lower`` how many levels lie below it.
    """

    row: Ints
    grade: Floats
    distance: Floats
    base: Ints
    lower: Ints


def _levels(block: Block) -> _Levels:
    positive = block.judged.relevant(None, None)
    row, grade = positive.row, positive.grade
    next_row, next_grade = np.append(row[1:], -1), np.append(grade[1:], 0.0)
    # Best first, the last document of a grade stands at the place that is the number of documents down to that grade.
    is_last = (next_row != row) | (next_grade != grade)
    distance = grade - np.where(next_row == row, next_grade, 0.0)
    row = row[is_last]
    lower = np.bincount(row, minlength=block.size)[row] - ordinal_in_row(row)
    return _Levels(row, grade[is_last], distance[is_last], positive.rank[is_last], lower)


@dataclass(frozen=True, eq=False, repr=False)
class MuAP(Measure):
    """Average precision over all levels of relevance: its mean, weighted by how far the levels lie apart.

    Formula:
        muAP = sum over levels i of d_i AP(rel=t_i), divided by the sum of d_i

    t_1 < t_2 < ... are the positive grades, t_0 = 0, d_i = t_i - t_(i-1). A high grade is relevant at many levels, so
    that it counts more than a low one.

    Conventions:
        - the grades are those in the query's judgments; with levels=all those in the whole file, also of queries that
          are not evaluated. A level that no document of the query reaches then has an AP of 0
        - takes no k
        - unjudged documents are not relevant
        - nothing relevant: undefined, with levels=all, too
        - a single level: AP

    Differs from:
        what is elsewhere called µAP, micro-averaged AP: one list for all queries together

    Reference:
        Scheel, Lommatzsch and Albayrak, SPIM 2011, eq. 4. Errata: in Table 1, .465 is the mean over all six thresholds,
        also those that make everything or nothing relevant; muAP is the .448 in the last line. In the example after eq.
        4, "AP = 0.3" and "AP = 0.7" are distances d

    Example:
        Table 1: AP is .780, .483, .403 and .125 from grade 1, 2, 3 and 4 on; the distances are all 1.

        >>> from gainful import parse
        >>> round(parse("muAP").score([1, 0, 3, 3, 2, 0, 1, 4]), 3)
        0.448
    """

    name = "muAP"
    at = None
    levels: str = "query"
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        levels, hits = block.cached("levels", lambda: _levels(block)), block.relevant()
        summed, distances = np.zeros(block.size), np.zeros(block.size)
        # From the lowest level up: the higher it is, the fewer documents reach it and the fewer queries have it.
        for lower in range(int(levels.lower.max(initial=-1)) + 1):
            at = levels.lower == lower
            row = levels.row[at]
            if lower:
                threshold = np.full(block.size, np.inf)
                threshold[row] = levels.grade[at]
                kept = hits.grade >= threshold[hits.row]
                hits = Documents(hits.row[kept], hits.rank[kept], hits.grade[kept])
            precisions = np.bincount(hits.row, ordinal_in_row(hits.row) / hits.rank, minlength=block.size)
            summed[row] += levels.distance[at] * (precisions[row] / levels.base[at])
            distances[row] += levels.distance[at]
        if self.levels == "all":
            distances = np.where(distances == 0, 0.0, _highest_level(block))
        return ratios(summed, distances)


def _highest_level(block: Block) -> float:
    """The highest grade in the whole file: the sum of the distances of all its levels."""
    return max(block.graded.judged.qrels.levels[-1] - block.policy.grade_zero, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class NDCNG(CumulatedGain):
    """nDCG with gains relative to the query's highest grade, so that the length of the scale does not matter.

    Formula:
        NDCNG[k] = DCNG[k] / DCNG[k] of the ideal list

    DCNG[k] is the sum over the ranks j <= k of (2^(g_j / m) - 1) / log2(j + 1), g_j the grade at rank j and m the
    highest grade in the query's judgments.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - unjudged documents and negative grades have gain 0
        - no grade above 0: all gains are 0, undefined
        - average=ranks is the mean of NDCNG[1], ..., NDCNG[k]

    Agrees with:
        nDCG(gain=exp2) where every query's highest grade is 1

    Reference:
        Scheel, Lommatzsch and Albayrak, SPIM 2011, eq. 5. Errata: the DCGs in Table 2 have logarithms to the base 10,
        which the ratio does not show, and in its second example they are truncated

    Example:
        Table 2, third example, rank 2: (2^(1/4) - 1) / (1 + (2^(3/4) - 1) / log2(3)).

        >>> from gainful import parse
        >>> round(parse("NDCNG@2").score([1, 0, 3, 3, 2, 0, 1, 4]), 2)
        0.13
    """

    name = "NDCNG"
    total = "DCNG"
    normalised = True
    discount = "burges2005"
    base = 2.0
    average: str | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def _run_lists(self, block: Block) -> GainLists:
        return block.cached("NDCNG run", lambda: _relative_gains(block.hits, block))

    def _ideal_lists(self, block: Block) -> GainLists:
        # Best grades first are best gains first.
        return block.cached("NDCNG ideal", lambda: _relative_gains(block.judged, block))


def _highest_grades(block: Block) -> Floats:
    """The highest grade of every query, 0 where none is above it."""
    highest = np.zeros(block.size)
    first = block.judged.rank == 1
    highest[block.judged.row[first]] = np.maximum(block.judged.grade[first], 0.0)
    return highest


def _relative_gains(documents: Documents, block: Block) -> GainLists:
    positive = documents.relevant(None, None)
    relative = positive.grade / _highest_grades(block)[positive.row]
    return GainLists(block.size, positive.row, positive.rank, np.expm1(relative * math.log(2.0)))
