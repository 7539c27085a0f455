"""The compiled core and the pure-Python core give equal answers on any bytes."""

from __future__ import annotations

import importlib
import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

pure: Any = importlib.import_module("gainful.kernel.pure")
try:
    compiled: Any = importlib.import_module("gainful.kernel._core")
except ImportError:
    if os.environ.get("GAINFUL_REQUIRE_CORE") == "1":
        raise
    pytest.skip("the compiled core is not built", allow_module_level=True)

# The same examples every time: a failure here is a fault in a core, not in the day's luck.
repeatable = settings(max_examples=250, deadline=None, derandomize=True, database=None)

# -- Texts -------------------------------------------------------------------------------------------------------------

IDS = [
    b"a",
    b"b",
    b"ab",
    b"a\x00",
    b"\x00",
    b"\xff",
    b"\xc3\xa9",
    b"q\rq",
    b"1",
    b"#",
    b"a#",
    b"\xef\xbb\xbfa",
    b"\x0b",
]
NUMBERS = [b"0", b"-0", b"1", b"2", b"2.0", b"1.00000000001", b"-1", b".5", b"3.", b"1e2", b"1e39", b"1e40", b"1e-400"]
NOT_NUMBERS = [b"1e309", b"nan", b"inf", b"1e", b".", b"0x1", b"1_0", b"x", b"1\r", b"-", b"+1e999999999999999999999"]
GAPS = [b" ", b" ", b" ", b"\t", b" \t "]
LINE_ENDS = [b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\r\r\n", b"\n\n", b"\n#c\n", b"\n \t#a b c d\n"]

ids = st.sampled_from(IDS)
sound_numbers = st.sampled_from(NUMBERS)
numbers = st.one_of(sound_numbers, sound_numbers, sound_numbers, st.sampled_from(NOT_NUMBERS))
noise = st.lists(st.sampled_from(list(b"  \t\r\n\n#1.e+-ab\xff\x00")), max_size=120).map(bytes)
plain_integers = st.integers(0, 3).map(lambda value: b"%d" % value)


@st.composite
def lines(draw: st.DrawFn, *columns: st.SearchStrategy[bytes]) -> bytes:
    """A line of these columns, with gaps and a line end of any kind."""
    fields = [draw(column) for column in columns]
    gap = draw(st.sampled_from(GAPS))
    return draw(st.sampled_from([b"", b"", b"", b" ", b"\t"])) + gap.join(fields) + draw(st.sampled_from(LINE_ENDS))


@st.composite
def corrupted(draw: st.DrawFn, texts: st.SearchStrategy[bytes]) -> bytes:
    """A text of which, now and then, a few bytes are replaced, removed or added."""
    text = bytearray(draw(texts))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        at = draw(st.integers(0, len(text)))
        text[at : at + draw(st.integers(0, 2))] = draw(noise)[:2]
    return draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])) + bytes(text)


def texts_of(line: st.SearchStrategy[bytes], most: int, least: int = 0) -> st.SearchStrategy[bytes]:
    return st.lists(line, min_size=least, max_size=most).map(b"".join)


few_ids = st.sampled_from(IDS[:3])
document_ids = st.one_of(ids, st.integers(0, 60).map(lambda number: b"d%d" % number))
judgment_lines = lines(ids, plain_integers, document_ids, numbers)
run_lines = lines(ids, st.just(b"Q0"), document_ids, numbers, numbers, st.just(b"t"))
sound_run_lines = lines(ids, st.just(b"Q0"), document_ids, plain_integers, sound_numbers, st.just(b"t"))
# Scores that float32 cannot tell apart, and long lists of documents that are judged: see DENSE_JUDGMENTS.
close_numbers = st.sampled_from([b"1", b"1.00000000001", b"2", b"1e39", b"1e40"])
dense_run_lines = lines(few_ids, st.just(b"Q0"), ids, plain_integers, close_numbers, st.just(b"t"))
unranked_lines = lines(ids, st.just(b"Q0"), document_ids, numbers, close_numbers, st.just(b"t"))
sound_runs = st.one_of(
    texts_of(sound_run_lines, 30), texts_of(dense_run_lines, 30, least=10), texts_of(unranked_lines, 20)
)

sound_judgment_lines = lines(ids.filter(lambda each: each[:1] != b"#"), plain_integers, document_ids, sound_numbers)
# Where all documents are judged, the whole order of a list can be seen in its hits.
DENSE_JUDGMENTS = b"".join(b"%b 0 %b 1\n" % (query, document) for query in IDS[:3] for document in IDS)
sound_judgments = st.tuples(texts_of(sound_judgment_lines, 20), st.sampled_from([b"", DENSE_JUDGMENTS])).map(b"".join)

