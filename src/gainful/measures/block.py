"""What a measure sees: some queries of a graded run, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from gainful.arrays import Bools, Floats, Ints
from gainful.data.graded import GradedRun
from gainful.gains import Gain

#: Blocks of at most so many cells (queries x ranks) stay in the processor's cache and keep memory flat.
CELLS = 1 << 18

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Documents:
    """Some documents of a block's queries: their row (query), rank from 1 and grade; by row, then by rank."""

    row: Ints
    rank: Ints
    grade: Floats


@dataclass(frozen=True, eq=False)
class GainLists:
    """Ranked lists of gains, one a row, holding only the places with a gain above 0; by row, then by rank."""

    size: int
    row: Ints
    rank: Ints
    gain: Floats

    def total(self, divisors: Callable[[Floats], Floats], cutoff: int | None) -> Floats:
        """The sum over each list, down to ``cutoff``, of gain / divisor(rank), added in the order of ranks."""
        row, rank, gain = self._to(cutoff)
        if not rank.size:
            return np.zeros(self.size)
        by_rank = divisors(np.arange(1.0, float(rank.max()) + 1.0))
        return np.bincount(row, gain / by_rank[rank - 1], minlength=self.size).astype(np.float64, copy=False)

    def dense(self, depth: int) -> Floats:
        """The gains as an array of lists x ranks, 0 where there is none."""
        row, rank, gain = self._to(depth)
        values = np.zeros((self.size, depth))
        values[row, rank - 1] = gain
        return values

    def last_rank(self, depth: int) -> Ints:
        """The last rank down to ``depth`` that has a gain, 0 where none has."""
        row, rank, _ = self._to(depth)
        last = np.zeros(self.size, np.int64)
        last[row] = rank  # ranks ascend within a row, so the last one stays
        return last

    def _to(self, cutoff: int | None) -> tuple[Ints, Ints, Floats]:
        if cutoff is None:
            return self.row, self.rank, self.gain
        shown = self.rank <= cutoff
        return self.row[shown], self.rank[shown], self.gain[shown]


class Block:
    """Some queries of a graded run. Rows are queries; ranks count from 1; a grade of NaN is no judgment.

    ``retrieved``  how many documents each list has
    ``hits``       the retrieved judged documents
    ``judged``     all judged documents of each query, best first (``rank`` is the place in that order)
    ``width``      the longest list or recall base: past it nothing changes any more
    """

    def __init__(self, graded: GradedRun, queries: Ints) -> None:
        self.graded = graded
        self.queries = queries
        self.size = int(queries.size)
        self.scale = graded.judged.scale
        self.policy = graded.policy
        self.retrieved: Ints = graded.retrieved[queries]
        self._cache: dict[object, object] = {}

    @cached_property
    def hits(self) -> Documents:
        row, place = _gather(self.graded.hit_offsets, self.queries)
        return Documents(row, self.graded.hit_rank[place], self.graded.hit_grade[place])

    @cached_property
    def judged(self) -> Documents:
        offsets, grade = self.graded.judged.best_first
        row, place = _gather(offsets, self.queries)
        return Documents(row, place - offsets[self.queries][row] + 1, grade[place])

    @cached_property
    def width(self) -> int:
        longest = max(int(self.retrieved.max(initial=0)), int(self.judged.rank.max(initial=0)))
        return max(longest, 1)

    def relevant(self, rel: float | None = None, level: float | None = None) -> Documents:
        """The hits that are relevant: grade above 0, at least ``rel``, or exactly ``level``."""
        return self._cached(("relevant", rel, level), lambda: _chosen(self.hits, rel, level))

    def recall_base(self, rel: float | None = None, level: float | None = None) -> Ints:
        """How many relevant judged documents each query has."""

        def count() -> Ints:
            return np.bincount(_chosen(self.judged, rel, level).row, minlength=self.size)

        return self._cached(("recall_base", rel, level), count)

    def gain_lists(
        self, gain: Gain | str = "linear", rel: float | None = None, level: float | None = None
    ) -> GainLists:
        """The gains of the run's lists. ``rel`` and ``level`` set all other gains to 0."""
        return self._cached(("gain", gain, rel, level), lambda: self._gain_lists(self.hits, gain, rel, level))

    def ideal_lists(
        self, gain: Gain | str = "linear", rel: float | None = None, level: float | None = None
    ) -> GainLists:
        """The recall base's gains in descending order: the best lists there can be."""

        def best() -> GainLists:
            lists = self._gain_lists(self.judged, gain, rel, level)
            order = _descending(lists.row, lists.gain)
            row = lists.row[order]
            return GainLists(self.size, row, ordinal_in_row(row), lists.gain[order])

        return self._cached(("ideal", gain, rel, level), best)

    def gains(self, gain: Gain | str = "linear", depth: int | None = None) -> Floats:
        """Gains as an array of queries x ranks; 0 for unjudged documents and past the end of a list."""
        return self.gain_lists(gain).dense(depth or self.width)

    def ideal(self, gain: Gain | str = "linear", depth: int | None = None) -> Floats:
        """The ideal lists' gains as an array of queries x ranks."""
        return self.ideal_lists(gain).dense(depth or self.width)

    def grades(self, depth: int | None = None) -> Floats:
        """Grades as an array of queries x ranks; NaN where there is no judgment."""
        hits, depth = self.hits, depth or self.width
        shown = hits.rank <= depth
        values = np.full((self.size, depth), np.nan)
        values[hits.row[shown], hits.rank[shown] - 1] = hits.grade[shown]
        return values

    def scores(self, depth: int | None = None) -> Floats:
        """The system's scores as an array of queries x ranks, NaN past the end of a list.

        Only for measures that declare ``needs = frozenset({"scores"})``.
        """
        starts = np.cumsum(self.graded.retrieved) - self.graded.retrieved
        offsets = np.append(starts, self.graded.score.size)
        row, place = _gather(offsets, self.queries)
        rank, depth = place - starts[self.queries][row] + 1, depth or self.width
        shown = rank <= depth
        values = np.full((self.size, depth), np.nan)
        values[row[shown], rank[shown] - 1] = self.graded.score[place[shown]]
        return values

    def count(self, documents: Documents, cutoff: int | None = None) -> Ints:
        """How many of the documents each query has, down to ``cutoff``."""
        row = documents.row if cutoff is None else documents.row[documents.rank <= cutoff]
        return np.bincount(row, minlength=self.size)

    def _gain_lists(self, documents: Documents, gain: Gain | str, rel: float | None, level: float | None) -> GainLists:
        if rel is not None or level is not None:
            documents = _chosen(documents, rel, level)
        gains = Gain.of(gain).of_grades(documents.grade, self.scale)
        kept = gains > 0
        if kept.all():
            return GainLists(self.size, documents.row, documents.rank, gains)
        return GainLists(self.size, documents.row[kept], documents.rank[kept], gains[kept])

    def _cached(self, key: object, make: Callable[[], _T]) -> _T:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[return-value]


