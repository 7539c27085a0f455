"""Which queries of a session give how much: by their position, and the last one against all earlier ones and against
the best; and what sessions have given after a cost, in time, money or tokens, with its bands, chart and table.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, ECIR 2008, section 3.2 and Figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import sum_by
from gainful.data.qrels import QrelsLike
from gainful.data.sessions import Sessions
from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.base import Measure
from gainful.measures.block import condenses
from gainful.measures.catalog import parse
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cost import GainPerCost
from gainful.measures.session_cumulation import SessionGain
from gainful.notation import number_text
from gainful.pages.charts import Axis, Band, Chart, Line, Plot
from gainful.pages.page import Column, Table, head
from gainful.policy import Policy
from gainful.tasks.curves.averages import FEWEST, Resampling, percentile_band, resampled
from gainful.tasks.sessions.session_evaluation import score_systems


class LastAndEarlier(NamedTuple):
    """Mean sDCG vectors by rank, 1 to k: of the last queries, of all earlier ones together, and of the best query of
    each session, the later one of equals; how many these are.

    Without any earlier query their vector is NaN.
    """

    last: Floats
    earlier: Floats
    best: Floats
    last_count: int
    earlier_count: int
    best_count: int


class ByPosition(NamedTuple):
    """For the first query of a session, the second, ...: how many sessions have it, and the mean sDCG of the query.

    Where judgments are by query, only queries that have some count.
    """

    counts: Ints
    means: Floats


def last_and_earlier(
    qrels: QrelsLike | Judged,
    sessions: Sessions,
    measure: str | Measure = "sDCG@100",
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
) -> LastAndEarlier:
    """What the last query of sessions gives down to every rank, and what the earlier ones give, not normalised.

    Every query is discounted by its position. A session of one query has a last one only.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["a", "b"], ["x", "b"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> found = last_and_earlier({"t": {"a": 1, "b": 2}}, sessions, "sDCG(query_base=2)@2")
    >>> found.last.tolist(), found.earlier.tolist()
    ([0.5, 0.75], [1.0, 2.0])
    """
    sums = LastSums(gain_by_query(measure))
    _watched(Judged.of(qrels, policy), sessions, sums, judged_by)
    return sums.found()


def by_position(
    qrels: QrelsLike | Judged,
    sessions: Sessions,
    measure: str | Measure = "sDCG@10",
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
) -> ByPosition:
    """What the first queries of sessions give on average, what the second ones give, and so on, not normalised.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["a", "b"], ["b"]], "s2": [["b"]]}, {"s1": "t", "s2": "t"})
    >>> found = by_position({"t": {"a": 1, "b": 2}}, sessions, "sDCG(query_base=2)@2")
    >>> found.counts.tolist(), found.means.tolist()
    ([2, 1], [2.0, 1.0])
    """
    values = QueryValues(gain_by_query(measure))
    _watched(Judged.of(qrels, policy), sessions, values, judged_by)
    return values.by_position()


def _watched(judged: Judged, sessions: Sessions, gathered: QueryValues | LastSums, judged_by: str | None) -> None:
    """Gathers the queries of one system's sessions, and of those that are missing."""
    score_systems(judged, {"": sessions}, [gathered.measure], lambda _: gathered.add, judged_by=judged_by)


class Queries(NamedTuple):
    """So many queries, and what they give on average, NaN if there are none."""

    number: int
    mean: float


class LastAgainstBest(NamedTuple):
    """Sessions of several queries that gain something, in how many of them no query gives more than the last one.

    Queries are compared as they count, discounted by their positions, and as lists, without that discount.
    ``without_gain`` more sessions of several queries gain nothing at all, so that no query of theirs is the best.
    """

    sessions: int
    last_is_best: int
    last_is_best_list: int
    without_gain: int


#: Of no session anything is known.
NO_SESSIONS = LastAgainstBest(0, 0, 0, 0)


