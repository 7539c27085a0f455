"""NTCIREVAL's files: one a topic, judgments with levels L0, L1, ... (.rel) and ranked documents (.res).

Judgments of collections that the package ir_datasets knows, by their ids.
From a source in any format to rows or entries. A format's file is loaded when it is met.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gainful.errors import InputError, MissingExtraError
from gainful.io.formats import FORMATS, HEAD, checked_columns, recognise
from gainful.io.rows import Entry, FrameRows, NamedRows, Reading, Rows, Spans, packed
from gainful.io.sources import COMPRESSED_ENDINGS, Source, Text, open_source
from gainful.kernel import core
from gainful.notation import choose, printable

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


PREFIX = "irds:"


def is_dataset(source: str) -> bool:
    """Whether a source that is no file is the id of a collection: marked by ``irds:``, or known to ir_datasets."""
    if source.startswith(PREFIX):
        return True
    if find_spec("ir_datasets") is None:
        return False
    import ir_datasets

    return source in ir_datasets.registry


def read_judgments(source: str) -> Rows:
    """The judgments of a collection."""
    dataset = _dataset(source)
    if not dataset.has_qrels():
        raise InputError(f"{source}: expected a collection with judgments, found one without")
    judgments = list(dataset.qrels_iter())
    subtopics = [
        getattr(judgment, "subtopic_id", None) or getattr(judgment, "iteration", "0") for judgment in judgments
    ]
    return Rows(
        _spans([judgment.query_id for judgment in judgments]),
        _spans([judgment.doc_id for judgment in judgments]),
        np.array([judgment.relevance for judgment in judgments], np.float64),
        FrameRows(source),
        subtopic=_spans(subtopics),
    )


def _spans(ids: list[object]) -> Spans:
    data, start, length, _ = core.pack_ids(ids)
    return data, start, length


def _dataset(source: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(
            f"{source}: reading it needs the package ir_datasets", "install it with: pip install 'gainful[datasets]'"
        ) from error
    try:
        return ir_datasets.load(source.removeprefix(PREFIX))
    except KeyError as error:
        raise InputError(f"{source}: expected the id of a collection, found none that ir_datasets knows") from error


#: What a source holds: TREC text, which the core reads itself, rows, or entries.
Content: TypeAlias = Text | Rows | Iterable[Entry]

_READERS: Mapping[str, str] = {
    "msmarco": "delimited.read_msmarco",
    "csv": "delimited.read_header_table",
    "tsv": "delimited.read_header_table",
    "json": "json_text.read_json",
    "jsonl": "json_text.read_json_lines",
    "letor": "delimited.read_letor",
    "ntcir": "reader.read_ntcir",
    "parquet": "frames.read_parquet",
}


def reading(
    format_: str | None = None, columns: Mapping[str, str] | None = None, feature: int | None = None
) -> Reading:
    """How to read, checked."""
    if format_ is not None:
        choose(format_, FORMATS, "format")
    return Reading(format_, checked_columns(columns), feature)


def read_content(source: Source | Text, how: Reading, *, run: bool) -> tuple[Content, str]:
    """What a source holds, and what to call it in messages."""
    if isinstance(source, (str, os.PathLike)) and not os.path.isfile(source):
        content = _without_a_file(os.fspath(source), run)
        if content is not None:
            return content, os.fspath(source)
    text = source if isinstance(source, Text) else open_source(source)
    return _content(text, how, run), text.name


def format_of(text: Text, how: Reading, *, run: bool) -> str:
    """The format of a text, given or recognised."""
    return how.format or recognise(text.data[:HEAD].tobytes(), text.name, run=run, columns=how.columns)


def _without_a_file(source: str, run: bool) -> Content | None:
    if os.path.isdir(source):
        return read_folder(source, run=run)
    if run or source == "-" or os.path.exists(source):
        return None
    return read_judgments(source) if is_dataset(source) else None


def _content(text: Text, how: Reading, run: bool) -> Content:
    kind = format_of(text, how, run=run)
    if kind == "trec":
        return text
    module, _, function = _READERS[kind].partition(".")
    content: Content = getattr(importlib.import_module(f"gainful.io.{module}"), function)(text, how, run=run)
    return content
