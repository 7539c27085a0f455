"""jarvelin2000, sections 3.2 and 3.5: the recall base of each level, AvP with Friedman's test, and P-R curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from gainful.curves.recall_levels import RecallBase, RecallLevels
from gainful.notation import count_of, number_text, printable
from gainful.papers.claims import Claim, beside, claims_tables, statement, undecided, vector_claim
from gainful.papers.jarvelin2000_examples import (
    LARGEST_PER_CENT,
    LARGEST_POINTS,
    RECALL_BASES,
    REQUESTS,
    TABLE_1,
    table_1,
)
from gainful.papers.many_runs import with_few_names
from gainful.papers.sections import Section
from gainful.render.charts import Chart
from gainful.render.difference_words import listed, p_words
from gainful.render.page import Cell, Column, Table
from gainful.render.recall_page import average_table, bases_table, difference_tables, level_plots
from gainful.render.recall_rows import Curves
from gainful.stats.friedman import Friedman, conover, protected
from gainful.stats.papers import PaperRow, paper_rows
from gainful.stats.scores import ScoreMatrix

#: AvP with so many decimal places has one as per cent, as the paper prints it.
_PLACES = 3

#: Of more runs who beats whom is for machines; people see how many pairs are told apart.
_MOST_NAMED = 8

_WIDEST = 40

_SKIPS = "queries without a document of the level are left out (undefined=skip)"
#: SPEC, section 4: what has no recall base says nothing; a policy may only refuse it.
_ALWAYS_SKIPS = f"{_SKIPS}, whatever undefined is elsewhere, unless it is error"


def has_the_papers_bases(found: RecallLevels) -> bool:
    """Whether the judgments have as many documents at each level as the paper's, for as many queries."""
    return _documents(found) == list(RECALL_BASES) and len(found.bases[0].sizes) == REQUESTS


def recall_bases_text(found: RecallLevels) -> str:
    """The documents of all levels in words."""
    counts = listed([f"{base.documents:,}" for base in found.bases])
    grades = listed([number_text(base.grade) for base in found.bases])
    return f"{count_of(len(found.bases[0].sizes), 'query', 'queries')} with {counts} documents of grades {grades}"


def recall_bases(found: RecallLevels) -> Section:
    """Section 3.2: how many documents there are at each level."""
    grades = [base.grade for base in found.bases]
    if has_the_papers_bases(found):
        claim = vector_claim("documents at levels 1, 2, 3", RECALL_BASES, _documents(found), 0)
    else:
        claim = beside("documents by level", _listed((1, 2, 3), RECALL_BASES), _listed(grades, _documents(found)))
    parts = (bases_table(found), *claims_tables("Beside the paper", [claim]))
    return Section("Section 3.2", "Every level of relevance has a recall base of its own.", parts)


def table_1_section(found: RecallLevels) -> Section:
    """Table 1: AvP by level and system, differences to the baseline, Friedman's test, and what the text says of it."""
    tests = _tests(found)
    about = (
        "Non-interpolated average precision at each level; documents of other levels stay at their ranks as not "
        f"relevant. Differences are to {printable(found.baseline, _WIDEST)}."
    )
    differences = difference_tables(found, _PLACES)
    parts = (
        *(replace(table, for_people=True) for table in (average_table(found, _PLACES), *differences)),
        _test_table(found, tests),
        *claims_tables("What the paper says of its Table 1", _claims(found, tests)),
        table_1(),
        Curves.of_levels(found, _PLACES).averages("AvP by run and level", found.baseline, for_machines=True),
    )
    return Section("Table 1", about, parts)


def figure_1(found: RecallLevels) -> Section:
    """Figure 1: a chart of P-R curves a level, and how far the curves are apart."""
    gaps = [_widest_gap(found, base) for base in found.bases]
    columns = (
        Column("relevant"),
        Column("widest gap", "number", _PLACES),
        Column("at recall", "number", 1),
        Column("highest there"),
        Column("lowest there"),
    )
    rows = tuple((str(base), *gap) for base, gap in zip(found.bases, gaps, strict=True))
    widths = [gap[0] for gap in gaps]
    claim = _greater_above(
        "distance of the curves",
        "greater at higher levels",
        ", ".join(f"{width:.{_PLACES}f}" for width in widths),
        widths,
    )
    levels = [{run: found.average_precision(run, base.grade, base.mode) for run in found.runs} for base in found.bases]
    plots = [replace(plot, caption=_SKIPS) for plot in level_plots(found)]
    parts: tuple[Table | Chart | str, ...] = (
        *with_few_names(plots, levels),
        Table(columns, rows, "Where the highest and the lowest curve are furthest apart"),
        *claims_tables("What the paper says of its Figure 1", [claim]),
        Curves.of_levels(found, _PLACES).points("Precision at recall"),
    )
    return Section("Figure 1", "Interpolated precision at eleven points of recall, level by level.", parts)


def _documents(found: RecallLevels) -> list[int]:
    return [base.documents for base in found.bases]


def _listed(grades: Sequence[float], documents: Sequence[int]) -> str:
    """Documents by grade.

    >>> _listed([1.0, 2.0], [857, 700])
    '1: 857, 2: 700'
    """
    return ", ".join(f"{number_text(grade)}: {count}" for grade, count in zip(grades, documents, strict=True))


