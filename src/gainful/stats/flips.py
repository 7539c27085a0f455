"""Sign flips: the one source of chance behind p, intervals, maxT, thresholds and rank intervals.

Under the hypothesis that two systems are alike, each query's difference might as well have had the other sign. All
comparisons of a matrix use the same flips, so that what is said of two systems does not depend on the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats, Ints
from gainful.kernel.exact_sums import FixedPoint, subset_sums
from gainful.stats.repeatable import BLOCK, check_draws, fixed_point, least_count

#: Flips unless another number is asked for: the same for two systems and for many, so that a pair has one p.
FLIPS = 100_000

#: Up to so many non-zero differences all flips are looked at.
MOST_ENUMERATED = 20

_BLOCKS_AT_A_TIME, _BYTES_AT_A_TIME = 10, 1 << 26
_NOTHING = -900  # the exponent of scores that are all 0
_EXACT = 51  # bits of a sum over queries; the difference of two such sums has one more, and is exact, too


@dataclass(frozen=True)
class Flips:
    """Which queries are flipped in which draw: the same for every pair and measure on the same queries.

    Queries are counted in byte order of their ids. Draws come from Philox with the key (seed, block of 1,000 draws);
    where there are no more ways to flip than draws wanted, every way is taken once instead.
    """

    queries: int
    draws: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_draws(self.draws, self.seed)

    @property
    def enumerated(self) -> bool:
        """Whether all flips are looked at, the one that flips nothing among them."""
        return self.queries <= MOST_ENUMERATED and 2**self.queries <= self.draws

    @property
    def count(self) -> int:
        """How many flips there are."""
        return 2**self.queries if self.enumerated else self.draws

    def p(self, extreme: Ints) -> Floats:
        """p from how many flips were as extreme as what was observed, never 0."""
        own = 0 if self.enumerated else 1  # the observed signs are among all flips, but not among the drawn ones
        return np.asarray((extreme + own) / (self.count + own))

    def least_extreme(self, alpha: float) -> int:
        """How many flips have to be as extreme for p to be at least alpha."""
        own = 0 if self.enumerated else 1
        return least_count(alpha, self.count + own) - own

    def sums(self, steps: Floats, threads: int | None = None) -> Iterator[Floats]:
        """Draws x columns: the sum of each column over the flipped queries, for some draws at a time.

        ``steps`` (queries x columns) are whole numbers whose sums a float64 holds, so that these are exact.
        """
        steps, workers = np.ascontiguousarray(steps), core.thread_count(threads)
        blocks = min(_BLOCKS_AT_A_TIME, max(1, _BYTES_AT_A_TIME // (BLOCK * (self.queries // 8 + 1))))
        for start in range(0, self.count, blocks * BLOCK):
            stop = min(start + blocks * BLOCK, self.count)
            yield core.flipped_sums(steps, self._packed(start, stop), workers).T

    def _packed(self, start: int, stop: int) -> Bytes:
        """Draws x bytes: the flips of some draws, from the first of a block on; eight queries a byte, the first in the
        lowest bit."""
        words = max(1, math.ceil(self.queries / 64))
        if self.enumerated:
            raw = np.arange(start, stop, dtype=np.uint64)
        else:
            blocks = range(start // BLOCK, math.ceil(stop / BLOCK))
            keys = (np.array([self.seed, block], np.uint64) for block in blocks)
            raw = np.concatenate([np.random.Philox(key=key).random_raw(BLOCK * words) for key in keys])
        return raw.astype("<u8").view(np.uint8).reshape(-1, 8 * words)[: stop - start]


class Columns(FixedPoint):
    """Scores on a grid fine enough for every pair among them, as whole numbers: queries x systems."""

    @property
    def slack(self) -> float:
        """What rounding can do to a flipped sum of differences, in steps: twice one step a query."""
        return 2.0 * len(self.steps)


def exponent(scores: Floats) -> int:
    """A power of 2 that no score of a system exceeds. In steps of 4, so that most systems of a measure share one."""
    largest = float(np.max(np.abs(scores), initial=0.0))
    return 4 * math.ceil(math.log2(largest) / 4) if largest else _NOTHING


def on_grid(scores: Floats, largest: int) -> Columns:
    """Scores of at most 2^largest as whole multiples of a power of 2, such that flipped sums are exact.

    A sum over flipped queries of the difference of two systems is the difference of their sums. So the sums of the
    *systems* serve all pairs; scores are rounded to the grid, not differences, to make it exact.
    """
    return Columns.of(scores, _EXACT - math.ceil(math.log2(max(2, scores.shape[0]))) - largest)


def exact_extremes(differences: Floats, error: float = 0.0) -> tuple[int, int]:
    """How many of all flips of the non-zero differences have a sum as far from 0 as the observed one; and of how many.

    Half of the differences have few sums, the other half too; each sum of the one half is met with all of the other
    by bisection. So 2^20 flips cost 2 * 2^10 sums. ``error`` is how far a difference may be from what it is in exact
    arithmetic: thirds are no decimals, and must tie all the same.

    >>> exact_extremes(np.array([1.0, 2.0, 0.0]))
    (2, 4)
    """
    fixed = fixed_point(differences[differences != 0])
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
