"""Evaluations of runs against judgments."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np

from gainful.data.collection import require_columns, require_runs
from gainful.data.exclusion import Exclusion, ExclusionLike
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike, RunsLike, RunSource, runs_by_name
from gainful.errors import UsageError, for_asker, warns
from gainful.evaluation.beside import Beside
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.results import Sources
from gainful.frozen import replace
from gainful.io.columns import columns_by_side
from gainful.io.sources import Text, fingerprint_of
from gainful.kernel.arrays import Floats
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import current_progress, in_parallel
from gainful.measures.base import Measure
from gainful.measures.block import computed, gains_of, raw_scores, seen_blocks
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.measures.expected import AVERAGED_OVER_TIES, BOUNDED_BY_GRADE
from gainful.policy import BY_GRADE, Policy, PolicyLike
from gainful.question import settings_of, unknown_option

if TYPE_CHECKING:
    from gainful.data.items import ItemsLike
    from gainful.data.queries import QueriesLike
    from gainful.io.rows import ArrowFrame

MeasuresLike: TypeAlias = str | Measure | Iterable[str | Measure]  #: A measure, its text, or several of either.

_T = TypeVar("_T")


class BesideOptions(TypedDict, total=False):
    """Options of evaluations of runs and of sessions."""

    policy: PolicyLike
    bounds: bool
    chance: bool
    loss: bool
    loss_ranks: Sequence[int]
    threads: int | None


class _Options(BesideOptions, total=False):
    id: str | Callable[[Any], str] | None
    as_given: bool
    exclude: ExclusionLike | None
    items: ItemsLike | None
    training: ExclusionLike | None
    intents: ItemsLike | None
    queries: QueriesLike | None
    columns: Mapping[str, object] | None


@overload
def evaluate(
    qrels: QrelsLike, run: RunsLike, measures: MeasuresLike = ..., **options: Unpack[_Options]
) -> Evaluations: ...
@overload
def evaluate(
    qrels: QrelsLike, run: RunLike, measures: MeasuresLike = ..., *, name: str | None = ..., **options: Unpack[_Options]
) -> Evaluation: ...
@warns
def evaluate(
    qrels: QrelsLike,
    run: RunLike | RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: PolicyLike = None,
    exclude: ExclusionLike | None = None,
    items: ItemsLike | None = None,
    training: ExclusionLike | None = None,
    intents: ItemsLike | None = None,
    queries: QueriesLike | None = None,
    name: str | None = None,
    columns: Mapping[str, object] | None = None,
    threads: int | None = None,
    **more: object,
) -> Evaluation | Evaluations:
    """Score a run against judgments, or several runs named by a dict: ``{"bm25": "bm25.run", "dense": "dense.run"}``.

    Judgments and runs are paths, bytes, dicts, data frames, lists of dicts (as in JSON lines), :class:`gainful.Qrels`
    and :class:`gainful.Run`. A dict of queries, ``{"q1": {"d1": 0.9}}`` or ``{"q1": ["d1", "d2"]}``, is one run; a dict
    of such dicts, paths or frames is several runs and returns :class:`gainful.Evaluations`, a dict with the same names.
    Runs may also contain documents of LangChain, LlamaIndex and Haystack: ``{"q1": [Document, ...]}``. Suspicious input
    raises a :class:`gainful.GainfulWarning`, and the result lists it in ``notices``.

    Args:
        measures: Names such as ``"nDCG@10"``, or :class:`gainful.Measure`.
        policy: The conventions (:class:`gainful.Policy` or a dict), or the name of another tool (``"trec_eval-9"``).
            Each convention is also a keyword, such as ``duplicates="first"`` or ``parent="(.+)#.*"``.
        exclude: Documents per query (or user) to remove from the runs before ranks are counted: a file, dict or frame.
        items, training: A table of items with their attributes, and the items that users had before, for measures of
            recommendation.
        intents: The probabilities of each query's sub-topics, for measures of diversity.
        queries: A table about queries, or :class:`gainful.Queries`, which also selects and weights queries.
        columns: The names of the columns query, document, grade, score and rank in tables and frames, if they are not
            recognised. The prefix ``qrels.`` or ``run.`` limits a role: ``{"query": "visitor", "run.score": "stars"}``.
        id: The ID of a framework's document, as a path (``"metadata.chunk_id"``) or a function.
        as_given: Accept dicts that look swapped.
        bounds, chance, loss: Also compute the bounds of every score (unjudged documents may have any grade), its mean
            over random orders, or the parts of 1 - score (split at ``loss_ranks``), for ``result.beside("loss", ...)``.

    >>> judgments = {"q1": {"d1": 2, "d2": 0}}
    >>> result = evaluate(judgments, {"q1": {"d2": 0.9, "d1": 0.4}}, ["P@2", "RR"])
    >>> result.mean("P@2"), result.by_query("RR")
    (0.5, {'q1': 0.5})
    >>> evaluate(judgments, {"first": {"q1": ["d1"]}, "second": {"q1": ["d2", "d1"]}}, "RR")
    <Evaluations of first, second by RR, 1 query>
    """
    options: dict[str, Any] = Policy.gathered({"policy": policy, "id": None, "as_given": False, **more})
    policy, identify, is_as_given = (options.pop(option) for option in ("policy", "id", "as_given"))
    beside = Beside(**{name: options.pop(name) for name in settings_of(Beside) if name in options})
    if options:
        raise unknown_option("evaluate", next(iter(options)))
    if identify is not None:
        columns = {**(columns or {}), "run.document": identify}
    several = runs_by_name(run)
    if several is None and not is_as_given:
        _refuse_swapped(qrels, run)
    if several is not None and name is not None:
        raise UsageError("name cannot be given for several runs, which have names")
    key = name or ""
    runs = {key: run} if several is None else several
    found = evaluate_runs(
        qrels,
        runs,
        measures,
        policy=policy,
        exclude=exclude,
        items=items,
        training=training,
        intents=intents,
        queries=queries,
        columns=columns,
        beside=beside,
        threads=threads,
    )
    return found[key] if several is None else Evaluations(found)


#: Fewest scores that tell, most distinct grades, and fewest distinct whole scores.
_TELLING, _FEW, _MANY = 10, 6, 10
_LISTS = (Mapping, list, tuple)


def _refuse_swapped(qrels: object, run: object) -> None:
    """Raise UsageError if dicts of judgments and of a run look swapped."""

    def lists(value: object) -> list[list[Any]]:
        some = islice(value.values(), 1000) if isinstance(value, Mapping) else ()
        return [[*(each.values() if isinstance(each, Mapping) else each)] for each in some if isinstance(each, _LISTS)]

    first, second = lists(qrels), lists(run)
    if all(isinstance(each, (int, float)) for each in chain.from_iterable(second)) and looks_swapped(first, second):
        message = "evaluate: the judgments look like scores, and the run like grades: are they swapped?"
        raise UsageError(message, "judgments come first: evaluate(qrels, run); as_given=True skips this check")


def looks_swapped(qrels: Sequence[list[Any]], run: Sequence[list[Any]]) -> bool:
    """Whether the judgments' values per query look like scores, or like longer rankings, and the run's like grades.

    Scores are fractions, or many different whole numbers, and rarely repeated.
    """
    one, other = ([*chain.from_iterable(lists)] for lists in (qrels, run))
    levels, distinct = {*other}, sum(len({*each}) for each in qrels)
    if len(one) < _TELLING or not 0 < len(levels) <= _FEW or any(each % 1 for each in other):
        return False
    if all(isinstance(each, (int, float)) for each in one):
        are_fractions = sum(each % 1 != 0 for each in one) > 0.9 * len(one) and 2 * distinct > len(one)
        are_scores = are_fractions or (len({*one}) > _MANY and distinct > 0.9 * len(one))
    else:  # lists of IDs
        are_scores = all(isinstance(each, str) for each in one) and len(one) > len(other) and {0} < levels
    return are_scores and (len(levels) == 1 or 2 * sum(len({*each}) < len(each) for each in run) > len(run))


@warns
def evaluate_batches(
    qrels: QrelsLike | Judged,
    batches: Iterable[ArrowFrame] | ArrowFrame,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: PolicyLike = None,
    exclude: ExclusionLike | None = None,
    queries: QueriesLike | None = None,
    name: str = "<batches>",
    columns: Mapping[str, object] | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Score a run that arrives in Arrow batches, in memory that does not grow with its rows.

    ``batches`` are objects with the Arrow PyCapsule interface, or one stream of them (pyarrow's RecordBatchReader, a
    DuckDB relation). The rows of a query must be adjacent, and may continue in the next batch; queries may be in any
    order, but a query that returns later is an error. The scores are those of :func:`evaluate`, and so are the other
    arguments. Tables of items and sub-topics come with the judgments (:meth:`gainful.Qrels.with_items`).

    >>> import pyarrow
    >>> batch = pyarrow.record_batch({"query": ["q1", "q1"], "document": ["d2", "d1"], "score": [2.0, 1.0]})
    >>> evaluate_batches({"q1": {"d1": 1}}, [batch.slice(0, 1), batch.slice(1)], "RR").mean("RR")
    0.5
    """
    from gainful.io.frames import read_batches  # loaded late: most runs are not frames

    called = columns_by_side(columns)["run"]
    run = RunSource.of_pieces(lambda least: read_batches(batches, called, name, least), name)
    found = evaluate_runs(
        qrels, {name: run}, measures, policy=policy, exclude=exclude, queries=queries, columns=columns, threads=threads
    )
    return found[name]