judgment_texts = st.one_of(noise, corrupted(texts_of(judgment_lines, 15)), sound_judgments)
run_texts = st.one_of(noise, corrupted(texts_of(run_lines, 15)), corrupted(sound_runs), sound_runs, sound_runs)

policies = st.tuples(
    st.sampled_from([0, 0, 1, 2]),  # order
    st.integers(0, 3),  # ties
    st.booleans(),  # float32
    st.sampled_from([False, True, True]),  # keep_first
    st.sampled_from([0, 0, 1, 2, 5, 10**12]),  # depth
    st.booleans(),  # want_scores
    st.booleans(),  # want_rows
    st.booleans(),  # want_facts
)
threads = st.sampled_from([1, 2, 8])


# -- Comparing ---------------------------------------------------------------------------------------------------------


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def no_progress() -> Any:
    return np.zeros(2, dtype=np.int64)


def assert_same(ours: Any, theirs: Any) -> None:
    """Equal in every value and type; where there are faults only these count."""
    assert ours.keys() == theirs.keys()
    assert (ours["fault_count"], ours["faults"]) == (theirs["fault_count"], theirs["faults"])
    for key, value in ours.items():
        assert type(value) is type(theirs[key]), key
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs[key].dtype, key
        if ours["fault_count"]:
            continue
        if key == "facts" and value is not None:
            assert_same_facts(value, theirs[key])
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, theirs[key], err_msg=key)
        else:
            assert value == theirs[key], key


def assert_same_facts(ours: Any, theirs: Any) -> None:
    assert ours.keys() == theirs.keys()
    assert ours["query_ids"] == theirs["query_ids"]
    for name in ours.keys() - {"query_ids"}:
        assert ours[name].dtype == theirs[name].dtype, name
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def both_indexes(query_ids: list[bytes], *columns: Any) -> list[Any]:
    return [core.JudgmentIndex(query_ids, *columns) for core in (pure, compiled)]


def indexes_of(judgments: bytes) -> list[Any]:
    data = as_array(judgments)
    text = pure.read_judgments(data, 1)
    return both_indexes(text["query_ids"], text["query"], data, text["document_start"], text["document_length"])


# -- Reading -----------------------------------------------------------------------------------------------------------


@repeatable
@given(judgment_texts, threads)
def test_read_judgments(text: bytes, threads: int) -> None:
    assert_same(pure.read_judgments(as_array(text), threads), compiled.read_judgments(as_array(text), threads))


@repeatable
@given(run_texts, threads)
def test_read_run(text: bytes, threads: int) -> None:
    assert_same(pure.read_run(as_array(text), threads), compiled.read_run(as_array(text), threads))


digits = st.one_of(st.text("0123456789", max_size=25), st.integers(0, 800).map(lambda count: "0" * count), st.just(""))
exponents = st.one_of(st.just(""), st.integers(-340, 320).map("e{}".format), st.text("eE+-0123456789", max_size=6))
number_texts = st.tuples(
    st.sampled_from(["", "", "+", "-"]), digits, st.sampled_from(["", "."]), digits, digits, exponents
)


@repeatable
@given(st.binary(max_size=400), st.integers(0, 60))
def test_any_bytes(noise: bytes, width: int) -> None:
    # Arbitrary bytes, and the same bytes broken into lines of about the right number of fields.
    for text in (
        noise,
        b"".join(noise[i : i + 1] + (b" " if i % 7 else b"\n") for i in range(len(noise))),
        noise * width,
    ):
        for read in ("read_judgments", "read_run"):
            assert_same(*(getattr(core, read)(as_array(text), 2) for core in (pure, compiled)))


@repeatable
@given(st.lists(number_texts.map("".join).filter(bool), min_size=1, max_size=20))
def test_numbers(texts: list[str]) -> None:
    for text in texts:
        data = as_array(f"q 0 d {text}\n".encode())
        assert_same(pure.read_judgments(data, 1), compiled.read_judgments(data, 1))


# -- The index ---------------------------------------------------------------------------------------------------------


