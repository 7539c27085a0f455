"""Charts of HTML pages: valid SVG without styles, the data at their places, names as they are, nothing upon another."""

from __future__ import annotations

import math
import re
import sys
from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.colors import to_hex, to_rgb

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
    shortened,
)
from gainful.pages.page import Page
from gainful.render import Page as ShownPage, text as render_text
from gainful.render.chart_svg import chart_html, chart_svg
from gainful.render.figure import draw
from gainful.render.figure_style import width_of

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


def texts(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}text"))


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.attrib[name])


def places(element: ElementTree.Element) -> list[tuple[float, float]]:
    """The corners of a path."""
    return [(float(a), float(b)) for a, b in re.findall(r"([-\d.]+),([-\d.]+)", element.attrib["d"])]


class Ticks:
    """Where values are, by two numbers of an axis: a line through them, or through their logarithms."""

    def __init__(self, root: ElementTree.Element, anchor: str, name: str, is_log: bool = False) -> None:
        found = [each for each in texts(root) if each.get("text-anchor") == anchor and "transform" not in each.attrib]
        numbers = [each for each in found if re.fullmatch(r"-?[\d.]+", each.text or "")]
        self._value = math.log if is_log else float
        ends = numbers[0], numbers[-1]
        (a, b), (c, d) = ((self._value(float(each.text or "")), self._at(each, name)) for each in ends)
        self._slope, self._start = (d - b) / (c - a), b - a * (d - b) / (c - a)

    @staticmethod
    def _at(element: ElementTree.Element, name: str) -> float:
        """The middle of a text: a baseline is 0.35 of the type's size below it."""
        return number(element, name) - (0.35 * number(element, "font-size") if name == "y" else 0.0)

    def __call__(self, value: float) -> float:
        return self._start + self._slope * self._value(value)


class TestMarkup:
    @each_chart
    def test_any_page_may_show_it(self, chart):
        """Also one whose content security policy allows no inline style."""
        root = parsed(chart)
        assert root.tag == f"{SVG}svg" and root.attrib["width"] == "100%" and root.attrib["viewBox"].startswith("0 0 ")
        colours = {value for each in root.iter() for name in ("fill", "stroke") if (value := each.get(name))}
        assert colours <= {"none", "currentColor", "white"} | {
            value for value in colours if re.fullmatch("#[0-9a-f]{6}", value)
        }
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in {
                "svg", "title", "desc", "g", "path", "rect", "text", "circle", "polygon", "clipPath"
            }  # fmt: skip
            assert not [name for name in element.attrib if name == "style" or name.startswith("on") or "href" in name]
            assert not any(re.search(r"\b(nan|inf)\b", value) for value in element.attrib.values())

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

    @each_chart
    def test_the_same_data_have_the_same_bytes_without_matplotlib(self, chart, monkeypatch):
        first = chart_svg(chart)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert chart_svg(chart) == first

    def test_names_are_text(self):
        page = render_text(
            Page("curves", (plot(HOSTILE, caption="<b>"), Boxes("<i>", Axis("<u>"), BOXES.groups))), "html"
        )
        assert not re.search("<(script|img|b|i|u)[ >]", page) and "alert" in page
        shown = {each.text for each in texts(parsed(plot(HOSTILE)))}
        assert {"</script><sc…1)</script>", "a & b", "\\u202eevil", "\\x1b[2J", "'ideal'", "ideal"} <= shown

    def test_title_and_caption_are_the_pages(self):
        html = chart_html(CELLS)
        assert html.startswith('<figure class="gainful-chart">\n<figcaption>Who wins</figcaption>\n<svg')
        assert html.endswith("</svg>\n</figure>")
        assert "Box: 25 to 75 %" in chart_html(BOXES) and 'class="gainful-chart wide"' in chart_html(CRITICAL)

    def test_pages_and_notebooks_have_every_chart(self):
        page = ShownPage("x", tuple(CHARTS))
        for html in (page.text("html"), page._repr_html_()):
            assert html.count("<svg") == len(CHARTS) and "<pre" not in html and "gainful-hue7 {" in html


