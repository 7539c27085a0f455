"""The discussion of jarvelin2002 (section 4) as statements about runs: gain values, base, scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.notation import count_of, number_text
from gainful.papers.claims import Claim, claims_tables, remark, statement, undecided
from gainful.papers.jarvelin2002_orders import all_means, cell_columns, cell_row, evaluated, tau_between, tau_text
from gainful.papers.jarvelin2002_setting import Weights, best_runs, measure
from gainful.papers.jarvelin2002_tables import LAST_RANK
from gainful.papers.sections import Section
from gainful.render.page import Column, Table
from gainful.sensitivity.cells import Cell, cell_of
from gainful.sensitivity.scenarios import SCENARIOS
from gainful.sensitivity.sweeping import Sweep

#: Those in the table; between them others are tried, to see where the order changes.
BASES_SHOWN: tuple[float | str, ...] = (2.0, "e", 10.0, 100.0)
_BASES: tuple[float | str, ...] = (
    2.0,
    "e",
    3.0,
    4.0,
    5.0,
    6.0,
    7.0,
    8.0,
    9.0,
    10.0,
    15.0,
    20.0,
    30.0,
    50.0,
    70.0,
    100.0,
)

#: Orders that agree at least so far do not "vary markedly".
_SAME_ORDER = 0.9


def gain_section(graded: Mapping[str, GradedRun], weights: Weights, sweep: Sweep | None) -> Section:
    """What the weights decide: flat, the grade itself, tenfold, and the highest level alone."""
    gains = dict.fromkeys((weights.flat, weights.levels.linear(), weights.tenfold, weights.top))
    wanted = {
        (kind, gain): measure(kind, gain, LAST_RANK, over_ranks=True) for kind in ("nCG", "nDCG") for gain in gains
    }
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {key: cell_of("", each, (), evaluations) for key, each in wanted.items()}
    rows = [(kind, str(gain), *cell_row(cell, cells[kind, weights.flat])) for (kind, gain), cell in cells.items()]
    columns = (Column("measure"), Column("weights"), *cell_columns(str(weights.flat)))
    table = Table(columns, tuple(rows), f"Averages over ranks 1 to {LAST_RANK} under other weights")
    changed = [gain for gain in gains if cells["nDCG", gain].ranks != cells["nDCG", weights.flat].ranks]
    claims = (
        remark(
            "nDCG under other weights",
            "weighting affects the order",
            f"{len(changed)} of {len(gains) - 1} orders differ from {weights.flat}'s",
            bool(changed),
        ),
        _standing_out(weights, cells["nDCG", weights.flat], cells["nDCG", weights.tenfold]),
    )
    parts: list[Table | str] = [table, *claims_tables("Said of gain values", claims)]
    if sweep is not None:
        parts.append(_sweep_sentence(sweep))
        parts += [_sweep_table(sweep)] if sweep.changes else []
    parts.append(all_means(cells.values()))
    about = "Whether the gain values matter: the same runs, from flat weights to the highest level alone."
    return Section("Section 4, gain values", about, tuple(parts))


def _standing_out(weights: Weights, flat: Cell, tenfold: Cell) -> Claim:
    """Whether another run is best with weights, or the same one by more: what the article sees of its run D."""
    leads = [0.0 if cell.lead is None else cell.lead for cell in (flat, tenfold)]
    named = [f"{best_runs(cell)} by {lead:.3f}" for cell, lead in zip((flat, tenfold), leads, strict=True)]
    is_other = leads[1] > 0 and flat.winners != tenfold.winners
    return remark(
        f"best run by nDCG, {weights.flat} to {weights.tenfold}",
        "run D then appears more effective",
        ", then ".join(named) if any(leads) else "no run leads",
        is_other or leads[1] > leads[0],
        "it holds where another run leads then, or the same one by more",
    )


def _sweep_sentence(sweep: Sweep) -> str:
    low, high = (number_text(weight) for weight in (sweep.weights[0], sweep.weights[-1]))
    said = (
        f"The highest level from {low} to {high} times the weight of the others, as Voorhees (2001) weighed it in the "
        f"Web Track, by {sweep.points[0].measure.name} over {LAST_RANK} ranks: "
    )
    if not sweep.changes:
        return said + "no two runs change places."
    first = [change for change in sweep.changes if change.for_first]
    lead = (
        " The best run stays the same."
        if not first
        else "".join(
            f" {change.overtaking} takes the lead from {change.overtaken} at about {change.high:.3g}."
            for change in first
        )
    )
    return f"{said}{count_of(len(sweep.changes), 'pair')} of runs change places.{lead}"


def _sweep_table(sweep: Sweep) -> Table:
    """Every change of places; people see the first ones."""
    columns = (
        Column("overtaking"),
        Column("overtaken"),
        Column("between weight", "number", 2),
        Column("and", "number", 2),
    )
    rows = tuple((change.overtaking, change.overtaken, change.low, change.high) for change in sweep.changes)
    return Table(columns, rows, "Runs that change places as the highest level gains weight", most=10)


def base_section(graded: Mapping[str, GradedRun], weights: Weights) -> Section:
    """What the base of the discount decides, and in which range nothing changes."""
    wanted: dict[float | str | None, Measure] = {
        base: measure("nDCG", weights.tenfold, LAST_RANK, over_ranks=True, base=base) for base in _BASES
    }
    wanted[None] = measure("nCG", weights.tenfold, LAST_RANK, over_ranks=True)
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {base: cell_of("", each, (), evaluations) for base, each in wanted.items()}
    names = {
        base: "CG, no discount" if base is None else f"b = {base if base == 'e' else number_text(float(base))}"
        for base in cells
    }
    shown = [base for base in cells if base is None or base in BASES_SHOWN]
    rows = [(names[base], *cell_row(cells[base], cells[2.0])) for base in shown]
    columns = (Column("discount"), *cell_columns("b = 2"))
    title = f"nDCG, {weights.tenfold}, averaged over ranks 1 to {LAST_RANK}, by base"
    is_same = [cells[one].ranks == cells[other].ranks for one, other in pairwise(_BASES)]
    until = next((i for i, same in enumerate(is_same) if not same), len(is_same))
    reached = names[_BASES[until]].removeprefix("b = ")
    nothing_changes = (
        "From base 2 to base 100 no two runs change places."
        if until == len(is_same)
        else f"Nothing changes from base 2 to base {reached}; the order is another one at base "
        f"{names[_BASES[until + 1]].removeprefix('b = ')}."
        if until
        else f"The order changes between base 2 and base {names[_BASES[1]].removeprefix('b = ')} already."
    )
    to_10 = [cells[base].ranks == cells[2.0].ranks for base in _BASES[: _BASES.index(10.0) + 1]]
    claims = (
        _two_bases(cells[2.0], cells[10.0], all(to_10)),
        remark(
            "nDCG, b = 2, and nCG",
            "discounting affects the order",
            f"tau {tau_text(tau_between(cells[2.0], cells[None]))}",
            cells[2.0].ranks != cells[None].ranks,
        ),
    )
    about = "Whether the base of the discount matters, from the impatient user (2) to hardly any discount (100)."
    tried = ", ".join(names[base].removeprefix("b = ") for base in _BASES)
    table = Table(columns, tuple(rows), title, (f"bases tried: {tried}",))
    parts: tuple[Table | str, ...] = (
        table,
        nothing_changes,
        *claims_tables("Said of the base", claims),
        all_means(cells.values()),
    )
    return Section("Section 4, base", about, parts)


def _two_bases(two: Cell, ten: Cell, is_same_between: bool) -> Claim:
    what, says, tau = "bases 2 and 10", "results do not vary markedly", tau_between(two, ten)
    if tau is None:
        return undecided(what, says, "tau undefined")
    finds = f"tau {tau_text(tau)}" + (", the same order" if is_same_between else "")
    return statement(what, says, finds, tau >= _SAME_ORDER, f"it holds where tau is {_SAME_ORDER} or more")


def scenario_section(judged: Judged, graded: Mapping[str, GradedRun]) -> Section:
    """The article's two users: busy, who see few documents, and patient."""
    usual = parse("nDCG")
    wanted = {name: scenario.measure_for(judged, usual) for name, scenario in SCENARIOS.items()}
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {name: cell_of(name, each, (), evaluations) for name, each in wanted.items()}
    first = next(iter(cells.values()))
    rows = [(name, str(wanted[name]), *cell_row(cell, first)) for name, cell in cells.items()]
    columns = (Column("user"), Column("measure"), *cell_columns(first.label))
    one, other = cells.values()
    moved = sum(x != y for x, y in zip(one.ranks, other.ranks, strict=True))
    claim = remark(
        "runs that are better in one scenario only",
        "try out both, to see if there are",
        f"{moved} of {len(graded)} change places, tau {tau_text(tau_between(one, other))}",
        moved > 0,
    )
    about = "The two scenarios that the article argues for: very busy users, and patient ones."
    table = Table(columns, tuple(rows), "Two users")
    parts = (table, *claims_tables("Said of scenarios", [claim]), all_means(cells.values()))
    return Section("Section 4, scenarios", about, parts)
