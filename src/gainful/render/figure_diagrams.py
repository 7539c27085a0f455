"""Intervals, boxes and critical-difference diagrams drawn, names along one axis of values; and heat maps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gainful.pages.charts import LONGEST_NAME, Boxes, CriticalDiagram, HeatMap, Intervals, Scale, nice_ticks, shortened
from gainful.render.figure_style import (
    CAPTION,
    COLOURS,
    GREY,
    INK,
    LABEL,
    TICK,
    Drawing,
    fitted,
    settle,
    short_names,
    shown,
    width_of,
    wrapped,
)

#: The height of an interval's row, and of a text above all of them.
_EACH, _ABOVE = 0.165, 0.03


class IntervalDrawing(Drawing[Intervals]):
    """A point and a line for every name, below each other, with a text beside each."""

    def axis_names(self) -> tuple[str, str]:
        """The axis has a name, rows have their own."""
        return self.chart.axis.label, ""

    def least_width(self) -> float:
        """Enough to tell intervals apart."""
        return 1.2

    def height(self, panel: float, width: float) -> float:
        """All rows below each other."""
        return _EACH * max(1, len(self.chart.rows))

    def draw(self) -> None:
        """The first row is at the top."""
        axes, rows, scale = self.axes, self.chart.rows, self.chart.scale(5)
        settle(axes, "x", scale)
        axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), labels=short_names(row.name for row in rows))
        axes.tick_params(axis="y", length=0, pad=3)
        axes.spines["left"].set_visible(False)
        above: dict[str, Any] = {"color": GREY, "fontsize": CAPTION, "va": "bottom"}
        for rule in self.chart.rules:
            if rule.x is not None:
                axes.axvline(rule.x, color=GREY, linewidth=0.5, linestyle=(0, (4, 2)), zorder=1.5)
                axes.annotate(
                    shown(rule.label),
                    (rule.x, 1),
                    (0, 2),
                    ("data", "axes fraction"),
                    "offset points",
                    ha="center",
                    **above,
                )
        axes.text(0.08, _ABOVE, shown(self.chart.side), transform=self.inches_from(1, 1), **above)
        how: dict[str, Any] = {"color": COLOURS[0], "zorder": 2}
        for i, row in enumerate(rows):
            if i % 2:
                axes.axhspan(i - 0.5, i + 0.5, color=INK, alpha=0.055, linewidth=0, zorder=0.5)
            low, high = max(row.low, scale.low), min(row.high, scale.high)
            axes.plot([low, high], [i, i], linewidth=1.2, solid_capstyle="butt", **how)
            for end in filter(math.isfinite, (row.low, row.high)):
                axes.plot([end, end], [i - 0.2, i + 0.2], linewidth=0.8, clip_on=False, **how)
            axes.plot(
                row.value, i, "o", markersize=3.6, markeredgecolor="white", markeredgewidth=0.4, **{**how, "zorder": 3}
            )
            at = self.inches_from(1, 1 - (i + 0.5) / len(rows))
            axes.text(0.08, 0, shown(row.text), transform=at, va="center_baseline")


#: What a group needs at least, and what its name may ask for; the gap between names; how wide a box gets.
_LEAST, _ASKED, _GAP, _WIDEST_BOX = 0.4, 0.6, 0.08, 0.55

#: The fewest letters that a name has before its words are broken.
_SHORTEST = 14


class BoxDrawing(Drawing[Boxes]):
    """Groups side by side over one upright axis, each with its name and its size below."""

    def axis_names(self) -> tuple[str, str]:
        """The upright axis has a name, groups have their own."""
        return "", self.chart.axis.label

    def least_width(self) -> float:
        """Something for each group, more where names are long."""
        texts = [text for group in self.chart.groups for text in (*short_names([group.name]), f"n = {group.size:,}")]
        widest = max((width_of(text, TICK) for text in texts), default=0.0)
        return len(self.chart.groups) * max(_LEAST, min(widest, _ASKED) + _GAP)

    def draw(self) -> None:
        """The axis; boxes are as wide as they can be."""
        settle(self.axes, "y", self.chart.scale())
        self.axes.set_xlim(-0.5, max(1, len(self.chart.groups)) - 0.5)

    def fit(self, width: float, height: float) -> None:
        """Names below in at most two lines each; all sizes stand in one row, however many lines names have."""
        super().fit(width, height)
        groups, each = self.chart.groups, width / max(1, len(self.chart.groups))
        names = [self._name(group.name, each - _GAP) for group in groups]
        most = max(map(len, names), default=1)
        lines = [
            "\n".join([*name, *[""] * (most - len(name)), f"n = {group.size:,}"])
            for name, group in zip(names, groups, strict=True)
        ]
        self.axes.set_xticks(range(len(groups)), labels=lines)
        self.axes.tick_params(axis="x", length=0, pad=3)

    def _name(self, name: str, room: float) -> list[str]:
        """A name in at most two lines, without its middle where it is too long; distinct if there is room."""
        others = tuple(shown(group.name) for group in self.chart.groups)
        fitting = [
            (text, lines)
            for among in (others, ())
            for length in range(LONGEST_NAME, 2, -1)
            if len(lines := wrapped(text := shortened(shown(name), length, "…", among), TICK, room)) <= 2
        ]
        # Rather a letter less than a break within a word, unless few letters would be left.
        whole = (lines for text, lines in fitting if " ".join(lines) == text and len(text) >= _SHORTEST)
        return next(whole, fitting[0][1] if fitting else [shortened(shown(name), 3, "…")])

    def finish(self) -> None:
        """Boxes, upon whiskers with caps; what ends where the axis does is not cut."""
        scale, each = self.chart.scale(), self.axes.bbox.width / self.figure.dpi / max(1, len(self.chart.groups))
        wide = min(0.55, _WIDEST_BOX / each)
        for i, group in enumerate(self.chart.groups):
            if not all(map(math.isfinite, group.points)):
                continue
            first, low, middle, high, last = group.points
            colour = self.looks.of_system(group.name).colour
            thin = {"color": colour, "linewidth": 0.8, "clip_on": not scale.low <= first <= last <= scale.high}
            self.axes.bxp(
                [{"whislo": first, "q1": low, "med": middle, "q3": high, "whishi": last}],
                positions=[i],
                widths=wide,
                capwidths=wide / 2,
                patch_artist=True,
                showfliers=False,
                manage_ticks=False,
                boxprops={
                    "facecolor": (colour, 0.25),
                    "edgecolor": colour,
                    "linewidth": 0.8,
                    "clip_on": thin["clip_on"],
                },
                whiskerprops=thin,
                capprops=thin,
                medianprops={**thin, "linewidth": 1.6, "solid_capstyle": "butt"},
            )


#: Heights of a lane of bars and of a name; and where the yardstick stands above the axis.
_BAR, _NAME, _YARDSTICK = 0.09, 0.15, 0.3


class CriticalDrawing(Drawing[CriticalDiagram]):
    """Names at their values, bars over those that are not significantly different."""

    def least_width(self) -> float:
        """Enough for the elbows."""
        return 2.0

    def height(self, panel: float, width: float) -> float:
        """Bars, then names at both sides."""
        return self._names_begin() + _NAME * math.ceil(len(self.chart.names) / 2) + 0.05

    def _names_begin(self) -> float:
        return _BAR * (len(self._lanes()) + 0.5)

    def _lanes(self) -> list[list[tuple[int, int]]]:
        """Bars that do not touch share a height."""
        lanes: list[list[tuple[int, int]]] = []
        for bar in self.chart.bars:
            free = next((lane for lane in lanes if lane[-1][1] < bar[0]), None)
            if free is None:
                lanes.append(free := [])
            free.append(bar)
        return lanes

    def draw(self) -> None:
        """The axis at the top, bars below it, names at both sides: the better half on the better side.

        Heights are inches downwards from the axis.
        """
        chart, axes = self.chart, self.axes
        scale = Scale.of(chart.axis, chart.values, 0.04, 6)
        settle(axes, "x", scale)
        axes.set(ylim=(self.height(0.0, 0.0), 0), yticks=[])
        axes.xaxis.tick_top()
        axes.spines[:].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.text(0.05, 0.05, shown(chart.axis.label), transform=self.inches_from(1, 1), fontsize=LABEL)
        for lane, bars in enumerate(self._lanes()):
            for first, last in bars:
                ends = chart.values[first], chart.values[last]
                thick: dict[str, Any] = {"linewidth": 2.4, "solid_capstyle": "projecting", "zorder": 3}
                axes.plot(ends, [_BAR * (lane + 0.9)] * 2, color=INK, **thick)
        count, names = len(chart.names), short_names(chart.names)
        places = 3 if max(map(abs, chart.values)) < 1 else 2
        by_x = sorted(range(count), key=lambda i: (chart.values[i], -i if chart.is_falling else i))
        left, right = by_x[: math.ceil(count / 2)], by_x[math.ceil(count / 2) :][::-1]
        # An elbow from each place to a name at the nearer side: no two of them cross.
        for side, end, ha, shift in ((left, scale.low, "right", -3), (right, scale.high, "left", 3)):
            for row, i in enumerate(side):
                y, value = self._names_begin() + _NAME * (row + 0.5), chart.values[i]
                axes.plot([value, value, end], [0, y, y], color=INK, linewidth=0.5, zorder=1, clip_on=False)
                text = f"{names[i]} {value:.{places}f}"
                axes.annotate(text, (end, y), (shift, 0), textcoords="offset points", ha=ha, va="center_baseline")
        if math.isfinite(chart.critical):
            # The yardstick itself, as long as it is on the axis. Some procedures ask for more than the critical value.
            reach = min(scale.low + chart.critical, scale.high)
            above = (math.floor(chart.critical * 10.0**places) + 1) / 10.0**places
            axes.plot(
                [scale.low, reach],
                [-_YARDSTICK] * 2,
                "|-",
                color=INK,
                linewidth=0.6,
                markersize=4,
                markeredgewidth=0.6,
                clip_on=False,
            )
            small: dict[str, Any] = {"fontsize": CAPTION, "va": "center_baseline", "annotation_clip": False}
            is_long = scale.place(reach) > 0.6
            place, offset = ((scale.low, -_YARDSTICK), (0, 6)) if is_long else ((reach, -_YARDSTICK), (4, 0))
            text = f"significant from {above:.{places}f} on"
            axes.annotate(text, place, offset, textcoords="offset points", **small)


#: The least and the greatest height of a cell, and the smallest type in it.
_LOWEST, _HIGHEST = 0.155, 0.28
_SMALLEST_TYPE = 4.5

#: The part of the colour map that is used, from its light end on, and in how many steps. One hue from light to dark:
#: colour-blind readers and printers without colour see the same order, and text is readable on all of it.
_DARKEST, _STEPS = 0.92, 64

#: Black that stays black on a dark page, as a light cell wants it.
_DARK = "#0A0A0A"


class HeatMapDrawing(Drawing[HeatMap]):
    """Coloured cells with their texts, outlined ones, and a bar that says what colours mean."""

    def axis_names(self) -> tuple[str, str]:
        """What columns and rows are."""
        return self.chart.x_label, self.chart.y_label

    def least_width(self) -> float:
        """Enough for the cells' texts in the usual size."""
        texts = [width_of(shown(text), TICK) for row in self.chart.texts for text in row]
        names = [width_of(name, TICK) for name in short_names(self.chart.columns) if not texts]
        return (max([*texts, *names, 0.22]) + 0.06) * len(self.chart.columns)

    def height(self, panel: float, width: float) -> float:
        """Cells are lower than they are wide."""
        each = min(max(0.62 * width / max(1, len(self.chart.columns)), _LOWEST), _HIGHEST)
        return each * max(1, len(self.chart.rows))

    def draw(self) -> None:
        """Cells and names; colours are values here, not systems."""
        import matplotlib
        import numpy as np
        from matplotlib.colors import ListedColormap, Normalize
        from matplotlib.patches import Rectangle
        from matplotlib.transforms import blended_transform_factory

        chart, axes = self.chart, self.axes
        rows, columns = len(chart.rows), len(chart.columns)
        finite = [value for row in chart.values for value in row if math.isfinite(value)]
        low = min(finite, default=0.0) if chart.low is None else chart.low
        high = max(finite, default=1.0) if chart.high is None else chart.high
        ends = (low, high) if high > low else (low - 0.5, low + 0.5)
        blues = matplotlib.colormaps["Blues"]
        # A cell without a value is a shade of the page.
        listed = ListedColormap([blues(_DARKEST * i / (_STEPS - 1)) for i in range(_STEPS)])
        colours = listed.with_extremes(bad=(0.0, 0.0, 0.0, 0.07))
        values = np.ma.masked_invalid(np.array(chart.values, dtype=np.float64).reshape(rows, columns))
        self.cells = axes.pcolormesh(
            np.arange(columns + 1.0),
            np.arange(rows + 1.0),
            values,
            cmap=colours,
            norm=Normalize(*ends),
            edgecolors="white",
            linewidth=0.5,
        )
        axes.set(xlim=(0, max(1, columns)), ylim=(max(1, rows), 0))
        axes.set_xticks([i + 0.5 for i in range(columns)], labels=short_names(chart.columns))
        axes.set_yticks([i + 0.5 for i in range(rows)], labels=short_names(chart.rows, 30))
        axes.tick_params(length=0, pad=3)
        axes.spines[:].set_visible(False)
        for row, column in sorted(chart.outlined):
            for colour, width in (("white", 2.4), (_DARK, 1.1)):
                box: dict[str, Any] = {"fill": False, "edgecolor": colour, "linewidth": width, "clip_on": False}
                axes.add_patch(Rectangle((column, row), 1, 1, zorder=3, **box))
        if finite:
            beside = blended_transform_factory(self.inches_from(1, 0), axes.transAxes)
            bar = self.figure.colorbar(self.cells, cax=axes.inset_axes((0.09, 0, 0.09, 1), transform=beside))
            bar.outline.set_visible(False)
            # Otherwise viewers show hairlines between the steps.
            bar.solids.set(edgecolor="face", linewidth=0.3, rasterized=False)  # type: ignore[union-attr]
            ticks = nice_ticks(*ends, 5)
            bar.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
            bar.ax.tick_params(length=2, pad=2)

    def fit(self, width: float, height: float) -> None:
        """Columns' names are turned where they are wider than the columns."""
        super().fit(width, height)
        each = width / max(1, len(self.chart.columns)) - 0.04
        is_wide = any(width_of(name, TICK) > each for name in short_names(self.chart.columns))
        self.axes.tick_params(axis="x", rotation=90 if is_wide else 0)

    def finish(self) -> None:
        """The texts of cells in one size, so that none looks more important."""
        if not self.chart.texts:
            return
        box, dpi = self.axes.bbox, self.figure.dpi
        wide, tall = box.width / dpi / len(self.chart.columns) - 0.05, box.height / dpi / len(self.chart.rows)
        texts = [[shortened(shown(text), dots="…") for text in row] for row in self.chart.texts]
        widest = max((width_of(text, TICK) for row in texts for text in row), default=0.0)
        size = max(_SMALLEST_TYPE, min(TICK, 72 * tall / 1.25, TICK * wide / widest if widest else TICK))
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                value = self.chart.values[i][j]
                colour = text_colour(self.cells.to_rgba(value)[:3]) if math.isfinite(value) else INK  # type: ignore[arg-type]
                self.axes.text(
                    j + 0.5,
                    i + 0.52,
                    fitted(text, size, wide, 1),
                    ha="center",
                    va="center_baseline",
                    fontsize=size,
                    color=colour,
                )


def text_colour(ground: Iterable[float]) -> str:
    """Black or white, whichever has more contrast on a colour (WCAG's relative luminance).

    >>> text_colour((1.0, 0.9, 0.4)), text_colour((0.0, 0.1, 0.4))
    ('#0A0A0A', 'white')
    """
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in ground)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return _DARK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"
