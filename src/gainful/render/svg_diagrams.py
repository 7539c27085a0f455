"""Intervals, boxes, critical-difference diagrams and heat maps as SVG, laid out as in figures; the blues of heat maps;
and the shapes, with their units and attributes, that all charts in SVG are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from itertools import chain
from math import isnan
from typing import Any

from gainful.pages.charts import Scale, box_scale, interval_scale, nice_ticks
from gainful.render.cells import plain
from gainful.render.figure_diagrams import (
    AXIS,
    BAR,
    BAR_WIDTH,
    BESIDE,
    DARKEST,
    HIGHEST_BAR,
    NAME,
    STEPS,
    BoxDrawing,
    CriticalDrawing,
    HeatMapDrawing,
    IntervalDrawing,
    text_colour,
)
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GREY,
    LABEL,
    TICK,
    Box,
    Look,
    Looks,
    Room,
    cut,
    fitted,
    height_of,
    shown,
)


class IntervalsSvg(IntervalDrawing):
    """A point and a line for every name, below each other, with a text beside each."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The rows into a box, the first one at the top."""
        scale = interval_scale(self.chart, 5)
        head = height_of(CAPTION) if self.chart.side or self.chart.rules else 0.0
        top, each = box.top - head, (box.height - head) / max(1, len(self.chart.rows))
        shapes.axis_below(box, scale)
        shapes.name_below(box, self.chart.axis.label)

        def at(value: float) -> float:
            return box.left + scale.place(min(max(value, scale.low), scale.high)) * box.width

        for rule in self.chart.rules:
            if rule.x is not None:
                shapes.line([(at(rule.x), box.bottom), (at(rule.x), top)], **RULE)
                how = {"text_anchor": "middle", "opacity": RULE["opacity"]}
                shapes.text(at(rule.x), top + head / 2, shown(rule.label), CAPTION, **how)
        for i, (row, name) in enumerate(zip(self.chart.rows, self.names(), strict=True)):
            y = top - each * (i + 0.5)
            if i % 2:
                shapes.box(box.left, y - each / 2, box.width, each, opacity=0.06)
            shapes.text(box.left - 0.06, y, name, TICK, text_anchor="end")
            shapes.text(box.right + 0.08, y, shown(row.text), TICK)
            with shapes.group(**coloured(COLOURS[0])):
                shapes.line([(at(row.low), y), (at(row.high), y)], 1.2)
                for end in filter(math.isfinite, (row.low, row.high)):
                    shapes.line([(at(end), y - 0.2 * each), (at(end), y + 0.2 * each)], 0.8)
                shapes.marker((at(row.value), y), 3.6, fill="currentColor")
        shapes.text(box.right + 0.08, top + head / 2, shown(self.chart.side), CAPTION, opacity=RULE["opacity"])


class BoxesSvg(BoxDrawing):
    """Groups side by side over one upright axis, each with its name and its size below."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The groups into a box, in their order from the left."""
        scale, each = box_scale(self.chart), self._each(box.width)
        shapes.axis_beside(box, scale)
        shapes.name_beside(box, self.chart.axis.label, room.y_lines)
        shapes.line([(box.left, box.bottom), (box.right, box.bottom)], AXIS_WIDTH)
        for i, group in enumerate(self.chart.groups):
            middle = box.left + (i + 0.5) * each
            for j, text in enumerate(self._below(group, each, room)):
                y = box.bottom - 0.04 - height_of(TICK) * (j + 0.5)
                shapes.text(middle, y, text, TICK, text_anchor="middle")
            if not all(map(math.isfinite, group.points)):
                continue
            places = [min(max(scale.place(value), 0.0), 1.0) * box.height + box.bottom for value in group.points]
            with shapes.group(**coloured(looks.of_system(group.name).colour)):
                _draw_group(shapes, middle, places, self._half(each))


