"""Precision by recall: a curve for every grade level (jarvelin2000), or a generalised one for all grades.

Generalised precision and recall are those of Kekäläinen and Järvelin, JASIST 2002.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from gainful.data.collection import no_such_run, require_runs
from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.results import Evaluation
from gainful.gains import Gain
from gainful.kernel.parallel import Progress
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure
from gainful.measures.generalised import GIAP, GIPrec
from gainful.notation import choose, count_of, number_text, printable, read_number
from gainful.policy import Policy
from gainful.render import Page, Showable

_MOST_POINTS = 1001


class Difference(NamedTuple):
    """How far a value in [0, 1] is from the baseline's: in points (hundredths), and in per cent of the baseline's.

    Either is None where there is no such number: a value is missing, or the baseline's is 0.
    """

    points: float | None
    per_cent: float | None

    @classmethod
    def of(cls, value: float, baseline: float) -> Difference:
        """The difference of two values.

        >>> Difference.of(0.75, 0.5), Difference.of(0.25, 0.0)
        (Difference(points=25.0, per_cent=50.0), Difference(points=25.0, per_cent=None))
        """
        if math.isnan(value) or math.isnan(baseline):
            return cls(None, None)
        points = 100 * (value - baseline)
        return cls(points, points / baseline if baseline else None)


def recall_points(count: int) -> tuple[float, ...]:
    """So many recall levels from 0 to 1, as far from each other.

    >>> recall_points(5)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    number = read_number(count, "points")
    if number != int(number) or not 2 <= number <= _MOST_POINTS:
        raise UsageError(f"points: expected a whole number from 2 to {_MOST_POINTS}, found {count}")
    return tuple(i / (int(number) - 1) for i in range(int(number)))


def checked_baseline(runs: Mapping[str, object], wanted: str | None) -> str:
    """The run that others are compared with: the wanted one, else the first."""
    require_runs(runs)
    if wanted is not None and wanted not in runs:
        raise no_such_run(wanted, runs, "baseline")
    return next(iter(runs)) if wanted is None else wanted


