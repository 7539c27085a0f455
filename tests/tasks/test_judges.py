"""Agreement between two sets of judgments: by hand, from the papers, and against independent computations."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from gainful import InputError, Policy, Qrels, UsageError
from gainful.data.judged import Judged
from gainful.tasks.judgments import judges
from gainful.tasks.judgments.judges import Estimate, JudgmentComparison, QueryAgreement, compare_judgments
from tests.together import together

Pairs = Sequence[tuple[float, float]]
Judgments = dict[str, dict[str, float]]


def two_sets(*queries: Pairs) -> tuple[Judgments, Judgments]:
    """Return judgments from each query's pairs of grades."""
    sides: tuple[Judgments, Judgments] = ({}, {})
    for i, pairs in enumerate(queries):
        for side, judgments in enumerate(sides):
            judgments[f"q{i:03}"] = {f"d{j}": pair[side] for j, pair in enumerate(pairs)}
    return sides


def compared(*queries: Pairs, draws: int = 0, **options: Any) -> JudgmentComparison:
    return compare_judgments(*two_sets(*queries), draws=draws, **options)


def cells(*counts: tuple[float, float, int]) -> list[tuple[float, float]]:
    return [(a, b) for a, b, count in counts for _ in range(count)]


def random_queries(seed: int, queries: int, levels: Sequence[float], most: int = 12) -> list[list[tuple[float, float]]]:
    """Pairs that tend to agree, more so for later queries."""
    source = random.Random(seed)
    made = []
    for i in range(queries):
        pairs = []
        for _ in range(source.randint(1, most)):
            a = source.choice(levels)
            pairs.append((a, a if source.random() < 0.4 + 0.5 * i / queries else source.choice(levels)))
        made.append(pairs)
    return made


class TestByHand:
    def test_kappa_of_two_by_two(self) -> None:
        # Both yes 20, A only 5, B only 10, both no 15. Observed agreement 35/50 = .7. A says yes 25/50, B 30/50: by
        # chance they would agree in .5 * .6 + .5 * .4 = .5. kappa = (.7 - .5) / (1 - .5) = .4.
        found = compared(cells((1, 1, 20), (1, 0, 5), (0, 1, 10), (0, 0, 15)))
        assert found.agreement.value == 0.7
        for name in ("kappa", "kappa_linear", "kappa_quadratic", "relevance_kappa"):
            assert getattr(found, name).value == pytest.approx(0.4, abs=1e-15)
        # Of all 100 grades 55 are yes: by chance .55^2 + .45^2 = .505. Fleiss: (.7 - .505) / (1 - .505) = 39/99.
        assert found.kappa_fleiss.value == pytest.approx(39 / 99, abs=1e-15)
        # Of all 100 grades 55 are yes. alpha = 1 - (100 - 1) * 2 * 15 / (100^2 - 55^2 - 45^2) = 1 - 2970/4950 = .4.
        for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval"):
            assert getattr(found, name).value == pytest.approx(0.4, abs=1e-15)
        assert (found.higher.value, found.lower.value) == (0.2, 0.1)
        assert found.mean_difference.value == pytest.approx(0.1)

    def test_weights_are_differences_of_grades(self) -> None:
        # Levels 0, 1, 10; pairs (0, 0), (0, 1), (10, 10), (10, 1). Sums over all 4 x 4 meetings of a grade of A
        # (0 0 10 10) with one of B (0 1 10 1), divided by 4:
        # |d|: 0 meets 0 1 10 1: 12, twice; 10 meets them: 10 9 0 9 = 28, twice; 80/4 = 20. Observed 0 1 0 9 = 10.
        # d^2: 102 twice; 100 81 0 81 = 262 twice; 728/4 = 182. Observed 1 + 81 = 82.
        found = compared([(0, 0), (0, 1), (10, 10), (10, 1)])
        assert found.kappa_linear.value == pytest.approx(1 - 10 / 20)
        assert found.kappa_quadratic.value == pytest.approx(1 - 82 / 182)
        assert found.mean_difference.value == (1 - 9) / 4
        assert found.mean_absolute_difference.value == (1 + 9) / 4

    def test_distance_is_counted_in_levels(self) -> None:
        # The levels are 0, 0.5, 2, 7 (0.5 occurs only in A, 7 only in B, on documents that the other has not).
        a = {"q": {"d1": 0, "d2": 0, "d3": 2, "d4": 0.5}}
        b = {"q": {"d1": 0, "d2": 2, "d3": 2, "d5": 7}}
        found = compare_judgments(a, b)
        assert found.levels == (0, 0.5, 2, 7)
        shares = (found.agreement.value, found.one_level_apart.value, found.further_apart.value)
        assert shares == pytest.approx((2 / 3, 0, 1 / 3))
        assert (found.documents, found.only_a, found.only_b) == (3, 1, 1)

    def test_relevance_from_a_level_on(self) -> None:
        pairs = [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)]
        # Above 0: two of five differ. From 2 on: only (1, 2) does.
        assert compared(pairs).relevance_agreement.value == pytest.approx(3 / 5)
        found = compared(pairs, rel=2)
        assert found.relevance_agreement.value == pytest.approx(4 / 5)
        # A says relevant 2 times of 5, B 3 times: chance 2/5 * 3/5 + 3/5 * 2/5 = 12/25; (4/5 - 12/25) / (13/25).
        assert found.relevance_kappa.value == pytest.approx(8 / 13)
        assert (found.relevant_a.value, found.relevant_b.value, found.rel) == (2 / 5, 3 / 5, 2)

    def test_by_query(self) -> None:
        found = compared([(1, 1), (2, 0)], [(0, 1)])
        assert found.by_query == (QueryAgreement("q000", 2, 0.5, -1, 1), QueryAgreement("q001", 1, 0, 1, 1))

    def test_cross_table(self) -> None:
        found = compared([(1, 1), (2, 0), (1, 0), (1, 1)])
        assert (found.levels_a, found.levels_b) == ((1, 2), (0, 1))
        assert found.cross_table() == ((1, 1), (2, 0))  # B's 0: one document of A's 1, one of A's 2
        assert found.grade_pairs == ((1, 0, 1), (1, 1, 2), (2, 0, 1))


