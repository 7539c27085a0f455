"""The worked vectors of jarvelin2002 (section 2), and what its printed equations and tables would give.

The discussion's cases of the discount, on G'; and its claim about the base, with the lists that refute it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import Claim, Section, claims_tables, number_claim, statement, vector_claim
from gainful.policy import Policy
from gainful.tasks.sensitivity.sensitivity_findings import ranks_of, tau_of_ranks

#: G' of section 2.1, the judged documents that it does not show within ten ranks, and I' of section 2.2.
GRADES = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
MISSED = (1, 1, 1)
IDEAL = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1)
DISCOUNTED = "DCG(discount=jarvelin2002)"
_RANKS = range(1, len(GRADES) + 1)

# As printed.
_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_DCG = (3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61)
_IDEAL_CG = (3, 6, 9, 11, 13, 15, 16, 17, 18, 19, 19, 19, 19)
_IDEAL_DCG = (3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83, 11.83, 11.83)
_NCG = (1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84)


def vector(measure: str, grades: Sequence[int] = GRADES, missed: Sequence[int] = MISSED, to: int = 10) -> list[float]:
    """A measure at ranks 1 to 10 of a list that is given by its grades.

    >>> vector("CG", to=3)
    [3.0, 5.0, 8.0]
    """
    return [parse(f"{measure}@{rank}").score(grades, missed) for rank in range(1, to + 1)]


def vector_sections() -> tuple[Section, ...]:
    """Sections 2.1 to 2.3."""
    return _cumulated(), _discounted(), _normalised()


def _cumulated() -> Section:
    without_first = vector("CG", (0, *GRADES[1:]))
    claims = (
        vector_claim("CG'", _CG, vector("CG"), 0),
        number_claim("CG' at rank 7", 11, vector("CG")[6], 0),
        vector_claim(
            "CG' by eq. 1 as printed",
            _CG,
            without_first,
            0,
            "its first case prints 0, which loses the first document; it has to be G[1], as in the 2000 paper",
        ),
    )
    about = "Direct cumulated gain: what a list has given by each rank. G' has the grades 3 2 3 0 0 1 2 2 3 0."
    return Section("Section 2.1", about, claims_tables("Cumulated gain", claims))


def _discounted() -> Section:
    cg, dcg = vector("CG"), vector(DISCOUNTED)
    last_parts = [later - before for before, later in zip([0.0, *dcg], dcg, strict=False)]
    # Equation 2 as printed, base 2: rank 1 is its first case.
    as_printed = [cg[0], *(before + part for before, part in zip(cg, last_parts[1:], strict=False))]
    one_at_1024 = parse(f"{DISCOUNTED}@1024").score([*(0 for _ in range(1023)), 1])
    claims = (
        vector_claim("DCG', b = 2", _DCG, dcg),
        vector_claim(
            "DCG' by eq. 2 as printed",
            _DCG,
            as_printed,
            2,
            "its second case prints CG[i - 1] where DCG[i - 1] is meant: the sum so far would not be discounted",
        ),
        number_claim("share of its score that a document keeps at rank 1024", 0.1, one_at_1024, 1),
        vector_claim("I', by eq. 4 from the recall base", IDEAL, _ideal_gains(), 0),
        vector_claim("ideal CG", _IDEAL_CG, vector("CG", IDEAL, (), len(_IDEAL_CG)), 0),
        vector_claim("ideal DCG, b = 2", _IDEAL_DCG, vector(DISCOUNTED, IDEAL, (), len(_IDEAL_DCG))),
    )
    about = (
        "Discounted cumulated gain, and the ideal: the recall base (three documents of grade 3, three of 2, four of 1) "
        "best first. Two values of the ideal DCG, 10.52 and 11.21, are cut off, not rounded."
    )
    return Section("Section 2.2", about, claims_tables("Discounted cumulated gain and the ideal", claims))


def _ideal_gains() -> list[float]:
    """The ideal gain vector that the recall base of the example makes."""
    grades = {f"d{i}": grade for i, grade in enumerate((*GRADES, *MISSED))}
    judged = Judged(Qrels.from_dict({"example": grades}), Policy())
    gains: list[float] = judged.ideal_lists(Gain("linear"), None, None).dense(len(IDEAL))[0].tolist()
    return gains


def _normalised() -> Section:
    of_ideal = [_over_ranks(kind).score(IDEAL) for kind in ("nCG", f"n{DISCOUNTED}")]
    claims = (
        vector_claim("nCG'", _NCG, vector("nCG")),
        vector_claim("normalised ideal CG", (1,) * 10, vector("nCG", IDEAL, ()), 0),
        vector_claim("normalised ideal DCG", (1,) * 10, vector(f"n{DISCOUNTED}", IDEAL, ()), 0),
        vector_claim("avg-pos of the normalised ideal CG and DCG", (1, 1), of_ideal, 0),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, measure in (("nCG'", "nCG"), ("nDCG', b = 2", f"n{DISCOUNTED}")):
        rows.append((name, *vector(measure), _over_ranks(measure).score(GRADES, MISSED)))
    columns = (Column("vector"), *(Column(str(rank), "number", 2) for rank in _RANKS), Column("avg-pos", "number", 3))
    not_printed = Table(
        columns, tuple(rows), "By rank, with the average over ranks 1 to 10 (nDCG' and averages are not in the paper)"
    )
    about = "Gain relative to the ideal (eq. 5), and its average over ranks (eq. 6)."
    return Section("Section 2.3", about, (*claims_tables("Normalised vectors", claims), not_printed))


def _over_ranks(measure: str) -> Measure:
    return parse(measure).replace(average="ranks", cutoff=10)


def list_section() -> Section:
    """Section 2.4's points about earlier measures, each on the shortest lists that show it."""
    claims = (*_on_degrees(), *_on_outliers(), *_on_list_size(), *_on_half_life())
    about = "What the earlier measures do not see, each shown with lists that are written as their grades."
    return Section("Section 2.4, lists", about, claims_tables("Earlier measures", claims))


