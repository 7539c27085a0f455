"""Wilcoxon's signed ranks and the sign test. Neither is about means: each names what it tests."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from gainful.arrays import Floats
from gainful.notation import choose
from gainful.stats.ranks import mid_ranks

#: Up to so many non-zero differences Wilcoxon's null distribution is counted out.
MOST_EXACT = 50

Zeros: TypeAlias = Literal["drop", "pratt"]


class SignedRanks(NamedTuple):
    """Sums of the ranks of positive and of negative differences, p, and whether it was counted out or is normal."""

    positive: float
    negative: float
    p: float
    is_exact: bool


def wilcoxon(
    differences: Floats, *, zeros: Zeros = "drop", exact: bool | None = None, continuity: bool = False
) -> SignedRanks:
    """Wilcoxon's signed-rank test that settled differences are symmetric about 0, two-sided.

    Zeros are dropped (``pratt`` ranks them, then drops their ranks); equal sizes share the middle rank. The null
    distribution is counted out over the actual ranks up to 50 differences; beyond it is normal with the correction for
    ties, and without one for continuity unless asked for. Who asks for that gets the normal form of any number: what is
    counted out needs none.

    >>> wilcoxon(np.array([1.0, 2.0, 3.0, -4.0]))
    SignedRanks(positive=6.0, negative=4.0, p=0.875, is_exact=True)
    """
    choose(zeros, ("drop", "pratt"), "zeros")
    ranked = differences if zeros == "pratt" else differences[differences != 0]
    ranks = mid_ranks(np.abs(ranked))
    positive, negative = math.fsum(ranks[ranked > 0]), math.fsum(ranks[ranked < 0])
    ranks = ranks[ranked != 0]
    if not ranks.size:
        return SignedRanks(0.0, 0.0, 1.0, True)
    if exact is None:
        exact = ranks.size <= MOST_EXACT and not continuity
    p = _counted_p(ranks, min(positive, negative)) if exact else _normal_p(ranks, positive - negative, continuity)
    return SignedRanks(positive, negative, p, exact)


def sign_p(wins: int, losses: int) -> float:
    """The two-sided p of the exact sign test that the median difference is 0; zeros take no part.

    >>> sign_p(4, 1)
    0.375
    """
    from scipy.special import bdtr

    trials = wins + losses
    return min(1.0, 2 * float(bdtr(min(wins, losses), trials, 0.5))) if trials else 1.0


def rank_biserial(differences: Floats) -> float | None:
    """(W+ - W-) / (W+ + W-), zeros dropped (Kerby 2014); None if all are.

    >>> rank_biserial(np.array([1.0, 2.0, 3.0, -4.0, 0.0]))
    0.2
    """
    found = wilcoxon(differences, exact=False)
    ranked = found.positive + found.negative
    return (found.positive - found.negative) / ranked if ranked else None


def _counted_p(ranks: Floats, smaller: float) -> float:
    """Twice the share of all signs whose sum is at most the smaller of the two; ranks doubled are whole numbers."""
    doubled = np.rint(2 * ranks).astype(np.int64).tolist()
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1.0
    top = 0
    for rank in doubled:
        top += rank
        # Counts are halved as they grow: the sum stays 1, and powers of 2 lose nothing.
        ways[rank : top + 1] += ways[: top + 1 - rank].copy()
        ways[: top + 1] /= 2
    return min(1.0, 2 * math.fsum(ways[: round(2 * smaller) + 1]))


def _normal_p(ranks: Floats, apart: float, continuity: bool) -> float:
    """W+ - W- has mean 0 and variance sum of squared ranks, ties and Pratt's zeros included."""
    from scipy.special import ndtr

    from gainful.stats.noncentral import LEAST_P

    distance = max(0.0, abs(apart) / 2 - (0.5 if continuity else 0.0))
    deviation = math.sqrt(math.fsum(ranks**2)) / 2
    return max(min(1.0, 2 * float(ndtr(-distance / deviation))), LEAST_P)
