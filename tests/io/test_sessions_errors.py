# ruff: noqa: E501 - a case a line reads better
"""Errors for invalid sessions in tables, frames and runs, with their places."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import polars as pl
import pytest

from gainful import InputError, Policy, Sessions, UsageError, evaluate_sessions
from tests.together import together

from .conftest import json_lines
from .session_samples import FROM_ONE, GAPS, RANKS, error_of, session

pytestmark = pytest.mark.usefixtures("core")

PAGE = "an empty result page is one row with rank 0 and - as document"


def rows(*lines: str, header: str = "session,query,rank,document") -> bytes:
    return "\n".join([header, *lines, ""]).encode()


# -- Tables ------------------------------------------------------------------------------------------------------------


@together(
    ("lines", "message", "hint"),
    [
        (["a,1,1,x", "a,3,1,y"], "<bytes>:3: missing query 2 of session 'a' before query 3\n    a,3,1,y", GAPS),
        (["b,2,1,x", "a,1,1,x"], "<bytes>:2: missing query 1 of session 'b' before query 2\n    b,2,1,x", GAPS),
        (["a,0,1,x"], "<bytes>:2: expected a whole number from 1 to 1,000,000 as query's number, found 0\n    a,0,1,x", FROM_ONE),
        (["a,1.5,1,x"], "<bytes>:2: expected a whole number from 1 to 1,000,000 as query's number, found 1.5\n    a,1.5,1,x", FROM_ONE),
        (["a,1e9,1,x"], "<bytes>:2: expected a whole number from 1 to 1,000,000 as query's number, found 1000000000\n    a,1e9,1,x", FROM_ONE),
        (["a,1,1,y", "a,one,1,x"], "<bytes>:3: expected a number as query (field 2), found 'one'\n    a,one,1,x", "numbers are decimal with a point, such as 2, -0.5 or 1e-3"),
        (["a,1,2,x", "a,1,1,y", "a,1,2,z"], "<bytes>:4: duplicate rank 2 in query 1 of session 'a' (first: line 2)\n    a,1,2,z", RANKS),
        (["a,1,1,x", "a,1,3,y"], "<bytes>:3: missing rank 2 in query 1 of session 'a' before rank 3\n    a,1,3,y", RANKS),
        (["a,1,11,x", "a,1,12,y"], "<bytes>:2: missing rank 1 in query 1 of session 'a' before rank 11\n    a,1,11,x", RANKS),
        (["a,1,1.5,x"], "<bytes>:2: expected a whole number as rank, found 1.5\n    a,1,1.5,x", RANKS),
        (["a,1,-1,x"], "<bytes>:2: expected a whole number as rank, found -1\n    a,1,-1,x", RANKS),
        (["a,1,0,x"], "<bytes>:2: expected ranks from 1, found 0\n    a,1,0,x", f"{RANKS}; {PAGE}"),
        (["a,1,1,"], "<bytes>:2: expected an id as document, found nothing\n    a,1,1,", PAGE),
        (["a,1,1,x", "a,1,0,-"], "<bytes>:3: an empty result page must be the only row of query 1 of session 'a', found 2 rows\n    a,1,0,-", PAGE),
        ([",1,1,x"], "<bytes>:2: expected an id as session (field 1), found nothing\n    ,1,1,x", None),
        (["a,1,1"], "<bytes>:2: expected 4 fields, found 3\n    a,1,1", "the header has 4 fields"),
        ([], "<bytes>: no sessions", None),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_right(lines: list[str], message: str, hint: str | None) -> None:
    error = error_of(rows(*lines))
    assert (error.message, error.hint) == (message, hint)


@together(
    ("column", "values", "message"),
    [
        ("topic", "7,8", "<bytes>:3: conflicting topic in session 'a': '8' and '7' (line 2)\n    a,2,1,d,8"),
        ("user", "u,v", "<bytes>:3: conflicting user in session 'a': 'v' and 'u' (line 2)\n    a,2,1,d,v"),
        ("system", "A,B", "<bytes>:3: conflicting system in session 'a': 'B' and 'A' (line 2)\n    a,2,1,d,B"),
        ("time", "9,7.5", "<bytes>:3: time 7.5 of session 'a' is earlier than 9 (line 2)\n    a,2,1,d,7.5"),
        ("time", "9,soon", "<bytes>:3: expected seconds or a date and time as time, found 'soon'\n    a,2,1,d,soon"),
        ("grade", "1,good", "<bytes>:3: expected a number as grade (field 5), found 'good'\n    a,2,1,d,good"),
        ("scanned", "1,1.5", "<bytes>:3: expected a whole number from 0 to 9,007,199,254,740,992 as scanned, found 1.5\n    a,2,1,d,1.5"),
        ("scanned", "1,-1", "<bytes>:3: expected a whole number from 0 to 9,007,199,254,740,992 as scanned, found -1\n    a,2,1,d,-1"),
        ("scanned", "1,1e300", "<bytes>:3: expected a whole number from 0 to 9,007,199,254,740,992 as scanned, found 1e+300\n    a,2,1,d,1e300"),
        ("score", "1,", "<bytes>:3: expected a number as score, found nothing\n    a,2,1,d,"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_right(column: str, values: str, message: str) -> None:
    first, second = values.split(",")
    text = rows(f"a,1,1,d,{first}", f"a,2,1,d,{second}", header=f"session,query,rank,document,{column}")
    assert error_of(text).message == message


def test_times_are_shown_as_they_are_written() -> None:
    text = rows("a,2,1,d,09:59", "a,1,1,d,10:00:00", header="session,query,rank,document,time")
    assert error_of(text).message == (
        "<bytes>:2: time 09:59 of session 'a' is earlier than 10:00:00 (line 3)\n    a,2,1,d,09:59"
    )
    text = rows("a,1,1,d,9:59", header="session,query,rank,document,time")
    assert error_of(text).hint == "write 09:59"
    assert error_of(json_lines([session({"time": "9:59", "results": []})])).hint == "write 09:59"


def test_systems_that_share_sessions_in_one_table() -> None:
    error = error_of(rows("a,1,1,d,A", "a,1,1,e,B", header="session,query,rank,document,system"))
    assert error.message.startswith("<bytes>:3: conflicting system in session 'a': 'B' and 'A' (line 2)")
    assert error.hint == "if several systems share session ids, use one file per system"


IDS = "session,query,rank,document,query_id"


@together(
    ("lines", "message"),
    [
        (["a,1,1,d,x", "a,1,2,e,y"], "<bytes>:3: conflicting query_id in query 1 of session 'a': 'y' and 'x' (line 2)\n    a,1,2,e,y"),
        (["a,1,1,d,x", "b,1,1,e,x"], "<bytes>:3: duplicate query id 'x' (first: line 2)\n    b,1,1,e,x"),
        (["a,1,1,d,", "a,2,1,e,a_1"], "<bytes>:3: duplicate query id 'a_1' (first: line 2)\n    a,2,1,e,a_1"),
        (["a,2,1,e,a_1"], "<bytes>:2: duplicate query id 'a_1' (of a missing query)\n    a,2,1,e,a_1"),
        (["a,1,1,e,a_2", "a,3,1,e,x"], "<bytes>:2: duplicate query id 'a_2' (of a missing query)\n    a,1,1,e,a_2"),
    ],
)  # fmt: skip
def test_ids_of_queries_that_cannot_be_right(lines: list[str], message: str) -> None:
    assert error_of(rows(*lines, header=IDS), gaps="empty").message == message


@together(
    ("lines", "message"),
    [
        (["a_1 Q0 d 1 3 x", "a_2 Q0 d 1 3 x", "a_1 Q0 e 2 2 x", "a_1 Q0 f 1 1 x"], "<bytes>:4: duplicate rank 1 in query 'a_1' (first: line 1)\n    a_1 Q0 f 1 1 x"),
        (["a_1 Q0 d 2 3 x", "a_1 Q0 e 2 2 x", "a_1 Q0 f 0 1 x", "a_1 Q0 g 2 1 x"], "<bytes>:2: duplicate rank 2 in query 'a_1' (first: line 1)\n    a_1 Q0 e 2 2 x\n<bytes>:4: duplicate rank 2 in query 'a_1' (first: line 2)\n    a_1 Q0 g 2 1 x"),
    ],
)  # fmt: skip
def test_the_same_rank_twice_in_a_run(lines: list[str], message: str) -> None:
    error = error_of("\n".join([*lines, ""]).encode())
    assert (error.message, error.hint) == (message, RANKS)


@together("rank", [0, 1])
def test_a_constant_rank_column_is_ignored_unless_ranks_order_lists(rank: int) -> None:
    run = f"a_1 Q0 d {rank} 2 x\na_1 Q0 e {rank} 1 x\na_2 Q0 d {rank} 2 x\n".encode()
    qrels = {"a": {"d": 1}}
    assert evaluate_sessions(qrels, Sessions.read(run), "sDCG@1", judged_by="session")
    with pytest.raises(InputError, match=rf"^<bytes>:2: duplicate rank {rank} in .* \(first: line 1\)"):
        evaluate_sessions(qrels, Sessions.read(run), "sDCG@1", judged_by="session", policy=Policy(order="rank"))


def test_grades_above_the_scale_are_named() -> None:
    text = rows("a,1,1,d,1", "a,1,2,e,7", header="session,query,rank,document,grade")
    with pytest.raises(InputError) as caught:
        evaluate_sessions({"a": {"d": 3}}, Sessions.read(text), "sDCG@1", judged_by="session")
    assert caught.value.message == (
        "<bytes>:3: expected grades up to the scale of the judgments, 3, found 7\n    a,1,2,e,7"
    )
    assert caught.value.hint == "use scale=7"


def test_one_scanning_depth_a_query() -> None:
    text = rows("a,1,2,e,4", "a,1,1,d,3", header="session,query,rank,document,scanned")
    assert error_of(text).message == (
        "<bytes>:2: conflicting scanned in query 1 of session 'a': '4' and '3' (line 3)\n    a,1,2,e,4"
    )


def test_time_stamps_of_the_next_session_may_be_earlier() -> None:
    text = rows("a,1,1,d,9", "a,2,1,d,", "a,3,1,d,9", "b,1,1,d,1", header="session,query,rank,document,time")
    assert len(Sessions.read(text)) == 2


def test_three_places_are_named_and_the_rest_counted() -> None:
    error = error_of(rows(*(f"s{i},2,1,d" for i in range(13))))
    lines = error.message.split("\n")
    assert len(lines) == 7
    assert lines[0].startswith("<bytes>:2: missing query 1 of session 's0'")
    assert lines[-1] == "... and 10 more like these"


@together(
    ("header", "message"),
    [
        ("session,rank,document", r"<bytes>:1: no column for query \(qno, .*\); columns: session, rank, document"),
        (
            "session,query,document",
            r"<bytes>:1: no column for rank \(rank, position, .*\); columns: session, query, document",
        ),
        (
            "session,session,query,rank,document",
            r"<bytes>:1: several columns for session: session and session",
        ),
    ],
)
def test_headers_that_lack_a_column(header: str, message: str) -> None:
    assert re.match(message, error_of(rows(header=header)).message)


def test_columns_that_are_not_there() -> None:
    for format_ in (None, "csv"):
        error = error_of(rows("a,1,1,d"), columns={"session": "Sesion"}, format=format_)
        assert error.message == "<bytes>:1: no column 'Sesion' for session; columns: session, query, rank, document"
        assert error.hint == "did you mean session?"
    error = error_of(rows("a,1,1,d", header="visit,step,at,page"))
    found, known = error.message.split("\n")
    assert found == (
        "<bytes>: no column for session or user and none for query or text or time and none for document; columns: "
        "visit, step, at, page"
    )
    assert known.startswith("    known names of session: session_id, session_num, session, sid; user: user_id, ")
    error = error_of(rows("a,1,1,d", header="session,time,query,page"))
    assert error.message.startswith("<bytes>: no column for document; columns: session, time, query, page\n")
    assert error.hint == "use columns={'document': 'NAME'}"


@together("make", [pd.DataFrame, pl.DataFrame])
def test_frames_that_cannot_be_right(make: Any) -> None:
    columns = {"session": ["a", "a"], "query": [1, 3], "rank": [1, 1], "document": ["x", "y"]}
    with pytest.raises(InputError, match=r"^<frame>: row 1 \(counting from 0\): missing query 2 of session 'a' before"):
        Sessions.of(make(columns))
    with pytest.raises(InputError, match=r"in column 'grade', found .*text|in column 'grade', found 'good'"):
        Sessions.of(make({**columns, "query": [1, 2], "grade": ["1", "good"]}))
    with pytest.raises(InputError, match=r"row 1 .*: expected seconds or a date and time as time, found 'late'"):
        Sessions.of(make({**columns, "query": [1, 2], "time": ["2024-05-01", "late"]}))
    with pytest.raises(InputError, match=r"row 1 .*: time .* of session 'a' is earlier"):
        Sessions.of(make({**columns, "query": [1, 2], "time": [2.0, 1.0]}))


# -- Runs --------------------------------------------------------------------------------------------------------------


@together(
    ("text", "message", "hint"),
    [
        (b"a_1 Q0 d 1 1 t\n\na_3 Q0 d 1 1 t\n", "<bytes>:3: missing query 2 of session 'a' before query 3\n    a_3 Q0 d 1 1 t", GAPS),
        (b"a_1 Q0 d 1 1 t\n107 Q0 d 1 1 t\n", "<bytes>:2: expected a query id that consists of session, '_' and query number, found '107'\n    107 Q0 d 1 1 t", None),
        (b"a_0 Q0 d 1 1 t\n", "<bytes>:1: expected a query id that consists of session, '_' and query number, found 'a_0'\n    a_0 Q0 d 1 1 t", None),
        (b"_1 Q0 d 1 1 t\n", "<bytes>:1: expected a query id that consists of session, '_' and query number, found '_1'\n    _1 Q0 d 1 1 t", None),
        (b"a_x Q0 d 1 1 t\n", "<bytes>:1: expected a query id that consists of session, '_' and query number, found 'a_x'\n    a_x Q0 d 1 1 t", None),
        (b"a_1234567890123456789012 Q0 d 1 1 t\n", "<bytes>:1: expected a query id that consists of session, '_' and query number, found 'a_1234567890123456789012'\n    a_1234567890123456789012 Q0 d 1 1 t", None),
        (b"a_1 Q0 d 1 1 t\na_01 Q0 d 1 1 t\n", "<bytes>:1: duplicate query 1 of session 'a' (first: 'a_01')", FROM_ONE),
        (b"a_1 Q0 d 1 x t\n", "<bytes>:1: expected a number as score, found 'x'\n    a_1 Q0 d 1 x t", None),
        (b"", "<bytes>: expected at least one session, found an empty file", None),
        (b"\n# nothing\n", "<bytes>: expected at least one session, found an empty file", None),
    ],
)  # fmt: skip
def test_runs_that_cannot_be_right(text: bytes, message: str, hint: str | None) -> None:
    error = error_of(text)
    assert error.message == message
    if hint is not None:
        assert error.hint == hint


def test_another_separator_is_hinted_at() -> None:
    hint = error_of(b"a-1 Q0 d 1 1 t\n").hint
    assert hint == f"such as 106_1; {FROM_ONE}; choose a separator with --session-separator (separator= in Python)"
    assert Sessions.read(b"a-1 Q0 d 1 1 t\n", separator="-").ids == ["a"]


# -- Usage -------------------------------------------------------------------------------------------------------------


@together(
    ("how", "message"),
    [
        ({"gaps": "fill"}, r"gaps: expected error \| empty, found 'fill'"),
        ({"format": "letor"}, r"format: expected jsonl \| json \| tsv"),
        ({"separator": ""}, r"separator: expected a nonempty text, found ''"),
        ({"columns": {"subtopic": "x"}}, r"columns: expected session \| query \| query_id"),
        ({"size": 0}, r"size: expected at least 1 session, found 0"),
    ],
)
def test_wrong_usage(how: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sessions.read_parts(rows("a,1,1,d"), **how)


def test_bytes_that_are_no_text() -> None:
    assert "spreadsheet" in error_of(b"PK\x03\x04 ...").message
    assert "UTF-8" in error_of("session".encode("utf-16")).message
