"""Queries per session, gain of queries by position, and gain by cost.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, ECIR 2008, section 3.2 and Figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gainful.data.lists import sum_by
from gainful.frozen import dataclass
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_gain import SessionGain
from gainful.measures.session_measures import GainPerCost
from gainful.notation import number_text
from gainful.pages.charts import Axis, Band, Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head
from gainful.tasks.curves.averages import Resampling, value_columns

#: Maximum number of query columns.
_MOST_COLUMNS = 12


class ByPosition(NamedTuple):
    """Number of sessions with a first, second, ... query, and the mean sDCG of that query.

    If judgments are by query, only judged queries count.
    """

    counts: Ints
    means: Floats


class Queries(NamedTuple):
    """A number of queries and their mean, NaN if there are none."""

    number: int
    mean: float


@dataclass(frozen=True, eq=False)
class SystemQueries:
    """Values of the queries of one system's judged sessions; queries without judgments only advance the position.

    ``session_counts[i]`` is the number of sessions with exactly i + 1 queries. ``missing`` sessions are scored as 0;
    their numbers of queries are unknown.
    """

    session_counts: Ints
    by_position: ByPosition
    last_queries: Queries
    earlier_queries: Queries
    missing: int = 0

    @property
    def last(self) -> float:
        """The mean of the sessions' last queries."""
        return self.last_queries.mean

    @property
    def earlier(self) -> float:
        """The mean of all earlier queries, NaN if there are none."""
        return self.earlier_queries.mean

    @property
    def sessions(self) -> int:
        return int(self.session_counts.sum()) + self.missing

    @property
    def unjudged(self) -> int:
        """The number of queries without judgments, which do not count."""
        return self.queries - self.last_queries.number - self.earlier_queries.number

    @property
    def queries(self) -> int:
        return int((self.session_counts * np.arange(1, self.session_counts.size + 1)).sum())

    @property
    def average(self) -> float:
        known = self.sessions - self.missing
        return self.queries / known if known else math.nan


class QueryValues:
    """The value of every query, discounted by position; only judged queries count."""

    def __init__(self, measure: SessionGain) -> None:
        self.measure = measure
        self._lengths: list[Ints] = []  # of sessions
        self._columns: list[tuple[Ints, Bools, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0))]

    def add(self, block: SessionBlock) -> None:
        """Add a block's queries: position, whether it is the last, value."""
        seen, kept = block.seen_by(self.measure), block.is_judged_turn
        values = self.measure.by_turn(self.measure.worth(seen, self.measure.depths(seen)), seen.position)
        self._lengths.append(block.queries[block.is_judged])
        self._columns.append((block.position[kept], block.is_last_turn[kept], values[kept]))

    def found(self, sessions: int | None) -> SystemQueries:
        """Return the results; the rest of ``sessions``, if that number is known, are missing."""
        lengths = np.concatenate([np.zeros(0, np.int64), *self._lengths])
        position, is_last, values = (np.concatenate(each) for each in zip(*self._columns, strict=True))
        counts = np.bincount(position)[1:]
        by_place = np.split(values[np.argsort(position, kind="stable")], np.cumsum(counts)[:-1])
        session_counts = np.bincount(lengths)[1:]
        missing = 0 if sessions is None else sessions - int(session_counts.sum())
        means = np.array([_mean(each) for each in by_place]) if counts.size else np.zeros(0)
        last, earlier = (Queries(int(each.size), _mean(each)) for each in (values[is_last], values[~is_last]))
        return SystemQueries(session_counts, ByPosition(counts, means), last, earlier, missing)


def _mean(values: Floats) -> float:
    return math.fsum(values) / values.size if values.size else math.nan


