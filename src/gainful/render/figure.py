"""Charts as figures: SVG, PNG and PDF through matplotlib, the same bytes for the same data; and as SVG within HTML.

In HTML a chart is what matplotlib draws, without styles, scripts and backgrounds, so that any page may hold it and its
colours follow dark and light. Without matplotlib a chart is described in sentences; tables have the numbers.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from gainful._version import __version__
from gainful.errors import MissingExtraError, UsageError, for_asker
from gainful.pages.charts import (
    LONGEST_NAME,
    Boxes,
    Chart,
    CriticalDiagram,
    HeatMap,
    Intervals,
    Line,
    Plot,
    Points,
    name_of,
)
from gainful.pages.page import Page
from gainful.render import figure_style as style
from gainful.render.cells import as_code, plain
from gainful.render.figure_drawings import BoxDrawing, CriticalDrawing, HeatMapDrawing, IntervalDrawing, PlotDrawing
from gainful.render.figure_style import Drawing, Looks, Room

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

#: How the files of figures end, and what each says of itself. Nothing says when: the same data have the same bytes.
ENDINGS: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": f"gainful {__version__}"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": f"gainful {__version__}"},
}

#: How each kind of chart is drawn.
DRAWINGS: dict[type[Chart], Callable[[Figure, Any, Looks], Drawing[Any]]] = {
    Plot: PlotDrawing,
    HeatMap: HeatMapDrawing,
    Intervals: IntervalDrawing,
    CriticalDiagram: CriticalDrawing,
    Boxes: BoxDrawing,
}

_DOTS_PER_INCH = 300
#: A slide is 16:9 and so many dots wide. It is drawn small, because what is drawn on it then is large: the first of
#: these widths (in inches) that it fits into, with the last of these heights of axes, in widths of a panel.
_SLIDE_DOTS, _ASPECTS = 1920, (0.33, 0.45, 0.6, 0.8)
_SLIDE_WIDTHS = (4.8, 5.4, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 20.0)
_MARGIN, _BETWEEN = 0.05, 0.2

#: Panels whose ends differ by less (in inches) end a row together.
_SAME_ROW = 0.8

#: More charts than these stand three in a row, if they can, and so do more than some of points that have no labels;
#: and the most that a figure has, by its columns.
_MANY_CHARTS, _MANY_CLOUDS = 6, 4
_MOST_CHARTS = {1: 8, 2: 24}

#: From so many entries on a legend has two columns, even if names get shorter; and how short they may get.
_MANY_ENTRIES, _SHORTEST = 5, 10


def ending_of(path: str | os.PathLike[str]) -> str:
    """How a file's name ends, in small letters."""
    return os.path.splitext(os.fspath(path))[1].lower()


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuses a file that no figure can be drawn into, and says what is missing if matplotlib is."""
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise UsageError(f"{os.fspath(path)}: expected a figure that ends in {', '.join(ENDINGS)}, found '{ending}'")
    _require_matplotlib()


def _require_matplotlib() -> None:
    if not can_draw():
        raise MissingExtraError("figures need the package matplotlib", "install it with: pip install 'gainful[plot]'")


def can_draw() -> bool:
    """Whether matplotlib is there."""
    try:
        import matplotlib.figure  # noqa: F401 - whether it is there
    except ImportError:
        return False
    return True


def save(page: Page, path: str | os.PathLike[str], size: style.Size | None = None) -> None:
    """Draws the charts of a page into a file, whole or not at all; its ending (.svg, .png, .pdf) decides how."""
    check_path(path)
    from gainful.io.atomic import write_bytes

    write_bytes(path, figure_bytes(page, ending_of(path), size))


def figure_bytes(page: Page, ending: str, size: style.Size | None = None) -> bytes:
    """The content of a figure's file: the same for the same page and version of matplotlib."""
    figure, out = draw(page, size), BytesIO()
    dots = _SLIDE_DOTS / figure.get_size_inches()[0] if size == "slide" else _DOTS_PER_INCH
    with style.settings():
        figure.savefig(out, format=ending.removeprefix("."), metadata=ENDINGS[ending], dpi=dots)
    return out.getvalue()


