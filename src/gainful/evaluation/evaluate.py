"""From judgments and runs to evaluations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack, overload

from gainful.data.collection import require_columns, require_runs
from gainful.data.exclusion import Exclusion, ExclusionLike
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike, RunsLike, RunSource, runs_by_name
from gainful.errors import UsageError, for_asker, warns
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.results import Sources
from gainful.io.columns import columns_by_side
from gainful.io.sources import Text, fingerprint_of
from gainful.kernel.arrays import Floats
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import current_progress, in_parallel
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.policy import Policy, PolicyLike
from gainful.question import unknown_option

if TYPE_CHECKING:
    from gainful.data.items import ItemsLike
    from gainful.data.queries import QueriesLike
    from gainful.io.rows import ArrowFrame

MeasuresLike: TypeAlias = str | Measure | Iterable[str | Measure]  #: A measure, its text, or several of either.

_T = TypeVar("_T")


class _Options(TypedDict, total=False):
    policy: PolicyLike
    id: str | Callable[[Any], str] | None
    as_given: bool
    exclude: ExclusionLike | None
    items: ItemsLike | None
    training: ExclusionLike | None
    intents: ItemsLike | None
    queries: QueriesLike | None
    columns: Mapping[str, object] | None
    threads: int | None


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
    """Scores a run against judgments, or several that a dict names: ``{"bm25": "bm25.run", "dense": "dense.run"}``.

    Judgments and runs are paths, bytes, dicts, data frames, lists of dicts as JSON lines have them, or
    :class:`gainful.Qrels` and :class:`gainful.Run`. A dict of queries, ``{"q1": {"d1": 0.9}}`` or ``{"q1": ["d1",
    "d2"]}``, is one run; a dict of such dicts, of paths or of frames is several, and gives
    :class:`gainful.Evaluations`, a dict by the same names. ``measures`` are names such as ``"nDCG@10"`` or
    :class:`gainful.Measure`; ``policy`` holds the conventions (:class:`gainful.Policy` or a dict), or names another
    tool's (``"trec_eval-9"``); each of them is also a keyword, such as ``duplicates="first"`` or ``parent="(.+)#.*"``.
    A run may hold the documents of LangChain, LlamaIndex and Haystack: ``{"q1": [Document, ...]}``; ``id`` says which
    of their values is the id, as a path (``"metadata.chunk_id"``) or a function. Dicts that look swapped are refused
    unless ``as_given``. ``exclude`` has documents by query (or user) that are left out of the runs before ranks are
    counted: a file, a dict, a data frame. ``items`` is a table of items with their attributes and ``training`` has what
    users had before, as ``exclude`` does; measures of recommendation go by them; ``intents`` has the
    probability of each query's sub-topics, for measures of diversity. ``columns`` says what tables and
    frames call query, document, grade, score and rank where their names are not understood; ``qrels.`` or ``run.``
    before a role is for one of the two: ``{"query": "visitor", "run.score": "stars"}``. ``queries`` is a table that
    says something of queries, or :class:`gainful.Queries`, which also says which of them count, and how much. What is
    suspicious is a :class:`gainful.GainfulWarning`, and in ``notices`` of what is returned.

    >>> judgments = {"q1": {"d1": 2, "d2": 0}}
    >>> result = evaluate(judgments, {"q1": {"d2": 0.9, "d1": 0.4}}, ["P@2", "RR"])
    >>> result.mean("P@2"), result.by_query("RR")
    (0.5, {'q1': 0.5})
    >>> evaluate(judgments, {"first": {"q1": ["d1"]}, "second": {"q1": ["d2", "d1"]}}, "RR")
    <Evaluations of first, second by RR, 1 query>
    """
    options: dict[str, Any] = Policy.gathered({"policy": policy, "id": None, "as_given": False, **more})
    policy, identify, is_as_given = (options.pop(option) for option in ("policy", "id", "as_given"))
    if options:
        raise unknown_option("evaluate", next(iter(options)))
    if identify is not None:
        columns = {**(columns or {}), "run.document": identify}
    several = runs_by_name(run)
    if several is None and not is_as_given:
        _refuse_swapped(qrels, run)
    if several is not None and name is not None:
        raise UsageError("name: expected with one run, found several, which have names")
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
        threads=threads,
    )
    return found[key] if several is None else Evaluations(found)


#: So many scores tell; there are no more different grades than the second.
_TELLING, _FEW = 10, 6


def _refuse_swapped(qrels: object, run: object) -> None:
    """Refuses dicts of which the first has scores and the second grades: hardly ever whole or the same in a list there,
    whole, few and repeated here."""

    def lists(value: object) -> list[list[Any]]:
        some = islice(value.values(), 1000) if isinstance(value, Mapping) else ()
        return [[*each.values()] for each in some if isinstance(each, Mapping)]

    first, second = lists(qrels), lists(run)
    one, other = (list(chain.from_iterable(each)) for each in (first, second))
    if len(one) < _TELLING or not other or not all(isinstance(each, (int, float)) for each in (*one, *other)):
        return
    are_scores = sum(each % 1 != 0 for each in one) > 0.9 * len(one) and 2 * sum(len({*each}) for each in first) > len(
        one
    )
    repeated = len({*other}) == 1 or 2 * sum(len({*each}) < len(each) for each in second) > len(second)
    if are_scores and repeated and len({*other}) <= _FEW and all(each % 1 == 0 for each in other):
        raise UsageError(
            "evaluate: the judgments look like scores, and the run like grades: are they swapped?",
            "judgments come first: evaluate(qrels, run); as_given=True takes them as they are",
        )


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
    """Scores a run that comes in Arrow batches, in memory that does not grow with its rows.

    ``batches`` are objects with the Arrow PyCapsule interface, or one stream of them (a RecordBatchReader of pyarrow, a
    relation of DuckDB). The rows of a query stand together; it may continue in the next batch. Queries may be in any
    order, but one that comes back is an error: sort by query first. All else is that of :func:`evaluate`, and so are
    the numbers, whatever the batches.

    >>> import pyarrow
    >>> batch = pyarrow.record_batch({"query": ["q1", "q1"], "document": ["d2", "d1"], "score": [2.0, 1.0]})
    >>> evaluate_batches({"q1": {"d1": 1}}, [batch.slice(0, 1), batch.slice(1)], "RR").mean("RR")
    0.5
    """
    from gainful.io.frames import read_batches  # loaded late: most runs are no frames

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
    threads: int | None = None,
) -> dict[str, Evaluation]:
    """Scores several runs against the same judgments, which are prepared once, side by side on all cores.

    Judgments that are prepared already bring their policy. If runs fail, the error of the first of them is raised.
    """
    require_runs(runs, at_least_one=False)
    wanted, called = parse_all(measures), columns_by_side(columns)
    require_columns(called["run"], [qrels, *runs.values()])
    exclusion = None if exclude is None else Exclusion.of(exclude)
    opened = {name: RunSource.of(run, called["run"], name or None).without(exclusion) for name, run in runs.items()}
    if any(each is not None for each in (items, training, intents)):
        if isinstance(qrels, Judged):
            raise UsageError("items: expected none beside judgments that are already prepared")
        qrels = Qrels.of(qrels, called["qrels"]).with_items(items, training, intents=intents)
    judged = Judged.of(qrels, policy, called["qrels"])
    check_measures(wanted, judged, by_query=False)
    about = None
    if queries is not None:
        from gainful.data.queries import Queries  # loaded late: few say anything of queries

        about = Queries.of(queries)
    needed = frozenset(need for measure in wanted for need in measure.needed())

    def scored(name: str, graded: GradedRun) -> Evaluation:
        run = opened[name].value
        # Several runs given as bytes share one name, so that their fingerprints cannot be told apart.
        is_known = isinstance(run, (str, os.PathLike, Text)) or (isinstance(run, bytes) and len(runs) == 1)
        content = run.content if isinstance(run, Run) else fingerprint_of(graded.source) if is_known else None
        sources = Sources(judged, opened[name].again(), judged.qrels.content, content)
        found = evaluate_graded(graded, wanted, sources)
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

    ``needed`` may hold ``"scores"``, ``"ties"`` and ``"documents"``. Nothing of a run is kept but what ``use`` returns.
    """
    threads = thread_count(threads)
    progress = current_progress()
    each = max(1, threads // max(1, len(runs)))

    def one(name: str, run: RunSource) -> _T:
        wants = {"want_scores": "scores" in needed, "want_ties": "ties" in needed, "want_rows": "documents" in needed}
        return use(name, join(judged, run, judged.policy, threads=each, progress=progress, name=name or None, **wants))

    # Streams are read here: a thread that waits for input could not be interrupted.
    opened = {name: RunSource.of(run, name=name or None).at_hand() for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = min(threads, len(tasks))
    for run in opened.values():
        if run.ahead is not None and not needed and run.ahead.serves(judged, judged.policy):
            # It is on the core's threads already; what is left holds the interpreter's lock most of the time.
            workers = 1
            progress.follow(run.ahead.progress)
    results = in_parallel(tasks, workers, progress)
    return dict(zip(runs, results, strict=True))


def check_measures(measures: Sequence[Measure], judged: Judged, *, by_query: bool = True) -> None:
    """Refuses measures that cannot be distinguished, those that do not fit the judgments, and, where scores have to be
    by query, those of all lists together."""
    seen: set[str] = set()
    for measure in measures:
        if str(measure) in seen:
            raise UsageError(f"expected different measures, found '{measure}' twice")
        seen.add(str(measure))
        if measure.unit == "session":
            raise UsageError(
                f"{measure}: evaluates sessions, found single queries",
                for_asker(
                    "`gainful sessions` evaluates it, `gainful compare --sessions` compares systems by it",
                    "gainful.evaluate_sessions evaluates it",
                ),
            )
        if by_query:
            measure.require_scores()
        if not measure.needed() <= {"scores", "ties", "documents"}:
            raise UsageError(
                f"{measure}: can need scores, ties or documents, found {', '.join(sorted(measure.needed()))}"
            )
        measure.check(judged.levels)


def evaluate_graded(
    graded: GradedRun, measures: Sequence[Measure], sources: Sources | None = None, raw: Floats | None = None
) -> Evaluation:
    """Score a joined run; ``raw`` are its raw scores, if they are known already."""
    return Evaluation(
        graded.name,
        graded.source,
        graded.query_ids,
        tuple(measures),
        raw_scores(graded, measures) if raw is None else raw,
        graded.answered,
        graded.policy,
        graded.judged.qrels.scale,
        graded.facts,
        sources,
        lists=None if graded.run is None else graded.items,
    )
