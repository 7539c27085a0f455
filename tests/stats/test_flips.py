"""Flips, fixed point, and the interval that inverts the randomisation test."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from gainful import UsageError
from gainful.kernel.exact_sums import subset_sums
from gainful.stats.paired_tests import AllSubsets, FlippedSubsets
from gainful.stats.repeatable import (
    BLOCK,
    Flips,
    exact_extremes,
    least_count,
    on_flip_grid,
    on_grid,
    settle,
    settled_differences,
)
from tests.together import together


def exact_p(differences: Iterable[float], shift: Fraction = Fraction(0)) -> Fraction:
    """All signs one by one, in fractions of the printed decimals."""
    fractions = [Fraction(repr(float(d))) - shift for d in differences]
    unit = math.lcm(*(value.denominator for value in fractions))
    values = [int(value * unit) for value in fractions]
    observed = abs(sum(values))
    sums = [0]
    for value in values:
        sums = [total + signed for total in sums for signed in (value, -value)]
    return Fraction(sum(abs(total) >= observed for total in sums), len(sums))


def decimals(seed: int, n: int, zeros: int = 0, places: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    values = np.round(generator.normal(0.2, 0.4, n), places)
    values[generator.permutation(n)[:zeros]] = 0.0
    return values + 0.0


class TestSettled:
    def test_what_is_equal_becomes_equal(self) -> None:
        assert settle(np.array([0.1 + 0.2, 0.3])).tolist() == [0.3, 0.3]
        assert settled_differences(np.array([0.7 + 0.1, 0.8]), np.array([0.8, 0.7 + 0.1])).tolist() == [0.0, 0.0]

    def test_twelve_places_are_counted_from_the_scale(self) -> None:
        values = np.array([0.1234567890123456, 0.9])
        assert settle(values)[0] == 0.123456789012
        for scale in (1e-9, 1e6):
            assert settle(values * scale)[0] == pytest.approx(0.123456789012 * scale, rel=1e-15)
        # Thirds are not decimals: rounding scores first would make 2/3 - 1/3 another number than 1/3 - 0.
        thirds = settled_differences(np.array([2 / 3, 1 / 3]), np.array([1 / 3, 0.0]))
        assert thirds[0] == thirds[1]

    def test_nothing_is_left_as_it_is(self) -> None:
        assert settle(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
        assert settle(np.zeros(0)).size == 0
        assert not np.signbit(settled_differences(np.array([0.1]), np.array([0.1]))).any()

    def test_the_grid_is_as_defined_and_exact_in_any_order(self) -> None:
        generator = np.random.default_rng(1)
        for n, scale in ((50, 1.0), (249, 0.3), (5000, 1.0), (30, 1e5), (50, 1e-9)):
            d = generator.normal(0, scale, n)
            fixed = on_grid(d)
            # Relative to the largest: what is measured in another unit is rounded alike.
            k = math.floor(min(44, 52 - math.log2(n)) - math.log2(np.abs(d).max()))
            assert fixed.unit == 2.0**-k
            assert (fixed.steps == np.rint(d * 2.0**k)).all()
            exact = sum(int(step) for step in fixed.steps)
            for _ in range(5):
                assert int(np.sum(generator.permutation(fixed.steps))) == exact

    def test_counts_are_decided_as_p_is(self) -> None:
        for share in (0.05, 0.01, 0.03, 0.1, 1 / 3):
            for total in range(1, 400):
                count = least_count(share, total)
                assert count / total >= share
                assert count == 0 or (count - 1) / total < share


class TestFlips:
    def test_philox_with_the_key_of_seed_and_block(self) -> None:
        n, seed = 70, 9
        flips = Flips(n, 2_500, seed)
        sums = np.concatenate(list(flips.sums(np.eye(n))))
        assert sums.shape == (2_500, n)
        for block in range(3):
            raw = np.random.Philox(key=np.array([seed, block], np.uint64)).random_raw(BLOCK * 2).reshape(BLOCK, 2)
            for draw in (0, 1, 499):
                bits = [(int(raw[draw, q // 64]) >> (q % 64)) & 1 for q in range(n)]
                assert sums[block * BLOCK + draw].tolist() == bits

    def test_fewer_draws_are_the_first_ones(self) -> None:
        steps = np.arange(30.0)[:, np.newaxis]
        many, few = (np.concatenate(list(Flips(30, draws).sums(steps))) for draws in (5_000, 1_300))
        assert (many[:1_300] == few).all()

    def test_every_way_once_where_there_are_no_more_than_draws(self) -> None:
        flips = Flips(11, 2_048)
        assert flips.enumerated
        rows = np.concatenate(list(flips.sums(np.eye(11))))
        assert len({tuple(row) for row in rows.tolist()}) == 2_048
        assert not Flips(11, 2_047).enumerated
        assert not Flips(21, 10**7).enumerated

    def test_a_seed_is_a_seed(self) -> None:
        steps = np.eye(40)
        first, again, other = (np.concatenate(list(Flips(40, 100, seed).sums(steps))) for seed in (0, 0, 1))
        assert (first == again).all()
        assert (first != other).any()
        assert 0.45 < first.mean() < 0.55

    def test_p_counts_the_observed_signs_once(self) -> None:
        assert Flips(30, 999).p(np.array([0, 49, 999])).tolist() == [0.001, 0.05, 1.0]
        assert Flips(3, 999).p(np.array([2, 8])).tolist() == [0.25, 1.0]

    @together(("draws", "seed"), [(0, 0), (10, -1), (10, 2**63), (10_000_001, 0)])
    def test_refusals(self, draws: int, seed: int) -> None:
        with pytest.raises(UsageError, match="expected"):
            Flips(10, draws, seed)

    def test_scores_on_the_grid_have_exact_sums(self) -> None:
        generator = np.random.default_rng(0)
        for scale in (1e-8, 1.0, 1e7):
            scores = generator.random((300, 3)) * scale
            columns = on_flip_grid(scores)
            exact = [sum(map(int, column)) for column in columns.steps.T.tolist()]
            assert [int(total) for total in columns.steps.sum(axis=0)] == exact
            assert max(abs(total) for total in exact) <= 2**51
            assert np.abs(columns.steps * columns.unit - scores).max() <= columns.unit / 2


class TestExactP:
    @together("seed", range(12))
    def test_is_that_of_all_signs_one_by_one(self, seed: int) -> None:
        d = decimals(seed, 9, zeros=seed % 4)
        count, of = exact_extremes(d)
        assert Fraction(count, of) == exact_p(d)
        assert of == 2 ** np.count_nonzero(d)

    def test_zeros_and_nothing(self) -> None:
        assert exact_extremes(np.zeros(7)) == (1, 1)
        assert exact_extremes(np.array([0.3])) == (2, 2)
        assert exact_extremes(np.array([0.3, -0.3])) == (4, 4)
        assert exact_extremes(np.full(20, 0.1)) == (2, 2**20)

    def test_draws_estimate_the_subset_sum_distribution_of_decimals(self) -> None:
        # On a grid of decimals the exact p of any number of queries is a convolution (Pagano & Tritchler 1983).
        for seed in range(4):
            tenths = np.random.default_rng(seed).integers(-6, 9, 45)
            ways = {0: 1}
            for value in tenths.tolist():
                moved: dict[int, int] = {}
                for total, count in ways.items():
                    for sign in (1, -1):
                        moved[total + sign * value] = moved.get(total + sign * value, 0) + count
                ways = moved
            observed = abs(int(tenths.sum()))
            exact = sum(count for total, count in ways.items() if abs(total) >= observed) / sum(ways.values())
            scores = np.stack((tenths / 10 + 0.3, np.full(45, 0.3)), axis=1)
            flips = Flips(45, 20_000, seed)
            p = float(flips.p(np.array(FlippedSubsets.of(on_flip_grid(scores), flips).extreme)))
            assert abs(p - exact) < 5 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4


class TestInvertedInterval:
    @together("zeros", [0, 2])
    @together("seed", range(2))
    def test_limits_are_where_the_exact_test_stops_rejecting(self, seed: int, zeros: int) -> None:
        d = decimals(seed, 7, zeros=zeros, places=2)
        found = AllSubsets.of(d).interval(0.2)
        # The means of all subsets, by brute force; the limits are the outermost that the shifted test keeps.
        fractions = [Fraction(repr(value)) for value in d.tolist()]
        means = {
            sum(chosen) / len(chosen) for size in range(1, 8) for chosen in itertools.combinations(fractions, size)
        }
        kept = [mean for mean in means if exact_p(d.tolist(), mean) >= Fraction(1, 5)]
        assert found.low == pytest.approx(float(min(kept)), abs=1e-12)
        assert found.high == pytest.approx(float(max(kept)), abs=1e-12)

    @together("seed", range(30))
    def test_draws_that_flip_nothing_count_for_every_shift(self, seed: int) -> None:
        # 6 queries and 63 draws, not all 64 ways: some draws flip nothing, or everything.
        d = np.random.default_rng(seed).normal(0.8, 1, 6)
        scores, flips = np.stack((d, np.zeros(6)), axis=1), Flips(6, 63, seed)
        subsets = FlippedSubsets.of(on_flip_grid(scores), flips)
        flipped = np.concatenate(list(flips.sums(np.eye(6))))
        for alpha in (0.05, 0.1, 0.3):
            found = subsets.interval(alpha)
            assert (float(flips.p(np.array(subsets.extreme))) < alpha) == (0.0 not in found)
            for limit, outward in ((found.low, -1e-9), (found.high, 1e-9)):
                if math.isinf(limit):
                    continue
                kept = []
                for shift in (limit - outward, limit + outward):
                    sums = (1 - 2 * flipped) @ (d - shift)
                    extreme = np.count_nonzero(np.abs(sums) >= abs((d - shift).sum()) - 1e-12)
                    kept.append((extreme + 1) / 64 >= alpha)
                assert kept == [True, False]

    def test_too_few_queries_have_no_limits(self) -> None:
        found = AllSubsets.of(np.array([0.1, 0.2, 0.3, 0.4, 0.5])).interval(0.05)
        assert (found.low, found.high) == (-math.inf, math.inf)
        assert not found.is_bounded
        assert AllSubsets.of(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])).interval(0.05).is_bounded

    @together("zeros", [0, 3])
    @together("seed", range(4))
    def test_equal_differences_one_by_one_or_by_their_number(self, seed: int, zeros: int) -> None:
        d = np.concatenate((np.random.default_rng(seed).choice([-0.2, -0.1, 0.1, 0.2, 0.3], 11), np.zeros(zeros)))
        found = AllSubsets.of(d)
        assert (found.count, found.zeros) == (2**11, zeros)
        tenths = np.rint(10 * d)
        sums, sizes = subset_sums(tenths), subset_sums(np.ones(d.size))
        means = np.sort(sums[1:] / sizes[1:])
        place = math.ceil(0.05 * sums.size / 2) - 1
        interval = found.interval(0.05)
        assert 10 * interval.low == pytest.approx(means[place - 1], abs=1e-11)
        assert 10 * interval.high == pytest.approx(means[-place], abs=1e-11)
        critical = np.sort(np.abs(tenths.sum() - 2 * sums))[-math.ceil(0.05 * sums.size)]
        assert 10 * found.critical(0.05) == pytest.approx(critical, abs=1e-11)

    def test_equal_differences_are_not_enumerated(self) -> None:
        """All 2^20 subsets of 20 differences would take a second, most of them again and again the same."""
        d = np.concatenate((np.random.default_rng(0).choice([-0.2, -0.1, 0.1, 0.2, 0.3], 20), np.zeros(5)))
        found = AllSubsets.of(d)
        assert found.count == 2**20
        assert found.sums.size <= 5**5  # four of each kind at most make five numbers of them
        assert 2 ** np.unique(np.linspace(0.1, 0.9, 9)).size == AllSubsets.of(np.linspace(0.1, 0.9, 9)).sums.size


_SAME_BYTES = """
import hashlib, os, sys
import numpy as np
from gainful.stats.families import SystemsPlan, families_of
from gainful.evaluation.score_matrix import ScoreMatrix
from tests.stats.two_systems import compare_pair
generator = np.random.default_rng(0)
values = np.round(generator.random((60, 6)), 4)
names = [f"q{i}" for i in range(60)]
order = list(range(60)) if sys.argv[1] == "forward" else list(reversed(range(60)))
matrix = ScoreMatrix.of("AP", {f"s{j}": {names[i]: values[i, j] for i in order} for j in range(6)})
[found] = families_of([matrix], SystemsPlan(draws=2000))
pair = compare_pair(values[order, 0], values[order, 1], [names[i] for i in order], draws=3000)
digest = hashlib.sha256()
for array in (found.p, found.adjusted, found.half_width, found.difference, found.means):
    digest.update(array.tobytes())
print(digest.hexdigest(), found.threshold, pair.p, pair.interval, pair.effect, pair.sd, pair.for_system)
"""


def test_the_same_bytes_for_any_threads_and_any_order_of_queries() -> None:
    outputs = set()
    for threads, order in (("1", "forward"), ("4", "backward")):
        environment = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        command = [sys.executable, "-c", _SAME_BYTES, order]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
        outputs.add(done.stdout)
    assert len(outputs) == 1
