"""Documents that are in a list twice, and what computations that do not refuse them make of that."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from gainful.arrays import Ints
from gainful.core import core
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.io.objects import pack


class Repeats:
    """The repeated documents of a run, row by row."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._list = np.repeat(np.arange(len(run.query_ids)), np.diff(run.list_offsets))
        self._item = _documents(run, self._list)

    def without_earlier(self) -> Run:
        """The run as a dict keeps it: of every document only its last line."""
        last = np.zeros(int(self._item.max(initial=-1)) + 1, np.int64)
        last[self._item] = np.arange(len(self._run))  # later rows overwrite earlier ones
        return _rows(self._run, np.sort(last))

    def told_apart(self, qrels: Qrels) -> tuple[Run, Qrels, Ints]:
        """The run with its repeated documents as documents of their own, which are judged like the first.

        With the judgments comes the row of the old ones that each of the new ones is a copy of.
        """
        run = self._run
        copies = np.flatnonzero(self._nth > 0)
        data, start, length = pack([_copy_id(run.document(int(row)), int(self._nth[row])) for row in copies])
        document_start, document_length = run.document_start.copy(), run.document_length.copy()
        document_start[copies], document_length[copies] = start + run.data.size, length
        renamed = replace(
            run,
            data=np.concatenate((run.data, data)),
            document_start=document_start,
            document_length=document_length,
            origin=None,
        )
        return renamed, *self._judged_alike(qrels, copies)

    @property
    def _nth(self) -> Ints:
        """How many rows of the same list and document come before each row."""
        order = np.argsort(self._item, kind="stable")
        item = self._item[order]
        starts = np.flatnonzero(np.diff(item, prepend=-1))
        nth = np.empty_like(order)
        nth[order] = np.arange(item.size) - np.repeat(starts, np.diff(starts, append=item.size))
        return nth

    def _judged_alike(self, qrels: Qrels, copies: Ints) -> tuple[Qrels, Ints]:
        run = self._run
        counts = Counter((run.query_ids[int(self._list[row])], run.document(int(row))) for row in copies)
        queries = {query for query, _ in counts}
        wanted = np.array([query in queries for query in qrels.query_ids], bool)
        rows: list[int] = []
        ids: list[bytes] = []
        for row in np.flatnonzero(wanted[qrels.query]).tolist():
            document = qrels.document(row)
            for nth in range(1, counts[qrels.query_ids[int(qrels.query[row])], document] + 1):
                rows.append(row)
                ids.append(_copy_id(document, nth))
        data, start, length = pack(ids)
        chosen = np.array(rows, np.int64)
        judgments = replace(
            qrels,
            data=np.concatenate((qrels.data, data)),
            query=np.append(qrels.query, qrels.query[chosen]),
            document_start=np.append(qrels.document_start, start + qrels.data.size),
            document_length=np.append(qrels.document_length, length),
            subtopic=np.append(qrels.subtopic, qrels.subtopic[chosen]),
            grade=np.append(qrels.grade, qrels.grade[chosen]),
            origin=None,
        )
        return judgments, np.append(np.arange(len(qrels)), chosen)


def _documents(run: Run, lists: Ints) -> Ints:
    """A number for every row that equal documents of one list share; what indexes judgments can tell them, too."""
    order = sorted(range(len(run.query_ids)), key=run.query_ids.__getitem__)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ids = [run.query_ids[i] for i in order]
    return core.JudgmentIndex(ids, place[lists], run.data, run.document_start, run.document_length).item


def _copy_id(document: bytes, nth: int) -> bytes:
    """An id of its own that stands, in byte order, directly after the document's."""
    return document + b"\0" * nth


def _rows(run: Run, rows: Ints) -> Run:
    return replace(
        run,
        list_offsets=np.searchsorted(rows, run.list_offsets),
        document_start=run.document_start[rows],
        document_length=run.document_length[rows],
        score=run.score[rows] if run.has_scores else run.score,
        rank=run.rank[rows] if run.has_ranks else run.rank,
        origin=None if run.origin is None else run.origin.take(rows),
    )
