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
    Band,
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
    hues,
    name_of,
    scales_of,
    system_names,
    x_values,
    y_values,
)
from gainful.render.cells import plain
from gainful.render.chart_text import stretches
from gainful.render.figure import without_fog
from gainful.render.figure_plot import MANY, Ground, Label, PlotDrawing, asides, is_inside, point_labels, rule_label
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GAP,
    LABEL,
    SAMPLE,
    Box,
    Legend,
    Look,
    Looks,
    Room,
    column_widths,
    end_labels,
    for_browsers,
    height_of,
    legend_entries,
)
from gainful.render.svg_diagrams import (
    DOTS,
    RULE,
    BoxesSvg,
    CriticalSvg,
    HeatMapSvg,
    IntervalsSvg,
    Place,
    Shapes,
    attributes,
    coloured,
)

#: What a page's style sheet says of charts. On dark pages the two darkest hues are lighter.
CHART_STYLE = """\
.gainful-chart { display: inline-block; vertical-align: top; margin: 1rem 1rem 1rem 0; max-width: 100%; width: 540px;
  break-inside: avoid; }
.gainful-chart.wide { display: block; width: auto; overflow-x: auto; }
.gainful-chart.wide svg { min-width: 540px; }
.gainful-chart figcaption { font-weight: 600; padding-bottom: .4rem; }
.gainful-chart svg { display: block; overflow: visible; }
@media (max-width: 70rem) { .gainful-chart svg { height: auto; } }
@media (prefers-color-scheme: dark) { .gainful-hue6 { color: #c2417c; } .gainful-hue7 { color: #8c7de8; } }
"""

#: How wide a chart usually is, and the widest; what is free above it and above its legend: in inches.
_USUAL, _WIDEST, _ABOVE, _BELOW = 4.5, 9.0, 0.09, 0.08

#: How high a row of a legend is, in lines; how many rows and columns of a map are told to those who cannot see it.
_LEADING, _MOST_TOLD = 1.2, 20


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
    return f'<figure class="gainful-chart{" wide" if is_wide else ""}">\n{title}{svg}{note}\n</figure>'


def _drawn(chart: Chart, systems: Iterable[str]) -> _Drawn:
    with for_browsers():
        drawing = DRAWINGS[type(chart)](without_fog(chart))
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
    widths = column_widths(legend.rows)
    each = height_of(LABEL) * _LEADING
    for i, row in enumerate(legend.rows):
        at, left = top - each * (i + 0.5), 0.02
        for (entry, text), width in zip(row, widths, strict=False):
            if isinstance(entry, Points):
                shapes.points(
                    [(left + SAMPLE / 2, at)], looks(entry), is_named=bool(entry.labels) and all(entry.labels)
                )
            elif entry.x:
                _draw_sample(shapes, left, at, looks(entry))
            else:  # a rule's
                shapes.line([(left, at), (left + SAMPLE, at)], **RULE)
            shapes.text(left + SAMPLE + GAP, at, text, LABEL)
            left += width


def _draw_sample(shapes: Shapes, left: float, at: float, look: Look) -> None:
    with shapes.group(**coloured(look.colour)):
        shapes.line([(left, at), (left + SAMPLE, at)], look.width, look.dashes)


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
        shapes.axis_below(box, x)
        shapes.axis_beside(box, y)
        shapes.name_below(box, self.chart.x.label, room.x_lines)
        shapes.name_beside(box, self.chart.y.label, room.y_lines)
        self._draw_data(shapes, _Field(box, x, y), looks)
        for label in self.rule_labels:
            _write(shapes, box, label, opacity=RULE["opacity"])
        for _, _, label in self.named_points:
            _write(shapes, box, label)
        self._name_lines(shapes, box, looks)

    def _draw_data(self, shapes: Shapes, field: _Field, looks: Looks) -> None:
        chart = self.chart
        # The name is of what is drawn, so that no other chart of a page has it.
        number = crc32(repr(chart).encode("utf-8", "surrogatepass"))
        clip = shapes.clip(field.box, f"clip{number}") if not field.holds(x_values(chart), y_values(chart)) else None
        for rule in chart.rules:
            _draw_rule(shapes, rule, field)
        # Bands upon each other would hide everything.
        pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in chart.lines)))
        pairs = sorted(zip(chart.lines, asides(chart), strict=True), key=lambda pair: looks(pair[0]).order)
        for line, aside in pairs:
            if (band := line.band) is not None:
                outside = None if field.holds(band.x, (*band.low, *band.high)) else clip
                with shapes.group(**coloured(looks(line).colour), clip_path=outside):
                    _draw_band(shapes, band, field, aside or 0.0, pale)
        for line, aside in pairs:
            outside = None if field.holds(line.x, line.y) else clip
            with shapes.group(**coloured(looks(line).colour), clip_path=outside):
                _draw_line(shapes, line, looks(line), field, aside or 0.0, is_thin=line.name in chart.shared)
        size = 2.4 if sum(len(points.x) for points in chart.points) > MANY else 3.6
        for points in chart.points:
            places = [field.at(*each) for each in zip(points.x, points.y, strict=True)]
            outside = None if field.holds(points.x, points.y) else clip
            shapes.points(places, looks(points), size=size, titles=points.labels, clip_path=outside)
        for points, i, _ in self.named_points:
            shapes.points([field.at(points.x[i], points.y[i])], looks(points), True, size, [points.labels[i]])

    def _name_lines(self, shapes: Shapes, box: Box, looks: Looks) -> None:
        """The names beside the box, each with a sample of its line."""
        for line, text, end, place in self.labels:
            at, left = box.bottom + place * box.height, box.right + 1.5 * GAP
            if abs(end - place) * box.height > 0.03:
                ends = [(box.right + 0.01, box.bottom + end * box.height), (left - 0.005, at)]
                shapes.line(ends, 0.4, opacity=RULE["opacity"])
            _draw_sample(shapes, left, at, looks(line))
            shapes.text(left + SAMPLE + GAP, at, text, LABEL)


