"""Groups of points with a line around each: one colour, one name, and six such plots in two rows."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from gainful.pages.charts import Axis, Chart, Line, Plot, Points
from gainful.pages.page import Page
from gainful.render.chart_text import chart_lines
from gainful.render.figure import draw
from gainful_papers.dellamea2004.adm_figures import density_ellipse

GROUPS = {"Best": (7, 0.8), "Normal": (83, 0.5), "Worst": (19, 0.2)}


def page(*charts: Chart) -> Page:
    return Page("papers", charts)


def clouds(seed: int = 1) -> Plot:
    """Three groups of made-up points, each with its ellipse."""
    draws = random.Random(seed)
    points, lines = [], []
    for name, (count, middle) in GROUPS.items():
        x = tuple(draws.gauss(middle, 0.08) for _ in range(count))
        y = tuple(0.5 * value + draws.gauss(0.0, 0.03) for value in x)
        ellipse = density_ellipse(np.array(x), np.array(y))
        assert ellipse is not None
        points.append(Points(name, x, y))
        lines.append(Line(name, *(tuple(each.tolist()) for each in ellipse)))
    return Plot(f"Clouds {seed}", Axis("AP"), Axis("ADM"), tuple(lines), tuple(points))


class TestFigure:
    def test_one_colour(self):
        plot = clouds()
        drawn = draw(page(plot)).axes[0].get_lines()
        assert len(drawn) == 6
        for outline, points in zip(drawn[:3], drawn[3:], strict=True):
            assert to_hex(outline.get_color()) == to_hex(points.get_markeredgecolor())
            assert outline.get_zorder() < points.get_zorder()
        assert len({to_hex(line.get_color()) for line in drawn[:3]}) == 3

    def test_outlines_are_thinner_than_lines_of_their_own(self):
        plot = clouds()
        other = Line("fit", (0.0, 1.0), (0.0, 0.5))
        *outlines, own = draw(page(replace(plot, lines=(*plot.lines, other)))).axes[0].get_lines()[:4]
        assert {line.get_linewidth() for line in outlines} == {0.7} and own.get_linewidth() > 1

    @pytest.mark.parametrize("count", [1, 2, 6])
    def test_a_legend_has_each_group_once_with_its_marker(self, count):
        figure = draw(page(*(clouds(i) for i in range(count))))
        [legend] = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == list(GROUPS)
        assert [sample.get_marker() for sample in legend.legend_handles] == ["o", "^", "v"]
        assert {sample.get_linestyle() for sample in legend.legend_handles} == {"None"}

    def test_a_line_without_points_keeps_its_entry(self):
        plot = clouds()
        figure = draw(page(replace(plot, lines=(*plot.lines, Line("fit", (0.0, 1.0), (0.0, 0.5))))))
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["fit", *GROUPS]

    def test_outlines_keep_a_distance_from_the_ends(self):
        plot = clouds()
        low, high = draw(page(plot)).axes[0].get_xlim()
        x = [value for what in plot.named for value in what.x]
        assert low < min(x) and high > max(x)

    def test_six_stand_three_in_a_row(self):
        boxes = [axes.get_position() for axes in draw(page(*(clouds(i) for i in range(6)))).axes]
        tops = [round(box.y1, 6) for box in boxes]
        assert [tops.count(top) for top in dict.fromkeys(tops)] == [3, 3]
        assert boxes[0].x1 < boxes[1].x0 < boxes[1].x1 < boxes[2].x0

    def test_labels_of_points_need_more_room(self):
        plot = clouds()
        named = replace(plot.points[0], labels=("x", *[""] * 6))
        charts = [replace(plot, points=(named, *plot.points[1:]))] * 6
        tops = [round(axes.get_position().y1, 6) for axes in draw(page(*charts)).axes]
        assert [tops.count(top) for top in dict.fromkeys(tops)] == [2, 2, 2]


def test_as_text_there_are_points_only():
    assert chart_lines(clouds())[-1].split() == ["o", "Best", "^", "Normal", "v", "Worst"]
    assert not any("A" in line.partition("|")[2] for line in chart_lines(clouds()))
