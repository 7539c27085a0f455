"""Charts as data: values, names and scales, and what a chart says to a reader who cannot see it.

A chart is declared here once; ``render`` draws it as text (lines and intervals) and with matplotlib (all of them).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

from gainful.frozen import dataclass, replace
from gainful.notation import number_text

#: What is drawn: a system in a colour of its own, the ideal in black, a guide (a threshold, a diagonal) thin and grey.
Role: TypeAlias = Literal["system", "ideal", "guide"]


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, from where to where (None: as far as the data go), and at which places it has ticks.

    ``is_whole``: only whole numbers have a meaning on it, as ranks do, so that no tick is between two.
    """

    label: str
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    is_whole: bool = False


@dataclass(frozen=True)
class Band:
    """How far a line may be off: an area between two lines, at places of its own."""

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
    """Single points that belong together; ``labels`` are empty, or one for every point (empty: none for this one).

    ``system`` is the one whose colour they have, if that is not their name.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()
    role: Role = "system"
    system: str = ""


@dataclass(frozen=True)
class Rule:
    """A thin line across the chart, at ``x`` or at ``y``."""

    label: str
    x: float | None = None
    y: float | None = None


class Chart:
    """A chart with a title above and a caption below; its subclasses are the kinds of charts."""

    title: str
    caption: str

    @property
    def full_caption(self) -> str:
        """The caption with all that a reader needs to read the chart."""
        return self.caption

    @property
    def systems(self) -> Iterator[str]:
        """The names that have a colour of their own: those of systems or of groups of them."""
        return iter(())

    def described(self) -> Iterator[str]:
        """Sentences that say what the chart shows, for screen readers and where nothing can be drawn."""
        raise NotImplementedError


#: More bands than these cover each other until none can be seen.
_MOST_BANDS = 6


@dataclass(frozen=True)
class Plot(Chart):
    """Lines and points over two axes. A system has the same colour in all plots of a call, and by its name elsewhere.

    A line and points of one name belong together: the line, such as an outline, is thin, and a legend has the points.

    ``is_square``: both axes are equally long, because they have the same unit.
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
        """The names that points and a line have, such as a group's and its outline's: they are one, and named once."""
        points = {points.name for points in self.points if points.name and points.x}
        return frozenset(points & {line.name for line in self.lines})

    @property
    def lines_alone(self) -> tuple[Line, ...]:
        """The lines that no points stand for."""
        return tuple(line for line in self.lines if line.name not in self.shared)

    @property
    def keyed(self) -> tuple[Line | Points, ...]:
        """Everything that a legend names: lines without those that points stand for, then points."""
        shown: tuple[Line | Points, ...] = (*self.lines_alone, *self.points)
        return tuple(what for what in shown if what.name and what.x)

    @property
    def drawn_lines(self) -> tuple[Line, ...]:
        """The lines as figures draw them: without bands, where there are too many."""
        has_too_many = sum(line.band is not None for line in self.lines) > _MOST_BANDS
        return tuple(replace(line, band=None) for line in self.lines) if has_too_many else self.lines

    @property
    def full_caption(self) -> str:
        if self.drawn_lines is self.lines:
            return self.caption
        without = "bands not drawn for so many runs"
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


#: How many rows and columns of a map are described.
_MOST_DESCRIBED = 20


@dataclass(frozen=True)
class HeatMap(Chart):
    """Values of rows x columns as colours, with the text that stands in each cell (empty: none).

    ``low`` and ``high`` are the ends of the colour scale; NaN is no value. ``outlined`` are cells (row, column) to be
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
    """A name with a value, the ends of what surrounds it (infinite: no end), and a text beside it."""

    name: str
    value: float
    low: float
    high: float
    text: str = ""


@dataclass(frozen=True)
class Intervals(Chart):
    """Values with intervals below each other over one axis; ``side`` is what the texts beside them are."""

    title: str
    axis: Axis
    rows: tuple[IntervalRow, ...]
    side: str = ""
    rules: tuple[Rule, ...] = ()
    caption: str = ""

    def scale(self, most: int) -> Scale:
        """The axis over everything that has an end."""
        values = [value for row in self.rows for value in (row.value, row.low, row.high)]
        values += [rule.x for rule in self.rules if rule.x is not None]
        return Scale.of(self.axis, values, 0.03, most)

    def described(self) -> Iterator[str]:
        yield f"{self.axis.label}."
        for row in self.rows:
            yield f"{row.name}: {row.value:.4g}, from {row.low:.4g} to {row.high:.4g}{row.text and f', {row.text}'}."


@dataclass(frozen=True)
class CriticalDiagram(Chart):
    """Names at their values on one axis, the best first, and bars over those that are not significantly different.

    ``bars`` are the first and last place of each; ``critical`` is how far apart two have to be. ``is_falling``: high
    values are the better ones, and stand on the right.
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
    """A group's 10, 25, 50, 75 and 90 per cent points, and how many values they are of."""

    name: str
    points: tuple[float, float, float, float, float]
    size: int


