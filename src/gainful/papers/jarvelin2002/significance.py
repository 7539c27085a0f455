"""Tables 1 and 2 of jarvelin2002, and the recall bases of its section 3.2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.measures.base import Measure
from gainful.notation import count_of, number_text
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import Claim, Section, beside, claims_tables, number_claim, undecided
from gainful.papers.jarvelin2002.equations import RUNS_2, TABLE_1, TABLE_1_SHARES, TABLE_1_TOTALS, TABLE_2
from gainful.papers.jarvelin2002.setting import (
    RELEVANT,
    SHARES,
    Weights,
    base_name,
    has_own_judgments,
    has_own_topics,
    measure,
    relevant_by_level,
)
from gainful.stats.procedures import PaperRow, paper_rows
from gainful.stats.rank_tests import conover, protected
from gainful.tasks.compare import Comparison
from gainful.tasks.judgments.judges import JudgmentComparison, compare_judgments, cross_table

LAST_RANK = 200
#: More systems than these stand in rows, not in columns; and so do some with longer names than these letters in all.
_MOST_COLUMNS, _MOST_LETTERS = 6, 50


_TEST = "Friedman (F form, mean ranks for ties), then Conover without correction where Friedman reaches the level"


def table_2_measures(weights: Weights) -> dict[str, Measure]:
    """The six rows of Table 2, by what the article calls them."""
    return {
        f"{kind} ({gain})": measure(kind, gain, LAST_RANK, over_ranks=True)
        for gain in (weights.flat, weights.tenfold, weights.top)
        for kind in ("nCG", "nDCG")
    }


def recall_section(judged: Judged, weights: Weights) -> Section:
    """Section 3.2: how many relevant documents there are at each level."""
    counts, queries = relevant_by_level(judged, weights), len(judged.qrels.query_ids)
    total = sum(counts)
    columns = (
        Column("level"),
        Column("documents", "count"),
        Column("share", "share"),
        Column("per query", "number", 1),
        Column("queries with some", "count"),
    )
    rows: list[tuple[Cell, ...]] = []
    for level, count in zip(weights.levels.levels, counts, strict=True):
        some = int(np.count_nonzero(judged.recall_base(None, level)))
        rows.append((number_text(level), count, count / total if total else None, count / queries, some))
    some = int(np.count_nonzero(judged.recall_base(None, None)))
    rows.append(("all above 0", total, 1.0 if total else None, total / queries, some))
    table = Table(columns, tuple(rows), f"Relevant documents of {count_of(queries, 'query', 'queries')} by level")
    claims = _recall_claims(judged, weights, counts)
    about = "The recall bases: what there is to be found at each level."
    return Section("Section 3.2", about, (table, *claims_tables("Said of the recall bases", claims)))


def _recall_claims(judged: Judged, weights: Weights, counts: list[int]) -> tuple[Claim, ...]:
    total, queries = sum(counts), len(judged.qrels.query_ids)
    higher = sum(counts[1:]) / queries
    names = ("marginal", "fairly relevant", "highly relevant")
    if has_own_judgments(judged, weights):
        return (
            number_claim("relevant documents", RELEVANT, total, 0),
            *(
                number_claim(f"% {name}", 100 * said, 100 * count / total, 1)
                for name, said, count in zip(names, SHARES, counts, strict=True)
            ),
            number_claim("documents above level 1 per topic", 29.9, higher, 1),
        )
    shares = (
        tuple(
            beside(f"% {name}", f"{100 * said:.1f}", f"{100 * count / total:.1f}")
            for name, said, count in zip(names, SHARES, counts, strict=True)
        )
        if weights.are_the_papers
        else (
            beside("% at the lowest level", f"{100 * SHARES[0]:.1f}", f"{100 * counts[0] / total:.1f}"),
            beside("% at the highest level", f"{100 * SHARES[-1]:.1f}", f"{100 * counts[-1] / total:.1f}"),
        )
    )
    return (
        beside("relevant documents", f"{RELEVANT:,}", f"{total:,}"),
        *shares,
        beside("documents above level 1 per topic", "29.9", f"{higher:.1f}"),
    )


def table_1_section(judged: Judged, other: Qrels) -> Section:
    """Table 1: what these judgments made of the documents that others had judged before."""
    found = compare_judgments(Judged(other, judged.policy), judged, draws=0)
    table = cross_table(found)
    table = replace(
        table,
        title=f"These judgments (B, {base_name(judged.qrels)}) by the other ones (A, {base_name(other)})",
        notes=(
            f"{count_of(found.documents, 'document')} of {count_of(found.queries, 'query', 'queries')} that both judged"
            f"; {found.only_a:,} in A only, {found.only_b:,} in B only",
        ),
    )
    columns = ["TREC relevant", "TREC irrelevant", "total"]
    printed = Table(
        (
            Column("level"),
            *(each for name in columns for each in (Column(name, "count"), Column(f"% of {name}", "number", 1))),
        ),
        (
            *(
                (f"Rel={level}", *(cell for pair in zip((*row, sum(row)), shares, strict=True) for cell in pair))
                for level, (row, shares) in enumerate(zip(TABLE_1, TABLE_1_SHARES, strict=True))
            ),
            ("total", *(cell for total in TABLE_1_TOTALS for cell in (total, 100.0))),
        ),
        "Table 1 as printed (38 topics of TREC-7 and TREC-8)",
    )
    about = "Two sets of judgments crossed: what the new judges made of what the old ones called relevant or not."
    return Section("Table 1", about, (table, *claims_tables("Said of Table 1", _stricter(found)), printed))


def _stricter(found: JudgmentComparison) -> tuple[Claim, ...]:
    pairs = found.grade_pairs
    relevant = sum(pair.documents for pair in pairs if pair.a > 0)
    irrelevant = found.documents - relevant
    both = sum(pair.documents for pair in pairs if pair.a > 0 and pair.b > 0)
    neither = sum(pair.documents for pair in pairs if pair.a <= 0 and pair.b <= 0)
    return (
        beside("old irrelevant that stay irrelevant", "93.8 %", _share(neither, irrelevant)),
        beside("old relevant that stay relevant", "75 %", _share(both, relevant)),
        beside("old relevant that become irrelevant", "25 %", _share(relevant - both, relevant)),
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "there are none"


def table_2_section(judged: Judged, weights: Weights, evaluations: Mapping[str, Evaluation]) -> Section:
    """Table 2: means over queries of averages over ranks, and who beats whom."""
    measures = table_2_measures(weights)
    matrices = {name: ScoreMatrix.from_evaluations(evaluations, each) for name, each in measures.items()}
    # Every row on all queries that have its scores: not what all six rows have in common.
    found = Comparison(matrices, {}, {}, paper_rows(matrices), places=3)
    means, tests = found.page().tables
    is_narrow = len(evaluations) <= _MOST_COLUMNS and sum(map(len, evaluations)) <= _MOST_LETTERS
    parts: list[Table | str] = [means] if is_narrow else [*_systems_as_rows(found), _machine_means(means)]
    parts += [
        tests,
        *claims_tables("Said of Table 2", _test_claims(found.papers)),
        _printed(judged),
        *_empty(judged, weights),
    ]
    about = (
        "nCG and nDCG (b = 2), averaged over ranks 1 to 200, then over queries; Friedman's test with Conover's "
        f"comparisons, analyses of variance beside. {weights.shown}"
    )
    return Section("Table 2", about, tuple(parts))


def _machine_means(means: Table) -> Table:
    """The means with systems as columns, and the whole text of who beats whom: too wide for people."""
    return replace(means, columns=tuple(replace(column, for_machines=True) for column in means.columns), notes=())


def _systems_as_rows(found: Comparison) -> tuple[Table, Table]:
    """For people: systems as rows, measures as columns; and who beats whom, of many systems how many others."""
    rows = found.papers
    systems, names = rows[0].systems, [row.measure for row in rows]
    columns = (Column("system"), *(Column(name, "number", 3) for name in names))
    cells: list[tuple[Cell, ...]] = [
        (system, *(float(row.means[i]) for row in rows)) for i, system in enumerate(systems)
    ]
    best = frozenset(
        (i, j) for j, row in enumerate(rows, 1) for i in range(len(systems)) if row.means[i] == max(row.means)
    )
    is_even = len({row.queries for row in rows}) == 1
    over = count_of(rows[0].queries, "query", "queries") if is_even else "queries"
    each = ", ".join(f"{row.measure} {row.queries:,}" for row in rows)
    notes = ("* best of its column", *(() if is_even else (f"queries that count: {each}",)))
    means = Table(columns, tuple(cells), f"Means over {over}", notes, best, for_people=True)
    return means, _who_beats_whom(rows) if len(systems) <= _MOST_COLUMNS else _how_many(rows)


def _who_beats_whom(rows: tuple[PaperRow, ...]) -> Table:
    """The paper's notation in a table of its own."""
    told = tuple((row.measure, row.verdict or "none") for row in rows)
    notes = (
        _TEST,
        "stars: one for p < 0.05, two for p < 0.01; who is better is decided by rank sums",
    )
    columns = (Column("measure"), Column("statistical significance"))
    return Table(columns, told, "Who beats whom", notes, for_people=True)


