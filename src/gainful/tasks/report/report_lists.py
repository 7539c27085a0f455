"""What a report keeps of ranked lists: the grade and the document at every rank, what is judged, and titles."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.lists import gather, ordinal_in_row
from gainful.data.run import Run, RunLike, RunSource
from gainful.errors import InputError, option
from gainful.evaluation.evaluate import evaluate_graded
from gainful.evaluation.evaluations import Evaluation
from gainful.io.columns import NAMES, Names, find_role, folded, listed_names
from gainful.io.records import read_records
from gainful.io.rows import Spans, read_id
from gainful.kernel import core
from gainful.kernel.arrays import Ints
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, in_parallel
from gainful.measures.base import Measure
from gainful.notation import some_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: What stands at a rank where no level does: the list has ended, or nobody judged the document. Levels come after.
ENDED, UNJUDGED, FIRST_LEVEL = 0, 1, 2


class KeptRun(NamedTuple):
    """The scores of a run by the measures that were asked for, and by others, which leave out queries for which they
    are undefined; and the first ranks of its lists: ``codes`` are queries x ranks, documents one after the other as the
    lists have them, ``lengths`` of each."""

    evaluation: Evaluation
    beside: Evaluation
    codes: NDArray[np.uint16]
    lengths: Ints
    documents: Spans


def kept_runs(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    beside: Sequence[Measure],
    depth: int,
    threads: int | None,
    progress: Progress,
) -> list[KeptRun]:
    """Reads every run once: scores it, and keeps the first ``depth`` ranks. Nothing else of it stays in memory."""
    needed = {need for measure in measures for need in measure.needed()}
    workers = min(thread_count(threads), len(runs))
    each = max(1, thread_count(threads) // len(runs))

    def one(name: str, source: RunSource) -> KeptRun:
        graded = join(
            judged,
            source,
            judged.policy,
            want_scores="scores" in needed,
            want_ties="ties" in needed,
            want_rows=True,
            threads=each,
            progress=progress,
            name=name,
        )
        skipping = replace(graded, policy=graded.policy.replace(undefined="skip"))
        codes, lengths, documents = _first_ranks(graded, cast(Run, graded.run), depth)
        asked, others = evaluate_graded(graded, measures), evaluate_graded(skipping, beside)
        return KeptRun(asked, others, codes, lengths, documents)

    opened = {name: RunSource.of(run, name=name).at_hand() for name, run in runs.items()}
    return in_parallel([partial(one, name, run) for name, run in opened.items()], workers, progress)


def _first_ranks(graded: GradedRun, run: Run, depth: int) -> tuple[NDArray[np.uint16], Ints, Spans]:
    shown = graded.condensed() if graded.policy.unjudged == "condensed" else graded
    lengths = np.minimum(shown.retrieved, depth)
    codes = np.where(np.arange(depth) < lengths[:, None], UNJUDGED, ENDED).astype(np.uint16)
    query, rank = np.repeat(np.arange(lengths.size), np.diff(shown.hit_offsets)), shown.hit_rank
    near = rank <= depth
    codes[query[near], rank[near] - 1] = FIRST_LEVEL + np.searchsorted(graded.judged.levels, shown.hit_grade[near])
    rows = shown.row[np.repeat(shown.list_offsets[:-1], lengths) + _counting(lengths)]
    spans = _alone((run.data, run.document_start[rows], run.document_length[rows]))
    return codes, lengths, spans


def _counting(lengths: Ints) -> Ints:
    """0, 1, 2, ... for each of these lengths."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _alone(spans: Spans) -> Spans:
    """The same texts without what stood between them."""
    data, start, length = spans
    first = np.cumsum(length) - length
    return data[np.repeat(start, length) + _counting(length)], first, length


class Pool(NamedTuple):
    """Judged documents of the queries at some places: where each query's begin, and of each its level."""

    offsets: Ints
    level: Ints
    documents: Spans

    @classmethod
    def of(cls, judged: Judged, places: Ints, most: int) -> Pool:
        """Those with a grade above 0, best first, so many a query at most."""
        relevant = judged.grade > 0
        (offsets, found), items = judged.best_first_of(relevant), judged.items_best_first(relevant)
        row, at = gather(offsets, places)
        near = found.rank[at] <= most
        row, at = row[near], at[near]
        qrels, row_of = judged.qrels, np.zeros(judged.grade.size, np.int64)
        row_of[judged.item] = np.arange(judged.item.size)
        rows = row_of[items[at]]
        spans = _alone((qrels.data, qrels.document_start[rows], qrels.document_length[rows]))
        counts = np.bincount(row, minlength=places.size)
        level = np.searchsorted(judged.levels, found.grade[at])
        return cls(np.concatenate(([0], np.cumsum(counts))), level, spans)


def level_counts(judged: Judged, places: Ints) -> tuple[Ints, Ints, Ints]:
    """Which levels the judged documents of the queries at some places have, and how many have each: where each query's
    levels begin, the levels, the counts."""
    offsets, found = judged.best_first
    row, at = gather(offsets, places)
    levels = judged.levels.size
    keys, counts = np.unique(row * levels + np.searchsorted(judged.levels, found.grade[at]), return_counts=True)
    begin = np.searchsorted(keys, np.arange(places.size + 1) * levels)
    return begin, keys % levels, counts


