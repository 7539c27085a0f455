"""Sums that do not depend on the order of addition, and thus on how queries are grouped or distributed.

Either values are rounded to multiples of a power of two so coarse that their sums are exact (for many sums of the same
values), or every sum carries its rounding error along.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from gainful.kernel.arrays import Floats, Ints

if TYPE_CHECKING:
    from fractions import Fraction

#: A float64 represents every integer with this many bits.
EXACT_BITS = 52

#: Number of values converted at a time.
_PART = 1 << 12


def exact_sum(values: Floats) -> float:
    """Return the sum, rounded once. (Adding Python floats is twice as fast; parts limit the memory.)

    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    parts = (values[first : first + _PART].tolist() for first in range(0, values.size, _PART))
    return math.fsum(chain.from_iterable(parts))


def effective_number(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2, the number of equally weighted queries with the same variance (Kish 1965).

    >>> effective_number(np.array([1.0, 1.0, 1.0])), round(effective_number(np.array([8.0, 1.0, 1.0])), 3)
    (3.0, 1.515)
    """
    return exact_sum(weights) ** 2 / exact_sum(weights**2)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the weighted mean.

    >>> weighted_mean(np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    0.75
    """
    return exact_sum(weights * values) / exact_sum(weights)


def in_steps(values: Floats, places: int | Ints) -> Floats:
    """Return values as integer multiples of 2^-places.

    >>> in_steps(np.array([0.5, 0.3]), 4).tolist()
    [8.0, 5.0]
    """
    scaled = np.ldexp(values, places)
    return np.rint(scaled, out=scaled)


class FixedPoint(NamedTuple):
    """Values as integer multiples of a unit that is a power of 2."""

    steps: Floats  # integers
    unit: float

    @classmethod
    def of(cls, values: Floats, places: int) -> Self:
        return cls(in_steps(values, places), math.ldexp(1.0, -places))

    def near(self, error: float) -> float:
        """Return the largest sum, in steps, that may be 0 in exact arithmetic.

        ``error`` bounds the error of each value; rounding to the grid adds half a step.
        """
        return self.steps.size * (error / self.unit + 0.5)


def subset_sums(values: Floats) -> Floats:
    """Return the sums of all subsets; subset i contains the values (or rows) whose bits are set in i.

    >>> subset_sums(np.array([1.0, 2.0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    sums = np.zeros((1, *values.shape[1:]))
    for value in values:
        sums = np.concatenate((sums, sums + value))
    return sums


class RankSums:
    """Sums over queries of vectors over ranks, added block by block, each with its rounding error.

    >>> sums = RankSums(3)
    >>> sums.add(np.array([[1e16, 1e16], [1.0, 1.0], [-1e16, -1e16]]))
    >>> sums.total.tolist()  # shorter vectors repeat their last value
    [1.0, 1.0, 1.0]
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._high, self._low = np.zeros(depth), np.zeros(depth)

    def add(self, vectors: Floats) -> None:
        """Add the rows of an array of queries x ranks; the last rank is repeated down to the depth."""
        if vectors.shape[0]:
            high, low = _column_sums(vectors)
            self._high, self._low = _added((self._high, self._low), (self._filled(high), self._filled(low)))

    def _filled(self, values: Floats) -> Floats:
        return np.concatenate((values, np.full(self._depth - values.size, values[-1])))

    @property
    def total(self) -> Floats:
        """The sum at every rank, rounded once."""
        return self._high


_Pair = tuple[Floats, Floats]


def _column_sums(rows: Floats) -> _Pair:
    """Return the sum of every column by pairwise addition of halves."""
    pair = rows, np.zeros_like(rows)
    while (count := pair[0].shape[0]) > 1:
        half = (count + 1) // 2
        paired = count - half
        high, low = _added((pair[0][:paired], pair[1][:paired]), (pair[0][half:], pair[1][half:]))
        if paired < half:
            high, low = (
                np.concatenate((sums, rest[paired:half])) for sums, rest in zip((high, low), pair, strict=True)
            )
        pair = high, low
    return pair[0][0], pair[1][0]


def _added(one: _Pair, other: _Pair) -> _Pair:
    """Add two numbers with their remainders (Knuth's two-sum, Dekker's renormalisation)."""
    (a, a_low), (b, b_low) = one, other
    high = a + b
    from_b = high - a
    low = (a - (high - from_b)) + (b - from_b) + (a_low + b_low)
    rounded = high + low
    return rounded, low - (rounded - high)


def unrounded_sum(values: Floats) -> Fraction:
    """Return the sum without rounding: sums of parts add up to the sum of the whole.

    >>> unrounded_sum(np.array([1e16, 1.0, -1e16])), float(unrounded_sum(np.array([0.1] * 10)))
    (Fraction(1, 1), 1.0)
    """
    from fractions import Fraction  # imported late: rarely needed

    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction(0)
    for power in np.unique(exponent).tolist():
        part = whole[exponent == power]
        # Split the mantissas, so that sums fit into 64 bits.
        high, low = int((part >> 27).sum()), int((part & ((1 << 27) - 1)).sum())
        total += Fraction((high << 27) + low) * Fraction(2) ** (power - 53)
    return total
