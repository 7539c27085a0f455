"""Sessions as columns: sequences of queries, each with its ranked results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from gainful.arrays import Floats, Ints, freeze
from gainful.data.run import Run
from gainful.notation import text_of_id

_NO_VALUES: Floats = np.zeros(0)
_NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Sessions:
    """Sessions, each a sequence of turns: a query and its ranked results, which may be none. Immutable.

    Turns of session i are ``turn_offsets[i] : turn_offsets[i + 1]``, in the order in which they were made. ``lists``
    has one list a turn, in the same order; its query ids are what judgments by query call the turns. Sessions stand in
    byte order of their ids. What is by turn, document or session is empty where the source does not tell it.
    """

    name: str
    session_ids: tuple[bytes, ...]
    turn_offsets: Ints
    lists: Run
    topics: tuple[bytes | None, ...] = ()  # by session: what judgments by topic call it
    grade: Floats = field(default_factory=lambda: _NO_VALUES)  # by row of lists: of this appearance; NaN: not given
    scanned: Ints = field(default_factory=lambda: _NO_COUNTS)  # by turn: how far the user looked; -1: not known
    texts: tuple[str, ...] = ()  # by turn: what the user typed
    users: tuple[str | None, ...] = ()  # by session
    systems: tuple[str | None, ...] = ()  # by session
    ratings: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))  # by session; NaN: not given

    def __post_init__(self) -> None:
        freeze(self.turn_offsets, self.grade, self.scanned)

    def __len__(self) -> int:
        return len(self.session_ids)

    def __repr__(self) -> str:
        return f"<Sessions {self.name}: {len(self)} with {int(self.turn_offsets[-1])} queries>"

    @cached_property
    def ids(self) -> list[str]:
        """The sessions' ids as texts."""
        return [text_of_id(identifier) for identifier in self.session_ids]

    @property
    def query_counts(self) -> Ints:
        """How many queries each session has."""
        return np.diff(self.turn_offsets)
