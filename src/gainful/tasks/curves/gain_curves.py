"""Gain by rank: the cumulated gain of a user who reads down to each rank, averaged over queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

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
from gainful.notation import count_of, grouped, listed, printable
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
    checked_baseline,
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

#: Default depth without @k, unless all lists and recall bases end earlier; and the maximum depth.
DEFAULT_DEPTH = 100
_DEEPEST = 1_000_000


@warns
@question(GainCurveOptions)
def gain_curves(asked: GainCurveOptions) -> GainCurves:
    """Return average curves of CG, DCG, nCG or nDCG by rank, for several runs and the ideal, with bands.

    ``@k`` is the depth (by default 100, or the end of the longest list and recall base if earlier). Normalised measures
    are averaged as ``"ratios"`` (normalise each query, then average), as ``"means"`` (average the vectors, then divide
    by the average ideal), or as ``"both"``. Bands have level ``confidence``, from ``draws`` resamples of the queries; 0
    draws omit them. ``chance`` adds the mean curves of all orders of each run's documents. ``by_query`` also keeps
    per-query vectors. With a ``baseline``, one of the runs, the other runs' differences from it are tested at all ranks
    simultaneously.

    >>> qrels = {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1}}
    >>> curves = gain_curves(qrels, {"mine": {"q1": ["d2", "d9", "d1"], "q2": ["d9", "d1"]}}, ["CG@3", "nCG@3"])
    >>> curves.curve("mine", "CG").values.tolist(), curves.ideal("CG").values.tolist()
    ([1.0, 1.5, 3.0], [2.0, 3.0, 3.0])
    >>> curves.curve("mine", "nCG").values.round(2).tolist()  # (2/3 + 0)/2, (2/5 + 1)/2, (5/5 + 1)/2
    [0.33, 0.7, 1.0]
    """
    runs, baseline = asked.runs, asked.baseline
    checked_baseline(runs, baseline)
    judged = Judged.of(asked.qrels, asked.policy)
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
        # Raises the errors that the policy requires.
        evaluation = evaluate_graded(graded, deep, raw=raw)
        return evaluation, [each.finished(name, resampling, graded.policy) for each in gathered]

    def with_chance(name: str, graded: GradedRun) -> dict[str, tuple[Evaluation, list[_CurvesOfMeasure]]]:
        chance = f"{name}, random order"
        of_chance = {chance: curves_of(chance, graded.shuffled())} if asked.chance else {}
        return {name: curves_of(name, graded), **of_chance}

    each = join_each(judged, runs, with_chance, threads=asked.threads)
    found = {name: of_run for both in each.values() for name, of_run in both.items()}
    curves: list[GainCurve] = []
    vectors: dict[tuple[str | None, Measure], Floats] = {}
    own_ideals: dict[tuple[str, Measure], Floats] = {}
    depths = []
    for i, measure in enumerate(deep):
        end = max(of_run[i].end for _, of_run in found.values())
        depths.append(given[i].cutoff or min(DEFAULT_DEPTH, end))
        depth, name = depths[-1], with_depth(measure, None)
        if not measure.normalised:
            deepest, queries = measure.cutoff or 1, len(judged.qrels.query_ids)
            sums, ideals = RankSums(deepest), []
            lists = judged.ideal_lists(measure.gain, measure.rel, measure.level)
            for rows in np.array_split(np.arange(queries), math.ceil(queries * deepest / CELLS)):
                sums.add(ideal := measure.cumulated(lists.of_rows(rows), deepest))
                ideals += [ideal[:, :depth]] if keeps_vectors else []
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
    evaluations = {run: replace(found[run][0], measures=exact) for run in runs}
    differences: tuple[CurveDifference, ...] = ()
    if baseline is not None:
        # Ratios of means have no per-query differences.
        linear = [with_depth(measure, None) for measure in deep if not measure.normalised or asked.average != "means"]
        if not linear:
            raise UsageError("baseline: tests need per-query ratios, which average=means does not have")
        differences = tuple(_curve_differences(vectors, list(runs), linear, baseline, resampling))
    return GainCurves(
        tuple(curves), evaluations, resampling, own_ideals, vectors if asked.by_query else {}, differences
    )


def _checked(measures: Sequence[Measure]) -> list[CumulatedGain]:
    """Return the measures; refuse those without curves, and duplicates except for @k."""
    checked: list[CumulatedGain] = []
    for measure in measures:
        if not isinstance(measure, CumulatedGain) or type(measure) not in (CG, DCG, NCG, NDCG):
            raise UsageError(f"curves: expected CG, DCG, nCG or nDCG, found {measure}")
        if measure.average is not None:
            without = measure.replace(average=None)
            raise UsageError(f"curves: expected a measure without average, found {measure}", f"write {without}")
        if measure.budget or (measure.cutoff or 0) > _DEEPEST:
            raise UsageError(f"curves: expected a depth of at most {_DEEPEST:,} ranks, found {measure}")
        if with_depth(measure, None) in [with_depth(other, None) for other in checked]:
            raise UsageError(f"duplicate measure {with_depth(measure, None)}")
        checked.append(measure)
    if not checked:
        raise UsageError("measures: at least one is required")
    return checked


def with_depth(measure: CumulatedGain, depth: int | None) -> CumulatedGain:
    """Return the measure with another @k; None removes it, as in the name of a curve."""
    return measure.replace(cutoff=depth)  # type: ignore[return-value]


class _CurvesOfMeasure(NamedTuple):
    """A run's results for one measure: average curves, its own ideal if it is averaged over fewer queries, the rank
    after which nothing changes, and, if kept, per-query vectors (queries x ranks, NaN for omitted queries)."""

    curves: list[GainCurve]
    own_ideal: Floats | None
    end: int
    vectors: Floats


class _AverageSums:
    """Sums of one average at every rank, and per-query values at the ranks of the band."""

    def __init__(self, depth: int, ranks: Ints, queries: int) -> None:
        self._ranks = ranks
        self.parts, self.wholes = RankSums(depth), RankSums(depth)
        self.counted = np.zeros(queries, bool)
        self.part_at, self.whole_at = np.zeros((queries, ranks.size)), np.zeros((queries, ranks.size))

    def add(self, queries: Ints, counted: Bools, parts: Floats, wholes: Floats | None) -> None:
        self.counted[queries] = counted
        columns = np.minimum(self._ranks, parts.shape[1]) - 1
        for vectors, sums, at in ((parts, self.parts, self.part_at), (wholes, self.wholes, self.whole_at)):
            if vectors is not None:
                counting = np.where(counted[:, None], vectors, 0.0)
                sums.add(counting)
                at[queries] = counting[:, columns]


class _MeasureVectors:
    """Collector of the vectors of one run and measure, block by block."""

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
        """Add a block; return its raw scores at the last rank."""
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


@dataclass(frozen=True, eq=False, repr=False)
class CurveDifference:
    """A run's average curve minus the baseline's, over their common queries; the band is simultaneous."""

    run: str
    baseline: str
    measure: CumulatedGain  # without @k
    values: Floats
    queries: int
    band: Band | None

    def ranks(self, sign: int) -> list[tuple[int, int]]:
        """Return first and last ranks of the regions with the band above 0 (``sign`` 1) or below (-1)."""
        if self.band is None:
            return []
        beyond = self.band.low > 0 if sign > 0 else self.band.high < 0
        edges = np.flatnonzero(np.diff(np.concatenate(([False], beyond, [False])).astype(np.int64)))
        return [(int(first) + 1, int(last)) for first, last in edges.reshape(-1, 2)]

    def sentence(self, per_cent: str) -> str:
        """Return the ranks at which the run is significantly ahead or behind."""
        run, baseline = printable(self.run, 40), printable(self.baseline, 40)
        over = f"simultaneous {per_cent} band over ranks 1 to {self.values.size:,}"
        if self.band is None:
            return f"{self.measure}: no band for {run}, because it shares too few queries with {baseline}."
        found = []
        for word, regions in (("ahead of", self.ranks(1)), ("behind", self.ranks(-1))):
            texts = [str(first) if first == last else f"{first} to {last}" for first, last in regions]
            one = len(regions) == 1 and regions[0][0] == regions[0][1]
            found += [f"{word} {baseline} at {'rank' if one else 'ranks'} {listed(texts, most=6)}"] if regions else []
        if not found:
            return f"{self.measure}: no significant difference between {run} and {baseline} at any rank ({over})."
        return f"{self.measure}: {run} is significantly {' and '.join(found)} ({over})."


def _curve_differences(
    vectors: Mapping[tuple[str | None, Measure], Floats],
    runs: Sequence[str],
    measures: Sequence[CumulatedGain],
    baseline: str,
    resampling: Resampling,
) -> Iterator[CurveDifference]:
    """Yield differences of every other run, by measure; ``vectors`` are queries x ranks, NaN for omitted queries."""
    if not resampling.draws:
        raise UsageError("baseline: bands of differences need resamples", "remove --draws 0")
    for measure in measures:
        for run in runs:
            if run == baseline:
                continue
            apart = vectors[run, measure] - vectors[baseline, measure]
            apart = apart[~np.isnan(apart).any(axis=1)]
            mean = apart.mean(axis=0) if apart.size else np.full(apart.shape[1], np.nan)
            reach, band = simultaneous_reach(apart, resampling.draws, resampling.seed, resampling.confidence), None
            if reach is not None:
                band = Band(np.arange(1, mean.size + 1), mean - reach, mean + reach, resampling.draws)
            yield CurveDifference(run, baseline, measure, mean, apart.shape[0], band)


@dataclass(frozen=True, eq=False, repr=False)
class GainCurves(Curves[CumulatedGain]):
    """Average curves over ranks of the ideal (unless the measure is normalised) and of every run.

    ``evaluations`` are the runs' scores at the last rank, with their notices.
    """

    #: By run and measure, the ideal over the run's own queries, if the policy omits some queries.
    own_ideals: Mapping[tuple[str, Measure], Floats]
    #: Per-query vectors by run (None: the ideal) and measure, queries x ranks, if requested.
    vectors: Mapping[tuple[str | None, Measure], Floats] = field(default_factory=dict)
    #: The runs' differences from the baseline, if given.
    differences: tuple[CurveDifference, ...] = ()

    def __repr__(self) -> str:
        measures = ", ".join(f"{measure} to rank {self.depth(measure)}" for measure in self.measures)
        return f"<GainCurves of {', '.join(map(printable, self.runs))}: {measures}>"

    @property
    def queries(self) -> list[str]:
        """The judged queries, sorted by ID."""
        return next(iter(self.evaluations.values())).queries

    @cached_property
    def _known(self) -> dict[Measure, CumulatedGain]:
        return {each: known for known, depth in self._depths.items() for each in (known, with_depth(known, depth))}

    def ideal(self, measure: str | Measure | None = None) -> Curve[CumulatedGain]:
        """Return the average of the ideal lists."""
        return self.curve(None, measure)

    def by_query(self, run: str | None, measure: str | Measure | None = None) -> dict[str, Floats]:
        """Return every query's vector over ranks, after the policy; NaN if it omits the query."""
        found = self.measure(measure)
        if not self.vectors:
            raise UsageError("by_query: per-query vectors were not kept; use gain_curves(..., by_query=True)")
        return dict(zip(self.queries, self.vectors[self.curve(run, found).run, found], strict=True))

    def sideways(
        self,
        measure: str | Measure | None = None,
        reference: str | None = None,
        at: Sequence[int] | None = None,
        regions: Sequence[tuple[int, int]] | None = None,
        average: str | None = None,
    ) -> Sideways:
        """Compare curves by rank instead of gain: how many more documents users must read for the same gain.

        The gain is that of the reference, the ideal (None) or a run, after ``at`` documents: 5, 10 and 20 by default.
        The default measure is the first that is not normalised. ``regions`` are first and last ranks over which the
        distance from the ideal is computed. A run averaged over some of the queries is compared with their ideal. The
        ideal of a normalised measure is 1 at every rank: only distances from it are given, unless the reference is a
        run.

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
        """Return a chart and a table per measure and average, the readings by rank, and all values for machines."""
        parts: list[Table | Chart | str] = []
        for shown in grouped(((curve.measure, curve.average), curve) for curve in self.curves).values():
            parts += _gain_parts(self, shown, places)
        parts += _difference_parts(self.differences, self.resampling.per_cent, places)
        notes = list(_gain_notes(self))
        # If some measures are not normalised, only these use the reference; the others show distances from the ideal.
        has_plain = not all(measure.normalised for measure in self.measures)
        readings = []
        for measure in self.measures:
            chosen = (None, None) if measure.normalised and has_plain else (reference, at)
            readings += [self.sideways(measure, *chosen, regions, each) for each in self.averages(measure)]
        across = [reading for reading in readings if reading.reaches]
        for reading in readings:
            sentences = reading.sentences()
            if len(across) > 1:
                sentences = [f"{reading.measure}: {each}" for each in sentences]
            parts += ["\n".join(sentences), *reading.tables(places, for_people=True)]
        if not across:
            notes.insert(0, "no reading by rank: the ideal of normalised measures is 1 at every rank; use CG or DCG")
        count = sum(curve.depth for curve in self.curves) + sum(int(vectors.size) for vectors in self.vectors.values())
        columns = head("run | measure | average | query | rank # | value . | low . | high .", for_machines=True)
        parts.append(Table(columns, RowsOnDemand(count, lambda: _every_gain(self))))
        first = next(iter(self.evaluations.values()))
        header = {
            "signature": str(first.signature()),
            "measures": dict(zip(map(str, self.measures), map(str, map(first.signature, first.measures)), strict=True)),
            "depths": {str(measure): self.depth(measure) for measure in self.measures},
            "averages": {str(measure): self.averages(measure) for measure in self.measures},
            **asdict(self.resampling),
            "runs": [
                {"run": name, "path": run.source, "missing": len(run.missing)} for name, run in self.evaluations.items()
            ],
            "sideways": [reading.data() for reading in readings],
        }
        return Page("curves", tuple(part for part in parts if part), tuple(notes), header)


def gain_line(curve: GainCurve) -> Line:
    """Return a curve as a line of a chart."""
    if curve.run is None:
        return curve_line("ideal", curve.values, curve.band, "ideal")
    return curve_line(curve.run, curve.values, curve.band)


def _gain_parts(curves: GainCurves, shown: Sequence[GainCurve], places: int) -> Iterator[Plot | Table]:
    last, depth = shown[-1], shown[0].depth
    counts = {curve.count for curve in shown if curve.run is not None}
    over = f", {last.average} over {count_of(last.count, 'query', 'queries') if len(counts) == 1 else 'queries'}"
    if counts == {1} and len(curves.averages(last.measure)) == 1:
        over = ""  # a single query has no average
    lines = list(map(gain_line, shown))
    if shown[0].run is None:
        # Resampled queries have a different ideal, but no band may exceed the ideal shown.
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
        Axis(last.measure.name, 0.0, 1.0 if is_share else None),  # parameters are in the title
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
    band = f"{curves.resampling.per_cent} CI at {depth}"
    yield Table.of(
        (run, *value_columns([(str(rank), rank) for rank in ranks], shown, band, places)),
        shown,
        title=f"{last.measure} at selected ranks{over}",
        marked=frozenset(marked),
        for_people=True,
    )


def _about_bands(curves: GainCurves, shown: Sequence[GainCurve]) -> str:
    if not curves.resampling.draws:
        return ""
    counts = {curve.count for curve in shown if curve.band is not None}
    if not counts:
        most = max(curve.count for curve in shown if curve.run is not None)
        return f"no bands: at least 2 queries are needed, found {most}"
    over = count_of(max(counts), "query", "queries") if len(counts) == 1 else "each run's queries"
    return curves.resampling.about(over)


def _gain_notes(curves: GainCurves) -> Iterator[str]:
    report = Report(curves.evaluations)
    if len(curves.runs) > 1:
        yield "* best in column"
    if report.counted:
        counts = ", ".join(f"{printable(run, 80)} {count}" for run, count in report.counted.items())
        yield f"averages over different numbers of queries: {counts}"
    of_runs = [curve for curve in curves.curves if curve.run is not None]
    ideal = next((curve for curve in curves.curves if curve.run is None), None)
    if ideal is not None and any(curve.count < ideal.count for curve in of_runs):
        yield f"the ideal is over all {count_of(ideal.count, 'judged query', 'judged queries')}"
    yield from filter(None, [_about_bands(curves, of_runs)])
    yield from report.signatures


def _every_gain(curves: GainCurves) -> Iterator[Row]:
    for curve in curves.curves:
        labels = (curve.run, str(curve.measure), curve.average, None)
        yield from ((*labels, *row) for row in rows_by_place(curve.values, curve.band))
    for (run, measure), vectors in curves.vectors.items():
        name = str(measure)
        for query, vector in zip(curves.queries, vectors, strict=True):
            yield from ((run, name, None, query, *row) for row in rows_by_place(vector))


def _difference_parts(found: Sequence[CurveDifference], per_cent: str, places: int) -> Iterator[Plot | Table | str]:
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
        title, ends = f"{measure}, difference from {printable(shown[0].baseline, 40)}", (1.0, float(depth))
        about = f"band: {per_cent}, simultaneous over ranks, from random sign flips of {queries}"
        note = f"in brackets: {per_cent} simultaneous band; a difference is significant if its band excludes 0"
        if all(each.band is None for each in shown):
            about = note = f"no band: too few queries ({shown[0].queries})"
        lines = (Line("", ends, (0.0, 0.0), "guide"), *(curve_line(each.run, each.values, each.band) for each in shown))
        yield Plot(f"{title}, by rank", Axis("rank", *ends, is_whole=True), Axis("difference"), lines, caption=about)
        at = [*(rank for rank in (1, 5, 10) if rank < depth), depth]
        rows = tuple((each.run, *(with_band(each, rank) for rank in at)) for each in shown)
        yield Table(head(["run", *map(str, at)]), rows, f"{title}, at selected ranks", (note,), for_people=True)
    columns = head("run | baseline | measure | rank # | difference . | low . | high .", for_machines=True)
    named = (((each.run, each.baseline, str(each.measure)), rows_by_place(each.values, each.band)) for each in found)
    yield Table(columns, tuple((*names, *row) for names, rows in named for row in rows), "Differences by rank")
