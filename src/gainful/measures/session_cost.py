"""What a session costs, in time, money or tokens, and what it gives for that.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008: every reformulation has its price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.lists import running_sums, sum_by
from gainful.data.sessions import RankedSessions
from gainful.errors import InputError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.session_block import SessionBlock, SessionMeasure, scan_depths

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
        - costs are those of SessionCost
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
            counts &= ~block.cached(("is_repeat", self.cutoff, self.scan), lambda: block.is_repeat(depth))
        turn, rank = documents.turn[counts], documents.rank[counts]
        costs = self.turn_costs(block)
        read = np.minimum(depth, block.shown)
        # All earlier queries, this one, and its documents down to the rank.
        so_far = running_sums(block.turn_offsets, costs) - self.cost_document * read
        return block.session[turn], so_far[turn] + self.cost_document * rank, gains[counts]
