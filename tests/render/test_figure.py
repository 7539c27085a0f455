"""Figures: faithful to the data, readable, not blank, and reproducible to the byte."""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.pages.charts import Axis, Band, Chart, HeatMap, Line, Plot, Points, Rule, hues
from gainful.pages.page import Conventions, Page
from gainful.render import save, text as render_text
from gainful.render.figure import ENDINGS, check_path, draw, figure_bytes, for_caption
from gainful.render.figure_drawings import spread
from gainful.render.figure_style import COLOURS, TICK, Looks, wrapped

RANKS = tuple(float(rank) for rank in range(1, 31))
SIGNATURE = "nDCG(gain=linear, base=2)@30|order:score|ties:docid-desc|missing:zero|undefined:zero|scale:3|queries:50"


def curve(name: str, level: float, has_band: bool = True) -> Line:
    y = tuple(level * (1 - math.exp(-rank / 9)) for rank in RANKS)
    band = Band(RANKS, tuple(v - 0.05 for v in y), tuple(v + 0.05 for v in y))
    return Line(name, RANKS, y, band=band if has_band else None)


def plot(names: list[str], title: str = "nDCG by rank", **changes: object) -> Plot:
    lines = [curve(name, 0.3 + 0.65 * i / len(names)) for i, name in enumerate(names)]
    ideal = Line("ideal", RANKS, tuple(1.0 for _ in RANKS), "ideal")
    return replace(Plot(title, Axis("rank", 1, 30), Axis("nDCG", 0, 1), (*lines, ideal)), **changes)  # type: ignore[arg-type]


def page(*charts: Chart) -> Page:
    return Page("curves", charts, (SIGNATURE,))


GAINS = page(plot(["bm25", "dense", "rm3"], caption="Mean over 50 queries."))
SPREAD = page(
    Plot(
        "URS and SRS",
        Axis("URS", 0, 1),
        Axis("SRS", 0, 1),
        (Line("SRS = URS", (0.0, 1.0), (0.0, 1.0), "ideal"),),
        (Points("over", (0.0, 0.3), (0.9, 0.7), ("d1", "")), Points("under", (1.0,), (0.2,))),
        (Rule("threshold", x=0.5), Rule("threshold", y=0.5)),
        is_square=True,
    )
)
CELLS = page(
    HeatMap(
        "The best system",
        ("0-1-2-3", "0-1-10-100"),
        ("@10", "@30", "@100"),
        ((0.1, 0.5, 0.9), (0.2, math.nan, 1.0)),
        (("bm25", "dense", "bm25"), ("rm3", "", "dense")),
        "depth",
        "gains",
        "nDCG",
        outlined=frozenset({(1, 2)}),
    )
)
DEEP = page(
    replace(plot(["a", "b"]), x=Axis("rank", 1, 1000), lines=(Line("a", (1.0, 1000.0), (0.0, 12345.0)),), y=Axis("CG"))
)
PAGES = {
    "deep": DEEP,
    "gains": GAINS,
    "spread": SPREAD,
    "cells": CELLS,
    "all": page(*GAINS.charts, *SPREAD.charts, *CELLS.charts),
}
BY_NAME = pytest.mark.parametrize("name", PAGES)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def lines_by_name(figure: Figure, chart: Plot, panel: int = 0) -> dict[str, object]:
    """The drawn lines: in the order of the chart's, after those of its rules and before points that have labels."""
    drawn = figure.axes[panel].get_lines()[len(chart.rules) :]
    return dict(zip([what.name for what in chart.named], drawn[: len(chart.named)], strict=True))


