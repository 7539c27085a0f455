"""Both cores follow the contract in ``_core.pyi``."""

from __future__ import annotations

import functools
import itertools
import math
import mmap
import random
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.together import together

if TYPE_CHECKING:
    from pathlib import Path

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE = 1, 2, 3, 4, 5
ORDERS = {"score": 0, "rank": 1, "input": 2}
TIES = {"docid-desc": 0, "docid-asc": 1, "rank": 2, "input": 3}
OPTIONS = {
    "order": 0,
    "ties": 0,
    "float32": False,
    "keep_first": False,
    "depth": 0,
    "want_scores": False,
    "want_rows": False,
    "threads": 1,
}


def settings_of(core: Any, **options: Any) -> tuple[Any, int]:
    """Options and threads of a join."""
    chosen = OPTIONS | options
    threads = chosen.pop("threads")
    return core.JoinOptions(**chosen), threads


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def no_progress() -> Any:
    return np.zeros(2, dtype=np.int64)


def documents(data: bytes, columns: Any) -> list[bytes]:
    spans = zip(columns["document_start"].tolist(), columns["document_length"].tolist(), strict=True)
    return [data[start : start + length] for start, length in spans]


def index_of(core: Any, judgments: bytes) -> Any:
    data = as_array(judgments)
    columns = core.read_judgments(data, 1)
    assert columns["faults"] == []
    spans = columns["document_start"], columns["document_length"]
    return core.JudgmentIndex(columns["query_ids"], columns["query"], data, *spans)


def join(core: Any, run: bytes, judgments: bytes = b"q 0 judged 1", **options: Any) -> Any:
    index = index_of(core, judgments)
    return core.join_text(as_array(run), index, *settings_of(core, **options), no_progress())


def join_by_columns(core: Any, run: bytes, judgments: bytes, **options: Any) -> Any:
    index = index_of(core, judgments)
    return core.join_columns(columns_of(core, run), index, *settings_of(core, **options), no_progress())


def columns_of(core: Any, run: bytes) -> Any:
    text = core.read_run(as_array(run), 1)
    columns = [text[name] for name in ("document_start", "document_length", "score", "rank")]
    return core.ListColumns(text["query_ids"], text["list_offsets"], as_array(run), *columns)


def run_lines(*rows: tuple[str, str, object, object]) -> bytes:
    return "".join(f"{query} Q0 {document} {rank} {score} tag\n" for query, document, rank, score in rows).encode()


def assert_same(left: Any, right: Any) -> None:
    assert left.keys() == right.keys()
    for key, value in left.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == right[key].dtype, key
            np.testing.assert_array_equal(value, right[key], err_msg=key)
        else:
            assert value == right[key], key


# -- Lines and fields --------------------------------------------------------------------------------------------------


def test_judgments_become_columns(core: Any) -> None:
    data = b"q2 0 a 1\nq1 s b 2.5\nq2 0 c -1\n"
    found = core.read_judgments(as_array(data), 1)
    assert found["query_ids"] == [b"q1", b"q2"]
    assert found["query"].tolist() == [1, 0, 1]
    assert found["subtopic_ids"] == [b"0", b"s"]
    assert found["subtopic"].tolist() == [0, 1, 0]
    assert documents(data, found) == [b"a", b"b", b"c"]
    assert found["grade"].tolist() == [1.0, 2.5, -1.0]
    assert found["line"].tolist() == [0, 9, 20]
    assert (found["faults"], found["fault_count"]) == ([], 0)
    integers = ("query", "subtopic", "document_start", "document_length", "line")
    assert {found[name].dtype for name in integers} == {np.dtype(np.int64)}
    assert found["grade"].dtype == np.float64


def test_run_rows_are_grouped_and_keep_their_order(core: Any) -> None:
    data = run_lines(("b", "x", 1, 9), ("a", "y", 1, 8), ("b", "w", 2, 7), ("a", "z", "-", 6), ("b", "v", "1e999", 5))
    found = core.read_run(as_array(data), 1)
    assert found["query_ids"] == [b"a", b"b"]
    assert found["list_offsets"].tolist() == [0, 2, 5]
    assert documents(data, found) == [b"y", b"z", b"x", b"w", b"v"]
    assert found["score"].tolist() == [8, 6, 9, 7, 5]
    np.testing.assert_array_equal(found["rank"], [1, math.nan, 1, 2, math.nan])
    assert [data[start:].split(b" ")[2] for start in found["line"].tolist()] == [b"y", b"z", b"x", b"w", b"v"]
    assert (found["faults"], found["fault_count"]) == ([], 0)
    assert {found[name].dtype for name in ("score", "rank")} == {np.dtype(np.float64)}


def test_fields_stand_between_spaces_and_tabs(core: Any) -> None:
    data = b"\t q \t 0\t\td  \t1 \t\n  \t \n"
    found = core.read_judgments(as_array(data), 1)
    assert (found["query_ids"], found["subtopic_ids"], documents(data, found)) == ([b"q"], [b"0"], [b"d"])
    assert (found["grade"].tolist(), found["line"].tolist(), found["fault_count"]) == ([1.0], [0], 0)


@together("end", [b"\n", b"\r\n", b" \t\r\n", b"\n\n", b"\r\n\r\n"])
def test_line_ends(core: Any, end: bytes) -> None:
    data = b"q 0 a 1" + end + b"q 0 b 2" + end
    found = core.read_judgments(as_array(data), 1)
    assert documents(data, found) == [b"a", b"b"]
    assert found["line"].tolist() == [0, 7 + len(end)]
    assert found["fault_count"] == 0


