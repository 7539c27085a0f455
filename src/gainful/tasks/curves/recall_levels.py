"""Precision by recall: a curve for every grade level (jarvelin2000), or a generalised one for all grades.

Generalised precision and recall are those of Kekäläinen and Järvelin, JASIST 2002.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.evaluate import evaluate_runs
from gainful.gains import Gain
from gainful.kernel.parallel import Progress
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.measures.generalised import GIAP, GIPrec
from gainful.notation import choose, count_of, number_text, printable, read_number
from gainful.pages.charts import Chart, Plot
from gainful.pages.page import Column, Table
from gainful.policy import Policy
from gainful.render import Page
from gainful.tasks.curves.recall_curves import (
    CurveMeasures,
    Difference,
    Grid,
    RecallCurves,
    best_in_rows,
    checked_baseline,
    places_of_points,
    precision_axis,
    recall_points,
)

#: What counts as relevant at a grade: documents of this grade alone, or also those of higher grades.
Mode: TypeAlias = Literal["level", "rel"]

_MODES: Mapping[str, tuple[Mode, ...]] = {"level": ("level",), "rel": ("rel",), "both": ("level", "rel")}

#: With more levels than these, grades are a measurement rather than a scale: somebody has to choose.
MOST_LEVELS = 12
#: So many queries without a base are named.
_NAMED = 5


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
class RecallLevels(RecallCurves):
    """What :func:`recall_levels` found; printed, it is tables and curves.

    ``bases`` is what counts as relevant, level by level; queries without a base are left out (undefined=skip).
    """

    bases: tuple[RecallBase, ...]

    label_names: ClassVar[tuple[str, ...]] = ("mode", "grade")
    average_name: ClassVar[str] = "AvP"

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        return tuple(
            CurveMeasures(
                (base.mode, number_text(base.grade)), base.average_precision, tuple(map(base.precision_at, self.recall))
            )
            for base in self.bases
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious of the runs. Queries without a document of a level are on the page."""
        return self._notices_of(())

    def base(self, grade: float, mode: Mode = "level") -> RecallBase:
        """What counts as relevant at a level."""
        for base in self.bases:
            if (base.mode, base.grade) == (mode, grade):
                return base
        there = ", ".join(f"{base.mode}={number_text(base.grade)}" for base in self.bases)
        raise UsageError(f"expected one of {there}, found {mode}={grade}")

    def average_precision(self, run: str, grade: float, mode: Mode = "level") -> float:
        """The mean over queries of the non-interpolated average precision; NaN where no query is left."""
        return self.mean(run, self.base(grade, mode).average_precision)

    def precision(self, run: str, grade: float, mode: Mode = "level") -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        base = self.base(grade, mode)
        return tuple(self.mean(run, base.precision_at(recall)) for recall in self.recall)

    def difference(self, run: str, grade: float, mode: Mode = "level") -> Difference:
        """How far a run's average precision is from the baseline's."""
        return self.difference_of(run, self.base(grade, mode).average_precision)

    def page(self, by_query: bool = False, places: int = 4) -> Page:
        """Recall bases, average precision by level and run, differences to the baseline, a chart a level; all as
        rows."""
        titles = ("AvP by query", "Precision at recall by query") if by_query else None
        return self.page_of("recall", self._level_parts(places), titles, places)

    def _level_parts(self, places: int) -> Iterator[Table | Chart | str]:
        differences = [
            (abs(points), points, per_cent, run, base)
            for base in self.bases
            for run in self.runs
            for points, per_cent in (self.difference(run, base.grade, base.mode),)
            if points
        ]
        if differences:
            _, points, per_cent, run, base = max(differences, key=lambda each: each[0])
            share = "" if per_cent is None else f" ({per_cent:+.1f} %)"
            yield (
                f"The largest difference to {printable(self.baseline, 80)} in average precision is that of "
                f"{printable(run, 80)} at {base}: {points:+.{places_of_points(places)}f} points{share}."
            )
        yield self.bases_table()
        yield self.average_table(places)
        yield from self.difference_tables(places)
        yield from self.plots()
        yield self.average_rows("AvP", places)
        yield self.point_rows("Precision at recall", places)

    def bases_table(self) -> Table:
        """How many documents count at each level, in how many queries."""
        columns = (
            Column("mode", for_machines=True),
            Column("grade", for_machines=True, get=lambda base: number_text(base.grade)),
            Column("relevant", get=str),
            *(Column(name, "count") for name in ("queries", "empty", "documents")),
            *(Column(name, "number", 1) for name in ("mean", "median")),
            *(Column(name, "count") for name in ("lowest", "highest")),
        )
        notes = ["mean to highest: documents a query, of the queries that have one"]
        if any(base.empty for base in self.bases):
            notes.append("empty: queries without one are left out at that level (undefined=skip)")
        levels: dict[tuple[str, ...], list[str]] = {}  # by their empty queries
        for base in self.bases:
            empty = [query for query, size in zip(self.evaluations[0].queries, base.sizes, strict=True) if not size]
            if empty:
                levels.setdefault(tuple(empty), []).append(str(base))
        for queries, names in levels.items():
            more = f" and {len(queries) - _NAMED:,} more" if len(queries) > _NAMED else ""
            notes.append(f"none of {', of '.join(names)}: {', '.join(map(printable, queries[:_NAMED]))}{more}")
        return Table.of(columns, self.bases, title="Recall bases", notes=tuple(notes))

    def average_table(self, places: int, *, in_per_cent: bool = False) -> Table:
        """Levels by runs, as jarvelin2000's Table 1, which has per cents."""
        unit, title = (100, "Average precision (AvP), per cent") if in_per_cent else (1, "Average precision (AvP)")
        cells = [
            [(unit * self.average_precision(run, base.grade, base.mode),) for run in self.runs] for base in self.bases
        ]
        best = best_in_rows(cells)
        notes = ["* best at its level"] if best else []
        for base in self.bases:
            # Queries that are not answered may make a run's mean one over other queries than those with a base.
            counts = {each.run: each.count(base.average_precision) for each in self.evaluations}
            if set(counts.values()) != {base.queries}:
                listed = ", ".join(f"{printable(run, 80)} {count}" for run, count in counts.items())
                missing = self.evaluations[0].policy.missing
                done = "is left out" if missing == "skip" else "scores 0 even if its base is empty"
                notes.append(
                    f"{base}: means over {listed} queries, since one that is not answered {done} (missing={missing})"
                )
        shown = places_of_points(places) if in_per_cent else places
        return Grid("relevant", list(map(str, self.bases)), self.runs, cells, shown).table(title, notes, best)

    def difference_tables(self, places: int) -> Iterator[Table]:
        """Levels by runs: by how much each differs from the baseline."""
        others = [run for run in self.runs if run != self.baseline]
        if others:
            cells = [[tuple(self.difference(run, base.grade, base.mode)) for run in others] for base in self.bases]
            grid = Grid("relevant", list(map(str, self.bases)), others, cells, places_of_points(places))
            yield grid.table(f"Difference of AvP to {printable(self.baseline, 80)}", [self.about_points])

    def plots(self) -> Iterator[Plot]:
        """A chart a level; a grade that none exceeds is by itself what it is with all above, and drawn once."""
        alone = {base.grade: base.sizes for base in self.bases if base.mode == "level"}
        twice = {base.grade for base in self.bases if base.mode == "rel" and alone.get(base.grade) == base.sizes}
        bases = [base for base in self.bases if base.mode == "level" or base.grade not in twice]
        curves = [[self.precision(run, base.grade, base.mode) for run in self.runs] for base in bases]
        y = precision_axis("precision", [curve for of_base in curves for curve in of_base])
        for base, of_base in zip(bases, curves, strict=True):
            which = ", the highest" if base.grade in twice else ""
            yield self.plot(f"Relevant: {base}{which}", "recall", y, of_base)


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
    if judged.policy.undefined == "zero":
        # A query without documents of a level says nothing about a system there; a 0 would drown what the others say.
        judged = Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index)
    bases = _recall_bases(judged, modes, _checked_grades(judged, levels, modes))
    for base in bases if judged.policy.undefined == "error" else ():  # before any run is read
        if base.empty:
            first = printable(judged.qrels.query_ids[base.sizes.index(0)])
            queries = count_of(base.empty, "query has", "queries have")
            raise InputError(
                f"{judged.qrels.name}: {queries} no document of {base} ('{first}' first), and undefined=error forbids "
                "that",
                "--undefined skip leaves them out",
            )
    measures = [
        measure
        for base in bases
        for measure in (base.average_precision, *(base.precision_at(point) for point in recall))
    ]
    evaluations = evaluate_runs(judged, runs, measures, threads=threads, progress=progress)
    return RecallLevels(tuple(evaluations.values()), recall, evaluations[baseline].run, bases)


