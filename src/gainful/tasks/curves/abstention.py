"""Abstention: a system that returns nothing where its top score is low, and a threshold that limits false answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import check_measures, evaluate_graded, join_each
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.frozen import asdict, dataclass, replace
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import number_text, percent_text, read_number
from gainful.pages.charts import Axis, Band, Line, Plot
from gainful.pages.page import Row, Table, head
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.curves.averages import Resampling
from gainful.tasks.run_questions import AbstentionOptions

_VALUES = "answered", "false", "risk", "kept"


class AbstentionCurve(NamedTuple):
    """Answers by threshold: a query is answered if the top score of its list is above the threshold.

    ``thresholds`` rise from -inf (every list is returned) to the highest top score (none is). ``shown`` are the places
    of those in tables, and ``lowest`` is the place of the lowest with the guarantee (None: no threshold has it).
    ``area`` is AURC with both ends of its interval.
    """

    thresholds: Floats
    values: Floats
    shown: list[int]
    area: Floats
    lowest: int | None

    def of(self, name: str) -> Floats:
        """Return the shares of all queries that are ``answered`` or have a ``false`` answer, ``risk`` (the share of the
        answers that are false) or ``kept`` (the mean of the measure), and both ends of the interval where shown."""
        return np.asarray(self.values[_VALUES.index(name)])

    def row(self, i: int) -> list[float]:
        """Return a threshold and all values with their intervals."""
        return [float(self.thresholds[i]), *self.values[:, :, i].ravel().tolist()]

    def line(self, run: str, name: str) -> Line:
        """Return a value by the share of answered queries, 0 excluded."""
        x, values = self.of("answered")[0, -2::-1], self.of(name)[:, -2::-1]
        known = ~np.isnan(values[1])
        band = Band(*(tuple(each[known].tolist()) for each in (x, *values[1:]))) if known.any() else None
        return Line(run, tuple(x.tolist()), tuple(values[0].tolist()), band=band)


@dataclass(frozen=True, eq=False, repr=False)
class AbstentionCurves(Showable):
    """Result of :func:`abstention_curves`: ``curves`` by run and measure, and the scores if every list is returned."""

    curves: Mapping[tuple[str, str], AbstentionCurve]
    evaluations: Mapping[str, Evaluation]
    asked: AbstentionOptions
    resampling: Resampling

    @property
    def notices(self) -> tuple[str, ...]:
        return tuple(notices(self.evaluations.values()))

    def page(self, places: int = 4) -> Page:
        """Return, by measure, charts by share of answered queries, the guarantee, and thresholds with intervals."""
        report, asked = Report(self.evaluations), self.asked
        parts = [part for measure in report.measures for part in self._parts(str(measure), places)]
        notes = [f"false: scores at most {number_text(asked.bar)}, or nothing is relevant; risk: share of the answers"]
        notes.append("queries without an answer score 1 if nothing is relevant, else 0")
        notes += [self.resampling.about("queries").replace("band", "low, high", 1)] if asked.draws else []
        header = {"signature": str(report.evaluations[0].signature()), "level": asked.level, "bar": asked.bar}
        return Page("curves", tuple(parts), (*notes, *report.signatures), header | asdict(self.resampling))

    def _parts(self, name: str, places: int) -> Iterator[Plot | Table]:
        curves, level = {run: self.curves[run, name] for run in self.evaluations}, self.asked.level
        for what, title, label in (("risk", "Risk", "share of answers"), ("kept", f"{name} kept", name)):
            axes = Axis("answered queries", 0.0, 1.0), Axis(label, 0.0)
            lines = tuple(curve.line(run, what) for run, curve in curves.items())
            yield Plot(f"{title} by share of answered queries", *axes, lines)
        rows: list[Row] = []
        for run, curve in curves.items():
            threshold, *values = [None] * 13 if curve.lowest is None else curve.row(curve.lowest)
            rows.append((run, name, *curve.area.tolist(), curve.lowest is not None, threshold, *values[::3]))
        notes = ["AURC: mean risk over thresholds, from low to high"]
        if None in (curve.lowest for curve in curves.values()):
            least = math.ceil(1 / level - 1e-9) - 1
            notes.append(f"no threshold achieves at most {percent_text(level)}: at least {least:,} queries are needed")
        labels = *head("run"), *head("measure", for_machines=True)
        columns = [*labels, *head(f"AURC .{places} | low .{places} | high .{places}")]
        columns += head("guaranteed", for_machines=True)
        columns += head(f"threshold = | answered % | false % | risk % | kept .{places}")
        title = f"{name}: at most {percent_text(level)} false answers guaranteed"
        yield Table(tuple(columns), tuple(rows), title, tuple(notes))
        rows = [(run, name, *curve.row(i)) for run, curve in curves.items() for i in curve.shown]
        found = [*labels, *head("threshold =")]
        for what, kind in zip(_VALUES, ("%", "%", "%", f".{places}"), strict=True):
            ends = head(f"{what}_low {kind} | {what}_high {kind}", for_machines=what in ("answered", "false"))
            found += [*head(f"{what} {kind}"), *ends]
        yield Table(tuple(found), tuple(rows), f"{name}: selected thresholds")


@warns
@question(AbstentionOptions)
def abstention_curves(asked: AbstentionOptions) -> AbstentionCurves:
    """Return answers, false answers and gain kept of systems that return nothing where their top score is low.

    An answer is false if it scores at most ``bar`` or no document is relevant. Without an answer, a query without
    relevant documents scores 1, any other 0. AURC is the mean of the risk at the thresholds just below the top score
    of each answered query (Geifman, Uziel and El-Yaniv, ICLR 2019).

    With the lowest threshold for which (false answers + 1) / (queries + 1) <= ``level``, a further query of the same
    kind is answered falsely with at most this probability, for any number of queries: conformal risk control
    (Angelopoulos et al., arXiv 2208.02814) for a loss of 1 per false answer, which never rises with the threshold.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 0}}
    >>> run = {"q1": {"d1": 9.0}, "q2": {"d2": 5.0}, "q3": {"d1": 2.0}}
    >>> found = abstention_curves(qrels, {"mine": run}, level=0.5, draws=0).curves["mine", "nDCG@10"]
    >>> found.thresholds.tolist(), (3 * found.of("false")[0]).tolist(), (3 * found.of("kept")[0]).tolist()
    ([-inf, 2.0, 5.0, 9.0], [2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 2.0, 1.0])
    >>> found.area.round(4).tolist()[0], found.lowest  # (2/3 + 1/2 + 0) / 3; (1 + 1) / (3 + 1) <= 0.5 at threshold 2
    (0.3889, 1)
    """
    require_runs(asked.runs)
    judged, measures = Judged.of(asked.qrels, asked.policy), parse_all(asked.measures)
    check_measures(measures, judged)
    for measure in measures:
        if not can_abstain(measure):
            raise UsageError(f"{measure}: abstention needs a mean from 0 to 1 (best), such as that of nDCG@10")
    if "skip" in (judged.policy.missing, judged.policy.undefined):
        raise UsageError("missing=skip and undefined=skip cannot be used: a query counts without an answer")
    asked = replace(asked, level=read_number(asked.level, "level"), bar=read_number(asked.bar, "bar"))
    if not 0 < asked.level < 1:
        raise UsageError(f"level: expected a number between 0 and 1, found {number_text(asked.level)}")
    if asked.bar >= 1:
        raise UsageError(f"bar: expected a number below 1, the best score, found {number_text(asked.bar)}")
    resampling, curves = Resampling.of(asked.draws, asked.seed, asked.confidence), {}

    def scored(name: str, graded: GradedRun) -> Evaluation:
        evaluation, top = evaluate_graded(graded, measures), top_scores(graded, graded.score)
        none, score = np.empty((2, len(measures), top.size))
        for i, measure in enumerate(measures):
            none[i], score[i] = nothing_relevant(measure, judged), evaluation.settled_scores(measure)
            curves[name, str(measure)] = curve_of(top, score[i], none[i] > 0, asked)
        # Notices count what the curves do: nothing is right where nothing is relevant.
        right = none.astype(bool) & ~graded.answered
        score = np.where(none, right, np.nan_to_num(score))
        return replace(evaluation, raw=score, answered=evaluation.answered | right.all(axis=0))

    needed = frozenset({"scores"}).union(*(measure.needed() for measure in measures))
    evaluations = join_each(judged, asked.runs, scored, needed, threads=asked.threads)
    return AbstentionCurves(curves, evaluations, asked, resampling)


def can_abstain(measure: Measure) -> bool:
    """Whether a measure is a mean from 0 to 1 (best)."""
    return (measure.better, measure.aggregate, *measure.bounds) == ("higher", "mean", 0.0, 1.0)


def top_scores(graded: GradedRun, score: Floats) -> Floats:
    """Return the highest score of each list, which need not be in order; -inf without one."""
    top, listed = np.full(graded.retrieved.size, -np.inf), graded.retrieved > 0
    top[listed] = np.maximum.reduceat(score, graded.list_offsets[:-1][listed])
    return top


def nothing_relevant(measure: Measure, judged: Judged) -> Bools:
    """Return whether no document of each query has a gain, or is relevant if only relevance counts."""
    rel, level, gain = (getattr(measure, name, None) for name in ("rel", "level", "gain"))
    if not isinstance(gain, Gain):
        return np.equal(judged.recall_base(rel, level), 0)
    return np.equal(np.diff(judged.ideal_lists(gain, rel, level).offsets), 0)


def curve_of(top: Floats, score: Floats, none: Bools, asked: AbstentionOptions) -> AbstentionCurve:
    """Return a curve from each query's top score and score, and whether no document is relevant."""
    value = np.where(none, 0.0, np.nan_to_num(score))
    resampling = Resampling.of(asked.draws, asked.seed, asked.confidence)
    return answers_by_threshold(top, value, none | (value <= asked.bar), none, asked.level, resampling)


