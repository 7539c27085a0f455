"""A sweep of the highest level's weight as parts of a page: the order by weight, and who overtakes whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.render.charts import Chart
from gainful.render.page import Column, Table
from gainful.render.sensitivity_charts import sweep_plot

if TYPE_CHECKING:
    from gainful.sensitivity.findings import Sensitivity
    from gainful.sensitivity.sweeping import Sweep

_MOST_CHANGES, _MOST_TOLD, _WIDEST_ORDER = 20, 5, 50


def order_text(order: Sequence[Sequence[str]], *, whole: bool = False) -> str:
    """An order in one line, as far as it fits or whole; what shares a place is joined by =.

    >>> order_text([("a",), ("b", "c"), ("d",)])
    'a > b = c > d'
    """
    shown: list[str] = []
    left = sum(map(len, order))
    for names in order:
        text = " = ".join(printable(name, 40) for name in names)
        if not whole and shown and left > 1 and len(" > ".join([*shown, text])) > _WIDEST_ORDER:
            return " > ".join([*shown, f"{left} more"])
        shown.append(text)
        left -= len(names)
    return " > ".join(shown)


def sweep_parts(found: Sensitivity, sweep: Sweep) -> list[Table | Chart | str]:
    """A sentence, the order from weight to weight, who overtakes whom where, and the values as lines."""
    grade = number_text(sweep.grade)
    start, end = (number_text(sweep.weights[i]) for i in (0, -1))
    setting = f" ({sweep.setting})" if sweep.setting else ""
    text = (
        f"The weight of grade {grade} from {start} to {end}, all grades below it weighing 1{setting}: "
        f"{_conclusion(found, sweep)}"
    )
    weights = [Column(name, "number", _places(sweep)) for name in ("from weight", "to weight")]
    rows = _stretches(sweep)
    note = ("from, to: of the weights that were evaluated",) if len(rows) > 1 else ()
    parts: list[Table | Chart | str] = [text]
    if len(found.runs) > 1:
        parts.append(
            Table(
                (*weights, Column("order of systems")),
                rows,
                f"The order by the weight of grade {grade}",
                note,
                for_people=True,
            )
        )
    if sweep.changes:
        parts.append(_overtakings(sweep, grade))
    return [*parts, sweep_plot(found, sweep)]


def _places(sweep: Sweep) -> int:
    return 2 if sweep.weights[0] >= 1 else 4


def _stretches(sweep: Sweep) -> tuple[tuple[float, float, str], ...]:
    """From which weight to which the order reads the same."""
    found: list[tuple[float, float, str]] = []
    for weight, cell in zip(sweep.weights, sweep.points, strict=True):
        text = order_text(cell.order)
        if found and found[-1][2] == text:
            found[-1] = (found[-1][0], weight, text)
        else:
            found.append((weight, weight, text))
    return tuple(found)


def _conclusion(found: Sensitivity, sweep: Sweep) -> str:
    if len(found.runs) == 1:
        return "one system alone has no order."
    changes = [change for change in sweep.changes if change.for_first]
    if changes:
        told = [
            f"{printable(each.overtaking, 80)} takes the first place from {printable(each.overtaken, 80)} at "
            f"{_between(each.low, each.high)}"
            for each in changes[:_MOST_TOLD]
        ]
        return f"{'; '.join(told)}."
    if sweep.changes:
        return f"the winner stays, {count_of(len(sweep.changes), 'pair')} of systems below change places."
    return "no two systems change places."


def _between(low: float, high: float) -> str:
    return f"{(low * high) ** 0.5:.3g}"


def _overtakings(sweep: Sweep, grade: str) -> Table:
    columns = (
        Column("overtaking"),
        Column("overtaken"),
        Column("above weight", "number", _places(sweep)),
        Column("by weight", "number", _places(sweep)),
        Column("first place", none=""),
    )
    rows = [
        (each.overtaking, each.overtaken, each.low, each.high, "yes" if each.for_first else None)
        for each in sweep.changes
    ]
    more: tuple[str, ...] = ()
    if len(rows) > _MOST_CHANGES:
        rows.sort(key=lambda row: row[-1] is None)
        more = (f"{_MOST_CHANGES} of {len(rows):,}, those for the first place first",)
    return Table(columns, tuple(rows), f"Changes by the weight of grade {grade}", more, most=_MOST_CHANGES)
