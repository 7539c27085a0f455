"""What measures of the whole collection share: its size, and where relevant documents stand that were not retrieved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.lists import is_relevant
from gainful.errors import InputError
from gainful.measures.arithmetic import Step, found_by_rank
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.notation import count_of, number_text, printable


class Places(NamedTuple):
    """The relevant documents of lists, by row, then by rank; each stands somewhere from ``first`` to ``last``."""

    row: Ints
    rank: Ints
    first: Ints
    last: Ints

    @property
    def expected(self) -> Floats:
        """The mean of the ranks that each can have."""
        return (self.first + self.last) / 2.0


class RankedCollection(Measure):
    """A measure of the places of all relevant documents in a ranking of the whole collection.

    Not a dataclass itself: every measure lists its parameters in the order in which they are printed.
    """

    if TYPE_CHECKING:
        N: int | None
        unretrieved: str
        tied: str
        rel: float | None
        level: float | None

    def needed(self) -> frozenset[str]:
        return frozenset({"ties"}) if self.tied == "expected" else frozenset()

    def _places(self, block: Block) -> Places:
        relevant = block.relevant(self.rel, self.level)
        if self.tied == "policy":
            return Places(relevant.row, relevant.rank, relevant.rank, relevant.rank)
        chosen, (first, last) = is_relevant(block.hits.grade, self.rel, self.level), block.hit_ties
        return Places(relevant.row, relevant.rank, first[chosen], last[chosen])

    def _base(self, block: Block) -> Ints:
        return block.recall_base(self.rel, self.level)

    def _missed(self, block: Block) -> Ints:
        """How many relevant documents each list misses: none where it has some of them twice (`gainful whydiff`)."""
        missed = self._base(block) - block.count(block.relevant(self.rel, self.level))
        return np.asarray(np.maximum(missed, 0))

    def _rank_sum(self, block: Block, size: int | None) -> Floats:
        """The sum of the ranks of all relevant documents; NaN where one of them could stand anywhere."""
        places = self._places(block)
        found = np.bincount(places.row, places.expected, minlength=block.size)
        return found + missed_ranks(self._missed(block), block.retrieved, size, self.unretrieved)

    def _by_rank(self, block: Block) -> dict[str, Floats]:
        """Down a block's only list, which documents are relevant, and the rank that each counts as."""
        columns, places = found_by_rank(block, self.rel, self.level), self._places(block)
        counted = np.full(columns["relevant"].size, np.nan)
        counted[places.rank - 1] = places.expected
        return {**columns, "counted rank": counted}

    def _missed_step(self, block: Block, size: int | None) -> Step | None:
        """The ranks of what a block's only list misses; None where it misses nothing."""
        missed, retrieved = self._missed(block), block.retrieved
        name, value = "ranks of the unretrieved", float(missed_ranks(missed, retrieved, size, self.unretrieved)[0])
        count, length = int(missed[0]), int(retrieved[0])
        if not count:
            return None
        if size is None:
            return unknown_size(name)
        if self.unretrieved == "bottom":
            return Step(name, "{} * (2 * {} - {} + 1) / 2", (count, size, count), value)
        return Step(name, "{} * ({} + 1 + {}) / 2", (count, length, size), value)


def unknown_size(name: str) -> Step:
    """A step that cannot be taken."""
    return Step(name, "", (), math.nan, "nobody says how large the collection is: N=...")


def collection_size(measure: Measure, block: Block, size: int | None) -> int | None:
    """The size of the collection, which must hold at least what is known of it; None where nobody says."""
    if size is None:
        return None
    judged, hits = np.diff(block.graded.judged.best_first[0]), np.diff(block.graded.hit_offsets)
    known = block.retrieved + (judged - hits)[block.queries]
    if known.max(initial=0) > size:
        query = block.graded.query_ids[int(block.queries[known.argmax()])]
        raise InputError(
            f"{measure}: expected N to be at least {known.max():,}, because query '{printable(query)}' has "
            f"{count_of(int(known.max()), 'document')} in its list and its judgments, found {number_text(size)}",
            "N is the number of documents in the collection",
        )
    return size


def missed_ranks(missed: Ints, retrieved: Ints, size: int | None, unretrieved: str) -> Floats:
    """The sum of the ranks of what each list misses; NaN where it misses something and nobody knows how much is left.

    >>> missed_ranks(np.array([2, 0]), np.array([4, 5]), 10, "expected").tolist()  # 2 * (5 + 10) / 2
    [15.0, 0.0]
    >>> missed_ranks(np.array([2, 0]), np.array([4, 5]), 10, "bottom").tolist()  # 9 + 10
    [19.0, 0.0]
    """
    if size is None:
        return np.where(missed > 0, np.nan, 0.0)
    if unretrieved == "bottom":
        return missed * (2.0 * size - missed + 1.0) / 2.0
    return missed * (retrieved + 1.0 + size) / 2.0