class QueryValues:
    """What every query of some sessions gives, discounted by its position; only what has judgments counts."""

    def __init__(self, measure: SessionGain) -> None:
        self.measure = measure
        self._length: list[Ints] = []
        self._session: list[Ints] = []
        self._sessions = 0
        self._position: list[Ints] = []
        self._is_last: list[Bools] = []
        self._value: list[Floats] = []
        self._of_list: list[Floats] = []

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes a block's queries in."""
        seen = _seen(block, self.measure)
        worth = self.measure.worth(seen, self.measure.depths(seen))
        values, of_lists = (
            self.measure.by_turn(worth, position) for position in (seen.position, np.ones_like(seen.position))
        )
        counted = block.is_judged_turn
        self._length.append(block.queries[block.is_judged])
        self._session.append(block.session[counted] + self._sessions)
        self._sessions += block.size
        self._position.append(block.position[counted].astype(np.int32))
        self._is_last.append(_is_last(block)[counted])
        self._value.append(values[counted])
        self._of_list.append(of_lists[counted])

    def by_position(self) -> ByPosition:
        """How many sessions have a first query that is judged, a second, ..., and what these give on average."""
        position, value = _joined(self._position), _joined(self._value)
        if not position.size:
            return ByPosition(np.zeros(0, np.int64), np.zeros(0))
        counts = np.bincount(position)[1:]
        by_place = np.split(value[np.argsort(position, kind="stable")], np.cumsum(counts)[:-1])
        return ByPosition(counts, np.array([_mean(values) for values in by_place]))

    def session_counts(self) -> Ints:
        """How many sessions have exactly 1 query, exactly 2, ..."""
        length = _joined(self._length)
        return np.bincount(length)[1:] if length.size else np.zeros(0, np.int64)

    def last_and_earlier(self) -> tuple[Queries, Queries]:
        """The last queries of sessions, and all earlier ones."""
        value, is_last = _joined(self._value), _joined(self._is_last).astype(bool)
        last, earlier = (Queries(int(each.size), _mean(each)) for each in (value[is_last], value[~is_last]))
        return last, earlier

    def last_against_best(self) -> LastAgainstBest:
        """How often the last query of a session is its best; as good as another is best, too."""
        session, is_last = _joined(self._session), _joined(self._is_last).astype(bool)
        if not session.size:
            return NO_SESSIONS
        starts = np.flatnonzero(np.diff(session, prepend=-1))
        ends = np.append(starts[1:], session.size) - 1
        # Where judgments are by query, the last query may have none.
        several = (ends > starts) & is_last[ends]
        of_several: list[tuple[Floats, Floats]] = []
        for values in (_joined(self._value), _joined(self._of_list)):
            of_several.append((values[ends][several], np.maximum.reduceat(values, starts)[several]))
        gains = of_several[0][1] > 0
        as_counted, as_lists = (int(np.count_nonzero(gains & (last >= best))) for last, best in of_several)
        return LastAgainstBest(int(gains.sum()), as_counted, as_lists, int((~gains).sum()))


class LastSums:
    """The vectors of last queries and of earlier ones, added up; only what has judgments counts."""

    def __init__(self, measure: SessionGain) -> None:
        if measure.cutoff is None:
            raise UsageError(f"{measure}: expected a cutoff, found none", f"write {measure.name}@100")
        self.measure, self._depth = measure, measure.cutoff
        self._sums = tuple(RankSums(self._depth) for _ in range(3))
        self._counts = [0, 0, 0]
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes a block's queries in."""
        is_last, counted = _is_last(block), block.is_judged_turn
        for which, some in _seen(block, self.measure).parts(block.queries * self._depth):
            first = int(block.turn_offsets[which.start])
            turns = slice(first, first + some.session.size)
            vectors, known = self._vectors(some), counted[turns]
            is_best = _is_best(some.session, vectors[:, -1], known)
            for i, wanted in enumerate((is_last[turns], ~is_last[turns], is_best)):
                rows = vectors[wanted & known]
                self._sums[i].add(rows)
                self._counts[i] += rows.shape[0]
        self.longest = max(self.longest, longest_judged(block))

    def _vectors(self, block: SessionBlock) -> Floats:
        """Turns x ranks."""
        worth = self.measure.worth(block, self.measure.depths(block))
        steps = np.zeros((block.session.size, self._depth))
        inside = worth.rank <= self._depth  # a recorded depth can be beyond k
        values = worth.value / self.measure.divisors_at(block.position)[worth.turn]
        steps[worth.turn[inside], worth.rank[inside] - 1] = values[inside]
        return np.asarray(np.cumsum(steps, axis=1))

    def found(self) -> LastAndEarlier:
        """The means."""
        last, earlier, best = (
            sums.total / count if count else np.full(self._depth, np.nan)
            for sums, count in zip(self._sums, self._counts, strict=True)
        )
        return LastAndEarlier(last, earlier, best, *self._counts)