def length_tables(queries: Mapping[str, SystemQueries]) -> Iterator[Table]:
    """Yield the numbers of sessions with exactly 1, 2, ... queries, for people by system and for machines by number."""
    longest = max(found.session_counts.size for found in queries.values())
    shown = min(longest, _MOST_COLUMNS)
    has_missing = any(found.missing for found in queries.values())
    columns = [Column("run"), Column("sessions", "count"), *(Column(str(q + 1), "count") for q in range(shown))]
    columns += [Column("more", "count")] * (longest > shown) + [Column("missing", "count")] * has_missing
    rows: list[tuple[Cell, ...]] = []
    for name, found in queries.items():
        counts = [*found.session_counts.tolist(), *[0] * (longest - found.session_counts.size)]
        more = (sum(counts[shown:]),) if longest > shown else ()
        missing = (found.missing,) if has_missing else ()
        rows.append((name, found.sessions, *counts[:shown], *more, *missing, found.average))
    title = "Sessions by number of queries"
    yield Table((*columns, Column("average", "number", 2)), tuple(rows), title, for_people=True)
    every: list[tuple[Cell, ...]] = [
        (name, number, count)
        for name, found in queries.items()
        for number, count in enumerate(found.session_counts.tolist(), 1)
    ]
    every += [(name, None, found.missing) for name, found in queries.items() if found.missing]
    yield Table(head("run | queries # | sessions #", for_machines=True), tuple(every), title)


def position_tables(queries: Mapping[str, SystemQueries], measure: SessionGain, places: int) -> Iterator[Table]:
    """Yield the values and numbers of first, second, ... queries, then of last and earlier queries."""
    longest = max(found.session_counts.size for found in queries.values())
    shown = min(longest, _MOST_COLUMNS)
    rows: list[tuple[Cell, ...]] = []
    every: list[tuple[Cell, ...]] = []
    for name, found in queries.items():
        counts, means = (each.tolist() for each in found.by_position)
        gap = (None,) * (shown - len(counts))
        rows.append((name, "sessions", *map(str, counts[:shown]), *gap))
        rows.append((name, str(measure), *means[:shown], *gap))
        of_query = enumerate(zip(counts, means, strict=True), 1)
        every += [(name, str(measure), query, count, mean) for query, (count, mean) in of_query]
    is_unjudged = any(found.unjudged for found in queries.values())
    about = ("queries without judgments do not count",) if is_unjudged else ()
    cut = (f"the first {shown} of {longest} positions",) if longest > shown else ()
    columns = (Column("run"), Column("of"), *(Column(f"Q{q + 1}", "number", places) for q in range(shown)))
    title = f"{measure} of a query by its position in the session"
    yield Table(columns, tuple(rows), title, (*about, *cut), for_people=True)
    columns = head("run | measure | query # | sessions # | value .", for_machines=True)
    yield Table(columns, tuple(every), "Queries by position")
    columns = head(f"run | last queries # | mean of last .{places} | earlier queries # | mean of earlier .{places}")
    last = tuple((name, *found.last_queries, *found.earlier_queries) for name, found in queries.items())
    yield Table(columns, last, f"{measure} of last queries and of earlier ones", about)


#: Points of a curve, from no cost to the highest, and columns of the table.
_POINTS, _SHOWN = 101, 5


@dataclass(frozen=True, eq=False)
class CostCurve:
    """One system's cost and gain per session, and the mean gain of its sessions at each cost.

    A session that has ended keeps its gain. ``unknown`` sessions have no recorded cost and are excluded.
    """

    run: str
    cost: Floats
    gain: Floats
    x: Floats
    values: Floats
    band: Band | None
    unknown: int

    @property
    def rate(self) -> float | None:
        """Total gain divided by total cost; None if the total cost is 0."""
        whole = float(self.cost.sum())
        return float(self.gain.sum()) / whole if whole else None


