"""Student's t, power, and what a number of queries can detect."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gainful import UsageError
from gainful.stats.power import (
    detectable_effect,
    noncentral_t_below,
    noncentrality_interval,
    noncentrality_intervals,
    power_of_t,
    queries_needed,
)
from gainful.stats.repeatable import LEAST_P, t_p, t_quantile, upper_normal
from tests.together import together


@together("df", [1, 2, 5, 49, 248, 5000])
@together("noncentrality", [0.0, 0.5, 2.0, 5.0])
def test_the_distribution_is_scipys_where_that_has_a_value(df: int, noncentrality: float) -> None:
    for t in (-4.0, -1.0, 0.0, 0.3, 2.0, 8.0):
        expected = stats.nct.cdf(t, df, noncentrality)
        if not math.isnan(expected):
            assert noncentral_t_below(t, df, noncentrality) == pytest.approx(expected, abs=1e-11)


def test_central_t_is_scipys() -> None:
    assert t_p(2.5, 12) == pytest.approx(2 * stats.t.sf(2.5, 12), rel=1e-12)
    assert t_quantile(0.975, 12) == pytest.approx(stats.t.ppf(0.975, 12), rel=1e-12)
    assert t_p(1e300, 12) == LEAST_P > 0


@together("n", [2, 3, 5, 10, 50, 1000])
def test_power_is_the_mass_beyond_the_critical_value(n: int) -> None:
    effect = 0.9 / math.sqrt(n)  # noncentrality 0.9: scipy's tails are sound there
    critical = stats.t.ppf(0.975, n - 1)
    law = stats.nct(n - 1, 0.9)
    assert power_of_t(n, effect) == pytest.approx(law.sf(critical) + law.cdf(-critical), abs=1e-10)
    assert power_of_t(n, -effect) == power_of_t(n, effect)
    assert power_of_t(n, 0.0) == pytest.approx(0.05, abs=1e-11)  # as close as quantiles of older scipys come


def test_power_agrees_with_a_simulation() -> None:
    # With delta = MDD, 80 % of tests are significant.
    n, draws = 20, 4_000
    generator = np.random.default_rng(3)
    samples = generator.normal(detectable_effect(n), 1.0, (draws, n))
    found = stats.ttest_1samp(samples, 0.0, axis=1).pvalue < 0.05
    assert 0.77 < found.mean() < 0.83


def test_detectable_differences_are_finite_for_any_number_of_queries() -> None:
    for n in (*range(2, 60), 100, 249, 1000, 5000, 10_000, 10**6):
        effect = detectable_effect(n)
        assert math.isfinite(effect)
        assert power_of_t(n, effect) == pytest.approx(0.8, abs=1e-9)
        for delta in (0.01, 0.1, 0.3, 1.0, 30.0):
            assert 0 < power_of_t(n, delta) <= 1


def test_queries_needed_is_the_first_number_that_is_enough() -> None:
    for effect in (0.1, 0.25, 0.5, 1.0, 3.0):
        n = queries_needed(effect)
        assert power_of_t(n, effect) >= 0.8
        assert n == 2 or power_of_t(n - 1, effect) < 0.8
    assert queries_needed(100.0) == 2
    assert queries_needed(-0.25) == queries_needed(0.25)


def test_an_interval_of_the_noncentrality_leaves_its_tails() -> None:
    for t, df in ((0.0, 5), (2.4, 49), (-3.0, 9), (40.0, 3), (300.0, 49)):
        low, high = noncentrality_interval(t, df, 0.1)
        assert low < t < high
        assert noncentral_t_below(t, df, low) == pytest.approx(0.95, abs=1e-9)
        assert noncentral_t_below(t, df, high) == pytest.approx(0.05, abs=1e-9)


def test_refusals() -> None:
    for call in (
        lambda: power_of_t(1, 0.5),
        lambda: power_of_t(10, 0.5, alpha=1.0),
        lambda: detectable_effect(10, power=0.01),
        lambda: queries_needed(0.0),
        lambda: queries_needed(1e-9),
    ):
        with pytest.raises(UsageError, match="expected"):
            call()


def test_many_limits_are_those_found_one_by_one() -> None:
    for df, reach in ((76, 8.0), (931, 40.0), (27_032, 90.0)):
        t = np.linspace(-reach, reach, 201)
        low, high = noncentrality_intervals(t, df, 0.05)
        for i in (0, 37, 100, 141, 200):
            assert (low[i], high[i]) == pytest.approx(noncentrality_interval(float(t[i]), df, 0.05), abs=1e-8)


@together("share", [0.5, 0.4, 0.025, 0.01, 0.01 / 7, 1e-5, 1e-12])
def test_upper_normal(share):
    assert upper_normal(share) == pytest.approx(stats.norm.isf(share), rel=1e-13, abs=1e-15)
