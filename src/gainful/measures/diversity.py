"""Diversity: a query has sub-topics (intents), and what repeats a sub-topic is worth less than what adds one.

Judgments say to which sub-topics a document is relevant: subtopics=yes, and column 2 names them. All sub-topics of a
query are equally likely unless intents= has their probabilities; those that no judged document is relevant to do not
count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from gainful.data.lists import GainLists, gather, is_relevant, ordinal_in_row, sum_by
from gainful.errors import InputError, UsageError, for_asker
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import BINARY, LINEAR, Measure
from gainful.measures.block import Block, ratios
from gainful.measures.ntcir import Stops
from gainful.notation import number_text, printable

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels


#: Rounding may put the best list a little above 1; a list that is better than the greedy one stands further above.
_MORE_THAN_ROUNDING = 1.0 + 1e-9

#: What adds at least this share of the most adds as much, but for rounding: then the id decides.
_AS_MUCH = 1.0 - 1e-12


class Intents(NamedTuple):
    """Which judged documents (items) are relevant to which sub-topics, and their gains: more of likely sub-topics.

    Entries of item i are ``offsets[i] : offsets[i + 1]``; ``intent`` counts through all queries, ``counts`` has how
    many each query has.
    """

    offsets: Ints
    intent: Ints
    gain: Floats
    counts: Ints


def _intents(judged: Judged, gain: Gain, rel: float | None) -> Intents:
    item, subtopic, grade = judged.by_subtopic
    gains = gain.of_grades(grade, judged.scale)
    chosen = (gains > 0) & (is_relevant(grade, rel, None) if rel is not None else True)
    item, subtopic, gains = item[chosen], subtopic[chosen], gains[chosen]
    query = np.searchsorted(judged.item_offsets, item, "right") - 1
    named, intent = np.unique(query * len(judged.qrels.subtopic_ids) + subtopic, return_inverse=True)
    query_of = named // max(1, len(judged.qrels.subtopic_ids))
    counts = np.bincount(query_of, minlength=len(judged.qrels.query_ids))
    if judged.qrels.intents is not None and named.size:
        # Times the number of sub-topics, so that equally likely ones count 1 each.
        gains = (
            gains * (np.array([_probability(judged.qrels, each) for each in named.tolist()]) * counts[query_of])[intent]
        )
    items = int(judged.item_offsets[-1])
    return Intents(np.append(0, np.cumsum(np.bincount(item, minlength=items))), intent, gains, counts)


def _probability(qrels: Qrels, number: int) -> float:
    """How likely a sub-topic is, by its number among those of all queries."""
    query, subtopic = qrels.query_ids[number // len(qrels.subtopic_ids)], number % len(qrels.subtopic_ids)
    found = (qrels.intents or {}).get(query, {}).get(qrels.subtopic_ids[subtopic])
    if found is None:
        lacking = f"sub-topic '{printable(qrels.subtopic_ids[subtopic])}' of query '{printable(query)}'"
        raise InputError(f"intents: expected a probability for {lacking}, found none")
    return found


class Covered(NamedTuple):
    """What a list's documents are relevant to, by row, then by rank: a place for every document and sub-topic."""

    row: Ints
    rank: Ints
    intent: Ints
    gain: Floats

    def times(self) -> Ints:
        """The how many-th document of its sub-topic every one is."""
        order = np.lexsort((self.rank, self.intent))
        times = np.empty(order.size, np.int64)
        times[order] = ordinal_in_row(self.intent[order])
        return times

    def novel(self, alpha: float) -> Floats:
        """Gains, times 1 - alpha for every document above that is relevant to the same sub-topic."""
        return np.asarray(self.gain * (1.0 - alpha) ** (self.times() - 1))


