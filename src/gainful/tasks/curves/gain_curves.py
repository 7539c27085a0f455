"""Gain by rank: what a user has gained by the time they have read down to each rank, averaged over queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.collection import no_such_run, require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import check_measures, evaluate_graded, join_each
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.results import settled
from gainful.frozen import asdict, dataclass, field, replace
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.base import Measure
from gainful.measures.block import CELLS, Block, seen_blocks
from gainful.measures.catalog import parse_all
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import count_of, listed, printable
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Column, Row, RowsOnDemand, Table, head
from gainful.policy import Policy
from gainful.question import question
from gainful.render import Page
from gainful.stats.repeatable import simultaneous_reach
from gainful.tasks.curves.averages import (
    AVERAGES,
    MEAN,
    RATIO_OF_MEANS,
    Band,
    Curve,
    Curves,
    Resamples,
    Resampling,
    band_ranks,
    curve_line,
    percentile_band,
    resampled,
    rows_by_place,
    table_ranks,
    value_columns,
    widened,
)
from gainful.tasks.curves.sideways import Sideways, read_sideways
from gainful.tasks.run_questions import GainCurveOptions

GainCurve: TypeAlias = Curve[CumulatedGain]

#: How far curves go where no @k says so, unless lists and recall bases end before; and how far they can go.
DEFAULT_DEPTH = 100
_DEEPEST = 1_000_000


@warns
@question(GainCurveOptions)
def gain_curves(asked: GainCurveOptions) -> GainCurves:
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
    runs, baseline = asked.runs, asked.baseline
    require_runs(runs)
    judged = Judged.of(asked.qrels, asked.policy)
    if baseline is not None and baseline not in runs:
        raise no_such_run(baseline, runs, "baseline")
    given = _checked(parse_all(asked.measures))
    ways = AVERAGES[asked.average]
    resampling = Resampling.of(asked.draws, asked.seed, asked.confidence)
    deep = [with_depth(measure, measure.cutoff or DEFAULT_DEPTH) for measure in given]
    check_measures(deep, judged)
    resamples = resampling.resamples(len(judged.qrels.query_ids))
    keeps_vectors = asked.by_query or baseline is not None

    def curves_of(name: str, graded: GradedRun) -> tuple[Evaluation, list[_CurvesOfMeasure]]:
        gathered = [_MeasureVectors(measure, ways, len(graded.query_ids), resamples, keeps_vectors) for measure in deep]
        raw = np.full((len(deep), len(graded.query_ids)), np.nan)
        for block, seen_by in seen_blocks(graded, deep):
            for i in seen_by:
                raw[i, block.queries] = gathered[i].add(block)
        # Refuses what the policy forbids.
        evaluation = evaluate_graded(graded, deep, raw=raw)
        return evaluation, [each.finished(name, resampling, graded.policy) for each in gathered]

    found = join_each(judged, runs, curves_of, threads=asked.threads)
    curves: list[GainCurve] = []
    vectors: dict[tuple[str | None, Measure], Floats] = {}
    own_ideals: dict[tuple[str, Measure], Floats] = {}
    depths = []
    for i, measure in enumerate(deep):
        end = max(of_run[i].end for _, of_run in found.values())
        depths.append(given[i].cutoff or min(DEFAULT_DEPTH, end))
        depth, name = depths[-1], with_depth(measure, None)
        if not measure.normalised:
            sums, ideals = RankSums(measure.cutoff or 1), []
            for ideal in _ideal_vectors(judged, measure):
                sums.add(ideal)
                ideals += [ideal[:, :depth]] if keeps_vectors else []
            queries = len(judged.qrels.query_ids)
            curves.append(Curve(None, name, MEAN, "all queries", (sums.total / queries)[:depth], queries))
            if keeps_vectors:
                vectors[None, name] = np.concatenate(ideals)
        for run, (_, of_run) in found.items():
            of_measure = of_run[i]
            curves += [curve.cut(depth) for curve in of_measure.curves]
            if of_measure.own_ideal is not None:
                own_ideals[run, name] = of_measure.own_ideal[:depth]
            if keeps_vectors:
                vectors[run, name] = of_measure.vectors[:, :depth]
    exact = tuple(with_depth(measure, depth) for measure, depth in zip(deep, depths, strict=True))
    evaluations = {run: replace(evaluation, measures=exact) for run, (evaluation, _) in found.items()}
    differences: tuple[CurveDifference, ...] = ()
    if baseline is not None:
        # Of ratios of means there is no difference a query.
        linear = [with_depth(measure, None) for measure in deep if not measure.normalised or asked.average != "means"]
        if not linear:
            raise UsageError("baseline: expected means of ratios to test by query, found average=means alone")
        differences = tuple(_curve_differences(vectors, list(runs), linear, baseline, resampling))
    return GainCurves(
        tuple(curves), evaluations, resampling, own_ideals, vectors if asked.by_query else {}, differences
    )


def _checked(measures: Sequence[Measure]) -> list[CumulatedGain]:
    """The measures, if they have curves and can be distinguished without @k."""
    checked: list[CumulatedGain] = []
    for measure in measures:
        if not isinstance(measure, CumulatedGain) or type(measure) not in (CG, DCG, NCG, NDCG):
            raise UsageError(f"curves: expected CG, DCG, nCG or nDCG, found {measure}")
        if measure.average is not None:
            raise UsageError(
                f"curves: expected a vector over ranks, found {measure}, which is its average",
                f"write {measure.replace(average=None)}",
            )
        if (measure.cutoff or 0) > _DEEPEST:
            raise UsageError(f"curves: expected a depth of at most {_DEEPEST:,}, found {measure}")
        if with_depth(measure, None) in [with_depth(other, None) for other in checked]:
            raise UsageError(f"expected different measures, found {with_depth(measure, None)} twice")
        checked.append(measure)
    if not checked:
        raise UsageError("measures: expected at least one, found none")
    return checked


def with_depth(measure: CumulatedGain, depth: int | None) -> CumulatedGain:
    """The measure with another @k; None: without it, as a whole curve is called."""
    return measure.replace(cutoff=depth)  # type: ignore[return-value]


class _CurvesOfMeasure(NamedTuple):
    """A run by one measure: its average curves, its own ideal if it differs from that of all queries, where nothing
    changes any more, and every query's vectors (queries x ranks, NaN where a query is left out) if they are kept."""

    curves: list[GainCurve]
    own_ideal: Floats | None
    end: int
    vectors: Floats


