"""Two systems group by group of queries: does the mean over all hide a group that is better or worse?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import count_of, listed, printable
from gainful.pages.page import Column, Table, head
from gainful.stats.paired import PairResult, compare_pair
from gainful.tasks.compare.compare_words import interval_text
from gainful.tasks.compare.comparison import pair_plan
from gainful.tasks.score_questions import PairOptions, SystemsOptions

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


@dataclass(frozen=True)
class Segments:
    """The groups of queries ``by`` a column: what was found of each, by measure."""

    by: str
    alpha: float
    found: Mapping[str, tuple[SegmentResult, ...]]

    def __getitem__(self, measure: str) -> tuple[SegmentResult, ...]:
        return self.found[measure]

    def parts(self, places: int) -> Iterator[Table | str]:
        """A sentence for each pair, and a table for each measure."""
        for measure, results in self.found.items():
            pairs = dict.fromkeys(each.result.names for each in results)
            yield "\n".join(_segment_sentence(pair, results, self.by) for pair in pairs)
            yield _segment_table(measure, results, self, places)


def compare_segments(matrices: Mapping[str, ScoreMatrix], asked: PairOptions | SystemsOptions, by: str) -> Segments:
    """Every group of queries by measure: two systems, or each with the baseline."""
    found = {}
    for name, matrix in matrices.items():
        if matrix.about is None:
            raise UsageError("by: expected a table of queries, found none", "--queries FILE (queries= in Python)")
        if len(matrix.systems) > 2 and asked.baseline is None:
            raise UsageError("by: expected two systems, or a baseline, found several systems", "--baseline names one")
        segments = matrix.about.segments(by, matrix.queries)
        baseline = asked.baseline or matrix.systems[0]
        pairs = [(system, baseline) for system in matrix.best_first if system != baseline]
        tests = len(pairs) * len(segments)
        parts = {
            segment: matrix.select(queries=[matrix.queries[place] for place in places])
            for segment, places in segments.items()
        }
        plan = pair_plan(asked, alpha=asked.alpha / tests)
        found[name] = tuple(
            SegmentResult(segment, compare_pair(part, *pair, plan), tests)
            for pair in pairs
            for segment, part in parts.items()
        )
    return Segments(by, asked.alpha, found)


def _segment_sentence(names: tuple[str, str], results: Sequence[SegmentResult], by: str) -> str:
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


def _segment_table(measure: str, results: Sequence[SegmentResult], segments: Segments, places: int) -> Table:
    first = results[0].result
    pairs = len({each.result.names for each in results})
    by, level = segments.by, f"{round(100 * (1 - segments.alpha), 10):g} %"
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
        Column("p", get=lambda each: replace(each.result.test, p=each.p).p_cell),
        Column("p value", "number", for_machines=True, get=lambda each: each.p),
        Column("verdict"),
    )
    note = f"p and intervals are corrected for {count_of(results[0].tests, 'comparison')} (Bonferroni)"
    return Table.of(columns, results, title=f"{measure} by {by}", notes=(note,))