class _Diverse(Measure):
    """What the measures of the family have in common.

    Conventions:
        - needs judgments with sub-topics: subtopics=yes (--subtopics)
        - sub-topics are equally likely, or as intents= (--intents) says
        - nothing relevant: undefined
    """

    tables = frozenset({"intents"})
    gain: Gain = BINARY
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def _known(self, block: Block) -> Intents:
        if not block.policy.subtopics:
            raise UsageError(
                f"{self}: expected judgments with sub-topics, found subtopics=no",
                f"{for_asker('--subtopics', 'subtopics=True')} makes column 2 of the judgments the sub-topic",
            )
        judged = block.graded.judged
        return judged.cached(("intents", self.gain, self.rel), lambda: _intents(judged, self.gain, self.rel))

    def _covered(self, block: Block) -> Covered:
        """The relevant documents of a block's lists down to the cutoff."""

        def made() -> Covered:
            known, graded = self._known(block), block.graded
            row, place = gather(graded.hit_offsets, block.queries)
            rank, item = graded.hit_rank[place], graded.hit_item[place]
            if self.cutoff is not None:
                row, rank, item = row[rank <= self.cutoff], rank[rank <= self.cutoff], item[rank <= self.cutoff]
            hit, entry = gather(known.offsets, item)
            return Covered(row[hit], rank[hit], known.intent[entry], known.gain[entry])

        return block.cached(("covered", self.gain, self.rel, self.cutoff), made)

    def _counts(self, block: Block) -> Ints:
        """How many sub-topics each query has."""
        return self._known(block).counts[block.queries]

    def _recall(self, block: Block) -> Floats:
        """The share of the sub-topics that the lists cover."""
        covered = self._covered(block)
        return ratios(np.bincount(covered.row[covered.times() == 1], minlength=block.size), self._counts(block))


class _Counted(_Diverse):
    """Relevant to a sub-topic or not is all that counts."""

    gain: ClassVar[Gain] = BINARY  # type: ignore[misc]  # no parameter here


class _Novelty(_Diverse):
    """A sum over ranks of novel gain, weighted by rank, as a share of what would be best.

    Formula:

    N[i] is the novel gain at rank i: the sum over its sub-topics of the gain, times 1 - alpha for every document above
    that is relevant to the same sub-topic.

    Conventions:
        - gain=linear takes graded judgments as they are, gain=binary (the default) as relevant or not

    Agrees with:
        ndeval and ir_measures {name}
    """

    alpha: float = 0.5

    exempt: ClassVar[Mapping[str, str]] = {
        "swap": "what settles a sub-topic early takes from better documents below it"
    }
    meanings = {"alpha": "how much of a sub-topic a document settles: 1 - alpha is left of it after each, from 0 to 1"}
    #: Whether the best list is made of the judged documents; else every document of it is relevant to all sub-topics.
    is_of_judged: ClassVar[bool] = False

    def weights(self, ranks: Floats) -> Floats:
        """What a gain counts at every rank."""
        raise NotImplementedError

    def _best(self, block: Block) -> Floats:
        if not self.is_of_judged:
            highest = self.gain.highest(block.scale)
            return np.asarray(self._counts(block) * highest * self._of_perfect(self.cutoff or block.width))
        judged, known = block.graded.judged, self._known(block)
        key = ("greedy", self.gain, self.rel, self.alpha, self.cutoff)
        lists = judged.cached(key, lambda: _greedy(judged, known, self.alpha, self.cutoff))
        row, place = gather(lists.offsets, block.queries)
        return sum_by(row, lists.gain[place] * self.weights(lists.rank[place].astype(np.float64)), block.size)

    def _of_perfect(self, depth: int) -> float:
        """What a sub-topic would give in all if every document were relevant to it."""
        ranks = np.arange(1.0, depth + 1.0)
        return float(np.cumsum((1.0 - self.alpha) ** (ranks - 1.0) * self.weights(ranks))[-1])

    def compute(self, block: Block) -> Floats:
        covered = self._covered(block)
        terms = covered.novel(self.alpha) * self.weights(covered.rank.astype(np.float64))
        found = ratios(sum_by(covered.row, terms, block.size), self._best(block))
        return np.where(found > _MORE_THAN_ROUNDING, found, np.minimum(found, 1.0))


