"""Yuen's test of trimmed means, against a computation by hand."""

from __future__ import annotations

import math
from statistics import mean

import numpy as np
import pytest
from scipy import stats

from tests.stats.two_systems import compare_pair
from tests.together import together


def skewed(seed: int, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.round(np.random.default_rng(seed).gamma(0.7, 0.2, n) - 0.05, 4)


def naive(differences: list[float]) -> tuple[float, float, int]:
    """Trimmed mean, its error and degrees of freedom, step by step as Yuen has them."""
    ordered = sorted(differences)
    g = len(ordered) // 5
    h = len(ordered) - 2 * g
    winsorised = [ordered[g]] * g + ordered[g : g + h] + [ordered[g + h - 1]] * g
    ssd = sum((value - mean(winsorised)) ** 2 for value in winsorised)
    return mean(ordered[g : g + h]), math.sqrt(ssd / (h * (h - 1))), h - 1


@together("n", [2, 4, 5, 9, 10, 11, 14, 25, 50, 101])
def test_against_a_computation_by_hand(n: int) -> None:
    d = skewed(n, n)
    middle, error, df = naive(d.tolist())
    found = compare_pair(d, np.zeros(n), test="yuen", alpha=0.1)
    assert found.test.statistic == pytest.approx(middle / error, rel=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(middle / error), df), rel=1e-9)
    reach = stats.t.ppf(0.95, df) * error
    assert (found.interval.low, found.interval.high) == pytest.approx((middle - reach, middle + reach), abs=1e-11)
    assert found.interval.method == "yuen" and found.direction == pytest.approx(middle)


def test_below_five_queries_it_is_students() -> None:
    a, b = [0.5, 0.7, 0.4, 0.9], [0.4, 0.5, 0.1, 0.3]
    by_t, by_yuen = (compare_pair(a, b, test=test) for test in ("t", "yuen"))
    assert by_yuen.p == by_t.p and by_yuen.interval.low == pytest.approx(by_t.interval.low, abs=1e-15)
    assert compare_pair([0.3], [0.1], test="yuen").p == 1.0


def test_one_failing_query_does_not_decide() -> None:
    d = np.append(np.linspace(0.02, 0.2, 19), -2.5)
    by_t, by_yuen = (compare_pair(d, np.zeros(20), test=test) for test in ("t", "yuen"))
    assert by_t.verdict == "inconclusive" and by_yuen.verdict == "better"
    assert by_yuen.difference < 0 and by_yuen.is_against_mean  # the mean is worse, the middle better


def test_what_is_said() -> None:
    d = np.append(np.linspace(0.02, 0.2, 19), -2.5)
    found = compare_pair(d, np.zeros(20), test="yuen")
    assert any("smallest fifth is 0; the interval is for the trimmed mean difference" in w for w in found.warnings)


@pytest.mark.parametrize("most", [0.0, 0.1])
def test_a_middle_of_equal_differences_is_no_ground(most: float) -> None:
    found = compare_pair([most] * 16 + [0.3, 0.2, 0.4, 0.5], [0.0] * 20, test="yuen", margin=0.2)
    assert found.p == 1.0 and found.verdict == "inconclusive" and not found.interval.is_bounded
    assert any("test has no spread" in warning for warning in found.warnings)
