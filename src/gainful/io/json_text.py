"""JSON and Python objects: one dict of dicts, one object per query, or one object per row of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from gainful.errors import InputError, for_asker, option
from gainful.io.columns import (
    LISTS,
    LOOKS_LIKE_A_RUN,
    LOOKS_LIKE_JUDGMENTS,
    NAMES,
    NEAREST_FIRST,
    PARENT_PATTERN,
    SPAN,
    OfEitherSide,
    ParentColumn,
    find_role,
    has_header,
    is_called,
    listed_for_other_side,
    names_of,
    query_of_lists,
)
from gainful.io.formats import Reading, json_cost, parse_json
from gainful.io.rows import Entry, NamedRows, Rows, gather_entries, packed, place_in, read_id, read_value, rows_of_table
from gainful.io.sources import Text
from gainful.notation import printable, some_of

#: An object and its place.
_Placed = tuple[dict[str, Any], str]


def read_json(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read ``{query: {document: value}}``, for runs also ``{query: [document, ...]}``, or a list as in JSON lines."""
    value = parse_json(text.content, text.name, text.name)
    if isinstance(value, list):
        return read_objects(value, text.name, reading, run=run)
    if isinstance(value, dict):
        placed = ((query, documents, f"{text.name}[{query!r}]") for query, documents in value.items())
        entries = (_of_query(*each, reading, run) for each in placed)
        return gather_entries(entries, text.name, _role(run), reading.grades)
    raise InputError(f"{text.name}: expected an object of queries, found {described(value)}")


def dict_entries(lists: Mapping[Any, Any], name: str, columns: Mapping[str, Any], *, run: bool) -> Iterator[Entry]:
    """Yield the queries of a Python dict ``{query: {document: value}}`` or ``{query: [document, ...]}``."""
    kinds = (Sequence, np.ndarray) if run else (list, tuple)
    for query, documents in lists.items():
        where = place_in(name, query)
        if isinstance(documents, Mapping):
            refuse_plain(columns, where)
            yield Entry(query, list(documents), list(documents.values()), where)
        elif isinstance(documents, (set, frozenset)) and not run:  # unordered, so not a ranking
            yield Entry(query, sorted(documents, key=str), None, where)  # deterministic order
        elif isinstance(documents, (str, bytes)) or not isinstance(documents, kinds):
            expected = f"documents and {'scores' if run else 'grades'} or a list of documents"
            raise InputError(f"{where}: expected a dict of {expected}, found {printable(repr(documents), 80)}")
        else:
            yield _listed_entry(query, list(documents), where, columns, run=run)


#: Retrieved documents of frameworks, also as JSON: the key or attribute that identifies the type, and the paths of the
#: ID and the metadata, for LlamaIndex (node with score, node), LangChain and Haystack.
_SHAPES = (
    ("node", "node.node_id", "node.metadata"),
    ("node_id", "node_id", "metadata"),
    ("id_", "id_", "metadata"),
    ("page_content", "id", "metadata"),
    ("meta", "id", "meta"),
)


def value_at(value: Any, path: str) -> Any:
    """Return the value at a dotted path of keys or attributes, or the ID of a span built from three; None if missing.

    >>> value_at({"metadata": {"chunk_id": "c1"}}, "metadata.chunk_id"), value_at({"a.b": 1}, "a.b"), value_at({}, "a")
    ('c1', 1, None)
    >>> value_at({"file": "a.pdf", "at": {"from": 120, "to": 480}}, "file[at.from:at.to]")
    'a.pdf[120:480]'
    """
    is_key = isinstance(value, Mapping) and path in value
    if not is_key and (span := SPAN.fullmatch(path)):
        document, start, end = (value_at(value, part) for part in span.groups())
        if document is None or start is None or end is None:
            return None
        # Columns with an empty cell have whole numbers as floats.
        start, end = (re.sub(r"\.0+$", "", str(position)) for position in (start, end))
        return f"{document}[{start}:{end}]"
    first, _, rest = ("", "", "") if is_key else path.partition(".")
    name = first or path
    inside = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value_at(inside, rest) if rest and inside is not None else inside


