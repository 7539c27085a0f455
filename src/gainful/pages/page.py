"""The output of a command as data: tables, charts, sentences and notes, without layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from gainful.frozen import dataclass, field, fields, is_dataclass, replace

if TYPE_CHECKING:
    from gainful.pages.charts import Chart

_Drawn = TypeVar("_Drawn")

#: One value of a table; None (or NaN) is a value that does not exist. People see only the true ones of truth values.
Cell: TypeAlias = str | bool | int | float | None
Row: TypeAlias = tuple[Cell, ...]

#: Kinds of values: ``share`` is a fraction shown as a percentage; ``difference`` belongs to the column before it and is
#: shown in parentheses; ``marks`` (letters, daggers) also belong to it, as superscripts in papers.
Kind: TypeAlias = Literal["text", "number", "exact", "count", "share", "difference", "marks"]


@dataclass(frozen=True)
class Column:
    """A table column: its name, the kind of its values, and their display.

    Attributes:
        places: Decimal places; by default 4, for percentages 1, for counts none.
        none: The text for missing values.
        for_machines: Only csv, jsonl and trec output has this column; people read its content elsewhere on the page.
        get: Takes the value from a record, for :meth:`Table.of`.
        signed: Whether numbers have a plus sign.
    """

    name: str
    kind: Kind = "text"
    places: int | None = None
    none: str = "-"
    for_machines: bool = False
    get: Callable[[Any], Cell] | None = field(default=None, compare=False)
    signed: bool = False

    @property
    def decimals(self) -> int:
        """Decimal places in tables for people."""
        if self.kind == "count":
            return 0
        return (1 if self.kind == "share" else 4) if self.places is None else self.places


@dataclass(frozen=True)
class Table:
    """Rows under named columns; leading text columns identify the row.

    Attributes:
        notes: Lines below the table; ``* `` at the beginning stands for the mark.
        marked: Cells (row, column) to emphasise, such as the best in each column.
        most: Rows that people see; machines get all.
        for_people: Omitted from csv, jsonl and trec output, which have the content elsewhere.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Row]
    title: str = ""
    notes: tuple[str, ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()
    most: int | None = None
    for_people: bool = False

    @classmethod
    def of(cls, columns: Iterable[Column], records: Iterable[object], **others: Any) -> Table:
        """Make one row per record; a column's value is by default the attribute of the same name.

        >>> class System(NamedTuple):
        ...     run: str
        ...     mean: float
        >>> columns = (Column("run"), Column("AP", "number", get=lambda system: system.mean))
        >>> Table.of(columns, [System("a", 0.5), System("b", 0.25)]).rows
        (('a', 0.5), ('b', 0.25))
        """
        columns = tuple(columns)
        getters = [column.get or attrgetter(column.name) for column in columns]
        return cls(columns, tuple(tuple(get(record) for get in getters) for record in records), **others)

    @property
    def labels(self) -> int:
        """The number of leading columns that identify the row: all texts before the first value; one if all are."""
        return max(1, next((i for i, column in enumerate(self.columns) if column.kind != "text"), 1))


_KINDS: dict[str, Kind] = {"#": "count", ".": "number", "=": "exact", "+": "number", "%": "share", "±": "difference"}
_NAME_AND_KIND = re.compile(r"(.*?)(?: ([#.=%±+])(\d*))?(?: ← ([\w.]+))?")


def head(names: str | Iterable[str], *, for_machines: bool = False, none: str = "-") -> tuple[Column, ...]:
    """Parse the columns of a table from its header, separated by bars, or given one by one.

    The kind follows the name: ``#`` counts, ``.`` numbers, ``.12`` numbers with twelve places, ``=`` numbers in full,
    ``+4`` signed numbers, ``%`` shares, ``±1`` the difference belonging to the column before; otherwise texts.
    ``← test.sizes.0`` is the path of the value in a record, if not the attribute of the same name; missing steps give
    None.

    >>> [(column.name, column.kind, column.places) for column in head("run | documents # ← n | AP .12")]
    [('run', 'text', None), ('documents', 'count', None), ('AP', 'number', 12)]
    """
    columns = []
    for text in names.split(" | ") if isinstance(names, str) else names:
        found = _NAME_AND_KIND.fullmatch(text)
        assert found is not None  # every text matches
        name, kind, places, path = found.groups()
        how = _KINDS[kind] if kind else "text", int(places) if places else None, none, for_machines
        get = partial(_at, path.split(".")) if path else None
        columns.append(Column(name, *how, get=get, signed=kind == "+"))
    return tuple(columns)


def values_of(record: object, names: str) -> dict[str, Any]:
    """Return values of a record by name, for headers; names and paths are written as in :func:`head`."""
    table = Table.of(head(names), [record])
    return {column.name: value for column, value in zip(table.columns, table.rows[0], strict=True)}


def _at(path: Sequence[str], record: Any) -> Any:
    for step in path:
        record = None if record is None else record[int(step)] if step.isdigit() else getattr(record, step)
    return record


class ScoreLine(NamedTuple):
    """A score for machines. ``query`` is None for aggregates; ``difference`` is from the baseline, if any;
    ``trec_name`` returns trec_eval's name of the measure; ``beside`` has further values by kind, then by name."""

    run: str
    query: str | None
    measure: str
    trec_name: Callable[[], str]
    value: Cell
    status: str | None = None
    difference: Cell = None
    beside: Mapping[str, Any] = MappingProxyType({})


class Heading(str):
    """A heading of the paragraphs below it."""

    __slots__ = ()


class Conventions(str):
    """A note on the conventions behind numbers: short, for people, and in full (``whole``)."""

    __slots__ = ("whole",)
    whole: str

    def __new__(cls, short: str, whole: str) -> Conventions:
        note = super().__new__(cls, short)
        note.whole = whole
        return note


@dataclass(frozen=True)
class Detail:
    """Parts of a page shown to people only on request; machine formats and figures always include them."""

    parts: tuple[Table | Chart | str, ...]


@dataclass(frozen=True, eq=False)
class Page:
    """The output of a command: tables, charts and paragraphs in order, then notes (signature, meaning of marks).

    A paragraph may have several lines; lines indented by four spaces are verbatim, like formulas. A :class:`Heading`
    opens a section. ``systems`` lists the systems of all figures of the call.

    Attributes:
        header: The beginning of JSON lines; functions are evaluated on demand.
        notes_for_machines: The notes in JSON lines, if not all.
        scores, unit: Replace the first part in formats with one line per value.
        keeps_places: Whether columns without marks reserve space for them, so that columns never move.
        caption, label: LaTeX caption and label of the first table.

    >>> page = Page("demo", ("Two runs.", Table((Column("run"), Column("AP", "number")), (("a", 0.5), ("b", None)))))
    >>> [table.rows for table in page.tables]
    [(('a', 0.5), ('b', None))]
    """

    command: str
    parts: tuple[Table | Chart | Detail | str, ...]
    notes: tuple[str, ...] = ()
    header: Mapping[str, object] = field(default_factory=dict)
    notes_for_machines: tuple[str, ...] | None = None
    scores: Callable[[], Iterable[ScoreLine]] | None = None
    unit: str = "query"
    keeps_places: bool = False
    caption: str | None = None
    label: str | None = None
    systems: tuple[str, ...] = ()

    def page(self) -> Page:
        return self

    @property
    def all_parts(self) -> Iterator[Table | Chart | str]:
        """The parts, including those of details."""
        for part in self.parts:
            yield from part.parts if isinstance(part, Detail) else (part,)

    def detailed(self) -> Page:
        """Return the page with its details shown."""
        return replace(self, parts=tuple(self.all_parts))

    def renamed(self, names: Mapping[str, str], used: set[str] | None = None) -> Page:
        """Rename measures in columns, cells, sentences and charts.

        Conventions and systems keep their names. Names that were found are added to ``used``.

        >>> table = Table((Column("run"), Column("RR", "number")), (("a", 0.5),), "RR by run")
        >>> page = Page("demo", (table, "a has RR 0.5."), (Conventions("RR", "RR"),)).renamed({"RR": "MRR"})
        >>> [column.name for column in page.parts[0].columns], page.parts[0].rows, page.parts[1], page.notes
        (['run', 'MRR'], (('a', 0.5),), 'a has MRR 0.5.', ('RR',))
        """
        names = {name: other for name, other in names.items() if name not in self.systems}
        if not names:
            return self
        listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        pattern = re.compile(rf"(?<![\w@.-])(?:{listed})(?![\w@(-]|\.\w)")
        seen = set() if used is None else used

        def other(name: Any) -> Any:
            if name in names:
                seen.add(name)
            return names.get(name, name)

        def of(value: Any) -> Any:
            if isinstance(value, str):
                text = pattern.sub(lambda found: str(other(found[0])), value)
                return value if isinstance(value, Conventions) else type(value)(text)
            if isinstance(value, Table):
                rows = tuple(tuple(map(other, row)) for row in value.rows)
                about = {"title": of(value.title), "notes": of(value.notes), "columns": of(value.columns)}
                return replace(value, rows=rows, **about)
            if isinstance(value, (tuple, list)):
                found = [of(each) for each in value]
                return value._make(found) if hasattr(value, "_make") else type(value)(found)
            if is_dataclass(value) and not isinstance(value, type):
                inside = {each.name: of(getattr(value, each.name)) for each in fields(value) if each.init}
                return replace(value, **inside)
            return value

        return replace(self, parts=of(self.parts), notes=of(self.notes))

    def without_repeats(self) -> Page:
        """Keep the first of repeated notes and captions, and tables with rows to show; with a caption or label, all."""
        if self.caption is not None or self.label is not None:
            return self
        seen: set[str] = set()

        def first(notes: Iterable[str]) -> tuple[str, ...]:
            found = tuple(note for note in notes if note not in seen)
            seen.update(found)
            return found

        def of(part: Any) -> Any:
            if isinstance(part, Table):
                return replace(part, notes=first(part.notes))
            caption = getattr(part, "caption", "")
            return replace(part, caption="".join(first([caption]))) if caption else part

        shown = (part for part in self.parts if getattr(part, "most", None) != 0)
        return replace(self, parts=tuple(map(of, shown)), notes=first(self.notes))

    def with_whole_conventions(self) -> Page:
        """Return the page with conventions in full, as in files."""
        return replace(self, notes=tuple(whole_note(note) for note in self.notes))

    @property
    def tables(self) -> Iterator[Table]:
        return (part for part in self.all_parts if isinstance(part, Table))

    @property
    def tables_for_machines(self) -> Iterator[Table]:
        return (table for table in self.tables if not table.for_people)

    @property
    def titled_tables(self) -> Iterator[tuple[str, Table]]:
        """The tables for machines with their titles, prefixed with their heading."""
        heading = ""
        for part in self.all_parts:
            if isinstance(part, Heading):
                heading = part
            elif isinstance(part, Table) and not part.for_people:
                yield ": ".join(filter(None, (heading, part.title))), part

    @property
    def charts(self) -> Iterator[Chart]:
        return (part for part in self.all_parts if not isinstance(part, str | Table))

    def drawn(
        self, paragraph: Callable[[str], _Drawn], table: Callable[[Table], _Drawn], chart: Callable[[Chart], _Drawn]
    ) -> list[_Drawn]:
        """Draw each part that people see: no details, no tables for machines only, and no charts that a format cannot
        draw."""
        drawn: list[_Drawn] = []
        for part in self.parts:
            if isinstance(part, str):
                drawn.append(paragraph(part))
            elif isinstance(part, Table):
                drawn += [] if all(column.for_machines for column in part.columns) else [table(part)]
            elif not isinstance(part, Detail):
                drawn.append(chart(part))
        return [each for each in drawn if each]


def whole_note(note: str) -> str:
    """Return a note as written to files."""
    return Conventions(note.whole, note.whole) if isinstance(note, Conventions) else note


class HasPage(Protocol):
    """An object with a page."""

    def page(self) -> Page: ...


class RowsOnDemand(Sequence[Row]):
    """Rows computed when they are read, because there may be very many and most formats do not need them."""

    def __init__(self, count: int, make: Callable[[], Iterable[Row]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return iter(self._make())

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]