def _how_many(rows: tuple[PaperRow, ...]) -> Table:
    systems, names = rows[0].systems, [row.measure for row in rows]
    counted = [_wins_and_losses(row) for row in rows]
    told = tuple(
        (system, *(f"{wins[i]} / {losses[i]}" for wins, losses in counted)) for i, system in enumerate(systems)
    )
    pairs = len(systems) * (len(systems) - 1) // 2
    notes = (
        f"{_TEST}; here at 0.05",
        f"pairs told apart, of {pairs}: "
        + ", ".join(f"{name} {sum(wins)}" for name, (wins, _) in zip(names, counted, strict=True)),
        "csv and jsonl have it in the paper's notation",
    )
    title = "How many systems each one beats / is beaten by"
    return Table((Column("system"), *map(Column, names)), told, title, notes, for_people=True)


def _wins_and_losses(row: PaperRow) -> tuple[list[int], list[int]]:
    comparisons = conover(row.friedman)
    told = protected(row.friedman, comparisons, 0.05)
    first_wins = comparisons.difference > 0
    winner = np.where(first_wins, comparisons.first, comparisons.second)[told]
    loser = np.where(first_wins, comparisons.second, comparisons.first)[told]
    count = len(row.systems)
    wins: list[int] = np.bincount(winner, minlength=count).tolist()
    losses: list[int] = np.bincount(loser, minlength=count).tolist()
    return wins, losses


