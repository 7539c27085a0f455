# ruff: noqa: E501 - a case a line reads better
"""Errors for invalid sessions in JSON and XML, with their places."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from gainful import InputError, Sessions
from gainful.notation import printable
from tests.together import together

from .conftest import json_lines
from .session_samples import FROM_ONE, GAPS, RANKS, error_of, session

pytestmark = pytest.mark.usefixtures("core")

# -- JSON --------------------------------------------------------------------------------------------------------------


@together(
    ("value", "message", "hint"),
    [
        ({"session": "a", "querys": []}, "missing key queries; keys: session, querys", "is querys meant to be queries?"),
        ({"sesion": "a", "queries": []}, "missing key session; keys: sesion, queries", "is sesion meant to be session?"),
        (session({"query": "x", "result": []}), "queries[0]: missing key results; keys: query, result", "is result meant to be results?"),
        (session({"query": "x"}), "queries[0]: missing key results; keys: query", 'an empty result page is "results": []'),
        (session({"results": [{"docment": "d"}]}), "queries[0].results[0]: missing key document; keys: docment", "is docment meant to be document?"),
        (session(), "expected a list of at least one query, found []", None),
        (session({"results": ["d", ["e", 1]]}), "queries[0].results: expected results of one kind, found ids and lists", "results are ids, [id, score] pairs, or objects"),
        (session({"results": [{"id": "d"}, "e"]}), "queries[0].results: expected results of one kind, found objects and ids", "results are ids, [id, score] pairs, or objects"),
        (session({"results": [["d", 1, 2]]}), "queries[0].results[0]: expected [document, score], found [\"d\", 1, 2]", None),
        (session({"results": [["d", "high"]]}), "queries[0].results[0]: expected a finite number as score, found 'high'", None),
        (session({"results": [{"id": "d", "score": 1}, {"id": "e"}]}), "queries[0].results[1]: no score, but other results have one", None),
        (session({"results": [{"id": "d", "grade": "good"}]}), "queries[0].results[0]: expected a finite number as grade, found 'good'", None),
        (session({"results": [{"id": "d", "rank": 1}, {"id": "e", "rank": 1}]}), "queries[0].results[1]: duplicate rank 1 in the list (first: <bytes>:1: queries[0].results[0])", RANKS),
        (session({"results": [{"id": "d", "rank": 1}, {"id": "e", "rank": 3}]}), "queries[0].results[1]: missing rank 2 in the list before rank 3", RANKS),
        (session({"results": [{"id": "d", "rank": 0}]}), "queries[0].results[0]: missing rank 1 in the list before rank 0", RANKS),
        (session({"results": "d"}), "queries[0].results: expected a list of results, found 'd'", None),
        (session({"results": ["d", 1.5]}), "queries[0].results[1]: expected a text, bytes or an integer as id, found 1.5", None),
        (session({"results": ["d", None]}), "queries[0].results[1]: expected a text or an integer as id, found null", None),
        (session({"results": []}, session=True), "session: expected a text or an integer as id, found true", None),
        (session({"results": ["d", ""]}), "queries[0].results[1]: expected an id, found an empty one", None),
        (session({"results": [{"id": None}]}), "queries[0].results[0]: document: expected a text or an integer as id, found null", None),
        (session(["d"]), "queries[0]: expected an object with query and results, found [\"d\"]", None),
        (session({"query": 7, "results": []}), "queries[0].query: expected a text, found 7", None),
        (session({"results": ["d"]}, {"results": [["d", 1]]}), "queries[1]: results with scores, unlike those of <bytes>:1: queries[0]", None),
        (session({"number": 1, "results": []}, {"number": 3, "results": []}), "queries[1]: missing query 2 of session 'a' before query 3", GAPS),
        (session({"number": 1, "results": []}, {"number": 1, "results": []}), "queries[1]: duplicate query 1 of session 'a' (first: <bytes>:1: queries[0])", FROM_ONE),
        (session({"number": 1, "results": []}, {"results": []}), "queries[1]: no number, but other queries have one", None),
        (session({"number": 0, "results": []}), "queries[0].number: expected a whole number from 1 to 1,000,000, found 0", FROM_ONE),
        (session({"scanned": 1.5, "results": []}), "queries[0].scanned: expected a whole number from 0 to 9,007,199,254,740,992, found 1.5", None),
        (session({"scanned": 1e300, "results": []}), "queries[0].scanned: expected a whole number from 0 to 9,007,199,254,740,992, found 1e+300", None),
        (session({"scanned": 99999999999999999999, "results": []}), "queries[0].scanned: expected a whole number from 0 to 9,007,199,254,740,992, found 99999999999999999999", None),
        (session({"scanned": True, "results": []}), "queries[0].scanned: expected a whole number from 0 to 9,007,199,254,740,992, found true", None),
        (session({"time": 5, "results": []}, {"time": "4.5", "results": []}), "queries[1].time: time 4.5 of session 'a' is earlier than 5 (<bytes>:1: queries[0].time)", None),
        (session({"time": 5, "results": [{"id": "d", "time": 4}]}), "queries[0].results[0].time: time 4 of session 'a' is earlier than 5 (<bytes>:1: queries[0].time)", None),
        (session({"results": [{"id": "d", "time": 9}, {"id": "e", "time": 8}]}), "queries[0].results[1].time: time 8 of session 'a' is earlier than 9 (<bytes>:1: queries[0].results[0].time)", None),
        (session({"time": "soon", "results": []}), "queries[0].time: expected seconds or a date and time, found 'soon'", "use a notation such as 99.5 or 2024-05-01T10:15:00Z"),
        (session({"results": []}, ratings=4), "ratings: expected an object of numbers, found 4", None),
        (session({"results": []}, ratings={"joy": "much"}), "ratings: expected a finite number as joy, found 'much'", None),
        (session({"id": "q", "results": []}, {"id": "q", "results": []}), "queries[1]: duplicate query id 'q' (first: <bytes>:1: queries[0])", None),
        (session({"results": []}, {"id": "a_1", "results": []}), "queries[1]: duplicate query id 'a_1' (first: <bytes>:1: queries[0])", "a query without an id is identified by its session and number"),
        (session({"results": []}, session=1.5), "session: expected a text, bytes or an integer as id, found 1.5", None),
        ({"session": "a", "session_id": "b", "session-id": "c", "queries": [{"results": []}]}, "several columns for session: session_id and session-id", None),
        (7, "expected an object with session and queries, found 7", None),
    ],
)  # fmt: skip
def test_objects_that_cannot_be_right(value: Any, message: str, hint: str | None) -> None:
    text = json_lines([value])
    error = error_of(text, format="jsonl")
    assert error.message == f"<bytes>:1: {message}\n    {printable(text.strip(), 120)}"
    if hint is not None:
        assert error.hint == hint


@together("size", [1, 10])
def test_a_session_may_not_come_twice(size: int) -> None:
    text = json_lines([session({"results": []}), session({"results": []}, session="b"), session({"results": []})])
    with pytest.raises(InputError) as caught:
        list(Sessions.read_parts(text, size=size))
    assert caught.value.message == (
        "<bytes>:3: duplicate session 'a' (first: <bytes>:1)\n    "
        + json_lines([session({"results": []})]).decode().strip()
    )
    assert caught.value.hint == "if several systems share session ids, use one file per system"


def test_a_session_of_a_list_may_not_come_twice() -> None:
    values = [session({"results": []}), session({"results": []})]
    for given in (values, iter(values)):
        with pytest.raises(InputError, match=r"^<list>\[1\]: duplicate session 'a' \(first: <list>\[0\]\)\nhint"):
            Sessions.of(given)


@together("size", [1, 10])
def test_all_bad_lines_are_named_up_to_three(size: int) -> None:
    bad = [session({"results": [], "scanned": -i}, session=f"s{i}") for i in range(1, 13)]
    lines = [session({"results": []}), *bad[:1], session({"results": []}, session="b"), *bad[1:]]
    text = json_lines(lines) + b'{"session": }\n'
    with pytest.raises(InputError) as caught:
        list(Sessions.read_parts(text, size=size))
    said = caught.value.message.split("\n")
    assert len(said) == 7
    assert said[0].startswith("<bytes>:2: queries[0].scanned: expected a whole number from 0")
    assert said[1] == f"    {json.dumps(bad[0])}"
    assert said[2].startswith("<bytes>:4: ")
    assert said[-1] == "... and 10 more like these"


def test_bad_lines_of_several_kinds() -> None:
    text = b'{"session": "a", "queries": []}\n\n7\n{"session": }\n'
    assert error_of(text, format="jsonl").message == (
        '<bytes>:1: expected a list of at least one query, found []\n    {"session": "a", "queries": []}\n'
        "<bytes>:3: expected an object with session and queries, found 7\n    7\n"
        '<bytes>:4: expected JSON, found expecting value at column 13\n    {"session": }'
    )


@together(
    ("query", "hint"),
    [
        ({"query_id": "q", "results": []}, "did you mean id? Keys that resemble none of these are ignored"),
        ({"Results": [], "results": [], "ID": "q"}, "did you mean id? Keys that resemble none of these are ignored"),
        ({"result": []}, "is result meant to be results?"),
        ({"docs": []}, "is docs meant to be results?"),
        ({"timestamp": 5, "results": []}, "did you mean time? Keys that resemble none of these are ignored"),
    ],
)
def test_keys_that_nearly_are_known_ones(query: dict[str, Any], hint: str) -> None:
    error = error_of(json_lines([session(query)]))
    assert error.message.startswith(("<bytes>:1: queries[0]: unknown key ", "<bytes>:1: queries[0]: missing key "))
    assert error.hint == hint


def test_other_keys_may_be_anything() -> None:
    query = {
        "id": "q",
        "query_id": "r",
        "title": "t",
        "tool": "search",
        "text": "x",
        "results": [{"id": "d", "ranks": 1}],
    }
    found = Sessions.of([{**session(query), "start": 1, "system_prompt": "x"}])
    assert found.lists.queries == ["q"]
    with pytest.raises(InputError, match=r"did you mean ratings\?"):
        Sessions.of([{**session(query), "rating": {"joy": 1}}])


@together("size", [1, 10])
def test_scores_for_all_or_none_in_all_parts(size: int) -> None:
    text = json_lines([session({"results": [["d", 1]]}), session({"results": ["d"]}, session="b")])
    with pytest.raises(InputError, match=r"^<bytes>:2: queries\[0\]: results without scores, unlike"):
        list(Sessions.read_parts(text, size=size))


def test_places_in_lists_of_python_and_json() -> None:
    values = [session({"results": []}), session({"result": []}, session="b")]
    with pytest.raises(InputError, match=r"^<list>\[1\]: queries\[0\]: missing key results"):
        Sessions.of(values)
    assert error_of(json.dumps(values).encode()).message.startswith("<bytes>[1]: queries[0]: missing key results")
    assert error_of(b"[]").message == "<bytes>: no sessions"


def test_text_that_is_no_json() -> None:
    good = json_lines([session({"results": []})])
    assert error_of(good + b'{"session": }\n').message.startswith(
        "<bytes>:2: expected JSON, found expecting value at column 13"
    )
    assert error_of(b'{"session": "a", "session": "b", "queries": []}\n').message == (
        "<bytes>:1: expected JSON, found duplicate key 'session' in one object\n"
        '    {"session": "a", "session": "b", "queries": []}'
    )


def test_json_that_ends_too_early() -> None:
    for text in (b'[{"session": "a"\n', b'{"session": "a"\n\n  '):
        line = text.split(b"\n")[0]
        assert error_of(text).message == (
            f"<bytes>:1: expected JSON, found the end of the text at column {len(line) + 1}\n    {line.decode()}"
        )
    assert error_of(b'[{"session": "a"},\n{"session":\n\n').message == (
        '<bytes>:2: expected JSON, found the end of the text at column 12\n    {"session":'
    )


@together("text", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000])
@together("format_", [None, "json", "jsonl"])
def test_json_that_is_too_deep(text: bytes, format_: str | None) -> None:
    assert re.match(
        r"<bytes>(:1)?: expected JSON, found values nested too deeply to read", error_of(text, format=format_).message
    )


def test_values_within_values_are_never_a_crash() -> None:
    for depth in range(100, 1100, 9):
        deep = b"[" * depth + b"]" * depth
        assert error_of(b'{"session": "a", "queries": %b}' % deep).message.startswith("<bytes>:1: "), depth
        assert error_of(deep, format="jsonl").message.startswith("<bytes>:1: "), depth
        assert error_of(deep).message.startswith("<bytes>"), depth


# -- XML ---------------------------------------------------------------------------------------------------------------


def log(*lines: str) -> bytes:
    return "\n".join(["<log>", *lines, "</log>"]).encode()


def interaction(number: str, *results: str, time: str = "1") -> str:
    return f'<interaction num="{number}" starttime="{time}"><results>' + "\n".join(results) + "</results></interaction>"


def result(rank: int | str, document: str = "<clueweb12id>d</clueweb12id>") -> str:
    return f'<result rank="{rank}">{document}</result>'


@together(
    ("lines", "message", "hint"),
    [
        (['<session num="a">', interaction("1"), interaction("3"), "</session>"], "<bytes>:4: missing query 2 of session 'a' before query 3", GAPS),
        (['<session num="a">', interaction("1"), interaction("1"), "</session>"], "<bytes>:4: duplicate query 1 of session 'a' (first: <bytes>:3)", FROM_ONE),
        (['<session num="a">', interaction("1", time="5"), interaction("2", time="4.5"), "</session>"], "<bytes>:4: time 4.5 of session 'a' is earlier than 5 (<bytes>:3)", None),
        (['<session num="a">', interaction("1", time="x"), "</session>"], "<bytes>:3: expected seconds or a date and time, found 'x'", None),
        (['<session num="a">', interaction("0"), "</session>"], "<bytes>:3: expected a whole number from 1 as interaction, found '0'", FROM_ONE),
        (['<session num="a">', interaction("1", result(1), result(1)), "</session>"], "<bytes>:4: duplicate rank 1 in the list (first: <bytes>:3)", RANKS),
        (['<session num="a">', interaction("1", result(1), result(3)), "</session>"], "<bytes>:4: missing rank 2 in the list before rank 3", RANKS),
        (['<session num="a">', interaction("1", result("x")), "</session>"], "<bytes>:3: expected a whole number from 1 as rank, found 'x'", None),
        (['<session num="a">', interaction("1", result(1, "<title>t</title>")), "</session>"], "<bytes>:3: this result has neither an id (clueweb12id) nor a url", None),
        (['<session num="a">', "</session>"], "<bytes>:2: session 'a' has no interaction", None),
        (["<session>", interaction("1"), "</session>"], "<bytes>:2: <session> has no attribute num", None),
        (["<other/>"], "<bytes>: the XML contains no sessions", None),
        (['<session num="a">', "<interaction>", "</session>"], "<bytes>:4: expected XML, found mismatched tag at column 3\n    </session>", None),
        (['<session num="a">', interaction("1"), "</session>"] * 2, "<bytes>:5: duplicate session 'a' (first: <bytes>:2)", None),
    ],
)  # fmt: skip
def test_logs_that_cannot_be_right(lines: list[str], message: str, hint: str | None) -> None:
    error = error_of(log(*lines))
    place = re.match(r"<bytes>:(\d+): ", message)
    if place and "\n" not in message and "duplicate session" not in message:
        message += "\n    " + printable(log(*lines).split(b"\n")[int(place[1]) - 1], 120)
    assert error.message == message
    if hint is not None:
        assert error.hint == hint


def test_all_bad_sessions_of_a_log_are_named_up_to_three() -> None:
    bad = [f'<session num="{i}">{interaction("2")}</session>' for i in range(12)]
    said = error_of(log(f'<session num="a">{interaction("1")}</session>', *bad)).message.split("\n")
    assert said[0] == "<bytes>:3: missing query 1 of session '0' before query 2"
    assert said[1] == f"    {bad[0]}"
    assert said[2].startswith("<bytes>:4: missing query 1 of session '1'")
    assert said[-1] == "... and 9 more like these"
    assert len(said) == 7


@together("lines", [["<interaction>"], [interaction("2")]])
def test_logs_whose_lines_end_in_cr_alone(lines: list[str]) -> None:
    text = log('<session num="a">', *lines, "</session>").replace(b"\n", b"\r")
    assert re.match(r"<bytes>:[34]: (expected|missing) ", error_of(text).message)


def test_documents_of_other_logs() -> None:
    lines = [
        result(2, "<url>http://u</url><clueweb09id> d2 </clueweb09id>"),
        result(1, "<clueweb12id></clueweb12id><url>http://v</url>"),
    ]
    found = Sessions.read(
        log('<session num="1" userid="u7">', interaction("1", *lines, time="12:55:53.25"), "</session>")
    )
    assert [found.lists.document(row) for row in range(2)] == [b"http://v", b"d2"]
    assert (found.users, found.topics) == (("u7",), ())


@together("encoding", ["foo", "gb2312", "idna"])
def test_logs_in_an_encoding_that_cannot_be_read(encoding: str) -> None:
    line = f'<?xml version="1.0" encoding="{encoding}"?>'
    error = error_of(f"{line}\n<s/>".encode())
    assert error.message == f"<bytes>: expected XML in a supported encoding, found another\n    {line}"
    assert error.hint == "convert it to UTF-8"


def test_entities_from_elsewhere_are_not_followed() -> None:
    text = b'<!DOCTYPE log [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + log(
        '<session num="a">', interaction("1", result(1, "<url>u&x;</url>")), "</session>"
    )
    assert Sessions.read(text).lists.document(0) == b"u"
