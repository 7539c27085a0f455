"""A plot drawn: bands, lines, points and rules over two named axes, and labels where they find room.

No label covers a point, a line or another label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.pages.charts import Line, Plot, Points, Rule, Scale, scales_of
from gainful.render.figure_style import (
    CAPTION,
    GREY,
    LABEL,
    TICK,
    Box,
    Drawing,
    Looks,
    Room,
    draw_end_labels,
    fitted,
    height_of,
    room_for,
    set_ticks,
    short,
    shown,
    ticks_width,
    typed,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Where a point's label may stand, best first: the direction from the point; and how far away, in inches.
_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_AWAY = 0.045
_LONGEST = 18

#: How far apart, in inches, labels stand that are side by side.
_APART = 0.05

#: Where along a rule its label may stand, best first.
_ALONG = (1.0, 0.75, 0.25, 0.0, 0.6, 0.4, *(i / 20 for i in range(19, 0, -1)))


class Area(NamedTuple):
    """A rectangle, in inches from the lower left of the axes."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Area) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.top <= other.bottom or other.top <= self.bottom)


class Label(NamedTuple):
    """A text that has found its place in the axes: the middle of it, in parts of their size."""

    text: str
    x: float
    y: float
    is_upright: bool = False
    is_free: bool = True


class Ground(NamedTuple):
    """A plot's axes, and what is taken of them."""

    width: float
    height: float
    x: Scale
    y: Scale
    taken: list[Area]

    @classmethod
    def of(cls, plot: Plot, box: Box, x: Scale, y: Scale) -> Ground:
        ground = cls(box.width, box.height, x, y, [])
        has_labels = any(rule.label for rule in plot.rules) or any(any(points.labels) for points in plot.points)
        for along, across in _covered(plot) if has_labels else ():
            a, b = ground.place(along, across)
            if not math.isnan(a) and not math.isnan(b):
                ground.taken.append(Area(a - 0.02, b - 0.02, a + 0.02, b + 0.02))
        ground.taken.extend(_rules(plot, ground))
        return ground

    def place(self, along: float, across: float) -> tuple[float, float]:
        """Where values stand, in inches."""
        return self.x.place(along) * self.width, self.y.place(across) * self.height

    def label(self, text: str, areas: Iterable[Area], is_upright: bool = False) -> Label | None:
        """A text in the first area that is inside and free, which is taken from now on; None if there is none."""
        for area in areas:
            if self.holds(area) and not self.met_by(area):
                self.taken.append(area._replace(left=area.left - _APART, right=area.right + _APART))
                return self.labelled(text, area, is_upright)
        return None

    def labelled(self, text: str, area: Area, is_upright: bool, is_free: bool = True) -> Label:
        """A text in the middle of an area."""
        x, y = (area.left + area.right) / 2 / self.width, (area.bottom + area.top) / 2 / self.height
        return Label(text, x, y, is_upright, is_free)

    def holds(self, area: Area) -> bool:
        """Whether an area is inside of the axes."""
        return area.left >= 0 and area.bottom >= 0 and area.right <= self.width and area.top <= self.height

    def met_by(self, area: Area) -> int:
        """How much of what is taken an area would cover."""
        return sum(area.meets(other) for other in self.taken)


