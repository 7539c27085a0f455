"""Which format a text is in, by its first line. Nothing here loads NumPy: it is asked before reading starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from gainful.errors import InputError
from gainful.io.columns import has_header

#: The formats, each with what its lines look like.
FORMATS: Mapping[str, str] = {
    "trec": "query subtopic document grade; query Q0 document rank score tag",
    "msmarco": "query document rank",
    "json": '{"q1": {"d3": 2.5}}',
    "jsonl": '{"query": "q1", "results": ["d3"]}; {"query": "q1", "judgments": {"d3": 2.5}}',
    "tsv": "a header, then fields between tabs",
    "csv": "a header, then fields between commas or semicolons",
    "letor": "grade qid:query 1:value 2:value ... #docid = document",
    "ntcir": "document L2, or topic document L2 (.rel); document (.res)",
    "parquet": "a table, read with pyarrow or polars",
}

#: How much of a source is looked at.
HEAD = 1 << 16

_BOM = b"\xef\xbb\xbf"
#: What spreadsheets may write first: which separator follows.
SEPARATOR_LINE = re.compile(rb"sep=.")
_LEVEL = re.compile(rb"L\d+")
_SCALAR_FIRST = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[^\s\[{]')
_WHOLE = re.compile(rb"\d+")


def recognise(head: bytes, name: str, *, run: bool, columns: Mapping[str, str]) -> str:
    """The format of a source that begins like this; ``trec`` where nothing else fits."""
    if head.startswith(b"PAR1"):
        return "parquet"
    refuse_binary(head, name)
    line = first_line(head)
    fields = line.split()
    if not fields:
        return "trec"
    if fields[0][:1] in b"{[":
        return _json_or_lines(line)
    if len(fields) > 1 and fields[1].startswith(b"qid:"):
        return "letor"
    separator = header_separator(line, lambda names: has_header(names, columns))
    if separator:
        return "tsv" if separator == "\t" else "csv"
    return _by_fields(fields, name, run)


def header_separator(line: bytes, is_header: Callable[[Sequence[str]], bool]) -> str | None:
    """What separates the names of a header; None if the line is not one."""
    text = line.decode("utf-8", "replace")
    for separator in "\t,;":
        names = [field.strip().strip('"') for field in text.split(separator)]
        if len(names) > 1 and is_header(names):
            return separator
    return None


def first_line(head: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    for line in head.removeprefix(_BOM).split(b"\n"):
        stripped = line.strip(b" \t\r")
        if stripped and not stripped.startswith(b"#") and not SEPARATOR_LINE.fullmatch(stripped):
            return line.strip(b" \r")
    return b""


def _json_or_lines(line: bytes) -> str:
    """One large value has lists or objects under its queries' names; an object with an id is one line of many."""
    import json

    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        # Cut off, or one value over several lines: all there is to look at is the first name's value.
        return "jsonl" if _SCALAR_FIRST.match(line) else "json"
    scalar = isinstance(value, dict) and any(not isinstance(each, (dict, list)) for each in value.values())
    return "jsonl" if scalar else "json"


def _by_fields(fields: list[bytes], name: str, run: bool) -> str:
    if run:
        if len(fields) == 3 and _WHOLE.fullmatch(fields[2]):
            return "msmarco"
        alone = len(fields) == 1 and b"," not in fields[0]
        return "ntcir" if alone and ".res" in name.rsplit("/", 1)[-1] else "trec"
    return "ntcir" if len(fields) in (2, 3) and _LEVEL.fullmatch(fields[-1]) else "trec"


def refuse_binary(head: bytes, name: str) -> None:
    """Refuses what is no text in UTF-8."""
    if head.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name}: expected text or parquet, found a zip file or a spreadsheet", "save the sheet as CSV, or unzip it"
        )
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            f"{name}: expected UTF-8 text, found other bytes",
            "this looks like UTF-16; convert it: iconv -f utf-16 -t utf-8",
        )
