"""Evaluations of arrays, a row a query: scores of candidates or ranked items, as rankers and recommenders have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged, UnlistedError
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunSource, join_columns
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike, evaluate_runs
from gainful.evaluation.row_ranks import RowRanks, by_text
from gainful.frozen import dataclass, replace
from gainful.io.rows import Origin, Rows, Spans, refuse_rows, rows_of_lists
from gainful.kernel.arrays import Bools, Ints, distinct, offsets_of
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, current_progress, in_parallel
from gainful.measures.block import condenses
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.notation import count_of
from gainful.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gainful.data.items import ItemsLike
    from gainful.data.queries import QueriesLike
    from gainful.evaluation.evaluations import Evaluation
    from gainful.kernel.core import Joined
    from gainful.measures.base import Measure

#: Up to this number, or to some times as many as there are items, every number has its text ready.
_MOST_TEXTS, _TIMES = 1 << 20, 4
_NUMBERS, _WHOLE = "iufb", "iu"
#: About so many cells, which fit the processor's cache, are ranked at a time; notices look at the first 10 ranks.
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
) -> Evaluation:
    """Scores arrays of NumPy, or of anything that speaks DLPack (PyTorch, JAX, CuPy); a row is a query.

    Results are ``scores`` of candidates, whose columns are items, or ``ranked_items``, their numbers, best first. Truth
    is ``relevance``, the grades of items by column (NaN: not judged), or ``relevant_items``, their numbers, with grades
    in ``relevance`` or without. Each is an array of two dimensions, a list of arrays, one a row, or a pair of values
    and offsets; numbers of items below 0 are none. ``scores`` and ``relevance`` by column are of the same form. Where
    ``mask``, in the form of the results, is False, a candidate does not count, nor does its grade beside ``scores``. A
    score of minus infinity is that of a candidate that was not ranked: its grade counts.

    ``exclude`` and ``training`` are what users had before, as in :func:`evaluate`: a matrix of users and items whose
    nonzero cells count, dense or of SciPy, or index pairs: an integer array of shape (n, 2), or arrays of rows and of
    columns. A matrix given as ``exclude`` has the form of the results. ``items`` is a table by item number.

    All else is as if numbers of rows and items were ids in dicts: ``evaluate({row: {item: grade}}, {row: {item:
    score}})``. Ids are compared as texts, so that ties=docid-desc has item 9 before item 10.

    >>> found = evaluate_arrays([[0.2, 0.9, 0.1], [0.7, 0.4, 0.5]], [[1, 0, 0], [1, 0, 2]], "nDCG@3")
    >>> found.by_query("nDCG@3")
    {'0': 0.6309297535714575, '1': 0.8597186998521972}
    >>> evaluate_arrays(ranked_items=[[7, 3, 5], [5, 3, 9]], relevant_items=[[3], [5, 9]], measures="R@2").mean("R@2")
    0.75
    """
    if (scores is None) == (ranked_items is None):
        raise UsageError(f"expected scores or ranked_items, found {'neither' if scores is None else 'both'}")
    if relevance is None and relevant_items is None:
        raise UsageError("expected relevance or relevant_items, found neither")
    results = _Cells.of(name, {"scores": scores}, {"ranked_items": ranked_items})
    truth = _Cells.of(name, {"relevance": relevance}, {"relevant_items": relevant_items})
    if results.size != truth.size:
        raise UsageError(
            f"{name}: expected as many rows of truth as of results, {results.size:,}, found {truth.size:,}"
        )
    if results.item is truth.item is None and not np.array_equal(results.offsets, truth.offsets):
        widths = zip(np.diff(results.offsets).tolist(), np.diff(truth.offsets).tolist(), strict=True)
        row, (wanted, found) = next((row, both) for row, both in enumerate(widths) if both[0] != both[1])
        raise UsageError(
            f"{name}: expected a grade for each of {wanted:,} candidates in relevance[{row}], found {found:,}",
            "numbers of items, not values by column, are ranked_items= (best first) and relevant_items=",
        )
    seen = None if exclude is None else _Cells.of_pairs(name, "exclude", exclude, results)
    had = None if training is None else _Cells.of_pairs(name, "training", training)
    notes: tuple[str, ...] = ()
    if mask is not None:
        flat, offsets = _rows(mask, "mask", "biu")
        if not np.array_equal(offsets, results.offsets):
            raise UsageError("mask: expected a value for every cell of the results, found another form")
        counts = flat.astype(bool)
        results = results.only(counts)
        if results.item is truth.item is None:
            judged = np.ones_like(counts) if truth.kept is None else truth.kept
            lost = 0 if truth.value is None else int(np.count_nonzero((truth.value > 0) & judged & ~counts))
            truth = truth.only(counts)
            notes = (f"mask leaves out {count_of(lost, 'relevant item')}: no recall base has them",) if lost else ()
    if results.value is not None and not _is_finite(results.value) and np.isneginf(results.value).any():
        results = results.only(~np.isneginf(results.value))  # others write it where an item is not ranked
    for cells in (results, truth):
        cells.refuse_infinite()
    texts, wanted, settled = _Texts(results, truth, *filter(None, (seen, had))), parse_all(measures), Policy.of(policy)
    exclusion, taken = (None if cells is None else _had(cells, texts) for cells in (seen, had))

    def qrels_of(truth: _Cells) -> Qrels:
        qrels = Qrels.from_rows(_cell_rows(truth, texts, 0, truth.size))
        qrels = replace(qrels, notes=(*qrels.notes, *notes))
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


class _Cells(NamedTuple):
    """Items by row, with a value each or without: those of row i are ``offsets[i] : offsets[i + 1]``."""

    name: str
    what: str  # the argument that they came in
    offsets: Ints
    item: NDArray[Any] | None  # None: an item is its place in the row
    value: NDArray[Any] | None
    kept: Bools | None = None  # which of them count, if not all

    @classmethod
    def of(cls, name: str, values: dict[str, Any], items: dict[str, Any]) -> _Cells:
        """Cells from arguments by their names: values alone, or items with or without values."""
        (what, values_given), (item_name, items_given) = *values.items(), *items.items()
        value, offsets = (None, None) if values_given is None else _rows(values_given, what, _NUMBERS)
        if items_given is None:
            assert offsets is not None
            cells = cls(name, what, offsets, None, value)
        else:
            item, item_offsets = _rows(items_given, item_name, _WHOLE)
            if offsets is not None and not np.array_equal(offsets, item_offsets):
                raise UsageError(f"{what}: expected a value for each of {item_name}, found another form")
            if item.dtype == np.uint64 and item.max(initial=0) > np.iinfo(np.int64).max:
                raise UsageError(f"{item_name}: expected numbers of items below 2^63, found {item.max()}")
            # Of one kind: what is neither signed nor not is a float to NumPy, which does not hold large numbers.
            item = item.astype(np.int64) if item.dtype == np.uint64 else item
            cells = cls(name, item_name, item_offsets, item, value)
            cells = cells.only(item >= 0) if (item < 0).any() else cells
        if what == "relevance" and value is not None and not _is_finite(value) and np.isnan(value).any():
            cells = cells.only(~np.isnan(value))
        return cells

    @classmethod
    def of_pairs(cls, name: str, what: str, given: Any, form: _Cells | None = None) -> _Cells:
        """The nonzero cells of a matrix, which has the form of the results if one is given, or cells by row, column."""
        pairs = given.nonzero() if hasattr(given, "toarray") else given
        if not isinstance(pairs, tuple):
            flat, offsets = _rows(given, what, _NUMBERS)
            if isinstance(given, list) and flat.dtype.kind in _WHOLE:
                raise UsageError(f"{what}: lists of integers may be index pairs, items or a matrix", "give an array")
            if flat.dtype.kind not in _WHOLE or np.any(np.diff(offsets) != 2):
                if form is not None and not np.array_equal(offsets, form.offsets):
                    raise UsageError(f"{what}: the matrix differs in form from the results", "give matrix.nonzero()")
                cells = cls(name, what, offsets, None, None) if form is None else form._replace(what=what)
                return cells.only(np.nan_to_num(flat) != 0)
            pairs = (flat[::2], flat[1::2])
        rows = [_rows([each], what, _WHOLE)[0] for each in pairs]
        if len(rows) != 2 or rows[0].size != rows[1].size or min(each.min(initial=0) for each in rows) < 0:
            raise UsageError(f"{what}: expected as many row numbers as column numbers, none of them below 0")
        row, item = (each.astype(np.int64) for each in rows)
        return cls(name, what, offsets_of(np.bincount(row, minlength=1)), item[np.argsort(row, kind="stable")], None)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.offsets.size) - 1

    @property
    def counted(self) -> Ints:
        """The numbers of the cells that count."""
        return np.arange(self.offsets[-1]) if self.kept is None else np.flatnonzero(self.kept)

    @property
    def counts(self) -> Ints:
        """How many cells of each row count."""
        return np.diff(self.offsets if self.kept is None else np.searchsorted(self.counted, self.offsets))

    def only(self, counts: Bools) -> _Cells:
        """The same without the cells that do not count."""
        return self._replace(kept=counts if self.kept is None else self.kept & counts)

    def refuse_infinite(self) -> None:
        """Refuses values that are no numbers."""
        if self.value is None or _is_finite(self.value):
            return
        bad = ~np.isfinite(self.value)
        cells = np.flatnonzero(bad if self.kept is None else bad & self.kept)
        what, origin = "grade" if self.what.startswith("rel") else "score", _Places(self.name, self.what, self.offsets)

        def message(cell: int) -> str:
            assert self.value is not None
            return f"{origin.where(cell)}: expected a finite number as {what}, found {self.value[cell]}"

        refuse_rows(cells, message, "-inf is the score of what was not ranked; mask=... leaves out items and grades")


def _is_finite(value: NDArray[Any]) -> bool:
    """Whether all values are finite, found without an array of as many answers."""
    return value.dtype.kind != "f" or not value.size or bool(np.isfinite([value.min(), value.max()]).all())


@dataclass(frozen=True, eq=False)
class _Places(Origin):
    """Where cells stand in an argument."""

    what: str
    offsets: Ints

    def place(self, row: int) -> str:
        cell = self.number_of(row)
        at = int(np.searchsorted(self.offsets, cell, "right")) - 1
        return f"{self.what}[{at}][{cell - int(self.offsets[at])}]"


class _Ranks(NamedTuple):
    """The ranks of judged items in rows of scores that are not put in order."""

    truth: _Cells  # perhaps without items of grade 0 that nothing looks at
    width: int
    retrieved: Ints  # by row
    cell: Ints  # cells of the truth with their ranks, 0 where an item is not ranked
    rank: Ints
    tied: int  # cells with the score of another of their row

    @classmethod
    def of(
        cls, results: _Cells, truth: _Cells, measures: Sequence[Measure], policy: Policy, threads: int
    ) -> _Ranks | None:
        """None where rows have to be put in order: more than ranks is looked at, or most items are judged and count."""
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
        """The join with the judgments of the truth, and the ids of the items in the first lists."""
        item, first = np.unique(judged.item[np.searchsorted(self.truth.counted, self.cell)], return_index=True)
        item, rank = item[self.rank[first] > 0], self.rank[first][self.rank[first] > 0]
        query = np.searchsorted(judged.item_offsets, item, "right") - 1
        order, ids = np.lexsort((rank, query)), judged.qrels.query_ids

        has_others = self.truth.item is not None and self.truth.item.max(initial=0) >= self.width

        def different(_: int) -> Collection[bytes]:
            if self.retrieved.max() < self.width or has_others:
                raise UnlistedError  # they have to be counted in the lists themselves
            return [b"%d" % item for item in range(self.width)]

        joined = join_columns(judged.index, ids, Run.without_lists(""), judged.policy, 1, Progress())
        joined["answered"], joined["retrieved"] = np.ones(len(ids), bool), self.retrieved[by_text(len(ids))]
        joined["hit_offsets"] = offsets_of(np.bincount(query, minlength=len(ids)))
        joined["hit_rank"], joined["hit_item"] = rank[order].astype(np.int32), item[order].astype(np.int32)
        joined["list_count"], joined["tied_count"] = len(ids), self.tied
        return joined, different


class _Texts:
    """The decimal texts of the numbers of items: ids as spans of bytes."""

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
    """The cells of some rows, with ids."""
    offsets = cells.offsets[first : end + 1]
    before, after = int(offsets[0]), int(offsets[-1])
    bounds, cell = offsets - before, None
    if cells.kept is not None:
        cell = before + np.flatnonzero(cells.kept[before:after])
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
    """The items of each user, without users that had none."""
    run = Run.from_rows(_cell_rows(cells, texts, 0, cells.size)._replace(value=None), cells.what)
    return run.take(np.flatnonzero(np.diff(run.list_offsets)))


def _runs(cells: _Cells, texts: _Texts, least: int) -> Iterator[Run]:
    """The lists in blocks of at least so many cells."""
    first = 0
    while first < cells.size:
        end = min(cells.size, int(np.searchsorted(cells.offsets, cells.offsets[first] + least)))
        rows = _cell_rows(cells, texts, first, max(end, first + 1))
        yield Run.from_rows(rows if cells.value is not None else rows._replace(value=None))
        first = max(end, first + 1)


def _rows(given: Any, what: str, kinds: str) -> tuple[NDArray[Any], Ints]:
    """The values of all rows one after the other, and where each row begins: from an array of two dimensions, a list of
    rows, or a pair of values and offsets."""
    flat: NDArray[Any]
    offsets: NDArray[Any]
    if isinstance(given, tuple):
        flat, offsets = (_array(each, what) for each in given) if len(given) == 2 else (np.zeros(0), np.zeros((0, 0)))
        is_row = flat.ndim == offsets.ndim == 1 and offsets.size > 0 and offsets.dtype.kind in _WHOLE
        if not is_row or offsets[0] != 0 or offsets[-1] != flat.size or np.any(offsets[1:] < offsets[:-1]):
            raise UsageError(f"{what}: expected values and their offsets, from 0 to their number, found something else")
        offsets = offsets.astype(np.int64)
    elif isinstance(given, list):
        rows = [_array(row, what) for row in given]
        if any(row.ndim != 1 for row in rows):
            raise UsageError(f"{what}: expected rows of one dimension each, found others")
        offsets = np.cumsum([0, *(row.size for row in rows)])
        flat = np.concatenate([row for row in rows if row.size] or [np.zeros(0, np.int64)])
    else:
        array = _array(given, what)
        if array.ndim != 2:
            found = type(given).__name__ if array.dtype.kind == "O" or not array.ndim else f"{array.ndim}"
            hint = "m.toarray(), or relevant_items=(m.indices, m.indptr), relevance=(m.data, m.indptr) of a sparse m"
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
    """An array of NumPy, which shares its memory with what was given if it can."""
    if isinstance(given, np.ma.MaskedArray):
        raise UsageError(
            f"{what}: expected an array without a mask, found a masked one", "give x.data, and mask=~x.mask"
        )
    if hasattr(given, "detach"):  # of PyTorch: on a GPU, or with a gradient
        given = given.detach().cpu()
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return np.asarray(given)
    on_cpu: dict[str, Any] = {} if given.__dlpack_device__()[0] == 1 else {"device": "cpu"}
    try:
        return np.from_dlpack(given, **on_cpu)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(
            f"{what}: expected an array that NumPy can read, found {type(given).__name__} ({error})",
            "of PyTorch: .float() of bfloat16; of CuPy: cupy.asnumpy(...)",
        ) from error