def blocks(graded: GradedRun, cells: int = CELLS) -> Iterator[Block]:
    """All queries of a graded run, those of similar length together."""
    offsets, _ = graded.judged.best_first
    widths = np.maximum(np.maximum(graded.retrieved, np.diff(offsets)), 1)
    order = np.argsort(widths, kind="stable")
    sorted_widths = widths[order]
    first = 0
    while first < order.size:
        # Rows times the widest row must fit; widths ascend, so the product only grows.
        candidates = sorted_widths[first : first + cells]
        products = np.arange(1, candidates.size + 1) * candidates
        rows = max(1, int(np.searchsorted(products, cells, "right")))
        yield Block(graded, np.sort(order[first : first + rows]))
        first += rows


def _gather(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """For every entry of the chosen rows its row among the chosen and its place among all."""
    starts, counts = offsets[rows], offsets[rows + 1] - offsets[rows]
    row = np.repeat(np.arange(rows.size), counts)
    before = np.cumsum(counts) - counts
    return row, np.arange(row.size) - np.repeat(before - starts, counts)


def _chosen(documents: Documents, rel: float | None, level: float | None) -> Documents:
    chosen = is_relevant(documents.grade, rel, level)
    return Documents(documents.row[chosen], documents.rank[chosen], documents.grade[chosen])


def is_relevant(grades: Floats, rel: float | None, level: float | None) -> Bools:
    """Grade above 0; with ``rel`` at least that; with ``level`` exactly that."""
    if level is not None:
        return np.asarray(grades == level)
    return np.asarray(grades > 0 if rel is None else grades >= rel)


def ordinal_in_row(row: Ints) -> Ints:
    """1, 2, 3, ... within every run of equal rows."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    return np.arange(1, row.size + 1) - np.repeat(starts, np.diff(starts, append=row.size))


def _descending(row: Ints, gain: Floats) -> Ints:
    """The order that sorts gains downwards within their rows; most maps keep the order of grades."""
    rises = (np.diff(gain) > 0) & (np.diff(row) == 0)
    return np.lexsort((-gain, row)) if rises.any() else np.arange(row.size)
