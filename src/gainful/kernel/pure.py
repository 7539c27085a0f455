"""The core in pure Python, for machines without a compiler.

Names, contract and results equal those of ``gainful.kernel._core``, documented in ``_core.pyi``. Clarity has priority
over speed, but all operations take linear time in the length of a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gainful.kernel.arrays import offsets_of
from gainful.kernel.exact_sums import subset_sums
from gainful.kernel.pure_tables import (  # noqa: F401 - some are re-exported as part of the contract
    DUPLICATE,
    FIELD,
    FIELDS,
    RANK,
    ArrowTable,
    distinct,
    earliest,
    fault_of,
    floats,
    ids_at,
    ints,
    lines_of,
    number,
    number_ids,
    pack_dicts,
    pack_ids,
    read_letor,
    read_table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gainful.kernel._core import Bytes, Fault, Floats, Ints, Joined, JudgmentText, Keys, ListFacts, RunText

KIND: Final = "Python"

_ORDER_SCORE, _ORDER_RANK = 0, 1
_TIES_DOCID_DESC, _TIES_DOCID_ASC, _TIES_RANK = 0, 1, 2
#: Number of documents at the top of a list that facts refer to.
_TOP = 10


class JudgmentIndex:
    """An index of judged documents by query and document ID."""

    def __init__(
        self, query_ids: list[bytes], query: Ints, data: Bytes, document_start: Ints, document_length: Ints
    ) -> None:
        documents = ids_at(data, document_start, document_length)
        if len(query) != len(documents) or np.any((query < 0) | (query >= len(query_ids))):
            raise ValueError("each row needs the position of its query")
        _require_distinct(query_ids)
        numbers: list[dict[bytes, int]] = [{} for _ in query_ids]
        within = [
            numbers[at].setdefault(document, len(numbers[at]))
            for at, document in zip(query.tolist(), documents, strict=True)
        ]
        self.item_offsets = offsets_of([len(of_query) for of_query in numbers])
        self.item = ints(within) + self.item_offsets[query]
        # Query ID -> its first item, and the numbers of its documents relative to that; in the order of query_ids.
        self._judged = dict(zip(query_ids, zip(self.item_offsets.tolist(), numbers, strict=False), strict=True))

    def find_hits(
        self, query: Ints, list_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
    ) -> tuple[Ints, Ints, Ints, bool]:
        documents = ids_at(data, document_start, document_length)
        _require_offsets(list_offsets, len(documents))
        judged: list[tuple[int, dict[bytes, int]]] = list(self._judged.values())
        if len(query) + 1 != len(list_offsets) or np.any(query >= len(judged)):
            raise ValueError("each list needs the position of its query")
        judged.append((0, {}))  # for lists without judgments: -1 selects the last entry
        of_row = np.repeat(np.arange(len(query)), np.diff(list_offsets))
        by_row = np.maximum(query, -1)[of_row].tolist()
        items = ints(
            [
                judged[at][0] + judged[at][1].get(document, -1 - judged[at][0])
                for at, document in zip(by_row, documents, strict=True)
            ]
        )
        place = np.flatnonzero(items >= 0)
        has_repeats = bool(find_repeats(list_offsets, data, document_start, document_length, threads).any())
        return place, of_row[place], items[place], has_repeats


def find_repeats(
    group_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
) -> NDArray[np.bool_]:
    """Return whether each ID occurs earlier in its group."""
    documents = ids_at(data, document_start, document_length)
    _require_offsets(group_offsets, len(documents))
    repeats = np.zeros(len(documents), bool)
    for begin, end in pairwise(group_offsets.tolist()):
        seen: set[bytes] = set()
        for i in range(begin, end):
            repeats[i] = documents[i] in seen
            seen.add(documents[i])
    return repeats


def _require_offsets(offsets: Ints, rows: int) -> None:
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != rows or np.any(np.diff(offsets) < 0):
        raise ValueError("the list offsets do not fit the rows")


def _require_distinct(query_ids: list[bytes]) -> None:
    if len(set(query_ids)) < len(query_ids):
        raise ValueError("the query ids are not distinct")


def _line_pattern(field_count: int) -> re.Pattern[bytes]:
    """Return a pattern for lines of exactly ``field_count`` fields that are not comments.

    ``bytes.split()`` would also split at CR, VT and FF.
    """
    fields = [rb"([^ \t#][^ \t]*)"] + [rb"([^ \t]+)"] * (field_count - 1)
    return re.compile(rb"[ \t]*" + rb"[ \t]+".join(fields) + rb"[ \t]*")


_JUDGMENT_LINE = _line_pattern(4)
_RUN_LINE = _line_pattern(6)


def _text_rows(
    data: Bytes, pattern: re.Pattern[bytes], number_field: int, faults: list[Fault]
) -> list[tuple[int, re.Match[bytes], float]]:
    """Return offset, fields and number of each valid line; add the others to the faults."""
    rows = []
    for start, content in lines_of(data.tobytes()):
        line = pattern.fullmatch(content)
        if line is None:
            first = FIELD.search(content)
            if first and not first[0].startswith(b"#"):
                faults.append((start, FIELDS, sum(1 for _ in FIELD.finditer(content))))
            continue
        value = number(line[number_field])
        if fault := fault_of(value):
            faults.append((start, fault, 0))
        else:
            rows.append((start, line, value))
    return rows


def read_judgments(data: Bytes, threads: int) -> JudgmentText:
    """Read judgments in TREC text."""
    faults: list[Fault] = []
    rows = _text_rows(data, _JUDGMENT_LINE, 4, faults)
    query_ids, query = distinct([line[1] for _, line, _ in rows])
    subtopic_ids, subtopic = distinct([line[2] for _, line, _ in rows])
    return {
        "query_ids": query_ids,
        "query": query,
        "subtopic_ids": subtopic_ids,
        "subtopic": subtopic,
        "document_start": ints([start + line.start(3) for start, line, _ in rows]),
        "document_length": ints([len(line[3]) for _, line, _ in rows]),
        "grade": floats([grade for _, _, grade in rows]),
        "line": ints([start for start, _, _ in rows]),
        "faults": earliest(faults),
        "fault_count": len(faults),
    }


def read_run(data: Bytes, threads: int) -> RunText:
    """Read a run in TREC text."""
    return _read_run(data, [])


def _read_run(data: Bytes, faults: list[Fault]) -> RunText:
    """Return the rows of valid lines; add the others to ``faults``."""
    rows = _text_rows(data, _RUN_LINE, 5, faults)
    query_ids, query = distinct([line[1] for _, line, _ in rows])
    grouped = np.argsort(query, kind="stable")
    rank_texts = [line[4] for _, line, _ in rows]
    ranks = {text: number(text) for text in set(rank_texts)}  # lists share most of their ranks
    rank = floats([ranks[text] for text in rank_texts])
    rank[np.isinf(rank)] = np.nan
    return {
        "query_ids": query_ids,
        "list_offsets": offsets_of(np.bincount(query, minlength=len(query_ids))),
        "document_start": ints([start + line.start(3) for start, line, _ in rows])[grouped],
        "document_length": ints([len(line[3]) for _, line, _ in rows])[grouped],
        "score": floats([score for _, _, score in rows])[grouped],
        "rank": rank[grouped],
        "line": ints([start for start, _, _ in rows])[grouped],
        "faults": earliest(faults),
        "fault_count": len(faults),
    }


@dataclass(frozen=True)
class JoinOptions:
    """A policy's conventions for lists, and the results that are wanted."""

    order: int
    ties: int
    float32: bool
    keep_first: bool
    depth: int
    want_scores: bool = False
    want_rows: bool = False
    want_facts: bool = False

    def __post_init__(self) -> None:
        if self.order not in range(3) or self.ties not in range(4) or self.depth < 0:
            raise ValueError("there is no such order, rule for ties or depth")

    @property
    def needs_rank(self) -> bool:
        return self.order == _ORDER_RANK or self.ties == _TIES_RANK


