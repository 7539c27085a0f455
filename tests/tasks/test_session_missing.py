"""Judged sessions and queries that systems do not answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful import InputError, Policy, Qrels, Sessions, evaluate_sessions, parse, session_curves
from gainful.data.judged import Judged
from gainful.data.sessions import sessions_from_lists
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.tasks.sessions import study_sessions
from gainful.tasks.sessions.session_evaluation import separator_of
from tests.together import together


class TestMissingSessions:
    """Judged by session: a session that one system has is not missing for the others."""

    qrels = {"s1": {"a": 1}, "s2": {"a": 1}, "s3": {"a": 1}}

    def systems(self) -> dict[str, Sessions]:
        return {name: sessions_from_lists({session: [["a"]]}) for name, session in (("A", "s1"), ("B", "s2"))}

    def test_only_sessions_that_no_system_has_are_missing(self) -> None:
        found = evaluate_sessions(self.qrels, self.systems(), "nsDCG@10")
        assert {name: (each.queries, each.missing) for name, each in found.items()} == {
            "A": (["s1", "s3"], ["s3"]),
            "B": (["s2", "s3"], ["s3"]),
        }
        assert [each.mean("nsDCG@10") for each in found.values()] == [0.5, 0.5]
        with pytest.raises(InputError, match=r"1 session \('s3'\) not among the sessions"):
            evaluate_sessions(self.qrels, self.systems(), policy=Policy(missing="error"))

    def test_nothing_is_missing_if_all_sessions_exist(self) -> None:
        del (qrels := dict(self.qrels))["s3"]
        found = evaluate_sessions(qrels, self.systems(), "nsDCG@10", policy=Policy(missing="error"))
        assert [(each.mean("nsDCG@10"), each.count("nsDCG@10")) for each in found.values()] == [(1, 1), (1, 1)]

    def test_curves_and_tables_have_the_same_numbers(self) -> None:
        for kind, count in (("average", [2]), ("subset", [2, 1]), ("individual", [1, 1])):
            curves = session_curves(self.qrels, self.systems(), "sDCG@1", kind=kind, draws=0, at_least=1)
            assert [curve.count for curve in curves.curves if curve.run == "A"] == count
        individual = {curve.session: curve.values.tolist() for curve in curves.curves if curve.run == "A"}
        assert individual == {"s1": [1.0], "s3": [0.0]}
        study = study_sessions(self.qrels, self.systems())
        assert (study.queries["A"].sessions, study.queries["A"].missing, study.queries["A"].average) == (2, 1, 1.0)
        assert study.text("jsonl").count('"queries": null, "sessions": 1') == 2


class TestMissingTurns:
    """Judged by query: a system should answer every judged turn of every judged session."""

    qrels = {"c1_1": {"a": 1}, "c1_2": {"b": 1}, "c1_4": {"c": 1}, "c2_1": {"a": 1}, "c2_2": {"a": 1}}
    stopped = {"c1": [["a"]], "c2": [["a"], ["a"]]}
    only_one = {"c1": [["a"], ["b"], [], ["c"]]}

    def scored(self, lists: dict[str, list[list[str]]], **policy: str) -> Evaluation:
        sessions = sessions_from_lists(lists)
        return evaluate_sessions(self.qrels, sessions, ["sDCG@1", "nsDCG@1"], policy=Policy(**policy), name="mine")  # type: ignore[arg-type]

    def test_turns_after_the_end_are_empty_pages(self) -> None:
        found = self.scored(self.stopped)
        whole = 1 + 1 / 1.5 + 1 / (1 + math.log(4, 4))
        assert found.by_query("nsDCG@1") == {"c1": pytest.approx(1 / whole), "c2": 1.0}
        line = "mine: 2 judged queries after the ends of sessions, not answered, counted as empty pages (missing=zero)"
        assert notices([found])[0] == f"{line}: c1_2, c1_4"
        as_pages = self.scored({**self.stopped, "c1": [["a"], [], [], []]})
        assert np.array_equal(found.raw, as_pages.raw) and not as_pages.facts.unanswered_turns
        # c1_3 is neither judged nor asked.
        assert (found.facts.extra_turns, as_pages.facts.extra_turns) == ((), (b"c1_3",))
        assert self.scored(self.stopped, extra="error").mean("nsDCG@1") == found.mean("nsDCG@1")

    def test_skip_and_error(self) -> None:
        found = self.scored(self.stopped, missing="skip")
        assert found.by_query("nsDCG@1") == {"c1": 1.0, "c2": 1.0}
        assert "not answered, left out (missing=skip): c1_2, c1_4" in notices([found])[0]
        with pytest.raises(InputError, match=r"2 queries \('c1_2', 'c1_4'\) judged but not answered"):
            self.scored(self.stopped, missing="error")

    def test_sessions_that_are_not_there(self) -> None:
        found = self.scored(self.only_one)
        assert found.by_query("nsDCG@1") == {"c1": 1.0, "c2": 0.0} and found.missing == ["c2"]
        assert "1 judged session not among the sessions, given the worst score" in notices([found])[0]
        skipped = self.scored(self.only_one, missing="skip")
        assert (skipped.by_query("nsDCG@1"), skipped.count("nsDCG@1")) == ({"c1": 1.0, "c2": None}, 1)
        with pytest.raises(InputError, match=r"1 session \('c2'\) not among the sessions"):
            self.scored(self.only_one, missing="error")

    def test_another_system_does_not_help(self) -> None:
        systems = {"A": sessions_from_lists(self.stopped), "B": sessions_from_lists(self.only_one)}
        found = evaluate_sessions(self.qrels, systems, "nsDCG@1")
        assert [each.missing for each in found.values()] == [[], ["c2"]]

    def test_sessions_that_a_log_gives_to_another_system(self) -> None:
        log = [
            {"session": "c1", "system": "A", "queries": [{"results": [d]} for d in "abxc"]},
            {"session": "c2", "system": "B", "queries": [{"results": ["a"]}] * 2},
        ]
        judged = Judged(Qrels.from_dict(self.qrels), Policy())
        found = study_sessions(judged, {"log": [Sessions.of(log)]}, [parse("nsDCG@1")], by_system=True)
        assert {name: each.by_query("nsDCG@1") for name, each in found.evaluations.items()} == {
            "A": {"c1": 1.0},
            "B": {"c2": 1.0},
        }

    def test_curves_and_tables_count_them(self) -> None:
        study = study_sessions(self.qrels, {"mine": sessions_from_lists(self.only_one)}, "sDCG@1")
        found = study.queries["mine"]
        assert (found.session_counts.tolist(), found.missing, found.average) == ([0, 1, 0, 1], 0, 3.0)
        # c1_3 has no judgments.
        assert found.by_position.counts.tolist() == [2, 2, 0, 1]
        assert (found.last_queries.number, found.earlier_queries.number, found.unjudged) == (2, 3, 1)
        assert "queries without judgments do not count" in study.text()
        assert found.by_position.means[1] == pytest.approx(0.5 / 1.5)
        curves = session_curves(
            self.qrels, {"mine": sessions_from_lists(self.only_one)}, "nsDCG@1", average="both", draws=0
        )
        assert [curve.count for curve in curves.curves] == [2, 2]
        ideal = 1 + 1 / 1.5 + 1 / 2
        assert curves.curves[1].values[-1] == pytest.approx(ideal / (ideal + 1 + 1 / 1.5))

    def test_a_choice(self) -> None:
        systems = {"mine": sessions_from_lists(self.only_one)}
        chosen = study_sessions(self.qrels, systems, "nsDCG@1", session="c1")
        assert chosen.evaluations["mine"].queries == ["c1"]

    def test_ids_without_session_and_number(self) -> None:
        log = [{"session": "c1", "queries": [{"id": "first", "results": ["a"]}]}]
        found = evaluate_sessions({"first": {"a": 1}, "c1_2": {"b": 1}}, Sessions.of(log), "nsDCG@1", name="mine")
        assert found.by_query("nsDCG@1") == {"c1": 1.0}
        assert notices([found]) == ["mine: 1 judged query not answered, of unknown sessions, ignored: c1_2"]

    def test_parts_are_like_the_whole(self) -> None:
        lists = {**self.stopped, "c3": [["a"]]}
        parts = [sessions_from_lists({session: pages}) for session, pages in lists.items()]
        whole = self.scored(lists)
        apart = evaluate_sessions(self.qrels, iter(parts), ["sDCG@1", "nsDCG@1"], judged_by="query")
        assert np.array_equal(apart.raw, whole.raw) and apart.facts == whole.facts

    def test_recorded_depths_and_texts_stay_with_their_queries(self) -> None:
        log = [
            {"session": "c1", "queries": [{"query": "one", "results": ["x", "a"], "scanned": 1}]},
            {"session": "c2", "queries": [{"query": "two", "results": ["x", "a"], "scanned": 2}] * 2},
        ]
        found = evaluate_sessions(self.qrels, Sessions.of(log), "sDCG(scan=recorded)@2", judged_by="query")
        assert found.by_query("sDCG(scan=recorded)@2") == {"c1": 0.0, "c2": pytest.approx(0.5 + 0.5 / 1.5)}


class TestGapsInMissingSessions:
    """A missing session has an empty page for every turn up to its last judged one, judged or not."""

    qrels = {"c1_1": {"a": 1}, "c1_2": {"b": 1}, "c2_1": {"a": 1}, "c2_4": {"c": 2}, "c3_3": {"a": 1}}
    there = {"c1": [["a"], ["x"]]}
    pages = {**there, "c2": [[]] * 4, "c3": [[]] * 3}
    last = 4

    def naive_ideal(self, session: str) -> list[float]:
        """Gain of the ideal lists by query, one document per query, discounted by 1 + log4 of its position."""
        total, vector = 0.0, []
        for turn in range(1, self.last + 1):
            grades = self.qrels.get(f"{session}_{turn}", {})
            total += max(grades.values(), default=0) / (1 + math.log(turn, 4))
            vector.append(total)
        return vector

    def test_ratios_of_means_have_their_ideal(self) -> None:
        system = {"mine": sessions_from_lists(self.there)}
        curves = session_curves(self.qrels, system, "nsDCG@1", average="means", draws=0)
        ideals = [self.naive_ideal(session) for session in ("c1", "c2", "c3")]
        gained = [1.0] * self.last  # of c1's first query; nothing comes after it
        naive = [value / sum(at) for value, at in zip(gained, zip(*ideals, strict=True), strict=True)]
        assert (curves.queries, curves.curve("mine").count) == (self.last, 3)
        assert curves.curve("mine").values.tolist() == pytest.approx(naive)

    def test_they_are_as_long_as_judged(self) -> None:
        found = study_sessions(self.qrels, {"mine": sessions_from_lists(self.there)}, "sDCG@1").queries["mine"]
        assert found.session_counts.tolist() == [0, 1, 1, 1] and found.missing == 0
        # Judged are the first queries of c1 and c2, the second of c1, the third of c3 and the fourth of c2.
        assert found.by_position.counts.tolist() == [2, 1, 1, 1]
        assert found.by_position.means.tolist() == [0.5, 0.0, 0.0, 0.0]
        assert (found.last_queries.number, found.earlier_queries.number) == (3, 2)

    @together("kind", ["average", "subset", "individual", "positions"])
    def test_empty_pages_that_are_there_say_the_same(self, kind: str) -> None:
        at_least = 3 if kind == "subset" else None
        missing, given = (
            session_curves(self.qrels, {"mine": sessions_from_lists(lists)}, "sDCG@1", kind=kind, at_least=at_least)
            for lists in (self.there, self.pages)
        )
        assert [(each.of, each.count, getattr(each, "queries", None)) for each in missing.curves] == [
            (each.of, each.count, getattr(each, "queries", None)) for each in given.curves
        ]
        for one, other in zip(missing.curves, given.curves, strict=True):
            assert np.array_equal(one.values, other.values, equal_nan=True)


class TestSeparators:
    @together(
        ("ids", "separator"),
        [
            (["c1_1", "c1_2"], b"_"),
            (["c1-q01", "c1-q02"], b"-q"),
            (["c1_1", "c1_3"], None),
            (["c1_1", "c2_2"], None),
            (["c11", "c12"], None),
            (["c1_1", "c1/2"], None),
        ],
    )
    def test_ids(self, ids: list[str], separator: bytes | None) -> None:
        queries = [{"id": each, "results": []} for each in ids]
        assert separator_of(Sessions.of([{"session": "c1", "queries": queries}])) == separator
