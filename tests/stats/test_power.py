"""What queries can detect, against scipy, statsmodels and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import f as f_distribution, ncf, nct, studentized_range, t
from statsmodels.stats.power import FTestAnovaPower, TTestPower

from gainful.errors import UsageError
from gainful.stats import power as module
from gainful.stats.anova import one_way, two_way
from gainful.stats.power import (
    detectable_difference,
    detectable_of_several,
    expected_width,
    noncentral_f_above,
    power_of_anova,
    power_of_pair,
    power_of_tukey,
    queries_for_interval,
    queries_for_pair,
    queries_for_several,
    variance_of_difference,
)
from gainful.stats.repeatable import crossing
from tests.together import together


@together(
    ("f", "df", "df_against", "noncentrality"),
    [(4, 1, 49, 9), (2.4, 4, 196, 12.3), (1.2, 109, 27032, 40), (3, 2, 4, 0.01), (2.4, 4, 196, 150)],
)
def test_noncentral_f_is_that_of_scipy(f: float, df: int, df_against: int, noncentrality: float) -> None:
    theirs = ncf.sf(f, df, df_against, noncentrality)
    assert noncentral_f_above(f, df, df_against, noncentrality) == pytest.approx(theirs, abs=1e-10)


def test_noncentral_f_far_out() -> None:
    for noncentrality in (1e3, 1e5, 1e7):
        assert noncentral_f_above(4.0, 1, 49, noncentrality) == pytest.approx(1, abs=1e-12)
    assert noncentral_f_above(1e9, 1, 49, 1.0) < 1e-12
    assert noncentral_f_above(4.0, 1, 49, 0.0) == pytest.approx(f_distribution.sf(4.0, 1, 49))


class TestPair:
    @together("queries", [2, 5, 20, 50])
    @together("effect", [0.05, 0.3, 1.0])  # beyond these theirs is NaN
    def test_is_that_of_statsmodels(self, queries: int, effect: float) -> None:
        theirs = TTestPower().power(effect, queries, 0.05, alternative="two-sided")
        assert power_of_pair(queries, effect * 0.2, 0.2) == pytest.approx(theirs, abs=1e-6)

    def test_detectable_difference_has_that_power(self) -> None:
        for queries in (3, 10, 50, 249, 10_000):
            for sd in (0.01, 0.2, 1.0):
                found = detectable_difference(queries, sd)
                assert math.isfinite(found)
                assert power_of_pair(queries, found, sd) == pytest.approx(0.8)

    def test_queries_are_the_fewest(self) -> None:
        for difference in (0.02, 0.05, 0.3):
            needed = queries_for_pair(difference, 0.2)
            assert power_of_pair(needed, difference, 0.2) >= 0.8 > power_of_pair(needed - 1, difference, 0.2)

    def test_simulated(self) -> None:
        """The detectable difference is detected in 80 % of 1,000 samples, give or take 5."""
        rng = np.random.default_rng(0)
        found = detectable_difference(20, 1.0)
        samples = rng.normal(found, 1.0, (1000, 20))
        statistic = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(20))
        assert 0.75 <= np.mean(np.abs(statistic) > t.isf(0.025, 19)) <= 0.85

    def test_nothing_varies(self) -> None:
        assert power_of_pair(5, 0.1, 0) == 1
        assert detectable_difference(5, 0) == 0
        assert queries_for_pair(0.1, 0) == 2

    def test_refuses(self) -> None:
        with pytest.raises(UsageError, match="difference"):
            queries_for_pair(0, 0.2)
        with pytest.raises(UsageError, match="sd"):
            detectable_difference(10, -1)
        with pytest.raises(UsageError, match="queries"):
            expected_width(1, 0.2)
        with pytest.raises(UsageError, match="power"):
            queries_for_several(power_of_anova, 5, 0.1, 0.02, power=0.01)


class TestInterval:
    def test_expected_width_simulated(self) -> None:
        rng = np.random.default_rng(1)
        samples = rng.normal(0, 0.2, (20_000, 8))
        widths = 2 * t.isf(0.025, 7) * samples.std(axis=1, ddof=1) / math.sqrt(8)
        assert expected_width(8, 0.2) == pytest.approx(widths.mean(), rel=0.01)

    def test_fewest_queries(self) -> None:
        needed = queries_for_interval(0.1, 0.2, confidence=0.9)
        assert expected_width(needed, 0.2, confidence=0.9) <= 0.1 < expected_width(needed - 1, 0.2, confidence=0.9)
        with pytest.raises(UsageError, match="width"):
            queries_for_interval(0, 0.2)


class TestAnova:
    def test_two_systems_are_the_paired_t_test(self) -> None:
        for queries in (2, 10, 50):
            assert power_of_anova(queries, 2, 0.05, 0.02) == pytest.approx(power_of_pair(queries, 0.05, 0.2), rel=1e-9)

    def test_one_way_is_that_of_statsmodels(self) -> None:
        # Their effect is Cohen's f: sd of the means over sigma; with two of m at +- gap / 2: gap / (sigma sqrt(2 m)).
        effect = 0.1 / math.sqrt(0.04 * 2 * 5)
        theirs = FTestAnovaPower().power(effect, 30 * 5, 0.05, k_groups=5)
        assert power_of_anova(30, 5, 0.1, 0.04, is_paired=False) == pytest.approx(theirs, abs=1e-6)

    def test_fewest_queries(self) -> None:
        for is_paired in (True, False):
            needed = queries_for_several(power_of_anova, 10, 0.1, 0.02, is_paired=is_paired)
            at = [power_of_anova(n, 10, 0.1, 0.02, is_paired=is_paired) for n in (needed - 1, needed)]
            assert at[0] < 0.8 <= at[1]

    def test_gap(self) -> None:
        gap = detectable_of_several(power_of_anova, 50, 10, 0.02)
        assert power_of_anova(50, 10, gap, 0.02) == pytest.approx(0.8)
        assert detectable_of_several(power_of_anova, 50, 10, 0) == 0

    def test_more_systems_need_more_queries(self) -> None:
        assert (
            queries_for_several(power_of_anova, 2, 0.1, 0.02)
            < queries_for_several(power_of_anova, 10, 0.1, 0.02)
            < queries_for_several(power_of_anova, 100, 0.1, 0.02)
        )

    def test_simulated(self) -> None:
        rng = np.random.default_rng(2)
        gap = detectable_of_several(power_of_anova, 15, 4, 1.0)
        effects = np.array([gap / 2, -gap / 2, 0, 0])
        sets = [two_way(effects + rng.normal(size=(15, 4)) + rng.normal(size=(15, 1))) for _ in range(1000)]
        assert 0.75 <= np.mean([found.systems.p <= 0.05 for found in sets]) <= 0.85  # type: ignore[operator]

    @pytest.mark.parametrize(
        "arguments",
        [{"queries": 1, "systems": 3}, {"queries": 5, "systems": 1}, {"queries": 5, "systems": 3, "alpha": 0}],
    )
    def test_refuses(self, arguments: dict[str, int]) -> None:
        with pytest.raises(UsageError, match="expected"):
            power_of_anova(gap=0.1, variance=0.1, **arguments)
        with pytest.raises(UsageError, match="difference"):
            queries_for_several(power_of_anova, 3, 0, 0.1)


class TestTukey:
    def test_two_systems_are_the_paired_t_test(self) -> None:
        for queries in (10, 50):
            assert power_of_tukey(queries, 2, 0.05, 0.02) == pytest.approx(power_of_pair(queries, 0.05, 0.2), rel=1e-8)
        assert detectable_of_several(power_of_tukey, 50, 2, 0.02) == pytest.approx(
            detectable_difference(50, 0.2), rel=1e-8
        )

    def test_is_a_t_test_with_tukey_s_critical_value(self) -> None:
        # 10 systems, 20 queries, a difference of 0.1; with a variance of 0.01 t is noncentral by 0.1 sqrt(20 / 0.02).
        for df, is_paired in ((9 * 19, True), (10 * 19, False)):
            critical = studentized_range.ppf(0.95, 10, df) / math.sqrt(2)
            away = 0.1 * math.sqrt(20 / 0.02)
            expected = nct.sf(critical, df, away) + nct.cdf(-critical, df, away)
            assert power_of_tukey(20, 10, 0.1, 0.01, is_paired=is_paired) == pytest.approx(expected, abs=1e-6)

    def test_simulated(self) -> None:
        """Of a pair, whatever the others do: two are as far apart as is detectable, the others anywhere."""
        rng = np.random.default_rng(5)
        apart = detectable_of_several(power_of_tukey, 15, 4, 1.0)
        for others in ((0.0, 0.0), (5.0, -3.0)):
            effects = np.array([apart, 0.0, *others])
            sets = effects + rng.normal(size=(500, 15, 4)) + rng.normal(size=(500, 15, 1))
            rest = sets - sets.mean(axis=1, keepdims=True) - sets.mean(axis=2, keepdims=True)
            rest += sets.mean(axis=(1, 2), keepdims=True)
            error = np.sqrt((rest**2).sum(axis=(1, 2)) / (14 * 3) / 15)
            q = np.abs(sets[:, :, 0].mean(axis=1) - sets[:, :, 1].mean(axis=1)) / error
            assert 0.75 <= np.mean(q > studentized_range.ppf(0.95, 4, 14 * 3)) <= 0.85

    def test_fewest_queries(self) -> None:
        needed = queries_for_several(power_of_tukey, 10, 0.1, 0.02)
        assert power_of_tukey(needed - 1, 10, 0.1, 0.02) < 0.8 <= power_of_tukey(needed, 10, 0.1, 0.02)
        assert queries_for_pair(0.1, 0.2) < needed < queries_for_several(power_of_tukey, 50, 0.1, 0.02)
        assert detectable_of_several(power_of_tukey, 50, 10, 0) == 0

    @pytest.mark.parametrize(
        "arguments",
        [{"queries": 1, "systems": 3}, {"queries": 5, "systems": 1}, {"queries": 5, "systems": 3, "alpha": 0}],
    )
    def test_refuses(self, arguments: dict[str, int]) -> None:
        with pytest.raises(UsageError, match="expected"):
            power_of_tukey(difference=0.1, variance=0.1, **arguments)
        with pytest.raises(UsageError, match="difference"):
            queries_for_several(power_of_tukey, 3, 0, 0.1)


class TestVariance:
    def test_sources(self) -> None:
        scores = np.random.default_rng(3).random((20, 5))
        assert variance_of_difference(scores) == 2 * two_way(scores).residual.mean_square
        assert variance_of_difference(scores, "sakai2016") == 2 * one_way(scores).within.mean_square
        pair = scores[:, :2]
        expected = np.var(pair[:, 0] - pair[:, 1], ddof=1)
        assert variance_of_difference(pair, "pair") == pytest.approx(expected)
        # Of two systems the residual is the pair's own.
        assert variance_of_difference(pair) == pytest.approx(expected)
        with pytest.raises(UsageError, match="two systems"):
            variance_of_difference(scores, "pair")
        with pytest.raises(UsageError, match="variance"):
            variance_of_difference(scores, "cohen")


def test_no_observed_power() -> None:
    """Nothing takes scores and gives power: the difference is always the asker's."""
    assert not [name for name in dir(module) if "observed" in name]


class Asked:
    """A function that knows how often it was asked."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function, self.times = function, 0

    def __call__(self, value: float) -> float:
        self.times += 1
        return self.function(value)


def test_what_is_searched_for_is_exact_and_found_in_few_steps() -> None:
    def halved(excess: Callable[[float], float], low: float, high: float) -> float:
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (low, middle) if excess(middle) >= 0 else (middle, high)
        return high

    curves: list[Callable[[float], float]] = [
        lambda x: x,
        lambda x: math.atan(40 * x),
        lambda x: x**3,
        lambda x: -1.0 if x < 0 else 1.0,
    ]
    for wanted in (-3.7, 1e-9, 0.5, 2.0, 9.99):
        for curve in curves:
            one, other = (Asked(lambda x, curve=curve, wanted=wanted: curve(x - wanted)) for _ in range(2))
            assert crossing(one, -4.0, 10.0) == halved(other, -4.0, 10.0)
            assert one.times < 2.5 * other.times
    power = Asked(lambda effect: module.power_of_t(50, effect))
    module._least(power, 0.8, 1.0)
    assert power.times <= 16