def _on_degrees() -> tuple[Claim, ...]:
    lists = ((3, 0, 1), (1, 0, 3))
    measures = {"ASL": "ASL(N=10)", "ESL": "ESL(n=1, count=all, N=10)", "NR": "NormRecall(N=10)"}
    blind = {name: [parse(text).score(each) for each in lists] for name, text in measures.items()}
    seen = [parse("nCG@1").score(each) for each in lists]
    return (
        statement(
            "3 0 1 against 1 0 3",
            "ASL, ESL and NR are dichotomous",
            ", ".join(f"{name} {_pair(values)}" for name, values in blind.items()) + f", nCG@1 {_pair(seen)}",
            all(one == other for one, other in blind.values()) and seen[0] > seen[1],
        ),
    )


def _on_outliers() -> tuple[Claim, ...]:
    near, far = (1, 1, 1, *((0,) * 6), 1), (1, 1, 1, *((0,) * 96), 1)
    asl, recall, ndcg = (
        [parse(f"{name}(N=100)" if name[0] in "AN" else name).score(each) for each in (near, far)]
        for name in ("ASL", "NormRecall", f"n{DISCOUNTED}@100")
    )
    return (
        statement(
            "relevant at 1, 2, 3 and 10, or 1, 2, 3 and 100",
            "ASL and NR depend on the last one found",
            f"ASL {_pair(asl)}, NR {_pair(recall)}, nDCG@100 {_pair(ndcg)}",
            _change(asl) > _change(ndcg) and _change(recall) > _change(ndcg),
        ),
    )


def _on_list_size() -> tuple[Claim, ...]:
    short, longer = (1, 1, 0), (1, 1, 0, 3)
    ratio = [parse("SlidingRatio@1").score(short), parse("SlidingRatio@1").score(longer)]
    ncg = [parse("nCG@1").score(short, [3]), parse("nCG@1").score(longer)]
    return (
        statement(
            "1 1 0, then 1 1 0 3: at rank 1",
            "a longer list changes SR, not nCG",
            f"SR {_pair(ratio)}, nCG {_pair(ncg)}",
            ratio[0] != ratio[1] and ncg[0] == ncg[1],
        ),
    )


