"""The documents that two sets of judgments have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.core import core
from gainful.data.judged import Judged
from gainful.errors import InputError
from gainful.notation import count_of, printable
from gainful.progress import Progress

_IN_INPUT_ORDER = (2, 3)  # order and ties as the core counts them: ranks are then places in the list


@dataclass(frozen=True, eq=False, repr=False)
class CommonDocuments:
    """Both grades of every document that two sets of judgments have; by query, in byte order of the queries.

    ``only_a`` and ``only_b`` count the documents that the other set does not have. A document whose grade the policy
    calls unjudged is in neither.
    """

    query_ids: tuple[bytes, ...]  # those with a common document
    query: Ints  # document -> position in query_ids
    a: Floats
    b: Floats
    only_a: int
    only_b: int

    @classmethod
    def of(cls, a: Judged, b: Judged) -> CommonDocuments:
        """Meets two sets of judgments; nothing in common is an error."""
        query, item_a, item_b = _common_items(a, b)
        met = query.size
        graded = ~(np.isnan(a.grade[item_a]) | np.isnan(b.grade[item_b]))
        query, item_a, item_b = query[graded], item_a[graded], item_b[graded]
        if not query.size:
            raise _nothing_graded(a, b, met) if met else _nothing_common(a, b)
        has_some = np.bincount(query, minlength=len(a.qrels.query_ids)) > 0
        return cls(
            tuple(identifier for identifier, kept in zip(a.qrels.query_ids, has_some.tolist(), strict=True) if kept),
            (np.cumsum(has_some) - 1)[query],
            a.grade[item_a],
            b.grade[item_b],
            int(np.count_nonzero(~np.isnan(a.grade))) - query.size,
            int(np.count_nonzero(~np.isnan(b.grade))) - query.size,
        )

    def __len__(self) -> int:
        return int(self.query.size)


def _common_items(a: Judged, b: Judged) -> tuple[Ints, Ints, Ints]:
    """For every common document its query (as A counts them) and its item on either side.

    To the core the documents of B are lists that meet the judgments of A: what is retrieved and judged is common.
    """
    row_of_item = np.empty(int(b.item_offsets[-1]), np.int64)
    row_of_item[b.item] = np.arange(b.item.size)
    joined = core.join_columns(
        list(b.qrels.query_ids),
        b.item_offsets,
        b.qrels.data,
        b.qrels.document_start[row_of_item],
        b.qrels.document_length[row_of_item],
        np.zeros(row_of_item.size),
        np.zeros(0),
        a.index,
        *_IN_INPUT_ORDER,
        False,
        False,
        0,
        False,
        False,
        1,
        Progress().cells,
    )
    place_in_b = {identifier: i for i, identifier in enumerate(b.qrels.query_ids)}
    start = np.array([b.item_offsets[place_in_b.get(identifier, 0)] for identifier in a.qrels.query_ids], np.int64)
    query = np.repeat(np.arange(start.size), np.diff(joined["hit_offsets"]))
    return query, joined["hit_item"].astype(np.int64), start[query] + joined["hit_rank"] - 1


def _nothing_common(a: Judged, b: Judged) -> InputError:
    shared = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))
    return InputError(
        f"{b.qrels.name}: expected documents that {a.qrels.name} judges too, found none: "
        f"{a.qrels.name} has {_example(a, shared)}, {b.qrels.name} has {_example(b, shared)}",
        "are these judgments of the same queries and documents? Ids have to be equal to the byte",
    )


def _nothing_graded(a: Judged, b: Judged, met: int) -> InputError:
    documents = count_of(met, "common document")
    return InputError(
        f"{b.qrels.name}: expected documents that {a.qrels.name} grades too, found {documents} with a grade below 0 "
        "on one side, and negative=unjudged leaves these out",
        "--negative judged counts them as not relevant",
    )


def _example(judged: Judged, preferred: list[bytes]) -> str:
    """A document of a preferred query if there is one; the same in any order of the input."""
    qrels = judged.qrels
    judged_queries = set(qrels.query.tolist())
    order = [*preferred, *qrels.query_ids]
    query = next(q for q in order if qrels.query_ids.index(q) in judged_queries)
    rows = np.flatnonzero(qrels.query == qrels.query_ids.index(query))
    document = min(qrels.document(row) for row in rows.tolist())
    return f"document '{printable(document)}' for query '{printable(query)}'"
