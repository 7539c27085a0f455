"""Where a number comes from: what a measure means, and its arithmetic for one query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.lists import is_relevant
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike, RunsLike, RunSource, runs_by_name
from gainful.errors import InputError, UsageError
from gainful.evaluation.derived_arithmetic import derived_arithmetic
from gainful.evaluation.explained_page import ExplainedList, Explanation, Judgments
from gainful.evaluation.results import Score, ScoredRun, Signature
from gainful.gains import Gain
from gainful.io.columns import columns_by_side
from gainful.io.rows import read_id
from gainful.kernel.arrays import Bools
from gainful.measures.arithmetic import figure
from gainful.measures.base import Measure
from gainful.measures.block import Block, computed, condenses
from gainful.measures.catalog import parse, translation_of
from gainful.notation import nearest, printable, some_of, text_of_id
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.measures.names_trec_eval import Translation


def explain(
    measure: str | Measure,
    qrels: QrelsLike | None = None,
    run: RunLike | RunsLike | None = None,
    query: str | bytes | int | None = None,
    policy: Policy | str | None = None,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Explanation:
    """What a measure means; with judgments, a run and a query also the arithmetic of that query.

    Several runs in a dict of their names are explained side by side. ``columns`` is that of :func:`gainful.evaluate`.

    >>> explanation = explain("P@2", {"q1": {"d1": 2, "d2": 0}}, {"q1": ["d2", "d1"]}, "q1")
    >>> explanation.value, str(explanation.steps[-1])
    (0.5, 'P@2 = 1 / 2 = 0.5000')
    """
    given = {"qrels": qrels, "run": run, "query": query}
    missing = [what for what, value in given.items() if value is None]
    if len(missing) == len(given):
        return Explanation(parse(measure), translations=_translations(measure))
    if qrels is None or run is None or query is None:
        raise UsageError(f"explain: expected qrels, run and query together, found no {' and no '.join(missing)}")
    called = columns_by_side(columns)
    given_runs = runs_by_name(run) or {name or "": run}
    runs = {each: RunSource.of(one, called["run"]) for each, one in given_runs.items()}
    return explain_runs(measure, Qrels.of(qrels, called["qrels"]), runs, query, policy)


def explain_runs(
    measure: str | Measure,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    query: str | bytes | int,
    policy: Policy | str | None = None,
) -> Explanation:
    """The arithmetic of one query for several runs, side by side.

    >>> runs = {"a": {"q1": ["d2", "d1"]}, "b": {"q1": ["d1", "d2"]}}
    >>> [explained.score.value for explained in explain_runs("RR", {"q1": {"d1": 2}}, runs, "q1").lists]
    [0.5, 1.0]
    """
    require_runs(runs)
    wanted, settled, whole = parse(measure), Policy.of(policy), Qrels.of(qrels)
    wanted.require_scores()
    identifier = read_id(query, "query")
    judged = Judged(judgments_of(whole, identifier), settled)
    wanted.check(judged.levels)
    opened = {name: Run.of(run).select([identifier]) for name, run in runs.items()}
    lists = tuple(_explained(wanted, judged, run, name) for name, run in opened.items())
    excluded = next(iter(opened.values())).exclusions
    return Explanation(
        wanted,
        text_of_id(identifier),
        _judgments(wanted, judged),
        lists,
        Signature(wanted, lists[0].policy, whole.scale, len(whole.query_ids), excluded=excluded),
        _translations(measure),
        collection=(whole, opened),
    )


def explain_evaluation(evaluation: ScoredRun, measure: Measure, query: str | bytes | int) -> Explanation:
    """The arithmetic behind a score of an evaluation, which must still come out as it did."""
    name = printable(evaluation.run, 80)
    if evaluation.unit == "session":
        raise UsageError(f"{name}: expected an evaluation of single queries, found one of sessions")
    if evaluation.sources is None:
        raise UsageError(
            f"{name}: expected an evaluation that knows its judgments and its run, found one that was merged or came "
            "from another process",
            "evaluate again, or use gainful.explain(measure, qrels, run, query)",
        )
    judged, run = evaluation.sources.judged, evaluation.sources.run
    if run is None:
        raise UsageError(
            f"{name}: expected a run that can be read again, found {evaluation.source}, which is gone",
            "keep the run: run = gainful.Run.read('-')",
        )
    explanation = explain_runs(measure, judged.qrels, {evaluation.run: run}, query, judged.policy)
    position = evaluation.query_ids.index(read_id(query, "query"))
    then, now = float(evaluation.raw[evaluation.measures.index(measure), position]), explanation.lists[0].raw
    if then != now and not (math.isnan(then) and math.isnan(now)):
        raise InputError(
            f"{evaluation.source}: expected {measure} of query '{printable(explanation.query or '')}' to be "
            f"{_shown(then)} as when it was evaluated, found {_shown(now)}",
            "the run has changed since: evaluate it again",
        )
    return explanation


def _translations(measure: str | Measure) -> tuple[Translation, ...]:
    translation = translation_of(measure)
    return () if translation is None else (translation,)


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else figure(value)


def judgments_of(qrels: Qrels, query: bytes) -> Qrels:
    """The judgments of one query, which has to be judged."""
    if query not in qrels.query_ids:
        word = text_of_id(query)
        listed = some_of(qrels.query_ids, 3)
        raise UsageError(
            f"{qrels.name}: expected a query that is judged, found '{printable(query)}'",
            nearest(word, qrels.queries) or f"judged are {listed}",
        )
    return qrels.select([query])


def _judgments(measure: Measure, judged: Judged) -> Judgments:
    grades = judged.best_first[1].grade
    rel, level = getattr(measure, "rel", None), getattr(measure, "level", None)
    relevant, gain = is_relevant(grades, rel, level), getattr(measure, "gain", None)
    if isinstance(gain, Gain):
        counts: Bools = relevant if rel is not None or level is not None else np.ones(grades.size, bool)
        return Judgments(grades, np.where(counts, gain.of_grades(grades, judged.scale), 0.0), True)
    return Judgments(grades, relevant.astype(np.float64) if "rel" in measure.parameters() else None, False)


def _explained(measure: Measure, judged: Judged, run: Run, name: str) -> ExplainedList:
    wants_scores = "scores" in measure.needed() or run.has_scores
    graded = join(judged, run, judged.policy, want_scores=wants_scores, want_rows=True, name=name or None)
    is_condensed = condenses(measure, graded.policy)
    seen = graded.condensed() if is_condensed else graded
    block = Block(seen, np.zeros(1, np.int64))
    raw = float(computed(measure, block)[0])
    arithmetic = measure.arithmetic(block) or derived_arithmetic(measure, seen)
    # No explanation is shown that explains another number.
    if not (math.isclose(arithmetic.value, raw, rel_tol=1e-9, abs_tol=1e-12) or math.isnan(arithmetic.value + raw)):
        raise UsageError(
            f"{measure}: expected its arithmetic to come to {_shown(raw)}, found {_shown(arithmetic.value)}"
        )
    length = int(graded.retrieved[0])
    grades = np.full(length, np.nan)
    grades[graded.hit_rank - 1] = graded.hit_grade
    judged_ranks = graded.hit_rank if is_condensed else np.arange(1, length + 1)
    return ExplainedList(
        graded.name,
        tuple(text_of_id(run.document(row)) for row in seen.row.tolist()),
        grades[judged_ranks - 1],
        judged_ranks,
        length,
        np.flatnonzero(np.isnan(grades)) + 1,
        _ties(graded),
        is_condensed,
        raw,
        _settled(measure, graded, raw),
        graded.policy,
        arithmetic,
    )


def _ties(graded: GradedRun) -> tuple[tuple[int, int], ...]:
    """The stretches of ranks with equal scores, where scores decide the order."""
    if graded.policy.order != "score" or not graded.score.size:
        return ()
    scores = graded.score.astype(np.float32) if graded.policy.scores == "float32" else graded.score
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    ends = np.append(starts[1:], scores.size)
    return tuple((int(start) + 1, int(end)) for start, end in zip(starts, ends, strict=True) if end > start + 1)


def _settled(measure: Measure, graded: GradedRun, raw: float) -> Score:
    """The value after the policy. What the policy calls an error is left out: explaining it is no error."""
    softened = {choice: "skip" for choice in ("missing", "undefined") if getattr(graded.policy, choice) == "error"}
    policy = graded.policy.replace(extra="ignore", **softened)
    scores, scale = np.array([[raw]]), graded.judged.qrels.scale
    single = ScoredRun(
        graded.name, graded.source, graded.query_ids, (measure,), scores, graded.answered, policy, scale, graded.facts
    )
    return next(single.scores(measure))
