"""Format registry: the layout, recognition and reader of each format; text encodings; strict JSON.

A format's reader is imported when first used; this module does not load NumPy, since it runs before reading starts.
JSON is read strictly: keys must be unique, numbers must be finite, and errors state the position.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from gainful.errors import InputError, UsageError, option
from gainful.io.columns import (
    SESSION_NAMES,
    WINDOWS,
    columns_by_side,
    has_header,
    header_separator,
    is_run_header,
    is_session_header,
    listed_names,
    names_of,
    unknown_separator,
)
from gainful.io.sources import WIDEST_LINE, Text, character_width, require_memory, shown_text
from gainful.notation import choose, json_or_none, load_json, printable, read_duration, read_number, text_of_id

#: Treatments of a missing query number in a session: an error, or an empty result page.
GAPS = ("error", "empty")
#: Separator between session and turn in a query ID.
SEPARATOR = "_"

_BOM = b"\xef\xbb\xbf"
#: The beginning of UTF-16 or UTF-32: a byte order mark, or JSON without one.
_WIDE = re.compile(rb"\xff\xfe|(\0\0)?\xfe\xff|\0{1,3}[{\[]|[{\[]\0")
#: A first line that spreadsheets may write to name the separator.
_SEPARATOR_LINE = re.compile(rb"sep=.")
_LEVEL = re.compile(rb"L\d+")
_SCALAR_FIRST = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[^\s\[{]')
_WHOLE = re.compile(rb"\d+")


class Reading(NamedTuple):
    """Settings for reading a source: format and LETOR score feature (None: recognise), column names by role, and grades
    of words; for sessions, the separator of session and turn, the treatment of gaps, and the seconds without a query
    that end a session in a log; ``pairs_only`` reads only queries and documents."""

    format: str | None = None
    columns: Mapping[str, str] = MappingProxyType({})
    feature: int | None = None
    separator: str = SEPARATOR
    gaps: str = "error"
    session_gap: float | None = None
    pairs_only: bool = False
    threads: int = 1
    grades: Mapping[str, float] = MappingProxyType({})

    @classmethod
    def checked(
        cls,
        format_: str | None = None,
        columns: Mapping[str, str] | None = None,
        feature: int | None = None,
        grades: Mapping[str, object] | None = None,
    ) -> Reading:
        """Return settings for judgments or a run, after checking format, roles and grades."""
        if format_ is not None:
            choose(format_, FORMATS, "format")
        if grades is not None and not isinstance(grades, Mapping):
            raise UsageError('grades: expected a dict of words and their grades, such as {"Perfect": 3, "Good": 2}')
        numbers = {str(word): read_number(grade, f"grades: {word}") for word, grade in (grades or {}).items()}
        return cls(format_, columns_by_side(columns, ("run",))["run"], feature, grades=numbers)

    @classmethod
    def of_sessions(
        cls,
        format_: str | None = None,
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        gaps: str = "error",
        session_gap: str | None = None,
    ) -> Reading:
        """Return settings for sessions, after checking them."""
        if format_ is not None:
            choose(format_, SESSION_FORMATS, "format")
        if separator is not None and (not isinstance(separator, str) or not separator):
            raise UsageError(f"separator: expected a nonempty text, found {separator!r}")
        mapping = columns_by_side(columns, ("sessions",))["sessions"]
        gap = None if session_gap is None else read_duration(session_gap, option("session_gap"))
        return cls(format_, mapping, None, separator or SEPARATOR, choose(gaps, GAPS, "gaps"), gap)

    @property
    def fills_gaps(self) -> bool:
        return self.gaps == "empty"


class Sample:
    """The beginning of a source of judgments or of a run, from which its format is recognised."""

    def __init__(self, text: Text, columns: Mapping[str, str], run: bool = True) -> None:
        self.is_parquet = text.head.startswith(b"PAR1")
        if not self.is_parquet:
            refuse_binary(text.head, text.name)
        self.name, self.columns, self.run = text.name, columns, run
        self.line = self._first_line(text)
        self.fields = self.line.split(None, 6)  # no format needs more of them

    @cached_property
    def shape(self) -> str:
        """The apparent format: parquet, json, jsonl, letor, tsv, csv, or plain lines."""
        if self.is_parquet:
            return "parquet"
        if self.line.lstrip()[:1] in (b"{", b"["):
            return "jsonl" if self._is_json_lines() else "json"
        if len(self.fields) > 1 and self.fields[1].startswith(b"qid:"):
            return "letor"
        separator = self._separator()
        return "lines" if separator is None else "tsv" if separator == "\t" else "csv"

    def _first_line(self, text: Text) -> bytes:
        return first_line(text.head)

    def _is_json_lines(self) -> bool:
        """Distinguish one object per line, with scalar values, from one large object of lists or objects by query."""
        value = json_or_none(self.line.decode("utf-8", "replace"))
        # If the object is cut off or spans several lines, only its first value can be tested.
        return _SCALAR_FIRST.match(self.line) is not None if value is None else _has_scalar(value)

    def _separator(self) -> str | None:
        # A table with unknown column names is an error with a hint, not TREC text.
        names = names_of(self.run)
        known = header_separator(self.line, lambda found: has_header(found, self.columns, known=names))
        return known or unknown_separator(self.line)


class SessionSample(Sample):
    """The beginning of a source of sessions."""

    @cached_property
    def shape(self) -> str:
        """The apparent format, as for runs, or xml."""
        return "xml" if self.line.startswith(b"<") and not self.is_parquet else super().shape

    def _first_line(self, text: Text) -> bytes:
        return header_line(text)[1].strip()

    def _is_json_lines(self) -> bool:
        """Whether the line holds one complete object of several; ``{query: results}`` is a whole file instead."""
        value = first_json(self.line, self.name)
        if isinstance(value, dict) and "queries" not in value:
            return _has_scalar(value)
        return self.line.startswith(b"{") and self.line.endswith(b"}")

    def _separator(self) -> str | None:
        # If the session column is named, this is a table even if the name is wrong.
        is_named = "session" in self.columns
        return header_separator(self.line, lambda names: is_named or is_session_header(names, self.columns))

    def refuse_unknown_table(self) -> None:
        """Report unknown session columns, rather than a malformed run."""
        is_run = is_run_header(self.line, self.columns) or len(self.fields) in (3, 6)
        separator = max("\t,;", key=lambda mark: self.line.count(mark.encode()))
        names = text_of_id(self.line).split(separator)
        if is_run or len(names) < 3:
            return

        def is_there(role: str) -> bool:
            return has_header(names, self.columns, (role,), SESSION_NAMES)

        lacking = [part for part in _SESSION_PARTS if not any(map(is_there, part))]
        known = (f"{role}: {', '.join(listed_names(SESSION_NAMES[role]))}" for part in lacking for role in part)
        raise InputError(
            f"{self.name}: no column for {' and none for '.join(' or '.join(part) for part in lacking)}; columns: "
            f"{', '.join(map(printable, names))}\n    known names of {'; '.join(known)}",
            f"use {option('columns', {part[0]: 'NAME' for part in lacking})}",
        )


#: A table of sessions needs one column from each group.
_SESSION_PARTS = (("session", "user"), ("query", "text", "time"), ("document",))


#: Upper bounds on memory in bytes: per query, in addition to its rows, and per row of a frame being read and joined.
PER_QUERY, PER_ROW = 280, 300
_PER_LINE = {"trec": 200, "msmarco": 130, "movielens": 200, "header_table": 130, "letor": 130, "ntcir": 600}
_PER_LINE["session_table"] = 1000


class Format(NamedTuple):
    """A format: its layout, its reader (``module:function`` in this package), the endings of its file names, and how
    plain lines are recognised (other formats have a shape). ``piece_reader`` reads a large run in pieces."""

    name: str
    looks: str
    reader: str
    endings: tuple[str, ...] = ()
    has_lines: Callable[[Sample], bool] | None = None
    piece_reader: str = ""

    @property
    def per_line(self) -> int:
        """Upper bound on the memory in bytes per line, in addition to its text; 0 if the reader itself counts."""
        return _PER_LINE.get(self.reader.partition(":read_")[2], 0)

    def read(self, text: Text, how: Reading, **options: object) -> Any:
        if self.per_line:
            text.require_memory(self.per_line)
        return load_reader(self.reader)(text, how, **options)


def load_reader(reader: str) -> Callable[..., Any]:
    """Import the function ``module:function`` of this package."""
    module, _, function = reader.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"gainful.io.{module}"), function)
    return found


def _is_msmarco(sample: Sample) -> bool:
    # trec_eval's output has "all" in the second field.
    is_table = sample.run and len(sample.fields) == 3 and sample.fields[1] != b"all"
    return is_table and _WHOLE.fullmatch(sample.fields[2]) is not None


#: User number, item number, rating, and seconds or milliseconds since 1970.
_RATED = re.compile(rb"\d+(?P<mark>\t| |::)\d+(?P=mark)\d\d?(\.\d+)?(?P=mark)(\d{9,10}|\d{12,13})")


def _is_ntcir(sample: Sample) -> bool:
    fields = sample.fields
    if sample.run:
        return len(fields) == 1 and b"," not in fields[0] and ".res" in sample.name.rsplit("/", 1)[-1]
    return len(fields) in (2, 3) and _LEVEL.fullmatch(fields[-1]) is not None


_TREC = (".run", ".res", ".txt", ".trec")
_HEADER = "a header (session, query, rank, document, ...), then fields between"
#: The formats of judgments and runs. Anything else is read as TREC text.
_OF_ROWS = (
    Format("trec", "query subtopic document grade; query Q0 document rank score tag", "rows:read_trec", endings=_TREC),
    Format("msmarco", "query document rank", "delimited:read_msmarco", (), _is_msmarco, "delimited:msmarco_pieces"),
    Format(
        "movielens",
        "user item rating time, between tabs, blanks or ::",
        "delimited:read_movielens",
        has_lines=lambda sample: not sample.run and _RATED.fullmatch(sample.line) is not None,
    ),
    Format("json", '{"q1": {"d3": 2.5}}', "json_text:read_json", (".json",)),
    Format(
        "jsonl",
        '{"query": "q1", "results": ["d3"]}; {"query": "q1", "judgments": {"d3": 2.5}}',
        "json_text:read_json_lines",
        (".jsonl",),
    ),
    *(
        Format(
            name,
            f"a header, then fields between {between}",
            "delimited:read_header_table",
            (f".{name}",),
            piece_reader="delimited:table_pieces",
        )
        for name, between in (("tsv", "tabs"), ("csv", "commas or semicolons"))
    ),
    Format("letor", "grade qid:query 1:value 2:value ... #docid = document", "delimited:read_letor", (".letor",)),
    Format(
        "ntcir",
        "document L2, or topic document L2 (.rel); document (.res)",
        "delimited:read_ntcir",
        has_lines=_is_ntcir,
    ),
    Format(
        "parquet",
        "a table, read with pyarrow or polars",
        "frames:read_parquet",
        (".parquet",),
        piece_reader="frames:parquet_pieces",
    ),
)
#: The formats of sessions. In runs, a query ID consists of session and turn.
_OF_SESSIONS = (
    Format(
        "jsonl",
        '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1"]}]}',
        "session_objects:read_session_lines",
    ),
    Format("json", "a list of such objects", "session_objects:read_session_json"),
    Format("tsv", f"{_HEADER} tabs", "delimited:read_session_table"),
    Format("csv", f"{_HEADER} commas or semicolons", "delimited:read_session_table"),
    Format("parquet", "such a table, read with pyarrow or polars", "frames:read_session_parquet"),
    Format("xml", "the log of TREC's Session Track", "session_records:read_session_log", (".xml",)),
    Format("trec", "session_turn Q0 document rank score tag", "readers:read_run_of_sessions"),
    Format("msmarco", "session_turn document rank", "readers:read_run_of_sessions"),
)
FORMATS: Mapping[str, Format] = {format_.name: format_ for format_ in _OF_ROWS}
SESSION_FORMATS: Mapping[str, Format] = {format_.name: format_ for format_ in _OF_SESSIONS}
#: File name endings of all formats.
ENDINGS = tuple(ending for format_ in (*_OF_ROWS, *_OF_SESSIONS) for ending in format_.endings)


CR_ALONE, CONVERT = "expected lines that end in LF or CR LF, found CR alone", "convert it: tr '\\r' '\\n'"


def fitting_format(sample: Sample, formats: Mapping[str, Format]) -> str | None:
    """Return the first format that fits the sample; None if none does."""
    if sample.shape != "lines":
        return sample.shape if sample.shape in formats else None
    return next((name for name, each in formats.items() if each.has_lines and each.has_lines(sample)), None)


def format_of(text: Text, how: Reading, *, run: bool) -> str:
    """Return the given or recognised format of a text; ``trec`` if nothing else fits."""
    if how.format is not None:
        if how.format != "parquet":
            refuse_binary(text.head, text.name)
        return how.format
    found = fitting_format(Sample(text, how.columns, run), FORMATS) or "trec"
    if found == "trec" and b"\n" not in text.head and b"\r" in text.head.rstrip():
        raise InputError(f"{text.name}: {CR_ALONE}", CONVERT)
    return found


def first_line(head: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment."""
    return next((line.strip(b" \r") for line in head.removeprefix(_BOM).split(b"\n") if _has_content(line)), b"")