def gain_by_query(measure: str | Measure) -> SessionGain:
    """The measure, if it is one whose values by query can be added up."""
    found = parse(measure)
    if not isinstance(found, SessionGain) or found.normalised or found.summary != "final":
        raise UsageError(f"{found}: expected sDCG, whose values by query are wanted", "write sDCG@10")
    return found


def longest_judged(block: SessionBlock) -> int:
    """How many queries the longest judged session has."""
    return int(block.queries[block.is_judged].max(initial=0))


def _seen(block: SessionBlock, measure: SessionGain) -> SessionBlock:
    return block.condensed() if condenses(measure, block.judged.policy) else block


def _is_last(block: SessionBlock) -> Bools:
    """Which turns are the last of their session."""
    is_last = np.zeros(block.session.size, bool)
    is_last[block.turn_offsets[1:][block.queries > 0] - 1] = True
    return is_last


def _is_best(session: Ints, values: Floats, counted: Bools) -> Bools:
    """Which turn of each session gives the most of those that count; of equals the last."""
    turns = np.flatnonzero(counted)
    order = turns[np.lexsort((turns, values[turns], session[turns]))]
    is_best = np.zeros(session.size, bool)
    is_best[order[np.flatnonzero(np.diff(session[order], append=-1))]] = True
    return is_best


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _mean(values: Floats) -> float:
    return math.fsum(values) / values.size if values.size else math.nan


#: A curve has so many points from no cost to the highest of all sessions; and so many stand in the table.
_POINTS, _SHOWN = 101, 5


def costed(measures: Sequence[Measure]) -> GainPerCost | None:
    """The measure whose costs are looked at: the first that has them."""
    return next((measure for measure in measures if isinstance(measure, GainPerCost)), None)


@dataclass(frozen=True, eq=False)
class CostCurve:
    """A system: the cost and the gain of each of its sessions, and what these have gained on average by each cost.

    After its end a session stays as it is. ``unknown`` sessions have no recorded cost, and take no part.
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
        """All gain by all cost; None where nothing costs anything."""
        whole = float(self.cost.sum())
        return float(self.gain.sum()) / whole if whole else None


class CostsGathered:
    """Gathers the documents that gain something, with what their sessions had cost by then."""

    def __init__(self, measure: GainPerCost) -> None:
        self._measure = measure
        self._cost: list[Floats] = []
        self._events: list[tuple[Ints, Floats, Floats]] = []
        self._count = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes the judged sessions of a block in."""
        kept = block.is_judged
        number = np.cumsum(kept) - 1 + self._count
        session, cost, gain = self._measure.events(block)
        self._events.append((number[session], cost, gain))
        self._cost.append(sum_by(block.session, self._measure.turn_costs(block), block.size)[kept])
        self._count += int(kept.sum())

    @property
    def highest(self) -> float:
        """What the dearest session costs."""
        return max((float(np.nanmax(cost)) for cost in self._cost if not np.isnan(cost).all()), default=0.0)

    def curve(self, run: str, highest: float, resampling: Resampling) -> CostCurve:
        """The mean gain by cost, and its band over resampled sessions."""
        cost = np.concatenate([np.zeros(0), *self._cost])
        session, at, gain = (np.concatenate([each[i] for each in self._events]) for i in range(3))
        known = ~np.isnan(cost)
        x = np.linspace(0.0, highest, _POINTS)
        # What is gained by a cost is there at all places from it on.
        by_place = np.zeros((cost.size, _POINTS))
        told = known[session]
        np.add.at(by_place, (session[told], np.searchsorted(x, at[told] * (1 - 1e-12), side="left")), gain[told])
        gained = np.cumsum(by_place, axis=1)[known]
        count, band = int(known.sum()), None
        resamples = resampling.resamples(count) if count >= FEWEST else None
        if resamples is not None:
            drawn = resampled(resamples, gained, np.ones(count))
            found = percentile_band(np.arange(_POINTS), drawn, resampling.confidence)
            band = None if found is None else Band(*(tuple(each.tolist()) for each in (x, found.low, found.high)))
        values = gained.mean(axis=0) if count else np.full(_POINTS, np.nan)
        return CostCurve(run, cost[known], gained[:, -1], x, values, band, cost.size - count)


