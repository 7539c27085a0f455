"""Charts as data: values, names and scales, and descriptions for readers who cannot see them.

``render`` draws these charts as text (plots and intervals) and with matplotlib (all of them).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, product
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

from gainful.frozen import dataclass, replace
from gainful.notation import number_text

#: Roles: systems have colours of their own, the ideal is black, guides (thresholds, diagonals) are thin and grey.
Role: TypeAlias = Literal["system", "ideal", "guide"]


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its ends (None: the range of the data) and its ticks.

    ``is_whole`` restricts ticks to whole numbers, as for ranks.
    """

    label: str
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    is_whole: bool = False


@dataclass(frozen=True)
class Band:
    """The uncertainty of a line: an area between two lines, with x values of its own."""

    x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Line:
    """A line through points; NaN leaves a gap."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: Role = "system"
    band: Band | None = None


@dataclass(frozen=True)
class Points:
    """A group of points; ``labels`` is empty, or has one label per point (empty: none).

    ``system`` names the system whose colour they have, if it differs from their name.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()
    role: Role = "system"
    system: str = ""


@dataclass(frozen=True)
class Rule:
    """A thin line across the chart at ``x`` or ``y``."""

    label: str
    x: float | None = None
    y: float | None = None


class Chart:
    """A chart with a title and a caption; subclasses are the kinds of charts."""

    title: str
    caption: str

    @property
    def full_caption(self) -> str:
        """The caption with everything needed to read the chart."""
        return self.caption

    @property
    def systems(self) -> Iterator[str]:
        """The names with colours of their own: systems or groups of systems."""
        return iter(())

    def described(self) -> Iterator[str]:
        """Yield sentences that describe the chart, for screen readers and for output without figures."""
        raise NotImplementedError


#: Most bands that remain distinguishable.
_MOST_BANDS = 6


@dataclass(frozen=True)
class Plot(Chart):
    """Lines and points over two axes. A system has the same colour in all plots of a call.

    A line and points with the same name belong together: the line (such as an outline) is thin, and the legend shows
    the points. ``is_square`` makes both axes equally long, for equal units.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    points: tuple[Points, ...] = ()
    rules: tuple[Rule, ...] = ()
    caption: str = ""
    is_square: bool = False

    @property
    def named(self) -> tuple[Line | Points, ...]:
        """Everything that may have a name: lines, then points."""
        return (*self.lines, *self.points)

    @property
    def shared(self) -> frozenset[str]:
        """The names shared by points and a line, such as a group and its outline; legends show them once."""
        points = {points.name for points in self.points if points.name and points.x}
        return frozenset(points & {line.name for line in self.lines})

    @property
    def lines_alone(self) -> tuple[Line, ...]:
        """The lines whose names no points share."""
        return tuple(line for line in self.lines if line.name not in self.shared)

    @property
    def keyed(self) -> tuple[Line | Points, ...]:
        """The legend entries: lines (unless represented by points), then points."""
        shown: tuple[Line | Points, ...] = (*self.lines_alone, *self.points)
        return tuple(what for what in shown if what.name and what.x)

    @property
    def drawn_lines(self) -> tuple[Line, ...]:
        """The lines as drawn in figures: without bands if there are too many."""
        has_too_many = sum(line.band is not None for line in self.lines) > _MOST_BANDS
        return tuple(replace(line, band=None) for line in self.lines) if has_too_many else self.lines

    @property
    def full_caption(self) -> str:
        if self.drawn_lines is self.lines:
            return self.caption
        without = "bands are omitted for this many runs"
        return f"{self.caption} ({without})" if self.caption else without

    @property
    def systems(self) -> Iterator[str]:
        return (hue_of(what) for what in self.named if what.role == "system")

    def described(self) -> Iterator[str]:
        yield f"{self.y.label or 'values'} by {self.x.label or 'values'}."
        for line in self.lines:
            ends = [(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)][-1:]
            yield from (f"{name_of(line)}: {y:.4g} at {x:.4g}." for x, y in ends if line.name)
        yield from (f"{points.name}: {len(points.x)} points." for points in self.points if points.name)


#: Most rows and columns of a heat map that are described.
_MOST_DESCRIBED = 20


@dataclass(frozen=True)
class HeatMap(Chart):
    """Values of rows x columns as colours, with optional texts in the cells.

    ``low`` and ``high`` are the ends of the colour scale; NaN is a missing value. ``outlined`` cells (row, column) are
    emphasised.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()
    x_label: str = ""
    y_label: str = ""
    value_label: str = ""
    low: float | None = None
    high: float | None = None
    outlined: frozenset[tuple[int, int]] = frozenset()
    caption: str = ""

    @property
    def full_caption(self) -> str:
        if not self.value_label:
            return self.caption
        colour = f"olour: {self.value_label}."
        return f"{self.caption.rstrip('.')}; c{colour}" if self.caption else f"C{colour}"

    def described(self) -> Iterator[str]:
        yield f"{self.value_label or 'values'} of {len(self.rows)} rows and {len(self.columns)} columns."
        texts = self.texts or [[f"{value:.4g}" for value in values] for values in self.values]
        for name, row in zip(self.rows[:_MOST_DESCRIBED], texts, strict=False):
            cells = zip(self.columns[:_MOST_DESCRIBED], row, strict=False)
            yield f"{name}: " + ", ".join(f"{column} {text}" for column, text in cells if text) + "."


