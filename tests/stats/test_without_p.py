"""Probabilities of a mean difference, and confidence sequences: against their definitions, both sides of every rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gainful import InputError, UsageError
from gainful.stats.without_p import (
    MOST_LOOKS,
    ConfidenceSequence,
    Posterior,
    confidence_sequence,
    posterior as posterior_of,
)
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
    [(0.03, 0.01, "better"), (-0.03, 0.01, "worse"), (0.0, 0.03, "equivalent"), (0.0, 0.01, "inconclusive")],
)
def test_verdicts(difference: float, margin: float, verdict: str) -> None:
    assert made(difference, margin=margin).verdict == verdict


def test_the_verdict_is_what_has_the_probability() -> None:
    centre = float(stats.t(99).ppf(0.95)) * 0.01
    for nudge, verdict in ((1e-6, "better"), (-1e-6, "inconclusive")):
        found = made(0.01 + centre + nudge)
        assert found.verdict == verdict


def test_without_spread_there_are_no_probabilities() -> None:
    for a in (B, B + 0.1):
        found = posterior(a, B, 0.01)
        assert found.probabilities is None and found.verdict == "inconclusive"


def test_one_query_says_nothing() -> None:
    with pytest.raises(InputError, match="score: at least 2 queries are needed for a spread, found 1"):
        posterior(A[:1], B[:1], 0.01)


@together("margin", [0.0, -0.1, math.nan, math.inf])
def test_margins_are_above_0(margin: float) -> None:
    with pytest.raises(UsageError, match="margin: expected a number above 0"):
        posterior(A, B, margin)


SHARES = [math.sin(math.pi * (k + 0.5) / 16) ** 2 for k in range(8)]


def most_won(values: np.ndarray, mean: float) -> float:
    """The most that bets on values above a mean ever win: eight gamblers, each staking a share of what it has."""
    best, capitals = 0.0, [1 / 8] * 8
    for value in values:
        capitals = [c * (1 + share * (value / mean - 1)) for c, share in zip(capitals, SHARES, strict=True)]
        best = max(best, sum(capitals))
    return best


def ever_won(values: np.ndarray, mean: float) -> np.ndarray:
    """The same of many paths at once: paths x values."""
    logs = np.cumsum(np.log1p(np.multiply.outer(SHARES, values / mean - 1)), axis=2)
    return np.asarray(np.exp(logs).mean(axis=0).max(axis=1))


def sequence(differences: np.ndarray, better: str = "higher", **options: object) -> ConfidenceSequence:
    """Of scores whose differences are given."""
    scores = two_systems(np.maximum(differences, 0), np.maximum(-differences, 0), better=better)
    return confidence_sequence(scores, "A", "B", (0, 1), **options)  # type: ignore[arg-type]


def skewed(rng: np.random.Generator, *size: int) -> np.ndarray:
    """Differences as of precision at 5: many ties, a few large losses; their mean is 0."""
    return rng.choice([0.0, 0.2, -0.8], size, p=[0.5, 0.4, 0.1])


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_limits_are_where_the_bets_have_won_enough(alpha: float) -> None:
    differences = skewed(np.random.default_rng(1), 120) + 0.1
    found = sequence(differences, alpha=alpha)
    values, step = (differences + 1) / 2, 2.0**-23
    for limit, side in ((found.lows[-1], values), (-found.highs[-1], 1 - values)):
        mean = (limit + 1) / 2
        assert most_won(side, mean) >= 2 / alpha > most_won(side, mean + step)


def test_limits_only_get_narrower_and_hold_the_mean_found() -> None:
    found = sequence(skewed(np.random.default_rng(2), 200))
    assert all(np.diff(found.lows) >= 0) and all(np.diff(found.highs) <= 0)
    assert found.lows[-1] < found.difference < found.highs[-1]


def test_whole_paths_are_covered() -> None:
    """The truth is ever excluded in at most 5% of paths; the interval of the t test, looked at after each, in many."""
    rng = np.random.default_rng(3)
    differences = skewed(rng, 1500, 300)
    values = (differences + 1) / 2
    excluded = (ever_won(values, 0.5) >= 40) | (ever_won(1 - values, 0.5) >= 40)
    counts = np.arange(1, 301)
    means = np.cumsum(differences, axis=1) / counts
    sds = np.sqrt(np.maximum(np.cumsum(differences**2, axis=1) / counts - means**2, 1e-9))
    looked = (np.abs(means) > 2 * sds / np.sqrt(counts))[:, 9:].any(axis=1)
    assert excluded.mean() <= 0.05 < 0.25 < looked.mean()


def test_of_scores_with_other_bounds() -> None:
    differences = skewed(np.random.default_rng(4), 50)
    one = sequence(differences)
    a, b = np.maximum(differences, 0) * 10 - 5, np.maximum(-differences, 0) * 10 - 5
    ten = confidence_sequence(two_systems(a, b), "A", "B", (-5, 5))
    assert ten.lows == pytest.approx([10 * low for low in one.lows]) and ten.significant_after == one.significant_after


def test_exchanged_systems_have_negated_limits() -> None:
    differences = skewed(np.random.default_rng(5), 50)
    one, other = sequence(differences), sequence(-differences)
    assert one.lows == tuple(-high for high in other.highs) and one.highs == tuple(-low for low in other.lows)


def test_pairs_share_alpha() -> None:
    differences = skewed(np.random.default_rng(6), 50)
    assert sequence(differences, pairs=4).lows == sequence(differences, alpha=0.0125).lows


def test_verdicts_of_a_sequence() -> None:
    ahead = np.full(30, 0.5)
    assert sequence(ahead).verdict == "better" and sequence(-ahead).verdict == "worse"
    assert sequence(ahead, better="lower").verdict == "worse"
    told = sequence(ahead).significant_after
    assert told is not None and sequence(ahead[: told - 1]).significant_after is None
    assert sequence(ahead[: told - 1]).verdict == "inconclusive" and sequence(np.zeros(30)).significant_after is None


def test_an_order_by_the_scores_shows() -> None:
    differences = np.repeat([0.8, -0.8], 100)
    assert sequence(differences).is_empty and sequence(differences).verdict == "inconclusive"
    assert not sequence(np.random.default_rng(7).permutation(differences)).is_empty


@pytest.mark.parametrize(("queries", "looks"), [(MOST_LOOKS, MOST_LOOKS), (1201, 401)])
def test_many_queries_are_looked_at_in_batches(queries: int, looks: int) -> None:
    found = sequence(np.zeros(queries))
    assert len(found.looks) == looks and found.looks[-1] == queries == found.n


def test_scores_outside_their_bounds_are_refused() -> None:
    with pytest.raises(InputError, match=r"RR: expected scores from 0 to 1, found 1.5 for query '2'"):
        confidence_sequence(two_systems([0.0, 1.5], [0.0, 0.0], measure="RR"), "A", "B", (0, 1))


def test_queries_come_in_the_order_of_their_rows() -> None:
    differences = skewed(np.random.default_rng(8), 20)
    order = np.random.default_rng(9).permutation(20)
    one, other = sequence(differences[order]), sequence(differences, rows=order.tolist())
    assert (one.lows, one.highs, one.means) == (other.lows, other.highs, other.means)
    assert other.queries[0] == f"{order[0] + 1:02d}"
