"""What session formats are read into: records, one a session, or rows, one a result; and the rules for both.

The log of TREC's Session Track in XML: sessions of interactions, each a query with the results that were shown. The
query that ends a session in the log, ``currentquery``, is the one that systems were asked to answer: it has no results,
and it is left out. Clicks tell what was opened, not how far somebody looked, and are left out, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from itertools import chain, pairwise
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from gainful.errors import InputError, option
from gainful.io.formats import Reading
from gainful.io.json_text import described
from gainful.io.rows import MOST_SHOWN, Origin, Rows, Spans, input_error, line_text, read_id, refuse_rows
from gainful.io.sources import BLANKS, Text, require_memory, shown_text
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats
from gainful.notation import NUMBER, number_text, printable, text_of_id

#: The highest query number there may be: what is above it is no number of a query.
MOST_QUERIES = 1_000_000
#: The deepest place that somebody may have looked at: above it not every whole number can be told from the next.
DEEPEST = 2**53

FROM_ONE = "queries of a session are numbered 1, 2, 3, ..."


def fill_gaps() -> str:
    """The hint at missing queries."""
    return f"{option('gaps', 'empty')} takes missing queries for empty result pages"


OF_SEVERAL = "sessions of several systems that share their ids stand in a file each"
RANKS_FROM_ONE = "results of a query have the ranks 1, 2, 3, ..."
EMPTY_PAGE = "an empty result page is one row with rank 0 and - as document"


_T = TypeVar("_T")


class Stamp(NamedTuple):
    """A time, as it is written and where."""

    seconds: float
    shown: str
    where: str


class TurnRecord(NamedTuple):
    """A query and its results."""

    where: str
    text: str = ""
    id: bytes | None = None  # what judgments by query call it; None: its session and number
    documents: Sequence[object] = ()
    scores: Sequence[float] | None = None
    grades: Sequence[float] | None = None  # NaN: not given
    scanned: int = -1
    cost: float = math.nan
    number: int | None = None
    stamps: Sequence[Stamp] = ()


class SessionRecord(NamedTuple):
    """A session with its queries in their order."""

    where: str
    session: bytes
    topic: bytes | None
    user: str | None
    system: str | None
    ratings: Mapping[str, float]
    turns: Sequence[TurnRecord]
    line: bytes = b""  # what it was read from, where that can be shown


class SessionRows(NamedTuple):
    """One row a result, or an empty result page, in any order."""

    session: Spans
    number: Floats
    document: Spans
    is_empty: Bools  # whether the row is an empty result page
    origin: Origin
    rank: Floats | None = None
    score: Floats | None = None
    grade: Floats | None = None
    scanned: Floats | None = None
    time: Floats | None = None
    time_text: Callable[[int], str] | None = None  # a row's time as it is written
    query_id: Spans | None = None
    text: Spans | None = None
    topic: Spans | None = None
    user: Spans | None = None
    system: Spans | None = None
    cost: Floats | None = None
    notes: tuple[str, ...] = ()  # what was done to read all of them
    gap: float | None = None  # so many seconds without a query cut sessions from a log, which made their ids


#: What a source of sessions holds: records, rows, or a run whose queries are named by session and turn.
SessionContent: TypeAlias = Iterable[SessionRecord] | SessionRows | Rows


#: What an empty result page, or a row without more to tell, leaves empty.
OPTIONAL = (
    *("document", "score", "grade", "scanned", "cost", "time"),
    *("query_id", "text", "topic", "user", "system", "event"),
)


def session_rows(
    found: Mapping[str, Any], origin: Origin, time_text: Callable[[int], str] | None = None
) -> SessionRows:
    """Rows from the columns of a table by their roles, each checked; ``time_text`` is how a row's time is written."""
    columns: dict[str, Any] = dict(found)
    number, rank, scanned = columns.pop("query"), columns.get("rank"), columns.get("scanned")
    if isinstance(columns.get("time"), tuple):
        written, start, size = times = columns["time"]

        def time_text(row: int) -> str:
            return printable(written[start[row] : start[row] + size[row]].tobytes())

        columns["time"] = read_times(times, origin)
    data, first, length = columns["document"]
    is_empty = length == 0  # an empty result page has rank 0, where there are ranks, and nothing or - as document
    single = np.flatnonzero(length == 1)
    is_empty[single] = data[first[single]] == ord("-")
    if rank is not None:
        is_empty &= rank == 0

    def refuse(bad: Bools, expected: str, values: Floats | None, hint: str | None) -> None:
        def message(row: int) -> str:
            there = "nothing" if values is None else number_text(values[row])
            return f"{origin.where(row)}: expected {expected}, found {there}{origin.shown(row)}"

        refuse_rows(np.flatnonzero(bad), message, hint)

    is_number = (number >= 1) & (number <= MOST_QUERIES) & (number == np.floor(number))
    refuse(~is_number, f"a whole number from 1 to {MOST_QUERIES:,} as query's number", number, FROM_ONE)
    if rank is not None:
        refuse(~((rank >= 0) & (rank == np.floor(rank))), "a whole number as rank", rank, RANKS_FROM_ONE)
        refuse((rank == 0) & ~is_empty, "ranks from 1", rank, f"{RANKS_FROM_ONE}; {EMPTY_PAGE}")
        refuse((length == 0) & ~is_empty, "an id as document", None, EMPTY_PAGE)
    if "score" in columns:
        refuse(np.isnan(columns["score"]) & ~is_empty, "a number as score", None, None)
    if scanned is not None:
        is_depth = (scanned >= 0) & (scanned <= DEEPEST) & (scanned == np.floor(scanned))
        refuse(~(is_depth | np.isnan(scanned)), f"a whole number from 0 to {DEEPEST:,} as scanned", scanned, None)
    if "cost" in columns:
        refuse(columns["cost"] < 0, "a number from 0 on as cost", columns["cost"], None)
    return SessionRows(number=number, is_empty=is_empty, origin=origin, time_text=time_text, **columns)


