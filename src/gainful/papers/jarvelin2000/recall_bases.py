"""jarvelin2000, sections 3.2 and 3.5: the recall base of each level, AvP with Friedman's test, and P-R curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import count_of, number_text, printable
from gainful.pages.page import Cell, Table
from gainful.papers.claims import (
    Claim,
    Section,
    beside,
    claims_tables,
    course,
    head,
    numbers,
    settled,
    statement,
    table,
    undecided,
    vector_claim,
    with_few_names,
)
from gainful.stats.procedures import PaperRow, paper_rows
from gainful.stats.rank_tests import conover, protected
from gainful.tasks.compare.compare_charts import listed, p_words
from gainful.tasks.curves.recall_levels import RecallBase, RecallLevels
from gainful.tasks.curves.recall_page import Curves, average_table, bases_table, difference_tables, level_plots

#: Section 3.2: documents at levels 1, 2 and 3, of so many requests.
RECALL_BASES = (857, 700, 366)
REQUESTS = 30

#: Table 1: AvP in per cent at levels 1, 2 and 3, of query types unexpanded (u) and expanded (e).
TABLE_1 = {
    "SUM/u": (12.8, 22.4, 25.9),
    "SUM/e": (10.1, 21.1, 22.2),
    "SSYN-C/u": (12.4, 21.5, 23.5),
    "SSYN-C/e": (13.3, 27.4, 39.1),
    "WSYN/u": (13.8, 22.9, 25.7),
    "WSYN/e": (14.3, 29.3, 41.0),
}
LARGEST_POINTS, LARGEST_PER_CENT = 15.1, 58.3

#: AvP with so many decimal places has one as per cent, as the paper prints it.
_PLACES = 3

#: Of more runs who beats whom is for machines; people see how many pairs are told apart.
_MOST_NAMED = 8

_WIDEST = 40

#: AvP is between 0 and 1, in points between 0 and 100: what differences of it are settled by.
_OF_POINTS = 100.0

#: p that differ by no more than this share of them are the same.
_SAME_P = 1e-9

_NO_SHARED_QUERY = "no query for which every run has a score"
_TIED = "levels with the same value decide nothing"
_NOT_CHOSEN = "it depends on the baseline, which is the first run here: --baseline (baseline in Python) chooses one"

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
    if has_the_papers_bases(found):
        claim = vector_claim("documents at levels 1, 2, 3", RECALL_BASES, _documents(found), 0)
    else:
        says, finds = (
            ", ".join(f"{number_text(grade)}: {count}" for grade, count in each)
            for each in (enumerate(RECALL_BASES, 1), ((base.grade, base.documents) for base in found.bases))
        )
        claim = beside("documents by level", says, finds)
    about = "Every level of relevance has a recall base of its own."
    return Section.of("Section 3.2", about, bases_table(found), claims_tables("Beside the paper", [claim]))


def table_1() -> Table:
    """The paper's Table 1 as it is printed."""
    rows = ((name, *values) for name, values in TABLE_1.items())
    title = "The paper's Table 1: AvP in per cent (u unexpanded, e expanded)"
    return table(title, "query type | level 1 .1 | level 2 .1 | level 3 .1", rows)


def table_1_section(found: RecallLevels, is_chosen: bool = True) -> Section:
    """Table 1: AvP by level and system, differences to the baseline, Friedman's test, and what the text says of it.

    ``is_chosen``: somebody chose the baseline; otherwise it is the first run, which says nothing.
    """
    tests = _tests(found)
    about = (
        "Non-interpolated average precision at each level; documents of other levels stay at their ranks as not "
        f"relevant. Differences are to {printable(found.baseline, _WIDEST)}."
    )
    return Section.of(
        "Table 1",
        about,
        (
            replace(each, for_people=True)
            for each in (average_table(found, _PLACES), *difference_tables(found, _PLACES))
        ),
        _test_table(found, tests),
        claims_tables("What the paper says of its Table 1", _claims(found, tests, is_chosen)),
        table_1(),
        Curves.of_levels(found, _PLACES).averages("AvP by run and level", found.baseline, for_machines=True),
    )


