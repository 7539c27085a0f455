"""Corrections of p for the number of comparisons. One is an object; the catalogue of all is at the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose

_FOR_EACH = 10  # flips as extreme that the smallest p in question has to be counted from

_ANY_FALSE = "the chance of any false finding in the family is at most alpha"


@dataclass(frozen=True)
class Correction:
    """A correction: its name, what it is called, when to take it, and what the corrected p promise.

    ``steps`` makes the p of a family, ascending, into corrected ones; None where the correction is made of the flips
    themselves. ``is_simultaneous``: it bounds the chance of any false finding, so that all findings hold together.
    ``multiplies``: the smallest p by as much as the family is large, so that draws have to be many.
    """

    name: str
    title: str
    about: str
    promise: str
    steps: Callable[[Floats], Floats] | None
    is_simultaneous: bool = True
    multiplies: bool = False


def _up_to_one(p: Floats) -> Floats:
    return np.minimum(1.0, p)


def _places(p: Floats) -> Floats:
    return np.arange(1.0, p.size + 1)


def _running_minimum(p: Floats) -> Floats:
    """The smallest from each place on: what a step-up procedure makes of p in order."""
    return np.minimum.accumulate(_up_to_one(p)[::-1])[::-1]


def _holm(p: Floats) -> Floats:
    """max over j <= i of (m - j + 1) p_(j) (Holm 1979)."""
    return np.maximum.accumulate(_up_to_one((p.size - _places(p) + 1) * p))


def _hochberg(p: Floats) -> Floats:
    """min over j >= i of (m - j + 1) p_(j) (Hochberg 1988)."""
    return _running_minimum((p.size - _places(p) + 1) * p)


def _benjamini_hochberg(p: Floats) -> Floats:
    """min over j >= i of m p_(j) / j (Benjamini & Hochberg 1995)."""
    return _running_minimum(p.size * p / _places(p))


def _benjamini_yekutieli(p: Floats) -> Floats:
    """As Benjamini and Hochberg's, times 1 + 1/2 + ... + 1/m (Benjamini & Yekutieli 2001)."""
    return _running_minimum(math.fsum(1 / _places(p)) * p.size * p / _places(p))


def _bonferroni(p: Floats) -> Floats:
    """m p."""
    return _up_to_one(p * p.size)


MAX_T = Correction(
    "maxt",
    "step-down maxT",
    "flips of signs: one threshold for all pairs, no limit by the number of draws",
    "",
    None,
)
HOLM = Correction("holm", "Holm", "any test, whatever the dependence", _ANY_FALSE, _holm, multiplies=True)
HOCHBERG = Correction(
    "hochberg",
    "Hochberg",
    "a few tests that are independent or hang together positively, as of one baseline: never finds less than Holm",
    f"{_ANY_FALSE}, if tests are independent or positively dependent",
    _hochberg,
    multiplies=True,
)
BENJAMINI_HOCHBERG = Correction(
    "bh",
    "Benjamini-Hochberg",
    "to explore: a share of the findings may be false",
    "of the findings a share of at most alpha is expected to be false; not the chance of any",
    _benjamini_hochberg,
    is_simultaneous=False,
)
BENJAMINI_YEKUTIELI = Correction(
    "by",
    "Benjamini-Yekutieli",
    "to explore, whatever the dependence",
    "of the findings a share of at most alpha is expected to be false, whatever the dependence",
    _benjamini_yekutieli,
    is_simultaneous=False,
)
BONFERRONI = Correction(
    "bonferroni",
    "Bonferroni",
    "for comparison with others' numbers: Holm finds more",
    _ANY_FALSE,
    _bonferroni,
    multiplies=True,
)
NONE = Correction(
    "none",
    "no correction",
    "a single pair that was named before looking",
    "each p stands for itself: the more tests, the more false findings",
    np.copy,
    is_simultaneous=False,
)

#: All corrections by name: what ``--correction`` offers.
CORRECTIONS: dict[str, Correction] = {
    each.name: each for each in (MAX_T, HOLM, HOCHBERG, BENJAMINI_HOCHBERG, BENJAMINI_YEKUTIELI, BONFERRONI, NONE)
}


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
