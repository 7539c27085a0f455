"""Precision by recall as pages: level by level, and generalised; for machines as rows, one a curve and one a point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gainful.evaluation.report import Report
from gainful.notation import number_text, printable
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import Cell, Column, Table
from gainful.render import Page

if TYPE_CHECKING:
    from gainful.evaluation.results import Evaluation
    from gainful.measures.base import Measure
    from gainful.pages.charts import Chart
    from gainful.tasks.curves.recall_levels import Difference, GeneralisedRecall, RecallLevels


class Curve(NamedTuple):
    """One run's curve: what it is called beside the run, the measures it is made of, and its average's difference."""

    evaluation: Evaluation
    labels: tuple[str, ...]
    average: Measure
    points: tuple[tuple[float, Measure], ...]  # recall, and the precision there
    difference: Difference


class Curves(NamedTuple):
    """All curves of a page, the names of their labels, and what their average is called."""

    curves: tuple[Curve, ...]
    labels: tuple[str, ...]
    average: str
    places: int

    @classmethod
    def of_levels(cls, found: RecallLevels, places: int) -> Curves:
        """Run by run, a curve for every level."""
        curves = tuple(
            Curve(
                evaluation,
                (base.mode, number_text(base.grade)),
                base.average_precision,
                tuple((recall, base.precision_at(recall)) for recall in found.recall),
                found.difference(evaluation.run, base.grade, base.mode),
            )
            for evaluation in found.evaluations
            for base in found.bases
        )
        return cls(curves, ("mode", "grade"), "AvP", places)

    @classmethod
    def of_generalised(cls, found: GeneralisedRecall, places: int) -> Curves:
        """A curve for every run."""
        curves = tuple(
            Curve(
                evaluation,
                (),
                found.average_measure,
                tuple(zip(found.recall, found.precision_measures, strict=True)),
                found.difference(evaluation.run),
            )
            for evaluation in found.evaluations
        )
        return cls(curves, (), "gIAP", places)

    def averages(self, title: str, baseline: str, *, for_machines: bool) -> Table:
        """One row a curve: its average, over how many queries, and how far it is from the baseline's."""
        labels = [Column("run"), *(Column(name, for_machines=True) for name in (*self.labels, "measure"))]
        columns = (
            *labels,
            Column(self.average, "number", self.places),
            Column("queries", "count"),
            Column("points", "number", places_of_points(self.places)),
            Column("per cent", "difference", 1),
        )
        rows = tuple(self._average_row(curve, baseline) for curve in self.curves)
        return Table(_for_machines(columns) if for_machines else columns, rows, title)

    def _average_row(self, curve: Curve, baseline: str) -> tuple[Cell, ...]:
        evaluation, measure = curve.evaluation, curve.average
        points, per_cent = (None, None) if evaluation.run == baseline else curve.difference
        labels = (evaluation.run, *curve.labels, str(measure))
        return (*labels, evaluation.mean(measure), evaluation.count(measure), points, per_cent)

    def points(self, title: str) -> Table:
        """One row a point of a curve."""
        columns = (*_texts("run", *self.labels, "measure"), *self._point_columns)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (curve.evaluation.run, *curve.labels, str(measure), recall, curve.evaluation.mean(measure))
            for curve in self.curves
            for recall, measure in curve.points
        )
        return Table(_for_machines(columns), rows, title)

    def averages_by_query(self, title: str) -> Table:
        """One row a curve and query; no value, but a status, where the policy leaves the query out."""
        columns = (*_texts("run", "query", *self.labels, "measure"), Column(self.average, "number", self.places))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (curve.evaluation.run, score.query, *curve.labels, str(curve.average), score.value, score.status)
            for curve in self.curves
            for score in curve.evaluation.scores(curve.average)
        )
        return Table(_for_machines((*columns, Column("status"))), rows, title)

    def points_by_query(self, title: str) -> Table:
        """One row a point of a query's curve."""
        columns = (*_texts("run", "query", *self.labels, "measure"), *self._point_columns)
        rows = tuple(row for curve in self.curves for row in _query_points(curve))
        return Table(_for_machines(columns), rows, title)

    @property
    def _point_columns(self) -> tuple[Column, Column]:
        return Column("recall", "number", self.places), Column("precision", "number", self.places)


def places_of_points(places: int) -> int:
    """A point is a hundredth: with as many digits in all as the values have."""
    return max(places - 2, 0)


def _query_points(curve: Curve) -> Iterator[tuple[Cell, ...]]:
    """Query by query, as a reader of curves wants them."""
    evaluation = curve.evaluation
    values = [list(evaluation.by_query(measure).values()) for _, measure in curve.points]
    for i, query in enumerate(evaluation.queries):
        for (recall, measure), of_point in zip(curve.points, values, strict=True):
            yield (evaluation.run, query, *curve.labels, str(measure), recall, of_point[i])


