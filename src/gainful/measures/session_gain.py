"""Cumulated gain over a session: what a user gains with query after query.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gainful.discounts import Base
from gainful.gains import Gain
from gainful.measures.session_cumulation import SessionGain

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
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3.3; Jiang and Allan, CHIIR 2016

    Example:
        One document of grade 2 is judged; the second query finds it first: (2 / 1.5) / (2 + 2 / 1.5).

        >>> from gainful import parse
        >>> round(parse("nsDCG@10").score_session([[None, None], [2]]), 4)
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
    variant: str = "jarvelin2008"
    summary: str = "final"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None