def header_line(text: Text) -> tuple[int, bytes]:
    """Return the first line that is neither blank nor a comment, with its offset."""
    found, offset = _first_content_line(text.head), 0
    for line in text.lines() if found is None else ():
        start = len(_BOM) if offset == 0 and line.startswith(_BOM) else 0
        if _has_content(line[start:]):
            return offset + start, line[start:]
        offset += len(line) + 1
    return found or (max(0, offset - 1), b"")


def _first_content_line(data: bytes) -> tuple[int, bytes] | None:
    """Return the same as ``header_line`` if the line ends within these bytes."""
    offset = 3 if data.startswith(_BOM) else 0
    while (end := data.find(b"\n", offset)) >= 0:
        if _has_content(line := data[offset:end]):
            return offset, line
        offset = end + 1
    return None


def _has_content(line: bytes) -> bool:
    """Return whether a line is neither blank, nor a comment, nor a spreadsheet's separator line."""
    stripped = line.strip(b" \t\r")
    return bool(stripped) and not stripped.startswith(b"#") and not _SEPARATOR_LINE.fullmatch(stripped)


def _has_scalar(value: object) -> bool:
    return isinstance(value, dict) and any(not isinstance(each, (dict, list)) for each in value.values())


def refuse_binary(head: bytes, name: str) -> None:
    """Raise InputError if a beginning is not UTF-8 text."""
    if head.startswith(b"PK\x03\x04"):
        hint = "save the sheet as CSV, or unzip it"
        raise InputError(f"{name}: expected text or parquet, found a zip file or a spreadsheet", hint)
    if _WIDE.match(head):
        raise _not_utf8(name, head)
    if b"\0" in head:
        raise InputError(f"{name}: expected text or parquet, found binary content", "is this the right file?")


