"""Average curves of runs and of sessions, how far each may be off (bootstrap over queries or sessions), and what pages
show of them: lines, tables of some places, all values.

Queries are drawn with replacement, as many as there are; the same draws serve all runs and measures, so that curves
whose bands overlap can still be compared. Sums over drawn queries are sums of whole numbers small enough to be exact:
no order of adding, and so no number of threads, can change a digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Generic, Self, TypeVar

import numpy as np

from gainful.data.collection import no_such_run
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


@dataclass(frozen=True)
class Resampling:
    """How bands are made: the number of resamples, the seed, and what share of them lies inside."""

    draws: int
    seed: int
    confidence: float

    @classmethod
    def of(cls, draws: int, seed: int, confidence: object) -> Resampling:
        """Read and check how bands are to be made."""
        found = cls(draws, seed, read_number(confidence, "confidence"))
        if not 0 < found.confidence < 1:
            raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
        return found

    def resamples(self, size: int) -> Resamples | None:
        """The resamples of so many queries or sessions; None where no bands are wanted or possible."""
        return Resamples(size, self.draws, self.seed) if self.draws and size >= FEWEST else None

    def band(self, places: Ints, parts: Floats, wholes: Floats | Bools) -> Band | None:
        """The band of an average at some places, as :func:`resampled` has it; None where there is none."""
        resamples = self.resamples(parts.shape[0])
        if resamples is None:
            return None
        return percentile_band(places, resampled(resamples, parts, wholes), self.confidence)

    @property
    def per_cent(self) -> str:
        """What share of the resamples a band holds, as people read it."""
        return percent_text(self.confidence)

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
        chosen = np.arange(int(np.searchsorted(self.ranks, depth)) + 1)
        return Band(np.minimum(self.ranks[chosen], depth), self.low[chosen], self.high[chosen], self.draws)

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
    above, below = _ExactColumns(parts), _ExactColumns(wholes[:, None] if wholes.ndim == 1 else wholes)
    found = []
    for counts in resamples:
        whole = below.sums(counts)
        useful = (whole[0] > 0) & whole.all(axis=0)
        found.append(above.sums(counts)[:, useful] / whole[:, useful])
    return np.concatenate(found, axis=1)


class _ExactColumns:
    """Columns of values as whole numbers times a power of two, such that no sum of as many as there are rounds."""

    def __init__(self, values: Floats) -> None:
        _, exponent = np.frexp(values.max(axis=0, initial=0.0))
        # Every value is below 2^exponent, and every sum of drawn values below the number of queries times that.
        self._shift = EXACT_BITS - int(values.shape[0]).bit_length() - exponent
        self._whole = in_steps(values, self._shift).T

    def sums(self, counts: Floats) -> Floats:
        """Columns x draws, of counts that are draws x queries.

        Small pieces: a large product would be spread over threads of its own, which wait for each other where runs
        already keep all cores busy.
        """
        step = _SMALL_PRODUCT // max(self._whole.size, 1)
        if step < _FEW_DRAWS:
            step = counts.shape[0]
        product = np.empty((self._whole.shape[0], counts.shape[0]))
        for first in range(0, counts.shape[0], step):
            np.matmul(self._whole, counts[first : first + step].T, out=product[:, first : first + step])
        return np.asarray(np.ldexp(product, -self._shift[:, None]))


def percentile_band(ranks: Ints, values: Floats, confidence: float) -> Band | None:
    """The middle of many resampled values, as large as the confidence; None where there are none."""
    draws = values.shape[1]
    if not draws:
        return None
    ordered = np.sort(values, axis=1)
    ends = []
    for share in ((1.0 - confidence) / 2.0, 1.0 - (1.0 - confidence) / 2.0):
        place = share * (draws - 1)
        before = min(int(place), draws - 1)
        after = min(before + 1, draws - 1)
        ends.append(ordered[:, before] + (ordered[:, after] - ordered[:, before]) * (place - before))
    low, high = ends
    return Band(ranks, low, high, draws)


def widened(vectors: Floats, depth: int) -> Floats:
    """The same down to a depth, which may be before their end: after its last rank a vector stays as it is."""
    return np.pad(vectors[:, :depth], ((0, 0), (0, max(0, depth - vectors.shape[1]))), "edge")


#: What curves are of: a measure of lists, or of sessions.
M = TypeVar("M", bound=Measure)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Generic[M]):
    """The value at every rank (of sessions: position) from 1 on, how far it may be off, and over how many it is.

    ``run`` is None for the ideal. ``average`` is ``"mean"``, of normalised measures ``"mean of ratios"`` or
    ``"ratio of means"``. ``of`` says over what it is: ``"all queries"``, ``"all sessions"``, ``"at least 4 queries"``,
    ``"last query"``, ``"earlier queries"``, ``"best query"``, or ``"session"``; ``count`` is how many these are. A
    value is NaN where none counts.
    """

    run: str | None
    measure: M  # of runs without @k
    average: str
    of: str
    values: Floats
    count: int
    band: Band | None = None

    @property
    def depth(self) -> int:
        """The last rank."""
        return int(self.values.size)

    def __repr__(self) -> str:
        whose = "the ideal" if self.run is None else printable(self.run)
        return f"<Curve of {whose}, {self.of}: {self.measure} ({self.average}) to {self.depth}>"

    def cut(self, depth: int) -> Self:
        """The curve down to a rank after which nothing changes."""
        return replace(self, values=self.values[:depth], band=self.band and self.band.cut(depth))


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Showable, Generic[M]):
    """Curves of several runs or systems. ``evaluations`` are their scores, with all that was noticed on the way."""

    curves: tuple[Curve[M], ...]
    evaluations: Mapping[str, Evaluation]
    resampling: Resampling

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

    @property
    def measures(self) -> list[M]:
        """The measures, of runs without @k."""
        return list(self._depths)

    def depth(self, measure: str | Measure | None = None) -> int:
        """The last rank or position of a measure's curves."""
        return self._depths[self.measure(measure)]

    def averages(self, measure: str | Measure | None = None) -> list[str]:
        """What the averages of a measure are called."""
        return list(self._placed[self.runs[0], self.measure(measure)])

    def measure(self, measure: str | Measure | None) -> M:
        """One of the measures, the first if none is given."""
        if measure is None:
            return self.measures[0]
        wanted = measure if isinstance(measure, Measure) else parse(measure)
        if wanted in self._known:
            return self._known[wanted]
        raise UsageError(f"no curve is of {wanted}; there are {', '.join(map(str, self.measures))}")

    def curve(
        self, run: str | None, measure: str | Measure | None = None, average: str | None = None, of: str | None = None
    ) -> Curve[M]:
        """The curve of a run (None: of the ideal); what is not given is the first that there is."""
        found = self.measure(measure)
        if run not in (None, *self.runs):
            raise no_such_run(str(run), self.runs)
        by_average = self._placed.get((run, found))
        if by_average is None:
            raise UsageError(f"{found}: the ideal of a normalised measure is 1 at every rank, it has no curve")
        wanted = next(iter(by_average)) if average is None else AVERAGES.get(average, (average,))[0]
        by_kind = by_average[choose(wanted, by_average, f"{found}: average")]
        return by_kind[next(iter(by_kind)) if of is None else choose(of, by_kind, f"{found}: of")]

    @cached_property
    def _depths(self) -> dict[M, int]:
        return {curve.measure: curve.depth for curve in self.curves}

    @cached_property
    def _known(self) -> dict[Measure, M]:
        """The measures, by each name that somebody may call them by."""
        return {known: known for known in self._depths}

    # Papers and pages ask for curves thousands of times.
    @cached_property
    def _placed(self) -> dict[tuple[str | None, M], dict[str, dict[str, Curve[M]]]]:
        placed: dict[tuple[str | None, M], dict[str, dict[str, Curve[M]]]] = {}
        for curve in self.curves:
            of_run = placed.setdefault((curve.run, curve.measure), {})
            of_run.setdefault(curve.average, {}).setdefault(curve.of, curve)
        return placed


