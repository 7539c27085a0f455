"""Rows that come in pieces, put together to blocks of whole queries: so what is larger than memory is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gainful.errors import InputError
from gainful.io.rows import FrameRows, Rows, Spans


def whole_queries(pieces: Iterable[Rows], least: int) -> Iterator[Rows]:
    """The same rows in blocks that end where a query does; a query that spans several pieces waits for its end."""
    held: list[Rows] = []
    count, wanted = 0, least
    for piece in pieces:
        held.append(piece)
        count += piece.size
        if count >= wanted:
            block = _concatenated(held)
            others = np.flatnonzero(block.query != block.query[-1])
            cut = int(others[-1]) + 1 if others.size else 0
            if cut:
                yield _part(block, 0, cut)
            held, count = [_part(block, cut, count)], count - cut
            wanted = max(least, 2 * count)  # who waits for the end of a long query does not copy it piece by piece
    if count:
        yield _concatenated(held)


def _part(rows: Rows, first: int, end: int) -> Rows:
    """Some of the rows, without the queries and the bytes of the others."""
    # Pieces have their rows in order, so that a part of them is known by its first row.
    assert isinstance(rows.origin, FrameRows) and rows.origin.number is None
    there, query = np.unique(rows.query[first:end], return_inverse=True)
    data, start, length = rows.document[0], rows.document[1][first:end], rows.document[2][first:end]
    begin = int(start.min(initial=data.size))
    return Rows(
        [rows.query_ids[at] for at in there.tolist()],
        query,
        (data[begin : int((start + length).max(initial=begin))], start - begin, length),
        None if rows.value is None else rows.value[first:end],
        rows.origin._replace(first=rows.origin.first + first),
        None if rows.rank is None else rows.rank[first:end],
        notes=rows.notes,
    )


def _concatenated(pieces: Sequence[Rows]) -> Rows:
    """Pieces, one after the other, as one."""
    if len(pieces) == 1:
        return pieces[0]
    values, ranks = ([getattr(piece, what) for piece in pieces] for what in ("value", "rank"))
    for what, parts in (("scores", values), ("ranks", ranks)):
        if len({part is None for part in parts}) > 1:
            at = next(i for i, part in enumerate(parts) if (part is None) != (parts[0] is None))
            found = f"no {what} after batches with" if parts[at] is None else f"{what} after batches without"
            raise InputError(f"{pieces[at].origin.where(0)}: expected the same columns in all batches, found {found}")
    place: dict[bytes, int] = {}
    for piece in pieces:
        for identifier in piece.query_ids:
            place.setdefault(identifier, len(place))
    places = [np.array([place[each] for each in piece.query_ids], np.int64) for piece in pieces]
    return Rows(
        list(place),
        np.concatenate([at[piece.query] for at, piece in zip(places, pieces, strict=True)]),
        _concatenated_spans([piece.document for piece in pieces]),
        None if values[0] is None else np.concatenate(values),
        pieces[0].origin,
        None if ranks[0] is None else np.concatenate(ranks),
        notes=tuple(dict.fromkeys(note for piece in pieces for note in piece.notes)),
    )


def _concatenated_spans(parts: Sequence[Spans]) -> Spans:
    before = np.cumsum([0, *(data.size for data, _, _ in parts)])
    starts = [start + begin for (_, start, _), begin in zip(parts, before[:-1].tolist(), strict=True)]
    data, lengths = ([part[i] for part in parts] for i in (0, 2))
    return np.concatenate(data), np.concatenate(starts), np.concatenate(lengths)
