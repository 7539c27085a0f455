"""The order of systems on other queries and with fewer judgments; swaps; discriminative power."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import kendalltau, ttest_rel
from statsmodels.stats.multitest import multipletests

from gainful import Policy, Qrels, assess_documents
from gainful.errors import UsageError
from gainful.stats.anova import t_of_all_pairs
from gainful.stats.stability import Leads, Spread, SwapBin, discriminative_power, stability_over_queries, swap_rates
from gainful.stats.tukey import randomised_tukey
from gainful.tasks.stability import Thinning
from gainful_papers.significance import also_in
from tests.together import together

Matrix = NDArray[np.float64]


def random_scores(seed: int, queries: int = 20, systems: int = 8, apart: float = 0.4) -> Matrix:
    rng = np.random.default_rng(seed)
    return np.asarray(
        rng.normal(size=(queries, 1)) + apart * rng.normal(size=systems) + rng.normal(size=(queries, systems))
    )


class TestQueries:
    def test_first(self) -> None:
        scores = random_scores(0)
        half, fifth, all_of_them = stability_over_queries(scores, [0.5, 0.2, 1], topics="first")
        whole = scores.mean(axis=0)
        assert half.part_whole is not None and half.split_half is not None and fifth.split_half is not None
        assert half.part_whole.mean == pytest.approx(kendalltau(scores[:10].mean(axis=0), whole).statistic)
        assert half.split_half.mean == pytest.approx(
            kendalltau(scores[:10].mean(axis=0), scores[10:].mean(axis=0)).statistic
        )
        assert fifth.split_half.mean == pytest.approx(
            kendalltau(scores[:4].mean(axis=0), scores[4:8].mean(axis=0)).statistic
        )
        assert (half.size, fifth.size, half.part_whole.draws, half.part_whole.sd) == (10, 4, 1, 0)
        assert all_of_them.part_whole is not None
        assert (all_of_them.part_whole.mean, all_of_them.split_half) == (1, None)

    def test_random(self) -> None:
        scores = random_scores(1, 6, 5)
        whole = scores.mean(axis=0)
        # All 20 halves of 6 queries, each with its complement.
        parts = [kendalltau(scores[list(rows)].mean(axis=0), whole).statistic for rows in combinations(range(6), 3)]
        halves = [
            kendalltau(
                scores[list(rows)].mean(axis=0), scores[[i for i in range(6) if i not in rows]].mean(axis=0)
            ).statistic
            for rows in combinations(range(6), 3)
        ]
        [found] = stability_over_queries(scores, [0.5], draws=3000)
        for spread, exact in ((found.part_whole, parts), (found.split_half, halves)):
            assert spread is not None
            assert spread.mean == pytest.approx(np.mean(exact), abs=5 * np.std(exact) / 3000**0.5)
            assert spread.sd == pytest.approx(np.std(exact), rel=0.1)
            assert (spread.lowest, spread.highest) == (pytest.approx(min(exact)), pytest.approx(max(exact)))
        # A part of the whole agrees with it more than with what it is not part of.
        assert np.mean(parts) > np.mean(halves)

    def test_seed(self) -> None:
        scores = random_scores(2)
        assert stability_over_queries(scores, draws=20) == stability_over_queries(scores, draws=20)
        assert stability_over_queries(scores, draws=20) != stability_over_queries(scores, draws=20, seed=1)

    def test_sizes_are_rounded(self) -> None:
        found = stability_over_queries(random_scores(3, 5), [0.01, 0.3, 0.5, 0.9], draws=2)
        assert [each.size for each in found] == [1, 2, 3, 5]
        assert [each.split_half is None for each in found] == [False, False, True, True]

    def test_nothing_to_order(self) -> None:
        [found] = stability_over_queries(np.ones((4, 3)), [0.5], draws=5)
        assert (found.part_whole, found.split_half) == (None, None)
        [single] = stability_over_queries(np.array([[0.1, 0.2]]), [0.5], draws=5)
        assert single.part_whole is not None
        assert (single.part_whole.mean, single.split_half) == (1, None)

    def test_undefined_draws_are_counted(self) -> None:
        # The two systems differ on one query of four: half of all halves have it.
        [found] = stability_over_queries(np.array([[0.1, 0.2], [0, 0], [0, 0], [0, 0]]), [0.5], draws=400)
        assert found.part_whole is not None
        assert found.part_whole.mean == 1
        assert found.part_whole.draws + found.part_whole.undefined == 400
        assert found.part_whole.draws == pytest.approx(200, abs=50)

    @pytest.mark.parametrize("share", [0, 1.5, -1])
    def test_refuses(self, share: float) -> None:
        with pytest.raises(UsageError, match="share"):
            stability_over_queries(random_scores(0), [share])
        with pytest.raises(UsageError, match="share"):
            Thinning(Qrels.from_dict({"q": {"d": 1}})).parts(share)

    def test_refuses_topics_and_draws(self) -> None:
        with pytest.raises(UsageError, match="topics"):
            stability_over_queries(random_scores(0), topics="last")
        with pytest.raises(UsageError, match="draws"):
            stability_over_queries(random_scores(0), draws=0)

    def test_spread(self) -> None:
        assert Spread.of([None]) is None
        assert Spread.of([0.0, 1.0, None]) == (0.5, 0.5**0.5, 0.0, 1.0, 2, 1)


def judgments(seed: int, queries: int = 10, documents: int = 40) -> dict[str, dict[str, int]]:
    source = random.Random(seed)
    return {
        f"q{q}": {f"d{d}": source.choice([0, 0, 1, 2]) for d in source.sample(range(100), documents)}
        for q in range(queries)
    }


def rows_of(qrels: Qrels) -> set[tuple[bytes, bytes]]:
    return {(qrels.query_ids[q], qrels.document(row)) for row, q in enumerate(qrels.query.tolist())}


def noisy_lists(luck: float) -> dict[str, list[str]]:
    """The documents of ``judgments(2)``, ordered by grade as often as one is lucky."""
    source, lists = random.Random(5), {}
    for query, grades in judgments(2).items():
        key = {d: grade if source.random() < luck else 2 * source.random() for d, grade in grades.items()}
        lists[query] = sorted(grades, key=lambda d, key=key: -key[d])  # type: ignore[misc]
    return lists


class TestDocuments:
    def test_shares(self) -> None:
        qrels = Qrels.from_dict(judgments(0))
        part, other = Thinning(qrels).parts(0.3)
        assert other is not None
        assert len(part) == pytest.approx(120, abs=45)
        assert len(other) == pytest.approx(120, abs=45)
        assert not rows_of(part) & rows_of(other)
        assert rows_of(part) < rows_of(qrels)
        assert (part.query_ids, part.scale, part.levels) == (qrels.query_ids, qrels.scale, qrels.levels)
        assert Thinning(qrels).parts(0.6)[1] is None
        assert rows_of(Thinning(qrels).parts(1)[0]) == rows_of(qrels)
        assert rows_of(part) < rows_of(Thinning(qrels).parts(0.5)[0])

    def test_order_of_the_input(self) -> None:
        source = judgments(1)
        turned = {query: dict(reversed(grades.items())) for query, grades in reversed(source.items())}
        one, other = (Thinning(Qrels.from_dict(each)).parts(0.5, draw=3, seed=2)[0] for each in (source, turned))
        assert rows_of(one) == rows_of(other)
        assert rows_of(one) != rows_of(Thinning(Qrels.from_dict(source)).parts(0.5, draw=4, seed=2)[0])
        assert rows_of(one) != rows_of(Thinning(Qrels.from_dict(source)).parts(0.5, draw=3, seed=3)[0])

    def test_rows_of_one_document_go_together(self) -> None:
        lines = [f"q{q} {subtopic} d{d} 1" for q in range(3) for d in range(20) for subtopic in (1, 2)]
        part, _ = Thinning(Qrels.read(("\n".join(lines) + "\n").encode())).parts(0.5)
        assert 0 < len(part) < len(lines)
        assert len(part) == 2 * len(rows_of(part))

    def test_orders(self) -> None:
        qrels = Qrels.from_dict(judgments(2))
        systems = {
            name: noisy_lists(luck) for name, luck in (("good", 0.8), ("fair", 0.5), ("poor", 0.2), ("bad", 0.05))
        }
        found = assess_documents(qrels, systems, "AP", [1, 0.5, 0.1], draws=6, policy=Policy(unjudged="condensed"))
        whole, half, tenth = found["AP"].parts
        assert whole.part_whole is not None and half.part_whole is not None and tenth.part_whole is not None
        assert (whole.part_whole.mean, whole.split_half, whole.size) == (1, None, 400)
        assert half.split_half is not None and tenth.split_half is not None
        assert tenth.part_whole.mean < 1
        assert tenth.split_half.mean <= half.part_whole.mean


class TestSwaps:
    def test_naive(self) -> None:
        # 4 queries: sets of two and their complements are all there are.
        scores = np.abs(random_scores(0, 4, 5))
        found = swap_rates(scores, draws=6000, fuzziness=0.1, bins=[0.2, 0.5])
        counts = {pair: [0, 0, 0] for pair in combinations(range(5), 2)}
        by_bin = [[0, 0], [0, 0], [0, 0]]
        for rows in combinations(range(4), 2):
            means = scores[list(rows)].mean(axis=0)
            others = scores[[i for i in range(4) if i not in rows]].mean(axis=0)
            for (i, j), count in counts.items():
                lead, later = means[i] - means[j], others[i] - others[j]
                tied = abs(lead) < 0.1 * max(means[i], means[j])
                count[0 if tied else 1 if lead > 0 else 2] += 1
                group = by_bin[int(abs(lead) >= 0.2) + int(abs(lead) >= 0.5)]
                group[0] += 1
                group[1] += lead * later < 0
        total = sum(map(sum, counts.values()))
        assert found.tie_rate == pytest.approx(sum(c[0] for c in counts.values()) / total, abs=0.02)
        assert found.error_rate == pytest.approx(sum(min(c[1:]) for c in counts.values()) / total, abs=0.02)
        for each, (comparisons, swaps) in zip(found.bins, by_bin, strict=True):
            assert each.comparisons / 6000 == pytest.approx(comparisons / 6, rel=0.1)
            assert each.rate == pytest.approx(swaps / comparisons, abs=0.03)

    def test_clear_order(self) -> None:
        scores = np.arange(5) / 10 + np.random.default_rng(0).normal(0, 0.001, (20, 5))
        found = swap_rates(scores, draws=50)
        assert (found.error_rate, found.tie_rate, found.queries) == (0, 0, 10)
        assert sum(each.comparisons for each in found.bins) == 50 * 10
        assert found.difference_for() == pytest.approx(0.09)

    def test_fuzziness_only_adds_ties(self) -> None:
        scores = np.abs(random_scores(1))
        exact, fuzzy = swap_rates(scores, fuzziness=0, draws=100), swap_rates(scores, fuzziness=0.2, draws=100)
        assert exact.tie_rate == 0 < fuzzy.tie_rate
        assert fuzzy.error_rate < exact.error_rate
        assert exact.bins == fuzzy.bins

    @pytest.mark.parametrize("parts", [1, 3, 7])
    def test_a_lead_of_just_the_fuzziness_is_no_tie(self, parts: int) -> None:
        """0.7 - 0.665 is below 0.05 times 0.7 in float64, but not in exact arithmetic."""
        for hundreds in range(100, 1000, 20):
            higher, lower = hundreds / 1000 / parts, hundreds * 19 / 20_000 / parts
            assert swap_rates(np.array([[higher, lower]] * 4), draws=2).tie_rate == 0
            assert swap_rates(np.array([[higher, lower + 1e-6]] * 4), draws=2).tie_rate == 1

    def test_identical_systems_are_tied(self) -> None:
        column = np.random.default_rng(0).random((10, 1))
        found = swap_rates(np.hstack((column, column)), draws=30, fuzziness=0)
        assert (found.error_rate, sum(each.comparisons for each in found.bins)) == (0, 0)
        assert found.tie_rate == 1
        assert found.difference_for() is None

    def test_a_lead_on_an_edge_belongs_to_the_bin_above(self) -> None:
        """Systems at 0, 0.01, ..., 0.20 on every query: 21 - k pairs lead by k / 100, the lower end of a bin."""
        found = swap_rates(np.tile(np.arange(21) / 100, (4, 1)), draws=3)
        assert [each.comparisons for each in found.bins] == [0, *(3 * (21 - k) for k in range(1, 21))]
        assert [each.low for each in found.bins] == [k / 100 for k in range(21)]

    def test_few_systems_or_comparisons_say_nothing_of_a_difference_needed(self) -> None:
        """Of the same clear order, five systems tell a difference and four do not; a bin of 19 comparisons is left out,
        whether none of them is a swap or all are."""
        scores = np.arange(5) / 10 + np.random.default_rng(0).normal(0, 0.001, (20, 5))
        assert swap_rates(scores[:, :4], draws=50).difference_for() is None
        found = swap_rates(scores, draws=50)
        bins = [SwapBin(0.0, 0.1, 20, 1), SwapBin(0.1, 0.2, 19, 19), SwapBin(0.2, math.inf, 20, 0)]
        assert replace(found, bins=tuple(bins)).difference_for() == 0.0
        assert replace(found, bins=(SwapBin(0.0, 0.1, 20, 20), SwapBin(0.1, 0.2, 19, 0))).difference_for() is None

    def test_difference_for(self) -> None:
        found = swap_rates(random_scores(2, 60), draws=300, bins=[0.1, 0.2, 0.4, 0.8])
        limit = found.difference_for(0.1)
        assert limit is not None
        for each in found.bins:
            if each.low >= limit and each.rate is not None:
                assert each.rate <= 0.1
        assert max(each.rate for each in found.bins if each.rate is not None and each.low < limit) > 0.1

    @together(
        ("arguments", "what"),
        [
            ({"queries": 11}, "queries"),
            ({"queries": 0}, "queries"),
            ({"fuzziness": 1}, "fuzziness"),
            ({"draws": 0}, "draws"),
        ],
    )
    def test_refuses(self, arguments: dict[str, Any], what: str) -> None:
        with pytest.raises(UsageError, match=what):
            swap_rates(random_scores(0), **arguments)
        with pytest.raises(UsageError, match="systems"):
            swap_rates(np.ones((4, 1)))


class TestDiscriminativePower:
    def test_t_is_that_of_scipy(self) -> None:
        scores = random_scores(3)
        found = t_of_all_pairs(scores)
        theirs = [ttest_rel(scores[:, i], scores[:, j]) for i, j in combinations(range(8), 2)]
        assert found.statistic == pytest.approx([each.statistic for each in theirs])
        assert found.p == pytest.approx([each.pvalue for each in theirs])

    def test_share_and_curve(self) -> None:
        scores = random_scores(4)
        found = discriminative_power(scores)
        p = sorted(ttest_rel(scores[:, i], scores[:, j]).pvalue for i, j in combinations(range(8), 2))
        assert found.curve == pytest.approx(p)
        assert (found.pairs, found.significant) == (28, sum(value <= 0.05 for value in p))
        assert found.share == found.significant / 28
        means = scores.mean(axis=0)
        apart = {
            abs(means[i] - means[j]): ttest_rel(scores[:, i], scores[:, j]).pvalue <= 0.05
            for i, j in combinations(range(8), 2)
        }
        assert found.threshold is not None
        assert all(is_significant for lead, is_significant in apart.items() if lead >= found.threshold - 1e-9)
        below = max(lead for lead in apart if lead < found.threshold - 1e-9)
        assert not apart[below]

    def test_identical_systems_and_one_query(self) -> None:
        column = np.random.default_rng(0).random((10, 1))
        assert t_of_all_pairs(np.hstack((column, column))).p.tolist() == [1]
        assert t_of_all_pairs(np.array([[0.1, 0.2]])).p.tolist() == [1]
        [p] = t_of_all_pairs(np.hstack((column, column + 0.1))).p
        assert 0 < p < 1e-300
        assert discriminative_power(np.ones((3, 1))).share == 0
        assert discriminative_power(np.ones((3, 3))).threshold is None

    def test_by_another_test(self) -> None:
        test, found = randomised_tukey(random_scores(5)), discriminative_power(random_scores(5), "rthsd")
        assert (found.significant, found.test) == (np.count_nonzero(test.p <= 0.05), "randomised Tukey HSD")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds(seed: int) -> None:
    with pytest.raises(UsageError, match="seed"):
        stability_over_queries(random_scores(0), seed=seed)
    with pytest.raises(UsageError, match="seed"):
        randomised_tukey(random_scores(0), seed=seed)


@together(("queries", "systems", "grid"), [(12, 5, 0), (30, 8, 4), (2, 3, 0), (40, 2, 2)])
def test_means_by_paired_t_tests_and_holm(queries: int, systems: int, grid: int) -> None:
    """Scores on a grid are tied in many queries."""
    draw = np.random.default_rng(queries)
    scores = draw.random((queries, systems)) + np.linspace(0, 0.5, systems)
    if grid:
        scores = np.round(scores * grid) / grid
    found = Leads.by_means(scores)
    pairs = list(combinations(range(systems), 2))
    p = [float(stats.ttest_rel(scores[:, i], scores[:, j]).pvalue) for i, j in pairs]
    assert found.shown.tolist() == multipletests(p, 0.05, "holm")[0].tolist()
    means = scores.mean(axis=0)
    assert found.first_leads.tolist() == [bool(means[i] > means[j]) for i, j in pairs]


def test_a_constant_difference_is_shown_and_none_is_not() -> None:
    found = Leads.by_means(np.array([[0.1, 0.3, 0.1]] * 4))
    assert found.shown.tolist() == [True, False, True]
    assert Leads.by_means(np.array([[0.1, 0.3]])).shown.tolist() == [False]  # one query shows nothing


def test_pairs_of_two_settings() -> None:
    """1: the first is ahead, -1: the second, 0: not significant."""
    one, other = (Leads(np.array(signs) != 0, np.array(signs) > 0) for signs in ([1, 1, -1, 1, 0], [1, -1, 0, 0, 1]))
    assert one.reversed_in(other).tolist() == [False, True, False, False, False]
    assert also_in(one, other).tolist() == [True, False, False, False, False]
