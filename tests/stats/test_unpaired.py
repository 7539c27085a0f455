"""Two systems on sessions of their own, against SciPy, statsmodels and naive computations."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.power import TTestIndPower

from gainful import InputError, UsageError
from gainful.kernel.arrays import Floats
from gainful.stats.paired_tests import PairPlan
from gainful.stats.unpaired import TwoGroups, UnpairedResult, compare_unpaired as compare_two, labels
from tests.together import together

SIZES = ((3, 4), (5, 9), (8, 8), (12, 30), (40, 25))
KINDS = ("spread", "tied", "skewed")


def compare_unpaired(a: Any, b: Any, topics: Any = None, better: str = "higher", **plan: Any) -> UnpairedResult:
    return compare_two(a, b, topics, PairPlan(**plan), better=better)


def sample(kind: str, seed: int, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    if kind == "tied":
        return rng.integers(0, 4, sizes[0]) / 3, rng.integers(0, 5, sizes[1]) / 3
    if kind == "skewed":
        return rng.gamma(0.5, 0.4, sizes[0]), rng.gamma(0.8, 0.2, sizes[1])
    return rng.normal(0.6, 0.2, sizes[0]), rng.normal(0.4, 0.1, sizes[1])


@together("sizes", SIZES)
@together("kind", KINDS)
def test_welch_is_that_of_scipy(kind: str, sizes: tuple[int, int]) -> None:
    a, b = sample(kind, 1, sizes)
    found, theirs = compare_unpaired(a, b, test="welch"), stats.ttest_ind(a, b, equal_var=False)
    limits = theirs.confidence_interval(0.95)
    assert (found.p, found.test.statistic) == pytest.approx((theirs.pvalue, theirs.statistic), rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high), abs=1e-9)


@together("sizes", SIZES)
@together("kind", KINDS)
def test_mann_whitney_is_that_of_scipy(kind: str, sizes: tuple[int, int]) -> None:
    a, b = sample(kind, 2, sizes)
    found = compare_unpaired(a, b, test="mann-whitney")
    is_counted = kind == "tied" and math.comb(sum(sizes), sizes[0]) <= 50_000
    # SciPy counts all labellings where it is asked for permutations, ties or not.
    counted = stats.PermutationMethod(n_resamples=np.inf) if is_counted else None
    theirs = stats.mannwhitneyu(a, b, method=counted or ("asymptotic" if kind == "tied" else "exact"))
    assert (found.p, found.test.statistic) == pytest.approx((theirs.pvalue, theirs.statistic), rel=1e-9)
    assert found.direction == pytest.approx(np.sign(a[:, None] - b).mean())


def test_mann_whitney_counts_ties_of_small_groups() -> None:
    """Of the 20 labellings two are as extreme; a normal distribution would say 0.047."""
    found = compare_unpaired([1, 1, 1], [2, 2, 2], test="mann-whitney")
    assert found.p == pytest.approx(0.1) and not found.interval.is_bounded


@together("sizes", [(3, 4), (4, 4), (2, 7)])
@together("kind", KINDS)
def test_all_labels_are_those_of_scipy(kind: str, sizes: tuple[int, int]) -> None:
    a, b = sample(kind, 3, sizes)
    found = compare_unpaired(a, b)

    def welch(x: Floats, y: Floats, axis: int) -> Floats:
        variance = x.var(axis, ddof=1) / x.shape[axis] + y.var(axis, ddof=1) / y.shape[axis]
        return np.round((x.mean(axis) - y.mean(axis)) / np.sqrt(np.maximum(variance, 1e-14)), 6)

    theirs = stats.permutation_test((a, b), welch, vectorized=True, n_resamples=np.inf)
    assert found.test.is_enumerated and found.test.draws == math.comb(sum(sizes), sizes[0])
    assert found.p == pytest.approx(min(1.0, theirs.pvalue), rel=1e-12)


def naive_blocked(a: list[tuple[str, float]], b: list[tuple[str, float]], shift: float = 0.0) -> float:
    """p of labels within topics, one labelling after another, of scores of A less a shift: t of statsmodels' least
    squares with standard errors that allow unequal spreads (HC2)."""
    topics = sorted({topic for topic, _ in a} & {topic for topic, _ in b})
    rows = [(t, y - shift, True) for t, y in a if t in topics] + [(t, y, False) for t, y in b if t in topics]
    values, blocks = np.array([y for _, y, _ in rows]), np.array([[t == each for each in topics] for t, _, _ in rows])
    places = [[i for i, (t, _, _) in enumerate(rows) if t == each] for each in topics]
    sizes = [sum(rows[i][2] for i in each) for each in places]

    def t_of(chosen: list[int]) -> float:
        is_a = np.isin(np.arange(len(rows)), chosen)
        fitted = OLS(values, np.column_stack((is_a, blocks)).astype(float)).fit()
        return float(fitted.params[0] / fitted.HC2_se[0])

    observed = t_of([i for i, (_, _, is_a) in enumerate(rows) if is_a])
    ways = product(*(combinations(each, size) for each, size in zip(places, sizes, strict=True)))
    found = [t_of([i for part in way for i in part]) for way in ways]
    above, below = (sum(sign * (each - observed) >= -1e-9 for each in found) for sign in (1, -1))
    return min(1.0, 2 * min(above, below) / len(found))


A = [("t1", 0.9), ("t1", 0.8), ("t2", 0.3), ("t2", 0.5), ("t3", 0.6), ("alone", 0.1)]
B = [("t1", 0.6), ("t2", 0.1), ("t2", 0.3), ("t3", 0.5), ("t3", 0.55), ("t3", 0.7)]


def test_within_topics_labels_are_counted_out() -> None:
    found = compare_unpaired([y for _, y in A], [y for _, y in B], ([t for t, _ in A], [t for t, _ in B]))
    assert found.p == pytest.approx(naive_blocked(A, B))
    assert (found.topics, found.alone, found.sizes, found.test.draws) == (3, 1, (5, 6), 3 * 6 * 4)


def test_the_difference_within_topics_is_that_of_least_squares() -> None:
    rows = [(1.0, t, y) for t, y in A] + [(0.0, t, y) for t, y in B]
    topics = sorted({t for _, t, _ in rows})
    design = np.array([[is_a, *(float(t == each) for each in topics)] for is_a, t, _ in rows])
    values = np.array([y for _, _, y in rows])
    coefficients, rest, *_ = np.linalg.lstsq(design, values, rcond=None)
    found = compare_unpaired([y for _, y in A], [y for _, y in B], ([t for t, _ in A], [t for t, _ in B]))
    assert found.difference == pytest.approx(coefficients[0])
    # The session of a topic of its own is fitted exactly: it changes neither the rest nor its degrees of freedom.
    assert found.sd == pytest.approx(math.sqrt(rest[0] / (len(rows) - len(topics) - 1)))


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_the_interval_holds_the_shifts_that_are_not_rejected(alpha: float) -> None:
    found = compare_unpaired(
        [y for _, y in A], [y for _, y in B], ([t for t, _ in A], [t for t, _ in B]), alpha=alpha
    ).interval
    for limit, outside in ((found.low, -1), (found.high, 1)):
        assert naive_blocked(A, B, limit - outside * 1e-6) >= alpha
        assert naive_blocked(A, B, limit + outside * 1e-6) < alpha


@together("seed", range(20))
@together("kind", KINDS)
def test_p_and_interval_never_disagree(kind: str, seed: int) -> None:
    a, b = sample(kind, seed, (6, 5) if seed % 2 else (15, 12))
    found = compare_unpaired(a, b, alpha=0.1, draws=500, seed=seed)
    assert (found.p < 0.1) == (0.0 not in found.interval)


def test_drawn_labels_come_near_to_all() -> None:
    a, b = sample("spread", 5, (9, 8))
    both = TwoGroups(a, b), TwoGroups(np.tile(a, 2), np.tile(b, 2))
    exact, drawn = map(labels, both)
    assert exact.is_enumerated and not drawn.is_enumerated and drawn.draws == 10_000
    assert drawn.p >= 2 / 10_001
    theirs = stats.permutation_test(
        (np.tile(a, 2), np.tile(b, 2)), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True, rng=1
    )
    assert drawn.p == pytest.approx(theirs.pvalue, abs=0.01)


def test_drawn_labels_stay_within_topics() -> None:
    """All of A's scores of one topic are 1 and of the other 0, as are B's: no labelling changes the sum."""
    a, b = [1.0] * 12 + [0.0] * 8, [1.0] * 6 + [0.0] * 14
    topics = (["x"] * 12 + ["y"] * 8, ["x"] * 6 + ["y"] * 14)
    found = compare_unpaired(a, b, topics, draws=200)
    assert (found.p, found.difference, found.topics) == (1.0, 0.0, 2) and not found.test.is_enumerated
    assert compare_unpaired(a, b, draws=200).difference == pytest.approx(0.3)


def test_draws_that_are_too_few_for_a_level_set_no_limits() -> None:
    """19 draws and the observed labels: the smallest p is 2 of 20."""
    a, b = sample("spread", 6, (14, 15))
    found = compare_unpaired(a, b - 1, draws=19, alpha=0.1)
    assert (found.p, found.interval.is_bounded) == (0.1, False)


def test_another_seed_other_draws_and_the_same_again() -> None:
    a, b = sample("spread", 6, (14, 15))
    ps = [compare_unpaired(a, b + 0.15, draws=2000, seed=seed).p for seed in (0, 1, 0)]
    assert ps[0] == ps[2] != ps[1]


def test_neither_the_order_of_systems_nor_that_of_sessions_matters() -> None:
    a, b = sample("skewed", 11, (14, 14))
    topics = (["x"] * 5 + ["y"] * 9, ["x"] * 8 + ["y"] * 6)
    found = compare_unpaired(a, b, topics, draws=400)
    turned = compare_unpaired(b, a, topics[::-1], draws=400)
    mixed = compare_unpaired(a[::-1], b, (topics[0][::-1], topics[1]), draws=400)
    assert found.p == turned.p == mixed.p and not found.test.is_enumerated
    assert (found.interval.low, found.interval.high) == (-turned.interval.high, -turned.interval.low)
    assert found.interval == mixed.interval


@pytest.mark.parametrize("sizes", [(5, 9), (8, 8), (12, 30)])
def test_hodges_lehmann_limits_invert_scipys_test(sizes: tuple[int, int]) -> None:
    a, b = sample("spread", 7, sizes)
    found = compare_unpaired(a, b, test="mann-whitney").interval
    assert found.method == "hodges-lehmann"
    for limit, outside in ((found.low, -1), (found.high, 1)):
        rejected, kept = (
            stats.mannwhitneyu(a - limit - side * 1e-6, b, method="exact").pvalue for side in (outside, -outside)
        )
        assert rejected < 0.05 <= kept


def test_effect_sizes() -> None:
    a, b = sample("spread", 8, (12, 20))
    found = compare_unpaired(a, b).effect
    pooled = math.sqrt((11 * a.var(ddof=1) + 19 * b.var(ddof=1)) / 30)
    factor = math.exp(math.lgamma(15) - math.lgamma(14.5)) / math.sqrt(15)
    assert found.hedges_g == pytest.approx(factor * (a.mean() - b.mean()) / pooled)
    assert found.hedges_g_interval is not None
    t, root = stats.ttest_ind(a, b).statistic, math.sqrt(12 * 20 / 32)
    for limit, below in ((found.hedges_g_interval.low, 0.975), (found.hedges_g_interval.high, 0.025)):
        assert stats.nct.cdf(t, 30, limit * root) == pytest.approx(below, abs=1e-6)
    signs = np.sign(a[:, None] - b[None, :])
    assert found.cliffs_delta == pytest.approx(signs.mean()) and found.superiority == pytest.approx(
        (1 + signs.mean()) / 2
    )


def test_cliffs_interval_is_feng_and_cliffs() -> None:
    a, b = np.array([1.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 0.5])
    signs = [[int(np.sign(x - y)) for y in b] for x in a]
    d = np.mean(signs)
    rows = sum((np.mean(row) - d) ** 2 for row in signs)
    columns = sum((np.mean(column) - d) ** 2 for column in zip(*signs, strict=True))
    cells = sum((each - d) ** 2 for row in signs for each in row)
    variance = (9 * rows + 16 * columns - cells) / (4 * 3 * 3 * 2)
    z = stats.norm.ppf(0.975)
    root = z * math.sqrt(variance) * math.sqrt((1 - d * d) ** 2 + z * z * variance)
    found = compare_unpaired(a, b).effect.cliffs_delta_interval
    assert found is not None
    below = 1 - d * d + z * z * variance
    assert (found.low, found.high) == pytest.approx(((d - d**3 - root) / below, (d - d**3 + root) / below))


def test_lower_is_better_turns_dominance_round() -> None:
    a, b = [1.0, 2.0, 3.0, 1.5], [4.0, 5.0, 6.0, 7.0]
    found = compare_unpaired(a, b, better="lower")
    assert (found.effect.superiority, found.verdict) == (1.0, "better")
    assert compare_unpaired(a, b, better="lower", test="mann-whitney").verdict == "better"


def test_detectable_is_that_of_statsmodels() -> None:
    a, b = sample("spread", 9, (12, 24))
    found = compare_unpaired(a, b, alpha=0.01)
    theirs = TTestIndPower().solve_power(nobs1=12, ratio=2.0, alpha=0.01, power=0.8)
    assert found.detectable is not None and found.sd is not None
    assert found.detectable / found.sd == pytest.approx(theirs, rel=1e-5)


@together("test", ["welch", "labels"])
def test_equivalence_is_two_one_sided_tests(test: str) -> None:
    """The margin is between the ends of scipy's 90% and 95% intervals: the former decides."""
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=40), rng.normal(size=40)
    a += 0.05 - (a.mean() - b.mean())
    theirs = stats.ttest_ind(a, b, equal_var=False)
    margin = sum(theirs.confidence_interval(level).high for level in (0.9, 0.95)) / 2
    found = compare_unpaired(a, b, test=test, margin=margin)
    assert found.margin is not None and found.margin.interval.level == 0.9
    assert found.margin.interval.high < margin < found.interval.high
    assert (found.verdict, found.is_significant) == ("equivalent", False)