def _not_utf8(name: str, head: bytes | bytearray) -> InputError:
    encoding = "UTF-32" if b"\0\0" in head[:4] else "UTF-16"
    convert = f"this looks like {encoding}; convert it: iconv -f {encoding.lower()} -t utf-8"
    hint = convert if b"\0" in head else "is this a table? Save it as UTF-8"
    return InputError(f"{name}: expected UTF-8 text, found other bytes", hint)


#: Number of bytes decoded at a time.
_AT_ONCE = 1 << 24


def in_utf8(text: Text) -> tuple[Text, tuple[str, ...]]:
    """Return a table as is if it is UTF-8; else decoded as Windows-1252, with a note. Line numbers do not change."""
    import codecs  # loaded late: few tables need it

    data, decoder = text.data, codecs.getincrementaldecoder("utf-8")()
    with suppress(UnicodeDecodeError):
        for at in range(0, data.size, _AT_ONCE) if data.max(initial=0) > 127 else ():
            decoder.decode(data[at : at + _AT_ONCE].tobytes(), at + _AT_ONCE >= data.size)
        return text, ()
    try:
        content = str(text.buffer, WINDOWS)
    except UnicodeDecodeError as error:
        raise _not_utf8(text.name, b"") from error
    return Text.of_view(content.encode(), text.name), (f"{text.name}: not UTF-8; read as Windows-1252",)