@together("end", [b"", b"\r", b" ", b"\n"])
def test_the_last_line_needs_no_line_end(core: Any, end: bytes) -> None:
    found = core.read_judgments(as_array(b"q 0 a 1\nq 0 b 2" + end), 1)
    assert found["grade"].tolist() == [1.0, 2.0]


def test_only_one_trailing_carriage_return_is_dropped(core: Any) -> None:
    found = core.read_judgments(as_array(b"q 0 a 1\r\r\n\r\r\n\r\nq 0 b\r\n"), 1)
    assert found["faults"] == [(0, NUMBER, 0), (10, FIELDS, 1), (15, FIELDS, 3)]
    data = b"q\r 0 a\rb 1\rq 0 c 2\n"
    assert core.read_judgments(as_array(data), 1)["faults"] == [(0, FIELDS, 7)]
    data = b"q\r 0 a\rb 1\r\n"
    found = core.read_judgments(as_array(data), 1)
    assert (found["query_ids"], documents(data, found)) == ([b"q\r"], [b"a\rb"])


def test_other_white_space_belongs_to_the_field(core: Any) -> None:
    data = b"q\x0b 0 \x0ca\xc2\xa0b 1\n"
    found = core.read_judgments(as_array(data), 1)
    assert (found["query_ids"], documents(data, found)) == ([b"q\x0b"], [b"\x0ca\xc2\xa0b"])
    assert core.read_judgments(as_array(b"q\x0bq 0\x0c0 a\x85a\n"), 1)["faults"] == [(0, FIELDS, 3)]


def test_comments_and_blank_lines_are_skipped(core: Any) -> None:
    data = b"# q 0 a 1\n \t#x\n#\n\n \t\n#a b c d\r\nq #0 #d 1\n##"
    found = core.read_judgments(as_array(data), 1)
    assert (found["query_ids"], found["subtopic_ids"], documents(data, found)) == ([b"q"], [b"#0"], [b"#d"])
    assert (found["line"].tolist(), found["fault_count"]) == ([data.index(b"q #0")], 0)
    assert core.read_run(as_array(b"#q Q0 d 1 1 t\nq Q0 d 1 1 #t"), 1)["score"].tolist() == [1.0]


def test_a_byte_order_mark_is_skipped_at_the_start_only(core: Any) -> None:
    mark = b"\xef\xbb\xbf"
    found = core.read_judgments(as_array(mark + b"q 0 a 1\n" + mark + b"q 0 b 1\n"), 1)
    assert found["query_ids"] == [b"q", mark + b"q"]
    assert found["line"].tolist() == [3, 11]
    assert core.read_judgments(as_array(mark + b"# q 0 a 1"), 1)["grade"].size == 0
    assert core.read_judgments(as_array(mark + mark + b"# q 0"), 1)["faults"] == [(3, FIELDS, 3)]
    assert core.read_run(as_array(mark + b"q Q0 d 1 1 t"), 1)["query_ids"] == [b"q"]
    assert join(core, mark + b"q Q0 d 1 1\n")["faults"] == [(3, FIELDS, 5)]
    assert core.read_judgments(as_array(mark[:2]), 1)["faults"] == [(0, FIELDS, 1)]


def test_ids_are_any_bytes_and_compared_as_unsigned(core: Any) -> None:
    ids = [b"\x00", b"\x00\x00", b"\x7f", b"\x80", b"\xc3\xa9", b"\xff", b"\xff\xfe", b"a", b"a\x00", b"a\rb", b"aa"]
    data = b"".join(b"%b %b %b 1\n" % (each, each, each) for each in reversed(ids))
    found = core.read_judgments(as_array(data), 1)
    assert found["query_ids"] == found["subtopic_ids"] == sorted(ids)
    assert documents(data, found) == ids[::-1]
    run = b"".join(b"q Q0 %b 1 1 t\n" % each for each in ids)
    judgments = b"".join(b"q 0 %b 1\n" % each for each in sorted(ids))
    for ties, expected in (("docid-asc", range(len(ids))), ("docid-desc", range(len(ids))[::-1])):
        assert join(core, run, judgments, ties=TIES[ties])["hit_item"].tolist() == list(expected)


@together("text", [b"", b"\n", b"\r\n", b" ", b"\t\n\n", b"# nothing\n#", b"\xef\xbb\xbf", b"\r"])
def test_texts_without_rows(core: Any, text: bytes) -> None:
    judgments = core.read_judgments(as_array(text), 2)
    assert (judgments["query_ids"], judgments["query"].size, judgments["fault_count"]) == ([], 0, 0)
    run = core.read_run(as_array(text), 2)
    assert (run["query_ids"], run["list_offsets"].tolist(), run["rank"].size) == ([], [0], 0)
    index = index_of(core, text)
    assert (index.item.tolist(), index.item_offsets.tolist()) == ([], [0])
    nothing = join(core, text, text, want_scores=True)
    assert (nothing["answered"].size, nothing["hit_offsets"].tolist()) == (0, [0])
    unanswered = join(core, text, b"q 0 d 1\n", want_scores=True)
    assert (unanswered["answered"].tolist(), unanswered["retrieved"].tolist()) == ([False], [0])
    assert (unanswered["hit_offsets"].tolist(), unanswered["list_count"], unanswered["row_count"]) == ([0, 0], 0, 0)


def test_data_may_be_a_mapped_file(core: Any, tmp_path: Path) -> None:
    run = run_lines(("q", "a", 1, 2), ("q", "b", 2, 1))
    path = tmp_path / "run"
    path.write_bytes(run)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        data = np.frombuffer(mapped, dtype=np.uint8)
        found = core.join_text(data, index_of(core, b"q 0 b 1"), *settings_of(core), no_progress())
        assert found["hit_rank"].tolist() == [2]
        del data


