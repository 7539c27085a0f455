"""The numbers of ir_measures, where no scores are equal: it breaks ties in three ways at once."""

from __future__ import annotations

import random
import shutil

import ir_measures
import pytest

from gainful import Policy, Qrels, evaluate

#: ir_measures' text of a measure, and ours.
MEASURES = {
    "AP": "AP",
    "AP@5": "AP@5",
    "AP(rel=2)": "AP(rel=2)",
    "AP(judged_only=True)": "AP(unjudged=condensed)",
    "Bpref": "Bpref",
    "Bpref(rel=2)": "Bpref(rel=2)",
    "infAP": "InfAP",
    "infAP(rel=2)": "InfAP(rel=2)",
    "IPrec@0.0": "IPrec@0",
    "IPrec@0.3": "IPrec@0.3",
    "IPrec(rel=2)@0.5": "IPrec(rel=2)@0.5",
    "IPrec@1.0": "IPrec@1",
    "Judged@1": "Judged@1",
    "Judged@5": "Judged@5",
    "Judged@100": "Judged@100",
    "P@1": "P@1",
    "P@5": "P@5",
    "P@100": "P@100",
    "P(rel=2)@5": "P(rel=2)@5",
    "P(judged_only=True)@5": "P(unjudged=condensed)@5",
    "R@5": "R@5",
    "R(rel=3)@5": "R(rel=3)@5",
    "R(judged_only=True)@5": "R(unjudged=condensed)@5",
    "RR": "RR",
    "RR(rel=2)": "RR(rel=2)",
    "RR(judged_only=True)": "RR(unjudged=condensed)",
    "RR@3": "RR@3",
    "RR(rel=2)@3": "RR(rel=2)@3",
    "Rprec": "Rprec",
    "Rprec(rel=2)": "Rprec(rel=2)",
    "SetAP": "SetAP",
    "SetAP(rel=2)": "SetAP(rel=2)",
    "SetP(relative=True)": "SetRelP",
    "SetP(relative=True,rel=2)": "SetRelP(rel=2)",
    "SetF": "SetF",
    "SetF(rel=2)": "SetF(rel=2)",
    "SetP": "SetP",
    "SetP(rel=2)": "SetP(rel=2)",
    "SetR": "SetR",
    "SetR(rel=2)": "SetR(rel=2)",
    "Success@1": "Success@1",
    "Success(rel=2)@3": "Success(rel=2)@3",
    "nDCG": "nDCG",
    "nDCG@5": "nDCG@5",
    "nDCG@100": "nDCG@100",
    "nDCG(judged_only=True)@5": "nDCG(unjudged=condensed)@5",
    "nDCG(gains={1:1,2:10,3:100})@5": "nDCG(gain=0-1-10-100)@5",
}
#: Counts are of answered queries only in ir_measures.
COUNTS = {
    "NumQ": "NumQ",
    "NumRel": "NumRel",
    "NumRet": "NumRet",
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
}

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]


def made_up(seed: int) -> tuple[Grades, Lists]:
    """Judgments and a run without ties; some queries are not answered, some answered ones not judged."""
    luck = random.Random(seed)
    qrels: Grades = {}
    run: Lists = {}
    for number in range(40):
        documents = [f"d{i}" for i in range(luck.randint(1, 30))]
        retrieved = luck.sample(documents, luck.randint(1, len(documents)))
        scores = luck.sample(range(-500, 500), len(retrieved))
        if number < 35:
            judged = luck.sample(documents, luck.randint(1, len(documents)))
            qrels[f"q{number}"] = {document: luck.choice((0, 0, 0, 1, 1, 2, 3)) for document in judged}
        if number >= 5:
            run[f"q{number}"] = {d: score / 8 for d, score in zip(retrieved, scores, strict=True)}
    return qrels, run


@pytest.mark.parametrize("seed", range(5))
def test_scores(seed: int) -> None:
    qrels, run = made_up(seed)
    theirs = {name: ir_measures.parse_measure(name) for name in MEASURES}
    expected = ir_measures.calc(theirs.values(), qrels, run)
    per_query = {(score.query_id, score.measure): score.value for score in expected.per_query}
    ours = evaluate(qrels, run, MEASURES.values(), policy=Policy(recall_cut="ceil0.9"))
    for name, measure in MEASURES.items():
        for query, value in ours.by_query(measure).items():
            assert value == pytest.approx(per_query[query, theirs[name]], abs=1e-12), f"{measure} of {query}"
        assert ours.aggregate(measure) == pytest.approx(expected.aggregated[theirs[name]], abs=1e-12), measure


@pytest.mark.parametrize("seed", range(5))
def test_counts(seed: int) -> None:
    qrels, run = made_up(seed)
    theirs = {name: ir_measures.parse_measure(name) for name in COUNTS}
    expected = ir_measures.calc_aggregate(theirs.values(), qrels, run)
    ours = evaluate(qrels, run, COUNTS.values(), policy=Policy(missing="skip"))
    for name, measure in COUNTS.items():
        assert ours.aggregate(measure) == expected[theirs[name]], measure


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [1, 5, 20])
def test_err(seed: int, k: int) -> None:
    """gdeval prints five digits, wants numbers as queries, and knows no other highest grade than 4."""
    qrels, run = made_up(seed)
    numbered = {query.removeprefix("q"): grades for query, grades in qrels.items()}
    measure = ir_measures.parse_measure(f"ERR@{k}")
    lists = {query.removeprefix("q"): scores for query, scores in run.items() if query in qrels}
    expected = {score.query_id: score.value for score in ir_measures.iter_calc([measure], numbered, lists)}
    ours = evaluate(Qrels.from_dict(numbered, scale=4), lists, f"ERR@{k}").by_query(f"ERR@{k}")
    assert {query for query, value in expected.items() if value > 0} <= ours.keys()
    for query, value in ours.items():
        assert value == pytest.approx(expected[query], abs=0.5e-5 + 1e-9), query