@dataclass(frozen=True, eq=False)
class ListColumns:
    """The lists of a run in columns."""

    query_ids: list[bytes]
    list_offsets: Ints
    data: Bytes
    document_start: Ints
    document_length: Ints
    score: Floats
    rank: Floats


class _Run:
    """The rows of a run, grouped by query, with statistics collected while ordering.

    Columns are lists, because access to single elements is faster than with arrays.
    """

    def __init__(self, documents: list[bytes], score: Floats, rank: Floats, where: Ints, options: JoinOptions) -> None:
        self.documents, self.options = documents, options
        self.score: list[float] = score.tolist()
        self.rank: list[float] = rank.tolist()
        self.where: list[int] = where.tolist()
        with np.errstate(all="ignore"):  # a score too large for a float32 becomes infinite, which sorts correctly
            compared = score.astype(np.float32).astype(np.float64) if options.float32 else score
        self.compared: list[float] = compared.tolist()
        self.faults: list[Fault] = []
        self.duplicate_count = self.rank_conflicts = self.float32_ties = self.tied_count = 0
        self.inexact_ties = 0

    def first_rows(self, rows: Iterable[int]) -> dict[bytes, int]:
        """Return the first of the given rows of each document."""
        first: dict[bytes, int] = {}
        for row in rows:
            first.setdefault(self.documents[row], row)
        return first

    def repeats(self, rows: range) -> list[tuple[int, int]]:
        """Return the places of each repeated document and of its first occurrence."""
        first = self.first_rows(rows)
        origins = ((row, first[self.documents[row]]) for row in rows)
        return [(self.where[row], self.where[origin]) for row, origin in origins if origin != row]

    def ranked(self, rows: range, judged: bool) -> list[int]:
        """Order the rows of one query, collect statistics, and remove duplicates."""
        ordered = self._ordered(rows)
        if self.options.order == _ORDER_SCORE and judged:
            highest = -math.inf
            left = self.options.depth or len(ordered)  # count ties only above the cutoff
            for _, group in groupby(ordered, key=self.compared.__getitem__):
                tied = list(group)
                # A rank conflicts with the score if it is lower than that of a better score; NaN does not conflict.
                self.rank_conflicts += sum(self.rank[row] < highest for row in tied)
                highest = max([highest, *(self.rank[row] for row in tied)])
                seen, left = min(len(tied), left), left - min(len(tied), left)
                self.tied_count += seen if len(tied) > 1 else 0
                # Scores that differ are equal only after rounding to float32.
                scores = {self.score[row] for row in tied}
                self.float32_ties += seen if len(scores) > 1 else 0
                self.inexact_ties += seen if len(scores) == 1 < len(tied) and abs(scores.pop()) >= 2**53 else 0
        kept = list(self.first_rows(ordered).values())
        if len(kept) < len(rows):
            self.duplicate_count += len(rows) - len(kept) if judged else 0
            if not self.options.keep_first:
                self.faults += [(where, DUPLICATE, first) for where, first in self.repeats(rows)]
        return kept

    def group_bounds(self, ordered: list[int]) -> list[tuple[int, int]]:
        """Return the first and the last rank of each document's group of equal scores."""
        bounds: list[tuple[int, int]] = []
        is_by_score = self.options.order == _ORDER_SCORE
        for _, group in groupby(range(len(ordered)), key=lambda at: self.compared[ordered[at]] if is_by_score else at):
            places = list(group)
            bounds += [(places[0] + 1, places[-1] + 1)] * len(places)
        return bounds

    def _ordered(self, rows: range) -> list[int]:
        """Return the rows from best to worst, sorting stably by the least important key first."""
        ordered = list(rows)
        if self.options.order not in (_ORDER_SCORE, _ORDER_RANK):
            return ordered
        if self.options.ties in (_TIES_DOCID_DESC, _TIES_RANK):
            ordered.sort(key=self.documents.__getitem__, reverse=True)  # also keeps equal IDs in input order
        elif self.options.ties == _TIES_DOCID_ASC:
            ordered.sort(key=self.documents.__getitem__)
        if self.options.needs_rank:
            ordered.sort(key=self.rank.__getitem__)
        if self.options.order == _ORDER_SCORE:
            ordered.sort(key=self.compared.__getitem__, reverse=True)
        return ordered