class TestData:
    def test_lines_are_the_data(self):
        [chart] = GAINS.charts
        for line in chart.lines:
            drawn = lines_by_name(draw(GAINS), chart)[line.name]
            np.testing.assert_array_equal(drawn.get_xdata(), line.x)
            np.testing.assert_array_equal(drawn.get_ydata(), line.y)

    def test_bands_are_the_data(self):
        [chart] = GAINS.charts
        [axes] = draw(GAINS).axes
        assert len(axes.collections) == 3
        for band, line in zip(axes.collections, chart.lines, strict=False):
            corners = band.get_paths()[0].vertices
            for x, low, high in zip(line.band.x, line.band.low, line.band.high, strict=True):
                at = corners[corners[:, 0] == x][:, 1]
                assert (at.min(), at.max()) == (low, high)
            assert band.get_alpha() <= 0.15

    def test_points_and_rules_are_the_data(self):
        [chart] = SPREAD.charts
        [axes] = draw(SPREAD).axes
        drawn = [
            line.get_data() for line in axes.get_lines() if line.get_linestyle() == "None" and len(line.get_xdata())
        ]
        for points in chart.points:
            assert any(list(x) == list(points.x) and list(y) == list(points.y) for x, y in drawn)
        vertical, horizontal = axes.get_lines()[:2]
        assert list(vertical.get_xdata()) == [0.5, 0.5]
        assert list(horizontal.get_ydata()) == [0.5, 0.5]

    def test_heat_map_is_the_data(self):
        [chart] = CELLS.charts
        [axes] = draw(CELLS).axes
        drawn = axes.collections[0].get_array()
        np.testing.assert_array_equal(np.ma.filled(drawn, np.nan), chart.values)
        assert (drawn.mask.sum(), axes.collections[0].get_clim()) == (1, (0.1, 1.0))
        assert [t.get_text() for t in axes.texts] == [text for row in chart.texts for text in row]
        assert [t.get_text() for t in axes.get_yticklabels()] == list(chart.rows)
        assert [t.get_text() for t in axes.get_xticklabels()] == list(chart.columns)
        assert axes.yaxis_inverted()
        assert {patch.get_xy() for patch in axes.patches} == {(2, 1)}
        assert "Colour: nDCG." in texts(axes.figure)

    def test_axes_are_named_and_go_as_far_as_they_say(self):
        [axes] = draw(GAINS).axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("rank", "nDCG")
        assert (axes.get_xlim(), axes.get_ylim()) == ((1, 30), (0, 1))
        assert axes.get_xticklabels()[0].get_text() == "1"

    def test_a_logarithmic_axis(self):
        [axes] = draw(page(plot(["a"], x=Axis("rank", 1, 30, is_log=True)))).axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
        assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2", "5", "10", "20"]

    def test_gaps_stay_gaps(self):
        y = (0.1, 0.2, math.nan, 0.4, math.inf, 0.3, 0.2)
        chart = Plot("", Axis("x"), Axis("y"), (Line("a", tuple(map(float, range(7))), y),))
        drawn = draw(page(chart)).axes[0].get_lines()[0]
        np.testing.assert_array_equal(drawn.get_ydata(), [0.1, 0.2, math.nan, 0.4, math.nan, 0.3, 0.2])
        assert drawn.get_markevery() == [3]  # a point between two gaps is seen
        assert drawn.get_marker() == "o"

    def test_nothing_to_draw_in_a_chart(self):
        nothing = Plot("", Axis("x"), Axis("y", is_log=True), (Line("a", (), ()), Line("b", (1.0,), (math.nan,))))
        no_values = HeatMap("", ("a",), ("b",), ((math.nan,),))
        figure = draw(page(nothing, no_values, HeatMap("", (), (), ())))
        assert figure.axes[0].get_xlim() == (1.0 - 0.5, 1.0 + 0.5)
        assert figure_bytes(page(nothing, no_values), ".png")


