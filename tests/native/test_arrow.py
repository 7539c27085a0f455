"""Tables from the Arrow C stream interface follow the contract in ``_core.pyi``."""

from __future__ import annotations

import datetime
import gc
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.together import together

pa = pytest.importorskip("pyarrow")

repeatable = settings(max_examples=150, deadline=None, derandomize=True, database=None)

LONG = "longer than the twelve bytes of a view"
TEXTS = ["a", "", None, "é\x00", LONG, "exactly 12 b", "13 bytes long", None, "z"]
BYTES = [None if text is None else text.encode() for text in TEXTS]
STRINGS = {"u": pa.string(), "U": pa.large_string(), "vu": pa.string_view()}
BINARIES = {"z": pa.binary(), "Z": pa.large_binary(), "vz": pa.binary_view()}
INTEGERS = {
    "c": pa.int8(),
    "C": pa.uint8(),
    "s": pa.int16(),
    "S": pa.uint16(),
    "i": pa.int32(),
    "I": pa.uint32(),
    "l": pa.int64(),
    "L": pa.uint64(),
}
LIMITS = {
    "c": [-128, 127],
    "C": [0, 255],
    "s": [-(2**15), 2**15 - 1],
    "S": [0, 2**16 - 1],
    "i": [-(2**31), 2**31 - 1],
    "I": [0, 2**32 - 1],
    "l": [-(2**63), 2**63 - 1, 2**53 + 1],
    "L": [0, 2**64 - 1, 2**64 - 1025, 2**53 + 1],
}
FLOATS = {"e": pa.float16(), "f": pa.float32(), "g": pa.float64()}


def open_table(core: Any, source: Any) -> Any:
    return core.ArrowTable(source.__arrow_c_stream__())


def open_array(core: Any, *chunks: Any) -> Any:
    return open_table(core, pa.table({"x": pa.chunked_array(list(chunks))}))


def ids_of(found: Any) -> tuple[list[bytes], list[int]]:
    data, start, length, missing = found
    assert data.dtype == np.uint8
    assert {start.dtype, length.dtype, missing.dtype} == {np.dtype(np.int64)}
    text = data.tobytes()
    ids = [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]
    assert [len(each) for each in ids] == length.tolist()
    return ids, missing.tolist()


def as_id(value: Any) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


def expected_ids(values: list[Any]) -> tuple[list[bytes], list[int]]:
    ids = [as_id(value) for value in values]
    return ids, [row for row, each in enumerate(ids) if not each][:10]