def _greedy(judged: Judged, known: Intents, alpha: float, cutoff: int | None) -> GainLists:
    """The best lists, taken greedily: next comes the document that adds most, the last by id of equals. All queries
    take a document at a time."""
    queries = np.diff(judged.item_offsets).size
    row_of_item = np.zeros(int(judged.item_offsets[-1]), np.int64)
    row_of_item[judged.item] = np.arange(judged.item.size)
    items = np.flatnonzero(np.diff(known.offsets))
    query = np.searchsorted(judged.item_offsets, items, "right") - 1
    counts = np.bincount(query, minlength=queries)
    ids = judged.qrels.documents(row_of_item[items])
    places = pairwise(np.searchsorted(query, np.arange(queries + 1)).tolist())
    falling = np.array([i for a, b in places for i in sorted(range(a, b), key=ids.__getitem__, reverse=True)], np.int64)
    # Queries with many documents first, so that those which still take one are the first.
    falling = falling[np.lexsort((query[falling], -counts[query[falling]]))]
    items, query = items[falling], query[falling]
    of_item, entry = gather(known.offsets, items)
    intent, left, worth = known.intent[entry], known.gain[entry], np.ones(int(known.counts.sum()))
    entries = np.searchsorted(of_item, np.arange(items.size + 1))
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    most, number = counts[query[begins]], np.repeat(np.arange(begins.size), counts[query[begins]])
    rows, gains = [], []
    for place in range(min(int(most.max(initial=0)), cutoff or items.size)):
        active = np.searchsorted(-most, -place)
        end = begins[active] if active < begins.size else items.size
        added = np.add.reduceat((left * worth[intent])[: entries[end]], entries[:end])
        enough = np.maximum.reduceat(added, begins[:active]) * _AS_MUCH
        equals = np.flatnonzero(added >= enough[number[:end]])
        best = equals[np.flatnonzero(np.diff(number[equals], prepend=-1))]
        rows.append(query[best])
        gains.append(added[best])
        taken = gather(entries, best)[1]
        worth[intent[taken]] *= 1.0 - alpha
        left[taken] = 0.0
    row = np.concatenate([*rows, np.zeros(0, np.int64)])
    order, rank = np.argsort(row, kind="stable"), np.repeat(np.arange(1, len(rows) + 1), [each.size for each in rows])
    return GainLists(queries, row[order], rank[order], np.concatenate([*gains, np.zeros(0)])[order])


class _OfBestList(_Novelty):
    """The share of what the best list of judged documents has.

    Conventions:
        - the best list is made greedily, by definition: next comes the document that adds most, the last by id of
          equals. The best of all is too hard to find; a list that happens to be better has a value above 1
    """

    is_of_judged = True
    bounds = (0.0, math.inf)


def _log2_weights(ranks: Floats) -> Floats:
    return np.asarray(1.0 / np.log2(ranks + 1.0))


def _reciprocal_weights(ranks: Floats) -> Floats:
    return np.asarray(1.0 / ranks)


class AlphaDCG(_Novelty):
    """alpha-DCG: discounted gain in which a sub-topic counts less each time it comes again.

    Formula:
        alpha-DCG@k = sum over i <= k of N[i] / log2(i + 1), divided by the same of a list all of whose documents are
        relevant to all sub-topics

    Reference:
        Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; divided as in ndeval

    Example:
        N is 1 (sub-topic 1) at rank 1 and 1.5 (1 again, 2) at rank 3; of three sub-topics: 1.75 / (3 * 1.5185).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "alpha-DCG@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: alpha-DCG@5: 0.3842>
    """

    name = "alpha-DCG"
    needs_at = True
    sees_past_end = True
    weights = staticmethod(_log2_weights)


class AlphaNDCG(_OfBestList):
    """alpha-nDCG: alpha-DCG as a share of what the best list of judged documents would have.

    Formula:
        alpha-nDCG@k = sum over i <= k of N[i] / log2(i + 1), divided by the same of the best list

    Reference:
        Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008

    Example:
        The best list is a (2 sub-topics), c (1), b (0.5): 1.75 / (2 + 1/log2(3) + 0.5/2).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "alpha-nDCG@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: alpha-nDCG@5: 0.6074>
    """

    name = "alpha-nDCG"
    weights = staticmethod(_log2_weights)


class ERRIA(_Novelty):
    """Intent-aware ERR: 1 / rank of what satisfies users with different intents.

    Formula:
        ERR-IA@k = sum over i <= k of N[i] / i, divided by the same of a list all of whose documents are relevant to all
        sub-topics

    Reference:
        Clarke, Craswell, Soboroff and Ashkan, A comparative analysis of cascade measures for novelty and diversity,
        WSDM 2011

    Example:
        N is 1 at rank 1 and 1.5 at rank 3; of three sub-topics: 1.5 / (3 * 1.3771).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "ERR-IA@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: ERR-IA@5: 0.3631>
    """

    name = "ERR-IA"
    needs_at = True
    sees_past_end = True
    weights = staticmethod(_reciprocal_weights)


class NERRIA(_OfBestList):
    """Intent-aware ERR as a share of what the best list of judged documents would have.

    Formula:
        nERR-IA@k = sum over i <= k of N[i] / i, divided by the same of the best list

    Reference:
        Clarke, Craswell, Soboroff and Ashkan, A comparative analysis of cascade measures for novelty and diversity,
        WSDM 2011

    Example:
        The best list is a, c, b: 1.5 / (2 + 1/2 + 0.5/3).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "nERR-IA@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: nERR-IA@5: 0.5625>
    """

    name = "nERR-IA"
    weights = staticmethod(_reciprocal_weights)


