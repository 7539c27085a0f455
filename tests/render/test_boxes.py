"""Boxes of percentiles: what stands where as text and in a figure, and in whose colours."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gainful.pages.charts import Axis, Boxes, Chart, Percentiles, Plot, Points, system_numbers
from gainful.pages.page import Column, Page, Table
from gainful.render import text as render_text
from gainful.render.chart_text import chart_lines
from gainful.render.figure import draw, figure_bytes
from gainful.render.figure_style import COLOURS

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
    "five long": (replace(BOXES, groups=LONG),),
    "two and four long": (replace(BOXES, groups=LONG[:2]), replace(BOXES, groups=LONG[:4])),
    "beside points": (
        Plot("", Axis("AP"), Axis("ADM"), points=(Points("Best", (0.1, 0.2), (0.3, 0.4)),)),
        BOXES,
    ),
}


def page(*charts: Chart) -> Page:
    return Page("papers", charts, ("order:score|ties:docid-desc",))


def row(lines: list[str], name: str) -> str:
    """The signs of a group's line, from where the axis begins."""
    [line] = [line for line in lines if line.startswith(name) and "n = " in line]
    axis = next(line for line in lines if set(line.strip()) == {"-", "+"})
    return line[axis.index(axis.strip()[0]) :].split("  n = ")[0]


def parts(figure: Figure, group: int, panel: int = 0) -> tuple[Rectangle, list[object]]:
    """A group's box, and its whiskers, caps and inner line."""
    axes = figure.axes[panel]
    return axes.patches[group], list(axes.get_lines()[5 * group : 5 * group + 5])


class TestText:
    def test_signs_stand_where_the_percentiles_are(self):
        lines = chart_lines(BOXES)
        for group in (BEST, NORMAL):
            signs = row(lines, group.name)
            found = [i for i, sign in enumerate(signs) if sign in "|[]"]
            assert [signs[i] for i in found] == list("|[|]|")
            assert found == [round(value * 55) for value in group.points]
            assert set(signs[found[0] + 1 : found[1]]) == set(signs[found[3] + 1 : found[4]]) == {"-"}
            assert set(signs[found[1] + 1 : found[2]]) | set(signs[found[2] + 1 : found[3]]) == {"="}

    def test_title_sizes_axis_and_how_to_read_it(self):
        lines = chart_lines(BOXES)
        assert lines[0] == "ADM by category"
        assert [line.split("n = ")[1] for line in lines[1:4]] == ["7", "83", "1"]
        assert lines[5].split() == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        assert lines[6].strip() == "ADM"
        assert " ".join(lines[7:]) == f"Over 91 systems. {READ}"

    def test_one_value_is_one_line(self):
        assert row(chart_lines(BOXES), "Single").strip() == "|"

    def test_what_is_beyond_the_axis_ends_in_arrows(self):
        signs = row(chart_lines(replace(BOXES, axis=Axis("ADM", 0.45, 0.65))), "Normal")
        assert signs.startswith("<=") and signs.rstrip().endswith("->") and "[" not in signs and signs.count("|") == 1

    def test_a_group_without_values_has_its_name_only(self):
        none = Percentiles("None", (math.nan,) * 5, 0)
        assert not row(chart_lines(replace(BOXES, groups=(BEST, none))), "None").strip()

    def test_lines_are_at_most_100_wide(self):
        assert max(map(len, chart_lines(replace(BOXES, groups=LONG, caption="a long caption " * 20)))) <= 100


class TestFormats:
    PAGE = Page("papers", (BOXES, Table((Column("group"),), (("Best",),))), ("note",))

    def test_people_have_the_drawing(self):
        drawing = "\n".join(chart_lines(BOXES))
        assert "\n".join(chart_lines(BOXES, width=80)) in render_text(self.PAGE)
        assert f"```text\n{drawing}\n```" in render_text(self.PAGE, "markdown")
        assert "% figure: ADM by category\n" in render_text(self.PAGE, "latex")

    @pytest.mark.parametrize("format_", ["csv", "jsonl", "trec"])
    def test_machines_have_tables(self, format_):
        assert render_text(self.PAGE, format_) == render_text(Page("papers", self.PAGE.parts[1:], ("note",)), format_)