class TestPapers:
    def test_table_1_of_jarvelin2002(self) -> None:
        """A are TREC's judgments (two levels), B the new ones on four levels: counts and column percentages."""
        counts = {0: (691, 2780), 1: (1004, 134), 2: (724, 40), 3: (353, 11)}
        printed = {0: (25.0, 93.8), 1: (36.2, 4.5), 2: (26.1, 1.3), 3: (12.7, 0.4)}
        relevant = [(1, new, row[0]) for new, row in counts.items()]
        irrelevant = [(0, new, row[1]) for new, row in counts.items()]
        found = compared(cells(*relevant, *irrelevant))
        assert found.documents == 5737
        table = np.array(found.cross_table())
        assert table.tolist() == [[row[1], row[0]] for row in counts.values()]
        per_cent = 100 * table / table.sum(axis=0)
        for level, (of_relevant, of_irrelevant) in printed.items():
            # 691 of 2772 are 24.93%; the paper prints 25.0, so that the column adds up to 100.
            half_a_unit = 0.1 if level == 0 else 0.05
            assert per_cent[level] == pytest.approx([of_irrelevant, of_relevant], abs=half_a_unit)
        assert table.sum(axis=1).tolist() == [3471, 1138, 764, 364]
        # "Of the TREC relevant documents 75% were judged relevant at some level".
        assert per_cent[1:, 1].sum() == pytest.approx(75, abs=0.5)
        # "The re-assessors have been somewhat stricter than the original judges": 39.5% relevant against 48.3%.
        assert found.relevant_a.value == pytest.approx(2772 / 5737)
        assert found.relevant_b.value == pytest.approx((5737 - 3471) / 5737)

    def test_agreement_by_distance_of_jarvelin2000(self) -> None:
        """ "Agreed in 73%, in 21% the difference was one point, and in 6% two or three points."""
        found = compared(cells((2, 2, 40), (0, 0, 33), (1, 2, 11), (3, 2, 10), (0, 2, 2), (3, 1, 2), (0, 3, 2)))
        shares = (found.agreement.value, found.one_level_apart.value, found.further_apart.value)
        assert shares == pytest.approx((0.73, 0.21, 0.06), abs=1e-15)


