"""Evaluations of sessions: matching of judgments, policies, and pages."""

from __future__ import annotations

import json
import math
import pickle
import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import gainful.tasks.sessions.session_evaluation
from gainful import (
    InputError,
    Policy,
    Qrels,
    Report,
    Run,
    SessionBlock,
    SessionMeasure,
    Sessions,
    Signature,
    UsageError,
    evaluate,
    evaluate_sessions,
    parse,
)
from gainful.data.sessions import sessions_from_lists
from gainful.evaluation.notices import notices
from gainful.kernel.arrays import Floats
from gainful.measures.session_block import session_blocks

TOPIC = {"t1": {"a": 3, "b": 1}, "t2": {"c": 2}}
LISTS = {"s1": [["a", "x"], ["b"]], "s2": [["c"]], "s3": [["x"]]}
TOPICS = {"s1": "t1", "s2": "t2", "s3": "t3"}
BOTH = ["sDCG@10", "nsDCG@10"]


def some() -> Sessions:
    return sessions_from_lists(LISTS, TOPICS, name="log")


class TestJudgedBy:
    def test_topics(self) -> None:
        found = evaluate_sessions(TOPIC, some())
        assert (found.judged_by, found.unit, found.queries) == ("topic", "session", ["s1", "s2"])
        assert found.by_query("sDCG@10") == {"s1": pytest.approx(3 + 1 / 1.5), "s2": 2}
        assert found.facts.extra_ids == (b"s3",)

    def test_sessions(self) -> None:
        found = evaluate_sessions({"s1": {"a": 1}, "s9": {"a": 1}}, some())
        assert (found.judged_by, found.queries, found.missing) == ("session", ["s1", "s9"], ["s9"])

    def test_queries(self) -> None:
        found = evaluate_sessions({"s1_2": {"b": 4}}, some())
        assert (found.judged_by, found.queries) == ("query", ["s1"])
        assert found.by_query("sDCG@10")["s1"] == pytest.approx(4 / 1.5)
        assert (found.facts.extra_ids, found.facts.extra_turns) == ((b"s2", b"s3"), (b"s1_1",))

    def test_the_way_that_judges_most_sessions_wins(self) -> None:
        """A topic may have the name of a session: here one topic, but two sessions are judged."""
        qrels = {"t1": {"a": 1}, "s2": {"c": 1}, "s3": {"x": 1}}
        assert evaluate_sessions(qrels, some()).judged_by == "session"
        assert evaluate_sessions(qrels, some(), judged_by="topic").queries == ["s1"]

    def test_ids_that_fit_both_ways_are_not_guessed_at(self) -> None:
        """Sessions and topics have the same numbers: all are judged by topic and by session, differently."""
        log = sessions_from_lists({"1": [["a"]], "2": [["a"]]}, {"1": "2", "2": "1"})
        qrels = {"1": {"a": 3}, "2": {"b": 1}}
        with pytest.raises(UsageError, match="judgments by topic and by session both match all sessions") as error:
            evaluate_sessions(qrels, log)
        assert "--judged-by session" in str(error.value.hint)
        assert evaluate_sessions(qrels, log, "sDCG@10", judged_by="topic").by_query("sDCG@10") == {"1": 0, "2": 3}
        assert evaluate_sessions(qrels, log, "sDCG@10", judged_by="session").by_query("sDCG@10") == {"1": 3, "2": 0}
        same = sessions_from_lists({"1": [["a"]], "2": [["a"]]}, {"1": "1", "2": "2"})
        assert evaluate_sessions(qrels, same).judged_by == "topic"

    def test_of_several_systems_together(self) -> None:
        other = sessions_from_lists({"t1": [["a"]]}, {"t1": "t2"})
        found = evaluate_sessions(TOPIC, {"one": some(), "other": other})
        assert {each.judged_by for each in found.values()} == {"topic"}
        assert [each.queries for each in found.values()] == [["s1", "s2"], ["t1"]]

    def test_nothing_in_common(self) -> None:
        with pytest.raises(InputError) as error:
            evaluate_sessions(Qrels.from_dict({"q7": {"a": 1}}, name="judged"), some())
        message = "the first has session 's1', topic 't1', query 's1_1'; judged judges 'q7'"
        assert message in error.value.message
        assert "no session is judged by topic, session, query or text" in error.value.message
        assert "topic, session, query and text were all tried" in str(error.value.hint)
        with pytest.raises(InputError) as error:
            evaluate_sessions({"q7": {"a": 1}}, some(), judged_by="session")
        assert "no session is judged by session" in error.value.message and "--judged-by" in str(error.value.hint)

    def test_a_word_that_is_none(self) -> None:
        with pytest.raises(UsageError, match=r"judged_by: expected topic \| session \| query \| text, found 'turn'"):
            evaluate_sessions(TOPIC, some(), judged_by="turn")

    def test_sessions_without_topics(self) -> None:
        found = evaluate_sessions({"s2": {"c": 1}}, sessions_from_lists(LISTS), judged_by="session")
        assert found.queries == ["s2"]
        with pytest.raises(InputError, match="judged by topic"):
            evaluate_sessions({"s2": {"c": 1}}, sessions_from_lists(LISTS), judged_by="topic")


