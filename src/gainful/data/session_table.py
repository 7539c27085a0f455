"""Sessions as columns: what every reader of sessions gives, whatever it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from gainful.data.lists import gather
from gainful.data.run import Run
from gainful.io.rows import ItemRows
from gainful.kernel.arrays import Floats, Ints, freeze
from gainful.notation import text_of_id

#: The columns that a source may tell, by what has a value each, and what stands for one that it does not tell.
SESSION_COLUMNS: Mapping[str, Any] = {"topics": None, "users": None, "systems": None}
TURN_COLUMNS: Mapping[str, Any] = {"scanned": -1, "texts": "", "costs": np.nan}
ROW_COLUMNS: Mapping[str, Any] = {"grade": np.nan}

_NO_VALUES: Floats = np.zeros(0)
_NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class SessionTable:
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
    costs: Floats = field(default_factory=lambda: _NO_VALUES)  # by turn: time, money, tokens; NaN: not given
    gap: float | None = None  # so many seconds without a query cut them from a log, which made their ids
    system_order: tuple[str, ...] = ()  # the systems as the source has them, one after the other

    def __post_init__(self) -> None:
        freeze(self.turn_offsets, self.grade, self.scanned, self.costs, *self.ratings.values())

    def __len__(self) -> int:
        return len(self.session_ids)

    @cached_property
    def ids(self) -> list[str]:
        """The sessions' ids as texts."""
        return [text_of_id(identifier) for identifier in self.session_ids]

    @property
    def query_counts(self) -> Ints:
        """How many queries each session has."""
        return np.diff(self.turn_offsets)

    @property
    def asked(self) -> tuple[str, ...]:
        """What was asked in each session: its queries, or how many there are of its topic, or of which source."""
        if not self.texts:
            of = "" if self.topics else f", not known, in {self.name}"
            return tuple(f"{count}{of}" for count in self.query_counts.tolist())
        return tuple(", ".join(self.texts[first:end]) for first, end in pairwise(self.turn_offsets.tolist()))

    def part(self, first: int, end: int) -> Self:
        """The sessions from one place to another."""
        return self.take(range(*slice(first, end).indices(len(self))))

    def take(self, places: Sequence[int]) -> Self:
        """The sessions at some places, in this order."""
        kept = np.array(places, np.int64)
        _, turns = gather(self.turn_offsets, kept)
        _, rows = gather(self.lists.list_offsets, turns)

        def picked(values: Any, at: Ints) -> Any:
            if not len(values):
                return values
            return values[at] if isinstance(values, np.ndarray) else tuple(values[i] for i in at.tolist())

        levels = ((("session_ids", *SESSION_COLUMNS), kept), (TURN_COLUMNS, turns), (ROW_COLUMNS, rows))
        columns = {name: picked(getattr(self, name), at) for names, at in levels for name in names}
        return replace(
            self,
            turn_offsets=offsets_of(self.query_counts[kept]),
            lists=self.lists.take(turns),
            ratings={name: values[kept] for name, values in self.ratings.items()},
            **columns,
        )

    def with_turns(self, turn_offsets: Ints, place: Ints, ids: Sequence[bytes]) -> Self:
        """The sessions with more turns, which show nothing: ``ids`` are those of all, ``place`` where those that are
        there stand among them."""
        if place.size == len(ids):
            return replace(self, lists=replace(self.lists, query_ids=tuple(ids)))

        def spread(values: Any, nothing: Any) -> Any:
            if not len(values):
                return values
            found = np.full(len(ids), nothing, values.dtype if isinstance(values, np.ndarray) else object)
            found[place] = values
            return found if isinstance(values, np.ndarray) else tuple(found.tolist())

        shown = np.zeros(len(ids), np.int64)
        shown[place] = np.diff(self.lists.list_offsets)
        return replace(
            self,
            turn_offsets=turn_offsets,
            lists=replace(self.lists, query_ids=tuple(ids), list_offsets=offsets_of(shown)),
            **{name: spread(getattr(self, name), nothing) for name, nothing in TURN_COLUMNS.items()},
        )


