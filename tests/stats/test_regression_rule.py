"""The rule of a gate: each part of it on either side, by naive computations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gainful.stats.regression_rule import assess_change, least_shown


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


def test_large_drop_needs_an_interval_without_no_change():
    # So many of 40 queries fall by half and none rises: the share of all flips that is as extreme is 2^-fallen.
    for fallen, clause in ((4, None), (5, None), (6, "margin"), (7, "test")):
        differences = [-0.5] * fallen + [0.0] * (40 - fallen)
        found = changed(differences, margin=0.05)
        assert found.p_fell == pytest.approx(2.0**-fallen, abs=1e-12)
        assert (found.clause, found.verdict) == (clause, "regression" if clause else "warning")
    # Below the margin the second level does not count.
    assert changed([-0.5] * 6 + [0.0] * 34, margin=0.0751).clause is None


def test_no_regression_where_p_is_above_a_fortieth():
    """A harmless change five times as large as accepted ones: its mean fell by 4%, by chance."""
    differences = np.random.default_rng(5).normal(0, 0.2, 200)
    differences += -0.02 - differences.mean()
    found = changed(differences, margin=0.01)
    p = stats.ttest_1samp(differences, 0, alternative="less").pvalue
    assert found.p_fell == pytest.approx(p, abs=0.01) and p > 0.05
    assert (found.clause, found.verdict) == (None, "warning")


def test_harmless_changes_of_any_size_rarely_raise_an_alarm():
    """By both clauses at most .025: of 1,000 draws at most 40, which has a probability of .002 beyond it."""
    for seed, spread in enumerate((0.05, 0.13, 0.25, 0.5, 0.8)):
        generator = np.random.default_rng(seed)
        draws = generator.normal(0, spread, (1000, 50)) * 0.5
        margin = max(0.01, least_shown(0.065, 50))
        assert sum(changed(each, margin=margin, draws=500).verdict == "regression" for each in draws) <= 40


def test_what_queries_can_show():
    assert least_shown(0.13, 200) == pytest.approx(stats.norm.ppf(0.99) * 0.13 / math.sqrt(200))
    # Of 0 and 1, six of them are above it and five are not.
    assert 5 / 40 < least_shown(0.2, 40, are_flips=True) < 6 / 40
    assert least_shown(0.2, 4000, are_flips=True) == pytest.approx(stats.norm.ppf(0.99) * 0.2 / math.sqrt(4000))


def test_few_queries_show_nothing():
    for n, is_too_small in ((1, True), (5, True), (6, False)):
        found = changed([-0.4] * n)
        assert (found.is_too_small, found.verdict) == (is_too_small, "warning" if is_too_small else "regression")


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
    """By the 90% interval of scipy a rise by the margin cannot be excluded, a fall by as much can."""
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
    assert changed(differences, margin=0.04).clause == "test"
    assert changed(differences, margin=0.04, level=0.005).verdict == "warning"
    # The other level is divided by as much: .0125, above 1/128.
    assert changed(differences, margin=0.03, level=0.005).clause == "margin"
    assert changed(differences, margin=0.03, level=0.0025).clause is None


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