@dataclass(frozen=True)
class Boxes(Chart):
    """Groups of values side by side, each as a box from a quarter to three quarters with whiskers to 10 and 90%."""

    title: str
    axis: Axis
    groups: tuple[Percentiles, ...]
    caption: str = ""

    @property
    def full_caption(self) -> str:
        """The caption, and how boxes are to be read.

        >>> Boxes("", Axis("ADM"), (), "Over 109 systems").full_caption
        'Over 109 systems. Box: 25 to 75% of the values, the line in it: 50%, whiskers: 10 to 90%.'
        """
        own = self.caption + ("" if self.caption.endswith((".", "!", "?")) else ".") + " " if self.caption else ""
        return own + "Box: 25 to 75% of the values, the line in it: 50%, whiskers: 10 to 90%."

    @property
    def systems(self) -> Iterator[str]:
        return (group.name for group in self.groups)

    def scale(self) -> Scale:
        """The axis over all whiskers."""
        return Scale.of(self.axis, [value for group in self.groups for value in group.points], 0.05)

    def described(self) -> Iterator[str]:
        yield f"{self.axis.label}, the middle of each group."
        yield from (f"{group.name}: {group.points[2]:.4g}." for group in self.groups)


#: The most letters of a name in a chart; a table has all of them.
LONGEST_NAME = 24


def system_numbers(charts: Iterable[Chart]) -> dict[str, int]:
    """Every system's number on a page, in the order in which they are first named: it decides the letter.

    >>> x, lines = Axis("rank"), (Line("b", (), ()), Line("ideal", (), (), "ideal"))
    >>> system_numbers([Plot("", x, x, lines), Plot("", x, x, (Line("a", (), ()),))])
    {'b': 0, 'a': 1}
    """
    return {name: i for i, name in enumerate(dict.fromkeys(name for chart in charts for name in chart.systems))}


