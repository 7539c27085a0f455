"""Ranked lists of a system as columns, and the sources from which they are read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from gainful.data.exclusion import Exclusion
from gainful.data.lists import gather
from gainful.data.parents import is_column, with_parents
from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, field, replace
from gainful.io.columns import ParentColumn
from gainful.io.formats import Reading, format_of
from gainful.io.readers import is_read_in_pieces, read_dict, read_pieces, read_rows, whole_queries
from gainful.io.rows import (
    NOWHERE,
    RANK,
    ArrowFrame,
    DocumentColumns,
    Frame,
    Origin,
    Rows,
    duplicate_message,
    hint_for,
    input_error,
    is_frame,
    rows_of_lists,
    wanted_ids,
)
from gainful.io.sources import Source, Text, as_source, is_stream, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes, Floats, Ints, freeze, offsets_of
from gainful.kernel.core import default_threads, thread_count
from gainful.notation import count_of, printable
from gainful.policy import PARENT_FORMS, Parent, Policy, PolicyLike

if TYPE_CHECKING:
    from gainful.kernel.core import Joined, JudgmentIndex
    from gainful.kernel.parallel import Progress

AS_RECOGNISED = Reading()
_NONE: Floats = np.zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class Run(DocumentColumns):
    """The ranked lists of a system, one per query, with rows in source order. Immutable.

    Lists of documents in rank order have no scores and keep their order:

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
    score: Floats  # empty if the format has none
    rank: Floats = field(default_factory=lambda: _NONE)  # empty if there is no rank column
    origin: Origin = NOWHERE  # places of the rows
    excluded_by: Exclusion | None = None  # the documents removed, and the number of rows removed from each list
    excluded: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    notes: tuple[str, ...] = ()  # repairs and assumptions made while reading
    parent: str | Parent = "none"  # rule that replaced chunks by documents

    def __post_init__(self) -> None:
        freeze(self.list_offsets, self.document_start, self.document_length, self.score, self.rank)

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - the usual name
        columns: Mapping[str, str] | None = None,
        feature: int | None = None,
        threads: int | None = None,
    ) -> Run:
        """Read a run from a path, ``-``, bytes or an NTCIR folder.

        The format is recognised unless given; ``columns`` maps the roles query, document, score and rank to names in
        the header; ``feature`` is the LETOR feature to use as score.
        """
        how = Reading.checked(format, columns, feature)._replace(threads=thread_count(threads))
        return RunSource(as_source(source, "a Run"), how).read(how.threads)

    @classmethod
    def from_rows(cls, rows: Rows, name: str | None = None, *, together: bool = False) -> Run:
        """Return a run from rows; ``together`` requires the rows of each query to be consecutive."""
        query_ids, query, (data, start, length), origin = rows.query_ids, rows.query, rows.document, rows.origin
        name = origin.name if name is None else name
        if not query_ids:
            raise empty_run(name)
        if together and np.count_nonzero(query[1:] != query[:-1]) >= len(query_ids):
            begins = np.flatnonzero(np.diff(query, prepend=-1))
            again = np.setdiff1d(begins, np.unique(query, return_index=True)[1])
            raise not_together(origin.where(int(again[0])), query_ids[int(query[again[0]])])
        score, rank = (_NONE if column is None else column for column in (rows.value, rows.rank))
        if np.any(query[1:] < query[:-1]):
            order = np.argsort(query, kind="stable")
            query, start, length, origin = query[order], start[order], length[order], origin.take(order)
            score, rank = (column[order] if column.size else column for column in (score, rank))
        offsets = np.searchsorted(query, np.arange(len(query_ids) + 1))
        return cls(name, tuple(query_ids), offsets, data, start, length, score, rank, origin, notes=rows.notes)

    @classmethod
    def without_lists(cls, name: str) -> Run:
        """Return a run that answers no query, as may happen for a subset of the queries."""
        none = np.zeros(0, np.int64)
        return cls(name, (), np.zeros(1, np.int64), np.zeros(0, np.uint8), none, none, _NONE)

    @classmethod
    def from_frame(cls, frame: Frame, *, columns: Mapping[str, str] | None = None, name: str = "<frame>") -> Run:
        """Return a run from a data frame with columns for query, document and score or rank: pandas, polars, ...

        ``columns`` maps roles to names that are not recognised, such as ``{"score": "similarity"}``.
        """
        from gainful.io.frames import read_frame

        return cls.from_rows(read_frame(frame, Reading.checked(columns=columns), run=True, name=name))

    @classmethod
    def from_dict(cls, lists: Mapping[Any, Any], *, name: str = "<dict>") -> Run:
        """Return a run from ``{query: {document: score}}`` or ``{query: [document, ...]}``; a list may be empty.

        Items may also be ``(document, score)`` or ``{"id": document, "score": score}``.
        """
        return cls.from_rows(read_dict(lists, name, run=True))

    @classmethod
    def of(cls, value: RunLike, columns: Mapping[str, Any] | None = None, policy: PolicyLike = None) -> Run:
        """Return a run from any supported input: a run, a dict, a data frame, a path, bytes, or a list of dicts as in
        JSON lines.

        ``columns`` maps roles to the names of columns or keys; the ``policy`` may replace chunks by documents.

        >>> Run.of([{"question": "who?", "results": [{"chunk_id": "c1", "similarity": 0.9}]}])
        <Run <list>: 1 query, 1 document>
        """
        return RunSource.of(value, columns).credited(Policy.of(policy)).read(default_threads())

    def __len__(self) -> int:
        return int(self.list_offsets[-1])

    def __repr__(self) -> str:
        queries = count_of(len(self.query_ids), "query", "queries")
        return f"<Run {printable(self.name, 80)}: {queries}, {count_of(len(self), 'document')}>"

    @property
    def has_scores(self) -> bool:
        """Whether the rows have scores; true for a run without rows."""
        return len(self.score) == len(self)

    @property
    def has_ranks(self) -> bool:
        """Whether the rows have ranks."""
        return len(self.rank) == len(self)

    @property
    def exclusions(self) -> int | None:
        """Number of pairs of query and document to exclude; None if no exclusion was applied."""
        return None if self.excluded_by is None else self.excluded_by.size

    @property
    def query_of_rows(self) -> Ints:
        return rows_of_lists(self.list_offsets)

    def select(self, queries: Iterable[str | bytes | int]) -> Run:
        """Return the lists of the given queries, without those that the run does not answer.

        >>> Run.from_dict({"q1": ["d1"], "q2": ["d2", "d3"]}).select(["q2", "q3"]).queries
        ['q2']
        """
        wanted = wanted_ids(queries, self.name, "query", "queries")
        return self.take(np.array([i for i, identifier in enumerate(self.query_ids) if identifier in wanted], np.int64))

    def take(self, kept: Ints) -> Run:
        """Return the lists at the given positions, in this order."""
        _, rows = gather(self.list_offsets, kept)
        return replace(
            self.with_rows(rows, offsets_of(np.diff(self.list_offsets)[kept])),
            query_ids=tuple(map(self.query_ids.__getitem__, kept.tolist())),
            excluded=self.excluded[kept] if self.excluded.size else self.excluded,
        )

    def with_rows(self, rows: Ints, offsets: Ints) -> Run:
        """Return some of the rows, in lists that begin at ``offsets``."""
        return replace(
            self,
            list_offsets=offsets,
            document_start=self.document_start[rows],
            document_length=self.document_length[rows],
            score=self.score[rows] if self.has_scores else self.score,
            rank=self.rank[rows] if self.has_ranks else self.rank,
            origin=self.origin.take(rows),
        )

    def query_of(self, row: int) -> bytes:
        """Return the query ID of a row."""
        return self.query_ids[int(np.searchsorted(self.list_offsets, row, "right")) - 1]

    def credited(self, parent: str | Parent) -> Run:
        """Return the run with chunks replaced by their documents, unless that was done before."""
        return self if parent == self.parent else replace(with_parents(self, parent), parent=parent)

    def without(self, exclusion: Exclusion, threads: int = 1) -> Run:
        """Return the run without the excluded documents, with ranks closed up.

        >>> run = Run.from_dict({"anna": ["d1", "d2"], "bert": ["d1"]}).without(Exclusion.of({"anna": ["d1"]}))
        >>> run.excluded.tolist(), [run.document(row) for row in range(len(run))]
        ([1, 0], [b'd2', b'd1'])
        """
        kept = np.ones(len(self), bool)
        kept[exclusion.find(self.query_ids, self.list_offsets, self, threads)] = False
        before = offsets_of(kept)
        ranked = replace(self, rank=_closed_up(self, ~kept)) if self.has_ranks else self
        left = ranked.with_rows(np.flatnonzero(kept), before[self.list_offsets])
        excluded = np.diff(self.list_offsets) - np.diff(left.list_offsets)
        return replace(left, excluded_by=exclusion, excluded=excluded).read_from(self.name)


