"""Judgments as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gainful.data.exclusion import ExclusionLike
from gainful.data.run import Run, RunLike, fitting_policy, join_columns
from gainful.errors import InputError, UsageError, option
from gainful.frozen import dataclass, replace
from gainful.io.formats import Reading
from gainful.io.readers import read_dict, read_rows
from gainful.io.rows import NOWHERE, DocumentColumns, Frame, ItemRows, Origin, Rows, wanted_ids
from gainful.io.sources import Source, Text, as_source
from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats, Ints, distinct, freeze
from gainful.kernel.core import default_threads, thread_count
from gainful.kernel.parallel import Progress
from gainful.notation import count_of, number_text, printable, read_number, text_of_id
from gainful.policy import Policy, PolicyLike

if TYPE_CHECKING:
    from gainful.data.items import Items, ItemsLike

_ALL_RELEVANT = "every listed document counts as relevant, with grade 1"


def unused_note(table: str) -> str:
    """Return the note about a table that no measure uses."""
    instead = f"; use {option('exclude')} to exclude items" if table == "training" else ""
    return f"no measure uses {option(table)}{instead}"


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(DocumentColumns):
    """Graded judgments of documents by query. Immutable.

    Grades are unchanged; conventions such as ``judges`` or ``negative`` are applied when judgments are joined with a
    run. ``scale`` is the highest grade in the file (or given) and ``levels`` are all distinct grades; both are
    preserved by :meth:`select`.

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
    origin: Origin = NOWHERE  # places of the rows
    is_part: bool = False  # selected from a whole: a run need not answer any query of a part
    left_out: frozenset[bytes] = frozenset()  # the other queries of the whole, which are also judged
    has_users: bool = False  # queries are users, and documents items
    notes: tuple[str, ...] = ()  # repairs and assumptions made while reading
    items: Items | None = None  # information about the documents
    intents: Mapping[bytes, Mapping[bytes, float]] | None = None  # sub-topic probabilities; None: uniform

    def __post_init__(self) -> None:
        freeze(self.query, self.document_start, self.document_length, self.subtopic, self.grade)

    @classmethod
    def read(
        cls,
        source: Source | Text,
        *,
        format: str | None = None,  # noqa: A002 - the usual name
        columns: Mapping[str, str] | None = None,
        grades: Mapping[str, float] | None = None,
        scale: float | None = None,
        threads: int | None = None,
    ) -> Qrels:
        """Read judgments from a path, ``-``, bytes, an NTCIR folder or the ID of a collection in ir_datasets.

        The format is recognised unless given; ``columns`` maps the roles query, document, grade and subtopic to names
        in the header, ``grades`` words to numbers: ``{"Perfect": 3, "Good": 2, "Bad": 0}``.
        """
        how = Reading.checked(format, columns, grades=grades)._replace(threads=thread_count(threads))
        return cls._read(as_source(source, "Qrels"), how, scale)

    @classmethod
    def _read(cls, value: Any, how: Reading, scale: float | None = None) -> Qrels:
        found = cls.from_rows(read_rows(value, how, run=False), scale=scale)
        return found.read_from(found.name)

    @classmethod
    def from_rows(cls, rows: Rows, name: str | None = None, scale: float | None = None) -> Qrels:
        """Return judgments from rows; without grades every document is relevant."""
        name, rows = rows.origin.name if name is None else name, rows.by_query_id()
        if not rows.size:
            raise InputError(f"{name}: no judgments")
        notes, grade = rows.notes, rows.value
        if grade is None:
            lacking = "grades" if isinstance(rows.origin, ItemRows) else "column for the grade"
            grade, notes = np.ones(rows.size), (*notes, f"{name}: no {lacking}; {_ALL_RELEVANT}")
        subtopic_ids, subtopic = rows.subtopic or ([b"0"], np.zeros(rows.size, np.int64))
        levels = tuple(float(level) for level in distinct(grade))
        # Nuggets have a scale of their own, support, whether or not any is supported in full.
        highest = max(levels[-1], 1.0 if rows.intents else levels[-1]) if scale is None else read_number(scale, "scale")
        if scale is not None and highest <= 0:
            raise UsageError(f"scale: expected a number above 0, found {number_text(highest)}")
        if levels[-1] > highest:
            found = f"found {number_text(levels[-1])}"
            raise InputError(f"{name}: expected grades up to the scale {number_text(highest)}, {found}")
        columns = tuple(rows.query_ids), rows.query, *rows.document, tuple(subtopic_ids), subtopic, grade
        about: dict[str, Any] = {"has_users": rows.has_users, "notes": notes, "intents": rows.intents}
        return cls(name, *columns, highest, levels, rows.origin, **about)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        columns: Mapping[str, str] | None = None,
        grades: Mapping[str, float] | None = None,
        scale: float | None = None,
        name: str = "<frame>",
    ) -> Qrels:
        """Return judgments from a data frame with columns for query, document and grade: pandas, polars, pyarrow, ...

        ``columns`` maps roles to names that are not recognised, such as ``{"grade": "stars"}``. Cells may hold all
        documents of a query. ``grades`` maps words to numbers.
        """
        from gainful.io.frames import read_frame

        how = Reading.checked(columns=columns, grades=grades)
        return cls.from_rows(read_frame(frame, how, run=False, name=name), scale=scale)

    @classmethod
    def from_dict(cls, judgments: Mapping[Any, Any], *, scale: float | None = None, name: str = "<dict>") -> Qrels:
        """Return judgments from ``{query: {document: grade}}``, or from lists of relevant documents by query.

        A query without documents is judged, with nothing relevant.
        """
        return cls.from_rows(read_dict(judgments, name, run=False), scale=scale)

    @classmethod
    def from_run(cls, run: RunLike, policy: PolicyLike = None) -> Qrels:
        """Return a run as judgments, to compare other runs with it: grade 1 for its last document, 2 for the one above.

        >>> Qrels.from_run({"q1": ["d1", "d2", "d3"]}).grade.tolist()
        [3.0, 2.0, 1.0]
        """
        found = Run.of(run, policy=policy)
        # If all documents are judged, the join returns the rows in rank order.
        order = sorted(range(len(found.query_ids)), key=found.query_ids.__getitem__)
        found = found.take(np.array(order, np.int64))
        index = core.JudgmentIndex(list(found.query_ids), found.query_of_rows, *found.document_spans)
        settled = fitting_policy(found, Policy.of(policy))
        joined = join_columns(index, found.query_ids, found, settled, default_threads(), Progress(), want_rows=True)
        ranked = np.split(joined["rows"], np.cumsum(joined["retrieved"])[:-1])
        return cls.from_dict(
            {
                query: {document: rows.size - place for place, document in enumerate(found.documents(rows))}
                for query, rows in zip(found.query_ids, ranked, strict=True)
            }
        )

    @classmethod
    def of(
        cls, value: QrelsLike, columns: Mapping[str, str] | None = None, grades: Mapping[str, float] | None = None
    ) -> Qrels:
        """Return judgments from any supported input: a Qrels, a dict, a data frame, a path, bytes, or a list of dicts
        as in JSON lines.

        ``columns`` maps roles to the names of columns or keys, and ``grades`` words to numbers.
        """
        if isinstance(value, Qrels):
            if grades:
                raise UsageError("grades: cannot be used with a Qrels", "use Qrels.read(path, grades=...)")
            return value
        how = Reading.checked(columns=columns, grades=grades)._replace(threads=default_threads())
        return cls._read(value, how)

    @property
    def query_of_rows(self) -> Ints:
        return self.query

    def __len__(self) -> int:
        return int(self.grade.size)

    def __repr__(self) -> str:
        queries = count_of(len(self.query_ids), "query", "queries")
        return f"<Qrels {printable(self.name, 80)}: {queries}, {count_of(len(self), 'judgment')}>"

    def select(self, queries: Iterable[str | bytes | int]) -> Qrels:
        """Return the judgments of the given queries, with the scale and levels of the whole."""
        wanted = wanted_ids(queries, self.name, "query", "queries")
        if not wanted:
            raise UsageError(f"{self.name}: no queries to select")
        unknown = wanted.difference(self.query_ids)
        if unknown:
            first = text_of_id(min(unknown))
            raise UsageError(f"{self.name}: {count_of(len(unknown), 'query', 'queries')} not judged, such as '{first}'")
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
        intents: ItemsLike | None = None,
    ) -> Qrels:
        """Return the judgments with information for measures of recommendation (a table of items and their attributes,
        past interactions as pairs of user and document) or of diversity (sub-topic probabilities per query). Each is a
        file, a dict or a data frame."""
        from gainful.data.items import Items
        from gainful.io.records import read_intents

        given = {"items": items, "training": training, "intents": intents}
        known = None if items is None and training is None else Items(items, training, columns)
        likely = self.intents if intents is None else read_intents(intents, (columns or {}).get("intents", {}))
        notes = (*self.notes, *(unused_note(table) for table, value in given.items() if value is not None))
        return replace(self, items=known, intents=likely, notes=notes).read_from(self.name)

    def take(self, rows: Ints) -> Qrels:
        """Return the judgments in some rows, with all queries."""
        return replace(
            self,
            query=self.query[rows],
            document_start=self.document_start[rows],
            document_length=self.document_length[rows],
            subtopic=self.subtopic[rows],
            grade=self.grade[rows],
            origin=self.origin.take(rows),
        )


#: Any supported description of judgments: a Qrels, a path or bytes, a data frame, ``{query: {document: grade}}`` or
#: ``{query: [document, ...]}``.
QrelsLike: TypeAlias = Qrels | Source | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | Frame
