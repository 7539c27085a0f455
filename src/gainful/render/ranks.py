"""The ranks of explained lists as a table: what stands there, and what it adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.arrays import Bools, Floats
from gainful.explanation import ExplainedList, Explanation
from gainful.notation import count_of
from gainful.render.page import Cell, Column, Table

#: Tables down to this rank are shown whole; longer ones down to the second, and then what adds something.
_WHOLE, _FIRST = 20, 10

#: A rank, or the first and last of several that are shown as one row.
Shown: TypeAlias = int | tuple[int, int]


class _Values(NamedTuple):
    """A column with its value at every rank."""

    column: Column
    cells: Sequence[Cell]
    of: ExplainedList | None = None  # the list whose documents these are


def rank_table(explanation: Explanation, all_ranks: bool, places: int) -> Table | None:
    """Rank by rank what was found and what it adds; None where there is no rank to look at."""
    depth = table_depth(explanation)
    if not depth or all(one.arithmetic is not None and not one.arithmetic.columns for one in explanation.lists):
        return None
    columns = [_Values(Column("rank", "count"), list(range(1, depth + 1))), *_columns(explanation, depth, places)]
    several = len(explanation.lists) > 1
    of = "" if several else f" of {explanation.lists[0].run}"
    return Table(
        tuple(values.column for values in columns),
        tuple(_row(columns, shown) for shown in _shown(explanation, depth, all_ranks)),
        f"{explanation.measure}{of} for query {explanation.query}",
    )


def table_depth(explanation: Explanation) -> int:
    """The last rank that the measure looks at in any of the lists."""
    cutoff = explanation.measure.rank_cutoff
    return max((min(one.depth, cutoff or one.depth) for one in explanation.lists), default=0)


def _columns(explanation: Explanation, depth: int, places: int) -> Iterator[_Values]:
    several = len(explanation.lists) > 1
    for one in explanation.lists:
        arithmetic, prefix = one.arithmetic, f"{one.run}: " if several else ""
        documents = [*one.documents[:depth], *[None] * (depth - len(one.documents))]
        yield _Values(Column(f"{prefix}document"), documents, one)
        if one.is_condensed:
            yield _numbers(f"{prefix}rank in run", one.in_run.astype(np.float64), depth, places)
        yield _numbers(f"{prefix}grade", one.grades, depth, places, none="-")
        for name, values in arithmetic.columns.items() if arithmetic else ():
            if not several or name in (arithmetic.adds, arithmetic.running):  # type: ignore[union-attr]
                yield _numbers(prefix + name, values, depth, places)
    shared = explanation.lists[0].arithmetic if several else None
    for name, values in shared.columns.items() if shared else ():
        if name in shared.shared:  # type: ignore[union-attr]
            yield _numbers(name, values, depth, places)


def _numbers(name: str, values: Floats, depth: int, places: int, none: str = "") -> _Values:
    """A column of numbers; where all are whole, without a point."""
    is_whole = bool(np.all(np.isnan(values) | (values == np.floor(values))))
    column = Column(name, "count", none=none) if is_whole else Column(name, "number", places, none)
    cells: list[Cell] = [None if np.isnan(value) else value for value in values[:depth].tolist()]
    if is_whole:
        cells = [None if cell is None else int(cell) for cell in cells]
    return _Values(column, [*cells, *[None] * (depth - len(cells))])


def _shown(explanation: Explanation, depth: int, all_ranks: bool) -> Iterator[Shown]:
    """The ranks to be shown, and the stretches between them."""
    wanted = np.ones(depth, bool)
    if depth > _WHOLE and not all_ranks:
        wanted = _adding(explanation, depth)
        wanted[:_FIRST] = True
        # Where there is an ideal list, its last value is half of the result.
        wanted[-1] |= any(one.arithmetic is not None and bool(one.arithmetic.shared) for one in explanation.lists)
    edges = np.flatnonzero(np.diff(wanted, prepend=True, append=True)).tolist()
    first = 1
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        yield from range(first, start + 1)
        yield (start + 1, end) if end > start + 1 else end
        first = end + 1
    yield from range(first, depth + 1)


def _adding(explanation: Explanation, depth: int) -> Bools:
    """Where any of the lists adds something."""
    adds = np.zeros(depth, bool)
    for one in explanation.lists:
        values = one.grades > 0
        if one.arithmetic is not None:
            values = one.arithmetic.columns.get(one.arithmetic.adds or "", np.zeros(0)) != 0
        adds[: values.size] |= values[:depth]
    return adds


def _row(columns: list[_Values], shown: Shown) -> tuple[Cell, ...]:
    if isinstance(shown, int):
        return tuple(values.cells[shown - 1] for values in columns)
    first, last = shown
    rest = (_stretch(values, first, last) for values in columns[1:])
    return (f"{first}-{last}", *rest)


def _stretch(values: _Values, first: int, last: int) -> Cell:
    """What stands for several ranks in a column."""
    if values.of is None:
        return "" if values.column.none else None
    documents = max(0, min(last, len(values.of.documents)) - first + 1)
    if not documents:
        return "past the end of the list"
    if values.of.arithmetic is None:
        return count_of(documents, "document") + " without a grade above 0"
    return count_of(documents, "document") + (" that adds nothing" if documents == 1 else " that add nothing")
