"""Swapped judgments and runs in dicts are rejected; plausible ones are not."""

from __future__ import annotations

import gzip
import random
from typing import Any

import numpy as np
import pytest

from gainful import UsageError, evaluate, evaluate_arrays
from tests.conftest import REAL, SHARED_DATA

SCORES = {f"q{i}": {f"d{j}": 20 - j - i / 7 - 0.1 for j in range(5)} for i in range(6)}
GRADES = {f"q{i}": {"d1": 2, "d3": 0, "d4": 0, "d9": 1} for i in range(6)}
ONE_EACH = {f"q{i}": {"d2": 1} for i in range(6)}


@pytest.mark.parametrize("grades", [GRADES, ONE_EACH])
def test_swapped(grades: Any) -> None:
    with pytest.raises(UsageError, match=r"are they swapped\?\nhint: judgments come first: evaluate\(qrels, run\)"):
        evaluate(SCORES, grades)
    assert evaluate(SCORES, grades, "RR", as_given=True).mean("RR") == 1
    assert evaluate(grades, SCORES, "RR").mean("RR") == pytest.approx({4: 1 / 2, 1: 1 / 3}[len(grades["q0"])])


@pytest.mark.parametrize(
    "run",
    [
        {f"q{i}": {f"d{j}": 20 - j for j in range(15)} for i in range(6)},  # whole scores, from ranks
        {f"q{i}": [f"d{j}" for j in range(15)] for i in range(6)},
    ],
)
def test_swapped_without_fractions(run: Any) -> None:
    with pytest.raises(UsageError, match="swapped"):
        evaluate(run, GRADES)
    assert evaluate(run, GRADES, "RR", as_given=True).mean("RR") == 1
    assert evaluate(GRADES, run, "RR").mean("RR") == 0.5


def test_swapped_arrays() -> None:
    rng = np.random.default_rng(1)
    scores, grades = rng.random((5, 20)), rng.integers(0, 3, (5, 20))
    with pytest.raises(UsageError, match=r"swapped\?\nhint: scores come first: evaluate_arrays\(scores, relevance\)"):
        evaluate_arrays(grades, scores, "RR")
    with pytest.warns(UserWarning, match="share their score"):
        assert evaluate_arrays(grades, scores, "RR", as_given=True).mean("RR") == 1
    unknown: Any = evaluate_arrays
    with pytest.raises(UsageError, match="no option k"):
        unknown(scores, grades, "RR", k=10)
    assert evaluate_arrays(scores, grades, "RR", duplicates="first").policy.duplicates == "first"
    for one, other in ((scores, grades), (grades, grades), (scores, scores), (10 * scores // 1, grades)):
        evaluate_arrays(one, other, "RR")


@pytest.mark.parametrize("name", REAL)
def test_real_ones(name: str) -> None:
    qrels_path, run_path = (SHARED_DATA / path for path in REAL[name])
    if not qrels_path.exists():
        pytest.skip("the data are not there")
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for line in qrels_path.read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    for line in gzip.decompress(run_path.read_bytes()).decode().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    evaluate(qrels, run, "RR")
    with pytest.raises(UsageError, match="swapped"):
        evaluate(run, qrels, "RR")


rng = random.Random(1)
LIKELY = {f"q{i}": {f"d{j}": rng.random() for j in range(5)} for i in range(6)}


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (LIKELY, SCORES),  # probabilities as grades
        (LIKELY, {query: list(documents) for query, documents in SCORES.items()}),
        (LIKELY, {f"q{i}": {f"d{j}": 5 - j for j in range(5)} for i in range(6)}),  # whole scores, from ranks
        (LIKELY, {f"q{i}": {f"d{j}": 30 - 2 * j - i for j in range(5)} for i in range(6)}),
        ({f"q{i}": {"d1": 0.5, "d2": 0.25, "d3": 1.0, "d4": 0.75} for i in range(6)}, GRADES),  # few levels
        ({f"q{i}": {"d1": 3, "d2": 2, "d3": 0} for i in range(6)}, GRADES),  # whole scores with ties
        ({"q1": {"d1": 0.9, "d2": 0.4}}, {"q1": {"d1": 1, "d2": 0}}),  # too little to tell
        ({"q1": {"d1": 0.9, "d2": 0.4}}, {"q1": {"d1": 1, "d2": 1}}),
        (GRADES, SCORES),
        (GRADES, GRADES),
        ({query: list(documents) for query, documents in GRADES.items()}, SCORES),
        ({query: [*documents][:2] for query, documents in GRADES.items()}, GRADES),  # few relevant, whole scores
        ({query: list(documents) for query, documents in SCORES.items()}, ONE_EACH),  # a set of documents
        ({f"q{i}": {f"d{j}": j for j in range(9)} for i in range(6)}, GRADES),  # grades from 0 to 8
    ],
)
def test_no_false_alarm(qrels: Any, run: Any) -> None:
    assert evaluate(qrels, run, "RR").mean("RR") >= 0
