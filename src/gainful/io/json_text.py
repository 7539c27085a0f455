"""JSON: judgments and runs as one dict of dicts, one line a query or one line a row of a table; and sessions.

Sessions are objects, as JSON and Python have them, with their queries in their order::

    {"session": "s1", "topic": "22", "user": "u7", "system": "bm25", "ratings": {"satisfaction": 4},
     "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}

Results are ids, ``[id, score]`` pairs, or objects with a document and, as far as known, score, grade, rank and time. A
query may have an id (what judgments by query call it), a number, a time, how far its results were scanned and
what it cost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.errors import InputError, option
from gainful.io.columns import (
    LISTS,
    LOOKS_LIKE_A_RUN,
    LOOKS_LIKE_JUDGMENTS,
    NAMES,
    SESSION_NAMES,
    Keys,
    Names,
    OfEitherSide,
    find_role,
    find_roles,
    find_session_roles,
    has_header,
    is_log_header,
    is_nearest_first,
    is_session_header,
    listed_for_other_side,
    missing_key,
    names_of,
    query_of_lists,
)
from gainful.io.formats import Reading, header_line, parse_json
from gainful.io.rows import (
    Entry,
    NamedRows,
    Rows,
    gather_dicts,
    gather_entries,
    packed,
    place_in,
    read_closely,
    read_id,
    read_value,
)
from gainful.io.session_records import (
    DEEPEST,
    FROM_ONE,
    MOST_QUERIES,
    SessionContent,
    SessionRecord,
    Stamp,
    TurnRecord,
    by_rank,
    check_times,
    described,
    good_records,
    in_order,
    read_stamp,
    shown_line,
)
from gainful.io.sources import Text
from gainful.notation import json_or_none, printable

_LINE = '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}'
_SESSION_ROLES = ("session", "topic", "user", "system")
_TURN_KEYS = ("query", "id", "number", "time", "scanned", "cost", "results")
_RESULT_ROLES = ("document", "score", "grade", "rank", "time")
_RESULT_NAMES: Names = {**SESSION_NAMES, "document": (*NAMES["document"][:-1], "id", NAMES["document"][-1])}


#: An object and where it stands.
_Placed = tuple[dict[str, Any], str]


def read_json(text: Text, reading: Reading, *, run: bool) -> Rows:
    """``{query: {document: value}}``, for runs also ``{query: [document, ...]}``, or a list of what JSON lines hold."""
    value = parse_json(bytes(text.data), text.name, text.name)
    if isinstance(value, list):
        return read_objects(value, text.name, reading, run=run)
    if isinstance(value, dict):
        placed = ((query, documents, f"{text.name}[{query!r}]") for query, documents in value.items())
        return gather_entries((_of_query(*each, reading, run) for each in placed), text.name, _role(run))
    raise InputError(f"{text.name}: expected an object of queries, found {_described(value)}")


def read_dict(lists: Mapping[Any, Any], name: str, *, run: bool) -> Rows:
    """``{query: {document: value}}`` or ``{query: [document, ...]}`` as Python has it; a list may be empty."""
    rows = gather_dicts(lists, name)
    if rows is None:
        entries = (_of_dict(query, each, place_in(name, query), run) for query, each in lists.items())
        rows = gather_entries(entries, name, _role(run))
    return rows


def _of_dict(query: object, documents: object, where: str, run: bool) -> Entry:
    if isinstance(documents, Mapping):
        return Entry(query, list(documents), list(documents.values()), where)
    if isinstance(documents, (set, frozenset)) and not run:  # which have no order, and are no ranking
        return Entry(query, sorted(documents, key=str), None, where)  # in the same order every time
    kinds = (Sequence, np.ndarray) if run else (list, tuple)
    if isinstance(documents, (str, bytes)) or not isinstance(documents, kinds):
        expected = "documents and scores or a list of documents" if run else "documents and grades"
        raise InputError(f"{where}: expected a dict of {expected}, found {printable(repr(documents), 80)}")
    return _listed_entry(query, list(documents), where, {}, run=run)


def read_json_lines(text: Text, reading: Reading, *, run: bool) -> Rows:
    """One object a line: a query with its results or judgments, or one row of a table."""
    placed = [(parse_json(line, text.name, where), where) for where, line in _lines(text)]
    return _content(placed, text.name, reading, run)


def is_object_of_run(value: dict[str, Any]) -> bool:
    """Whether a dict is one that lines of a run hold: a query with its results, or a row of a table.

    >>> is_object_of_run({"question": "who?", "results": ["d1"]}), is_object_of_run({"id": "d1", "score": 0.5})
    (True, False)
    """
    has_lists = _list_key(value, "", Reading(), run=True) is not None
    return has_header(list(value), {}, ("query",) if has_lists else ("query", "document"), names_of(run=True))


def read_objects(values: Iterable[Any], name: str, reading: Reading, *, run: bool) -> Rows:
    """What a list of objects holds."""
    return _content([(value, f"{name}[{i}]") for i, value in enumerate(values)], name, reading, run)


def _lines(text: Text) -> Iterator[tuple[str, bytes]]:
    """The lines that are neither blank nor comments, with their places; no more than some are held at a time."""
    for number, line in enumerate(text.lines(), 1):
        stripped = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip()
        if stripped and not stripped.startswith(b"#"):
            yield f"{text.name}:{number}", stripped


def _content(placed: list[tuple[Any, str]], name: str, reading: Reading, run: bool) -> Rows:
    """Objects that are a row each if the first one is, else a query each; all have to be alike."""
    for value, where in placed:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {_described(value)}")
    _require_given(placed, reading)
    names = list(placed[0][0]) if placed and _list_key(*placed[0], reading, run) is None else []
    if has_header(names, reading.columns, known=names_of(run)):
        return _rows(placed, name, reading, run)
    return gather_entries(_entries(placed, reading, run), name, _role(run))


def _list_key(value: dict[str, Any], where: str, reading: Reading, run: bool) -> str | None:
    """The key that holds all documents of a query, by its name."""
    side, given = "results" if run else "judgments", reading.columns.get("document")
    holding = [key for key, each in value.items() if isinstance(each, (list, dict)) or (each is None and key == given)]
    if given in holding:
        return str(given)
    place = find_role("document", holding, {}, where, {"document": (*LISTS[side], *NAMES["document"])})
    return holding[place] if place is not None else side if side in value else None


def _require_given(placed: list[_Placed], reading: Reading) -> None:
    """Refuses a name for documents that no object has, nor any item of its lists; what one has, all have to have."""
    name = reading.columns.get("document")
    lacking = next((each for each in placed if name not in each[0]), None)
    if name is None or lacking is None:
        return
    has_items = any(
        isinstance(item, dict) and name in item
        for value, _ in placed
        for items in value.values()
        if isinstance(items, list)
        for item in items
    )
    is_of_object = any(name in value for value, _ in placed)
    if is_of_object or not (has_items or isinstance(name, OfEitherSide)):
        find_role("document", list(lacking[0]), {"document": str(name)}, lacking[1])


#: So many objects tell what a key holds.
_SAMPLE = 100


def _first_values(placed: list[_Placed], names: Sequence[str], column: int) -> list[object]:
    return [value.get(names[column]) for value, _ in placed[:_SAMPLE]]


def _rows(placed: list[_Placed], name: str, reading: Reading, run: bool) -> Rows:
    """Rows of a table, each with the names of its columns."""
    columns: dict[str, list[Any]] = {}
    names: list[str] = []
    for number, (value, where) in enumerate(placed):
        if not number or names != list(value):
            names = list(value)
            roles = find_roles(
                names,
                reading.columns,
                run=run,
                where=where,
                pairs_only=reading.pairs_only,
                values=partial(_first_values, placed, names),
            )
        if number and roles.keys() != columns.keys():
            raise InputError(f"{where}: expected {', '.join(columns)} as in the first row, found {', '.join(roles)}")
        for role, i in roles.items():
            columns.setdefault(role, []).append(value[names[i]])
    wheres = tuple(where for _, where in placed)
    found: dict[str, Any] = {}
    for role, values in columns.items():
        if role in ("query", "document", "subtopic"):
            found[role] = packed(values, lambda i, role=role: f"{wheres[i]}: {role}")  # type: ignore[misc]
        else:
            numbers = [_number(value, where, role) for value, where in zip(values, wheres, strict=True)]
            found[role] = np.array(numbers, np.float64)
    rows = Rows.of_columns(found, NamedRows(name, np.arange(len(placed)), wheres))
    return read_closely(rows, names, roles, run=run)


def _entries(placed: list[_Placed], reading: Reading, run: bool) -> Iterator[Entry]:
    """One entry an object: a query and all of its documents."""
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


_SCORES = "`gainful compare --from FILE` compares them; `gainful eval` takes judgments and runs"


def _no_entry(value: dict[str, Any], where: str, nested: str | None, query: str | None, run: bool) -> InputError:
    """What is said of an object that is no query with its documents: what it is, or which keys may be meant."""
    side = "results" if run else "judgments"
    message = f"{where}: expected an object with query and {side}, found {', '.join(value) or 'an empty one'}"
    if {"gainful", "signature"} <= value.keys():
        return InputError(f"{where}: expected {'a run' if run else side}, found scores that gainful wrote", _SCORES)
    if nested is None and listed_for_other_side(value, run):
        return InputError(message, LOOKS_LIKE_JUDGMENTS if run else LOOKS_LIKE_A_RUN)
    document = nested or next((key for key, each in value.items() if isinstance(each, (list, dict)) and each), None)
    query = query or next((key for key, each in value.items() if isinstance(each, (str, int)) and each), None)
    if document and query:
        return InputError(message, f"{option('columns', {'query': query, 'document': document})} names them")
    return InputError(message, f'a line is {{"query": "q1", "{side}": ' + ('["d3", "d1"]}' if run else '{"d3": 2.5}}'))


def _of_query(query: object, value: Any, where: str, reading: Reading, run: bool) -> Entry:
    """Documents and values from ``{id: value}``, or from what lists hold."""
    if isinstance(value, dict):
        return _valued(query, list(value), list(value.values()), where, run)
    if not isinstance(value, list):
        expected = "documents and scores" if run else "an object of documents and grades"
        raise InputError(f"{where}: expected {expected}, found {_described(value)}")
    return _listed_entry(query, value, where, reading.columns, run=run)


def _listed_entry(query: object, items: list[Any], where: str, columns: Mapping[str, str], *, run: bool) -> Entry:
    """Documents from ids; with their scores or grades from ``[id, value]`` pairs or objects. Those of judgments need
    no grade."""
    if not any(isinstance(item, (list, tuple, dict)) for item in items):
        return Entry(query, items, None, where)
    pairs = list(_pairs(items, where, columns, run))
    if run and all(isinstance(item, dict) and _is_ranked(item, columns, where) for item in items):
        pairs.sort(key=lambda pair: _number(pair[1], where, "rank"))
        return Entry(query, [document for document, _ in pairs], None, where)
    if run and any(isinstance(item, dict) and _is_ranked(item, columns, where) for item in items):
        raise InputError(f"{where}: expected a rank in all items or in none, found it in some")
    documents, values = [document for document, _ in pairs], [value for _, value in pairs]
    if not run and all(value is None for value in values):
        return Entry(query, documents, None, where)
    return _valued(query, documents, values, where, run)


def _valued(query: object, documents: list[object], values: list[object], where: str, run: bool) -> Entry:
    """An entry, unless a value is true or false: Python would take these for numbers."""
    if bool in set(map(type, values)):
        at = next(i for i, value in enumerate(values) if isinstance(value, bool))
        _number(values[at], f"{where}[{documents[at]!r}]", "score" if run else "grade")
    return Entry(query, documents, values, where)


def _pairs(items: list[Any], where: str, columns: Mapping[str, str], run: bool) -> Iterator[tuple[object, object]]:
    for i, item in enumerate(items):
        place = f"{where}[{i}]"
        if isinstance(item, dict):
            yield _document_and_value(item, columns, place, run)
        elif isinstance(item, (list, tuple)) and len(item) == 2:
            yield item[0], item[1]
        else:
            raise InputError(f"{place}: expected [document, {_role(run)}], found {_described(item)}")


def _is_ranked(item: dict[str, Any], columns: Mapping[str, str], where: str) -> bool:
    """Whether an item has no score, and what is named as its rank."""
    return columns.get("rank") in item and find_role("score", list(item), columns, where) is None


def _role(run: bool) -> str:
    return "score" if run else "grade"


def _document_and_value(
    item: dict[str, Any], columns: Mapping[str, str], where: str, run: bool
) -> tuple[object, object]:
    names, role = list(item), "rank" if run and _is_ranked(item, columns, where) else _role(run)
    # What is given may be the key of the whole list.
    given = {of: name for of, name in columns.items() if of != "document" or name in names}
    given = given if "document" in given or "id" not in item else {**given, "document": "id"}
    found = {of: find_role(of, names, given, where) for of in ("document", role)}
    document, value = found["document"], found[role]
    if document is None or (value is None and run):
        lacking = " and ".join(of for of, place in found.items() if place is None)
        distance = next((name for name in names if is_nearest_first(name)), None) if run and value is None else None
        raise InputError(
            f"{where}: expected an object with document and {role}, found {', '.join(names) or 'an empty one'}",
            f"{option('columns')} names {lacking}"
            if distance is None
            else f"{option('columns', {'rank': distance})} has the nearest first",
        )
    if value is None and find_role("score", names, {}, where) is not None:
        raise InputError(f"{where}: expected judgments, found scores: {', '.join(names)}", LOOKS_LIKE_A_RUN)
    return item[names[document]], None if value is None else item[names[value]]


def _described(value: object) -> str:
    try:
        return printable(json.dumps(value, default=repr), 80)
    except RecursionError:
        return "values within values"


class _Results(NamedTuple):
    documents: Sequence[object]
    scores: Sequence[float] | None = None
    grades: Sequence[float] | None = None
    stamps: Sequence[Stamp] = ()


class _Turn(NamedTuple):
    number: int | None
    record: TurnRecord
    stamps: list[Stamp]


def read_session_lines(text: Text, how: Reading) -> SessionContent:
    """JSON lines: a session each, or a run's queries or rows."""
    first = json_or_none(header_line(text)[1].strip())
    if _is_event(first, how.columns):
        return log_of_objects(
            [(parse_json(line, text.name, where), where) for where, line in _lines(text)], text.name, how
        )
    is_run = _is_run_object(first, how.columns)
    return read_json_lines(text, how, run=True) if is_run else _records(text, how)


