"""Plots and intervals as plain text, reproducible for the same data. Other charts appear as tables or figures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from textwrap import wrap

import numpy as np

from gainful.pages import charts
from gainful.render.cells import plain

#: Limits in characters: plot width and height; rows of other charts, lines, names; the rest of a row with long names.
WIDTH, HEIGHT = 72, 16
_WIDTH, _WIDEST, _LONGEST_NAME, _NARROWEST = 56, 100, 40, 16


def _interval_lines(chart: charts.Intervals, width: int) -> Iterator[str]:
    """Yield one line per row, ``|--o--|`` or arrows for ends out of sight, with the axis below."""
    yield from _wrapped(chart.title, width)
    # Names take at most a third of the line.
    names = _short_names((row.name for row in chart.rows), min(charts.LONGEST_NAME, width * 3 // 10))
    margin = max(map(len, names), default=0)
    beside = max(len(plain(text)) for text in (chart.side, *(row.text for row in chart.rows)))
    room = max(_NARROWEST, min(_WIDTH, width - margin - 3 - beside))
    scale = chart.scale(6)

    def at(value: float) -> int:
        return round(scale.place(min(max(value, scale.low), scale.high)) * (room - 1))

    if chart.side:
        yield " " * (margin + room + 3) + plain(chart.side)
    rules = {at(rule.x) for rule in chart.rules if rule.x is not None}
    for name, row in zip(names, chart.rows, strict=True):
        signs = [":" if i in rules else " " for i in range(room)]
        low, high = at(row.low), at(row.high)
        signs[low : high + 1] = "-" * (high + 1 - low)
        signs[low] = "|" if math.isfinite(row.low) else "<"
        signs[high] = "|" if math.isfinite(row.high) else ">"
        signs[at(row.value)] = "o"
        yield f"{name.ljust(margin)} {''.join(signs)}  {plain(row.text)}"
    axis, below = ["-"] * room, [" "] * (room + margin + 8)
    for value, text in scale.ticks:
        axis[at(value)] = "+"
        start = min(margin + 1 + at(value) - len(text) // 2, width - len(text))
        below[start : start + len(text)] = text
    yield " " * (margin + 1) + "".join(axis)
    yield "".join(below)
    yield " " * (margin + 1) + plain(chart.axis.label).center(room)
    yield from (plain(rule.label) and f": {plain(rule.label)}" for rule in chart.rules)
    yield from _wrapped(chart.caption, width)


def _short_names(names: Iterable[str], length: int = charts.LONGEST_NAME) -> list[str]:
    shown = [plain(name) for name in names]
    return [charts.shortened(name, length, among=shown) for name in shown]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(plain(text), width, break_long_words=False, break_on_hyphens=False)


#: Systems are letters, from A; the ideal, guides and groups of points have signs of their own.
_IDEAL, _GUIDE = "*", "."
_LETTERS = ascii_uppercase + ascii_lowercase
_POINTS = "o^v#x+%@"


def chart_lines(chart: charts.Chart, numbers: Mapping[str, int] | None = None, width: int = _WIDEST) -> list[str]:
    """Return a plot or intervals as text lines (none for other charts); ``numbers`` are those of the page's systems."""
    if isinstance(chart, charts.Plot):
        lines = _plot_lines(chart, charts.system_numbers([chart]) if numbers is None else numbers, width)
    elif isinstance(chart, charts.Intervals):
        lines = _interval_lines(chart, width)
    else:
        return []
    return [line.rstrip() for line in lines]


