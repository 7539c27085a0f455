"""jarvelin2000 run again: its worked examples, its study against plain Python, and what is refused."""

from __future__ import annotations

import math
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import scipy.stats

from gainful import Policy, Qrels, ScoreMatrix, compare_factors
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.pages.page import Cell, Page, Table
from gainful.render import text as render_text
from gainful_papers import reproduce
from gainful_papers.claims import Study
from gainful_papers.jarvelin2000 import examples, study

Grades = dict[str, dict[str, float]]
Lists = dict[str, list[str]]


# The worked examples: numbers that the paper prints.


def test_the_discount_boosts_ranks_below_its_base(reading: Any) -> None:
    found = reading.section(examples(), "Equation 2")
    notes = [note for part in found.parts if isinstance(part, Table) for note in part.notes]
    assert notes == ["b = 2: but ranks 1 and 2 have equal shares"]
    [sentence] = [part for part in found.parts if isinstance(part, str)]
    assert "0.30, 0.48, 0.60, 0.70, 0.78, 0.85, 0.90, 0.95, 1.00" in sentence
    assert "DCG'[2] = 9.64, although CG'[2] = 5" in sentence  # 3 + 2 / log10(2)


# The study, against plain Python.


def random_case(seed: int, highest: int = 3) -> tuple[Grades, dict[str, Lists]]:
    """Judgments and lists with unjudged documents; some queries lack a level, some are not answered."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(40)]
    qrels: Grades = {
        f"q{q}": {d: rng.choice([0, 0, *range(highest + 1)]) for d in rng.sample(documents, 25)} for q in range(12)
    }
    qrels["q3"] = {"d0": 0, "d1": 1, "d2": 2}  # none of the highest level
    runs = {
        name: {query: rng.sample(documents, rng.randint(8, 40)) for query in qrels if name != "two" or query != "q5"}
        for name in ("one", "two", "three", "four")
    }
    return qrels, runs


def studied(qrels: Grades, runs: dict[str, Lists], **options: str) -> Study:
    return study(Judged(Qrels.from_dict(qrels), Policy()), runs, **options)  # type: ignore[arg-type]


@cache
def random_study() -> Study:
    """Results shared by several tests."""
    return studied(*random_case(6))


def average_precision(grades: dict[str, float], ranked: list[str], level: int) -> float | None:
    relevant = {document for document, grade in grades.items() if grade == level}
    if not relevant:
        return None
    found, total = 0, 0.0
    for rank, document in enumerate(ranked, 1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


def by_level(qrels: Grades, runs: dict[str, Lists], level: int) -> dict[str, list[float]]:
    """AvP of the queries that have documents of a level; a query that is not answered has 0."""
    queries = [query for query in sorted(qrels) if level in qrels[query].values()]
    return {
        name: [average_precision(qrels[query], lists.get(query, []), level) or 0.0 for query in queries]
        for name, lists in runs.items()
    }


def discounted(gains: list[float], depth: int, base: float | None) -> list[float]:
    """The vector of equation 1 (no base) or 2."""
    vector, total = [], 0.0
    for rank in range(1, depth + 1):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        total += gain if rank == 1 or base is None else gain / (math.log(rank) / math.log(base))
        vector.append(total)
    return vector


def average_curves(
    qrels: Grades, runs: dict[str, Lists], weights: list[float], depth: int, base: float | None
) -> dict[str, list[float]]:
    """The average vectors of the ideal and of every run."""

    def mean(vectors: list[list[float]]) -> list[float]:
        return [math.fsum(column) / len(vectors) for column in zip(*vectors, strict=True)]

    ideals = [
        discounted(sorted((weights[int(grade)] for grade in grades.values()), reverse=True), depth, base)
        for grades in qrels.values()
    ]
    curves = {"(ideal)": mean(ideals)}
    for name, lists in runs.items():
        gains = [
            [weights[int(grades.get(document, 0))] for document in lists.get(query, [])]
            for query, grades in qrels.items()
        ]
        curves[name] = mean([discounted(each, depth, base) for each in gains])
    return curves


def test_table_1_has_average_precision_by_level_and_differences(reading: Any) -> None:
    qrels, runs = random_case(2)
    found = reading.section(studied(qrels, runs, baseline="three").sections, "Table 1")
    rows = {(row["run"], row["grade"]): row for row in reading.rows(found, "AvP by run and level")}
    assert len(rows) == 12
    for level in (1, 2, 3):
        means = {run: math.fsum(values) / len(values) for run, values in by_level(qrels, runs, level).items()}
        for run, mean in means.items():
            row = rows[run, str(level)]
            assert row["AvP"] == pytest.approx(mean)
            if run != "three":
                assert row["points"] == pytest.approx(100 * (mean - means["three"]))
                assert row["percent"] == pytest.approx(100 * (mean / means["three"] - 1))


def test_table_1_has_friedmans_test_by_level(reading: Any) -> None:
    qrels, runs = random_case(6)
    found = reading.section(random_study().sections, "Table 1")
    for level, row in zip((1, 2, 3), reading.rows(found, "Friedman's test"), strict=True):
        scores = by_level(qrels, runs, level)
        assert row["empty"] == len(qrels) - len(scores["one"])
        n, m = len(scores["one"]), len(scores)
        chi2 = scipy.stats.friedmanchisquare(*scores.values()).statistic
        f = (n - 1) * chi2 / (n * (m - 1) - chi2)
        assert (row["queries"], row["Friedman F"]) == (n, pytest.approx(f))
        assert row["p value"] == pytest.approx(scipy.stats.f.sf(f, m - 1, (n - 1) * (m - 1)))


def test_statements_on_table_1_are_computed(reading: Any) -> None:
    qrels, runs = random_case(4)
    found = reading.claims(studied(qrels, runs, baseline="one").sections, "Table 1")
    means = [
        {run: math.fsum(values) / len(values) for run, values in by_level(qrels, runs, level).items()}
        for level in (1, 2, 3)
    ]
    spreads = [100 * (max(of_level.values()) - min(of_level.values())) for of_level in means]
    grows = spreads[0] < spreads[1] < spreads[2]
    assert found["best - worst, points"][1:] == (
        ", ".join(f"{spread:.1f}" for spread in spreads),
        "holds" if grows else "not seen",
    )
    gained = [100 * (max(of_level.values()) - of_level["one"]) for of_level in means]
    level = 1 + gained.index(max(gained))
    assert found["largest gain over the baseline"][1:] == (f"at grade {level}", "holds" if level == 3 else "not seen")
    assert str(found["its size"][1]).startswith(f"{max(gained):.1f} points (")


def test_figure_1_has_a_chart_a_level_with_all_values_beside(reading: Any) -> None:
    found = reading.section(random_study().sections, "Figure 1")
    assert [plot.title for plot in reading.plots(found)] == [
        "Relevant: grade 1",
        "Relevant: grade 2",
        "Relevant: grade 3",
    ]
    rows = reading.rows(found, "Precision at recall")
    assert len(rows) == 4 * 3 * 11
    values = {(row["run"], row["grade"], row["recall"]): row["precision"] for row in rows}
    widest = []
    for level, plot in zip("123", reading.plots(found), strict=True):
        for line in plot.lines:
            assert list(line.y) == [values[line.name, level, recall] for recall in line.x]
        gaps = [max(values) - min(values) for values in zip(*(line.y for line in plot.lines), strict=True)]
        widest.append(f"{max(gaps):.3f}")
    assert reading.claims(found)["distance between the curves"][1] == ", ".join(widest)


WEIGHTS = {"A": [0.0, 0.0, 2.0, 3.0], "B": [0.0, 0.0, 0.0, 3.0]}


@pytest.mark.parametrize(("name", "depth", "base"), [("Figure 2", 100, None), ("Figure 3", 50, 2.0)])
def test_figures_of_gain(reading: Any, name: str, depth: int, base: float | None) -> None:
    qrels, runs = random_case(6)
    found = reading.section(random_study().sections, name)
    values = [row["value"] for row in reading.rows(found, "Average gain by rank")]
    assert len(reading.plots(found)) == 2
    drawn: list[float] = []
    for plot, weights in zip(reading.plots(found), WEIGHTS.values(), strict=True):
        curves = average_curves(qrels, runs, weights, depth, base)
        assert [line.name for line in plot.lines] == ["ideal", "one", "two", "three", "four"]
        for line, curve in zip(plot.lines, curves.values(), strict=True):
            assert list(line.y) == pytest.approx(curve)
            drawn += line.y
    assert values == drawn


@pytest.mark.parametrize(("name", "base", "region"), [("Section 3.6", None, (20, 100)), ("Section 3.7", 2.0, (10, 50))])
def test_readings(reading: Any, name: str, base: float | None, region: tuple[int, int]) -> None:
    qrels, runs = random_case(6)
    found = reading.section(random_study().sections, name)
    figure = 2 if base is None else 3
    of = reading.claims(found)
    for panel, weights in WEIGHTS.items():
        curves = average_curves(qrels, runs, weights, 200, base)
        ideal = curves["(ideal)"]
        needed = [
            next((rank for rank, value in enumerate(curves[run], 1) if value >= ideal[9] - 1e-9), None) for run in runs
        ]
        there = [rank for rank in needed if rank is not None]
        most = str(max(there, default=0)) if len(there) == len(needed) else "not within 200"
        expected = f"{min(there)} to {most}" if there else "none within 200"
        assert of[f"{figure}{panel}: documents for 10"][1] == expected
        ends = {run: curves[run][region[1] - 1] for run in runs}
        best, worst = (curves[choose(ends, key=ends.__getitem__)] for choose in (max, min))
        if panel == "A":
            ranks = range(region[0] - 1, region[1])
            for who, curve in (("best", best), ("others", worst)):
                points = [ideal[rank] - curve[rank] for rank in ranks]
                shares = [100 * (1 - curve[rank] / ideal[rank]) for rank in ranks]
                expected = f"{min(points):.1f} to {max(points):.1f} points ({min(shares):.0f} to {max(shares):.0f}%)"
                assert of[f"{figure}A: {who} below ideal, {region[0]} to {region[1]}"][1] == expected
        apart = [best[rank] - worst[rank] for rank in range(region[1])]
        finds = of[f"{figure}{panel}: best - worst, points"][1]
        assert finds == f"{max(apart):.1f} at rank {1 + apart.index(max(apart))}"


def test_the_base_drives_runs_apart(reading: Any) -> None:
    qrels, runs = random_case(6)
    differences = []
    for base in (2.0, math.e, 10.0):
        curves = average_curves(qrels, runs, WEIGHTS["A"], 50, base)
        ends = [curves[run][-1] for run in runs]
        differences.append(max(ends) - min(ends))
    _, finds, verdict = reading.claims(random_study().sections, "Section 3.7")["3A: best - worst at 50, base 2, e, 10"]
    assert finds == ", ".join(f"{difference:.1f}" for difference in differences)
    assert verdict == ("holds" if differences[0] < differences[1] < differences[2] else "not seen")


# Other scales, other data.


def test_weights_of_other_scales(reading: Any) -> None:
    """Of four levels all but the lowest keep their grades; of two both weights are the same and drawn once."""
    figure = reading.section(studied(*random_case(10, highest=4)).sections, "Figure 3")
    assert [plot.title for plot in reading.plots(figure)] == [
        "3A: DCG, base 2, levels 2 to 4 (0-0-2-3-4)",
        "3B: DCG, base 2, level 4 (0-0-0-0-4)",
    ]
    found = studied(*random_case(9, highest=2)).sections
    figure = reading.section(found, "Figure 2")
    assert [plot.title for plot in reading.plots(figure)] == ["2B: CG, level 2 (0-0-2)"]
    assert any(isinstance(part, str) and "so A and B are equal" in part for part in figure.parts)
    assert "2B, not 2A: distance from ideal" not in reading.claims(found, "Section 3.6")


def test_a_level_that_no_document_has_makes_no_panel(reading: Any) -> None:
    """Grades 0, 1 and 3: all levels but the lowest are the highest."""
    qrels, runs = random_case(19)
    without = {
        query: {document: 3.0 if grade == 2 else grade for document, grade in grades.items()}
        for query, grades in qrels.items()
    }
    found = studied(without, runs).sections
    assert [plot.title for plot in reading.plots(found, "Figure 2")] == ["2B: CG, level 3 (0-0-0-3)"]
    assert any(
        isinstance(part, str) and "so A and B are equal" in part for part in reading.section(found, "Figure 3").parts
    )
    assert [row["relevant"] for row in reading.rows(found, "Table 1", "Friedman's test")] == ["grade 1", "grade 3"]
    for name in ("Section 3.6", "Section 3.7"):
        assert not any("A" in str(what).partition(":")[0] for what in reading.claims(found, name))
    # Without the lowest level there are two.
    without = {
        query: {document: 2.0 if grade == 1 else grade for document, grade in grades.items()}
        for query, grades in qrels.items()
    }
    assert len(reading.plots(studied(without, runs).sections, "Figure 2")) == 2


def undecided_of(reading: Any, found: Study, name: str) -> set[Cell]:
    return {what for what, (*_, verdict) in reading.claims(found.sections, name).items() if verdict == "not seen"}


IN_TABLE_1 = {"best - worst, points", "largest gain over the baseline", "Friedman's p by level"}
OF_BASES = {
    f"{figure}: {what}"
    for figure in ("3A", "3B")
    for what in ("best - worst at 50, base 2, e, 10", "order of runs, bases 2 and e", "order of runs, bases 2 and 10")
}
OF_THE_HIGHEST = {"distance from ideal", "the same, proportional"}


def test_a_baseline_that_nobody_chose_decides_nothing(reading: Any) -> None:
    """The first run is the baseline: of the same runs in another order the largest gain would be elsewhere."""
    qrels, runs = random_case(4)
    chosen, found = (studied(qrels, runs, **options).sections for options in ({"baseline": "one"}, {}))
    what = "largest gain over the baseline"
    says, finds, verdict = reading.claims(found, "Table 1")[what]
    assert (says, finds) == reading.claims(chosen, "Table 1")[what][:2]
    assert verdict == "not seen"
    notes = {row["what"]: row["note"] for row in reading.rows(found, "Table 1", "Statements about")}
    assert str(notes[what]).startswith("depends on the baseline, here the first run; choose one with --baseline")


def test_gains_that_are_equally_large_at_two_levels_decide_nothing(reading: Any) -> None:
    qrels: Grades = {query: {"high": 2, "low": 1} for query in ("q1", "q2", "q3")}
    runs = {
        "one": {query: ["x", "x1", "x2"] for query in qrels},
        "two": {"q1": ["high", "low"], "q2": ["low", "high"], "q3": ["x"]},
    }
    # AvP of two is (1 + 1/2) / 3 at either level, in another order.
    found = reading.claims(studied(qrels, runs, baseline="one").sections, "Table 1")
    assert found["largest gain over the baseline"][1:] == ("at grade 1 and grade 2", "not seen")
    assert found["best - worst, points"][1:] == ("50.0, 50.0", "not seen")
    assert reading.claims(studied(qrels, runs).sections, "Figure 1")["distance between the curves"][2] == "not seen"


def test_p_too_small_to_be_told_apart_decide_nothing(reading: Any) -> None:
    """Thousands of queries have the smallest p that there is at several levels."""
    qrels: Grades = {f"q{i}": {"high": 3, "middle": 2, "low": 1} for i in range(1100)}
    runs = {
        "one": {query: ["high", "middle", "low"] for query in qrels},
        "two": {query: ["x", "high", "middle", "low"] for query in qrels},
    }
    found = studied(qrels, runs)
    of = reading.claims(found.sections, "Table 1")
    assert of["Friedman's p by level"][1:] == (
        "at grade 1, grade 2 and grade 3: < 0.00001, < 0.00001, < 0.00001",
        "not seen",
    )


def test_differences_of_the_papers_table_1(reading: Any) -> None:
    """Levels 1 to 3, best and worst: 14.3 and 10.1, 29.3 and 21.1, 41.0 and 22.2."""
    found = reading.claims(examples(), "Sections 3 and 4")
    assert found["3.5: best at every level"] == ("WSYN/e", "WSYN/e", "agrees")
    notes = {
        row["what"]: row["note"] for row in reading.rows(examples(), "Sections 3 and 4", "Consistency of the paper")
    }
    shares = [100 * (best / worst - 1) for best, worst in ((14.3, 10.1), (29.3, 21.1), (41.0, 22.2))]
    said = ", ".join(f"{share:.0f}" for share in shares)
    assert notes["3.5: best - worst, points"] == f"not as a percentage of the worst: {said}"


def test_what_is_by_level_has_a_stamp_of_its_own(tmp_path: Path) -> None:
    qrels, runs = random_case(5)
    found = reproduce("jarvelin2000", qrels=qrels, runs=runs, policy=Policy(missing="skip"))
    [own] = found.only("Figure 1").page().notes
    assert own.startswith("conventions: ") and "undefined:skip" in own
    assert found.section("Figure 2").conventions == ()
    shared, by_level = found.page().notes
    assert "undefined:skip" not in shared and by_level == f"Table 1, Figure 1: {own}"
    drawn = found.only(["Figure 1", "Figure 2"])
    drawn.save_all(tmp_path)
    stamps = {name: (tmp_path / f"figure-{name}.svg").read_text() for name in "12"}
    assert ["undefined:skip | scale" in stamps[name] for name in "12"] == [True, False]


def test_friedmans_smallest_p_is_named_as_the_table_has_it(reading: Any) -> None:
    """Runs that differ at the highest level in every query, at the lowest in one of two."""
    qrels: Grades = {f"q{i}": {"high": 2, "low": 1} for i in range(60)}
    runs = {
        "one": {query: ["high", "x", "low"] for query in qrels},
        "two": {query: ["x", "high", "low"] if i % 2 else ["low", "high"] for i, query in enumerate(qrels)},
    }
    found = studied(qrels, runs).sections
    printed = [str(row["p"]) for row in reading.rows(found, "Table 1", "Friedman's test")]
    assert printed[1] == "< 0.00001"
    claim = reading.claims(found, "Table 1")["Friedman's p by level"]
    assert claim[1:] == (f"at grade 2: {', '.join(printed)}", "holds")


def test_rounding_decides_nothing(reading: Any) -> None:
    """Three queries: the distance to the ideal is 3 in one of three queries, 2 and 1 and 0 of others; both are 1."""
    qrels: Grades = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "c": 1}, "q3": {"z": 3}}
    runs = {"x": {"q1": ["a", "b"], "q2": ["c", "a"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    found = studied(qrels, runs).sections
    for name, figure in (("Section 3.6", 2), ("Section 3.7", 3)):
        of = reading.claims(found, name)
        assert of[f"{figure}B, not {figure}A: distance from ideal"][1:] == ("1.0, not 1.0 points", "not seen")
        assert of[f"{figure}B, not {figure}A: the same, proportional"][1:] == ("100, not 43%", "holds")
        assert str(of[f"{figure}A: best - worst, points"][1]).startswith("no run is ahead at rank")


def test_another_base_that_reverses_a_significant_difference_or_does_not(reading: Any) -> None:
    """A document at rank 1, or two at ranks ≥ 2: 1 against 1 / log 9 + 1 / log 10 with another base each."""
    what, says = "3B: order of runs, bases 2 and 10", "findings are similar"
    qrels: Grades = {f"q{i}": {"a": 3, "b": 3, "c": 2, "d": 1} for i in range(8)}
    early = {query: ["a"] for query in qrels}
    late = {query: [f"x{i}" for i in range(8)] + ["a", "b"] for query in qrels}
    assert 1 / math.log2(9) + 1 / math.log2(10) < 1 < 1 / math.log10(9) + 1 / math.log10(10)
    found = reading.claims(studied(qrels, {"early": early, "late": late}).sections, "Section 3.7")
    assert found[what] == (says, "1 of 1 pair swaps places, 1 beyond noise", "not seen")
    later = {query: [f"x{i}" for i in range(8)] + ["a"] for query in qrels}
    runs = {"early": {query: ["a", "b"] for query in qrels}, "late": later}
    assert 1 + 1 / math.log10(2) > 1 / math.log10(9)
    found = reading.claims(studied(qrels, runs).sections, "Section 3.7")
    assert found[what] == (says, "no pair swaps places", "holds")


def test_runs_that_share_no_query_decide_nothing_about_their_order(reading: Any) -> None:
    qrels: Grades = {"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"a": 2, "c": 1, "d": 3}}
    judged = Judged(Qrels.from_dict(qrels), Policy(missing="skip"))
    found = study(judged, {"x": {"q1": ["a", "b"]}, "y": {"q2": ["a"]}})
    claim = reading.claims(found.sections, "Section 3.7")["3A: order of runs, bases 2 and 10"]
    assert claim[1:] == ("no two runs differ", "not seen")


def test_a_level_of_queries_that_nobody_answers_is_not_tested(reading: Any) -> None:
    qrels: Grades = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "c": 1}, "q3": {"z": 3}}
    runs = {"x": {"q1": ["a", "b"], "q2": ["c", "a"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    found = study(Judged(Qrels.from_dict(qrels), Policy(missing="skip")), runs, baseline="x")
    section = reading.section(found, "Table 1")
    *_, row = reading.rows(section, "Friedman's test")
    assert row["queries"] == 0
    assert {row[name] for name in ("Friedman F", "p", "p value", "pairs **", "pairs *", "significant pairs")} == {None}
    [table] = [part for part in section.parts if isinstance(part, Table) and part.title == "Friedman's test"]
    assert table.notes[-1] == "grade 3: no query is scored for every run, so nothing is tested"
    of = reading.claims(section)
    assert of["best - worst, points"][1:] == ("75.0, 50.0, -", "not seen")
    assert of["Friedman's p by level"][1:] == ("too few queries to test", "not seen")
    assert reading.claims(found, "Figure 1")["distance between the curves"][1:] == ("0.750, 0.500, -", "not seen")
    for each in found.sections:
        assert "nan" not in render_text(Page("papers", each.parts))


def test_identical_runs_decide_nothing_between_runs(reading: Any) -> None:
    qrels, runs = random_case(20)
    found = studied(qrels, {"one": runs["one"], "two": runs["one"]})
    assert undecided_of(reading, found, "Table 1") == IN_TABLE_1
    assert undecided_of(reading, found, "Figure 1") == {"distance between the curves"}
    assert undecided_of(reading, found, "Section 3.7") == OF_BASES
    # Claims about runs and the ideal are decided.
    of = reading.claims(found, "Section 3.6")
    assert [of[f"2B, not 2A: {what}"][2] for what in sorted(OF_THE_HIGHEST)] == ["holds", "not seen"]


def test_runs_without_judged_documents_decide_nothing(reading: Any) -> None:
    qrels, _ = random_case(21)
    found = studied(qrels, {name: {query: [f"{name}{i}" for i in range(9)] for query in qrels} for name in "xy"})
    assert undecided_of(reading, found, "Table 1") == IN_TABLE_1
    assert undecided_of(reading, found, "Figure 1") == {"distance between the curves"}
    assert undecided_of(reading, found, "Section 3.6") == {f"2B, not 2A: {what}" for what in OF_THE_HIGHEST}
    assert undecided_of(reading, found, "Section 3.7") == OF_BASES | {f"3B, not 3A: {what}" for what in OF_THE_HIGHEST}


def test_one_query_is_not_tested(reading: Any) -> None:
    qrels, runs = random_case(22)
    found = studied({"q1": qrels["q1"]}, runs)
    for row in reading.rows(found.sections, "Table 1", "Friedman's test"):
        assert (row["Friedman F"], row["p"], row["p value"]) == (None, None, None)
    of = reading.claims(found.sections, "Table 1")
    assert of["Friedman's p by level"] == ("smallest at the highest level", "too few queries to test", "not seen")
    assert re.fullmatch(r"\d+\.\d, \d+\.\d, \d+\.\d", of["best - worst, points"][1])


def test_best_and_worst_are_said_to_be_other_than_the_papers(reading: Any) -> None:
    found = studied(*random_case(23)).sections
    notes = {
        row["what"]: row["note"]
        for name in ("Section 3.6", "Section 3.7")
        for row in reading.rows(found, name, "Readings from")
    }
    for figure in ("2A", "2B", "3B"):
        assert "here, the best and the worst run" in str(notes[f"{figure}: best - worst, points"])
    # 4 points at rank 50 are of the paper's best and worst.
    assert not notes["3A: best - worst, points"]
    assert "four other query types" in str(notes["2A: others below ideal, 20 to 100"])
    assert "two best query types" in str(notes["3A: best below ideal, 10 to 50"])


def test_the_difference_in_base_10_in_per_cent(reading: Any) -> None:
    qrels, runs = random_case(24)
    curves = average_curves(qrels, runs, WEIGHTS["A"], 50, 10.0)
    ends = sorted(curves[run][-1] for run in runs)
    apart = ends[-1] - ends[0]
    of = reading.claims(studied(qrels, runs).sections, "Section 3.7")
    assert of["3A: the same in base 10"][1:] == (f"{apart:.1f} points ({100 * apart / ends[0]:.0f}%)", "other data")
    assert of["3B: best - worst at 50, base 2, e, 10"][0] == "grows"


def test_of_many_runs_the_best_and_the_worst_have_names(reading: Any) -> None:
    qrels, _ = random_case(25)
    rng = random.Random(25)
    documents = [f"d{i}" for i in range(40)]
    runs = {f"r{i:02}": {query: rng.sample(documents, 40) for query in qrels} for i in range(12)}
    found = studied(qrels, runs).sections
    expected = set()
    for weights in WEIGHTS.values():
        curves = average_curves(qrels, runs, weights, 50, 2.0)
        ordered = sorted(runs, key=lambda run, of=curves: -of[run][-1])  # type: ignore[misc]
        expected.update((*ordered[:3], ordered[-1]))
    for plot in reading.plots(found, "Figure 3"):
        assert {line.name for line in plot.lines if line.role == "system"} == expected
        assert sum(line.role == "guide" and not line.name for line in plot.lines) == 12 - len(expected)
        assert plot.caption == f"in grey: {12 - len(expected)} other runs"
        assert [line.name for line in plot.lines if line.role == "ideal"] == ["ideal"]
    expected = set()
    for level in (1, 2, 3):
        means = {run: sum(values) for run, values in by_level(qrels, runs, level).items()}
        ordered = sorted(runs, key=lambda run, of=means: -of[run])  # type: ignore[misc]
        expected.update((*ordered[:3], ordered[-1]))
    for plot in reading.plots(found, "Figure 1"):
        assert {line.name for line in plot.lines if line.role == "system"} == expected
        assert plot.caption.endswith(f"(undefined=skip); in grey: {12 - len(expected)} other runs")


def test_sections_are_called_as_in_the_paper(reading: Any) -> None:
    found = studied(*random_case(12))
    assert [each.name for each in found.sections] == [
        "Section 3.2",
        "Table 1",
        "Figure 1",
        "Figure 2",
        "Section 3.6",
        "Figure 3",
        "Section 3.7",
    ]
    assert list(found.evaluations) == ["one", "two", "three", "four"]
    assert found.evaluations["two"].missing == ["q5"]
    # Gain skips nothing; what tables by level do, they say themselves.
    assert (
        found.conventions[0].startswith("conventions: order:input | ")
        and "undefined:zero" in found.conventions[0].whole
    )
    skips = "queries without a document of the level are left out (undefined=skip)"
    notes = [part.notes for part in reading.section(found.sections, "Table 1").parts if isinstance(part, Table)]
    assert any(note.startswith(f"empty: {skips}, unless undefined=error") for each in notes for note in each)
    assert {plot.caption for plot in reading.plots(found.sections, "Figure 1")} == {skips}
    assert {plot.caption for plot in reading.plots(found.sections, "Figure 2")} == {""}
    for format_ in ("table", "csv", "jsonl", "markdown", "latex", "html"):
        assert all(render_text(Page("papers", each.parts), format_) for each in found.sections)


def test_the_order_of_runs_changes_no_number(reading: Any) -> None:
    qrels, runs = random_case(13)
    turned = dict(reversed(runs.items()))
    one, two = (studied(qrels, each, baseline="one").sections for each in (runs, turned))
    for name, title in (("Table 1", "AvP by run and level"), ("Figure 2", "Average gain")):
        rows = [sorted(map(str, reading.rows(each, name, title))) for each in (one, two)]
        assert rows[0] == rows[1]


# Rejected input.


def test_one_run_is_not_enough() -> None:
    qrels, runs = random_case(16)
    with pytest.raises(UsageError, match="jarvelin2000: expected two or more runs to compare, found 1") as refused:
        studied(qrels, {"one": runs["one"]})
    assert refused.value.hint == "--runs takes a folder or a pattern, and is repeatable"
    with pytest.raises(UsageError, match="at least one run is required"):
        studied(qrels, {})


def test_a_baseline_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="baseline: no run is called 'tree'; runs: one, two, three, four"):
        studied(*random_case(17), baseline="tree")


@pytest.mark.parametrize("grades", [[0, 1], [0, 0.5, 1], [0, 3], [*range(12)], [i / 64 for i in range(40)]])
def test_judgments_have_any_number_of_levels(grades: list[float], reading: Any) -> None:
    """The measures are not coupled with a number of levels: one, real ones, many."""
    qrels = {f"q{q}": {f"d{i}": grade for i, grade in enumerate(grades)} for q in range(4)}
    runs = {"worst": {q: list(qrels[q]) for q in qrels}, "best": {q: list(qrels[q])[::-1] for q in qrels}}
    found = studied(qrels, runs)
    last = {row["run"]: row["value"] for row in reading.rows(found.sections, "Figure 2", "Average gain")}
    highest = max(grades)
    expected = sum(grades) if len(grades) > 10 else highest + (0.0 if len(grades) < 4 else sum(grades[2:-1]))
    assert last == {"(ideal)": expected, "worst": expected, "best": expected}
    assert "nan" not in "".join(render_text(Page("papers", each.parts)) for each in found.sections)


def test_judgments_need_grades_above_0() -> None:
    with pytest.raises(InputError, match="jarvelin2000 needs grades above 0, but there are none"):
        studied({"q1": {"d0": 0}}, {"one": {"q1": ["d0"]}, "two": {"q1": ["d1"]}})


def test_weights_bases_and_the_last_rank_are_the_users(reading: Any) -> None:
    qrels, runs = random_case(7)
    found = studied(qrels, runs, gain=["0-1-5-7", "flat"], base=["3", "e"], at=25)  # type: ignore[arg-type]
    for figure, base in (("Figure 2", None), ("Figure 3", 3.0)):
        rows = reading.rows(found.sections, figure, "Average gain")
        for weights, text in (([0, 1, 5, 7], "0-1-5-7"), ([0, 1, 1, 1], "0-1-1-1")):
            curves = average_curves(qrels, runs, weights, 25, base)
            for run, values in curves.items():
                own = [row["value"] for row in rows if row["run"] == run and f"gain={text}" in row["measure"]]
                assert own == pytest.approx(values)
    assert "3A: order of runs, bases 3 and e" in reading.claims(found.sections, "Section 3.7")
    with pytest.raises(UsageError, match="at: expected a rank from 20 to 200, found 10"):
        studied(qrels, runs, at=10)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no weight for these grades in the judgments: 3"):
        studied(qrels, runs, gain=["0-1-2"])  # type: ignore[arg-type]


def test_structure_and_expansion_are_two_factors(reading: Any) -> None:
    """As `compare --factors`, of AvP at every level; scores are by hand."""
    qrels, runs = random_case(8)
    factors = {
        "structure": {"one": "weak", "two": "weak", "three": "strong", "four": "strong"},
        "expansion": {"one": "no", "two": "yes", "three": "no", "four": "yes"},
    }
    parts = reading.section(studied(qrels, runs, factors=factors).sections, "Section 3.5, factors").parts  # type: ignore[arg-type]
    said = [part for part in parts if isinstance(part, Table)]
    for level in (1, 2, 3):
        expected = compare_factors(ScoreMatrix.of("AvP", by_level(qrels, runs, level)), factors=factors).page(places=3)
        tables = [part for part in expected.parts if isinstance(part, Table)]
        own, said = said[: len(tables)], said[len(tables) :]
        for one, other in zip(own, tables, strict=True):
            for row, by_hand in zip(one.rows, other.rows, strict=True):
                assert list(row) == [pytest.approx(each) if isinstance(each, float) else each for each in by_hand]
    assert not said
