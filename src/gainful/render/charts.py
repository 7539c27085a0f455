"""Figures as data: what stands where, under which names. Drawing is somebody else's work (figure.py, chart_text.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: What is drawn: a system in a colour of its own, the ideal in black, a guide (a threshold, a diagonal) thin and grey.
Role: TypeAlias = Literal["system", "ideal", "guide"]


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, from where to where (None: as far as the data go), and at which places it has ticks."""

    label: str
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()


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
    """Single points that belong together; ``labels`` are empty, or one for every point (empty: none for this one)."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A thin line across the chart, at ``x`` or at ``y``."""

    label: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Plot:
    """Lines and points over two axes. A system has the same colour in all plots of a page."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    points: tuple[Points, ...] = ()
    rules: tuple[Rule, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class HeatMap:
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


Chart: TypeAlias = Plot | HeatMap
