"""Charts in HTML: portable SVG, unchanged names, and sentences without matplotlib."""

from __future__ import annotations

import math
import re
import sys
from xml.etree import ElementTree

import pytest

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
)
from gainful.pages.page import Page
from gainful.render import Page as ShownPage, text as render_text
from gainful.render.figure import chart_html, chart_svg
from gainful.render.figure_style import COLOURS

SVG = "{http://www.w3.org/2000/svg}"
RANKS = tuple(float(rank) for rank in range(1, 31))
HOSTILE = [
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "a & b",
    "ideal",
    "\u202eevil",
    "\x1b[2J",
]
LONG = [f"a-system-with-quite-a-long-name-{i}" for i in range(12)]


def curve(name: str, level: float) -> Line:
    y = tuple(level * (1 - math.exp(-rank / 9)) for rank in RANKS)
    return Line(name, RANKS, y, band=Band(RANKS, tuple(v - 0.05 for v in y), tuple(v + 0.05 for v in y)))


def plot(names: list[str], **changes: object) -> Plot:
    lines = tuple(curve(name, 0.3 + 0.6 * i / len(names)) for i, name in enumerate(names))
    ideal = Line("ideal", RANKS, tuple(1.0 for _ in RANKS), "ideal")
    parts: dict[str, object] = {"lines": (*lines, ideal), "caption": "mean over queries", **changes}
    return Plot("nDCG by rank", Axis("rank", is_whole=True), Axis("nDCG", 0.0, 1.0), **parts)


POINTS = Plot(
    "Differences",
    Axis("queries", is_log=True),
    Axis("difference"),
    (Line("threshold", (1.0, 100.0), (0.1, 0.1), "guide"),),
    (
        Points("better", (1.0, 10.0, 50.0), (0.4, 0.2, 0.05), ("q1", "", "q3")),
        Points("worse", (70.0, 100.0, 20.0), (-0.1, -0.4, math.nan)),
    ),
    (Rule("mean", y=0.0), Rule("half", x=10.0)),
)
INTERVALS = Intervals(
    "Means",
    Axis("mean nDCG@10"),
    tuple(
        IntervalRow(name, 0.5 - i / 40, 0.4 - i / 40, math.inf if i == 1 else 0.6, "1-3") for i, name in enumerate(LONG)
    ),
    "rank range",
    (Rule("no difference", 0.45),),
)
CELLS = HeatMap(
    "Who wins",
    ("flat", "steep"),
    ("10", "100", "1000"),
    ((0.0, 0.5, 1.0), (0.25, math.nan, 0.75)),
    (("bm25", "dense", "dense"), ("bm25", "", "hybrid")),
    "depth",
    "gain",
    "lead",
    0.0,
    1.0,
    frozenset({(0, 1)}),
)
CRITICAL = CriticalDiagram(
    "Ranks", Axis("mean rank"), tuple(LONG), tuple(1.0 + i * 0.7 for i in range(12)), ((0, 3), (2, 6)), 2.2, False
)
BOXES = Boxes(
    "ADM",
    Axis("ADM"),
    (Percentiles("short", (0.1, 0.2, 0.3, 0.5, 0.8), 1204), Percentiles(LONG[0], (math.nan,) * 5, 0)),
)
CHARTS: list[Chart] = [
    plot(["bm25", "dense"]),
    plot(LONG),
    plot(HOSTILE),
    POINTS,
    INTERVALS,
    CELLS,
    CRITICAL,
    BOXES,
    Plot("Nothing", Axis("x"), Axis("y")),
    Plot("Square", Axis("bm25", 0, 1), Axis("dense", 0, 1), (), (Points("queries", (0.5,), (0.2,)),), is_square=True),
    HeatMap("Many", tuple(LONG), tuple(LONG), tuple(tuple(i * j / 121 for i in range(12)) for j in range(12))),
]
each_chart = pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title)


