"""The average curves of one run, gathered block by block, and how far each may be off: bootstrap over queries.

Queries are drawn with replacement, as many as there are; the same draws serve all runs and measures, so that curves
whose bands overlap can still be compared. Sums over drawn queries are sums of whole numbers small enough to be exact:
no order of adding, and so no number of threads, can change a digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.errors import UsageError
from gainful.evaluation.evaluate import evaluate_graded
from gainful.evaluation.results import Evaluation, settled
from gainful.kernel.arrays import Bools, Floats, Ints, freeze
from gainful.kernel.exact_sums import EXACT_BITS, RankSums, in_steps
from gainful.measures.block import CELLS, Block, seen_blocks
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.notation import count_of, number_text, read_count, read_number
from gainful.render import Showable

#: Bands are taken at each of the first ranks, then at so many ranks for every factor of ten, and at the last one.
EVERY_RANK_TO = 20
_RANKS_A_DECADE = 12

#: Draws are made so many cells (draws x queries) at a time; up to twice as many are kept for the next run.
_CELLS = 1 << 22

#: Products of so many multiplications stay on one thread; pieces of fewer draws are not worth it.
_SMALL_PRODUCT = 1 << 18
_FEW_DRAWS = 8


#: What averages over queries are called.
MEAN, MEAN_OF_RATIOS, RATIO_OF_MEANS = "mean", "mean of ratios", "ratio of means"

#: The ways to average normalised curves, by what the user calls them.
AVERAGES = {"ratios": (MEAN_OF_RATIOS,), "means": (RATIO_OF_MEANS,), "both": (MEAN_OF_RATIOS, RATIO_OF_MEANS)}

#: With fewer queries (or sessions) there is nothing to resample.
FEWEST = 2


def average_called(name: str) -> str:
    """An average by what the user calls it, or by its name."""
    return AVERAGES[name][0] if name in ("ratios", "means") else name


@dataclass(frozen=True)
class Resampling:
    """How bands are made: the number of resamples, the seed, and what share of them lies inside."""

    draws: int
    seed: int
    confidence: float

    @classmethod
    def of(cls, draws: object, seed: object, confidence: object) -> Resampling:
        """How bands are to be made, if that is possible."""
        found = cls(read_count(draws, "draws"), read_count(seed, "seed"), read_number(confidence, "confidence"))
        if not 0 < found.confidence < 1:
            raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
        return found

    def resamples(self, size: int) -> Resamples | None:
        """The resamples of so many queries or sessions; None where no bands are wanted."""
        return Resamples(size, self.draws, self.seed) if self.draws else None

    @property
    def per_cent(self) -> str:
        """What share of the resamples a band holds, as people read it."""
        return f"{number_text(round(100 * self.confidence, 10))} %"

    def about(self, over: str) -> str:
        """What the bands are."""
        draws = count_of(self.draws, "draw")
        return f"band: {self.per_cent} percentile bootstrap over {over}, {draws}, seed {self.seed}"


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """The lower and the upper end of what an average curve may be, at some ranks.

    ``draws`` is how many resamples it is from: those in which at least one query counted.
    """

    ranks: Ints
    low: Floats
    high: Floats
    draws: int

    def cut(self, depth: int) -> Band:
        """The band down to a rank after which nothing changes."""
        inside = int(np.searchsorted(self.ranks, depth))
        chosen = np.arange(inside + 1)
        ranks = np.minimum(self.ranks[chosen], depth)
        return Band(ranks, self.low[chosen], self.high[chosen], self.draws)

    def ends(self) -> dict[int, tuple[float, float]]:
        """Both ends by rank."""
        low_and_high = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return dict(zip(self.ranks.tolist(), low_and_high, strict=True))


def band_ranks(depth: int) -> Ints:
    """The ranks at which bands are taken: 1 to 20, about log-spaced beyond, and the last.

    >>> band_ranks(40).tolist()[18:]
    [19, 20, 24, 29, 36, 40]
    """
    steps = np.arange(1, 1 + max(0, int(np.ceil(_RANKS_A_DECADE * np.log10(max(depth, 1) / EVERY_RANK_TO)))))
    spaced = np.rint(EVERY_RANK_TO * 10.0 ** (steps / _RANKS_A_DECADE)).astype(np.int64)
    return np.concatenate((np.arange(1, min(depth - 1, EVERY_RANK_TO) + 1), spaced[spaced < depth], [depth]))


class Resamples:
    """How often every query is drawn in every resample: the same numbers whenever they are asked for.

    >>> [chunk] = Resamples(queries=4, draws=2, seed=0)
    >>> chunk.shape, chunk.sum(axis=1).tolist()
    ((2, 4), [4.0, 4.0])
    """

    def __init__(self, queries: int, draws: int, seed: int, cells: int = _CELLS) -> None:
        self.queries, self.draws, self.seed = queries, draws, seed
        self._cells = cells

    def __iter__(self) -> Iterator[Floats]:
        """Arrays of draws x queries, some draws at a time."""
        return iter(self._kept) if self.draws * self.queries <= 2 * self._cells else self._drawn()

    @cached_property
    def _kept(self) -> list[Floats]:
        return list(self._drawn())

    def _drawn(self) -> Iterator[Floats]:
        random = np.random.Generator(np.random.PCG64(self.seed))
        size = max(1, self._cells // self.queries)
        for first in range(0, self.draws, size):
            draws = min(size, self.draws - first)
            drawn = random.integers(self.queries, size=(draws, self.queries))
            drawn += np.arange(draws)[:, None] * self.queries
            counts = np.bincount(drawn.ravel(), minlength=drawn.size)
            yield counts.reshape(drawn.shape).astype(np.float64)


def resampled(resamples: Resamples, parts: Floats, wholes: Floats | Bools) -> Floats:
    """Sums of ``parts`` over the drawn queries by those of ``wholes``: columns x draws.

    ``parts`` are queries x columns, 0 where a query does not count. ``wholes`` are of the same shape, or one number a
    query: whether it counts, which makes means. Draws in which there is nothing to divide by are left out.
    """
    wholes = np.asarray(wholes, np.float64)
    columns = wholes[:, None] if wholes.ndim == 1 else wholes
    above, below = _Fixed(parts), _Fixed(columns)
    found = []
    for counts in resamples:
        whole = below.sums(counts)
        useful = whole[0] > 0  # what is nothing at the first rank is nothing at all of them
        found.append(above.sums(counts)[:, useful] / whole[:, useful])
    return np.concatenate(found, axis=1)


class _Fixed:
    """Columns of values as whole numbers times a power of two, such that no sum of as many as there are rounds."""

    def __init__(self, values: Floats) -> None:
        _, exponent = np.frexp(values.max(axis=0, initial=0.0))
        # Every value is below 2^exponent, and every sum of drawn values below the number of queries times that.
        self._shift = EXACT_BITS - int(values.shape[0]).bit_length() - exponent
        self._whole = in_steps(values, self._shift).T

    def sums(self, counts: Floats) -> Floats:
        """Columns x draws."""
        return np.asarray(np.ldexp(_product(self._whole, counts), -self._shift[:, None]))


def _product(columns: Floats, counts: Floats) -> Floats:
    """Columns x draws, of columns x queries and draws x queries.

    Small pieces: a large product would be spread over threads of its own, which wait for each other where runs already
    keep all cores busy.
    """
    step = _SMALL_PRODUCT // max(columns.size, 1)
    if step < _FEW_DRAWS:
        return np.asarray(columns @ counts.T)
    product = np.empty((columns.shape[0], counts.shape[0]))
    for first in range(0, counts.shape[0], step):
        np.matmul(columns, counts[first : first + step].T, out=product[:, first : first + step])
    return product


def percentile_band(ranks: Ints, values: Floats, confidence: float) -> Band | None:
    """The middle of many resampled values, as large as the confidence; None where there are none."""
    draws = values.shape[1]
    if not draws:
        return None
    ordered = np.sort(values, axis=1)
    tail = (1.0 - confidence) / 2.0
    low, high = (_between(ordered, share * (draws - 1)) for share in (tail, 1.0 - tail))
    return Band(ranks, low, high, draws)


def _between(ordered: Floats, place: float) -> Floats:
    """What stands at a place among ordered values, between two of them in proportion."""
    before = min(int(place), ordered.shape[1] - 1)
    after = min(before + 1, ordered.shape[1] - 1)
    return np.asarray(ordered[:, before] + (ordered[:, after] - ordered[:, before]) * (place - before))


@dataclass(frozen=True, eq=False, repr=False)
class GainCurve:
    """An average curve: the value at every rank from 1 on, how far it may be off, and over how many queries it is.

    ``run`` is None for the ideal. ``average`` is ``"mean"``, of normalised measures ``"mean of ratios"`` or
    ``"ratio of means"``. A value is NaN where no query counts. ``own_ideal`` is the ideal over the same queries, where
    the policy leaves some out: there the ideal of all of them is no match for it.
    """

    run: str | None
    measure: CumulatedGain  # without @k
    average: str
    values: Floats
    queries: int
    band: Band | None = None
    own_ideal: Floats | None = None

    @property
    def depth(self) -> int:
        """The last rank."""
        return int(self.values.size)

    def __repr__(self) -> str:
        whose = "the ideal" if self.run is None else self.run
        return f"<GainCurve of {whose}: {self.measure} ({self.average}) to rank {self.depth}>"

    def cut(self, depth: int) -> GainCurve:
        """The curve down to a rank after which nothing changes."""
        own_ideal = None if self.own_ideal is None else self.own_ideal[:depth]
        return replace(self, values=self.values[:depth], band=self.band and self.band.cut(depth), own_ideal=own_ideal)


class Wanted(NamedTuple):
    """What is to be made of every run: measures with their depth as @k, the averages of each, and bands."""

    measures: tuple[CumulatedGain, ...]
    averages: tuple[tuple[str, ...], ...]
    resamples: Resamples | None
    confidence: float
    by_query: bool

    def ranks(self, depth: int) -> Ints:
        """Where bands are taken."""
        return np.zeros(0, np.int64) if self.resamples is None else band_ranks(depth)


class OfRun(NamedTuple):
    """What is kept of a run: its curves, its scores at the depth, where each measure's curves end, and every query's
    vectors (queries x ranks, NaN where a query is left out) if they are wanted."""

    curves: list[GainCurve]
    evaluation: Evaluation
    ends: list[int]
    by_query: list[Floats]


def curves_of_run(name: str, graded: GradedRun, wanted: Wanted) -> OfRun:
    """All average curves of a run that has met the judgments, and what else is wanted of it."""
    queries = len(graded.query_ids)
    raw, ends = np.full((len(wanted.measures), queries), np.nan), [1] * len(wanted.measures)
    vectors = [np.empty((queries, _depth(measure))) for measure in wanted.measures] if wanted.by_query else []
    gathered = [
        {average: _Gathered(_depth(measure), wanted.ranks(_depth(measure)), queries) for average in averages}
        for measure, averages in zip(wanted.measures, wanted.averages, strict=True)
    ]
    for block, seen_by in seen_blocks(graded, wanted.measures):
        for i in seen_by:
            found = _Vectors.of(block, wanted.measures[i])
            raw[i, block.queries] = found.raw[:, -1]
            ends[i] = max(ends[i], found.end)
            for average, curve in gathered[i].items():
                curve.add(block.queries, *found.parts(average))
                if average == MEAN:
                    curve.add_ideal(found.ideal)
            if wanted.by_query:
                vectors[i][block.queries] = widened(found.settled, _depth(wanted.measures[i]))
    # Refuses what the policy forbids.
    evaluation = evaluate_graded(graded, wanted.measures, raw=raw)
    curves = [
        curve.average_curve(name, measure, average, graded.policy.undefined, wanted)
        for measure, by_average in zip(wanted.measures, gathered, strict=True)
        for average, curve in by_average.items()
    ]
    return OfRun(curves, evaluation, ends, vectors)


def ideal_curve(judged: Judged, measure: CumulatedGain) -> GainCurve:
    """The mean over all judged queries of the best lists there can be."""
    depth, queries = _depth(measure), len(judged.qrels.query_ids)
    sums = RankSums(depth)
    for vectors in _ideal_vectors(judged, measure):
        sums.add(vectors)
    return GainCurve(None, _named(measure), MEAN, sums.total / queries, queries)


def ideal_by_query(judged: Judged, measure: CumulatedGain) -> Floats:
    """Every query's best list: queries x ranks."""
    return np.concatenate(list(_ideal_vectors(judged, measure)))


