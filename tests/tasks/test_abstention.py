"""Abstention: values by threshold against plain Python, the conformal guarantee by enumeration, and refused input."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gainful import abstention_curves, evaluate, parse
from gainful.errors import GainfulWarning, UsageError
from gainful.tasks.curves.abstention import AbstentionCurves, answers_by_threshold
from gainful.tasks.curves.averages import Resampling
from tests.together import together

NO_BANDS = Resampling(0, 0, 0.95)


def random_case(seed: int, queries: int = 30, top_scores: int = 9) -> tuple[dict, dict]:
    """Judgments, some without relevant documents, and a run with tied top scores that leaves queries out."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for q in range(queries):
        grades = {f"d{i}": rng.choice([0, 1, 2]) if q % 4 else 0 for i in range(4)}
        qrels[f"q{q:02}"] = grades | {"z": 0}
        if q % 7:
            top = rng.randint(1, top_scores)
            order = rng.sample(["d0", "d1", "d2", "d3", "x", "y"], 4)
            run[f"q{q:02}"] = {document: top - rank / 10 for rank, document in enumerate(order)}
    return qrels, run


@together("seed", range(5))
def test_against_plain_python(seed: int) -> None:
    qrels, run = random_case(seed)
    bar = (0.3, -1.0)[seed % 2]  # below 0, only answers to queries without relevant documents are false
    measure = parse("nDCG@3")
    curve = abstention_curves(qrels, {"a": run}, measure, bar=bar, draws=0).curves["a", "nDCG@3"]
    scores = evaluate(qrels, run, measure).by_query(measure)
    top = {query: max(documents.values()) for query, documents in run.items()}
    empty = {query for query, grades in qrels.items() if not any(grades.values())}
    assert curve.thresholds.tolist() == [-math.inf, *sorted(set(top.values()))]
    risks = {}
    for i, threshold in enumerate(curve.thresholds.tolist()):
        answered = {query for query in top if top[query] > threshold}
        false = {query for query in answered if query in empty or scores[query] <= bar}
        kept = math.fsum(scores[q] if q in answered - empty else q in empty - answered for q in qrels)
        answered_share, false_share = Fraction(len(answered), len(qrels)), Fraction(len(false), len(qrels))
        assert curve.of("answered")[0, i] == float(answered_share) and curve.of("false")[0, i] == float(false_share)
        assert curve.of("kept")[0, i] == kept / len(qrels)
        risks[threshold] = len(false) / len(answered) if answered else math.nan
        assert np.array_equal(curve.of("risk")[0, i], risks[threshold], equal_nan=True)
    # The risk at the threshold just below each top score, as in the definition of AURC.
    below = {score: max(t for t in risks if t < score) for score in top.values()}
    assert curve.area[0] == pytest.approx(sum(risks[below[score]] for score in top.values()) / len(top))


def test_area_of_the_definition() -> None:
    """AURC averages the risks of the best 1, 2, ... n answers."""
    wrong = [False, True, False, False, True]
    value = 1.0 - np.array(wrong)
    top = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    found = answers_by_threshold(top, value, np.array(wrong), np.zeros(5, bool), 0.5, NO_BANDS)
    assert found.area[0] == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 4 + 2 / 5) / 5)


@together("seed, level", product(range(4), [0.05, 0.1, 0.29, 0.5]))
def test_the_guarantee_holds_for_every_further_query(seed: int, level: float) -> None:
    """Each of n + 1 queries is left out once: the share of these that are answered falsely is at most the level."""
    rng = np.random.default_rng(seed)
    top = np.round(rng.normal(size=41), 1 + seed % 2)  # with ties
    wrong = rng.random(41) < 1 / (1 + np.exp(2 * top))
    top[:3] = -np.inf
    false = 0
    for i in range(41):
        others = np.arange(41) != i
        curve = answers_by_threshold(
            top[others], 1.0 - wrong[others], wrong[others], wrong[others] & False, level, NO_BANDS
        )
        assert (curve.lowest is None) == (level < 1 / 41)
        assert curve.lowest is not None
        false += bool(wrong[i] and top[i] > curve.thresholds[curve.lowest])
        # A lower threshold would not do.
        at_most = (curve.of("false")[0] * 40 + 1) / 41
        assert at_most[curve.lowest] <= level + 1e-12
        assert curve.lowest == 0 or at_most[curve.lowest - 1] > level + 1e-12
    assert false / 41 <= level


def test_too_few_queries_for_the_level() -> None:
    qrels, run = random_case(1, queries=40)
    found = abstention_curves(qrels, {"a": run}, "P@1", level=0.02, draws=0)
    assert found.curves["a", "P@1"].lowest is None
    text = " ".join(str(found).split())
    assert "no threshold achieves at most 2%: at least 49 queries are needed" in text
    some = abstention_curves(
        {f"q{i}": {"d": 1} for i in range(49)}, {"a": {f"q{i}": {"d": i + 1.0} for i in range(49)}}, level=0.02, draws=0
    )
    assert some.curves["a", "nDCG@10"].lowest == 0


def test_intervals_are_percentiles_of_resampled_queries() -> None:
    qrels, run = random_case(3)
    found = abstention_curves(qrels, {"a": run}, "P@1", draws=200, seed=4, confidence=0.9)
    curve = found.curves["a", "P@1"]
    names = sorted(qrels)
    drawn = np.random.Generator(np.random.PCG64(4)).integers(30, size=(200, 30))
    for i in curve.shown:
        of_draws: dict[str, list[float]] = {"answered": [], "false": [], "kept": []}
        for draw in drawn:
            queries = [names[each] for each in draw]
            answered = [q for q in queries if q in run and max(run[q].values()) > curve.thresholds[i]]
            right = [q for q in answered if qrels[q].get(max(run[q], key=run[q].__getitem__), 0) > 0]
            silent = sum(q not in answered and not any(qrels[q].values()) for q in queries)
            of_draws["answered"].append(len(answered) / 30)
            of_draws["false"].append((len(answered) - len(right)) / 30)
            of_draws["kept"].append((len(right) + silent) / 30)
        for name, values in of_draws.items():
            assert curve.of(name)[1:, i] == pytest.approx(np.quantile(values, [0.05, 0.95])), (name, i)
    assert curve.area[1] < curve.area[0] < curve.area[2]