def _identified(item: Any, where: str, columns: Mapping[str, Any]) -> Any:
    """Return the ID of a framework's document, with the score if its JSON has one; other items with the paths that
    columns name. Objects keep their order, because the scores of some frameworks are distances."""
    if isinstance(item, (tuple, list)) and len(item) == 2 and not isinstance(item[0], (str, int)):
        item = item[0]  # LangChain's pair of document and score
    given, has = columns.get("document"), item.__contains__ if isinstance(item, dict) else partial(hasattr, item)
    own, about = next((paths for tells, *paths in _SHAPES if has(tells)), ("", ""))
    known = value_at(item, about) if about else None
    own = own if value_at(item, own) else own.replace("node_id", "id_")  # in LlamaIndex's JSON
    if not isinstance(known, Mapping) and (isinstance(item, (str, bytes, int)) or not callable(given)):
        return _with_paths(item, columns) if isinstance(item, dict) else item
    ids = {path: value_at(item, path) for path in (own, *(f"{about}.{key}" for key in known or ())) if path}
    ids = {path: each for path, each in ids.items() if isinstance(each, (str, int)) and each != ""}
    likely = [path for path in ids if path == own or is_called(path.rpartition(".")[2], NAMES["document"][:2])]
    if given is None and len({ids[path] for path in likely}) == 1:
        found = ids[likely[0]]
    else:
        found = given(item) if callable(given) else value_at(item, given) if given else None
    if found is None:
        has_ids = some_of(likely if given is None and likely else [*ids], 12) or "none"
        example = next(iter([*likely[::-1], *ids, "NAME"]))
        lacking = "no unique id for" if given is None else f"no '{given}' in"
        in_python = f"id={example!r}; id= may also be a function of the document"
        hint = f"use {for_asker(option('columns', {'document': example}), in_python)}"
        raise InputError(f"{where}: {lacking} this document; it has {has_ids}", hint)
    return {"id": found, "score": item["score"]} if isinstance(item, dict) and "score" in item else found


