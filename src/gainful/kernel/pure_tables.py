"""The readers of the pure-Python kernel: numbers, faults and columns, delimited and LETOR texts, ids from objects.

``_core.pyi`` has the contract.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gainful.kernel._core import Bytes, Fault, Floats, Ints, LetorText, Spans, TableText

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE, EMPTY, QUOTE, LINE_END, UNNAMED = range(1, 10)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FAULTS_KEPT = 10
FIELD = re.compile(rb"[^ \t]+")

# The contract's grammar, written so that no text can be split in two ways: a long field never makes it backtrack.
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def number(text: bytes) -> float:
    """The number that a field is: NaN when it is none, infinite when it is too large for a float64."""
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def fault_of(value: float) -> int:
    """What is wrong with a number as ``number`` reads it; 0 when nothing is."""
    if math.isfinite(value):
        return 0
    return NUMBER if math.isnan(value) else OVERFLOW


def lines_of(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line's offset, and its content without the line end. A byte order mark at the beginning is skipped."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    while start < len(text):
        feed = text.find(b"\n", start)
        end = feed if feed >= 0 else len(text)
        yield start, text[start:end].removesuffix(b"\r")
        start = end + 1


def earliest(faults: Iterable[Fault]) -> list[Fault]:
    """The faults that are kept."""
    return sorted(faults)[:FAULTS_KEPT]


def ints(values: list[int]) -> Ints:
    """A column of integers."""
    return np.array(values, dtype=np.int64)


def floats(values: list[float]) -> Floats:
    """A column of floats."""
    return np.array(values, dtype=np.float64)


def as_bytes(data: bytes | bytearray) -> Bytes:
    """Bytes as an array of their own."""
    return np.frombuffer(data, dtype=np.uint8).copy()


def ids_at(data: Bytes, start: Ints, length: Ints) -> list[bytes]:
    """The ids that spans of the data hold. Raises ValueError when one leaves it, where a slice would be cut short."""
    if len(start) != len(length) or np.any((start < 0) | (length < 0) | (start > data.size - length)):
        raise ValueError("the document spans do not lie within the data")
    text = data.tobytes()
    return [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]


def distinct(values: list[bytes]) -> tuple[list[bytes], Ints]:
    """The distinct values in byte order, and for each value its position among them."""
    ids = sorted(set(values))
    position = {value: at for at, value in enumerate(ids)}
    return ids, ints([position[value] for value in values])


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


_QUERY = b"qid:"
_COMMENT = re.compile(rb"(?<![^ \t])#")
_DOCUMENT = re.compile(rb"(?<=[# \t])docid[ \t]*=[ \t]*([^ \t]+)")
_FEATURE = re.compile(rb"([0-9]{1,18}):(.*)", re.DOTALL)


class _Line(NamedTuple):
    """A faultless line. Spans count from the start of the text."""

    start: int
    query: tuple[int, int]
    document: tuple[int, int] | None
    grade: float
    features: dict[int, float]


def _read_feature(field: bytes, features: dict[int, float]) -> int:
    """Adds a feature to the others. Returns what is wrong with it, or 0."""
    match = _FEATURE.fullmatch(field)
    if match is None or int(match[1]) == 0:
        return NUMBER
    value = features[int(match[1])] = number(match[2])
    return 0 if match[2] == b"NULL" else fault_of(value)


def _read_line(start: int, content: bytes) -> _Line | Fault | None:
    comment = _COMMENT.search(content)
    fields = list(FIELD.finditer(content, 0, comment.start() if comment else len(content)))
    if not fields:
        return None
    if len(fields) < 2 or not fields[1][0].startswith(_QUERY):
        return start, FIELDS, len(fields)
    grade = number(fields[0][0])
    if fault := fault_of(grade):
        return start, fault, 0
    if fields[1][0] == _QUERY:
        return start, EMPTY, 1
    features: dict[int, float] = {}
    for at, field in enumerate(fields[2:], 2):
        if fault := _read_feature(field[0], features):
            return start, fault, at
    document = _DOCUMENT.search(content, comment.start()) if comment else None
    return _Line(
        start,
        (start + fields[1].start() + len(_QUERY), fields[1].end() - fields[1].start() - len(_QUERY)),
        (start + document.start(1), len(document[1])) if document else None,
        grade,
        features,
    )


def _documents(data: Bytes, text: bytes, lines: list[_Line], faults: list[Fault]) -> Spans:
    """The documents of all lines. Where none has a name, ordinals stand in a place of their own; where others have one,
    its lack is a fault."""
    if any(line.document for line in lines) or not lines:
        faults += [(line.start, UNNAMED, 0) for line in lines if not line.document]
        named = [line.document or (0, 0) for line in lines]
        return data, ints([start for start, _ in named]), ints([length for _, length in named])
    ids = bytearray()
    rows: Counter[bytes] = Counter()
    written: dict[int, int] = {}
    starts, lengths = [], []
    for line in lines:
        query_start, query_length = line.query
        query = text[query_start : query_start + query_length]
        rows[query] += 1
        ordinal = b"%d" % rows[query]
        here = written.setdefault(rows[query], len(ids))
        if here == len(ids):
            ids += ordinal
        starts.append(here)
        lengths.append(len(ordinal))
    return as_bytes(ids), ints(starts), ints(lengths)


def read_letor(data: Bytes, feature: int) -> LetorText:
    """Read a LETOR text with the values of one feature."""
    if feature < 0:
        raise ValueError("there is no such feature")
    text = data.tobytes()
    lines: list[_Line] = []
    faults: list[Fault] = []
    for start, content in lines_of(text):
        line = (start, LINE_END, 0) if b"\r" in content else _read_line(start, content)
        if isinstance(line, _Line):
            lines.append(line)
        elif line:
            faults.append(line)
    queries = data, ints([line.query[0] for line in lines]), ints([line.query[1] for line in lines])
    documents = _documents(data, text, lines, faults)
    return {
        "query": queries,
        "document": documents,
        "grade": floats([line.grade for line in lines]),
        "value": floats([line.features.get(feature, 0.0) for line in lines]),
        "feature_count": max((max(line.features, default=0) for line in lines), default=0),
        "line": ints([line.start for line in lines]),
        "faults": earliest(faults),
        "fault_count": len(faults),
    }
