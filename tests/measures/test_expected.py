"""Scores averaged over all orders of equal scores, checked by enumerating these orders."""

from __future__ import annotations

import itertools
import random
import warnings
from math import fsum
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import dcg_score

from gainful import Policy, UsageError, compare, evaluate, parse
from gainful.measures.expected import AVERAGED_OVER_TIES

MEASURES = [
    *(f"{name}{of}@{k}" for name in ("CG", "nCG") for of, k in (("", 3), ("(gain=exp2)", 5), ("(average=ranks)", 4))),
    *("DCG", "DCG(discount=jarvelin2002)@4", "nDCG", "nDCG@1", "nDCG@3", "nDCG(gain=exp2)@5", "nDCG(rel=2)@4"),
    *("nDCG(average=ranks)@4", "nDCG(discount=rank)@3", "NDCNG", "NDCNG@3", "RBP(p=0.7)", "RBP(p=0.5, gain=scaled)@3"),
    *(
        "RBP(gain=linear, scale=query)@4",
        "P@1",
        "P@3",
        "P(rel=2)@4",
        "R@3",
        "R(level=1)@2",
        "F@3",
        "F(beta=2)@2",
        "Rprec",
    ),
    *("RprecMult@2", "RelP@3", "Success", "Success@2", "Success(rel=2)@3", "SetP", "SetR", "SetF", "SetAP", "SetRelP"),
    *("Complete", "Complete@2", "Complete(level=2)@1", "Leak", "Leak(forbidden=0)@2", "Q", "Q@3", "Q(beta=10)"),
    *(
        "AP",
        "AP@3",
        "AP(rel=2)",
        "GMAP",
        "muAP",
        "muAP(levels=all)",
        "RR",
        "RR@2",
        "RR(rel=2)",
        "ERR",
        "ERR@2",
        "nERR@3",
    ),
    *("ERR(gain=linear)", "Q(gain=exp2)@4", "Judged@2", "Unjudged@3", "NumQ", "NumRet", "NumRel", "NumRelRet"),
]


