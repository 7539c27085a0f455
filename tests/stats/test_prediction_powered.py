"""Prediction-powered means: by hand, against ppi-python and plain computations, and in limiting cases."""

from __future__ import annotations

import math
from statistics import linear_regression, mean, variance

import numpy as np
import pytest

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.stats.paired_tests import t_interval
from gainful.stats.prediction_powered import powered_mean


def scores(trusted: int = 40, queries: int = 160) -> tuple[Floats, Floats]:
    """Scores that need no generator: those of a trusted judge for some queries, and those of another for all."""
    i = np.arange(1, queries + 1)
    one, two = (i * 0.6180339887498949) % 1, (i * 0.7548776662466927) % 1
    y, f = np.round(0.1 + 0.8 * one, 3), np.round(np.clip(0.2 + 0.55 * one + 0.3 * (two - 0.5), 0, 1), 3)
    return np.where(i <= trusted, y, np.nan), f


def test_ppi_python() -> None:
    """ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3 with lam=0.8814115547972516 and alpha=0.05."""
    y, f = scores()
    found = powered_mean(y, f[None])
    assert found.weight == pytest.approx(0.8814115547972516, abs=1e-12)
    assert found.value == pytest.approx(0.50876113, abs=1e-8)
    # There the normal distribution and variances without degrees of freedom.
    low, high = 0.46124387, 0.55627839
    assert 1 < (found.high - found.low) / (high - low) < 2.0244 / 1.96 * math.sqrt(40 / 38) + 0.01
    # With its own lambda, whose variance is also that of the other queries.
    assert found.value == pytest.approx(0.50744018, abs=0.002)


def test_plain_python() -> None:
    y, f = scores()
    both, alone = list(zip(y[:40].tolist(), f[:40].tolist(), strict=True)), f[40:].tolist()
    weight = linear_regression(f[:40].tolist(), y[:40].tolist()).slope * 120 / 160
    rest = [a - weight * b for a, b in both]
    value = mean(rest) + weight * mean(alone)
    spread = math.sqrt(variance(rest) * 39 / 38 / 40 + weight**2 * variance(f.tolist()) / 120)
    found = powered_mean(y, f[None], alpha=0.1)
    t = 1.6859544601667387  # 95% of Student's t with 38 degrees of freedom
    assert found[:5] == pytest.approx((value, value - t * spread, value + t * spread, f.mean(), weight))
    assert found.shown[4] == pytest.approx(f.mean() - value) and found.is_clear
    assert found.noise is None


def test_needed_halves_the_interval() -> None:
    """With so many trusted scores of the same kind, the variance is a quarter."""
    cases = ((40, 160), (100, 250), (60, 160), (50, 160), (30, 200), (20, 4000), (10, 10_000))
    for trusted, queries, noise in ((*case, noise) for case in cases for noise in (0.0, 0.3, 1.0)):
        y, f = scores(trusted, queries)
        f = f + noise * ((np.arange(queries) * 0.5698402909980532) % 1)
        found = powered_mean(y, f[None])
        explained = np.corrcoef(y[:trusted], f[:trusted])[0, 1] ** 2

        def relative_variance(m: int, of: int = queries, explained: float = float(explained)) -> float:
            return 1 / m if m >= of else (1 - explained) / m + explained / of

        goal = relative_variance(trusted) / 4
        m = trusted + found.needed
        assert relative_variance(m) <= goal < relative_variance(m - 1)


def test_limits() -> None:
    y, f = scores()
    # A judge who is always right: the mean of all queries.
    everyone = scores(160)[0]
    right = powered_mean(y, everyone[None])
    assert right.value == pytest.approx(everyone.mean()) and right.weight == pytest.approx(0.75)
    # One who knows nothing of the queries: Student's interval of the trusted scores.
    blind, student = powered_mean(y, np.full((1, 160), 0.3)), t_interval(*_moments(y[:40]), 0.05)
    assert blind[:3] == pytest.approx((y[:40].mean(), student.low, student.high)) and blind.weight == 0
    # The same where every query has a trusted score.
    whole = powered_mean(everyone, f[None])
    student = t_interval(*_moments(everyone), 0.05)
    assert whole[:3] == pytest.approx((everyone.mean(), student.low, student.high))
    assert whole.needed == 3 * 160  # four times as many
    # Constant scores have no spread, although the mean of 30 times 0.3 is another number.
    assert powered_mean(np.append(np.full(30, 0.3), np.full(130, np.nan)), f[None])[4:6] == (0, 0)
    constant = np.append(np.full(30, 0.3), f[30:])
    assert powered_mean(np.append(y[:30], np.full(130, np.nan)), constant[None]).weight == 0
    # What both judges leave out does not count.
    some = powered_mean(np.append(y, [np.nan, 0.5]), np.append(f, [np.nan, np.nan])[None])
    assert some == powered_mean(y, f[None])


def test_noise_is_the_spread_of_repeated_judgings() -> None:
    y, f = scores()
    judgings = np.stack([f, f + 0.02 * np.where(np.arange(160) % 2, 1, -1), f])
    found = powered_mean(y, judgings)
    assert found[:5] == pytest.approx(powered_mean(y, judgings.mean(axis=0)[None])[:5])
    # The variance of 0, 0.02 and 0 is 0.02^2 / 3; t with 320 degrees of freedom.
    assert found.noise == pytest.approx(1.9674048 * 0.02 / math.sqrt(3 * 160), rel=1e-6)


def test_too_few_trusted_scores() -> None:
    y, f = scores(3)
    with pytest.raises(UsageError, match="at least 4 queries need scores by both judges, found 3"):
        powered_mean(y, f[None])


def _moments(values: Floats) -> tuple[float, float, int]:
    return float(values.mean()), float(values.std(ddof=1)), values.size
