"""Corrections of p for the number of comparisons. All there are stand in :mod:`gainful.stats.catalogues`."""

from __future__ import annotations

import math

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose
from gainful.stats.catalogues import CORRECTIONS

_FOR_EACH = 10  # flips as extreme that the smallest p in question has to be counted from


def _up_to_one(p: Floats) -> Floats:
    return np.minimum(1.0, p)


def _places(p: Floats) -> Floats:
    return np.arange(1.0, p.size + 1)


def _running_minimum(p: Floats) -> Floats:
    """The smallest from each place on: what a step-up procedure makes of p in order."""
    return np.minimum.accumulate(_up_to_one(p)[::-1])[::-1]


def holm(p: Floats) -> Floats:
    """max over j <= i of (m - j + 1) p_(j) (Holm 1979)."""
    return np.maximum.accumulate(_up_to_one((p.size - _places(p) + 1) * p))


def hochberg(p: Floats) -> Floats:
    """min over j >= i of (m - j + 1) p_(j) (Hochberg 1988)."""
    return _running_minimum((p.size - _places(p) + 1) * p)


def benjamini_hochberg(p: Floats) -> Floats:
    """min over j >= i of m p_(j) / j (Benjamini & Hochberg 1995)."""
    return _running_minimum(p.size * p / _places(p))


def benjamini_yekutieli(p: Floats) -> Floats:
    """As Benjamini and Hochberg's, times 1 + 1/2 + ... + 1/m (Benjamini & Yekutieli 2001)."""
    return _running_minimum(math.fsum(1 / _places(p)) * p.size * p / _places(p))


def bonferroni(p: Floats) -> Floats:
    """m p."""
    return _up_to_one(p * p.size)


def uncorrected(p: Floats) -> Floats:
    """p as they are."""
    return p.copy()


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
        found[order] = steps(p[order])
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
