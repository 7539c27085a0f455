"""Small tables with arbitrary columns, such as information about queries, read as one record per row."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gainful.errors import InputError, UsageError
from gainful.io.columns import INTENT_NAMES, SESSION_NAMES, Names, OfEitherSide, find_all, find_role, folded, is_called
from gainful.io.formats import in_utf8, json_cost, parse_json, refuse_binary
from gainful.io.json_text import json_lines
from gainful.io.rows import dicts_of_frame, is_frame, read_id
from gainful.io.sources import BLANKS, Source, Text, as_source, open_source, text_lines
from gainful.notation import number_text, printable, read_number, text_of_id

_BOM = b"\xef\xbb\xbf"
#: Upper limit on a sum of probabilities, with room for rounding.
_ALL_INTENTS = 1.001


class Record(NamedTuple):
    """A row: its values by column name, and its place. ``has_decimal_commas``: semicolons or tabs separate fields."""

    values: Mapping[str, object]
    where: str
    has_decimal_commas: bool = False


def read_records(
    value: object, name: str, id_names: Sequence[str], *, bare: bool = False, key: str = "query_id"
) -> list[Record]:
    """Read a CSV or TSV with a header, JSON objects, parquet, a data frame, or a dict of objects by ID.

    A header contains one of ``id_names`` (tiers of :data:`gainful.io.columns.Names`), or, unless lines may be ``bare``,
    commas. Lines without a header have two columns, ``query_id`` and ``text``. ``name`` names a value that is not a
    file in messages; ``key`` is the column for the keys of a dict.

    >>> [record.values for record in read_records(b"qid,kind\\n1,long\\n", "queries", ["qid"])]
    [{'qid': '1', 'kind': 'long'}]
    >>> [record.values for record in read_records(b"q1\\tfoxes in the city\\n", "queries", ["qid"])]
    [{'query_id': 'q1', 'text': 'foxes in the city'}]
    """
    if isinstance(value, Mapping):
        return _records_by_id(value, name, key)
    if is_frame(value):
        return [Record(row, f"{name}: row {i} (counting from 0)") for i, row in enumerate(dicts_of_frame(value))]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [_record(each, f"{name}: item {i}") for i, each in enumerate(value, 1)]
    source: Source | Text = as_source(value, "a table")
    text = open_source(source, name if isinstance(source, (bytes, bytearray, memoryview)) else None)
    head = text.head.removeprefix(_BOM).lstrip()
    if head.startswith(b"PAR1"):
        from gainful.io.frames import open_parquet

        return read_records(open_parquet(text), text.name, id_names)
    refuse_binary(text.head, text.name)
    return _json_records(text, key) if head[:1] in (b"{", b"[") else list(_line_records(text, id_names, bare))


def rows_by_id(
    value: object, name: str, known: Names, given: Mapping[str, str], what: str
) -> dict[bytes, tuple[Record, Mapping[str, str]]]:
    """Read a table with unique IDs: by ID, the row and its column names by role.

    The first role of ``known`` is the ID; ``what`` names its kind in messages.
    """
    role = next(iter(known))
    columns: dict[tuple[str, ...], Mapping[str, str]] = {}
    rows: dict[bytes, tuple[Record, Mapping[str, str]]] = {}
    for record in read_records(value, name, (*known[role], *map(folded, given.values())), key=f"{what}_id"):
        names = tuple(record.values)
        if names not in columns:
            columns[names] = {each: names[place] for each, place in find_all(known, names, given, name).items()}
        identifier = id_of_cell(record.values[columns[names][role]], record.where)
        if identifier in rows:
            raise duplicate_row(what, identifier, record, rows[identifier][0])
        rows[identifier] = record, columns[names]
    return rows


def duplicate_row(what: str, identifier: bytes | str, record: Record, first: Record) -> InputError:
    """Return the error for an ID with two rows."""
    return InputError(f"{record.where}: duplicate {what} '{printable(identifier)}' (first: {first.where})")


def name_of_table(value: object, otherwise: str) -> str:
    """Return the name of a table for messages: its path if it has one."""
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else otherwise


def is_empty_cell(value: object) -> bool:
    """Return whether a cell is empty, which frames represent as NaN."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def id_of_cell(value: object, where: str) -> bytes:
    """Return the ID in a cell; frames with missing cells hold integers as floats."""
    return read_id(int(value) if isinstance(value, float) and value.is_integer() else value, where)


