"""Ids and numbers from Python objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

import numpy as np

from gainful.arrays import Bytes, Ints
from gainful.errors import InputError
from gainful.notation import bytes_of_id


def read_id(value: object, where: str) -> bytes:
    """An id as bytes. Integers are their decimal text."""
    if isinstance(value, str):
        try:
            identifier = bytes_of_id(value)
        except UnicodeEncodeError as error:
            raise InputError(f"{where}: expected an id that can be written as UTF-8, found {value!r}") from error
    elif isinstance(value, bytes):
        identifier = value
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        identifier = str(int(value)).encode()
    else:
        raise InputError(f"{where}: expected a text, bytes or an integer as id, found {value!r}")
    if not identifier:
        raise InputError(f"{where}: expected an id, found an empty one")
    return identifier


def read_value(value: object, where: str, what: str) -> float:
    """A finite grade or score from a Python number."""
    if isinstance(value, (Real, np.bool_)):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise InputError(f"{where}: expected a finite number as {what}, found {value!r}")


def pack(ids: Sequence[bytes]) -> tuple[Bytes, Ints, Ints]:
    """One block of bytes with the start and length of every id in it."""
    lengths = np.fromiter((len(identifier) for identifier in ids), np.int64, len(ids))
    ends = np.cumsum(lengths)
    return np.frombuffer(b"".join(ids), np.uint8), ends - lengths, lengths
