"""Two systems: tests, intervals, effect sizes, verdicts, warnings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gainful import InputError, UsageError
from gainful.stats.catalogues import INTERVALS, TESTS
from gainful.stats.findings import Interval
from gainful.stats.paired import PairResult, practical_size
from gainful.stats.paired_tests import (
    PairedScores,
    PairPlan,
    Resamples,
    bca_interval,
    mid_ranks,
    percentile_interval,
    randomisation_p,
    rank_biserial,
    resampled_rows,
)
from gainful.stats.rank_tests import wilcoxon
from tests.stats.two_systems import compare_pair
from tests.together import together

Scores = np.ndarray[Any, np.dtype[np.float64]]


def scores(seed: int, n: int, shift: float = 0.0, places: int = 3) -> tuple[Scores, Scores]:
    generator = np.random.default_rng(seed)
    a = generator.beta(2, 3, n)
    return np.round(np.clip(a + generator.normal(shift, 0.15, n), 0, 1), places), np.round(a, places)


def numbers(value: object) -> Iterator[float]:
    """Every float that a result holds, however deep."""
    if isinstance(value, float):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from numbers(item)


class TestAgainstScipy:
    @together("seed", range(8))
    def test_t(self, seed: int) -> None:
        a, b = scores(seed, 25, 0.05)
        found = compare_pair(a, b, test="t")
        expected = stats.ttest_rel(a, b)
        limits = expected.confidence_interval(0.95)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.test.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high), abs=1e-11)
        assert found.sd == pytest.approx(np.std(a - b, ddof=1), rel=1e-11)

    @together("seed", range(8))
    def test_wilcoxon_normal(self, seed: int) -> None:
        a, b = scores(seed, 80, 0.05, places=1)
        found, expected = compare_pair(a, b, test="wilcoxon"), stats.wilcoxon(np.round(a - b, 12), method="approx")
        assert found.nonzero > 50
        assert (found.p, found.test.statistic) == pytest.approx((expected.pvalue, expected.statistic), rel=1e-9)

    @together("seed", range(8))
    def test_wilcoxon_exact(self, seed: int) -> None:
        d = np.random.default_rng(seed).normal(0.3, 1, 50 if seed == 0 else 20)
        found = compare_pair(d, np.zeros(d.size), test="wilcoxon")
        assert found.p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)
        # With ties no table helps: all signs one by one.
        tied = np.round(d[:10], 0)
        ranks = mid_ranks(np.abs(tied[tied != 0]))
        signs = 1 - 2 * ((np.arange(2**ranks.size)[:, np.newaxis] >> np.arange(ranks.size)) & 1)
        observed = abs(float((np.sign(tied[tied != 0]) * ranks).sum()))
        expected = float(np.mean(np.abs(signs @ ranks) >= observed))
        assert compare_pair(tied, np.zeros(10), test="wilcoxon").p == pytest.approx(expected, rel=1e-12)

    def test_sign(self) -> None:
        for wins, losses in ((5, 0), (30, 18), (3, 3), (1, 9), (200, 150)):
            found = compare_pair([0.5] * wins + [0.0] * losses, [0.0] * wins + [0.5] * losses, test="sign")
            assert found.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)

    def test_bootstrap_intervals(self) -> None:
        a, b = scores(4, 30, 0.05)
        for kind, theirs in (("percentile", "percentile"), ("bca", "BCa")):
            ours = compare_pair(a, b, interval=kind, test="bootstrap", draws=20_000).interval
            found = stats.bootstrap(
                (a - b,), np.mean, method=theirs, n_resamples=20_000, rng=np.random.default_rng(1)
            ).confidence_interval
            assert (ours.low, ours.high) == pytest.approx((found.low, found.high), abs=0.003)
            assert ours.method == kind

    @together("sign", [1, -1])
    @together("steps", [10, 1000, 3])
    def test_bca_on_skewed_data_is_efrons(self, steps: int, sign: int) -> None:
        """Bias and acceleration by their definitions, in fractions, the latter from the means without one query. Of
        tenths and thirds many samples have the very mean that was observed."""
        parts = sign * np.floor(np.random.default_rng(5).gamma(0.2, 1.5, 24) * steps).astype(int)
        d = [Fraction(part, steps) for part in parts.tolist()]
        mean = sum(d) / 24
        # In whole steps: sums of 24 of them are exact.
        drawn = np.concatenate([parts[rows].sum(axis=1) for rows in resampled_rows(24, 4_000, 0)])
        below, equal = (int(np.count_nonzero(each)) for each in (drawn < parts.sum(), drawn == parts.sum()))
        assert steps == 1000 or equal > 40  # else the test would say nothing
        apart = [mean - (sum(d) - value) / 23 for value in d]
        acceleration = float(sum(each**3 for each in apart)) / (6 * float(sum(each**2 for each in apart)) ** 1.5)
        assert sign * acceleration > 0.04
        bias = stats.norm.ppf((below + equal / 2) / 4_000)
        means, values = drawn / (24 * steps), np.array([float(value) for value in d])
        pair = PairedScores(values, np.zeros(24), PairPlan(draws=4_000))
        for alpha in np.arange(0.02, 0.5, 0.02):
            limits = []
            for z in stats.norm.ppf([alpha / 2, 1 - alpha / 2]):
                share = stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
                limits.append(float(np.quantile(means, share)))
            found, plain = bca_interval(pair, alpha), percentile_interval(pair, alpha)
            assert [found.low, found.high] == pytest.approx(limits, abs=1e-9)
        # The interval leans to the side of the long tail.
        assert sign * (found.low - plain.low) >= 0 and sign * (found.high - plain.high) >= 0


class TestPromises:
    @pytest.mark.parametrize("alpha", [0.05, 0.03, 0.1])
    def test_p_and_interval_never_disagree(self, alpha: float) -> None:
        generator = np.random.default_rng(int(1000 * alpha))
        significant = 0
        for seed in range(60):
            n = int(generator.integers(6, 45))
            a, b = scores(seed, n, float(generator.uniform(-0.15, 0.15)), places=int(generator.integers(1, 5)))
            found = compare_pair(a, b, alpha=alpha, draws=int(generator.choice([66, 99, 199, 999])), seed=seed)
            if found.interval.is_stopgap:
                continue
            assert found.is_significant == (0.0 not in found.interval), (seed, found)
            assert found.difference in found.interval
            significant += found.is_significant
        assert 5 < significant < 55

    def test_even_where_p_is_alpha_itself(self) -> None:
        # 5 of 100: p = 0.05 is not below 0.05, and 0 is a limit of the interval. Found by trying seeds.
        for seed in (21, 102, 131, 141):
            generator = np.random.default_rng(seed)
            a, b = generator.normal(0.35, 1, 24), np.zeros(24)
            found = compare_pair(a, b, draws=99, seed=seed)
            assert found.p == 0.05 and not found.is_significant and 0.0 in found.interval, seed

    @pytest.mark.parametrize("test", ["t", "bootstrap", "yuen"])
    def test_nor_do_those_of_other_tests_with_an_interval_of_their_own(self, test: str) -> None:
        for seed in range(80):
            a, b = scores(seed, 8 + seed % 20, 0.08)
            found = compare_pair(a, b, test=test, draws=199)
            assert found.is_significant == (0.0 not in found.interval)

    def test_the_order_of_queries_changes_nothing(self) -> None:
        a, b = scores(1, 40, 0.03)
        names = [f"q{i}" for i in range(40)]
        first = compare_pair(a, b, names, draws=2_000)
        order = np.random.default_rng(0).permutation(40)
        again = compare_pair(a[order], b[order], [names[i] for i in order], draws=2_000)
        assert dataclasses.asdict(again) == dataclasses.asdict(first)

    def test_swapping_the_systems_mirrors_everything(self) -> None:
        a, b = scores(3, 40, 0.05)
        one, other = compare_pair(a, b, draws=2_000), compare_pair(b, a, draws=2_000)
        assert (one.p, one.difference, one.wins) == (other.p, -other.difference, other.losses)
        assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)
        # The label is relative to the baseline, whichever that is.
        assert one.practical and other.practical
        assert one.practical.relative == pytest.approx(one.difference / b.mean())
        assert other.practical.relative == pytest.approx(-one.difference / a.mean())


class TestMistakes:
    def test_p_is_never_0_and_counts_the_observed_signs(self) -> None:
        a, b = scores(0, 30)
        found = compare_pair(b + 0.1 + a / 10, b, draws=5_000)
        assert found.p == 1 / 5_001
        assert found.test.p_text == "p < 0.0002"
        assert found.test.monte_carlo_error == pytest.approx(math.sqrt(found.p * (1 - found.p) / 5_000))

    def test_zeros_are_not_enumerated(self) -> None:
        a = np.full(50, 0.5)
        b = a.copy()
        b[:6] -= [0.1, 0.2, 0.1, 0.3, 0.1, 0.2]
        found = compare_pair(a, b)
        assert (found.test.draws, found.test.is_enumerated, found.p) == (64, True, 2 / 64)
        assert (found.nonzero, found.ties) == (6, 44)
        assert found.test.monte_carlo_error is None

    def test_the_bootstrap_is_centred(self) -> None:
        generator = np.random.default_rng(5)
        d = generator.normal(0, 1, 30)
        d -= d.mean()
        zeros = np.zeros(30)
        assert compare_pair(d, zeros, test="bootstrap").p > 0.99
        assert compare_pair(d + 2.0, zeros, test="bootstrap").p < 0.001
        # A shift does not move the samples' t around their own mean.
        moved = (Resamples.of(PairedScores(each, zeros, PairPlan(draws=500))).statistics for each in (d, d + 2.0))
        assert np.allclose(*moved)

    def test_resamples_are_even(self) -> None:
        rows = np.concatenate(list(resampled_rows(7, 3_000, 1)))
        assert rows.shape == (3_000, 7)
        assert rows.min() == 0
        assert rows.max() == 6
        assert stats.chisquare(np.bincount(rows.ravel())).pvalue > 1e-4
        assert (rows[:1_200] == np.concatenate(list(resampled_rows(7, 1_200, 1)))).all()


class TestCalibration:
    def test_rejections_under_the_null(self) -> None:
        # 5% of 1,000 null sets: between 24 and 79; p are even, for all that 1,000 values of p can be.
        generator, found = np.random.default_rng(21), []
        for seed in range(1_000):
            d = generator.gamma(1.5, 1, 40) * generator.choice([-1, 1], 40)
            found.append(randomisation_p(PairedScores(d, np.zeros(40), PairPlan(draws=999, seed=seed)))[0])
        assert 24 <= sum(p <= 0.05 for p in found) <= 79
        assert stats.kstest(np.array(found) - generator.random(1_000) / 1000, "uniform").pvalue > 1e-4

    def test_rejections_of_wilcoxon_and_t(self) -> None:
        generator = np.random.default_rng(22)
        normal = generator.normal(size=(2_000, 25))
        rejected = sum(wilcoxon(PairedScores(d, np.zeros(25))).p <= 0.05 for d in normal)
        assert 64 <= rejected <= 140
        assert 64 <= sum(stats.ttest_1samp(normal, 0, axis=1).pvalue <= 0.05) <= 140


class TestEffects:
    def test_by_hand(self) -> None:
        found = compare_pair([0.4, 0.6, 0.8], [0.2, 0.5, 0.8])
        # Differences 0.2, 0.1, 0: mean 0.1, sd 0.1.
        assert found.effect.d_z == pytest.approx(1.0)
        # J(2) = Gamma(1) / (1 * Gamma(1/2)).
        assert found.effect.g_z == pytest.approx(1 / math.sqrt(math.pi))
        # Variances 0.04 and 0.09.
        assert found.effect.d_av == pytest.approx(0.1 / math.sqrt(0.065))
        assert found.effect.rank_biserial == 1.0
        assert found.effect.share_won == pytest.approx(2.5 / 3)
        assert (found.wins, found.ties, found.losses) == (2, 1, 0)

    def test_rank_biserial_interval_is_that_of_ranking_every_sample(self) -> None:
        a, b = scores(3, 15, 0.05, places=1)
        d = np.round(a - b, 12) + 0.0
        found = compare_pair(a, b, seed=4).effect
        naive = [rank_biserial(d[row]) or 0.0 for rows in resampled_rows(15, 2_000, 4) for row in rows]
        assert found.rank_biserial == pytest.approx(rank_biserial(d))
        assert found.rank_biserial_interval is not None
        limits = (found.rank_biserial_interval.low, found.rank_biserial_interval.high)
        assert limits == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=1e-12)

    @together(
        ("difference", "low", "high", "label"),
        [
            (0.06, 0.035, 0.08, "substantial"),
            (0.041, 0.018, 0.064, None),  # the interval also has noticeable ones
            (0.01, -0.005, 0.016, "marginal"),  # either way, but always below 5%
            (0.01, -0.005, 0.025, None),
            (0.02, 0.02, 0.02, "noticeable"),
            (0.034, 0.017, 0.034, "noticeable"),  # 5% and 10% are both noticeable
            (-0.1, -0.2, -0.01, None),
            (-0.1, -0.2, -0.05, "substantial"),
            (0.01, -0.06, 0.08, None),  # substantial at both ends, but not between them
            (0.1, -math.inf, math.inf, None),
        ],
    )
    def test_words_only_where_the_whole_interval_has_them(
        self, difference: float, low: float, high: float, label: str | None
    ) -> None:
        interval = Interval(low, high, 0.05, "t")
        found = practical_size(difference, 0.34, interval, 0.0 not in interval)
        assert found is not None
        assert found.label == label
        assert (found.low, found.high) == pytest.approx((low / 0.34, high / 0.34))

    def test_no_ratio_without_a_ground(self) -> None:
        assert compare_pair([0.5, 0.2, 0.1], [0.0, 0.0, 0.0]).practical is None
        # Utility may be below 0: a ratio to it would have the wrong sign.
        assert compare_pair([0.5, 0.2, 0.1], [-1.0, -2.0, 0.5]).practical is None


class TestVerdicts:
    def test_detectable_is_what_the_test_that_ran_can_detect(self) -> None:
        a, b = scores(2, 5, 0.3)
        # The rarest of 32 flips and its opposite have p 1/16, whatever the scores are.
        assert compare_pair(a, b).detectable == math.inf and compare_pair(a, b).test.least_p == 1 / 16
        assert compare_pair(a, b, alpha=0.1).detectable == compare_pair(a, b, alpha=0.1, test="t").detectable < math.inf
        assert compare_pair(a, b, test="wilcoxon").detectable is None
        a, b = scores(3, 40, 0.1)
        assert compare_pair(a, b, draws=15).detectable == math.inf > (compare_pair(a, b, draws=99).detectable or 0)
        # Yuen's: the error of the trimmed mean on h - 1 = 23 degrees of freedom (SciPy's noncentral t).
        found = compare_pair(a, b, test="yuen")
        cut = np.sort(a - b)[8:-8]
        winsorised = np.concatenate([[cut[0]] * 8, cut, [cut[-1]] * 8])
        error = winsorised.std() * math.sqrt(40 / (24 * 23))
        assert stats.nct.sf(stats.t.ppf(0.975, 23), 23, found.detectable / error) == pytest.approx(0.8, abs=1e-3)

    def test_without_a_margin(self) -> None:
        a, b = scores(2, 40, 0.1)
        assert compare_pair(a, b).verdict == "better"
        assert compare_pair(b, a).verdict == "worse"
        assert compare_pair(a, b, better="lower").verdict == "worse"
        same, noise = scores(2, 40, 0.0)
        assert compare_pair(same, noise).verdict == "inconclusive"

    @together(
        ("shift", "margin", "verdict", "not_inferior"),
        [
            (0.0, 0.2, "equivalent", True),
            (0.3, 0.05, "superior", True),
            (-0.3, 0.05, "inferior", False),
            (0.015, 0.03, "non-inferior", True),
            (-0.015, 0.03, "non-superior", False),
            (0.0, 0.001, "inconclusive", False),
            (0.05, 0.5, "equivalent", True),  # significant, but within the margin
        ],
    )
    def test_with_a_margin(self, shift: float, margin: float, verdict: str, not_inferior: bool) -> None:
        generator = np.random.default_rng(8)
        b = generator.random(60)
        d = generator.normal(0, 0.1, 60)
        a = b + d - d.mean() + shift
        found = compare_pair(a, b, margin=margin)
        assert found.margin is not None
        assert (found.verdict, found.margin.is_not_inferior) == (verdict, not_inferior)
        # Two one-sided tests at 5% are the 90% interval.
        assert found.margin.interval.level == 0.9
        mirrored = compare_pair(-a, -b, margin=margin, better="lower")
        assert mirrored.margin is not None
        assert (mirrored.verdict, mirrored.margin.is_not_inferior) == (verdict, not_inferior)

    def test_lower_is_better(self) -> None:
        found = compare_pair([3, 5, 2], [4, 7, 1], ["q1", "q2", "q3"], better="lower")
        assert (found.wins, found.losses) == (2, 1)
        assert found.difference == pytest.approx(-2 / 3)
        assert [each.query for each in found.for_system] == ["q2", "q1"]
        assert [each.query for each in found.for_baseline] == ["q3"]

    def test_the_queries_that_decide(self) -> None:
        a, b = np.linspace(0, 1, 21), np.full(21, 0.5)
        found = compare_pair(a, b)
        assert [each.query for each in found.for_system] == ["21", "20", "19", "18", "17"]
        assert [each.query for each in found.for_baseline] == ["01", "02", "03", "04", "05"]
        assert found.for_system[0].share == pytest.approx(0.5 / np.abs(a - b).sum())


class TestExtremes:
    @together("test", TESTS)
    @together(
        ("a", "b"),
        [
            ([0.5] * 7, [0.5] * 7),
            ([0.0] * 25, [0.0] * 25),
            ([0.5], [0.5]),
            ([0.5], [0.4]),
            ([0.5] * 30, [0.4] * 30),
            ([0.1, 0.2], [0.2, 0.1]),
            ([1e-300] * 3, [0.0] * 3),
            ([1e9, 0.0, 3.0], [0.0, 1e9, 1.0]),
        ],
    )
    def test_no_nan_anywhere(self, test: str, a: list[float], b: list[float]) -> None:
        for interval in (None, *INTERVALS):
            if TESTS[test].needs_spread and len(a) in (3, 30) and len(set(a)) == 1 and a != b:
                with pytest.raises(InputError, match="no spread to use"):
                    compare_pair(a, b, test=test, interval=interval)
                continue
            found = compare_pair(a, b, test=test, interval=interval, draws=199, margin=0.1)
            assert not any(math.isnan(number) for number in numbers(found)), interval
            assert 0 < found.p <= 1
            assert found.interval.low <= found.interval.high

    def test_identical_systems(self) -> None:
        for test in TESTS:
            found = compare_pair([0.5, 0.1, 0.3], [0.5, 0.1, 0.3], test=test)
            assert (found.p, found.verdict) == (1.0, "inconclusive")
        assert found.effect.d_z is None
        assert "the same score" in found.warnings[0]

    def test_a_constant_difference_has_an_interval_of_one_point(self) -> None:
        found = compare_pair([0.5] * 30, [0.4] * 30, draws=1_000)
        assert (found.interval.low, found.interval.high, found.p) == (0.1, 0.1, 1 / 1_001)


class TestWarnings:
    def warned(self, words: str, *args: Any, **options: Any) -> PairResult:
        found = compare_pair(*args, **options)
        assert any(words in line for line in found.warnings), found.warnings
        return found

    def test_few_differences_that_are_not_0(self) -> None:
        a, b = [0.5] * 40, [0.5] * 35 + [0.1, 0.2, 0.3, 0.2, 0.1]
        found = self.warned("only 5 of 40 differences are nonzero: random sign flips cannot reach 5%", a, b)
        assert len(found.for_system) == 5
        assert (found.interval.method, found.interval.is_stopgap) == ("t", True)
        assert compare_pair(a, [*b[:-6], 0.1, *b[-5:]]).warnings == ()
        seven = compare_pair([0.1 * i for i in range(7)], [0.0] * 7, alpha=0.01)
        assert any("cannot reach 1%" in line for line in seven.warnings)
        found = self.warned("rely on p", [0.5, 0.51, 0.52, 0.5, 0.51], [0.1] * 5, margin=0.6)
        assert found.verdict == "inconclusive"  # although the stopgap is within the margin

    def test_few_queries(self) -> None:
        a, b = scores(1, 9, 0.1)
        self.warned("detectable", a, b)
        assert compare_pair(*scores(1, 10, 0.1)).warnings == ()

    def test_many_queries(self) -> None:
        a, b = scores(1, 5_001, 0.01)
        found = self.warned("tiny differences are significant", a, b)
        assert (found.test.name, found.interval.method, found.verdict) == ("t", "t", "margin required")
        assert compare_pair(a, b, margin=0.2).verdict == "equivalent"
        assert compare_pair(a, a).verdict == "margin required"
        assert compare_pair(*scores(1, 300, 0.01), draws=100).test.name == "randomisation"

    @together(("test", "hypothesis"), [("wilcoxon", "symmetric"), ("sign", "median")])
    def test_rank_tests(self, test: str, hypothesis: str) -> None:
        self.warned("does not test means", *scores(1, 50), test=test, draws=100)
        self.warned(hypothesis, *scores(1, 30), test=test)
        few = compare_pair(*scores(1, 49), test=test, draws=100)
        assert not any("does not test means" in line for line in few.warnings)

    def test_p_and_interval_of_different_questions(self) -> None:
        # Many small wins, some large losses: the median is above 0, the mean is not.
        a, b = [0.5] * 30, [0.45] * 24 + [0.8] * 6
        self.warned("and disagree", a, b, test="sign")

    def test_no_limits(self) -> None:
        self.warned("unbounded", [0.5, 0.3, 0.2, 0.5], [0.1, 0.2, 0.3, 0.2], interval="randomisation")
        self.warned("1 query is too few", [0.5], [0.1])

    @together("interval", ["bootstrap-t", "percentile", "bca", "t"])
    def test_what_does_not_vary_is_not_too_few(self, interval: str) -> None:
        for a, test in (([0.4] * 12, "bootstrap"), ([0.5] * 12, "randomisation")):
            found = compare_pair(a, [0.4] * 12, test=test, interval=interval)
            assert (found.interval.low, found.interval.high) == pytest.approx((found.difference, found.difference))
            assert not any("too few" in line for line in found.warnings)
            assert bool(found.warnings) == (test == "bootstrap")  # the systems are alike

    def test_few_draws(self) -> None:
        self.warned("at least 20 are needed", *scores(1, 40), draws=19)
        assert compare_pair(*scores(1, 40), draws=20).warnings == ()


class TestRefusals:
    @pytest.mark.parametrize("test", ["t", "yuen", "bootstrap"])
    def test_a_constant_difference_has_no_spread_to_go_by(self, test: str) -> None:
        """R: data are essentially constant. The others go by signs, and find what there is."""
        a, b = [0.1 + 0.2, 0.5, 0.7, 0.3, 0.9, 0.6], [0.1, 0.3, 0.5, 0.1, 0.7, 0.4]
        with pytest.raises(InputError, match=r"^AP, test \w+: the difference is 0\.2 on all 6 queries") as refused:
            compare_pair(a, b, test=test, measure="AP")
        assert refused.value.hint == "the test randomisation works without a spread"
        assert compare_pair(*scores(1, 12, 0.2), test=test).p < 0.05
        for other in ("randomisation", "wilcoxon", "sign"):
            assert compare_pair(a, b, test=other).p == 2 / 2**6

    def test_a_test_that_nobody_asked_for_refuses_nothing(self) -> None:
        found = compare_pair(np.full(5_001, 0.75), np.full(5_001, 0.5), draws=1_000)
        assert (found.test.name, found.p) == ("randomisation", 1 / 1_001)

    @together(
        ("a", "b", "options", "words"),
        [
            ([0.1], [0.2], {"alpha": 0.6}, "alpha"),
            ([0.1], [0.2], {"alpha": 1e-13}, "alpha: expected at least 1e-12, found 1e-13"),
            ([0.1], [0.2], {"test": "bootstrap", "draws": 10_000_001}, "draws: expected at most 10,000,000"),
            ([0.1], [0.2], {"margin": 0.0}, "margin"),
            ([0.1], [0.2], {"test": "tukey"}, "test: expected randomisation"),
            ([0.1], [0.2], {"interval": "normal"}, "interval: expected randomisation"),
        ],
    )
    def test_says_what_was_expected(self, a: Any, b: Any, options: dict[str, Any], words: str) -> None:
        with pytest.raises((UsageError, InputError), match=words):
            compare_pair(a, b, **options)


def _fractions_p(units: list[int]) -> Fraction:
    """The exact p in whole numbers."""
    ways = {0: 1}
    for unit in units:
        moved: dict[int, int] = {}
        for total, count in ways.items():
            for signed in (unit, -unit):
                moved[total + signed] = moved.get(total + signed, 0) + count
        ways = moved
    observed = abs(sum(units))
    return Fraction(sum(count for total, count in ways.items() if abs(total) >= observed), 2 ** len(units))


@together("parts", [3, 6, 7, 9, 10, 15])
@together("scale", [1.0, 0.37, 100.0])
def test_p_is_exact_where_scores_are_no_decimals(parts: int, scale: float) -> None:
    generator = np.random.default_rng(parts)
    told = 0
    for _ in range(25):
        n = int(generator.integers(5, 17))
        a = generator.integers(0, parts + 1, n)
        b = np.clip(a - generator.integers(-2, 4, n), 0, parts)
        found = compare_pair(a / parts * scale, b / parts * scale)
        expected = _fractions_p((a - b).tolist())
        assert Fraction(found.p) == expected
        told += found.p < 0.05
        if 2.0 ** (1 - found.nonzero) < 0.05:
            assert found.interval.method == "randomisation"
            assert (found.p < 0.05) == (0.0 not in found.interval)
    assert 0 < told < 25


def test_limits_are_exact_where_scores_are_no_decimals() -> None:
    """Both limits are means of subsets, which the shifted test keeps, and the next ones beyond are rejected."""
    generator = np.random.default_rng(2)
    for parts in (3, 6, 7, 15):
        for _ in range(5):
            units = generator.integers(-2, 6, 9).tolist()
            found = compare_pair([u / parts + 0.25 for u in units], [0.25] * 9, alpha=0.1)
            if not 2.0 ** (1 - found.nonzero) < 0.1:
                continue
            means = {
                Fraction(sum(chosen), len(chosen)) for size in range(1, 10) for chosen in combinations(units, size)
            }
            kept = [
                m for m in means if _fractions_p([u * m.denominator - m.numerator for u in units]) >= Fraction(1, 10)
            ]
            assert found.interval.low == pytest.approx(float(min(kept) / parts), abs=2e-11)
            assert found.interval.high == pytest.approx(float(max(kept) / parts), abs=2e-11)


def test_an_interval_of_another_kind_that_contradicts_p_is_named() -> None:
    generator, named = np.random.default_rng(0), 0
    for _ in range(50):
        a, b = generator.random(12), generator.random(12) * 0.75
        for test, interval in (("randomisation", "percentile"), ("randomisation", "t"), ("t", "bca")):
            found = compare_pair(a, b, test=test, interval=interval, draws=999)
            disagree = (found.p < 0.05) != (0.0 not in found.interval)
            assert any("disagree" in warning for warning in found.warnings) == disagree
            named += disagree
        for test in ("randomisation", "t"):
            assert not any("disagree" in warning for warning in compare_pair(a, b, test=test, draws=999).warnings)
    assert named > 2


@together("scale", [2.0**-40, 2.0**35, 1e-9, 1e-3, 1e9])
@together("test", sorted(TESTS))
@together("queries", [15, 40])
def test_the_unit_of_scores_changes_nothing_but_limits(test: str, queries: int, scale: float) -> None:
    """15 queries are enumerated, of 40 flips are drawn; tenths have ties, and sums that are 0 in exact arithmetic."""
    for seed in range(2):
        generator = np.random.default_rng(seed)
        a = np.round(generator.integers(0, 11, queries) / 10, 1)
        b = np.round(np.clip(a - generator.integers(-3, 5, queries) / 10, 0, 1), 1)
        one, other = (compare_pair(a * unit, b * unit, test=test, draws=999) for unit in (1.0, scale))
        assert other.p == pytest.approx(one.p, rel=1e-9)
        assert (other.wins, other.ties, other.losses) == (one.wins, one.ties, one.losses)
        for limit in ("low", "high"):
            expected = pytest.approx(scale * getattr(one.interval, limit), rel=1e-6, abs=1e-9 * scale)
            assert getattr(other.interval, limit) == expected
