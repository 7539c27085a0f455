"""Precision–recall curves: one for every grade level (jarvelin2000), or a generalised one for all grades.

Generalised precision and recall follow Kekäläinen and Järvelin, JASIST 2002.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from gainful.data.collection import no_such_run
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
from gainful.notation import choose, count_of, grouped, number_text, printable, read_number
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.curves.averages import checked_baseline
from gainful.tasks.run_questions import GeneralisedRecallOptions, RecallLevelOptions

#: Relevant documents of a grade: those of this grade only ("level"), or also those of higher grades ("rel").
Mode: TypeAlias = Literal["level", "rel"]

_MODES: Mapping[str, tuple[Mode, ...]] = {"level": ("level",), "rel": ("rel",), "both": ("level", "rel")}

#: With more levels, grades are a measurement rather than a scale, and levels must be chosen.
MOST_LEVELS = 12
#: Tables with more runs than this have one row per run instead of one column.
_MOST_ACROSS = 8
#: Number of queries without a base that are named.
_NAMED = 5


class Difference(NamedTuple):
    """Difference of a value in [0, 1] from the baseline's: in points (hundredths), and in percent of the latter.

    Either is None if undefined: a value is missing, or the baseline's is 0.
    """

    points: float | None
    per_cent: float | None

    @classmethod
    def of(cls, value: float, baseline: float) -> Difference:
        """Return the difference between two values.

        >>> Difference.of(0.75, 0.5), Difference.of(0.25, 0.0)
        (Difference(points=25.0, per_cent=50.0), Difference(points=25.0, per_cent=None))
        """
        if math.isnan(value) or math.isnan(baseline):
            return cls(None, None)
        points = 100 * (value - baseline)
        return cls(points, points / baseline if baseline else None)


def recall_points(count: int) -> tuple[float, ...]:
    """Return evenly spaced recall levels from 0 to 1.

    >>> recall_points(5)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    return tuple(i / (count - 1) for i in range(count))


class CurveMeasures(NamedTuple):
    """A curve of every run: its labels, its average, and the precision at each recall point."""

    labels: tuple[str, ...]
    average: Measure
    points: tuple[Measure, ...]


@dataclass(frozen=True, eq=False)
class RecallCurves(Showable):
    """Precision–recall curves of several runs, which are compared with the ``baseline``.

    ``evaluations`` are per-query scores, one evaluation per run; ``recall`` are the recall points of the curves. With
    ``by_query``, output for machines includes every query's curve.
    """

    evaluations: tuple[Evaluation, ...] = field(repr=False)
    recall: tuple[float, ...]
    baseline: str
    by_query: bool

    #: Names of a curve's labels, name of its average, and number of measures (from the first) with notices about
    #: undefined values.
    label_names: ClassVar[tuple[str, ...]] = ()
    average_name: ClassVar[str]
    noticed: ClassVar[int] = 0

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        raise NotImplementedError

    @property
    def runs(self) -> list[str]:
        return [evaluation.run for evaluation in self.evaluations]

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the runs. Queries without a document of a level are listed on the page."""
        kept = self.noticed
        return tuple(notices(replace(e, measures=e.measures[:kept], raw=e.raw[:kept]) for e in self.evaluations))

    def mean(self, run: str, measure: Measure) -> float:
        """Return the mean over queries; NaN if none is left."""
        for evaluation in self.evaluations:
            if evaluation.run == run:
                return evaluation.mean(measure)
        raise no_such_run(run, self.runs)

    def difference_of(self, run: str, measure: Measure) -> Difference:
        """Return the difference between a run's mean and the baseline's."""
        return Difference.of(self.mean(run, measure), self.mean(self.baseline, measure))

    def _page_of(self, kind: str, parts: Iterator[Table | Chart | str], titles: tuple[str, str], places: int) -> Page:
        """Return a page of these parts, followed by every query's averages and points under ``titles``."""
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
        """Return one row per curve: its average, the number of queries, and its difference from the baseline's."""
        numbers = [f"{self.average_name} .{places}", "queries #", f"points .{max(places - 2, 0)}", "percent ±1"]
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
        """Return one row per point of a curve."""
        names = ["run", *self.label_names, "measure", f"recall .{places}", f"precision .{places}"]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (each.run, *labels, str(measure), recall, each.mean(measure))
            for each in self.evaluations
            for labels, _, points in self.measures
            for recall, measure in zip(self.recall, points, strict=True)
        )
        return Table(head(names, for_machines=True), rows, title)

    def _query_rows(self, averages_title: str, points_title: str, places: int) -> Iterator[Table]:
        averages: list[tuple[Cell, ...]] = []
        points: list[tuple[Cell, ...]] = []
        for each in self.evaluations:
            for labels, average, measures in self.measures:
                named = (*labels, str(average))
                averages += [(each.run, of.query, *named, of.value, of.status) for of in each.scores(average)]
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
        return f"points (hundredths); in parentheses, percent of {printable(self.baseline, 80)}"

    def _plot(self, title: str, x: str, y: Axis, curves: Sequence[tuple[float, ...]]) -> Plot:
        lines = tuple(Line(run, self.recall, curve) for run, curve in zip(self.runs, curves, strict=True))
        return Plot(title, Axis(x, 0.0, 1.0), y, lines)


