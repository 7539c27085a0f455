"""Line-based formats: tables with a header (of runs, judgments or sessions), MS MARCO, MovieLens, LETOR and NTCIR.

LETOR describes judged documents by features: grades are judgments, and any feature can be a system. NTCIREVAL has one
file per topic, with judgments as levels L0, L1, ... (.rel) or ranked documents (.res).
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
#: Bytes of a large table read at a time.
_PIECE = 1 << 25
#: Upper bound on the memory in bytes for a row being read.
_PER_LINE = 130


class HeaderTable(NamedTuple):
    """A table with its header parsed."""

    text: Text
    first: int  # offset of the first row
    separator: str
    names: list[str]
    where: str  # place of the header
    notes: tuple[str, ...] = ()  # repairs made while reading


def open_table(text: Text, format_: str | None, is_header: Callable[[Sequence[str]], bool]) -> HeaderTable:
    """Read the header of a CSV or TSV."""
    text, notes = in_utf8(text)
    start, header = header_line(text)
    if b"\r" in header.rstrip(b"\r"):
        raise InputError(f"{text.name}: {CR_ALONE}", CONVERT)
    if len(header) > LONGEST_HEADER:
        raise InputError(f"{text.name}: expected a header of at most {LONGEST_HEADER:,} bytes, found {len(header):,}")
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
        hint = "begin the file with a line of names, such as user, item, rating"
        raise InputError(f"{where}: expected the names of columns, found {', '.join(names)}", hint)
    return HeaderTable(text, start + len(header) + 1, separator, names, where, notes)


def read_header_table(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read a CSV or TSV with a header."""
    known = names_of(run)
    table = open_table(text, reading.format, lambda names: has_header(names, reading.columns, known=known))
    values, read = partial(_first_values, table), partial(_table_rows, table)
    return rows_of_table(table.names, reading, table.where, values, read, run=run)


def table_pieces(text: Text, reading: Reading) -> Iterator[Rows]:
    """Yield a run in a CSV or TSV, some megabytes at a time."""
    head = Text.of_view(text.head[: text.head.rfind(b"\n") + 1] or text.head, text.name)  # never splits a character
    table = open_table(head, reading.format, lambda names: has_header(names, reading.columns))
    if table.first > len(text.head):
        raise InputError(f"{table.where}: expected a header of at most {len(text.head):,} bytes, found a longer one")
    return _piece_rows(text, table, find_roles(table.names, reading.columns, run=True, where=table.where))


def msmarco_pieces(text: Text, _: Reading) -> Iterator[Rows]:
    """Yield the rows of lines ``query document rank``, some megabytes at a time."""
    return _piece_rows(text, _lines_table(text, 3), _MSMARCO)


def _piece_rows(text: Text, table: HeaderTable, roles: Mapping[str, int]) -> Iterator[Rows]:
    first, skipped = 0, table.first
    for piece in _whole_lines(text):
        part, notes = in_utf8(Text.of_view(piece, text.name))
        rows = _rows(table._replace(text=part, first=skipped, notes=notes), roles)
        yield rows._replace(origin=FrameRows(text.name, first=first))
        first, skipped = first + rows.size, 0


