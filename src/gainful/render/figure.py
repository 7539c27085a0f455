"""Charts as figures: SVG, PNG and PDF through matplotlib, the same bytes for the same data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful._version import __version__
from gainful.errors import MissingExtraError, UsageError
from gainful.pages.charts import Boxes, Chart, CriticalDiagram, HeatMap, Intervals, Plot
from gainful.pages.page import Page
from gainful.render import figure_style as style
from gainful.render.cells import as_code
from gainful.render.figure_diagrams import BoxDrawing, CriticalDrawing, HeatMapDrawing, IntervalDrawing
from gainful.render.figure_plot import PlotDrawing
from gainful.render.figure_style import Box, Drawing, Room

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How the files of figures end, and what each says of itself. Nothing says when: the same data have the same bytes.
ENDINGS: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": f"gainful {__version__}"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": f"gainful {__version__}"},
}

#: How each kind of chart is drawn.
DRAWINGS: dict[type, Callable[[Any], Drawing[Any]]] = {
    Plot: PlotDrawing,
    HeatMap: HeatMapDrawing,
    Intervals: IntervalDrawing,
    CriticalDiagram: CriticalDrawing,
    Boxes: BoxDrawing,
}

_DOTS_PER_INCH = 300
_MARGIN, _BETWEEN, _BELOW_TITLE = 0.04, 0.2, 0.07

#: Panels whose ends differ by less (in inches) end a row together.
_SAME_ROW = 0.8

#: More charts than these stand three in a row, if they can, and so do more than some of points that have no labels;
#: and the most that a figure has, by its columns.
_MANY_CHARTS, _MANY_CLOUDS = 6, 4
_MOST_CHARTS = {1: 8, 2: 24}

#: More bands than these would only be fog.
_MOST_BANDS = 6


def ending_of(path: str | os.PathLike[str]) -> str:
    """How a file's name ends, in small letters."""
    return os.path.splitext(os.fspath(path))[1].lower()


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuses a file that no figure can be drawn into, and says what is missing if matplotlib is."""
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise UsageError(f"{os.fspath(path)}: expected a figure that ends in {', '.join(ENDINGS)}, found '{ending}'")
    _need_matplotlib()


def _need_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401 - whether it is there
    except ImportError as error:
        raise MissingExtraError(
            "figures need the package matplotlib", "install it with: pip install 'gainful[plot]'"
        ) from error


def can_draw() -> bool:
    """Whether matplotlib is there."""
    try:
        _need_matplotlib()
    except MissingExtraError:
        return False
    return True


def save(page: Page, path: str | os.PathLike[str], columns: int | None = None) -> None:
    """Draws the charts of a page into a file, whole or not at all; its ending (.svg, .png, .pdf) decides how."""
    check_path(path)
    from gainful.io.atomic import write_bytes

    write_bytes(path, figure_bytes(page, ending_of(path), columns))


def figure_bytes(page: Page, ending: str, columns: int | None = None) -> bytes:
    """The content of a figure's file: the same for the same page and version of matplotlib."""
    from io import BytesIO

    figure, out = draw(page, columns), BytesIO()
    with style.settings():
        figure.savefig(out, format=ending.removeprefix("."), metadata=ENDINGS[ending], dpi=_DOTS_PER_INCH)
    return out.getvalue()


def for_caption(page: Page, *, title: bool = False, signature: bool = False) -> Page:
    """The charts of a page without their titles and without its signature, which a paper's caption has."""
    charts = tuple(page.charts) if title else tuple(replace(chart, title="") for chart in page.charts)
    return replace(page, parts=charts, notes=page.notes if signature else ())


def draw(page: Page, columns: int | None = None) -> Figure:
    """The charts of a page as a figure of matplotlib, one panel each, ``columns`` (1 or 2) of a paper wide.

    Without ``columns`` one chart is one column wide, unless it needs more, and several are two. Names stand at the ends
    of lines if they fit there, otherwise in a legend below; captions and the page's signature come below the charts.
    """
    charts = tuple(map(without_fog, page.charts))
    if not charts:
        raise UsageError(f"{page.command}: expected at least one chart to draw, found none")
    if columns not in (None, 1, 2):
        raise UsageError(f"columns: expected 1 or 2 columns of a paper, found {columns}")
    most = _MOST_CHARTS[columns or 2]
    if len(charts) > most:
        raise UsageError(
            f"{page.command}: expected at most {most} charts in a figure"
            + (f" of one column, found {len(charts)}" if columns == 1 else f", found {len(charts)}"),
            "choose fewer queries (--query), runs or measures, or draw several figures",
        )
    _need_matplotlib()
    with style.settings():
        return _Sheet(page, charts, columns).drawn()


