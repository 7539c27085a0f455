"""The numbers that the article on many grades prints.

scheel2011: Scheel, Lommatzsch and Albayrak, Performance measures for multi-graded relevance, SPIM 2011.
"""

from __future__ import annotations

import math

import pytest

from gainful import evaluate, parse

# Tables 1 and 2: the list A ... H.
GRADES = [1, 0, 3, 3, 2, 0, 1, 4]
DOUBLED = [2 * grade for grade in GRADES]
RANKS = range(1, 9)


def vector(measure: str, grades: list[int]) -> list[float]:
    return [parse(f"{measure}@{k}").score(grades) for k in RANKS]


def rounded(values: list[float], places: int = 2) -> list[float]:
    return [round(value, places) for value in values]


class TestAveragePrecisionByThreshold:
    """Table 1."""

    @pytest.mark.parametrize(("threshold", "printed"), [(4, 0.125), (3, 0.403), (2, 0.483), (1, 0.78), (0, 1)])
    def test_ap(self, threshold: int, printed: float) -> None:
        assert round(parse(f"AP(rel={threshold})").score(GRADES), 3) == printed

    @pytest.mark.parametrize("levels", ["query", "all"])
    def test_mu_ap(self, levels: str) -> None:
        """Table 1, "mean of 5 > t > 0"."""
        assert round(parse(f"muAP(levels={levels})").score(GRADES), 3) == 0.448

    def test_the_mean_over_all_six_thresholds_is_not_mu_ap(self) -> None:
        """Table 1, "mean": the threshold 0 makes everything relevant and 5 nothing (0 in the article)."""
        six = [parse(f"AP(rel={threshold})").score(GRADES) for threshold in range(5)] + [0]
        assert round(sum(six) / 6, 3) == 0.465

    def test_distances(self) -> None:
        """After eq. 4: levels 0, 0.3 and 1 have the distances 0.3 and 0.7 (printed as AP)."""
        grades = [0.3, 1, 0, 0.3]
        expected = 0.3 * parse("AP(rel=0.3)").score(grades) + 0.7 * parse("AP(rel=1)").score(grades)
        assert parse("muAP").score(grades) == pytest.approx(expected, abs=1e-12)
        assert expected == pytest.approx(0.3 * (1 + 1 + 3 / 4) / 3 + 0.7 / 2, abs=1e-12)

    def test_two_reference_levels_are_average_precision(self) -> None:
        """Section 5: "the same performance values if only two reference relevance levels exist"."""
        assert parse("muAP").score([0, 2, 0, 2], [2]) == pytest.approx(parse("AP").score([0, 2, 0, 2], [2]), abs=1e-12)

    def test_the_number_of_levels_does_not_matter(self) -> None:
        """Section 4, Figure 4."""
        assert parse("muAP").score(DOUBLED) == pytest.approx(parse("muAP").score(GRADES), abs=1e-12)


class TestNormalisedGain:
    """Table 2. Its logarithms have the base 10."""

    def test_example_one(self) -> None:
        assert rounded(vector("DCG(gain=exp2, base=10)", GRADES)) == [
            *(3.32, 3.32, 14.95, 24.96, 28.82, 28.82, 29.93, 45.65)
        ]
        ideal = vector("DCG(gain=exp2, base=10)", sorted(GRADES, reverse=True))
        assert rounded(ideal) == [49.83, 64.5, 76.13, 80.42, 81.7, 82.89, 82.89, 82.89]
        assert rounded(vector("nDCG(gain=exp2)", GRADES)) == [0.07, 0.05, 0.2, 0.31, 0.35, 0.35, 0.36, 0.55]
        assert round(parse("nDCG(gain=exp2, average=ranks)@8").score(GRADES), 2) == 0.28

    def test_example_two_truncates(self) -> None:
        """Doubled grades. DCGs from 100 on are cut to whole numbers: 114.6, 204.7, 494.6 and 1083.8 would round up."""
        run = vector("DCG(gain=exp2, base=10)", DOUBLED)
        assert rounded(run[:2]) == [9.97, 9.97]
        assert [math.floor(value) for value in run[2:]] == [114, 204, 224, 224, 227, 494]
        ideal = vector("DCG(gain=exp2, base=10)", sorted(DOUBLED, reverse=True))
        assert [math.floor(value) for value in ideal] == [847, 979, 1083, 1105, 1109, 1112, 1112, 1112]
        assert rounded(vector("nDCG(gain=exp2)", DOUBLED)) == [0.01, 0.01, 0.11, 0.19, 0.2, 0.2, 0.2, 0.44]
        assert round(parse("nDCG(gain=exp2, average=ranks)@8").score(DOUBLED), 2) == 0.17

    @pytest.mark.parametrize("grades", [GRADES, DOUBLED], ids=["example one", "example two"])
    def test_example_three(self, grades: list[int]) -> None:
        """Gains relative to the highest grade: the same for both scales."""
        assert rounded(vector("NDCNG", grades)) == [0.19, 0.13, 0.3, 0.42, 0.49, 0.47, 0.5, 0.65]
        assert round(parse("NDCNG(average=ranks)@8").score(grades), 2) == 0.39

    def test_example_three_as_cumulated_gain(self) -> None:
        """Its DCG vectors, from the gains 0.25, 0, 0.75, ... that the table shows."""
        gains = [grade / 4 for grade in GRADES]
        printed = [0.63, 0.63, 1.76, 2.74, 3.27, 3.27, 3.48, 4.53]
        ideal = [3.32, 4.75, 5.88, 6.48, 6.72, 6.94, 6.94, 6.94]
        assert rounded(vector("DCG(gain=exp2, base=10)", gains)) == printed
        assert rounded(vector("DCG(gain=exp2, base=10)", sorted(gains, reverse=True))) == ideal

    def test_the_highest_grade_is_the_querys(self) -> None:
        """Eq. 5: m is the highest reachable gain of the query, whatever the scale of the file is."""
        qrels = {"low": {"a": 1, "b": 2}, "high": {"a": 5, "b": 10}, "none": {"a": 0}}
        result = evaluate(qrels, {query: ["a", "b"] for query in qrels}, "NDCNG@2")
        assert result.by_query("NDCNG@2")["low"] == result.by_query("NDCNG@2")["high"]
        assert result.undefined("NDCNG@2") == ["none"]