def _ideal_vectors(judged: Judged, measure: CumulatedGain) -> Iterator[Floats]:
    """The best lists' vectors, some queries at a time."""
    lists = judged.ideal_lists(measure.gain, measure.rel, measure.level)
    size = max(1, CELLS // _depth(measure))
    for first in range(0, lists.size, size):
        rows = np.arange(first, min(first + size, lists.size))
        yield measure.cumulated(lists.of_rows(rows), _depth(measure))


class _Vectors(NamedTuple):
    """The vectors of a block: the run's, the ideal's, the measure's before and after the policy, where nothing changes
    any more, and which queries the policy does not leave out as missing."""

    run: Floats
    ideal: Floats
    raw: Floats
    settled: Floats
    end: int
    present: Bools

    @classmethod
    def of(cls, block: Block, measure: CumulatedGain) -> _Vectors:
        run, ideal = measure.vectors(block, _depth(measure))
        raw = measure.share(run, ideal) if measure.normalised else run
        answered, policy = block.graded.answered[block.queries], block.policy
        undefined = 0.0 if policy.undefined == "zero" else np.nan
        last_rise = block.ideal_lists(measure.gain, measure.rel, measure.level).last_rank(_depth(measure))
        return cls(
            run,
            ideal,
            raw,
            settled(raw.T, answered, measure, policy.missing, undefined).T,
            int(max(block.retrieved.max(initial=1), last_rise.max(initial=1))),
            answered if policy.missing == "skip" else np.ones(block.size, bool),
        )

    def parts(self, average: str) -> tuple[Bools, Floats, Floats | None]:
        """Which queries count, what is averaged, and what it is divided by if not by their number."""
        if average == RATIO_OF_MEANS:
            return self.present, self.run, self.ideal
        return ~np.isnan(self.settled[:, 0]), self.settled, None


class _Gathered:
    """What one average curve is made of: sums at every rank, and every query's values at the ranks of the band."""

    def __init__(self, depth: int, ranks: Ints, queries: int) -> None:
        self._ranks = ranks
        self._parts, self._wholes = RankSums(depth), RankSums(depth)
        self._counted = np.zeros(queries, bool)
        self._part_at = np.zeros((queries, ranks.size))
        self._whole_at: Floats | None = None
        self._last_counted = np.zeros(0, bool)

    def add_ideal(self, ideal: Floats) -> None:
        """Takes the ideal vectors of the block in that was added last."""
        self._wholes.add(np.where(self._last_counted[:, None], ideal, 0.0))

    def add(self, queries: Ints, counted: Bools, parts: Floats, wholes: Floats | None) -> None:
        """Takes a block's vectors in."""
        self._counted[queries] = self._last_counted = counted
        columns = np.minimum(self._ranks, parts.shape[1]) - 1
        parts = np.where(counted[:, None], parts, 0.0)
        self._parts.add(parts)
        self._part_at[queries] = parts[:, columns]
        if wholes is not None:
            wholes = np.where(counted[:, None], wholes, 0.0)
            self._wholes.add(wholes)
            if self._whole_at is None:
                self._whole_at = np.zeros_like(self._part_at)
            self._whole_at[queries] = wholes[:, columns]

    def average_curve(
        self, run: str, measure: CumulatedGain, average: str, undefined: str, wanted: Wanted
    ) -> GainCurve:
        """The curve, and its band if one is wanted and there are queries enough."""
        count = int(np.count_nonzero(self._counted))
        with np.errstate(invalid="ignore"):
            if average == RATIO_OF_MEANS:
                values = measure.capped(self._parts.total / self._wholes.total)
                values = np.where(np.isnan(values), 0.0, values) if undefined == "zero" and count else values
            else:
                values = self._parts.total / (count or np.nan)
        is_part = average == MEAN and 0 < count < self._counted.size
        own_ideal = self._wholes.total / count if is_part else None
        return GainCurve(run, _named(measure), average, values, count, self._band(measure, count, wanted), own_ideal)

    def _band(self, measure: CumulatedGain, count: int, wanted: Wanted) -> Band | None:
        if wanted.resamples is None or count < FEWEST:
            return None
        wholes = self._counted if self._whole_at is None else self._whole_at
        drawn = resampled(wanted.resamples, self._part_at, wholes)
        return percentile_band(self._ranks, measure.capped(drawn) if measure.normalised else drawn, wanted.confidence)


def _depth(measure: CumulatedGain) -> int:
    assert measure.cutoff is not None  # given, or the default's
    return measure.cutoff


def _named(measure: CumulatedGain) -> CumulatedGain:
    """The measure without @k: what a whole curve is called."""
    return measure.replace(cutoff=None)  # type: ignore[return-value]


def widened(vectors: Floats, depth: int) -> Floats:
    """The same down to a depth, which may be before their end: after its last rank a vector stays as it is."""
    return np.pad(vectors[:, :depth], ((0, 0), (0, max(0, depth - vectors.shape[1]))), "edge")


class _HasValues(Protocol):
    @property
    def values(self) -> Floats: ...


Curve = TypeVar("Curve", bound=_HasValues)


class CurvesOfRuns(Showable, Generic[Curve]):
    """What curves of runs and of sessions have in common. ``evaluations`` are the scores, by run or system."""

    curves: tuple[Curve, ...]
    evaluations: Mapping[str, Evaluation]

    def __post_init__(self) -> None:
        freeze(*(curve.values for curve in self.curves))

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious, one line each."""
        from gainful.evaluation.notices import notices

        return tuple(notices(self.evaluations.values()))

    @property
    def runs(self) -> list[str]:
        """The names of the runs or systems."""
        return list(self.evaluations)