def collection(rng: random.Random, queries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Small lists with many ties; documents of grades 0 to 3, negative ones and unjudged ones."""
    qrels, run = {}, {}
    for query in (f"q{i}" for i in range(queries)):
        size = rng.randrange(1, 7)
        documents = [f"d{i}" for i in range(size)]
        run[query] = {document: float(rng.randrange(1, 4)) for document in documents}
        judged = {each: rng.choice([-1, 0, 1, 1, 2, 3]) for each in documents if rng.random() < 0.7}
        qrels[query] = judged | {f"missed{i}": rng.randrange(4) for i in range(rng.randrange(3))} or {"d0": 1}
    return qrels, run


def orders(scores: dict[str, float]) -> list[list[str]]:
    """All orders of a list that its scores allow."""
    groups = [
        [document for document, score in scores.items() if score == value]
        for value in sorted(set(scores.values()), reverse=True)
    ]
    products = itertools.product(*(itertools.permutations(group) for group in groups))
    return [[document for group in groups_in_order for document in group] for groups_in_order in products]


def by_enumeration(
    qrels: dict[str, Any], run: dict[str, Any], measures: list[str], **policy: str
) -> dict[str, dict[str, list[float | None]]]:
    """The scores of every order of every list: one query per order, with the list in that order."""
    many_qrels, many_run = {}, {}
    for query, scores in run.items():
        for i, documents in enumerate(orders(scores)):
            many_qrels[f"{query}|{i}"], many_run[f"{query}|{i}"] = qrels[query], documents
    result = evaluate(many_qrels, many_run, measures, **policy)
    found: dict[str, dict[str, list[float | None]]] = {}
    for measure in measures:
        for name, value in result.by_query(measure).items():
            found.setdefault(measure, {}).setdefault(name.partition("|")[0], []).append(value)
    return found


def test_every_measure_with_a_closed_form_is_enumerated() -> None:
    assert {parse(measure).name for measure in MEASURES} == AVERAGED_OVER_TIES


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_the_mean_over_all_orders(core: str, unjudged: str) -> None:
    qrels, run = collection(random.Random(3), 60 if core == "python" else 150)
    policy = {"unjudged": unjudged, "undefined": "skip"}
    result = evaluate(qrels, run, MEASURES, ties="expected", **policy)
    enumerated = by_enumeration(qrels, run, MEASURES, **policy)
    for measure in MEASURES:
        for query, value in result.by_query(measure).items():
            values = enumerated[measure][query]
            if None in values:
                assert value is None and set(values) == {None}, (measure, query)
            else:
                mean = fsum(each for each in values if each is not None) / len(values)
                assert value == pytest.approx(mean, rel=1e-12, abs=1e-13), (measure, query, qrels[query], run[query])


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_best_and_worst_orders(core: str) -> None:
    """The highest and the lowest score of any order, for measures that never punish a better document higher up."""
    qrels, run = collection(random.Random(5), 80)
    measures = [
        *(measure for measure in MEASURES if "level=" not in measure and "udged" not in measure),
        "IPrec@0.5",
        "IAP",
        "Bpref",
    ]
    enumerated = by_enumeration(qrels, run, measures, undefined="skip")
    for ties in ("best", "worst"):
        result = evaluate(qrels, run, measures, ties=ties, undefined="skip")
        for measure in measures:
            for query, value in result.by_query(measure).items():
                values = [each for each in enumerated[measure][query] if each is not None]
                assert (value is None) == (not values), (measure, query)
                if values:
                    choose = min if (ties == "best") == (parse(measure).better == "lower") else max
                    assert value == pytest.approx(choose(values), abs=1e-14), (ties, measure, query)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_long_lists_agree_with_shuffling(core: str) -> None:
    """Groups of hundreds of documents: the mean over random orders, within four standard errors."""
    rng = random.Random(11)
    documents = [f"d{i}" for i in range(300)]
    run = {"q": {document: float(i // 90) for i, document in enumerate(documents)}}
    qrels = {"q": {document: rng.choice([0, 1, 2, 3]) for document in rng.sample(documents, 40)}}
    measures = ["nDCG@10", "AP", "RR", "Success@5", "ERR", "Q", "muAP", "P@20"]
    result = evaluate(qrels, run, measures, ties="expected")
    draws = 400
    lists = {f"q{i}": sorted(documents, key=lambda d: (-run["q"][d], rng.random())) for i in range(draws)}
    shuffled = evaluate(dict.fromkeys(lists, qrels["q"]), lists, measures)
    for measure in measures:
        values = np.array([*shuffled.by_query(measure).values()], float)
        assert abs(result.mean(measure) - values.mean()) < 4 * values.std() / draws**0.5 + 1e-12, measure


def test_scikit_learn_averages_dcg_alike() -> None:
    rng = np.random.default_rng(2)
    grades, scores = rng.integers(0, 4, (50, 12)), rng.integers(0, 4, (50, 12)).astype(float)
    qrels = {f"q{i}": {f"d{j}": int(grade) for j, grade in enumerate(row)} for i, row in enumerate(grades)}
    run = {f"q{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
    for k in (1, 4, 12):
        found = evaluate(qrels, run, [f"DCG@{k}"], ties="expected").by_query(f"DCG@{k}")
        expected = [dcg_score(grades[i : i + 1], scores[i : i + 1], k=k) for i in range(50)]
        assert [found[f"q{i}"] for i in range(50)] == pytest.approx(expected, rel=1e-12)


def test_without_ties_nothing_changes() -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 3}, "q2": {"a": 1}}
    run = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"y": 2.0, "a": 1.0}}
    plain, averaged = (evaluate(qrels, run, MEASURES, ties=ties) for ties in ("docid-desc", "expected"))
    assert all(plain.by_query(measure) == averaged.by_query(measure) for measure in MEASURES)


def test_refusals() -> None:
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}
    with pytest.raises(UsageError, match=r"IPrec@0\.5: no closed form for ties=expected") as caught:
        evaluate(qrels, run, ["IPrec@0.5"], ties="expected")
    assert "nDCG" in str(caught.value.hint)
    with pytest.raises(UsageError, match="ties=best cannot be used with depth"):
        Policy(ties="best", depth=10)
    with pytest.raises(UsageError, match="ties=worst cannot be used with order=rank"):
        Policy(ties="worst", order="rank")


def test_comparisons_use_it() -> None:
    qrels, run = collection(random.Random(9), 30)
    other = {query: {document: -score for document, score in scores.items()} for query, scores in run.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(qrels, {"a": run, "b": other}, "nDCG@3", ties="expected", undefined="skip")
        means = [
            evaluate(qrels, each, ["nDCG@3"], ties="expected", undefined="skip").mean("nDCG@3") for each in (run, other)
        ]
    assert found.pairs["nDCG@3"].difference == pytest.approx(means[1] - means[0])
