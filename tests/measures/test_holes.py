"""Bounds of scores with unjudged documents, checked by giving these every combination of grades."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from gainful import UsageError, evaluate, evaluate_sessions, parse
from gainful.data.sessions import sessions_from_lists
from gainful.measures.holes import has_exact_bounds

GRADES = (0, 1, 2, 3)
EXACT = [
    *("CG@3", "DCG", "DCG(gain=exp2)@3", "nCG@2", "nDCG", "nDCG@3", "nDCG(gain=exp2)@3", "nDCG(rel=2)@4"),
    *("nDCG(level=1)@3", "nDCG(discount=rank)@3", "P@3", "P(rel=2)@2", "R@3", "R(level=1)@2", "SetR", "SetP", "SetF"),
    *("F@3", "RR", "RR@2", "Success@2", "RBP(p=0.7)", "RBP(gain=scaled)@3", "ERR", "ERR@3", "AP", "AP@3", "AP(rel=2)"),
    *("AP(level=1)@2", "GMAP", "Complete", "Complete@2", "Leak(forbidden=0)@2", "Leak(forbidden=1)", "nDCG(base=10)@3"),
    *("RelP@2", "SetAP", "SetRelP", "NumRelRet"),
]
RANGES = ["Q", "nERR@3", "muAP", "nDCG(average=ranks)@3", "nDCG(discount=jarvelin2000, base=4)@3", "RBP(scale=query)"]


def collection(rng: random.Random, queries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Lists of up to five documents, at most four of them unjudged."""
    qrels, run = {}, {}
    for query in (f"q{i}" for i in range(queries)):
        run[query] = [f"d{i}" for i in range(rng.randrange(1, 6))]
        judged = {each: rng.choice([0, 0, 1, 2, 3]) for each in run[query] if rng.random() < 0.5}
        judged |= {f"missed{i}": rng.choice(GRADES) for i in range(rng.randrange(3))}
        if len(set(run[query]) - set(judged)) > 4:
            judged["d0"] = 1
        qrels[query] = judged or {"other": 0}
    return qrels, run


def of_all_completions(
    qrels: dict[str, Any], run: dict[str, Any], measures: list[str], **policy: Any
) -> dict[str, dict[str, list[float | None]]]:
    """The scores of every list with every combination of grades: one query per combination."""
    many_qrels, many_run = {"scale": {"top": 3}}, {}
    for query, documents in run.items():
        holes = [each for each in documents if each not in qrels[query]]
        for i, grades in enumerate(itertools.product(GRADES, repeat=len(holes))):
            many_qrels[f"{query}|{i}"] = qrels[query] | dict(zip(holes, grades, strict=True))
            many_run[f"{query}|{i}"] = documents
    result = evaluate(many_qrels, many_run, measures, **policy)
    found: dict[str, dict[str, list[float | None]]] = {}
    for measure in measures:
        for name, value in result.by_query(measure).items():
            found.setdefault(measure, {}).setdefault(name.partition("|")[0], []).append(value)
    return found


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("seed", [1, 2])
def test_bounds_are_the_extremes_over_all_completions(core: str, seed: int) -> None:
    qrels, run = collection(random.Random(seed), 60 if core == "python" else 150)
    scored = evaluate(qrels | {"scale": {"top": 3}}, run, EXACT + RANGES, bounds=True)
    scores = of_all_completions(qrels, run, EXACT + RANGES)
    for measure in EXACT + RANGES:
        for query, bounds in scored.beside_by_query("bounds", measure).items():
            if query == "scale":
                continue
            values = [each for each in scores[measure][query] if each is not None]
            lowest, highest = bounds["lowest"], bounds["highest"]
            assert lowest is not None and highest is not None
            if measure in EXACT:
                assert lowest == pytest.approx(min(values), abs=1e-12), (measure, query, qrels[query], run[query])
                assert highest == pytest.approx(max(values), abs=1e-12), (measure, query, qrels[query], run[query])
            else:
                assert lowest <= min(values) and max(values) <= highest, (measure, query)


def test_the_declared_measures_are_exact() -> None:
    assert all(has_exact_bounds(parse(each)) for each in EXACT)
    assert not any(has_exact_bounds(parse(each)) for each in RANGES)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_judging_more_never_widens() -> None:
    rng = random.Random(5)
    qrels, run = collection(rng, 80)
    more = {
        query: judged | {each: rng.choice(GRADES) for each in run[query] if each not in judged and rng.random() < 0.5}
        for query, judged in qrels.items()
    }
    top, measures = {"scale": {"top": 3}}, [*EXACT, *RANGES]
    before, after = (evaluate(each | top, run, measures, bounds=True) for each in (qrels, more))
    for measure in measures:
        wide, narrow = (each.beside_by_query("bounds", measure) for each in (before, after))
        for query in qrels:
            assert wide[query]["lowest"] <= narrow[query]["lowest"] + 1e-12, (measure, query)
            assert narrow[query]["highest"] <= wide[query]["highest"] + 1e-12, (measure, query)


