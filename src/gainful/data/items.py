"""What is known of items (documents) beside judgments: which there are, their attributes, and who had which before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gainful.data.exclusion import ExclusionLike, read_pairs
from gainful.data.lists import gather
from gainful.errors import InputError, UsageError
from gainful.io.columns import NAMES, Names, folded
from gainful.io.records import is_empty_cell, name_of_table, rows_by_id
from gainful.io.sources import Source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Ints, offsets_of
from gainful.notation import nearest, number_text, printable

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Whatever has a row an item: a file, a data frame, objects, or attributes by item.
ItemsLike: TypeAlias = "Source | Mapping[Any, Any] | Iterable[Any] | Frame"

_NAMES: Names = {"document": (*NAMES["document"], "id")}
#: Columns that tell items apart instead of saying what they have in common.
_TEXTS = ("title", "name", "text", "description", "url")
#: The cells of a column whose name is the attribute that 1 gives.
_FLAGS = (None, "", "0", "1", 0, 1)
#: Cells that say nothing; the longer one is MovieLens's.
_EMPTY = ("", "(no genres listed)")


class Attributes(NamedTuple):
    """The attributes of items: those of item i are ``code[offsets[i] : offsets[i + 1]]``, ascending, of ``kinds``."""

    offsets: Ints
    code: Ints
    kinds: int

    def has(self, item: Ints) -> Bools:
        """Which items have any."""
        return np.append(np.diff(self.offsets), 0)[np.minimum(item, self.offsets.size - 1)] > 0

    def shared(self, one: Ints, other: Ints) -> Ints:
        """How many attributes two items have in common, pair by pair."""
        keys = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets)) * self.kinds + self.code
        pair, place = gather(self.offsets, one)
        wanted = other[pair] * self.kinds + self.code[place]
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.bincount(pair[keys[at] == wanted], minlength=one.size) if keys.size else np.zeros(one.size, np.int64)


class Items:
    """A catalogue: the items of a table, or without one all that a training table has; items are known by number.

    >>> items = Items({"a": {"genres": "war|drama"}, "b": {"genres": "war"}}, {"u1": ["a"], "u2": ["a", "c"]})
    >>> items.ids, items.catalogue, items.taken_by.tolist(), items.users
    ([b'a', b'b', b'c'], 2, [2, 0, 1], 2)
    """

    def __init__(
        self,
        table: ItemsLike | None = None,
        training: ExclusionLike | None = None,
        columns: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        called = columns or {}
        named = table if table is not None else training
        self.name = name_of_table(named, "items")
        if isinstance(table, Mapping):
            table = {key: each if isinstance(each, Mapping) else {"attributes": each} for key, each in table.items()}
        rows = {} if table is None else rows_by_id(table, self.name, _NAMES, called.get("items", {}), "item")
        if table is not None and not rows:
            raise InputError(f"{self.name}: expected a table of items, found an empty one")
        #: What the table says of each item.
        self._about = {
            item: {name: cell for name, cell in record.values.items() if name != columns["document"]}
            for item, (record, columns) in rows.items()
        }
        users: Sequence[bytes] = ()
        ids: Sequence[bytes] = ()
        user = item = np.zeros(0, np.int64)
        if training is not None:
            had = read_pairs(training, called.get("training", {}), "training")
            users, user = had.query_ids, had.query
            ids, item = core.number_ids(*had.document)
        #: The ids of all that is known; the first ``catalogue`` of them are the catalogue.
        self.ids: list[bytes] = list(dict.fromkeys([*self._about, *ids]))
        self.catalogue = len(self._about) or len(self.ids)
        self.has_attributes, self.has_training = table is not None, training is not None
        self._attributes: dict[str | None, Attributes] = {}
        self._user_place = {each: place for place, each in enumerate(users)}
        # Who took something twice took it.
        pairs = np.unique(user * len(self.ids) + self.places(ids)[item])
        self._taken = pairs % max(1, len(self.ids))
        self._user_offsets = np.searchsorted(pairs, np.arange(len(users) + 1) * len(self.ids))

    @cached_property
    def _place(self) -> dict[bytes, int]:
        return {each: place for place, each in enumerate(self.ids)}

    def places(self, ids: Sequence[bytes]) -> Ints:
        """The numbers of items; those that nothing is known of have numbers after all others."""
        found = np.array([self._place.get(each, -1) for each in ids], np.int64)
        unknown = found < 0
        found[unknown] = len(self.ids) + np.arange(np.count_nonzero(unknown))
        return found

    @property
    def users(self) -> int:
        """How many users the training table has."""
        return len(self._user_place)

    @property
    def interactions(self) -> int:
        """How many pairs of user and item the training table has."""
        return int(self._taken.size)

    @cached_property
    def taken_by(self) -> Ints:
        """How many users had each item."""
        return np.bincount(self._taken, minlength=len(self.ids))

    def history(self, users: Sequence[bytes]) -> tuple[Ints, Ints]:
        """The row of a user and the item of everything that these users had."""
        places = np.array([self._user_place.get(each, self.users) for each in users], np.int64)
        row, place = gather(np.append(self._user_offsets, self._user_offsets[-1]), places)
        return row, self._taken[place]

    def attributes(self, column: str | None) -> Attributes:
        """The attributes that a column of the table gives items, or all columns but titles and the like."""
        if column in self._attributes:
            return self._attributes[column]
        records = self._about.values()
        names = [name for name in dict.fromkeys(key for each in records for key in each) if name]
        if column is not None and column not in names:
            raise UsageError(f"by: no column of {self.name} is called '{printable(column)}'", nearest(column, names))
        chosen = [column] if column is not None else [name for name in names if folded(name) not in _TEXTS]
        flags = {name for name in chosen if all(each.get(name) in _FLAGS for each in records)}
        codes: dict[str, int] = {}
        found: list[list[int]] = []
        for values in records:
            cells = (_cell_attributes(name, values.get(name), name in flags) for name in chosen)
            found.append(sorted({codes.setdefault(each, len(codes)) for cell in cells for each in cell}))
        if not codes:
            raise InputError(f"{self.name}: expected attributes of items, such as genres, found none")
        counts = np.zeros(len(self.ids), np.int64)
        counts[: len(found)] = [len(each) for each in found]
        code = np.array([each for of_item in found for each in of_item], np.int64)
        self._attributes[column] = Attributes(offsets_of(counts), code, len(codes))
        return self._attributes[column]


def _cell_attributes(column: str, value: object, is_flag: bool) -> Iterable[str]:
    """What a cell says: a text, several between |, a list of them; in a column of 0 and 1, the column itself."""
    if is_empty_cell(value):
        return ()
    if is_flag:
        return (column,) if str(value) in ("1", "1.0", "True") else ()
    several = value if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) else [value]
    texts = [number_text(each) if isinstance(each, float) else str(each) for each in several]
    parts = (part.strip() for text in texts for part in text.split("|"))
    return [f"{column}={part}" for part in parts if part not in _EMPTY]
