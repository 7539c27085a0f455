"""A heat map drawn: coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gainful.pages.charts import HeatMap
from gainful.pages.scales import nice_ticks
from gainful.render.figure_style import (
    INK,
    LABEL,
    TICK,
    Box,
    Drawing,
    Looks,
    Room,
    cut,
    height_of,
    short,
    shown,
    typed,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_BAR, _BESIDE = 0.09, 0.09
_LOWEST, _HIGHEST = 0.155, 0.28

#: The highest bar, and how far the name of the rows may reach beyond them.
_HIGHEST_BAR, _BEYOND = 1.8, 0.2
_SMALLEST_TYPE = 4.5
_NOTHING = "#EDEDED"

#: The part of the colour map that is used, from its light end on. One hue from light to dark: colour-blind readers and
#: printers without colour see the same order, and text is readable on all of it.
_DARKEST = 0.92
_STEPS = 64


class HeatMapDrawing(Drawing[HeatMap]):
    """Coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

    def room(self, width: float) -> Room:
        """What a heat map needs around its cells and how high these are, in a panel of some width; all in inches."""
        names = max((width_of(short(name, 30), TICK) for name in self.chart.rows), default=0.0)
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
        return width_of(shown(self.chart.value_label), LABEL) <= min(height, _HIGHEST_BAR)

    def _bar_name(self) -> float:
        return height_of(LABEL) + 0.03 if self.chart.value_label else 0.0

    def needed_width(self) -> float:
        """How wide a panel has to be for the cells' texts to be of the usual size."""
        texts = [width_of(short(text), TICK) for row in self.chart.texts for text in row]
        names = [width_of(short(name), TICK) for name in self.chart.columns]
        least = max([*texts, *(name for name in names if not texts), 0.22]) + 0.06
        around = self.room(10.0)
        return around.left + around.right + least * len(self.chart.columns)

    def _names_below(self, inside: float) -> float:
        if self._is_upright(inside):
            return max((width_of(short(name), TICK) for name in self.chart.columns), default=0.0)
        return height_of(TICK)

    def _is_upright(self, inside: float) -> bool:
        """Whether the columns' names are turned, because they are wider than the columns."""
        each = inside / max(1, len(self.chart.columns))
        return any(width_of(short(name), TICK) > each - 0.04 for name in self.chart.columns)

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
        return _BESIDE + _BAR + 0.07 + ticks + self._bar_name()

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
            labels=[short(name) for name in self.chart.columns],
            **how,
            **upright,
        )
        axes.set_yticks(
            [i + 0.5 for i in range(len(self.chart.rows))], labels=[short(name, 30) for name in self.chart.rows], **how
        )
        axes.tick_params(length=0, pad=3)
        axes.spines[:].set_visible(False)
        label = typed(LABEL, labelpad=3)
        axes.set_xlabel(cut(shown(self.chart.x_label), LABEL, box.width), **label)
        axes.set_ylabel(cut(shown(self.chart.y_label), LABEL, box.height + _BEYOND), **label)

    def _write_cells(self, axes: Axes, box: Box, colours: Colormap) -> None:
        low, high = self._ends()
        wide, tall = box.width / len(self.chart.columns) - 0.05, box.height / len(self.chart.rows)
        texts = [[short(text) for text in row] for row in self.chart.texts]
        widest = max((width_of(text, TICK) for row in texts for text in row), default=0.0)
        # One size for all cells, so that none looks more important.
        size = max(_SMALLEST_TYPE, min(TICK, 72 * tall / 1.25, TICK * wide / widest if widest else TICK))
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                value = self.chart.values[i][j]
                ground = colours((value - low) / (high - low)) if math.isfinite(value) else (0.93, 0.93, 0.93, 1.0)
                how = typed(size, ha="center", va="center_baseline", color=text_colour(ground[:3]))
                axes.text(j + 0.5, i + 0.52, cut(text, size, wide), **how)

    def _draw_bar(self, figure: Figure, box: Box, colours: Colormap) -> None:
        import numpy as np

        low, high = self._ends()
        height = min(box.height, _HIGHEST_BAR)
        axes = figure.add_axes(Box(box.right + _BESIDE, box.top - height, _BAR, height).of(figure))
        edges = np.linspace(low, high, _STEPS + 1)
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
    listed = ListedColormap([blues(_DARKEST * i / 255) for i in range(256)])
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