def _tests(found: RecallLevels) -> dict[RecallBase, PaperRow]:
    """Friedman's test of every level, over the queries that have a base there."""
    evaluations = {evaluation.run: evaluation for evaluation in found.evaluations}
    matrices = {str(base): ScoreMatrix.from_evaluations(evaluations, base.average_precision) for base in found.bases}
    return dict(zip(found.bases, paper_rows(matrices), strict=True))


def _test_table(found: RecallLevels, tests: Mapping[RecallBase, PaperRow]) -> Table:
    pairs = math.comb(len(found.runs), 2)
    columns = (
        Column("relevant"),
        Column("queries", "count"),
        Column("empty", "count"),
        Column("Friedman F", "number", 2),
        Column("p"),
        Column("p value", "number", for_machines=True),
        Column("pairs **", "count"),
        Column("pairs *", "count"),
        Column("who beats whom", none="nobody", for_machines=len(found.runs) > _MOST_NAMED),
    )
    rows: list[tuple[Cell, ...]] = []
    for base, row in tests.items():
        f, p = row.friedman.f, row.friedman.p
        tested = (None, None, None) if f is None else (f, p_words(p), p)
        rows.append((str(base), row.queries, base.empty, *tested, *_told_apart(row), row.verdict or None))
    notes = (
        f"pairs: of {count_of(pairs, 'pair')} of runs those that are told apart, ** at 0.01 and * at 0.05 only",
        "Conover without correction, where Friedman's test (F form, mean ranks for ties) reaches the level",
        f"empty: {_ALWAYS_SKIPS}",
    )
    return Table(columns, rows, "Friedman's test", notes)


def _told_apart(row: PaperRow) -> tuple[int, int]:
    """How many pairs have two stars, and how many have one."""
    comparisons = conover(row.friedman)
    two, one = (int(protected(row.friedman, comparisons, alpha).sum()) for alpha in (0.01, 0.05))
    return two, one - two


def _claims(found: RecallLevels, tests: Mapping[RecallBase, PaperRow]) -> Iterator[Claim]:
    papers = [max(level) - min(level) for level in zip(*TABLE_1.values(), strict=True)]
    spreads = [_spread(found, base) for base in found.bases]
    yield _greater_above(
        "best - worst, points", f"greater at higher levels: {_points(papers)}", _points(spreads), spreads
    )
    largest = _largest(found)
    if largest is None:
        yield undecided("largest gain over the baseline", "at the highest level", "none: no run is better")
    else:
        base, run, points, per_cent = largest
        share = "" if per_cent is None else f" ({per_cent:.1f} %)"
        yield statement(
            "largest gain over the baseline",
            "at the highest level",
            f"at {base}",
            base is found.bases[-1],
        )
        yield beside(
            "its size",
            f"{LARGEST_POINTS} points ({LARGEST_PER_CENT} %)",
            f"{points:.1f} points{share}",
            f"the paper's is WSYN expanded over SUM unexpanded, this is {printable(run, _WIDEST)} over "
            f"{printable(found.baseline, _WIDEST)}",
        )
    yield _most_significant([row.friedman for row in tests.values()])


def _greater_above(what: str, says: str, finds: str, differences: Sequence[float]) -> Claim:
    """Whether differences rise with the level; where runs differ at none, nobody can say."""
    if not any(difference > 0 for difference in differences):
        return undecided(what, says, "no difference at any level")
    return statement(what, says, finds, _rises(differences))


def _most_significant(tests: Sequence[Friedman]) -> Claim:
    what, says = "Friedman's p by level", "smallest at the highest level"
    if any(test.f is None for test in tests):
        return undecided(what, says, "too few queries to test")
    finds = ", ".join(f"{test.p:.1g}" for test in tests)
    *others, highest = (test.p for test in tests)
    if highest == 1 and min(others) == 1:
        return undecided(what, says, "no difference at any level")
    note = "levels have different numbers of queries, and p depends on them"
    return statement(what, says, finds, highest < min(others), note)


def _spread(found: RecallLevels, base: RecallBase) -> float:
    values = [found.average_precision(run, base.grade, base.mode) for run in found.runs]
    known = [value for value in values if not math.isnan(value)]
    return 100 * (max(known) - min(known)) if known else math.nan


def _largest(found: RecallLevels) -> tuple[RecallBase, str, float, float | None] | None:
    """Where which run gains most over the baseline; None if none does."""
    gained = [
        (difference.points, base, run, difference.per_cent)
        for base in found.bases
        for run in found.runs
        if (difference := found.difference(run, base.grade, base.mode)).points is not None
    ]
    points, base, run, per_cent = max(gained, key=lambda each: each[0] or 0.0)
    return (base, run, points, per_cent) if points else None


def _widest_gap(found: RecallLevels, base: RecallBase) -> tuple[float, float, str, str]:
    """The largest distance of two curves, at which recall it is, and whose they are."""
    curves = {run: found.precision(run, base.grade, base.mode) for run in found.runs}

    def gap(i: int) -> tuple[float, float, str, str]:
        at = {run: curve[i] for run, curve in curves.items()}
        highest, lowest = max(at, key=at.__getitem__), min(at, key=at.__getitem__)
        return at[highest] - at[lowest], found.recall[i], highest, lowest

    return max((gap(i) for i in range(len(found.recall))), key=lambda each: each[0])


def _rises(values: Sequence[float]) -> bool:
    return all(before < after for before, after in pairwise(values))


def _points(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)
