"""What is known of queries beside their judgments: their texts, the segments they belong to, what each one counts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError, for_asker
from gainful.frozen import dataclass, field
from gainful.io.columns import JUDGMENT_NAMES, Names, find_role, folded, missing_column
from gainful.io.formats import Reading, format_of
from gainful.io.records import (
    Record,
    id_of_cell,
    is_empty_cell,
    name_of_table,
    number_of_cell,
    read_records,
    row_again,
)
from gainful.io.rows import is_frame, read_id
from gainful.io.sources import Source, open_source
from gainful.kernel.arrays import Bools, Floats
from gainful.notation import count_of, nearest, number_text, printable, some_of, text_of_id

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Whatever says something of queries, or names some of them.
QueriesLike: TypeAlias = "Queries | Source | Mapping[Any, Any] | Iterable[Any] | Frame"

_NAMES: Names = {
    "query": (
        *("query_id qid", "question_id topic_id", "id", "user_id", "query", "topic", "user", "question"),
        "query_text search_term search_query",
    ),
    "text": ("text query_text question", "query", "title"),
}
#: Judgments are read by the same names as elsewhere.
_JUDGED_NAMES: Names = {"query": (*JUDGMENT_NAMES["query"], "id"), "document": JUDGMENT_NAMES["document"]}
#: What tells a header from lines that begin with an id; a word of a text may be "question".
_ID_NAMES = _NAMES["query"][:-2]
_TABLES = ("csv", "tsv", "json", "jsonl", "parquet")
#: The segment of queries of which a table says nothing.
UNKNOWN = "(none)"


@dataclass(frozen=True, eq=False, repr=False)
class Queries:
    """A table of queries: for each its ``text`` if it has one, and any other columns, by which queries are grouped.

    ``weights`` names the column that says how much each query counts in means; queries without weight (0) are left out.
    ``only`` and ``exclude`` name queries that are taken alone, or left out: a file whose lines begin with ids, or ids.
    The table may be that of the judgments: then it has the columns that say the same in all rows of a query.
    ``called`` says what it calls query and document.

    >>> known = {"q1": {"kind": "long", "visits": 3}, "q2": {"kind": "short", "visits": 1}}
    >>> table = Queries(known, weights="visits")
    >>> table.segments("kind", ["q1", "q2"])
    {'long': [0], 'short': [1]}
    >>> table.weights_of(["q1", "q2"]).tolist()
    [1.5, 0.5]
    """

    table: QueriesLike | None = None
    weights: str | None = None
    only: Source | Iterable[Any] | None = None
    exclude: Source | Iterable[Any] | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", self._column(self.weights, "weights"))
        for what in ("only", "exclude"):
            if getattr(self, what) is not None:
                _ = self._named[what]

    @classmethod
    def of(cls, value: QueriesLike) -> Queries:
        """From a file, a dict of objects (or texts) by query, objects with a query's id each, or a data frame."""
        return value if isinstance(value, Queries) else cls(value)

    @property
    def name(self) -> str:
        """What messages call it: its file if it has one."""
        return name_of_table(self.table, "queries")

    def __repr__(self) -> str:
        columns = ", ".join(self.columns) or "no columns"
        return f"<Queries: {count_of(len(self._rows), 'query', 'queries')}, {columns}>"

    @property
    def _rows(self) -> dict[str, Record]:
        return self._table[0]

    @cached_property
    def _table(self) -> tuple[dict[str, Record], set[str]]:
        """The row of each query; and the columns of judgments that do not say the same in all rows of a query."""
        if self.table is None:
            return {}, set()
        rows: dict[str, Record] = {}
        varying: set[str] = set()
        records = read_records(self.table, self.name, (*_ID_NAMES, *map(folded, self.called.values())))
        for query, record, is_judgment in _by_query(records, self.name, self.called):
            first = rows.setdefault(query, record)
            differing = {name for name, value in record.values.items() if str(value) != str(first.values.get(name))}
            if differing and not is_judgment:
                raise row_again("query", query, record, first)
            varying |= differing
        if not rows:
            raise InputError(f"{self.name}: expected a table of queries, found an empty one")
        if varying:
            for query, row in rows.items():
                constant = {name: value for name, value in row.values.items() if name not in varying}
                rows[query] = row._replace(values=constant)
        return rows, varying

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns but that of the ids."""
        return list(dict.fromkeys(name for record in self._rows.values() for name in record.values))

    @cached_property
    def _text_column(self) -> str | None:
        place = find_role("text", self.columns, {}, self.name, _NAMES)
        return None if place is None else self.columns[place]

    def text(self, query: str) -> str | None:
        """What a query says, if the table has it."""
        record = self._rows.get(query)
        value = None if record is None or self._text_column is None else record.values.get(self._text_column)
        return None if value is None else str(value) or None

    @property
    def has_texts(self) -> bool:
        """Whether there are texts to show beside ids."""
        return self._text_column is not None

    def segments(self, column: str, queries: Sequence[str]) -> dict[str, list[int]]:
        """The places of queries by what a column says of them, in the order of its values; of those without, last."""
        found: dict[str, list[int]] = {}
        for place, segment in enumerate(self.segment_of_each(column, queries)):
            found.setdefault(segment, []).append(place)
        return {name: found[name] for name in sorted(found, key=in_order)}

    def segment_of_each(self, column: str, queries: Sequence[str]) -> list[str]:
        """What a column says of each query."""
        column = self._column(column, "by")
        rows = (self._rows.get(query) for query in queries)
        return [_cell_text(None if row is None else row.values.get(column)) for row in rows]

    def weights_of(self, queries: Sequence[str]) -> Floats | None:
        """How much each query counts, 1 in the mean; None where all count alike."""
        if self.weights is None:
            return None
        found = np.array([self._weight(query) for query in queries], np.float64)
        found /= max(float(found.max(initial=0.0)), 1.0)  # their sum has to be a number
        total = math.fsum(found.tolist())
        if found.size and not total:
            raise InputError(f"{self.name}: expected a weight above 0 in column '{self.weights}', found none")
        return found * (found.size / total) if found.size else found

    def _weight(self, query: str) -> float:
        record = self._rows.get(query)
        value = None if record is None else record.values.get(self.weights or "")
        if record is None or is_empty_cell(value):
            raise InputError(
                f"{self.name if record is None else record.where}: expected a weight of query '{printable(query)}' in "
                f"column '{self.weights}', found none",
                "0 leaves a query out",
            )
        weight = number_of_cell(record, self.weights or "")
        if weight < 0:
            raise InputError(f"{record.where}: expected a weight of at least 0, found {number_text(weight)}")
        return weight

    def kept(self, queries: Sequence[str]) -> Bools | None:
        """Which queries are taken: those named alone, without those left out and those of weight 0; None for all."""
        if self.only is None and self.exclude is None and self.weights is None:
            return None
        keep = np.ones(len(queries), bool)
        for what, wanted in (("only", True), ("exclude", False)):
            if getattr(self, what) is not None:
                named = self._named[what]
                has = np.fromiter((query in named for query in queries), bool, len(queries))
                if not has.any():
                    there, asked = some_of(list(queries), 3), some_of(sorted(named), 3)
                    raise InputError(
                        f"{_flag(what)}: expected some of the queries {there}, found none of them, but {asked}",
                        "its lines begin with ids as the judgments have them",
                    )
                keep &= has if wanted else ~has
        if self.weights is not None:
            taken = np.flatnonzero(keep).tolist()
            keep[[place for place in taken if not self._weight(queries[place])]] = False
        if not keep.any():
            raise InputError(
                f"queries: expected some of the {count_of(len(queries), 'query', 'queries')} to be left, found none",
                f"ids are like {some_of(list(queries), 3)}",
            )
        return None if keep.all() else keep

    @cached_property
    def _named(self) -> dict[str, frozenset[str]]:
        """The ids that are taken alone, and those that are left out."""
        return {
            what: frozenset(_ids_in(value, what))
            for what in ("only", "exclude")
            if (value := getattr(self, what)) is not None
        }

    def check(self, queries: Sequence[str]) -> None:
        """Refuses a table that says nothing of any of the queries."""
        if self._rows and not any(query in self._rows for query in queries):
            there, wanted = some_of(list(self._rows), 3), some_of(list(queries), 3)
            raise InputError(f"{self.name}: expected queries such as {wanted}, found none of them, but {there}")

    def passed_over(self, queries: Sequence[str]) -> list[str]:
        """What is said of named queries that are not among all there are."""
        unknown = {what: sorted(named.difference(queries)) for what, named in self._named.items()}
        return [
            f"{_flag(what)}: {count_of(len(ids), 'query', 'queries')} not judged, passed over: {some_of(ids, 3)}"
            for what, ids in unknown.items()
            if ids
        ]

    def notices(self, queries: Sequence[str]) -> list[str]:
        """What is legal but suspicious of the table."""
        without = [query for query in queries if query not in self._rows] if self._rows else []
        if not without:
            return []
        return [f"{self.name}: {count_of(len(without), 'query', 'queries')} not in the table: {some_of(without)}"]

    def _column(self, column: str, what: str) -> str:
        """The column of that name, or the only one that differs from it in small and capital letters."""
        if not isinstance(column, str):
            raise UsageError(f"{what}: expected the name of a column, found {column!r}")
        if os.path.isfile(column) and (self.table is None or column not in self.columns):
            asked = for_asker(f"--queries {column} --{what} COLUMN", f"Queries({column!r}, {what}='COLUMN')")
            raise UsageError(
                f"{what}: expected the name of a column, found the file {column}",
                f"{asked}; its columns: {some_of(Queries(column).columns, 12)}",
            )
        if self.table is None:
            raise UsageError(f"{what}: expected a table of queries, found none", "--queries FILE (queries= in Python)")
        alike = [name for name in self.columns if name.casefold() == column.casefold()]
        if column not in self.columns and len(alike) != 1:
            varying = self._table[1]
            there = ", ".join(self.columns) or "none"
            raise UsageError(
                f"{what}: no column of {self.name} is called '{printable(column)}'; there are {there}",
                "one that says the same in all rows of a query" if column in varying else nearest(column, self.columns),
            )
        return column if column in self.columns else alike[0]


def judgments_about_queries(judgments: object, called: Mapping[str, str]) -> Queries | None:
    """The table of judgments, if they are one: it may say something of queries, too."""
    is_table = is_frame(judgments)
    if isinstance(judgments, (str, os.PathLike)) and os.path.isfile(judgments):
        is_table = format_of(open_source(judgments), Reading(columns=called), run=False) in _TABLES
    return Queries(judgments, called=called) if is_table else None


def _flag(what: str) -> str:
    """What those who ask call the queries that are taken alone, or left out."""
    return for_asker(f"--{what}-queries", what)


def read_ids(value: Source | Iterable[Any], what: str) -> list[str]:
    """The ids of queries in a table, or with which the lines of a file begin, or one by one; each once.

    >>> read_ids(b"301 0 FT911-3 1\\n301 0 FT911-4 0\\n302 0 FT911-3 0\\n", "only")
    ['301', '302']
    """
    return list(dict.fromkeys(_ids_in(value, what)))


def _ids_in(value: Source | Iterable[Any], what: str) -> Iterable[str]:
    if isinstance(value, Queries):
        return value._rows
    if not isinstance(value, (str, bytes, bytearray, memoryview, Mapping)) and isinstance(value, Iterable):
        values = list(value)
        if not any(isinstance(each, Mapping) for each in values):
            return [text_of_id(read_id(each, what)) for each in values]
        value = values
    records = read_records(value, what, _ID_NAMES, bare=True)
    return [query for query, *_ in _by_query(records, name_of_table(value, what), {})]


def _by_query(records: Iterable[Record], name: str, called: Mapping[str, str]) -> Iterator[tuple[str, Record, bool]]:
    """The query of every record, the record without its column, and whether it is a judgment: of a document, too."""
    columns: dict[tuple[str, ...], tuple[str, bool]] = {}
    for record in records:
        names = tuple(record.values)
        if names not in columns:
            is_judgment = (
                called.get("document") in names or find_role("document", names, {}, name, _JUDGED_NAMES) is not None
            )
            given = {"query": called["query"]} if called.get("query") in names else {}
            place = find_role("query", names, given, name, _JUDGED_NAMES if is_judgment else _NAMES)
            if place is None:
                raise missing_column("query", names, name, _NAMES)
            columns[names] = names[place], is_judgment
        column, is_judgment = columns[names]
        about = {each: value for each, value in record.values.items() if each != column}
        query = text_of_id(id_of_cell(record.values[column], record.where))
        yield query, record._replace(values=about), is_judgment


def _cell_text(value: object) -> str:
    if is_empty_cell(value):
        return UNKNOWN
    return number_text(value) if isinstance(value, float) and math.isfinite(value) else str(value)


def in_order(segment: str) -> tuple[bool, bool, float, str]:
    """Numbers by value, then texts; what is unknown last."""
    try:
        return segment == UNKNOWN, False, float(segment), segment
    except ValueError:
        return segment == UNKNOWN, True, 0.0, segment