def join_text(data: Bytes, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Ints) -> Joined:
    """Read a run in TREC text and join it; progress counts bytes."""
    faults: list[Fault] = []
    text = _read_run(data, faults)
    documents = ids_at(data, text["document_start"], text["document_length"])
    run = _Run(documents, text["score"], text["rank"], text["line"], options)
    run.faults += faults
    return _join(run, text["query_ids"], text["list_offsets"], index, data.size, progress)


def join_columns(run: ListColumns, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Ints) -> Joined:
    """Join a run in columns; progress counts rows."""
    if len(run.list_offsets) != len(run.query_ids) + 1:
        raise ValueError("the list offsets do not fit the rows")
    _require_offsets(run.list_offsets, len(run.score))
    sizes = len(run.document_start), len(run.document_length)
    if sizes != (len(run.score),) * 2 or len(run.rank) not in (0, len(run.score)):
        raise ValueError("the columns differ in length")
    documents = ids_at(run.data, run.document_start, run.document_length)
    _require_distinct(run.query_ids)
    if np.isnan(run.score).any():
        raise ValueError("a score is not a number")
    if options.needs_rank and len(run.rank) != len(documents):
        raise ValueError("there is no rank column")
    ranks = run.rank if len(run.rank) else np.full(len(documents), np.nan)
    rows = _Run(documents, run.score, ranks, np.arange(len(documents)), options)
    return _join(rows, run.query_ids, run.list_offsets, index, len(documents), progress)