def without_fog(chart: Chart) -> Chart:
    """The chart, without its bands where they are so many that nobody could tell them apart."""
    if not isinstance(chart, Plot) or sum(line.band is not None for line in chart.lines) <= _MOST_BANDS:
        return chart
    told = "bands not drawn for so many runs"
    caption = f"{chart.caption} ({told})" if chart.caption else told
    return replace(chart, lines=tuple(replace(line, band=None) for line in chart.lines), caption=caption)


def _is_cloud(chart: Chart) -> bool:
    """Whether a chart has points and no label needs room beside one of them."""
    return isinstance(chart, Plot) and bool(chart.points) and not any(any(points.labels) for points in chart.points)


class _Panel(NamedTuple):
    """A drawing with what it needs around it, and how wide it is with all that."""

    drawing: Drawing[Any]
    room: Room
    width: float
    title: list[str]
    caption: list[str]


class _Sheet:
    """A figure in the making: panels side by side and below each other, a legend, notes."""

    def __init__(self, page: Page, charts: Sequence[Chart], columns: int | None) -> None:
        drawings = [DRAWINGS[type(chart)](chart) for chart in charts]
        needed = [drawing.needed_width() for drawing in drawings]
        usual_columns = 2 if len(charts) > 1 or max(needed) > style.WIDTHS[1] else 1
        self._looks = style.Looks.of(charts, page.systems)
        self._width = style.WIDTHS[columns or usual_columns] - 2 * _MARGIN
        self._in_a_row = self._side_by_side(charts, max(needed))
        part = self._part(self._in_a_row)
        # Its part of the row, if a chart can do with that; otherwise all of it.
        widths = [self._width if least > part else part for least in needed]
        # Beside three in a row there is no room for names.
        can_name = self._in_a_row < 3 and not any(isinstance(chart, Plot) and chart.points for chart in charts)
        is_named = can_name and _name_lines(drawings, widths)
        self._panels, shared = _made(drawings, widths)
        titles = max(len(panel.title) for panel in self._panels)
        self._above = style.height_of(style.TITLE, titles) + _BELOW_TITLE
        self._legend = style.Legend.of(style.legend_entries(charts, are_lines_named=is_named), self._width)
        self._caption = style.wrapped(shared, style.CAPTION, self._width)
        self._notes = [line for note in _signatures(page) for line in style.wrapped(note, style.NOTE, self._width)]

    def _side_by_side(self, charts: Sequence[Chart], needed: float) -> int:
        """How many panels stand in a row: as many as there is room for and as there are."""
        if len(charts) == 1 or self._width < style.WIDTHS[2] - 1:
            return 1
        many = _MANY_CLOUDS if all(map(_is_cloud, charts)) else _MANY_CHARTS
        return 3 if len(charts) > many and needed <= self._part(3) else 2

    def _part(self, count: int) -> float:
        """The width of one of so many panels in a row."""
        return (self._width - (count - 1) * _BETWEEN) / count

    def _height(self, panel: _Panel) -> float:
        return self._above + panel.room.height + panel.room.bottom + _block(style.CAPTION, panel.caption, 0.05)

    def _places(self) -> tuple[list[tuple[float, float]], float]:
        """How far every panel is from the left and from the top, and where the lowest ends.

        Panels of about the same height stand in rows; below one that is much lower than its neighbours the next finds
        room.
        """
        ends = [0.0] * self._in_a_row
        places = []
        for panel in self._panels:
            is_wide = panel.width > self._part(self._in_a_row)
            if is_wide or max(ends) - min(ends) < _SAME_ROW:
                ends = [max(ends)] * len(ends)
            column = ends.index(min(ends))
            places.append((column * (panel.width + _BETWEEN), ends[column]))
            ends[column] += self._height(panel) + _BETWEEN
            if is_wide:
                ends = [ends[column]] * len(ends)
        return places, max(ends) - _BETWEEN

    def drawn(self) -> Figure:
        """The figure, as high as all of it needs."""
        from matplotlib.figure import Figure

        places, lowest = self._places()
        legend = _block(style.LABEL, self._legend.rows, 0.06)
        notes, caption = _block(style.NOTE, self._notes, 0.06), _block(style.CAPTION, self._caption, 0.05)
        height = lowest + caption + legend + notes + 2 * _MARGIN
        figure = Figure(figsize=(self._width + 2 * _MARGIN, height), dpi=_DOTS_PER_INCH, facecolor="white")
        top = height - _MARGIN
        for panel, (right, down) in zip(self._panels, places, strict=True):
            self._draw_panel(figure, panel, _MARGIN + right, top - down)
        top -= lowest
        style.write_lines(figure, _MARGIN, top - 0.05, self._caption, style.CAPTION)
        top -= caption
        style.draw_legend(figure, self._legend, _MARGIN, top - 0.06, self._looks)
        style.write_lines(figure, _MARGIN, top - legend - 0.06, self._notes, style.NOTE, color=style.GREY)
        return figure

    def _draw_panel(self, figure: Figure, panel: _Panel, left: float, top: float) -> None:
        room = panel.room
        style.write_lines(figure, left, top, panel.title, style.TITLE, is_bold=True)
        bottom = top - self._above - room.height
        box = Box(left + room.left, bottom, panel.width - room.left - room.right, room.height)
        panel.drawing.draw(figure, box, room, self._looks)
        style.write_lines(figure, left, bottom - room.bottom - 0.05, panel.caption, style.CAPTION)