class TestLook:
    def test_a_system_has_one_colour_and_style_in_all_panels(self):
        first, second = plot(["bm25", "dense", "rm3"]), plot(["rm3", "bm25", "other"], "DCG by rank")
        figure = draw(page(first, second))
        one, two = lines_by_name(figure, first, 0), lines_by_name(figure, second, 1)
        for name in ("bm25", "rm3", "ideal"):
            assert one[name].get_color() == two[name].get_color()
            assert one[name]._dash_pattern == two[name]._dash_pattern
        assert len({line.get_color() for line in one.values()}) == 4
        assert two["other"].get_color() not in {line.get_color() for line in one.values()}

    def test_the_ideal_is_black_and_thicker(self):
        figure = draw(GAINS)
        named = lines_by_name(figure, next(iter(GAINS.charts)))
        assert to_hex(named["ideal"].get_color()) == "#000000"
        assert named["ideal"].get_linewidth() > named["bm25"].get_linewidth()

    def test_a_system_has_its_colour_in_other_figures_too(self):
        """Whatever the order and the measure; one more system changes at most the one that wants the same colour."""
        one, other = (Looks.of(names) for names in (["bm25", "dense", "rm3"], ["rm3", "bm25", "dense"]))
        assert one.numbers == other.numbers
        alone = Looks.of(["dense"], others=["bm25", "rm3"])
        assert alone.numbers["dense"] == one.numbers["dense"]
        differences = Points("dense is better", (1.0,), (1.0,), system="dense")
        chart = Plot("", Axis("x"), Axis("y"), points=(differences,))
        assert Looks.of(chart.systems, ["bm25", "rm3"])(differences).colour == one(curve("dense", 1)).colour

    def test_names_that_want_the_same_colour_get_different_ones(self):
        names = ["bm25", "dense", "hybrid", "reranker", "tfidf", "rm3", "colbert", "splade"]
        assert len({crc32(name.encode()) % 8 for name in names}) < 8  # they do
        assert sorted(hues(names, 8).values()) == list(range(8))

    def test_eight_systems_have_colours_and_styles_of_their_own(self):
        chart = plot([f"system {i}" for i in range(8)])
        named = lines_by_name(draw(page(chart)), chart)
        systems = [line for name, line in named.items() if name != "ideal"]
        assert len({line.get_color() for line in systems}) == len(systems) == 8
        assert len({str(line._dash_pattern) for line in systems}) == 8

    def test_many_systems_are_told_apart(self):
        chart = plot([f"system {i}" for i in range(3 * len(COLOURS))])
        named = lines_by_name(draw(page(chart)), chart)
        assert len({(line.get_color(), str(line._dash_pattern)) for line in named.values()}) == len(named)

    def test_names_stand_at_the_ends_of_lines(self):
        figure = draw(GAINS)
        [axes] = figure.axes
        beside = {text.get_text(): text.get_window_extent() for text in axes.texts}
        assert list(beside) == ["bm25", "dense", "rm3", "ideal"]
        for line in next(iter(GAINS.charts)).lines:
            end = axes.transData.transform((30, line.y[-1]))
            box = beside[line.name]
            assert box.x0 > end[0] and abs((box.y0 + box.y1) / 2 - end[1]) < 0.03 * figure.dpi

    def test_names_at_ends_do_not_overlap(self):
        same = tuple(replace(curve(f"system {i}", 0.5), name=f"system {i}") for i in range(4))
        figure = draw(page(Plot("", Axis("rank"), Axis("y", 0, 1), same)))
        boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
        assert len(boxes) == 4 and not any(a.overlaps(b) for a, b in combinations(boxes, 2))

    @pytest.mark.parametrize("count", [9, 30])
    def test_too_many_names_are_one_legend_below(self, count):
        names = [f"s{i}" for i in range(count)]
        figure = draw(page(plot(names), plot(names, "DCG")))
        [legend] = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == [*names, "ideal"]
        assert legend.get_window_extent().y1 < min(axes.bbox.y0 for axes in figure.axes)

    def test_lines_that_end_together_have_a_legend(self):
        recall = tuple(i / 10 for i in range(11))
        lines = tuple(Line(f"s{i}", recall, tuple((1 - r) * (i + 1) / 6 for r in recall)) for i in range(6))
        figure = draw(page(Plot("", Axis("recall", 0, 1), Axis("precision", 0, 1), lines)))
        assert not figure.axes[0].texts and len(figure.legends[0].get_texts()) == 6

    @BY_NAME
    def test_nothing_leaves_the_figure(self, name):
        figure = draw(PAGES[name])
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        renderer = FigureCanvasAgg(figure).get_renderer()
        tight = figure.get_tightbbox(renderer)
        width, height = figure.get_size_inches()
        assert tight.x0 >= 0 and tight.y0 >= 0
        assert tight.x1 <= width and tight.y1 <= height

    @pytest.mark.parametrize(("columns", "width"), [(1, 3.33), (2, 7.0), (None, 3.33)])
    def test_width(self, columns, width):
        assert draw(GAINS, columns).get_size_inches()[0] == pytest.approx(width)

    @pytest.mark.parametrize("charts", [1, 2, 6])
    def test_a_slide_is_filled_with_large_type(self, charts):
        """16:9 whatever is drawn, and as wide as leaves the type readable: 13.33 inches of a projector, 10 points."""
        width, height = draw(page(*(plot(["a"], str(i)) for i in range(charts))), "slide").get_size_inches()
        assert height == pytest.approx(width * 9 / 16) and TICK * 13.33 / width >= 10

    def test_the_file_of_a_slide_has_the_dots_of_a_projector(self):
        assert struct.unpack(">II", figure_bytes(GAINS, ".png", "slide")[16:24]) == (1920, 1080)

    def test_several_charts_are_two_columns_wide_and_stand_side_by_side(self):
        figure = draw(page(plot(["a"]), plot(["a"], "b"), plot(["a"], "c")))
        one, two, three = (axes.get_position() for axes in figure.axes)
        assert figure.get_size_inches()[0] == pytest.approx(7.0)
        assert one.y0 == pytest.approx(two.y0) and two.x0 > one.x1 and three.y1 < one.y0
        assert one.width == pytest.approx(two.width) == pytest.approx(three.width)

    def test_one_column_has_charts_below_each_other(self):
        one, two = (axes.get_position() for axes in draw(page(plot(["a"]), plot(["a"], "b")), 1).axes)
        assert one.x0 == pytest.approx(two.x0) and two.y1 < one.y0

    def test_square_plots_are_square(self):
        figure = draw(SPREAD)
        box, (width, height) = figure.axes[0].get_position(), figure.get_size_inches()
        assert box.width * width == pytest.approx(box.height * height)

    def test_caption_and_signature_stand_below(self):
        figure = draw(GAINS)
        below = [t.get_text() for t in figure.texts if t.get_position()[1] < figure.axes[0].get_position().y0]
        assert below[0] == "Mean over 50 queries."
        assert "".join(below[1:]) == SIGNATURE.replace(" ", "") or " ".join(below[1:]).replace("| ", "|") == SIGNATURE

    def test_a_caption_may_have_title_and_signature_instead(self):
        page = Page("curves", tuple(GAINS.charts), (Conventions("conventions: all default", "order:score|ties:input"),))
        title = next(page.charts).title
        whole = texts(draw(page))
        assert title in whole and "conventions: all default" in whole
        bare = texts(draw(for_caption(page)))
        assert set(whole) - set(bare) == {"conventions: all default", *(chart.title for chart in page.charts)}
        assert title in texts(draw(for_caption(page, title=True)))
        assert "conventions: all default" in texts(draw(for_caption(page, signature=True)))

    def test_only_signatures_of_the_notes_are_for_figures(self):
        noted = Page("curves", tuple(GAINS.charts), ("* best in column", "A: order:score|ties:docid-desc"))
        shown = texts(draw(noted))
        assert "A: order:score|ties:docid-desc" in shown and "* best in column" not in shown

    def test_a_caption_that_all_charts_have_is_said_once(self):
        same = [plot(["a"], title, caption="Mean over 50 queries.") for title in ("CG", "DCG")]
        assert texts(draw(page(*same))).count("Mean over 50 queries.") == 1
        others = [*same, plot(["a"], "nDCG", caption="Mean of ratios.")]
        assert texts(draw(page(*others))).count("Mean over 50 queries.") == 2

    def test_the_next_panel_finds_room_below_a_low_one(self):
        high = HeatMap("", tuple(f"row {i}" for i in range(20)), ("a",), tuple((0.5,) for _ in range(20)))
        low = HeatMap("", ("row",), ("a",), ((0.5,),))
        figure = draw(page(high, low, low))
        one, two, three = (axes.get_position() for axes in figure.axes)
        assert two.x0 > one.x1 and three.x0 > one.x1
        assert two.y1 == pytest.approx(one.y1) and one.y0 < three.y0 < three.y1 < two.y0

    def test_lines_of_notes_are_no_wider_than_the_room(self):
        from gainful.render.figure_style import width_of

        lines = wrapped(SIGNATURE, 5.5, 2.0)
        assert len(lines) > 1 and all(width_of(line, 5.5) <= 2.0 for line in lines)

    def test_long_names_are_shortened(self):
        figure = draw(page(plot(["a" * 300 + "b", "short"])))
        [name] = [text for text in texts(figure) if text.startswith("aaa")]
        assert len(name) <= 24 and name.endswith("ab") and "…" in name

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_odd_names(self, ending):
        names = ("日本語", "$x^2$", "a_b^{c", "<tag>&", "naïve", "x\x00\x1by", "\udcff", "--")
        every = " ".join(names)
        chart = plot([*names, "other"], every, caption=every)
        row = tuple(0.5 for _ in names)
        cells = HeatMap(
            every, names, names, tuple(row for _ in names), tuple(names for _ in names), every, every, every
        )
        assert figure_bytes(page(chart, cells), ending)

    def test_dollars_are_no_formulas(self):
        assert "$x^2$" in texts(draw(page(plot(["$x^2$"]))))

    def test_minus_signs_are_not_hyphens(self):
        """Signs and subtractions change; names, ranges and vectors keep their hyphens."""
        chart = replace(plot(["a-5"]), title="b - a: -0.5, log(-.5) and 0-1-10 (ranks 1-5)", y=Axis("y", -1.0, 1.0))
        found = texts(draw(page(chart)))
        assert "b \u2212 a: \u22120.5, log(\u2212.5) and 0-1-10" in " ".join(found) and "\u22121.0" in found
        assert "a-5" in found and "ranks 1-5" in " ".join(found)

    def test_a_single_line_is_named_in_a_legend(self):
        """A sample beside its end would look like its continuation."""
        assert draw(page(plot([]))).legends and not draw(page(plot(["a"]))).legends

    def test_a_character_that_the_font_lacks_is_escaped(self):
        assert r"\u65e5" in texts(draw(page(plot(["日"]))))

    def test_text_in_cells_is_readable(self):
        def luminance(colour):
            parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour[:3]]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        values = tuple(i / 40 for i in range(41))
        chart = HeatMap("", ("a",), tuple(map(str, range(41))), (values,), (tuple("x" for _ in values),))
        axes = draw(page(chart)).axes[0]
        colours = axes.collections[0].to_rgba(np.array(values))
        for ground, text in zip(colours, axes.texts, strict=True):
            ink = 0.0 if text.get_color() != "white" else 1.0
            low, high = sorted((luminance(ground), ink))
            assert (high + 0.05) / (low + 0.05) >= 4.5


