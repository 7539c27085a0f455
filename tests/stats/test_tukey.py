"""Tukey's test on paired scores and its randomised form; the studentised range against scipy, Student's t, tables."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr
from scipy.stats import studentized_range, tukey_hsd

from gainful.errors import UsageError
from gainful.stats.tukey import randomised_tukey, studentised_range_critical, studentised_range_sf, tukey
from tests.together import together

Matrix = NDArray[np.float64]


def random_scores(seed: int, queries: int = 20, systems: int = 4) -> Matrix:
    rng = np.random.default_rng(seed)
    return np.asarray(
        rng.normal(size=(queries, 1)) + 0.4 * rng.normal(size=systems) + rng.normal(size=(queries, systems))
    )


class TestTukey:
    def test_by_its_definition(self) -> None:
        scores = random_scores(0)
        centred = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
        mse = (centred**2).sum() / (3 * 19)
        found = tukey(scores)
        means = scores.mean(axis=0)
        for pair, (i, j) in enumerate(combinations(range(len(means)), 2)):
            q = abs(means[i] - means[j]) / math.sqrt(mse / 20)
            assert found.statistic[pair] == pytest.approx(q)
            assert found.p[pair] == pytest.approx(studentized_range.sf(q, 4, 57), abs=1e-8)
        assert found.critical == pytest.approx(studentized_range.isf(0.05, 4, 57) * math.sqrt(mse / 20), rel=1e-6)

    def test_is_not_the_one_for_independent_samples(self) -> None:
        scores = random_scores(2) + 5 * np.arange(20)[:, np.newaxis]
        found = tukey(scores)
        unpaired = tukey_hsd(*scores.T).pvalue[np.triu_indices(4, 1)]
        assert (found.p < unpaired).all()
        assert (found.p < unpaired - 0.3).sum() == 3  # the pairs of the one system that stands apart
        assert tukey(random_scores(2)).statistic == pytest.approx(found.statistic, abs=1e-8)

    def test_threshold_and_p_agree(self) -> None:
        found = tukey(random_scores(3, 25, 12))
        assert ((found.p <= 0.05) == (np.abs(found.difference) >= found.critical)).all()
        assert 0 < np.count_nonzero(found.p <= 0.05) < found.p.size

    def test_nothing_varies(self) -> None:
        assert tukey(np.full((4, 3), 0.1)).p.tolist() == [1, 1, 1]
        assert tukey(np.array([[0.1, 0.2]])).p.tolist() == [1]
        constant_apart = tukey(np.array([[0.1, 0.1, 0.3]]) + np.array([[0.1], [0.7], [0.3]]))
        assert (constant_apart.p == [1, constant_apart.p[1], constant_apart.p[1]]).all()
        assert 0 < constant_apart.p[1] < 1e-300
        assert ((constant_apart.p < 0.05) == (np.abs(constant_apart.difference) >= constant_apart.critical)).all()
        assert tukey(np.ones((3, 1))).p.size == 0


class TestRandomised:
    def test_is_the_share_of_all_permutations(self) -> None:
        scores = np.array([[0.1, 0.4, 0.2], [0.3, 0.9, 0.1], [0.2, 0.25, 0.6], [0.1, 0.7, 0.5]])
        arranged = [list(permutations(row)) for row in scores]
        ranges = [np.ptp(np.sum(rows, axis=0)) for rows in product(*arranged)]
        found = randomised_tukey(scores, draws=40_000, seed=1)
        sums = scores.sum(axis=0)
        for pair, (i, j) in enumerate(combinations(range(3), 2)):
            exact = np.mean(np.array(ranges) >= abs(sums[i] - sums[j]) - 1e-9)
            assert found.p[pair] == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4)

    def test_every_arrangement_of_a_row_is_equally_likely(self) -> None:
        # With weights that tell all arrangements apart, the ranges have as many values as there are kinds of these.
        scores = np.array([[0.0, 1.0, 3.0], [0.0, 10.0, 30.0]])
        found = randomised_tukey(scores, draws=60_000)
        expected = [np.ptp(np.add(scores[0], row)) / 2 for row in permutations(scores[1])]
        values, counts = np.unique(found.ranges.round(9), return_counts=True)
        assert values.tolist() == sorted(set(expected))
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            share = expected.count(value) / 6
            assert abs(count / 60_000 - share) < 5 * math.sqrt(share * (1 - share) / 60_000)

    def test_a_constant_a_query_changes_nothing(self) -> None:
        scores = np.round(random_scores(6), 4)
        shifted = scores + 100 * np.arange(20)[:, np.newaxis]
        assert (randomised_tukey(scores, draws=2000).p == randomised_tukey(shifted, draws=2000).p).all()

    def test_ties_count(self) -> None:
        # One query: any permutation has the same range, so that p is 1, whatever the last bits of the sums are.
        assert randomised_tukey(np.array([[0.1 + 0.2, 0.7]]), draws=99).p.tolist() == [1]
        # Of 4 queries that differ by 0.1 each, half of the flips leave the pair as far apart as it is with 1 in 8.
        found = randomised_tukey(np.array([[0.1, 0.2], [0.7, 0.8], [0.3, 0.4], [0.6, 0.7]]), draws=20_000)
        assert found.p[0] == pytest.approx(1 / 8, abs=0.012)

    def test_threads_and_order_of_systems(self) -> None:
        scores = random_scores(7, 12, 7)
        one = randomised_tukey(scores, draws=3500, seed=3, threads=1)
        for threads in (2, 4):
            other = randomised_tukey(scores, draws=3500, seed=3, threads=threads)
            assert other.ranges.tobytes() == one.ranges.tobytes()
        reversed_systems = randomised_tukey(scores[:, ::-1].copy(), draws=3500, seed=3)
        assert reversed_systems.ranges.tobytes() == one.ranges.tobytes()
        assert sorted(reversed_systems.p) == sorted(one.p)
        assert randomised_tukey(scores, draws=3500, seed=4).ranges.tobytes() != one.ranges.tobytes()

    def test_threshold_and_p_agree(self) -> None:
        for draws in (99, 999, 2000, 9999):
            found = randomised_tukey(random_scores(8, 25, 12), draws=draws)
            assert ((found.p < 0.05) == (np.abs(found.difference) >= found.critical)).all()
            assert 0 < np.count_nonzero(found.p < 0.05) < found.p.size
        assert randomised_tukey(random_scores(8), draws=10).critical == math.inf

    @together("parts", [10, 3])
    @together("draws", [99, 999])
    def test_a_pair_at_the_threshold_is_told_apart_and_none_below(self, parts: int, draws: int) -> None:
        # 11 queries in few parts: many ranges are equal, and equal to differences.
        rng = np.random.default_rng(parts)
        for seed in range(40):
            scores = np.clip(rng.integers(0, 4, (11, 5)) + np.arange(5), 0, 6) / parts
            found = randomised_tukey(scores, draws=draws, seed=seed)
            assert ((found.p < 0.05) == (np.abs(found.difference) >= found.critical)).all()
            # As large as the range that 5% of the draws reach is not enough.
            reached = found.ranges[draws - round(0.05 * (draws + 1)) + 1]
            assert reached < found.critical

    def test_degenerate(self) -> None:
        assert randomised_tukey(np.full((3, 3), 0.2), draws=50).p.tolist() == [1, 1, 1]
        assert randomised_tukey(np.full((3, 1), 0.2), draws=50).p.size == 0
        many = np.random.default_rng(0).random((2, 1100))  # more than the small keys can number
        assert randomised_tukey(many, draws=20).ranges.size == 20

    def test_monte_carlo_error(self) -> None:
        found = randomised_tukey(random_scores(9), draws=1000)
        assert found.error == pytest.approx(np.sqrt(found.p * (1 - found.p) / 1000))

    def test_refuses(self) -> None:
        with pytest.raises(UsageError, match="draws"):
            randomised_tukey(random_scores(0), draws=0)


@together(
    ("q", "systems", "df"),
    [
        (0.5, 3, 2),
        (3.0, 3, 2),
        (40.0, 3, 2),
        (3.5, 5, 196),
        (6.6, 5, 196),
        (4.0, 20, 10),
        (1.0, 20, 950),
        (5.5, 110, 27032),
        (4.0, 30, math.inf),
        (0.1, 4, math.inf),
    ],
)
def test_is_that_of_scipy(q: float, systems: int, df: float) -> None:
    found = studentised_range_sf(np.array([q]), systems, df)[0]
    assert found == pytest.approx(studentized_range.sf(q, systems, df), abs=1e-9)


@together("df", [1, 2, 5, 30, 1000, 1e6])
def test_two_systems_are_student_s_t(df: float) -> None:
    q = np.array([0.01, 0.7, 2.0, 3.5, 6.0, 9.0, 15.0])
    assert studentised_range_sf(q, 2, df) == pytest.approx(2 * stdtr(df, -q / math.sqrt(2)), rel=1e-7, abs=1e-11)


def test_two_systems_and_a_known_spread_are_normal() -> None:
    q = np.array([0.01, 1.0, 4.0, 10.0, 30.0])
    assert studentised_range_sf(q, 2) == pytest.approx(2 * ndtr(-q / math.sqrt(2)), rel=1e-9)


@together(
    ("systems", "df", "table"), [(2, 10, 3.151), (3, 10, 3.877), (5, 20, 4.232), (10, 60, 4.646), (20, math.inf, 5.012)]
)
def test_critical_values_of_the_tables(systems: int, df: float, table: float) -> None:
    critical = studentised_range_critical(0.05, systems, df)
    assert critical == pytest.approx(table, abs=0.0011)
    assert studentised_range_sf(np.array([critical]), systems, df)[0] == pytest.approx(0.05, rel=1e-9)


@together(("systems", "df"), [(2, 1), (5, 196), (110, 27032), (30, math.inf), (6, 5)])
def test_many_values_at_once_are_those_one_by_one(systems: int, df: float) -> None:
    q = np.linspace(0, 30, 801)
    together = studentised_range_sf(q, systems, df)
    assert together[::80] == pytest.approx(studentised_range_sf(q[::80], systems, df), rel=1e-8, abs=1e-10)
    assert (np.diff(together) <= 1e-10).all()


def test_ends() -> None:
    assert studentised_range_sf(np.array([0.0, math.inf, -1.0]), 4, 10).tolist() == [1, 0, 1]
    assert studentised_range_sf(np.zeros(0), 4, 10).size == 0
    assert studentised_range_sf(np.full(1000, 2.0), 4, 10) == pytest.approx(
        studentised_range_sf(np.array([2.0]), 4, 10)[0]
    )