class TestMeasures:
    def test_measures_of_queries_are_refused(self) -> None:
        with pytest.raises(UsageError, match="nDCG@10: a measure of single queries cannot score sessions"):
            evaluate_sessions(TOPIC, some(), "nDCG@10")

    def test_measures_of_sessions_are_refused_for_queries(self) -> None:
        with pytest.raises(UsageError, match="sDCG@10 evaluates sessions") as error:
            evaluate({"q": {"a": 1}}, {"q": ["a"]}, "sDCG@10")
        assert error.value.hint == "use gainful.evaluate_sessions"
        with pytest.raises(UsageError, match="requires sessions"):
            parse("sDCG@10").score([1, 2])

    def test_own_measures(self) -> None:
        class Turns(SessionMeasure):
            """Score: the number of queries of a session."""

            name = "Turns"
            bounds = (0.0, math.inf)

            def compute_sessions(self, block: SessionBlock) -> Floats:
                return block.queries.astype(float)

        assert evaluate_sessions(TOPIC, some(), Turns()).by_query("Turns") == {"s1": 2, "s2": 1}

    def test_an_own_measure_that_returns_nonsense(self) -> None:
        class Wrong(SessionMeasure):
            """A measure that returns a wrong shape."""

            name = "Wrong"

            def compute_sessions(self, block: SessionBlock) -> Floats:
                return np.zeros(block.size + 1)

        with pytest.raises(UsageError, match="a finite score"):
            evaluate_sessions(TOPIC, some(), Wrong())


