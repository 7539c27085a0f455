"""Charts for HTML: SVG as plain text that needs no matplotlib, no styles and no scripts, and follows dark and light.

Where things stand and how they look is as in figures; titles and captions are the page's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple
from zlib import crc32

from gainful.pages.charts import (
    Boxes,
    Chart,
    CriticalDiagram,
    HeatMap,
    Intervals,
    Line,
    Plot,
    Points,
    Rule,
    Scale,
    box_scale,
    hues,
    interval_scale,
    name_of,
    nice_ticks,
    scales_of,
    system_names,
    x_values,
    y_values,
)
from gainful.render.cells import plain
from gainful.render.chart_text import stretches
from gainful.render.figure import without_fog
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
from gainful.render.figure_plot import MANY, Ground, Label, PlotDrawing, asides, is_inside, point_labels, rule_label
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GAP,
    LABEL,
    SAMPLE,
    TICK,
    Box,
    Legend,
    Look,
    Looks,
    Room,
    column_widths,
    cut,
    end_labels,
    entry_text,
    fitted,
    for_browsers,
    height_of,
    legend_entries,
    short,
    shown,
)
from gainful.render.svg_shapes import DOTS, Place, Shapes, attributes, coloured

#: What a page's style sheet says of charts. On dark pages the two darkest hues are lighter.
CHART_STYLE = """\
.chart { display: inline-block; vertical-align: top; margin: 1rem 1rem 1rem 0; max-width: 100%; width: 540px; }
.chart.wide { display: block; width: auto; }
.chart figcaption { font-weight: 600; padding-bottom: .4rem; }
.chart svg { display: block; overflow: visible; }
@media (max-width: 70rem) { .chart svg { height: auto; } }
@media (prefers-color-scheme: dark) { .chart .hue6 { color: #c2417c; } .chart .hue7 { color: #8c7de8; } }
"""

#: How wide a chart usually is, and the widest; what is free above it and above its legend: in inches.
_USUAL, _WIDEST, _ABOVE, _BELOW = 4.5, 9.0, 0.09, 0.08

#: Widths of lines in points: of axes, and of rules across, with their dashes and how they stand back.
_AXIS = 0.6
_RULE: dict[str, Any] = {"width": 0.6, "dashes": (4, 2), "opacity": 0.65}

#: How long ticks are, in inches; how high a row of a legend is, in lines.
_TICK = 0.035
_LEADING = 1.2


class _Drawn(NamedTuple):
    svg: str
    caption: str
    is_wide: bool


def chart_svg(chart: Chart, systems: Iterable[str] = ()) -> str:
    """A chart as an ``<svg>``: as wide as there is room, at most in its own size; ``systems`` are all of the page, in
    their order, so that each has one look in all charts. Screen readers have its title and what it shows."""
    return _drawn(chart, systems).svg


def chart_html(chart: Chart, systems: Iterable[str] = ()) -> str:
    """The chart as a ``<figure>`` with its title above and its caption below; CHART_STYLE is its style."""
    svg, caption, is_wide = _drawn(chart, systems)
    title = f"<figcaption>{escape(plain(chart.title))}</figcaption>\n" if chart.title else ""
    note = f'\n<p class="note">{escape(plain(caption))}</p>' if caption else ""
    return f'<figure class="chart{" wide" if is_wide else ""}">\n{title}{svg}{note}\n</figure>'


def _drawn(chart: Chart, systems: Iterable[str]) -> _Drawn:
    with for_browsers():
        drawing = _DRAWINGS[type(chart)](without_fog(chart))
        width = min(_WIDEST, max(_USUAL, drawing.needed_width()))
        room, legend = _named(drawing, width) if isinstance(drawing, _PlotSvg) else (drawing.room(width), Legend([]))
        below = height_of(LABEL, len(legend.rows)) * _LEADING + _BELOW if legend.rows else 0.02
        shapes = Shapes(_ABOVE + room.height + room.bottom + below)
        box = Box(room.left, below + room.bottom, width - room.left - room.right, room.height)
        looks = _looks(chart, systems)
        drawing.paint(shapes, box, room, looks)
        _draw_legend(shapes, legend, below - _BELOW, looks)
        return _Drawn(_svg(chart, shapes, width), drawing.caption(room), width > _USUAL)


def _svg(chart: Chart, shapes: Shapes, width: float) -> str:
    """All of it. A height, and a place at the left: without any style sheet it is never larger than it should be."""
    wide, tall = round(width * DOTS), math.ceil(shapes.height * DOTS)
    how = attributes(
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        viewBox=f"0 0 {wide} {tall}",
        width="100%",
        height=tall,
        preserveAspectRatio="xMinYMin meet",
        font_family="system-ui, sans-serif",
    )
    title, told = escape(plain(chart.title) or "Chart"), escape(plain(" ".join(_told(chart))))
    return f"<svg{how}>\n<title>{title}</title>\n<desc>{told}</desc>\n{shapes}\n</svg>"


def _looks(chart: Chart, systems: Iterable[str]) -> Looks:
    """The looks of all systems of the page, unless they are so many that colours would come again."""
    own = tuple(dict.fromkeys(system_names([chart])))
    together = tuple(dict.fromkeys((*systems, *own)))
    names = together if len(together) <= len(COLOURS) else own
    return Looks(hues(names, len(COLOURS)), {name: i for i, name in enumerate(names)})


def _named(drawing: _PlotSvg, width: float) -> tuple[Room, Legend]:
    """Names at the ends of a plot's lines if all fit there, otherwise in a legend; so are rules without free room."""
    chart = drawing.chart
    if not chart.points:
        drawing.labels = end_labels(chart, drawing.room(width).height) or ()
    room = drawing.room(width)
    ground = Ground.of(chart, Box(0, 0, width - room.left - room.right, room.height), *scales_of(chart))
    drawing.place_labels(ground)
    hidden = [Line(rule.label, (), (), "guide") for rule in drawing.hidden_rules]
    entries = [*legend_entries([chart], are_lines_named=bool(drawing.labels)), *hidden]
    return room, Legend.of(entries, width)


def _draw_legend(shapes: Shapes, legend: Legend, top: float, looks: Looks) -> None:
    widths = column_widths(legend.rows, legend.length)
    each = height_of(LABEL) * _LEADING
    for i, row in enumerate(legend.rows):
        at, left = top - each * (i + 0.5), 0.02
        for entry, width in zip(row, widths, strict=False):
            if isinstance(entry, Points):
                shapes.points(
                    [(left + SAMPLE / 2, at)], looks(entry), is_named=bool(entry.labels) and all(entry.labels)
                )
            elif entry.x:
                _draw_sample(shapes, left, at, looks(entry))
            else:  # a rule's
                shapes.line([(left, at), (left + SAMPLE, at)], **_RULE)
            shapes.text(left + SAMPLE + GAP, at, entry_text(entry, legend.length), LABEL)
            left += width


def _draw_sample(shapes: Shapes, left: float, at: float, look: Look) -> None:
    with shapes.group(**coloured(look.colour)):
        shapes.line([(left, at), (left + SAMPLE, at)], look.width, look.dashes)


def _draw_ticks_below(shapes: Shapes, box: Box, scale: Scale) -> None:
    """The horizontal axis with its ticks and their numbers."""
    shapes.line([(box.left, box.bottom), (box.right, box.bottom)], _AXIS)
    for value, text in scale.ticks:
        x = box.left + scale.place(value) * box.width
        shapes.line([(x, box.bottom), (x, box.bottom - _TICK)], _AXIS)
        shapes.text(x, box.bottom - 1.5 * _TICK - height_of(TICK) / 2, shown(text), TICK, text_anchor="middle")


def _draw_ticks_beside(shapes: Shapes, box: Box, scale: Scale) -> None:
    """The upright axis with its ticks and their numbers."""
    shapes.line([(box.left, box.bottom), (box.left, box.top)], _AXIS)
    for value, text in scale.ticks:
        y = box.bottom + scale.place(value) * box.height
        shapes.line([(box.left - _TICK, y), (box.left, y)], _AXIS)
        shapes.text(box.left - 2 * _TICK, y, shown(text), TICK, text_anchor="end")


def _name_below(shapes: Shapes, box: Box, label: str, lines: int = 1) -> None:
    """The horizontal axis' name below its numbers."""
    for i, text in enumerate(fitted(label, LABEL, box.width, lines)):
        y = box.bottom - 1.5 * _TICK - height_of(TICK) - height_of(LABEL) * (i + 0.5)
        shapes.text(box.left + box.width / 2, y, text, LABEL, text_anchor="middle")


def _name_beside(shapes: Shapes, box: Box, label: str, lines: int = 1) -> None:
    """The upright axis' name at the left edge, read from below."""
    for i, text in enumerate(fitted(label, LABEL, box.height, lines)):
        x, y = height_of(LABEL) * (i + 0.5), box.bottom + box.height / 2
        shapes.text(x, y, text, LABEL, text_anchor="middle", is_upright=True)


class _PlotSvg(PlotDrawing):
    """Bands, lines, points and rules over two axes."""

    rule_labels: Sequence[Label] = ()
    hidden_rules: Sequence[Rule] = ()
    named_points: Sequence[tuple[Points, int, Label]] = ()

    def place_labels(self, ground: Ground) -> None:
        """Finds places for the labels of rules and points."""
        placed = [(rule, rule_label(rule, ground)) for rule in self.chart.rules]
        self.rule_labels = [label for _, label in placed if label is not None and label.is_free]
        self.hidden_rules = [rule for rule, label in placed if label is not None and not label.is_free]
        self.named_points = list(point_labels(self.chart, ground))

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The plot into a box, and names of lines beside it."""
        x, y = scales_of(self.chart)
        _draw_ticks_below(shapes, box, x)
        _draw_ticks_beside(shapes, box, y)
        _name_below(shapes, box, self.chart.x.label, room.x_lines)
        _name_beside(shapes, box, self.chart.y.label, room.y_lines)
        if is_inside(x_values(self.chart), x) and is_inside(y_values(self.chart), y):
            self._draw_data(shapes, _Field(box, x, y), looks)
        else:
            # Charts on one page have different names, unless they are the same.
            number = crc32(repr(self.chart).encode("utf-8", "surrogatepass"))
            with shapes.clip(box, f"clip{number}"):
                self._draw_data(shapes, _Field(box, x, y), looks)
        for label in self.rule_labels:
            _write(shapes, box, label, opacity=_RULE["opacity"])
        for _, _, label in self.named_points:
            _write(shapes, box, label)
        self._name_lines(shapes, box, looks)

    def _draw_data(self, shapes: Shapes, field: _Field, looks: Looks) -> None:
        chart = self.chart
        for rule in chart.rules:
            _draw_rule(shapes, rule, field)
        # Bands upon each other would hide everything.
        pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in chart.lines)))
        pairs = sorted(zip(chart.lines, asides(chart), strict=True), key=lambda pair: looks(pair[0]).order)
        for line, aside in pairs:
            with shapes.group(**coloured(looks(line).colour)):
                _draw_band(shapes, line, field, aside or 0.0, pale)
        for line, aside in pairs:
            with shapes.group(**coloured(looks(line).colour)):
                _draw_line(shapes, line, looks(line), field, aside or 0.0, is_thin=line.name in chart.shared)
        size = 2.4 if sum(len(points.x) for points in chart.points) > MANY else 3.6
        for points in chart.points:
            places = [field.at(*each) for each in zip(points.x, points.y, strict=True)]
            shapes.points(places, looks(points), size=size, titles=points.labels)
        for points, i, _ in self.named_points:
            shapes.points([field.at(points.x[i], points.y[i])], looks(points), True, size, [points.labels[i]])

    def _name_lines(self, shapes: Shapes, box: Box, looks: Looks) -> None:
        """The names beside the box, each with a sample of its line."""
        for line, end, place in self.labels:
            at, left = box.bottom + place * box.height, box.right + 1.5 * GAP
            if abs(end - place) * box.height > 0.03:
                ends = [(box.right + 0.01, box.bottom + end * box.height), (left - 0.005, at)]
                shapes.line(ends, 0.4, opacity=_RULE["opacity"])
            _draw_sample(shapes, left, at, looks(line))
            shapes.text(left + SAMPLE + GAP, at, entry_text(line), LABEL)


class _Field(NamedTuple):
    """A box with its two axes."""

    box: Box
    x: Scale
    y: Scale

    def at(self, along: float, across: float, aside: float = 0.0) -> Place:
        """Where values stand; NaN for those that have no place."""
        left = self.box.left + self.x.place(along) * self.box.width + aside
        return left, self.box.bottom + self.y.place(across) * self.box.height


def _draw_rule(shapes: Shapes, rule: Rule, field: _Field) -> None:
    # One without a label is one of many, such as the boundaries of queries.
    how = _RULE if rule.label else {**_RULE, "opacity": 0.3}
    box = field.box
    if rule.x is not None:
        x, _ = field.at(rule.x, field.y.low)
        shapes.line([(x, box.bottom), (x, box.top)], **how)
    if rule.y is not None:
        _, y = field.at(field.x.low, rule.y)
        shapes.line([(box.left, y), (box.right, y)], **how)


def _draw_band(shapes: Shapes, line: Line, field: _Field, aside: float, pale: float) -> None:
    band = line.band
    if band is None:
        return
    lower = [field.at(*each, aside) for each in zip(band.x, band.low, strict=True)]
    upper = [field.at(*each, aside) for each in zip(band.x, band.high, strict=True)]
    sides = [(a, b) for a, b in zip(lower, upper, strict=True) if not any(map(math.isnan, (*a, *b)))]
    if len(band.x) == 1:  # no area: a bar
        for ends in sides:
            shapes.line(ends, 0.8)
    elif sides:
        shapes.area([*(low for low, _ in sides), *(high for _, high in reversed(sides))], fill_opacity=pale)


def _draw_line(shapes: Shapes, line: Line, look: Look, field: _Field, aside: float, is_thin: bool) -> None:
    places = [field.at(*each, aside) for each in zip(line.x, line.y, strict=True)]
    for stretch in stretches(places):
        if len(stretch) == 1:  # no line: it needs a mark to be seen
            shapes.dot(stretch[0], 2.4)
        else:
            shapes.line(stretch, 0.7 if is_thin else look.width, look.dashes, stroke_linejoin="round")


def _write(shapes: Shapes, box: Box, label: Label, **how: Any) -> None:
    """A label at its place in the box."""
    x, y = box.left + label.x * box.width, box.bottom + label.y * box.height
    shapes.text(x, y, label.text, CAPTION, text_anchor="middle", is_upright=label.is_upright, **how)


class _IntervalsSvg(IntervalDrawing):
    """A point and a line for every name, below each other, with a text beside each."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The rows into a box, the first one at the top."""
        scale = interval_scale(self.chart, 5)
        head = height_of(CAPTION) if self.chart.side or self.chart.rules else 0.0
        top, each = box.top - head, (box.height - head) / max(1, len(self.chart.rows))
        _draw_ticks_below(shapes, box, scale)
        _name_below(shapes, box, self.chart.axis.label)

        def at(value: float) -> float:
            return box.left + scale.place(min(max(value, scale.low), scale.high)) * box.width

        for rule in self.chart.rules:
            if rule.x is not None:
                shapes.line([(at(rule.x), box.bottom), (at(rule.x), top)], **_RULE)
                how = {"text_anchor": "middle", "opacity": _RULE["opacity"]}
                shapes.text(at(rule.x), top + head / 2, shown(rule.label), CAPTION, **how)
        for i, row in enumerate(self.chart.rows):
            y = top - each * (i + 0.5)
            if i % 2:
                shapes.box(box.left, y - each / 2, box.width, each, opacity=0.06)
            shapes.text(box.left - 0.06, y, short(row.name), TICK, text_anchor="end")
            shapes.text(box.right + 0.08, y, shown(row.text), TICK)
            with shapes.group(**coloured(COLOURS[0])):
                shapes.line([(at(row.low), y), (at(row.high), y)], 1.2)
                for end in filter(math.isfinite, (row.low, row.high)):
                    shapes.line([(at(end), y - 0.2 * each), (at(end), y + 0.2 * each)], 0.8)
                shapes.dot((at(row.value), y), 3.6)
        shapes.text(box.right + 0.08, top + head / 2, shown(self.chart.side), CAPTION, opacity=_RULE["opacity"])


class _BoxesSvg(BoxDrawing):
    """Groups side by side over one upright axis, each with its name and its size below."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The groups into a box, in their order from the left."""
        scale, each = box_scale(self.chart), self._each(box.width)
        _draw_ticks_beside(shapes, box, scale)
        _name_beside(shapes, box, self.chart.axis.label, room.y_lines)
        shapes.line([(box.left, box.bottom), (box.right, box.bottom)], _AXIS)
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


class _CriticalSvg(CriticalDrawing):
    """Names at their values, bars over those that are not significantly different."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The axis at the top, bars below it, names at both sides: the better half on the better side."""
        scale = Scale.of(self.chart.axis, self.chart.values, 0.04, 6)
        places = [box.left + scale.place(value) * box.width for value in self.chart.values]
        top = box.top - self._critical_room() - AXIS
        shapes.line([(box.left, top), (box.right, top)], _AXIS)
        for value, text in scale.ticks:
            x = box.left + scale.place(value) * box.width
            shapes.line([(x, top), (x, top + 0.04)], _AXIS)
            shapes.text(x, top + 0.06 + height_of(TICK) / 2, shown(text), TICK, text_anchor="middle")
        shapes.text(box.right + 0.05, top + 0.05 + height_of(LABEL) / 2, shown(self.chart.axis.label), LABEL)
        self._draw_critical(shapes, box, scale)
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

    def _draw_critical(self, shapes: Shapes, box: Box, scale: Scale) -> None:
        """How far apart two have to be, as long as it is on the axis."""
        if not math.isfinite(self.chart.critical):
            return
        reach = box.left + min(1.0, self.chart.critical / (scale.high - scale.low)) * box.width
        y = box.top - 0.12
        shapes.line([(box.left, y), (reach, y)], _AXIS)
        for x in (box.left, reach):
            shapes.line([(x, y - 0.03), (x, y + 0.03)], _AXIS)
        shapes.text(reach + 0.05, y, self._critical_text(), CAPTION)


class _HeatMapSvg(HeatMapDrawing):
    """Coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

    def paint(self, shapes: Shapes, box: Box, room: Room, looks: Looks) -> None:
        """The cells into a box, the bar beside it. Colours are values here, not systems."""
        chart = self.chart
        wide, tall = box.width / max(1, len(chart.columns)), box.height / max(1, len(chart.rows))
        low, high = self._ends()
        texts, size = self._cell_texts(box) if chart.texts else ([], 0.0)
        for i, row in enumerate(chart.rows):
            y = box.top - tall * (i + 0.5)
            shapes.text(box.left - 0.05, y, short(row, 30), TICK, text_anchor="end")
            for j, value in enumerate(chart.values[i]):
                cell = Box(box.left + wide * j + 0.005, y - tall / 2 + 0.005, wide - 0.01, tall - 0.01)
                ink = _draw_cell(shapes, cell, (value - low) / (high - low))
                if texts:
                    shapes.text(box.left + wide * (j + 0.5), y, texts[i][j], size, text_anchor="middle", fill=ink)
                if (i, j) in chart.outlined:
                    edge = cell._replace(left=cell.left + 0.012, bottom=cell.bottom + 0.012)
                    shapes.box(
                        edge.left,
                        edge.bottom,
                        cell.width - 0.024,
                        cell.height - 0.024,
                        fill="none",
                        stroke=ink,
                        stroke_width=2,
                    )
        is_upright = self._is_upright(box.width)
        for j, name in enumerate(chart.columns):
            x, y = box.left + wide * (j + 0.5), box.bottom - 0.05
            turned = {"text_anchor": "end", "is_upright": True} if is_upright else {"text_anchor": "middle"}
            shapes.text(x, y if is_upright else y - height_of(TICK) / 2, short(name), TICK, **turned)
        x_label = cut(shown(chart.x_label), LABEL, box.width)
        shapes.text(box.left + box.width / 2, height_of(LABEL) / 2, x_label, LABEL, text_anchor="middle")
        _name_beside(shapes, box._replace(bottom=box.bottom - 0.1, height=box.height + 0.2), chart.y_label)
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
        for value, text in nice_ticks(low, high, 5):
            y = bottom + (value - low) / (high - low) * height
            shapes.line([(left + BAR_WIDTH, y), (left + BAR_WIDTH + 0.03, y)], _AXIS)
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


def _told(chart: Chart) -> Iterator[str]:
    """What a chart shows, for those who cannot see it."""
    if isinstance(chart, Plot):
        yield f"{chart.y.label or 'values'} by {chart.x.label or 'values'}."
        for line in chart.lines:
            last = next((value for value in reversed(line.y) if math.isfinite(value)), None)
            if line.name and last is not None:
                yield f"{name_of(line)}: {last:.4g} at {line.x[-1]:.4g}."
        yield from (f"{points.name}: {len(points.x)} points." for points in chart.points if points.name)
    elif isinstance(chart, Intervals):
        yield f"{chart.axis.label}."
        for row in chart.rows:
            yield f"{row.name}: {row.value:.4g}, from {row.low:.4g} to {row.high:.4g}{row.text and f', {row.text}'}."
    elif isinstance(chart, CriticalDiagram):
        yield from (f"{name}: {value:.4g}." for name, value in zip(chart.names, chart.values, strict=True))
        for first, last in chart.bars:
            yield f"Not significantly different: {chart.names[first]} to {chart.names[last]}."
    elif isinstance(chart, Boxes):
        yield f"{chart.axis.label}, the middle of each group."
        yield from (f"{group.name}: {group.points[2]:.4g}." for group in chart.groups)
    else:
        yield f"{chart.value_label or 'values'} of {len(chart.rows)} rows and {len(chart.columns)} columns."
        for name, values in zip(chart.rows, chart.values, strict=True):
            cells = zip(chart.columns, values, strict=True)
            yield f"{name}: " + ", ".join(f"{column} {value:.4g}" for column, value in cells) + "."


#: How each kind of chart is drawn.
_DRAWINGS: dict[type, Callable[[Any], Any]] = {
    Plot: _PlotSvg,
    HeatMap: _HeatMapSvg,
    Intervals: _IntervalsSvg,
    CriticalDiagram: _CriticalSvg,
    Boxes: _BoxesSvg,
}
