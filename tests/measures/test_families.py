"""Properties of single families of measures; test_naive.py compares their values.

Rounding, refusals, equalities that their pages name, and time where every document has a grade of its own.
"""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gainful import Evaluation, InputError, Policy, Qrels, UsageError, evaluate, parse
from gainful.measures.cwl import CWL, MODELS
from tests.conformance.test_vectors import naive

Grades = list[float | None]

# --- Incomplete judgments, models of the user, utility ----------------------------------------------------------------


def test_the_pool_counts() -> None:
    # Rank 2 is after an unjudged document of the pool, or after one that was not in the pool.
    judged = {"q": {"pooled": -1, "good": 1}}
    policy = Policy(negative="unjudged")
    after_pooled = evaluate(judged, {"q": ["pooled", "good"]}, "InfAP", policy=policy).mean("InfAP")
    after_other = evaluate(judged, {"q": ["other", "good"]}, "InfAP", policy=policy).mean("InfAP")
    assert after_pooled == pytest.approx((1 + 1 / 2) / 2)  # it may be relevant or not
    assert after_other == 1 / 2


def test_a_collection_that_cannot_hold_the_list() -> None:
    with pytest.raises(UsageError, match="Utility: N=2, but a query has 3 documents"):
        parse("Utility(d=1, N=2)").score([1, 0], unretrieved=[1])
    assert parse("Utility(d=1, N=3)").score([1, 0], unretrieved=[1]) == 0.0


def test_gains_above_one() -> None:
    for measure in ("RBP(gain=linear)", "RBPResidual(gain=0-1-10)@5"):
        with pytest.raises(InputError, match=r"expected gains from 0 to 1, found (2|10) for grade 2"):
            parse(measure).score([2, 1])
    # Ignored grades may have any gain.
    assert parse("RBP(gain=linear, level=1)").score([2, 1]) == pytest.approx(0.2 * 0.8)


@pytest.mark.parametrize("p", [0, 0.3, 0.8, 0.95])
@pytest.mark.parametrize("measure", ["RBP(p={})", "RBP(p={})@3", "RBP(p={}, gain=scaled)", "RBP(p={}, gain=0-0.5-1)"])
def test_the_residual_is_the_largest_possible_rise(measure: str, p: float) -> None:
    # Give the highest grade to all unjudged documents, down to a rank with negligible weight.
    ranking: Grades = [1, None, 0, None, 2]
    name = measure.format(p)
    full: Grades = [2 if grade is None else grade for grade in ranking] + [2] * 2000
    if name.endswith("@3"):
        full = [*full[:3], *full[5:]]
        name = name.removesuffix("@3")
    possible = parse(name).score(full, scale=2)
    residual = parse(measure.format(p).replace("RBP", "RBPResidual")).score(ranking, scale=2)
    assert parse(measure.format(p)).score(ranking, scale=2) + residual == pytest.approx(possible)


# --- C/W/L ------------------------------------------------------------------------------------------------------------


def of_grades(lists: dict[str, Grades], texts: list[str]) -> Evaluation:
    """Lists of grades from 0 to 1, each as a query."""
    qrels = {
        query: {"missed": 0, **{f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}}
        for query, grades in lists.items()
    }
    run = {query: [f"d{i}" for i in range(len(grades))] for query, grades in lists.items()}
    return evaluate(Qrels.from_dict(qrels, scale=1), run, texts)


