"""The plane of user and system scores: the position of each document of a query, and its distance.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004, Figures 2 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from gainful import (
    Block,
    Evaluation,
    Evaluations,
    Measure,
    Policy,
    Qrels,
    QrelsLike,
    Run,
    RunLike,
    Signature,
    UsageError,
    parse,
)
from gainful.data.graded import join
from gainful.data.judged import Judged
from gainful.errors import warns
from gainful.evaluation.evaluate import evaluate_graded
from gainful.evaluation.explanation import judgments_of
from gainful.io.rows import read_id
from gainful.kernel.parallel import current_progress
from gainful.measures.block import computed, condenses
from gainful.measures.distance import ADM, ADP, ADR, AverageDistance, Pstar, Rstar
from gainful.measures.score_based import ROUNDING, Compared
from gainful.notation import bytes_of_id, count_of, number_text, printable, read_number, some_of, text_of_id
from gainful.pages.charts import Axis, Line, Plot, Points, Rule
from gainful.pages.page import Column, Table, head
from gainful.render import Page, Showable


class PlacedDocument(NamedTuple):
    """A document on the plane, with a rank if it was retrieved and a grade if it was judged."""

    document: str
    rank: int | None
    grade: float | None
    urs: float
    srs: float
    distance: float

    @property
    def difference(self) -> float:
        """SRS - URS: positive if the system overestimates relevance."""
        return self.srs - self.urs

    @property
    def estimate(self) -> str:
        """``over``, ``under`` or ``exact`` (within rounding error)."""
        return "exact" if abs(self.difference) <= ROUNDING else "over" if self.difference > 0 else "under"


class Sectors(NamedTuple):
    """Document counts on each side of the thresholds: retrieved by SRS, relevant by URS."""

    retrieved_relevant: int
    only_retrieved: int
    only_relevant: int
    neither: int


@dataclass(frozen=True, eq=False, repr=False)
class Plane(Showable):
    """A query's documents by user score (URS) and system score (SRS), largest distance first.

    ``documents`` are all documents that the measure counts, except the ``rest`` of a collection, for which both scores
    are 0. ``adm``, ``adp`` and ``adr`` are raw values, NaN if undefined; an unanswered query has the values of an empty
    list. ``evaluation`` applies the policy to them. The ``tolerance`` of Pstar and Rstar is drawn as a band around the
    diagonal in place of the thresholds.
    """

    run: str
    query: str
    measure: ADM
    threshold: float
    documents: tuple[PlacedDocument, ...]
    rest: int
    adm: float
    adp: float
    adr: float
    is_answered: bool
    signature: Signature
    evaluation: Evaluation
    tolerance: float | None = None

    def __repr__(self) -> str:
        return f"<Plane of {self.run}, query {self.query}: {len(self.documents)} documents>"

    @property
    def count(self) -> int:
        """Number of documents that are averaged, including the rest of a collection."""
        return len(self.documents) + self.rest

    def of_estimate(self, estimate: str) -> list[PlacedDocument]:
        """Return the documents whose estimate is ``over``, ``under`` or ``exact``."""
        return [placed for placed in self.documents if placed.estimate == estimate]

    def beyond(self, tolerance: float) -> tuple[int, int, int]:
        """Count the documents estimated within a tolerance, higher, and lower, as in Figure 6(a) of the article."""
        over = sum(placed.difference > tolerance + ROUNDING for placed in self.documents)
        under = sum(-placed.difference > tolerance + ROUNDING for placed in self.documents)
        return self.count - over - under, over, under

    @property
    def sectors(self) -> Sectors:
        """Number of documents on each side of the thresholds."""
        limit = self.threshold - ROUNDING
        sides = [(placed.srs >= limit, placed.urs >= limit) for placed in self.documents]
        sides += [(limit <= 0, limit <= 0)] * self.rest
        return Sectors(*(sides.count(side) for side in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the run, one per line."""
        return Planes([self]).notices

    def page(self) -> Page:
        return plane_page([self])


