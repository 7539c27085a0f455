"""Cumulated gain of sessions: sDCG and nsDCG, their ideal sessions, and their vectors by position.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008; the vectors are in section 3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import GainLists, is_relevant, ordinal_in_row, running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.discounts import Base, divisors, logarithms
from gainful.errors import InputError, UsageError
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
from gainful.notation import printable

_LINEAR = Gain("linear")

#: Ratios that exceed 1 by less than this are 1.
_ROUNDING = 1e-12


class IdealLists:
    """The ideal list of every judged query, and its discounted gain down to every rank. A query of -1 has none.

    ``lengths`` has one entry more, which -1 finds.
    """

    def __init__(self, lists: GainLists, divisors: Floats) -> None:
        self._gain = lists.gain
        self._starts = np.append(lists.offsets[:-1], 0)
        self.lengths: Ints = np.append(np.diff(lists.offsets), 0)
        # 0 comes first: what no document has given.
        self._totals = np.append(0.0, running_sums(lists.offsets, lists.gain / divisors[lists.rank - 1]))

    def total(self, query: Ints, depth: Ints) -> Floats:
        """The discounted gain of each query's ideal list down to a depth."""
        taken = np.minimum(depth, self.lengths[query])
        return np.asarray(self._totals[np.where(taken > 0, self._starts[query] + taken, 0)])

    def dealt(self, query: Ints, before: Ints, depth: Ints) -> tuple[Ints, Ints, Floats]:
        """So many documents of each query's ideal list after the ones before: turn, rank in the turn, and gain."""
        taken = np.clip(self.lengths[query] - before, 0, depth)
        turn = np.repeat(np.arange(query.size), taken)
        rank = ordinal_in_row(turn)
        return turn, rank, self._gain[(self._starts[query] + before)[turn] + rank - 1]


def unclipped_gains(grades: Floats) -> Floats:
    """2^grade - 1, below 0 for grades below 0."""
    # Close to 0 the difference would lose digits; at whole grades the power is exact.
    return np.where(np.abs(grades) < 1.0, np.expm1(grades * np.log(2.0)), np.exp2(grades) - 1.0)


def unclipped_lists(judged: Judged, rel: float | None, level: float | None) -> GainLists:
    """All judged documents of every query, the largest gain first; what gains less than nothing is at the end."""
    documents = judged.best_first[1]
    gains = unclipped_gains(documents.grade)
    if rel is not None or level is not None:
        gains = np.where(is_relevant(documents.grade, rel, level), gains, 0.0)
    order = np.lexsort((-gains, documents.row))
    row = documents.row[order]
    return GainLists(len(judged.qrels.query_ids), row, ordinal_in_row(row), gains[order])


class Turns(NamedTuple):
    """The turns that an ideal session has, by session, then by position; some may come after the real ones."""

    session: Ints
    position: Ints
    judged_query: Ints
    depth: Ints  # how far the ideal list goes
    own: Ints  # the turn of the block, -1 where the real session is over


class Worth(NamedTuple):
    """What documents are worth in their own lists: gain after the discount by rank; by turn, then by rank."""

    turn: Ints
    rank: Ints
    value: Floats


