"""JSON: one dict of dicts, one line a query, or one line a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.io.columns import find_role, find_roles, has_header
from gainful.io.formats import Reading
from gainful.io.rows import Entry, NamedRows, Rows, packed, read_id, read_value
from gainful.io.sources import Text
from gainful.kernel.arrays import Floats
from gainful.notation import printable

#: An object and where it stands.
_Placed = tuple[dict[str, Any], str]


def read_json(text: Text, reading: Reading, *, run: bool) -> Rows | Iterable[Entry]:
    """``{query: {document: value}}``, for runs also ``{query: [document, ...]}``, or a list of what JSON lines hold."""
    value = parse_json(bytes(text.data), text.name, text.name)
    if isinstance(value, list):
        return _content([(item, f"{text.name}[{i}]") for i, item in enumerate(value)], text.name, reading, run)
    if isinstance(value, dict):
        return [
            _of_query(query, documents, f"{text.name}[{query!r}]", reading, run) for query, documents in value.items()
        ]
    raise InputError(f"{text.name}: expected an object of queries, found {_described(value)}")


def read_json_lines(text: Text, reading: Reading, *, run: bool) -> Rows | Iterable[Entry]:
    """One object a line: a query with its results or judgments, or one row of a table."""
    data = bytes(text.data).removeprefix(b"\xef\xbb\xbf")
    lines = ((number, line.strip()) for number, line in enumerate(data.split(b"\n"), 1))
    placed = ((line, f"{text.name}:{number}") for number, line in lines if line and not line.startswith(b"#"))
    return _content([(parse_json(line, text.name, where), where) for line, where in placed], text.name, reading, run)


def parse_json(data: bytes, name: str, where: str) -> Any:
    """The value that a text is, at a place in the source of a name."""
    try:
        return json.loads(data, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _no_json(error, name, where) from error
    except RecursionError as error:
        raise InputError(f"{where}: expected JSON, found values within values, too many to read") from error
    except (_RepeatedError, ValueError) as error:
        raise InputError(f"{where}: expected JSON, found {error}") from error


def _no_json(error: json.JSONDecodeError, name: str, where: str) -> InputError:
    """What is said of a text that is no JSON; one that ends too early is shown by its last line."""
    text = error.doc.rstrip()
    at = min(error.pos, len(text))
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0]
    found = "the end of the text" if text and at == len(text) else error.msg.lower()
    place = where if where != name else f"{name}:{text.count(chr(10), 0, at) + 1}"
    return InputError(
        f"{place}: expected JSON, found {found} at column {at - start + 1}\n    {printable(line, 120)}",
        "several values, one a line, are JSON lines: format jsonl" if error.msg == "Extra data" else None,
    )


class _RepeatedError(Exception):
    """A name that stands twice in one object."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedError(f"'{printable(key)}' twice in one object")
            seen.add(key)
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is not a number")


def _content(placed: list[tuple[Any, str]], name: str, reading: Reading, run: bool) -> Rows | Iterable[Entry]:
    """Rows if the first object is one, else entries; all objects have to be alike."""
    for value, where in placed:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {_described(value)}")
    nested = "results" if run else "judgments"
    if placed and nested not in placed[0][0] and has_header(list(placed[0][0]), reading.columns):
        return _rows(placed, name, reading, run)
    return [_entry(value, where, nested, reading, run) for value, where in placed]


def _rows(placed: list[_Placed], name: str, reading: Reading, run: bool) -> Rows:
    """Rows of a table, each with the names of its columns."""
    columns: dict[str, list[Any]] = {}
    for number, (value, where) in enumerate(placed):
        names = list(value)
        roles = find_roles(names, reading.columns, run=run, where=where)
        if number and roles.keys() != columns.keys():
            raise InputError(f"{where}: expected {', '.join(columns)} as in the first row, found {', '.join(roles)}")
        for role, i in roles.items():
            columns.setdefault(role, []).append(value[names[i]])
    wheres = [where for _, where in placed]
    value_role = "score" if run else "grade"
    return Rows(
        packed(columns["query"], lambda i: f"{wheres[i]}: query"),
        packed(columns["document"], lambda i: f"{wheres[i]}: document"),
        _numbers(columns[value_role], wheres, value_role) if value_role in columns else None,
        NamedRows(name, np.arange(len(placed)), tuple(wheres)),
        _numbers(columns["rank"], wheres, "rank") if "rank" in columns else None,
        packed(columns["subtopic"], lambda i: f"{wheres[i]}: subtopic") if "subtopic" in columns else None,
    )


def _numbers(values: Iterable[object], wheres: Sequence[str], role: str) -> Floats:
    return np.array([read_value(value, where, role) for value, where in zip(values, wheres, strict=True)], np.float64)


def _entry(value: dict[str, Any], where: str, nested: str, reading: Reading, run: bool) -> Entry:
    names = list(value)
    query = find_role("query", names, reading.columns, where)
    if nested not in value or query is None:
        raise InputError(
            f"{where}: expected an object with query and {nested}, found {', '.join(names) or 'an empty one'}",
            f'a line is {{"query": "q1", "{nested}": ' + ('["d3", "d1"]}' if run else '{"d3": 2.5}}'),
        )
    read_id(value[names[query]], f"{where}: query")
    return _of_query(value[names[query]], value[nested], f"{where}: {nested}", reading, run)


def _of_query(query: object, value: Any, where: str, reading: Reading, run: bool) -> Entry:
    """Documents and values from ``{id: value}``; for runs also from ids, ``[id, score]`` pairs or objects."""
    if isinstance(value, dict):
        return Entry(query, list(value), list(value.values()), where)
    if not run or not isinstance(value, list):
        expected = "documents and scores" if run else "an object of documents and grades"
        raise InputError(f"{where}: expected {expected}, found {_described(value)}")
    if any(isinstance(item, (list, dict)) for item in value):
        pairs = list(_pairs(value, where, reading))
        return Entry(query, [document for document, _ in pairs], [score for _, score in pairs], where)
    return Entry(query, value, None, where)


def _pairs(items: list[Any], where: str, reading: Reading) -> Iterator[tuple[object, object]]:
    for i, item in enumerate(items):
        place = f"{where}[{i}]"
        if isinstance(item, dict):
            document, score = _document_and_score(item, reading.columns, place)
            yield document, score
        elif isinstance(item, list) and len(item) == 2:
            yield item[0], item[1]
        else:
            raise InputError(f"{place}: expected [document, score], found {_described(item)}")


def _document_and_score(item: dict[str, Any], columns: Mapping[str, str], where: str) -> tuple[object, object]:
    names = list(item)
    given = columns if "document" in columns or "id" not in item else {**columns, "document": "id"}
    found = {role: find_role(role, names, given, where) for role in ("document", "score")}
    document, score = found["document"], found["score"]
    if document is None or score is None:
        lacking = " and ".join(role for role, place in found.items() if place is None)
        raise InputError(
            f"{where}: expected an object with document and score, found {', '.join(names) or 'an empty one'}",
            f"--columns (columns= in Python) names {lacking}",
        )
    return item[names[document]], item[names[score]]


def _described(value: object) -> str:
    try:
        return printable(json.dumps(value), 80)
    except RecursionError:
        return "values within values"
