"""Diversity: a query has sub-topics (intents), and covering a new one is worth more than repeating one.

With subtopics=yes, column 2 of the judgments names the sub-topic. All sub-topics of a query are equally likely unless
intents= gives their probabilities; sub-topics without relevant documents do not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import GainLists, gather, is_relevant, ordinal_in_row, sum_by
from gainful.data.qrels import Qrels
from gainful.errors import InputError, UsageError, for_asker
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import BINARY, LINEAR, Usual
from gainful.measures.block import Block, ratios
from gainful.measures.ntcir import Stops
from gainful.notation import number_text, printable

#: Above this, a list beats the greedy one, rather than exceeding 1 by rounding.
_MORE_THAN_ROUNDING = 1.0 + 1e-9

#: Documents that add at least this share of the most are tied, and the ID decides.
_AS_MUCH = 1.0 - 1e-12


class Intents(NamedTuple):
    """The sub-topics of each judged document (item), with gains weighted by the probability of the sub-topic.

    Entries of item i are ``offsets[i] : offsets[i + 1]``; ``intent`` numbers sub-topics across queries.
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
        # Times the number of sub-topics, so that equally likely ones weigh 1.
        gains = (
            gains * (np.array([_probability(judged.qrels, each) for each in named.tolist()]) * counts[query_of])[intent]
        )
    items = int(judged.item_offsets[-1])
    return Intents(np.append(0, np.cumsum(np.bincount(item, minlength=items))), intent, gains, counts)