def for_caption(page: Page, *, title: bool = False, signature: bool = False) -> Page:
    """The charts of a page without their titles and without its signature, which a paper's caption has."""
    charts = tuple(page.charts) if title else tuple(replace(chart, title="") for chart in page.charts)  # type: ignore[type-var]
    return replace(page, parts=charts, notes=page.notes if signature else ())


def draw(page: Page, size: style.Size | None = None) -> Figure:
    """The charts of a page as a figure of matplotlib, one panel each: one or two columns of a paper wide, or a slide.

    Without ``size`` one chart is one column wide, unless it needs more, and several are two. Names stand at the ends
    of lines if they fit there, otherwise in a legend below; captions and the page's signature come below the charts.
    """
    charts = tuple(page.charts)
    if not charts:
        raise UsageError(f"{page.command}: expected at least one chart to draw, found none")
    if size not in (None, 1, 2, "slide"):
        raise UsageError(f"size: expected 1 or 2 columns of a paper, or slide, found {size}")
    most = _MOST_CHARTS[1 if size == 1 else 2]
    if len(charts) > most:
        raise UsageError(
            f"{page.command}: expected at most {most} charts in a figure"
            + (f" of one column, found {len(charts)}" if size == 1 else f", found {len(charts)}"),
            "choose fewer queries (--query), runs or measures, or draw several figures",
        )
    _require_matplotlib()
    # The notes that say by which conventions numbers came about; others are about tables.
    signatures = [note for note in page.notes if any(code for _, code in as_code(note))]
    looks = Looks.of((name for chart in charts for name in chart.systems), page.systems)
    with style.settings():
        sheet = _Sheet(charts, looks)
        if size == "slide":
            return _slide(charts, looks, signatures, sheet.needed)
        usual = 2 if len(charts) > 1 or sheet.needed > style.WIDTHS[1] else 1
        return sheet.drawn(style.WIDTHS[size or usual], signatures)


def _slide(charts: Sequence[Chart], looks: Looks, signatures: Sequence[str], needed: float) -> Figure:
    """The charts as large as they can be on a slide; axes may get flatter for that."""
    for width in (each for each in _SLIDE_WIDTHS if each >= needed):
        best = None
        for aspect in _ASPECTS:
            figure = _Sheet(charts, looks, aspect=aspect).drawn(width, signatures, width * 9 / 16)
            if figure.get_size_inches()[1] > width * 9 / 16:
                break
            best = figure
        if best is not None:
            return best
    name = for_asker("--figure-size", "size")
    raise UsageError(f"{name}: expected charts that fit on a slide, found {len(charts)}", "draw several figures")


