"""What a measure of sessions is: a measure whose unit is not a query but a sequence of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.session_block import SessionBlock

if TYPE_CHECKING:
    from gainful.data.ranked_sessions import RankedSessions

#: Nobody looks further: a depth that stands for the whole list, with which sums stay whole numbers.
WHOLE = 1 << 40


class SessionMeasure(Measure):
    """The definition of a number for one session. Its fields are its parameters, as those of any measure."""

    unit: ClassVar[str] = "session"

    @abstractmethod
    def compute_sessions(self, block: SessionBlock) -> Floats:
        """One score for every session of the block; NaN where the formula divides by 0."""

    def check_sessions(self, sessions: RankedSessions) -> None:
        """Refuses sessions that the measure has no value for."""

    def compute(self, block: Block) -> Floats:
        """Refused: a single list is no session."""
        raise UsageError(f"{self}: expected sessions, found single queries", "gainful.evaluate_sessions evaluates them")

    def score_session(
        self,
        lists: Sequence[Sequence[float | None]],
        unretrieved: Sequence[float] = (),
        *,
        scale: float | None = None,
        **policy: Any,
    ) -> float:
        """The raw score of one session, given as the grades of each query's list; None is an unjudged document.

        All documents are different; ``unretrieved`` are the grades of judged documents that no list holds. Further
        arguments are the policy's.

        >>> from gainful.measures.grammar import parse
        >>> parse("QueriesToFirst").score_session([[0, None], [0, 2]])
        2.0
        """
        from gainful.sessions.lists import score_session

        return score_session(self, lists, unretrieved, scale, policy)


def scan_depths(block: SessionBlock, cutoff: int | None, scan: str) -> Ints:
    """How far each turn is looked at: k documents, or as far as was recorded. ``WHOLE`` is the whole list."""
    depth = np.full(block.session.size, min(cutoff or WHOLE, WHOLE))
    return depth if scan == "k" else np.where(block.scanned >= 0, np.minimum(block.scanned, WHOLE), depth)


def count_positions(depth: Ints, shown: Ints, short: str) -> Ints:
    """How many positions each turn has in the session: ``short`` says what becomes of lists that end before."""
    if short == "pad":
        return depth
    least = 0 if short == "asis" else int(short.removeprefix("min:"))
    return np.minimum(depth, np.maximum(shown, least))


def before_turn(counts: Ints, turn_offsets: Ints, session: Ints) -> Ints:
    """The sum of the counts of all earlier turns of the same session."""
    total = np.concatenate(([0], np.cumsum(counts)))
    return np.asarray(total[:-1] - total[turn_offsets[:-1]][session])
