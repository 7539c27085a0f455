"""Curves of sessions as a page: charts with the queries on the axis, tables of the values after every query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, overload

from gainful.notation import count_of, number_text
from gainful.render.charts import Axis, Band, Chart, Line, Plot, Rule
from gainful.render.gain_page import table_ranks
from gainful.render.page import Cell, Column, Page, Table
from gainful.render.report import Report

if TYPE_CHECKING:
    from gainful.curves.session_curves import SessionCurve, SessionCurves
    from gainful.measures.session_cumulation import SessionGain

#: So many single sessions are drawn in colours of their own and named, so many are drawn at all, so many have a row.
MOST_NAMED, MOST_DRAWN, MOST_ROWS = 12, 200, 50
#: So many queries have a column each, a tick each (while their numbers have one digit, and from then on), and a rule.
_MOST_COLUMNS, _MOST_SHORT_TICKS, _MOST_TICKS, _MOST_RULES = 12, 9, 6, 20
#: The most systems that have several lines each in one chart.
_MOST_TOGETHER = 3

_SHORT = {"last query": "last", "earlier queries": "earlier"}
_PLURAL = {"last query": "last queries", "earlier queries": "earlier queries"}

Row = tuple[Cell, ...]


def session_curves_page(curves: SessionCurves, places: int = 4) -> Page:
    """For every measure and average a chart and a table; for machines every value."""
    report = Report(curves.evaluations)
    first = report.evaluations[0]
    header: dict[str, object] = {
        "signature": str(first.signature()),
        "measures": {str(measure): str(first.signature(measure)) for measure in first.measures},
        **curves_header(curves),
    }
    notes = [*curves_notes(curves), *report.signatures]
    return Page("sessions", tuple(curves_parts(curves, places)), tuple(notes), header)


def curves_header(curves: SessionCurves) -> dict[str, object]:
    """What made the curves, for machines."""
    return {
        "curves": curves.kind,
        "queries": curves.queries,
        "draws": curves.resampling.draws,
        "seed": curves.resampling.seed,
        "confidence": curves.resampling.confidence,
    }


def curves_parts(curves: SessionCurves, places: int) -> Iterator[Table | Chart | str]:
    """Charts, tables, and all values."""
    for measure in curves.measures:
        for average in curves.averages(measure):
            shown = [curve for curve in curves.curves if (curve.measure, curve.average) == (measure, average)]
            for group in _groups(curves, shown):
                yield _plot(curves, group)
                yield _table(curves, group, places)
    yield _data(curves)


def curves_notes(curves: SessionCurves) -> Iterator[str]:
    """What is to be known of the curves."""
    about = _about_bands(curves, curves.curves)
    if about:
        yield about
    if curves.kind != "positions" and curves.queries < curves.longest:
        yield f"the first {curves.queries} queries of sessions; the longest session has {curves.longest}"


def _groups(curves: SessionCurves, shown: Sequence[SessionCurve]) -> Iterator[list[SessionCurve]]:
    """What belongs into one chart: all systems, of many systems what is of one kind, or the sessions of one."""

    def kind_of(curve: SessionCurve) -> str:
        if curves.kind == "individual":
            return curve.run
        return curve.of if len(curves.runs) > _MOST_TOGETHER else ""

    for kind in dict.fromkeys(map(kind_of, shown)):
        yield [curve for curve in shown if kind_of(curve) == kind]


def _title(curves: SessionCurves, group: Sequence[SessionCurve], where: str = "") -> str:
    first = group[0]
    measure = f"{first.measure}{where}"
    if curves.kind == "individual":
        return f"{measure}, {count_of(len(group), 'session')} of {first.run}"
    kinds, counts = {curve.of for curve in group}, {curve.count for curve in group}
    if curves.kind == "positions":
        return f"{measure}, " + ("last queries and earlier ones" if len(kinds) > 1 else _PLURAL[first.of])
    over = count_of(first.count, "session") if len(counts) == 1 else "sessions"
    only = f" with {first.of}" if len(kinds) == 1 and first.of != "all sessions" else ""
    return f"{measure}, {first.average} over {over}{only}"


def _plot(curves: SessionCurves, group: Sequence[SessionCurve]) -> Plot:
    measure = group[0].measure
    depth = len(group[0].values)
    x = Axis("rank", 1.0, float(depth))
    rules: tuple[Rule, ...] = ()
    if curves.kind != "positions":
        ends = _query_ends(curves, group)
        label = f"query ({measure.cutoff} documents each)" if ends else "position in the session"
        named = _named(ends, _MOST_SHORT_TICKS if len(ends) < 10 else _MOST_TICKS)
        x = Axis(label, 1.0, float(depth), ticks=tuple((float(at), f"Q{q}") for q, at in named))
        rules = tuple(Rule("", x=float(at)) for _, at in (ends if len(ends) <= _MOST_RULES else named) if at < depth)
    y = Axis(str(measure), None if measure.variant == "jiang2016" else 0.0, _highest(curves, measure))
    lines = tuple(_lines(curves, group))
    caption = _about_bands(curves, group) if any(line.band for line in lines) else ""
    if curves.kind == "individual" and len(group) > MOST_DRAWN:
        caption = f"{MOST_DRAWN} sessions are drawn; the mean is of all"
    return Plot(_title(curves, group), x, y, lines, rules=rules, caption=caption)


def _highest(curves: SessionCurves, measure: SessionGain) -> float | None:
    """Where the vertical axis ends; charts that are to be compared end at the same place."""
    if measure.normalised:
        return 1.0 if measure.repeats == "every" and measure.variant == "jarvelin2008" else None
    highest = max(
        (value for curve in curves.curves if curve.measure == measure for value in curve.values.tolist()), default=0.0
    )
    is_split = curves.kind == "individual" or len(curves.runs) > _MOST_TOGETHER
    return 1.05 * highest if is_split and curves.kind != "average" and highest > 0 else None


def _query_ends(curves: SessionCurves, group: Sequence[SessionCurve]) -> list[tuple[int, int]]:
    """Every query and its last position; none where queries do not all have as many."""
    measure = group[0].measure
    if measure.short != "pad":
        return []
    return [(q, q * (measure.cutoff or 0)) for q in range(1, curves.queries + 1)]


def _named(ends: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The queries that are named: all, or of many the first and every fifth, tenth, ..."""
    step = next((step for step in (1, 5, 10, 20, 50, 100, 200, 500) if len(ends) <= step * most), len(ends))
    return [(q, at) for q, at in ends if q == 1 or q % step == 0]


