"""What a measure of sessions is: a measure whose unit is not a query but a sequence of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from gainful.arrays import Floats
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.session_block import SessionBlock


class SessionMeasure(Measure):
    """The definition of a number for one session. Its fields are its parameters, as those of any measure."""

    unit: ClassVar[str] = "session"

    @abstractmethod
    def compute_sessions(self, block: SessionBlock) -> Floats:
        """One score for every session of the block; NaN where the formula divides by 0."""

    def compute(self, block: Block) -> Floats:
        """Refused: a single list is no session."""
        raise UsageError(f"{self.name}: expected sessions, found single queries", "gainful sessions evaluates them")
