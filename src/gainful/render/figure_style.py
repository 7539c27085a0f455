"""How figures look: sizes for print, colours that everybody can tell apart, and text that comes out as it is.

Lengths are inches, from the lower left of a figure. Names of lines stand at the lines' ends if they fit there,
otherwise in one legend below all charts.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar
from unicodedata import east_asian_width

from gainful.pages.charts import (
    LONGEST_NAME,
    Chart,
    Line,
    Plot,
    Points,
    Scale,
    hue_of,
    hues,
    name_of,
    scales_of,
    shortened,
    system_numbers,
)
from gainful.render.cells import plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axis import Axis as MatplotlibAxis
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties


class Room(NamedTuple):
    """What a chart needs around its axes, and how high these are; how many lines the axes' names may have."""

    left: float
    right: float
    bottom: float
    height: float
    x_lines: int = 1
    y_lines: int = 1


class Box(NamedTuple):
    """A rectangle."""

    left: float
    bottom: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height

    def of(self, figure: Figure) -> tuple[float, float, float, float]:
        """The same in parts of a figure's size."""
        width, height = figure.get_size_inches()
        return self.left / width, self.bottom / height, self.width / width, self.height / height


_AnyChart = TypeVar("_AnyChart", bound=Chart)


class Drawing(Generic[_AnyChart]):
    """How one kind of chart becomes a panel of a figure. ``labels`` are names beside a plot's lines."""

    def __init__(self, chart: _AnyChart) -> None:
        self.chart = chart
        self.labels: Sequence[EndLabel] = ()

    def needed_width(self) -> float:
        """How wide a panel has to be: some charts can be drawn at any width."""
        return 0.0

    def room(self, width: float) -> Room:
        """What the chart needs around its axes and how high these are, in a panel of some width."""
        raise NotImplementedError

    def caption(self, room: Room) -> str:
        """What stands below."""
        return self.chart.caption

    def draw(self, figure: Figure, box: Box, room: Room, looks: Looks) -> None:
        """The chart into a box."""
        raise NotImplementedError


#: Widths of a figure in inches, by the columns of a paper that it takes.
WIDTHS = {1: 3.33, 2: 7.0}

#: Sizes of type in points.
TITLE, LABEL, TICK, CAPTION, NOTE = 8.0, 7.5, 7.0, 6.5, 5.5

#: Height of a line of type, in sizes of the type.
LEADING = 1.3

#: The colours of Okabe and Ito, without yellow, which is too light on white, and without black, which is the ideal's;
#: and a dark red and an indigo in their place.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288")

#: Strokes and gaps in line widths, for those who see or print no colours.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 1.6),
    (2, 1.2),
    (6, 1.4, 1.2, 1.4),
    (9, 1.8),
    (1, 1.1),
    (5, 1.2, 1, 1.2, 1, 1.2),
    (3, 3),
)
MARKERS = "o^vsDPX*"
INK, GREY, PALE = "#000000", "#6B6B6B", "#C9C9C9"

#: Drawing borrows matplotlib's global settings for a moment: one thread at a time.
_LOCK = threading.RLock()

_SETTINGS: Mapping[Any, Any] = {
    "svg.fonttype": "path",  # looks the same everywhere, whatever fonts are installed
    "svg.hashsalt": "gainful",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "path.simplify": False,
    "text.usetex": False,
    "text.parse_math": False,
    "axes.unicode_minus": False,
}


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """matplotlib's own defaults and ours, whatever a user's matplotlibrc says, until the block ends."""
    import matplotlib

    with _LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        for name, value in _SETTINGS.items():
            matplotlib.rcParams[name] = value
        yield


_IN_BROWSER: ContextVar[bool] = ContextVar("in_browser", default=False)

#: How wide letters are in a wide font of browsers, in sizes of the type; all others are 0.65.
_WIDTHS = {
    letter: width
    for width, letters in (
        (0.3, "'IJijl"),
        (0.35, " ,./:;\\f|"),
        (0.4, "!()-[]t"),
        (0.45, '"r'),
        (0.55, "*_`?Lcsz"),
        (0.6, "FPkvxy"),
        (0.75, "ABCRVXZHNU"),
        (0.85, "&DGOQ#+<=>^w~"),
        (1.0, "M%@Wm…"),
    )
    for letter in letters
}


@contextlib.contextmanager
def for_browsers() -> Iterator[None]:
    """Until the block ends texts are measured for a browser, which has a font of its own for every character."""
    before = _IN_BROWSER.set(True)
    try:
        yield
    finally:
        _IN_BROWSER.reset(before)


