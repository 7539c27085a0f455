"""Agreement of measures on the order of systems, computed from score matrices, and its page."""

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
from gainful.pages.page import Cell, Column, Table, head, values_of
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
    """Two systems in opposite order under two measures; ``clearness`` is the smaller lead as a share of its range.

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
    """Agreement of every pair of measures; ``found`` are the coefficients, ``scores`` the data.

    ``coefficients`` have their matrices shown, and sentences use the first; ``scatters`` are the pairs of measures with
    a scatter plot of system means.
    """

    found: MeasureAgreement
    coefficients: tuple[str, ...]
    scatters: tuple[tuple[str, str], ...]

    def page(self, places: int = 4) -> Page:
        """Return sentences, the requested matrices, all coefficients of all pairs, swaps, and means."""
        found, shown, number = self.found, self.coefficients, f".{places} ←"
        counts = f"{count_of(len(found.measures), 'measure')} order {count_of(len(found.systems), 'system')}"
        parts: list[Table | Chart | str] = [
            f"{counts} on {units(found.queries, self.unit)}: {', '.join(found.measures)}.",
            *_conclusions(self, places),
        ]
        for coefficient in shown:
            parts += _coefficient_matrix(self, coefficient, places)
        parts += [_coefficient_table(self, each, places) for each in shown if COEFFICIENTS[each].is_symmetric]
        columns = head(
            f"measure ← a | other ← b | tau-b {number} tau_b.value | tau-a {number} tau_a.value | "
            f"tau_AP {number} tau_ap | reverse {number} tau_ap_reverse | tau_AP,b {number} tau_ap_b.value | "
            f"RBO {number} rbo.value | expected by chance {number} rbo_by_chance | Pearson {number} pearson.value"
        )
        notes = [
            "tau_AP: the measure's order is the reference; reverse: the other's; tau_AP,b: symmetric, ties allowed",
            f"expected by chance: mean RBO of two random orders (persistence {number_text(found.persistence)})",
        ]
        if any(pair.tau_ap is None or pair.tau_ap_reverse is None for pair in found.agreements):
            notes.append(_UNDEFINED["tau_ap"])
        title = "All coefficients"
        parts.append(Table.of(columns, found.agreements, title=title, notes=tuple(notes), for_people=True))
        if self.swaps:
            leads = f"by ← a | ahead by {number} lead_a | but by ← b | behind by {number} lead_b"
            columns = head(f"system ← better | other system ← worse | {leads}")
            columns += head(f"clearness .{places}", for_machines=True)
            notes = ["clearest first: by the smaller lead, as a share of the range of the systems' means"]
            if len(self.swaps) > _MOST_SWAPS:
                notes.insert(0, f"the clearest of {len(self.swaps):,}; all are in csv and jsonl")
            title = "Systems that swap"
            parts.append(Table.of(columns, self.swaps, title=title, notes=tuple(notes), most=_MOST_SWAPS))
        parts += [scatter(self, a, b) for a, b in self.scatters]
        order = sorted(range(len(found.systems)), key=self.ranks[found.measures[0]].__getitem__)
        columns = (Column("system", get=found.systems.__getitem__),)
        for measure in found.measures:
            means = self.matrices[measure].means.tolist()
            columns += (Column(measure, "number", places, get=means.__getitem__),)
            columns += (Column(f"{measure} rank", "count", get=self.ranks[measure].__getitem__),)
        lower = [measure for measure in found.measures if self.matrices[measure].better == "lower"]
        notes = [f"lower is better for {', '.join(lower)}"] if lower else []
        if len(order) > _MOST_SYSTEMS:
            notes.append(f"the first {_MOST_SYSTEMS} of {len(order):,}; all are in csv and jsonl")
        title = "Means and ranks"
        parts.append(Table.of(columns, order, title=title, notes=tuple(notes), most=_MOST_SYSTEMS))
        records: list[tuple[Cell, ...]] = []
        for pair in found.agreements:
            for name in SYMMETRIC:
                chance = pair.rbo_by_chance if name == "rbo" else None
                records.append((pair.a, pair.b, name, *getattr(pair, name), chance, len(pair.swaps)))
            for name in ("tau_ap", "tau_ap_reverse", "tau_ap_a", "tau_ap_a_reverse"):
                records.append((pair.a, pair.b, name, getattr(pair, name), *[None] * 5, len(pair.swaps)))
        names = "measure | other | coefficient | value . | low . | high . | standard error . | bias ."
        columns = head(f"{names} | expected by chance . | swaps #", for_machines=True)
        parts.append(Table(columns, records, "Coefficients"))
        header = {"measures": list(found.measures), "systems": list(found.systems), "queries": found.queries}
        header |= {"coefficients": list(shown), **values_of(found, "persistence | draws | seed")}
        return self.page_of("agree", parts, header)

    def value(self, estimated: str, reference: str, coefficient: str | None = None) -> float | None:
        """Return a coefficient of two measures; only tau_AP depends on which of them is the reference."""
        name = coefficient or self.coefficients[0]
        if estimated == reference:
            return 1.0
        pair = self.found.of(estimated, reference)
        if name == "tau_ap":
            return pair.tau_ap if pair.a == reference else pair.tau_ap_reverse
        value: float | None = getattr(pair, name).value
        return value

    def matrix(self, coefficient: str | None = None) -> tuple[tuple[float | None, ...], ...]:
        """Return a coefficient, measures x measures; for tau_AP columns are the references."""
        measures = self.found.measures
        return tuple(tuple(self.value(row, column, coefficient) for column in measures) for row in measures)

    @cached_property
    def ranked(self) -> tuple[tuple[float, OrderAgreement], ...]:
        """The pairs of measures by the first coefficient (for tau_AP, the mean of both directions), highest first."""
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
        """Every system's rank by each measure: 1 is best, ties share a rank."""
        means = {pair.a: pair.means_a for pair in self.found.agreements}
        means |= {pair.b: pair.means_b for pair in self.found.agreements}
        return {name: tuple(1 + int((found > mean).sum()) for mean in found) for name, found in means.items()}


