"""A critical-difference diagram drawn: names at their values, bars over those that are not told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gainful.pages.charts import CriticalDiagram
from gainful.render.figure_style import CAPTION, INK, LABEL, TICK, Box, Room, font, short, shown, width_of
from gainful.render.scales import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gainful.render.figure_style import EndLabel, Looks

_BAR, _NAME, _AXIS, _CRITICAL = 0.09, 0.15, 0.3, 0.3


def needed_width(chart: CriticalDiagram) -> float:
    """How wide a panel has to be, in inches."""
    return 2 * _widest(chart) + 2.0


def room(chart: CriticalDiagram, width: float, labels: Sequence[EndLabel] = ()) -> Room:
    """What the axis needs beside it for names, and how high all of it is; in inches."""
    side = _widest(chart) + 0.12
    rows = math.ceil(len(chart.names) / 2)
    height = _critical_room(chart) + _AXIS + _BAR * (len(_lanes(chart)) + 0.5) + _NAME * rows + 0.05
    return Room(side, side, 0.0, height)


def caption(chart: CriticalDiagram, room: Room) -> str:
    """What is to be said below."""
    return chart.caption


def draw(
    figure: Figure, chart: CriticalDiagram, box: Box, room: Room, looks: Looks, labels: Sequence[EndLabel] = ()
) -> None:
    """The axis at the top, bars below it, names at both sides: the better half on the better side.

    Everything is placed in inches from the axis' left end downwards.
    """
    axes = figure.add_axes(box.of(figure))
    axes.set_axis_off()
    axes.set_xlim(0, box.width)
    axes.set_ylim(-box.height, 0)
    scale = Scale.of(chart.axis, chart.values, 0.04, 6)
    places = [_x(scale, value, box.width) for value in chart.values]
    top = -_critical_room(chart) - _AXIS
    _draw_axis(axes, chart, scale, box.width, top)
    lanes = _lanes(chart)
    for lane, bars in enumerate(lanes):
        y = top - _BAR * (lane + 0.9)
        for first, last in bars:
            ends = sorted((places[first], places[last]))
            axes.plot(
                [ends[0] - 0.03, ends[1] + 0.03], [y, y], color=INK, linewidth=2.4, solid_capstyle="butt", zorder=3
            )
    _draw_names(axes, chart, places, top, top - _BAR * (len(lanes) + 0.5), box.width)


def _widest(chart: CriticalDiagram) -> float:
    return max((width_of(_name(chart, i), TICK) for i in range(len(chart.names))), default=0.0)


def _name(chart: CriticalDiagram, place: int) -> str:
    return f"{short(chart.names[place])} {_number(chart, chart.values[place])}"


def _number(chart: CriticalDiagram, value: float) -> str:
    """With as many places as all values of the diagram."""
    return f"{value:.{_places(chart)}f}"


def _places(chart: CriticalDiagram) -> int:
    return 3 if max(map(abs, chart.values)) < 1 else 2


def _above(critical: float, places: int) -> float:
    """The next number of so many places: some procedures ask for more than the critical difference itself.

    >>> _above(0.8626, 2), _above(0.5, 2)
    (0.87, 0.51)
    """
    return (math.floor(critical * 10.0**places) + 1) / float(10**places)


def _critical_room(chart: CriticalDiagram) -> float:
    return _CRITICAL if math.isfinite(chart.critical) else 0.05


def _x(scale: Scale, value: float, width: float) -> float:
    return scale.place(value) * width


def _draw_axis(axes: Axes, chart: CriticalDiagram, scale: Scale, width: float, top: float) -> None:
    line: dict[str, Any] = {"color": INK, "linewidth": 0.6, "zorder": 2}
    axes.plot([0, width], [top, top], **line)
    for value, text in scale.ticks:
        x = _x(scale, value, width)
        axes.plot([x, x], [top, top + 0.04], **line)
        axes.text(x, top + 0.06, shown(text), ha="center", va="bottom", fontproperties=font(TICK), parse_math=False)
    label: dict[str, Any] = {"fontproperties": font(LABEL), "parse_math": False, "va": "bottom"}
    axes.text(width + 0.05, top + 0.05, shown(chart.axis.label), ha="left", **label)
    if not math.isfinite(chart.critical):
        return
    # The yardstick itself, as long as it is on the axis.
    reach = min(width, chart.critical / (scale.high - scale.low) * width)
    y = -0.12
    axes.plot([0, reach], [y, y], **line)
    for x in (0, reach):
        axes.plot([x, x], [y - 0.03, y + 0.03], **line)
    text = f"told apart from {_number(chart, _above(chart.critical, _places(chart)))} on"
    axes.text(reach + 0.05, y, text, ha="left", va="center", fontproperties=font(CAPTION), parse_math=False)


def _lanes(chart: CriticalDiagram) -> list[list[tuple[int, int]]]:
    """Bars that do not touch share a height."""
    lanes: list[list[tuple[int, int]]] = []
    for bar in chart.bars:
        for lane in lanes:
            if lane[-1][1] < bar[0]:
                lane.append(bar)
                break
        else:
            lanes.append([bar])
    return lanes


def _draw_names(
    axes: Axes, chart: CriticalDiagram, places: Sequence[float], top: float, start: float, width: float
) -> None:
    """An elbow from each place to a name at the nearer side: no two of them cross."""
    count = len(chart.names)
    by_x = sorted(range(count), key=lambda i: (places[i], i if not chart.is_falling else -i))
    left, right = by_x[: math.ceil(count / 2)], by_x[math.ceil(count / 2) :][::-1]
    line: dict[str, Any] = {"color": INK, "linewidth": 0.5, "zorder": 1}
    how: dict[str, Any] = {"fontproperties": font(TICK), "parse_math": False, "va": "center"}
    for names, end, ha, shift in ((left, 0.0, "right", -0.05), (right, width, "left", 0.05)):
        for row, i in enumerate(names):
            y = start - _NAME * (row + 0.5)
            axes.plot([places[i], places[i], end], [top, y, y], clip_on=False, **line)
            axes.text(end + shift, y, _name(chart, i), ha=ha, clip_on=False, **how)
