"""Gain against cost: the frontier of means, and systems that are dominated with confidence."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gainful import InputError, ScoreMatrix, UsageError, compare, compare_cost

NAMES = ("cheap", "good", "slow", "best")


def made(seed: int = 0, queries: int = 60, scale: float = 1.0) -> tuple[ScoreMatrix, dict[str, dict[str, float]]]:
    """Gains and costs of four systems: slow gains less than good and costs more; best gains most and costs most."""
    rng = random.Random(seed)
    gains, costs = ({name: dict[str, float]() for name in NAMES} for _ in range(2))
    for i in range(queries):
        ease = rng.random() / 2
        for name, gain, cost in zip(NAMES, (0.1, 0.3, 0.2, 0.4), (1.0, 2.0, 3.0, 4.0), strict=True):
            gains[name][f"q{i}"] = ease + gain + rng.gauss(0, 0.05)
            costs[name][f"q{i}"] = scale * (cost + rng.gauss(0, 0.3))
    return ScoreMatrix.of("nDCG@10", gains, better="higher"), costs


def test_frontier_and_dominated() -> None:
    gains, costs = made()
    found = compare_cost(gains, cost=costs)
    assert found.frontier == ("cheap", "good", "best")
    assert found.dominators == {"cheap": (), "good": (), "slow": ("good",), "best": ()}
    assert {each.family.alpha for each in found.tested.systems.values()} == {0.025}
    assert found.means["slow"] == pytest.approx((gains.column("slow").mean(), np.mean(list(costs["slow"].values()))))
    assert str(found.page()).startswith(
        "On the frontier of nDCG@10 against cost: cheap, good and best.\nDominated with 95% confidence: slow.\n"
    )


def test_the_unit_of_cost_changes_nothing() -> None:
    for scale in (1e-6, 1e6):
        gains, costs = made(3, queries=15, scale=scale)
        assert compare_cost(gains, cost=costs).dominators == compare_cost(gains, cost=made(3, queries=15)[1]).dominators


@pytest.mark.parametrize("seed", range(6))
def test_frontier_of_random_means(seed: int) -> None:
    rng = random.Random(seed)
    gains = {f"s{i}": [float(rng.randrange(4)), 0.0] for i in range(7)}
    costs = {name: [float(rng.randrange(4)), 0.0] for name in gains}
    found = compare_cost(ScoreMatrix.of("P@5", gains), cost=ScoreMatrix.of("usd", costs, better="lower"))
    own = {name: (gains[name][0], costs[name][0]) for name in gains}
    expected = {
        name
        for name, (gain, cost) in own.items()
        if not any(g >= gain and c <= cost and (g > gain or c < cost) for g, c in own.values())
    }
    assert set(found.frontier) == expected
    assert list(found.means) == sorted(own, key=lambda name: own[name][1])


def test_domination_needs_both_differences() -> None:
    """A system that is as good, or as cheap, as another one is not dominated with confidence, only by its means."""
    gains, costs = made(1)
    same = {name: dict(costs["good"]) for name in NAMES}
    same["slow"] = {query: value + 1e-9 * (-1) ** i for i, (query, value) in enumerate(costs["good"].items())}
    found = compare_cost(gains, cost=same)
    assert not any(found.dominators.values()) and found.frontier == ("best",)
    assert "Not settled by 60 queries: " in str(found.page())


def test_false_findings_are_rare() -> None:
    """Of equal systems, at most the share alpha of collections has one that seems dominated."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        gains, costs = rng.normal(size=(2, 4, 20))
        one, other = ({name: list(values) for name, values in zip(NAMES, each, strict=True)} for each in (gains, costs))
        result = compare_cost(ScoreMatrix.of("nDCG@10", one), cost=other, draws=400)
        wrong += any(result.dominators.values())
    assert stats.binom.sf(wrong - 1, 60, 0.05) > 0.001


def test_by_compare_and_from_files(tmp_path: Path) -> None:
    gains, costs = made()
    path = tmp_path / "seconds.csv"
    rows = [f"{query},{','.join(str(costs[name][query]) for name in NAMES)}" for query in gains.queries]
    path.write_text("\n".join([f"query,{','.join(NAMES)}", *rows]))
    found: Any = compare(gains, cost=str(path))
    assert found.dominators == compare_cost(gains, cost=costs).dominators
    assert "nDCG@10 against seconds" in str(found.page())
    path.write_text("\n".join([f"query,{','.join(NAMES)}", *rows[1:]]))
    fewer: Any = compare(gains, cost=str(path))
    assert fewer.tested.systems["seconds"].family.n == 59 and "1 query not scored by all" in fewer.notices[-1]
    with pytest.raises(UsageError, match="margin cannot be used with a frontier of cost"):
        compare(gains, cost=costs, margin=0.1)


def test_refusals() -> None:
    gains, costs = made()
    with pytest.raises(UsageError, match="the cost of each system per query is required"):
        compare_cost(gains)
    with pytest.raises(InputError, match="only in one"):
        compare_cost(gains, cost={name: costs[name] for name in NAMES[:3]})
    with pytest.raises(UsageError, match=f"cost: {NAMES[0]}: expected scores by query, not 2"):
        compare_cost(gains, cost=dict.fromkeys(NAMES, 2))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a gain and a cost, found nDCG@10 and AP"):
        compare_cost(gains, cost=ScoreMatrix.of("AP", costs, better="higher"))
