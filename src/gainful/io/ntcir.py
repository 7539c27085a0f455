"""NTCIREVAL's files: one a topic, judgments with levels L0, L1, ... (.rel) and ranked documents (.res)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gainful.errors import InputError
from gainful.io.rows import Entry, Reading
from gainful.io.sources import Text, open_source
from gainful.notation import printable, text_of_id

REL_LINE, RES_LINE = "document L2` or `topic document L2", "document"
_LEVEL = re.compile(rb"L(\d+)")


def read_ntcir(text: Text, reading: Reading, *, run: bool) -> Iterator[Entry]:
    """The entries of one file. Where lines do not name the topic, it is the file's name up to the first dot."""
    topic = os.path.basename(text.name).split(".")[0]
    if run:
        yield Entry(topic, [fields[0] for _, fields in _lines(text, (1,), RES_LINE)], None, text.name)
        return
    for number, fields in _lines(text, (2, 3), REL_LINE):
        level = _LEVEL.fullmatch(fields[-1])
        if level is None:
            raise InputError(
                f"{text.name}:{number}: expected a level such as L2, found '{printable(fields[-1])}'",
                f"a line is `{REL_LINE}`",
            )
        query = text_of_id(fields[0]) if len(fields) == 3 else topic
        yield Entry(query, [fields[-2]], [int(level[1])], f"{text.name}:{number}", is_row=True)


def read_folder(path: str, *, run: bool) -> Iterator[Entry]:
    """The entries of all .rel or .res files in a folder and below it, in the order of their names."""
    ending = ".res" if run else ".rel"
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(ending)
    )
    if not files:
        raise InputError(f"{path}: expected a file or a folder with {ending} files (NTCIR), found a folder without any")
    for file in files:
        yield from read_ntcir(open_source(file), Reading(), run=run)


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