def assert_numbers(found: Any, values: list[Any]) -> None:
    numbers, missing = found
    assert (numbers.dtype, missing.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(numbers, [math.nan if value is None else float(value) for value in values])
    assert missing.tolist() == [row for row, value in enumerate(values) if value is None][:10]


# -- Formats -----------------------------------------------------------------------------------------------------------


@together(("layout", "kind"), [*STRINGS.items(), *BINARIES.items()])
def test_strings_and_binaries_are_ids(core: Any, layout: str, kind: Any) -> None:
    texts: list[Any] = TEXTS if layout in STRINGS else BYTES
    table = open_array(core, pa.array(texts, kind))
    assert (table.names, table.formats, table.rows) == (["x"], [layout], len(texts))
    assert ids_of(table.ids(0)) == expected_ids(texts)
    with pytest.raises(TypeError, match=f"numbers from Arrow format {layout}$"):
        table.numbers(0)


@together(("layout", "kind"), INTEGERS.items())
def test_integers_are_ids_and_numbers(core: Any, layout: str, kind: Any) -> None:
    values = [*LIMITS[layout], None, 7, 0]
    table = open_array(core, pa.array(values, kind))
    assert table.formats == [layout]
    assert ids_of(table.ids(0)) == expected_ids(values)
    assert_numbers(table.numbers(0), values)


@pytest.mark.parametrize(("layout", "kind"), FLOATS.items())
def test_floats_are_numbers(core: Any, layout: str, kind: Any) -> None:
    special = np.array([0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 65504, 6e-8, 6.1e-5, 1 / 3])
    values = special.astype(kind.to_pandas_dtype())
    table = open_array(core, pa.array(values, kind), pa.array([None], kind))
    assert table.formats == [layout]
    numbers, missing = table.numbers(0)
    np.testing.assert_array_equal(numbers, [*values.astype(np.float64), math.nan])
    np.testing.assert_array_equal(np.signbit(numbers[:2]), [False, True])
    assert missing.tolist() == [len(values)]
    with pytest.raises(TypeError, match=f"ids from Arrow format {layout}$"):
        table.ids(0)


def test_all_half_floats(core: Any) -> None:
    values = np.arange(2**16, dtype=np.uint16).view(np.float16)
    numbers, missing = open_array(core, pa.array(values)).numbers(0)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(numbers, values.astype(np.float64))
    assert missing.size == 0


def test_booleans_are_numbers_only(core: Any) -> None:
    values = [True, False, None, True] * 5
    table = open_array(core, pa.array(values))
    assert table.formats == ["b"]
    assert_numbers(table.numbers(0), values)
    with pytest.raises(TypeError, match=r"ids from Arrow format b$"):
        table.ids(0)


OTHERS = [
    pa.array([1, None], pa.timestamp("us")),
    pa.array([datetime.date(2020, 1, 1)]),
    pa.array([Decimal("1.5")]),
    pa.array([None, None]),
    pa.array([[1], [2]]),
    pa.array([{"a": 1}]),
    pa.array([b"ab"], pa.binary(2)),
    pa.array([datetime.date(2020, 1, 1)]).dictionary_encode(),
    pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a"])),
]


@together("values", OTHERS)
def test_other_formats_are_refused(core: Any, values: Any) -> None:
    table = open_array(core, values)
    assert table.rows == len(values)
    for read, what in ((table.ids, "ids"), (table.numbers, "numbers")):
        with pytest.raises(TypeError, match=f"cannot read {what} from Arrow format"):
            read(0)


def test_there_is_no_such_column(core: Any) -> None:
    table = open_array(core, pa.array(["a"]))
    for column in (-1, 1, 2**40):
        for read in (table.ids, table.numbers):
            with pytest.raises(IndexError, match="no such column"):
                read(column)


def test_names(core: Any) -> None:
    columns = [pa.array([1]), pa.array(["a"]), pa.array([2.5]), pa.array([True])]
    table = open_table(core, pa.RecordBatch.from_arrays(columns, ["", "é", "x", "x"]))
    assert (table.names, table.formats, table.rows) == (["", "é", "x", "x"], ["l", "u", "g", "b"], 1)


# -- Slices, chunks, dictionaries --------------------------------------------------------------------------------------

ALL_COLUMNS: dict[str, Any] = {
    **{layout: pa.array(TEXTS * 3, kind) for layout, kind in STRINGS.items()},
    **{layout: pa.array(BYTES * 3, kind) for layout, kind in BINARIES.items()},
    **{layout: pa.array([1, None, 3, 0, 5, 6, None, 8, 100] * 3, kind) for layout, kind in INTEGERS.items()},
    **{layout: pa.array(np.array([1, 2.5, -3] * 9, kind.to_pandas_dtype()), kind) for layout, kind in FLOATS.items()},
    "b": pa.array([True, None, False] * 9),
    "dictionary of u": pa.array(TEXTS * 3).dictionary_encode(),
    "dictionary of g": pa.array([1.5, None, 2.5] * 9).dictionary_encode(),
}
ALL_TABLE = pa.table(ALL_COLUMNS)


def assert_reads(core: Any, source: Any, expected: Any) -> None:
    """All columns equal pyarrow's."""
    table = open_table(core, source)
    assert table.rows == expected.num_rows
    for column, (name, layout) in enumerate(zip(table.names, table.formats, strict=True)):
        values = expected.column(name).to_pylist()
        if layout.split()[-1] in ("e", "f", "g", "b"):
            assert_numbers(table.numbers(column), values)
        else:
            assert ids_of(table.ids(column)) == expected_ids(values)
        if layout in INTEGERS:
            assert_numbers(table.numbers(column), values)


@together(("start", "size"), [(0, 27), (1, 26), (3, 7), (8, 9), (9, 0), (26, 1), (13, 14)])
def test_slices(core: Any, start: int, size: int) -> None:
    assert open_table(core, ALL_TABLE).formats == list(ALL_COLUMNS)
    part = ALL_TABLE.slice(start, size)
    assert_reads(core, part, part)


def test_many_chunks(core: Any) -> None:
    parts = [ALL_TABLE.slice(3, 5), ALL_TABLE.slice(0, 0), ALL_TABLE, ALL_TABLE.slice(9, 1), ALL_TABLE.slice(17)]
    together = pa.concat_tables(parts)
    assert together.column(0).num_chunks > 3
    assert_reads(core, together, together)
    small = together.to_batches(max_chunksize=2)
    assert_reads(core, pa.RecordBatchReader.from_batches(together.schema, small), together)


@together("kind", INTEGERS.values())
def test_dictionaries_have_positions_of_any_width(core: Any, kind: Any) -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1, 2], kind), pa.array(["a", None, "c"]))
    table = open_array(core, values)
    assert table.formats == ["dictionary of u"]
    assert ids_of(table.ids(0)) == ([b"c", b"", b"a", b"", b"c"], [1, 3])


