"""Other measures of sessions: rank-biased precision, instances found, costs, and the effort until a wanted gain.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008: every reformulation has its price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant, running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.errors import InputError, UsageError, for_asker
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints, offsets_of
from gainful.measures.session_block import (
    WHOLE,
    SessionBlock,
    SessionMeasure,
    before_turn,
    count_positions,
    scan_depths,
)
from gainful.measures.user_models import refuse_gains_above_1
from gainful.notation import number_text

_LINEAR, _BINARY = Gain("linear"), Gain("binary")


@dataclass(frozen=True, eq=False, repr=False)
class SRBP(SessionMeasure):
    """Session rank-biased precision: the gain to expect from a look, for a user who reads on, reformulates or leaves.

    Formula:
        sRBP = (1 - p) * sum over queries q of a^(q - 1) * sum over ranks r of (b*p)^(r - 1) * G[q, r]
        a = (p - b*p) / (1 - b*p)

    After every document the user goes on with probability p (persistence). Who goes on reads the next document of the
    same list with probability b (balance), and otherwise asks the next query. G[q, r] is 1 for a relevant document,
    else 0; with gain=scaled it is the grade divided by the scale.

    Conventions:
        - b=1: nobody asks a second query, and it is RBP of the first; b=0: everybody reads one document of each list
        - gains lie between 0 and 1, so sRBP does too; others are refused
        - past the end of a list nothing is gained; sRBP@k stops at rank k of every query
        - the weights of all ranks of endlessly many queries sum to 1
        - no relevant documents: 0

    Agrees with:
        a session of one query with b=1: RBP

    Reference:
        Lipani, Carterette and Yilmaz, From a user model for query sessions to session rank biased precision (sRBP),
        ICTIR 2019

    Example:
        p = b = 0.5: the second document has weight 0.25, the second query (0.5 - 0.25) / (1 - 0.25) = 1/3. Relevant at
        ranks 1 and 2 of the first query and at rank 1 of the second: 0.5 * (1 + 0.25 + 1/3).

        >>> from gainful import parse
        >>> round(parse("sRBP(p=0.5)").score_session([[1, 1], [1, 0]]), 4)
        0.7917
    """

    name = "sRBP"
    meanings = {
        "p": "persistence: the probability with which the user goes on after a document",
        "b": "balance: the probability with which a user who goes on reads the next document of the same list instead "
        "of asking the next query",
    }
    p: float = 0.8
    b: float = 0.5
    gain: Gain = _BINARY
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

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
        # The last bits must not lift a sum of shares above 1.
        return np.minimum(summed, 1.0)


class _Instances(NamedTuple):
    """The sub-topics that judged documents cover, numbered through all queries."""

    offsets: Ints  # by item
    instance: Ints
    every: Ints  # by judged query
    total: int


@dataclass(frozen=True, eq=False, repr=False)
class InstanceRecall(SessionMeasure):
    """The share of a topic's instances (sub-topics) that the session has covered.

    Formula:
        InstanceRecall = distinct sub-topics that a document seen in the session covers / all sub-topics of the topic

    Conventions:
        - a document covers a sub-topic if its grade for it is above 0, with rel=g at least g; all sub-topics are those
          that some judged document covers
        - needs judgments with sub-topics: subtopics=yes (--subtopics), and column 2 of the judgments names them
        - k documents of every query are looked at; scan=recorded takes a recorded depth instead of k; without @k the
          whole lists count
        - a grade that the appearance of a document carries says nothing about sub-topics: it is not used
        - judged by query: the sub-topics of all judged queries of the session together
        - no sub-topic is covered by any judged document: undefined

    Agrees with:
        sub-topic recall (ndeval strec) of all documents that the session shows, as one list

    Reference:
        Over, TREC-7 interactive track report, 1999; Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 1

    Example:
        Of three instances the session finds 1 (twice) and 2.

        >>> from gainful import Policy, Qrels, evaluate_sessions
        >>> from gainful.data.sessions import sessions_from_lists
        >>> qrels = Qrels.read(b"t 1 a 1\\nt 2 b 1\\nt 3 c 1\\nt 1 d 1\\n")
        >>> sessions = sessions_from_lists({"t": [["a", "x"], ["b", "d"]]})
        >>> found = evaluate_sessions(qrels, sessions, "InstanceRecall", policy=Policy(subtopics=True))
        >>> round(found.mean("InstanceRecall"), 4)
        0.6667
    """

    name = "InstanceRecall"
    scan: str = "k"
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def check_sessions(self, sessions: RankedSessions) -> None:
        if not sessions.policy.subtopics:
            raise UsageError(
                f"{self}: expected judgments with sub-topics, found subtopics=no",
                f"{for_asker('--subtopics', 'subtopics=True')} makes column 2 of the judgments the sub-topic",
            )

    def compute_sessions(self, block: SessionBlock) -> Floats:
        instances = block.judged.cached(("instances", self.rel), lambda: _instances(block.judged, self.rel))
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        seen = (documents.item >= 0) & (documents.rank <= depth[documents.turn])
        document, place = gather(instances.offsets, documents.item[seen])
        session = block.session[documents.turn[seen]][document]
        covered = _count_distinct(session, instances.instance[place], instances.total, block.size)
        queries = len(block.judged.qrels.query_ids)
        asked = block.judged_query >= 0
        pairs = _distinct_pairs(block.session[asked], block.judged_query[asked], queries)
        every = np.bincount(pairs // queries, instances.every[pairs % queries], minlength=block.size)
        return np.where(every > 0, covered / np.maximum(every, 1.0), np.nan)


def _instances(judged: Judged, rel: float | None) -> _Instances:
    item, subtopic, grade = judged.by_subtopic
    covers = is_relevant(grade, rel, None)
    item, subtopic = item[covers], subtopic[covers]
    query = np.searchsorted(judged.item_offsets, item, "right") - 1
    instance = query * len(judged.qrels.subtopic_ids) + subtopic
    items, queries = int(judged.item_offsets[-1]), len(judged.qrels.query_ids)
    offsets = offsets_of(np.bincount(item, minlength=items))
    total = queries * len(judged.qrels.subtopic_ids)
    count = _count_distinct(query, instance, total, queries)
    return _Instances(offsets, instance, count, total)


def _distinct_pairs(row: Ints, value: Ints, values: int) -> Ints:
    """Every pair of a row and a value once, as one number."""
    pairs = np.sort(row * values + value)
    return np.asarray(pairs[np.diff(pairs, prepend=-1) != 0])


def _count_distinct(row: Ints, value: Ints, values: int, rows: int) -> Ints:
    """How many different values each row has."""
    return np.bincount(_distinct_pairs(row, value, values) // max(values, 1), minlength=rows)


class CostedMeasure(SessionMeasure):
    """What measures of cost have in common. Not a dataclass: each lists its parameters itself."""

    whole_list = True  # who reads a document pays for it, judged or not

    if TYPE_CHECKING:
        cost_query: str | float
        cost_document: float
        scan: str
        cutoff: int | None

    def check_sessions(self, sessions: RankedSessions) -> None:
        if self.cost_query == "recorded" and not sessions.sessions.costs.size:
            raise InputError(
                f"{sessions.sessions.name}: expected what queries cost, found none ({self})",
                '"cost" of a query in JSON lines, or a column cost of a table, which --columns cost=NAME may name',
            )

    def turn_costs(self, block: SessionBlock) -> Floats:
        """What each query costs with the documents read of its list; NaN where it is not recorded."""
        read = np.minimum(scan_depths(block, self.cutoff, self.scan), block.shown)
        asked = block.cost if self.cost_query == "recorded" else np.full(read.size, float(self.cost_query))
        return np.asarray(asked + self.cost_document * read)


@dataclass(frozen=True, eq=False, repr=False)
class SessionCost(CostedMeasure):
    """What a session costs: its queries, and the documents that are read.

    Formula:
        SessionCost = sum over queries of (cost_query + cost_document * documents read)

    Conventions:
        - costs are in any one unit: seconds, money, tokens of an agent; cost_query=recorded takes what the log says of
          each query (its column cost), to which documents are added
        - k documents of every query are read, or as many as its list has; scan=recorded takes a recorded depth instead
          of k; without @k the whole lists
        - what is read are the lists as they came: unjudged=condensed removes nothing here
        - a query whose cost is not recorded: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        Two queries of 20 seconds, with 2 and 1 documents of 5 seconds: 40 + 15.

        >>> from gainful import parse
        >>> parse("SessionCost(cost_query=20, cost_document=5)@10").score_session([[0, 2], [1]])
        55.0
    """

    name = "SessionCost"
    better = "lower"
    bounds = (0.0, math.inf)
    cost_query: str | float = 1.0
    cost_document: float = 0.0
    scan: str = "k"
    cutoff: int | None = None

    def compute_sessions(self, block: SessionBlock) -> Floats:
        return sum_by(block.session, self.turn_costs(block), block.size)


@dataclass(frozen=True, eq=False, repr=False)
class GainPerCost(CostedMeasure):
    """What a session gives for what it costs: by default, gain per query.

    Formula:
        GainPerCost = sum of the gains of all documents read / SessionCost

    Gains are not discounted: what comes late has cost more already.

    Conventions:
        - costs are those of SessionCost, and so is what is read
        - repeats=first: a document that was seen in the session before gains nothing, but reading it costs
        - a session that costs nothing, or whose cost is not recorded: undefined

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        Gains 2 and 1 in a session of 55 seconds.

        >>> from gainful import parse
        >>> round(parse("GainPerCost(cost_query=20, cost_document=5)@10").score_session([[0, 2], [1]]), 4)
        0.0545
    """

    name = "GainPerCost"
    bounds = (0.0, math.inf)
    cost_query: str | float = 1.0
    cost_document: float = 0.0
    gain: Gain = _LINEAR
    repeats: str = "every"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    cutoff: int | None = None

    def compute_sessions(self, block: SessionBlock) -> Floats:
        cost = sum_by(block.session, self.turn_costs(block), block.size)
        session, _, gains = self.events(block)
        scores = np.full(block.size, np.nan)
        np.divide(sum_by(session, gains, block.size), cost, out=scores, where=cost > 0)
        return scores

    def events(self, block: SessionBlock) -> tuple[Ints, Floats, Floats]:
        """The documents read that gain something: whose session, what it has cost up to them, and their gain."""
        documents, gains = block.documents, block.gains(self.gain, self.rel, self.level)
        depth = scan_depths(block, self.cutoff, self.scan)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        turn, rank = documents.turn[chosen], documents.rank[chosen]
        costs = self.turn_costs(block)
        read = np.minimum(depth, block.shown)
        # All earlier queries, this one, and its documents down to the rank.
        so_far = running_sums(block.turn_offsets, costs) - self.cost_document * read
        return block.session[turn], so_far[turn] + self.cost_document * rank, gains[chosen]


#: Sums that should be the wanted gain but for rounding are: a document too late could be far away.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToGain(SessionMeasure):
    """How many documents the user goes through until the session has given a wanted gain.

    Formula:
        DocumentsToGain = (positions of all queries before q) + r

    At rank r of query q the gains of all documents so far sum to at least wanted. Gains are not discounted; positions
    are those of DocumentsToFirst.

    Conventions:
        - short=pad: a list that ends before k counts as k, for the time spent on it; asis: as its documents; min:m: at
          least as m
        - without @k the whole lists are looked at, and every list counts as its documents (min:m: at least as m)
        - repeats=first: a document that was seen in the session before gains nothing
        - scan=recorded takes a recorded depth instead of k
        - the session gives less: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 3.3 and 4 (scanning length, short lists)

    Example:
        2 by the first document, 3 by the first of the second query, after two positions.

        >>> from gainful import parse
        >>> parse("DocumentsToGain(wanted=3)@2").score_session([[2, 0], [1, 3]])
        3.0
    """

    name = "DocumentsToGain"
    better = "lower"
    bounds = (1.0, math.inf)
    wanted: float = 1.0
    gain: Gain = _LINEAR
    repeats: str = "every"
    short: str = "pad"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.wanted <= 0:
            raise UsageError(f"{self.name}: wanted: expected a number above 0, found {number_text(self.wanted)}")

    def compute_sessions(self, block: SessionBlock) -> Floats:
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        reached = self._reached(block, depth)
        first = reached[np.flatnonzero(np.diff(block.session[documents.turn[reached]], prepend=-1))]
        turn, scores = documents.turn[first], np.full(block.size, np.nan)
        scores[block.session[turn]] = self._effort(block, depth, turn, documents.rank[first])
        return scores

    def _reached(self, block: SessionBlock, depth: Ints) -> Ints:
        """The documents by which sessions have what is wanted; the first of each session counts."""
        gains = block.gains(self.gain, self.rel, self.level)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        offsets = np.searchsorted(block.session[block.documents.turn[chosen]], np.arange(block.size + 1))
        return chosen[running_sums(offsets, gains[chosen]) >= self.wanted * (1.0 - _ROUNDING)]

    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        """What it took to come to a document."""
        # Where there is no k there is nothing to pad a list to.
        short = "asis" if self.short == "pad" else self.short
        unlimited = count_positions(depth, block.shown, short)
        positions = np.where(depth == WHOLE, unlimited, count_positions(depth, block.shown, self.short))
        return before_turn(positions, block.turn_offsets, block.session)[turn] + rank


@dataclass(frozen=True, eq=False, repr=False)
class QueriesToGain(DocumentsToGain):
    """How many queries the user asks until the session has given a wanted gain.

    Formula:
        QueriesToGain = the smallest q such that the gains in the first k of queries 1 to q sum to at least wanted

    Gains are not discounted.

    Conventions:
        - repeats=first: a document that was seen in the session before gains nothing
        - without @k the whole lists are looked at; scan=recorded takes a recorded depth instead of k
        - the session gives less: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        2 from the first query and 1 from the second make 3.

        >>> from gainful import parse
        >>> parse("QueriesToGain(wanted=3)").score_session([[2, 0], [1, 3]])
        2.0
    """

    name = "QueriesToGain"
    short: ClassVar[str] = "pad"  # type: ignore[misc]  # no parameter: positions do not count

    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        return block.position[turn]


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToFirst(DocumentsToGain):
    """How many documents the user goes through until the first relevant one.

    Formula:
        DocumentsToFirst = (positions of all queries before q) + r

    The first relevant document is at rank r of query q. The queries before have k positions each, as in the session's
    vector (see sDCG).

    Conventions:
        - short=pad: a list that ends before k counts as k, for the time spent on it; asis: as its documents; min:m: at
          least as m
        - without @k the whole lists are looked at, and every list counts as its documents (min:m: at least as m)
        - scan=recorded takes a recorded depth instead of k
        - no relevant document in the session: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 3.3 and 4 (scanning length, short lists)

    Example:
        Ten positions for the first query, then the second document of the next.

        >>> from gainful import parse
        >>> parse("DocumentsToFirst@10").score_session([[0, None, 0], [0, 2]])
        12.0
        >>> parse("DocumentsToFirst(short=asis)@10").score_session([[0, None, 0], [0, 2]])
        5.0
    """

    name = "DocumentsToFirst"
    # No parameters: one relevant document is wanted.
    wanted: ClassVar[float] = 1.0  # type: ignore[misc]
    gain: ClassVar[Gain] = _BINARY  # type: ignore[misc]
    repeats: ClassVar[str] = "every"  # type: ignore[misc]

    def _reached(self, block: SessionBlock, depth: Ints) -> Ints:
        return block.gaining(block.relevant(self.rel, self.level), depth, self.cutoff, self.scan, "every")


@dataclass(frozen=True, eq=False, repr=False)
class QueriesToFirst(DocumentsToFirst):
    """How many queries the user asks until one shows a relevant document.

    Formula:
        QueriesToFirst = the smallest q such that query q has a relevant document among its first k

    Conventions:
        - without @k the whole lists are looked at; scan=recorded takes a recorded depth instead of k
        - no relevant document in the session: undefined
        - no worst value: missing=zero and undefined=zero exclude the session

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        The third query is the first with a relevant document at rank 1 or 2.

        >>> from gainful import parse
        >>> parse("QueriesToFirst@2").score_session([[0, None, 1], [], [0, 2]])
        3.0
    """

    name = "QueriesToFirst"
    short: ClassVar[str] = "pad"  # type: ignore[misc]  # no parameter: positions do not count

    _effort = QueriesToGain._effort