class IntervalRow(NamedTuple):
    """A name with a value, its interval (infinite: no end) and a text."""

    name: str
    value: float
    low: float
    high: float
    text: str = ""


@dataclass(frozen=True)
class Intervals(Chart):
    """Values with intervals over one axis, one per row; ``side`` is the heading of the texts."""

    title: str
    axis: Axis
    rows: tuple[IntervalRow, ...]
    side: str = ""
    rules: tuple[Rule, ...] = ()
    caption: str = ""

    def scale(self, most: int) -> Scale:
        """Return the axis over all finite values."""
        values = [value for row in self.rows for value in (row.value, row.low, row.high)]
        values += [rule.x for rule in self.rules if rule.x is not None]
        return Scale.of(self.axis, values, 0.03, most)

    def described(self) -> Iterator[str]:
        yield f"{self.axis.label}."
        for row in self.rows:
            yield f"{row.name}: {row.value:.4g}, from {row.low:.4g} to {row.high:.4g}{row.text and f', {row.text}'}."


@dataclass(frozen=True)
class CriticalDiagram(Chart):
    """Names at their values on one axis, best first, with bars over groups that do not differ significantly.

    ``bars`` are the first and last index of each group; ``critical`` is the critical difference. ``is_falling``: high
    values are better, and are on the right.
    """

    title: str
    axis: Axis
    names: tuple[str, ...]
    values: tuple[float, ...]
    bars: tuple[tuple[int, int], ...]
    critical: float
    is_falling: bool = True
    caption: str = ""

    def described(self) -> Iterator[str]:
        yield from (f"{name}: {value:.4g}." for name, value in zip(self.names, self.values, strict=True))
        for first, last in self.bars:
            yield f"Not significantly different: {self.names[first]} to {self.names[last]}."


class Percentiles(NamedTuple):
    """A group's 10th, 25th, 50th, 75th and 90th percentiles, and its number of values."""

    name: str
    points: tuple[float, float, float, float, float]
    size: int


@dataclass(frozen=True)
class Boxes(Chart):
    """Groups of values, each as a box from 25% to 75% with whiskers to 10% and 90%."""

    title: str
    axis: Axis
    groups: tuple[Percentiles, ...]
    caption: str = ""

    @property
    def full_caption(self) -> str:
        """The caption, with an explanation of the boxes.

        >>> Boxes("", Axis("ADM"), (), "Over 109 systems").full_caption
        'Over 109 systems. Box: 25% to 75% of the values; line: median; whiskers: 10% to 90%.'
        """
        own = self.caption + ("" if self.caption.endswith((".", "!", "?")) else ".") + " " if self.caption else ""
        return own + "Box: 25% to 75% of the values; line: median; whiskers: 10% to 90%."

    @property
    def systems(self) -> Iterator[str]:
        return (group.name for group in self.groups)

    def scale(self) -> Scale:
        """Return the axis over all whiskers."""
        return Scale.of(self.axis, [value for group in self.groups for value in group.points], 0.05)

    def described(self) -> Iterator[str]:
        yield f"{self.axis.label}, median of each group."
        yield from (f"{group.name}: {group.points[2]:.4g}." for group in self.groups)