def evaluate_runs(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: PolicyLike = None,
    exclude: ExclusionLike | None = None,
    items: ItemsLike | None = None,
    training: ExclusionLike | None = None,
    intents: ItemsLike | None = None,
    queries: QueriesLike | None = None,
    columns: Mapping[str, object] | None = None,
    beside: Beside | None = None,
    threads: int | None = None,
) -> dict[str, Evaluation]:
    """Score several runs against the same judgments, which are prepared once, in parallel.

    Prepared judgments bring their policy. If several runs fail, the error of the first is raised.
    """
    require_runs(runs, at_least_one=False)
    wanted, called = parse_all(measures), columns_by_side(columns)
    require_columns(called["run"], [qrels, *runs.values()])
    exclusion = None if exclude is None else Exclusion.of(exclude)
    opened = {name: RunSource.of(run, called["run"], name or None).without(exclusion) for name, run in runs.items()}
    if any(each is not None for each in (items, training, intents)):
        if isinstance(qrels, Judged):
            raise UsageError("items cannot be combined with prepared judgments")
        qrels = Qrels.of(qrels, called["qrels"]).with_items(items, training, intents=intents)
    judged = Judged.of(qrels, policy, called["qrels"])
    check_measures(wanted, judged, by_query=False)
    about = None
    if queries is not None:
        from gainful.data.queries import Queries  # loaded late: rarely needed

        about = Queries.of(queries)
    needed = frozenset(need for measure in wanted for need in measure.needed())

    def scored(name: str, graded: GradedRun) -> Evaluation:
        run = opened[name].value
        # Several runs given as bytes share one name, so their fingerprints cannot be assigned.
        is_known = isinstance(run, (str, os.PathLike, Text)) or (isinstance(run, bytes) and len(runs) == 1)
        content = run.content if isinstance(run, Run) else fingerprint_of(graded.source) if is_known else None
        sources = Sources(judged, opened[name].again(), judged.qrels.content, content)
        found = evaluate_graded(graded, wanted, sources)
        if beside is not None:
            found = replace(found, besides=beside.values(graded, found))
        return found if about is None else found.chosen(about)

    return join_each(judged, opened, scored, needed, threads=threads)


