"""A sweep of the highest level's weight as parts of a page: the order by weight, and who overtakes whom.

How the order of systems depends on gains, discounts and depths, as a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gainful.measures.base import value_text
from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Chart
from gainful.pages.page import Cell as Value, Column, Page, Table
from gainful.tasks.sensitivity.sensitivity_charts import scenario_map, sweep_plot, tau_maps, winner_map

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.tasks.sensitivity.scenarios import Sweep
    from gainful.tasks.sensitivity.sensitivity_cells import Cell
    from gainful.tasks.sensitivity.sensitivity_findings import Sensitivity

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


_MOST_SYSTEMS, _SENSITIVITY_PAGE_MOST_CHANGES, _MOST_PAIRS = 6, 20, 5
_PLURALS = {"gain": "gains", "urs": "values of the categories", "discount": "discounts", "depth": "depths"}


def sensitivity_page(found: Sensitivity, places: int = 4) -> Page:
    """Sentences, a map of winners, what each axis does, the order in every cell, tau, and the sweep."""
    parts: list[Table | Chart | str] = [_beginning(found), *_conclusions(found)]
    chart = scenario_map(found) if found.scenarios else winner_map(found)
    parts += [] if chart is None else [chart]
    if found.effects() and len(found.runs) > 1:
        parts.append(_effects(found, places))
        if found.winner_changes():
            parts.append(_winner_changes(found))
    parts.append(_orders(found, places))
    if len(found.cells) > 1 and len(found.runs) > 1:
        parts += [_lowest_taus(found, places), *tau_maps(found)]
    if found.sweep is not None:
        parts += sweep_parts(found, found.sweep)
    parts += _for_machines(found)
    return Page("sensitivity", tuple(parts), (found.signature().short(),), _header(found))


def _header(found: Sensitivity) -> dict[str, object]:
    header: dict[str, object] = {
        "signature": str(found.signature()),
        "measure": str(found.measure),
        "runs": list(found.runs),
        "queries": found.queries,
        "axes": {axis.name: list(axis.labels) for axis in found.axes},
        "settings": len(found.cells),
    }
    if found.scenarios:
        header["scenarios"] = {cell.label: str(cell.measure) for cell in found.cells}
    return header


def _beginning(found: Sensitivity) -> str:
    systems = f"{count_of(len(found.runs), 'system')}, {count_of(found.queries, 'query', 'queries')}"
    if found.scenarios:
        lines = [f"{systems}, {count_of(len(found.cells), 'scenario')}:"]
        for scenario, cell in zip(found.scenarios, found.cells, strict=True):
            about = f" ({scenario.about})" if scenario.about else ""
            lines.append(f"{scenario.name}: {cell.measure}{about}.")
        return "\n".join(lines)
    axes = [
        f"{count_of(len(axis.options), axis.name, _PLURALS.get(axis.name, f'values of {axis.name}'))} "
        f"({', '.join(axis.labels)})"
        for axis in found.axes
    ]
    # A bare "base 2" belongs to the only discount that has a base.
    based = [option for axis in found.axes for option in axis.options if option.label.startswith("base ")]
    discount = f" Bases are those of {based[0].parameters['discount']}." if based else ""
    return f"{found.measure} in {count_of(len(found.cells), 'setting')}: {'; '.join(axes)}. {systems}.{discount}"


def _conclusions(found: Sensitivity) -> Iterator[str]:
    """What a person wants to know first."""
    if len(found.runs) == 1:
        yield "One system alone has no order; the table says what it scores in every setting."
        return
    yield _who_wins(found)
    if not found.axes:
        return
    effects = sorted(found.effects(), key=lambda each: -each.winner_changes / each.neighbours)
    names = [each.axis.name for each in effects]
    if found.winner_changes():
        counts = [
            f"{each.axis.name} in {each.winner_changes} of {count_of(each.neighbours, 'pair')}" for each in effects
        ]
        first = f"The next value of an axis, all else the same, changes the winner: {'; '.join(counts)}."
        yield " ".join([first, *_change_sentences(found)])
    elif names:
        yield f"No other {' or '.join(names)} changes the winner."


def _who_wins(found: Sensitivity) -> str:
    wins, noun = found.wins(), "scenario" if found.scenarios else "setting"
    total = len(found.cells)
    if not wins:
        return "No query counts in any setting: there is no winner."
    [(first, count), *others] = wins.items()
    if count == total:
        where = f"the only {noun}" if total == 1 else f"all {total:,} {noun}s"
        return f"{_joined(first)} {_wins(first)} in {where}."
    parts = [f"{_joined(first)} {_wins(first)} in {count} of {total} {noun}s"]
    parts += [f"{_joined(names)} {_wins(names)} in {number}" for names, number in others[:_MOST_SYSTEMS]]
    if others[_MOST_SYSTEMS:]:
        parts.append(f"others in {sum(number for _, number in others[_MOST_SYSTEMS:])}")
    return ", ".join(parts) + "."


def _wins(names: Sequence[str]) -> str:
    return "wins" if len(names) == 1 else "share the first place"


def _joined(names: Sequence[str]) -> str:
    shown = [printable(name, 80) for name in names[:_MOST_SYSTEMS]]
    more = [f"{len(names) - _MOST_SYSTEMS} more"] if len(names) > _MOST_SYSTEMS else []
    *first, last = [*shown, *more]
    return f"{', '.join(first)} and {last}" if first else last


def _grouped(found: Sensitivity) -> list[tuple[tuple[str, str, str, str, str], list[Cell]]]:
    """Changes of the winner that are the same step and the same two winners, with the cells they start from."""
    groups: dict[tuple[str, str, str, str, str], list[Cell]] = {}
    for axis, before, after in found.winner_changes():
        i = found.axes.index(axis)
        step = (axis.options[before.place[i]].label, axis.options[after.place[i]].label)
        key = (axis.name, *step, _joined(before.winners), _joined(after.winners))
        groups.setdefault(key, []).append(before)
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def _change_sentences(found: Sensitivity) -> Iterator[str]:
    for (axis, start, end, before, after), cells in _grouped(found)[:3]:
        others = f" and {count_of(len(cells) - 1, 'other setting')}" if len(cells) > 1 else ""
        yield (
            f"It goes from {before} to {after} where the {axis} goes from {start} to {end} "
            f"({_rest(found, cells[0], axis)}{others})."
        )


def _rest(found: Sensitivity, cell: Cell, axis_name: str) -> str:
    """What a cell has on the other axes."""
    others = [axis.label(i) for axis, i in zip(found.axes, cell.place, strict=True) if axis.name != axis_name]
    return f"with {', '.join(others)}" if others else "nothing else is varied"


def _effects(found: Sensitivity, places: int) -> Table:
    columns = (
        Column("axis"),
        Column("pairs", "count"),
        Column("other winner", "count"),
        Column("other order", "count"),
        Column("mean tau", "number", places),
        Column("lowest tau", "number", places),
    )
    rows = tuple((effect.axis.name, *effect[1:]) for effect in found.effects())
    note = "pairs: settings that are neighbours on the axis and the same on all others"
    return Table(columns, rows, "What each axis changes", (note,))


def _winner_changes(found: Sensitivity) -> Table:
    columns = (
        Column("axis"),
        Column("from"),
        Column("to"),
        Column("winner before"),
        Column("winner after"),
        Column("settings", "count"),
        Column("such as"),
    )
    groups = _grouped(found)
    rows = [
        (*key, len(cells), _rest(found, cells[0], key[0])) for key, cells in groups[:_SENSITIVITY_PAGE_MOST_CHANGES]
    ]
    more = (f"the most frequent of {len(groups):,}",) if len(groups) > _SENSITIVITY_PAGE_MOST_CHANGES else ()
    return Table(columns, tuple(rows), "Where the winner changes", more)


def _orders(found: Sensitivity, places: int) -> Table:
    names = [axis.name for axis in found.axes] or ["scenario"]
    columns = (
        *(Column(name) for name in names),
        Column("order of systems"),
        Column("best", "number", places),
        Column("lead", "number", places),
    )
    usual = found.usual_winners
    rows = [(*_labels(found, cell), order_text(cell.order), cell.value, cell.lead) for cell in found.cells]
    marked = frozenset((i, len(names) + 1) for i, cell in enumerate(found.cells) if usual and cell.winners != usual)
    notes = ["best: the winner's mean; lead: how far the next one is behind"] if len(found.runs) > 1 else []
    if any(" = " in str(row[len(names)]) for row in rows):
        notes.append("=: as good as each other, but for rounding")
    if marked:
        notes.append("* another winner than in most of them")
    return Table(columns, tuple(rows), _title_of_orders(found), tuple(notes), marked, for_people=True)


def _title_of_orders(found: Sensitivity) -> str:
    return "The order in every scenario" if found.scenarios else "The order in every setting"


def _labels(found: Sensitivity, cell: Cell) -> list[str]:
    if not found.axes:
        return [cell.label]
    return [axis.options[i].label for axis, i in zip(found.axes, cell.place, strict=True)]


def _lowest_taus(found: Sensitivity, places: int) -> Table | str:
    """How alike the orders are; of equally low pairs those that differ in least."""
    known = [(each.tau, each) for each in found.agreements() if each.tau is not None]
    what = "scenarios" if found.scenarios else "settings"
    if not known:
        return f"Kendall's tau between {what} is undefined: all systems score alike."
    lowest = sorted(known, key=lambda pair: (pair[0], *_distance(pair[1].one, pair[1].other)))[:_MOST_PAIRS]
    if lowest[0][0] == 1:
        return f"Kendall's tau between {what} is always 1: the order is the same in all."
    if len(known) == 1:
        tau, (one, other, _) = known[0]
        return f"Kendall's tau between {one.label} and {other.label} is {tau:.{places}f}."
    mean = sum(tau for tau, _ in known) / len(known)
    note = f"Kendall's tau between {what} is {mean:.{places}f} on average over {count_of(len(known), 'pair')}."
    columns = (Column(what.removesuffix("s")), Column("another"), Column("tau", "number", places))
    rows = tuple((each.one.label, each.other.label, tau) for tau, each in lowest)
    return Table(columns, rows, "The least similar orders", (note,))


def _distance(one: Cell, other: Cell) -> tuple[int, int]:
    """On how many axes two cells differ, and by how many steps in all."""
    steps = [abs(a - b) for a, b in zip(one.place, other.place, strict=True)]
    return sum(step > 0 for step in steps), sum(steps)


def _for_machines(found: Sensitivity) -> Iterator[Table]:
    """Whole orders, all values by cell and run, all pairs of cells, and the sweep."""
    labels = [axis.name for axis in found.axes] or ["scenario"]
    order_columns = (
        *_machine([*labels, "order of systems"]),
        *_machine(["best", "lead"], "number"),
        *_machine(["measure"]),
    )
    orders = tuple(
        (*_labels(found, cell), order_text(cell.order, whole=True), cell.value, cell.lead, str(cell.measure))
        for cell in found.cells
    )
    yield Table(order_columns, orders, _title_of_orders(found))
    parameters = list(dict.fromkeys(p for axis in found.axes for option in axis.options for p in option.parameters))
    shown = {"cutoff": "depth"}
    first = [] if found.axes else ["scenario"]
    names = [*first, *(shown.get(name, name) for name in parameters), "measure", "run"]
    columns = (*_machine(names), *_machine(["value"], "number"), *_machine(["rank"], "count"))
    rows: list[tuple[Value, ...]] = [
        (*([] if found.axes else [cell.label]), *_values(cell.measure, parameters), str(cell.measure), *score)
        for cell in found.cells
        for score in cell.scores
    ]
    yield Table(columns, tuple(rows), "Values")
    if len(found.cells) > 1 and len(found.runs) > 1:
        pairs = tuple((str(each.one.measure), str(each.other.measure), each.tau) for each in found.agreements())
        yield Table((*_machine(["measure", "other"]), *_machine(["tau"], "number")), pairs, "Kendall's tau")
    if found.sweep is not None:
        rows = [
            (weight, str(cell.measure), *score)
            for weight, cell in zip(found.sweep.weights, found.sweep.points, strict=True)
            for score in cell.scores
        ]
        columns = (
            *_machine(["weight"], "number"),
            *_machine(["measure", "run"]),
            *_machine(["value"], "number"),
            *_machine(["rank"], "count"),
        )
        yield Table(columns, tuple(rows), "Sweep")


def _machine(names: Sequence[str], kind: str = "text") -> list[Column]:
    return [Column(name, kind, for_machines=True) for name in names]  # type: ignore[arg-type]


def _values(measure: Measure, parameters: Sequence[str]) -> list[str | None]:
    unused = measure._unused()
    values = [None if name in unused else getattr(measure, name) for name in parameters]
    return [None if value is None else value_text(value) for value in values]
