"""Tables in text: fields between commas, semicolons, tabs or blanks, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.arrays import Bytes
from gainful.core import core
from gainful.errors import InputError, UsageError
from gainful.io.columns import find_roles
from gainful.io.origin import TextLines, line_number, line_text
from gainful.io.recognise import HEAD, SEPARATOR_LINE, header_separator
from gainful.io.rows import Reading, Rows
from gainful.io.sources import Text
from gainful.io.trec import FIELDS, NUMBER, OVERFLOW, fields_at, input_error
from gainful.notation import printable

if TYPE_CHECKING:
    from gainful._core import Fault

QUOTE, EMPTY = 7, 6
_NUMBERS = ("grade", "score", "rank")
_LONGEST_ROW = 1 << 24  # of which a message can tell
_BOM = b"\xef\xbb\xbf"


def read_header_table(text: Text, reading: Reading, *, run: bool) -> Rows:
    """A CSV or TSV with a header."""
    start, header = _header_line(text.data)
    if b"\r" in header.rstrip(b"\r"):
        raise InputError(
            f"{text.name}: expected lines that end in LF or CR LF, found CR alone", "convert it: tr '\\r' '\\n'"
        )
    separator = _separator(header, reading, text.name)
    names = [name.decode("utf-8", "surrogateescape") for name in _split(header, separator)]
    where = f"{text.name}:{line_number(text.data, start)}"
    roles = find_roles(names, reading.columns, run=run, where=where)
    return read_fields(text, start + len(header) + 1, separator, len(names), roles)


def read_msmarco(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Lines ``query document rank``."""
    if not run:
        raise UsageError(f"{text.name}: expected a format of judgments, found msmarco, which is of runs")
    return read_fields(text, 0, "", 3, {"query": 0, "document": 1, "rank": 2})


def read_fields(text: Text, first: int, separator: str, fields: int, roles: Mapping[str, int]) -> Rows:
    """Rows from the fields that have a role, from an offset on. An empty separator stands for blanks."""
    ids = [role for role in roles if role not in _NUMBERS]
    numbers = [role for role in roles if role in _NUMBERS]
    table = core.read_table(
        text.data,
        min(first, text.data.size),
        ord(separator) if separator else 0,
        fields,
        [roles[role] for role in ids],
        [roles[role] for role in numbers],
    )
    if table["fault_count"]:
        by_field = {field: role for role, field in roles.items()}
        messages = [_message(text, fault, separator, fields, by_field) for fault in table["faults"]]
        raise input_error(messages, table["fault_count"], _hint(table["faults"][0], separator, fields))
    spans = dict(zip(ids, table["ids"], strict=True))
    values = dict(zip(numbers, table["numbers"], strict=True))
    return Rows(
        spans["query"],
        spans["document"],
        values.get("grade", values.get("score")),
        TextLines(text.name, text.data, table["line"]),
        values.get("rank"),
        spans.get("subtopic"),
    )


def _header_line(data: Bytes) -> tuple[int, bytes]:
    """The first line that is neither blank nor a comment, with its offset."""
    offset = 3 if data[:3].tobytes() == _BOM else 0
    while offset < data.size:
        step = HEAD
        line = data[offset : offset + step].tobytes()
        while b"\n" not in line and offset + step < data.size:
            step *= 2
            line = data[offset : offset + step].tobytes()
        line = line.split(b"\n", 1)[0]
        stripped = line.strip(b" \t\r")
        if stripped and not stripped.startswith(b"#") and not SEPARATOR_LINE.fullmatch(stripped):
            return offset, line
        offset += len(line) + 1
    return int(data.size), b""


def _separator(header: bytes, reading: Reading, name: str) -> str:
    """What separates fields: as recognised; else, where the format was given, what the header holds."""
    found = header_separator(header.strip(b" \r"), reading.columns)
    if reading.format == "tsv" or (found is None and b"\t" in header):
        return "\t"
    if found is not None:
        return found
    if not header.strip():
        raise InputError(f"{name}: expected a header, found an empty file")
    return ";" if b";" in header and b"," not in header else ","


def _message(text: Text, fault: Fault, separator: str, fields: int, roles: Mapping[int, str]) -> str:
    offset, code, detail = fault
    where = f"{text.name}:{line_number(text.data, offset)}: "
    shown = f"\n    {line_text(text.data, offset)}"
    if code == FIELDS:
        return f"{where}expected {fields} fields, found {detail}{shown}"
    if code == QUOTE:
        return f'{where}expected a closing " at the end of a field, found none{shown}'
    role = roles[detail]
    if code == EMPTY:
        return f"{where}expected an id as {role} (field {detail + 1}), found nothing{shown}"
    value = printable(_fields(text.data, offset, separator)[detail])
    expected = "a number as" if code == NUMBER else "a number that fits a 64-bit float as"
    return f"{where}expected {expected} {role} (field {detail + 1}), found '{value}'{shown}"


def _fields(data: Bytes, offset: int, separator: str) -> Sequence[bytes]:
    return _split(data[offset : offset + _LONGEST_ROW].tobytes(), separator) if separator else fields_at(data, offset)


def _split(text: bytes, separator: str) -> list[bytes]:
    """The fields of the row that a text begins with; quoted ones may hold separators and line feeds."""
    blanks = b" " if separator == "\t" else b"[ \t]"
    quoted = re.compile(blanks + rb'*"((?:[^"]|"")*)"' + blanks + b"*")
    plain = re.compile(b"[^" + separator.encode() + b"\n]*")
    fields, at = [], 0
    while True:
        found = quoted.match(text, at)
        if found is None or text[found.end() : found.end() + 1] not in (separator.encode(), b"\n", b"\r", b""):
            found = plain.match(text, at)
            fields.append(b"" if found is None else found[0].strip())
        else:
            fields.append(found[1].replace(b'""', b'"'))
        at = found.end() if found else len(text)
        if text[at : at + 1] != separator.encode():
            return fields
        at += 1


def _hint(fault: Fault, separator: str, fields: int) -> str | None:
    code = fault[1]
    if code in (NUMBER, OVERFLOW):
        return "numbers are decimal with a point, like 2, -0.5 or 1e-3"
    if code == FIELDS:
        return "a line is `query document rank`" if not separator else f"the header has {fields} fields"
    return 'a " within a quoted field is written twice' if code == QUOTE else None
