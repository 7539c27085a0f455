"""Yuen's test of trimmed means, against scipy's test of two samples and a computation by hand."""

from __future__ import annotations

import math
from statistics import mean

import numpy as np
import pytest
from scipy import stats

from gainful import InputError
from gainful.stats.paired_tests import PairedScores, trimmed_mean
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


@together("n", [5, 7, 20, 33, 64])
def test_against_scipy(n: int) -> None:
    """A second sample without spread adds nothing to the error; Welch's degrees of freedom are then those of one."""
    d = skewed(1000 + n, n)
    theirs = stats.ttest_ind(d, np.zeros(n), equal_var=False, trim=0.2)
    found = compare_pair(d, np.zeros(n), test="yuen")
    assert (found.p, found.test.statistic) == pytest.approx((theirs.pvalue, theirs.statistic), rel=1e-9)
    assert trimmed_mean(PairedScores(d, np.zeros(n))).mean == pytest.approx(stats.trim_mean(d, 0.2), rel=1e-12)


def test_below_five_queries_it_is_students() -> None:
    a, b = [0.5, 0.7, 0.4, 0.9], [0.4, 0.5, 0.1, 0.3]
    by_t, by_yuen = (compare_pair(a, b, test=test) for test in ("t", "yuen"))
    assert by_yuen.p == by_t.p and by_yuen.interval.low == pytest.approx(by_t.interval.low, abs=1e-15)


def test_one_failing_query_does_not_decide() -> None:
    d = np.append(np.linspace(0.02, 0.2, 19), -2.5)
    by_t, by_yuen = (compare_pair(d, np.zeros(20), test=test) for test in ("t", "yuen"))
    assert by_t.verdict == "cannot tell" and by_yuen.verdict == "better"
    assert by_yuen.difference < 0 and by_yuen.is_against_mean  # the mean is worse, the middle better


@together("seed", range(40))
def test_p_and_interval_never_disagree(seed: int) -> None:
    d = skewed(seed, 5 + seed) - 0.03
    found = compare_pair(d, np.zeros(d.size), test="yuen")
    assert (found.p < 0.05) == (0.0 not in found.interval)


def test_what_is_said() -> None:
    d = np.append(np.linspace(0.02, 0.2, 19), -2.5)
    found = compare_pair(d, np.zeros(20), test="yuen")
    assert any(
        "smallest fifth of them is 0; the interval is of the trimmed mean difference" in w for w in found.warnings
    )


@pytest.mark.parametrize("most", [0.0, 0.1])
def test_a_middle_of_equal_differences_is_no_ground(most: float) -> None:
    found = compare_pair([most] * 16 + [0.3, 0.2, 0.4, 0.5], [0.0] * 20, test="yuen", margin=0.2)
    assert found.p == 1.0 and found.verdict == "cannot tell" and not found.interval.is_bounded
    assert any("no spread to go by" in warning for warning in found.warnings)


def test_differences_that_are_all_equal_are_refused_as_by_students() -> None:
    for test in ("yuen", "t"):
        with pytest.raises(InputError, match=r"found 0\.1 on all 9 queries: there is no spread to go by"):
            compare_pair([0.5] * 9, [0.4] * 9, test=test)
        assert compare_pair([0.5] * 9, [0.5] * 9, test=test).p == 1.0
    assert compare_pair([0.3], [0.1], test="yuen").p == 1.0
