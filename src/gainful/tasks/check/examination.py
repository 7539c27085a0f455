"""What is an error elsewhere is a finding here. Loads nothing heavy: reading starts under this policy.

What may be wrong when runs are compared with each other.
The examination itself: judgments and runs in, findings out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gainful.data.collection import ReadRun, require_runs
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.evaluation.evaluate import opened_if_stream
from gainful.io.sources import Text
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress, side_by_side
from gainful.measures.base import read_whole
from gainful.notation import printable
from gainful.policy import Policy, lenient
from gainful.tasks.check.check_findings import Examination, Example, Finding, InspectedRun, Severity, inspect
from gainful.tasks.check.judgment_checks import examine_judgments
from gainful.tasks.check.list_checks import examine_run, is_sparse

#: Depths this many times apart make numbers that cannot be compared; below the second nobody need care.
_FAR_APART, _APART = 2.0, 1.1
#: Shares of unjudged documents this far apart.
_BIAS = 0.2


@dataclass(frozen=True)
class RunSummary:
    """What is kept of a run for the comparison with others."""

    name: str
    tag: str | None
    usual_depth: int
    unjudged_share: float
    is_sparse: bool
    hits: int
    fingerprint: bytes

    @classmethod
    def of(cls, run: InspectedRun) -> RunSummary:
        share = run.unjudged / run.shown if run.shown else 0.0
        sparse = is_sparse(run)
        return cls(run.name, run.places.tag, run.usual_depth, share, sparse, run.hits, run.fingerprint())


def examine_together(runs: Sequence[RunSummary]) -> list[Finding]:
    """All that is suspicious about runs side by side."""
    if len(runs) < 2:
        return []
    checks = (unjudged_bias, different_depths, identical_runs, equal_tags)
    return [finding for check in checks for finding in check(runs)]


def unjudged_bias(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Far more unjudged documents in the top 10 of one run than of another."""
    shares = sorted((run for run in runs if run.hits), key=lambda run: (run.unjudged_share, run.name))
    if not shares or any(run.is_sparse for run in shares):
        return
    least, most = shares[0], shares[-1]
    if most.unjudged_share - least.unjudged_share <= _BIAS:
        return
    count = sum(run.unjudged_share - least.unjudged_share > _BIAS for run in shares)
    example = Example(f"{_name(most)} {most.unjudged_share:.0%}, {_name(least)} {least.unjudged_share:.0%}")
    consequence = "The judgments favour runs that they were made from: others look worse than they are."
    remedy = "Compare on judged documents, too (--unjudged condensed), and show Judged@10."
    yield Finding("unjudged-bias", "warning", None, count, len(runs), example, consequence, remedy)


def different_depths(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Runs cut at different depths."""
    by_depth = sorted(runs, key=lambda run: (run.usual_depth, run.name))
    shallow, deep = by_depth[0], by_depth[-1]
    if deep.usual_depth <= _APART * shallow.usual_depth:
        return
    severity: Severity = "warning" if deep.usual_depth >= _FAR_APART * shallow.usual_depth else "note"
    count = sum(deep.usual_depth > _APART * run.usual_depth for run in runs)
    example = Example(f"{_name(shallow)} {shallow.usual_depth:,}, {_name(deep)} {deep.usual_depth:,} documents a query")
    consequence = "Recall, AP and all that looks further down favours the deeper runs."
    remedy = f"--depth {max(1, shallow.usual_depth)} cuts all runs alike; measures @k up to there are not affected."
    yield Finding("different-depths", severity, None, count, len(runs), example, consequence, remedy)


def identical_runs(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Runs that rank all judged documents alike."""
    for group in _groups(runs, (run.fingerprint if run.hits else None for run in runs)):
        consequence = "They have the same judged documents at the same ranks: every measure gives the same."
        remedy = "Is one a copy of the other under another name?"
        yield Finding("identical-runs", "note", None, len(group), len(runs), _names(group), consequence, remedy)


def equal_tags(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Different runs that call themselves the same."""
    for group in _groups(runs, (run.tag for run in runs)):
        consequence = "Tools that go by what runs call themselves take them for one."
        remedy = "Nothing need be done here, where runs are called by their files."
        yield Finding("equal-tags", "note", None, len(group), len(runs), _tagged(group), consequence, remedy)


def _groups(runs: Sequence[RunSummary], keys: Iterable[Hashable]) -> list[list[RunSummary]]:
    """Runs of the same key, where there are several; None is no key."""
    groups: dict[Hashable, list[RunSummary]] = {}
    for run, key in zip(runs, keys, strict=True):
        if key is not None:
            groups.setdefault(key, []).append(run)
    return [group for group in groups.values() if len(group) > 1]


def _name(run: RunSummary) -> str:
    return printable(run.name, 32)


def _names(runs: Sequence[RunSummary]) -> Example:
    more = ", ..." if len(runs) > 3 else ""
    return Example(", ".join(_name(run) for run in runs[:3]) + more)


def _tagged(runs: Sequence[RunSummary]) -> Example:
    return Example(f"{_names(runs)} call themselves {printable(runs[0].tag or '', 32)}")


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
    runs: Mapping[str, RunLike],
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

    def one(name: str, run: RunLike | Text) -> tuple[list[Finding], RunSummary]:
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
