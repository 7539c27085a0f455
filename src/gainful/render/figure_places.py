"""Where labels find room inside a plot, so that none covers a point, a line or another label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from gainful.render.charts import Plot, Points, Rule
from gainful.render.figure_room import Box
from gainful.render.figure_style import CAPTION, height_of, short, width_of
from gainful.render.scales import Scale

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
    """A text that has found its place in axes of some size."""

    text: str
    area: Area
    width: float
    height: float
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
        return ground

    def place(self, along: float, across: float) -> tuple[float, float]:
        """Where values stand, in inches."""
        return self.x.place(along) * self.width, self.y.place(across) * self.height

    def label(self, text: str, areas: Iterable[Area], is_upright: bool = False) -> Label | None:
        """A text in the first area that is inside and free, which is taken from now on; None if there is none."""
        for area in areas:
            if self.holds(area) and not self.met_by(area):
                self.taken.append(area._replace(left=area.left - _APART, right=area.right + _APART))
                return Label(text, area, self.width, self.height, is_upright)
        return None

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
    return Label(text, least, ground.width, ground.height, is_upright, is_free=False)


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
    ground.taken.extend(_rules(plot, ground))
    for points in plot.points:
        for i, text in enumerate(points.labels):
            name = short(text, _LONGEST)
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
