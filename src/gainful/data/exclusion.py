"""Documents that are left out of runs before ranks are counted: what a user has already seen, by query or user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunLike
from gainful.data.run_blocks import RunBlocks
from gainful.errors import InputError, UsageError
from gainful.io.formats import Reading, first_line, format_of, read_content
from gainful.io.rows import Rows, Spans, is_frame
from gainful.io.sources import Source, as_source, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes, Floats, Ints
from gainful.kernel.core import default_threads

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Whatever says which documents of which queries are left out.
ExclusionLike: TypeAlias = "Exclusion | Qrels | Run | Source | Mapping[Any, Any] | Frame"

_RUN_FIELDS = 6


class Exclusion:
    """Queries (or users) with documents that are left out of their lists.

    >>> seen = Exclusion.of({"anna": ["d1"]})
    >>> run = seen.unseen(Run.from_dict({"anna": ["d1", "d2"], "bert": ["d1"]}))
    >>> run.excluded.tolist(), [run.document(row) for row in range(len(run))]
    ([1, 0], [b'd2', b'd1'])
    """

    def __init__(self, name: str, query_ids: Sequence[bytes], query: Ints, documents: Spans) -> None:
        if any(one > other for one, other in pairwise(query_ids)):
            order = sorted(range(len(query_ids)), key=query_ids.__getitem__)
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            query_ids, query = [query_ids[at] for at in order], place[query]
        self.name = name
        self._place = dict(zip(query_ids, range(len(query_ids)), strict=True))
        self._index = core.JudgmentIndex(list(query_ids), query, *documents)
        #: How many pairs of query and document there are.
        self.size = int(self._index.item_offsets[-1])

    @classmethod
    def of(cls, value: ExclusionLike, columns: Mapping[str, str] | None = None) -> Exclusion:
        """From a file in any format of judgments or runs, a dict of documents by query, or a data frame."""
        return value if isinstance(value, Exclusion) else cls(*read_pairs(value, columns, "exclude"))

    def unseen(self, run: Run, threads: int = 1) -> Run:
        """A run without the documents that are left out."""
        kept = np.ones(len(run), bool)
        kept[self._found(run.query_ids, run.list_offsets, run, threads)] = False
        before = np.concatenate(([0], np.cumsum(kept)))
        ranked = replace(run, rank=_closed_up(run, ~kept)) if run.has_ranks else run
        left = ranked.with_rows(np.flatnonzero(kept), before[run.list_offsets])
        excluded = np.diff(run.list_offsets) - np.diff(left.list_offsets)
        return replace(left, excluded_by=self, excluded=excluded).read_from(run.name)

    def of_run(self, run: RunLike) -> RunLike:
        """A run that is still to be read, without the documents that are left out."""
        return replace(run, change=self.unseen) if isinstance(run, RunBlocks) else UnseenRun(run, self)

    def judged_grades(self, qrels: Qrels) -> Counter[float]:
        """The grades of judged documents that are left out, so that no list can have them: how often there is each."""
        ids = [qrels.query_ids[at] for at in qrels.query.tolist()]
        return Counter(qrels.grade[self._found(ids, np.arange(len(ids) + 1), qrels)].tolist())

    def _found(self, query_ids: Sequence[bytes], offsets: Ints, columns: Qrels | Run, threads: int = 1) -> Ints:
        """The rows of lists that are to be left out."""
        place = np.fromiter((self._place.get(each, -1) for each in query_ids), np.int64, len(query_ids))
        spans: tuple[Bytes, Ints, Ints] = columns.data, columns.document_start, columns.document_length
        return self._index.find_hits(place, offsets, *spans, threads)[0]


def read_pairs(value: object, columns: Mapping[str, str] | None, what: str) -> tuple[str, Sequence[bytes], Ints, Spans]:
    """Pairs of query and document: what messages call them, the queries, and row by row query and document.

    ``what`` is what messages call a value that is no file.
    """
    found, name = (value, "") if isinstance(value, (Qrels, Run)) else _read(value, Reading.checked(None, columns), what)
    if isinstance(found, Rows):
        return name, *core.number_ids(*found.query), found.document
    documents = found.data, found.document_start, found.document_length
    if isinstance(found, Qrels):
        return found.name, found.query_ids, found.query, documents
    query = np.repeat(np.arange(len(found.query_ids)), np.diff(found.list_offsets))
    return found.name, found.query_ids, query, documents


def _read(value: object, how: Reading, what: str) -> tuple[Qrels | Run | Rows, str]:
    """The pairs of query and document, as they stand: lists would have to be sorted."""
    how = how._replace(pairs_only=True)
    if isinstance(value, Mapping):
        for query, documents in value.items():
            if isinstance(documents, (str, bytes)):
                raise UsageError(f"{what}: expected several documents for {query!r}, found one text, {documents!r}")
        return Run.from_dict({query: list(documents) for query, documents in value.items()}, name=what), what
    if is_frame(value):
        from gainful.io.frames import read_frame

        return read_frame(value, how.columns, run=True, name=what, pairs_only=True), what
    text = open_source(as_source(value, "Qrels"))
    name = format_of(text, how, run=True)
    if name == "letor" or (name == "trec" and len(first_line(text.head).split()) != _RUN_FIELDS):
        return Qrels.read(text), text.name
    try:
        content, source = read_content(text, how, run=True)
        if isinstance(content, Rows) and content.query[1].size:
            return content, source
        return Run.of_content(content, source, default_threads()), source
    except InputError:
        if name != "jsonl":
            raise
        return Qrels.read(text), text.name  # a query with its judgments a line


def _closed_up(run: Run, gone: Bools) -> Floats:
    """The rank column as it is without some of the rows: each rank is lower by those that stood above it."""
    counts = np.diff(run.list_offsets)
    falls = np.diff(run.rank) < 0
    falls[run.list_offsets[1:-1][(counts[:-1] > 0) & (run.list_offsets[1:-1] < len(run))] - 1] = False
    order = np.lexsort((run.rank, np.repeat(np.arange(counts.size), counts))) if falls.any() else slice(None)
    above = np.concatenate(([0], np.cumsum(gone[order])))
    rank = run.rank.copy()
    rank[order] -= above[:-1] - np.repeat(above[run.list_offsets[:-1]], counts)
    return rank


@dataclass(frozen=True, eq=False)
class UnseenRun:
    """A run that is still to be read, and what is to be left out of it."""

    run: RunLike
    exclusion: Exclusion

    def read_unseen(self) -> Run:
        """The run without it."""
        return self.exclusion.unseen(Run.of(self.run), default_threads())
