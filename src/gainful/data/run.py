"""A system's ranked lists as columns, and the sources that they are read from."""

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
    origin: Origin = NOWHERE  # where each row stands
    excluded_by: Exclusion | None = None  # what was left out, and how many rows of each list
    excluded: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    notes: tuple[str, ...] = ()  # what was done to read it
    parent: str | Parent = "none"  # what made documents of chunks

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
        how = Reading.checked(format, columns, feature)._replace(threads=thread_count(threads))
        return RunSource(as_source(source, "a Run"), how).read(how.threads)

    @classmethod
    def from_rows(cls, rows: Rows, name: str | None = None, *, together: bool = False) -> Run:
        """A run from rows of whatever source; ``together`` refuses those of a query that others stand between."""
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
        """A run that answers nothing: what a part of the queries may get from it."""
        none = np.zeros(0, np.int64)
        return cls(name, (), np.zeros(1, np.int64), np.zeros(0, np.uint8), none, none, _NONE)

    @classmethod
    def from_frame(cls, frame: Frame, *, columns: Mapping[str, str] | None = None, name: str = "<frame>") -> Run:
        """A run from a data frame with columns for query, document and score or rank: pandas, polars, pyarrow, ...

        ``columns`` maps roles to names that are not understood by themselves, such as ``{"score": "similarity"}``.
        """
        from gainful.io.frames import read_frame

        return cls.from_rows(read_frame(frame, Reading.checked(columns=columns), run=True, name=name))

    @classmethod
    def from_dict(cls, lists: Mapping[Any, Any], *, name: str = "<dict>") -> Run:
        """A run from ``{query: {document: score}}`` or ``{query: [document, ...]}``; a list may be empty.

        Items may also be ``(document, score)`` or ``{"id": document, "score": score}``.
        """
        return cls.from_rows(read_dict(lists, name, run=True))

    @classmethod
    def of(cls, value: RunLike, columns: Mapping[str, Any] | None = None, policy: PolicyLike = None) -> Run:
        """A run from whatever describes it: itself, a dict, a data frame, a path or bytes, or a list of dicts as JSON
        lines have them.

        ``columns`` maps roles to names, where there are columns; chunks stand for documents as the ``policy`` says.

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

    @property
    def query_of_rows(self) -> Ints:
        return rows_of_lists(self.list_offsets)

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
        return replace(
            self.with_rows(rows, offsets_of(np.diff(self.list_offsets)[kept])),
            query_ids=tuple(map(self.query_ids.__getitem__, kept.tolist())),
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
            origin=self.origin.take(rows),
        )

    def query_of(self, row: int) -> bytes:
        """The query id of a row."""
        return self.query_ids[int(np.searchsorted(self.list_offsets, row, "right")) - 1]

    def credited(self, parent: str | Parent) -> Run:
        """The same with chunks standing for their documents, unless they do so already."""
        return self if parent == self.parent else replace(with_parents(self, parent), parent=parent)

    def without(self, exclusion: Exclusion, threads: int = 1) -> Run:
        """The same without the documents that are to be left out, ranks closed up.

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
    """The rank column as it is without some of the rows: each rank is lower by those that stood above it."""
    counts = np.diff(run.list_offsets)
    falls = np.diff(run.rank) < 0
    falls[run.list_offsets[1:-1][(counts[:-1] > 0) & (run.list_offsets[1:-1] < len(run))] - 1] = False
    order = np.lexsort((run.rank, run.query_of_rows)) if falls.any() else slice(None)
    above = offsets_of(gone[order])
    rank = run.rank.copy()
    rank[order] -= above[:-1] - np.repeat(above[run.list_offsets[:-1]], counts)
    return rank


