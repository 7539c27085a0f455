"""Judgments as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError, option
from gainful.io.formats import Reading, read_content
from gainful.io.rows import (
    DocumentColumns,
    Entry,
    Frame,
    Nested,
    Origin,
    Rows,
    Spans,
    TextLines,
    gather_dicts,
    gather_entries,
    is_frame,
    place_in,
    raise_faults,
    wanted_ids,
)
from gainful.io.sources import Source, Text, as_source
from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats, Ints, distinct, freeze
from gainful.kernel.core import thread_count
from gainful.notation import count_of, number_text, printable, read_number, text_of_id

if TYPE_CHECKING:
    from gainful.data.exclusion import ExclusionLike
    from gainful.data.items import Items, ItemsLike
    from gainful.kernel.core import JudgmentText
    from gainful.policy import Policy

_ALL_RELEVANT = "every document in it counts as relevant, with grade 1"


def unused_note(table: str) -> str:
    """What is said of a table that no measure looks at."""
    instead = f"; {option('exclude')} leaves items out" if table == "training" else ""
    return f"no measure uses {option(table)}{instead}"


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(DocumentColumns):
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
    data: Bytes
    document_start: Ints
    document_length: Ints
    subtopic_ids: tuple[bytes, ...]
    subtopic: Ints
    grade: Floats
    scale: float
    levels: tuple[float, ...]
    origin: Origin | None = None  # where each row stands
    is_part: bool = False  # selected from a whole: a run need not answer any query of a part
    left_out: frozenset[bytes] = frozenset()  # the whole's other queries: judged, too
    notes: tuple[str, ...] = ()  # what was done to read them
    items: Items | None = None  # what is known of the documents

    def __post_init__(self) -> None:
        freeze(self.query, self.document_start, self.document_length, self.subtopic, self.grade)

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - it is what people call it
        columns: Mapping[str, str] | None = None,
        scale: float | None = None,
        threads: int | None = None,
    ) -> Qrels:
        """Judgments from a path, ``-``, bytes, NTCIR's folder or the id of a collection in ir_datasets.

        The format is recognised unless given; ``columns`` maps the roles query, document, grade and subtopic to the
        names that a header has for them.
        """
        content, name = read_content(source, Reading.checked(format, columns), run=False)
        if isinstance(content, Text):
            return cls.from_columns(content, core.read_judgments(content.data, thread_count(threads)), scale)
        return cls._of_content(content, name, scale).read_from(name)

    @classmethod
    def _of_content(cls, content: Rows | Iterable[Entry], name: str, scale: float | None = None) -> Qrels:
        if isinstance(content, Rows):
            return cls.from_rows(content, name, scale)
        return cls.of_nested(gather_entries(content, name, "grade"), name, scale)

    @classmethod
    def from_rows(cls, rows: Rows, name: str, scale: float | None = None) -> Qrels:
        """Judgments from rows of whatever source."""
        subtopics = None if rows.subtopic is None else core.number_ids(*rows.subtopic)
        grades = np.ones(rows.query[1].size) if rows.value is None else rows.value
        made = cls._of(name, *core.number_ids(*rows.query), rows.document, subtopics, grades, scale, rows.origin)
        ungraded = (f"{name}: no column for the grade; {_ALL_RELEVANT}",)
        return replace(made, notes=rows.notes if rows.value is not None else (*rows.notes, *ungraded))

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        columns: Mapping[str, str] | None = None,
        scale: float | None = None,
        name: str = "<frame>",
    ) -> Qrels:
        """Judgments from a data frame with columns for query, document and grade: pandas, polars, pyarrow, ...

        ``columns`` maps roles to names that are not understood by themselves, such as ``{"grade": "stars"}``. Cells may
        hold all documents of a query.
        """
        from gainful.io.frames import frame_content

        content = frame_content(frame, Reading.checked(columns=columns), run=False, name=name)
        return cls._of_content(content, name, scale)

    @classmethod
    def from_columns(cls, text: Text, columns: JudgmentText, scale: float | None) -> Qrels:
        """Judgments from what the core has read of a text."""
        raise_faults(text.name, text.data, columns["faults"], columns["fault_count"], run=False)
        return cls._of(
            text.name,
            columns["query_ids"],
            columns["query"],
            (text.data, columns["document_start"], columns["document_length"]),
            (columns["subtopic_ids"], columns["subtopic"]),
            columns["grade"],
            scale,
            TextLines(text.name, text.data, columns["line"]),
        ).read_from(text.name)

    @classmethod
    def from_dict(cls, judgments: Mapping[Any, Any], *, scale: float | None = None, name: str = "<dict>") -> Qrels:
        """Judgments from ``{query: {document: grade}}``, or ``{query: [document, ...]}`` where all are relevant.

        A query without documents is judged, with nothing relevant.
        """
        gathered = gather_dicts(judgments, name) or gather_entries(_entries(judgments, name), name, "grade")
        return cls.of_nested(gathered, name, scale)

    @classmethod
    def from_run(cls, run: Any, policy: Policy | str | None = None) -> Qrels:
        """A run in place of judgments, to compare others with it: its last document has grade 1, the one above 2.

        >>> Qrels.from_run({"q1": ["d1", "d2", "d3"]}).grade.tolist()
        [3.0, 2.0, 1.0]
        """
        from gainful.data.graded import ranked_documents

        lists = ranked_documents(run, policy)
        return cls.from_dict(
            {query: {d: len(ranked) - place for place, d in enumerate(ranked)} for query, ranked in lists.items()}
        )

    @classmethod
    def of_nested(cls, gathered: Nested, name: str, scale: float | None = None) -> Qrels:
        """Judgments from gathered entries."""
        order = sorted(range(len(gathered.query_ids)), key=gathered.query_ids.__getitem__)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        rows = int(gathered.offsets[-1])
        made = cls._of(
            name,
            [gathered.query_ids[i] for i in order],
            np.repeat(place, np.diff(gathered.offsets)),
            gathered.document,
            None,
            np.ones(rows) if gathered.value is None else gathered.value,
            scale,
            gathered.origin,
        )
        return made if gathered.value is not None else replace(made, notes=(f"{name}: no grades; {_ALL_RELEVANT}",))

    @classmethod
    def _of(
        cls,
        name: str,
        query_ids: Sequence[bytes],
        query: Ints,
        document: Spans,
        subtopics: tuple[Sequence[bytes], Ints] | None,
        grade: Floats | None,
        scale: float | None,
        origin: Origin,
    ) -> Qrels:
        if grade is None or not grade.size:
            raise InputError(f"{name}: expected at least one judgment, found none")
        subtopic_ids, subtopic = subtopics or ([b"0"], np.zeros(grade.size, np.int64))
        levels = _scale_and_levels(grade, scale, name)
        ids = tuple(query_ids), tuple(subtopic_ids)
        return cls(name, ids[0], query, *document, ids[1], subtopic, grade, *levels, origin=origin)

    @classmethod
    def of(cls, value: QrelsLike, columns: Mapping[str, str] | None = None) -> Qrels:
        """Judgments from whatever describes them: themselves, a dict, a data frame, a path or bytes, or a list of dicts
        as JSON lines have them.

        ``columns`` maps roles to names, where there are columns.
        """
        if isinstance(value, Qrels):
            return value
        if isinstance(value, Mapping):
            return cls.from_dict(value)
        if is_frame(value):
            return cls.from_frame(value, columns=columns)
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
            from gainful.io.json_text import read_objects

            return cls._of_content(read_objects(value, "<list>", Reading.checked(columns=columns), run=False), "<list>")
        return cls.read(as_source(value, "Qrels"), columns=columns)

    def __len__(self) -> int:
        return int(self.grade.size)

    def __repr__(self) -> str:
        queries = count_of(len(self.query_ids), "query", "queries")
        return f"<Qrels {printable(self.name, 80)}: {queries}, {count_of(len(self), 'judgment')}>"

    def select(self, queries: Iterable[str | bytes | int]) -> Qrels:
        """The judgments of some of the queries; scale and levels stay those of the whole."""
        wanted = wanted_ids(queries, self.name, "query", "queries")
        if not wanted:
            raise UsageError(f"{self.name}: expected queries to select, found none")
        unknown = wanted.difference(self.query_ids)
        if unknown:
            first = text_of_id(min(unknown))
            raise UsageError(f"{self.name}: {count_of(len(unknown), 'query', 'queries')} not judged, '{first}' first")
        kept = np.array([identifier in wanted for identifier in self.query_ids], bool)
        rows = np.flatnonzero(kept[self.query])
        return replace(
            self.take(rows),
            query_ids=tuple(identifier for identifier in self.query_ids if identifier in wanted),
            query=(np.cumsum(kept) - 1)[self.query[rows]],
            is_part=True,
            left_out=self.left_out.union(self.query_ids).difference(wanted),
        )

    def with_items(
        self,
        items: ItemsLike | None = None,
        training: ExclusionLike | None = None,
        columns: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Qrels:
        """The same judgments with what is known of documents, for measures of recommendation: a table of them with
        their attributes, and pairs of user and document from before; a file, a dict, a data frame each."""
        from gainful.data.items import Items

        given = {"items": items, "training": training}
        notes = (*self.notes, *(unused_note(table) for table, value in given.items() if value is not None))
        return replace(self, items=Items(items, training, columns), notes=notes).read_from(self.name)

    def take(self, rows: Ints) -> Qrels:
        """The judgments in some rows; all queries stay."""
        return replace(
            self,
            query=self.query[rows],
            document_start=self.document_start[rows],
            document_length=self.document_length[rows],
            subtopic=self.subtopic[rows],
            grade=self.grade[rows],
            origin=None if self.origin is None else self.origin.take(rows),
        )


def _entries(judgments: Mapping[Any, Any], name: str) -> Iterator[Entry]:
    for query, grade_of in judgments.items():
        where = place_in(name, query)
        if isinstance(grade_of, Mapping):
            yield Entry(query, list(grade_of), list(grade_of.values()), where)
        elif isinstance(grade_of, (list, tuple)):
            from gainful.io.json_text import listed_entry

            yield listed_entry(query, list(grade_of), where, {}, run=False)
        elif isinstance(grade_of, (set, frozenset)):
            yield Entry(query, sorted(grade_of, key=str), None, where)  # in the same order every time
        else:
            raise InputError(f"{where}: expected a dict of documents and grades, found {printable(repr(grade_of), 80)}")


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


#: Whatever describes judgments: themselves, a path or bytes, a data frame, ``{query: {document: grade}}`` or
#: ``{query: [document, ...]}``.
QrelsLike: TypeAlias = Qrels | Source | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | Frame
