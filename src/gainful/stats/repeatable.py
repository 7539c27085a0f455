"""Bit-identical statistics on any machine and number of threads, and shared checks and counts.

Random streams have a seed and a number, so blocks of draws are independent of each other. Numbers that are equal in
exact arithmetic are made equal, and sums use fixed-point numbers, which are exact in any order of addition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes, Floats, Ints
from gainful.kernel.exact_sums import EXACT_BITS, FixedPoint, subset_sums

#: Draws per random stream: any block can be made without the ones before it, by any thread.
BLOCK = 1_000
MOST_DRAWS = 10_000_000
_LEAST_ALPHA = 1e-12


def stream(seed: int, number: int = 0) -> np.random.Generator:
    """Return the random generator of a seed and a block or draw number, the key of Philox.

    >>> bool(stream(1, 2).integers(10) == stream(1, 2).integers(10))
    True
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))


def counts_of_draws(generator: np.random.Generator, draws: int, queries: int, at_once: int) -> Iterator[Ints]:
    """Yield counts of each query in bootstrap resamples, resamples x queries, ``at_once`` resamples at a time."""
    for first in range(0, draws, at_once):
        rows = min(at_once, draws - first)
        taken = generator.integers(0, queries, (rows, queries)) + np.arange(rows)[:, np.newaxis] * queries
        yield np.bincount(taken.ravel(), minlength=rows * queries).reshape(rows, queries)


def check_draws(draws: int, seed: int, least: int = 1) -> None:
    """Raise UsageError for too few or too many draws, or an invalid seed."""
    if draws < least:
        raise UsageError(f"draws: expected at least {least}, found {draws}")
    if draws > MOST_DRAWS:
        raise UsageError(f"draws: expected at most {MOST_DRAWS:,}, found {draws:,}")
    check_seed(seed)


def check_seed(seed: int) -> None:
    """Raise UsageError unless the seed is a whole number from 0 to 2^63 - 1."""
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise UsageError(f"seed: expected a whole number from 0 to 2^63 - 1, found {seed}")


def check_alpha(alpha: float) -> None:
    """Raise UsageError unless alpha is a level whose inverse float64 can count to."""
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha: expected a number between 0 and 0.5, found {alpha:g}")
    if alpha < _LEAST_ALPHA:
        raise UsageError(f"alpha: expected at least {_LEAST_ALPHA:g}, found {alpha:g}")


def check_margin(margin: float | None) -> None:
    """Raise UsageError unless the margin is above 0."""
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(f"margin: expected a number above 0, found {margin:g}")


_FINEST = 44  # binary places below the largest value: finer than any score, coarser than rounding errors of sums