def _join(run: _Run, query_ids: list[bytes], offsets: Ints, index: JudgmentIndex, work: int, progress: Ints) -> Joined:
    """Order the lists, unless there are faults, and join them with the judgments, in the order of the index."""
    lists: dict[bytes, list[int]] = {}
    facts: list[dict[str, float]] = []
    row_count, options = len(run.documents), run.options
    position = {query: at for at, query in enumerate(index._judged)}
    if options.needs_rank:
        ranked_rows = zip(run.where, run.rank, strict=True)
        run.faults += [(where, RANK, 0) for where, rank in ranked_rows if math.isnan(rank)]
    if run.faults or not row_count:
        progress[0] += work
    for query, (begin, end) in zip(query_ids, pairwise(offsets.tolist()), strict=True) if not run.faults else ():
        if progress[1]:
            raise RuntimeError("cancelled")
        kept = run.ranked(range(begin, end), query in position)
        if options.want_facts:
            judged = frozenset(index._judged[query][1]) if query in position else frozenset[bytes]()
            facts.append(_inspect(run, range(begin, end), kept, (position.get(query, -1), query), judged))
        lists[query] = kept[: options.depth or None]
        if end > begin:  # shares of the work add up to its total
            progress[0] += work * end // row_count - work * begin // row_count
    answers = [lists.get(query, []) for query in index._judged]
    hits = [
        [
            (rank, first_item + numbers[run.documents[row]])
            for rank, row in enumerate(rows, 1)
            if run.documents[row] in numbers
        ]
        for rows, (first_item, numbers) in zip(answers, index._judged.values(), strict=True)
    ]
    groups = [run.group_bounds(rows) for rows in answers]
    bounds = [of_list[rank - 1] for of_list, found in zip(groups, hits, strict=True) for rank, _ in found]
    tied = [(at, first, last) for at, (first, last) in enumerate(bounds) if last > first]
    return {
        "answered": np.array([query in lists for query in index._judged], dtype=np.bool_),
        "retrieved": ints([len(rows) for rows in answers]),
        "hit_offsets": offsets_of([len(of_query) for of_query in hits]),
        "hit_rank": np.array([rank for of_query in hits for rank, _ in of_query], dtype=np.int32),
        "hit_item": np.array([item for of_query in hits for _, item in of_query], dtype=np.int32),
        "tied_hit": ints([at for at, _, _ in tied]),
        "tied_first": np.array([first for _, first, _ in tied], dtype=np.int32),
        "tied_last": np.array([last for _, _, last in tied], dtype=np.int32),
        "scores": floats([run.compared[row] for rows in answers for row in rows if options.want_scores]),
        "rows": ints([run.where[row] for rows in answers for row in rows if options.want_rows]),
        "extra_ids": sorted(lists.keys() - index._judged.keys()),
        "list_count": len(lists),
        "row_count": row_count,
        "duplicate_count": run.duplicate_count,
        "rank_conflicts": run.rank_conflicts,
        "float32_ties": run.float32_ties,
        "tied_count": run.tied_count,
        "inexact_ties": run.inexact_ties,
        "facts": _fact_columns(run, query_ids, facts) if options.want_facts else None,
        "faults": earliest(run.faults),
        "fault_count": len(run.faults),
    }


