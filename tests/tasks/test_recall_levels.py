"""Precision–recall curves, by level and generalised: against plain Python, by hand, and refused input."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction
from typing import Any

import pytest

from gainful import Policy, Qrels, generalised_recall, recall_levels
from gainful.errors import InputError, UsageError
from gainful.tasks.curves.recall_levels import Difference
from tests.together import together

Grades = dict[str, dict[str, float]]
Lists = dict[str, dict[str, float]]

# q2 has no document of grade 3, q3 none of grade 2 and 3.
QRELS: Grades = {"q1": {"a": 3, "b": 1, "c": 2, "d": 0}, "q2": {"a": 2, "b": 1, "c": 0}, "q3": {"a": 1, "b": 0, "c": 0}}
# Ranks of the relevant documents: q1 b a d c, q2 a c b, q3 b a.
ONE: Lists = {"q1": {"b": 4, "a": 3, "d": 2, "c": 1}, "q2": {"a": 3, "c": 2, "b": 1}, "q3": {"b": 2, "a": 1}}
# q1 a c d b, q2 c b a, q3 a.
TWO: Lists = {"q1": {"a": 4, "c": 3, "d": 2, "b": 1}, "q2": {"c": 3, "b": 2, "a": 1}, "q3": {"a": 1}}


def random_case(seed: int) -> tuple[Grades, dict[str, Lists]]:
    """Judgments with negative and fractional grades, lists with unjudged documents, ties and queries without one."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(12)]
    qrels = {
        f"q{q}": {d: rng.choice([-1, 0, 0, 1, 1, 2, 2.5]) for d in rng.sample(documents, rng.randint(3, 10))}
        for q in range(8)
    }
    qrels["q0"] = {"d0": 2.5, "d1": 2, "d2": 1}  # so that every level is there
    runs = {
        name: {
            query: {d: float(rng.randint(0, 6)) for d in rng.sample([*documents, "x", "y"], rng.randint(1, 12))}
            for query in qrels
            if rng.random() < 0.9
        }
        for name in ("one", "two")
    }
    return qrels, runs


def ranked(scores: dict[str, float]) -> list[str]:
    return [document for _, document in sorted(((score, d) for d, score in scores.items()), reverse=True)]


def naive_level(
    grades: dict[str, float], scores: dict[str, float], mode: str, grade: float, points: int, recall_cut: str
) -> list[float] | None:
    """Average precision and the curve of one list, in plain Python; None if nothing is relevant."""
    relevant = {d for d, g in grades.items() if (g == grade if mode == "level" else g >= grade)}
    if not relevant:
        return None
    found, at_hit, precisions = 0, 0.0, []
    for rank, document in enumerate(ranked(scores), start=1):
        found += document in relevant
        precisions.append((found, found / rank))
        at_hit += found / rank if document in relevant else 0.0
    curve = []
    for i in range(points):
        added = {"round": 0.5, "ceil0.9": 0.9}.get(recall_cut)
        exact = math.ceil(Fraction(i, points - 1) * len(relevant))
        needed = exact if added is None else math.floor(i / (points - 1) * len(relevant) + added)
        curve.append(max((precision for count, precision in precisions if count >= needed), default=0.0))
    return [at_hit / len(relevant), *curve]