#: Longest name in a chart; tables show names in full.
LONGEST_NAME = 24


def system_numbers(charts: Iterable[Chart]) -> dict[str, int]:
    """Number the systems of a page in order of appearance; the number decides the letter.

    >>> x, lines = Axis("rank"), (Line("b", (), ()), Line("ideal", (), (), "ideal"))
    >>> system_numbers([Plot("", x, x, lines), Plot("", x, x, (Line("a", (), ()),))])
    {'b': 0, 'a': 1}
    """
    return {name: i for i, name in enumerate(dict.fromkeys(name for chart in charts for name in chart.systems))}


def hues(names: Iterable[str], count: int) -> dict[str, int]:
    """Number names independently of their order; modulo ``count`` the number is the hue.

    The name decides its hue; of two names with the same hue, the alphabetically later one gets the next free hue.
    Beyond ``count`` names hues repeat, with higher numbers.

    >>> hues(["bm25", "dense"], 8) == hues(["dense", "bm25", "dense"], 8)
    True
    >>> len(set(hues(map(str, range(11)), 4).values()))
    11
    """
    wanted = sorted(set(names))
    found: dict[str, int] = {}
    for start in range(0, len(wanted), count):
        free = set(range(count))
        for name in wanted[start : start + count]:
            wish = crc32(name.encode("utf-8", "surrogatepass")) % count
            hue = min(free, key=lambda each: (each - wish) % count)
            free.remove(hue)
            found[name] = start + hue
    return found


def hue_of(what: Line | Points) -> str:
    """Return the name that decides the colour."""
    return (what.system if isinstance(what, Points) else "") or what.name


def name_of(what: Line | Points) -> str:
    """Return the legend name of a line or points; a system called like the ideal is quoted.

    >>> name_of(Line("ideal", (), ())), name_of(Line("ideal", (), (), "ideal"))
    ("'ideal'", 'ideal')
    """
    is_taken = what.role == "system" and what.name.strip("()").casefold() == "ideal"
    return f"'{what.name}'" if is_taken else what.name


def shortened(name: str, length: int = LONGEST_NAME, dots: str = "...", among: Iterable[str] = ()) -> str:
    """Shorten a long name in the middle, because names often differ at their ends. Names ``among`` others stay
    distinct: if they differ only in the middle, another part, or less, is left out.

    >>> shortened("a-very-long-name-of-a-system-v2", 16)
    'a-very-...tem-v2'
    >>> [shortened(f"bm25-b0.{b}-run", 12, among=["bm25-b0.4-run", "bm25-b0.5-run"]) for b in "45"]
    ['bm25...4-run', 'bm25...5-run']
    """
    return _without_part(name, *_cut_for(tuple(among) or (name,), length, len(dots)), dots)


def _without_part(name: str, length: int, end: int, dots: str) -> str:
    return name if len(name) <= length else name[: length - len(dots) - end] + dots + name[len(name) - end :]


@cache
def _cut_for(names: tuple[str, ...], length: int, dots: int) -> tuple[int, int]:
    """Return the length and end at which shortened names are distinct, as close to half as possible."""
    distinct = len(set(names))
    for longer in range(length, max(length, *map(len, names)) + 1):
        half = (longer - dots) // 2
        for end in sorted(range(longer - dots + 1), key=lambda end: abs(end - half)):
            if len({_without_part(name, longer, end, "." * dots) for name in names}) == distinct:
                return longer, end
    raise AssertionError  # whole names are distinct


_STEPS = (1, 2, 5)
_ROUNDING = 1e-9
_SHORT = 10

Ticks = tuple[tuple[float, str], ...]


