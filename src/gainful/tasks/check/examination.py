"""Examination of judgments and runs, with the checks of judgments and of differences between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike, RunSource
from gainful.frozen import dataclass
from gainful.io.columns import columns_by_side
from gainful.kernel.arrays import Bools, distinct
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import current_progress, in_parallel
from gainful.notation import number_text, printable
from gainful.policy import Policy, lenient
from gainful.tasks.check import CHECKS, SEVERITIES, Examination, Finding, Severity, at_judgment, at_query
from gainful.tasks.check.run_checks import (
    InspectedRun,
    check_documents,
    check_ids,
    check_queries,
    check_ranks,
    check_scores,
)

#: Outlying grades: distance from the others relative to their range, and maximum share of judgments.
_FAR, _RARE = 3.0, 0.01
#: Maximum number of different outlying grades at either end.
_MOST_OUTLYING = 5
_FEW_QUERIES = 0.05
_DONE_UNDEFINED = {"zero": "score 0 and lower the mean", "skip": "are omitted from the mean"}


@dataclass(frozen=True, eq=False)
class JudgmentsUnderPolicy:
    """Judgments, the user's policy, and the user's scale, if given."""

    judged: Judged
    policy: Policy
    scale: float | None

    @property
    def qrels(self) -> Qrels:
        return self.judged.qrels

    def found(self, check: str, rows: Bools, detail: str = "", **otherwise: Any) -> Finding:
        """Return a finding about some judgments, with the first of them as example; see :meth:`Finding.of`."""
        first = int(np.argmax(rows))
        example = at_judgment(self.qrels, first, detail or f", grade {number_text(self.qrels.grade[first])}")
        return Finding.of(check, int(np.count_nonzero(rows)), len(self.qrels), example, **otherwise)


def check_repeats(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Yield repeated judgments of a query and document, with different or equal grades."""
    if these.judged.item_offsets[-1] == len(these.qrels):
        return
    qrels, policy, first = these.qrels, these.policy, these.judged.first_rows
    is_repeat = first != np.arange(first.size)
    differs = is_repeat & (qrels.grade != qrels.grade[first])
    by_subtopic = not policy.subtopics and bool(np.all(qrels.subtopic[is_repeat] != qrels.subtopic[first[is_repeat]]))
    if differs.any():
        row = int(np.argmax(differs))
        grades = number_text(qrels.grade[row]), number_text(qrels.grade[int(first[row])])
        otherwise: dict[str, str] = {}
        if policy.judges != "error":
            otherwise = {"severity": "note", "consequence": f"judges={policy.judges} merges them."}
        if by_subtopic:
            otherwise["remedy"] = "Column 2 differs: if it is the sub-topic, use --subtopics."
        yield these.found("conflicting-judgments", differs, f", grade {grades[0]} after {grades[1]}", **otherwise)
    same = is_repeat & ~differs
    if same.any():
        remedy = "If column 2 is the sub-topic, use --subtopics." if by_subtopic else None
        yield these.found("repeated-judgments", same, " again", remedy=remedy)