def _probability(qrels: Qrels, number: int) -> float:
    """Return the probability of a sub-topic, numbered across queries."""
    query, subtopic = qrels.query_ids[number // len(qrels.subtopic_ids)], number % len(qrels.subtopic_ids)
    found = (qrels.intents or {}).get(query, {}).get(qrels.subtopic_ids[subtopic])
    if found is None:
        lacking = f"sub-topic '{printable(qrels.subtopic_ids[subtopic])}' of query '{printable(query)}'"
        raise InputError(f"intents: {lacking} has no probability")
    return found


class Covered(NamedTuple):
    """The pairs of retrieved relevant document and sub-topic, by row, then by rank."""

    row: Ints
    rank: Ints
    intent: Ints
    gain: Floats

    def times(self) -> Ints:
        """Number the documents of each sub-topic from 1, by rank."""
        order = np.lexsort((self.rank, self.intent))
        times = np.empty(order.size, np.int64)
        times[order] = ordinal_in_row(self.intent[order])
        return times

    def novel(self, alpha: float) -> Floats:
        """Return gains, times 1 - alpha for each document above that is relevant to the same sub-topic."""
        return np.asarray(self.gain * (1.0 - alpha) ** (self.times() - 1))


class _Diverse(Usual):
    """Base of the diversity measures.

    Conventions:
        - requires judgments with sub-topics: subtopics=yes (--subtopics)
        - sub-topics are equally likely unless intents= (--intents) gives their probabilities
        - no relevant documents: undefined
    """

    tables = frozenset({"intents"})
    gain = BINARY

    def _known(self, block: Block) -> Intents:
        if not block.policy.subtopics:
            hint = f"{for_asker('--subtopics', 'subtopics=True')} reads sub-topics from column 2 of the judgments"
            raise UsageError(f"{self}: judgments with sub-topics are required (subtopics=no)", hint)
        judged = block.graded.judged
        return judged.cached(("intents", self.gain, self.rel), lambda: _intents(judged, self.gain, self.rel))

    def _covered(self, block: Block) -> Covered:
        def covered() -> Covered:
            known, graded = self._known(block), block.graded
            row, place = gather(graded.hit_offsets, block.queries)
            rank, item = graded.hit_rank[place], graded.hit_item[place]
            if self.cutoff is not None:
                row, rank, item = row[rank <= self.cutoff], rank[rank <= self.cutoff], item[rank <= self.cutoff]
            hit, entry = gather(known.offsets, item)
            return Covered(row[hit], rank[hit], known.intent[entry], known.gain[entry])

        return block.cached(("covered", self.gain, self.rel, self.cutoff), covered)

    def _counts(self, block: Block) -> Ints:
        return self._known(block).counts[block.queries]

    def _recall(self, block: Block) -> Floats:
        covered = self._covered(block)
        return ratios(np.bincount(covered.row[covered.times() == 1], minlength=block.size), self._counts(block))


class _Counted(_Diverse, takes="rel unjudged cutoff"):
    """A diversity measure of binary relevance."""


class _Novelty(_Diverse, takes="gain rel unjudged cutoff alpha"):
    """A rank-weighted sum of novel gain, relative to the best.

    Formula:

    N[i] is the novel gain at rank i: the sum over its sub-topics of the gain, times 1 - alpha for each document above
    that is relevant to the same sub-topic.

    Conventions:
        - gain=binary is the default; gain=linear uses graded judgments

    Agrees with:
        ndeval and ir_measures {name}
    """

    alpha = 0.5

    exempt: ClassVar[Mapping[str, str]] = {
        "swap": "covering a sub-topic early lowers the gain of better documents below"
    }
    meanings = {
        "alpha": "redundancy, from 0 to 1: each document reduces the gain of its sub-topics by factor 1 - alpha"
    }
    #: Whether the best list is made of judged documents, or of documents relevant to all sub-topics.
    is_of_judged: ClassVar[bool] = False

    def weights(self, ranks: Floats) -> Floats:
        """Return the weight of each rank."""
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
        """Return the total of a sub-topic if all documents were relevant to it."""
        ranks = np.arange(1.0, depth + 1.0)
        return float(np.cumsum((1.0 - self.alpha) ** (ranks - 1.0) * self.weights(ranks))[-1])

    def compute(self, block: Block) -> Floats:
        covered = self._covered(block)
        terms = covered.novel(self.alpha) * self.weights(covered.rank.astype(np.float64))
        found = ratios(sum_by(covered.row, terms, block.size), self._best(block))
        return np.where(found > _MORE_THAN_ROUNDING, found, np.minimum(found, 1.0))


def _greedy(judged: Judged, known: Intents, alpha: float, cutoff: int | None) -> GainLists:
    """Build the best lists greedily, one rank of all queries at a time: most added gain first, ties by last ID."""
    queries = np.diff(judged.item_offsets).size
    row_of_item = np.zeros(int(judged.item_offsets[-1]), np.int64)
    row_of_item[judged.item] = np.arange(judged.item.size)
    items = np.flatnonzero(np.diff(known.offsets))
    query = np.searchsorted(judged.item_offsets, items, "right") - 1
    counts = np.bincount(query, minlength=queries)
    ids = judged.qrels.documents(row_of_item[items])
    places = pairwise(np.searchsorted(query, np.arange(queries + 1)).tolist())
    falling = np.array([i for a, b in places for i in sorted(range(a, b), key=ids.__getitem__, reverse=True)], np.int64)
    # Queries with many documents first, so that the active ones are always the first.
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
    """A measure relative to the best list of judged documents.

    Conventions:
        - by definition the best list is built greedily: the document that adds most comes next, and ties go to the last
          ID. Finding the optimum is infeasible; a list that beats the greedy one scores above 1
    """

    is_of_judged = True
    bounds = (0.0, math.inf)


class AlphaDCG(_Novelty):
    """alpha-DCG: discounted gain with less gain for each repetition of a sub-topic.

    Formula:
        alpha-DCG@k = sum over i <= k of N[i] / log2(i + 1), divided by the sum if all documents had all sub-topics

    Reference:
        Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; divided as in ndeval

    Example:
        N is 1 (sub-topic 1) at rank 1 and 1.5 (1 again, 2) at rank 3; of three sub-topics: 1.75 / (3 * 1.5185).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "alpha-DCG@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: alpha-DCG@5: 0.3842>
    """

    name = "alpha-DCG"
    needs_at = True
    sees_past_end = True
    weights = staticmethod(lambda ranks: 1.0 / np.log2(ranks + 1.0))


class AlphaNDCG(_OfBestList):
    """alpha-nDCG: alpha-DCG relative to the best list of judged documents.

    Formula:
        alpha-nDCG@k = sum over i <= k of N[i] / log2(i + 1), divided by the sum for the best list

    Reference:
        Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008

    Example:
        The best list is a (2 sub-topics), c (1), b (0.5): 1.75 / (2 + 1/log2(3) + 0.5/2).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "alpha-nDCG@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: alpha-nDCG@5: 0.6074>
    """

    name = "alpha-nDCG"
    weights = staticmethod(lambda ranks: 1.0 / np.log2(ranks + 1.0))


class ERRIA(_Novelty):
    """Intent-aware ERR: expected reciprocal rank for users with different intents.

    Formula:
        ERR-IA@k = sum over i <= k of N[i] / i, divided by the sum if all documents had all sub-topics

    Reference:
        Clarke et al., A comparative analysis of cascade measures for novelty and diversity, WSDM 2011

    Example:
        N is 1 at rank 1 and 1.5 at rank 3; of three sub-topics: 1.5 / (3 * 1.3771).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "ERR-IA@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: ERR-IA@5: 0.3631>
    """

    name = "ERR-IA"
    needs_at = True
    sees_past_end = True
    weights = staticmethod(lambda ranks: 1.0 / ranks)


class NERRIA(_OfBestList):
    """Intent-aware ERR relative to the best list of judged documents.

    Formula:
        nERR-IA@k = sum over i <= k of N[i] / i, divided by the sum for the best list

    Reference:
        Clarke et al., A comparative analysis of cascade measures for novelty and diversity, WSDM 2011

    Example:
        The best list is a, c, b: 1.5 / (2 + 1/2 + 0.5/3).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "nERR-IA@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: nERR-IA@5: 0.5625>
    """

    name = "nERR-IA"
    weights = staticmethod(lambda ranks: 1.0 / ranks)


class NRBP(_Novelty):
    """Novelty- and rank-biased precision: RBP with less gain for each repetition of a sub-topic.

    Formula:
        NRBP = (1 - (1 - alpha) beta) / n * sum over ranks i of N[i] beta^(i - 1)

    n is the number of sub-topics; a list of documents that are all relevant to all of them scores 1.

    Reference:
        Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009

    Example:
        N is 1 at rank 1 and 1.5 at rank 3; of three sub-topics: 0.75 / 3 * (1 + 1.5 / 4).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "NRBP", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: NRBP: 0.3438>
    """

    name = "NRBP"
    meanings = {**_Novelty.meanings, "beta": "the probability that the user continues, from 0 to below 1"}
    cutoff: ClassVar[None] = None  # type: ignore[misc]  # not a parameter: whole lists count
    beta: float = 0.5

    def validate(self) -> None:
        super().validate()
        if not self.beta < 1:
            raise UsageError(f"{self.name}: beta: expected a number below 1, found {number_text(self.beta)}")

    def weights(self, ranks: Floats) -> Floats:
        return np.asarray(self.beta ** (ranks - 1.0))

    def _of_perfect(self, depth: int) -> float:
        return 1.0 / (1.0 - (1.0 - self.alpha) * self.beta)


class NNRBP(NRBP, _OfBestList):
    """NRBP relative to the best list of judged documents.

    Formula:
        nNRBP = sum over ranks i of N[i] beta^(i - 1), divided by the sum for the best list

    Reference:
        Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009

    Example:
        The best list is a, c, b: 1.375 / (2 + 1/2 + 0.5/4).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "nNRBP", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: nNRBP: 0.5238>
    """

    name = "nNRBP"


class PIA(_Counted):
    """Intent-aware precision: the mean of precision over sub-topics.

    Formula:
        P-IA@k = sum over i <= k of the number of sub-topics to which the document at rank i is relevant / (k * n)

    n is the number of sub-topics.

    Agrees with:
        ndeval and ir_measures P-IA@k

    Reference:
        Agrawal, Gollapudi, Halverson and Ieong, Diversifying search results, WSDM 2009

    Example:
        Rank 1 is relevant to one sub-topic of three, rank 3 to two: 3 / (5 * 3).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "P-IA@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: P-IA@5: 0.2000>
    """

    name = "P-IA"
    needs_at = True

    def compute(self, block: Block) -> Floats:
        covered = self._covered(block)
        return ratios(sum_by(covered.row, covered.gain, block.size), (self.cutoff or 1) * self._counts(block))


class APIA(_Counted):
    """Intent-aware average precision: the mean of AP over sub-topics.

    Formula:
        AP-IA = mean over sub-topics of AP for documents relevant to the sub-topic

    Conventions:
        - AP-IA@k stops at rank k but still divides by all relevant documents of the sub-topic

    Agrees with:
        ndeval MAP-IA and ir_measures AP_IA

    Reference:
        Agrawal, Gollapudi, Halverson and Ieong, Diversifying search results, WSDM 2009

    Example:
        AP is (1 + 2/3)/2 for sub-topic 1, 1/3 for 2, 0 for 3.

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "AP-IA", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: AP-IA: 0.3889>
    """

    name = "AP-IA"

    def compute(self, block: Block) -> Floats:
        covered, relevant = self._covered(block), np.bincount(self._known(block).intent)
        precisions = covered.gain * covered.times() / covered.rank / relevant[covered.intent]
        return ratios(sum_by(covered.row, precisions, block.size), self._counts(block))


class StRecall(_Counted):
    """Sub-topic recall: the share of sub-topics that the first k documents cover.

    Formula:
        StRecall@k = sub-topics with a relevant document in the top k / all sub-topics

    Conventions:
        - NTCIR calls it I-rec; sub-topics have equal weight, whatever their probability

    Agrees with:
        ndeval strec@k, ir_measures StRecall@k, NTCIREVAL I-rec

    Reference:
        Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003

    Example:
        Sub-topics 1 and 2 of three are covered.

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "StRecall@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: StRecall@5: 0.6667>
    """

    name = "StRecall"
    tables = frozenset()

    def compute(self, block: Block) -> Floats:
        return self._recall(block)


class StComplete(_Counted):
    """Sub-topic completeness: whether the first k documents cover every sub-topic, by any of its documents.

    Formula:
        StComplete@k = 1 if each sub-topic has a relevant document in the top k, else 0

    Conventions:
        - sub-topics without a relevant document do not count; probabilities have no effect

    Reference:
        Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003 (sub-topic recall of 1)

    Example:
        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> run, policy = {"q": ["b", "x", "a", "c"]}, gainful.Policy(subtopics=True)
        >>> gainful.evaluate(qrels, run, ["StComplete@3", "StComplete@4"], policy=policy)
        <Evaluation of <dict>, 1 query: StComplete@3: 0.0000, StComplete@4: 1.0000>
    """

    name = "StComplete"
    tables = frozenset()

    def compute(self, block: Block) -> Floats:
        return np.floor(self._recall(block))


class _GlobalGain(_Diverse, takes="gain rel unjudged cutoff gamma"):
    """A measure of global gain: the mean gain of a document over sub-topics."""

    gain, gamma = LINEAR, 0.0

    meanings = {"gamma": "the weight of sub-topic recall, from 0 to 1"}

    def _lists(self, block: Block) -> tuple[GainLists, GainLists]:
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

        return run, judged.cached(("global gains", self.gain, self.rel), best).of_rows(block.queries)

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        """Return the scores of lists of gains."""
        raise NotImplementedError

    def compute(self, block: Block) -> Floats:
        found = self.of_gains(*self._lists(block))
        if not self.gamma:
            return found
        return np.asarray(self.gamma * self._recall(block) + (1.0 - self.gamma) * found)


class DNDCG(_GlobalGain):
    """D-nDCG: nDCG of the global gain, the mean gain of a document over sub-topics.

    Formula:
        D-nDCG@k = nDCG@k of GG, GG[i] = sum over sub-topics of probability (1/n by default) times gain
        D#-nDCG@k = gamma StRecall@k + (1 - gamma) D-nDCG@k

    n is the number of sub-topics. D#-nDCG is the short name with gamma=0.5.

    Conventions:
        - the discount is log2(i + 1); the ideal list has all judged documents by global gain

    Agrees with:
        NTCIREVAL D-nDCG and D#-nDCG of MSnDCG, with its Iprob file as intents=

    Reference:
        Sakai and Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011

    Example:
        GG is 1/3 at rank 1 and 2/3 at rank 3, ideally 2/3, 1/3, 1/3: (1 + 2/2) / (2 + 1/log2(3) + 1/2).

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "D-nDCG@5", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: D-nDCG@5: 0.6388>
    """

    name = "D-nDCG"

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        totals = [each.total(lambda ranks: np.log2(ranks + 1.0), self.cutoff) for each in (run, ideal)]
        return np.minimum(ratios(*totals), 1.0)


class DQ(_GlobalGain):
    """D-Q: the Q-measure of the global gain, the mean gain of a document over sub-topics.

    Formula:
        D-Q = Q of GG, GG[i] = sum over sub-topics of probability (1/n by default) times gain
        D#-Q = gamma StRecall + (1 - gamma) D-Q

    n is the number of sub-topics. D#-Q is the short name with gamma=0.5.

    Conventions:
        - documents with a global gain above 0 are relevant; D-Q@k divides by min(k, number of these), as Q@k does

    Agrees with:
        NTCIREVAL D-Q and D#-Q, with its Iprob file as intents=

    Reference:
        Sakai and Song, Evaluating diversified search results using per-intent graded relevance, SIGIR 2011

    Example:
        GG is 1/3 at rank 1 and 2/3 at rank 3: ((1 + 1/3)/(1 + 2/3) + (2 + 1)/(3 + 4/3)) / 3.

        >>> qrels = gainful.Qrels.read(b"q 1 a 1\\nq 2 a 1\\nq 1 b 1\\nq 3 c 1\\n")
        >>> gainful.evaluate(qrels, {"q": ["b", "x", "a"]}, "D-Q", policy=gainful.Policy(subtopics=True))
        <Evaluation of <dict>, 1 query: D-Q: 0.4974>
    """

    name = "D-Q"
    exempt = {"swap": "past the recall base the ideal gains nothing, so a document may have a higher ratio lower down"}

    def of_gains(self, run: GainLists, ideal: GainLists) -> Floats:
        stops = Stops(run, ideal, self.cutoff)
        scores = sum_by(stops.row, stops.blended(1.0) / stops.held[stops.row], stops.size)
        return np.where(stops.base == 0, np.nan, np.minimum(scores, 1.0))
