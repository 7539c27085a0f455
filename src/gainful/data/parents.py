"""Replacement of chunks by their documents (pattern, table or function); detection of IDs that look like chunks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from gainful.errors import InputError, for_asker, option
from gainful.io.rows import DocumentColumns, packed
from gainful.kernel import core
from gainful.notation import count_of, printable, text_of_id
from gainful.policy import Parent

_Columns = TypeVar("_Columns", bound=DocumentColumns)
#: Names of chunk IDs in tables.
_CHUNK = ("chunk_id passage_id node_id split_id chunk passage node split id",)
#: Characters that may separate the ID of a document from the suffix of its chunks.
_MARK = re.compile(r"[^A-Za-z0-9]")


def is_column(parent: str | Parent) -> bool:
    """Return whether a parent is the name of a column rather than a function, a pattern or a file."""
    return isinstance(parent, str) and "(" not in parent and not os.path.isfile(parent)


def with_parents(columns: _Columns, parent: str | Parent) -> _Columns:
    """Return the columns with chunks replaced by their documents; other IDs are unchanged.

    >>> from gainful import Run
    >>> run = with_parents(Run.from_dict({"q1": ["d1#2", "d2", "d1#1"]}), "(.+)#.*")
    >>> [run.document(row) for row in range(3)]
    [b'd1', b'd2', b'd1']
    """
    ids, number = core.number_ids(*columns.document_spans)
    texts = map(text_of_id, ids)
    parents: Iterable[object]
    if callable(parent):
        parents, lacks = map(parent, texts), "without a parent"
    elif "(" not in parent:
        parents, lacks = map(_read_table(parent).get, texts), f"not in {parent}"
    else:
        matches = map(re.compile(parent, re.DOTALL).fullmatch, texts)
        parents, lacks = (each and each[1] for each in matches), f"not matched by the pattern '{parent}'"
    found = [each or None for each in parents]
    documents = [chunk if document is None else document for chunk, document in zip(ids, found, strict=True)]
    data, start, length = packed(documents, lambda place: f"parent of '{printable(ids[place])}'")
    given: Any = columns
    notes, lacking = given.notes, found.count(None)
    if lacking == len(ids) or (lacking and lacks.startswith("not in")):
        shown = printable(ids[found.index(None)])
        notes += (f"{columns.name}: {lacking:,} of {count_of(len(ids), 'id')} {lacks}, such as '{shown}'",)
    changed = replace(given, data=data, document_start=start[number], document_length=length[number], notes=notes)
    return cast(_Columns, changed if columns.content is None else changed.read_from(columns.name))


def _read_table(path: str) -> dict[str, str]:
    """Read the document of every chunk from the first two columns of a table, or from a JSON object."""
    from gainful.io.records import read_records

    records = [[*record.values.items()] for record in read_records(path, path, _CHUNK, bare=True)]
    if len(records) == 1 and len(records[0]) > 2:
        return {chunk: str(document) for chunk, document in records[0]}
    if any(len(cells) < 2 for cells in records):
        raise InputError(f"{path}: expected chunks and their documents, found one column")
    return {str(cells[0][1]): str(cells[1][1]) for cells in records}


def chunks_of(retrieved: Iterable[bytes], judged: Iterable[bytes]) -> str | None:
    """Return a note if a retrieved ID begins with a judged one or vice versa, with the option that matches them.

    >>> print(chunks_of([b"d1#12", b"d7#1"], [b"d1", b"d2"]))
    'd1#12' begins with the judged 'd1': use parent='(.+)#[0-9]+' to credit chunks to documents
    >>> print(chunks_of([b"d1"], [b"d1_c2"]))
    the judged 'd1_c2' begins with 'd1': use parent='(.+)_c[0-9]+', parent_of='both' to credit chunks to documents
    """
    one, other = ({*map(text_of_id, ids)} for ids in (retrieved, judged))
    for chunks, documents in ((one, other), (other, one)):
        for chunk, size in ((each, mark.start()) for each in sorted(chunks) for mark in _MARK.finditer(each)):
            if chunk[:size] in documents:
                before = re.sub("[0-9]+$", "", chunk[size:])
                lazy, mark, rest = ("?", chunk[size], ".*") if before == chunk[size:] else ("", before, "[0-9]+")
                pattern = f"(.+{lazy})" + re.sub(r"([][.+*?^$|(){}\\])", r"\\\1", mark) + rest
                options, pair = [option("parent", pattern)], [f"'{printable(each)}'" for each in (chunk, chunk[:size])]
                if chunks is one:
                    pair[1] = f"the judged {pair[1]}"
                else:
                    pair[0] = f"the judged {pair[0]}"
                    options.append(option("parent_of", "both"))
                separator = for_asker(" ", ", ")
                return f"{' begins with '.join(pair)}: use {separator.join(options)} to credit chunks to documents"
    return None
