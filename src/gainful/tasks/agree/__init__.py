"""How far measures agree on the order of systems, from score matrices; and the page that says so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from gainful.errors import UsageError, warns
from gainful.evaluation.score_matrix import ScoreMatrix, upward
from gainful.evaluation.scores import ScoreReport, Scores, check_size
from gainful.frozen import dataclass, replace
from gainful.kernel.parallel import current_progress
from gainful.measures.catalog import parse
from gainful.notation import count_of, listed, nearest, number_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, HeatMap, Plot, Points, shortened
from gainful.pages.page import Cell, Column, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.stats.agreement import (
    MeasureAgreement,
    OrderAgreement,
    OrderEstimate,
    agreement_of_measures,
    errors_of_interval,
)
from gainful.stats.catalogues import COEFFICIENTS, SYMMETRIC
from gainful.tasks.score_questions import AgreeOptions


class ClearSwap(NamedTuple):
    """Two systems that two measures put into opposite order, and how clearly: the smaller lead as a share of a range.

    By measure ``a``, ``better`` is ahead of ``worse`` by ``lead_a``; by measure ``b`` it is behind by ``lead_b``.
    """

    a: str
    b: str
    better: str
    worse: str
    lead_a: float
    lead_b: float
    clearness: float


@dataclass(frozen=True, eq=False, repr=False)
class AgreementReport(ScoreReport):
    """How far every two measures agree; ``found`` has all coefficients, ``scores`` what they were made from.

    ``coefficients`` are those whose matrices are shown, the first is what sentences speak of; ``scatters`` the pairs
    of measures whose means are drawn against each other.
    """

    found: MeasureAgreement
    coefficients: tuple[str, ...]
    scatters: tuple[tuple[str, str], ...]

    def page(self, places: int = 4) -> Page:
        """Sentences, the matrix of each coefficient asked for, all coefficients of all pairs, swaps, and the means."""
        found, shown, number = self.found, self.coefficients, f".{places} ←"
        counts = f"{count_of(len(found.measures), 'measure')} order {count_of(len(found.systems), 'system')}"
        parts: list[Table | Chart | str] = [
            f"How {counts} on {units(found.queries, self.unit)}: {', '.join(found.measures)}.",
            *_conclusions(self, places),
        ]
        for coefficient in shown:
            parts += _coefficient_matrix(self, coefficient, places)
        parts += [_coefficient_table(self, each, places) for each in shown if COEFFICIENTS[each].is_symmetric]
        columns = head(
            f"measure ← a | other ← b | tau-b {number} tau_b.value | tau-a {number} tau_a.value | "
            f"tau_AP {number} tau_ap | reverse {number} tau_ap_reverse | tau_AP,b {number} tau_ap_b.value | "
            f"RBO {number} rbo.value | by chance {number} rbo_by_chance | Pearson {number} pearson.value"
        )
        notes = [
            "tau_AP: the other's order read against the measure's; reverse: the measure's against the other's; "
            "tau_AP,b: both ways, ties allowed",
            f"by chance: the RBO (persistence {number_text(found.persistence)}) that two random orders of so many "
            "systems have on average",
        ]
        if any(pair.tau_ap is None or pair.tau_ap_reverse is None for pair in found.agreements):
            notes.append(_UNDEFINED["tau_ap"])
        title = "All coefficients"
        parts.append(Table.of(columns, found.agreements, title=title, notes=tuple(notes), for_people=True))
        if self.swaps:
            leads = f"by ← a | ahead by {number} lead_a | but by ← b | behind by {number} lead_b"
            columns = head(f"system ← better | other system ← worse | {leads}")
            columns += head(f"clearness .{places}", for_machines=True)
            notes = ["clearest: both leads are large shares of the range of all systems' means"]
            if len(self.swaps) > _MOST_SWAPS:
                notes.insert(0, f"the clearest of {len(self.swaps):,}; csv and jsonl have all")
            title = "Systems that swap"
            parts.append(Table.of(columns, self.swaps, title=title, notes=tuple(notes), most=_MOST_SWAPS))
        parts += [scatter(self, a, b) for a, b in self.scatters]
        order = sorted(range(len(found.systems)), key=self.ranks[found.measures[0]].__getitem__)
        columns = (Column("system", get=found.systems.__getitem__),)
        for measure in found.measures:
            means = self.matrices[measure].means.tolist()
            columns += (Column(measure, "number", places, get=means.__getitem__),)
            columns += (Column(f"{measure} place", "count", get=self.ranks[measure].__getitem__),)
        lower = [measure for measure in found.measures if self.matrices[measure].better == "lower"]
        notes = [f"lower is better by {', '.join(lower)}"] if lower else []
        if len(order) > _MOST_SYSTEMS:
            notes.append(f"the first {_MOST_SYSTEMS} of {len(order):,}; csv and jsonl have all")
        title = "Means and places"
        parts.append(Table.of(columns, order, title=title, notes=tuple(notes), most=_MOST_SYSTEMS))
        records: list[tuple[Cell, ...]] = []
        for pair in found.agreements:
            for name in SYMMETRIC:
                chance = pair.rbo_by_chance if name == "rbo" else None
                records.append((pair.a, pair.b, name, *getattr(pair, name), chance, len(pair.swaps)))
            for name in ("tau_ap", "tau_ap_reverse", "tau_ap_a", "tau_ap_a_reverse"):
                records.append((pair.a, pair.b, name, getattr(pair, name), *[None] * 5, len(pair.swaps)))
        names = "measure | other | coefficient | value . | low . | high . | standard error . | bias . | by chance ."
        parts.append(Table(head(f"{names} | swaps #", for_machines=True), records, "Coefficients"))
        header = {
            "measures": list(found.measures),
            "systems": list(found.systems),
            "queries": found.queries,
            "coefficients": list(shown),
            "persistence": found.persistence,
            "draws": found.draws,
            "seed": found.seed,
        }
        return self.page_of("agree", parts, header)

    def value(self, estimated: str, reference: str, coefficient: str | None = None) -> float | None:
        """One coefficient of two measures; only tau_AP depends on which of the two orders is read against the other."""
        name = coefficient or self.coefficients[0]
        if estimated == reference:
            return 1.0
        pair = self.found.of(estimated, reference)
        if name == "tau_ap":
            return pair.tau_ap if pair.a == reference else pair.tau_ap_reverse
        value: float | None = getattr(pair, name).value
        return value

    def matrix(self, coefficient: str | None = None) -> tuple[tuple[float | None, ...], ...]:
        """Measures x measures; of tau_AP a row's order is read against a column's."""
        measures = self.found.measures
        return tuple(tuple(self.value(row, column, coefficient) for column in measures) for row in measures)

    @cached_property
    def ranked(self) -> tuple[tuple[float, OrderAgreement], ...]:
        """The pairs of measures by the first coefficient (of tau_AP the mean of both ways), most agreeing first."""
        found = []
        for pair in self.found.agreements:
            one, other = self.value(pair.a, pair.b), self.value(pair.b, pair.a)
            if one is not None and other is not None:
                found.append(((one + other) / 2, pair))
        return tuple(sorted(found, key=lambda each: -each[0]))

    @cached_property
    def swaps(self) -> tuple[ClearSwap, ...]:
        """All swaps of all pairs of measures, clearest first."""
        found = []
        for pair in self.found.agreements:
            ranges = [float(means.max() - means.min()) for means in (pair.means_a, pair.means_b)]
            found += [
                ClearSwap(pair.a, pair.b, *swap, min(swap.lead_a / ranges[0], swap.lead_b / ranges[1]))
                for swap in pair.swaps
            ]
        return tuple(sorted(found, key=lambda swap: -swap.clearness))

    @cached_property
    def ranks(self) -> dict[str, tuple[int, ...]]:
        """Every system's place by each measure: 1 is best, equals share a place."""
        means = {pair.a: pair.means_a for pair in self.found.agreements}
        means |= {pair.b: pair.means_b for pair in self.found.agreements}
        return {name: tuple(1 + int((found > mean).sum()) for mean in found) for name, found in means.items()}


