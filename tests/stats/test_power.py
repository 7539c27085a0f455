"""What queries can detect, against scipy and statsmodels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import gammaincinv
from scipy.stats import ncf, nct, norm, studentized_range, t
from statsmodels.stats.power import FTestAnovaPower

from gainful.errors import UsageError
from gainful.stats import power as module
from gainful.stats.anova import two_way
from gainful.stats.distributions import (
    LEAST_P,
    crossing,
    noncentral_t_below,
    noncentrality_interval,
    noncentrality_intervals,
    t_p,
    t_quantile,
    upper_normal,
)
from gainful.stats.power import (
    AnovaF,
    Design,
    PairedT,
    TukeyHsd,
    expected_width,
    queries_for_interval,
    variance_of_difference,
)
from tests.together import together

DESIGNS = (PairedT, AnovaF, TukeyHsd)


def test_central_t_is_scipys() -> None:
    assert t_p(2.5, 12) == pytest.approx(2 * t.sf(2.5, 12), rel=1e-12)
    assert t_quantile(0.975, 12) == pytest.approx(t.ppf(0.975, 12), rel=1e-12)
    assert t_p(1e300, 12) == LEAST_P > 0


@together("share", [0.5, 0.4, 0.025, 0.01, 0.01 / 7, 1e-5, 1e-12])
def test_upper_normal(share: float) -> None:
    assert upper_normal(share) == pytest.approx(norm.isf(share), rel=1e-13, abs=1e-15)


class TestNoncentralT:
    @together("df", [1, 2, 5, 49, 248, 5000])
    def test_is_what_it_is_the_distribution_of(self, df: int) -> None:
        """The integral over the spread s = chi / sqrt(df) of Phi(t s - noncentrality), by its quantiles."""
        shares = (np.arange(20_000) + 0.5) / 20_000
        s = np.sqrt(2 * gammaincinv(df / 2, shares) / df)
        for away in (0.0, 0.5, 2.0, 5.0):
            for value in (-4.0, -1.0, 0.0, 0.3, 2.0, 8.0):
                expected = float(norm.cdf(value * s - away).mean())
                assert noncentral_t_below(value, df, away) == pytest.approx(expected, abs=2e-6)

    @together("df", [1, 10, 49, 5000])
    def test_has_a_value_in_the_tails_where_scipy_has_none(self, df: int) -> None:
        for away in (8.0, 40.0, 1000.0):
            for value in (-1000.0, -8.0, -1.0):
                assert noncentral_t_below(value, df, away) < 1e-11
                assert noncentral_t_below(-value, df, -away) > 1 - 1e-11

    def test_an_interval_of_the_noncentrality_leaves_its_tails(self) -> None:
        for value, df in ((0.0, 5), (2.4, 49), (-3.0, 9), (40.0, 3), (300.0, 49)):
            low, high = noncentrality_interval(value, df, 0.1)
            assert low < value < high
            assert noncentral_t_below(value, df, low) == pytest.approx(0.95, abs=1e-9)
            assert noncentral_t_below(value, df, high) == pytest.approx(0.05, abs=1e-9)

    def test_many_limits_are_those_found_one_by_one(self) -> None:
        for df, reach in ((76, 8.0), (931, 40.0), (27_032, 90.0)):
            values = np.linspace(-reach, reach, 201)
            low, high = noncentrality_intervals(values, df, 0.05)
            for i in (0, 37, 100, 141, 200):
                assert (low[i], high[i]) == pytest.approx(noncentrality_interval(float(values[i]), df, 0.05), abs=1e-8)


class TestAllDesigns:
    @together("kind", DESIGNS)
    def test_what_is_detectable_is_shown_with_that_power(self, kind: type[Design]) -> None:
        for systems in (2,) if kind is PairedT else (2, 10):
            for queries in (3, 50, 10_000):
                for sd in (0.01, 1.0):
                    design = kind(sd, systems=systems)
                    assert design.power(queries, design.detectable(queries)) == pytest.approx(0.8, abs=1e-9)
                    assert (kind is TukeyHsd and systems > 2) or design.power(queries, 0.0) == pytest.approx(
                        0.05, abs=1e-9
                    )
                    assert design.power(queries, 0.3) == design.power(queries, -0.3)

    @together("kind", DESIGNS)
    def test_queries_are_the_fewest(self, kind: type[Design]) -> None:
        for is_paired in (True, False):
            for difference in (0.1, -0.3, 20.0):
                design = kind(0.2, systems=2 if kind is PairedT else 10, is_paired=is_paired)
                needed = design.queries_needed(difference)
                assert design.power(needed, difference) >= 0.8
                assert needed == 2 or design.power(needed - 1, difference) < 0.8

    @together("kind", DESIGNS)
    def test_two_systems_are_the_paired_t_test(self, kind: type[Design]) -> None:
        for queries in (2, 10, 50, 1000):
            effect = 0.9 / math.sqrt(queries)
            critical, law = t.ppf(0.975, queries - 1), nct(queries - 1, 0.9)
            expected = law.sf(critical) + law.cdf(-critical)
            assert kind(1.0).power(queries, effect) == pytest.approx(expected, abs=1e-9)

    @together("kind", DESIGNS)
    def test_nothing_varies(self, kind: type[Design]) -> None:
        assert (kind(0.0).power(5, 0.1), kind(0.0).detectable(5), kind(0.0).queries_needed(0.1)) == (1, 0, 2)

    @together("kind", DESIGNS)
    def test_refuses(self, kind: type[Design]) -> None:
        for what, call in {
            "queries": lambda: kind(0.2).power(1, 0.1),
            "alpha": lambda: kind(0.2, alpha=0.0),
            "sd": lambda: kind(-1.0),
            "systems": lambda: kind(0.2, systems=1),
            "difference": lambda: kind(0.2).queries_needed(0),
            "power": lambda: kind(0.2).queries_needed(1e-9),
            "power: ": lambda: kind(0.2).detectable(10, power=0.01),
        }.items():
            with pytest.raises(UsageError, match=f"^{what}.*(expected|too small)"):
                call()

    def test_more_systems_need_more_queries(self) -> None:
        for kind in (AnovaF, TukeyHsd):
            needed = [kind(0.2, systems=systems).queries_needed(0.1) for systems in (2, 10, 100)]
            assert needed == sorted(set(needed))


class TestAgainstOthers:
    def test_one_way_is_that_of_statsmodels(self) -> None:
        # Their effect is Cohen's f: sd of the means over sigma; with two of m at +- gap / 2: gap / (sigma sqrt(2 m)).
        effect = 0.1 / math.sqrt(0.04 * 2 * 5)
        theirs = FTestAnovaPower().power(effect, 30 * 5, 0.05, k_groups=5)
        assert AnovaF(math.sqrt(0.08), systems=5, is_paired=False).power(30, 0.1) == pytest.approx(theirs, abs=1e-6)

    @together(("systems", "queries", "difference"), [(3, 5, 0.1), (5, 50, 0.07), (110, 249, 0.02), (5, 50, 0.3)])
    def test_the_f_distribution_is_scipys(self, systems: int, queries: int, difference: float) -> None:
        df, rest = systems - 1, (systems - 1) * (queries - 1)
        critical = ncf.ppf(0.95, df, rest, 0)
        theirs = ncf.sf(critical, df, rest, queries * difference**2 / 0.04)
        assert AnovaF(0.2, systems=systems).power(queries, difference) == pytest.approx(theirs, abs=1e-9)

    def test_tukeys_is_a_t_test_with_its_critical_value(self) -> None:
        # 10 systems, 20 queries, a difference of 0.1; with a variance of 0.01 t is noncentral by 0.1 sqrt(20 / 0.02).
        for df, is_paired in ((9 * 19, True), (10 * 19, False)):
            critical = studentized_range.ppf(0.95, 10, df) / math.sqrt(2)
            away = 0.1 * math.sqrt(20 / 0.02)
            expected = nct.sf(critical, df, away) + nct.cdf(-critical, df, away)
            found = TukeyHsd(math.sqrt(0.02), systems=10, is_paired=is_paired).power(20, 0.1)
            assert found == pytest.approx(expected, abs=1e-6)


def test_width_of_an_interval() -> None:
    samples = np.random.default_rng(1).normal(0, 0.2, (20_000, 8))
    widths = 2 * t.isf(0.025, 7) * samples.std(axis=1, ddof=1) / math.sqrt(8)
    assert expected_width(8, 0.2) == pytest.approx(widths.mean(), rel=0.01)


def test_fewest_queries_of_an_interval() -> None:
    needed = queries_for_interval(0.1, 0.2, 0.9)
    assert expected_width(needed, 0.2, 0.9) <= 0.1 < expected_width(needed - 1, 0.2, 0.9)
    with pytest.raises(UsageError, match="width"):
        queries_for_interval(0, 0.2)
    with pytest.raises(UsageError, match="queries"):
        expected_width(1, 0.2)


def test_variances() -> None:
    scores = np.random.default_rng(3).random((20, 5))
    assert variance_of_difference(scores) == 2 * two_way(scores).residual.mean_square
    assert variance_of_difference(scores, "sakai2016") == 2 * two_way(scores).within.mean_square
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
