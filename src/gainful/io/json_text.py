"""JSON: one dict of dicts, or one line a query."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gainful.errors import InputError
from gainful.io.columns import find_roles, has_header, query_names
from gainful.io.rows import Entry, Reading
from gainful.io.sources import Text
from gainful.notation import printable


def read_json(text: Text, reading: Reading, *, run: bool) -> Iterator[Entry]:
    """``{query: {document: value}}``, for runs also ``{query: [document, ...]}``, or a list of what JSON lines hold."""
    value = _parsed(bytes(text.data), text.name, text.name)
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _entry(item, f"{text.name}[{i}]", reading, run)
    elif isinstance(value, _Object):
        for query, documents in value.items():
            where = f"{text.name}[{query!r}]"
            yield Entry(query, *_documents(documents, where, run), where)
    else:
        raise InputError(f"{text.name}: expected an object of queries, found {_described(value)}")


def read_json_lines(text: Text, reading: Reading, *, run: bool) -> Iterator[Entry]:
    """One object a line: a query with its results or judgments, or one row of a table."""
    data = bytes(text.data).removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(data.split(b"\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith(b"#"):
            where = f"{text.name}:{number}"
            yield from _entry(_parsed(stripped, text.name, where), where, reading, run)


class _Object(dict[str, Any]):
    """A JSON object, so that it can be told from anything else."""


def _parsed(data: bytes, name: str, where: str) -> Any:
    try:
        return json.loads(data, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = where if where != name else f"{name}:{error.lineno}"
        raise InputError(
            f"{place}: expected JSON, found {error.msg.lower()} at column {error.colno}\n"
            f"    {printable(error.doc.splitlines()[error.lineno - 1] if error.doc.strip() else '', 120)}"
        ) from error
    except (_RepeatedError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: expected JSON, found {error}") from error


class _RepeatedError(Exception):
    """A name that stands twice in one object."""


def _distinct(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedError(f"'{printable(key)}' twice in one object")
            seen.add(key)
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is not a number")


def _entry(value: Any, where: str, reading: Reading, run: bool) -> Iterator[Entry]:
    """The entry that an object describes; a row of a table is an entry of one document."""
    if not isinstance(value, _Object):
        raise InputError(f"{where}: expected an object, found {_described(value)}")
    nested = "results" if run else "judgments"
    names = [reading.columns["query"]] if "query" in reading.columns else query_names(value)
    if nested in value and names:
        place = f"{where}: {nested}"
        yield Entry(value.get(names[0]), *_documents(value[nested], place, run), place)
    elif has_header(list(value), reading.columns):
        names = list(value)
        roles = {role: value[names[i]] for role, i in find_roles(names, reading.columns, run=run, where=where).items()}
        score = roles.get("grade", roles.get("score"))
        yield Entry(roles["query"], [roles["document"]], None if score is None else [score], where, is_row=True)
    else:
        raise InputError(
            f"{where}: expected an object with query and {nested}, found {', '.join(value) or 'an empty one'}",
            f'a line is {{"query": "q1", "{nested}": ' + ('["d3", "d1"]}' if run else '{"d3": 2.5}}'),
        )


def _documents(value: Any, where: str, run: bool) -> tuple[Sequence[object], Sequence[object] | None]:
    """Documents and values from ``{id: value}``; for runs also from ids, ``[id, score]`` pairs or objects."""
    if isinstance(value, Mapping):
        return list(value), list(value.values())
    if not run or not isinstance(value, list):
        expected = "documents and scores" if run else "an object of documents and grades"
        raise InputError(f"{where}: expected {expected}, found {_described(value)}")
    if any(isinstance(item, (list, dict)) for item in value):
        pairs = [_pair(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return [document for document, _ in pairs], [score for _, score in pairs]
    return value, None


def _pair(item: Any, where: str) -> tuple[object, object]:
    if isinstance(item, Mapping):
        names = list(item)
        by_id = {"document": "id"} if "id" in item else {}
        roles = find_roles(["query", *names], by_id, run=True, where=where)
        if "score" in roles:
            return item[names[roles["document"] - 1]], item[names[roles["score"] - 1]]
    elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2:
        return item[0], item[1]
    raise InputError(f"{where}: expected [document, score], found {_described(item)}")


def _described(value: object) -> str:
    return printable(json.dumps(value), 80)
