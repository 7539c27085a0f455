"""The charts of a sensitivity: who wins where, how alike orders are, and values by the weight of the highest level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from gainful.notation import number_text, printable
from gainful.pages.charts import Axis, HeatMap, Line, Plot, Rule

if TYPE_CHECKING:
    from gainful.tasks.sensitivity.scenarios import Sweep
    from gainful.tasks.sensitivity.sensitivity_findings import Sensitivity

_LONGEST_NAME, _MOST_ROWS, _MOST_CELLS, _MOST_LINES, _MOST_RULES = 10, 60, 8, 12, 5


def winner_map(found: Sensitivity) -> HeatMap | None:
    """Who wins in every cell. The colour says how clearly: the winner's lead over the next one, in per cent.

    Columns are the values of the last axis that has several, rows all combinations of the others. Outlined is what the
    most frequent winner, if there is one, does not win. None where there is nothing to map.
    """
    varied = [i for i, axis in enumerate(found.axes) if len(axis.options) > 1]
    if not varied or len(found.runs) < 2:
        return None
    *others, last = varied
    places = list(product(*(range(len(found.axes[i].options)) for i in others)))
    if len(places) > _MOST_ROWS:
        return None
    by_place = {cell.place: cell for cell in found.cells}

    def cell_at(row: Sequence[int], column: int) -> tuple[int, ...]:
        place = [0] * len(found.axes)
        for i, value in zip((*others, last), (*row, column), strict=True):
            place[i] = value
        return tuple(place)

    columns = range(len(found.axes[last].options))
    cells = [[by_place[cell_at(row, column)] for column in columns] for row in places]
    names = _short_names(found)
    usual = found.usual_winners
    fixed = [axis.label(0) for axis in found.axes if len(axis.options) == 1]
    return HeatMap(
        f"Who wins by {found.measure}" + (f" ({', '.join(fixed)})" if fixed else ""),
        tuple(", ".join(found.axes[i].label(at) for i, at in zip(others, row, strict=True)) for row in places),
        found.axes[last].labels,
        tuple(tuple(_per_cent(cell.relative_lead) for cell in row) for row in cells),
        tuple(tuple(" = ".join(names[name] for name in cell.winners) for cell in row) for row in cells),
        x_label=found.axes[last].name,
        y_label=", ".join(found.axes[i].name for i in others),
        value_label="lead over the next one (per cent)",
        low=0.0,
        outlined=frozenset(
            (i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if usual and cell.winners != usual
        ),
        caption=_key(names),
    )


def scenario_map(found: Sensitivity) -> HeatMap | None:
    """The place of every system in every scenario; None where there is nothing to compare."""
    if len(found.runs) < 2 or len(found.runs) > _MOST_ROWS:
        return None
    ranks = [[cell.ranks[i] for cell in found.cells] for i in range(len(found.runs))]
    return HeatMap(
        "Places of systems by scenario",
        tuple(printable(run, 40) for run in found.runs),
        tuple(cell.label for cell in found.cells),
        tuple(tuple(math.nan if rank is None else float(rank) for rank in row) for row in ranks),
        tuple(tuple("" if rank is None else str(rank) for rank in row) for row in ranks),
        x_label="scenario",
        y_label="system",
        value_label="place (1 is best)",
        low=1.0,
        high=float(len(found.runs)),
    )


def _per_cent(share: float | None) -> float:
    return math.nan if share is None else 100 * share


def _short_names(found: Sensitivity) -> dict[str, str]:
    """What stands in a cell for a system: its name, or a number if winners' names are too long for that."""
    winners = list(dict.fromkeys(name for cell in found.cells for name in cell.winners))
    if all(len(name) <= _LONGEST_NAME for name in winners):
        return {name: printable(name) for name in winners}
    return {name: str(i) for i, name in enumerate(winners, 1)}


def _key(names: dict[str, str]) -> str:
    return "; ".join(f"{short} is {printable(name, 80)}" for name, short in names.items() if short != printable(name))


def tau_maps(found: Sensitivity) -> list[HeatMap]:
    """How alike orders are: of few settings between all of them, of many between the values of each axis.

    Between two values of an axis it is the mean tau of the settings that differ in nothing else. Where the order is
    the same in all settings there is nothing to map.
    """
    if len({cell.order for cell in found.cells}) == 1:
        return []
    if 2 < len(found.cells) <= _MOST_CELLS:
        taus = [[found.tau(one, other) for other in found.cells] for one in found.cells]
        return [_tau_map("Kendall's tau between settings", [cell.label for cell in found.cells], taus)]
    return [
        _tau_map(f"Kendall's tau by {axis.name}, all else the same", axis.labels, found.levels_tau(axis))
        for axis in found.axes
        if len(axis.options) > 2 and len(found.cells) > _MOST_CELLS
    ]


def _tau_map(title: str, labels: Sequence[str], taus: Sequence[Sequence[float | None]]) -> HeatMap:
    return HeatMap(
        title,
        tuple(labels),
        tuple(labels),
        tuple(tuple(math.nan if tau is None else tau for tau in row) for row in taus),
        tuple(tuple("" if tau is None else f"{tau:.2f}" for tau in row) for row in taus),
        value_label="tau",
        low=min([0.0, *(tau for row in taus for tau in row if tau is not None)]),
        high=1.0,
    )


def sweep_plot(found: Sensitivity, sweep: Sweep) -> Plot:
    """Every system's value by the weight of the highest level; of sums of gains, which grow with it, the share of the
    best. Of many systems those that get furthest up."""
    best_rank = {
        name: min(cell.ranks[i] or len(found.runs) for cell in sweep.points) for i, name in enumerate(found.runs)
    }
    shown = sorted(found.runs, key=lambda name: best_rank[name])[:_MOST_LINES]
    is_open = not math.isfinite(found.measure.bounds[1])
    lines = []
    for i, name in enumerate(found.runs):
        if name in shown:
            values = [_number(cell.scores[i].value) for cell in sweep.points]
            best = [_number(cell.value) for cell in sweep.points]
            shares = [value / top if top else math.nan for value, top in zip(values, best, strict=True)]
            lines.append(Line(name, sweep.weights, tuple(shares if is_open else values)))
    grade = number_text(sweep.grade)
    rules = [
        Rule(f"{printable(change.overtaking, 20)} takes the lead", x=(change.low * change.high) ** 0.5)
        for change in sweep.changes
        if change.for_first
    ]
    return Plot(
        f"{found.measure} by the weight of grade {grade}" + (f" ({sweep.setting})" if sweep.setting else ""),
        Axis(f"weight of grade {grade}, others 1", sweep.weights[0], sweep.weights[-1], is_log=True),
        Axis(f"{found.measure}, share of the best" if is_open else str(found.measure)),
        tuple(lines),
        rules=tuple(rules[:_MOST_RULES]),
        caption=f"{len(lines)} of {len(found.runs)} systems: those that get furthest up"
        if len(lines) < len(found.runs)
        else "",
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
