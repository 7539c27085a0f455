"""The order of runs by one setting and another, as rows of tables: what the discussion of jarvelin2002 compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gainful.data.graded import GradedRun
from gainful.evaluation import evaluate_graded
from gainful.measures.base import Measure
from gainful.papers.jarvelin2002_setting import best_runs
from gainful.render.charts import shortened
from gainful.render.page import Cell as TableCell
from gainful.render.page import Column, Table
from gainful.results import Evaluation
from gainful.sensitivity.cells import Cell, tau_of_ranks

#: An order of more systems than these is not written out.
_MOST_NAMED = 6


def evaluated(graded: Mapping[str, GradedRun], measures: Sequence[Measure]) -> dict[str, Evaluation]:
    """Every run by these measures."""
    return {name: evaluate_graded(run, measures) for name, run in graded.items()}


def all_means(cells: Iterable[Cell]) -> Table:
    """Every run's mean and place in every setting, for machines."""
    columns = (
        Column("measure", for_machines=True),
        Column("run", for_machines=True),
        Column("mean", "number", for_machines=True),
        Column("place", "count", for_machines=True),
    )
    return Table(columns, tuple((str(cell.measure), *score) for cell in cells for score in cell.scores))


def cell_columns(reference: str) -> tuple[Column, ...]:
    """The columns of :func:`cell_row`."""
    return (
        Column("best run"),
        Column("its mean", "number", 3),
        Column("lead", "number", 3),
        Column(f"tau with {reference}", "number", 2),
        Column("order"),
    )


def cell_row(cell: Cell, reference: Cell) -> tuple[TableCell, ...]:
    """Who is best by a setting, by how much, and how far its order is that of another one."""
    return best_runs(cell) or None, cell.value, cell.lead, tau_between(cell, reference), _order(cell)


def _order(cell: Cell) -> str:
    """The runs, best first; of many only the first ones."""
    groups = ["=".join(shortened(run) for run in group) for group in cell.order]
    return " > ".join(groups) if len(cell.scores) <= _MOST_NAMED else " > ".join([*groups[:3], "..."])


def tau_between(one: Cell, other: Cell) -> float | None:
    """Kendall's tau-b of the orders by two settings."""
    return tau_of_ranks(one.ranks, other.ranks)


def tau_text(tau: float | None) -> str:
    """As people read it."""
    return "undefined" if tau is None else f"{tau:.2f}"