class Scale(NamedTuple):
    """An axis with its final ends and ticks."""

    low: float
    high: float
    is_log: bool
    ticks: Ticks

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float], margin: float = 0.0, most: int = 6) -> Scale:
        """Fit an axis to values; missing ends are the ends of the data, plus a margin."""
        usable = [value for value in values if math.isfinite(value) and (value > 0 or not axis.is_log)]
        empty = (1.0, 10.0) if axis.is_log else (0.0, 1.0)
        low, high = (min(usable), max(usable)) if usable else empty
        if axis.is_log:
            beyond = (high / low) ** margin
            low, high = low / beyond, high * beyond
        else:
            # Do not extend the axis of nonnegative values below 0.
            beyond = margin * (high - low)
            low, high = (0.0 if 0 <= low <= 2 * beyond else low - beyond), high + beyond
        low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
        if axis.is_log and low <= 0:
            low = min(empty[0], high / 10)
        if high <= low:
            low, high = (low / 2, low * 2) if axis.is_log else (low - 0.5 * (axis.low is None), low + 0.5)
        if axis.ticks:
            ticks = tuple(tick for tick in axis.ticks if low <= tick[0] <= high)
        else:
            ticks = (log_ticks if axis.is_log else nice_ticks)(low, high, most, axis.is_whole)
        return cls(low, high, axis.is_log, ticks)

    def place(self, value: float) -> float:
        """Return the position of a value: 0 at the lower end, 1 at the upper end; NaN if it has no logarithm.

        >>> Scale(1, 100, True, ()).place(10), Scale(0, 4, False, ()).place(1)
        (0.5, 0.25)
        """
        if not math.isfinite(value) or (self.is_log and value <= 0):
            return math.nan
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def scales_of(plot: Plot, most_x: int = 6, most_y: int = 6) -> tuple[Scale, Scale]:
    """Return both axes of a plot. Lines reach the ends of the x axis; points and their outlines keep a margin."""
    bands = [line.band for line in plot.lines if line.band]
    x = [*chain(*(what.x for what in (*plot.named, *bands))), *(rule.x for rule in plot.rules if rule.x is not None)]
    y = [*chain(*(what.y for what in plot.named)), *(rule.y for rule in plot.rules if rule.y is not None)]
    y += chain(*((*band.low, *band.high) for band in bands))
    is_free = bool(plot.points) and all(line.name in plot.shared for line in plot.lines)
    return Scale.of(plot.x, x, 0.04 if is_free else 0.0, most_x), Scale.of(plot.y, y, 0.05, most_y)


def nice_ticks(low: float, high: float, most: int = 6, is_whole: bool = False) -> Ticks:
    """Return at most ``most`` evenly spaced round numbers between two; axes from 1, such as ranks, start at 1.

    >>> [text for _, text in nice_ticks(0, 1)], [text for _, text in nice_ticks(1, 100)]
    (['0.0', '0.2', '0.4', '0.6', '0.8', '1.0'], ['1', '20', '40', '60', '80', '100'])
    >>> [text for _, text in nice_ticks(1, 7, is_whole=True)]  # short lists show all ranks
    ['1', '2', '3', '4', '5', '6', '7']
    """
    if is_whole and low == 1 and high - low < _SHORT:
        most = _SHORT
    exponent = math.floor(math.log10((high - low) / most)) if high - low > 0 else 0
    if is_whole:
        exponent = max(0, exponent)
    for power, digit in product(range(exponent, exponent + 3), _STEPS):
        step = digit * 10.0**power
        first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
        if last - first < most:
            places = max(0, -power)
            ticks = [(1.0, "1")] if low == 1 and step > 2 else []
            for i in range(first, last + 1):
                number = round(i * step, places) + 0.0
                is_long = abs(number) >= 1e7 or places > 7
                short = f"{number:.{places}f}" if places else number_text(number)
                ticks.append((number, f"{number:g}" if is_long else short))
            return tuple(ticks)
    return ()


def log_ticks(low: float, high: float, most: int = 6, is_whole: bool = False) -> Ticks:
    """Return powers of ten between two numbers, with 2 and 5 times these if they fit; else evenly spaced numbers.

    >>> [text for _, text in log_ticks(1, 1000)], [text for _, text in log_ticks(1, 30)]
    (['1', '10', '100', '1000'], ['1', '2', '5', '10', '20'])
    """
    first, last = math.floor(math.log10(low) + _ROUNDING), math.floor(math.log10(high) + _ROUNDING)
    for steps in (_STEPS, (1, 3), (1,)):
        numbers = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [number for number in numbers if low * (1 - _ROUNDING) <= number <= high * (1 + _ROUNDING)]
        if is_whole:
            inside = [number for number in inside if number >= 1]
        if len(inside) <= most:
            break
    if len(inside) < 2:
        return nice_ticks(low, high, most, is_whole)
    every = math.ceil(len(inside) / most)
    return tuple((number, f"{number:g}" if number < 1e6 else f"{number:.0e}") for number in inside[::every])
