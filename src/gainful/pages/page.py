"""The output of a command as data: tables, charts, sentences and notes, without layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from gainful.frozen import dataclass, field, fields, is_dataclass, replace
from gainful.pages.charts import Chart

_Drawn = TypeVar("_Drawn")

#: One value of a table; None (or NaN) is a value that does not exist. Of what is so or not people see the yes alone.
Cell: TypeAlias = str | bool | int | float | None
Row: TypeAlias = tuple[Cell, ...]

#: How a column's values are meant: ``share`` is a fraction that people read as per cent; ``difference`` belongs to the
#: column before it, where people see it in parentheses; ``marks`` (letters, daggers) too, raised in papers.
Kind: TypeAlias = Literal["text", "number", "count", "share", "difference", "marks"]


@dataclass(frozen=True)
class Column:
    """A column: its name, what its values are, and how people want to see them.

    ``places`` are decimal places: 4 if not given, of per cent 1, of counts always none. ``none`` stands where there is
    no value. ``for_machines`` is what only csv, jsonl and trec write, because people read it elsewhere on the page.
    ``get`` takes the value from a record, of which :meth:`Table.of` makes a row. Numbers may be ``signed``.
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
    """Rows under named columns. The leading text columns say what a row is about.

    ``marked`` are the cells (row, column) to be emphasised, such as the best of a column; ``notes`` stand below. A note
    that starts with ``* `` says what a mark means. People see the first ``most`` rows, machines have all of them.
    ``for_people`` is what csv, jsonl and trec leave out, because machines have all of it elsewhere on the page.
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
        """A row a record: each column takes its value, by default the attribute that is called like the column.

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
        """How many leading columns name the row: all texts before the first value; of texts only, one."""
        texts = next((i for i, column in enumerate(self.columns) if column.kind != "text"), 1)
        return max(1, texts)


_KINDS: dict[str, Kind] = {"#": "count", ".": "number", "+": "number", "%": "share", "±": "difference"}
_NAME_AND_KIND = re.compile(r"(.*?)(?: ([#.%±+])(\d*))?(?: ← ([\w.]+))?")


def head(names: str | Iterable[str], *, for_machines: bool = False, none: str = "-") -> tuple[Column, ...]:
    """The columns of a table as its head reads, with a bar between names, or one by one.

    What a column's values are stands behind its name: ``#`` counts, ``.`` numbers, ``.12`` those with twelve places and
    ``+4`` those with a sign, ``%`` shares, ``±1`` the difference that belongs to the column before; all else is text.
    ``← test.sizes.0`` is where a record has the value, if not in the attribute of that name: None where there is
    nothing on the way.

    >>> [(column.name, column.kind, column.places) for column in head("run | documents # ← n | AP .12")]
    [('run', 'text', None), ('documents', 'count', None), ('AP', 'number', 12)]
    """
    columns = []
    for text in names.split(" | ") if isinstance(names, str) else names:
        found = _NAME_AND_KIND.fullmatch(text)
        assert found is not None  # any text is a name
        name, kind, places, path = found.groups()
        how = _KINDS[kind] if kind else "text", int(places) if places else None, none, for_machines
        get = partial(_at, path.split(".")) if path else None
        columns.append(Column(name, *how, get=get, signed=kind == "+"))
    return tuple(columns)


def _at(path: Sequence[str], record: Any) -> Any:
    for step in path:
        record = None if record is None else record[int(step)] if step.isdigit() else getattr(record, step)
    return record


class ScoreLine(NamedTuple):
    """One value of an evaluation, for machines. ``query`` is None for the aggregate; ``difference`` is to the baseline,
    if there is one; ``measure`` is the measure's text, ``trec_name`` what trec_eval calls it."""

    run: str
    query: str | None
    measure: str
    trec_name: str
    value: Cell
    status: str | None = None
    difference: Cell = None


class Heading(str):
    """A paragraph that names all that comes below it, until the next one."""

    __slots__ = ()


class Conventions(str):
    """A note that says by which conventions numbers came about: in short, as people read it, and in ``whole``."""

    __slots__ = ("whole",)
    whole: str

    def __new__(cls, short: str, whole: str) -> Conventions:
        note = super().__new__(cls, short)
        note.whole = whole
        return note


