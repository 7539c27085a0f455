"""Two systems group by group of queries: does the mean over all hide a group that is better or worse?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import count_of, listed, printable
from gainful.pages.page import Column, Table, head
from gainful.stats.paired import PairResult
from gainful.tasks.compare.compare_options import CompareOptions
from gainful.tasks.compare.compare_words import interval_text
from gainful.tasks.compare.system_pairs import asked_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_NAMED = 5


@dataclass(frozen=True)
class SegmentResult:
    """What was found of a group of queries. ``result`` is at the level of one of ``tests`` comparisons, so that all of
    its intervals hold at once."""

    segment: str
    result: PairResult
    tests: int

    @property
    def p(self) -> float:
        """p, corrected for the number of comparisons (Bonferroni), as the interval is."""
        return min(1.0, self.tests * self.result.p)

    @property
    def is_too_small(self) -> bool:
        """Whether no difference of so few queries could be significant: the rarest flip has p 2^(1-k)."""
        return 2.0 ** (1 - self.result.nonzero) >= self.result.alpha

    @property
    def verdict(self) -> str:
        """That of the comparison, or that there are too few queries for one."""
        if not self.result.nonzero:
            return "identical scores"
        return "too few queries" if self.is_too_small else self.result.verdict


def compare_segments(
    matrices: Mapping[str, ScoreMatrix], how: CompareOptions, compare: Callable[..., PairResult]
) -> dict[str, tuple[SegmentResult, ...]]:
    """Every group of queries by measure: two systems, or each with the baseline; ``compare`` is what compares two."""
    assert how.by is not None
    found = {}
    for name, matrix in matrices.items():
        if matrix.about is None:
            raise UsageError("by: expected a table of queries, found none", "--queries FILE (queries= in Python)")
        if len(matrix.systems) > 2 and how.baseline is None:
            raise UsageError("by: expected two systems, or a baseline, found several systems", "--baseline names one")
        segments = matrix.about.segments(how.by, matrix.queries)
        pairs = asked_pairs(matrix, how)
        tests = len(pairs) * len(segments)
        parts = {
            segment: matrix.select(queries=[matrix.queries[place] for place in places])
            for segment, places in segments.items()
        }
        settings = {"test": how.test, "draws": how.draws, "seed": how.seed, "margin": how.margin, "most": how.most}
        found[name] = tuple(
            SegmentResult(segment, compare(part, *pair, alpha=how.alpha / tests, **settings), tests)
            for pair in pairs
            for segment, part in parts.items()
        )
    return found


def segment_parts(
    found: Mapping[str, Sequence[SegmentResult]], by: str, alpha: float, places: int
) -> Iterator[Table | str]:
    """What was found of the groups: a sentence for each pair, and a table for each measure."""
    for measure, results in found.items():
        yield "\n".join(_sentence(pair, results, by) for pair in dict.fromkeys(r.result.names for r in results))
        yield _table(measure, results, by, alpha, places)


def _sentence(names: tuple[str, str], results: Sequence[SegmentResult], by: str) -> str:
    """In which groups a system is significantly different from the baseline."""
    own = [each for each in results if each.result.names == names]
    system, baseline = (printable(name, 40) for name in names)
    said = []
    for word, verdicts in (("better", ("better", "superior")), ("worse", ("worse", "inferior"))):
        groups = [printable(each.segment, 40) for each in own if each.verdict in verdicts]
        if groups:
            of = f"{len(groups)} of {count_of(len(own), 'group')}"
            said.append(f"significantly {word} than {baseline} in {of} ({listed(groups, most=_MOST_NAMED)})")
    small = sum(each.verdict == "too few queries" for each in own)
    rest = f"; {count_of(small, 'group')} too small to tell" if small else ""
    what = " and ".join(said) or f"not significantly different from {baseline} in any of {count_of(len(own), 'group')}"
    return f"By {by}, {system} is {what}{rest}."


def _table(measure: str, results: Sequence[SegmentResult], by: str, alpha: float, places: int) -> Table:
    first = results[0].result
    pairs = len({each.result.names for each in results})
    level = f"{round(100 * (1 - alpha), 10):g} %"
    columns = (
        Column("measure", for_machines=True, get=lambda each: measure),
        *head(["system ← result.system"] if pairs > 1 else []),
        Column(by, get=lambda each: each.segment),
        *head("queries # ← result.n"),
        Column(first.baseline, "number", places, get=lambda each: each.result.mean_baseline),
        Column(first.system if pairs == 1 else "mean", "number", places, get=lambda each: each.result.mean_system),
        *head(f"difference .{places} ← result.difference"),
        Column(f"simultaneous {level} interval", get=lambda each: interval_text(each.result.interval, places)),
        *head("low . ← result.interval.low | high . ← result.interval.high", for_machines=True),
        Column("p", get=_p_text),
        Column("p value", "number", for_machines=True, get=lambda each: each.p),
        Column("verdict"),
    )
    note = f"p and intervals are corrected for {count_of(results[0].tests, 'comparison')} (Bonferroni)"
    return Table.of(columns, results, title=f"{measure} by {by}", notes=(note,))


def _p_text(each: SegmentResult) -> str:
    corrected = replace(each.result.test, p=each.p)
    return corrected.p_text.removeprefix("p ").removeprefix("= ")
