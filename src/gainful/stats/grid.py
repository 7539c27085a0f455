"""Sums that are exact, so that neither their order nor the machine's linear algebra nor threads can change a bit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats

_FINEST = 44  # binary places below the largest value: finer than any score, coarser than what adding up loses
_EXACT = 52  # a float64 holds whole numbers of so many bits


class Grid(NamedTuple):
    """Values as whole multiples of a unit that is a power of 2."""

    steps: Floats  # whole numbers
    unit: float


def on_grid(values: Floats, terms: int) -> Grid:
    """Values rounded to a grid so coarse that sums of ``terms`` of them are exact.

    >>> on_grid(np.array([0.5, 0.25]), 2).unit == 2.0**-45
    True
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest:
        return Grid(np.zeros(values.shape), 1.0)
    places = math.floor(min(_FINEST, _EXACT - math.log2(max(terms, 1))) - math.log2(largest))
    return Grid(np.rint(np.ldexp(values, places)), math.ldexp(1.0, -places))
