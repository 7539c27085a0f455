"""The examination, judgments and runs in, findings out; and what may be wrong with judgments, or between runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike, RunSource
from gainful.io.columns import columns_by_side
from gainful.kernel.arrays import Bools, Ints
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, in_parallel
from gainful.notation import number_text, printable
from gainful.policy import Policy, lenient
from gainful.tasks.check import Examination, Example, Finding, Severity, at_judgment, at_query
from gainful.tasks.check.id_checks import (
    extra_queries,
    missing_queries,
    several_in_one,
    unmatched_documents,
    unmatched_queries,
)
from gainful.tasks.check.list_checks import (
    InspectedRun,
    constant_scores,
    empty_lists,
    float32_ties,
    inspect,
    rank_column,
    rank_conflicts,
    repeated_documents,
    reversed_scores,
    self_hits,
    short_lists,
    tied_documents,
    unjudged_documents,
)

#: A grade this many times as far from the others as those from each other, in so small a share of the judgments.
_FAR, _RARE = 3.0, 0.01
#: Slips are few: so many different grades on either side.
_MOST_OUTLYING = 5
_FEW_QUERIES = 0.05
_DONE_UNDEFINED = {"zero": "score 0 and lower the mean", "skip": "are left out of the mean"}


@dataclass(frozen=True, eq=False)
class JudgmentsUnderPolicy:
    """Judgments, the user's policy, and the scale that the user gave, if any."""

    judged: Judged
    policy: Policy
    scale: float | None

    @property
    def qrels(self) -> Qrels:
        return self.judged.qrels

    @cached_property
    def level_counts(self) -> dict[float, int]:
        """How many judgments have each grade, as the judges wrote it."""
        levels = np.array(self.qrels.levels)
        present = np.bincount(np.searchsorted(levels, self.qrels.grade), minlength=levels.size)
        return {level: int(count) for level, count in zip(self.qrels.levels, present, strict=True) if count}

    @cached_property
    def relevant(self) -> Ints:
        """How many relevant documents each query has."""
        before = np.concatenate(([0], np.cumsum(self.judged.grade > 0)))
        return np.diff(before[self.judged.item_offsets])

    def found(self, check: str, rows: Bools, detail: str = "", **otherwise: Any) -> Finding:
        """A finding about some of the judgments, the first of them as the example; see :meth:`Finding.of`."""
        first = int(np.argmax(rows))
        example = at_judgment(self.qrels, first, detail or f", grade {number_text(self.qrels.grade[first])}")
        return Finding.of(check, int(np.count_nonzero(rows)), len(self.qrels), example, **otherwise)


