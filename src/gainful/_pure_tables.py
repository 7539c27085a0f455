"""Delimited texts and columns of ids in the pure-Python kernel. ``_core.pyi`` has the contract."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful._pure_text import (
    BYTE_ORDER_MARK,
    EMPTY,
    FIELD,
    FIELDS,
    QUOTE,
    as_bytes,
    distinct,
    earliest,
    fault_of,
    floats,
    ids_at,
    ints,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gainful._core import Bytes, Fault, Floats, Ints, TableText

_LINE_END = re.compile(rb"\r?(?:\n|\Z)")


class _Field(NamedTuple):
    """Where a field stands; the quotes around it do not count."""

    start: int
    stop: int
    quoted: bool = False


class _Row(NamedTuple):
    start: int
    fields: list[_Field]
    misquoted: bool  # the field after these is a quoted one without a proper end


class _RowSplitter:
    """Splits a text into rows, which may run over several lines where fields are quoted."""

    def __init__(self, text: bytes, separator: int) -> None:
        mark = re.escape(bytes([separator]))
        self._text = text
        self._separator = bytes([separator]) if separator else b""
        self._padding_bytes = b" \t".replace(self._separator, b"") if separator else b" \t"
        self._padding = re.compile(rb"[" + self._padding_bytes + rb"]*")
        self._plain_field = re.compile(rb"[^\n" + mark + rb"]*")

    def rows(self, start: int) -> Iterator[_Row]:
        """The rows from an offset on, without blank lines and comments."""
        while start < len(self._text):
            at = self._skip_padding(start)
            if _LINE_END.match(self._text, at) or self._text.startswith(b"#", at):
                start = self._next_line(at)
                continue
            fields: list[_Field] = []
            split = self._split_at_separators if self._separator else self._split_at_blanks
            misquoted, next_start = split(at, fields)
            yield _Row(start, fields, misquoted)
            start = next_start

    def _skip_padding(self, at: int) -> int:
        match = self._padding.match(self._text, at)
        return match.end() if match else at

    def _line_feed(self, at: int) -> int:
        """Where the line ends: at its line feed, or at the end of the text."""
        feed = self._text.find(b"\n", at)
        return feed if feed >= 0 else len(self._text)

    def _next_line(self, at: int) -> int:
        return self._line_feed(at) + 1

    def _split_at_blanks(self, at: int, fields: list[_Field]) -> tuple[bool, int]:
        feed = self._line_feed(at)
        content_end = feed - 1 if self._text.endswith(b"\r", at, feed) else feed
        fields += [_Field(*match.span()) for match in FIELD.finditer(self._text, at, content_end)]
        return False, feed + 1

    def _split_at_separators(self, at: int, fields: list[_Field]) -> tuple[bool, int]:
        """Fills ``fields``; answers whether a field was quoted wrongly, and where the next row starts."""
        while True:
            if self._text.startswith(b'"', at):
                close = self._closing_quote(at + 1)
                if close < 0:
                    return True, len(self._text)
                fields.append(_Field(at + 1, close, quoted=True))
                at = self._skip_padding(close + 1)
                if _LINE_END.match(self._text, at):
                    return False, self._next_line(at)
                if not self._text.startswith(self._separator, at):
                    fields.pop()
                    return True, self._next_line(at)
            else:
                match = self._plain_field.match(self._text, at)
                stop = match.end() if match else at
                last = not self._text.startswith(self._separator, stop)
                content = self._text[at : stop - 1 if last and self._text.endswith(b"\r", at, stop) else stop]
                fields.append(_Field(at, at + len(content.rstrip(self._padding_bytes))))
                at = stop
                if last:
                    return False, stop + 1
            at = self._skip_padding(at + 1)

    def _closing_quote(self, at: int) -> int:
        """The quote that ends a field which goes on at ``at``, or -1."""
        while (at := self._text.find(b'"', at)) >= 0 and self._text.startswith(b'"', at + 1):
            at += 2
        return at


class _Wanted(NamedTuple):
    """How many fields a row has, and which of them are read as what."""

    fields: int
    ids: list[int]
    numbers: list[int]
    optional: Sequence[int]

    def fault(self, row: _Row, text: bytes, values: dict[int, float]) -> Fault | None:
        """The first thing wrong with a row. Leaves its numbers in ``values``, by field."""
        if row.misquoted:
            return row.start, QUOTE, len(row.fields)
        if len(row.fields) != self.fields:
            return row.start, FIELDS, len(row.fields)
        for at in sorted({*self.ids, *self.numbers}):
            start, stop, _ = row.fields[at]
            if start == stop and at in self.optional:
                values[at] = math.nan
                continue
            if at in self.ids and start == stop:
                return row.start, EMPTY, at
            if at in self.numbers:
                values[at] = number(text[start:stop])
                if code := fault_of(values[at]):
                    return row.start, code, at
        return None


def read_table(
    data: Bytes,
    first: int,
    separator: int,
    fields: int,
    id_fields: list[int],
    number_fields: list[int],
    optional_fields: Sequence[int] = (),
) -> TableText:
    """Read chosen fields of a delimited text."""
    if separator not in range(256) or separator in b'"\n\r':
        raise ValueError("a quote or a line end cannot separate fields, nor can what is not a byte")
    if not all(0 <= field < fields for field in (*id_fields, *number_fields, *optional_fields)):
        raise ValueError("there is no such field")
    if not 0 <= first <= data.size:
        raise ValueError("the first row lies outside of the data")
    text = data.tobytes()
    if first == 0 and text.startswith(BYTE_ORDER_MARK):
        first = len(BYTE_ORDER_MARK)
    wanted = _Wanted(fields, id_fields, number_fields, optional_fields)
    faults: list[Fault] = []
    lines: list[int] = []
    starts: list[list[int]] = [[] for _ in id_fields]
    lengths: list[list[int]] = [[] for _ in id_fields]
    numbers: list[list[float]] = [[] for _ in number_fields]
    extra = bytearray()
    for row in _RowSplitter(text, separator).rows(first):
        values: dict[int, float] = {}
        if fault := wanted.fault(row, text, values):
            faults.append(fault)
            continue
        lines.append(row.start)
        for start_column, length_column, at in zip(starts, lengths, id_fields, strict=True):
            start, stop, quoted = row.fields[at]
            if quoted and b'"' in text[start:stop]:
                unescaped = text[start:stop].replace(b'""', b'"')
                start, stop = data.size + len(extra), data.size + len(extra) + len(unescaped)
                extra += unescaped
            start_column.append(start)
            length_column.append(stop - start)
        for column, at in zip(numbers, number_fields, strict=True):
            column.append(values[at])
    all_data = np.concatenate([data, as_bytes(extra)]) if extra else data
    return {
        "ids": [(all_data, ints(start), ints(length)) for start, length in zip(starts, lengths, strict=True)],
        "numbers": [floats(column) for column in numbers],
        "line": ints(lines),
        "faults": earliest(faults),
        "fault_count": len(faults),
    }


def _packed(value: object) -> bytes:
    """The id that a value is; empty when it is none."""
    try:
        if isinstance(value, bytes):
            return bytes(value)
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        if isinstance(value, bool | np.bool_):
            return b""
        return _decimal(operator.index(value))  # type: ignore[arg-type]
    except (UnicodeEncodeError, TypeError):
        return b""


def _decimal(value: int) -> bytes:
    try:
        return b"%d" % value
    except ValueError:  # Python writes no integers of more than some thousand digits
        return b""


def pack_ids(values: list[object]) -> tuple[Bytes, Ints, Ints, int]:
    """Ids as spans, and the position of the first value that is none."""
    ids = [_packed(value) for value in values]
    length = ints([len(each) for each in ids])
    first_fault = next((at for at, each in enumerate(ids) if not each), -1)
    return as_bytes(b"".join(ids)), np.cumsum(length) - length, length, first_fault


def pack_dicts(dicts: list[object]) -> tuple[Bytes, Ints, Ints, Floats, Ints, bool] | None:
    """Plain dicts of ids and numbers as columns; None where one is not plain."""
    if not all(type(each) is dict for each in dicts):
        return None
    plain: list[dict[object, object]] = dicts  # type: ignore[assignment]
    offsets = np.cumsum([0, *map(len, plain)], dtype=np.int64)
    keys = [key for each in plain for key in each]
    values = [value for each in plain for value in each.values()]
    if not all(isinstance(value, float) or type(value) is int for value in values):
        return None
    try:
        numbers = floats(values)  # type: ignore[arg-type]
        ids = [_plain_id(key) for key in keys]
    except (OverflowError, UnicodeEncodeError):
        return None
    if not all(ids) or not np.isfinite(numbers).all():
        return None
    length = ints([len(each) for each in ids])
    all_texts = all(isinstance(key, str) for key in keys)
    return as_bytes(b"".join(ids)), np.cumsum(length) - length, length, numbers, offsets, all_texts


def _plain_id(key: object) -> bytes:
    """The id that a key is; empty when it is none."""
    if isinstance(key, str):
        return key.encode()
    return _packed(key) if isinstance(key, bytes) or type(key) is int else b""


def number_ids(data: Bytes, start: Ints, length: Ints) -> tuple[list[bytes], Ints]:
    """The distinct ids in byte order, and for every span its place among them."""
    return distinct(ids_at(data, start, length))
