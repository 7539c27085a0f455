"""Intervals, boxes and critical-difference diagrams drawn, names along one axis of values; and heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gainful.pages.charts import (
    LONGEST_NAME,
    Boxes,
    CriticalDiagram,
    HeatMap,
    Intervals,
    Percentiles,
    Scale,
    box_scale,
    interval_scale,
    nice_ticks,
)
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GREY,
    INK,
    LABEL,
    PALE,
    TICK,
    Box,
    Drawing,
    Look,
    Looks,
    Room,
    cut,
    fitted,
    height_of,
    set_ticks,
    short,
    short_names,
    shown,
    ticks_width,
    typed,
    width_of,
    wrapped,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

#: The height of an interval's row, in inches.
_EACH = 0.165


class IntervalDrawing(Drawing[Intervals]):
    """A point and a line for every name, below each other, with a text beside each."""

    def needed_width(self) -> float:
        """How wide a panel has to be, in inches: names, texts, and something between them."""
        around = self.room(10.0)
        return around.left + around.right + 1.2

    def names(self) -> list[str]:
        """What the rows are called."""
        return short_names(row.name for row in self.chart.rows)

    def room(self, width: float) -> Room:
        """What the rows need around them and how high they are; all in inches."""
        left = max((width_of(name, TICK) for name in self.names()), default=0.0) + 0.08
        texts = [width_of(shown(row.text), TICK) for row in self.chart.rows] + [
            width_of(shown(self.chart.side), CAPTION)
        ]
        right = max(texts) + 0.12 if any(texts) else 0.06
        bottom = height_of(TICK) + height_of(LABEL) + 0.05
        above = height_of(CAPTION) if self.chart.side or self.chart.rules else 0.0
        return Room(left, right, bottom, _EACH * max(1, len(self.chart.rows)) + above)

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The rows into a box, the first one at the top."""
        axes = figure.add_axes(box.of(figure))
        scale = interval_scale(self.chart, 5)
        count = max(1, len(self.chart.rows))
        head = height_of(CAPTION) / _EACH if self.chart.side or self.chart.rules else 0.0
        axes.set_xlim(scale.low, scale.high)
        axes.set_ylim(count - 0.5, -0.5 - head)
        how = typed(TICK)
        axes.set_xticks([value for value, _ in scale.ticks], labels=[shown(text) for _, text in scale.ticks], **how)
        axes.set_yticks(range(len(self.chart.rows)), labels=self.names(), **how)
        axes.tick_params(axis="y", length=0, pad=3)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(shown(self.chart.axis.label), labelpad=2, **typed(LABEL))
        small = typed(CAPTION, va="center")
        for rule in self.chart.rules:
            if rule.x is not None:
                ends = [count - 0.5, -0.5]
                axes.plot([rule.x, rule.x], ends, color=GREY, linewidth=0.5, linestyle=(0, (4, 2)), zorder=1.5)
                axes.text(rule.x, -0.5 - head / 2, shown(rule.label), color=GREY, ha="center", **small)
        beside = axes.get_yaxis_transform()
        for i, row in enumerate(self.chart.rows):
            if i % 2:
                axes.axhspan(i - 0.5, i + 0.5, color=PALE, alpha=0.25, linewidth=0, zorder=0.5)
            low, high = max(row.low, scale.low), min(row.high, scale.high)
            axes.plot([low, high], [i, i], color=COLOURS[0], linewidth=1.2, solid_capstyle="butt", zorder=2)
            for end in (row.low, row.high):
                if math.isfinite(end):
                    axes.plot([end, end], [i - 0.2, i + 0.2], color=COLOURS[0], linewidth=0.8, clip_on=False, zorder=2)
            point: dict[str, Any] = {"color": COLOURS[0], "markeredgecolor": "white", "markeredgewidth": 0.4}
            axes.plot([row.value], [i], "o", markersize=3.6, zorder=3, **point)
            axes.text(1.0, i, "  " + shown(row.text), transform=beside, ha="left", va="center_baseline", **how)
        if self.chart.side:
            axes.text(
                1.0, -0.5 - head / 2, "  " + shown(self.chart.side), transform=beside, color=GREY, ha="left", **small
            )


