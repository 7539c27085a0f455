"""What a command has to show, as data: tables, charts, sentences and notes, without any layout."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.render.charts import Chart

#: One value of a table; None (or NaN) is a value that does not exist.
Cell: TypeAlias = str | int | float | None

#: How a column's values are meant: ``share`` is a fraction that people read as per cent; ``difference`` belongs to the
#: column before it, where people see it in parentheses; ``marks`` (letters, daggers) too, raised in papers.
Kind: TypeAlias = Literal["text", "number", "count", "share", "difference", "marks"]


class Showable:
    """What can be shown in every format. A subclass says what its page is."""

    #: Whether a table's columns keep a place for the mark even where none is, so that they never move.
    has_place_for_marks: ClassVar[bool] = False

    def page(self) -> Page:
        """The data that the formats draw."""
        raise NotImplementedError

    def text(self, format: str = "table") -> str:  # noqa: A002 - the word that users know
        """The text in one of the formats table, trec, jsonl, csv, markdown, latex and html."""
        from io import StringIO

        from gainful.render import write

        out = StringIO()
        write(self, format, out)
        return out.getvalue()

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Writes a file, whole or not at all; without a format its ending (.csv, .md, .tex, ...) decides.

        .svg, .png and .pdf are figures of the charts.
        """
        from gainful.io.atomic import atomic_output
        from gainful.render import figure, format_of, write

        if format is None and figure.ending_of(path) in figure.ENDINGS:
            figure.save(self.page(), path)
            return
        format_ = format or format_of(path)
        with atomic_output(path) as out:
            write(self, format_, out)

    def figure(self, columns: int | None = None) -> Figure:
        """The charts as a figure of matplotlib, ``columns`` (1 or 2) of a paper wide; needs gainful[plot]."""
        from gainful.render.figure import draw

        return draw(self.page(), columns)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from gainful.render.html import fragment

        return fragment(self.page())


@dataclass(frozen=True)
class Column:
    """A column: its name, what its values are, and how people want to see them.

    ``places`` are decimal places: 4 if not given, of per cent 1, of counts always none. ``none`` stands where there is
    no value. ``for_machines`` is what only csv, jsonl and trec write, because people read it elsewhere on the page.
    """

    name: str
    kind: Kind = "text"
    places: int | None = None
    none: str = "-"
    for_machines: bool = False

    @property
    def decimals(self) -> int:
        """How many decimal places people see."""
        if self.kind == "count":
            return 0
        return (1 if self.kind == "share" else 4) if self.places is None else self.places


@dataclass(frozen=True)
class Table:
    """Rows under named columns. The leading text columns say what a row is about.

    ``marked`` are the cells (row, column) to be emphasised, such as the best of a column; ``notes`` stand below. A note
    that starts with ``* `` says what a mark means. People see the first ``most`` rows, machines have all of them.
    ``for_people`` is what csv, jsonl and trec leave out, because machines have all of it elsewhere on the page.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    notes: tuple[str, ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()
    most: int | None = None
    for_people: bool = False

    @property
    def labels(self) -> int:
        """How many leading columns name the row: all texts before the first value; of texts only, one."""
        texts = next((i for i, column in enumerate(self.columns) if column.kind != "text"), 1)
        return max(1, texts)


class Heading(str):
    """A paragraph that names all that comes below it, until the next one."""

    __slots__ = ()


@dataclass(frozen=True)
class Page(Showable):
    """What a command shows: tables, charts and paragraphs in order, then notes (a signature, what a mark means).

    A paragraph may have several lines; one that is indented by four spaces stays as it is, as formulas want it. A
    :class:`Heading` opens a section.
    ``header`` opens the JSON lines; ``command`` is the command's name.

    >>> page = Page("demo", (Table((Column("run"), Column("AP", "number")), (("a", 0.5), ("b", None))),), ("all",))
    >>> print(page.text("csv"), end="")
    run,AP
    a,0.5
    b,
    """

    command: str
    parts: tuple[Table | Chart | str, ...]
    notes: tuple[str, ...] = ()
    header: Mapping[str, object] = field(default_factory=dict)

    # A dataclass would otherwise print itself where people want to see the table.
    __str__ = Showable.__str__

    def page(self) -> Page:
        return self

    @property
    def tables(self) -> Iterator[Table]:
        """The tables, in order."""
        return (part for part in self.parts if isinstance(part, Table))

    @property
    def tables_for_machines(self) -> Iterator[Table]:
        """The tables without those that are for people only."""
        return (table for table in self.tables if not table.for_people)

    @property
    def charts(self) -> Iterator[Chart]:
        """The charts, in order."""
        return (part for part in self.parts if not isinstance(part, (Table, str)))

    @property
    def parts_for_people(self) -> Iterator[Table | Chart | str]:
        """All parts without the tables that are for machines only, and without maps of what a table has."""
        for part in self.parts:
            if isinstance(part, Table) and all(column.for_machines for column in part.columns):
                continue
            if not getattr(part, "has_table", False):
                yield part

    def chart_text(self, chart: Chart) -> list[str]:
        """The lines of a chart as text; a system has the same letter in all charts of the page."""
        from gainful.render.chart_text import chart_lines
        from gainful.render.charts import system_numbers

        return chart_lines(chart, system_numbers(self.charts))
