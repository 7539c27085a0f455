"""Figures in which there is much: points upon each other, outlines around them, boxes, long names, many lines,
many charts."""

from __future__ import annotations

import io
import math
import random
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from gainful.errors import UsageError
from gainful.pages.charts import (
    Axis,
    Band,
    Boxes,
    Chart,
    CriticalDiagram,
    HeatMap,
    IntervalRow,
    Intervals,
    Line,
    Percentiles,
    Plot,
    Points,
    Rule,
    system_numbers,
)
from gainful.pages.page import Page
from gainful.render.chart_text import chart_lines
from gainful.render.figure import draw, figure_bytes
from gainful.render.figure_style import Looks
from gainful_papers.dellamea2004.adm_figures import density_ellipse

SIGNATURE = "order:score|ties:docid-desc|missing:zero"
LONG = "nDCG(gain=0-1-10-100, discount=jarvelin2002, base=10, rel=2)"
RANKS = tuple(float(rank) for rank in range(1, 31))


def page(*charts: Chart) -> Page:
    return Page("curves", charts, (SIGNATURE,))


def rising(name: str, level: float, has_band: bool = False) -> Line:
    y = tuple(level * (1 - math.exp(-rank / 9)) for rank in RANKS)
    band = Band(RANKS, tuple(v - 0.05 for v in y), tuple(v + 0.05 for v in y))
    return Line(name, RANKS, y, band=band if has_band else None)


def plot(count: int, name: str = "s{}", **changes: object) -> Plot:
    lines = tuple(rising(name.format(i), 0.3 + 0.6 * i / count, has_band=True) for i in range(count))
    return replace(Plot("By rank", Axis("rank", 1, 30), Axis("nDCG", 0, 1), lines), **changes)  # type: ignore[arg-type]


def plane(points: list[tuple[float, float]], labels: tuple[str, ...] = ()) -> Plot:
    x, y = zip(*points, strict=True)
    ends = (-0.03, 1.03)
    return Plot("A plane", Axis("URS", *ends), Axis("SRS", *ends), (), (Points("over", x, y, labels),), is_square=True)


def extent(figure: Figure, text: Text) -> Bbox:
    """Where a text is, in inches."""
    return Bbox(text.get_window_extent().get_points() / figure.dpi)


def drawn(page: Page, columns: int | None = None) -> Figure:
    """A figure in which all has found its place, as the names of axes do when they are drawn."""
    figure = draw(page, columns)
    FigureCanvasAgg(figure).draw()
    return figure


def axes_box(figure: Figure, panel: int = 0) -> Bbox:
    return Bbox(figure.axes[panel].get_position().get_points() * figure.get_size_inches())


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


class TestPoints:
    def coloured_rows(self, chart: Plot, x: float, low: float, high: float) -> np.ndarray:
        """Of each row of pixels between two values whether the points' colour is there, in a column around ``x``."""
        figure, pixels = draw(page(chart)), imread(io.BytesIO(figure_bytes(page(chart), ".png")))[..., :3]
        height, width = pixels.shape[:2]
        box, axes = figure.axes[0].get_position(), figure.axes[0]

        def row(value: float) -> float:
            part = (value - axes.get_ylim()[0]) / (axes.get_ylim()[1] - axes.get_ylim()[0])
            return (1 - box.y0 - part * box.height) * height

        column = round((box.x0 + (x + 0.03) / 1.06 * box.width) * width)
        stripe = pixels[math.ceil(row(high)) : math.floor(row(low)), column - 5 : column + 6]
        near = np.abs(stripe - np.array(to_rgb(Looks.of(chart.systems)(chart.points[0]).colour))).max(axis=2) < 0.25
        coloured: np.ndarray = near.any(axis=1)
        return coloured

    def test_a_thousand_points_are_a_column_with_its_gap(self):
        points = [(0.5, i / 1000) for i in range(1001) if not 600 < i < 700]
        chart = plane(points)
        assert self.coloured_rows(chart, 0.5, 0.0, 0.6).all()
        assert self.coloured_rows(chart, 0.5, 0.7, 1.0).all()
        assert not self.coloured_rows(chart, 0.5, 0.63, 0.67).any()

    def test_points_with_labels_are_drawn_last(self):
        under = Points("under", (0.5, 0.52), (0.5, 0.5))
        chart = plane([(0.5, 0.51), (0.1, 0.9)], ("d1", ""))
        chart = replace(chart, points=(*chart.points, under))
        first, named, second = draw(page(chart)).axes[0].get_lines()
        others = first, second
        assert [list(line.get_xdata()) for line in others] == [[0.5, 0.1], [0.5, 0.52]]
        assert (list(named.get_xdata()), list(named.get_ydata())) == ([0.5], [0.51])
        assert all(named.get_zorder() > line.get_zorder() for line in others)

    def test_labels_side_by_side_are_apart(self):
        """However close a point comes to one at the right end, its label does not continue that one's."""
        for x in (0.64 + i / 400 for i in range(9)):
            figure = drawn(page(plane([(x, 0.0), (1.0, 0.01)], ("d000988", "d000938"))))
            one, *other = (extent(figure, text) for text in figure.axes[0].texts)
            assert all(box.x0 - one.x1 > 0.02 or box.y0 >= one.y1 or one.y0 >= box.y1 for box in other)


