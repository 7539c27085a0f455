"""IDs cannot be crafted to collide."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest

core = pytest.importorskip("gainful.kernel._core", reason="only the compiled core hashes ids itself")


def test_another_process_hashes_otherwise() -> None:
    code = "from gainful.kernel import _core; print(_core.hash_id(b'doc-1'))"
    found = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(3)}
    assert len(found) == 3


def test_ids_that_cancel_differences_out() -> None:
    """Words that differ in their highest bit, and the next ones in what a multiplication makes of that: with products
    of 64 bits only, these ids all have one hash, whatever numbers a process begins with."""
    one, other = bytes(16), (1 << 63).to_bytes(8, "little") + ((1 << 63) | (1 << 31)).to_bytes(8, "little")
    ids = [b"".join(words) for words in product((one, other), repeat=10)]
    assert len({core.hash_id(identifier) for identifier in ids}) == len(ids) == 1024


def test_ids_of_all_lengths_and_beginnings() -> None:
    ids = [bytes([1]) * length for length in range(70)] + [b"doc-%d" % i for i in range(50_000)]
    hashes = {core.hash_id(identifier) for identifier in ids}
    assert len(hashes) == len(ids)
    # As many slots as ids: no slot has far more than its share.
    shares = [0] * (1 << 16)
    for value in hashes:
        shares[value & 0xFFFF] += 1
    assert max(shares) < 15


def test_zeros_do_not_make_ids_the_same() -> None:
    assert len({core.hash_id(bytes(length)) for length in range(100)}) == 100
