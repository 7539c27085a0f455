"""Charts as figures: SVG, PNG and PDF through matplotlib, the same bytes for the same data."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful._version import __version__
from gainful.errors import MissingExtraError, UsageError
from gainful.pages.charts import Boxes, Chart, CriticalDiagram, HeatMap, Intervals, Plot
from gainful.pages.page import Page
from gainful.render.cells import is_code
from gainful.render.figure_style import Box, Room

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.render.figure_style import EndLabel, Looks

#: How the files of figures end, and what each says of itself. Nothing says when: the same data have the same bytes.
ENDINGS: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": f"gainful {__version__}"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": f"gainful {__version__}"},
}

#: Where each kind of chart is drawn. Such a module has ``needed_width(chart)``, ``room(chart, width, labels)``,
#: ``caption(chart, room)`` and ``draw(figure, chart, box, room, looks, labels)``.
_DRAWINGS: dict[type, str] = {
    Plot: "gainful.render.figure_plot",
    HeatMap: "gainful.render.figure_heat_map",
    Intervals: "gainful.render.figure_intervals",
    CriticalDiagram: "gainful.render.figure_critical",
    Boxes: "gainful.render.figure_boxes",
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


def save(page: Page, path: str | os.PathLike[str], columns: int | None = None) -> None:
    """Draws the charts of a page into a file, whole or not at all; its ending (.svg, .png, .pdf) decides how."""
    check_path(path)
    from gainful.io.atomic import write_bytes

    write_bytes(path, figure_bytes(page, ending_of(path), columns))


def figure_bytes(page: Page, ending: str, columns: int | None = None) -> bytes:
    """The content of a figure's file: the same for the same page and version of matplotlib."""
    from io import BytesIO

    figure = draw(page, columns)
    from gainful.render.figure_style import settings

    out = BytesIO()
    with settings():
        figure.savefig(out, format=ending.removeprefix("."), metadata=ENDINGS[ending], dpi=_DOTS_PER_INCH)
    return out.getvalue()


def draw(page: Page, columns: int | None = None) -> Figure:
    """The charts of a page as a figure of matplotlib, one panel each, ``columns`` (1 or 2) of a paper wide.

    Without ``columns`` one chart is one column wide, unless it needs more, and several are two. Names stand at the ends
    of lines if they fit there, otherwise in a legend below; captions and the page's signature come below the charts.
    """
    charts = tuple(map(_without_fog, page.charts))
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
    from gainful.render.figure_style import settings

    with settings():
        return _Sheet(page, charts, columns).drawn()


def _without_fog(chart: Chart) -> Chart:
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
    """A chart with the names beside its lines, what it needs around it, and how wide it is with all that."""

    chart: Chart
    labels: Sequence[EndLabel]
    room: Room
    width: float
    title: list[str]
    caption: list[str]