@cache
def _font_path(is_bold: bool = False) -> str:
    """The font that comes with matplotlib, rather than one of that name that happens to be installed."""
    import os.path

    import matplotlib

    name = "DejaVuSans-Bold.ttf" if is_bold else "DejaVuSans.ttf"
    return os.path.join(matplotlib.get_data_path(), "fonts", "ttf", name)


def font(size: float, is_bold: bool = False) -> FontProperties:
    """The type of a size."""
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=_font_path(is_bold), size=size)


def typed(size: float, **others: Any) -> dict[str, Any]:
    """The properties of a text of some size, which is taken as it is."""
    return {"fontproperties": font(size), "parse_math": False, **others}


def shown(text: str) -> str:
    """A text in one line; a character that the font does not have is escaped, as in tables what cannot be printed."""
    text = plain(text)
    if text.isascii() or _IN_BROWSER.get():
        return text
    from matplotlib.font_manager import get_font

    known = get_font(_font_path())
    return "".join(c if known.get_char_index(ord(c)) else c.encode("unicode_escape").decode() for c in text)


def short(name: str, length: int = LONGEST_NAME, among: Iterable[str] = ()) -> str:
    """A name as it stands in a figure, among others from which it differs."""
    return shortened(shown(name), length, "…", map(shown, among))


def short_names(names: Iterable[str], length: int = LONGEST_NAME) -> list[str]:
    """Names that stand beside each other in a figure."""
    names = tuple(names)
    return [short(name, length, names) for name in names]


def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """How wide a line of text is, in inches; in a browser, whose font is not known, at most about so wide."""
    return _most_width(text) * size / 72 if _IN_BROWSER.get() else _exact_width(text, size, is_bold)


def _most_width(text: str) -> float:
    return sum(_WIDTHS.get(c) or (1.0 if east_asian_width(c) in "WF" else 0.65) for c in text)


@cache
def _exact_width(text: str, size: float, is_bold: bool) -> float:
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, font(size, is_bold), ismath=False)
    return float(width) / 72


def height_of(size: float, lines: int = 1) -> float:
    """How high lines of text are, in inches."""
    return lines * size * LEADING / 72


def wrapped(text: str, size: float, room: float, is_bold: bool = False) -> list[str]:
    """A text in lines of at most so many inches; signatures, which have no spaces, are broken after a bar, and a word
    that is longer than a line where the line ends."""
    lines: list[str] = []
    line = ""
    for word in shown(text).replace("|", "|\0").replace(" ", " \0").split("\0"):
        if line and width_of((line + word).rstrip(), size, is_bold) > room:
            lines.append(line.rstrip())
            line = ""
        line += word
        while width_of(line.rstrip(), size, is_bold) > room and len(line) > 1:
            start = _beginning(line, size, room, is_bold)
            lines.append(start)
            line = line[len(start) :]
    return [*lines, line.rstrip()] if line.strip() else lines


def _beginning(text: str, size: float, room: float, is_bold: bool = False) -> str:
    """As much of a text's beginning as there is room for, at least one letter."""
    fitting = 1
    while fitting < len(text) and width_of(text[: fitting + 1], size, is_bold) <= room:
        fitting += 1
    return text[:fitting]


def cut(text: str, size: float, room: float) -> str:
    """A text that is no wider than so many inches: where it is too long, its end is dots."""
    if width_of(text, size) <= room:
        return text
    return _beginning(text, size, room - width_of("…", size)).rstrip(" ,(") + "…"


def fitted(text: str, size: float, room: float, most: int) -> list[str]:
    """A text in at most so many lines of at most so many inches; what does not fit is cut off at the end."""
    lines = wrapped(text, size, room)
    return lines if len(lines) <= most else [*lines[: most - 1], cut(" ".join(lines[most - 1 :]), size, room)]


def write(figure: Figure, x: float, y: float, text: str, size: float, **how: Any) -> Artist:
    """A text at a place in inches from the lower left."""
    width, height = figure.get_size_inches()
    weight = how.pop("is_bold", False)
    return figure.text(x / width, y / height, text, fontproperties=font(size, weight), parse_math=False, **how)


def write_lines(figure: Figure, x: float, top: float, lines: Iterable[str], size: float, **how: Any) -> float:
    """Lines below each other from ``top`` on; where the last one ends."""
    for text in lines:
        write(figure, x, top - height_of(size) * 0.78, text, size, va="baseline", **how)
        top -= height_of(size)
    return top


