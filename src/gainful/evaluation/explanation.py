"""Explanations: the definition of a measure, and its arithmetic for one query of a run or for typed grades."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike, RunsLike, RunSource, runs_by_name
from gainful.errors import InputError, UsageError, for_asker, option
from gainful.evaluation.explained_page import ExplainedList, Explanation, Judgments
from gainful.evaluation.results import Score, ScoredRun, Signature, settled
from gainful.gains import Gain
from gainful.io.columns import columns_by_side
from gainful.io.rows import read_id
from gainful.kernel.arrays import Bools, distinct
from gainful.measures.arithmetic import Arithmetic, Step, figure
from gainful.measures.base import Measure
from gainful.measures.block import Block, computed, condenses, gains_of, seen_lists
from gainful.measures.catalog import parse, translation_of
from gainful.measures.expected import EXPLAINED_OVER_TIES
from gainful.measures.help import Help
from gainful.notation import count_of, listed, nearest, printable, read_number, some_of, text_of_id, whole_number
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.measures.names_trec_eval import Translation

#: Deepest rank for derived arithmetic: every rank costs two scores.
_DERIVED_RANKS = 1000
#: Smaller differences between scores are rounding.
_ROUNDING = 1e-12
_TYPED_QUERY = "grades"
_SEPARATOR = re.compile(r"\s*[,;\s]\s*")


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
    """Define a measure; with judgments, a run and a query, also explain its arithmetic for that query.

    A dict of several runs explains them next to each other. ``columns`` is as for :func:`gainful.evaluate`.

    >>> explanation = explain("P@2", {"q1": {"d1": 2, "d2": 0}}, {"q1": ["d2", "d1"]}, "q1")
    >>> explanation.value, str(explanation.steps[-1])
    (0.5, 'P@2 = 1 / 2 = 0.5000')
    """
    given = {"qrels": qrels, "run": run, "query": query}
    called, missing = columns_by_side(columns), [what for what, value in given.items() if value is None]
    if len(missing) == len(given):
        return Explanation(parse(measure), translations=_translations(measure))
    if qrels is None or run is None or query is None:
        hint = "give none of them for the definition, or all of them for the arithmetic"
        if qrels is not None and missing == ["query"]:
            known = Qrels.of(qrels, called["qrels"]).queries
            hint = f"{option('query', known[0])} selects the first of {count_of(len(known), 'query', 'queries')}"
        flags = [for_asker(f"--{what}", what) for what in (*given, *missing)]
        needed = f"{listed(flags[: len(given)])} are needed together"
        raise UsageError(f"{needed}; missing: {', '.join(flags[len(given) :])}", hint)
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
    """Explain the arithmetic of one query for several runs.

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
    opened = {name: Run.of(run, policy=settled).select([identifier]) for name, run in runs.items()}
    lists = tuple(_explained(wanted, judged, run, name) for name, run in opened.items())
    excluded = next(iter(opened.values())).exclusions
    items = whole.items if "documents" in wanted.needed() else None
    signature = Signature(
        wanted,
        lists[0].policy,
        whole.scale,
        len(whole.query_ids),
        excluded=excluded,
        items=None if items is None else items.catalogue,
        training=items.interactions if items is not None and items.has_training else None,
        intents=sum(map(len, (whole.intents or {}).values())) or None,
    )
    about = text_of_id(identifier), _judgments(wanted, judged), lists, signature, _translations(measure)
    return Explanation(wanted, *about, collection=(whole, opened))


def explain_evaluation(evaluation: ScoredRun, measure: Measure, query: str | bytes | int) -> Explanation:
    """Explain a score of an evaluation; its inputs must be unchanged."""
    name = printable(evaluation.run, 80)
    if evaluation.unit == "session":
        raise UsageError(f"{name}: evaluations of sessions cannot be explained")
    if evaluation.sources is None:
        raise UsageError(
            f"{name}: the evaluation was merged or came from another process, and has no judgments and run",
            "evaluate again, or use gainful.explain(measure, qrels, run, query)",
        )
    judged, run = evaluation.sources.judged, evaluation.sources.run
    qrels = judged.qrels if judged.unlisted is None else judged.unlisted[1]()
    if run is None:
        hint = "keep the run: run = gainful.Run.read('-')"
        raise UsageError(f"{name}: the run {evaluation.source} cannot be read again", hint)
    explanation = explain_runs(measure, qrels, {evaluation.run: run}, query, judged.policy)
    position = evaluation.query_ids.index(read_id(query, "query"))
    then, now = float(evaluation.raw[evaluation.measures.index(measure), position]), explanation.lists[0].raw
    if then != now and not (math.isnan(then) and math.isnan(now)):
        raise InputError(
            f"{evaluation.source}: {measure} of query '{printable(explanation.query or '')}' was "
            f"{_or_undefined(then)} and is now {_or_undefined(now)}",
            "the run has changed: evaluate it again",
        )
    return explanation


