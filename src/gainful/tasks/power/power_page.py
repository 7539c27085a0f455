"""Power curves: by the number of queries for some differences, and by the difference for some numbers of queries.

What a number of queries can show and how many are needed, as a page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule, shortened
from gainful.pages.page import Cell, Column, Page, Table
from gainful.stats.power import power_of_pair
from gainful.tasks.power import MEANINGS

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
            tuple(power_of_pair(n, each.difference, basis.sd, alpha=report.alpha) for n in places),
        )
        for each in needed
    )
    # A longer label would run into the line of the power.
    marks = tuple(Rule(f"n = {n:,}", x=float(n)) for n in sizes if n <= places[-1])
    return Plot(
        f"Power by number of queries{_of(basis)}",
        Axis("queries", float(places[0]), float(places[-1]), is_log=is_log),
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
            f"{n:,} queries",
            places,
            tuple(report.alpha if not d else power_of_pair(n, d, basis.sd, alpha=report.alpha) for d in places),
        )
        for n in sizes
    )
    return Plot(
        f"Power by true difference{_of(basis)}",
        Axis("difference that there is", 0.0, end),
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
            f"{of}{count_of(found.queries, 'query shows', 'queries show')} a difference of "
            f"{found.difference:.{places}f} between two systems{test}."
        )
        if found.gap is not None:
            yield f"They show that some of {many} systems differ where best and worst are {found.gap:.{places}f} apart."
        of = test = ""
    sd = "" if not test else f" with an sd of {basis.sd:.{places}f} {_from(basis)}"
    for need in report.needed(basis):
        before = "" if need.power_before is None else f"; {need.queries - 1:,} have {100 * need.power_before:.2f} %"
        anova = "" if need.anova_queries is None else f", {need.anova_queries:,} for the largest gap of {many} systems"
        queries = count_of(need.queries, "query", "queries")
        yield (
            f"{of}A difference of {number_text(need.difference)} needs {queries}{sd} "
            f"(power {100 * need.power:.2f} %{before}){anova}."
        )
        of = sd = ""
    for wide in report.wide(basis):
        yield (
            f"{of}A {100 * (1 - report.alpha):g} % interval {number_text(wide.width)} wide needs "
            f"{count_of(wide.queries, 'query', 'queries')}{sd}."
        )
        of = sd = ""


def _from(basis: Basis) -> str:
    if basis.pair:
        one, other = (printable(name, 40) for name in basis.pair)
        return f"of {one} and {other}" + ("" if basis.kind == "pair" else f", {basis.kind}")
    return "as given" if basis.kind == "given" else f"of {basis.systems} systems, {basis.kind}"


def _rows_of(report: PowerReport) -> list[Column]:
    """The column that names the measure, where there is one."""
    return [Column("measure")] if any(basis.measure for basis in report.bases) else []


def _named(report: PowerReport, basis: Basis) -> tuple[Cell, ...]:
    return (basis.measure,) if _rows_of(report) else ()


def _shown(report: PowerReport, places: int) -> Table:
    has_many = any(report.several(basis) for basis in report.bases)
    columns = (
        *_rows_of(report),
        Column("queries", "count"),
        Column("difference", "number", places),
        *([Column("systems", "count"), Column("gap", "number", places)] if has_many else []),
        Column("interval", "number", places),
    )
    rows = tuple(
        (
            *_named(report, basis),
            found.queries,
            found.difference,
            *((report.several(basis), found.gap) if has_many else ()),
            found.width,
        )
        for basis in report.bases
        for found in report.shown(basis)
    )
    notes = [
        f"difference: the smallest that a paired t test finds with {100 * report.power:g} % power at the "
        f"{100 * report.alpha:g} % level"
    ]
    if has_many:
        notes.append(_gap_note(report))
    notes.append(
        f"interval: how wide the {100 * (1 - report.alpha):g} % t interval of a difference is on average, end to end"
    )
    return Table(columns, rows, "What queries show", tuple(notes))


def _gap_note(report: PowerReport) -> str:
    design = "two-way" if any(basis.is_paired for basis in report.bases) else "one-way"
    return (
        f"gap: between best and worst of so many systems, the rest in the middle, by {design} analysis of variance "
        "(Nagata; Sakai 2016)"
    )


def _needed(report: PowerReport, places: int) -> Table:
    has_many = any(report.several(basis) for basis in report.bases)
    columns = (
        *_rows_of(report),
        Column("difference", "number", places),
        Column("queries", "count"),
        Column("power", "share", 2),
        Column("one less", "share", 2),
        *(
            [Column("systems", "count"), Column("anova queries", "count"), Column("anova power", "share", 2)]
            if has_many
            else []
        ),
    )
    rows = tuple(
        (
            *_named(report, basis),
            need.difference,
            need.queries,
            need.power,
            need.power_before,
            *((report.several(basis), need.anova_queries, need.anova_power) if has_many else ()),
        )
        for basis in report.bases
        for need in report.needed(basis)
    )
    notes = ["one less: the power with one query less, which is not enough"]
    if has_many:
        notes.append(f"anova: the difference as the {_gap_note(report)}")
    return Table(columns, rows, f"Queries needed for {100 * report.power:g} % power", tuple(notes))


def _wide(report: PowerReport, places: int) -> Table:
    columns = (
        *_rows_of(report),
        Column("width", "number", places),
        Column("queries", "count"),
        Column("expected width", "number", places),
    )
    rows = tuple((*_named(report, basis), *each) for basis in report.bases for each in report.wide(basis))
    return Table(columns, rows, f"Queries needed for a {100 * (1 - report.alpha):g} % interval of some width")


def _spread(report: PowerReport, places: int) -> Table:
    """What every kind of variance would be; the one that was taken is marked."""
    columns = (
        *_rows_of(report),
        Column("variance"),
        Column("sd", "number", places),
        Column("difference shown", "number", places),
    )
    rows: list[tuple[Cell, ...]] = []
    marked: set[tuple[int, int]] = set()
    kinds: list[str] = []
    for basis in report.bases:
        for kind, sd in (basis.others or {}).items():
            share = sd / basis.sd
            shown = [found.difference * share for found in report.shown(basis)[:1]]
            if kind == basis.kind:
                marked.add((len(rows), len(columns) - 2))
            kinds += [] if kind in kinds else [kind]
            rows.append((*_named(report, basis), kind, sd, *shown))
    notes = [f"{kind}: {MEANINGS[kind]}" for kind in kinds]
    if marked:
        notes.append("* what everything above is computed with")
    title = "The spread of a difference of two systems on a query"
    return Table(columns, tuple(rows), title, tuple(notes), frozenset(marked))
