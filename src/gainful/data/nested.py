"""Entries (one a query, from dicts and JSON) gathered into columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.core import core
from gainful.errors import InputError
from gainful.io.objects import read_id, read_value
from gainful.io.origin import ItemRows
from gainful.io.rows import Entry, Spans, packed


class Nested(NamedTuple):
    """All entries as columns, in their order."""

    query_ids: list[bytes]
    offsets: Ints  # rows of query i are offsets[i] : offsets[i + 1]
    document: Spans
    value: Floats | None
    origin: ItemRows
    all_texts: bool = False  # whether all document ids are known to have been texts


def gather_dicts(dicts: Mapping[Any, Any], name: str) -> Nested | None:
    """The columns of ``{query: {document: value}}`` in one go; None where a closer look has to be taken."""
    columns = core.pack_dicts(list(dicts.values()))
    if columns is None:
        return None
    try:
        query_ids = [read_id(query, name) for query in dicts]
    except InputError:
        return None
    if len(set(query_ids)) < len(query_ids):
        return None
    data, start, length, value, offsets, all_texts = columns
    places = [place_in(name, query) for query in dicts]
    return Nested(query_ids, offsets, (data, start, length), value, ItemRows(name, offsets, places), all_texts)


def place_in(name: str, query: object) -> str:
    """What a query's entry in a dict is called."""
    return f"{name}[{query!r}]"


def gather_entries(entries: Iterable[Entry], name: str, what: str) -> Nested:
    """The columns of entries; ``what`` their values are: grades or scores."""
    by_query: dict[bytes, Entry] = {}
    for entry in entries:
        query = read_id(entry.query, f"{entry.where}: query")
        if query in by_query:
            raise InputError(f"{entry.where}: expected every query once, found {entry.query!r} again")
        by_query[query] = entry
    ordered = list(by_query.values())
    counts = np.array([len(entry.documents) for entry in ordered], np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    origin = ItemRows(name, offsets, [entry.where for entry in ordered])
    documents = list(chain.from_iterable(entry.documents for entry in ordered))
    spans = packed(documents, lambda row: ordered[origin.place_of(row)].where)
    return Nested(list(by_query), offsets, spans, _values(ordered, what), origin)


def _values(entries: Sequence[Entry], what: str) -> Floats | None:
    with_values = [entry for entry in entries if entry.values is not None]
    without = next((entry for entry in entries if entry.documents and entry.values is None), None)
    if without is not None:
        if any(entry.documents for entry in with_values):
            raise InputError(
                f"{without.where}: expected {what}s for all documents or for none, found a list without them after "
                "others with them"
            )
        return None
    values = list(chain.from_iterable(entry.values or () for entry in with_values))
    if all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in set(map(type, values))):
        try:
            numbers = np.array(values, np.float64)
        except OverflowError:
            numbers = np.full(1, np.nan)
        if np.isfinite(numbers).all():
            return numbers
    return np.array([number for entry in with_values for number in _numbers(entry, what)], np.float64)


def _numbers(entry: Entry, what: str) -> list[float]:
    return [
        read_value(value, f"{entry.where}[{document!r}]", what)
        for document, value in zip(entry.documents, entry.values or (), strict=True)
    ]
