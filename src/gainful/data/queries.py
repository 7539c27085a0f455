"""Information about queries other than judgments: texts, segments and weights."""

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
    duplicate_row,
    id_of_cell,
    is_empty_cell,
    name_of_table,
    number_of_cell,
    read_records,
)
from gainful.io.rows import is_frame, read_id
from gainful.io.sources import Source, open_source
from gainful.kernel.arrays import Bools, Floats
from gainful.notation import count_of, grouped, nearest, number_text, printable, some_of, text_of_id

if TYPE_CHECKING:
    from gainful.io.rows import Frame

#: Any supported table of queries, or selection of some of them.
QueriesLike: TypeAlias = "Queries | Source | Mapping[Any, Any] | Iterable[Any] | Frame"

_NAMES: Names = {
    "query": (
        *("query_id qid", "question_id topic_id", "id", "user_id", "query", "topic", "user", "question"),
        "query_text search_term search_query",
    ),
    "text": ("text query_text question", "query", "title"),
}
#: Judgments are recognised by the usual names.
_JUDGED_NAMES: Names = {"query": (*JUDGMENT_NAMES["query"], "id"), "document": JUDGMENT_NAMES["document"]}
#: Names that mark a header rather than a line that begins with an ID; a text may contain the word "question".
_ID_NAMES = _NAMES["query"][:-2]
_TABLES = ("csv", "tsv", "json", "jsonl", "parquet")
#: The segment of queries that are not in the table.
UNKNOWN = "(none)"


