"""LETOR texts in the pure-Python kernel. ``_core.pyi`` has the contract."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gainful._pure_text import (
    BYTE_ORDER_MARK,
    EMPTY,
    FIELD,
    FIELDS,
    NUMBER,
    as_bytes,
    earliest,
    fault_of,
    floats,
    ints,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gainful._core import Bytes, Fault, LetorText, Spans

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


def _lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line's offset and content."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    while start < len(text):
        feed = text.find(b"\n", start)
        end = feed if feed >= 0 else len(text)
        yield start, text[start:end].removesuffix(b"\r")
        start = end + 1


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


def _documents(data: Bytes, text: bytes, lines: list[_Line]) -> Spans:
    """The documents of all lines. Where some have no name, the ids stand in a place of their own."""
    named = [line.document for line in lines if line.document]
    if len(named) == len(lines):
        return data, ints([start for start, _ in named]), ints([length for _, length in named])
    ids = bytearray()
    rows: Counter[bytes] = Counter()
    written: dict[int, int] = {}
    starts, lengths = [], []
    for line in lines:
        query_start, query_length = line.query
        query = text[query_start : query_start + query_length]
        rows[query] += 1
        here = len(ids)
        if line.document:
            start, length = line.document
            ids += text[start : start + length]
        else:
            length = len(b"%d" % rows[query])
            here = written.setdefault(rows[query], here)
            if here == len(ids):
                ids += b"%d" % rows[query]
        starts.append(here)
        lengths.append(length)
    return as_bytes(ids), ints(starts), ints(lengths)


def read_letor(data: Bytes, feature: int) -> LetorText:
    """Read a LETOR text with the values of one feature."""
    if feature < 0:
        raise ValueError("there is no such feature")
    text = data.tobytes()
    lines: list[_Line] = []
    faults: list[Fault] = []
    for start, content in _lines(text):
        line = _read_line(start, content)
        if isinstance(line, _Line):
            lines.append(line)
        elif line:
            faults.append(line)
    queries = data, ints([line.query[0] for line in lines]), ints([line.query[1] for line in lines])
    return {
        "query": queries,
        "document": _documents(data, text, lines),
        "grade": floats([line.grade for line in lines]),
        "value": floats([line.features.get(feature, 0.0) for line in lines]),
        "feature_count": max((max(line.features, default=0) for line in lines), default=0),
        "line": ints([line.start for line in lines]),
        "faults": earliest(faults),
        "fault_count": len(faults),
    }