class TestPolicy:
    def test_missing(self) -> None:
        qrels = {"s1": {"a": 2}, "s9": {"a": 1}}
        assert evaluate_sessions(qrels, some()).by_query("nsDCG@10")["s9"] == 0
        skipped = evaluate_sessions(qrels, some(), policy=Policy(missing="skip"))
        assert (skipped.by_query("nsDCG@10")["s9"], skipped.count("nsDCG@10")) == (None, 1)
        with pytest.raises(InputError, match=r"1 session \('s9'\) not among the sessions"):
            evaluate_sessions(qrels, some(), policy=Policy(missing="error"))
        assert "1 judged session not among the sessions" in notices([evaluate_sessions(qrels, some())])[0]

    def test_topics_without_sessions_are_not_missing(self) -> None:
        assert evaluate_sessions({**TOPIC, "t9": {"z": 1}}, some()).missing == []

    def test_extra(self) -> None:
        lines = notices([evaluate_sessions(TOPIC, some(), name="mine")])
        assert lines[0] == "mine: 1 session without judgments, ignored (extra=ignore): s3"
        with pytest.raises(InputError, match=r"1 session \('s3'\) without judgments"):
            evaluate_sessions(TOPIC, some(), policy=Policy(extra="error"))

    def test_queries_without_judgments(self) -> None:
        found = evaluate_sessions({"s1_2": {"b": 4}}, some(), name="mine")
        assert notices([found]) == [
            "mine: 2 sessions without judgments, ignored (extra=ignore): s2, s3",
            "mine: 1 query of scored sessions without judgments, gaining nothing (extra=ignore): s1_1",
        ]
        # What a query without judgments shows says nothing of how much is judged.
        assert (found.facts.shown_at_10, found.facts.unjudged_at_10) == (1, 0)
        with pytest.raises(InputError, match=r"2 sessions \('s2', 's3'\) without judgments"):
            evaluate_sessions({"s1_2": {"b": 4}}, some(), policy=Policy(extra="error"))
        only = sessions_from_lists({"s1": LISTS["s1"]})
        with pytest.raises(InputError, match=r"1 query \('s1_1'\) without judgments"):
            evaluate_sessions({"s1_2": {"b": 4}}, only, policy=Policy(extra="error"))

    def test_undefined(self) -> None:
        qrels = {"t1": {"a": 0}, "t2": {"c": 2}}
        found = evaluate_sessions(qrels, some(), [*BOTH, "QueriesToFirst"], name="mine")
        assert found.by_query("nsDCG@10") == {"s1": 0, "s2": 1}
        assert found.by_query("QueriesToFirst") == {"s1": None, "s2": 1}
        text = "\n".join(notices([found]))
        assert "1 session with nsDCG@10 undefined, given the worst score (undefined=zero): s1" in text
        assert "1 session with QueriesToFirst undefined, left out, because the measure has no worst value" in text
        with pytest.raises(InputError, match=r"nsDCG@10 is undefined for 1 session"):
            evaluate_sessions(qrels, some(), policy=Policy(undefined="error"))

    def test_lists_are_ordered_by_their_scores(self) -> None:
        """With more than nine turns, sorting IDs does not sort turns."""
        turns = {f"s_{i}": {"x": 1.0, "a": 2.0} if i == 11 else {"a": 1.0, "x": 2.0} for i in range(1, 13)}
        sessions = Sessions("x", (b"s",), np.array([0, 12]), Run.from_dict(turns))
        found = evaluate_sessions({"s": {"a": 1}}, sessions, "sDCG(base=2)@1").by_query("sDCG@1")
        assert found["s"] == pytest.approx(1 / (1 + math.log(11, 4)))
        tied = Sessions("x", (b"s",), np.array([0, 1]), Run.from_dict({"s_1": {"x": 1.0, "a": 1.0}}))
        for ties, value in (("docid-desc", 0.5), ("docid-asc", 1.0)):
            found = evaluate_sessions({"s": {"a": 1}}, tied, "sDCG@2", policy=Policy(ties=ties)).by_query("sDCG@2")
            assert found["s"] == value

    def test_duplicates_and_depth(self) -> None:
        twice = sessions_from_lists({"s": [["a", "a", "b"]]})
        qrels = {"s": {"a": 1, "b": 1}}
        with pytest.raises(InputError, match="'a'"):
            evaluate_sessions(qrels, twice, BOTH)
        found = evaluate_sessions(qrels, twice, BOTH, policy=Policy(duplicates="first"))
        assert (found.mean("sDCG@10"), found.facts.duplicate_count) == (1.5, 1)
        assert evaluate_sessions(qrels, twice, BOTH, policy=Policy(duplicates="first", depth=1)).mean("sDCG@10") == 1

    def test_grades_below_zero_and_above(self) -> None:
        sessions = sessions_from_lists({"s": [["x", "n", "a"]]})
        qrels = {"s": {"n": -1, "a": 3}}
        condensed = "sDCG(unjudged=condensed)@1"
        assert evaluate_sessions(qrels, sessions, condensed).mean(condensed) == 0
        as_unjudged = evaluate_sessions(qrels, sessions, condensed, policy=Policy(negative="unjudged"))
        assert as_unjudged.mean(condensed) == 3
        lowered = evaluate_sessions(qrels, sessions, condensed, policy=Policy(negative="unjudged", grade_zero=2))
        assert lowered.mean(condensed) == 0  # what falls below 0 is 0, and judged

    def test_grades_of_appearances_beat_the_judgments(self) -> None:
        lists = Run.from_dict({"s_1": ["a", "b"], "s_2": ["a"]})
        sessions = Sessions("x", (b"s",), np.array([0, 2]), lists, grade=np.array([0.0, math.nan, 2.0]))
        found = evaluate_sessions({"s": {"a": 3, "b": 1}}, sessions, "sDCG@2")
        assert found.mean("sDCG@2") == pytest.approx(0.5 + 2 / 1.5)
        assert found.facts.unjudged_at_10 == 0
        lowered = evaluate_sessions({"s": {"a": 3, "b": 1}}, sessions, "sDCG@2", policy=Policy(grade_zero=1))
        assert lowered.mean("sDCG@2") == pytest.approx(1 / 1.5)
        with pytest.raises(InputError, match="up to the scale of the judgments, 1, found 2"):
            evaluate_sessions({"s": {"a": 1}}, sessions)

    def test_unjudged_share(self) -> None:
        judged = {**TOPIC, "t2": {"c": 2, "never shown": 0}}
        assert (
            notices([evaluate_sessions(judged, some(), name="mine")])[-1]
            == "unjudged documents in the top 10: mine 25.0%"
        )
        assert not any("unjudged" in line for line in notices([evaluate_sessions(TOPIC, some(), name="mine")]))


