"""The results of :func:`gainful.evaluate`: scores of one or several runs, with pages and explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gainful.evaluation.results import ScoredRun
from gainful.measures.base import Measure
from gainful.notation import some_of, units
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from gainful.evaluation.explained_page import Explanation
    from gainful.render.cells import FrameColumn


class Evaluation(ScoredRun, Showable):
    """The scores of one run: queries x measures.

    Raw scores are kept, NaN if a formula is undefined. Returned values follow the policy; aggregates are computed on
    demand.
    """

    def explain(self, measure: str | Measure, query: str | bytes | int) -> Explanation:
        """Explain the score of a query: its arithmetic, rank by rank.

        >>> from gainful import evaluate
        >>> result = evaluate({"q1": {"d1": 2, "d2": 1}}, {"q1": ["d2", "d9", "d1"]}, "CG@3")
        >>> print(result.explain("CG@3", "q1").steps[-1])
        CG@3 = 1 + 2 = 3
        """
        from gainful.evaluation.explanation import explain_evaluation

        return explain_evaluation(self, self._measure(measure), query)

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the inputs, one line each."""
        from gainful.evaluation.notices import notices

        return tuple(notices([self]))

    def page(self) -> Page:
        from gainful.evaluation.evaluation_page import Report

        return Report(self).page()


class Evaluations(dict[str, Evaluation], Showable):
    """The evaluations of several runs by name, printed as the table of :class:`gainful.Report`, which can also add a
    baseline or per-query values."""

    def __repr__(self) -> str:
        if not self:
            return "<Evaluations of no runs>"
        first = next(iter(self.values()))
        names, measures = some_of(list(self)), ", ".join(map(str, first.measures))
        return f"<Evaluations of {names} by {measures}, {units(len(first.query_ids), first.unit)}>"

    def __missing__(self, name: str) -> Evaluation:
        raise KeyError(f"unknown run {name!r}; runs are {', '.join(self)}, each with its measures")

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the inputs, one line each."""
        from gainful.evaluation.notices import notices

        return tuple(notices(replace(each, run=name) for name, each in self.items()))

    def page(self) -> Page:
        from gainful.evaluation.evaluation_page import Report

        return Report(self).page()

    def frame_columns(self, table: str | None = None) -> dict[str, FrameColumn]:
        """Return one row per run and query, with a column per measure."""
        from gainful.render.cells import stacked

        return stacked([replace(each, run=name).frame_columns(table) for name, each in self.items()])
