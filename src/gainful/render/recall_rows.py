"""Curves of precision by recall as rows: one a curve, one a point, the same for every query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gainful.notation import number_text
from gainful.render.page import Cell, Column, Table

if TYPE_CHECKING:
    from gainful.curves.generalised_recall import GeneralisedRecall
    from gainful.curves.recall_levels import RecallLevels
    from gainful.curves.recall_points import Difference
    from gainful.measures.base import Measure
    from gainful.results import Evaluation


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