def parsed(chart: Chart, systems: tuple[str, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg(chart, systems))


def texts(chart: Chart) -> list[str]:
    return ["".join(each.itertext()) for each in parsed(chart).iter(f"{SVG}text")]


def strokes(chart: Chart, systems: tuple[str, ...] = ()) -> set[tuple[str | None, str | None]]:
    """Colours and dashes of everything in one of the systems' colours."""
    lines = [each for each in parsed(chart, systems).iter(f"{SVG}path") if each.get("fill") == "none"]
    hues = {colour.lower() for colour in COLOURS}
    return {(each.get("stroke"), each.get("stroke-dasharray")) for each in lines if each.get("stroke") in hues}


class TestMarkup:
    @each_chart
    def test_any_page_may_show_it(self, chart):
        """Also one whose content security policy allows no inline style; and every name in it is referred to."""
        svg = chart_svg(chart)
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg" and root.attrib["width"] == "100%" and root.attrib["viewBox"].startswith("0 0 ")
        colours = {value for each in root.iter() for name in ("fill", "stroke") if (value := each.get(name))}
        assert all(re.fullmatch("none|currentColor|#[0-9a-f]{6}", value) for value in colours)
        assert not {"#000000"} & colours
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in {
                "svg", "title", "desc", "g", "defs", "path", "rect", "text", "use", "clipPath"
            }  # fmt: skip
            assert not [name for name in element.attrib if name == "style" or name.startswith("on")]
            assert element.get("href", "#").startswith("#")
            assert not any(re.search(r"\b(nan|inf)\b", value) for value in element.attrib.values())
            assert f"#{element.get('id', '')}" in svg or "id" not in element.attrib

    @each_chart
    def test_screen_readers_know_what_it_shows(self, chart):
        root = parsed(chart)
        title, told, *_ = root
        assert root.attrib["role"] == "img" and (title.tag, title.text) == (f"{SVG}title", chart.title)
        assert told.tag == f"{SVG}desc" and told.text

    def test_what_they_are_told(self):
        assert parsed(plot(["bm25"]))[1].text == "nDCG by rank. bm25: 0.2893 at 30. ideal: 1 at 30."
        assert parsed(CELLS)[1].text == (
            "lead of 2 rows and 3 columns. flat: 10 bm25, 100 dense, 1000 dense. steep: 10 bm25, 1000 hybrid."
        )

    def test_names_are_text(self):
        chart = plot([*HOSTILE, "日本"], caption="<b>")
        page = render_text(Page("curves", (chart, Boxes("<i>", Axis("<u>"), BOXES.groups))), "html")
        assert not re.search("<(script|img|b|i|u)[ >]", page) and "alert" in page
        assert {"</script><sc…1)</script>", "a & b", "\\u202eevil", "\\x1b[2J", "'ideal'", "ideal", "日本"} <= set(
            texts(chart)
        )

    def test_labelled_points_have_titles(self):
        titles = {each.text for each in parsed(POINTS).iter(f"{SVG}title")}
        assert titles == {"Differences", "q1", "q3"} and {"q1", "q3", "mean", "better", "worse"} <= set(texts(POINTS))

    def test_title_and_caption_are_the_pages(self):
        html = chart_html(CELLS)
        assert html.startswith('<figure class="gainful-chart">\n<figcaption>Who wins</figcaption>\n<svg')
        assert html.endswith('</svg>\n<p class="note">Colour: lead.</p>\n</figure>')
        assert "Box: 25% to 75%" in chart_html(BOXES) and 'class="gainful-chart wide"' in chart_html(CRITICAL)
        assert "bands are omitted" in chart_html(plot(LONG)) and "fill-opacity" not in chart_svg(plot(LONG))

    def test_a_page_holds_every_chart_and_follows_dark_and_light(self):
        html = ShownPage("x", tuple(CHARTS[:3]))._repr_html_()
        assert html.count("<svg") == 3 and "<pre" not in html
        for dark in COLOURS[6:]:
            assert f'[stroke="{dark.lower()}"] {{ stroke: #' in html

    @pytest.mark.parametrize("chart", [POINTS, CELLS], ids=lambda chart: chart.title)
    def test_without_matplotlib_it_is_described(self, chart, monkeypatch):
        for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
            monkeypatch.setitem(sys.modules, name, None)
        html = chart_html(chart)
        assert "<svg" not in html and f"<figcaption>{chart.title}</figcaption>\n<p>{next(chart.described())}" in html


class TestLooks:
    def test_a_system_keeps_its_look_beside_others(self):
        systems = ("bm25", "dense", "hybrid")
        ours = strokes(plot(["hybrid"]), systems)
        assert ours and ours < strokes(plot(["dense", "hybrid", "bm25"]), systems)

    def test_of_too_many_systems_each_chart_has_its_own_colours(self):
        assert len(strokes(plot(LONG[:8]), tuple(LONG))) == 8
