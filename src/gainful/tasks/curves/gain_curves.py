"""Gain by rank: what a user has gained by the time they have read down to each rank, averaged over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

from gainful.data.collection import no_such_run, require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.errors import UsageError
from gainful.evaluation.evaluate import MeasuresLike, check_measures, join_each
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats, freeze
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse, parse_all
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import choose, printable, read_number
from gainful.policy import Policy
from gainful.render.showable import Showable
from gainful.tasks.curves.averages import (
    MEAN,
    MEAN_OF_RATIOS,
    RATIO_OF_MEANS,
    GainCurve,
    OfRun,
    Resamples,
    Wanted,
    curves_of_run,
    ideal_by_query,
    ideal_curve,
)

if TYPE_CHECKING:
    from gainful.pages.page import Page
    from gainful.tasks.curves.sideways import Sideways

#: How far curves go where no @k says so, unless lists and recall bases end before; and how far they can go.
DEFAULT_DEPTH = 100
_DEEPEST = 1_000_000
DEFAULT_CURVES = ("CG", "nDCG")

#: The ways to average normalised curves, by what the user calls them.
_AVERAGES = {
    "ratios": (MEAN_OF_RATIOS,),
    "means": (RATIO_OF_MEANS,),
    "both": (MEAN_OF_RATIOS, RATIO_OF_MEANS),
}
_KINDS = (CG, DCG, NCG, NDCG)


def gain_curves(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike = DEFAULT_CURVES,
    *,
    policy: Policy | str | None = None,
    average: str = "ratios",
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    by_query: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GainCurves:
    """Average curves of CG, DCG, nCG or nDCG by rank, for several runs and the ideal, with bands.

    ``@k`` is the depth (100 unless given, or the end of the longest list and recall base if that comes before).
    Normalised measures are averaged as ``"ratios"`` (normalise each query, then average), as ``"means"`` (average the
    vectors, then divide by the average ideal), or as ``"both"``. The bands hold ``confidence`` of the averages over
    ``draws`` resamples of the queries; 0 draws make none. ``by_query`` keeps every query's vectors, too.

    >>> qrels = {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1}}
    >>> curves = gain_curves(qrels, {"mine": {"q1": ["d2", "d9", "d1"], "q2": ["d9", "d1"]}}, ["CG@3", "nCG@3"])
    >>> curves.curve("mine", "CG").values.tolist(), curves.ideal("CG").values.tolist()
    ([1.0, 1.5, 3.0], [2.0, 3.0, 3.0])
    >>> curves.curve("mine", "nCG").values.round(2).tolist()  # (2/3 + 0)/2, (2/5 + 1)/2, (5/5 + 1)/2
    [0.33, 0.7, 1.0]
    """
    require_runs(runs)
    return gain_curves_judged(
        Judged(Qrels.of(qrels), Policy.of(policy)),
        runs,
        measures,
        average=average,
        draws=draws,
        seed=seed,
        confidence=confidence,
        by_query=by_query,
        threads=threads,
        progress=progress,
    )


def gain_curves_judged(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike = DEFAULT_CURVES,
    *,
    average: str = "ratios",
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    by_query: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GainCurves:
    """The same with judgments that are already prepared, under the policy they were prepared for."""
    require_runs(runs)
    given = _checked(parse_all(measures))
    ways = _AVERAGES[choose(average, _AVERAGES, "average")]
    resampling = checked_resampling(draws, seed, confidence)
    deep = tuple(_at(measure, measure.cutoff or DEFAULT_DEPTH) for measure in given)
    check_measures(deep, judged)
    resamples = Resamples(len(judged.qrels.query_ids), resampling.draws, resampling.seed)
    wanted = Wanted(
        deep,
        tuple(ways if measure.normalised else (MEAN,) for measure in deep),
        resamples if resampling.draws else None,
        resampling.confidence,
        by_query,
    )

    def curves_of(name: str, graded: GradedRun) -> OfRun:
        return curves_of_run(name, graded, wanted)

    found = join_each(judged, runs, curves_of, threads=threads, progress=progress)
    depths = [
        measure.cutoff or min(DEFAULT_DEPTH, max(of_run.ends[i] for of_run in found.values()))
        for i, measure in enumerate(given)
    ]
    return _together(judged, found, wanted, depths, resampling)


@dataclass(frozen=True)
class Resampling:
    """How bands are made: the number of resamples, the seed, and what share of them lies inside."""

    draws: int
    seed: int
    confidence: float


@dataclass(frozen=True, eq=False, repr=False)
class GainCurves(Showable):
    """Average curves over ranks: those of the ideal (of measures that are not normalised) and of every run.

    ``evaluations`` are the runs' scores at the last rank, with all that was noticed on the way.
    """

    curves: tuple[GainCurve, ...]
    evaluations: Mapping[str, Evaluation]
    resampling: Resampling
    #: Every query's vectors by run (None: the ideal) and measure, queries x ranks, if they were asked for.
    vectors: Mapping[tuple[str | None, Measure], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for curve in self.curves:
            freeze(curve.values)

    def __repr__(self) -> str:
        measures = ", ".join(f"{measure} to rank {self.depth(measure)}" for measure in self.measures)
        return f"<GainCurves of {', '.join(map(printable, self.runs))}: {measures}>"

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(self.evaluations)

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
        found = self.measure(measure)
        return list(dict.fromkeys(average for _, known, average in self._placed if known == found))

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
        for known in self.measures:
            if wanted in (known, _at(known, self._depths[known])):
                return known
        raise UsageError(f"no curve is of {wanted}; there are {', '.join(map(str, self.measures))}")

    @cached_property
    def _depths(self) -> dict[CumulatedGain, int]:
        return {curve.measure: curve.depth for curve in self.curves}

    @cached_property
    def _placed(self) -> dict[tuple[str | None, CumulatedGain, str], GainCurve]:
        return {(curve.run, curve.measure, curve.average): curve for curve in self.curves}

    def _average(self, measure: CumulatedGain, average: str | None) -> str:
        known = self.averages(measure)
        if average is None:
            return known[0]
        short = {"ratios": MEAN_OF_RATIOS, "means": RATIO_OF_MEANS}
        return choose(short.get(average, average), known, f"{measure}: average")

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
        distance to the ideal is taken. A run that is averaged over some of the queries has their ideal.

        >>> qrels = {"q1": {"d1": 3, "d2": 2}}
        >>> curves = gain_curves(qrels, {"mine": {"q1": ["d9", "d1", "d8", "d2"]}}, "CG@5")
        >>> curves.sideways(at=[1, 2]).rank("mine", 1), curves.sideways(at=[1, 2]).rank("mine", 2)
        (2, 4)
        """
        from gainful.tasks.curves.sideways import sideways_of

        return sideways_of(self, measure, reference, at, regions, average)

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
    """The measures, if they have curves and can be told apart without @k."""
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
            raise UsageError(f"expected measures that can be told apart, found {measure.replace(cutoff=None)} twice")
        checked.append(measure)
    if not checked:
        raise UsageError("measures: expected at least one, found none")
    return checked


def _at(measure: CumulatedGain, depth: int) -> CumulatedGain:
    return measure.replace(cutoff=depth)  # type: ignore[return-value]


def checked_resampling(draws: object, seed: object, confidence: object) -> Resampling:
    """How bands are to be made, if that is possible."""
    return Resampling(_whole(draws, "draws"), _whole(seed, "seed"), _confidence(confidence))


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise UsageError(f"{what}: expected a whole number of at least 0, found {value!r}")
    return int(value)


def _confidence(value: object) -> float:
    number = read_number(value, "confidence")
    if not 0 < number < 1:
        raise UsageError(f"confidence: expected a number between 0 and 1, found {value}")
    return number