def _draw_group(shapes: Shapes, x: float, places: Sequence[float], half: float) -> None:
    """Whiskers with their caps, the box, and the line in it."""
    first, low, middle, high, last = places
    for end, side in ((first, low), (last, high)):
        shapes.line([(x, side), (x, end)], 0.8)
        shapes.line([(x - half / 2, end), (x + half / 2, end)], 0.8)
    shapes.box(x - half, low, 2 * half, high - low, fill_opacity=0.25, stroke="currentColor")
    shapes.line([(x - half, middle), (x + half, middle)], 1.6)


class CriticalSvg(CriticalDrawing):
    """Names at their values, bars over those that are not significantly different."""

    def needed_width(self) -> float:
        """More than in print, for the lines to the names."""
        return super().needed_width() + 1.5

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The axis at the top, bars below it, names at both sides: the better half on the better side."""
        scale = Scale.of(self.chart.axis, self.chart.values, 0.04, 6)
        places = [box.left + scale.place(value) * box.width for value in self.chart.values]
        top = box.top - self._critical_room() - AXIS
        shapes.line([(box.left, top), (box.right, top)], AXIS_WIDTH)
        for value, text in scale.ticks:
            x = box.left + scale.place(value) * box.width
            shapes.line([(x, top), (x, top + 0.04)], AXIS_WIDTH)
            shapes.text(x, top + 0.06 + height_of(TICK) / 2, shown(text), TICK, text_anchor="middle")
        shapes.text(box.right + 0.05, top + 0.05 + height_of(LABEL) / 2, shown(self.chart.axis.label), LABEL)
        self._draw_critical(shapes, box, scale, room)
        for lane, bars in enumerate(self._lanes()):
            y = top - BAR * (lane + 0.9)
            for first, last in bars:
                ends = sorted((places[first], places[last]))
                shapes.line([(ends[0] - 0.03, y), (ends[1] + 0.03, y)], 2.4)
        start = top - BAR * (len(self._lanes()) + 0.5)
        left, right = self._sides(places)
        for names, end, away, anchor in ((left, box.left, -0.05, "end"), (right, box.right, 0.05, "start")):
            for row, i in enumerate(names):
                y = start - NAME * (row + 0.5)
                shapes.line([(places[i], top), (places[i], y), (end, y)], 0.5)
                shapes.text(end + away, y, self._name(i), TICK, text_anchor=anchor)

    def _draw_critical(self, shapes: Shapes, box: Box, scale: Scale, room: Room) -> None:
        """How far apart two have to be, as long as it is on the axis."""
        if not math.isfinite(self.chart.critical):
            return
        reach = box.left + min(1.0, self.chart.critical / (scale.high - scale.low)) * box.width
        y = box.top - 0.12
        shapes.line([(box.left, y), (reach, y)], AXIS_WIDTH)
        for x in (box.left, reach):
            shapes.line([(x, y - 0.03), (x, y + 0.03)], AXIS_WIDTH)
        x, down = self._critical_place(reach - box.left, box.width + room.right)
        shapes.text(box.left + x, y - down, self._critical_text(), CAPTION)


class HeatMapSvg(HeatMapDrawing):
    """Coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The cells into a box, the bar beside it. Colours are values here, not systems."""
        chart = self.chart
        wide, tall = box.width / max(1, len(chart.columns)), box.height / max(1, len(chart.rows))
        low, high = self._ends()
        texts, size = self._cell_texts(box) if chart.texts else ([], 0.0)
        for i, name in enumerate(self.row_names()):
            y = box.top - tall * (i + 0.5)
            shapes.text(box.left - 0.05, y, name, TICK, text_anchor="end")
            for j, value in enumerate(chart.values[i]):
                cell = Box(box.left + wide * j + 0.005, y - tall / 2 + 0.005, wide - 0.01, tall - 0.01)
                ink = _draw_cell(shapes, cell, (value - low) / (high - low))
                if texts:
                    shapes.text(box.left + wide * (j + 0.5), y, texts[i][j], size, text_anchor="middle", fill=ink)
                if (i, j) in chart.outlined:
                    edge = Box(cell.left + 0.012, cell.bottom + 0.012, cell.width - 0.024, cell.height - 0.024)
                    shapes.box(*edge, fill="none", stroke=ink, stroke_width=2)
        is_upright = self._is_upright(box.width)
        for j, name in enumerate(self.column_names()):
            x, y = box.left + wide * (j + 0.5), box.bottom - 0.05
            turned = {"text_anchor": "end", "is_upright": True} if is_upright else {"text_anchor": "middle"}
            shapes.text(x, y if is_upright else y - height_of(TICK) / 2, name, TICK, **turned)
        x_label = cut(shown(chart.x_label), LABEL, box.width)
        shapes.text(box.left + box.width / 2, height_of(LABEL) / 2, x_label, LABEL, text_anchor="middle")
        shapes.name_beside(box._replace(bottom=box.bottom - 0.1, height=box.height + 0.2), chart.y_label)
        if self._has_bar():
            self._paint_bar(shapes, box)

    def _paint_bar(self, shapes: Shapes, box: Box) -> None:
        """The colours from low to high, with their numbers and what they mean."""
        low, high = self._ends()
        height = min(box.height, HIGHEST_BAR)
        left, bottom = box.right + BESIDE, box.top - height
        for i in range(STEPS):
            # Each step reaches into the next: otherwise browsers show hairlines between them.
            step = height / STEPS
            colour = _hex(_blue((i + 0.5) / STEPS))
            shapes.box(left, bottom + i * step, BAR_WIDTH, min(2 * step, height - i * step), fill=colour)
        for value, text in nice_ticks(low, high, min(5, max(2, int(height / height_of(TICK) / 1.5)))):
            y = bottom + (value - low) / (high - low) * height
            shapes.line([(left + BAR_WIDTH, y), (left + BAR_WIDTH + 0.03, y)], AXIS_WIDTH)
            shapes.text(left + BAR_WIDTH + 0.06, y, text, TICK)
        if self._names_bar(box.height):
            x = left + self._bar_room() - BESIDE - height_of(LABEL) / 2
            how = {"text_anchor": "middle", "is_upright": True}
            shapes.text(x, bottom + height / 2, shown(self.chart.value_label), LABEL, **how)


def _draw_cell(shapes: Shapes, cell: Box, part: float) -> str:
    """A cell in the colour of its value, and the colour of what can be read upon it; no value has no colour."""
    if math.isnan(part):
        shapes.box(*cell, opacity=0.07)
        return "currentColor"
    colour = _blue(part)
    shapes.box(*cell, fill=_hex(colour))
    return text_colour(colour)


#: Blues from light to dark, as figures have them.
_BLUES = tuple(
    map(bytes.fromhex, ("f7fbff", "deebf7", "c6dbef", "9ecae1", "6baed6", "4292c6", "2171b5", "08519c", "08306b"))
)


def _blue(part: float) -> tuple[float, ...]:
    """The colour of a part of the scale."""
    place = min(max(part, 0.0), 1.0) * DARKEST * (len(_BLUES) - 1)
    first = min(int(place), len(_BLUES) - 2)
    return tuple((a + (b - a) * (place - first)) / 255 for a, b in zip(_BLUES[first], _BLUES[first + 1], strict=True))


def _hex(colour: Iterable[float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


# Shapes as SVG text: lengths are inches from the lower left, as figures have them, and what is read is escaped.
#
# Nothing has a style of its own, so that a page that allows no inline styles can show it: colours are currentColor,
# the page's or that of a group, and a page's style sheet may say other ones for dark pages.

#: Pixels of an inch and of a point, where a chart is shown in its own size.
DOTS = 120.0
POINT = DOTS / 72

Place = tuple[float, float]

#: How wide an axis is, in points; how long its ticks are, in inches; and how a rule across a chart is drawn.
AXIS_WIDTH = 0.6
_TICK = 0.035
RULE: dict[str, Any] = {"width": 0.6, "dashes": (4, 2), "opacity": 0.65}

#: The corners of markers, in thirds of their radius; one that is not here is round.
_CORNERS = {
    "^": "0,3 3,-3 -3,-3",
    "v": "0,-3 3,3 -3,3",
    "s": "-2.7,-2.7 2.7,-2.7 2.7,2.7 -2.7,2.7",
    "D": "0,3.8 3.8,0 0,-3.8 -3.8,0",
    "P": "-1,3 1,3 1,1 3,1 3,-1 1,-1 1,-3 -1,-3 -1,-1 -3,-1 -3,1 -1,1",
    "X": "0,1 2,3 3,2 1,0 3,-2 2,-3 0,-1 -2,-3 -3,-2 -1,0 -3,2 -2,3",
    "*": "0,4 0.9,1.2 3.8,1.2 1.5,-0.5 2.4,-3.2 0,-1.5 -2.4,-3.2 -1.5,-0.5 -3.8,1.2 -0.9,1.2",
}


def rounded(value: float, places: int = 1) -> str:
    """A number of pixels, as short as can be.

    >>> rounded(12.04), rounded(-0.01), rounded(3.26)
    ('12', '0', '3.3')
    """
    return f"{round(value, places) + 0.0:.10g}"


def attributes(**how: Any) -> str:
    """Attributes as a tag has them; None is left out.

    >>> attributes(stroke_width=1.0, class_="a", id=None)
    ' stroke-width="1" class="a"'
    """
    texts = {name.rstrip("_").replace("_", "-"): value for name, value in how.items() if value is not None}
    return "".join(
        f' {name}="{rounded(value, 2) if isinstance(value, float) else escape(str(value))}"'
        for name, value in texts.items()
    )


def coloured(colour: str) -> dict[str, Any]:
    """The attributes of a group whose ``currentColor`` is one of a figure's; black and grey are the page's own."""
    if colour in COLOURS:
        return {"class_": f"gainful-hue{COLOURS.index(colour)}", "color": colour}
    return {"opacity": 0.45} if colour == GREY else {}


class Shapes:
    """Shapes on a ground of some height; a line or a point that has no place (NaN) is left out."""

    def __init__(self, height: float) -> None:
        self.height = height
        self._parts: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._parts)

    def x(self, inches: float) -> float:
        """Pixels from the left."""
        return inches * DOTS

    def y(self, inches: float) -> float:
        """Pixels from the top."""
        return (self.height - inches) * DOTS

    @contextmanager
    def group(self, **how: Any) -> Iterator[None]:
        """What is drawn until the block ends has some attributes together."""
        self._parts.append(f"<g{attributes(**how)}>")
        yield
        self._parts.append("</g>")

    def clip(self, box: Box, name: str) -> str:
        """The attribute ``clip-path`` of what is seen in a box only; on a page only this box may have the name."""
        self._parts.append(f'<clipPath id="{name}">')
        self.box(*box)
        self._parts.append("</clipPath>")
        return f"url(#{name})"

    def _add(self, tag: str, inside: str = "", **how: Any) -> None:
        self._parts.append(f"<{tag}{attributes(**how)}>{inside}</{tag}>" if inside else f"<{tag}{attributes(**how)}/>")

    def line(self, places: Sequence[Place], width: float, dashes: Sequence[float] = (), **how: Any) -> None:
        """A line through places, so many points wide; dashes are in widths."""
        stroke = width * POINT
        pattern = " ".join(rounded(part * stroke) for part in dashes) or None
        how = {"stroke": "currentColor", "stroke_width": stroke, "stroke_dasharray": pattern, **how}
        if not any(map(isnan, chain(*places))):
            self._add("path", d=self._path(places), fill="none", **how)

    def area(self, places: Sequence[Place], **how: Any) -> None:
        """What is inside of an outline."""
        self._add("path", d=self._path(places) + "z", **{"fill": "currentColor", **how})

    def _path(self, places: Sequence[Place]) -> str:
        return "M" + " ".join(f"{rounded(self.x(a))},{rounded(self.y(b))}" for a, b in places)

    def box(self, left: float, bottom: float, width: float, height: float, **how: Any) -> None:
        """A rectangle."""
        place = {"x": self.x(left), "y": self.y(bottom + height), "width": width * DOTS, "height": height * DOTS}
        self._add("rect", **{**place, "fill": "currentColor", **how})

    def text(self, x: float, y: float, text: str, size: float, **how: Any) -> None:
        """A text whose middle is at a height; it starts at ``x``, unless an anchor says otherwise."""
        if not text:
            return
        is_upright = how.pop("is_upright", False)
        along, down, aside = self.x(x), self.y(y), 0.35 * size * POINT
        turned = f"rotate(-90 {rounded(along + aside)} {rounded(down)})" if is_upright else None
        place = {"x": along + aside, "y": down} if is_upright else {"x": along, "y": down + aside}
        said = {"font_size": size * POINT, "fill": "currentColor", "transform": turned, **how}
        self._add("text", escape(text), **place, **said)

    def points(
        self,
        places: Sequence[Place],
        look: Look,
        is_named: bool = False,
        size: float = 3.6,
        titles: Sequence[str] = (),
        **how: Any,
    ) -> None:
        """Markers as a look has them, so many points wide; a mouse finds their titles.

        They may lie upon each other, so they let others through; those that have a name on the chart do not.
        """
        how = {"fill": "currentColor", "fill_opacity": 1.0 if is_named else 0.5, "stroke": "currentColor", **how}
        with self.group(**coloured(look.colour), **how):
            for place, title in zip(places, titles or [""] * len(places), strict=True):
                self.marker(place, size, look.marker, title)

    def marker(self, at: Place, size: float, shape: str = "o", title: str = "", **how: Any) -> None:
        """A point, so many points wide."""
        if any(map(isnan, at)):
            return
        x, y, radius = self.x(at[0]), self.y(at[1]), size * POINT / 2
        inside = f"<title>{escape(plain(title))}</title>" if title else ""
        if shape not in _CORNERS:
            self._add("circle", inside, cx=x, cy=y, r=radius, **how)
            return
        corners = (map(float, corner.split(",")) for corner in _CORNERS[shape].split())
        places = " ".join(f"{rounded(x + a * radius / 3)},{rounded(y - b * radius / 3)}" for a, b in corners)
        self._add("polygon", inside, points=places, **how)

    def axis_below(self, box: Box, scale: Scale) -> None:
        """The horizontal axis with its ticks and their numbers."""
        self.line([(box.left, box.bottom), (box.right, box.bottom)], AXIS_WIDTH)
        for value, text in scale.ticks:
            x = box.left + scale.place(value) * box.width
            self.line([(x, box.bottom), (x, box.bottom - _TICK)], AXIS_WIDTH)
            self.text(x, box.bottom - 1.5 * _TICK - height_of(TICK) / 2, shown(text), TICK, text_anchor="middle")

    def axis_beside(self, box: Box, scale: Scale) -> None:
        """The upright axis with its ticks and their numbers."""
        self.line([(box.left, box.bottom), (box.left, box.top)], AXIS_WIDTH)
        for value, text in scale.ticks:
            y = box.bottom + scale.place(value) * box.height
            self.line([(box.left - _TICK, y), (box.left, y)], AXIS_WIDTH)
            self.text(box.left - 2 * _TICK, y, shown(text), TICK, text_anchor="end")

    def name_below(self, box: Box, label: str, lines: int = 1) -> None:
        """The horizontal axis' name below its numbers."""
        for i, text in enumerate(fitted(label, LABEL, box.width, lines)):
            y = box.bottom - 1.5 * _TICK - height_of(TICK) - height_of(LABEL) * (i + 0.5)
            self.text(box.left + box.width / 2, y, text, LABEL, text_anchor="middle")

    def name_beside(self, box: Box, label: str, lines: int = 1) -> None:
        """The upright axis' name at the left edge, read from below."""
        for i, text in enumerate(fitted(label, LABEL, box.height, lines)):
            x, y = height_of(LABEL) * (i + 0.5), box.bottom + box.height / 2
            self.text(x, y, text, LABEL, text_anchor="middle", is_upright=True)