def _value_at(place: int, curve: CostCurve) -> float:
    return float(curve.values[place])


@dataclass(frozen=True, eq=False)
class CostCurves:
    """The curves of all systems, by the same costs; ``is_drawn``: they are asked for as a chart."""

    measure: GainPerCost
    curves: tuple[CostCurve, ...]
    resampling: Resampling
    is_drawn: bool

    @classmethod
    def of(
        cls, measure: GainPerCost, gathered: Mapping[str, CostsGathered], resampling: Resampling, is_drawn: bool
    ) -> CostCurves:
        """All systems to the cost of the dearest session of all."""
        highest = max(each.highest for each in gathered.values())
        drawn = resampling if is_drawn else Resampling(0, resampling.seed, resampling.confidence)
        return cls(measure, tuple(each.curve(run, highest, drawn) for run, each in gathered.items()), drawn, is_drawn)

    @property
    def _costs(self) -> str:
        """The measure with both costs: its name leaves out what is a default."""
        name, query, document = str(self.measure), self.measure.cost_query, self.measure.cost_document
        if "cost_query=" in name and "cost_document=" in name:
            return name
        query = query if isinstance(query, str) else number_text(query)
        return f"{name}: a query {query}, a document {number_text(document)}"

    def parts(self, places: int) -> Iterator[Table | Chart]:
        """A table, the chart if it is wanted, and all values."""
        yield self._table(places)
        if self.is_drawn:
            lines = tuple(Line(c.run, tuple(c.x.tolist()), tuple(c.values.tolist()), band=c.band) for c in self.curves)
            has_band = any(line.band for line in lines)
            caption = self.resampling.about("sessions") if has_band else ""
            title = f"Mean gain by cost, {self._costs}"
            yield Plot(title, Axis("cost", 0.0), Axis("mean gain", 0.0), lines, caption=caption)
            points = (
                (c.run, *point) for c in self.curves for point in zip(c.x.tolist(), c.values.tolist(), strict=True)
            )
            yield Table(head("run | cost . | gain .", for_machines=True), tuple(points), "Gain by cost")

    def _table(self, places: int) -> Table:
        at = np.linspace(0, _POINTS - 1, _SHOWN).round().astype(np.int64).tolist()[1:]
        columns = (
            Column("run"),
            Column("sessions", "count", get=lambda curve: curve.cost.size),
            Column("mean cost", "number", places, get=lambda curve: float(curve.cost.mean())),
            Column("mean gain", "number", places, get=lambda curve: float(curve.gain.mean())),
            Column("gain / cost", "number", places, get=lambda curve: curve.rate),
            *(Column(f"by {self.curves[0].x[i]:.4g}", "number", places, get=partial(_value_at, i)) for i in at),
        )
        notes = ["gain / cost: all gain by all cost; by ...: the mean gain of sessions when they have cost so much"]
        unknown = [f"{curve.run} {curve.unknown}" for curve in self.curves if curve.unknown]
        if unknown:
            notes.append(f"sessions without a recorded cost, left out: {', '.join(unknown)}")
        return Table.of(columns, self.curves, title=f"Gain and cost, {self._costs}", notes=tuple(notes))