class _Sheet:
    """A figure in the making: panels side by side and below each other, a legend, notes."""

    def __init__(self, charts: Sequence[Chart], looks: Looks, has_texts: bool = True, aspect: float = 0.6) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._charts, self._looks, self._has_texts = charts, looks, has_texts
        self._figure = Figure(figsize=(8, 8), dpi=_DOTS_PER_INCH, facecolor="white")
        FigureCanvasAgg(self._figure)  # measures texts
        self._drawings = [DRAWINGS[type(chart)](self._figure, chart, looks) for chart in charts]
        for drawing in self._drawings:
            drawing.aspect = aspect
        rooms = [drawing.around() if drawing.least_width else Room(0, 0, 0, 0) for drawing in self._drawings]
        #: The least width of each panel; 0 for one that can be drawn at any width.
        self._needed = [
            drawing.least_width + room.left + room.right for drawing, room in zip(self._drawings, rooms, strict=True)
        ]
        #: The width of the figure that the widest chart needs.
        self.needed = max(self._needed) + 2 * _MARGIN

    def drawn(self, figure_width: float, notes: Sequence[str] = (), least: float = 0.0) -> Figure:
        """The figure, as high as all of it needs, and at least so high."""
        width = figure_width - 2 * _MARGIN
        in_a_row = self._side_by_side(width, is_slide=least > 0)
        part = (width - (in_a_row - 1) * _BETWEEN) / in_a_row
        # Its part of the row, if a chart can do with that; otherwise all of it.
        widths = [width if least > part else part for least in self._needed]
        # Beside three in a row there is no room for names.
        is_named = in_a_row < 3 and self._name_lines(widths)
        shared = self._fit(widths)
        places, lowest = _places(self._drawings, in_a_row, part)
        legend, legend_height = self._legend(is_named, width)
        caption = style.wrapped(shared, style.CAPTION, width)
        lines = [line for note in notes for line in style.wrapped(note, style.NOTE, width)]
        blocks = style.block_height(style.CAPTION, caption) + legend_height + style.block_height(style.NOTE, lines)
        height = max(least, lowest + blocks + 2 * _MARGIN)
        self._figure.set_size_inches(figure_width, height)
        for drawing, (right, down) in zip(self._drawings, places, strict=True):
            left, top = _MARGIN + right, height - _MARGIN - down
            self._write(left, top, drawing.title, style.TITLE, weight="bold")
            bottom = top - drawing.above - drawing.size[1]
            drawing.place(left + drawing.room.left, bottom)
            self._write(left, bottom - drawing.room.bottom - style.GAP, drawing.caption, style.CAPTION)
        top = self._write(_MARGIN, height - _MARGIN - lowest - style.GAP, caption, style.CAPTION)
        if legend is not None:
            legend.set_bbox_to_anchor((_MARGIN / figure_width, (top - (style.GAP if caption else 0)) / height))
        self._write(_MARGIN, _MARGIN + style.height_of(style.NOTE, len(lines)), lines, style.NOTE, color=style.GREY)
        for drawing in self._drawings:
            drawing.finish()
        return self._figure

    def _side_by_side(self, width: float, is_slide: bool) -> int:
        """How many panels stand in a row: as many as there is room for and as there are."""
        if len(self._charts) == 1 or width < style.WIDTHS[2] - 1:
            return 1
        # Points no label of which needs room beside them.
        are_clouds = all(
            isinstance(chart, Plot) and chart.points and not any(any(points.labels) for points in chart.points)
            for chart in self._charts
        )
        many = _MANY_CLOUDS if are_clouds or is_slide else _MANY_CHARTS
        return 3 if len(self._charts) > many and max(self._needed) <= (width - 2 * _BETWEEN) / 3 else 2

    def _name_lines(self, widths: Sequence[float]) -> bool:
        """Put names beside the lines of every plot, if all fit there; otherwise none, because then a legend has all."""
        labels = {
            one: one.end_labels(one.height(width, 0.7 * width))
            for one, width in zip(self._drawings, widths, strict=True)
            if isinstance(one, PlotDrawing)
        }
        if None in labels.values():
            return False
        for one, beside in labels.items():
            one.name_lines(beside or ())
        return True

    def _fit(self, widths: Sequence[float]) -> str:
        """Fit the drawings into panels of some widths; the caption that all of them have, which is said once."""
        for drawing, width in zip(self._drawings, widths, strict=True):
            drawing.width = width
        for _ in range(2):  # names of axes take more lines where there is less room, and less room where they take more
            alike: dict[object, Room] = {}  # panels of one kind and width have axes of the same size
            for drawing in self._drawings:
                drawing.place(1, 1)
                drawing.fit(*drawing.size)
                kind, own = (type(drawing), drawing.width), drawing.around()
                alike[kind] = Room(*map(max, alike.get(kind, own), own))
            for drawing in self._drawings:
                drawing.room = alike[type(drawing), drawing.width]
        if not self._has_texts:
            return ""
        captions = [chart.full_caption for chart in self._charts]
        shared = captions[0] if len(captions) > 1 and len(set(captions)) == 1 else ""
        for drawing, own_caption in zip(self._drawings, captions, strict=True):
            drawing.title = style.wrapped(drawing.chart.title, style.TITLE, drawing.width, is_bold=True)
            drawing.caption = [] if shared else style.wrapped(own_caption, style.CAPTION, drawing.width)
        return shared

    def _legend(self, are_lines_named: bool, width: float) -> tuple[Legend | None, float]:
        """A legend in as many columns as fit, and its height. Of many entries, names are shortened until at least two
        fit in a row, if they can."""
        from matplotlib.lines import Line2D

        entries: dict[str, Line | Points] = {}
        for chart in self._charts:
            for what in chart.keyed if isinstance(chart, Plot) else ():
                if isinstance(what, Points) or not are_lines_named:
                    entries.setdefault(name_of(what), what)
        if not entries:
            return None, 0.0
        tried = [style.short_names(entries, length) for length in range(LONGEST_NAME, _SHORTEST - 1, -2)]
        columns = [_most_columns(names, width) for names in tried]
        enough = 2 if len(entries) >= _MANY_ENTRIES else 1
        best = next((i for i, count in enumerate(columns) if count >= enough), 0)
        samples = []
        for what in entries.values():
            look = self._looks(what)
            # Named points are dark: so is their sample, if all are.
            is_named = isinstance(what, Points) and bool(what.labels) and all(what.labels)
            how = look.line() if isinstance(what, Line) else look.points(is_named=is_named)
            samples.append(Line2D([], [], **how))
        legend = self._figure.legend(samples, tried[best], loc="upper left", ncols=columns[best])
        return legend, float(legend.get_window_extent().height) / _DOTS_PER_INCH + style.GAP

    def _write(self, left: float, top: float, lines: Sequence[str], size: float, **how: Any) -> float:
        """Write lines below each other, the first one below ``top``; where the last one ends."""
        width, height = self._figure.get_size_inches()
        for text in lines:
            self._figure.text(left / width, (top - style.height_of(size) * 0.78) / height, text, fontsize=size, **how)
            top -= style.height_of(size)
        return top


