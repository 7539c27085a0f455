"""Values of cwl-eval: expected utility and depth of every model, and residuals of unjudged documents."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from gainful import Evaluation, Qrels, evaluate, parse

pytest.importorskip("cwl")
Ranking = import_module("cwl.ruler.ranking").Ranking


def theirs(module: str, name: str, *parameters: float) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"cwl.ruler.measures.cwl_{module}"), f"{name}CWLMetric")(*parameters)


#: Our model and parameters, and cwl-eval's.
MODELS = {
    "INST": theirs("inst", "INST", 1.0),
    "INST(T=2.5)": theirs("inst", "INST", 2.5),
    "INSQ": theirs("insq", "INSQ", 1.0),
    "INSQ(T=3)": theirs("insq", "INSQ", 3.0),
    "BPM": theirs("bpm", "BPM", 1.0, 10),
    "BPM(T=2, K=5)": theirs("bpm", "BPM", 2.0, 5),
    "ScaledDCG@7": theirs("dcg", "NDCG", 7),
    "NERR8@7": theirs("nerr", "NERReq8", 7),
    "NERR9@7": theirs("nerr", "NERReq9", 7),
    "NERR10": theirs("nerr", "NERReq10", 0.9),
    "NERR11": theirs("nerr", "NERReq11", 1.0),
    "CWL(model=P)@7": theirs("precision", "Precision", 7),
    "CWL(model=RR)": theirs("rr", "RR"),
    "CWL(model=RBP, p=0.8)": theirs("rbp", "RBP", 0.8),
}


def lists(seed: int) -> tuple[list[float | None], list[float]]:
    """Grades of a list, of at most 3, and of what it misses."""
    rng = random.Random(seed)
    return rng.choices([None, 0, 0, 1, 2, 3], k=rng.randint(1, 30)), [3]


LISTS = {f"q{seed}": lists(seed) for seed in range(25)}


def measured(metric: Any, grades: list[float | None]) -> Any:
    gains = [np.nan if grade is None else grade / 3 for grade in grades]
    metric.residuals = True
    metric.measure(Ranking("q", gains, [1.0] * len(gains)))
    return metric


def as_report(ours: str, report: str) -> str:
    """The text of ours that reports something else than utility."""
    measure = parse(ours)
    given = {name: getattr(measure, name, None) for name in ("T", "K", "p")}
    own = {**{name: value for name, value in given.items() if value is not None}, "report": report}
    model = getattr(measure, "model", measure.name)
    inside = ", ".join(f"{name}={value}" for name, value in {"model": model, **own}.items())
    return f"CWL({inside})@{measure.rank_cutoff}"


REPORTS = ("depth", "residual", "depth-residual", "total")


@pytest.fixture(scope="module")
def found() -> Evaluation:
    """All models and reports of all lists, each as a query."""
    qrels, run = {}, {}
    for query, (grades, missed) in LISTS.items():
        qrels[query] = {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}
        qrels[query] |= {f"missed{i}": grade for i, grade in enumerate(missed)}
        run[query] = [f"d{i}" for i in range(len(grades))]
    texts = [text for ours in MODELS for text in (ours, *(as_report(ours, report) for report in REPORTS))]
    return evaluate(Qrels.from_dict(qrels, scale=3), run, texts)


@pytest.mark.parametrize("ours", MODELS)
def test_every_model(ours: str, found: Evaluation) -> None:
    measures = [parse(text) for text in (ours, *(as_report(ours, report) for report in REPORTS))]
    by_measure = [found.by_query(measure) for measure in measures]
    for query, (grades, _) in LISTS.items():
        metric = measured(MODELS[ours](), grades)
        expected = (
            metric.expected_utility,
            metric.expected_items,
            metric.residual_expected_utility,
            metric.residual_expected_items,
            metric.expected_utility * metric.expected_items,
        )
        values = [values[query] for values in by_measure]
        assert values == pytest.approx(expected, abs=1e-12), (ours, grades)


def test_the_models_that_are_measures_of_their_own() -> None:
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": rng.choice([0, 1]) for j in range(12)} | {"d0": 1} for i in range(40)}
    run = {query: rng.sample([*judged, "x", "y"], 14) for query, judged in qrels.items()}
    same = {"P@5": "CWL(model=P)@5", "RR": "CWL(model=RR)", "AP": "CWL(model=AP)", "RBP@1000": "CWL"}
    found = evaluate(qrels, run, [*same, *same.values()])
    for direct, model in same.items():
        # RBP's looks go on for ever, those of a user with a horizon end there: 0.8^1000 is nothing.
        assert found.by_query(model) == pytest.approx(found.by_query(direct), abs=1e-12), direct
