"""Analysis of variance on scores and on ranks, against scipy, statsmodels, scikit-posthocs and hand values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import f as f_distribution, f_oneway, friedmanchisquare, rankdata

from gainful import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import numbered
from gainful.stats.anova import (
    FactorialResult,
    by_factors,
    compare_factors as compare_two_factors,
    pair_variances,
    pairs_of,
    two_way,
)
from gainful.stats.rank_tests import conover, friedman, nemenyi
from tests.stats.two_systems import compare_pair
from tests.together import together

Matrix = NDArray[np.float64]


def random_scores(seed: int, queries: int = 20, systems: int = 4, levels: int | None = None) -> Matrix:
    """Query effects, system effects and noise; with ``levels`` many ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(queries, 1)) + 0.4 * rng.normal(size=systems) + rng.normal(size=(queries, systems))
    return np.round(scores * levels) / levels if levels else scores


class TestTwoWay:
    @together("seed", range(4))
    def test_is_that_of_statsmodels(self, seed: int) -> None:
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import AnovaRM, anova_lm

        scores = random_scores(seed, 8, 3)
        long = pd.DataFrame(
            [(q, s, scores[q, s]) for q in range(8) for s in range(3)], columns=["query", "system", "score"]
        )
        theirs = anova_lm(ols("score ~ C(system) + C(query)", long).fit())
        ours = two_way(scores)
        for effect, name in ((ours.systems, "C(system)"), (ours.queries, "C(query)")):
            assert effect.sum_of_squares == pytest.approx(theirs.loc[name, "sum_sq"], rel=1e-9)
            assert effect.df == theirs.loc[name, "df"]
            assert effect.f == pytest.approx(theirs.loc[name, "F"], rel=1e-9)
            assert effect.p == pytest.approx(theirs.loc[name, "PR(>F)"], rel=1e-7)
        assert ours.residual.sum_of_squares == pytest.approx(theirs.loc["Residual", "sum_sq"], rel=1e-9)
        repeated = AnovaRM(long, "score", "query", ["system"]).fit().anova_table
        assert ours.systems.f == pytest.approx(repeated.loc["system", "F Value"], rel=1e-9)

    @together("seed", range(4))
    def test_epsilon_and_its_p(self, seed: int) -> None:
        scores = random_scores(seed, 15, 5)
        scores[:, 0] *= 3  # so that sphericity fails
        covariance = np.cov(scores, rowvar=False)
        contrasts = np.linalg.svd(np.eye(5) - 1 / 5)[0][:, :4]  # any orthonormal ones
        eigenvalues = np.linalg.eigvalsh(contrasts.T @ covariance @ contrasts)
        epsilon = eigenvalues.sum() ** 2 / (4 * (eigenvalues**2).sum())
        table = two_way(scores)
        assert table.epsilon == pytest.approx(epsilon, rel=1e-9)
        assert table.corrected_p == pytest.approx(
            f_distribution.sf(table.systems.f, 4 * epsilon, 4 * 14 * epsilon), rel=1e-9
        )

    def test_spread_of_pairs(self) -> None:
        scores = random_scores(3)
        sds = [np.std(scores[:, i] - scores[:, j], ddof=1) for i, j in combinations(range(4), 2)]
        found = two_way(scores).spread
        assert found is not None
        assert (found.lowest, found.highest) == (pytest.approx(min(sds)), pytest.approx(max(sds)))
        # The mean of the pairs' variances is what the model pools.
        assert found.pooled**2 == pytest.approx(np.mean(np.square(sds)))
        scores[:, 0] *= 20
        uneven = two_way(scores).spread
        assert uneven is not None
        assert not found.is_uneven
        # One system out of many that varies much more.
        assert two_way(np.hstack((scores, random_scores(4, 20, 30)))).spread.is_uneven  # type: ignore[union-attr]

    @pytest.mark.parametrize("seed", range(3))
    def test_one_way_is_that_of_scipy(self, seed: int) -> None:
        scores = random_scores(seed)
        found, theirs = two_way(scores), f_oneway(*scores.T)
        assert (found.one_way.f, found.one_way.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
        assert found.within.df == 4 * 19

    def test_order_of_queries_and_systems(self) -> None:
        scores = random_scores(6, 50, 7)
        one, other = two_way(scores), two_way(scores[::-1, ::-1].copy())
        assert (one.systems, one.queries, one.residual) == (other.systems, other.queries, other.residual)


class TestDegenerate:
    @together("shape", [(1, 1), (1, 3), (3, 1), (2, 2), (5, 4)])
    def test_constant(self, shape: tuple[int, int]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scores = np.full(shape, 0.1)
            table, ranks = two_way(scores), friedman(scores)
        for effect in (table.systems, table.queries, table.one_way):
            assert effect.sum_of_squares == 0
            assert (effect.f, effect.p) in ((None, None), (0, 1))
        assert table.epsilon == 1
        assert (ranks.chi2, ranks.chi2_p, ranks.p, ranks.w) == (0, 1, 1, 0)
        assert list(conover(ranks).p) == [1] * math.comb(shape[1], 2)
        assert list(nemenyi(ranks).p) == [1] * math.comb(shape[1], 2)

    def test_one_query_or_one_system(self) -> None:
        for scores in (np.array([[0.1, 0.5, 0.3]]), np.array([[0.1], [0.5]])):
            assert two_way(scores).systems.f is None
            assert two_way(scores).corrected_p is None
            assert two_way(scores).spread is None
            assert friedman(scores).p == 1
            assert all(p == 1 for p in conover(friedman(scores)).p)

    def test_no_residual(self) -> None:
        scores = np.array([[0.1, 0.2, 0.3]]) + np.array([[0.1], [0.7], [0.3]])  # sums that are not exact
        table = two_way(scores)
        assert table.residual.sum_of_squares == 0
        assert table.systems.f == math.inf
        assert 0 < table.systems.p < 1e-300  # type: ignore[operator]
        assert 0 < table.corrected_p < 1e-300  # type: ignore[operator]

    def test_identical_systems(self) -> None:
        scores = random_scores(7)
        doubled = np.hstack((scores, scores[:, :1]))
        assert pair_variances(doubled)[3] == 0
        ranks = friedman(doubled)
        [pair] = [i for i, (a, b) in enumerate(combinations(range(5), 2)) if (a, b) == (0, 4)]
        assert (conover(ranks).p[pair], nemenyi(ranks).p[pair]) == (1, 1)


class TestFriedman:
    @together("levels", [None, 2, 1])
    @together("seed", range(4))
    def test_is_that_of_scipy(self, seed: int, levels: int | None) -> None:
        scores = random_scores(seed, 12, 5, levels)
        found, theirs = friedman(scores), friedmanchisquare(*scores.T)
        assert found.chi2 == pytest.approx(theirs.statistic, rel=1e-9)
        assert found.chi2_p == pytest.approx(theirs.pvalue, rel=1e-9)
        # Iman and Davenport's own formula; here F comes from the analysis of variance of the ranks.
        assert found.f == pytest.approx(11 * found.chi2 / (12 * 4 - found.chi2), rel=1e-9)
        assert found.p == pytest.approx(f_distribution.sf(found.f, 4, 44), rel=1e-9)
        assert found.w == pytest.approx(found.chi2 / 48)
        assert found.mean_ranks == pytest.approx(rankdata(-scores, axis=1).mean(axis=0))

    def test_float_ties_are_ties(self) -> None:
        assert friedman(np.array([[0.1 + 0.2, 0.3, 0.6]])).rank_sums.tolist() == [1.5, 1.5, 3]

    def test_all_queries_agree(self) -> None:
        found = friedman(np.array([[0.1, 0.2, 0.3]] * 6))
        assert (found.f, found.w) == (math.inf, 1)
        assert found.p == pytest.approx((1 / 6) ** 5)
        assert found.chi2 == pytest.approx(12)
        # Of two tied and a third there are 3 orders, not 6.
        assert friedman(np.array([[0.1, 0.1, 0.3]] * 6)).p == pytest.approx((1 / 3) ** 5)
        assert conover(found).p == pytest.approx([found.p] * 3)

    @pytest.mark.parametrize("levels", [None, 2])
    def test_conover_is_that_of_scikit_posthocs(self, levels: int | None) -> None:
        import scikit_posthocs

        scores = random_scores(0, 15, 5, levels)
        theirs = scikit_posthocs.posthoc_conover_friedman(scores).to_numpy()
        assert conover(friedman(scores)).p == pytest.approx(theirs[pairs_of(5)], rel=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_nemenyi_is_that_of_scikit_posthocs(self, seed: int) -> None:
        import scikit_posthocs

        scores = random_scores(seed, 15, 4)
        theirs = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
        assert nemenyi(friedman(scores)).p == pytest.approx(theirs[pairs_of(4)], abs=1e-8)

    def test_critical_differences(self) -> None:
        # Demsar (2006), section 3.2.2: 4 classifiers on 14 data sets, CD = 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25.
        scores = random_scores(0, 14, 4)
        found = friedman(scores)
        assert nemenyi(found).critical == pytest.approx(1.25, abs=0.005)
        for comparisons in (conover(found), nemenyi(found)):
            apart = np.abs(comparisons.difference) / 14
            assert ((comparisons.p <= 0.05) == (apart >= comparisons.critical)).all()


class TestFactors:
    @pytest.mark.parametrize("seed", range(3))
    def test_unbalanced_is_that_of_statsmodels(self, seed: int) -> None:
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm

        rng = np.random.default_rng(seed)
        columns = {name: rng.integers(0, levels, 40).tolist() for name, levels in (("s", 3), ("t", 5), ("u", 4))}
        values = rng.normal(size=40) + np.array(columns["t"]) / 3
        theirs = anova_lm(ols("y ~ C(s) + C(t) + C(u)", pd.DataFrame({"y": values, **columns})).fit(), typ=2)
        found = by_factors(values, columns)
        for name, effect in found.effects.items():
            row = theirs.loc[f"C({name})"]
            assert (effect.sum_of_squares, effect.df) == pytest.approx((row["sum_sq"], row["df"]))
            assert (effect.f, effect.p) == pytest.approx((row["F"], row["PR(>F)"]))
        assert found.residual.sum_of_squares == pytest.approx(theirs.loc["Residual", "sum_sq"])

    def test_a_factor_that_another_determines(self) -> None:
        """Each user worked with one system: what is the users' cannot be told from what is the systems'."""
        found = by_factors(np.array([0.1, 0.2, 0.4, 0.3, 0.9, 0.7]), {"system": "aaaabb", "user": "112233"})
        assert (found.effects["system"].df, found.effects["system"].p) == (0, None)
        assert found.effects["user"].df == 1

    def test_constant_scores(self) -> None:
        found = by_factors(np.full(6, 0.1), {"system": "aaabbb", "topic": "xyxyxy"})
        assert [effect.f for effect in found.effects.values()] == [0.0, 0.0]


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
    assert found.flips.enumerated and [effect.p for effect in found.effects] == pytest.approx(expected)


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
    with pytest.raises(UsageError, match="no system has A y and B v"):
        compare_factors(made(6)[:, :3], SYSTEMS[:3], FACTORS)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"A": FACTORS["A"]}, "factors: there are 1, not two"),
        ({"A": FACTORS["A"], "B": {"xu": "u"}}, "system 'xv' has no level of 'B'"),
        ({"A": FACTORS["A"], "B": dict.fromkeys(SYSTEMS, "u")}, "'B' has one level only"),
    ],
)
def test_refused(factors: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare_factors(made(5), SYSTEMS, factors)
