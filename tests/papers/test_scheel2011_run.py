"""`gainful papers scheel2011` without data: its tables, and the artificial experiment.

scheel2011: Scheel, Lommatzsch and Albayrak, Performance measures for multi-graded relevance, SPIM 2011.
"""

from __future__ import annotations

import math
import pickle
from functools import cache

import numpy as np
import pytest

from gainful import parse
from gainful.errors import UsageError
from gainful.kernel.parallel import Progress, reporting_to
from gainful.pages.charts import Plot
from gainful.pages.page import Page
from gainful.stats.repeatable import stream
from gainful_papers.claims import Floats, Section
from gainful_papers.reproduction import reproduce
from gainful_papers.scheel2011 import artificial, examples
from tests.together import together

from .naive_multigraded import mean, mu_ap, ndcg, ndcng

MEASURES = ("nDCG(gain=exp2, average=ranks)@100", "nDCG(gain=exp2)", "NDCNG(average=ranks)@100", "NDCNG", "muAP")


@pytest.fixture(scope="module")
def sections() -> dict[str, Section]:
    return {section.name: section for section in examples(repetitions=40, seed=3)}


def claims(section: Section) -> list[tuple[str, str, str, str]]:
    """Subject, the paper's statement, the result, and the verdict."""
    tables = [t for t in Page("papers", section.parts).tables_for_machines if t.columns[-1].name in ("verdict", "note")]
    return [tuple(map(str, row[:4])) for table in tables for row in table.rows]  # type: ignore[misc]


class TestTable2:
    def test_only_ndcg_minds_doubled_grades(self, sections):
        grades: list[float] = [1, 0, 3, 3, 2, 0, 1, 4]
        doubled = [2 * grade for grade in grades]
        expected = [
            (naive_over_ranks(grades), naive_over_ranks(doubled)),
            (naive_over_ranks([grade / 4 for grade in grades]), naive_over_ranks([grade / 8 for grade in doubled])),
            (mu_ap(grades), mu_ap(doubled)),
        ]
        for (*_, finds, verdict), (one, two) in zip(claims(sections["Table 2"])[-4:-1], expected, strict=True):
            assert (finds, verdict) == (f"{one:.3f}, doubled {two:.3f}", "holds")

    def test_the_base_is_said(self, sections):
        """15 = 2^4 - 1 is the first ideal DCG with base 2; with base 10 it is divided by log10(2)."""
        words = " ".join(part for part in sections["Table 2"].parts if isinstance(part, str))
        assert f"{15 / math.log10(2):.2f} (15.00" in words


class TestSwaps:
    LISTS = artificial.swapped_lists(6, stream(11))

    def test_every_list_has_every_item(self):
        assert self.LISTS.shape == (6, 100, 100)
        assert (np.sort(self.LISTS, axis=2) == np.arange(100)).all()

    def test_the_first_lists(self):
        """No swap, then one of two distinct positions."""
        assert (self.LISTS[:, 0] == np.arange(100)).all()
        assert ((self.LISTS[:, 1] != np.arange(100)).sum(axis=1) == 2).all()

    def test_as_many_swaps_as_there_should_be(self):
        """Every swap of two distinct positions turns an even permutation into an odd one, and back."""
        for lists in self.LISTS:
            for swaps, permutation in enumerate(lists.tolist()):
                assert parity(permutation) == swaps % 2

    def test_as_many_items_are_moved_as_chance_has_it(self):
        """An item leaves its place with a probability of 2/100, and comes back with 1/C(100, 2) = 2/9,900 a swap: after
        s swaps it is there with 1/100 + 99/100 (1 - 2/99)^s."""
        moved = (np.arange(100) != artificial.swapped_lists(200, stream(12))).sum(axis=2)
        errors = moved.std(axis=0, ddof=1) / math.sqrt(200)
        for swaps in (5, 20, 50, 99):
            assert errors[swaps] < 0.4
            expected = 99 * (1 - (1 - 2 / 99) ** swaps)
            assert moved[:, swaps].mean() == pytest.approx(expected, abs=4 * errors[swaps])

    def test_lists_are_drawn_independently(self):
        """No list is the one before with another swap, and no repetition is like the first."""
        differing = (self.LISTS[:, 31:] != self.LISTS[:, 30:-1]).sum(axis=2)
        assert differing.min() > 20
        assert (self.LISTS[1:, 30:] != self.LISTS[0, 30:]).sum(axis=2).min() > 20


def parity(permutation: list[int]) -> int:
    seen: set[int] = set()
    odd = 0
    for start in permutation:
        length, item = 0, start
        while item not in seen:
            seen.add(item)
            item = permutation[item]
            length += 1
        odd += length > 0 and length % 2 == 0
    return odd % 2