def figure_1(found: RecallLevels) -> Section:
    """Figure 1: a chart of P-R curves a level, and how far the curves are apart."""
    gaps = [_widest_gap(found, base) for base in found.bases]
    widths = [gap[0] for gap in gaps]
    finds = numbers(widths, _PLACES)
    claim = _greater_above("distance of the curves", "greater at higher levels", finds, widths, 1.0)
    levels = [{run: found.average_precision(run, base.grade, base.mode) for run in found.runs} for base in found.bases]
    return Section.of(
        "Figure 1",
        "Interpolated precision at eleven points of recall, level by level.",
        with_few_names((replace(plot, caption=_SKIPS) for plot in level_plots(found)), levels),
        table(
            "Where the highest and the lowest curve are furthest apart",
            f"relevant | widest gap .{_PLACES} | at recall .1 | highest there | lowest there",
            ((str(base), *gap) for base, gap in zip(found.bases, gaps, strict=True)),
        ),
        claims_tables("What the paper says of its Figure 1", [claim]),
        Curves.of_levels(found, _PLACES).points("Precision at recall"),
    )


def _documents(found: RecallLevels) -> list[int]:
    return [base.documents for base in found.bases]


def _tests(found: RecallLevels) -> dict[RecallBase, PaperRow | None]:
    """Friedman's test of every level, over the queries that have a base there; None where runs share no query."""
    evaluations = {evaluation.run: evaluation for evaluation in found.evaluations}
    matrices = {
        str(base): ScoreMatrix.from_evaluations(evaluations, base.average_precision)
        for base in found.bases
        if _shared_queries(found, base)
    }
    rows = dict(zip(matrices, paper_rows(matrices), strict=True))
    return {base: rows.get(str(base)) for base in found.bases}


def _shared_queries(found: RecallLevels, base: RecallBase) -> set[str]:
    """The queries for which every run has a score; a policy may leave out those that a run does not answer."""
    scores = [each.by_query(base.average_precision) for each in found.evaluations]
    return set.intersection(*({query for query, score in of_run.items() if score is not None} for of_run in scores))


def _test_table(found: RecallLevels, tests: Mapping[RecallBase, PaperRow | None]) -> Table:
    pairs = math.comb(len(found.runs), 2)
    columns = (
        *head("relevant | queries # | empty # | Friedman F .2 | p"),
        *head("p value .", for_machines=True),
        *head("pairs ** # | pairs * #"),
        *head("who beats whom", none="nobody", for_machines=len(found.runs) > _MOST_NAMED),
    )
    rows: list[tuple[Cell, ...]] = []
    for base, row in tests.items():
        if row is None:
            rows.append((str(base), 0, base.empty, *[None] * 6))
            continue
        f, p = row.friedman.f, row.friedman.p
        tested = (None, None, None) if f is None else (f, p_words(p), p)
        rows.append((str(base), row.queries, base.empty, *tested, *_told_apart(row), row.verdict or None))
    notes = (
        f"pairs: of {count_of(pairs, 'pair')} of runs those that are told apart, ** at 0.01 and * at 0.05 only",
        "Conover without correction, where Friedman's test (F form, mean ranks for ties) reaches the level",
        f"empty: {_ALWAYS_SKIPS}",
        *(f"{base}: {_NO_SHARED_QUERY}, nothing is tested" for base, row in tests.items() if row is None),
    )
    return table("Friedman's test", columns, rows, *notes)


def _told_apart(row: PaperRow) -> tuple[int, int]:
    """How many pairs have two stars, and how many have one."""
    comparisons = conover(row.friedman)
    two, one = (int(protected(row.friedman, comparisons, alpha).sum()) for alpha in (0.01, 0.05))
    return two, one - two


