"""`gainful.compare`: inputs, results, and charts as data."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars
import pytest

import gainful
from gainful import Block, GainfulWarning, Measure, Policy, Qrels, Run, ScoreMatrix, UsageError, compare, evaluate
from gainful.pages.charts import Chart, CriticalDiagram, HeatMap, IntervalRow, Intervals, Plot
from gainful.pages.page import Column, Page, Table
from gainful.render import text as render_text
from gainful.stats.families import SystemsPlan, compare_several
from tests.stats.two_systems import compare_pair
from tests.together import together

T = TypeVar("T")


def matrix(count: int = 5, queries: int = 30, step: float = 0.06, seed: int = 1, measure: str = "AP") -> ScoreMatrix:
    rng = random.Random(seed)
    ground = [rng.random() / 2 for _ in range(queries)]
    return ScoreMatrix.of(
        measure, {f"s{i}": [round(g + i * step + rng.gauss(0, 0.12), 4) for g in ground] for i in range(count)}
    )


def only(page: Page, kind: type[T]) -> T:
    [chart] = [part for part in page.charts if isinstance(part, kind)]
    return chart


class TestWhatItTakes:
    def test_a_matrix(self) -> None:
        found = compare(matrix(2)).pairs["AP"]
        assert found.p == compare_pair(matrix(2).column("s1"), matrix(2).column("s0")).p and found.names == ("s1", "s0")

    def test_matrices_by_measure(self) -> None:
        both = {"AP": matrix(), "RR": matrix(seed=2, measure="RR")}
        assert {name: each.family.p.size for name, each in compare(both).systems.items()} == {"AP": 10, "RR": 10}
        assert list(compare(both, "RR").systems) == ["RR"] and compare(both, ["RR", "AP"]).primary == "RR"
        with pytest.raises(UsageError, match="no measure 'nDCG'"):
            compare(both, "nDCG")

    def test_evaluations(self) -> None:
        runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b", "a"]}}
        found = compare(evaluate({"q": {"a": 1}}, runs, ["RR", "Judged@10"]))
        assert list(found.pairs) == ["RR"] and found.pairs["RR"].difference == -0.5
        with pytest.raises(UsageError, match="neither direction is better"):
            compare(evaluate({"q": {"a": 1}}, runs, ["RR", "Judged@10"]), measures="Judged@10")

    def test_judgments_and_runs(self, tmp_path: Path) -> None:
        judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
        old, new = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"b": 1.0}}, {"q1": ["a", "b"], "q2": ["b"]}
        (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
        (tmp_path / "old").write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 b 1 1 x\n")
        frame = polars.DataFrame({"query": ["q1", "q1", "q2"], "doc": ["b", "a", "b"], "score": [2.0, 1.0, 1.0]})
        for qrels in (judgments, str(tmp_path / "qrels"), Qrels.from_dict(judgments)):
            for first in (old, tmp_path / "old", str(tmp_path / "old"), frame, Run.from_dict(old)):
                found = compare(qrels, {"old": first, "new": new}, "RR")
                pair = found.pairs["RR"]
                assert (pair.system, pair.baseline, pair.mean_baseline, pair.mean_system) == ("new", "old", 0.75, 1.0)
                assert found.scores.conventions[0].startswith("conventions: all default | scale:1 | queries:2")
        results = evaluate(judgments, {"old": old, "new": new}, ["RR", "AP"])
        for again in (compare(judgments, results, "RR"), compare(results, "RR")):
            assert again.pairs["RR"].difference == 0.25 and list(again.pairs) == ["RR"]
        assert list(compare(judgments, {"old": old, "new": new}).pairs) == ["nDCG@10"]
        policy = Policy(missing="skip")
        assert compare(judgments, {"old": old, "new": {"q1": ["a"]}}, "RR", policy=policy).pairs["RR"].n == 1

    def test_scores_and_runs(self) -> None:
        with pytest.raises(UsageError, match="runs cannot be used with existing scores"):
            compare(matrix(2), {"a": {"q": ["d"]}})
        for name, value in (("policy", "trec_eval-9"), ("columns", {"query": "q"})):
            with pytest.raises(UsageError, match=f"{name} cannot be used with existing scores"):
                compare(matrix(2), **{name: value})

    @together("wrong", [{}, {"AP": [1, 2]}, "scores.csv", None])
    def test_nothing_else(self, wrong: object) -> None:
        with pytest.raises(UsageError, match="expected judgments and runs, or scores"):
            compare(wrong)  # type: ignore[arg-type]

    def test_repr_and_text(self) -> None:
        assert repr(compare(matrix())) == "<SystemsComparison of 5 systems by AP>"
        assert str(compare(matrix())).startswith(
            "s4 is significantly better than all 4 other systems (AP, 30 queries)."
        )
        assert "<table>" in compare(matrix(2))._repr_html_()


class TestTables:
    GOLD = b"who;what;stars\nu;i;1\nv;j;1\n"
    CALLED: ClassVar = {"query": "who", "document": "what", "qrels.grade": "stars", "run.score": "stars"}
    RUNS: ClassVar = {"old": b"who;what;stars\nu;x;2\nu;i;1\nv;j;1\n", "new": b"who;what;stars\nu;i;2\nv;j;1\n"}

    def test_columns_and_exclude_are_those_of_evaluate(self) -> None:
        found = compare(self.GOLD, self.RUNS, "RR", columns=self.CALLED)
        assert found.pairs["RR"].difference == 0.25
        with pytest.warns(GainfulWarning, match="1 retrieved document removed"):
            seen = compare(self.GOLD, self.RUNS, "RR", columns=self.CALLED, exclude={"u": ["x"]})
        assert seen.pairs["RR"].difference == 0
        assert gainful.explain("RR", self.GOLD, self.RUNS["old"], "u", columns=self.CALLED).value == 0.5
        findings = gainful.examine(self.GOLD, self.RUNS, columns=self.CALLED).findings
        assert not any(finding.severity == "serious" for finding in findings)

    def test_runs_are_in_a_dict(self) -> None:
        runs = {"q": ["d"]}, {"q": ["x"]}
        for given in ((*runs, "RR"), runs, ("a.run", "b.run", "AP"), ("a.run", "AP"), ("bm25.run",)):
            with pytest.raises(
                UsageError, match=r'(?s)expected (a dict of runs by name|the runs in a dict).*"new": run'
            ):
                compare({"q": {"d": 1}}, *given)

    def test_scores_by_measure(self) -> None:
        found = gainful.evaluate({"q": {"d": 1}}, {"q": ["x", "d"]}, ["AP", "NumRel"])
        assert (found["map"], found["NumRel"]) == (0.5, 1)
        with pytest.raises(KeyError, match="runs are a, b, each with its measures"):
            gainful.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["d"]}})["map"]


class TestProcedures:
    def test_what_is_unknown_is_refused(self) -> None:
        with pytest.raises(UsageError, match="procedure: expected maxt"):
            compare(matrix(), procedure="anovas")
        with pytest.raises(UsageError, match="unknown system 'x'"):
            compare(matrix(), groups={"a": ["s0"], "b": ["x"]})
        assert compare(matrix(2), procedure="tukey").systems["AP"].family.p.size == 1

    def test_lower_is_better_by_ranks(self) -> None:
        straight = matrix()
        turned = ScoreMatrix.of(
            "cost", {name: (1 - straight.column(name)).tolist() for name in straight.systems}, better="lower"
        )
        plan = SystemsPlan("friedman")
        one, other = (compare_several({"m": scores}, plan)["m"] for scores in (straight, turned))
        assert one.family.order == other.family.order and one.family.rank_intervals == other.family.rank_intervals
        np.testing.assert_allclose(one.family.adjusted, other.family.adjusted)

    @together(
        ("plan", "systems", "queries", "said"),
        [
            (SystemsPlan("tukey"), 10, 60, "with 10 systems Tukey HSD finds too much"),
            (SystemsPlan("tukey"), 9, 60, ""),
            (SystemsPlan("rthsd", draws=50), 10, 20, "with 10 systems randomised Tukey HSD finds too much"),
            (SystemsPlan("rthsd", draws=50), 9, 20, ""),
            (SystemsPlan(test="t", correction="holm"), 15, 50, "with 15 systems Holm on t finds too much"),
            (SystemsPlan(test="t", correction="holm"), 14, 50, ""),
            (SystemsPlan(test="t", correction="holm"), 15, 51, ""),
            (SystemsPlan(test="t", correction="holm", baseline="s0"), 15, 50, ""),
            (SystemsPlan(test="t", correction="bh"), 15, 50, ""),
            (SystemsPlan(draws=50), 15, 50, ""),
        ],
    )
    def test_what_finds_too_much_among_many_systems_says_so(
        self, plan: SystemsPlan, systems: int, queries: int, said: str
    ) -> None:
        found = compare_several({"AP": matrix(systems, queries)}, plan)["AP"]
        notes = [note for note in found.warnings if "finds too much" in note]
        assert len(notes) == bool(said) and all(said in note for note in notes)

    def test_conover_beside_nemenyi_whatever_the_order(self) -> None:
        # Systems stand in the opposite order of their ranks: pairs must be looked up, not counted on.
        scores = matrix(4, step=-0.08)
        found = compare(scores, procedure="friedman")
        result = found.systems["AP"]
        assert result.conover is not None
        for row in found.to_polars("pairs").to_dicts():
            i, j = sorted(scores.systems.index(row[name]) for name in ("system", "other"))
            [place] = np.flatnonzero((result.family.first == i) & (result.family.second == j))
            assert row["conover_p"] == result.conover.p[place]


class TestCharts:
    def test_differences(self) -> None:
        found = compare(matrix(2))
        chart = only(found.page(), Plot)
        expected = sorted((matrix(2).column("s1") - matrix(2).column("s0")).round(12).tolist())
        assert sorted(y for points in chart.points for y in points.y) == pytest.approx(expected)
        above = [points for points in chart.points if points.name == "s1 is better"]
        assert min(above[0].y) > 0 and [rule.y for rule in chart.rules] == [0.0, found.pairs["AP"].difference]

    def test_differences_of_thousands_of_queries_are_a_distribution(self) -> None:
        """A third of 3,000 queries each differ by -0.5, 0 and 0.25: cumulative shares 1/3, 2/3 and 1."""
        old, new = [0.5] * 3000, [0.0] * 1000 + [0.5] * 1000 + [0.75] * 1000
        chart = only(compare(ScoreMatrix.of("P@5", {"old": old, "new": new})).page(), Plot)
        assert not chart.points
        [line] = chart.lines
        assert len(line.x) < 500
        reached = dict(zip(line.x, line.y, strict=True))  # the last of each difference
        assert list(reached) == [-0.5, 0.0, 0.25]
        assert list(reached.values()) == pytest.approx([1 / 3, 2 / 3, 1], abs=0.003)
        assert chart.caption == "new is better on 33.3%, equal on 33.3% and worse on 33.3% of queries."

    def test_lines_of_the_leaderboard_that_do_not_overlap_are_told_apart(self) -> None:
        found = compare(matrix())
        chart = only(found.page(), Intervals)
        assert len(chart.rows) == 5
        family = found.systems["AP"].family
        assert "Systems whose bars do not overlap differ significantly" in chart.caption
        told = set()
        for i, one in enumerate(chart.rows):
            for other in chart.rows[i + 1 :]:
                overlap = one.low <= other.high
                told.add(overlap)
                assert overlap or family.pair(one.name, other.name).verdict == "better"
        assert told == {True, False}

    def test_lines_that_overlap_and_are_told_apart_are_spoken_of(self) -> None:
        """Two similar systems and one far off: the second step has a lower threshold than the first."""
        noise = np.random.default_rng(3).normal(0, 0.1, (3, 40))
        for shift in (0.0, 0.1):
            systems = ScoreMatrix.of("AP", dict(zip("abc", noise + np.array([[0.0], [shift], [0.5]]), strict=True)))
            family = compare(systems).systems["AP"].family
            chart = only(compare(systems).page(), Intervals)
            assert isinstance(chart, Intervals)
            rows = {row.name: row for row in chart.rows}
            hidden = family.pair("a", "b").verdict == "worse" and rows["a"].high >= rows["b"].low
            assert hidden == (shift > 0) == ("some whose bars overlap also do" in chart.caption)

    def test_places_where_no_threshold_decides(self) -> None:
        chart = only(compare(matrix(), test="t", correction="holm").page(), Intervals)
        assert chart.axis.label == "rank"
        assert all(1 <= row.low <= row.value <= row.high <= 5 for row in chart.rows)

    def test_differences_to_a_baseline(self) -> None:
        found = compare(matrix(), baseline="s2")
        chart = only(found.page(), Intervals)
        assert [row.name for row in chart.rows] == ["s4", "s3", "s1", "s0"]
        assert chart.rules[0].x == 0.0
        pair = found.systems["AP"].family.pair("s4", "s2")
        assert chart.rows[0] == IntervalRow("s4", pair.difference, pair.low or 0, pair.high or 0, chart.rows[0].text)

    @together("procedure", ["maxt", "tukey", "rthsd", "friedman"])
    def test_bars_join_just_those_not_told_apart(self, procedure: str) -> None:
        found = compare(matrix(7, step=0.03), procedure=procedure)
        result = found.systems["AP"]
        chart = only(found.page(chart="critical"), CriticalDiagram)
        assert chart.bars == result.bars(30)
        joined = {(i, j) for first, last in chart.bars for i in range(first, last + 1) for j in range(i + 1, last + 1)}
        not_told = {(i, j) for i in range(7) for j in range(i + 1, 7) if not result.apart[i, j]}
        assert joined == not_told and not_told
        # No bar lies within another, which would say the same twice.
        assert not any(a != b and b[0] <= a[0] and a[1] <= b[1] for a in chart.bars for b in chart.bars)

    def test_p_map(self) -> None:
        found = compare(matrix())
        chart = only(found.page(chart="p"), HeatMap)
        family = found.systems["AP"].family
        for i, one in enumerate(chart.rows):
            assert math.isnan(chart.values[i][i])
            for j, other in enumerate(chart.columns):
                if i != j:
                    p = family.pair(one, other).adjusted
                    assert chart.values[i][j] == pytest.approx(min(4.0, -math.log10(p)))
                    assert ((i, j) in chart.outlined) == (p < 0.05)

    @together(
        ("asked", "pairs"),
        [
            ({"baseline": "s1"}, [("s2", "s1"), ("s0", "s1")]),
            ({"pairs": [("s0", "s2"), ("s1", "s0")]}, [("s0", "s2"), ("s1", "s0")]),
            ({}, [("s1", "s2"), ("s0", "s2")]),  # s2 has the best mean
        ],
    )
    def test_differences_of_queries_one_panel_per_pair(
        self, asked: dict[str, Any], pairs: list[tuple[str, str]]
    ) -> None:
        scores = matrix(3)
        page = compare(scores, **asked).page(chart="differences", only="means")
        plots = [part for part in page.charts if isinstance(part, Plot)]
        assert [plot.title for plot in plots] == [f"AP: {a} - {b} per query" for a, b in pairs]
        assert len({plot.y for plot in plots}) == 1
        for plot, (a, b) in zip(plots, pairs, strict=True):
            drawn = sorted(y for points in plot.points for y in points.y)
            assert drawn == pytest.approx(sorted(scores.column(a) - scores.column(b)))
            assert plot.rules[1].y == pytest.approx(np.mean(drawn))

    @together(("measure", "sign"), [("AP", 1), ("ASL", -1)])
    def test_the_worst_queries_of_each_system(self, measure: str, sign: int) -> None:
        """The three worst differences from the baseline: the lowest, or for a search length the highest."""
        scores = matrix(3, measure=measure)
        table = next(each for each in compare(scores, baseline="s1").page().tables if "Worst queries" in each.title)
        expected: list[tuple[Any, ...]] = []
        for system in ("s2", "s0") if sign > 0 else ("s0", "s2"):
            behind = sign * (scores.column(system) - scores.column("s1"))
            worst = [i for i in np.argsort(behind)[:3] if behind[i] < 0]
            expected += [(system, "s1", scores.queries[i], scores.column(system)[i]) for i in worst]
        assert [row[:4] for row in table.rows] == expected and expected

    def test_queries_are_shown_without_their_weights_and_only_if_a_system_is_behind(self) -> None:
        """Means count weights, 3 for q1: 0.75 and 0.6. On q1, where b is behind, a scores 0.9 and b 0.5."""
        scores = {"a": {"q1": 0.9, "q2": 0.3}, "b": {"q1": 0.5, "q2": 0.9}, "c": {"q1": 0.0, "q2": 0.0}}
        about = gainful.Queries({"q1": {"visits": "3"}, "q2": {"visits": "1"}}, weights="visits")
        found = compare(ScoreMatrix.of("AP", scores), queries=about)
        table = next(each for each in found.page().tables if "Worst queries" in each.title)
        assert [row[:5] for row in table.rows if row[0] == "b"] == [("b", "a", "q1", 0.5, 0.9)]

    def test_many_pairs_are_cut_and_said(self) -> None:
        *_, last = compare(matrix(15, 12), draws=200).page(chart="differences").charts
        assert "The first 12 of 14." in last.caption

    def test_many_systems_are_cut_and_said(self) -> None:
        page = compare(matrix(45, 12), draws=200).page(chart=["critical", "p"])
        critical, p = only(page, CriticalDiagram), only(page, HeatMap)
        assert len(critical.names) == 30 and "best 30 of 45" in critical.caption
        assert len(p.rows) == 40 and not p.texts

    def test_unlimited_intervals_as_text(self) -> None:
        rows = (IntervalRow("a", 1.0, -math.inf, 2.0, "x"), IntervalRow("b", 1.5, 1.0, math.inf))
        from gainful.pages.charts import Axis
        from gainful.render.chart_text import chart_lines

        lines = chart_lines(Intervals("t", Axis("v"), rows, "side"))
        assert lines[2].startswith("a <") and lines[2].endswith("x") and lines[3].rstrip().endswith(">")


def test_marks_in_every_format() -> None:
    columns = (Column("system"), Column("AP", "number", 2), Column("marks", "marks"))
    rows = (("x", 0.5, "ab"), ("y", 0.25, "†"), ("z", None, ""))
    page = Page("t", (Table(columns, rows, marked=frozenset({(0, 1)})),))
    assert render_text(page).split("\n")[2:5] == ["x       0.50* ab", "y       0.25  †", "z          -"]
    latex = render_text(page, "latex")
    assert r"\begin{tabular}{@{}lr@{}l@{}}" in latex and r"x & \textbf{0.50} & $^{\mathrm{a}\mathrm{b}}$ \\" in latex
    assert r"y & 0.25 & $^{\dagger}$ \\" in latex and r"z & -- & \\" in latex
    assert "| **0.50** <sup>ab</sup> |" in render_text(page, "markdown")
    assert "0.50<sup>ab</sup></td>" in render_text(page, "html")
    assert render_text(page, "csv") == "system,AP,marks\nx,0.5,ab\ny,0.25,†\nz,,\n"


def _levels(levels: str) -> dict[str, str]:
    return dict(zip("abcd", levels, strict=True))


@together(
    ("asked", "title"),
    [
        ({"test": "bayes", "margin": 0.01}, "Probabilities (AP)"),
        ({"sequential": True}, "Differences (AP)"),
        ({}, "Means"),
        ({"factors": {"x": _levels("0011"), "y": _levels("0101")}}, "Effects, AP"),
    ],
)
def test_every_comparison_has_a_main_table(asked: dict[str, Any], title: str) -> None:
    scores = {name: [0.1 * i, 0.2, 0.3 + 0.1 * i, 0.25 * i, 0.4] for i, name in enumerate("abcd")}
    found = compare(ScoreMatrix.of("AP", scores), **asked).table(places=2)
    assert next(found.tables).title == title and len(found.text("csv").splitlines()) > 4
    assert "\\toprule" in found.text("latex") and not any(isinstance(part, Chart) for part in found.parts)


def test_what_is_no_chart_is_refused() -> None:
    with pytest.raises(UsageError, match="chart: 'p' cannot be chosen"):
        compare(matrix(2), test="bayes", margin=0.01).plot("p")
    with pytest.raises(UsageError, match="chart: expected differences, found 'p'"):
        compare(matrix(2)).plot("p")


def test_one_pair_needs_no_list() -> None:
    for pairs in (("s3", "s0"), [("s3", "s0")]):
        [found] = gainful.compare_beliefs(matrix(4), margin=0.01, pairs=pairs).posteriors["AP"]
        assert found.names == ("s3", "s0")
    with pytest.raises(TypeError, match="unexpected keyword argument 'test'"):
        gainful.compare_beliefs(matrix(4), margin=0.01, test="t")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sequential'"):
        gainful.compare_sequentially(matrix(4), sequential=False)  # type: ignore[call-arg]


class TestSequential:
    def test_own_measures_have_their_own_bounds(self) -> None:
        @dataclass(frozen=True, eq=False, repr=False)
        class Grade(Measure):
            """The grade of the first document."""

            name = "Grade"
            bounds = (0.0, 3.0)

            def compute(self, block: Block) -> Any:
                return block.gains("linear", 1).max(axis=1)

        runs = {"a": {"q1": ["d"], "q2": ["d"]}, "b": {"q1": ["e"], "q2": ["d"]}}
        found = compare(evaluate({q: {"d": 3, "e": 1} for q in ("q1", "q2")}, runs, Grade()), sequential=True)
        [sequence] = found.sequences["Grade"]
        assert sequence.lows[0] < -2 and sequence.highs[0] <= 3
        assert repr(found) == "<SequenceComparison of 2 systems by Grade>"

    def test_a_figure_has_the_limits(self) -> None:
        found = compare(ScoreMatrix.of("AP", {"a": [0.5, 0.1] * 30, "b": [0.4, 0.3] * 30}), sequential=True)
        plot = only(found.page(), Plot)
        mean, low, high = plot.lines
        assert mean.band is not None and (mean.band.low, mean.band.high) == (low.y, high.y)
        assert mean.y[-1] == found.sequences["AP"][0].difference and plot.x.high == 60.0

    def test_the_order_of_arrival(self) -> None:
        scores = ScoreMatrix.of("AP", {"a": {"q1": 0.5, "q2": 0.1}, "b": {"q1": 0.2, "q2": 0.3}})
        [found] = compare(scores, sequential=True, arrival=["q2", "q1", "q3"]).sequences["AP"]
        assert found.queries == ("q2", "q1") and found.means == pytest.approx((0.2, -0.05))


# -- Groups of queries -------------------------------------------------------------------------------------------------


def _grouped(sizes: dict[str, int], shift: float = 0.0):
    """Scores of two systems on groups of queries; the last group is worse by the shift."""
    generator = np.random.default_rng(0)
    names = [(f"{group}{i:02}", group) for group, size in sizes.items() for i in range(size)]
    old = {query: float(generator.random()) for query, _ in names}
    worse = list(sizes)[-1]
    new = {query: old[query] + float(generator.normal(0, 0.02)) - shift * (group == worse) for query, group in names}
    return ScoreMatrix.of("RR", {"old": old, "new": new}), {query: {"kind": group} for query, group in names}


def test_groups_are_compared_and_corrected_for_their_number():
    matrix, table = _grouped({"a": 12, "b": 12, "c": 12}, 0.05)
    found = compare(matrix, queries=table, by="kind")
    results = found.segments["RR"]
    assert {each.segment: each.verdict for each in results} == {"a": "inconclusive", "b": "inconclusive", "c": "worse"}
    for each in results:
        queries = [query for query in matrix.queries if query.startswith(each.segment)]
        alone = compare(matrix.select(queries=queries), alpha=0.05 / 3).pairs["RR"]
        assert (each.p, each.result.n, each.result.interval) == (min(1.0, 3 * alone.p), 12, alone.interval)
    text = " ".join(found.text("table").split())
    assert "By kind, new is significantly worse than old in 1 of 3 groups (c)." in text
    assert "Bonferroni correction for 3 comparisons" in text


def test_a_group_that_is_too_small():
    matrix, table = _grouped({"a": 12, "tiny": 3}, 0.5)
    found = compare(matrix, queries=table, by="kind")
    assert [each.verdict for each in found.segments["RR"]] == ["inconclusive", "too few queries"]
    assert "1 group too small to test" in " ".join(found.text("table").split())


def test_groups_of_several_systems_need_a_baseline():
    generator = np.random.default_rng(1)
    matrix = ScoreMatrix.of("RR", {name: generator.random(20).tolist() for name in "abc"})
    table = {query: {"kind": str(i % 2)} for i, query in enumerate(matrix.queries)}
    with pytest.raises(UsageError, match="requires a baseline for more than two systems"):
        compare(matrix, queries=table, by="kind")
    found = compare(matrix, queries=table, by="kind", baseline="a")
    assert {each.tests for each in found.segments["RR"]} == {4}
    with pytest.raises(UsageError, match="by requires a table of queries"):
        compare(matrix, by="kind", baseline="a")


def test_options_by_the_names_of_others() -> None:
    for option, hint in (("metrics", "it is measures="), ("max_p", "alpha=0.01"), ("stat_test", 'test="t"')):
        with pytest.raises(UsageError, match=f"compare: no option {option}\nhint: .*{hint}"):
            compare(matrix(2), **{option: 0.01})
    with pytest.raises(TypeError, match=r"compare\(\) got an unexpected keyword argument 'nothing'"):
        compare(matrix(2), nothing=1)  # type: ignore[call-arg]


def test_measures_have_one_name_in_all_tables() -> None:
    """Results are keyed by the name in the request."""
    qrels, one, other = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["b", "a"], "q2": ["a"]}, {"q1": ["a"], "q2": ["b"]}
    found = gainful.compare(qrels, {"x": one, "y": other, "z": other}, ["map@100", "p@5"])
    assert "map" not in str(found) and "primary measure: AP@100; secondary: P@5" in str(found)
    assert list(found.systems) == ["map@100", "p@5"]
    assert "map" not in str(gainful.compare(qrels, {"x": one, "y": other}, ["map@100", "p@5"]))


def test_pairs_of_secondary_measures_are_left_out_with_a_word() -> None:
    systems = {name: [place / 10, place / 5, place / 20] for place, name in enumerate("abcd")}
    found = str(gainful.compare({measure: ScoreMatrix.of(measure, systems) for measure in ("AP", "P@10")}))
    assert "Pairs (AP)" in found and "Pairs (P@10)" not in found
    assert "To see which pairs differ: all_pairs=True prints all 6" in found[found.index("Leaderboard (P@10)") :]


class TestQueriesThatARunDoesNotAnswer:
    """They score 0, and every output of a comparison reports it."""

    QRELS: ClassVar = {f"q{i:02}": {"d0": 1, "d1": 1} for i in range(30)}
    RUNS: ClassVar = {
        "old": {f"q{i:02}": ["d0", "x", "d1"][i % 3 :] for i in range(30)},
        "late": {f"q{i:02}": ["x", "d1", "d0"] for i in range(12, 30)},
        "new": {f"q{i:02}": ["d1", "d0"][: 1 + i % 2] for i in range(30)},
    }

    def words(self, *names: str, **options: Any) -> str:
        with pytest.warns(GainfulWarning, match="not answered"):
            found = compare(self.QRELS, {name: self.RUNS[name] for name in names}, "nDCG@10", **options)
        return " ".join(str(found).split())

    @pytest.mark.parametrize("options", [{}, {"test": "sign"}, {"margin": 0.001}, {"sequential": True}])
    def test_the_sentence_says_how_many(self, options: dict[str, Any]) -> None:
        assert "30 queries, 12 of which late did not answer" in self.words("old", "late", **options)
        assert "30 queries, 12 of which late did not answer" in self.words("old", "late", "new", **options)

    def test_tables_and_machines_say_it(self) -> None:
        with pytest.warns(GainfulWarning, match="not answered"):
            scores = evaluate(self.QRELS, self.RUNS, "nDCG@10")
        two = compare({name: scores[name] for name in ("old", "late")})
        below = "30 queries, 12 of which late did not answer"
        assert two.pairs["nDCG@10"].unanswered == (12, 0)
        assert '"unanswered_system": 12, "unanswered_baseline": 0' in two.text("jsonl")
        for found in (two, compare(scores)):
            for only_ in ("means", "pairs"):
                assert below in " ".join(found.table(only_).text().split())
        assert '"unanswered": {"late": 12}' in compare(scores).text("jsonl")

    def test_queries_that_decide_are_marked(self) -> None:
        with pytest.warns(GainfulWarning, match="not answered"):
            found = compare(self.QRELS, {name: self.RUNS[name] for name in ("old", "late")}, "nDCG@10", most=30)
        [table] = [each for each in found.page().tables if each.title.startswith("Queries that favour old")]
        by = dict(zip((row[0] for row in table.rows), (row[-1] for row in table.rows), strict=True))
        assert table.columns[-1].name == "not answered by"
        assert {query for query, name in by.items() if name} == {query for query in by if query < "q12"}
        assert set(by.values()) == {"late", ""}

    def test_factors_and_beliefs_say_it(self) -> None:
        runs = {"a_x": self.RUNS["old"], "a_y": self.RUNS["late"], "b_x": self.RUNS["new"], "b_y": self.RUNS["old"]}
        levels = {"one": {name: name[0] for name in runs}, "two": {name: name[2] for name in runs}}
        for options in ({"factors": levels}, {"test": "bayes", "margin": 0.05}):
            with pytest.warns(GainfulWarning, match="not answered"):
                found = compare(self.QRELS, runs, "nDCG@10", **options)  # type: ignore[arg-type]
            assert "30 queries, 12 of which a_y did not answer" in " ".join(str(found).split())

    def test_left_out_or_all_answered_is_not_said(self) -> None:
        assert "did not answer" not in str(compare(self.QRELS, {"a": self.RUNS["old"], "b": self.RUNS["new"]}, "RR"))
        skipped = self.words("old", "late", policy=Policy(missing="skip"))
        assert "18 of 30 queries, the others lack a score" in skipped and "did not answer" not in skipped

    def test_scores_from_files_know_it(self, tmp_path: Path) -> None:
        with pytest.warns(GainfulWarning, match="not answered"):
            scores = evaluate(self.QRELS, {name: self.RUNS[name] for name in ("old", "late")}, "nDCG@10")
        path = tmp_path / "scores.jsonl"
        gainful.Report(scores, by_query=True).save(path)
        assert "12 of which late did not answer" in " ".join(str(compare(gainful.Scores.read(path))).split())
