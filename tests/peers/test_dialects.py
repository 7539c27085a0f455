"""Numbers printed by other tools are attributed to them."""

from __future__ import annotations

import random
from functools import cache

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

from gainful import find_conventions
from gainful.tasks.whydiff import Way

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]


@cache
def collection(missing: bool = True) -> tuple[Grades, Lists]:
    """Ties, some only in 32 bits; unjudged documents; queries without answer or without anything relevant."""
    rng = random.Random(5)
    qrels: Grades = {}
    run: Lists = {}
    for number in range(20):
        query, documents = f"q{number:02}", [f"d{n:02}" for n in range(40)]
        grades = [0] if number == 19 else [0, 0, 0, 1, 1, 2, 3]
        qrels[query] = {document: rng.choice(grades) for document in documents if rng.random() < 0.7}
        if not missing or number not in (4, 9):
            retrieved = rng.sample(documents, 25)
            run[query] = {document: rng.randint(1, 9) + rng.choice([0.0, 1e-9, 2e-9]) for document in retrieved}
    return qrels, run


def first(qrels: Grades, run: Lists, figure: float, measure: str, places: int = 6) -> Way:
    found = find_conventions(qrels, run, {"theirs": f"{figure:.{places}f}"}, measure)
    assert found.reproduced
    return found.figures[0].ways[0]


def arrays(qrels: Grades, run: Lists, query: str) -> tuple[list[list[int]], list[list[float]]]:
    """What people pass to scikit-learn: the retrieved documents, those without judgment as 0."""
    documents = list(run[query])
    return [[qrels[query].get(d, 0) for d in documents]], [[run[query][d] for d in documents]]


@pytest.mark.parametrize(("k", "measure"), [(10, "nDCG@10"), (None, "nDCG")])
def test_scikit_learn(k: int | None, measure: str) -> None:
    qrels, run = collection(missing=False)
    figure = np.mean([ndcg_score(*arrays(qrels, run, query), k=k) for query in run])
    explanation = first(qrels, run, figure, measure)
    assert explanation.departed == ("ideal", "ties")
    assert (explanation.settings["ideal"], explanation.settings["ties"]) == ("retrieved", "expected")
    assert explanation.dialects == ("scikit-learn",)
    assert explanation.value == pytest.approx(figure, abs=1e-12)


def test_scikit_learn_over_answered_queries_only() -> None:
    qrels, run = collection()
    figure = np.mean([ndcg_score(*arrays(qrels, run, query), k=10) for query in run])
    explanation = first(qrels, run, figure, "nDCG@10")
    assert explanation.departed == ("ideal", "missing", "ties")
    assert explanation.dialects == ("scikit-learn",)


def test_scikit_learn_with_other_base() -> None:
    qrels, run = collection(missing=False)
    figure = np.mean([dcg_score(*arrays(qrels, run, query), k=10, log_base=10) for query in run])
    explanation = first(qrels, run, figure, "DCG@10")
    assert {name: explanation.settings[name] for name in explanation.departed} == {
        "discount": "burges2005 base 10",
        "ties": "expected",
    }


def test_scikit_learn_ignoring_ties() -> None:
    # With ignore_ties the items keep an order that is none of ours, unless no scores are tied.
    qrels, run = collection(missing=False)
    untied = {q: {d: score + 0.01 * i for i, (d, score) in enumerate(run[q].items())} for q in run}
    figure = np.mean([ndcg_score(*arrays(qrels, untied, query), k=10, ignore_ties=True) for query in untied])
    explanation = first(qrels, untied, figure, "nDCG@10")
    assert explanation.departed == ("ideal",)
    assert {"expected", "docid-asc", "input"} <= set(explanation.alike["ties"])
    assert "scikit-learn" in explanation.dialects


@pytest.mark.parametrize(
    ("name", "measure"),
    [("ndcg_cut_10", "nDCG@10"), ("ndcg", "nDCG"), ("map", "AP"), ("recip_rank", "RR"), ("P_5", "P@5")],
)
def test_trec_eval_9(name: str, measure: str) -> None:
    qrels, run = collection()
    scores = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
    figure = np.mean([values[name] for values in scores.values()])
    explanation = first(qrels, run, figure, measure)
    assert {"missing", "scores"} == set(explanation.departed)
    assert explanation.dialects[:2] == ("trec_eval 9.0.8", "pytrec_eval")
    assert "trec_eval 10.0" not in explanation.dialects


def test_trec_eval_9_interpolates_in_its_own_way() -> None:
    qrels, run = collection()
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall_0.20"}).evaluate(run)
    figure = np.mean([values["iprec_at_recall_0.20"] for values in scores.values()])
    explanation = first(qrels, run, figure, "IPrec@0.2")
    assert explanation.departed == ("missing", "scores")
    assert "ceil0.9" in explanation.alike["recall-cut"]  # at 0.2, + 0.9 and truncated is rounded up
    assert "round" not in explanation.alike["recall-cut"]
    assert explanation.dialects == ("trec_eval 9.0.8", "pytrec_eval")


def test_ir_measures() -> None:
    qrels, run = collection()
    [ndcg, rr] = [ir_measures.parse_measure(name) for name in ("nDCG@10", "RR@10")]
    figures = ir_measures.calc_aggregate([ndcg, rr], qrels, run)
    plain = first(qrels, run, figures[ndcg], "nDCG@10")
    assert plain.departed == ("scores",)
    assert plain.dialects == ("trec_eval 9.0.8 -c", "ir_measures")
    reversed_ties = first(qrels, run, figures[rr], "RR@10")
    assert reversed_ties.settings["ties"] == "docid-asc"
    assert reversed_ties.dialects == ("ir_measures",)