class _Sheet:
    """A figure in the making: panels side by side and below each other, a legend, notes."""

    def __init__(self, page: Page, charts: tuple[Chart, ...], columns: int | None) -> None:
        from gainful.render import figure_style

        self._style = figure_style
        self._looks: Looks = figure_style.Looks.of(charts)
        self._width = figure_style.WIDTHS[columns or self._usual_columns(charts)] - 2 * _MARGIN
        self._in_a_row = self._side_by_side(charts)
        plots = [chart for chart in charts if isinstance(chart, Plot)]
        # Beside three in a row there is no room for names.
        can_name = self._in_a_row < 3 and not any(plot.points for plot in plots)
        named = self._all_named(plots) if can_name else None
        self._panels, shared = self._made(charts, named or {})
        titles = max(len(panel.title) for panel in self._panels)
        self._above = figure_style.height_of(figure_style.TITLE, titles) + _BELOW_TITLE
        entries = figure_style.legend_entries(charts, are_lines_named=named is not None)
        self._legend = figure_style.Legend.of(entries, self._width)
        self._caption = figure_style.wrapped(shared, figure_style.CAPTION, self._width)
        self._notes = [
            line for note in _signatures(page) for line in figure_style.wrapped(note, figure_style.NOTE, self._width)
        ]

    def _usual_columns(self, charts: tuple[Chart, ...]) -> int:
        is_wide = any(_drawing(chart).needed_width(chart) > self._style.WIDTHS[1] for chart in charts)
        return 2 if len(charts) > 1 or is_wide else 1

    def _side_by_side(self, charts: Sequence[Chart]) -> int:
        """How many panels stand in a row: as many as there is room for and as there are."""
        if len(charts) == 1 or self._width < self._style.WIDTHS[2] - 1:
            return 1
        fit_three = all(_drawing(chart).needed_width(chart) <= self._part(3) for chart in charts)
        many = _MANY_CLOUDS if all(map(_is_cloud, charts)) else _MANY_CHARTS
        return 3 if len(charts) > many and fit_three else 2

    def _part(self, count: int) -> float:
        """The width of one of so many panels in a row."""
        return (self._width - (count - 1) * _BETWEEN) / count

    def _all_named(self, plots: Sequence[Plot]) -> dict[int, Sequence[EndLabel]] | None:
        """The names beside the lines of every plot; None if some do not fit, because then a legend has all."""
        named: dict[int, Sequence[EndLabel]] = {}
        for plot in plots:
            height = _drawing(plot).room(plot, self._panel_width(plot), ()).height
            labels = self._style.end_labels(plot, height)
            if labels is None:
                return None
            named[id(plot)] = labels
        return named

    def _panel_width(self, chart: Chart) -> float:
        """Its part of the row, if the chart can do with that; otherwise all of it."""
        part = self._part(self._in_a_row)
        return self._width if _drawing(chart).needed_width(chart) > part else part

    def _made(self, charts: Sequence[Chart], named: dict[int, Sequence[EndLabel]]) -> tuple[list[_Panel], str]:
        """The panels, and the caption that all of them have: it is said once."""
        style = self._style
        widths = [self._panel_width(chart) for chart in charts]
        labels = [named.get(id(chart), ()) for chart in charts]
        rooms = [_drawing(one).room(one, *around) for one, *around in zip(charts, widths, labels, strict=True)]
        captions = [_drawing(chart).caption(chart, room) for chart, room in zip(charts, rooms, strict=True)]
        shared = captions[0] if len(charts) > 1 and len(set(captions)) == 1 else ""
        panels = []
        for chart, beside, room, width, own in zip(charts, labels, rooms, widths, captions, strict=True):
            title = style.wrapped(chart.title, style.TITLE, width, is_bold=True)
            caption = [] if shared else style.wrapped(own, style.CAPTION, width)
            panels.append(_Panel(chart, beside, room, width, title, caption))
        return _aligned(panels), shared

    def _height(self, panel: _Panel) -> float:
        caption = self._style.height_of(self._style.CAPTION, len(panel.caption)) + 0.05 if panel.caption else 0.0
        return self._above + panel.room.height + panel.room.bottom + caption

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

        style = self._style
        places, lowest = self._places()
        legend = style.height_of(style.LABEL, len(self._legend.rows)) + 0.06 if self._legend.rows else 0.0
        notes = style.height_of(style.NOTE, len(self._notes)) + 0.06 if self._notes else 0.0
        caption = style.height_of(style.CAPTION, len(self._caption)) + 0.05 if self._caption else 0.0
        height = lowest + caption + legend + notes + 2 * _MARGIN
        figure = Figure(figsize=(self._width + 2 * _MARGIN, height), dpi=_DOTS_PER_INCH, facecolor="white")
        top = height - _MARGIN
        for panel, (right, down) in zip(self._panels, places, strict=True):
            self._draw_panel(figure, panel, _MARGIN + right, top - down)
        top -= lowest
        style.write_lines(figure, _MARGIN, top - 0.05, self._caption, style.CAPTION)
        top -= caption
        self._style.draw_legend(figure, self._legend, _MARGIN, top - 0.06, self._looks)
        style.write_lines(figure, _MARGIN, top - legend - 0.06, self._notes, style.NOTE, color=style.GREY)
        return figure

    def _draw_panel(self, figure: Figure, panel: _Panel, left: float, top: float) -> None:
        style, chart, room = self._style, panel.chart, panel.room
        style.write_lines(figure, left, top, panel.title, style.TITLE, is_bold=True)
        bottom = top - self._above - room.height
        box = Box(left + room.left, bottom, panel.width - room.left - room.right, room.height)
        _drawing(chart).draw(figure, chart, box, room, self._looks, panel.labels)
        style.write_lines(figure, left, bottom - room.bottom - 0.05, panel.caption, style.CAPTION)


def _drawing(chart: Chart) -> ModuleType:
    return importlib.import_module(_DRAWINGS[type(chart)])


def _signatures(page: Page) -> list[str]:
    """The notes that say by which conventions numbers came about; others are about tables."""
    return [note for note in page.notes if any(map(is_code, note.split(" ")))]


def _aligned(panels: Sequence[_Panel]) -> list[_Panel]:
    """Plots of the same width get axes of the same size, and so do boxes."""
    return [_alike(panel, panels) if isinstance(panel.chart, (Plot, Boxes)) else panel for panel in panels]


def _alike(panel: _Panel, panels: Sequence[_Panel]) -> _Panel:
    kind = type(panel.chart)
    rooms = [other.room for other in panels if type(other.chart) is kind and other.width == panel.width]
    left, right = max(room.left for room in rooms), max(room.right for room in rooms)
    is_square = isinstance(panel.chart, Plot) and panel.chart.is_square
    height = panel.width - left - right if is_square else panel.room.height
    bottom = max(room.bottom for room in rooms)
    return panel._replace(room=panel.room._replace(left=left, right=right, bottom=bottom, height=height))
