"""Names of lines: at the lines' ends if they fit there, otherwise in one legend below all charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from gainful.render.charts import LONGEST_NAME, Chart, Line, Plot, Points, name_of
from gainful.render.figure_style import GREY, LABEL, Looks, height_of, short, width_of, write
from gainful.render.scales import Scale, scales_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The most names beside a chart, and how far (in inches) one may stand from the end of its line.
_MOST, _FURTHEST = 8, 0.3

#: The sample of a line before its name, and the gaps around it, in inches.
_SAMPLE, _GAP = 0.22, 0.05
_BETWEEN = 0.16

#: From so many entries on a legend has two columns, even if names get shorter; and how short they may get.
_MANY, _SHORTEST = 5, 10


class EndLabel(NamedTuple):
    """A line's name beside its end: where the line ends and where the name stands (0 to 1 of the chart's height)."""

    line: Line
    end: float
    place: float


def end_labels(plot: Plot, height: float) -> list[EndLabel] | None:
    """The names of all lines beside a chart of some height in inches; None if they do not fit."""
    named = [line for line in plot.lines if line.name]
    if len(named) > _MOST:
        return None
    scales = scales_of(plot)
    ends = [_end(line, *scales) for line in named]
    if any(math.isnan(end) for end in ends):
        return None
    places = spread(ends, height_of(LABEL) / height, 0.0, 1.0)
    if places is None or any(abs(a - b) * height > _FURTHEST for a, b in zip(ends, places, strict=True)):
        return None
    return [EndLabel(*each) for each in zip(named, ends, places, strict=True)]


def _end(line: Line, x: Scale, y: Scale) -> float:
    """The height at which a line ends at the right; NaN for one that ends before, or nowhere."""
    for a, b in zip(reversed(line.x), reversed(line.y), strict=True):
        along, across = x.place(a), y.place(b)
        if not math.isnan(along) and not math.isnan(across):
            return min(max(across, 0.0), 1.0) if along > 0.9 else math.nan
    return math.nan


def spread(wanted: Sequence[float], size: float, low: float, high: float) -> list[float] | None:
    """Places at least ``size`` apart, between two ends, as close as can be (by squares) to those wanted; None if full.

    >>> spread([0.5, 0.5, 0.9], 0.2, 0.0, 1.0)
    [0.4, 0.6, 0.9]
    """
    if size * (len(wanted) - 1) > high - low:
        return None
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Without the room that each needs, the places only have to be in order: neighbours that are not share their mean.
    groups: list[tuple[float, int]] = []
    for i, index in enumerate(order):
        total, count = wanted[index] - i * size, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:
            before = groups.pop()
            total, count = total + before[0], count + before[1]
        groups.append((total, count))
    flat = [total / count for total, count in groups for _ in range(count)]
    top = high - size * (len(wanted) - 1)
    places = [0.0] * len(wanted)
    for i, index in enumerate(order):
        places[index] = round(min(max(flat[i], low), top) + i * size, 9)
    return places


def room_for(labels: Iterable[EndLabel]) -> float:
    """How many inches names need beside a chart."""
    widths = [width_of(_text(label.line), LABEL) for label in labels]
    return max(widths) + _SAMPLE + 3 * _GAP if widths else 0.0


def draw_end_labels(
    figure: Figure, labels: Iterable[EndLabel], x: float, bottom: float, height: float, looks: Looks
) -> None:
    """The names beside a chart whose right edge is at ``x`` inches, each with a sample of its line."""
    for line, end, place in labels:
        at = bottom + place * height
        if abs(end - place) * height > 0.03:
            _stroke(figure, (x + 0.01, x + 1.4 * _GAP), (bottom + end * height, at), color=GREY, linewidth=0.35)
        _stroke(figure, (x + 1.5 * _GAP, x + 1.5 * _GAP + _SAMPLE), (at, at), **looks(line).line())
        text_x = x + 2.3 * _GAP + _SAMPLE
        write(figure, text_x, at, _text(line), LABEL, va="center_baseline")


def legend_entries(charts: Iterable[Chart], are_lines_named: bool) -> list[Line | Points]:
    """Everything that a legend has to name, each once: points with an outline by the points."""
    found: dict[str, Line | Points] = {}
    for chart in charts:
        if isinstance(chart, Plot):
            for what in chart.keyed:
                if isinstance(what, Points) or not are_lines_named:
                    found.setdefault(name_of(what), what)
    return list(found.values())


class Legend(NamedTuple):
    """Rows of what a legend names, and how many letters of a name it has room for."""

    rows: list[list[Line | Points]]
    length: int = LONGEST_NAME

    @classmethod
    def of(cls, entries: Sequence[Line | Points], room: float) -> Legend:
        """As few rows as fit into some inches. Of many entries, names are shortened until at least two fit in a row,
        unless they could not be told apart any more."""
        usual = cls(_rows(entries, room, LONGEST_NAME))
        for length in range(LONGEST_NAME, _SHORTEST - 1, -1):
            rows = _rows(entries, room, length)
            if len({_text(entry, length) for entry in entries}) < len({_text(entry) for entry in entries}):
                break
            if len(entries) < _MANY or len(rows) < len(entries):
                return cls(rows, length)
        return usual


def _rows(entries: Sequence[Line | Points], room: float, length: int) -> list[list[Line | Points]]:
    """The entries in as few rows as fit into some inches, of about equal length, in columns."""
    for count in range(1, len(entries)):
        each = math.ceil(len(entries) / count)
        rows = [list(entries[i : i + each]) for i in range(0, len(entries), each)]
        if sum(_column_widths(rows, length)) - _BETWEEN <= room:
            return rows
    return [[entry] for entry in entries]


def _column_widths(rows: Sequence[Sequence[Line | Points]], length: int) -> list[float]:
    return [
        max(_SAMPLE + _GAP + width_of(_text(entry, length), LABEL) for entry in column if entry) + _BETWEEN
        for column in zip_longest(*rows)
    ]


def _text(what: Line | Points, length: int = LONGEST_NAME) -> str:
    return short(name_of(what), length)


def draw_legend(figure: Figure, legend: Legend, x: float, top: float, looks: Looks) -> None:
    """Rows of samples with their names, in columns."""
    widths = _column_widths(legend.rows, legend.length)
    for row in legend.rows:
        at, left = top - height_of(LABEL) / 2, x
        for entry, width in zip(row, widths, strict=False):
            if isinstance(entry, Line):
                _stroke(figure, (left, left + _SAMPLE), (at, at), **looks(entry).line())
            else:
                # Named points are dark: so is their sample, if all are.
                are_named = bool(entry.labels) and all(entry.labels)
                _stroke(figure, (left + _SAMPLE / 2,), (at,), **looks(entry).points(is_named=are_named))
            write(figure, left + _SAMPLE + _GAP, at, _text(entry, legend.length), LABEL, va="center_baseline")
            left += width
        top -= height_of(LABEL)


def _stroke(figure: Figure, x: Sequence[float], y: Sequence[float], **how: object) -> None:
    """A line or a marker at places in inches."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    figure.add_artist(
        Line2D([a / width for a in x], [b / height for b in y], transform=figure.transFigure, **how)  # type: ignore[arg-type]
    )