def hues(names: Iterable[str], count: int) -> dict[str, int]:
    """A number for each name, whatever the order: modulo ``count`` it is the hue, which a name keeps wherever it can.

    The name decides; of two that want the same hue the later one of the alphabet gets the next that is free. Beyond
    ``count`` names hues come again, with higher numbers.

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
    """The name that decides the colour."""
    return (what.system if isinstance(what, Points) else "") or what.name


def name_of(what: Line | Points) -> str:
    """What a legend calls a line or points: a system that has the ideal's name is quoted.

    >>> name_of(Line("ideal", (), ())), name_of(Line("ideal", (), (), "ideal"))
    ("'ideal'", 'ideal')
    """
    is_taken = what.role == "system" and what.name.strip("()").casefold() == "ideal"
    return f"'{what.name}'" if is_taken else what.name


def shortened(name: str, length: int = LONGEST_NAME, dots: str = "...", among: Iterable[str] = ()) -> str:
    """A long name without its middle, because names often differ at their ends. Those ``among`` which it stands remain
    distinct: where the middle is all that differs, something else is left out, or less.

    >>> shortened("a-very-long-name-of-a-system-v2", 16)
    'a-very-...tem-v2'
    >>> [shortened(f"bm25-b0.{b}-run", 12, among=["bm25-b0.4-run", "bm25-b0.5-run"]) for b in "45"]
    ['bm25...4-run', 'bm25...5-run']
    """
    return _without_part(name, *_cut_for(tuple(among) or (name,), length, len(dots)), dots)


def _without_part(name: str, length: int, end: int, dots: str) -> str:
    """A name of at most some length, of which so much is its end."""
    return name if len(name) <= length else name[: length - len(dots) - end] + dots + name[len(name) - end :]


@cache
def _cut_for(names: tuple[str, ...], length: int, dots: int) -> tuple[int, int]:
    """The length and the end with which names are shortened and distinct: as near as can be to half before the dots."""
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
    """An axis with everything settled."""

    low: float
    high: float
    is_log: bool
    ticks: Ticks

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float], margin: float = 0.0, most: int = 6) -> Scale:
        """The axis for some values: ends that are not given lie where the values end, or by a margin beyond."""
        usable = [value for value in values if math.isfinite(value) and (value > 0 or not axis.is_log)]
        ends = _ends(axis, usable, margin)
        if axis.ticks:
            ticks = tuple(tick for tick in axis.ticks if ends[0] <= tick[0] <= ends[1])
        else:
            ticks = (log_ticks if axis.is_log else nice_ticks)(*ends, most, axis.is_whole)
        return cls(*ends, axis.is_log, ticks)

    def place(self, value: float) -> float:
        """Where a value stands: 0 at the lower end, 1 at the upper one; NaN for what a logarithm does not have.

        >>> Scale(1, 100, True, ()).place(10), Scale(0, 4, False, ()).place(1)
        (0.5, 0.25)
        """
        if not math.isfinite(value) or (self.is_log and value <= 0):
            return math.nan
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def scales_of(plot: Plot, most_x: int = 6, most_y: int = 6) -> tuple[Scale, Scale]:
    """Both axes of a plot. Lines reach the ends of the horizontal axis; points and their outlines keep a distance."""
    bands = [line.band for line in plot.lines if line.band]
    x = [*chain(*(what.x for what in (*plot.named, *bands))), *(rule.x for rule in plot.rules if rule.x is not None)]
    y = [*chain(*(what.y for what in plot.named)), *(rule.y for rule in plot.rules if rule.y is not None)]
    y += chain(*((*band.low, *band.high) for band in bands))
    is_free = bool(plot.points) and all(line.name in plot.shared for line in plot.lines)
    return Scale.of(plot.x, x, 0.04 if is_free else 0.0, most_x), Scale.of(plot.y, y, 0.05, most_y)


def _ends(axis: Axis, values: list[float], margin: float) -> tuple[float, float]:
    empty = (1.0, 10.0) if axis.is_log else (0.0, 1.0)
    low, high = (min(values), max(values)) if values else empty
    if axis.is_log:
        beyond = (high / low) ** margin
        low, high = low / beyond, high * beyond
    else:
        # What is never negative is not shown as if it were.
        beyond = margin * (high - low)
        low, high = (0.0 if 0 <= low <= 2 * beyond else low - beyond), high + beyond
    low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
    if axis.is_log and low <= 0:
        low = min(empty[0], high / 10)
    if high > low:
        return low, high
    return (low / 2, low * 2) if axis.is_log else (low - 0.5, low + 0.5)


def nice_ticks(low: float, high: float, most: int = 6, is_whole: bool = False) -> Ticks:
    """At most so many round numbers between two, equally far apart; 1 begins what begins at 1, as ranks do.

    >>> [text for _, text in nice_ticks(0, 1)], [text for _, text in nice_ticks(1, 100)]
    (['0.0', '0.2', '0.4', '0.6', '0.8', '1.0'], ['1', '20', '40', '60', '80', '100'])
    >>> [text for _, text in nice_ticks(1, 7, is_whole=True)]  # the ranks of a short list are all there
    ['1', '2', '3', '4', '5', '6', '7']
    """
    if is_whole and low == 1 and high - low < _SHORT:
        most = _SHORT
    exponent = math.floor(math.log10((high - low) / most)) if high - low > 0 else 0
    if is_whole:
        exponent = max(0, exponent)
    for power in range(exponent, exponent + 3):
        for digit in _STEPS:
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
    """Powers of ten between two numbers, with 2 and 5 times these if there is room; round numbers between close ones.

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
