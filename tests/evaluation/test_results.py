"""Evaluations: values under the policy, aggregates, merging, and pickling."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from gainful import Evaluation, Policy, Qrels, Run, UsageError, evaluate, parse
from gainful.data.graded import join
from gainful.data.judged import Judged
from gainful.evaluation.results import Score

# q1 is fine, q2 has nothing relevant, q3 is not answered, q4 is neither, q5 is answered with nothing.
QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0}, "q3": {"a": 1}, "q4": {"a": 0}, "q5": {"a": 1}}
RUN: dict[str, dict[str, float]] = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q5": {}}
AP_OF_Q1 = (1 / 2 + 2 / 3) / 2
MEASURES = ["AP", "P@2", "SetP", "NumRel", "Judged@2"]


def evaluated(**choices: Any) -> Evaluation:
    return evaluate(QRELS, RUN, MEASURES, policy=Policy(**choices))


class TestValues:
    # measure -> query -> (value, or the name of the policy that decides it)
    MISSING, UNDEFINED = "missing", "undefined"
    EXPECTED: dict[str, list[float | str]] = {
        "AP": [AP_OF_Q1, UNDEFINED, MISSING, MISSING, 0.0],
        "P@2": [0.5, 0.0, MISSING, MISSING, 0.0],
        "SetP": [2 / 3, 0.0, MISSING, MISSING, UNDEFINED],
        "Judged@2": [0.5, 1.0, MISSING, MISSING, UNDEFINED],
    }

    @pytest.mark.parametrize("measure", EXPECTED)
    @pytest.mark.parametrize("missing", ["zero", "skip"])
    @pytest.mark.parametrize("undefined", ["zero", "skip"])
    def test_under_all_policies(self, measure: str, missing: str, undefined: str) -> None:
        result = evaluated(missing=missing, undefined=undefined)
        outcome = {"missing": missing, "undefined": undefined}
        values: list[float | None] = []
        for expected in self.EXPECTED[measure]:
            if isinstance(expected, str):
                values.append(0.0 if outcome[expected] == "zero" else None)
            else:
                values.append(expected)
        by_query = dict(zip(QRELS, values, strict=True))
        counted = [value for value in values if value is not None]
        statuses = [expected if isinstance(expected, str) else None for expected in self.EXPECTED[measure]]

        assert result.by_query(measure) == pytest.approx(by_query, abs=1e-15)
        assert [score.status for score in result.scores(measure)] == statuses
        assert [score.query for score in result.scores(measure)] == list(QRELS)
        assert result.mean(measure) == pytest.approx(sum(counted) / len(counted), abs=1e-15)
        assert result.aggregate(measure) == result.mean(measure)
        assert result.missing == ["q3", "q4"]
        assert result.undefined(measure) == [q for q, s in zip(QRELS, statuses, strict=True) if s == "undefined"]

    def test_what_is_missing_is_not_undefined(self) -> None:
        evaluate({"q": {"a": 1}, "r": {"a": 0}}, {"q": ["a"]}, "AP", policy=Policy(undefined="error"))

    def test_raw_values_have_no_policy(self) -> None:
        ap = evaluated(missing="skip", undefined="skip").raw[0]
        assert ap.tolist()[:1] == pytest.approx([AP_OF_Q1])
        assert [math.isnan(value) for value in ap] == [False, True, False, True, False]

    @pytest.mark.parametrize(("missing", "total"), [("zero", 4), ("skip", 3)])
    def test_counts_add_up(self, missing: str, total: int) -> None:
        result = evaluated(missing=missing)
        assert result.aggregate("NumRel") == total
        assert result.mean("NumRel") == total / (5 if missing == "zero" else 3)
        assert result.by_query("NumRel")["q3"] == (1 if missing == "zero" else None)

    def test_scores_say_what_happened(self) -> None:
        scores = list(evaluated(missing="skip").scores("AP"))
        assert scores[1:4] == [
            Score("q2", 0.0, "undefined"),
            Score("q3", None, "missing"),
            Score("q4", None, "missing"),
        ]

    def test_when_no_query_is_left(self) -> None:
        result = evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["AP", "NumRel"], policy=Policy(undefined="skip"))
        assert math.isnan(result.mean("AP"))
        assert math.isnan(result.aggregate("AP"))
        assert result.aggregate("NumRel") == 0

    def test_measures_by_text_or_as_themselves(self) -> None:
        result = evaluate(QRELS, RUN, ["nDCG@10", "AP"])
        assert result.mean("nDCG(base=2)@10") == result.mean(parse("nDCG@10")) == result.mean("NDCG@10")
        assert result.mean("MAP") == result.mean("AP")

    def test_a_measure_that_was_not_asked_for(self) -> None:
        with pytest.raises(UsageError) as caught:
            evaluate(QRELS, RUN, ["nDCG@10", "AP"]).mean("P@5")
        assert str(caught.value) == "P@5 was not evaluated; evaluated: nDCG@10, AP"

    def test_queries_are_in_byte_order(self) -> None:
        result = evaluate({"q9": {"a": 1}, "é": {"a": 1}, "q10": {"a": 1}, "Q": {"a": 1}}, {"q9": ["a"]}, "AP")
        assert result.queries == ["Q", "q10", "q9", "é"]
        assert list(result.by_query("AP")) == result.queries

    def test_the_mean_is_rounded_once(self) -> None:
        """Ten times 0.1 is 1, whatever the order of the sum."""
        qrels = {f"q{i}": {f"d{j}": 1 for j in range(10)} for i in range(10)}
        run = {f"q{i}": ["d0"] for i in range(10)}
        assert evaluate(qrels, run, "R@10").mean("R@10") == 0.1

    def test_repr(self) -> None:
        result = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"]}, ["AP", "NumRel"], name="mine")
        assert repr(result) == "<Evaluation of mine, 2 queries: AP: 0.5000, NumRel: 2>"

    def test_names(self) -> None:
        assert evaluate(QRELS, RUN, "AP").run == "<dict>"
        assert evaluate(QRELS, RUN, "AP", name="mine").run == "mine"
        assert [result.run for result in evaluate(QRELS, {"a": RUN, "b": RUN}, "AP").values()] == ["a", "b"]

    def test_defaults(self) -> None:
        result = evaluate(QRELS, RUN)
        assert [str(m) for m in result.measures] == ["nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"]


class TestMerge:
    def parts(self, *groups: list[str], **choices: Any) -> list[Evaluation]:
        qrels = Qrels.from_dict(QRELS)
        run = {**RUN, "extra": {"a": 1.0}}
        return [evaluate(qrels.select(group), run, MEASURES, policy=Policy(**choices)) for group in groups]

    @pytest.mark.parametrize("missing", ["zero", "skip"])
    def test_parts_make_the_whole(self, missing: str) -> None:
        whole = evaluate(QRELS, {**RUN, "extra": {"a": 1.0}}, MEASURES, policy=Policy(missing=missing))
        first, second, third = self.parts(["q1"], ["q4", "q2"], ["q5", "q3"], missing=missing)
        merged = second.merge(first, third)
        assert merged.queries == whole.queries
        assert merged.missing == whole.missing
        assert merged.scale == whole.scale == 2
        for measure in MEASURES:
            assert list(merged.scores(measure)) == list(whole.scores(measure))
            assert merged.aggregate(measure) == whole.aggregate(measure)
        assert merged.signature("AP") == whole.signature("AP")
        assert merged.facts.extra_ids == whole.facts.extra_ids == (b"extra",)

    def test_the_facts_add_up(self) -> None:
        whole = evaluate(QRELS, RUN, MEASURES)
        first, second = self.parts(["q1"], ["q2", "q3", "q4", "q5"])
        merged = first.merge(second)
        assert (merged.facts.shown_at_10, merged.facts.unjudged_at_10) == (4, 1)
        assert (whole.facts.shown_at_10, whole.facts.unjudged_at_10) == (4, 1)
        assert merged.facts.unjudged_share == 1 / 4

    def test_with_nothing(self) -> None:
        [only] = self.parts(["q1"])
        assert only.merge() is only

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "AP"), "queries must be disjoint, but 'q1' is in both"),
            (evaluate({"q2": {"a": 1}}, {"q2": ["a"]}, ["AP", "RR"]), "different measures: "),
            (evaluate({"q2": {"a": 2}}, {"q2": ["a"]}, "AP"), "different scale: 1.0 and 2.0"),
            (
                evaluate({"q2": {"a": 1}}, {"q2": ["a"]}, "AP", policy=Policy(depth=5)),
                f"different policy: {Policy(order='input')} and {Policy(order='input', depth=5)}",
            ),
        ],
    )
    def test_what_does_not_fit(self, other: Evaluation, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "AP").merge(other)
        assert str(caught.value).startswith(f"merge: {message}")

    def test_the_parts_are_unchanged(self) -> None:
        first, second = self.parts(["q1"], ["q2"])
        before = first.raw.copy()
        first.merge(second)
        assert first.queries == ["q1"]
        assert np.array_equal(first.raw, before)


class TestSeveralRuns:
    def test_like_one_by_one(self) -> None:
        runs: dict[str, Any] = {"scored": RUN, "listed": {"q1": ["b", "a"]}, "text": b"q1 Q0 a 1 1 t\n"}
        together = evaluate(QRELS, runs, MEASURES)
        assert list(together) == list(runs)
        for name, run in runs.items():
            alone = evaluate(QRELS, run, MEASURES)
            for measure in MEASURES:
                assert list(together[name].scores(measure)) == list(alone.scores(measure))

    def test_the_first_error_is_raised(self) -> None:
        runs = {"good": RUN, "bad": {"zz": ["a"]}, "worse": {"yy": ["a"]}}
        with pytest.raises(ValueError, match="bad: none of its queries is judged"):
            evaluate(QRELS, runs, "AP")


class TestPickling:
    QRELS_TEXT = b"q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 a 0\nq3 0 a 1\nq4 0 a 0\nq5 0 a 1\n"
    RUN_TEXT = b"q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 a 1 1 t\n"

    @staticmethod
    def again(thing: Any) -> Any:
        return pickle.loads(pickle.dumps(thing))

    @pytest.mark.parametrize("qrels", [Qrels.from_dict(QRELS), Qrels.read(QRELS_TEXT)], ids=["dict", "text"])
    def test_qrels(self, qrels: Qrels) -> None:
        copy = self.again(qrels)
        assert (copy.queries, copy.scale, copy.levels, len(copy)) == (qrels.queries, 2, (0.0, 1.0, 2.0), 7)
        assert [copy.document(row) for row in range(len(copy))] == [qrels.document(row) for row in range(len(qrels))]
        assert evaluate(copy, RUN, "AP").by_query("AP") == evaluated().by_query("AP")

    @pytest.mark.parametrize("run", [Run.from_dict(RUN), Run.read(RUN_TEXT)], ids=["dict", "text"])
    def test_run(self, run: Run) -> None:
        copy = self.again(run)
        assert (copy.queries, len(copy), copy.has_scores) == (run.queries, 4, True)
        assert evaluate(QRELS, copy, "AP").by_query("AP") == evaluate(QRELS, run, "AP").by_query("AP")

    def test_mapped_files(self, tmp_path: Any) -> None:
        (tmp_path / "qrels").write_bytes(self.QRELS_TEXT)
        (tmp_path / "run").write_bytes(self.RUN_TEXT)
        qrels, run = self.again(Qrels.read(tmp_path / "qrels")), self.again(Run.read(tmp_path / "run"))
        assert evaluate(qrels, run, "AP").by_query("AP")["q1"] == pytest.approx(AP_OF_Q1, abs=1e-15)

    @pytest.mark.parametrize("indexed", [False, True])
    def test_judged(self, indexed: bool) -> None:
        policy = Policy(negative="unjudged")
        judged = Judged(Qrels.from_dict({**QRELS, "q6": {"a": -1}}), policy)
        if indexed:
            join(judged, RUN, policy)
        copy = self.again(judged)
        assert np.array_equal(copy.grade, judged.grade, equal_nan=True)
        one, other = join(judged, RUN, policy), join(copy, RUN, policy)
        assert one.hit_rank.tolist() == other.hit_rank.tolist() == [2, 3, 1]
        assert one.hit_grade.tolist() == other.hit_grade.tolist() == [2, 1, 0]
        assert one.answered.tolist() == other.answered.tolist()

    def test_evaluation(self) -> None:
        result = evaluated(missing="skip")
        copy = self.again(result)
        assert copy.queries == result.queries
        assert copy.measures == result.measures
        assert copy.policy == result.policy
        assert copy.facts == result.facts
        for measure in MEASURES:
            assert list(copy.scores(measure)) == list(result.scores(measure))
        assert copy.signature("AP") == result.signature("AP")

    def test_a_pickled_part_merges(self) -> None:
        qrels = Qrels.from_dict(QRELS)
        first, second = (evaluate(qrels.select(queries), RUN, "AP") for queries in (["q1", "q2"], ["q3", "q4", "q5"]))
        merged = self.again(first).merge(self.again(second))
        assert merged.by_query("AP") == evaluated().by_query("AP")

    @pytest.mark.parametrize("text", ["nDCG(gain={0:0,1:2})@10", "AnDCG(base=e)@5", "P(rel=2)@5", "NumQ"])
    def test_measures(self, text: str) -> None:
        measure = parse(text)
        copy = self.again(measure)
        assert copy == measure
        assert hash(copy) == hash(measure)
        assert str(copy) == str(measure)
