"""Scores of sessions: pairing, factors, and files."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from gainful import InputError, Sessions, evaluate_sessions
from gainful.data.sessions import sessions_from_lists
from gainful.evaluation.scores import Scores, SessionScores

OWN = {"old": {"u1": 0.5, "u2": 0.25}, "new": {"u3": 1.0, "u4": 0.5, "u5": 0.0}}


def scores(of: Mapping[str, Mapping[str, float | None]], measure: str = "nsDCG@10") -> SessionScores:
    return SessionScores.of(measure, of)


def lines(of: Mapping[str, Mapping[str, float]], topics: Mapping[str, str] | None = None) -> bytes:
    """As ``gainful sessions --by-session --format jsonl`` has them: tables stand between the scores and the end."""
    rows: list[dict[str, object]] = [{"gainful": "0"}]
    rows += [
        {"run": run, "session": session, "measure": "nsDCG@10", "value": value}
        for run, values in of.items()
        for session, value in [*values.items(), (None, 0.5)]
    ]
    rows += [
        {"table": "Sessions", "run": run, "session": session, "topic": topics[session], "user": None}
        for run, values in of.items()
        for session in values
        if topics
    ]
    rows += [{"table": "Queries by position", "run": "old", "measure": "sDCG@10", "value": 1.0}, {"note": "said"}]
    rows.append({"complete": True, "lines": len(rows)})
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("of", "pairing"),
    [
        (OWN, "none"),
        ({"a": {"s1": 1.0, "s2": 0.5}, "b": {"s1": 0.0, "s2": 0.5}}, "all"),
        ({"a": {"s1": 1.0, "s2": 0.5, "s3": 0.5}, "b": {"s1": 0.0, "s2": 0.5, "s4": 0.5}}, "all"),
        ({"a": {"s1": 1.0, "s2": 0.5}, "b": {"s1": 0.0, "s3": 0.5}}, "some"),
        ({"a": {"s1": 1.0}, "b": {"s2": 0.0}, "c": {"s2": 0.5}}, "some"),
    ],
)
def test_whether_anything_is_paired(of: Mapping[str, Mapping[str, float]], pairing: str) -> None:
    assert scores(of).pairing == pairing


def test_a_matrix_of_the_sessions_that_all_have() -> None:
    matrix = scores({"a": {"s1": 1.0, "s2": 0.5, "s3": None}, "b": {"s2": 0.25, "s1": 0.0, "s3": 1.0}}).matrix()
    assert (matrix.queries, matrix.left_out, matrix.unit) == (("s1", "s2"), ("s3",), "session")
    assert repr(matrix) == "<ScoreMatrix of nsDCG@10: 2 sessions, 2 systems>"
    with pytest.raises(InputError, match="no session is shared by all systems"):
        scores(OWN).matrix()


def test_sessions_without_a_value_are_left_out_and_named() -> None:
    found = scores({"a": {"s2": 4.0, "s1": None}, "b": {"s3": 2.0}}, "QueriesToFirst")
    assert (found.better, found.values("a").tolist()) == ("lower", [4.0])
    assert found.notices() == ["QueriesToFirst: 1 session of a without a score, left out: s1"]
    with pytest.raises(InputError, match="no session of 'a' has a score"):
        scores({"a": {"s1": None}, "b": {"s3": 2.0}})


def test_evaluations_know_topics_and_users() -> None:
    log = [
        {"session": "s1", "topic": "t", "user": "anna", "queries": [{"results": ["x"]}]},
        {"session": "s2", "topic": "u", "queries": [{"results": ["x"]}]},
        {"session": "s3", "topic": "nobody", "queries": [{"results": ["x"]}]},
    ]
    evaluation = evaluate_sessions({"t": {"x": 1}, "u": {"x": 1}}, {"mine": Sessions.of(log)}, "sDCG@10")
    assert evaluation["mine"].factors == {"topic": ("t", "u"), "user": ("anna", None)}
    found = SessionScores.from_evaluations(evaluation, "sDCG@10")
    assert (found.factor("topic", "mine"), found.factor("user", "mine")) == (["t", "u"], ["anna", None])


def test_judged_sessions_that_nobody_has_do_not_pair_systems() -> None:
    sessions = {name: Sessions.of([{"session": name, "queries": [{"results": ["x"]}]}]) for name in ("s1", "s2")}
    qrels = {name: {"x": 1} for name in ("s1", "s2", "s3")}
    evaluations = evaluate_sessions(qrels, sessions, "sDCG@10", judged_by="session")
    assert evaluations["s1"].by_query("sDCG@10") == {"s1": 1.0, "s3": 0.0}
    found = SessionScores.from_evaluations(evaluations, "sDCG@10")
    assert found.pairing == "none" and found.scores == {"s1": {"s1": 1.0}, "s2": {"s2": 1.0}}
    own = {"a": "s1", "b": "s2"}
    rows: list[dict[str, object]] = [
        {"run": name, "session": session, "measure": "sDCG@10", "value": 1} for name, session in own.items()
    ]
    rows += [{"run": name, "session": "s3", "measure": "sDCG@10", "value": 0, "status": "missing"} for name in "ab"]
    [read] = Scores.read("".join(json.dumps(row) + "\n" for row in rows).encode()).sessions.values()
    assert read.pairing == "none" and read.missing == {"a": {"s3": 0}, "b": {"s3": 0}}


def test_a_conversation_that_one_system_leaves_out_counts_against_it() -> None:
    qrels = {"c1_1": {"x": 1}, "c2_1": {"x": 1}, "c3_1": {"x": 1}}
    whole = {f"c{i}": [["x"]] for i in (1, 2, 3)}
    systems = {"all": sessions_from_lists(whole), "some": sessions_from_lists({"c1": [["x"]], "c2": [["y"]]})}
    found = SessionScores.from_evaluations(evaluate_sessions(qrels, systems, "sDCG@10", judged_by="query"), "sDCG@10")
    matrix = found.matrix()
    assert found.pairing == "all" and matrix.column("some").tolist() == [1.0, 0.0, 0.0]


class TestFiles:
    def test_lines_with_topics(self) -> None:
        topics = {"u1": "x", "u2": "y", "u3": "x", "u4": "y", "u5": "x"}
        [found] = Scores.read(lines(OWN, topics)).sessions.values()
        assert found.scores == OWN and found.factors["topic"]["new", "u4"] == "y" and "user" not in found.factors

    def test_systems_in_several_files(self) -> None:
        files = [lines({"old": {"u1": 0.5}}), lines({"old": {"u2": 0.25}, "new": OWN["new"]})]
        [found] = Scores.read(*files).sessions.values()
        assert found.scores == OWN
        with pytest.raises(InputError, match="1 session of 'old' also in an earlier file, first 'u1'"):
            Scores.read(lines(OWN), lines({"old": {"u1": 0.5}}))

    def test_tables(self) -> None:
        text = (
            b"# conventions: judged-by:topic\nrun,session,nsDCG@10\nold,u1,0.5\nold,u2,\nold,,0.5\nnew,u3,1\n\n"
            b"# Sessions\nrun,session,topic\nold,u1,x\nold,u2,y\nnew,u3,x\n\n# Other\nrun,more\nold,1\n"
        )
        [found] = Scores.read(text).sessions.values()
        assert found.scores == {"old": {"u1": 0.5}, "new": {"u3": 1.0}} and found.undefined["old"] == ("u2",)
        assert found.factor("topic", "new") == ["x"]

    def test_a_part_of_a_file_is_refused(self) -> None:
        with pytest.raises(InputError, match="the file is incomplete"):
            Scores.read(lines(OWN).rsplit(b"\n", 3)[0] + b"\n")

    def test_queries_among_sessions_are_refused(self) -> None:
        with pytest.raises(InputError, match="scores per query, but other files have scores per session"):
            Scores.read(lines(OWN), b"query,a,b\nq1,1,2\nq2,1,3\nq3,1,3\n")