@repeatable
@given(st.data())
def test_index_of_columns(data: st.DataObject) -> None:
    text = as_array(data.draw(st.binary(max_size=8)))
    query_ids = sorted(data.draw(st.sets(ids, max_size=4)))
    spans = st.tuples(st.integers(0, len(query_ids)), st.integers(-1, 8), st.integers(-1, 3))
    if data.draw(st.booleans()) and query_ids:  # more often than chance would have it, rows that are all in order
        start = st.integers(0, len(text))
        span = start.flatmap(lambda at: st.tuples(st.just(at), st.integers(0, min(2, len(text) - at))))
        spans = st.tuples(st.integers(0, len(query_ids) - 1), span).map(lambda row: (row[0], *row[1]))
    rows = data.draw(st.lists(spans, max_size=12))
    query, start_column, length = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(3))
    try:
        expected = pure.JudgmentIndex(query_ids, query, text, start_column, length)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            compiled.JudgmentIndex(query_ids, query, text, start_column, length)
        return
    found = compiled.JudgmentIndex(query_ids, query, text, start_column, length)
    for name in ("item", "item_offsets"):
        assert getattr(found, name).dtype == getattr(expected, name).dtype
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


# -- The joins ---------------------------------------------------------------------------------------------------------


@settings(repeatable, max_examples=600)
@given(run_texts, sound_judgments, policies, threads)
def test_join_text(run: bytes, judgments: bytes, policy: tuple[Any, ...], threads: int) -> None:
    assert_same(
        *(
            core.join_text(as_array(run), index, core.JoinOptions(*policy), threads, no_progress())
            for core, index in zip((pure, compiled), indexes_of(judgments), strict=True)
        )
    )


@settings(repeatable, max_examples=50)
@given(run_texts, policies, threads)
def test_progress_of_join_text(run: bytes, policy: tuple[Any, ...], threads: int) -> None:
    for core, index in zip((pure, compiled), indexes_of(b"a 0 b 1\n"), strict=True):
        progress = no_progress()
        core.join_text(as_array(run), index, core.JoinOptions(*policy), threads, progress)
        assert progress.tolist() == [len(run), 0]


finite = st.floats(allow_nan=False, allow_infinity=False)
scores = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-40, 1e39, 1e300, -1e300, 5e-324, -2.0]), finite)
ranks = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.5, -1.0, 1e300])


@st.composite
def columns(draw: st.DrawFn, with_ranks: bool) -> tuple[Any, ...]:
    """A run in columns: lists of documents that are spans of one text, which may overlap."""
    query_ids = draw(st.lists(draw(st.sampled_from([ids, few_ids])), unique=True, max_size=5))
    sizes = [draw(st.integers(0, 8)) for _ in query_ids]
    rows = sum(sizes)
    names = draw(st.lists(document_ids, min_size=1, max_size=12))
    data = b"".join(names)
    offsets = np.cumsum([0, *map(len, names)])
    chosen = [draw(st.integers(0, len(names) - 1)) for _ in range(rows)]
    rank_values = st.one_of(ranks, ranks, ranks, st.just(math.nan)) if draw(st.booleans()) else ranks
    return (
        query_ids,
        np.cumsum([0, *sizes], dtype=np.int64),
        as_array(data),
        np.array([offsets[i] for i in chosen], dtype=np.int64),
        np.array([len(names[i]) for i in chosen], dtype=np.int64),
        np.array([draw(scores) for _ in range(rows)], dtype=np.float64),
        np.array([draw(rank_values) for _ in range(rows if with_ranks else 0)], dtype=np.float64),
    )


@repeatable
@given(st.data(), sound_judgments, policies, threads)
def test_join_columns(data: st.DataObject, judgments: bytes, policy: tuple[Any, ...], threads: int) -> None:
    needs_rank = policy[0] == 1 or policy[1] == 2
    run = data.draw(columns(with_ranks=needs_rank or data.draw(st.booleans())))
    assert_same(
        *(
            core.join_columns(core.ListColumns(*run), index, core.JoinOptions(*policy), threads, no_progress())
            for core, index in zip((pure, compiled), indexes_of(judgments), strict=True)
        )
    )


@settings(repeatable, max_examples=50)
@given(columns(with_ranks=True), policies, threads)
def test_progress_of_join_columns(run: tuple[Any, ...], policy: tuple[Any, ...], threads: int) -> None:
    for core, index in zip((pure, compiled), indexes_of(b"a 0 b 1\n"), strict=True):
        progress = no_progress()
        core.join_columns(core.ListColumns(*run), index, core.JoinOptions(*policy), threads, progress)
        assert progress.tolist() == [len(run[3]), 0]
