"""Gain by rank: what a user has gained by the time they have read down to each rank, averaged over queries.

Read sideways, the curves say how far users have to read with one system to gain what another gives them sooner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gainful.data.collection import no_such_run, require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunLike
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike, check_measures, join_each
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse, parse_all
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import choose, printable, read_whole
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.tasks.curves.averages import (
    AVERAGES,
    MEAN,
    CurvesOfRuns,
    GainCurve,
    OfRun,
    Resampling,
    Wanted,
    average_called,
    curves_of_run,
    ideal_by_query,
    ideal_curve,
)
from gainful.tasks.curves.curve_differences import CurveDifference, curve_differences

#: How far curves go where no @k says so, unless lists and recall bases end before; and how far they can go.
DEFAULT_DEPTH = 100
_DEEPEST = 1_000_000
DEFAULT_CURVES = ("CG", "nDCG")

_KINDS = (CG, DCG, NCG, NDCG)

#: The reference's ranks that others have to catch up with, unless given.
DEFAULT_AT = (5, 10, 20)
#: A value that misses the reference by no more than rounding has reached it.
_ROUNDING = 1e-12
_DEEPER = "@k is the depth: CG@1000"


@warns
def gain_curves(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike = DEFAULT_CURVES,
    *,
    policy: Policy | str | None = None,
    average: str = "ratios",
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    by_query: bool = False,
    baseline: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GainCurves:
    """Average curves of CG, DCG, nCG or nDCG by rank, for several runs and the ideal, with bands.

    ``@k`` is the depth (100 unless given, or the end of the longest list and recall base if that comes before).
    Normalised measures are averaged as ``"ratios"`` (normalise each query, then average), as ``"means"`` (average the
    vectors, then divide by the average ideal), or as ``"both"``. The bands hold ``confidence`` of the averages over
    ``draws`` resamples of the queries; 0 draws make none. ``by_query`` keeps every query's vectors, too. With a
    ``baseline``, one of the runs, the others' differences to it are tested at all ranks at once.

    >>> qrels = {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1}}
    >>> curves = gain_curves(qrels, {"mine": {"q1": ["d2", "d9", "d1"], "q2": ["d9", "d1"]}}, ["CG@3", "nCG@3"])
    >>> curves.curve("mine", "CG").values.tolist(), curves.ideal("CG").values.tolist()
    ([1.0, 1.5, 3.0], [2.0, 3.0, 3.0])
    >>> curves.curve("mine", "nCG").values.round(2).tolist()  # (2/3 + 0)/2, (2/5 + 1)/2, (5/5 + 1)/2
    [0.33, 0.7, 1.0]
    """
    require_runs(runs)
    judged = Judged.of(qrels, policy)
    if baseline is not None and baseline not in runs:
        raise no_such_run(baseline, runs, "baseline")
    given = _checked(parse_all(measures))
    ways = AVERAGES[choose(average, AVERAGES, "average")]
    resampling = Resampling.of(draws, seed, confidence)
    deep = tuple(_at(measure, measure.cutoff or DEFAULT_DEPTH) for measure in given)
    check_measures(deep, judged)
    wanted = Wanted(
        deep,
        tuple(ways if measure.normalised else (MEAN,) for measure in deep),
        resampling.resamples(len(judged.qrels.query_ids)),
        resampling.confidence,
        by_query or baseline is not None,
    )

    def curves_of(name: str, graded: GradedRun) -> OfRun:
        return curves_of_run(name, graded, wanted)

    found = join_each(judged, runs, curves_of, threads=threads, progress=progress)
    depths = [
        measure.cutoff or min(DEFAULT_DEPTH, max(of_run.ends[i] for of_run in found.values()))
        for i, measure in enumerate(given)
    ]
    curves = _together(judged, found, wanted, depths, resampling)
    if baseline is None:
        return curves
    # Of ratios of means there is no difference a query.
    linear = [measure for measure in curves.measures if not measure.normalised or average != "means"]
    if not linear:
        raise UsageError("baseline: expected means of ratios to test by query, found average=means alone")
    apart = curve_differences(curves.vectors, curves.runs, linear, baseline, resampling)
    return replace(curves, differences=tuple(apart), vectors=curves.vectors if by_query else {})


@dataclass(frozen=True, eq=False, repr=False)
class GainCurves(CurvesOfRuns[GainCurve]):
    """Average curves over ranks: those of the ideal (of measures that are not normalised) and of every run.

    ``evaluations`` are the runs' scores at the last rank, with all that was noticed on the way.
    """

    curves: tuple[GainCurve, ...]
    evaluations: Mapping[str, Evaluation]
    resampling: Resampling
    #: Every query's vectors by run (None: the ideal) and measure, queries x ranks, if they were asked for.
    vectors: Mapping[tuple[str | None, Measure], Floats] = field(default_factory=dict)
    #: The runs' differences to a baseline, if one was given.
    differences: tuple[CurveDifference, ...] = ()

    def __repr__(self) -> str:
        measures = ", ".join(f"{measure} to rank {self.depth(measure)}" for measure in self.measures)
        return f"<GainCurves of {', '.join(map(printable, self.runs))}: {measures}>"

    @property
    def queries(self) -> list[str]:
        """The judged queries, in byte order."""
        return next(iter(self.evaluations.values())).queries

    @property
    def conventions(self) -> list[str]:
        """The policy and the facts in one line, or where runs differ in one for each group of them."""
        from gainful.evaluation.report import Report

        return Report(self.evaluations).signatures

    @property
    def measures(self) -> list[CumulatedGain]:
        """The measures, without @k."""
        return list(self._depths)

    def averages(self, measure: str | Measure | None = None) -> list[str]:
        """What the averages of a measure are called."""
        return list(self._averages[self.measure(measure)])

    def depth(self, measure: str | Measure | None = None) -> int:
        """The last rank of a measure's curves."""
        return self._depths[self.measure(measure)]

    def curve(self, run: str | None, measure: str | Measure | None = None, average: str | None = None) -> GainCurve:
        """The curve of a run (None: of the ideal); without a measure or average the first one there is."""
        found = self.measure(measure)
        wanted = self._average(found, average)
        curve = self._placed.get((run, found, wanted))
        if curve is not None:
            return curve
        if run is None:
            raise UsageError(f"{found}: the ideal of a normalised measure is 1 at every rank, it has no curve")
        raise no_such_run(run, self.runs)

    def ideal(self, measure: str | Measure | None = None) -> GainCurve:
        """The average of the best lists there can be."""
        return self.curve(None, measure)

    def by_query(self, run: str | None, measure: str | Measure | None = None) -> dict[str, Floats]:
        """Every query's vector over ranks, after the policy; NaN where it leaves a query out."""
        found = self.measure(measure)
        if not self.vectors:
            raise UsageError("by_query: expected curves that were made with by_query=True, found averages only")
        return dict(zip(self.queries, self.vectors[self.curve(run, found).run, found], strict=True))

    def measure(self, measure: str | Measure | None) -> CumulatedGain:
        """One of the measures, from its text with or without @k."""
        if measure is None:
            return self.measures[0]
        wanted = measure if isinstance(measure, Measure) else parse(measure)
        if wanted in self._known:
            return self._known[wanted]
        raise UsageError(f"no curve is of {wanted}; there are {', '.join(map(str, self.measures))}")

    @cached_property
    def _depths(self) -> dict[CumulatedGain, int]:
        return {curve.measure: curve.depth for curve in self.curves}

    # Papers and pages ask for curves thousands of times.
    @cached_property
    def _known(self) -> dict[Measure, CumulatedGain]:
        return {each: known for known, depth in self._depths.items() for each in (known, _at(known, depth))}

    @cached_property
    def _averages(self) -> dict[CumulatedGain, tuple[str, ...]]:
        of = {known: dict.fromkeys(c.average for c in self.curves if c.measure == known) for known in self._depths}
        return {known: tuple(averages) for known, averages in of.items()}

    @cached_property
    def _placed(self) -> dict[tuple[str | None, CumulatedGain, str], GainCurve]:
        return {(curve.run, curve.measure, curve.average): curve for curve in self.curves}

    def _average(self, measure: CumulatedGain, average: str | None) -> str:
        known = self.averages(measure)
        return known[0] if average is None else choose(average_called(average), known, f"{measure}: average")

    def sideways(
        self,
        measure: str | Measure | None = None,
        reference: str | None = None,
        at: Sequence[int] | None = None,
        regions: Sequence[tuple[int, int]] | None = None,
        average: str | None = None,
    ) -> Sideways:
        """The curves read sideways: how much further users have to read with each run to gain as much.

        As much as the reference, the ideal (None) or a run, gives in ``at`` documents: 5, 10 and 20 unless given.
        Without a measure it is the first that is not normalised. ``regions`` are ranks, first and last, over which the
        distance to the ideal is taken. A run that is averaged over some of the queries has their ideal. The ideal of a
        normalised measure is 1 at every rank: without a run as the reference only the distances to it are read.

        >>> qrels = {"q1": {"d1": 3, "d2": 2}}
        >>> curves = gain_curves(qrels, {"mine": {"q1": ["d9", "d1", "d8", "d2"]}}, "CG@5")
        >>> curves.sideways(at=[1, 2]).rank("mine", 1), curves.sideways(at=[1, 2]).rank("mine", 2)
        (2, 4)
        """
        usual = next((known for known in self.measures if not known.normalised), None)
        chosen = self.measure(usual if measure is None else measure)
        if chosen.normalised and reference is None and at is not None:
            raise UsageError(
                f"{chosen}: expected a reference, found none: the ideal of a normalised measure is 1 at every rank",
                "read CG or DCG sideways, or take a run as the reference",
            )
        of_runs = [self.curve(run, chosen, average) for run in self.runs]
        depth = self.depth(chosen)
        whole = np.ones(depth) if chosen.normalised else self.ideal(chosen).values
        ideals = [whole if curve.own_ideal is None else curve.own_ideal for curve in of_runs]
        ranks = [] if chosen.normalised and reference is None else _read_ranks(at, depth)
        leaders = ideals
        if reference is not None:
            leaders = [_reference(self, reference, chosen, average).values] * len(of_runs)
        others = [pair for pair in zip(of_runs, leaders, strict=True) if pair[0].run != reference]
        with_ideals = list(zip(of_runs, ideals, strict=True))
        return Sideways(
            chosen,
            of_runs[0].average,
            reference,
            depth,
            tuple(reach for rank in ranks for reach in _reaches(others, rank)),
            () if chosen.normalised else tuple(_last_rise(curve) for curve in (self.ideal(chosen), *of_runs)),
            tuple(_area(*pair) for pair in with_ideals),
            tuple(_distance(*pair, *region) for region in _read_regions(regions, depth) for pair in with_ideals),
            tuple(self.conventions),
        )

    def page(
        self,
        places: int = 4,
        reference: str | None = None,
        at: Sequence[int] | None = None,
        regions: Sequence[tuple[int, int]] | None = None,
    ) -> Page:
        """Charts, tables, and the sideways reading; for machines every value."""
        from gainful.tasks.curves.gain_page import gain_page

        return gain_page(self, places, reference, at, regions)


