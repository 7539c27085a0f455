"""The log of TREC's Session Track in XML: sessions of interactions, each a query with the results that were shown.

The query that ends a session in the log, ``currentquery``, is the one that systems were asked to answer: it has no
results, and it is left out. Clicks tell what was opened, not how far somebody looked, and are left out, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from gainful.errors import InputError
from gainful.io.objects import read_id
from gainful.io.origin import line_text
from gainful.io.session_objects import Stamp, check_times, read_stamp
from gainful.io.session_records import (
    FROM_ONE,
    MOST_QUERIES,
    BadPlaces,
    SessionReading,
    SessionRecord,
    TurnRecord,
    by_rank,
    in_order,
    shown_line,
)
from gainful.io.sources import Text, forget
from gainful.notation import printable

_STEP = 1 << 18
_LINE = "gainful:line"  # no name in XML that is not bound can be this one
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
        path.append(builder.start(tag, {**attributes, _LINE: str(parser.CurrentLineNumber)}))

    def end(tag: str) -> None:
        builder.end(tag)
        element = path.pop()
        if tag == "session":
            done.append(element)
            if path:
                path[-1].remove(element)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    for at in range(0, text.data.size + 1, _STEP):
        piece = text.data[at : at + _STEP].tobytes()
        try:
            parser.Parse(piece, at + _STEP > text.data.size)
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
    where = f"{name}:{element.get(_LINE)}"
    session = _attribute(element, "num", where)
    turns: list[tuple[int, TurnRecord]] = []
    stamps: list[tuple[int, Stamp]] = []
    for interaction in element.iter("interaction"):
        place = f"{name}:{interaction.get(_LINE)}"
        number = _whole(_attribute(interaction, "num", place), place, "interaction", FROM_ONE)
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
    places = [f"{name}:{result.get(_LINE)}" for result in results]
    documents = [_document(result, place) for result, place in zip(results, places, strict=True)]
    if any(result.get("rank") is not None for result in results):
        ranks = [
            float(_whole(_attribute(result, "rank", place), place, "rank", None))
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


def _whole(text: str, where: str, what: str, hint: str | None) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_QUERIES:
        raise InputError(f"{where}: expected a whole number from 1 as {what}, found '{printable(text)}'", hint)
    return int(text)