class TestIndependentComputations:
    @together("seed", range(5))
    @together("levels", [(0, 1), (0, 1, 2, 3), (-2, -1, 0, 1, 2), (-2, 0, 0.5, 7, 7.25)])
    def test_coefficients_are_those_of_other_packages(self, seed: int, levels: tuple[float, ...]) -> None:
        queries = random_queries(seed, 10, levels)
        pairs = np.array([pair for pairs in queries for pair in pairs])
        a, b = pairs.T
        found = compared(*queries)
        expected = {
            "relevance_kappa": cohen_kappa_score(a > 0, b > 0),
            "kappa_fleiss": fleiss_kappa(aggregate_raters(pairs)[0]),
        }
        for level in ("nominal", "ordinal", "interval"):
            expected[f"alpha_{level}"] = krippendorff.alpha(reliability_data=pairs.T, level_of_measurement=level)
        if all(level == round(level) for level in levels):  # scikit-learn weighs places, as grades are here
            for name, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
                expected[name] = cohen_kappa_score(a, b, labels=list(levels), weights=weights)
        for name, value in expected.items():
            assert getattr(found, name).value == pytest.approx(value, abs=1e-12), name

    @given(st.lists(st.tuples(*[st.floats(-4, 4, width=16)] * 2), min_size=1, max_size=30))
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    def test_real_grades(self, pairs: Pairs) -> None:
        found = compared(pairs)
        expected = naive(pairs)
        for name, value in expected.items():
            assert getattr(found, name).value == pytest.approx(value, abs=1e-9), name


def naive(pairs: Pairs) -> dict[str, float | None]:
    """All statistics from their definitions, over all pairs of documents."""
    n = len(pairs)
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    both = [*a, *b]
    found: dict[str, float | None] = {
        "agreement": sum(x == y for x, y in pairs) / n,
        "higher": sum(y > x for x, y in pairs) / n,
        "lower": sum(y < x for x, y in pairs) / n,
        "mean_difference": math.fsum(y - x for x, y in pairs) / n,
        "mean_absolute_difference": math.fsum(abs(y - x) for x, y in pairs) / n,
        "relevant_a": sum(grade > 0 for grade in a) / n,
        "relevant_b": sum(grade > 0 for grade in b) / n,
    }
    below = {grade: sum(other < grade for other in both) for grade in both}
    mid = {grade: below[grade] + both.count(grade) / 2 for grade in both}
    distances = {
        "kappa": lambda x, y: float(x != y),
        "kappa_linear": lambda x, y: abs(x - y),
        "kappa_quadratic": lambda x, y: (x - y) ** 2,
        "alpha_nominal": lambda x, y: float(x != y),
        "alpha_ordinal": lambda x, y: (mid[x] - mid[y]) ** 2,
        "alpha_interval": lambda x, y: (x - y) ** 2,
    }
    for name, distance in distances.items():
        observed = math.fsum(distance(x, y) for x, y in pairs) / n
        if name.startswith("kappa"):
            expected = math.fsum(distance(x, y) for x in a for y in b) / n**2
        else:
            expected = math.fsum(distance(x, y) for x in both for y in both) / (2 * n * (2 * n - 1))
        found[name] = None if len(set(both)) == 1 else 1 - observed / expected
    return found


