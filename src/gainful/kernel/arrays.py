"""Names of array types, and basic operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # importing it takes as long as all modules of a small command together

Bytes: TypeAlias = "NDArray[np.uint8]"
Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
Bools: TypeAlias = "NDArray[np.bool_]"

#: Number of values sorted at a time.
_PART = 1 << 16


def distinct(values: Floats) -> Floats:
    """Return the distinct values in ascending order. (np.unique would import numpy.ma, a tenth of a small command.)"""
    if values.size > _PART:  # few values are distinct, and a part fits into the processor's cache
        values = np.concatenate([distinct(values[i : i + _PART]) for i in range(0, values.size, _PART)])
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def offsets_of(counts: Sequence[int] | Ints | Bools) -> Ints:
    """Return the offsets of consecutive groups with the given sizes, including the end of the last one."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def freeze(*arrays: Floats | Ints) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)