def read_session_json(text: Text, how: Reading) -> SessionContent:
    """One value: a session, a list of sessions, or a run."""
    value = parse_json(bytes(text.data), text.name, text.name)
    if isinstance(value, dict) and ("session" in value or "queries" in value):
        value = [value]
    if not isinstance(value, list) or (value and _is_run_object(value[0], how.columns)):
        return read_json(text, how, run=True)
    return read_session_objects(value, how, text.name)


def _is_event(value: object, columns: Mapping[str, str]) -> bool:
    """Whether an object is something that somebody did, with its documents, and no whole session."""
    return isinstance(value, dict) and "queries" not in value and is_log_header(list(value), columns)


def log_of_objects(placed: list[tuple[Any, str]], name: str, how: Reading) -> Iterator[SessionRecord]:
    """The sessions of a log, one object an event."""
    from gainful.io.session_log import log_records

    for value, where in placed:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {_described(value)}")
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
        elif role in ("rank", "score", "grade"):
            found[role] = np.array(_result_numbers(values(column), name, role) or [math.nan] * len(placed), np.float64)
        elif role == "time":
            stamps = zip(values(column), wheres, strict=True)
            found[role] = np.array([read_stamp(each, f"{where}: time").seconds for each, where in stamps], np.float64)
        else:
            texts = [" " if each is None else each for each in values(column)]
            found[role] = packed(texts, lambda i, role=role: f"{wheres[i]}: {role}")  # type: ignore[misc]
    origin = NamedRows(name, np.arange(len(placed)), wheres)
    return log_records(found, origin, names, roles, how)