def _on_half_life() -> tuple[Claim, ...]:
    lists = ((3, 3, 3, 3), (1, 1, 1, 1))
    half = [parse("RankedHalfLife").score(each) for each in lists]
    gain = [parse("CG@4").score(each) for each in lists]
    return (
        statement(
            "3 3 3 3 against 1 1 1 1",
            "RHL may be the same for different lists",
            f"RHL {_pair(half)}, CG@4 {_pair(gain)}",
            half[0] == half[1] and gain[0] != gain[1],
        ),
    )


def _pair(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.3g}" for value in values)


def _change(values: Sequence[float]) -> float:
    """By which share of the first the second differs."""
    return abs(values[1] - values[0]) / abs(values[0])


# Table 1: rows are the new levels 0 to 3, columns TREC's relevant, irrelevant, and both.
TABLE_1 = ((691, 2780), (1004, 134), (724, 40), (353, 11))
TABLE_1_TOTALS = (2772, 2965, 5737)
TABLE_1_SHARES = ((25.0, 93.8, 60.5), (36.2, 4.5, 19.8), (26.1, 1.3, 13.3), (12.7, 0.4, 6.4))

#: Table 2: means of runs A to E, and what is significant.
RUNS_2 = ("A", "B", "C", "D", "E")
TABLE_2: dict[str, tuple[tuple[float, ...], str]] = {
    "nCG (0-1-1-1)": ((0.242, 0.271, 0.293, 0.318, 0.343), ""),
    "nDCG (0-1-1-1)": ((0.292, 0.294, 0.287, 0.335, 0.331), ""),
    "nCG (0-1-10-100)": ((0.254, 0.305, 0.313, 0.316, 0.342), "D,E > A**"),
    "nDCG (0-1-10-100)": ((0.211, 0.238, 0.236, 0.279, 0.247), "D > A*"),
    "nCG (0-0-0-1)": ((0.244, 0.301, 0.309, 0.309, 0.329), ""),
    "nDCG (0-0-0-1)": ((0.192, 0.220, 0.223, 0.259, 0.224), ""),
}


def printed_sections() -> tuple[Section, ...]:
    """What follows from the printed tables themselves."""
    return _printed_table_1(), _printed_readings(), _printed_table_2()


def _printed_table_1() -> Section:
    counts = [(*row, sum(row)) for row in TABLE_1]
    totals = [sum(column) for column in zip(*counts, strict=True)]
    claims = [vector_claim("totals", TABLE_1_TOTALS, totals, 0)]
    for level, (row, said) in enumerate(zip(counts, TABLE_1_SHARES, strict=True)):
        found = [100 * count / total for count, total in zip(row, totals, strict=True)]
        plain = vector_claim("", said, found, 1)
        reason = (
            "one share is 0.1 too high by the counts; so its printed column adds up to 100.0"
            if plain.verdict != "agrees"
            else ""
        )
        claims.append(vector_claim(f"Rel={level}: % of TREC relevant, irrelevant, all", said, found, 1, reason))
    mean = RELEVANT_AT_2_AND_3
    claims.append(number_claim("documents at levels 2 and 3 per topic (section 3.4)", 29.9, mean, 1))
    about = "The new judgments by the original ones: shares that follow from the printed numbers of documents."
    return Section("Table 1, as printed", about, claims_tables("Shares from counts", claims))


#: From section 3.2: 1,182 relevant documents to 20 topics, of which 30.5 % are at level 2 and 20.1 % at level 3.
RELEVANT_AT_2_AND_3 = 1182 * (0.305 + 0.201) / 20


#: Documents that the best and the worst run need for the same gain, by figure (sections 3.4 and 3.5).
READINGS = {"1(a)": (30, 90), "2(a)": (40, 95), "2(b)": (10, 50)}


