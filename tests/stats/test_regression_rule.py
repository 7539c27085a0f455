"""The rule of a gate: each part of it on either side, by naive computations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gainful.stats.regression_rule import assess_change, noise_of
from tests.together import together


def one_sided_p(differences):
    """Of all flips, those whose sum is at most the observed one; one tail."""
    sums = [math.fsum(s * d for s, d in zip(signs, differences, strict=True)) for signs in flips(len(differences))]
    return sum(total <= math.fsum(differences) + 1e-12 for total in sums) / len(sums)


def flips(n):
    return itertools.product((1, -1), repeat=n)


def changed(differences, margin=0.01, mean=0.5, **how):
    baseline = np.full(len(differences), mean)
    return assess_change(baseline, baseline + np.array(differences), margin, **how)


def test_p_is_that_of_all_flips():
    differences = [-0.05, -0.02, 0.01, -0.04, 0.03, -0.06, -0.01, -0.02]
    found = changed(differences)
    assert found.p_fell == pytest.approx(one_sided_p(differences), abs=1e-12)
    assert changed([-d for d in differences]).p_rose == pytest.approx(found.p_fell, abs=1e-12)


def test_significant_drop_below_a_quarter_of_the_margin_passes():
    differences = np.linspace(-0.003, -0.001, 40)  # mean -0.002
    assert changed(differences, margin=0.0079).verdict == "regression"
    assert changed(differences, margin=0.0081).verdict == "pass"


def test_large_drop_counts_without_a_test_beyond_chance():
    # One query of 40 collapsed: no test finds it, the mean fell by 0.0125.
    differences = [-0.5] + [0.0] * 39
    calm, noisy = changed(differences, margin=0.01, spread=0.02), changed(differences, margin=0.01, spread=0.05)
    assert calm.p_fell > 0.01
    assert (calm.verdict, noisy.verdict) == ("regression", "warning")
    for spread, found in ((0.02, calm), (0.05, noisy)):
        assert found.noise == pytest.approx(stats.norm.ppf(0.99) * spread / math.sqrt(40))
    # Below the margin it does not count, however calm.
    assert changed(differences, margin=0.0126, spread=0.0).verdict == "warning"


def test_own_spread_stands_in():
    generator = np.random.default_rng(0)
    differences = generator.normal(0, 0.1, 30)
    error = float(np.std(differences, ddof=1)) / math.sqrt(30)
    assert changed(differences).noise == pytest.approx(stats.t.ppf(0.99, 29) * error)


@together("n", [31, 50, 200, 5000])
@together("level", [0.01, 0.001])
def test_quantile_without_scipy_is_students(n, level):
    differences = np.random.default_rng(n).normal(0, 0.1, n)
    found = changed(differences, level=level)
    assert found.noise == pytest.approx(stats.t.ppf(1 - level, n - 1) * found.spread / math.sqrt(n), rel=1e-4)


def test_one_query_shows_nothing():
    alone = changed([-0.4])
    assert (alone.verdict, alone.noise, alone.is_too_small) == ("warning", math.inf, True)
    # A spread that is known makes the difference.
    assert changed([-0.4], spread=0.01).verdict == "regression"


def test_known_spread_and_weights():
    weights = np.array([1.9] * 10 + [0.1] * 10)
    found = changed([0.01, -0.01] * 10, weights=weights, spread=0.1)
    assert found.noise == pytest.approx(noise_of(0.1, weights.sum() ** 2 / (weights**2).sum()))


def test_warning_where_the_margin_cannot_be_excluded():
    generator = np.random.default_rng(1)
    differences = generator.normal(0, 0.02, 10_000)
    differences -= differences.mean()
    found = changed(differences, margin=0.01)
    limit = stats.t.ppf(0.95, 9_999) * np.std(differences, ddof=1) / 100
    assert found.most_dropped == pytest.approx(limit, rel=1e-6)
    assert changed(differences, margin=limit * 1.01).verdict == "pass"
    assert changed(differences, margin=limit * 0.99).verdict == "warning"


def test_warning_by_the_upper_limit_where_lower_is_better():
    """By the 90 % interval of scipy a rise by the margin cannot be excluded, a fall by as much can."""
    differences = np.random.default_rng(3).normal(0.0, 0.1, 6_000)
    differences += 0.002 - differences.mean()
    low, high = stats.t.interval(0.9, 5_999, 0.002, stats.sem(differences))
    margin = 0.003
    assert -margin < low < 0 and high > margin
    found = changed(differences, margin=margin, better="lower")
    assert (found.verdict, found.most_dropped) == ("warning", pytest.approx(high, rel=1e-6))
    assert changed(differences, margin=margin).verdict == "pass"
    assert changed(-differences, margin=margin, better="lower").verdict == "pass"


def test_lower_is_better():
    up = changed([0.05] * 20, better="lower")
    assert (up.verdict, up.drop) == ("regression", pytest.approx(0.05))
    assert changed([-0.05] * 20, better="lower").is_improvement


def test_nothing_changed_passes():
    found = changed([0.0] * 30)
    assert (found.verdict, found.p_fell, found.p_rose, found.drop) == ("pass", 1.0, 1.0, 0.0)


def test_weights_decide_which_queries_count():
    differences = [-0.2] * 10 + [0.2] * 10
    weights = np.array([1.9] * 10 + [0.1] * 10)
    assert changed(differences, weights=weights).drop == pytest.approx(0.2 * 1.9 / 2 - 0.2 * 0.1 / 2)
    assert changed(differences, weights=weights).verdict == "regression"
    assert changed(differences).drop == 0


def test_level_of_groups():
    differences = [-0.05, -0.02, -0.01, -0.04, -0.03, -0.06, -0.01]  # p = 1/128
    assert changed(differences, margin=0.04, spread=0.2).verdict == "regression"
    assert changed(differences, margin=0.04, spread=0.2, level=0.005).verdict == "warning"


def test_repeats_add_what_varies_from_run_to_run():
    generator = np.random.default_rng(2)
    n, runs = 200, 4
    baseline = generator.random(n)
    shifts = np.array([-0.02, 0.01, -0.015, 0.0])
    new = baseline[:, None] + shifts + generator.normal(0, 0.005, (n, runs))
    found = assess_change(baseline, new, 0.005)
    # The variance of a two-way layout: runs, and what is left.
    means = new.mean(axis=0)
    residual = new - means - new.mean(axis=1)[:, None] + new.mean()
    of_runs = np.var(means, ddof=1) - (residual**2).sum() / ((n - 1) * (runs - 1)) / n
    differences = new.mean(axis=1) - baseline
    of_queries = np.var(differences, ddof=1) / n
    of_runs *= 1 + 1 / runs
    df = (of_queries + of_runs) ** 2 / (of_queries**2 / (n - 1) + of_runs**2 / (runs - 1))
    t = differences.mean() / math.sqrt(of_queries + of_runs)
    assert found.p_fell == pytest.approx(stats.t.cdf(t, df), rel=1e-9)
    # One of the runs alone looks like a clear regression; all of them do not.
    assert assess_change(baseline, new[:, 0], 0.005).verdict == "regression"
    assert found.verdict == "warning"
