"""Readers of the pure-Python core: delimited and LETOR texts, IDs from objects, and Arrow tables through pyarrow.

The contract is in ``_core.pyi``.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gainful.kernel._core import Bytes, Fault, Floats, Ints, LetorText, Spans, TableText

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE, EMPTY, QUOTE, LINE_END, UNNAMED = range(1, 10)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FAULTS_KEPT = 10
FIELD = re.compile(rb"[^ \t]+")

# The contract's grammar without ambiguity, so that long fields never cause backtracking.
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def number(text: bytes) -> float:
    """Return the number in a field: NaN if it is not a number, infinity if it is too large for a float64."""
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def fault_of(value: float) -> int:
    """Return the fault code of a number returned by ``number``; 0 if there is none."""
    if math.isfinite(value):
        return 0
    return NUMBER if math.isnan(value) else OVERFLOW


def lines_of(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each line's offset and its content without the line end, after a byte order mark."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    while start < len(text):
        feed = text.find(b"\n", start)
        end = feed if feed >= 0 else len(text)
        yield start, text[start:end].removesuffix(b"\r")
        start = end + 1


def earliest(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults to keep."""
    return sorted(faults)[:FAULTS_KEPT]


def ints(values: list[int]) -> Ints:
    """Return a column of integers."""
    return np.array(values, dtype=np.int64)


def floats(values: list[float]) -> Floats:
    """Return a column of floats."""
    return np.array(values, dtype=np.float64)


def as_bytes(data: bytes | bytearray) -> Bytes:
    """Return a copy of bytes as an array."""
    return np.frombuffer(data, dtype=np.uint8).copy()


def ids_at(data: Bytes, start: Ints, length: Ints) -> list[bytes]:
    """Return the IDs in spans of the data; raise ValueError for spans outside it, which a slice would truncate."""
    if len(start) != len(length) or np.any((start < 0) | (length < 0) | (start > data.size - length)):
        raise ValueError("the document spans do not lie within the data")
    text = data.tobytes()
    return [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]


def distinct(values: list[bytes]) -> tuple[list[bytes], Ints]:
    """Return the distinct values in byte order, and the position of each value among them."""
    ids = sorted(set(values))
    position = {value: at for at, value in enumerate(ids)}
    return ids, ints([position[value] for value in values])


_QUOTED_FIELD = re.compile(rb'"((?:[^"]++|"")*+)"')
_LINE_END = re.compile(rb"\r?(?:\n|\Z)")


class _Row(NamedTuple):
    start: int
    fields: list[tuple[int, int, bool]]  # start and end without quotes, and whether the field was quoted
    misquoted: bool = False  # the next field is quoted without a proper end