class _AverageSums:
    """What one average is made of: sums at every rank, and every query's values at the ranks of the band."""

    def __init__(self, depth: int, ranks: Ints, queries: int) -> None:
        self._ranks = ranks
        self.parts, self.wholes = RankSums(depth), RankSums(depth)
        self.counted = np.zeros(queries, bool)
        self.part_at, self.whole_at = np.zeros((queries, ranks.size)), np.zeros((queries, ranks.size))

    def add(self, queries: Ints, counted: Bools, parts: Floats, wholes: Floats | None) -> None:
        """Takes a block's vectors in."""
        self.counted[queries] = counted
        columns = np.minimum(self._ranks, parts.shape[1]) - 1
        for vectors, sums, at in ((parts, self.parts, self.part_at), (wholes, self.wholes, self.whole_at)):
            if vectors is not None:
                counting = np.where(counted[:, None], vectors, 0.0)
                sums.add(counting)
                at[queries] = counting[:, columns]


class _MeasureVectors:
    """What the curves of one run and measure are made of, block by block."""

    def __init__(
        self,
        measure: CumulatedGain,
        ways: Sequence[str],
        queries: int,
        resamples: Resamples | None,
        keeps_vectors: bool,
    ) -> None:
        assert measure.cutoff is not None  # given, or the default's
        self._measure, self._depth, self._resamples = measure, measure.cutoff, resamples
        self._ranks = np.zeros(0, np.int64) if resamples is None else band_ranks(self._depth)
        averages = ways if measure.normalised else (MEAN,)
        self._sums = {average: _AverageSums(self._depth, self._ranks, queries) for average in averages}
        self._vectors = np.empty((queries if keeps_vectors else 0, self._depth))
        self._end = 1

    def add(self, block: Block) -> Floats:
        """Takes a block in; its raw scores at the last rank."""
        measure, policy, answered = self._measure, block.policy, block.graded.answered[block.queries]
        run, ideal = measure.vectors(block, self._depth)
        raw = measure.share(run, ideal) if measure.normalised else run
        values = settled(raw.T, answered, measure, policy.missing, policy.undefined).T
        for average, sums in self._sums.items():
            if average == RATIO_OF_MEANS:
                present = answered if policy.missing == "skip" else np.ones(block.size, bool)
                sums.add(block.queries, present, run, ideal)
            else:
                sums.add(block.queries, ~np.isnan(values[:, 0]), values, ideal if average == MEAN else None)
        if self._vectors.size:
            self._vectors[block.queries] = widened(values, self._depth)
        last_rise = block.ideal_lists(measure.gain, measure.rel, measure.level).last_rank(self._depth)
        self._end = int(max(self._end, block.retrieved.max(initial=1), last_rise.max(initial=1)))
        return np.asarray(raw[:, -1])

    def finished(self, run: str, resampling: Resampling, policy: Policy) -> _CurvesOfMeasure:
        """The averages, each with a band if one is wanted and there are queries enough."""
        measure, curves, own_ideal = self._measure, [], None
        for average, sums in self._sums.items():
            count = int(np.count_nonzero(sums.counted))
            with np.errstate(invalid="ignore"):
                if average == RATIO_OF_MEANS:
                    values = measure.capped(sums.parts.total / sums.wholes.total)
                    values = np.where(np.isnan(values), 0.0, values) if policy.undefined == "zero" and count else values
                else:
                    values = sums.parts.total / (count or np.nan)
            band: Band | None = None
            if self._resamples is not None and count > 1:
                wholes = sums.whole_at if average == RATIO_OF_MEANS else sums.counted
                drawn = resampled(self._resamples, sums.part_at, wholes)
                drawn = measure.capped(drawn) if measure.normalised else drawn
                band = percentile_band(self._ranks, drawn, resampling.confidence)
            if average == MEAN and 0 < count < sums.counted.size:
                own_ideal = sums.wholes.total / count
            curves.append(Curve(run, with_depth(measure, None), average, "all queries", values, count, band))
        return _CurvesOfMeasure(curves, own_ideal, self._end, self._vectors)