def test_the_equalities_of_the_page() -> None:
    """Direct measures cut sums at k; C/W/L users have weights that sum to 1 down to k."""
    rng, cuts = random.Random(7), ("@1", "@3", "@20", "")
    lists: dict[str, Grades] = {f"q{i}": rng.choices([None, 0, 1], k=rng.randint(1, 12)) for i in range(30)}
    models = [f"CWL(model={name}){at}" for name in ("P", "RR", "RBP", "RBP, report=residual") for at in cuts if at]
    models += ["CWL(model=RBP)", "CWL(model=RBP, report=residual)", "CWL(model=AP)"]
    direct = [f"{name}{at}" for name in ("P", "RR", "RBP", "RBPResidual", "DCG", "ScaledDCG") for at in cuts if at]
    found = of_grades(lists, [*models, *direct, "RBP", "RBPResidual", "AP"])
    by_text = {str(measure): found.by_query(measure) for measure in found.measures}
    for query, grades in lists.items():

        def score(text: str, query: str = query) -> float:
            value = by_text[str(parse(text))][query]
            assert value is not None
            return value

        for k in (1, 3, 20):
            for name, model in (("P", "P"), ("RR", "RR")):
                assert score(f"CWL(model={model})@{k}") == pytest.approx(score(f"{name}@{k}"))
            within = 1 - 0.8**k
            assert score(f"CWL(model=RBP)@{k}") == pytest.approx(score(f"RBP@{k}") / within)
            residual = (score(f"RBPResidual@{k}") - 0.8**k) / within
            assert score(f"CWL(model=RBP, report=residual)@{k}") == pytest.approx(residual, abs=1e-12)
            looks = sum(1 / math.log2(rank + 1) for rank in range(1, k + 1))
            assert score(f"ScaledDCG@{k}") == pytest.approx(score(f"DCG@{k}") / looks)
        assert score("CWL(model=RBP)") == pytest.approx(score("RBP"))
        assert score("CWL(model=RBP, report=residual)") == pytest.approx(score("RBPResidual"))
        if 1 in grades:
            assert score("CWL(model=AP)") == pytest.approx(score("AP"))


def test_every_model_has_its_own_parameters() -> None:
    for model in ("INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10", "NERR11"):
        found, expected_ = (parse(text).score([1, 0, 2, None, 1]) for text in (f"CWL(model={model})@20", f"{model}@20"))
        assert found == expected_, model


def test_continuation_probabilities_above_1_are_rejected() -> None:
    gains, ranks = np.tril(np.ones((30, 30))), np.arange(1.0, 31.0)
    for model, continuation in MODELS.items():
        goes_on = continuation(gains, ranks, CWL(model=model, T=0.25))
        assert goes_on.min() >= 0, model
        assert goes_on.max() <= 1, model
    for text in ("INST(T=0.2)", "CWL(model=INST, T=0.2)"):
        with pytest.raises(UsageError, match=r"T: expected at least 0\.25, found 0\.2"):
            parse(text)


@pytest.mark.parametrize(
    "text", ["CWL@1000000000", "INST@1000000000", "ScaledDCG@1000000000", "alpha-DCG@1000000000", "ERR-IA@1000000000"]
)
def test_large_cutoffs(text: str) -> None:
    with pytest.raises(UsageError, match="expected a cutoff of at most 1,000,000, found 1,000,000,000"):
        parse(text)
    assert parse("nDCG@1000000000").score([1]) == 1  # later ranks have gain 0


def test_unjudged_documents_may_have_the_highest_gain_of_the_map() -> None:
    """The scale goes up to 4, although no document has that grade."""
    assert parse("CWL(model=P, gain=0..4, report=residual)@2").score([1, None]) == 0.5


# --- Distances on continuous scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 7, 10, 49, 1000])
def test_rank_k_reaches_a_threshold_of_1_over_k(k: int) -> None:
    """Rank k of k has SRS 1/k, which reaches a threshold of 1/k despite rounding."""
    grades = [1] * k
    for rank in range(1, min(k, 60) + 1):
        threshold = round((k - rank + 1) / k, 12)
        assert parse(f"ThresholdR(srs_threshold={threshold})@{k}").score(grades) == pytest.approx(rank / k, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 3, 7, 10, 50, 100])
def test_levels_start_at_their_written_value(levels: int) -> None:
    """0.29 * 100 is below 29 in binary, but 0.29 is the start of level 29."""
    for level in range(levels):
        score = round(level / levels, 12)
        user = Qrels.from_dict({"q": {"d": score, "e": 1}}, scale=1)
        result = evaluate(user, {"q": {"d": 0.0, "e": 1.0}}, f"ADR(srs=score, urs_levels={levels}, over=retrieved)")
        exactly = level if score * levels >= level - 1e-9 else level - 1
        assert result.mean(result.measures[0]) == pytest.approx(1 - exactly / (levels - 1) / 2, abs=1e-9)