def test_many_sessions_are_tested_by_welch() -> None:
    rng = np.random.default_rng(5)
    found = compare_unpaired(rng.normal(size=3000), rng.normal(size=2500))
    assert found.test.name == "welch" and found.verdict == "margin required"


def test_many_sessions_stay_within_topics() -> None:
    """A is better within each topic, but has more sessions of the hard one: means without topics point the other way.
    p and limits are those of least squares, and near those of shuffles."""
    rng = np.random.default_rng(0)
    hard = [rng.random(2600) < share for share in (0.7, 0.3)]
    a, b = (np.where(of, 0.2, 0.8) + rng.normal(0, 0.3, of.size) for of in hard)
    a += 0.01
    topics = tuple(np.where(of, "hard", "easy").tolist() for of in hard)
    found = compare_unpaired(a, b, topics)
    is_a = np.repeat([1.0, 0.0], 2600)
    theirs = OLS(np.concatenate((a, b)), np.stack([is_a, np.ones(5200), np.concatenate(hard)], axis=1))
    theirs = theirs.fit(cov_type="HC2", use_t=True)
    assert (found.test.name, found.topics, found.sizes) == ("labels", 2, (2600, 2600)) and a.mean() < b.mean()
    assert (found.difference, found.p) == pytest.approx((theirs.params[0], theirs.pvalues[0]))
    assert [found.interval.low, found.interval.high] == pytest.approx(theirs.conf_int()[0].tolist())
    drawn = compare_unpaired(a, b, topics, draws=1000)
    assert drawn.test.draws == 1000 and drawn.p == pytest.approx(found.p, abs=0.04)
    assert [drawn.interval.low, drawn.interval.high] == pytest.approx(theirs.conf_int()[0].tolist(), abs=0.003)


