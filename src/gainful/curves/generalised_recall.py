"""Generalised precision by generalised recall: one curve for all grades (Kekäläinen and Järvelin, JASIST 2002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.ahead import ReadRun
from gainful.curves.recall_points import Difference, checked_baseline, evaluation_of, recall_points
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.evaluation import evaluate_judged
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.generalised import GIAP, GIPrec
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render.page import Page, Showable
from gainful.results import Evaluation


@dataclass(frozen=True, eq=False)
class GeneralisedRecall(Showable):
    """What :func:`generalised_recall` found; printed, it is tables and a curve.

    ``average_measure``  the mean over eleven recall points (gIAP), with its gain map
    ``recall``           the recall points of the curve
    ``baseline``         the run that others are compared with
    ``evaluations``      all scores by query, one evaluation a run
    """

    evaluations: tuple[Evaluation, ...] = field(repr=False)
    average_measure: Measure
    recall: tuple[float, ...]
    baseline: str

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [evaluation.run for evaluation in self.evaluations]

    @property
    def precision_measures(self) -> list[Measure]:
        """The measures of the curve's points."""
        return _precision_measures(self.average_measure, self.recall)

    def average(self, run: str) -> float:
        """The mean over queries of gIAP, which is the mean over eleven recall points; NaN where no query is left."""
        return evaluation_of(self.evaluations, run).mean(self.average_measure)

    def precision(self, run: str) -> tuple[float, ...]:
        """The curve: the mean over queries of the interpolated precision at each of the recall points."""
        evaluation = evaluation_of(self.evaluations, run)
        return tuple(evaluation.mean(measure) for measure in self.precision_measures)

    def difference(self, run: str) -> Difference:
        """How far a run's average is from the baseline's."""
        return Difference.of(self.average(run), self.average(self.baseline))

    def page(self) -> Page:
        """Precision at recall, its average with the differences to the baseline, and the curve."""
        from gainful.render.recall_page import generalised_page

        return generalised_page(self)


def generalised_recall(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    gain: Gain | str | Mapping[float, float] = "scaled",
    points: int = 11,
    baseline: str | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GeneralisedRecall:
    """Interpolated generalised precision at generalised recall, averaged over queries.

    ``gain`` is what a document of a grade is worth, ``points`` how many recall points there are from 0 to 1,
    ``baseline`` the run that others are compared with (else the first).

    >>> runs = {"one": {"q1": ["d1", "d2", "d3"]}, "two": {"q1": ["d3", "d2", "d1"]}}
    >>> found = generalised_recall({"q1": {"d1": 3, "d3": 1}}, runs, points=3)
    >>> found.precision("one")
    (1.0, 1.0, 0.4444444444444444)
    >>> found.precision("two")
    (0.4444444444444444, 0.4444444444444444, 0.4444444444444444)
    """
    return generalised_recall_judged(
        Judged(Qrels.of(qrels), Policy.of(policy)),
        runs,
        GIAP(gain=Gain.of(gain)),
        points=points,
        baseline=baseline,
        threads=threads,
        progress=progress,
    )


def generalised_recall_judged(
    judged: Judged,
    runs: Mapping[str, RunLike | ReadRun],
    measure: Measure,
    *,
    points: int = 11,
    baseline: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GeneralisedRecall:
    """:func:`generalised_recall` with judgments that are already prepared; the parameters are those of a gIAP."""
    recall, baseline = recall_points(points), checked_baseline(runs, baseline)
    measures = [measure, *_precision_measures(measure, recall)]
    evaluations = evaluate_judged(judged, runs, measures, threads=threads, progress=progress)
    return GeneralisedRecall(tuple(evaluations.values()), measure, recall, evaluations[baseline].run)


def _precision_measures(average: Measure, recall: tuple[float, ...]) -> list[Measure]:
    parameters = {name: getattr(average, name) for name in GIAP.parameters()}
    return [GIPrec(**parameters, recall=point) for point in recall]
