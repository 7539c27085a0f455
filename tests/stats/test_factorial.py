"""Two factors of systems with queries as blocks, against statsmodels and flips one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest

from gainful import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import numbered
from gainful.stats.anova import FactorialResult, compare_factors as compare_two_factors
from tests.stats.two_systems import compare_pair

SYSTEMS = [f"{a}{b}" for a in "xyz" for b in "uv"]
FACTORS = {"A": {s: s[0] for s in SYSTEMS}, "B": {s: s[1] for s in SYSTEMS}}


def compare_factors(
    scores: Floats, systems: Sequence[str], factors: Mapping[str, Mapping[str, str]], **how: int
) -> FactorialResult:
    matrix = ScoreMatrix("score", "higher", tuple(numbered(len(scores))), tuple(systems), scores)
    return compare_two_factors(matrix, factors, **how)


def made(queries: int, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    effect = np.array([0.0, 0.1, 0.0, 0.3, 0.1, 0.2])
    return rng.normal(size=(queries, 1)) + effect + 0.3 * rng.normal(size=(queries, 6))


@pytest.mark.parametrize("seed", range(3))
def test_effects_are_those_of_statsmodels(seed: int) -> None:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    scores = made(12, seed)
    rows = [(q, s[0], s[1], scores[q, i]) for q in range(12) for i, s in enumerate(SYSTEMS)]
    frame = pd.DataFrame(rows, columns=["q", "a", "b", "y"])
    theirs = anova_lm(ols("y ~ C(q) + C(a) * C(b)", frame).fit(), typ=2)
    found = compare_factors(scores, SYSTEMS, FACTORS, draws=99)
    for effect, row in zip(found.effects, ("C(a)", "C(b)", "C(a):C(b)"), strict=True):
        line = theirs.loc[row]
        assert (effect.anova.sum_of_squares, effect.anova.df) == pytest.approx((line["sum_sq"], line["df"]))
        assert (effect.anova.f, effect.anova.p) == pytest.approx((line["F"], line["PR(>F)"]))
    assert found.residual.sum_of_squares == pytest.approx(theirs.loc["Residual", "sum_sq"]) and not found.within.df


def twice(scores: Floats, names: tuple[str, ...]) -> tuple[Floats, list[str], dict[str, dict[str, str]]]:
    """The systems named once more, a little better."""
    systems = [*SYSTEMS, *(f"{name}2" for name in names)]
    again = np.stack([scores[:, SYSTEMS.index(name)] + 0.2 + 0.01 * i for i, name in enumerate(names)], axis=1)
    factors = {of: {system: levels[system[:2]] for system in systems} for of, levels in FACTORS.items()}
    return np.concatenate((scores, again), axis=1), systems, factors


def test_several_systems_of_a_combination_have_a_line_of_their_own() -> None:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    scores, systems, factors = twice(made(10), tuple(SYSTEMS))
    rows = [(q, s[0], s[1], scores[q, i]) for q in range(10) for i, s in enumerate(systems)]
    additive = anova_lm(ols("y ~ C(q) + C(a) + C(b)", pd.DataFrame(rows, columns=["q", "a", "b", "y"])).fit(), typ=2)
    found = compare_factors(scores, systems, factors, draws=99)
    for effect, row in zip(found.effects, ("C(a)", "C(b)"), strict=False):
        assert effect.anova.sum_of_squares == pytest.approx(additive.loc[row, "sum_sq"])
    both = (scores[:, :6] - scores[:, 6:]).mean(axis=0)
    assert found.within.df == 6 and found.within.sum_of_squares == pytest.approx(10 * (both**2).sum() / 2)
    assert found.cells[-1].systems == ("zv", "zv2") and not found.is_averaged


def test_of_more_and_fewer_systems_the_means_of_combinations_are_tested() -> None:
    """As if each combination were one system: test, means and what is said of them are one contrast."""
    scores, systems, factors = twice(made(10), ("xu", "zv"))
    cells = scores[:, :6].copy()
    cells[:, 0], cells[:, 5] = scores[:, [0, 6]].mean(axis=1), scores[:, [5, 7]].mean(axis=1)
    found, expected = compare_factors(scores, systems, factors), compare_factors(cells, SYSTEMS, FACTORS)
    assert [(each.anova.f, each.p) for each in found.effects] == [
        (pytest.approx(each.anova.f), pytest.approx(each.p)) for each in expected.effects
    ]
    assert found.is_averaged and not expected.is_averaged and found.cells[-1].systems == ("zv", "zv2")
    assert found.mean(1, "v") == pytest.approx(cells[:, 1::2].mean())


def naive_flips(contrasts: Floats) -> float:
    """The share of all signs with which the sum of contrasts is as long as without."""
    observed = np.linalg.norm(contrasts.sum(axis=0))
    signs = np.array(list(product((1, -1), repeat=len(contrasts))))
    return float(np.mean(np.linalg.norm(signs @ contrasts, axis=1) >= observed - 1e-9))


def test_flips_are_counted_out() -> None:
    """Centred level means of each query; of the interaction what both factors leave of its cells."""
    scores = made(8, 5)
    cube = scores.reshape(8, 3, 2)
    of_a, of_b = cube.mean(axis=2), cube.mean(axis=1)
    grand = cube.mean(axis=(1, 2))
    both = cube - of_a[:, :, None] - of_b[:, None, :] + grand[:, None, None]
    expected = [
        naive_flips(of_a - grand[:, None]),
        naive_flips(of_b - grand[:, None]),
        naive_flips(both.reshape(8, 6)),
    ]
    found = compare_factors(scores, SYSTEMS, FACTORS)
    assert found.is_enumerated and [effect.p for effect in found.effects] == pytest.approx(expected)


def test_two_levels_are_a_pair() -> None:
    """With two levels flips of contrasts are the randomisation test of the levels' means."""
    scores = made(40, 6)
    found = compare_factors(scores, SYSTEMS, FACTORS, draws=5000)
    pair = compare_pair(scores[:, [1, 3, 5]].mean(axis=1), scores[:, [0, 2, 4]].mean(axis=1), draws=5000)
    assert found.effects[1].p == pytest.approx(pair.p, abs=0.01)
    assert found.mean(1, "v") - found.mean(1, "u") == pytest.approx(pair.difference)


def test_without_spread() -> None:
    same = compare_factors(np.tile([[0.5]], (6, 6)), SYSTEMS, FACTORS)
    assert [effect.p for effect in same.effects] == [1.0] * 3


def test_a_combination_without_a_system_is_refused() -> None:
    """Of three systems the mean of a level may speak for it although the other level is better beside each."""
    with pytest.raises(UsageError, match="a system of every combination, found none of A y, B v"):
        compare_factors(made(6)[:, :3], SYSTEMS[:3], FACTORS)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"A": FACTORS["A"]}, "factors: expected two, found 1"),
        ({"A": FACTORS["A"], "B": {"xu": "u"}}, "expected a level of 'B' for every system, found none for 'xv'"),
        ({"A": FACTORS["A"], "B": dict.fromkeys(SYSTEMS, "u")}, "expected at least two levels of 'B', found one"),
    ],
)
def test_refused(factors: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare_factors(made(5), SYSTEMS, factors)
