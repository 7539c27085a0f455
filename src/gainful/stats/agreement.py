"""How far two scorings put the same systems into the same order. Higher scores are better throughout."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.errors import UsageError
from gainful.stats.orders import Swap

#: How far down an order RBO looks: the chance of going on to the next system.
PERSISTENCE = 0.9


def tau_ap(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """AP correlation (Yilmaz, Aslam & Robertson 2008) of an estimated order with a reference; None with any tie.

    2 / (N - 1) sum_{i=2..N} C(i) / (i - 1) - 1: the estimate is read from its best, C(i) are the systems above i that
    the reference puts above it, too. What changes at the top weighs more. The two directions differ.

    >>> tau_ap([3, 4, 2, 1], [4, 3, 2, 1])  # B A C D, where A B C D would be right
    0.33333333333333326
    """
    est, ref = _two(estimate, reference)
    return None if _has_ties(est) else tau_ap_a(est, ref)


def tau_ap_a(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """AP correlation with an estimate that may have ties: its mean over the orders of these; None if the reference has.

    At place k of a group of equals below p others, each of the group stands equally often: C is on average what the
    group has of p, and half of k (Urbano & Marrero 2017).

    >>> tau_ap_a([2, 2, 1], [3, 2, 1])  # the mean of 1 and 0
    0.5
    """
    est, ref = _two(estimate, reference)
    if est.size < 2 or _has_ties(ref):
        return None
    total = 0.0
    for group, above in _groups(est):
        kept = float(np.count_nonzero(ref[above][:, np.newaxis] > ref[group])) / group.size
        total += math.fsum((kept + k / 2) / (above.size + k) for k in range(group.size) if above.size + k)
    return 2 * total / (est.size - 1) - 1


def tau_ap_b(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """AP correlation of two orders that may both have ties, the mean of both directions; None if one is all ties.

    As :func:`tau_ap`, but a system tied with another is not above it: C(i) over the number of systems that are above i,
    and the best group, which has none above it, does not count (Urbano & Marrero 2017). Without ties it is the mean of
    :func:`tau_ap` in both directions.

    >>> tau_ap_b([2, 2, 1], [2, 2, 1]), round(tau_ap_b([4, 3, 2, 1], [3, 2, 4, 1]), 12)
    (1.0, 0.166666666667)
    """
    one, other = _two(x, y)
    directions = [_tau_ap_b(one, other), _tau_ap_b(other, one)]
    return None if None in directions else sum(value for value in directions if value is not None) / 2


def _tau_ap_b(read: Floats, against: Floats) -> float | None:
    is_above = read > read[:, np.newaxis]
    above = np.count_nonzero(is_above, axis=1)
    kept = np.count_nonzero(is_above & (against > against[:, np.newaxis]), axis=1)
    counted = above > 0
    if not counted.any():
        return None
    return 2 * math.fsum(kept[counted] / above[counted]) / int(np.count_nonzero(counted)) - 1


def rbo(x: Sequence[float] | Floats, y: Sequence[float] | Floats, p: float = PERSISTENCE) -> float | None:
    """Rank-biased overlap of two whole orders, extrapolated (Webber, Moffat & Zobel 2010); the mean over tie orders.

    X_k / k p^k + (1 - p) / p sum_d X_d / d p^d, X_d the systems that both have among their first d. Of equals each has
    the same chance to be among these: X_d is then the sum of products of chances (RBO^a of Corsi & Urbano 2024).

    >>> round(rbo([4, 3, 2, 1], [3, 4, 2, 1]), 12)
    0.9
    """
    one, other = _two(x, y)
    _check_persistence(p)
    size = one.size
    if not size:
        return None
    overlap = (_among_first(one) * _among_first(other)).sum(axis=1)
    depth = np.arange(1, size + 1)
    agreement = overlap / depth
    return float(agreement[-1] * p**size + (1 - p) / p * math.fsum(agreement * p**depth))


def rbo_by_chance(systems: int, p: float = PERSISTENCE) -> float:
    """The rank-biased overlap that two random orders have on average: it is far above 0 where systems are few.

    >>> round(rbo_by_chance(5), 2), round(rbo_by_chance(129), 2)
    (0.82, 0.08)
    """
    _check_persistence(p)
    return p**systems + (1 - p) / p * math.fsum(d / systems * p**d for d in range(1, systems + 1))


def pearson(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """The linear correlation of two scorings; None where either scores all alike.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    one, other = (side - math.fsum(side) / max(side.size, 1) for side in _two(x, y))
    spread = math.fsum(one**2) * math.fsum(other**2)
    return max(-1.0, min(1.0, math.fsum(one * other) / math.sqrt(spread))) if spread > 0 else None


def swaps(names: Sequence[str], x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Swap, ...]:
    """The pairs of systems that two scorings put into opposite order, clearest first.

    Leads are compared as shares of each scoring's range, because the scorings may be of different measures.

    >>> swaps(["a", "b", "c"], [3, 2, 1], [2, 3, 1])
    (Swap(better_by_a='a', better_by_b='b', lead_a=1.0, lead_b=1.0),)
    """
    one, other = _two(x, y)
    lead_a, lead_b = (side[:, np.newaxis] - side for side in (one, other))
    first, second = np.nonzero((lead_a > 0) & (lead_b < 0))
    if not first.size:
        return ()
    clearness = np.minimum(lead_a[first, second] / np.ptp(one), -lead_b[first, second] / np.ptp(other))
    found = [
        (-clear, Swap(names[i], names[j], float(lead_a[i, j]), float(-lead_b[i, j])))
        for clear, i, j in zip(clearness.tolist(), first.tolist(), second.tolist(), strict=True)
    ]
    return tuple(swap for _, swap in sorted(found))


def _two(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise UsageError(f"agreement: expected two scores a system, found {one.size} and {other.size} in all")
    return one, other


def _has_ties(values: Floats) -> bool:
    return bool((np.diff(np.sort(values)) == 0).any())


def _groups(values: Floats) -> list[tuple[Ints, Ints]]:
    """The systems that are equal, best first, each with all that are better."""
    order = np.argsort(-values, kind="stable")
    ends = [*(np.flatnonzero(np.diff(values[order])) + 1).tolist(), order.size]
    starts = [0, *ends[:-1]]
    return [(order[start:end], order[:start]) for start, end in zip(starts, ends, strict=True)]


def _among_first(values: Floats) -> Floats:
    """Depths x systems: the chance of each system to be among the first d."""
    above = np.count_nonzero(values > values[:, np.newaxis], axis=1)
    equal = np.count_nonzero(values == values[:, np.newaxis], axis=1)
    depth = np.arange(1, values.size + 1)[:, np.newaxis]
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


def _check_persistence(p: float) -> None:
    if not 0 < p < 1:
        raise UsageError(f"persistence: expected a number between 0 and 1, found {p!r}")