@together("words", [*STRINGS.values(), *BINARIES.values(), *INTEGERS.values()])
def test_dictionaries_of_ids(core: Any, words: Any) -> None:
    values: list[Any] = [7, 0, None, 11]
    if words not in INTEGERS.values():
        values = [LONG, "a", None, ""] if words in STRINGS.values() else [LONG.encode(), b"a", None, b""]
    array = pa.DictionaryArray.from_arrays(pa.array([3, 1, None, 0, 2, 1], pa.int8()), pa.array(values, words))
    for part in (array, array.slice(1, 4)):
        assert ids_of(open_array(core, part).ids(0)) == expected_ids(part.to_pylist())


@together("words", [*INTEGERS.values(), *FLOATS.values(), pa.bool_()])
def test_dictionaries_of_numbers(core: Any, words: Any) -> None:
    values = [True, False, None] if words == pa.bool_() else [7, 0, None]
    if words == pa.float16():
        values = [np.float16(7), np.float16(0), None]
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 2, 1], pa.uint16()), pa.array(values, words))
    for part in (array, array.slice(1, 3)):
        assert_numbers(open_array(core, part).numbers(0), part.to_pylist())


def test_dictionaries_may_differ_from_chunk_to_chunk(core: Any) -> None:
    words = [["a", "b"], ["b", None, "c", "a"], [], ["d"]]
    positions = [[0, 1, 0], [0, 1, 2, 3], [None], [0]]
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), pa.array(of, pa.string()))
        for at, of in zip(positions, words, strict=True)
    ]
    ids = [b"a", b"b", b"a", b"b", b"", b"c", b"a", b"", b"d"]
    assert ids_of(open_array(core, *chunks).ids(0)) == (ids, [4, 7])
    numbers = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(of)) for of in ([1.5, 2.5], [2.5, None])
    ]
    assert_numbers(open_array(core, *numbers).numbers(0), [1.5, 2.5, 2.5, None])
    # A slice of a dictionary's words: the same memory, from another place on.
    long = pa.array(["a", "b", "c"])
    sliced = [pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), long.slice(at, 2)) for at in (0, 1)]
    assert ids_of(open_array(core, *sliced).ids(0))[0] == [b"a", b"b", b"b", b"c"]


def test_a_dictionary_that_chunks_share_is_copied_once(core: Any) -> None:
    words = pa.array([f"word {i}" for i in range(1000)])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([i, 999 - i]), words) for i in range(50)]
    found = open_array(core, *chunks).ids(0)
    assert ids_of(found)[0][:2] == [b"word 0", b"word 999"]
    assert found[0].size == len("".join(words.to_pylist()))


# -- Nulls and nothing -------------------------------------------------------------------------------------------------


def test_the_first_ten_missing_rows_are_returned(core: Any) -> None:
    texts = ["a", None, ""] * 20
    assert ids_of(open_array(core, pa.array(texts)).ids(0))[1] == [1, 2, 4, 5, 7, 8, 10, 11, 13, 14]
    chunks = pa.array([1.0, None] * 8), pa.array([None] * 8, pa.float64())
    assert_numbers(open_array(core, *chunks).numbers(0), [1, None] * 8 + [None] * 8)
    numbers, missing = open_array(core, pa.array([math.nan, None])).numbers(0)
    assert (np.isnan(numbers).tolist(), missing.tolist()) == ([True, True], [1])


@together("kind", [*STRINGS.values(), *INTEGERS.values(), *BINARIES.values()])
def test_columns_of_nulls_only(core: Any, kind: Any) -> None:
    table = open_array(core, pa.array([None] * 12, kind))
    assert ids_of(table.ids(0)) == ([b""] * 12, list(range(10)))


