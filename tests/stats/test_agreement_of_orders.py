"""How far two scorings order systems alike: hand values, published examples, naive computations."""

from __future__ import annotations

import math
import random
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, t

from gainful.errors import UsageError
from gainful.stats.agreement import (
    Swap,
    agreement_of_measures,
    kendall_tau_a,
    kendall_tau_b,
    pearson,
    rbo,
    rbo_by_chance,
    swaps,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)
from gainful.stats.repeatable import stream
from tests.together import together

#: The published example of the ircor package, where scores are then rounded to fifths.
X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
X_TIED = [0, 0.2, 0.2, 0.4, 0.6, 0.6, 0.6, 0.8, 1, 1]
Y_TIED = [0.4, 0, 0.2, 0.2, 0.6, 0.6, 0.6, 1, 0.8, 1]


def scores_of(order: str) -> list[float]:
    """Scores of A, B, C, ... that put them into this order."""
    return [len(order) - order.index(letter) for letter in sorted(order)]


def tie_orders(values: list[float]) -> list[list[float]]:
    """Every way to break the ties, as scores without any."""
    found = []
    for order in permutations(range(len(values))):
        if all(values[a] >= values[b] for a, b in pairwise(order)):
            found.append([float(-order.index(i)) for i in range(len(values))])
    return found


def naive_tau_ap(estimate: list[float], reference: list[float]) -> float:
    order = sorted(range(len(estimate)), key=lambda i: -estimate[i])
    kept = [sum(reference[j] > reference[i] for j in order[:place]) / place for place, i in enumerate(order) if place]
    return 2 * sum(kept) / (len(order) - 1) - 1


def naive_rbo(x: list[float], y: list[float], p: float) -> float:
    first, second = (sorted(range(len(v)), key=lambda i, v=v: -v[i]) for v in (x, y))  # type: ignore[misc]
    agreement = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, len(x) + 1)]
    return agreement[-1] * p ** len(x) + (1 - p) / p * sum(a * p**d for d, a in enumerate(agreement, 1))


class TestTauAP:
    @pytest.mark.parametrize(
        ("estimate", "value", "reverse"), [("BACD", 1 / 3, 1 / 3), ("ABDC", 7 / 9, 7 / 9), ("CABD", 0, 1 / 3)]
    )
    def test_by_hand(self, estimate: str, value: float, reverse: float) -> None:
        reference = scores_of("ABCD")
        assert tau_ap(scores_of(estimate), reference) == pytest.approx(value)
        assert tau_ap(reference, scores_of(estimate)) == pytest.approx(reverse)
        assert tau_ap_b(scores_of(estimate), reference) == pytest.approx((value + reverse) / 2)

    def test_published_examples(self) -> None:
        assert tau_ap(Y, X) == pytest.approx(0.7491182, abs=5e-8)
        assert tau_ap_a(Y_TIED, X) == pytest.approx(0.6074515, abs=5e-8)
        assert tau_ap_b(X_TIED, Y_TIED) == pytest.approx(0.6269841, abs=5e-8)

    @together("seed", range(10))
    def test_a_is_the_mean_over_tie_orders(self, seed: int) -> None:
        source = random.Random(seed)
        estimate = [float(source.randrange(3)) for _ in range(6)]
        reference = [float(value) for value in source.sample(range(10), 6)]
        values = [naive_tau_ap(broken, reference) for broken in tie_orders(estimate)]
        assert tau_ap_a(estimate, reference) == pytest.approx(sum(values) / len(values))

    @together("seed", range(10))
    def test_without_ties_all_are_one(self, seed: int) -> None:
        source = random.Random(seed)
        x, y = ([float(v) for v in source.sample(range(100), 12)] for _ in range(2))
        assert tau_ap(x, y) == tau_ap_a(x, y) == pytest.approx(naive_tau_ap(x, y))
        assert tau_ap_b(x, y) == pytest.approx((naive_tau_ap(x, y) + naive_tau_ap(y, x)) / 2)

    def test_ties(self) -> None:
        assert tau_ap([1, 1, 2], [1, 2, 3]) is None
        assert tau_ap([1, 2, 3], [1, 1, 2]) is None
        assert tau_ap_a([1, 2, 3], [1, 1, 2]) is None
        assert tau_ap_b([1, 1, 1], [1, 2, 3]) is None
        assert tau_ap_b([1, 1, 2], [1, 1, 2]) == 1
        # Upside down: C, then A and B; against A and B, then C. No system keeps one above it.
        assert tau_ap_b([1, 1, 2], [2, 2, 1]) == -1

    def test_too_few(self) -> None:
        assert tau_ap([1], [1]) is tau_ap_a([1], [1]) is tau_ap_b([1], [1]) is None

    def test_refuses_different_lengths(self) -> None:
        with pytest.raises(UsageError, match="2 and 3 values"):
            tau_ap_b([1, 2], [1, 2, 3])


