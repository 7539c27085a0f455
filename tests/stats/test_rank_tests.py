"""Tests of groups by ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kruskal, mannwhitneyu

from gainful.errors import UsageError
from gainful.stats.rank_tests import compare_groups, kruskal_wallis, mann_whitney
from tests.together import together


class TestGroups:
    @together("levels", [1000, 5])
    @together("seed", range(5))
    def test_kruskal_wallis_is_that_of_scipy(self, seed: int, levels: int) -> None:
        rng = np.random.default_rng(seed)
        groups = [rng.integers(0, levels, size) / levels for size in (6, 9, 4)]
        found, theirs = kruskal_wallis(groups), kruskal(*groups)  # type: ignore[arg-type]
        assert (found.h, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
        assert (found.df, found.sizes) == (2, (6, 9, 4))

    @together(
        ("sizes", "levels", "method"),
        [((3, 8), 10**6, "exact"), ((8, 8), 10**6, "exact"), ((9, 8), 10**6, "asymptotic"), ((6, 7), 4, "asymptotic")],
    )
    @together("seed", range(5))
    def test_mann_whitney_is_that_of_scipy(self, seed: int, sizes: tuple[int, int], levels: int, method: str) -> None:
        rng = np.random.default_rng(seed)
        one, other = (rng.integers(0, levels, size) / levels for size in sizes)
        found = mann_whitney(one.tolist(), other.tolist())
        theirs = mannwhitneyu(one, other, method=method)
        assert (found.u, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
        assert found.is_exact == (method == "exact")

    def test_float_ties_are_ties(self) -> None:
        assert not mann_whitney([0.1 + 0.2, 0.5], [0.3, 0.6]).is_exact

    def test_nothing_differs(self) -> None:
        assert mann_whitney([1, 1, 1], [1, 1]).p == 1
        assert (kruskal_wallis([[1, 1], [1, 1], [1]]).h, kruskal_wallis([[1, 1], [1, 1], [1]]).p) == (0, 1)
        assert mann_whitney([1], [2]).p == 1

    def test_named_groups(self) -> None:
        found = compare_groups({"best": [3, 4], "middle": [2, 2.5], "worst": [1, 0]})
        assert found.overall.medians == (3.5, 2.25, 0.5)
        assert [(a, b, pair.u) for a, b, pair in found.pairs] == [
            ("best", "middle", 4),
            ("best", "worst", 4),
            ("middle", "worst", 4),
        ]

    def test_refuses(self) -> None:
        with pytest.raises(UsageError, match="empty"):
            mann_whitney([], [1])


class TestExactMannWhitney:
    def test_not_where_values_are_equal(self) -> None:
        assert not mann_whitney([1, 2, 3], [3, 4], math.inf).is_exact
        assert not mann_whitney([1, 1, 3], [4, 5], math.inf).is_exact

    def test_not_where_it_would_take_long(self) -> None:
        assert not mann_whitney([float(i) for i in range(200)], [0.5 + i for i in range(200)], math.inf).is_exact