def _closed_up(run: Run, gone: Bools) -> Floats:
    """Return the rank column after removing rows: each rank decreases by the number of removed rows above it."""
    counts = np.diff(run.list_offsets)
    falls = np.diff(run.rank) < 0
    falls[run.list_offsets[1:-1][(counts[:-1] > 0) & (run.list_offsets[1:-1] < len(run))] - 1] = False
    order = np.lexsort((run.rank, run.query_of_rows)) if falls.any() else slice(None)
    above = offsets_of(gone[order])
    rank = run.rank.copy()
    rank[order] -= above[:-1] - np.repeat(above[run.list_offsets[:-1]], counts)
    return rank


def fitting_policy(run: Run, policy: Policy) -> Policy:
    """Return the policy adapted to the run: without scores, order by rank, or else by input order."""
    if not run.has_scores and policy.order == "score":
        policy = policy.replace(order="rank" if run.has_ranks else "input")
    if policy.needs_rank and not run.has_ranks:
        choice = "order" if policy.order == "rank" else "ties"
        raise InputError(f"{run.name}: {choice}=rank needs a rank column")
    return policy


def join_columns(
    index: JudgmentIndex,
    judged_ids: Sequence[bytes],
    run: Run,
    policy: Policy,
    threads: int,
    progress: Progress,
    *,
    want_scores: bool = False,
    want_rows: bool = False,
    want_facts: bool = False,
) -> Joined:
    """Join a run in columns with judgments under a fitting policy, in the core."""
    if want_scores and not run.has_scores:
        raise InputError(f"{run.name}: the run has no scores")
    columns = core.ListColumns(
        list(run.query_ids),
        run.list_offsets,
        *run.document_spans,
        run.score if run.has_scores else np.zeros(len(run)),
        run.rank if run.has_ranks else np.zeros(0),
    )
    options = policy.join_options(want_scores=want_scores, want_rows=want_rows, want_facts=want_facts)
    joined = core.join_columns(columns, index, options, threads, progress.cells)
    if joined["fault_count"]:
        messages = []
        for row, code, detail in joined["faults"]:
            message = "no rank"
            if code != RANK:
                message = duplicate_message(run.document(row), run.query_of(row), run.origin.place(detail))
            messages.append(f"{run.origin.where(row)}: {message}{run.origin.shown(row)}")
        raise input_error(messages, joined["fault_count"], hint_for(joined["faults"][0][1], run=True))
    if policy.order == "input" and run.has_ranks:
        joined["rank_conflicts"] = int(np.count_nonzero(falling_ranks(run, set(judged_ids))))
    return joined


