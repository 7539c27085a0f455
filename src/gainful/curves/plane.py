"""The plane of the user's and the system's scores: where each document of a query stands, and how far off it is.

Reference: V. Della Mea and S. Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004, Figures 2 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import UsageError
from gainful.evaluation import computed, condenses, evaluate_graded
from gainful.explanation import judgments_of
from gainful.io.objects import read_id
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.distance import ADM, ADP, ADR, AverageDistance
from gainful.measures.estimates import ROUNDING
from gainful.measures.grammar import parse
from gainful.notation import bytes_of_id, number_text, read_number, text_of_id
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render.page import Page, Showable
from gainful.results import Evaluation
from gainful.signature import Signature


class PlacedDocument(NamedTuple):
    """A document on the plane. It has a rank if the list holds it and a grade if it was judged."""

    document: str
    rank: int | None
    grade: float | None
    urs: float
    srs: float
    distance: float

    @property
    def difference(self) -> float:
        """SRS - URS: above 0 the system promises too much, below 0 too little."""
        return self.srs - self.urs

    @property
    def estimate(self) -> str:
        """``over``, ``under`` or ``exact``; rounding does not decide."""
        return "exact" if abs(self.difference) <= ROUNDING else "over" if self.difference > 0 else "under"


class Sectors(NamedTuple):
    """How many documents lie on which side of the thresholds: retrieved is by SRS, relevant by URS."""

    retrieved_relevant: int
    only_retrieved: int
    only_relevant: int
    neither: int


@dataclass(frozen=True, eq=False, repr=False)
class Plane(Showable):
    """One query's documents by the user's (URS) and by the system's score (SRS), the furthest off first.

    ``documents`` holds all that the measure counts but the ``rest`` of a collection, which is neither retrieved nor
    relevant: both scores are 0. ``adm``, ``adp`` and ``adr`` are the measures' own values, NaN where undefined; those
    of a query that is not answered are what an empty list has. ``evaluation`` is what the policy makes of them.
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

    def __repr__(self) -> str:
        return f"<Plane of {self.run}, query {self.query}: {len(self.documents)} documents>"

    @property
    def count(self) -> int:
        """How many documents the averages are over, the rest of a collection included."""
        return len(self.documents) + self.rest

    def of_estimate(self, estimate: str) -> list[PlacedDocument]:
        """The documents whose relevance is estimated ``over``, ``under`` or ``exact``."""
        return [placed for placed in self.documents if placed.estimate == estimate]

    def mean_distance(self, *estimates: str) -> float:
        """The distances of documents with these estimates (none given: all), over the number of all documents.

        1 minus this is ADM; of ``over`` it is ADP, of ``under`` ADR.
        """
        chosen = [d.distance for d in self.documents if not estimates or d.estimate in estimates]
        return math.fsum(chosen) / self.count if self.count else math.nan

    @property
    def sectors(self) -> Sectors:
        """How many documents lie on which side of the thresholds."""
        limit = self.threshold - ROUNDING
        counts = dict.fromkeys(_SIDES, 0)
        for placed in self.documents:
            counts[placed.srs >= limit, placed.urs >= limit] += 1
        counts[limit <= 0, limit <= 0] += self.rest
        return Sectors(*counts.values())

    def page(self) -> Page:
        from gainful.render.plane_page import plane_page

        return plane_page([self])


#: Retrieved and relevant, only the first, only the second, neither.
_SIDES = ((True, True), (True, False), (False, True), (False, False))


class Planes(Showable):
    """Several planes, query by query, run by run."""

    def __init__(self, planes: Iterable[Plane]) -> None:
        self.planes = tuple(planes)

    def __iter__(self) -> Iterator[Plane]:
        return iter(self.planes)

    def __len__(self) -> int:
        return len(self.planes)

    def __repr__(self) -> str:
        return f"<Planes: {', '.join(f'{plane.run} {plane.query}' for plane in self.planes)}>"

    def page(self, places: int = 4) -> Page:
        from gainful.render.plane_page import plane_page

        return plane_page(self.planes, places)


def score_plane(
    qrels: QrelsLike,
    run: RunLike,
    query: str | bytes | int,
    measure: str | Measure = "ADM",
    *,
    threshold: float = 0.5,
    policy: Policy | str | None = None,
    name: str | None = None,
) -> Plane:
    """Where every document of a query stands between the user's and the system's score.

    >>> user, system = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}, {"q": {"d1": 0.9, "d2": 0.5, "d3": 0.2}}
    >>> plane = score_plane(user, system, "q", "ADM(srs=score, urs=given)")
    >>> [(placed.document, placed.urs, placed.srs, placed.estimate) for placed in plane.documents]
    [('d1', 0.8, 0.9, 'over'), ('d2', 0.4, 0.5, 'over'), ('d3', 0.1, 0.2, 'over')]
    >>> round(plane.adm, 4), round(1 - plane.mean_distance(), 4), plane.sectors
    (0.9, 0.9, Sectors(retrieved_relevant=1, only_retrieved=1, only_relevant=0, neither=1))
    """
    [plane] = score_planes(qrels, {name or "": run}, [query], measure, threshold=threshold, policy=policy)
    return plane


