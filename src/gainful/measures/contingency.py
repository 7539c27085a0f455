"""Measures of the contingency table of a collection (retrieved or not, relevant or not).

Also the base of measures of a complete ranking: the size of the collection, and the ranks of documents not retrieved.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from gainful.data.lists import is_relevant
from gainful.errors import InputError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.block import Block, ratios
from gainful.measures.precision import OfRelevant
from gainful.notation import count_of, number_text, printable


class Places(NamedTuple):
    """The relevant documents of lists, by row, then by rank; the rank of each is from ``first`` to ``last``."""

    row: Ints
    rank: Ints
    first: Ints
    last: Ints


class OfCollection(OfRelevant):
    """A measure that depends on the size of the collection, which may be unknown."""

    N = cast("int | None", None)

    def _size(self, block: Block) -> int | None:
        """Return the size of the collection, checked against the known documents; None if not given."""
        if self.N is None:
            return None
        judged, hits = np.diff(block.graded.judged.best_first[0]), np.diff(block.graded.hit_offsets)
        known = block.retrieved + (judged - hits)[block.queries]
        if known.max(initial=0) > self.N:
            query = block.graded.query_ids[int(block.queries[known.argmax()])]
            raise InputError(
                f"{self}: N is {number_text(self.N)}, but query '{printable(query)}' has "
                f"{count_of(int(known.max()), 'document')} in its list and judgments",
                "N is the number of documents in the collection",
            )
        return self.N


class RankedCollection(OfCollection):
    """A measure of the ranks of all relevant documents in a ranking of the whole collection."""

    unretrieved, tied = "expected", "policy"

    def needed(self) -> frozenset[str]:
        return super().needed() | ({"ties"} if self.tied == "expected" else frozenset())

    def _places(self, block: Block) -> Places:
        relevant = self._relevant(block)
        if self.tied == "policy":
            return Places(relevant.row, relevant.rank, relevant.rank, relevant.rank)
        chosen, (first, last) = is_relevant(block.hits.grade, self.rel, self.level), block.hit_ties
        return Places(relevant.row, relevant.rank, first[chosen], last[chosen])

    def _missed(self, block: Block) -> Ints:
        # Not negative: `gainful whydiff` evaluates lists with duplicates.
        return np.asarray(np.maximum(self._base(block) - self._found(block), 0))

    def _rank_sum(self, block: Block, size: int | None) -> Floats:
        """Return the sum of the ranks of all relevant documents; NaN if a rank is unknown."""
        places, missed = self._places(block), self._missed(block)
        found = np.bincount(places.row, (places.first + places.last) / 2.0, minlength=block.size)
        if size is None:
            return np.where(missed > 0, np.nan, found)
        if self.unretrieved == "bottom":
            return np.asarray(found + missed * (2.0 * size - missed + 1.0) / 2.0)
        return np.asarray(found + missed * (block.retrieved + 1.0 + size) / 2.0)


class VanRijsbergenE(OfRelevant, takes="alpha rel level unjudged cutoff"):
    """Van Rijsbergen's E: 1 minus the weighted harmonic mean of precision and recall.

    Formula:
        VanRijsbergenE = 1 - 1 / (alpha / P + (1 - alpha) / R)

    Conventions:
        - lower is better; alpha is the weight of precision, 0.5 by default
        - P and R are P@k and R@k; without @k, SetP and SetR
        - no relevant documents found: 1; no relevant documents: undefined

    Agrees with:
        1 - F@k or 1 - SetF with beta^2 = (1 - alpha) / alpha; with alpha=0.5, 1 - trec_eval set_F

    Reference:
        van Rijsbergen, Information Retrieval, 1979, chapter 7

    Example:
        P = 2/4, R = 2/3: 1 - 1 / (0.5 * 2 + 0.5 * 1.5).

        >>> round(gainful.parse("VanRijsbergenE").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.4286
    """

    name = "VanRijsbergenE"
    better = "lower"
    exempt = {"append": "a longer list has lower precision"}
    alpha = 0.5

    def compute(self, block: Block) -> Floats:
        found, base = self._found(block), self._base(block)
        # P and R multiplied out, so that E is 1 if nothing relevant was found.
        weighed = self.alpha * (self.cutoff or block.retrieved) + (1.0 - self.alpha) * base
        return np.where(base == 0, np.nan, 1.0 - found / np.where(found == 0, 1.0, weighed))


class Fallout(OfCollection, takes="N rel level unjudged cutoff"):
    """Fallout: the share of the collection's non-relevant documents that was retrieved.

    Formula:
        Fallout = non-relevant documents retrieved / (N - n)

    N is the size of the collection, n the number of relevant judged documents.

    Conventions:
        - lower is better; without @k, the whole list counts
        - unjudged documents are not relevant
        - without N, or without non-relevant documents in the collection: undefined

    Reference:
        Salton and McGill, Introduction to Modern Information Retrieval, 1983, chapter 5

    Example:
        Two documents in the list are non-relevant; the collection has seven of ten.

        >>> round(gainful.parse("Fallout(N=10)").score([2, 0, 1, 0], unretrieved=[1]), 4)
        0.2857
    """

    name = "Fallout"
    better = "lower"
    exempt = {"append": "unjudged documents count as non-relevant"}

    def compute(self, block: Block) -> Floats:
        size = self._size(block)
        if size is None:
            return np.full(block.size, np.nan)
        shown = block.retrieved if self.cutoff is None else np.minimum(block.retrieved, self.cutoff)
        return ratios(shown - self._found(block), size - self._base(block))


class Generality(OfCollection, takes="N rel level"):
    """Generality: the share of the collection that is relevant, a property of the query.

    Formula:
        Generality = n / N

    N is the size of the collection, n the number of relevant judged documents.

    Conventions:
        - without N: undefined

    Reference:
        Salton and McGill, Introduction to Modern Information Retrieval, 1983, chapter 5

    Example:
        >>> gainful.parse("Generality(N=10)").score([2, 0, 1, 0], unretrieved=[1])
        0.3
    """

    name = "Generality"
    better = "neither"

    def compute(self, block: Block) -> Floats:
        size = self._size(block)
        return np.full(block.size, np.nan) if size is None else self._base(block) / float(size)
