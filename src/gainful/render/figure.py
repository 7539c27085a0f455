"""Charts as figures: SVG, PNG and PDF through matplotlib, reproducible to the byte, and SVG inside HTML.

In HTML a chart is matplotlib's drawing without styles, scripts and backgrounds, so that any page can contain it and its
colours follow light and dark modes. Without matplotlib a sentence describes the chart; tables contain the numbers.
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

#: File extensions with matplotlib's metadata. No dates, so that the same data give the same bytes.
ENDINGS: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": f"gainful {__version__}"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": f"gainful {__version__}"},
}

#: The drawing class of each kind of chart.
DRAWINGS: dict[type[Chart], Callable[[Figure, Any, Looks], Drawing[Any]]] = {
    Plot: PlotDrawing,
    HeatMap: HeatMapDrawing,
    Intervals: IntervalDrawing,
    CriticalDiagram: CriticalDrawing,
    Boxes: BoxDrawing,
}

_DOTS_PER_INCH = 300
#: Slides are 16:9 with this width in dots. To make the content large they are drawn small: at the first of these widths
#: (in inches) that fits, with the last of these axis heights (as shares of the panel width).
_SLIDE_DOTS, _ASPECTS = 1920, (0.33, 0.45, 0.6, 0.8)
_SLIDE_WIDTHS = (4.8, 5.4, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 20.0)
_MARGIN, _BETWEEN = 0.05, 0.2

#: Panels whose ends differ by less (in inches) end a row together.
_SAME_ROW = 0.8

#: More charts than the first number are drawn three per row if possible; the second applies to unlabelled scatter plots
#: and slides. Limits per figure, by number of columns.
_MANY_CHARTS, _MANY_CLOUDS = 6, 4
_MOST_CHARTS = {1: 8, 2: 24}

#: Number of entries from which legends have two columns, even if names get shorter; and the shortest such names.
_MANY_ENTRIES, _SHORTEST = 5, 10


def ending_of(path: str | os.PathLike[str]) -> str:
    """Return the extension of a file name in lower case."""
    return os.path.splitext(os.fspath(path))[1].lower()


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise UsageError unless a figure can be saved under a name, and MissingExtraError without matplotlib."""
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise UsageError(f"{os.fspath(path)}: expected a figure that ends in {', '.join(ENDINGS)}, found '{ending}'")
    _require_matplotlib()


def _require_matplotlib() -> None:
    if not can_draw():
        raise MissingExtraError("figures need the package matplotlib", "install it with: pip install 'gainful[plot]'")


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401 - only tests the import
    except ImportError:
        return False
    return True


def save(page: Page, path: str | os.PathLike[str], size: style.Size | None = None) -> None:
    """Save the charts of a page to a file atomically; the extension (.svg, .png, .pdf) sets the format."""
    check_path(path)
    from gainful.io.atomic import write_bytes

    write_bytes(path, figure_bytes(page, ending_of(path), size))


def figure_bytes(page: Page, ending: str, size: style.Size | None = None) -> bytes:
    """Return the content of a figure file, identical for the same page and matplotlib version."""
    figure, out = draw(page, size), BytesIO()
    dots = _SLIDE_DOTS / figure.get_size_inches()[0] if size == "slide" else _DOTS_PER_INCH
    with style.settings():
        figure.savefig(out, format=ending.removeprefix("."), metadata=ENDINGS[ending], dpi=dots)
    return out.getvalue()


def for_caption(page: Page, *, title: bool = False, signature: bool = False) -> Page:
    """Remove titles and the signature from a page's charts, for figures whose caption gives them."""
    charts = tuple(page.charts) if title else tuple(replace(chart, title="") for chart in page.charts)  # type: ignore[type-var]
    return replace(page, parts=charts, notes=page.notes if signature else ())