def _with_paths(value: dict[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the values at the dotted paths that columns name; a span takes the place of its parts."""
    paths = [name for name in columns.values() if isinstance(name, str) and name not in value]
    spans = {name: span.groups() for name in paths if (span := SPAN.fullmatch(name))}
    paths = [name for name in paths if "." in name or name in spans]
    found = {name: each for name in paths if (each := value_at(value, name)) is not None}
    parts = {part for name in found for part in spans.get(name, ())}
    return {**{key: each for key, each in value.items() if key not in parts}, **found}


def refuse_plain(columns: Mapping[str, Any], where: str) -> None:
    """Raise InputError if a parent column was given for data without columns."""
    if isinstance(name := columns.get("document"), ParentColumn):
        raise InputError(f"{where}: parent: neither a column nor a file is named '{name}'", PARENT_PATTERN)


def read_json_lines(text: Text, reading: Reading, *, run: bool) -> Rows:
    """Read one object per line: a query with its results or judgments, or one row of a table."""
    placed = [(parse_json(line, text.name, where), where) for where, line in json_lines(text, json_cost)]
    return _content(placed, text.name, reading, run)


def is_object_of_run(value: dict[str, Any]) -> bool:
    """Return whether a dict could be a line of a run: a query with its results, or a row of a table.

    >>> is_object_of_run({"question": "who?", "results": ["d1"]}), is_object_of_run({"id": "d1", "score": 0.5})
    (True, False)
    """
    has_lists = _list_key(value, "", Reading(), run=True) is not None
    return has_header(list(value), {}, ("query",) if has_lists else ("query", "document"), names_of(run=True))


def read_objects(values: Iterable[Any], name: str, reading: Reading, *, run: bool) -> Rows:
    """Read a list of objects."""
    return _content([(value, f"{name}[{i}]") for i, value in enumerate(values)], name, reading, run)


def json_lines(text: Text, kept: Callable[[bytes], int] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield lines that are neither blank nor comments, with their places; see :meth:`gainful.io.sources.Text.lines`."""
    for number, line in enumerate(text.lines(kept), 1):
        line = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip()  # noqa: PLW2901 (not held twice)
        if line and not line.startswith(b"#"):
            yield f"{text.name}:{number}", line


def _content(placed: list[tuple[Any, str]], name: str, reading: Reading, run: bool) -> Rows:
    """Read objects as one row each if the first one is a row, or else as one query each."""
    for value, where in placed:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {described(value)}")
    if not run and placed and "nuggets" in placed[0][0]:
        return _of_nuggets(placed, name, reading)
    placed = [(_with_paths(value, reading.columns), where) for value, where in placed]
    _require_given(placed, reading)
    names = list(placed[0][0]) if placed and _list_key(*placed[0], reading, run) is None else []
    if has_header(names, reading.columns, known=names_of(run)):
        return _rows(placed, name, reading, run)
    return gather_entries(_entries(placed, reading, run), name, _role(run), reading.grades)


#: Grades and weights of nuggets as in nuggetizer's scores.
_SUPPORT, _IMPORTANCE = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}, {"vital": 1.0, "okay": 0.5}


def _of_nuggets(placed: list[_Placed], name: str, reading: Reading) -> Rows:
    """Read nuggets assigned to documents (or answers, by run) as judgments, whose sub-topics are weighted nuggets."""
    rows, weights = list[_Placed](), dict[bytes, dict[bytes, tuple[float, str]]]()
    for value, where in placed:
        query, document = value.get("qid"), value.get("docid", value.get("run_id"))
        of_query = weights.setdefault(read_id(query, f"{where}: qid"), {})
        nuggets = value.get("nuggets")
        for nugget in nuggets if isinstance(nuggets, list) else [nuggets]:
            about = nugget if isinstance(nugget, dict) else {}
            weight, grade = _IMPORTANCE.get(str(about.get("importance"))), _SUPPORT.get(str(about.get("assignment")))
            if weight is None or grade is None:
                labels = "importance vital | okay and assignment support | partial_support | not_support"
                again = "assign it again, or write not_support, as which nuggetizer's scores count it"
                hint = again if about.get("assignment") == "failed" else None
                raise InputError(f"{where}: expected a nugget with {labels}, found {described(nugget)}", hint)
            text = read_id(about.get("text"), f"{where}: text")
            other, first = of_query.setdefault(text, (weight, where))
            if other != weight:
                what = f"nugget '{printable(text)}' of query '{printable(str(query))}' is {about['importance']}"
                raise InputError(f"{where}: {what}, but {'vital' if other == 1 else 'okay'} in {first}")
            rows.append(({"query": query, "document": document, "subtopic": about["text"], "grade": grade}, where))
    if not rows:
        raise InputError(f"{name}: no nuggets")
    totals = {query: sum(weight for weight, _ in of.values()) for query, of in weights.items()}
    shares = {of: {each: weight / totals[of] for each, (weight, _) in weights[of].items()} for of in weights}
    found = _rows(rows, name, reading._replace(columns={}), run=False)
    empty = [query for query in weights if not weights[query]]
    return found._replace(query_ids=[*found.query_ids, *empty], intents=shares)


def _list_key(value: dict[str, Any], where: str, reading: Reading, run: bool) -> str | None:
    side, given = "results" if run else "judgments", reading.columns.get("document")
    holding = [key for key, each in value.items() if isinstance(each, (list, dict)) or (each is None and key == given)]
    if given in holding:
        return str(given)
    place = find_role("document", holding, {}, where, {"document": (*LISTS[side], *NAMES["document"])})
    return holding[place] if place is not None else side if side in value else None


def _require_given(placed: list[_Placed], reading: Reading) -> None:
    """Raise InputError if the given name for documents is in no object or list item, or only in some objects."""
    name = reading.columns.get("document")
    lacking = next((each for each in placed if name not in each[0]), None)
    if name is None or lacking is None or callable(name):
        return
    has_items = any(
        isinstance(item, dict) and value_at(item, name) is not None
        for value, _ in placed
        for items in value.values()
        if isinstance(items, list)
        for item in items
    )
    is_of_object = any(name in value for value, _ in placed)
    if is_of_object or not (has_items or isinstance(name, OfEitherSide)):
        find_role("document", list(lacking[0]), {"document": str(name)}, lacking[1])


#: Number of objects sampled to decide what a key holds.
_SAMPLE = 100


def _first_values(placed: list[_Placed], names: Sequence[str], column: int) -> list[object]:
    return [value.get(names[column]) for value, _ in placed[:_SAMPLE]]


def _rows(placed: list[_Placed], name: str, reading: Reading, run: bool) -> Rows:
    names, wheres = list(dict.fromkeys(chain.from_iterable(value for value, _ in placed))), [at for _, at in placed]

    def read(roles: Mapping[str, int]) -> Rows:
        found: dict[str, Any] = {}
        for role, place in roles.items():
            values = [value.get(names[place]) for value, _ in placed]
            if role in ("query", "document", "subtopic"):
                found[role] = packed(values, lambda i, role=role: f"{wheres[i]}: {role}")  # type: ignore[misc]
            else:
                numbers = [json_number(value, where, role) for value, where in zip(values, wheres, strict=True)]
                found[role] = np.array(numbers, np.float64)
        return Rows.of_columns(found, NamedRows(name, wheres))

    return rows_of_table(names, reading, wheres[0], partial(_first_values, placed, names), read, run=run)


def _entries(placed: list[_Placed], reading: Reading, run: bool) -> Iterator[Entry]:
    keys: dict[tuple[str, ...], tuple[str, str]] = {}
    for value, where in placed:
        names = tuple(value)
        if names not in keys:
            nested = _list_key(value, where, reading, run)
            query = query_of_lists(names, reading.columns, where, partial(_first_values, placed, names))
            if nested is None or query is None:
                raise _no_entry(value, where, nested, None if query is None else names[query], run)
            keys[names] = names[query], nested
        query_key, nested = keys[names]
        read_id(value[query_key], f"{where}: query")
        yield _of_query(value[query_key], value[nested], f"{where}: {nested}", reading, run)


_SCORES = "use `gainful compare --from FILE` to compare scores"


def _no_entry(value: dict[str, Any], where: str, nested: str | None, query: str | None, run: bool) -> InputError:
    """Return the error for an object without a query and its documents, with its likely kind or keys."""
    side = "results" if run else "judgments"
    message = f"{where}: expected an object with query and {side}, found {', '.join(value) or 'an empty one'}"
    if {"gainful", "signature"} <= value.keys():
        return InputError(f"{where}: expected {'a run' if run else side}, found scores written by gainful", _SCORES)
    if nested is None and listed_for_other_side(value, run):
        return InputError(message, LOOKS_LIKE_JUDGMENTS if run else LOOKS_LIKE_A_RUN)
    document = nested or next((key for key, each in value.items() if isinstance(each, (list, dict)) and each), None)
    query = query or next((key for key, each in value.items() if isinstance(each, (str, int)) and each), None)
    if document and query:
        return InputError(message, f"use {option('columns', {'query': query, 'document': document})}")
    return InputError(message, f'a line is {{"query": "q1", "{side}": ' + ('["d3", "d1"]}' if run else '{"d3": 2.5}}'))


def _of_query(query: object, value: Any, where: str, reading: Reading, run: bool) -> Entry:
    if isinstance(value, dict):
        refuse_plain(reading.columns, where)
        return Entry(query, list(value), list(value.values()), where)
    if not isinstance(value, list):
        expected = "documents and scores" if run else "an object of documents and grades"
        raise InputError(f"{where}: expected {expected}, found {described(value)}")
    return _listed_entry(query, value, where, reading.columns, run=run)


def _listed_entry(query: object, items: list[Any], where: str, columns: Mapping[str, Any], *, run: bool) -> Entry:
    """Return the entry for a list of IDs, ``[id, value]`` pairs or objects. Grades are optional in judgments; objects
    in a run may have a rank instead of a score, if columns name it."""
    as_given, items = items, [_identified(item, f"{where}[{i}]", columns) for i, item in enumerate(items)]
    if not any(isinstance(item, (list, tuple, dict)) for item in items):
        if run and all(one is other for one, other in zip(items, as_given, strict=True)):
            refuse_plain(columns, where)
        return Entry(query, items, None, where)
    pairs: list[tuple[object, object]] = []
    keys: dict[tuple[str, ...], tuple[str, str | None, bool]] = {}
    ranked = 0
    for i, item in enumerate(items):
        if isinstance(item, dict):
            names = tuple(item)
            if names not in keys:
                keys[names] = _keys_of_item(names, columns, f"{where}[{i}]", run)
            document, value, is_ranked = keys[names]
            pairs.append((item[document], None if value is None else item[value]))
            ranked += is_ranked
        elif isinstance(item, (list, tuple)) and len(item) == 2:
            pairs.append((item[0], item[1]))
        else:
            raise InputError(f"{where}[{i}]: expected [document, {_role(run)}], found {described(item)}")
    if ranked == len(items):
        pairs.sort(key=lambda pair: json_number(pair[1], where, "rank"))
        return Entry(query, [document for document, _ in pairs], None, where)
    if ranked:
        raise InputError(f"{where}: some items have a rank, others have none")
    documents, values = [document for document, _ in pairs], [value for _, value in pairs]
    if not run and all(value is None for value in values):
        return Entry(query, documents, None, where)
    return Entry(query, documents, values, where)


def _role(run: bool) -> str:
    return "score" if run else "grade"


def _keys_of_item(
    names: Sequence[str], columns: Mapping[str, str], where: str, run: bool
) -> tuple[str, str | None, bool]:
    """Return the keys of an item's document and value, and whether the value is a rank."""
    is_ranked = run and columns.get("rank") in names and find_role("score", names, columns, where) is None
    role = "rank" if is_ranked else _role(run)
    # A given document name may be the key of the whole list.
    given = {of: name for of, name in columns.items() if of != "document" or name in names}
    given = given if "document" in given or "id" not in names else {**given, "document": "id"}
    found = {of: find_role(of, names, given, where) for of in ("document", role)}
    document, value = found["document"], found[role]
    if document is None or (value is None and run):
        lacking = " and ".join(of for of, place in found.items() if place is None)
        distance = next((name for name in names if run and value is None and is_called(name, NEAREST_FIRST)), None)
        raise InputError(
            f"{where}: expected an object with document and {role}, found {', '.join(names) or 'an empty one'}",
            f"use {option('columns')} to name {lacking}"
            if distance is None
            else f"use {option('columns', {'rank': distance})} to rank the nearest first",
        )
    if value is None and find_role("score", names, {}, where) is not None:
        raise InputError(f"{where}: expected judgments, found scores: {', '.join(names)}", LOOKS_LIKE_A_RUN)
    return names[document], None if value is None else names[value], is_ranked


def described(value: object) -> str:
    """Return a value as JSON, but texts in single quotes as in all messages."""
    import json  # imported late: dicts do not need it

    try:
        return printable(repr(value) if isinstance(value, str) else json.dumps(value, default=repr), 80)
    except ValueError:
        return printable(repr(value), 80)
    except RecursionError:
        return "deeply nested values"


def json_number(value: object, where: str, what: str) -> float:
    """Return a finite number; booleans, which Python accepts as numbers, are refused."""
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a finite number as {what}, found {described(value)}")
    return read_value(value, where, what)