def test_a_null_row_is_null_in_all_columns(core: Any) -> None:
    rows = [{"a": "x", "b": 1.5, "c": 7}, None, {"a": None, "b": 2.5, "c": 8}, {"a": "y", "b": None, "c": None}, None]
    structs = pa.array(rows * 3, pa.struct([("a", pa.string()), ("b", pa.float64()), ("c", pa.int8())]))
    words = pa.array(["k", "l"] * 7 + ["k"]).dictionary_encode()
    validity = pa.array([row is None for row in rows * 3])
    structs = pa.StructArray.from_arrays([*structs.flatten(), words], ["a", "b", "c", "d"], mask=validity)
    for part in (structs, structs.slice(1), structs.slice(4, 7), structs.slice(14)):
        values = [row or dict.fromkeys("abcd") for row in part.to_pylist()]
        table = open_table(core, pa.chunked_array([part, part]))
        assert (table.names, table.rows) == (["a", "b", "c", "d"], 2 * len(part))
        for column in (0, 2, 3):
            assert ids_of(table.ids(column)) == expected_ids([row["abcd"[column]] for row in values] * 2)
        for column in (1, 2):
            assert_numbers(table.numbers(column), [row["abcd"[column]] for row in values] * 2)


@together("kind", [*STRINGS.values(), *INTEGERS.values(), pa.dictionary(pa.int8(), pa.string())])
def test_tables_without_rows(core: Any, kind: Any) -> None:
    schema = pa.schema([("x", kind)])
    no_chunks = pa.RecordBatchReader.from_batches(schema, [])
    for source in (schema.empty_table(), no_chunks, pa.table({"x": pa.array([], kind)})):
        table = open_table(core, source)
        assert (table.names, table.rows, ids_of(table.ids(0))) == (["x"], 0, ([], []))


def test_numbers_without_rows(core: Any) -> None:
    for kind in (*FLOATS.values(), pa.bool_(), pa.dictionary(pa.int8(), pa.float64())):
        assert_numbers(open_table(core, pa.schema([("x", kind)]).empty_table()).numbers(0), [])


def test_tables_without_columns(core: Any) -> None:
    table = open_table(core, pa.table({}))
    assert (table.names, table.formats, table.rows) == ([], [], 0)


# -- Frames ------------------------------------------------------------------------------------------------------------


def test_polars_frames(core: Any) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"q": ["q1", None, LONG], "c": ["u", "v", None], "s": [1.0, None, -2.5], "n": [3, 4, None]})
    frame = frame.with_columns(
        c=frame["c"].cast(pl.Categorical), e=frame["c"].cast(pl.Enum(["v", "u"])), f=frame["s"].cast(pl.Float32)
    )
    expected = {name: frame[name].to_list() for name in frame.columns}
    twice = pl.concat([frame, frame], rechunk=False)
    for part, rows in ((frame, [0, 1, 2]), (frame[1:], [1, 2]), (twice, [0, 1, 2] * 2)):
        table = open_table(core, part)
        assert (table.names, table.rows) == (frame.columns, len(rows))
        for column, name in enumerate(table.names):
            values = [expected[name][row] for row in rows]
            if name in ("s", "f"):
                assert_numbers(table.numbers(column), values)
            else:
                assert ids_of(table.ids(column)) == expected_ids(values)


def test_pandas_frames(core: Any) -> None:
    pd = pytest.importorskip("pandas")
    categories = pd.Categorical(["u", "v", "u"])
    frame = pd.DataFrame({"q": ["q1", "q2", LONG], "c": categories, "s": [1.0, 3.5, -2.5], "n": [3, 4, 5]})
    table = open_table(core, frame[1:])
    columns = [table.names.index(name) for name in ("q", "c", "s", "n")]
    assert [ids_of(table.ids(columns[i]))[0] for i in (0, 1, 3)] == [[b"q2", LONG.encode()], [b"v", b"u"], [b"4", b"5"]]
    assert_numbers(table.numbers(columns[2]), [3.5, -2.5])


