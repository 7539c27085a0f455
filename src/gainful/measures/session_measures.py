"""Other session measures: rank-biased precision, instance recall, costs, and the effort to reach a gain.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008 (costs of reformulation).
"""

from __future__ import annotations

import math
from typing import ClassVar, cast

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant, running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.errors import InputError, UsageError, for_asker
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints, offsets_of
from gainful.measures.base import BINARY, LINEAR
from gainful.measures.session_block import WHOLE, OfSessions, SessionBlock, before_turn, count_positions, scan_depths
from gainful.measures.user_models import refuse_gains_above_1
from gainful.notation import number_text


class SRBP(OfSessions, takes="p b gain rel level unjudged cutoff"):
    """Session rank-biased precision: the expected gain of a user who reads on, reformulates or leaves.

    Formula:
        sRBP = (1 - p) * sum over queries q of a^(q - 1) * sum over ranks r of (b*p)^(r - 1) * G[q, r]
        a = (p - b*p) / (1 - b*p)

    After each document the user continues with probability p (persistence): with probability b (balance) to the next
    document of the same list, otherwise to the next query. G[q, r] is 1 for a relevant document, else 0; with
    gain=scaled it is the grade divided by the scale.

    Conventions:
        - b=1: users stay with the first query, and sRBP is its RBP; b=0: users read one document per query
        - gains, and so sRBP, are between 0 and 1; other gains are an error
        - ranks past the end of a list have gain 0; sRBP@k stops at rank k of each query
        - weights sum to 1 over all ranks of infinitely many queries
        - no relevant documents: 0

    Agrees with:
        a session of one query with b=1: RBP

    Reference:
        Lipani, Carterette and Yilmaz, From a user model for query sessions to session rank biased precision, ICTIR 2019

    Example:
        For p = b = 0.5, the second document has weight 0.25, the second query (0.5 - 0.25) / (1 - 0.25) = 1/3. Relevant
        documents at ranks 1 and 2 of the first query and rank 1 of the second: 0.5 * (1 + 0.25 + 1/3).

        >>> round(gainful.parse("sRBP(p=0.5)").score_session([[1, 1], [1, 0]]), 4)
        0.7917
    """

    name = "sRBP"
    meanings = {
        "p": "persistence: the probability that the user continues after a document",
        "b": "balance: the probability that a continuing user stays with the list instead of the next query",
    }
    p, b, gain = 0.8, 0.5, BINARY

    def validate(self) -> None:
        super().validate()
        if not 0 <= self.b <= 1:
            raise UsageError(f"{self.name}: b: expected a number from 0 to 1, found {number_text(self.b)}")

    def check(self, levels: Floats) -> None:
        super().check(levels)
        refuse_gains_above_1(self, self.gain, levels, self.rel, self.level)

    def compute_sessions(self, block: SessionBlock) -> Floats:
        documents, gains = block.documents, block.gains(self.gain, self.rel, self.level)
        counts = gains > 0
        if self.cutoff is not None:
            counts &= documents.rank <= self.cutoff
        turn, rank = documents.turn[counts], documents.rank[counts]
        next_rank, next_query = self.b * self.p, (self.p - self.b * self.p) / (1.0 - self.b * self.p)
        by_rank = next_rank ** np.arange(int(rank.max(initial=0)))
        by_query = next_query ** np.arange(int(block.queries.max(initial=0)))
        weights = (1.0 - self.p) * by_query[block.position[turn] - 1] * by_rank[rank - 1]
        summed = np.bincount(block.session[turn], gains[counts] * weights, minlength=block.size)
        # Rounding must not lift a sum of shares above 1.
        return np.minimum(summed, 1.0)


