"""The posterior of a mean difference: against quadrature of the model, calibration, and both sides of every rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gainful import InputError, UsageError
from gainful.stats.without_p import Posterior, posterior as posterior_of
from tests.stats.two_systems import two_systems
from tests.together import together

A = np.array([0.5, 0.7, 0.4, 0.6, 0.9])
B = np.array([0.4, 0.5, 0.1, 0.65, 0.7])


def posterior(a: np.ndarray, b: np.ndarray, margin: float, *, alpha: float = 0.05, better: str = "higher") -> Posterior:
    return posterior_of(two_systems(a, b, measure="score", better=better), "A", "B", margin, alpha)


def made(difference: float, sd: float = 0.1, margin: float = 0.01, n: int = 100) -> Posterior:
    return Posterior(margin=margin, n=n, difference=difference, sd=sd)


def by_quadrature(differences: np.ndarray, low: float, high: float) -> float:
    """The share of likelihood x prior 1 / sd in which the mean is between two limits: the model itself, no formula."""
    n, mean, ss = len(differences), differences.mean(), ((differences - differences.mean()) ** 2).sum()
    peak = math.sqrt(ss / n)

    def over_sd(mu: float) -> float:
        square = ss + n * (mu - mean) ** 2
        # sd = peak e^x, so that 1 / sd dsd = dx.
        found = integrate.quad(lambda x: math.exp(-n * x - square / (2 * peak**2) * math.exp(-2 * x) + n / 2), -6, 20)
        return float(found[0])

    inside = integrate.quad(over_sd, low, high, limit=200)[0]
    return float(inside / integrate.quad(over_sd, mean - 60 * peak, mean + 60 * peak, limit=400, points=[mean])[0])


def test_probabilities_are_those_of_the_model() -> None:
    found = posterior(A, B, 0.05)
    assert found.probabilities is not None
    assert found.probabilities.equivalent == pytest.approx(by_quadrature(A - B, -0.05, 0.05), rel=1e-5)
    assert found.probabilities.better == pytest.approx(by_quadrature(A - B, 0.05, 12.0), rel=1e-3)
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-15)


def test_the_interval_holds_its_probability() -> None:
    found = posterior(A, B, 0.05, alpha=0.1)
    assert found.below(found.interval.low) == pytest.approx(0.05) == found.above(found.interval.high)
    inside = integrate.quad(found.density, found.interval.low, found.interval.high)[0]
    assert inside == pytest.approx(0.9) and found.interval.level == 0.9


def test_small_probabilities_keep_their_figures() -> None:
    found = made(0.5, 0.2, n=200)
    assert found.probabilities is not None
    expected = stats.t(199, 0.5, 0.2 / math.sqrt(200)).cdf(-0.01)
    assert 0 < found.probabilities.worse < 1e-30 and found.probabilities.worse == pytest.approx(expected, rel=1e-9)


def test_where_lower_is_better_worse_and_better_change_places() -> None:
    higher, lower = posterior(A, B, 0.01), posterior(A, B, 0.01, better="lower")
    assert higher.probabilities is not None and lower.probabilities is not None
    assert lower.probabilities == higher.probabilities[::-1] and lower.difference == higher.difference > 0
    exchanged = posterior(B, A, 0.01).probabilities
    assert exchanged is not None and exchanged == pytest.approx(higher.probabilities[::-1])


@together(
    ("difference", "margin", "verdict"),
    [(0.03, 0.01, "better"), (-0.03, 0.01, "worse"), (0.0, 0.03, "equivalent"), (0.0, 0.01, "cannot tell")],
)
def test_verdicts(difference: float, margin: float, verdict: str) -> None:
    assert made(difference, margin=margin).verdict == verdict


def test_the_verdict_is_what_has_the_probability() -> None:
    centre = float(stats.t(99).ppf(0.95)) * 0.01
    for nudge, verdict in ((1e-6, "better"), (-1e-6, "cannot tell")):
        found = made(0.01 + centre + nudge)
        assert found.verdict == verdict


def test_without_spread_there_are_no_probabilities() -> None:
    for a in (B, B + 0.1):
        found = posterior(a, B, 0.01)
        assert found.probabilities is None and found.verdict == "cannot tell"


def test_one_query_says_nothing() -> None:
    with pytest.raises(InputError, match="score: expected at least 2 queries, found 1"):
        posterior(A[:1], B[:1], 0.01)


@together("margin", [0.0, -0.1, math.nan, math.inf])
def test_margins_are_above_0(margin: float) -> None:
    with pytest.raises(UsageError, match="margin: expected a number above 0"):
        posterior(A, B, margin)