def _covered(plot: Plot) -> Iterator[tuple[float, float]]:
    """All points, and lines as points so close that nothing fits between them."""
    for points in plot.points:
        yield from zip(points.x, points.y, strict=True)
    for line in plot.lines:
        steps = max(1, 100 // max(1, len(line.x) - 1))
        for (a, b), (c, d) in pairwise(zip(line.x, line.y, strict=True)):
            yield from ((a + (c - a) * i / steps, b + (d - b) * i / steps) for i in range(steps + 1))


def rule_label(rule: Rule, ground: Ground) -> Label | None:
    """A rule's label along it, or level beside one that is upright; without free room where it covers least."""
    text = short(rule.label)
    if not text:
        return None
    wide, tall = width_of(text, CAPTION), 0.8 * height_of(CAPTION)
    if rule.x is None:
        at = ground.y.place(rule.y or 0.0) * ground.height
        turned = [(False, _along(ground.width, wide, at, tall, 0.02, is_upright=False))]
    else:
        at = ground.x.place(rule.x) * ground.width
        turned = [
            (True, _along(ground.height, wide, at, tall, 0.03, is_upright=True)),
            (False, _along(ground.height, tall, at, wide, 0.04, is_upright=True)),
        ]
    for is_upright, areas in turned:
        label = ground.label(text, areas, is_upright)
        if label is not None:
            return label
    is_upright, areas = turned[0]
    least = min([area for area in areas if ground.holds(area)] or areas, key=ground.met_by)
    ground.taken.append(least)
    return ground.labelled(text, least, is_upright, is_free=False)


def _along(room: float, long: float, at: float, deep: float, gap: float, is_upright: bool) -> list[Area]:
    """Areas that are ``long`` along a rule of a length, ``deep`` across: those beyond it first, then those before."""
    areas = []
    for near in (at + gap, at - gap - deep):
        for start in (part * (room - long) for part in _ALONG):
            along, across = (start, start + long), (near, near + deep)
            (left, right), (bottom, top) = (across, along) if is_upright else (along, across)
            areas.append(Area(left, bottom, right, top))
    return areas


def point_labels(plot: Plot, ground: Ground) -> Iterator[tuple[Points, int, Label]]:
    """The points whose labels fit somewhere beside them: to which they belong, which they are, and the label."""
    among = [text for points in plot.points for text in points.labels]
    for points in plot.points:
        for i, text in enumerate(points.labels):
            name = short(text, _LONGEST, among)
            at = ground.place(points.x[i], points.y[i])
            around = (_beside(*at, width_of(name, CAPTION), way) for way in _AROUND)
            label = ground.label(name, around) if text else None
            if label is not None:
                yield points, i, label


def _rules(plot: Plot, ground: Ground) -> Iterator[Area]:
    for rule in plot.rules:
        if rule.x is not None:
            at = ground.x.place(rule.x) * ground.width
            yield Area(at - 0.005, 0.0, at + 0.005, ground.height)
        if rule.y is not None:
            at = ground.y.place(rule.y) * ground.height
            yield Area(0.0, at - 0.005, ground.width, at + 0.005)


def _beside(x: float, y: float, width: float, direction: tuple[int, int]) -> Area:
    right, up = direction
    height = 0.8 * height_of(CAPTION)
    left = x + right * _AWAY - (width / 2) * (1 - right)
    bottom = y + up * _AWAY - (height / 2) * (1 - up)
    return Area(left, bottom, left + width, bottom + height)


_PAD = 0.06

#: More points than this are drawn smaller.
MANY = 150

#: The most lines of an axis' name, and by how much an axis may get shorter when panels are aligned.
_MOST_LINES, _SLACK = 2, 0.15

#: How far apart, in points, those stand that lines of a single point have at the same place.
_ASIDE = 7.0

#: How a line differs that only goes around points, or through them: it is below them.
_THIN: Mapping[str, Any] = {"linewidth": 0.7, "zorder": 2.5}


class PlotDrawing(Drawing[Plot]):
    """Bands, lines, points and rules over two named axes; lines can be drawn at any width."""

    def room(self, width: float) -> Room:
        """What a plot needs around its axes and how high these are, in a panel of some width; all in inches."""
        x, y = scales_of(self.chart)
        ticks = ticks_width(y)
        right = room_for(self.labels) or max(_PAD, _beyond(x))
        height = min(0.6 * width, 2.6)
        highest = width - right - ticks - height_of(LABEL) - _SLACK if self.chart.is_square else height
        y_lines = max(1, len(fitted(self.chart.y.label, LABEL, highest, _MOST_LINES)))
        left = height_of(LABEL, y_lines) + ticks + 0.1
        inside = width - left - right
        x_lines = max(1, len(fitted(self.chart.x.label, LABEL, inside - _SLACK, _MOST_LINES)))
        bottom = height_of(TICK) + height_of(LABEL, x_lines) + 0.05
        return Room(left, right, bottom, inside if self.chart.is_square else height, x_lines, y_lines)

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The plot's axes into a box, and the names of its lines beside it."""
        axes = figure.add_axes(box.of(figure))
        x, y = scales_of(self.chart)
        _settle(axes, x, y)
        self._name(axes, box, room)
        ground = Ground.of(self.chart, box, x, y)
        for rule in self.chart.rules:
            _draw_rule(axes, rule, ground)
        # Bands upon each other would hide everything.
        pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in self.chart.lines)))
        aside = self._aside(axes)
        for i, line in enumerate(self.chart.lines):
            inside = is_inside(line.x, x) and is_inside(line.y, y)
            thin = _THIN if line.name in self.chart.shared else {}
            _draw_line(axes, line, looks, pale, {"clip_on": not inside, **aside[i]}, thin)
        self._draw_points(axes, ground, looks)
        draw_end_labels(figure, self.labels, box.right, box.bottom, box.height, looks)

    def _draw_points(self, axes: Axes, ground: Ground, looks: Looks) -> None:
        """All points, and once more, upon all others, those whose labels have found a place."""
        many = sum(len(points.x) for points in self.chart.points) > MANY
        clouds = self.chart.points
        clipped = not all(is_inside(points.x, ground.x) and is_inside(points.y, ground.y) for points in clouds)
        for points in self.chart.points:
            axes.plot(points.x, points.y, clip_on=clipped, **looks(points).points(are_many=many))
        for points, i, label in point_labels(self.chart, ground):
            axes.plot(points.x[i], points.y[i], clip_on=clipped, **looks(points).points(many, is_named=True))
            _write(axes, label, zorder=7)

    def _name(self, axes: Axes, box: Box, room: Room) -> None:
        """The axes' names, in as many lines as there is room for."""
        how = typed(LABEL, linespacing=1.15)
        axes.set_xlabel("\n".join(fitted(self.chart.x.label, LABEL, box.width, room.x_lines)), labelpad=2, **how)
        axes.set_ylabel("\n".join(fitted(self.chart.y.label, LABEL, box.height, room.y_lines)), labelpad=3, **how)

    def _aside(self, axes: Axes) -> list[dict[str, Any]]:
        """Lines of a single point stand beside each other, because they would cover each other at one place."""
        from matplotlib.transforms import ScaledTranslation

        scale = axes.figure.dpi_scale_trans
        return [
            {"transform": axes.transData + ScaledTranslation(inch, 0, scale)} if inch is not None else {}
            for inch in asides(self.chart)
        ]