def _together(
    judged: Judged, found: Mapping[str, OfRun], wanted: Wanted, depths: Sequence[int], resampling: Resampling
) -> GainCurves:
    """The curves of all runs and of the ideal, by measure, each to its measure's depth."""
    depth_of = {measure.replace(cutoff=None): depth for measure, depth in zip(wanted.measures, depths, strict=True)}
    ideals = {measure: ideal_curve(judged, measure) for measure in wanted.measures if not measure.normalised}
    curves = [*ideals.values(), *(curve for of_run in found.values() for curve in of_run.curves)]
    places = {measure: i for i, measure in enumerate(depth_of)}
    curves.sort(key=lambda curve: places[curve.measure])
    exact = tuple(_at(measure, depth) for measure, depth in zip(wanted.measures, depths, strict=True))
    vectors: dict[tuple[str | None, Measure], Floats] = {}
    if wanted.by_query:
        for i, (name, measure) in enumerate(zip(depth_of, wanted.measures, strict=True)):
            if not measure.normalised:
                vectors[None, name] = ideal_by_query(judged, measure)[:, : depths[i]]
            vectors.update({(run, name): of_run.by_query[i][:, : depths[i]] for run, of_run in found.items()})
    return GainCurves(
        tuple(curve.cut(depth_of[curve.measure]) for curve in curves),
        {run: replace(of_run.evaluation, measures=exact) for run, of_run in found.items()},
        resampling,
        vectors,
    )


