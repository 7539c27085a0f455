"""Information about items (documents) other than judgments: the catalogue, attributes, and past interactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gainful.data.exclusion import ExclusionLike, read_pairs
from gainful.data.lists import gather
from gainful.errors import InputError, UsageError
from gainful.io.columns import NAMES, Names, folded
from gainful.io.records import is_empty_cell, name_of_table, number_of_cell, rows_by_id
from gainful.io.sources import Source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, offsets_of
from gainful.notation import nearest, number_text, printable

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Any supported table with one row per item, or attributes by item.
ItemsLike: TypeAlias = "Source | Mapping[Any, Any] | Iterable[Any] | Frame"

_NAMES: Names = {"document": (*NAMES["document"], "id")}
#: Words in names of columns of lengths, by the unit of a budget: t finds tokens and n_tokens.
_LENGTHS = {"t": "token", "c": "char", "w": "word", "s": "second"}
#: Columns that identify items instead of describing shared attributes.
_TEXTS = ("title", "name", "text", "description", "url")
#: Possible cells of a column that flags the attribute in its name with 1.
_FLAGS = (None, "", "0", "1", 0, 1)
#: Empty cells; the longer one is MovieLens's.
_EMPTY = ("", "(no genres listed)")


class Attributes(NamedTuple):
    """Attributes of items: those of item i are ``code[offsets[i] : offsets[i + 1]]``, ascending, below ``kinds``."""

    offsets: Ints
    code: Ints
    kinds: int

    def has(self, item: Ints) -> Bools:
        return np.append(np.diff(self.offsets), 0)[np.minimum(item, self.offsets.size - 1)] > 0

    def shared(self, one: Ints, other: Ints) -> Ints:
        """Return the number of attributes shared by each pair of items."""
        keys = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets)) * self.kinds + self.code
        pair, place = gather(self.offsets, one)
        wanted = other[pair] * self.kinds + self.code[place]
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.bincount(pair[keys[at] == wanted], minlength=one.size) if keys.size else np.zeros(one.size, np.int64)


class Items:
    """A catalogue of numbered items: those of a table, or without one all in the training table.

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
        self.name = name_of_table(table if table is not None else training, "items")
        if isinstance(table, Mapping):
            table = {key: each if isinstance(each, Mapping) else {"attributes": each} for key, each in table.items()}
        rows = {} if table is None else rows_by_id(table, self.name, _NAMES, called.get("items", {}), "item")
        if table is not None and not rows:
            raise InputError(f"{self.name}: the table of items is empty")
        #: The table's row of each item.
        self._about = {
            item: record._replace(values={n: cell for n, cell in record.values.items() if n != columns["document"]})
            for item, (record, columns) in rows.items()
        }
        users: Sequence[bytes] = ()
        ids: Sequence[bytes] = ()
        user = item = np.zeros(0, np.int64)
        if training is not None:
            had = read_pairs(training, called.get("training", {}), "training")
            users, user = had.query_ids, had.query
            ids, item = core.number_ids(*had.document)
        #: IDs of all known items; the first ``catalogue`` of them are the catalogue.
        self.ids: list[bytes] = list(dict.fromkeys([*self._about, *ids]))
        self.catalogue = len(self._about) or len(self.ids)
        self.has_attributes, self.has_training = table is not None, training is not None
        self._attributes: dict[str | None, Attributes] = {}
        self._lengths: dict[str, Floats] = {}
        self._user_place = {each: place for place, each in enumerate(users)}
        # Count repeated interactions once.
        pairs = np.unique(user * len(self.ids) + self.places(ids)[item])
        self._taken = pairs % max(1, len(self.ids))
        self._user_offsets = np.searchsorted(pairs, np.arange(len(users) + 1) * len(self.ids))

    @cached_property
    def _place(self) -> dict[bytes, int]:
        return {each: place for place, each in enumerate(self.ids)}

    def places(self, ids: Sequence[bytes]) -> Ints:
        """Return the numbers of items; unknown ones are numbered after all others."""
        found = np.array([self._place.get(each, -1) for each in ids], np.int64)
        unknown = found < 0
        found[unknown] = len(self.ids) + np.arange(np.count_nonzero(unknown))
        return found

    @property
    def users(self) -> int:
        return len(self._user_place)

    @property
    def interactions(self) -> int:
        return int(self._taken.size)

    @cached_property
    def taken_by(self) -> Ints:
        return np.bincount(self._taken, minlength=len(self.ids))

    def history(self, users: Sequence[bytes]) -> tuple[Ints, Ints]:
        """Return the positions of users and the items they had, as pairs."""
        places = np.array([self._user_place.get(each, self.users) for each in users], np.int64)
        row, place = gather(np.append(self._user_offsets, self._user_offsets[-1]), places)
        return row, self._taken[place]

    def lengths(self, unit: str) -> Floats:
        """Return the items' lengths in the column that a unit names, NaN if unknown."""
        if unit in self._lengths:
            return self._lengths[unit]
        known, word = self._columns, _LENGTHS.get(unit)
        names = [unit] if unit in known else [name for name in known if word and word in folded(name)]
        if len(names) != 1:
            expected = f"expected one column of lengths in '{unit}', found {', '.join(names or known) or 'none'}"
            raise UsageError(f"{self.name}: {expected}", "name the column: nDCG@4000n_tokens or TBG(column=n_words)")
        lengths = np.full(len(self.ids), np.nan)
        for place, record in enumerate(self._about.values()):
            if not is_empty_cell(record.values.get(names[0])):
                lengths[place] = length = number_of_cell(record, names[0])
                if length < 0:
                    raise InputError(f"{record.where}: {names[0]}: expected at least 0, found {number_text(length)}")
        return self._lengths.setdefault(unit, lengths)  # complete before other threads see it

    @cached_property
    def _columns(self) -> list[str]:
        return [name for name in dict.fromkeys(key for each in self._about.values() for key in each.values) if name]

    def attributes(self, column: str | None) -> Attributes:
        """Return the attributes in a column of the table, or in all columns except titles and the like."""
        if column in self._attributes:
            return self._attributes[column]
        records, names = [each.values for each in self._about.values()], self._columns
        if column is not None and column not in names:
            listed = f"no column '{printable(column)}' in {self.name}; columns: {', '.join(names) or 'none'}"
            raise UsageError(f"by: {listed}", nearest(column, names))
        chosen = [column] if column is not None else [name for name in names if folded(name) not in _TEXTS]
        flags = {name for name in chosen if all(each.get(name) in _FLAGS for each in records)}
        codes: dict[str, int] = {}
        found: list[list[int]] = []
        for values in records:
            cells = (_cell_attributes(name, values.get(name), name in flags) for name in chosen)
            found.append(sorted({codes.setdefault(each, len(codes)) for cell in cells for each in cell}))
        if not codes:
            raise InputError(f"{self.name}: no attributes of items, such as genres")
        counts = np.zeros(len(self.ids), np.int64)
        counts[: len(found)] = [len(each) for each in found]
        code = np.array([each for of_item in found for each in of_item], np.int64)
        self._attributes[column] = Attributes(offsets_of(counts), code, len(codes))
        return self._attributes[column]


def _cell_attributes(column: str, value: object, is_flag: bool) -> Iterable[str]:
    """Return the attributes in a cell: a text, several separated by |, a list, or the name of a flag column."""
    if is_empty_cell(value):
        return ()
    if is_flag:
        return (column,) if str(value) in ("1", "1.0", "True") else ()
    several = value if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) else [value]
    texts = [number_text(each) if isinstance(each, float) else str(each) for each in several]
    parts = (part.strip() for text in texts for part in text.split("|"))
    return [f"{column}={part}" for part in parts if part not in _EMPTY]
