"""Tables 1 and 2 of jarvelin2002, as printed and on other data, and the recall bases of its section 3.2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from gainful import Evaluation, Measure, Qrels, ScoreMatrix, compare_judgments
from gainful.data.judged import Judged
from gainful.notation import count_of, listed
from gainful.pages.page import Table, head
from gainful.tasks.judgments.judges import cross_table
from gainful_papers.claims import Claim, Section, claims_tables, table
from gainful_papers.jarvelin2002.setting import HIGHER_PER_TOPIC, RELEVANT, SHARES, TOPICS, Weights, base_name
from gainful_papers.significance import STARS, TEST, FriedmanTable, friedman_rows

# Table 1: rows are the new levels 0 to 3; columns are TREC relevant, irrelevant and total.
TABLE_1 = ((691, 2780), (1004, 134), (724, 40), (353, 11))
TABLE_1_TOTALS = (2772, 2965, 5737)
TABLE_1_SHARES = ((25.0, 93.8, 60.5), (36.2, 4.5, 19.8), (26.1, 1.3, 13.3), (12.7, 0.4, 6.4))

#: Table 2: means of runs A to E, and significant differences.
TABLE_2: dict[str, tuple[tuple[float, ...], str]] = {
    "nCG (0-1-1-1)": ((0.242, 0.271, 0.293, 0.318, 0.343), ""),
    "nDCG (0-1-1-1)": ((0.292, 0.294, 0.287, 0.335, 0.331), ""),
    "nCG (0-1-10-100)": ((0.254, 0.305, 0.313, 0.316, 0.342), "D,E > A**"),
    "nDCG (0-1-10-100)": ((0.211, 0.238, 0.236, 0.279, 0.247), "D > A*"),
    "nCG (0-0-0-1)": ((0.244, 0.301, 0.309, 0.309, 0.329), ""),
    "nDCG (0-0-0-1)": ((0.192, 0.220, 0.223, 0.259, 0.224), ""),
}

#: Documents needed by the best and the worst run for the same gain, per figure (sections 3.4 and 3.5).
READINGS = {"1(a)": (30, 90), "2(a)": (40, 95), "2(b)": (10, 50)}


def printed_table_1() -> Section:
    """Check the shares in Table 1 against its counts."""
    counts = [(*row, sum(row)) for row in TABLE_1]
    totals = [sum(column) for column in zip(*counts, strict=True)]
    claims = [Claim.vector("totals", TABLE_1_TOTALS, totals, 0)]
    for level, (row, said) in enumerate(zip(counts, TABLE_1_SHARES, strict=True)):
        found = [100 * count / total for count, total in zip(row, totals, strict=True)]
        claim = Claim.vector(f"Rel={level}: % of TREC relevant, irrelevant, all", said, found, 1)
        if claim.verdict != "agrees":
            reason = "one share is 0.1 higher than its count, so that the printed column adds up to 100.0"
            claim = replace(claim, verdict="erratum", note=reason)
        claims.append(claim)
    # Section 3.2 gives 1,182 relevant documents for 20 topics, and their shares by level.
    higher = RELEVANT * sum(SHARES[1:]) / len(TOPICS)
    claims.append(Claim.number("documents at levels 2 and 3 per topic (section 3.4)", HIGHER_PER_TOPIC, higher, 1))
    about = "New judgments by original judgments: shares computed from the printed counts."
    return Section("Table 1, as printed", about, claims_tables("Shares from counts", claims))


def printed_readings() -> Section:
    """Check how much further users read with the worst run, from the article's readings of its figures."""
    more = [100 * (worst / best - 1) for best, worst in READINGS.values()]
    best, worst = READINGS["1(a)"]
    read = "; ".join(f"Figure {figure} {best} and {worst}" for figure, (best, worst) in READINGS.items())
    claims = (
        Claim.number("documents, worst / best run, Figure 1(a)", 3, worst / best, 0),
        Claim.statement(
            "more documents with the worst run (section 4)",
            "100 to 500%",
            ", ".join(f"{value:.0f}%" for value in more),
            all(100 <= value <= 500 for value in more),
            f"the article's readings for the best and the worst run: {read}; in Figure 1(b) the worst run does not "
            "reach the gain within 100 documents",
        ),
    )
    about = "How much further users have to read with the worst run, from the article's readings of its figures."
    return Section("Figures 1 and 2, as printed", about, claims_tables("Documents needed", claims))


