"""Järvelin and Kekäläinen: IR evaluation methods for retrieving highly relevant documents (SIGIR 2000).

Its vectors, discount and sums are checked without data; its case study runs on any judgments and runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

import numpy as np

from gainful import Gain, Report, RunLike, parse, recall_levels
from gainful.data.judged import Judged
from gainful.notation import count_of, number_text
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels
from gainful_papers.claims import (
    MOST_LEVELS,
    Case,
    Claim,
    Section,
    Study,
    by_rank,
    check_last_rank,
    claims_tables,
    gains_for,
    numbers,
)
from gainful_papers.jarvelin2000.case_study import (
    LARGEST_PER_CENT,
    LARGEST_POINTS,
    RECALL_BASES,
    TABLE_1,
    factor_section,
    figure_1,
    recall_bases,
    recall_bases_text,
    table_1,
    table_1_section,
)
from gainful_papers.jarvelin2000.curve_readings import (
    BASES,
    DCG_DEPTH,
    Panel,
    Weights,
    drawn_weights,
    gain_figure,
    section_3_6,
    section_3_7,
)

_KEY = "jarvelin2000"

#: Section 2.2: the grades of the sample list G', and the vectors that the paper computes from them.
GRADES = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
CUMULATED = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
DISCOUNTED = (3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61)

#: Section 3.2: documents in the database, and irrelevant documents.
_DATABASE, _IRRELEVANT = 53_893, 51_970

#: Sections 3.6 and 3.7: documents that the best and the other query types need for the gain of the ideal at rank 10.
NEEDED_FOR_10 = {"CG, levels 2&3": (20, 26), "CG, level 3": (34, 62), "DCG, levels 2&3": (35, 70)}

#: Section 3.7, rank 50, base 2: distance from the ideal, best query types (points, share) and others (points).
BEST_BELOW, BEST_BELOW_SHARE, OTHERS_BELOW = 9, 0.36, 13

_SHOWN_RANKS = range(1, 13)


@cache
def examples() -> tuple[Section, ...]:
    """Check the worked vectors, the discount at ranks below its base, and the consistency of the paper's numbers."""
    return _vectors(), _discount(), _own_figures()


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    baseline: str | None = None,
    factors: Mapping[str, Mapping[str, str]] | str | None = None,
    gain: Sequence[object] | None = None,
    base: Sequence[object] = BASES,
    at: int | None = None,
    threads: int | None = None,
) -> Study:
    """Run the case study of section 3: recall bases, Table 1, Figures 1 to 3, and their readings.

    Differences are from ``baseline``, by default the first run; claims about an arbitrary baseline are undecided. Two
    ``factors`` of runs (in the paper, structure and expansion) add an analysis of Table 1. ``gain`` replaces the
    paper's weights, ``base`` lists bases (the first is drawn), ``at`` is the last rank of both figures.
    """
    case = Case.of(_KEY, judged, runs, threads)
    grades, occurring = GradeLevels.of(judged), [grade for grade in judged.levels.tolist() if grade > 0]
    given, bases = gains_for(_KEY, judged, grades, gain), [str(each) for each in base]
    check_last_rank(at)
    drawn = drawn_weights(grades, occurring)
    if gain is not None:
        drawn = tuple(
            Weights(letter, "weights", str(each)) for letter, each in zip(ascii_uppercase, given, strict=False)
        )
    # With many grades, count documents at or above the middle and the highest grade.
    few, middle = len(occurring) <= MOST_LEVELS, occurring[len(occurring) // 2]
    which: Any = {"by": "level"} if few else {"by": "rel", "levels": [middle, occurring[-1]]}
    levels = recall_levels(judged, case.runs, **which, baseline=baseline, threads=case.threads)
    curves = case.gain_curves([weights.measure(each) for each in (None, *bases) for weights in drawn])
    ends = case.evaluate([weights.measure(each, at or DCG_DEPTH) for each in bases for weights in drawn])
    cumulated = [Panel(curves, weights, depth=at) for weights in drawn]
    by_base = {each: [Panel(curves, weights, each, at) for weights in drawn] for each in bases}
    about_2 = "Cumulated gain by rank, averaged over queries; the ideal list ranks the recall base by gain."
    about_3 = f"Cumulated gain by rank; gains are divided by the logarithm (base {bases[0]}) of the rank."
    sections = (
        recall_bases(levels),
        table_1_section(levels, is_chosen=baseline is not None),
        *(() if factors is None else (factor_section(levels, factors),)),
        figure_1(levels),
        gain_figure("Figure 2", about_2, cumulated),
        section_3_6(cumulated),
        gain_figure("Figure 3", about_3, by_base[bases[0]]),
        section_3_7(by_base, ends),
    )
    data = (
        f"{count_of(len(levels.runs), 'run')}, {recall_bases_text(levels)}. The paper's data (30 requests with 857, "
        "700 and 366 documents of levels 1, 2 and 3) are not public: its numbers are for comparison only."
    )
    # Tables by level skip queries without a document of the level, with a note; gains follow the requested policy.
    return Study(data, sections, curves.evaluations, tuple(Report(curves.evaluations).signatures))


def _vectors() -> Section:
    cumulated = by_rank("CG", GRADES)
    gains = Gain("0-1-2-3").of_grades(np.array(GRADES, np.float64), 3.0).tolist()
    claims = (
        Claim.vector("G', the gains", GRADES, gains, 0),
        Claim.vector("CG'", CUMULATED, cumulated, 0),
        Claim.vector("DCG', b = 2", DISCOUNTED, by_rank("DCG(discount=jarvelin2000, base=2)", GRADES)),
        Claim.number("CG' at rank 7", 11, cumulated[6], 0),
        Claim.number("share of a value at rank 2", 1, _share("2", 2), 0),
        Claim.number("share of a value at rank 1024", 0.1, _share("2", 1024), 1),
    )
    about = "The gain vector G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0> is cumulated without (CG') and with a discount (DCG')."
    return Section("Section 2.2", about, claims_tables("Worked vectors", claims))


def _share(base: str, rank: int) -> float:
    return parse(f"DCG(discount=jarvelin2000, base={base})@{rank}").score([0] * (rank - 1) + [1])


def _discount() -> Section:
    """Show that documents at ranks 2 to b - 1 count more than at rank 1, because the logarithm is below 1."""
    boosted = numbers(1 / _share("10", rank) for rank in range(2, 11))
    gained = [parse(f"DCG(discount=jarvelin{year}, base=10)@2").score(GRADES) for year in (2000, 2002)]
    sentence = (
        f"With b = 10, the gains at ranks 2 to 10 are divided by {boosted}: a document at rank 2 counts "
        f"{_share('10', 2):.2f} times as much as at rank 1. DCG'[2] = {gained[0]:.2f}, although CG'[2] = "
        f"{parse('CG@2').score(GRADES):.0f}. The article of 2002 divides only at ranks ≥ b "
        f"(discount=jarvelin2002): DCG'[2] = {gained[1]:.2f}. With b = 2 both are equal."
    )
    claims = []
    for base in BASES:
        shares = [_share(base, rank) for rank in _SHOWN_RANKS]
        falls = all(later <= before for before, later in pairwise(shares))
        same = [rank for rank, (before, later) in enumerate(pairwise(shares), 1) if later == before]
        note = f"but ranks {', '.join(f'{rank} and {rank + 1}' for rank in same)} have equal shares" if same else ""
        finds = f"at ranks 1, 2, 3: {numbers(shares[:3])}"
        claims.append(Claim.statement(f"b = {base}", "less with rank", finds, falls, note))
    about = 'A discount "progressively reduces the document value as its rank increases": true only for b = 2.'
    title = '"The greater the rank, the smaller share of the document value is added"'
    return Section.of("Equation 2", about, claims_tables(title, claims), sentence)


def _own_figures() -> Section:
    best_of_3, first_of_3 = TABLE_1["WSYN/e"][2], TABLE_1["SUM/u"][2]
    expansion = {
        name: [e - u for u, e in zip(TABLE_1[f"{name}/u"], TABLE_1[f"{name}/e"], strict=True)]
        for name in ("SUM", "SSYN-C", "WSYN")
    }
    of_sum, of_synonyms = expansion["SUM"], expansion["SSYN-C"] + expansion["WSYN"]
    more = [100 * (others / first - 1) for first, others in NEEDED_FOR_10.values()]
    needed = "; ".join(f"{what} {best} and {others}" for what, (best, others) in NEEDED_FOR_10.items())
    signed = numbers(of_sum, 1, sign="+"), numbers(of_synonyms, 1, sign="+")
    levels = list(zip(*TABLE_1.values(), strict=True))
    spreads = [max(level) - min(level) for level in levels]
    is_greater = spreads == sorted(spreads)
    relative = [100 * (max(level) / min(level) - 1) for level in levels]
    best = [list(TABLE_1)[level.index(max(level))] for level in levels]
    # From base 2 to base 10 all ranks except the first change by the same factor, so shares are similar.
    ideal, apart = BEST_BELOW / BEST_BELOW_SHARE, OTHERS_BELOW - BEST_BELOW
    claims = (
        Claim.number("3.2: irrelevant documents", _IRRELEVANT, _DATABASE - sum(RECALL_BASES), 0),
        Claim.number("3.5: WSYN/e - SUM/u at level 3, points", LARGEST_POINTS, best_of_3 - first_of_3, 1),
        Claim.number("3.5: the same, %", LARGEST_PER_CENT, 100 * (best_of_3 / first_of_3 - 1), 1),
        Claim.statement(
            "3.5: best - worst, points",
            "greater at higher levels",
            numbers(spreads, 1),
            is_greater,
            f"not as a percentage of the worst: {numbers(relative, 0)}",
        ),
        Claim.text("3.5: best at every level", "WSYN/e", ", ".join(dict.fromkeys(best))),
        Claim.statement("3.5: expansion, SUM", "never enhances it", signed[0], max(of_sum) <= 0),
        Claim.statement("3.5: expansion, SSYN-C and WSYN", "always improves them", signed[1], min(of_synonyms) > 0),
        Claim.number("3.7: 4 points of base 2 in base 10", 13, 4 * _share("10", 50) / _share("2", 50), 0),
        Claim.undecided(
            "3.7: 13 points, %",
            "27% better than the remaining ones",
            f"{100 * apart / (ideal - OTHERS_BELOW):.0f}%",
            f"base 2 at rank 50, from {BEST_BELOW} points ({100 * BEST_BELOW_SHARE:.0f}%) and {OTHERS_BELOW} "
            "points below the ideal; 27% is possible before rounding",
        ),
        Claim.undecided(
            "4: differences at level 1",
            "marginal, by the P-R curves",
            f"AvP: {spreads[0]:.1f} points, {relative[0]:.0f}% of the worst",
            "the curves are printed without numbers, and marginal is not defined",
        ),
        Claim.statement(
            "4: more documents to read with the others",
            "50 to 100%",
            ", ".join(f"{number_text(round(value))}%" for value in more),
            all(50 <= round(value) <= 100 for value in more),
            note=f"from sections 3.6 and 3.7, for the gain of the ideal at rank 10: {needed}",
        ),
    )
    about = "Numbers and statements that follow from other numbers of the paper, mainly from Table 1."
    return Section.of("Sections 3 and 4", about, claims_tables("Consistency of the paper", claims), table_1())
