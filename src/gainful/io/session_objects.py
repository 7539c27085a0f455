"""Sessions from objects, as JSON lines and Python have them.

One object a session, with its queries in their order::

    {"session": "s1", "topic": "22", "user": "u7", "system": "bm25", "ratings": {"satisfaction": 4},
     "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}

Results are ids, ``[id, score]`` pairs, or objects with a document and, as far as known, score, grade, rank and time. A
query may have an id (what judgments by query call it), a number, a time and how far its results were scanned.

The log of TREC's Session Track in XML: sessions of interactions, each a query with the results that were shown.

The query that ends a session in the log, ``currentquery``, is the one that systems were asked to answer: it has no
results, and it is left out. Clicks tell what was opened, not how far somebody looked, and are left out, too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from gainful.errors import InputError
from gainful.io.formats import Names
from gainful.io.json_text import parse_json
from gainful.io.rows import line_text, read_id, read_value
from gainful.io.session_records import (
    DEEPEST,
    FROM_ONE,
    MOST_QUERIES,
    SESSION_NAMES,
    BadPlaces,
    Keys,
    SessionReading,
    SessionRecord,
    TurnKeys,
    TurnRecord,
    by_rank,
    in_order,
    missing_key,
    read_time,
    shown_line,
    time_back,
    time_hint,
)
from gainful.io.sources import Text, forget
from gainful.kernel.arrays import Bytes
from gainful.notation import printable

_LINE = '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1", "d2"]}]}'
_SESSION_ROLES = ("session", "topic", "user", "system")
_RESULT_ROLES = ("document", "score", "grade", "rank", "time")
_RESULT_NAMES: Names = {
    **SESSION_NAMES,
    "document": (*SESSION_NAMES["document"][:-1], ("id",), SESSION_NAMES["document"][-1]),
}
_STEP = 1 << 20


class Stamp(NamedTuple):
    """A time, as it is written and where."""

    seconds: float
    shown: str
    where: str


class _Results(NamedTuple):
    documents: Sequence[object]
    scores: Sequence[float] | None = None
    grades: Sequence[float] | None = None
    stamps: Sequence[Stamp] = ()


class _Turn(NamedTuple):
    number: int | None
    record: TurnRecord
    stamps: list[Stamp]


def read_session_lines(text: Text, how: SessionReading) -> Iterator[SessionRecord]:
    """One object a line; no more than one is held at a time. Behind a line that is bad the others are only checked."""
    read = SessionObjects(how).read
    bad = BadPlaces()
    for number, line in _lines(text.data):
        stripped = line.strip()
        if not stripped or stripped.startswith(b"#"):
            continue
        where = f"{text.name}:{number}"
        try:
            record = read(parse_json(stripped, text.name, where), where)
        except InputError as error:
            bad.add(error, shown_line(stripped))
            continue
        if not bad.count:
            yield record._replace(line=stripped)
    bad.refuse()


def read_session_objects(values: Iterable[object], how: SessionReading, name: str) -> Iterator[SessionRecord]:
    """What a list holds."""
    read = SessionObjects(how).read
    return (read(value, f"{name}[{i}]") for i, value in enumerate(values))


def _lines(data: Bytes) -> Iterator[tuple[int, bytes]]:
    number, rest = 0, b""
    start = 3 if data[:3].tobytes() == b"\xef\xbb\xbf" else 0
    for at in range(start, data.size, _STEP):
        *lines, rest = (rest + data[at : at + _STEP].tobytes()).split(b"\n")
        for line in lines:
            number += 1
            yield number, line
        forget(data, at)
    yield number + 1, rest


class SessionObjects:
    """Reads one object after the other."""

    def __init__(self, how: SessionReading) -> None:
        self._fills_gaps = how.fills_gaps
        self._session_keys = Keys(how.columns, SESSION_NAMES, _SESSION_ROLES, ("ratings", "queries"))
        self._turn_keys = TurnKeys()
        # Results may carry anything: titles, snippets, what their search engine says.
        self._result_keys = Keys(how.columns, _RESULT_NAMES, _RESULT_ROLES, ())

    def read(self, value: object, where: str) -> SessionRecord:
        """A session from an object."""
        if not isinstance(value, (dict, Mapping)):
            raise InputError(f"{where}: expected an object with session and queries, found {_described(value)}", _LINE)
        keys = self._session_keys.of(value, where)
        for role, key in (("session", keys.get("session")), ("queries", "queries")):
            if key is None or key not in value:
                raise missing_key(role, value, (*keys.values(), "ratings", "queries"), where, _LINE)
        session = _id(value[keys["session"]], f"{where}: session")
        queries = value["queries"]
        if not _is_list(queries) or not len(queries):
            expected = "a list of at least one query" if _is_list(queries) else "a list of queries"
            raise InputError(f"{where}: expected {expected}, found {_described(queries)}", f"a line is {_LINE}")
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
            raise InputError(f"{where}: expected an object with query and results, found {_described(value)}", _LINE)
        self._turn_keys.check(value, where)
        text = value.get("query")
        if text is not None and not isinstance(text, str):
            raise InputError(f"{where}.query: expected a text, found {_described(text)}")
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
            ),
            [*stamps, *results.stamps],
        )

    def _results(self, value: object, where: str) -> _Results:
        """Ids, ``[id, score]`` pairs, a dict of ids and scores, or objects: all of them alike."""
        if isinstance(value, dict):
            value = [list(pair) for pair in value.items()]
        if not _is_list(value):
            raise InputError(f"{where}: expected a list of results, found {_described(value)}", f"a line is {_LINE}")
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
        scores, grades, ranks = (_numbers(columns[role], where, role) for role in ("score", "grade", "rank"))
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


def check_times(stamps: Iterable[Stamp], session: bytes) -> None:
    """Refuses time stamps that go back."""
    for before, after in pairwise(stamps):
        if after.seconds < before.seconds:
            raise InputError(time_back(after.where, session, after.shown, before.shown, before.where))


def read_stamp(value: object, where: str) -> Stamp:
    """A time stamp, if it is one."""
    seconds = read_time(value)
    if seconds is None:
        raise InputError(
            f"{where}: expected seconds or a date and time, found {_described(value)}",
            time_hint(value),
        )
    return Stamp(seconds, str(value), where)


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
            raise InputError(f"{where}[{i}]: expected [document, score], found {_described(item)}")
    documents = [_id(item[0], f"{where}[{i}]: document") for i, item in enumerate(items)]
    return _Results(documents, [_value(item[1], f"{where}[{i}]", "score") for i, item in enumerate(items)])


def _numbers(values: Sequence[object], where: str, role: str) -> list[float] | None:
    """NaN where there is none; None where there are none at all."""
    if all(value is None for value in values):
        return None
    return [math.nan if value is None else _value(value, f"{where}[{i}]", role) for i, value in enumerate(values)]


def _id(value: object, where: str) -> bytes:
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a text or an integer as id, found {_described(value)}")
    return read_id(value, where)


def _value(value: object, where: str, what: str) -> float:
    if value is None or isinstance(value, bool):
        raise InputError(f"{where}: expected a finite number as {what}, found {_described(value)}")
    return read_value(value, where, what)


def _whole(value: object, where: str, least: int, most: int, hint: str | None = None) -> int:
    number = math.nan if isinstance(value, bool) else _value(value, where, "number")
    if not number.is_integer() or not least <= number <= most:
        raise InputError(f"{where}: expected a whole number from {least} to {most:,}, found {_described(value)}", hint)
    return int(number)


def _label(value: Mapping[Any, Any], keys: Mapping[str, str], role: str, where: str) -> str | None:
    found = value[keys[role]] if role in keys else None
    if found is None or isinstance(found, str):
        return found or None
    return _id(found, f"{where}: {role}").decode("utf-8", "surrogateescape")


def _ratings(value: object, where: str) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: expected an object of numbers, found {_described(value)}")
    given = {str(name): rating for name, rating in value.items() if rating is not None}
    return {name: _value(rating, where, name) for name, rating in given.items()}


def _described(value: object) -> str:
    """A value as JSON has it, but texts in single quotes as everywhere."""
    try:
        return printable(repr(value) if isinstance(value, str) else json.dumps(value), 80)
    except (TypeError, ValueError):
        return printable(repr(value), 80)
    except RecursionError:
        return "values within values"


_XML_STEP = 1 << 18
_XML_LINE = "gainful:line"  # no name in XML that is not bound can be this one
_DOCUMENT = re.compile(r"clueweb\d*id|docno|docid|id")
_SHAPE = '<session num="1"><interaction num="1"><query>...</query><results>...'


def read_session_log(text: Text, how: SessionReading) -> Iterator[SessionRecord]:
    """The sessions of a log; no more than some are held at a time. Behind one that is bad others are only checked."""
    fills_gaps = how.fills_gaps
    bad = BadPlaces()
    count = 0
    for element in _sessions(text):
        count += 1
        try:
            record = _session(element, text.name, fills_gaps)
        except InputError as error:
            bad.add(error, _shown(text, error.message))
            continue
        if not bad.count:
            yield record
    bad.refuse()
    if not count:
        raise InputError(f"{text.name}: expected sessions, found XML without any", f"a log is {_SHAPE}")


def _sessions(text: Text) -> Iterator[Element]:
    """The session elements, one after the other; each element knows its line."""
    parser, builder = expat.ParserCreate(), TreeBuilder()
    parser.buffer_text = True
    path: list[Element] = []
    done: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        path.append(builder.start(tag, {**attributes, _XML_LINE: str(parser.CurrentLineNumber)}))

    def end(tag: str) -> None:
        builder.end(tag)
        element = path.pop()
        if tag == "session":
            done.append(element)
            if path:
                path[-1].remove(element)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    for at in range(0, text.data.size + 1, _XML_STEP):
        piece = text.data[at : at + _XML_STEP].tobytes()
        try:
            parser.Parse(piece, at + _XML_STEP > text.data.size)
        except expat.ExpatError as error:
            raise InputError(
                f"{text.name}:{error.lineno}: expected XML, found {expat.ErrorString(error.code)} at column "
                f"{error.offset + 1}\n    {line_text(text.data, _line_start(text, error.lineno))}"
            ) from error
        except (LookupError, ValueError) as error:
            raise InputError(
                f"{text.name}: expected XML in an encoding that can be read, found\n    {line_text(text.data, 0)}",
                "UTF-8 can be read always",
            ) from error
        yield from done
        done.clear()
        forget(text.data, at)


def _shown(text: Text, message: str) -> str:
    """The line that a message begins with."""
    number = int(message.removeprefix(f"{text.name}:").partition(":")[0])
    return shown_line(line_text(text.data, _line_start(text, number)).strip().encode())


def _line_start(text: Text, number: int) -> int:
    """Where a line starts; the end of the text where its lines do not end in LF."""
    feeds = np.flatnonzero(text.data == 10)
    if number == 1:
        return 0
    return int(feeds[number - 2]) + 1 if number - 2 < feeds.size else text.data.size


def _session(element: Element, name: str, fills_gaps: bool) -> SessionRecord:
    where = f"{name}:{element.get(_XML_LINE)}"
    session = _attribute(element, "num", where)
    turns: list[tuple[int, TurnRecord]] = []
    stamps: list[tuple[int, Stamp]] = []
    for interaction in element.iter("interaction"):
        place = f"{name}:{interaction.get(_XML_LINE)}"
        number = _xml_whole(_attribute(interaction, "num", place), place, "interaction", FROM_ONE)
        turns.append((number, _turn(interaction, place, name)))
        started = interaction.get("starttime")
        if started is not None:
            stamps.append((number, read_stamp(started, place)))
    identifier = read_id(session, where)
    if not turns:
        raise InputError(f"{where}: expected at least one interaction in session '{printable(session)}', found none")
    check_times((stamp for _, stamp in sorted(stamps, key=lambda each: each[0])), identifier)
    topic = element.find("topic")
    topic_number = None if topic is None else topic.get("num")
    return SessionRecord(
        where,
        identifier,
        read_id(topic_number, where) if topic_number else None,
        element.get("userid") or None,
        None,
        {},
        in_order(turns, identifier, fills_gaps),
    )


def _turn(interaction: Element, where: str, name: str) -> TurnRecord:
    results = list(interaction.iterfind("results/result"))
    places = [f"{name}:{result.get(_XML_LINE)}" for result in results]
    documents = [_document(result, place) for result, place in zip(results, places, strict=True)]
    if any(result.get("rank") is not None for result in results):
        ranks = [
            float(_xml_whole(_attribute(result, "rank", place), place, "rank", None))
            for result, place in zip(results, places, strict=True)
        ]
        documents = [documents[i] for i in by_rank(ranks, places)]
    return TurnRecord(where, interaction.findtext("query", "").strip(), documents=documents)


def _document(result: Element, where: str) -> bytes:
    """The id of the document, or its URL where there is none."""
    named = [child for child in result if _DOCUMENT.fullmatch(child.tag)]
    for child in (*named, *result.iterfind("url")):
        text = (child.text or "").strip()
        if text:
            return read_id(text, where)
    raise InputError(f"{where}: expected a result with an id (clueweb12id) or a url, found neither")


def _attribute(element: Element, name: str, where: str) -> str:
    value = element.get(name, "").strip()
    if not value:
        raise InputError(f"{where}: expected <{element.tag} {name}=...>, found none", f"a log is {_SHAPE}")
    return value


def _xml_whole(text: str, where: str, what: str, hint: str | None) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_QUERIES:
        raise InputError(f"{where}: expected a whole number from 1 as {what}, found '{printable(text)}'", hint)
    return int(text)
