"""The style of figures: sizes for print, colours that everybody can distinguish, and text measurement, in inches."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from gainful.pages.charts import LONGEST_NAME, Chart, Line, Points, Scale, hue_of, hues, shortened
from gainful.render.cells import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Figure sizes: columns of a paper, or a slide; and the widths of columns.
Size: TypeAlias = Literal[1, 2, "slide"]
WIDTHS = {1: 3.33, 2: 7.0}

#: Font sizes in points, and the line height relative to the font size.
TITLE, LABEL, TICK, CAPTION, NOTE = 8.0, 7.5, 7.0, 6.5, 5.5
_LEADING = 1.3

#: The gaps below titles and around other texts.
_BELOW_TITLE, GAP = 0.03, 0.06

#: Okabe and Ito's colours, with dark red and indigo in place of yellow, which is too light, and black, used for ideals.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288")

#: Dash patterns in line widths, for readers or prints without colours.
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
INK, GREY = "#000000", "#6B6B6B"

#: Drawing changes matplotlib's global settings temporarily: one thread at a time.
_LOCK = threading.RLock()

_SETTINGS: Mapping[str, Any] = {
    "svg.fonttype": "path",  # looks the same everywhere, whatever fonts are installed
    "svg.hashsalt": "gainful",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": TICK,
    "axes.titlesize": TITLE,
    "axes.labelsize": LABEL,
    "axes.labelpad": 2.0,
    "legend.fontsize": LABEL,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.0,
    "legend.labelspacing": 0.2,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": TICK,
    "ytick.labelsize": TICK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "path.simplify": False,
    "text.hinting": "none",  # texts have the same size in all formats
    "text.parse_math": False,
    "axes.unicode_minus": False,
}


@contextlib.contextmanager
def settings(**changes: Any) -> Iterator[None]:
    """Apply matplotlib's defaults, our settings and ``changes`` (``svg_fonttype`` for ``svg.fonttype``) in a block,
    independent of a user's matplotlibrc."""
    import matplotlib

    with _LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        wanted: Any = {**_SETTINGS, **{name.replace("_", ".", 1): value for name, value in changes.items()}}
        matplotlib.rcParams.update(wanted)
        yield


def shown(text: str) -> str:
    """Return a text in one line, with minus signs in place of hyphens before numbers and between blanks."""
    return in_font(re.sub(r"(?<![\w.)\]])-(?=\.?\d|log)|(?<= )-(?= )", "\u2212", plain(text)))


def in_font(name: str) -> str:
    """Return a name in one line; escape characters that the font lacks, except in HTML, where browsers find a font."""
    text = plain(name)
    if text.isascii():
        return text
    import matplotlib
    from matplotlib.font_manager import findfont, get_font

    if matplotlib.rcParams["svg.fonttype"] == "none":
        return text
    known = get_font(findfont("DejaVu Sans"))
    return "".join(c if known.get_char_index(ord(c)) else c.encode("unicode_escape").decode() for c in text)


def short_names(names: Iterable[str], length: int = LONGEST_NAME) -> list[str]:
    """Shorten the names in a figure, keeping them distinct."""
    whole = tuple(map(in_font, names))
    return [shortened(name, length, "…", whole) for name in whole]


