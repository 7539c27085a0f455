"""Average curves compared by rank: how far users read with one system for the gain that another gives earlier."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gainful.data.collection import no_such_run
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.notation import count_of, listed, number_text, printable, read_whole
from gainful.pages.page import Cell, Column, Table, head, values_of
from gainful.render import Page, Showable
from gainful.tasks.curves.averages import Curve

#: Default ranks of the reference.
DEFAULT_AT = (5, 10, 20)
#: A value within rounding error of the reference's has reached it.
_ROUNDING = 1e-12
_DEEPER = "@k is the depth: CG@1000"
#: With more runs, a sentence names only the first and the last.
_NAMED = 6
_WIDEST = 80


class Reach(NamedTuple):
    """The rank at which a run reaches the reference's gain at rank ``at``; None if it never does.

    ``times_reference`` is that rank divided by ``at``; ``times_best`` divides by the first run's rank. If the
    reference gains nothing, the rank is 0, without multipliers.
    """

    run: str
    at: int
    gain: float
    rank: int | None
    times_reference: float | None
    times_best: float | None


class LastRise(NamedTuple):
    """The last rank at which a curve rises, where it plateaus; None if it never rises.

    ``still_rises`` if that is the last rank of the curve.
    """

    run: str | None
    rank: int | None
    still_rises: bool


class Area(NamedTuple):
    """The area between a curve and the ideal, summed over ranks, and its share of the area under the ideal."""

    run: str
    area: float
    share: float


class Distance(NamedTuple):
    """Minimum and maximum distance of a curve below the ideal over some ranks, in points and as shares of the ideal."""

    run: str
    first: int
    last: int
    least: float
    most: float
    least_share: float
    most_share: float


@dataclass(frozen=True, eq=False, repr=False)
class Sideways(Showable):
    """Readings of average curves: ranks with the reference's gain, plateaus, and distances from the ideal. The
    reference is a run, or the ideal (None)."""

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
        """The runs compared with the reference."""
        return list(dict.fromkeys(reach.run for reach in self.reaches))

    def rank(self, run: str, at: int) -> int | None:
        """Return the rank at which a run reaches the reference's gain at rank ``at``; None if not within the depth."""
        for reach in self.reaches:
            if (reach.run, reach.at) == (run, at):
                return reach.rank
        ranks = ", ".join(map(str, self.at))
        raise UsageError(f"run '{printable(run)}' was not compared at rank {at}; there are ranks {ranks}")

    def effort(self, run: str, other: str, at: int) -> float | None:
        """Return a run's rank divided by another's; None if either does not reach the gain."""
        one, two = self.rank(run, at), self.rank(other, at)
        return None if one is None or two is None else one / two

    @property
    def _ideal_rise(self) -> LastRise | None:
        return next((rise for rise in self.last_rises if rise.run is None), None)

    @property
    def stopping_rank(self) -> int | None:
        """The rank at which the ideal plateaus; None if it still rises at the last rank (or never does)."""
        return None if self._ideal_rise is None or self._ideal_rise.still_rises else self._ideal_rise.rank

    def sentences(self) -> list[str]:
        """Return sentences on every rank of the reference and on the plateau of the ideal."""
        found, ideal = [sentence for at in self.at for sentence in _rank_sentences(self, at)], self._ideal_rise
        if ideal is None:
            return found
        if ideal.rank is None:
            return [*found, "There is nothing to gain: no judged document has a gain above 0."]
        if ideal.still_rises:
            return [*found, f"The ideal is still rising at rank {self.depth:,}, the last one computed."]
        return [*found, f"The ideal plateaus at rank {ideal.rank:,}: no query has further documents with gain."]

    def data(self) -> dict[str, object]:
        found = {"measure": str(self.measure), **values_of(self, "average | reference | depth | stopping_rank")}
        for kind in ("reaches", "last_rises", "areas", "distances"):
            found[kind] = [
                {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
                for row in (each._asdict() for each in getattr(self, kind))
            ]
        return found

    def tables(self, places: int, *, for_people: bool = False) -> Iterator[Table]:
        """Yield ranks with the same gain, areas and plateaus, and distances by region."""
        # Normalised measures can be averaged in two ways.
        measure = f"{self.measure} ({self.average})" if self.measure.normalised else str(self.measure)
        if self.reaches:
            yield self._reach_table(measure, for_people)
        columns = head(f"run | area .{places} | share of ideal %")
        rows: list[tuple[Cell, ...]] = [(area.run, area.area, area.share) for area in self.areas]
        if self.last_rises:  # the ideal first, then each run
            columns += head("last rise #", none=f"still rising at {self.depth}")
            ranks = [None if rise.still_rises else rise.rank or 0 for rise in self.last_rises]
            rows = [(*row, rank) for row, rank in zip([("(ideal)", None, None), *rows], ranks, strict=True)]
        title = f"Area between {measure} and the ideal, ranks 1-{self.depth}"
        yield Table(columns, tuple(rows), title, for_people=for_people)
        columns = (Column("run"), Column("ranks", get=lambda each: f"{each.first}-{each.last}"))
        columns += head(f"min .{places} ← least | max .{places} ← most")
        title = f"Distance of {measure} from the ideal"
        if not self.measure.normalised:  # otherwise the ideal is 1, and points are shares
            title += ", in points and in %"
            columns += head("min of ideal % ← least_share | max of ideal % ← most_share")
        runs = [area.run for area in self.areas]
        by_run = sorted(self.distances, key=lambda each: runs.index(each.run))
        yield Table.of(columns, by_run, title=title, for_people=for_people)

    def _reach_table(self, measure: str, for_people: bool) -> Table:
        reference, the_reference = self.reference or "ideal", _the(self.reference)
        columns = head("run")
        for at in self.at:
            columns += head(f"for {at} #", none=f"not within {self.depth}")
            columns += (Column(f"{at}: vs {reference}", "number", 2), Column(f"{at}: vs best", "number", 2))
        rows: dict[str, tuple[Cell, ...]] = {run: (run,) for run in self.runs}
        gains: dict[int, set[float]] = {at: set() for at in self.at}
        for reach in self.reaches:
            rows[reach.run] += (reach.rank, reach.times_reference, reach.times_best)
            gains[reach.at].add(reach.gain)
        about = "each run is compared with the ideal of its own queries"
        if all(len(values) == 1 for values in gains.values()):
            about = f"{the_reference}: {', '.join(f'{gain:.4f} at {at}' for at, [gain] in gains.items())}"
        notes = [f"{about}; vs: rank divided by the rank of {the_reference}, or of the best run"]
        if self.measure.normalised:
            notes.append(f"{self.measure} can fall with rank, so a run that starts high may reach the value at once")
        ranks = listed([str(rank) for rank in self.at], "or")
        title = f"Rank at which {measure} reaches the value of {the_reference} at rank {ranks}"
        return Table(columns, tuple(rows.values()), title, tuple(notes), for_people=for_people)

    def page(self, places: int = 4) -> Page:
        return Page("sideways", (*self.sentences(), *self.tables(places)), self.conventions, self.data())


def read_sideways(
    curves: Sequence[Curve[CumulatedGain]],
    ideal: Curve[CumulatedGain] | None,
    own_ideals: Sequence[Floats | None],
    reference: str | None,
    at: Sequence[int] | None,
    regions: Sequence[tuple[int, int]] | None,
    conventions: Sequence[str],
) -> Sideways:
    """Compare the curves of several runs for one measure; ``own_ideals`` are those that differ from the common ideal.

    A normalised measure has no ``ideal``: it is 1 at every rank.
    """
    measure, depth = curves[0].measure, curves[0].depth
    if ideal is None and reference is None and at is not None:
        hint = "use CG or DCG, or a run as the reference"
        raise UsageError(f"{measure}: no gain to reach: the ideal of a normalised measure is 1 at every rank", hint)
    whole = np.ones(depth) if ideal is None else ideal.values
    ideals = [whole if own is None else own for own in own_ideals]
    leaders = ideals
    if reference is not None:
        leader = next((curve for curve in curves if curve.run == reference), None)
        if leader is None:
            raise no_such_run(reference, [str(curve.run) for curve in curves], "reference")
        if len(curves) == 1:
            raise UsageError(f"reference: no other run to compare with '{printable(reference)}'")
        leaders = [leader.values] * len(curves)
    reaches: list[Reach] = []
    others = [(curve, leader) for curve, leader in zip(curves, leaders, strict=True) if curve.run != reference]
    for rank in [] if ideal is None and reference is None else _checked_ranks(at, depth):
        gains = [float(leader[rank - 1]) for _, leader in others]
        there = [first_rank(c.values, gain) if gain > 0 else 0 for (c, _), gain in zip(others, gains, strict=True)]
        best = min((found for found in there if found), default=None)
        for (curve, _), gain, found in zip(others, gains, there, strict=True):
            times = (found / rank, found / best) if found and best else (None, None)
            reaches.append(Reach(str(curve.run), rank, gain, found, *times))
    last_rises = []
    for curve in () if ideal is None else (ideal, *curves):
        last = float(curve.values[-1])
        risen = first_rank(curve.values, last) if last > 0 else None
        last_rises.append(LastRise(curve.run, risen, risen == depth))
    areas = []
    for curve, best_values in zip(curves, ideals, strict=True):
        area, under_ideal = math.fsum(best_values - curve.values), math.fsum(best_values)
        areas.append(Area(str(curve.run), area, area / under_ideal if under_ideal else math.nan))
    distances = []
    for first, to in _checked_regions(regions, depth):
        for curve, best_values in zip(curves, ideals, strict=True):
            part = best_values[first - 1 : to]
            points = part - curve.values[first - 1 : to]
            points = np.where(np.abs(points) <= part * _ROUNDING, 0.0, points)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = np.where(part > 0, points / part, np.nan)
            ends = (float(end) for end in (points.min(), points.max(), shares.min(), shares.max()))
            distances.append(Distance(str(curve.run), first, to, *ends))
    found_of_all = (tuple(reaches), tuple(last_rises), tuple(areas), tuple(distances))
    return Sideways(measure, curves[0].average, reference, depth, *found_of_all, tuple(conventions))


def _checked_ranks(at: Sequence[int] | None, depth: int) -> list[int]:
    if at is None:
        return [rank for rank in DEFAULT_AT if rank <= depth] or [depth]
    ranks = sorted({read_whole(rank, "at") for rank in at})
    if not ranks:
        raise UsageError("at: at least one rank is required")
    if ranks[-1] > depth:
        raise UsageError(f"at: expected ranks up to {depth}, found {ranks[-1]}", _DEEPER)
    return ranks


def _checked_regions(regions: Sequence[tuple[int, int]] | None, depth: int) -> list[tuple[int, int]]:
    """Return the given regions, or 1-10, 11-50, 51-100, 101-500, ... within the depth."""
    if regions is None:
        ends = [10]
        while ends[-1] < depth:
            ends.append(ends[-1] * (5 if len(ends) % 2 else 2))
        return [(before + 1, min(end, depth)) for before, end in zip([0, *ends], ends, strict=False)]
    read = [(read_whole(first, "regions"), read_whole(last, "regions")) for first, last in regions]
    for first, last in read:
        if not first <= last <= depth:
            message = f"regions: expected ranks from 1 to {depth}, the first before the last, found {first}-{last}"
            raise UsageError(message, _DEEPER if last > depth else None)
    return read


def first_rank(values: Floats, gain: float) -> int | None:
    """Return the first rank at which a curve reaches a value; None if it never does.

    >>> first_rank(np.array([0.0, 2.0, 2.0, 5.0]), 2.0), first_rank(np.array([0.0, 2.0]), 3.0)
    (2, None)
    """
    there = np.flatnonzero(values >= gain - abs(gain) * _ROUNDING)
    return int(there[0]) + 1 if there.size else None


def _rank_sentences(found: Sideways, at: int) -> Iterator[str]:
    reaches = [reach for reach in found.reaches if reach.at == at and reach.gain > 0]
    if not reaches:
        return
    there = sorted((reach for reach in reaches if reach.rank is not None), key=lambda reach: reach.rank or 0)
    never = [reach.run for reach in reaches if reach.rank is None]
    goal = f"To gain what {_the(found.reference)} gives in {count_of(at, 'document')}"
    if found.measure.normalised:
        goal = f"To reach the {found.measure} that {_the(found.reference)} has at rank {at}"
    not_enough = f"{count_of(found.depth, 'document')} {'is' if found.depth == 1 else 'are'} not enough"

    def named(many: str) -> str:
        return many if len(never) > _NAMED else listed([printable(run, _WIDEST) for run in never], "or")

    ranks = [f"{reach.rank:,} with {printable(reach.run, _WIDEST)}" for reach in there]
    if not there:
        reading = f"{not_enough} with {named(f'any of {len(never):,} runs')}"
    elif len(there) > _NAMED:
        reading = f"a user reads between {ranks[0]} and {ranks[-1]} ({len(there):,} runs)"
    else:
        reading = f"a user reads {listed(ranks, 'and')}"
    if there and never:
        reading += f"; with {named(f'{len(never):,} other runs')} {not_enough}"
    yield f"{goal}, {reading}."
    times = number_text(round(there[-1].times_best or 1.0, 1)) if there else "1"
    if times != "1":
        slowest, fastest = (printable(there[i].run, _WIDEST) for i in (-1, 0))
        yield f"With {slowest} a user reads {times} times as far as with {fastest}."


def _the(reference: str | None) -> str:
    return "the ideal" if reference is None else printable(reference, _WIDEST)
