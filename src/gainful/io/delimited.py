"""Formats in lines of fields: tables with a header, MS MARCO, LETOR and NTCIR; tables about sessions.

LETOR has judged documents as vectors of features: its grades are judgments, any feature is a system. NTCIREVAL has a
file a topic, judgments with levels L0, L1, ... (.rel) or ranked documents (.res).
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.io.columns import (
    LONGEST_HEADER,
    find_roles,
    find_session_roles,
    has_header,
    header_separator,
    is_run_header,
    is_session_header,
    names_of,
)
from gainful.io.formats import CONVERT, CR_ALONE, Reading, header_line, in_utf8
from gainful.io.rows import (
    FIELDS,
    NUMBER,
    OVERFLOW,
    Entry,
    FrameRows,
    NamedRows,
    Rows,
    TextLines,
    fault_error,
    fields_at,
    gather_entries,
    line_number,
    packed,
    read_closely,
    rows_of_table,
)
from gainful.io.sources import (
    COMPRESSED_ENDINGS,
    HEAD,
    Text,
    max_list_bytes,
    open_source,
    require_memory,
    shown_text,
    text_lines,
)
from gainful.kernel import core
from gainful.kernel.arrays import Bytes
from gainful.notation import NUMBER as _DECIMAL, count_of, printable, whole_number

if TYPE_CHECKING:
    from gainful.io.session_records import SessionContent
    from gainful.kernel.core import Fault

EMPTY, QUOTE, LINE_END, UNNAMED = 6, 7, 8, 9
_NUMBERS = ("grade", "score", "rank")
#: So many bytes of a large table are read at a time.
_PIECE = 1 << 25
#: The bytes of memory that a row takes at most while it is read.
_PER_LINE = 130


class HeaderTable(NamedTuple):
    """A table whose header has been read."""

    text: Text
    first: int  # where the rows begin
    separator: str
    names: list[str]
    where: str  # the place of the header
    notes: tuple[str, ...] = ()  # what was done to read it


def open_table(text: Text, format_: str | None, is_header: Callable[[Sequence[str]], bool]) -> HeaderTable:
    """Reads the header of a CSV or TSV."""
    text, notes = in_utf8(text)
    start, header = header_line(text)
    if b"\r" in header.rstrip(b"\r"):
        raise InputError(f"{text.name}: {CR_ALONE}", CONVERT)
    if len(header) > LONGEST_HEADER:
        raise InputError(
            f"{text.name}: expected a header of at most {LONGEST_HEADER:,} bytes, found a line of {len(header):,}"
        )
    separator = header_separator(header.strip(b" \r"), is_header)
    if format_ == "tsv" or (separator is None and b"\t" in header):
        separator = "\t"
    elif separator is None:  # the format was given
        if not header.strip():
            raise InputError(f"{text.name}: expected a header, found an empty file")
        separator = ";" if b";" in header and b"," not in header else ","
    names = [name.decode("utf-8", "surrogateescape") for name in _split(header, separator)]
    where = f"{text.name}:{line_number(text.data, start)}"
    if all(_DECIMAL.fullmatch(name) for name in names):
        raise InputError(
            f"{where}: expected the names of columns, found {', '.join(names)}",
            "begin the file with a line of names, such as user, item, rating",
        )
    return HeaderTable(text, start + len(header) + 1, separator, names, where, notes)


def read_header_table(text: Text, reading: Reading, *, run: bool) -> Rows:
    """A CSV or TSV with a header."""
    known = names_of(run)
    table = open_table(text, reading.format, lambda names: has_header(names, reading.columns, known=known))
    values, read = partial(_first_values, table), partial(_table_rows, table)
    return rows_of_table(table.names, reading, table.where, values, read, run=run)


def table_pieces(text: Text, reading: Reading) -> Iterator[Rows]:
    """A run in a CSV or TSV, some megabytes at a time."""
    head = Text.of_view(text.head[: text.head.rfind(b"\n") + 1] or text.head, text.name)  # no letter is cut in two
    table = open_table(head, reading.format, lambda names: has_header(names, reading.columns))
    if table.first > len(text.head):
        raise InputError(f"{table.where}: expected a header of at most {len(text.head):,} bytes, found a longer one")
    return _piece_rows(text, table, find_roles(table.names, reading.columns, run=True, where=table.where))


def msmarco_pieces(text: Text, _: Reading) -> Iterator[Rows]:
    """Lines ``query document rank``, some megabytes at a time."""
    return _piece_rows(text, _lines_table(text, 3), _MSMARCO)


def _piece_rows(text: Text, table: HeaderTable, roles: Mapping[str, int]) -> Iterator[Rows]:
    first, skipped = 0, table.first
    for piece in _whole_lines(text):
        part, notes = in_utf8(Text.of_view(piece, text.name))
        rows = _rows(table._replace(text=part, first=skipped, notes=notes), roles)
        yield rows._replace(origin=FrameRows(text.name, first=first))
        first, skipped = first + rows.size, 0


def _whole_lines(text: Text) -> Iterator[bytearray]:
    """The bytes of a text in larger pieces, which end with a line, outside of quotes."""
    held, wanted, quotes = bytearray(), min(_PIECE, max_list_bytes() // 8), 0
    for piece in text.pieces():
        found = np.frombuffer(piece, np.uint8)
        feeds, marks = np.flatnonzero(found == 10), np.flatnonzero(found == ord('"'))
        outside = feeds[(quotes + np.searchsorted(marks, feeds)) % 2 == 0] if marks.size or quotes % 2 else feeds
        quotes += marks.size
        require_memory(text.name, 2 * (len(held) + len(piece)))
        if outside.size and len(held) + len(piece) >= wanted:
            cut = int(outside[-1]) + 1
            held += piece[:cut]
            require_memory(text.name, len(held) + _PER_LINE * held.count(b"\n"))
            yield held
            held = bytearray(piece[cut:])
        else:
            held += piece
    if held:
        yield held


#: The places of query, document and rank.
_MSMARCO = {"query": 0, "document": 1, "rank": 2}


def read_msmarco(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Lines ``query document rank``."""
    if not run:
        raise UsageError(f"{text.name}: expected a format of judgments, found msmarco, which is of runs")
    return _table_rows(_lines_table(text, 3), _MSMARCO)


