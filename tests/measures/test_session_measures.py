"""Parameters of session measures, computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gainful import InputError, Policy, Qrels, UsageError, evaluate_sessions, parse, session_curves
from gainful.data.sessions import sessions_from_lists
from gainful.measures.catalog import ALL_MEASURES
from gainful.measures.help import Help, reading
from gainful.measures.parameters import PARAMETERS

SESSION_MEASURES = {name: kind for name, kind in ALL_MEASURES.items() if kind.unit == "session"}

Lists = list[list[float | None]]


def score(measure: str, lists: Lists, **rest: object) -> float:
    return parse(measure).score_session(lists, **rest)  # type: ignore[attr-defined, no-any-return]


Q2 = 1 + math.log(2, 4)
Q3 = 1 + math.log(3, 4)


class TestNames:
    @pytest.mark.parametrize("name", SESSION_MEASURES)
    def test_help_has_every_part(self, name: str) -> None:
        text = Help.of(SESSION_MEASURES[name])
        assert text.claim.endswith(".") and {"Formula", "Conventions", "Reference", "Example"} <= set(text.sections)
        assert set(SESSION_MEASURES[name].parameters()) <= {*PARAMETERS, *SESSION_MEASURES[name].meanings}
        assert reading(SESSION_MEASURES[name]).endswith("over sessions.")
        assert SESSION_MEASURES[name].unit == "session"

    @pytest.mark.parametrize(
        "text",
        [
            "sDCG@10",
            "nsDCG(gain=0-1-10-100, base=e, query_base=e, repeats=first, short=min:3, ideal_queries=11)@10",
            "nsDCG(variant=jiang2016, summary=average, scan=recorded, rel=1)@5",
            "sRBP(p=0.9, b=0, gain=scaled)",
            "DocumentsToGain(wanted=2.5, repeats=first, short=asis)@7",
            "InstanceRecall(rel=2)@20",
        ],
    )
    def test_texts_come_back(self, text: str) -> None:
        assert str(parse(text)) == text

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("sDCG(query_base=1)", "above 1"),
            ("sDCG(query_base=1000)", "below 1000"),
            ("sDCG(ideal_queries=3)", "unknown parameter 'ideal_queries'"),
            ("nsDCG(ideal_queries=all)", "expected session or a number of queries"),
            ("nsDCG(ideal_queries=0)", "whole number"),
            ("nsDCG(ideal_queries=3, summary=best)", "summary=best cannot be combined"),
            ("sDCG(short=min)", "pad | asis | min:m"),
            ("sDCG(short=min:0)", "whole number"),
            ("sDCG(variant=jiang2016, gain=exp2)", "always has gain 2"),
            ("sDCG(repeats=never)", "every | first"),
            ("sDCG(scan=all)", "k | recorded"),
            ("sDCG(summary=mean)", "final | average | best | last"),
            ("sDCG(rel=1, level=2)", "rel and level"),
            ("sRBP(b=1.5)", "from 0 to 1"),
            ("sRBP(p=1)", "below 1"),
            ("QueriesToGain(wanted=0)", "above 0"),
        ],
    )
    def test_invalid_parameters(self, text: str, message: str) -> None:
        with pytest.raises(UsageError, match=message.replace("|", r"\|")):
            parse(text)

    def test_scaled_dcg_is_another_measure(self) -> None:
        with pytest.raises(UsageError):
            parse("SDCG@10")


class TestGain:
    def test_unjudged_and_negative_documents(self) -> None:
        lists: Lists = [[None, 2, -1]]
        assert score("sDCG@3", lists) == 1
        assert score("sDCG(unjudged=condensed)@3", lists) == 2
        assert score("sDCG@3", lists, unjudged="condensed") == 2

    def test_grades_in_the_log_override_judgments(self) -> None:
        # a is judged and has no grade in the log; b's grade overrides its judgment; c has only a grade.
        log = replace(sessions_from_lists({"s": [["a", "b", "c", "d"]]}), grade=np.array([np.nan, 1.0, 2.0, np.nan]))
        found = evaluate_sessions({"s": {"a": 3, "b": 3}}, log, "sDCG(base=2)@4").by_query("sDCG(base=2)@4")["s"]
        assert found == pytest.approx(3 + 1 / (1 + 1) + 2 / (1 + math.log2(3)))

    def test_jiang_without_any_gain_is_undefined(self) -> None:
        assert math.isnan(score("nsDCG(variant=jiang2016)@10", [[-1, 0]]))

    def test_a_cutoff_beyond_all_lists(self) -> None:
        far = 2**53
        assert score(f"nsDCG(repeats=first)@{far}", [[1], [2]]) == pytest.approx((1 + 2 / Q2) / (2 + 0.5))
        # Nearly all positions come after the only document.
        assert score(f"sDCG(summary=average)@{far}", [[1]]) == pytest.approx(1)
        assert score(f"nsDCG(summary=average)@{far}", [[1]]) == pytest.approx(1)


class TestIdealQueries:
    def test_long_ideal_sessions(self) -> None:
        """A million ideal queries per session do not all have to fit in memory."""
        sessions = sessions_from_lists({f"s{i}": [["a"]] for i in range(5)}, {f"s{i}": "t" for i in range(5)})
        measure = "nsDCG(ideal_queries=1000000, query_base=2)@5"
        found = evaluate_sessions({"t": {"a": 2}}, sessions, measure)
        whole = math.fsum(1 / (1 + math.log2(q)) for q in range(1, 1_000_001))
        assert found.by_query(measure) == dict.fromkeys(found.queries, pytest.approx(1 / whole))

    def test_longer_sessions_are_refused_by_name(self) -> None:
        sessions = sessions_from_lists({"s1": [["a"]], "s2": [["a"], ["a"], ["a"]]}, {"s1": "t", "s2": "t"})
        with pytest.raises(InputError, match=r"session 's2' has 3 queries, more than ideal_queries"):
            evaluate_sessions({"t": {"a": 1}}, sessions, "nsDCG(ideal_queries=2)@5")

    def test_ideal_queries_with_judgments_by_query(self) -> None:
        with pytest.raises(UsageError, match="by topic or session"):
            evaluate_sessions({"s_1": {"a": 1}}, sessions_from_lists({"s": [["a"]]}), "nsDCG(ideal_queries=2)@5")


class TestOthers:
    def test_srbp_refuses_gains_above_1(self) -> None:
        with pytest.raises(InputError, match="expected gains from 0 to 1, found 3"):
            score("sRBP(gain=linear)", [[3]])
        assert score("sRBP(gain=scaled, p=0)", [[1]], scale=4) == 0.25

    def test_rounding_does_not_cost_a_query(self) -> None:
        assert score("QueriesToGain(wanted=0.3)", [[0.1], [0.2]]) == 2

    def test_instance_recall_needs_subtopics(self) -> None:
        with pytest.raises(UsageError, match="subtopics=no"):
            score("InstanceRecall", [[1]])

    def test_instances_of_several_judged_queries(self) -> None:
        qrels = Qrels.read(b"s_1 1 a 1\ns_1 2 b 1\ns_2 1 a 1\ns_2 2 c 0\n")
        sessions = sessions_from_lists({"s": [["a"], ["c"], ["a"]]})
        found = evaluate_sessions(qrels, sessions, "InstanceRecall", policy=Policy(subtopics=True))
        assert found.mean("InstanceRecall") == pytest.approx(1 / 3)


def test_grade_0_is_judged_if_negative_grades_are_not():
    measure = parse("DocumentsToFirst")
    assert measure.score_session([[0, 0, 2]], negative="unjudged", unjudged="condensed") == 3.0
    assert measure.score_session([[-1, 0, None, 2]], negative="unjudged", unjudged="condensed") == 2.0
    assert measure.score_session([[-1, 0, None, 2]], unjudged="condensed") == 3.0


class TestNormalisedByQuery:
    """Section 2.2 of the article: each query's vector is divided by its ideal vector."""

    def test_formula(self):
        formulas = [Help.of(parse(name)).paragraphs("Formula")[0] for name in ("nsDCG", "nsDCG(normalise=query)")]
        assert formulas[0] == "nsDCG = sDCG of the session / sDCG of the ideal session"
        assert "w[q] * DCG[q] / idealDCG[q]" in formulas[1]

    @pytest.mark.parametrize("parameters", ["normalise=query, summary=average", "ideal_queries=3, normalise=query"])
    def test_refused(self, parameters: str) -> None:
        with pytest.raises(UsageError, match="normalise=query cannot be combined with"):
            parse(f"nsDCG({parameters})@2")

    def test_curves_are_of_whole_sessions(self) -> None:
        sessions = sessions_from_lists({"s": [["a"]]})
        with pytest.raises(UsageError, match=r"curves: expected a measure with normalise=session, found nsDCG"):
            session_curves({"s": {"a": 1}}, {"mine": sessions}, "nsDCG(normalise=query)@10")
