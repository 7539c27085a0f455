"""The vectors of one run by one measure, gathered block by block into average curves; and those of the ideal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.evaluation.results import settled
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.block import CELLS, Block
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.policy import Policy
from gainful.tasks.curves.averages import (
    MEAN,
    RATIO_OF_MEANS,
    Band,
    Curve,
    Resamples,
    Resampling,
    band_ranks,
    percentile_band,
    resampled,
    widened,
)


def with_depth(measure: CumulatedGain, depth: int | None) -> CumulatedGain:
    """The measure with another @k; None: without it, as a whole curve is called."""
    return measure.replace(cutoff=depth)  # type: ignore[return-value]


class CurvesOfMeasure(NamedTuple):
    """A run by one measure: its average curves, its own ideal if it differs from that of all queries, where nothing
    changes any more, and every query's vectors (queries x ranks, NaN where a query is left out) if they are kept."""

    curves: list[Curve[CumulatedGain]]
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


class MeasureVectors:
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
        undefined = 0.0 if policy.undefined == "zero" else np.nan
        values = settled(raw.T, answered, measure, policy.missing, undefined).T
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

    def finished(self, run: str, resampling: Resampling, policy: Policy) -> CurvesOfMeasure:
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
        return CurvesOfMeasure(curves, own_ideal, self._end, self._vectors)


def ideal_curve(judged: Judged, measure: CumulatedGain) -> Curve[CumulatedGain]:
    """The mean over all judged queries of the best lists there can be."""
    sums, queries = RankSums(measure.cutoff or 1), len(judged.qrels.query_ids)
    for vectors in ideal_vectors(judged, measure):
        sums.add(vectors)
    return Curve(None, with_depth(measure, None), MEAN, "all queries", sums.total / queries, queries)


def ideal_vectors(judged: Judged, measure: CumulatedGain) -> Iterator[Floats]:
    """The best lists' vectors, some queries at a time."""
    lists, depth = judged.ideal_lists(measure.gain, measure.rel, measure.level), measure.cutoff or 1
    size = max(1, CELLS // depth)
    for first in range(0, lists.size, size):
        yield measure.cumulated(lists.of_rows(np.arange(first, min(first + size, lists.size))), depth)
