"""Judged documents by query and id, in pure Python; and documents that come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gainful._pure_text import ids_at, ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gainful._core import Bytes, Ints


class JudgmentIndex:
    """Looks up judged documents by query and document id."""

    def __init__(
        self, query_ids: list[bytes], query: Ints, data: Bytes, document_start: Ints, document_length: Ints
    ) -> None:
        documents = ids_at(data, document_start, document_length)
        if len(query) != len(documents) or np.any((query < 0) | (query >= len(query_ids))):
            raise ValueError("each row needs the position of its query")
        require_distinct(query_ids)
        numbers: list[dict[bytes, int]] = [{} for _ in query_ids]
        within = [
            numbers[at].setdefault(document, len(numbers[at]))
            for at, document in zip(query.tolist(), documents, strict=True)
        ]
        self._item_offsets = offsets_of(ints([len(of_query) for of_query in numbers]))
        self._item = ints(within) + self._item_offsets[query]
        # Query id -> its first item, and the numbers of its documents counted from there; in the order of query_ids.
        self._judged = dict(zip(query_ids, zip(self._item_offsets.tolist(), numbers, strict=False), strict=True))

    @property
    def item(self) -> Ints:
        """Row -> item."""
        return self._item

    @property
    def item_offsets(self) -> Ints:
        """Where each query's items start."""
        return self._item_offsets

    def find_hits(
        self, query: Ints, list_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
    ) -> tuple[Ints, Ints, Ints, bool]:
        """The judged documents of some lists: row, list and item; and whether a list has a document twice."""
        documents = ids_at(data, document_start, document_length)
        require_offsets(list_offsets, len(documents))
        judged: list[tuple[int, dict[bytes, int]]] = list(self._judged.values())
        if len(query) + 1 != len(list_offsets) or np.any(query >= len(judged)):
            raise ValueError("each list needs the position of its query")
        judged.append((0, {}))  # of a list without judgments: -1 is the last place
        of_row = np.repeat(np.arange(len(query)), np.diff(list_offsets))
        by_row = np.maximum(query, -1)[of_row].tolist()
        items = [
            judged[at][0] + judged[at][1].get(document, -1 - judged[at][0])
            for at, document in zip(by_row, documents, strict=True)
        ]
        place = ints([row for row, item in enumerate(items) if item >= 0])
        has_repeats = bool(find_repeats(list_offsets, data, document_start, document_length, threads).any())
        return place, of_row[place], ints([items[row] for row in place.tolist()]), has_repeats


def find_repeats(
    group_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
) -> NDArray[np.bool_]:
    """Whether each id stands before in its group."""
    documents = ids_at(data, document_start, document_length)
    require_offsets(group_offsets, len(documents))
    repeats = np.zeros(len(documents), bool)
    for begin, end in zip(group_offsets[:-1].tolist(), group_offsets[1:].tolist(), strict=True):
        seen: set[bytes] = set()
        for i in range(begin, end):
            repeats[i] = documents[i] in seen
            seen.add(documents[i])
    return repeats


def require_offsets(offsets: Ints, rows: int) -> None:
    """Refuses offsets that do not ascend from 0 to the number of rows."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != rows or np.any(np.diff(offsets) < 0):
        raise ValueError("the list offsets do not fit the rows")


def require_distinct(query_ids: list[bytes]) -> None:
    """Refuses ids that repeat."""
    if len(set(query_ids)) < len(query_ids):
        raise ValueError("the query ids are not distinct")


def offsets_of(sizes: Ints) -> Ints:
    """Where each of several consecutive groups starts, and where the last one ends."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
