"""Measures whose values are comparable across relevance scales with different numbers of grades.

Reference: C. Scheel, A. Lommatzsch and S. Albayrak, Performance measures for multi-graded relevance, SPIM 2011.
"""

from __future__ import annotations

import math

import numpy as np

from gainful.data.lists import Documents, GainLists, ordinal_in_row
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Usual
from gainful.measures.block import Block, ratios
from gainful.measures.cumulated_gain import CumulatedGain


def _levels(block: Block) -> tuple[Ints, Floats, Floats, Ints, Ints]:
    """Return row, grade and distance from the next lower one (or from 0) of the positive grades, best first, with the
    number of documents that have at least that grade, and the number of levels below it."""
    positive = block.judged.relevant(None, None)
    row, grade = positive.row, positive.grade
    next_row, next_grade = np.append(row[1:], -1), np.append(grade[1:], 0.0)
    # Best first, the rank of the last document of a grade is the number of documents with at least that grade.
    is_last = (next_row != row) | (next_grade != grade)
    distance = grade - np.where(next_row == row, next_grade, 0.0)
    row = row[is_last]
    lower = np.bincount(row, minlength=block.size)[row] - ordinal_in_row(row)
    return row, grade[is_last], distance[is_last], positive.rank[is_last], lower


class MuAP(Usual, takes="levels unjudged"):
    """Mean AP over all levels of relevance, weighted by the distances between levels.

    Formula:
        muAP = sum over levels i of d_i AP(rel=t_i), divided by the sum of d_i

    t_1 < t_2 < ... are the positive grades, t_0 = 0, d_i = t_i - t_(i-1). High grades are relevant at more levels.

    Conventions:
        - grades are taken from the query's judgments; with levels=all from the whole file, including queries that are
          not evaluated. A level that no document of the query reaches then has an AP of 0
        - has no cutoff
        - unjudged documents are not relevant
        - no relevant documents: undefined, also with levels=all
        - with a single level it is AP

    Differs from:
        micro-averaged AP, also written µAP, which merges the lists of all queries

    Reference:
        Scheel, Lommatzsch and Albayrak, SPIM 2011, eq. 4. Errata: in Table 1, 0.465 is the mean over all six
        thresholds, including those that make all or no documents relevant; muAP is the 0.448 in the last line. In the
        example after eq. 4, "AP = 0.3" and "AP = 0.7" are distances d

    Example:
        Table 1: AP is 0.780, 0.483, 0.403 and 0.125 with rel=1, 2, 3 and 4; all distances are 1.

        >>> round(gainful.parse("muAP").score([1, 0, 3, 3, 2, 0, 1, 4]), 3)
        0.448
    """

    name = "muAP"
    levels = "query"

    def compute(self, block: Block) -> Floats:
        row_of, grade, distance, base, levels_below = block.cached("levels", lambda: _levels(block))
        hits = block.relevant()
        summed, distances = np.zeros(block.size), np.zeros(block.size)
        # From the lowest level up: higher levels have fewer documents and fewer queries.
        for lower in range(int(levels_below.max(initial=-1)) + 1):
            at = levels_below == lower
            row = row_of[at]
            if lower:
                threshold = np.full(block.size, np.inf)
                threshold[row] = grade[at]
                kept = hits.grade >= threshold[hits.row]
                hits = Documents(hits.row[kept], hits.rank[kept], hits.grade[kept])
            summed[row] += distance[at] * (block.precision_sums(hits)[row] / base[at])
            distances[row] += distance[at]
        if self.levels == "all":
            # The distances of all levels sum to the highest grade in the file.
            highest = max(block.graded.judged.qrels.levels[-1] - block.policy.grade_zero, 0.0)
            distances = np.where(distances == 0, 0.0, highest)
        return ratios(summed, distances)


class NDCNG(CumulatedGain, takes="average unjudged cutoff"):
    """nDCG with gains relative to the query's highest grade, independent of the length of the scale.

    Formula:
        NDCNG[k] = DCNG[k] / DCNG[k] of the ideal list

    DCNG[k] is the sum over ranks j <= k of (2^(g_j / m) - 1) / log2(j + 1), with g_j the grade at rank j and m the
    highest grade in the query's judgments.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - no grade above 0: undefined

    Agrees with:
        nDCG(gain=exp2) if the highest grade of every query is 1

    Reference:
        Scheel, Lommatzsch and Albayrak, SPIM 2011, eq. 5. Errata: the DCGs in Table 2 have logarithms to base 10 (which
        cancel in the ratio), and in its second example they are truncated

    Example:
        Table 2, third example, rank 2: (2^(1/4) - 1) / (1 + (2^(3/4) - 1) / log2(3)).

        >>> round(gainful.parse("NDCNG@2").score([1, 0, 3, 3, 2, 0, 1, 4]), 2)
        0.13
    """

    name = "NDCNG"
    total = "DCNG"
    normalised = True
    discount = "burges2005"
    base = 2.0

    def _run_lists(self, block: Block) -> GainLists:
        return block.cached("NDCNG run", lambda: block.with_ties(_relative_gains(block.hits, block)))

    def _ideal_lists(self, block: Block) -> GainLists:
        # Judged documents are sorted by grade, and so by gain.
        return block.cached("NDCNG ideal", lambda: _relative_gains(block.judged, block))


def _relative_gains(documents: Documents, block: Block) -> GainLists:
    """Return gains of grades relative to the highest grade of their query."""
    highest = np.zeros(block.size)
    first = block.judged.rank == 1
    highest[block.judged.row[first]] = np.maximum(block.judged.grade[first], 0.0)
    positive = documents.relevant(None, None)
    relative = positive.grade / highest[positive.row]
    return GainLists(block.size, positive.row, positive.rank, np.expm1(relative * math.log(2.0)))