def falling_ranks(run: Run, judged_ids: Set[bytes]) -> Bools:
    """Return whether each row of a judged query has a lower rank than the row before it."""
    falls = np.diff(run.rank, prepend=-np.inf) < 0
    falls[run.list_offsets[:-1][np.diff(run.list_offsets) > 0]] = False
    judged = np.array([query in judged_ids for query in run.query_ids], bool)
    return np.asarray(falls & np.repeat(judged, np.diff(run.list_offsets)))


class JoinedAhead(Protocol):
    """A join in progress, of a run with judgments that are read at the same time."""

    @property
    def progress(self) -> Progress:
        """Progress of the join."""

    def serves(self, judged: object, policy: Policy) -> bool:
        """Return whether the join is for these judgments and this policy and has not been taken."""

    def take(self, judged: object, policy: Policy) -> Joined | None:
        """Wait for the join, if it serves; None if the run must be read otherwise."""


@dataclass(frozen=True, eq=False)
class RunSource:
    """A run that has yet to be read, in the common form of every supported input, created by :meth:`of`.

    ``value`` is a Run, path, bytes, opened text, dict, list of dicts or data frame, and ``how`` the settings to read
    it. Alternatively, ``blocks`` yields the run in blocks of whole queries with at least the given number of rows.
    """

    value: Any = None
    how: Reading = AS_RECOGNISED
    name: str | None = None  # name in messages of a value that is not a file
    exclusion: Exclusion | None = None  # documents removed from every block
    blocks: Callable[[int], Iterable[Run]] | None = None
    is_kept: bool = True  # whether it can be read again
    ahead: JoinedAhead | None = None
    parent: str | Parent = "none"  # rule that replaces chunks by documents
    #: Joins a run with known ranks with prepared judgments, and returns the documents in its first rows.
    ranked: Callable[[Any], tuple[Joined, Callable[[int], Collection[bytes]]]] | None = None

    @classmethod
    def of(cls, value: RunLike, columns: Mapping[str, Any] | None = None, name: str | None = None) -> RunSource:
        """Return the source for a value; ``columns`` maps roles to the names of columns or keys."""
        if isinstance(value, RunSource):
            return value
        if not is_in_memory(value):
            value = as_source(value, "a Run")
        return cls(value, Reading.checked(columns=columns), name, is_kept=not is_stream(value))

    @classmethod
    def of_pieces(cls, pieces: Callable[[int], Iterable[Rows]], name: str) -> RunSource:
        """Return a source for a run that arrives in pieces and only once, with consecutive results per query."""
        return cls(name=name, blocks=lambda least: _blocks(pieces(least), name, least), is_kept=False)

    def without(self, exclusion: Exclusion | None) -> RunSource:
        """Return the source with these documents excluded; unchanged without an exclusion."""
        return self if exclusion is None else replace(self, exclusion=exclusion)

    def credited(self, policy: Policy) -> RunSource:
        """Return the source with chunks replaced by their documents, if the policy requires it."""
        parent = policy.parent
        if parent in ("none", self.parent) or (isinstance(self.value, Run) and self.value.parent == parent):
            return self
        if not is_column(parent):
            return replace(self, parent=parent)
        if self.blocks is not None or isinstance(self.value, Run):
            raise UsageError(f"parent: a run in memory needs a file or a pattern, found '{parent}'", PARENT_FORMS)
        columns = {**self.how.columns, "document": ParentColumn(parent)}
        return replace(self, how=self.how._replace(columns=columns), parent=parent)

    @property
    def is_in_pieces(self) -> bool:
        return is_read_in_pieces(self.value, self.how)

    def at_hand(self) -> RunSource:
        """Return the source, read into memory if it is a stream, which may block and can be read only once."""
        return replace(self, value=open_source(self.value)) if is_stream(self.value) else self

    def again(self) -> RunSource | None:
        """Return a source that can be read again; None if that is impossible."""
        again = self if self.ahead is None else replace(self, value=self.value.name, ahead=None)
        return again if self.is_kept and not is_stream(self.value) else None

    def trec_text(self) -> Text | None:
        """Return the text of a run in TREC format, which the core joins directly; else None."""
        is_read = isinstance(self.value, (str, os.PathLike, bytes, bytearray, memoryview, Text))
        is_file = is_read and not (isinstance(self.value, (str, os.PathLike)) and os.path.isdir(self.value))
        if self.exclusion is not None or self.parent != "none" or not is_file:
            return None
        text = open_source(self.value)
        return text if format_of(text, self.how, run=True) == "trec" else None

    def open(self, least: int, threads: int = 1) -> Iterator[Run]:
        """Yield the run in blocks of whole queries with at least ``least`` rows if possible, or else in one block."""
        if self.blocks is not None:
            found = self.blocks(least)
        elif self.is_in_pieces:
            found = _blocks(read_pieces(self.value, self.how), os.fspath(self.value), least)
        else:
            found = [self._read(threads)]
        for run in found:
            yield self._prepared(run, threads)

    def read(self, threads: int = 1) -> Run:
        return self._prepared(self._read(threads), threads)

    def _read(self, threads: int) -> Run:
        if isinstance(self.value, Run):
            return self.value
        if self.blocks is not None:
            (run,) = self.blocks(sys.maxsize)
            return run
        run = Run.from_rows(read_rows(self.value, self.how._replace(threads=threads), run=True, name=self.name))
        return run if is_in_memory(self.value) else run.read_from(run.name)

    def _prepared(self, run: Run, threads: int) -> Run:
        """Return a run or a block of it with chunks replaced by documents and exclusions applied."""
        if self.parent != "none":
            run = replace(run, parent=self.parent) if is_column(self.parent) else run.credited(self.parent)
        return run if self.exclusion is None else run.without(self.exclusion, threads)


