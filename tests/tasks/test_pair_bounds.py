"""Possible differences of means, checked by giving unjudged documents every combination of grades."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from gainful import ScoreMatrix, UsageError, compare, evaluate

GRADES = (0, 1, 2, 3)
EXACT = ["nDCG@3", "nDCG", "nDCG(base=10)@3", "DCG@2", "nDCG(gain=exp2)@3", "P@3", "R@3", "RBP(p=0.7)"]
RANGES = ["AP", "RR", "ERR@3", "Q"]
SCALE = {"scale": {"top": 3}}


def collection(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two lists of up to four of five documents per query, about half of them judged."""
    qrels, runs = {}, {"a": {"scale": ["top"]}, "b": {"scale": ["top"]}}
    for query in ("q1", "q2", "q3"):
        documents = [f"d{i}" for i in range(5)]
        for run in runs.values():
            run[query] = rng.sample(documents, rng.randrange(1, 5))
        judged = {each: rng.choice(GRADES) for each in documents if rng.random() < 0.5}
        qrels[query] = judged | {"missed": rng.choice(GRADES)}
    return qrels | SCALE, runs


def differences(qrels: dict[str, Any], runs: dict[str, Any], measure: str, grades: tuple[int, ...]) -> list[float]:
    """The lowest and the highest difference of means over all combinations of grades."""
    extremes = []
    for query in (each for each in qrels if each != "scale"):
        free = sorted({document for run in runs.values() for document in run[query]} - set(qrels[query]))
        completions = list(itertools.product(grades, repeat=len(free)))
        judged = {str(i): qrels[query] | dict(zip(free, each, strict=True)) for i, each in enumerate(completions)}
        lists = {name: {str(i): run[query] for i in range(len(completions))} for name, run in runs.items()}
        scored = evaluate(judged | SCALE, lists, measure)
        one, other = (scored[name].by_query(measure) for name in ("a", "b"))
        found = [(other[str(i)] or 0.0) - (one[str(i)] or 0.0) for i in range(len(completions))]
        extremes.append((min(found), max(found)))
    return [sum(each) / len(qrels) for each in zip(*extremes, strict=True)]


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_differences_are_the_extremes_over_all_completions(core: str, seed: int) -> None:
    qrels, runs = collection(random.Random(seed))
    found = compare(qrels, runs, [*EXACT, *RANGES], bounds=True).bounds
    for measure in [*EXACT, *RANGES]:
        low, high = differences(qrels, runs, measure, GRADES)
        if measure in EXACT:
            assert (found[measure].low, found[measure].high) == pytest.approx((low, high), abs=1e-12), measure
        else:
            assert found[measure].low <= low + 1e-12 and high <= found[measure].high + 1e-12, measure
        assert found[measure].is_exact == (measure in EXACT)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_named_documents_reverse_the_order() -> None:
    rng, reversed_orders = random.Random(7), 0
    for _ in range(40):
        qrels, runs = collection(rng)
        before = evaluate(qrels, runs, "nDCG@3")
        found = compare(before, bounds=True).bounds["nDCG@3"]
        difference = before["b"].mean("nDCG@3") - before["a"].mean("nDCG@3")
        if found.least_lead > 0:
            assert "stays ahead" in found.sentence
            assert difference * found.low > 0 < difference * found.high
        if not found.reversing:
            continue
        more = {query: dict(judged) for query, judged in qrels.items()}
        for query, document, grade in found.reversing:
            more[query][document] = int(grade)
        after = evaluate(more, runs, "nDCG@3")
        assert (after["b"].mean("nDCG@3") - after["a"].mean("nDCG@3")) * difference < 0
        reversed_orders += 1
    assert reversed_orders > 10


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize(
    ("measure", "qrels", "a", "b"),
    [
        # Undefined without a relevant document, and without a list: both are scores, and judgments change the first.
        ("SetF", {"q": {"o": 0}, "r": {"z": 1, "n": 0}}, {"q": ["x"], "r": ["z", "n"]}, {"q": ["x", "y"], "r": ["z"]}),
        ("SetP", {"q": {"o": 1}, "r": {"z": 1, "n": 0, "m": 0}}, {"q": ["x"], "r": ["z", "n", "m"]}, {"r": ["z", "n"]}),
        ("nDCG@2", {"q": {"other": 0}, "r": {"z": 1}}, {"q": ["x"], "r": ["z"]}, {"q": ["y", "x"], "r": ["z"]}),
    ],
)
def test_undefined_and_missing_scores_have_bounds(measure: str, qrels: Any, a: Any, b: Any) -> None:
    runs = {name: {**run, "scale": ["top"]} for name, run in (("a", a), ("b", b))}
    found = compare(qrels | SCALE, runs, measure, bounds=True).bounds[measure]
    empty = {query: [] for query in qrels}
    low, high = differences(qrels | SCALE, {name: empty | run for name, run in runs.items()}, measure, GRADES)
    assert found.low <= low + 1e-12 and high <= found.high + 1e-12
    if found.is_exact:
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_the_sentences() -> None:
    qrels = {"q": {"x": 1, "y": 0, "z": 2}}

    def sentence(a: list[str], b: list[str], measure: str = "P@2") -> str:
        return compare(qrels, {"a": {"q": a}, "b": {"q": b}}, measure, bounds=True).bounds[measure].sentence

    judged = "All documents of both systems are judged, so that mean P@2 cannot change."
    assert sentence(["y", "x"], ["x", "z"]) == judged
    assert sentence(["y", "new", "newer"], ["x", "z"]) == (
        "b stays ahead of a whatever the unjudged documents are: mean P@2 differs by +0.5000 to +1.0000 (2 unjudged "
        "documents, 1 of them in the top 2)."
    )
    assert sentence(["new", "newer"], ["x", "y"]) == (
        "2 judgments could reverse the order: q new and q newer. With all judged, mean P@2 differs by -0.5000 to "
        "+0.5000 (2 unjudged documents, 2 of them in the top 2)."
    )
    assert sentence(["x", "z"], ["x", "new"]).startswith("Unjudged documents cannot put b ahead of a: mean P@2 differs")
    assert sentence(["x", "new"], ["z", "newer"]).startswith(
        "The means are equal; with other judgments mean P@2 differs"
    )
    assert sentence(["x", "new"], ["z", "newer"], "ESL").startswith("ESL has no finite bounds.")
    assert "mean RR differs by +0.0000 to +0.5000 at the widest" in sentence(["new", "x"], ["x", "new"], "RR")
    # A query without a score does not count; a grade without a gain is that of documents that are not relevant.
    qrels["none"] = {"w": 0}
    assert sentence(["x", "new"], ["z", "newer"], "ESL").startswith("ESL has no finite bounds.")
    del qrels["none"], qrels["q"]["y"]
    assert "by -2.0000 to +2.0000" in sentence(["new"], ["newer"], "CG(gain={1:1,2:2})@1")