def curve_line(name: str, values: Floats, band: Band | None = None, role: Role = "system") -> Line:
    """A curve as a line of a chart."""
    x = tuple(map(float, range(1, len(values) + 1)))
    ends = None
    if band is not None:
        ends = ChartBand(*(tuple(map(float, each.tolist())) for each in (band.ranks, band.low, band.high)))
    return Line(name, x, tuple(map(float, values.tolist())), role, ends)


def table_ranks(depth: int) -> list[int]:
    """The ranks that a table shows: 1, 2, 3, 5, 10, 20, 50, 100, ... and the last.

    >>> table_ranks(300)
    [1, 2, 3, 5, 10, 20, 50, 100, 200, 300]
    """
    ranks, ten = [1, 2, 3, 5], 10
    while ten < depth:
        ranks += [ten, 2 * ten, 5 * ten]
        ten *= 10
    return [*(rank for rank in ranks if rank < depth), depth]


def _value_at(place: int, curve: Curve[Any]) -> float:
    return float(curve.values[place - 1])


def value_columns(
    named: Sequence[tuple[str, int]], curves: Sequence[Curve[Any]], band: str, places: int
) -> Iterator[Column]:
    """A column for each of some places of curves, then, if there are any, their bands at the end."""

    def band_text(curve: Curve[Any]) -> str | None:
        ends = curve.band
        return None if ends is None else f"{ends.low[-1]:.{places}f} to {ends.high[-1]:.{places}f}"

    for name, place in named:
        yield Column(name, "number", places, get=partial(_value_at, place))
    if any(curve.band is not None for curve in curves):
        yield Column(band, get=band_text)


def rows_by_place(values: Floats, band: Band | None = None) -> Iterator[Row]:
    """Place, value, and both ends of the band where it is known."""
    ends = {} if band is None else band.ends()
    for place, value in enumerate(values.tolist(), 1):
        yield (place, value, *ends.get(place, (None, None)))