def test_many_sessions_that_do_not_vary() -> None:
    found = compare_unpaired([0.9] * 3000, [0.1] * 2500, draws=200)
    assert (found.test.name, found.difference) == ("labels", 0.8) and found.p == pytest.approx(2 / 201)
    assert compare_unpaired([0.5] * 5001, [0.5], draws=200).p == 1.0


def test_topics_of_few_sessions_are_not_used() -> None:
    """One shared topic would leave a session of each: all take part, and it is said why topics do not."""
    a, b = sample("spread", 12, (20, 20))
    topics = tuple([*(f"{name}{i}" for i in range(19)), "both"] for name in "ab")
    found, without = compare_unpaired(a, b, topics, draws=300), compare_unpaired(a, b, draws=300)
    assert (found.topics, found.alone, found.sizes, found.p) == (0, 0, (20, 20), without.p)
    assert "only 1 of 20 and 1 of 20 sessions are of shared topics" in found.warnings[-1]


def test_unequal_spreads_of_unequal_groups_find_no_more_than_they_may() -> None:
    """Ten sessions that vary twice as much as forty others, of the same mean: shuffled differences of means called 64
    of these 400 different."""
    rng = np.random.default_rng(2)
    pairs = [(rng.normal(0.5, 0.2, 10), rng.normal(0.5, 0.1, 40)) for _ in range(400)]
    found = [compare_unpaired(a, b, draws=199).is_significant for a, b in pairs]
    assert 8 <= sum(found) <= 36


