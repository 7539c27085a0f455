"""All documents that systems retrieve, not only the judged ones: for every query numbered in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from gainful.ahead import ReadRun
from gainful.arrays import Bools, Bytes, Floats, Ints
from gainful.core import core, default_threads
from gainful.data.graded import GradedRun, join, open_run
from gainful.data.judged import Judged
from gainful.data.run import Run, RunLike
from gainful.evaluation import opened_if_stream
from gainful.gains import Gain
from gainful.io.sources import Text
from gainful.measures.parameters import read_whole
from gainful.progress import Progress
from gainful.side_by_side import side_by_side

_NOTHING = np.zeros(0, np.int64)


class Ids(NamedTuple):
    """Ids one behind the other: their bytes, and the length of each."""

    data: Bytes
    length: Ints

    @classmethod
    def of(cls, data: Bytes, start: Ints, length: Ints) -> Ids:
        """A copy of ids that stand anywhere in some text, so that the text need not be kept."""
        ends = np.cumsum(length)
        place = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - length - start, length)
        return cls(data[place], length.astype(np.int32))

    def split(self, offsets: Ints) -> list[Ids]:
        """The ids of each list, lists being ``offsets[i] : offsets[i + 1]``."""
        ends = np.concatenate(([0], np.cumsum(self.length, dtype=np.int64)))[offsets]
        return [
            Ids(self.data[ends[i] : ends[i + 1]], self.length[offsets[i] : offsets[i + 1]])
            for i in range(offsets.size - 1)
        ]


@dataclass(frozen=True, eq=False)
class SystemLists:
    """A system's lists in the order of the policy: the join with the judgments, and all ids, one entry a query."""

    graded: GradedRun
    ids: list[Ids]

    @property
    def length(self) -> Ints:
        """How many documents it retrieves for every judged query."""
        return self.graded.retrieved


def read_lists(
    judged: Judged, runs: Mapping[str, RunLike | ReadRun], threads: int | None, progress: Progress
) -> dict[str, SystemLists]:
    """The lists of all runs, read side by side."""
    threads = default_threads() if threads is None else read_whole(threads, "threads")
    opened = {name: opened_if_stream(run) for name, run in runs.items()}
    tasks = [lambda name=name, run=run: _read(judged, name, run, progress) for name, run in opened.items()]
    return dict(zip(runs, side_by_side(tasks, min(threads, len(tasks)), progress), strict=True))


def _read(judged: Judged, name: str, source: RunLike | Text | ReadRun, progress: Progress) -> SystemLists:
    run = cast(Run, open_run(source, name, want_rows=True))  # whose rows are wanted is read into columns
    graded = join(judged, run, judged.policy, want_rows=True, progress=progress, name=name)
    ids = Ids.of(run.data, run.document_start[graded.row], run.document_length[graded.row])
    return SystemLists(replace(graded, row=_NOTHING), ids.split(graded.list_offsets))


@dataclass(frozen=True, eq=False)
class QueryDocuments:
    """The documents of a query that some system retrieves or that are relevant, numbered in byte order of their ids.

    ``lists`` holds the numbers of the retrieved documents by rank, one array a system; ``relevant`` the numbers of the
    relevant ones, and ``relevant_urs`` what the user says of each.
    """

    size: int
    lists: tuple[Ints, ...]
    relevant: Ints
    relevant_urs: Floats

    @cached_property
    def urs(self) -> Floats:
        """What the user says of every document: grade / scale. Whatever is not relevant has 0."""
        urs = np.zeros(self.size)
        urs[self.relevant] = self.relevant_urs
        return urs

    @cached_property
    def is_relevant(self) -> Bools:
        found = np.zeros(self.size, bool)
        found[self.relevant] = True
        return found

    def mean_srs(self, systems: Sequence[int], depth: int) -> Floats:
        """The mean over some systems of 1 - (rank - 1) / depth, which is 0 where one did not retrieve a document."""
        # Sums of whole numbers are the same in any order of the systems.
        steps = np.zeros(self.size, np.int64)
        for system in systems:
            listed = self.lists[system]
            steps[listed] += depth - np.arange(listed.size)
        return np.asarray(steps / (depth * len(systems)))


def numbered_documents(judged: Judged, systems: Sequence[SystemLists]) -> Iterator[QueryDocuments]:
    """The documents of each judged query in turn."""
    scaled = Gain("scaled")
    items, offsets = _relevant_items(judged), judged.item_offsets
    first_row = np.empty(judged.grade.size, np.int64)
    first_row[judged.item[::-1]] = np.arange(judged.item.size)[::-1]
    qrels = judged.qrels
    for query in range(len(qrels.query_ids)):
        relevant = items[(items >= offsets[query]) & (items < offsets[query + 1])]
        rows = first_row[relevant]
        judged_ids = Ids.of(qrels.data, qrels.document_start[rows], qrels.document_length[rows])
        numbers, size = _numbered([*(system.ids[query] for system in systems), judged_ids])
        urs = scaled.scaled_to_1(judged.grade[relevant], judged.scale)
        yield QueryDocuments(size, tuple(numbers[:-1]), numbers[-1], urs)


def _relevant_items(judged: Judged) -> Ints:
    # A grade that counts as no judgment is NaN, and above nothing.
    return np.flatnonzero(judged.grade > 0)


def _numbered(lists: Sequence[Ids]) -> tuple[list[Ints], int]:
    """The number of each id of each list among all distinct ones, in byte order, and how many there are."""
    length = np.concatenate([ids.length for ids in lists]).astype(np.int64)
    distinct, number = core.number_ids(np.concatenate([ids.data for ids in lists]), np.cumsum(length) - length, length)
    return np.split(number, np.cumsum([ids.length.size for ids in lists])[:-1]), len(distinct)