def _event_documents(value: object, where: str) -> list[object]:
    """The documents of an event: one, several, or objects that have one each."""
    if value is None or (isinstance(value, str) and not value):
        return []
    documents: list[object] = []
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
    """Whether an object is a query with its results, or a row of a run, and no session."""
    if not isinstance(value, dict) or "queries" in value or is_session_header([*value, "document"], columns):
        return False
    return "results" in value or has_header(list(value), columns, known=NAMES)


def _records(text: Text, how: Reading) -> Iterator[SessionRecord]:
    """One object a line; no more than one is held at a time."""
    objects = SessionObjects(how)

    def read(placed: tuple[str, bytes]) -> SessionRecord:
        where, line = placed
        return objects.read(parse_json(line, text.name, where), where)._replace(line=line)

    return good_records(_lines(text), read, lambda placed, _: shown_line(placed[1]))


def read_session_objects(values: Iterable[object], how: Reading, name: str) -> Iterator[SessionRecord]:
    """What a list holds: sessions, or the events of a log."""
    if isinstance(values, Sequence) and values and _is_event(values[0], how.columns):
        return log_of_objects([(value, f"{name}[{i}]") for i, value in enumerate(values)], name, how)
    read = SessionObjects(how).read
    return (read(value, f"{name}[{i}]") for i, value in enumerate(values))


