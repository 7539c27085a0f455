"""Sums over flipped queries and their extremes: both cores against loops over integers, on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.together import together


def made(seed: int, queries: int, columns: int, draws: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    steps = generator.integers(-(2**45), 2**45, (queries, columns)).astype(np.float64)
    return steps, generator.integers(0, 256, (draws, 8 * ((queries + 63) // 64)), dtype=np.uint8)


@together("threads", [1, 3])
@together(("queries", "columns", "draws"), [(1, 1, 1), (8, 3, 20), (13, 8, 7), (65, 9, 5), (20, 17, 2_100)])
def test_sums_are_those_of_the_bits_that_are_set(
    core: Any, queries: int, columns: int, draws: int, threads: int
) -> None:
    steps, flips = made(queries, queries, columns, draws)
    found = core.flipped_sums(steps, flips, threads)
    assert found.shape == (columns, draws)
    for draw in {0, draws // 2, draws - 1}:
        is_flipped = [flips[draw, query // 8] >> (query % 8) & 1 for query in range(queries)]
        expected = [sum(int(step) for step, bit in zip(column, is_flipped, strict=True) if bit) for column in steps.T]
        assert found[:, draw].tolist() == expected


@together("threads", [1, 3])
@together("draws", [1, 512, 1_100])
def test_extremes_are_counted_one_by_one(core: Any, draws: int, threads: int) -> None:
    generator = np.random.default_rng(draws)
    sums = generator.integers(-9, 10, (4, draws)).astype(np.float64)
    pairs = [(0, 1, 1.0, 3.0, np.inf), (2, 0, 0.5, 3.0, 6.0), (3, 3, 1.0, 0.0, 0.0), (1, 3, 1.0, 18.0, 12.0)]
    first, second, weight, edge, reach = zip(*pairs, strict=True)
    numbers = [np.array(each, np.float64) for each in (weight, edge, reach)]
    alone, among, largest = core.count_extremes(sums, np.array(first), np.array(second), *numbers, threads)
    so_far = [0.0] * draws
    for i, (one, other, factor, least, least_among) in enumerate(pairs):
        apart = [abs(a - b) * factor for a, b in zip(sums[one].tolist(), sums[other].tolist(), strict=True)]
        so_far = [max(each) for each in zip(so_far, apart, strict=True)]
        assert alone[i] == sum(value >= least for value in apart)
        assert among[i] == sum(value >= least_among for value in so_far)
    assert largest.tolist() == so_far


def test_missing_rows_are_errors(core: Any) -> None:
    with pytest.raises(ValueError, match="a query has no flips"):
        core.flipped_sums(np.ones((9, 1)), np.zeros((3, 1), np.uint8), 1)
    ones, sums = np.ones(1), np.zeros((2, 3))
    for row in (-1, 2):
        with pytest.raises(ValueError, match="there is no such row"):
            core.count_extremes(sums, np.array([0]), np.array([row]), ones, ones, ones, 1)
    with pytest.raises(ValueError, match="differ in length"):
        core.count_extremes(sums, np.array([0]), np.array([1, 0]), ones, ones, ones, 1)
