"""The discussion of jarvelin2002 (section 4) as statements about runs: last rank, gain values, base, scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from gainful.arrays import Bools
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.evaluation import evaluate_graded
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.notation import count_of, number_text
from gainful.papers.claims import Claim, beside, claims_tables, statement
from gainful.papers.jarvelin2002_setting import Weights, best_runs, measure, seen
from gainful.papers.jarvelin2002_tables import LAST_RANK
from gainful.papers.sections import Section
from gainful.render.charts import shortened
from gainful.render.page import Cell as TableCell
from gainful.render.page import Column, Table
from gainful.results import Evaluation
from gainful.sensitivity.cells import Cell, cell_of, tau_of_ranks
from gainful.sensitivity.scenarios import SCENARIOS
from gainful.sensitivity.sweeping import Sweep
from gainful.stats.friedman import conover, friedman, protected
from gainful.stats.scores import ScoreMatrix

DEPTHS = (10, 50, 100, 200)
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

_ALPHA = 0.05
#: An order of more systems than these is not written out.
_MOST_NAMED = 6


class _Tested(NamedTuple):
    """A setting: the order of runs by it, which pairs of runs it tells apart, and who is the better of each pair."""

    cell: Cell
    told: Bools
    first_wins: Bools

    @classmethod
    def of(cls, label: str, each: Measure, evaluations: Mapping[str, Evaluation]) -> _Tested:
        found = friedman(ScoreMatrix.from_evaluations(evaluations, each).values)
        comparisons = conover(found)
        told = protected(found, comparisons, _ALPHA)
        return cls(cell_of(label, each, (), evaluations), told, comparisons.difference > 0)

    def lost_in(self, other: _Tested) -> int:
        """How many of the pairs told apart here are not told apart there, or the other way round."""
        return int((self.told & ~(other.told & (self.first_wins == other.first_wins))).sum())

    @property
    def pairs(self) -> int:
        return int(self.told.sum())


def _evaluated(graded: Mapping[str, GradedRun], measures: Sequence[Measure]) -> dict[str, Evaluation]:
    return {name: evaluate_graded(run, measures) for name, run in graded.items()}


def last_rank_section(graded: Mapping[str, GradedRun], weights: Weights) -> Section:
    """What the last rank considered decides: averages over ranks 1 to 10, 50, 100 and 200."""
    kinds = [(kind, gain) for gain in (weights.flat, weights.tenfold) for kind in ("nCG", "nDCG")]
    wanted = {(kind, gain, k): measure(kind, gain, k, over_ranks=True) for kind, gain in kinds for k in DEPTHS}
    evaluations = _evaluated(graded, list(wanted.values()))
    tested = {key: _Tested.of("", each, evaluations) for key, each in wanted.items()}
    rows: list[tuple[TableCell, ...]] = []
    for (kind, gain, k), found in tested.items():
        last = tested[kind, gain, DEPTHS[-1]]
        rows.append(
            (
                f"{kind} ({gain})",
                k,
                best_runs(found.cell),
                found.pairs,
                found.lost_in(last),
                _tau(found.cell, last.cell),
            )
        )
    pairs = len(graded) * (len(graded) - 1) // 2
    columns = (
        Column("measure"),
        Column("to rank", "count"),
        Column("best run"),
        Column("pairs told apart", "count"),
        Column(f"not at {DEPTHS[-1]}", "count"),
        Column(f"tau with {DEPTHS[-1]}", "number", 2),
    )
    notes = (
        f"of {count_of(pairs, 'pair')}, by Friedman and Conover at {_ALPHA} (as Table 2)",
        f"not at {DEPTHS[-1]}: pairs that are told apart here, and no longer to rank {DEPTHS[-1]}",
    )
    table = Table(columns, tuple(rows), "Averages over ranks 1 to the last one", notes)
    claims = [claim for gain in (weights.flat, weights.tenfold) for claim in _depth_claims(tested, gain)]
    about = "Whether the last rank considered matters: for the order of runs, and for which of them are told apart."
    means = _all_means(found.cell for found in tested.values())
    return Section("Section 4, last rank", about, (table, *claims_tables("Said of the last rank", claims), means))


def _depth_claims(tested: Mapping[tuple[str, Gain, int], _Tested], gain: Gain) -> tuple[Claim, ...]:
    first, last = DEPTHS[0], DEPTHS[-1]
    counts = {
        kind: (tested[kind, gain, first].lost_in(tested[kind, gain, last]), tested[kind, gain, first].pairs)
        for kind in ("nCG", "nDCG")
    }
    found = ", ".join(f"{kind} {lost} of {pairs}" for kind, (lost, pairs) in counts.items())
    shares = {kind: lost / pairs if pairs else 0.0 for kind, (lost, pairs) in counts.items()}
    what = f"{gain}: pairs at {first} gone at {last}"
    if not any(pairs for _, pairs in counts.values()):
        return (beside(what, "nCG may lose them, nDCG keeps them", f"nothing is told apart at {first}"),)
    return (
        statement(what, "nCG may lose them, nDCG keeps them", found, shares["nDCG"] <= shares["nCG"]),
        seen(
            f"{gain}: a pair told apart at {first} only",
            "there may be one",
            f"{sum(lost for lost, _ in counts.values())} found",
            any(lost for lost, _ in counts.values()),
        ),
    )


def gain_section(graded: Mapping[str, GradedRun], weights: Weights, sweep: Sweep | None) -> Section:
    """What the weights decide: flat, the grade itself, tenfold, and the highest level alone."""
    gains = dict.fromkeys((weights.flat, weights.levels.linear(), weights.tenfold, weights.top))
    wanted = {
        (kind, gain): measure(kind, gain, LAST_RANK, over_ranks=True) for kind in ("nCG", "nDCG") for gain in gains
    }
    evaluations = _evaluated(graded, list(wanted.values()))
    cells = {key: cell_of("", each, (), evaluations) for key, each in wanted.items()}
    rows = [(kind, str(gain), *_cell_row(cell, cells[kind, weights.flat])) for (kind, gain), cell in cells.items()]
    columns = (Column("measure"), Column("weights"), *_cell_columns(str(weights.flat)))
    table = Table(columns, tuple(rows), f"Averages over ranks 1 to {LAST_RANK} under other weights")
    changed = [gain for gain in gains if cells["nDCG", gain].ranks != cells["nDCG", weights.flat].ranks]
    won = {cells["nDCG", gain].winners for gain in gains}
    claims = (
        seen(
            "nDCG under other weights",
            "weighting affects the order",
            f"{len(changed)} of {len(gains) - 1} orders differ from {weights.flat}'s",
            bool(changed),
        ),
        seen(
            "best run by nDCG",
            "another one, or clearer, with weights",
            "changes" if len(won) > 1 else "always the same",
            len(won) > 1,
        ),
    )
    parts: list[Table | str] = [table, *claims_tables("Said of gain values", claims)]
    if sweep is not None:
        parts.append(_sweep_sentence(sweep))
        parts += [_sweep_table(sweep)] if sweep.changes else []
    parts.append(_all_means(cells.values()))
    about = "Whether the gain values matter: the same runs, from flat weights to the highest level alone."
    return Section("Section 4, gain values", about, tuple(parts))


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
    evaluations = _evaluated(graded, list(wanted.values()))
    cells = {base: cell_of("", each, (), evaluations) for base, each in wanted.items()}
    names = {
        base: "CG, no discount" if base is None else f"b = {base if base == 'e' else number_text(float(base))}"
        for base in cells
    }
    shown = [base for base in cells if base is None or base in BASES_SHOWN]
    rows = [(names[base], *_cell_row(cells[base], cells[2.0])) for base in shown]
    columns = (Column("discount"), *_cell_columns("b = 2"))
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
    tau_10, tau_cg = (_tau(cells[2.0], cells[base]) for base in (10.0, None))
    claims = (
        beside(
            "bases 2 and 10",
            "results do not vary markedly",
            f"tau {_text(tau_10)}" + (", the same order" if all(to_10) else ""),
        ),
        seen(
            "nDCG, b = 2, and nCG",
            "discounting affects the order",
            f"tau {_text(tau_cg)}",
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
        _all_means(cells.values()),
    )
    return Section("Section 4, base", about, parts)


def scenario_section(judged: Judged, graded: Mapping[str, GradedRun]) -> Section:
    """The article's two users: busy, who see few documents, and patient."""
    usual = parse("nDCG")
    wanted = {name: scenario.measure_for(judged, usual) for name, scenario in SCENARIOS.items()}
    evaluations = _evaluated(graded, list(wanted.values()))
    cells = {name: cell_of(name, each, (), evaluations) for name, each in wanted.items()}
    first = next(iter(cells.values()))
    rows = [(name, str(wanted[name]), *_cell_row(cell, first)) for name, cell in cells.items()]
    columns = (Column("user"), Column("measure"), *_cell_columns(first.label))
    one, other = cells.values()
    claim = beside(
        "runs superior in one scenario only",
        "try out both to see",
        f"{sum(x != y for x, y in zip(one.ranks, other.ranks, strict=True))} of {len(graded)} change places, "
        f"tau {_text(_tau(one, other))}",
    )
    about = "The two scenarios that the article argues for: very busy users, and patient ones."
    table = Table(columns, tuple(rows), "Two users")
    parts = (table, *claims_tables("Said of scenarios", [claim]), _all_means(cells.values()))
    return Section("Section 4, scenarios", about, parts)