def _split_rows(text: bytes, start: int, separator: int) -> Iterator[_Row]:
    """Yield the rows from an offset, without blank lines and comments; quoted fields may contain line feeds."""
    mark = bytes([separator]) if separator else b""
    blanks = b" \t".replace(mark, b"") if mark else b" \t"
    padding = re.compile(rb"[" + blanks + rb"]*")
    plain_field = re.compile(rb"[^\n" + re.escape(mark) + rb"]*")

    def end_of(pattern: re.Pattern[bytes], at: int) -> int:
        found = pattern.match(text, at)
        return found.end() if found else at

    def next_line(at: int) -> int:
        feed = text.find(b"\n", at)
        return feed + 1 if feed >= 0 else len(text) + 1

    while start < len(text):
        fields: list[tuple[int, int, bool]] = []
        at, row_start, misquoted = end_of(padding, start), start, False
        if _LINE_END.match(text, at) or text.startswith(b"#", at):
            start = next_line(at)
            continue
        start = 0
        if not mark:
            start = next_line(at)
            end = start - 2 if text.endswith(b"\r", at, start - 1) else start - 1
            fields += [(*match.span(), False) for match in FIELD.finditer(text, at, end)]
        while not start:
            if text.startswith(b'"', at):
                quoted = _QUOTED_FIELD.match(text, at)
                at = end_of(padding, quoted.end()) if quoted else len(text)
                is_last = _LINE_END.match(text, at) is not None
                if quoted and (is_last or text.startswith(mark, at)):
                    fields.append((*quoted.span(1), True))
                    start = next_line(at) if is_last else 0
                else:
                    misquoted, start = True, next_line(at)
            else:
                begin, at = at, end_of(plain_field, at)
                is_last = not text.startswith(mark, at)
                content = text[begin : at - 1 if is_last and text.endswith(b"\r", begin, at) else at]
                fields.append((begin, begin + len(content.rstrip(blanks)), False))
                start = at + 1 if is_last else 0
            at = end_of(padding, at + 1)
        yield _Row(row_start, fields, misquoted)


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
    faults: list[Fault] = []
    lines: list[int] = []
    starts: list[list[int]] = [[] for _ in id_fields]
    lengths: list[list[int]] = [[] for _ in id_fields]
    numbers: list[list[float]] = [[] for _ in number_fields]
    extra = bytearray()
    for row in _split_rows(text, first, separator):
        values: dict[int, float] = {}
        fault = None
        if row.misquoted or len(row.fields) != fields:
            fault = QUOTE if row.misquoted else FIELDS, len(row.fields)
        for at in sorted({*id_fields, *number_fields}) if not fault else ():
            start, stop, _ = row.fields[at]
            is_empty = start == stop
            if at in number_fields:
                values[at] = math.nan if is_empty else number(text[start:stop])
            code = EMPTY if is_empty and at in id_fields else fault_of(values.get(at, 0.0))
            is_missing = is_empty and at in optional_fields
            fault = fault or ((code, at) if code and not is_missing else None)
        if fault:
            faults.append((row.start, *fault))
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
    """Return the ID for a value; empty if it is not an ID."""
    try:
        if isinstance(value, bytes):
            return bytes(value)
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        return b"" if isinstance(value, bool | np.bool_) else b"%d" % operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # not an ID, not valid UTF-8, or more digits than Python writes
        return b""


def pack_ids(values: list[object]) -> tuple[Bytes, Ints, Ints, int]:
    """Return IDs as spans, and the position of the first value that is not an ID."""
    ids = [_packed(value) for value in values]
    length = ints([len(each) for each in ids])
    first_fault = next((at for at, each in enumerate(ids) if not each), -1)
    return as_bytes(b"".join(ids)), np.cumsum(length) - length, length, first_fault


def pack_dicts(dicts: list[object]) -> tuple[Bytes, Ints, Ints, Floats, Ints, bool] | None:
    """Return plain dicts of IDs and numbers as columns; None if one is not plain."""
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
    """Return the ID for a key; empty if it is not an ID."""
    if isinstance(key, str):
        return key.encode()
    return _packed(key) if isinstance(key, bytes) or type(key) is int else b""


def number_ids(data: Bytes, start: Ints, length: Ints) -> tuple[list[bytes], Ints]:
    """Return the distinct IDs in byte order, and the position of every span's ID among them."""
    return distinct(ids_at(data, start, length))


_QUERY = b"qid:"
_COMMENT = re.compile(rb"(?<![^ \t])#")
_DOCUMENT = re.compile(rb"(?<=[# \t])docid[ \t]*=[ \t]*([^ \t]+)")
_FEATURE = re.compile(rb"([0-9]{1,18}):(.*)", re.DOTALL)


class _Line(NamedTuple):
    """A valid line. Spans count from the start of the text."""

    start: int
    query: tuple[int, int]
    document: tuple[int, int] | None
    grade: float
    features: dict[int, float]


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
        match = _FEATURE.fullmatch(field[0])
        place, text = (int(match[1]), match[2]) if match else (0, b"")
        features[place] = number(text)
        if place == 0 or (text != b"NULL" and fault_of(features[place])):
            return start, fault_of(features[place]) if place else NUMBER, at
    document = _DOCUMENT.search(content, comment.start()) if comment else None
    return _Line(
        start,
        (start + fields[1].start() + len(_QUERY), fields[1].end() - fields[1].start() - len(_QUERY)),
        (start + document.start(1), len(document[1])) if document else None,
        grade,
        features,
    )