# -- Numbers -----------------------------------------------------------------------------------------------------------

HALFWAY = 2**1024 - 2**970  # between the largest float64 and the one that would come next: the first to overflow
ZEROS, ONES = "0" * 400, "1" * 400
LEGAL = f"""
0 -0 +0 1 +1 -1 007 1. .5 -.5 +.5e1 1.e2 1E2 1e+2 1e-2 12e-0 1e05 0.1 4.35 2.675 1e-5 1e000000000000000000001
9007199254740992 9007199254740993 9007199254740995 18446744073709551615 18446744073709551616 123456789012345678e-18
1e22 1e23 0.1e-21 3.4028236e38 8.5e-46 1.7976931348623157e308 1.7976931348623158e308 {HALFWAY - 1} -{HALFWAY - 1}
2.2250738585072014e-308 2.2250738585072011e-308 2.225073858507201e-308 1e-310 5e-324 -5e-324 4.9e-324
2.4703282292062328e-324 2.4703282292062327e-324 2e-324 1e-400 -1e-400 1e-99999 1e-999999999999999999999
0e400 0.000e99999 -0e999999999999999999999 {ZEROS}1 0.{ZEROS}1 0.{ZEROS}1e401 {ZEROS}.{ZEROS} {ONES}e-400 1{ZEROS}e-399
1.{ONES} .{ONES} 9007199254740993{ZEROS}e-400 9007199254740993.{ZEROS}1
""".split()
TOO_LARGE = f"""
1e309 -1e309 1.8e308 1.7976931348623159e308 {HALFWAY} -{HALFWAY} {ONES} -{ONES} 0.{ZEROS}1e1000 .{ONES}e+400 1{ZEROS}
1e999999999999999999999 0.1e999999999999999999999 {ONES}e-10
""".split()
NOT_NUMBERS = f"""
nan NaN -nan nan(1) inf -inf Infinity 0x10 0x1p3 0b1 1_0 1e 1e+ 1E- e5 . + - +. +-1 --1 1- 1+1 1.2.3 1..2 1,5 1d5 1f 1L
.e1 1e1.0 1e1e1 1e+-1 (1) 1% # #1 {ONES}x x{ONES} {ONES}.{ONES}x 1e{ONES}x
""".split()
NOT_NUMBERS += ["1\r", "\r1", "1\x0b", "\x0c1", "1\x00", "\x001", "\xbd", "\u0661", "1\xa0", "\uff11"]


def test_numbers_are_read_as_python_reads_them(core: Any) -> None:
    for text in LEGAL:
        data = f"q 0 d {text}\n".encode()
        assert core.read_judgments(as_array(data), 1)["grade"].tolist() == [float(text)], text
        data = f"q Q0 d {text} {text} t\n".encode()
        found = core.read_run(as_array(data), 1)
        assert found["score"].tolist() == found["rank"].tolist() == [float(text)], text


def test_other_texts_are_faults(core: Any) -> None:
    for text in TOO_LARGE:
        assert_fault(core, text, OVERFLOW)
    for text in NOT_NUMBERS:
        assert_fault(core, text, NUMBER)


def assert_fault(core: Any, text: str, code: int) -> None:
    data = f"\nq 0 d {text} \n".encode()
    assert core.read_judgments(as_array(data), 1)["faults"] == [(1, code, 0)]
    data = f"\nq Q0 d 1 {text} t\n".encode()
    found = core.read_run(as_array(data), 1)
    assert (found["faults"], found["fault_count"]) == ([(1, code, 0)], 1)
    assert join(core, data)["faults"] == [(1, code, 0)]
    # A rank is only missed where it is needed, and then it does not matter what is wrong with it.
    data = f"\nq Q0 d {text} 1 t\n".encode()
    found = core.read_run(as_array(data), 1)
    assert found["faults"] == []
    assert math.isnan(found["rank"][0])
    assert join(core, data)["faults"] == []
    assert join(core, data, order=ORDERS["rank"])["faults"] == [(1, RANK, 0)]


def test_random_numbers_are_rounded_correctly(core: Any) -> None:
    chance = random.Random(7)
    texts = [repr(math.ldexp(chance.random(), chance.randint(-1080, 1024))) for _ in range(500)]
    texts += [f"{chance.getrandbits(chance.randint(1, 90))}e{chance.randint(-60, 60)}" for _ in range(1000)]
    texts += [f"{chance.getrandbits(70)}.{chance.getrandbits(70)}" for _ in range(500)]
    data = "".join(f"q 0 d {text}\n" for text in texts).encode()
    assert core.read_judgments(as_array(data), 1)["grade"].tolist() == [float(text) for text in texts]


# -- Faults ------------------------------------------------------------------------------------------------------------


def test_each_line_has_at_most_one_fault(core: Any) -> None:
    lines = [
        (b"q Q0 d x nan", FIELDS, 5),
        (b"q Q0 d x nan t u", FIELDS, 7),
        (b"q", FIELDS, 1),
        (b"q Q0 d x nan t", NUMBER, 0),
        (b"q Q0 d x 1e999 t", OVERFLOW, 0),
        (b"q Q0 d x 1 t", RANK, 0),
        (b"q Q0 d 1e999 1 t", RANK, 0),
    ]
    starts = itertools.accumulate((len(line) + 1 for line, _, _ in lines), initial=0)
    expected = [(start, code, detail) for start, (_, code, detail) in zip(starts, lines, strict=False)]
    run = b"\n".join(line for line, _, _ in lines)
    for order, ties in ((1, 0), (0, 2), (2, 2), (1, 3)):
        found = join(core, run, order=order, ties=ties)
        assert (found["faults"], found["fault_count"]) == (expected, 7)
    for found in (join(core, run, keep_first=True), core.read_run(as_array(run), 1)):
        assert (found["faults"], found["fault_count"]) == (expected[:5], 5)