def _blocks(pieces: Iterable[Rows], name: str, least: int) -> Iterator[Run]:
    return (Run.from_rows(rows, name, together=True) for rows in whole_queries(pieces, least))


def is_in_memory(value: object) -> bool:
    """Return whether a value holds rows in memory."""
    return isinstance(value, (Run, Mapping, list, tuple)) or is_frame(value)


def runs_by_name(runs: RunLike | RunsLike) -> Mapping[str, RunLike] | None:
    """Return the runs of a dict by name; None for a single run or for a dict of queries and their documents.

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
        found = f"{named!r} with a run and {query!r} with documents"
        raise UsageError(f"runs: expected a dict of names and runs, or of queries and documents, found {found}")
    for name, value in runs.items():
        if isinstance(value, str) and value != "-" and not (re.search(r"[./\\]", value) or os.path.exists(value)):
            hint = "the documents of a query are a list or a dict: {" + f"{name!r}: [{value!r}]" + "}"
            raise InputError(f"runs[{name!r}]: '{printable(value)}' is not a file", hint)
        if not isinstance(name, str):
            raise UsageError(f"runs: expected texts as names of runs, found {name!r}")
    return runs


def _is_run(value: object) -> bool | None:
    """Return whether a value in a dict is a run rather than a query's results; None for an empty dict."""
    if isinstance(value, Mapping):
        inside = next(iter(value.values()), None)
        return None if inside is None and not value else isinstance(inside, (Mapping, list, tuple, np.ndarray))
    is_read = isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, Run, RunSource))
    return is_read or is_frame(value) or holds_objects(value)


def holds_objects(value: object) -> bool:
    """Return whether a value is a list of dicts as in JSON lines, which form one run."""
    if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], dict):
        return False
    from gainful.io.json_text import is_object_of_run

    return is_object_of_run(value[0])


class UnsortedError(InputError):
    """A query occurs again after other queries."""


def not_together(where: str, query: bytes) -> UnsortedError:
    """Return the error for a query that occurs again after other queries."""
    message = f"{where}: not sorted by query: query '{printable(query)}' occurs again after others"
    return UnsortedError(message, "sort by query first")


def empty_run(name: str) -> InputError:
    """Return the error for a run without lists."""
    return InputError(f"{name}: no ranked documents")


#: Any supported description of a run: a Run, a path or bytes, a data frame, ``{query: {document: score}}``,
#: ``{query: [document, ...]}``, or a list of dicts as in JSON lines.
RunLike: TypeAlias = Run | RunSource | Source | Mapping[Any, Any] | Sequence[Any] | Frame

#: Several runs by name.
RunsLike: TypeAlias = Mapping[
    str, Run | RunSource | Source | ArrowFrame | Mapping[Any, Mapping[Any, Any] | Sequence[Any]]
]
