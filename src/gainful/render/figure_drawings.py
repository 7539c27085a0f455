"""Charts drawn into axes: plots, intervals, boxes, critical diagrams and heat maps.

Labels of a plot never cover points, lines or other labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, TypeAlias

from gainful.pages import charts
from gainful.render import figure_style as style
from gainful.render.figure_style import Drawing, fitted, settle, short_names, shown, width_of

#: More points than this are drawn smaller.
_MANY = 150

#: Distance in inches between lines of a single point at the same x.
_ASIDE = 0.1

#: Most names next to a chart, and the largest distance (in inches) of a name from the end of its line.
_MOST_NAMES, _FURTHEST = 8, 0.3

#: The longest label of a point.
_LONGEST_LABEL = 18


#: A line, its name, and the heights of its end and of its name next to the chart (0 to 1 of the chart's height).
EndLabel: TypeAlias = tuple[charts.Line, str, float, float]


class PlotDrawing(Drawing[charts.Plot]):
    """Bands, lines, points and rules over two named axes, at any width."""

    def height(self, panel: float, width: float) -> float:
        return width if self.chart.is_square else super().height(panel, width)

    def draw(self) -> None:
        from matplotlib.transforms import ScaledTranslation

        self.x, self.y = charts.scales_of(self.chart)
        self.axis_names = self.chart.x.label, self.chart.y.label
        settle(self.axes, "x", self.x)
        settle(self.axes, "y", self.y)
        for rule in self.chart.rules:
            # Rules without labels are many, such as the boundaries of queries: draw them pale.
            how: dict[str, Any] = {"linestyle": (0, (4, 2)), "zorder": 1.5, "alpha": None if rule.label else 0.4}
            if rule.x is not None:
                self.axes.axvline(rule.x, color=style.GREY, linewidth=0.5, **how)
            if rule.y is not None:
                self.axes.axhline(rule.y, color=style.GREY, linewidth=0.5, **how)
        lines = self.chart.drawn_lines
        # Many opaque bands would hide everything.
        pale = min(0.15, 0.6 / max(1, sum(line.band is not None for line in lines)))
        # Single-point lines at the same x are shifted apart, because they would hide each other.
        are_points = len(lines) > 1 and all(len(line.x) == 1 and line.x == lines[0].x for line in lines)
        for i, line in enumerate(lines):
            inch = _ASIDE * (i - (len(lines) - 1) / 2)
            aside = ScaledTranslation(inch, 0, self.figure.dpi_scale_trans)
            self._draw_line(line, pale, {"transform": self.axes.transData + aside} if are_points else {})
        size = 2.4 if sum(len(points.x) for points in self.chart.points) > _MANY else 3.6
        for points in self.chart.points:
            look, clip = self.looks(points), not self._holds(points.x, points.y)
            self.axes.plot(points.x, points.y, clip_on=clip, **look.points(size))
            for x, y, text in zip(points.x, points.y, points.labels, strict=False):
                if text:
                    self.axes.plot(x, y, clip_on=clip, gid=f"label {shown(text)}", **look.points(size, is_named=True))

    def _draw_line(self, line: charts.Line, pale: float, where: dict[str, Any]) -> None:
        look, band = self.looks(line), line.band
        how: dict[str, Any] = {"clip_on": not self._holds(line.x, line.y), **where}
        if band is not None and len(band.x) == 1:  # no area: a bar
            self.axes.vlines(band.x, band.low, band.high, color=look.colour, linewidth=0.8, zorder=look.order, **how)
        elif band is not None:
            self.axes.fill_between(band.x, band.low, band.high, color=look.colour, alpha=pale, linewidth=0, zorder=1)
        how |= {"solid_joinstyle": "round", "dash_joinstyle": "round", **look.line()}
        if line.name in self.chart.shared:  # an outline of points, drawn below them
            how |= {"linewidth": 0.7, "zorder": 2.5}
        # A point between two gaps is invisible without a marker.
        finite = [False, *(math.isfinite(x) and math.isfinite(y) for x, y in zip(line.x, line.y, strict=True)), False]
        alone = [i - 1 for i in range(1, len(finite) - 1) if finite[i] and not finite[i - 1] and not finite[i + 1]]
        if alone:
            how |= {"marker": "o", "markersize": 2.4, "markevery": alone}
        self.axes.plot(line.x, [y if math.isfinite(y) else math.nan for y in line.y], **how)

    def _holds(self, x: Iterable[float], y: Iterable[float]) -> bool:
        """Whether all values are within the axes; markers on the edges are then drawn in full instead of clipped."""
        both = ((self.x, filter(math.isfinite, x)), (self.y, filter(math.isfinite, y)))
        return all(scale.low <= value <= scale.high for scale, values in both for value in values)

    def end_labels(self, height: float) -> list[EndLabel] | None:
        """Return the names of all lines next to a chart of some height in inches; None if a legend suits better."""
        named = [line for line in self.chart.lines if line.name]
        # The sample next to a single line looks like its continuation.
        if len(named) == 1 or len(named) > _MOST_NAMES or self.chart.points:
            return None
        ends: list[float] = []
        for line in named:
            places = [(self.x.place(a), self.y.place(b)) for a, b in zip(line.x, line.y, strict=True)]
            along, end = next((each for each in reversed(places) if not math.isnan(sum(each))), (0.0, 0.0))
            if along <= 0.9:  # the line ends inside the chart
                return None
            ends.append(min(max(end, 0.0), 1.0))
        beside = spread(ends, style.height_of(style.LABEL) / height, 0.0, 1.0)
        if beside is None or any(abs(a - b) * height > _FURTHEST for a, b in zip(ends, beside, strict=True)):
            return None
        return list(zip(named, short_names(map(charts.name_of, named)), ends, beside, strict=True))

    def name_lines(self, labels: Sequence[EndLabel]) -> None:
        """Write the names of lines next to the chart, each with a sample of its line."""
        for line, text, end, place in labels:
            at = self.inches_from(1, place)
            if abs(end - place) > 0.02:
                thin = {"arrowstyle": "-", "color": style.GREY, "linewidth": 0.35, "shrinkA": 0, "shrinkB": 0}
                self.axes.annotate("", (1, end), (0.07, 0), xycoords="axes fraction", textcoords=at, arrowprops=thin)
            self.axes.plot([0.08, 0.3], [0, 0], transform=at, clip_on=False, **self.looks(line).line())
            self.axes.text(0.35, 0, text, transform=at, va="center_baseline", fontsize=style.LABEL)

    def finish(self) -> None:
        """Label rules and points without covering points, lines or other labels."""
        from matplotlib.text import Text

        labels = [(shown(rule.label), list(_along_rule(rule)), style.GREY) for rule in self.chart.rules if rule.label]
        every = chain(*(zip(each.x, each.y, each.labels, strict=False) for each in self.chart.points))
        named = [point for point in every if point[2]]
        names = short_names((text for _, _, text in named), _LONGEST_LABEL)
        labels += [(name, list(_around_point(x, y)), style.INK) for (x, y, _), name in zip(named, names, strict=True)]
        if not labels:
            return
        axes, inside, taken = self.axes, self.axes.bbox.padded(1), list[Any]()
        drawn = [(line, line.get_path().transformed(line.get_transform())) for line in axes.get_lines()]
        paths = [path for line, path in drawn if line.get_linestyle() != "None"]
        points = [path.vertices for line, path in drawn if line.get_linestyle() == "None" or len(path) == 1]
        for text, places, colour in labels:
            how: dict[str, Any] = {"textcoords": "offset points", "zorder": 7, "color": colour}
            how["fontsize"] = style.CAPTION
            for place in places:
                label = axes.annotate(text, **place, **how)
                label.get_window_extent()  # settles the place
                box = Text.get_window_extent(label)  # without the line to the point
                near = box.padded(3)
                if (
                    inside.x0 <= box.x0 <= box.x1 <= inside.x1
                    and inside.y0 <= box.y0 <= box.y1 <= inside.y1
                    and not near.count_overlaps(taken)
                    and not any(near.count_contains(each) for each in points)
                    and not any(path.intersects_bbox(box, filled=False) for path in paths)
                ):
                    taken.append(near)
                    break
                label.remove()
            else:
                if colour == style.GREY:
                    # Without a free position, hide what is below: text across lines is unreadable.
                    how["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
                    axes.annotate(text, **places[0], **how)


def _along_rule(rule: charts.Rule) -> Iterator[dict[str, Any]]:
    """Yield positions for a rule's label, best first: along it on both sides; for vertical rules also horizontal."""
    parts = (1.0, 0.75, 0.25, 0.0, 0.6, 0.4, *(i / 20 for i in range(19, 0, -1)))
    for turned, side, part in product((90.0, 0.0), (1, -1), parts):
        if rule.x is not None:
            ha, va = "left" if side > 0 else "right", "top" if part > 0.5 else "bottom"
            at: dict[str, Any] = {"xy": (rule.x, part), "xycoords": ("data", "axes fraction"), "xytext": (2 * side, 0)}
            yield {**at, "ha": ha, "va": va, "rotation": turned}
        elif rule.y is not None and not turned:
            ha, va = "right" if part > 0.5 else "left", "bottom" if side > 0 else "top"
            at = {"xy": (part, rule.y), "xycoords": ("axes fraction", "data"), "xytext": (0, side)}
            yield {**at, "ha": ha, "va": va}