def test_very_unequal_spreads_are_warned_of() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.5, 0.4, 10), rng.normal(0.5, 0.1, 40)
    said = "scores of the system with fewer sessions vary 4.6 times as much as the other's"
    for one, other in ((a, b), (b, a)):
        assert any(each.startswith(said) for each in compare_unpaired(one, other).warnings)
        assert not any(said in each for each in compare_unpaired(one, other, test="welch").warnings)
    assert not any("times as much" in each for each in compare_unpaired(a, b[:10]).warnings)


def test_one_session_of_a_system_is_judged_by_differences() -> None:
    """There is no spread of one session: of 40 labellings, one is as high."""
    found = compare_unpaired([9.0], np.arange(39) / 10)
    assert (found.p, found.test.statistic, found.interval.is_bounded) == (2 / 40, None, False)


class TestDegenerate:
    def test_equal_scores_are_no_evidence(self) -> None:
        for test in ("labels", "welch", "mann-whitney"):
            found = compare_unpaired([0.3, 0.1 + 0.2], [0.3, 0.3, 0.3], test=test)
            assert (found.p, found.difference, found.is_alike, found.detectable) == (1.0, 0.0, True, None)
            assert "there is no difference to test" in found.warnings[0]

    @pytest.mark.parametrize("scale", [0.0, 1e-100, 1e100])
    def test_scores_of_any_scale_have_an_interval(self, scale: float) -> None:
        rng = np.random.default_rng(1)
        found = compare_unpaired(scale * rng.random(12), scale * rng.random(14), draws=100)
        assert found.interval.low <= found.difference <= found.interval.high and 0 < found.p <= 1

    def test_one_session_of_each(self) -> None:
        found = compare_unpaired([0.9], [0.1])
        assert (found.p, found.interval.is_bounded, found.effect.hedges_g) == (1.0, False, None)
        assert found.warnings[0].startswith("2 labellings cannot reach 5%")
        with pytest.raises(InputError, match="fewer than 2 sessions"):
            compare_unpaired([0.9], [0.1, 0.2], test="welch")

    def test_systems_without_spread(self) -> None:
        found = compare_unpaired([0.9] * 5, [0.1] * 5)
        assert found.p == pytest.approx(2 / math.comb(10, 5)) and (found.interval.low, found.interval.high) == (
            0.8,
            0.8,
        )
        with pytest.raises(InputError, match="scores are the same"):
            compare_unpaired([0.9] * 5, [0.1] * 5, test="welch")

    def test_a_topic_of_one_session_says_nothing(self) -> None:
        found = compare_unpaired([0.1, 0.9], [0.2], (["t", None], ["t"]))
        assert (found.topics, found.alone, found.sizes) == (1, 1, (1, 1))

    def test_without_common_topics_nothing_is_blocked(self) -> None:
        found = compare_unpaired([0.1, 0.9], [0.2, 0.3], (["a", "b"], ["c", None]))
        assert (found.topics, found.alone, found.sizes) == (0, 0, (2, 2))

    def test_other_tests_do_not_use_topics_and_say_so(self) -> None:
        found = compare_unpaired([0.1, 0.9], [0.2, 0.3], (["a", "b"], ["a", "b"]), test="welch")
        assert found.topics == 0 and any("which welch ignores; labels uses them" in each for each in found.warnings)

    def test_refused(self) -> None:
        with pytest.raises(UsageError, match=r"test: expected labels . welch . mann-whitney, found 't'"):
            compare_unpaired([0.1], [0.2], test="t")
        with pytest.raises(InputError, match="must be finite numbers"):
            compare_unpaired([math.nan], [0.2])
        with pytest.raises(InputError, match="must be finite numbers"):
            compare_unpaired([], [0.2])
