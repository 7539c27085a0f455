"""Earlier measures that statistics packages have under other names, on real and random collections."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from scipy.stats import somersd
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity

from gainful import evaluate

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]


def random_collection(seed: int) -> tuple[Grades, Lists]:
    """Many ties, and every document in the lists."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(60)]
    qrels = {f"q{i}": {d: rng.choice([-1, 0, 0, 1, 2]) for d in rng.sample(documents, 25)} for i in range(8)}
    return qrels, {query: {d: float(rng.randrange(20)) for d in documents} for query in qrels}


@pytest.fixture(params=["random", "robust2005", "trec-covid/round1", "dl-hard/passage"])
def judged_and_run(request: pytest.FixtureRequest) -> tuple[Grades, Lists]:
    if request.param == "random":
        return random_collection(1966)
    real: Any = request.getfixturevalue("collection")(request.param)
    run = real.run(sorted(real.run_paths)[0])
    queries = sorted(set(real.qrels) & set(run))[:12]
    return {query: real.qrels[query] for query in queries}, {query: run[query] for query in queries}


def by_query(measure: str, qrels: Grades, run: Lists) -> dict[str, float]:
    result = evaluate(qrels, run, measure)
    return dict(zip(result.queries, result.raw[0].tolist(), strict=True))


def assert_same(measure: str, collection: tuple[Grades, Lists], theirs: Callable[[str], float]) -> None:
    for query, value in by_query(measure, *collection).items():
        assert value == pytest.approx(theirs(query), rel=1e-9, abs=1e-9, nan_ok=True), query


def test_normalised_recall_is_the_area_under_the_roc_curve(judged_and_run: tuple[Grades, Lists]) -> None:
    """Over a whole collection of as many documents as are known: what was not retrieved has the lowest score."""
    qrels, run = judged_and_run
    size = max(len(qrels[query].keys() | run[query].keys()) for query in qrels) + 50

    def area(query: str) -> float:
        known = sorted(qrels[query].keys() | run[query].keys())
        relevant = [qrels[query].get(document, 0) > 0 for document in known] + [False] * (size - len(known))
        lowest = min(run[query].values()) - 1
        scores = [run[query].get(document, lowest) for document in known] + [lowest] * (size - len(known))
        return float(roc_auc_score(relevant, scores)) if any(relevant) else float("nan")

    assert_same(f"NormRecall(N={size}, tied=expected)", judged_and_run, area)


def test_pairs_are_those_of_somers(judged_and_run: tuple[Grades, Lists]) -> None:
    qrels, run = judged_and_run

    def distance(query: str) -> float:
        documents = sorted(qrels[query])
        lowest = min(run[query].values()) - 1
        scores = [run[query].get(document, lowest) for document in documents]
        grades = [qrels[query][document] for document in documents]
        return float((1 - somersd(grades, scores).statistic) / 2) if len(set(grades)) > 1 else float("nan")

    assert_same("NDPM", judged_and_run, distance)


def test_relative_relevance_is_the_cosine(judged_and_run: tuple[Grades, Lists]) -> None:
    qrels, run = judged_and_run

    def cosine(query: str) -> float:
        documents = list(run[query])
        scores = [run[query][document] for document in documents]
        gains = [max(0, qrels[query].get(document, 0)) for document in documents]
        return float(cosine_similarity([scores], [gains])[0, 0]) if any(gains) else float("nan")

    assert_same("RelativeRelevance", judged_and_run, cosine)


def test_e_is_what_trec_evals_f_leaves(judged_and_run: tuple[Grades, Lists]) -> None:
    qrels, run = judged_and_run
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"set_F"}).evaluate(run)
    empty = {query for query, grades in qrels.items() if max(grades.values()) <= 0}
    ours = by_query("VanRijsbergenE", qrels, run)
    assert ours.keys() - empty == theirs.keys() - empty
    assert not empty.issuperset(ours)
    for query in ours.keys() - empty:
        assert ours[query] == pytest.approx(1 - theirs[query]["set_F"], abs=1e-9)


def test_distance_of_scores(judged_and_run: tuple[Grades, Lists]) -> None:
    """With the means and deviations of NumPy."""
    qrels, run = judged_and_run

    def distance(query: str) -> float:
        judged = qrels[query].keys() & run[query].keys()
        ours = np.array([run[query][document] for document in sorted(judged) if qrels[query][document] > 0])
        theirs = np.array([run[query][document] for document in sorted(judged) if qrels[query][document] <= 0])
        if not ours.size or not theirs.size or not ours.std() + theirs.std():
            return float("nan")
        return float((ours.mean() - theirs.mean()) / ((ours.std() + theirs.std()) / 2))

    assert_same("SwetsE", judged_and_run, distance)