class SessionObjects:
    """Reads one object after the other."""

    def __init__(self, how: Reading) -> None:
        self._fills_gaps = how.fills_gaps
        self._session_keys = Keys(how.columns, SESSION_NAMES, _SESSION_ROLES, ("ratings", "queries"))
        self._turn_keys = Keys({}, {}, (), _TURN_KEYS)
        # Results may carry anything: titles, snippets, what their search engine says.
        self._result_keys = Keys(how.columns, _RESULT_NAMES, _RESULT_ROLES, ())

    def read(self, value: object, where: str) -> SessionRecord:
        """A session from an object."""
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
            self._ordered(turns, session),
        )

    def _ordered(self, turns: list[_Turn], session: bytes) -> list[TurnRecord]:
        if all(turn.number is None for turn in turns):
            check_times((stamp for turn in turns for stamp in turn.stamps), session)
            return [turn.record for turn in turns]
        without = next((turn for turn in turns if turn.number is None), None)
        if without is not None:
            raise InputError(f"{without.record.where}: expected a number as the other queries have, found none")
        numbered = sorted(turns, key=lambda turn: turn.number or 0)
        check_times((stamp for turn in numbered for stamp in turn.stamps), session)
        return in_order([(turn.number or 0, turn.record) for turn in numbered], session, self._fills_gaps)

    def _turn(self, value: object, where: str) -> _Turn:
        if not isinstance(value, (dict, Mapping)):
            raise InputError(f"{where}: expected an object with query and results, found {described(value)}", _LINE)
        if "results" not in value:
            error = missing_key("results", value, _TURN_KEYS, where, None)
            raise InputError(error.message, error.hint or 'an empty result page is "results": []')
        self._turn_keys.of(value, where)
        text = value.get("query")
        if text is not None and not isinstance(text, str):
            raise InputError(f"{where}.query: expected a text, found {described(text)}")
        number = value.get("number")
        results = self._results(value["results"], f"{where}.results")
        stamps = _stamps([value.get("time")], lambda _: f"{where}.time")
        return _Turn(
            None if number is None else _whole(number, f"{where}.number", 1, MOST_QUERIES, FROM_ONE),
            TurnRecord(
                where,
                text or "",
                None if value.get("id") is None else _id(value["id"], f"{where}.id"),
                results.documents,
                results.scores,
                results.grades,
                -1 if value.get("scanned") is None else _whole(value["scanned"], f"{where}.scanned", 0, DEEPEST),
                math.nan if value.get("cost") is None else _cost(value["cost"], f"{where}.cost"),
            ),
            [*stamps, *results.stamps],
        )

    def _results(self, value: object, where: str) -> _Results:
        """Ids, ``[id, score]`` pairs, a dict of ids and scores, or objects: all of them alike."""
        if isinstance(value, dict):
            value = [list(pair) for pair in value.items()]
        if not _is_list(value):
            raise InputError(f"{where}: expected a list of results, found {described(value)}", f"a line is {_LINE}")
        items: list[Any] = list(value)  # type: ignore[call-overload]
        # What an item is depends on its type alone, and most lists have items of one type.
        types = dict(zip(map(type, items), items, strict=True))
        kinds = list(dict.fromkeys(map(_kind, types.values())))
        if len(kinds) > 1:
            raise InputError(
                f"{where}: expected results that are all alike, found {' and '.join(kinds)}",
                "results are ids, [id, score] pairs, or objects",
            )
        if type(None) in types or bool in types:
            odd = next(i for i, item in enumerate(items) if item is None or isinstance(item, bool))
            _id(items[odd], f"{where}[{odd}]")
        if kinds == ["lists"]:
            return _of_pairs(items, where)
        return self._of_objects(items, where) if kinds == ["objects"] else _Results(items)

    def _of_objects(self, items: list[Mapping[str, Any]], where: str) -> _Results:
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
                raise InputError(f"{where}[{lacking}]: expected a {role} as other results have, found none")
        times = columns["time"]
        order = range(len(items)) if ranks is None else by_rank(ranks, [f"{where}[{i}]" for i in range(len(items))])
        return _Results(
            [documents[i] for i in order],
            None if scores is None else [scores[i] for i in order],
            None if grades is None else [grades[i] for i in order],
            _stamps([times[i] for i in order], lambda i: f"{where}[{order[i]}].time"),
        )


