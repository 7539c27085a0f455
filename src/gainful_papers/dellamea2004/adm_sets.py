"""ADM over parts of the documents and of the topics: the eight sets of Table 4 of Della Mea and Mizzaro (2004).

All documents that systems retrieve count, not only the judged ones: for every query numbered in the order of their ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gainful import Gain, GradedRun, Run, RunLike
from gainful.data.graded import join
from gainful.data.judged import Judged
from gainful.data.lists import sum_by
from gainful.data.run import RunSource
from gainful.kernel import core
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, in_parallel
from gainful.stats.agreement import kendall_tau
from gainful.stats.repeatable import check_draws, stream
from gainful.stats.stability import Spread, order_of_topics, settled_means, stability_over_queries
from gainful_papers.claims import Bools, Floats, Ints

_NOTHING = np.zeros(0, np.int64)


class Ids(NamedTuple):
    """Ids one behind the other: their bytes, and the length of each."""

    data: NDArray[np.uint8]
    length: Ints

    @classmethod
    def of(cls, data: NDArray[np.uint8], start: Ints, length: Ints) -> Ids:
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
    judged: Judged, runs: Mapping[str, RunLike], threads: int | None, progress: Progress
) -> dict[str, SystemLists]:
    """The lists of all runs, read side by side."""
    threads = thread_count(threads)
    opened = {name: RunSource.of(run, name=name).at_hand() for name, run in runs.items()}
    tasks = [lambda name=name, run=run: _read(judged, name, run, progress) for name, run in opened.items()]
    return dict(zip(runs, in_parallel(tasks, min(threads, len(tasks)), progress), strict=True))


def _read(judged: Judged, name: str, source: RunSource, progress: Progress) -> SystemLists:
    graded = join(judged, source, judged.policy, want_ties=True, want_rows=True, progress=progress, name=name)
    run = cast(Run, graded.run)
    ids = Ids.of(run.data, run.document_start[graded.row], run.document_length[graded.row])
    return SystemLists(replace(graded, row=_NOTHING), ids.split(graded.list_offsets))


class _Query:
    """The documents of a query that some system retrieves or that are relevant, and how far SRS is from URS of each.

    They are numbered in byte order of their ids; ``listed`` has the numbers of the retrieved ones by rank, systems x
    ranks, ``relevant`` those of the relevant ones. ``urs`` are two ways to see what the user says: grade / scale, and
    that with the mean SRS of the chosen systems.
    """

    def __init__(
        self, lists: Sequence[Ids], judged_ids: Ids, relevant_urs: Floats, kept: int, chosen: Sequence[int], depth: int
    ) -> None:
        every = [*lists, judged_ids]
        length = np.concatenate([ids.length for ids in every]).astype(np.int64)
        data = np.concatenate([ids.data for ids in every])
        distinct, number = core.number_ids(data, np.cumsum(length) - length, length)
        *numbers, self.relevant = np.split(number, np.cumsum([ids.length.size for ids in every])[:-1])
        self.size, self.listed = len(distinct), np.stack(numbers[:kept])
        urs, is_relevant = np.zeros(self.size), np.zeros(self.size, bool)
        urs[self.relevant], is_relevant[self.relevant] = relevant_urs, True
        # The mean over the chosen of 1 - (rank - 1) / depth, which is 0 where one did not retrieve a document. Sums of
        # whole numbers are the same in any order of the systems.
        steps = np.zeros(self.size, np.int64)
        for system in chosen:
            steps[numbers[system]] += depth - np.arange(numbers[system].size)
        self.urs = urs, (3 * urs + steps / (depth * len(chosen))) / 4
        self.is_relevant: Bools = is_relevant[self.listed]
        srs = (depth - np.arange(0.0, depth)) / depth
        self.off = [np.abs(srs - user[self.listed]) for user in self.urs]
        # All relevant documents are first taken as missed, URS away from 0; one in the list then replaces that.
        self.more = [
            off - np.where(self.is_relevant, user[self.listed], 0.0)
            for off, user in zip(self.off, self.urs, strict=True)
        ]
        self.is_new = (~self.is_relevant).astype(np.int64)
        self.missed: Ints = self.relevant.size - np.count_nonzero(self.is_relevant, axis=1)

    def averages(self) -> tuple[Floats, Floats, Floats]:
        """ADM, measures x systems, over retrieved and relevant, over retrieved, and over relevant documents."""
        depth, base = self.listed.shape[1], self.relevant.size
        all_missed = [math.fsum(user[self.relevant]) for user in self.urs]
        both = list(zip(self.more, all_missed, strict=True))
        whole = np.stack([more.sum(axis=1) + each for more, each in both])
        retrieved = np.stack([off.sum(axis=1) for off in self.off])
        relevant = np.stack([np.where(self.is_relevant, more, 0.0).sum(axis=1) + each for more, each in both])
        of_relevant = np.divide(relevant, base, out=np.full(relevant.shape, np.nan), where=base > 0)
        return 1 - whole / (depth + self.missed), 1 - retrieved / depth, 1 - of_relevant

    def by_part(self, part: Ints) -> tuple[Floats, Ints]:
        """The sums of distances, measures x systems x parts, and the numbers of documents, systems x parts."""
        systems, of_relevant = self.listed.shape[0], part[self.relevant]
        place = (part.astype(np.uint8)[self.listed] + _PARTS * np.arange(systems)[:, np.newaxis]).ravel()

        def added(values: Floats | Ints) -> Floats:
            return sum_by(place, values.ravel(), systems * _PARTS).reshape(systems, _PARTS)

        count = added(self.is_new) + np.bincount(of_relevant, minlength=_PARTS)
        sums = [
            added(more) + np.bincount(of_relevant, user[self.relevant], _PARTS)
            for more, user in zip(self.more, self.urs, strict=True)
        ]
        return np.stack(sums), count.astype(np.int64)


#: The two measures: with what the judges say, and with that and what the best systems say.
MEASURES = ("ADM'", "ADM''")

#: A drawn pair falls into one of four parts: below .1, to .2, to .5, and the rest. The first is a tenth of all pairs,
#: the second another tenth; the first three are a half and the last one the other.
_ENDS = np.array([0.1, 0.2, 0.5])
_PARTS = 4


@dataclass(frozen=True, eq=False)
class Distances:
    """The sums of distances |SRS - URS| and the numbers of documents that they are over, for every query and system.

    ``whole``, ``retrieved`` and ``relevant`` are measures x queries x systems, as ADM; ``missed`` says how many
    relevant documents a system does not retrieve. ``drawn`` is draws x measures x queries x systems x parts,
    ``drawn_count`` the same without measures.
    """

    whole: Floats
    retrieved: Floats
    relevant: Floats
    missed: Ints  # queries x systems
    recall_base: Ints  # relevant documents of every query
    pairs: int  # documents retrieved or relevant, over all queries
    drawn: Floats
    drawn_count: Ints


def distances(
    judged: Judged,
    kept: Sequence[SystemLists],
    chosen: Sequence[SystemLists],
    depth: int,
    draws: int,
    seed: int,
    progress: Progress,
) -> Distances:
    """ADM', ADM'' of the systems that are kept; the mean SRS of those that are chosen makes URS''.

    Draw 0 and ``draws`` further ones put every pair of query and document into a part, by the order of their ids.
    """
    check_draws(draws, seed)
    everybody = list(dict.fromkeys((*kept, *chosen)))
    places = [everybody.index(system) for system in chosen]
    queries, systems = len(judged.qrels.query_ids), len(kept)
    whole, retrieved, relevant = (np.empty((2, queries, systems)) for _ in range(3))
    missed, recall_base = np.empty((queries, systems), np.int64), np.empty(queries, np.int64)
    drawn = np.empty((draws + 1, 2, queries, systems, _PARTS))
    drawn_count = np.empty((draws + 1, queries, systems, _PARTS), np.int64)
    streams = [stream(seed, draw) for draw in range(draws + 1)]
    qrels, offsets, pairs = judged.qrels, judged.item_offsets, 0
    # A grade that counts as no judgment is NaN, and above nothing.
    items = np.flatnonzero(judged.grade > 0)
    first_row = np.empty(judged.grade.size, np.int64)
    first_row[judged.item[::-1]] = np.arange(judged.item.size)[::-1]
    for query in range(queries):
        relevant_items = items[(items >= offsets[query]) & (items < offsets[query + 1])]
        rows = first_row[relevant_items]
        judged_ids = Ids.of(qrels.data, qrels.document_start[rows], qrels.document_length[rows])
        urs = Gain("scaled").scaled_to_1(judged.grade[relevant_items], judged.scale)
        plane = _Query([each.ids[query] for each in everybody], judged_ids, urs, systems, places, depth)
        whole[:, query], retrieved[:, query], relevant[:, query] = plane.averages()
        missed[query], recall_base[query] = plane.missed, plane.relevant.size
        for draw, numbers in enumerate(streams):
            part = np.searchsorted(_ENDS, numbers.random(plane.size), "right")
            drawn[draw, :, query], drawn_count[draw, query] = plane.by_part(part)
        pairs += plane.size
        progress.advance(systems * depth)
    return Distances(whole, retrieved, relevant, missed, recall_base, pairs, drawn, drawn_count)


@dataclass(frozen=True)
class SetAgreement:
    """A set of Table 4: how far the order of systems by ADM', ADM'' on it agrees with that on the whole set.

    ``documents`` is how many a system is judged by, on average. ``tau`` and ``apart`` are one value a measure: with the
    whole, and with another set of the same size that has nothing in common with it (None: there is none). ``spread``
    and ``spread_apart`` are over further draws, where there is something to draw.
    """

    number: int
    what: str
    documents: float
    tau: tuple[float | None, ...]
    apart: tuple[float | None, ...] | None = None
    spread: tuple[Spread | None, ...] | None = None
    spread_apart: tuple[Spread | None, ...] | None = None


@dataclass(frozen=True, eq=False)
class Sets:
    """All sets of Table 4, the first topics, and the means on sets 1 and 3 that Figure 9 shows."""

    rows: tuple[SetAgreement, ...]
    first_topics: tuple[int, int]  # how many sets 1 and 2 have
    by_number: bool  # whether topics stand in the order of numbers
    whole: Floats  # measures x systems: means
    set_1: Floats
    set_3: Floats


def agree_on_sets(found: Distances, queries: Sequence[str], depth: int) -> Sets:
    """The sets of Table 4 in their order."""
    order, by_number = order_of_topics(queries)
    first = [stability_over_queries(matrix[order], (0.5, 0.2), topics="first") for matrix in found.whole]
    half, fifth = (order[: int(subset.size)] for subset in first[0])
    next_half = order[half.size : 2 * half.size]
    whole = np.stack([_means(matrix) for matrix in found.whole])
    count = depth + found.missed
    rows = [SetAgreement(0, "all", _documents(count), (1.0, 1.0))]
    for number, place, topics, what in ((1, 0, half, "first 50 % of topics"), (2, 1, fifth, "first 20 % of topics")):
        with_whole = tuple(mean_of(each[place].part_whole) for each in first)
        with_other = tuple(mean_of(each[place].split_half) for each in first)
        rows.append(SetAgreement(number, what, _documents(count[topics]), with_whole, with_other))
    every = np.arange(len(queries))
    most, rest, tenth, next_tenth = slice(0, 3), slice(3, 4), slice(0, 1), slice(1, 2)
    both = "50 % of documents, first 50 % of topics"
    rows += [
        _drawn_set(found, whole, 3, "50 % of documents", (most, every), (rest, every)),
        _drawn_set(found, whole, 4, "10 % of documents", (tenth, every), (next_tenth, every)),
        _drawn_set(found, whole, 5, both, (most, half), (rest, next_half)),
        SetAgreement(6, "retrieved documents only", depth * len(queries), _taus(found.retrieved, whole)),
        SetAgreement(7, "relevant documents only", float(found.recall_base.sum()), _taus(found.relevant, whole)),
    ]
    set_1 = np.stack([_means(matrix[half]) for matrix in found.whole])
    set_3 = np.stack([_means(matrix) for matrix in _averages(found, 0, most, every)])
    return Sets(tuple(rows), (half.size, fifth.size), by_number, whole, set_1, set_3)


#: Which parts of the drawn pairs, and which topics.
_Chosen = tuple[slice, Ints]


def _drawn_set(
    found: Distances, whole: Floats, number: int, what: str, chosen: _Chosen, others: _Chosen
) -> SetAgreement:
    taus, apart = [], []
    for draw in range(found.drawn.shape[0]):
        part, other = (_averages(found, draw, *each) for each in (chosen, others))
        taus.append(_taus(part, whole))
        apart.append(_taus(part, [_means(matrix) for matrix in other]))
    parts, topics = chosen
    documents = _documents(found.drawn_count[0][topics][:, :, parts].sum(axis=2))
    return SetAgreement(number, what, documents, taus[0], apart[0], _spread(taus[1:]), _spread(apart[1:]))


def _averages(found: Distances, draw: int, parts: slice, topics: Ints) -> Floats:
    """ADM', ADM'' over some parts of a draw: measures x topics x systems, NaN where no document is left."""
    sums = found.drawn[draw][:, topics][..., parts].sum(axis=-1)
    count = found.drawn_count[draw][topics][..., parts].sum(axis=-1)
    return np.asarray(1 - np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0))


def _taus(matrices: Iterable[Floats], whole: Iterable[Floats]) -> tuple[float | None, ...]:
    return tuple(kendall_tau(_means(matrix), means) for matrix, means in zip(matrices, whole, strict=True))


def _means(matrix: Floats) -> Floats:
    """The systems' settled means over the topics on which all of them have a value; all the same if there are none."""
    defined = matrix[~np.isnan(matrix).any(axis=1)]
    return settled_means(defined) if defined.shape[0] else np.zeros(matrix.shape[1])


def _spread(values: Sequence[tuple[float | None, ...]]) -> tuple[Spread | None, ...]:
    return tuple(Spread.of([each[measure] for each in values]) for measure in range(len(MEASURES)))


def mean_of(spread: Spread | None) -> float | None:
    """The mean over draws, where there are some."""
    return None if spread is None else spread.mean


def _documents(counts: Ints) -> float:
    """How many documents a system is judged by, on average over systems."""
    return float(counts.sum(axis=0).mean())