def _around_point(x: float, y: float) -> Iterator[dict[str, Any]]:
    """Yield places for a point's label, best first; the farther ones have a line to the point."""
    thin = {"arrowstyle": "-", "color": style.GREY, "linewidth": 0.35, "shrinkA": 0, "shrinkB": 2}
    for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
        ha, va = ("center", "left", "right")[right], ("center", "bottom", "top")[up]
        yield {"xy": (x, y), "xytext": (3 * right, 3 * up), "ha": ha, "va": va}
    for distance in (14, -14, 30, -30):
        how: dict[str, Any] = {"ha": "left" if distance > 0 else "right", "va": "center", "arrowprops": thin}
        yield {"xy": (x, y), "xytext": (distance, 0), **how}


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


#: The height of an interval's row, and of a text above all of them.
_EACH, _ABOVE = 0.165, 0.03


class IntervalDrawing(Drawing[charts.Intervals]):
    """A point and a line for every name, below each other, with a text beside each."""

    def height(self, panel: float, width: float) -> float:
        return _EACH * max(1, len(self.chart.rows))

    def draw(self) -> None:
        axes, rows, scale = self.axes, self.chart.rows, self.chart.scale(5)
        self.axis_names, self.least_width = (self.chart.axis.label, ""), 1.2  # enough to tell intervals apart
        settle(axes, "x", scale)
        axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), labels=short_names(row.name for row in rows))
        axes.tick_params(axis="y", length=0, pad=3)
        axes.spines["left"].set_visible(False)
        above: dict[str, Any] = {"color": style.GREY, "fontsize": style.CAPTION, "va": "bottom"}
        for rule in self.chart.rules:
            if rule.x is not None:
                axes.axvline(rule.x, color=style.GREY, linewidth=0.5, linestyle=(0, (4, 2)), zorder=1.5)
                label, at = shown(rule.label), ("data", "axes fraction")
                axes.annotate(label, (rule.x, 1), (0, 2), at, "offset points", ha="center", **above)
        axes.text(0.08, _ABOVE, shown(self.chart.side), transform=self.inches_from(1, 1), **above)
        how: dict[str, Any] = {"color": style.COLOURS[0], "zorder": 2}
        for i, row in enumerate(rows):
            if i % 2:
                axes.axhspan(i - 0.5, i + 0.5, color=style.INK, alpha=0.055, linewidth=0, zorder=0.5)
            low, high = max(row.low, scale.low), min(row.high, scale.high)
            axes.plot([low, high], [i, i], linewidth=1.2, solid_capstyle="butt", **how)
            for end in filter(math.isfinite, (row.low, row.high)):
                axes.plot([end, end], [i - 0.2, i + 0.2], linewidth=0.8, clip_on=False, **how)
            point = {**how, "markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4, "zorder": 3}
            axes.plot(row.value, i, "o", **point)
            at = self.inches_from(1, 1 - (i + 0.5) / len(rows))
            axes.text(0.08, 0, shown(row.text), transform=at, va="center_baseline")


#: The minimum width of a group, the maximum for its name, the gap between names, the width of a box.
_LEAST, _ASKED, _GAP, _BOX = 0.4, 0.6, 0.08, 0.5


class BoxDrawing(Drawing[charts.Boxes]):
    """Groups as boxes over a vertical axis, with names and sizes below."""

    def draw(self) -> None:
        groups, scale = self.chart.groups, self.chart.scale()
        texts = [text for group in groups for text in (*short_names([group.name]), f"n = {group.size:,}")]
        widest = max((width_of(text, style.TICK) for text in texts), default=0.0)
        self.least_width = len(groups) * max(_LEAST, min(widest, _ASKED) + _GAP)
        self.axis_names = "", self.chart.axis.label
        settle(self.axes, "y", scale)
        self.axes.set_xlim(-0.5, max(1, len(groups)) - 0.5)
        for i, group in enumerate(groups):
            if not all(map(math.isfinite, group.points)):
                continue
            first, low, middle, high, last = group.points
            colour = self.looks.of_system(group.name).colour
            how = {"linewidth": 0.8, "clip_on": not scale.low <= first <= last <= scale.high}
            thin = {"color": colour, **how}
            self.axes.bxp(
                [{"whislo": first, "q1": low, "med": middle, "q3": high, "whishi": last}],
                positions=[i],
                widths=_BOX,
                capwidths=_BOX / 2,
                patch_artist=True,
                showfliers=False,
                manage_ticks=False,
                boxprops={"facecolor": (colour, 0.25), "edgecolor": colour, **how},
                whiskerprops=thin,
                capprops=thin,
                medianprops={**thin, "linewidth": 1.6, "solid_capstyle": "butt"},
            )

    def fit(self, width: float, height: float) -> None:
        """Write names below in up to two lines, with all sizes aligned."""
        super().fit(width, height)
        groups, room = self.chart.groups, width / max(1, len(self.chart.groups)) - _GAP
        for length in range(charts.LONGEST_NAME, 2, -1):
            short = short_names((group.name for group in groups), length)
            names = [style.wrapped(name, style.TICK, room) for name in short]
            most = max(map(len, names), default=1)
            if most <= 2:
                break
        below = ([*[""] * (most - len(name)), f"n = {group.size:,}"] for name, group in zip(names, groups, strict=True))
        texts = ["\n".join([*name, *rest]) for name, rest in zip(names, below, strict=True)]
        self.axes.set_xticks(range(len(groups)), labels=texts)
        self.axes.tick_params(axis="x", length=0, pad=3)


#: Heights of a row of bars and of a name; position of the critical difference above the axis.
_BAR, _NAME, _YARDSTICK = 0.09, 0.15, 0.3


class CriticalDrawing(Drawing[charts.CriticalDiagram]):
    """Names at their values, with bars over groups that do not differ significantly."""

    def height(self, panel: float, width: float) -> float:
        return self._names_begin + _NAME * math.ceil(len(self.chart.names) / 2) + 0.05

    def draw(self) -> None:
        """Draw the axis at the top, bars below, and names on both sides, the better half on the better side.

        Heights are in inches below the axis.
        """
        chart, axes = self.chart, self.axes
        self.least_width = 2.0  # enough for the elbows
        lanes: list[list[tuple[int, int]]] = []  # bars that do not touch share a height
        for bar in chart.bars:
            free = next((lane for lane in lanes if lane[-1][1] < bar[0]), None)
            if free is None:
                lanes.append(free := [])
            free.append(bar)
        self._names_begin = _BAR * (len(lanes) + 0.5)
        scale = charts.Scale.of(chart.axis, chart.values, 0.04, 6)
        settle(axes, "x", scale)
        axes.set(ylim=(self.height(0.0, 0.0), 0), yticks=[])
        axes.xaxis.tick_top()
        axes.spines[:].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.text(0.05, 0.05, shown(chart.axis.label), transform=self.inches_from(1, 1), fontsize=style.LABEL)
        for lane, bars in enumerate(lanes):
            for first, last in bars:
                ends = chart.values[first], chart.values[last]
                thick: dict[str, Any] = {"linewidth": 2.4, "solid_capstyle": "projecting", "zorder": 3}
                axes.plot(ends, [_BAR * (lane + 0.9)] * 2, color=style.INK, **thick)
        count, names = len(chart.names), short_names(chart.names)
        places = 3 if max(map(abs, chart.values)) < 1 else 2
        by_x = sorted(range(count), key=lambda i: (chart.values[i], -i if chart.is_falling else i))
        left, right = by_x[: math.ceil(count / 2)], by_x[math.ceil(count / 2) :][::-1]
        # Elbow lines to names on the nearer side never cross.
        for side, end, ha, shift in ((left, scale.low, "right", -3), (right, scale.high, "left", 3)):
            for row, i in enumerate(side):
                y, value = self._names_begin + _NAME * (row + 0.5), chart.values[i]
                axes.plot([value, value, end], [0, y, y], color=style.INK, linewidth=0.5, zorder=1, clip_on=False)
                text = f"{names[i]} {shown(f'{value:.{places}f}')}"
                axes.annotate(text, (end, y), (shift, 0), textcoords="offset points", ha=ha, va="center_baseline")
        if math.isfinite(chart.critical):
            # Draw the critical difference to scale, up to the end of the axis. Some procedures need larger ones.
            reach = min(scale.low + chart.critical, scale.high)
            above = (math.floor(chart.critical * 10.0**places) + 1) / 10.0**places
            thin: dict[str, Any] = {"color": style.INK, "linewidth": 0.6, "markersize": 4, "markeredgewidth": 0.6}
            axes.plot([scale.low, reach], [-_YARDSTICK] * 2, "|-", clip_on=False, **thin)
            small: dict[str, Any] = {"fontsize": style.CAPTION, "va": "center_baseline", "annotation_clip": False}
            is_long = scale.place(reach) > 0.6
            place, offset = ((scale.low, -_YARDSTICK), (0, 6)) if is_long else ((reach, -_YARDSTICK), (4, 0))
            text = f"significant: {above:.{places}f} or more"
            axes.annotate(text, place, offset, textcoords="offset points", **small)


#: Minimum and maximum height of a cell, and its smallest font size.
_LOWEST, _HIGHEST = 0.155, 0.28
_SMALLEST_TYPE = 4.5

#: Darkest colour as a share of the colour map, without texts in the cells and with (a contrast of at least 7:1 with
#: black); and the number of steps. A single hue from light to dark also suits colour-blind readers and grey printers.
_DARKEST, _DARKEST_BELOW_TEXT, _STEPS = 0.92, 0.5, 64

#: A black that is not converted to the text colour of dark pages, for light cells.
_DARK = "#0A0A0A"


class HeatMapDrawing(Drawing[charts.HeatMap]):
    """Coloured cells with texts, outlines, and a colour bar."""

    def height(self, panel: float, width: float) -> float:
        each = min(max(0.62 * width / max(1, len(self.chart.columns)), _LOWEST), _HIGHEST)
        return each * max(1, len(self.chart.rows))

    def draw(self) -> None:
        import matplotlib
        import numpy as np
        from matplotlib.colors import ListedColormap, Normalize
        from matplotlib.patches import Rectangle
        from matplotlib.transforms import blended_transform_factory

        chart, axes = self.chart, self.axes
        rows, columns = len(chart.rows), len(chart.columns)
        self.axis_names = chart.x_label, chart.y_label
        # Wide enough for the cells' texts in the usual size.
        texts = [width_of(shown(text), style.TICK) for row in chart.texts for text in row]
        names = [width_of(name, style.TICK) for name in short_names(chart.columns) if not texts]
        self.least_width = (max([*texts, *names, 0.22]) + 0.06) * columns
        finite = [value for row in chart.values for value in row if math.isfinite(value)]
        low = min(finite, default=0.0) if chart.low is None else chart.low
        high = max(finite, default=1.0) if chart.high is None else chart.high
        ends = (low, high) if high > low else (low - 0.5, low + 0.5)
        blues = matplotlib.colormaps["Blues"]
        # Cells without a value are light grey.
        darkest = _DARKEST_BELOW_TEXT if any(map(any, chart.texts)) else _DARKEST
        listed = ListedColormap([blues(darkest * i / (_STEPS - 1)) for i in range(_STEPS)])
        colours = listed.with_extremes(bad=(0.0, 0.0, 0.0, 0.07))
        values = np.ma.masked_invalid(np.array(chart.values, dtype=np.float64).reshape(rows, columns))
        how: dict[str, Any] = {"cmap": colours, "norm": Normalize(*ends), "edgecolors": "white", "linewidth": 0.5}
        self.cells = axes.pcolormesh(np.arange(columns + 1.0), np.arange(rows + 1.0), values, **how)
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
            # Avoids hairlines between the steps in some viewers.
            bar.solids.set(edgecolor="face", linewidth=0.3, rasterized=False)  # type: ignore[union-attr]
            ticks = charts.nice_ticks(*ends, 5)
            bar.set_ticks([value for value, _ in ticks], labels=[shown(text) for _, text in ticks])
            bar.ax.tick_params(length=2, pad=2)

    def fit(self, width: float, height: float) -> None:
        """Rotate column names that are wider than the columns."""
        super().fit(width, height)
        each = width / max(1, len(self.chart.columns)) - 0.04
        is_wide = any(width_of(name, style.TICK) > each for name in short_names(self.chart.columns))
        self.axes.tick_params(axis="x", rotation=90 if is_wide else 0)

    def finish(self) -> None:
        """Write the texts of cells in equal sizes, so that none looks more important."""
        if not self.chart.texts:
            return
        box, dpi = self.axes.bbox, self.figure.dpi
        wide, tall = box.width / dpi / len(self.chart.columns) - 0.05, box.height / dpi / len(self.chart.rows)
        texts = [[charts.shortened(shown(text), dots="…") for text in row] for row in self.chart.texts]
        widest = max((width_of(text, style.TICK) for row in texts for text in row), default=0.0)
        fitting = style.TICK * wide / widest if widest else style.TICK
        size = max(_SMALLEST_TYPE, min(style.TICK, 72 * tall / 1.25, fitting))
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                colour = _DARK if math.isfinite(self.chart.values[i][j]) else style.INK
                how: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": size, "color": colour}
                self.axes.text(j + 0.5, i + 0.52, fitted(text, size, wide, 1), **how)
