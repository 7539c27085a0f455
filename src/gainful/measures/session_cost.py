"""What a session costs, in time, money, tokens or effort, and what it gives for that.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008: every reformulation has its price.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.lists import running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.session_block import (
    WHOLE,
    SessionBlock,
    SessionMeasure,
    before_turn,
    count_positions,
    scan_depths,
)
from gainful.notation import number_text

_LINEAR = Gain("linear")


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
        - there is no worst value: missing=zero and undefined=zero leave the session out

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
        counts = (gains > 0) & (documents.rank <= depth[documents.turn])
        if self.repeats == "first":
            counts &= ~block.is_repeat(self.cutoff, self.scan)
        turn, rank = documents.turn[counts], documents.rank[counts]
        costs = self.turn_costs(block)
        read = np.minimum(depth, block.shown)
        # All earlier queries, this one, and its documents down to the rank.
        so_far = running_sums(block.turn_offsets, costs) - self.cost_document * read
        return block.session[turn], so_far[turn] + self.cost_document * rank, gains[counts]


#: Sums that should be the wanted gain but for rounding are: a document too late could be far away.
_ROUNDING = 1e-12


class _Effort(SessionMeasure):
    """What a user has to do before a session gives them what they want: there is no worst value.

    Not a dataclass: every measure lists its parameters itself.
    """

    better = "lower"
    bounds = (1.0, math.inf)

    if TYPE_CHECKING:
        scan: str
        rel: float | None
        level: float | None
        cutoff: int | None

    @abstractmethod
    def _reached(self, block: SessionBlock, seen: Bools) -> Ints:
        """The documents, of those seen, by which sessions have what is wanted; the first of each session counts."""

    @abstractmethod
    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        """What it took to come to a document."""

    def compute_sessions(self, block: SessionBlock) -> Floats:
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        reached = self._reached(block, documents.rank <= depth[documents.turn])
        first = reached[np.flatnonzero(np.diff(block.session[documents.turn[reached]], prepend=-1))]
        turn, scores = documents.turn[first], np.full(block.size, np.nan)
        scores[block.session[turn]] = self._effort(block, depth, turn, documents.rank[first])
        return scores


class _Queries(_Effort):
    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        return block.position[turn]


class _Documents(_Effort):
    if TYPE_CHECKING:
        short: str

    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        # Where there is no k there is nothing to pad a list to.
        short = "asis" if self.short == "pad" else self.short
        unlimited = count_positions(depth, block.shown, short)
        positions = np.where(depth == WHOLE, unlimited, count_positions(depth, block.shown, self.short))
        return before_turn(positions, block.turn_offsets, block.session)[turn] + rank


class _First(_Effort):
    def _reached(self, block: SessionBlock, seen: Bools) -> Ints:
        return np.flatnonzero(block.relevant(self.rel, self.level) & seen)


class _Gain(_Effort):
    if TYPE_CHECKING:
        wanted: float
        gain: Gain
        repeats: str

    def validate(self) -> None:
        super().validate()
        if self.wanted <= 0:
            raise UsageError(f"{self.name}: wanted: expected a number above 0, found {number_text(self.wanted)}")

    def _reached(self, block: SessionBlock, seen: Bools) -> Ints:
        gains = block.gains(self.gain, self.rel, self.level)
        counts = (gains > 0) & seen
        if self.repeats == "first":
            counts &= ~block.is_repeat(self.cutoff, self.scan)
        chosen = np.flatnonzero(counts)
        offsets = np.searchsorted(block.session[block.documents.turn[chosen]], np.arange(block.size + 1))
        return chosen[running_sums(offsets, gains[chosen]) >= self.wanted * (1.0 - _ROUNDING)]


@dataclass(frozen=True, eq=False, repr=False)
class QueriesToFirst(_First, _Queries):
    """How many queries the user asks until one shows a relevant document.

    Formula:
        QueriesToFirst = the smallest q such that query q has a relevant document among its first k

    Conventions:
        - without @k the whole lists are looked at; scan=recorded takes a recorded depth instead of k
        - no relevant document in the session: undefined
        - there is no worst value: missing=zero and undefined=zero leave the session out

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        The third query is the first with a relevant document at rank 1 or 2.

        >>> from gainful import parse
        >>> parse("QueriesToFirst@2").score_session([[0, None, 1], [], [0, 2]])
        3.0
    """

    name = "QueriesToFirst"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToFirst(_First, _Documents):
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
        - there is no worst value: missing=zero and undefined=zero leave the session out

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
    short: str = "pad"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class QueriesToGain(_Gain, _Queries):
    """How many queries the user asks until the session has given a wanted gain.

    Formula:
        QueriesToGain = the smallest q such that the gains in the first k of queries 1 to q sum to at least wanted

    Gains are not discounted.

    Conventions:
        - repeats=first: a document that was seen in the session before gains nothing
        - without @k the whole lists are looked at; scan=recorded takes a recorded depth instead of k
        - the session gives less: undefined
        - there is no worst value: missing=zero and undefined=zero leave the session out

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 3 (costs of reformulation)

    Example:
        2 from the first query and 1 from the second make 3.

        >>> from gainful import parse
        >>> parse("QueriesToGain(wanted=3)").score_session([[2, 0], [1, 3]])
        2.0
    """

    name = "QueriesToGain"
    wanted: float = 1.0
    gain: Gain = _LINEAR
    repeats: str = "every"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToGain(_Gain, _Documents):
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
        - there is no worst value: missing=zero and undefined=zero leave the session out

    Reference:
        Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, sections 3.3 and 4 (scanning length, short lists)

    Example:
        2 by the first document, 3 by the first of the second query, after two positions.

        >>> from gainful import parse
        >>> parse("DocumentsToGain(wanted=3)@2").score_session([[2, 0], [1, 3]])
        3.0
    """

    name = "DocumentsToGain"
    wanted: float = 1.0
    gain: Gain = _LINEAR
    repeats: str = "every"
    short: str = "pad"
    scan: str = "k"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None