@warns
@question(AgreeOptions)
def assess_agreement(asked: AgreeOptions) -> AgreementReport:
    """How far measures agree on the order of systems: every coefficient between every two of them.

    Matrices are paired by system and query id. Intervals are from ``draws`` resamples of the queries. ``coefficient``
    and ``scatter`` (pairs of measures; the least agreeing ones unless given) say what is shown in full.

    >>> one = ScoreMatrix.of("P@5", {"a": [0.4, 0.6], "b": [0.2, 0.4], "c": [0.0, 0.2]})
    >>> other = ScoreMatrix.of("RR", {"a": [0.5, 0.5], "b": [1, 1], "c": [0.1, 0.2]})
    >>> report = assess_agreement([one, other], draws=0)
    >>> round(report.value("P@5", "RR"), 4), report.swaps[0].better, report.swaps[0].worse
    (0.3333, 'a', 'b')
    """
    if not asked.coefficient:
        raise UsageError("coefficient: expected at least one, found none")
    scores = Scores.of(asked.scores).on_common()
    matrices = scores.matrices
    if len(matrices) < 2:
        raise UsageError(
            f"agreement: expected at least two measures, found {next(iter(matrices))} alone", "-m names measures"
        )
    check_size(list(matrices.values()))
    scatters = [(_measure_named(a, matrices), _measure_named(b, matrices)) for a, b in asked.scatter]
    for a, b in scatters:
        if a == b:
            raise UsageError(f"scatter: expected two measures, found '{a}' twice")
    first = next(iter(matrices.values()))
    found = agreement_of_measures(
        {name: upward(matrix) for name, matrix in matrices.items()},
        first.systems,
        persistence=asked.persistence,
        draws=asked.draws,
        seed=asked.seed,
        progress=current_progress(),
    )
    if asked.draws and len(first.queries) == 1:
        notice = f"one {first.unit}: no intervals, because resamples of one {first.unit} are all the same"
        scores = replace(scores, notices=(*scores.notices, notice))
    report = AgreementReport(scores, found, tuple(dict.fromkeys(asked.coefficient)), tuple(scatters))
    if scatters:
        return report
    least = report.ranked[-1][1] if report.ranked else max(found.agreements, key=lambda pair: len(pair.swaps))
    return replace(report, scatters=((least.a, least.b),))


