"""A plot drawn: bands, lines, points and rules over two named axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gainful.render.charts import Line, Plot, Rule
from gainful.render.figure_labels import EndLabel, draw_end_labels, room_for
from gainful.render.figure_places import Ground, Label, point_labels, rule_label
from gainful.render.figure_room import Box, Room
from gainful.render.figure_style import (
    CAPTION,
    GREY,
    LABEL,
    TICK,
    Looks,
    font,
    height_of,
    shown,
    width_of,
)
from gainful.render.scales import Scale, scales_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAD = 0.06

#: More points than this are drawn smaller.
_MANY = 150


def needed_width(plot: Plot) -> float:
    """How wide a panel has to be, in inches: lines can be drawn at any width."""
    return 0.0


def room(plot: Plot, width: float, labels: Sequence[EndLabel]) -> Room:
    """What a plot needs around its axes and how high these are, in a panel of some width; all in inches."""
    x, y = scales_of(plot)
    ticks = max((width_of(shown(text), TICK) for _, text in y.ticks), default=0.0)
    left = height_of(LABEL) + ticks + 0.1
    bottom = height_of(TICK) + height_of(LABEL) + 0.05
    right = room_for(labels) or max(_PAD, _beyond(x))
    inside = width - left - right
    height = inside if plot.is_square else min(0.6 * width, 2.6)
    return Room(left, right, bottom, height)


def _beyond(x: Scale) -> float:
    """How far the last number below the horizontal axis reaches beyond the axis."""
    if not x.ticks:
        return 0.0
    value, text = x.ticks[-1]
    return width_of(shown(text), TICK) / 2 + 0.02 if x.place(value) > 0.97 else 0.0


def draw(figure: Figure, plot: Plot, box: Box, looks: Looks, labels: Sequence[EndLabel]) -> None:
    """The plot's axes into a box, and the names of its lines beside it."""
    axes = figure.add_axes(box.of(figure))
    x, y = scales_of(plot)
    _settle(axes, plot, x, y)
    ground = Ground.of(plot, box, x, y)
    for rule in plot.rules:
        _draw_rule(axes, rule, ground)
    # Many bands upon each other would hide everything.
    pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in plot.lines)))
    for line in plot.lines:
        is_inside = _is_inside(line.x, x) and _is_inside(line.y, y)
        _draw_line(axes, line, looks, pale, is_clipped=not is_inside)
    many = sum(len(points.x) for points in plot.points) > _MANY
    for points in plot.points:
        is_inside = _is_inside(points.x, x) and _is_inside(points.y, y)
        axes.plot(points.x, points.y, clip_on=not is_inside, **looks(points).points(are_many=many))
    for label in point_labels(plot, ground):
        _write(axes, label, zorder=6)
    draw_end_labels(figure, labels, box.right, box.bottom, box.height, looks)


def _settle(axes: Axes, plot: Plot, x: Scale, y: Scale) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log" if x.is_log else "linear")
    axes.set_yscale("log" if y.is_log else "linear")
    for axis, scale in ((axes.xaxis, x), (axes.yaxis, y)):
        axis.set_minor_locator(NullLocator())
        axis.set_ticks(
            [value for value, _ in scale.ticks],
            labels=[shown(text) for _, text in scale.ticks],
            fontproperties=font(TICK),
            parse_math=False,
        )
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    axes.set_xlabel(shown(plot.x.label), fontproperties=font(LABEL), parse_math=False, labelpad=2)
    axes.set_ylabel(shown(plot.y.label), fontproperties=font(LABEL), parse_math=False, labelpad=3)


def _is_inside(values: Sequence[float], scale: Scale) -> bool:
    """Whether no value is beyond an axis: what lies on its end is then drawn in full, not cut in half."""
    return all(scale.low <= value <= scale.high for value in values if math.isfinite(value))


def _draw_line(axes: Axes, line: Line, looks: Looks, pale: float, is_clipped: bool) -> None:
    look = looks(line)
    if line.band is not None:
        band = line.band
        axes.fill_between(band.x, band.low, band.high, color=look.colour, alpha=pale, linewidth=0, zorder=1)
    drawn = [value if math.isfinite(value) else math.nan for value in line.y]
    # A point between two gaps is no line: it needs a mark to be seen.
    how = {"solid_joinstyle": "round", "dash_joinstyle": "round", "clip_on": is_clipped, **look.line(), **_alone(line)}
    axes.plot(line.x, drawn, **how)


def _alone(line: Line) -> dict[str, Any]:
    finite = [math.isfinite(a) and math.isfinite(b) for a, b in zip(line.x, line.y, strict=True)]
    padded = [False, *finite, False]
    alone = [i for i in range(len(finite)) if padded[i + 1] and not padded[i] and not padded[i + 2]]
    return {"marker": "o", "markersize": 2.4, "markevery": alone} if alone else {}


def _draw_rule(axes: Axes, rule: Rule, ground: Ground) -> None:
    how: dict[str, Any] = {"color": GREY, "linewidth": 0.5, "linestyle": (0, (4, 2)), "zorder": 1.5}
    if rule.x is not None:
        axes.axvline(rule.x, **how)
    if rule.y is not None:
        axes.axhline(rule.y, **how)
    label = rule_label(rule, ground)
    if label is not None:
        _write(axes, label, color=GREY, zorder=1.6)


def _write(axes: Axes, label: Label, **how: Any) -> None:
    """A text in the middle of an area of the axes."""
    box = label.area
    x, y = (box.left + box.right) / 2 / label.width, (box.bottom + box.top) / 2 / label.height
    axes.text(
        x,
        y,
        label.text,
        transform=axes.transAxes,
        fontproperties=font(CAPTION),
        parse_math=False,
        rotation=90 if label.is_upright else 0,
        ha="center",
        va="center",
        **how,
    )
