"""Small tables of any columns: a record a row, whatever holds them. For what people say of queries."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gainful.errors import InputError
from gainful.io.columns import is_called, text_of_header
from gainful.io.formats import first_line, in_utf8, parse_json
from gainful.io.rows import is_frame, is_pandas
from gainful.io.sources import Source, Text, as_source, open_source, text_lines
from gainful.notation import printable

_BOM = b"\xef\xbb\xbf"


class Record(NamedTuple):
    """A row: its values by the names of their columns, and where it stands. A line without a header has no names."""

    values: Mapping[str, object]
    where: str


def read_records(
    value: object, name: str, id_names: Sequence[str], *, bare: bool = False, key: str = "query_id"
) -> list[Record]:
    """The rows of a CSV or TSV with a header, of JSON objects, parquet, a data frame, or a dict of objects by id.

    A header has one of ``id_names`` (tiers of :data:`gainful.io.columns.Names`), or, unless lines may be ``bare``,
    commas. Lines without one have two columns, an id and the text behind it: ``query_id`` and ``text``.
    ``name`` is what messages call a value that is no file, ``key`` the column that the keys of a dict make.

    >>> [record.values for record in read_records(b"qid,kind\\n1,long\\n", "queries", ["qid"])]
    [{'qid': '1', 'kind': 'long'}]
    >>> [record.values for record in read_records(b"q1\\tfoxes in the city\\n", "queries", ["qid"])]
    [{'query_id': 'q1', 'text': 'foxes in the city'}]
    """
    if isinstance(value, Mapping):
        return [Record(*each) for each in _of_dict(value, name, key)]
    if is_frame(value):
        rows = _frame_rows(value)
        return [Record(row, f"{name}: row {i} (counting from 0)") for i, row in enumerate(rows)]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [Record(_object(each, f"{name}: item {i}"), f"{name}: item {i}") for i, each in enumerate(value, 1)]
    source: Source | Text = as_source(value, "a table")
    text = open_source(source, name if isinstance(source, (bytes, bytearray, memoryview)) else None)
    head = text.head.removeprefix(_BOM).lstrip()
    if head.startswith(b"PAR1"):
        from gainful.io.frames import open_parquet

        rows = _frame_rows(open_parquet(text))
        return [Record(row, f"{text.name}: row {i} (counting from 0)") for i, row in enumerate(rows)]
    return list(_json_records(text, key) if head[:1] in (b"{", b"[") else _line_records(text, id_names, bare))


def _of_dict(value: Mapping[Any, Any], name: str, key: str) -> Iterator[tuple[Mapping[str, object], str]]:
    """Objects, or texts, by the id of their query or item."""
    for identifier, about in value.items():
        where = f"{name}: {key.removesuffix('_id')} {identifier!r}"
        if isinstance(about, Mapping):
            yield {key: identifier, **_object(about, where)}, where
        else:
            yield {key: identifier, "text": about}, where


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: expected an object with names and values, found {printable(repr(value))}")
    return {str(key): each for key, each in value.items()}


def _frame_rows(frame: Any) -> list[dict[str, object]]:
    if is_pandas(frame):
        found: list[dict[str, object]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    else:
        found = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_pylist()
    return found


def _json_records(text: Text, key: str) -> Iterator[Record]:
    data = bytes(text.buffer).removeprefix(_BOM)
    lines = [line for line in data.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].lstrip().startswith(b"{") and lines[0].rstrip().endswith(b"}"):
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                where = f"{text.name}:{number}"
                yield Record(_object(parse_json(line, text.name, where), where), where)
        return
    value = parse_json(data, text.name, text.name)
    if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
        yield from (Record(*each) for each in _of_dict(value, text.name, key))
        return
    items = value if isinstance(value, list) else [value]
    for i, each in enumerate(items, 1):
        yield Record(_object(each, f"{text.name}: item {i}"), f"{text.name}: item {i}")


def _separator(line: str, id_names: Sequence[str], bare: bool) -> str | None:
    """What separates the names of a header; None if there is none: its ids are known by name, or it has commas."""
    for separator in "\t,;":
        if any(is_called(name.strip().strip('"'), id_names) for name in line.split(separator)):
            return separator
    return None if bare else next((mark for mark in ",;" if mark in line), None)


def _line_records(text: Text, id_names: Sequence[str], bare: bool) -> Iterator[Record]:
    """Rows below a header; or lines that begin with an id, where there is none."""
    content = bytes(in_utf8(text)[0].buffer).removeprefix(_BOM).decode("utf-8")
    separator = _separator(text_of_header(first_line(text.head)), id_names, bare)
    if separator is None:
        yield from _bare_records(content, text.name)
        return
    reader = csv.reader(text_lines(content), delimiter=separator, strict=True)
    names: Sequence[str] | None = None
    try:
        for row in reader:
            where = f"{text.name}:{reader.line_num}"
            if not any(cell.strip() for cell in row) or (names is None and row[0].startswith("#")):
                continue
            if names is None:
                names = [name.strip() for name in row]
                _check_names(names, where)
            elif len(row) != len(names):
                raise InputError(f"{where}: expected {len(names)} fields as in the header, found {len(row)}")
            else:
                yield Record(dict(zip(names, (cell.strip() for cell in row), strict=True)), where)
    except csv.Error as error:
        where = f"{text.name}:{reader.line_num}"
        raise InputError(f"{where}: expected a row of a table, found quotes that do not fit ({error})") from error


def _check_names(names: Sequence[str], where: str) -> None:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise InputError(f"{where}: expected every column once, found '{printable(twice)}' twice", "rename all but one")


def _bare_records(content: str, name: str) -> Iterator[Record]:
    for number, line in enumerate(text_lines(content), 1):
        if line.strip() and not line.startswith("#"):
            identifier, _, rest = re.sub(r"[\t,;]| +", "\t", line.strip(), count=1).partition("\t")
            yield Record(
                {"query_id": identifier, **({"text": rest.strip()} if rest.strip() else {})}, f"{name}:{number}"
            )
