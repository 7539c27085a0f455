"""Model judgments calibrated by human ones: against scores by each judge, the order of systems, refused input."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from gainful import Qrels, calibrate_judgments, compare, evaluate
from gainful.errors import InputError, UsageError
from gainful.stats.prediction_powered import powered_mean
from tests.together import together


def random_case(seed: int = 0, queries: int = 30) -> tuple[dict, dict, dict]:
    """Human judgments of ten queries, model judgments of all, and runs, of which the model favours "c"."""
    rng = random.Random(seed)
    human, model, runs = {}, {}, {"a": {}, "b": {}, "c": {}}
    for q in range(queries):
        grades = {f"d{i}": rng.choice([0, 0, 1, 2, 3]) for i in range(8)}
        for i, run in enumerate(runs.values()):
            run[f"q{q:02}"] = sorted(grades, key=lambda d: -grades[d] - rng.gauss(0, 3 - i))
        model[f"q{q:02}"] = {d: min(max(g + rng.choice([-1, 0, 0, 1]), 0), 3) for d, g in grades.items()}
        model[f"q{q:02}"][runs["c"][f"q{q:02}"][0]] = 3
        if q % 3 == 0:
            human[f"q{q:02}"] = grades
    return human, model, runs


@together("measure", ["nDCG@5", "AP(rel=2)", "RBP(gain=scaled)@8", "ESL(n=1)"])
def test_scores_of_both_judges(measure: str) -> None:
    human, model, runs = random_case()
    found = calibrate_judgments(human, model, runs, measure, baseline="b").measures[0]
    all_queries = sorted(model)

    def by_query(judge: dict, run: str) -> np.ndarray:
        scores = evaluate(judge, runs[run], measure).by_query(measure) if judge else {}
        return np.array([scores.get(query) for query in all_queries], float)

    for run in runs:
        assert found.means[run] == powered_mean(by_query(human, run), by_query(model, run)[None])
        assert found.scores[run][0].tolist() == [each for each in by_query(human, run).tolist() if each == each]
    for run in "ac":
        differences = (by_query(judge, run) - by_query(judge, "b") for judge in (human, model))
        assert found.differences[run] == powered_mean(next(differences), next(differences)[None])
    assert list(found.means) == sorted(runs, key=lambda r: found.means[r].value * (1 if "ESL" in measure else -1))


@together("seed, measure, sign", [(seed, *how) for seed in range(6) for how in (("nDCG@2", 1), ("ESL(rel=3)", -1))])
def test_ranks_hold_together(seed: int, measure: str, sign: int) -> None:
    """A rank is possible unless the interval of a difference, at a third of the level, says otherwise."""
    human, model, runs = random_case(seed, 150)
    calibrated = calibrate_judgments(human, model, runs, measure, baseline=(base := "ac"[seed // 2 % 2]))
    [found] = calibrated.measures
    scores = {r: [sign * found_by(judge, runs[r], sorted(model), measure) for judge in (human, model)] for r in runs}
    for run in runs:
        pairs = [powered_mean(*(_minus(scores[run], scores[other])), 0.05 / 3) for other in runs if other != run]
        assert found.ranks[run] == (1 + sum(p.high < 0 for p in pairs), 3 - sum(p.low > 0 for p in pairs))
    clear: tuple[list[str], list[str]] = [], []
    for run in sorted({*runs} - {base}, key=list(found.means).index):
        bias = sign * np.subtract(*(by_model - by_human for by_human, by_model in (scores[run], scores[base])))
        if ttest_1samp(bias[~np.isnan(bias)], 0).pvalue < 0.05 / 2:
            clear[int(np.nanmean(bias) < 0)].append(run)
    assert found.favoured == clear
    (better, worse), text = clear[::sign], " ".join(str(calibrated).split())
    told = "as a judge that also reranked would: do not compare them by its judgments alone."
    assert (f"<dict> favours {' and '.join(better)} over {base}, {told}" in text) == bool(better)
    assert (f"<dict> favours {base} over {' and '.join(worse)}, {told}" in text) == bool(worse)


def found_by(judge: dict, run: dict, queries: list[str], measure: str = "nDCG@10") -> np.ndarray:
    scores = evaluate(judge, run, measure).by_query(measure)
    return np.array([scores.get(query) for query in queries], float)


def _minus(one: list[np.ndarray], other: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return one[0] - other[0], (one[1] - other[1])[None]


def test_distances_are_the_measures_of_the_model_as_a_system() -> None:
    human, model, runs = random_case(2)
    found = calibrate_judgments(human, model, runs)
    system = {query: {d: grade / 3 for d, grade in model[query].items()} for query in human}
    for name, value in found.distances().items():
        measure = f"{name}(over=judged, srs=score)"
        assert value == pytest.approx(evaluate(human, system, measure).mean(measure))
    assert found.distances()["ADP"] < found.distances()["ADR"]  # it overestimates what c ranks first


def test_a_scale_is_shared() -> None:
    """RBP by scaled gains is by one scale, even if the model gives no highest grade."""
    human, model, runs = random_case()
    low = {query: {d: min(grade, 2) for d, grade in grades.items()} for query, grades in model.items()}
    measure = "RBP(gain=scaled)@8"
    found = calibrate_judgments(human, low, runs, measure).measures[0]
    scaled = evaluate(Qrels.of(low | {"z": {"d": 3}}), runs["a"], measure, policy="missing=skip")
    assert found.means["a"].other == pytest.approx(scaled.mean(measure))


def test_repeated_judgments() -> None:
    human, model, runs = random_case()
    again = {q: {d: min(g + 1, 3) if d == "d1" else g for d, g in grades.items()} for q, grades in model.items()}
    found = calibrate_judgments(human, (model, again), runs)
    assert found.judgings == 2
    scores = np.stack([found_by(judge, runs["a"], sorted(model)) for judge in (model, again)])
    assert found.measures[0].means["a"] == powered_mean(found_by(human, runs["a"], sorted(model)), scores)
    assert "noise" in str(found) and "noise" not in str(calibrate_judgments(human, model, runs))


def test_differences_that_the_noise_of_a_judge_can_make() -> None:
    _, model, runs = random_case()
    again = {query: {d: g if d != "d3" else 1 for d, g in grades.items()} for query, grades in model.items()}
    pair = {name: runs[name] for name in ("a", "b")}
    found = compare(model, pair, "P@3", judged_again=[again])
    by_run = [[found_by(judge, runs[run], sorted(model), "P@3") for run in "ba"] for judge in (model, again)]
    apart = [b - a for b, a in by_run]
    noise = t.ppf(0.975, len(model)) * np.sqrt(sum((x - y) ** 2 / 2 for x, y in zip(*apart, strict=True))) / len(model)
    [row] = found.judge_noise[0].rows
    assert row == ("P@3", 2, len(model), pytest.approx(noise), *map(pytest.approx, sorted(x.mean() for x in apart)))
    sentence = f"Differences in P@3 below {noise:.3f} may be due to the noise of the judge (95%, 2 judgings)."
    assert found.judge_noise[0].notes == (sentence,) and sentence[:30] in str(found)
    with pytest.raises(UsageError, match="judged_again=: no query has judgments in all sets"):
        compare(model, pair, "P@3", judged_again=[{"q00": {"d1": 1}}, {"q01": {"d1": 1}}])


def test_runs_that_the_model_cannot_order_share_a_rank() -> None:
    human, model, runs = random_case()
    for measure in ("nDCG@5", "ESL(n=1)"):
        page = calibrate_judgments(human, model, {**runs, "same": runs["a"]}, measure).page()
        rank = {row[0]: row[-1] for row in next(iter(page.tables)).rows if row[1] is None}
        assert rank["a"] == rank["same"] and len(set(rank.values())) == 3


def test_judgments_without_relevant_documents() -> None:
    none = {f"q{i}": {"d": 0} for i in range(6)}
    distances = calibrate_judgments(none, none, {"a": {query: ["d"] for query in none}}, "P@1").distances()
    assert distances == {"ADM": 1, "ADP": 1, "ADR": 1}


def test_people_who_judge_more_than_the_model() -> None:
    """Their other queries are reported, because the two may be swapped; all that count are judged by both."""
    human, model, runs = random_case()
    found = calibrate_judgments(model, human, runs)
    assert found.notices[-1].startswith("20 queries of <dict> without judgments in <dict>, ignored: q01, q02, q04,")
    assert "95% CI for queries like these (Student's t)" in str(found)
    assert not any("ignored" in line for line in calibrate_judgments(human, model, runs).notices)


@together(
    "change, error, message",
    [
        ({"model": ()}, UsageError, "model: at least one set of judgments"),
        ({"baseline": "d"}, UsageError, "no run is called 'd'"),
        ({"measures": "NumRet"}, UsageError, "NumRet: calibration needs a mean"),
        ({"human": {"q00": {"d1": 1}, "q01": {"d1": 1}, "q02": {"d1": 1}}}, InputError, "at least 4 queries"),
        ({"human": {"Q1": {"d1": 1}}}, InputError, "found 0"),
        ({"runs": {}}, UsageError, "at least one run"),
    ],
)
def test_refused(change: dict, error: type[Exception], message: str) -> None:
    human, model, runs = random_case()
    with pytest.raises(error, match=message):
        calibrate_judgments(**{"human": human, "model": model, "runs": runs} | change)
