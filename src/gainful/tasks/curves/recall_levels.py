"""Precision by recall: a curve for every grade level (jarvelin2000), or a generalised one for all grades.

Generalised precision and recall are those of Kekäläinen and Järvelin, JASIST 2002.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from gainful.data.collection import no_such_run, require_runs
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.frozen import dataclass, field, replace
from gainful.gains import Gain
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.measures.generalised import GIAP, GIPrec
from gainful.notation import choose, count_of, number_text, printable, read_number
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.run_questions import GeneralisedRecallOptions, RecallLevelOptions

#: What counts as relevant at a grade: documents of this grade alone, or also those of higher grades.
Mode: TypeAlias = Literal["level", "rel"]

_MODES: Mapping[str, tuple[Mode, ...]] = {"level": ("level",), "rel": ("rel",), "both": ("level", "rel")}

#: With more levels than these, grades are a measurement rather than a scale: somebody has to choose.
MOST_LEVELS = 12
#: More runs than these stand below each other instead of side by side.
_MOST_ACROSS = 8
#: So many queries without a base are named.
_NAMED = 5


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
    return tuple(i / (count - 1) for i in range(count))


def checked_baseline(runs: Mapping[str, object], wanted: str | None) -> str:
    """The run that others are compared with: the wanted one, else the first."""
    require_runs(runs)
    if wanted is not None and wanted not in runs:
        raise no_such_run(wanted, runs, "baseline")
    return next(iter(runs)) if wanted is None else wanted


class CurveMeasures(NamedTuple):
    """A curve of every run: what it is called beside the run, its average, and the precision at each recall point."""

    labels: tuple[str, ...]
    average: Measure
    points: tuple[Measure, ...]


@dataclass(frozen=True, eq=False)
class RecallCurves(Showable):
    """Precision by recall of several runs, one of which is the ``baseline`` that others are compared with.

    ``evaluations`` are all scores by query, one evaluation a run; ``recall`` are the recall points of
    the curves. ``by_query``: machines get every query's curve, too.
    """

    evaluations: tuple[Evaluation, ...] = field(repr=False)
    recall: tuple[float, ...]
    baseline: str
    by_query: bool

    #: What the labels of a curve are of, what its average is called, and of how many of the first measures notices say
    #: where they are undefined.
    label_names: ClassVar[tuple[str, ...]] = ()
    average_name: ClassVar[str]
    noticed: ClassVar[int] = 0

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        """What the curves of every run are made of."""
        raise NotImplementedError

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [evaluation.run for evaluation in self.evaluations]

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious of the runs. Queries without a document of a level are on the page."""
        kept = self.noticed
        return tuple(notices(replace(e, measures=e.measures[:kept], raw=e.raw[:kept]) for e in self.evaluations))

    def mean(self, run: str, measure: Measure) -> float:
        """The mean over queries; NaN where no query is left."""
        for evaluation in self.evaluations:
            if evaluation.run == run:
                return evaluation.mean(measure)
        raise no_such_run(run, self.runs)

    def difference_of(self, run: str, measure: Measure) -> Difference:
        """How far a run's mean is from the baseline's."""
        return Difference.of(self.mean(run, measure), self.mean(self.baseline, measure))

    def _page_of(self, kind: str, parts: Iterator[Table | Chart | str], titles: tuple[str, str], places: int) -> Page:
        """A page of these parts, then every query's averages and points under their ``titles``."""
        first = self.evaluations[0]
        header: dict[str, object] = {
            "kind": kind,
            "baseline": self.baseline,
            "recall": list(self.recall),
            "signature": str(first.signature()),
            "measures": {str(each.average): str(first.signature(each.average)) for each in self.measures},
            "runs": [
                {"run": each.run, "path": each.source, "queries": len(each.query_ids), "missing": len(each.missing)}
                for each in self.evaluations
            ],
        }
        shown = [*parts, *(self._query_rows(*titles, places) if self.by_query else ())]
        return Page("curves", tuple(shown), tuple(Report(self.evaluations).signatures), header)

    def average_rows(self, title: str, places: int, *, for_machines: bool = True) -> Table:
        """One row a curve: its average, over how many queries, and how far it is from the baseline's."""
        numbers = [f"{self.average_name} .{places}", "queries #", f"points .{max(places - 2, 0)}", "per cent ±1"]
        columns = (
            *head("run", for_machines=for_machines),
            *head([*self.label_names, "measure"], for_machines=True),
            *head(numbers, for_machines=for_machines),
        )
        rows: list[tuple[Cell, ...]] = []
        for each in self.evaluations:
            for labels, average, _ in self.measures:
                apart = (None, None) if each.run == self.baseline else self.difference_of(each.run, average)
                rows.append((each.run, *labels, str(average), each.mean(average), each.count(average), *apart))
        return Table(columns, tuple(rows), title)

    def point_rows(self, title: str, places: int) -> Table:
        """One row a point of a curve."""
        names = ["run", *self.label_names, "measure", f"recall .{places}", f"precision .{places}"]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (each.run, *labels, str(measure), recall, each.mean(measure))
            for each in self.evaluations
            for labels, _, points in self.measures
            for recall, measure in zip(self.recall, points, strict=True)
        )
        return Table(head(names, for_machines=True), rows, title)

    def _query_rows(self, averages_title: str, points_title: str, places: int) -> Iterator[Table]:
        """One row a curve and query, with a status where the policy steps in; and one a point of a query's curve."""
        averages: list[tuple[Cell, ...]] = []
        points: list[tuple[Cell, ...]] = []
        for each in self.evaluations:
            for labels, average, measures in self.measures:
                averages += [
                    (each.run, score.query, *labels, str(average), score.value, score.status)
                    for score in each.scores(average)
                ]
                values = [each.by_query(measure) for measure in measures]
                points += [
                    (each.run, query, *labels, str(measure), recall, of_point[query])
                    for query in each.queries
                    for recall, measure, of_point in zip(self.recall, measures, values, strict=True)
                ]
        labels_and_measure = ["run", "query", *self.label_names, "measure"]
        columns = head([*labels_and_measure, f"{self.average_name} .{places}", "status"], for_machines=True)
        yield Table(columns, tuple(averages), averages_title)
        columns = head([*labels_and_measure, f"recall .{places}", f"precision .{places}"], for_machines=True)
        yield Table(columns, tuple(points), points_title)

    @property
    def _about_points(self) -> str:
        return f"points (hundredths), and in parentheses per cent of what {printable(self.baseline, 80)} has"

    def _plot(self, title: str, x: str, y: Axis, curves: Sequence[tuple[float, ...]]) -> Plot:
        """A line a run."""
        lines = tuple(Line(run, self.recall, curve) for run, curve in zip(self.runs, curves, strict=True))
        return Plot(title, Axis(x, 0.0, 1.0), y, lines)


