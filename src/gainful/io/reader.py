"""From a source in any format to rows or entries. A format's file is loaded when it is met."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gainful.io.columns import checked_columns
from gainful.io.recognise import FORMATS, HEAD, recognise
from gainful.io.rows import Entry, Reading, Rows
from gainful.io.sources import Source, Text, open_source
from gainful.notation import choose

#: What a source holds: TREC text, which the core reads itself, rows, or entries.
Content: TypeAlias = Text | Rows | Iterable[Entry]

_READERS: Mapping[str, str] = {
    "msmarco": "delimited.read_msmarco",
    "csv": "delimited.read_header_table",
    "tsv": "delimited.read_header_table",
    "json": "json_text.read_json",
    "jsonl": "json_text.read_json_lines",
    "letor": "letor.read_letor",
    "ntcir": "ntcir.read_ntcir",
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
        from gainful.io.ntcir import read_folder

        return read_folder(source, run=run)
    if run or source == "-" or os.path.exists(source):
        return None
    from gainful.io.datasets import is_dataset, read_judgments

    return read_judgments(source) if is_dataset(source) else None


def _content(text: Text, how: Reading, run: bool) -> Content:
    kind = format_of(text, how, run=run)
    if kind == "trec":
        return text
    module, _, function = _READERS[kind].partition(".")
    content: Content = getattr(importlib.import_module(f"gainful.io.{module}"), function)(text, how, run=run)
    return content