def test_duckdb_relations(core: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        # More rows than duckdb puts into one chunk.
        relation = connection.sql("SELECT 'q' || i AS q, i::FLOAT / 2 AS s, i AS n FROM range(300000) t(i)")
        table = open_table(core, relation)
    ids, missing = ids_of(table.ids(0))
    assert (sorted(ids), missing) == (sorted(b"q%d" % i for i in range(300000)), [])
    assert sorted(table.numbers(1)[0].tolist()) == [i / 2 for i in range(300000)]
    assert ids_of(table.ids(2))[0] == [each[1:] for each in ids]


# -- Whose memory it is ------------------------------------------------------------------------------------------------


def test_capsules_of_other_names_and_other_objects(core: Any) -> None:
    schema, array = pa.array([1]).__arrow_c_array__()
    for capsule in (schema, array):
        with pytest.raises(ValueError, match="arrow_array_stream"):
            core.ArrowTable(capsule)
    for thing in (None, 1, pa.table({})):
        with pytest.raises(TypeError, match="PyCapsule"):
            core.ArrowTable(thing)


def test_a_stream_can_be_consumed_once(core: Any) -> None:
    capsule = pa.table({"x": ["a"]}).__arrow_c_stream__()
    assert core.ArrowTable(capsule).rows == 1
    with pytest.raises(ValueError, match="consumed already"):
        core.ArrowTable(capsule)


def test_a_stream_of_no_structs(core: Any) -> None:
    capsule = pa.chunked_array([["a"]]).__arrow_c_stream__()
    with pytest.raises(ValueError, match="expected an Arrow stream of structs, found format u"):
        core.ArrowTable(capsule)
    with pytest.raises(ValueError, match="consumed already"):
        core.ArrowTable(capsule)


def test_a_stream_that_fails_says_why(core: Any) -> None:
    schema = pa.schema([("x", pa.string())])

    def batches() -> Any:
        yield pa.record_batch([["a"]], schema=schema)
        raise RuntimeError("the cable was cut")

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(ValueError, match="the cable was cut"):
        open_table(core, reader)


def test_columns_outlive_their_table(core: Any) -> None:
    gc.collect()
    pool_before = pa.total_allocated_bytes()
    table = open_table(core, pa.table({"x": [f"document {i}" for i in range(50_000)], "y": np.arange(50_000.0)}))
    assert pa.total_allocated_bytes() > pool_before
    ids, numbers = table.ids(0), table.numbers(1)
    del table
    gc.collect()
    assert pa.total_allocated_bytes() == pool_before
    assert ids_of(ids)[0] == [b"document %d" % i for i in range(50_000)]
    assert numbers[0].tolist() == list(range(50_000))
    ids[0][:] = 0  # they are the caller's own


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps what is freed")
def test_reading_again_and_again_takes_no_more_memory(core: Any) -> None:
    words = pa.array(["a"] * 50_000).dictionary_encode()
    source = pa.table({"x": ["0123456789"] * 50_000, "y": np.zeros(50_000), "z": words})

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def read() -> None:
        table = open_table(core, source)
        table.ids(0), table.numbers(1), table.ids(2)

    for _ in range(20):
        read()
    before = resident()
    for _ in range(200):
        read()
    assert resident() - before < 8_000_000


# -- Whatever pyarrow makes --------------------------------------------------------------------------------------------


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Chunks of one of the types, with nulls and slices, some as dictionaries."""
    kind = draw(st.sampled_from([*STRINGS.values(), *BINARIES.values(), *INTEGERS.values(), pa.float32(), pa.bool_()]))
    value: Any = st.integers(0, 127)
    if kind in STRINGS.values():
        value = st.sampled_from(["a", "bc", "", "é", LONG, LONG * 2, "exactly 12 b"])
    elif kind in BINARIES.values():
        value = st.sampled_from([b"", b"\xff", b"\x00" * 13, LONG.encode()])
    elif kind == pa.bool_():
        value = st.booleans()
    values = st.lists(st.one_of(value, value, value, st.none()), max_size=20)
    encode = draw(st.booleans()) and kind not in (pa.string_view(), pa.binary_view())
    chunks = []
    for _ in range(draw(st.integers(1, 4))):
        chunk = pa.array(draw(values), kind)
        chunk = chunk.dictionary_encode() if encode else chunk
        chunks.append(chunk.slice(draw(st.integers(0, 3)), draw(st.integers(0, 20))))
    return pa.chunked_array(chunks)


@repeatable
@given(arrays())
def test_any_array(core: Any, values: Any) -> None:
    table = open_table(core, pa.table({"x": values}))
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if kind not in (pa.float32(), pa.bool_()):
        assert ids_of(table.ids(0)) == expected_ids(values.to_pylist())
    if kind in (*INTEGERS.values(), pa.float32(), pa.bool_()):
        assert_numbers(table.numbers(0), values.to_pylist())
