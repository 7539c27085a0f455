"""Who is ahead of whom in one cell of the grid, and how far two cells agree about it.

What a grid of settings says about systems: who wins where, what changes that, and how far orders agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gainful.evaluation.results import Evaluation
from gainful.evaluation.signature import Signature
from gainful.measures.base import Measure
from gainful.pages.page import Page
from gainful.policy import Policy
from gainful.render.showable import Showable
from gainful.tasks.sensitivity.scenarios import Scenario, Sweep
from gainful.tasks.sensitivity.sensitivity_cells import Cell, tau_of_ranks
from gainful.tasks.sensitivity.sensitivity_grid import Axis


class WinnerChange(NamedTuple):
    """Two cells that are neighbours on one axis, with different winners."""

    axis: Axis
    before: Cell
    after: Cell


class AxisEffect(NamedTuple):
    """What one axis does while the others stay: of so many pairs of neighbours on it, how many have another winner and
    how many another order; mean and lowest tau between them (None: no pair has one)."""

    axis: Axis
    neighbours: int
    winner_changes: int
    order_changes: int
    mean_tau: float | None
    lowest_tau: float | None


class Agreement(NamedTuple):
    """Kendall's tau-b between the orders of two cells; None where one of them ties all systems."""

    one: Cell
    other: Cell
    tau: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Showable):
    """The order of systems in every cell of a grid, or in scenarios.

    ``cells`` stand in the order of the grid, the last axis fastest; of scenarios there are no axes. ``evaluations``
    hold every score behind them, by run.
    """

    measure: Measure
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    scenarios: tuple[Scenario, ...]
    sweep: Sweep | None
    evaluations: Mapping[str, Evaluation]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.measure}: {len(self.cells)} settings, {len(self.runs)} systems>"

    @property
    def runs(self) -> tuple[str, ...]:
        """The systems, in the order in which they were given."""
        return tuple(self.evaluations)

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return len(self._first.query_ids)

    @property
    def policy(self) -> Policy:
        return self._first.policy

    def signature(self) -> Signature:
        """The conventions behind all numbers; the measures say the rest."""
        return self._first.signature()

    @property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    def wins(self) -> dict[tuple[str, ...], int]:
        """How many cells each system wins, most first; systems that share first places count together."""
        counts = Counter(cell.winners for cell in self.cells if cell.winners)
        # Of equal counts the one that wins first stands first: a counter keeps that order.
        return dict(counts.most_common())

    @property
    def usual_winners(self) -> tuple[str, ...] | None:
        """Who wins most cells; None where two win equally many."""
        [*counts] = self.wins().items()
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return None
        return counts[0][0]

    @cached_property
    def _neighbours(self) -> tuple[tuple[Axis, Cell, Cell], ...]:
        """Pairs of cells that are one step apart on one axis and the same on all others."""
        by_place = {cell.place: cell for cell in self.cells}
        pairs = []
        for i, axis in enumerate(self.axes):
            for place, cell in by_place.items():
                following = by_place.get((*place[:i], place[i] + 1, *place[i + 1 :]))
                if following is not None:
                    pairs.append((axis, cell, following))
        return tuple(pairs)

    def winner_changes(self) -> tuple[WinnerChange, ...]:
        """All neighbours with different winners, axis by axis."""
        return tuple(
            WinnerChange(axis, before, after)
            for axis, before, after in self._neighbours
            if before.winners != after.winners
        )

    def effects(self) -> tuple[AxisEffect, ...]:
        """What every axis with more than one value does."""
        return tuple(self._effect(axis) for axis in self.axes if len(axis.options) > 1)

    def _effect(self, axis: Axis) -> AxisEffect:
        pairs = [(before, after) for each, before, after in self._neighbours if each is axis]
        taus = [tau for pair in pairs if (tau := self.tau(*pair)) is not None]
        return AxisEffect(
            axis,
            len(pairs),
            sum(before.winners != after.winners for before, after in pairs),
            sum(before.ranks != after.ranks for before, after in pairs),
            sum(taus) / len(taus) if taus else None,
            min(taus, default=None),
        )

    @cached_property
    def _taus(self) -> dict[tuple[object, object], float | None]:
        return {}

    def tau(self, one: Cell, other: Cell) -> float | None:
        """Kendall's tau-b between the orders of two cells."""
        # Many cells have the same order: each pair of different orders is compared once.
        key = (one.ranks, other.ranks)
        if key not in self._taus:
            self._taus[key] = self._taus[key[1], key[0]] = tau_of_ranks(*key)
        return self._taus[key]

    def agreements(self) -> list[Agreement]:
        """Every pair of cells and their tau."""
        return [
            Agreement(one, other, self.tau(one, other))
            for i, one in enumerate(self.cells)
            for other in self.cells[i + 1 :]
        ]

    def levels_tau(self, axis: Axis) -> list[list[float | None]]:
        """Between all values of an axis the mean tau of the cells that differ in nothing else."""
        i = self.axes.index(axis)
        lines: dict[tuple[int, ...], dict[int, Cell]] = {}
        for cell in self.cells:
            lines.setdefault((*cell.place[:i], *cell.place[i + 1 :]), {})[cell.place[i]] = cell
        count = range(len(axis.options))
        return [[_mean(self.tau(line[a], line[b]) for line in lines.values()) for b in count] for a in count]

    def page(self) -> Page:
        from gainful.tasks.sensitivity.sensitivity_page import sensitivity_page

        return sensitivity_page(self)


def _mean(taus: Iterable[float | None]) -> float | None:
    known: Sequence[float] = [tau for tau in taus if tau is not None]
    return sum(known) / len(known) if known else None