def draw(page: Page, size: style.Size | None = None) -> Figure:
    """Draw the charts of a page as a matplotlib figure with one panel each, one or two paper columns wide, or a slide.

    By default a single chart has one column, unless it needs more space, and several have two. Names are next to the
    ends of lines if they fit, otherwise in a legend below; captions and the page's signature are below the charts.
    """
    charts = tuple(page.charts)
    if not charts:
        raise UsageError(f"{page.command}: nothing to draw: the result has no charts")
    if size not in (None, 1, 2, "slide"):
        raise UsageError(f"size: expected 1 or 2 columns of a paper, or slide, found {size}")
    most = _MOST_CHARTS[1 if size == 1 else 2]
    if len(charts) > most:
        raise UsageError(
            f"{page.command}: {len(charts)} charts do not fit into a figure{' of one column' if size == 1 else ''}, "
            f"which holds {most} at most",
            "choose fewer queries (--query), runs or measures, or draw several figures",
        )
    _require_matplotlib()
    # Keep the notes on conventions; other notes are about tables.
    signatures = [note for note in page.notes if any(code for _, code in as_code(note))]
    looks = Looks.of((name for chart in charts for name in chart.systems), page.systems)
    with style.settings():
        sheet = _Sheet(charts, looks)
        if size != "slide":
            usual = 2 if len(charts) > 1 or sheet.needed > style.WIDTHS[1] else 1
            return sheet.drawn(style.WIDTHS[size or usual], signatures)
        # As large as a slide allows, with flatter axes if needed.
        for width in (each for each in _SLIDE_WIDTHS if each >= sheet.needed):
            best = None
            for aspect in _ASPECTS:
                figure = _Sheet(charts, looks, aspect=aspect).drawn(width, signatures, width * 9 / 16)
                if figure.get_size_inches()[1] > width * 9 / 16:
                    break
                best = figure
            if best is not None:
                return best
        name = for_asker("--figure-size", "size")
        raise UsageError(f"{name}: {len(charts)} charts do not fit on a slide", "draw several figures")


class _Sheet:
    """A figure under construction: panels in rows, a legend and notes."""

    def __init__(self, charts: Sequence[Chart], looks: Looks, has_texts: bool = True, aspect: float = 0.6) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._charts, self._looks, self._has_texts = charts, looks, has_texts
        self._figure = Figure(figsize=(8, 8), dpi=_DOTS_PER_INCH, facecolor="white")
        FigureCanvasAgg(self._figure)  # needed to measure texts
        self._drawings = [DRAWINGS[type(chart)](self._figure, chart, looks) for chart in charts]
        for drawing in self._drawings:
            drawing.aspect = aspect
        rooms = [drawing.around() if drawing.least_width else Room(0, 0, 0, 0) for drawing in self._drawings]
        #: The minimum width of each panel; 0 if any width will do.
        widths = (drawing.least_width for drawing in self._drawings)
        self._needed = [width + room.left + room.right for width, room in zip(widths, rooms, strict=True)]
        #: The figure width that the widest chart needs.
        self.needed = max(self._needed) + 2 * _MARGIN

    def drawn(self, figure_width: float, notes: Sequence[str] = (), least: float = 0.0) -> Figure:
        """Return the figure with the height it needs, but at least ``least``."""
        width = figure_width - 2 * _MARGIN
        in_a_row = self._side_by_side(width, is_slide=least > 0)
        part = (width - (in_a_row - 1) * _BETWEEN) / in_a_row
        # Use a share of the row if it suffices, otherwise the full width.
        widths = [width if least > part else part for least in self._needed]
        # With three per row there is no space for names next to lines.
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
        if len(self._charts) == 1 or width < style.WIDTHS[2] - 1:
            return 1
        # Scatter plots without labels need little space.
        points = [chart.points if isinstance(chart, Plot) else () for chart in self._charts]
        are_clouds = all(of_chart and not any(any(each.labels) for each in of_chart) for of_chart in points)
        many = _MANY_CLOUDS if are_clouds or is_slide else _MANY_CHARTS
        return 3 if len(self._charts) > many and max(self._needed) <= (width - 2 * _BETWEEN) / 3 else 2

    def _name_lines(self, widths: Sequence[float]) -> bool:
        """Put names next to the lines of every plot if all fit; otherwise a legend shows all names."""
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
        """Fit the drawings into panels of given widths; return the caption if all charts share it."""
        for drawing, width in zip(self._drawings, widths, strict=True):
            drawing.width = width
        for _ in range(2):  # axis names and the space for them depend on each other
            alike: dict[object, Room] = {}  # panels of the same kind and width get equal axes
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
        """Return a legend in as many columns as fit, and its height. Many entries get shorter names until two columns
        fit, if possible."""
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
            # Labelled points are dark, so their sample is too if all are labelled.
            is_named = isinstance(what, Points) and bool(what.labels) and all(what.labels)
            how = look.line() if isinstance(what, Line) else look.points(is_named=is_named)
            samples.append(Line2D([], [], **how))
        legend = self._figure.legend(samples, tried[best], loc="upper left", ncols=columns[best])
        return legend, float(legend.get_window_extent().height) / _DOTS_PER_INCH + style.GAP

    def _write(self, left: float, top: float, lines: Sequence[str], size: float, **how: Any) -> float:
        """Write lines of text below ``top``; return where the last one ends."""
        width, height = self._figure.get_size_inches()
        for text in lines:
            self._figure.text(left / width, (top - style.height_of(size) * 0.78) / height, text, fontsize=size, **how)
            top -= style.height_of(size)
        return top


