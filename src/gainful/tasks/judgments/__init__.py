"""Description of a set of judgments: levels, recall bases and unusual grades; and its page."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gainful._version import __version__
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.errors import InputError, UsageError, for_asker
from gainful.evaluation.results import short_conventions
from gainful.frozen import dataclass, field
from gainful.io.rows import ids_of
from gainful.kernel.arrays import Bools, Floats, distinct
from gainful.notation import count_of, listed, number_text, printable, read_number, text_of_id
from gainful.pages.page import Cell, Conventions, Table, head, values_of
from gainful.policy import Policy
from gainful.render import Page, Showable

#: With more levels, grades are a measurement rather than a scale, and queries are not counted by level.
MOST_LEVELS = 50


class LevelCount(NamedTuple):
    """Number of documents with a grade, their share of all, and number of queries that have some."""

    grade: float
    documents: int
    share: float
    queries: int


class RecallBase(NamedTuple):
    """Number of judged documents of one query: all, relevant, and at each level (if levels are few)."""

    query: str
    judged: int
    relevant: int
    by_level: tuple[int, ...]


class OddGrades(NamedTuple):
    """Unusual grades in ascending order, and the number of judgments that have one."""

    grades: tuple[float, ...]
    judgments: int

    @classmethod
    def of(cls, grade: Floats, is_odd: Bools) -> OddGrades:
        return cls(tuple(distinct(grade[is_odd]).tolist()), int(np.count_nonzero(is_odd)))


class AboveScale(NamedTuple):
    """Grades above the given scale, the number of judgments that have one, and the first such judgment."""

    grades: tuple[float, ...]
    judgments: int
    query: str
    document: str
    where: str  # line in the file, or empty


class Spread(NamedTuple):
    """The minimum, median and maximum of some counts."""

    lowest: int
    median: float
    highest: int

    @classmethod
    def of(cls, counts: Iterable[int]) -> Spread:
        counts = list(counts)
        return cls(min(counts), float(statistics.median(counts)), max(counts))


@dataclass(frozen=True)
class JudgmentDescription(Showable):
    """Result of :func:`describe_judgments`.

    Documents are counted once per query, with their grade under the policy.

    ``scale``          the highest possible grade; ``reaches_scale`` whether a judgment has it
    ``above_scale``    grades above a given scale
    ``negative``       grades below 0 in the input
    ``fractional``     fractional grades, if most are whole numbers
    ``subtopics``      number of different values in column 2
    ``repeated``       judgments of a document (and sub-topic, if the policy distinguishes them) beyond the first
    ``conflicting``    documents with different grades; with ``judges=error`` the highest is used here
    ``judged_again``   documents judged more than once: with one grade, with grades at most 1 apart, and further apart
    ``unjudged``       documents that ``negative=unjudged`` excludes
    """

    name: str
    judgments: int
    documents: int
    scale: float
    reaches_scale: bool
    above_scale: AboveScale | None
    rel: float | None
    levels: tuple[LevelCount, ...]
    by_query: tuple[RecallBase, ...] = field(repr=False)
    negative: OddGrades
    fractional: OddGrades
    subtopics: int
    repeated: int
    conflicting: int
    judged_again: tuple[int, int, int]
    unjudged: int
    policy: Policy

    @property
    def queries(self) -> int:
        return len(self.by_query)

    @property
    def without_relevant(self) -> tuple[str, ...]:
        return tuple(base.query for base in self.by_query if not base.relevant)

    @property
    def judged_by_query(self) -> Spread:
        return Spread.of(base.judged for base in self.by_query)

    @property
    def relevant_by_query(self) -> Spread:
        """Relevant documents per query: the recall bases of binary measures."""
        return Spread.of(base.relevant for base in self.by_query)

    def page(self, by_query: bool = False) -> Page:
        """Return levels, recall bases (of each query, or summarised) and unusual grades, in text and tables."""
        queries: list[Table] = []
        if by_query:
            queries = [recall_bases(self, "Documents by query")]
        elif self.queries > 1:
            names, *counts = zip(*((*base[:3], *base.by_level[:MOST_SHOWN]) for base in self.by_query), strict=True)
            values = dict(zip(["judged", "relevant", *_by_level_names(self)], counts, strict=False))
            queries = [spread_table("Documents per query", "documents", names, values)]
        documents, judged = count_of(self.documents, "document"), count_of(self.queries, "query", "queries")
        first = f"{printable(self.name, 80)} judges {documents} for {judged}, {_range(self.judged_by_query)}."
        parts: list[Table | str] = [first, levels_table(self, "Grades"), *queries, *sentences(self)]
        header = values_of(self, "judgments ← name | documents | queries | scale")
        header["without_relevant"] = list(self.without_relevant)
        return Page("judgments", tuple(parts), (conventions(self.policy),), header)


def describe_judgments(
    judgments: Judged | QrelsLike,
    *,
    policy: Policy | str | None = None,
    rel: float | str | None = None,
    scale: float | None = None,
) -> JudgmentDescription:
    """Describe a set of judgments: levels, recall bases by query and level, and unusual grades.

    ``rel`` is the lowest grade that counts as relevant (by default, any above 0), ``scale`` the highest possible grade
    (by default, that of the judgments). Conflicts and grades above the scale are counted, not refused.

    >>> found = describe_judgments({"q1": {"d1": 2, "d2": 0, "d3": 0}, "q2": {"d1": 0}})
    >>> [(level.grade, level.documents, level.share) for level in found.levels]
    [(0.0, 3, 0.75), (2.0, 1, 0.25)]
    >>> found.by_query[0].by_level, found.without_relevant
    ((2, 1), ('q2',))
    """
    least = None if rel is None else read_number(rel, for_asker("--rel", "rel"))
    settled = judgments.policy if isinstance(judgments, Judged) else Policy.of(policy)
    counted = settled.replace(judges="max") if settled.judges == "error" else settled
    judged = judgments if isinstance(judgments, Judged) else Judged(Qrels.of(judgments), counted)
    qrels, grade = judged.qrels, judged.qrels.grade
    highest = qrels.scale if scale is None else read_number(scale, "scale")
    if highest <= 0 and scale is not None:
        raise UsageError(f"scale: expected a number above 0, found {number_text(highest)}")
    above, above_scale = np.flatnonzero(grade > highest), None
    if above.size:
        first = int(above[0])
        query, document = qrels.query_ids[int(qrels.query[first])], qrels.document(first)
        place = text_of_id(query), text_of_id(document), qrels.origin.where(first)
        above_scale = AboveScale(*OddGrades.of(grade, grade > highest), *place)
    is_fractional = grade != np.floor(grade)
    if 2 * np.count_nonzero(is_fractional) >= grade.size:
        is_fractional = np.zeros_like(is_fractional)  # fractional grades are the rule
    repeated, conflicting, judged_again = _repetitions(judged)
    levels, by_query = _counted(judged, least)
    return JudgmentDescription(
        name=qrels.name,
        judgments=len(qrels),
        documents=int(np.count_nonzero(~np.isnan(judged.grade))),
        scale=max(highest - settled.grade_zero, 0.0) if settled.grade_zero else highest,
        reaches_scale=qrels.levels[-1] >= highest,
        above_scale=above_scale,
        rel=least,
        levels=levels,
        by_query=by_query,
        negative=OddGrades.of(grade, grade < 0),
        fractional=OddGrades.of(grade, is_fractional),
        subtopics=len(qrels.subtopic_ids),
        repeated=repeated,
        conflicting=conflicting,
        judged_again=judged_again,
        unjudged=int(np.count_nonzero(np.isnan(judged.grade))),
        policy=settled,
    )


def merge_judgments(judgments: QrelsLike, answers: QrelsLike) -> str:
    """Return judgments with new ones after them, as TREC text; repeated judgments must have the same grade.

    >>> print(merge_judgments({"q1": {"d1": 2}}, {"q1": {"d1": 2, "d2": 0.5}}), end="")
    q1 0 d1 2
    q1 0 d2 0.5
    """
    first, second = Qrels.of(judgments), Qrels.of(answers)
    lines: list[str] = []
    known: dict[tuple[str, ...], set[float]] = {}
    for qrels in (first, second):
        queries, subtopics = qrels.queries, [*map(text_of_id, qrels.subtopic_ids)]
        columns = (qrels.query.tolist(), qrels.subtopic.tolist(), ids_of(qrels.document_spans), qrels.grade.tolist())
        for query, subtopic, document, grade in zip(*columns, strict=True):
            row = queries[query], subtopics[subtopic], text_of_id(document)
            if len(" ".join(row).split()) != len(row):
                raise InputError(f"{qrels.name}: TREC text cannot hold an empty ID or a blank: '{' '.join(row)}'")
            # Without sub-topics, column 2 means nothing.
            before = known.setdefault(row if len(second.subtopic_ids) > 1 else (row[0], row[2]), set())
            if qrels is second and before and grade not in before:
                grades = f"grade {number_text(grade)} in {second.name}, {number_text(max(before))} in {first.name}"
                raise InputError(f"query {row[0]}, document {row[2]}: {grades}", "remove one of the two")
            if qrels is first or not before:
                lines.append(f"{' '.join(row)} {number_text(grade)}\n")
            before.add(grade)
    return "".join(lines)


def _repetitions(judged: Judged) -> tuple[int, int, tuple[int, int, int]]:
    """Return repeated judgments, documents with different grades, and how far repeated grades are apart."""
    if judged.item.size == judged.grade.size:
        return 0, 0, (0, 0, 0)
    grade, first = judged.qrels.grade, judged.first_rows
    differs = grade != grade[first]
    order = np.lexsort((grade, first))
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    ends = np.append(starts[1:], first.size) - 1
    apart = (grade[order[ends]] - grade[order[starts]])[ends > starts]
    same, near = np.count_nonzero(apart == 0), np.count_nonzero((apart > 0) & (apart <= 1))
    repeated, conflicting = first.size - starts.size, np.unique(judged.item[differs]).size
    return repeated, conflicting, (int(same), int(near), int(apart.size - same - near))


def _counted(judged: Judged, rel: float | None) -> tuple[tuple[LevelCount, ...], tuple[RecallBase, ...]]:
    ids, levels = judged.qrels.query_ids, judged.levels
    is_judged = ~np.isnan(judged.grade)
    query = np.repeat(np.arange(len(ids)), np.diff(judged.item_offsets))[is_judged]
    level = np.searchsorted(levels, judged.grade[is_judged])
    documents = np.bincount(level, minlength=levels.size)
    queries = np.bincount(np.unique(level * len(ids) + query) // len(ids), minlength=levels.size)
    by_level = (levels.tolist(), documents.tolist(), (documents / max(1, level.size)).tolist(), queries.tolist())
    columns = levels.size if levels.size <= MOST_LEVELS else 0
    table = np.bincount(query * columns + level, minlength=len(ids) * columns) if columns else np.zeros(0, np.int64)
    totals = np.bincount(query, minlength=len(ids)).tolist(), judged.recall_base(rel, None).tolist()
    by_query = zip(map(text_of_id, ids), *totals, map(tuple, table.reshape(len(ids), columns).tolist()), strict=True)
    return (tuple(LevelCount(*row) for row in zip(*by_level, strict=True)), tuple(RecallBase(*row) for row in by_query))


#: With more levels, a table of them would be too long.
MOST_SHOWN = 12

_NAMED = 5

#: The choices that concern judgments.
_CHOSEN = ("negative", "grade-zero", "judges", "subtopics")


def conventions(policy: Policy, chosen: Sequence[str] = _CHOSEN) -> Conventions:
    """Return some choices, as in a signature."""
    texts, changed, version = policy.texts(), policy.differences(), {"gainful": __version__}
    short = short_conventions({name: text for name, text in changed.items() if name in chosen}, version)
    return Conventions(short, "|".join([*(f"{name}:{texts[name]}" for name in chosen), f"gainful:{__version__}"]))


def means_relevant(rel: float | None) -> str:
    """Return a description of the relevant grades."""
    return "grade above 0" if rel is None else f"grade {number_text(rel)} or more"


def sentences(found: JudgmentDescription, side: str = "") -> Iterator[str]:
    """Yield the number of relevant documents per query, and unusual grades; for one side, if named."""
    without, policy = found.without_relevant, found.policy
    line = f"relevant documents ({means_relevant(found.rel)}): {_range(found.relevant_by_query)}"
    if without:
        names = listed([*map(printable, without)], most=_NAMED)
        line += f"; {count_of(len(without), 'query has', 'queries have')} none: {names}"
    lines = [f"{line}."]
    if found.above_scale is not None:
        above = found.above_scale
        share = f"{100 * above.judgments / found.judgments:.1f}% of {count_of(found.judgments, 'judgment')}"
        scale = number_text(found.scale + policy.grade_zero)
        place = f"; the first is {above.where}" if above.where else "; the first is"
        lines.append(
            f"{_grades(above, f'above the scale {scale} ({share})')}{place} "
            f"(query {printable(above.query)}, document {printable(above.document)})."
        )
    if found.negative.judgments:
        fate = f"{count_of(found.unjudged, 'document counts', 'documents count')} as unjudged (negative=unjudged)."
        if policy.negative == "judged":
            fate = "They count as judged, not relevant (negative=judged)."
        lines.append(f"{_grades(found.negative, 'below 0')}. {fate}")
    if found.fractional.judgments:
        lines.append(f"{_grades(found.fractional, 'fractional, although most are whole numbers')}.")
    if found.levels and not found.reaches_scale:
        highest = number_text(found.levels[-1].grade)
        lines.append(f"no document reaches the scale {number_text(found.scale)}; the highest grade is {highest}.")
    if found.subtopics > 1:
        use = "used as the sub-topic (subtopics=yes)" if policy.subtopics else "not used as the sub-topic (--subtopics)"
        lines.append(f"column 2 has {found.subtopics:,} different values, {use}.")
    repeats = f"{count_of(found.repeated, 'judgment repeats', 'judgments repeat')} an earlier one of the document"
    if found.conflicting:
        fate = f"merged by judges={policy.judges}"
        if policy.judges == "error":
            fate = "of which the highest is used here (gainful eval refuses conflicts)"
        again = sum(found.judged_again)
        same, near, far = (f"{100 * count / again:.1f}%" for count in found.judged_again)
        lines.append(
            f"{repeats}; {count_of(found.conflicting, 'document has', 'documents have')} different grades, {fate}. "
            f"Of {count_of(again, 'document')} judged more than once {same} have one grade, {near} differ by up to "
            f"1, {far} by more."
        )
    elif found.repeated:
        lines.append(f"{repeats}, always with the same grade.")
    yield from (f"{side}: {sentence}" if side else sentence[0].upper() + sentence[1:] for sentence in lines)


def _grades(odd: OddGrades | AboveScale, what: str) -> str:
    grades = listed([number_text(grade) for grade in odd.grades], most=_NAMED)
    return f"{count_of(odd.judgments, 'grade is', 'grades are')} {what}: {grades}"


def levels_table(found: JudgmentDescription, title: str) -> Table:
    """Return the number of documents per grade; for many different grades, their quantiles."""
    if len(found.levels) <= MOST_SHOWN:
        rows = [(number_text(each.grade), each.documents, each.share, each.queries) for each in found.levels]
        return Table(head("grade | documents # | share % | queries #"), rows, title)
    places = {"lowest": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "highest": 1.0}
    reached = np.cumsum([level.documents for level in found.levels])
    at = np.searchsorted(reached, np.array(list(places.values())) * reached[-1]).tolist()
    spread = [(name, found.levels[i].grade) for name, i in zip(places, at, strict=True)]
    return Table(head("documents | grade ."), spread, title, (f"{len(found.levels):,} different grades",))


def _by_level_names(found: JudgmentDescription) -> list[str]:
    return [f"grade {number_text(level.grade)}" for level in found.levels] if found.by_query[0].by_level else []


def recall_bases(found: JudgmentDescription, title: str) -> Table:
    """Return the number of documents of each query: all, relevant, and at each level."""
    columns = head(["query", *(f"{name} #" for name in ("judged", "relevant", *_by_level_names(found)))])
    return Table(columns, [(*base[:3], *base.by_level) for base in found.by_query], title)


def spread_table(
    title: str, label: str, queries: Sequence[str], values: Mapping[str, Sequence[float]], places: int = 0
) -> Table:
    """Return the minimum, median and maximum of per-query values, with the queries that have the extremes."""
    rows: list[tuple[Cell, ...]] = []
    for name, of_query in values.items():
        low, high = min(of_query), max(of_query)
        at_ends = [[q for q, value in zip(queries, of_query, strict=True) if value == end] for end in (low, high)]
        extremes = (each[0] if len(each) == 1 else f"{each[0]} and {len(each) - 1:,} more" for each in at_ends)
        rows.append((name, low, float(statistics.median(of_query)), high, *extremes))
    numbers = f"lowest .{places} | median .{max(1, places)} | highest .{places}"
    return Table(head(f"{label} | {numbers} | lowest in | highest in"), rows, title)


def _range(spread: Spread) -> str:
    if spread.lowest == spread.highest:
        return f"{spread.highest:,} per query"
    return f"{spread.lowest:,} to {spread.highest:,} per query (median {number_text(spread.median)})"


def side_parts(a: JudgmentDescription, b: JudgmentDescription, by_query: bool) -> Iterator[Table | str]:
    """Yield the levels of both sets side by side, relevant documents (by query, if wanted) and unusual grades."""
    sides = {"A": a, "B": b}
    if max(len(a.levels), len(b.levels)) > MOST_SHOWN:
        yield from (levels_table(side, f"Grades of {name}") for name, side in sides.items())
    else:
        by_grade = [{level.grade: level for level in side.levels} for side in sides.values()]
        none = LevelCount(0, 0, 0.0, 0)
        rows: list[tuple[Cell, ...]] = []
        for grade in sorted({*by_grade[0], *by_grade[1]}):
            both = [levels.get(grade, none) for levels in by_grade]
            rows.append((number_text(grade), *(value for each in both for value in (each.documents, each.share))))
        yield Table(head("grade | A # | % of A % | B # | % of B %"), rows, "All documents by level")
    for name, side in sides.items():
        if by_query:
            yield recall_bases(side, f"Documents of {name} by query")
        yield from sentences(side, name)
