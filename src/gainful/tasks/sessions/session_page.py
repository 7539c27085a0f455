"""Scores of sessions as a report; below them their lengths, their queries by position, ratings and curves.

Curves are charts with the queries on the axis, and tables of the values after every query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from gainful.evaluation.report import Report
from gainful.evaluation.score_files import FACTORS, SESSIONS_TABLE
from gainful.notation import count_of, number_text, printable, some_of
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Column, Table, head
from gainful.render import Page
from gainful.tasks.curves.gain_page import Row, RowsOnTheWay, curve_line, rows_by_place, table_ranks, value_columns
from gainful.tasks.sessions.session_curves import mean_vector

if TYPE_CHECKING:
    from gainful.measures.session_cumulation import SessionGain
    from gainful.tasks.sessions import RatingCorrelations, SessionStudy, SystemQueries
    from gainful.tasks.sessions.session_curves import SessionCurve, SessionCurves

#: So many single sessions are drawn in colours of their own and named, so many are drawn at all, so many have a row.
MOST_NAMED, MOST_DRAWN, MOST_ROWS = 12, 200, 50
#: So many queries have a column each, a tick each (while their numbers have one digit, and from then on), and a rule.
_MOST_COLUMNS, _MOST_SHORT_TICKS, _MOST_TICKS, _MOST_RULES = 12, 9, 6, 20
#: The most systems that have several lines each in one chart; the most sessions that a notice names.
_MOST_TOGETHER = 3

_SHORT = {"last query": "last", "earlier queries": "earlier", "best query": "best"}
_PLURAL = {"last query": "last queries", "earlier queries": "earlier queries", "best query": "best queries"}


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
        **asdict(curves.resampling),
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
        return f"{measure}, " + ("last, earlier and best queries" if len(kinds) > 1 else _PLURAL[first.of])
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
    if curves.kind == "individual" and len(group) > MOST_NAMED:
        # Which is which, a table says; what they have in common is easier to see.
        yield from (curve_line("", curve.values, role="guide") for curve in group[:MOST_DRAWN])
        yield curve_line("mean", mean_vector(group))
        return
    for curve in group:
        yield curve_line(_name(curves, curve), curve.values, curve.band if curves.kind == "average" else None)


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
    columns = (
        *_label_columns(curves),
        *value_columns(shown, group, f"{curves.resampling.per_cent} at the end", places),
    )
    most = MOST_ROWS if curves.kind == "individual" else None
    notes = (f"the first {most} of {len(group):,} sessions",) if most is not None and len(group) > most else ()
    return Table.of(columns, group, title=_title(curves, group, where), notes=notes, most=most, for_people=True)


def _label_columns(curves: SessionCurves) -> tuple[Column, ...]:
    if curves.kind == "individual":
        return Column("session"), Column("queries", "count")
    count = "queries" if curves.kind == "positions" else "sessions"
    counted = Column(count, "count", get=lambda curve: curve.count)
    return (Column("run"), counted) if curves.kind == "average" else (Column("run"), Column("of"), counted)


def _about_bands(curves: SessionCurves, group: Sequence[SessionCurve]) -> str:
    has_bands = any(curve.band is not None for curve in group)
    return curves.resampling.about("sessions") if has_bands else ""


def _data(curves: SessionCurves) -> Table:
    """Every value, for machines."""
    of = "queries" if curves.kind == "positions" else "sessions"
    texts, numbers = "run | measure | average | of | session", "value . | low . | high ."
    rows = RowsOnTheWay(sum(len(curve.values) for curve in curves.curves), lambda: _rows(curves))
    columns = head(f"{texts} | {of} # | position # | query # | rank # | {numbers}", for_machines=True)
    return Table(columns, rows, "Curves")


def _rows(curves: SessionCurves) -> Iterator[Row]:
    for curve in curves.curves:
        k = curve.measure.cutoff or 1
        labels = (curve.run, str(curve.measure), curve.average or None, curve.of, curve.session, curve.count)
        for i, (place, *values) in enumerate(rows_by_place(curve.values, curve.band)):
            query, rank = (i // k + 1, i % k + 1) if curve.measure.short == "pad" else (None, None)
            if curves.kind == "positions":
                query, rank = None, i + 1
            yield (*labels, place, query, rank, *values)


class SessionReport(Report):
    """What was found about sessions, in any format: scores as ``gainful eval`` has them, then everything else."""

    def __init__(
        self, study: SessionStudy, by_session: bool = False, places: int = 4, baseline: str | None = None
    ) -> None:
        super().__init__(study.evaluations, by_session, places, baseline)
        self.study = study
        self.further = (*(_known_of(study) if by_session else ()), *_further(study, places))
        if study.curves is not None:
            self.further_notes = tuple(curves_notes(study.curves))
            self.further_header = curves_header(study.curves)


def _known_of(study: SessionStudy) -> Iterator[Table]:
    """What is known of every session beside its scores, for machines: a comparison of systems goes by it."""
    factors = [name for name in FACTORS if any(name in each.factors for each in study.evaluations.values())]
    if factors:
        rows = [
            (run, session, *known)
            for run, each in study.evaluations.items()
            for session, *known in zip(
                each.queries, *(each.factors.get(name, (None,) * len(each.queries)) for name in factors), strict=True
            )
        ]
        yield Table(head(["run", "session", *factors], for_machines=True), tuple(rows), SESSIONS_TABLE)


def _further(study: SessionStudy, places: int) -> Iterator[Table | Chart | str]:
    yield from length_tables(study.queries)
    yield from _positions(study, places)
    yield _last(study, places)
    if study.ratings is not None:
        yield _correlations(study.ratings, places)
    if study.costs is not None:
        yield from study.costs.parts(places)
    if study.curves is not None:
        yield from curves_parts(study.curves, places)


def _longest(queries: Mapping[str, SystemQueries]) -> int:
    return max(found.session_counts.size for found in queries.values())


def _shown_queries(queries: Mapping[str, SystemQueries]) -> tuple[range, bool]:
    """The queries that have a column, and whether there are more."""
    longest = _longest(queries)
    return range(1, min(longest, _MOST_COLUMNS) + 1), longest > _MOST_COLUMNS


def length_tables(queries: Mapping[str, SystemQueries]) -> Iterator[Table]:
    """How many sessions have exactly 1, 2, ... queries: for people one row a system, for machines one a number."""
    shown, has_more = _shown_queries(queries)
    columns = [Column("run"), Column("sessions", "count"), *(Column(str(q), "count") for q in shown)]
    has_missing = any(found.missing for found in queries.values())
    if has_more:
        columns.append(Column("more", "count"))
    if has_missing:
        columns.append(Column("missing", "count"))
    columns.append(Column("average", "number", 2))
    rows: list[Row] = []
    for name, found in queries.items():
        counts = found.session_counts.tolist()
        row: Row = (name, found.sessions, *(counts[q - 1] if q <= len(counts) else 0 for q in shown))
        row += (sum(counts[_MOST_COLUMNS:]),) if has_more else ()
        row += (found.missing,) if has_missing else ()
        rows.append((*row, found.average))
    title = "Sessions by number of queries"
    yield Table(tuple(columns), tuple(rows), title, for_people=True)
    every: list[Row] = [
        (name, number, count)
        for name, found in queries.items()
        for number, count in enumerate(found.session_counts.tolist(), 1)
    ]
    every += [(name, None, found.missing) for name, found in queries.items() if found.missing]
    yield Table(head("run | queries # | sessions #", for_machines=True), tuple(every), title)


def _positions(study: SessionStudy, places: int) -> Iterator[Table]:
    """What first, second, ... queries give, and how many there are."""
    shown, has_more = _shown_queries(study.queries)
    columns = (Column("run"), Column("of"), *(Column(f"Q{q}", "number", places) for q in shown))
    rows: list[Row] = []
    for name, found in study.queries.items():
        counts, means = (each.tolist() for each in found.by_position)
        there = [q for q in shown if q <= len(counts)]
        gap = (None,) * (len(shown) - len(there))
        rows.append((name, "sessions", *(str(counts[q - 1]) for q in there), *gap))
        rows.append((name, str(study.measure), *(means[q - 1] for q in there), *gap))
    title = f"{study.measure} of a query by its position in the session"
    notes = (
        *_about_unjudged(study),
        *((f"the first {_MOST_COLUMNS} of {_longest(study.queries)} positions",) if has_more else ()),
    )
    yield Table(columns, tuple(rows), title, notes, for_people=True)
    every = [
        (name, str(study.measure), query, count, mean)
        for name, found in study.queries.items()
        for query, (count, mean) in enumerate(zip(*(each.tolist() for each in found.by_position), strict=True), 1)
    ]
    columns = head("run | measure | query # | sessions # | value .", for_machines=True)
    yield Table(columns, tuple(every), "Queries by position")


def _last(study: SessionStudy, places: int) -> Table:
    columns = head(f"run | last queries # | mean of last .{places} | earlier queries # | mean of earlier .{places}")
    rows = tuple((name, *found.last_queries, *found.earlier_queries) for name, found in study.queries.items())
    return Table(columns, rows, f"{study.measure} of last queries and of earlier ones", _about_unjudged(study))


def _about_unjudged(study: SessionStudy) -> tuple[str, ...]:
    is_some = any(found.unjudged for found in study.queries.values())
    return ("queries without judgments do not count here",) if is_some else ()


def _correlations(ratings: RatingCorrelations, places: int) -> Table:
    per_cent = f"{number_text(round(100 * ratings.confidence, 10))} %"
    value, low, high = (f"{name} .{places}" for name in ("value", "low", "high"))
    columns = head(["run", "measure", "coefficient", value, low, high, "sessions #"])
    rows = tuple((name, str(measure), *each) for (name, measure), found in ratings.found.items() for each in found)
    notes = [f"low, high: {per_cent} interval by Fisher's z (Spearman: Bonett and Wright; Kendall: Fieller)"]
    if any(measure.better == "lower" for _, measure in ratings.found):
        lower = dict.fromkeys(str(measure) for _, measure in ratings.found if measure.better == "lower")
        notes.append(f"less is better: {', '.join(lower)}")
    notes += [f"undefined for {printable(name, 80)}: {why}" for (name, _), why in ratings.constant.items()]
    return Table(columns, rows, f"Correlation with {ratings.rating}", tuple(dict.fromkeys(notes)))


def rating_notices(ratings: RatingCorrelations) -> list[str]:
    """Sessions without a rating, by system."""
    lines = []
    for name, sessions in ratings.unrated.items():
        if sessions:
            shown = some_of(sessions)
            count = count_of(len(sessions), "session")
            lines.append(f"{printable(name, 80)}: {count} without {printable(ratings.rating)}, not correlated: {shown}")
    return lines