def _measure_named(text: str, matrices: Mapping[str, ScoreMatrix]) -> str:
    """A measure as the scores have it: as it stands, or as the catalogue writes it."""
    if text in matrices:
        return text
    with suppress(UsageError):
        if str(parse(text)) in matrices:
            return str(parse(text))
    raise UsageError(f"scatter: unknown measure '{text}'", nearest(text, matrices))


#: How many systems have their names in a scatter.
_MOST_NAMED, _MOST_POINTS = 8, 20


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
    all_named, value = len(one.systems) <= _MOST_POINTS, report.value(a, b)
    coefficient = f"{COEFFICIENTS[report.coefficients[0]].title} {'undefined' if value is None else f'{value:.4f}'}"
    swapped = f"{len(swaps):,} of {count_of(report.found.of(a, b).pairs, 'pair')} of systems swap."
    x, y = (
        Axis(f"{shortened(name)} (mean{', lower is better' if matrix.better == 'lower' else ''})")
        for name, matrix in ((a, one), (b, other))
    )
    return Plot(
        f"Means by {shortened(a)} and by {shortened(b)}",
        x,
        y,
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
        caption=f"{coefficient}; {swapped}",
    )


_MOST_SWAPS, _MOST_SYSTEMS, _MOST_NAMES, _MOST_TOLD = 10, 20, 5, 3


def _conclusions(report: AgreementReport, places: int) -> Iterator[str]:
    """Which measures agree most and least, who is first by which of them, and the clearest swaps."""
    coefficient, ranked = report.coefficients[0], report.ranked
    name = COEFFICIENTS[coefficient].title

    def facts(value: float, pair: OrderAgreement) -> str:
        swapped = f"{len(pair.swaps):,} of {count_of(pair.pairs, 'pair')} of systems swap"
        parts = [swapped, f"{name} {value:.{places}f}" + (", the mean of both ways" if coefficient == "tau_ap" else "")]
        if coefficient != "tau_ap":
            found: OrderEstimate = getattr(pair, coefficient)
            if found.low is not None:
                parts.append(f"95% CI {found.low:.{places}f} to {found.high:.{places}f}")
            elif found.error is not None:
                parts.append(f"standard error {found.error:.{places}f}")
        if coefficient == "rbo":
            parts.append(f"by chance {pair.rbo_by_chance:.{places}f}")
        return ", ".join(parts)

    if not ranked:
        why = "orders have ties; tau-ap-b allows them" if name == "tau_AP" else "a measure scores all systems alike"
        yield f"{name} is undefined between all measures: {why}."
    elif len(ranked) == 1:
        value, pair = ranked[0]
        yield f"{pair.a} and {pair.b}: {facts(value, pair)}."
    elif ranked[-1][0] == 1:
        yield f"All measures order the systems in the same way: {name} is always 1."
    else:
        most, least = (f"{pair.a} and {pair.b} ({facts(value, pair)})" for value, pair in (ranked[0], ranked[-1]))
        yield f"Most agree {most}. Least agree {least}."
    by_winners: dict[tuple[str, ...], list[str]] = {}
    for measure, ranks in report.ranks.items():
        winners = tuple(name for name, rank in zip(report.found.systems, ranks, strict=True) if rank == 1)
        by_winners.setdefault(winners, []).append(measure)
    first = []
    for winners, measures in by_winners.items():
        which = "all measures" if len(by_winners) == 1 else ", ".join(measures)
        first.append(f"by {which}: {listed([printable(name, 80) for name in winners], most=_MOST_NAMES)}")
    yield f"First {'; '.join(first)}."
    clearest: dict[frozenset[str], ClearSwap] = {}  # each of another pair of systems
    for swap in report.swaps:
        clearest.setdefault(frozenset((swap.better, swap.worse)), swap)
    sentences = [
        f"by {swap.a} {printable(swap.better, 80)} is ahead of {printable(swap.worse, 80)} (by "
        f"{swap.lead_a:.{places}f}), by {swap.b} behind it (by {swap.lead_b:.{places}f})"
        for swap in list(clearest.values())[:_MOST_TOLD]
    ]
    if sentences:
        yield f"The clearest {'swaps' if len(sentences) > 1 else 'swap'}: {'; '.join(sentences)}."


