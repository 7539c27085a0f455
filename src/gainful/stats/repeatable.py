"""What makes statistics the same to the bit, on any machine and any number of threads, and what they all share.

Random streams are distinguished by a seed and a number, so that blocks of draws do not depend on each other. Numbers
that are equal in exact arithmetic are made equal, and sums go over fixed points, which no order of addition can
change. Shared are checks of draws, seeds, levels and margins, and counts and thresholds that decide as the comparisons
do.
"""

from __future__ import annotations

import math

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.exact_sums import EXACT_BITS, FixedPoint

#: Draws of one random stream: any block can be made without the ones before it, and threads may take them in any order.
BLOCK = 1_000
MOST_DRAWS = 10_000_000

_LEAST_ALPHA = 1e-12


def stream(seed: int, number: int = 0) -> np.random.Generator:
    """The random numbers of a seed and a block or draw: Philox with both as its key.

    >>> bool(stream(1, 2).integers(10) == stream(1, 2).integers(10))
    True
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))


def check_draws(draws: int, seed: int, least: int = 1) -> None:
    """Refuses a number of draws or a seed that is none, and more draws than memory and patience last for."""
    if draws < least:
        raise UsageError(f"draws: expected at least {least}, found {draws}")
    if draws > MOST_DRAWS:
        raise UsageError(f"draws: expected at most {MOST_DRAWS:,}, found {draws:,}")
    check_seed(seed)


def check_seed(seed: int) -> None:
    """Refuses a seed that is none.

    >>> check_seed(0), check_seed(2**63 - 1)
    (None, None)
    """
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise UsageError(f"seed: expected a whole number from 0 to 2^63 - 1, found {seed}")


def check_alpha(alpha: float) -> None:
    """Refuses a level that is none, or so small that float64 cannot count to its inverse."""
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha: expected a number between 0 and 0.5, found {alpha:g}")
    if alpha < _LEAST_ALPHA:
        raise UsageError(f"alpha: expected at least {_LEAST_ALPHA:g}, found {alpha:g}")


def check_margin(margin: float | None) -> None:
    """Refuses a margin that is none, if there is one."""
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(f"margin: expected a number above 0, found {margin:g}")


_FINEST = 44  # binary places below the largest value: finer than any score, coarser than what adding up loses


def on_grid(values: Floats, terms: int) -> FixedPoint:
    """Values rounded to a grid so coarse that sums of ``terms`` of them are exact.

    >>> on_grid(np.array([0.5, 0.25]), 2).unit == 2.0**-45
    True
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest:
        return FixedPoint(np.zeros(values.shape), 1.0)
    return FixedPoint.of(values, math.floor(min(_FINEST, EXACT_BITS - math.log2(max(terms, 1))) - math.log2(largest)))


_PLACES = 12


def settle(values: Floats, scale: float | None = None) -> Floats:
    """Values rounded to 12 decimals relative to the scores' range, so that ties are ties.

    ``scale`` is the largest absolute score (of ``values`` themselves unless given); 12 decimals are counted from the
    power of 10 above it, so that scores between 0.1 and 1 keep 12 places.

    >>> settle(np.array([0.1 + 0.2, 0.3, 1.0 - 0.7])).tolist()
    [0.3, 0.3, 0.3]
    """
    if scale is None:
        scale = float(np.max(np.abs(values), initial=0.0))
    places = _places(scale)
    return values if places is None else np.round(values, places)


def settled_step(scale: float) -> float:
    """The last decimal that settling keeps: no settled value is further than that from what it is in exact arithmetic.

    >>> settled_step(1.0), settled_step(20.0), settled_step(0.0)
    (1e-12, 1e-10, 0.0)
    """
    places = _places(scale)
    return 0.0 if places is None else 10.0**-places


def _places(scale: float) -> int | None:
    if not scale:
        return None
    places = _PLACES - math.ceil(math.log10(scale))
    # Beyond these, 10**places is no float64; scores so small or so large are no scores, and are left as they are.
    return places if abs(places) <= 300 else None


def settled_differences(a: Floats, b: Floats) -> Floats:
    """a - b, settled by the scale of both.

    >>> settled_differences(np.array([0.3]), np.array([0.1 + 0.2])).tolist()
    [0.0]
    """
    scale = max(float(np.max(np.abs(a), initial=0.0)), float(np.max(np.abs(b), initial=0.0)))
    # + 0.0 makes -0.0 a 0.0, which prints without a sign.
    return np.asarray(settle(a - b, scale) + 0.0)


def fixed_point(differences: Floats) -> FixedPoint:
    """Differences on a grid of 2^-44 of the largest, or so much coarser that sums of +-steps stay below 2^53: these are
    exact in any order, on any linear algebra, on any threads, and the same whatever the unit of the scores is.

    >>> fixed_point(np.array([0.5, -0.25])).steps.tolist() == [2.0**44, -(2.0**43)]
    True
    """
    return on_grid(differences, differences.size)


def least_count(share: float, total: int) -> int:
    """The smallest count that is at least a share of a total, by the very comparison that decides about p.

    >>> least_count(0.05, 100), least_count(0.05, 101)
    (5, 6)
    """
    count = math.ceil(share * total)
    while count > 0 and (count - 1) / total >= share:
        count -= 1
    while count / total < share:
        count += 1
    return count


def least_told(critical: float, apart: Floats, is_told: Bools, scale: float) -> float:
    """The threshold of a procedure that tells apart what exceeds a critical difference: from it on, pairs are told.

    ``apart`` are the absolute differences as they are held, ``is_told`` the verdicts, which the threshold must not
    contradict by what rounding does. One settled step above the critical difference is the next larger one.

    >>> least_told(0.07599999999999967, np.array([0.076, 0.1]), np.array([False, True]), 1.0)
    0.076000000001
    """
    if math.isinf(critical):
        return critical
    found = float(settle(settle(np.array(critical), scale) + settled_step(scale), scale))
    below = math.nextafter(float(np.max(apart[~is_told], initial=0.0)), math.inf)
    # A told pair is above all that are not, so that both limits can be kept.
    return max(below, min(found, float(np.min(apart[is_told], initial=math.inf))))


def largest_at(values: Floats, place: int) -> float:
    """The value at a place, the largest being the first; above all of them there is nothing."""
    return float(np.partition(values, values.size - place)[values.size - place]) if place >= 1 else math.inf
