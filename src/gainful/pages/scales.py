"""Axes of charts: from where to where they go, where their ticks are, and where on them a value stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gainful.notation import number_text
from gainful.pages.charts import (
    Axis,
    Boxes,
    Intervals,
    Plot,
)

_STEPS = (1, 2, 5)
_ROUNDING = 1e-9

Ticks = tuple[tuple[float, str], ...]


class Scale(NamedTuple):
    """An axis with everything settled."""

    low: float
    high: float
    is_log: bool
    ticks: Ticks

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float], margin: float = 0.0, most: int = 6) -> Scale:
        """The axis for some values: ends that are not given lie where the values end, or by a margin beyond."""
        usable = [value for value in values if math.isfinite(value) and (value > 0 or not axis.is_log)]
        ends = _ends(axis, usable, margin)
        if axis.ticks:
            ticks = tuple(tick for tick in axis.ticks if ends[0] <= tick[0] <= ends[1])
        else:
            ticks = (log_ticks if axis.is_log else nice_ticks)(*ends, most, axis.is_whole)
        return cls(*ends, axis.is_log, ticks)

    def place(self, value: float) -> float:
        """Where a value stands: 0 at the lower end, 1 at the upper one; NaN for what a logarithm does not have.

        >>> Scale(1, 100, True, ()).place(10), Scale(0, 4, False, ()).place(1)
        (0.5, 0.25)
        """
        if not math.isfinite(value) or (self.is_log and value <= 0):
            return math.nan
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """The inverse of :meth:`place`."""
        if self.is_log:
            return float(self.low * (self.high / self.low) ** place)
        return self.low + place * (self.high - self.low)


def scales_of(plot: Plot, most_x: int = 6, most_y: int = 6) -> tuple[Scale, Scale]:
    """Both axes of a plot. Lines reach the ends of the horizontal axis; points and their outlines keep a distance."""
    is_free = bool(plot.points) and all(line.name in plot.shared for line in plot.lines)
    x = Scale.of(plot.x, _along(plot), 0.04 if is_free else 0.0, most_x)
    return x, Scale.of(plot.y, _across(plot), 0.05, most_y)


def _along(plot: Plot) -> Iterator[float]:
    for what in plot.named:
        yield from what.x
    for line in plot.lines:
        yield from line.band.x if line.band else ()
    yield from (rule.x for rule in plot.rules if rule.x is not None)


def _across(plot: Plot) -> Iterator[float]:
    for what in plot.named:
        yield from what.y
    for line in plot.lines:
        if line.band:
            yield from line.band.low
            yield from line.band.high
    yield from (rule.y for rule in plot.rules if rule.y is not None)


def _ends(axis: Axis, values: list[float], margin: float) -> tuple[float, float]:
    empty = (1.0, 10.0) if axis.is_log else (0.0, 1.0)
    low, high = (min(values), max(values)) if values else empty
    if axis.is_log:
        beyond = (high / low) ** margin
        low, high = low / beyond, high * beyond
    else:
        # What is never negative is not shown as if it were.
        beyond = margin * (high - low)
        low, high = (0.0 if 0 <= low <= 2 * beyond else low - beyond), high + beyond
    low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
    if axis.is_log and low <= 0:
        low = min(empty[0], high / 10)
    if high > low:
        return low, high
    return (low / 2, low * 2) if axis.is_log else (low - 0.5, low + 0.5)


def nice_ticks(low: float, high: float, most: int = 6, is_whole: bool = False) -> Ticks:
    """At most so many round numbers between two, equally far apart; 1 begins what begins at 1, as ranks do.

    >>> [text for _, text in nice_ticks(0, 1)], [text for _, text in nice_ticks(1, 100)]
    (['0.0', '0.2', '0.4', '0.6', '0.8', '1.0'], ['1', '20', '40', '60', '80', '100'])
    >>> [text for _, text in nice_ticks(1, 3, is_whole=True)]
    ['1', '2', '3']
    """
    exponent = math.floor(math.log10((high - low) / most)) if high - low > 0 else 0
    if is_whole:
        exponent = max(0, exponent)
    for power in range(exponent, exponent + 3):
        for digit in _STEPS:
            step = digit * 10.0**power
            first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
            if last - first < most:
                places = max(0, -power)
                numbers = [round(i * step, places) + 0.0 for i in range(first, last + 1)]
                ticks = [(number, _text(number, places)) for number in numbers]
                begins = [(1.0, "1")] if low == 1 and step > 2 else []
                return tuple(begins + ticks)
    return ()


def log_ticks(low: float, high: float, most: int = 6, is_whole: bool = False) -> Ticks:
    """Powers of ten between two numbers, with 2 and 5 times these if there is room; round numbers between close ones.

    >>> [text for _, text in log_ticks(1, 1000)], [text for _, text in log_ticks(1, 30)]
    (['1', '10', '100', '1000'], ['1', '2', '5', '10', '20'])
    """
    first, last = math.floor(math.log10(low) + _ROUNDING), math.floor(math.log10(high) + _ROUNDING)
    for steps in (_STEPS, (1, 3), (1,)):
        numbers = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [number for number in numbers if low * (1 - _ROUNDING) <= number <= high * (1 + _ROUNDING)]
        if is_whole:
            inside = [number for number in inside if number >= 1]
        if len(inside) <= most:
            break
    if len(inside) < 2:
        return nice_ticks(low, high, most, is_whole)
    every = math.ceil(len(inside) / most)
    return tuple((number, f"{number:g}" if number < 1e6 else f"{number:.0e}") for number in inside[::every])


def _text(number: float, places: int) -> str:
    if abs(number) >= 1e7 or places > 7:
        return f"{number:g}"
    return f"{number:.{places}f}" if places else number_text(number)


def interval_scale(chart: Intervals, most: int) -> Scale:
    """The axis over everything that has an end."""
    values = [value for row in chart.rows for value in (row.value, row.low, row.high)]
    values += [rule.x for rule in chart.rules if rule.x is not None]
    return Scale.of(chart.axis, values, 0.03, most)


def box_scale(chart: Boxes, most: int = 6) -> Scale:
    """The axis over all whiskers."""
    return Scale.of(chart.axis, [value for group in chart.groups for value in group.points], 0.05, most)