class TestLooks:
    def test_hues_and_strokes_are_those_of_figures(self):
        chart = plot(["bm25", "dense", "hybrid"])
        figure = draw(Page("curves", (chart,)))
        wanted = {
            to_hex(line.get_color()): not line.is_dashed()
            for line in figure.axes[0].get_lines()
            if line.get_zorder() == 3
        }
        groups = [each for each in parsed(chart).iter(f"{SVG}g") if (each.get("class") or "").startswith("gainful-hue")]
        drawn = {
            group.attrib["color"].lower(): "stroke-dasharray" not in path.attrib
            for group in groups
            for path in group
            if path.get("fill") == "none"
        }
        assert drawn == wanted and len(drawn) == 3

    def test_a_system_keeps_its_look_beside_others(self):
        def look(chart: Plot) -> list[tuple[str | None, str | None]]:
            root = parsed(chart, ("bm25", "dense", "hybrid"))
            return [
                (group.get("color"), path.get("stroke-dasharray")) for group in root.iter(f"{SVG}g") for path in group
            ]

        ours = [pair for pair in look(plot(["hybrid"])) if pair[0]]
        assert set(ours) < set(look(plot(["dense", "hybrid", "bm25"])))

    def test_many_bands_are_not_drawn(self):
        assert "bands not drawn" in chart_html(plot(LONG)) and "fill-opacity" not in chart_svg(plot(LONG))


