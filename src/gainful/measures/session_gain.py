"""Cumulated gain of sessions: sDCG and nsDCG, with their ideal sessions and vectors.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008; the vectors are in section 3.3.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple, cast

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import GainLists, is_relevant, ordinal_in_row, running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.discounts import Base, divisors, logarithms
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints, offsets_of
from gainful.measures.base import LINEAR
from gainful.measures.session_block import WHOLE, OfSessions, SessionBlock, before_turn, count_positions, scan_depths
from gainful.notation import printable

#: Ratios that exceed 1 by less than this are rounded to 1.
_ROUNDING = 1e-12


class IdealLists:
    """The ideal list of each judged query, with its discounted gain down to each rank.

    A query of -1 has an empty list: the last entry of ``lengths`` is 0.
    """

    def __init__(self, lists: GainLists, divisors: Floats) -> None:
        self._gain = lists.gain
        self._starts = np.append(lists.offsets[:-1], 0)
        self.lengths: Ints = np.append(np.diff(lists.offsets), 0)
        # The leading 0 is the total of no documents.
        self._totals = np.append(0.0, running_sums(lists.offsets, lists.gain / divisors[lists.rank - 1]))

    def total(self, query: Ints, depth: Ints) -> Floats:
        """Return the discounted gain of each query's ideal list down to a depth."""
        taken = np.minimum(depth, self.lengths[query])
        return np.asarray(self._totals[np.where(taken > 0, self._starts[query] + taken, 0)])

    def dealt(self, query: Ints, before: Ints, depth: Ints) -> tuple[Ints, Ints, Floats]:
        """Return turn, rank in the turn and gain of the ``depth`` documents after ``before`` in each ideal list."""
        taken = np.clip(self.lengths[query] - before, 0, depth)
        turn = np.repeat(np.arange(query.size), taken)
        rank = ordinal_in_row(turn)
        return turn, rank, self._gain[(self._starts[query] + before)[turn] + rank - 1]