class NRBP(_Novelty):
    """Novelty- and rank-biased precision: RBP in which a sub-topic counts less each time it comes again.

    Formula:
        NRBP = (1 - (1 - alpha) beta) / n * sum over ranks i of N[i] beta^(i - 1)

    n is the number of sub-topics; a list all of whose documents are relevant to all of them has 1.

    Reference:
        Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009

    Example:
        N is 1 at rank 1 and 1.5 at rank 3; of three sub-topics: 0.75 / 3 * (1 + 1.5 / 4).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "NRBP", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: NRBP: 0.3438>
    """

    name = "NRBP"
    meanings = {**_Novelty.meanings, "beta": "the probability with which the user goes on: from 0 to 1"}
    cutoff: ClassVar[None] = None  # type: ignore[misc]  # no parameter: lists count to their ends
    beta: float = 0.5

    def validate(self) -> None:
        super().validate()
        if not self.beta < 1:
            raise UsageError(f"{self.name}: expected a beta below 1, found {number_text(self.beta)}")

    def weights(self, ranks: Floats) -> Floats:
        return np.asarray(self.beta ** (ranks - 1.0))

    def _of_perfect(self, depth: int) -> float:
        return 1.0 / (1.0 - (1.0 - self.alpha) * self.beta)


class NNRBP(NRBP, _OfBestList):
    """NRBP as a share of what the best list of judged documents would have.

    Formula:
        nNRBP = sum over ranks i of N[i] beta^(i - 1), divided by the same of the best list

    Reference:
        Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009

    Example:
        The best list is a, c, b: 1.375 / (2 + 1/2 + 0.5/4).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "nNRBP", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: nNRBP: 0.5238>
    """

    name = "nNRBP"


class PIA(_Counted):
    """Intent-aware precision: the mean over sub-topics of the precision for each.

    Formula:
        P-IA@k = sum over i <= k of the sub-topics that the document at rank i is relevant to, divided by k * n

    n is the number of sub-topics.

    Agrees with:
        ndeval and ir_measures P-IA@k

    Reference:
        Agrawal, Gollapudi, Halverson and Ieong, Diversifying search results, WSDM 2009

    Example:
        Rank 1 is relevant to one sub-topic of three, rank 3 to two: 3 / (5 * 3).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "P-IA@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: P-IA@5: 0.2000>
    """

    name = "P-IA"
    needs_at = True

    def compute(self, block: Block) -> Floats:
        covered = self._covered(block)
        found = sum_by(covered.row, covered.gain, block.size)
        return ratios(found, (self.cutoff or 1) * self._counts(block))


class APIA(_Counted):
    """Intent-aware average precision: the mean over sub-topics of the AP for each.

    Formula:
        AP-IA = mean over sub-topics of AP, relevant being what is relevant to the sub-topic

    Conventions:
        - AP-IA@k stops at rank k and still divides by all relevant documents of the sub-topic

    Agrees with:
        ndeval MAP-IA and ir_measures AP_IA

    Reference:
        Agrawal, Gollapudi, Halverson and Ieong, Diversifying search results, WSDM 2009

    Example:
        AP is (1 + 2/3)/2 for sub-topic 1, 1/3 for 2, 0 for 3.

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "AP-IA", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: AP-IA: 0.3889>
    """

    name = "AP-IA"

    def compute(self, block: Block) -> Floats:
        covered, relevant = self._covered(block), np.bincount(self._known(block).intent)
        precisions = covered.gain * covered.times() / covered.rank / relevant[covered.intent]
        return ratios(sum_by(covered.row, precisions, block.size), self._counts(block))


class StRecall(_Counted):
    """Sub-topic recall: the share of the sub-topics that the first k documents cover.

    Formula:
        StRecall@k = sub-topics that some document of the top k is relevant to / all sub-topics

    Conventions:
        - NTCIR calls it I-rec; sub-topics count alike, however likely they are

    Agrees with:
        ndeval strec@k, ir_measures StRecall@k, NTCIREVAL I-rec

    Reference:
        Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003

    Example:
        Sub-topics 1 and 2 of three are covered.

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "StRecall@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: StRecall@5: 0.6667>
    """

    name = "StRecall"
    tables = frozenset()

    def compute(self, block: Block) -> Floats:
        return self._recall(block)


