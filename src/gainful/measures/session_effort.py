"""What a user has to do before a session gives them what they want. Lower is better, and there is no worst value."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.lists import running_sums
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
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

#: Sums that should be the wanted gain but for rounding are: a document too late could be far away.
_ROUNDING = 1e-12


class _Effort(SessionMeasure):
    """What all have in common. Not a dataclass: every measure lists its parameters itself."""

    better = "lower"
    bounds = (1.0, math.inf)

    if TYPE_CHECKING:
        scan: str
        rel: float | None
        level: float | None
        cutoff: int | None

    @abstractmethod
    def _goal(self, block: SessionBlock, depth: Ints) -> tuple[Ints, Ints]:
        """Turn and rank of the documents by which sessions have what is wanted, one for each that gets there."""

    def compute_sessions(self, block: SessionBlock) -> Floats:
        depth = scan_depths(block, self.cutoff, self.scan)
        turn, rank = self._goal(block, depth)
        scores = np.full(block.size, np.nan)
        scores[block.session[turn]] = self._effort(block, depth, turn, rank)
        return scores

    @abstractmethod
    def _effort(self, block: SessionBlock, depth: Ints, turn: Ints, rank: Ints) -> Ints:
        """What it took to come to a document."""


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
    def _goal(self, block: SessionBlock, depth: Ints) -> tuple[Ints, Ints]:
        documents = block.documents
        found = np.flatnonzero(block.relevant(self.rel, self.level) & (documents.rank <= depth[documents.turn]))
        return _first_of_each(block, documents.turn[found], documents.rank[found])


class _Gain(_Effort):
    if TYPE_CHECKING:
        wanted: float
        gain: Gain
        repeats: str

    def validate(self) -> None:
        super().validate()
        if self.wanted <= 0:
            raise UsageError(f"{self.name}: wanted: expected a number above 0, found {number_text(self.wanted)}")

    def _goal(self, block: SessionBlock, depth: Ints) -> tuple[Ints, Ints]:
        documents, gains = block.documents, block.gains(self.gain, self.rel, self.level)
        counts = (gains > 0) & (documents.rank <= depth[documents.turn])
        if self.repeats == "first":
            counts &= ~block.cached(("is_repeat", self.cutoff, self.scan), lambda: block.is_repeat(depth))
        turn, rank = documents.turn[counts], documents.rank[counts]
        offsets = np.searchsorted(block.session[turn], np.arange(block.size + 1))
        enough = running_sums(offsets, gains[counts]) >= self.wanted * (1.0 - _ROUNDING)
        return _first_of_each(block, turn[enough], rank[enough])


def _first_of_each(block: SessionBlock, turn: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """The first of the documents in each session that has one."""
    first = np.flatnonzero(np.diff(block.session[turn], prepend=-1))
    return turn[first], rank[first]


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
