"""Recommendation, per user: novelty, diversity and serendipity of lists.

Queries are users and documents are items. A table of items (--items) has their attributes, a training table
(--training) the interactions of users. Lists of users without judgments are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gainful.data.items import Attributes, Items
from gainful.data.lists import gather, ordinal_in_row, sum_by
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Usual
from gainful.measures.block import Block, ratios

_BY_ITEM = {
    "swap": "attributes of items matter, not only grades",
    "perfect": "attributes of items matter, not only grades",
    "rename": "tables identify items by name",
}
_ALL_COUNT = {**_BY_ITEM, "append": "all items down to the cutoff count"}


class OfItems(Usual, takes="cutoff"):
    """A measure that depends on which items are in a list."""

    needs: ClassVar[frozenset[str]] = frozenset({"documents"})
    needs_at = True
    whole_list = True

    def _known(self, block: Block, what: str) -> Items:
        """Return the tables of items, with the required one: attributes, or training."""
        items = block.graded.judged.qrels.items
        if items is None or not getattr(items, f"has_{what}"):
            option = "items" if what == "attributes" else "training"
            raise UsageError(f"{self}: a table of {option} is required", f"--{option} FILE ({option}= in Python)")
        return items

    def _shown(self, block: Block) -> tuple[Ints, Ints]:
        lists = block.graded.items
        row, place = gather(lists.offsets, block.queries)
        shown = ordinal_in_row(row) <= (self.cutoff or block.width)
        return row[shown], lists.item[place[shown]]


class Novelty(OfItems):
    """Novelty: the mean self-information of items by popularity, in bits.

    Formula:
        Novelty@k = mean over i <= k of -log2(users with item i in training / all users in training)

    Conventions:
        - base 2: an item that one user in 1,024 had is 10 bits novel
        - share=interactions counts pairs of user and item instead of users; a pair counts once
        - items without training users count as if they had one
        - lists shorter than k: the mean over their items; no documents retrieved: undefined

    Agrees with:
        RecTools MeanInvUserFreq; recommenders novelty with share=interactions, if lists have equal length

    Reference:
        Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 107(10), 2010;
        Castells, Vargas and Wang, DDR workshop, ECIR 2011 (share=interactions)

    Example:
        Both of two users had a, one had b: (0 + 1) / 2.

        >>> had = {"u1": ["a", "b"], "u2": ["a"]}
        >>> gainful.evaluate({"u1": ["c"]}, {"u1": ["a", "b"]}, "Novelty@2", training=had).mean("Novelty@2")
        0.5
    """

    name = "Novelty"
    tables = frozenset({"training"})
    bounds = (0.0, float("inf"))
    exempt = _ALL_COUNT
    share: str = "users"

    def compute(self, block: Block) -> Floats:
        items = self._known(block, "training")
        row, item = self._shown(block)
        taken = np.ones(block.graded.items.size)
        taken[: len(items.ids)] = np.maximum(items.taken_by, 1)
        whole = items.users if self.share == "users" else items.interactions
        novel = np.log2(whole / taken[item])
        return ratios(sum_by(row, novel, block.size), np.bincount(row, minlength=block.size))


class _ByAttributes(OfItems):
    """A measure based on the similarity of items."""

    coef: str = "cosine"
    by: str | None = None

    meanings = {
        "coef": "similarity of two sets of attributes: `cosine` or `jaccard`",
        "by": "the column of the table of items with the attributes; by default all but titles",
    }

    def _similar(self, attributes: Attributes, one: Ints, other: Ints) -> Floats:
        """Return the similarity of pairs of items, which must have attributes."""
        sizes, shared = np.diff(attributes.offsets), attributes.shared(one, other)
        if self.coef == "jaccard":
            return np.asarray(shared / (sizes[one] + sizes[other] - shared))
        return np.asarray(shared / np.sqrt(sizes[one] * sizes[other]))


class ILD(_ByAttributes):
    """Intra-list diversity: the mean dissimilarity of the items in a list.

    Formula:
        ILD@k = mean over all pairs of items in the top k of (1 - similarity of their attributes)

    Similarity is the cosine of two sets, shared / sqrt(n * m), or with coef=jaccard shared / union.

    Conventions:
        - attributes come from the columns of the table of items, or from the column by=...: texts separated by |, or
          lists; a column of 0 and 1 is one attribute; titles, names, texts, descriptions and addresses are ignored
        - items without attributes are in no pair
        - fewer than two items with attributes: undefined

    Agrees with:
        recommenders user_diversity with binary feature vectors

    Reference:
        Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005 (as similarity); Zhang
        and Hurley, Avoiding monotony, RecSys 2008

    Example:
        a and b share one of two genres, c shares none: (1 - 1/2 + 1 + 1) / 3.

        >>> genres = {"a": "war|drama", "b": "war|crime", "c": "comedy"}
        >>> round(gainful.evaluate({"u": ["a"]}, {"u": ["a", "b", "c"]}, "ILD@3", items=genres).mean("ILD@3"), 4)
        0.8333
    """

    name = "ILD"
    tables = frozenset({"items"})
    exempt = _ALL_COUNT

    def compute(self, block: Block) -> Floats:
        attributes = self._known(block, "attributes").attributes(self.by)
        row, item = self._shown(block)
        has = attributes.has(item)
        row, item = row[has], item[has]
        # The sum of each item's distances to those above, and their number.
        distance, pairs = np.zeros(row.size), np.zeros(row.size)
        for step in range(1, int(np.bincount(row).max(initial=0))):
            lower = np.flatnonzero(row[step:] == row[:-step]) + step
            distance[lower] += 1.0 - self._similar(attributes, item[lower], item[lower - step])
            pairs[lower] += 1.0
        return ratios(sum_by(row, distance, block.size), sum_by(row, pairs, block.size))


class Serendipity(_ByAttributes, takes="rel"):
    """Serendipity: precision weighted by the dissimilarity of items from the user's history.

    Formula:
        Serendipity@k = 1/k * sum over relevant i <= k of (1 - mean similarity of item i to the user's training items)

    Similarity is as in ILD.

    Conventions:
        - divides by k even if the list is shorter
        - relevant items without attributes add 0, because they cannot be called unexpected
        - training items without attributes are ignored; a user without any others: undefined

    Agrees with:
        recommenders user_serendipity with binary feature vectors, if lists have k items

    Differs from:
        Ge et al. 2010, where the items of a simple recommender are expected, whatever the user's history

    Reference:
        Zhang et al., Auralist: introducing serendipity into music recommendation, WSDM 2012; Ge, Delgado-Battenfeld and
        Jannach, Beyond accuracy, RecSys 2010

    Example:
        a is relevant and shares one of its two genres with the history of u: (1 - 1/sqrt(2)) / 2.

        >>> about = {"items": {"a": "war|drama", "b": "comedy", "c": "war"}, "training": {"u": ["c"]}}
        >>> round(gainful.evaluate({"u": ["a"]}, {"u": ["a", "b"]}, "Serendipity@2", **about).mean("Serendipity@2"), 4)
        0.1464
    """

    name = "Serendipity"
    tables = frozenset({"items", "training"})
    exempt = _BY_ITEM

    def compute(self, block: Block) -> Floats:
        items = self._known(block, "training")
        attributes = self._known(block, "attributes").attributes(self.by)
        row, had = items.history([block.graded.query_ids[query] for query in block.queries.tolist()])
        row, had = row[attributes.has(had)], had[attributes.has(had)]
        past = np.bincount(row, minlength=block.size)
        found, lists = block.relevant(self.rel, None), block.graded.items
        item = lists.item[lists.offsets[block.queries[found.row]] + found.rank - 1]
        counts = (found.rank <= (self.cutoff or block.width)) & attributes.has(item)
        at, item = found.row[counts], item[counts]
        pair, place = gather(np.append(0, np.cumsum(past)), at)
        similar = ratios(sum_by(pair, self._similar(attributes, item[pair], had[place]), at.size), past[at])
        unexpected = sum_by(at, np.nan_to_num(1.0 - similar), block.size)
        return np.where(past == 0, np.nan, unexpected / (self.cutoff or block.width))


class UserCoverage(Usual, takes="cutoff"):
    """User (space) coverage: the share of users who have a list.

    Formula:
        UserCoverage = 1 if the list has an item, else 0
        UserCoverage@k = 1 if the list has at least k items, else 0

    Conventions:
        - users with judgments count; a user without a list scores 0 (missing=zero), and the mean is the share of users

    Reference:
        Gunawardana and Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015

    Example:
        >>> gainful.evaluate({"u1": ["a"], "u2": ["b"]}, {"u1": ["c"]}, "UserCoverage").mean("UserCoverage")
        0.5
    """

    name = "UserCoverage"
    whole_list = True
    exempt: ClassVar[Mapping[str, str]] = {
        "append": "an added item may complete the k items",
        "perfect": "a list of all relevant items may be shorter than k",
    }

    def compute(self, block: Block) -> Floats:
        return (block.retrieved >= (self.cutoff or 1)).astype(np.float64)