class TestFigure:
    def test_boxes_and_whiskers_are_the_data(self):
        figure = draw(page(BOXES))
        for i, group in enumerate(BOXES.groups):
            first, low, middle, high, last = group.points
            box, (down, lowest, up, highest, inner) = parts(figure, i)
            assert (box.get_y(), box.get_y() + box.get_height()) == pytest.approx((low, high))
            assert box.get_x() + box.get_width() / 2 == pytest.approx(i)
            assert [list(down.get_ydata()), list(up.get_ydata())] == [[low, first], [high, last]]
            assert [list(line.get_xdata()) for line in (down, up)] == [[i, i]] * 2
            assert [list(line.get_ydata()) for line in (lowest, highest, inner)] == [
                [v, v] for v in (first, last, middle)
            ]
            assert list(inner.get_xdata()) == pytest.approx([box.get_x(), box.get_x() + box.get_width()])
            assert (
                inner.get_linewidth() > up.get_linewidth() and inner.get_zorder() > box.get_zorder() > up.get_zorder()
            )

    def test_the_axis_goes_as_far_as_it_says(self):
        [axes] = draw(page(BOXES)).axes
        assert axes.get_ylim() == (0, 1) and axes.get_ylabel() == "ADM" and not axes.get_xlabel()
        assert [text.get_text() for text in axes.get_yticklabels()] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        low, high = draw(page(replace(BOXES, axis=Axis("ADM")))).axes[0].get_ylim()
        assert 0 <= low < 0.2 and 0.9 < high < 1

    def test_a_logarithmic_axis(self):
        [axes] = draw(page(replace(BOXES, axis=Axis("ADM", is_log=True)))).axes
        assert axes.get_yscale() == "log"

    def test_names_and_sizes_stand_below_in_rows(self):
        figure = draw(page(BOXES))
        box = figure.axes[0].get_position()
        places = {text.get_text(): text.get_position() for text in figure.texts}
        for i, group in enumerate(BOXES.groups):
            name, size = places[group.name], places[f"n = {group.size}"]
            assert name[0] == size[0] == pytest.approx(box.x0 + (i + 0.5) / 3 * box.width)
            assert size[1] < name[1] < box.y0
        assert len({places[group.name][1] for group in BOXES.groups}) == 1
        assert len({places[f"n = {group.size}"][1] for group in BOXES.groups}) == 1

    def test_the_caption_says_what_a_box_is(self):
        for caption, wanted in (("", READ), ("Over 91 systems.", f"Over 91 systems. {READ}"), ("91", f"91. {READ}")):
            chart = replace(BOXES, caption=caption)
            assert wanted in [text.get_text() for text in draw(page(chart), 2).texts]

    def test_the_caption_of_two_is_said_once(self):
        shown = [text.get_text() for text in draw(page(*PAGES["two charts"])).texts]
        assert shown.count(f"Over 91 systems. {READ}") == 1

    def test_panels_side_by_side_have_the_same_axes(self):
        one, two = (axes.get_position() for axes in draw(page(*PAGES["two charts"])).axes)
        assert (one.width, one.height, one.y0) == pytest.approx((two.width, two.height, two.y0)) and two.x0 > one.x1

    def test_a_group_without_values_has_its_name_only(self):
        none = Percentiles("None", (math.nan,) * 5, 0)
        figure = draw(page(replace(BOXES, groups=(BEST, none))))
        assert len(figure.axes[0].patches) == 1
        assert {"None", "n = 0"} <= {text.get_text() for text in figure.texts}

    def test_no_groups(self):
        assert figure_bytes(page(replace(BOXES, groups=())), ".png")

    @pytest.mark.parametrize("columns", [1, 2, None])
    @pytest.mark.parametrize("name", PAGES)
    def test_nothing_leaves_the_figure_and_no_name_meets_another(self, name, columns):
        figure = draw(page(*PAGES[name]), columns)
        tight = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
        width, height = figure.get_size_inches()
        assert tight.x0 >= 0 and tight.y0 >= 0 and tight.x1 <= width and tight.y1 <= height
        boxes = [text.get_window_extent() for text in figure.texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])

    def test_long_names_keep_their_ends(self):
        figure = draw(page(replace(BOXES, groups=LONG)), 1)
        shown = [text.get_text() for text in figure.texts]
        assert any(text.endswith("only-1") for text in shown) and any(text.endswith("only-2") for text in shown)

    def test_names_stay_in_the_lines_that_were_planned_when_panels_are_aligned(self):
        """The second chart's wide numbers take room from the first one's names, which just fitted into a line."""
        wide = replace(BOXES, axis=Axis("ADM", 0, 1, ticks=((0.5, "0.500000000000000000"),)))
        for count in range(8, 24):
            named = replace(BOXES, groups=(BEST._replace(name="m" * count), NORMAL))
            figure = draw(page(named, wide))
            renderer = FigureCanvasAgg(figure).get_renderer()
            boxes = [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
            assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])

    def test_many_long_names_take_both_columns(self):
        assert draw(page(replace(BOXES, groups=LONG))).get_size_inches()[0] == pytest.approx(7.0)
        assert draw(page(BOXES)).get_size_inches()[0] == pytest.approx(3.33)

    def test_same_bytes_for_the_same_page(self):
        one, other = (figure_bytes(page(*PAGES["beside points"]), ".svg") for _ in range(2))
        assert one == other


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
            box, lines = parts(figure, i, panel=0 if is_first else 1)
            points = figure.axes[1 if is_first else 0].get_lines()[clouds[group.name]]
            colour = to_hex(points.get_markeredgecolor())
            assert {to_hex(box.get_edgecolor()), *(to_hex(line.get_color()) for line in lines)} == {colour}

    def test_groups_have_different_colours(self):
        figure = draw(page(BOXES))
        colours = {to_hex(parts(figure, i)[0].get_edgecolor()).upper() for i in range(3)}
        assert len(colours) == 3 and colours <= set(COLOURS)
