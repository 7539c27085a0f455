"""What is remarkable about each list, in pure Python: the twin of ``native/facts.hpp``; ``_core.pyi`` documents it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gainful.kernel._core import ListFacts

_TOP = 10


@dataclass(eq=False)
class Columns:
    """The rows of a run; lists, because element by element these are faster than arrays."""

    documents: list[bytes]
    score: list[float]
    rank: list[float]
    where: list[int]

    def first_rows(self, rows: Iterable[int]) -> dict[bytes, int]:
        """Each document's first row among these, in the order of these."""
        first: dict[bytes, int] = {}
        for row in rows:
            first.setdefault(self.documents[row], row)
        return first


@dataclass
class Facts:
    """The facts of one list, under the names of the contract."""

    query: int = -1
    rows: int = 0
    first: int = -1
    retrieved: int = 0
    duplicates: int = 0
    duplicate_at: int = -1
    duplicate_of: int = -1
    tied: int = 0
    tied_at: int = -1
    tied_with: int = -1
    float32_tied: int = 0
    float32_at: int = -1
    float32_with: int = -1
    rank_conflicts: int = 0
    conflict_at: int = -1
    conflict_with: int = -1
    unranked: int = 0
    constant: int = 0
    reversed: int = 0
    self_rank: int = 0
    self_at: int = -1
    unjudged_at: int = -1
    lowest_rank: float = math.nan
    highest_rank: float = math.nan


def inspect(
    run: Columns, rows: range, order: Sequence[int], query: tuple[int, bytes], judged: frozenset[bytes], depth: int
) -> Facts:
    """The facts of one list. ``order`` holds its distinct documents, best first, not yet cut."""
    number, query_id = query
    shown = order[: depth or None]
    facts = Facts(number, len(rows), run.where[rows[0]] if rows else -1, len(shown), len(rows) - len(order))
    if facts.duplicates:
        first = run.first_rows(rows)
        repeat = next(row for row in rows if first[run.documents[row]] != row)
        facts.duplicate_at, facts.duplicate_of = run.where[repeat], run.where[first[run.documents[repeat]]]
    by_score = sorted(order, key=run.score.__getitem__, reverse=True)
    _look_at_ties(facts, run, by_score)
    _look_at_float32(facts, run, by_score)
    _look_at_ranks(facts, run, order)
    _look_for_conflicts(facts, run, by_score)
    facts.constant = int(len(by_score) > 1 and run.score[by_score[0]] == run.score[by_score[-1]])
    facts.reversed = int(_is_reversed(facts, run, by_score))
    for place, row in enumerate(order, 1):
        if run.documents[row] == query_id:
            facts.self_rank, facts.self_at = place, run.where[row]
    if number >= 0:
        unjudged = (run.where[row] for row in shown[:_TOP] if run.documents[row] not in judged)
        facts.unjudged_at = next(unjudged, -1)
    return facts


def as_columns(query_ids: list[bytes], facts: Sequence[Facts]) -> ListFacts:
    """The facts of all lists, one array a fact."""
    columns = {
        field.name: np.array(
            [getattr(one, field.name) for one in facts],
            dtype=np.float64 if isinstance(field.default, float) else np.int64,
        )
        for field in fields(Facts)
    }
    return {"query_ids": query_ids, **columns}  # type: ignore[typeddict-item]


def _groups(run: Columns, by_score: list[int]) -> list[list[int]]:
    return [list(rows) for _, rows in groupby(by_score, key=run.score.__getitem__)]


def _look_at_ties(facts: Facts, run: Columns, by_score: list[int]) -> None:
    ties = [rows for rows in _groups(run, by_score) if len(rows) > 1]
    if ties:
        facts.tied = sum(map(len, ties))
        facts.tied_at, facts.tied_with = run.where[ties[0][0]], run.where[ties[0][1]]


def _look_at_float32(facts: Facts, run: Columns, by_score: list[int]) -> None:
    with np.errstate(all="ignore"):  # a score too large for a float32 becomes infinite
        rounded = np.array([run.score[row] for row in by_score]).astype(np.float32).tolist()
    pairs = groupby(zip(rounded, by_score, strict=True), key=lambda pair: pair[0])
    groups = [[row for _, row in group] for _, group in pairs]
    told_apart = [rows for rows in groups if run.score[rows[0]] != run.score[rows[-1]]]
    if told_apart:
        facts.float32_tied = sum(map(len, told_apart))
        one, other = next(pair for pair in pairwise(told_apart[0]) if run.score[pair[0]] != run.score[pair[1]])
        facts.float32_at, facts.float32_with = run.where[one], run.where[other]


def _look_at_ranks(facts: Facts, run: Columns, order: Sequence[int]) -> None:
    ranks = [run.rank[row] for row in order if not math.isnan(run.rank[row])]
    facts.unranked = len(order) - len(ranks)
    if ranks:
        facts.lowest_rank, facts.highest_rank = min(ranks), max(ranks)  # of 0 and -0 the first


def _look_for_conflicts(facts: Facts, run: Columns, by_score: list[int]) -> None:
    highest: int | None = None  # the row of the highest rank in the groups before
    for rows in _groups(run, by_score):
        contradicted = [row for row in rows if highest is not None and run.rank[row] < run.rank[highest]]
        if contradicted and highest is not None:
            if not facts.rank_conflicts:
                facts.conflict_at, facts.conflict_with = run.where[contradicted[0]], run.where[highest]
            facts.rank_conflicts += len(contradicted)
        for row in rows:
            if not math.isnan(run.rank[row]) and (highest is None or run.rank[row] > run.rank[highest]):
                highest = row


def _is_reversed(facts: Facts, run: Columns, by_score: list[int]) -> bool:
    """Whether each lower score stands further up, by the rank column or, if that says nothing, in the input."""
    ranks_tell = not facts.unranked and facts.lowest_rank < facts.highest_rank
    groups = [[run.rank[row] if ranks_tell else float(row) for row in rows] for rows in _groups(run, by_score)]
    return len(groups) > 1 and all(max(lower) < min(higher) for higher, lower in pairwise(groups))
