"""Gain by rank as a page: charts, tables of some ranks, the sideways reading, and for machines every value.

What curves of queries and of sessions have in common stands at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, overload

from gainful.evaluation.report import Report
from gainful.notation import count_of, listed, number_text, printable
from gainful.pages.charts import Axis, Band, Chart, Line, Plot, Role
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page
from gainful.tasks.curves.curve_differences import difference_parts

if TYPE_CHECKING:
    from gainful.kernel.arrays import Floats, Ints
    from gainful.tasks.curves.averages import Band as CurveBand, GainCurve
    from gainful.tasks.curves.gain_curves import GainCurves, LastRise, Reach, Sideways

Row = tuple[Cell, ...]

#: With more runs than these a sentence names only the first and the last.
_NAMED = 6
_WIDEST = 80


def sideways_page(found: Sideways, places: int = 4) -> Page:
    """Sentences, and the tables behind them."""
    parts: tuple[Table | str, ...] = (*sentences(found), *sideways_tables(found, places))
    return Page("sideways", parts, found.conventions, sideways_data(found))


def sideways_data(found: Sideways) -> dict[str, object]:
    """All of it for machines."""
    return {
        "measure": str(found.measure),
        "average": found.average,
        "reference": found.reference,
        "depth": found.depth,
        "stopping_rank": found.stopping_rank,
        "reaches": [_finite(asdict(each)) for each in found.reaches],
        "last_rises": [_finite(asdict(each)) for each in found.last_rises],
        "areas": [_finite(asdict(each)) for each in found.areas],
        "distances": [_finite(asdict(each)) for each in found.distances],
    }


def _finite(values: Mapping[str, object]) -> dict[str, object]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}


def sentences(found: Sideways, *, is_one_of_several: bool = False) -> list[str]:
    """One for every rank of the reference, then where the ideal stops; of several measures each begins with its own."""
    if is_one_of_several:
        return [f"By {found.measure}: {sentence[0].lower()}{sentence[1:]}" for sentence in sentences(found)]
    said = [sentence for at in found.at for sentence in _of_rank(found, at)]
    ideal = next((rise for rise in found.last_rises if rise.run is None), None)
    return said if ideal is None else [*said, _stop(ideal, found.depth)]


def _of_rank(found: Sideways, at: int) -> Iterator[str]:
    reaches = [reach for reach in found.reaches if reach.at == at and reach.gain > 0]
    if not reaches:
        return
    there = sorted((reach for reach in reaches if reach.rank is not None), key=lambda reach: reach.rank or 0)
    never = [reach.run for reach in reaches if reach.rank is None]
    whose = f"{_the(found.reference)} gives"
    goal = f"To gain what {whose} in {count_of(at, 'document')}"
    if found.measure.normalised:
        goal = f"To reach the {found.measure} that {_the(found.reference)} has at rank {at}"
    yield f"{goal}, {_reading(there, never, found.depth)}."
    times = number_text(round(there[-1].times_best or 1.0, 1)) if there else "1"
    if times != "1":
        yield f"There {_name(there[-1].run)} takes {times} times as long as {_name(there[0].run)}."


def _reading(there: Sequence[Reach], never: Sequence[str], depth: int) -> str:
    not_enough = f"{count_of(depth, 'document')} {'is' if depth == 1 else 'are'} not enough"
    if not there:
        return f"{not_enough} with {_any(never, f'any of {len(never):,} runs')}"
    if len(there) > _NAMED:
        fewest, most = there[0], there[-1]
        shown = f"{fewest.rank:,} with {_name(fewest.run)} and {most.rank:,} with {_name(most.run)}"
        text = f"a user reads between {shown} ({len(there):,} runs)"
    else:
        text = f"a user reads {listed([f'{reach.rank:,} with {_name(reach.run)}' for reach in there], 'and')}"
    return f"{text}; with {_any(never, f'{len(never):,} other runs')} {not_enough}" if never else text


def _any(runs: Sequence[str], many: str) -> str:
    return many if len(runs) > _NAMED else listed([_name(run) for run in runs], "or")


def _stop(ideal: LastRise, depth: int) -> str:
    if ideal.rank is None:
        return "There is nothing to gain: no judged document has a gain above 0."
    if ideal.still_rises:
        return f"The ideal still rises at rank {depth:,}, the last one looked at."
    return f"The ideal turns horizontal at rank {ideal.rank:,}: no query has more documents to gain from."


def sideways_tables(found: Sideways, places: int, *, for_people: bool = False) -> Iterator[Table]:
    """Ranks that gain as much, areas and stopping ranks, distances by region."""
    if found.reaches:
        yield _reach_table(found, for_people)
    yield _area_table(found, places, for_people)
    yield _distance_table(found, places, for_people)


def _reach_table(found: Sideways, for_people: bool) -> Table:
    reference = "ideal" if found.reference is None else found.reference
    columns = [Column("run")]
    for at in found.at:
        columns += [
            Column(f"for {at}", "count", none=f"not within {found.depth}"),
            Column(f"{at}: x {reference}", "number", 2),
            Column(f"{at}: x best", "number", 2),
        ]
    rows: dict[str, Row] = {run: (run,) for run in found.runs}
    for reach in found.reaches:
        rows[reach.run] += (reach.rank, reach.times_reference, reach.times_best)
    ranks = listed([str(rank) for rank in found.at], "or")
    title = f"Rank at which {_what(found)} reaches what {_the(found.reference)} has at rank {ranks}"
    return Table(tuple(columns), tuple(rows.values()), title, _gains(found), for_people=for_people)


def _gains(found: Sideways) -> tuple[str, ...]:
    gains = {at: {reach.gain for reach in found.reaches if reach.at == at} for at in found.at}
    times = f"x: times as far as {_the(found.reference)}, as the best run"
    notes = [f"the ideal is that of each run's own queries; {times}"]
    if all(len(values) == 1 for values in gains.values()):
        notes = [
            f"{_the(found.reference)}: {', '.join(f'{gain:.4f} at {at}' for at, [gain] in gains.items())}; {times}"
        ]
    if found.measure.normalised:
        notes.append(f"{found.measure} can fall with rank: a run that starts high may be there at once")
    return tuple(notes)


def _what(found: Sideways) -> str:
    """The measure; of a normalised one with how it was averaged."""
    return f"{found.measure} ({found.average})" if found.measure.normalised else str(found.measure)


def _area_table(found: Sideways, places: int, for_people: bool) -> Table:
    rises = {rise.run: rise for rise in found.last_rises}
    columns = [Column("run"), Column("area", "number", places), Column("share of ideal", "share")]
    rows: list[tuple[Cell, ...]] = [(area.run, area.area, area.share) for area in found.areas]
    if rises:
        columns.append(Column("last rise", "count", none=f"rises at {found.depth}"))
        rows = [("(ideal)", None, None), *rows]
        ranks = [rises[None], *(rises[area.run] for area in found.areas)]
        rows = [(*row, _last_rise(rise)) for row, rise in zip(rows, ranks, strict=True)]
    title = f"Area between {_what(found)} and the ideal, ranks 1-{found.depth}"
    return Table(tuple(columns), tuple(rows), title, for_people=for_people)


def _last_rise(rise: LastRise) -> int | None:
    """The rank; 0 for a curve that never rises, none for one that may go on."""
    return None if rise.still_rises else rise.rank or 0


def _distance_table(found: Sideways, places: int, for_people: bool) -> Table:
    columns = [
        Column("run"),
        Column("ranks", get=lambda each: f"{each.first}-{each.last}"),
        Column("least", "number", places),
        Column("most", "number", places),
    ]
    title = f"Distance of {_what(found)} to the ideal"
    if not found.measure.normalised:  # the ideal is 1 there: points are shares
        title += ", in points and in per cent"
        columns += [
            Column("least of ideal", "share", get=lambda each: each.least_share),
            Column("most of ideal", "share", get=lambda each: each.most_share),
        ]
    places_of_runs = {area.run: i for i, area in enumerate(found.areas)}
    by_run = sorted(found.distances, key=lambda each: places_of_runs[each.run])
    return Table.of(tuple(columns), by_run, title=title, for_people=for_people)


def _the(reference: str | None) -> str:
    return "the ideal" if reference is None else _name(reference)


def _name(run: str) -> str:
    return printable(run, _WIDEST)


def gain_page(
    curves: GainCurves,
    places: int = 4,
    reference: str | None = None,
    at: Sequence[int] | None = None,
    regions: Sequence[tuple[int, int]] | None = None,
) -> Page:
    """For every measure and average a chart and a table of some ranks; then the curves read sideways."""
    parts: list[Table | Chart | str] = []
    for measure in curves.measures:
        for average in curves.averages(measure):
            shown = [curve for curve in curves.curves if (curve.measure, curve.average) == (measure, average)]
            parts += [_plot(curves, shown), _table(curves, shown, places)]
    parts += difference_parts(curves.differences, curves.resampling.per_cent, places)
    header = _header(curves)
    notes = list(_notes(curves))
    readings = list(_readings(curves, reference, at, regions))
    across = [reading for reading in readings if reading.reaches]
    for reading in readings:
        said = sentences(reading, is_one_of_several=len(across) > 1)
        parts += ["\n".join(said), *sideways_tables(reading, places, for_people=True)]
    header["sideways"] = [sideways_data(reading) for reading in readings]
    if not across:
        notes.insert(0, "not read sideways: the ideal of normalised measures is 1 at every rank; CG and DCG can be")
    parts.append(_data(curves))
    return Page("curves", tuple(part for part in parts if part), tuple(notes), header)


def _readings(
    curves: GainCurves,
    reference: str | None,
    at: Sequence[int] | None,
    regions: Sequence[tuple[int, int]] | None,
) -> Iterator[Sideways]:
    """The curves of all measures, in all their averages. Where some are not normalised, these are what is read
    sideways, and of the normalised ones the distance to their ideal."""
    has_plain = not all(measure.normalised for measure in curves.measures)
    for measure in curves.measures:
        leader = (None, None) if measure.normalised and has_plain else (reference, at)
        for average in curves.averages(measure):
            yield curves.sideways(measure, *leader, regions, average)


def _title(curves: GainCurves, shown: Sequence[GainCurve], ranks: str) -> str:
    """What is drawn; of one query there is no average."""
    curve, counts = shown[-1], _counts(shown)
    if counts == {1} and len(curves.averages(curve.measure)) == 1:
        return f"{curve.measure} {ranks}"
    over = count_of(curve.queries, "query", "queries") if len(counts) == 1 else "queries"
    return f"{curve.measure} {ranks}, {curve.average} over {over}"


def _plot(curves: GainCurves, shown: Sequence[GainCurve]) -> Plot:
    first = shown[-1]
    is_share = first.measure.normalised and first.measure.discount != "jarvelin2000"
    return Plot(
        _title(curves, shown, "by rank"),
        Axis("rank", 1.0, float(first.depth), is_whole=True),
        Axis(first.measure.name, 0.0, 1.0 if is_share else None),  # the title has its parameters
        tuple(_below_ideal(gain_line(curve), shown) for curve in shown),
        caption=_about_bands(curves, shown) if max(_counts(shown)) > 1 else "",
    )


def _below_ideal(line: Line, shown: Sequence[GainCurve]) -> Line:
    """The line with a band that ends at the ideal: other queries would have another ideal, but none can be above it."""
    ideal = next((curve.values for curve in shown if curve.run is None), None)
    if ideal is None or line.band is None or line.role == "ideal":
        return line
    ends = zip(line.band.x, line.band.high, strict=True)
    high = tuple(min(end, float(ideal[min(int(rank), ideal.size) - 1])) for rank, end in ends)
    return replace(line, band=replace(line.band, high=high))


def _counts(shown: Sequence[GainCurve]) -> set[int]:
    return {curve.queries for curve in shown if curve.run is not None}


def gain_line(curve: GainCurve) -> Line:
    """A curve as a line of a chart."""
    if curve.run is None:
        return curve_line("ideal", curve.values, curve.band, "ideal")
    return curve_line(curve.run, curve.values, curve.band)


def _table(curves: GainCurves, shown: Sequence[GainCurve], places: int) -> Table:
    depth = shown[0].depth
    ranks = table_ranks(depth)
    run = Column("run", get=lambda curve: "(ideal)" if curve.run is None else curve.run)
    band = f"{curves.resampling.per_cent} at {depth}"
    return Table.of(
        (run, *value_columns([(str(rank), rank) for rank in ranks], shown, band, places)),
        shown,
        title=_title(curves, shown, "at some ranks"),
        marked=_best(shown, ranks) if len(curves.runs) > 1 else frozenset(),
        for_people=True,
    )


def _best(shown: Sequence[GainCurve], ranks: Sequence[int]) -> frozenset[tuple[int, int]]:
    """The cells of the runs that have the most at each rank."""
    marked: set[tuple[int, int]] = set()
    for column, rank in enumerate(ranks, 1):
        values = {i: curve.values[rank - 1] for i, curve in enumerate(shown) if curve.run is not None}
        best = max(values.values())
        marked.update((i, column) for i, value in values.items() if value == best > 0)
    return frozenset(marked)


def _about_bands(curves: GainCurves, shown: Sequence[GainCurve]) -> str:
    """What the bands are; nothing where none are wanted."""
    if not curves.resampling.draws:
        return ""
    counts = {curve.queries for curve in shown if curve.band is not None}
    if not counts:
        return f"no bands: they need at least 2 queries, found {max(_counts(shown))}"
    over = count_of(max(counts), "query", "queries") if len(counts) == 1 else "each run's queries"
    return curves.resampling.about(over)


def _notes(curves: GainCurves) -> Iterator[str]:
    report = Report(curves.evaluations)
    if len(curves.runs) > 1:
        yield "* best of its column"
    if report.counted:
        counts = ", ".join(f"{printable(run, _WIDEST)} {count}" for run, count in report.counted.items())
        yield f"averages over different numbers of queries: {counts}"
    for curve in curves.curves:
        if curve.run is None and any(other.queries < curve.queries for other in curves.curves if other.run is not None):
            yield f"the ideal is over all {count_of(curve.queries, 'judged query', 'judged queries')}"
            break
    about = _about_bands(curves, [curve for curve in curves.curves if curve.run is not None])
    if about:
        yield about
    yield from report.signatures


def _header(curves: GainCurves) -> dict[str, object]:
    first = next(iter(curves.evaluations.values()))
    return {
        "signature": str(first.signature()),
        "measures": {
            str(measure): str(first.signature(deep))
            for measure, deep in zip(curves.measures, first.measures, strict=True)
        },
        "depths": {str(measure): curves.depth(measure) for measure in curves.measures},
        "averages": {str(measure): curves.averages(measure) for measure in curves.measures},
        **asdict(curves.resampling),
        "runs": [
            {"run": run, "path": evaluation.source, "missing": len(evaluation.missing)}
            for run, evaluation in curves.evaluations.items()
        ],
    }


def _data(curves: GainCurves) -> Table:
    """Every value, for machines: averages with their bands, then, if they are there, the vectors of every query."""
    columns = head("run | measure | average | query | rank # | value . | low . | high .", for_machines=True)
    count = sum(curve.depth for curve in curves.curves) + sum(int(vectors.size) for vectors in curves.vectors.values())
    rows = RowsOnTheWay(count, lambda: _rows(curves))
    return Table(columns, rows)


def _rows(curves: GainCurves) -> Iterator[Row]:
    for curve in curves.curves:
        labels = (curve.run, str(curve.measure), curve.average, None)
        yield from ((*labels, *row) for row in rows_by_place(curve.values, curve.band))
    for (run, measure), vectors in curves.vectors.items():
        name = str(measure)
        for query, vector in zip(curves.queries, vectors, strict=True):
            yield from ((run, name, None, query, *row) for row in rows_by_place(vector))


class HasBand(Protocol):
    """A curve: its values, and how far they may be off, if that is known."""

    @property
    def values(self) -> Floats: ...
    @property
    def band(self) -> CurveBand | None: ...


def curve_line(name: str, values: Floats, band: CurveBand | None = None, role: Role = "system") -> Line:
    """A curve as a line of a chart."""
    x, y = tuple(map(float, range(1, len(values) + 1))), _floats(values)
    ends = None if band is None else Band(_floats(band.ranks), _floats(band.low), _floats(band.high))
    return Line(name, x, y, role, ends)


def _floats(values: Floats | Ints) -> tuple[float, ...]:
    return tuple(float(value) for value in values.tolist())


def table_ranks(depth: int) -> list[int]:
    """The ranks that a table shows: 1, 2, 3, 5, 10, 20, 50, 100, ... and the last.

    >>> table_ranks(300)
    [1, 2, 3, 5, 10, 20, 50, 100, 200, 300]
    """
    ranks, ten = [1, 2, 3, 5], 10
    while ten < depth:
        ranks += [ten, 2 * ten, 5 * ten]
        ten *= 10
    return [*(rank for rank in ranks if rank < depth), depth]


def value_columns(
    named: Sequence[tuple[str, int]], curves: Sequence[HasBand], band: str, places: int
) -> Iterator[Column]:
    """A column for each of some places of curves, then, if there are any, their bands at the end."""
    for name, place in named:
        yield Column(name, "number", places, get=partial(_value_at, place))
    if any(curve.band is not None for curve in curves):
        yield Column(band, get=lambda curve: _ends(curve.band, places))


def _value_at(place: int, curve: HasBand) -> float:
    return float(curve.values[place - 1])


def _ends(band: CurveBand | None, places: int) -> str | None:
    return None if band is None else f"{band.low[-1]:.{places}f} to {band.high[-1]:.{places}f}"


def rows_by_place(values: Floats, band: CurveBand | None = None) -> Iterator[Row]:
    """Place, value, and both ends of the band where it is known."""
    ends = {} if band is None else band.ends()
    for place, value in enumerate(values.tolist(), 1):
        yield (place, value, *ends.get(place, (None, None)))


class RowsOnTheWay(Sequence[Row]):
    """So many rows, made one by one when somebody reads them: people do not, and there may be many."""

    def __init__(self, count: int, make: Callable[[], Iterator[Row]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        return next(islice(self, range(len(self))[place], None))
