"""Changes in the order of systems across a grid of settings or scenarios, and the page that shows them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.results import Signature
from gainful.frozen import dataclass
from gainful.measures.base import Measure, value_text
from gainful.notation import count_of, listed, plural_of, printable
from gainful.pages.charts import Chart, HeatMap
from gainful.pages.page import Cell as Value, Table, head
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.tasks.sensitivity.sensitivity_grid import Axis, Cell, Scenario, are_paired, order_text, tau_of_ranks

#: Limits: changes in a table and in sentences, systems in a sentence, pairs of settings in a table.
_MOST_CHANGES, _MOST_LISTED, _MOST_SYSTEMS, _MOST_PAIRS = 20, 5, 6, 5
#: Limits of maps: length of names in cells, rows, settings side by side.
_LONGEST_NAME, _MOST_ROWS, _MOST_CELLS = 10, 60, 8
_PLURALS = {"gain": "gains", "urs": "values of the categories", "discount": "discounts", "depth": "depths"}


class WinnerChange(NamedTuple):
    """Two neighbouring cells on one axis with different winners."""

    axis: Axis
    before: Cell
    after: Cell


class AxisEffect(NamedTuple):
    """Counts of pairs of neighbours on one axis: all, with a different winner, with a different order, with a
    significant reversal; and the mean and lowest tau between them (None: no pair has one)."""

    axis: Axis
    neighbours: int
    winner_changes: int
    order_changes: int
    supported_changes: int
    mean_tau: float | None
    lowest_tau: float | None


class Reversal(NamedTuple):
    """Two systems in different orders: numbers of cells with the first ahead and behind, in all and significantly."""

    system: str
    other: str
    ahead: int
    behind: int
    shown_ahead: int
    shown_behind: int

    @property
    def is_supported(self) -> bool:
        """Whether tests show both orders, in different cells."""
        return min(self.shown_ahead, self.shown_behind) > 0


class Agreement(NamedTuple):
    """Kendall's tau-b between the orders of two cells; None if either ties all systems."""

    one: Cell
    other: Cell
    tau: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Showable):
    """The order of systems in every cell of a grid, or in scenarios.

    ``cells`` are in grid order, last axis fastest; scenarios have no axes. ``evaluations`` are all scores, by run.
    """

    measure: Measure
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    scenarios: tuple[Scenario, ...]
    evaluations: Mapping[str, Evaluation]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.measure}: {len(self.cells)} settings, {len(self.runs)} systems>"

    @property
    def runs(self) -> tuple[str, ...]:
        """The systems, in the given order."""
        return tuple(self.evaluations)

    @property
    def queries(self) -> int:
        """The number of judged queries, or of sessions."""
        return len(set().union(*(each.query_ids for each in self.evaluations.values())))

    @property
    def policy(self) -> Policy:
        return next(iter(self.evaluations.values())).policy

    def signature(self) -> Signature:
        """Return the conventions that all measures share."""
        return next(iter(self.evaluations.values())).signature()

    @property
    def noun(self) -> str:
        return "scenario" if self.scenarios else "setting"

    def wins(self) -> dict[tuple[str, ...], int]:
        """Count the cells that each system wins, most first; ties for rank 1 count as one combination."""
        # Counter keeps the order of first wins for equal counts.
        return dict(Counter(cell.winners for cell in self.cells if cell.winners).most_common())

    @property
    def usual_winners(self) -> tuple[str, ...] | None:
        """The system that wins most cells; None if two win the same number."""
        [*counts] = self.wins().items()
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return None
        return counts[0][0]

    @cached_property
    def _neighbours(self) -> tuple[tuple[Axis, Cell, Cell], ...]:
        """Pairs of cells that differ by one step on one axis."""
        by_place = {cell.place: cell for cell in self.cells}
        return tuple(
            (axis, cell, by_place[following])
            for i, axis in enumerate(self.axes)
            for place, cell in by_place.items()
            if (following := (*place[:i], place[i] + 1, *place[i + 1 :])) in by_place
        )

    def winner_changes(self) -> tuple[WinnerChange, ...]:
        """Return all neighbours with different winners, by axis."""
        return tuple(WinnerChange(*each) for each in self._neighbours if each[1].winners != each[2].winners)

    def effects(self) -> tuple[AxisEffect, ...]:
        """Return the effect of every axis with more than one value."""
        effects = []
        for axis in self.axes:
            if len(axis.options) < 2:
                continue
            pairs = [(before, after) for each, before, after in self._neighbours if each is axis]
            taus = [self.tau(*pair) for pair in pairs]
            changes = (
                sum(before.winners != after.winners for before, after in pairs),
                sum(before.ranks != after.ranks for before, after in pairs),
                sum(self.reversed_pairs(*pair) > 0 for pair in pairs),
            )
            lowest = min((tau for tau in taus if tau is not None), default=None)
            effects.append(AxisEffect(axis, len(pairs), *changes, _mean(taus), lowest))
        return tuple(effects)

    def reversed_pairs(self, one: Cell, other: Cell) -> int:
        """Count the pairs of systems that differ significantly in both cells, in opposite directions."""
        return 0 if one.leads is None or other.leads is None else int(one.leads.reversed_in(other.leads).sum())

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """Every pair of systems whose order changes, by means or significantly, most supported first.

        Unless some cells significantly favour the first and others the second, the change is within noise.
        """
        leads = [cell.leads for cell in self.cells if cell.leads is not None]
        found = []
        for pair, (i, j) in enumerate(combinations(range(len(self.runs)), 2)):
            both = [(cell.ranks[i], cell.ranks[j]) for cell in self.cells]
            ranks = [(one, other) for one, other in both if one is not None and other is not None]
            ahead, behind = sum(one < other for one, other in ranks), sum(one > other for one, other in ranks)
            if ahead and behind:
                shown = [bool(each.first_leads[pair]) for each in leads if each.shown[pair]]
                found.append(Reversal(self.runs[i], self.runs[j], ahead, behind, sum(shown), len(shown) - sum(shown)))
        return tuple(sorted(found, key=lambda each: (-min(each.shown_ahead, each.shown_behind), -min(each[2:4]))))

    def tau(self, one: Cell, other: Cell) -> float | None:
        return tau_of_ranks(one.ranks, other.ranks)

    def agreements(self) -> list[Agreement]:
        """Return every pair of cells with its tau."""
        return [Agreement(one, other, self.tau(one, other)) for one, other in combinations(self.cells, 2)]

    def levels_tau(self, axis: Axis) -> list[list[float | None]]:
        """Return the mean tau between values of an axis, over cells that differ in nothing else."""
        i = self.axes.index(axis)
        lines: dict[tuple[int, ...], dict[int, Cell]] = {}
        for cell in self.cells:
            lines.setdefault((*cell.place[:i], *cell.place[i + 1 :]), {})[cell.place[i]] = cell
        count = range(len(axis.options))
        return [[_mean(self.tau(line[a], line[b]) for line in lines.values()) for b in count] for a in count]

    def labels(self, cell: Cell) -> list[str]:
        """Return a cell's label on every axis, or its scenario."""
        return [axis.labels[place] for axis, place in zip(self.axes, cell.place, strict=True)] or [cell.label]

    def page(self, places: int = 4) -> Page:
        """Return conclusions, a map of winners, the effect of each axis, the order in every cell, and tau."""
        parts: list[Table | Chart | str] = []
        if len(self.runs) > 1:
            chart = scenario_map(self) if self.scenarios else winner_map(self)
            parts += [*_conclusions(self), _beginning(self), *filter(None, [chart]), *_change_tables(self, places)]
        else:
            parts += ["A single system has no order; the table lists its score in every setting.", _beginning(self)]
        parts.append(_orders(self, places))
        if len(self.cells) > 1 and len(self.runs) > 1:
            parts += [_least_similar(self, places), *tau_maps(self)]
        header: dict[str, object] = {
            "signature": str(self.signature()),
            "measure": str(self.measure),
            "runs": list(self.runs),
            "queries": self.queries,
            "axes": {axis.name: list(axis.labels) for axis in self.axes},
            "settings": len(self.cells),
        }
        if self.scenarios:
            header["scenarios"] = {cell.label: str(cell.measure) for cell in self.cells}
        return Page("sensitivity", (*parts, *_for_machines(self)), (self.signature().note(),), header)


