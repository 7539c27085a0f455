"""Scores of sessions as a report; below them their lengths, their queries by position, ratings and curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.render.charts import Chart
from gainful.render.page import Cell, Column, Table
from gainful.render.report import Report
from gainful.render.session_curves_page import curves_header, curves_notes, curves_parts

if TYPE_CHECKING:
    from gainful.sessions.study import SessionStudy, SystemQueries
    from gainful.stats.ratings import RatingCorrelations

#: So many queries have a column of their own; machines have all of them.
MOST_COLUMNS = 12
_SHOWN = 5

Row = tuple[Cell, ...]


class SessionReport(Report):
    """What was found about sessions, in any format: scores as ``gainful eval`` has them, then everything else."""

    def __init__(
        self, study: SessionStudy, by_session: bool = False, places: int = 4, baseline: str | None = None
    ) -> None:
        super().__init__(study.evaluations, by_session, places, baseline)
        self.study = study
        self.further = tuple(_further(study, places))
        if study.curves is not None:
            self.further_notes = tuple(curves_notes(study.curves))
            self.further_header = curves_header(study.curves)


def _further(study: SessionStudy, places: int) -> Iterator[Table | Chart | str]:
    yield from length_tables(study.queries)
    yield from _positions(study, places)
    yield _last(study, places)
    if study.ratings is not None:
        yield _correlations(study.ratings, places)
    if study.curves is not None:
        yield from curves_parts(study.curves, places)


def _longest(queries: Mapping[str, SystemQueries]) -> int:
    return max(found.session_counts.size for found in queries.values())


def _shown_queries(queries: Mapping[str, SystemQueries]) -> tuple[range, bool]:
    """The queries that have a column, and whether there are more."""
    longest = _longest(queries)
    return range(1, min(longest, MOST_COLUMNS) + 1), longest > MOST_COLUMNS


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
        row += (sum(counts[MOST_COLUMNS:]),) if has_more else ()
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
    yield Table(_for_machines(("run",), ("queries", "sessions")), tuple(every), title)


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
        *((f"the first {MOST_COLUMNS} of {_longest(study.queries)} positions",) if has_more else ()),
    )
    yield Table(columns, tuple(rows), title, notes, for_people=True)
    every = [
        (name, str(study.measure), query, count, mean)
        for name, found in study.queries.items()
        for query, (count, mean) in enumerate(zip(*(each.tolist() for each in found.by_position), strict=True), 1)
    ]
    columns = _for_machines(("run", "measure"), ("query", "sessions"), ("value",))
    yield Table(columns, tuple(every), "Queries by position")


def _last(study: SessionStudy, places: int) -> Table:
    columns = (
        Column("run"),
        Column("last queries", "count"),
        Column("mean of last", "number", places),
        Column("earlier queries", "count"),
        Column("mean of earlier", "number", places),
    )
    rows = tuple((name, *found.last_queries, *found.earlier_queries) for name, found in study.queries.items())
    title = f"{study.measure} of last queries and of earlier ones"
    return Table(columns, rows, title, _about_unjudged(study))


def _about_unjudged(study: SessionStudy) -> tuple[str, ...]:
    is_some = any(found.unjudged for found in study.queries.values())
    return ("queries without judgments do not count here",) if is_some else ()


def _correlations(ratings: RatingCorrelations, places: int) -> Table:
    per_cent = f"{number_text(round(100 * ratings.confidence, 10))} %"
    columns = (
        Column("run"),
        Column("measure"),
        Column("coefficient"),
        Column("value", "number", places),
        Column("low", "number", places),
        Column("high", "number", places),
        Column("sessions", "count"),
    )
    rows = tuple(
        (name, str(measure), each.coefficient, each.value, each.low, each.high, each.n)
        for (name, measure), found in ratings.found.items()
        for each in found
    )
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
            shown = ", ".join(map(printable, sessions[:_SHOWN])) + (", ..." if len(sessions) > _SHOWN else "")
            count = count_of(len(sessions), "session")
            lines.append(f"{printable(name, 80)}: {count} without {printable(ratings.rating)}, not correlated: {shown}")
    return lines


def _for_machines(texts: tuple[str, ...], counts: tuple[str, ...], numbers: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return (
        *(Column(name, for_machines=True) for name in texts),
        *(Column(name, "count", for_machines=True) for name in counts),
        *(Column(name, "number", for_machines=True) for name in numbers),
    )
