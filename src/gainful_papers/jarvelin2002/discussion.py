"""The discussion of jarvelin2002 (section 4) as statements about runs: last rank, gain values, base, scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from gainful import GradedRun, Measure, parse
from gainful.data.judged import Judged
from gainful.notation import count_of, number_text
from gainful.pages.charts import shortened
from gainful.pages.page import Cell as TableCell, Column, Table, head
from gainful.stats.leads import Leads
from gainful.tasks.sensitivity.sensitivity_grid import SCENARIOS, Cell, cell_of, tau_of_ranks
from gainful_papers.claims import Claim, Ordered, Part, Section, claims_tables, moved_pairs, table, tau_text
from gainful_papers.jarvelin2002.setting import LAST_RANK, Weights, best_runs, evaluated, measure, standing_out
from gainful_papers.jarvelin2002.weight_sweep import WeightSweep

#: An order of more systems than these is not written out.
_MOST_NAMED = 6


def _all_means(cells: Iterable[Cell]) -> Table:
    """Every run's mean and place in every setting, for machines."""
    rows = ((str(cell.measure), *score) for cell in cells for score in cell.scores)
    return table("", "measure | run | mean . | place #", rows, for_machines=True)


def _cell_head(first: str, reference: str) -> tuple[Column, ...]:
    """The columns of :func:`_cell_row`, after the first ones."""
    return (*head(first), *head("best run | its mean .3 | lead .3"), *head([f"tau with {reference} .2", "order"]))


def _cell_row(cell: Cell, reference: Cell) -> tuple[TableCell, ...]:
    """Who is best by a setting, by how much, and how far its order is that of another one."""
    groups = ["=".join(shortened(run) for run in group) for group in cell.order]
    # Of many runs only the first ones.
    order = " > ".join(groups if len(cell.scores) <= _MOST_NAMED else [*groups[:3], "..."])
    return best_runs(cell) or None, cell.value, cell.lead, _tau_between(cell, reference), order


def _tau_between(one: Cell, other: Cell) -> float | None:
    """Kendall's tau-b of the orders by two settings."""
    return tau_of_ranks(one.ranks, other.ranks)


DEPTHS = (10, 50, 100, 200)
#: The article contrasts ranks 1 to 10 with ranks 1 to 100, "or down to lower positions"; its Table 2 has 200.
EARLY, LATE, LATER = 10, 100, 200

_ALPHA = 0.05


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
    tested = {key: Ordered.of(evaluations, each).leads for key, each in wanted.items()}
    cells = {key: cell_of("", each, (), evaluations) for key, each in wanted.items()}
    rows = []
    for (kind, gain, k), found in tested.items():
        lost = [int(found.not_in(tested[kind, gain, last]).sum()) if k < last else None for last in (LATE, LATER)]
        cell = cells[kind, gain, k]
        tau = _tau_between(cell, cells[kind, gain, LATER])
        rows.append((f"{kind} ({gain})", k, best_runs(cell) or None, found.number, *lost, tau))
    pairs = len(graded) * (len(graded) - 1) // 2
    by_gain = {gain: {(kind, k): found for (kind, of, k), found in tested.items() if of == gain} for gain in gains}
    claims = [claim for gain, of_gain in by_gain.items() for claim in depth_claims(str(gain), of_gain)]
    return Section.of(
        "Section 4, last rank",
        f"Whether the last rank considered matters. The article contrasts ranks 1 to {EARLY} with ranks 1 to {LATE}; "
        f"what is found for {LATER}, as in its Table 2, stands in parentheses.",
        table(
            "Averages over ranks 1 to the last one",
            f"measure | to rank # | best run | pairs significantly different # | not to {LATE} # | not to {LATER} # | "
            f"tau with {LATER} .2",
            rows,
            f"of {count_of(pairs, 'pair')}, by Friedman and Conover at {_ALPHA} (as Table 2)",
            f"not to {LATE}, not to {LATER}: pairs that are significantly different here, and over so many ranks "
            "no longer",
        ),
        claims_tables("Said of the last rank", claims),
        _all_means(cells.values()),
    )


