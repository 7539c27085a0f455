"""`gainful sessions --topics`: topics of sessions from a separate table."""

from __future__ import annotations

import json

import pytest

LOG = "session,query,rank,document\ns1,1,1,a\ns2,1,1,x\ns2,2,1,a\ns3,1,1,c\n"


@pytest.fixture
def call(command):
    command.write("qrels", "t 0 a 3\nu 0 c 2\n")
    command.write("log.csv", LOG)

    def run(topics, *more, sessions="log.csv"):
        command.write("topics.tsv", topics)
        return command("sessions", "qrels", sessions, "-m", "sDCG@10", "--topics", "topics.tsv", *more)

    return run


def scores(result):
    assert result.code == 0, result.err
    rows = [row for row in result.lines[1:] if row.get("measure") and not row.get("table")]
    return {row["session"]: row["value"] for row in rows if row["session"]}


def test_judgments_by_topic(call):
    result = call("Topic\tSessionID\nt\ts1\nt\ts2\nu\ts3\n", "--by-session", "--format", "jsonl")
    assert scores(result) == pytest.approx({"s1": 3.0, "s2": 3 / 1.5, "s3": 2.0})
    assert "judged-by:topic" in result.lines[0]["signature"]
    assert "topics.tsv" not in result.err


def test_one_topic(call):
    table = "SessionID\tTopic\ns1\tt\ns2\tt\ns3\tu\n"
    result = call(table, "--topic", "u", "--by-session", "--format", "jsonl")
    assert scores(result) == {"s3": 2.0}
    unknown = call(table, "--topic", "v")
    assert unknown.code == 3 and "unknown topic 'v'; there are t, u" in unknown.err


def test_what_is_noticed(call):
    result = call("SessionID\tTopic\ns1\tt\ns2\tt\ns9\tu\n")
    assert "notice: topics.tsv: 1 session without a topic: s3\n" in result.err
    assert "notice: topics.tsv: 1 session with a topic not among the sessions: s9\n" in result.err


def test_what_is_refused(call, command):
    twice = call("SessionID\tTopic\ns1\tt\ns1\tu\n")
    assert twice.code == 3
    assert twice.err.startswith("topics.tsv:3: duplicate session 's1' (first: topics.tsv:2)")
    others = call("SessionID\tTopic\n22\tt\n")
    assert others.code == 3
    assert others.err.startswith("topics.tsv: no topics for the sessions of log: these include session 's1'")
    command.write("own.jsonl", json.dumps({"session": "s1", "topic": "u", "queries": [{"results": ["a"]}]}) + "\n")
    other = call("SessionID\tTopic\ns1\tt\n", sessions="own.jsonl")
    assert other.code == 3 and other.err.startswith("topics.tsv: topic 't' for session 's1' conflicts with 'u'")


def test_columns_are_named(call, command):
    command.write("log2.csv", LOG.replace("session", "visit"))
    for table in ("visit\ttask\ns1\tt\n", "session\ttask\ns1\tt\n"):
        result = call(
            table, "--columns", "session=visit,topic=task", "--by-session", "--format", "jsonl", sessions="log2.csv"
        )
        assert scores(result) == {"s1": 3.0}