def _lines(curves: SessionCurves, group: Sequence[SessionCurve]) -> Iterator[Line]:
    is_crowd = curves.kind == "individual" and len(group) > MOST_NAMED
    for curve in group[:MOST_DRAWN] if is_crowd else group:
        x = tuple(float(place) for place in range(1, len(curve.values) + 1))
        band = None
        if curve.band is not None and curves.kind == "average":
            band = Band(*(_floats(each) for each in (curve.band.ranks, curve.band.low, curve.band.high)))
        yield Line(
            "" if is_crowd else _name(curves, curve), x, _floats(curve.values), "guide" if is_crowd else "system", band
        )
    if is_crowd:
        # Which is which, a table says; what they have in common is easier to see.
        columns = zip(*(curve.values.tolist() for curve in group), strict=True)
        means = tuple(_mean([value for value in column if not math.isnan(value)]) for column in columns)
        yield Line("mean", tuple(float(i) for i in range(1, len(means) + 1)), means)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _name(curves: SessionCurves, curve: SessionCurve) -> str:
    if curve.session is not None:
        return curve.session
    if curves.kind == "average" or curve.of == "all sessions" or len(curves.runs) > _MOST_TOGETHER:
        return curve.run
    return f"{curve.run}, {_SHORT.get(curve.of) or curve.of.removeprefix('at least ').replace(' ', '+ ', 1)}"


