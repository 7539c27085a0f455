"""From where the core found something to what a person can look up: query, document and line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from gainful.arrays import Bytes
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.doctor.findings import Example
from gainful.io.trec import fields_at
from gainful.notation import number_text, printable, text_of_id

_BLOCK = 1 << 18
_PIECE = 1 << 14
_WIDEST_ID = 32


class Row(NamedTuple):
    """One row of a run as it was read."""

    query: bytes
    document: bytes
    rank: str
    score: str
    place: str  # the line or row, where there is one


class Places(Protocol):
    """Looks up rows of a run by what the core calls their place."""

    def row(self, where: int) -> Row: ...

    def documents(self, where: int, most: int) -> list[bytes]:
        """Some documents of the list whose first row is at a place."""
        ...

    @property
    def tag(self) -> str | None:
        """What the run calls itself."""
        ...


class LineNumbers:
    """The number, from 1, of the line that starts at an offset; no part of the data is counted through twice."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._feeds = [0]  # line feeds before each block

    def __call__(self, offset: int) -> int:
        block = offset // _BLOCK
        while len(self._feeds) <= block:
            start = (len(self._feeds) - 1) * _BLOCK
            self._feeds.append(self._feeds[-1] + self._count(start, start + _BLOCK))
        return 1 + self._feeds[block] + self._count(block * _BLOCK, offset)

    def _count(self, start: int, end: int) -> int:
        return int(np.count_nonzero(self._data[start:end] == 10))


class TextPlaces:
    """Places in TREC text: offsets of lines."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._line_number = LineNumbers(data)

    def row(self, where: int) -> Row:
        query, _, document, rank, score, _ = fields_at(self._data, where)
        place = f"line {self._line_number(where)}"
        return Row(query, document, printable(rank), number_text(float(score)), place)

    def documents(self, where: int, most: int) -> list[bytes]:
        found: list[bytes] = []
        query = b""
        for fields in self._lines(where):
            query = query or fields[0]
            if fields[0] != query or len(found) == most:
                break
            found.append(fields[2])
        return found

    @property
    def tag(self) -> str | None:
        fields = next(self._lines(0), None)
        return None if fields is None else text_of_id(fields[5])

    def _lines(self, where: int) -> Iterator[list[bytes]]:
        """The fields of the lines from an offset on; long lines and long lists are read in pieces."""
        rest = b""
        for at in range(where, self._data.size, _PIECE):
            *lines, rest = (rest + self._data[at : at + _PIECE].tobytes()).split(b"\n")
            yield from _well_formed(lines)
        yield from _well_formed([rest])


def _well_formed(lines: list[bytes]) -> Iterator[list[bytes]]:
    for line in lines:
        fields = line.removesuffix(b"\r").replace(b"\t", b" ").split(b" ")
        found = [field for field in fields if field]
        if len(found) == 6 and not found[0].startswith(b"#"):
            yield found


class RowPlaces:
    """Places in a run that is in columns: rows."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def row(self, where: int) -> Row:
        run = self._run
        rank = number_text(run.rank[where]) if run.has_ranks and not np.isnan(run.rank[where]) else ""
        score = number_text(run.score[where]) if run.has_scores else ""
        place = "" if run.origin is None else run.origin.place(where)
        return Row(run.query_of(where), run.document(where), rank, score, place)

    def documents(self, where: int, most: int) -> list[bytes]:
        end = self._run.list_offsets[np.searchsorted(self._run.list_offsets, where, "right")]
        return [self._run.document(row) for row in range(where, min(int(end), where + most))]

    @property
    def tag(self) -> str | None:
        return None


def at_row(row: Row, detail: str = "") -> Example:
    """A row of a run as an example, with something to say about it."""
    return _example(row.query, row.document, row.place, detail)


def at_judgment(qrels: Qrels, row: int, detail: str = "") -> Example:
    """A judgment as an example, with something to say about it."""
    place = "" if qrels.origin is None else qrels.origin.place(row)
    return _example(qrels.query_ids[int(qrels.query[row])], qrels.document(row), place, detail)


def at_query(query: bytes, detail: str = "") -> Example:
    """A query as an example, with something to say about it."""
    return Example(f"query {shown_id(query)}{detail}", text_of_id(query))


def _example(query: bytes, document: bytes, place: str, detail: str) -> Example:
    where = f"{place}: " if place else ""
    text = f"{where}{shown_id(query)} {shown_id(document)}{detail}"
    return Example(text, text_of_id(query), text_of_id(document), place)


def shown_id(identifier: bytes) -> str:
    """An id as it can be shown beside others."""
    return printable(identifier, _WIDEST_ID)