def _mean(taus: Iterable[float | None]) -> float | None:
    known: Sequence[float] = [tau for tau in taus if tau is not None]
    return sum(known) / len(known) if known else None


def _beginning(found: Sensitivity) -> str:
    unit = next(iter(found.evaluations.values())).unit
    systems = f"{count_of(len(found.runs), 'system')}, {count_of(found.queries, unit, plural_of(unit))}"
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
    # A bare "base 2" refers to the only discount that has a base.
    options = [option for axis in found.axes for option in axis.options.items()]
    based = [parameters["discount"] for label, parameters in options if label.startswith("base ")]
    discount = f" Bases apply to {based[0]}." if based else ""
    return f"{found.measure} in {count_of(len(found.cells), 'setting')}: {'; '.join(axes)}. {systems}.{discount}"


def _conclusions(found: Sensitivity) -> Iterator[str]:
    noun, total = found.noun, len(found.cells)
    changes, supported = found.reversals, [each for each in found.reversals if each.is_supported]
    pairs = count_of(len(found.runs) * (len(found.runs) - 1) // 2, "pair")
    moved = f"{len(changes)} of {pairs} of systems {'swaps' if len(changes) == 1 else 'swap'}"
    if total > 1 and not changes:
        yield f"No two systems swap: the order is the same in every {noun}."
    elif total > 1 and not supported:
        yield f"{moved}, all within noise: no pair differs significantly in both directions."
    elif total > 1:
        more = f", and {len(supported) - _MOST_LISTED} more" if len(supported) > _MOST_LISTED else ""
        within = len(changes) - len(supported)
        others = "The other change is" if within == 1 else f"The other {within} changes are"
        noise = f" {others} within noise." if within else ""
        listed_pairs = [
            f"{printable(one, 40)} and {printable(other, 40)} (ahead in {count_of(ahead, noun)}, behind in {behind})"
            for one, other, _, _, ahead, behind in supported[:_MOST_LISTED]
        ]
        yield f"{moved}. Significant reversals: {'; '.join(listed_pairs)}{more}.{noise}"
    wins = [
        (f"{_joined(names)} {'wins' if len(names) == 1 else 'tie for rank 1'}", count)
        for names, count in found.wins().items()
    ]
    if not wins:
        yield "No query counts in any setting, so there is no winner."
    elif wins[0][1] == total:
        yield f"{wins[0][0]} in {f'the only {noun}' if total == 1 else f'all {total:,} {noun}s'}."
    else:
        counts = [f"{wins[0][0]} in {wins[0][1]} of {total} {noun}s"]
        counts += [f"{who} in {count}" for who, count in wins[1 : 1 + _MOST_SYSTEMS]]
        rest = sum(count for _, count in wins[1 + _MOST_SYSTEMS :])
        yield ", ".join([*counts, *([f"others in {rest}"] if rest else [])]) + "."
    effects = sorted(found.effects(), key=lambda each: -each.winner_changes / each.neighbours)
    if found.winner_changes():
        pairs_by_axis = [
            f"{each.axis.name} in {each.winner_changes} of {count_of(each.neighbours, 'pair')}" for each in effects
        ]
        sentences = [f"Changes of winner between neighbouring values, all else equal: {'; '.join(pairs_by_axis)}."]
        for (axis, start, end, before, after), cells in _grouped(found)[:3]:
            others = f" and {count_of(len(cells) - 1, 'other setting')}" if len(cells) > 1 else ""
            sentences.append(
                f"The winner changes from {before} to {after} if the {axis} changes from {start} to {end} "
                f"({_rest(found, cells[0], axis)}{others})."
            )
        yield " ".join(sentences)
    elif effects:
        yield f"The winner does not depend on {listed([each.axis.name for each in effects], 'or')}."


def _joined(names: Sequence[str]) -> str:
    return listed([printable(name, 80) for name in names], most=_MOST_SYSTEMS)


def _grouped(found: Sensitivity) -> list[tuple[tuple[str, str, str, str, str], list[Cell]]]:
    """Return changes of winner grouped by step and by both winners, with the cells they start from."""
    groups: dict[tuple[str, str, str, str, str], list[Cell]] = {}
    for axis, before, after in found.winner_changes():
        i = found.axes.index(axis)
        start, end = axis.labels[before.place[i]], axis.labels[after.place[i]]
        key = (axis.name, start, end, _joined(before.winners), _joined(after.winners))
        groups.setdefault(key, []).append(before)
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def _rest(found: Sensitivity, cell: Cell, axis_name: str) -> str:
    others = [axis.label(i) for axis, i in zip(found.axes, cell.place, strict=True) if axis.name != axis_name]
    return f"with {', '.join(others)}" if others else "nothing else is varied"


def _change_tables(found: Sensitivity, places: int) -> Iterator[Table]:
    if found.effects():
        counts = "axis ← axis.name | pairs # ← neighbours | changes winner # ← winner_changes"
        counts += " | changes order # ← order_changes | significant reversal # ← supported_changes"
        columns = head(f"{counts} | mean tau .{places} ← mean_tau | lowest tau .{places} ← lowest_tau")
        notes: tuple[str, ...] = (
            "pairs: neighbouring settings on the axis, all else equal",
            "significant reversal: a pair of systems differs significantly in both settings, in opposite directions",
        )
        yield Table.of(columns, found.effects(), title="Effect of each axis", notes=notes)
    groups = _grouped(found)
    if groups:
        columns = head("axis | from | to | winner before | winner after | settings # | such as")
        rows = [(*key, len(cells), _rest(found, cells[0], key[0])) for key, cells in groups[:_MOST_CHANGES]]
        more = (f"the most frequent of {len(groups):,}",) if len(groups) > _MOST_CHANGES else ()
        yield Table(columns, rows, "Changes of winner", more)
    if found.reversals:
        counts = "ahead # | significantly ahead # ← shown_ahead | behind # | significantly behind # ← shown_behind"
        test = "paired t test" if are_paired(found.evaluations) else "Welch's t test of sessions without pairs"
        notes = (
            f"number of {found.noun}s; significantly: {test} at the 5% level, Holm-corrected over all pairs of systems",
            "a reversal is supported if it is significant in both directions, otherwise within noise",
        )
        title = "Systems that swap"
        columns = head(f"system | other | {counts}")
        yield Table.of(columns, found.reversals, title=title, notes=notes, most=_MOST_CHANGES)


def _orders(found: Sensitivity, places: int) -> Table:
    names = [axis.name for axis in found.axes] or ["scenario"]
    columns = head([*names, "order of systems", f"best .{places}", f"lead .{places}"])
    rows: list[tuple[Value, ...]] = [
        (*found.labels(cell), order_text(cell.order), cell.value, cell.lead) for cell in found.cells
    ]
    usual, best = found.usual_winners, len(columns) - 2
    marked = frozenset((i, best) for i, cell in enumerate(found.cells) if usual and cell.winners != usual)
    notes = ["best: the winner's mean; lead: difference from the next system"] if len(found.runs) > 1 else []
    if any(" = " in order_text(cell.order) for cell in found.cells):
        notes.append("=: equal except for rounding")
    if marked:
        notes.append("* differs from the most frequent winner")
    return Table(columns, rows, f"The order in every {found.noun}", tuple(notes), marked, for_people=True)


def _least_similar(found: Sensitivity, places: int) -> Table | str:
    """Return the pairs of settings with the lowest tau; ties are broken by the smallest difference."""
    known = [(each.tau, each) for each in found.agreements() if each.tau is not None]
    if not known:
        return f"Kendall's tau between {found.noun}s is undefined: all systems are tied."

    def distance(each: Agreement) -> tuple[int, int]:
        """Return the number of axes on which two cells differ, and the total number of steps."""
        steps = [abs(a - b) for a, b in zip(each.one.place, each.other.place, strict=True)]
        return sum(step > 0 for step in steps), sum(steps)

    lowest = sorted(known, key=lambda pair: (pair[0], *distance(pair[1])))[:_MOST_PAIRS]
    if lowest[0][0] == 1:
        return f"Kendall's tau between {found.noun}s is always 1: the order is the same in all."
    if len(known) == 1:
        tau, (one, other, _) = known[0]
        return f"Kendall's tau between {one.label} and {other.label} is {tau:.{places}f}."
    mean = sum(tau for tau, _ in known) / len(known)
    note = f"Kendall's tau between {found.noun}s is {mean:.{places}f} on average over {count_of(len(known), 'pair')}."
    columns = head(f"{found.noun} ← one.label | another ← other.label | tau .{places}")
    return Table.of(columns, [each for _, each in lowest], title="The least similar orders", notes=(note,))


def _for_machines(found: Sensitivity) -> Iterator[Table]:
    def table(names: Sequence[str], rows: Iterable[tuple[Value, ...]], title: str) -> Table:
        return Table(head(names, for_machines=True), list(rows), title)

    names = [axis.name for axis in found.axes] or ["scenario"]
    orders = [
        (*found.labels(cell), order_text(cell.order, whole=True), cell.value, cell.lead, str(cell.measure))
        for cell in found.cells
    ]
    title = f"The order in every {found.noun}"
    yield table([*names, "order of systems", "best .", "lead .", "measure"], orders, title)
    varied = list(dict.fromkeys(name for axis in found.axes for option in axis.options.values() for name in option))
    values: list[tuple[Value, ...]] = []
    for cell in found.cells:
        unused = cell.measure._unused()
        set_to = [None if name in unused else getattr(cell.measure, name) for name in varied]
        labels = [None if value is None else value_text(value) for value in set_to] or [cell.label]
        values += [(*labels, str(cell.measure), *score) for score in cell.scores]
    names = ["depth" if name == "cutoff" else name for name in varied] or ["scenario"]
    yield table([*names, "measure", "run", "value .", "rank #"], values, "Values")
    if len(found.cells) > 1 and len(found.runs) > 1:
        pairs = ((str(one.measure), str(other.measure), tau) for one, other, tau in found.agreements())
        yield table(["measure", "other", "tau ."], pairs, "Kendall's tau")


def winner_map(found: Sensitivity) -> HeatMap | None:
    """Return a map of the winners; the colour is the winner's relative lead over the next system, in %.

    Columns are the values of the last axis with several, rows all combinations of the others. Cells that the most
    frequent winner does not win are outlined. None if there is nothing to map.
    """
    varied = [axis for axis in found.axes if len(axis.options) > 1]
    if not varied:
        return None
    *others, last = varied
    rows = list(product(*(range(len(axis.options)) for axis in others)))
    if len(rows) > _MOST_ROWS:
        return None
    # The last varied axis varies fastest among the cells.
    size, usual = len(last.options), found.usual_winners
    cells = [found.cells[at : at + size] for at in range(0, len(found.cells), size)]
    winners = list(dict.fromkeys(name for cell in found.cells for name in cell.winners))
    names = {name: printable(name) for name in winners}
    if any(len(name) > _LONGEST_NAME for name in winners):
        names = {name: str(i) for i, name in enumerate(winners, 1)}  # long names are in the caption
    fixed = [axis.label(0) for axis in found.axes if len(axis.options) == 1]
    leads = [[math.nan if cell.relative_lead is None else 100 * cell.relative_lead for cell in row] for row in cells]
    unusual = ((i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if usual and cell.winners != usual)
    numbered = (f"{short} is {printable(name, 80)}" for name, short in names.items() if short != printable(name))
    return HeatMap(
        f"Winner by {found.measure}" + (f" ({', '.join(fixed)})" if fixed else ""),
        tuple(", ".join(axis.label(at) for axis, at in zip(others, row, strict=True)) for row in rows),
        last.labels,
        tuple(map(tuple, leads)),
        tuple(tuple(" = ".join(names[name] for name in cell.winners) for cell in row) for row in cells),
        x_label=last.name,
        y_label=", ".join(axis.name for axis in others),
        value_label="lead over the next system (%)",
        low=0.0,
        outlined=frozenset(unusual),
        caption="; ".join(numbered),
    )


def scenario_map(found: Sensitivity) -> HeatMap | None:
    """Return a map of every system's rank in every scenario; None if there is nothing to compare."""
    if len(found.runs) > _MOST_ROWS:
        return None
    ranks = [[cell.ranks[i] for cell in found.cells] for i in range(len(found.runs))]
    return HeatMap(
        "Ranks of systems by scenario",
        tuple(printable(run, 40) for run in found.runs),
        tuple(cell.label for cell in found.cells),
        tuple(tuple(math.nan if rank is None else float(rank) for rank in row) for row in ranks),
        tuple(tuple("" if rank is None else str(rank) for rank in row) for row in ranks),
        x_label="scenario",
        y_label="system",
        value_label="rank (1 is best)",
        low=1.0,
        high=float(len(found.runs)),
    )


def tau_maps(found: Sensitivity) -> Iterator[HeatMap]:
    """Yield maps of tau: between all settings if they are few, otherwise between the values of each axis.

    Between two values of an axis, tau is averaged over settings that differ in nothing else. Nothing is mapped if the
    order is the same in all settings.
    """
    maps: list[tuple[str, tuple[str, ...], list[list[float | None]]]] = []
    if len(found.cells) > _MOST_CELLS:
        maps += [
            (f"Kendall's tau by {axis.name}, all else equal", axis.labels, found.levels_tau(axis))
            for axis in found.axes
            if len(axis.options) > 2
        ]
    elif len(found.cells) > 2:
        taus = [[found.tau(one, other) for other in found.cells] for one in found.cells]
        maps.append(("Kendall's tau between settings", tuple(cell.label for cell in found.cells), taus))
    for title, labels, values in maps if len({cell.order for cell in found.cells}) > 1 else ():
        yield HeatMap(
            title,
            labels,
            labels,
            tuple(tuple(math.nan if tau is None else tau for tau in row) for row in values),
            tuple(tuple("" if tau is None else f"{tau:.2f}" for tau in row) for row in values),
            value_label="tau",
            low=min([0.0, *(tau for row in values for tau in row if tau is not None)]),
            high=1.0,
        )
