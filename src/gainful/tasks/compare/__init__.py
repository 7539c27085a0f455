"""Is the difference real? :func:`compare` reads or computes scores and asks the question that fits them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

from gainful.data.queries import Queries, judgments_about_queries
from gainful.errors import InputError, UsageError, for_asker, warns
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores, SessionScores
from gainful.io.columns import columns_by_side
from gainful.measures.base import Measure
from gainful.question import differs, question, settings_of
from gainful.stats.catalogues import BAYES, UNPAIRED_TESTS
from gainful.tasks.compare.comparison import Comparison
from gainful.tasks.score_questions import (
    BeliefOptions,
    CompareOptions,
    FactorOptions,
    PairOptions,
    SequenceOptions,
    SystemsOptions,
    UnpairedOptions,
)

#: The primary measure unless another is named.
DEFAULT_MEASURES = ("nDCG@10",)
_RUNS_IN_A_DICT = "expected the runs in a dict by their names"
_READING = ("policy", "exclude", "items", "training", "columns")


@warns
@question(CompareOptions)
def compare(asked: CompareOptions) -> Comparison:
    """Compare systems: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures``, ``policy``, ``exclude``, ``items``, ``training``, ``columns`` and ``queries`` are as
    :func:`gainful.evaluate` takes them; without measures it is nDCG@10. Existing scores stand in the place of judgments
    and runs: what :func:`gainful.evaluate` or :func:`gainful.evaluate_sessions` returned of several systems,
    :class:`gainful.Scores`, a :class:`gainful.ScoreMatrix`, or a dict of these by measure; ``compare(results, "AP")``
    then says by which of their measures, else by all. The first measure is the primary one.

    The scores and options decide which question is asked; each is also a function of its own, with its own result:

    - two systems: :func:`gainful.compare_two`;
    - several, or two with a ``procedure``, ``correction``, ``groups`` or one ``family``:
      :func:`gainful.compare_several`;
    - sessions that belong to one system each: :func:`gainful.compare_unpaired`;
    - ``factors`` of systems: :func:`gainful.compare_factors`;
    - ``test="bayes"``: :func:`gainful.compare_beliefs`;
    - ``sequential=True``: :func:`gainful.compare_sequentially`.

    An option that the chosen question lacks is refused. ``by`` is a column of the table of ``queries``, by which two
    systems, or each and the baseline, are also compared group by group.

    >>> judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> runs = {"old": {"q1": ["d2", "d1"], "q2": ["d1"]}, "new": {"q1": ["d1"], "q2": ["d1"]}}
    >>> found = compare(judgments, runs, "RR")
    >>> found.pairs["RR"].system, found.pairs["RR"].difference
    ('new', 0.25)
    """
    scores = _scores_of(asked)
    if len(scores.systems) < 2 and not scores.sessions:
        scores_one = for_asker("gainful eval QRELS RUN scores one", "evaluate scores one")
        raise UsageError(f"compare: expected at least two systems, found {len(scores.systems)}", scores_one)
    kind = _kind_of(scores, asked)
    module, function, options = _QUESTIONS[kind]
    known, chosen = {each.name for each in fields(options)}, {}
    for name, (field, _) in settings_of(CompareOptions).items():
        value = getattr(asked, name)
        if differs(value, field.default):
            if name not in known:
                raise UsageError(f"{name}: has no meaning with {kind}")
            chosen[name] = value
    if "threads" in known:
        chosen["threads"] = asked.threads
    # Loaded here: each has statistics of its own, and one is asked.
    answer: Callable[..., Comparison] = getattr(import_module(f"gainful.tasks.compare.{module}"), function)
    return answer(scores, **chosen)


#: The questions, by what they are about: where each is answered, and its options.
_QUESTIONS: Mapping[str, tuple[str, str, type]] = {
    "two systems": ("two_systems", "compare_two", PairOptions),
    "several systems": ("several_systems", "compare_several", SystemsOptions),
    "sessions that are not paired": ("unpaired_systems", "compare_unpaired", UnpairedOptions),
    "factors": ("factors", "compare_factors", FactorOptions),
    "the test bayes": ("probabilities", "compare_beliefs", BeliefOptions),
    "sequential": ("sequences", "compare_sequentially", SequenceOptions),
}


def _kind_of(scores: Scores, asked: CompareOptions) -> str:
    """Which question fits the scores and the options."""
    if scores.sessions and is_unpaired(next(iter(scores.sessions.values())), asked.test):
        return "sessions that are not paired"
    if asked.sequential:
        return "sequential"
    if asked.test == BAYES.name:
        return "the test bayes"
    if asked.factors is not None:
        return "factors"
    of_several = asked.procedure or asked.correction or asked.groups or asked.family == "all"
    return "two systems" if len(scores.systems) == 2 and not of_several else "several systems"


def is_unpaired(scores: SessionScores, test: str | None) -> bool:
    """Whether systems are compared by what needs no pairs: by whether they have the same sessions, or by the test."""
    is_asked = None if test is None else test in UNPAIRED_TESTS
    if scores.pairing == "none" and is_asked is False:
        raise UsageError(
            f"test {test}: expected the same sessions under all systems, found none that two of them have",
            f"of systems with sessions of their own there is {' | '.join(UNPAIRED_TESTS)}",
        )
    if scores.pairing == "some" and is_asked is None:
        raise InputError(
            f"{scores.source or scores.measure}: expected the same sessions under all systems, or none under two, "
            f"found {len(scores.common):,} that all have",
            "--test randomisation compares on these, --test labels takes all sessions for the systems' own",
        )
    return scores.pairing == "none" if is_asked is None else is_asked


def _scores_of(asked: CompareOptions) -> Scores:
    """The scores to compare from whatever was given, on the queries that are wanted."""
    given, runs, measures = asked.scores, asked.runs, asked.measures
    reading = {name: getattr(asked, name) for name in _READING if getattr(asked, name) is not None}
    existing = runs if _holds(runs, Evaluation) else given
    if isinstance(existing, (Scores, ScoreMatrix)) or _holds(existing, Evaluation) or _holds(existing, ScoreMatrix):
        if reading:
            raise UsageError(f"{next(iter(reading))}: has no meaning with scores that exist already")
        if existing is given and runs is not None:
            if isinstance(runs, Mapping) or measures is not None:
                raise UsageError("runs: expected none beside scores that exist already, found some")
            measures = runs
        scores = Scores.of(existing, None if measures is None else _listed(measures))  # type: ignore[arg-type]
        return scores if asked.queries is None else scores.chosen(Queries.of(asked.queries))
    hint = 'compare(qrels, {"old": run, "new": run}, "AP"), or evaluations by name, or a ScoreMatrix'
    if runs is None:
        raise UsageError(f"compare: expected judgments and runs, or scores, found only {type(given).__name__}", hint)
    if not isinstance(runs, Mapping):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found {type(runs).__name__}", hint)
    if isinstance(measures, Mapping):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found one run after the other", hint)
    queries: Any = asked.queries
    if asked.by is not None and queries is None:
        queries = judgments_about_queries(given, columns_by_side(asked.columns)["qrels"])
    wanted = _listed(DEFAULT_MEASURES if measures is None else measures)
    evaluations: Any = evaluate(given, runs, wanted, queries=queries, threads=asked.threads, **reading)
    if not isinstance(evaluations, Evaluations):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found one run after the other", hint)
    scores = Scores.of(evaluations, wanted)
    return replace(scores, notices=(*evaluations.notices, *scores.notices))


def _holds(value: object, kind: type) -> bool:
    """Whether a value is a dict of such things."""
    return isinstance(value, Mapping) and bool(value) and all(isinstance(each, kind) for each in value.values())


def _listed(measures: Any) -> list[str | Measure]:
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)
