"""Bands that hold at all places at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gainful.stats.repeatable import simultaneous_reach, stream


def walks(random: np.random.Generator, queries: int, places: int) -> np.ndarray:
    """Differences of curves: neighbouring places are alike, and a query is far from the others at all of them."""
    return np.cumsum(random.standard_t(5, (queries, places)), axis=1) / np.arange(1, places + 1)


def test_against_a_loop_over_draws_and_places() -> None:
    values = walks(np.random.default_rng(1), 9, 4)
    signs = stream(3, 0).integers(0, 2, (150, 9)) * 2 - 1
    away = values - values.mean(axis=0)
    largest = []
    for draw in signs:
        t = []
        for column in away.T:
            flipped = [float(sign * value) for sign, value in zip(draw, column, strict=True)]
            t.append(abs(float(stats.ttest_1samp(flipped, 0.0).statistic)))
        largest.append(max(t))
    critical = sorted(largest)[math.ceil(151 * 0.9) - 1]
    expected = critical * stats.sem(values, axis=0)
    assert simultaneous_reach(values, 150, 3, 0.9) == pytest.approx(expected, rel=1e-9)


def test_it_holds_at_all_places_as_often_as_it_says() -> None:
    """Of 300 samples of curves around 0; single t intervals fail at some place far more often."""
    random = np.random.default_rng(5)
    held = single = 0
    for sample in range(300):
        values = walks(random, 25, 30)
        reach = simultaneous_reach(values, 400, sample, 0.95)
        assert reach is not None
        mean, error = values.mean(axis=0), stats.sem(values, axis=0)
        held += bool((np.abs(mean) <= reach).all())
        single += bool((np.abs(mean) <= stats.t.ppf(0.975, 24) * error).all())
    assert 0.92 <= held / 300 <= 0.98  # 0.95 +- 2.5 standard errors
    assert single / 300 < 0.88


def test_what_cannot_vary_and_what_is_too_few() -> None:
    assert simultaneous_reach(np.array([[0.5, 0.2]] * 3), 100, 0, 0.95).tolist() == [0.0, 0.0]  # type: ignore[union-attr]
    assert simultaneous_reach(np.array([[0.5, 0.2]]), 100, 0, 0.95) is None
    assert simultaneous_reach(np.array([[0.5], [0.2]]), 100, 0, 0.95) is None  # half of all flips make any t
    values = np.random.default_rng(0).random((6, 3))
    values[:, 1] = 0.25
    reach = simultaneous_reach(values, 500, 0, 0.95)
    assert reach is not None and reach[1] == 0 and min(reach[0], reach[2]) > 0