def _checked(measures: Sequence[Measure]) -> list[CumulatedGain]:
    """The measures, if they have curves and can be distinguished without @k."""
    checked: list[CumulatedGain] = []
    for measure in measures:
        if not isinstance(measure, _KINDS) or type(measure) not in _KINDS:
            raise UsageError(f"curves: expected CG, DCG, nCG or nDCG, found {measure}")
        if measure.average is not None:
            raise UsageError(
                f"curves: expected a vector over ranks, found {measure}, which is its average",
                f"write {measure.replace(average=None)}",
            )
        if (measure.cutoff or 0) > _DEEPEST:
            raise UsageError(f"curves: expected a depth of at most {_DEEPEST:,}, found {measure}")
        if measure.replace(cutoff=None) in [other.replace(cutoff=None) for other in checked]:
            raise UsageError(f"expected different measures, found {measure.replace(cutoff=None)} twice")
        checked.append(measure)
    if not checked:
        raise UsageError("measures: expected at least one, found none")
    return checked


def _at(measure: CumulatedGain, depth: int) -> CumulatedGain:
    return measure.replace(cutoff=depth)  # type: ignore[return-value]


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


def _reference(curves: GainCurves, run: str, measure: CumulatedGain, average: str | None) -> GainCurve:
    if run not in curves.runs:
        raise no_such_run(run, curves.runs, "reference")
    if len(curves.runs) == 1:
        raise UsageError(f"reference: expected other runs beside '{printable(run)}', found none")
    return curves.curve(run, measure, average)


def _read_ranks(at: Sequence[int] | None, depth: int) -> list[int]:
    """The reference's ranks: those given, or the usual ones as far as the curves go."""
    if at is None:
        return [rank for rank in DEFAULT_AT if rank <= depth] or [depth]
    ranks = sorted({read_whole(rank, "at") for rank in at})
    if not ranks:
        raise UsageError("at: expected at least one rank, found none")
    if ranks[-1] > depth:
        raise UsageError(f"at: expected ranks down to {depth}, where the curves end, found {ranks[-1]}", _DEEPER)
    return ranks


def _read_regions(regions: Sequence[tuple[int, int]] | None, depth: int) -> list[tuple[int, int]]:
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
