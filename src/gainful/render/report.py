"""What is to be shown of some evaluations: all numbers, no layout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gainful.measures.base import Measure
from gainful.results import Evaluation


@dataclass(frozen=True, eq=False, repr=False)
class Cell:
    """One value. ``query`` is None for the aggregate; ``difference`` is to the baseline, if there is one."""

    run: str
    query: str | None
    measure: Measure
    value: float | None
    status: str | None = None
    difference: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Evaluations of the same measures on the same judgments, and what to show of them."""

    evaluations: Sequence[Evaluation]
    paths: Sequence[str]
    by_query: bool = False
    places: int = 4
    baseline: str | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.evaluations[0].measures

    def rows(self, evaluation: Evaluation) -> Iterator[list[Cell]]:
        """The cells of a run, one row a query if wanted, the aggregate last."""
        if self.by_query:
            columns = [list(self._query_cells(evaluation, measure)) for measure in self.measures]
            yield from (list(row) for row in zip(*columns, strict=True))
        yield [self._aggregate_cell(evaluation, measure) for measure in self.measures]

    @cached_property
    def best(self) -> dict[Measure, float]:
        """The best aggregate of every measure that has a better direction, where there is something to compare."""
        found: dict[Measure, float] = {}
        for measure in self.measures:
            values = [value for value in self._aggregates[measure].values() if value is not None]
            if measure.better != "neither" and len(self.evaluations) > 1 and values:
                found[measure] = max(values) if measure.better == "higher" else min(values)
        return found

    @cached_property
    def counted(self) -> dict[str, int]:
        """How many queries each run's means are over, where that differs between runs; else empty."""
        counts = {e.run: min(e.count(measure) for measure in self.measures) for e in self.evaluations}
        return counts if len(set(counts.values())) > 1 else {}

    @cached_property
    def _aggregates(self) -> dict[Measure, dict[str, float | None]]:
        return {
            measure: {evaluation.run: _or_none(evaluation.aggregate(measure)) for evaluation in self.evaluations}
            for measure in self.measures
        }

    @cached_property
    def _reference(self) -> Evaluation | None:
        return next((e for e in self.evaluations if e.run == self.baseline), None)

    def _aggregate_cell(self, evaluation: Evaluation, measure: Measure) -> Cell:
        value = self._aggregates[measure][evaluation.run]
        reference = None if self.baseline is None else self._aggregates[measure][self.baseline]
        return Cell(evaluation.run, None, measure, value, None, self._difference(evaluation, value, reference))

    def _query_cells(self, evaluation: Evaluation, measure: Measure) -> Iterator[Cell]:
        reference = {} if self._reference is None else self._reference.by_query(measure)
        for score in evaluation.scores(measure):
            difference = self._difference(evaluation, score.value, reference.get(score.query))
            yield Cell(evaluation.run, score.query, measure, score.value, score.status, difference)

    def _difference(self, evaluation: Evaluation, value: float | None, reference: float | None) -> float | None:
        if evaluation.run == self.baseline or value is None or reference is None:
            return None
        return value - reference


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