@dataclass(frozen=True, eq=False, repr=False)
class SessionGain(SessionMeasure):
    """The parameters and the computation that sDCG and nsDCG share."""

    normalised: ClassVar[bool] = False

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

    def validate(self) -> None:
        super().validate()
        if self.variant == "jiang2016" and self.gain != _LINEAR:
            raise UsageError(
                f"{self.name}: variant=jiang2016 has a gain of its own, 2^grade - 1, found gain={self.gain}",
                f"variant=jarvelin2008 takes gain={self.gain}",
            )
        if self.ideal_queries != "session" and self.summary in ("best", "last"):
            raise UsageError(
                f"{self.name}: summary={self.summary} looks at one query, found ideal_queries={self.ideal_queries}"
            )
        if self.normalise == "query" and (self.ideal_queries != "session" or self.summary == "average"):
            found = "summary=average" if self.summary == "average" else f"ideal_queries={self.ideal_queries}"
            raise UsageError(
                f"{self.name}: normalise=query has an ideal list a query, and no ideal session, found {found}",
                "normalise=session has one",
            )

    def check(self, levels: Floats) -> None:
        super().check(levels)
        if self.variant == "jiang2016":
            Gain.of("exp2").check(levels)

    def check_sessions(self, sessions: RankedSessions) -> None:
        if self.ideal_queries == "session":
            return
        if sessions.judged_by == "query":
            raise UsageError(
                f"{self}: expected judgments by topic or session, found them by query",
                "after a session's last query there is no ideal list to go on with",
            )
        counts = sessions.sessions.query_counts
        if counts.size and counts.max() > int(self.ideal_queries):
            longest = printable(sessions.sessions.session_ids[int(counts.argmax())])
            raise InputError(
                f"{sessions.sessions.name}: expected sessions of at most {self.ideal_queries} queries, found "
                f"{counts.max()} in session '{longest}' ({self})",
                f"ideal_queries={counts.max()} or more goes beyond all sessions",
            )

    def _unused(self) -> frozenset[str]:
        return frozenset({"gain"}) if self.variant == "jiang2016" else frozenset()

    def compute_sessions(self, block: SessionBlock) -> Floats:
        is_final = self.summary == "final" and self.repeats == "every" and self.ideal_queries == "session"
        if is_final or not self.normalised:
            return self._computed(block)
        # Everything else needs the ideal session document by document.
        scores = np.empty(block.size)
        for chosen, part in block.parts(self._cells(block)):
            scores[chosen] = self._computed(part)
        return scores

    def _cells(self, block: SessionBlock) -> Ints:
        """About how many documents each session and its ideal have."""
        lengths = self.ideal(block).lengths[block.judged_query]
        needed = np.minimum(self.depths(block), np.maximum(np.maximum(lengths, block.shown), 1))
        cells = sum_by(block.session, needed, block.size)
        if self.ideal_queries != "session":
            longest = np.zeros(block.size)
            longest[block.session] = np.minimum(lengths, self.cutoff or WHOLE)
            cells += np.maximum(longest, 1) * np.maximum(int(self.ideal_queries) - block.queries, 0)
        return cells.astype(np.int64)

    def _computed(self, block: SessionBlock) -> Floats:
        if self.summary in ("best", "last") or self.normalise == "query":
            return self._by_query(block)
        if self.summary == "average":
            return self._average(block)
        gained = self._final(block)
        return self.ratio(gained, self._ideal_final(block)) if self.normalised else gained

    def _divisors(self, count: int, base: Base) -> Floats:
        """What divides a gain at ranks 1 to ``count``, or those of the first to the last of so many queries."""
        places = np.arange(1.0, count + 1.0)
        if self.variant == "jarvelin2008":
            return divisors("jarvelin2008", base, places)
        return logarithms(places + ((math.e if base == "e" else float(base)) - 1.0), base)

    # What the session gives.

    def depths(self, block: SessionBlock) -> Ints:
        """How far each turn is looked at; without k to the end of the longer of list and ideal list."""
        depth = scan_depths(block, self.cutoff, self.scan)
        if self.cutoff is None and (self.normalised or self.summary == "average"):
            longest = np.maximum(block.shown, self.ideal(block).lengths[block.judged_query])
            depth = np.where(depth == WHOLE, longest, depth)
        return depth

    def positions(self, block: SessionBlock) -> Ints:
        """How many positions each turn has in the session's vector."""
        return count_positions(self.depths(block), block.shown, self.short)

    def worth(self, block: SessionBlock, depth: Ints) -> Worth:
        """What every document that gains or costs something is worth, as far as each turn is looked at."""
        documents, gains = block.documents, self._gains(block)
        chosen = block.gaining(gains, depth, self.cutoff, self.scan, self.repeats)
        turn, rank = documents.turn[chosen], documents.rank[chosen]
        return Worth(turn, rank, gains[chosen] / self._divisors(int(rank.max(initial=0)), self.base)[rank - 1])

    def by_turn(self, worth: Worth, position: Ints) -> Floats:
        """What each turn is worth in the session: its list, discounted by its position."""
        return sum_by(worth.turn, worth.value, position.size) / self.divisors_at(position)

    def divisors_at(self, position: Ints) -> Floats:
        """What divides the gains of queries at these positions."""
        return np.asarray(self._divisors(int(position.max(initial=0)), self.query_base)[position - 1])

    def _final(self, block: SessionBlock) -> Floats:
        """What the session has given at its last position; the same for sDCG and nsDCG."""
        key = self.variant, self.gain, self.base, self.query_base, self.repeats, self.scan, self.rel, self.level

        def made() -> Floats:
            # A list as a whole is discounted, as the ideal one is: so a perfect session is worth exactly as much.
            values = self.by_turn(self.worth(block, self.depths(block)), block.position)
            return sum_by(block.session, values, block.size)

        return block.cached(("final", *key, self.cutoff), made)

    def _gains(self, block: SessionBlock) -> Floats:
        if self.variant != "jiang2016":
            return block.gains(self.gain, self.rel, self.level)
        gains = unclipped_gains(block.documents.grade)
        if self.rel is None and self.level is None:
            return gains
        return np.where(is_relevant(block.documents.grade, self.rel, self.level), gains, 0.0)

    # What the ideal session gives.

    def ideal(self, block: SessionBlock) -> IdealLists:
        """The ideal list of every judged query."""
        # Only lists that are dealt out, or followed to a recorded depth, are needed beyond k.
        depth = self.cutoff if self.repeats == "every" and self.scan == "k" else None
        gain = None if self.variant == "jiang2016" else self.gain

        def made() -> IdealLists:
            judged, relevant = block.judged, (self.rel, self.level)
            lists = unclipped_lists(judged, *relevant) if gain is None else judged.ideal_lists(gain, *relevant)
            lists = lists if depth is None else GainLists(lists.size, *lists.to(depth))
            return IdealLists(lists, self._divisors(int(lists.rank.max(initial=0)), self.base))

        return block.judged.cached(("ideal", self.variant, gain, self.rel, self.level, self.base, depth), made)

    def ideal_turns(self, block: SessionBlock) -> Turns:
        """The session's turns and, with ``ideal_queries``, those that the ideal session goes on with."""
        depth = self.depths(block)
        if self.ideal_queries == "session":
            own = np.arange(block.session.size)
            return Turns(block.session, block.position, block.judged_query, depth, own)
        counts = np.where(block.queries > 0, np.maximum(block.queries, int(self.ideal_queries)), 0)
        session = np.repeat(np.arange(block.size), counts)
        position = np.arange(1, session.size + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        is_own = position <= block.queries[session]
        # After the last turn its judgments go on: all turns of a session have the same.
        turn = block.turn_offsets[:-1][session] + np.minimum(position, block.queries[session]) - 1
        query = block.judged_query[turn]
        beyond = self.ideal(block).lengths[query] if self.cutoff is None else min(self.cutoff, WHOLE)
        return Turns(session, position, query, np.where(is_own, depth[turn], beyond), np.where(is_own, turn, -1))

    def ideal_worth(self, block: SessionBlock, turns: Turns, depth: Ints) -> Worth:
        """What every document of the ideal session is worth; ``depth`` cuts the lists once they are dealt."""
        before = np.zeros_like(turns.depth)
        if self.repeats == "first" and block.sessions.judged_by != "query" and self.normalise == "session":
            starts = np.searchsorted(turns.session, np.arange(block.size + 1))
            before = before_turn(turns.depth, starts, turns.session)
        turn, rank, gains = self.ideal(block).dealt(turns.judged_query, before, depth)
        return Worth(turn, rank, gains / self._divisors(int(rank.max(initial=0)), self.base)[rank - 1])

    def _ideal_final(self, block: SessionBlock) -> Floats:
        """What the ideal session has given at the last position."""
        turns = self.ideal_turns(block)
        depth = self._depth_at_end(block, turns)
        if self.repeats == "every":
            values = self.ideal(block).total(turns.judged_query, depth) / self.divisors_at(turns.position)
        else:
            values = self.by_turn(self.ideal_worth(block, turns, depth), turns.position)
        return sum_by(turns.session, values, block.size)

    def _depth_at_end(self, block: SessionBlock, turns: Turns) -> Ints:
        """How far the ideal lists have been read at the last position: the last one only as far as the real list."""
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
        """What was gained as a share of the ideal; NaN where that is nothing."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(ideal > 0, gained / ideal, np.nan)
        # The same gains added in another order may differ in the last bits: they are no more than the ideal.
        return np.where((ratio > 1.0) & (ratio < 1.0 + _ROUNDING), 1.0, ratio)

    # The other summaries.

    def _by_query(self, block: SessionBlock) -> Floats:
        """The best query's value, the last one's, or their mean, each weighed by the discount of its position."""
        values = self.by_turn(self.worth(block, self.depths(block)), block.position)
        if self.normalised:
            turns, positions = self.ideal_turns(block), self.positions(block)
            ideal = self.ideal_worth(block, turns, positions)
            values = self.ratio(values, self.by_turn(ideal, turns.position))
        nothing = np.nan if self.normalised else 0.0
        scores = np.full(block.size, nothing)
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
        """The mean of the vector over its positions."""
        if self.normalised:
            found = _trajectories(self, block)
            ratio = self.ratio(found.gained, found.ideal)
            exists = ~np.isnan(ratio)
            session, weight = found.session[exists], found.weight[exists].astype(np.float64)
            summed, count = (sum_by(session, each, block.size) for each in (ratio[exists] * weight, weight))
            return np.where(count > 0, summed / np.maximum(count, 1.0), np.nan)
        worth, positions = self.worth(block, self.depths(block)), self.positions(block)
        before = before_turn(positions, block.turn_offsets, block.session)
        count = sum_by(block.session, positions, block.size)
        session = block.session[worth.turn]
        # What is gained at a position stays until the last one.
        stays = count[session] - (before[worth.turn] + worth.rank) + 1
        values = worth.value / self.divisors_at(block.position)[worth.turn]
        summed = sum_by(session, values * stays, block.size)
        return summed / np.maximum(count, 1)


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
        - no relevant documents: 0

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
    # Without an ideal session these are no parameters.
    ideal_queries: ClassVar[str] = "session"  # type: ignore[misc]
    normalise: ClassVar[str] = "session"  # type: ignore[misc]


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

    def own_formula(self) -> str:
        """Queries by themselves have another formula than the session."""
        return _BY_QUERY if self.normalise == "query" else ""


class Trajectories(NamedTuple):
    """Sessions position by position: whose it is, how many equal positions it stands for, and the values there."""

    session: Ints
    weight: Ints
    gained: Floats
    ideal: Floats


def same_positions(measure: SessionGain) -> int:
    """How many positions every query has; refuses measures of which that is not known."""
    if measure.cutoff is None or measure.scan != "k":
        raise UsageError(
            f"{measure}: expected the same number of positions for every query",
            f"write {measure.name}@10, without scan=recorded",
        )
    return measure.cutoff


def gained_and_ideal(block: SessionBlock, measure: SessionGain, queries: int) -> tuple[Floats, Floats]:
    """What sessions and ideal ones have given after every position, sessions x positions, of so many queries.

    After a session's last position its value stays as it is; of sessions with more queries the first ones count.

    >>> from gainful import Qrels, parse
    >>> from gainful.measures.session_block import hand_made
    >>> block = hand_made(Qrels.from_dict({"s": {"a": 2, "b": 1}}), {"s": [["a", "x"], ["b"]]})
    >>> gained_and_ideal(block, parse("sDCG(query_base=2)@2"), 3)[0].tolist()
    [[2.0, 2.0, 2.5, 2.5, 2.5, 2.5]]
    """
    width = queries * same_positions(measure)
    gained, ideal = np.zeros((block.size, width)), np.zeros((block.size, width))
    for chosen, part in block.parts(np.full(block.size, width)):
        found = _trajectories(measure, part, queries)
        column = ordinal_in_row(found.session) - 1
        counts = np.bincount(found.session, minlength=part.size)
        for vectors, values in ((gained[chosen], found.gained), (ideal[chosen], found.ideal)):
            vectors[found.session, column] = values
            # After a session's last position its value stays.
            last = np.where(counts > 0, vectors[np.arange(counts.size), np.maximum(counts, 1) - 1], 0.0)
            vectors[:] = np.where(np.arange(width) >= counts[:, None], last[:, None], vectors)
    return gained, ideal


def _trajectories(measure: SessionGain, block: SessionBlock, queries: int | None = None) -> Trajectories:
    """Real and ideal session position by position: of so many queries all, of all queries those that change a value.

    What follows a position without a change is part of it: that is its weight.
    """
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
    # All of the earlier queries' lists, whether or not the real ones were as long, and this one's down to the rank.
    earlier = np.append(0.0, running_sums(first_turns, measure.by_turn(ideal, turns.position)))[:-1]
    earlier[first_turns[:-1][np.diff(first_turns) > 0]] = 0.0
    inside = ideal.rank <= kept[ideal.turn]
    ideal = Worth(ideal.turn[inside], ideal.rank[inside], ideal.value[inside])
    so_far = running_sums(starts, _steps(ideal, by_query, starts[:-1], int(starts[-1]))) + earlier[turn]
    return Trajectories(turns.session[turn], weight, gained, so_far)


def _steps(worth: Worth, by_query: Floats, starts: Ints, count: int) -> Floats:
    """What is added at every position."""
    steps = np.zeros(count)
    steps[starts[worth.turn] + worth.rank - 1] = worth.value / by_query[worth.turn]
    return steps
