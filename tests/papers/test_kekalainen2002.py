"""Generalised precision and recall of the sample list that the two authors use throughout.

kekalainen2002: Kekäläinen and Järvelin, Using graded relevance assessments in IR evaluation, JASIST 53(13), 2002,
defines the measures; jarvelin2002 (TOIS 20(4)), section 2.4, says that they extend to document cut-off values. The
vectors that jarvelin2002 prints are the sums that the measures are made of.
"""

from __future__ import annotations

import pytest

from gainful import parse

# jarvelin2002, sections 2.1 and 2.2: the sample gain vector G', its CG vector, and the recall base: 19 in all.
GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
MISSED = [1, 1, 1]
CG = [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
BASE = 19


@pytest.mark.parametrize("k", range(1, 11))
def test_precision_and_recall_are_cumulated_gain_by_rank_and_by_recall_base(k: int) -> None:
    """A grade of 3 is a relevance of 1, so a gain of CG[k] is CG[k] / 3 fully relevant documents."""
    assert parse(f"gP@{k}").score(GAINS, MISSED) == pytest.approx(CG[k - 1] / 3 / k, abs=1e-12)
    assert parse(f"gR@{k}").score(GAINS, MISSED) == pytest.approx(CG[k - 1] / BASE, abs=1e-12)


def test_the_curve() -> None:
    """Ranks at which recall levels are reached: .1 at rank 1 (3/19), .2 at 2 (5/19), .3 and .4 at 3 (8/19), .5 at 7
    (11/19), .6 at 8 (13/19), .7 and .8 at 9 (16/19), .9 and 1 nowhere."""
    by_rank = [CG[rank - 1] / 3 / rank for rank in range(1, 11)]
    best_from_rank = [max(by_rank[rank - 1 :]) for rank in (1, 1, 2, 3, 3, 7, 8, 9, 9)] + [0, 0]
    points = [parse(f"gIPrec@{tenth / 10}").score(GAINS, MISSED) for tenth in range(11)]
    assert points == pytest.approx(best_from_rank, abs=1e-12)
    assert points[2] == pytest.approx(8 / 9, abs=1e-12)  # the precision at rank 3 beats that at rank 2
    assert parse("gIAP").score(GAINS, MISSED) == pytest.approx(sum(best_from_rank) / 11, abs=1e-12)