def _all_means(cells: Iterable[Cell]) -> Table:
    """Every run's mean and place in every setting, for machines."""
    columns = (
        Column("measure", for_machines=True),
        Column("run", for_machines=True),
        Column("mean", "number", for_machines=True),
        Column("place", "count", for_machines=True),
    )
    return Table(columns, tuple((str(cell.measure), *score) for cell in cells for score in cell.scores))


def _cell_columns(reference: str) -> tuple[Column, ...]:
    return (
        Column("best run"),
        Column("its mean", "number", 3),
        Column("lead", "number", 3),
        Column(f"tau with {reference}", "number", 2),
        Column("order"),
    )


def _cell_row(cell: Cell, reference: Cell) -> tuple[TableCell, ...]:
    return best_runs(cell), cell.value, cell.lead, _tau(cell, reference), _order(cell)


def _order(cell: Cell) -> str:
    """The runs, best first; of many only the first ones."""
    groups = ["=".join(shortened(run) for run in group) for group in cell.order]
    return " > ".join(groups) if len(cell.scores) <= _MOST_NAMED else " > ".join([*groups[:3], "..."])


def _tau(one: Cell, other: Cell) -> float | None:
    return tau_of_ranks(one.ranks, other.ranks)


def _text(tau: float | None) -> str:
    return "undefined" if tau is None else f"{tau:.2f}"
