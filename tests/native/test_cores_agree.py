"""The compiled core and the pure-Python core give equal answers on any bytes: some cases of ``make fuzz-cores``."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.together import together

spec = importlib.util.spec_from_file_location("fuzz_cores", Path(__file__).parents[2] / "fuzz" / "cores.py")
assert spec is not None and spec.loader is not None
fuzz: Any = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = fuzz  # where dataclasses look for their module
spec.loader.exec_module(fuzz)

# The same cases every time: a failure here is a fault in a core, not in the day's luck.
SEED, PARTS, CASES = 1, 10, 2000


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_answers(cores: Any, part: int) -> None:
    for number in range(part, CASES, PARTS):
        case = fuzz.case_of(SEED, number)
        if fuzz.compare(cores, case):
            case = fuzz.smallest(case, lambda each: fuzz.compare(cores, each))
            pytest.fail(f"case {number}: {case}\n{fuzz.compare(cores, case)}")


def test_the_cases_are_of_all_kinds_and_mostly_answered(cores: Any) -> None:
    kinds: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for number in range(300):
        case = fuzz.case_of(SEED, number)
        kinds[case.kind] += 1
        answered[case.kind] += fuzz.answers(cores[1], case)[-1] is not fuzz.REFUSED
    assert kinds.keys() == fuzz.KINDS.keys()
    assert all(answered[kind] > count / 2 for kind, count in kinds.items())


@together(
    ("ours", "theirs"),
    [
        (1, 2),
        (1, True),
        ([1], [1, 2]),
        ((1, [b"a"]), (1, [b"b"])),
        ({"a": 1}, {"b": 1}),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([1.0]), np.array([1.0, 1.0])),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([np.nan]), np.array([0.0])),
        ({"fault_count": 1, "faults": [(0, 1, 2)]}, {"fault_count": 1, "faults": [(0, 1, 3)]}),
    ],
)
def test_differences_are_reported(ours: Any, theirs: Any) -> None:
    assert fuzz.difference(ours, theirs)
    assert fuzz.difference(ours, ours) is None


def test_a_case_is_cut_down() -> None:
    case = fuzz.Case("texts", (b"xxaxxxbxx", b"long and of no use"), (1,))
    found = fuzz.smallest(case, lambda each: b"a" in each.texts[0] and b"b" in each.texts[0])
    assert found == fuzz.Case("texts", (b"ab", b""), (1,))