def _plot_lines(plot: charts.Plot, numbers: Mapping[str, int], room: int) -> Iterator[str]:
    x, y = charts.scales_of(plot, most_x=8, most_y=6)
    width = min(WIDTH - 16 if plot.is_square else WIDTH, room - 2 - max((len(text) for _, text in y.ticks), default=0))
    height = width // 2 if plot.is_square else HEIGHT
    # The signs by column and row, from the lower left: rules are below everything else; points hide lines.
    ground: dict[tuple[int, int], str] = {}
    lines: dict[tuple[int, int], list[str]] = defaultdict(list)
    points: dict[tuple[int | None, int | None], list[str]] = defaultdict(list)
    for rule in plot.rules:
        column, row = _cell(x, rule.x, width), _cell(y, rule.y, height)
        if column is not None:
            ground |= {(column, i): ":" for i in range(height)}
        if row is not None:
            ground |= {(i, row): "-" for i in range(0, width, 2)}
    for line in plot.lines_alone:
        places = [(x.place(a) * (width - 1), y.place(b) * (height - 1)) for a, b in zip(line.x, line.y, strict=True)]
        for place in _traced(places, width):
            lines[place].append(_sign(line, numbers))
    for group in plot.points:
        for along, across in zip(group.x, group.y, strict=True):
            points[_cell(x, along, width), _cell(y, across, height)].append(_sign(group, numbers))
    texts = {_cell(y, value, height): text for value, text in y.ticks}
    margin = max((len(text) for text in texts.values()), default=0)
    yield from _wrapped(plot.title, room)
    yield from _wrapped(plot.y.label, room) or [""]
    for row in reversed(range(height)):
        signs = ""
        for column in range(width):
            # Lines that share cells alternate their signs.
            here = list(dict.fromkeys(points[column, row] or lines[column, row]))
            signs += here[column % len(here)] if here else ground.get((column, row), " ")
        yield f"{texts.get(row, ''):>{margin}} {'+' if row in texts else '|'}{signs}"
    at = [(_cell(x, value, width) or 0, text) for value, text in x.ticks]
    ticks = {place for place, _ in at}
    yield " " * margin + " +" + "".join("+" if i in ticks else "-" for i in range(width))
    # Tick labels that do not fit are left out.
    below = ""
    for middle, text in at:
        start = min(max(0, middle - (len(text) - 1) // 2), room - margin - 2 - len(text))
        if start > len(below) or not below:
            below = below.ljust(start) + text
    yield " " * (margin + 2) + below
    yield from (" " * (margin + 2) + line.center(width) for line in _wrapped(plot.x.label, width) or [""])
    yield from _key(plot, numbers, room)
    yield from _wrapped(plot.caption, room)


def _sign(what: charts.Line | charts.Points, numbers: Mapping[str, int]) -> str:
    number = numbers.get(charts.hue_of(what), 0)
    if what.role == "guide":
        return _GUIDE
    if isinstance(what, charts.Points):
        return _POINTS[number % len(_POINTS)]
    return _IDEAL if what.role == "ideal" else _LETTERS[number % len(_LETTERS)]


def _cell(scale: charts.Scale, value: float | None, cells: int) -> int | None:
    """Return the index of a value's cell; None if it is out of sight."""
    place = math.nan if value is None else scale.place(value)
    if math.isnan(place) or not -1e-9 <= place <= 1 + 1e-9:
        return None
    return min(max(round(place * (cells - 1)), 0), cells - 1)


def _traced(places: Sequence[tuple[float, float]], width: int) -> Iterator[tuple[int, int]]:
    """Yield the cells of a line, column by column, with the vertical cells of steep parts."""
    for is_there, stretch in groupby(places, lambda place: math.isfinite(place[0]) and math.isfinite(place[1])):
        if not is_there:
            continue
        along, across = zip(*stretch, strict=True)
        columns = range(max(0, round(along[0])), min(width - 1, round(along[-1])) + 1)
        before: tuple[int, int] | None = None
        for column, height in zip(columns, np.interp(columns, along, across).tolist(), strict=True):
            row = round(height)
            if before is not None and abs(row - before[1]) > 1:
                middle = (row + before[1]) / 2
                for between in range(min(row, before[1]) + 1, max(row, before[1])):
                    yield (before[0] if (between < middle) == (before[1] < row) else column), between
            yield column, row
            before = column, row


def _key(plot: charts.Plot, numbers: Mapping[str, int], room: int) -> Iterator[str]:
    """Yield the legend, with as many entries per line as fit."""
    names = _short_names(map(charts.name_of, plot.keyed), _LONGEST_NAME)
    entries = [(_sign(what, numbers), name) for what, name in zip(plot.keyed, names, strict=True)]
    rules = [
        (":" if rule.y is None else "-", charts.shortened(plain(rule.label), _LONGEST_NAME))
        for rule in plot.rules
        if rule.label
    ]
    texts = [f"{sign} {name}" for sign, name in dict.fromkeys([*entries, *rules])]
    if not texts:
        return
    wide = max(map(len, texts)) + 3
    each = max(1, (room + 3) // wide)
    for i in range(0, len(texts), each):
        yield "".join(text.ljust(wide) for text in texts[i : i + each])
