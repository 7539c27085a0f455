"""Ranked lists as sparse arrays that hold only relevant entries, by row (query), then by rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from gainful.frozen import dataclass, replace
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """Documents with their row (query), rank from 1 and grade; by row, then by rank."""

    row: Ints
    rank: Ints
    grade: Floats

    @cached_property
    def ordinal(self) -> Ints:
        return ordinal_in_row(self.row)

    def relevant(self, rel: float | None, level: float | None) -> Documents:
        """Return those with a grade above 0, of at least ``rel``, or of exactly ``level``."""
        chosen = is_relevant(self.grade, rel, level)
        return Documents(self.row[chosen], self.rank[chosen], self.grade[chosen])


@dataclass(frozen=True, eq=False, repr=False)
class GainLists:
    """Ranked lists of gains, one per row, holding only ranks with a gain above 0; by row, then by rank."""

    size: int
    row: Ints
    rank: Ints
    gain: Floats

    @classmethod
    def of(
        cls, documents: Documents, size: int, gain: Gain | str, scale: float, rel: float | None, level: float | None
    ) -> GainLists:
        """Return the gains of documents. ``rel`` and ``level`` set all other gains to 0."""
        if rel is not None or level is not None:
            documents = documents.relevant(rel, level)
        gains = Gain.of(gain).of_grades(documents.grade, scale)
        kept = gains > 0
        if kept.all():
            return cls(size, documents.row, documents.rank, gains)
        return cls(size, documents.row[kept], documents.rank[kept], gains[kept])

    def best_first(self) -> GainLists:
        """Return the gains in descending order: the ideal lists."""
        row, gain = self.row, self.gain
        if ((gain[1:] > gain[:-1]) & (row[1:] == row[:-1])).any():  # most maps keep the order of grades
            gain = gain[np.lexsort((-gain, row))]
        return GainLists(self.size, row, ordinal_in_row(row), gain)

    def of_rows(self, rows: Ints) -> GainLists:
        row, place = gather(self.offsets, rows)
        return GainLists(int(rows.size), row, self.rank[place], self.gain[place])

    @cached_property
    def offsets(self) -> Ints:
        return np.concatenate(([0], np.cumsum(np.bincount(self.row, minlength=self.size))))

    def total(self, divisors: Callable[[Floats], Floats], cutoff: int | None) -> Floats:
        """Return the sum of gain / divisor(rank) down to ``cutoff`` for each list, added in rank order."""
        row, rank, gain = self.to(cutoff)
        if not rank.size:
            return np.zeros(self.size)
        by_rank = divisors(np.arange(1.0, float(rank.max()) + 1.0))
        return np.bincount(row, gain / by_rank[rank - 1], minlength=self.size).astype(np.float64, copy=False)

    def weighted(self, weights: Callable[[int], Floats], cutoff: int | None) -> Floats:
        """Return the sum of gain * weight down to ``cutoff`` for each list; ``weights(n)`` covers ranks 1 to n."""
        row, rank, gain = self.to(cutoff)
        by_rank = weights(int(rank.max(initial=0)))
        return np.bincount(row, gain * by_rank[rank - 1], minlength=self.size).astype(np.float64, copy=False)

    def dense(self, depth: int) -> Floats:
        """Return the gains as an array of lists x ranks, 0 where missing."""
        row, rank, gain = self.to(depth)
        values = np.zeros((self.size, depth))
        values[row, rank - 1] = gain
        return values

    def last_rank(self, depth: int) -> Ints:
        """Return the last rank with a gain down to ``depth``, 0 if there is none."""
        row, rank, _ = self.to(depth)
        last = np.zeros(self.size, np.int64)
        last[row] = rank  # ranks ascend within a row, so the last one stays
        return last

    def to(self, cutoff: int | None) -> tuple[Ints, Ints, Floats]:
        """Return row, rank and gain of the entries down to ``cutoff``."""
        if cutoff is None:
            return self.row, self.rank, self.gain
        shown = self.rank <= cutoff
        return self.row[shown], self.rank[shown], self.gain[shown]


@dataclass(frozen=True, eq=False, repr=False)
class TiedGainLists(GainLists):
    """Lists whose documents may stand anywhere in their group of equal scores, from rank ``first`` to ``last``.

    Totals and arrays have the mean gain of a group at each of its ranks: the expectation over all orders.
    """

    first: Ints
    last: Ints

    def to(self, cutoff: int | None) -> tuple[Ints, Ints, Floats]:
        """Return row, rank and mean gain of the ranks down to ``cutoff``."""
        starts = np.ones(self.row.size, bool)
        starts[1:] = (self.row[1:] != self.row[:-1]) | (self.first[1:] != self.first[:-1])
        size = (self.last - self.first + 1)[starts]
        mean = np.bincount(np.cumsum(starts) - 1, self.gain, minlength=size.size) / size
        row, first = self.row[starts], self.first[starts]
        seen = size if cutoff is None else np.clip(cutoff + 1 - first, 0, size)
        group = np.repeat(np.arange(size.size), seen)
        place = np.arange(group.size) - np.repeat(np.cumsum(seen) - seen, seen)
        return row[group], first[group] + place, mean[group]


@dataclass(frozen=True, eq=False)
class ItemLists:
    """The items in a run's lists by number, in rank order; numbers below ``catalogue`` are in the catalogue.

    ``size`` is the number of distinct numbers, ``training`` the number of past interactions, if known.
    """

    offsets: Ints
    item: Ints
    size: int
    catalogue: int | None = None
    training: int | None = None
    source: str = ""

    def exposure(self, cutoff: int | None) -> Ints:
        """Return the number of lists with each item in the first ``cutoff`` ranks."""
        rank = np.arange(self.item.size) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.bincount(self.item if cutoff is None else self.item[rank < cutoff], minlength=self.size)

    @property
    def unknown(self) -> int:
        """Number of items in the lists that are not in the catalogue."""
        return 0 if self.catalogue is None else int(np.count_nonzero(self.exposure(None)[self.catalogue :]))

    def at(self, places: Sequence[int]) -> ItemLists:
        row, place = gather(self.offsets, np.asarray(places, np.int64))
        counts = np.bincount(row, minlength=len(places))
        return replace(self, offsets=np.append(0, np.cumsum(counts)), item=self.item[place])


def gather(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the row among the chosen, and the position among all, of every entry in the chosen rows."""
    starts, counts = offsets[rows], offsets[rows + 1] - offsets[rows]
    row = np.repeat(np.arange(rows.size), counts)
    return row, np.arange(row.size) - np.repeat(np.cumsum(counts) - counts - starts, counts)


