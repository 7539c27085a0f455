"""Corrections of p values for the number of comparisons."""

from __future__ import annotations

import math

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose

#: Corrections that work on the p of any test, and what the corrected p promise.
CORRECTIONS = {
    "holm": "the chance of any false finding in the family is at most alpha",
    "bonferroni": "the chance of any false finding in the family is at most alpha",
    "bh": "of the findings a share of at most alpha is expected to be false; not the chance of any",
    "by": "of the findings a share of at most alpha is expected to be false, whatever the dependence",
    "none": "each p stands for itself: the more tests, the more false findings",
}


_FOR_EACH = 10  # flips as extreme that the smallest p in question has to be counted from


def corrected(p: Floats, correction: str) -> Floats:
    """p corrected for all tests of a family: Holm, Benjamini-Hochberg, Benjamini-Yekutieli, Bonferroni or none.

    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    choose(correction, CORRECTIONS, "correction")
    if np.isnan(p).any() or (p <= 0).any() or (p > 1).any():
        raise UsageError("p: expected numbers above 0 and at most 1, found something else")
    family = p.size
    if correction == "none" or not family:
        return p.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, p * family)
    order = np.argsort(p, kind="stable")
    place = np.arange(1, family + 1)
    if correction == "holm":
        steps = np.maximum.accumulate(np.minimum(1.0, (family - place + 1) * p[order]))
    else:
        factor = math.fsum(1 / place) if correction == "by" else 1.0
        by_rank = np.minimum(1.0, factor * family * p[order] / place)
        steps = np.minimum.accumulate(by_rank[::-1])[::-1]
    found = np.empty(family)
    found[order] = steps
    return found


def refuse_coarse(correction: str, family: int, draws: int, alpha: float) -> None:
    """Refuses to multiply p from too few draws: the smallest there can be would never be significant.

    >>> refuse_coarse("holm", 10, 2000, 0.05)
    """
    needed = math.ceil(round(_FOR_EACH * family / alpha, 6))
    if correction in ("holm", "bonferroni") and draws < needed:
        raise UsageError(
            f"correction {correction}: expected at least {needed:,} draws for {family:,} tests, found {draws:,}, "
            f"which cannot show a p below {1 / (draws + 1):.2g}",
            f"ask for {needed:,} draws, take the correction maxt, which has no such limit, or the test t",
        )