def fitting_policy(run: Run, policy: Policy) -> Policy:
    """The policy as this run can carry it: without scores, its ranks order it or, without those, the order it has."""
    if not run.has_scores and policy.order == "score":
        policy = policy.replace(order="rank" if run.has_ranks else "input")
    if policy.needs_rank and not run.has_ranks:
        choice = "order" if policy.order == "rank" else "ties"
        raise InputError(f"{run.name}: {choice}=rank needs a rank column, found none")
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
    """What the core makes of a run in columns under a policy that fits it."""
    if want_scores and not run.has_scores:
        raise InputError(f"{run.name}: expected scores, found a run without them")
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
            message = "expected a number as rank, found none"
            if code != RANK:
                message = duplicate_message(run.document(row), run.query_of(row), run.origin.place(detail))
            messages.append(f"{run.origin.where(row)}: {message}{run.origin.shown(row)}")
        raise input_error(messages, joined["fault_count"], hint_for(joined["faults"][0][1], run=True))
    if policy.order == "input" and run.has_ranks:
        joined["rank_conflicts"] = int(np.count_nonzero(falling_ranks(run, set(judged_ids))))
    return joined


def falling_ranks(run: Run, judged_ids: Set[bytes]) -> Bools:
    """Which rows of judged queries have a lower rank than the row before them."""
    falls = np.diff(run.rank, prepend=-np.inf) < 0
    falls[run.list_offsets[:-1][np.diff(run.list_offsets) > 0]] = False
    judged = np.array([query in judged_ids for query in run.query_ids], bool)
    return np.asarray(falls & np.repeat(judged, np.diff(run.list_offsets)))


class JoinedAhead(Protocol):
    """The join of a run with judgments that are read with it, which is under way."""

    @property
    def progress(self) -> Progress:
        """How far it is."""

    def serves(self, judged: object, policy: Policy) -> bool:
        """Whether it is the join with these judgments under this policy, and was not taken yet."""

    def take(self, judged: object, policy: Policy) -> Joined | None:
        """Waits for the join, if it serves; None where the run has to be read in another way."""


