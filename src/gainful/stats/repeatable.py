"""What makes statistics the same to the bit, on any machine and any number of threads, and what they all share.

Random streams are distinguished by a seed and a number, so that blocks of draws do not depend on each other. Numbers
that are equal in exact arithmetic are made equal, and sums go over fixed points, which no order of addition can
change. Shared are checks of draws, seeds, levels and margins, counts and thresholds that decide as the comparisons
do, the search for a crossing, and Student's t and the normal distribution, without what plans of studies need.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.exact_sums import EXACT_BITS, FixedPoint

#: Draws of one random stream: any block can be made without the ones before it, and threads may take them in any order.
BLOCK = 1_000
MOST_DRAWS = 10_000_000


#: A p is never 0: what float64 cannot hold is written as its smallest normal number.
LEAST_P = 2.2250738585072014e-308

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


def crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """The smallest number between two at which a rising function is 0 or more, to the last digits.

    By inverse quadratic interpolation where it can be trusted, else by halving (Chandrupatla 1997): a quarter of the
    steps that halving alone takes.

    >>> crossing(lambda x: x * x - 2, 1.0, 2.0) == math.sqrt(2)
    True
    """
    # The newest point, the one on the other side of the crossing, and the one before.
    (x, f), (other, at_other) = (low, excess(low)), (high, excess(high))
    if f >= 0:
        return low
    share = 0.5
    while (x + other) / 2 not in (x, other):
        new = x + share * (other - x)
        at_new = excess(new)
        if (at_new >= 0) == (f >= 0):
            third, at_third = x, f
        else:
            third, at_third, other, at_other = other, at_other, x, f
        x, f = new, at_new
        along, rise = (x - other) / (third - other), (f - at_other) / (at_third - at_other)
        share = 0.5
        if rise**2 < along and (1 - rise) ** 2 < 1 - along:
            share = f / (at_other - f) * at_third / (at_other - at_third)
            share += (third - x) / (other - x) * f / (at_third - f) * at_other / (at_third - at_other)
        least = min(2 * math.ulp(x) / abs(other - x), 0.5)
        share = min(max(share, least), 1 - least)
    return max(x, other)


def t_p(statistic: float, df: float) -> float:
    """The two-sided p of a t statistic.

    >>> round(t_p(2.38291, 49), 6)
    0.021099
    """
    from scipy.special import stdtr

    return max(float(2 * stdtr(df, -abs(statistic))), LEAST_P)


def t_quantile(probability: float, df: float) -> float:
    """Student's t below which a share of the distribution lies.

    >>> round(t_quantile(0.975, 49), 5)
    2.00958
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def upper_normal(share: float) -> float:
    """What a normal deviate exceeds with a probability up to one half: Newton's steps from 0, which never overshoot.

    >>> round(upper_normal(0.01), 12), round(upper_normal(0.5), 12)
    (2.326347874041, 0.0)
    """
    z, step = 0.0, 1.0
    while step > 1e-15 * z:
        step = (math.erfc(z / math.sqrt(2)) / 2 - share) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
        z += step
    return z