def test_bounds_need_runs_and_two_systems() -> None:
    qrels, lists = {"q": {"x": 1}}, {"q": ["x", "y"]}
    with pytest.raises(UsageError, match="bounds cannot be used with several systems"):
        compare(qrels, {"a": lists, "b": lists, "c": lists}, "P@2", bounds=True)
    with pytest.raises(UsageError, match="bounds= cannot be used with several runs of one system"):
        compare(qrels, {"a": [lists, lists], "b": lists}, "P@2", bounds=True)
    with pytest.raises(UsageError, match="bounds=: existing scores cannot be computed again"):
        compare(ScoreMatrix.of("P@2", {"a": {"q": 0.5}, "b": {"q": 1.0}}), bounds=True)
    with pytest.raises(UsageError, match=r"nDCG@2: 1 query left out as undefined"):
        qrels["r"], both = {"x": 0}, lists | {"r": ["y"]}
        compare(qrels, {"a": both, "b": both}, "nDCG@2", bounds=True, undefined="skip")
    with pytest.raises(UsageError, match="all grades up to the scale 0 have the same gain"):
        compare({"q": {"x": 0}}, {"a": lists, "b": lists}, "nDCG@2", bounds=True)
    with pytest.raises(UsageError, match="ties=expected"):
        compare(qrels, {"a": lists, "b": lists}, "nDCG@2", bounds=True, policy={"ties": "expected"})