def _test_claims(rows: tuple[PaperRow, ...]) -> tuple[Claim, ...]:
    which = "the paper does not say which analysis of variance it used"
    return (
        _reaching("Friedman tells runs apart", "2 of 6 rows", [row.friedman_p for row in rows]),
        _reaching("two-way ANOVA does", "0 of 6 rows", [row.two_way.systems.p for row in rows]),
        _reaching("one-way ANOVA does", "0 of 6 rows", [row.one_way.systems.p for row in rows], which),
    )


def _reaching(what: str, says: str, p_values: list[float | None], note: str = "") -> Claim:
    if all(p is None for p in p_values):
        return undecided(what, says, "there is nothing to test", note)
    return beside(what, says, f"{sum(p is not None and p < 0.05 for p in p_values)} of {len(p_values)} rows", note)


def _printed(judged: Judged) -> Table:
    columns = (
        Column("measure"),
        *(Column(run, "number", 3) for run in RUNS_2),
        Column("statistical significance", none=""),
    )
    rows: list[tuple[Cell, ...]] = [(name, *means, stars or "none") for name, (means, stars) in TABLE_2.items()]
    note = (
        "the same topics; the runs are not public as A to E"
        if has_own_topics(judged)
        else "for orientation: other topics, judgments and runs"
    )
    return Table(columns, tuple(rows), "Table 2 as printed (five runs of TREC-7, 20 topics)", (note,))


def _empty(judged: Judged, weights: Weights) -> list[str]:
    """What the highest level alone leaves undefined."""
    empty = int(np.count_nonzero(judged.recall_base(None, weights.levels.levels[-1]) == 0))
    if not empty:
        return []
    done = {"zero": "each scores 0", "skip": "each is left out"}.get(judged.policy.undefined, "")
    verb = "has" if empty == 1 else "have"
    return [
        f"{count_of(empty, 'query', 'queries')} of {len(judged.qrels.query_ids):,} {verb} no document of the highest "
        f"level: with {weights.top} {done} (undefined={judged.policy.undefined})."
    ]
