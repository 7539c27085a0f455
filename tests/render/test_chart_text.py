"""Charts as text: positions of their parts, and output in all formats."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from gainful.pages.charts import (
    Axis,
    HeatMap,
    Line,
    Plot,
    Points,
    Rule,
    Scale,
    log_ticks,
    nice_ticks,
    shortened,
    system_numbers,
)
from gainful.pages.page import Column, Page, Table
from gainful.render import text as render_text
from gainful.render.chart_text import HEIGHT, WIDTH, chart_lines

RISING = Line("bm25", (0.0, 10.0), (0.0, 1.0))
PLOT = Plot("Recall by rank", Axis("rank", 0, 10), Axis("recall", 0, 1), (RISING,))
CELLS = HeatMap(
    "The best system",
    ("0-1-2-3", "0-1-10-100"),
    ("@10", "@100"),
    ((0.1, 0.5), (0.25, math.nan)),
    (("bm25", "dense"), ("rm3", "")),
    "depth",
    "gains",
    "nDCG",
    outlined=frozenset({(0, 1)}),
)


def grid(lines: list[str]) -> list[str]:
    """The rows between the axes, from top to bottom."""
    return [
        re.split(r"[|+]", line, maxsplit=1)[1].ljust(WIDTH) for line in lines if re.match(r" *[-\d.e]* [|+]", line)
    ][:-1]


def places(lines: list[str], sign: str) -> list[tuple[int, int]]:
    """Columns and rows, from the lower left, of a sign."""
    rows = grid(lines)[::-1]
    return sorted((column, row) for row, text in enumerate(rows) for column, c in enumerate(text) if c == sign)


class TestPlot:
    def test_a_line(self):
        lines = chart_lines(PLOT)
        assert lines[:2] == ["Recall by rank", "recall"]
        assert lines[-1] == "A bm25"
        assert [len(row) for row in grid(lines)] == [WIDTH] * HEIGHT
        found = places(lines, "A")
        assert [column for column, _ in found] == list(range(WIDTH))
        for column, row in found:  # where the straight line through the corners is, rounded
            assert abs(row - column * (HEIGHT - 1) / (WIDTH - 1)) <= 0.5

    def test_ticks_stand_where_their_values_are(self):
        lines = chart_lines(PLOT)
        labels = [line.split("+")[0].strip() for line in lines[2 : 2 + HEIGHT] if "+" in line]
        assert labels == ["1.0", "0.8", "0.6", "0.4", "0.2", "0.0"]
        bottom, numbers, name = lines[2 + HEIGHT : 5 + HEIGHT]
        at = [i for i, c in enumerate(bottom) if c == "+"][1:]
        assert [numbers[i] for i in at] == list("024681")
        assert [(i - 5) * 10 / (WIDTH - 1) for i in at] == pytest.approx([0, 2, 4, 6, 8, 10], abs=0.1)
        assert name.strip() == "rank"

    def test_lines_that_meet_take_turns(self):
        twin = replace(RISING, name="dense")
        lines = chart_lines(replace(PLOT, lines=(RISING, twin)))
        both = {sign: {column for column, _ in places(lines, sign)} for sign in "AB"}
        assert both["A"] | both["B"] == set(range(WIDTH)) and not both["A"] & both["B"]
        assert abs(len(both["A"]) - len(both["B"])) <= 1

    def test_a_steep_line_has_no_holes(self):
        steep = Line("a", (0.0, 5.0, 5.1, 10.0), (0.0, 0.0, 1.0, 1.0))
        rows = {row for _, row in places(chart_lines(replace(PLOT, lines=(steep,))), "A")}
        assert rows == set(range(HEIGHT))

    def test_gaps_stay_gaps(self):
        broken = Line("a", (0.0, 3.0, 5.0, 7.0, 10.0), (0.5, 0.5, math.nan, 0.5, 0.5))
        columns = {column for column, _ in places(chart_lines(replace(PLOT, lines=(broken,))), "A")}
        assert columns == {i for i in range(WIDTH) if i * 10 / 71 <= 3.05 or i * 10 / 71 >= 6.95}

    def test_the_ideal_guides_and_rules_have_their_own_signs(self):
        ideal, guide = replace(RISING, name="ideal", role="ideal"), Line("chance", (0.0, 10.0), (0.2, 0.2), "guide")
        lines = chart_lines(replace(PLOT, lines=(ideal, guide), rules=(Rule("half", y=0.5), Rule("here", x=5.0))))
        assert lines[-1].split() == ["*", "ideal", ".", "chance", "-", "half", ":", "here"]
        assert {row for _, row in places(lines, ".")} == {3}
        assert {column for column, _ in places(lines, ":")} == {36}
        assert {row for _, row in places(lines, "-")} == {8}

    def test_points(self):
        points = (Points("over", (0.0, 5.0), (1.0, 1.0)), Points("under", (10.0, math.nan), (0.0, 0.0)))
        lines = chart_lines(replace(PLOT, lines=(), points=points))
        assert places(lines, "o") == [(0, HEIGHT - 1), (36, HEIGHT - 1)]
        assert places(lines, "^") == [(WIDTH - 1, 0)]

    def test_points_are_seen_on_lines(self):
        lines = chart_lines(replace(PLOT, points=(Points("here", (5.0,), (0.5,)),)))
        assert places(lines, "^") == [(36, 8)] and (36, 8) not in places(lines, "A")

    def test_what_is_beyond_the_axes_is_left_out(self):
        beyond = Line("a", (0.0, 10.0), (5.0, 5.0))
        lines = chart_lines(replace(PLOT, lines=(beyond,), points=(Points("p", (20.0,), (0.5,)),)))
        assert not places(lines, "A") and not places(lines, "o")

    def test_a_logarithmic_axis(self):
        line = Line("a", (1.0, 10.0, 100.0), (0.0, 0.5, 1.0))
        found = places(chart_lines(replace(PLOT, x=Axis("rank", 1, 100, is_log=True), lines=(line,))), "A")
        for column, row in found:  # straight again
            assert abs(row - column * (HEIGHT - 1) / (WIDTH - 1)) <= 0.5

    def test_letters_are_the_same_in_all_charts_of_a_page(self):
        first, second = replace(PLOT, lines=(RISING, replace(RISING, name="dense"))), replace(PLOT, title="Other")
        second = replace(second, lines=(replace(RISING, name="dense"),))
        assert "\nB dense\n" in render_text(Page("x", (first, second)))
        assert chart_lines(second)[-1] == "A dense"

    def test_lines_are_at_most_100_wide(self):
        names = ["x" * 80, *(f"system number {i}" for i in range(60))]
        long = "a long title " * 20
        chart = Plot(long, Axis("x"), Axis("y"), tuple(replace(RISING, name=name) for name in names), caption=long)
        assert max(map(len, chart_lines(chart))) <= 100

    def test_nothing_to_draw(self):
        nothing = Plot("", Axis("x"), Axis("y"), (Line("a", (), ()), Line("b", (1.0,), (math.nan,))))
        assert not places(chart_lines(nothing), "A")


class TestFormats:
    PAGE = Page("curves", ("before", PLOT, Table((Column("run"),), (("a",),)), CELLS), ("note",))

    def test_table(self):
        text = render_text(self.PAGE)
        assert text.startswith("before\n\nRecall by rank\nrecall\n1.0 +")
        assert text.endswith("A bm25\n\nrun\n---\na\n\nnote\n")  # a heat map is for figures and HTML

    def test_markdown_keeps_the_drawing(self):
        drawing = "\n".join(chart_lines(PLOT))
        assert f"```text\n{drawing}\n```" in render_text(self.PAGE, "markdown")

    def test_names_cannot_end_the_drawing(self):
        page = Page("x", (replace(PLOT, title="``` <b>"),))
        assert render_text(page, "markdown").startswith("````text\n``` <b>\n")

    def test_latex_says_where_the_figure_belongs(self):
        latex = render_text(self.PAGE, "latex")
        assert "% figure: Recall by rank\n% \\includegraphics{figure.pdf}, made with --figure figure.pdf" in latex
        assert all(line.startswith(("%", "\\", "run", "a", "")) for line in latex.split("\n"))

    @pytest.mark.parametrize("format_", ["csv", "jsonl", "trec"])
    def test_machines_have_tables(self, format_):
        without = Page("curves", tuple(part for part in self.PAGE.parts if isinstance(part, (str, Table))), ("note",))
        assert render_text(self.PAGE, format_) == render_text(without, format_)


class TestScales:
    @pytest.mark.parametrize("ends", [(0, 1), (0, 0.003), (-5, 5), (1, 1000), (1e6, 2e6), (0.1, 0.11), (0, 1e9)])
    def test_round_numbers(self, ends):
        ticks = nice_ticks(*ends)
        values = [value for value, _ in ticks]
        assert 3 <= len(ticks) <= 7 and all(ends[0] <= value <= ends[1] for value in values)
        assert all(float(text) == pytest.approx(value) for value, text in ticks)
        steps = {round(b - a, 9) for a, b in pairwise(values[1:])}
        assert len(steps) == 1

    @pytest.mark.parametrize(("ends", "wanted"), [((1, 1e9), 5), ((0.001, 1), 4), ((3, 4), 6), ((1, 10), 4)])
    def test_powers(self, ends, wanted):
        ticks = log_ticks(*ends)
        assert len(ticks) <= 6 and all(ends[0] <= value <= ends[1] * 1.001 for value, _ in ticks)
        assert len(ticks) == wanted

    def test_ends_that_are_not_given_are_those_of_the_data(self):
        scale = Scale.of(Axis("x"), [3.0, math.nan, 7.0, math.inf])
        assert (scale.low, scale.high) == (3.0, 7.0)
        assert Scale.of(Axis("x", is_log=True), [0.0, -1.0, 2.0, 8.0])[:2] == (2.0, 8.0)


def test_names():
    assert system_numbers([PLOT, CELLS]) == {"bm25": 0}
    assert shortened("abcdefghij", 7) == "ab...ij" and shortened("abc", 3) == "abc"
