"""What jarvelin2002 says of the last rank considered (section 4): which runs are told apart over few ranks and many.

The discussion of jarvelin2002 (section 4) as statements about runs: gain values, base, scenarios.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.gains import Gain
from gainful.kernel.arrays import Bools
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text
from gainful.pages.page import Cell as TableCell, Column, Table
from gainful.papers.claims import Claim, Section, claims_tables, remark, statement, undecided
from gainful.papers.jarvelin2002.setting import (
    Weights,
    all_means,
    best_runs,
    cell_columns,
    cell_row,
    evaluated,
    measure,
    tau_between,
    tau_text,
)
from gainful.papers.jarvelin2002.significance import LAST_RANK
from gainful.stats.rank_tests import conover, friedman, protected
from gainful.tasks.sensitivity.scenarios import SCENARIOS
from gainful.tasks.sensitivity.sensitivity_findings import Cell, Sweep, cell_of

DEPTHS = (10, 50, 100, 200)
#: The article contrasts ranks 1 to 10 with ranks 1 to 100, "or down to lower positions"; its Table 2 has 200.
EARLY, LATE, LATER = 10, 100, 200

_ALPHA = 0.05


class ToldApart(NamedTuple):
    """A setting: the order of runs by it, which pairs of runs it tells apart, and who is the better of each pair."""

    cell: Cell
    told: Bools
    first_wins: Bools

    @classmethod
    def of(cls, each: Measure, evaluations: Mapping[str, Evaluation]) -> ToldApart:
        """Friedman and Conover as in Table 2."""
        found = friedman(ScoreMatrix.from_evaluations(evaluations, each).values)
        comparisons = conover(found)
        told = protected(found, comparisons, _ALPHA)
        return cls(cell_of("", each, (), evaluations), told, comparisons.difference > 0)

    def also_in(self, other: ToldApart) -> Bools:
        """The pairs that are told apart here and there, with the same run as the better one."""
        return np.asarray(self.told & other.told & (self.first_wins == other.first_wins))

    def not_in(self, other: ToldApart) -> Bools:
        """The pairs that are told apart here and no longer there, or the other way round."""
        return np.asarray(self.told & ~self.also_in(other))

    @property
    def pairs(self) -> int:
        """How many are told apart."""
        return int(self.told.sum())


def last_rank_section(graded: Mapping[str, GradedRun], weights: Weights) -> Section:
    """What the last rank considered decides: averages over ranks 1 to 10, 50, 100 and 200."""
    gains = (weights.flat, weights.tenfold)
    wanted = {
        (kind, gain, k): measure(kind, gain, k, over_ranks=True)
        for gain in gains
        for kind in ("nCG", "nDCG")
        for k in DEPTHS
    }
    evaluations = evaluated(graded, list(wanted.values()))
    tested = {key: ToldApart.of(each, evaluations) for key, each in wanted.items()}
    rows: list[tuple[TableCell, ...]] = []
    for (kind, gain, k), found in tested.items():
        lost = [int(found.not_in(tested[kind, gain, last]).sum()) if k < last else None for last in (LATE, LATER)]
        tau = tau_between(found.cell, tested[kind, gain, LATER].cell)
        rows.append((f"{kind} ({gain})", k, best_runs(found.cell) or None, found.pairs, *lost, tau))
    pairs = len(graded) * (len(graded) - 1) // 2
    columns = (
        Column("measure"),
        Column("to rank", "count"),
        Column("best run"),
        Column("pairs told apart", "count"),
        *(Column(f"not to {last}", "count") for last in (LATE, LATER)),
        Column(f"tau with {LATER}", "number", 2),
    )
    notes = (
        f"of {count_of(pairs, 'pair')}, by Friedman and Conover at {_ALPHA} (as Table 2)",
        f"not to {LATE}, not to {LATER}: pairs that are told apart here, and over so many ranks no longer",
    )
    table = Table(columns, tuple(rows), "Averages over ranks 1 to the last one", notes)
    claims = [claim for gain in gains for claim in depth_claims(str(gain), _of_gain(tested, gain))]
    about = (
        f"Whether the last rank considered matters. The article contrasts ranks 1 to {EARLY} with ranks 1 to {LATE}; "
        f"what is found for {LATER}, as in its Table 2, stands in parentheses."
    )
    means = all_means(found.cell for found in tested.values())
    return Section("Section 4, last rank", about, (table, *claims_tables("Said of the last rank", claims), means))


def _of_gain(tested: Mapping[tuple[str, Gain, int], ToldApart], gain: Gain) -> dict[tuple[str, int], ToldApart]:
    return {(kind, k): found for (kind, of, k), found in tested.items() if of == gain}


def depth_claims(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> tuple[Claim, ...]:
    """What the article says of nCG and nDCG, by measure and last rank, under one weighting scheme."""
    return (
        _lost_by_ncg(gain, tested),
        _preserved_by_ndcg(gain, tested),
        _particularly_ncg(gain, tested),
    )


def _lost_by_ncg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    what, says = f"{gain}: pairs apart by nCG to {EARLY}, not to {LATE}", "there may be some"
    early = tested["nCG", EARLY]
    if not early.pairs:
        return undecided(what, says, f"none is told apart to {EARLY}")
    lost, later = (int(early.not_in(tested["nCG", last]).sum()) for last in (LATE, LATER))
    return remark(what, says, f"{lost} of {early.pairs} ({later})", lost > 0)


def _preserved_by_ndcg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    """ "If one uses nDCG in the previous case the difference earned by the method A would be preserved": "may be
    statistically significant also for the ranks 1 - 100"."""
    what, says = f"{gain}: those pairs by nDCG", "the difference would be preserved"
    early = tested["nCG", EARLY]
    lost, kept = [], []
    for last in (LATE, LATER):
        gone = early.not_in(tested["nCG", last])
        stays = early.also_in(tested["nDCG", EARLY]) & early.also_in(tested["nDCG", last])
        lost.append(int(gone.sum()))
        kept.append(int((gone & stays).sum()))
    if not lost[0]:
        return undecided(what, says, "nCG loses none")
    return statement(
        what,
        says,
        f"{kept[0]} of {lost[0]} preserved ({kept[1]} of {lost[1]})",
        2 * kept[0] > lost[0],
        f"preserved: nDCG tells the pair apart both to {EARLY} and to {LATE}; it holds where most of them are",
    )


def _particularly_ncg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    what, says = f"{gain}: pairs lost from {EARLY} to {LATE}", "it matters, particularly for nCG"
    both = tested["nCG", EARLY].also_in(tested["nDCG", EARLY])
    if not both.any():
        return undecided(what, says, f"none is told apart to {EARLY}")
    (ncg, ndcg), later = (
        [int((both & tested[kind, EARLY].not_in(tested[kind, last])).sum()) for kind in ("nCG", "nDCG")]
        for last in (LATE, LATER)
    )
    finds = f"nCG {ncg}, nDCG {ndcg} of {int(both.sum())} ({later[0]}, {later[1]})"
    if not ncg and not ndcg:
        return undecided(what, says, finds)
    return statement(
        what,
        says,
        finds,
        ncg > ndcg,
        f"of the pairs that both tell apart to {EARLY}; it holds where nCG loses more of them than nDCG",
    )


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
