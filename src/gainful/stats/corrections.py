"""Corrections of p for the number of comparisons. All there are stand in :mod:`gainful.stats.catalogues`."""

from __future__ import annotations

import math

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose
from gainful.stats.catalogues import CORRECTIONS

_FOR_EACH = 10  # flips as extreme that the smallest p in question has to be counted from


def corrected(p: Floats, correction: str) -> Floats:
    """p corrected for all tests of a family, by any correction that works on the p of any test.

    >>> p = np.array([0.01, 0.04, 0.03])
    >>> corrected(p, "holm").tolist(), corrected(p, "hochberg").tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    steps = CORRECTIONS[
        choose(correction, (each.name for each in CORRECTIONS.values() if each.steps), "correction")
    ].steps
    if np.isnan(p).any() or (p <= 0).any() or (p > 1).any():
        raise UsageError("p: expected numbers above 0 and at most 1, found something else")
    order = np.argsort(p, kind="stable")
    found = np.empty(p.size)
    if steps and p.size:
        found[order] = np.minimum(1.0, steps(p[order].tolist()))
    return found


def refuse_coarse(correction: str, family: int, draws: int, alpha: float) -> None:
    """Refuses to multiply p from too few draws: the smallest there can be would never be significant.

    >>> refuse_coarse("holm", 10, 2000, 0.05)
    """
    needed = math.ceil(round(_FOR_EACH * family / alpha, 6))
    if CORRECTIONS[correction].multiplies and draws < needed:
        raise UsageError(
            f"correction {correction}: expected at least {needed:,} draws for {family:,} tests, found {draws:,}, "
            f"which cannot show a p below {1 / (draws + 1):.2g}",
            f"ask for {needed:,} draws, take the correction maxt, which has no such limit, or the test t",
        )