class _OfRuns(Showable):
    """Evaluations of several runs, one of which is what others are compared with."""

    evaluations: tuple[Evaluation, ...]
    baseline: str

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [evaluation.run for evaluation in self.evaluations]

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious of the runs, one line each."""
        from gainful.evaluation.notices import notices

        kept = len(self._noticed)
        return tuple(notices(replace(e, measures=self._noticed, raw=e.raw[:kept]) for e in self.evaluations))

    @property
    def _noticed(self) -> tuple[Measure, ...]:
        """The measures of which it is worth saying where they are undefined. Queries without a document of a level are
        on the page: there is no need to say it again of every run."""
        return ()

    def _mean(self, run: str, measure: Measure) -> float:
        """The mean over queries; NaN where no query is left."""
        for evaluation in self.evaluations:
            if evaluation.run == run:
                return evaluation.mean(measure)
        raise no_such_run(run, self.runs)

    def _difference(self, run: str, measure: Measure) -> Difference:
        return Difference.of(self._mean(run, measure), self._mean(self.baseline, measure))


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
class RecallLevels(_OfRuns):
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

    def base(self, grade: float, mode: Mode = "level") -> RecallBase:
        """What counts as relevant at a level."""
        for base in self.bases:
            if (base.mode, base.grade) == (mode, grade):
                return base
        there = ", ".join(f"{base.mode}={number_text(base.grade)}" for base in self.bases)
        raise UsageError(f"expected one of {there}, found {mode}={grade}")

    def average_precision(self, run: str, grade: float, mode: Mode = "level") -> float:
        """The mean over queries of the non-interpolated average precision; NaN where no query is left."""
        return self._mean(run, self.base(grade, mode).average_precision)

    def precision(self, run: str, grade: float, mode: Mode = "level") -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        base = self.base(grade, mode)
        return tuple(self._mean(run, base.precision_at(recall)) for recall in self.recall)

    def difference(self, run: str, grade: float, mode: Mode = "level") -> Difference:
        """How far a run's average precision is from the baseline's."""
        return self._difference(run, self.base(grade, mode).average_precision)

    def page(self) -> Page:
        """Recall bases, average precision with the differences to the baseline, and the curves."""
        from gainful.tasks.curves.recall_page import recall_page

        return recall_page(self)


@warns
def recall_levels(
    qrels: QrelsLike | Judged,
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
    judged = Judged.of(qrels, policy)
    modes, recall = _MODES[choose(by, _MODES, "by")], recall_points(points)
    baseline = checked_baseline(runs, baseline)
    judged = _skipping(judged)
    grades = _grades(judged, levels, modes)
    bases = _bases(judged, modes, grades)
    _refuse_empty(judged, bases)
    measures = [
        measure
        for base in bases
        for measure in (base.average_precision, *(base.precision_at(point) for point in recall))
    ]
    evaluations = evaluate_runs(judged, runs, measures, threads=threads, progress=progress)
    return RecallLevels(tuple(evaluations.values()), bases, recall, evaluations[baseline].run)


def recall_plan(judged: Judged, points: int = 11) -> tuple[tuple[RecallBase, ...], tuple[float, ...]]:
    """What counts as relevant from each level on, and the recall points, for who scores runs by himself: all levels, or
    the middle and the highest where there are too many."""
    there = [float(grade) for grade in judged.levels if grade > 0]
    grades = there if len(there) <= MOST_LEVELS else [there[len(there) // 2], there[-1]]
    return _bases(judged, ("rel",), grades), recall_points(points)


def _bases(judged: Judged, modes: Sequence[Mode], grades: Sequence[float]) -> tuple[RecallBase, ...]:
    return tuple(RecallBase(mode, grade, _sizes(judged, mode, grade)) for mode in modes for grade in grades)


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


def _sizes(judged: Judged, mode: Mode, grade: float) -> tuple[int, ...]:
    rel, level = (grade, None) if mode == "rel" else (None, grade)
    return tuple(judged.recall_base(rel, level).tolist())


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


@dataclass(frozen=True, eq=False)
class GeneralisedRecall(_OfRuns):
    """What :func:`generalised_recall` found; printed, it is tables and a curve.

    ``average_measure``  the mean over eleven recall points (gIAP), with its gain map
    ``recall``           the recall points of the curve
    ``baseline``         the run that others are compared with
    ``evaluations``      all scores by query, one evaluation a run
    """

    evaluations: tuple[Evaluation, ...] = field(repr=False)
    average_measure: Measure
    recall: tuple[float, ...]
    baseline: str

    @property
    def _noticed(self) -> tuple[Measure, ...]:
        """The points of the curve are undefined where their average is."""
        return (self.average_measure,)

    @property
    def precision_measures(self) -> list[Measure]:
        """The measures of the curve's points."""
        return _precision_measures(self.average_measure, self.recall)

    def average(self, run: str) -> float:
        """The mean over queries of gIAP, which is the mean over eleven recall points; NaN where no query is left."""
        return self._mean(run, self.average_measure)

    def precision(self, run: str) -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        return tuple(self._mean(run, measure) for measure in self.precision_measures)

    def difference(self, run: str) -> Difference:
        """How far a run's average is from the baseline's."""
        return self._difference(run, self.average_measure)

    def page(self) -> Page:
        """Precision at recall, its average with the differences to the baseline, and the curve."""
        from gainful.tasks.curves.recall_page import generalised_page

        return generalised_page(self)


@warns
def generalised_recall(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    *,
    gain: Gain | str | Mapping[float, float] = "scaled",
    measure: Measure | None = None,
    points: int = 11,
    baseline: str | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GeneralisedRecall:
    """Interpolated generalised precision at generalised recall, averaged over queries.

    ``gain`` is what a document of a grade is worth (or ``measure``, a gIAP, says that and more), ``points`` how many
    recall points there are from 0 to 1, ``baseline`` the run that others are compared with (else the first).

    >>> runs = {"one": {"q1": ["d1", "d2", "d3"]}, "two": {"q1": ["d3", "d2", "d1"]}}
    >>> found = generalised_recall({"q1": {"d1": 3, "d3": 1}}, runs, points=3)
    >>> found.precision("one")
    (1.0, 1.0, 0.4444444444444444)
    >>> found.precision("two")
    (0.4444444444444444, 0.4444444444444444, 0.4444444444444444)
    """
    judged = Judged.of(qrels, policy)
    average = GIAP(gain=Gain.of(gain)) if measure is None else measure
    recall, baseline = recall_points(points), checked_baseline(runs, baseline)
    measures = [average, *_precision_measures(average, recall)]
    evaluations = evaluate_runs(judged, runs, measures, threads=threads, progress=progress)
    return GeneralisedRecall(tuple(evaluations.values()), average, recall, evaluations[baseline].run)


def _precision_measures(average: Measure, recall: tuple[float, ...]) -> list[Measure]:
    parameters = {name: getattr(average, name) for name in GIAP.parameters()}
    return [GIPrec(**parameters, recall=point) for point in recall]