class TestBootstrap:
    QUERIES = random_queries(3, 20, (0, 1, 2, 3))

    def test_is_that_of_a_slow_one_with_the_same_draws(self) -> None:
        draws = 12
        picks = np.random.default_rng(5).integers(0, len(self.QUERIES), (draws, len(self.QUERIES)))
        found = compared(*self.QUERIES, draws=draws, seed=5)
        samples = [naive([pair for i in row for pair in self.QUERIES[i]]) for row in picks.tolist()]
        for name, value in naive([pair for pairs in self.QUERIES for pair in pairs]).items():
            sd = np.std([float(sample[name] or 0) for sample in samples], ddof=1)
            widest = 3 if name.startswith("mean") else 1
            lowest = 0 if name in ("agreement", "higher", "lower", "mean_absolute_difference") else -widest
            lowest = 0 if name.startswith("relevant") else lowest
            # The delta method: the logit's slope is 1 / (x (1 - x)), x being the value's place between its limits.
            place = (value - lowest) / (widest - lowest)
            half = t.ppf(0.975, 19) * sd * math.sqrt(20 / 19) / (widest - lowest) / (place * (1 - place))
            low, high = lowest + (widest - lowest) * expit(logit(place) + np.array([-half, half]))
            assert getattr(found, name) == pytest.approx((value, low, high), abs=1e-9), name

    def test_interval_holds_the_value_on_all_queries(self) -> None:
        """Ten queries of forty, repeatedly; percentile intervals covered 88%. See docs/how-to/judgments.md."""
        queries = random_queries(11, 40, (0, 1, 2, 3))
        true, source = compared(*queries).kappa.value, random.Random(1)
        held = 0
        for sample in range(200):
            _, low, high = compared(*source.choices(queries, k=10), draws=100, seed=sample).kappa
            assert true is not None and low is not None and high is not None
            held += low <= true <= high
        assert held >= 0.93 * 200

    def test_same_seed_same_interval(self) -> None:
        assert compared(*self.QUERIES, draws=50, seed=1) == compared(*self.QUERIES, draws=50, seed=1)
        assert compared(*self.QUERIES, draws=50, seed=1) != compared(*self.QUERIES, draws=50, seed=2)
        usual = compare_judgments(*two_sets(*self.QUERIES))
        assert (usual.draws, usual.seed) == (1000, 0) and usual == compared(*self.QUERIES, draws=1000)

    def test_how_many_draws_are_made_at_once_is_all_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        at_once = compared(*self.QUERIES, draws=50)
        monkeypatch.setattr(judges, "_CHUNK", 1)
        assert compared(*self.QUERIES, draws=50) == at_once

    def test_queries_are_drawn_not_documents(self) -> None:
        # More documents of the same kind in every query make no judge more certain.
        once = compared(*self.QUERIES, draws=100)
        tenfold = compared(*(pairs * 10 for pairs in self.QUERIES), draws=100)
        for name in ("agreement", "kappa", "kappa_quadratic", "mean_difference", "lower"):
            assert getattr(tenfold, name) == pytest.approx(getattr(once, name), abs=1e-12), name

    def test_draws_without_a_value_do_not_count(self) -> None:
        # One query has all the variation: where it is not drawn, there is one level only and no kappa.
        found = compared([(0, 0), (1, 1), (0, 1)], [(0, 0)], draws=500)
        assert found.kappa.low is not None and found.kappa.high is not None
        assert -1 < found.kappa.low < found.kappa.high < 1  # never NaN
        assert found.agreement.value == 0.75

    def test_at_a_limit_draws_reach_to_one_side_only(self) -> None:
        # All disagree, and kappa is -1; draws of one query only have kappa 0, because each judge has one level.
        found = compared([(0, 1)], [(1, 0)], draws=100)
        assert (found.kappa.value, found.kappa.low) == (-1, -1)
        assert found.kappa.high == 1  # t of one degree of freedom
        assert found.agreement == (0, 0, 0)

    def test_none_without_draws_or_with_one_query(self) -> None:
        assert compared(*self.QUERIES, draws=0).kappa[1:] == (None, None)
        assert compared(self.QUERIES[0], draws=100).kappa[1:] == (None, None)