def check_relevance(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Yield queries without relevant documents, or the finding that no query has any."""
    relevant = these.judged.recall_base(None, None)
    without, total = np.flatnonzero(relevant == 0), relevant.size
    if not without.size:
        return
    example = at_query(these.qrels.query_ids[int(without[0])])
    if without.size == total:
        lowest, highest = number_text(these.policy.grade_zero), number_text(these.qrels.scale)
        yield Finding.of("nothing-relevant", total, total, example, grade_zero=lowest, highest=highest)
        return
    undefined = these.policy.undefined
    otherwise: dict[str, Any] = {"severity": "note" if without.size <= _FEW_QUERIES * total else "warning"}
    if undefined == "error":
        refusal = "undefined=error: gainful eval refuses measures that divide by 0 for them."
        otherwise = {"severity": "serious", "consequence": refusal}
    otherwise |= {"undefined": undefined, "done": _DONE_UNDEFINED.get(undefined, "")}
    yield Finding.of("queries-without-relevant", int(without.size), total, example, **otherwise)


def check_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Yield grades that look wrong (above the scale, negative, fractional, outlying), and scales without 0."""
    grade, policy = these.qrels.grade, these.policy
    levels = distinct(grade).tolist()
    counts = np.bincount(np.searchsorted(levels, grade)).tolist()
    if these.scale is not None and these.qrels.scale > these.scale:
        yield these.found("grades-above-scale", grade > these.scale, scale=number_text(these.scale))
    # Only if most grades are whole numbers; otherwise the scale has fractions.
    fractional = grade != np.floor(grade)
    share = np.count_nonzero(fractional) / grade.size
    if 0 < share < 0.5:
        yield these.found("fractional-grades", fractional, severity="warning" if share <= _RARE else "note")
    if (grade < 0).any() and not policy.grade_zero:
        counted = "judged not relevant" if policy.negative == "judged" else "unjudged"
        yield these.found("negative-grades", grade < 0, negative=policy.negative, counted=counted)
    if len(levels) == 1 and these.judged.recall_base(None, None).any():
        yield these.found("equal-grades", np.ones(grade.size, bool))
    if levels[0] == 1 and len(levels) > 2 and not policy.grade_zero and these.scale is None:
        yield these.found("no-zero-grade", grade == 1, highest=number_text(levels[-1]))
    # Rare grades far from all others, such as 100 among 0, 1 and 2.
    first, end = _usual_levels(levels, counts)
    usual = levels[first:end]
    ends = {"lowest": number_text(usual[0]), "highest": number_text(usual[-1])}
    for outliers, rows in ((levels[end:], grade > usual[-1]), (levels[:first], grade < usual[0])):
        if outliers:
            words = {"outweighs": "it outweighs", "slip": "it if it is a mistake"}
            if len(outliers) > 1:
                words = {"outweighs": "they outweigh", "slip": "them if they are mistakes"}
            yield these.found("outlying-grades", rows, **ends, **words)


def _usual_levels(levels: Sequence[float], counts: Sequence[int]) -> tuple[int, int]:
    """Return start and end of the levels without outliers; the shortest such range."""
    size, total = len(levels), sum(counts)
    most, few = min(_MOST_OUTLYING, size - 2), _RARE * total

    def are_outliers(first: int, end: int) -> bool:
        """Whether all levels outside a range are far from it, and rare among all judgments."""
        outlying = [*counts[:first], *counts[end:]]
        if max(outlying, default=0) > max(1.0, few):
            return False
        # With few judgments every level is rare: accept several outliers only if the other levels form a clear scale.
        together = sum(outlying)
        is_plain = end - first > 2 and 3 * together < total
        is_far_above = end == size or _is_far(levels[first : end + 1])
        is_far_below = first == 0 or _is_far(levels[first - 1 : end][::-1])
        return is_far_above and is_far_below and (len(outlying) == 1 or together <= few or is_plain)

    windows = [(low, size - high) for low in range(most + 1) for high in range(most + 1) if size - low - high >= 2]
    shortest_first = sorted(windows, key=lambda window: window[1] - window[0])
    first, end = next((window for window in shortest_first if are_outliers(*window)), (0, size))
    # On a scale such as 0, 1, 10, 100 every grade is far from the previous ones.
    grows = (end < size and _is_far(levels[first:end])) or (first > 0 and _is_far(levels[first:end][::-1]))
    return (0, size) if grows else (first, end)


def _is_far(levels: Sequence[float]) -> bool:
    """Whether the last level is far from the others, if there are at least two others."""
    if len(levels) < 3:
        return False
    *others, last = levels
    return abs(last - others[-1]) > _FAR * abs(others[-1] - others[0])


#: Ratios of depths: above the first, scores are not comparable; below the second, the difference is negligible.
_FAR_APART, _APART = 2.0, 1.1
#: Difference between shares of unjudged documents that suggests bias.
_BIAS = 0.2


class RunSummary(NamedTuple):
    """Facts about a run for the comparison with others."""

    name: str
    tag: str | None
    usual_depth: int
    unjudged_share: float
    is_sparse: bool
    hits: int
    fingerprint: bytes

    def __str__(self) -> str:
        return printable(self.name, 32)


def compare_runs(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Yield findings that need several runs: bias, different depths, copies, and equal tags."""
    shares = sorted((run for run in runs if run.hits), key=lambda run: (run.unjudged_share, run.name))
    if shares and not any(run.is_sparse for run in shares):
        least, most = shares[0], shares[-1]
        count = sum(run.unjudged_share - least.unjudged_share > _BIAS for run in shares)
        if count:
            example = f"{most} {most.unjudged_share:.0%}, {least} {least.unjudged_share:.0%}"
            yield Finding.of("unjudged-bias", count, len(runs), example)
    by_depth = sorted(runs, key=lambda run: (run.usual_depth, run.name))
    shallow, deep = by_depth[0], by_depth[-1]
    count = sum(deep.usual_depth > _APART * run.usual_depth for run in runs)
    if count:
        severity: Severity = "warning" if deep.usual_depth >= _FAR_APART * shallow.usual_depth else "note"
        example = f"{shallow} {shallow.usual_depth:,}, {deep} {deep.usual_depth:,} documents per query"
        depth = str(max(1, shallow.usual_depth))
        yield Finding.of("different-depths", count, len(runs), example, severity=severity, depth=depth)
    alike: dict[str, list[bytes | str | None]] = {
        "identical-runs": [run.fingerprint if run.hits else None for run in runs],
        "equal-tags": [run.tag for run in runs],
    }
    for check, keys in alike.items():
        for key in dict.fromkeys(key for key in keys if key is not None and keys.count(key) > 1):
            group = [str(run) for run, other in zip(runs, keys, strict=True) if other == key]
            names = ", ".join(group[:3]) + (", ..." if len(group) > 3 else "")
            themselves = f" have the tag {printable(key, 32)}" if check == "equal-tags" else ""
            yield Finding.of(check, len(group), len(runs), f"{names}{themselves}")


def examine(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    *,
    policy: Policy | str | None = None,
    scale: float | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Examination:
    """Find problems in judgments and runs before scoring.

    Judgments, runs and ``columns`` are as in :func:`gainful.evaluate`. Unreadable files raise an error; problems that a
    policy would refuse, such as duplicates, are findings. Prepared judgments must be prepared with the lenient form of
    the policy. ``scale`` is the highest possible grade.

    >>> found = examine({"q1": {"d1": 1, "d2": 0}}, {"mine": {"q1": {"D1": 0.5, "D2": 0.25}}})
    >>> print(found.findings[0])
    serious: unmatched-documents in mine: 2 of 2, such as 'D1' in the run, 'd1' in the judgments
    >>> found.findings[0].remedy
    '2 of 2 sampled documents match if case is ignored: write IDs alike in both files.'
    """
    require_runs(runs, at_least_one=False)
    settled, called = Policy.of(policy), columns_by_side(columns)
    judged = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(qrels, called["qrels"]), lenient(settled))
    threads = thread_count(threads)
    shown = current_progress()
    each = max(1, threads // max(1, len(runs)))

    def one(name: str, run: RunSource) -> tuple[list[Finding], RunSummary]:
        inspected = InspectedRun(judged, run, name, settled, each, shown)
        checks = (check_queries, check_ids, check_documents, check_scores, check_ranks)
        findings = [finding for check in checks for finding in check(inspected)]
        share = inspected.unjudged / inspected.shown if inspected.shown else 0.0
        seen = inspected.usual_depth, share, inspected.is_sparse, inspected.hits, inspected.fingerprint()
        return findings, RunSummary(name, inspected.places.tag, *seen)

    # Read streams here: a thread waiting for another process could not be interrupted.
    opened = {name: RunSource.of(run, called["run"], name).at_hand() for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = 1 if any(run.ahead for run in opened.values()) else min(threads, len(tasks))
    found = in_parallel(tasks, workers, shown)
    these, summaries = JudgmentsUnderPolicy(judged, settled, scale), [summary for _, summary in found]
    findings = [*check_repeats(these), *check_relevance(these), *check_grades(these)]
    findings += [finding for of_run, _ in found for finding in of_run]
    findings += compare_runs(summaries) if len(runs) > 1 else []
    kinds = list(CHECKS)
    findings.sort(key=lambda each: (SEVERITIES.index(each.severity), kinds.index(each.check)))
    sizes = len(judged.qrels.query_ids), len(judged.qrels)
    return Examination(judged.qrels.name, *sizes, tuple(runs), tuple(findings))
