"""What pages of curves have in common, whether of queries or of sessions: lines, tables of some places, all values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, overload

from gainful.kernel.arrays import Floats
from gainful.pages.charts import Band as ChartBand, Line, Role
from gainful.pages.page import Cell, Column
from gainful.tasks.curves.averages import Band, Curve

Row = tuple[Cell, ...]


def curve_line(name: str, values: Floats, band: Band | None = None, role: Role = "system") -> Line:
    """A curve as a line of a chart."""
    x = tuple(map(float, range(1, len(values) + 1)))
    ends = None
    if band is not None:
        ends = ChartBand(*(tuple(map(float, each.tolist())) for each in (band.ranks, band.low, band.high)))
    return Line(name, x, tuple(map(float, values.tolist())), role, ends)


def table_ranks(depth: int) -> list[int]:
    """The ranks that a table shows: 1, 2, 3, 5, 10, 20, 50, 100, ... and the last.

    >>> table_ranks(300)
    [1, 2, 3, 5, 10, 20, 50, 100, 200, 300]
    """
    ranks, ten = [1, 2, 3, 5], 10
    while ten < depth:
        ranks += [ten, 2 * ten, 5 * ten]
        ten *= 10
    return [*(rank for rank in ranks if rank < depth), depth]


def value_columns(
    named: Sequence[tuple[str, int]], curves: Sequence[Curve[Any]], band: str, places: int
) -> Iterator[Column]:
    """A column for each of some places of curves, then, if there are any, their bands at the end."""
    for name, place in named:
        yield Column(name, "number", places, get=partial(_value_at, place))
    if any(curve.band is not None for curve in curves):
        yield Column(
            band,
            get=lambda curve: (
                None if curve.band is None else f"{curve.band.low[-1]:.{places}f} to {curve.band.high[-1]:.{places}f}"
            ),
        )


def _value_at(place: int, curve: Curve[Any]) -> float:
    return float(curve.values[place - 1])


def rows_by_place(values: Floats, band: Band | None = None) -> Iterator[Row]:
    """Place, value, and both ends of the band where it is known."""
    ends = {} if band is None else band.ends()
    for place, value in enumerate(values.tolist(), 1):
        yield (place, value, *ends.get(place, (None, None)))


class RowsOnTheWay(Sequence[Row]):
    """So many rows, made one by one when somebody reads them: people do not, and there may be many."""

    def __init__(self, count: int, make: Callable[[], Iterator[Row]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        return next(islice(self, range(len(self))[place], None))