@pytest.mark.parametrize("tenths", range(10))
def test_a_distance_of_a_tenth_is_a_tenth(tenths: int) -> None:
    """0.4 - 0.3 is above 0.1 in binary, but does not exceed t = 0.1."""
    user = Qrels.from_dict({"q": {"d": tenths / 10, "e": (tenths + 1) / 10}}, scale=1)
    names = ["Pstar(srs=score, over=judged)", "Rstar(srs=score, over=judged)"]
    result = evaluate(user, {"q": {"d": (tenths + 1) / 10, "e": tenths / 10}}, names)
    assert [result.mean(name) for name in names] == [1, 1]


def test_half_way_between_the_lowest_and_the_highest_score_is_a_half() -> None:
    """(0.6 - 0.3) / (0.9 - 0.3) is below 0.5 in binary."""
    result = evaluate({"q": {"d": 1, "e": 1}}, {"q": {"d": 0.9, "e": 0.6, "x": 0.3}}, "ThresholdR(srs=minmax)")
    assert result.mean("ThresholdR(srs=minmax)") == 1


class TestScoresOfDistances:
    QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}

    def of(self, run: dict[str, float], measure: str) -> float:
        return evaluate({"q": self.QRELS["q"]}, {"q": run}, measure).mean(measure)

    def test_constant_scores_are_all_1(self) -> None:
        assert self.of({"a": 7.0, "b": 7.0}, "ADM(srs=minmax)") == 0.5

    def test_scores_that_are_all_0_are_0(self) -> None:
        assert self.of({"a": 0.0, "b": 0.0}, "ADM(srs=max)") == 0.5

    def test_very_different_scores(self) -> None:
        assert self.of({"a": 1e308, "b": -1e308}, "ADM(srs=minmax)") == 1

    def test_lowest_and_highest_are_those_of_the_first_k(self) -> None:
        assert self.of({"a": 3.0, "x": 2.0, "b": 1.0}, "ADM(srs=minmax)@2") == 1

    @pytest.mark.parametrize(
        ("srs", "score", "expected"),
        [("score", 1.5, "from 0 to 1"), ("score", -0.5, "from 0 to 1")]
        + [(srs, -3.0, "of at least 0") for srs in ("max", "ratio", "exp")],
    )
    def test_scores_outside_their_range(self, srs: str, score: float, expected: str) -> None:
        run = {"q": {"a": 0.5}, "r": {"a": 0.75, "x": score}}
        rank = 1 if score > 1 else 2
        with pytest.raises(InputError) as caught:
            evaluate(self.QRELS, run, f"ADM(srs={srs})")
        assert caught.value.message == (
            f"<dict>: expected scores {expected} for ADM(srs={srs}), found {score:g} at rank {rank} of query 'r'"
        )
        assert "minmax" in str(caught.value.hint)

    def test_scores_below_the_cutoff_may_be_anything(self) -> None:
        assert self.of({"a": 1.0, "b": -3.0}, "ADM(srs=score)@1") == 1

    def test_scores_are_required_only_by_srs_from_scores(self) -> None:
        assert parse("ADM").needed() == frozenset()
        assert parse("PRmean(srs=exp)").needed() == {"scores"}
        assert evaluate(self.QRELS, {"q": ["a"]}, "ADM").by_query("ADM")["q"] == 1
        with pytest.raises(InputError, match="the run has no scores"):
            evaluate(self.QRELS, {"q": ["a"]}, "ADM(srs=minmax)")


