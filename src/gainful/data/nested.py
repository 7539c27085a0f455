"""Entries (one a query, from dicts and JSON) gathered into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.errors import InputError
from gainful.io.objects import read_id, read_value
from gainful.io.origin import NamedRows
from gainful.io.rows import Entry, Spans, packed


class Nested(NamedTuple):
    """All entries as columns, in their order."""

    query_ids: list[bytes]
    offsets: Ints  # rows of query i are offsets[i] : offsets[i + 1]
    document: Spans
    value: Floats | None
    origin: NamedRows


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
    entry_of = np.repeat(np.arange(len(ordered)), counts)
    item = np.arange(1, entry_of.size + 1) - offsets[entry_of]
    return Nested(
        list(by_query),
        offsets,
        packed(
            list(chain.from_iterable(entry.documents for entry in ordered)), lambda row: ordered[entry_of[row]].where
        ),
        _values(ordered, what),
        NamedRows(name, entry_of, tuple(entry.where for entry in ordered), item),
    )


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
    if {type(value) for value in values} <= {int, float}:
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
