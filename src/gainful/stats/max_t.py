"""The step-down maxT procedure: p of many pairs at once, corrected by the flips themselves (Westfall & Young 1993).

Flipping signs moves all pairs together, as they really hang together. The largest of the flipped differences says how
large one gets by chance in a family; pairs that are larger than that differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.kernel.parallel import Progress
from gainful.stats.repeatable import Flips, exponent, largest_at, on_flip_grid


class _Part(NamedTuple):
    """The columns on the grid of one scale, and what rounding to it can do to a sum, in units of scores."""

    steps: Floats
    unit: float
    slack: float


@dataclass(frozen=True, eq=False)
class FlippedPairs:
    """Pairs of columns (scores of systems, queries x columns) under flips.

    ``weights`` multiply each pair's difference. A pair's grid depends on its own two columns only, so that nothing said
    of it alone depends on the others.
    """

    scores: Floats
    first: Ints
    second: Ints
    flips: Flips
    weights: Floats
    threads: int | None = None
    progress: Progress | None = None

    @cached_property
    def _exponents(self) -> Ints:
        return np.array([exponent(column) for column in self.scores.T], np.int64)

    @cached_property
    def _part_of_pair(self) -> Ints:
        """For each pair the place of its scale among :attr:`_parts`."""
        larger = np.maximum(self._exponents[self.first], self._exponents[self.second])
        return np.searchsorted(self._scales, larger)

    @cached_property
    def _scales(self) -> Ints:
        return distinct(self._exponents.astype(np.float64)).astype(np.int64)

    @cached_property
    def _parts(self) -> list[_Part]:
        parts = []
        for scale in self._scales.tolist():
            # Larger columns take no part at this scale: no pair of this scale has them.
            columns = on_flip_grid(np.where(self._exponents <= scale, self.scores, 0.0), scale)
            parts.append(_Part(columns.steps, columns.unit, columns.slack * columns.unit))
        return parts

    @cached_property
    def observed(self) -> Floats:
        sums = [part.steps.sum(axis=0) * part.unit for part in self._parts]
        found = np.empty(self.first.size)
        for place, total in enumerate(sums):
            chosen = self._part_of_pair == place
            found[chosen] = np.abs(total[self.first[chosen]] - total[self.second[chosen]])
        return found * self.weights

    @cached_property
    def _slack(self) -> Floats:
        slack = np.array([part.slack for part in self._parts])[self._part_of_pair]
        return np.asarray(slack * self.weights)

    @cached_property
    def _levels(self) -> list[Ints]:
        """The pairs from the smallest observed sum up; those with the same sum, but for rounding, are one step."""
        order = np.lexsort((self._slack, self.observed))
        gaps = np.diff(self.observed[order])
        is_new = gaps > np.maximum(self._slack[order[1:]], self._slack[order[:-1]])
        return np.split(order, np.flatnonzero(is_new) + 1)

    def _sums(self) -> Iterator[Floats]:
        """For some draws at a time, the columns of one scale after those of another: columns x draws, their sums with
        flipped signs."""
        steps = np.concatenate([part.steps for part in self._parts], axis=1)
        unit = np.repeat([part.unit for part in self._parts], self.scores.shape[1])[:, np.newaxis]
        whole = steps.sum(axis=0)[:, np.newaxis] * unit
        for piece in self.flips.sums(steps, self.threads):
            sums = piece.T
            sums *= -2 * unit
            sums += whole
            yield sums

    def _counted(self, pairs: Ints, edges: Floats, reaches: Floats) -> Iterator[tuple[Ints, Ints, Floats]]:
        """:func:`core.count_extremes` of some pairs, one after the other, for some draws at a time."""
        shift = self._part_of_pair[pairs] * self.scores.shape[1]
        first, second = (each[pairs] + shift for each in (self.first, self.second))
        for sums in self._sums():
            yield core.count_extremes(
                sums, first, second, self.weights[pairs], edges, reaches, core.thread_count(self.threads)
            )

    def step_down(self) -> tuple[Ints, Ints]:
        """For each pair: how many draws are as extreme as the pair by itself; and how many have, among this pair and
        all whose difference is no larger, one as large as this pair's."""
        order = np.concatenate(self._levels)
        sizes = np.array([level.size for level in self._levels])
        edges = (self.observed - self._slack)[order]
        # What a step's last pair has to reach is what all of the step have to; before it, nothing is asked.
        last = np.cumsum(sizes) - 1
        reaches = np.full(order.size, math.inf)
        reaches[last] = np.minimum.reduceat(edges, last - sizes + 1)
        counted = np.zeros((2, order.size), np.int64)
        for alone, among, largest in self._counted(order, edges, reaches):
            counted += alone, among
            if self.progress is not None:
                self.progress.advance(largest.size)
        found = np.empty_like(counted)
        found[:, order] = counted[0], np.repeat(counted[1][last], sizes)
        return found[0], found[1]

    def adjusted(self, among: Ints, alone: Floats) -> Floats:
        """p of the step-down procedure: the running maximum from the largest difference down.

        ``alone`` are p of pairs by themselves. Exact ones and those from draws may differ by a hair; what is adjusted
        is never below what it was, nor below that of a larger difference.
        """
        raw = np.maximum(self.flips.p(among), alone)
        found, so_far = np.empty(raw.size), 0.0
        for level in reversed(self._levels):
            so_far = max(so_far, float(raw[level].max()))
            found[level] = so_far
        return found

    def critical(self, pairs: Ints, alpha: float) -> float:
        """What the largest (weighted) mean difference of some pairs has to exceed to be there by chance in less than a
        share alpha of draws."""
        nothing = np.full(pairs.size, math.inf)
        found = [largest for _, _, largest in self._counted(pairs, nothing, nothing)]
        return largest_at(np.concatenate(found), self.flips.least_extreme(alpha)) / self.flips.queries


def widest(scores: Floats, flips: Flips, baseline: int | None, alpha: float, threads: int | None = None) -> float:
    """How far means of systems get apart by chance in a share alpha of draws: all pairs, or each and a baseline.

    Of centred scores this is the half-width of simultaneous intervals around the observed differences. The largest
    difference among all pairs is that of the highest and the lowest.
    """
    columns = on_flip_grid(scores)
    whole = columns.steps.sum(axis=0)
    found = []
    for piece in flips.sums(columns.steps, threads):
        sums = whole - 2 * piece
        if baseline is None:
            found.append(sums.max(axis=1) - sums.min(axis=1))
        else:
            found.append(np.abs(sums - sums[:, [baseline]]).max(axis=1))
    place = flips.least_extreme(alpha)
    return largest_at(np.concatenate(found), place) * columns.unit / flips.queries
