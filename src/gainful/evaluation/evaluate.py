"""From judgments and runs to evaluations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from gainful.data.collection import ReadRun, require_runs
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.run import Run, RunLike, with_columns
from gainful.errors import UsageError
from gainful.evaluation.results import Evaluation, Sources
from gainful.io.columns import columns_by_side
from gainful.io.formats import RunFile
from gainful.io.sources import Text, fingerprint_of, is_stream, open_source
from gainful.kernel.arrays import Floats
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, in_parallel
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.policy import Policy

MeasuresLike: TypeAlias = str | Measure | Iterable[str | Measure]

_T = TypeVar("_T")


def evaluate(
    qrels: QrelsLike,
    run: RunLike,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: Policy | str | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Scores one run against judgments.

    Judgments and run are paths, bytes, dicts, data frames or :class:`Qrels` and :class:`Run`. ``policy`` holds the
    conventions, or names another tool's (``"trec_eval-9"``). ``columns`` says what tables and frames call query,
    document, grade, score and rank where their names are not understood; ``qrels.`` or ``run.`` before a role is for
    one of the two: ``{"query": "visitor", "run.score": "stars"}``.

    >>> result = evaluate({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d2": 0.9, "d1": 0.4}}, ["P@2", "RR"])
    >>> result.mean("P@2"), result.by_query("RR")
    (0.5, {'q1': 0.5})
    """
    key = name or ""
    return evaluate_runs(qrels, {key: run}, measures, policy=policy, columns=columns, threads=threads)[key]


def evaluate_runs(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Evaluation]:
    """Scores several runs against the same judgments, side by side on all cores.

    The judgments are prepared once; those that already are bring their policy. If runs fail, the error of the first of
    them is raised. ``columns`` is that of :func:`evaluate`.
    """
    require_runs(runs, at_least_one=False)
    wanted, called = parse_all(measures), columns_by_side(columns)
    runs = {name: with_columns(run, called["run"], name) for name, run in runs.items()}
    judged = Judged.of(qrels, policy, called["qrels"])
    check_measures(wanted, judged)
    needed = frozenset(need for measure in wanted for need in measure.needed())

    def scored(name: str, graded: GradedRun) -> Evaluation:
        run = runs[name]
        # Of several runs that are bytes nobody knows which was read last.
        is_known = isinstance(run, (str, os.PathLike, RunFile)) or (isinstance(run, bytes) and len(runs) == 1)
        content = run.content if isinstance(run, Run) else fingerprint_of(graded.source) if is_known else None
        return evaluate_graded(graded, wanted, Sources(judged, _again(run), judged.qrels.content, content))

    return join_each(judged, runs, scored, needed, threads=threads, progress=progress)


def join_each(
    judged: Judged,
    runs: Mapping[str, RunLike],
    use: Callable[[str, GradedRun], _T],
    needed: frozenset[str] = frozenset(),
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, _T]:
    """What ``use`` makes of every run and its name, once the run has met the judgments; side by side on all cores.

    ``needed`` may hold ``"scores"``, ``"ties"`` and ``"rows"``. Nothing of a run is kept but what ``use`` returns.
    """
    threads = thread_count(threads)
    progress = progress or Progress()
    each = max(1, threads // max(1, len(runs)))

    def one(name: str, run: RunLike | Text) -> _T:
        graded = join(
            judged,
            run,
            judged.policy,
            want_scores="scores" in needed,
            want_ties="ties" in needed,
            want_rows="rows" in needed,
            threads=each,
            progress=progress,
            name=name or None,
        )
        return use(name, graded)

    # Streams are read here: a thread that waits for somebody else could not be interrupted.
    opened = {name: opened_if_stream(run) for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = min(threads, len(tasks))
    for run in opened.values():
        if isinstance(run, ReadRun) and not needed and run.serves(judged, judged.policy):
            # It is on the core's threads already; what is left holds the interpreter's lock most of the time.
            workers = 1
            progress.follow(run.ahead.progress)
    results = in_parallel(tasks, workers, progress)
    return dict(zip(runs, results, strict=True))


def check_measures(measures: Sequence[Measure], judged: Judged) -> None:
    """Refuses measures that cannot be told apart, and those that do not fit the judgments."""
    seen: set[str] = set()
    for measure in measures:
        if str(measure) in seen:
            raise UsageError(f"expected measures that can be told apart, found '{measure}' twice")
        seen.add(str(measure))
        if measure.unit == "session":
            raise UsageError(
                f"{measure}: evaluates sessions, found single queries",
                "gainful.evaluate_sessions (`gainful sessions`) evaluates it",
            )
        if not measure.needed() <= {"scores", "ties"}:
            raise UsageError(f"{measure}: can need scores or ties, found {', '.join(sorted(measure.needed()))}")
        measure.check(judged.levels)


def opened_if_stream(run: RunLike) -> RunLike | Text:
    """The run, read into memory if it comes from somebody else who may keep us waiting."""
    if isinstance(run, RunFile):
        return RunFile(open_source(run.source), run.how) if is_stream(run.source) else run
    return open_source(run) if is_stream(run) else run


def readable_again(run: RunLike) -> RunLike:
    """The same run for who has to read it more than once: what comes from a stream is kept in memory."""
    opened = opened_if_stream(run)
    return RunFile.of(opened) if isinstance(opened, Text) else opened


def _again(run: RunLike) -> RunLike | None:
    """What reads a run once more; None where it has flown by."""
    if isinstance(run, ReadRun):
        return RunFile(run.source.name, run.how)
    return None if is_stream(run.source if isinstance(run, RunFile) else run) else run


def evaluate_graded(
    graded: GradedRun, measures: Sequence[Measure], sources: Sources | None = None, raw: Floats | None = None
) -> Evaluation:
    """Scores a run that has met its judgments; ``raw`` are its scores where somebody has them already."""
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
    )
