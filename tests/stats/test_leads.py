"""Who is shown to be ahead, and where two settings show the opposite."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gainful.stats.stability import Leads
from tests.together import together


@together(("queries", "systems", "grid"), [(12, 5, 0), (30, 8, 4), (2, 3, 0), (40, 2, 2)])
def test_means_by_paired_t_tests_and_holm(queries: int, systems: int, grid: int) -> None:
    """Scores on a grid are tied in many queries."""
    draw = np.random.default_rng(queries)
    scores = draw.random((queries, systems)) + np.linspace(0, 0.5, systems)
    if grid:
        scores = np.round(scores * grid) / grid
    found = Leads.by_means(scores)
    pairs = list(combinations(range(systems), 2))
    p = [float(stats.ttest_rel(scores[:, i], scores[:, j]).pvalue) for i, j in pairs]
    assert found.shown.tolist() == multipletests(p, 0.05, "holm")[0].tolist()
    means = scores.mean(axis=0)
    assert found.first_leads.tolist() == [bool(means[i] > means[j]) for i, j in pairs]


def test_a_constant_difference_is_shown_and_none_is_not() -> None:
    found = Leads.by_means(np.array([[0.1, 0.3, 0.1]] * 4))
    assert found.shown.tolist() == [True, False, True]
    assert Leads.by_means(np.array([[0.1, 0.3]])).shown.tolist() == [False]  # one query shows nothing


def test_pairs_of_two_settings() -> None:
    """1: the first is ahead, -1: the second, 0: not significant."""
    one, other = (Leads(np.array(signs) != 0, np.array(signs) > 0) for signs in ([1, 1, -1, 1, 0], [1, -1, 0, 0, 1]))
    assert one.also_in(other).tolist() == [True, False, False, False, False]
    assert one.reversed_in(other).tolist() == [False, True, False, False, False]
    assert one.not_in(other).tolist() == [False, True, True, True, False]
    assert one.number == 4