class TestPlaces:
    def test_lines_and_bands(self):
        line = Line("a", (0.0, 2.0, 4.0, 6.0, 8.0, 10.0), (0.1, 0.5, math.nan, 0.3, math.nan, 1.0))
        band = Band((0.0, 10.0), (0.0, 0.6), (0.4, 1.0))
        chart = Plot("", Axis("x"), Axis("y", 0, 1), (line, Line("b", (0.0, 10.0), (0.2, 0.8), band=band)))
        root = parsed(chart)
        x, y = Ticks(root, "middle", "x"), Ticks(root, "end", "y")
        drawn = [places(path) for path in root.iter(f"{SVG}path")]

        def is_drawn(*wanted: tuple[float, float]) -> bool:
            at = [(x(a), y(b)) for a, b in wanted]
            return any(
                len(path) == len(at) and all(math.dist(a, b) < 0.1 for a, b in zip(path, at, strict=True))
                for path in drawn
            )

        assert is_drawn((0, 0.1), (2, 0.5)) and is_drawn((0, 0.2), (10, 0.8))
        assert is_drawn((0, 0.0), (10, 0.6), (10, 1.0), (0, 0.4))
        alone = [(number(each, "cx"), number(each, "cy")) for each in root.iter(f"{SVG}circle")]
        assert [(x(6), y(0.3)), (x(10), y(1.0))] == [pytest.approx(place, abs=0.1) for place in alone]

    def test_points_on_a_logarithmic_axis(self):
        root = parsed(POINTS)
        x, y = Ticks(root, "middle", "x", is_log=True), Ticks(root, "end", "y")
        better = [(number(each, "cx"), number(each, "cy")) for each in root.iter(f"{SVG}circle")]
        for along, across in zip(*(POINTS.points[0].x, POINTS.points[0].y), strict=True):
            assert any(math.dist(place, (x(along), y(across))) < 0.1 for place in better)
        assert len(list(root.iter(f"{SVG}polygon"))) == 2 + 1  # without the one that is nowhere; one in the legend
        titles = [each.text for each in root.iter(f"{SVG}title")]
        assert "q1" in titles and "q3" in titles
        assert {each.text for each in texts(root)} >= {"q1", "q3", "mean", "better", "worse", "threshold"}

    def test_what_is_beyond_the_axes_is_cut_off(self):
        far = Plot("", Axis("x", 0, 10), Axis("y", 0, 1), (Line("a", (0.0, 20.0), (0.5, 3.0)),))
        root = parsed(far)
        x, y = Ticks(root, "middle", "x"), Ticks(root, "end", "y")
        [clip] = root.iter(f"{SVG}clipPath")
        [shape] = clip
        assert number(shape, "x") == pytest.approx(x(0), abs=0.1) and number(shape, "y") == pytest.approx(y(1), abs=0.1)
        assert number(shape, "width") == pytest.approx(x(10) - x(0), abs=0.1)
        assert f'clip-path="url(#{clip.attrib["id"]})"' in chart_svg(far)
        assert "clip" not in chart_svg(Plot("", far.x, far.y, (Line("a", (0.0, 10.0), (0.0, 1.0)),)))

    def test_lines_of_one_point_stand_beside_each_other(self):
        lines = tuple(Line(name, (1.0,), (0.5,), band=Band((1.0,), (0.4,), (0.6,))) for name in "abc")
        root = parsed(Plot("", Axis("rank"), Axis("nDCG", 0, 1), lines))
        assert len({number(each, "cx") for each in root.iter(f"{SVG}circle")}) == 3

    def test_intervals(self):
        root = parsed(INTERVALS)
        x = Ticks(root, "middle", "x")
        circles = list(root.iter(f"{SVG}circle"))
        assert [number(each, "cx") for each in circles] == [
            pytest.approx(x(row.value), abs=0.1) for row in INTERVALS.rows
        ]
        names = {each.text: number(each, "y") - 0.35 * number(each, "font-size") for each in texts(root)}
        assert number(circles[0], "cy") == pytest.approx(names[shortened(LONG[0], dots="…")], abs=0.1)
        bars = [places(path) for path in root.iter(f"{SVG}path")]
        first = number(circles[0], "cy")
        ends = [path for path in bars if path[0][1] == path[1][1] == pytest.approx(first, abs=0.1)]
        assert [pytest.approx((x(0.4), x(0.6)), abs=0.1)] == [(a[0], b[0]) for a, b in ends]

    def test_boxes(self):
        root = parsed(BOXES)
        y = Ticks(root, "end", "y")
        [box] = root.iter(f"{SVG}rect")
        assert number(box, "y") == pytest.approx(y(0.5), abs=0.1)
        assert number(box, "height") == pytest.approx(y(0.2) - y(0.5), abs=0.1)
        levels = {a[1] - b[1] for a, b in map(places, root.iter(f"{SVG}path")) if a[0] == b[0]}
        assert all(any(abs(level - wanted) <= 1 for level in levels) for wanted in (y(0.2) - y(0.1), y(0.5) - y(0.8)))

    def test_critical_differences(self):
        root = parsed(CRITICAL)
        x = Ticks(root, "middle", "x")
        elbows = [path for path in map(places, root.iter(f"{SVG}path")) if len(path) == 3]
        assert sorted(path[0][0] for path in elbows) == [pytest.approx(x(value), abs=0.1) for value in CRITICAL.values]
        bars = [places(path) for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "4"]
        beyond = 0.03 * 120
        wanted = [(x(1.0) - beyond, x(3.1) + beyond), (x(2.4) - beyond, x(5.2) + beyond)]
        assert [(a[0], b[0]) for a, b in bars] == [pytest.approx(each, abs=0.1) for each in wanted]
        assert "significant from 2.21 on" in {each.text for each in texts(root)}

    def test_cells_have_the_colours_of_figures_and_can_be_read(self):
        blues = matplotlib.colormaps["Blues"]
        rects = [each for each in parsed(CELLS).iter(f"{SVG}rect") if number(each, "width") > 40]
        fills = [each.attrib["fill"] for each in rects if each.attrib["fill"] != "none"]
        assert fills.pop(4) == "currentColor"  # no value
        for fill, value in zip(fills, (0.0, 0.5, 1.0, 0.25, 0.75), strict=True):
            wanted = [round(255 * part) for part in blues(0.92 * value)[:3]]
            assert list(bytes.fromhex(fill[1:])) == pytest.approx(wanted, abs=3)
        names = [each for each in texts(parsed(CELLS)) if each.text in ("bm25", "dense", "hybrid")]
        assert all(contrast(each.attrib["fill"], fill) >= 4.5 for each, fill in zip(names, fills, strict=True))
        [outlined] = [each for each in rects if each.attrib["fill"] == "none"]
        assert outlined.attrib["stroke"] == "#000000"


def contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours."""
    lights = []
    for colour in (one, other):
        parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
        lights.append(sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)) + 0.05)
    return max(lights) / min(lights)


@each_chart
def test_no_text_is_upon_another_or_beyond_the_edge(chart):
    root = parsed(chart)
    _, _, wide, tall = map(float, root.attrib["viewBox"].split())
    areas = [area(each) for each in texts(root)]
    for left, top, right, bottom in areas:
        assert left >= -1 and top >= -1 and right <= wide + 1 and bottom <= tall + 1
    for a, b in combinations(areas, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def area(element: ElementTree.Element) -> tuple[float, float, float, float]:
    """What a text takes in the font of figures, which is a wide one: left, top, right, bottom."""
    size = number(element, "font-size")
    wide = 72 * width_of(element.text or "", size)
    before = {"middle": wide / 2, "end": wide}.get(element.get("text-anchor", ""), 0.0)
    x, y = number(element, "x"), number(element, "y")
    if "transform" in element.attrib:
        return x - 0.72 * size, y - wide + before, x + 0.05 * size, y + before
    return x - before, y - 0.72 * size, x - before + wide, y + 0.05 * size
