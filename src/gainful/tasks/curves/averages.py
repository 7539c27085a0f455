"""Average curves of runs and of sessions with bootstrap bands, and their display as lines, tables and values.

All runs and measures share the same resamples of queries, so that overlapping bands can still be compared. Sums over
resamples are sums of whole numbers small enough to be exact, so neither order of addition nor threads matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Generic, Self, TypeVar

import numpy as np

from gainful.data.collection import no_such_run, require_runs
from gainful.errors import UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Bools, Floats, Ints, freeze
from gainful.kernel.exact_sums import EXACT_BITS, in_steps
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import choose, count_of, percent_text, printable, read_number
from gainful.pages.charts import Band as ChartBand, Line, Role
from gainful.pages.page import Column, Row
from gainful.render import Showable

#: Bands are computed at each of the first ranks, then at this many ranks per factor of ten, and at the last one.
EVERY_RANK_TO = 20
_RANKS_A_DECADE = 12

#: Cells (resamples x queries) per batch; up to twice as many are cached.
_CELLS = 1 << 22

#: Products with at most this many multiplications use one thread; batches of fewer resamples are not worth it.
_SMALL_PRODUCT = 1 << 18
_FEW_DRAWS = 8

#: Names of averages over queries.
MEAN, MEAN_OF_RATIOS, RATIO_OF_MEANS = "mean", "mean of ratios", "ratio of means"

#: Ways to average normalised curves, by option value.
AVERAGES = {"ratios": (MEAN_OF_RATIOS,), "means": (RATIO_OF_MEANS,), "both": (MEAN_OF_RATIOS, RATIO_OF_MEANS)}

#: Resampling needs at least this many queries (or sessions).
FEWEST = 2


def checked_baseline(runs: Mapping[str, object], wanted: str | None) -> str:
    """Return the baseline run: the requested one, or the first."""
    require_runs(runs)
    if wanted is not None and wanted not in runs:
        raise no_such_run(wanted, runs, "baseline")
    return next(iter(runs)) if wanted is None else wanted


@dataclass(frozen=True)
class Resampling:
    """Settings of bands: number of resamples, seed, and confidence level."""

    draws: int
    seed: int
    confidence: float

    @classmethod
    def of(cls, draws: int, seed: int, confidence: object) -> Resampling:
        found = cls(draws, seed, read_number(confidence, "confidence"))
        if not 0 < found.confidence < 1:
            raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
        return found

    def resamples(self, size: int) -> Resamples | None:
        """Return resamples of queries or sessions; None if bands are not wanted or not possible."""
        return Resamples(size, self.draws, self.seed) if self.draws and size >= FEWEST else None

    def band(self, places: Ints, parts: Floats, wholes: Floats | Bools) -> Band | None:
        """Return the band of an average at some ranks, from :func:`resampled`; None if there is none."""
        draws = self.resamples(parts.shape[0])
        return None if draws is None else percentile_band(places, resampled(draws, parts, wholes), self.confidence)

    @property
    def per_cent(self) -> str:
        return percent_text(self.confidence)

    def about(self, over: str) -> str:
        draws = count_of(self.draws, "resample")
        return f"band: {self.per_cent} percentile bootstrap over {over}, {draws}, seed {self.seed}"


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """The lower and upper ends of the interval of an average curve, at some ranks.

    ``draws`` is the number of resamples with at least one counted query.
    """

    ranks: Ints
    low: Floats
    high: Floats
    draws: int

    def cut(self, depth: int) -> Band:
        """Return the band up to a rank after which it is constant."""
        chosen = np.arange(int(np.searchsorted(self.ranks, depth)) + 1)
        return Band(np.minimum(self.ranks[chosen], depth), self.low[chosen], self.high[chosen], self.draws)

    def ends(self) -> dict[int, tuple[float, float]]:
        """Return both ends by rank."""
        low_and_high = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return dict(zip(self.ranks.tolist(), low_and_high, strict=True))


def band_ranks(depth: int) -> Ints:
    """Return the ranks at which bands are computed: 1 to 20, then roughly log-spaced ones, and the last.

    >>> band_ranks(40).tolist()[18:]
    [19, 20, 24, 29, 36, 40]
    """
    steps = np.arange(1, 1 + max(0, int(np.ceil(_RANKS_A_DECADE * np.log10(max(depth, 1) / EVERY_RANK_TO)))))
    spaced = np.rint(EVERY_RANK_TO * 10.0 ** (steps / _RANKS_A_DECADE)).astype(np.int64)
    return np.concatenate((np.arange(1, min(depth - 1, EVERY_RANK_TO) + 1), spaced[spaced < depth], [depth]))


class Resamples:
    """The number of times each query is drawn in each resample; the same numbers in every iteration.

    >>> [chunk] = Resamples(queries=4, draws=2, seed=0)
    >>> chunk.shape, chunk.sum(axis=1).tolist()
    ((2, 4), [4.0, 4.0])
    """

    def __init__(self, queries: int, draws: int, seed: int, cells: int = _CELLS) -> None:
        self.queries, self.draws, self.seed = queries, draws, seed
        self._cells = cells

    def __iter__(self) -> Iterator[Floats]:
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
    """Return sums of ``parts`` over resampled queries, divided by those of ``wholes``: columns x resamples.

    ``parts`` are queries x columns, 0 if a query does not count. ``wholes`` have the same shape, or one number per
    query, 1 if it counts, for means. Resamples with a zero divisor are omitted.
    """
    wholes = np.asarray(wholes, np.float64)
    above, below = _ExactColumns(parts), _ExactColumns(wholes[:, None] if wholes.ndim == 1 else wholes)
    found = []
    for counts in resamples:
        whole = below.sums(counts)
        useful = (whole[0] > 0) & whole.all(axis=0)
        found.append(above.sums(counts)[:, useful] / whole[:, useful])
    return np.concatenate(found, axis=1)


class _ExactColumns:
    """Columns of values as whole numbers times a power of two, scaled so that sums over all queries are exact."""

    def __init__(self, values: Floats) -> None:
        _, exponent = np.frexp(values.max(axis=0, initial=0.0))
        # Every value is below 2^exponent, and every sum over resampled queries below that times the number of queries.
        self._shift = EXACT_BITS - int(values.shape[0]).bit_length() - exponent
        self._whole = in_steps(values, self._shift).T

    def sums(self, counts: Floats) -> Floats:
        """Return sums, columns x resamples, for counts of resamples x queries."""
        # In small pieces: BLAS would spread a large product over its own threads, in competition with other runs.
        step = _SMALL_PRODUCT // max(self._whole.size, 1)
        if step < _FEW_DRAWS:
            step = counts.shape[0]
        product = np.empty((self._whole.shape[0], counts.shape[0]))
        for first in range(0, counts.shape[0], step):
            np.matmul(self._whole, counts[first : first + step].T, out=product[:, first : first + step])
        return np.asarray(np.ldexp(product, -self._shift[:, None]))


def percentile_band(ranks: Ints, values: Floats, confidence: float) -> Band | None:
    """Return the percentile interval of resampled values; None if there are none."""
    draws = values.shape[1]
    if not draws:
        return None
    ordered, rest = np.sort(values, axis=1), (1.0 - confidence) / 2.0
    ends = []
    for place in (rest * (draws - 1), (1.0 - rest) * (draws - 1)):
        before, after = int(place), min(int(place) + 1, draws - 1)
        ends.append(ordered[:, before] + (ordered[:, after] - ordered[:, before]) * (place - before))
    return Band(ranks, ends[0], ends[1], draws)


def widened(vectors: Floats, depth: int) -> Floats:
    """Return vectors of the given depth; beyond its last rank a vector is constant."""
    return np.pad(vectors[:, :depth], ((0, 0), (0, max(0, depth - vectors.shape[1]))), "edge")


#: The measure of a curve: of lists, or of sessions.
M = TypeVar("M", bound=Measure)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Generic[M]):
    """Values at every rank (for sessions: position) from 1, with a band, and the number of items averaged.

    ``run`` is None for the ideal. ``average`` is ``"mean"``, or, for normalised measures, ``"mean of ratios"`` or
    ``"ratio of means"``. ``of`` names the items averaged: ``"all queries"``, ``"all sessions"``,
    ``"at least 4 queries"``, ``"last query"``, ``"earlier queries"``, ``"best query"``, or ``"session"``; ``count`` is
    their number. A value is NaN if none counts.
    """

    run: str | None
    measure: M  # without @k for runs
    average: str
    of: str
    values: Floats
    count: int
    band: Band | None = None

    @property
    def depth(self) -> int:
        return int(self.values.size)

    def __repr__(self) -> str:
        whose = "the ideal" if self.run is None else printable(self.run)
        return f"<Curve of {whose}, {self.of}: {self.measure} ({self.average}) to {self.depth}>"

    def cut(self, depth: int) -> Self:
        """Return the curve up to a rank after which it is constant."""
        return replace(self, values=self.values[:depth], band=self.band and self.band.cut(depth))


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Showable, Generic[M]):
    """Curves of several runs or systems. ``evaluations`` are their scores, with their notices."""

    curves: tuple[Curve[M], ...]
    evaluations: Mapping[str, Evaluation]
    resampling: Resampling

    def __post_init__(self) -> None:
        freeze(*(curve.values for curve in self.curves))

    @property
    def notices(self) -> tuple[str, ...]:
        from gainful.evaluation.notices import notices

        return tuple(notices(self.evaluations.values()))

    @property
    def runs(self) -> list[str]:
        return list(self.evaluations)

    @property
    def measures(self) -> list[M]:
        """The measures, for runs without @k."""
        return list(self._depths)

    def depth(self, measure: str | Measure | None = None) -> int:
        """Return the last rank or position of a measure's curves."""
        return self._depths[self.measure(measure)]

    def averages(self, measure: str | Measure | None = None) -> list[str]:
        """Return the names of a measure's averages."""
        return list(self._placed[self.runs[0], self.measure(measure)])

    def measure(self, measure: str | Measure | None) -> M:
        """Return one of the measures, by default the first."""
        if measure is None:
            return self.measures[0]
        wanted = measure if isinstance(measure, Measure) else parse(measure)
        if wanted in self._known:
            return self._known[wanted]
        raise UsageError(f"no curve for {wanted}; there are {', '.join(map(str, self.measures))}")

    def curve(
        self, run: str | None, measure: str | Measure | None = None, average: str | None = None, of: str | None = None
    ) -> Curve[M]:
        """Return the curve of a run (None: of the ideal); parameters default to the first available."""
        found = self.measure(measure)
        known = dict.fromkeys(name for name, _ in self._placed if name is not None)
        if run not in (None, *known):
            raise no_such_run(str(run), known)
        by_average = self._placed.get((run, found))
        if by_average is None:
            raise UsageError(f"{found}: no ideal curve: the ideal of a normalised measure is 1 at every rank")
        wanted = next(iter(by_average)) if average is None else AVERAGES.get(average, (average,))[0]
        by_kind = by_average[choose(wanted, by_average, f"{found}: average")]
        return by_kind[next(iter(by_kind)) if of is None else choose(of, by_kind, f"{found}: of")]

    @cached_property
    def _depths(self) -> dict[M, int]:
        return {curve.measure: curve.depth for curve in self.curves}

    @cached_property
    def _known(self) -> dict[Measure, M]:
        return {known: known for known in self._depths}

    # Cached, because some callers look up thousands of curves.
    @cached_property
    def _placed(self) -> dict[tuple[str | None, M], dict[str, dict[str, Curve[M]]]]:
        placed: dict[tuple[str | None, M], dict[str, dict[str, Curve[M]]]] = {}
        for curve in self.curves:
            of_run = placed.setdefault((curve.run, curve.measure), {})
            of_run.setdefault(curve.average, {}).setdefault(curve.of, curve)
        return placed