def _coefficient_matrix(report: AgreementReport, coefficient: str, places: int) -> Iterator[Table | HeatMap]:
    """One coefficient between all measures, as numbers and colours. Of two measures people see it among the pairs."""
    found, values, name = report.found, report.matrix(coefficient), COEFFICIENTS[coefficient].title
    measures, hidden = found.measures, len(found.measures) == 2
    systems, chance = count_of(len(found.systems), "system"), found.agreements[0].rbo_by_chance
    notes, caption = [], ""
    if coefficient == "tau_ap":
        notes.append("a row's order is read from its best and held against a column's")
        caption = "A row's order is read against a column's."
    if coefficient == "rbo":
        notes.append(
            f"RBO is never corrected for chance: two random orders of {systems} "
            f"have {chance:.4f} on average (persistence {number_text(found.persistence)})"
        )
        caption = f"Two random orders have {chance:.2f} on average."
    known = [value for row in values for value in row if value is not None]
    if len(known) < len(measures) ** 2:
        notes.append(_UNDEFINED["tau_ap" if coefficient == "tau_ap" else "other"])
    columns = head("measure", for_machines=hidden)
    columns += tuple(Column(measure, "number", places, for_machines=hidden) for measure in measures)
    rows = tuple((measure, *row) for measure, row in zip(measures, values, strict=True))
    yield Table(columns, rows, f"{name} between measures", () if hidden else tuple(notes))
    if not hidden:
        yield HeatMap(
            f"{name} between the orders of {systems}",
            measures,
            measures,
            tuple(tuple(math.nan if value is None else value for value in row) for row in values),
            tuple(tuple("" if value is None else f"{value:.2f}" for value in row) for row in values),
            value_label=name,
            low=min(0.0, *known),
            high=1.0,
            caption=caption,
        )


_UNDEFINED = {
    "tau_ap": "-: an order has ties, and tau_AP is then undefined; tau_AP,b is not",
    "other": "-: undefined, because a measure scores all systems alike",
}


def _coefficient_table(report: AgreementReport, coefficient: str, places: int) -> Table:
    """One coefficient with its interval, standard error and bias, most agreeing pair first."""
    name, found = COEFFICIENTS[coefficient].title, report.found
    has_draws = any(getattr(pair, coefficient).error is not None for pair in found.agreements)
    has_interval = has_draws and COEFFICIENTS[coefficient].has_interval
    numbers = [f"{name} .{places} ← {coefficient}.value"]
    if has_interval:
        numbers += [f"from .{places} ← {coefficient}.low", f"to .{places} ← {coefficient}.high"]
    if has_draws:
        numbers += [f"standard error .{places} ← {coefficient}.error", f"bias .{places} ← {coefficient}.bias"]
    if coefficient == "rbo":
        numbers.append(f"by chance .{places} ← rbo_by_chance")
    columns = (
        *head(["measure ← a", "other ← b", *numbers]),
        Column("swapped pairs", "count", get=lambda pair: len(pair.swaps)),
    )

    def disagreement(pair: OrderAgreement) -> float:
        value: float | None = getattr(pair, coefficient).value
        return 2.0 if value is None else -value

    title = f"{name}, most agreeing measures first"
    notes = [f"swapped pairs: of {count_of(found.agreements[0].pairs, 'pair')} of systems"]
    if has_draws:
        reach, all_units = errors_of_interval(found.queries), plural_of(report.unit)
        notes[:0] = [
            f"from, to: 95% CI, {name} +- {reach:.2f} standard errors: what holds 95% on real scores of up "
            "to 30 systems"
            if has_interval
            else f"no interval: none made of the standard error holds 95% for {name}",
            f"standard error: the standard deviation of {count_of(found.draws, 'resample')} of the {all_units} "
            f"(seed {found.seed})",
            f"bias: the resamples' mean minus {name}; often below 0, because resampled {all_units} agree less",
        ]
    pairs = sorted(found.agreements, key=disagreement)
    return Table.of(columns, pairs, title=title, notes=tuple(notes), for_people=True)
