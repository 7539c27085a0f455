"""Curves read sideways: how far users have to read with one system to gain what another gives them sooner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.collection import no_such_run
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure, read_whole
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.notation import printable
from gainful.render.showable import Showable
from gainful.tasks.curves.averages import GainCurve

if TYPE_CHECKING:
    from gainful.pages.page import Page
    from gainful.tasks.curves.gain_curves import GainCurves

#: The reference's ranks that others have to catch up with, unless given.
DEFAULT_AT = (5, 10, 20)

#: A value that misses the reference by no more than rounding has reached it.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reach:
    """Where a run has gained what the reference gives by rank ``at``: the rank, None if it never does.

    ``times_reference`` is that rank by ``at``; ``times_best`` is it by the rank of the run that is there first. Where
    the reference gives nothing, nobody has to read: rank 0, and no times.
    """

    run: str
    at: int
    gain: float
    rank: int | None
    times_reference: float | None
    times_best: float | None


@dataclass(frozen=True)
class LastRise:
    """Where a curve turns horizontal: the last rank at which it rises, None if it never does.

    ``still_rises`` if that is the last rank of all: it may go on.
    """

    run: str | None
    rank: int | None
    still_rises: bool


@dataclass(frozen=True)
class Area:
    """What lies between a curve and the ideal: the sum of the distances over all ranks, and its share of the ideal."""

    run: str
    area: float
    share: float


@dataclass(frozen=True)
class Distance:
    """How far a curve is below the ideal over some ranks, at least and at most: in points, and in shares of it."""

    run: str
    first: int
    last: int
    least: float
    most: float
    least_share: float
    most_share: float


@dataclass(frozen=True, eq=False, repr=False)
class Sideways(Showable):
    """What can be read off average curves: ranks that gain as much as the reference, where curves turn horizontal, and
    how far they are from the ideal. The reference is a run, or the ideal (None)."""

    measure: CumulatedGain
    average: str
    reference: str | None
    depth: int
    reaches: tuple[Reach, ...]
    last_rises: tuple[LastRise, ...]
    areas: tuple[Area, ...]
    distances: tuple[Distance, ...]
    conventions: tuple[str, ...] = ()

    @property
    def at(self) -> list[int]:
        """The reference's ranks."""
        return list(dict.fromkeys(reach.at for reach in self.reaches))

    @property
    def runs(self) -> list[str]:
        """The runs that have to catch up."""
        return list(dict.fromkeys(reach.run for reach in self.reaches))

    def rank(self, run: str, at: int) -> int | None:
        """Where a run has gained what the reference gives by rank ``at``; None if not within the depth."""
        for reach in self.reaches:
            if (reach.run, reach.at) == (run, at):
                return reach.rank
        ranks = ", ".join(map(str, self.at))
        raise UsageError(f"nothing was read for run '{printable(run)}' at rank {at}; there are ranks {ranks}")

    def effort(self, run: str, other: str, at: int) -> float | None:
        """How many times as far users read with a run as with another; None where either never gets there."""
        one, two = self.rank(run, at), self.rank(other, at)
        return None if one is None or two is None else one / two

    @property
    def stopping_rank(self) -> int | None:
        """Where the ideal turns horizontal; None if it still rises at the last rank (or never does)."""
        ideal = next((rise for rise in self.last_rises if rise.run is None), None)
        return None if ideal is None or ideal.still_rises else ideal.rank

    def sentences(self) -> list[str]:
        """What a person would say of it."""
        from gainful.tasks.curves.gain_page import sentences

        return sentences(self)

    def page(self, places: int = 4) -> Page:
        """Tables and sentences."""
        from gainful.tasks.curves.gain_page import sideways_page

        return sideways_page(self, places)


def sideways_of(
    curves: GainCurves,
    measure: str | Measure | None,
    reference: str | None,
    at: Sequence[int] | None,
    regions: Sequence[tuple[int, int]] | None,
    average: str | None,
) -> Sideways:
    """Reads the curves of a measure sideways; see :meth:`GainCurves.sideways`."""
    chosen = _measure(curves, measure, reference)
    of_runs = [curves.curve(run, chosen, average) for run in curves.runs]
    depth = curves.depth(chosen)
    whole = np.ones(depth) if chosen.normalised else curves.ideal(chosen).values
    ideals = [whole if curve.own_ideal is None else curve.own_ideal for curve in of_runs]
    ranks = read_ranks(at, depth)
    leaders = ideals
    if reference is not None:
        leaders = [_reference(curves, reference, chosen, average).values] * len(of_runs)
    others = [pair for pair in zip(of_runs, leaders, strict=True) if pair[0].run != reference]
    with_ideals = list(zip(of_runs, ideals, strict=True))
    return Sideways(
        chosen,
        of_runs[0].average,
        reference,
        depth,
        tuple(reach for rank in ranks for reach in _reaches(others, rank)),
        () if chosen.normalised else tuple(_last_rise(curve) for curve in (curves.ideal(chosen), *of_runs)),
        tuple(_area(*pair) for pair in with_ideals),
        tuple(_distance(*pair, *region) for region in read_regions(regions, depth) for pair in with_ideals),
        tuple(curves.conventions),
    )


