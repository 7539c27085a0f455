"""A system's ranked lists as columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.data.lists import gather
from gainful.errors import InputError, UsageError
from gainful.io.formats import Content, Reading, RunFile, read_content
from gainful.io.rows import (
    ArrowFrame,
    DocumentColumns,
    Entry,
    Frame,
    Nested,
    Origin,
    Rows,
    TextLines,
    gather_dicts,
    gather_entries,
    is_frame,
    place_in,
    raise_faults,
    wanted_ids,
)
from gainful.io.sources import Source, Text, as_source
from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats, Ints, freeze
from gainful.kernel.core import default_threads, thread_count
from gainful.notation import count_of, printable

if TYPE_CHECKING:
    from gainful.data.exclusion import Exclusion, UnseenRun
    from gainful.data.run_blocks import RunBlocks

_NONE: Floats = np.zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class Run(DocumentColumns):
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
    list_offsets: Ints  # rows of query i are list_offsets[i] : list_offsets[i + 1]
    data: Bytes
    document_start: Ints
    document_length: Ints
    score: Floats  # empty when the format has none
    rank: Floats = field(default_factory=lambda: _NONE)  # empty when there is no such column
    origin: Origin | None = None  # where each row stands
    excluded_by: Exclusion | None = None  # what was left out, and how many rows of each list
    excluded: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    notes: tuple[str, ...] = ()  # what was done to read it

    def __post_init__(self) -> None:
        freeze(self.list_offsets, self.document_start, self.document_length, self.score, self.rank)

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - it is what people call it
        columns: Mapping[str, str] | None = None,
        feature: int | None = None,
        threads: int | None = None,
    ) -> Run:
        """A run from a path, ``-``, bytes or NTCIR's folder.

        The format is recognised unless given; ``columns`` maps the roles query, document, score and rank to the names
        that a header has for them; ``feature`` is the LETOR feature that is the score.
        """
        how = Reading.checked(format, columns, feature)
        return cls.of_content(*read_content(source, how, run=True), thread_count(threads))

    @classmethod
    def of_content(cls, content: Content, name: str, threads: int = 1) -> Run:
        """A run from what a source holds."""
        run = cls._of_text(content, threads) if isinstance(content, Text) else cls._in_memory(content, name)
        return run.read_from(name)

    @classmethod
    def _in_memory(cls, content: Rows | Iterable[Entry], name: str) -> Run:
        if isinstance(content, Rows):
            return cls.from_rows(content, name)
        return cls.of_nested(gather_entries(content, name, "score"), name)

    @classmethod
    def from_objects(
        cls, objects: Sequence[Any], *, columns: Mapping[str, str] | None = None, name: str = "<list>"
    ) -> Run:
        """A run from a list of dicts as JSON lines have them: a query with its results each, or a row of a table.

        >>> Run.from_objects([{"question": "who?", "results": [{"chunk_id": "c1", "similarity": 0.9}]}])
        <Run <list>: 1 query, 1 document>
        """
        from gainful.io.json_text import read_objects

        return cls._in_memory(read_objects(objects, name, Reading.checked(columns=columns), run=True), name)

    @classmethod
    def from_rows(cls, rows: Rows, name: str, *, together: bool = False) -> Run:
        """A run from rows of whatever source; ``together`` refuses those of a query that others stand between."""
        query_ids, query = core.number_ids(*rows.query)
        if together and np.count_nonzero(query[1:] != query[:-1]) >= len(query_ids):
            begins = np.flatnonzero(np.diff(query, prepend=-1))
            again = np.setdiff1d(begins, np.unique(query, return_index=True)[1])
            raise not_together(rows.origin.where(int(again[0])), query_ids[int(query[again[0]])])
        if not query.size:
            raise empty_run(name)
        data, start, length = rows.document
        score, rank = (_NONE if column is None else column for column in (rows.value, rows.rank))
        origin = rows.origin
        if np.any(query[1:] < query[:-1]):
            order = np.argsort(query, kind="stable")
            start, length, origin = start[order], length[order], origin.take(order)
            score, rank = (column[order] if column.size else column for column in (score, rank))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(query)))).astype(np.int64)
        return cls(name, tuple(query_ids), offsets, data, start, length, score, rank, origin, notes=rows.notes)

    @classmethod
    def without_lists(cls, name: str) -> Run:
        """A run that answers nothing: what a part of the queries may get from it."""
        none = np.zeros(0, np.int64)
        return cls(name, (), np.zeros(1, np.int64), np.zeros(0, np.uint8), none, none, _NONE)

    @classmethod
    def from_frame(cls, frame: Frame, *, columns: Mapping[str, str] | None = None, name: str = "<frame>") -> Run:
        """A run from a data frame with columns for query, document and score or rank: pandas, polars, pyarrow, ...

        ``columns`` maps roles to names that are not understood by themselves, such as ``{"score": "similarity"}``.
        """
        from gainful.io.frames import frame_content

        return cls._in_memory(frame_content(frame, Reading.checked(columns=columns), run=True, name=name), name)

    @classmethod
    def _of_text(cls, text: Text, threads: int) -> Run:
        columns = core.read_run(text.data, threads)
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
            TextLines(text.name, text.data, columns["line"]),
        )

    @classmethod
    def from_dict(cls, lists: Mapping[Any, Any], *, name: str = "<dict>") -> Run:
        """A run from ``{query: {document: score}}`` or ``{query: [document, ...]}``; a list may be empty.

        Items may also be ``(document, score)`` or ``{"id": document, "score": score}``.
        """
        gathered = gather_dicts(lists, name)
        if gathered is None:
            entries = (_entry(query, ranked, name) for query, ranked in lists.items())
            gathered = gather_entries(entries, name, "score")
        return cls.of_nested(gathered, name)

    @classmethod
    def of_nested(cls, gathered: Nested, name: str) -> Run:
        """A run from gathered entries."""
        if not gathered.query_ids:
            raise empty_run(name)
        score = _NONE if gathered.value is None else gathered.value
        return cls(name, tuple(gathered.query_ids), gathered.offsets, *gathered.document, score, origin=gathered.origin)

    @classmethod
    def of(cls, value: RunLike) -> Run:
        """A run from whatever describes it: itself, a dict, a data frame, a path or bytes."""
        run = cls.in_memory(value)
        if run is not None:
            return run
        return cls.of_content(*RunFile.of(value).content(), default_threads())

    @classmethod
    def in_memory(cls, value: RunLike, name: str | None = None) -> Run | None:
        """The run that a value holds, if it is not one that has to be read."""
        if isinstance(value, Run):
            return value
        if hasattr(value, "read_unseen"):  # loaded only where something is left out
            return value.read_unseen()
        if isinstance(value, Mapping):
            return cls.from_dict(value, name=name or "<dict>")
        if isinstance(value, (list, tuple)):
            return cls.from_objects(value, name=name or "<list>")
        return cls.from_frame(value, name=name or "<frame>") if is_frame(value) else None

    def __len__(self) -> int:
        return int(self.list_offsets[-1])

    def __repr__(self) -> str:
        queries = count_of(len(self.query_ids), "query", "queries")
        return f"<Run {printable(self.name, 80)}: {queries}, {count_of(len(self), 'document')}>"

    @property
    def has_scores(self) -> bool:
        """Whether the rows carry scores; a run without any rows does not lack them."""
        return len(self.score) == len(self)

    @property
    def has_ranks(self) -> bool:
        """Whether there is a rank column."""
        return len(self.rank) == len(self)

    @property
    def exclusions(self) -> int | None:
        """How many pairs of query and document were to be left out of it; None where nothing was."""
        return None if self.excluded_by is None else self.excluded_by.size

    def select(self, queries: Iterable[str | bytes | int]) -> Run:
        """The lists of some of the queries; those that the run does not answer are left out.

        >>> Run.from_dict({"q1": ["d1"], "q2": ["d2", "d3"]}).select(["q2", "q3"]).queries
        ['q2']
        """
        wanted = wanted_ids(queries, self.name, "query", "queries")
        return self.take(np.array([i for i, identifier in enumerate(self.query_ids) if identifier in wanted], np.int64))

    def take(self, kept: Ints) -> Run:
        """Some of the lists by their places, in this order."""
        _, rows = gather(self.list_offsets, kept)
        counts = self.list_offsets[kept + 1] - self.list_offsets[kept]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        return replace(
            self.with_rows(rows, offsets),
            query_ids=tuple(self.query_ids[i] for i in kept.tolist()),
            excluded=self.excluded[kept] if self.excluded.size else self.excluded,
        )

    def with_rows(self, rows: Ints, offsets: Ints) -> Run:
        """Some of the rows, which make lists that begin at ``offsets``."""
        return replace(
            self,
            list_offsets=offsets,
            document_start=self.document_start[rows],
            document_length=self.document_length[rows],
            score=self.score[rows] if self.has_scores else self.score,
            rank=self.rank[rows] if self.has_ranks else self.rank,
            origin=None if self.origin is None else self.origin.take(rows),
        )

    def query_of(self, row: int) -> bytes:
        """The query id of a row."""
        return self.query_ids[int(np.searchsorted(self.list_offsets, row, "right")) - 1]


def runs_by_name(runs: RunLike | RunsLike) -> Mapping[str, RunLike] | None:
    """The runs that a dict holds by name; None where it is one run, or a dict of queries and their documents.

    >>> runs_by_name({"q1": {"d1": 0.9}}), runs_by_name("bm25.run"), list(runs_by_name({"bm25": {"q1": {"d1": 0.9}}}))
    (None, None, ['bm25'])
    """
    if isinstance(runs, (list, tuple)) and not (runs and isinstance(runs[0], dict)):
        raise UsageError(
            f"runs: expected a run, or a dict of names and runs, found {type(runs).__name__}",
            'a run is {"q1": ["d3", "d1"]} or [{"query": "q1", "results": ["d3", "d1"]}]; several runs have names: '
            '{"bm25": run, "dense": run}',
        )
    if not isinstance(runs, Mapping):
        return None
    is_run = {name: _is_run(value) for name, value in runs.items()}
    named = next((name for name, found in is_run.items() if found), None)
    if named is None:
        return None
    query = next((name for name, found in is_run.items() if found is False), None)
    if query is not None:
        raise UsageError(
            f"runs: expected a dict of names and runs, or of queries and documents, found {named!r} with a run and "
            f"{query!r} with documents"
        )
    for name, value in runs.items():
        if isinstance(value, str) and value != "-" and not (re.search(r"[./\\]", value) or os.path.exists(value)):
            raise InputError(
                f"runs[{name!r}]: expected a run, found '{printable(value)}', which is no file",
                "the documents of a query are a list or a dict: {" + f"{name!r}: [{value!r}]" + "}",
            )
        if not isinstance(name, str):
            raise UsageError(f"runs: expected texts as names of runs, found {name!r}")
    return runs


def _is_run(value: object) -> bool | None:
    """Whether a value of a dict is a run, or what was found for a query; None of an empty dict, which may be either."""
    if isinstance(value, Mapping):
        inside = next(iter(value.values()), None)
        return None if inside is None and not value else isinstance(inside, (Mapping, list, tuple, np.ndarray))
    is_read = isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, Run, RunFile))
    return is_read or hasattr(value, "read_unseen") or is_frame(value) or holds_objects(value)


def holds_objects(value: object) -> bool:
    """Whether a value is a list of dicts as JSON lines have them, which are one run."""
    if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], dict):
        return False
    from gainful.io.json_text import is_object_of_run

    return is_object_of_run(value[0])


def with_columns(run: RunLike, columns: Mapping[str, str], name: str | None = None) -> RunLike:
    """The same run, whose columns, where it has any, are called so."""
    if not columns or isinstance(run, (Run, RunFile, Mapping)) or hasattr(run, "blocks"):
        return run
    if is_frame(run):
        return Run.from_frame(run, columns=columns, name=name or "<frame>")
    if isinstance(run, (list, tuple)):
        return Run.from_objects(run, columns=columns, name=name or "<list>")
    return RunFile(as_source(run, "a Run"), Reading.checked(columns=columns))


class UnsortedError(InputError):
    """A query has come back after its end."""


def not_together(where: str, query: bytes) -> UnsortedError:
    """What is said of a query that comes back after its end."""
    return UnsortedError(
        f"{where}: not sorted by query: expected the results of a query together, found '{printable(query)}' again",
        "sort by query first",
    )


def empty_run(name: str) -> InputError:
    """What is said of a run without a single list."""
    return InputError(f"{name}: expected at least one ranked document, found none")


def _entry(query: object, ranked: object, name: str) -> Entry:
    where = place_in(name, query)
    # A set, or anything else that has no order of its own, is not a ranking.
    if isinstance(ranked, (str, bytes)) or not isinstance(ranked, (Mapping, Sequence, np.ndarray)):
        found = printable(repr(ranked), 80)
        raise InputError(f"{where}: expected a dict of documents and scores or a list of documents, found {found}")
    if isinstance(ranked, Mapping):
        return Entry(query, list(ranked), list(ranked.values()), where)
    from gainful.io.json_text import listed_entry

    return listed_entry(query, list(ranked), where, {}, run=True)


#: Whatever describes a run: itself, a path or bytes, a data frame, ``{query: {document: score}}`` or
#: ``{query: [document, ...]}``, or a list of dicts as JSON lines have them.
RunLike: TypeAlias = "Run | RunBlocks | UnseenRun | Source | RunFile | Mapping[Any, Any] | Sequence[Any] | Frame"

#: Several runs by name, each whatever describes it.
RunsLike: TypeAlias = Mapping[
    str, Run | Source | RunFile | ArrowFrame | Mapping[Any, Mapping[Any, Any] | Sequence[Any]]
]
