"""How the order of systems depends on gains, discounts and depths, as a page: sentences, tables and charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from gainful.measures.base import Measure, value_text
from gainful.notation import count_of, listed, number_text, printable
from gainful.pages.charts import Axis, Chart, HeatMap, Line, Plot, Rule
from gainful.pages.page import Cell as Value, Column, Table, head
from gainful.render import Page

if TYPE_CHECKING:
    from gainful.tasks.sensitivity.sensitivity_findings import Cell, Sensitivity, Sweep

#: Changes in a table and in sentences, systems in a sentence, pairs of settings in a table; how wide an order is.
_MOST_CHANGES, _MOST_TOLD, _MOST_SYSTEMS, _MOST_PAIRS, _WIDEST_ORDER = 20, 5, 6, 5, 50
#: What charts hold: names in cells, rows, settings side by side, lines and rules.
_LONGEST_NAME, _MOST_ROWS, _MOST_CELLS, _MOST_LINES, _MOST_RULES = 10, 60, 8, 12, 5

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
    if found.reversals:
        parts.append(_reversals(found))
    parts.append(_orders(found, places))
    if len(found.cells) > 1 and len(found.runs) > 1:
        parts += [_lowest_taus(found, places), *tau_maps(found)]
    if found.sweep is not None:
        parts += sweep_parts(found, found.sweep)
    parts += _for_machines(found)
    return Page("sensitivity", tuple(parts), (found.signature().note(),), _header(found))


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
    if len(found.cells) > 1:
        yield _what_is_supported(found)
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


def _what_is_supported(found: Sensitivity) -> str:
    """Whether any change of places is more than noise."""
    changes, noun = found.reversals, "scenario" if found.scenarios else "setting"
    pairs = len(found.runs) * (len(found.runs) - 1) // 2
    if not changes:
        return f"No two systems change places: the order is the same in every {noun}."
    supported = [each for each in changes if each.is_supported]
    moved = (
        f"{len(changes)} of {count_of(pairs, 'pair')} of systems {'changes' if len(changes) == 1 else 'change'} places"
    )
    if not supported:
        return f"{moved}, all within noise: no test shows both orders of any pair."
    told = [
        f"{printable(each.system, 40)} and {printable(each.other, 40)} (ahead in {count_of(each.shown_ahead, noun)}, "
        f"behind in {each.shown_behind})"
        for each in supported[:_MOST_TOLD]
    ]
    more = f", and {len(supported) - _MOST_TOLD} more" if len(supported) > _MOST_TOLD else ""
    within = len(changes) - len(supported)
    others = "The other change is" if within == 1 else f"The other {within} changes are"
    noise = f" {others} within noise." if within else ""
    return f"{moved}. Significantly so: {'; '.join(told)}{more}.{noise}"


def _reversals(found: Sensitivity) -> Table:
    columns = head("system | other | ahead # | significantly ahead # | behind # | significantly behind #")
    rows = tuple(
        (each.system, each.other, each.ahead, each.shown_ahead, each.behind, each.shown_behind)
        for each in found.reversals
    )
    noun = "scenarios" if found.scenarios else "settings"
    notes = (
        f"in how many {noun}; significantly: paired t test, corrected by Holm for all pairs of systems, at 5 %",
        "a change of places is supported where a test shows both orders, and within noise where it does not",
    )
    return Table(columns, rows, "Systems that change places", notes, most=_MOST_CHANGES)


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
    return listed([printable(name, 80) for name in names], most=_MOST_SYSTEMS)


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
    counts = "axis | pairs # | other winner # | other order # | significantly #"
    columns = head(f"{counts} | mean tau .{places} | lowest tau .{places}")
    notes = (
        "pairs: settings that are neighbours on the axis and the same on all others",
        "significantly: some pair of systems differs significantly in both, with another one ahead",
    )
    rows = tuple((axis.name, *numbers) for axis, *numbers in found.effects())
    return Table(columns, rows, "What each axis changes", notes)


def _winner_changes(found: Sensitivity) -> Table:
    columns = head("axis | from | to | winner before | winner after | settings # | such as")
    groups = _grouped(found)
    rows = tuple((*key, len(cells), _rest(found, cells[0], key[0])) for key, cells in groups[:_MOST_CHANGES])
    more = (f"the most frequent of {len(groups):,}",) if len(groups) > _MOST_CHANGES else ()
    return Table(columns, rows, "Where the winner changes", more)


def _orders(found: Sensitivity, places: int) -> Table:
    columns = head([*_label_names(found), "order of systems", f"best .{places}", f"lead .{places}"])
    rows: list[tuple[Value, ...]] = [
        (*_labels(found, cell), order_text(cell.order), cell.value, cell.lead) for cell in found.cells
    ]
    usual, best = found.usual_winners, len(columns) - 2
    marked = frozenset((i, best) for i, cell in enumerate(found.cells) if usual and cell.winners != usual)
    notes = ["best: the winner's mean; lead: how far the next one is behind"] if len(found.runs) > 1 else []
    if any(" = " in order_text(cell.order) for cell in found.cells):
        notes.append("=: as good as each other, but for rounding")
    if marked:
        notes.append("* another winner than in most of them")
    return Table(columns, rows, _title_of_orders(found), tuple(notes), marked, for_people=True)


def _title_of_orders(found: Sensitivity) -> str:
    return "The order in every scenario" if found.scenarios else "The order in every setting"


def _label_names(found: Sensitivity) -> list[str]:
    return [axis.name for axis in found.axes] or ["scenario"]


def _labels(found: Sensitivity, cell: Cell) -> list[str]:
    """What a cell has on every axis, or its scenario."""
    return [axis.labels[place] for axis, place in zip(found.axes, cell.place, strict=True)] or [cell.label]


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
    orders: list[tuple[Value, ...]] = [
        (*_labels(found, cell), order_text(cell.order, whole=True), cell.value, cell.lead, str(cell.measure))
        for cell in found.cells
    ]
    names = [*_label_names(found), "order of systems", "best .", "lead .", "measure"]
    yield Table(head(names, for_machines=True), orders, _title_of_orders(found))
    varied = dict.fromkeys(name for axis in found.axes for option in axis.options for name in option.parameters)
    values: list[tuple[Value, ...]] = [
        (*(_parameter_texts(cell.measure, varied) or [cell.label]), str(cell.measure), *score)
        for cell in found.cells
        for score in cell.scores
    ]
    names = ["depth" if name == "cutoff" else name for name in varied] or ["scenario"]
    yield Table(head([*names, *_SCORE], for_machines=True), values, "Values")
    if len(found.cells) > 1 and len(found.runs) > 1:
        pairs = tuple((str(one.measure), str(other.measure), tau) for one, other, tau in found.agreements())
        yield Table(head("measure | other | tau .", for_machines=True), pairs, "Kendall's tau")
    if found.sweep is not None:
        weights = zip(found.sweep.weights, found.sweep.points, strict=True)
        swept = tuple((weight, str(cell.measure), *score) for weight, cell in weights for score in cell.scores)
        yield Table(head(["weight .", *_SCORE], for_machines=True), swept, "Sweep")


#: What a score of a run is called.
_SCORE = ("measure", "run", "value .", "rank #")


def _parameter_texts(measure: Measure, names: Iterable[str]) -> list[str | None]:
    """The values of parameters, as far as they have an effect."""
    values = [None if name in measure._unused() else getattr(measure, name) for name in names]
    return [None if value is None else value_text(value) for value in values]


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
    parts: list[Table | Chart | str] = [text]
    if len(found.runs) > 1:
        weights = [Column(name, "number", _places(sweep)) for name in ("from weight", "to weight")]
        rows, title = _stretches(sweep), f"The order by the weight of grade {grade}"
        note = ("from, to: of the weights that were evaluated",) if len(rows) > 1 else ()
        parts.append(Table((*weights, Column("order of systems")), rows, title, note, for_people=True))
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
            f"{each.weight:.3g}"
            for each in changes[:_MOST_TOLD]
        ]
        return f"{'; '.join(told)}."
    if sweep.changes:
        return f"the winner stays, {count_of(len(sweep.changes), 'pair')} of systems below change places."
    return "no two systems change places."


def _overtakings(sweep: Sweep, grade: str) -> Table:
    weights = f"above weight .{_places(sweep)} | by weight .{_places(sweep)}"
    columns = (*head(f"overtaking | overtaken | {weights}"), Column("first place", none=""))
    changes = list(sweep.changes)
    more: tuple[str, ...] = ()
    if len(changes) > _MOST_CHANGES:
        changes.sort(key=lambda change: not change.for_first)
        more = (f"{_MOST_CHANGES} of {len(changes):,}, those for the first place first",)
    rows = tuple((each.overtaking, each.overtaken, each.low, each.high, each.for_first) for each in changes)
    return Table(columns, rows, f"Changes by the weight of grade {grade}", more, most=_MOST_CHANGES)


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
            lines.append(Line(name, sweep.weights, sweep.shares_of_best(i) if is_open else sweep.values(i)))
    grade = number_text(sweep.grade)
    rules = [
        Rule(f"{printable(change.overtaking, 20)} takes the lead", x=change.weight)
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