def answers_by_threshold(
    top: Floats, value: Floats, wrong: Bools, none: Bools, level: float, resampling: Resampling
) -> AbstentionCurve:
    """Return a curve from each query's top score (-inf without a list), the score of its answer, whether this is wrong,
    and whether no document is relevant."""
    queries, order, thresholds = top.size, np.argsort(-top, kind="stable"), np.unique(np.append(top, -np.inf))
    above = np.searchsorted(-top[order], -thresholds)  # number of top scores above each threshold

    def values_of(counts: Floats) -> tuple[Floats, Floats]:
        """Return values x resamples x thresholds, and AURC, from how often each resample has each query."""
        sums = (np.cumsum((counts * each)[:, order], axis=1) for each in (np.ones(queries), wrong, value - none))
        answered, false, gain = (np.pad(each, ((0, 0), (1, 0)))[:, above] for each in sums)
        with np.errstate(invalid="ignore"):
            risk = false / answered
            area = np.nansum(risk[:, :-1] * -np.diff(answered), axis=1) / answered[:, 0]
        return np.array([answered / queries, false / queries, risk, (gain + (counts @ none)[:, None]) / queries]), area

    (point, area), rest = values_of(np.ones((1, queries))), (1 - resampling.confidence) / 2
    values, areas = np.full((len(_VALUES), 3, thresholds.size), np.nan), np.append(area, (np.nan, np.nan))
    values[:, 0] = point[:, 0]
    exact = accumulate(map(Fraction, (value - none)[order].tolist()), initial=Fraction(int(none.sum())))
    values[3, 0] = (np.array(list(map(float, exact))) / queries)[above]
    shown = sorted(set(np.searchsorted(-values[0, 0], -np.linspace(0, 1, 11) - 1e-9).tolist()))
    is_low = np.rint(values[1, 0] * queries) + 1 <= level * (queries + 1) * (1 + 1e-12)
    if (resamples := resampling.resamples(queries)) is not None:
        drawn = [(found[:, :, shown], each) for found, each in map(values_of, resamples)]
        every = np.concatenate([found for found, _ in drawn], axis=1)
        values[:, 1:, shown] = np.quantile(every, (rest, 1 - rest), axis=1).swapaxes(0, 1)
        areas[1:] = np.quantile(np.concatenate([found for _, found in drawn]), (rest, 1 - rest))
    return AbstentionCurve(thresholds, values, shown, areas, int(is_low.argmax()) if is_low.any() else None)
