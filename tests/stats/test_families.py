"""Several systems: maxT, corrections, thresholds, simultaneous and rank intervals."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gainful import UsageError, compare
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.parallel import Progress
from gainful.stats.catalogues import corrected
from gainful.stats.families import FamilyResult, RankInterval, SystemsPlan, families_of, letters
from gainful.stats.repeatable import Flips
from tests.stats.two_systems import compare_family, compare_pair
from tests.together import together

Values = np.ndarray[Any, np.dtype[np.float64]]


def matrix(values: Values, measure: str = "AP", better: Any = "higher") -> ScoreMatrix:
    systems = {f"s{j}": values[:, j].tolist() for j in range(values.shape[1])}
    return ScoreMatrix.of(measure, systems, [f"q{i:03d}" for i in range(len(values))], better=better)


def random_values(seed: int, n: int, m: int, spread: float = 0.1, places: int = 3) -> Values:
    generator = np.random.default_rng(seed)
    queries = generator.beta(2, 3, (n, 1))
    systems = np.linspace(0, spread, m)
    return np.round(np.clip(queries + systems + generator.normal(0, 0.1, (n, m)), 0, 1), places)


def signs(n: int, draws: int, seed: int) -> Values:
    flipped = np.concatenate(list(Flips(n, draws, seed).sums(np.eye(n))))
    return np.asarray(1 - 2 * flipped)


def naive_max_t(differences: Values, flips: Values) -> tuple[Values, Values]:
    """The procedure as it is defined, hypothesis by hypothesis, in thousandths: whole numbers."""
    d = np.rint(differences * 1000).astype(np.int64)
    observed = np.abs(d.sum(axis=0))
    flipped = np.abs(flips.astype(np.int64) @ d)
    order = sorted(range(d.shape[1]), key=lambda p: -observed[p])
    alone = np.array([(np.sum(flipped[:, p] >= observed[p]) + 1) / (len(flips) + 1) for p in range(d.shape[1])])
    adjusted, so_far = np.empty(d.shape[1]), 0.0
    for step, p in enumerate(order):
        largest = flipped[:, order[step:]].max(axis=1)
        so_far = max(so_far, (np.sum(largest >= observed[p]) + 1) / (len(flips) + 1))
        adjusted[p] = so_far
    return alone, adjusted


class TestMaxT:
    @together(("seed", "draws"), [(0, 700), (1, 700), (2, 700), (3, 21_500)])
    def test_is_as_defined(self, seed: int, draws: int) -> None:
        """Many draws come in pieces."""
        values = random_values(seed, 40, 6)
        found = compare_family(matrix(values), draws=draws, seed=seed)
        differences = values[:, found.first] - values[:, found.second]
        alone, adjusted = naive_max_t(differences, signs(40, draws, seed))
        assert found.p.tolist() == alone.tolist()
        assert found.adjusted.tolist() == adjusted.tolist()

    def test_against_a_baseline(self) -> None:
        values = random_values(9, 40, 5)
        found = compare_family(matrix(values), baseline="s2", draws=700)
        differences = values[:, [0, 1, 3, 4]] - values[:, [2]]
        alone, adjusted = naive_max_t(differences, signs(40, 700, 0))
        assert (found.p.tolist(), found.adjusted.tolist()) == (alone.tolist(), adjusted.tolist())
        assert found.rank_intervals == ()
        assert found.may_be_best == ()
        with pytest.raises(UsageError, match="with the baseline 's2'"):
            found.pair("s0", "s1")
        assert found.pair("s2", "s0").difference == -found.pair("s0", "s2").difference

    def test_all_flips_of_few_queries(self) -> None:
        values = random_values(1, 8, 4)
        found = compare_family(matrix(values))
        assert (found.draws, found.is_enumerated, found.monte_carlo_error) == (256, True, None)
        differences = np.rint((values[:, found.first] - values[:, found.second]) * 1000)
        ways = 1 - 2 * ((np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1)
        flipped, observed = np.abs(ways @ differences), np.abs(differences.sum(axis=0))
        assert found.p.tolist() == [np.mean(flipped[:, p] >= observed[p]) for p in range(6)]
        largest = int(np.argmax(observed))
        assert found.adjusted[largest] == np.mean(flipped.max(axis=1) >= observed[largest])

    @pytest.mark.parametrize("parts", [10, 3])
    def test_equal_differences_are_one_step(self, parts: int) -> None:
        """All flips of whole numbers: a pair is compared with all whose difference is no larger."""
        generator, tied = np.random.default_rng(parts), 0
        for _ in range(60):
            n, m = int(generator.integers(5, 10)), int(generator.integers(3, 6))
            units = generator.integers(0, 6, (n, m)) + np.arange(m)
            whole = matrix(units / parts)
            found = compare_family(whole)
            d = units[:, found.first] - units[:, found.second]
            ways = 1 - 2 * ((np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1)
            flipped, observed = np.abs(ways @ d), np.abs(d.sum(axis=0))
            raw = [np.mean(flipped[:, observed <= o].max(axis=1) >= o) for o in observed]
            assert found.adjusted.tolist() == [
                max(p for p, other in zip(raw, observed, strict=True) if other >= o) for o in observed
            ]
            tied += len(set(observed.tolist())) < observed.size
            backwards = compare_family(whole.select(list(reversed(whole.systems))))
            for a, b in zip(found.first, found.second, strict=True):
                names = found.systems[a], found.systems[b]
                assert found.pair(*names).adjusted == backwards.pair(*names).adjusted
        assert tied > 10

    def test_the_threshold_is_that_of_one_step(self) -> None:
        more = 0
        for seed in range(6):
            values = random_values(seed, 50, 8, spread=0.15)
            found = compare_family(matrix(values), draws=999, seed=seed)
            differences = values[:, found.first] - values[:, found.second]
            largest = np.sort(np.abs(signs(50, 999, seed) @ differences).max(axis=1))
            # As extreme as 49 of 999 draws at most: (49 + 1) / 1000 is not below 5%, (48 + 1) / 1000 is.
            assert found.threshold == pytest.approx(largest[-49] / 50, abs=1e-9)
            apart = np.abs(found.difference)
            assert 0 < np.count_nonzero(found.is_significant) < found.p.size
            assert found.is_significant[apart >= found.threshold].all()
            # Later steps find more, but the verdict goes by the size of the difference alone.
            assert apart[found.is_significant].min() > apart[~found.is_significant].max()
            more += (found.is_significant & (apart < found.threshold)).any()
        assert more

    def test_near_duplicates_do_not_lower_the_threshold(self) -> None:
        values = random_values(4, 50, 4, spread=0.3)
        twins = values[:, :1] + np.where(np.arange(50) % 10 == 0, 0.001, 0.0)[:, np.newaxis]
        alone = compare_family(matrix(values), draws=999)
        beside = compare_family(matrix(np.hstack((values, twins))), draws=999)
        assert alone.threshold is not None and beside.threshold is not None
        assert beside.threshold >= alone.threshold > 0.02

    @together("parts", [10, 3, 7, 1000])
    @together("baseline", [None, "s1"])
    def test_a_pair_at_the_threshold_is_told_apart(self, parts: int, baseline: str | None) -> None:
        generator, told, close = np.random.default_rng(parts), 0, 0
        for seed in range(60):
            n, m = int(generator.integers(6, 30)), int(generator.integers(2, 7))
            levels = np.linspace(0, generator.uniform(0, 0.6), m)
            units = np.rint((generator.random((n, m)) + levels) * min(parts, 30))
            found = compare_family(matrix(units / parts), baseline=baseline, draws=300, seed=seed)
            apart = np.abs(found.difference)
            assert found.threshold is not None
            assert found.half_width is not None
            assert found.is_significant[apart >= found.threshold].all()
            # What is not told apart has an interval that holds 0.
            assert (found.is_significant | (apart <= found.half_width)).all()
            told += found.is_significant.any()
            # The critical difference is one that flips have: a whole number of parts of a query.
            if math.isfinite(found.threshold):
                whole = found.threshold * n * parts
                assert whole == pytest.approx(round(whole), abs=1e-7)
                close += 1
        assert 10 < told <= close

    @together("seed", range(8))
    def test_intervals_across_measures_hold_0_where_nothing_is_told(self, seed: int) -> None:
        both = {"a": matrix(random_values(seed, 14, 4)), "b": matrix(random_values(seed + 50, 14, 4) * 30, "b")}
        for found in families(both, family="all", draws=400, seed=seed).values():
            assert found.half_width is not None
            assert (found.is_significant | (np.abs(found.difference) <= found.half_width)).all()

    def test_a_threshold_also_where_all_differ(self) -> None:
        values = random_values(0, 30, 3, spread=0.0) * 0.1 + np.array([0.0, 0.3, 0.6])
        found = compare_family(matrix(values), draws=999)
        assert found.is_significant.all()
        assert found.threshold is not None
        assert found.threshold < np.abs(found.difference).min()

    def test_simultaneous_intervals_are_quantiles_of_centred_flips(self) -> None:
        values = random_values(3, 40, 5)
        found = compare_family(matrix(values), draws=999)
        centred = values - values.mean(axis=0)
        flipped = signs(40, 999, 0) @ (centred[:, found.first] - centred[:, found.second]) / 40
        # Of 1,000 with the observed signs, 50 may be as large: the 49th largest of the 999.
        expected = np.sort(np.abs(flipped).max(axis=1))[-49]
        assert found.half_width is not None
        assert found.half_width == pytest.approx(np.full(10, expected), abs=1e-10)
        pair = found.pair("s4", "s0")
        assert pair.low is not None
        assert pair.high is not None
        assert (pair.low, pair.high) == pytest.approx((pair.difference - expected, pair.difference + expected))

    def test_the_family_wise_error_is_kept(self) -> None:
        # Systems that are alike: any finding is false. 5% of 300; 99.99% of such counts are below 31.
        generator, any_found = np.random.default_rng(5), 0
        for seed in range(300):
            values = generator.beta(2, 3, (25, 1)) + generator.normal(0, 0.1, (25, 5))
            any_found += bool(compare_family(matrix(values), draws=199, seed=seed).is_significant.any())
        assert 2 <= any_found <= 31


class TestPromises:
    def test_p_of_a_pair_does_not_depend_on_the_others(self) -> None:
        values = random_values(4, 45, 30, places=4)
        whole = matrix(values)
        reference = compare_family(whole, draws=2_000)
        for names in (["s3", "s17"], ["s17", "s3"], ["s9", "s17", "s1", "s3"], list(reversed(whole.systems))):
            found = compare_family(whole.select(names), draws=2_000).pair("s3", "s17")
            assert (found.p, found.difference) == (
                reference.pair("s3", "s17").p,
                reference.pair("s3", "s17").difference,
            )
        alone = compare_pair(values[:, 3], values[:, 17], whole.queries, draws=2_000)
        assert (alone.p, alone.difference) == (reference.pair("s3", "s17").p, reference.pair("s3", "s17").difference)

    def test_nor_do_the_flips_that_nobody_asked_for(self) -> None:
        """A pair has one p: there are as many flips for two systems as for many, and the same ones."""
        values = random_values(11, 30, 3, spread=0.06)
        whole = compare_family(matrix(values))
        for a, b in (("s0", "s1"), ("s1", "s2"), ("s0", "s2")):
            alone = compare_pair(values[:, int(a[1])], values[:, int(b[1])], matrix(values).queries)
            assert (whole.pair(a, b).p, whole.draws) == (alone.p, alone.test.draws)
            assert whole.pair(a, b).adjusted >= alone.p

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_threads_change_nothing(self, threads: int) -> None:
        values = random_values(12, 33, 12)
        reference, found = (compare_family(matrix(values), draws=5_000, threads=each) for each in (None, threads))
        for name in ("p", "adjusted", "half_width"):
            assert getattr(found, name).tobytes() == getattr(reference, name).tobytes()
        assert found.threshold == reference.threshold

    def test_not_even_if_they_are_a_million_times_as_large(self) -> None:
        values = random_values(4, 45, 2) * 1e-6
        small = compare_family(matrix(values), draws=2_000)
        beside = np.concatenate((values, np.random.default_rng(0).random((45, 1)) * 1e9), axis=1)
        assert compare_family(matrix(beside), draws=2_000).pair("s0", "s1").p == small.pair("s0", "s1").p

    @pytest.mark.parametrize("scale", [2.0**-33, 1e-9, 1e9])
    def test_the_unit_of_scores_changes_no_p(self, scale: float) -> None:
        for queries in (15, 40):
            values = random_values(queries, queries, 5, places=1)
            one, other = (compare_family(matrix(values * unit), draws=2_000) for unit in (1.0, scale))
            assert (other.p.tolist(), other.adjusted.tolist()) == (one.p.tolist(), one.adjusted.tolist())
            assert one.threshold is not None
            assert other.threshold == pytest.approx(scale * one.threshold, rel=1e-9)

    def test_few_differences_are_exact_alone_and_in_a_family(self) -> None:
        values = random_values(6, 40, 4)
        values[:, 1] = values[:, 0]
        values[:7, 1] += 0.05
        for seed in range(6):  # of 500 draws more or fewer are as extreme
            found = compare_family(matrix(values[:, : 2 + seed % 3]), draws=500, seed=seed).pair("s1", "s0")
            assert found.p == 2 / 2**7 == compare_pair(values[:, 1], values[:, 0]).p
            assert found.adjusted >= found.p

    def test_the_order_of_systems_changes_nothing(self) -> None:
        whole = matrix(random_values(8, 40, 7))
        one = compare_family(whole, draws=999)
        other = compare_family(whole.select(list(reversed(whole.systems))), draws=999)
        for a in whole.systems:
            for b in whole.systems:
                if a != b:
                    assert one.pair(a, b) == other.pair(a, b)
        assert one.rank_intervals == tuple(reversed(other.rank_intervals))
        assert one.threshold == other.threshold

    def test_identical_systems_have_p_1_and_count(self) -> None:
        values = random_values(4, 40, 4)
        doubled = np.concatenate((values, values[:, [0]]), axis=1)
        found = compare_family(matrix(doubled), draws=999)
        assert (found.pair("s0", "s4").p, found.pair("s0", "s4").adjusted) == (1.0, 1.0)
        assert not np.isnan(found.adjusted).any()
        holm, without = (compare_family(matrix(each), test="t", correction="holm") for each in (doubled, values))
        assert (holm.tests, without.tests) == (10, 6)
        assert holm.pair("s0", "s4").p == 1.0
        assert holm.pair("s1", "s2").p == without.pair("s1", "s2").p
        assert holm.pair("s1", "s2").adjusted >= without.pair("s1", "s2").adjusted

    def test_constant_and_single(self) -> None:
        for values in (np.full((6, 3), 0.5), np.array([[0.1, 0.5, 0.2]]), np.zeros((30, 3))):
            for test, correction in (("randomisation", "maxt"), ("t", "holm"), ("wilcoxon", "bh"), ("sign", "none")):
                found = compare_family(matrix(values), test=test, correction=correction, draws=200)
                assert not np.isnan(found.adjusted).any()
                assert (found.p == 1.0).all()
                assert all(places == RankInterval(1, 3) for places in found.rank_intervals)

    @pytest.mark.parametrize("test", ["t", "yuen"])
    def test_a_constant_difference_ends_no_family(self, test: str) -> None:
        values = random_values(3, 12, 4)
        values[:, 3] = values[:, 0] + 0.25
        found, without = (
            compare_family(matrix(each), test=test, correction="holm") for each in (values, values[:, :3])
        )
        assert found.pair("s0", "s3").p == 2 / 2**12 == compare_pair(values[:, 0], values[:, 3]).p
        assert found.pair("s3", "s0").verdict == "better"
        assert found.pair("s0", "s1").p == without.pair("s0", "s1").p
        note = f"1 pair has the same difference on every query: {test} has no spread to use"
        assert [note in line for line in found.notes].count(True) == 1
        assert not any("no spread" in line for line in without.notes)


class TestCorrections:
    @together(
        ("ours", "theirs"),
        [
            ("holm", "holm"),
            ("hochberg", "simes-hochberg"),
            ("bonferroni", "bonferroni"),
            ("bh", "fdr_bh"),
            ("by", "fdr_by"),
        ],
    )
    def test_are_those_of_statsmodels(self, ours: str, theirs: str) -> None:
        generator = np.random.default_rng(0)
        for size in (1, 2, 10, 300):
            p = generator.beta(0.5, 2, size)
            p[size // 2 :] = np.round(p[size // 2 :], 1) + 0.05
            p = np.minimum(p, 1.0)
            assert corrected(p, ours) == pytest.approx(multipletests(p, method=theirs)[1], rel=1e-12)

    def test_none(self) -> None:
        p = np.array([0.2, 0.01])
        assert corrected(p, "none").tolist() == [0.2, 0.01]
        assert corrected(np.zeros(0), "holm").size == 0

    @pytest.mark.parametrize("bad", [math.nan, 0.0, 1.5])
    def test_what_is_no_p_never_enters(self, bad: float) -> None:
        with pytest.raises(UsageError, match="above 0 and at most 1"):
            corrected(np.array([0.5, bad]), "holm")

    @together("correction", ["holm", "bonferroni", "hochberg"])
    def test_coarse_p_are_refused_with_the_number_of_draws(self, correction: str) -> None:
        """28 pairs at 5%: at least 10 x 28 / 0.05 draws."""
        whole = matrix(random_values(3, 40, 8))
        with pytest.raises(UsageError, match=r"5,599 sign flips are too few for 28 tests.*\n.*at least 5,600"):
            compare_family(whole, correction=correction, draws=5_599)
        assert compare_family(whole, correction=correction, draws=5_600).threshold is None
        assert compare_family(whole, correction="bh", draws=200).draws == 200
        # Exact p have no such limit.
        assert compare_family(matrix(random_values(3, 12, 8)), correction="holm", draws=100).p.min() >= 2 / 2**12

    @together("test", ["t", "wilcoxon", "sign", "yuen"])
    def test_p_are_those_of_the_pairs(self, test: str) -> None:
        values = random_values(5, 30, 4)
        found = compare_family(matrix(values), test=test, correction="bh")
        for i, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
            assert found.p[i] == compare_pair(values[:, a], values[:, b], test=test).p
        assert (found.draws, found.half_width, found.threshold) == (None, None, None)

    def test_notes(self) -> None:
        whole = matrix(random_values(5, 201, 3))
        assert compare_family(whole, draws=100).notes == ()
        bh, hochberg = (compare_family(whole, test="t", correction=each) for each in ("bh", "hochberg"))
        assert "false finding is not bounded" in bh.notes[0] and not bh.is_simultaneous
        assert "if tests are independent or positively dependent" in hochberg.notes[0] and hochberg.is_simultaneous
        notes = " ".join(compare_family(whole, test="wilcoxon", correction="none").notes)
        assert "symmetric" in notes
        assert "does not test means" in notes
        many = matrix(random_values(5, 5_001, 2))
        assert "tiny differences" in " ".join(compare_family(many, test="t", correction="holm").notes)

    def test_intervals_that_contradict_a_correction_are_named(self) -> None:
        named = 0
        for seed in range(30):
            found = compare_family(matrix(random_values(seed, 15, 3)), correction="bonferroni", draws=999)
            assert found.half_width is not None
            contradict = ((np.abs(found.difference) > found.half_width) & ~found.is_significant).any()
            assert any("do not use bonferroni" in note for note in found.notes) == contradict
            named += bool(contradict)
        assert 0 < named < 30

    def test_refusals(self) -> None:
        whole = matrix(random_values(5, 20, 3))
        for options, words in (
            ({"test": "t", "correction": "maxt"}, "requires the test randomisation"),
            ({"correction": "tukey"}, "correction: expected maxt"),
            ({"test": "bootstrap"}, "test: expected"),
            ({"baseline": "none"}, "unknown system 'none'"),
            ({"alpha": 0.0}, "alpha"),
        ):
            with pytest.raises(UsageError, match=words):
                compare_family(whole, **options)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="at least two"):
            compare_family(whole.select(["s0"]))
        with pytest.raises(UsageError, match="unknown system 's9'"):
            compare_family(whole).pair("s0", "s9")


class TestRanks:
    def test_are_counted_from_the_verdicts(self) -> None:
        for better in ("higher", "lower"):
            whole = matrix(random_values(2, 50, 7, spread=0.2), better=better)
            found = compare_family(whole, draws=999)
            for i, system in enumerate(found.systems):
                verdicts = [found.pair(system, other).verdict for other in found.systems if other != system]
                expected = RankInterval(1 + verdicts.count("worse"), 7 - verdicts.count("better"))
                assert found.rank_intervals[i] == expected
            best = found.systems[found.order[0]]
            assert best == ("s6" if better == "higher" else "s0")
            assert best in found.may_be_best
            assert set(found.may_be_best) == {
                s for s, places in zip(found.systems, found.rank_intervals, strict=True) if places.best == 1
            }

    def test_equal_means_stand_by_their_names(self) -> None:
        # 0.1 + 0.2 and 0.3 are one mean.
        whole = matrix(np.array([[0.3, 0.1 + 0.2, 0.4], [0.3, 0.3, 0.3]]))
        for names in (["s0", "s1", "s2"], ["s1", "s2", "s0"]):
            found = compare_family(whole.select(names))
            assert [found.systems[i] for i in found.order] == ["s2", "s0", "s1"]


def families(matrices: dict[str, ScoreMatrix], **how: Any) -> dict[str, FamilyResult]:
    return {name: found.family for name, found in compare(matrices, **how).systems.items()}


class TestMeasures:
    def test_each_measure_by_itself(self) -> None:
        one, other = matrix(random_values(1, 30, 4)), matrix(random_values(2, 30, 4), "RR")
        found = families({"AP": one, "RR": other}, draws=500)
        for name, each in (("AP", one), ("RR", other)):
            assert found[name].adjusted.tolist() == compare_family(each, draws=500).adjusted.tolist()
            assert found[name].tests == 6

    def test_all_together_on_a_scale_a_measure(self) -> None:
        one, other = random_values(1, 30, 4), random_values(2, 30, 4)
        found = families({"AP": matrix(one), "Cost": matrix(1000 * other, "Cost", "lower")}, family="all", draws=500)
        first, second = found["AP"].first, found["AP"].second
        # Each measure's differences have a mean square of 1.
        differences = [values[:, first] - values[:, second] for values in (one, other)]
        d = np.concatenate([each / math.sqrt((each**2).mean()) for each in differences], axis=1)
        observed, flipped = np.abs(d.sum(axis=0)), np.abs(signs(30, 500, 0) @ d)
        order = np.argsort(-observed)
        raw = [(np.sum(flipped[:, order[i:]].max(axis=1) >= observed[p] - 1e-9) + 1) / 501 for i, p in enumerate(order)]
        expected = np.empty(12)
        expected[order] = np.maximum.accumulate(raw)
        ours = np.concatenate((found["AP"].adjusted, found["Cost"].adjusted))
        assert ours.tolist() == expected.tolist()
        assert found["AP"].tests == 12
        assert found["AP"].threshold is None
        assert any("one family of 2 measures" in note for note in found["AP"].notes)
        assert not compare_family(matrix(one), draws=500).notes
        # A pair's own p is what it is in its own family.
        assert found["AP"].p.tolist() == compare_family(matrix(one), draws=500).p.tolist()

    def test_intervals_across_measures_are_in_proportion_to_a_measure_s_spread(self) -> None:
        one, other = random_values(1, 30, 3), random_values(2, 30, 3) * 100
        found = families({"a": matrix(one), "b": matrix(other, "b")}, family="all", draws=999)
        d = np.concatenate([v[:, found["a"].first] - v[:, found["a"].second] for v in (one, other)], axis=1)
        centred = d - d.mean(axis=0)
        roots = np.repeat([np.sqrt((part**2).sum() / 3) for part in (centred[:, :3], centred[:, 3:])], 3)
        largest = (np.abs(signs(30, 999, 0) @ centred) / roots).max(axis=1)
        expected = np.sort(largest)[-49] * roots / 30
        ours = np.concatenate([found[name].half_width for name in ("a", "b")])  # type: ignore[misc]
        assert ours == pytest.approx(expected, rel=1e-9)

    def test_a_pair_that_varies_little_is_not_the_largest_for_that(self) -> None:
        """Two systems that differ by 0.001 on every query but one: t of the pair is large, its difference small."""
        rng = np.random.default_rng(0)
        values = rng.random((12, 3))
        values[:, 1] = values[:, 0] + 0.001
        values[0, 1] += 0.0005
        values[:, 2] = values[:, 0] + rng.normal(0.1, 0.3, 12)
        found = families({"a": matrix(values), "b": matrix(values * 7, "b")}, family="all", draws=2000)
        for each in found.values():
            near, far = each.pair("s0", "s1"), each.pair("s0", "s2")
            assert near.p < far.p < near.adjusted >= far.adjusted

    def test_holm_over_all(self) -> None:
        both = {"a": matrix(random_values(1, 30, 3)), "b": matrix(random_values(2, 30, 3), "b")}
        found = families(both, family="all", test="t", correction="holm")
        p = np.concatenate((found["a"].p, found["b"].p))
        adjusted = np.concatenate((found["a"].adjusted, found["b"].adjusted))
        assert adjusted == pytest.approx(multipletests(p, method="holm")[1])

    def test_different_orders_are_paired_by_id(self) -> None:
        values = random_values(1, 30, 3)
        one = matrix(values)
        other = ScoreMatrix.of(
            "RR", {f"s{j}": {f"q{i:03d}": values[i, j] for i in reversed(range(30))} for j in (2, 0, 1)}
        )
        found = families({"AP": one, "RR": other}, draws=300)
        for pair in (("s0", "s1"), ("s0", "s2"), ("s1", "s2")):
            assert found["AP"].pair(*pair).adjusted == found["RR"].pair(*pair).adjusted
        with pytest.raises(UsageError, match="family: expected each"):
            families({"AP": one}, family="some")


def test_progress_counts_draws() -> None:
    seen: list[int] = []
    families_of(
        [matrix(random_values(1, 30, 3))], SystemsPlan(draws=12_000), Progress(lambda done, _: seen.append(done))
    )
    assert seen == [10_000, 12_000]


def test_rank_tests_are_on_the_side_of_ranks() -> None:
    """The first system loses most queries narrowly and wins a few by far: its mean is higher."""
    narrow, far = [-0.01] * 52, [0.5] * 8
    first = np.array([0.4 + each for each in (*narrow, *far)])
    matrix = ScoreMatrix.of("x", {"a": np.full(60, 0.4).tolist(), "b": first.tolist(), "c": [0.1] * 60})
    for test in ("sign", "wilcoxon"):
        found = compare_family(matrix, test=test, correction="holm")
        assert found.pair("b", "a").difference > 0
        assert found.pair("b", "a").verdict == "worse"
    assert compare_family(matrix, test="t", correction="holm").pair("b", "a").verdict != "worse"


def random_relation(seed: int, systems: int) -> NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((systems, systems)) < rng.random(), 1)
    return np.asarray(upper | upper.T)


class TestLetters:
    def test_share_a_letter_if_and_only_if_not_told_apart(self) -> None:
        for seed in range(60):
            relation = random_relation(seed, 1 + seed % 12)
            found = letters(relation)
            for i, j in combinations(range(relation.shape[0]), 2):
                assert bool(set(found[i]) & set(found[j])) == (not relation[i, j]), seed
            assert all(found), seed

    def test_every_letter_is_a_maximal_clique_and_all_are_there(self) -> None:
        for seed in range(60):
            relation = random_relation(seed, 1 + seed % 9)
            cliques = [
                set(members)
                for size in range(1, len(relation) + 1)
                for members in combinations(range(len(relation)), size)
                if not any(relation[i, j] for i, j in combinations(members, 2))
            ]
            maximal = sorted(tuple(sorted(c)) for c in cliques if not any(c < other for other in cliques))
            texts = [re.findall(r"[a-z]\d*", text) for text in letters(relation)]
            names = sorted({name for text in texts for name in text})
            found = sorted(tuple(i for i, text in enumerate(texts) if name in text) for name in names)
            assert found == maximal, seed

    def test_ends(self) -> None:
        assert letters(np.zeros((0, 0), bool)) == ()
        assert letters(np.zeros((3, 3), bool)) == ("a", "a", "a")
        assert letters(~np.eye(3, dtype=bool)) == ("a", "b", "c")
        assert letters(~np.eye(28, dtype=bool))[-3:] == ("z", "a1", "b1")


class TestConsistentPairs:
    """maxT goes by differences as they are: what chance makes of pairs that vary much hides small consistent gains."""

    VALUES = random_values(3, 40, 4, spread=0.0)
    VALUES = np.column_stack((VALUES, VALUES[:, 0] + np.tile([0.004, 0.012], 20)))  # s4 is s0, a little better

    @pytest.mark.parametrize("baseline", [None, "s0"])
    def test_a_note_names_what_holm_on_t_finds(self, baseline: str | None) -> None:
        result = compare({"AP": matrix(self.VALUES)}, baseline=baseline).systems["AP"]
        ends = [(i, j) for i, j in combinations(range(5), 2) if baseline is None or i == 0]
        p = [stats.ttest_rel(self.VALUES[:, i], self.VALUES[:, j]).pvalue for i, j in ends]
        adjusted = dict(zip(ends, multipletests(p, method="holm")[1], strict=True))
        assert [pair for pair, each in adjusted.items() if each < 0.05] == [(0, 4)]
        assert result.family.pair("s4", "s0").p < 1e-4 and not result.family.is_significant.any()
        [note] = [each for each in result.warnings if each.startswith("Holm on t also finds")]
        names = "s0 v s4" if baseline is None else "s4 v s0"
        assert f"finds {names} (p = {adjusted[0, 4]:.2g}), with differences that vary less than others" in note

    def test_no_note_where_t_finds_no_more(self) -> None:
        for options in ({}, {"test": "t"}, {"procedure": "tukey"}):
            values = self.VALUES[:, :4] if not options else self.VALUES
            result = compare({"AP": matrix(values)}, **options).systems["AP"]
            assert not any("Holm on t also" in each for each in result.warnings)
