"""Rank-biased precision of a session: a user who goes on reading, asks again, or leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.measures.rank_biased import refuse_gains_above_1
from gainful.measures.session_base import SessionMeasure
from gainful.measures.session_block import SessionBlock
from gainful.notation import number_text

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
        if self.gain.text != "scaled":
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
