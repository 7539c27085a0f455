"""The examination itself: judgments and runs in, findings out."""

from __future__ import annotations

from collections.abc import Mapping

from gainful.ahead import ReadRun
from gainful.core import default_threads
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.doctor.between_runs import RunSummary, examine_together
from gainful.doctor.findings import Examination, Finding
from gainful.doctor.inspected import inspect
from gainful.doctor.judgment_checks import examine_judgments
from gainful.doctor.leniency import lenient
from gainful.doctor.list_checks import examine_run
from gainful.evaluation import opened_if_stream
from gainful.io.sources import Text
from gainful.measures.parameters import read_whole
from gainful.named_runs import require_runs
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.side_by_side import side_by_side


def examine(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    policy: Policy | str | None = None,
    scale: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Examination:
    """Everything suspicious about judgments and runs, before anything is scored.

    Judgments and runs are what :func:`gainful.evaluate_runs` takes. Files that cannot be read raise an error as there;
    what a policy would refuse, such as duplicates, is a finding. ``scale`` is the highest grade there can be.

    >>> found = examine({"q1": {"d1": 1, "d2": 0}}, {"mine": {"q1": {"D1": 0.5, "D2": 0.25}}})
    >>> print(found.findings[0])
    serious: unmatched-documents in mine: 2 of 2, such as 'D1' in the run, 'd1' in the judgments
    >>> found.findings[0].remedy
    '2 of 2 documents looked at match if case is ignored: write ids alike in both files.'
    """
    require_runs(runs, at_least_one=False)
    settled = Policy.of(policy)
    judged = Judged(Qrels.of(qrels), lenient(settled))
    return examine_judged(judged, runs, settled, scale=scale, threads=threads, progress=progress)


def examine_judged(
    judged: Judged,
    runs: Mapping[str, RunLike | ReadRun],
    policy: Policy,
    *,
    scale: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Examination:
    """Examines judgments, prepared under the lenient form of a policy, and runs against them."""
    threads = default_threads() if threads is None else read_whole(threads, "threads")
    progress = progress or Progress()
    each = max(1, threads // max(1, len(runs)))
    settled = progress

    def one(name: str, run: RunLike | Text | ReadRun) -> tuple[list[Finding], RunSummary]:
        inspected = inspect(judged, run, name, policy, threads=each, progress=settled)
        return examine_run(inspected), RunSummary.of(inspected)

    # Streams are read here: a thread that waits for somebody else could not be interrupted.
    opened = {name: opened_if_stream(run) for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = 1 if any(isinstance(run, ReadRun) for run in opened.values()) else min(threads, len(tasks))
    found = side_by_side(tasks, workers, progress)
    findings = [
        *examine_judgments(judged, policy, scale),
        *(finding for of_run, _ in found for finding in of_run),
        *examine_together([summary for _, summary in found]),
    ]
    qrels = judged.qrels
    return Examination.of(qrels.name, len(qrels.query_ids), len(qrels), list(runs), findings)