def repeats(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """The same query and document judged again: with another grade, or with the same."""
    qrels = these.qrels
    if these.judged.item_offsets[-1] == len(qrels):
        return
    group = these.judged.item
    if these.policy.subtopics:
        group = group * len(qrels.subtopic_ids) + qrels.subtopic
    first = _first_rows(group)
    is_repeat = first != np.arange(first.size)
    differs = is_repeat & (qrels.grade != qrels.grade[first])
    by_subtopic = not these.policy.subtopics and bool(
        np.all(qrels.subtopic[is_repeat] != qrels.subtopic[first[is_repeat]])
    )
    if differs.any():
        yield _conflicts(these, differs, first, by_subtopic)
    same = is_repeat & ~differs
    if same.any():
        remedy = "If column 2 is the sub-topic, use --subtopics." if by_subtopic else None
        yield these.found("repeated-judgments", same, " again", remedy=remedy)


def _conflicts(these: JudgmentsUnderPolicy, differs: Bools, first: Ints, by_subtopic: bool) -> Finding:
    qrels, row = these.qrels, int(np.argmax(differs))
    grades = number_text(qrels.grade[row]), number_text(qrels.grade[int(first[row])])
    otherwise: dict[str, str] = {}
    if these.policy.judges != "error":
        otherwise = {"severity": "note", "consequence": f"judges={these.policy.judges} makes one grade of them."}
    if by_subtopic:
        otherwise["remedy"] = "Column 2 differs: if it is the sub-topic, use --subtopics."
    return these.found("conflicting-judgments", differs, f", grade {grades[0]} after {grades[1]}", **otherwise)


def _first_rows(group: Ints) -> Ints:
    """For every row the first row of its group."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    first = np.empty(group.size, np.int64)
    first[order] = np.repeat(order[starts], np.diff(starts, append=group.size))
    return first


def nothing_relevant(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Queries without any relevant document; or none has one."""
    without, total = np.flatnonzero(these.relevant == 0), these.relevant.size
    if not without.size:
        return
    example = at_query(these.qrels.query_ids[int(without[0])])
    if without.size == total:
        lowest, highest = number_text(these.policy.grade_zero), number_text(these.qrels.scale)
        yield Finding.of("nothing-relevant", total, total, example, grade_zero=lowest, highest=highest)
        return
    undefined = these.policy.undefined
    severity: Severity = "note" if without.size <= _FEW_QUERIES * total else "warning"
    consequence = None
    if undefined == "error":
        severity, consequence = "serious", "undefined=error: gainful eval refuses measures that divide by 0 there."
    yield Finding.of(
        "queries-without-relevant",
        int(without.size),
        total,
        example,
        severity=severity,
        consequence=consequence,
        undefined=undefined,
        done=_DONE_UNDEFINED.get(undefined, ""),
    )


def negative_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Grades below 0."""
    negative, choice = these.qrels.grade < 0, these.policy.negative
    if negative.any() and not these.policy.grade_zero:
        counted = "judged not relevant" if choice == "judged" else "not judged at all"
        yield these.found("negative-grades", negative, negative=choice, counted=counted)


def fractional_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Fractions among whole grades, as long as most are whole: otherwise the scale has fractions."""
    fractional = these.qrels.grade != np.floor(these.qrels.grade)
    share = np.count_nonzero(fractional) / len(these.qrels)
    if 0 < share < 0.5:
        yield these.found("fractional-grades", fractional, severity="warning" if share <= _RARE else "note")


def outlying_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Rare grades far from all others, such as 100 among 0, 1 and 2."""
    levels = sorted(these.level_counts)
    first, end = _usual_levels(levels, [these.level_counts[level] for level in levels])
    usual, grade = levels[first:end], these.qrels.grade
    ends = {"lowest": number_text(usual[0]), "highest": number_text(usual[-1])}
    for outliers, rows in ((levels[end:], grade > usual[-1]), (levels[:first], grade < usual[0])):
        if outliers:
            words = {"outweighs": "it outweighs", "slip": "it if it is a slip"}
            if len(outliers) > 1:
                words = {"outweighs": "they outweigh", "slip": "them if they are slips"}
            yield these.found("outlying-grades", rows, **ends, **words)


def _usual_levels(levels: Sequence[float], counts: Sequence[int]) -> tuple[int, int]:
    """Where the levels start and end that are left without outliers; as few levels as can be."""
    size = len(levels)
    most = min(_MOST_OUTLYING, size - 2)
    windows = [(low, size - high) for low in range(most + 1) for high in range(most + 1) if size - low - high >= 2]
    apart = (
        (first, end)
        for first, end in sorted(windows, key=lambda window: window[1] - window[0])
        if _are_apart(levels, first, end) and _are_rare([*counts[:first], *counts[end:]], sum(counts), end - first)
    )
    first, end = next(apart, (0, size))
    # On a scale such as 0, 1, 10, 100 every grade is far from those before.
    grows = (end < size and _is_far(levels[first:end])) or (first > 0 and _is_far(levels[first:end][::-1]))
    return (0, size) if grows else (first, end)


def _are_apart(levels: Sequence[float], first: int, end: int) -> bool:
    """Whether all that stands before and after some levels is far from them."""
    is_far_above = end == len(levels) or _is_far(levels[first : end + 1])
    return is_far_above and (first == 0 or _is_far(levels[first - 1 : end][::-1]))


def _is_far(levels: Sequence[float]) -> bool:
    """Whether the last level is far from the others, if these are several."""
    if len(levels) < 3:
        return False
    *others, last = levels
    return abs(last - others[-1]) > _FAR * abs(others[-1] - others[0])


def _are_rare(counts: Sequence[int], total: int, usual_levels: int) -> bool:
    """Whether levels with so many judgments are rare among all judgments."""
    together, few = sum(counts), _RARE * total
    if max(counts, default=0) > max(1.0, few):
        return False
    # Among few judgments every level is rare: several are only beside others that make the scale plain.
    return len(counts) == 1 or together <= few or (usual_levels > 2 and 3 * together < total)


def above_scale(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Grades above the scale that the user gave."""
    if these.scale is not None and these.qrels.scale > these.scale:
        yield these.found("grades-above-scale", these.qrels.grade > these.scale, scale=number_text(these.scale))


def equal_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """One grade for everything: only relevant documents are judged."""
    if len(these.level_counts) == 1 and these.relevant.any():
        yield these.found("equal-grades", np.ones(len(these.qrels), bool))


def no_zero_grade(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """A scale from 1 up, where 1 may mean not relevant."""
    levels = sorted(these.level_counts)
    from_one = levels[0] == 1 and len(levels) > 2
    if from_one and not these.policy.grade_zero and these.scale is None:
        yield these.found("no-zero-grade", these.qrels.grade == 1, highest=number_text(levels[-1]))


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
        return cls(run.name, run.places.tag, run.usual_depth, share, run.is_sparse, run.hits, run.fingerprint())


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
    yield Finding.of("unjudged-bias", count, len(runs), example)


def different_depths(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Runs cut at different depths."""
    by_depth = sorted(runs, key=lambda run: (run.usual_depth, run.name))
    shallow, deep = by_depth[0], by_depth[-1]
    if deep.usual_depth <= _APART * shallow.usual_depth:
        return
    severity: Severity = "warning" if deep.usual_depth >= _FAR_APART * shallow.usual_depth else "note"
    count = sum(deep.usual_depth > _APART * run.usual_depth for run in runs)
    example = Example(f"{_name(shallow)} {shallow.usual_depth:,}, {_name(deep)} {deep.usual_depth:,} documents a query")
    depth = str(max(1, shallow.usual_depth))
    yield Finding.of("different-depths", count, len(runs), example, severity=severity, depth=depth)


def identical_runs(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Runs that rank all judged documents alike."""
    for group in _groups(runs, (run.fingerprint if run.hits else None for run in runs)):
        yield Finding.of("identical-runs", len(group), len(runs), Example(_names(group)))


def equal_tags(runs: Sequence[RunSummary]) -> Iterator[Finding]:
    """Different runs that call themselves the same."""
    for group in _groups(runs, (run.tag for run in runs)):
        example = Example(f"{_names(group)} call themselves {printable(group[0].tag or '', 32)}")
        yield Finding.of("equal-tags", len(group), len(runs), example)


def _groups(runs: Sequence[RunSummary], keys: Iterable[Hashable]) -> list[list[RunSummary]]:
    """Runs of the same key, where there are several; None is no key."""
    groups: dict[Hashable, list[RunSummary]] = {}
    for run, key in zip(runs, keys, strict=True):
        if key is not None:
            groups.setdefault(key, []).append(run)
    return [group for group in groups.values() if len(group) > 1]


def _name(run: RunSummary) -> str:
    return printable(run.name, 32)


def _names(runs: Sequence[RunSummary]) -> str:
    return ", ".join(_name(run) for run in runs[:3]) + (", ..." if len(runs) > 3 else "")


JUDGMENT_CHECKS: tuple[Callable[[JudgmentsUnderPolicy], Iterator[Finding]], ...] = (
    repeats,
    above_scale,
    nothing_relevant,
    outlying_grades,
    fractional_grades,
    negative_grades,
    equal_grades,
    no_zero_grade,
)

RUN_CHECKS: tuple[Callable[[InspectedRun], Iterator[Finding]], ...] = (
    unmatched_queries,
    unmatched_documents,
    several_in_one,
    repeated_documents,
    reversed_scores,
    constant_scores,
    missing_queries,
    extra_queries,
    rank_conflicts,
    tied_documents,
    float32_ties,
    unjudged_documents,
    self_hits,
    empty_lists,
    short_lists,
    rank_column,
)

#: Of several runs side by side.
CHECKS_TOGETHER: tuple[Callable[[Sequence[RunSummary]], Iterator[Finding]], ...] = (
    unjudged_bias,
    different_depths,
    identical_runs,
    equal_tags,
)


def examine(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    *,
    policy: Policy | str | None = None,
    scale: float | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Examination:
    """Everything suspicious about judgments and runs, before anything is scored.

    Judgments, runs and ``columns`` are what :func:`gainful.evaluate` takes. Files that cannot be read raise an error as
    there; what a policy would refuse, such as duplicates, is a finding. Judgments that are already prepared have to be
    so under the lenient form of the policy. ``scale`` is the highest grade there can be.

    >>> found = examine({"q1": {"d1": 1, "d2": 0}}, {"mine": {"q1": {"D1": 0.5, "D2": 0.25}}})
    >>> print(found.findings[0])
    serious: unmatched-documents in mine: 2 of 2, such as 'D1' in the run, 'd1' in the judgments
    >>> found.findings[0].remedy
    '2 of 2 documents looked at match if case is ignored: write ids alike in both files.'
    """
    require_runs(runs, at_least_one=False)
    settled, called = Policy.of(policy), columns_by_side(columns)
    judged = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(qrels, called["qrels"]), lenient(settled))
    threads = thread_count(threads)
    shown = progress or Progress()
    each = max(1, threads // max(1, len(runs)))

    def one(name: str, run: RunSource) -> tuple[list[Finding], RunSummary]:
        inspected = inspect(judged, run, name, settled, threads=each, progress=shown)
        findings = [finding for check in RUN_CHECKS for finding in check(inspected)]
        return findings, RunSummary.of(inspected)

    # Streams are read here: a thread that waits for somebody else could not be interrupted.
    opened = {name: RunSource.of(run, called["run"], name).at_hand() for name, run in runs.items()}
    tasks = [lambda name=name, run=run: one(name, run) for name, run in opened.items()]
    workers = 1 if any(run.ahead for run in opened.values()) else min(threads, len(tasks))
    found = in_parallel(tasks, workers, shown)
    these, summaries = JudgmentsUnderPolicy(judged, settled, scale), [summary for _, summary in found]
    findings = [finding for check in JUDGMENT_CHECKS for finding in check(these)]
    findings += [finding for of_run, _ in found for finding in of_run]
    findings += [finding for check in CHECKS_TOGETHER if len(runs) > 1 for finding in check(summaries)]
    these_qrels, ordered = judged.qrels, tuple(sorted(findings, key=Finding.place))
    name, queries = these_qrels.name, len(these_qrels.query_ids)
    return Examination(name, queries, len(these_qrels), tuple(runs), ordered)
