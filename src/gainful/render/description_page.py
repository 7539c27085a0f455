"""What is in a set of judgments, as a page."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from gainful._version import __version__
from gainful.notation import count_of, number_text, printable
from gainful.render.page import Cell, Column, Page, Table

if TYPE_CHECKING:
    from gainful.policy import Policy
    from gainful.stats.description import AboveScale, JudgmentDescription, OddGrades, Spread

#: With more levels than these a table of them would not be read.
MOST_SHOWN = 12

_NAMED = 5


def description_page(found: JudgmentDescription, by_query: bool = False) -> Page:
    """Levels, recall bases (each query's, or their spread) and what is odd."""
    parts: list[Table | str] = [sizes(found, printable(found.name, 80)), levels_table(found, "Grades")]
    if by_query:
        parts.append(recall_bases(found, "Documents by query"))
    elif found.queries > 1:
        parts.append(_recall_base_spread(found))
    parts += [about_relevance(found), *oddities(found)]
    header = {
        "judgments": found.name,
        "documents": found.documents,
        "queries": found.queries,
        "scale": found.scale,
        "without_relevant": list(found.without_relevant),
    }
    return Page("judgments", tuple(parts), (conventions(found.policy),), header)


def conventions(policy: Policy) -> str:
    """The choices that concern judgments, as a signature writes them."""
    texts = policy.texts()
    chosen = ("negative", "grade-zero", "judges", "subtopics")
    return "|".join([*(f"{name}:{texts[name]}" for name in chosen), f"gainful:{__version__}"])


def sizes(found: JudgmentDescription, name: str) -> str:
    """How much is judged."""
    documents, queries = count_of(found.documents, "document"), count_of(found.queries, "query", "queries")
    return f"{name} judges {documents} for {queries}, {_range(found.judged_by_query)}."


def about_relevance(found: JudgmentDescription, name: str = "") -> str:
    """How many relevant documents queries have, and which have none."""
    means = "grade above 0" if found.rel is None else f"grade {number_text(found.rel)} or more"
    intro = f"{name}: relevant" if name else "Relevant"
    line = f"{intro} ({means}) are {_range(found.relevant_by_query, 'document')}"
    without = found.without_relevant
    if not without:
        return f"{line}; every query has one."
    return f"{line}; {count_of(len(without), 'query has', 'queries have')} none: {listed(without)}."


def oddities(found: JudgmentDescription, name: str = "") -> Iterator[str]:
    """A sentence for each thing that is unlike the rest."""
    for sentence in _odd_things(found):
        yield f"{name}: {sentence}" if name else sentence[0].upper() + sentence[1:]


def _odd_things(found: JudgmentDescription) -> Iterator[str]:
    if found.above_scale is not None:
        yield _above(found, found.above_scale)
    if found.negative.judgments:
        fate = (
            "They count as judged, not relevant (negative=judged)."
            if found.policy.negative == "judged"
            else f"{count_of(found.unjudged, 'document counts', 'documents count')} as not judged (negative=unjudged)."
        )
        yield f"{_grades(found.negative, 'below 0')}. {fate}"
    if found.fractional.judgments:
        yield f"{_grades(found.fractional, 'no whole number among whole numbers')}."
    if found.levels and not found.reaches_scale:
        highest = number_text(found.levels[-1].grade)
        yield f"no document reaches the scale {number_text(found.scale)}; the highest grade is {highest}."
    if found.subtopics > 1:
        use = (
            "taken as the sub-topic (subtopics=yes)"
            if found.policy.subtopics
            else "not taken as the sub-topic (--subtopics)"
        )
        yield f"column 2 has {found.subtopics:,} different values, {use}."
    if found.repeated:
        yield _repetitions(found)


def _repetitions(found: JudgmentDescription) -> str:
    repeated = count_of(found.repeated, "judgment repeats", "judgments repeat")
    line = f"{repeated} a document that is judged before"
    if not found.conflicting:
        return f"{line}, always with the same grade."
    conflicts = count_of(found.conflicting, "document has", "documents have")
    if found.policy.judges == "error":
        return (
            f"{line}; {conflicts} different grades, of which the highest is counted here (gainful eval refuses them)."
        )
    return f"{line}; {conflicts} different grades, made one by judges={found.policy.judges}."


def _above(found: JudgmentDescription, above: AboveScale) -> str:
    share = f"{100 * above.judgments / found.judgments:.1f} % of {count_of(found.judgments, 'judgment')}"
    grades = listed([number_text(grade) for grade in above.grades])
    place = f"; the first is {above.where}" if above.where else "; the first is"
    return (
        f"{count_of(above.judgments, 'grade is', 'grades are')} above the scale "
        f"{number_text(found.scale + found.policy.grade_zero)} ({share}): {grades}{place} "
        f"(query {printable(above.query)}, document {printable(above.document)})."
    )


def _grades(odd: OddGrades, what: str) -> str:
    grades = listed([number_text(grade) for grade in odd.grades])
    return f"{count_of(odd.judgments, 'grade is', 'grades are')} {what}: {grades}"


def levels_table(found: JudgmentDescription, title: str) -> Table:
    """How many documents have which grade; of many different grades, how they are spread."""
    if len(found.levels) > MOST_SHOWN:
        return _grade_spread(found, title)
    columns = (Column("grade"), Column("documents", "count"), Column("share", "share"), Column("queries", "count"))
    rows = tuple((number_text(level.grade), level.documents, level.share, level.queries) for level in found.levels)
    return Table(columns, rows, title)


def _grade_spread(found: JudgmentDescription, title: str) -> Table:
    places = {"lowest": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "highest": 1.0}
    reached = list(accumulate(level.documents for level in found.levels))
    rows = tuple(
        (name, next(level.grade for level, n in zip(found.levels, reached, strict=True) if n >= share * reached[-1]))
        for name, share in places.items()
    )
    note = f"{len(found.levels):,} different grades"
    return Table((Column("documents"), Column("grade", "number")), rows, title, (note,))


def _by_level_names(found: JudgmentDescription) -> list[str]:
    return [f"grade {number_text(level.grade)}" for level in found.levels] if found.by_query[0].by_level else []


def recall_bases(found: JudgmentDescription, title: str) -> Table:
    """How many documents each query has: all, relevant, and of each level."""
    names = ["judged", "relevant", *_by_level_names(found)]
    columns = (Column("query"), *(Column(name, "count") for name in names))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (base.query, base.judged, base.relevant, *base.by_level) for base in found.by_query
    )
    return Table(columns, rows, title)