def offsets_of(counts: Sequence[int] | Ints) -> Ints:
    """Where each of some groups of so many begins, and where the last ends."""
    return np.append(0, np.cumsum(np.asarray(counts, np.int64)))


def turn_places(session: Ints, number: Ints, complain: Callable[[Ints, Ints], None] | None) -> tuple[Ints, Ints]:
    """Where each session's turns start, and the place of every turn; given by session and number, ascending.

    ``complain`` is told of turns before which a number is missing, and which; without it places are left free.
    """
    is_first = np.diff(session, prepend=-1) != 0
    expected = np.where(is_first, 1, np.append(0, number[:-1]) + 1)
    if complain is not None and not np.array_equal(number, expected):
        gaps = np.flatnonzero(number != expected)
        complain(gaps, expected[gaps])
    offsets = offsets_of(number[np.append(is_first[1:], True)])
    return offsets, offsets[session] + number - 1


def turn_ids(session_ids: Sequence[bytes], offsets: Ints, separator: str | bytes) -> list[bytes]:
    """What turns are called that have no name of their own: session, separator, number."""
    between = separator.encode() if isinstance(separator, str) else separator
    return [
        b"%b%b%d" % (identifier, between, number)
        for identifier, count in zip(session_ids, np.diff(offsets).tolist(), strict=True)
        for number in range(1, count + 1)
    ]


def join_tables(tables: Iterable[SessionTable]) -> SessionTable:
    """All parts of a source as one, in byte order of the sessions' ids."""
    parts = list(tables)
    if len(parts) == 1:
        return parts[0]

    def joined(columns: Sequence[Any], sizes: Sequence[int], nothing: Any) -> Any:
        """What all parts tell; what a part does not tell is nothing for each of its own."""
        if not any(map(len, columns)):
            return columns[0]
        if isinstance(columns[0], np.ndarray):
            filled = (c if len(c) else np.full(size, nothing) for c, size in zip(columns, sizes, strict=True))
            return np.concatenate(list(filled))
        return tuple(v for c, size in zip(columns, sizes, strict=True) for v in (c or (nothing,) * size))

    sessions, lists = [len(part) for part in parts], [part.lists for part in parts]
    levels = (
        ({"session_ids": b"", **SESSION_COLUMNS}, sessions),
        (TURN_COLUMNS, [int(part.turn_offsets[-1]) for part in parts]),
        (ROW_COLUMNS, [len(run) for run in lists]),
    )
    before = np.cumsum([0, *(run.data.size for run in lists)]).tolist()
    list_offsets = offsets_of(np.concatenate([np.diff(run.list_offsets) for run in lists]))
    places = [place for run in lists if isinstance(run.origin, ItemRows) for place in run.origin.places]
    whole = replace(
        parts[0],
        turn_offsets=offsets_of(np.concatenate([part.query_counts for part in parts])),
        lists=Run(
            lists[0].name,
            tuple(identifier for run in lists for identifier in run.query_ids),
            list_offsets,
            np.concatenate([run.data for run in lists]),
            np.concatenate([run.document_start + shift for run, shift in zip(lists, before, strict=False)]),
            np.concatenate([run.document_length for run in lists]),
            np.concatenate([run.score for run in lists]),
            origin=ItemRows(lists[0].name, list_offsets, places),
        ),
        ratings={
            name: joined([part.ratings.get(name, _NO_VALUES) for part in parts], sessions, np.nan)
            for name in sorted({name for part in parts for name in part.ratings})
        },
        system_order=tuple(dict.fromkeys(system for part in parts for system in part.system_order)),
        **{
            name: joined([getattr(part, name) for part in parts], sizes, nothing)
            for columns, sizes in levels
            for name, nothing in columns.items()
        },
    )
    return whole.take(sorted(range(len(whole)), key=whole.session_ids.__getitem__))
