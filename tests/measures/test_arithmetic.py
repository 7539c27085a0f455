"""Arithmetic of measures that define it, in words; for all others it is derived from shorter lists.

tests/evaluation/test_explanation.py compares it with the scores of all measures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful import Measure, Policy, Qrels, evaluate, explain
from gainful.measures.arithmetic import Step, figure
from gainful.measures.catalog import MEASURES
from tests.laws.test_laws import READ

#: The measures that people compute by hand.
WRITTEN = [name for name, measure in MEASURES.items() if measure.arithmetic is not Measure.arithmetic]


def test_measures_that_define_their_arithmetic() -> None:
    assert {"CG", "DCG", "nCG", "nDCG", "P", "R", "F", "AP", "RR", "RBP", "ERR", "Q"} <= set(WRITTEN)


@pytest.mark.parametrize("policy", [Policy(subtopics=True), Policy(subtopics=True, negative="unjudged")])
def test_derived_from_shorter_lists(policy: Policy) -> None:
    """Each shorter list as a separate query."""
    judged = {"a": 3, "b": -1, "c": 1, "d": 0, "e": 2, "m": 1, "n": 3}
    ranked = ["b", "x", "a", "d", "c", "y", "e"]
    lists = {"whole": ranked}
    lists |= {f"to {place}": ranked[: place + 1] for place in range(7)}
    lists |= {f"without {place}": ranked[:place] + ranked[place + 1 :] for place in range(7)}
    run = {query: {each: 0.9 - ranked.index(each) / 10 for each in documents} for query, documents in lists.items()}
    items = {document: f"g{place % 3}|h{place % 2}" for place, document in enumerate("abcdexymn")}
    training = {query: ["m", "b"] for query in lists}
    qrels = Qrels.from_dict(dict.fromkeys(lists, judged)).with_items(items, training)
    measures = [READ[name][0] for name in MEASURES if name not in WRITTEN]
    result = evaluate(qrels, run, measures, policy=policy)
    for measure, scores in zip(measures, result.raw.tolist(), strict=True):
        score = dict(zip(result.queries, scores, strict=True))
        explanation = explain(measure, qrels, run, "whole", policy)
        assert explanation.steps[-1].value == pytest.approx(score["whole"], nan_ok=True), str(measure)
        for column, which in ((measure.name, "to"), ("without it", "without")):
            found = explanation.columns[column].tolist()
            expected = [score[f"{which} {place}"] for place in range(len(found))]
            assert found == pytest.approx(expected, nan_ok=True), (str(measure), column)


def test_derived_from_condensed_lists() -> None:
    """Without unjudged documents, one relevant and one other document remain."""
    explanation = explain(
        "Bpref", {"q": {"a": 1, "b": 0}}, {"q": ["x", "b", "y", "a"]}, "q", Policy(unjudged="condensed")
    )
    assert {name: values.tolist() for name, values in explanation.columns.items()} == {
        "without it": [1, 0],
        "change": [-1, 0],
        "Bpref": [0, 0],
    }


class TestSteps:
    @pytest.mark.parametrize(
        ("measure", "grades", "missed", "lines"),
        [
            ("P@4", [2, 0, 1, 0], [], ["P@4 = 2 / 4 = 0.5000"]),
            ("R@4", [2, 0, 1, 0], [1], ["R@4 = 2 / 3 = 0.6667"]),
            ("R@4", [0], [], ["R@4 = 0 / 0 is undefined (nothing is relevant)"]),
            ("CG@4", [2, 0, 1, 3], [], ["CG@4 = 2 + 1 + 3 = 6"]),
            ("CG(average=ranks)@4", [2, 1], [], ["CG(average=ranks)@4 = (2 + 3 + 3 + 3) / 4 = 2.7500"]),
            (
                "nDCG@3",
                [1, 0, 2],
                [3],
                [
                    "DCG@3 = 1 + 1 = 2",
                    "ideal DCG@3 = 3 + 1.2619 + 0.5000 = 4.7619",
                    "nDCG@3 = 2 / 4.7619 = 0.4200",
                ],
            ),
            (
                "nDCG@3",
                [0],
                [],
                ["DCG@3 = 0", "ideal DCG@3 = 0", "nDCG@3 = 0 / 0 is undefined (no document has a gain above 0)"],
            ),
            ("AP", [1, 0, 1], [1], ["sum of precisions = 1 + 0.6667 = 1.6667", "AP = 1.6667 / 3 = 0.5556"]),
            ("RR", [0, 0, 1], [], ["RR = 1 / 3 = 0.3333 (the first relevant document is at rank 3)"]),
            ("RR@2", [0, 0, 1], [], ["RR@2 = 0 (no relevant document in the top 2)"]),
            (
                "F@4",
                [2, 0, 1, 0],
                [1],
                [
                    "P@4 = 2 / 4 = 0.5000",
                    "R@4 = 2 / 3 = 0.6667",
                    "F@4 = (1 + 1) * 0.5000 * 0.6667 / (1 * 0.5000 + 0.6667) = 0.5714",
                ],
            ),
            ("SetF", [0], [1], ["SetP = 0 / 1 = 0", "SetR = 0 / 1 = 0", "SetF = 0 (no relevant document was found)"]),
            ("RBP(p=0.5)", [1, 0, 1], [], ["RBP(p=0.5) = 0.5000 + 0.1250 = 0.6250"]),
            ("ERR", [1, 2], [], ["ERR = 0.2500 + 0.2812 = 0.5312"]),
        ],
    )
    def test_in_words(self, measure: str, grades: list[float | None], missed: list[float], lines: list[str]) -> None:
        judged = {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}
        judged |= {f"m{i}": grade for i, grade in enumerate(missed)}
        explanation = explain(measure, {"q": judged}, {"q": [f"d{i}" for i in range(len(grades))]}, "q")
        assert [str(step) for step in explanation.steps] == lines

    def test_long_sums_are_abbreviated(self) -> None:
        step = Step.sum_of("CG", np.arange(0.0, 13.0), 78.0)
        assert str(step) == "CG = 1 + 2 + 3 + 4 + 5 + 6 + ... + 12 = 78 (12 terms)"

    def test_places(self) -> None:
        assert Step("P@3", "{} / {}", (2, 3), 2 / 3).text(2) == "P@3 = 2 / 3 = 0.67"
        assert (figure(0.00001234, 2), figure(1e20), figure(-0.5, 1)) == ("1.23e-05", "1e+20", "-0.5")

    def test_infinite_numbers(self) -> None:
        assert (figure(math.inf), figure(-math.inf)) == ("inf", "-inf")

    def test_a_value_that_is_undefined(self) -> None:
        assert str(Step("X", "", (), math.nan)) == "X is undefined"
