"""Judgments as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.arrays import Bytes, Floats, Ints, distinct, freeze
from gainful.core import core, default_threads
from gainful.data.ids import byte_order, pack, read_id, read_value
from gainful.errors import InputError, UsageError
from gainful.io.sources import Source, Text, open_source
from gainful.io.trec import raise_faults
from gainful.notation import count_of, number_text, read_number, text_of_id

if TYPE_CHECKING:
    from gainful._core import JudgmentText


@dataclass(frozen=True, eq=False)
class Qrels:
    """Graded judgments: which document has which grade for which query. Immutable.

    Grades are as the judges wrote them; conventions such as ``judges`` or ``negative`` are applied when the judgments
    meet a run. ``scale`` is the highest grade in the whole file (or given) and ``levels`` are all the grades in it;
    both survive :meth:`select`.

    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0.5}})
    >>> qrels.queries, qrels.scale, len(qrels)
    (['q1'], 2.0, 2)
    """

    name: str
    query_ids: tuple[bytes, ...]  # in byte order
    query: Ints  # row -> position in query_ids
    data: Bytes = field(repr=False)
    document_start: Ints = field(repr=False)
    document_length: Ints = field(repr=False)
    subtopic_ids: tuple[bytes, ...] = field(repr=False)
    subtopic: Ints = field(repr=False)
    grade: Floats = field(repr=False)
    scale: float
    levels: tuple[float, ...]
    line: Ints | None = field(default=None, repr=False)  # offset of each row's line, when it came from text
    is_part: bool = False  # selected from a whole: a run need not answer any query of a part

    def __post_init__(self) -> None:
        freeze(self.query, self.document_start, self.document_length, self.subtopic, self.grade)

    @classmethod
    def read(cls, source: Source, *, scale: float | None = None, threads: int | None = None) -> Qrels:
        """Judgments from TREC text (``query subtopic document grade``): a path, ``-`` or bytes, maybe compressed."""
        text = open_source(source)
        return cls.from_columns(text, core.read_judgments(text.data, threads or default_threads()), scale)

    @classmethod
    def from_columns(cls, text: Text, columns: JudgmentText, scale: float | None) -> Qrels:
        """Judgments from what the core has read of a text."""
        raise_faults(text.name, text.data, columns["faults"], columns["fault_count"], run=False)
        if not columns["grade"].size:
            raise InputError(f"{text.name}: expected at least one judgment, found none")
        return cls(
            text.name,
            tuple(columns["query_ids"]),
            columns["query"],
            text.data,
            columns["document_start"],
            columns["document_length"],
            tuple(columns["subtopic_ids"]),
            columns["subtopic"],
            columns["grade"],
            *_scale_and_levels(columns["grade"], scale, text.name),
            line=columns["line"],
        )

    @classmethod
    def from_dict(
        cls, judgments: Mapping[Any, Mapping[Any, Any]], *, scale: float | None = None, name: str = "<dict>"
    ) -> Qrels:
        """Judgments from ``{query: {document: grade}}``. A query without documents is judged, with nothing relevant."""
        names: list[bytes] = []
        queries: list[bytes] = []
        documents: list[bytes] = []
        grades: list[float] = []
        for query, grade_of in judgments.items():
            query_id = read_id(query, f"{name}: query")
            names.append(query_id)
            if not isinstance(grade_of, Mapping):
                raise InputError(f"{name}[{query!r}]: expected a dict of documents and grades, found {grade_of!r}")
            for document, grade in grade_of.items():
                where = f"{name}[{query!r}][{document!r}]"
                queries.append(query_id)
                documents.append(read_id(document, where))
                grades.append(read_value(grade, where, "grade"))
        if not grades:
            raise InputError(f"{name}: expected at least one judgment, found none")
        query_ids = byte_order(names)
        number = {identifier: i for i, identifier in enumerate(query_ids)}
        grade_column = np.array(grades)
        return cls(
            name,
            tuple(query_ids),
            np.fromiter((number[identifier] for identifier in queries), np.int64, len(queries)),
            *pack(documents),
            (b"0",),
            np.zeros(len(grades), np.int64),
            grade_column,
            *_scale_and_levels(grade_column, scale, name),
        )

    @classmethod
    def of(cls, value: Qrels | Source | Mapping[Any, Mapping[Any, Any]]) -> Qrels:
        """Judgments from whatever describes them: themselves, a dict, a path or bytes."""
        if isinstance(value, Qrels):
            return value
        return cls.from_dict(value) if isinstance(value, Mapping) else cls.read(value)

    def __len__(self) -> int:
        return int(self.grade.size)

    @property
    def queries(self) -> list[str]:
        """The judged queries, in byte order."""
        return [text_of_id(identifier) for identifier in self.query_ids]

    def select(self, queries: Iterable[str | bytes | int]) -> Qrels:
        """The judgments of some of the queries; scale and levels stay those of the whole."""
        if isinstance(queries, (str, bytes)):
            raise UsageError(f"{self.name}: expected several queries to select, found one text, {queries!r}")
        wanted = {read_id(query, f"{self.name}: query") for query in queries}
        if not wanted:
            raise UsageError(f"{self.name}: expected queries to select, found none")
        unknown = wanted.difference(self.query_ids)
        if unknown:
            first = text_of_id(min(unknown))
            raise UsageError(f"{self.name}: {count_of(len(unknown), 'query', 'queries')} not judged, '{first}' first")
        kept = np.array([identifier in wanted for identifier in self.query_ids], bool)
        rows = np.flatnonzero(kept[self.query])
        return replace(
            self,
            query_ids=tuple(identifier for identifier in self.query_ids if identifier in wanted),
            query=(np.cumsum(kept) - 1)[self.query[rows]],
            document_start=self.document_start[rows],
            document_length=self.document_length[rows],
            subtopic=self.subtopic[rows],
            grade=self.grade[rows],
            line=None if self.line is None else self.line[rows],
            is_part=True,
        )

    def document(self, row: int) -> bytes:
        """The document id of a row."""
        start = int(self.document_start[row])
        return self.data[start : start + int(self.document_length[row])].tobytes()


def _scale_and_levels(grades: Floats, scale: float | None, name: str) -> tuple[float, tuple[float, ...]]:
    levels = tuple(float(level) for level in distinct(grades))
    if scale is None:
        return levels[-1], levels
    given = read_number(scale, "scale")
    if given <= 0:
        raise UsageError(f"scale: expected a number above 0, found {number_text(given)}")
    if levels[-1] > given:
        raise InputError(
            f"{name}: expected grades up to the scale {number_text(given)}, found {number_text(levels[-1])}"
        )
    return given, levels