@warns
@question(AgreeOptions)
def assess_agreement(asked: AgreeOptions) -> AgreementReport:
    """Measure how far measures agree on the order of systems, with every coefficient for every pair of measures.

    Matrices are matched by system and query ID. Intervals are from ``draws`` resamples of the queries. ``coefficient``
    and ``scatter`` (pairs of measures; by default, the least agreeing pair) select what is shown in full.

    >>> one = ScoreMatrix.of("P@5", {"a": [0.4, 0.6], "b": [0.2, 0.4], "c": [0.0, 0.2]})
    >>> other = ScoreMatrix.of("RR", {"a": [0.5, 0.5], "b": [1, 1], "c": [0.1, 0.2]})
    >>> report = assess_agreement([one, other], draws=0)
    >>> round(report.value("P@5", "RR"), 4), report.swaps[0].better, report.swaps[0].worse
    (0.3333, 'a', 'b')
    """
    if not asked.coefficient:
        raise UsageError("coefficient: at least one is required")
    scores = Scores.of(asked.scores).on_common()
    matrices = scores.matrices
    if len(matrices) < 2:
        hint = "add measures with -m"
        raise UsageError(f"agreement: at least two measures are needed, found only {next(iter(matrices))}", hint)
    check_size(list(matrices.values()))
    scatters = [(_measure_named(a, matrices), _measure_named(b, matrices)) for a, b in asked.scatter]
    for a, b in scatters:
        if a == b:
            raise UsageError(f"scatter: '{a}' cannot be plotted against itself")
    first = next(iter(matrices.values()))
    values = {name: upward(matrix) for name, matrix in matrices.items()}
    how = values_of(asked, "persistence | draws | seed") | {"progress": current_progress()}
    found = agreement_of_measures(values, first.systems, **how)
    if asked.draws and len(first.queries) == 1:
        notice = f"no intervals: resamples of a single {first.unit} are all equal"
        scores = replace(scores, notices=(*scores.notices, notice))
    report = AgreementReport(scores, found, tuple(dict.fromkeys(asked.coefficient)), tuple(scatters))
    if scatters:
        return report
    least = report.ranked[-1][1] if report.ranked else max(found.agreements, key=lambda pair: len(pair.swaps))
    return replace(report, scatters=((least.a, least.b),))


