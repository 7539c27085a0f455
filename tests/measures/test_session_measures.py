"""Measures of sessions: what their parameters do, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gainful import InputError, Policy, Qrels, Run, Sessions, UsageError, evaluate_sessions, parse, session_curves
from gainful.data.sessions import sessions_from_lists
from gainful.measures.catalog import ALL_MEASURES
from gainful.measures.help import Help, reading
from gainful.measures.parameters import PARAMETERS

SESSION_MEASURES = {name: kind for name, kind in ALL_MEASURES.items() if kind.unit == "session"}

Lists = list[list[float | None]]


def score(measure: str, lists: Lists, **rest: object) -> float:
    return parse(measure).score_session(lists, **rest)  # type: ignore[attr-defined, no-any-return]


def by_documents(measure: str, queries: list[list[str]], grades: dict[str, float], **policy: object) -> float | None:
    settled = Policy(undefined="skip", **policy)  # type: ignore[arg-type]
    result = evaluate_sessions({"s": grades}, sessions_from_lists({"s": queries}), measure, policy=settled)
    return result.by_query(measure)["s"]


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
            ("nsDCG(ideal_queries=3, summary=best)", "summary=best looks at one query"),
            ("sDCG(short=min)", "pad | asis | min:m"),
            ("sDCG(short=min:0)", "whole number"),
            ("sDCG(variant=jiang2016, gain=exp2)", "has a gain of its own"),
            ("sDCG(repeats=never)", "every | first"),
            ("sDCG(scan=all)", "k | recorded"),
            ("sDCG(summary=mean)", "final | average | best | last"),
            ("sDCG(rel=1, level=2)", "rel or level"),
            ("sRBP(b=1.5)", "from 0 to 1"),
            ("sRBP(p=1)", "below 1"),
            ("QueriesToGain(wanted=0)", "above 0"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(UsageError, match=message.replace("|", r"\|")):
            parse(text)

    def test_scaled_dcg_is_another_measure(self) -> None:
        with pytest.raises(UsageError):
            parse("SDCG@10")


class TestGain:
    def test_rel_and_level_set_other_gains_to_0(self) -> None:
        lists: Lists = [[1, 2, 3]]
        assert score("sDCG(rel=2, base=2)@3", lists) == pytest.approx(2 / 2 + 3 / (1 + math.log2(3)))
        assert score("sDCG(level=2, base=2)@3", lists) == pytest.approx(1)
        assert score("nsDCG(level=2)@3", lists) == pytest.approx(0.5)

    def test_unjudged_and_negative_documents(self) -> None:
        lists: Lists = [[None, 2, -1]]
        assert score("sDCG@3", lists) == 1
        assert score("sDCG(unjudged=condensed)@3", lists) == 2
        assert score("sDCG@3", lists, unjudged="condensed") == 2

    def test_grades_of_appearances_stand_beside_judgments(self) -> None:
        # a is the first document judged and has no grade of its own; that of b beats its judgment; c has one alone.
        log = replace(sessions_from_lists({"s": [["a", "b", "c", "d"]]}), grade=np.array([np.nan, 1.0, 2.0, np.nan]))
        found = evaluate_sessions({"s": {"a": 3, "b": 3}}, log, "sDCG(base=2)@4").by_query("sDCG(base=2)@4")["s"]
        assert found == pytest.approx(3 + 1 / (1 + 1) + 2 / (1 + math.log2(3)))

    def test_jiang(self) -> None:
        """Gains 3 and -1/2; log2(r + 1) and log4(q + 3)."""
        lists: Lists = [[-1, 2], [1, None]]
        expected = -0.5 + 3 / math.log2(3) + 1 / math.log(5, 4)
        assert score("sDCG(variant=jiang2016)@10", lists) == pytest.approx(expected)
        ideal = 3 + 1 / math.log2(3) - 0.5 / math.log2(4)
        both = ideal * (1 + 1 / math.log(5, 4))
        assert score("nsDCG(variant=jiang2016)@10", lists) == pytest.approx(expected / both)
        # Cut at 2, the ideal list ends before the document that costs something.
        both = (3 + 1 / math.log2(3)) * (1 + 1 / math.log(5, 4))
        assert score("nsDCG(variant=jiang2016)@2", lists) == pytest.approx(expected / both)

    def test_jiang_without_any_gain_is_undefined(self) -> None:
        assert math.isnan(score("nsDCG(variant=jiang2016)@10", [[-1, 0]]))

    def test_fewer_relevant_documents_than_k(self) -> None:
        assert score("nsDCG@10", [[2, 1]]) == 1
        assert score("nsDCG@10", [[2, 1], [None]]) == pytest.approx(1 / (1 + 1 / Q2))

    def test_without_k_the_ideal_list_is_whole(self) -> None:
        rest = [1] * 5
        expected = 1 / sum(1 / (1 + math.log2(r)) for r in range(1, 7))
        assert score("nsDCG", [[1]], unretrieved=rest) == pytest.approx(expected)
        assert score("sDCG", [[None] * 500 + [1]]) == pytest.approx(1 / (1 + math.log2(501)))

    def test_a_cutoff_beyond_all_lists(self) -> None:
        far = 2**53
        assert score(f"nsDCG(repeats=first)@{far}", [[1], [2]]) == pytest.approx((1 + 2 / Q2) / (2 + 0.5))
        # Nearly all positions come after the only document.
        assert score(f"sDCG(summary=average)@{far}", [[1]]) == pytest.approx(1)
        assert score(f"nsDCG(summary=average)@{far}", [[1]]) == pytest.approx(1)


class TestRepeats:
    QUERIES = [["a", "b"], ["b", "c"]]
    GRADES = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0}

    def test_every_time(self) -> None:
        assert by_documents("sDCG@2", self.QUERIES, self.GRADES) == pytest.approx(3 + 1 + (2 + 0.5) / Q2)
        ideal = (3 + 1) * (1 + 1 / Q2)
        found = by_documents("nsDCG@2", self.QUERIES, self.GRADES)
        assert found == pytest.approx((4 + 2.5 / Q2) / ideal)

    def test_the_first_time(self) -> None:
        assert by_documents("sDCG(repeats=first)@2", self.QUERIES, self.GRADES) == pytest.approx(4 + 0.5 / Q2)
        # The ideal deals 3, 2 to the first query and 1, 1 to the second.
        ideal = 4 + (1 + 0.5) / Q2
        found = by_documents("nsDCG(repeats=first)@2", self.QUERIES, self.GRADES)
        assert found == pytest.approx((4 + 0.5 / Q2) / ideal)

    def test_what_stood_below_k_was_not_seen(self) -> None:
        queries = [["x", "a"], ["a"]]
        assert by_documents("sDCG(repeats=first)@1", queries, {"a": 3}) == pytest.approx(3 / Q2)
        assert by_documents("sDCG(repeats=first)@2", queries, {"a": 3}) == pytest.approx(1.5)

    def test_dealt_ideals_can_be_beaten(self) -> None:
        """Two documents at rank 1 of two queries are worth more than at ranks 1 and 2 of one."""
        found = by_documents("nsDCG(repeats=first)@2", [["a"], ["b"]], {"a": 1, "b": 1})
        assert found == pytest.approx((1 + 1 / Q2) / 1.5)
        assert found is not None and found > 1

    def test_judged_by_query_every_query_has_its_own_ideal(self) -> None:
        qrels = {"s_1": {"a": 1, "b": 1}, "s_2": {"a": 1}}
        sessions = sessions_from_lists({"s": [["a", "b"], ["a"]]})
        measure = "nsDCG(repeats=first)@2"
        found = evaluate_sessions(qrels, sessions, measure)
        assert found.judged_by == "query"
        assert found.by_query(measure)["s"] == pytest.approx(1.5 / (1.5 + 1 / Q2))


class TestShort:
    @pytest.mark.parametrize(
        ("short", "positions"), [("pad", [4, 4]), ("asis", [1, 2]), ("min:2", [2, 2]), ("min:9", [4, 4])]
    )
    def test_average_over_positions(self, short: str, positions: list[int]) -> None:
        lists: Lists = [[1], [None, 1]]
        after = 1 + 0.5 / Q2
        before_second = positions[0] + 1
        count = sum(positions)
        expected = (before_second * 1 + (count - before_second) * after) / count
        assert score(f"sDCG(summary=average, short={short})@4", lists) == pytest.approx(expected)

    def test_the_last_position_decides_how_much_of_the_ideal_counts(self) -> None:
        lists: Lists = [[1], [None]]
        full, one = 1 + 0.5, 1.0
        rest = [1]
        assert score("nsDCG@2", lists, unretrieved=rest) == pytest.approx(1 / (full + full / Q2))
        assert score("nsDCG(short=asis)@2", lists, unretrieved=rest) == pytest.approx(1 / (full + one / Q2))

    def test_an_empty_page(self) -> None:
        assert score("sDCG@5", [[], [2]]) == pytest.approx(2 / Q2)
        assert score("nsDCG@5", [[], [2]]) == pytest.approx(1 / Q2 / (1 + 1 / Q2))
        # Without a single position there is nothing to compare.
        assert math.isnan(score("nsDCG(short=asis)@5", [[], []], unretrieved=[2]))
        assert score("nsDCG@5", [[], []], unretrieved=[2]) == 0
        assert score("sDCG(short=asis, summary=average)@5", [[]], unretrieved=[2]) == 0


class TestIdealQueries:
    def test_the_ideal_goes_on(self) -> None:
        assert score("nsDCG(ideal_queries=3)@5", [[2]]) == pytest.approx(1 / (1 + 1 / Q2 + 1 / Q3))
        assert score("nsDCG(ideal_queries=1)@5", [[2]]) == 1

    def test_and_on(self) -> None:
        """A million ideal queries for each session; they are not all in memory together."""
        sessions = sessions_from_lists({f"s{i}": [["a"]] for i in range(5)}, {f"s{i}": "t" for i in range(5)})
        measure = "nsDCG(ideal_queries=1000000, query_base=2)@5"
        found = evaluate_sessions({"t": {"a": 2}}, sessions, measure)
        whole = math.fsum(1 / (1 + math.log2(q)) for q in range(1, 1_000_001))
        assert found.by_query(measure) == dict.fromkeys(found.queries, pytest.approx(1 / whole))

    def test_and_deals_on(self) -> None:
        found = score("nsDCG(ideal_queries=2, repeats=first)@1", [[2]], unretrieved=[1])
        assert found == pytest.approx(2 / (2 + 1 / Q2))

    def test_longer_sessions_are_refused_by_name(self) -> None:
        sessions = sessions_from_lists({"s1": [["a"]], "s2": [["a"], ["a"], ["a"]]}, {"s1": "t", "s2": "t"})
        with pytest.raises(InputError, match=r"at most 2 queries, found 3 in session 's2'"):
            evaluate_sessions({"t": {"a": 1}}, sessions, "nsDCG(ideal_queries=2)@5")

    def test_there_is_nothing_to_go_on_with_by_query(self) -> None:
        with pytest.raises(UsageError, match="by topic or session"):
            evaluate_sessions({"s_1": {"a": 1}}, sessions_from_lists({"s": [["a"]]}), "nsDCG(ideal_queries=2)@5")


class TestSummary:
    LISTS: Lists = [[1], [3], [2]]

    def test_best_and_last(self) -> None:
        assert score("sDCG(summary=best)@5", self.LISTS) == pytest.approx(3 / Q2)
        assert score("sDCG(summary=last)@5", self.LISTS) == pytest.approx(2 / Q3)
        ideal = 3 + 1 + 1 / (1 + math.log2(3))
        assert score("nsDCG(summary=best)@5", self.LISTS) == pytest.approx(3 / ideal)
        assert score("nsDCG(summary=last)@5", self.LISTS) == pytest.approx(2 / ideal)

    def test_average_of_ratios(self) -> None:
        # Positions: 1 of 2, then 1 + 2/Q2 of 2 + 2/Q2.
        ratios = [1 / 2, (1 + 2 / Q2) / (2 + 2 / Q2)]
        assert score("nsDCG(summary=average)@1", [[1], [2]]) == pytest.approx(sum(ratios) / 2)

    def test_positions_before_anything_could_be_gained_are_left_out(self) -> None:
        sessions = sessions_from_lists({"s": [["x"], ["a"]]})
        measure = "nsDCG(summary=average)@1"
        assert evaluate_sessions({"s_2": {"a": 1}}, sessions, measure).by_query(measure) == {"s": 1}


def with_scans(scanned: list[int]) -> Sessions:
    lists = {f"s_{i}": ["a", "b", "c"] for i in range(len(scanned))}
    return Sessions("x", (b"s",), np.array([0, len(scanned)]), Run.from_dict(lists), scanned=np.array(scanned))


class TestScan:
    GRADES = {"s": {"a": 1, "b": 1, "c": 1}}
    THIRD = 1 / (1 + math.log2(3))

    def value(self, measure: str, scanned: list[int]) -> float | None:
        return evaluate_sessions(self.GRADES, with_scans(scanned), measure).by_query(measure)["s"]

    def test_a_recorded_depth_replaces_k(self) -> None:
        assert self.value("sDCG(scan=recorded)@1", [3]) == pytest.approx(1.5 + self.THIRD)
        assert self.value("sDCG(scan=recorded)@3", [1]) == 1
        assert self.value("sDCG(scan=recorded)@3", [0]) == 0
        assert self.value("sDCG@3", [1]) == pytest.approx(1.5 + self.THIRD)

    def test_where_none_is_recorded_k_stays(self) -> None:
        assert self.value("sDCG(scan=recorded)@2", [1, -1]) == pytest.approx(1 + 1.5 / Q2)

    def test_the_ideal_is_read_as_far(self) -> None:
        assert self.value("nsDCG(scan=recorded)@3", [1, 2]) == 1

    def test_documents_seen(self) -> None:
        measure = "DocumentsToGain(wanted=3, scan=recorded)@5"
        assert self.value(measure, [1, 0, 2]) == 3


class TestOthers:
    def test_srbp_extremes(self) -> None:
        lists: Lists = [[1, 0, 1], [1, 1]]
        assert score("sRBP(b=1, p=0.5)", lists) == parse("RBP(p=0.5)").score([1, 0, 1])
        assert score("sRBP(b=0, p=0.5)", lists) == pytest.approx(0.5 * (1 + 0.5))
        assert score("sRBP(p=0)", lists) == 1

    def test_srbp_weights_sum_to_1(self) -> None:
        assert score("sRBP(p=0.6, b=0.4)", [[1] * 60] * 60) == pytest.approx(1, abs=1e-6)

    def test_srbp_refuses_gains_above_1(self) -> None:
        with pytest.raises(InputError, match="expected gains from 0 to 1, found 3"):
            score("sRBP(gain=linear)", [[3]])
        assert score("sRBP(gain=scaled, p=0)", [[1]], scale=4) == 0.25

    def test_nothing_found_is_undefined(self) -> None:
        for name in ("QueriesToFirst", "DocumentsToFirst", "QueriesToGain(wanted=9)", "DocumentsToGain(wanted=9)"):
            assert math.isnan(score(name, [[0], [None]], unretrieved=[5]))

    def test_effort_counts_what_was_looked_at(self) -> None:
        lists: Lists = [[None, None], [], [0, 1]]
        assert score("QueriesToFirst", lists) == 3
        assert score("DocumentsToFirst@5", lists) == 12
        assert score("DocumentsToFirst", lists) == 4
        assert score("DocumentsToFirst(short=min:3)@5", lists) == 8
        assert score("DocumentsToFirst(short=min:3)", lists) == 8

    def test_rounding_does_not_cost_a_query(self) -> None:
        assert score("QueriesToGain(wanted=0.3)", [[0.1], [0.2]]) == 2

    def test_repeats_do_not_add_up(self) -> None:
        queries, grades = [["a"], ["a"], ["b"]], {"a": 1.0, "b": 1.0}
        assert by_documents("QueriesToGain(wanted=2)", queries, grades) == 2
        assert by_documents("QueriesToGain(wanted=2, repeats=first)", queries, grades) == 3

    def test_instance_recall_needs_subtopics(self) -> None:
        with pytest.raises(UsageError, match="subtopics=no"):
            score("InstanceRecall", [[1]])

    def test_instances_of_several_judged_queries(self) -> None:
        qrels = Qrels.read(b"s_1 1 a 1\ns_1 2 b 1\ns_2 1 a 1\ns_2 2 c 0\n")
        sessions = sessions_from_lists({"s": [["a"], ["c"], ["a"]]})
        found = evaluate_sessions(qrels, sessions, "InstanceRecall", policy=Policy(subtopics=True))
        assert found.mean("InstanceRecall") == pytest.approx(1 / 3)


def test_a_grade_of_0_is_a_judgment_where_lower_ones_are_none():
    measure = parse("DocumentsToFirst")
    assert measure.score_session([[0, 0, 2]], negative="unjudged", unjudged="condensed") == 3.0
    assert measure.score_session([[-1, 0, None, 2]], negative="unjudged", unjudged="condensed") == 2.0
    assert measure.score_session([[-1, 0, None, 2]], unjudged="condensed") == 3.0


class TestNormalisedByQuery:
    """Section 2.2 of the article: each query's vector is divided by its ideal vector."""

    def test_queries_with_ideal_lists_of_their_own(self) -> None:
        """The first query finds the second best of its documents first, the second query its only one at rank 2."""
        sessions = sessions_from_lists({"s": [["b", "a"], ["x", "c"]]})
        qrels = {"s_1": {"a": 3, "b": 1}, "s_2": {"c": 2}}
        found = evaluate_sessions(qrels, sessions, ["nsDCG(normalise=query)@10", "nsDCG@10"], judged_by="query")
        first, second = (1 + 3 / 2) / (3 + 1 / 2), (2 / 2) / 2
        weighed = (first + second / 1.5) / (1 + 1 / 1.5)
        assert found.mean("nsDCG(normalise=query)@10") == pytest.approx(weighed, abs=1e-15)
        whole = ((1 + 3 / 2) + (2 / 2) / 1.5) / ((3 + 1 / 2) + 2 / 1.5)
        assert found.mean("nsDCG@10") == pytest.approx(whole, abs=1e-15)

    def test_one_ideal_list_for_all_queries_makes_no_difference(self) -> None:
        lists: Lists = [[0, 2, None], [1, 0], [3, 3]]
        both = [score(text, lists) for text in ("nsDCG@2", "nsDCG(normalise=query)@2")]
        assert both[0] == pytest.approx(both[1], abs=1e-15)

    def test_it_has_a_formula_of_its_own(self):
        formulas = [Help.of(parse(name)).paragraphs("Formula")[0] for name in ("nsDCG", "nsDCG(normalise=query)")]
        assert formulas[0] == "nsDCG = sDCG of the session / sDCG of the ideal session"
        assert "w[q] * DCG[q] / idealDCG[q]" in formulas[1]

    @pytest.mark.parametrize("parameters", ["normalise=query, summary=average", "ideal_queries=3, normalise=query"])
    def test_refused(self, parameters: str) -> None:
        with pytest.raises(UsageError, match="normalise=query has an ideal list a query, and no ideal session, found"):
            parse(f"nsDCG({parameters})@2")

    def test_curves_are_of_whole_sessions(self) -> None:
        sessions = sessions_from_lists({"s": [["a"]]})
        with pytest.raises(UsageError, match=r"curves: expected vectors of whole sessions, found nsDCG"):
            session_curves({"s": {"a": 1}}, {"mine": sessions}, "nsDCG(normalise=query)@10")