def is_relevant(grades: Floats, rel: float | None, level: float | None) -> Bools:
    """Return whether grades are above 0, at least ``rel``, or exactly ``level``."""
    if level is not None:
        return np.asarray(grades == level)
    return np.asarray(grades > 0 if rel is None else grades >= rel)


def highest_gain(gain: Gain, scale: float, rel: float | None = None, level: float | None = None) -> float:
    """Return the highest possible gain of a document; ``rel`` and ``level`` set all other gains to 0."""
    if gain.text == "binary":
        return 1.0
    top = scale if gain.ends is None else gain.ends[1]
    named = top if level is None else level
    grades = np.array([grade for grade, _ in gain.weights] if gain.weights else [named])
    if rel is not None or level is not None:
        grades = grades[is_relevant(grades, rel, level)]
    return float(gain.of_grades(grades, scale).max(initial=0.0))


def in_columns(row: Ints, values: Floats, size: int) -> tuple[Floats, Ints]:
    """Return the values of every row as a row of an array, padded with 0, and the column of each value.

    Sums along such a row do not depend on other rows, not even in the last bit.
    """
    column = ordinal_in_row(row) - 1
    array = np.zeros((size, int(column.max(initial=0)) + 1))
    array[row, column] = values
    return array, column


def sum_by(row: Ints, values: Floats | Ints, size: int) -> Floats:
    """Return the sum of each row's values, added in order."""
    return np.bincount(row, values, minlength=size).astype(np.float64, copy=False)


def running_sums(offsets: Ints, values: Floats) -> Floats:
    """Return running sums within each row ``offsets[i] : offsets[i + 1]``, each added up from its own start.

    >>> running_sums(np.array([0, 2, 2, 5]), np.array([1.0, 2.0, 1.0, 1.0, 1.0])).tolist()
    [1.0, 3.0, 1.0, 2.0, 3.0]
    """
    sums = np.array(values, np.float64)
    starts, counts = offsets[:-1], np.diff(offsets)
    longest = int(counts.max(initial=0))
    if longest > counts.size:
        for first, end in zip(starts.tolist(), offsets[1:].tolist(), strict=True):
            np.cumsum(sums[first:end], out=sums[first:end])
        return sums
    for place in range(1, longest):
        at = starts[counts > place] + place
        sums[at] += sums[at - 1]
    return sums


def cumulated(row: Ints, values: Floats, size: int) -> Floats:
    """Return running sums within each row."""
    array, column = in_columns(row, values, size)
    return np.asarray(np.cumsum(array, axis=1)[row, column])


def count_to(documents: tuple[Ints, Ints], row: Ints, rank: Ints) -> Ints:
    """Return the number of documents (sorted by row, then rank) in each given row down to each given rank."""
    stride = 1 + max(int(ranks.max(initial=0)) for ranks in (documents[1], rank))
    keys = documents[0] * stride + documents[1]
    return np.searchsorted(keys, row * stride + rank, "right") - np.searchsorted(keys, row * stride, "right")


def ordinal_in_row(row: Ints) -> Ints:
    """Return 1, 2, 3, ... within every run of equal rows."""
    if not row.size:
        return np.zeros(0, np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(row[1:] != row[:-1]) + 1))
    counts = np.empty_like(starts)
    counts[:-1] = starts[1:] - starts[:-1]
    counts[-1] = row.size - starts[-1]
    ordinal = np.arange(1, row.size + 1)
    ordinal -= np.repeat(starts, counts)
    return ordinal