def _ideal_vectors(judged: Judged, measure: CumulatedGain) -> Iterator[Floats]:
    """The best lists' vectors, some queries at a time."""
    lists, depth = judged.ideal_lists(measure.gain, measure.rel, measure.level), measure.cutoff or 1
    size = max(1, CELLS // depth)
    for first in range(0, lists.size, size):
        yield measure.cumulated(lists.of_rows(np.arange(first, min(first + size, lists.size))), depth)


@dataclass(frozen=True, eq=False, repr=False)
class CurveDifference:
    """A run's average curve minus the baseline's, over the queries that both have; the band is simultaneous."""

    run: str
    baseline: str
    measure: CumulatedGain  # without @k
    values: Floats
    queries: int
    band: Band | None

    def ranks(self, sign: int) -> list[tuple[int, int]]:
        """The first and the last of the ranks at which the band is above 0 (``sign`` 1) or below (-1)."""
        if self.band is None:
            return []
        beyond = self.band.low > 0 if sign > 0 else self.band.high < 0
        edges = np.flatnonzero(np.diff(np.concatenate(([False], beyond, [False])).astype(np.int64)))
        return [(int(first) + 1, int(last)) for first, last in edges.reshape(-1, 2)]

    def sentence(self, per_cent: str) -> str:
        """At which ranks the run is significantly ahead or behind."""
        run, baseline = printable(self.run, 40), printable(self.baseline, 40)
        over = f"simultaneous {per_cent} band over ranks 1 to {self.values.size:,}"
        if self.band is None:
            return f"{self.measure}: {run} has no band, too few queries are shared with {baseline}."
        told = []
        for word, regions in (("ahead of", self.ranks(1)), ("behind", self.ranks(-1))):
            texts = [str(first) if first == last else f"{first} to {last}" for first, last in regions]
            one = len(regions) == 1 and regions[0][0] == regions[0][1]
            told += [f"{word} {baseline} at {'rank' if one else 'ranks'} {listed(texts, most=6)}"] if regions else []
        if not told:
            return f"{self.measure}: no difference of {run} and {baseline} was shown at any rank ({over})."
        return f"{self.measure}: {run} is significantly {' and '.join(told)} ({over})."


def _curve_differences(
    vectors: Mapping[tuple[str | None, Measure], Floats],
    runs: Sequence[str],
    measures: Sequence[CumulatedGain],
    baseline: str,
    resampling: Resampling,
) -> Iterator[CurveDifference]:
    """Every run but the baseline, by every measure; ``vectors`` are queries x ranks, NaN where a query is left out."""
    if not resampling.draws:
        raise UsageError("baseline: expected draws for the bands of differences, found 0", "leave --draws as it is")
    for measure in measures:
        for run in runs:
            if run == baseline:
                continue
            apart = vectors[run, measure] - vectors[baseline, measure]
            apart = apart[~np.isnan(apart).any(axis=1)]
            mean = apart.mean(axis=0) if apart.size else np.full(apart.shape[1], np.nan)
            reach = simultaneous_reach(apart, resampling.draws, resampling.seed, resampling.confidence)
            band = None
            if reach is not None:
                band = Band(np.arange(1, mean.size + 1), mean - reach, mean + reach, resampling.draws)
            yield CurveDifference(run, baseline, measure, mean, apart.shape[0], band)


@dataclass(frozen=True, eq=False, repr=False)
class GainCurves(Curves[CumulatedGain]):
    """Average curves over ranks: those of the ideal (of measures that are not normalised) and of every run.

    ``evaluations`` are the runs' scores at the last rank, with all that was noticed on the way.
    """

    #: By run and measure the ideal over the same queries, where the policy leaves some out: there the ideal of all of
    #: them is no match for the run.
    own_ideals: Mapping[tuple[str, Measure], Floats]
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

    @cached_property
    def _known(self) -> dict[Measure, CumulatedGain]:
        return {each: known for known, depth in self._depths.items() for each in (known, with_depth(known, depth))}

    def ideal(self, measure: str | Measure | None = None) -> Curve[CumulatedGain]:
        """The average of the best lists there can be."""
        return self.curve(None, measure)

    def by_query(self, run: str | None, measure: str | Measure | None = None) -> dict[str, Floats]:
        """Every query's vector over ranks, after the policy; NaN where it leaves a query out."""
        found = self.measure(measure)
        if not self.vectors:
            raise UsageError("by_query: expected curves that were made with by_query=True, found averages only")
        return dict(zip(self.queries, self.vectors[self.curve(run, found).run, found], strict=True))

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
        of_runs = [self.curve(run, chosen, average) for run in self.runs]
        ideal = None if chosen.normalised else self.ideal(chosen)
        ideals = [self.own_ideals.get((str(curve.run), chosen)) for curve in of_runs]
        return read_sideways(of_runs, ideal, ideals, reference, at, regions, Report(self.evaluations).signatures)

    def page(
        self,
        places: int = 4,
        reference: str | None = None,
        at: Sequence[int] | None = None,
        regions: Sequence[tuple[int, int]] | None = None,
    ) -> Page:
        """For every measure and average a chart and a table of some ranks; then the curves read sideways; for machines
        every value."""
        parts: list[Table | Chart | str] = []
        for measure in self.measures:
            for average in self.averages(measure):
                shown = [curve for curve in self.curves if (curve.measure, curve.average) == (measure, average)]
                parts += _gain_parts(self, shown, places)
        parts += _difference_parts(self.differences, self.resampling.per_cent, places)
        notes = list(_gain_notes(self))
        # Where some measures are not normalised, these are read sideways; of the others the distance to their ideal.
        has_plain = not all(measure.normalised for measure in self.measures)
        readings = [
            self.sideways(
                measure, *((None, None) if measure.normalised and has_plain else (reference, at)), regions, each
            )
            for measure in self.measures
            for each in self.averages(measure)
        ]
        across = [reading for reading in readings if reading.reaches]
        for reading in readings:
            sentences = reading.sentences()
            if len(across) > 1:
                sentences = [f"By {reading.measure}: {each[0].lower()}{each[1:]}" for each in sentences]
            parts += ["\n".join(sentences), *reading.tables(places, for_people=True)]
        if not across:
            notes.insert(
                0,
                "no ranks to the ideal's gain: normalised measures have an ideal of 1 at every rank; use CG or DCG",
            )
        count = sum(curve.depth for curve in self.curves) + sum(int(vectors.size) for vectors in self.vectors.values())
        columns = head("run | measure | average | query | rank # | value . | low . | high .", for_machines=True)
        parts.append(Table(columns, RowsOnDemand(count, lambda: _every_gain(self))))
        first = next(iter(self.evaluations.values()))
        header = {
            "signature": str(first.signature()),
            "measures": {
                str(measure): str(first.signature(deep))
                for measure, deep in zip(self.measures, first.measures, strict=True)
            },
            "depths": {str(measure): self.depth(measure) for measure in self.measures},
            "averages": {str(measure): self.averages(measure) for measure in self.measures},
            **asdict(self.resampling),
            "runs": [
                {"run": run, "path": evaluation.source, "missing": len(evaluation.missing)}
                for run, evaluation in self.evaluations.items()
            ],
            "sideways": [reading.data() for reading in readings],
        }
        return Page("curves", tuple(part for part in parts if part), tuple(notes), header)


def gain_line(curve: GainCurve) -> Line:
    """A curve as a line of a chart."""
    if curve.run is None:
        return curve_line("ideal", curve.values, curve.band, "ideal")
    return curve_line(curve.run, curve.values, curve.band)


def _gain_parts(curves: GainCurves, shown: Sequence[GainCurve], places: int) -> Iterator[Plot | Table]:
    """A chart and a table of some ranks, of all runs by one measure and average; the ideal comes first."""
    last, depth = shown[-1], shown[0].depth
    counts = {curve.count for curve in shown if curve.run is not None}
    over = f", {last.average} over {count_of(last.count, 'query', 'queries') if len(counts) == 1 else 'queries'}"
    if counts == {1} and len(curves.averages(last.measure)) == 1:
        over = ""  # of one query there is no average
    lines = list(map(gain_line, shown))
    if shown[0].run is None:
        # Other queries would have another ideal, but no band can end above it.
        ideal = shown[0].values
        for i, line in enumerate(lines):
            if line.band is not None:
                ends = zip(line.band.x, line.band.high, strict=True)
                high = tuple(min(end, float(ideal[min(int(rank), ideal.size) - 1])) for rank, end in ends)
                lines[i] = replace(line, band=replace(line.band, high=high))
    is_share = last.measure.normalised and last.measure.discount != "jarvelin2000"
    yield Plot(
        f"{last.measure} by rank{over}",
        Axis("rank", 1.0, float(last.depth), is_whole=True),
        Axis(last.measure.name, 0.0, 1.0 if is_share else None),  # the title has its parameters
        tuple(lines),
        caption=_about_bands(curves, shown) if max(counts) > 1 else "",
    )
    ranks = table_ranks(depth)
    marked: set[tuple[int, int]] = set()
    for column, rank in enumerate(ranks if len(curves.runs) > 1 else (), 1):
        values = {i: curve.values[rank - 1] for i, curve in enumerate(shown) if curve.run is not None}
        best = max(values.values())
        marked.update((i, column) for i, value in values.items() if value == best > 0)
    run = Column("run", get=lambda curve: "(ideal)" if curve.run is None else curve.run)
    band = f"{curves.resampling.per_cent} at {depth}"
    yield Table.of(
        (run, *value_columns([(str(rank), rank) for rank in ranks], shown, band, places)),
        shown,
        title=f"{last.measure} at some ranks{over}",
        marked=frozenset(marked),
        for_people=True,
    )


def _about_bands(curves: GainCurves, shown: Sequence[GainCurve]) -> str:
    """What the bands are; nothing where none are wanted."""
    if not curves.resampling.draws:
        return ""
    counts = {curve.count for curve in shown if curve.band is not None}
    if not counts:
        most = max(curve.count for curve in shown if curve.run is not None)
        return f"no bands: they need at least 2 queries, found {most}"
    return curves.resampling.about(
        count_of(max(counts), "query", "queries") if len(counts) == 1 else "each run's queries"
    )


def _gain_notes(curves: GainCurves) -> Iterator[str]:
    report = Report(curves.evaluations)
    if len(curves.runs) > 1:
        yield "* best of its column"
    if report.counted:
        counts = ", ".join(f"{printable(run, 80)} {count}" for run, count in report.counted.items())
        yield f"averages over different numbers of queries: {counts}"
    of_runs = [curve for curve in curves.curves if curve.run is not None]
    ideal = next((curve for curve in curves.curves if curve.run is None), None)
    if ideal is not None and any(curve.count < ideal.count for curve in of_runs):
        yield f"the ideal is over all {count_of(ideal.count, 'judged query', 'judged queries')}"
    about = _about_bands(curves, of_runs)
    if about:
        yield about
    yield from report.signatures


def _every_gain(curves: GainCurves) -> Iterator[Row]:
    """Every value: averages with their bands, then, if they are there, the vectors of every query."""
    for curve in curves.curves:
        labels = (curve.run, str(curve.measure), curve.average, None)
        yield from ((*labels, *row) for row in rows_by_place(curve.values, curve.band))
    for (run, measure), vectors in curves.vectors.items():
        name = str(measure)
        for query, vector in zip(curves.queries, vectors, strict=True):
            yield from ((run, name, None, query, *row) for row in rows_by_place(vector))


def _difference_parts(found: Sequence[CurveDifference], per_cent: str, places: int) -> Iterator[Plot | Table | str]:
    """Sentences, then for every measure a chart and a table of some ranks; for machines every value."""
    if not found:
        return

    def with_band(each: CurveDifference, rank: int) -> str:
        value = f"{each.values[rank - 1]:.{places}f}"
        if each.band is None:
            return value
        low, high = each.band.ends()[rank]
        return f"{value} [{low:.{places}f}, {high:.{places}f}]"

    yield "\n".join(each.sentence(per_cent) for each in found)
    for measure in dict.fromkeys(each.measure for each in found):
        shown = [each for each in found if each.measure == measure]
        queries, depth = count_of(shown[0].queries, "query", "queries"), shown[0].values.size
        what, ends = f"{measure} minus that of {printable(shown[0].baseline, 40)}", (1.0, float(depth))
        about = f"band: {per_cent}, simultaneous over ranks, by random sign flips of {queries}"
        note = f"in brackets: {per_cent} simultaneous band; one that does not hold 0 is a significant difference there"
        if all(each.band is None for each in shown):
            about = note = f"no band: {queries} {'is' if shown[0].queries == 1 else 'are'} too few"
        lines = (Line("", ends, (0.0, 0.0), "guide"), *(curve_line(each.run, each.values, each.band) for each in shown))
        yield Plot(f"{what}, by rank", Axis("rank", *ends, is_whole=True), Axis("difference"), lines, caption=about)
        at = [*(rank for rank in (1, 5, 10) if rank < depth), depth]
        rows = tuple((each.run, *(with_band(each, rank) for rank in at)) for each in shown)
        yield Table(head(["run", *map(str, at)]), rows, f"{what}, at some ranks", (note,), for_people=True)
    yield Table(
        head("run | baseline | measure | rank # | difference . | low . | high .", for_machines=True),
        tuple(
            (each.run, each.baseline, str(each.measure), *row)
            for each in found
            for row in rows_by_place(each.values, each.band)
        ),
        "Differences by rank",
    )