class TestComparedDocuments:
    def test_one_level_only_is_undefined(self) -> None:
        found = compared([(1, 1), (1, 1)], [(1, 1)], draws=10)
        assert found.agreement == (1, 1, 1)
        names = [field.name for field in fields(found) if "kappa" in field.name or "alpha" in field.name]
        assert [getattr(found, name) for name in names] == [Estimate(None)] * 8

    def test_two_judges_with_one_level_each(self) -> None:
        found = compared([(0, 1), (0, 1)])
        assert (found.kappa.value, found.kappa_linear.value) == (0, 0)
        assert found.kappa.value == cohen_kappa_score([0, 0], [1, 1])

    def test_order_of_the_input_is_all_the_same(self) -> None:
        queries = random_queries(8, 12, (0, 0.1, 0.7, 1.3))
        first = compare_judgments(*map(text, two_sets(*queries)), draws=40)
        for seed in range(3):
            assert compare_judgments(*(text(side, seed) for side in two_sets(*queries)), draws=40) == first

    def test_the_other_way_round(self) -> None:
        a, b = two_sets(*random_queries(4, 9, (0, 1, 2)))
        there, back = compare_judgments(a, b), compare_judgments(b, a)
        assert there.mean_difference.value == pytest.approx(-(back.mean_difference.value or 0))
        assert there.higher == back.lower
        for name in ("kappa", "kappa_linear", "alpha_ordinal", "alpha_interval", "relevance_kappa"):
            assert getattr(there, name) == pytest.approx(getattr(back, name), abs=1e-12)
        assert there.cross_table() == tuple(zip(*back.cross_table(), strict=True))

    def test_only_common_documents_of_common_queries(self) -> None:
        a = {"q1": {"x": 1, "y": 0}, "q2": {"x": 2}, "q3": {"z": 1}}
        b = {"q0": {"x": 1}, "q1": {"y": 1, "w": 1}, "q3": {"z": 0}}
        found = compare_judgments(a, b)
        assert found.grade_pairs == ((0, 1, 1), (1, 0, 1))
        assert [row.query for row in found.by_query] == ["q1", "q3"]
        assert (found.documents, found.queries, found.only_a, found.only_b) == (2, 2, 2, 2)

    def test_policy(self) -> None:
        a, b = b"q 0 d1 -1\nq 0 d2 1\nq 0 d3 1\nq 0 d3 2\n", b"q 0 d1 0\nq 0 d2 1\nq 0 d3 2\n"
        with pytest.raises(InputError, match="conflicting grades for query 'q' and document 'd3'"):
            compare_judgments(a, b)
        assert compare_judgments(a, b, policy=Policy(judges="max")).grade_pairs == ((-1, 0, 1), (1, 1, 1), (2, 2, 1))
        unjudged = compare_judgments(a, b, policy=Policy(judges="min", negative="unjudged"))
        assert unjudged.grade_pairs == ((1, 1, 1), (1, 2, 1))
        assert (unjudged.only_a, unjudged.only_b) == (0, 1)
        from_one = compare_judgments(a, b, policy=Policy(judges="max", grade_zero=1))
        assert from_one.grade_pairs == ((0, 0, 2), (1, 1, 1))

    def test_prepared_judgments_keep_their_policy(self) -> None:
        a, b = b"q 0 d 1\nq 0 d 2\n", b"q 0 d 2\n"
        prepared = [Judged(Qrels.read(side), Policy(judges="max")) for side in (a, b)]
        assert compare_judgments(*prepared).agreement.value == 1

    def test_explains_itself_when_printed(self) -> None:
        found = compared([(1, 1), (2, 0)], [(0, 0)])
        assert pickle.loads(pickle.dumps(found)) == found
        assert "The judges agree exactly on 66.7% of 3 documents;" in str(found)
        assert "q000" not in repr(found)  # there may be many
        assert "\n# Grades by B for each level of A\nB,A 0,% of A 0," in found.text("csv")


class TestErrors:
    @together(
        ("a", "b", "of_a", "of_b"),
        [
            ({"q1": {"d2": 1, "d1": 1}, "q2": {"d1": 1}}, {"q3": {"e": 1}, "q2": {"f": 0}}, "d1 q2", "f q2"),
            ({"q1": {"d2": 1, "d1": 1}}, {"7": {"d1": 1}}, "d1 q1", "d1 7"),
            ({"q0": {}, "q1": {"d2": 1, "d1": 1}}, {"q0": {"d1": 1}}, "d1 q1", "d1 q0"),
        ],
    )
    def test_nothing_in_common(self, a: Judgments, b: Judgments, of_a: str, of_b: str) -> None:
        with pytest.raises(InputError) as caught:
            compare_judgments(a, b)
        examples = ("<dict> has document '{}' for query '{}'".format(*each.split()) for each in (of_a, of_b))
        found = f"<dict>: no document is also judged in <dict>: {', '.join(examples)}"
        assert caught.value.message == found
        assert caught.value.hint == (
            "check that both judge the same queries and documents; IDs must be equal byte by byte"
        )

    def test_common_documents_are_unjudged(self) -> None:
        with pytest.raises(InputError, match="1 common document with a grade below 0 on one side, excluded by neg"):
            compare_judgments({"q": {"d": -1}}, {"q": {"d": 1}}, policy=Policy(negative="unjudged"))

    @together("name", ["draws", "seed"])
    @together("value", [-1, 1.5, "10", True, None])
    def test_draws_and_seed_are_whole_numbers(self, name: str, value: Any) -> None:
        with pytest.raises(UsageError, match=f"{name}: expected a whole number from 0, found {value!r}"):
            compare_judgments({"q": {"d": 1}}, {"q": {"d": 1}}, **{name: value})


def text(judgments: Judgments, seed: int | None = None) -> bytes:
    lines = [f"{query} 0 {document} {grade}\n" for query in judgments for document, grade in judgments[query].items()]
    if seed is not None:
        random.Random(seed).shuffle(lines)
    return "".join(lines).encode()
