"""Whether the order of systems would be the same on other queries or documents, as a page.

Its charts are swaps by the difference of two systems, and sorted p of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, plural_of, units
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page
from gainful.stats.catalogues import SYMMETRIC
from gainful.stats.stability import order_of_topics

if TYPE_CHECKING:
    from gainful.stats.stability import Spread, SubsetStability, SwapBin
    from gainful.tasks.stability import StabilityReport

#: The smallest p that is drawn, and how many points a curve of p has.
_LEAST_P, _MOST_POINTS = 1e-6, 300


def swap_plot(report: StabilityReport) -> Plot:
    """How often pairs of systems swap, by how much they differ; one line a measure."""
    lines = []
    for measure, found in report.swaps.items():
        known = _closed(found.bins)
        lines.append(
            Line(
                measure,
                tuple(_middle(each) for each in known),
                tuple(100 * (each.rate or 0.0) for each in known),
            )
        )
    first = next(iter(report.swaps.values()))
    needed = report.most_swaps
    return Plot(
        "Swaps by the difference of two systems",
        Axis(f"difference on one set of {plural_of(report.first.unit)}", 0.0),
        Axis("swaps on another set (per cent)", 0.0),
        tuple(lines),
        rules=(Rule(f"{number_text(round(100 * needed, 6))} %", y=100 * needed),),
        caption=f"Two sets of {units(first.queries, report.first.unit)} without a common one, "
        f"{count_of(first.draws, 'draw')}.",
    )


def _closed(bins: Sequence[SwapBin]) -> list[SwapBin]:
    """The bins with pairs in them, without the open one, which has no middle, unless there is no other."""
    known = [each for each in bins if each.rate is not None]
    return [each for each in known if math.isfinite(each.high)] or known


def _middle(each: SwapBin) -> float:
    return (each.low + each.high) / 2 if math.isfinite(each.high) else each.low


def p_plot(report: StabilityReport) -> Plot:
    """The p of all pairs of systems, ascending, on a log axis; one line a measure."""
    first = next(iter(report.power.values()))
    places = _thinned(first.pairs)
    lines = tuple(
        Line(measure, tuple(float(i + 1) for i in places), tuple(max(float(found.curve[i]), _LEAST_P) for i in places))
        for measure, found in report.power.items()
    )
    alpha = number_text(first.alpha)
    least = min((y for line in lines for y in line.y), default=_LEAST_P)
    return Plot(
        f"Sorted p of {count_of(first.pairs, 'pair')} of systems",
        Axis("pairs of systems", 1.0),
        Axis(f"p ({first.test})", _LEAST_P if least <= _LEAST_P else None, 1.0, is_log=True),
        lines,
        rules=(Rule(f"{alpha}", y=first.alpha),),
        caption=f"Not corrected for the number of pairs. A p below {_LEAST_P:g} stands at the lower end.",
    )


def _thinned(count: int) -> list[int]:
    """Places from first to last, at most so many."""
    if count <= _MOST_POINTS:
        return list(range(count))
    return sorted({round(i * (count - 1) / (_MOST_POINTS - 1)) for i in range(_MOST_POINTS)})


_MOST_TOLD = 6
_PART_WHOLE = (
    "part-whole: the order on the part and on the whole that it is a part of; that is inflated, because the two share "
    "their data, and says nothing about other {units} or documents"
)
_SPLIT_HALF = "split-half: the order on the part and on another one of the same size that has nothing in common with it"


def stability_page(
    report: StabilityReport, places: int = 4, notes: Sequence[str] = (), header: Mapping[str, object] | None = None
) -> Page:
    """Sentences by measure, the order on parts of queries and documents, swaps, and discriminative power."""
    parts: list[Table | Chart | str] = [_beginning(report)]
    parts += [_told(report, measure, places) for measure in list(report.matrices)[:_MOST_TOLD]]
    parts += [_subsets(report, places), _swaps(report, places)]
    if any(each.comparisons for found in report.swaps.values() for each in found.bins):
        parts.append(swap_plot(report))
    parts.append(_power(report, places))
    if len(report.first.systems) > 2:
        parts.append(p_plot(report))  # one pair alone makes no curve
    parts += [_bins(report), _curve(report)]
    return Page("stability", tuple(parts), tuple(notes), {**_header(report), **(header or {})})


def _header(report: StabilityReport) -> dict[str, object]:
    swaps, power = next(iter(report.swaps.values())), next(iter(report.power.values()))
    return {
        "measures": list(report.matrices),
        "systems": list(report.first.systems),
        "queries": len(report.first.queries),
        "coefficient": report.coefficient,
        "topics": report.topics,
        "draws": report.draws,
        "seed": report.seed,
        "set_size": swaps.queries,
        "fuzziness": swaps.fuzziness,
        "most_swaps": report.most_swaps,
        "test": power.test,
        "alpha": power.alpha,
    }


def _beginning(report: StabilityReport) -> str:
    systems, queries = len(report.first.systems), len(report.first.queries)
    return (
        f"How far the order of {count_of(systems, 'system')} on {units(queries, report.first.unit)} can be relied "
        f"upon, by {', '.join(report.matrices)}."
    )


def _told(report: StabilityReport, measure: str, places: int) -> str:
    return f"{measure}: {' '.join(_sentences(report, measure, places))}"


def _sentences(report: StabilityReport, measure: str, places: int) -> Iterator[str]:
    found = report.queries[measure][0]
    which, all_units = "a random" if report.topics == "random" else "the first", plural_of(report.first.unit)
    queries = f"{which} {100 * found.share:g} % of the {all_units} ({found.size:,.0f} of {len(report.first.queries):,})"
    halves = []
    if found.split_half is not None:
        halves.append(f"{found.split_half.mean:.{places}f} with another such part (split-half)")
    if found.part_whole is not None:
        halves.append(f"{found.part_whole.mean:.{places}f} with all {all_units} (part-whole, inflated)")
    mean = ", on average" if report.topics == "random" and halves else ""
    told = ", ".join(halves) or "undefined, because all systems score alike"
    yield f"The order on {queries} has {SYMMETRIC[report.coefficient].title} {told}{mean}."
    swaps = report.swaps[measure]
    needed, rate = swaps.difference_for(report.most_swaps), f"{100 * report.most_swaps:g} %"
    between = f"between sets of {units(swaps.queries, report.first.unit)}"
    if not any(each.comparisons for each in swaps.bins):
        yield f"No two systems differ on any set of {units(swaps.queries, report.first.unit)}."
    elif needed is None:
        yield f"No difference is large enough for at most {rate} swaps {between}."
    elif needed == 0:
        yield f"Whatever their difference, systems swap in at most {rate} of cases {between}."
    else:
        yield f"Systems that differ by {needed:.4g} or more swap in at most {rate} of cases {between}."
    power = report.power[measure]
    yield (
        f"The {power.test} test finds {100 * power.share:.1f} % of {count_of(power.pairs, 'pair')} significantly "
        f"different (p <= {number_text(power.alpha)}, not corrected)."
    )


def _part(found: SubsetStability, topics: str) -> str:
    return f"{topics} {100 * found.share:g} %"


def _subsets(report: StabilityReport, places: int) -> Table:
    """Rows by measure and part, as Table 4 of Della Mea and Mizzaro (2004) has them."""
    columns = (
        *head("measure | of | part | size .0"),
        *head(f"{name} .{places}" for name in ("part-whole", "part-whole sd", "split-half", "split-half sd")),
        *head("part-whole lowest . | part-whole highest .", for_machines=True),
        *head("split-half lowest . | split-half highest .", for_machines=True),
        *head("draws # | undefined # | split-half undefined #", for_machines=True),
    )
    all_units = plural_of(report.first.unit)
    rows: list[tuple[Cell, ...]] = []
    for measure, subsets in report.queries.items():
        rows += [_row(measure, all_units, _part(each, report.topics), each) for each in subsets]
        documents = report.documents.get(measure)
        if documents is not None:
            rows += [_row(measure, "documents", _part(each, "random"), each) for each in documents.parts]
            empty: tuple[Cell, ...] = (None,) * (len(columns) - 5)
            rows += [(measure, "documents", each.part, None, each.value, *empty) for each in documents.only]
    which = f"{SYMMETRIC[report.coefficient].title} of the systems' means"
    notes = [which, _PART_WHOLE.format(units=all_units), _SPLIT_HALF]
    if any(row[6] is None for row in rows):
        notes.append("-: no two such parts fit into the whole, or there is one comparison only")
    if report.topics == "first":
        by = "number" if order_of_topics(report.first.queries)[1] else "the byte order of their ids"
        notes.append(f"first: {all_units} by {by}")
    if report.documents:
        notes.append(
            "documents: judged pairs of query and document, others being unjudged; retrieved only, relevant only: the "
            "measure over these documents, against the measure itself"
        )
    title = f"The order on parts of the {all_units}{' and of the judged documents' if report.documents else ''}"
    return Table(columns, tuple(rows), title, tuple(notes))


def _row(measure: str, of: str, part: str, found: SubsetStability) -> tuple[Cell, ...]:
    whole, half = found.part_whole, found.split_half
    draws = (whole or half).draws if whole or half else 0  # type: ignore[union-attr]
    return (
        measure,
        of,
        part,
        found.size,
        *_mean_and_sd(whole),
        *_mean_and_sd(half),
        *((None, None) if whole is None else (whole.lowest, whole.highest)),
        *((None, None) if half is None else (half.lowest, half.highest)),
        draws,
        None if whole is None else whole.undefined,
        None if half is None else half.undefined,
    )


def _mean_and_sd(found: Spread | None) -> tuple[float | None, float | None]:
    """One draw has no spread."""
    return (None, None) if found is None else (found.mean, found.sd if found.draws > 1 else None)


def _swaps(report: StabilityReport, places: int) -> Table:
    columns = (
        Column("measure", get=lambda row: row[0]),
        Column("set", "count", get=lambda row: row[1].queries),
        Column("error rate", "share", get=lambda row: row[1].error_rate),
        Column("tie rate", "share", get=lambda row: row[1].tie_rate),
        Column("difference needed", "number", places, "none", get=lambda row: row[1].difference_for(report.most_swaps)),
    )
    first = next(iter(report.swaps.values()))
    notes = (
        f"error rate, tie rate (Buckley & Voorhees 2000): over random sets of so many {plural_of(report.first.unit)}, "
        f"systems within {100 * first.fuzziness:g} % of the higher mean are tied (fuzziness); else the rarer order is "
        "the error",
        f"difference needed (Voorhees & Buckley 2002): from it on, at most {100 * report.most_swaps:g} % of the pairs "
        "that differ so on one set stand the other way round on another",
    )
    return Table.of(columns, report.swaps.items(), title="Swaps of two systems", notes=notes)


def _power(report: StabilityReport, places: int) -> Table:
    columns = (
        Column("measure", get=lambda row: row[0]),
        Column("test", get=lambda row: row[1].test),
        Column("pairs", "count", get=lambda row: row[1].pairs),
        Column("significant", "count", get=lambda row: row[1].significant),
        Column("share", "share", get=lambda row: row[1].share),
        Column("threshold", "number", places, "none", get=lambda row: row[1].threshold),
    )
    first = next(iter(report.power.values()))
    notes = (
        f"significant: p <= {number_text(first.alpha)}, by definition (Sakai 2006) not corrected for the number of "
        "pairs: it compares measures, and says of no single pair that it differs",
        "threshold: the smallest difference of means from which on every pair is significantly different",
    )
    return Table.of(columns, report.power.items(), title="Discriminative power", notes=notes)


def _bins(report: StabilityReport) -> Table:
    columns = (
        Column("measure", for_machines=True, get=lambda row: row[0]),
        Column("from difference", "number", for_machines=True, get=lambda row: row[1].low),
        Column(
            "below", "number", for_machines=True, get=lambda row: row[1].high if math.isfinite(row[1].high) else None
        ),
        Column("comparisons", "count", for_machines=True, get=lambda row: row[1].comparisons),
        Column("swaps", "count", for_machines=True, get=lambda row: row[1].swaps),
        Column("rate", "share", for_machines=True, get=lambda row: row[1].rate),
    )
    rows = [(measure, each) for measure, found in report.swaps.items() for each in found.bins]
    return Table.of(columns, rows, title="Swaps by difference")


def _curve(report: StabilityReport) -> Table:
    columns = head("measure | pair # | p .", for_machines=True)
    rows = tuple(
        (measure, i, float(p)) for measure, found in report.power.items() for i, p in enumerate(found.curve, 1)
    )
    return Table(columns, rows, "Sorted p")
