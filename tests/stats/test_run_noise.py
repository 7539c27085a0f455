"""Systems that were run several times: noise between runs enters test and interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.stats.families import SystemsPlan, compare_several
from gainful.stats.paired import compare_pair
from gainful.stats.paired_tests import PairPlan
from tests.together import together

Values = NDArray[np.float64]


def runs_of(seed: int, n: int, runs: int, noise: float, gain: float = 0.0) -> Values:
    """Queries x runs: what a query has, what a run has, and what is of both."""
    rng = np.random.default_rng(seed)
    return np.asarray(
        gain + rng.normal(0, 0.2, (n, 1)) + rng.normal(0, noise, (1, runs)) + rng.normal(0, 0.05, (n, runs))
    )


def matrix(**systems: Values) -> ScoreMatrix:
    columns = {f"{name}{i}": each[:, i].tolist() for name, each in systems.items() for i in range(each.shape[1])}
    names = {name: [f"{name}{i}" for i in range(each.shape[1])] for name, each in systems.items()}
    return ScoreMatrix.of("s", columns).with_repeats(names)


def naive(a: Values, b: Values, alpha: float = 0.05) -> tuple[float, float, float]:
    """p and limits, one number after another: the variance of the mean difference is that of queries, and of each
    system's runs what their means vary by beyond the noise that each query has for itself."""
    n = len(a)
    means = [[float(np.mean(row)) for row in side] for side in (a, b)]
    differences = [x - y for x, y in zip(*means, strict=True)]
    parts = [(float(np.var(differences, ddof=1)) / n, n - 1)]
    for side, by_query in zip((a, b), means, strict=True):
        runs = side.shape[1]
        if runs > 1:
            of_run, grand = [float(np.mean(side[:, r])) for r in range(runs)], float(np.mean(side))
            left = [(side[q, r] - of_run[r] - by_query[q] + grand) ** 2 for q in range(n) for r in range(runs)]
            residual = sum(left) / ((n - 1) * (runs - 1))
            parts.append((max(0.0, float(np.var(of_run, ddof=1)) - residual / n) / runs, runs - 1))
    variance = sum(each for each, _ in parts)
    df = variance**2 / sum(each**2 / of for each, of in parts)
    difference = float(np.mean(differences))
    reach = stats.t.ppf(1 - alpha / 2, df) * variance**0.5
    return 2 * stats.t.sf(abs(difference) / variance**0.5, df), difference - reach, difference + reach


@together(("runs", "noise"), [((3, 3), 0.05), ((2, 5), 0.1), ((4, 1), 0.05), ((3, 3), 0.0)])
def test_noise_between_runs_is_in_p_and_interval(runs: tuple[int, int], noise: float) -> None:
    a, b = runs_of(1, 30, runs[0], noise, 0.08), runs_of(2, 30, runs[1], noise)
    found = compare_pair(matrix(a=a, b=b), "a", "b")
    p, low, high = naive(a, b)
    assert (found.test.name, found.interval.method) == ("t", "t")
    assert (found.p, found.interval.low, found.interval.high) == pytest.approx((p, low, high))
    assert found.difference == pytest.approx(a.mean() - b.mean())
    of_means = stats.ttest_rel(a.mean(axis=1), b.mean(axis=1)).pvalue
    assert found.p >= of_means * (1 - 1e-9) and (noise == 0 or found.p > of_means)


def test_the_order_of_runs_means_nothing_and_one_run_is_no_repeat() -> None:
    a, b = runs_of(3, 20, 3, 0.05, 0.05), runs_of(4, 20, 3, 0.05)
    found, turned = (compare_pair(matrix(a=each, b=b), "a", "b") for each in (a, a[:, ::-1]))
    assert (found.p, found.interval) == (turned.p, turned.interval)
    single = compare_pair(matrix(a=a[:, :1], b=b[:, :1]), "a", "b")
    assert single.test.name == "randomisation"


def test_a_harmless_seed_is_no_difference() -> None:
    """The same system twice, three seeds each, of which each moves all queries: 400 samples of 40 queries."""
    rng = np.random.default_rng(7)
    false = {"with runs": 0, "means alone": 0}
    for _ in range(400):
        query = rng.normal(0, 0.2, (40, 1))
        a, b = (query + rng.normal(0, 0.03, (1, 3)) + rng.normal(0, 0.1, (40, 3)) for _ in range(2))
        false["with runs"] += compare_pair(matrix(a=a, b=b), "a", "b").is_significant
        false["means alone"] += stats.ttest_rel(a.mean(axis=1), b.mean(axis=1)).pvalue < 0.05
    assert false["with runs"] <= 36 and false["means alone"] > 100


def test_several_systems_are_corrected_by_holm() -> None:
    systems = {name: runs_of(i, 25, 2 + i % 2, 0.04, 0.05 * i) for i, name in enumerate("abcd")}
    found = compare_several({"s": matrix(**systems)}, SystemsPlan())["s"].family
    ends = [(found.systems[i], found.systems[j]) for i, j in zip(found.first, found.second, strict=True)]
    expected = [naive(systems[i], systems[j])[0] for i, j in ends]
    assert (found.test, found.correction) == ("t", "holm")
    assert found.p == pytest.approx(expected) and found.adjusted == pytest.approx(
        multipletests(expected, method="holm")[1]
    )


@together(
    "options",
    [{"test": "randomisation"}, {"interval": "bca"}, {"procedure": "tukey"}, {"test": "wilcoxon"}],
)
def test_what_knows_nothing_of_runs_is_refused(options: dict[str, Any]) -> None:
    found = matrix(a=runs_of(1, 20, 2, 0.1), b=runs_of(2, 20, 2, 0.1))
    with pytest.raises(UsageError, match="cannot account for noise between several runs of a system"):
        if "procedure" in options:
            compare_several({"s": found}, SystemsPlan(**options))
        else:
            compare_pair(found, "a", "b", PairPlan(**options))


def test_repeats_stay_with_their_queries() -> None:
    found = matrix(a=runs_of(1, 12, 3, 0.1), b=runs_of(2, 12, 1, 0.1))
    part = found.select(["a"], found.queries[3:7])
    assert part.repeats["a"].mean(axis=1) == pytest.approx(part.values[:, 0])
    assert list(found.repeats) == ["a"] and found.select(["b"]).repeats == {}
