"""Boxes drawn: groups side by side over one upright axis, each with its name and its size below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gainful.pages.charts import LONGEST_NAME, Boxes, Percentiles
from gainful.render.chart_text import box_scale
from gainful.render.figure_style import (
    LABEL,
    TICK,
    Box,
    Room,
    fitted,
    font,
    height_of,
    set_ticks,
    short,
    shown,
    width_of,
    wrapped,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gainful.render.figure_style import EndLabel, Look, Looks

#: What a group needs at least, and what its name may ask for; the gap between names; how wide a box gets: in inches.
_LEAST, _ASKED, _GAP, _WIDEST_BOX = 0.4, 0.6, 0.08, 0.55

#: A box's part of its group's room, and a cap's part of its box.
_BOX, _CAP = 0.55, 0.5

#: The most lines of a name, and the fewest letters it has before its words are broken.
_MOST_LINES, _SHORTEST = 2, 14

#: What is free beside the axes and between them and the names, in inches.
_PAD, _BELOW = 0.06, 0.04


def needed_width(chart: Boxes) -> float:
    """How wide a panel has to be, in inches: something for each group, more where names are long."""
    widest = max((width_of(text, TICK) for group in chart.groups for text in _texts(group)), default=0.0)
    return _left(chart, 1) + _PAD + len(chart.groups) * max(_LEAST, min(widest, _ASKED) + _GAP)


def room(chart: Boxes, width: float, labels: Sequence[EndLabel] = ()) -> Room:
    """What boxes need around them and how high they are, in a panel of some width; all in inches."""
    height = min(0.6 * width, 2.6)
    y_lines = max(1, len(fitted(chart.axis.label, LABEL, height, _MOST_LINES)))
    left = _left(chart, y_lines)
    inside = width - left - _PAD
    x_lines = max((len(_name_lines(group, _each(chart, inside))) for group in chart.groups), default=1)
    return Room(left, _PAD, height_of(TICK, x_lines + 1) + _BELOW, height, x_lines, y_lines)


def _left(chart: Boxes, y_lines: int) -> float:
    ticks = max((width_of(shown(text), TICK) for _, text in box_scale(chart).ticks), default=0.0)
    return height_of(LABEL, y_lines) + ticks + 0.1


def _each(chart: Boxes, width: float) -> float:
    return width / max(1, len(chart.groups))


def caption(chart: Boxes, room: Room) -> str:
    """What is to be said below, and what a box is."""
    return chart.full_caption


def draw(figure: Figure, chart: Boxes, box: Box, room: Room, looks: Looks, labels: Sequence[EndLabel] = ()) -> None:
    """The groups into a box, in their order from the left."""
    axes = figure.add_axes(box.of(figure))
    scale = box_scale(chart)
    each = _each(chart, box.width)
    axes.set_yscale("log" if scale.is_log else "linear")
    set_ticks(axes.yaxis, scale)
    axes.set_ylim(scale.low, scale.high)
    axes.set_xlim(-0.5, max(1, len(chart.groups)) - 0.5)
    axes.set_xticks([])
    label = "\n".join(fitted(chart.axis.label, LABEL, box.height, room.y_lines))
    axes.set_ylabel(label, fontproperties=font(LABEL), parse_math=False, linespacing=1.15, labelpad=3)
    half = min(_BOX, _WIDEST_BOX / each) / 2
    for i, group in enumerate(chart.groups):
        if all(map(math.isfinite, group.points)):
            is_inside = scale.low <= group.points[0] and group.points[-1] <= scale.high
            _draw_group(axes, i, group, half, looks.of_system(group.name), is_clipped=not is_inside)
        lines = _name_lines(group, each, room.x_lines)
        # All sizes stand in one row, however many lines names have.
        below = [*lines, *[""] * (room.x_lines - len(lines)), _size(group)]
        write_lines(figure, box.left + (i + 0.5) * each, box.bottom - _BELOW, below, TICK, ha="center")


def _draw_group(axes: Axes, at: int, group: Percentiles, half: float, look: Look, is_clipped: bool) -> None:
    """Whiskers with their caps, the box upon them, and the line in it; what ends where the axis does is not cut."""
    from matplotlib.patches import Rectangle

    first, low, middle, high, last = group.points
    thin: dict[str, Any] = {"color": look.colour, "linewidth": 0.8, "solid_capstyle": "butt", "clip_on": is_clipped}
    for end, side in ((first, low), (last, high)):
        axes.plot([at, at], [side, end], **thin, zorder=2)
        axes.plot([at - half * _CAP, at + half * _CAP], [end, end], **thin, zorder=2)
    face: dict[str, Any] = {"facecolor": (look.colour, 0.25), "edgecolor": look.colour, "linewidth": 0.8}
    axes.add_patch(Rectangle((at - half, low), 2 * half, high - low, **face, clip_on=is_clipped, zorder=3))
    axes.plot([at - half, at + half], [middle, middle], **{**thin, "linewidth": 1.6}, zorder=4)


def _name_lines(group: Percentiles, room: float, most: int = _MOST_LINES) -> list[str]:
    """A name in as few lines as there may be, without its middle where it is too long."""
    tried = [(short(group.name, length), length) for length in range(LONGEST_NAME, 2, -1)]
    fitting = [
        (text, lines, length) for text, length in tried if len(lines := wrapped(text, TICK, room - _GAP)) <= most
    ]
    # Rather a letter less than a break within a word, unless few letters would be left.
    whole = (lines for text, lines, length in fitting if " ".join(lines) == text and length >= _SHORTEST)
    longest = fitting[0][1] if fitting else [short(group.name, 3)]
    return next(whole, longest)


def _size(group: Percentiles) -> str:
    return f"n = {group.size:,}"


def _texts(group: Percentiles) -> tuple[str, str]:
    return short(group.name), _size(group)