def depth_claims(gain: str, tested: Mapping[tuple[str, int], Leads]) -> Iterator[Claim]:
    """What the article says of nCG and nDCG, by measure and last rank, under one weighting scheme."""
    early, none_differs = tested["nCG", EARLY], f"no pair is significantly different to {EARLY}"
    # Pairs that nCG tells apart early and no longer later, and those of them that nDCG preserves: "If one uses nDCG in
    # the previous case the difference earned by the method A would be preserved".
    lost, kept = [], []
    for last in (LATE, LATER):
        gone = early.not_in(tested["nCG", last])
        stays = early.also_in(tested["nDCG", EARLY]) & early.also_in(tested["nDCG", last])
        lost.append(int(gone.sum()))
        kept.append(int((gone & stays).sum()))
    what, says = f"{gain}: pairs apart by nCG to {EARLY}, not to {LATE}", "there may be some"
    if early.number:
        yield Claim.remark(what, says, f"{lost[0]} of {early.number} ({lost[1]})", lost[0] > 0)
    else:
        yield Claim.undecided(what, says, none_differs)
    what, says = f"{gain}: those pairs by nDCG", "the difference would be preserved"
    if lost[0]:
        note = (
            f"preserved: nDCG finds the pair different both to {EARLY} and to {LATE}; it holds where most of them are"
        )
        finds = f"{kept[0]} of {lost[0]} preserved ({kept[1]} of {lost[1]})"
        yield Claim.statement(what, says, finds, 2 * kept[0] > lost[0], note)
    else:
        yield Claim.undecided(what, says, "nCG loses none")
    what, says = f"{gain}: pairs lost from {EARLY} to {LATE}", "it matters, particularly for nCG"
    both = early.also_in(tested["nDCG", EARLY])
    (ncg, ndcg), later = (
        [int((both & tested[kind, EARLY].not_in(tested[kind, last])).sum()) for kind in ("nCG", "nDCG")]
        for last in (LATE, LATER)
    )
    finds = f"nCG {ncg}, nDCG {ndcg} of {int(both.sum())} ({later[0]}, {later[1]})"
    note = f"of the pairs that differ significantly by both to {EARLY}; it holds where nCG loses more of them than nDCG"
    if not both.any():
        yield Claim.undecided(what, says, none_differs)
    elif not ncg and not ndcg:
        yield Claim.undecided(what, says, finds)
    else:
        yield Claim.statement(what, says, finds, ncg > ndcg, note)


#: Those in the table; between them others are tried, to see where the order changes.
BASES_SHOWN: tuple[float | str, ...] = (2.0, "e", 10.0, 100.0)
_BASES: tuple[float | str, ...] = (2.0, "e", *map(float, (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 50, 70, 100)))


def gain_section(graded: Mapping[str, GradedRun], weights: Weights, sweep: WeightSweep) -> Section:
    """What the weights decide: flat, the grade itself, tenfold, and the highest level alone."""
    gains = dict.fromkeys((weights.flat, weights.levels.linear(), weights.tenfold, weights.top))
    wanted = {
        (kind, gain): measure(kind, gain, LAST_RANK, over_ranks=True) for kind in ("nCG", "nDCG") for gain in gains
    }
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {key: cell_of("", each, (), evaluations) for key, each in wanted.items()}
    flat, tenfold = (Ordered.of(evaluations, wanted["nDCG", gain]) for gain in (weights.flat, weights.tenfold))
    names = f"{weights.flat} to {weights.tenfold}"
    claims = (
        Claim.order(f"nDCG, {names}", "weighting affects the order", flat, tenfold, changes=True),
        standing_out(f"best run by nDCG, {names}", list(graded), flat, tenfold),
    )
    return Section.of(
        "Section 4, gain values",
        "Whether the gain values matter: the same runs, from flat weights to the highest level alone.",
        table(
            f"Averages over ranks 1 to {LAST_RANK} under other weights",
            _cell_head("measure | weights", str(weights.flat)),
            ((kind, str(gain), *_cell_row(cell, cells[kind, weights.flat])) for (kind, gain), cell in cells.items()),
        ),
        claims_tables("Said of gain values", claims),
        _sweep_parts(sweep),
        _all_means(cells.values()),
    )


