"""A plot drawn: bands, lines, points and rules over two named axes, and labels where they find room.

No label covers a point, a line or another label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.pages.charts import Line, Plot, Scale, name_of, scales_of
from gainful.render.figure_style import (
    CAPTION,
    GREY,
    INK,
    LABEL,
    Drawing,
    height_of,
    settle,
    short_names,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

#: More points than this are drawn smaller.
_MANY = 150

#: How far apart, in inches, those stand that lines of a single point have at the same place.
_ASIDE = 0.1

#: The most names beside a chart, and how far (in inches) one may stand from the end of its line.
_MOST_NAMES, _FURTHEST = 8, 0.3

#: The longest label of a point.
_LONGEST_LABEL = 18


class EndLabel(NamedTuple):
    """A line's name beside its end: where the line ends and where the name stands (0 to 1 of the chart's height)."""

    line: Line
    text: str
    end: float
    place: float


class PlotDrawing(Drawing[Plot]):
    """Bands, lines, points and rules over two named axes; it can be drawn at any width."""

    def axis_names(self) -> tuple[str, str]:
        """What both axes show."""
        return self.chart.x.label, self.chart.y.label

    def height(self, panel: float, width: float) -> float:
        """Square plots are as high as they are wide."""
        return width if self.chart.is_square else super().height(panel, width)

    def draw(self) -> None:
        """Everything but labels."""
        self.x, self.y = scales_of(self.chart)
        settle(self.axes, "x", self.x)
        settle(self.axes, "y", self.y)
        for rule in self.chart.rules:
            # One without a label is one of many, such as the boundaries of queries.
            how: dict[str, Any] = {"linestyle": (0, (4, 2)), "zorder": 1.5, "alpha": None if rule.label else 0.4}
            if rule.x is not None:
                self.axes.axvline(rule.x, color=GREY, linewidth=0.5, **how)
            if rule.y is not None:
                self.axes.axhline(rule.y, color=GREY, linewidth=0.5, **how)
        lines = self.chart.drawn_lines
        # Bands upon each other would hide everything.
        pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in lines)))
        for line, aside in zip(lines, self._asides(), strict=True):
            self._draw_line(line, pale, aside)
        size = 2.4 if sum(len(points.x) for points in self.chart.points) > _MANY else 3.6
        for points in self.chart.points:
            look, clip = self.looks(points), not self._holds(points.x, points.y)
            self.axes.plot(points.x, points.y, clip_on=clip, **look.points(size))
            for x, y, text in zip(points.x, points.y, points.labels, strict=False):
                if text:
                    self.axes.plot(x, y, clip_on=clip, gid=f"label {shown(text)}", **look.points(size, is_named=True))

    def _draw_line(self, line: Line, pale: float, where: dict[str, Any]) -> None:
        look, band = self.looks(line), line.band
        how: dict[str, Any] = {"clip_on": not self._holds(line.x, line.y), **where}
        if band is not None and len(band.x) == 1:  # no area: a bar
            self.axes.vlines(band.x, band.low, band.high, color=look.colour, linewidth=0.8, zorder=look.order, **how)
        elif band is not None:
            self.axes.fill_between(band.x, band.low, band.high, color=look.colour, alpha=pale, linewidth=0, zorder=1)
        how |= {"solid_joinstyle": "round", "dash_joinstyle": "round", **look.line()}
        if line.name in self.chart.shared:  # it only goes around points, or through them: it is below them
            how |= {"linewidth": 0.7, "zorder": 2.5}
        # A point between two gaps is no line: it needs a mark to be seen.
        finite = [False, *(math.isfinite(x) and math.isfinite(y) for x, y in zip(line.x, line.y, strict=True)), False]
        alone = [i - 1 for i in range(1, len(finite) - 1) if finite[i] and not finite[i - 1] and not finite[i + 1]]
        if alone:
            how |= {"marker": "o", "markersize": 2.4, "markevery": alone}
        self.axes.plot(line.x, [y if math.isfinite(y) else math.nan for y in line.y], **how)

    def _asides(self) -> list[dict[str, Any]]:
        """Lines of a single point stand beside each other, because they would cover each other at one place."""
        from matplotlib.transforms import ScaledTranslation

        lines = self.chart.lines
        if len(lines) < 2 or any(len(line.x) != 1 or line.x != lines[0].x for line in lines):
            return [{}] * len(lines)
        inches = [_ASIDE * (i - (len(lines) - 1) / 2) for i in range(len(lines))]
        return [
            {"transform": self.axes.transData + ScaledTranslation(inch, 0, self.figure.dpi_scale_trans)}
            for inch in inches
        ]

    def _holds(self, x: Iterable[float], y: Iterable[float]) -> bool:
        """Whether no value is beyond the axes: what lies on their ends is then drawn in full, not cut in half."""
        return all(
            scale.low <= value <= scale.high
            for scale, values in ((self.x, x), (self.y, y))
            for value in values
            if math.isfinite(value)
        )

    def name_lines(self, labels: Sequence[EndLabel]) -> None:
        """Put the names of lines beside the chart, each with a sample of its line."""
        for line, text, end, place in labels:
            at = self.inches_from(1, place)
            if abs(end - place) > 0.02:
                thin = {"arrowstyle": "-", "color": GREY, "linewidth": 0.35, "shrinkA": 0, "shrinkB": 0}
                self.axes.annotate("", (1, end), (0.07, 0), xycoords="axes fraction", textcoords=at, arrowprops=thin)
            self.axes.plot([0.08, 0.3], [0, 0], transform=at, clip_on=False, **self.looks(line).line())
            self.axes.text(0.35, 0, text, transform=at, va="center_baseline", fontsize=LABEL)

    def finish(self) -> None:
        """Label rules and points, where there is room."""
        labels = [(shown(rule.label), list(_along_rule(rule.x, rule.y))) for rule in self.chart.rules if rule.label]
        named = [
            (x, y, text)
            for points in self.chart.points
            for x, y, text in zip(points.x, points.y, points.labels, strict=False)
            if text
        ]
        names = short_names((text for _, _, text in named), _LONGEST_LABEL)
        if not labels and not named:
            return
        ground = _Ground(self)
        for text, places in labels:
            if not ground.label(text, places, GREY):
                # Where no place is free, what is below gives way: a text across lines cannot be read.
                backing = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
                places[0].write(self.axes, text, GREY, bbox=backing)
        for (x, y, _), name in zip(named, names, strict=True):
            ground.label(name, _around_point(x, y), INK)


class _Place(NamedTuple):
    """A place for a label: the point that it is beside, in which coordinates, the offset in points from it, and how the
    text is aligned with it."""

    xy: tuple[float, float]
    coordinates: tuple[str, str]
    offset: tuple[float, float]
    ha: str
    va: str
    rotation: float = 0.0

    def write(self, axes: Axes, text: str, colour: str, **how: Any) -> Annotation:
        """Write a text here."""
        how |= {"ha": self.ha, "va": self.va, "rotation": self.rotation, "color": colour, "fontsize": CAPTION}
        return axes.annotate(
            text, self.xy, self.offset, xycoords=self.coordinates, textcoords="offset points", zorder=7, **how
        )


def _along_rule(x: float | None, y: float | None) -> Iterator[_Place]:
    """Places for a rule's label, best first: along it, on both sides; beside an upright one also level."""
    parts = (1.0, 0.75, 0.25, 0.0, 0.6, 0.4, *(i / 20 for i in range(19, 0, -1)))
    for turned, side, part in product((90.0, 0.0), (1, -1), parts):
        if x is not None:
            ha, va = "left" if side > 0 else "right", "top" if part > 0.5 else "bottom"
            yield _Place((x, part), ("data", "axes fraction"), (2 * side, 0), ha, va, turned)
        elif y is not None and not turned:
            ha, va = "right" if part > 0.5 else "left", "bottom" if side > 0 else "top"
            yield _Place((part, y), ("axes fraction", "data"), (0, side), ha, va)


