"""jarvelin2000, sections 3.2 to 3.5: the recall base of each level, AvP with Friedman's test, and P-R curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gainful import InputError, RecallLevels, Report, ScoreMatrix, compare_factors
from gainful.notation import count_of, listed, number_text, printable
from gainful.pages.page import Cell, Table, head
from gainful.tasks.compare.compare_words import p_words
from gainful_papers.claims import Claim, Section, claims_tables, numbers, settled, table, with_few_names
from gainful_papers.significance import FriedmanRow, friedman_rows, leads_by_ranks

#: Section 3.2: documents at levels 1, 2 and 3.
RECALL_BASES = (857, 700, 366)

#: Table 1: AvP in % at levels 1, 2 and 3, for unexpanded (u) and expanded (e) query types.
TABLE_1 = {
    "SUM/u": (12.8, 22.4, 25.9),
    "SUM/e": (10.1, 21.1, 22.2),
    "SSYN-C/u": (12.4, 21.5, 23.5),
    "SSYN-C/e": (13.3, 27.4, 39.1),
    "WSYN/u": (13.8, 22.9, 25.7),
    "WSYN/e": (14.3, 29.3, 41.0),
}
STRUCTURES = ("SUM", "SSYN-C", "WSYN")
LARGEST_POINTS, LARGEST_PER_CENT = 15.1, 58.3

#: Decimal places of AvP: one as a percentage, as in the paper.
_PLACES = 3

#: Largest number of runs for which significant pairs are shown to people.
_MOST_NAMED = 8

_WIDEST = 40

#: Scale of AvP in points, for settling differences.
_OF_POINTS = 100.0

#: Relative difference up to which values of p are equal.
_SAME_P = 1e-9

_NOT_CHOSEN = "depends on the baseline, here the first run; choose one with --baseline (baseline in Python)"

_SKIPS = "queries without a document of the level are left out (undefined=skip)"


def recall_bases_text(found: RecallLevels) -> str:
    """Format the numbers of queries and of documents by grade."""
    counts = listed([f"{base.documents:,}" for base in found.bases])
    grades = listed([number_text(base.grade) for base in found.bases])
    return f"{count_of(len(found.bases[0].sizes), 'query', 'queries')} with {counts} documents of grades {grades}"


def recall_bases(found: RecallLevels) -> Section:
    """Build section 3.2: the number of documents at each level."""
    says, finds = (
        ", ".join(f"{number_text(grade)}: {count}" for grade, count in each)
        for each in (enumerate(RECALL_BASES, 1), ((base.grade, base.documents) for base in found.bases))
    )
    claim = Claim.comparison("documents by level", says, finds)
    about = "Each level of relevance has its own recall base."
    return Section.of("Section 3.2", about, found.bases_table(), claims_tables("Comparison with the paper", [claim]))


def table_1() -> Table:
    """Return the paper's Table 1 as printed."""
    rows = (
        (level, expansion, *(TABLE_1[f"{structure}/{expansion}"][level - 1] for structure in STRUCTURES))
        for level in (1, 2, 3)
        for expansion in "ue"
    )
    title = "Table 1 as printed: AvP in % (u unexpanded, e expanded)"
    return table(title, "level # | expansion | SUM .1 | SSYN-C .1 | WSYN .1", rows)


def table_1_section(found: RecallLevels, is_chosen: bool = True) -> Section:
    """Build Table 1: AvP by level and system, differences from the baseline, Friedman's test, and its claims.

    Unless ``is_chosen``, the baseline is the first run, and claims that depend on it are undecided.
    """
    evaluations = {evaluation.run: evaluation for evaluation in found.evaluations}
    # Friedman's test per level; None if no query is scored for all runs, as a policy may leave out unanswered queries.
    tests: list[FriedmanRow | None] = []
    for base in found.bases:
        try:
            matrix = ScoreMatrix.from_evaluations(evaluations, base.average_precision)
        except InputError:
            tests.append(None)
        else:
            tests += friedman_rows({str(base): matrix})
    about = (
        "Non-interpolated average precision at each level; documents of other levels keep their ranks and count as not "
        f"relevant. Differences are from {printable(found.baseline, _WIDEST)}."
    )
    averages = found.average_table(_PLACES, in_per_cent=True)
    section = Section.of(
        "Table 1",
        about,
        (replace(each, for_people=True) for each in (averages, *found.difference_tables(_PLACES))),
        _test_table(found, tests),
        claims_tables("Statements about Table 1", _claims(found, tests, is_chosen)),
        table_1(),
        found.average_rows("AvP by run and level", _PLACES),
    )
    return replace(section, conventions=tuple(Report(found.evaluations).signatures))


def factor_section(found: RecallLevels, factors: Mapping[str, Mapping[str, str]] | str) -> Section:
    """Analyse Table 1 by two factors of runs (in the paper, structure and expansion)."""
    runs = {evaluation.run: evaluation for evaluation in found.evaluations}
    parts: list[Any] = []
    for base in found.bases:
        scores = ScoreMatrix.from_evaluations(runs, base.average_precision)
        parts += [f"AvP at {base}:", *compare_factors(scores, factors=factors).page(places=_PLACES).parts]
    about = "Main effects and interaction of two factors; in the paper, query structure and expansion."
    return Section("Section 3.5, factors", about, parts)