#: Upper bounds on memory for JSON as Python objects: bytes per mark; shorter texts are not checked.
_JSON_COSTS, _SHORT_JSON = {b",": 150, b":": 120, b"[": 200, b"{": 500}, 1 << 14


def json_cost(data: bytes | bytearray) -> int:
    """Return an upper bound on the memory for a JSON text and the rows of its values, in addition to the text."""
    return 2 * character_width(data) * len(data) + sum(each * data.count(mark) for mark, each in _JSON_COSTS.items())


def first_json(data: bytes | bytearray, name: str) -> object:
    """Return the JSON value of a text at the beginning of a source; None if it is not JSON."""
    if len(data) > _SHORT_JSON:
        require_memory(name, len(data) + json_cost(data))
    return json_or_none(data)


def parse_json(data: bytes | bytearray, name: str, where: str) -> Any:
    """Parse a JSON text at ``where`` in the source ``name``."""
    import json

    if len(data) > _SHORT_JSON:
        require_memory(name, len(data) + json_cost(data))
    if not json.detect_encoding(data).startswith("utf-8"):
        raise _not_utf8(name, data)
    try:
        return load_json(data, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        # A truncated text is quoted by its last line.
        text = error.doc.rstrip()
        at = min(error.pos, len(text))
        start = text.rfind("\n", 0, at) + 1
        line = text[start : start + 4 * WIDEST_LINE].partition("\n")[0]
        shown = shown_text(line.encode("utf-8", "surrogatepass"))
        found = "the end of the text" if text and at == len(text) else error.msg.lower().removesuffix(" at")
        place = where if where != name else f"{name}:{text.count(chr(10), 0, at) + 1}"
        raise InputError(
            f"{place}: expected JSON, found {found} at column {at - start + 1}\n    {shown}",
            "for one value per line, use the format jsonl" if error.msg == "Extra data" else None,
        ) from error
    except RecursionError as error:
        raise InputError(f"{where}: expected JSON, found values nested too deeply to read") from error
    except ValueError as error:
        found = "a number of more than 4,300 digits" if str(error).startswith("Exceeds the limit") else str(error)
        raise InputError(f"{where}: expected JSON, found {found}") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key '{printable(key)}' in one object")
            seen.add(key)
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is not a number")