def read_times(spans: Spans, origin: Origin) -> Floats:
    """Seconds, NaN where there are none. Every different text is read once."""
    texts, row = core.number_ids(*spans)
    seconds = [read_time(text_of_id(text)) if text else np.nan for text in texts]
    known = np.array([value is not None for value in seconds], bool)[row]
    if not known.all():
        bad = np.flatnonzero(~known)

        def message(at: int) -> str:
            found = f"'{printable(texts[int(row[at])])}'{origin.shown(at)}"
            return f"{origin.where(at)}: expected seconds or a date and time as time, found {found}"

        refuse_rows(bad, message, time_hint(text_of_id(texts[int(row[bad[0]])])))
    return np.array(seconds, np.float64)[row]


def good_records(
    values: Iterable[_T], read: Callable[[_T], SessionRecord], shown: Callable[[_T, str], str]
) -> Iterator[SessionRecord]:
    """The records of values, one after the other. Behind one that is bad the others are only checked, and one error
    tells of some; ``shown`` is what stands in the place of a message, unless it says that itself."""
    count, messages, hint = 0, [], None
    for value in values:
        try:
            record = read(value)
        except InputError as error:
            count += 1
            if count <= MOST_SHOWN:
                messages.append(error.message + ("" if "\n" in error.message else shown(value, error.message)))
                hint = hint or error.hint
            continue
        if not count:
            yield record
    if count:
        raise input_error(messages, count, hint)


def shown_line(line: bytes) -> str:
    """A line as messages show it, on a line of its own; nothing if there is none."""
    return f"\n    {shown_text(line)}" if line else ""


def gap_message(where: str, session: bytes, missing: int, number: int) -> str:
    """What is said where a query number is missing before another."""
    return f"{where}: expected query {missing} of session '{printable(session)}' before query {number}, found none"


def repeated_query(where: str, session: bytes, number: int, first: str) -> str:
    """What is said of a query number that comes again."""
    return (
        f"{where}: expected every query of session '{printable(session)}' once, found query {number} again "
        f"(first: {first})"
    )