def _most_columns(names: Sequence[str], width: float) -> int:
    """The most columns in which a legend of names fits into a width; they are filled one after the other."""
    sample, between = 2.7 * style.LABEL / 72, 1.5 * style.LABEL / 72
    widths = [sample + style.width_of(name, style.LABEL) for name in names]
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        widest = [max(widths[i : i + rows]) for i in range(0, len(names), rows)]
        if sum(widest) + between * (len(widest) - 1) <= width:
            return len(widest)
    return 1


def _places(drawings: Sequence[Drawing[Any]], in_a_row: int, part: float) -> tuple[list[tuple[float, float]], float]:
    """How far every panel is from the left and from the top, and where the lowest ends.

    Panels of about the same height stand in rows; below one that is much lower than its neighbours the next finds room.
    """
    ends = [0.0] * in_a_row
    places = []
    for drawing in drawings:
        is_wide = drawing.width > part
        if is_wide or max(ends) - min(ends) < _SAME_ROW:
            ends = [max(ends)] * len(ends)
        column = ends.index(min(ends))
        places.append((column * (drawing.width + _BETWEEN), ends[column]))
        ends[column] += drawing.panel_height + _BETWEEN
        if is_wide:
            ends = [ends[column]] * len(ends)
    return places, max(ends) - _BETWEEN


#: What a page's style sheet says of charts. On dark pages the darkest hues and grey are lighter.
CHART_STYLE = (
    """\
.gainful-chart { display: inline-block; vertical-align: top; margin: 1rem 1rem 1rem 0; max-width: 100%; width: 540px;
  break-inside: avoid; }
.gainful-chart.wide { display: block; width: auto; overflow-x: auto; }
.gainful-chart.wide svg { min-width: 540px; }
.gainful-chart figcaption { font-weight: 600; padding-bottom: .4rem; }
.gainful-chart svg { display: block; overflow: visible; }
@media (max-width: 70rem) { .gainful-chart svg { height: auto; } }
@media (prefers-color-scheme: dark) {
"""
    + "".join(
        f'  .gainful-chart [{part}="{dark.lower()}"] {{ {part}: {light}; }}\n'
        for dark, light in ((style.COLOURS[6], "#c2417c"), (style.COLOURS[7], "#8c7de8"), (style.GREY, "#9a9a9a"))
        for part in ("fill", "stroke")
    )
    + "}\n"
)

#: How wide a chart usually is and the widest, in inches, and how many pixels an inch has.
_USUAL, _WIDEST, _PIXELS = 4.5, 9.0, 120

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"


