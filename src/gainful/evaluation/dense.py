"""Evaluation of arrays with one row per query: scores of candidates, or ranked items."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged, UnlistedError
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunSource, join_columns
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike, evaluate_runs, looks_swapped
from gainful.frozen import dataclass, replace
from gainful.io.rows import Origin, Rows, Spans, refuse_rows, rows_of_lists
from gainful.kernel.arrays import Bools, Ints, distinct, offsets_of
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, current_progress, in_parallel
from gainful.measures.block import condenses
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.notation import count_of
from gainful.policy import Policy
from gainful.question import unknown_option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gainful.data.items import ItemsLike
    from gainful.data.queries import QueriesLike
    from gainful.evaluation.evaluations import Evaluation
    from gainful.kernel.core import Joined
    from gainful.measures.base import Measure

#: Limits below which every item number has its text ready: an absolute one, and a multiple of the number of items.
_MOST_TEXTS, _TIMES = 1 << 20, 4
_NUMBERS, _WHOLE = "iufb", "iu"
#: Cells ranked at a time, so that they fit the processor's cache; notices use the first 10 ranks.
_CELLS, _TOP = 1 << 18, 10


@warns
def evaluate_arrays(
    scores: Any = None,
    relevance: Any = None,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    ranked_items: Any = None,
    relevant_items: Any = None,
    mask: Any = None,
    exclude: Any = None,
    training: Any = None,
    items: ItemsLike | None = None,
    policy: Policy | str | None = None,
    queries: QueriesLike | None = None,
    name: str = "<arrays>",
    threads: int | None = None,
    **more: object,
) -> Evaluation:
    """Score NumPy arrays, or any arrays with DLPack (PyTorch, JAX, CuPy), with one row per query.

    Results are ``scores`` of candidates, with one column per item, or ``ranked_items``, item numbers with the best
    first. Truth is ``relevance``, grades with one column per item (NaN: not judged), or ``relevant_items``, item
    numbers whose grades ``relevance`` may give. Each is a two-dimensional array, a list with one array per row, or a
    pair of values and offsets; negative item numbers are ignored. ``scores`` and ``relevance`` by column have the same
    shape. ``mask``, with the shape of the results, is False for candidates that do not count; with ``scores`` their
    grades do not count either. A score of minus infinity marks a candidate that was not ranked; its grade counts.

    ``exclude`` and ``training`` list items that users had before, as in :func:`evaluate`: a matrix of users and items
    whose nonzero cells count, dense or from SciPy, or index pairs: an integer array of shape (n, 2), or arrays of rows
    and columns. A matrix for ``exclude`` has the shape of the results. ``items`` is a table indexed by item number.
    Choices of
    the policy are keywords; ``as_given=True`` accepts scores and relevance that look swapped.

    Otherwise, row and item numbers act like IDs in dicts: ``evaluate({row: {item: grade}}, {row: {item: score}})``. IDs
    are compared as texts, so that ties=docid-desc puts item 9 before item 10.

    >>> found = evaluate_arrays([[0.2, 0.9, 0.1], [0.7, 0.4, 0.5]], [[1, 0, 0], [1, 0, 2]], "nDCG@3")
    >>> found.by_query("nDCG@3")
    {'0': 0.6309297535714575, '1': 0.8597186998521972}
    >>> evaluate_arrays(ranked_items=[[7, 3, 5], [5, 3, 9]], relevant_items=[[3], [5, 9]], measures="R@2").mean("R@2")
    0.75
    """
    options: dict[str, Any] = Policy.gathered({"policy": policy, "as_given": False, **more})
    policy, is_as_given = options.pop("policy"), options.pop("as_given")
    if options:
        raise unknown_option("evaluate_arrays", next(iter(options)))
    if (scores is None) == (ranked_items is None):
        raise UsageError(f"one of scores and ranked_items is needed, not {'none' if scores is None else 'both'}")
    if relevance is None and relevant_items is None:
        raise UsageError("relevance or relevant_items is needed")
    results = _Cells.of(name, {"scores": scores}, {"ranked_items": ranked_items})
    truth = _Cells.of(name, {"relevance": relevance}, {"relevant_items": relevant_items})
    if results.size != truth.size:
        raise UsageError(f"{name}: results have {results.size:,} rows, but the truth has {truth.size:,}")
    if results.item is truth.item is None and not np.array_equal(results.offsets, truth.offsets):
        widths = zip(np.diff(results.offsets).tolist(), np.diff(truth.offsets).tolist(), strict=True)
        row, (wanted, found) = next((row, both) for row, both in enumerate(widths) if both[0] != both[1])
        raise UsageError(
            f"{name}: relevance[{row}] has {found:,} grades for {wanted:,} candidates",
            "item numbers, rather than values by column, are passed as ranked_items= (best first) and relevant_items=",
        )
    if results.item is truth.item is None and not is_as_given and looks_swapped(truth.sample(), results.sample()):
        message = f"{name}: the scores look like grades, and relevance like scores: are they swapped?"
        raise UsageError(
            message, "scores come first: evaluate_arrays(scores, relevance); as_given=True skips this check"
        )
    seen = None if exclude is None else _Cells.of_pairs(name, "exclude", exclude, results)
    had = None if training is None else _Cells.of_pairs(name, "training", training)
    notes: tuple[str, ...] = ()
    if mask is not None:
        flat, offsets = _rows(mask, "mask", "biu")
        if not np.array_equal(offsets, results.offsets):
            raise UsageError("mask: expected the shape of the results, found another")
        counts = flat.astype(bool)
        results = results.only(counts)
        if results.item is truth.item is None:
            judged = np.ones_like(counts) if truth.kept is None else truth.kept
            lost = 0 if truth.value is None else int(np.count_nonzero((truth.value > 0) & judged & ~counts))
            truth = truth.only(counts)
            notes = (f"mask excludes {count_of(lost, 'relevant item')} from recall bases",) if lost else ()
    if results.value is not None and not results.is_finite and np.isneginf(results.value).any():
        results = results.only(~np.isneginf(results.value))  # marks items that were not ranked
    for cells in (results, truth):
        cells.refuse_infinite()
    texts, wanted, settled = _Texts(results, truth, *filter(None, (seen, had))), parse_all(measures), Policy.of(policy)
    exclusion, taken = (None if cells is None else _had(cells, texts) for cells in (seen, had))

    def qrels_of(truth: _Cells) -> Qrels:
        qrels = Qrels.from_rows(_cell_rows(truth, texts, 0, truth.size))
        qrels = replace(qrels, notes=(*qrels.notes, *notes), has_users=True)
        return qrels if items is taken is None else qrels.with_items(items, taken)

    def evaluated(judged: Judged, ranks: _Ranks | None = None) -> Evaluation:
        ranked = None if ranks is None else ranks.join
        run = RunSource(name=name, blocks=lambda least: _runs(results, texts, least), ranked=ranked)
        return evaluate_runs(judged, {name: run}, wanted, exclude=exclusion, queries=queries, threads=threads)[name]

    ranks = _Ranks.of(results, truth, wanted, settled, thread_count(threads)) if exclusion is None else None
    if ranks is not None:
        qrels, unlisted = qrels_of(ranks.truth), None
        left_out = (truth.counts - ranks.truth.counts)[by_text(truth.size)]
        if left_out.any():
            levels = distinct(np.append(qrels.levels, 0.0))
            qrels = replace(qrels, levels=tuple(levels.tolist()), scale=float(levels[-1]))
            unlisted = left_out, partial(qrels_of, truth)
        with suppress(UnlistedError):
            return evaluated(Judged(qrels, settled, unlisted=unlisted), ranks)
    return evaluated(Judged(qrels_of(truth), settled))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Items by row, with or without values; row i has cells ``offsets[i] : offsets[i + 1]``."""

    name: str
    what: str  # the argument's name
    offsets: Ints
    item: NDArray[Any] | None  # None if an item's number is its column
    value: NDArray[Any] | None
    kept: Bools | None = None  # cells that count, if not all

    @classmethod
    def of(cls, name: str, values: dict[str, Any], items: dict[str, Any]) -> _Cells:
        """Make cells from arguments by name: values alone, or items with or without values."""
        (what, values_given), (item_name, items_given) = *values.items(), *items.items()
        value, offsets = (None, None) if values_given is None else _rows(values_given, what, _NUMBERS)
        if items_given is None:
            assert offsets is not None
            cells = cls(name, what, offsets, None, value)
        else:
            item, item_offsets = _rows(items_given, item_name, _WHOLE)
            if offsets is not None and not np.array_equal(offsets, item_offsets):
                raise UsageError(f"{what}: expected the shape of {item_name}, found another")
            if item.dtype == np.uint64 and item.max(initial=0) > np.iinfo(np.int64).max:
                raise UsageError(f"{item_name}: expected item numbers below 2^63, found {item.max()}")
            # Use one integer type: NumPy mixes int64 and uint64 to float64, which cannot hold large numbers.
            item = item.astype(np.int64) if item.dtype == np.uint64 else item
            cells = cls(name, item_name, item_offsets, item, value)
            cells = cells.only(item >= 0) if (item < 0).any() else cells
        if what == "relevance" and value is not None and not cells.is_finite and np.isnan(value).any():
            cells = cells.only(~np.isnan(value))
        return cells

    @classmethod
    def of_pairs(cls, name: str, what: str, given: Any, form: _Cells | None = None) -> _Cells:
        """Read the nonzero cells of a matrix (with the shape of the results, if given), or index pairs."""
        pairs = given.nonzero() if hasattr(given, "toarray") else given
        if not isinstance(pairs, tuple):
            flat, offsets = _rows(given, what, _NUMBERS)
            if isinstance(given, list) and flat.dtype.kind in _WHOLE:
                raise UsageError(f"{what}: lists of integers could be index pairs, items or a matrix", "pass an array")
            if flat.dtype.kind not in _WHOLE or np.any(np.diff(offsets) != 2):
                if form is not None and not np.array_equal(offsets, form.offsets):
                    raise UsageError(f"{what}: matrix and results have different shapes", "pass matrix.nonzero()")
                cells = cls(name, what, offsets, None, None) if form is None else replace(form, what=what)
                return cells.only(np.nan_to_num(flat) != 0)
            pairs = (flat[::2], flat[1::2])
        rows = [_rows([each], what, _WHOLE)[0] for each in pairs]
        if len(rows) != 2 or rows[0].size != rows[1].size or min(each.min(initial=0) for each in rows) < 0:
            raise UsageError(f"{what}: expected equally many row and column numbers, none negative")
        row, item = (each.astype(np.int64) for each in rows)
        return cls(name, what, offsets_of(np.bincount(row, minlength=1)), item[np.argsort(row, kind="stable")], None)

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.offsets.size) - 1

    def sample(self) -> list[list[Any]]:
        """Return the first values of the first rows."""
        assert self.value is not None
        starts = self.offsets[:100].tolist()
        return [self.value[start:end][:100].tolist() for start, end in itertools.pairwise(starts)]

    @cached_property
    def counted(self) -> Ints:
        """The indices of the cells that count."""
        return np.arange(self.offsets[-1]) if self.kept is None else np.flatnonzero(self.kept)

    @property
    def counts(self) -> Ints:
        """The number of cells that count, per row."""
        return np.diff(self.offsets if self.kept is None else np.searchsorted(self.counted, self.offsets))

    def only(self, counts: Bools) -> _Cells:
        """Return the cells without those that do not count."""
        return replace(self, kept=counts if self.kept is None else self.kept & counts)

    @cached_property
    def is_finite(self) -> bool:
        """Whether all values are finite, computed without a temporary array."""
        value = self.value
        if value is None or value.dtype.kind != "f" or not value.size:
            return True
        return bool(np.isfinite([value.min(), value.max()]).all())

    def refuse_infinite(self) -> None:
        """Raise InputError for infinite and NaN values."""
        if self.value is None or self.is_finite:
            return
        bad = ~np.isfinite(self.value)
        cells = np.flatnonzero(bad if self.kept is None else bad & self.kept)
        what, origin = "grade" if self.what.startswith("rel") else "score", _Places(self.name, self.what, self.offsets)

        def message(cell: int) -> str:
            assert self.value is not None
            return f"{origin.where(cell)}: expected a finite number as {what}, found {self.value[cell]}"

        refuse_rows(cells, message, "use -inf as the score of unranked items; mask=... leaves out items and grades")