def _whole_lines(text: Text) -> Iterator[bytearray]:
    """Yield the bytes of a text in large pieces that end with a line, outside quotes."""
    held, wanted, quotes = bytearray(), min(_PIECE, max_list_bytes() // 16), 0
    for piece in text.pieces(max(1, wanted // 2)):  # larger pieces may have more rows than there is memory for
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


#: Positions of query, document and rank.
_MSMARCO = {"query": 0, "document": 1, "rank": 2}


def read_msmarco(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read lines ``query document rank``."""
    if not run:
        raise UsageError(f"{text.name}: msmarco is a format for runs, not judgments")
    return _table_rows(_lines_table(text, 3), _MSMARCO)


def _lines_table(text: Text, fields: int, separator: str = "") -> HeaderTable:
    """Return a table for lines without a header; an empty separator means blanks."""
    return HeaderTable(text, 0, separator, [""] * fields, text.name)


def read_trec_words(text: Text, how: Reading, *, run: bool) -> Rows:
    """Read judgments in TREC text whose grades are words."""
    names = ["query", "subtopic", "document", "grade"]
    read, values = partial(_table_rows, _lines_table(text, 4)), lambda _: ()
    return rows_of_table(names, how, text.name, values, read, run=run)


def read_movielens(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read lines ``user item rating time`` as in MovieLens: separated by tabs, blanks or ``::``."""
    if run:
        raise UsageError(f"{text.name}: movielens is a format for judgments, not runs")
    # Split at single colons, "::" encloses an empty field.
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


# Repairs of spreadsheet conventions: each returns the repaired table and a note, empty if nothing was repaired.


def _without_blank_rows(table: HeaderTable, roles: Mapping[str, int]) -> tuple[HeaderTable, str]:
    mark = re.escape(table.separator or ",").encode()
    blank = re.compile(rb'^[ "]*' + mark + rb'[ "' + mark + rb"]*(?=\r?$)", re.MULTILINE)
    data, count = blank.subn(lambda found: b" " * len(found[0]), bytes(table.text.data))
    note = f"{count_of(count, 'blank row')} skipped" if count else ""
    return table._replace(text=Text.of_view(data, table.text.name)), note


def _with_decimal_points(table: HeaderTable, roles: Mapping[str, int]) -> tuple[HeaderTable, str]:
    """Replace decimal commas in numbers with points, in tables separated by semicolons or tabs."""
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
    """Return the columns that have a role, as IDs or numbers, and the places of their rows. Errors quote ``shown``, the
    file before repairs."""
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
        return 'expected a closing " at the end of the field'
    role = roles[detail]
    if code == EMPTY:
        return f"expected an id as {role} (field {detail + 1}), found nothing"
    value = printable(_field(data, offset, separator, detail))
    if not value:
        return f"expected a number as {role} (field {detail + 1}), found an empty cell"
    expected = "a number as" if code == NUMBER else "a number that fits a 64-bit float as"
    return f"expected {expected} {role} (field {detail + 1}), found '{value}'"


def _field(data: Bytes, offset: int, separator: str, place: int) -> bytes:
    fields = _split(data.data[offset:], separator) if separator else fields_at(data, offset)
    return next(islice(fields, place, None))


def _split(text: bytes | memoryview, separator: str) -> Iterator[bytes]:
    """Yield the fields of the first row of a text; quoted fields may contain separators and line feeds."""
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
            without = "delete the rows of unjudged documents, or write 0 for not relevant"
            return without if roles[detail] == "grade" else "every row needs one"
        if any(re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?", word) for word in words):
            return "write numbers without thousands separators: 1234.5 or 1234,5"
        return "numbers are decimal with a point, such as 2, -0.5 or 1e-3"
    if code == FIELDS:
        return "a line is `query document rank`" if not separator else f"the header has {len(table.names)} fields"
    return 'write a " inside a quoted field twice' if code == QUOTE else None


#: Number of rows sampled to decide whether a column holds numbers.
_SAMPLE = 100
_SESSION_NUMBERS = ("query", "rank", "score", "grade", "scanned", "cost")


def read_session_table(text: Text, how: Reading) -> SessionContent:
    """Read sessions, or a run, from a CSV or TSV with a header."""
    if is_run_header(header_line(text)[1].strip(), how.columns):
        return read_header_table(text, how, run=True)
    # Imported late, because they import XML, which runs do not need.
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
    head = table.text.data[table.first : table.first + HEAD].tobytes().decode("utf-8", "replace")
    for row in islice(csv.reader(text_lines(head), delimiter=table.separator), _SAMPLE):
        yield from row[column : column + 1]


LETOR_LINE = "grade qid:query 1:value 2:value ... #docid = document"


def read_letor(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read the grades as judgments, or one feature as a run's scores."""
    if run and reading.feature is None:
        raise UsageError(f"{text.name}: a LETOR run needs a feature as its score", "use --feature 1 or --feature all")
    feature = whole_number(reading.feature, "feature") if run else 0
    columns = core.read_letor(text.data, feature)
    if columns["fault_count"]:
        faults, count = columns["faults"], columns["fault_count"]
        hint = CONVERT if faults[0][1] == LINE_END else f"a line is `{LETOR_LINE}`"
        if faults[0][1] == UNNAMED:
            hint = f"is the file truncated? {hint}"
        raise fault_error(text.name, text.data, faults, count, lambda fault: _letor_fault(text.data, *fault), hint)
    if run and feature > columns["feature_count"]:
        raise InputError(f"{text.name}: no feature {feature}; the file has {columns['feature_count']} features")
    values = columns["value"] if run else columns["grade"]
    if run:  # NULL ranks below every value of the file
        lowest = float(np.nanmin(values)) if not np.isnan(values).all() else 0.0
        values = np.where(np.isnan(values), lowest - max(1.0, abs(lowest)), values)
    origin = TextLines(text.name, text.data, columns["line"])
    return Rows.of_columns({"query": columns["query"], "document": columns["document"], "score": values}, origin)


def feature_count(text: Text) -> int:
    """Return the number of features of a LETOR text."""
    return int(core.read_letor(text.data, 0)["feature_count"])


def _letor_fault(data: Bytes, offset: int, code: int, detail: int) -> str:
    if code == FIELDS:
        return "expected `grade qid:query` at the start of the line"
    if code == EMPTY:
        return "expected a query after qid:, found nothing"
    if code == LINE_END:
        return CR_ALONE
    if code == UNNAMED:
        return "expected #docid = as on other lines"
    field = printable(_field(data, offset, "", detail))
    what = "a number as grade" if detail == 0 else f"feature:value (field {detail + 1})"
    return f"expected {what}, found '{field}'"


REL_LINE, RES_LINE = "document L2` or `topic document L2", "document"
_LEVEL = re.compile(rb"L(\d+)")


def read_ntcir(text: Text, how: Reading, *, run: bool) -> Rows:
    """Read one file. If lines do not name the topic, it is the file's name up to the first dot."""
    return _ntcir_rows([text], text.name, run)


def read_folder(path: str, *, run: bool) -> Rows:
    """Read all .rel or .res files in a folder and its subfolders, in the order of their names."""
    ending = ".res" if run else ".rel"
    endings = (ending, *(ending + packing for packing in COMPRESSED_ENDINGS))
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(endings)
    )
    names = f"name the files: {os.path.join(path, '*')}" if run else "name the file"
    if not files:
        raise InputError(f"{path}: the folder contains no {ending} files (NTCIR)", names)
    if len(header_line(open_source(files[0]))[1].split()) == (6 if run else 4):
        raise InputError(f"{path}: expected a file, found a folder of TREC files", names)
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
    """Yield the number and fields of every line that is not blank, all with as many fields as the first."""
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
            message = f"{text.name}:{number}: expected {expected} fields{like}, found {found}\n    {shown_text(raw)}"
            raise InputError(message, f"a line is `{line}`")
        # A line that lost its topic would be assigned to the topic in the file's name.
        counts, like = (len(fields),), like or f" as on line {number}"
        yield number, fields
