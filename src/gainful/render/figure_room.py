"""Where things are on a figure, in inches from its lower left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