def curve_line(name: str, values: Floats, band: Band | None = None, role: Role = "system") -> Line:
    """Return a curve as a line of a chart."""
    x, ends = tuple(map(float, range(1, len(values) + 1))), None
    if band is not None:
        ends = ChartBand(*(tuple(map(float, each.tolist())) for each in (band.ranks, band.low, band.high)))
    return Line(name, x, tuple(map(float, values.tolist())), role, ends)


def table_ranks(depth: int) -> list[int]:
    """Return the ranks shown in a table: 1, 2, 3, 5, 10, 20, 50, 100, ... and the last.

    >>> table_ranks(300)
    [1, 2, 3, 5, 10, 20, 50, 100, 200, 300]
    """
    ranks, ten = [1, 2, 3, 5], 10
    while ten < depth:
        ranks += [ten, 2 * ten, 5 * ten]
        ten *= 10
    return [*(rank for rank in ranks if rank < depth), depth]


def value_columns(
    named: Sequence[tuple[str, int]], curves: Sequence[Curve[Any]], band: str, places: int
) -> Iterator[Column]:
    """Yield a column for each selected rank, then, if there are bands, one for the band at the end."""

    def band_text(curve: Curve[Any]) -> str | None:
        ends = curve.band
        return None if ends is None else f"{ends.low[-1]:.{places}f} to {ends.high[-1]:.{places}f}"

    for name, place in named:
        yield Column(name, "number", places, get=partial(lambda place, curve: float(curve.values[place - 1]), place))
    if any(curve.band is not None for curve in curves):
        yield Column(band, get=band_text)


def rows_by_place(values: Floats, band: Band | None = None) -> Iterator[Row]:
    """Yield rank, value, and both ends of the band if known."""
    ends = {} if band is None else band.ends()
    for place, value in enumerate(values.tolist(), 1):
        yield (place, value, *ends.get(place, (None, None)))