def number_of_cell(record: Record, column: str) -> float:
    """Return the number in a column of a row."""
    value = record.values[column]
    if record.has_decimal_commas and isinstance(value, str) and re.fullmatch(r"[+-]?\d+,\d+", value):
        value = value.replace(",", ".")
    try:
        return read_number(value, f"{record.where}: {column}")
    except UsageError as error:
        raise InputError(error.message) from error


def read_ratings(source: Source | Text, column: str, session_column: str | None = None) -> dict[str, float]:
    """Read one column of a table by session; sessions without a rating are omitted.

    >>> read_ratings(b"SessionID,Performance,Difficulty\\n22,3,5\\n23,,4\\n", "Performance")
    {'22': 3.0}
    """
    known: Names = {"session": SESSION_NAMES["session"], "rating": ()}
    given = {"rating": column} if session_column is None else {"rating": column, "session": session_column}
    name = name_of_table(source, "ratings")
    rows = rows_by_id(source, name, known, given, "session")
    ratings = {
        text_of_id(session): number_of_cell(record, column)
        for session, (record, _) in rows.items()
        if not is_empty_cell(record.values[column])
    }
    if not ratings:
        raise InputError(f"{name}: no ratings in column '{column}'")
    return ratings


def read_intents(value: object, given: Mapping[str, str]) -> dict[bytes, dict[bytes, float]]:
    """Read sub-topic probabilities per query from a table, from NTCIR lines (query, sub-topic, probability), or from a
    dict of dicts.

    >>> read_intents(b"0001 1 0.75 nav\\n0001 2 0.25 inf\\n", {})
    {b'0001': {b'1': 0.75, b'2': 0.25}}
    """
    name, found = name_of_table(value, "intents"), dict[bytes, dict[bytes, float]]()
    for record in read_records(value, name, (*INTENT_NAMES["query"], *map(folded, given.values())), bare=True):
        (names, cells), shares = zip(*record.values.items(), strict=True), dict[object, object]()
        if find_role("probability", names, given, name, INTENT_NAMES) is not None:
            places = find_all(INTENT_NAMES, names, given, name)
            query, intent, shares[intent] = (cells[places[role]] for role in INTENT_NAMES)
        elif set(names) <= {"query_id", "text"}:  # a line without a header
            query, intent, shares[intent] = [*re.split(r"[ \t,;]+", " ".join(map(str, cells))), "", ""][:3]
        else:
            query, shares = cells[0], dict(zip(names[1:], cells[1:], strict=True))
        of_query = found.setdefault(id_of_cell(query, record.where), {})
        for intent, cell in shares.items():
            key, share = id_of_cell(intent, record.where), number_of_cell(record._replace(values={"": cell}), "")
            if share <= 0 or of_query.setdefault(key, share) != share or sum(of_query.values()) > _ALL_INTENTS:
                raise InputError(
                    f"{record.where}: expected one probability above 0 per sub-topic, at most 1 in total, "
                    f"found {number_text(share)} for sub-topic '{printable(key)}' of query '{printable(query)}'"
                )
    return found