def test_the_ten_earliest_faults_are_kept_and_all_are_counted(core: Any) -> None:
    lines = [b"q%d Q0 d 1 %b t\n" % (25 - i, b"1" if i % 3 == 0 else b"x") for i in range(25)]
    starts = list(itertools.accumulate(map(len, lines), initial=0))
    expected = [(starts[i], NUMBER, 0) for i in range(25) if i % 3]
    for found in (core.read_run(as_array(b"".join(lines)), 1), join(core, b"".join(lines))):
        assert (found["faults"], found["fault_count"]) == (expected[:10], 16)
    found = core.read_judgments(as_array(b"x\n" * 12), 1)
    assert (found["faults"], found["fault_count"]) == ([(2 * i, FIELDS, 1) for i in range(10)], 12)


def test_duplicates_are_faults_in_the_order_of_the_text(core: Any) -> None:
    rows = [("b", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("a", "y"), ("extra", "z"), ("b", "x"), ("extra", "z")]
    lines = [run_lines((query, document, 1, i)) for i, (query, document) in enumerate(rows)]
    starts = list(itertools.accumulate(map(len, lines), initial=0))
    judgments = b"a 0 x 1\nb 0 x 1\n"
    expected = [(2, 0), (4, 1), (6, 0), (7, 5)]
    for order, ties in itertools.product(ORDERS.values(), TIES.values()):
        found = join(core, b"".join(lines), judgments, order=order, ties=ties, depth=1)
        assert found["faults"] == [(starts[later], DUPLICATE, starts[first]) for later, first in expected]
        assert found["fault_count"] == 4
    # In columns, grouped by query, the same rows are a: 0 1 2, b: 3 4 5, extra: 6 7.
    found = join_by_columns(core, b"".join(lines), judgments)
    assert found["faults"] == [(2, DUPLICATE, 0), (4, DUPLICATE, 3), (5, DUPLICATE, 3), (7, DUPLICATE, 6)]


def test_many_duplicates_of_interleaved_queries(core: Any) -> None:
    lines = [run_lines((f"q{9 - i % 5}", f"d{i // 10}", 1, i)) for i in range(60)]
    starts = list(itertools.accumulate(map(len, lines), initial=0))
    expected = [(starts[i], DUPLICATE, starts[i - 5]) for i in range(60) if i % 10 >= 5]
    found = join(core, b"".join(lines))
    assert (found["faults"], found["fault_count"]) == (expected[:10], 30)


def test_other_faults_hide_duplicates(core: Any) -> None:
    run = run_lines(("q", "d", 1, 1), ("q", "d", "-", 1))
    second = len(run) // 2
    assert join(core, run)["faults"] == [(second, DUPLICATE, 0)]
    assert join(core, run, ties=TIES["rank"])["faults"] == [(second, RANK, 0)]
    assert join(core, run + b"other line\n")["faults"] == [(len(run), FIELDS, 2)]
    assert join_by_columns(core, run, b"", order=ORDERS["rank"])["faults"] == [(1, RANK, 0)]


# -- The index ---------------------------------------------------------------------------------------------------------


def test_items_are_numbered_query_by_query(core: Any) -> None:
    data = as_array(b"abcab")
    query = ints(2, 0, 2, 0, 2, 0)
    index = core.JudgmentIndex([b"p", b"q", b"r"], query, data, ints(1, 0, 0, 3, 4, 0), ints(1, 1, 2, 1, 1, 2))
    assert index.item.tolist() == [2, 0, 3, 0, 2, 1]  # b a ab a b ab
    assert index.item_offsets.tolist() == [0, 2, 2, 4]
    assert index.item.dtype == index.item_offsets.dtype == np.int64


@together(
    ("start", "length"), [(-1, 1), (0, -1), (0, 4), (3, 1), (4, 0), (2**63 - 1, 1), (1, 2**63 - 1), (-(2**63), 1)]
)
def test_spans_outside_the_data_are_refused(core: Any, start: int, length: int) -> None:
    with pytest.raises(ValueError, match="span"):
        core.JudgmentIndex([b"q"], ints(0), as_array(b"abc"), ints(start), ints(length))


@together(("query_ids", "query"), [([b"q"], [1]), ([b"q"], [-1]), ([], [0]), ([b"q"], [0, 0]), ([b"q", b"q"], [0])])
def test_queries_that_do_not_fit_are_refused(core: Any, query_ids: list[bytes], query: list[int]) -> None:
    with pytest.raises(ValueError, match=r"."):
        core.JudgmentIndex(query_ids, ints(*query), as_array(b"abc"), ints(0), ints(1))


@together(
    "wrong",
    [
        {"query_ids": [b"q", b"q"]},
        {"list_offsets": ints(0, 0, 1)},
        {"list_offsets": ints(0, 1, 3)},
        {"list_offsets": ints(1, 1, 2)},
        {"list_offsets": ints(0, 3, 2)},
        {"list_offsets": ints(0, 2)},
        {"list_offsets": ints()},
        {"document_start": ints(0, 3)},
        {"document_start": ints(0)},
        {"document_length": ints(1, -1)},
        {"document_length": ints(1)},
        {"score": np.ones(1)},
        {"score": np.array([1.0, math.nan])},
        {"rank": np.ones(1)},
        {"rank": np.ones(0), "order": ORDERS["rank"]},
        {"rank": np.ones(0), "ties": TIES["rank"]},
    ],
)
def test_columns_that_do_not_fit_are_refused(core: Any, wrong: dict[str, Any]) -> None:
    index = index_of(core, b"q 0 a 1\n")
    columns = {
        "query_ids": [b"p", b"q"],
        "list_offsets": ints(0, 1, 2),
        "data": as_array(b"abc"),
        "document_start": ints(0, 1),
        "document_length": ints(1, 1),
        "score": np.ones(2),
        "rank": np.ones(2),
    }

    def join_with(**changes: Any) -> Any:
        run = core.ListColumns(**{name: changes.pop(name, column) for name, column in columns.items()})
        return core.join_columns(run, index, *settings_of(core, **changes), no_progress())

    assert join_with()["row_count"] == 2
    with pytest.raises(ValueError, match=r"."):
        join_with(**wrong)


def test_columns_that_change_before_they_are_used_are_refused(core: Any) -> None:
    index, offsets = index_of(core, b"q 0 a 1\n"), ints(0, 2)
    spans = as_array(b"abc"), ints(0, 1), ints(1, 1)
    run = core.ListColumns([b"q"], offsets, *spans, np.ones(2), np.empty(0))
    offsets[1] = 5_000_000
    with pytest.raises(ValueError, match="offsets"):
        core.join_columns(run, index, *settings_of(core), no_progress())


@together("wrong", [{"order": 3}, {"order": -1}, {"ties": 4}, {"ties": -1}, {"depth": -1}])
def test_options_that_mean_nothing_are_refused(core: Any, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="there is no such order"):
        settings_of(core, **wrong)


def test_an_empty_span_is_an_id_like_any_other(core: Any) -> None:
    data = as_array(b"abc")
    index = core.JudgmentIndex([b""], ints(0, 0), data, ints(3, 0), ints(0, 0))
    assert index.item.tolist() == [0, 0]
    run = core.ListColumns([b""], ints(0, 1), data, ints(2), ints(0), np.ones(1), np.empty(0))
    found = core.join_columns(run, index, *settings_of(core), no_progress())
    assert (found["hit_rank"].tolist(), found["hit_item"].tolist()) == ([1], [0])


def test_the_index_outlives_its_arguments(core: Any) -> None:
    judgments = bytearray(b"".join(b"q 0 document%d 1\n" % i for i in range(1000)))
    index = index_of(core, bytes(judgments))
    del judgments
    _ = [bytes(range(256)) * 64 for _ in range(64)]  # whatever was freed would be written over
    run = run_lines(*(("q", f"document{i}", 1, -i) for i in range(0, 2000, 2)))
    found = core.join_text(as_array(run), index, *settings_of(core), no_progress())
    assert found["hit_item"].tolist() == list(range(0, 1000, 2))


# -- Joining, held against the contract word by word -------------------------------------------------------------------


def expected_list(rows: list[tuple[bytes, float, float]], options: dict[str, Any]) -> list[int]:
    """The order of one list's rows (document, rank, score) by comparing all pairs."""
    order, ties = options["order"], options["ties"]

    def compare(left: int, right: int) -> int:
        (document, rank, score), (other_document, other_rank, other_score) = rows[left], rows[right]
        differences = []
        if order == 0:
            differences.append((other_score > score) - (other_score < score))
        if order == 1 or (order == 0 and ties == 2):
            differences.append((rank > other_rank) - (rank < other_rank))
        if order != 2 and ties != 3:
            ascending = (document > other_document) - (document < other_document)
            differences.append(ascending if ties == 1 else -ascending)
        return next((each for each in differences if each), left - right)

    ordered = sorted(range(len(rows)), key=functools.cmp_to_key(compare))
    kept: list[int] = []
    for row in ordered:
        if rows[row][0] not in [rows[other][0] for other in kept]:
            kept.append(row)
    return kept[: options["depth"]] if options["depth"] else kept


def expected_join(run: bytes, judgments: bytes, options: dict[str, Any]) -> dict[str, Any]:
    """The join of well-formed texts without empty judgments, straight from the definition."""
    lists: dict[bytes, list[tuple[bytes, float, float]]] = {}
    exact: dict[bytes, list[float]] = {}
    for query, _, document, rank, score, _ in map(bytes.split, run.splitlines()):
        used = float(np.float32(score)) if options["float32"] else float(score)
        lists.setdefault(query, []).append((document, float(rank), used))
        exact.setdefault(query, []).append(float(score))
    judged: dict[bytes, list[bytes]] = {}
    for query, _, document, _ in map(bytes.split, judgments.splitlines()):
        judged.setdefault(query, []).append(document)
    items = [(query, document) for query in sorted(judged) for document in judged[query]]
    kept = {query: expected_list(rows, options) for query, rows in lists.items()}
    found = {query: [lists[query][row] for row in kept.get(query, [])] for query in sorted(judged)}
    hits = {
        query: [(rank, items.index((query, row[0]))) for rank, row in enumerate(rows, 1) if row[0] in judged[query]]
        for query, rows in found.items()
    }
    conflicts = ties = tied = inexact = 0
    for query, rows in lists.items():
        if query not in judged:
            continue
        conflicts += sum(any(other[2] > row[2] and other[1] > row[1] for other in rows) for row in rows)
        shown = sorted((row[2] for row in rows), reverse=True)[: options["depth"] or None]
        tied += sum(sum(other[2] == used for other in rows) > 1 for used in shown)
        for used in shown:
            alike = [value for row, value in zip(rows, exact[query], strict=True) if row[2] == used]
            ties += len(set(alike)) > 1
            inexact += len(alike) > 1 == len(set(alike)) and abs(alike[0]) >= 2**53
    by_score = options["order"] == 0
    scores = [score for rows in found.values() for _, _, score in rows]
    groups = [
        [at for at, row in enumerate(rows, 1) if row[2] == rows[rank - 1][2]] if by_score else [rank]
        for query, rows in found.items()
        for rank, _ in hits[query]
    ]
    in_ties = [(hit, group[0], group[-1]) for hit, group in enumerate(groups) if len(group) > 1]
    return {
        "answered": [query in lists for query in found],
        "retrieved": [len(rows) for rows in found.values()],
        "hit_offsets": list(itertools.accumulate(map(len, hits.values()), initial=0)),
        "hit_rank": [rank for pairs in hits.values() for rank, _ in pairs],
        "hit_item": [item for pairs in hits.values() for _, item in pairs],
        "tied_hit": [hit for hit, _, _ in in_ties],
        "tied_first": [first for _, first, _ in in_ties],
        "tied_last": [last for _, _, last in in_ties],
        "scores": scores if options["want_scores"] else [],
        "rows": [],
        "extra_ids": sorted(set(lists) - set(judged)),
        "list_count": len(lists),
        "row_count": sum(map(len, lists.values())),
        "duplicate_count": sum(len(rows) - len({row[0] for row in rows}) for q, rows in lists.items() if q in judged),
        "rank_conflicts": conflicts if by_score else 0,
        "float32_ties": ties if by_score and options["float32"] else 0,
        "tied_count": tied if by_score else 0,
        "inexact_ties": inexact if by_score else 0,
        "facts": None,
        "faults": [],
        "fault_count": 0,
    }


@cache
def random_texts(seed: int, repeats: bool) -> tuple[bytes, bytes]:
    """A run and judgments with few distinct IDs, ranks and scores, some equal only as float32."""
    chance = random.Random(seed)
    queries = [b"q%d" % i for i in range(6)]
    names = [b"d%d" % i for i in range(12)]
    scores = [b"0", b"-0.0", b"1", b"1.00000000001", b"1.0000000000100", b"-2", b"1e39", b"1e40", b"-1e300", b"1e-60"]
    judgments = [(q, d) for q in queries[1:] for d in names if chance.random() < 0.5]
    rows = [(q, d) for q in queries[:-1] for d in (chance.choices(names, k=16) if repeats else names[:9])]
    chance.shuffle(judgments)
    chance.shuffle(rows)
    run = b"".join(b"%b Q0 %b %d %b t\n" % (q, d, chance.randint(-1, 5), chance.choice(scores)) for q, d in rows)
    return run, b"".join(b"%b 0 %b 1\n" % pair for pair in judgments)


@cache
def random_inputs(core: Any, seed: int, repeats: bool) -> tuple[Any, Any, Any]:
    """The same as input for a core: a run as text and as columns, and judgments."""
    run, judgments = random_texts(seed, repeats)
    return as_array(run), columns_of(core, run), index_of(core, judgments)


@cache
def expected_of(seed: int, repeats: bool, **options: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the definition's own rounding overflows
        return expected_join(*random_texts(seed, repeats), options)


@together("order", ORDERS)
@together("ties", TIES)
@together("float32", [False, True])
def test_every_policy_against_its_definition(core: Any, order: str, ties: str, float32: bool) -> None:
    policy = {"order": ORDERS[order], "ties": TIES[ties], "float32": float32}
    for seed, depth, repeats, want_scores in itertools.product(range(3), (0, 1, 4), (False, True), (False, True)):
        text, columns, index = random_inputs(core, seed, repeats)
        options = OPTIONS | policy | {"depth": depth, "keep_first": repeats, "want_scores": want_scores}
        expected = expected_of(seed, repeats, **options)
        settings = settings_of(core, **options)
        for found in (
            core.join_text(text, index, *settings, no_progress()),
            core.join_columns(columns, index, *settings, no_progress()),
        ):
            assert found.keys() == expected.keys()
            plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in found.items()}
            assert plain == expected


def test_result_types(core: Any) -> None:
    found = join(core, run_lines(("q", "d", 1, 1)), b"q 0 d 1", want_scores=True)
    types = {key: value.dtype for key, value in found.items() if isinstance(value, np.ndarray)}
    assert types == {
        "answered": np.bool_,
        "retrieved": np.int64,
        "hit_offsets": np.int64,
        "hit_rank": np.int32,
        "hit_item": np.int32,
        "tied_hit": np.int64,
        "tied_first": np.int32,
        "tied_last": np.int32,
        "scores": np.float64,
        "rows": np.int64,
    }


def test_a_small_join_by_hand(core: Any) -> None:
    run = run_lines(("2", "a", 1, 0.5), ("1", "x", 1, 3), ("2", "b", 2, 0.9), ("2", "c", 3, 0.5), ("9", "a", 1, 1))
    found = join(core, run, b"2 0 c 1\n2 0 b 0\n1 0 y 1\n3 0 a 1\n", want_scores=True, want_rows=True)
    assert found["answered"].tolist() == [True, True, False]
    assert found["retrieved"].tolist() == [1, 3, 0]
    assert found["hit_offsets"].tolist() == [0, 0, 2, 2]
    assert found["hit_rank"].tolist() == [1, 2]  # b, then c before a
    assert found["hit_item"].tolist() == [2, 1]  # y; c b; a
    assert found["scores"].tolist() == [3.0, 0.9, 0.5, 0.5]
    lines = run.split(b"\n")
    assert [run[row:].split(b"\n")[0] for row in found["rows"].tolist()] == [lines[1], lines[2], lines[3], lines[0]]
    assert (found["extra_ids"], found["list_count"], found["row_count"]) == ([b"9"], 3, 5)
    assert (found["rank_conflicts"], found["float32_ties"], found["duplicate_count"]) == (1, 0, 0)


def test_keep_first_keeps_the_best_ranked_and_depth_comes_after(core: Any) -> None:
    run = run_lines(("q", "a", 1, 1), ("q", "b", 2, 2), ("q", "a", 3, 3), ("q", "b", 4, 2.5), ("q", "c", 5, 0))
    options = {"keep_first": True, "want_scores": True}
    found = join(core, run, b"q 0 a 1\nq 0 b 1\nq 0 c 1\n", **options)
    assert (found["scores"].tolist(), found["duplicate_count"]) == ([3.0, 2.5, 0.0], 2)
    found = join(core, run, b"q 0 b 1\nq 0 c 1\n", depth=2, **options)
    assert (found["hit_rank"].tolist(), found["retrieved"].tolist()) == ([2], [2])
    found = join(core, run, b"q 0 a 1\n", order=ORDERS["input"], **options)
    assert found["scores"].tolist() == [1.0, 2.0, 0.0]
    assert join(core, run, b"q 0 a 1\n", depth=99, **options)["retrieved"].tolist() == [3]


def test_extra_queries_are_checked(core: Any) -> None:
    rows = [("x", "a", 2, 2), ("x", "b", 1, 1), ("x", "b", 3, "1.00000000001")]
    found = join(core, run_lines(*rows), b"q 0 a 1\n", keep_first=True, float32=True, want_scores=True)
    assert (found["extra_ids"], found["list_count"], found["row_count"]) == ([b"x"], 1, 3)
    assert (found["duplicate_count"], found["rank_conflicts"], found["float32_ties"]) == (0, 0, 0)
    assert (found["answered"].tolist(), found["retrieved"].tolist(), found["scores"].size) == ([False], [0], 0)
    rows.extend((f"x{i % 7}", f"d{i}", 1, 1) for i in range(14))
    assert join(core, run_lines(*rows), b"x3 0 a 1\n", keep_first=True)["extra_ids"] == (
        [b"x", b"x0", b"x1", b"x2", b"x4", b"x5", b"x6"]
    )
    assert [code for _, code, _ in join(core, run_lines(*rows), b"q 0 a 1\n")["faults"]] == [DUPLICATE]
    assert [code for _, code, _ in join(core, run_lines(("x", "a", 1, "x")), b"q 0 a 1")["faults"]] == [NUMBER]


def test_float32_ties_and_rounding(core: Any) -> None:
    texts = ["1", "1.00000000001", "1", "2", "2", "1e39", "1e40", "16777217"]
    run = run_lines(*(("q", f"d{i}", i, text) for i, text in enumerate(texts)))
    found = join(core, run, b"q 0 d1 1\n", float32=True, want_scores=True)
    assert found["float32_ties"] == 5
    assert found["scores"].tolist() == [math.inf, math.inf, 16777216.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    assert found["hit_rank"].tolist() == [7]
    found = join(core, run, b"q 0 d1 1\n", want_scores=True)
    assert (found["float32_ties"], found["hit_rank"].tolist()) == (0, [6])
    assert join(core, run, float32=True, order=ORDERS["rank"])["float32_ties"] == 0
    assert join(core, run_lines(("q", "a", 1, "0"), ("q", "b", 1, "-0")), float32=True)["float32_ties"] == 0


@together(
    ("ranks", "scores", "expected"),
    [
        ([1, 2, 3], [3, 2, 1], 0),
        ([3, 2, 1], [3, 2, 1], 2),
        ([1, 1, 1], [3, 2, 1], 0),
        ([9, 1, 2], [1, 1, 1], 0),
        ([9, 1, 2], [3, 1, 1], 2),
        ([0, 1, 2], [1, 1, 2], 2),
        (["-", 1, 2], [9, 3, 1], 0),
        ([5, "-", 2], [9, 3, 1], 1),
        ([5, 1e-3, "nan"], [9, 3, 10], 1),
        ([2, 1], ["1.00000000001", "1"], 1),
    ],
)
def test_rank_conflicts(core: Any, ranks: list[object], scores: list[object], expected: int) -> None:
    rows = [("q", f"d{i}", rank, score) for i, (rank, score) in enumerate(zip(ranks, scores, strict=True))]
    for shuffled in itertools.permutations(rows):
        assert join(core, run_lines(*shuffled))["rank_conflicts"] == expected
        assert join(core, run_lines(*shuffled), depth=1)["rank_conflicts"] == expected
    assert join(core, run_lines(*rows), order=ORDERS["input"])["rank_conflicts"] == 0
    assert join(core, run_lines(("q", "a", 2, "1.00000000001"), ("q", "b", 1, 1)), float32=True)["rank_conflicts"] == 0


def test_columns_without_ranks_and_with_an_empty_list(core: Any) -> None:
    index = index_of(core, b"a 0 x 1\nb 0 x 1\nc 0 x 1\n")
    spans = as_array(b"xy"), ints(0, 1), ints(1, 1)
    run = core.ListColumns([b"z", b"b", b"a"], ints(0, 0, 0, 2), *spans, np.array([1.0, 2.0]), np.empty(0))
    found = core.join_columns(run, index, *settings_of(core), no_progress())
    assert found["answered"].tolist() == [True, True, False]
    assert found["retrieved"].tolist() == [2, 0, 0]
    assert (found["hit_rank"].tolist(), found["hit_item"].tolist()) == ([2], [0])
    assert (found["extra_ids"], found["list_count"], found["row_count"]) == ([b"z"], 3, 2)


def test_no_warning_escapes_the_rounding(core: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = join(core, run_lines(("q", "a", 1, "1e300"), ("q", "b", 1, "1e-300")), float32=True)
    assert found["fault_count"] == 0


@together("sign", [1, -1])
def test_float32_rounds_as_numpy_does(core: Any, sign: int) -> None:
    largest, halfway = float(np.finfo(np.float32).max), float.fromhex("0x1.ffffffp127")
    scores = [1e300, halfway, math.nextafter(halfway, 0), math.nextafter(largest, math.inf), largest, 1e-46, 0.1]
    rows = [("q", f"d{i}", 1, repr(sign * score)) for i, score in enumerate(scores)]
    found = join(core, run_lines(*rows), b"q 0 d 1", float32=True, want_scores=True)
    with np.errstate(over="ignore"):
        expected = np.array([sign * score for score in scores]).astype(np.float32).astype(np.float64)
    assert found["scores"].tolist() == sorted(expected.tolist(), reverse=True)
    assert found["float32_ties"] == 5


# -- Threads and progress ----------------------------------------------------------------------------------------------


def large_texts() -> tuple[bytes, bytes]:
    """Large enough to be distributed among threads, with the lines of queries in random order."""
    chance = random.Random(3)
    rows = [(f"q{i % 37}", f"document-{i:08}", i // 37, f"{chance.random():.3f}") for i in range(12_000)]
    chance.shuffle(rows)
    judged = [(query, document) for query, document, _, _ in rows if chance.random() < 0.2 and query != "q3"]
    return run_lines(*rows), "".join(f"{query} 0 {document} 1\n" for query, document in judged).encode()


def test_the_number_of_threads_changes_nothing(core: Any) -> None:
    run, judgments = large_texts()
    broken = run.replace(b"5 tag", b"x tag")
    doubled = run + run[-20_000:].split(b"\n", 1)[1]
    texts = [(run, {"want_scores": True}), (broken, {}), (doubled, {}), (doubled, {"keep_first": True})]
    alone = [(text, options, join(core, text, judgments, **options)) for text, options in texts]
    judgments_alone, run_alone = core.read_judgments(as_array(judgments), 1), core.read_run(as_array(run), 1)
    for threads in (2, 8):
        assert_same(judgments_alone, core.read_judgments(as_array(judgments), threads))
        assert_same(run_alone, core.read_run(as_array(run), threads))
        for text, options, one in alone:
            many = join(core, text, judgments, threads=threads, **options)
            if one["fault_count"]:
                assert (one["faults"], one["fault_count"]) == (many["faults"], many["fault_count"])
            else:
                assert_same(one, many)


def test_judgments_stand_in_the_order_of_the_text_whatever_lies_between_them(core: Any) -> None:
    """Pieces of a text that end with comments, blank lines or faults leave no gap."""
    lines = []
    for i in range(12_000):
        skipped = [b"# a comment of some length", b"", b"q 0 d", b"q 0 d x"][: i // 3000 + 1] if i % 1000 < 500 else []
        lines += [b"%d 0 d%d %d" % (i // 3, i, i % 4), *skipped]
    text = b"\n".join(lines)
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    fields = [(start, line.split()) for start, line in zip(starts, lines, strict=False)]
    kept = [(start, parts) for start, parts in fields if len(parts) == 4 and parts[3].isdigit()]
    queries = sorted({parts[0] for _, parts in kept})
    for threads in (1, 3):
        found = core.read_judgments(as_array(text), threads)
        assert found["query_ids"] == queries
        assert [queries[i] for i in found["query"].tolist()] == [parts[0] for _, parts in kept]
        assert documents(text, found) == [parts[2] for _, parts in kept]
        assert found["grade"].tolist() == [float(parts[3]) for _, parts in kept]
        assert found["line"].tolist() == [start for start, _ in kept]
        assert found["fault_count"] == sum(parts[-1:] in ([b"d"], [b"x"]) for _, parts in fields)


@together("threads", [1, 2, 8])
def test_progress_adds_up(core: Any, threads: int) -> None:
    run = b"# comment\n" + run_lines(("b", "x", 1, 1), ("a", "y", 1, 1), ("a", "z", 1, 1)) + b"\n"
    index = index_of(core, b"a 0 x 1\n")
    settings = settings_of(core, threads=threads)
    for data in (run, b"", b"# comment only\n", b"\xef\xbb\xbf" + run):
        progress = ints(5, 0)
        core.join_text(as_array(data), index, *settings, progress)
        assert progress.tolist() == [5 + len(data), 0]
    progress = ints(5, 0)
    core.join_columns(columns_of(core, run), index, *settings, progress)
    assert progress.tolist() == [8, 0]


@together("threads", [1, 8])
def test_a_cancelled_join_gives_up(core: Any, threads: int) -> None:
    run, judgments = run_lines(("a", "x", 1, 1), ("b", "x", 1, 1)), b"a 0 x 1\n"
    index = index_of(core, judgments)
    settings = settings_of(core, threads=threads)
    with pytest.raises(RuntimeError):
        core.join_text(as_array(run), index, *settings, ints(0, 1))
    with pytest.raises(RuntimeError):
        core.join_columns(columns_of(core, run), index, *settings, ints(0, 1))
    found = core.join_text(as_array(run), index, *settings, no_progress())
    assert found["hit_rank"].tolist() == [1]
