"""What jarvelin2000 prints and says that can be checked without any data: its vectors, its discount, its own sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gainful.gains import Gain
from gainful.measures.catalog import parse
from gainful.notation import number_text
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import Claim, Section, claims_tables, number_claim, statement, undecided, vector_claim
from gainful.tasks.curves.recall_levels import Difference

#: Section 2.2: the grades of the sample list G', and what the paper makes of them.
GRADES = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
CUMULATED = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
DISCOUNTED = (3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61)

#: Section 3.2: documents at levels 1, 2 and 3, of so many requests, and in the whole database.
RECALL_BASES = (857, 700, 366)
REQUESTS = 30
_DATABASE, _IRRELEVANT = 53_893, 51_970

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

#: Sections 3.6 and 3.7: documents that the best and the other query types need for what the ideal gives in 10.
NEEDED_FOR_10 = {"CG, levels 2&3": (20, 26), "CG, level 3": (34, 62), "DCG, levels 2&3": (35, 70)}

#: Section 3.7: at rank 50, base 2, the best query types are so many points and such a share below the ideal, the others
#: so many points.
BEST_BELOW, BEST_BELOW_SHARE, OTHERS_BELOW = 9, 0.36, 13

_BASES = (("2", 2), ("e", "e"), ("10", 10))
_SHOWN_RANKS = 12


def examples() -> tuple[Section, ...]:
    """The worked vectors, the discount at ranks below its base, and whether the paper's figures fit each other."""
    return _vectors(), _discount(), _own_figures()


def _vectors() -> Section:
    ranks = range(1, len(GRADES) + 1)
    cumulated = [_score("CG", rank, GRADES) for rank in ranks]
    discounted = [_score("DCG(discount=jarvelin2000, base=2)", rank, GRADES) for rank in ranks]
    gains = Gain("0-1-2-3").of_grades(np.array(GRADES, np.float64), 3.0).tolist()
    claims = (
        vector_claim("G', the gains", GRADES, gains, 0),
        vector_claim("CG'", CUMULATED, cumulated, 0),
        vector_claim("DCG', b = 2", DISCOUNTED, discounted),
        number_claim("CG' at rank 7", 11, cumulated[6], 0),
        number_claim("share of a value at rank 2", 1, _share(2, 2), 0),
        number_claim("share of a value at rank 1024", 0.1, _share(2, 1024), 1),
    )
    about = (
        "The gain vector G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0> is cumulated (CG'), and cumulated with a discount (DCG')."
    )
    return Section("Section 2.2", about, claims_tables("Worked vectors", claims))


def _discount() -> Section:
    """A document at ranks 2 to b - 1 is worth more than at rank 1: there the logarithm is below 1."""
    ranks = range(1, _SHOWN_RANKS + 1)
    claims = [_smaller_share(name, [_share(base, rank) for rank in ranks]) for name, base in _BASES]
    columns = (
        Column("rank", "count"),
        *(Column(f"2000, b = {name}", "number", 3) for name, _ in _BASES),
        *(Column(f"2002, b = {name}", "number", 3) for name, _ in _BASES),
    )
    rows: list[tuple[Cell, ...]] = [
        (rank, *(1 / _share(base, rank, paper) for paper in ("jarvelin2000", "jarvelin2002") for _, base in _BASES))
        for rank in ranks
    ]
    boosted = ", ".join(f"{1 / _share(10, rank):.2f}" for rank in range(2, 11))
    gained = [_score(f"DCG(discount={paper}, base=10)", 2, GRADES) for paper in ("jarvelin2000", "jarvelin2002")]
    sentence = (
        f"With b = 10 the gains at ranks 2 to 10 are divided by {boosted}: a document at rank 2 counts for "
        f"{_share(10, 2):.2f} times what it is worth at rank 1. G' has DCG'[2] = {gained[0]:.2f} where CG'[2] = "
        f"{_score('CG', 2, GRADES):.0f}. The article of 2002 divides by the logarithm from rank b on only "
        f"(discount=jarvelin2002): DCG'[2] = {gained[1]:.2f}. For b = 2 both are the same."
    )
    table = Table(columns, rows, "What a gain is divided by: equation 2 of 2000 and of 2002")
    about = 'A discount "progressively reduces the document value as its rank increases": equation 2, for b = 2 only.'
    title = '"The greater the rank, the smaller share of the document value is added"'
    return Section("Equation 2", about, (*claims_tables(title, claims), sentence, table))


