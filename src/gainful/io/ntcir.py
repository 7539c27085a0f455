"""NTCIREVAL's files: one a topic, judgments with levels L0, L1, ... (.rel) and ranked documents (.res)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gainful.errors import InputError
from gainful.io.origin import NamedRows
from gainful.io.rows import Entry, Reading, Rows, packed
from gainful.io.sources import COMPRESSED_ENDINGS, Text, open_source
from gainful.notation import printable

REL_LINE, RES_LINE = "document L2` or `topic document L2", "document"
_LEVEL = re.compile(rb"L(\d+)")


class _Judgment(NamedTuple):
    topic: bytes
    document: bytes
    level: int
    where: str


def read_ntcir(text: Text, reading: Reading, *, run: bool) -> Rows | Iterable[Entry]:
    """What one file holds. Where lines do not name the topic, it is the file's name up to the first dot."""
    return [_entry(text)] if run else _rows(_judgments(text), text.name)


def read_folder(path: str, *, run: bool) -> Rows | Iterable[Entry]:
    """What all .rel or .res files in a folder and below it hold, in the order of their names."""
    ending = ".res" if run else ".rel"
    endings = (ending, *(ending + packing for packing in COMPRESSED_ENDINGS))
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(endings)
    )
    if not files:
        raise InputError(f"{path}: expected a file or a folder with {ending} files (NTCIR), found a folder without any")
    texts = (open_source(file) for file in files)
    if run:
        return [_entry(text) for text in texts]
    return _rows((judgment for text in texts for judgment in _judgments(text)), path)


def _topic(text: Text) -> str:
    return os.path.basename(text.name).split(".")[0]


def _entry(text: Text) -> Entry:
    return Entry(_topic(text), [fields[0] for _, fields in _lines(text, (1,), RES_LINE)], None, text.name)


def _judgments(text: Text) -> Iterator[_Judgment]:
    topic = _topic(text).encode("utf-8", "surrogateescape")
    for number, fields in _lines(text, (2, 3), REL_LINE):
        where, level = f"{text.name}:{number}", _LEVEL.fullmatch(fields[-1])
        if level is None:
            raise InputError(
                f"{where}: expected a level such as L2, found '{printable(fields[-1])}'", f"a line is `{REL_LINE}`"
            )
        yield _Judgment(fields[0] if len(fields) == 3 else topic, fields[-2], int(level[1]), where)


def _rows(judgments: Iterable[_Judgment], name: str) -> Rows:
    found = list(judgments)
    wheres = tuple(judgment.where for judgment in found)
    return Rows(
        packed([judgment.topic for judgment in found], wheres.__getitem__),
        packed([judgment.document for judgment in found], wheres.__getitem__),
        np.array([judgment.level for judgment in found], np.float64),
        NamedRows(name, np.arange(len(found)), wheres),
    )


def _lines(text: Text, counts: tuple[int, ...], line: str) -> Iterator[tuple[int, list[bytes]]]:
    """The fields of every line that has any, with its number."""
    for number, raw in enumerate(bytes(text.data).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        fields = re.findall(rb"[^ \t]+", raw.removesuffix(b"\r"))
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) not in counts:
            expected = " or ".join(map(str, counts))
            raise InputError(
                f"{text.name}:{number}: expected {expected} fields, found {len(fields)}\n    {printable(raw, 120)}",
                f"a line is `{line}`",
            )
        yield number, fields
