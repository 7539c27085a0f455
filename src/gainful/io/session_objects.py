"""Sessions as JSON or Python objects, with their queries in order::

    {"session": "s1", "topic": "22", "user": "u7", "system": "bm25", "ratings": {"satisfaction": 4},
     "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}

Results are IDs, ``[id, score]`` pairs, or objects with a document and optional score, grade, rank and time. A query may
have an ID for judgments by query, a number, a time, the number of results scanned, and a cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.io.columns import (
    NAMES,
    SESSION_NAMES,
    Keys,
    Names,
    find_role,
    find_session_roles,
    has_header,
    is_log_header,
    is_session_header,
    missing_key,
)
from gainful.io.formats import Reading, first_json, header_line, json_cost, parse_json
from gainful.io.json_text import described, json_lines, json_number, read_json, read_json_lines
from gainful.io.rows import NamedRows, packed, read_id
from gainful.io.session_log import log_rows
from gainful.io.session_records import (
    DEEPEST,
    FROM_ONE,
    MOST_QUERIES,
    SessionContent,
    SessionRecord,
    SessionRows,
    TurnRecord,
    by_rank,
    good_records,
    ordered_turns,
    read_stamp,
    shown_line,
)
from gainful.io.sources import Text

_LINE = '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}'
_SESSION_ROLES = ("session", "topic", "user", "system")
_TURN_KEYS = ("query", "id", "number", "time", "scanned", "cost", "results")
_RESULT_ROLES = ("document", "score", "grade", "rank", "time")
_RESULT_NAMES: Names = {**SESSION_NAMES, "document": (*NAMES["document"][:-1], "id", NAMES["document"][-1])}


def read_session_lines(text: Text, how: Reading) -> SessionContent:
    """Read JSON lines: one session each, or the queries or rows of a run."""
    first = first_json(header_line(text)[1].strip(), text.name)
    if _is_event(first, how.columns):
        placed = [(parse_json(line, text.name, where), where) for where, line in json_lines(text, json_cost)]
        return log_of_objects(placed, text.name, how)
    if _is_run_object(first, how.columns):
        return read_json_lines(text, how, run=True)
    objects = SessionObjects(how)

    def read(placed: tuple[str, bytes]) -> SessionRecord:
        where, line = placed
        return objects.read(parse_json(line, text.name, where), where)._replace(line=line)

    return good_records(json_lines(text), read, lambda placed, _: shown_line(placed[1]))


def read_session_json(text: Text, how: Reading) -> SessionContent:
    """Read one JSON value: a session, a list of sessions, or a run."""
    value = parse_json(text.content, text.name, text.name)
    if isinstance(value, dict) and ("session" in value or "queries" in value):
        value = [value]
    if not isinstance(value, list) or (value and _is_run_object(value[0], how.columns)):
        return read_json(text, how, run=True)
    return read_session_objects(value, how, text.name)


def _is_event(value: object, columns: Mapping[str, str]) -> bool:
    """Return whether an object is an event of a log, with its documents, rather than a session."""
    return isinstance(value, dict) and "queries" not in value and is_log_header(list(value), columns)


def log_of_objects(placed: list[tuple[Any, str]], name: str, how: Reading) -> SessionRows:
    """Return the rows of a log with one object per event."""
    for value, where in placed:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {described(value)}")
    names = list(dict.fromkeys(name for value, _ in placed for name in value))
    wheres = tuple(where for _, where in placed)

    def values(column: int) -> list[Any]:
        return [value.get(names[column]) for value, _ in placed]

    roles = find_session_roles(
        names,
        how.columns,
        name,
        lambda column: [each for each in values(column) if each is not None],
        by_gap=how.session_gap is not None,
    )
    if "query" in roles:
        raise missing_key("queries", placed[0][0], (), wheres[0], _LINE)
    found: dict[str, Any] = {}
    for role, column in roles.items():
        if role == "document":
            found[role] = [_event_documents(each, where) for each, where in zip(values(column), wheres, strict=True)]
        elif role in ("rank", "score", "grade", "cost"):
            found[role] = np.array(_result_numbers(values(column), name, role) or [math.nan] * len(placed), np.float64)
        elif role == "time":
            stamps = zip(values(column), wheres, strict=True)
            found[role] = np.array([read_stamp(each, f"{where}: time").seconds for each, where in stamps], np.float64)
        else:
            texts = [" " if each is None else each for each in values(column)]
            found[role] = packed(texts, lambda i, role=role: f"{wheres[i]}: {role}")  # type: ignore[misc]
    return log_rows(found, NamedRows(name, wheres), names, roles, how)


def _event_documents(value: object, where: str) -> list[bytes]:
    if value is None or (isinstance(value, str) and not value):
        return []
    documents: list[bytes] = []
    for item in list(value) if _is_list(value) else [value]:  # type: ignore[call-overload]
        if isinstance(item, dict):
            place = find_role("document", list(item), {}, where, _RESULT_NAMES)
            if place is None:
                raise missing_key("document", item, (), where, None)
            documents.append(_id(list(item.values())[place], f"{where}: document"))
        else:
            documents.append(_id(item, f"{where}: document"))
    return documents


def _is_run_object(value: object, columns: Mapping[str, str]) -> bool:
    """Return whether an object is a query with its results, or a row of a run, rather than a session."""
    if not isinstance(value, dict) or "queries" in value or is_session_header([*value, "document"], columns):
        return False
    return "results" in value or has_header(list(value), columns, known=NAMES)


def read_session_objects(values: Iterable[object], how: Reading, name: str) -> SessionRows | Iterator[SessionRecord]:
    """Read a list of sessions or of log events."""
    if isinstance(values, Sequence) and values and _is_event(values[0], how.columns):
        return log_of_objects([(value, f"{name}[{i}]") for i, value in enumerate(values)], name, how)
    read = SessionObjects(how).read
    return (read(value, f"{name}[{i}]") for i, value in enumerate(values))


class SessionObjects:
    """A reader of session objects."""

    def __init__(self, how: Reading) -> None:
        self._fills_gaps = how.fills_gaps
        self._session_keys = Keys(how.columns, SESSION_NAMES, _SESSION_ROLES, ("ratings", "queries"))
        self._turn_keys = Keys({}, {}, (), _TURN_KEYS)
        # Other keys of results are ignored: titles, snippets, data of the search engine.
        self._result_keys = Keys(how.columns, _RESULT_NAMES, _RESULT_ROLES, ())

    def read(self, value: object, where: str) -> SessionRecord:
        if not isinstance(value, (dict, Mapping)):
            raise InputError(f"{where}: expected an object with session and queries, found {described(value)}", _LINE)
        keys = self._session_keys.of(value, where)
        for role, key in (("session", keys.get("session")), ("queries", "queries")):
            if key is None or key not in value:
                raise missing_key(role, value, (*keys.values(), "ratings", "queries"), where, _LINE)
        session = _id(value[keys["session"]], f"{where}: session")
        queries = value["queries"]
        if not _is_list(queries) or not len(queries):
            expected = "a list of at least one query" if _is_list(queries) else "a list of queries"
            raise InputError(f"{where}: expected {expected}, found {described(queries)}", f"a line is {_LINE}")
        turns = [self._turn(query, f"{where}: queries[{i}]") for i, query in enumerate(queries)]
        topic = value[keys["topic"]] if "topic" in keys else None
        return SessionRecord(
            where,
            session,
            None if topic is None else _id(topic, f"{where}: topic"),
            _label(value, keys, "user", where),
            _label(value, keys, "system", where),
            _ratings(value.get("ratings"), f"{where}: ratings"),
            ordered_turns(turns, session, self._fills_gaps),
        )

    def _turn(self, value: object, where: str) -> TurnRecord:
        if not isinstance(value, (dict, Mapping)):
            raise InputError(f"{where}: expected an object with query and results, found {described(value)}", _LINE)
        if "results" not in value:
            error = missing_key("results", value, _TURN_KEYS, where, None)
            raise InputError(error.message, error.hint or 'an empty result page is "results": []')
        self._turn_keys.of(value, where)
        text = value.get("query")
        if text is not None and not isinstance(text, str):
            raise InputError(f"{where}.query: expected a text, found {described(text)}")
        results = self._results(value["results"], f"{where}.results")
        number, identifier, scanned, cost, time = map(value.get, ("number", "id", "scanned", "cost", "time"))
        return TurnRecord(
            where,
            text or "",
            None if identifier is None else _id(identifier, f"{where}.id"),
            *results[3:6],
            -1 if scanned is None else _whole(scanned, f"{where}.scanned", 0, DEEPEST),
            math.nan if cost is None else _cost(cost, f"{where}.cost"),
            None if number is None else _whole(number, f"{where}.number", 1, MOST_QUERIES, FROM_ONE),
            results.stamps if time is None else [read_stamp(time, f"{where}.time"), *results.stamps],
        )

    def _results(self, value: object, where: str) -> TurnRecord:
        """Read results of one kind: IDs, ``[id, score]`` pairs, a dict of IDs and scores, or objects."""
        if isinstance(value, dict):
            value = [list(pair) for pair in value.items()]
        if not _is_list(value):
            raise InputError(f"{where}: expected a list of results, found {described(value)}", f"a line is {_LINE}")
        items: list[Any] = list(value)  # type: ignore[call-overload]
        # The kind of an item depends only on its type, and most lists have items of one type.
        types = dict(zip(map(type, items), items, strict=True))
        kinds = list(dict.fromkeys(map(_kind, types.values())))
        if len(kinds) > 1:
            hint = "results are ids, [id, score] pairs, or objects"
            raise InputError(f"{where}: expected results of one kind, found {' and '.join(kinds)}", hint)
        if type(None) in types or bool in types:
            odd = next(i for i, item in enumerate(items) if item is None or isinstance(item, bool))
            _id(items[odd], f"{where}[{odd}]")
        if kinds == ["lists"]:
            for i, item in enumerate(items):
                if len(item) != 2:
                    raise InputError(f"{where}[{i}]: expected [document, score], found {described(item)}")
            documents = [_id(item[0], f"{where}[{i}]: document") for i, item in enumerate(items)]
            scores = [json_number(item[1], f"{where}[{i}]", "score") for i, item in enumerate(items)]
            return TurnRecord(where, documents=documents, scores=scores)
        return self._of_objects(items, where) if kinds == ["objects"] else TurnRecord(where, documents=items)

    def _of_objects(self, items: list[Mapping[str, Any]], where: str) -> TurnRecord:
        columns: dict[str, list[Any]] = {role: [] for role in _RESULT_ROLES}
        for i, item in enumerate(items):
            keys = self._result_keys.of(item, f"{where}[{i}]")
            if "document" not in keys:
                raise missing_key("document", item, tuple(keys.values()), f"{where}[{i}]", _LINE)
            for role, column in columns.items():
                column.append(item[keys[role]] if role in keys else None)
        documents = [_id(each, f"{where}[{i}]: document") for i, each in enumerate(columns["document"])]
        scores, grades, ranks = (_result_numbers(columns[role], where, role) for role in ("score", "grade", "rank"))
        for role, values in (("score", scores), ("rank", ranks)):
            if values is not None and any(map(math.isnan, values)):
                lacking = next(i for i, each in enumerate(values) if math.isnan(each))
                raise InputError(f"{where}[{lacking}]: no {role}, but other results have one")
        times = columns["time"]
        order = range(len(items)) if ranks is None else by_rank(ranks, [f"{where}[{i}]" for i in range(len(items))])
        return TurnRecord(
            where,
            documents=[documents[i] for i in order],
            scores=None if scores is None else [scores[i] for i in order],
            grades=None if grades is None else [grades[i] for i in order],
            stamps=[read_stamp(times[i], f"{where}[{i}].time") for i in order if times[i] is not None],
        )


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray, Sequence)) and not isinstance(value, (str, bytes))


def _kind(item: object) -> str:
    if isinstance(item, (str, int)):
        return "ids"
    if isinstance(item, (dict, Mapping)):
        return "objects"
    return "lists" if _is_list(item) else "ids"


def _result_numbers(values: Sequence[object], where: str, role: str) -> list[float] | None:
    """Return the numbers, NaN where missing; None if all are missing."""
    if all(value is None for value in values):
        return None
    return [math.nan if value is None else json_number(value, f"{where}[{i}]", role) for i, value in enumerate(values)]


def _id(value: object, where: str) -> bytes:
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a text or an integer as id, found {described(value)}")
    return read_id(value, where)


def _whole(value: object, where: str, least: int, most: int, hint: str | None = None) -> int:
    number = math.nan if isinstance(value, bool) else json_number(value, where, "number")
    if not number.is_integer() or not least <= number <= most:
        raise InputError(f"{where}: expected a whole number from {least} to {most:,}, found {described(value)}", hint)
    return int(number)


def _cost(value: object, where: str) -> float:
    number = json_number(value, where, "cost")
    if number < 0:
        raise InputError(f"{where}: expected a number of at least 0 as cost, found {described(value)}")
    return number


def _label(value: Mapping[Any, Any], keys: Mapping[str, str], role: str, where: str) -> str | None:
    found = value[keys[role]] if role in keys else None
    if found is None or isinstance(found, str):
        return found or None
    return _id(found, f"{where}: {role}").decode("utf-8", "surrogateescape")


def _ratings(value: object, where: str) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: expected an object of numbers, found {described(value)}")
    given = {str(name): rating for name, rating in value.items() if rating is not None}
    return {name: json_number(rating, where, name) for name, rating in given.items()}