def _printed_readings() -> Section:
    more = {figure: 100 * (worst / best - 1) for figure, (best, worst) in READINGS.items()}
    best, worst = READINGS["1(a)"]
    read = "; ".join(f"Figure {figure} {best} and {worst}" for figure, (best, worst) in READINGS.items())
    claims = (
        number_claim("times as many documents, Figure 1(a)", 3, worst / best, 0),
        statement(
            "more documents by the worst run (section 4)",
            "100 to 500 %",
            ", ".join(f"{value:.0f} %" for value in more.values()),
            all(100 <= value <= 500 for value in more.values()),
            f"read off by the article for the best and the worst run: {read}; in Figure 1(b) the worst run does not "
            "get there within 100",
        ),
    )
    about = "How much further users have to read with the worst run, from the numbers that the article reads off."
    return Section("Figures 1 and 2, as printed", about, claims_tables("Read sideways", claims))


def _printed_table_2() -> Section:
    ranks = {name: ranks_of(list(means)) for name, (means, _) in TABLE_2.items()}
    rows: list[tuple[Cell, ...]] = []
    for name, places in ranks.items():
        by_place: dict[int, list[str]] = {}
        for run, place in zip(RUNS_2, places, strict=True):
            by_place.setdefault(place or 0, []).append(run)
        order = " ".join("=".join(by_place[place]) for place in sorted(by_place))
        taus = [tau_of_ranks(places, ranks[other]) for other in ("nCG (0-1-1-1)", "nDCG (0-1-1-1)")]
        rows.append((name, order, *taus))
    columns = (
        Column("measure"),
        Column("order"),
        Column("tau with nCG (0-1-1-1)", "number", 2),
        Column("tau with nDCG (0-1-1-1)", "number", 2),
    )
    table = Table(columns, tuple(rows), "The order of runs by the printed means, best first")
    changes = sum(places != ranks["nDCG (0-1-1-1)"] for name, places in ranks.items() if name.startswith("nDCG"))
    d, e = RUNS_2.index("D"), RUNS_2.index("E")
    flat, weighted = (TABLE_2[name][0][d] - TABLE_2[name][0][e] for name in ("nDCG (0-1-1-1)", "nDCG (0-1-10-100)"))
    claims = (
        statement(
            "weights and the order of runs",
            "weighting affects the order",
            f"nDCG: {changes} of 2 orders differ from 0-1-1-1's",
            changes > 0,
        ),
        statement(
            "nDCG (0-1-10-100)",
            "D appears more effective than the others",
            f"D leads E by {weighted:.3f}, with 0-1-1-1 by {flat:.3f}",
            ranks["nDCG (0-1-10-100)"][d] == 1 and weighted > flat,
        ),
    )
    about = "What the printed means say about the order of the five runs; the runs themselves are not public as A to E."
    return Section("Table 2, as printed", about, (table, *claims_tables("Said of it", claims)))


#: The two lists of the counter-example.
EARLY, LATE = (1, 0, 0, 0), (0, 0, 0, 3)

_NO_CUT = "jarvelin2000"
_CASES = (
    ("df = 1 (CG)", "none", ""),
    ("df = i", "rank", ""),
    *(
        (f"log, b = {base}", "jarvelin2002", f", base={base}")
        for base in ("1.0001", "1.1", "1.5", "2", "e", "10", "100", "1000000")
    ),
)
_SHOWN = (1, 2, 3, 6, 7, 8, 9, 10)


def discount_section() -> Section:
    """Section 4, "Discounting Factor", as far as it needs no data."""
    about = (
        "Three cases of the discount, the base at its borders, and the remark that without the cut-off at rank b the "
        "base could not change the order of systems, which is false."
    )
    return Section("Section 4, discount", about, (*_cases(), *_refuted()))


