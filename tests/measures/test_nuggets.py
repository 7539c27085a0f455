"""Nuggets assigned to passages and answers, as nuggetizer writes them, are weighted sub-topics."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

from gainful import InputError, Policy, Qrels, Rule, UsageError, check_gate, compare, evaluate, freeze_gate

BY_NUGGET = Policy(subtopics=True)
NUGGETS = {"created by Guido van Rossum": "vital", "a high-level language": "vital", "used for data science": "okay"}


def line(query: str, assignments: list[str], **of: str) -> dict[str, Any]:
    """An object of nuggetizer's output."""
    nuggets = [
        {"text": text, "importance": importance, "assignment": assignment}
        for (text, importance), assignment in zip(NUGGETS.items(), assignments, strict=True)
    ]
    return {"text": "What is Python?", "qid": query, "candidate_text": "...", **of, "nuggets": nuggets}


def weighted_score(nuggets: list[dict[str, str]], strict: bool, okay: float = 0.5) -> float:
    """The weighted score of an answer in the TREC 2024 RAG track: okay nuggets and partial support count half.

    If okay nuggets count in full, or not, it is nuggetizer's ``all_score`` or ``vital_score``.
    """
    worth = {"support": 1.0, "partial_support": 0.0 if strict else 0.5, "not_support": 0.0}
    weights = [1.0 if each["importance"] == "vital" else okay for each in nuggets]
    gained = sum(weight * worth[each["assignment"]] for weight, each in zip(weights, nuggets, strict=True))
    return gained / sum(weights)


def test_answers_score_as_in_nuggetizer() -> None:
    rng = random.Random(4)
    labels = ["support", "partial_support", "not_support"]
    answers = [
        line(f"q{i}", rng.choices(labels, k=3), run_id=run) for i in range(40) for run in ("one", "other", "third")
    ]
    qrels = Qrels.of(answers)
    alike = qrels.with_items(intents={each["qid"]: dict.fromkeys(NUGGETS, 1 / 3) for each in answers})
    vital = Qrels.of([{**each, "nuggets": each["nuggets"][:2]} for each in answers])
    runs = {run: {f"q{i}": [run] for i in range(40)} for run in ("one", "other")}
    measures = {"alpha-DCG(gain=linear)@1": False, "alpha-DCG(rel=1)@1": True}
    for (name, run), (measure, strict) in product(runs.items(), measures.items()):
        nuggets = {each["qid"]: each["nuggets"] for each in answers if each["run_id"] == name}
        for judgments, okay in ((qrels, 0.5), (alike, 1.0), (vital, 0.0)):
            found = evaluate(judgments, run, measure, policy=BY_NUGGET, undefined="zero").by_query(measure)
            expected = {query: weighted_score(each, strict, okay) for query, each in nuggets.items()}
            assert found == pytest.approx(expected, abs=1e-12)
    # Tests and the gate have a score per query.
    result = compare(qrels, runs, "alpha-nDCG@1", policy=BY_NUGGET)
    assert result.pairs["alpha-nDCG@1"].n == 40
    gate = freeze_gate(qrels, runs["one"], "alpha-nDCG@1", rule=Rule(0.5), policy=BY_NUGGET)
    assert check_gate(gate, qrels, runs["one"]).verdict == "pass"