class TestAxisNames:
    @pytest.mark.parametrize("columns", [1, 2])
    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_a_measure_with_parameters(self, columns, count):
        charts = [plot(2, y=Axis(LONG, 0, 1), x=Axis(LONG + " " + LONG, 1, 30)) for _ in range(count)]
        figure = drawn(page(*charts), columns)
        width, height = figure.get_size_inches()
        for i, axes in enumerate(figure.axes):
            box = axes_box(figure, i)
            down, along = extent(figure, axes.yaxis.label), extent(figure, axes.xaxis.label)
            assert axes.get_ylabel().startswith("nDCG(gain=0-1-10-100,")
            assert box.y0 <= down.y0 + 0.02 and down.y1 <= box.y1 + 0.02 and down.x0 >= 0
            assert box.x0 <= along.x0 + 0.02 and along.x1 <= box.x1 + 0.02 and along.y0 >= 0
            assert not any(extent(figure, text).overlaps(name) for text in figure.texts for name in (down, along))
            assert max(down.x1, along.x1) <= width and max(down.y1, along.y1) <= height

    def test_what_fits_is_in_one_line_and_whole(self):
        figure = draw(page(plot(2, y=Axis("nDCG(gain=linear, base=2)", 0, 1))))
        assert figure.axes[0].get_ylabel() == "nDCG(gain=linear, base=2)"

    def test_what_does_not_fit_ends_in_dots(self):
        figure = draw(page(plot(2, y=Axis(f"{LONG} {LONG} {LONG}", 0, 1))))
        assert figure.axes[0].get_ylabel().count("\n") == 1 and figure.axes[0].get_ylabel().endswith("…")

    def test_a_word_without_spaces(self):
        [axes] = drawn(page(plot(2, "x" * 9, title="y" * 300, y=Axis("z" * 300, 0, 1)))).axes
        assert axes.get_ylabel().replace("\n", "").startswith("zzzzzzzzzzzzzzzzzzzz")
        figure = axes.figure
        assert all(extent(figure, text).x1 <= figure.get_size_inches()[0] for text in figure.texts)


class TestRanks:
    @pytest.mark.parametrize(
        ("depth", "wanted"), [(1, "1"), (2, "1 2"), (3, "1 2 3"), (4, "1 2 3 4"), (40, "1 10 20 30 40")]
    )
    def test_ticks_are_ranks(self, depth, wanted):
        ranks = tuple(map(float, range(1, depth + 1)))
        chart = Plot("", Axis("rank", 1, depth, is_whole=True), Axis("CG"), (Line("a", ranks, ranks),))
        assert [text.get_text() for text in draw(page(chart)).axes[0].get_xticklabels()] == wanted.split()
        below = next(line for line in reversed(chart_lines(chart)) if line.strip().startswith("1"))
        texts = below.split()
        assert all(text.isdecimal() for text in texts) and set(wanted.split()) <= set(texts)

    def test_a_logarithmic_axis_of_ranks(self):
        chart = plot(1, x=Axis("rank", 0.5, 3, is_log=True, is_whole=True))
        assert [text.get_text() for text in draw(page(chart)).axes[0].get_xticklabels()] == ["1", "2"]

    def test_the_band_of_a_single_point_is_a_bar(self):
        lines = tuple(
            Line(name, (1.0,), (y,), band=Band((1.0,), (y - 0.1,), (y + 0.2,)))
            for name, y in (("a", 0.4), ("b", 0.5), ("c", 0.45))
        )
        figure = draw(page(Plot("", Axis("rank", 1, 1, is_whole=True), Axis("CG"), lines)))
        [axes] = figure.axes
        places = []
        for line, point, bar in zip(lines, axes.get_lines(), axes.collections, strict=True):
            assert (list(point.get_xdata()), list(point.get_ydata())) == ([1.0], [line.y[0]])
            assert point.get_marker() == "o"
            [segment] = bar.get_segments()
            assert segment.tolist() == [[1.0, line.band.low[0]], [1.0, line.band.high[0]]]
            at, through = (what.get_transform().transform((1.0, 0.5)) for what in (point, bar))
            assert at == pytest.approx(through)  # each bar goes through its point
            places.append(at[0])
        assert np.diff(places).min() > 20  # and none through another's, in pixels of 1/300 inch


