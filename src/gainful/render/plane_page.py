"""Planes of the user's and the system's scores, as a page: charts, sentences, and documents, the furthest off first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.render.charts import Axis, Line, Plot, Points, Rule
from gainful.render.page import Cell, Column, Page, Table

if TYPE_CHECKING:
    from gainful.curves.plane import PlacedDocument, Plane

#: How many documents people see below a plane, and how many on either side have their ids in the figure.
_MOST_SHOWN, _MOST_NAMED = 10, 3

#: The groups of documents, as figures and sentences call them.
_GROUPS = {"exact": "as the user says", "over": "overestimated", "under": "underestimated"}
_TICKS = tuple((i / 5, f"{i / 5:.1f}") for i in range(6))
_OVER = {
    "retrieved+relevant": "retrieved or relevant",
    "retrieved": "retrieved",
    "relevant": "relevant",
    "judged": "judged",
}


def plane_page(planes: Sequence[Plane], places: int = 4) -> Page:
    """A chart of every plane, what it says in sentences, all scores, and the documents, the furthest off first."""
    parts: list[Table | Plot | str] = []
    for plane in planes:
        parts += [plane_plot(plane, places), " ".join(_sentences(plane, places))]
    parts.append(_scores(planes, places))
    parts += [_documents(plane, places) for plane in planes]
    signatures = dict.fromkeys(str(plane.signature) for plane in planes)
    header = {
        "kind": "plane",
        "measure": str(planes[0].measure),
        "threshold": planes[0].threshold,
        "signature": next(iter(signatures)),
    }
    return Page("curves", tuple(parts), tuple(signatures), header)


def _title(plane: Plane) -> str:
    query = f"query {printable(plane.query, 40)}"
    return f"{printable(plane.run, 40)}, {query}" if plane.run else query


def plane_plot(plane: Plane, places: int = 4) -> Plot:
    """The plane as data: points by how they are estimated, the line of ideal estimates, both thresholds."""
    named = [*plane.of_estimate("over")[:_MOST_NAMED], *plane.of_estimate("under")[:_MOST_NAMED]]
    groups = {name: plane.of_estimate(estimate) for estimate, name in _GROUPS.items()}
    # A little more than 0 to 1, so that points on the borders stand free.
    ends = (-0.03, 1.03)
    text = f"threshold {number_text(plane.threshold)}"
    return Plot(
        _title(plane),
        Axis("URS: what the user says", *ends, ticks=_TICKS),
        Axis("SRS: what the system estimates", *ends, ticks=_TICKS),
        (Line("SRS = URS", (0.0, 1.0), (0.0, 1.0), "ideal"),),
        tuple(_points(name, documents, named) for name, documents in groups.items()),
        (Rule(text, x=plane.threshold), Rule(text, y=plane.threshold)),
        f"{_values(plane, places)}, over {_what(plane)}.",
        is_square=True,
    )


def _points(name: str, documents: Sequence[PlacedDocument], named: Sequence[PlacedDocument]) -> Points:
    labels = tuple(placed.document if placed in named else "" for placed in documents)
    return Points(name, tuple(d.urs for d in documents), tuple(d.srs for d in documents), labels)


def _values(plane: Plane, places: int) -> str:
    values = (("ADM", plane.adm), ("ADP", plane.adp), ("ADR", plane.adr))
    return ", ".join(f"{name} {'undefined' if math.isnan(value) else f'{value:.{places}f}'}" for name, value in values)


def _what(plane: Plane) -> str:
    if isinstance(plane.measure.over, int):
        return f"a collection of {count_of(plane.count, 'document')}"
    return count_of(plane.count, f"{_OVER[plane.measure.over]} document")


def _sentences(plane: Plane, places: int) -> Iterator[str]:
    """What a person wants to know of a plane; the values stand in the chart's caption."""
    if not plane.is_answered:
        yield f"{printable(plane.run, 40)} does not answer query {printable(plane.query, 40)}: nothing is retrieved."
    if plane.documents:
        over, under = _estimated(plane, "over", places), _estimated(plane, "under", places)
        yield f"{_title(plane)}: {over}, {under}, {_exact(plane)}."
        yield from (f"Most {_GROUPS[side]} is {_told(documents[0])}." for side, documents in _off(plane))
    else:
        yield f"{_title(plane)}: there is no document to compare."
    if plane.rest:
        others = count_of(plane.rest, "other document")
        yield f"Of {others}, neither retrieved nor relevant, both scores are 0, and so is the distance."
    counts = plane.sectors
    yield (
        f"With the threshold at {number_text(plane.threshold)}, {counts.retrieved_relevant:,} are retrieved and "
        f"relevant, {counts.only_retrieved:,} retrieved only, {counts.only_relevant:,} relevant only, "
        f"{counts.neither:,} neither."
    )