def test_a_run_that_never_answers_is_never_wrong() -> None:
    found = abstention_curves({"q1": {"d": 1}, "q2": {"d": 0}}, {"a": {"q1": {}, "q2": {"d": 1.0}}}, draws=0, level=0.5)
    curve = found.curves["a", "nDCG@10"]
    assert curve.of("answered")[0].tolist() == [0.5, 0.0] and curve.of("kept")[0].tolist() == [0.0, 0.5]


@together(
    "options, message",
    [
        ({"measures": "DCG@10"}, "DCG@10: abstention needs a mean from 0 to 1"),
        ({"measures": "NumRet"}, "NumRet: abstention needs"),
        ({"level": 1}, "level: expected a number between 0 and 1, found 1"),
        ({"level": "10"}, "level: expected a number between 0 and 1, found 10"),
        ({"bar": math.nan}, "bar: expected a finite number"),
        ({"bar": 1}, "bar: expected a number below 1, the best score, found 1"),
        ({"policy": "missing=skip"}, "missing=skip and undefined=skip cannot be used"),
        ({"policy": {"undefined": "skip"}}, "undefined=skip cannot be used: a query counts"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        abstention_curves({"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}}, **options)


def guaranteed_of(found: AbstentionCurves) -> dict[str, object]:
    """The only row of the guarantee, as machines read it."""
    rows = map(json.loads, found.text("jsonl").splitlines())
    return next(row for row in rows if "guaranteed" in row)


def test_printed_thresholds_are_exact() -> None:
    """Scores differ after the fourth decimal: a rounded threshold would answer other queries, or all."""
    qrels = {f"q{i:02}": {"a": int(i > 9)} for i in range(40)}
    run = {query: {"a": 1e-5 + i * 1e-6 + 1e-17} for i, query in enumerate(qrels)}
    found = abstention_curves(qrels, {"a": run}, "P@1", draws=0)
    threshold = run["q06"]["a"]  # (3 + 1) / 41 <= 10% above it
    line = next(line for line in found.text().splitlines() if line.startswith("a ") and "82.5%" in line)
    assert [float(each) for each in line.split() if each.startswith(("1.6", "0.00001"))] == [threshold]
    assert guaranteed_of(found)["threshold"] == threshold


def test_no_threshold_is_not_the_one_that_returns_every_list() -> None:
    qrels, run = {f"q{i}": {"d": 1} for i in range(9)}, {f"q{i}": {"d": i + 1.0} for i in range(9)}
    for level, guaranteed, text in ((0.1, True, " -inf "), (0.05, False, " - ")):
        found = abstention_curves(qrels, {"a": run}, "P@1", level=level, draws=0)
        row = guaranteed_of(found)
        assert (row["threshold"], row["guaranteed"], row["answered"]) == (None, guaranteed, 1.0 if guaranteed else None)
        line = next(line for line in found.text().splitlines() if line.startswith("a "))
        assert text in line.replace("     -     -", "", 1)


def test_nothing_is_relevant_if_nothing_gains() -> None:
    """Grade 1 gains nothing, so that the right answer to q2 is none."""
    qrels = {"q1": {"d": 2}, "q2": {"d": 1}}
    run = {"q1": {"d": 2.0}, "q2": {"d": 1.0}}
    found = abstention_curves(qrels, {"a": run}, ["nDCG(gain=0-0-1)@1", "P(rel=2)@1"], draws=0)
    for curve in found.curves.values():
        assert curve.of("kept")[0].tolist() == [0.5, 1.0, 0.5]


@together("order", ["score", "rank", "input"])
def test_the_top_score_is_the_highest(order: str) -> None:
    text = b"q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.9 t\nq2 Q0 a 1 0.7 t\n"
    curve = abstention_curves({"q1": {"a": 1}, "q2": {"a": 1}}, {"r": text}, policy={"order": order}, draws=0)
    assert curve.curves["r", "nDCG@10"].thresholds.tolist() == [-math.inf, 0.7, 0.9]


def test_notices_count_what_the_curves_count() -> None:
    qrels = {f"q{i:02}": {"d": int(i > 2)} for i in range(20)}  # nothing is relevant to q00, q01 and q02
    run = {query: {"d": 1.0} for query in qrels if query not in ("q00", "q01", "q03")}
    with pytest.warns(GainfulWarning) as caught:
        found = abstention_curves(qrels, {"r": run}, "nDCG@1", draws=0)
    # q00 and q01 score 1 without an answer; 18 of 20 queries are right: all but q02, answered, and q03.
    assert found.notices == (
        "r: 1 judged query not answered, given the worst score (missing=zero): q03",
        "r: nDCG@1 is saturated: 18 of 20 queries have its best score",
    )
    assert found.curves["r", "nDCG@1"].of("kept")[0, 0] == 18 / 20
    assert "skip" not in str(caught[0].message)


def test_threads_change_nothing() -> None:
    qrels, run = random_case(5)
    runs = {"a": run, "b": run, "c": run}
    one, two = (abstention_curves(qrels, runs, ["P@1", "AP"], threads=threads, draws=50) for threads in (1, 2))
    assert str(one) == str(two)