def _stamps(values: Sequence[object], where: Callable[[int], str]) -> list[Stamp]:
    return [read_stamp(value, where(i)) for i, value in enumerate(values) if value is not None]


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray, Sequence)) and not isinstance(value, (str, bytes))


def _kind(item: object) -> str:
    if isinstance(item, (str, int)):
        return "ids"
    if isinstance(item, (dict, Mapping)):
        return "objects"
    return "lists" if _is_list(item) else "ids"


def _of_pairs(items: list[Sequence[Any]], where: str) -> _Results:
    for i, item in enumerate(items):
        if len(item) != 2:
            raise InputError(f"{where}[{i}]: expected [document, score], found {described(item)}")
    documents = [_id(item[0], f"{where}[{i}]: document") for i, item in enumerate(items)]
    return _Results(documents, [_number(item[1], f"{where}[{i}]", "score") for i, item in enumerate(items)])


def _result_numbers(values: Sequence[object], where: str, role: str) -> list[float] | None:
    """NaN where there is none; None where there are none at all."""
    if all(value is None for value in values):
        return None
    return [math.nan if value is None else _number(value, f"{where}[{i}]", role) for i, value in enumerate(values)]


def _id(value: object, where: str) -> bytes:
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a text or an integer as id, found {described(value)}")
    return read_id(value, where)


def _number(value: object, where: str, what: str) -> float:
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a finite number as {what}, found {described(value)}")
    return read_value(value, where, what)


def _whole(value: object, where: str, least: int, most: int, hint: str | None = None) -> int:
    number = math.nan if isinstance(value, bool) else _number(value, where, "number")
    if not number.is_integer() or not least <= number <= most:
        raise InputError(f"{where}: expected a whole number from {least} to {most:,}, found {described(value)}", hint)
    return int(number)


def _cost(value: object, where: str) -> float:
    number = _number(value, where, "cost")
    if number < 0:
        raise InputError(f"{where}: expected a number from 0 on as cost, found {described(value)}")
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
    return {name: _number(rating, where, name) for name, rating in given.items()}
