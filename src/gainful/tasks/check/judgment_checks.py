"""What may be wrong with the judgments themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.kernel.arrays import Bools, Ints
from gainful.notation import number_text
from gainful.policy import Policy
from gainful.tasks.check.check_findings import Finding, Severity, at_judgment, at_query

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

    def finding(
        self, check: str, severity: Severity, rows: Bools, consequence: str, remedy: str, detail: str = ""
    ) -> Finding:
        """A finding about some of the judgments, the first of them as the example."""
        first = int(np.argmax(rows))
        grade = f", grade {number_text(self.qrels.grade[first])}"
        example = at_judgment(self.qrels, first, detail or grade)
        count = int(np.count_nonzero(rows))
        return Finding(check, severity, None, count, len(self.qrels), example, consequence, remedy)


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
        remedy = "If column 2 is the sub-topic, use --subtopics." if by_subtopic else "Nothing need be done."
        yield these.finding(
            "repeated-judgments", "note", same, "Repeats with the same grade count once.", remedy, " again"
        )


def _conflicts(these: JudgmentsUnderPolicy, differs: Bools, first: Ints, by_subtopic: bool) -> Finding:
    qrels, row = these.qrels, int(np.argmax(differs))
    grades = number_text(qrels.grade[row]), number_text(qrels.grade[int(first[row])])
    if these.policy.judges == "error":
        severity: Severity = "serious"
        consequence = "gainful eval refuses these judgments."
    else:
        severity, consequence = "note", f"judges={these.policy.judges} makes one grade of them."
    remedy = (
        "Column 2 differs: if it is the sub-topic, use --subtopics."
        if by_subtopic
        else "Keep one of them, or let --judges mean, median, max or min make one grade of several."
    )
    detail = f", grade {grades[0]} after {grades[1]}"
    return these.finding("conflicting-judgments", severity, differs, consequence, remedy, detail)


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
        highest = number_text(these.qrels.scale)
        consequence = f"No grade is above {number_text(these.policy.grade_zero)}: every score is 0 or undefined."
        remedy = f"The highest grade is {highest}: is the grade in the last column, and --grade-zero right?"
        yield Finding("nothing-relevant", "serious", None, total, total, example, consequence, remedy)
        return
    undefined = these.policy.undefined
    severity: Severity = "note" if without.size <= _FEW_QUERIES * total else "warning"
    consequence = f"nDCG, AP, R and others divide by 0: undefined={undefined}, they {_DONE_UNDEFINED.get(undefined)}."
    if undefined == "error":
        severity, consequence = "serious", "undefined=error: gainful eval refuses measures that divide by 0 there."
    remedy = "--undefined skip leaves them out of the mean, zero keeps them; say which in a report."
    yield Finding("queries-without-relevant", severity, None, int(without.size), total, example, consequence, remedy)


def negative_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Grades below 0."""
    negative = these.qrels.grade < 0
    if negative.any() and not these.policy.grade_zero:
        counted = "judged not relevant" if these.policy.negative == "judged" else "not judged at all"
        consequence = f"negative={these.policy.negative} counts them as {counted}; either way their gain is 0."
        remedy = "Choose with --negative judged or unjudged; trec_eval takes them as unjudged."
        yield these.finding("negative-grades", "note", negative, consequence, remedy)


def fractional_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Fractions among whole grades, as long as most are whole: otherwise the scale has fractions."""
    fractional = these.qrels.grade != np.floor(these.qrels.grade)
    share = np.count_nonzero(fractional) / len(these.qrels)
    if 0 < share < 0.5:
        severity: Severity = "warning" if share <= _RARE else "note"
        consequence = "They count as they are; other tools cut them to whole numbers or refuse them."
        remedy = "Correct them if they are slips; means of several judges are fine."
        yield these.finding("fractional-grades", severity, fractional, consequence, remedy)


def outlying_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """Rare grades far from all others, such as 100 among 0, 1 and 2."""
    levels = sorted(these.level_counts)
    first, end = _usual_levels(levels, [these.level_counts[level] for level in levels])
    usual, grade = levels[first:end], these.qrels.grade
    for outliers, rows in ((levels[end:], grade > usual[-1]), (levels[:first], grade < usual[0])):
        if outliers:
            outweighs, it_is = "it outweighs", "it if it is a slip"
            if len(outliers) > 1:
                outweighs, it_is = "they outweigh", "them if they are slips"
            consequence = f"The others go from {number_text(usual[0])} to {number_text(usual[-1])}: {outweighs} them."
            remedy = f"Correct {it_is}; --scale G says what the highest grade can be."
            yield these.finding("outlying-grades", "warning", rows, consequence, remedy)


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
        consequence = f"gainful eval --scale {number_text(these.scale)} refuses these judgments."
        remedy = "Correct the grades, or give the scale that they have."
        above = these.qrels.grade > these.scale
        yield these.finding("grades-above-scale", "serious", above, consequence, remedy)


def equal_grades(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """One grade for everything: only relevant documents are judged."""
    if len(these.level_counts) == 1 and these.relevant.any():
        consequence = "Nothing is judged not relevant: grades make no difference, unjudged and not relevant are one."
        remedy = "Fine where only relevant documents were recorded; else see whether the grades were lost."
        everything = np.ones(len(these.qrels), bool)
        yield these.finding("equal-grades", "note", everything, consequence, remedy)


def no_zero_grade(these: JudgmentsUnderPolicy) -> Iterator[Finding]:
    """A scale from 1 up, where 1 may mean not relevant."""
    levels = sorted(these.level_counts)
    from_one = levels[0] == 1 and len(levels) > 2
    if from_one and not these.policy.grade_zero and these.scale is None:
        consequence = f"All grades from 1 to {number_text(levels[-1])} count as relevant, the lowest too."
        remedy = "If 1 means not relevant, --grade-zero 1 says so."
        yield these.finding("no-zero-grade", "note", these.qrels.grade == 1, consequence, remedy)


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


def examine_judgments(judged: Judged, policy: Policy, scale: float | None) -> list[Finding]:
    """All that is suspicious about judgments."""
    these = JudgmentsUnderPolicy(judged, policy, scale)
    return [finding for check in JUDGMENT_CHECKS for finding in check(these)]
