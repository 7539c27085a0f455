"""Recommendation: all lists of a system together.

Lists of users without judgments are not looked at.
"""

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
    """A measure of all lists of a system together: of one user it has no value."""

    aggregate: ClassVar[Aggregate] = "whole"

    def compute(self, block: Block) -> Floats:
        return np.full(block.size, np.nan)


class _OfCatalogue(_OfSystem):
    """One that also has to know which items there are."""

    N: int | None = None

    meanings = {"N": "how many items there are, where no table has them"}

    def _exposure(self, lists: ItemLists) -> tuple[Ints, int]:
        """How often the items of the catalogue were shown that were, and how many items it has."""
        exposure, size = lists.exposure(self.cutoff), self.N or lists.catalogue
        if size is None:
            raise UsageError(
                f"{self}: expected a catalogue, found none",
                f"--items FILE or --training FILE has it, or N: {self.name}(N=1000)@{self.cutoff}",
            )
        shown = exposure if self.N else exposure[:size]
        shown = shown[shown > 0]
        if shown.size > size:
            raise InputError(f"{self}: expected at most {size:,} items, found {shown.size:,} in the lists")
        return shown, size


class Coverage(_OfCatalogue):
    """Catalogue coverage: how much of what there is does a system ever recommend?

    Formula:
        Coverage@k = items in the first k of any list / items in the catalogue

    Conventions:
        - one number of all lists of a system: no user has a value, and nothing is averaged or weighted
        - the catalogue is the table of items, without one all items of the training table, or N items
        - what is not in the catalogue does not count

    Agrees with:
        RecTools CatalogCoverage; recommenders catalog_coverage, where the catalogue is that of the training table

    Reference:
        Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 22(1), 2004; Ge,
        Delgado-Battenfeld and Jannach, Beyond accuracy, RecSys 2010

    Example:
        a and b of four items are shown.

        >>> from gainful import evaluate
        >>> lists = {"u1": ["a", "b"], "u2": ["b", "a"]}
        >>> evaluate({"u1": ["a"], "u2": ["a"]}, lists, "Coverage(N=4)@2")["Coverage(N=4)@2"]
        0.5
    """

    name = "Coverage"
    tables = frozenset({"items", "training"})

    def whole(self, lists: ItemLists) -> float:
        shown, size = self._exposure(lists)
        return shown.size / size


class Gini(_OfCatalogue):
    """How unequally does a system show the items: 0 if all are shown equally often, 1 if only one is.

    Formula:
        Gini@k = 1/(n - 1) * sum over j of (2j - n - 1) * p[j]

    n is the size of the catalogue; p[1] <= ... <= p[n] are the shares that items have of all places down to rank k.

    Conventions:
        - one number of all lists of a system: no user has a value, and nothing is averaged or weighted
        - the catalogue is the table of items, without one all items of the training table, or N items; what is never
          shown counts with p = 0, what is not in the catalogue not at all
        - nothing shown, or a catalogue of one item: undefined

    Agrees with:
        Elliot Gini, which shows 1 minus it

    Differs from:
        RecBole GiniIndex divides by n, not by n - 1

    Reference:
        Fleder and Hosanagar, Blockbuster culture's next rise or fall, Management Science 55(5), 2009; Gunawardana and
        Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015

    Example:
        Shares 0, 0, 1/4, 3/4: (1 * 1/4 + 3 * 3/4) / 3.

        >>> from gainful import evaluate
        >>> lists = {"u1": ["a", "b"], "u2": ["a"], "u3": ["a"]}
        >>> round(evaluate({"u1": ["a"], "u2": ["a"], "u3": ["a"]}, lists, "Gini(N=4)@2")["Gini(N=4)@2"], 4)
        0.8333
    """

    name = "Gini"
    tables = frozenset({"items", "training"})
    better = "lower"

    def whole(self, lists: ItemLists) -> float:
        exposure, size = self._exposure(lists)
        if not exposure.size or size == 1:
            return float("nan")
        # Those that are never shown come first, and add nothing.
        place = np.arange(size - exposure.size + 1, size + 1)
        return float(np.sum((2 * place - size - 1) * np.sort(exposure)) / ((size - 1) * np.sum(exposure)))


class Entropy(_OfSystem):
    """Over how many items does a system spread its lists, in bits: 2^Entropy items shown equally often have it.

    Formula:
        Entropy@k = - sum over items of p * log2(p)

    p is the share that an item has of all places down to rank k.

    Conventions:
        - one number of all lists of a system: no user has a value, and nothing is averaged or weighted
        - the logarithm is to base 2; what is never shown adds nothing, so that no catalogue is needed
        - nothing shown: undefined

    Agrees with:
        recommenders distributional_coverage

    Differs from:
        RecBole ShannonEntropy takes the natural logarithm, and divides by the number of items shown

    Reference:
        Gunawardana and Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015

    Example:
        Shares 1/2, 1/4 and 1/4.

        >>> from gainful import evaluate
        >>> evaluate({"u1": ["a"], "u2": ["a"]}, {"u1": ["a", "b"], "u2": ["a", "c"]}, "Entropy@2")["Entropy@2"]
        1.5
    """

    name = "Entropy"
    bounds = (0.0, float("inf"))

    def whole(self, lists: ItemLists) -> float:
        exposure = lists.exposure(self.cutoff)
        shares = exposure[exposure > 0] / max(1, exposure.sum())
        return float(np.sum(-shares * np.log2(shares))) if shares.size else float("nan")