def _table(curves: SessionCurves, group: Sequence[SessionCurve], places: int) -> Table:
    """The values after every query, or at some ranks."""
    first = group[0]
    ends = [] if curves.kind == "positions" else _query_ends(curves, group)
    if ends:
        shown = [(f"Q{q}", at) for q, at in dict.fromkeys((*_named(ends, _MOST_COLUMNS), ends[-1]))]
        where = " after each query"
    else:
        shown = [(str(at), at) for at in table_ranks(len(first.values))]
        where = " at some ranks" if curves.kind == "positions" else " at some positions"
    columns: tuple[Column, ...] = (*_label_columns(curves), *(Column(name, "number", places) for name, _ in shown))
    has_bands = any(curve.band is not None for curve in group)
    rows: list[Row] = []
    for curve in group:
        row: Row = (*_label_cells(curves, curve), *(float(curve.values[at - 1]) for _, at in shown))
        rows.append((*row, _ends(curve, places)) if has_bands else row)
    if has_bands:
        columns = (*columns, Column(f"{_per_cent(curves)} at the end"))
    most = MOST_ROWS if curves.kind == "individual" else None
    notes = (f"the first {most} of {len(rows):,} sessions",) if most is not None and len(rows) > most else ()
    return Table(columns, tuple(rows), _title(curves, group, where), notes, most=most, for_people=True)


def _label_columns(curves: SessionCurves) -> tuple[Column, ...]:
    if curves.kind == "individual":
        return Column("session"), Column("queries", "count")
    if curves.kind == "average":
        return Column("run"), Column("sessions", "count")
    return Column("run"), Column("of"), Column("queries" if curves.kind == "positions" else "sessions", "count")


def _label_cells(curves: SessionCurves, curve: SessionCurve) -> Row:
    if curves.kind == "individual":
        return curve.session, curve.queries
    return (curve.run, curve.count) if curves.kind == "average" else (curve.run, curve.of, curve.count)


def _ends(curve: SessionCurve, places: int) -> str | None:
    return None if curve.band is None else f"{curve.band.low[-1]:.{places}f} to {curve.band.high[-1]:.{places}f}"


def _per_cent(curves: SessionCurves) -> str:
    return f"{number_text(round(100 * curves.resampling.confidence, 10))} %"


def _about_bands(curves: SessionCurves, group: Sequence[SessionCurve]) -> str:
    if not curves.resampling.draws or not any(curve.band is not None for curve in group):
        return ""
    draws, seed = count_of(curves.resampling.draws, "draw"), curves.resampling.seed
    return f"band: {_per_cent(curves)} percentile bootstrap over sessions, {draws}, seed {seed}"


def _floats(values: object) -> tuple[float, ...]:
    return tuple(float(value) for value in values.tolist())  # type: ignore[attr-defined]


def _data(curves: SessionCurves) -> Table:
    """Every value, for machines."""
    of = "queries" if curves.kind == "positions" else "sessions"
    texts = [Column(name, for_machines=True) for name in ("run", "measure", "average", "of", "session")]
    counts = [Column(name, "count", for_machines=True) for name in (of, "position", "query", "rank")]
    numbers = [Column(name, "number", for_machines=True) for name in ("value", "low", "high")]
    return Table((*texts, *counts, *numbers), _Rows(curves), "Curves")


class _Rows(Sequence[Row]):
    """The rows of all values, made when somebody reads them: people do not."""

    def __init__(self, curves: SessionCurves) -> None:
        self._curves = curves

    def __len__(self) -> int:
        return sum(len(curve.values) for curve in self._curves.curves)

    def __iter__(self) -> Iterator[Row]:
        for curve in self._curves.curves:
            yield from _rows(self._curves, curve)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(self)[place]
        return next(islice(self, range(len(self))[place], None))


def _rows(curves: SessionCurves, curve: SessionCurve) -> Iterator[Row]:
    ends: dict[int, tuple[float, float]] = {}
    if curve.band is not None:
        band = curve.band
        ends = dict(zip(band.ranks.tolist(), zip(band.low.tolist(), band.high.tolist(), strict=True), strict=True))
    k = curve.measure.cutoff or 1
    by_query = curves.kind != "positions" and curve.measure.short == "pad"
    for place, value in enumerate(curve.values.tolist(), 1):
        query, rank = ((place - 1) // k + 1, (place - 1) % k + 1) if by_query else (None, None)
        if curves.kind == "positions":
            rank = place
        labels = (curve.run, str(curve.measure), curve.average or None, curve.of, curve.session, curve.count)
        yield (*labels, place, query, rank, value, *ends.get(place, (None, None)))
