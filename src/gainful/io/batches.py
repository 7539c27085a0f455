"""Rows that come in pieces, put together to blocks of whole queries: so what is larger than memory is read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.io.rows import FrameRows, Origin, Rows, Spans, is_frame, is_pandas
from gainful.kernel import core


def read_batches(batches: object, columns: Mapping[str, str], name: str, least: int) -> Iterator[Rows]:
    """The rows of a run in Arrow batches, at least so many at a time if there are; they count through all batches."""
    from gainful.io.frames import read_frame

    first = 0
    for frame in _frames(batches, least, name):
        rows = read_frame(frame, columns, run=True, name=name, origin=FrameRows(name, first=first))
        first += rows.query[1].size
        yield rows


def _frames(batches: Any, least: int, name: str) -> Iterator[Any]:
    """Frames one by one; what pyarrow holds, larger ones, because each has its price."""
    if is_frame(batches):
        batches = _pieces(batches)
    elif isinstance(batches, (str, bytes)) or not isinstance(batches, Iterable):
        raise UsageError(
            f"{name}: expected Arrow batches (an iterable of them, or a stream such as pyarrow.RecordBatchReader), "
            f"found {type(batches).__name__}"
        )
    held: list[Any] = []
    count = 0
    for batch in batches:
        arrow = sys.modules.get("pyarrow")
        size = batch.num_rows if arrow and isinstance(batch, arrow.RecordBatch) else least
        is_another = held and (type(held[0]) is not type(batch) or count + size > least)
        if is_another or (held and held[0].schema != batch.schema):
            yield _together(held)
            held, count = [], 0
        held.append(batch)
        count += size
    if held:
        yield _together(held)


def _pieces(stream: Any) -> Iterator[Any]:
    """The batches of a stream; all of it at once where nobody reads it piece by piece."""
    if is_pandas(stream) or find_spec("pyarrow") is None:
        yield stream
    else:
        import pyarrow

        yield from pyarrow.RecordBatchReader.from_stream(stream)


def _together(batches: Sequence[Any]) -> Any:
    """One frame, or several batches of pyarrow as one."""
    if len(batches) == 1:
        return batches[0]
    import pyarrow

    return pyarrow.Table.from_batches(batches)


def whole_queries(pieces: Iterable[Rows], least: int) -> Iterator[Rows]:
    """The same rows in blocks that end where a query does; a query that spans several pieces waits for its end."""
    held: list[Rows] = []
    count, wanted = 0, least
    for piece in pieces:
        held.append(piece)
        count += piece.query[1].size
        if count >= wanted:
            block = _one(held)
            cut = _last_query(block.query)
            if cut:
                yield _part(block, 0, cut)
            held, count = [_part(block, cut, count)], count - cut
            wanted = max(least, 2 * count)  # who waits for the end of a long query does not copy it piece by piece
    if count:
        yield _one(held)


def _last_query(spans: Spans) -> int:
    """The row at which the last query begins."""
    data, start, length = spans
    size, step = start.size, 1 << 10
    while True:
        first = max(0, size - step)
        _, number = core.number_ids(data, start[first:], length[first:])
        others = np.flatnonzero(number != number[-1])
        if others.size:
            return first + int(others[-1]) + 1
        if not first:
            return 0
        step *= 4


def _part(rows: Rows, first: int, end: int) -> Rows:
    """Some of the rows, without the bytes of the others."""
    return Rows(
        _span_part(rows.query, first, end),
        _span_part(rows.document, first, end),
        None if rows.value is None else rows.value[first:end],
        _counting_from(rows.origin, first),
        None if rows.rank is None else rows.rank[first:end],
    )


def _counting_from(origin: Origin, row: int) -> Origin:
    """The origin of the rows from one on; pieces have their rows in order."""
    assert isinstance(origin, FrameRows) and origin.number is None
    return origin._replace(first=origin.first + row)


def _span_part(spans: Spans, first: int, end: int) -> Spans:
    data, start, length = spans[0], spans[1][first:end], spans[2][first:end]
    begin = int(start.min(initial=data.size))
    return data[begin : int((start + length).max(initial=begin))], start - begin, length


def _one(pieces: Sequence[Rows]) -> Rows:
    """Pieces, one after the other, as one."""
    if len(pieces) == 1:
        return pieces[0]
    values, ranks = ([getattr(piece, what) for piece in pieces] for what in ("value", "rank"))
    for what, parts in (("scores", values), ("ranks", ranks)):
        if len({part is None for part in parts}) > 1:
            at = next(i for i, part in enumerate(parts) if (part is None) != (parts[0] is None))
            found = f"no {what} after batches with" if parts[at] is None else f"{what} after batches without"
            raise InputError(f"{pieces[at].origin.where(0)}: expected the same columns in all batches, found {found}")
    return Rows(
        _spans([piece.query for piece in pieces]),
        _spans([piece.document for piece in pieces]),
        None if values[0] is None else np.concatenate(values),
        pieces[0].origin,
        None if ranks[0] is None else np.concatenate(ranks),
    )


def _spans(parts: Sequence[Spans]) -> Spans:
    before = np.cumsum([0, *(data.size for data, _, _ in parts)])
    starts = [start + begin for (_, start, _), begin in zip(parts, before[:-1].tolist(), strict=True)]
    data, lengths = ([part[i] for part in parts] for i in (0, 2))
    return np.concatenate(data), np.concatenate(starts), np.concatenate(lengths)