#: Most systems, and most letters of their names, that are shown as columns; otherwise systems are rows.
_MOST_COLUMNS, _MOST_LETTERS = 6, 50


def table_2_measures(weights: Weights) -> dict[str, Measure]:
    """Return the measures of the six rows of Table 2, by name."""
    return {f"{kind} ({gain})": weights.average(kind, gain) for gain in weights.gains for kind in ("nCG", "nDCG")}


def recall_section(judged: Judged, weights: Weights) -> Section:
    """Build section 3.2: the number of relevant documents at each level."""
    counts, queries = weights.counts, len(judged.qrels.query_ids)
    total = sum(counts)
    names = {"% marginal": 0, "% fairly relevant": 1, "% highly relevant": 2}
    if not weights.are_the_papers:
        names = {"% at the lowest level": 0, "% at the highest level": -1}
    by_level_claims = [(name, 100 * SHARES[i], 100 * counts[i] / total) for name, i in names.items()]
    numbers = [
        ("relevant documents", RELEVANT, total, 0),
        *((*each, 1) for each in by_level_claims),
        ("documents above level 1 per topic", HIGHER_PER_TOPIC, sum(counts[1:]) / queries, 1),
    ]
    claims = [
        Claim.number(what, says, finds, places)
        if weights.of_its_judgments
        else Claim.comparison(what, f"{says:,.{places}f}", f"{finds:,.{places}f}")
        for what, says, finds, places in numbers
    ]
    about = "Recall bases: relevant documents at each level."
    return Section("Section 3.2", about, claims_tables("Statements about the recall bases", claims))


def table_1_section(judged: Judged, other: Qrels) -> Section:
    """Build Table 1: these judgments crossed with an earlier set."""
    found = compare_judgments(Judged(other, judged.policy), judged, draws=0)
    crossed = replace(
        cross_table(found),
        title=f"These judgments (B, {base_name(judged.qrels)}) by the other set (A, {base_name(other)})",
        notes=(
            f"{count_of(found.documents, 'document')} of {count_of(found.queries, 'query', 'queries')} judged in both; "
            f"{found.only_a:,} only in A, {found.only_b:,} only in B",
        ),
    )
    printed_rows = [(f"Rel={level}", (*row, sum(row)), TABLE_1_SHARES[level]) for level, row in enumerate(TABLE_1)]
    printed_rows.append(("total", TABLE_1_TOTALS, (100.0, 100.0, 100.0)))
    printed = table(
        "Table 1 as printed (38 topics of TREC-7 and TREC-8)",
        "level | TREC relevant # | % of TREC relevant .1 | TREC irrelevant # | % of TREC irrelevant .1 | total # | "
        "% of total .1",
        ((name, *chain(*zip(row, shares, strict=True))) for name, row, shares in printed_rows),
    )
    counts = [(pair.a > 0, pair.b > 0, pair.documents) for pair in found.grade_pairs]
    relevant = sum(count for old, _, count in counts if old)
    both = sum(count for old, new, count in counts if old and new)
    neither = sum(count for old, new, count in counts if not old and not new)
    claims = [
        Claim.comparison(what, says, f"{100 * part / whole:.1f}%" if whole else "none")
        for what, says, part, whole in (
            ("irrelevant documents still irrelevant", "93.8%", neither, found.documents - relevant),
            ("relevant documents still relevant", "75%", both, relevant),
            ("relevant documents now irrelevant", "25%", relevant - both, relevant),
        )
    ]
    about = "Two sets of judgments crossed: the new grades of documents that were relevant or irrelevant before."
    return Section.of("Table 1", about, crossed, claims_tables("Statements about Table 1", claims), printed)


