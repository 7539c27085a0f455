"""How far an average curve may be off: percentile bootstrap over queries.

Queries are drawn with replacement, as many as there are; the same draws serve all runs and measures, so that curves
whose bands overlap can still be compared. Sums over drawn queries are sums of whole numbers small enough to be exact:
no order of adding, and so no number of threads, can change a digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gainful.arrays import Bools, Floats, Ints

#: Bands are taken at each of the first ranks, then at so many ranks for every factor of ten, and at the last one.
EVERY_RANK_TO = 20
_RANKS_A_DECADE = 12

#: Draws are made so many cells (draws x queries) at a time; up to twice as many are kept for the next run.
_CELLS = 1 << 22

#: Products of so many multiplications stay on one thread; pieces of fewer draws are not worth it.
_SMALL_PRODUCT = 1 << 18
_FEW_DRAWS = 8


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
        self._shift = 52 - int(values.shape[0]).bit_length() - exponent
        scaled = np.ldexp(values, self._shift)
        self._whole = np.rint(scaled, out=scaled).T

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