def _smaller_share(base: str, shares: Sequence[float]) -> Claim:
    falls = all(later <= before for before, later in pairwise(shares))
    same = [rank for rank, (before, later) in enumerate(pairwise(shares), 1) if later == before]
    finds = f"ranks 1, 2, 3: {', '.join(f'{share:.2f}' for share in shares[:3])} of it"
    note = f"but ranks {', '.join(f'{rank} and {rank + 1}' for rank in same)} have the same share" if same else ""
    return statement(f"b = {base}", "less with rank", finds, falls, note)


def _own_figures() -> Section:
    """Numbers of the text that follow from others of it."""
    baseline, best = TABLE_1["SUM/u"][2], TABLE_1["WSYN/e"][2]
    difference = Difference.of(best / 100, baseline / 100)
    spreads = [max(level) - min(level) for level in zip(*TABLE_1.values(), strict=True)]
    expanded = {name: (TABLE_1[f"{name}/u"], TABLE_1[f"{name}/e"]) for name in ("SUM", "SSYN-C", "WSYN")}
    gains = {name: [e - u for u, e in zip(*pair, strict=True)] for name, pair in expanded.items()}
    more = {what: 100 * (others / first - 1) for what, (first, others) in NEEDED_FOR_10.items()}
    claims = (
        number_claim("3.2: irrelevant documents", _IRRELEVANT, _DATABASE - sum(RECALL_BASES), 0),
        number_claim("3.5: WSYN/e - SUM/u at level 3, points", LARGEST_POINTS, difference.points or math.nan, 1),
        number_claim("3.5: the same, per cent", LARGEST_PER_CENT, difference.per_cent or math.nan, 1),
        statement(
            "3.5: best - worst, points",
            "greater at higher levels",
            ", ".join(f"{spread:.1f}" for spread in spreads),
            spreads == sorted(spreads),
        ),
        statement("3.5: expansion, SUM", "never enhances it", _signed(gains["SUM"]), max(gains["SUM"]) <= 0),
        statement(
            "3.5: expansion, SSYN-C and WSYN",
            "always improves them",
            _signed(gains["SSYN-C"] + gains["WSYN"]),
            min(gains["SSYN-C"] + gains["WSYN"]) > 0,
        ),
        number_claim("3.7: 4 points of base 2 in base 10", 13, 4 * _share(10, 50) / _share(2, 50), 0),
        _persistent_users(),
        statement(
            "4: more documents to read with the others",
            "50 to 100 %",
            ", ".join(f"{number_text(round(value))} %" for value in more.values()),
            all(50 <= round(value) <= 100 for value in more.values()),
            note=f"from sections 3.6 and 3.7, for what the ideal gives in 10 documents: {_needed()}",
        ),
    )
    about = "Numbers and sentences of the paper that follow from its own figures, in particular from its Table 1."
    return Section("Sections 3 and 4", about, (*claims_tables("The paper's own figures", claims), table_1()))


def _persistent_users() -> Claim:
    """In base 10 all ranks but the first have the same factor, so shares are about those of base 2."""
    ideal = BEST_BELOW / BEST_BELOW_SHARE
    best, others = ideal - BEST_BELOW, ideal - OTHERS_BELOW
    apart = OTHERS_BELOW - BEST_BELOW
    return undecided(
        "3.7: 13 points, per cent",
        "27 %",
        f"{100 * apart / best:.0f} % of the best, {100 * apart / others:.0f} % of the others",
        f"of base 2 at rank 50, from {BEST_BELOW} points ({100 * BEST_BELOW_SHARE:.0f} %) and {OTHERS_BELOW} points "
        "below the ideal; figures so rounded allow for 27 % of either, and the paper does not say of which",
    )


def table_1() -> Table:
    """The paper's Table 1 as it is printed."""
    columns = (Column("query type"), *(Column(f"level {level}", "number", 1) for level in (1, 2, 3)))
    rows = tuple((name, *values) for name, values in TABLE_1.items())
    return Table(columns, rows, "The paper's Table 1: AvP in per cent (u unexpanded, e expanded)")


def _needed() -> str:
    return "; ".join(f"{what} {best} and {others}" for what, (best, others) in NEEDED_FOR_10.items())


def _signed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.1f}" for value in values)


def _score(measure: str, rank: int, grades: Sequence[int]) -> float:
    return parse(f"{measure}@{rank}").score(grades)


def _share(base: float | str, rank: int, discount: str = "jarvelin2000") -> float:
    """What a document of gain 1 adds to DCG at a rank."""
    return _score(f"DCG(discount={discount}, base={base})", rank, [0] * (rank - 1) + [1])