def _measure_named(text: str, matrices: Mapping[str, ScoreMatrix]) -> str:
    """Return a measure's name in the scores, given exactly or as parsed by the catalogue."""
    if text in matrices:
        return text
    with suppress(UsageError):
        if str(parse(text)) in matrices:
            return str(parse(text))
    raise UsageError(f"scatter: unknown measure '{text}'", nearest(text, matrices))


#: Maximum number of names in a scatter plot if some systems are unnamed, and if all are named.
_MOST_NAMED, _MOST_POINTS = 8, 20


def scatter(report: AgreementReport, a: str, b: str) -> Plot:
    """Return a plot of system means under two measures; with many systems, only the clearest swaps are named."""
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
        "clearest swaps": named,
        "other swaps": [name for name in one.systems if name in swapping and name not in named],
        "no swaps": [name for name in one.systems if name not in swapping],
    }
    all_named, value = len(one.systems) <= _MOST_POINTS, report.value(a, b)
    coefficient = f"{COEFFICIENTS[report.coefficients[0]].title} {'undefined' if value is None else f'{value:.4f}'}"
    swapped = f"{len(swaps):,} of {count_of(report.found.of(a, b).pairs, 'pair')} of systems swap."
    lower = (", lower is better" if matrix.better == "lower" else "" for matrix in (one, other))
    along, up = (Axis(f"{shortened(name)} (mean{text})") for name, text in zip((a, b), lower, strict=True))
    points = []
    for name, systems in groups.items():
        x, y = (tuple(float(m.means[m.place(system)]) for system in systems) for m in (one, other))
        labels = tuple(system if all_named or system in named else "" for system in systems)
        points += [Points(name, x, y, labels)] if systems else []
    title = f"{shortened(a)} vs {shortened(b)}, system means"
    return Plot(title, along, up, points=tuple(points), caption=f"{coefficient}; {swapped}")


_MOST_SWAPS, _MOST_SYSTEMS, _MOST_NAMES, _MOST_LISTED = 10, 20, 5, 3