def _precision_axis(label: str, curves: Sequence[tuple[float, ...]]) -> Axis:
    """From 0 to the next tenth above all curves, the same for all charts of a page, so that they can be compared."""
    highest = max((value for curve in curves for value in curve if not math.isnan(value)), default=1.0)
    return Axis(label, 0.0, max(math.ceil(10 * highest - 1e-9), 1) / 10)


def _run_table(
    title: str,
    name: str,
    rows: Mapping[str, Sequence[tuple[Cell, ...]]],
    runs: Sequence[str],
    places: int,
    notes: Sequence[str] = (),
    best: str = "",
) -> Table:
    """Rows called ``name`` by runs; each cell is a value, or a difference in points and per cent.

    Many runs stand below each other. ``best`` is the note on the highest value of every row, which is then marked.
    """
    marked: set[tuple[int, int]] = set()
    for i, row in enumerate(rows.values() if best and len(runs) > 1 else ()):
        values = [math.nan if cell[0] is None else float(cell[0]) for cell in row]
        highest = max((value for value in values if not math.isnan(value)), default=math.nan)
        marked.update((i, j) for j, value in enumerate(values) if value == highest)
    notes = [best, *notes] if marked else notes
    labels, across, cells = list(rows), runs, list(rows.values())
    if len(runs) > _MOST_ACROSS:
        name, labels, across, cells = "run", list(runs), list(rows), list(zip(*cells, strict=True))
        marked = {(j, i) for i, j in marked}
    columns, wide = [Column(name)], len(cells[0][0])
    for each in across:
        columns.append(Column(each, "number", places))
        if wide > 1:
            columns.append(Column(f"{each}, per cent", "difference", 1))
    values_of_rows = tuple(
        (label, *(value for cell in row for value in cell)) for label, row in zip(labels, cells, strict=True)
    )
    return Table(tuple(columns), values_of_rows, title, tuple(notes), frozenset((i, 1 + wide * j) for i, j in marked))


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
        return AP().replace(**{self.mode: self.grade})

    def precision_at(self, recall: float) -> Measure:
        """The measure of one point of the curve."""
        return IPrec(recall=recall).replace(**{self.mode: self.grade})

    @property
    def documents(self) -> int:
        """How many there are of all queries together."""
        return sum(self.sizes)

    @property
    def filled(self) -> list[int]:
        """The sizes above 0."""
        return [size for size in self.sizes if size]

    @property
    def queries(self) -> int:
        """How many queries have at least one."""
        return len(self.filled)

    @property
    def empty(self) -> int:
        """How many queries have none: their precision at any recall is undefined."""
        return len(self.sizes) - self.queries


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
        points = [tuple(map(base.precision_at, self.recall)) for base in self.bases]
        return tuple(
            CurveMeasures((base.mode, number_text(base.grade)), base.average_precision, at)
            for base, at in zip(self.bases, points, strict=True)
        )

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

    def page(self, places: int = 4) -> Page:
        """Recall bases, average precision by level and run, differences to the baseline, a chart a level; all as
        rows."""
        titles = "AvP by query", "Precision at recall by query"
        return self._page_of("recall", self._level_parts(places), titles, places)

    def _level_parts(self, places: int) -> Iterator[Table | Chart | str]:
        differences = [
            (abs(points), points, per_cent, run, base)
            for base in self.bases
            for run in self.runs
            for points, per_cent in (self.difference_of(run, base.average_precision),)
            if points
        ]
        if differences:
            _, points, per_cent, run, base = max(differences, key=lambda each: each[0])
            share = "" if per_cent is None else f" ({per_cent:+.1f}%)"
            yield (
                f"The largest difference to {printable(self.baseline, 80)} in average precision is that of "
                f"{printable(run, 80)} at {base}: {points:+.{max(places - 2, 0)}f} points{share}."
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
            *head("queries # | empty # | documents #"),
            Column("mean", "number", 1, get=lambda base: base.documents / base.queries),
            Column("median", "number", 1, get=lambda base: float(statistics.median(base.filled))),
            Column("lowest", "count", get=lambda base: min(base.filled)),
            Column("highest", "count", get=lambda base: max(base.filled)),
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
        rows = {
            str(base): [(unit * self.mean(run, base.average_precision),) for run in self.runs] for base in self.bases
        }
        notes = []
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
        shown = max(places - 2, 0) if in_per_cent else places
        return _run_table(title, "relevant", rows, self.runs, shown, notes, "* best at its level")

    def difference_tables(self, places: int) -> Iterator[Table]:
        """Levels by runs: by how much each differs from the baseline."""
        others = [run for run in self.runs if run != self.baseline]
        if others:
            rows = {
                str(base): [self.difference_of(run, base.average_precision) for run in others] for base in self.bases
            }
            title = f"Difference of AvP to {printable(self.baseline, 80)}"
            yield _run_table(title, "relevant", rows, others, max(places - 2, 0), [self._about_points])

    def plots(self) -> Iterator[Plot]:
        """A chart a level; a grade that none exceeds is by itself what it is with all above, and drawn once."""
        alone = {base.grade: base.sizes for base in self.bases if base.mode == "level"}
        twice = {base.grade for base in self.bases if base.mode == "rel" and alone.get(base.grade) == base.sizes}
        bases = [base for base in self.bases if base.mode == "level" or base.grade not in twice]
        curves = [[self.precision(run, base.grade, base.mode) for run in self.runs] for base in bases]
        y = _precision_axis("precision", [curve for of_base in curves for curve in of_base])
        for base, of_base in zip(bases, curves, strict=True):
            which = ", the highest" if base.grade in twice else ""
            yield self._plot(f"Relevant: {base}{which}", "recall", y, of_base)


@warns
@question(RecallLevelOptions)
def recall_levels(asked: RecallLevelOptions) -> RecallLevels:
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
    judged, runs = Judged.of(asked.qrels, asked.policy), asked.runs
    modes, recall = _MODES[asked.by], recall_points(asked.points)
    baseline = checked_baseline(runs, asked.baseline)
    if judged.policy.undefined == "zero":
        # A query without documents of a level says nothing about a system there; a 0 would drown what the others say.
        judged = Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index)
    bases = _recall_bases(judged, modes, _checked_grades(judged, asked.levels, modes))
    for base in bases if judged.policy.undefined == "error" else ():  # before any run is read
        if base.empty:
            first = printable(judged.qrels.query_ids[base.sizes.index(0)])
            queries = count_of(base.empty, "query has", "queries have")
            raise InputError(
                f"{judged.qrels.name}: {queries} no document of {base} ('{first}' first), and undefined=error forbids "
                "that",
                "--undefined skip leaves them out",
            )
    measures = [each for base in bases for each in (base.average_precision, *map(base.precision_at, recall))]
    evaluations = evaluate_runs(judged, runs, measures, threads=asked.threads)
    return RecallLevels(tuple(evaluations.values()), recall, evaluations[baseline].run, asked.by_query, bases)


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