def chart_html(chart: Chart, systems: Iterable[str] = ()) -> str:
    """The chart as a ``<figure>`` with its title above and its caption below; CHART_STYLE is its style. ``systems`` are
    all of the page, in their order, so that each has one look in all charts."""
    title = f"<figcaption>{escape(plain(chart.title))}</figcaption>\n" if chart.title else ""
    note = f'\n<p class="note">{escape(plain(chart.full_caption))}</p>' if chart.full_caption else ""
    if not can_draw():
        return f'<figure class="gainful-chart">\n{title}<p>{_description(chart)}</p>{note}\n</figure>'
    svg = chart_svg(chart, systems)
    is_wide = f'viewBox="0 0 {_USUAL * 72:g} ' not in svg
    return f'<figure class="gainful-chart{" wide" if is_wide else ""}">\n{title}{svg}{note}\n</figure>'


def _description(chart: Chart) -> str:
    return escape(plain(" ".join(chart.described())))


def chart_svg(chart: Chart, systems: Iterable[str] = ()) -> str:
    """A chart as an ``<svg>``: as wide as there is room, at most in its own size. Screen readers have its title and
    what it shows."""
    own = tuple(dict.fromkeys(chart.systems))
    together = tuple(dict.fromkeys((*systems, *own)))
    out = BytesIO()
    with style.settings(svg_fonttype="none"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # browsers have other fonts
        looks = Looks.of(together if len(together) <= len(style.COLOURS) else own)
        sheet = _Sheet([chart], looks, has_texts=False)
        # As wide as the chart needs between two widths.
        figure = sheet.drawn(min(_WIDEST, max(_USUAL, sheet.needed)))
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(out.getvalue())
    drawn = "".join(_markup(element) for element in root if element.tag != f"{_SVG}metadata")
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" width="100%" '
        f'height="{height * _PIXELS / 72:.0f}" preserveAspectRatio="xMinYMin meet" fill="currentColor" '
        'font-family="system-ui, sans-serif" stroke-linejoin="round">\n'
        f"<title>{escape(plain(chart.title) or 'Chart')}</title>\n<desc>{_description(chart)}</desc>\n{drawn}</svg>"
    )


def _markup(element: ElementTree.Element) -> str:
    """An element of matplotlib's drawing without backgrounds, global styles and groups that only name things."""
    tag, name = element.tag.removeprefix(_SVG), element.get("id", "")
    inside = "".join(map(_markup, element)) or escape(element.text or "" if tag == "text" else "")
    if name.startswith("label "):  # a point's, which a browser shows beside the mouse
        return f"<g><title>{escape(name.removeprefix('label '))}</title>{inside}</g>\n"
    how = _attributes(element, tag)
    is_background = tag == "path" and not {how.get("fill", ""), how.get("stroke", "none")} - {"none"}
    if tag == "style" or is_background or (tag in ("g", "defs") and not (inside and (how or tag == "defs"))):
        return inside if tag == "g" else ""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in how.items())
    return f"<{tag}{attributes}>{inside}</{tag}>\n" if inside else f"<{tag}{attributes}/>\n"


def _attributes(element: ElementTree.Element, tag: str) -> dict[str, str]:
    """The attributes of an element: its style among them, no name unless it is referred to, black as the page's text,
    no white but that of texts and outlines, and places to a hundredth of a point."""
    how = dict(re.findall(r"([\w-]+): ([^;]+)", element.get("style", "")))
    how |= {"href" if key == _HREF else key: value for key, value in element.items()}
    if found := re.search(r"([\d.]+)px", how.get("font", "")):  # as earlier versions of matplotlib say it
        how["font-size"] = found[1]
    dropped = {"style", "font", "font-family", *(() if tag in ("path", "clipPath") else ("id",))}
    if how.get("transform", "").startswith("rotate(-0"):
        dropped.add("transform")
    how = {key: value for key, value in how.items() if key not in dropped}
    for key in {"fill", "stroke"} & how.keys():
        how[key] = "currentColor" if how[key] == "#000000" else how[key]
    if how.get("stroke") == "#ffffff" and how.get("fill") != "none":  # it sets things apart on white paper
        how["stroke"] = "none"
    if how.get("fill") == "#ffffff" and tag != "text":
        how["fill"] = "none"
    for key in {"d", "x", "y"} & how.keys():
        how[key] = re.sub(r"(\.\d\d)\d+", r"\1", " ".join(how[key].split()))
    return how
