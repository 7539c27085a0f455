"""What is to be shown of some evaluations: all numbers, no layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from gainful.data.collection import no_such_run
from gainful.errors import UsageError
from gainful.evaluation.results import ScoredRun, Signature
from gainful.measures.base import Measure
from gainful.measures.names_trec_eval import trec_eval_name
from gainful.notation import count_of, plural_of, printable
from gainful.pages.page import Cell, Column, RowsOnDemand, Score, Table
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.pages.charts import Chart

_WIDEST = 80


class Report(Showable):
    """Evaluations of the same measures on the same queries, and what to show of them, in any format.

    ``evaluations`` is one, several, or a dict that names them, as :func:`gainful.evaluate` returns it.

    >>> import gainful
    >>> runs = {"first": {"q1": ["d1", "d2"]}, "second": {"q1": ["d2", "d1"]}}
    >>> report = Report(gainful.evaluate({"q1": {"d1": 1}}, runs, ["P@1", "RR"]), baseline="second", places=1)
    >>> print(report.text("csv").partition("\\n")[2], end="")  # without the conventions
    run,P@1,P@1 difference,RR,RR difference
    first,1.0,1.0,1.0,0.5
    second,0.0,,0.5,
    """

    #: What else there is to show of the runs, below the scores; a subclass may have something.
    further: tuple[Table | Chart | str, ...] = ()
    further_notes: tuple[str, ...] = ()
    further_header: Mapping[str, object] = MappingProxyType({})

    def __init__(
        self,
        evaluations: Mapping[str, ScoredRun] | Iterable[ScoredRun] | ScoredRun,
        by_query: bool = False,
        places: int = 4,
        baseline: str | None = None,
        by: str | None = None,
    ) -> None:
        self.evaluations = _listed(evaluations)
        self.by_query = by_query
        self.places = places
        self.baseline = baseline
        self.by = by
        _check(self)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.evaluations[0].measures

    @property
    def unit(self) -> str:
        """What a score is of: a query, or a session."""
        return self.evaluations[0].unit

    def page(self) -> Page:
        """One row a run (and query, if wanted), the best aggregates marked, the conventions as notes."""
        first, step = len(self._labels()), (1 if self.baseline is None else 2)
        marked: set[tuple[int, int]] = set()
        aggregate_row = -1
        for evaluation in self.evaluations:
            aggregate_row += 1 + (len(evaluation.query_ids) if self.by_query else 0)
            for i, measure in enumerate(self.measures):
                value = self._aggregates[measure][evaluation.run]
                if value is not None and self.best.get(measure) == value:
                    marked.add((aggregate_row, first + step * i))
        table = Table(tuple(self._columns()), RowsOnDemand(self._rows), marked=frozenset(marked))
        return Page(
            "eval",
            (table, *self._segments(), *self.further),
            tuple(self._notes()),
            self._header(),
            notes_for_machines=self.further_notes,
            scores=self._scores,
            unit=self.unit,
            keeps_places=True,
        )

    def _rows(self) -> list[tuple[Cell, ...]]:
        rows: list[tuple[Cell, ...]] = []
        scores = self._scores()
        while row := list(islice(scores, len(self.measures))):
            query = row[0].query
            labels: tuple[Cell, ...] = (row[0].run, query) if self.by_query else (row[0].run,)
            if self._texts is not None:
                labels += (None if query is None else self._texts.text(query),)
            if self.baseline is None:
                rows.append((*labels, *(score.value for score in row)))
            else:
                rows.append((*labels, *(cell for score in row for cell in (score.value, score.difference))))
        return rows

    def _header(self) -> dict[str, object]:
        first = self.evaluations[0]
        judgments = {"judgments": {"sha256": lambda: first.sha256["judgments"]}} if first.unit == "query" else {}
        return {
            "signature": str(first.signature()),
            **judgments,
            "measures": {str(measure): str(first.signature(measure)) for measure in self.measures},
            "runs": [
                {
                    "run": evaluation.run,
                    "path": evaluation.source,
                    **({"sha256": partial(_run_hash, evaluation)} if first.unit == "query" else {}),
                    plural_of(first.unit): len(evaluation.query_ids),
                    "missing": len(evaluation.missing),
                    "extra": len(evaluation.facts.extra_ids),
                    "unjudged@10": evaluation.facts.unjudged_share,
                }
                for evaluation in self.evaluations
            ],
            **self.further_header,
        }

    @property
    def _texts(self) -> Queries | None:
        """What has the texts of queries, where they are shown."""
        about = self.evaluations[0].about
        return about if self.by_query and about is not None and about.has_texts else None

    def _labels(self) -> list[Column]:
        """What a row is about."""
        query = [Column(self.unit, none="(all)")] if self.by_query else []
        return [Column("run"), *query, *([] if self._texts is None else [Column("text", none="")])]

    def _columns(self) -> Iterator[Column]:
        yield from self._labels()
        yield from self._values()

    def _values(self) -> Iterator[Column]:
        for measure in self.measures:
            is_count = measure.aggregate == "sum"
            places = 0 if is_count else self.places
            yield Column(str(measure), "count" if is_count else "number", places)
            if self.baseline is not None:
                yield Column(f"{measure} difference", "difference", places)

    def _segments(self) -> Iterator[Table]:
        """Every segment's aggregates, run by run."""
        if self.by is None:
            return
        first = self.evaluations[0]
        if first.about is None:
            raise UsageError("by: expected a table of queries, found none", "--queries FILE (queries= in Python)")
        rows: list[tuple[Cell, ...]] = []
        for segment, places in first.about.segments(self.by, first.queries).items():
            part = Report([each.at(places) for each in self.evaluations], places=self.places, baseline=self.baseline)
            rows += [(segment, run, len(places), *values) for run, *values in part._rows()]
        values = tuple(self._values())
        taken = {"run", "queries", *(column.name for column in values)}
        group = Column(f"{self.by} (group)" if self.by in taken else self.by)
        columns = (group, Column("run"), Column("queries", "count"), *values)
        yield Table(columns, rows, title=f"By {self.by}")

    def _notes(self) -> Iterator[str]:
        notes = ["* best of its column"] if self.best else []
        if self.baseline is not None:
            notes.append(f"(+/-) difference to {printable(self.baseline, _WIDEST)}")
        if self.counted:
            counts = ", ".join(f"{printable(run, _WIDEST)} {count}" for run, count in self.counted.items())
            notes.append(f"means over different numbers of {plural_of(self.unit)}: {counts}")
        if notes:
            yield "; ".join(notes)
        yield from self.further_notes
        yield from self.signatures

    @property
    def signatures(self) -> list[str]:
        """The conventions: one line, or where they differ one for each group of runs that shares them."""
        return conventions_of((evaluation.run, evaluation) for evaluation in self.evaluations)

    def _scores(self) -> Iterator[Score]:
        """The values run by run: query by query if wanted, the aggregate last; of each all measures."""
        for evaluation in self.evaluations:
            if self.by_query:
                columns = [self._query_scores(evaluation, measure) for measure in self.measures]
                yield from chain.from_iterable(zip(*columns, strict=True))
            yield from (self._aggregate_score(evaluation, measure) for measure in self.measures)

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
        measures = [measure for measure in self.measures if measure.aggregate != "whole"]
        counts = {e.run: min((e.count(measure) for measure in measures), default=0) for e in self.evaluations}
        return counts if len(set(counts.values())) > 1 else {}

    @cached_property
    def _aggregates(self) -> dict[Measure, dict[str, float | None]]:
        return {
            measure: {evaluation.run: _or_none(evaluation.aggregate(measure)) for evaluation in self.evaluations}
            for measure in self.measures
        }

    @cached_property
    def _reference(self) -> ScoredRun | None:
        return next((e for e in self.evaluations if e.run == self.baseline), None)

    def _aggregate_score(self, evaluation: ScoredRun, measure: Measure) -> Score:
        value = self._aggregates[measure][evaluation.run]
        reference = None if self.baseline is None else self._aggregates[measure][self.baseline]
        difference = self._difference(evaluation, value, reference)
        if measure.aggregate == "sum":
            value, difference = _whole(value), _whole(difference)
        return Score(evaluation.run, None, str(measure), _trec_name(measure), value, None, difference)

    def _query_scores(self, evaluation: ScoredRun, measure: Measure) -> Iterator[Score]:
        reference = {} if self._reference is None else self._reference.by_query(measure)
        text, name, is_count = str(measure), _trec_name(measure), measure.aggregate == "sum"
        for score in evaluation.scores(measure):
            value, difference = score.value, self._difference(evaluation, score.value, reference.get(score.query))
            if is_count:
                value, difference = _whole(value), _whole(difference)
            yield Score(evaluation.run, score.query, text, name, value, score.status, difference)

    def _difference(self, evaluation: ScoredRun, value: float | None, reference: float | None) -> float | None:
        if evaluation.run == self.baseline or value is None or reference is None:
            return None
        return value - reference