@cache
def page_bytes(name: str, ending: str) -> bytes:
    """What a file with the figure has, drawn once for all who look at it."""
    return figure_bytes(PAGES[name], ending)


def bytes_of_all() -> bytes:
    return b"".join(page_bytes("all", ending) for ending in ENDINGS)


class TestFiles:
    @BY_NAME
    def test_png_has_ink_in_its_panels(self, name):
        pixels, figure = imread(BytesIO(page_bytes(name, ".png")))[..., :3], draw(PAGES[name])
        height, width = pixels.shape[:2]
        assert width == round(300 * figure.get_size_inches()[0])
        for axes in figure.axes:
            box = axes.get_position()
            rows = slice(math.ceil((1 - box.y1) * height) + 9, math.floor((1 - box.y0) * height) - 9)
            columns = slice(math.ceil(box.x0 * width) + 9, math.floor(box.x1 * width) - 9)
            inside = pixels[rows, columns]
            assert (inside.min(axis=2) < 0.97).mean() > 0.002

    @BY_NAME
    def test_svg_has_every_word(self, name):
        svg = page_bytes(name, ".svg").decode()
        for text in texts(draw(PAGES[name])):
            assert f"<!-- {text.replace('>', '&gt;')} -->" in svg or not text
        assert svg.count("<path") > 5
        assert "<text" not in svg  # text as shapes looks the same everywhere
        assert "<dc:date>" not in svg

    def test_same_bytes_for_the_same_page(self):
        """In another process, too, which does not load pyplot for it."""
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import test_figure as t; t.draw(t.GAINS); "
            "sys.stderr.write(str('matplotlib.pyplot' in sys.modules)); sys.stdout.buffer.write(t.bytes_of_all())"
        )
        environment = {**os.environ, "PYTHONHASHSEED": "77", "SOURCE_DATE_EPOCH": "77", "TZ": "Asia/Tokyo"}
        command = [sys.executable, "-c", code, str(Path(__file__).parent)]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert done.stdout == bytes_of_all()
        assert done.stderr == b"False"

    def test_a_users_settings_change_nothing_and_stay(self):
        import matplotlib

        before = figure_bytes(GAINS, ".svg")
        changed = {
            "font.size": 30,
            "lines.linewidth": 9,
            "axes.grid": True,
            "svg.fonttype": "none",
            "savefig.bbox": "tight",
        }
        with matplotlib.rc_context(changed):
            assert figure_bytes(GAINS, ".svg") == before
            assert all(matplotlib.rcParams[name] == value for name, value in changed.items())

    def test_several_threads_may_draw(self):
        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(lambda _: figure_bytes(SPREAD, ".svg"), range(6)))) == 1

    def test_what_can_be_shown_can_be_saved_as_a_figure(self, tmp_path):
        for ending, begins in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".PDF", b"%PDF")):
            save(GAINS, tmp_path / f"figure{ending}")
            assert (tmp_path / f"figure{ending}").read_bytes().startswith(begins)
        assert isinstance(draw(GAINS, 2), Figure)

    def test_a_file_is_replaced_whole_or_not_at_all(self, tmp_path, monkeypatch):
        path = tmp_path / "figure.svg"
        path.write_text("before")

        def fails(*_args: object, **_more: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", fails)
            with pytest.raises(InputError, match=r"cannot be written"):
                save(GAINS, path)
        assert path.read_text() == "before"
        assert [file.name for file in tmp_path.iterdir()] == ["figure.svg"]


class TestRefusals:
    def test_a_page_without_charts(self):
        with pytest.raises(UsageError, match=r"^eval: nothing to draw: the result has no charts"):
            draw(Page("eval", ("text",)))

    @pytest.mark.parametrize("path", ["figure.jpg", "figure", "figure.svg.gz", ".svg"])
    def test_another_ending(self, path):
        with pytest.raises(UsageError, match=r"expected a figure that ends in \.svg, \.png, \.pdf, found"):
            check_path(path)

    @pytest.mark.parametrize("columns", [0, 3, 1.5])
    def test_another_width(self, columns):
        with pytest.raises(UsageError, match="expected 1 or 2 columns of a paper"):
            draw(GAINS, columns)

    def test_without_matplotlib(self, monkeypatch, tmp_path):
        for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
            monkeypatch.setitem(sys.modules, name, None)
        for asked in (lambda: check_path("x.svg"), lambda: draw(GAINS), lambda: save(GAINS, tmp_path / "x.svg")):
            with pytest.raises(MissingExtraError, match=r"pip install 'gainful\[plot\]'"):
                asked()
        assert "bm25" in render_text(GAINS)  # as text it can be seen all the same


class TestSpread:
    def test_against_a_search(self):
        """The places of least squares, among all on a fine grid."""
        wanted, size = [0.3, 0.32, 0.9], 0.2
        grid = [i / 50 for i in range(51)]
        best = min(
            ((a, b, c) for a in grid for b in grid for c in grid if b - a >= size - 1e-9 and c - b >= size - 1e-9),
            key=lambda places: sum((p - w) ** 2 for p, w in zip(places, wanted, strict=True)),
        )
        assert spread(wanted, size, 0.0, 1.0) == pytest.approx(best, abs=0.011)

    def test_ends_hold(self):
        assert spread([0.0, 0.0], 0.3, 0.0, 1.0) == pytest.approx([0.0, 0.3])
        assert spread([1.0, 1.0], 0.3, 0.0, 1.0) == pytest.approx([0.7, 1.0])

    def test_too_many(self):
        assert spread([0.5] * 5, 0.3, 0.0, 1.0) is None
        assert spread([], 0.3, 0.0, 1.0) == []
