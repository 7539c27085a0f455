"""What a command has to show, as data: tables, sentences and notes, without any layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

#: One value of a table; None is a value that does not exist.
Cell: TypeAlias = str | int | float | None

#: How a column's values are meant: ``share`` is a fraction that people read as per cent.
Kind: TypeAlias = Literal["text", "number", "count", "share"]


@dataclass(frozen=True)
class Column:
    """A column: its name, what its values are, and how many decimal places people want to see of them."""

    name: str
    kind: Kind = "text"
    places: int = 4


@dataclass(frozen=True)
class Table:
    """Rows under named columns. The leading text columns say what a row is about.

    ``marked`` are the cells (row, column) to be emphasised, such as the best of a column; ``notes`` stand below.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()

    @property
    def labels(self) -> int:
        """How many leading columns are text and name the row; at least one."""
        texts = next((i for i, column in enumerate(self.columns) if column.kind != "text"), len(self.columns))
        return max(1, texts)


@dataclass(frozen=True)
class Page:
    """What a command shows: tables and paragraphs in order, then notes (a signature, what a mark means).

    ``header`` opens the JSON lines; ``command`` is the command's name.
    """

    command: str
    parts: tuple[Table | str, ...]
    notes: tuple[str, ...] = ()
    header: Mapping[str, object] = field(default_factory=dict)

    @property
    def tables(self) -> Iterator[Table]:
        """The tables, in order."""
        return (part for part in self.parts if isinstance(part, Table))
