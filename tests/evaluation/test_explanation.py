"""Explanations: tables add up to the score and state its basis; and errors."""

from __future__ import annotations

import io
import math
import pickle
import random
import sys
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gainful import (
    Block,
    Evaluation,
    Explanation,
    InputError,
    Measure,
    Policy,
    Qrels,
    Run,
    UsageError,
    evaluate,
    explain,
    parse,
)
from gainful.data.collection import ReadAhead
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.explanation import explain_runs
from gainful.kernel.parallel import Progress
from gainful.measures.arithmetic import Arithmetic, Step
from gainful.measures.catalog import FAMILIES, MEASURES
from gainful.pages.page import Table
from gainful.render import text as render_text
from tests.laws.test_laws import READ
from tests.together import together

QRELS = {"q1": {"a": 3, "b": 2, "c": 0, "d": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
RUN = {"q1": {"b": 9.0, "x": 8.0, "a": 7.0, "y": 6.0, "c": 5.0}, "q2": {"a": 1.0}}


def texts(explanation: Explanation) -> list[str]:
    """The paragraphs of a page."""
    return [part for part in explanation.page().parts if isinstance(part, str)]


def tables(explanation: Explanation, **options: Any) -> list[Table]:
    return list(explanation.page(**options).tables)


def column(table: Table, name: str) -> list[Any]:
    place = [c.name for c in table.columns].index(name)
    return [row[place] for row in table.rows]


# -- The table adds up -------------------------------------------------------------------------------------------------


def collection(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """A few queries: ties, unjudged documents, negative grades, short, empty and missing lists."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in ("q1", "q2", "q3", "q4"):
        judged = [f"d{i}" for i in range(rng.choice([1, 4, 15, 40]))]
        qrels[query] = {document: rng.choice([-1, 0, 0, 1, 2, 3]) for document in judged}
        pool = [*judged, *(f"x{i}" for i in range(rng.choice([0, 5, 40])))]
        found = rng.sample(pool, min(len(pool), rng.choice([0, 2, 6, 60])))
        if rng.random() < 0.9:
            run[query] = {document: float(rng.randrange(6)) for document in found}
    return qrels, run or {"q1": {}}


ITEMS = {
    f"{kind}{i}": {"kind": f"a{i % 3}|b{i % 2}", "words": 60 * i, "characters": 400 * i}
    for kind in "dx"
    for i in range(50)
}
POLICIES = [
    {},
    {"unjudged": "condensed", "missing": "skip"},
    {"depth": 5, "undefined": "skip"},
    {"negative": "unjudged", "grade_zero": 1, "ties": "docid-asc"},
    {"recall_cut": "ceil0.9", "scores": "float32", "order": "input"},
]


def chosen_variants(name: str, seed: int) -> list[Measure]:
    """A measure meets all of the policies, each of its variants one."""
    variants = [measure for measure in READ[name] if getattr(measure, "by", None) is None]
    step = len(POLICIES) if MEASURES[name].arithmetic is not Measure.arithmetic else len(variants)
    return variants[seed % len(variants) :: step]


@cache
def evaluated(seed: int) -> Evaluation:
    qrels = Qrels.from_dict(collection(seed)[0], scale=3).with_items(ITEMS, {"q1": ["d1", "d3"], "q3": ["d0"]})
    policy = Policy(**POLICIES[seed], subtopics=True)  # one for all documents, for measures of diversity
    measures = [measure for name in MEASURES for measure in chosen_variants(name, seed)]
    return evaluate(qrels, collection(seed)[1], measures, policy=policy)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_explanation_adds_up_to_the_evaluation(family: str) -> None:
    for name, seed in product(FAMILIES[family], range(len(POLICIES))):
        result = evaluated(seed)
        for measure in chosen_variants(name, seed):
            score = random.Random(str(measure)).choice(list(result.scores(measure)))
            explanation = result.explain(measure, score.query)
            [one] = explanation.lists
            where = f"{measure} of {score.query} by {result.policy}"
            assert (one.score.value, one.score.status) == (score.value, score.status), where
            raw = result.raw[result.measures.index(measure), result.queries.index(score.query)]
            assert explanation.steps[-1].value == pytest.approx(float(raw), rel=1e-12, abs=1e-15, nan_ok=True), where
            columns, adds = one.arithmetic.columns, one.arithmetic.adds
            assert len({values.size for values in columns.values()}) <= 1, where
            assert {adds, one.arithmetic.running} <= {None, *columns}, where
            if adds is not None and "found" in columns:
                rises = np.diff(columns["found"], prepend=0.0) != 0
                assert (rises == (columns[adds] != 0)).all(), f"{where}: a rank that adds nothing can be left out"
        assert_table_shows_the_list(explanation, collection(seed)[0][score.query], result.policy)


def assert_table_shows_the_list(explanation: Explanation, grades: dict[str, float], policy: Policy) -> None:
    """All ranks shown are the run's documents with their grades, computed here from the judgments alone."""
    [one] = explanation.lists
    for document, grade in zip(one.documents, one.grades.tolist(), strict=True):
        expected = grades.get(document, math.nan)
        expected = max(expected - policy.grade_zero, 0.0) if policy.grade_zero else expected
        if policy.negative == "unjudged" and expected < 0:
            expected = math.nan
        assert grade == pytest.approx(expected, nan_ok=True)
    shown = tables(explanation, all_ranks=True)
    if one.arithmetic.depth:
        assert column(shown[0], "rank") == list(range(1, one.arithmetic.depth + 1))
        documents = [document for document in column(shown[0], "document") if document is not None]
        assert documents == list(one.documents[: one.arithmetic.depth])


def test_gains_are_those_of_the_grades() -> None:
    explanation = explain("DCG(gain=exp2, discount=jarvelin2008, base=4)@5", QRELS, RUN, "q1")
    [table, _, _] = tables(explanation)
    assert column(table, "grade") == [2, None, 3, None, 0]
    assert column(table, "gain") == [3, 0, 7, 0, 0]
    assert column(table, "discount") == pytest.approx([1 + math.log(rank, 4) for rank in range(1, 6)])
    assert explanation.value == pytest.approx(3 + 7 / (1 + math.log(3, 4)))


class TestPaper:
    """jarvelin2002, section 2: G' = 3 2 3 0 0 1 2 2 3 0."""

    GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    JUDGED = {"q": {f"d{i}": g for i, g in enumerate(GRADES)} | {f"missed{i}": 1 for i in range(3)}}
    LISTS = {"q": [f"d{i}" for i in range(10)]}

    def table(self, measure: str) -> Table:
        return tables(explain(measure, self.JUDGED, self.LISTS, "q"))[0]

    def test_vectors(self) -> None:
        table = self.table("nCG@10")
        assert column(table, "grade") == self.GRADES
        assert column(table, "CG") == [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
        assert column(table, "ideal gain") == [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
        assert column(table, "ideal CG") == [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
        shares = [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84]
        assert column(table, "nCG") == pytest.approx(shares, abs=0.005)
        table = self.table("nDCG(discount=jarvelin2002)@10")
        dcg = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
        ideal = [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83]
        assert column(table, "DCG") == pytest.approx(dcg, abs=0.005)
        assert column(table, "ideal DCG") == pytest.approx(ideal, abs=0.005)

    def test_last_line(self) -> None:
        assert "nCG@10 = 16 / 19 = 0.8421" in texts(explain("nCG@10", self.JUDGED, self.LISTS, "q"))


# -- What is said of the judgments and the list ------------------------------------------------------------------------


def test_judgments_by_grade() -> None:
    table = tables(explain("nDCG(gain=0-1-10-100)@3", QRELS, RUN, "q1"))[1]
    assert table.title == "Judgments of query q1"
    assert [c.name for c in table.columns] == ["documents", "gain", "judged", "retrieved", "in the top 3"]
    assert table.rows == (
        ("grade 3", 100, 1, 1, 1),
        ("grade 2", 10, 1, 1, 1),
        ("grade 1", 1, 1, 0, 0),
        ("grade 0", 0, 1, 1, 0),
        ("unjudged", 0, None, 2, 1),
    )


BASE = "Recall base: {} of 4 judged documents {}; sys retrieved {}."
UNJUDGED = "Unjudged: 2 of 5 documents{}."


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        ("nDCG@3", BASE.format(3, "have a gain above 0", "2 of them, 2 in the top 3")),
        ("AP", BASE.format(3, "have a grade above 0", "2 of them")),
        ("R(rel=2)@1", BASE.format(2, "have a grade of 2 or more", "2 of them, 1 in the top 1")),
        ("P(level=1)@2", BASE.format(1, "has grade 1", "none of them, none in the top 2")),
        ("nDCG@3", UNJUDGED.format(", 1 in the top 3 (rank 2)")),
        ("AP", UNJUDGED.format(" (ranks 2, 4)")),
        ("P@1", UNJUDGED.format(", none in the top 1")),
        ("AP(unjudged=condensed)", UNJUDGED.format("; they are removed before ranks are counted (unjudged=condensed)")),
        ("P@9", "The list ends at rank 5."),
        ("nCG(rel=2)@3", "Gain: the grade itself; 0 for grades below 2 (rel=2)."),
        ("CG(gain=exp2, level=1)@3", "Gain: 2^grade - 1; 0 for grades other than 1 (level=1)."),
        ("nCG(average=ranks)@3", "Gain: the grade itself. The value is the mean of nCG[1] to nCG[3]."),
        ("CG@3", "Gain: the grade itself."),
    ],
)
def test_what_is_said(measure: str, sentence: str) -> None:
    assert sentence in texts(explain(measure, QRELS, RUN, "q1", name="sys"))


@pytest.mark.parametrize(
    ("query", "policy", "sentence"),
    [
        ("q2", Policy(), "Recall base: none of 1 judged document has a grade above 0."),
        ("q3", Policy(), "Recall base: 1 of 1 judged document has a grade above 0; sys retrieved none of them."),
        ("q4", Policy(negative="unjudged"), "Recall base: no document is judged."),
    ],
)
def test_recall_bases_of_few_documents(query: str, policy: Policy, sentence: str) -> None:
    assert sentence in texts(explain("AP", {**QRELS, "q4": {"a": -1}}, RUN, query, policy, name="sys"))


@pytest.mark.parametrize("measure", ["AP", "AP(unjudged=condensed)"])
def test_nothing_is_said_of_the_documents_of_an_unanswered_query(measure: str) -> None:
    assert not [text for text in texts(explain(measure, QRELS, RUN, "q3")) if "Unjudged" in text]


@pytest.mark.parametrize("measure", ["P@3", "nDCG@3", "NumRet"])
def test_the_value_is_always_in_a_table(measure: str) -> None:
    explanation = explain(measure, QRELS, RUN, "q1")
    steps = tables(explanation)[-1]
    assert [c.name for c in steps.columns] == ["step", "value", "from"]
    assert steps.rows[-1][:2] == (measure, explanation.value)


def test_counts_have_no_decimal_places() -> None:
    assert tables(explain("NumRet", QRELS, RUN, "q1"))[-1].columns[1].kind == "count"
    assert tables(explain("P@3", QRELS, RUN, "q1"))[-1].columns[1].kind == "number"


def test_measures_that_do_not_ask_for_relevance_have_no_recall_base() -> None:
    assert not [text for text in texts(explain("Judged@3", QRELS, RUN, "q1")) if text.startswith("Recall base")]
    assert explain("Judged@3", QRELS, RUN, "q1").judgments.recall_base is None


def test_condensed_lists_show_both_ranks() -> None:
    table = tables(explain("CG(unjudged=condensed)@3", QRELS, RUN, "q1"))[0]
    assert column(table, "document") == ["b", "a", "c"]
    assert column(table, "rank in run") == [1, 3, 5]


def test_equal_scores_are_said() -> None:
    run = {"q1": {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0, "e": 1.0}}
    assert "Equal scores at ranks 1-2, 3-5: ordered by ties=docid-desc." in texts(explain("AP", QRELS, run, "q1"))
    assert not [text for text in texts(explain("AP", QRELS, RUN, "q1")) if "Equal" in text]
    nearly = {"q1": {"a": 1.0, "b": 1.0 + 1e-12}}
    assert [text for text in texts(explain("AP", QRELS, nearly, "q1", Policy(scores="float32"))) if "Equal" in text]
    assert not [text for text in texts(explain("AP", QRELS, nearly, "q1")) if "Equal" in text]


def test_equal_scores_among_what_is_left_of_a_run() -> None:
    # Without x and y, which nobody judged, the tied a and b stand at ranks 2 and 3: at 4 and 5 of the run.
    run = {"q1": {"c": 9.0, "x": 8.0, "y": 7.0, "a": 6.0, "b": 6.0}}
    said = texts(explain("nDCG(unjudged=condensed)@2", QRELS, run, "q1"))
    assert "Equal scores at ranks 4-5 of the run: ordered by ties=docid-desc." in said
    # The ties are decided below the cutoff, or between documents of which one at most is left.
    for measure, scores in (
        ("nDCG(unjudged=condensed)@1", run["q1"]),
        ("nDCG(unjudged=condensed)@3", {"x": 2.0, "y": 2.0, "a": 1.0, "z": 1.0}),
    ):
        assert not [text for text in texts(explain(measure, QRELS, {"q1": scores}, "q1")) if "Equal" in text]


def test_many_different_grades_are_not_listed_one_by_one() -> None:
    qrels = {"q": {f"d{i}": i / 10 for i in range(40)}}
    titles = [table.title for table in tables(explain("P@3", qrels, {"q": ["d3"]}, "q", name="sys"))]
    assert titles == ["P@3 of sys for query q", "Steps of P@3 for query q"]


def test_grade_zero_is_said() -> None:
    said = texts(explain("CG@3", QRELS, RUN, "q1", Policy(grade_zero=1)))
    assert [text for text in said if text.endswith(" Grades are counted from 1 (grade-zero=1).")]


# -- Missing and undefined ---------------------------------------------------------------------------------------------


MISSING = "sys does not answer query q3: missing="
UNDEFINED = "nDCG@3 is undefined for query q2: undefined="


@pytest.mark.parametrize(
    ("measure", "query", "choices", "value", "sentence"),
    [
        ("AP", "q3", {}, 0.0, f"{MISSING}zero scores it 0."),
        ("AP", "q3", {"missing": "skip"}, None, f"{MISSING}skip leaves it out of the mean."),
        ("AP", "q3", {"missing": "error"}, None, f"{MISSING}error refuses to evaluate the run."),
        ("NumRel", "q3", {}, 1.0, f"{MISSING}zero scores it 1."),
        ("nDCG@3", "q2", {}, 0.0, f"{UNDEFINED}zero scores it 0."),
        ("nDCG@3", "q2", {"undefined": "skip"}, None, f"{UNDEFINED}skip leaves it out of the mean."),
        ("nDCG@3", "q2", {"undefined": "error"}, None, f"{UNDEFINED}error refuses to evaluate the run."),
    ],
)
def test_what_the_policy_settles(
    measure: str, query: str, choices: dict[str, Any], value: float | None, sentence: str
) -> None:
    explanation = explain(measure, QRELS, RUN, query, Policy(**choices), name="sys")
    assert explanation.value == value
    assert texts(explanation)[-1] == sentence


def test_an_empty_list_is_not_a_missing_one() -> None:
    explanation = explain("AP", QRELS, {"q1": []}, "q1")
    assert (explanation.value, explanation.lists[0].score.status) == (0.0, None)
    assert "The list is empty." in texts(explanation)


@dataclass(frozen=True)
class Waiting(Measure):
    """How many documents come before the first relevant one."""

    name = "Waiting"
    better = "lower"
    bounds = (0.0, math.inf)

    def compute(self, block: Block) -> Any:
        relevant = block.relevant()
        first = np.full(block.size, np.nan)
        first[relevant.row[::-1]] = relevant.rank[::-1] - 1
        return first


def test_no_value_is_the_worst() -> None:
    assert texts(explain(Waiting(), QRELS, RUN, "q2"))[-1] == (
        "Waiting is undefined for query q2: undefined=zero leaves it out, because the measure has no worst value."
    )


# -- Which ranks are shown ---------------------------------------------------------------------------------------------


class TestRanks:
    # Relevant at ranks 3, 25, 26 and 40 of 60; four more judged documents are not retrieved.
    RELEVANT = (3, 25, 26, 40)
    QRELS = {"q": {f"d{rank}": 1 for rank in RELEVANT} | {f"missed{i}": 1 for i in range(4)}}
    RUN = {"q": [f"d{rank}" for rank in range(1, 61)]}

    @together(
        "measure, ranks",
        [
            ("P@20", list(range(1, 21))),
            ("AP", [*range(1, 11), "11-24", 25, 26, "27-39", 40, "41-60"]),
            ("nDCG@50", [*range(1, 11), "11-24", 25, 26, "27-39", 40, "41-49", 50]),  # the last, for the ideal list
            ("nDCG@42", [*range(1, 11), "11-24", 25, 26, "27-39", 40, 41, 42]),  # a single rank between is shown
        ],
    )
    def test_what_adds_something_after_the_first_ten(self, measure: str, ranks: list[Any]) -> None:
        assert column(tables(explain(measure, self.QRELS, self.RUN, "q"))[0], "rank") == ranks
        all_ranks = tables(explain(measure, self.QRELS, self.RUN, "q"), all_ranks=True)[0]
        assert column(all_ranks, "rank") == list(range(1, (parse(measure).rank_cutoff or 60) + 1))

    def test_stretches_say_what_they_leave_out(self) -> None:
        table = tables(explain("AP", self.QRELS, self.RUN, "q"))[0]
        assert column(table, "document")[10] == "14 documents that add nothing"
        assert column(table, "sum")[10] is None

    def test_past_the_end_of_the_list(self) -> None:
        qrels = {"q": {f"d{i}": 1 for i in range(30)}}
        table = tables(explain("nDCG@30", qrels, {"q": ["d1", "d2"]}, "q"))[0]
        assert column(table, "rank") == [*range(1, 11), "11-29", 30]
        assert column(table, "document") == ["d1", "d2", *[None] * 8, "past the end of the list", None]
        assert column(table, "ideal gain")[-1] == 1


# -- Several runs ------------------------------------------------------------------------------------------------------


class TestSeveralRuns:
    RUNS = {"one": {"q1": ["a", "b", "x"]}, "two": {"q1": ["a", "c", "b"]}}

    def test_side_by_side(self) -> None:
        [table, judgments, steps] = tables(explain("nCG@3", QRELS, self.RUNS, "q1"))
        assert table.title == "nCG@3 for query q1"
        assert [c.name for c in table.columns] == [
            "rank",
            *(f"one: {name}" for name in ("document", "grade", "gain", "CG")),
            *(f"two: {name}" for name in ("document", "grade", "gain", "CG")),
            "ideal gain",
            "ideal CG",
        ]
        assert column(table, "one: CG") == [3, 5, 5]
        assert column(table, "two: CG") == [3, 3, 5]
        assert column(judgments, "two: retrieved") == [1, 1, 0, 1, 0]
        assert column(steps, "run") == ["one"] * 3 + ["two"] * 3

    def test_where_they_part(self) -> None:
        said = texts(explain("nCG@3", QRELS, self.RUNS, "q1"))
        assert "The lists differ from rank 2: b (one), c (two)." in said
        assert "Their CG differs from rank 2: 5 (one), 3 (two)." in said
        assert "one: nCG@3 = 5 / 6 = 0.8333" in said

    def test_means_over_ranks_show_what_is_averaged(self) -> None:
        explanation = explain("nCG(average=ranks)@3", QRELS, self.RUNS, "q1")
        table = tables(explanation)[0]
        # The ideal list gains 3, 2, 1.
        assert column(table, "one: nCG") == pytest.approx([1, 1, 5 / 6])
        assert column(table, "two: nCG") == pytest.approx([1, 3 / 5, 5 / 6])
        assert "Their nCG differs from rank 2: 1 (one), 0.6000 (two)." in texts(explanation)
        nothing = texts(explain("nCG(average=ranks)@2", QRELS, {"one": {"q2": ["a"]}, "two": {"q2": ["b"]}}, "q2"))
        assert not [text for text in nothing if "Their nCG" in text]

    @pytest.mark.parametrize(
        ("runs", "message"),
        [({}, "runs: at least one run is required"), ([RUN], "runs: expected a dict of names and runs, found")],
    )
    def test_runs_have_names(self, runs: Any, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            explain_runs("AP", QRELS, runs, "q1")

    def test_same_lists_do_not_part(self) -> None:
        same = {"one": self.RUNS["one"], "two": self.RUNS["one"]}
        assert "The lists are identical down to rank 3." in texts(explain("nCG@3", QRELS, same, "q1"))
        other = {"one": {"q1": ["a", "x"]}, "two": {"q1": ["a", "y", "z"]}}
        said = texts(explain("P@5", QRELS, other, "q1"))
        assert "The lists differ from rank 2: x (one), y (two)." in said
        assert "The list in one ends at rank 2." in said

    def test_values_that_stay_the_same(self) -> None:
        other = {"one": {"q1": ["a", "x"]}, "two": {"q1": ["a", "y"]}}
        assert "Their DCG is the same at every rank." in texts(explain("nDCG@2", QRELS, other, "q1"))

    def test_one_of_them_does_not_answer(self) -> None:
        explanation = explain("P@2", QRELS, {"one": self.RUNS["one"], "two": {"q2": ["a"]}}, "q1")
        assert [one.score.status for one in explanation.lists] == [None, "missing"]
        assert "The lists differ from rank 1: a (one), no document (two)." in texts(explanation)


# -- Definitions -------------------------------------------------------------------------------------------------------


def test_every_measure_is_defined() -> None:
    for name, measure in MEASURES.items():
        definition, *others = tables(explain(READ[name][0]))
        about = [row[0] for row in definition.rows if row[0] is not None]
        assert about[:2] == ["formula", "conventions"], name
        assert {"reference", "example"}.issubset(about), name
        names = [row[0] for table in others if table.title.startswith("Parameters of ") for row in table.rows]
        assert names == list(measure.parameters()), name


def test_parameters_and_their_meaning() -> None:
    rows = {row[0]: row[1:] for row in tables(explain("nDCG(gain=0-1-10, discount=rank)@5"))[-1].rows}
    assert rows["gain"] == ("0-1-10", "gain map: grade 0 gives 0, 1 gives 1, 2 gives 10")
    assert rows["discount"][0] == "rank"
    assert rows["base"] == ("2 (default)", "not used with the other parameters")
    assert rows["rel"][0] == "none (default)"
    budget = "@4000t: those within a budget (ideal lists stay whole)"
    assert rows["cutoff"] == ("5", f"@k: only the first k documents count; {budget}")


def test_definition_says_how_values_are_read() -> None:
    said = texts(explain("NumRet"))
    assert said[0] == "NumRet: Number of retrieved documents."
    assert "Neither direction is better; values 0 or more; summed over queries." in said


def test_a_definition_has_no_value() -> None:
    with pytest.raises(UsageError, match="only the definition was explained, without a query"):
        _ = explain("AP").value


# -- Own measures ------------------------------------------------------------------------------------------------------


class TestOwnMeasures:
    def test_without_arithmetic(self) -> None:
        explanation = explain(Waiting(), QRELS, {"q1": ["x", "c", "a", "b"]}, "q1")
        table = tables(explanation)[0]
        assert [c.name for c in table.columns] == ["rank", "document", "grade", "without it", "change", "Waiting"]
        assert column(table, "without it") == [1, 1, 2, 2]
        assert column(table, "change") == [1, 1, 0, 0]
        assert column(table, "Waiting") == [None, None, 2, 2]
        assert (explanation.value, texts(explanation)[-1]) == (2.0, "Waiting = 2")

    def test_long_lists_without_arithmetic(self) -> None:
        run = {"q1": ["a", *(f"x{i}" for i in range(30))]}
        table = tables(explain(Waiting(), QRELS, run, "q1"))[0]
        assert column(table, "rank") == [*range(1, 11), "11-31"]
        assert column(table, "document")[10] == "21 documents that add nothing"

    def test_arithmetic_that_comes_to_something_else_is_not_shown(self) -> None:
        @dataclass(frozen=True)
        class Wrong(Waiting):
            name = "Wrong"

            def arithmetic(self, block: Block) -> Arithmetic:
                return Arithmetic({}, (Step("Wrong", "", (), 7.0),))

        with pytest.raises(UsageError, match="Wrong: its arithmetic gives 7, not the score 2"):
            explain(Wrong(), QRELS, {"q1": ["x", "c", "a"]}, "q1")


# -- From an evaluation ------------------------------------------------------------------------------------------------


class TestFromAnEvaluation:
    QRELS_TEXT = "q1 0 a 3\nq1 0 b 2\nq2 0 a 1\n"
    RUN_TEXT = "q1 Q0 b 1 9 t\nq1 Q0 a 2 8 t\nq2 Q0 x 1 5 t\n"

    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[str, str]:
        (tmp_path / "qrels").write_text(self.QRELS_TEXT)
        (tmp_path / "r.run").write_text(self.RUN_TEXT)
        return str(tmp_path / "qrels"), str(tmp_path / "r.run")

    def test_from_every_kind_of_run(self, files: tuple[str, str]) -> None:
        kinds: list[Any] = [
            files[1],
            Path(files[1]),
            self.RUN_TEXT.encode(),
            Run.read(files[1]),
            {"q1": {"b": 9, "a": 8}, "q2": {"x": 5}},
        ]
        for kind in kinds:
            explanation = evaluate(files[0], kind, ["RR", "CG@2"]).explain("CG@2", "q1")
            assert [str(step) for step in explanation.steps] == ["CG@2 = 2 + 3 = 5"]
            assert explanation.lists[0].documents == ("b", "a")

    def test_from_files_that_were_read_ahead(self, files: tuple[str, str]) -> None:
        policy = Policy()
        ahead = ReadAhead.start(files[0], [files[1]], policy, 1, Progress(), lambda *_: True)
        if ahead is None:
            pytest.skip("this core does not read ahead")
        [result] = evaluate_runs(ahead.judged(), {"r": ahead.runs()[0]}, [parse("P@2")]).values()
        assert result.explain("P@2", "q1").value == 1.0

    def test_under_its_policy(self) -> None:
        result = evaluate(QRELS, RUN, "AP", policy=Policy(unjudged="condensed", missing="skip"))
        assert result.explain("AP", "q1").lists[0].is_condensed
        assert result.explain("AP", "q3").value is None

    def test_under_the_name_of_the_run(self) -> None:
        results = evaluate(QRELS, {"mine": RUN}, "AP")
        assert tables(results["mine"].explain("AP", "q1"))[0].title == "AP of mine for query q1"

    def test_scale_is_that_of_all_judgments(self) -> None:
        qrels = {"q1": {"a": 1}, "q2": {"a": 4}}
        explanation = evaluate(qrels, {"q1": ["a"], "q2": ["a"]}, "CG(gain=scaled)").explain("CG(gain=scaled)", "q1")
        assert explanation.value == 0.25

    def test_signature_is_that_of_the_evaluation(self) -> None:
        result = evaluate(QRELS, {"q1": ["a"]}, "AP")
        assert str(result.explain("AP", "q1").signature) == str(result.signature("AP"))

    def refused(self, result: Evaluation, measure: str = "AP", query: str = "q1") -> str:
        with pytest.raises((UsageError, InputError)) as caught:
            result.explain(measure, query)
        return str(caught.value)

    def test_not_after_travelling(self) -> None:
        travelled = pickle.loads(pickle.dumps(evaluate(QRELS, RUN, "AP")))
        assert travelled.by_query("AP") == evaluate(QRELS, RUN, "AP").by_query("AP")
        assert self.refused(travelled).endswith(
            "hint: evaluate again, or use gainful.explain(measure, qrels, run, query)"
        )

    def test_not_after_merging(self) -> None:
        qrels = Qrels.from_dict(QRELS)
        parts = [evaluate(qrels.select([query]), RUN, "AP") for query in ("q1", "q2")]
        assert "the evaluation was merged" in self.refused(parts[0].merge(parts[1]))

    def test_not_from_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q1 Q0 a 1 1 t\n")))
        message = self.refused(evaluate(QRELS, "-", "AP"))
        assert "the run <stdin> cannot be read again" in message

    def test_not_when_the_run_has_changed(self, files: tuple[str, str]) -> None:
        result = evaluate(files[0], files[1], "RR")
        Path(files[1]).write_text("q1 Q0 x 1 9 t\nq1 Q0 a 2 8 t\n")
        assert self.refused(result, "RR") == (
            f"{files[1]}: RR of query 'q1' was 1 and is now 0.5000\nhint: the run has changed: evaluate it again"
        )

    def test_only_what_was_evaluated(self) -> None:
        assert self.refused(evaluate(QRELS, RUN, "AP"), "P@5") == "P@5 was not evaluated; evaluated: AP"


# -- Messages ----------------------------------------------------------------------------------------------------------


@together(
    "arguments, message",
    [
        (("AP", QRELS, RUN, "q7"), r"^<dict>: query 'q7' is not judged\nhint: did you mean q1 or q2 or q3\?$"),
        (("AP", {f"q{i:03}": {"d": 1} for i in range(1, 100)}, RUN, "q01"), "hint: did you mean q001 or "),
        (("AP", QRELS, RUN, "zzzz"), r"hint: judged queries are q1, q2, q3$"),
        (("nDGC@10", QRELS, RUN, "q1"), "unknown measure 'nDGC'"),
        (("AP", QRELS), "qrels, run and query are needed together; missing: run, query"),
        (("CG(gain=0-1)@3", QRELS, RUN, "q1"), "no weight for these grades"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    error = InputError if message.endswith("these grades") else UsageError
    with pytest.raises(error, match=message):
        explain(*arguments)


# -- Formats -----------------------------------------------------------------------------------------------------------


class TestFormats:
    EXPLANATION = explain("P@2", {"q1": {"d1": 2, "d_2": 0}}, {"q1": ["d_2", "d1"]}, "q1", name="sys")

    def test_text(self) -> None:
        text = str(self.EXPLANATION)
        assert text.splitlines()[4:9] == [
            "P@2 of sys for query q1",
            "rank  document  grade  relevant  found       P",
            "----  --------  -----  --------  -----  ------",
            "   1  d_2           0         0      0  0.0000",
            "   2  d1            2         1      1  0.5000",
        ]
        assert "\nP@2 = 1 / 2 = 0.5000\n" in text
        assert text.splitlines()[-1].startswith("P@2 | conventions: order:input | scale:2 | ")
        assert repr(self.EXPLANATION) == "<Explanation of P@2 for query q1>"

    def test_markdown(self) -> None:
        markdown = self.EXPLANATION.text("markdown")
        assert "### P@2 of sys for query q1" in markdown
        assert "|    1 | d\\_2     |     0 |        0 |     0 | 0.0000 |" in markdown

    def test_html(self) -> None:
        html = self.EXPLANATION._repr_html_()
        assert "<caption>P@2 of sys for query q1</caption>" in html
        assert "<p>P@2 = 1 / 2 = 0.5000</p>" in html

    def test_places(self) -> None:
        assert "0.50" in render_text(self.EXPLANATION.page(places=2))
        assert "0.5000" not in render_text(self.EXPLANATION.page(places=2))

    def test_file(self, tmp_path: Path) -> None:
        self.EXPLANATION.save(tmp_path / "slide.md")
        *text, conventions = (tmp_path / "slide.md").read_text().splitlines()
        assert text == self.EXPLANATION.text("markdown").splitlines()[:-1]
        assert conventions.startswith("`P@2|order:input|ties:docid-desc|")


def test_run_select_keeps_what_is_asked_for() -> None:
    run = Run.read(b"q1 Q0 a 1 3 t\nq2 Q0 b 1 2 t\nq1 Q0 c 2 1 t\nq3 Q0 d 1 1 t\n")
    part = run.select(["q3", "q1", "q9"])
    assert part.queries == ["q1", "q3"]
    assert [part.document(row) for row in range(len(part))] == [b"a", b"c", b"d"]
    assert part.score.tolist() == [3, 1, 1]
    assert part.rank.tolist() == [1, 2, 1]
    assert [part.query_of(row) for row in range(3)] == [b"q1", b"q1", b"q3"]
    assert len(run.select(["q9"])) == 0
    with pytest.raises(UsageError, match="expected several queries to select"):
        run.select("q1")


def test_own_measures_side_by_side() -> None:
    explanation = explain(Waiting(), QRELS, {"one": {"q1": ["a", "x"]}, "two": {"q1": ["x", "a", "b"]}}, "q1")
    of_run = ("document", "grade", "change", "Waiting")
    names = [c.name for c in tables(explanation)[0].columns]
    assert names == ["rank", *(f"{run}: {name}" for run in ("one", "two") for name in of_run)]
    assert "The lists differ from rank 1: a (one), x (two)." in texts(explanation)
    assert texts(explanation)[-2:] == ["one: Waiting = 0", "two: Waiting = 1"]