def _translations(measure: str | Measure) -> tuple[Translation, ...]:
    translation = translation_of(measure)
    return () if translation is None else (translation,)


def _or_undefined(value: float) -> str:
    return "undefined" if math.isnan(value) else figure(value)


def judgments_of(qrels: Qrels, query: bytes) -> Qrels:
    """Return the judgments of one query, which must be judged."""
    if query not in qrels.query_ids:
        raise UsageError(
            f"{qrels.name}: query '{printable(query)}' is not judged",
            nearest(text_of_id(query), qrels.queries) or f"judged queries are {some_of(qrels.query_ids, 3)}",
        )
    return qrels.select([query])


def _judgments(measure: Measure, judged: Judged) -> Judgments:
    """Return the judgments of the only query, with the measure's value of each grade."""
    grades, is_gain = judged.best_first[1].grade, isinstance(getattr(measure, "gain", None), Gain)
    if not is_gain and "rel" not in measure.parameters():
        return Judgments(grades)
    levels = distinct(grades)
    worth = gains_of(measure, levels, judged.scale)
    return Judgments(grades, dict(zip(levels.tolist(), worth.tolist(), strict=True)), is_gain)


def _explained(measure: Measure, judged: Judged, run: Run, name: str) -> ExplainedList:
    if judged.policy.ties == "expected" and measure.name not in EXPLAINED_OVER_TIES:
        raise UsageError(
            f"{measure}: ties=expected has no arithmetic by rank for it",
            f"ties=best and ties=worst have; ties=expected is explained for {', '.join(sorted(EXPLAINED_OVER_TIES))}",
        )
    wants_scores = "scores" in measure.needed() or run.has_scores
    graded = join(judged, run, judged.policy, want_scores=wants_scores, want_rows=True, name=name or None)
    policy, is_condensed = graded.policy, condenses(measure, graded.policy)
    seen = seen_lists(graded, measure)
    block, fitting = Block(seen, np.zeros(1, np.int64)), int(seen.retrieved[0])
    measure, budget = measure.at_end(fitting), measure.budget
    raw = float(computed(measure, block)[0])
    arithmetic = measure.arithmetic(block) or _derived_arithmetic(measure, seen)
    # Never show an explanation of a different number.
    if not (math.isclose(arithmetic.value, raw, rel_tol=1e-9, abs_tol=1e-12) or math.isnan(arithmetic.value + raw)):
        raise UsageError(
            f"{measure}: its arithmetic gives {_or_undefined(arithmetic.value)}, not the score {_or_undefined(raw)}"
        )
    length = int(graded.retrieved[0])
    grades = np.full(length, np.nan)
    grades[graded.hit_rank - 1] = graded.hit_grade
    judged_ranks = (graded.hit_rank if is_condensed else np.arange(1, length + 1))[:fitting]
    if budget is not None:
        length = int(judged_ranks.max(initial=0))
        grades = grades[:length]
    tied: tuple[tuple[int, int], ...] = ()
    if policy.order == "score" and graded.score.size:
        scores = graded.score.astype(np.float32) if policy.scores == "float32" else graded.score
        starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])).tolist()
        ends = [*starts[1:], scores.size]
        tied = tuple((start + 1, end) for start, end in zip(starts, ends, strict=True) if end > start + 1)
    # Queries that the policy rejects can be explained; they have no value.
    missing = "skip" if policy.missing == "error" else policy.missing
    value = float(settled(np.array([raw]), graded.answered, measure, missing, policy.undefined)[0])
    status = "missing" if not graded.answered[0] else "undefined" if math.isnan(raw) else None
    return ExplainedList(
        graded.name,
        tuple(text_of_id(run.document(row)) for row in seen.row.tolist()),
        grades[judged_ranks - 1],
        judged_ranks,
        length,
        np.flatnonzero(np.isnan(grades)) + 1,
        tied,
        is_condensed,
        raw,
        Score(text_of_id(graded.query_ids[0]), None if math.isnan(value) else value, status),
        policy,
        arithmetic,
        None if budget is None else seen.lengths(budget.unit, f"@{budget}"),
    )