@together("seed", range(12))
def test_levels_against_plain_python(seed: int) -> None:
    qrels, runs = random_case(seed)
    points, recall_cut = (2, 3, 7, 11, 21)[seed % 5], ("exact", "round", "ceil0.9")[seed % 3]
    missing = ("zero", "skip")[seed // 2 % 2]
    found = recall_levels(qrels, runs, points=points, policy=Policy(recall_cut=recall_cut, missing=missing))
    assert found.recall == tuple(i / (points - 1) for i in range(points))
    assert [(base.mode, base.grade) for base in found.bases] == [(m, g) for m in ("level", "rel") for g in (1, 2, 2.5)]
    for name, lists in runs.items():
        for base in found.bases:
            naive = {}
            for query, grades in qrels.items():
                if query in lists:
                    value = naive_level(grades, lists[query], base.mode, base.grade, points, recall_cut)
                    if value is not None:
                        naive[query] = value
                elif missing == "zero":
                    naive[query] = [0.0] * (points + 1)
            average, *curve = (math.fsum(column) / len(naive) for column in zip(*naive.values(), strict=True))
            assert found.average_precision(name, base.grade, base.mode) == pytest.approx(average, abs=1e-12)
            assert found.precision(name, base.grade, base.mode) == pytest.approx(curve, abs=1e-12)


def naive_generalised(grades: dict[str, float], scores: dict[str, float], points: int) -> list[float] | None:
    """The average over eleven points and the curve of one list, in exact fractions."""
    worth = {d: Fraction(str(max(g, 0))) / Fraction("2.5") for d, g in grades.items()}
    base, total, curve = sum(worth.values()), Fraction(0), []
    if not base:
        return None
    for rank, document in enumerate(ranked(scores), start=1):
        total += worth.get(document, Fraction(0))
        curve.append((total / base, total / rank))

    def at(recall: Fraction) -> float:
        return float(max((precision for reached, precision in curve if reached >= recall), default=Fraction(0)))

    average = math.fsum(at(Fraction(tenth, 10)) for tenth in range(11)) / 11
    return [average, *(at(Fraction(i, points - 1)) for i in range(points))]


@together("seed", range(8))
def test_generalised_against_plain_python(seed: int) -> None:
    qrels, runs = random_case(seed)
    points = (2, 4, 6, 11)[seed % 4]
    found = generalised_recall(qrels, runs, points=points)
    for name, lists in runs.items():
        values = [naive_generalised(grades, lists.get(query, {}), points) for query, grades in qrels.items()]
        # By default a query without anything relevant scores 0.
        columns = zip(*(value or [0.0] * (points + 1) for value in values), strict=True)
        average, *curve = (math.fsum(column) / len(qrels) for column in columns)
        assert found.average(name) == pytest.approx(average, abs=1e-9)
        assert found.precision(name) == pytest.approx(curve, abs=1e-9)


class TestByHand:
    """ONE and TWO, with their ranks."""

    def test_recall_bases(self) -> None:
        found = recall_levels(QRELS, {"one": ONE})
        sizes = {(base.mode, base.grade): base.sizes for base in found.bases}
        assert sizes == {
            ("level", 1): (1, 1, 1),
            ("level", 2): (1, 1, 0),
            ("level", 3): (1, 0, 0),
            ("rel", 1): (3, 2, 1),
            ("rel", 2): (2, 1, 0),
            ("rel", 3): (1, 0, 0),
        }
        base = found.base(2, "rel")
        assert (base.queries, base.empty, base.documents) == (2, 1, 3)
        row = next(found.page().tables).rows[4]  # mean, median, lowest and highest of these queries
        assert row[2:] == ("grade 2 or more", 2, 1, 3, 1.5, 1.5, 1, 2)

    def test_differences(self) -> None:
        found = recall_levels(QRELS, {"one": ONE, "two": TWO})
        assert found.baseline == "one"
        assert found.difference("two", 3) == (50, 100)
        points, per_cent = found.difference("two", 2)  # 5/12 to 5/8
        assert (points, per_cent) == (pytest.approx(-100 * 5 / 24), pytest.approx(-100 / 3))
        assert found.difference("one", 3) == (0, 0)
        other = recall_levels(QRELS, {"one": ONE, "two": TWO}, baseline="two")
        assert other.difference("one", 3) == (-50, -50)

    def test_gain_map(self) -> None:
        """Grades 1 and 3 at ranks 1 and 2; with exp2 they are worth 1/7 and 1."""
        found = generalised_recall({"q1": {"a": 1, "b": 3}}, {"one": {"q1": ["a", "b"]}}, gain="exp2", points=2)
        assert found.precision("one") == (pytest.approx(8 / 7 / 2), pytest.approx(8 / 7 / 2))
        binary = generalised_recall({"q1": {"a": 1, "b": 3}}, {"one": {"q1": ["x", "b"]}}, gain={1: 2, 3: 2}, points=3)
        assert binary.precision("one") == (0.5, 0.5, 0.0)


def test_difference_that_is_none() -> None:
    assert Difference.of(0.5, 0.0) == (50.0, None)
    assert Difference.of(math.nan, 0.5) == (None, None)
    assert Difference.of(0.5, math.nan) == (None, None)


class TestEmptyBases:
    def test_queries_without_a_base_are_left_out_whatever_the_default(self) -> None:
        for undefined in ("zero", "skip"):
            found = recall_levels(QRELS, {"one": ONE}, policy=Policy(undefined=undefined))
            [evaluation] = found.evaluations
            assert evaluation.by_query("AP(level=3)") == {"q1": 0.5, "q2": None, "q3": None}
            assert evaluation.by_query("IPrec(level=3)@1") == {"q1": 0.5, "q2": None, "q3": None}
            assert evaluation.count("AP(level=3)") == 1
            assert "undefined:skip" in str(evaluation.signature())

    def test_error_stays_an_error(self) -> None:
        with pytest.raises(InputError, match=r"1 query has no document of grade 2 \('q3' first\).*undefined=error"):
            recall_levels(QRELS, {"one": ONE}, policy=Policy(undefined="error"))
        found = recall_levels(QRELS, {"one": ONE}, levels=[1], policy=Policy(undefined="error"))
        assert found.average_precision("one", 1) == pytest.approx(11 / 18)

    def test_generalised_follows_the_policy(self) -> None:
        qrels = {**QRELS, "q4": {"a": 0}}
        zero, skip = (
            generalised_recall(qrels, {"one": ONE}, policy=Policy(undefined=undefined, missing="skip"))
            for undefined in ("zero", "skip")
        )
        assert zero.average("one") == skip.average("one")  # q4 is not answered
        answered = {**ONE, "q4": {"a": 1.0}}
        zero, skip = (
            generalised_recall(qrels, {"one": answered}, policy=Policy(undefined=undefined))
            for undefined in ("zero", "skip")
        )
        assert zero.average("one") == pytest.approx(skip.average("one") * 3 / 4)


class TestLevels:
    def test_chosen_ones_in_ascending_order(self) -> None:
        found = recall_levels(QRELS, {"one": ONE}, levels=["3", 1], by="level")
        assert [(base.mode, base.grade) for base in found.bases] == [("level", 1), ("level", 3)]

    def test_a_threshold_need_not_be_a_grade(self) -> None:
        between, at = (recall_levels(QRELS, {"one": ONE}, levels=[level], by="rel") for level in (1.5, 2))
        assert between.precision("one", 1.5, "rel") == at.precision("one", 2, "rel")

    def test_grades_are_those_after_grade_zero(self) -> None:
        shifted = {query: {d: grade + 1 for d, grade in grades.items()} for query, grades in QRELS.items()}
        found = recall_levels(shifted, {"one": ONE}, policy=Policy(grade_zero=1))
        assert [base.grade for base in found.bases] == [1, 2, 3] * 2
        assert found.average_precision("one", 3) == 0.5

    def test_of_a_selection_of_queries(self) -> None:
        found = recall_levels(Qrels.from_dict(QRELS).select(["q2"]), {"one": ONE}, by="level")
        assert [base.grade for base in found.bases] == [1, 2]
        assert found.average_precision("one", 2) == 1

    @together(
        ("arguments", "message"),
        [
            ({"levels": [4]}, "no document in <dict> has grade 4 or more; the highest is 3"),
            ({"levels": [4], "by": "rel"}, "no document in <dict> has grade 4 or more"),
            ({"levels": [1.5]}, "no document in <dict> has grade 1.5; there are 1, 2, 3"),
            ({"levels": [0, 1]}, "expected grades above 0, found 0"),
            ({"levels": [2, 2.0]}, "duplicate level 2"),
            ({"levels": []}, "levels: at least one is required"),
            ({"levels": ["high"]}, "levels: expected a number, found 'high'"),
            ({"by": "levels"}, "by: expected level | rel | both, found 'levels'"),
            ({"points": 1}, "points: expected a whole number from 2 to 1001, found 1"),
            ({"points": 2.5}, "points: expected a whole number"),
            ({"baseline": "on"}, "no run is called 'on'; runs: one\nhint: did you mean one?"),
        ],
    )
    def test_refused(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError) as error:
            recall_levels(QRELS, {"one": ONE}, **arguments)
        assert message in str(error.value)

    def test_many_grades_have_to_be_chosen_from(self) -> None:
        qrels = {"q1": {f"d{i}": i / 10 for i in range(14)}}
        with pytest.raises(
            UsageError, match=r"<dict> has 13 different grades, 0\.1 to 1\.3, too many for one curve each"
        ):
            recall_levels(qrels, {"one": {"q1": ["d13"]}})
        found = recall_levels(qrels, {"one": {"q1": ["d13"]}}, levels=[1.2], by="rel")
        assert found.base(1.2, "rel").sizes == (2,)

    def test_nothing_relevant(self) -> None:
        with pytest.raises(InputError, match="<dict>: no grade is above 0"):
            recall_levels({"q1": {"a": 0, "b": -1}}, {"one": {"q1": ["a"]}})

    def test_runs(self) -> None:
        with pytest.raises(UsageError, match="at least one run is required"):
            recall_levels(QRELS, {})
        with pytest.raises(UsageError, match="expected a dict of names and runs"):
            generalised_recall(QRELS, "one.run")  # type: ignore[arg-type]

    def test_unknown_levels_and_runs(self) -> None:
        found = recall_levels(QRELS, {"one": ONE}, by="level")
        with pytest.raises(UsageError, match="expected one of level=1, level=2, level=3, found rel=1"):
            found.average_precision("one", 1, "rel")
        with pytest.raises(UsageError, match="no run is called 'two'; runs: one"):
            found.average_precision("two", 1)


class TestShown:
    def test_charts(self) -> None:
        found = recall_levels(QRELS, {"one": ONE, "two": TWO}, points=3)
        charts = list(found.page().charts)
        # The highest grade and "the highest or more" are the same documents: one chart.
        assert [chart.title for chart in charts] == [
            "Relevant: grade 1",
            "Relevant: grade 2",
            "Relevant: grade 3, the highest",
            "Relevant: grade 1 or more",
            "Relevant: grade 2 or more",
        ]
        [line, other] = charts[2].lines
        assert (line.name, line.x, line.y) == ("one", (0.0, 0.5, 1.0), (0.5, 0.5, 0.5))
        assert (other.name, other.y) == ("two", (1.0, 1.0, 1.0))
        assert {(chart.x.label, chart.y.label, chart.x.high, chart.y.high) for chart in charts} == {
            ("recall", "precision", 1.0, 1.0)
        }

    def test_only_equal_charts_are_drawn_once(self) -> None:
        # As many documents have grade 1 as have grade 3 or more, but others; and grade 1 is not the highest.
        qrels, runs = {"q1": {"a": 3, "b": 1}}, {"one": {"q1": ["a", "b"]}}
        titles = [chart.title for chart in recall_levels(qrels, runs).page().charts]
        assert titles == ["Relevant: grade 1", "Relevant: grade 3, the highest", "Relevant: grade 1 or more"]
        for by, name in (("level", "Relevant: grade 3"), ("rel", "Relevant: grade 3 or more")):
            assert [chart.title for chart in recall_levels(qrels, runs, levels=3, by=by).page().charts] == [name]
        both = recall_levels(qrels, runs, levels=[1]).page().charts
        assert [chart.title for chart in both] == ["Relevant: grade 1", "Relevant: grade 1 or more"]

    def test_axis_ends_at_the_next_tenth_above_all_charts(self) -> None:
        qrels, run = {"q1": {"a": 1, "b": 2}}, {"q1": ["x", "y", "a", "z", "b"]}
        highs = {chart.y.high for chart in recall_levels(qrels, {"one": run}).page().charts}
        assert highs == {0.4}  # 2/5 is the highest of all

    def test_generalised_chart(self) -> None:
        found = generalised_recall(QRELS, {"one": ONE, "two": TWO}, points=5)
        [chart] = found.page().charts
        assert [(line.name, line.y) for line in chart.lines] == [(run, found.precision(run)) for run in ("one", "two")]
        assert (chart.title, chart.x.label, chart.y.label) == (
            "Generalised precision–recall (gain=scaled)",
            "generalised recall",
            "generalised precision",
        )

    def test_many_runs_become_rows(self) -> None:
        runs = {f"run{i}": ONE for i in range(9)}
        tables = {table.title: table for table in recall_levels(QRELS, runs).page().tables}
        average = tables["Average precision (AvP)"]
        assert [column.name for column in average.columns][:3] == ["run", "grade 1", "grade 2"]
        assert [row[0] for row in average.rows] == list(runs)
        assert len(average.marked) == 9 * 6  # all are equally good
        # Grade 1 or more: one has (11/12 + 5/6 + 1/2) / 3, two (11/12 + 7/12 + 1) / 3.
        few = {table.title: table for table in recall_levels(QRELS, {"one": ONE, "two": TWO}).page().tables}
        assert [column.name for column in few["Average precision (AvP)"].columns] == ["relevant", "one", "two"]
        assert few["Average precision (AvP)"].marked == {(0, 1), (1, 1), (2, 2), (3, 2), (4, 1), (5, 2)}

    def test_one_run_is_not_compared(self) -> None:
        page = recall_levels(QRELS, {"one": ONE}).page()
        assert not any(isinstance(part, str) for part in page.parts)
        assert [table.title for table in page.tables] == [
            "Recall bases",
            "Average precision (AvP)",
            "AvP",
            "Precision at recall",
        ]

    def test_largest_difference(self) -> None:
        page = recall_levels(QRELS, {"one": ONE, "two": TWO}).page()
        assert page.parts[0] == (
            "Largest difference in average precision from one: two at grade 3, +50.00 points (+100.0%)."
        )

    def test_unanswered_queries_are_noted(self) -> None:
        """q3 has no document of grade 3, but a run that does not answer it scores 0: missing comes before undefined."""
        short = {query: documents for query, documents in TWO.items() if query != "q3"}
        found = recall_levels(QRELS, {"one": ONE, "two": short})
        assert found.average_precision("two", 3) == 1 / 2
        text = " ".join(found.text().split())
        assert "grade 3: means over one 1, two 2 queries; queries not answered score 0" in text
        skipped = recall_levels(QRELS, {"one": ONE, "two": short}, policy=Policy(missing="skip"))
        assert skipped.average_precision("two", 3) == 1
        assert "grade 3: means" not in skipped.text()
        assert "grade 1: means over one 3, two 2 queries; queries not answered are omitted" in " ".join(
            skipped.text().split()
        )

    def test_results_travel(self) -> None:
        found = recall_levels(QRELS, {"one": ONE, "two": TWO})
        assert pickle.loads(pickle.dumps(found)).text("jsonl") == found.text("jsonl")

    def test_same_in_any_order_of_the_input(self) -> None:
        turned = {query: dict(reversed(grades.items())) for query, grades in reversed(QRELS.items())}
        lists = {query: dict(reversed(documents.items())) for query, documents in reversed(ONE.items())}
        assert recall_levels(QRELS, {"one": ONE}).text("csv") == recall_levels(turned, {"one": lists}).text("csv")