class InstanceRecall(OfSessions, takes="scan rel unjudged cutoff"):
    """Instance recall: the share of a topic's instances (sub-topics) that the session has covered.

    Formula:
        InstanceRecall = distinct sub-topics covered by documents seen in the session / all sub-topics of the topic

    Conventions:
        - a document covers a sub-topic if its grade is above 0, with rel=g at least g; all sub-topics are those covered
          by any judged document, and undefined without any
        - requires judgments with sub-topics in column 2: subtopics=yes (--subtopics)
        - k documents of each query are seen, with scan=recorded the recorded depth instead; without @k, whole lists
        - grades recorded in the log are ignored, because they have no sub-topics
        - judged by query: the union of the sub-topics of all judged queries in the session

    Agrees with:
        sub-topic recall (ndeval strec) of all documents shown in the session, as one list

    Reference:
        Over, TREC-7 interactive track report, 1999; Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 1

    Example:
        The session finds instances 1 (twice) and 2 of three.

        >>> from gainful.data.sessions import sessions_from_lists
        >>> qrels = gainful.Qrels.read(b"t 1 a 1\\nt 2 b 1\\nt 3 c 1\\nt 1 d 1\\n")
        >>> sessions = sessions_from_lists({"t": [["a", "x"], ["b", "d"]]})
        >>> found = gainful.evaluate_sessions(qrels, sessions, "InstanceRecall", policy=gainful.Policy(subtopics=True))
        >>> round(found.mean("InstanceRecall"), 4)
        0.6667
    """

    name = "InstanceRecall"

    def check_sessions(self, sessions: RankedSessions) -> None:
        if not sessions.policy.subtopics:
            hint = f"{for_asker('--subtopics', 'subtopics=True')} reads sub-topics from column 2 of the judgments"
            raise UsageError(f"{self}: judgments with sub-topics are required (subtopics=no)", hint)

    def compute_sessions(self, block: SessionBlock) -> Floats:
        key = ("instances", self.rel)
        offsets, instance, every, total = block.judged.cached(key, lambda: _instances(block.judged, self.rel))
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        seen = (documents.item >= 0) & (documents.rank <= depth[documents.turn])
        document, place = gather(offsets, documents.item[seen])
        session = block.session[documents.turn[seen]][document]
        covered = _count_distinct(session, instance[place], total, block.size)
        queries = len(block.judged.qrels.query_ids)
        asked = block.judged_query >= 0
        pairs = _distinct_pairs(block.session[asked], block.judged_query[asked], queries)
        asked_for = np.bincount(pairs // queries, every[pairs % queries], minlength=block.size)
        return np.where(asked_for > 0, covered / np.maximum(asked_for, 1.0), np.nan)


def _instances(judged: Judged, rel: float | None) -> tuple[Ints, Ints, Ints, int]:
    """Return the sub-topics that items cover (offsets, numbers), and how many each query has, and all together."""
    item, subtopic, grade = judged.by_subtopic
    covers = is_relevant(grade, rel, None)
    item, subtopic = item[covers], subtopic[covers]
    query = np.searchsorted(judged.item_offsets, item, "right") - 1
    instance = query * len(judged.qrels.subtopic_ids) + subtopic
    items, queries = int(judged.item_offsets[-1]), len(judged.qrels.query_ids)
    offsets = offsets_of(np.bincount(item, minlength=items))
    total = queries * len(judged.qrels.subtopic_ids)
    return offsets, instance, _count_distinct(query, instance, total, queries), total


def _distinct_pairs(row: Ints, value: Ints, values: int) -> Ints:
    """Return the distinct pairs of a row and a value, each encoded as one number."""
    pairs = np.sort(row * values + value)
    return np.asarray(pairs[np.diff(pairs, prepend=-1) != 0])


def _count_distinct(row: Ints, value: Ints, values: int, rows: int) -> Ints:
    return np.bincount(_distinct_pairs(row, value, values) // max(values, 1), minlength=rows)


class CostedMeasure(OfSessions):
    """Base of the cost measures."""

    whole_list = True  # reading a document has a cost, judged or not
    cost_query, cost_document = cast("str | float", 1.0), 0.0

    def check_sessions(self, sessions: RankedSessions) -> None:
        if self.cost_query == "recorded" and not sessions.sessions.costs.size:
            raise InputError(
                f"{sessions.sessions.name}: {self}: no costs of queries are recorded",
                'give "cost" of queries in JSON lines, or a column cost in a table (--columns cost=NAME renames it)',
            )

    def turn_costs(self, block: SessionBlock) -> Floats:
        """Return the cost of each query with the documents read; NaN if it is not recorded."""
        read = np.minimum(scan_depths(block, self.cutoff, self.scan), block.shown)
        asked = block.cost if self.cost_query == "recorded" else np.full(read.size, float(self.cost_query))
        return np.asarray(asked + self.cost_document * read)


class SessionCost(CostedMeasure, takes="cost_query cost_document scan cutoff"):
    """Session cost: the cost of queries and of documents read.

    Formula:
        SessionCost = sum over queries of (cost_query + cost_document * documents read)

    Conventions:
        - costs are in any one unit, such as seconds, money or an agent's tokens; cost_query=recorded uses the cost of
          each query in the log (its column cost), plus documents
        - k documents of each query are read, or its whole list if shorter; with scan=recorded, the recorded depth
          instead of k; without @k, whole lists
        - unjudged=condensed does not apply, because reading unjudged documents also costs
        - a query without a recorded cost: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        Two queries of 20 seconds with 2 and 1 documents of 5 seconds: 40 + 15.

        >>> gainful.parse("SessionCost(cost_query=20, cost_document=5)@10").score_session([[0, 2], [1]])
        55.0
    """

    name = "SessionCost"
    better = "lower"
    bounds = (0.0, math.inf)

    def compute_sessions(self, block: SessionBlock) -> Floats:
        return sum_by(block.session, self.turn_costs(block), block.size)


class GainPerCost(CostedMeasure, takes="cost_query cost_document gain repeats scan rel level cutoff"):
    """Gain per cost of a session; by default, gain per query.

    Formula:
        GainPerCost = sum of the gains of all documents read / SessionCost

    Gains are not discounted, because later gains cost more already.

    Conventions:
        - costs and documents read are as in SessionCost
        - repeats=first: a document seen earlier in the session has gain 0, but reading it costs
        - cost of 0, or not recorded: undefined

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        Gains 2 and 1 in a session of 55 seconds.

        >>> round(gainful.parse("GainPerCost(cost_query=20, cost_document=5)@10").score_session([[0, 2], [1]]), 4)
        0.0545
    """

    name = "GainPerCost"
    bounds = (0.0, math.inf)
    gain = LINEAR

    def compute_sessions(self, block: SessionBlock) -> Floats:
        cost = sum_by(block.session, self.turn_costs(block), block.size)
        session, _, gains = self.events(block)
        scores = np.full(block.size, np.nan)
        np.divide(sum_by(session, gains, block.size), cost, out=scores, where=cost > 0)
        return scores

    def events(self, block: SessionBlock) -> tuple[Ints, Floats, Floats]:
        """Return session, cumulated cost and gain of the documents read that have a gain."""
        documents, gains = block.documents, block.gains(self.gain, self.rel, self.level)
        depth = scan_depths(block, self.cutoff, self.scan)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        turn, rank = documents.turn[chosen], documents.rank[chosen]
        costs = self.turn_costs(block)
        read = np.minimum(depth, block.shown)
        # All earlier queries, plus this one and its documents down to the rank.
        so_far = running_sums(block.turn_offsets, costs) - self.cost_document * read
        return block.session[turn], so_far[turn] + self.cost_document * rank, gains[chosen]


#: Tolerance for sums that equal the wanted gain apart from rounding: the next document could be far away.
_ROUNDING = 1e-12


class DocumentsToGain(OfSessions, takes="wanted gain repeats short scan rel level unjudged cutoff"):
    """Number of documents until the session reaches a wanted gain.

    Formula:
        DocumentsToGain = (positions of all queries before q) + r

    At rank r of query q the undiscounted gains so far first sum to wanted; positions are as in DocumentsToFirst.

    Conventions:
        - a list shorter than k counts as k documents with short=pad, as its length with asis, as at least m with min:m
        - without @k, each list counts as its length (min:m: at least as m)
        - repeats=first: a document seen earlier in the session has gain 0
        - scan=recorded uses the recorded depth instead of k
        - wanted gain not reached: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 3.3 and 4 (scanning length, short lists)

    Example:
        Gain 2 at the first document, 3 at the first of the second query, after two positions.

        >>> gainful.parse("DocumentsToGain(wanted=3)@2").score_session([[2, 0], [1, 3]])
        3.0
    """

    name = "DocumentsToGain"
    better = "lower"
    bounds = (1.0, math.inf)
    wanted, gain = 1.0, LINEAR

    def compute_sessions(self, block: SessionBlock) -> Floats:
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        reached = self._reached(block, depth)
        first = reached[np.flatnonzero(np.diff(block.session[documents.turn[reached]], prepend=-1))]
        turn, scores = documents.turn[first], np.full(block.size, np.nan)
        scores[block.session[turn]] = self._effort(block, depth, turn, documents.rank[first])
        return scores

    def _reached(self, block: SessionBlock, depth: Ints) -> Ints:
        """Select documents at which the wanted gain is reached; the first of each session counts."""
        gains = block.gains(self.gain, self.rel, self.level)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        offsets = np.searchsorted(block.session[block.documents.turn[chosen]], np.arange(block.size + 1))
        return chosen[running_sums(offsets, gains[chosen]) >= self.wanted * (1.0 - _ROUNDING)]

    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        # Without k there is no length to pad a list to.
        short = "asis" if self.short == "pad" else self.short
        unlimited = count_positions(depth, block.shown, short)
        positions = np.where(depth == WHOLE, unlimited, count_positions(depth, block.shown, self.short))
        return before_turn(positions, block.turn_offsets, block.session)[turn] + rank


class QueriesToGain(DocumentsToGain):
    """Number of queries until the session reaches a wanted gain.

    Formula:
        QueriesToGain = smallest q such that undiscounted gains in the top k of queries 1 to q sum to at least wanted

    Conventions:
        - repeats=first: a document seen earlier in the session has gain 0
        - without @k, whole lists count; scan=recorded uses the recorded depth instead of k
        - wanted gain not reached: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        Gains of 2 in the first query and 1 + 3 in the second reach 3.

        >>> gainful.parse("QueriesToGain(wanted=3)").score_session([[2, 0], [1, 3]])
        2.0
    """

    name = "QueriesToGain"
    short: ClassVar[str] = "pad"  # type: ignore[misc]  # not a parameter: positions do not count

    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        return block.position[turn]


class DocumentsToFirst(DocumentsToGain):
    """Number of documents until the first relevant one in the session.

    Formula:
        DocumentsToFirst = (positions of all queries before q) + r

    The first relevant document is at rank r of query q. Earlier queries have k positions each, as in sDCG.

    Conventions:
        - a list shorter than k counts as k documents with short=pad, as its length with asis, as at least m with min:m
        - without @k, each list counts as its length (min:m: at least as m)
        - scan=recorded uses the recorded depth instead of k
        - no relevant document in the session: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 3.3 and 4 (scanning length, short lists)

    Example:
        Ten positions for the first query (three with short=asis), then the second document of the next.

        >>> gainful.parse("DocumentsToFirst@10").score_session([[0, None, 0], [0, 2]])
        12.0
        >>> gainful.parse("DocumentsToFirst(short=asis)@10").score_session([[0, None, 0], [0, 2]])
        5.0
    """

    name = "DocumentsToFirst"
    # Not parameters: one relevant document is wanted.
    wanted: ClassVar[float] = 1.0  # type: ignore[misc]
    gain: ClassVar[Gain] = BINARY  # type: ignore[misc]
    repeats: ClassVar[str] = "every"  # type: ignore[misc]

    def _reached(self, block: SessionBlock, depth: Ints) -> Ints:
        return block.gaining(block.relevant(self.rel, self.level), depth, self.cutoff, self.scan, "every")


class QueriesToFirst(DocumentsToFirst):
    """Number of queries until one shows a relevant document.

    Formula:
        QueriesToFirst = smallest q such that query q has a relevant document in its top k

    Conventions:
        - without @k, whole lists count; scan=recorded uses the recorded depth instead of k
        - no relevant document in the session: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        The third query is the first with a relevant document in its top 2.

        >>> gainful.parse("QueriesToFirst@2").score_session([[0, None, 1], [], [0, 2]])
        3.0
    """

    name = "QueriesToFirst"
    short: ClassVar[str] = "pad"  # type: ignore[misc]  # not a parameter: positions do not count

    _effort = QueriesToGain._effort
