"""What a number of queries can detect and how many are needed, as a page with power curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.notation import number_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule, shortened
from gainful.pages.page import Column, Kind, Table
from gainful.render import Page
from gainful.stats.catalogues import VARIANCES

if TYPE_CHECKING:
    from gainful.tasks.power import Basis, PowerReport

_POINTS, _MOST_LINES = 60, 6
#: From here on numbers of queries are so far apart that a log axis shows more.
_FAR_APART = 4


def by_queries(report: PowerReport, basis: Basis) -> Plot:
    """Power by number of queries, a line for each difference asked for."""
    needed = report.needed(basis)[:_MOST_LINES]
    most = max(each.queries for each in needed)
    is_log = most > _FAR_APART * min(each.queries for each in needed)
    sizes = report.sizes_of(basis)
    places = _numbers(2, max([1.5 * most, *(1.1 * n for n in sizes if n <= 4 * most)]), is_log)
    lines = tuple(
        Line(
            f"difference {number_text(each.difference)}",
            tuple(map(float, places)),
            tuple(report.power_at(basis, n, each.difference) for n in places),
        )
        for each in needed
    )
    # A longer label would run into the line of the power.
    marks = tuple(Rule(f"n = {n:,}", x=float(n)) for n in sizes if n <= places[-1])
    return Plot(
        f"Power by number of {plural_of(basis.unit)}{_of(basis)}",
        Axis(plural_of(basis.unit), float(places[0]), float(places[-1]), is_log=is_log),
        Axis("power", 0.0, 1.0),
        lines,
        rules=(Rule(f"power {number_text(report.power)}", y=report.power), *marks),
        caption=_caption(report, basis),
    )


def by_difference(report: PowerReport, basis: Basis) -> Plot:
    """Power by the true difference, a line for each number of queries: what there are, or were asked for."""
    sizes = report.sizes_of(basis)[:_MOST_LINES]
    if len(sizes) == 1:
        sizes = (sizes[0], 2 * sizes[0], 4 * sizes[0])
    shown = max(found.difference for found in report.shown(basis))
    end = max([2 * shown, *(1.1 * each for each in report.differences if each <= 4 * shown)])
    places = tuple(end * i / _POINTS for i in range(_POINTS + 1))
    lines = tuple(
        Line(
            f"{n:,} {plural_of(basis.unit)}",
            places,
            tuple(report.power_at(basis, n, difference) for difference in places),
        )
        for n in sizes
    )
    return Plot(
        f"Power by true difference{_of(basis)}",
        Axis("true difference", 0.0, end),
        Axis("power", 0.0, 1.0),
        lines,
        rules=(Rule(f"power {number_text(report.power)}", y=report.power),),
        caption=_caption(report, basis),
    )


def _of(basis: Basis) -> str:
    return f", {shortened(basis.measure)}" if basis.measure else ""


def _caption(report: PowerReport, basis: Basis) -> str:
    return f"Paired t test at {number_text(report.alpha)}; sd of a difference {basis.sd:.4f} ({basis.kind})."


def _numbers(low: int, high: float, is_log: bool) -> list[int]:
    """Whole numbers from low to high, evenly spread."""
    steps = [i / (_POINTS - 1) for i in range(_POINTS)]
    spread = [low * (high / low) ** step if is_log else low + (high - low) * step for step in steps]
    return sorted({math.ceil(value - 1e-9) for value in spread})


_MOST_PLOTS = 4
_NOT_OBSERVED = (
    "Power is for a difference that would matter, chosen without looking at the scores. At the difference that was "
    "found it only repeats the p (Hoenig & Heisey 2001), and is not given."
)


def power_page(
    report: PowerReport, places: int = 4, notes: Sequence[str] = (), header: Mapping[str, object] | None = None
) -> Page:
    """Sentences by measure, what queries show, how many are needed, where the variance is from, and power curves."""
    parts: list[Table | Chart | str] = [
        " ".join(_sentences(report, basis, places)) for basis in report.bases if any(_sentences(report, basis, places))
    ]
    parts.append(_NOT_OBSERVED)
    parts += [
        table
        for table in (_shown(report, places), _needed(report, places), _wide(report, places), _spread(report, places))
        if table.rows
    ]
    for basis in report.bases[:_MOST_PLOTS]:
        if report.differences:
            parts.append(by_queries(report, basis))
        if report.sizes_of(basis):
            parts.append(by_difference(report, basis))
    return Page("power", tuple(parts), tuple(notes), {**_header(report), **(header or {})})


def _header(report: PowerReport) -> dict[str, object]:
    return {
        "power": report.power,
        "alpha": report.alpha,
        "bases": [
            {
                "measure": basis.measure or None,
                "variance": basis.kind,
                "sd": basis.sd,
                "pair": None if basis.pair is None else list(basis.pair),
                "queries": basis.queries,
                "systems": report.several(basis) or 2,
            }
            for basis in report.bases
        ],
    }


def _sentences(report: PowerReport, basis: Basis, places: int) -> Iterator[str]:
    """What a person wants to know first."""
    of = f"{basis.measure}: " if basis.measure else ""
    level = f"{100 * report.power:g} % power at the {100 * report.alpha:g} % level"
    many = report.several(basis)
    test = f" with {level} (paired t test, sd of a difference {basis.sd:.{places}f} {_from(basis)})"
    for found in report.shown(basis):
        yield (
            f"{of}{'with' if of else 'With'} {units(found.queries, basis.unit)}, a difference of two "
            f"systems is detectable from {found.difference:.{places}f} on{test}."
        )
        if found.gap is not None:
            yield (
                f"Among {many} systems, a gap between best and worst is detectable from {found.gap:.{places}f} on "
                f"(analysis of variance), a difference of two of them from {found.tukey:.{places}f} on (Tukey HSD)."
            )
        of = test = ""
    sd = "" if not test else f" with an sd of {basis.sd:.{places}f} {_from(basis)}"
    for need in report.needed(basis):
        before = "" if need.power_before is None else f"; {need.queries - 1:,} have {100 * need.power_before:.2f} %"
        anova = ""
        if need.anova_queries is not None:
            anova = f", {need.anova_queries:,} for the largest gap of {many} systems"
            anova += f", {need.tukey_queries:,} for two of them by Tukey HSD"
        queries = units(need.queries, basis.unit)
        yield (
            f"{of}A difference of {number_text(need.difference)} needs {queries}{sd} "
            f"(power {100 * need.power:.2f} %{before}){anova}."
        )
        of = sd = ""
    for wide in report.wide(basis):
        yield (
            f"{of}A {100 * (1 - report.alpha):g} % interval {number_text(wide.width)} wide needs "
            f"{units(wide.queries, basis.unit)}{sd}."
        )
        of = sd = ""


def _from(basis: Basis) -> str:
    if basis.pair:
        one, other = (printable(name, 40) for name in basis.pair)
        return f"of {one} and {other}" + ("" if basis.kind == "pair" else f", {basis.kind}")
    return "as given" if basis.kind == "given" else f"of {basis.systems} systems, {basis.kind}"


class _Row(NamedTuple):
    """What was found from one basis."""

    basis: Basis
    found: Any


def _table(
    report: PowerReport,
    title: str,
    columns: Sequence[Column],
    find: Callable[[Basis], Iterable[object]],
    notes: Sequence[str] = (),
) -> Table:
    """A row for all that is found of every basis, below the measure where there is one."""
    names = [Column("measure", get=lambda row: row.basis.measure)] if any(b.measure for b in report.bases) else []
    rows = [_Row(basis, found) for basis in report.bases for found in find(basis)]
    return Table.of([*names, *columns], rows, title=title, notes=tuple(notes))


def _found(name: str, kind: Kind, places: int | None = None, field: str | None = None) -> Column:
    return Column(name, kind, places, get=lambda row: getattr(row.found, field or name))


def _of_several(report: PowerReport, *columns: Column) -> list[Column]:
    """Columns that are there only where an analysis of variance of several systems was asked for."""
    if not any(report.several(basis) for basis in report.bases):
        return []
    return [Column("systems", "count", get=lambda row: report.several(row.basis)), *columns]


def _shown(report: PowerReport, places: int) -> Table:
    several = _of_several(report, _found("gap", "number", places), _found("tukey", "number", places))
    columns = [
        _found(plural_of(report.unit), "count", None, "queries"),
        _found("difference", "number", places),
        *several,
        _found("interval", "number", places, "width"),
    ]
    notes = [
        f"difference: the smallest that a paired t test finds with {100 * report.power:g} % power at the "
        f"{100 * report.alpha:g} % level",
        *([_gap_note(report), _TUKEY_NOTE] if several else []),
        f"interval: how wide the {100 * (1 - report.alpha):g} % t interval of a difference is on average, end to end",
    ]
    return _table(report, "Detectable differences", columns, report.shown, notes)


_TUKEY_NOTE = "tukey: of two among so many systems, whatever the others do, by Tukey HSD: the power of a pair"


def _gap_note(report: PowerReport) -> str:
    design = "two-way" if any(basis.is_paired for basis in report.bases) else "one-way"
    return (
        f"gap: between best and worst of so many systems, the rest in the middle, by {design} analysis of variance "
        "(Nagata; Sakai 2016)"
    )


def _needed(report: PowerReport, places: int) -> Table:
    of_anova = (
        _found(f"anova {plural_of(report.unit)}", "count", None, "anova_queries"),
        _found("anova power", "share", 2, "anova_power"),
        _found(f"tukey {plural_of(report.unit)}", "count", None, "tukey_queries"),
        _found("tukey power", "share", 2, "tukey_power"),
    )
    several = _of_several(report, *of_anova)
    columns = [
        _found("difference", "number", places),
        _found(plural_of(report.unit), "count", None, "queries"),
        _found("power", "share", 2),
        _found("one less", "share", 2, "power_before"),
        *several,
    ]
    notes = [f"one less: the power with one {report.unit} less, which is not enough"]
    if several:
        notes += [f"anova: the difference as the {_gap_note(report)}", _TUKEY_NOTE]
    title = f"{plural_of(report.unit).capitalize()} needed for {100 * report.power:g} % power"
    return _table(report, title, columns, report.needed, notes)


def _wide(report: PowerReport, places: int) -> Table:
    columns = [
        _found("width", "number", places),
        _found(plural_of(report.unit), "count", None, "queries"),
        _found("expected width", "number", places, "expected"),
    ]
    title = f"{plural_of(report.unit).capitalize()} needed for a {100 * (1 - report.alpha):g} % interval of some width"
    return _table(report, title, columns, report.wide)


def _spread(report: PowerReport, places: int) -> Table:
    """What every kind of variance would be; the one that was taken is marked."""
    columns = [
        _found("variance", "text", None, "kind"),
        _found("sd", "number", places),
        _found("detectable", "number", places, "shown"),
    ]
    table = _table(report, f"The spread of a difference of two systems on a {report.unit}", columns, report.spreads)
    spreads = [(basis, spread) for basis in report.bases for spread in report.spreads(basis)]
    column = len(table.columns) - 2
    marked = frozenset((i, column) for i, (basis, spread) in enumerate(spreads) if spread.kind == basis.kind)
    kinds = dict.fromkeys(spread.kind for _, spread in spreads)
    notes = [f"{kind}: {VARIANCES[kind].replace('queries', plural_of(report.unit))}" for kind in kinds]
    if marked:
        notes.append("* used for everything above")
    return replace(table, notes=tuple(notes), marked=marked)
