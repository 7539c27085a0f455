"""dellamea2004 run again: its experiment against a naive one."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gainful import Qrels
from gainful.data.judged import Judged
from gainful.pages.charts import Boxes, Plot
from gainful.policy import Policy
from gainful.stats.repeatable import stream
from gainful_papers.dellamea2004 import study
from gainful_papers.dellamea2004.adm_experiment import Experiment, run_experiment
from gainful_papers.dellamea2004.adm_figures import figure_7
from gainful_papers.dellamea2004.adm_tables import systems_section, table_3, table_4
from tests.papers.dellamea2004_collection import (
    BY_PRECISION,
    CHOSEN,
    DEPTH,
    JUDGMENTS,
    KEPT,
    LISTS,
    average_precision,
    documents_of,
    experiment,
    judged,
    mean_precision,
    naive_adm,
    naive_chances,
    rows_of,
    tau,
)


@pytest.fixture(scope="module")
def found() -> Experiment:
    return experiment()


class TestSystems:
    def test_the_best_are_chosen_before_any_is_left_out(self, found: Experiment) -> None:
        """s17 is the best by average precision, and its lists are too short."""
        assert BY_PRECISION[0] == "s17"
        assert list(found.systems.chosen) == CHOSEN
        assert list(found.systems.kept) == KEPT
        assert list(found.systems.groups["Best"]) == [name for name in CHOSEN if name != "s17"]
        assert found.systems.depth == DEPTH

    def test_who_is_left_out_and_why(self, found: Experiment) -> None:
        short = {each.name: (each.queries, each.unanswered, each.fewest) for each in found.systems.short}
        assert short == {"s17": (1, 0, 12), "s04": (2, 1, 0)}

    @pytest.mark.parametrize("share", [None, 0.75])
    def test_worst(self, share: float | None) -> None:
        """Below the median of all systems, excluded ones included, on every query or on a share of them."""
        medians = {q: statistics.median(average_precision(system, q) for system in LISTS) for q in JUDGMENTS}
        limit = len(JUDGMENTS) * (share or 1.0)
        worst = [
            name
            for name in KEPT
            if name not in CHOSEN and sum(average_precision(name, q) < medians[q] for q in JUDGMENTS) >= limit
        ]
        systems = experiment(worst_share=share).systems
        assert list(systems.groups["Worst"]) == worst
        normal = [name for name in KEPT if name not in CHOSEN and name not in worst]
        assert list(systems.groups["Normal"]) == normal
        assert worst

    def test_the_best_can_be_given(self) -> None:
        systems = experiment(best=("s04", "s09")).systems
        assert systems.chosen == ("s09", "s04")
        assert systems.groups["Best"] == ("s09",)

    def test_one_name_is_a_name(self) -> None:
        assert experiment(best="s09").systems.chosen == ("s09",)

    @pytest.mark.parametrize(("number", "best"), [(5, 2), (9, 4), (10, 5), (11, 10), (14, 10), (16, 10)])
    def test_of_more_than_ten_systems_ten_are_the_best(self, number: int, best: int) -> None:
        """As in the paper; of ten or fewer half of them, so that others remain."""
        names = KEPT[:number]
        found = experiment({name: LISTS[name] for name in names})
        assert list(found.systems.chosen) == sorted(names, key=lambda name: -mean_precision(name))[:best]
        text = str(systems_section(found).parts[0])
        assert f"the {best} systems of highest average precision" in text
        assert ("half of at most ten" in text) == (number <= 10)

    def test_a_query_on_which_most_find_nothing_does_not_decide(self) -> None:
        judgments = {**JUDGMENTS, "12": {"nobody finds this": 1.0}}
        lists = {name: {**queries, "12": [f"d{i}" for i in range(DEPTH)]} for name, queries in LISTS.items()}
        args: dict[str, Any] = {"best": (), "draws": 1, "seed": 0, "threads": 1}
        with_it = run_experiment(judged(judgments), lists, worst_share=0.5, **args).systems
        assert with_it.groups["Worst"] == experiment(worst_share=0.5).systems.groups["Worst"] != ()
        assert with_it.telling == 8

    @pytest.mark.parametrize("undefined", ["zero", "skip"])
    def test_a_query_without_anything_relevant_does_not_decide(self, undefined: str) -> None:
        """Average precision is 0 for all, or there is none."""
        judgments = {**JUDGMENTS, "12": {"d1": 0.0}}
        lists = {name: {**queries, "12": [f"d{i}" for i in range(DEPTH)]} for name, queries in LISTS.items()}
        prepared = judged(judgments, Policy(undefined=undefined))
        found = run_experiment(prepared, lists, (), 0.9, 1, 0, 1)
        text = str(systems_section(found).parts[0])
        assert "on at least 90% of queries with a median above 0 (8)" in text


class TestScores:
    @pytest.mark.parametrize(("name", "with_systems"), [("ADM'", False), ("ADM''", True)])
    def test_adm(self, found: Experiment, name: str, with_systems: bool) -> None:
        expected = [naive_adm(system, with_systems) for system in KEPT]
        assert found.scores[name] == pytest.approx(expected, abs=1e-11)

    def test_reference_measures(self, found: Experiment) -> None:
        relevant = {query: {d for d, grade in grades.items() if grade > 0} for query, grades in JUDGMENTS.items()}
        returned = [sum(len(relevant[q].intersection(LISTS[s][q])) for q in JUDGMENTS) for s in KEPT]
        assert found.scores["Rel-Ret"].tolist() == returned
        assert found.scores["AvgPrec"] == pytest.approx([mean_precision(s) for s in KEPT])
        r_precision = [
            statistics.fmean(
                len(relevant[q].intersection(LISTS[s][q][: len(relevant[q])])) / len(relevant[q]) for q in JUDGMENTS
            )
            for s in KEPT
        ]
        assert found.scores["R-Prec"] == pytest.approx(r_precision)

    def test_table_3(self, found: Experiment) -> None:
        rows = rows_of(table_3(found), "Kendall's tau-b, 16 systems")
        names = ("ADM'", "ADM''", "Rel-Ret", "AvgPrec")
        taus = {(row["measure"], name): row[name] for row in rows for name in names if row[name] is not None}
        assert len(taus) == 10
        for (one, other), value in taus.items():
            assert value == pytest.approx(tau(found.scores[one], found.scores[other]), abs=1e-12)
        printed = rows_of(table_3(found), "Kendall's tau as printed, TREC-8 ad hoc, 109 systems")
        assert (printed[0]["ADM'"], printed[3]["Rel-Ret"]) == (0.874, 0.807)


class TestSets:
    def test_first_topics(self, found: Experiment) -> None:
        """In the order of numbers: 10 and 11 are the last two."""
        assert "8 judged queries (1 to 11)" in found.data
        for number, queries in ((1, ("1", "2", "3", "4")), (2, ("1", "2"))):
            row = found.sets.rows[number]
            for place, with_systems in enumerate((False, True)):
                part = [naive_adm(system, with_systems, queries) for system in KEPT]
                assert row.tau[place] == pytest.approx(tau(part, found.sets.whole[place]), abs=1e-12)
        first = [naive_adm(system, False, ("1", "2", "3", "4")) for system in KEPT]
        assert found.sets.set_1[0] == pytest.approx(first, abs=1e-11)

    @pytest.mark.parametrize(("number", "over"), [(6, "retrieved"), (7, "relevant")])
    def test_retrieved_and_relevant_only(self, found: Experiment, number: int, over: str) -> None:
        for place, with_systems in enumerate((False, True)):
            part = [naive_adm(system, with_systems, over=over) for system in KEPT]
            assert found.sets.rows[number].tau[place] == pytest.approx(tau(part, found.sets.whole[place]), abs=1e-12)

    @pytest.mark.parametrize(
        ("number", "share", "queries"),
        [(3, 0.5, tuple(JUDGMENTS)), (4, 0.1, tuple(JUDGMENTS)), (5, 0.5, ("1", "2", "3", "4"))],
    )
    def test_drawn_documents(self, number: int, share: float, queries: tuple[str, ...]) -> None:
        """A pair of query and document is in for all systems or for none, by the order of ids; ranks stay."""
        found = experiment(seed=5)
        drawn = []
        for draw in range(1, 4):
            chances = naive_chances(5, draw)
            keeps = lambda query, document, chances=chances: chances[query, document] < share  # noqa: E731
            # A query of which some system has no document left says nothing.
            usable = [q for q in queries if all(any(keeps(q, d) for d in documents_of(s, q)) for s in KEPT)]
            both = []
            for place, with_systems in enumerate((False, True)):
                part = [naive_adm(system, with_systems, usable, keeps) for system in KEPT]
                both.append(tau(part, found.sets.whole[place]))
            drawn.append(both)
        row = found.sets.rows[number]
        assert row.spread is not None
        for place, spread in enumerate(row.spread):
            taus = [each[place] for each in drawn]
            expected = statistics.fmean(taus), statistics.stdev(taus), min(taus), max(taus)
            assert spread is not None and spread[:4] == pytest.approx(expected, abs=1e-12)
            assert row.tau[place] == spread.mean

    def test_how_many_documents(self) -> None:
        """Retrieved and missed documents, for some queries, in random sets; only retrieved, only relevant."""
        found = experiment(seed=5)
        chances = naive_chances(5, 1)
        first = ("1", "2", "3", "4")

        def counted(queries: Sequence[str], share: float = 1.0) -> float:
            pairs = {s: [(q, d) for q in queries for d in documents_of(s, q)] for s in KEPT}
            return statistics.fmean(sum(chances[pair] < share for pair in pairs[s]) for s in KEPT)

        every = tuple(JUDGMENTS)
        expected = {
            0: counted(every),
            1: counted(first),
            2: counted(first[:2]),
            3: counted(every, 0.5),
            4: counted(every, 0.1),
            5: counted(first, 0.5),
            6: DEPTH * len(every),
            7: sum(grade > 0 for grades in JUDGMENTS.values() for grade in grades.values()),
        }
        assert {row.number: row.documents for row in found.sets.rows} == pytest.approx(expected)

    @pytest.mark.parametrize("wants_some", [True, False])
    def test_a_query_without_documents_left_does_not_count(self, wants_some: bool) -> None:
        """A tenth of three documents per query is mostly empty; if it is empty for all queries, tau is undefined."""
        queries = [str(i) for i in range(10, 50 if wants_some else 12)]
        chance = random.Random(1)
        lists = {f"s{i}": {q: chance.sample(["a", "b", "c", "d"], 2) for q in queries} for i in range(5)}
        prepared = Judged(Qrels.from_dict({q: {"a": 1} for q in queries}), Policy())

        def distances(system: str, query: str, kept: Callable[[str], bool]) -> list[float]:
            listed = lists[system][query]
            srs = {d: 1 - rank / 2 for rank, d in enumerate(listed)}
            return [abs(srs.get(d, 0.0) - (d == "a")) for d in {*listed, "a"} if kept(d)]

        def usable(seed: int) -> dict[str, Callable[[str], bool]]:
            numbers = stream(seed, 1)
            tests: dict[str, Callable[[str], bool]] = {}
            for query in queries:
                some = sorted({"a", *(d for each in lists.values() for d in each[query])})
                drawn = {d for d in some if numbers.random() < 0.1}
                if all(drawn.intersection((*each[query], "a")) for each in lists.values()):
                    tests[query] = drawn.__contains__
            return tests

        seed = next(seed for seed in range(100) if bool(usable(seed)) == wants_some)
        row = run_experiment(prepared, lists, (), None, 1, seed, 1).sets.rows[4]
        if not wants_some:
            assert row.tau == (None, None)
            return
        tests = usable(seed)
        assert 0 < len(tests) < len(queries)
        means = [1 - statistics.fmean(statistics.fmean(distances(s, q, tests[q])) for q in tests) for s in lists]
        whole = [1 - statistics.fmean(statistics.fmean(distances(s, q, bool)) for q in queries) for s in lists]
        assert row.tau[0] == pytest.approx(tau(means, whole), abs=1e-12)

    @pytest.mark.parametrize(("draws", "is_empty"), [(1, True), (2, False)])
    def test_one_draw_has_no_spread(self, draws: int, is_empty: bool) -> None:
        rows = rows_of(table_4(experiment(draws=draws)), "Correlation with the whole set")
        assert [row["ADM' sd"] is None for row in rows] == [True] * 3 + [is_empty] * 3 + [True] * 2

    def test_the_order_of_runs_and_threads_change_nothing(self) -> None:
        names = list(LISTS)
        random.Random(3).shuffle(names)
        one = study(judged(), LISTS, threads=1, draws=2)
        other = study(judged(), {name: LISTS[name] for name in names}, threads=4, draws=2)
        assert one.sections == other.sections

    def test_another_seed_is_another_draw(self) -> None:
        rows = [experiment(seed=seed).sets.rows for seed in (0, 1)]
        assert rows[0][3].tau != rows[1][3].tau
        assert rows[0][1] == rows[1][1]


class TestFigures:
    def test_figure_7(self) -> None:
        found = experiment()
        section = figure_7(found)
        plots = [part for part in section.parts if isinstance(part, Plot)]
        assert [(plot.y.label, plot.x.label) for plot in plots] == [
            (adm, reference) for adm in ("ADM'", "ADM''") for reference in ("Rel-Ret", "AvgPrec", "R-Prec")
        ]
        for plot in plots:
            # The largest is drawn first: it would cover the others.
            assert [(points.name, len(points.x)) for points in plot.points] == [
                ("Best", 9),
                ("Worst", 5),
                ("Normal", 2),
            ]
            assert [line.name for line in plot.lines] == ["Best", "Worst"]
        rows = rows_of(section, "Scores of the systems")
        assert [row["system"] for row in rows] == KEPT

    def test_figures_8_and_9(self) -> None:
        result = study(judged(), LISTS, draws=1)
        sections = {section.name: section for section in result.sections}
        boxes = [part for part in sections["Figure 8"].parts if isinstance(part, Boxes)]
        scores = experiment().by_group("ADM''")
        assert boxes[1].groups[0].points == pytest.approx(np.quantile(scores["Best"], [0.1, 0.25, 0.5, 0.75, 0.9]))
        assert [group.size for group in boxes[0].groups] == [9, 2, 5]
        plots = [part for part in sections["Figure 9"].parts if isinstance(part, Plot)]
        assert len(plots) == 4
        assert [len(points.x) for points in plots[0].points] == [9, 5, 2]
