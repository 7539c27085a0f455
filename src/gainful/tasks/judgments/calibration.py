"""Scores as human judgments would give them, from model judgments of all queries and human judgments of some."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import RunSource
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import check_measures, evaluate_runs
from gainful.evaluation.notices import notices
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import count_of, listed, printable, some_of
from gainful.pages.charts import Axis, Line, Plot, Points
from gainful.pages.page import Conventions, Row, Table, head, values_of
from gainful.question import question
from gainful.render import Page, Showable
from gainful.stats.paired import signed_verdict
from gainful.stats.prediction_powered import FEWEST, PoweredMean, powered_mean
from gainful.tasks.curves.averages import checked_baseline
from gainful.tasks.judgments.judges import CONFIDENCE, CommonDocuments
from gainful.tasks.run_questions import CalibrationOptions


class MeasureCalibration(NamedTuple):
    """Means as by human judgments, best first, and differences from the baseline.

    ``ranks`` are the best and worst rank of each run by intervals of all paired differences that hold together
    (Bonferroni). ``scores`` are those by human and by model judgments of the queries that both judge. ``favoured`` are
    the runs whose differences from the baseline are clearly higher by the model on these queries, or clearly lower.
    """

    measure: Measure
    means: dict[str, PoweredMean]
    differences: dict[str, PoweredMean]
    ranks: dict[str, tuple[int, int]]
    scores: dict[str, tuple[Floats, Floats]]
    favoured: tuple[list[str], list[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Showable):
    """Result of :func:`calibrate_judgments`: means, differences and the order of systems by each measure.

    ``both`` is the number of queries that human and model judge, ``documents`` are their documents that both judge.
    """

    names: tuple[str, str]
    both: int
    queries: int
    judgings: int
    baseline: str
    measures: tuple[MeasureCalibration, ...]
    documents: CommonDocuments
    scale: float
    conventions: tuple[Conventions, ...]
    notices: tuple[str, ...]

    def distances(self) -> dict[str, float]:
        """Return ADM, ADP and ADR of the model's grades as estimates of the human's: 1 - the mean distance of all
        documents, of overestimated and of underestimated ones, averaged over queries."""
        query, apart = self.documents.query, (self.documents.b - self.documents.a) / (self.scale or 1.0)
        parts = {"ADM": np.abs(apart), "ADP": np.maximum(apart, 0), "ADR": np.maximum(-apart, 0)}
        return {name: 1 - float(np.mean(np.bincount(query, e) / np.bincount(query))) for name, e in parts.items()}

    def page(self, places: int = 4) -> Page:
        """Return means and differences with intervals, the order of systems, and where the model errs."""
        human, model = (printable(name, 80) for name in self.names)
        apart = ", ".join(f"{name} {value:.{places}f}" for name, value in self.distances().items())
        sentence = f"{model} judges {self.queries:,} queries, and {human} {self.both:,} of them. On these, {model} has "
        sentence += f"{apart}: ADP falls with documents that it overestimates, ADR with those that it underestimates."
        random = "(prediction-powered), if the queries that both judge are a random sample"
        how = random if self.both < self.queries else "(Student's t)"
        notes = [f"low, high: 95% CI for queries like these {how}"]
        notes.append("bias: by model - value; needed: further human-judged queries that would halve the interval")
        if self.judgings > 1:
            notes.append("noise: differences by one judging of the model below it may be its chance (95%)")
        parts = [part for each in self.measures for part in self._parts(each, places)]
        header = values_of(self, "names | both | queries | judgings | baseline")
        return Page("judgments", (sentence, *parts), (*notes, *self.conventions), header | self.distances())

    def _parts(self, found: MeasureCalibration, places: int) -> Iterator[Table | Plot | str]:
        name, better, means = str(found.measure), found.measure.better, found.means
        sign, rows = 1.0 if better == "higher" else -1.0, list[Row]()
        above, below = found.favoured[:: int(sign)]
        for some, others in ((above, [self.baseline]), ([self.baseline], below)):
            if some and others:
                pair = f"{listed([*map(printable, some)])} over {listed([*map(printable, others)])}"
                line = f"By {name}, {printable(self.names[1], 80)} favours {pair}, as a judge that also reranked would"
                yield f"{line}: do not compare them by its judgments alone."
        for run, each in means.items():
            best, worst = found.ranks[run]
            ranks = f"rank {best}" if best == worst else f"rank {best} to {worst}"
            by_model = 1 + sum(sign * other.other > sign * each.other for other in means.values())
            rows.append((run, None, name, *each.shown, ranks, by_model))
        for run, each in found.differences.items():
            verdict = signed_verdict(each.is_clear, each.value, better)
            rows.append((run, self.baseline, name, *each.shown, verdict, None))
        columns = (*head("run | from"), *head("measure", for_machines=True), *head(f"value .{places} | low .{places}"))
        columns += head(f"high .{places} | by model .{places} | bias +{places} | needed #")
        columns += head(f"noise .{places}", for_machines=self.judgings == 1)
        columns += head("order | rank by model #")
        yield Table(columns, rows, f"{name} as human judgments would give it, for queries like these")
        every = np.concatenate([each for both in found.scores.values() for each in both])
        low, high = float(np.nanmin(every)), float(np.nanmax(every))
        axes = Axis(f"{name} by human judgments", low, high), Axis("by model judgments", low, high)
        points = tuple(Points(run, tuple(a.tolist()), tuple(b.tolist())) for run, (a, b) in found.scores.items())
        about = "a point is a query; above the diagonal, the model scores it higher"
        diagonal = Line("", (low, high), (low, high), "guide")
        yield Plot(f"{name} of queries that both judge", *axes, (diagonal,), points, caption=about, is_square=True)


@warns
@question(CalibrationOptions)
def calibrate_judgments(asked: CalibrationOptions) -> Calibration:
    """Return means, differences and the order of systems as human judgments would give them, for queries like these.

    ``model`` judges all queries (a tuple: the same model several times, which separates its noise from its bias), and
    ``human`` a random sample of them, whose scores correct those of the model: prediction-powered inference, in
    ``gainful.stats.prediction_powered``. Differences are paired, from the ``baseline`` (by default, the first run).

    >>> human = {f"q{i}": {"d": i % 2} for i in range(6)}
    >>> model = {f"q{i}": {"d": 1} for i in range(9)}
    >>> found = calibrate_judgments(human, model, {"a": {f"q{i}": ["d"] for i in range(9)}}, "P@1")
    >>> found.measures[0].means["a"].other, found.measures[0].means["a"].value
    (1.0, 0.5)
    """
    baseline = checked_baseline(asked.runs, asked.baseline)
    names, measures = list(asked.runs), parse_all(asked.measures)
    given = asked.model if isinstance(asked.model, tuple) else (asked.model,)
    if not given:
        raise UsageError("model: at least one set of judgments is required")
    qrels = [Qrels.of(each) for each in (asked.human, *given)]
    scale = max([each.scale for each in qrels] if asked.scale is None else [asked.scale])
    human, *models = (Judged.of(replace(each, scale=scale), asked.policy) for each in qrels)
    queries = sorted(set.intersection(*({*each.query_ids} for each in models)))
    common = sorted({*human.query_ids}.intersection(queries))
    if len(common) < FEWEST:
        message = f"{human.qrels.name}: at least {FEWEST} queries are needed that {models[0].qrels.name} also judges"
        raise InputError(f"{message}, found {len(common)}", "IDs of queries must be equal byte by byte")
    check_measures(measures, human)
    for measure in measures:
        if measure.better == "neither" or measure.aggregate != "mean":
            raise UsageError(f"{measure}: calibration needs a mean over queries that can order systems")
    runs = {name: RunSource.of(run, name=name).at_hand() for name, run in asked.runs.items()}
    by_human, *by_model = (
        evaluate_runs(Judged(each.qrels.select(chosen), each.policy), runs, measures, threads=asked.threads)
        for each, chosen in zip((human, *models), (common, *[queries] * len(models)), strict=True)
    )
    has_both, found = np.isin(np.array(queries, object), np.array(common, object)), []
    for measure in measures:
        trusted = np.full((len(names), len(queries)), np.nan)
        trusted[:, has_both] = [each.settled_scores(measure) for each in by_human.values()]
        judgings = np.array([[of_runs[name].settled_scores(measure) for of_runs in by_model] for name in names])
        found.append(_calibrated(measure, names, trusted, judgings, names.index(baseline)))
    documents = CommonDocuments.of(Judged(human.qrels.select(common), human.policy), models[0])
    signatures = dict.fromkeys(next(iter(each.values())).signature().note() for each in (by_human, *by_model))
    names_of, counts = (human.qrels.name, models[0].qrels.name), (len(common), len(queries), len(models))
    about = [*notices(by_model[0].values())]
    if ignored := sorted({*human.query_ids}.difference(queries)):
        who = f"{count_of(len(ignored), 'query', 'queries')} of {names_of[0]} without judgments in {names_of[1]}"
        about.append(f"{who}, ignored: {some_of(ignored)} (human judgments come first, those of the model second)")
    results = names_of, *counts, baseline, tuple(found), documents, human.scale, tuple(signatures), tuple(about)
    return Calibration(*results)


def _calibrated(
    measure: Measure, names: Sequence[str], trusted: Floats, judgings: Floats, base: int
) -> MeasureCalibration:
    """Calibrate scores of runs x queries by scores of runs x judgings x queries."""
    alpha, sign, runs = 1 - CONFIDENCE, 1.0 if measure.better == "higher" else -1.0, len(names)

    def difference(i: int, j: int, alpha: float) -> PoweredMean:
        return powered_mean(trusted[i] - trusted[j], judgings[i] - judgings[j], alpha)

    means = [powered_mean(trusted[i], judgings[i], alpha) for i in range(runs)]
    order = sorted(range(runs), key=lambda i: -sign * means[i].value)
    better, worse = np.zeros((2, runs), int)  # how many runs surely are
    for i, j in combinations(range(runs), 2):
        pair = difference(i, j, alpha / math.comb(runs, 2))
        first, last = (i, j) if sign * pair.value > 0 else (j, i)
        better[last] += pair.is_clear
        worse[first] += pair.is_clear
    both = ~np.isnan(trusted).all(axis=0)
    apart, favoured = (judgings.mean(axis=1) - trusted)[:, both], (list[str](), list[str]())
    for i in order:
        bias = powered_mean(apart[i] - apart[base], np.zeros_like(apart[:1]), alpha / max(1, runs - 1))
        if bias.is_clear:
            favoured[bias.value < 0].append(names[i])
    return MeasureCalibration(
        measure,
        {names[i]: means[i] for i in order},
        {names[i]: difference(i, base, alpha) for i in order if i != base},
        {names[i]: (1 + int(better[i]), runs - int(worse[i])) for i in order},
        {names[i]: (trusted[i, both], judgings[i].mean(axis=0)[both]) for i in order},
        favoured,
    )