class TestTauA:
    def test_by_hand(self) -> None:
        # Of three pairs one is tied in x: two concordant ones of three, where tau-b divides by sqrt(2 x 3).
        assert kendall_tau_a([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / 3)
        assert kendall_tau_b([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6))
        assert kendall_tau_a([1, 1, 1], [1, 2, 3]) == 0
        assert kendall_tau_a([1], [1]) is None

    def test_without_ties_it_is_tau_b(self) -> None:
        assert kendall_tau_a(X, Y) == kendall_tau_b(X, Y) == pytest.approx(kendalltau(X, Y).statistic)


class TestRBO:
    def test_by_hand(self) -> None:
        # A against B at depth 1 has nothing in common, from depth 2 on everything: 0.9^4 + 0.1 / 0.9 (0.9^2 + ...).
        assert rbo(scores_of("BACD"), scores_of("ABCD")) == pytest.approx(0.9)
        assert rbo(scores_of("ABCD"), scores_of("ABCD")) == pytest.approx(1)

    @together("p", [0.5, 0.9, 0.98])
    @together("seed", range(5))
    def test_ties_are_the_mean_over_their_orders(self, seed: int, p: float) -> None:
        source = random.Random(seed)
        x, y = ([float(source.randrange(3)) for _ in range(5)] for _ in range(2))
        values = [naive_rbo(a, b, p) for a, b in product(tie_orders(x), tie_orders(y))]
        assert rbo(x, y, p) == pytest.approx(sum(values) / len(values))

    def test_chance_level(self) -> None:
        reference = scores_of("ABCDE")
        everything = [naive_rbo(scores_of("".join(order)), reference, 0.8) for order in permutations("ABCDE")]
        assert rbo_by_chance(5, 0.8) == pytest.approx(sum(everything) / len(everything))
        assert [round(rbo_by_chance(m), 2) for m in (5, 10, 34)] == [0.82, 0.65, 0.29]

    @pytest.mark.parametrize("p", [0, 1, -0.5])
    def test_refuses(self, p: float) -> None:
        with pytest.raises(UsageError, match="persistence"):
            rbo([1, 2], [1, 2], p)


class TestOthers:
    def test_pearson(self) -> None:
        assert pearson(X, Y) == pytest.approx(pearsonr(X, Y).statistic)
        assert pearson([1, 1], [1, 2]) is None
        assert pearson([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]) == 1

    def test_swaps(self) -> None:
        # On scales of 1 and of 100: B and C are clearest, a quarter of the range by either.
        found = swaps(["A", "B", "C", "D"], [1.0, 0.5, 0.25, 0.0], [90, 50, 75, 100 - 110])
        assert found == (Swap("B", "C", 0.25, 25.0),)
        assert swaps(["A", "B"], [1, 1], [1, 2]) == ()
        assert [s[:2] for s in swaps(["A", "B", "C"], [3, 2, 1], [1, 2.9, 3])] == [("A", "C"), ("A", "B"), ("B", "C")]


class TestMeasures:
    @staticmethod
    def matrices(seed: int = 0, queries: int = 30, systems: int = 12) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        base = rng.normal(size=systems) * 0.5 + rng.normal(size=(queries, systems))
        return {name: base + rng.normal(size=(queries, systems)) for name in ("P", "AP", "RR")}

    def test_values(self) -> None:
        scores = self.matrices()
        found = agreement_of_measures(scores, [f"s{i}" for i in range(12)], draws=50)
        assert [(x.a, x.b) for x in found.agreements] == [("P", "AP"), ("P", "RR"), ("AP", "RR")]
        means = {name: matrix.mean(axis=0) for name, matrix in scores.items()}
        one = found.of("RR", "P")
        assert one.tau_b.value == pytest.approx(kendalltau(means["P"], means["RR"]).statistic)
        assert one.pearson.value == pytest.approx(pearsonr(means["P"], means["RR"]).statistic)
        assert one.tau_ap == pytest.approx(naive_tau_ap(means["RR"].tolist(), means["P"].tolist()))
        assert one.tau_ap_reverse == pytest.approx(naive_tau_ap(means["P"].tolist(), means["RR"].tolist()))
        assert one.rbo.value == pytest.approx(naive_rbo(means["P"].tolist(), means["RR"].tolist(), 0.9))
        # Without ties every pair is a swap or not: tau = 1 - 2 swaps / pairs.
        assert one.tau_b.value == pytest.approx(1 - 2 * len(one.swaps) / one.pairs)

    def test_interval_is_around_the_value(self) -> None:
        scores = self.matrices(1)
        one = agreement_of_measures(scores, [f"s{i}" for i in range(12)], draws=1500).of("P", "AP")
        found = one.tau_b
        # Without ties tau is the mean product of the signs of all differences.
        rows = np.random.default_rng(0).integers(0, 30, (2000, 30))
        means = [scores[name][rows].mean(axis=1) for name in ("P", "AP")]
        ahead = [np.sign(each[:, :, np.newaxis] - each[:, np.newaxis]) for each in means]
        draws = (ahead[0] * ahead[1]).sum(axis=(1, 2)) / (12 * 11)
        assert draws[0] == pytest.approx(kendalltau(means[0][0], means[1][0]).statistic)
        assert None not in found and found.value is not None and found.low is not None
        assert found.error == pytest.approx(np.std(draws), rel=0.05)
        assert found.bias == pytest.approx(np.mean(draws) - found.value, abs=0.015)
        assert found.value - found.low == pytest.approx(t.ppf(0.995, 29) * (found.error or 0))
        # Nothing is above 1, and without ties tau-a is tau-b.
        assert found.high == min(1, found.value + (found.value - found.low))
        assert one.tau_a == found

    def test_what_weighs_the_top_has_a_standard_error_and_no_interval(self) -> None:
        one = agreement_of_measures(self.matrices(1), [f"s{i}" for i in range(12)], draws=50).of("P", "AP")
        for found in (one.tau_ap_b, one.rbo):
            assert found.low is found.high is None
            assert found.error and found.bias
        assert one.pearson.low is not None

    def test_seed_and_other_measures_change_nothing(self) -> None:
        scores, names = self.matrices(2), [f"s{i}" for i in range(12)]
        one = agreement_of_measures(scores, names, draws=100).of("P", "AP")
        alone = agreement_of_measures({"P": scores["P"], "AP": scores["AP"]}, names, draws=100).of("P", "AP")
        assert (one.tau_b, one.rbo, one.tau_ap_b) == (alone.tau_b, alone.rbo, alone.tau_ap_b)
        other = agreement_of_measures(scores, names, draws=100, seed=1).of("P", "AP")
        assert other.tau_b.low != one.tau_b.low

    def test_a_measure_and_itself(self) -> None:
        scores = self.matrices(3)["P"]
        found = agreement_of_measures({"P": scores, "again": scores}, [f"s{i}" for i in range(12)], draws=100)
        assert tuple(found.agreements[0].tau_b) == (1, 1, 1, 0, 0)
        assert found.agreements[0].swaps == ()

    def test_float_ties_are_ties(self) -> None:
        scores = {
            "P": np.array([[0.1, 0.3, 0.5], [0.2, 0.0, 0.5], [0.3, 0.3, 0.5]]),
            "AP": np.array([[0.1, 0.2, 0.3]] * 3),
        }
        assert scores["P"].mean(axis=0)[0] != scores["P"].mean(axis=0)[1]
        assert agreement_of_measures(scores, list("abc"), draws=0).agreements[0].tau_ap is None

    @pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
    def test_one_query_or_one_system(self, shape: tuple[int, int]) -> None:
        scores = np.random.default_rng(0).random(shape)
        found = agreement_of_measures({"P": scores, "AP": scores}, [str(i) for i in range(shape[1])], draws=20)
        assert found.agreements[0].tau_b.low in (None, 1)

    def test_constant(self) -> None:
        found = agreement_of_measures({"P": np.ones((4, 3)), "AP": np.eye(4, 3)}, list("abc"), draws=20).agreements[0]
        assert (found.tau_b.value, found.tau_ap_b.value, found.pearson.value) == (None, None, None)


def test_the_spread_of_draws_is_that_of_each_draw_alone() -> None:
    """Halves on four queries: many draws have ties, and many the same orders as others."""
    rng = np.random.default_rng(0)
    scores = {name: rng.integers(0, 3, (4, 4)) / 2 for name in ("P", "AP")}
    found = agreement_of_measures(scores, list("abcd"), draws=300).of("P", "AP")
    picks = stream(0).integers(0, 4, (300, 4))
    means = [[scores[name][rows].mean(axis=0) for rows in picks] for name in ("P", "AP")]
    assert any(len(set(each.tolist())) < 4 for each in means[0])
    for name, formula in {
        "tau_b": kendall_tau_b, "tau_a": kendall_tau_a, "tau_ap_b": tau_ap_b, "rbo": rbo, "pearson": pearson,
    }.items():  # fmt: skip
        values = [formula(*pair) for pair in zip(*means, strict=True)]
        expected = np.std([value for value in values if value is not None], ddof=1)
        assert getattr(found, name).error == pytest.approx(expected, rel=1e-12), name