def _conclusions(report: AgreementReport, places: int) -> Iterator[str]:
    coefficient, ranked = report.coefficients[0], report.ranked
    name = COEFFICIENTS[coefficient].title

    def facts(value: float, pair: OrderAgreement) -> str:
        swapped = f"{len(pair.swaps):,} of {count_of(pair.pairs, 'pair')} of systems swap"
        parts = [swapped, f"{name} {value:.{places}f}" + (", both directions" if coefficient == "tau_ap" else "")]
        if coefficient != "tau_ap":
            found: OrderEstimate = getattr(pair, coefficient)
            if found.low is not None:
                parts.append(f"95% CI {found.low:.{places}f} to {found.high:.{places}f}")
            elif found.error is not None:
                parts.append(f"standard error {found.error:.{places}f}")
        if coefficient == "rbo":
            parts.append(f"expected by chance {pair.rbo_by_chance:.{places}f}")
        return ", ".join(parts)

    if not ranked:
        why = "orders have ties; tau-ap-b allows them" if name == "tau_AP" else "all systems are tied under a measure"
        yield f"{name} is undefined between all measures: {why}."
    elif len(ranked) == 1:
        value, pair = ranked[0]
        yield f"{pair.a} and {pair.b}: {facts(value, pair)}."
    elif ranked[-1][0] == 1:
        yield f"All measures give the same order: {name} is always 1."
    else:
        most, least = (f"{pair.a} and {pair.b} ({facts(value, pair)})" for value, pair in (ranked[0], ranked[-1]))
        yield f"Highest agreement: {most}. Lowest agreement: {least}."
    by_winners: dict[tuple[str, ...], list[str]] = {}
    for measure, ranks in report.ranks.items():
        winners = tuple(name for name, rank in zip(report.found.systems, ranks, strict=True) if rank == 1)
        by_winners.setdefault(winners, []).append(measure)
    first = []
    for winners, measures in by_winners.items():
        which = "all measures" if len(by_winners) == 1 else ", ".join(measures)
        first.append(f"by {which}: {listed([printable(name, 80) for name in winners], most=_MOST_NAMES)}")
    yield f"Best system {'; '.join(first)}."
    clearest: dict[frozenset[str], ClearSwap] = {}  # one per pair of systems
    for swap in report.swaps:
        clearest.setdefault(frozenset((swap.better, swap.worse)), swap)
    sentences = [
        f"by {swap.a} {printable(swap.better, 80)} is ahead of {printable(swap.worse, 80)} (by "
        f"{swap.lead_a:.{places}f}), by {swap.b} behind it (by {swap.lead_b:.{places}f})"
        for swap in list(clearest.values())[:_MOST_LISTED]
    ]
    if sentences:
        yield f"The clearest {'swaps' if len(sentences) > 1 else 'swap'}: {'; '.join(sentences)}."


def _coefficient_matrix(report: AgreementReport, coefficient: str, places: int) -> Iterator[Table | HeatMap]:
    """Yield a coefficient's matrix as table and heat map; for two measures, for machines only."""
    found, values, name = report.found, report.matrix(coefficient), COEFFICIENTS[coefficient].title
    measures, hidden = found.measures, len(found.measures) == 2
    systems, chance = count_of(len(found.systems), "system"), found.agreements[0].rbo_by_chance
    notes, caption = [], ""
    if coefficient == "tau_ap":
        notes.append("the reference is the order by the column's measure")
        caption = "Columns are the reference orders."
    if coefficient == "rbo":
        notes.append(
            f"RBO is not corrected for chance: two random orders of {systems} "
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
    "tau_ap": "-: undefined, because an order has ties; tau_AP,b allows ties",
    "other": "-: undefined, because all systems are tied under a measure",
}


def _coefficient_table(report: AgreementReport, coefficient: str, places: int) -> Table:
    name, found = COEFFICIENTS[coefficient].title, report.found
    has_draws = any(getattr(pair, coefficient).error is not None for pair in found.agreements)
    has_interval = has_draws and COEFFICIENTS[coefficient].has_interval
    numbers = [f"{name} .{places} ← {coefficient}.value"]
    if has_interval:
        numbers += [f"from .{places} ← {coefficient}.low", f"to .{places} ← {coefficient}.high"]
    if has_draws:
        numbers += [f"standard error .{places} ← {coefficient}.error", f"bias .{places} ← {coefficient}.bias"]
    if coefficient == "rbo":
        numbers.append(f"expected by chance .{places} ← rbo_by_chance")
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
            f"from, to: 95% CI, {name} ± {reach:.2f} standard errors (coverage tested with up to 30 systems)"
            if has_interval
            else f"no interval: none based on the standard error reaches 95% coverage for {name}",
            f"standard error: standard deviation of {count_of(found.draws, 'resample')} of the {all_units} "
            f"(seed {found.seed})",
            f"bias: the resamples' mean minus {name}; often below 0: orders agree less on resampled {all_units}",
        ]
    pairs = sorted(found.agreements, key=disagreement)
    return Table.of(columns, pairs, title=title, notes=tuple(notes), for_people=True)