class TestReferences:
    @pytest.mark.parametrize("levels", artificial.LEVEL_COUNTS)
    def test_uniform(self, levels):
        grades = artificial.uniform_grades(levels).tolist()
        assert grades == sorted(grades, reverse=True)
        assert {grade: grades.count(grade) for grade in grades} == dict.fromkeys(range(levels), 100 // levels)

    @pytest.mark.parametrize("levels", artificial.LEVEL_COUNTS)
    def test_random(self, levels):
        random = stream(5)
        drawn = [artificial.random_grades(levels, random).tolist() for _ in range(200)]
        for grades in drawn:
            assert len(grades) == 100
            assert grades == sorted(grades, reverse=True)
            assert set(grades) <= set(range(levels))
        # Weights are drawn anew each time, so that all levels are alike in the long run but not in a single list.
        mean = sum(map(sum, drawn)) / 20_000
        assert mean == pytest.approx((levels - 1) / 2, rel=0.15)
        assert any(len(set(grades)) < levels for grades in drawn) or levels <= 10

    def test_one_level_alone_is_drawn_again(self):
        class Fixed:
            """Draws one level only, and then two."""

            def __init__(self) -> None:
                self.draws = iter(([3] * 100, [3] * 100, [3] * 99 + [7]))

            def uniform(self, size):
                return np.full(size, 0.5)

            def choice(self, levels, size, p):
                return np.array(next(self.draws))

        assert artificial.random_grades(10, Fixed()).tolist() == [7] + [3] * 99


def naive_over_ranks(grades: list[float]) -> float:
    """The mean of NDCG at every rank."""
    dcg, best = (
        np.cumsum((2.0 ** np.array(ranked) - 1) / np.log2(np.arange(2, len(grades) + 2)))
        for ranked in (grades, sorted(grades, reverse=True))
    )
    return float((dcg / best).mean())


experiment = cache(artificial.swap_experiment)


@pytest.fixture
def curves() -> tuple[Floats, Floats]:
    return experiment(10, 1, "uniform"), experiment(10, 1, "random")


class TestExperiment:
    def test_values_are_means_over_repetitions(self, curves):
        lists = artificial.swapped_lists(10, stream(1))
        for place, levels in enumerate(artificial.LEVEL_COUNTS):
            grades = artificial.uniform_grades(levels)
            for swaps in (1, 30, 99):
                swapped = [grades[one].tolist() for one in lists[:, swaps]]
                expected = [mean([measure(each) for each in swapped]) for measure in (ndcg, ndcng, mu_ap)]
                assert curves[0][[1, 3, 4], place, swaps] == pytest.approx(expected, abs=1e-12)

    def test_means_over_ranks(self, curves):
        """With two levels, NDCG at rank k by hand from the gains 1 and 0."""
        lists = artificial.swapped_lists(10, stream(1))[:, 40] < 50
        discounts = np.log2(np.arange(2, 102))
        best = np.cumsum((np.arange(100) < 50) / discounts)
        expected = (np.cumsum(lists / discounts, axis=1) / best).mean()
        assert curves[0][[0, 2], 0, 40].tolist() == pytest.approx([expected, expected], abs=1e-12)

    def test_random_references(self, curves):
        lists, random = artificial.swapped_lists(10, stream(1)), stream(1, 20)
        grades = [artificial.random_grades(20, random) for _ in range(10)]
        expected = mean([mu_ap(grades[i][lists[i, 60]].tolist()) for i in range(10)])
        assert curves[1][4, 2, 60] == pytest.approx(expected, abs=1e-12)

    def test_threads_do_not_matter(self):
        one, four = (artificial.swap_experiment(2, 1, "random", threads=threads) for threads in (1, 4))
        assert (one == four).all()

    def test_another_seed_is_another_draw(self):
        for references in ("uniform", "random"):
            one, other = (artificial.swap_experiment(1, seed, references) for seed in (1, 2))
            assert not np.array_equal(one, other)

    def test_progress_has_one_total_and_comes_to_its_end(self):
        reports: list[tuple[int, int]] = []
        with reporting_to(Progress(lambda done, total: reports.append((done, total)))):
            artificial.swap_experiment(1, 0, "uniform")
        assert reports == [(done, 4) for done in range(1, 5)]

    def test_it_is_run_once_and_only_for_its_figures(self, monkeypatch):
        ran: list[str] = []
        experiment = artificial.swap_experiment
        monkeypatch.setattr(artificial, "swap_experiment", lambda *a, **b: (ran.append(a[2]), experiment(*a, **b))[1])
        found = reproduce("scheel2011", repetitions=1)
        assert "AP, t = 5" in str(found.only(["Table 1", "Section 5"]))
        assert not ran
        assert "Mean score after 99 swaps" in str(found.only("Figure 5"))
        assert ran == ["random"]
        assert str(pickle.loads(pickle.dumps(found))) == str(found)
        assert ran == ["random", "uniform"]

    @pytest.mark.parametrize(
        ("repetitions", "seed", "message"),
        [
            (0, 0, "repetitions: expected a whole number from 1"),
            (10_001, 0, "repetitions: expected at most 10,000, found 10,001"),
            ("x", 0, "repetitions: expected a number"),
            (1, -1, "seed: expected a whole number from 0"),
            (1, "x", "seed: expected a whole number from 0 to 2\\^63 - 1, found x"),
            (1, 0.5, "seed: expected a whole number from 0 to 2\\^63 - 1, found 0.5"),
            (1, None, "seed: expected a whole number from 0 to 2\\^63 - 1, found None"),
        ],
    )
    def test_refused(self, repetitions, seed, message):
        with pytest.raises(UsageError, match=message):
            examples(repetitions=repetitions, seed=seed)


class TestFigures:
    @pytest.mark.parametrize("name", ["Figure 4", "Figure 5"])
    def test_a_panel_a_measure_and_a_line_a_number_of_levels(self, sections, name):
        plots = [part for part in sections[name].parts if isinstance(part, Plot)]
        assert len(plots) == len(MEASURES)
        for plot in plots:
            assert [line.name for line in plot.lines] == ["2 levels", "10 levels", "20 levels", "50 levels"]
            assert all(line.x == tuple(range(100)) for line in plot.lines)

    @pytest.mark.parametrize("name", ["Figure 4", "Figure 5"])
    def test_machines_have_all_values(self, sections, name):
        plots = [part for part in sections[name].parts if isinstance(part, Plot)]
        *_, table = Page("papers", sections[name].parts).tables_for_machines
        assert [column.name for column in table.columns] == ["levels", "swaps", *MEASURES]
        assert len(table.rows) == 400
        for levels, swaps, *values in table.rows:
            place = artificial.LEVEL_COUNTS.index(levels)
            assert values == [plot.lines[place].y[swaps] for plot in plots]

    @pytest.mark.parametrize("name", ["Figure 4", "Figure 5"])
    def test_claims_hold_with_a_margin(self, sections, name):
        """NDCG depends on the number of levels, NDCNG and muAP do not."""
        ends, _, values = Page("papers", sections[name].parts).tables_for_machines
        over_ranks, final, *others = spreads = [row[-1] for row in ends.rows]
        assert 0.3 < over_ranks < 0.45
        assert 0.35 < final < 0.5
        assert max(others) < 0.08
        by_swaps = np.array([row[2:] for row in values.rows]).reshape(4, 100, 5)
        # The largest difference between two numbers of levels after as many swaps.
        assert spreads == pytest.approx((by_swaps.max(axis=0) - by_swaps.min(axis=0)).max(axis=0), abs=1e-12)
        assert abs(by_swaps[:, 0] - 1).max() < 1e-12
        assert (by_swaps[:, 90:].max(axis=1) < by_swaps[:, 1:10].min(axis=1)).all()

    @together(
        ("spread", "if_it_depends", "if_not"),
        [
            (0.05, "fails", "holds"),
            (0.1, "not seen", "not seen"),
            (0.2, "not seen", "not seen"),
            (0.21, "holds", "fails"),
            (None, "not seen", "not seen"),
        ],
    )
    def test_what_decides(self, spread, if_it_depends, if_not):
        """Above 0.2 it depends, below 0.1 it does not; of few repetitions there is no telling."""
        verdicts = [
            artificial.spread_claim(artificial.Panel("", parse("muAP"), depends), spread).verdict
            for depends in (True, False)
        ]
        assert verdicts == [if_it_depends, if_not]

    @pytest.mark.parametrize(("repetitions", "seed"), [(1, 0), (10, 1)])
    def test_nothing_fails_by_chance(self, repetitions, seed, monkeypatch):
        """The spread of muAP in Figure 5 is 0.114 with 10 repetitions and seed 1."""
        monkeypatch.setattr(artificial, "swap_experiment", lambda *asked, **_: experiment(*asked))
        found = {section.name: claims(section) for section in artificial.figures(repetitions, seed)}
        for section in found.values():
            spreads = [verdict for what, *_, verdict in section if what != "without a swap"]
            assert set(spreads) <= ({"not seen"} if repetitions < 10 else {"holds", "not seen"})
            assert section[0][-1] == "holds"