class Planes(Showable):
    """Several planes, by query and run."""

    def __init__(self, planes: Iterable[Plane]) -> None:
        self.planes = tuple(planes)

    def __iter__(self) -> Iterator[Plane]:
        return iter(self.planes)

    def __len__(self) -> int:
        return len(self.planes)

    def __repr__(self) -> str:
        return f"<Planes: {', '.join(f'{plane.run} {plane.query}' for plane in self.planes)}>"

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the runs, one per line; unanswered queries are drawn as empty lists."""
        lines, evaluations = [], Evaluations()
        for name in dict.fromkeys(plane.run for plane in self.planes):
            own = [plane for plane in self.planes if plane.run == name]
            missing = [plane.query for plane in own if not plane.is_answered]
            if missing:
                count = count_of(len(missing), "judged query", "judged queries")
                drawn = f"not answered, drawn as empty lists: {some_of(missing)}"
                lines.append(f"{printable(name, 80)}: {count} {drawn}")
            answered = [plane.evaluation for plane in own if plane.is_answered]
            if answered:
                whole = answered[0].merge(*answered[1:])
                evaluations[name] = replace(whole, measures=(), raw=whole.raw[:0])
        return (*lines, *evaluations.notices)

    def page(self, places: int = 4) -> Page:
        return plane_page(self.planes, places)


@warns
def score_plane(
    qrels: QrelsLike,
    run: RunLike,
    query: str | bytes | int,
    measure: str | Measure = "ADM",
    *,
    threshold: float = 0.5,
    policy: Policy | str | None = None,
    name: str = "",
) -> Plane:
    """Place the documents of a query on the plane of user and system scores.

    >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
    >>> plane = score_plane(user, system, "q", "ADM(srs=score, urs=given)")
    >>> [(placed.document, placed.urs, placed.srs, placed.estimate) for placed in plane.documents]
    [('d1', 0.8, 0.9, 'over'), ('d2', 0.4, 0.5, 'over'), ('d3', 0.1, 0.2, 'over')]
    >>> round(plane.adm, 4), plane.sectors
    (0.9, Sectors(retrieved_relevant=1, only_retrieved=1, only_relevant=0, neither=1))
    """
    [plane] = score_planes(qrels, {name: run}, [query], measure, threshold=threshold, policy=policy)
    return plane


def score_planes(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    queries: Iterable[str | bytes | int],
    measure: str | Measure = "ADM",
    *,
    threshold: float = 0.5,
    policy: Policy | str | None = None,
) -> Planes:
    """Compute the planes of several runs and queries.

    >>> planes = score_planes({"q": {"d1": 1}}, {"a": {"q": ["d1"]}, "b": {"q": ["d2"]}}, ["q"])
    >>> [(plane.run, plane.adm) for plane in planes]
    [('a', 1.0), ('b', 0.0)]
    """
    if isinstance(queries, (str, bytes)):
        raise UsageError(f"queries: expected several query IDs, found {queries!r}")
    (wanted, tolerance), whole, settled = distance_measure(measure), Qrels.of(qrels), Policy.of(policy)
    identifiers = dict.fromkeys(read_id(query, "query") for query in queries)
    if not identifiers or not runs:
        raise UsageError("planes: at least one run and one query are required")
    limit = read_number(threshold, "threshold")
    if not 0 <= limit <= 1:
        raise UsageError(f"threshold: expected a score from 0 to 1, found {number_text(limit)}")
    judged = [Judged(judgments_of(whole, query), settled) for query in identifiers]
    for one in judged:
        wanted.check(one.levels)
    progress = current_progress()
    progress.total = len(runs)
    progress.report()
    lists = {}
    for name, run in runs.items():
        lists[name] = Run.of(run).select(identifiers)
        progress.advance(1)
    planes = (_plane(wanted, one, run, name, limit, whole) for one in judged for name, run in lists.items())
    return Planes(replace(plane, tolerance=tolerance) for plane in planes)


def distance_measure(measure: str | Measure) -> tuple[ADM, float | None]:
    """Return ADM with the parameters of ADM, ADP, ADR, Pstar or Rstar, and the tolerance of the last two.

    >>> distance_measure("ADR(over=judged)@100"), distance_measure("Pstar(t=0.2)")[1]
    ((ADM(over=judged)@100, None), 0.2)
    """
    wanted = parse(measure)
    if not isinstance(wanted, (AverageDistance, Pstar, Rstar)):
        raise UsageError(
            f"{wanted}: expected ADM, ADP, ADR, Pstar or Rstar, which compare scores",
            "for example ADM(over=judged)@100",
        )
    parameters = _parameters(wanted)
    tolerance = parameters.pop("t", None)
    return ADM(**parameters), tolerance


def _parameters(measure: Measure) -> dict[str, Any]:
    return {field.name: getattr(measure, field.name) for field in fields(measure)}


def _plane(measure: ADM, judged: Judged, run: Run, name: str, threshold: float, whole: Qrels) -> Plane:
    [query] = judged.qrels.query_ids
    own = run.select([query])
    wants_scores = "scores" in measure.needed()
    graded = join(judged, own, judged.policy, want_scores=wants_scores, want_rows=True, name=name or None)
    block = Block(graded.condensed() if condenses(measure, graded.policy) else graded, np.zeros(1, np.int64))
    measures = (measure, ADP(**_parameters(measure)), ADR(**_parameters(measure)))
    raw = np.array([computed(one, block) for one in measures])
    # The policy may raise an error here.
    evaluation = evaluate_graded(graded, measures, raw=raw)
    adm, adp, adr = raw[:, 0].tolist()
    compared = measure.compared(block)

    def furthest_first(placed: PlacedDocument) -> tuple[float, float, bytes]:
        # Round, so that distances that differ only by rounding error are ordered by rank.
        return -round(abs(placed.difference), 12), placed.rank or math.inf, bytes_of_id(placed.document)

    return Plane(
        graded.name,
        text_of_id(query),
        measure,
        threshold,
        tuple(sorted(_placed(measure, compared, block, own), key=furthest_first)),
        int(compared.rest[0]),
        adm,
        adp,
        adr,
        bool(graded.answered[0]),
        Signature(measure, graded.policy, whole.scale, len(whole.query_ids), excluded=own.exclusions),
        evaluation,
    )


def _placed(measure: ADM, compared: Compared, block: Block, run: Run) -> Iterator[PlacedDocument]:
    """Yield the documents that count: retrieved by rank, then missed."""
    graded, missed = block.graded, measure.missed(block)
    qrels, item_of_row = graded.judged.qrels, graded.judged.item
    grades = dict(zip(graded.hit_rank.tolist(), graded.hit_grade.tolist(), strict=True))
    listed = [(run.document(int(graded.row[rank - 1])), rank, grades.get(rank)) for rank in compared.rank.tolist()]
    items = graded.judged.items_best_first(graded.is_missed_after(measure.cutoff))[missed.rank - 1].tolist()
    names = [qrels.document(int(np.flatnonzero(item_of_row == item)[0])) for item in items]
    absent = [(document, None, grade) for document, grade in zip(names, missed.grade.tolist(), strict=True)]
    scores = (compared.urs.tolist(), compared.srs.tolist(), measure.distances(compared).tolist())
    for (document, rank, grade), *values in zip([*listed, *absent], *scores, strict=True):
        yield PlacedDocument(text_of_id(document), rank, grade, *values)


#: Documents listed below a plane, and documents labelled in the figure on each side of the diagonal.
_MOST_SHOWN, _MOST_NAMED = 10, 3

#: Labels of the groups of documents.
_GROUPS = {"exact": "exact", "over": "overestimated", "under": "underestimated"}
_TICKS = tuple((i / 5, f"{i / 5:.1f}") for i in range(6))


def plane_page(planes: Sequence[Plane], places: int = 4) -> Page:
    """Return a chart and a summary of each plane, all scores, and the documents, largest distance first."""
    parts: list[Table | Plot | str] = []
    for plane in planes:
        parts += [plane_plot(plane, places), " ".join(_sentences(plane, places))]
    parts.append(_scores(planes, places))
    parts += [_documents(plane, places) for plane in planes]
    signatures = dict.fromkeys(plane.signature for plane in planes)
    header = {
        "kind": "plane",
        "measure": str(planes[0].measure),
        "threshold": planes[0].threshold,
        "signature": str(next(iter(signatures))),
    }
    return Page("papers", tuple(parts), tuple(signature.note() for signature in signatures), header)


def _title(plane: Plane) -> str:
    query = f"query {printable(plane.query, 40)}"
    return f"{printable(plane.run, 40)}, {query}" if plane.run else query


def plane_plot(plane: Plane, places: int = 4) -> Plot:
    """Return the chart of a plane: points grouped by estimate, the line of exact estimates, both thresholds."""
    named = [*plane.of_estimate("over")[:_MOST_NAMED], *plane.of_estimate("under")[:_MOST_NAMED]]
    groups = {name: plane.of_estimate(estimate) for estimate, name in _GROUPS.items()}
    # Slightly more than 0 to 1, so that points on the border are fully visible.
    ends = (-0.03, 1.03)
    text, t = f"threshold {number_text(plane.threshold)}", plane.tolerance
    rules = (Rule(text, x=plane.threshold), Rule(text, y=plane.threshold)) if t is None else ()
    band = (
        () if t is None else (Line("", (0.0, 1.0 - t), (t, 1.0), "guide"), Line("", (t, 1.0), (0.0, 1.0 - t), "guide"))
    )
    scores = {"ADM": plane.adm, "ADP": plane.adp, "ADR": plane.adr}.items()
    values = ", ".join(f"{name} {'undefined' if math.isnan(each) else f'{each:.{places}f}'}" for name, each in scores)
    over = plane.measure.over
    what = f"a collection of {count_of(plane.count, 'document')}"
    if not isinstance(over, int):
        what = count_of(plane.count, f"{over.replace('+', ' or ')} document")
    return Plot(
        _title(plane),
        Axis("URS: user score", *ends, ticks=_TICKS),
        Axis("SRS: system score", *ends, ticks=_TICKS),
        (*band, Line("SRS = URS", (0.0, 1.0), (0.0, 1.0), "ideal")),
        tuple(
            Points(
                name,
                tuple(each.urs for each in documents),
                tuple(each.srs for each in documents),
                tuple(each.document if each in named else "" for each in documents),
            )
            for name, documents in groups.items()
        ),
        rules,
        f"{values}, over {what}.",
        is_square=True,
    )


def _sentences(plane: Plane, places: int) -> Iterator[str]:
    """Summarise a plane; the measures are in the caption of the chart."""
    if not plane.is_answered:
        yield f"{printable(plane.run, 40)} does not answer query {printable(plane.query, 40)}: nothing is retrieved."
    if not plane.documents:
        yield f"{_title(plane)}: no documents to compare."
    if plane.tolerance is not None:
        within, high, low = plane.beyond(plane.tolerance)
        right = count_of(within, "document is", "documents are")
        shares = [f"{within / (within + n):.{places}f}" if within + n else "undefined" for n in (high, low)]
        yield (
            f"Within {number_text(plane.tolerance)} of the user score, {right} estimated correctly, {high:,} too high "
            f"and {low:,} too low: P* {shares[0]}, R* {shares[1]}."
        )
        return
    both, only_retrieved, only_relevant, neither = plane.sectors
    yield (
        f"With the threshold at {number_text(plane.threshold)}, {both:,} are retrieved and relevant, "
        f"{only_retrieved:,} only retrieved, {only_relevant:,} only relevant, {neither:,} neither."
    )


def _estimated_count(plane: Plane, estimate: str) -> int:
    return len(plane.of_estimate(estimate)) + (plane.rest if estimate == "exact" else 0)


def _scores(planes: Sequence[Plane], places: int) -> Table:
    sectors = ("both", "only retrieved", "only relevant", "neither")
    columns = (
        *head("run | query"),
        *(Column(name, "number", places, get=attrgetter(name.lower())) for name in ("ADM", "ADP", "ADR")),
        Column("documents", "count", get=lambda plane: plane.count),
        *(Column(name, "count", get=partial(_estimated_count, estimate=name)) for name in ("over", "under", "exact")),
        *(
            Column(name, "count", for_machines=True, get=attrgetter(f"sectors.{sector}"))
            for name, sector in zip(sectors, Sectors._fields, strict=True)
        ),
    )
    note = "over, under: SRS above or below URS; exact: equal"
    return Table.of(columns, planes, title="Scores of the planes", notes=(note,))


def _documents(plane: Plane, places: int) -> Table:
    are_whole = all(placed.grade is None or placed.grade.is_integer() for placed in plane.documents)
    columns = (
        Column("run", for_machines=True, get=lambda _: plane.run),
        Column("query", for_machines=True, get=lambda _: plane.query),
        Column("document"),
        Column("rank", "count", none="not retrieved"),
        Column("grade", "number", 0 if are_whole else 4, none="unjudged"),
        *head(f"URS .{places} ← urs | SRS .{places} ← srs | distance .{places} | estimate"),
    )
    hidden = len(plane.documents) - _MOST_SHOWN
    notes = (f"{hidden:,} more in csv and jsonl",) if hidden > 0 else ()
    title = f"{_title(plane)}: documents, largest distance first"
    return Table.of(columns, plane.documents, title=title, notes=notes, most=_MOST_SHOWN)