def ordered_turns(turns: Sequence[TurnRecord], session: bytes, fills_gaps: bool) -> Sequence[TurnRecord]:
    """Turns by their numbers, if they have any, which begin with 1 and leave none out; or what is left out is an empty
    result page. Refuses time stamps that go back."""
    numbers = [turn.number for turn in turns]
    has_numbers = numbers.count(None) < len(numbers)
    if has_numbers and None in numbers:
        raise InputError(f"{turns[numbers.index(None)].where}: expected a number as the other queries have, found none")
    turns = sorted(turns, key=lambda turn: turn.number or 0) if has_numbers else turns
    for before, after in pairwise(stamp for turn in turns for stamp in turn.stamps):
        if after.seconds < before.seconds:
            raise InputError(time_back(after.where, session, after.shown, before.shown, before.where))
    if not has_numbers:
        return turns
    ordered: list[TurnRecord] = []
    for turn in turns:
        number = turn.number or 0
        if number <= len(ordered):
            raise InputError(repeated_query(turn.where, session, number, ordered[number - 1].where), FROM_ONE)
        if number > len(ordered) + 1:
            if not fills_gaps:
                raise InputError(gap_message(turn.where, session, len(ordered) + 1, number), fill_gaps())
            ordered += [TurnRecord(turn.where)] * (number - len(ordered) - 1)
        ordered.append(turn)
    return ordered