class TestRules:
    def test_labels_are_not_written_across_lines(self):
        """Curves that cross where a rule is, as systems do that change places; and other rules, as of power."""
        x = tuple(10 ** (i / 10) for i in range(31))
        one = Line("short", x, tuple(0.8 - 0.2 / v for v in x))
        other = Line("hybrid", x, tuple(0.74 - 0.06 / v for v in x))
        third = Line("dense", x, tuple(0.645 - 0.03 / v for v in x))
        rules = (Rule("short takes the lead", x=4.6), Rule("n = 500", x=500.0), Rule("power 0.7", y=0.7))
        chart = Plot("", Axis("weight", 1, 1000, is_log=True), Axis("nDCG"), (one, other, third), rules=rules)
        [axes] = drawn(page(chart)).axes
        labels = [text for text in axes.texts if text.get_text() in {rule.label for rule in rules}]
        assert len(labels) == 3 and not any(label.get_bbox_patch() for label in labels)
        for line, label in product(axes.get_lines()[:6], labels):
            path = line.get_transform().transform_path(line.get_path())
            assert not path.intersects_bbox(label.get_window_extent(), filled=False)

    def test_where_no_place_is_free_lines_give_way(self):
        lines = tuple(Line("", (0.0, 1.0), (i / 60, i / 60)) for i in range(61))
        chart = Plot("", Axis("x", 0, 1), Axis("y", 0, 1), lines, rules=(Rule("threshold", x=0.5),))
        [label] = draw(page(chart)).axes[0].texts
        assert label.get_bbox_patch().get_facecolor()[:3] == (1, 1, 1)
        assert label.get_zorder() > max(line.get_zorder() for line in label.axes.get_lines())


class TestManyCharts:
    def test_up_to_six_stand_two_in_a_row(self):
        tops = [round(axes.get_position().y1, 6) for axes in draw(page(*[plot(2)] * 6)).axes]
        assert [tops.count(top) for top in dict.fromkeys(tops)] == [2, 2, 2]

    @pytest.mark.parametrize("is_square", [False, True])
    def test_more_stand_three_in_a_row(self, is_square):
        figure = draw(page(*[plot(2, is_square=is_square)] * 12))
        boxes = [axes.get_position() for axes in figure.axes]
        tops = [round(box.y1, 6) for box in boxes]
        assert [tops.count(top) for top in dict.fromkeys(tops)] == [3, 3, 3, 3]
        for i in range(0, 12, 3):
            assert boxes[i].x1 < boxes[i + 1].x0 < boxes[i + 1].x1 < boxes[i + 2].x0
        assert figure.get_size_inches()[1] < 12

    def test_wide_maps_keep_half_of_the_width(self):
        cells = HeatMap("", ("a",), tuple(f"c{i}" for i in range(5)), ((0.5,) * 5,), (("a winner",) * 5,))
        tops = [round(axes.get_position().y1, 6) for axes in draw(page(*[plot(2)] * 6, cells)).axes[:6]]
        assert [tops.count(top) for top in dict.fromkeys(tops)] == [2, 2, 2]

    def test_too_many_are_refused(self):
        assert len(draw(page(*[plot(1)] * 24)).axes) == 24
        with pytest.raises(
            UsageError, match=r"25 charts do not fit into a figure, which holds 24 at most(.|\n)*--query"
        ):
            draw(page(*[plot(1)] * 25))
        with pytest.raises(UsageError, match=r"9 charts do not fit into a figure of one column, which holds 8 at most"):
            draw(page(*[plot(1)] * 9), 1)


