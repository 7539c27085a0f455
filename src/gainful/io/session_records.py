"""Common forms of sessions: records (one per session) or rows (one per result), and the rules for both.

Also reads the XML logs of the TREC Session Track: sessions of interactions, each a query with its results. The final
``currentquery``, which systems were asked to answer, has no results and is omitted. So are clicks, which do not show
how many results a user scanned.
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

#: Upper limit on query numbers.
MOST_QUERIES = 1_000_000
#: Upper limit on scanned results: above it, floats do not represent every integer.
DEEPEST = 2**53

FROM_ONE = "queries of a session are numbered 1, 2, 3, ..."


def fill_gaps() -> str:
    """Return the hint for missing queries."""
    return f"use {option('gaps', 'empty')} to treat missing queries as empty result pages"


OF_SEVERAL = "if several systems share session ids, use one file per system"
RANKS_FROM_ONE = "results of a query have the ranks 1, 2, 3, ..."
EMPTY_PAGE = "an empty result page is one row with rank 0 and - as document"


_T = TypeVar("_T")


class Stamp(NamedTuple):
    """A time with its notation and place."""

    seconds: float
    shown: str
    where: str


class TurnRecord(NamedTuple):
    """A query and its results."""

    where: str
    text: str = ""
    id: bytes | None = None  # for judgments by query; None: session and number
    documents: Sequence[object] = ()
    scores: Sequence[float] | None = None
    grades: Sequence[float] | None = None  # NaN: not given
    scanned: int = -1
    cost: float = math.nan
    number: int | None = None
    stamps: Sequence[Stamp] = ()


class SessionRecord(NamedTuple):
    """A session with its queries in order."""

    where: str
    session: bytes
    topic: bytes | None
    user: str | None
    system: str | None
    ratings: Mapping[str, float]
    turns: Sequence[TurnRecord]
    line: bytes = b""  # the source line, if it can be quoted


class SessionRows(NamedTuple):
    """Rows in any order, each a result or an empty result page."""

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
    time_text: Callable[[int], str] | None = None  # notation of a row's time
    query_id: Spans | None = None
    text: Spans | None = None
    topic: Spans | None = None
    user: Spans | None = None
    system: Spans | None = None
    cost: Floats | None = None
    notes: tuple[str, ...] = ()  # repairs and assumptions made while reading
    gap: float | None = None  # seconds without a query that end a session of a log, whose IDs are derived from it


#: The content of a source of sessions: records, rows, or a run with query IDs made of session and turn.
SessionContent: TypeAlias = Iterable[SessionRecord] | SessionRows | Rows


#: Roles that may be empty, as for an empty result page.
OPTIONAL = (
    *("document", "score", "grade", "scanned", "cost", "time"),
    *("query_id", "text", "topic", "user", "system", "event"),
)


def session_rows(
    found: Mapping[str, Any], origin: Origin, time_text: Callable[[int], str] | None = None
) -> SessionRows:
    """Check the columns of a table by role and return its rows; ``time_text`` is the notation of a row's time."""
    columns: dict[str, Any] = dict(found)
    number, rank, scanned = columns.pop("query"), columns.get("rank"), columns.get("scanned")
    if isinstance(columns.get("time"), tuple):
        written, start, size = times = columns["time"]

        def time_text(row: int) -> str:
            return printable(written[start[row] : start[row] + size[row]].tobytes())

        columns["time"] = read_times(times, origin)
    data, first, length = columns["document"]
    is_empty = length == 0  # an empty result page has rank 0, if there are ranks, and an empty document or -
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
        refuse(columns["cost"] < 0, "a number of at least 0 as cost", columns["cost"], None)
    return SessionRows(number=number, is_empty=is_empty, origin=origin, time_text=time_text, **columns)


def read_times(spans: Spans, origin: Origin) -> Floats:
    """Return times in seconds, NaN where missing. Each distinct text is parsed once."""
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
    """Yield the records of values. After a bad one, the rest are only checked, and one error reports the first few;
    ``shown`` quotes a value for a message that does not quote it already."""
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
    """Return a quoted line for messages, on a line of its own; an empty text if there is none."""
    return f"\n    {shown_text(line)}" if line else ""


def gap_message(where: str, session: bytes, missing: int, number: int) -> str:
    """Return the message for a missing query number."""
    return f"{where}: missing query {missing} of session '{printable(session)}' before query {number}"


def repeated_query(where: str, session: bytes, number: int, first: str) -> str:
    """Return the message for a duplicate query number."""
    return f"{where}: duplicate query {number} of session '{printable(session)}' (first: {first})"


