"""Intervals drawn: a point and a line for every name, below each other, with a text beside each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gainful.pages.charts import Intervals
from gainful.render.chart_text import interval_scale
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GREY,
    LABEL,
    PALE,
    TICK,
    Box,
    Room,
    font,
    height_of,
    short,
    shown,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.render.figure_style import EndLabel, Looks

_EACH = 0.165


def needed_width(chart: Intervals) -> float:
    """How wide a panel has to be, in inches: names, texts, and something between them."""
    around = room(chart, 10.0)
    return around.left + around.right + 1.2


def room(chart: Intervals, width: float, labels: Sequence[EndLabel] = ()) -> Room:
    """What the rows need around them and how high they are; all in inches."""
    left = max((width_of(short(row.name), TICK) for row in chart.rows), default=0.0) + 0.08
    texts = [width_of(shown(row.text), TICK) for row in chart.rows] + [width_of(shown(chart.side), CAPTION)]
    right = max(texts) + 0.12 if any(texts) else 0.06
    bottom = height_of(TICK) + height_of(LABEL) + 0.05
    above = height_of(CAPTION) if chart.side or chart.rules else 0.0
    return Room(left, right, bottom, _EACH * max(1, len(chart.rows)) + above)


def caption(chart: Intervals, room: Room) -> str:
    """What is to be said below."""
    return chart.caption


def draw(figure: Figure, chart: Intervals, box: Box, room: Room, looks: Looks, labels: Sequence[EndLabel] = ()) -> None:
    """The rows into a box, the first one at the top."""
    axes = figure.add_axes(box.of(figure))
    scale = interval_scale(chart, 5)
    count = max(1, len(chart.rows))
    head = height_of(CAPTION) / _EACH if chart.side or chart.rules else 0.0
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(count - 0.5, -0.5 - head)
    how: dict[str, Any] = {"fontproperties": font(TICK), "parse_math": False}
    axes.set_xticks([value for value, _ in scale.ticks], labels=[shown(text) for _, text in scale.ticks], **how)
    axes.set_yticks(range(len(chart.rows)), labels=[short(row.name) for row in chart.rows], **how)
    axes.tick_params(axis="y", length=0, pad=3)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(shown(chart.axis.label), fontproperties=font(LABEL), parse_math=False, labelpad=2)
    small: dict[str, Any] = {"fontproperties": font(CAPTION), "parse_math": False, "va": "center"}
    for rule in chart.rules:
        if rule.x is not None:
            ends = [count - 0.5, -0.5]
            axes.plot([rule.x, rule.x], ends, color=GREY, linewidth=0.5, linestyle=(0, (4, 2)), zorder=1.5)
            axes.text(rule.x, -0.5 - head / 2, shown(rule.label), color=GREY, ha="center", **small)
    beside = axes.get_yaxis_transform()
    for i, row in enumerate(chart.rows):
        if i % 2:
            axes.axhspan(i - 0.5, i + 0.5, color=PALE, alpha=0.25, linewidth=0, zorder=0.5)
        low, high = max(row.low, scale.low), min(row.high, scale.high)
        axes.plot([low, high], [i, i], color=COLOURS[0], linewidth=1.2, solid_capstyle="butt", zorder=2)
        for end in (row.low, row.high):
            if math.isfinite(end):
                axes.plot([end, end], [i - 0.2, i + 0.2], color=COLOURS[0], linewidth=0.8, clip_on=False, zorder=2)
        axes.plot(
            [row.value],
            [i],
            "o",
            markersize=3.6,
            color=COLOURS[0],
            markeredgecolor="white",
            markeredgewidth=0.4,
            zorder=3,
        )
        axes.text(1.0, i, "  " + shown(row.text), transform=beside, ha="left", va="center_baseline", **how)
    if chart.side:
        axes.text(1.0, -0.5 - head / 2, "  " + shown(chart.side), transform=beside, color=GREY, ha="left", **small)