class TestManyLines:
    CAPTION = "band: 95%, 1,000 draws"

    def test_six_bands_are_drawn(self):
        figure = draw(page(plot(6, caption=self.CAPTION)))
        assert len(figure.axes[0].collections) == 6 and self.CAPTION in words(figure)

    def test_more_would_be_fog(self):
        chart = plot(7, caption=self.CAPTION)
        figure = draw(page(chart), 2)
        assert not figure.axes[0].collections
        assert f"{self.CAPTION} (bands are omitted for this many runs)" in words(figure)
        assert all(line.band for line in chart.lines)
        assert "bands are omitted for this many runs" in words(draw(page(plot(7)), 2))

    @pytest.mark.parametrize("name", ["MMMMMMMMMMMMMMMMMMMMMMMMMMMM-{:02}", "a-rather-long-name-of-a-MMMM-run-{:02}"])
    def test_a_legend_of_long_names_has_two_columns(self, name):
        figure = drawn(page(plot(30, name)), 1)
        [legend] = figure.legends
        boxes = [text.get_window_extent() for text in legend.get_texts()]
        assert len({text.get_text() for text in legend.get_texts()}) == 30
        assert len({round(box.x0) for box in boxes}) == 2
        assert max(box.x1 for box in boxes) <= figure.get_size_inches()[0] * figure.dpi

    def test_names_are_not_shortened_until_they_are_the_same(self):
        """They differ where a shorter name has its dots: these are elsewhere then."""
        names = [f"MMMMMMMM{i:02}MM{i:02}MMMMMMMM" for i in range(30)]
        lines = tuple(rising(name, 0.5) for name in names)
        shown = [text for text in words(draw(page(plot(1, lines=lines)), 1)) if "MMM" in text]
        assert len(set(shown)) == len(shown) == 30 and max(map(len, shown)) < 22

    def test_shortened_names_stay_distinct_in_every_kind_of_chart(self):
        names, places = tuple(f"aq.trec.bm25.b=0.{b}.better.run" for b in ("50", "70", "90")), (0.1, 0.5, 0.9)
        charts = [
            plot(1, lines=tuple(map(rising, names, places))),
            plane([(place, place) for place in places], names),
            Intervals("rows", Axis("x"), tuple(IntervalRow(name, 0.5, 0.4, 0.6, "") for name in names)),
            CriticalDiagram("ranks", Axis("x"), names, places, (), 0.5),
            HeatMap("map", names, ("x", "y", "z"), (places,) * 3),
            HeatMap("map", ("x", "y", "z"), names, (places,) * 3),
            Boxes("boxes", Axis("x"), tuple(Percentiles(name, (0.1, 0.2, 0.3, 0.4, 0.5), 9) for name in names)),
        ]
        for chart in charts:
            found = {re.split(" |\nn", text)[0] for text in words(draw(page(chart), 2))}
            assert len({text for text in found if text.startswith("aq.")}) == 3, found
            written = {word for line in chart_lines(chart, width=70) for word in line.split() if word.startswith("aq.")}
            # As text points have no names, and other charts are tables.
            has_names = isinstance(chart, Intervals) or (isinstance(chart, Plot) and not chart.points)
            assert len(written) == (3 if has_names else 0), written


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("critical", [0.1, 0.46, 0.9])
def test_all_of_a_critical_diagram_is_inside_the_figure(critical, columns):
    chart = CriticalDiagram(
        "AP", Axis("mean rank"), ("ASUBE", "ICT05", "HKPU2"), (1.72, 2.1, 2.18), ((0, 2),), critical
    )
    figure = drawn(page(chart), columns)
    assert all(extent(figure, text).x1 <= figure.get_size_inches()[0] for text in figure.axes[0].texts)


class TestIdeal:
    @pytest.mark.parametrize("name", ["ideal", "(ideal)", "Ideal"])
    @pytest.mark.parametrize("count", [1, 9])
    def test_a_system_of_that_name_is_quoted(self, name, count):
        ideal = Line("ideal", RANKS, tuple(1.0 for _ in RANKS), "ideal")
        lines = (ideal, rising(name, 0.6), *(rising(f"s{i}", 0.5) for i in range(count)))
        chart = plot(1, lines=lines)
        shown = words(draw(page(chart)))
        assert shown.count("ideal") == 1 and shown.count(f"'{name}'") == 1
        assert f"A '{name}'" in "\n".join(chart_lines(chart)) and "* ideal" in "\n".join(chart_lines(chart))


