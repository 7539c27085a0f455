"""Without the compiled core, data frames are read through pyarrow with the same results."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from gainful import InputError, MissingExtraError, Run
from gainful.io.frames import FrameColumns
from gainful.io.rows import FrameRows
from tests.together import together

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

WORDS = ["a", "", None, "é", "longer than twelve bytes", "a"]
TEXTS = (pyarrow.string, pyarrow.large_string, pyarrow.string_view)
BINARIES = (pyarrow.binary, pyarrow.large_binary, pyarrow.binary_view)
HALVES = pyarrow.array(np.array([1.5, math.nan, math.inf, -0.0], np.float16))
COLUMNS = {
    **{str(kind()): pyarrow.array(WORDS, kind()) for kind in (*TEXTS, *BINARIES)},
    "no utf-8": pyarrow.array([b"\xff", b"a", None], pyarrow.binary()).view(pyarrow.string()),
    "words of a dictionary": pyarrow.array(WORDS).dictionary_encode(),
    "numbers of a dictionary": pyarrow.array([1.5, None, 1.5]).dictionary_encode(),
    **{
        str(kind): pyarrow.array([1, None, 0, 127], kind)
        for kind in (pyarrow.int8(), pyarrow.uint8(), pyarrow.int32(), pyarrow.int64(), pyarrow.uint64())
    },
    "float16": HALVES,
    "float32": HALVES.cast(pyarrow.float32()),
    "float64": HALVES.cast(pyarrow.float64()),
    "booleans": pyarrow.array([True, None, False]),
    "decimals": pyarrow.array([Decimal("1.5")]),
    "only nulls": pyarrow.nulls(3),
    "times": pyarrow.array([datetime.date(2026, 1, 2)]),
    "nested": pyarrow.array([[1], None]),
    "no rows": pyarrow.array([], pyarrow.string()),
}


@together("optional", [(), ("id", "number")])
@together("role", ["id", "number"])
def test_both_cores_read_the_same(use_core: Callable[[str], None], role: str, optional: tuple[str, ...]) -> None:
    for values in COLUMNS.values():
        assert_same(use_core, values, role, optional)


def assert_same(use_core: Callable[[str], None], values: Any, role: str, optional: tuple[str, ...]) -> None:
    frame = pyarrow.table({"x": pyarrow.chunked_array([values, values[1:], values[:0]], values.type)})

    def read(kind: str) -> object:
        use_core(kind)
        try:
            columns = FrameColumns.of(frame, "frame")
            found = columns.read({role: 0}, ("id",), FrameRows("frame"), optional=optional)[role]
        except InputError as error:
            return str(error)
        if role == "number":
            return [str(number) for number in found.tolist()]
        data, start, length = found
        return [data[at : at + size].tobytes() for at, size in zip(start.tolist(), length.tolist(), strict=True)]

    assert read("python") == read("c++")


def test_without_the_compiled_core_frames_need_pyarrow(
    use_core: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_core("python")
    columns = {"query": ["q"], "document": ["d"], "score": [1.0]}
    frames = [make(columns) for make in (polars.DataFrame, pandas.DataFrame)]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"needs pyarrow\nhint: install it: pip install 'gainful\[frames\]'"):
        Run.of(frames[0])
    assert Run.of(frames[1]).queries == ["q"]