#: What a group needs at least, and what its name may ask for; the gap between names; how wide a box gets: in inches.
_LEAST, _ASKED, _GAP, _WIDEST_BOX = 0.4, 0.6, 0.08, 0.55

#: A box's part of its group's room, and a cap's part of its box.
_BOX, _CAP = 0.55, 0.5

#: The most lines of a name, and the fewest letters it has before its words are broken.
_MOST_LINES, _SHORTEST = 2, 14

#: What is free beside the axes and between them and the names, in inches.
_PAD, _BELOW = 0.06, 0.04


class BoxDrawing(Drawing[Boxes]):
    """Groups side by side over one upright axis, each with its name and its size below."""

    def needed_width(self) -> float:
        """How wide a panel has to be, in inches: something for each group, more where names are long."""
        widest = max((width_of(text, TICK) for group in self.chart.groups for text in _texts(group)), default=0.0)
        return self._left(1) + _PAD + len(self.chart.groups) * max(_LEAST, min(widest, _ASKED) + _GAP)

    def room(self, width: float) -> Room:
        """What boxes need around them and how high they are, in a panel of some width; all in inches."""
        height = min(0.6 * width, 2.6)
        y_lines = max(1, len(fitted(self.chart.axis.label, LABEL, height, _MOST_LINES)))
        left = self._left(y_lines)
        inside = width - left - _PAD
        x_lines = max(
            (len(_name_lines(group, self.chart, self._each(inside))) for group in self.chart.groups), default=1
        )
        return Room(left, _PAD, height_of(TICK, x_lines + 1) + _BELOW, height, x_lines, y_lines)

    def _left(self, y_lines: int) -> float:
        return height_of(LABEL, y_lines) + ticks_width(box_scale(self.chart)) + 0.1

    def _each(self, width: float) -> float:
        return width / max(1, len(self.chart.groups))

    def caption(self, room: Room) -> str:
        """What is to be said below, and what a box is."""
        return self.chart.full_caption

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The groups into a box, in their order from the left."""
        axes = figure.add_axes(box.of(figure))
        scale = box_scale(self.chart)
        each = self._each(box.width)
        axes.set_yscale("log" if scale.is_log else "linear")
        set_ticks(axes.yaxis, scale)
        axes.set_ylim(scale.low, scale.high)
        axes.set_xlim(-0.5, max(1, len(self.chart.groups)) - 0.5)
        axes.set_xticks([])
        label = "\n".join(fitted(self.chart.axis.label, LABEL, box.height, room.y_lines))
        axes.set_ylabel(label, labelpad=3, **typed(LABEL, linespacing=1.15))
        half = self._half(each) / each
        for i, group in enumerate(self.chart.groups):
            if all(map(math.isfinite, group.points)):
                is_inside = scale.low <= group.points[0] and group.points[-1] <= scale.high
                _draw_group(axes, i, group, half, looks.of_system(group.name), is_clipped=not is_inside)
            below = self._below(group, each, room)
            write_lines(figure, box.left + (i + 0.5) * each, box.bottom - _BELOW, below, TICK, ha="center")

    def _half(self, each: float) -> float:
        """Half of what a box is wide where each group has so much room."""
        return min(_BOX * each, _WIDEST_BOX) / 2

    def _below(self, group: Percentiles, each: float, room: Room) -> list[str]:
        """The lines below a group. All sizes stand in one row, however many lines names have."""
        lines = _name_lines(group, self.chart, each, room.x_lines)
        return [*lines, *[""] * (room.x_lines - len(lines)), _size(group)]


def _draw_group(axes: Axes, at: int, group: Percentiles, half: float, look: Look, is_clipped: bool) -> None:
    """Whiskers with their caps, the box upon them, and the line in it; what ends where the axis does is not cut."""
    from matplotlib.patches import Rectangle

    first, low, middle, high, last = group.points
    thin: dict[str, Any] = {"color": look.colour, "linewidth": 0.8, "solid_capstyle": "butt", "clip_on": is_clipped}
    for end, side in ((first, low), (last, high)):
        axes.plot([at, at], [side, end], **thin, zorder=2)
        axes.plot([at - half * _CAP, at + half * _CAP], [end, end], **thin, zorder=2)
    face: dict[str, Any] = {"facecolor": (look.colour, 0.25), "edgecolor": look.colour, "linewidth": 0.8}
    axes.add_patch(Rectangle((at - half, low), 2 * half, high - low, **face, clip_on=is_clipped, zorder=3))
    axes.plot([at - half, at + half], [middle, middle], **{**thin, "linewidth": 1.6}, zorder=4)


def _name_lines(group: Percentiles, chart: Boxes, room: float, most: int = _MOST_LINES) -> list[str]:
    """A name in as few lines as there may be, without its middle where it is too long; distinct if there is room."""
    others = [other.name for other in chart.groups]
    lengths = range(LONGEST_NAME, 2, -1)
    tried = [(short(group.name, length, among), length) for among in (others, ()) for length in lengths]
    fitting = [
        (text, lines, length) for text, length in tried if len(lines := wrapped(text, TICK, room - _GAP)) <= most
    ]
    # Rather a letter less than a break within a word, unless few letters would be left.
    whole = (lines for text, lines, length in fitting if " ".join(lines) == text and length >= _SHORTEST)
    longest = fitting[0][1] if fitting else [short(group.name, 3)]
    return next(whole, longest)


def _size(group: Percentiles) -> str:
    return f"n = {group.size:,}"


def _texts(group: Percentiles) -> tuple[str, str]:
    return short(group.name), _size(group)


#: Heights in inches: of a lane of bars, a name, the axis with its numbers, and the yardstick above it.
BAR, NAME, AXIS, _CRITICAL = 0.09, 0.15, 0.3, 0.3


class CriticalDrawing(Drawing[CriticalDiagram]):
    """Names at their values, bars over those that are not significantly different."""

    def needed_width(self) -> float:
        """How wide a panel has to be, in inches."""
        return 2 * self._widest() + 2.0

    def room(self, width: float) -> Room:
        """What the axis needs beside it for names, and how high all of it is; in inches."""
        side = self._widest() + 0.12
        right = max(side, width_of(shown(self.chart.axis.label), LABEL) + 0.07)
        rows = math.ceil(len(self.chart.names) / 2)
        height = self._critical_room() + AXIS + BAR * (len(self._lanes()) + 0.5) + NAME * rows + 0.05
        return Room(side, right, 0.0, height)

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The axis at the top, bars below it, names at both sides: the better half on the better side.

        Everything is placed in inches from the axis' left end downwards.
        """
        axes = figure.add_axes(box.of(figure))
        axes.set_axis_off()
        axes.set_xlim(0, box.width)
        axes.set_ylim(-box.height, 0)
        scale = Scale.of(self.chart.axis, self.chart.values, 0.04, 6)
        places = [scale.place(value) * box.width for value in self.chart.values]
        top = -self._critical_room() - AXIS
        self._draw_axis(axes, scale, box.width, top, room)
        lanes = self._lanes()
        for lane, bars in enumerate(lanes):
            y = top - BAR * (lane + 0.9)
            for first, last in bars:
                ends = sorted((places[first], places[last]))
                axes.plot(
                    [ends[0] - 0.03, ends[1] + 0.03], [y, y], color=INK, linewidth=2.4, solid_capstyle="butt", zorder=3
                )
        self._draw_names(axes, places, top, top - BAR * (len(lanes) + 0.5), box.width)

    def _widest(self) -> float:
        return max((width_of(self._name(i), TICK) for i in range(len(self.chart.names))), default=0.0)

    def _name(self, place: int) -> str:
        return f"{short(self.chart.names[place], among=self.chart.names)} {self._number(self.chart.values[place])}"

    def _number(self, value: float) -> str:
        """With as many places as all values of the diagram."""
        return f"{value:.{self._places()}f}"

    def _places(self) -> int:
        return 3 if max(map(abs, self.chart.values)) < 1 else 2

    def _critical_room(self) -> float:
        return _CRITICAL if math.isfinite(self.chart.critical) else 0.05

    def _draw_axis(self, axes: Axes, scale: Scale, width: float, top: float, room: Room) -> None:
        line: dict[str, Any] = {"color": INK, "linewidth": 0.6, "zorder": 2}
        axes.plot([0, width], [top, top], **line)
        for value, text in scale.ticks:
            x = scale.place(value) * width
            axes.plot([x, x], [top, top + 0.04], **line)
            axes.text(x, top + 0.06, shown(text), **typed(TICK, ha="center", va="bottom"))
        axes.text(width + 0.05, top + 0.05, shown(self.chart.axis.label), **typed(LABEL, ha="left", va="bottom"))
        if not math.isfinite(self.chart.critical):
            return
        # The yardstick itself, as long as it is on the axis.
        reach = min(width, self.chart.critical / (scale.high - scale.low) * width)
        y = -0.12
        axes.plot([0, reach], [y, y], **line)
        for x in (0, reach):
            axes.plot([x, x], [y - 0.03, y + 0.03], **line)
        x, down = self._critical_place(reach, width + room.right)
        axes.text(x, y - down, self._critical_text(), **typed(CAPTION, ha="left", va="center"))

    def _critical_place(self, reach: float, edge: float) -> tuple[float, float]:
        """Where what the yardstick means begins, and how far below it: beside its end, or where that is too near to
        the edge below it."""
        wide = width_of(self._critical_text(), CAPTION)
        return (reach + 0.05, 0.0) if reach + 0.05 + wide <= edge else (min(0.0, edge - wide), height_of(CAPTION))

    def _critical_text(self) -> str:
        return f"significant from {self._number(_above(self.chart.critical, self._places()))} on"

    def _lanes(self) -> list[list[tuple[int, int]]]:
        """Bars that do not touch share a height."""
        lanes: list[list[tuple[int, int]]] = []
        for bar in self.chart.bars:
            for lane in lanes:
                if lane[-1][1] < bar[0]:
                    lane.append(bar)
                    break
            else:
                lanes.append([bar])
        return lanes

    def _draw_names(self, axes: Axes, places: Sequence[float], top: float, start: float, width: float) -> None:
        """An elbow from each place to a name at the nearer side: no two of them cross."""
        left, right = self._sides(places)
        line: dict[str, Any] = {"color": INK, "linewidth": 0.5, "zorder": 1}
        how = typed(TICK, va="center")
        for names, end, ha, shift in ((left, 0.0, "right", -0.05), (right, width, "left", 0.05)):
            for row, i in enumerate(names):
                y = start - NAME * (row + 0.5)
                axes.plot([places[i], places[i], end], [top, y, y], clip_on=False, **line)
                axes.text(end + shift, y, self._name(i), ha=ha, clip_on=False, **how)

    def _sides(self, places: Sequence[float]) -> tuple[list[int], list[int]]:
        """Which names stand at the left and which at the right, from the top."""
        count = len(self.chart.names)
        by_x = sorted(range(count), key=lambda i: (places[i], i if not self.chart.is_falling else -i))
        return by_x[: math.ceil(count / 2)], by_x[math.ceil(count / 2) :][::-1]