def score_planes(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    queries: Iterable[str | bytes | int],
    measure: str | Measure = "ADM",
    *,
    threshold: float = 0.5,
    policy: Policy | str | None = None,
    progress: Progress | None = None,
) -> Planes:
    """The planes of several runs and queries, to look at side by side. ``progress`` counts the runs that are read.

    >>> planes = score_planes({"q": {"d1": 1}}, {"a": {"q": ["d1"]}, "b": {"q": ["d2"]}}, ["q"])
    >>> [(plane.run, plane.adm) for plane in planes]
    [('a', 1.0), ('b', 0.0)]
    """
    if isinstance(queries, (str, bytes)):
        raise UsageError(f"queries: expected several, found one text, {queries!r}")
    wanted, whole, settled = distance_measure(measure), Qrels.of(qrels), Policy.of(policy)
    identifiers = dict.fromkeys(read_id(query, "query") for query in queries)
    if not identifiers or not runs:
        raise UsageError("planes: expected at least one run and one query, found none")
    limit = read_number(threshold, "threshold")
    if not 0 <= limit <= 1:
        raise UsageError(f"threshold: expected a score from 0 to 1, found {number_text(limit)}")
    judged = [Judged(judgments_of(whole, query), settled) for query in identifiers]
    for one in judged:
        wanted.check(one.levels)
    lists = dict(_read(runs, identifiers, progress or Progress()))
    return Planes(_plane(wanted, one, run, name, limit, whole) for one in judged for name, run in lists.items())


def _read(runs: Mapping[str, RunLike], queries: Iterable[bytes], progress: Progress) -> Iterator[tuple[str, Run]]:
    """The lists of some queries, run by run."""
    progress.total = len(runs)
    progress.report()
    for name, run in runs.items():
        yield name, Run.of(run).select(queries)
        progress.advance(1)


def distance_measure(measure: str | Measure) -> ADM:
    """ADM with the parameters of ADM, ADP or ADR.

    >>> str(distance_measure("ADR(over=judged)@100"))
    'ADM(over=judged)@100'
    """
    wanted = parse(measure)
    if not isinstance(wanted, AverageDistance):
        raise UsageError(
            f"{wanted}: expected ADM, ADP or ADR, which compare scores", "for example ADM(over=judged)@100"
        )
    return ADM(**_parameters(wanted))


def _parameters(measure: AverageDistance) -> dict[str, Any]:
    return {field.name: getattr(measure, field.name) for field in fields(measure)}


def _plane(measure: ADM, judged: Judged, run: Run, name: str, threshold: float, whole: Qrels) -> Plane:
    [query] = judged.qrels.query_ids
    own = run.select([query])
    wants_scores = "scores" in measure.needed()
    graded = join(judged, own, judged.policy, want_scores=wants_scores, want_rows=True, name=name or None)
    seen = graded.condensed() if condenses(measure, graded.policy) else graded
    block, alike = Block(seen, np.zeros(1, np.int64)), _parameters(measure)
    measures = (measure, ADP(**alike), ADR(**alike))
    raw = np.array([computed(one, block) for one in measures])
    # Here the policy refuses what it calls an error.
    evaluation = evaluate_graded(graded, measures, raw=raw)
    adm, adp, adr = raw[:, 0].tolist()
    return Plane(
        graded.name,
        text_of_id(query),
        measure,
        threshold,
        tuple(sorted(_placed(measure, block, own), key=_furthest_first)),
        int(measure.compared(block).rest[0]),
        adm,
        adp,
        adr,
        bool(graded.answered[0]),
        Signature(measure, graded.policy, whole.scale, len(whole.query_ids)),
        evaluation,
    )


def _furthest_first(placed: PlacedDocument) -> tuple[float, float, bytes]:
    # Rounded, so that what rounding makes differ is ordered by rank.
    rank = math.inf if placed.rank is None else placed.rank
    return -round(abs(placed.difference), 12), rank, bytes_of_id(placed.document)


def _placed(measure: ADM, block: Block, run: Run) -> Iterator[PlacedDocument]:
    """The documents that count: those of the list by rank, then those that it misses."""
    graded, compared = block.graded, measure.compared(block)
    grades = dict(zip(graded.hit_rank.tolist(), graded.hit_grade.tolist(), strict=True))
    listed = [(run.document(int(graded.row[rank - 1])), rank, grades.get(rank)) for rank in compared.rank.tolist()]
    scores = (compared.urs.tolist(), compared.srs.tolist(), measure.distances(compared).tolist())
    for (document, rank, grade), *values in zip([*listed, *_missed(measure, block, graded)], *scores, strict=True):
        yield PlacedDocument(text_of_id(document), rank, grade, *values)


def _missed(measure: ADM, block: Block, graded: GradedRun) -> list[tuple[bytes, None, float]]:
    missed, judged = measure.missed(block), graded.judged
    items = judged.items_best_first(graded.is_missed_after(measure.cutoff))[missed.rank - 1]
    return [
        (judged.document_of(item), None, grade)
        for item, grade in zip(items.tolist(), missed.grade.tolist(), strict=True)
    ]