def many(count: int = 300) -> tuple[dict[str, dict[str, float]], Sessions]:
    rng = random.Random(7)
    pool = [f"d{i}" for i in range(50)]
    qrels = {f"t{i}": {document: rng.choice([0, 1, 2, 3]) for document in rng.sample(pool, 20)} for i in range(5)}
    lists = {
        f"s{i:04d}": [rng.sample(pool, rng.randint(0, 12)) for _ in range(rng.randint(1, 6))] for i in range(count)
    }
    return qrels, sessions_from_lists(lists, {session: f"t{rng.randint(0, 5)}" for session in lists})


MANY = [
    "sDCG@10",
    "nsDCG@10",
    "nsDCG(summary=average)@5",
    "nsDCG(repeats=first, ideal_queries=9, short=min:2)@3",
    "sDCG(repeats=first, unjudged=condensed)@4",
    "nsDCG(summary=best, unjudged=condensed, repeats=first)@4",
    "sRBP",
    "DocumentsToGain(wanted=4, repeats=first)@6",
]


class TestBlocks:
    @pytest.mark.parametrize("cells", [1, 60, 1000])
    def test_neither_blocks_nor_threads_change_a_digit(self, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
        qrels, sessions = many(100)
        whole = evaluate_sessions(qrels, sessions, MANY, threads=1)
        monkeypatch.setattr(
            gainful.tasks.sessions.session_evaluation, "session_blocks", partial(session_blocks, cells=cells)
        )
        monkeypatch.setattr("gainful.measures.session_block.CELLS", cells)
        for threads in (1, 3):
            cut = evaluate_sessions(qrels, sessions, MANY, threads=threads)
            assert np.array_equal(cut.raw, whole.raw, equal_nan=True)
            assert (cut.query_ids, cut.facts) == (whole.query_ids, whole.facts)

    def test_parts(self) -> None:
        qrels, sessions = many(40)
        whole = evaluate_sessions(qrels, sessions, MANY)
        ids = sessions.ids
        parts = [_chosen(sessions, ids[first::3]) for first in range(3)]
        together = evaluate_sessions(qrels, iter(parts), MANY)
        assert together.query_ids == whole.query_ids
        assert np.array_equal(together.raw, whole.raw, equal_nan=True)
        assert together.facts == whole.facts
        merged = evaluate_sessions(qrels, parts[0], MANY).merge(
            *(evaluate_sessions(qrels, part, MANY, judged_by="topic") for part in parts[1:])
        )
        assert np.array_equal(merged.raw, whole.raw, equal_nan=True)
        assert merged.judged_by == "topic"

    def test_a_session_in_two_parts(self) -> None:
        with pytest.raises(InputError, match="duplicate session 's1' in two parts"):
            evaluate_sessions(TOPIC, [some(), some()])

    def test_no_part_at_all(self) -> None:
        with pytest.raises(InputError, match="the input has no sessions"):
            evaluate_sessions(TOPIC, [], judged_by="topic")

    def test_something_else(self) -> None:
        for wrong in ({"s1": [["a"]]}, 3, [3], {"one": 3}):
            with pytest.raises(UsageError, match="expected Sessions"):
                evaluate_sessions(TOPIC, wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="name: cannot be used with a dict of systems"):
            evaluate_sessions(TOPIC, {"one": some()}, name="other")  # type: ignore[call-overload]


def _chosen(sessions: Sessions, wanted: list[str]) -> Sessions:
    places = [sessions.ids.index(session) for session in wanted]
    turns = [t for i in places for t in range(sessions.turn_offsets[i], sessions.turn_offsets[i + 1])]
    lists = sessions.lists
    documents = {
        lists.queries[t]: [
            lists.document(row).decode() for row in range(lists.list_offsets[t], lists.list_offsets[t + 1])
        ]
        for t in turns
    }
    return Sessions(
        sessions.name,
        tuple(sessions.session_ids[i] for i in places),
        np.cumsum([0, *(int(sessions.query_counts[i]) for i in places)]),
        Run.from_dict(documents),
        tuple(sessions.topics[i] for i in places),
    )


class TestShown:
    def test_tables_and_lines_speak_of_sessions(self) -> None:
        report = Report({"mine": evaluate_sessions(TOPIC, some())}, by_query=True)
        assert report.text("csv").splitlines()[1] == "run,session,sDCG@10,nsDCG@10"
        header, first, *_ = map(json.loads, report.text("jsonl").splitlines())
        assert first == {"run": "mine", "session": "s1", "measure": "sDCG@10", "value": pytest.approx(3 + 1 / 1.5)}
        assert header["runs"][0]["sessions"] == 2
        assert "judged-by:topic|sessions:2" in header["signature"]
        assert "judged-by:topic | sessions:2" in report.text()

    def test_systems_may_have_sessions_of_their_own(self) -> None:
        other = sessions_from_lists({"u1": [["c"]]}, {"u1": "t2"})
        report = Report(evaluate_sessions(TOPIC, {"one": some(), "other": other}))
        assert "means over different numbers of sessions: one 2, other 1" in report.text()

    def test_reports_do_not_mix_judged_by(self) -> None:
        by_session = evaluate_sessions({"s1": {"a": 1}}, some(), name="one")
        with pytest.raises(UsageError, match="different judged_by"):
            Report([by_session, evaluate_sessions(TOPIC, some(), name="two")])

    def test_signatures_come_back(self) -> None:
        found = evaluate_sessions(TOPIC, some())
        signature = found.signature("nsDCG@10")
        assert Signature.parse(str(signature)) == signature
        assert (signature.judged_by, signature.queries) == ("topic", 2)

    def test_frames(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = evaluate_sessions(TOPIC, some()).to_pandas()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame.columns) == ["run", "session", "sDCG@10", "nsDCG@10"]

    def test_it_travels(self) -> None:
        found = evaluate_sessions(TOPIC, some())
        again = pickle.loads(pickle.dumps(found))
        assert again.by_query("sDCG@10") == found.by_query("sDCG@10") and again.unit == "session"
        assert repr(found).startswith("<Evaluation of log, 2 sessions: sDCG@10: ")

    def test_sessions_are_not_explained(self) -> None:
        with pytest.raises(UsageError, match="sessions"):
            evaluate_sessions(TOPIC, some()).explain("sDCG@10", "s1")


def test_a_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"session": "s", "topic": "t", "queries": [{"results": ["a"]}, {"results": ["b"]}]}\n')
    judged = {"t": {"a": 2, "b": 1}}
    expected = evaluate_sessions(judged, Sessions.read(path), "SessionCost").by_query("SessionCost")
    for given in (path, str(path)):
        assert evaluate_sessions(judged, given, "SessionCost").by_query("SessionCost") == expected == {"s": 2.0}
        assert list(evaluate_sessions(judged, {"mine": given}, "SessionCost")) == ["mine"]
    with pytest.raises(InputError, match="nowhere"):
        evaluate_sessions(judged, "nowhere.jsonl")