def _texts(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


def _for_machines(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(replace(column, for_machines=True) for column in columns)


#: More runs than these stand below each other instead of side by side.
_MOST_ACROSS = 8

_NAMED = 5


def recall_page(found: RecallLevels, by_query: bool = False, places: int = 4) -> Page:
    """Recall bases, average precision by level and run, differences to the baseline, a chart a level; all as rows."""
    rows = Curves.of_levels(found, places)
    parts: list[Table | Chart | str] = [
        *_largest_difference(found, places),
        bases_table(found),
        average_table(found, places),
        *difference_tables(found, places),
        *level_plots(found),
        rows.averages("AvP", found.baseline, for_machines=True),
        rows.points("Precision at recall"),
    ]
    if by_query:
        parts += [rows.averages_by_query("AvP by query"), rows.points_by_query("Precision at recall by query")]
    header = _header("recall", found, [base.average_precision for base in found.bases])
    return Page("curves", tuple(parts), _notes(found.evaluations), header)


def generalised_page(found: GeneralisedRecall, by_query: bool = False, places: int = 4) -> Page:
    """Generalised precision at recall by run, its average and the differences to the baseline, and a chart."""
    rows = Curves.of_generalised(found, places)
    parts: list[Table | Chart | str] = [
        _generalised_table(found, places),
        _generalised_averages(found, rows),
        _generalised_plot(found),
        rows.points("Generalised precision at recall, as rows"),
    ]
    if by_query:
        parts += [rows.averages_by_query("gIAP by query"), rows.points_by_query("Generalised precision by query")]
    header = _header("generalised", found, [found.average_measure])
    return Page("curves", tuple(parts), _notes(found.evaluations), header)


def _header(kind: str, found: RecallLevels | GeneralisedRecall, averages: Sequence[Measure]) -> dict[str, object]:
    first = found.evaluations[0]
    return {
        "kind": kind,
        "baseline": found.baseline,
        "recall": list(found.recall),
        "signature": str(first.signature()),
        "measures": {str(measure): str(first.signature(measure)) for measure in averages},
        "runs": [
            {
                "run": evaluation.run,
                "path": evaluation.source,
                "queries": len(evaluation.query_ids),
                "missing": len(evaluation.missing),
            }
            for evaluation in found.evaluations
        ],
    }


def _notes(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    return tuple(Report(evaluations).signatures)


def _largest_difference(found: RecallLevels, places: int) -> Iterator[str]:
    """The one sentence of the paper's that everybody quotes: by how much, and at which level."""
    best = None
    for base in found.bases:
        for run in found.runs:
            points, per_cent = found.difference(run, base.grade, base.mode)
            if points and (best is None or abs(points) > abs(best[2])):
                best = run, base, points, per_cent
    if best is None:
        return
    run, base, points, per_cent = best
    decimals = places_of_points(places)
    share = "" if per_cent is None else f" ({per_cent:+.1f} %)"
    yield (
        f"The largest difference to {printable(found.baseline, 80)} in average precision is that of "
        f"{printable(run, 80)} at {base}: {points:+.{decimals}f} points{share}."
    )


def bases_table(found: RecallLevels) -> Table:
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
    if any(base.empty for base in found.bases):
        notes.append("empty: queries without one are left out at that level (undefined=skip)")
    notes += _empty(found)
    return Table.of(columns, found.bases, title="Recall bases", notes=tuple(notes))


def _empty(found: RecallLevels) -> Iterator[str]:
    """Which queries have no base; levels that have the same ones together."""
    levels: dict[tuple[str, ...], list[str]] = {}
    for base in found.bases:
        empty = [query for query, size in zip(found.evaluations[0].queries, base.sizes, strict=True) if not size]
        if empty:
            levels.setdefault(tuple(empty), []).append(str(base))
    for queries, names in levels.items():
        more = f" and {len(queries) - _NAMED:,} more" if len(queries) > _NAMED else ""
        yield f"none of {', of '.join(names)}: {', '.join(map(printable, queries[:_NAMED]))}{more}"


def average_table(found: RecallLevels, places: int, *, in_per_cent: bool = False) -> Table:
    """Levels by runs, as jarvelin2000's Table 1, which has per cents."""
    unit, title = (100, "Average precision (AvP), per cent") if in_per_cent else (1, "Average precision (AvP)")
    cells = [
        [(unit * found.average_precision(run, base.grade, base.mode),) for run in found.runs] for base in found.bases
    ]
    best = _best(cells)
    notes = [*(["* best at its level"] if best else []), *_counted(found)]
    shown = places_of_points(places) if in_per_cent else places
    grid = Grid("relevant", [str(base) for base in found.bases], found.runs, cells, shown)
    return grid.table(title, notes, best)


def _counted(found: RecallLevels) -> Iterator[str]:
    """Where queries that are not answered make a run's mean one over other queries than those with a base."""
    for base in found.bases:
        counts = {e.run: e.count(base.average_precision) for e in found.evaluations}
        if set(counts.values()) != {base.queries}:
            listed = ", ".join(f"{printable(run, 80)} {count}" for run, count in counts.items())
            missing = found.evaluations[0].policy.missing
            done = "is left out" if missing == "skip" else "scores 0 even if its base is empty"
            yield f"{base}: means over {listed} queries, since one that is not answered {done} (missing={missing})"


def difference_tables(found: RecallLevels, places: int) -> Iterator[Table]:
    """Levels by runs: by how much each differs from the baseline."""
    others = [run for run in found.runs if run != found.baseline]
    if not others:
        return
    cells = [[tuple(found.difference(run, base.grade, base.mode)) for run in others] for base in found.bases]
    grid = Grid("relevant", [str(base) for base in found.bases], others, cells, places_of_points(places))
    yield grid.table(f"Difference of AvP to {printable(found.baseline, 80)}", [_about_points(found.baseline)])


def _about_points(baseline: str) -> str:
    return f"points (hundredths), and in parentheses per cent of what {printable(baseline, 80)} has"


def level_plots(found: RecallLevels) -> Iterator[Plot]:
    """A chart a level; a grade that none exceeds is by itself what it is with all above, and drawn once."""
    alone = {base.grade: base.sizes for base in found.bases if base.mode == "level"}
    twice = {base.grade for base in found.bases if base.mode == "rel" and alone.get(base.grade) == base.sizes}
    bases = [base for base in found.bases if base.mode == "level" or base.grade not in twice]
    curves = [[found.precision(run, base.grade, base.mode) for run in found.runs] for base in bases]
    y = _precision_axis("precision", [value for of_base in curves for curve in of_base for value in curve])
    for base, of_base in zip(bases, curves, strict=True):
        title = f"Relevant: {base}" + (", the highest" if base.grade in twice else "")
        yield Plot(title, Axis("recall", 0.0, 1.0), y, _lines(found, of_base))


def _precision_axis(label: str, values: Sequence[float]) -> Axis:
    """From 0 to the next tenth above all curves, the same for all charts of a page, so that they can be compared."""
    highest = max((value for value in values if not math.isnan(value)), default=1.0)
    return Axis(label, 0.0, max(math.ceil(10 * highest - 1e-9), 1) / 10)


def _lines(found: RecallLevels | GeneralisedRecall, curves: Sequence[tuple[float, ...]]) -> tuple[Line, ...]:
    return tuple(Line(run, found.recall, curve) for run, curve in zip(found.runs, curves, strict=True))


def _generalised_table(found: GeneralisedRecall, places: int) -> Table:
    """Recall points by runs, the average last."""
    curves = [found.precision(run) for run in found.runs]
    cells = [[(curve[i],) for curve in curves] for i in range(len(found.recall))]
    cells.append([(found.average(run),) for run in found.runs])
    best = _best(cells)
    grid = Grid("recall", [*map(number_text, found.recall), "gIAP"], found.runs, cells, places)
    notes = ["* best at its recall"] if best else []
    return grid.table("Generalised precision at generalised recall", notes, best)


def _generalised_averages(found: GeneralisedRecall, rows: Curves) -> Table:
    table = rows.averages(f"Average over eleven points: {found.average_measure}", found.baseline, for_machines=False)
    return table if len(found.runs) == 1 else replace(table, notes=(_about_points(found.baseline),))


def _generalised_plot(found: GeneralisedRecall) -> Plot:
    curves = [found.precision(run) for run in found.runs]
    y = _precision_axis("generalised precision", [value for curve in curves for value in curve])
    title = f"Generalised precision by generalised recall (gain={getattr(found.average_measure, 'gain', '')})"
    return Plot(title, Axis("generalised recall", 0.0, 1.0), y, _lines(found, curves))


def _best(cells: Sequence[Sequence[tuple[Cell, ...]]]) -> set[tuple[int, int]]:
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
        if len(self.runs) > _MOST_ACROSS:
            turned = Grid("run", self.runs, self.things, list(zip(*self.cells, strict=True)), self.places)
            return turned._drawn(title, notes, {(run, thing) for thing, run in marked})
        return self._drawn(title, notes, marked)

    def _drawn(self, title: str, notes: Sequence[str], marked: Set[tuple[int, int]]) -> Table:
        wide = len(self.cells[0][0])
        columns = [Column(self.name)]
        for across in self.runs:
            columns.append(Column(across, "number", self.places))
            if wide > 1:
                columns.append(Column(f"{across}, per cent", "difference", 1))
        rows = tuple(
            (thing, *(value for cell in row for value in cell))
            for thing, row in zip(self.things, self.cells, strict=True)
        )
        places = frozenset((i, 1 + wide * j) for i, j in marked)
        return Table(tuple(columns), rows, title, tuple(notes), places)