class _GlobalGain(_Diverse):
    """A measure of the global gain: the mean over sub-topics of what a document gains for each."""

    gain: Gain = LINEAR
    gamma: float = 0.0

    meanings = {"gamma": "the weight of sub-topic recall, from 0 to 1"}

    def _lists(self, block: Block) -> tuple[GainLists, GainLists]:
        """The lists of global gains, and the best there can be."""
        known, covered, judged = self._known(block), self._covered(block), block.graded.judged
        places, inverse = np.unique(covered.row * (block.width + 1) + covered.rank, return_inverse=True)
        row, rank = places // (block.width + 1), places % (block.width + 1)
        share = 1.0 / np.maximum(self._counts(block), 1)
        run = GainLists(block.size, row, rank, sum_by(inverse, covered.gain, places.size) * share[row])

        def best() -> GainLists:
            item = np.repeat(np.arange(known.offsets.size - 1), np.diff(known.offsets))
            total = sum_by(item, known.gain, known.offsets.size - 1)
            items = np.flatnonzero(total)
            query = np.searchsorted(judged.item_offsets, items, "right") - 1
            gains = total[items] * (1.0 / np.maximum(known.counts, 1))[query]
            return GainLists(known.counts.size, query, ordinal_in_row(query), gains).best_first()

        ideal = judged.cached(("global gains", self.gain, self.rel), best)
        return run, ideal.of_rows(block.queries)

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        """The measure of lists of gains."""
        raise NotImplementedError

    def compute(self, block: Block) -> Floats:
        found = self.of_gains(*self._lists(block))
        if not self.gamma:
            return found
        return np.asarray(self.gamma * self._recall(block) + (1.0 - self.gamma) * found)


class DNDCG(_GlobalGain):
    """D-nDCG: nDCG of the global gain, the mean over sub-topics of what a document gains for each.

    Formula:
        D-nDCG@k = nDCG@k of GG, GG[i] = sum over sub-topics of their probability, 1/n, times the gain for each
        D#-nDCG@k = gamma StRecall@k + (1 - gamma) D-nDCG@k

    n is the number of sub-topics. D#-nDCG is the short name with gamma=0.5.

    Conventions:
        - the discount is log2(i + 1), the ideal list has all judged documents by their global gain

    Agrees with:
        NTCIREVAL D-nDCG and D#-nDCG of MSnDCG, with its Iprob file as intents=

    Reference:
        Sakai and Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011

    Example:
        GG is 1/3 at rank 1 and 2/3 at rank 3, ideally 2/3, 1/3, 1/3: (1 + 2/2) / (2 + 1/log2(3) + 1/2).

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "D-nDCG@5", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: D-nDCG@5: 0.6388>
    """

    name = "D-nDCG"

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        def divisors(ranks: Floats) -> Floats:
            return np.asarray(np.log2(ranks + 1.0))

        return np.minimum(ratios(run.total(divisors, self.cutoff), ideal.total(divisors, self.cutoff)), 1.0)


class DQ(_GlobalGain):
    """D-Q: the Q-measure of the global gain, the mean over sub-topics of what a document gains for each.

    Formula:
        D-Q = Q of GG, GG[i] = sum over sub-topics of their probability, 1/n, times the gain for each
        D#-Q = gamma StRecall + (1 - gamma) D-Q

    n is the number of sub-topics. D#-Q is the short name with gamma=0.5.

    Conventions:
        - relevant is what has a global gain above 0; D-Q@k divides by min(n, k) of these, as Q@k does

    Agrees with:
        NTCIREVAL D-Q and D#-Q, with its Iprob file as intents=

    Reference:
        Sakai and Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011

    Example:
        GG is 1/3 at rank 1 and 2/3 at rank 3: ((1 + 1/3)/(1 + 2/3) + (2 + 1)/(3 + 4/3)) / 3.

        >>> from gainful import Policy, Qrels, evaluate
        >>> qrels = Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> evaluate(qrels, {"q": ["b", "x", "a"]}, "D-Q", policy=Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: D-Q: 0.4974>
    """

    name = "D-Q"
    exempt = {
        "swap": "past the recall base the ideal gains nothing more: a document may have a higher ratio lower down"
    }

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        stops = Stops(run, ideal, self.cutoff)
        scores = sum_by(stops.row, stops.blended(1.0) / stops.held[stops.row], stops.size)
        return np.where(stops.base == 0, np.nan, np.minimum(scores, 1.0))