def recall_plan(judged: Judged, points: int = 11) -> tuple[tuple[RecallBase, ...], tuple[float, ...]]:
    """What counts as relevant from each level on, and the recall points, for who scores runs by himself: all levels, or
    the middle and the highest where there are too many."""
    there = [float(grade) for grade in judged.levels if grade > 0]
    grades = there if len(there) <= MOST_LEVELS else [there[len(there) // 2], there[-1]]
    return _recall_bases(judged, ("rel",), grades), recall_points(points)


def _recall_bases(judged: Judged, modes: Sequence[Mode], grades: Sequence[float]) -> tuple[RecallBase, ...]:
    return tuple(
        RecallBase(mode, grade, tuple(judged.recall_base(**{"rel": None, "level": None, mode: grade}).tolist()))
        for mode in modes
        for grade in grades
    )


def _checked_grades(judged: Judged, wanted: Iterable[float | str] | float | None, modes: Sequence[Mode]) -> list[float]:
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
        text = number_text(grade)
        if grade > there[-1]:
            raise UsageError(
                f"levels: no document in {name} has grade {text} or more; the highest is {number_text(there[-1])}"
            )
        if "level" in modes and grade not in there:  # its curve would be of nothing
            known = ", ".join(map(number_text, there)) if len(there) <= MOST_LEVELS else count_of(len(there), "other")
            raise UsageError(
                f"levels: no document in {name} has grade {text}; there are {known}",
                f"--by rel takes {text} and all above",
            )
    return grades


@dataclass(frozen=True, eq=False)
class GeneralisedRecall(RecallCurves):
    """What :func:`generalised_recall` found; printed, it is tables and a curve.

    ``average_measure`` is the mean over eleven recall points (gIAP), with its gain map.
    """

    average_measure: Measure

    average_name: ClassVar[str] = "gIAP"

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        return (CurveMeasures((), self.average_measure, _precision_measures(self.average_measure, self.recall)),)

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious of the runs; the points of the curve are undefined where their average is."""
        return self._notices_of((self.average_measure,))

    def average(self, run: str) -> float:
        """The mean over queries of gIAP, which is the mean over eleven recall points; NaN where no query is left."""
        return self.mean(run, self.average_measure)

    def precision(self, run: str) -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        return tuple(self.mean(run, measure) for measure in self.measures[0].points)

    def difference(self, run: str) -> Difference:
        """How far a run's average is from the baseline's."""
        return self.difference_of(run, self.average_measure)

    def page(self, by_query: bool = False, places: int = 4) -> Page:
        """Generalised precision at recall by run, its average and the differences to the baseline, and a chart."""
        titles = ("gIAP by query", "Generalised precision by query") if by_query else None
        return self.page_of("generalised", self._generalised_parts(places), titles, places)

    def _generalised_parts(self, places: int) -> Iterator[Table | Chart | str]:
        curves = [self.precision(run) for run in self.runs]
        cells = [[(value,) for value in at_recall] for at_recall in zip(*curves, strict=True)]
        cells.append([(self.average(run),) for run in self.runs])
        best = best_in_rows(cells)
        grid = Grid("recall", [*map(number_text, self.recall), "gIAP"], self.runs, cells, places)
        notes = ["* best at its recall"] if best else []
        yield grid.table("Generalised precision at generalised recall", notes, best)
        title = f"Average over eleven points: {self.average_measure}"
        table = self.average_rows(title, places, for_machines=False)
        yield table if len(self.runs) == 1 else replace(table, notes=(self.about_points,))
        title = f"Generalised precision by generalised recall (gain={getattr(self.average_measure, 'gain', '')})"
        yield self.plot(title, "generalised recall", precision_axis("generalised precision", curves), curves)
        yield self.point_rows("Generalised precision at recall, as rows", places)


@warns
def generalised_recall(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    *,
    gain: Gain | str | Mapping[float, float] = "scaled",
    measure: str | Measure | None = None,
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
    average = GIAP(gain=Gain.of(gain)) if measure is None else _average_of(measure)
    recall, baseline = recall_points(points), checked_baseline(runs, baseline)
    measures = [average, *_precision_measures(average, recall)]
    evaluations = evaluate_runs(judged, runs, measures, threads=threads, progress=progress)
    return GeneralisedRecall(tuple(evaluations.values()), recall, evaluations[baseline].run, average)


def _precision_measures(average: Measure, recall: tuple[float, ...]) -> tuple[Measure, ...]:
    parameters = {name: getattr(average, name) for name in GIAP.parameters()}
    return tuple(GIPrec(**parameters, recall=point) for point in recall)


def _average_of(measure: str | Measure) -> Measure:
    """The average of a curve, gIAP, for which gIPrec may stand: at all recalls, so that @ has no meaning."""
    if isinstance(measure, Measure):
        return measure
    text = measure.strip()
    name = choose(text.partition("(")[0].partition("@")[0].strip(), ("gIPrec", "gIAP"), option("measure"))
    if "@" in text:
        raise UsageError(
            f"{option('measure')}: expected {name} without @, found '{text}': the curve goes through all recalls",
            f"{option('points')} says at how many",
        )
    return parse("gIAP" + text.removeprefix(name))