@dataclass(frozen=True, eq=False, repr=False)
class Queries:
    """A table of queries with their ``text``, if known, and other columns by which queries can be grouped.

    ``weights`` names the column of weights in means; queries of weight 0 are excluded. ``only`` and ``exclude`` select
    or exclude queries: a file with lines that begin with IDs, or IDs. The table may be that of the judgments, of which
    only columns with one value per query are used. ``called`` names its columns of query and document.

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
        """Return a table from a file, a dict of objects or texts by query, objects with a query ID, or a frame."""
        return value if isinstance(value, Queries) else cls(value)

    @property
    def name(self) -> str:
        """Name in messages: the path of the file if there is one."""
        return name_of_table(self.table, "queries")

    def __repr__(self) -> str:
        columns = ", ".join(self.columns) or "no columns"
        return f"<Queries: {count_of(len(self._rows), 'query', 'queries')}, {columns}>"

    @property
    def _rows(self) -> dict[str, Record]:
        return self._table[0]

    @cached_property
    def _table(self) -> tuple[dict[str, Record], set[str]]:
        """The row of each query, and the columns of judgments that vary within a query."""
        if self.table is None:
            return {}, set()
        rows: dict[str, Record] = {}
        varying: set[str] = set()
        records = read_records(self.table, self.name, (*_ID_NAMES, *map(folded, self.called.values())))
        for query, record, is_judgment in _by_query(records, self.name, self.called):
            first = rows.setdefault(query, record)
            differing = {name for name, value in record.values.items() if str(value) != str(first.values.get(name))}
            if differing and not is_judgment:
                raise duplicate_row("query", query, record, first)
            varying |= differing
        if not rows:
            raise InputError(f"{self.name}: the table of queries is empty")
        if varying:
            for query, row in rows.items():
                constant = {name: value for name, value in row.values.items() if name not in varying}
                rows[query] = row._replace(values=constant)
        return rows, varying

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns except the ID."""
        return list(dict.fromkeys(name for record in self._rows.values() for name in record.values))

    @cached_property
    def _text_column(self) -> str | None:
        place = find_role("text", self.columns, {}, self.name, _NAMES)
        return None if place is None else self.columns[place]

    def text(self, query: str) -> str | None:
        """Return the text of a query, if known."""
        record = self._rows.get(query)
        value = None if record is None or self._text_column is None else record.values.get(self._text_column)
        return None if value is None else str(value) or None

    @property
    def has_texts(self) -> bool:
        """Whether the table has a column of texts."""
        return self._text_column is not None

    def segments(self, column: str, queries: Sequence[str]) -> dict[str, list[int]]:
        """Return the positions of queries by their value in a column, in the order of values, missing values last."""
        found = grouped((segment, place) for place, segment in enumerate(self.segment_of_each(column, queries)))
        return {name: found[name] for name in sorted(found, key=in_order)}

    def segment_of_each(self, column: str, queries: Sequence[str]) -> list[str]:
        """Return the value of each query in a column."""
        column = self._column(column, "by")
        rows = (self._rows.get(query) for query in queries)
        return [_cell_text(None if row is None else row.values.get(column)) for row in rows]

    def weights_of(self, queries: Sequence[str]) -> Floats | None:
        """Return the weight of each query, with mean 1; None if all are equal."""
        if self.weights is None:
            return None
        found = np.array([self._weight(query) for query in queries], np.float64)
        found /= max(float(found.max(initial=0.0)), 1.0)  # avoids overflow of the sum
        total = math.fsum(found.tolist())
        if found.size and not total:
            raise InputError(f"{self.name}: all weights in column '{self.weights}' are 0")
        return found * (found.size / total) if found.size else found

    def _weight(self, query: str) -> float:
        record = self._rows.get(query)
        value = None if record is None else record.values.get(self.weights or "")
        if record is None or is_empty_cell(value):
            raise InputError(
                f"{self.name if record is None else record.where}: no weight for query '{printable(query)}' in "
                f"column '{self.weights}'",
                "a weight of 0 excludes a query",
            )
        weight = number_of_cell(record, self.weights or "")
        if weight < 0:
            raise InputError(f"{record.where}: expected a weight of at least 0, found {number_text(weight)}")
        return weight

    def kept(self, queries: Sequence[str]) -> Bools | None:
        """Return whether each query is kept, after ``only``, ``exclude`` and weights of 0; None if all are."""
        if self.only is None and self.exclude is None and self.weights is None:
            return None
        keep = np.ones(len(queries), bool)
        for what, named in self._named.items():
            has = np.fromiter((query in named for query in queries), bool, len(queries))
            if not has.any():
                there, asked = some_of(list(queries), 3), some_of(sorted(named), 3)
                message = f"{_flag(what)}: no matching query: expected queries such as {there}, found {asked}"
                raise InputError(message, "lines must begin with query ids as in the judgments")
            keep &= has if what == "only" else ~has
        if self.weights is not None:
            keep[[place for place in np.flatnonzero(keep).tolist() if not self._weight(queries[place])]] = False
        if not keep.any():
            total = count_of(len(queries), "query", "queries")
            raise InputError(f"queries: none of the {total} is left", f"ids are like {some_of(list(queries), 3)}")
        return None if keep.all() else keep

    @cached_property
    def _named(self) -> dict[str, frozenset[str]]:
        given = {"only": self.only, "exclude": self.exclude}
        return {what: frozenset(_ids_in(value, what)) for what, value in given.items() if value is not None}

    def check(self, queries: Sequence[str]) -> None:
        """Raise InputError if the table contains none of the queries."""
        if self._rows and not any(query in self._rows for query in queries):
            there, wanted = some_of(list(self._rows), 3), some_of(list(queries), 3)
            raise InputError(f"{self.name}: no matching query: expected queries such as {wanted}, found {there}")

    def passed_over(self, queries: Sequence[str]) -> list[str]:
        """Return notices about selected or excluded queries that are not judged."""
        unknown = {what: sorted(named.difference(queries)) for what, named in self._named.items()}
        return [
            f"{_flag(what)}: {count_of(len(ids), 'query', 'queries')} not judged, ignored: {some_of(ids, 3)}"
            for what, ids in unknown.items()
            if ids
        ]

    def notices(self, queries: Sequence[str]) -> list[str]:
        """Return notices about queries that are not in the table."""
        without = [query for query in queries if query not in self._rows] if self._rows else []
        if not without:
            return []
        return [f"{self.name}: {count_of(len(without), 'query', 'queries')} not in the table: {some_of(without)}"]

    def _column(self, column: str, what: str) -> str:
        """Return the column with this name, or the only one that differs from it only in case."""
        if not isinstance(column, str):
            raise UsageError(f"{what}: expected the name of a column, found {column!r}")
        if os.path.isfile(column) and (self.table is None or column not in self.columns):
            asked = for_asker(f"--queries {column} --{what} COLUMN", f"Queries({column!r}, {what}='COLUMN')")
            asked += f"; its columns: {some_of(Queries(column).columns, 12)}"
            raise UsageError(f"{what}: expected the name of a column, found the file {column}", asked)
        if self.table is None:
            raise UsageError(f"{what}: requires a table of queries", "use --queries FILE (queries= in Python)")
        alike = [name for name in self.columns if name.casefold() == column.casefold()]
        if column not in self.columns and len(alike) != 1:
            varying = self._table[1]
            there = ", ".join(self.columns) or "none"
            hint = "use a column with one value per query" if column in varying else nearest(column, self.columns)
            raise UsageError(f"{what}: no column '{printable(column)}' in {self.name}; columns: {there}", hint)
        return column if column in self.columns else alike[0]


def judgments_about_queries(judgments: object, called: Mapping[str, str]) -> Queries | None:
    """Return the judgments as a table of queries if they have columns, which may describe queries."""
    is_table = is_frame(judgments)
    if isinstance(judgments, (str, os.PathLike)) and os.path.isfile(judgments):
        is_table = format_of(open_source(judgments), Reading(columns=called), run=False) in _TABLES
    return Queries(judgments, called=called) if is_table else None


def _flag(what: str) -> str:
    return for_asker(f"--{what}-queries", what)


def read_ids(value: Source | Iterable[Any], what: str) -> list[str]:
    """Return the distinct IDs of queries in a table, at the beginning of each line of a file, or in an iterable.

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
    """Yield the query of every record, the record without that column, and whether it also has a document."""
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
    """Return a sort key: numbers by value, then texts, then unknown."""
    try:
        return segment == UNKNOWN, False, float(segment), segment
    except ValueError:
        return segment == UNKNOWN, True, 0.0, segment