def _above(critical: float, places: int) -> float:
    """The next number of so many places: some procedures ask for more than the critical difference itself.

    >>> _above(0.8626, 2), _above(0.5, 2)
    (0.87, 0.51)
    """
    return (math.floor(critical * 10.0**places) + 1) / float(10**places)


BAR_WIDTH, BESIDE = 0.09, 0.09
_LOWEST, _HIGHEST = 0.155, 0.28

#: The highest bar, and how far the name of the rows may reach beyond them.
HIGHEST_BAR, _BEYOND = 1.8, 0.2
_SMALLEST_TYPE = 4.5
_NOTHING = "#EDEDED"

#: The part of the colour map that is used, from its light end on. One hue from light to dark: colour-blind readers and
#: printers without colour see the same order, and text is readable on all of it.
DARKEST = 0.92
STEPS = 64


class HeatMapDrawing(Drawing[HeatMap]):
    """Coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

    def row_names(self) -> list[str]:
        """What the rows are called; there is more room for that than below columns."""
        return short_names(self.chart.rows, 30)

    def column_names(self) -> list[str]:
        """What the columns are called."""
        return short_names(self.chart.columns)

    def room(self, width: float) -> Room:
        """What a heat map needs around its cells and how high these are, in a panel of some width; all in inches."""
        names = max((width_of(name, TICK) for name in self.row_names()), default=0.0)
        left = names + 0.07 + (height_of(LABEL) + 0.06 if self.chart.y_label else 0.0)
        right = self._bar_room() if self._has_bar() else 0.03
        each = min(max(0.62 * (width - left - right) / max(1, len(self.chart.columns)), _LOWEST), _HIGHEST)
        height = each * max(1, len(self.chart.rows))
        if self._has_bar() and not self._names_bar(height):
            right -= self._bar_name()
        below = height_of(LABEL) + 0.03 if self.chart.x_label else 0.0
        bottom = self._names_below(width - left - right) + 0.07 + below
        return Room(left, right, bottom, height)

    def caption(self, room: Room) -> str:
        """What stands below: where the bar is too low for it, also what the colours mean."""
        if not self.chart.value_label or not self._has_bar() or self._names_bar(room.height):
            return self.chart.caption
        return (
            f"{self.chart.caption}; colour: {self.chart.value_label}"
            if self.chart.caption
            else f"Colour: {self.chart.value_label}"
        )

    def _names_bar(self, height: float) -> bool:
        """Whether what the colours mean fits beside the bar of cells of some height."""
        return width_of(shown(self.chart.value_label), LABEL) <= min(height, HIGHEST_BAR)

    def _bar_name(self) -> float:
        return height_of(LABEL) + 0.03 if self.chart.value_label else 0.0

    def needed_width(self) -> float:
        """How wide a panel has to be for the cells' texts to be of the usual size."""
        texts = [width_of(short(text), TICK) for row in self.chart.texts for text in row]
        names = [width_of(name, TICK) for name in self.column_names()]
        least = max([*texts, *(name for name in names if not texts), 0.22]) + 0.06
        around = self.room(10.0)
        return around.left + around.right + least * len(self.chart.columns)

    def _names_below(self, inside: float) -> float:
        if self._is_upright(inside):
            return max((width_of(name, TICK) for name in self.column_names()), default=0.0)
        return height_of(TICK)

    def _is_upright(self, inside: float) -> bool:
        """Whether the columns' names are turned, because they are wider than the columns."""
        each = inside / max(1, len(self.chart.columns))
        return any(width_of(name, TICK) > each - 0.04 for name in self.column_names())

    def _values(self) -> list[float]:
        return [value for row in self.chart.values for value in row if math.isfinite(value)]

    def _ends(self) -> tuple[float, float]:
        values = self._values() or [0.0, 1.0]
        low = min(values) if self.chart.low is None else self.chart.low
        high = max(values) if self.chart.high is None else self.chart.high
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def _has_bar(self) -> bool:
        return bool(self._values())

    def _bar_room(self) -> float:
        ticks = max((width_of(text, TICK) for _, text in nice_ticks(*self._ends(), 5)), default=0.0)
        return BESIDE + BAR_WIDTH + 0.07 + ticks + self._bar_name()

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The cells into a box, the bar beside it. Colours are values here, not systems."""
        import numpy as np

        axes = figure.add_axes(box.of(figure))
        low, high = self._ends()
        shape = (len(self.chart.rows), len(self.chart.columns))
        values = np.ma.masked_invalid(np.array(self.chart.values, dtype=np.float64).reshape(shape))
        edges = np.arange(shape[1] + 1.0), np.arange(shape[0] + 1.0)
        colours = _colours()
        axes.pcolormesh(*edges, values, cmap=colours, vmin=low, vmax=high, edgecolors="white", linewidth=0.5)
        axes.set_xlim(0, max(1, shape[1]))
        axes.set_ylim(max(1, shape[0]), 0)
        self._settle(axes, box)
        if self.chart.texts:
            self._write_cells(axes, box, colours)
        for row, column in sorted(self.chart.outlined):
            _outline(axes, row, column)
        if self._has_bar():
            self._draw_bar(figure, box, colours)

    def _settle(self, axes: Axes, box: Box) -> None:
        how = typed(TICK)
        upright: dict[str, Any] = {"rotation": 90} if self._is_upright(box.width) else {}
        axes.set_xticks(
            [i + 0.5 for i in range(len(self.chart.columns))],
            labels=self.column_names(),
            **how,
            **upright,
        )
        axes.set_yticks([i + 0.5 for i in range(len(self.chart.rows))], labels=self.row_names(), **how)
        axes.tick_params(length=0, pad=3)
        axes.spines[:].set_visible(False)
        label = typed(LABEL, labelpad=3)
        axes.set_xlabel(cut(shown(self.chart.x_label), LABEL, box.width), **label)
        axes.set_ylabel(cut(shown(self.chart.y_label), LABEL, box.height + _BEYOND), **label)

    def _write_cells(self, axes: Axes, box: Box, colours: Colormap) -> None:
        low, high = self._ends()
        texts, size = self._cell_texts(box)
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                value = self.chart.values[i][j]
                ground = colours((value - low) / (high - low)) if math.isfinite(value) else (0.93, 0.93, 0.93, 1.0)
                how = typed(size, ha="center", va="center_baseline", color=text_colour(ground[:3]))
                axes.text(j + 0.5, i + 0.52, text, **how)

    def _cell_texts(self, box: Box) -> tuple[list[list[str]], float]:
        """The texts of cells, and the size of their type: one for all, so that none looks more important."""
        wide, tall = box.width / len(self.chart.columns) - 0.05, box.height / len(self.chart.rows)
        texts = [[short(text) for text in row] for row in self.chart.texts]
        widest = max((width_of(text, TICK) for row in texts for text in row), default=0.0)
        size = max(_SMALLEST_TYPE, min(TICK, 72 * tall / 1.25, TICK * wide / widest if widest else TICK))
        return [[cut(text, size, wide) for text in row] for row in texts], size

    def _draw_bar(self, figure: Figure, box: Box, colours: Colormap) -> None:
        import numpy as np

        low, high = self._ends()
        height = min(box.height, HIGHEST_BAR)
        axes = figure.add_axes(Box(box.right + BESIDE, box.top - height, BAR_WIDTH, height).of(figure))
        edges = np.linspace(low, high, STEPS + 1)
        middles = ((edges[1:] + edges[:-1]) / 2)[:, None]
        # Edges in the colours of the faces: otherwise viewers show hairlines between the steps.
        axes.pcolormesh([0, 1], edges, middles, cmap=colours, vmin=low, vmax=high, edgecolors="face", linewidth=0.3)
        ticks = nice_ticks(low, high, 5)
        axes.set_xticks([])
        axes.yaxis.tick_right()
        axes.yaxis.set_label_position("right")
        axes.set_yticks([value for value, _ in ticks], labels=[text for _, text in ticks], **typed(TICK))
        axes.set_ylim(low, high)
        axes.tick_params(length=2, pad=2)
        axes.spines[:].set_visible(False)
        if self._names_bar(box.height):
            axes.set_ylabel(shown(self.chart.value_label), **typed(LABEL, labelpad=3))


def _colours() -> Colormap:
    import matplotlib
    from matplotlib.colors import ListedColormap

    blues = matplotlib.colormaps["Blues"]
    listed = ListedColormap([blues(DARKEST * i / 255) for i in range(256)])
    return listed.with_extremes(bad=_NOTHING)


def text_colour(ground: tuple[float, ...]) -> str:
    """Black or white, whichever has more contrast on a colour (WCAG's relative luminance).

    >>> text_colour((1.0, 0.9, 0.4)), text_colour((0.0, 0.1, 0.4))
    ('#000000', 'white')
    """
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in ground)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return INK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def _outline(axes: Axes, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle((column, row), 1, 1, fill=False, edgecolor="white", linewidth=2.4, clip_on=False, zorder=3)
    )
    axes.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=INK, linewidth=1.1, clip_on=False, zorder=4))
