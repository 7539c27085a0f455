"""Rounding errors above the ideal are capped, and nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import pytest

from gainful import evaluate, explain, parse

#: Added from left to right they come to more than from right to left, in the last bit.
RISING = (0.1, 0.2, 0.3)


def test_rounding_does_lift_these_sums():
    one, two, three = RISING  # added step by step: from Python 3.12 on, sum() rounds but once
    assert (one + two) + three > (three + two) + one
    assert sum(map(Fraction, RISING)) == sum(map(Fraction, reversed(RISING)))


@pytest.mark.parametrize(
    "measure",
    [
        "nCG",
        "nCG@3",
        # Ranks below the base are not discounted, so all orders of the three score the same.
        "nDCG(discount=jarvelin2002, base=4)",
        "nDCG(discount=jarvelin2002, base=4)@3",
        "nDCG(discount=none)",
        "SlidingRatio@3",
        "gR(gain=linear)@3",
    ],
)
def test_the_same_gains_in_another_order_score_1(measure):
    for grades in permutations(RISING):
        assert parse(measure).score(grades, scale=1) == 1.0
    qrels, run = {"q": {f"d{i}": grade for i, grade in enumerate(RISING)}}, {"q": [f"d{i}" for i in range(len(RISING))]}
    assert evaluate(qrels, run, measure).mean(measure) == 1.0
    explanation = explain(measure, qrels, run, "q")
    assert explanation.steps[-1].value == explanation.value == 1.0


def naive_ndcg(grades: tuple[float, ...], divisors: list[float]) -> float:
    """DCG relative to the best order, by definition."""
    run, ideal = (
        math.fsum(gain / divisor for gain, divisor in zip(gains, divisors, strict=True))
        for gains in (grades, sorted(grades, reverse=True))
    )
    return run / ideal


def test_an_average_over_ranks():
    for measure in ("nCG(average=ranks)@7", "nDCG(discount=jarvelin2002, base=9, average=ranks)@7"):
        assert parse(measure).score((0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)) == 1.0
    # Mean of 0.1/0.3, (0.1 + 0.2)/(0.3 + 0.2) and 1.
    assert parse("nCG(average=ranks)@3").score(RISING) == pytest.approx((1 / 3 + 3 / 5 + 1) / 3, abs=1e-15)


def test_values_that_truly_exceed_the_ideal_are_not_capped():
    # jarvelin2000 divides by 1 at rank 1 and by log10(2) = 0.301 at rank 2, so the better document belongs there.
    grades = (1.0, 3.0)
    expected = naive_ndcg(grades, [1.0, math.log10(2)])
    assert expected > 1.7
    assert parse("nDCG(discount=jarvelin2000, base=10)").score(grades) == pytest.approx(expected, rel=1e-14)
    ranks = [naive_ndcg((1.0,), [1.0]) / 3, expected]  # rank 1: 1 of the ideal 3
    mean = parse("nDCG(discount=jarvelin2000, base=10, average=ranks)@2").score(grades)
    assert mean == pytest.approx(sum(ranks) / 2, rel=1e-14)