def _off(plane: Plane) -> Iterator[tuple[str, list[PlacedDocument]]]:
    for side in ("over", "under"):
        if documents := plane.of_estimate(side):
            yield side, documents


def _told(placed: PlacedDocument) -> str:
    where = "not retrieved" if placed.rank is None else f"rank {placed.rank:,}"
    grade = "unjudged" if placed.grade is None else f"grade {number_text(placed.grade)}"
    return f"{printable(placed.document, 40)} ({where}, {grade})"


def _estimated(plane: Plane, estimate: str, places: int) -> str:
    documents = plane.of_estimate(estimate)
    number = count_of(len(documents), "document") if estimate == "over" else f"{len(documents):,}"
    verb = "is" if len(documents) == 1 else "are"
    if not documents:
        return f"{number} {verb} {_GROUPS[estimate]}"
    mean = math.fsum(abs(placed.difference) for placed in documents) / len(documents)
    return f"{number} {verb} {_GROUPS[estimate]} (by {mean:.{places}f} on average)"


def _exact(plane: Plane) -> str:
    number = len(plane.of_estimate("exact"))
    return f"and {number:,} {'is' if number == 1 else 'are'} {_GROUPS['exact']}"


def _scores(planes: Sequence[Plane], places: int) -> Table:
    columns = (
        Column("run"),
        Column("query"),
        *(Column(name, "number", places) for name in ("ADM", "ADP", "ADR")),
        *(Column(name, "count") for name in ("documents", "over", "under", "exact")),
        *(Column(name, "count", for_machines=True) for name in ("both", "only retrieved", "only relevant", "neither")),
    )
    rows = tuple(_score_row(plane) for plane in planes)
    return Table(columns, rows, "Scores of the planes", ("over, under: SRS above or below URS; exact: the same",))


def _score_row(plane: Plane) -> tuple[Cell, ...]:
    over, under, exact = (len(plane.of_estimate(estimate)) for estimate in ("over", "under", "exact"))
    values = (plane.adm, plane.adp, plane.adr)
    return (plane.run, plane.query, *values, plane.count, over, under, exact + plane.rest, *plane.sectors)


def _documents(plane: Plane, places: int) -> Table:
    columns = (
        Column("run", for_machines=True),
        Column("query", for_machines=True),
        Column("document"),
        Column("rank", "count", none="not retrieved"),
        Column("grade", "number", _grade_places(plane), none="unjudged"),
        Column("URS", "number", places),
        Column("SRS", "number", places),
        Column("distance", "number", places),
        Column("estimate"),
    )
    rows = tuple(
        (plane.run, plane.query, d.document, d.rank, d.grade, d.urs, d.srs, d.distance, d.estimate)
        for d in plane.documents
    )
    hidden = len(rows) - _MOST_SHOWN
    notes = (f"{hidden:,} more in csv and jsonl",) if hidden > 0 else ()
    title = f"{_title(plane)}: the documents, furthest off first"
    return Table(columns, rows, title, notes, most=_MOST_SHOWN)


def _grade_places(plane: Plane) -> int:
    """No decimal places for grades that are whole numbers."""
    grades = [placed.grade for placed in plane.documents if placed.grade is not None]
    return 0 if all(grade.is_integer() for grade in grades) else 4
