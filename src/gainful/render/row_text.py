"""Intervals, boxes and critical-difference diagrams as text: one line a system or group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from gainful.render.charts import Boxes, CriticalDiagram, IntervalRow, Intervals, Percentiles, shortened
from gainful.render.scales import Scale
from gainful.render.shown import plain

_WIDTH, _WIDEST = 56, 100


def row_lines(chart: Intervals | CriticalDiagram | Boxes) -> Iterator[str]:
    """A chart that has a line for each of its names."""
    if isinstance(chart, Intervals):
        return interval_lines(chart)
    return box_lines(chart) if isinstance(chart, Boxes) else critical_lines(chart)


def interval_lines(chart: Intervals) -> Iterator[str]:
    """A line a row: ``|--o--|``, or an arrow where an end is out of sight; the axis is below."""
    yield from _wrapped(chart.title)
    scale = interval_scale(chart, most=6)
    names = [shortened(plain(row.name)) for row in chart.rows]
    margin = max(map(len, names), default=0)
    if chart.side:
        yield " " * (margin + _WIDTH + 3) + plain(chart.side)
    rules = {_place(scale, rule.x) for rule in chart.rules if rule.x is not None}
    for name, row in zip(names, chart.rows, strict=True):
        signs = [":" if i in rules else " " for i in range(_WIDTH)]
        _put(signs, row, scale)
        yield f"{name.ljust(margin)} {''.join(signs)}  {plain(row.text)}"
    yield from _axis_lines(scale, chart.axis.label, margin)
    yield from (plain(rule.label) and f": {plain(rule.label)}" for rule in chart.rules)
    yield from _wrapped(chart.caption)


def interval_scale(chart: Intervals, most: int) -> Scale:
    """The axis over everything that has an end."""
    values = [value for row in chart.rows for value in (row.value, row.low, row.high)]
    values += [rule.x for rule in chart.rules if rule.x is not None]
    return Scale.of(chart.axis, values, 0.03, most)


def box_lines(chart: Boxes) -> Iterator[str]:
    """A line a group: ``|--[==|===]---|``, or an arrow where an end is out of sight; the axis is below."""
    yield from _wrapped(chart.title)
    scale = box_scale(chart)
    names = [shortened(plain(group.name)) for group in chart.groups]
    margin = max(map(len, names), default=0)
    for name, group in zip(names, chart.groups, strict=True):
        yield f"{name.ljust(margin)} {''.join(_box(group, scale))}  n = {group.size:,}"
    yield from _axis_lines(scale, chart.axis.label, margin)
    yield from _wrapped(chart.full_caption)


def box_scale(chart: Boxes, most: int = 6) -> Scale:
    """The axis over all whiskers."""
    return Scale.of(chart.axis, [value for group in chart.groups for value in group.points], 0.05, most)


def critical_lines(chart: CriticalDiagram) -> Iterator[str]:
    """The best first, a column for each bar over systems that are not told apart."""
    yield from _wrapped(chart.title)
    names = [shortened(plain(name)) for name in chart.names]
    margin = max(map(len, names), default=0)
    for i, (name, value) in enumerate(zip(names, chart.values, strict=True)):
        bars = " ".join("|" if first <= i <= last else " " for first, last in chart.bars)
        yield f"{name.ljust(margin)}  {value:.4f}  {bars}"
    yield from _wrapped(chart.caption)


def _axis_lines(scale: Scale, label: str, margin: int) -> Iterator[str]:
    """The axis below the rows, its ticks' numbers, and what it shows."""
    axis, below = ["-"] * _WIDTH, [" "] * (_WIDTH + margin + 8)
    for value, text in scale.ticks:
        place = _place(scale, value)
        axis[place] = "+"
        start = margin + 1 + place - len(text) // 2
        below[start : start + len(text)] = text
    yield " " * (margin + 1) + "".join(axis)
    yield "".join(below)
    yield " " * (margin + 1) + plain(label).center(_WIDTH)


def _put(signs: list[str], row: IntervalRow, scale: Scale) -> None:
    low, high = (_place(scale, min(max(end, scale.low), scale.high)) for end in (row.low, row.high))
    signs[low : high + 1] = "-" * (high + 1 - low)
    signs[low] = "|" if math.isfinite(row.low) else "<"
    signs[high] = "|" if math.isfinite(row.high) else ">"
    signs[_place(scale, row.value)] = "o"


def _box(group: Percentiles, scale: Scale) -> list[str]:
    """A group's line; a group without values has none."""
    signs = [" "] * _WIDTH
    if not all(map(math.isfinite, group.points)):
        return signs
    places = [_place(scale, min(max(value, scale.low), scale.high)) for value in group.points]
    first, low, _, high, last = places
    signs[first : last + 1] = "-" * (last + 1 - first)
    signs[low : high + 1] = "=" * (high + 1 - low)
    # The line in the box comes last: where all are at one place, it alone is seen.
    for sign, i in (("|", 0), ("|", 4), ("[", 1), ("]", 3), ("|", 2)):
        if scale.low <= group.points[i] <= scale.high:
            signs[places[i]] = sign
    if group.points[0] < scale.low:
        signs[0] = "<"
    if group.points[4] > scale.high:
        signs[-1] = ">"
    return signs


def _place(scale: Scale, value: float) -> int:
    return min(max(round(scale.place(value) * (_WIDTH - 1)), 0), _WIDTH - 1)


def _wrapped(text: str) -> list[str]:
    return wrap(plain(text), _WIDEST, break_long_words=False, break_on_hyphens=False)