def _inspect(
    run: _Run, rows: range, order: Sequence[int], query: tuple[int, bytes], judged: frozenset[bytes]
) -> dict[str, float]:
    """Return the facts about one list under the names of the contract.

    ``order`` holds its distinct documents, best first, before the cutoff.
    """
    shown = order[: run.options.depth or None]
    repeats = run.repeats(rows) if len(order) < len(rows) else []
    itself = [(place, run.where[row]) for place, row in enumerate(order, 1) if run.documents[row] == query[1]]
    unjudged = [run.where[row] for row in shown[:_TOP] if query[0] >= 0 and run.documents[row] not in judged]
    ranks = [run.rank[row] for row in order if not math.isnan(run.rank[row])]
    facts: dict[str, float] = {
        "query": query[0],
        "rows": len(rows),
        "first": run.where[rows[0]] if rows else -1,
        "retrieved": len(shown),
        "duplicates": len(repeats),
        "unranked": len(order) - len(ranks),
        "unjudged_at": next(iter(unjudged), -1),
        "lowest_rank": min(ranks, default=math.nan),  # the first of 0 and -0
        "highest_rank": max(ranks, default=math.nan),
    }
    facts["duplicate_at"], facts["duplicate_of"] = next(iter(repeats), (-1, -1))
    facts["self_rank"], facts["self_at"] = next(iter(itself), (0, -1))
    by_score = sorted(order, key=run.score.__getitem__, reverse=True)
    return facts | _inspect_scores(run, by_score, ranks)


def _inspect_scores(run: _Run, by_score: list[int], ranks: list[float]) -> dict[str, float]:
    """Return facts about ties, ties only in float32, ranks that conflict with scores, and reversed lists."""
    groups = [list(rows) for _, rows in groupby(by_score, key=run.score.__getitem__)]
    ties = [rows for rows in groups if len(rows) > 1]
    with np.errstate(all="ignore"):  # a score too large for a float32 becomes infinite
        rounded = np.array([run.score[row] for row in by_score]).astype(np.float32).tolist()
    pairs = groupby(zip(rounded, by_score, strict=True), key=lambda pair: pair[0])
    alike = [[row for _, row in group] for _, group in pairs]
    rounded_ties = [rows for rows in alike if run.score[rows[0]] != run.score[rows[-1]]]
    unequal = [pair for rows in rounded_ties for pair in pairwise(rows) if run.score[pair[0]] != run.score[pair[1]]]
    conflicts: list[tuple[int, int]] = []
    highest: int | None = None  # row of the highest rank in the previous groups
    for rows in groups:
        if highest is not None:
            conflicts += [(row, highest) for row in rows if run.rank[row] < run.rank[highest]]
        for row in rows:
            if not math.isnan(run.rank[row]) and (highest is None or run.rank[row] > run.rank[highest]):
                highest = row
    # Reversed: each lower score is further up, by rank or, if ranks are missing or constant, in the input.
    ranks_tell = len(ranks) == len(by_score) and min(ranks, default=0.0) < max(ranks, default=0.0)
    places = [[run.rank[row] if ranks_tell else float(row) for row in rows] for rows in groups]
    is_reversed = len(places) > 1 and all(max(lower) < min(higher) for higher, lower in pairwise(places))
    facts: dict[str, float] = {
        "tied": sum(map(len, ties)),
        "float32_tied": sum(map(len, rounded_ties)),
        "rank_conflicts": len(conflicts),
        "constant": int(len(groups) == 1 < len(by_score)),
        "reversed": int(is_reversed),
    }
    examples = {"tied": [(rows[0], rows[1]) for rows in ties], "float32": unequal, "conflict": conflicts}
    for name, found in examples.items():
        places_of = [(run.where[one], run.where[other]) for one, other in found[:1]]
        facts[f"{name}_at"], facts[f"{name}_with"] = next(iter(places_of), (-1, -1))
    return facts


