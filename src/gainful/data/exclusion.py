"""Documents removed from runs before ranks are counted, such as items already seen, by query or user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.io.formats import Reading, first_line, format_of
from gainful.io.readers import read_rows
from gainful.io.rows import DocumentColumns, FrameRows, Rows, is_frame
from gainful.io.sources import Source, as_source, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Ints
from gainful.kernel.core import default_threads

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Any supported description of excluded documents by query; judgments and runs are DocumentColumns.
ExclusionLike: TypeAlias = "Exclusion | DocumentColumns | Source | Mapping[Any, Any] | Frame"

_RUN_FIELDS = 6


class Exclusion:
    """Documents to remove from the lists of queries (or users).

    >>> Exclusion.of({"anna": ["d1", "d2"], "bert": ["d1"]}).size
    3
    """

    def __init__(self, pairs: Rows) -> None:
        pairs = pairs.by_query_id()
        self.name = pairs.origin.name
        self._place = {query: place for place, query in enumerate(pairs.query_ids)}
        self._index = core.JudgmentIndex(list(pairs.query_ids), pairs.query, *pairs.document)
        #: Number of pairs of query and document.
        self.size = int(self._index.item_offsets[-1])

    @classmethod
    def of(cls, value: ExclusionLike, columns: Mapping[str, str] | None = None) -> Exclusion:
        """Return an exclusion from a file of judgments or runs in any format, a dict of lists by query, or a frame."""
        return value if isinstance(value, Exclusion) else cls(read_pairs(value, columns, "exclude"))

    def find(self, query_ids: Sequence[bytes], offsets: Ints, columns: DocumentColumns, threads: int = 1) -> Ints:
        """Return the rows to remove from lists; rows of query i are ``offsets[i] : offsets[i + 1]``."""
        place = np.fromiter((self._place.get(each, -1) for each in query_ids), np.int64, len(query_ids))
        return self._index.find_hits(place, offsets, *columns.document_spans, threads)[0]


def read_pairs(value: object, columns: Mapping[str, str] | None, what: str) -> Rows:
    """Read pairs of query and document; ``what`` names a value that is not a file in messages."""
    if isinstance(value, DocumentColumns):
        return Rows(value.query_ids, value.query_of_rows, value.document_spans, None, FrameRows(value.name))
    how = Reading.checked(None, columns)._replace(pairs_only=True, threads=default_threads())
    if isinstance(value, Mapping):
        for query, documents in value.items():
            if isinstance(documents, (str, bytes)):
                raise UsageError(f"{what}: expected several documents for {query!r}, found one text, {documents!r}")
        value = {query: list(documents) for query, documents in value.items()}
    elif not is_frame(value):
        value = open_source(as_source(value, "Qrels"))
        format_ = format_of(value, how, run=True)
        if format_ == "letor" or (
            format_ == "trec" and len(re.findall(rb"[^ \t]+", first_line(value.head))) != _RUN_FIELDS
        ):
            return read_rows(value, how, run=False)
        if format_ == "jsonl":
            try:
                return read_rows(value, how, run=True)
            except InputError:  # lines may also hold a query with its judgments
                return read_rows(value, how, run=False)
    pairs = read_rows(value, how, run=True, name=what)
    if not pairs.query_ids:
        raise InputError(f"{pairs.origin.name}: no ranked documents")
    return pairs