def _sweep_parts(sweep: WeightSweep) -> Iterator[Part]:
    """In a sentence what changes as the highest level gains weight, and every change; people see the first ones."""
    low, high = (number_text(weight) for weight in (sweep.weights[0], sweep.weights[-1]))
    said = (
        f"The highest level from {low} to {high} times the weight of the others, as Voorhees (2001) weighed it in the "
        f"Web Track, by {sweep.points[0].measure.name} over {LAST_RANK} ranks: "
    )
    if not sweep.changes:
        yield said + "no two runs change places."
        return
    first = [
        f" {change.overtaking} takes the lead from {change.overtaken} at about {change.high:.3g}."
        for change in sweep.changes
        if change.for_first
    ]
    lead = "".join(first) or " The best run stays the same."
    yield f"{said}{count_of(len(sweep.changes), 'pair')} of runs change places.{lead}"
    yield table(
        "Runs that change places as the highest level gains weight",
        "overtaking | overtaken | between weight .2 | and .2",
        ((change.overtaking, change.overtaken, change.low, change.high) for change in sweep.changes),
        most=10,
    )


def base_section(graded: Mapping[str, GradedRun], weights: Weights) -> Section:
    """What the base of the discount decides, and in which range nothing changes."""
    wanted: dict[float | str | None, Measure] = {
        base: measure("nDCG", weights.tenfold, LAST_RANK, over_ranks=True, base=base) for base in _BASES
    }
    wanted[None] = measure("nCG", weights.tenfold, LAST_RANK, over_ranks=True)
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {base: cell_of("", each, (), evaluations) for base, each in wanted.items()}
    names = {base: base if base == "e" else number_text(float(base)) for base in _BASES}
    is_same = [cells[one].ranks == cells[other].ranks for one, other in pairwise(_BASES)]
    until = next((i for i, same in enumerate(is_same) if not same), len(is_same))
    if until == len(is_same):
        nothing_changes = "From base 2 to base 100 no two runs change places."
    elif until:
        reached, after = names[_BASES[until]], names[_BASES[until + 1]]
        nothing_changes = f"Nothing changes from base 2 to base {reached}; the order is another one at base {after}."
    else:
        nothing_changes = f"The order changes between base 2 and base {names[_BASES[1]]} already."
    two, ten, undiscounted = (Ordered.of(evaluations, wanted[base]) for base in (2.0, 10.0, None))
    claims = (
        Claim.order("bases 2 and 10", "results do not vary markedly", two, ten, changes=False),
        Claim.order("nDCG, b = 2, and nCG", "discounting affects the order", two, undiscounted, changes=True),
    )
    shown = {base: f"b = {names[base]}" for base in BASES_SHOWN} | {None: "CG, no discount"}
    return Section.of(
        "Section 4, base",
        "Whether the base of the discount matters, from the impatient user (2) to hardly any discount (100).",
        table(
            f"nDCG, {weights.tenfold}, averaged over ranks 1 to {LAST_RANK}, by base",
            _cell_head("discount", "b = 2"),
            ((name, *_cell_row(cells[base], cells[2.0])) for base, name in shown.items()),
            f"bases tried: {', '.join(names.values())}",
        ),
        nothing_changes,
        claims_tables("Said of the base", claims),
        _all_means(cells.values()),
    )


def scenario_section(judged: Judged, graded: Mapping[str, GradedRun]) -> Section:
    """The article's two users: busy, who see few documents, and patient."""
    usual = parse("nDCG")
    wanted = {name: scenario.measure_for(judged, usual) for name, scenario in SCENARIOS.items()}
    evaluations = evaluated(graded, list(wanted.values()))
    cells = {name: cell_of(name, each, (), evaluations) for name, each in wanted.items()}
    first, second = cells.values()
    busy, patient = (Ordered.of(evaluations, each) for each in wanted.values())
    shown = int(busy.leads.reversed_in(patient.leads).sum())
    found = (
        "The article recommends to try out both, in order to see whether some runs are superior in one scenario only. "
        f"Here {count_of(shown, 'pair')} of runs {'is' if shown == 1 else 'are'} significantly the other way round in "
        f"the other scenario, and {moved_pairs(first.ranks, second.ranks)} by means (tau "
        f"{tau_text(_tau_between(first, second))})."
    )
    return Section.of(
        "Section 4, scenarios",
        "The two scenarios that the article argues for: very busy users, and patient ones.",
        table(
            "Two users",
            _cell_head("user | measure", first.label),
            ((name, str(wanted[name]), *_cell_row(cell, first)) for name, cell in cells.items()),
        ),
        found,
        _all_means(cells.values()),
    )