def ticks_width(scale: Scale) -> float:
    """How wide the numbers beside an upright axis are, in inches."""
    return max((width_of(shown(text), TICK) for _, text in scale.ticks), default=0.0)


def set_ticks(axis: MatplotlibAxis, scale: Scale) -> None:
    """An axis' ticks as they were settled, and no others."""
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_ticks([value for value, _ in scale.ticks], labels=[shown(text) for _, text in scale.ticks], **typed(TICK))


class Look(NamedTuple):
    """How the things of one name are drawn."""

    colour: str
    dashes: tuple[float, ...]
    width: float
    marker: str
    order: int

    def line(self) -> dict[str, Any]:
        """The properties of a line."""
        style = "solid" if not self.dashes else (0.0, self.dashes)
        return {"color": self.colour, "linewidth": self.width, "linestyle": style, "zorder": self.order}

    def points(self, are_many: bool = False, is_named: bool = False) -> dict[str, Any]:
        """The properties of markers, smaller ones where there are many.

        Markers may lie upon each other, so none may wipe out what is below: their edges have their own colour, and
        their faces let others through. One that has a label is on top, and has a dark edge.
        """
        return {
            "linestyle": "none",
            "marker": self.marker,
            "markersize": 2.4 if are_many else 3.6,
            "markerfacecolor": self.colour if is_named else (self.colour, 0.5),
            "markeredgecolor": INK if is_named else self.colour,
            "markeredgewidth": 0.4 if is_named else 0.3,
            "zorder": self.order + (2 if is_named else 1),
        }


class Looks(NamedTuple):
    """How everything on a page is drawn: a system has the same look in all charts, and as others allow elsewhere."""

    numbers: Mapping[str, int]  # modulo the number of colours the one that a name has in other figures, too
    places: Mapping[str, int]  # in which order names come in this figure

    @classmethod
    def of(cls, charts: Sequence[Chart], others: Iterable[str] = ()) -> Looks:
        """The looks of all in some charts, beside others that other figures of the same call have, unless these are so
        many that colours would come again."""
        places = system_numbers(charts)
        together = {*places, *others}
        return cls(hues(together if len(together) <= len(COLOURS) else places, len(COLOURS)), places)

    def __call__(self, what: Line | Points) -> Look:
        if what.role == "ideal":
            return Look(INK, (), 1.5, MARKERS[0], 4)
        if what.role == "guide":
            return Look(GREY, (), 0.6, MARKERS[0], 2)
        return self.of_system(hue_of(what))

    def of_system(self, name: str) -> Look:
        """The look of a system, or of a group of systems."""
        turn, colour = divmod(self.numbers[name], len(COLOURS))
        # Of more than eight colours come again, with other strokes and other markers.
        other = self.places[name] if len(self.places) <= len(COLOURS) else (colour + turn) % len(DASHES)
        return Look(COLOURS[colour], DASHES[other], 1.2, MARKERS[other], 3)


#: The most names beside a chart, and how far (in inches) one may stand from the end of its line.
_MOST, _FURTHEST = 8, 0.3

#: The sample of a line before its name, and the gaps around it, in inches.
SAMPLE, GAP = 0.22, 0.05
_BETWEEN = 0.16

#: From so many entries on a legend has two columns, even if names get shorter; and how short they may get.
_MANY, _SHORTEST = 5, 10


class EndLabel(NamedTuple):
    """A line's name beside its end: where the line ends and where the name stands (0 to 1 of the chart's height)."""

    line: Line
    text: str
    end: float
    place: float


def end_labels(plot: Plot, height: float) -> list[EndLabel] | None:
    """The names of all lines beside a chart of some height in inches; None if they do not fit."""
    named = [line for line in plot.lines if line.name]
    if len(named) > _MOST:
        return None
    scales = scales_of(plot)
    ends = [_end(line, *scales) for line in named]
    if any(math.isnan(end) for end in ends):
        return None
    places = spread(ends, height_of(LABEL) / height, 0.0, 1.0)
    if places is None or any(abs(a - b) * height > _FURTHEST for a, b in zip(ends, places, strict=True)):
        return None
    return [EndLabel(*each) for each in zip(named, entry_texts(named), ends, places, strict=True)]


def _end(line: Line, x: Scale, y: Scale) -> float:
    """The height at which a line ends at the right; NaN for one that ends before, or nowhere."""
    for a, b in zip(reversed(line.x), reversed(line.y), strict=True):
        along, across = x.place(a), y.place(b)
        if not math.isnan(along) and not math.isnan(across):
            return min(max(across, 0.0), 1.0) if along > 0.9 else math.nan
    return math.nan


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