def _lines_table(text: Text, fields: int, separator: str = "") -> HeaderTable:
    """Lines without a header; an empty separator stands for blanks."""
    return HeaderTable(text, 0, separator, [""] * fields, text.name)


def read_trec_words(text: Text, how: Reading, *, run: bool) -> Rows:
    """Judgments in TREC text whose grades are words."""
    names = ["query", "subtopic", "document", "grade"]
    read, values = partial(_table_rows, _lines_table(text, 4)), lambda _: ()
    return rows_of_table(names, how, text.name, values, read, run=run)


def read_movielens(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Lines ``user item rating time``, as MovieLens has them: between tabs, or between ``::``."""
    if run:
        raise UsageError(f"{text.name}: expected a format of runs, found movielens, which is of judgments")
    # Between two colons stands an empty field.
    separator, step = (":", 2) if b"::" in header_line(text)[1] else ("", 1)
    names = ["user", "item", "rating", "time"]
    roles = {"query": 0, "document": step, "grade": 2 * step}
    rows = _table_rows(_lines_table(text, 3 * step + 1, separator), roles)
    return read_closely(rows, names, {role: place // step for role, place in roles.items()}, run=False)


def _table_rows(table: HeaderTable, roles: Mapping[str, int]) -> Rows:
    try:
        return _rows(table, roles)
    except InputError:
        mended, notes = table, list[str]()
        for mend in (_without_blank_rows, _with_decimal_points):
            mended, note = mend(mended, roles)
            notes += [f"{table.text.name}: {note}"] if note else []
        if not notes:
            raise
    return _rows(mended._replace(notes=(*table.notes, *notes)), roles, table.text.data)


def _rows(table: HeaderTable, roles: Mapping[str, int], shown: Bytes | None = None) -> Rows:
    return Rows.of_columns(*read_columns(table, roles, _NUMBERS, shown=shown), table.notes)


# What spreadsheets write is mended: the table without it, and a note, empty where there was nothing to do.


def _without_blank_rows(table: HeaderTable, roles: Mapping[str, int]) -> tuple[HeaderTable, str]:
    """Blanks in place of rows that hold nothing but separators."""
    mark = re.escape(table.separator or ",").encode()
    blank = re.compile(rb'^[ "]*' + mark + rb'[ "' + mark + rb"]*(?=\r?$)", re.MULTILINE)
    data, count = blank.subn(lambda found: b" " * len(found[0]), bytes(table.text.data))
    note = f"{count_of(count, 'blank row')} skipped" if count else ""
    return table._replace(text=Text.of_view(data, table.text.name)), note


def _with_decimal_points(table: HeaderTable, roles: Mapping[str, int]) -> tuple[HeaderTable, str]:
    """Points in place of the commas in numbers of a table of semicolons or tabs."""
    if table.separator not in (";", "\t"):
        return table, ""
    count, data = 0, table.text.data.copy()
    numbers = {role: field for role, field in roles.items() if role in _NUMBERS}
    commas = np.flatnonzero(data == ord(","))
    for _, start, length in read_columns(table, numbers, (), tuple(numbers))[0].values():
        field = np.searchsorted(start, commas, "right") - 1
        inside = commas[(field >= 0) & (commas < start[field] + length[field])]
        data[inside] = ord(".")
        count += inside.size
    note = f"{count_of(count, 'decimal comma')} read as decimal points" if count else ""
    return table._replace(text=Text.of_view(data, table.text.name)), note


def read_columns(
    table: HeaderTable,
    roles: Mapping[str, int],
    number_roles: Sequence[str],
    optional_roles: Sequence[str] = (),
    *,
    shown: Bytes | None = None,
) -> tuple[dict[str, Any], TextLines]:
    """The columns that have a role, as ids or as numbers, and where their rows stand. ``shown`` is what errors quote:
    the file as it was before commas became points.
    """
    text, separator, names = table.text, table.separator, table.names
    shown = text.data if shown is None else shown
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
        raise fault_error(
            text.name,
            shown,
            found["faults"],
            found["fault_count"],
            lambda fault: _table_fault(shown, fault, separator, len(names), by_field),
            _table_hint(table, shown, found["faults"], by_field),
        )
    columns = dict(zip([*ids, *numbers], [*found["ids"], *found["numbers"]], strict=True))
    return columns, TextLines(text.name, text.data, found["line"])


def _table_fault(data: Bytes, fault: Fault, separator: str, fields: int, roles: Mapping[int, str]) -> str:
    offset, code, detail = fault
    if code == FIELDS:
        return f"expected {fields} fields, found {detail}"
    if code == QUOTE:
        return 'expected a closing " at the end of a field, found none'
    role = roles[detail]
    if code == EMPTY:
        return f"expected an id as {role} (field {detail + 1}), found nothing"
    value = printable(_field(data, offset, separator, detail))
    if not value:
        return f"expected a number as {role} (field {detail + 1}), found an empty cell"
    expected = "a number as" if code == NUMBER else "a number that fits a 64-bit float as"
    return f"expected {expected} {role} (field {detail + 1}), found '{value}'"


def _field(data: Bytes, offset: int, separator: str, place: int) -> bytes:
    """One field of the row that starts at an offset."""
    fields = _split(data.data[offset:], separator) if separator else fields_at(data, offset)
    return next(islice(fields, place, None))


def _split(text: bytes | memoryview, separator: str) -> Iterator[bytes]:
    """The fields of the row that a text begins with; quoted ones may hold separators and line feeds."""
    blanks = b" " if separator == "\t" else b"[ \t]"
    quoted = re.compile(blanks + rb'*"([^"]*(?:""[^"]*)*)"' + blanks + b"*")
    plain = re.compile(b"[^" + separator.encode() + b"\n]*")
    at = 0
    while True:
        found = quoted.match(text, at)
        if found is None or text[found.end() : found.end() + 1] not in (separator.encode(), b"\n", b"\r", b""):
            found = plain.match(text, at)
            yield b"" if found is None else found[0].strip()
        else:
            yield found[1].replace(b'""', b'"')
        at = found.end() if found else len(text)
        if text[at : at + 1] != separator.encode():
            return
        at += 1


def _table_hint(table: HeaderTable, data: Bytes, faults: Sequence[Fault], roles: Mapping[int, str]) -> str | None:
    (_, code, detail), separator = faults[0], table.separator
    if code in (NUMBER, OVERFLOW):
        words = sorted({printable(_field(data, at, separator, place)) for at, what, place in faults if what == NUMBER})
        if not all(words) and separator:
            without = "delete the rows of documents that nobody judged, or write 0 for what is not relevant"
            return without if roles[detail] == "grade" else "every row needs one"
        if any(re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?", word) for word in words):
            return "thousands are written without a point: 1234.5 or 1234,5"
        return "numbers are decimal with a point, like 2, -0.5 or 1e-3"
    if code == FIELDS:
        return "a line is `query document rank`" if not separator else f"the header has {len(table.names)} fields"
    return 'a " within a quoted field is written twice' if code == QUOTE else None


#: So many rows tell whether a column has numbers.
_SAMPLE = 100
_SESSION_NUMBERS = ("query", "rank", "score", "grade", "scanned", "cost")


def read_session_table(text: Text, how: Reading) -> SessionContent:
    """The rows of sessions in a CSV or TSV with a header, or a run."""
    if is_run_header(header_line(text)[1].strip(), how.columns):
        return read_header_table(text, how, run=True)
    # Loaded late: they load XML, which no run needs.
    from gainful.io.session_log import log_rows
    from gainful.io.session_records import OPTIONAL, session_rows

    table = open_table(text, how.format, lambda names: is_session_header(names, how.columns))
    roles = find_session_roles(
        table.names, how.columns, table.where, partial(_first_values, table), by_gap=how.session_gap is not None
    )
    if "query" in roles:
        return session_rows(*read_columns(table, roles, _SESSION_NUMBERS, OPTIONAL))
    return log_rows(*read_columns(table, roles, _SESSION_NUMBERS, tuple(roles)), table.names, roles, how)


def _first_values(table: HeaderTable, column: int) -> Iterator[str]:
    """What stands in a column of the first rows."""
    head = table.text.data[table.first : table.first + HEAD].tobytes().decode("utf-8", "replace")
    for row in islice(csv.reader(text_lines(head), delimiter=table.separator), _SAMPLE):
        yield from row[column : column + 1]


LETOR_LINE = "grade qid:query 1:value 2:value ... #docid = document"


def read_letor(text: Text, reading: Reading, *, run: bool) -> Rows:
    """The grades as judgments, or one feature as a run's scores."""
    if run and reading.feature is None:
        raise UsageError(
            f"{text.name}: expected the feature that is the score, found none", "--feature 1, or --feature all"
        )
    feature = whole_number(reading.feature, "feature") if run else 0
    columns = core.read_letor(text.data, feature)
    if columns["fault_count"]:
        faults, count = columns["faults"], columns["fault_count"]
        hint = CONVERT if faults[0][1] == LINE_END else f"a line is `{LETOR_LINE}`"
        if faults[0][1] == UNNAMED:
            hint = f"was the file cut off? {hint}"
        raise fault_error(text.name, text.data, faults, count, lambda fault: _letor_fault(text.data, *fault), hint)
    if run and feature > columns["feature_count"]:
        raise InputError(f"{text.name}: expected a feature {feature}, found {columns['feature_count']} features")
    values = columns["value"] if run else columns["grade"]
    if run:  # NULL is worse than any value: it becomes a number below the lowest of the file
        lowest = float(np.nanmin(values)) if not np.isnan(values).all() else 0.0
        values = np.where(np.isnan(values), lowest - max(1.0, abs(lowest)), values)
    origin = TextLines(text.name, text.data, columns["line"])
    return Rows.of_columns({"query": columns["query"], "document": columns["document"], "score": values}, origin)


def feature_count(text: Text) -> int:
    """How many features a LETOR text has."""
    return int(core.read_letor(text.data, 0)["feature_count"])


def _letor_fault(data: Bytes, offset: int, code: int, detail: int) -> str:
    if code == FIELDS:
        return "expected `grade qid:query` at the start of the line, found none"
    if code == EMPTY:
        return "expected a query behind qid:, found nothing"
    if code == LINE_END:
        return CR_ALONE
    if code == UNNAMED:
        return "expected #docid = as other lines have, found none"
    field = printable(_field(data, offset, "", detail))
    what = "a number as grade" if detail == 0 else f"feature:value (field {detail + 1})"
    return f"expected {what}, found '{field}'"


REL_LINE, RES_LINE = "document L2` or `topic document L2", "document"
_LEVEL = re.compile(rb"L(\d+)")


def read_ntcir(text: Text, how: Reading, *, run: bool) -> Rows:
    """What one file holds. Where lines do not name the topic, it is the file's name up to the first dot."""
    return _ntcir_rows([text], text.name, run)


def read_folder(path: str, *, run: bool) -> Rows:
    """What all .rel or .res files in a folder and below it hold, in the order of their names."""
    ending = ".res" if run else ".rel"
    endings = (ending, *(ending + packing for packing in COMPRESSED_ENDINGS))
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(endings)
    )
    names = f"name the files: {os.path.join(path, '*')}" if run else "name the file"
    if not files:
        raise InputError(
            f"{path}: expected a file or a folder with {ending} files (NTCIR), found a folder without any", names
        )
    if len(header_line(open_source(files[0]))[1].split()) == (6 if run else 4):
        raise InputError(f"{path}: expected a file, found a folder of files in TREC's format", names)
    return _ntcir_rows((open_source(file) for file in files), path, run)