def _claims(found: RecallLevels, tests: Mapping[RecallBase, PaperRow | None], is_chosen: bool) -> Iterator[Claim]:
    papers = [max(level) - min(level) for level in zip(*TABLE_1.values(), strict=True)]
    spreads = [_spread(found, base) for base in found.bases]
    says = f"greater at higher levels: {numbers(papers, 1)}"
    yield _greater_above("best - worst, points", says, numbers(spreads, 1), spreads, _OF_POINTS)
    what, says = "largest gain over the baseline", "at the highest level"
    largest = _largest(found)
    if not largest:
        yield undecided(what, says, "none: no run is better", "" if is_chosen else _NOT_CHOSEN)
    else:
        base, run, points, per_cent = largest[-1]
        at = list(dict.fromkeys(str(each[0]) for each in largest))
        share = "" if per_cent is None else f" ({per_cent:.1f} %)"
        if is_chosen and len(at) == 1:
            yield statement(what, says, f"at {base}", base is found.bases[-1])
        else:
            yield undecided(what, says, f"at {listed(at)}", _TIED if is_chosen else _NOT_CHOSEN)
        yield beside(
            "its size",
            f"{LARGEST_POINTS} points ({LARGEST_PER_CENT} %)",
            f"{points:.1f} points{share}",
            f"the paper's is WSYN expanded over SUM unexpanded, this is {printable(run, _WIDEST)} over "
            f"{printable(found.baseline, _WIDEST)}",
        )
    yield _most_significant(tests)


def _greater_above(what: str, says: str, finds: str, differences: Sequence[float], scale: float) -> Claim:
    """Whether differences rise with the level; where runs differ at none, or levels are equal, nobody can say."""
    if any(math.isnan(difference) for difference in differences):
        return undecided(what, says, finds, "-: no two runs have a value")
    if not any(settled(differences, scale)):
        return undecided(what, says, "no difference at any level")
    how = course(differences, scale)
    if how == "ties":
        return undecided(what, says, finds, _TIED)
    return statement(what, says, finds, how == "rises")


def _most_significant(tests: Mapping[RecallBase, PaperRow | None]) -> Claim:
    """At which level p is smallest; that of very many queries is the smallest float there is at several."""
    what, says = "Friedman's p by level", "smallest at the highest level"
    by_level = {base: row.friedman for base, row in tests.items() if row is not None and row.friedman.f is not None}
    if len(by_level) < len(tests):
        return undecided(what, says, "too few queries to test")
    ps = [test.p for test in by_level.values()]
    if min(ps) == 1:
        return undecided(what, says, "no difference at any level")
    printed = ", ".join(map(p_words, ps))
    least = [base for base, test in by_level.items() if math.isclose(test.p, min(ps), rel_tol=_SAME_P)]
    highest = list(tests)[-1]
    if highest in least and len(least) > 1:
        return undecided(what, says, printed, _TIED)
    note = "levels have different numbers of queries, and p depends on them"
    return statement(what, says, f"at {listed(list(map(str, least)))}: {printed}", highest in least, note)


def _spread(found: RecallLevels, base: RecallBase) -> float:
    values = [found.average_precision(run, base.grade, base.mode) for run in found.runs]
    known = [value for value in values if not math.isnan(value)]
    return 100 * (max(known) - min(known)) if len(known) > 1 else math.nan


def _largest(found: RecallLevels) -> list[tuple[RecallBase, str, float, float | None]]:
    """Where which run gains most over the baseline, all that share the most; nothing if none gains."""
    gained = [
        (base, run, difference.points, difference.per_cent)
        for base in found.bases
        for run in found.runs
        if (difference := found.difference(run, base.grade, base.mode)).points is not None
    ]
    points = settled([each[2] for each in gained], _OF_POINTS)
    most = max(points, default=0.0)
    return [each for each, value in zip(gained, points, strict=True) if value == most] if most > 0 else []


def _widest_gap(found: RecallLevels, base: RecallBase) -> tuple[float, float | None, str | None, str | None]:
    """The largest distance of two curves, at which recall it is, and whose they are; nobody's where there is none."""
    curves = {run: found.precision(run, base.grade, base.mode) for run in found.runs}
    curves = {run: curve for run, curve in curves.items() if not any(map(math.isnan, curve))}
    if len(curves) < 2:
        return math.nan, None, None, None
    gaps = [max(at) - min(at) for at in zip(*curves.values(), strict=True)]
    widths = settled(gaps, 1.0)
    i = widths.index(max(widths))
    if not widths[i]:
        return 0.0, None, None, None
    at = {run: curve[i] for run, curve in curves.items()}
    return gaps[i], found.recall[i], max(at, key=at.__getitem__), min(at, key=at.__getitem__)