@dataclass(frozen=True)
class Detail:
    """Parts of a page that people see if they ask for details; machines always have them, and figures draw them."""

    parts: tuple[Table | Chart | str, ...]


@dataclass(frozen=True, eq=False)
class Page:
    """What a command shows: tables, charts and paragraphs in order, then notes (a signature, what a mark means).

    A paragraph may have several lines; one that is indented by four spaces stays as it is, as formulas want it. A
    :class:`Heading` opens a section.
    ``header`` opens the JSON lines (what takes time to find is a function there), ``notes_for_machines`` are what they
    have of the notes, if not all; ``command`` is the command's name. ``scores`` stand in the place of the first part
    where a format has a line for every value, called by their ``unit``; ``keeps_places`` has every column keep a place
    for its mark even where none is, so that columns never move. ``caption`` and ``label`` are what a paper calls its
    (first) table, ``systems`` those that other figures of the same call have.

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
        """Itself: what can be shown has a page."""
        return self

    @property
    def all_parts(self) -> Iterator[Table | Chart | str]:
        """The parts, those of details in their place."""
        for part in self.parts:
            yield from part.parts if isinstance(part, Detail) else (part,)

    def detailed(self) -> Page:
        """The page with details for all."""
        return replace(self, parts=tuple(self.all_parts))

    def renamed(self, names: Mapping[str, str], used: set[str] | None = None) -> Page:
        """The page with other names for measures, in columns, cells, sentences and charts.

        Conventions and systems keep their names. The names that were found are added to ``used``.

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
                return replace(
                    value, **{each.name: of(getattr(value, each.name)) for each in fields(value) if each.init}
                )
            return value

        return replace(self, parts=of(self.parts), notes=of(self.notes))

    def without_repeats(self) -> Page:
        """The page with every note and caption where it stands first: people read it once. Tables that are to stand by
        themselves, with a caption or a label, keep all."""
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

        return replace(self, parts=tuple(map(of, self.parts)), notes=first(self.notes))

    def with_whole_conventions(self) -> Page:
        """The page with its conventions in full, as files have them."""
        return replace(self, notes=tuple(whole_note(note) for note in self.notes))

    @property
    def tables(self) -> Iterator[Table]:
        """The tables, in order."""
        return (part for part in self.all_parts if isinstance(part, Table))

    @property
    def tables_for_machines(self) -> Iterator[Table]:
        """The tables without those that are for people only."""
        return (table for table in self.tables if not table.for_people)

    @property
    def titled_tables(self) -> Iterator[tuple[str, Table]]:
        """The tables for machines with their titles, after the heading that they stand under."""
        heading = ""
        for part in self.all_parts:
            if isinstance(part, Heading):
                heading = part
            elif isinstance(part, Table) and not part.for_people:
                yield ": ".join(filter(None, (heading, part.title))), part

    @property
    def charts(self) -> Iterator[Chart]:
        """The charts, in order."""
        return (part for part in self.all_parts if isinstance(part, Chart))

    def drawn(
        self, paragraph: Callable[[str], _Drawn], table: Callable[[Table], _Drawn], chart: Callable[[Chart], _Drawn]
    ) -> list[_Drawn]:
        """What people see of each part, drawn as what it is: no details, no tables that are for machines only, and no
        charts that a format does not draw."""
        drawn: list[_Drawn] = []
        for part in self.parts:
            if isinstance(part, str):
                drawn.append(paragraph(part))
            elif isinstance(part, Chart):
                drawn.append(chart(part))
            elif isinstance(part, Table) and not all(column.for_machines for column in part.columns):
                drawn.append(table(part))
        return [each for each in drawn if each]


def whole_note(note: str) -> str:
    """A note as files have it."""
    return Conventions(note.whole, note.whole) if isinstance(note, Conventions) else note


class HasPage(Protocol):
    """An object with a page."""

    def page(self) -> Page:
        """The data that formats draw."""
        ...


class RowsOnDemand(Sequence[Row]):
    """Rows that are made when they are read: there may be very many, and most formats need none of them."""

    def __init__(self, count: int, make: Callable[[], Iterable[Row]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return iter(self._make())

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]