def _measure(curves: GainCurves, measure: str | Measure | None, reference: str | None) -> CumulatedGain:
    if measure is not None:
        chosen = curves.measure(measure)
    else:
        chosen = next((known for known in curves.measures if not known.normalised), curves.measures[0])
    if chosen.normalised and reference is None:
        raise UsageError(
            f"{chosen}: expected a reference, found none: the ideal of a normalised measure is 1 at every rank",
            "read CG or DCG sideways, or take a run as the reference",
        )
    return chosen


def _reference(curves: GainCurves, run: str, measure: CumulatedGain, average: str | None) -> GainCurve:
    if run not in curves.runs:
        raise no_such_run(run, curves.runs, "reference")
    if len(curves.runs) == 1:
        raise UsageError(f"reference: expected other runs beside '{printable(run)}', found none")
    return curves.curve(run, measure, average)


def read_ranks(at: Sequence[int] | None, depth: int) -> list[int]:
    """The reference's ranks: those given, or the usual ones as far as the curves go."""
    if at is None:
        return [rank for rank in DEFAULT_AT if rank <= depth] or [depth]
    ranks = sorted({read_whole(rank, "at") for rank in at})
    if not ranks:
        raise UsageError("at: expected at least one rank, found none")
    if ranks[-1] > depth:
        raise UsageError(f"at: expected ranks down to {depth}, where the curves end, found {ranks[-1]}", _DEEPER)
    return ranks


_DEEPER = "@k is the depth: CG@1000"


def read_regions(regions: Sequence[tuple[int, int]] | None, depth: int) -> list[tuple[int, int]]:
    """Rank regions: those given, or 1-10, 11-50, 51-100, 101-500, ... as far as the curves go."""
    if regions is None:
        ends = [10]
        while ends[-1] < depth:
            ends.append(ends[-1] * (5 if len(ends) % 2 else 2))
        return [(before + 1, min(end, depth)) for before, end in zip([0, *ends], ends, strict=False)]
    read = [(read_whole(first, "regions"), read_whole(last, "regions")) for first, last in regions]
    for first, last in read:
        if not first <= last <= depth:
            raise UsageError(
                f"regions: expected ranks from 1 to {depth}, the first before the last, found {first}-{last}",
                _DEEPER if last > depth else None,
            )
    return read


def _reaches(curves: Sequence[tuple[GainCurve, Floats]], at: int) -> list[Reach]:
    """Where each run reaches what its leader has at a rank."""
    gains = [float(leader[at - 1]) for _, leader in curves]
    ranks = [first_rank(curve.values, gain) if gain > 0 else 0 for (curve, _), gain in zip(curves, gains, strict=True)]
    best = min((rank for rank in ranks if rank), default=None)
    return [
        Reach(str(curve.run), at, gain, rank, _times(rank, at), _times(rank, best))
        for (curve, _), gain, rank in zip(curves, gains, ranks, strict=True)
    ]


def _times(rank: int | None, other: int | None) -> float | None:
    return rank / other if rank and other else None


def first_rank(values: Floats, gain: float) -> int | None:
    """The first rank at which a curve reaches a value; None if it never does.

    >>> first_rank(np.array([0.0, 2.0, 2.0, 5.0]), 2.0), first_rank(np.array([0.0, 2.0]), 3.0)
    (2, None)
    """
    there = np.flatnonzero(values >= gain - abs(gain) * _ROUNDING)
    return int(there[0]) + 1 if there.size else None


def _last_rise(curve: GainCurve) -> LastRise:
    last = float(curve.values[-1])
    if not last > 0:
        return LastRise(curve.run, None, False)
    rank = first_rank(curve.values, last)
    return LastRise(curve.run, rank, rank == curve.depth)


def _area(curve: GainCurve, ideal: Floats) -> Area:
    area, whole = math.fsum(ideal - curve.values), math.fsum(ideal)
    return Area(str(curve.run), area, area / whole if whole else math.nan)


def _distance(curve: GainCurve, ideal: Floats, first: int, last: int) -> Distance:
    best = ideal[first - 1 : last]
    points = best - curve.values[first - 1 : last]
    points = np.where(np.abs(points) <= best * _ROUNDING, 0.0, points)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(best > 0, points / best, np.nan)
    return Distance(
        str(curve.run), first, last, *(float(end) for end in (points.min(), points.max(), shares.min(), shares.max()))
    )