def table_2_section(weights: Weights, evaluations: Mapping[str, Evaluation]) -> Section:
    """Build Table 2: means over queries of averages over ranks, and significant pairs."""
    measures = table_2_measures(weights)
    matrices = {name: ScoreMatrix.from_evaluations(evaluations, each) for name, each in measures.items()}
    # Each row uses all queries for which it is defined, not the queries common to all six rows.
    found = FriedmanTable(friedman_rows(matrices), places=3)
    means, tests = found.tables()
    is_narrow = len(evaluations) <= _MOST_COLUMNS and sum(map(len, evaluations)) <= _MOST_LETTERS
    # With systems as columns and all significant pairs, the table can be too wide for people.
    for_machines = tuple(replace(column, for_machines=True) for column in means.columns)
    wide = *_systems_as_rows(found), replace(means, columns=for_machines, notes=())
    which = "the paper does not state which analysis of variance it used"
    claims = []
    for what, says, note, ps in (
        ("significant by Friedman", "2 of 6 rows", "", [row.friedman_p for row in found.rows]),
        ("significant by two-way ANOVA", "0 of 6 rows", "", [row.anova.systems.p for row in found.rows]),
        ("significant by one-way ANOVA", "0 of 6 rows", which, [row.anova.one_way.p for row in found.rows]),
    ):
        known = [p for p in ps if p is not None]
        finds = f"{sum(p < 0.05 for p in known)} of {len(ps)} rows"
        undecided = Claim.undecided(what, says, "nothing to test", note)
        claims.append(Claim.comparison(what, says, finds, note) if known else undecided)
    first = next(iter(evaluations.values()))
    empty = {str(gain): len(first.undefined(weights.average("nCG", gain))) for gain in weights.gains}
    without = "; ".join(f"{count:,} with {gain}" for gain, count in empty.items() if count)
    rule = (
        f"Queries without a document of positive gain ({without}) are left out of these rows (undefined=skip), as at "
        "each level of jarvelin2000."
    )
    used = listed([str(gain) for gain in weights.gains])
    about_weights = f"Weights, as in the paper: {used}."
    if used != "0-1-1-1, 0-1-10-100 and 0-0-0-1":
        about_weights = f"Weights: {used}; in the paper: 0-1-1-1, 0-1-10-100 and 0-0-0-1."
    return Section.of(
        "Table 2",
        f"nCG and nDCG (b = {weights.bases[0]}), averaged over ranks 1 to {weights.last_rank}, then over queries; "
        f"Friedman's test with Conover's comparisons, and analyses of variance. {about_weights}",
        means if is_narrow else wide,
        tests,
        claims_tables("Statements about Table 2", claims),
        table(
            "Table 2 as printed (five runs of TREC-7, 20 topics)",
            (*head("measure | A .3 | B .3 | C .3 | D .3 | E .3"), *head("statistical significance", none="")),
            ((name, *printed, stars or "none") for name, (printed, stars) in TABLE_2.items()),
            "the same topics; the identity of runs A to E is not public"
            if weights.of_its_topics
            else "for comparison only: other topics, judgments and runs",
        ),
        rule if without else "",
    )


def _systems_as_rows(found: FriedmanTable) -> tuple[Table, ...]:
    """Return means with systems as rows, and significant pairs unless there are many systems; for people."""
    rows = found.rows
    systems, names = rows[0].systems, [row.measure for row in rows]
    best = frozenset(
        (i, j) for j, row in enumerate(rows, 1) for i in range(len(systems)) if row.means[i] == max(row.means)
    )
    is_even = len({row.queries for row in rows}) == 1
    over = count_of(rows[0].queries, "query", "queries") if is_even else "queries"
    each = ", ".join(f"{row.measure} {row.queries:,}" for row in rows)
    means = table(
        f"Means over {over}",
        (*head("system"), *head(f"{name} .3" for name in names)),
        ((system, *(float(row.means[i]) for row in rows)) for i, system in enumerate(systems)),
        "* best in column",
        *(() if is_even else (f"queries: {each}",)),
        marked=best,
        for_people=True,
    )
    verdicts = ((row.measure, row.verdict or "none") for row in rows)
    pairs = table("Significant pairs", "measure | statistical significance", verdicts, TEST, STARS, for_people=True)
    return (means, pairs) if len(systems) <= _MOST_COLUMNS else (means,)