def unclipped_gains(grades: Floats) -> Floats:
    """Return 2^grade - 1, negative for negative grades."""
    # Near 0 the difference would lose digits; at integer grades the power is exact.
    return np.where(np.abs(grades) < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def unclipped_lists(judged: Judged, rel: float | None, level: float | None) -> GainLists:
    """Return all judged documents of each query by descending gain; negative gains come last."""
    documents = judged.best_first[1]
    gains = unclipped_gains(documents.grade)
    if rel is not None or level is not None:
        gains = np.where(is_relevant(documents.grade, rel, level), gains, 0.0)
    order = np.lexsort((-gains, documents.row))
    row = documents.row[order]
    return GainLists(len(judged.qrels.query_ids), row, ordinal_in_row(row), gains[order])


class Turns(NamedTuple):
    """The turns of ideal sessions, by session, then by position; they may outnumber the real ones."""

    session: Ints
    position: Ints
    judged_query: Ints
    depth: Ints  # of the ideal list
    own: Ints  # the turn of the block, -1 after the end of the real session


class Worth(NamedTuple):
    """Gains of documents, discounted by rank in their own list; by turn, then by rank."""

    turn: Ints
    rank: Ints
    value: Floats


class SessionGain(
    OfSessions,
    takes="gain base query_base repeats short ideal_queries normalise variant summary scan rel level unjudged cutoff",
):
    """The shared parameters and computation of sDCG and nsDCG."""

    normalised: ClassVar[bool] = False

    gain, base, query_base = LINEAR, cast("Base", 2.0), cast("Base", 4.0)
    ideal_queries, normalise = cast("str | int", "session"), "session"
    variant, summary = "jarvelin2008", "final"

    def validate(self) -> None:
        super().validate()
        if self.variant == "jiang2016" and self.gain != LINEAR:
            raise UsageError(
                f"{self.name}: variant=jiang2016 always has gain 2^grade - 1, so gain={self.gain} cannot be used",
                f"variant=jarvelin2008 supports gain={self.gain}",
            )
        if self.ideal_queries != "session" and self.summary in ("best", "last"):
            raise UsageError(
                f"{self.name}: summary={self.summary} cannot be combined with ideal_queries={self.ideal_queries}"
            )
        if self.normalise == "query" and (self.ideal_queries != "session" or self.summary == "average"):
            other = "summary=average" if self.summary == "average" else f"ideal_queries={self.ideal_queries}"
            hint = "normalise=session has an ideal session"
            raise UsageError(f"{self.name}: normalise=query cannot be combined with {other}", hint)

    def check(self, levels: Floats) -> None:
        super().check(levels)
        if self.variant == "jiang2016":
            Gain.of("exp2").check(levels)

    def check_sessions(self, sessions: RankedSessions) -> None:
        if self.ideal_queries == "session":
            return
        if sessions.judged_by == "query":
            hint = "with judgments by query, there is no ideal list for queries after the last one"
            raise UsageError(f"{self}: ideal_queries requires judgments by topic or session", hint)
        counts = sessions.sessions.query_counts
        if counts.size and counts.max() > int(self.ideal_queries):
            longest = printable(sessions.sessions.session_ids[int(counts.argmax())])
            raise InputError(
                f"{sessions.sessions.name}: {self}: session '{longest}' has {counts.max()} queries, "
                "more than ideal_queries",
                f"use ideal_queries={counts.max()} or more",
            )

    def _unused(self) -> frozenset[str]:
        return frozenset({"gain"}) if self.variant == "jiang2016" else frozenset()

    def compute_sessions(self, block: SessionBlock) -> Floats:
        is_final = self.summary == "final" and self.repeats == "every" and self.ideal_queries == "session"
        if is_final or not self.normalised:
            return self._computed(block)
        # All other cases expand the ideal session, document by document.
        scores = np.empty(block.size)
        for chosen, part in block.parts(self._cells(block)):
            scores[chosen] = self._computed(part)
        return scores

    def _cells(self, block: SessionBlock) -> Ints:
        """Estimate the number of documents of each session and its ideal."""
        lengths = self.ideal(block).lengths[block.judged_query]
        needed = np.minimum(self.depths(block), np.maximum(np.maximum(lengths, block.shown), 1))
        cells = sum_by(block.session, needed, block.size)
        if self.ideal_queries != "session":
            longest = np.zeros(block.size)
            longest[block.session] = np.minimum(lengths, self.cutoff or WHOLE)
            cells += np.maximum(longest, 1) * np.maximum(int(self.ideal_queries) - block.queries, 0)
        return cells.astype(np.int64)

    @property
    def is_linear(self) -> bool:
        """Whether sessions score the sum of all gains, each times a weight of its rank and query."""
        return (self.repeats, self.variant) == ("every", "jarvelin2008") and self.summary in ("final", "last")

    def expected(self, block: SessionBlock) -> Floats:
        """Return the mean scores over all orders of each list: linear ones see its mean gain at every rank."""
        block = block.seen_by(self)
        every = block.filled(np.nan)
        gains = sum_by(block.documents.turn, self._gains(block), block.session.size) / np.maximum(block.shown, 1)
        every._cache["gains", self.gain, self.rel, self.level] = gains[every.documents.turn]
        return self._computed(every)

    def _computed(self, block: SessionBlock) -> Floats:
        if self.summary in ("best", "last") or self.normalise == "query":
            return self._by_query(block)
        if self.summary == "average":
            return self._average(block)
        gained = self._final(block)
        return self.ratio(gained, self._ideal_final(block)) if self.normalised else gained

    def _divisors(self, count: int, base: Base) -> Floats:
        """Return the discounts of ranks, or of query positions, 1 to ``count``."""
        places = np.arange(1.0, count + 1.0)
        if self.variant == "jarvelin2008":
            return divisors("jarvelin2008", base, places)
        return logarithms(places + ((math.e if base == "e" else float(base)) - 1.0), base)

    # The real session.

    def depths(self, block: SessionBlock) -> Ints:
        """Return the depth of each turn; without k, the end of the longer of list and ideal list."""
        depth = scan_depths(block, self.cutoff, self.scan)
        if self.cutoff is None and (self.normalised or self.summary == "average"):
            longest = np.maximum(block.shown, self.ideal(block).lengths[block.judged_query])
            depth = np.where(depth == WHOLE, longest, depth)
        return depth

    def positions(self, block: SessionBlock) -> Ints:
        """Return the number of positions of each turn in the session's vector."""
        return count_positions(self.depths(block), block.shown, self.short)

    def worth(self, block: SessionBlock, depth: Ints) -> Worth:
        """Return the discounted nonzero gains of the documents down to each turn's depth."""
        documents, gains = block.documents, self._gains(block)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        turn, rank = documents.turn[chosen], documents.rank[chosen]
        return Worth(turn, rank, gains[chosen] / self._divisors(int(rank.max(initial=0)), self.base)[rank - 1])

    def by_turn(self, worth: Worth, position: Ints) -> Floats:
        """Return the total of each turn's list, discounted by its position."""
        return sum_by(worth.turn, worth.value, position.size) / self.divisors_at(position)

    def divisors_at(self, position: Ints) -> Floats:
        """Return the discounts of queries at these positions."""
        return np.asarray(self._divisors(int(position.max(initial=0)), self.query_base)[position - 1])

    def _final(self, block: SessionBlock) -> Floats:
        """Return the session's value at its last position, shared by sDCG and nsDCG."""
        key = self.variant, self.gain, self.base, self.query_base, self.repeats, self.scan, self.rel, self.level

        def final() -> Floats:
            # Discount whole lists, as for the ideal, so that a perfect session scores exactly 1.
            values = self.by_turn(self.worth(block, self.depths(block)), block.position)
            return sum_by(block.session, values, block.size)

        return block.cached(("final", *key, self.cutoff), final)

    def _gains(self, block: SessionBlock) -> Floats:
        if self.variant != "jiang2016":
            return block.gains(self.gain, self.rel, self.level)
        gains = unclipped_gains(block.documents.grade)
        if self.rel is None and self.level is None:
            return gains
        return np.where(is_relevant(block.documents.grade, self.rel, self.level), gains, 0.0)

    # The ideal session.

    def ideal(self, block: SessionBlock) -> IdealLists:
        """Return the ideal list of each judged query."""
        # Ideal lists are needed beyond k only for repeats=first and recorded depths.
        depth = self.cutoff if self.repeats == "every" and self.scan == "k" else None
        gain = None if self.variant == "jiang2016" else self.gain

        def ideal_lists() -> IdealLists:
            judged, relevant = block.judged, (self.rel, self.level)
            lists = unclipped_lists(judged, *relevant) if gain is None else judged.ideal_lists(gain, *relevant)
            lists = lists if depth is None else GainLists(lists.size, *lists.to(depth))
            return IdealLists(lists, self._divisors(int(lists.rank.max(initial=0)), self.base))

        return block.judged.cached(("ideal", self.variant, gain, self.rel, self.level, self.base, depth), ideal_lists)

    def ideal_turns(self, block: SessionBlock) -> Turns:
        """Return the session's turns and, with ``ideal_queries``, the further turns of the ideal session."""
        depth = self.depths(block)
        if self.ideal_queries == "session":
            own = np.arange(block.session.size)
            return Turns(block.session, block.position, block.judged_query, depth, own)
        counts = np.where(block.queries > 0, np.maximum(block.queries, int(self.ideal_queries)), 0)
        session = np.repeat(np.arange(block.size), counts)
        position = np.arange(1, session.size + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        is_own = position <= block.queries[session]
        # Further turns have the judgments of the last one: all turns of a session share them.
        turn = block.turn_offsets[:-1][session] + np.minimum(position, block.queries[session]) - 1
        query = block.judged_query[turn]
        beyond = self.ideal(block).lengths[query] if self.cutoff is None else min(self.cutoff, WHOLE)
        return Turns(session, position, query, np.where(is_own, depth[turn], beyond), np.where(is_own, turn, -1))

    def ideal_worth(self, block: SessionBlock, turns: Turns, depth: Ints) -> Worth:
        """Return the discounted gains of the ideal session; ``depth`` cuts lists after documents are distributed."""
        before = np.zeros_like(turns.depth)
        if self.repeats == "first" and block.sessions.judged_by != "query" and self.normalise == "session":
            starts = np.searchsorted(turns.session, np.arange(block.size + 1))
            before = before_turn(turns.depth, starts, turns.session)
        turn, rank, gains = self.ideal(block).dealt(turns.judged_query, before, depth)
        return Worth(turn, rank, gains / self._divisors(int(rank.max(initial=0)), self.base)[rank - 1])

    def _ideal_final(self, block: SessionBlock) -> Floats:
        turns = self.ideal_turns(block)
        depth = self._depth_at_end(block, turns)
        if self.repeats == "every":
            values = self.ideal(block).total(turns.judged_query, depth) / self.divisors_at(turns.position)
        else:
            values = self.by_turn(self.ideal_worth(block, turns, depth), turns.position)
        return sum_by(turns.session, values, block.size)

    def _depth_at_end(self, block: SessionBlock, turns: Turns) -> Ints:
        """Return the depth of each ideal list at the last position; the last list is as deep as the real one."""
        if self.short == "pad":
            return turns.depth
        positions = self.positions(block)
        positions = np.where(turns.own >= 0, positions[turns.own], turns.depth) if positions.size else turns.depth
        last = np.full(block.size, -1)
        with_positions = np.flatnonzero(positions > 0)
        last[turns.session[with_positions]] = with_positions  # they ascend, so the last one stays
        ordinal, end = np.arange(turns.session.size), last[turns.session]
        return np.where(ordinal < end, turns.depth, np.where(ordinal == end, positions, 0))

    def ratio(self, gained: Floats, ideal: Floats) -> Floats:
        """Divide by the ideal; NaN if the ideal is 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(ideal > 0, gained / ideal, np.nan)
        # The same gains added in another order may differ in the last bits.
        return np.where((ratio > 1.0) & (ratio < 1.0 + _ROUNDING), 1.0, ratio)

    # The other summaries.

    def _by_query(self, block: SessionBlock) -> Floats:
        """Return the best or the last query's value, or the mean weighted by position."""
        values = self.by_turn(self.worth(block, self.depths(block)), block.position)
        if self.normalised:
            turns, positions = self.ideal_turns(block), self.positions(block)
            ideal = self.ideal_worth(block, turns, positions)
            values = self.ratio(values, self.by_turn(ideal, turns.position))
        scores = np.full(block.size, np.nan if self.normalised else 0.0)
        if self.summary == "last":
            real = block.queries > 0
            scores[real] = values[block.turn_offsets[1:][real] - 1]
            return scores
        found = ~np.isnan(values)
        if self.summary == "final":
            session, weight = block.session[found], 1.0 / self.divisors_at(block.position)[found]
            below = sum_by(session, weight, block.size)
            whole = np.divide(sum_by(session, weight * values[found], block.size), below, out=scores, where=below > 0)
            return self.ratio(whole, np.ones(block.size))
        scores[block.session[found]] = -np.inf
        np.maximum.at(scores, block.session[found], values[found])
        return scores

    def _average(self, block: SessionBlock) -> Floats:
        if self.normalised:
            session, weights, gained, ideal = _trajectories(self, block)
            ratio = self.ratio(gained, ideal)
            exists = ~np.isnan(ratio)
            session, weight = session[exists], weights[exists].astype(np.float64)
            summed, count = (sum_by(session, each, block.size) for each in (ratio[exists] * weight, weight))
            return np.where(count > 0, summed / np.maximum(count, 1.0), np.nan)
        worth, positions = self.worth(block, self.depths(block)), self.positions(block)
        before = before_turn(positions, block.turn_offsets, block.session)
        count = sum_by(block.session, positions, block.size)
        session = block.session[worth.turn]
        # A gain counts at its position and all later ones.
        stays = count[session] - (before[worth.turn] + worth.rank) + 1
        values = worth.value / self.divisors_at(block.position)[worth.turn]
        summed = sum_by(session, values * stays, block.size)
        return summed / np.maximum(count, 1)


class SDCG(SessionGain):
    """Session DCG: the total gain of a session, discounted by rank and by query.

    Formula:
        sDCG = sum over queries q of (1 / (1 + log_bq q)) * sum over ranks r <= k of G[q, r] / (1 + log_b r)

    G[q, r] is the gain of the document at rank r of query q; b is base (2), bq is query_base (4). Each gain is
    discounted by its rank and by the position of its query. A small bq models a user who is reluctant to reformulate.
    The sums after each position form the session's vector.

    Conventions:
        - k documents per query count; with scan=recorded, the recorded depth if there is one; without @k, whole lists
        - lists shorter than k: short=pad adds positions up to k, asis none, min:m up to m (only for summary=average)
        - repeats=first: a document seen earlier in the session has gain 0 (ranks below k are not seen)
        - summary=final is the value at the last position, average the mean over positions, best and last the value of
          one query, discounted by its position
        - variant=jiang2016: gain 2^grade - 1, negative for negative grades; discounts log_b(r + b - 1) and
          log_bq(q + bq - 1)
        - unjudged documents have gain 0; a query without judgments has gain 0 but takes a position
        - no relevant documents: 0

    Agrees with:
        trec-dd-jig sDCG (grades, b = 2, bq = 4); Jiang's session_metrics SDCG with variant=jiang2016; for a session of
        one query, DCG(discount=jarvelin2008)
    Differs from:
        SDCG of ir_measures and cwl-eval, which is scaled DCG of single queries

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, eq. 1 (its example values for b = 4 at ranks 2 and 8 do
        not follow from the formula); Jiang and Allan, CHIIR 2016

    Example:
        Grades 3, 0 in the first query, 0, 2 in the second: 3 + (2 / (1 + log2(2))) / (1 + log4(2)) = 3 + 1 / 1.5.

        >>> round(gainful.parse("sDCG@10").score_session([[3, 0], [0, 2]]), 4)
        3.6667
    """

    name = "sDCG"
    bounds = (0.0, math.inf)
    # Not parameters, because sDCG has no ideal session.
    ideal_queries: ClassVar[str] = "session"  # type: ignore[misc]
    normalise: ClassVar[str] = "session"  # type: ignore[misc]


_BY_QUERY = """
    nsDCG = sum over queries q of w[q] * DCG[q] / idealDCG[q], divided by the sum of w[q]
    w[q] = 1 / (1 + log_bq q)

idealDCG[q] is the DCG of the ideal list of query q. Queries with an ideal DCG of 0 are excluded.
"""


class NSDCG(SessionGain):
    """Normalised session DCG: sDCG divided by the sDCG of an ideal session.

    Formula:
        nsDCG = sDCG of the session / sDCG of the ideal session

    The ideal session repeats the top k of the ideal list (all judged gains in descending order) for each query, with
    the same discounts. At rank r of query q it has the top k of all earlier queries and the top r of this one; the
    ratios at all positions form the session's normalised vector.

    Conventions:
        - parameters as in sDCG
        - ideal_queries=session is the ratio at the session's last position; ideal_queries=n extends the ideal session
          to n queries and leaves the real one as it is (longer sessions are an error)
        - normalise=query divides each query by its own ideal list (the article's section 2.2) and averages queries with
          weights 1 / (1 + log_bq q); queries with an ideal DCG of 0 do not count
        - without @k, lists count to the end of the longer of list and ideal list
        - short=asis and min:m: the ideal session ends at the same last position as the real one
        - repeats=first: the ideal session distributes the ideal list, its first k documents to the first query, the
          next k to the second. This is not the optimum for several queries, so the ratio can exceed 1 (also if
          documents have grades in the log that the judgments lack)
        - judged by query: each query has its own ideal list; queries without judgments add 0 to both sums
        - summary=average is the mean ratio over positions at which the ideal session has a gain; best and last compare
          one query with its own ideal list, so the query discount cancels
        - variant=jiang2016: the ideal list has all judged documents, with negative grades at its end
        - an ideal session without gain: undefined

    Agrees with:
        Jiang's session_metrics NSDCG with variant=jiang2016
    Differs from:
        trec-dd-jig, whose ideal assigns the best documents to the positions with the smallest joint discount

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 2.2 and 3.3; Jiang and Allan, CHIIR 2016

    Example:
        The only judged document, of grade 2, is first in the second query: (2 / 1.5) / (2 + 2 / 1.5).

        >>> round(gainful.parse("nsDCG@10").score_session([[None, None], [2]]), 4)
        0.4

        With normalise=query, the queries score 0 and 1 with weights 1 and 1 / 1.5, which gives the same value here.

        >>> round(gainful.parse("nsDCG(normalise=query)@10").score_session([[None, None], [2]]), 4)
        0.4
    """

    name = "nsDCG"
    normalised = True

    def own_formula(self) -> str:
        return _BY_QUERY if self.normalise == "query" else ""


def same_positions(measure: SessionGain) -> int:
    """Return the number of positions per query; reject measures for which it varies."""
    if measure.cutoff is None or measure.scan != "k":
        hint = f"write {measure.name}@10, without scan=recorded"
        raise UsageError(f"{measure}: all queries must have the same number of positions", hint)
    return measure.cutoff


def gained_and_ideal(block: SessionBlock, measure: SessionGain, queries: int) -> tuple[Floats, Floats]:
    """Return the values of real and ideal sessions at each position of the first ``queries``, sessions x positions.

    After a session's last position its value is constant.

    >>> from gainful import Qrels, parse
    >>> from gainful.measures.session_block import hand_made
    >>> block = hand_made(Qrels.from_dict({"s": {"a": 2, "b": 1}}), {"s": [["a", "x"], ["b"]]})
    >>> gained_and_ideal(block, parse("sDCG(query_base=2)@2"), 3)[0].tolist()
    [[2.0, 2.0, 2.5, 2.5, 2.5, 2.5]]
    """
    width = queries * same_positions(measure)
    gained, ideal = np.zeros((block.size, width)), np.zeros((block.size, width))
    for chosen, part in block.parts(np.full(block.size, width)):
        session, _, *found = _trajectories(measure, part, queries)
        column, counts = ordinal_in_row(session) - 1, np.bincount(session, minlength=part.size)
        for vectors, values in zip((gained[chosen], ideal[chosen]), found, strict=True):
            vectors[session, column] = values
            # The value is constant after the last position.
            last = np.where(counts > 0, vectors[np.arange(counts.size), np.maximum(counts, 1) - 1], 0.0)
            vectors[:] = np.where(np.arange(width) >= counts[:, None], last[:, None], vectors)
    return gained, ideal


def _trajectories(
    measure: SessionGain, block: SessionBlock, queries: int | None = None
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return session, weight, and real and ideal value of all positions of the first ``queries``, or of all that change
    a value; their weight includes the positions after them without a change."""
    turns, positions = measure.ideal_turns(block), measure.positions(block)
    is_own = turns.own >= 0
    count = turns.depth.copy()
    count[is_own] = positions
    if queries is not None:
        count[turns.position > queries] = 0
    worth = measure.worth(block, np.minimum(measure.depths(block), count[is_own]))
    ideal = measure.ideal_worth(block, turns, turns.depth)
    kept = count
    if queries is None:
        last_change = np.bincount(ideal.turn, minlength=count.size)
        last_change[is_own] = np.maximum(last_change[is_own], block.shown)
        kept = np.minimum(count, np.maximum(last_change, 1))
    starts = offsets_of(kept)
    turn = np.repeat(np.arange(kept.size), kept)
    first_turns = np.searchsorted(turns.session, np.arange(block.size + 1))
    weight = np.ones(turn.size, np.int64)
    weight[starts[1:][kept > 0] - 1] += (count - kept)[kept > 0]
    by_query = measure.divisors_at(turns.position)
    steps = _steps(worth, by_query[is_own], starts[:-1][is_own], int(starts[-1]))
    gained = running_sums(starts[first_turns], steps)
    # Earlier ideal lists count in full, however short the real ones; this one down to the rank.
    earlier = np.append(0.0, running_sums(first_turns, measure.by_turn(ideal, turns.position)))[:-1]
    earlier[first_turns[:-1][np.diff(first_turns) > 0]] = 0.0
    inside = ideal.rank <= kept[ideal.turn]
    ideal = Worth(ideal.turn[inside], ideal.rank[inside], ideal.value[inside])
    so_far = running_sums(starts, _steps(ideal, by_query, starts[:-1], int(starts[-1]))) + earlier[turn]
    return turns.session[turn], weight, gained, so_far


def _steps(worth: Worth, by_query: Floats, starts: Ints, count: int) -> Floats:
    """Return the increment at each position."""
    steps = np.zeros(count)
    steps[starts[worth.turn] + worth.rank - 1] = worth.value / by_query[worth.turn]
    return steps
