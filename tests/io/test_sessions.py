"""The same sessions from every format, whatever the order of rows."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gainful import InputError, Run, Sessions, UsageError
from gainful.io.columns import SESSION_SIDES, columns_by_side
from gainful.io.records import read_ratings
from tests.together import together

from .conftest import json_lines, table
from .session_samples import (
    HEADER,
    Plain,
    in_byte_order,
    log_of,
    objects_of,
    plain_of,
    rows_of,
    run_of,
    sample,
    shuffled,
)

pytestmark = pytest.mark.usefixtures("core")

# -- The same sessions, whatever they are written in -------------------------------------------------------------------


def texts_of(sessions: Plain) -> dict[str, bytes]:
    rows, objects = rows_of(sessions), objects_of(sessions)
    numbered = [
        {**each, "queries": shuffled([{**q, "number": i} for i, q in enumerate(each["queries"], 1)])}
        for each in objects
    ]

    def with_results(make: Any) -> list[dict[str, Any]]:
        return [{**each, "queries": [{"results": make(q["results"])} for q in each["queries"]]} for each in objects]

    return {
        "jsonl": json_lines(objects),
        "jsonl with comments and a mark": b"\xef\xbb\xbf# sessions\n\n" + json_lines(objects).rstrip(b"\n"),
        "jsonl, numbered": json_lines(numbered),
        "json": json.dumps(objects).encode(),
        "json, pretty": json.dumps(objects, indent=1).encode(),
        "jsonl, pairs": json_lines(with_results(lambda docs: [[d, -i] for i, d in enumerate(docs)])),
        "jsonl, dicts": json_lines(with_results(lambda docs: {d: -i for i, d in enumerate(docs)})),
        "jsonl, objects": json_lines(
            with_results(lambda docs: [{"document": d, "grade": 1, "title": "t"} for d in docs])
        ),
        "jsonl, ranked objects": json_lines(
            with_results(lambda docs: shuffled([{"id": d, "rank": i, "url": "u"} for i, d in enumerate(docs, 1)]))
        ),
        "csv": table(rows, HEADER, ","),
        "csv, no documents on empty pages": table([(s, n, r, d if r else "") for s, n, r, d in rows], HEADER, ","),
        "tsv, shuffled": table(shuffled(rows), ["SessionID", "Qno", "rank", "URL"], "\t"),
        "csv, semicolons, CRLF": table(
            [(d, "x", n, r, s) for s, n, r, d in rows],
            ["doc", "", "turn", "Rank", "Session ID"],
            ";",
            lineterminator="\r\n",
        ),
        "csv, scores alone": table(
            [
                (s, n, d, "" if r == 0 else -r)
                for s, n, r, d in shuffled([row for row in rows if row[3] != "-" or not row[2]])
            ],
            ["session", "query_number", "docno", "score"],
            ",",
        ),
    }


@together("kind", texts_of({}))
def test_sessions_in_any_format(kind: str) -> None:
    sessions = sample(hard=True)
    if kind == "csv, scores alone":  # where - is an empty page, as there is no rank to tell
        sessions = {s: [[d for d in docs if d != "-"] for docs in lists] for s, lists in sessions.items()}
    found = Sessions.read(texts_of(sessions)[kind])
    assert plain_of(found) == sessions
    assert found.ids == in_byte_order(sessions)
    assert found.lists.queries == [f"{s}_{n}" for s in found.ids for n in range(1, len(sessions[s]) + 1)]


@together("format_", [None, "xml"])
def test_the_log_of_the_session_track(format_: str | None) -> None:
    sessions = sample()
    found = Sessions.read(log_of(sessions), format=format_)
    assert plain_of(found) == sessions
    assert found.ids == in_byte_order(sessions)
    assert set(found.topics) == {b"7"}
    assert set(found.texts) == {"q"}
    assert found.lists.queries == [f"{s}_{n}" for s in found.ids for n in range(1, len(sessions[s]) + 1)]


@together("separator", ["_", "/", "::"])
def test_runs_whose_queries_are_session_and_turn(separator: str) -> None:
    sessions = sample()
    found = Sessions.read(run_of(sessions, separator), separator=separator, gaps="empty")
    assert plain_of(found) == sessions
    assert found.ids == in_byte_order(sessions)
    assert found.lists.queries == [f"{s}{separator}{n}" for s in found.ids for n in range(1, len(sessions[s]) + 1)]
    full = {session: [docs for docs in lists if docs] for session, lists in sessions.items()}
    assert plain_of(Sessions.read(run_of(full, separator), separator=separator)) == full


def test_turns_keep_the_ids_that_a_run_gives_them() -> None:
    found = Sessions.read(b"a_02 Q0 d2 1 1 t\na_01 Q0 d1 1 1 t\na_4 Q0 d4 1 1 t\n", gaps="empty")
    assert found.lists.queries == ["a_01", "a_02", "a_3", "a_4"]
    assert plain_of(found) == {"a": [["d1"], ["d2"], [], ["d4"]]}


@together(
    "text",
    [
        b'{"query": "a_1", "results": ["d2", "d1"]}\n{"query": "a_2", "results": ["d3"]}\n',
        b'[{"query": "a_1", "results": ["d2", "d1"]}, {"query": "a_2", "results": ["d3"]}]',
        b'{"a_1": ["d2", "d1"], "a_2": ["d3"]}',
        b'{"a_1": {"d2": 2, "d1": 1},\n "a_2": {"d3": 1}}',
        b"qid,docno,score\na_1,d1,1\na_2,d3,2\na_1,d2,7\n",
        b"a_1 d2 1\na_1 d1 2\na_2 d3 1\n",
        b'{"qid": "a_1", "docno": "d2", "score": 4}\n{"qid": "a_1", "docno": "d1", "score": 1}\n'
        b'{"qid": "a_2", "docno": "d3", "score": 4}\n',
    ],
)
def test_runs_of_any_format(text: bytes) -> None:
    assert plain_of(Sessions.read(text)) == {"a": [["d2", "d1"], ["d3"]]}


def test_columns_on_the_command_line() -> None:
    text = "session=SessionID, query=Qno,rank=rank,doc=URL,qrels.query=SessionID,sessions.grade=g"
    assert columns_by_side(text, SESSION_SIDES) == {
        "qrels": {"query": "SessionID"},
        "sessions": {"session": "SessionID", "query": "Qno", "rank": "rank", "document": "URL", "grade": "g"},
    }
    for wrong in ("session", "subtopic=x", "run.query=x", "qrels.session=x"):
        with pytest.raises(UsageError, match="--columns: expected"):
            columns_by_side(wrong, SESSION_SIDES)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.text("ab_1é", min_size=1, max_size=3),
        st.lists(st.lists(st.text("dx-", min_size=1, max_size=2), max_size=4, unique=True), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_rows_in_any_order(sessions: Plain, chance: random.Random) -> None:
    rows = rows_of(sessions)
    chance.shuffle(rows)
    found = Sessions.read(table(rows, HEADER, "\t"))
    assert plain_of(found) == sessions
    assert found.ids == in_byte_order(sessions)
    # Where each row stands is known after all the sorting, too.
    if found.lists.origin is not None and len(found.lists):
        line = int(found.lists.origin.place(len(found.lists) - 1).removeprefix("line "))
        assert rows[line - 2][3].encode() == found.lists.document(len(found.lists) - 1)


# -- What else sessions tell -------------------------------------------------------------------------------------------

FULL = [
    {
        "session": "s2",
        "topic": 22,
        "user": "u1",
        "system": "A",
        "ratings": {"satisfaction": 4, "effort": None},
        "queries": [
            {"query": "port arthur", "id": "t7", "time": "2024-05-01T10:00:00Z", "scanned": 3, "results": ["d1", "d2"]},
            {"query": "port arthur texas", "time": "2024-05-01T10:00:59+00:00", "results": []},
        ],
        "anything": {"else": "is ignored"},
    },
    {"session": "s1", "ratings": {"effort": 1.5}, "queries": [{"results": ["d2"]}]},
]


@together("size", [1, 2])
def test_all_that_json_can_tell(size: int) -> None:
    parts = list(Sessions.read_parts(json_lines(FULL), size=size))
    assert [part.ids for part in parts] == ([["s2"], ["s1"]] if size == 1 else [["s1", "s2"]])
    for found in (Sessions.read(json_lines(FULL)), Sessions.of(FULL), Sessions.of(iter(FULL))):
        assert found.ids == ["s1", "s2"]
        assert found.lists.queries == ["s1_1", "t7", "s2_2"]
        assert (found.topics, found.users, found.systems) == ((None, b"22"), (None, "u1"), (None, "A"))
        assert found.texts == ("", "port arthur", "port arthur texas")
        assert found.scanned.tolist() == [-1, 3, -1]
        assert {name: [repr(v) for v in values.tolist()] for name, values in found.ratings.items()} == {
            "effort": ["1.5", "nan"],
            "satisfaction": ["nan", "4.0"],
        }


def test_missing_columns_are_empty() -> None:
    found = Sessions.of({"session": "s", "queries": [{"results": ["d"]}]})
    assert (found.topics, found.users, found.systems, found.texts, dict(found.ratings)) == ((), (), (), (), {})
    assert (found.grade.size, found.scanned.size, found.lists.score.size) == (0, 0, 0)


def test_grades_of_appearances_and_scores() -> None:
    results = [{"doc": "d1", "score": 1, "grade": 2}, {"doc_id": "d2", "score": 2.5}, {"id": 3, "score": 0, "rel": -1}]
    queries = [{"results": results}, {"results": []}, {"results": [["d1", 9]]}]
    found = Sessions.of([{"session": "s", "queries": queries}])
    np.testing.assert_array_equal(found.grade, [2, np.nan, -1, np.nan])
    assert found.lists.score.tolist() == [1, 2.5, 0, 9]
    assert plain_of(found) == {"s": [["d2", "d1", "3"], [], ["d1"]]}


def test_a_table_tells_as_much() -> None:
    header = [*HEADER, "topic", "user", "system", "score", "grade", "scanned", "time"]
    rows = [
        ("s", 2, 2, "d3", "22", "u", "A", 1, "", "", "2024-05-01T10:00:02"),
        ("s", 2, 1, "d1", "22", "", "A", 2, 3, 5, "2024-05-01T10:00:01"),
        ("s", 1, 0, "-", "", "", "A", "", "", 0, ""),
        ("r", 1, 1, "d9", "", "", "B", 0.5, 0.25, "", "1e9"),
    ]
    found = Sessions.read(table(rows, header, ","))
    assert (found.ids, found.topics, found.users, found.systems) == (["r", "s"], (None, b"22"), (None, "u"), ("B", "A"))
    np.testing.assert_array_equal(found.grade, [0.25, 3, np.nan])
    assert (found.scanned.tolist(), found.lists.score.tolist()) == ([-1, 0, 5], [0.5, 2, 1])


def test_missing_queries_can_be_empty_pages() -> None:
    expected = {"s": [[], ["d1"], [], ["d2"]], "t": [["d"]]}
    rows = [("s", 4, 1, "d2"), ("t", 1, 1, "d"), ("s", 2, 1, "d1")]
    objects = [
        {"session": "s", "queries": [{"number": 4, "results": ["d2"]}, {"number": 2, "results": ["d1"]}]},
        {"session": "t", "queries": [{"results": ["d"]}]},
    ]
    log = log_of({"s": [["d1"], ["d2"]], "t": [["d"]]}).replace(b'n num="2"', b'n num="4"')
    log = log.replace(b'n num="1" starttime="1.5"', b'n num="2" starttime="1.5"', 1)
    for text in (
        table(rows, HEADER, ","),
        json_lines(objects),
        b"s_4 Q0 d2 1 1 t\ns_2 Q0 d1 1 1 t\nt_1 Q0 d 1 1 t\n",
        log,
    ):
        found = Sessions.read(text, gaps="empty")
        assert plain_of(found) == expected
        assert found.lists.queries == ["s_1", "s_2", "s_3", "s_4", "t_1"]


# -- Parts, selections, systems ----------------------------------------------------------------------------------------


@together("kind", ["jsonl", "tsv, shuffled", "xml"])
@together("size", [1, 3, 100])
def test_parts_are_the_whole(kind: str, size: int) -> None:
    sessions = sample()
    text = log_of(sessions) if kind == "xml" else texts_of(sessions)[kind]
    parts = list(Sessions.read_parts(text, size=size))
    assert all(len(part) <= size for part in parts)
    assert len(parts) == -(-len(sessions) // size)
    together: Plain = {}
    for part in parts:
        assert part.ids == in_byte_order(plain_of(part))
        together |= plain_of(part)
    assert together == sessions


def test_only_one_part_is_held() -> None:
    lines = json_lines(objects_of({f"s{i}": [["d"]] for i in range(500)})) + b"{ this is no JSON\n"
    parts = Sessions.read_parts(lines, size=100)
    # What is wrong at the end is not met before the end.
    assert [len(next(parts)) for _ in range(5)] == [100] * 5
    with pytest.raises(ValueError, match=":501: expected JSON"):
        next(parts)


def test_select_and_part() -> None:
    sessions = sample()
    found = Sessions.of([{**each, "topic": f"t-{each['session']}"} for each in objects_of(sessions)])
    some = found.select(["s10", "S", b"s"])
    assert plain_of(some) == {s: sessions[s] for s in ("S", "s", "s10")}
    assert (some.topics, some.ids) == ((b"t-S", b"t-s", b"t-s10"), ["S", "s", "s10"])
    assert some.texts == tuple(f"q{i}" for s in some.ids for i in range(len(sessions[s])))
    assert found.part(1, 3).ids == found.ids[1:3]
    with pytest.raises(UsageError, match=r"<list>: 1 session not found, such as 'nope'"):
        found.select(["s", "nope"])
    with pytest.raises(UsageError, match="expected several sessions"):
        found.select("s")


def test_systems() -> None:
    objects = objects_of(sample())
    found = Sessions.of([{**each, "system": "BA"[i % 2]} for i, each in enumerate(objects)]).split_by_system()
    assert list(found) == ["A", "B"]
    assert [each.name for each in found.values()] == ["A", "B"]
    assert sorted(found["A"].ids) == sorted(each["session"] for each in objects[1::2])
    assert plain_of(found["B"]) == {s: lists for i, (s, lists) in enumerate(sample().items()) if i % 2 == 0}
    alone = Sessions.of(objects)
    assert alone.split_by_system() == {"<list>": alone}
    objects[0]["system"] = "A"
    with pytest.raises(ValueError, match=r"<list>: session 'S' has no system, but other sessions have one"):
        Sessions.of(objects).split_by_system()


def test_sessions_from_files_and_themselves(tmp_path: Path) -> None:
    sessions = sample()
    path = tmp_path / "sessions.jsonl.gz"
    path.write_bytes(gzip.compress(json_lines(objects_of(sessions))))
    found = Sessions.of(path)
    assert plain_of(found) == sessions
    assert found.name == str(path)
    assert Sessions.of(found) is found
    run = Run.from_dict({"a_2": ["d2"], "a_1": [], "b_1": ["d3", "d1"]})
    assert plain_of(Sessions.of(run)) == {"a": [[], ["d2"]], "b": [["d3", "d1"]]}
    with pytest.raises(UsageError, match="expected a path, bytes"):
        Sessions.of(7)
    with pytest.raises(ValueError, match="no such file"):
        Sessions.read(tmp_path / "nothing")


# -- Ratings -----------------------------------------------------------------------------------------------------------


def test_ratings() -> None:
    text = b"SessionID\tUser\tPerformance\n22\tS05\t3\n23\tS05\t\n7\tS05\t4.5\n"
    assert read_ratings(text, "Performance") == {"22": 3, "7": 4.5}
    assert read_ratings(text.replace(b"\t", b";"), "Performance", "SessionID") == {"22": 3, "7": 4.5}


@together(
    ("column", "session", "text", "message"),
    [
        ("Level", None, b"SessionID,Perf\n1,2\n", "ratings: no column 'Level' for rating; columns: SessionID, Perf"),
        ("Perf", None, b"visit,Perf\n1,2\n", r"ratings: no column for session \(.*\); columns: visit, Perf"),
        ("Perf", "sid", b"visit,Perf\n1,2\n", "ratings: no column 'sid' for session; columns: visit, Perf"),
        ("Perf", None, b"session,Perf\n1,good\n", "ratings:2: Perf: expected a number, found 'good'"),
        ("Perf", None, b"session,Perf\na,2\nb,1\na,2\n", "ratings:4: duplicate session 'a'"),
        ("Perf", None, b"session,Perf\na,\n", "ratings: no ratings in column 'Perf'"),
    ],
)
def test_ratings_that_cannot_be_read(column: str, session: str | None, text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_ratings(text, column, session)


def test_queries_of_a_table_may_have_ids_of_their_own() -> None:
    text = b"session,query,rank,document,query_id\ns,2,1,d,x\ns,1,1,e,\ns,1,2,f,y\nr,1,1,d,\n"
    assert Sessions.read(text).lists.queries == ["r_1", "y", "x"]
    named = text.replace(b"query_id", b"Turn")
    assert Sessions.read(named, columns={"query_id": "Turn", "query": "query"}).lists.queries == ["r_1", "y", "x"]
    frame = pd.DataFrame({"session": ["s", "s"], "query": [1, 2], "rank": [1, 1], "doc": ["d", "e"], "turn_id": [7, 8]})
    assert Sessions.of(frame).lists.queries == ["7", "8"]


@pytest.mark.parametrize("kind", ["jsonl", "xml"])
def test_files_that_are_read_in_many_steps(kind: str, tmp_path: Path) -> None:
    count, long = 250, "x" * 150
    plain = {f"s{i:05d}": [[f"{long}-{i}-{q}-{r}" for r in range(10)] for q in range(4)] for i in range(count)}
    text = log_of(plain) if kind == "xml" else json_lines(objects_of(plain))
    assert len(text) > 1_500_000
    file = tmp_path / f"log.{kind}"
    file.write_bytes(text)
    found = Sessions.read(file)
    assert plain_of(found) == plain
    again = text.replace(f"s{count - 1:05d}".encode(), b"s00000")
    file.write_bytes(again)
    with pytest.raises(InputError, match=rf"log.{kind}:\d+: duplicate session 's00000' \(first: .*log.{kind}:[123]\)"):
        Sessions.read(file)