def on_grid(values: Floats, terms: int | None = None) -> FixedPoint:
    """Round values to 2^-44 of the largest, or to a coarser grid if sums of ``terms`` (or all) of them need that to be
    exact in any order."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest:
        return FixedPoint(np.zeros(values.shape), 1.0)
    bits = EXACT_BITS - math.log2(max(values.size if terms is None else terms, 1))
    return FixedPoint.of(values, math.floor(min(_FINEST, bits) - math.log2(largest)))


_PLACES = 12


def settle(values: Floats, scale: float | None = None) -> Floats:
    """Round values to 12 decimals relative to the scores' range, so that ties are exact.

    ``scale`` is the largest absolute score, by default of ``values``; decimals are counted from the next power of 10,
    so scores between 0.1 and 1 keep 12 decimals.

    >>> settle(np.array([0.1 + 0.2, 0.3, 1.0 - 0.7])).tolist()
    [0.3, 0.3, 0.3]
    """
    if scale is None:
        scale = float(np.max(np.abs(values), initial=0.0))
    places = _places(scale)
    return values if places is None else np.round(values, places)


def settled_step(scale: float) -> float:
    """Return the last decimal that :func:`settle` keeps, a bound on the error of a settled value.

    >>> settled_step(1.0), settled_step(20.0), settled_step(0.0)
    (1e-12, 1e-10, 0.0)
    """
    places = _places(scale)
    return 0.0 if places is None else 10.0**-places


def _places(scale: float) -> int | None:
    if not scale:
        return None
    places = _PLACES - math.ceil(math.log10(scale))
    # 10**places must be a float64; values this small or large are no scores and stay unchanged.
    return places if abs(places) <= 300 else None


def settled_differences(a: Floats, b: Floats) -> Floats:
    """Return a - b, settled by the scale of both."""
    scale = max(float(np.max(np.abs(a), initial=0.0)), float(np.max(np.abs(b), initial=0.0)))
    # + 0.0 turns -0.0 into 0.0, which prints without a sign.
    return np.asarray(settle(a - b, scale) + 0.0)


def least_count(share: float, total: int) -> int:
    """Return the smallest count that is at least a share of a total, with the same comparison that decides about p."""
    count = math.ceil(share * total)
    while count > 0 and (count - 1) / total >= share:
        count -= 1
    while count / total < share:
        count += 1
    return count


def least_significant(critical: float, apart: Floats, is_significant: Bools, scale: float) -> float:
    """Return the smallest significant difference of a procedure with a critical difference.

    ``apart`` are the absolute differences as stored. The result is one settled step above the critical difference,
    unless rounding would then contradict ``is_significant``.

    >>> least_significant(0.07599999999999967, np.array([0.076, 0.1]), np.array([False, True]), 1.0)
    0.076000000001
    """
    if math.isinf(critical):
        return critical
    found = float(settle(settle(np.array(critical), scale) + settled_step(scale), scale))
    below = math.nextafter(float(np.max(apart[~is_significant], initial=0.0)), math.inf)
    # Significant pairs are above all others, so both limits can be kept.
    return max(below, min(found, float(np.min(apart[is_significant], initial=math.inf))))


def largest_at(values: Floats, place: int) -> float:
    """Return the value at ``place`` from the top, the largest being place 1; infinite below that."""
    return float(np.partition(values, values.size - place)[values.size - place]) if place >= 1 else math.inf


#: Default number of sign flips: the same for two systems and for many, so that a pair has one p.
FLIPS = 100_000
#: Up to this many nonzero differences, every sign assignment is enumerated.
MOST_ENUMERATED = 20
_BLOCKS_AT_A_TIME, _BYTES_AT_A_TIME = 10, 1 << 26
_NOTHING = -900  # exponent of scores that are all 0
_EXACT = 51  # bits of a sum over queries; a difference of two such sums has one more bit and is also exact


@dataclass(frozen=True)
class Flips:
    """The queries flipped in each draw: the same for every pair and measure on the same queries.

    Queries are counted in byte order of their ids. Draws come from Philox with the key (seed, block of 1,000 draws); if
    there are at most ``draws`` sign assignments, each is used once instead.
    """

    queries: int
    draws: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_draws(self.draws, self.seed)

    @property
    def enumerated(self) -> bool:
        return self.queries <= MOST_ENUMERATED and 2**self.queries <= self.draws

    @property
    def count(self) -> int:
        return 2**self.queries if self.enumerated else self.draws

    def p(self, extreme: Ints) -> Floats:
        """Return p from the number of flips at least as extreme as observed; never 0."""
        own = 0 if self.enumerated else 1  # enumeration includes the observed signs, random flips do not
        return np.asarray((extreme + own) / (self.count + own))

    def least_extreme(self, alpha: float) -> int:
        """Return the number of extreme flips at which p reaches alpha."""
        own = 0 if self.enumerated else 1
        return least_count(alpha, self.count + own) - own

    def sums(self, steps: Floats, threads: int | None = None) -> Iterator[Floats]:
        """Yield the sum of each column over the flipped queries, draws x columns, in batches of draws.

        ``steps`` (queries x columns) are whole numbers small enough for exact sums.
        """
        steps, workers = np.ascontiguousarray(steps), core.thread_count(threads)
        blocks = min(_BLOCKS_AT_A_TIME, max(1, _BYTES_AT_A_TIME // (BLOCK * (self.queries // 8 + 1))))
        for start in range(0, self.count, blocks * BLOCK):
            stop = min(start + blocks * BLOCK, self.count)
            yield core.flipped_sums(steps, self._packed(start, stop), workers).T

    def _packed(self, start: int, stop: int) -> Bytes:
        """Return the flips of some draws as bits, draws x bytes; the first query is the lowest bit."""
        words = max(1, math.ceil(self.queries / 64))
        if self.enumerated:
            raw = np.arange(start, stop, dtype=np.uint64)
        else:
            blocks = range(start // BLOCK, math.ceil(stop / BLOCK))
            keys = (np.array([self.seed, block], np.uint64) for block in blocks)
            raw = np.concatenate([np.random.Philox(key=key).random_raw(BLOCK * words) for key in keys])
        return raw.astype("<u8").view(np.uint8).reshape(-1, 8 * words)[: stop - start]


class Columns(FixedPoint):
    """Scores as whole numbers, queries x systems, on a grid fine enough for every pair."""

    @property
    def slack(self) -> float:
        """The largest rounding error of a flipped sum of differences, in steps: two steps per query."""
        return 2.0 * len(self.steps)


def exponent(scores: Floats) -> int:
    """Return a power of 2 that no score exceeds, in steps of 4, so that most systems of a measure share one."""
    largest = float(np.max(np.abs(scores), initial=0.0))
    return 4 * math.ceil(math.log2(largest) / 4) if largest else _NOTHING


def on_flip_grid(scores: Floats, largest: int | None = None) -> Columns:
    """Round scores of at most 2^largest (by default their own exponent) to whole numbers with exact flipped sums.

    A flipped sum of differences is the difference of two systems' flipped sums, so the sums per *system* serve all
    pairs. Scores are rounded instead of differences to make this exact.
    """
    largest = exponent(scores) if largest is None else largest
    return Columns.of(scores, _EXACT - math.ceil(math.log2(max(2, scores.shape[0]))) - largest)


def exact_extremes(differences: Floats, error: float = 0.0) -> tuple[int, int]:
    """Count the sign assignments of nonzero differences with a sum at least as extreme as observed, and all of them.

    Sums of one half of the differences are matched with sums of the other half by bisection, so 2^20 assignments need
    2 * 2^10 sums. ``error`` bounds the rounding error of a difference, within which sums count as equal.

    >>> exact_extremes(np.array([1.0, 2.0, 0.0]))
    (2, 4)
    """
    fixed = on_grid(differences[differences != 0])
    size = fixed.steps.size
    if not size:
        return 1, 1
    far = abs(float(fixed.steps.sum())) - 2 * fixed.near(error)
    one, other = (subset_sums(fixed.steps[part]) for part in (slice(0, size // 2), slice(size // 2, None)))
    signed_one, signed_other = (2 * sums - sums[-1] for sums in (one, other))
    signed_other.sort()
    if far <= 0:
        return 2**size, 2**size
    at_least = signed_other.size - np.searchsorted(signed_other, far - signed_one, side="left")
    at_most = np.searchsorted(signed_other, -far - signed_one, side="right")
    return int(at_least.sum() + at_most.sum()), 2**size


def simultaneous_reach(differences: Floats, draws: int, seed: int, confidence: float) -> Floats | None:
    """Return the half-width of a simultaneous band around the mean at each place; differences are queries x places.

    0 where all queries have the same value. None without a band: for a single query, or so few that sign flips are
    unbounded.

    >>> simultaneous_reach(np.array([[0.1, 0.3]] * 8), 1000, 0, 0.95).tolist()
    [0.0, 0.0]
    """
    queries = differences.shape[0]
    if queries < 2:
        return None
    scale = float(np.max(np.abs(differences), initial=0.0))
    deviations = settle(differences - differences.mean(axis=0), scale)
    # Whole multiples of a power of 2 have the same sum in any order, on any machine.
    grid = on_grid(deviations, queries)
    squares: Floats = np.square(grid.steps).sum(axis=0) / queries
    varying = squares > 0
    error: Floats = np.sqrt(squares / (queries - 1)) * grid.unit
    if not varying.any():
        return error
    steps, squares = grid.steps[:, varying], squares[varying]
    largest = []
    for block, first in enumerate(range(0, draws, BLOCK)):
        flipped = stream(seed, block).integers(0, 2, (min(BLOCK, draws - first), queries))
        means = ((2.0 * flipped.astype(np.float64) - 1.0) @ steps) / queries
        left = np.maximum(squares - np.square(means), 0.0)  # flips do not change squares
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(means) * math.sqrt(queries - 1) / np.sqrt(left)
        largest.append(np.where(means == 0, 0.0, t).max(axis=1))
    place = min(math.ceil((draws + 1) * confidence), draws) - 1
    critical = float(np.sort(np.concatenate(largest))[place])
    return np.asarray(critical * error) if math.isfinite(critical) else None