def ordered_turns(turns: Sequence[TurnRecord], session: bytes, fills_gaps: bool) -> Sequence[TurnRecord]:
    """Order turns by number, if numbered, and check that numbers run from 1 without gaps, or fill the gaps with empty
    result pages; check that time stamps do not decrease."""
    numbers = [turn.number for turn in turns]
    has_numbers = numbers.count(None) < len(numbers)
    if has_numbers and None in numbers:
        raise InputError(f"{turns[numbers.index(None)].where}: no number, but other queries have one")
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
    """Return the indices of results by rank; ranks must run from 1 without gaps."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    for expected, place in enumerate(order, 1):
        found = ranks[place]
        if expected > 1 and found == expected - 1:
            raise InputError(repeated_rank(wheres[place], found, wheres[order[expected - 2]]), RANKS_FROM_ONE)
        if found != expected:
            raise InputError(missing_rank(wheres[place], expected, found), RANKS_FROM_ONE)
    return order


def repeated_rank(where: str, rank: float, first: str, of: str = "the list") -> str:
    """Return the message for a duplicate rank."""
    return f"{where}: duplicate rank {rank:g} in {of} (first: {first})"


def missing_rank(where: str, expected: int, rank: float, of: str = "the list") -> str:
    """Return the message for a missing rank."""
    return f"{where}: missing rank {expected} in {of} before rank {rank:g}"


def time_back(where: str, session: bytes, found: str, before: str, before_where: str) -> str:
    """Return the message for a decreasing time stamp."""
    return f"{where}: time {found} of session '{printable(session)}' is earlier than {before} ({before_where})"


_SPREADSHEET_TIME = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),? +(\d{1,2})(:\d\d(?::\d\d)?)")


def read_time(value: object) -> float | None:
    """Return seconds from a number or its text, an ISO date and time (UTC by default) or a time of day; None otherwise.

    Decimal commas and dates such as 31.12.2024 are accepted as written by spreadsheets.

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
    """Return a hint for a time that cannot be parsed.

    >>> time_hint("9:59")
    'write 09:59'
    """
    text = value.strip() if isinstance(value, str) else ""
    if re.match(r"\d:", text) and read_time(f"0{text}") is not None:
        return f"write 0{text}"
    return "use a notation such as 99.5 or 2024-05-01T10:15:00Z"


def read_stamp(value: object, where: str) -> Stamp:
    """Parse a time stamp."""
    seconds = read_time(value)
    if seconds is None:
        raise InputError(f"{where}: expected seconds or a date and time, found {described(value)}", time_hint(value))
    return Stamp(seconds, str(value), where)


_XML_STEP = 1 << 16
_PER_ELEMENT, _PER_ATTRIBUTE = 700, 250  # bytes of memory
_XML_LINE = "gainful:line"  # cannot collide: an unbound prefix is not valid in a log
_DOCUMENT = re.compile(r"clueweb\d*id|docno|docid|id")
_SHAPE = '<session num="1"><interaction num="1"><query>...</query><results>...'


def read_session_log(text: Text, how: Reading) -> Iterator[SessionRecord]:
    """Yield the sessions of a log, holding only a few at a time."""

    def shown(_: Element, message: str) -> str:
        number = int(message.removeprefix(f"{text.name}:").partition(":")[0])
        return shown_line(line_text(text.data, _line_start(text, number)).strip().encode())

    record: SessionRecord | None = None
    for record in good_records(_sessions(text), lambda element: _session(element, text.name, how.fills_gaps), shown):
        yield record
    if record is None:
        raise InputError(f"{text.name}: the XML contains no sessions", f"a log is {_SHAPE}")


def _sessions(text: Text) -> Iterator[Element]:
    """Yield the session elements, in which each element has its line number."""
    parser, builder = expat.ParserCreate(), TreeBuilder()
    parser.buffer_text = True
    path: list[Element] = []
    done: list[Element] = []

    held = 0  # bytes of the current session

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
    waiting, fed = b"", 0
    for piece in chain(text.pieces(_XML_STEP), [b""]):
        waiting += piece
        # Older versions of expat read a long token anew with every piece of it.
        if piece and len(waiting) < fed - parser.CurrentByteIndex:
            continue
        try:
            parser.Parse(waiting, not piece)
        except expat.ExpatError as error:
            raise InputError(
                f"{text.name}:{error.lineno}: expected XML, found {expat.ErrorString(error.code)} at column "
                f"{error.offset + 1}\n    {line_text(text.data, _line_start(text, error.lineno))}"
            ) from error
        except (LookupError, ValueError) as error:
            raise InputError(
                f"{text.name}: expected XML in a supported encoding, found another\n    {line_text(text.data, 0)}",
                "convert it to UTF-8",
            ) from error
        held = 0 if done else held + 6 * len(waiting) + _PER_ATTRIBUTE * waiting.count(b"=")
        fed, waiting = fed + len(waiting), b""
        require_memory(text.name, held)
        yield from done
        done.clear()


def _line_start(text: Text, number: int) -> int:
    """Return the offset of a line; the end of the text if its lines do not end in LF."""
    rest = number - 1
    for at in range(0, text.data.size if rest else 0, _XML_STEP):
        feeds = np.flatnonzero(text.data[at : at + _XML_STEP] == 10)
        if rest <= feeds.size:
            return at + int(feeds[rest - 1]) + 1
        rest -= feeds.size
    return text.data.size if rest else 0


def _session(element: Element, name: str, fills_gaps: bool) -> SessionRecord:
    where = f"{name}:{element.get(_XML_LINE)}"
    session = _attribute(element, "num", where)
    turns = [_turn(each, name) for each in element.iter("interaction")]
    identifier = read_id(session, where)
    if not turns:
        raise InputError(f"{where}: session '{printable(session)}' has no interaction")
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
    """Return the ID of the document, or else its URL."""
    named = [child for child in result if _DOCUMENT.fullmatch(child.tag)]
    for child in (*named, *result.iterfind("url")):
        text = (child.text or "").strip(BLANKS)
        if text:
            return read_id(text, where)
    raise InputError(f"{where}: this result has neither an id (clueweb12id) nor a url")


def _attribute(element: Element, name: str, where: str) -> str:
    value = element.get(name, "").strip(BLANKS)
    if not value:
        raise InputError(f"{where}: <{element.tag}> has no attribute {name}", f"a log is {_SHAPE}")
    return value


def _xml_whole(text: str, where: str, what: str, hint: str | None) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= MOST_QUERIES:
        raise InputError(f"{where}: expected a whole number from 1 as {what}, found '{printable(text)}'", hint)
    return int(text)