@dataclass(frozen=True, eq=False)
class RunSource:
    """A run that is still to be read: the one form of whatever describes it, made at the door by :meth:`of`.

    ``value`` is a Run, a path, bytes, an opened text, a dict, a list of dicts or a data frame, and ``how`` says how to
    read it; or ``blocks`` gives the run in blocks of whole queries, by how many rows at least are wanted at a time.
    """

    value: Any = None
    how: Reading = AS_RECOGNISED
    name: str | None = None  # what messages call a value that is no file
    exclusion: Exclusion | None = None  # what is left out of every block
    blocks: Callable[[int], Iterable[Run]] | None = None
    is_kept: bool = True  # whether it can be read again
    ahead: JoinedAhead | None = None
    parent: str | Parent = "none"  # what makes documents of chunks
    #: Joins it with prepared judgments where ranks are known already, and gives the documents of its first rows.
    ranked: Callable[[Any], tuple[Joined, Callable[[int], Collection[bytes]]]] | None = None

    @classmethod
    def of(cls, value: RunLike, columns: Mapping[str, Any] | None = None, name: str | None = None) -> RunSource:
        """The source that a value is; ``columns`` maps roles to the names that tables and frames have for them."""
        if isinstance(value, RunSource):
            return value
        if not is_in_memory(value):
            value = as_source(value, "a Run")
        return cls(value, Reading.checked(columns=columns), name, is_kept=not is_stream(value))

    @classmethod
    def of_pieces(cls, pieces: Callable[[int], Iterable[Rows]], name: str) -> RunSource:
        """A run that flies by in pieces, in which the results of a query stand together."""
        return cls(name=name, blocks=lambda least: _blocks(pieces(least), name, least), is_kept=False)

    def without(self, exclusion: Exclusion | None) -> RunSource:
        """The same without the documents that are to be left out; all of it where there is no exclusion."""
        return self if exclusion is None else replace(self, exclusion=exclusion)

    def credited(self, policy: Policy) -> RunSource:
        """The same with chunks standing for their documents, if the policy says so."""
        parent = policy.parent
        if parent in ("none", self.parent) or (isinstance(self.value, Run) and self.value.parent == parent):
            return self
        if not is_column(parent):
            return replace(self, parent=parent)
        if self.blocks is not None or isinstance(self.value, Run):
            raise UsageError(
                f"parent: expected a file or a pattern for a run that has been read, found '{parent}'", PARENT_FORMS
            )
        columns = {**self.how.columns, "document": ParentColumn(parent)}
        return replace(self, how=self.how._replace(columns=columns), parent=parent)

    @property
    def is_in_pieces(self) -> bool:
        """Whether it is a large file that is read piece by piece."""
        return is_read_in_pieces(self.value, self.how)

    def at_hand(self) -> RunSource:
        """The same, read into memory if it comes from somebody else who may keep us waiting, and gives it once."""
        return replace(self, value=open_source(self.value)) if is_stream(self.value) else self

    def again(self) -> RunSource | None:
        """The same for who reads it once more; None where it has flown by."""
        again = self if self.ahead is None else replace(self, value=self.value.name, ahead=None)
        return again if self.is_kept and not is_stream(self.value) else None

    def trec_text(self) -> Text | None:
        """The text of a run in TREC's format, which the core joins without making columns of it; else None."""
        is_read = isinstance(self.value, (str, os.PathLike, bytes, bytearray, memoryview, Text))
        is_file = is_read and not (isinstance(self.value, (str, os.PathLike)) and os.path.isdir(self.value))
        if self.exclusion is not None or self.parent != "none" or not is_file:
            return None
        text = open_source(self.value)
        return text if format_of(text, self.how, run=True) == "trec" else None

    def open(self, least: int, threads: int = 1) -> Iterator[Run]:
        """The run in blocks of whole queries, of at least so many rows where it can be read so, else in one."""
        if self.blocks is not None:
            found = self.blocks(least)
        elif self.is_in_pieces:
            found = _blocks(read_pieces(self.value, self.how), os.fspath(self.value), least)
        else:
            found = [self._read(threads)]
        for run in found:
            yield self._settled(run, threads)

    def read(self, threads: int = 1) -> Run:
        """All of it at once."""
        return self._settled(self._read(threads), threads)

    def _read(self, threads: int) -> Run:
        if isinstance(self.value, Run):
            return self.value
        if self.blocks is not None:
            (run,) = self.blocks(sys.maxsize)
            return run
        rows = read_rows(self.value, self.how._replace(threads=threads), run=True, name=self.name)
        run = Run.from_rows(rows)
        return run if is_in_memory(self.value) else run.read_from(run.name)

    def _settled(self, run: Run, threads: int) -> Run:
        """The run, or a block of it, with documents in the place of chunks, without those that are left out."""
        if self.parent != "none":
            run = replace(run, parent=self.parent) if is_column(self.parent) else run.credited(self.parent)
        return run if self.exclusion is None else run.without(self.exclusion, threads)


def _blocks(pieces: Iterable[Rows], name: str, least: int) -> Iterator[Run]:
    return (Run.from_rows(rows, name, together=True) for rows in whole_queries(pieces, least))


def is_in_memory(value: object) -> bool:
    """Whether a value has rows that need not be read from bytes."""
    return isinstance(value, (Run, Mapping, list, tuple)) or is_frame(value)


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
    is_read = isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, Run, RunSource))
    return is_read or is_frame(value) or holds_objects(value)


def holds_objects(value: object) -> bool:
    """Whether a value is a list of dicts as JSON lines have them, which are one run."""
    if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], dict):
        return False
    from gainful.io.json_text import is_object_of_run

    return is_object_of_run(value[0])


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


#: Whatever describes a run: itself, a path or bytes, a data frame, ``{query: {document: score}}`` or
#: ``{query: [document, ...]}``, or a list of dicts as JSON lines have them.
RunLike: TypeAlias = Run | RunSource | Source | Mapping[Any, Any] | Sequence[Any] | Frame

#: Several runs by name, each whatever describes it.
RunsLike: TypeAlias = Mapping[
    str, Run | RunSource | Source | ArrowFrame | Mapping[Any, Mapping[Any, Any] | Sequence[Any]]
]
