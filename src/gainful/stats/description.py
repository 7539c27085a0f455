"""What is in a set of judgments: levels, recall bases, and what is unlike the rest."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools, Floats, Ints, distinct
from gainful.data.judged import Judged
from gainful.data.lists import is_relevant
from gainful.data.qrels import Qrels, QrelsLike
from gainful.errors import UsageError
from gainful.notation import number_text, read_number, text_of_id
from gainful.policy import Policy
from gainful.render.page import Page, Showable

#: With more levels than these, grades are a measurement rather than a scale, and queries are not counted by level.
MOST_LEVELS = 50


class LevelCount(NamedTuple):
    """How many documents have a grade, their share of all, and in how many queries there are some."""

    grade: float
    documents: int
    share: float
    queries: int


class RecallBase(NamedTuple):
    """The judged documents of one query: all, the relevant ones, and those of each level (if levels are few)."""

    query: str
    judged: int
    relevant: int
    by_level: tuple[int, ...]


class OddGrades(NamedTuple):
    """Grades unlike the rest: which they are, ascending, and how many judgments have one."""

    grades: tuple[float, ...]
    judgments: int


class AboveScale(NamedTuple):
    """Grades above the scale that was given: which they are, how many judgments have one, and where the first is."""

    grades: tuple[float, ...]
    judgments: int
    query: str
    document: str
    where: str  # in the file, or empty


class Spread(NamedTuple):
    """The lowest, middle and highest of some counts."""

    lowest: int
    median: float
    highest: int

    @classmethod
    def of(cls, counts: Iterable[int]) -> Spread:
        """The spread of at least one count."""
        counts = list(counts)
        return cls(min(counts), float(statistics.median(counts)), max(counts))


@dataclass(frozen=True)
class JudgmentDescription(Showable):
    """What :func:`describe_judgments` found; printed, it explains itself.

    Documents are counted once a query, with the grade that the policy gives.

    ``scale``          the highest grade there can be; ``reaches_scale`` whether a judge gave it
    ``above_scale``    grades above it, where it was given
    ``negative``       grades below 0, as the judges wrote them
    ``fractional``     grades that are no whole numbers where most are
    ``subtopics``      how many different values column 2 has
    ``repeated``       judgments of a document (and sub-topic, where the policy tells them apart) beyond the first
    ``conflicting``    documents with different grades; where ``judges=error`` their highest is counted here
    ``unjudged``       documents that ``negative=unjudged`` takes out
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
    unjudged: int
    policy: Policy

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.by_query)

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """The queries without a relevant document."""
        return tuple(base.query for base in self.by_query if not base.relevant)

    @property
    def judged_by_query(self) -> Spread:
        """Documents a query."""
        return Spread.of(base.judged for base in self.by_query)

    @property
    def relevant_by_query(self) -> Spread:
        """Relevant documents a query: the recall bases of binary measures."""
        return Spread.of(base.relevant for base in self.by_query)

    def page(self) -> Page:
        """Everything but the single queries, in words and tables."""
        from gainful.render.description_page import description_page

        return description_page(self)


def describe_judgments(
    judgments: Judged | QrelsLike,
    *,
    policy: Policy | str | None = None,
    rel: float | None = None,
    scale: float | None = None,
) -> JudgmentDescription:
    """Levels, recall bases by query and level, and what is odd in a set of judgments.

    ``rel`` is the lowest grade that counts as relevant (else any above 0), ``scale`` the highest grade there can be
    (else that of the judgments). Conflicts and grades above the scale are counted, not refused: it takes a description
    to find them.

    >>> found = describe_judgments({"q1": {"d1": 2, "d2": 0, "d3": 0}, "q2": {"d1": 0}})
    >>> [(level.grade, level.documents, level.share) for level in found.levels]
    [(0.0, 3, 0.75), (2.0, 1, 0.25)]
    >>> found.by_query[0].by_level, found.without_relevant
    ((2, 1), ('q2',))
    """
    rel = None if rel is None else read_number(rel, "rel")
    settled = judgments.policy if isinstance(judgments, Judged) else Policy.of(policy)
    judged = judgments if isinstance(judgments, Judged) else _prepared(Qrels.of(judgments), settled)
    qrels = judged.qrels
    highest = qrels.scale if scale is None else read_number(scale, "scale")
    if highest <= 0 and scale is not None:
        raise UsageError(f"scale: expected a number above 0, found {number_text(highest)}")
    repeated, conflicting = _repetitions(judged)
    return JudgmentDescription(
        name=qrels.name,
        judgments=len(qrels),
        documents=int(np.count_nonzero(~np.isnan(judged.grade))),
        scale=max(highest - settled.grade_zero, 0.0) if settled.grade_zero else highest,
        reaches_scale=qrels.levels[-1] >= highest,
        above_scale=_above(qrels, highest),
        rel=rel,
        levels=_levels(judged),
        by_query=_by_query(judged, rel),
        negative=_odd(qrels.grade, qrels.grade < 0),
        fractional=_fractional(qrels.grade),
        subtopics=len(qrels.subtopic_ids),
        repeated=repeated,
        conflicting=conflicting,
        unjudged=int(np.count_nonzero(np.isnan(judged.grade))),
        policy=settled,
    )


