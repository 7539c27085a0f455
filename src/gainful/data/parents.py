"""Chunks that stand for their documents: by a pattern, a table, or a function; and ids that look like such chunks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from gainful.errors import InputError, for_asker, option
from gainful.io.rows import DocumentColumns, packed
from gainful.kernel import core
from gainful.notation import count_of, printable, text_of_id
from gainful.policy import Parent

_Columns = TypeVar("_Columns", bound=DocumentColumns)
#: What tables call the ids of chunks.
_CHUNK = ("chunk_id passage_id node_id split_id chunk passage node split id",)
#: What may stand between the id of a document and what tells its chunks.
_MARK = re.compile(r"[^A-Za-z0-9]")


def is_column(parent: str | Parent) -> bool:
    """Whether a parent is the name of a column: neither a function, a pattern nor a file."""
    return isinstance(parent, str) and "(" not in parent and not os.path.isfile(parent)


def with_parents(columns: _Columns, parent: str | Parent) -> _Columns:
    """The same with the documents of chunks in their place. What is no chunk stays.

    >>> from gainful import Run
    >>> run = with_parents(Run.from_dict({"q1": ["d1#2", "d2", "d1#1"]}), "(.+)#.*")
    >>> [run.document(row) for row in range(3)]
    [b'd1', b'd2', b'd1']
    """
    ids, number = core.number_ids(*columns.document_spans)
    find, lacks = _finder(parent)
    found = [find(text_of_id(each)) or None for each in ids]
    documents = [chunk if document is None else document for chunk, document in zip(ids, found, strict=True)]
    data, start, length = packed(documents, lambda place: f"parent of '{printable(ids[place])}'")
    given: Any = columns
    notes, lacking = given.notes, found.count(None)
    if lacking == len(ids) or (lacking and lacks.startswith("not in")):
        shown = printable(ids[found.index(None)])
        notes += (f"{columns.name}: {lacking:,} of {count_of(len(ids), 'id')} {lacks}, such as '{shown}'",)
    changed = replace(given, data=data, document_start=start[number], document_length=length[number], notes=notes)
    return cast(_Columns, changed if columns.content is None else changed.read_from(columns.name))


def _finder(parent: str | Parent) -> tuple[Callable[[str], object], str]:
    """What gives the document of an id, and what is said of ids without one."""
    if callable(parent):
        return parent, "without a parent"
    if "(" not in parent:
        return _read_table(parent).get, f"not in {parent}"
    matches = re.compile(parent, re.DOTALL).fullmatch
    return (lambda text: found[1] if (found := matches(text)) else None), f"unlike the pattern '{parent}'"


def _read_table(path: str) -> dict[str, str]:
    """The document of every chunk: the first two columns of a table, or a JSON object."""
    from gainful.io.records import read_records

    records = [[*record.values.items()] for record in read_records(path, path, _CHUNK, bare=True)]
    if len(records) == 1 and len(records[0]) > 2:
        return {chunk: str(document) for chunk, document in records[0]}
    if any(len(cells) < 2 for cells in records):
        raise InputError(f"{path}: expected chunks and their documents, found one column")
    return {str(cells[0][1]): str(cells[1][1]) for cells in records}


def chunks_of(retrieved: Iterable[bytes], judged: Iterable[bytes]) -> str | None:
    """What is said of retrieved and judged ids of which one begins with the other, and what makes them meet.

    >>> print(chunks_of([b"d1#12", b"d7#1"], [b"d1", b"d2"]))
    'd1#12' begins with the judged 'd1': parent='(.+)#[0-9]+' credits chunks to documents
    >>> print(chunks_of([b"d1"], [b"d1_chunk_2"]))
    the judged 'd1_chunk_2' begins with 'd1': parent='(.+)_chunk_[0-9]+', parent_of='both' credits chunks to documents
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
                return f"{' begins with '.join(pair)}: {separator.join(options)} credits chunks to documents"
    return None
