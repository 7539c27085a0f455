"""What sessions have given after a cost, in time, money or tokens: a curve a system, with its band, chart and table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from gainful.data.lists import sum_by
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cost import GainPerCost
from gainful.notation import number_text
from gainful.pages.charts import Axis, Band, Chart, Line, Plot
from gainful.pages.page import Column, Table, head
from gainful.tasks.curves.averages import NO_BANDS, Resampling, percentile_band, resampled

#: A curve has so many points from no cost to the highest of all sessions; and so many stand in the table.
_POINTS, _SHOWN = 101, 5


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

    def add(self, block: SessionBlock) -> None:
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
        counts = known[session]
        np.add.at(by_place, (session[counts], np.searchsorted(x, at[counts] * (1 - 1e-12), side="left")), gain[counts])
        gained = np.cumsum(by_place, axis=1)[known]
        count, band = int(known.sum()), None
        resamples = resampling.resamples(count)
        if resamples is not None:
            drawn = resampled(resamples, gained, np.ones(count))
            found = percentile_band(np.arange(_POINTS), drawn, resampling.confidence)
            band = None if found is None else Band(*(tuple(each.tolist()) for each in (x, found.low, found.high)))
        values = gained.mean(axis=0) if count else np.full(_POINTS, np.nan)
        return CostCurve(run, cost[known], gained[:, -1], x, values, band, cost.size - count)


@dataclass(frozen=True, eq=False)
class CostCurves:
    """The curves of all systems, by the same costs; ``is_drawn``: they are asked for as a chart."""

    measure: GainPerCost
    curves: tuple[CostCurve, ...]
    resampling: Resampling
    is_drawn: bool

    @classmethod
    def of(
        cls, measure: GainPerCost, gathered: Mapping[str, CostsGathered], resampling: Resampling | None
    ) -> CostCurves:
        """All systems to the cost of the dearest session of all; without resampling nothing is drawn."""
        highest = max(each.highest for each in gathered.values())
        drawn = resampling or NO_BANDS
        curves = tuple(each.curve(run, highest, drawn) for run, each in gathered.items())
        return cls(measure, curves, drawn, resampling is not None)

    def parts(self, places: int) -> Iterator[Table | Chart]:
        """A table, the chart if it is wanted, and all values."""
        costs = str(self.measure)
        if "cost_query=" not in costs or "cost_document=" not in costs:  # a name leaves out what is a default
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
            *(Column(f"by {self.curves[0].x[i]:.4g}", "number", places, get=partial(_mean_gain_at, i)) for i in at),
        )
        notes = ["gain / cost: all gain by all cost; by ...: the mean gain of sessions when they have cost so much"]
        unknown = [f"{curve.run} {curve.unknown}" for curve in self.curves if curve.unknown]
        if unknown:
            notes.append(f"sessions without a recorded cost, left out: {', '.join(unknown)}")
        yield Table.of(columns, self.curves, title=f"Gain and cost, {costs}", notes=tuple(notes))
        if self.is_drawn:
            lines = tuple(Line(c.run, tuple(c.x.tolist()), tuple(c.values.tolist()), band=c.band) for c in self.curves)
            caption = self.resampling.about("sessions") if any(line.band for line in lines) else ""
            x, y = Axis("cost", 0.0), Axis("mean gain", 0.0)
            yield Plot(f"Mean gain by cost, {costs}", x, y, lines, caption=caption)
            points = ((line.name, *point) for line in lines for point in zip(line.x, line.y, strict=True))
            yield Table(head("run | cost . | gain .", for_machines=True), tuple(points), "Gain by cost")


def _mean_gain_at(place: int, curve: CostCurve) -> float:
    return float(curve.values[place])