def _documents(data: Bytes, text: bytes, lines: list[_Line], faults: list[Fault]) -> Spans:
    """Return the documents of all lines: ordinals in separate data if no line names one; if only some do, the others
    are faults."""
    if any(line.document for line in lines) or not lines:
        faults += [(line.start, UNNAMED, 0) for line in lines if not line.document]
        named = [line.document or (0, 0) for line in lines]
        return data, ints([start for start, _ in named]), ints([length for _, length in named])
    rows: Counter[bytes] = Counter()
    ordinals = []
    for line in lines:
        start, length = line.query
        query = text[start : start + length]
        rows[query] += 1
        ordinals.append(rows[query])
    data, starts, lengths, _ = pack_ids([*range(1, max(ordinals) + 1)])
    return data, starts[ints(ordinals) - 1], lengths[ints(ordinals) - 1]


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


#: Arrow's format strings by the prefixes of pyarrow's type names, as far as they are needed.
_FORMATS = {
    "decimal": "d:",
    "halffloat": "e",
    "float": "f",
    "double": "g",
    "bool": "b",
    "null": "n",
    "string_view": "vu",
    "string": "u",
    "large_string": "U",
    "binary_view": "vz",
    "binary": "z",
    "large_binary": "Z",
    "date": "td",
    "time": "tt",
    "duration": "tD",
    "list": "+l",
    "large_list": "+L",
    "struct": "+s",
    "map": "+m",
}


class ArrowTable:
    """The columns of an Arrow C stream; raises ImportError without pyarrow."""

    def __init__(self, capsule: object) -> None:
        import pyarrow

        self._table = pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all()
        is_dictionary = pyarrow.types.is_dictionary
        self._kinds = [kind.value_type if is_dictionary(kind) else kind for kind in self._table.schema.types]
        self.names: list[str] = self._table.column_names
        self.formats = [
            next((found for start, found in _FORMATS.items() if str(kind).startswith(start)), str(kind))
            for kind in self._kinds
        ]

    def _values(self, column: int) -> Any:
        """Return the values with dictionaries decoded, and texts as bytes, which need not be UTF-8."""
        import pyarrow

        kind = pyarrow.large_binary() if self._is_text(column) else self._kinds[column]
        chunks = []
        for chunk in self._table.column(column).chunks:
            is_dictionary = pyarrow.types.is_dictionary(chunk.type)
            words = (chunk.dictionary if is_dictionary else chunk).cast(kind)
            chunks.append(words.take(chunk.indices) if is_dictionary else words)
        return pyarrow.chunked_array(chunks, kind)

    def _is_text(self, column: int) -> bool:
        return self.formats[column].removeprefix("v") in ("u", "U", "z", "Z")

    def ids(self, column: int) -> tuple[Bytes, Ints, Ints, Ints]:
        from pyarrow import types

        if not (self._is_text(column) or types.is_integer(self._kinds[column])):
            raise TypeError("not ids")
        data, start, length, _ = pack_ids(self._values(column).to_pylist())
        return data, start, length, np.flatnonzero(length == 0)[:FAULTS_KEPT]

    def numbers(self, column: int) -> tuple[Floats, Ints]:
        from pyarrow import types

        is_number = (types.is_integer, types.is_floating, types.is_boolean)
        if not any(is_kind(self._kinds[column]) for is_kind in is_number):
            raise TypeError("not numbers")
        found = self._values(column)
        with np.errstate(all="ignore"):  # signalling NaNs are treated like any other
            numbers = np.array(found.to_numpy(), np.float64)  # None becomes NaN
        return numbers, np.flatnonzero(found.is_null().to_numpy())[:FAULTS_KEPT]
