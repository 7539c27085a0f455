"""Recommendation: what lists are like beside relevant, by user.

Queries are users and documents are items. What items have in common is in a table of them (--items), what users had
before in another one (--training). Lists of users without judgments are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gainful.data.lists import gather, ordinal_in_row, sum_by
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import Block, ratios

if TYPE_CHECKING:
    from gainful.data.items import Attributes, Items

_BY_ITEM = {
    "swap": "what an item is like matters beside its grade, or instead of it",
    "perfect": "what an item is like matters beside its grade, or instead of it",
    "rename": "tables know items by their names",
}
_ALL_COUNT = {**_BY_ITEM, "append": "every item down to the cutoff counts"}


class OfItems(Measure):
    """A measure that knows which items stand in a list."""

    cutoff: int | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"documents"})
    needs_at = True
    whole_list = True

    def _known(self, block: Block, what: str) -> Items:
        """What is known of items, of which something is needed: their attributes, or what users had before."""
        items = block.graded.judged.qrels.items
        if items is None or not getattr(items, f"has_{what}"):
            table = {"attributes": ("items", "a table of items"), "training": ("training", "what users had before")}
            option, wanted = table[what]
            raise UsageError(f"{self}: expected {wanted}, found none", f"--{option} FILE ({option}= in Python)")
        return items

    def _shown(self, block: Block) -> tuple[Ints, Ints]:
        """Row and item of the first documents of a block's lists."""
        lists = block.graded.items
        row, place = gather(lists.offsets, block.queries)
        shown = ordinal_in_row(row) <= (self.cutoff or block.width)
        return row[shown], lists.item[place[shown]]


class Novelty(OfItems):
    """How surprising are the items of a list to somebody who knows only how popular each is?

    Formula:
        Novelty@k = mean over i <= k of -log2(users who had item i before / all users of the training table)

    Conventions:
        - the logarithm is to base 2: an item that one user in 1,024 had is 10 bits novel
        - share=interactions takes pairs of user and item instead of users; a pair counts once
        - an item that nobody had counts as if one user had had it
        - lists shorter than k: the mean over what they have; nothing retrieved: undefined

    Agrees with:
        RecTools MeanInvUserFreq; recommenders novelty with share=interactions, where lists are equally long

    Reference:
        Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 107(10), 2010;
        Castells, Vargas and Wang, DDR workshop, ECIR 2011 (share=interactions)

    Example:
        Of two users both had a and one b: (0 + 1) / 2.

        >>> from gainful import evaluate
        >>> had = {"u1": ["a", "b"], "u2": ["a"]}
        >>> evaluate({"u1": ["c"]}, {"u1": ["a", "b"]}, "Novelty@2", training=had).mean("Novelty@2")
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
    """A measure that goes by how similar items are."""

    coef: str = "cosine"
    by: str | None = None

    meanings = {
        "coef": "how similar two sets of attributes are: `cosine` or `jaccard`",
        "by": "the column of the table of items that has the attributes; all but titles unless told",
    }

    def _similar(self, attributes: Attributes, one: Ints, other: Ints) -> Floats:
        """How similar two items are, pair by pair; both have attributes."""
        sizes, shared = np.diff(attributes.offsets), attributes.shared(one, other)
        if self.coef == "jaccard":
            return np.asarray(shared / (sizes[one] + sizes[other] - shared))
        return np.asarray(shared / np.sqrt(sizes[one] * sizes[other]))


class ILD(_ByAttributes):
    """Intra-list diversity: how different are the items of a list from each other?

    Formula:
        ILD@k = mean over all pairs of items among the first k of (1 - similarity of their attributes)

    Similarity is the cosine of two sets, shared / sqrt(n * m), or with coef=jaccard shared / all of both.

    Conventions:
        - attributes are what the columns of the table of items say, or that named by=...: texts, several between |, or
          lists; a column of 0 and 1 is an attribute itself; titles, names, texts, descriptions and addresses are none
        - items without attributes are in no pair
        - fewer than two items with attributes: undefined

    Agrees with:
        recommenders user_diversity with feature vectors of 0 and 1

    Reference:
        Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005 (as similarity); Zhang
        and Hurley, Avoiding monotony, RecSys 2008

    Example:
        a and b share one of two genres, c none with either: (1 - 1/2 + 1 + 1) / 3.

        >>> from gainful import evaluate
        >>> genres = {"a": "war|drama", "b": "war|crime", "c": "comedy"}
        >>> round(evaluate({"u": ["a"]}, {"u": ["a", "b", "c"]}, "ILD@3", items=genres).mean("ILD@3"), 4)
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
        # Of each item its distances to those above, and how many these are.
        distance, pairs = np.zeros(row.size), np.zeros(row.size)
        for step in range(1, int(np.bincount(row).max(initial=0))):
            lower = np.flatnonzero(row[step:] == row[:-step]) + step
            distance[lower] += 1.0 - self._similar(attributes, item[lower], item[lower - step])
            pairs[lower] += 1.0
        return ratios(sum_by(row, distance, block.size), sum_by(row, pairs, block.size))


class Serendipity(_ByAttributes):
    """How many of the first k are relevant, each by how little it is like what the user had before?

    Formula:
        Serendipity@k = 1/k * sum over relevant i <= k of (1 - mean similarity of item i to what the user had)

    Similarity is that of ILD: the cosine of two sets of attributes, or with coef=jaccard what they share of both.

    Conventions:
        - lists shorter than k: divided by k all the same
        - a relevant item without attributes adds nothing: nobody knows whether it was to be expected
        - what a user had that has no attributes does not count
        - a user without anything else before: undefined

    Agrees with:
        recommenders user_serendipity with feature vectors of 0 and 1, where lists have k items

    Differs from:
        Ge et al. 2010: what a simple recommender would also show is expected there, whatever the user had

    Reference:
        Zhang et al., Auralist: introducing serendipity into music recommendation, WSDM 2012; Ge, Delgado-Battenfeld and
        Jannach, Beyond accuracy, RecSys 2010

    Example:
        a is relevant and has one of its two genres in common with what u had: (1 - 1/sqrt(2)) / 2.

        >>> from gainful import evaluate
        >>> about = {"items": {"a": "war|drama", "b": "comedy", "c": "war"}, "training": {"u": ["c"]}}
        >>> round(evaluate({"u": ["a"]}, {"u": ["a", "b"]}, "Serendipity@2", **about).mean("Serendipity@2"), 4)
        0.1464
    """

    name = "Serendipity"
    tables = frozenset({"items", "training"})
    exempt = _BY_ITEM
    rel: float | None = None

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


class UserCoverage(Measure):
    """For how many users is there a list?

    Formula:
        UserCoverage = 1 if the list has an item, else 0
        UserCoverage@k = 1 if it has at least k, else 0

    Conventions:
        - users are those with judgments; one without a list has 0 (missing=zero), its mean is the share of users

    Reference:
        Gunawardana and Shani, Evaluating recommender systems, Recommender Systems Handbook, 2nd edition, 2015: user
        space coverage

    Example:
        >>> from gainful import evaluate
        >>> evaluate({"u1": ["a"], "u2": ["b"]}, {"u1": ["c"]}, "UserCoverage").mean("UserCoverage")
        0.5
    """

    name = "UserCoverage"
    whole_list = True
    exempt: ClassVar[Mapping[str, str]] = {
        "append": "an item more may be the one that was missing",
        "perfect": "a list of what is relevant may be shorter than k",
    }
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return (block.retrieved >= (self.cutoff or 1)).astype(np.float64)