def _most_columns(names: Sequence[str], width: float) -> int:
    """Return the largest number of legend columns that fit into a width; they are filled column by column."""
    sample, between = 2.7 * style.LABEL / 72, 1.5 * style.LABEL / 72
    widths = [sample + style.width_of(name, style.LABEL) for name in names]
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        widest = [max(widths[i : i + rows]) for i in range(0, len(names), rows)]
        if sum(widest) + between * (len(widest) - 1) <= width:
            return len(widest)
    return 1


def _places(drawings: Sequence[Drawing[Any]], in_a_row: int, part: float) -> tuple[list[tuple[float, float]], float]:
    """Return the position of each panel (from the left and the top), and where the lowest one ends.

    Panels of similar heights form rows; a panel much lower than its neighbours gets the next panel below it.
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


#: The style sheet of charts in HTML. On dark pages the darkest hues and grey are lighter.
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

#: The usual and maximum width of a chart in inches, and the pixels per inch.
_USUAL, _WIDEST, _PIXELS = 4.5, 9.0, 120

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"


def chart_html(chart: Chart, systems: Iterable[str] = ()) -> str:
    """Return the chart as a ``<figure>`` with title and caption, to be styled by CHART_STYLE. ``systems`` lists all
    systems of the page in order, so that each looks the same in all charts."""
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
    """Return a chart as an ``<svg>`` that scales down to the available width, with its title and description for screen
    readers."""
    own = tuple(dict.fromkeys(chart.systems))
    together = tuple(dict.fromkeys((*systems, *own)))
    out = BytesIO()
    with style.settings(svg_fonttype="none"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # browsers use other fonts
        looks = Looks.of(together if len(together) <= len(style.COLOURS) else own)
        sheet = _Sheet([chart], looks, has_texts=False)
        # Between two widths, as wide as the chart needs.
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
    """Convert an element of matplotlib's SVG, without backgrounds, global styles and groups that only have names."""
    tag, name = element.tag.removeprefix(_SVG), element.get("id", "")
    inside = "".join(map(_markup, element)) or escape(element.text or "" if tag == "text" else "")
    if name.startswith("label "):  # a point's label, which browsers show as a tooltip
        return f"<g><title>{escape(name.removeprefix('label '))}</title>{inside}</g>\n"
    how = _attributes(element, tag)
    is_background = tag == "path" and not {how.get("fill", ""), how.get("stroke", "none")} - {"none"}
    if tag == "style" or is_background or (tag in ("g", "defs") and not (inside and (how or tag == "defs"))):
        return inside if tag == "g" else ""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in how.items())
    return f"<{tag}{attributes}>{inside}</{tag}>\n" if inside else f"<{tag}{attributes}/>\n"


def _attributes(element: ElementTree.Element, tag: str) -> dict[str, str]:
    """Return the attributes of an element: styles inlined, unused names dropped, black as the page's text colour, white
    only for texts and outlines, and coordinates rounded to a hundredth of a point."""
    how = dict(re.findall(r"([\w-]+): ([^;]+)", element.get("style", "")))
    how |= {"href" if key == _HREF else key: value for key, value in element.items()}
    if found := re.search(r"([\d.]+)px", how.get("font", "")):  # syntax of earlier matplotlib versions
        how["font-size"] = found[1]
    dropped = {"style", "font", "font-family", *(() if tag in ("path", "clipPath") else ("id",))}
    if how.get("transform", "").startswith("rotate(-0"):
        dropped.add("transform")
    how = {key: value for key, value in how.items() if key not in dropped}
    for key in {"fill", "stroke"} & how.keys():
        how[key] = "currentColor" if how[key] == "#000000" else how[key]
    if how.get("stroke") == "#ffffff" and how.get("fill") != "none":  # white outlines suit white paper only
        how["stroke"] = "none"
    if how.get("fill") == "#ffffff" and tag != "text":
        how["fill"] = "none"
    for key in {"d", "x", "y"} & how.keys():
        how[key] = re.sub(r"(\.\d\d)\d+", r"\1", " ".join(how[key].split()))
    return how
