"""Sessions from logs: query numbers from times, repeated queries, judgments by text, gaps."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from gainful import InputError, Sessions, evaluate_sessions
from gainful.errors import GainfulWarning, UsageError
from tests.together import together

#: Who asked what when (minutes), and what was shown: one query is asked again within its session.
EVENTS = [
    ("s1", 0, "harbour silt", ["d1", "d2", "d3"]),
    ("s1", 1, "dredging", ["d4"]),
    ("s1", 5, "harbour silt", ["d2", "d1"]),
    ("s2", 2, "night trains", ["d5", "d6"]),
]
START = 1_700_000_000
EXPECTED = {
    "s1": [("harbour silt", ["d1", "d2", "d3"]), ("dredging", ["d4"]), ("harbour silt", ["d2", "d1"])],
    "s2": [("night trains", ["d5", "d6"])],
}


def iso(minutes: float) -> str:
    return datetime.fromtimestamp(START + 60 * minutes, UTC).isoformat()


def found(sessions: Sessions) -> dict[str, list[tuple[str, list[str]]]]:
    """The queries of every session with their texts and documents."""
    lists, by_session = sessions.lists, {}
    for i, session in enumerate(sessions.ids):
        by_session[session] = [
            (
                sessions.texts[turn],
                [lists.document(row).decode() for row in range(*lists.list_offsets[turn : turn + 2].tolist())],
            )
            for turn in range(*sessions.turn_offsets[i : i + 2].tolist())
        ]
    return by_session


def table(header: str, rows: list[list[object]], separator: str = ",") -> bytes:
    lines = [header.replace(",", separator), *(separator.join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def by_document(time: Callable[[float], object]) -> list[list[object]]:
    rows = [
        [session, time(minutes), text, document, rank]
        for session, minutes, text, documents in EVENTS
        for rank, document in enumerate(documents, 1)
    ]
    return rows[::-1]  # a log need not be in order


def by_query(between: str) -> list[list[object]]:
    return [[session, iso(minutes), text, between.join(documents)] for session, minutes, text, documents in EVENTS]


def json_lines(*names: str) -> bytes:
    return b"".join(
        json.dumps(dict(zip(names, (s, iso(m), text, documents), strict=True))).encode() + b"\n"
        for s, m, text, documents in EVENTS
    )


def milliseconds(minutes: float) -> int:
    return 1000 * (START + int(60 * minutes))


@pytest.mark.usefixtures("core")
@together(
    "text",
    [
        table("session_id,timestamp,query,url,position", by_document(iso)),
        table("sid,ts,query_text,doc,rank", by_document(milliseconds), "\t"),
        table("session,date,keywords,item_id,pos", by_document(lambda minutes: START + 60 * minutes), ";"),
        table("session,time,query,results", by_query(" ")),
        table("session,time,q,docs", by_query("|")),
        table("session,time,q,document", by_query(" ")),
        json_lines("session", "time", "query", "results"),
        json_lines("sid", "timestamp", "text", "clicked"),
        b"[" + b",".join(json_lines("session", "time", "query", "docs").splitlines()) + b"]",
    ],
)
def test_logs_that_people_have(text: bytes) -> None:
    assert found(Sessions.read(text)) == EXPECTED


def test_events_in_python() -> None:
    names = ("session", "time", "query", "results")
    events = [dict(zip(names, (s, 60.0 * m, text, shown), strict=True)) for s, m, text, shown in EVENTS]
    assert found(Sessions.of(events)) == EXPECTED


def test_the_log_of_a_search_engine() -> None:
    text = (
        b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
        b"7\told maps\t2006-03-01 07:17:12\t2\thttp://a\n"
        b"7\told maps\t2006-03-01 07:18:00\t1\thttp://b\n"
        b"7\tnight trains\t2006-03-01 11:00:00\t\t\n"
    )
    assert found(Sessions.read(text, session_gap="30m")) == {
        "7/1": [("old maps", ["http://b", "http://a"])],
        "7/2": [("night trains", [])],
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_logs_in_frames(make: Any) -> None:
    rows = by_document(iso)
    names = ("session", "time", "query", "document", "rank")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    assert found(Sessions.of(make(columns))) == EXPECTED
    moments = [datetime.fromisoformat(str(time)) for time in columns["time"]]
    assert found(Sessions.of(make({**columns, "time": moments}))) == EXPECTED
    by_user = make({"user": columns.pop("session"), **columns, "time": moments})
    assert list(found(Sessions.from_frame(by_user, session_gap="3m"))) == ["s1/1", "s1/2", "s2/1"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_and_parquet_with_lists_in_cells(make: Any, tmp_path: Path) -> None:
    sessions, minutes, texts, shown = (list(column) for column in zip(*EVENTS, strict=True))
    times = [datetime.fromtimestamp(START + 60 * minute, UTC) for minute in minutes]
    frame = make({"session": sessions, "time": times, "query": texts, "results": shown})
    assert found(Sessions.of(frame)) == EXPECTED
    path = tmp_path / "log.parquet"
    (frame.to_parquet if make is pd.DataFrame else frame.write_parquet)(path)
    assert found(Sessions.read(path)) == EXPECTED


@pytest.mark.usefixtures("core")
@together("gap", ["3m", "180s", "3 minutes", "3MIN", "180 seconds", "0.05h", "0.05 hours"])
def test_a_users_log_is_split_by_gaps(gap: str) -> None:
    text = table("user,timestamp,query,item,rank", by_document(iso))
    sessions = Sessions.read(text, session_gap=gap)
    assert found(sessions) == {"s1/1": EXPECTED["s1"][:2], "s1/2": EXPECTED["s1"][2:], "s2/1": EXPECTED["s2"]}
    assert sessions.users == ("s1", "s1", "s2")
    assert list(found(Sessions.read(text, session_gap="4m"))) == ["s1/1", "s2/1"]  # not longer than the gap


def test_a_users_log_has_a_usual_gap() -> None:
    rows = ["u1,2024-01-01T10:00:00,maps,d1,1", "u1,2024-01-01T10:30:00,maps,d2,1", "u1,2024-01-01T11:00:01,maps,d3,1"]
    text = "\n".join(["user,timestamp,query,item,rank", *rows]).encode()
    sessions = Sessions.read(text)
    assert sessions.ids == ["u1/1", "u1/2"]
    assert sessions.query_counts.tolist() == [2, 1]  # half an hour is not yet too long
    with pytest.warns(GainfulWarning, match=r"ends after 30 minutes without a query \(change with session_gap='1h'\)"):
        evaluate_sessions({"maps": {"d1": 1}}, sessions, "sDCG@10")
    with pytest.raises(InputError, match="no column for time"):
        Sessions.read(b"user,query,item,rank\nu1,maps,d1,1\n")


def test_columns_of_a_log_that_are_not_used_are_named() -> None:
    log = b"session,time,asked,item,rank\ns1,2024-01-01T10:00:00,maps,d1,1\n"
    with pytest.raises(InputError, match="no session is judged by topic") as error:
        evaluate_sessions({"maps": {"d1": 1}}, Sessions.read(log), "sDCG@10")
    assert error.value.hint == "no column for the text of queries; unused columns: asked; use columns={'text': 'asked'}"
    named = Sessions.read(log, columns={"text": "asked"})
    assert evaluate_sessions({"maps": {"d1": 1}}, named, "sDCG@10").mean("sDCG@10") == 1


QRELS = {"harbour silt": {"d2": 1}, "night trains": {"d5": 1}}


@pytest.mark.parametrize(
    "qrels",
    [QRELS, b"query,document,grade\nharbour silt,d2,1\nnight trains,d5,1\n", json.dumps(QRELS).encode()],
    ids=["dict", "csv", "json"],
)
def test_judgments_may_be_by_text(qrels: Any) -> None:
    sessions = Sessions.read(table("session,time,query,results", by_query(" ")))
    measure = "sDCG(base=2, query_base=2)@10"
    result = evaluate_sessions(qrels, sessions, measure)
    # In s1: rank 2 of the first query, nothing by the second, rank 1 of the third.
    s1 = 1 / 2 + 1 / (1 + 1.5849625007211562)
    assert result.by_query(measure) == pytest.approx({"s1": s1, "s2": 1.0})
    assert "judged-by:text" in str(result.signature(measure))


@pytest.mark.usefixtures("core")
def test_numbered_tables_keep_their_texts() -> None:
    text = b"session,turn,query_text,rank,document\na,2,night,1,x\na,1,old maps,1,y\na,1,old maps,2,z\n"
    sessions = Sessions.read(text)
    assert found(sessions) == {"a": [("old maps", ["y", "z"]), ("night", ["x"])]}


def test_clicks_at_their_times_are_of_one_query_until_one_comes_again() -> None:
    clicks = [["u", 1, "maps", "a", 2], ["u", 2, "maps", "b", 1], ["u", 9, "maps", "a", 2], ["u", 9, "silt", "", ""]]
    sessions = Sessions.read(table("session,time,query,clicked,rank", clicks))
    assert found(sessions) == {"u": [("maps", ["b", "a"]), ("maps", ["(rank 1)", "a"]), ("silt", [])]}


def test_a_query_may_come_again_on_the_same_day() -> None:
    shown = [["u", "2024-05-01", "maps", document, rank] for document, rank in (("a", 1), ("b", 2), ("b", 1), ("a", 2))]
    sessions = Sessions.read(table("session,date,query,doc,rank", shown))
    assert found(sessions) == {"u": [("maps", ["a", "b"]), ("maps", ["b", "a"])]}


def test_ranks_from_zero() -> None:
    shown = [["u", 1, "maps", "a", 1], ["u", 1, "maps", "b", 0]]
    assert found(Sessions.read(table("session,time,query,doc,rank", shown))) == {"u": [("maps", ["b", "a"])]}


def test_titles_are_one_document() -> None:
    shown = [["u", 1, "maps", "Old maps"], ["u", 2, "trains", "Night trains of 1950"]]
    assert found(Sessions.read(table("session,time,query,item", shown))) == {
        "u": [("maps", ["Old maps"]), ("trains", ["Night trains of 1950"])]
    }


def test_a_log_without_texts_has_a_query_a_time() -> None:
    shown = [["u", 1, "a"], ["u", 1, "b"], ["u", 2, "a"]]
    sessions = Sessions.read(table("session,time,doc", shown))
    assert [sessions.lists.document(row) for row in range(3)] == [b"a", b"b", b"a"]
    assert sessions.lists.list_offsets.tolist() == [0, 2, 3]


@together(
    ("text", "message"),
    [
        (b"session,time,query\nu,1,maps\n", r"no column for document; columns: session, time, query"),
        (
            b"time,query,doc\n1,maps,a\n",
            r"for session or user; columns: time, query, doc\nhint: .*\n    known names of session",
        ),
        (
            b"session,time,query,doc\nu,soon,maps,a\n",
            r"<bytes>:2: expected seconds or a date and time as time, found 'soon'",
        ),
        (b"session,time,query,doc\nu,,maps,a\n", r"<bytes>:2: no time"),
        (b"session,time,query,doc\n,1,maps,a\n", r"<bytes>:2: no session or user"),
        (b"session,time,query,doc,rank\nu,1,maps,a,x\n", r"<bytes>:2: expected a number as rank"),
        (
            b"session,time,query,doc,rank\nu,1,maps,a,\n",
            r"<bytes>:2: expected a whole number up to 1,000 as rank, found none",
        ),
        (b"session,time,doc,rank\nu,1,a,1\nu,1,b,1\n", r"<bytes>:3: duplicate rank \d in one query"),
        (
            b'{"session": "u", "time": "soon", "query": "x", "doc": "a"}\n',
            r"<bytes>:1: time: expected seconds or a date",
        ),
    ],
)
def test_logs_that_cannot_be_right(text: bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        Sessions.read(text)
    assert re.search(message, str(error.value))


@together(
    ("text", "gap", "message"),
    [
        (b"user,time,query,doc\nu,1,maps,a\n", "soon", r"session_gap=: expected a time with a unit"),
        (b"user,time,query,doc\nu,1,maps,a\n", "3 weeks", r"session_gap=: expected a time with a unit"),
        (b"user,time,query,doc\nu,1,maps,a\n", "30", r"'30'\nhint: 30m are minutes, 30s seconds"),
        (b"user,time,query,doc\nu,1,maps,a\n", "-3m", r"session_gap=: expected a time with a unit"),
        (b"session,turn,rank,doc\nu,1,1,a\n", "3m", r"applies only to logs, but this table has query numbers"),
        (b"u_1 Q0 a 1 1 t\n", "3m", r"applies only to logs with times"),
    ],
)
def test_gaps_that_mean_nothing(text: bytes, gap: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sessions.read(text, session_gap=gap)


def test_a_gap_needs_times() -> None:
    with pytest.raises(InputError, match=r"no column for time \(time, timestamp, ts, .*\); columns: user, query, doc"):
        Sessions.read(b"user,query,doc\nu,maps,a\n", session_gap="3m")


@pytest.mark.parametrize("name", ["event", "Action", "type"])
def test_clicks_are_ignored_if_there_are_impressions(name: str) -> None:
    rows = [
        [session, START + 60 * minutes, "impression", text, document, rank]
        for session, minutes, text, documents in EVENTS
        for rank, document in enumerate(documents, 1)
    ]
    clicks: list[list[object]] = [["s1", START + 20, "click", "harbour silt", "d2", 2]]
    clicks.append(["s2", START + 140, "Click", "night trains", "d5", 1])
    header = f"session,time,{name},query,url,position"
    frame = pd.DataFrame([*rows, *clicks], columns=header.split(","))
    objects = [
        {"session": session, "time": START + 60 * minutes, name: "search", "query": text, "hits": documents}
        for session, minutes, text, documents in EVENTS
    ] + [{"session": "s1", "time": START + 20, name: "click", "query": "harbour silt", "hits": ["d2"]}]
    for source, left in ((table(header, rows + clicks), 2), (frame, 2), (json_lines(objects), 1)):
        with pytest.warns(GainfulWarning, match=f"'{name}': lists contain impressions; {left} click"):
            sessions = Sessions.read(source) if isinstance(source, bytes) else Sessions.from_frame(source)
            evaluate_sessions({"harbour silt": {"d1": 1}}, {"x": sessions}, "sDCG@10", judged_by="text")
        assert found(sessions) == EXPECTED
    other = table(header, [*rows, *clicks, ["s1", START, "purchase", "harbour silt", "d2", 2]])
    with pytest.raises(InputError, match=f"expected impressions and clicks in column '{name}', found 'purchase'"):
        Sessions.read(other)
    # Somebody who logs searches without their results has the clicks alone.
    asked = [["s1", START, "search", "silt", "", ""], ["s1", START + 1, "click", "silt", "d2", 2]]
    assert found(Sessions.read(table(header, asked)))["s1"] == [("silt", ["(rank 1)", "d2"])]


def json_lines(objects: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


def notices(sessions: Sessions) -> Sequence[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        return evaluate_sessions({"a": {"d1": 1}}, sessions, "sDCG@10").notices


@together(
    "times",
    [
        ("09.11.2026 09:13:00", "9.11.2026 9:45", "9.11.2026, 9:47:30"),
        ("46335,3840278", "46335,40625", "46335,4079861"),  # the same moments as a spreadsheet stores them
        ("46335.3840278", "46335.40625", "46335.4079861"),
    ],
)
def test_times_of_spreadsheets(times: tuple[str, ...]) -> None:
    rows = "".join(f"u;{time};{text};d1\n" for time, text in zip(times, ("a", "b", "c"), strict=True))
    sessions = Sessions.read(f"user;time;query;doc\n{rows}".encode())
    assert [len(queries) for queries in found(sessions).values()] == [1, 2]  # after 32 minutes, after 2.5
    assert any("serial dates" in note for note in notices(sessions)) == times[0].startswith("46335")


def test_seconds_are_no_serial_dates() -> None:
    sessions = Sessions.read(b"user,time,query,doc\nu,40000.125,a,d1\nu,40001.5,b,d2\n")
    assert len(found(sessions)) == 1


@together(
    ("log", "told"),
    [
        (b"session,time,query,clicked_doc\ns,1,a,d1\n", "scored as if they were the whole result list"),
        (b"session,time,query,doc,event\ns,1,a,d1,click\n", "scored as if they were the whole result list"),
        (b"session,time,query,clicked_doc,rank\ns,1,a,d1,3\n", "unclicked results above a click"),
        (b"session,time,query,doc,event\ns,1,a,d1,view\n", ""),
        (b"session,time,query,doc\ns,1,a,d1\n", ""),
    ],
)
def test_a_log_of_only_clicks_has_a_note(log: bytes, told: str) -> None:
    notes = [note for note in notices(Sessions.read(log)) if "clicks without impressions" in note]
    assert len(notes) == bool(told) and told in "".join(notes)