def test_an_unjudged_document_can_lower_ndcg() -> None:
    # The list is ideal as judged; a relevant document at rank 3 would make it (1 + 1/2) / (1 + 1/log2(3)).
    scored = evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b", "x"]}, "nDCG", bounds=True)
    assert scored.mean("nDCG") == 1.0
    assert scored.beside("bounds", "nDCG") == pytest.approx({"lowest": 0.9197207891481877, "highest": 1.0}, abs=1e-15)


@pytest.mark.parametrize(("negative", "highest"), [("judged", 0.5), ("unjudged", 1.0)])
def test_documents_that_a_convention_makes_unjudged_may_have_any_grade(negative: str, highest: float) -> None:
    scored = evaluate({"q": {"a": -1, "b": 1}}, {"q": ["a", "b"]}, "RR", bounds=True, negative=negative)
    assert scored.beside("bounds", "RR") == {"lowest": 0.5, "highest": highest}


def test_conventions_that_decide_about_unjudged_documents_are_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 1.0, "a": 1.0}}
    with pytest.raises(UsageError, match="unjudged=condensed removes unjudged documents"):
        evaluate(qrels, run, "nDCG(unjudged=condensed)", bounds=True)
    with pytest.raises(UsageError, match="cannot be computed with ties=expected"):
        evaluate(qrels, run, "nDCG", ties="expected", bounds=True)


def test_chance_is_the_mean_over_all_orders() -> None:
    qrels, documents = {"a": 2, "b": 1, "c": 0}, ["a", "b", "c", "x"]
    orders = {f"q{i}": list(each) for i, each in enumerate(itertools.permutations(documents))}
    measures = ["nDCG@2", "AP", "RR", "P@3", "ERR"]
    every = evaluate(dict.fromkeys(orders, qrels), orders, measures)
    scored = evaluate({"q": qrels}, {"q": documents}, [*measures, "Bpref"], chance=True)
    for measure in measures:
        assert scored.beside("chance", measure)["chance"] == pytest.approx(every.mean(measure), abs=1e-14)
    assert scored.beside("chance", "Bpref") == {}
    cut = evaluate({"q": qrels}, {"q": [*documents, "late"]}, measures, chance=True, depth=4)
    for measure in measures:
        assert cut.beside("chance", measure) == scored.beside("chance", measure)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize(
    "measure", ["sDCG@2", "sDCG(repeats=first)", "sDCG(summary=average)@3", "sDCG(summary=best)@2"]
)
def test_bounds_of_sessions_are_the_extremes_over_all_completions(measure: str) -> None:
    rng = random.Random(9)
    for _ in range(8):
        lists = [[f"d{i}" for i in rng.sample(range(6), 3)] for _ in range(2)]
        shown = {document for each in lists for document in each}
        judged = {each: rng.choice(GRADES) for each in shown if rng.random() < 0.5} | {"top": 3}
        holes = sorted(shown - set(judged))
        completions = [dict(zip(holes, of, strict=True)) for of in itertools.product(GRADES, repeat=len(holes))]
        sessions = sessions_from_lists({"s": lists})
        [bounds] = (
            evaluate_sessions({"s": judged}, sessions, measure, bounds=True).beside_by_query("bounds", measure).values()
        )
        many = {f"s{i}": judged | each for i, each in enumerate(completions)}
        found = evaluate_sessions(many, sessions_from_lists(dict.fromkeys(many, lists)), measure).by_query(measure)
        assert bounds == pytest.approx({"lowest": min(found.values()), "highest": max(found.values())}, abs=1e-12)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_bounds_of_sessions_contain_the_score() -> None:
    sessions, weights = sessions_from_lists({"s": [["a", "x"]]}), "sDCG(gain={0:1,1:2})"
    found = evaluate_sessions({"s": {"a": 1}}, sessions, weights, judged_by="session", bounds=True)
    assert found.beside("bounds", weights) == {"lowest": found.mean(weights), "highest": 3.0}
    # Judgments change the number of positions that the average is over.
    average = evaluate_sessions({"s": {"a": 1, "top": 3}}, sessions, "sDCG(summary=average)", bounds=True)
    assert not average.beside("bounds", "sDCG(summary=average)")
