"""A plot drawn: bands, lines, points and rules over two named axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    fitted,
    font,
    height_of,
    set_ticks,
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

#: The most lines of an axis' name, and by how much an axis may get shorter when panels are aligned.
_MOST_LINES, _SLACK = 2, 0.15

#: How far apart, in points, those stand that lines of a single point have at the same place.
_ASIDE = 7.0

#: How a line differs that only goes around points, or through them: it is below them.
_THIN: Mapping[str, Any] = {"linewidth": 0.7, "zorder": 2.5}


def needed_width(plot: Plot) -> float:
    """How wide a panel has to be, in inches: lines can be drawn at any width."""
    return 0.0


def room(plot: Plot, width: float, labels: Sequence[EndLabel]) -> Room:
    """What a plot needs around its axes and how high these are, in a panel of some width; all in inches."""
    x, y = scales_of(plot)
    ticks = max((width_of(shown(text), TICK) for _, text in y.ticks), default=0.0)
    right = room_for(labels) or max(_PAD, _beyond(x))
    height = min(0.6 * width, 2.6)
    highest = width - right - ticks - height_of(LABEL) - _SLACK if plot.is_square else height
    y_lines = max(1, len(fitted(plot.y.label, LABEL, highest, _MOST_LINES)))
    left = height_of(LABEL, y_lines) + ticks + 0.1
    inside = width - left - right
    x_lines = max(1, len(fitted(plot.x.label, LABEL, inside - _SLACK, _MOST_LINES)))
    bottom = height_of(TICK) + height_of(LABEL, x_lines) + 0.05
    return Room(left, right, bottom, inside if plot.is_square else height, x_lines, y_lines)


def caption(plot: Plot, room: Room) -> str:
    """What stands below."""
    return plot.caption


def _beyond(x: Scale) -> float:
    """How far the last number below the horizontal axis reaches beyond the axis."""
    if not x.ticks:
        return 0.0
    value, text = x.ticks[-1]
    return width_of(shown(text), TICK) / 2 + 0.02 if x.place(value) > 0.97 else 0.0


def draw(figure: Figure, plot: Plot, box: Box, room: Room, looks: Looks, labels: Sequence[EndLabel]) -> None:
    """The plot's axes into a box, and the names of its lines beside it."""
    axes = figure.add_axes(box.of(figure))
    x, y = scales_of(plot)
    _settle(axes, x, y)
    _name(axes, plot, box, room)
    ground = Ground.of(plot, box, x, y)
    for rule in plot.rules:
        _draw_rule(axes, rule, ground)
    # Bands upon each other would hide everything.
    pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in plot.lines)))
    aside = _aside(axes, plot)
    for i, line in enumerate(plot.lines):
        is_inside = _is_inside(line.x, x) and _is_inside(line.y, y)
        thin = _THIN if line.name in plot.shared else {}
        _draw_line(axes, line, looks, pale, {"clip_on": not is_inside, **aside[i]}, thin)
    _draw_points(axes, plot, ground, looks)
    draw_end_labels(figure, labels, box.right, box.bottom, box.height, looks)


def _draw_points(axes: Axes, plot: Plot, ground: Ground, looks: Looks) -> None:
    """All points, and once more, upon all others, those whose labels have found a place."""
    many = sum(len(points.x) for points in plot.points) > _MANY
    clipped = not all(_is_inside(points.x, ground.x) and _is_inside(points.y, ground.y) for points in plot.points)
    for points in plot.points:
        axes.plot(points.x, points.y, clip_on=clipped, **looks(points).points(are_many=many))
    for points, i, label in point_labels(plot, ground):
        axes.plot(points.x[i], points.y[i], clip_on=clipped, **looks(points).points(many, is_named=True))
        _write(axes, label, zorder=7)


def _name(axes: Axes, plot: Plot, box: Box, room: Room) -> None:
    """The axes' names, in as many lines as there is room for."""
    how: dict[str, Any] = {"fontproperties": font(LABEL), "parse_math": False, "linespacing": 1.15}
    axes.set_xlabel("\n".join(fitted(plot.x.label, LABEL, box.width, room.x_lines)), labelpad=2, **how)
    axes.set_ylabel("\n".join(fitted(plot.y.label, LABEL, box.height, room.y_lines)), labelpad=3, **how)


def _aside(axes: Axes, plot: Plot) -> list[dict[str, Any]]:
    """Lines of a single point stand beside each other, because they would cover each other at one place."""
    from matplotlib.transforms import ScaledTranslation

    count = len(plot.lines)
    if count < 2 or any(len(line.x) != 1 or line.x != plot.lines[0].x for line in plot.lines):
        return [{} for _ in plot.lines]
    inches = [_ASIDE * (i - (count - 1) / 2) / 72 for i in range(count)]
    scale = axes.figure.dpi_scale_trans
    return [{"transform": axes.transData + ScaledTranslation(inch, 0, scale)} for inch in inches]


def _settle(axes: Axes, x: Scale, y: Scale) -> None:
    axes.set_xscale("log" if x.is_log else "linear")
    axes.set_yscale("log" if y.is_log else "linear")
    set_ticks(axes.xaxis, x)
    set_ticks(axes.yaxis, y)
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)


def _is_inside(values: Sequence[float], scale: Scale) -> bool:
    """Whether no value is beyond an axis: what lies on its end is then drawn in full, not cut in half."""
    return all(scale.low <= value <= scale.high for value in values if math.isfinite(value))


def _draw_line(
    axes: Axes, line: Line, looks: Looks, pale: float, where: dict[str, Any], thin: Mapping[str, Any]
) -> None:
    look, band = looks(line), line.band
    if band is not None and len(band.x) == 1:  # no area: a bar
        axes.vlines(band.x, band.low, band.high, color=look.colour, linewidth=0.8, zorder=look.order, **where)
    elif band is not None:
        axes.fill_between(band.x, band.low, band.high, color=look.colour, alpha=pale, linewidth=0, zorder=1)
    drawn = [value if math.isfinite(value) else math.nan for value in line.y]
    # A point between two gaps is no line: it needs a mark to be seen.
    how = {"solid_joinstyle": "round", "dash_joinstyle": "round", **where, **look.line(), **_alone(line), **thin}
    axes.plot(line.x, drawn, **how)


def _alone(line: Line) -> dict[str, Any]:
    finite = [math.isfinite(a) and math.isfinite(b) for a, b in zip(line.x, line.y, strict=True)]
    padded = [False, *finite, False]
    alone = [i for i in range(len(finite)) if padded[i + 1] and not padded[i] and not padded[i + 2]]
    return {"marker": "o", "markersize": 2.4, "markevery": alone} if alone else {}


def _draw_rule(axes: Axes, rule: Rule, ground: Ground) -> None:
    how: dict[str, Any] = {"color": GREY, "linewidth": 0.5, "linestyle": (0, (4, 2)), "zorder": 1.5}
    if not rule.label:
        how["alpha"] = 0.4  # one of many, such as the boundaries of queries
    if rule.x is not None:
        axes.axvline(rule.x, **how)
    if rule.y is not None:
        axes.axhline(rule.y, **how)
    label = rule_label(rule, ground)
    if label is not None:
        # Where no place is free, what is below gives way: a text across lines cannot be read.
        backing = {} if label.is_free else {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}}
        _write(axes, label, color=GREY, zorder=1.6 if label.is_free else 5, **backing)


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
