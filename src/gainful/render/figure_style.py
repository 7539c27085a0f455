"""How figures look: sizes for print, colours that everybody can tell apart, and text that comes out as it is."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.render.charts import LONGEST_NAME, Chart, Line, Points, shortened, system_numbers
from gainful.render.shown import plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axis import Axis as MatplotlibAxis
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    from gainful.render.scales import Scale

#: Widths of a figure in inches, by the columns of a paper that it takes.
WIDTHS = {1: 3.35, 2: 7.0}

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


def shown(text: str) -> str:
    """A text in one line; a character that the font does not have is escaped, as in tables what cannot be printed."""
    text = plain(text)
    if text.isascii():
        return text
    from matplotlib.font_manager import get_font

    known = get_font(_font_path())
    return "".join(c if known.get_char_index(ord(c)) else c.encode("unicode_escape").decode() for c in text)


def short(name: str, length: int = LONGEST_NAME) -> str:
    """A name as it stands in a figure."""
    return shortened(shown(name), length, dots="…")


@cache
def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """How wide a line of text is, in inches."""
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


def set_ticks(axis: MatplotlibAxis, scale: Scale) -> None:
    """An axis' ticks as they were settled, and no others."""
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_ticks(
        [value for value, _ in scale.ticks],
        labels=[shown(text) for _, text in scale.ticks],
        fontproperties=font(TICK),
        parse_math=False,
    )


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
    """How everything on a page is drawn: a system has the same look in all charts."""

    numbers: Mapping[str, int]

    @classmethod
    def of(cls, charts: Iterable[Chart]) -> Looks:
        return cls(system_numbers(charts))

    def __call__(self, what: Line | Points) -> Look:
        if what.role == "ideal":
            return Look(INK, (), 1.5, MARKERS[0], 4)
        if what.role == "guide":
            return Look(GREY, (), 0.6, MARKERS[0], 2)
        return self.of_system(what.name)

    def of_system(self, name: str) -> Look:
        """The look of a system, or of a group of systems."""
        number = self.numbers[name]
        colour = number % len(COLOURS)
        # From the ninth on colours come again, with other strokes and other markers.
        other = (colour + number // len(COLOURS)) % len(DASHES)
        return Look(COLOURS[colour], DASHES[other], 1.2, MARKERS[other], 3)