def figure_1(found: RecallLevels) -> Section:
    """Build Figure 1: one chart of P-R curves per level, and the distance between the curves."""
    widths = []
    for base in found.bases:
        curves = [found.precision(run, base.grade, base.mode) for run in found.runs]
        known = [curve for curve in curves if not any(map(math.isnan, curve))]
        gaps = [max(at) - min(at) for at in zip(*known, strict=True)] if len(known) > 1 else [math.nan]
        widths.append(max(gaps))
    finds = numbers(widths, _PLACES)
    claim = Claim.rising("distance between the curves", "greater at higher levels", finds, widths, 1.0)
    levels = [{run: found.average_precision(run, base.grade, base.mode) for run in found.runs} for base in found.bases]
    section = Section.of(
        "Figure 1",
        "Interpolated precision at eleven recall points, one chart per level.",
        with_few_names((replace(plot, caption=_SKIPS) for plot in found.plots()), levels),
        claims_tables("Statements about Figure 1", [claim]),
        found.point_rows("Precision at recall", _PLACES),
    )
    return replace(section, conventions=tuple(Report(found.evaluations).signatures))


def _test_table(found: RecallLevels, tests: Sequence[FriedmanRow | None]) -> Table:
    pairs = math.comb(len(found.runs), 2)
    columns = (
        *head("relevant | queries # | empty # | Friedman F .2 | p"),
        *head("p value .", for_machines=True),
        *head("pairs ** # | pairs * #"),
        *head("significant pairs", none="none", for_machines=len(found.runs) > _MOST_NAMED),
    )
    rows: list[tuple[Cell, ...]] = []
    for base, row in zip(found.bases, tests, strict=True):
        if row is None:
            rows.append((str(base), 0, base.empty, *[None] * 6))
            continue
        f, p = row.friedman.f, row.friedman.p
        tested = (None, None, None) if f is None else (f, p_words(p), p)
        two, one = (int(leads_by_ranks(row.friedman, alpha).shown.sum()) for alpha in (0.01, 0.05))
        rows.append((str(base), row.queries, base.empty, *tested, two, one - two, row.verdict or None))
    untested = [base for base, row in zip(found.bases, tests, strict=True) if row is None]
    notes = (
        f"pairs: significant pairs of {count_of(pairs, 'pair')} of runs: ** at 0.01, * only at 0.05",
        "Friedman test (F form, mean ranks for ties); if significant, Conover's pairwise tests without correction",
        # SPEC, section 4: an empty recall base is undefined; a policy may only reject it.
        f"empty: {_SKIPS}, unless undefined=error",
        *(f"{base}: no query is scored for every run, so nothing is tested" for base in untested),
    )
    return table("Friedman's test", columns, rows, *notes)


def _claims(found: RecallLevels, tests: Sequence[FriedmanRow | None], is_chosen: bool) -> Iterator[Claim]:
    papers = [max(level) - min(level) for level in zip(*TABLE_1.values(), strict=True)]
    spreads = []
    for base in found.bases:
        values = [found.average_precision(run, base.grade, base.mode) for run in found.runs]
        known = [value for value in values if not math.isnan(value)]
        spreads.append(100 * (max(known) - min(known)) if len(known) > 1 else math.nan)
    says = f"greater at higher levels: {numbers(papers, 1)}"
    yield Claim.rising("best - worst, points", says, numbers(spreads, 1), spreads, _OF_POINTS)
    what, says = "largest gain over the baseline", "at the highest level"
    gained = [
        (base, run, difference.points, difference.per_cent)
        for base in found.bases
        for run in found.runs
        if (difference := found.difference(run, base.grade, base.mode)).points is not None
    ]
    settled_points = settled([each[2] for each in gained], _OF_POINTS)
    most = max(settled_points, default=0.0)
    # All runs that share the largest difference.
    largest = [each for each, value in zip(gained, settled_points, strict=True) if value == most > 0]
    if not largest:
        yield Claim.undecided(what, says, "none: no run is better", "" if is_chosen else _NOT_CHOSEN)
    else:
        base, run, points, per_cent = largest[-1]
        at = list(dict.fromkeys(str(each[0]) for each in largest))
        share = "" if per_cent is None else f" ({per_cent:.1f}%)"
        is_there = is_chosen and at == [str(found.bases[-1])]
        yield Claim.remark(what, says, f"at {listed(at)}", is_there, "" if is_chosen else _NOT_CHOSEN)
        yield Claim.comparison(
            "its size",
            f"{LARGEST_POINTS} points ({LARGEST_PER_CENT}%)",
            f"{points:.1f} points{share}",
            f"in the paper, WSYN expanded over SUM unexpanded; here, {printable(run, _WIDEST)} over "
            f"{printable(found.baseline, _WIDEST)}",
        )
    yield _most_significant([str(base) for base in found.bases], tests)


def _most_significant(levels: Sequence[str], tests: Sequence[FriedmanRow | None]) -> Claim:
    # With many queries, p can be the smallest float at several levels.
    what, says = "Friedman's p by level", "smallest at the highest level"
    ps = [row.friedman.p for row in tests if row is not None and row.friedman.f is not None]
    if len(ps) < len(tests):
        return Claim.undecided(what, says, "too few queries to test")
    printed = ", ".join(map(p_words, ps))
    least = [level for level, p in zip(levels, ps, strict=True) if math.isclose(p, min(ps), rel_tol=_SAME_P)]
    note = "p depends on the number of queries, which differs between levels"
    return Claim.remark(what, says, f"at {listed(least)}: {printed}", least == [levels[-1]], note)
