"""A system's ranked lists as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful.arrays import Bytes, Floats, Ints, freeze
from gainful.core import core, default_threads
from gainful.data.ids import pack, read_id, read_value
from gainful.errors import InputError
from gainful.io.sources import Source, open_source
from gainful.io.trec import raise_faults
from gainful.notation import text_of_id

_NONE: Floats = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Run:
    """A system's ranked lists, one per query, rows as they came. Immutable.

    A run from dicts of scores, from lists of documents in rank order (it has no scores then and is ordered as given),
    or from TREC text:

    >>> Run.from_dict({"q1": {"d1": 2.5, "d2": 1}, "q2": {}}).queries
    ['q1', 'q2']
    >>> Run.from_dict({"q1": ["d3", "d1"]}).has_scores
    False
    """

    name: str
    query_ids: tuple[bytes, ...]
    list_offsets: Ints = field(repr=False)  # rows of query i are list_offsets[i] : list_offsets[i + 1]
    data: Bytes = field(repr=False)
    document_start: Ints = field(repr=False)
    document_length: Ints = field(repr=False)
    score: Floats = field(repr=False)  # empty when the format has none
    rank: Floats = field(default_factory=lambda: _NONE, repr=False)  # empty when there is no such column
    line: Ints | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze(self.list_offsets, self.document_start, self.document_length, self.score, self.rank)

    @classmethod
    def read(cls, source: Source, *, threads: int | None = None) -> Run:
        """A run from TREC text (``query Q0 document rank score tag``): a path, ``-`` or bytes, maybe compressed."""
        text = open_source(source)
        columns = core.read_run(text.data, threads or default_threads())
        raise_faults(text.name, text.data, columns["faults"], columns["fault_count"], run=True)
        if not columns["score"].size:
            raise empty_run(text.name)
        return cls(
            text.name,
            tuple(columns["query_ids"]),
            columns["list_offsets"],
            text.data,
            columns["document_start"],
            columns["document_length"],
            columns["score"],
            columns["rank"],
            columns["line"],
        )

    @classmethod
    def from_dict(cls, lists: Mapping[Any, Any], *, name: str = "<dict>") -> Run:
        """A run from ``{query: {document: score}}`` or ``{query: [document, ...]}``; a list may be empty."""
        ids: dict[bytes, int] = {}
        documents: list[bytes] = []
        scores: list[float] = []
        counts = [0]
        for query, ranked in lists.items():
            where = f"{name}[{query!r}]"
            query_id = read_id(query, f"{name}: query")
            if query_id in ids:
                raise InputError(f"{where}: expected every query once, found it again")
            ids[query_id] = len(ids)
            documents += _documents(ranked, where)
            if isinstance(ranked, Mapping):
                scores += [read_value(s, f"{where}[{d!r}]", "score") for d, s in ranked.items()]
            counts.append(len(documents))
        if not ids:
            raise empty_run(name)
        if scores and len(scores) < len(documents):
            raise InputError(f"{name}: expected scores for all documents or for none, found some lists without them")
        return cls(name, tuple(ids), np.array(counts, np.int64), *pack(documents), np.array(scores, np.float64))

    @classmethod
    def of(cls, value: Run | Source | Mapping[Any, Any]) -> Run:
        """A run from whatever describes it: itself, a dict, a path or bytes."""
        if isinstance(value, Run):
            return value
        return cls.from_dict(value) if isinstance(value, Mapping) else cls.read(value)

    def __len__(self) -> int:
        return int(self.list_offsets[-1])

    @property
    def queries(self) -> list[str]:
        """The answered queries."""
        return [text_of_id(identifier) for identifier in self.query_ids]

    @property
    def has_scores(self) -> bool:
        """Whether the rows carry scores; a run without any rows does not lack them."""
        return len(self.score) == len(self)

    @property
    def has_ranks(self) -> bool:
        """Whether there is a rank column."""
        return len(self.rank) == len(self)

    def document(self, row: int) -> bytes:
        """The document id of a row."""
        start = int(self.document_start[row])
        return self.data[start : start + int(self.document_length[row])].tobytes()

    def query_of(self, row: int) -> bytes:
        """The query id of a row."""
        return self.query_ids[int(np.searchsorted(self.list_offsets, row, "right")) - 1]


def empty_run(name: str) -> InputError:
    """What is said of a run without a single list."""
    return InputError(f"{name}: expected at least one ranked document, found none")


def _documents(ranked: object, where: str) -> list[bytes]:
    # A set, or anything else that has no order of its own, is not a ranking.
    if isinstance(ranked, (str, bytes)) or not isinstance(ranked, (Mapping, Sequence, np.ndarray)):
        raise InputError(f"{where}: expected a dict of documents and scores or a list of documents, found {ranked!r}")
    return [read_id(document, where) for document in ranked]