class TestParametersOfDistances:
    def test_a_collection_smaller_than_its_known_documents(self) -> None:
        qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": ["a", "x"]}
        assert evaluate(qrels, run, "ADM(over=3)@2").mean("ADM(over=3)@2") == pytest.approx(1 - 1.5 / 3)
        with pytest.raises(InputError) as caught:
            evaluate(qrels, run, "ADM(over=2)@2")
        assert caught.value.message == (
            "<dict>: ADM(over=2)@2: query 'q' has 3 documents retrieved or relevant, more than the collection"
        )

    def test_grades_above_1_cannot_be_given(self) -> None:
        with pytest.raises(InputError, match=r"\AADM\(urs=given\): expected grades up to 1 with urs=given, found 2"):
            parse("ADM(urs=given)").score([2])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "ADM(over=retreived)",
                "ADM: over: expected retrieved+relevant | retrieved | relevant | judged, or the size of the "
                "collection, found 'retreived'\nhint: did you mean retrieved",
            ),
            ("ADM(over=0)", "ADM: over: expected a whole number from 1 to 2^53, found 0"),
            ("ADM(over=1.5)", "ADM: over: expected a whole number from 1 to 2^53, found 1.5"),
            ("ADM(srs=ranks)", "ADM: srs: expected rank | score | minmax | max | ratio | exp, found 'ranks'"),
            ("ADM(distance=cubic)", "ADM: distance: expected absolute | squared, found 'cubic'"),
            ("ADM(srs_levels=1)", "ADM: srs_levels: expected at least 2, found 1"),
            ("ADM(urs_levels=2.5)", "ADM: urs_levels: expected a whole number"),
            ("Pstar(t=2)", "Pstar: t: expected a number from 0 to 1, found 2"),
            (
                "ThresholdP(srs_threshold=0)",
                "ThresholdP: srs_threshold: expected a number above 0 and up to 1, found 0",
            ),
            ("PRmean(urs_threshold=1.1)", "PRmean: urs_threshold: expected a number above 0 and up to 1, found 1.1"),
            ("muAP(levels=some)", "muAP: levels: expected query | all, found 'some'"),
            ("muAP@10", "muAP takes no @ (@10)"),
            ("gP", "gP: a cutoff is required\nhint: write gP@10"),
            ("gIPrec", "gIPrec: a recall is required\nhint: write gIPrec@0.5"),
        ],
    )
    def test_mistakes(self, text: str, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(text)
        assert str(caught.value).startswith(message)

    def test_an_unknown_urs_has_a_hint(self) -> None:
        with pytest.raises(UsageError, match="`given` uses grades unchanged"):
            parse("ADM(urs=qqqq)")

    def test_the_depth_is_1000_by_default(self) -> None:
        assert parse("ADM") == parse("ADM@1000")
        assert str(parse("ADM@1000")) == "ADM"
        assert parse("ADM").full_text() == "ADM(distance=absolute, over=retrieved+relevant, srs=rank, urs=scaled)@1000"
        assert str(parse("ADM(over=1e6)@10")) == "ADM(over=1000000)@10"

    def test_documents_below_the_depth_are_not_retrieved(self) -> None:
        run = [f"x{i}" for i in range(1000)]
        here = evaluate({"q": {"d": 1}}, {"q": [*run, "d"]}, "ADM").mean("ADM")
        assert here == evaluate({"q": {"d": 1}}, {"q": run}, "ADM").mean("ADM")


# --- Diversity --------------------------------------------------------------------------------------------------------


def test_judgments_without_subtopics_are_refused() -> None:
    with pytest.raises(UsageError, match="judgments with sub-topics are required"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "alpha-nDCG@10")


def test_subtopics_that_are_several_judges_conflict() -> None:
    with pytest.raises(InputError, match="conflicting grades"):
        evaluate(Qrels.read(b"q 1 a 1\nq 1 a 0\n"), {"q": ["a"]}, "StRecall@5", policy=Policy(subtopics=True))


def test_parameters_without_effect_are_rejected() -> None:
    with pytest.raises(UsageError, match="NRBP: unknown parameter 'cutoff'"):
        parse("NRBP(cutoff=3)")
    with pytest.raises(UsageError, match="nNRBP: beta: expected a number below 1, found 1"):
        parse("nNRBP(beta=1)")
    for name in ("P-IA@5", "AP-IA", "StRecall"):
        assert "gain" not in parse(name).parameters()


# --- Generalised precision and recall, many grades --------------------------------------------------------------------


@pytest.mark.parametrize("tenths", [[1, 2, 7], [7, 2, 1], [3, 3, 4], [1] * 10, [2, 1] * 3 + [1]])
def test_recall_levels_are_reached_despite_rounding(tenths: list[int]) -> None:
    """0.1 + 0.2 is above 0.3 and 0.7 * 10 above 7 in binary."""
    grades = [tenth / 10 for tenth in tenths]
    for level in range(11):
        reached = [i for i in range(1, len(tenths) + 1) if sum(tenths[:i]) * 10 >= level * sum(tenths)]
        best = max(Fraction(sum(tenths[:i]), max(tenths) * i) for i in reached)
        assert parse(f"gIPrec@{level / 10}").score(grades) == pytest.approx(float(best), abs=1e-12)


class TestLevels:
    QRELS = {"a": {"x": 1, "y": 2}, "b": {"x": 4, "z": -1}, "c": {"x": 0}}
    RUN = {query: ["y", "x"] for query in QRELS}

    def test_the_whole_file_stays_the_whole_when_queries_are_selected(self) -> None:
        part = Qrels.from_dict(self.QRELS).select(["a"])
        assert evaluate(part, self.RUN, "muAP(levels=all)").mean("muAP(levels=all)") == 0.5

    def test_a_given_scale_is_no_level(self) -> None:
        assert parse("muAP(levels=all)").score([2, 1], scale=10) == 1


# --- Similarity -------------------------------------------------------------------------------------------------------


def two_runs(seed: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    rng, documents = random.Random(seed), [f"d{j}" for j in range(30)]
    first, second = ({f"q{i}": rng.sample(documents, rng.randint(1, 25)) for i in range(10)} for _ in range(2))
    return first, second


def test_two_runs() -> None:
    """The overlap of two runs, one in place of judgments."""
    first, second = two_runs(1)
    found = evaluate(Qrels.from_run(first), second, "RBO(p=0.9)")
    for query, ranked in first.items():
        overlaps = [len({*ranked[:i]} & {*second[query][:i]}) / i for i in range(1, 1001)]
        expected = sum(0.9**i * overlap for i, overlap in enumerate(overlaps)) / sum(0.9**i for i in range(1000))
        assert found.by_query("RBO(p=0.9)")[query] == pytest.approx(expected, abs=1e-12)


def test_extrapolated_overlap_of_two_runs() -> None:
    first, second = two_runs(5)
    texts = [f"RBO(p={p}, extrapolate=true)" for p in (0.5, 0.9)]
    found, same = (evaluate(Qrels.from_run(first), run, texts) for run in (second, first))
    for text, p in zip(texts, (0.5, 0.9), strict=True):
        for query, ranked in first.items():
            expected = naive().extrapolated_overlap(ranked, second[query], p)
            assert found.by_query(text)[query] == pytest.approx(expected, abs=1e-12), query
            assert same.by_query(text)[query] == pytest.approx(1, abs=1e-12)


# --- As many grades as documents --------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["GAP", "Compat", "muAP", "NDPM"])
def test_as_many_grades_as_documents(measure: str) -> None:
    """Each document has a different grade, and twice the queries take about twice the time."""
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": round(rng.random(), 6) for j in range(120)} for i in range(80)}
    run = {query: rng.sample(list(judged), 100) for query, judged in qrels.items()}
    began = time.process_time()
    found = evaluate(qrels, run, measure).by_query(measure)
    assert time.process_time() - began < 1  # a loop over all grades of all queries takes ten times that
    vector: dict[str, Any] = {
        "judgments": {query: list(map(list, qrels[query].items())) for query in ("q0", "q79")},
        "run": {query: [[document] for document in run[query]] for query in ("q0", "q79")},
    }
    for query, value in naive().answer(vector, measure)["queries"].items():
        assert found[query] == pytest.approx(value, rel=1e-12)