def _precision_axis(label: str, curves: Sequence[tuple[float, ...]]) -> Axis:
    """Return an axis from 0 to the next tenth above all curves, the same for all charts of a page."""
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
    """Return a table of values or differences by runs; ``best`` is the note on the marked maximum of each row."""
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
        columns += [Column(f"{each}, %", "difference", 1)] if wide > 1 else []
    shown = tuple((label, *chain(*row)) for label, row in zip(labels, cells, strict=True))
    return Table(tuple(columns), shown, title, tuple(notes), frozenset((i, 1 + wide * j) for i, j in marked))


@dataclass(frozen=True)
class RecallBase:
    """The relevant documents of a level: those of this grade (``mode`` is ``level``), or of at least it (``rel``).

    ``sizes`` are their numbers per query, with queries sorted by ID.
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
        return sum(self.sizes)

    @property
    def filled(self) -> list[int]:
        return [size for size in self.sizes if size]

    @property
    def queries(self) -> int:
        """The number of queries with at least one relevant document."""
        return len(self.filled)

    @property
    def empty(self) -> int:
        """The number of queries without any: their precision is undefined at all recall points."""
        return len(self.sizes) - self.queries


@dataclass(frozen=True, eq=False)
class RecallLevels(RecallCurves):
    """Result of :func:`recall_levels`, displayed as tables and curves.

    ``bases`` are the relevant documents by level; queries without any are omitted (undefined=skip).
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
        """Return the relevant documents of a level."""
        for base in self.bases:
            if (base.mode, base.grade) == (mode, grade):
                return base
        there = ", ".join(f"{base.mode}={number_text(base.grade)}" for base in self.bases)
        raise UsageError(f"expected one of {there}, found {mode}={grade}")

    def average_precision(self, run: str, grade: float, mode: Mode = "level") -> float:
        """Return the mean over queries of the non-interpolated average precision; NaN if no query is left."""
        return self.mean(run, self.base(grade, mode).average_precision)

    def precision(self, run: str, grade: float, mode: Mode = "level") -> tuple[float, ...]:
        """Return the curve: mean interpolated precision at each recall point."""
        base = self.base(grade, mode)
        return tuple(self.mean(run, base.precision_at(recall)) for recall in self.recall)

    def difference(self, run: str, grade: float, mode: Mode = "level") -> Difference:
        """Return the difference between a run's average precision and the baseline's."""
        return self.difference_of(run, self.base(grade, mode).average_precision)

    def page(self, places: int = 4) -> Page:
        """Return recall bases, average precision by level and run, differences from the baseline, charts, and rows."""
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
                f"Largest difference in average precision from {printable(self.baseline, 80)}: "
                f"{printable(run, 80)} at {base}, {points:+.{max(places - 2, 0)}f} points{share}."
            )
        yield self.bases_table()
        yield self.average_table(places)
        yield from self.difference_tables(places)
        yield from self.plots()
        yield self.average_rows("AvP", places)
        yield self.point_rows("Precision at recall", places)

    def bases_table(self) -> Table:
        """Return the numbers of relevant documents and of queries with some, by level."""
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
        notes = ["mean to highest: documents per query, over queries that have one"]
        if any(base.empty for base in self.bases):
            notes.append("empty: queries without one, omitted at that level (undefined=skip)")
        known, bases = self.evaluations[0].queries, [base for base in self.bases if base.empty]
        empty = (tuple(query for query, size in zip(known, base.sizes, strict=True) if not size) for base in bases)
        for queries, names in grouped(zip(empty, map(str, bases), strict=True)).items():
            more = f" and {len(queries) - _NAMED:,} more" if len(queries) > _NAMED else ""
            notes.append(f"without {', '.join(names)}: {', '.join(map(printable, queries[:_NAMED]))}{more}")
        return Table.of(columns, self.bases, title="Recall bases", notes=tuple(notes))

    def average_table(self, places: int, *, in_per_cent: bool = False) -> Table:
        """Return levels by runs; jarvelin2000's Table 1 is in percent."""
        unit, title = (100, "Average precision (AvP), %") if in_per_cent else (1, "Average precision (AvP)")
        rows, notes = {}, []
        for base in self.bases:
            rows[str(base)] = [(unit * self.mean(run, base.average_precision),) for run in self.runs]
            # With unanswered queries, a run's mean may cover other queries than those with a base.
            counts = {each.run: each.count(base.average_precision) for each in self.evaluations}
            if set(counts.values()) != {base.queries}:
                listed = ", ".join(f"{printable(run, 80)} {count}" for run, count in counts.items())
                missing = self.evaluations[0].policy.missing
                done = "are omitted" if missing == "skip" else "score 0 even if their base is empty"
                notes.append(f"{base}: means over {listed} queries; queries not answered {done} (missing={missing})")
        shown = max(places - 2, 0) if in_per_cent else places
        return _run_table(title, "relevant", rows, self.runs, shown, notes, "* best at this level")

    def difference_tables(self, places: int) -> Iterator[Table]:
        """Yield differences from the baseline, levels by runs."""
        others = [run for run in self.runs if run != self.baseline]
        if others:
            measures = {str(base): base.average_precision for base in self.bases}
            rows = {name: [self.difference_of(run, each) for run in others] for name, each in measures.items()}
            title = f"Difference in AvP from {printable(self.baseline, 80)}"
            yield _run_table(title, "relevant", rows, others, max(places - 2, 0), [self._about_points])

    def plots(self) -> Iterator[Plot]:
        """Yield one chart per level; the highest grade is the same in both modes and drawn once."""
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
    """Compute precision–recall curves for each grade level (``by="level"``), cumulatively (``"rel"``), or ``"both"``.

    ``levels`` are the grades (by default, all above 0), ``points`` is the number of recall points from 0 to 1,
    ``baseline`` the run to compare with (by default, the first). Documents of other levels keep their ranks as not
    relevant. Queries without a document of a level are omitted from its means (``undefined=skip``, whatever the
    policy, except ``undefined=error``, which refuses them).

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
        # Queries without documents of a level carry no information about it; zeros would dominate the means.
        judged = Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index)
    bases = _recall_bases(judged, modes, _checked_grades(judged, asked.levels, modes))
    for base in bases if judged.policy.undefined == "error" else ():  # before any run is read
        if base.empty:
            first = printable(judged.qrels.query_ids[base.sizes.index(0)])
            queries = count_of(base.empty, "query has", "queries have")
            raise InputError(
                f"{judged.qrels.name}: {queries} no document of {base} ('{first}' first), refused by undefined=error",
                "--undefined skip omits such queries",
            )
    measures = [each for base in bases for each in (base.average_precision, *map(base.precision_at, recall))]
    evaluations = evaluate_runs(judged, runs, measures, threads=asked.threads)
    return RecallLevels(tuple(evaluations.values()), recall, evaluations[baseline].run, asked.by_query, bases)


def recall_plan(judged: Judged) -> tuple[tuple[RecallBase, ...], tuple[float, ...]]:
    """Return the relevant documents of each level and above, and the recall points, for callers that score runs
    themselves; with too many levels, only the middle and the highest."""
    there = [float(grade) for grade in judged.levels if grade > 0]
    grades = there if len(there) <= MOST_LEVELS else [there[len(there) // 2], there[-1]]
    return _recall_bases(judged, ("rel",), grades), recall_points(11)


def _recall_bases(judged: Judged, modes: Sequence[Mode], grades: Sequence[float]) -> tuple[RecallBase, ...]:
    return tuple(
        RecallBase(mode, grade, tuple(judged.recall_base(**{"rel": None, "level": None, mode: grade}).tolist()))
        for mode in modes
        for grade in grades
    )


def _checked_grades(judged: Judged, wanted: Sequence[float | str] | float | None, modes: Sequence[Mode]) -> list[float]:
    """Return the levels in ascending order; refuse levels without documents."""
    name, there = judged.qrels.name, [float(grade) for grade in judged.levels if grade > 0]
    if not there:
        raise InputError(f"{name}: no grade is above 0")
    if wanted is None:
        if len(there) > MOST_LEVELS:
            raise UsageError(
                f"levels: {name} has {len(there):,} different grades, {number_text(there[0])} to "
                f"{number_text(there[-1])}, too many for one curve each (at most {MOST_LEVELS})",
                f"choose some: --levels {number_text(there[len(there) // 2])},{number_text(there[-1])} --by rel",
            )
        return there
    given = [wanted] if isinstance(wanted, (str, int, float)) else wanted
    grades = sorted(read_number(grade, "levels") for grade in given)
    if not grades:
        raise UsageError("levels: at least one is required")
    for grade, after in zip(grades, [*grades[1:], None], strict=True):
        text, highest = number_text(grade), number_text(there[-1])
        if grade <= 0:
            raise UsageError(f"levels: expected grades above 0, found {text}")
        if grade == after:
            raise UsageError(f"levels: duplicate level {text}")
        if grade > there[-1]:
            raise UsageError(f"levels: no document in {name} has grade {text} or more; the highest is {highest}")
        if "level" in modes and grade not in there:  # it has no relevant documents
            known = ", ".join(map(number_text, there)) if len(there) <= MOST_LEVELS else count_of(len(there), "other")
            hint = f"--by rel counts grades {text} and above"
            raise UsageError(f"levels: no document in {name} has grade {text}; there are {known}", hint)
    return grades


@dataclass(frozen=True, eq=False)
class GeneralisedRecall(RecallCurves):
    """Result of :func:`generalised_recall`, displayed as tables and a curve.

    ``average_measure`` is the mean over eleven recall points (gIAP), with its gain map.
    """

    average_measure: Measure

    average_name: ClassVar[str] = "gIAP"
    noticed: ClassVar[int] = 1  # points are undefined together with their average

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        return (CurveMeasures((), self.average_measure, _precision_measures(self.average_measure, self.recall)),)

    def average(self, run: str) -> float:
        """Return the mean over queries of gIAP, itself a mean over eleven recall points; NaN if no query is left."""
        return self.mean(run, self.average_measure)

    def precision(self, run: str) -> tuple[float, ...]:
        """Return the curve: mean interpolated precision at each recall point."""
        return tuple(self.mean(run, measure) for measure in self.measures[0].points)

    def difference(self, run: str) -> Difference:
        """Return the difference between a run's average and the baseline's."""
        return self.difference_of(run, self.average_measure)

    def page(self, places: int = 4) -> Page:
        """Return generalised precision at recall by run, averages, differences from the baseline, and a chart."""
        titles = "gIAP by query", "Generalised precision by query"
        return self._page_of("generalised", self._generalised_parts(places), titles, places)

    def _generalised_parts(self, places: int) -> Iterator[Table | Chart | str]:
        curves = [self.precision(run) for run in self.runs]
        labels = [*map(number_text, self.recall), "gIAP"]
        values = [*zip(*curves, strict=True), tuple(self.average(run) for run in self.runs)]
        rows = {label: [(value,) for value in row] for label, row in zip(labels, values, strict=True)}
        title = "Generalised precision at generalised recall"
        yield _run_table(title, "recall", rows, self.runs, places, best="* best at this recall")
        title = f"Average over eleven points: {self.average_measure}"
        table = self.average_rows(title, places, for_machines=False)
        yield table if len(self.runs) == 1 else replace(table, notes=(self._about_points,))
        title = f"Generalised precision–recall (gain={getattr(self.average_measure, 'gain', '')})"
        yield self._plot(title, "generalised recall", _precision_axis("generalised precision", curves), curves)
        yield self.point_rows("Generalised precision at recall, as rows", places)


@warns
@question(GeneralisedRecallOptions)
def generalised_recall(asked: GeneralisedRecallOptions) -> GeneralisedRecall:
    """Return interpolated generalised precision at generalised recall, averaged over queries.

    ``gain`` is the value of a document by grade (or ``measures`` gives one gIPrec or gIAP), ``points`` the number of
    recall points from 0 to 1, ``baseline`` the run to compare with (by default, the first).

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
    """Return the average of a curve, gIAP, also for a given gIPrec; @ is refused, because curves cover all recalls."""
    several = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if len(several) != 1:
        found = f"{len(several)}: {', '.join(map(str, several))}"
        raise UsageError(f"{option('measure')}: expected one measure, found {found}")
    if isinstance(several[0], Measure):
        return several[0]
    text = several[0].strip()
    name = choose(text.partition("(")[0].partition("@")[0].strip(), ("gIPrec", "gIAP"), option("measure"))
    if "@" in text:
        hint = f"{option('points')} sets the number of recall points"
        raise UsageError(f"{option('measure')}: expected {name} without @, found '{text}'", hint)
    return parse("gIAP" + text.removeprefix(name))