GROUPS = {"Best": (7, 0.8), "Normal": (83, 0.5), "Worst": (19, 0.2)}


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


class TestOutlines:
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


READ = "Box: 25% to 75% of the values; line: median; whiskers: 10% to 90%."
BEST = Percentiles("Best", (0.6, 0.7, 0.75, 0.8, 0.9), 7)
NORMAL = Percentiles("Normal", (0.3, 0.4, 0.5, 0.6, 0.7), 83)
SINGLE = Percentiles("Single", (0.2, 0.2, 0.2, 0.2, 0.2), 1)
BOXES = Boxes("ADM by category", Axis("ADM", 0, 1), (BEST, NORMAL, SINGLE), "Over 91 systems.")
LONG_GROUPS = (
    BEST._replace(name="the manual runs of the best systems"),
    NORMAL._replace(name="automatic-runs-of-title-only-1", size=19000),
    NORMAL._replace(name="automatic-runs-of-title-only-2"),
    SINGLE._replace(name="x"),
    SINGLE._replace(name="MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"),
)
BOX_PAGES: dict[str, tuple[Chart, ...]] = {
    "three": (BOXES,),
    "two charts": (BOXES, replace(BOXES, title="Another", axis=Axis("ADM''"))),
    "none": (replace(BOXES, groups=()),),
    "five long": (replace(BOXES, groups=LONG_GROUPS),),
    "two and four long": (replace(BOXES, groups=LONG_GROUPS[:2]), replace(BOXES, groups=LONG_GROUPS[:4])),
    "beside points": (Plot("", Axis("AP"), Axis("ADM"), points=(Points("Best", (0.1, 0.2), (0.3, 0.4)),)), BOXES),
}


def parts(figure: Figure, group: int, panel: int = 0) -> tuple[Path, list[Line2D]]:
    """A group's box, and its whiskers, caps and inner line."""
    axes = figure.axes[panel]
    return axes.patches[group].get_path(), list(axes.get_lines()[5 * group : 5 * group + 5])


class TestBoxes:
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
            for label in draw(page(replace(BOXES, groups=LONG_GROUPS)), 1).axes[0].get_xticklabels()
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
    @pytest.mark.parametrize("name", BOX_PAGES)
    def test_nothing_leaves_the_figure_and_no_name_meets_another(self, name, columns):
        figure = draw(page(*BOX_PAGES[name]), columns)
        tight = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
        width, height = figure.get_size_inches()
        assert tight.x0 >= 0 and tight.y0 >= 0 and tight.x1 <= width and tight.y1 <= height
        texts = [text for axes in figure.axes for text in axes.get_xticklabels()] + figure.texts
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])

    def test_many_long_names_take_both_columns(self):
        assert draw(page(replace(BOXES, groups=LONG_GROUPS))).get_size_inches()[0] == pytest.approx(7.0)
        assert draw(page(BOXES)).get_size_inches()[0] == pytest.approx(3.33)


class TestColoursOfBoxes:
    POINTS = Plot(
        "",
        Axis("AP"),
        Axis("ADM"),
        points=(Points("Normal", (0.1, 0.3), (0.2, 0.1)), Points("Best", (0.1, 0.2), (0.3, 0.4))),
    )

    def test_groups_count_as_systems(self):
        assert system_numbers([BOXES]) == {"Best": 0, "Normal": 1, "Single": 2}
        assert system_numbers([self.POINTS, BOXES]) == {"Normal": 0, "Best": 1, "Single": 2}

    def test_a_group_has_the_colour_of_the_points_of_its_name(self):
        figure = draw(page(self.POINTS, BOXES))
        normal, best = (to_hex(points.get_markeredgecolor()) for points in figure.axes[0].get_lines())
        for i, colour in enumerate((best, normal)):
            _, lines = parts(figure, i, 1)
            edge = to_hex(figure.axes[1].patches[i].get_edgecolor())
            assert {edge, *(to_hex(line.get_color()) for line in lines)} == {colour}