def join_each(
    judged: Judged,
    runs: Mapping[str, RunLike],
    use: Callable[[str, GradedRun], _T],
    needed: frozenset[str] = frozenset(),
    *,
    threads: int | None = None,
) -> dict[str, _T]:
    """Join every run with the judgments, in parallel, and return ``use(name, joined)`` by name.

    ``needed`` may hold ``"scores"``, ``"ties"`` and ``"documents"``. Only what ``use`` returns is kept of a run.
    """
    threads = thread_count(threads)
    progress = current_progress()
    each = max(1, threads // max(1, len(runs)))

    def one(name: str, run: RunSource) -> _T:
        wants = {"want_scores": "scores" in needed, "want_rows": "documents" in needed}
        return use(name, join(judged, run, judged.policy, threads=each, progress=progress, name=name or None, **wants))

    # Streams are read in this thread, because another thread could not be interrupted while it waits.
    opened = {name: RunSource.of(run, name=name or None).at_hand() for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = min(threads, len(tasks))
    for run in opened.values():
        if run.ahead is not None and not needed - {"ties"} and run.ahead.serves(judged, judged.policy):
            # The core already reads this run in threads; the remaining work mostly holds the GIL.
            workers = 1
            progress.follow(run.ahead.progress)
    return dict(zip(runs, in_parallel(tasks, workers, progress), strict=True))


def check_measures(measures: Sequence[Measure], judged: Judged, *, by_query: bool = True) -> None:
    """Raise UsageError for duplicate measures, measures that do not fit the judgments, and, with ``by_query``, measures
    that have no value per query."""
    seen: set[str] = set()
    for measure in measures:
        if str(measure) in seen:
            raise UsageError(f"duplicate measure '{measure}'")
        seen.add(str(measure))
        if measure.unit == "session":
            commands = "use `gainful sessions`, or `gainful compare --sessions` to compare systems"
            hint = for_asker(commands, "use gainful.evaluate_sessions")
            raise UsageError(f"{measure} evaluates sessions, not single queries", hint)
        if by_query:
            measure.require_scores()
        if not measure.needed() <= {"scores", "ties", "documents"}:
            raise UsageError(
                f"{measure}: can need scores, ties or documents, found {', '.join(sorted(measure.needed()))}"
            )
        measure.check(judged.levels)
        if judged.policy.ties == "expected" and measure.name not in AVERAGED_OVER_TIES:
            raise UsageError(
                f"{measure}: no closed form for ties=expected",
                f"expected has {', '.join(sorted(AVERAGED_OVER_TIES))}; ties=best and ties=worst order ties by grade",
            )
        if judged.policy.ties in BY_GRADE and "documents" in measure.needed():
            raise UsageError(f"{measure}: needs documents in an order, which ties={judged.policy.ties} does not give")


def evaluate_graded(
    graded: GradedRun, measures: Sequence[Measure], sources: Sources | None = None, raw: Floats | None = None
) -> Evaluation:
    """Score a joined run; ``raw`` are its raw scores, if already computed."""
    raw = raw_scores(graded, measures) if raw is None else raw
    return Evaluation(
        graded.name,
        graded.source,
        graded.query_ids,
        tuple(measures),
        raw,
        graded.answered,
        graded.policy,
        graded.judged.qrels.scale,
        graded.facts,
        sources,
        lists=None if graded.run is None else graded.items,
        ties=partial(_scores_of_ties, graded, measures, raw) if graded.hit_first.size else None,
    )


def _scores_of_ties(graded: GradedRun, measures: Sequence[Measure], raw: Floats) -> Floats | None:
    """Return the raw scores with the worst and the best order of equal scores; None if ties decide nothing."""
    bounded = [i for i, measure in enumerate(measures) if _rises_with_grade(measure, graded.judged)]
    if graded.policy.ties in BY_GRADE or not bounded:
        return None
    measures = [measures[i] for i in bounded]
    tied = (graded.hit_last > graded.hit_first) & (graded.hit_first <= max(m.rank_cutoff or math.inf for m in measures))
    tied &= (graded.hit_grade != 0) | any(m.better == "lower" for m in measures)  # grade 0 may be forbidden
    of_ties = np.repeat(np.arange(graded.retrieved.size), np.diff(graded.hit_offsets))[tied]
    queries = np.flatnonzero(np.bincount(of_ties))  # np.unique would import numpy.ma
    if not queries.size:
        return None
    found = np.stack([raw, raw])
    for scores, best_first in zip(found, (False, True), strict=True):
        for block, seen_by in seen_blocks(graded.by_grade(best_first), measures, queries):
            for i in seen_by:
                scores[bounded[i], block.queries] = computed(measures[i], block)
    return found


def _rises_with_grade(measure: Measure, judged: Judged) -> bool:
    """Whether a better document at a higher rank never makes a score worse."""
    if measure.name not in BOUNDED_BY_GRADE or measure.needed() or getattr(measure, "favours_rank_2", False):
        return False
    worth = gains_of(measure, judged.levels, judged.scale) * (1 if measure.better == "higher" else -1)
    # Unjudged documents, worth 0, are above those of grade 0.
    worth = np.insert(worth, np.searchsorted(judged.levels, 0.0, "right"), 0.0)
    return bool((np.diff(worth) >= 0).all())