def _prepared(qrels: Qrels, policy: Policy) -> Judged:
    return Judged(qrels, policy.replace(judges="max") if policy.judges == "error" else policy)


def _repetitions(judged: Judged) -> tuple[int, int]:
    """Judgments beyond the first of a document, and documents whose judgments differ."""
    qrels, group = judged.qrels, judged.item
    if group.size == judged.grade.size:
        return 0, 0
    if judged.policy.subtopics:
        group = group * len(qrels.subtopic_ids) + qrels.subtopic
    order = np.lexsort((qrels.grade, group))
    group, grade = group[order], qrels.grade[order]
    is_same = group[1:] == group[:-1]
    differs = is_same & (grade[1:] != grade[:-1])
    return int(np.count_nonzero(is_same)), len(set(judged.item[order][1:][differs].tolist()))


def _levels(judged: Judged) -> tuple[LevelCount, ...]:
    query, level = _places(judged)
    levels = judged.levels
    documents = np.bincount(level, minlength=levels.size)
    pairs = np.unique(level * len(judged.qrels.query_ids) + query)
    queries = np.bincount(pairs // len(judged.qrels.query_ids), minlength=levels.size)
    shares = documents / max(1, level.size)
    columns = (levels.tolist(), documents.tolist(), shares.tolist(), queries.tolist())
    return tuple(LevelCount(*row) for row in zip(*columns, strict=True))


def _by_query(judged: Judged, rel: float | None) -> tuple[RecallBase, ...]:
    queries, levels = len(judged.qrels.query_ids), judged.levels.size
    query, level = _places(judged)
    counted = np.bincount(query, minlength=queries)
    if levels > MOST_LEVELS:
        levels = 0
    by_level = np.bincount(query * levels + level, minlength=queries * levels) if levels else np.zeros(0, np.int64)
    relevant = np.bincount(query[is_relevant(judged.levels, rel, None)[level]], minlength=queries)
    columns = (counted.tolist(), relevant.tolist(), by_level.reshape(queries, levels).tolist())
    return tuple(
        RecallBase(text_of_id(identifier), total, found, tuple(counts))
        for identifier, total, found, counts in zip(judged.qrels.query_ids, *columns, strict=True)
    )


def _places(judged: Judged) -> tuple[Ints, Ints]:
    """Query and level of every document that counts as judged."""
    query = np.repeat(np.arange(len(judged.qrels.query_ids)), np.diff(judged.item_offsets))
    is_judged = ~np.isnan(judged.grade)
    return query[is_judged], np.searchsorted(judged.levels, judged.grade[is_judged])


def _fractional(grade: Floats) -> OddGrades:
    is_fractional = grade != np.floor(grade)
    if 2 * np.count_nonzero(is_fractional) >= grade.size:
        is_fractional = np.zeros_like(is_fractional)  # then reals are the rule
    return _odd(grade, is_fractional)


def _above(qrels: Qrels, scale: float) -> AboveScale | None:
    rows = np.flatnonzero(qrels.grade > scale)
    if not rows.size:
        return None
    first = int(rows[0])
    return AboveScale(
        tuple(distinct(qrels.grade[rows]).tolist()),
        int(rows.size),
        text_of_id(qrels.query_ids[int(qrels.query[first])]),
        text_of_id(qrels.document(first)),
        "" if qrels.origin is None else qrels.origin.where(first),
    )


def _odd(grade: Floats, is_odd: Bools) -> OddGrades:
    return OddGrades(tuple(distinct(grade[is_odd]).tolist()), int(np.count_nonzero(is_odd)))
