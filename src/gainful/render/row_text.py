"""Intervals and critical-difference diagrams as text: one line a system."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from gainful.render.charts import CriticalDiagram, IntervalRow, Intervals, shortened
from gainful.render.scales import Scale
from gainful.render.shown import plain

_WIDTH, _WIDEST = 56, 100


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
    axis, below = ["-"] * _WIDTH, [" "] * (_WIDTH + margin + 8)
    for value, text in scale.ticks:
        place = _place(scale, value)
        axis[place] = "+"
        start = margin + 1 + place - len(text) // 2
        below[start : start + len(text)] = text
    yield " " * (margin + 1) + "".join(axis)
    yield "".join(below)
    yield " " * (margin + 1) + plain(chart.axis.label).center(_WIDTH)
    yield from (plain(rule.label) and f": {plain(rule.label)}" for rule in chart.rules)
    yield from _wrapped(chart.caption)


def interval_scale(chart: Intervals, most: int) -> Scale:
    """The axis over everything that has an end."""
    values = [value for row in chart.rows for value in (row.value, row.low, row.high)]
    values += [rule.x for rule in chart.rules if rule.x is not None]
    return Scale.of(chart.axis, values, 0.03, most)


def critical_lines(chart: CriticalDiagram) -> Iterator[str]:
    """The best first, a column for each bar over systems that are not told apart."""
    yield from _wrapped(chart.title)
    names = [shortened(plain(name)) for name in chart.names]
    margin = max(map(len, names), default=0)
    for i, (name, value) in enumerate(zip(names, chart.values, strict=True)):
        bars = " ".join("|" if first <= i <= last else " " for first, last in chart.bars)
        yield f"{name.ljust(margin)}  {value:.4f}  {bars}"
    yield from _wrapped(chart.caption)


def _put(signs: list[str], row: IntervalRow, scale: Scale) -> None:
    low, high = (_place(scale, min(max(end, scale.low), scale.high)) for end in (row.low, row.high))
    signs[low : high + 1] = "-" * (high + 1 - low)
    signs[low] = "|" if math.isfinite(row.low) else "<"
    signs[high] = "|" if math.isfinite(row.high) else ">"
    signs[_place(scale, row.value)] = "o"


def _place(scale: Scale, value: float) -> int:
    return min(max(round(scale.place(value) * (_WIDTH - 1)), 0), _WIDTH - 1)


def _wrapped(text: str) -> list[str]:
    return wrap(plain(text), _WIDEST, break_long_words=False, break_on_hyphens=False)
