"""Correlations of measures with user ratings: against SciPy, and against the formulas of their intervals."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from gainful import UsageError, evaluate_sessions
from gainful.data.sessions import Sessions
from gainful.tasks.sessions.ratings import correlate, correlate_ratings, kendall
from tests.together import together

THEIRS = {"Pearson": stats.pearsonr, "Spearman": stats.spearmanr, "Kendall": stats.kendalltau}


def pairs(seed: int) -> tuple[list[float], list[float]]:
    """Scores and ratings, with ties on both sides."""
    source = random.Random(seed)
    size = source.choice([4, 5, 12, 63, 64, 65, 300, 1000])
    y = [float(source.randint(1, 5)) for _ in range(size - 2)] + [1.0, 5.0]
    x = [round(source.gauss(0, 1) + source.choice([-0.3, 0, 0.8]) * each, source.choice([0, 1, 6])) for each in y]
    x[0] = min(x) - 1
    return x, y


@together("seed", range(40))
def test_coefficients_are_those_of_scipy(seed: int) -> None:
    x, y = pairs(seed)
    found = correlate(x, y)
    assert [each.coefficient for each in found] == list(THEIRS)
    for each in found:
        assert each.value == pytest.approx(THEIRS[each.coefficient](x, y).statistic, abs=1e-12)
        assert each.n == len(x)


@together("confidence", [0.5, 0.9, 0.95, 0.999])
def test_the_interval_of_pearson_is_that_of_scipy(confidence: float) -> None:
    x, y = pairs(7)
    found = correlate(x, y, confidence)[0]
    theirs = stats.pearsonr(x, y).confidence_interval(confidence)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_intervals_of_ranks() -> None:
    # 95%: z is 1.959964; rho = 0.8 and tau = 0.6 of 7 pairs made by hand: 1 2 3 4 5 6 7 against these.
    x, y = [1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 6, 5, 7]
    _, spearman, tau = correlate(x, y)
    rho = 1 - 6 * 6 / (7 * 48)
    assert spearman.value == pytest.approx(rho)
    width = 1.9599639845400545 * math.sqrt((1 + rho**2 / 2) / 4)
    ends = math.tanh(math.atanh(rho) - width), math.tanh(math.atanh(rho) + width)
    assert (spearman.low, spearman.high) == pytest.approx(ends, abs=1e-12)
    # 3 of 21 pairs are in the other order.
    assert tau.value == pytest.approx(15 / 21)
    width = 1.9599639845400545 * math.sqrt(0.437 / 3)
    ends = math.tanh(math.atanh(15 / 21) - width), math.tanh(math.atanh(15 / 21) + width)
    assert (tau.low, tau.high) == pytest.approx(ends, abs=1e-12)


def test_too_few_for_an_interval() -> None:
    found = {each.coefficient: each for each in correlate([1, 2, 3, 5], [1, 3, 2, 4])}
    assert found["Pearson"].low is not None and found["Kendall"].low is None
    assert all(each.value is not None and each.low is None for each in correlate([1, 2, 4], [1, 3, 2]))


def test_perfect_agreement_has_no_width() -> None:
    for each in correlate([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]):
        assert (each.value, each.low, each.high) == (1.0, 1.0, 1.0)
    for each in correlate([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]):
        assert (each.value, each.low, each.high) == (-1.0, -1.0, -1.0)


@together(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4])])
def test_undefined(x: list[float], y: list[float]) -> None:
    assert [(each.value, each.low, each.high, each.n) for each in correlate(x, y)] == [(None, None, None, len(x))] * 3


def test_values_equal_except_for_rounding_are_tied() -> None:
    x, rounded, y = [0.1 + 0.2, 0.3, 0.7, 0.5], [0.3, 0.3, 0.7, 0.5], [2.0, 1.0, 5.0, 4.0]
    for found, expected in zip(correlate(x, y), correlate(rounded, y), strict=True):
        assert found.value == pytest.approx(expected.value, abs=1e-12)
    # Counted by hand: 5 of 6 pairs are in order, one is tied on one side.
    assert correlate(x, y)[2].value == pytest.approx(5 / math.sqrt(5 * 6))
    assert correlate([0.1 + 0.2, 0.3, 0.3], [1, 2, 3])[0].value is None
    assert correlate([0.3 + 1e-11, 0.3, 0.3], [1, 2, 3])[0].value is not None


def test_many_pairs_need_no_matrix() -> None:
    source = np.random.default_rng(3)
    x, y = source.normal(size=50_000).round(3), source.integers(1, 6, 50_000).astype(float)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_errors() -> None:
    with pytest.raises(UsageError, match="1 and 2 values cannot be paired"):
        correlate([1], [1, 2])
    with pytest.raises(UsageError, match="between 0 and 1, found 95"):
        correlate([1, 2], [1, 2], 95)


class TestOfEvaluations:
    qrels = {"t": {"a": 3, "b": 1}}

    def evaluation(self, documents: dict[str, str], **policy: str):  # type: ignore[no-untyped-def]
        from gainful import Policy

        sessions = [
            {"session": s, "topic": "t" if s != "other" else "u", "queries": [{"results": [d]}]}
            for s, d in documents.items()
        ]
        measures = ["sDCG@10", "DocumentsToFirst"]
        return evaluate_sessions(self.qrels, Sessions.of(sessions), measures, policy=Policy(**policy))

    def test_sessions_with_both(self) -> None:
        found = self.evaluation({"s1": "a", "s2": "b", "s3": "x", "s4": "a", "s5": "b", "other": "a"})
        ratings = {"mine": {"s1": 5.0, "s2": 3.0, "s3": 1.0, "s5": 4.0, "other": 1.0, "nobody": 2.0}}
        result = correlate_ratings({"mine": found}, ratings, "said")
        sdcg = next(each for (_, measure), each in result.found.items() if measure.name == "sDCG")
        theirs = stats.pearsonr([3, 1, 0, 1], [5, 3, 1, 4])
        assert (sdcg[0].value, sdcg[0].n) == (pytest.approx(theirs.statistic), 4)
        assert result.unrated == {"mine": ("s4",)}

    def test_undefined_scores_do_not_count(self) -> None:
        found = self.evaluation({"s1": "a", "s2": "b", "s3": "x"}, undefined="skip")
        result = correlate_ratings({"mine": found}, {"mine": {"s1": 1.0, "s2": 2.0, "s3": 3.0}}, "said")
        why = {measure.name: text for (_, measure), text in result.constant.items()}
        assert why == {"DocumentsToFirst": "DocumentsToFirst is 1 for all 2 sessions"}

    def test_why_nothing_is_defined(self) -> None:
        found = self.evaluation({"s1": "a", "s2": "b"})
        constant = correlate_ratings({"mine": found}, {"mine": {"s1": 4.0, "s2": 4.0}}, "said").constant
        assert next(iter(constant.values())) == "said is 4 for all 2 sessions"
        few = correlate_ratings({"mine": found}, {"mine": {"s1": 4.0}}, "said").constant
        assert next(iter(few.values())) == "1 of the sessions has both"
