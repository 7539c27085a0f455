"""Overlap with the ideal list, depth by depth, and pairs counted one by one."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest

from gainful import Qrels, evaluate


def rbo(one: list[str], other: list[str], p: float, depth: int) -> tuple[float, float]:
    """The sum over depths, and the sum of the weights."""
    score = weights = 0.0
    for i in range(1, depth + 1):
        score += p ** (i - 1) * len({*one[:i]} & {*other[:i]}) / i
        weights += p ** (i - 1)
    return score, weights


def ideal(judged: dict[str, int], ranked: list[str]) -> list[str]:
    place = {document: i for i, document in enumerate(ranked)}
    relevant = [document for document, grade in judged.items() if grade > 0]
    return sorted(relevant, key=lambda document: (-judged[document], place.get(document, len(ranked))))


def collection(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    rng = random.Random(seed)
    qrels = {
        f"q{i}": {f"d{j}": rng.choice([-1, 0, 0, 1, 1, 2, 3]) for j in range(rng.randint(1, 15))} for i in range(30)
    }
    run = {
        query: rng.sample([*judged, "x", "y", "z"], rng.randint(1, len(judged) + 3)) for query, judged in qrels.items()
    }
    return qrels, run


@pytest.mark.parametrize("seed", range(2))
def test_compatibility(seed: int) -> None:
    qrels, run = collection(seed)
    texts = ["Compat", "Compat(p=0.5)", "RBO", "Compat(depth=3)", "Compat(depth=lists)", "RBO(depth=lists, p=0.8)"]
    found = evaluate(qrels, run, texts)
    for text in texts:
        values = found.by_query(text)
        p = 0.5 if "p=0.5" in text else 0.8 if "p=0.8" in text else 0.95
        for query, judged in qrels.items():
            best = ideal(judged, run[query])
            depth = 3 if "depth=3" in text else max(len(run[query]), len(best)) if "lists" in text else 1000
            score, weights = rbo(run[query], best, p, depth)
            divisor = weights if text.startswith("RBO") else rbo(best, best, p, depth)[0]
            expected = score / divisor if divisor else 0.0
            assert values[query] == pytest.approx(expected, abs=1e-12), (text, query)


def test_two_runs() -> None:
    """The overlap of two runs, one in place of judgments."""
    rng = random.Random(1)
    first, second = ({f"q{i}": rng.sample([f"d{j}" for j in range(30)], 20) for i in range(10)} for _ in range(2))
    found = evaluate(Qrels.from_run(first), second, "RBO(p=0.9)")
    for query, ranked in first.items():
        score, weights = rbo(second[query], ranked, 0.9, 1000)
        assert found.by_query("RBO(p=0.9)")[query] == pytest.approx(score / weights, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_pairs(seed: int) -> None:
    qrels, run = collection(seed)
    texts = ["PairAccuracy", "PairAccuracy@4", "PairAccuracy(rel=2)"]
    found = evaluate(qrels, run, texts)
    for text in texts:
        k, rel = (4 if "@4" in text else None), (2 if "rel" in text else 1)
        for query, judged in qrels.items():
            relevant = [judged.get(document, 0) >= rel for document in run[query][:k]]
            pairs = [(one, other) for one, other in combinations(relevant, 2) if one != other]
            value = found.by_query(text)[query]
            if not pairs:
                assert query in found.undefined(text)
            else:
                assert value == pytest.approx(sum(one for one, _ in pairs) / len(pairs), abs=1e-12), (text, query)


def test_as_many_grades_as_documents() -> None:
    """Every document has a grade of its own, and twice the queries take about twice the time."""
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": rng.random() for j in range(300)} for i in range(80)}
    run = {query: rng.sample(list(judged), 250) for query, judged in qrels.items()}
    began = time.process_time()
    found = evaluate(qrels, run, "Compat").by_query("Compat")
    assert time.process_time() - began < 1  # a loop over all grades of all queries takes several times that
    for query in ("q0", "q79"):
        best = sorted(qrels[query], key=lambda document: -qrels[query][document])
        expected = rbo(run[query], best, 0.95, 1000)[0] / rbo(best, best, 0.95, 1000)[0]
        assert found[query] == pytest.approx(expected, abs=1e-12)


def extrapolated(one: list[str], other: list[str], p: float) -> float:
    """Webber, Moffat and Zobel 2010, eq. 32."""
    short, long = sorted((len(one), len(other)))
    shared = [len({*one[:d]} & {*other[:d]}) for d in range(long + 1)]
    score = sum(shared[d] / d * p**d for d in range(1, long + 1))
    score += sum(shared[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    rest = (shared[long] - shared[short]) / long + shared[short] / short
    return score * (1 - p) / p + rest * p**long


def test_extrapolated_overlap_of_two_runs() -> None:
    rng = random.Random(5)
    documents = [f"d{j}" for j in range(30)]
    first, second = ({f"q{i}": rng.sample(documents, rng.randint(1, 25)) for i in range(30)} for _ in range(2))
    texts = [f"RBO(p={p}, extrapolate=true)" for p in (0.5, 0.9)]
    found, same = (evaluate(Qrels.from_run(first), run, texts) for run in (second, first))
    for text, p in zip(texts, (0.5, 0.9), strict=True):
        for query, ranked in first.items():
            expected = extrapolated(ranked, second[query], p)
            assert found.by_query(text)[query] == pytest.approx(expected, abs=1e-12), query
            assert same.by_query(text)[query] == pytest.approx(1, abs=1e-12)