def _block(size: float, lines: Sequence[object], gap: float) -> float:
    """How high lines of a size are with the gap above them; nothing, if there are none."""
    return style.height_of(size, len(lines)) + gap if lines else 0.0


def _name_lines(drawings: Sequence[Drawing[Any]], widths: Sequence[float]) -> bool:
    """Puts names beside the lines of every plot, if all fit there; otherwise none, because then a legend has all."""
    plots = [(one, width) for one, width in zip(drawings, widths, strict=True) if isinstance(one, PlotDrawing)]
    labels = [style.end_labels(one.chart, one.room(width).height) for one, width in plots]
    if None in labels:
        return False
    for (one, _), beside in zip(plots, labels, strict=True):
        one.labels = beside or ()
    return True


def _made(drawings: Sequence[Drawing[Any]], widths: Sequence[float]) -> tuple[list[_Panel], str]:
    """The panels, and the caption that all of them have: it is said once."""
    rooms = [one.room(width) for one, width in zip(drawings, widths, strict=True)]
    captions = [one.caption(room) for one, room in zip(drawings, rooms, strict=True)]
    shared = captions[0] if len(drawings) > 1 and len(set(captions)) == 1 else ""
    panels = []
    for one, room, width, own in zip(drawings, rooms, widths, captions, strict=True):
        title = style.wrapped(one.chart.title, style.TITLE, width, is_bold=True)
        panels.append(_Panel(one, room, width, title, [] if shared else style.wrapped(own, style.CAPTION, width)))
    return _aligned(panels), shared


def _signatures(page: Page) -> list[str]:
    """The notes that say by which conventions numbers came about; others are about tables."""
    return [note for note in page.notes if any(code for _, code in as_code(note))]


def _aligned(panels: Sequence[_Panel]) -> list[_Panel]:
    """Plots of the same width get axes of the same size, and so do boxes."""
    return [_alike(panel, panels) if isinstance(panel.drawing.chart, (Plot, Boxes)) else panel for panel in panels]


def _alike(panel: _Panel, panels: Sequence[_Panel]) -> _Panel:
    kind = type(panel.drawing)
    rooms = [other.room for other in panels if type(other.drawing) is kind and other.width == panel.width]
    left, right = max(room.left for room in rooms), max(room.right for room in rooms)
    is_square = getattr(panel.drawing.chart, "is_square", False)
    height = panel.width - left - right if is_square else panel.room.height
    bottom = max(room.bottom for room in rooms)
    return panel._replace(room=panel.room._replace(left=left, right=right, bottom=bottom, height=height))