class CostsGathered:
    """Collector of documents with gain, each with the cost of its session up to it."""

    def __init__(self, measure: GainPerCost) -> None:
        self._measure = measure
        self._cost: list[Floats] = []
        self._events: list[tuple[Ints, Floats, Floats]] = []
        self._count = 0

    def add(self, block: SessionBlock) -> None:
        kept = block.is_judged
        number = np.cumsum(kept) - 1 + self._count
        session, cost, gain = self._measure.events(block)
        self._events.append((number[session], cost, gain))
        self._cost.append(sum_by(block.session, self._measure.turn_costs(block), block.size)[kept])
        self._count += int(kept.sum())

    @property
    def highest(self) -> float:
        """The cost of the most expensive session."""
        return max((float(np.nanmax(cost)) for cost in self._cost if not np.isnan(cost).all()), default=0.0)

    def curve(self, run: str, highest: float, resampling: Resampling | None) -> CostCurve:
        """Return the mean gain by cost, with a band from resampled sessions."""
        cost = np.concatenate([np.zeros(0), *self._cost])
        session, at, gain = (np.concatenate([each[i] for each in self._events]) for i in range(3))
        known = ~np.isnan(cost)
        x = np.linspace(0.0, highest, _POINTS)
        # A gain counts at its cost and at all higher costs.
        by_place = np.zeros((cost.size, _POINTS))
        counts = known[session]
        np.add.at(by_place, (session[counts], np.searchsorted(x, at[counts] * (1 - 1e-12), side="left")), gain[counts])
        gained = np.cumsum(by_place, axis=1)[known]
        count = int(known.sum())
        found = None if resampling is None else resampling.band(np.arange(_POINTS), gained, np.ones(count))
        band = None if found is None else Band(*(tuple(each.tolist()) for each in (x, found.low, found.high)))
        values = gained.mean(axis=0) if count else np.full(_POINTS, np.nan)
        return CostCurve(run, cost[known], gained[:, -1], x, values, band, cost.size - count)


@dataclass(frozen=True, eq=False)
class CostCurves:
    """The curves of all systems at the same costs; drawn only with resampling."""

    measure: GainPerCost
    curves: tuple[CostCurve, ...]
    resampling: Resampling | None

    @classmethod
    def of(
        cls, measure: GainPerCost, gathered: Mapping[str, CostsGathered], resampling: Resampling | None
    ) -> CostCurves:
        """Return the curves of all systems, up to the cost of the most expensive session."""
        highest = max(each.highest for each in gathered.values())
        return cls(measure, tuple(each.curve(run, highest, resampling) for run, each in gathered.items()), resampling)

    def parts(self, places: int) -> Iterator[Table | Chart]:
        """Yield a table, the chart if requested, and all values."""
        costs = str(self.measure)
        if "cost_query=" not in costs or "cost_document=" not in costs:  # names omit defaults
            query = self.measure.cost_query
            query = query if isinstance(query, str) else number_text(query)
            costs = f"{costs}: a query {query}, a document {number_text(self.measure.cost_document)}"
        at = np.linspace(0, _POINTS - 1, _SHOWN).round().astype(np.int64).tolist()[1:]
        columns = (
            Column("run"),
            Column("sessions", "count", get=lambda curve: curve.cost.size),
            Column("mean cost", "number", places, get=lambda curve: float(curve.cost.mean())),
            Column("mean gain", "number", places, get=lambda curve: float(curve.gain.mean())),
            Column("gain / cost", "number", places, get=lambda curve: curve.rate),
            *value_columns([(f"by {self.curves[0].x[i]:.4g}", i + 1) for i in at], (), "", places),
        )
        notes = ["gain / cost: total gain / total cost; by N: mean gain of sessions up to cost N"]
        unknown = [f"{curve.run} {curve.unknown}" for curve in self.curves if curve.unknown]
        if unknown:
            notes.append(f"sessions without a recorded cost, omitted: {', '.join(unknown)}")
        yield Table.of(columns, self.curves, title=f"Gain and cost, {costs}", notes=tuple(notes))
        if self.resampling is not None:
            lines = tuple(Line(c.run, tuple(c.x.tolist()), tuple(c.values.tolist()), band=c.band) for c in self.curves)
            caption = self.resampling.about("sessions") if any(line.band for line in lines) else ""
            x, y = Axis("cost", 0.0), Axis("mean gain", 0.0)
            yield Plot(f"Mean gain by cost, {costs}", x, y, lines, caption=caption)
            points = ((line.name, *point) for line in lines for point in zip(line.x, line.y, strict=True))
            yield Table(head("run | cost . | gain .", for_machines=True), tuple(points), "Gain by cost")