def _fact_columns(run: _Run, query_ids: list[bytes], facts: Sequence[dict[str, float]]) -> ListFacts:
    """Return the facts of all lists, one array per fact, with names and types taken from an empty list."""
    of_nothing = _inspect(run, range(0), [], (-1, b""), frozenset())
    columns = {
        name: np.array([one[name] for one in facts], np.float64 if isinstance(value, float) else np.int64)
        for name, value in of_nothing.items()
    }
    return {"query_ids": query_ids, **columns}  # type: ignore[typeddict-item]


_DRAWS = 1_000  # sums of this many draws stay in the cache


def flipped_sums(steps: Floats, flips: Bytes, threads: int) -> Floats:
    """Look up the sum for every byte of flips in a table of all sums of eight queries."""
    queries, columns = steps.shape
    if 8 * flips.shape[1] < queries:
        raise ValueError("a query has no flips")
    tables = [subset_sums(steps[start : start + 8]) for start in range(0, queries, 8)]
    found = np.zeros((columns, len(flips)))
    for start in range(0, len(flips), _DRAWS):
        part = flips[start : start + _DRAWS]
        total = np.zeros((len(part), columns))
        for table, byte in zip(tables, part.T, strict=False):
            total += table.take(byte & (len(table) - 1), axis=0)
        found[:, start : start + len(part)] = total.T
    return found


def count_extremes(
    sums: Floats, first: Ints, second: Ints, weight: Floats, edge: Floats, reach: Floats, threads: int
) -> tuple[Ints, Ints, Floats]:
    """Process one pair at a time: a row of draws fits into the processor's cache, unlike the matrix of all."""
    columns = first, second, weight, edge, reach
    if len({column.size for column in columns}) > 1:
        raise ValueError("the columns differ in length")
    pairs = list(zip(*(column.tolist() for column in columns), strict=True))
    if any(not 0 <= row < len(sums) for pair in pairs for row in pair[:2]):
        raise ValueError("there is no such row")
    alone, among = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    largest, apart = np.zeros(sums.shape[1]), np.empty(sums.shape[1])
    is_reached = np.empty(largest.size, np.bool_)
    for i, (one, other, factor, least, least_among) in enumerate(pairs):
        np.abs(np.subtract(sums[one], sums[other], out=apart), out=apart)
        apart *= factor
        np.maximum(largest, apart, out=largest)
        alone[i] = np.count_nonzero(np.greater_equal(apart, least, out=is_reached))
        among[i] = np.count_nonzero(np.greater_equal(largest, least_among, out=is_reached))
    return alone, among, largest


def random_keys(state: NDArray[np.uint64], keys: Keys) -> None:
    """Continue NumPy's generator from the state."""
    if state.size != 4:
        raise ValueError("a state has four words")
    generator = np.random.SFC64(0)
    generator.state = {**generator.state, "state": {"state": state}}
    words = np.random.Generator(generator).integers(0, 2**64 - 1, -(-keys.nbytes // 8), np.uint64, endpoint=True)
    state[:] = generator.state["state"]["state"]
    np.bitwise_and(words.view(keys.dtype)[: keys.size].reshape(keys.shape), ~_place_bits(keys), out=keys)
    np.bitwise_or(keys, np.arange(keys.shape[1], dtype=keys.dtype), out=keys)


def add_at_places(sums: Floats, values: Floats, keys: Keys) -> None:
    """Positions beyond the last value hold 0."""
    if not sums.shape == keys.shape == (len(keys), values.size):
        raise ValueError("the shapes differ")
    table = np.zeros(int(_place_bits(keys)) + 1)
    table[: values.size] = values
    sums += table[keys & _place_bits(keys)]


def _place_bits(keys: Keys) -> Any:
    return keys.dtype.type((1 << (keys.shape[1] - 1).bit_length()) - 1)