def by_rank(ranks: Sequence[float], wheres: Sequence[str]) -> list[int]:
    """The places of results in the order of their ranks, which begin with 1 and leave none out."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    for expected, place in enumerate(order, 1):
        found = ranks[place]
        if expected > 1 and found == expected - 1:
            raise InputError(repeated_rank(wheres[place], found, wheres[order[expected - 2]]), RANKS_FROM_ONE)
        if found != expected:
            raise InputError(missing_rank(wheres[place], expected, found), RANKS_FROM_ONE)
    return order


def repeated_rank(where: str, rank: float, first: str, of: str = "a list") -> str:
    """What is said of a rank that comes again in a list."""
    return f"{where}: expected every rank of {of} once, found rank {rank:g} again (first: {first})"


def missing_rank(where: str, expected: int, rank: float, of: str = "a list") -> str:
    """What is said where a rank is missing before another."""
    return f"{where}: expected rank {expected} of {of} before rank {rank:g}, found none"


def time_back(where: str, session: bytes, found: str, before: str, before_where: str) -> str:
    """What is said of a time stamp that is earlier than one before it."""
    return (
        f"{where}: expected time stamps of session '{printable(session)}' that do not go back, found {found} after "
        f"{before} ({before_where})"
    )


_SPREADSHEET_TIME = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),? +(\d{1,2})(:\d\d(?::\d\d)?)")


def read_time(value: object) -> float | None:
    """Seconds from a number or its text, from an ISO date and time (without a zone: UTC) or a time of the day.

    Spreadsheets write decimal commas, and days before months between points.

    >>> read_time("99,5"), read_time("1970-01-01T00:01:00Z"), read_time("1.1.1970 0:01:30"), read_time("01:00:00")
    (99.5, 60.0, 90.0, 3600.0)
    """
    text = value.strip() if isinstance(value, str) else None
    if text and re.fullmatch(r"\d+,\d+", text):
        value = text = text.replace(",", ".")
    elif text and (found := _SPREADSHEET_TIME.fullmatch(text)):
        day, month, year, hour, rest = found.groups()
        text = f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}{rest}"
    if isinstance(value, Real) or (text and NUMBER.fullmatch(text)):
        try:
            seconds = float(value)  # type: ignore[arg-type]
        except OverflowError:
            return None
        return seconds if math.isfinite(seconds) else None
    moment = value
    if text is not None:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            try:
                clock = time.fromisoformat(text)
            except ValueError:
                return None
            return clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6
    if not isinstance(moment, datetime):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_hint(value: object) -> str:
    """How to write a time that cannot be read.

    >>> time_hint("9:59")
    'write 09:59'
    """
    text = value.strip() if isinstance(value, str) else ""
    if re.match(r"\d:", text) and read_time(f"0{text}") is not None:
        return f"write 0{text}"
    return "such as 99.5 or 2024-05-01T10:15:00Z"


def read_stamp(value: object, where: str) -> Stamp:
    """A time stamp, if it is one."""
    seconds = read_time(value)
    if seconds is None:
        raise InputError(f"{where}: expected seconds or a date and time, found {described(value)}", time_hint(value))
    return Stamp(seconds, str(value), where)


_XML_STEP = 1 << 18
_PER_ELEMENT = 700  # bytes of memory
_XML_LINE = "gainful:line"  # no name in XML that is not bound can be this one
_DOCUMENT = re.compile(r"clueweb\d*id|docno|docid|id")
_SHAPE = '<session num="1"><interaction num="1"><query>...</query><results>...'


def read_session_log(text: Text, how: Reading) -> Iterator[SessionRecord]:
    """The sessions of a log; no more than some are held at a time."""
    record: SessionRecord | None = None
    for record in good_records(
        _sessions(text),
        lambda element: _session(element, text.name, how.fills_gaps),
        lambda _, message: _xml_shown(text, message),
    ):
        yield record
    if record is None:
        raise InputError(f"{text.name}: expected sessions, found XML without any", f"a log is {_SHAPE}")


def _sessions(text: Text) -> Iterator[Element]:
    """The session elements, one after the other; each element knows its line."""
    parser, builder = expat.ParserCreate(), TreeBuilder()
    parser.buffer_text = True
    path: list[Element] = []
    done: list[Element] = []

    held = 0  # by the session that has begun

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal held
        held += _PER_ELEMENT
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
    for piece in chain(text.pieces(_XML_STEP), [b""]):
        try:
            parser.Parse(piece, not piece)
        except expat.ExpatError as error:
            raise InputError(
                f"{text.name}:{error.lineno}: expected XML, found {expat.ErrorString(error.code)} at column "
                f"{error.offset + 1}\n    {line_text(text.data, _line_start(text, error.lineno))}"
            ) from error
        except (LookupError, ValueError) as error:
            raise InputError(
                f"{text.name}: expected XML in an encoding that can be read, found another\n"
                f"    {line_text(text.data, 0)}",
                "UTF-8 can be read always",
            ) from error
        held = 0 if done else held + 4 * len(piece)
        require_memory(text.name, held)
        yield from done
        done.clear()


def _xml_shown(text: Text, message: str) -> str:
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
    turns = [_turn(each, name) for each in element.iter("interaction")]
    identifier = read_id(session, where)
    if not turns:
        raise InputError(f"{where}: expected at least one interaction in session '{printable(session)}', found none")
    topic = element.find("topic")
    topic_number = None if topic is None else topic.get("num")
    return SessionRecord(
        where,
        identifier,
        read_id(topic_number, where) if topic_number else None,
        element.get("userid") or None,
        None,
        {},
        ordered_turns(turns, identifier, fills_gaps),
    )


def _turn(interaction: Element, name: str) -> TurnRecord:
    where, started = f"{name}:{interaction.get(_XML_LINE)}", interaction.get("starttime")
    number = _xml_whole(_attribute(interaction, "num", where), where, "interaction", FROM_ONE)
    results = list(interaction.iterfind("results/result"))
    places = [f"{name}:{result.get(_XML_LINE)}" for result in results]
    documents = [_document(result, place) for result, place in zip(results, places, strict=True)]
    if any(result.get("rank") is not None for result in results):
        ranks = [
            float(_xml_whole(_attribute(result, "rank", place), place, "rank", None))
            for result, place in zip(results, places, strict=True)
        ]
        documents = [documents[i] for i in by_rank(ranks, places)]
    stamps = [] if started is None else [read_stamp(started, where)]
    return TurnRecord(
        where, interaction.findtext("query", "").strip(BLANKS), documents=documents, number=number, stamps=stamps
    )


def _document(result: Element, where: str) -> bytes:
    """The id of the document, or its URL where there is none."""
    named = [child for child in result if _DOCUMENT.fullmatch(child.tag)]
    for child in (*named, *result.iterfind("url")):
        text = (child.text or "").strip(BLANKS)
        if text:
            return read_id(text, where)
    raise InputError(f"{where}: expected a result with an id (clueweb12id) or a url, found neither")


def _attribute(element: Element, name: str, where: str) -> str:
    value = element.get(name, "").strip(BLANKS)
    if not value:
        raise InputError(f"{where}: expected <{element.tag} {name}=...>, found none", f"a log is {_SHAPE}")
    return value


def _xml_whole(text: str, where: str, what: str, hint: str | None) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_QUERIES:
        raise InputError(f"{where}: expected a whole number from 1 as {what}, found '{printable(text)}'", hint)
    return int(text)