def _checked_grades(judged: Judged, wanted: Sequence[float | str] | float | None, modes: Sequence[Mode]) -> list[float]:
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
    noticed: ClassVar[int] = 1  # the points of the curve are undefined where their average is

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        return (CurveMeasures((), self.average_measure, _precision_measures(self.average_measure, self.recall)),)

    def average(self, run: str) -> float:
        """The mean over queries of gIAP, which is the mean over eleven recall points; NaN where no query is left."""
        return self.mean(run, self.average_measure)

    def precision(self, run: str) -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        return tuple(self.mean(run, measure) for measure in self.measures[0].points)

    def difference(self, run: str) -> Difference:
        """How far a run's average is from the baseline's."""
        return self.difference_of(run, self.average_measure)

    def page(self, places: int = 4) -> Page:
        """Generalised precision at recall by run, its average and the differences to the baseline, and a chart."""
        titles = "gIAP by query", "Generalised precision by query"
        return self._page_of("generalised", self._generalised_parts(places), titles, places)

    def _generalised_parts(self, places: int) -> Iterator[Table | Chart | str]:
        curves = [self.precision(run) for run in self.runs]
        labels = [*map(number_text, self.recall), "gIAP"]
        values = [*zip(*curves, strict=True), tuple(self.average(run) for run in self.runs)]
        rows = {label: [(value,) for value in row] for label, row in zip(labels, values, strict=True)}
        title = "Generalised precision at generalised recall"
        yield _run_table(title, "recall", rows, self.runs, places, best="* best at its recall")
        title = f"Average over eleven points: {self.average_measure}"
        table = self.average_rows(title, places, for_machines=False)
        yield table if len(self.runs) == 1 else replace(table, notes=(self._about_points,))
        title = f"Generalised precision by generalised recall (gain={getattr(self.average_measure, 'gain', '')})"
        yield self._plot(title, "generalised recall", _precision_axis("generalised precision", curves), curves)
        yield self.point_rows("Generalised precision at recall, as rows", places)