class Documents(NamedTuple):
    """The documents of every query in the order in which they appear, and which one stands at the ranks of each run
    (systems x queries x ranks) and in the pool (its place).

    At a rank is 0 where there is no document, 1 where a new one appears, and 2 + d where it is the d-th before the one
    that appeared last: most numbers are small then, which is what makes a page of many lists small.
    """

    ids: list[list[str]]
    at_rank: Ints
    of_pool: Ints


def documents_of(kept: Sequence[KeptRun], chosen: Ints, pool: Pool, depth: int) -> Documents:
    """Numbers the documents of the queries at the ``chosen`` places: rank by rank over the runs, then the pool's."""
    size, spans, cells = chosen.size, [], []
    for system, run in enumerate(kept):
        offsets = np.concatenate(([0], np.cumsum(run.lengths)))
        row, at = gather(offsets, chosen)
        rank = ordinal_in_row(row) - 1
        near = rank < depth
        row, at, rank = row[near], at[near], rank[near]
        spans.append((run.documents[0], run.documents[1][at], run.documents[2][at]))
        cells.append(np.stack((row, rank, np.full(row.size, system))))
    in_pool = np.repeat(np.arange(size), np.diff(pool.offsets))
    spans.append(pool.documents)
    cells.append(np.stack((in_pool, np.full(in_pool.size, depth), np.arange(in_pool.size))))
    ids, number = core.number_ids(*_joined(spans))
    query, rank, system = np.concatenate(cells, axis=1)
    most = max(len(kept), in_pool.size)
    order = np.argsort((query * (depth + 1) + rank) * most + system, kind="stable")
    query, rank, system, number = query[order], rank[order], system[order], number[order]
    _, first, which = np.unique(query * (len(ids) + 1) + number, return_index=True, return_inverse=True)
    appears = np.zeros(number.size, bool)
    appears[first] = True
    # How many of its query's documents there are down to every cell, and which of them stands there, both from 1.
    begins = np.searchsorted(query, np.arange(size + 1))
    before = np.concatenate(([0], np.cumsum(appears)))
    count = before[1:] - before[begins[query]]
    place = count[first][which.ravel()]
    names = np.array([each.decode("utf-8", "backslashreplace") for each in ids], object)[number[appears]]
    listed = [names[a:b].tolist() for a, b in pairwise(before[begins])]
    in_lists = rank < depth
    at_rank = np.zeros((len(kept), size, depth), np.int64)
    code = np.where(appears, 1, 2 + count - place)
    at_rank[system[in_lists], query[in_lists], rank[in_lists]] = code[in_lists]
    return Documents(listed, at_rank, place[~in_lists] - 1)


def _joined(spans: Sequence[Spans]) -> Spans:
    before = np.cumsum([0, *(data.size for data, _, _ in spans)])
    starts = [start + at for (_, start, _), at in zip(spans, before, strict=False)]
    return (
        np.concatenate([data for data, _, _ in spans]),
        np.concatenate(starts),
        np.concatenate([length for _, _, length in spans]),
    )


_ID_TIERS = 2  # of the names of documents those that are sure to be ids
_NAMES: Names = {
    "document": (
        *NAMES["document"][:_ID_TIERS],
        "did",
        "id _id",
        *NAMES["document"][_ID_TIERS:],
        "query_id",  # what records have without a header
    ),
    "text": ("title headline name", "text body content contents passage abstract"),
}
#: Longer texts are cut: a page shows a line a document.
_LONGEST = 160


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTitles:
    """A table of documents: a CSV or TSV with a header, JSON objects, a data frame, or a dict of titles by id;
    ``called`` is what its columns for document and text are called, if by no usual name."""

    table: Any
    called: Mapping[str, str]

    @property
    def name(self) -> str:
        """What messages call it: its file if it has one."""
        return os.fspath(self.table) if isinstance(self.table, (str, os.PathLike)) else "documents"

    @cached_property
    def _titles(self) -> dict[str, str]:
        found: dict[str, str] = {}
        columns: tuple[str, ...] | None = None
        for record in read_records(self.table, self.name, (*_NAMES["document"], *map(folded, self.called.values()))):
            if columns is None:
                columns = _columns(list(record.values), self.called, self.name)
            value = record.values.get(columns[1])
            if value is not None and value != "":
                identifier = record.values.get(columns[0])
                document = read_id(identifier, record.where).decode("utf-8", "backslashreplace")
                found.setdefault(document, _short(str(value)))
        return found

    def of(self, documents: Sequence[Iterable[str]]) -> dict[str, str]:
        """The titles of the documents that are shown; a table that has none of them is refused."""
        shown = dict.fromkeys(chain.from_iterable(documents))
        found = {each: title for each in shown if (title := self._titles.get(each)) is not None}
        if not found:
            there = f"there are {some_of(list(self._titles), 3)}" if self._titles else "it is empty"
            raise InputError(
                f"{self.name}: expected titles of documents such as {some_of(list(shown), 3)}, found none of them",
                f"{there}; are its ids those of the runs?",
            )
        return found


def _columns(names: list[str], called: Mapping[str, str], where: str) -> tuple[str, ...]:
    """What the columns of ids and of titles are called."""
    found = []
    for role, what in (("document", "the document's id"), ("text", "its title or text")):
        place = find_role(role, names, called, where, _NAMES)
        if place is None:
            known = ", ".join(listed_names(_NAMES[role][: _ID_TIERS + 2]))
            hint = f"{option('columns', {f'documents.{role}': 'NAME'})} says which it is"
            raise InputError(f"{where}: expected a column for {what} ({known}), found {', '.join(names)}", hint)
        found.append(names[place])
    return tuple(found)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
