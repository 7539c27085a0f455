"""Topics of sessions from a table or a mapping, and conflicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gainful import Sessions
from gainful.data.sessions import SessionTopics
from gainful.errors import InputError, UsageError
from gainful.io.records import read_topics
from tests.together import together


def sessions(*names: str, **topics: str) -> Sessions:
    own = [{"session": name, "topic": topic, "queries": [{"results": ["a"]}]} for name, topic in topics.items()]
    return Sessions.of([{"session": name, "queries": [{"results": ["a"]}]} for name in names] + own)


@pytest.mark.usefixtures("core")
def test_a_table() -> None:
    text = b"SessionID\tUser\tTopic\n22\tS05\t011\n7\tS05\tx y\n"
    expected = {b"22": b"011", b"7": b"x y"}, {b"22": b"S05", b"7": b"S05"}
    assert read_topics(text) == expected
    assert read_topics(text.replace(b"Topic", b"task"), {"topic": "task"}) == expected
    # Names of the sessions' own table that this one has not.
    assert read_topics(text, {"session": "visit", "rank": "pos"}) == expected
    assert read_topics(b"SessionID,Topic\n22,11\n") == ({b"22": b"11"}, {})


@pytest.mark.usefixtures("core")
@together(
    ("text", "message"),
    [
        (b"visit,topic\n1,2\n", r"topics: no column for session \(.*\); columns: visit, topic"),
        (b"session,task\n1,2\n", r"topics: no column for topic \(.*\); columns: session, task"),
        (b"session,topic\na,t\n\nb,\n", r"topics:4: topic: expected an id, found an empty one"),
        (b"session,topic\na\n", r"topics:2: expected 2 fields as in the header, found 1"),
        (b"session,topic\na,t\nb,t\na,u\n", "topics:4: duplicate session 'a' "),
        (b"session,topic\n", "topics: no topics of sessions"),
        (b"", "topics: no topics of sessions"),
    ],
)
def test_a_table_that_cannot_be_read(text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_topics(text)


def test_sessions_get_topics_from_a_mapping_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_text("session,topic\ns1,t\ns2,u\n")
    for topics in ({"s1": "t", "s2": "u"}, path, str(path)):
        assert sessions("s1", "s2").with_topics(topics).topics == (b"t", b"u")
    assert Sessions.of([{"session": 1, "queries": [{"results": []}]}]).with_topics({"1": "t"}).topics == (b"t",)


def test_a_topic_of_their_own_stays_and_another_is_refused() -> None:
    mixed = sessions("s1", s2="u")
    assert mixed.with_topics({"s1": "t"}).topics == (b"t", b"u")
    assert mixed.with_topics({"s2": "u"}).topics == (None, b"u")
    with pytest.raises(InputError, match=r"topics: topic 't' for session 's2' conflicts with 'u' in"):
        mixed.with_topics({"s2": "t"})


def test_sessions_without_topics_and_unused_topics_are_reported() -> None:
    topics = SessionTopics.of({"s1": "t", "x": "t", "y": "u"})
    found = topics.given_to_all({"one": [sessions("s1", "s2")], "two": [sessions("s3"), sessions("s4")]})
    assert [part.topics for parts in found.values() for part in parts] == [(b"t", None), (), ()]
    assert topics.notices() == [
        "topics: 3 sessions without a topic: s2, s3, s4",
        "topics: 2 sessions with a topic not among the sessions: x, y",
    ]
    fitting = SessionTopics.of({"s1": "t"})
    fitting.given_to(sessions("s1"))
    assert fitting.notices() == []


def test_topics_of_other_sessions_only_are_refused() -> None:
    topics = SessionTopics.of({"x": "t"})
    found = topics.given_to_all({"one": [sessions("s1")], "two": [sessions(s2="u")]})
    assert len(list(found["one"])) == 1
    message = "no topics for the sessions of one, two: these include session 's1', but topics are given for 'x'"
    with pytest.raises(InputError, match=message):
        list(found["two"])
    with pytest.raises(InputError, match="these include session 's2'"):
        sessions(s2="u").with_topics({"x": "t"})


@together(
    ("topics", "message"),
    [
        ({}, "topics: no topics of sessions"),
        ({"s1": ""}, "topics: topic of session 's1': expected an id, found an empty one"),
        ({"s1": 0.5}, "topics: topic of session 's1': expected a text"),
        (7, "topics: expected a file or a dict of sessions and topics, found int"),
        ("nowhere.csv", "nowhere.csv: no such file"),
    ],
)
def test_topics_that_are_none(topics: object, message: str) -> None:
    with pytest.raises((InputError, UsageError), match=message):
        sessions("s1").with_topics(topics)  # type: ignore[arg-type]