def _recall_base_spread(found: JudgmentDescription) -> Table:
    queries = [base.query for base in found.by_query]
    counts = {"judged": [base.judged for base in found.by_query], "relevant": [b.relevant for b in found.by_query]}
    for i, name in enumerate(_by_level_names(found)[:MOST_SHOWN]):
        counts[name] = [base.by_level[i] for base in found.by_query]
    return spread_table("Documents a query", "documents", queries, counts)


def spread_table(
    title: str, label: str, queries: Sequence[str], values: Mapping[str, Sequence[float]], places: int = 0
) -> Table:
    """Some values that each query has: the lowest, the median and the highest, and which queries have the extremes."""
    rows: list[tuple[Cell, ...]] = []
    for name, of_query in values.items():
        low, high = min(of_query), max(of_query)
        at_ends = [[q for q, value in zip(queries, of_query, strict=True) if value == end] for end in (low, high)]
        rows.append((name, low, float(statistics.median(of_query)), high, *map(_first, at_ends)))
    numbers = [Column("lowest", "number", places), Column("median", "number", max(1, places))]
    columns = [Column(label), *numbers, Column("highest", "number", places), Column("lowest in"), Column("highest in")]
    return Table(tuple(columns), tuple(rows), title)


def _first(queries: Sequence[str]) -> str:
    return queries[0] if len(queries) == 1 else f"{queries[0]} and {len(queries) - 1:,} more"


def listed(texts: Sequence[str]) -> str:
    """Some of the texts, and how many more there are."""
    shown = ", ".join(map(printable, texts[:_NAMED]))
    return shown + (f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else "")


def _range(spread: Spread, noun: str = "") -> str:
    highest = count_of(spread.highest, noun) if noun else f"{spread.highest:,}"
    if spread.lowest == spread.highest:
        return f"{highest} a query"
    return f"{spread.lowest:,} to {highest} a query (median {number_text(spread.median)})"
