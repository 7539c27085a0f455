"""What all readers of the pure-Python kernel share: numbers, faults, columns. ``_core.pyi`` says what they mean."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gainful._core import Bytes, Fault, Floats, Ints

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE, EMPTY, QUOTE = 1, 2, 3, 4, 5, 6, 7

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FAULTS_KEPT = 10
FIELD = re.compile(rb"[^ \t]+")

# The contract's grammar, written so that no text can be split in two ways: a long field never makes it backtrack.
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def number(text: bytes) -> float:
    """The number that a field is: NaN when it is none, infinite when it is too large for a float64."""
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def fault_of(value: float) -> int:
    """What is wrong with a number as ``number`` reads it; 0 when nothing is."""
    if math.isfinite(value):
        return 0
    return NUMBER if math.isnan(value) else OVERFLOW


def earliest(faults: Iterable[Fault]) -> list[Fault]:
    """The faults that are kept."""
    return sorted(faults)[:FAULTS_KEPT]


def ints(values: list[int]) -> Ints:
    """A column of integers."""
    return np.array(values, dtype=np.int64)


def floats(values: list[float]) -> Floats:
    """A column of floats."""
    return np.array(values, dtype=np.float64)


def as_bytes(data: bytes | bytearray) -> Bytes:
    """Bytes as an array of their own."""
    return np.frombuffer(data, dtype=np.uint8).copy()


def ids_at(data: Bytes, start: Ints, length: Ints) -> list[bytes]:
    """The ids that spans of the data hold. Raises ValueError when one leaves it, where a slice would be cut short."""
    if len(start) != len(length) or np.any((start < 0) | (length < 0) | (start > data.size - length)):
        raise ValueError("the document spans do not lie within the data")
    text = data.tobytes()
    return [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]


def distinct(values: list[bytes]) -> tuple[list[bytes], Ints]:
    """The distinct values in byte order, and for each value its position among them."""
    ids = sorted(set(values))
    position = {value: at for at, value in enumerate(ids)}
    return ids, ints([position[value] for value in values])