def _ntcir_rows(texts: Iterable[Text], name: str, run: bool) -> Rows:
    if run:
        lists = ((text, [fields[0] for _, fields in _ntcir_lines(text, (1,), RES_LINE)]) for text in texts)
        return gather_entries((Entry(_topic(text), each, None, text.name) for text, each in lists), name, "score")
    found: list[tuple[bytes, bytes, float, str]] = []
    for text in texts:
        topic = _topic(text).encode("utf-8", "surrogateescape")
        for number, fields in _ntcir_lines(text, (2, 3), REL_LINE):
            where, level = f"{text.name}:{number}", _LEVEL.fullmatch(fields[-1])
            grade = math.nan if level is None else float(level[1])
            if not math.isfinite(grade):
                expected = "a level such as L2" if level is None else "a level that fits a 64-bit float"
                raise InputError(
                    f"{where}: expected {expected}, found '{printable(fields[-1])}'", f"a line is `{REL_LINE}`"
                )
            found.append((fields[0] if len(fields) == 3 else topic, fields[-2], grade, where))
    topics, documents, grades, wheres = zip(*found, strict=True) if found else ((), (), (), ())
    columns = {
        "query": packed(topics, wheres.__getitem__),
        "document": packed(documents, wheres.__getitem__),
        "grade": np.array(grades, np.float64),
    }
    return Rows.of_columns(columns, NamedRows(name, wheres))


def _topic(text: Text) -> str:
    return os.path.basename(text.name).split(".")[0]


def _ntcir_lines(text: Text, counts: tuple[int, ...], line: str) -> Iterator[tuple[int, list[bytes]]]:
    """The fields of every line that has any, with its number: all lines have as many as the first."""
    like = ""
    for number, given in enumerate(text.lines(), 1):
        raw = given.removeprefix(b"\xef\xbb\xbf") if number == 1 else given
        content = raw.removesuffix(b"\r")
        if b"\r" in content:
            raise InputError(f"{text.name}:{number}: {CR_ALONE}\n    {shown_text(raw)}", CONVERT)
        matches = re.finditer(rb"[^ \t]+", content)
        fields = [match[0] for match in islice(matches, max(counts) + 1)]
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) not in counts:
            expected, found = " or ".join(map(str, counts)), len(fields) + sum(1 for _ in matches)
            raise InputError(
                f"{text.name}:{number}: expected {expected} fields{like}, found {found}\n    {shown_text(raw)}",
                f"a line is `{line}`",
            )
        # One that lost its topic would be of another, named after the file.
        counts, like = (len(fields),), like or f" as in line {number}"
        yield number, fields
