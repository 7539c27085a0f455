"""Flips of signs in the pure-Python kernel: sums over flipped queries, and how many are extreme.

``_core.pyi`` has the contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gainful.kernel.exact_sums import subset_sums

if TYPE_CHECKING:
    from gainful.kernel._core import Bytes, Floats, Ints

_DRAWS = 1_000  # whose sums stay in the cache


def flipped_sums(steps: Floats, flips: Bytes, threads: int) -> Floats:
    """All sums there can be of eight queries are in a table, where their byte of flips finds the one wanted."""
    queries, columns = steps.shape
    if 8 * flips.shape[1] < queries:
        raise ValueError("a query has no flips")
    tables = [subset_sums(steps[start : start + 8]) for start in range(0, queries, 8)]
    found = np.zeros((columns, len(flips)))
    for start in range(0, len(flips), _DRAWS):
        part = flips[start : start + _DRAWS]
        total = np.zeros((len(part), columns))
        for table, byte in zip(tables, part.T, strict=False):
            total += table.take(byte & (len(table) - 1), axis=0)
        found[:, start : start + len(part)] = total.T
    return found


def count_extremes(
    sums: Floats, first: Ints, second: Ints, weight: Floats, edge: Floats, reach: Floats, threads: int
) -> tuple[Ints, Ints, Floats]:
    """One pair after the other, because a row of draws stays in the processor's cache, and a matrix of all does not."""
    columns = first, second, weight, edge, reach
    if len({column.size for column in columns}) > 1:
        raise ValueError("the columns differ in length")
    pairs = list(zip(*(column.tolist() for column in columns), strict=True))
    if any(not 0 <= row < len(sums) for pair in pairs for row in pair[:2]):
        raise ValueError("there is no such row")
    alone, among = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    largest, apart = np.zeros(sums.shape[1]), np.empty(sums.shape[1])
    is_reached = np.empty(largest.size, np.bool_)
    for i, (one, other, factor, least, least_among) in enumerate(pairs):
        np.abs(np.subtract(sums[one], sums[other], out=apart), out=apart)
        apart *= factor
        np.maximum(largest, apart, out=largest)
        alone[i] = np.count_nonzero(np.greater_equal(apart, least, out=is_reached))
        among[i] = np.count_nonzero(np.greater_equal(largest, least_among, out=is_reached))
    return alone, among, largest
