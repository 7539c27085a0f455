"""Both cores read LETOR texts as defined in ``_core.pyi``."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.together import together

FIELDS, NUMBER, OVERFLOW, EMPTY, LINE_END, UNNAMED = 1, 2, 3, 6, 8, 9
OHSUMED = Path(__file__).resolve().parents[3] / "shared" / "data" / "letor-ohsumed"


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def ids_of(spans: Any) -> list[bytes]:
    data, start, length = spans
    assert (data.dtype, start.dtype, length.dtype) == (np.uint8, np.int64, np.int64)
    text = data.tobytes()
    found = [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]
    assert [len(each) for each in found] == length.tolist()
    return found


def read(core: Any, text: bytes, feature: int = 0) -> Any:
    return core.read_letor(as_array(text), feature)


def test_lines_become_columns(core: Any) -> None:
    data = as_array(b"2 qid:85 1:0.5 2:-1e2 #docid = d7 inc = 1\n0 qid:9 2:3 4:1 #docid = d8\n")
    found = core.read_letor(data, 2)
    assert (ids_of(found["query"]), ids_of(found["document"])) == ([b"85", b"9"], [b"d7", b"d8"])
    assert (found["grade"].tolist(), found["value"].tolist()) == ([2, 0], [-100, 3])
    assert (found["line"].tolist(), found["feature_count"]) == ([0, 42], 4)
    assert (found["faults"], found["fault_count"]) == ([], 0)
    assert {found[name].dtype for name in ("grade", "value")} == {np.dtype(np.float64)}
    assert found["line"].dtype == np.int64
    assert found["query"][0] is found["document"][0] is data


def test_a_feature_that_a_line_lacks_is_0_and_null_is_nan(core: Any) -> None:
    text = b"0 qid:1 1:1\n0 qid:1 2:NULL\n0 qid:1\n0 qid:1 2:7\n0 qid:1 2:7 002:8 2:9\n"
    np.testing.assert_array_equal(read(core, text, 2)["value"], [0, np.nan, 0, 7, 9])
    np.testing.assert_array_equal(read(core, text, 3)["value"], [0] * 5)
    np.testing.assert_array_equal(read(core, text, 0)["value"], [0] * 5)
    assert read(core, text)["feature_count"] == 2
    assert read(core, b"0 qid:1\n")["feature_count"] == 0
    assert read(core, b"0 qid:1 999999999999999999:1 3:1\n", 999999999999999999)["value"].tolist() == [1]


@together(
    ("comment", "document"),
    [
        (b"#docid = a", b"a"),
        (b"#docid=a", b"a"),
        (b"# docid\t=\ta b", b"a"),
        (b"##docid =a", b"a"),
        (b"#x = 1 docid = a docid = b", b"a"),
        (b"#docid b docid=a", b"a"),
        (b"#mydocid = b docid = a", b"a"),
        (b"#docid = a#1:x", b"a#1:x"),
        (b"#docid == a", b"="),
        (b"#docid = \xff\x00", b"\xff\x00"),
        (b"#docid = docid = a", b"docid"),
        (b"#docid =", b"1"),
        (b"#docid", b"1"),
        (b"#", b"1"),
        (b"#DOCID = b", b"1"),
        (b"#docids = b", b"1"),
        (b"", b"1"),
    ],
)
def test_the_document_is_in_the_comment(core: Any, comment: bytes, document: bytes) -> None:
    for end in (b"", b"\n", b"\r\n", b" \n"):
        found = read(core, b"1 qid:q 1:2 " + comment + end)
        assert (ids_of(found["document"]), found["faults"]) == ([document], [])


def test_documents_without_a_name_are_counted_by_query(core: Any) -> None:
    text = b"".join(
        b"0 qid:%b%b\n" % row for row in [(b"a", b""), (b"b", b""), (b"a", b" #x"), (b"a", b" #docid ="), (b"b", b"")]
    )
    found = read(core, text + b"0 qid:a\n" * 9)
    assert ids_of(found["document"])[:5] == [b"1", b"1", b"2", b"3", b"2"]
    assert ids_of(found["document"])[5:] == [b"%d" % i for i in range(4, 13)]
    assert found["document"][0].tobytes() == b"".join(b"%d" % i for i in range(1, 13))
    assert found["query"][0].tobytes() == text + b"0 qid:a\n" * 9
    assert found["faults"] == []


def test_a_document_without_a_name_among_others_is_a_fault(core: Any) -> None:
    text = b"1 qid:a 1:2 #doc\n0 qid:b #docid = y\nx qid:b #docid = z\n2 qid:a 1:2"
    found = read(core, text)
    assert (found["faults"], found["fault_count"]) == ([(0, UNNAMED, 0), (36, NUMBER, 0), (55, UNNAMED, 0)], 3)
    assert ids_of(found["document"]) == [b"", b"y", b""]


def test_a_comment_begins_with_a_field(core: Any) -> None:
    assert ids_of(read(core, b"1 qid:a#1 1:2\n")["query"]) == [b"a#1"]
    assert read(core, b"1 qid:a 1:2#docid = x\n")["faults"] == [(0, NUMBER, 2)]
    assert ids_of(read(core, b"1 qid:a #1:x #docid = d\n")["document"]) == [b"d"]


@together("text", [b"", b"\n", b"\r\n", b" \t\n", b"#docid = x\n", b" # 1 qid:1\n#", b"\xef\xbb\xbf#\n"])
def test_texts_without_rows(core: Any, text: bytes) -> None:
    found = read(core, text, 1)
    assert (ids_of(found["query"]), ids_of(found["document"]), found["faults"]) == ([], [], [])
    assert (found["grade"].size, found["value"].size, found["line"].size, found["feature_count"]) == (0, 0, 0, 0)


def test_blanks_line_ends_and_the_byte_order_mark(core: Any) -> None:
    rows = b" \t1\t qid:a  1:2 \t#docid = d \r\n", b"\r\n", b"+2.5e0 qid:b #docid=e\r\n", b"3 qid:c #docid=f\r"
    found = read(core, b"\xef\xbb\xbf" + b"".join(rows), 1)
    assert (ids_of(found["query"]), ids_of(found["document"])) == ([b"a", b"b", b"c"], [b"d", b"e", b"f"])
    assert (found["grade"].tolist(), found["value"].tolist()) == ([1, 2.5, 3], [2, 0, 0])
    assert (found["line"].tolist(), found["faults"]) == ([3, 35, 58], [])


@together(
    ("line", "code", "detail"),
    [
        (b"1", FIELDS, 1),
        (b"1 #qid:1", FIELDS, 1),
        (b"x 1:2 qid:1 y", FIELDS, 4),
        (b"1 QID:1 1:2 #c", FIELDS, 3),
        (b"1 qid", FIELDS, 2),
        (b"qid:1 1:2", FIELDS, 2),
        (b"x qid: 1:x", NUMBER, 0),
        (b"nan qid:1", NUMBER, 0),
        (b"-1e999 qid:1 x", OVERFLOW, 0),
        (b"1 qid: x", EMPTY, 1),
        (b"1 qid:1 1:2 x", NUMBER, 3),
        (b"1 qid:1 0:2", NUMBER, 2),
        (b"1 qid:1 000:2", NUMBER, 2),
        (b"1 qid:1 -1:2", NUMBER, 2),
        (b"1 qid:1 +1:2", NUMBER, 2),
        (b"1 qid:1 1.0:2", NUMBER, 2),
        (b"1 qid:1 :2", NUMBER, 2),
        (b"1 qid:1 1:", NUMBER, 2),
        (b"1 qid:1 1:2:3", NUMBER, 2),
        (b"1 qid:1 1:null", NUMBER, 2),
        (b"1 qid:1 1:NULLs", NUMBER, 2),
        (b"1 qid:1 1:nan", NUMBER, 2),
        (b"1 qid:1 1 :2", NUMBER, 2),
        (b"1 qid:1 1:1e999 x", OVERFLOW, 2),
        (b"1 qid:1 " + b"1" * 19 + b":2", NUMBER, 2),
        (b"1 qid:1 1:2\r\r", LINE_END, 0),
        (b"1 qid:1 1:2\r0 qid:1 1:3", LINE_END, 0),
        (b"1 qid:1 1:2 #docid = a\r0 qid:1 1:3 #docid = b", LINE_END, 0),
        (b"#a comment\r1 qid:1 1:2", LINE_END, 0),
    ],
)
def test_a_line_has_one_fault(core: Any, line: bytes, code: int, detail: int) -> None:
    found = read(core, b"1 qid:1 1:2\n " + line + b"\n2 qid:1\n", 1)
    assert (found["faults"], found["fault_count"]) == ([(12, code, detail)], 1)
    assert (found["grade"].tolist(), ids_of(found["document"])) == ([1, 2], [b"1", b"2"])


def test_the_ten_earliest_faults_are_kept_and_all_are_counted(core: Any) -> None:
    found = read(core, b"x\n" * 12)
    assert (found["faults"], found["fault_count"]) == ([(2 * i, FIELDS, 1) for i in range(10)], 12)


def test_there_is_no_feature_below_0(core: Any) -> None:
    with pytest.raises(ValueError, match="no such feature"):
        read(core, b"1 qid:1", -1)


@pytest.mark.skipif(not OHSUMED.is_dir(), reason="the collection is not on this machine")
def test_a_real_collection(core: Any) -> None:
    text = gzip.decompress((OHSUMED / "Feature-null" / "Fold1.testset.txt.gz").read_bytes())
    rows = [line.split() for line in text.decode().splitlines()]
    for feature in (1, 11, 45):
        found = read(core, text, feature)
        values = [row[1 + feature].removeprefix(f"{feature}:") for row in rows]
        expected = [float("nan") if value == "NULL" else float(value) for value in values]
        np.testing.assert_array_equal(found["value"], expected)
    assert [query.decode() for query in ids_of(found["query"])] == [row[1][4:] for row in rows]
    assert [document.decode() for document in ids_of(found["document"])] == [row[-1] for row in rows]
    assert found["grade"].tolist() == [float(row[0]) for row in rows]
    assert (found["feature_count"], found["fault_count"]) == (45, 0)
    # The same without the names: the ordinals within the queries.
    unnamed = read(core, b"\n".join(line.split(b"#")[0] for line in text.split(b"\n")))
    seen: dict[str, int] = defaultdict(int)
    for row, document in zip(rows, ids_of(unnamed["document"]), strict=True):
        seen[row[1]] += 1
        assert document == b"%d" % seen[row[1]]