def _around_point(x: float, y: float) -> Iterator[_Place]:
    """Places for a point's label, best first."""
    for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
        ha, va = ("center", "left", "right")[right], ("center", "bottom", "top")[up]
        yield _Place((x, y), ("data", "data"), (3 * right, 3 * up), ha, va)


class _Ground:
    """The axes of a plot, and what is taken of them."""

    def __init__(self, drawing: PlotDrawing) -> None:
        self._axes = drawing.axes
        paths = [(line, line.get_path().transformed(line.get_transform())) for line in drawing.axes.get_lines()]
        self._paths = [path for line, path in paths if line.get_linestyle() != "None"]
        self._points = [path.vertices for line, path in paths if line.get_linestyle() == "None" or len(path) == 1]
        self._taken: list[Any] = []

    def label(self, text: str, places: Iterable[_Place], colour: str) -> bool:
        """Write a text at the first place that is free; False if none is."""
        for place in places:
            found = place.write(self._axes, text, colour)
            if self._is_free(found):
                return True
            found.remove()
        return False

    def _is_free(self, text: Annotation) -> bool:
        box, inside = text.get_window_extent(), self._axes.bbox
        is_inside = (
            box.x0 >= inside.x0 - 1 and box.x1 <= inside.x1 + 1 and box.y0 >= inside.y0 - 1 and box.y1 <= inside.y1 + 1
        )
        near = box.padded(3)
        if not is_inside or near.count_overlaps(self._taken):
            return False
        if any(near.count_contains(points) for points in self._points):
            return False
        if any(path.intersects_bbox(box, filled=False) for path in self._paths):
            return False
        self._taken.append(near)
        return True


def end_labels(plot: Plot, height: float) -> list[EndLabel] | None:
    """The names of all lines beside a chart of some height in inches; None if they do not fit."""
    named = [line for line in plot.lines if line.name]
    if len(named) > _MOST_NAMES or plot.points:
        return None
    scales = scales_of(plot)
    ends = [_end(line, *scales) for line in named]
    if any(math.isnan(end) for end in ends):
        return None
    places = spread(ends, height_of(LABEL) / height, 0.0, 1.0)
    if places is None or any(abs(a - b) * height > _FURTHEST for a, b in zip(ends, places, strict=True)):
        return None
    return [EndLabel(*each) for each in zip(named, short_names(map(name_of, named)), ends, places, strict=True)]


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
