"""TREC text: what its lines are, and what to say when one is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gainful.arrays import Bytes
from gainful.errors import InputError
from gainful.io.origin import line_number, line_text
from gainful.notation import printable

if TYPE_CHECKING:
    from gainful._core import Fault

RUN_LINE = "query Q0 document rank score tag"
QRELS_LINE = "query subtopic document grade"

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE = 1, 2, 3, 4, 5


def fields_at(data: Bytes, offset: int) -> list[bytes]:
    """The fields of the line that starts at an offset."""
    step = 1 << 16
    pieces = []
    for at in range(offset, data.size, step):
        piece, feed, _ = data[at : at + step].tobytes().partition(b"\n")
        pieces.append(piece)
        if feed:
            break
    return re.findall(rb"[^ \t]+", b"".join(pieces).removesuffix(b"\r"))


def input_error(messages: Sequence[str], count: int, hint: str | None) -> InputError:
    """One error for several places, the rest counted."""
    rest = count - len(messages)
    return InputError("\n".join([*messages, f"... and {rest:,} more like these"] if rest else messages), hint)


def raise_faults(name: str, data: Bytes, faults: Sequence[Fault], count: int, *, run: bool) -> None:
    """Turns the core's faults in a text into an error, if there are any."""
    if not count:
        return
    messages = [f"{name}:{_message(data, fault, run)}\n    {line_text(data, fault[0])}" for fault in faults]
    raise input_error(messages, count, _mistaken(data, faults[0], run) or hint_for(faults[0][1], run=run))


def _mistaken(data: Bytes, fault: Fault, run: bool) -> str | None:
    """What the whole file probably is, when it is not what it should be."""
    if fault[1] != FIELDS:
        return None
    line = fields_at(data, fault[0])
    if len(line) == 4 and run and not re.fullmatch(rb"\d+", line[2]) and re.fullmatch(rb"-?\d+", line[3]):
        return "this looks like judgments, which come first: gainful eval QRELS RUN..."
    if len(line) == 6 and not run:
        return "this looks like a run; judgments come first: gainful eval QRELS RUN..."
    if max(b" ".join(line).count(separator) for separator in (b",", b";", b"|", b"\t")) > 1:
        return (
            "a table of commas, semicolons or tabs needs a header that names the columns query, document and "
            f"{'score' if run else 'grade'}; --columns query=NAME,document=NAME,... says what others mean"
        )
    return None


def _message(data: Bytes, fault: Fault, run: bool) -> str:
    offset, code, detail = fault
    where = f"{line_number(data, offset)}: "
    if code == FIELDS:
        return where + f"expected {6 if run else 4} fields, found {detail}"
    fields = fields_at(data, offset)
    what, value = ("score", fields[4]) if run else ("grade", fields[3])
    if code == NUMBER:
        return where + f"expected a number as {what}, found '{printable(value)}'"
    if code == OVERFLOW:
        return where + f"expected a {what} that fits a 64-bit float, found '{printable(value)}'"
    if code == RANK:
        return where + f"expected a number as rank, found '{printable(fields[3])}'"
    return where + duplicate_message(fields[2], fields[0], f"line {line_number(data, detail)}")


def duplicate_message(document: bytes, query: bytes, first: str) -> str:
    """What is said of a document that stands twice in one list."""
    return (
        f"expected every document once in a list, found '{printable(document)}' again for query "
        f"'{printable(query)}' (first: {first})"
    )


def hint_for(code: int, *, run: bool) -> str:
    """What to do about a kind of fault."""
    if code == FIELDS:
        return f"a run line is `{RUN_LINE}`" if run else f"a judgment line is `{QRELS_LINE}`"
    if code == RANK:
        return "order=rank and ties=rank need the rank column"
    if code == DUPLICATE:
        return "duplicates=first (--duplicates first) keeps the best ranked of them"
    return "numbers are decimal, like 2, -0.5 or 1e-3"