def _derived_arithmetic(measure: Measure, graded: GradedRun) -> Arithmetic:
    """Derive the arithmetic of a run's only list from the scores of shorter lists, for measures without their own.

    Each rank has the score without that document, the change due to the document, and the score of the list to there.
    """

    def score_of(kept: Bools) -> float:
        return float(computed(measure, Block(graded.only(kept), np.zeros(1, np.int64)))[0])

    ranks = np.arange(1, int(graded.retrieved[0]) + 1)
    shown = ranks[: min(measure.rank_cutoff or _DERIVED_RANKS, _DERIVED_RANKS)].tolist()
    score = score_of(ranks > 0)
    without = np.array([score_of(ranks != rank) for rank in shown])
    so_far = np.array([score_of(ranks <= rank) for rank in shown])
    change = score - without
    change[np.abs(change) <= _ROUNDING] = 0.0
    why = ""
    if math.isnan(score):  # quote the help on undefined values
        conventions = [text for text in Help.of(measure).paragraphs("Conventions") if "undefined" in text]
        why = "; ".join(text.removesuffix(": undefined") for text in conventions)
    return Arithmetic(
        {"without it": without, "change": change, measure.name: so_far},
        (Step(str(measure), "", (), score, why),),
        adds="change",
        running=measure.name,
        note=f"without it: score of the list without this document; {measure.name}: score of the list to this rank",
    )


def _typed(grades: str) -> list[str]:
    return _SEPARATOR.split(re.sub(r"^\s*<|([,\s]*(\.\.\.|…))?\s*>\s*$", "", grades).strip())


class Board(NamedTuple):
    """A list of grades as typed or written on a blackboard: grades by document name from rank 1 (None if unjudged), and
    grades of documents not retrieved.

    >>> explanation = Board.read("3,2,0,1", "3").explain("nDCG@5", Policy())
    >>> print(explanation.steps[-1])
    nDCG@5 = 4.6925 / 6.3235 = 0.7421
    """

    listed: Mapping[str, float | None]
    unretrieved: Mapping[str, float]
    scale: float | None = None

    @classmethod
    def read(cls, grades: str, unretrieved: str | None = None, scale: float | None = None) -> Board:
        """Parse grades separated by commas or blanks, or a gain vector as in the papers: ``<3,2,3,0,...>``.

        ``-`` is an unjudged document.
        """
        listed = (None if text == "-" else read_number(text, "--grades") for text in _typed(grades))
        missed = () if unretrieved is None else _typed(unretrieved)
        board = cls(
            {f"d{place}": grade for place, grade in enumerate(listed, 1)},
            {f"u{place}": read_number(text, "--unretrieved") for place, text in enumerate(missed, 1)},
            scale,
        )
        if not board.unretrieved and all(grade is None for grade in board.listed.values()):
            raise UsageError("--grades: at least one document must have a grade")
        return board

    def swapped(self, ranks: str) -> tuple[Board, str]:
        """Swap the documents at two ranks, written ``1,3``; return the list and the change in words."""
        parts = _SEPARATOR.split(ranks.strip())
        if len(parts) != 2:
            raise UsageError(f"--swap: expected two ranks such as 1,3, found '{ranks}'")
        first, second = (whole_number(part, "--swap") for part in parts)
        names = list(self.listed)
        for rank in (first, second):
            if rank > len(names):
                found = f"found {rank} in {count_of(len(names), 'document')}"
                raise UsageError(f"--swap: expected a rank in the list, {found}")
        names[first - 1], names[second - 1] = names[second - 1], names[first - 1]
        swapped = self._replace(listed={name: self.listed[name] for name in names})
        return swapped, f"Swapping ranks {first} and {second}"

    def explain(self, measure: str | Measure, policy: Policy, swap: str | None = None) -> Explanation:
        """Explain the list, or the list before and after swapping two ranks, written ``1,3``."""
        judged = {each: grade for each, grade in self.listed.items() if grade is not None}
        qrels = Qrels.from_dict({_TYPED_QUERY: {**judged, **self.unretrieved}}, scale=self.scale, name="--grades")
        change, boards = "", {"the list": self}
        if swap is not None:
            swapped, change = self.swapped(swap)
            boards = {"before": self, "after": swapped}
        lists = {name: {_TYPED_QUERY: list(board.listed)} for name, board in boards.items()}
        runs = {name: Run.from_dict(each, name="--grades") for name, each in lists.items()}
        found = explain_runs(measure, qrels, runs, _TYPED_QUERY, policy)
        alternative = ""
        if getattr(found.measure, "discount", None) == "burges2005":
            other = found.measure.replace(discount="jarvelin2002")
            value = explain_runs(other, qrels, runs, _TYPED_QUERY, policy).value
            if value is not None:
                alternative = f"With the discount of Järvelin and Kekäläinen (2002), {other} is {figure(value)}."
                if not self.unretrieved and other.bounds[1] == 1:
                    alternative += " The ideal list contains only these grades; --unretrieved GRADES adds others."
        return replace(found, named="these grades", change=change, alternative=alternative)