def conventions_of(evaluations: Iterable[tuple[str, ScoredRun]]) -> list[str]:
    """A line for all evaluations, or for each group of them that shares its conventions, with their names."""
    runs: dict[Signature, list[str]] = {}
    for run, evaluation in evaluations:
        runs.setdefault(evaluation.signature(), []).append(printable(run, _WIDEST))
    return [each.note("" if len(runs) == 1 else f"{', '.join(names)}: ") for each, names in runs.items()]


def _listed(evaluations: Mapping[str, ScoredRun] | Iterable[ScoredRun] | ScoredRun) -> tuple[ScoredRun, ...]:
    if isinstance(evaluations, ScoredRun):
        return (evaluations,)
    if isinstance(evaluations, Mapping):
        return tuple(e if e.run == name else replace(e, run=name) for name, e in evaluations.items())
    return tuple(evaluations)


def _check(report: Report) -> None:
    if not report.evaluations:
        raise UsageError("report: expected at least one evaluation, found none")
    names = [evaluation.run for evaluation in report.evaluations]
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise UsageError(
            f"report: expected every run under a name of its own, found '{printable(again)}' twice",
            "a dict gives names: Report({'mine': one, 'theirs': other})",
        )
    first, *others = report.evaluations
    for other in others:
        if other.measures != first.measures:
            raise UsageError(
                f"report: expected the same measures for all runs, found {_texts(first)} for '{printable(first.run)}' "
                f"and {_texts(other)} for '{printable(other.run)}'"
            )
        if other.judged_by != first.judged_by:
            raise UsageError(
                "report: expected the same judged_by for all runs, found "
                f"{first.judged_by or 'single queries'} and {other.judged_by or 'single queries'}"
            )
        # Sessions are the users' own: systems need not have the same.
        if first.unit == "query" and other.query_ids != first.query_ids:
            both = [count_of(len(e.query_ids), "query", "queries") for e in (first, other)]
            raise UsageError(
                f"report: expected the same judged queries for all runs, found {both[0]} for '{printable(first.run)}' "
                f"and other {both[1]} for '{printable(other.run)}'"
            )
    if report.baseline is not None and report.baseline not in names:
        raise no_such_run(report.baseline, names, "baseline")


def _texts(evaluation: ScoredRun) -> str:
    return ", ".join(map(str, evaluation.measures))


def _trec_name(measure: Measure) -> str:
    return trec_eval_name(measure) or str(measure)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value


def _run_hash(evaluation: ScoredRun) -> str | None:
    return evaluation.sha256["run"]