def asides(plot: Plot) -> list[float | None]:
    """How far, in inches, each line of a single point stands aside, if all lines have one and at the same place."""
    count = len(plot.lines)
    if count < 2 or any(len(line.x) != 1 or line.x != plot.lines[0].x for line in plot.lines):
        return [None] * count
    return [_ASIDE * (i - (count - 1) / 2) / 72 for i in range(count)]


def _beyond(x: Scale) -> float:
    """How far the last number below the horizontal axis reaches beyond the axis."""
    if not x.ticks:
        return 0.0
    value, text = x.ticks[-1]
    return width_of(shown(text), TICK) / 2 + 0.02 if x.place(value) > 0.97 else 0.0


def _settle(axes: Axes, x: Scale, y: Scale) -> None:
    axes.set_xscale("log" if x.is_log else "linear")
    axes.set_yscale("log" if y.is_log else "linear")
    set_ticks(axes.xaxis, x)
    set_ticks(axes.yaxis, y)
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)


def is_inside(values: Iterable[float], scale: Scale) -> bool:
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
    """A label at its place in the axes."""
    turned = typed(CAPTION, rotation=90 if label.is_upright else 0, ha="center", va="center")
    axes.text(label.x, label.y, label.text, transform=axes.transAxes, **turned, **how)