def _cases() -> tuple[Table, ...]:
    vectors = {name: vector(f"DCG(discount={discount}{base})") for name, discount, base in _CASES}
    rows: list[tuple[Cell, ...]] = [
        (name, *(values[rank - 1] for rank in _SHOWN), values[0] / values[-1]) for name, values in vectors.items()
    ]
    columns = (
        Column("discount"),
        *(Column(str(rank), "number", 2) for rank in _SHOWN),
        Column("from rank 1", "share"),
    )
    notes = (
        "from rank 1: the part of DCG at rank 10 that the first document gives",
        "G' has no gain at ranks 4, 5 and 10",
    )
    cg, at_1 = vector("CG"), vectors["df = 1 (CG)"]
    near_1, sharp = vectors["log, b = 1.0001"], vectors["df = i"]
    two_hundred = [1] * 200
    kept = {
        base: parse(f"DCG(discount=jarvelin2002, base={base})@200").score(two_hundred) / 200 for base in (2, 10, 100)
    }
    boost = parse(f"DCG(discount={_NO_CUT}, base=10)@2").score([0, 1])
    claims = (
        statement("df = 1", "DCG = CG", f"{at_1[-1]:g} at rank 10, CG is {cg[-1]:g}", at_1 == cg),
        statement(
            "df = i",
            "a very sharp discount",
            f"{sharp[-1]:.2f} at rank 10, {100 * sum(_parts(sharp)[:3]) / sharp[-1]:.0f} % from ranks 1-3",
            sharp[-1] < vectors["log, b = 2"][-1],
        ),
        statement(
            "b approaches 1",
            "finally only the first document matters",
            f"b = 1.0001: {100 * GRADES[0] / near_1[-1]:.2f} % from rank 1",
            GRADES[0] / near_1[-1] > 0.99,
        ),
        statement(
            "b approaches infinity",
            "DCG approaches CG",
            f"b = 1000000: {vectors['log, b = 1000000'][-1]:g} at rank 10",
            vectors["log, b = 1000000"] == cg,
            "up to rank b nothing is discounted, so at rank 10 it is CG from b = 10 on",
        ),
        statement(
            "b above 100",
            "a very marginal discount",
            f"{100 * kept[100]:.1f} % of CG left at rank 200",
            kept[100] > 0.9,
            f"200 documents of equal gain; with base 10 {100 * kept[10]:.1f} %, with base 2 {100 * kept[2]:.1f} %",
        ),
        statement(
            "ranks 2 to b without the cut-off",
            "a boost instead of a discount",
            f"b = 10: rank 2 counts {boost:.2f} times",
            boost > 1,
        ),
    )
    table = Table(columns, tuple(rows), "DCG' by rank under each discount", notes)
    return (table, *claims_tables("Said of the discount", claims))


def _parts(cumulated: list[float]) -> list[float]:
    return [later - before for before, later in zip([0.0, *cumulated], cumulated, strict=False)]


def _refuted() -> tuple[Table | str, ...]:
    rows: list[tuple[Cell, ...]] = []
    orders: dict[str, set[str]] = {}
    for discount in (_NO_CUT, "burges2005"):
        for base in ("1.2", "2"):
            measure = parse(f"DCG(discount={discount}, base={base})@4")
            early, late = measure.score(EARLY), measure.score(LATE)
            better = "1 0 0 0" if early > late else "0 0 0 3"
            orders.setdefault(discount, set()).add(better)
            rows.append((discount, base, early, late, better))
    columns = (
        Column("discount"),
        Column("b"),
        Column("1 0 0 0", "number", 2),
        Column("0 0 0 3", "number", 2),
        Column("the better list"),
    )
    table = Table(columns, tuple(rows), "Two lists, the grades 1 0 0 0 and 0 0 0 3, by DCG at rank 4")
    claims = (
        statement(
            "jarvelin2000: log_b i from rank 2 on",
            "the base does not affect the order",
            "it does" if len(orders[_NO_CUT]) > 1 else "it does not",
            len(orders[_NO_CUT]) == 1,
            "a change of the base multiplies all divisors alike, except that of rank 1, which stays 1",
        ),
    )
    others = len(orders["burges2005"])
    burges = (
        "With log_b (i + 1) from rank 1 on (burges2005), which the article does not have, a change of the base "
        f"multiplies every divisor alike: here it makes {'no difference' if others == 1 else 'a difference'}."
    )
    return (table, *claims_tables("The claim about the base without the cut-off", claims), burges)