@warns
@question(GeneralisedRecallOptions)
def generalised_recall(asked: GeneralisedRecallOptions) -> GeneralisedRecall:
    """Interpolated generalised precision at generalised recall, averaged over queries.

    ``gain`` is what a document of a grade is worth (or ``measures``, one gIPrec or gIAP, says that and more),
    ``points`` how many recall points there are from 0 to 1, ``baseline`` the run that others are compared with (else
    the first).

    >>> runs = {"one": {"q1": ["d1", "d2", "d3"]}, "two": {"q1": ["d3", "d2", "d1"]}}
    >>> found = generalised_recall({"q1": {"d1": 3, "d3": 1}}, runs, points=3)
    >>> found.precision("one")
    (1.0, 1.0, 0.4444444444444444)
    >>> found.precision("two")
    (0.4444444444444444, 0.4444444444444444, 0.4444444444444444)
    """
    judged, runs = Judged.of(asked.qrels, asked.policy), asked.runs
    average = GIAP(gain=Gain.of(asked.gain)) if asked.measures is None else _average_of(asked.measures)
    recall, baseline = recall_points(asked.points), checked_baseline(runs, asked.baseline)
    measures = [average, *_precision_measures(average, recall)]
    evaluations = evaluate_runs(judged, runs, measures, threads=asked.threads)
    return GeneralisedRecall(tuple(evaluations.values()), recall, evaluations[baseline].run, asked.by_query, average)


def _precision_measures(average: Measure, recall: tuple[float, ...]) -> tuple[Measure, ...]:
    parameters = {name: getattr(average, name) for name in GIAP.parameters()}
    return tuple(GIPrec(**parameters, recall=point) for point in recall)


def _average_of(measures: str | Measure | Sequence[str | Measure]) -> Measure:
    """The average of a curve, gIAP, for which gIPrec may stand: at all recalls, so that @ has no meaning."""
    several = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if len(several) != 1:
        found = f"{len(several)}: {', '.join(map(str, several))}"
        raise UsageError(f"{option('measure')}: expected one measure, found {found}")
    if isinstance(several[0], Measure):
        return several[0]
    text = several[0].strip()
    name = choose(text.partition("(")[0].partition("@")[0].strip(), ("gIPrec", "gIAP"), option("measure"))
    if "@" in text:
        raise UsageError(
            f"{option('measure')}: expected {name} without @, found '{text}': the curve goes through all recalls",
            f"{option('points')} says at how many",
        )
    return parse("gIAP" + text.removeprefix(name))
