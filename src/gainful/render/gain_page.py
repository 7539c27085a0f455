"""Gain by rank as a page: charts, tables of some ranks, the sideways reading, and for machines every value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, overload

from gainful.notation import count_of, number_text, printable
from gainful.render.charts import Axis, Band, Chart, Line, Plot
from gainful.render.page import Cell, Column, Page, Table
from gainful.render.report import Report
from gainful.render.sideways_page import sentences, sideways_data, sideways_tables

if TYPE_CHECKING:
    from gainful.arrays import Floats
    from gainful.curves.averages import GainCurve
    from gainful.curves.gain_curves import GainCurves
    from gainful.curves.sideways import Sideways

_WIDEST = 80

Row = tuple[Cell, ...]


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
    header = _header(curves)
    notes = list(_notes(curves))
    readings = _readings(curves, reference, at, regions)
    for reading in readings:
        said = sentences(reading, is_one_of_several=len(readings) > 1)
        parts += ["\n".join(said), *sideways_tables(reading, places, for_people=True)]
    header["sideways"] = [sideways_data(reading) for reading in readings]
    if not readings:
        notes.insert(0, "not read sideways: the ideal of normalised measures is 1 at every rank; CG and DCG can be")
    parts.append(_data(curves))
    return Page("curves", tuple(part for part in parts if part), tuple(notes), header)


def _readings(
    curves: GainCurves,
    reference: str | None,
    at: Sequence[int] | None,
    regions: Sequence[tuple[int, int]] | None,
) -> list[Sideways]:
    """The curves of all measures that are not normalised read sideways; of normalised ones, if there are no others
    and a run is the reference, those of the first in all its averages."""
    plain = [measure for measure in curves.measures if not measure.normalised]
    if plain:
        return [curves.sideways(measure, reference, at, regions) for measure in plain]
    if reference is None and at is None and regions is None:
        return []
    return [curves.sideways(None, reference, at, regions, average) for average in curves.averages()]


def _title(curve: GainCurve, counts: set[int], ranks: str) -> str:
    over = count_of(curve.queries, "query", "queries") if len(counts) == 1 else "queries"
    return f"{curve.measure} {ranks}, {curve.average} over {over}"


def _plot(curves: GainCurves, shown: Sequence[GainCurve]) -> Plot:
    first = shown[-1]
    is_share = first.measure.normalised and first.measure.discount != "jarvelin2000"
    return Plot(
        _title(first, _counts(shown), "by rank"),
        Axis("rank", 1.0, float(first.depth), is_whole=True),
        Axis(first.measure.name, 0.0, 1.0 if is_share else None),  # the title has its parameters
        tuple(map(gain_line, shown)),
        caption=_about_bands(curves, shown),
    )


def _counts(shown: Sequence[GainCurve]) -> set[int]:
    return {curve.queries for curve in shown if curve.run is not None}


def gain_line(curve: GainCurve) -> Line:
    """A curve as a line of a chart."""
    x = tuple(float(rank) for rank in range(1, curve.depth + 1))
    band = None
    if curve.band is not None:
        ranks, low, high = (_floats(values) for values in (curve.band.ranks, curve.band.low, curve.band.high))
        band = Band(ranks, low, high)
    name = "ideal" if curve.run is None else curve.run
    return Line(name, x, _floats(curve.values), "ideal" if curve.run is None else "system", band)


def _floats(values: object) -> tuple[float, ...]:
    return tuple(float(value) for value in values.tolist())  # type: ignore[attr-defined]


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


def _table(curves: GainCurves, shown: Sequence[GainCurve], places: int) -> Table:
    depth = shown[0].depth
    ranks = table_ranks(depth)
    columns = [Column("run"), *(Column(str(rank), "number", places) for rank in ranks)]
    rows: list[Row] = [
        ("(ideal)" if curve.run is None else curve.run, *(float(curve.values[rank - 1]) for rank in ranks))
        for curve in shown
    ]
    if any(curve.band is not None for curve in shown):
        columns.append(Column(f"{_per_cent(curves)} at {depth}"))
        rows = [(*row, _ends(curve, places)) for row, curve in zip(rows, shown, strict=True)]
    marked = _best(shown, ranks) if len(curves.runs) > 1 else frozenset()
    title = _title(shown[-1], _counts(shown), "at some ranks")
    return Table(tuple(columns), tuple(rows), title, marked=marked, for_people=True)


def _best(shown: Sequence[GainCurve], ranks: Sequence[int]) -> frozenset[tuple[int, int]]:
    """The cells of the runs that have the most at each rank."""
    marked: set[tuple[int, int]] = set()
    for column, rank in enumerate(ranks, 1):
        values = {i: curve.values[rank - 1] for i, curve in enumerate(shown) if curve.run is not None}
        best = max(values.values())
        marked.update((i, column) for i, value in values.items() if value == best > 0)
    return frozenset(marked)


def _ends(curve: GainCurve, places: int) -> str | None:
    return None if curve.band is None else f"{curve.band.low[-1]:.{places}f} to {curve.band.high[-1]:.{places}f}"


def _per_cent(curves: GainCurves) -> str:
    return f"{number_text(round(100 * curves.resampling.confidence, 10))} %"


def _about_bands(curves: GainCurves, shown: Sequence[GainCurve]) -> str:
    """What the bands are; nothing where none are wanted."""
    draws, seed = curves.resampling.draws, curves.resampling.seed
    if not draws:
        return ""
    counts = {curve.queries for curve in shown if curve.band is not None}
    if not counts:
        return f"no bands: they need at least 2 queries, found {max(_counts(shown))}"
    over = count_of(max(counts), "query", "queries") if len(counts) == 1 else "each run's queries"
    return f"band: {_per_cent(curves)} percentile bootstrap over {over}, {count_of(draws, 'draw')}, seed {seed}"


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
        "draws": curves.resampling.draws,
        "seed": curves.resampling.seed,
        "confidence": curves.resampling.confidence,
        "runs": [
            {"run": run, "path": evaluation.source, "missing": len(evaluation.missing)}
            for run, evaluation in curves.evaluations.items()
        ],
    }


def _data(curves: GainCurves) -> Table:
    """Every value, for machines: averages with their bands, then, if they are there, the vectors of every query."""
    texts = [Column(name, for_machines=True) for name in ("run", "measure", "average", "query")]
    numbers = [Column(name, "number", for_machines=True) for name in ("value", "low", "high")]
    return Table((*texts, Column("rank", "count", for_machines=True), *numbers), _Rows(curves))


class _Rows(Sequence[Row]):
    """The rows of all values, made when somebody reads them: people do not."""

    def __init__(self, curves: GainCurves) -> None:
        self._curves = curves

    def __len__(self) -> int:
        of_queries = sum(int(vectors.size) for vectors in self._curves.vectors.values())
        return sum(curve.depth for curve in self._curves.curves) + of_queries

    def __iter__(self) -> Iterator[Row]:
        for curve in self._curves.curves:
            yield from _average_rows(curve)
        queries = self._curves.queries if self._curves.vectors else []
        for (run, measure), vectors in self._curves.vectors.items():
            yield from _query_rows(run, str(measure), queries, vectors)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        wanted = range(len(self))[place]
        return next(islice(self, wanted, None))


def _average_rows(curve: GainCurve) -> Iterator[Row]:
    measure = str(curve.measure)
    ends: dict[int, tuple[float, float]] = {}
    if curve.band is not None:
        ranks, low, high = curve.band.ranks.tolist(), curve.band.low.tolist(), curve.band.high.tolist()
        ends = dict(zip(ranks, zip(low, high, strict=True), strict=True))
    for rank, value in enumerate(curve.values.tolist(), 1):
        yield (curve.run, measure, curve.average, None, rank, value, *ends.get(rank, (None, None)))


def _query_rows(run: str | None, measure: str, queries: Sequence[str], vectors: Floats) -> Iterator[Row]:
    for query, vector in zip(queries, vectors, strict=True):
        for rank, value in enumerate(vector.tolist(), 1):
            yield (run, measure, None, query, rank, value, None, None)