@cache
def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """The width of a line of text."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if is_bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def height_of(size: float, lines: int = 1) -> float:
    """The height of lines of text."""
    return lines * size * _LEADING / 72


def block_height(size: float, lines: Sequence[str], gap: float = GAP) -> float:
    """Return the height of text lines, including the gap next to them; 0 for no lines."""
    return height_of(size, len(lines)) + gap if lines else 0.0


def wrapped(text: str, size: float, room: float, is_bold: bool = False) -> list[str]:
    """Wrap a text to lines of at most ``room`` inches. Signatures, which have no spaces, break after a bar."""
    whole = shown(text).strip()
    lines, letters = [whole] if whole else [], 1.2 * len(whole) * room / (width_of(whole, size, is_bold) or room)
    # Letters differ in width: reduce their number until all lines fit.
    while any(width_of(line, size, is_bold) > room for line in lines) and letters > 1:
        lines = wrap(whole.replace("|", "| "), int(letters), break_on_hyphens=False)
        lines = [line.replace("| ", "|") for line in lines]
        letters -= 1
    return lines


def fitted(text: str, size: float, room: float, most: int = 2) -> str:
    """Wrap a text to at most ``most`` lines of at most ``room`` inches, and cut the rest."""
    lines = wrapped(text, size, room)
    if len(lines) > most:
        rest = wrapped(" ".join(lines[most - 1 :]), size, room - width_of("…", size))[0]
        lines = [*lines[: most - 1], rest.rstrip(" ,(") + "…"]
    return "\n".join(lines)


class Look(NamedTuple):
    """The style of everything with one name."""

    colour: str
    dashes: tuple[float, ...]
    width: float
    marker: str
    order: int

    def line(self) -> dict[str, Any]:
        style = "solid" if not self.dashes else (0.0, self.dashes)
        return {"color": self.colour, "linewidth": self.width, "linestyle": style, "zorder": self.order}

    def points(self, size: float = 3.6, is_named: bool = False) -> dict[str, Any]:
        """The properties of markers.

        Markers may overlap, so they must not hide others: edges are opaque, faces transparent. Labelled ones are on
        top, with a dark edge.
        """
        return {
            "linestyle": "none",
            "marker": self.marker,
            "markersize": size,
            "markerfacecolor": self.colour if is_named else (self.colour, 0.5),
            "markeredgecolor": INK if is_named else self.colour,
            "markeredgewidth": 0.4 if is_named else 0.3,
            "zorder": self.order + (2 if is_named else 1),
        }


class Looks(NamedTuple):
    """The styles of a page: a system looks the same in all charts and, if possible, in other figures."""

    numbers: Mapping[str, int]  # modulo the number of colours, the same for a name in all figures
    places: Mapping[str, int]  # order of names in this figure

    @classmethod
    def of(cls, names: Iterable[str], others: Iterable[str] = ()) -> Looks:
        """Return the styles of some systems; ``others`` are systems in other figures of the same call, ignored if
        colours would repeat."""
        places = {name: i for i, name in enumerate(dict.fromkeys(names))}
        together = {*places, *others}
        return cls(hues(together if len(together) <= len(COLOURS) else places, len(COLOURS)), places)

    def __call__(self, what: Line | Points) -> Look:
        if what.role == "ideal":
            return Look(INK, (), 1.5, MARKERS[0], 4)
        if what.role == "guide":
            return Look(GREY, (), 0.6, MARKERS[0], 2)
        return self.of_system(hue_of(what))

    def of_system(self, name: str) -> Look:
        """Return the style of a system, or of a group of systems."""
        turn, colour = divmod(self.numbers[name], len(COLOURS))
        # Beyond eight systems colours repeat, with other dashes and markers.
        other = self.places[name] if len(self.places) <= len(COLOURS) else (colour + turn) % len(DASHES)
        return Look(COLOURS[colour], DASHES[other], 1.2, MARKERS[other], 3)


class Room(NamedTuple):
    """The space that names and numbers need around the axes of a chart."""

    left: float
    right: float
    bottom: float
    top: float


_AnyChart = TypeVar("_AnyChart", bound=Chart)


class Drawing(Generic[_AnyChart]):
    """A chart of some kind, drawn into axes that the figure then positions."""

    def __init__(self, figure: Figure, chart: _AnyChart, looks: Looks) -> None:
        self.chart, self.looks, self.figure = chart, looks, figure
        self.axis_names = ("", "")  # horizontal and vertical
        self.least_width = 0.0  # of the axes; 0 if any width will do
        self.width = 0.0  # of the panel: the axes and everything around them
        self.aspect = 0.6
        self.room = Room(0.4, 0.1, 0.3, 0.1)
        self.title: list[str] = []
        self.caption: list[str] = []
        self.axes = figure.add_axes((0.25, 0.25, 0.5, 0.5))
        self.draw()

    def draw(self) -> None:
        """Draw everything that does not depend on the size of the axes; set their names and minimum width."""
        raise NotImplementedError

    def height(self, panel: float, width: float) -> float:
        """Return the height of axes of a width in a panel of a width."""
        return min(self.aspect * panel, 2.6)

    def fit(self, width: float, height: float) -> None:
        """Fit the texts around the axes: axis names take at most two lines."""
        self.axes.set_xlabel(fitted(self.axis_names[0], LABEL, width))
        self.axes.set_ylabel(fitted(self.axis_names[1], LABEL, height))

    def finish(self) -> None:
        """Draw what depends on the final layout."""

    @property
    def size(self) -> tuple[float, float]:
        inside = max(0.3, self.width - self.room.left - self.room.right)
        return inside, self.height(self.width, inside)

    @property
    def above(self) -> float:
        return block_height(TITLE, self.title, _BELOW_TITLE) + self.room.top

    @property
    def panel_height(self) -> float:
        return self.above + self.size[1] + self.room.bottom + block_height(CAPTION, self.caption)

    def place(self, left: float, bottom: float) -> None:
        (width, height), (wide, tall) = self.size, self.figure.get_size_inches()
        self.axes.set_position((left / wide, bottom / tall, width / wide, height / tall))

    def around(self) -> Room:
        """Measure the room around the axes."""
        inner, outer, dpi = self.axes.bbox, self.axes.get_tightbbox() or self.axes.bbox, self.figure.dpi
        ends = (inner.x0 - outer.x0, outer.x1 - inner.x1, inner.y0 - outer.y0, outer.y1 - inner.y1)
        return Room(*(max(0.0, float(end) / dpi) for end in ends))

    def inches_from(self, x: float, y: float) -> Any:
        """Return the transformation from inches, relative to a point of the axes (0 to 1), to figure positions."""
        from matplotlib.transforms import ScaledTranslation

        corner: Any = self.axes.transAxes
        return self.figure.dpi_scale_trans + ScaledTranslation(x, y, corner)


def settle(axes: Axes, which: Literal["x", "y"], scale: Scale) -> None:
    """Set the scale, ends and ticks of one of the axes."""
    from matplotlib.ticker import NullLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    how = {f"{which}scale": "log" if scale.is_log else "linear", f"{which}lim": (scale.low, scale.high)}
    axes.set(**how)
    axis.set_minor_locator(NullLocator())
    axis.set_ticks([value for value, _ in scale.ticks], labels=[shown(text) for _, text in scale.ticks])