class _Field(NamedTuple):
    """A box with its two axes."""

    box: Box
    x: Scale
    y: Scale

    def holds(self, x: Iterable[float], y: Iterable[float]) -> bool:
        """Whether nothing is beyond the axes: what lies on their ends is then drawn in full, not cut in half."""
        return is_inside(x, self.x) and is_inside(y, self.y)

    def at(self, along: float, across: float, aside: float = 0.0) -> Place:
        """Where values stand; NaN for those that have no place."""
        left = self.box.left + self.x.place(along) * self.box.width + aside
        return left, self.box.bottom + self.y.place(across) * self.box.height


def _draw_rule(shapes: Shapes, rule: Rule, field: _Field) -> None:
    # One without a label is one of many, such as the boundaries of queries.
    how = RULE if rule.label else {**RULE, "opacity": 0.3}
    box = field.box
    if rule.x is not None:
        x, _ = field.at(rule.x, field.y.low)
        shapes.line([(x, box.bottom), (x, box.top)], **how)
    if rule.y is not None:
        _, y = field.at(field.x.low, rule.y)
        shapes.line([(box.left, y), (box.right, y)], **how)


def _draw_band(shapes: Shapes, band: Band, field: _Field, aside: float, pale: float) -> None:
    nowhere = (math.nan, math.nan)
    ends = (
        (field.at(x, low, aside), field.at(x, high, aside))
        for x, low, high in zip(band.x, band.low, band.high, strict=True)
    )
    # Where one side has a gap, the other one has it, too.
    sides = zip(*((nowhere, nowhere) if any(map(math.isnan, (*a, *b))) else (a, b) for a, b in ends), strict=True)
    for low, high in zip(*map(stretches, sides), strict=True):
        if len(band.x) == 1:  # no area: a bar
            shapes.line([*low, *high], 0.8)
        else:
            shapes.area([*low, *reversed(high)], fill_opacity=pale)


def _draw_line(shapes: Shapes, line: Line, look: Look, field: _Field, aside: float, is_thin: bool) -> None:
    places = [field.at(*each, aside) for each in zip(line.x, line.y, strict=True)]
    for stretch in stretches(places):
        if len(stretch) == 1:  # no line: it needs a mark to be seen
            shapes.marker(stretch[0], 2.4, fill="currentColor")
        else:
            shapes.line(stretch, 0.7 if is_thin else look.width, look.dashes, stroke_linejoin="round")


def _write(shapes: Shapes, box: Box, label: Label, **how: Any) -> None:
    """A label at its place in the box."""
    x, y = box.left + label.x * box.width, box.bottom + label.y * box.height
    shapes.text(x, y, label.text, CAPTION, text_anchor="middle", is_upright=label.is_upright, **how)


def _told(chart: Chart) -> Iterator[str]:
    """What a chart shows, for those who cannot see it."""
    if isinstance(chart, Plot):
        yield f"{chart.y.label or 'values'} by {chart.x.label or 'values'}."
        for line in chart.lines:
            ends = [(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)][-1:]
            yield from (f"{name_of(line)}: {y:.4g} at {x:.4g}." for x, y in ends if line.name)
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
        texts = chart.texts or [[f"{value:.4g}" for value in values] for values in chart.values]
        for name, told in zip(chart.rows[:_MOST_TOLD], texts, strict=False):
            cells = zip(chart.columns[:_MOST_TOLD], told, strict=False)
            yield f"{name}: " + ", ".join(f"{column} {text}" for column, text in cells if text) + "."


#: How each kind of chart is drawn.
DRAWINGS: dict[type, Callable[[Any], Any]] = {
    Plot: _PlotSvg,
    HeatMap: HeatMapSvg,
    Intervals: IntervalsSvg,
    CriticalDiagram: CriticalSvg,
    Boxes: BoxesSvg,
}