def test_passages_cover_nuggets() -> None:
    lines = [
        line("q1", ["not_support", "support", "partial_support"], docid="d1"),
        line("q1", ["support", "support", "not_support"], docid="d2"),
        line("q2", ["not_support", "not_support", "support"], docid="d1"),
    ]
    text = "".join(json.dumps(each) + "\n" for each in lines)
    qrels = Qrels.read(text.encode())
    run = {"q1": ["d1", "x", "d2"], "q2": ["x", "d1"]}
    measures = ["StRecall@1", "StRecall(rel=1)@3", "StComplete@3", "P-IA@1"]
    result = evaluate(qrels, run, measures, policy=BY_NUGGET)
    assert [[*result.by_query(each).values()] for each in measures] == [
        [2 / 3, 0.0],
        [1.0, 1.0],  # of the nuggets that a passage supports
        [1.0, 1.0],
        [pytest.approx(0.4 + 0.2), 0.0],  # weights of 2, 2 and 1 fifths
    ]
    assert [*result.by_query("StRecall@1").values()] == [
        *evaluate(lines, run, "StRecall@1", policy=BY_NUGGET).by_query("StRecall@1").values()
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nuggets": [{"text": "n", "importance": "failed", "assignment": "support"}]}, "expected a nugget with"),
        ({"nuggets": [{"text": "n", "importance": "okay", "assignment": "failed"}]}, "hint: assign it again, or write"),
        ({"nuggets": [{"text": "n", "importance": "vital"}]}, "and assignment support | partial_support | not_support"),
        ({"nuggets": ["n"]}, "found 'n'"),
        ({"nuggets": None}, "found null"),
        ({"nuggets": [{"text": "n", "importance": ["vital"], "assignment": {}}]}, "expected a nugget with importance"),
        ({"nuggets": [{"importance": "vital", "assignment": "support"}]}, "text: expected a text"),
        ({"nuggets": []}, "no nuggets"),
        ({"qid": None}, "qid: expected a text"),
        ({"docid": None}, "document: expected a text"),
    ],
)
def test_faults_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Qrels.of([{**line("q1", ["support"] * 3, docid="d1"), **change}])
    assert message in str(caught.value)


def test_partial_support_alone_counts_half() -> None:
    """The scale is that of the labels, not the highest label in the file."""
    answer = line("q1", ["partial_support", "not_support", "partial_support"], run_id="a")
    found = evaluate([answer], {"q1": ["a"]}, "alpha-DCG(gain=linear)@1", policy=BY_NUGGET)
    assert found.mean("alpha-DCG(gain=linear)@1") == pytest.approx(weighted_score(answer["nuggets"], strict=False))


def test_a_query_without_nuggets_is_judged() -> None:
    empty = {"qid": "q2", "docid": "a", "nuggets": []}
    found = evaluate([empty, line("q1", ["support"] * 3, docid="a")], {"q2": ["a"], "q1": ["a"]}, policy=BY_NUGGET)
    assert found.queries == ["q1", "q2"] and not found.facts.extra_ids


def test_conflicts_name_the_nugget() -> None:
    first, second = (line("q1", ["support"] * 3, docid=document) for document in "ab")
    second["nuggets"][1]["importance"] = "okay"
    message = r"\[1\]: nugget 'a high-level language' of query 'q1' is okay, but vital in .*\[0\]"
    with pytest.raises(InputError, match=message):
        Qrels.of([first, second])
    twice = line("q1", ["support"] * 3, docid="a")
    twice["nuggets"].append({**twice["nuggets"][0], "assignment": "not_support"})
    with pytest.raises(InputError, match="sub-topic 'created by Guido van Rossum', and document 'a'"):
        evaluate([twice], {"q1": ["a"]}, "StRecall@1", policy=BY_NUGGET)


def test_the_gate_notices_changed_importance() -> None:
    lines = [line(f"q{i:02}", ["support", "not_support", "support"], docid="a") for i in range(30)]
    run = {each["qid"]: ["a"] for each in lines}
    gate = freeze_gate(lines, run, "alpha-nDCG@1", rule=Rule(0.5), policy=BY_NUGGET)
    lines[3]["nuggets"][1]["importance"] = "okay"
    assert "1 query with changed grades or documents (q03)" in " ".join(check_gate(gate, lines, run).text().split())


def test_nuggets_are_no_ordinary_judgments() -> None:
    qrels = Qrels.of([line("q1", ["support", "not_support", "support"], docid="d1")])
    with pytest.raises(InputError, match="conflicting grades"):
        evaluate(qrels, {"q1": ["d1"]}, "nDCG@1")
    with pytest.raises(UsageError, match="judgments with sub-topics are required"):
        evaluate(qrels, {"q1": ["d1"]}, "alpha-nDCG@1", policy=Policy(judges="max"))