def read_topics(
    source: Source | Text, columns: Mapping[str, str] | None = None
) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """Read the topic of every session in a table, and its user if the table has that column.

    ``columns`` maps session, topic and user to names in the header; names that only the table of sessions has are
    ignored.

    >>> read_topics(b"SessionID,User,Topic\\n22,S05,11\\n23,S05,4\\n")
    ({b'22': b'11', b'23': b'4'}, {b'22': b'S05', b'23': b'S05'})
    """
    name = name_of_table(source, "topics")
    given = {role: OfEitherSide(each) for role, each in (columns or {}).items()}
    known: Names = {role: SESSION_NAMES[role] for role in ("session", "topic")}
    topics, users = dict[bytes, bytes](), dict[bytes, bytes]()
    for session, (record, found) in rows_by_id(source, name, known, given, "session").items():
        topics[session] = id_of_cell(record.values[found["topic"]], f"{record.where}: topic")
        names = list(record.values)
        user = find_role("user", names, given, name, SESSION_NAMES)
        if user is not None:
            users[session] = id_of_cell(record.values[names[user]], f"{record.where}: user")
    if not topics:
        raise InputError(f"{name}: no topics of sessions")
    return topics, users


def _record(value: object, where: str, **others: object) -> Record:
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: expected an object with names and values, found {printable(repr(value))}")
    return Record({**others, **{str(name): each for name, each in value.items()}}, where)


def _records_by_id(value: Mapping[Any, Any], name: str, key: str) -> list[Record]:
    return [
        _record(
            about if isinstance(about, Mapping) else {"text": about},
            f"{name}: {key.removesuffix('_id')} {identifier!r}",
            **{key: identifier},
        )
        for identifier, about in value.items()
    ]


def _json_records(text: Text, key: str) -> list[Record]:
    lines = list(json_lines(text, json_cost))
    first = lines[0][1]
    if len(lines) > 1 and first.startswith(b"{") and first.endswith(b"}"):
        return [_record(parse_json(line, text.name, where), where) for where, line in lines]
    value = parse_json(bytes(text.buffer).removeprefix(_BOM), text.name, text.name)
    if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
        return _records_by_id(value, text.name, key)
    items = value if isinstance(value, list) else [value]
    return [_record(each, f"{text.name}: item {i}") for i, each in enumerate(items, 1)]


def _line_records(text: Text, id_names: Sequence[str], bare: bool) -> Iterator[Record]:
    """Yield the rows below a header, or lines that begin with an ID if there is no header."""
    text.require_table_memory()
    content = bytes(in_utf8(text)[0].buffer).removeprefix(_BOM).decode("utf-8")
    header = next((line for line in text_lines(content) if line.strip(BLANKS) and not line.startswith("#")), "")
    separator = next(
        (mark for mark in "\t,;" if any(is_called(name.strip().strip('"'), id_names) for name in header.split(mark))),
        None if bare else next((mark for mark in ",;" if mark in header), None),
    )
    if separator is None:
        for number, line in enumerate(text_lines(content), 1):
            if line.strip(BLANKS) and not line.startswith("#"):
                identifier, _, rest = re.sub(r"[\t,;]| +", "\t", line.strip(BLANKS), count=1).partition("\t")
                about = rest.strip(BLANKS)
                values = {"query_id": identifier, "text": about} if about else {"query_id": identifier}
                yield Record(values, f"{text.name}:{number}")
        return
    reader = csv.reader(text_lines(content), delimiter=separator, strict=True)
    names: Sequence[str] | None = None
    try:
        for row in reader:
            where = f"{text.name}:{reader.line_num}"
            if not any(cell.strip(BLANKS) for cell in row) or (names is None and row[0].startswith("#")):
                continue
            if names is None:
                names = [name.strip() for name in row]
                if twice := [name for i, name in enumerate(names) if name in names[:i]]:
                    raise InputError(f"{where}: duplicate column '{printable(twice[0])}'", "rename all but one")
            elif len(row) != len(names):
                raise InputError(f"{where}: expected {len(names)} fields as in the header, found {len(row)}")
            else:
                cells = dict(zip(names, (cell.strip(BLANKS) for cell in row), strict=True))
                yield Record(cells, where, separator != ",")
    except csv.Error as error:
        where = f"{text.name}:{reader.line_num}"
        raise InputError(f"{where}: expected a row of a table, found misplaced quotes ({error})") from error
