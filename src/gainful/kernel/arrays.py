"""Names for the array types that gainful passes around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # loading it takes as long as all modules of a small command together

Bytes: TypeAlias = "NDArray[np.uint8]"
Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
Bools: TypeAlias = "NDArray[np.bool_]"

#: So many values are sorted at a time.
_PART = 1 << 16


def distinct(values: Floats) -> Floats:
    """The different values in ascending order. (np.unique would load numpy.ma, a tenth of a small command's time.)"""
    if values.size > _PART:  # hardly any are different: a part of them stays in the processor's cache
        values = np.concatenate([distinct(values[i : i + _PART]) for i in range(0, values.size, _PART)])
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def offsets_of(counts: Sequence[int] | Ints | Bools) -> Ints:
    """Where each of several consecutive groups of so many starts, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def freeze(*arrays: Floats | Ints) -> None:
    """Makes arrays read-only: what is called immutable is."""
    for array in arrays:
        array.setflags(write=False)
