"""The page of one or several evaluations: scores and notes, without layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gainful.data.collection import no_such_run
from gainful.errors import UsageError
from gainful.evaluation.beside import KINDS
from gainful.evaluation.results import ScoredRun
from gainful.measures.base import Measure
from gainful.notation import grouped, plural_of, printable, units, worth_text
from gainful.pages.page import Cell, Column, RowsOnDemand, ScoreLine, Table, head
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.pages.charts import Chart

_WIDEST = 80


class Report(Showable):
    """Evaluations of the same measures on the same queries, with display options, in any output format.

    ``evaluations`` is one, several, or a dict of names as returned by :func:`gainful.evaluate`.

    >>> import gainful
    >>> runs = {"first": {"q1": ["d1", "d2"]}, "second": {"q1": ["d2", "d1"]}}
    >>> report = Report(gainful.evaluate({"q1": {"d1": 1}}, runs, ["P@1", "RR"]), baseline="second", places=1)
    >>> print(report.text("csv").partition("\\n")[2], end="")  # without the conventions
    run,P@1,P@1 difference,RR,RR difference
    first,1.0,1.0,1.0,0.5
    second,0.0,,0.5,
    """

    #: Parts that subclasses add below the scores.
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
        if isinstance(evaluations, ScoredRun):
            evaluations = [evaluations]
        elif isinstance(evaluations, Mapping):
            evaluations = [e if e.run == name else replace(e, run=name) for name, e in evaluations.items()]
        self.evaluations = tuple(evaluations)
        self.by_query = by_query
        self.places = places
        self.baseline = baseline
        self.by = by
        if not self.evaluations:
            raise UsageError("report: no evaluations")
        names = [evaluation.run for evaluation in self.evaluations]
        if len(set(names)) < len(names):
            again = next(name for name in names if names.count(name) > 1)
            hint = "a dict gives names: Report({'mine': one, 'theirs': other})"
            raise UsageError(f"report: duplicate run '{printable(again)}'", hint)
        first, *others = self.evaluations
        for other in others:
            if other.measures != first.measures:
                one, two = (f"{', '.join(map(str, e.measures))} for '{printable(e.run)}'" for e in (first, other))
                raise UsageError(f"report: runs have different measures: {one}, and {two}")
            if other.judged_by != first.judged_by:
                raise UsageError("report: runs have different judged_by: ")
            # Systems may have different sessions, which belong to users.
            if first.unit == "query" and other.query_ids != first.query_ids:
                one, two = (f"{units(len(e.query_ids), 'query')} for '{printable(e.run)}'" for e in (first, other))
                raise UsageError(f"report: runs have different judged queries: {one}, and other {two}")
        if self.baseline is not None and self.baseline not in names:
            raise no_such_run(self.baseline, names, "baseline")

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.evaluations[0].measures

    @property
    def unit(self) -> str:
        """The unit that is scored: query or session."""
        return self.evaluations[0].unit

    def page(self) -> Page:
        """Return one row per run (and query), with the best aggregates marked and the conventions as notes."""
        labels = [Column("run"), *([Column(self.unit, none="(all)")] if self.by_query else [])]
        labels += [] if self._texts is None else [Column("text", none="")]
        step = 1 if self.baseline is None else 2
        # The best aggregate of each measure with a direction, if several runs are shown.
        best: dict[Measure, float] = {}
        for measure in self.measures if len(self.evaluations) > 1 else ():
            values = [value for value in self._aggregates[measure].values() if value is not None]
            if measure.better != "neither" and values:
                best[measure] = max(values) if measure.better == "higher" else min(values)
        marked: set[tuple[int, int]] = set()
        aggregate_row = -1
        for evaluation in self.evaluations:
            aggregate_row += 1 + (len(evaluation.query_ids) if self.by_query else 0)
            for i, measure in enumerate(self.measures):
                value = self._aggregates[measure][evaluation.run]
                if value is not None and best.get(measure) == value:
                    marked.add((aggregate_row, len(labels) + step * i))
        table = Table((*labels, *self._values()), RowsOnDemand(aggregate_row + 1, self._rows), marked=frozenset(marked))
        return Page(
            "eval",
            (table, *self._segments(), *self._beside(), *self.further),
            (*self._legend(bool(best)), *self.further_notes, *self.signatures),
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
            cells = ((score.value, score.difference)[: 1 if self.baseline is None else 2] for score in row)
            rows.append((*labels, *chain.from_iterable(cells)))
        return rows

    def _header(self) -> dict[str, object]:
        first, is_of_queries = self.evaluations[0], self.unit == "query"
        judgments = {"judgments": {"sha256": lambda: first.sha256_of("judgments")}} if is_of_queries else {}
        return {
            "signature": str(first.signature()),
            **judgments,
            "measures": {str(measure): str(first.signature(measure)) for measure in self.measures},
            "runs": [
                {
                    "run": evaluation.run,
                    "path": evaluation.source,
                    **({"sha256": lambda evaluation=evaluation: evaluation.sha256_of("run")} if is_of_queries else {}),
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
        about = self.evaluations[0].about
        return about if self.by_query and about is not None and about.has_texts else None

    def _values(self) -> Iterator[Column]:
        for measure in self.measures:
            is_count = measure.aggregate == "sum"
            places = 0 if is_count else self.places
            yield Column(str(measure), "count" if is_count else "number", places)
            if self.baseline is not None:
                yield Column(f"{measure} difference", "difference", places)

    def _segments(self) -> Iterator[Table]:
        """Yield a table of each query group's aggregates, run by run."""
        if self.by is None:
            return
        first = self.evaluations[0]
        if first.about is None:
            raise UsageError("by needs a table of queries", "--queries FILE (queries= in Python)")
        rows: list[tuple[Cell, ...]] = []
        for segment, places in first.about.segments(self.by, first.queries).items():
            part = Report([each.at(places) for each in self.evaluations], places=self.places, baseline=self.baseline)
            rows += [(segment, run, len(places), *values) for run, *values in part._rows()]
        values = tuple(self._values())
        taken = {"run", "queries", *(column.name for column in values)}
        group = Column(f"{self.by} (group)" if self.by in taken else self.by)
        yield Table((group, Column("run"), Column("queries", "count"), *values), rows, title=f"By {self.by}")

    def _beside(self) -> Iterator[Table | str]:
        """Yield a table of further values for each kind and each list of their names."""
        for name in dict.fromkeys(kind for evaluation in self.evaluations for kind in evaluation.besides):
            kind = KINDS[name]
            found = [each for each in self.evaluations if name in each.besides]
            tables: dict[tuple[str, ...], tuple[list[tuple[Cell, ...]], list[tuple[Cell, ...]], list[str]]] = {}
            for measure in self.measures:
                of_runs = {each.run: each.beside(name, measure) for each in found}
                # Some parts are named only for runs that have them.
                names = tuple(dict.fromkeys(chain(*sorted(of_runs.values(), key=len, reverse=True))))
                rows, margins, notes = tables.setdefault(names, ([], [], []))
                for run, means in ((each, means) for each, means in zip(found, of_runs.values(), strict=True) if means):
                    text, widths = str(measure), run.beside_margins(name, measure)
                    score = self._aggregates[measure][run.run]
                    rows.append((run.run, text, score, *(means.get(part, 0.0) for part in names)))
                    margins.append((run.run, text, *(widths.get(part, 0.0) for part in names)))
                why = "not under a budget" if measure.budget else kind.note(measure, of_runs)
                notes += [] if why is None else [f"{measure}: {why}"]
            *_, without = tables.pop((), ([], [], []))
            for names, (rows, margins, notes) in tables.items():
                parts = [Column(part, "number", self.places) for part in names]
                labels, lines = head("run | measure"), (*notes, *(without if names == [*tables][-1] else ()))
                yield Table((*labels, *head(f"score .{self.places}"), *parts), rows, kind.title, lines)
                if name == "loss":
                    yield Table((*labels, *parts), margins, "Loss: margins of these means (95% CI, Student's t)")
            if not tables:
                yield "\n".join([f"{kind.title}.", *without])

    def _legend(self, has_best: bool) -> Iterator[str]:
        notes = ["* best in column"] if has_best else []
        if self.baseline is not None:
            notes.append(f"(+/-) difference from {printable(self.baseline, _WIDEST)}")
        if self.counted:
            listed = ", ".join(f"{printable(run, _WIDEST)} {count}" for run, count in self.counted.items())
            notes.append(f"means over different numbers of {plural_of(self.unit)}: {listed}")
        count, effective = len(self.evaluations[0].query_ids), self.evaluations[0].effective
        if worth := worth_text(count, effective):
            notes.append(f"means over {units(count, self.unit)}{worth}")
        if notes:
            yield "; ".join(notes)

    @cached_property
    def counted(self) -> dict[str, int]:
        """The number of queries in each run's means; empty if all runs have the same."""
        averaged = [measure for measure in self.measures if measure.aggregate != "whole"]
        counts = {e.run: min((e.count(measure) for measure in averaged), default=0) for e in self.evaluations}
        return counts if len(set(counts.values())) > 1 else {}

    @property
    def signatures(self) -> list[str]:
        """The conventions: one line, or one line per group of runs that share them."""
        return conventions_of((evaluation.run, evaluation) for evaluation in self.evaluations)

    def _scores(self) -> Iterator[ScoreLine]:
        """Yield values run by run: per query if wanted, then aggregates."""
        baseline = next((e for e in self.evaluations if e.run == self.baseline), None)
        for evaluation in self.evaluations:
            if self.by_query:
                columns = [self._query_scores(evaluation, measure, baseline) for measure in self.measures]
                yield from chain.from_iterable(zip(*columns, strict=True))
            for measure in self.measures:
                values = self._aggregates[measure]
                reference = None if baseline is None or evaluation is baseline else values[baseline.run]
                number, difference = _with_difference(values[evaluation.run], reference, measure)
                beside = {kind: _only(kind, evaluation.beside(kind, measure)) for kind in evaluation.besides}
                yield ScoreLine(
                    evaluation.run, None, str(measure), partial(_trec_name, measure), number, None, difference, beside
                )

    def _query_scores(self, evaluation: ScoredRun, measure: Measure, baseline: ScoredRun | None) -> Iterator[ScoreLine]:
        references = {} if baseline is None or evaluation is baseline else baseline.by_query(measure)
        text, name = str(measure), partial(_trec_name, measure)
        besides = {kind: evaluation.beside_by_query(kind, measure) for kind in evaluation.besides}
        for query, value, status in evaluation.scores(measure):
            number, difference = _with_difference(value, references.get(query), measure)
            beside = {kind: _only(kind, of_queries.get(query, {})) for kind, of_queries in besides.items()}
            yield ScoreLine(evaluation.run, query, text, name, number, status, difference, beside)

    @cached_property
    def _aggregates(self) -> dict[Measure, dict[str, float | None]]:
        found: dict[Measure, dict[str, float | None]] = {}
        for measure in self.measures:
            values = {evaluation.run: evaluation.aggregate(measure) for evaluation in self.evaluations}
            found[measure] = {run: None if math.isnan(value) else value for run, value in values.items()}
        return found


def conventions_of(evaluations: Iterable[tuple[str, ScoredRun]]) -> list[str]:
    """Return one line for all evaluations, or one line per group that shares its conventions, with their names."""
    runs = grouped((evaluation.signature(), printable(run, _WIDEST)) for run, evaluation in evaluations)
    return [each.note("" if len(runs) == 1 else f"{', '.join(names)}: ") for each, names in runs.items()]


def _only(kind: str, parts: dict[str, Any]) -> Any:
    """Return the value itself if it is the only one of its kind."""
    return parts.get(kind, parts or None)


@cache
def _trec_name(measure: Measure) -> str:
    from gainful.measures.names_trec_eval import trec_eval_name  # loaded late: only one format needs it

    return trec_eval_name(measure) or str(measure)


def _with_difference(
    value: float | None, reference: float | None, measure: Measure
) -> tuple[float | None, float | None]:
    """Return a value and its difference from the baseline's value, if both exist; counts as integers."""
    both = (value, None if value is None or reference is None else value - reference)
    if measure.aggregate != "sum":
        return both
    number, difference = (int(each) if each is not None and each.is_integer() else each for each in both)
    return number, difference
