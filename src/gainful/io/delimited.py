"""Tables in text: fields between commas, semicolons, tabs or blanks, with or without a header.

LETOR text: judged documents as vectors of features. Its grades are judgments, any feature is a system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.io.formats import HEAD, SEPARATOR_LINE, find_roles, has_header, header_separator
from gainful.io.rows import (
    FIELDS,
    NUMBER,
    OVERFLOW,
    Reading,
    Rows,
    Spans,
    TextLines,
    fields_at,
    input_error,
    line_number,
    line_text,
)
from gainful.io.sources import Text
from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats
from gainful.notation import printable

if TYPE_CHECKING:
    from gainful.kernel.core import Fault

QUOTE, EMPTY = 7, 6
_NUMBERS = ("grade", "score", "rank")
_LONGEST_ROW = 1 << 24  # of which a message can tell
_BOM = b"\xef\xbb\xbf"


class HeaderTable(NamedTuple):
    """A table whose header has been read."""

    text: Text
    first: int  # where the rows begin
    separator: str
    names: list[str]
    where: str  # the place of the header


def open_table(text: Text, format_: str | None, is_header: Callable[[Sequence[str]], bool]) -> HeaderTable:
    """Reads the header of a CSV or TSV."""
    start, header = header_line(text.data)
    if b"\r" in header.rstrip(b"\r"):
        raise InputError(
            f"{text.name}: expected lines that end in LF or CR LF, found CR alone", "convert it: tr '\\r' '\\n'"
        )
    separator = _separator(header, format_, is_header, text.name)
    names = [name.decode("utf-8", "surrogateescape") for name in _split(header, separator)]
    where = f"{text.name}:{line_number(text.data, start)}"
    return HeaderTable(text, start + len(header) + 1, separator, names, where)


def read_header_table(text: Text, reading: Reading, *, run: bool) -> Rows:
    """A CSV or TSV with a header."""
    table = open_table(text, reading.format, lambda names: has_header(names, reading.columns))
    roles = find_roles(table.names, reading.columns, run=run, where=table.where)
    return _rows(table, roles)


def read_msmarco(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Lines ``query document rank``."""
    if not run:
        raise UsageError(f"{text.name}: expected a format of judgments, found msmarco, which is of runs")
    # An empty separator stands for blanks.
    return _rows(HeaderTable(text, 0, "", [""] * 3, text.name), {"query": 0, "document": 1, "rank": 2})


def _rows(table: HeaderTable, roles: Mapping[str, int]) -> Rows:
    spans, values, origin = read_columns(table, roles, _NUMBERS)
    return Rows(
        spans["query"],
        spans["document"],
        values.get("grade", values.get("score")),
        origin,
        values.get("rank"),
        spans.get("subtopic"),
    )


def read_columns(
    table: HeaderTable, roles: Mapping[str, int], number_roles: Sequence[str], optional_roles: Sequence[str] = ()
) -> tuple[dict[str, Spans], dict[str, Floats], TextLines]:
    """The columns that have a role, as ids and as numbers, and where their rows stand."""
    text, _, separator, names, _ = table
    ids = [role for role in roles if role not in number_roles]
    numbers = [role for role in roles if role in number_roles]
    found = core.read_table(
        text.data,
        min(table.first, text.data.size),
        ord(separator) if separator else 0,
        len(names),
        [roles[role] for role in ids],
        [roles[role] for role in numbers],
        [roles[role] for role in roles if role in optional_roles],
    )
    if found["fault_count"]:
        by_field = {field: role for role, field in roles.items()}
        messages = [_message(text, fault, separator, len(names), by_field) for fault in found["faults"]]
        raise input_error(messages, found["fault_count"], _hint(found["faults"][0], separator, len(names)))
    spans = dict(zip(ids, found["ids"], strict=True))
    values = dict(zip(numbers, found["numbers"], strict=True))
    return spans, values, TextLines(text.name, text.data, found["line"])


def header_line(data: Bytes) -> tuple[int, bytes]:
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


def _separator(header: bytes, format_: str | None, is_header: Callable[[Sequence[str]], bool], name: str) -> str:
    """What separates fields: as recognised; else, where the format was given, what the header holds."""
    found = header_separator(header.strip(b" \r"), is_header)
    if format_ == "tsv" or (found is None and b"\t" in header):
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


LETOR_LINE = "grade qid:query 1:value 2:value ... #docid = document"


def read_letor(text: Text, reading: Reading, *, run: bool) -> Rows:
    """The grades as judgments, or one feature as a run's scores."""
    feature = reading.feature or 0
    if run and not feature:
        raise UsageError(
            f"{text.name}: expected the feature that is the score, found none", "--feature 1, or --feature all"
        )
    columns = core.read_letor(text.data, feature if run else 0)
    if columns["fault_count"]:
        messages = [_letor_message(text, *fault) for fault in columns["faults"]]
        raise input_error(messages, columns["fault_count"], f"a line is `{LETOR_LINE}`")
    if run and feature > columns["feature_count"]:
        raise InputError(f"{text.name}: expected a feature {feature}, found {columns['feature_count']} features")
    values = _below_all(columns["value"]) if run else columns["grade"]
    origin = TextLines(text.name, text.data, columns["line"])
    return Rows(columns["query"], columns["document"], values, origin)


def feature_count(text: Text) -> int:
    """How many features a LETOR text has."""
    return int(core.read_letor(text.data, 0)["feature_count"])


def null_count(text: Text, feature: int) -> int:
    """How many lines of a LETOR text have NULL for a feature."""
    return int(np.count_nonzero(np.isnan(core.read_letor(text.data, feature)["value"])))


def _below_all(values: Floats) -> Floats:
    """NULL is worse than any value: it becomes a number below the lowest of the file."""
    known = values[~np.isnan(values)]
    lowest = float(known.min()) if known.size else 0.0
    return np.where(np.isnan(values), lowest - max(1.0, abs(lowest)), values)


def _letor_message(text: Text, offset: int, code: int, detail: int) -> str:
    where = f"{text.name}:{line_number(text.data, offset)}: "
    shown = f"\n    {line_text(text.data, offset)}"
    if code == FIELDS:
        return f"{where}expected `grade qid:query` at the start of the line, found none{shown}"
    if code == EMPTY:
        return f"{where}expected a query behind qid:, found nothing{shown}"
    field = printable(fields_at(text.data, offset)[detail])
    what = "a number as grade" if detail == 0 else f"feature:value (field {detail + 1})"
    return f"{where}expected {what}, found '{field}'{shown}"
