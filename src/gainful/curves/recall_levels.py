"""Precision by recall, separately for every grade level (jarvelin2000)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from gainful.ahead import ReadRun
from gainful.curves.recall_points import Difference, checked_baseline, evaluation_of, recall_points
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError
from gainful.evaluation import evaluate_judged
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure
from gainful.notation import choose, count_of, number_text, printable, read_number
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render.page import Page, Showable
from gainful.results import Evaluation

#: What counts as relevant at a grade: documents of this grade alone, or also those of higher grades.
Mode: TypeAlias = Literal["level", "rel"]

_MODES: Mapping[str, tuple[Mode, ...]] = {"level": ("level",), "rel": ("rel",), "both": ("level", "rel")}

#: With more levels than these, grades are a measurement rather than a scale: somebody has to choose.
MOST_LEVELS = 12


@dataclass(frozen=True)
class RecallBase:
    """The relevant documents at a level: of this grade alone (``mode`` is ``level``), or of at least it (``rel``).

    ``sizes`` are how many each query has, in byte order of the queries.
    """

    mode: Mode
    grade: float
    sizes: tuple[int, ...] = field(repr=False)

    def __str__(self) -> str:
        return f"grade {number_text(self.grade)}" + (" or more" if self.mode == "rel" else "")

    @property
    def average_precision(self) -> Measure:
        """The measure of the whole curve."""
        return AP(**self._relevant)

    def precision_at(self, recall: float) -> Measure:
        """The measure of one point of the curve."""
        return IPrec(**self._relevant, recall=recall)

    @property
    def documents(self) -> int:
        """How many there are of all queries together."""
        return sum(self.sizes)

    @property
    def queries(self) -> int:
        """How many queries have at least one."""
        return len(self._filled)

    @property
    def empty(self) -> int:
        """How many queries have none: their precision at any recall is undefined."""
        return len(self.sizes) - self.queries

    @property
    def mean(self) -> float:
        """How many a query has on average, of those that have one."""
        return self.documents / self.queries

    @property
    def median(self) -> float:
        """The middle size, of the queries that have one."""
        return float(statistics.median(self._filled))

    @property
    def lowest(self) -> int:
        """The smallest size above 0."""
        return min(self._filled)

    @property
    def highest(self) -> int:
        """The largest size."""
        return max(self._filled)

    @property
    def _relevant(self) -> dict[str, Any]:
        return {self.mode: self.grade}

    @property
    def _filled(self) -> list[int]:
        return [size for size in self.sizes if size]


@dataclass(frozen=True, eq=False)
class RecallLevels(Showable):
    """What :func:`recall_levels` found; printed, it is tables and curves.

    ``bases``        what counts as relevant, level by level
    ``recall``       the recall points of the curves
    ``baseline``     the run that others are compared with
    ``evaluations``  all scores by query, one evaluation a run; queries without a base are left out (undefined=skip)
    """

    evaluations: tuple[Evaluation, ...] = field(repr=False)
    bases: tuple[RecallBase, ...]
    recall: tuple[float, ...]
    baseline: str

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [evaluation.run for evaluation in self.evaluations]

    def base(self, grade: float, mode: Mode = "level") -> RecallBase:
        """What counts as relevant at a level."""
        for base in self.bases:
            if (base.mode, base.grade) == (mode, grade):
                return base
        there = ", ".join(f"{base.mode}={number_text(base.grade)}" for base in self.bases)
        raise UsageError(f"expected one of {there}, found {mode}={grade}")

    def average_precision(self, run: str, grade: float, mode: Mode = "level") -> float:
        """The mean over queries of the non-interpolated average precision; NaN where no query is left."""
        return evaluation_of(self.evaluations, run).mean(self.base(grade, mode).average_precision)

    def precision(self, run: str, grade: float, mode: Mode = "level") -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        evaluation, base = evaluation_of(self.evaluations, run), self.base(grade, mode)
        return tuple(evaluation.mean(base.precision_at(recall)) for recall in self.recall)

    def difference(self, run: str, grade: float, mode: Mode = "level") -> Difference:
        """How far a run's average precision is from the baseline's."""
        value, baseline = (self.average_precision(name, grade, mode) for name in (run, self.baseline))
        return Difference.of(value, baseline)

    def page(self) -> Page:
        """Recall bases, average precision with the differences to the baseline, and the curves."""
        from gainful.render.recall_page import recall_page

        return recall_page(self)


def recall_levels(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    levels: Iterable[float | str] | float | None = None,
    by: str = "both",
    points: int = 11,
    baseline: str | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> RecallLevels:
    """Precision by recall for every grade level by itself (``by="level"``), cumulatively (``"rel"``), or ``"both"``.

    ``levels`` are the grades (else all above 0), ``points`` how many recall points there are from 0 to 1, ``baseline``
    the run that others are compared with (else the first). Documents of other levels stay at their ranks as not
    relevant. Queries without a document of a level are left out of its means (``undefined=skip``, whatever the policy
    says; ``undefined=error`` refuses them).

    >>> runs = {"one": {"q1": ["d1", "d2", "d3"]}, "two": {"q1": ["d3", "d2", "d1"]}}
    >>> found = recall_levels({"q1": {"d1": 2, "d3": 1}}, runs, points=3)
    >>> found.average_precision("two", 2), found.average_precision("two", 1, "rel")
    (0.3333333333333333, 0.8333333333333333)
    >>> found.precision("one", 1, "rel")
    (1.0, 1.0, 0.6666666666666666)
    >>> found.difference("two", 1)
    Difference(points=66.66666666666667, per_cent=200.00000000000003)
    """
    return recall_levels_judged(
        Judged(Qrels.of(qrels), Policy.of(policy)),
        runs,
        levels=levels,
        by=by,
        points=points,
        baseline=baseline,
        threads=threads,
        progress=progress,
    )


def recall_levels_judged(
    judged: Judged,
    runs: Mapping[str, RunLike | ReadRun],
    *,
    levels: Iterable[float | str] | float | None = None,
    by: str = "both",
    points: int = 11,
    baseline: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> RecallLevels:
    """:func:`recall_levels` with judgments that are already prepared."""
    modes, recall = _MODES[choose(by, _MODES, "by")], recall_points(points)
    baseline = checked_baseline(runs, baseline)
    judged = _skipping(judged)
    grades = _grades(judged, levels, modes)
    bases = tuple(
        RecallBase(mode, grade, tuple(judged.recall_base(**_relevant(mode, grade)).tolist()))
        for mode in modes
        for grade in grades
    )
    _refuse_empty(judged, bases)
    measures = [
        measure
        for base in bases
        for measure in (base.average_precision, *(base.precision_at(point) for point in recall))
    ]
    evaluations = evaluate_judged(judged, runs, measures, threads=threads, progress=progress)
    return RecallLevels(tuple(evaluations.values()), bases, recall, evaluations[baseline].run)


def _skipping(judged: Judged) -> Judged:
    """A query without documents of a level says nothing about a system there; a 0 would drown what the others say."""
    if judged.policy.undefined != "zero":
        return judged
    return Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index)


def _refuse_empty(judged: Judged, bases: Sequence[RecallBase]) -> None:
    """What the policy calls an error, before any run is read."""
    if judged.policy.undefined != "error":
        return
    for base in bases:
        if base.empty:
            first = printable(judged.qrels.query_ids[base.sizes.index(0)])
            queries = count_of(base.empty, "query has", "queries have")
            raise InputError(
                f"{judged.qrels.name}: {queries} no document of {base} ('{first}' first), and undefined=error forbids "
                "that",
                "--undefined skip leaves them out",
            )


def _relevant(mode: Mode, grade: float) -> dict[str, float | None]:
    return {"rel": None, "level": None, mode: grade}


def _grades(judged: Judged, wanted: Iterable[float | str] | float | None, modes: Sequence[Mode]) -> list[float]:
    """The levels in ascending order; each has documents."""
    name, there = judged.qrels.name, [float(grade) for grade in judged.levels if grade > 0]
    if not there:
        raise InputError(f"{name}: expected grades above 0, found none")
    if wanted is None:
        if len(there) > MOST_LEVELS:
            raise UsageError(
                f"levels: expected at most {MOST_LEVELS} unless they are named, found {len(there):,} different grades "
                f"in {name}, {number_text(there[0])} to {number_text(there[-1])}",
                f"--levels {number_text(there[len(there) // 2])},{number_text(there[-1])} --by rel takes these grades "
                "and all above",
            )
        return there
    given = [wanted] if isinstance(wanted, (str, int, float)) else wanted
    grades = sorted(read_number(grade, "levels") for grade in given)
    if not grades:
        raise UsageError("levels: expected at least one, found none")
    for grade, after in zip(grades, [*grades[1:], None], strict=True):
        if grade <= 0:
            raise UsageError(f"levels: expected grades above 0, found {number_text(grade)}")
        if grade == after:
            raise UsageError(f"levels: expected each level once, found {number_text(grade)} twice")
        _check_grade(grade, there, modes, name)
    return grades


def _check_grade(grade: float, there: Sequence[float], modes: Sequence[Mode], name: str) -> None:
    """Refuses a level that no document has: its curve would be of nothing."""
    text = number_text(grade)
    if grade > there[-1]:
        raise UsageError(
            f"levels: no document in {name} has grade {text} or more; the highest is {number_text(there[-1])}"
        )
    if "level" in modes and grade not in there:
        known = ", ".join(map(number_text, there)) if len(there) <= MOST_LEVELS else count_of(len(there), "other")
        raise UsageError(
            f"levels: no document in {name} has grade {text}; there are {known}", f"--by rel takes {text} and all above"
        )
