"""What a session gives: cumulated gain (sDCG, nsDCG), rank-biased precision (sRBP), and the instances of a topic found.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant
from gainful.data.sessions import RankedSessions
from gainful.discounts import Base
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.session_block import SessionBlock, SessionMeasure, scan_depths
from gainful.measures.session_cumulation import SessionGain
from gainful.measures.user_models import refuse_gains_above_1
from gainful.notation import number_text

_LINEAR = Gain("linear")


@dataclass(frozen=True, eq=False, repr=False)
class SDCG(SessionGain):
    """The gain of a whole session, worth less the later its query and the lower its rank.

    Formula:
        sDCG = sum over queries q of (1 / (1 + log_bq q)) * sum over ranks r <= k of G[q, r] / (1 + log_b r)

    G[q, r] is the gain of the document at rank r of query q; b is base (2), bq is query_base (4). Every gain is
    discounted by its rank in its own list and by the position of its query. A small bq is a user who would rather not
    reformulate. The sums after every position make the session's vector.

    Conventions:
        - k documents of every query are looked at; scan=recorded takes a recorded depth instead, and k where there is
          none; without @k the whole lists count
        - short=pad: a list that ends before k has positions up to k, where nothing is gained; asis: it has no more
          positions than documents; min:m: at least m. This changes summary=average only
        - repeats=first: a document that was seen in the session before gains nothing (what stood below rank k was not
          seen)
        - summary=final is the value after the last position, average the mean over all positions, best and last the
          value of the best and of the last query alone, discounted by its position
        - variant=jiang2016: gain 2^grade - 1, below 0 for negative grades; discounts log_b(r + b - 1), log_bq(q + bq -
          1); its values can be below 0
        - unjudged documents have gain 0, and so has a query without judgments: its position counts
        - nothing relevant: 0

    Agrees with:
        trec-dd-jig sDCG (grades, b = 2, bq = 4); Jiang's session_metrics SDCG with variant=jiang2016; a session of one
        query: DCG(discount=jarvelin2008)
    Differs from:
        SDCG of ir_measures and cwl-eval, which is scaled DCG of single queries

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, eq. 1 (in its example for b = 4 the values at ranks 2
        and 8 do not follow from the formula); Jiang and Allan, CHIIR 2016

    Example:
        Grades 3, 0 for the first query, 0, 2 for the second: 3 + (2 / (1 + log2(2))) / (1 + log4(2)) = 3 + 1 / 1.5.

        >>> from gainful import parse
        >>> round(parse("sDCG@10").score_session([[3, 0], [0, 2]]), 4)
        3.6667
    """

    name = "sDCG"
    bounds = (0.0, math.inf)
    ideal_queries = "session"
    normalise = "session"
    gain: Gain = _LINEAR
    base: Base = 2.0
    query_base: Base = 4.0
    repeats: str = "every"
    short: str = "pad"
    variant: str = "jarvelin2008"
    summary: str = "final"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None


_BY_QUERY = """
    nsDCG = sum over queries q of w[q] * DCG[q] / idealDCG[q], divided by the sum of w[q]
    w[q] = 1 / (1 + log_bq q)

idealDCG[q] is the DCG of the ideal list of query q. A query whose ideal list has no gain is in neither sum.
"""


@dataclass(frozen=True, eq=False, repr=False)
class NSDCG(SessionGain):
    """The share of the gain that a session of ideal lists would have given.

    Formula:
        nsDCG = sDCG of the session / sDCG of the ideal session

    The ideal session has the top k of the ideal list (all judged gains in descending order) once for every query,
    discounted in the same way. At rank r of query q it has given the top k of all earlier queries and the top r of this
    one; the ratios at all positions are the session's normalised vector.

    Conventions:
        - parameters are those of sDCG
        - ideal_queries=session: the ratio at the session's last position; a number n: the ideal session goes on to n
          queries while the real one stays as it is (a session of more than n queries is an error)
        - normalise=query: every query is first divided by its own ideal list (the article's section 2.2), and the
          session is the mean of that over its queries, each weighed by 1 / (1 + log_bq q); a query whose ideal list has
          no gain does not count
        - without @k: to the end of the longer of list and ideal list
        - short=asis and min:m: the last position is the last one that the lists give, and so it is for the ideal
        - repeats=first: the ideal session deals the ideal list out, its first k documents to the first query, the next
          k to the second; with several queries that is not the most one can have, so that the ratio can exceed 1 (as it
          can where documents carry grades of their own that the judgments do not have)
        - judged by query: every query has an ideal list of its own, repeated documents or not; a query without
          judgments adds nothing to either side
        - summary=average is the mean of the ratios at all positions that the ideal session has gained something by;
          best and last compare one query with its own ideal list, so that the query's discount cancels
        - variant=jiang2016: the ideal list has all judged documents, those with negative grades at its end
        - an ideal session without any gain: undefined

    Agrees with:
        Jiang's session_metrics NSDCG with variant=jiang2016
    Differs from:
        trec-dd-jig, whose normaliser deals the best documents out to the cells with the smallest joint discount

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 2.2 and 3.3; Jiang and Allan, CHIIR 2016

    Example:
        One document of grade 2 is judged; the second query finds it first: (2 / 1.5) / (2 + 2 / 1.5).

        >>> from gainful import parse
        >>> round(parse("nsDCG@10").score_session([[None, None], [2]]), 4)
        0.4

        Each query by itself, 0 and 1, with weights 1 and 1 / 1.5, is the same here: all queries have one ideal list.

        >>> round(parse("nsDCG(normalise=query)@10").score_session([[None, None], [2]]), 4)
        0.4
    """

    name = "nsDCG"
    normalised = True
    gain: Gain = _LINEAR
    base: Base = 2.0
    query_base: Base = 4.0
    repeats: str = "every"
    short: str = "pad"
    ideal_queries: str | int = "session"
    normalise: str = "session"
    variant: str = "jarvelin2008"
    summary: str = "final"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def own_formula(self) -> str:
        """Queries by themselves have another formula than the session."""
        return _BY_QUERY if self.normalise == "query" else ""


_BINARY = Gain("binary")


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
        - nothing relevant: 0

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
                "subtopics=yes (--subtopics) makes column 2 of the judgments the sub-topic",
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
    offsets = np.concatenate(([0], np.cumsum(np.bincount(item, minlength=items))))
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
