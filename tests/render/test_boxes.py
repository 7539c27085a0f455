"""Boxes of percentiles: what stands where as text and in a figure, and in whose colours."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path

from gainful.pages.charts import Axis, Boxes, Chart, Percentiles, Plot, Points, system_numbers
from gainful.pages.page import Page
from gainful.render.figure import draw

READ = "Box: 25 to 75 % of the values, the line in it: 50 %, whiskers: 10 to 90 %."
BEST = Percentiles("Best", (0.6, 0.7, 0.75, 0.8, 0.9), 7)
NORMAL = Percentiles("Normal", (0.3, 0.4, 0.5, 0.6, 0.7), 83)
SINGLE = Percentiles("Single", (0.2, 0.2, 0.2, 0.2, 0.2), 1)
BOXES = Boxes("ADM by category", Axis("ADM", 0, 1), (BEST, NORMAL, SINGLE), "Over 91 systems.")
LONG = (
    BEST._replace(name="the manual runs of the best systems"),
    NORMAL._replace(name="automatic-runs-of-title-only-1", size=19000),
    NORMAL._replace(name="automatic-runs-of-title-only-2"),
    SINGLE._replace(name="x"),
    SINGLE._replace(name="MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"),
)
PAGES: dict[str, tuple[Chart, ...]] = {
    "three": (BOXES,),
    "two charts": (BOXES, replace(BOXES, title="Another", axis=Axis("ADM''"))),
    "none": (replace(BOXES, groups=()),),
    "five long": (replace(BOXES, groups=LONG),),
    "two and four long": (replace(BOXES, groups=LONG[:2]), replace(BOXES, groups=LONG[:4])),
    "beside points": (
        Plot("", Axis("AP"), Axis("ADM"), points=(Points("Best", (0.1, 0.2), (0.3, 0.4)),)),
        BOXES,
    ),
}


def page(*charts: Chart) -> Page:
    return Page("papers", charts, ("order:score|ties:docid-desc",))


def parts(figure: Figure, group: int, panel: int = 0) -> tuple[Path, list[Line2D]]:
    """A group's box, and its whiskers, caps and inner line."""
    axes = figure.axes[panel]
    return axes.patches[group].get_path(), list(axes.get_lines()[5 * group : 5 * group + 5])


def edge(figure: Figure, group: int, panel: int = 0) -> str:
    return to_hex(figure.axes[panel].patches[group].get_edgecolor())


class TestFigure:
    def test_boxes_and_whiskers_are_the_data(self):
        figure = draw(page(BOXES))
        for i, group in enumerate(BOXES.groups):
            first, low, middle, high, last = group.points
            box, (down, up, lowest, highest, inner) = parts(figure, i)
            corners = box.vertices
            assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((low, high))
            assert (corners[:, 0].min() + corners[:, 0].max()) / 2 == pytest.approx(i)
            assert [list(down.get_ydata()), list(up.get_ydata())] == [[low, first], [high, last]]
            assert [list(line.get_xdata()) for line in (down, up)] == [[i, i]] * 2
            levels = [[v, v] for v in (first, last, middle)]
            assert [list(line.get_ydata()) for line in (lowest, highest, inner)] == levels
            assert inner.get_linewidth() > up.get_linewidth() and inner.get_zorder() >= up.get_zorder()

    def test_the_axis_goes_as_far_as_it_says(self):
        [axes] = draw(page(BOXES)).axes
        assert axes.get_ylim() == (0, 1) and axes.get_ylabel() == "ADM" and not axes.get_xlabel()
        assert [text.get_text() for text in axes.get_yticklabels()] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        low, high = draw(page(replace(BOXES, axis=Axis("ADM")))).axes[0].get_ylim()
        assert 0 <= low < 0.2 and 0.9 < high < 1

    def test_names_and_sizes_stand_below(self):
        names = [text.get_text() for text in draw(page(BOXES)).axes[0].get_xticklabels()]
        assert names == ["Best\nn = 7", "Normal\nn = 83", "Single\nn = 1"]
        below = [
            label.get_text().split("\n")
            for label in draw(page(replace(BOXES, groups=LONG)), 1).axes[0].get_xticklabels()
        ]
        assert {len(lines) for lines in below} == {3} and below[1][-1] == "n = 19,000"  # all sizes in one row

    def test_the_caption_says_what_a_box_is(self):
        for caption, wanted in (("", READ), ("Over 91 systems.", f"Over 91 systems. {READ}"), ("91", f"91. {READ}")):
            chart = replace(BOXES, caption=caption)
            assert wanted in [text.get_text() for text in draw(page(chart), 2).texts]

    def test_a_group_without_values_has_its_name_only(self):
        none = Percentiles("None", (math.nan,) * 5, 0)
        figure = draw(page(replace(BOXES, groups=(BEST, none))))
        assert len(figure.axes[0].patches) == 1
        assert figure.axes[0].get_xticklabels()[1].get_text() == "None\nn = 0"

    @pytest.mark.parametrize("columns", [1, 2, None])
    @pytest.mark.parametrize("name", PAGES)
    def test_nothing_leaves_the_figure_and_no_name_meets_another(self, name, columns):
        figure = draw(page(*PAGES[name]), columns)
        tight = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
        width, height = figure.get_size_inches()
        assert tight.x0 >= 0 and tight.y0 >= 0 and tight.x1 <= width and tight.y1 <= height
        texts = [text for axes in figure.axes for text in axes.get_xticklabels()] + figure.texts
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])

    def test_many_long_names_take_both_columns(self):
        assert draw(page(replace(BOXES, groups=LONG))).get_size_inches()[0] == pytest.approx(7.0)
        assert draw(page(BOXES)).get_size_inches()[0] == pytest.approx(3.33)


class TestColours:
    POINTS = Plot(
        "",
        Axis("AP"),
        Axis("ADM"),
        points=(Points("Normal", (0.1, 0.3), (0.2, 0.1)), Points("Best", (0.1, 0.2), (0.3, 0.4))),
    )

    def test_groups_count_as_systems(self):
        assert system_numbers([BOXES]) == {"Best": 0, "Normal": 1, "Single": 2}
        assert system_numbers([self.POINTS, BOXES]) == {"Normal": 0, "Best": 1, "Single": 2}

    @pytest.mark.parametrize("is_first", [False, True])
    def test_a_group_has_the_colour_of_the_points_of_its_name(self, is_first):
        charts = (BOXES, self.POINTS) if is_first else (self.POINTS, BOXES)
        figure = draw(page(*charts))
        clouds = {what.name: i for i, what in enumerate(self.POINTS.points)}
        for i, group in enumerate(BOXES.groups[:2]):
            panel = 0 if is_first else 1
            _, lines = parts(figure, i, panel)
            points = figure.axes[1 if is_first else 0].get_lines()[clouds[group.name]]
            colour = to_hex(points.get_markeredgecolor())
            assert {edge(figure, i, panel), *(to_hex(line.get_color()) for line in lines)} == {colour}
