"""Where a row came from, in words that let a person find it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from gainful.arrays import Bytes, Ints
from gainful.notation import printable

_WIDEST = 120


class Origin(Protocol):
    """Says where rows stand in what they were read from."""

    def where(self, row: int) -> str:
        """The source and the place in it."""

    def place(self, row: int) -> str:
        """The place alone."""

    def shown(self, row: int) -> str:
        """What stands there, on a line of its own, if it can be shown; else nothing."""

    def take(self, rows: Ints) -> Origin:
        """The origin of some of the rows."""


class TextLines(NamedTuple):
    """Rows that are lines of a text, known by the offsets of their first bytes."""

    name: str
    data: Bytes
    offset: Ints

    def where(self, row: int) -> str:
        return f"{self.name}:{line_number(self.data, int(self.offset[row]))}"

    def place(self, row: int) -> str:
        return f"line {line_number(self.data, int(self.offset[row]))}"

    def shown(self, row: int) -> str:
        return f"\n    {line_text(self.data, int(self.offset[row]))}"

    def take(self, rows: Ints) -> TextLines:
        return TextLines(self.name, self.data, self.offset[rows])


class FrameRows(NamedTuple):
    """Rows of a data frame, counted from 0 as its users do."""

    name: str
    number: Ints | None = None  # where rows are not all there, or not in order

    def where(self, row: int) -> str:
        return f"{self.name}: {self.place(row)}"

    def place(self, row: int) -> str:
        return f"row {row if self.number is None else int(self.number[row])} (counting from 0)"

    def shown(self, row: int) -> str:
        return ""

    def take(self, rows: Ints) -> FrameRows:
        return FrameRows(self.name, rows if self.number is None else self.number[rows])


class NamedRows(NamedTuple):
    """Rows that were found in named places, several of which may share one: then they are its items."""

    name: str
    place_of: Ints
    places: Sequence[str]
    item: Ints | None = None  # from 1, where places hold several

    def where(self, row: int) -> str:
        place = self.places[int(self.place_of[row])]
        return place if self.item is None else f"{place}: {self.place(row)}"

    def place(self, row: int) -> str:
        if self.item is not None:
            return f"item {int(self.item[row])}"
        place = self.places[int(self.place_of[row])].removeprefix(f"{self.name}:")
        return f"line {place}" if place.isdecimal() else place

    def shown(self, row: int) -> str:
        return ""

    def take(self, rows: Ints) -> NamedRows:
        return self._replace(place_of=self.place_of[rows], item=None if self.item is None else self.item[rows])


class ItemRows(NamedTuple):
    """Rows that are the items of named places, one place after the other."""

    name: str
    offsets: Ints  # items of place i are offsets[i] : offsets[i + 1]
    places: Sequence[str]

    def where(self, row: int) -> str:
        return f"{self.places[self.place_of(row)]}: {self.place(row)}"

    def place(self, row: int) -> str:
        return f"item {row - int(self.offsets[self.place_of(row)]) + 1}"

    def shown(self, row: int) -> str:
        return ""

    def take(self, rows: Ints) -> NamedRows:
        place_of = np.searchsorted(self.offsets, rows, "right") - 1
        return NamedRows(self.name, place_of, self.places, rows - self.offsets[place_of] + 1)

    def place_of(self, row: int) -> int:
        """The number of the place that a row stands in."""
        return int(np.searchsorted(self.offsets, row, "right")) - 1


def line_number(data: Bytes, offset: int) -> int:
    """The number, from 1, of the line that starts at an offset."""
    step = 1 << 24
    return 1 + sum(int(np.count_nonzero(data[at : min(at + step, offset)] == 10)) for at in range(0, offset, step))


def line_text(data: Bytes, offset: int) -> str:
    """The line that starts at an offset, as it can be shown."""
    piece = data[offset : offset + 4 * _WIDEST].tobytes().split(b"\n", 1)[0].removesuffix(b"\r")
    return printable(piece, _WIDEST)