def room_for(labels: Iterable[EndLabel]) -> float:
    """How many inches names need beside a chart."""
    widths = [width_of(label.text, LABEL) for label in labels]
    return max(widths) + SAMPLE + 3 * GAP if widths else 0.0


def draw_end_labels(
    figure: Figure, labels: Iterable[EndLabel], x: float, bottom: float, height: float, looks: Looks
) -> None:
    """The names beside a chart whose right edge is at ``x`` inches, each with a sample of its line."""
    for line, text, end, place in labels:
        at = bottom + place * height
        if abs(end - place) * height > 0.03:
            _stroke(figure, (x + 0.01, x + 1.4 * GAP), (bottom + end * height, at), color=GREY, linewidth=0.35)
        _stroke(figure, (x + 1.5 * GAP, x + 1.5 * GAP + SAMPLE), (at, at), **looks(line).line())
        write(figure, x + 2.3 * GAP + SAMPLE, at, text, LABEL, va="center_baseline")


def legend_entries(charts: Iterable[Chart], are_lines_named: bool) -> list[Line | Points]:
    """Everything that a legend has to name, each once: points with an outline by the points."""
    found: dict[str, Line | Points] = {}
    for chart in charts:
        if isinstance(chart, Plot):
            for what in chart.keyed:
                if isinstance(what, Points) or not are_lines_named:
                    found.setdefault(name_of(what), what)
    return list(found.values())


#: What a legend names, and how.
Entry: TypeAlias = tuple[Line | Points, str]


class Legend(NamedTuple):
    """Rows of what a legend names, each with the text beside it."""

    rows: list[list[Entry]]

    @classmethod
    def of(cls, named: Sequence[Line | Points], room: float) -> Legend:
        """As few rows as fit into some inches. Of many entries, names are shortened until at least two fit in a row, if
        they can."""
        usual = _rows(named, room, LONGEST_NAME)
        if len(named) < _MANY:
            return cls(usual)
        tried = (_rows(named, room, length) for length in range(LONGEST_NAME, _SHORTEST - 1, -1))
        return cls(next((rows for rows in tried if len(rows) < len(named)), usual))


def _rows(named: Sequence[Line | Points], room: float, length: int) -> list[list[Entry]]:
    """The entries in as few rows as fit into some inches, of about equal length, in columns."""
    entries = list(zip(named, entry_texts(named, length), strict=True))
    for count in range(1, len(entries)):
        each = math.ceil(len(entries) / count)
        rows = [entries[i : i + each] for i in range(0, len(entries), each)]
        if sum(column_widths(rows)) - _BETWEEN <= room:
            return rows
    return [[entry] for entry in entries]


def column_widths(rows: Sequence[Sequence[Entry]]) -> list[float]:
    """How wide the columns of a legend are, each with the gap behind it."""
    return [
        max(SAMPLE + GAP + width_of(entry[1], LABEL) for entry in column if entry) + _BETWEEN
        for column in zip_longest(*rows)
    ]


def entry_texts(named: Sequence[Line | Points], length: int = LONGEST_NAME) -> list[str]:
    """What a legend calls things, or stands beside the ends of their lines."""
    return short_names(map(name_of, named), length)


def draw_legend(figure: Figure, legend: Legend, x: float, top: float, looks: Looks) -> None:
    """Rows of samples with their names, in columns."""
    widths = column_widths(legend.rows)
    for row in legend.rows:
        at, left = top - height_of(LABEL) / 2, x
        for (entry, text), width in zip(row, widths, strict=False):
            if isinstance(entry, Line):
                _stroke(figure, (left, left + SAMPLE), (at, at), **looks(entry).line())
            else:
                # Named points are dark: so is their sample, if all are.
                are_named = bool(entry.labels) and all(entry.labels)
                _stroke(figure, (left + SAMPLE / 2,), (at,), **looks(entry).points(is_named=are_named))
            write(figure, left + SAMPLE + GAP, at, text, LABEL, va="center_baseline")
            left += width
        top -= height_of(LABEL)


def _stroke(figure: Figure, x: Sequence[float], y: Sequence[float], **how: object) -> None:
    """A line or a marker at places in inches."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    figure.add_artist(
        Line2D([a / width for a in x], [b / height for b in y], transform=figure.transFigure, **how)  # type: ignore[arg-type]
    )
