"""Permutation by sorting: keys are NumPy's random bits with positions, and sums equal plain Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.together import together


@together("kind", [np.uint32, np.uint64])
@together(("rows", "columns"), [(1, 1), (3, 5), (7, 64), (2, 1025)])
def test_keys_are_the_bits_of_numpy_and_their_places(core: Any, kind: Any, rows: int, columns: int) -> None:
    generator = np.random.SFC64(3)
    state, keys = generator.state["state"]["state"], np.empty((rows, columns), kind)
    width = (columns - 1).bit_length()
    for _ in range(2):  # the second time from where the first ended
        core.random_keys(state, keys)
        memory = b"".join(int(word).to_bytes(8, "little") for word in generator.random_raw(-(-keys.nbytes // 8)))
        bits = np.frombuffer(memory[: keys.nbytes], keys.dtype.newbyteorder("<")).tolist()
        expected = [each >> width << width | i % columns for i, each in enumerate(bits)]
        assert keys.ravel().tolist() == expected


@together("kind", [np.uint32, np.uint64])
def test_values_are_added_by_position(core: Any, kind: Any) -> None:
    sums = np.arange(10.0).reshape(2, 5)
    keys = np.array([[4, 3, 2, 1, 0], [8, 16 + 1, 5, 7, 32 + 4]], kind)
    core.add_at_places(sums, np.array([10.0, 20.0, 30.0, 40.0, 50.0]), keys)
    assert sums.tolist() == [[50, 41, 32, 23, 14], [15, 26, 7, 8, 59]]


def test_inconsistent_shapes_are_errors(core: Any) -> None:
    keys = np.zeros((2, 5), np.uint32)
    for sums, values in (((2, 4), 5), ((3, 5), 5), ((2, 5), 4)):
        with pytest.raises(ValueError, match="the shapes differ"):
            core.add_at_places(np.zeros(sums), np.zeros(values), keys)
    with pytest.raises(ValueError, match="a state has four words"):
        core.random_keys(np.zeros(3, np.uint64), keys)
    core.random_keys(np.zeros(4, np.uint64), keys[:0])
    core.add_at_places(np.zeros((0, 5)), np.zeros(5), keys[:0])
