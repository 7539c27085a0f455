"""Titles or texts of documents, from a table with a row a document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from gainful.errors import InputError, option
from gainful.io.columns import NAMES, Names, find_role, folded
from gainful.io.records import read_records
from gainful.io.rows import read_id
from gainful.notation import some_of

_ID_TIERS = 2  # of the names of documents those that are sure to be ids
_NAMES: Names = {
    "document": (
        *NAMES["document"][:_ID_TIERS],
        ("did",),
        ("id", "_id"),
        *NAMES["document"][_ID_TIERS:],
        ("query_id",),  # what records have without a header
    ),
    "text": (("title", "headline", "name"), ("text", "body", "content", "contents", "passage", "abstract")),
}
_ID_NAMES = frozenset(folded(name) for tier in _NAMES["document"] for name in tier)
#: Longer texts are cut: a page shows a line a document.
_LONGEST = 160


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTitles:
    """A table of documents: a CSV or TSV with a header, JSON objects, a data frame, or a dict of titles by id;
    ``called`` is what its columns for document and text are called, if by no usual name."""

    table: Any
    called: Mapping[str, str]

    @property
    def name(self) -> str:
        """What messages call it: its file if it has one."""
        return os.fspath(self.table) if isinstance(self.table, (str, os.PathLike)) else "documents"

    @cached_property
    def _titles(self) -> dict[str, str]:
        found: dict[str, str] = {}
        columns: tuple[str, ...] | None = None
        for record in read_records(self.table, self.name, _ID_NAMES | set(map(folded, self.called.values()))):
            if columns is None:
                columns = _columns(list(record.values), self.called, self.name)
            value = record.values.get(columns[1])
            if value is not None and value != "":
                identifier = record.values.get(columns[0])
                document = read_id(identifier, record.where).decode("utf-8", "backslashreplace")
                found.setdefault(document, _short(str(value)))
        return found

    def of(self, documents: Sequence[Iterable[str]]) -> dict[str, str]:
        """The titles of the documents that are shown; a table that has none of them is refused."""
        shown = dict.fromkeys(chain.from_iterable(documents))
        found = {each: title for each in shown if (title := self._titles.get(each)) is not None}
        if not found:
            there = f"there are {some_of(list(self._titles), 3)}" if self._titles else "it is empty"
            raise InputError(
                f"{self.name}: expected titles of documents such as {some_of(list(shown), 3)}, found none of them",
                f"{there}; are its ids those of the runs?",
            )
        return found


def _columns(names: list[str], called: Mapping[str, str], where: str) -> tuple[str, ...]:
    """What the columns of ids and of titles are called."""
    found = []
    for role, what in (("document", "the document's id"), ("text", "its title or text")):
        place = find_role(role, names, called, where, _NAMES)
        if place is None:
            known = ", ".join(name for tier in _NAMES[role][: _ID_TIERS + 2] for name in tier)
            hint = f"{option('columns', {f'documents.{role}': 'NAME'})} says which it is"
            raise InputError(f"{where}: expected a column for {what} ({known}), found {', '.join(names)}", hint)
        found.append(names[place])
    return tuple(found)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
