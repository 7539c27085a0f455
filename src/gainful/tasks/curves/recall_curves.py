"""What curves of precision by recall have in common, by grade level or generalised: means, differences to a baseline,
and their tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from gainful.data.collection import no_such_run, require_runs
from gainful.errors import UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.evaluation.report import Report
from gainful.measures.base import Measure
from gainful.notation import printable, read_number
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page, Showable

_MOST_POINTS = 1001
#: More runs than these stand below each other instead of side by side.
_MOST_ACROSS = 8


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

    #: What the labels of a curve are of, and what its average is called.
    label_names: ClassVar[tuple[str, ...]] = ()
    average_name: ClassVar[str]

    @property
    def measures(self) -> tuple[CurveMeasures, ...]:
        """What the curves of every run are made of."""
        raise NotImplementedError

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [evaluation.run for evaluation in self.evaluations]

    def _notices_of(self, measures: tuple[Measure, ...]) -> tuple[str, ...]:
        """What is legal but suspicious of the runs, and where one of the first measures is undefined."""
        kept = len(measures)
        return tuple(notices(replace(e, measures=measures, raw=e.raw[:kept]) for e in self.evaluations))

    def mean(self, run: str, measure: Measure) -> float:
        """The mean over queries; NaN where no query is left."""
        for evaluation in self.evaluations:
            if evaluation.run == run:
                return evaluation.mean(measure)
        raise no_such_run(run, self.runs)

    def difference_of(self, run: str, measure: Measure) -> Difference:
        """How far a run's mean is from the baseline's."""
        return Difference.of(self.mean(run, measure), self.mean(self.baseline, measure))

    def page_of(self, kind: str, parts: Iterator[Table | Chart | str], titles: tuple[str, str], places: int) -> Page:
        """A page of these parts; ``titles`` are those of every query's averages and points."""
        first = self.evaluations[0]
        header: dict[str, object] = {
            "kind": kind,
            "baseline": self.baseline,
            "recall": list(self.recall),
            "signature": str(first.signature()),
            "measures": {str(each.average): str(first.signature(each.average)) for each in self.measures},
            "runs": [
                {
                    "run": evaluation.run,
                    "path": evaluation.source,
                    "queries": len(evaluation.query_ids),
                    "missing": len(evaluation.missing),
                }
                for evaluation in self.evaluations
            ],
        }
        shown = [*parts, *(self._query_rows(*titles, places) if self.by_query else ())]
        return Page("curves", tuple(shown), tuple(Report(self.evaluations).signatures), header)

    def average_rows(self, title: str, places: int, *, for_machines: bool = True) -> Table:
        """One row a curve: its average, over how many queries, and how far it is from the baseline's."""
        labels = [replace(column, for_machines=True) for column in head([*self.label_names, "measure"])]
        columns = (
            Column("run", for_machines=for_machines),
            *labels,
            Column(self.average_name, "number", places, for_machines=for_machines),
            Column("queries", "count", for_machines=for_machines),
            Column("points", "number", places_of_points(places), for_machines=for_machines),
            Column("per cent", "difference", 1, for_machines=for_machines),
        )
        rows: list[tuple[Cell, ...]] = []
        for each in self.evaluations:
            for labels_of, average, _ in self.measures:
                apart = (None, None) if each.run == self.baseline else self.difference_of(each.run, average)
                rows.append((each.run, *labels_of, str(average), each.mean(average), each.count(average), *apart))
        return Table(columns, tuple(rows), title)

    def point_rows(self, title: str, places: int) -> Table:
        """One row a point of a curve."""
        columns = head(
            ["run", *self.label_names, "measure", f"recall .{places}", f"precision .{places}"], for_machines=True
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (each.run, *labels, str(measure), recall, each.mean(measure))
            for each in self.evaluations
            for labels, _, points in self.measures
            for recall, measure in zip(self.recall, points, strict=True)
        )
        return Table(columns, rows, title)

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
    def about_points(self) -> str:
        """What differences to the baseline are in."""
        return f"points (hundredths), and in parentheses per cent of what {printable(self.baseline, 80)} has"

    def plot(self, title: str, x: str, y: Axis, curves: Sequence[tuple[float, ...]]) -> Plot:
        """A line a run."""
        lines = tuple(Line(run, self.recall, curve) for run, curve in zip(self.runs, curves, strict=True))
        return Plot(title, Axis(x, 0.0, 1.0), y, lines)


def places_of_points(places: int) -> int:
    """A point is a hundredth: with as many digits in all as the values have."""
    return max(places - 2, 0)


def precision_axis(label: str, curves: Sequence[tuple[float, ...]]) -> Axis:
    """From 0 to the next tenth above all curves, the same for all charts of a page, so that they can be compared."""
    highest = max((value for curve in curves for value in curve if not math.isnan(value)), default=1.0)
    return Axis(label, 0.0, max(math.ceil(10 * highest - 1e-9), 1) / 10)


def best_in_rows(cells: Sequence[Sequence[tuple[Cell, ...]]]) -> set[tuple[int, int]]:
    """The highest of every row, where there is something to compare."""
    best: set[tuple[int, int]] = set()
    for i, row in enumerate(cells):
        values = [math.nan if cell[0] is None else float(cell[0]) for cell in row]
        highest = max((value for value in values if not math.isnan(value)), default=math.nan)
        best.update((i, j) for j, value in enumerate(values) if value == highest)
    return best if len(cells[0]) > 1 else set()


class Grid(NamedTuple):
    """Values of things by runs; each cell is a value, or a difference in points and per cent."""

    name: str  # of the things
    things: Sequence[str]
    runs: Sequence[str]
    cells: Sequence[Sequence[tuple[Cell, ...]]]
    places: int

    def table(self, title: str, notes: Sequence[str] = (), marked: Set[tuple[int, int]] = frozenset()) -> Table:
        """Runs side by side; where they are many, below each other."""
        grid = self
        if len(self.runs) > _MOST_ACROSS:
            grid = Grid("run", self.runs, self.things, list(zip(*self.cells, strict=True)), self.places)
            marked = {(run, thing) for thing, run in marked}
        wide = len(grid.cells[0][0])
        columns = [Column(grid.name)]
        for across in grid.runs:
            columns.append(Column(across, "number", grid.places))
            if wide > 1:
                columns.append(Column(f"{across}, per cent", "difference", 1))
        rows = tuple(
            (thing, *(value for cell in row for value in cell))
            for thing, row in zip(grid.things, grid.cells, strict=True)
        )
        return Table(tuple(columns), rows, title, tuple(notes), frozenset((i, 1 + wide * j) for i, j in marked))
