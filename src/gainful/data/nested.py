"""Entries (one a query, from dicts and JSON) gathered into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.core import core
from gainful.data.ids import read_id, read_value
from gainful.errors import InputError
from gainful.io.rows import Entry, Spans


class Nested(NamedTuple):
    """All entries as columns, grouped by query in the order in which queries first came."""

    query_ids: list[bytes]
    offsets: Ints  # rows of query i are offsets[i] : offsets[i + 1]
    document: Spans
    value: Floats | None


def gather_entries(entries: Iterable[Entry], name: str, what: str) -> Nested:
    """The columns of entries; ``what`` their values are: grades or scores."""
    by_query: dict[bytes, list[Entry]] = {}
    for entry in entries:
        query = read_id(entry.query, f"{entry.where}: query")
        known = by_query.setdefault(query, [])
        if known and not (entry.is_row and known[0].is_row):
            raise InputError(f"{entry.where}: expected every query once, found {entry.query!r} again")
        known.append(entry)
    ordered = [entry for of_query in by_query.values() for entry in of_query]
    counts = [sum(len(entry.documents) for entry in of_query) for of_query in by_query.values()]
    return Nested(
        list(by_query),
        np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64),
        _documents(ordered),
        _values(ordered, name, what),
    )


def _documents(entries: Sequence[Entry]) -> Spans:
    data, start, length, bad = core.pack_ids(list(chain.from_iterable(entry.documents for entry in entries)))
    if bad >= 0:
        entry, place = _entry_of(entries, bad)
        read_id(entry.documents[place], entry.where)  # says what is wrong
    return data, start, length


def _values(entries: Sequence[Entry], name: str, what: str) -> Floats | None:
    with_values = [entry for entry in entries if entry.values is not None]
    if len(with_values) < sum(1 for entry in entries if entry.documents):
        if any(entry.documents for entry in with_values):
            raise InputError(f"{name}: expected {what}s for all documents or for none, found some lists without them")
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
        read_value(value, entry.where if entry.is_row else f"{entry.where}[{document!r}]", what)
        for document, value in zip(entry.documents, entry.values or (), strict=True)
    ]


def _entry_of(entries: Sequence[Entry], row: int) -> tuple[Entry, int]:
    for entry in entries:
        if row < len(entry.documents):
            return entry, row
        row -= len(entry.documents)
    raise IndexError(row)
