"""Files with oddities that trec_eval puts up with, written anew as the text that they are to it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from gainful.compat.trec_eval.faults import FILE, RefusedError
from gainful.compat.trec_eval.numbers import leading_real, leading_whole
from gainful.io.trec import QRELS_LINE, RUN_LINE
from gainful.notation import NUMBER, count_of, printable

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
#: Larger scores than a float64 holds are read as infinite, and stand before all others all the same.
_LARGEST = 1.7976931348623157e308


class Cleaned(NamedTuple):
    """A text that the core can read, and what was done to it."""

    text: bytes
    notices: list[str]


def clean_judgments(data: bytes, name: str, *, comments: bool) -> Cleaned:
    """Judgments with whole grades: of others as much counts as C's atol reads.

    >>> clean_judgments(b"q1 0 d1 2.7", "qrels", comments=True).text
    b'q1 0 d1 2'
    """
    lines, cut = [], []
    for number, fields in _rows(data, comments):
        if len(fields) != 4:
            raise _malformed(name, number, "4", fields, QRELS_LINE)
        grade = fields[3].decode("latin-1")
        if not _INTEGER.fullmatch(grade):
            cut.append(f"'{printable(grade)}' as {leading_whole(grade)}")
        lines.append(b" ".join((*fields[:3], b"%d" % leading_whole(grade))))
    return Cleaned(b"\n".join(lines), _notice(name, cut, "grade"))


def clean_run(data: bytes, name: str, *, comments: bool) -> Cleaned:
    """A run of six columns: what follows the tag is left out, and of a score as much counts as C's atof reads."""
    lines, cut = [], []
    for number, fields in _rows(data, comments):
        if len(fields) < 6:
            raise _malformed(name, number, "at least 6", fields, RUN_LINE)
        text = fields[4].decode("latin-1")
        if not NUMBER.fullmatch(text):
            cut.append(f"'{printable(text)}' as {leading_real(text)}")
        score = leading_real(text)
        if math.isnan(score):
            raise RefusedError(FILE, f"{name}:{number}: expected a number as score, found '{printable(text)}'")
        score = min(max(score, -_LARGEST), _LARGEST)
        lines.append(b" ".join((fields[0], b"Q0", fields[2], b"0", repr(score).encode(), fields[5])))
    return Cleaned(b"\n".join(lines), _notice(name, cut, "score"))


def _rows(data: bytes, comments: bool) -> Iterator[tuple[int, list[bytes]]]:
    """The lines that say something, with their numbers."""
    for number, line in enumerate(data.split(b"\n"), 1):
        fields = line.split()
        if fields and not (comments and fields[0].startswith(b"#")):
            yield number, fields


def _malformed(name: str, number: int, expected: str, fields: list[bytes], form: str) -> RefusedError:
    text = f"{name}:{number}: expected {expected} fields, found {len(fields)}\n    {printable(b' '.join(fields), 120)}"
    return RefusedError(FILE, text, f"a line is `{form}`")


def _notice(name: str, cut: list[str], noun: str) -> list[str]:
    if not cut:
        return []
    what = "whole numbers" if noun == "grade" else "numbers"
    return [f"{name}: {count_of(len(cut), noun)} not written as {what}, read as trec_eval does: {cut[0]}"]
