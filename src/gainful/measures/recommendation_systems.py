"""Recommendation, per system: measures of all lists together. Lists of users without judgments are ignored."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gainful.data.lists import ItemLists
from gainful.errors import InputError, UsageError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Aggregate
from gainful.measures.block import Block
from gainful.measures.recommendation import OfItems


class _OfSystem(OfItems):
    """A measure of all lists of a system together, without values per user."""

    aggregate: ClassVar[Aggregate] = "whole"

    def compute(self, block: Block) -> Floats:
        return np.full(block.size, np.nan)


class _OfCatalogue(_OfSystem):
    """A system measure that requires the catalogue of items."""

    N: int | None = None

    meanings = {"N": "size of the catalogue, if no table has its items"}
    tables = frozenset({"items", "training"})

    def _exposure(self, lists: ItemLists) -> tuple[Ints, int]:
        """Return how often each shown item of the catalogue was shown, and the size of the catalogue."""
        exposure, size = lists.exposure(self.cutoff), self.N or lists.catalogue
        if size is None:
            hint = f"give --items FILE, --training FILE, or its size: {self.name}(N=1000)@{self.cutoff}"
            raise UsageError(f"{self}: a catalogue of items is required", hint)
        shown = exposure if self.N else exposure[:size]
        shown = shown[shown > 0]
        if shown.size > size:
            raise InputError(f"{self}: the lists have {shown.size:,} items, more than N")
        return shown, size


class Coverage(_OfCatalogue):
    """Catalogue coverage: the share of the catalogue that a system recommends.

    Formula:
        Coverage@k = items in the top k of any list / items in the catalogue

    Conventions:
        - one value per system: users have none, and nothing is averaged or weighted
        - the catalogue is the table of items; without it, all items in the training table; or N items
        - items not in the catalogue are ignored

    Agrees with:
        RecTools CatalogCoverage; recommenders catalog_coverage, whose catalogue is the training table

    Reference:
        Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 22(1), 2004; Ge,
        Delgado-Battenfeld and Jannach, Beyond accuracy, RecSys 2010

    Example:
        Two of four items are shown.

        >>> lists = {"u1": ["a", "b"], "u2": ["b", "a"]}
        >>> gainful.evaluate({"u1": ["a"], "u2": ["a"]}, lists, "Coverage(N=4)@2")["Coverage(N=4)@2"]
        0.5
    """

    name = "Coverage"

    def whole(self, lists: ItemLists) -> float:
        shown, size = self._exposure(lists)
        return shown.size / size


class Gini(_OfCatalogue):
    """Gini index of exposure: 0 if all items are shown equally often, 1 if only one is shown.

    Formula:
        Gini@k = 1/(n - 1) * sum over j of (2j - n - 1) * p[j]

    n is the size of the catalogue; p[1] <= ... <= p[n] are the items' shares of all positions down to rank k.

    Conventions:
        - one value per system: users have none, and nothing is averaged or weighted
        - the catalogue is the table of items; without it, all items in the training table; or N items. Items never
          shown have p = 0; items not in the catalogue are ignored
        - no items shown, or a catalogue of one item: undefined

    Agrees with:
        Elliot Gini, which is 1 - Gini

    Differs from:
        RecBole GiniIndex, which divides by n instead of n - 1

    Reference:
        Fleder and Hosanagar, Blockbuster culture's next rise or fall, Management Science 55(5), 2009; Gunawardana and
        Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015

    Example:
        Shares 0, 0, 1/4, 3/4: (1 * 1/4 + 3 * 3/4) / 3.

        >>> lists = {"u1": ["a", "b"], "u2": ["a"], "u3": ["a"]}
        >>> round(gainful.evaluate({"u1": ["a"], "u2": ["a"], "u3": ["a"]}, lists, "Gini(N=4)@2")["Gini(N=4)@2"], 4)
        0.8333
    """

    name = "Gini"
    better = "lower"

    def whole(self, lists: ItemLists) -> float:
        exposure, size = self._exposure(lists)
        if not exposure.size or size == 1:
            return float("nan")
        # Items never shown come first, and add nothing.
        place = np.arange(size - exposure.size + 1, size + 1)
        return float(np.sum((2 * place - size - 1) * np.sort(exposure)) / ((size - 1) * np.sum(exposure)))


class Entropy(_OfSystem):
    """Shannon entropy of exposure, in bits: equal to showing 2^Entropy items equally often.

    Formula:
        Entropy@k = - sum over items of p * log2(p)

    p is an item's share of all positions down to rank k.

    Conventions:
        - one value per system: users have none, and nothing is averaged or weighted
        - base 2; items never shown add 0, so no catalogue is needed
        - no items shown: undefined

    Agrees with:
        recommenders distributional_coverage

    Differs from:
        RecBole ShannonEntropy, which uses the natural logarithm and divides by the number of items shown

    Reference:
        Gunawardana and Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015

    Example:
        Shares 1/2, 1/4 and 1/4.

        >>> gainful.evaluate({"u1": ["a"], "u2": ["a"]}, {"u1": ["a", "b"], "u2": ["a", "c"]}, "Entropy@2")["Entropy@2"]
        1.5
    """

    name = "Entropy"
    bounds = (0.0, float("inf"))

    def whole(self, lists: ItemLists) -> float:
        exposure = lists.exposure(self.cutoff)
        shares = exposure[exposure > 0] / max(1, exposure.sum())
        return float(np.sum(-shares * np.log2(shares))) if shares.size else float("nan")