@dataclass(frozen=True, eq=False)
class _Places(Origin):
    """Positions of cells in an argument."""

    what: str
    offsets: Ints

    def place(self, row: int) -> str:
        cell = self.number_of(row)
        at = int(np.searchsorted(self.offsets, cell, "right")) - 1
        return f"{self.what}[{at}][{cell - int(self.offsets[at])}]"


class _Ranks(NamedTuple):
    """The ranks of judged items in rows of scores, computed without sorting the lists."""

    truth: _Cells  # possibly without unused items of grade 0
    width: int
    retrieved: Ints  # by row
    cell: Ints  # cells of the truth, with ranks (0 if not ranked)
    rank: Ints
    tied: int  # cells that share a score in their row

    @classmethod
    def of(
        cls, results: _Cells, truth: _Cells, measures: Sequence[Measure], policy: Policy, threads: int
    ) -> _Ranks | None:
        """Return None if rows must be sorted: a measure needs more than ranks, or most items are judged and count."""
        value, kept, size, width = results.value, results.kept, results.size, int(results.offsets[:2][-1])
        if value is None or not value.size or np.any(np.diff(results.offsets) != width):
            return None
        as_32, place = value.dtype == np.float32, np.argsort(by_text(width))
        tie = {"docid-desc": -place, "docid-asc": place, "input": np.arange(width)}.get(policy.ties)
        is_rounded = policy.scores == "float32" and not as_32
        if tie is None or policy.order != "score" or policy.depth or policy.credits_chunks or is_rounded:
            return None
        cutoffs = [0 if "cutoff" in m.exempt or condenses(m, policy) else m.rank_cutoff or 0 for m in measures]
        grade, seen = truth.value if truth.item is None and all(cutoffs) else None, max(_TOP, *cutoffs)
        cell = at = truth.counted if grade is None else np.zeros(0, np.int64)
        if any(m.needed() for m in measures) or (truth.item is None and 4 * cell.size > value.size):
            return None
        if truth.item is not None:
            at = np.repeat(np.arange(size), np.diff(truth.offsets))[cell] * width + truth.item[cell]
            cell, at = cell[truth.item[cell] < width], at[truth.item[cell] < width]

        def rank_rows(first: int) -> tuple[Ints, Ints, int]:
            begin, end = first * width, min(size, first + rows) * width
            score = value[begin:end] if as_32 else value[begin:end].astype(np.float64, copy=False)
            score = score if kept is None else np.where(kept[begin:end], score, np.nan)
            ranks = RowRanks(score.reshape(-1, width), tie)
            if grade is None:
                mine = slice(*np.searchsorted(at // width, (first, first + rows)))
                return cell[mine], ranks.of(at[mine] - begin), ranks.tied
            listed = (grade[begin:end] != 0) | ranks.among(seen).reshape(-1)
            found = np.flatnonzero(listed if truth.kept is None else listed & truth.kept[begin:end])
            return begin + found, ranks.of(found), ranks.tied

        rows = max(1, _CELLS // width)
        tasks = [partial(rank_rows, first) for first in range(0, size, rows)]
        *columns, tied = zip(*in_parallel(tasks, threads, current_progress()), strict=True)
        cell, rank = map(np.concatenate, columns)
        if grade is not None:
            listed = np.zeros(value.size, bool)
            listed[cell] = True
            truth = truth.only(listed)
        return cls(truth, width, results.counts, cell, rank, sum(tied)) if cell.size else None

    def join(self, judged: Judged) -> tuple[Joined, Callable[[int], Collection[bytes]]]:
        """Join with the judgments; also return a function for the IDs of the items in the first lists."""
        item, first = np.unique(judged.item[np.searchsorted(self.truth.counted, self.cell)], return_index=True)
        item, rank = item[self.rank[first] > 0], self.rank[first][self.rank[first] > 0]
        query = np.searchsorted(judged.item_offsets, item, "right") - 1
        order, ids = np.lexsort((rank, query)), judged.qrels.query_ids

        has_others = self.truth.item is not None and self.truth.item.max(initial=0) >= self.width

        def different(_: int) -> Collection[bytes]:
            if self.retrieved.max() < self.width or has_others:
                raise UnlistedError  # only the full lists can count them
            return [b"%d" % item for item in range(self.width)]

        joined = join_columns(judged.index, ids, Run.without_lists(""), judged.policy, 1, Progress())
        joined["answered"], joined["retrieved"] = np.ones(len(ids), bool), self.retrieved[by_text(len(ids))]
        joined["hit_offsets"] = offsets_of(np.bincount(query, minlength=len(ids)))
        joined["hit_rank"], joined["hit_item"] = rank[order].astype(np.int32), item[order].astype(np.int32)
        joined["list_count"], joined["tied_count"] = len(ids), self.tied
        return joined, different


class _Texts:
    """The decimal texts of item numbers: IDs as spans of bytes."""

    def __init__(self, *parts: _Cells) -> None:
        items = [part.item if part.kept is None else part.item[part.kept] for part in parts if part.item is not None]
        widths = [int(np.diff(part.offsets).max(initial=0)) for part in parts if part.item is None]
        highest = max([*(int(each.max(initial=0)) for each in items), *(width - 1 for width in widths)])
        has_all = highest < max(_MOST_TEXTS, _TIMES * sum(each.size for each in items))
        known = None if has_all else np.unique(np.concatenate([*items, np.arange(max(widths, default=0))]))
        text = (np.arange(highest + 1) if known is None else known).astype(f"S{len(str(highest))}")
        self._known, self._width, self._data = known, text.itemsize, text.view(np.uint8)
        self._length = np.char.str_len(text).astype(np.int64)

    def spans(self, item: NDArray[Any]) -> Spans:
        place = np.searchsorted(self._known, item) if self._known is not None else item.astype(np.int64, copy=False)
        return self._data, place * self._width, self._length[place]


def _cell_rows(cells: _Cells, texts: _Texts, first: int, end: int) -> Rows:
    offsets = cells.offsets[first : end + 1]
    before, after = int(offsets[0]), int(offsets[-1])
    bounds, cell = offsets - before, None
    if cells.kept is not None:
        cell = cells.counted[slice(*np.searchsorted(cells.counted, (before, after)))]
        bounds = np.searchsorted(cell, offsets)
    chosen = slice(before, after) if cell is None else cell
    if cells.item is not None:
        item = cells.item[chosen]
    else:
        item = (np.arange(before, after) if cell is None else cell) - np.repeat(offsets[:-1], np.diff(bounds))
    value = np.ones(item.size) if cells.value is None else cells.value[chosen].astype(np.float64)
    origin = _Places(cells.name, cells.what, cells.offsets, first=before, number=cell)
    query_ids = np.arange(first, end).astype("S20").tolist()
    return Rows(query_ids, rows_of_lists(bounds), texts.spans(item), value, origin)


def _had(cells: _Cells, texts: _Texts) -> Run:
    run = Run.from_rows(_cell_rows(cells, texts, 0, cells.size)._replace(value=None), cells.what)
    return run.take(np.flatnonzero(np.diff(run.list_offsets)))


def _runs(cells: _Cells, texts: _Texts, least: int) -> Iterator[Run]:
    """Yield the lists in blocks of at least ``least`` cells."""
    first = 0
    while first < cells.size:
        end = min(cells.size, int(np.searchsorted(cells.offsets, cells.offsets[first] + least)))
        rows = _cell_rows(cells, texts, first, max(end, first + 1))
        yield Run.from_rows(rows if cells.value is not None else rows._replace(value=None))
        first = max(end, first + 1)


def _rows(given: Any, what: str, kinds: str) -> tuple[NDArray[Any], Ints]:
    """Return the values of all rows, concatenated, and the offsets of rows; read a two-dimensional array, a list of
    rows, or a pair of values and offsets."""
    flat: NDArray[Any]
    offsets: NDArray[Any]
    if isinstance(given, tuple):
        flat, offsets = (_array(each, what) for each in given) if len(given) == 2 else (np.zeros(0), np.zeros((0, 0)))
        is_row = flat.ndim == offsets.ndim == 1 and offsets.size > 0 and offsets.dtype.kind in _WHOLE
        if not is_row or offsets[0] != 0 or offsets[-1] != flat.size or np.any(offsets[1:] < offsets[:-1]):
            raise UsageError(f"{what}: expected values, and offsets from 0 to their number, found something else")
        offsets = offsets.astype(np.int64)
    elif isinstance(given, list):
        rows = [_array(row, what) for row in given]
        if any(row.ndim != 1 for row in rows):
            raise UsageError(f"{what}: expected one-dimensional rows, found others")
        offsets = np.cumsum([0, *(row.size for row in rows)])
        flat = np.concatenate([row for row in rows if row.size] or [np.zeros(0, np.int64)])
    else:
        array = _array(given, what)
        if array.ndim != 2:
            found = type(given).__name__ if array.dtype.kind == "O" or not array.ndim else f"{array.ndim}"
            hint = "m.toarray(), or relevant_items=(m.indices, m.indptr), relevance=(m.data, m.indptr) for a sparse m"
            raise UsageError(
                f"{what}: expected two dimensions, rows and columns, found {found}",
                hint if hasattr(given, "toarray") else None,
            )
        flat, offsets = array.reshape(-1), np.arange(array.shape[0] + 1) * array.shape[1]
    if flat.size and flat.dtype.kind not in kinds:
        wanted = {_WHOLE: "whole numbers", _NUMBERS: "numbers"}.get(kinds, "True and False")
        raise UsageError(f"{what}: expected {wanted}, found {flat.dtype}")
    return flat, offsets


def _array(given: Any, what: str) -> NDArray[Any]:
    """Return a NumPy array that shares memory with the argument if possible."""
    if isinstance(given, np.ma.MaskedArray):
        raise UsageError(f"{what}: masked arrays are not supported", "pass x.data, and mask=~x.mask")
    if hasattr(given, "detach"):  # a PyTorch tensor on a GPU or with a gradient
        given = given.detach().cpu()
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return np.asarray(given)
    on_cpu: dict[str, Any] = {} if given.__dlpack_device__()[0] == 1 else {"device": "cpu"}
    try:
        return np.from_dlpack(given, **on_cpu)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(
            f"{what}: expected an array that NumPy can read, found {type(given).__name__} ({error})",
            "in PyTorch, call .float() on bfloat16; for CuPy, use cupy.asnumpy(...)",
        ) from error


def by_text(size: int) -> Ints:
    """Return the numbers below ``size`` in the order of their decimal texts.

    >>> by_text(12).tolist()
    [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return np.argsort(np.arange(size).astype("S20"))


class RowRanks:
    """Ranks of chosen cells of rows of scores, found by sorting only the scores of each row.

    Scores are NaN if a cell is not ranked; ``tie`` orders the columns among equal scores.

    >>> ranks = RowRanks(np.array([[0.5, 0.9, np.nan, 0.5]]), np.array([3, 2, 1, 0]))
    >>> ranks.of(np.arange(4)).tolist(), ranks.tied, ranks.among(2).tolist()
    ([3, 1, 0, 2], 2, [[True, True, False, True]])
    """

    def __init__(self, score: NDArray[Any], tie: Ints) -> None:
        self._score, self._tie, self._ordered = score, tie, np.sort(score, axis=1)  # NaN last
        some = np.isnan(self._ordered[:, -1]).any()  # otherwise all cells are ranked
        self._counts = np.count_nonzero(~np.isnan(score), axis=1) if some else np.full(score.shape[0], score.shape[1])
        same = self._ordered[:, 1:] == self._ordered[:, :-1]
        #: Number of cells that share their score: all but the first of each group, plus one per group.
        self.tied = int(
            np.count_nonzero(same) + np.count_nonzero(same[:, :1]) + np.count_nonzero(same[:, 1:] > same[:, :-1])
        )

    def among(self, first: int) -> Bools:
        """Return which cells are among the first of their rows, or tied with the last of these."""
        return self._score >= np.take_along_axis(self._ordered, np.maximum(self._counts - first, 0)[:, None], 1)

    def of(self, cell: Ints) -> Ints:
        """Return the ranks of cells by index, row by row; 0 if a cell is not ranked."""
        width, ordered, score = self._score.shape[1], self._ordered.reshape(-1), self._score.reshape(-1)[cell]
        row, column = np.divmod(cell, width)
        low = row * width
        high = end = low + self._counts[row]
        for _ in range(width.bit_length()):  # bisect until low is the first position with this score
            middle = np.minimum((low + high) >> 1, ordered.size - 1)
            is_lower = ordered[middle] < score
            low, high = np.where(is_lower, middle + 1, low), np.where(is_lower, high, middle)
        rank = np.where(np.isnan(score), 0, end - low)
        tied = np.flatnonzero((low + 1 < end) & (ordered[np.minimum(low + 1, ordered.size - 1)] == score))
        rows, place = np.unique(row[tied], return_inverse=True)
        order = np.lexsort((np.broadcast_to(self._tie, (rows.size, width)), -self._score[rows]), axis=1)
        rank[tied] = np.argsort(order, axis=1)[place, column[tied]] + 1
        return rank
