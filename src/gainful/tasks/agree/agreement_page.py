"""How far measures agree on the order of systems, as a page.

Its charts are the coefficients between measures as a map, and two measures' means against each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, listed, number_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, HeatMap, Plot, Points, shortened
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page
from gainful.stats.agreement import errors_of_interval
from gainful.stats.catalogues import COEFFICIENTS, SYMMETRIC

if TYPE_CHECKING:
    from gainful.stats.agreement import OrderAgreement, OrderEstimate
    from gainful.tasks.agree import AgreementReport, ClearSwap

#: How many systems have their names in a scatter.
_MOST_NAMED, _MOST_POINTS = 8, 20


def coefficient_map(report: AgreementReport, coefficient: str) -> HeatMap:
    """One coefficient between all measures, as colours and numbers."""
    measures, values = report.found.measures, report.matrix(coefficient)
    known = [value for row in values for value in row if value is not None]
    name = COEFFICIENTS[coefficient].title
    captions = {
        "tau_ap": "A row's order is read against a column's.",
        "rbo": f"Two random orders have {report.found.agreements[0].rbo_by_chance:.2f} on average.",
    }
    return HeatMap(
        f"{name} between the orders of {count_of(len(report.found.systems), 'system')}",
        measures,
        measures,
        tuple(tuple(math.nan if value is None else value for value in row) for row in values),
        tuple(tuple("" if value is None else f"{value:.2f}" for value in row) for row in values),
        value_label=name,
        low=min(0.0, *known),
        high=1.0,
        caption=captions.get(coefficient, ""),
        has_table=True,
    )


def scatter(report: AgreementReport, a: str, b: str) -> Plot:
    """Every system by its means under two measures; of many, those that swap most clearly have their names."""
    one, other = report.matrices[a], report.matrices[b]
    swaps = [swap for swap in report.swaps if {swap.a, swap.b} == {a, b}]
    named: list[str] = []
    for swap in swaps:
        new = [name for name in (swap.better, swap.worse) if name not in named]
        if len(named) + len(new) > _MOST_NAMED:
            break
        named += new
    swapping = {name for swap in swaps for name in (swap.better, swap.worse)}
    groups = {
        "swaps most clearly": named,
        "swaps with another": [name for name in one.systems if name in swapping and name not in named],
        "swaps with none": [name for name in one.systems if name not in swapping],
    }
    all_named = len(one.systems) <= _MOST_POINTS
    value = report.value(a, b)
    said = f"{COEFFICIENTS[report.coefficients[0]].title} {'undefined' if value is None else f'{value:.4f}'}"
    pairs = report.found.of(a, b).pairs
    return Plot(
        f"Means by {shortened(a)} and by {shortened(b)}",
        Axis(_axis(a, one.better)),
        Axis(_axis(b, other.better)),
        points=tuple(
            Points(
                name,
                tuple(float(one.means[one.place(system)]) for system in systems),
                tuple(float(other.means[other.place(system)]) for system in systems),
                tuple(system if all_named or system in named else "" for system in systems),
            )
            for name, systems in groups.items()
            if systems
        ),
        caption=f"{said}; {len(swaps):,} of {count_of(pairs, 'pair')} of systems swap.",
    )


def _axis(measure: str, better: str) -> str:
    return f"{shortened(measure)} (mean)" if better == "higher" else f"{shortened(measure)} (mean, lower is better)"


_MOST_SWAPS, _MOST_SYSTEMS, _MOST_NAMES, _MOST_TOLD = 10, 20, 5, 3


def agreement_page(
    report: AgreementReport, places: int = 4, notes: Sequence[str] = (), header: Mapping[str, object] | None = None
) -> Page:
    """Sentences, the matrix of each coefficient asked for, all coefficients of all pairs, swaps, and the means."""
    parts: list[Table | Chart | str] = [_beginning(report), *_conclusions(report, places)]
    for coefficient in report.coefficients:
        parts.append(_matrix(report, coefficient, places))
        if len(report.found.measures) > 2:
            parts.append(coefficient_map(report, coefficient))
    parts += [
        _estimates(report, coefficient, places)
        for coefficient in report.coefficients
        if COEFFICIENTS[coefficient].is_symmetric
    ]
    parts += [_pairs(report, places)]
    if report.swaps:
        parts.append(_swaps(report, places))
    parts += [scatter(report, a, b) for a, b in report.scatters]
    parts += [_means(report, places), _for_machines(report)]
    return Page("agree", tuple(parts), tuple(notes), {**_header(report), **(header or {})})


def _header(report: AgreementReport) -> dict[str, object]:
    found = report.found
    return {
        "measures": list(found.measures),
        "systems": list(found.systems),
        "queries": found.queries,
        "coefficients": list(report.coefficients),
        "persistence": found.persistence,
        "draws": found.draws,
        "seed": found.seed,
    }


def _beginning(report: AgreementReport) -> str:
    found = report.found
    return (
        f"How {count_of(len(found.measures), 'measure')} order {count_of(len(found.systems), 'system')} on "
        f"{units(found.queries, report.unit)}: {', '.join(found.measures)}."
    )


def _conclusions(report: AgreementReport, places: int) -> Iterator[str]:
    """What a person wants to know first."""
    name = COEFFICIENTS[report.coefficients[0]].title
    if not report.ranked:
        why = "orders have ties; tau-ap-b allows them" if name == "tau_AP" else "a measure scores all systems alike"
        yield f"{name} is undefined between all measures: {why}."
    elif len(report.ranked) == 1:
        value, pair = report.ranked[0]
        yield f"{pair.a} and {pair.b}: {_facts(report, value, pair, places)}."
    else:
        most, least = report.ranked[0], report.ranked[-1]
        if least[0] == 1:
            yield f"All measures order the systems in the same way: {name} is always 1."
        else:
            yield f"Most agree {_agree(report, *most, places)}. Least agree {_agree(report, *least, places)}."
    yield _first_places(report)
    if report.swaps:
        yield _clearest(report, places)


def _agree(report: AgreementReport, value: float, pair: OrderAgreement, places: int) -> str:
    return f"{pair.a} and {pair.b} ({_facts(report, value, pair, places)})"


def _facts(report: AgreementReport, value: float, pair: OrderAgreement, places: int) -> str:
    coefficient = report.coefficients[0]
    name = COEFFICIENTS[coefficient].title
    parts = [f"{name} {value:.{places}f}" + (", the mean of both ways" if coefficient == "tau_ap" else "")]
    if coefficient != "tau_ap":
        found: OrderEstimate = getattr(pair, coefficient)
        if found.low is not None:
            parts.append(f"95 % interval {found.low:.{places}f} to {found.high:.{places}f}")
        elif found.error is not None:
            parts.append(f"standard error {found.error:.{places}f}")
    if coefficient == "rbo":
        parts.append(f"by chance {pair.rbo_by_chance:.{places}f}")
    parts.append(f"{len(pair.swaps):,} of {count_of(pair.pairs, 'pair')} of systems swap")
    return ", ".join(parts)


def _first_places(report: AgreementReport) -> str:
    """Who is best by which measures."""
    by_winners: dict[tuple[str, ...], list[str]] = {}
    for measure in report.found.measures:
        ranks = report.ranks[measure]
        winners = tuple(name for name, rank in zip(report.found.systems, ranks, strict=True) if rank == 1)
        by_winners.setdefault(winners, []).append(measure)
    if len(by_winners) == 1:
        return f"First by all measures: {_joined(next(iter(by_winners)))}."
    parts = [f"by {', '.join(measures)}: {_joined(winners)}" for winners, measures in by_winners.items()]
    return f"First {'; '.join(parts)}."


def _joined(names: Sequence[str]) -> str:
    return listed([printable(name, 80) for name in names], most=_MOST_NAMES)


def _clearest(report: AgreementReport, places: int) -> str:
    """The clearest swaps, each of another pair of systems."""
    told: list[ClearSwap] = []
    seen: set[frozenset[str]] = set()
    for swap in report.swaps:
        both = frozenset((swap.better, swap.worse))
        if both not in seen:
            seen.add(both)
            told.append(swap)
        if len(told) == _MOST_TOLD:
            break
    first, *others = [
        f"by {swap.a} {printable(swap.better, 80)} is ahead of {printable(swap.worse, 80)} (by "
        f"{swap.lead_a:.{places}f}), by {swap.b} behind it (by {swap.lead_b:.{places}f})"
        for swap in told
    ]
    return "; ".join([f"The clearest {'swaps' if others else 'swap'}: {first}", *others]) + "."


def _matrix(report: AgreementReport, coefficient: str, places: int) -> Table:
    """Measures x measures. Of two measures people see all of it among the pairs."""
    measures, name = report.found.measures, COEFFICIENTS[coefficient].title
    hidden = len(measures) == 2
    columns = (
        Column("measure", for_machines=hidden),
        *(Column(measure, "number", places, for_machines=hidden) for measure in measures),
    )
    rows = tuple((measure, *row) for measure, row in zip(measures, report.matrix(coefficient), strict=True))
    notes = [] if hidden else [*_said(report, coefficient)]
    if not hidden and any(value is None for row in rows for value in row):
        notes.append(_UNDEFINED["tau_ap" if coefficient == "tau_ap" else "other"])
    return Table(columns, rows, f"{name} between measures", tuple(notes))


_UNDEFINED = {
    "tau_ap": "-: an order has ties, and tau_AP is then undefined; tau_AP,b is not",
    "other": "-: undefined, because a measure scores all systems alike",
}


def _said(report: AgreementReport, coefficient: str) -> Iterator[str]:
    if coefficient == "tau_ap":
        yield "a row's order is read from its best and held against a column's"
    if coefficient == "rbo":
        chance = report.found.agreements[0].rbo_by_chance
        yield (
            f"RBO is never corrected for chance: two random orders of {count_of(len(report.found.systems), 'system')} "
            f"have {chance:.4f} on average (persistence {number_text(report.found.persistence)})"
        )


def _estimates(report: AgreementReport, coefficient: str, places: int) -> Table:
    """One coefficient with its interval, standard error and bias, most agreeing pair first."""
    name, found = COEFFICIENTS[coefficient].title, report.found
    has_draws = any(getattr(pair, coefficient).error is not None for pair in found.agreements)
    has_interval = has_draws and COEFFICIENTS[coefficient].has_interval
    numbers = [
        name,
        *(["from", "to"] if has_interval else []),
        *(["standard error", "bias"] if has_draws else []),
        *(["by chance"] if coefficient == "rbo" else []),
    ]
    columns = (
        Column("measure"),
        Column("other"),
        *(Column(each, "number", places) for each in numbers),
        Column("swapped pairs", "count"),
    )
    rows: list[tuple[Cell, ...]] = []
    for pair in sorted(found.agreements, key=lambda each: _descending(getattr(each, coefficient).value)):
        estimate: OrderEstimate = getattr(pair, coefficient)
        interval = (estimate.low, estimate.high) if has_interval else ()
        drawn = (estimate.error, estimate.bias) if has_draws else ()
        chance = (pair.rbo_by_chance,) if coefficient == "rbo" else ()
        rows.append((pair.a, pair.b, estimate.value, *interval, *drawn, *chance, len(pair.swaps)))
    notes = [f"swapped pairs: of {count_of(found.agreements[0].pairs, 'pair')} of systems"]
    if has_draws:
        reach, all_units = errors_of_interval(found.queries), plural_of(report.unit)
        notes[:0] = [
            f"from, to: 95 % interval, {name} +- {reach:.2f} standard errors: what holds 95 % on real scores of up "
            "to 30 systems"
            if has_interval
            else f"no interval: none made of the standard error holds 95 % for {name}",
            f"standard error: the standard deviation of {count_of(found.draws, 'resample')} of the {all_units} "
            f"(seed {found.seed})",
            f"bias: the resamples' mean minus {name}; often below 0, because resampled {all_units} agree less",
        ]
    return Table(tuple(columns), tuple(rows), f"{name}, most agreeing measures first", tuple(notes), for_people=True)


def _descending(value: float | None) -> float:
    return 2.0 if value is None else -value


def _pairs(report: AgreementReport, places: int) -> Table:
    """All coefficients of all pairs side by side."""
    columns = (
        Column("measure", get=lambda pair: pair.a),
        Column("other", get=lambda pair: pair.b),
        Column("tau-b", "number", places, get=lambda pair: pair.tau_b.value),
        Column("tau-a", "number", places, get=lambda pair: pair.tau_a.value),
        Column("tau_AP", "number", places, get=lambda pair: pair.tau_ap),
        Column("reverse", "number", places, get=lambda pair: pair.tau_ap_reverse),
        Column("tau_AP,b", "number", places, get=lambda pair: pair.tau_ap_b.value),
        Column("RBO", "number", places, get=lambda pair: pair.rbo.value),
        Column("by chance", "number", places, get=lambda pair: pair.rbo_by_chance),
        Column("Pearson", "number", places, get=lambda pair: pair.pearson.value),
    )
    pairs = report.found.agreements
    persistence = number_text(report.found.persistence)
    notes = [
        "tau_AP: the other's order read against the measure's; reverse: the measure's against the other's; "
        "tau_AP,b: both ways, ties allowed",
        f"by chance: the RBO (persistence {persistence}) that two random orders of so many systems have on average",
    ]
    if any(pair.tau_ap is None or pair.tau_ap_reverse is None for pair in pairs):
        notes.append(_UNDEFINED["tau_ap"])
    return Table.of(columns, pairs, title="All coefficients", notes=tuple(notes), for_people=True)


def _swaps(report: AgreementReport, places: int) -> Table:
    columns = (
        Column("system", get=lambda swap: swap.better),
        Column("other system", get=lambda swap: swap.worse),
        Column("by", get=lambda swap: swap.a),
        Column("ahead by", "number", places, get=lambda swap: swap.lead_a),
        Column("but by", get=lambda swap: swap.b),
        Column("behind by", "number", places, get=lambda swap: swap.lead_b),
        Column("clearness", "number", places, for_machines=True),
    )
    count = len(report.swaps)
    more = (f"the clearest of {count:,}; csv and jsonl have all",) if count > _MOST_SWAPS else ()
    note = "clearest: both leads are large shares of the range of all systems' means"
    return Table.of(columns, report.swaps, title="Systems that swap", notes=(*more, note), most=_MOST_SWAPS)


def _means(report: AgreementReport, places: int) -> Table:
    """Every system's mean by each measure, best by the first measure first, and its places."""
    measures, systems = report.found.measures, report.found.systems
    order = sorted(range(len(systems)), key=lambda i: report.ranks[measures[0]][i])
    columns = [Column("system")]
    for measure in measures:
        columns += [Column(measure, "number", places), Column(_place(measure), "count")]
    rows: list[tuple[Cell, ...]] = []
    for i in order:
        row: list[Cell] = [systems[i]]
        for measure in measures:
            row += [float(report.matrices[measure].means[i]), report.ranks[measure][i]]
        rows.append(tuple(row))
    lower = [measure for measure in measures if report.matrices[measure].better == "lower"]
    notes = [f"lower is better by {', '.join(lower)}"] if lower else []
    if len(rows) > _MOST_SYSTEMS:
        notes.append(f"the first {_MOST_SYSTEMS} of {len(rows):,}; csv and jsonl have all")
    return Table(tuple(columns), tuple(rows), "Means and places", tuple(notes), most=_MOST_SYSTEMS)


def _place(measure: str) -> str:
    return f"{measure} place"


def _for_machines(report: AgreementReport) -> Table:
    """Every coefficient of every pair in a row of its own."""
    names = (
        "measure | other | coefficient | value . | low . | high . | standard error . | bias . | by chance . | swaps #"
    )
    rows: list[tuple[Cell, ...]] = []
    for pair in report.found.agreements:
        for name in SYMMETRIC:
            chance = pair.rbo_by_chance if name == "rbo" else None
            rows.append((pair.a, pair.b, name, *getattr(pair, name), chance, len(pair.swaps)))
        for name in ("tau_ap", "tau_ap_reverse", "tau_ap_a", "tau_ap_a_reverse"):
            rows.append((pair.a, pair.b, name, getattr(pair, name), *[None] * 5, len(pair.swaps)))
    return Table(head(names, for_machines=True), tuple(rows), "Coefficients")
