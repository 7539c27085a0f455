"""The papers' table: systems as columns, measures as rows, and who beats whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gainful.notation import count_of
from gainful.render.difference_words import p_words
from gainful.render.page import Cell, Column, Page, Table

if TYPE_CHECKING:
    from gainful.comparison import Comparison


def papers_page(found: Comparison) -> Page:
    """Means, then Friedman's test with Conover's comparisons, and analyses of variance beside."""
    first = found.papers[0]
    is_even = len({row.queries for row in found.papers}) == 1
    columns = (
        Column("measure"),
        *(() if is_even else (Column("queries", "count"),)),
        *(Column(system, "number", found.places) for system in first.systems),
        Column("statistical significance", none=""),
    )
    rows: list[tuple[Cell, ...]] = [
        (row.measure, *(() if is_even else (row.queries,)), *map(float, row.means), row.verdict or "none")
        for row in found.papers
    ]
    notes = (
        "Friedman (F form, mean ranks for ties), then Conover without correction where Friedman reaches the level",
        "stars: one for p < 0.05, two for p < 0.01; who is better is decided by rank sums",
        "none: not told apart, which is not equal",
    )
    over = count_of(first.queries, "query", "queries") if is_even else "queries"
    means = Table(columns, rows, f"Means over {over}", notes)
    tests = (
        Column("measure"),
        Column("Friedman F", "number"),
        Column("p"),
        Column("two-way ANOVA F", "number"),
        Column("two-way p"),
        Column("one-way ANOVA F", "number"),
        Column("one-way p"),
        *(Column(f"{name} p value", "number", for_machines=True) for name in ("Friedman", "two-way", "one-way")),
    )
    overall: list[tuple[Cell, ...]] = []
    for row in found.papers:
        two_way, one_way = row.two_way.systems, row.one_way.systems
        tests_of_row = ((row.friedman.f, row.friedman_p), (two_way.f, two_way.p), (one_way.f, one_way.p))
        cells: list[Cell] = [row.measure]
        for f, p in tests_of_row:
            cells += [f, None if p is None else p_words(p)]
        overall.append((*cells, *(p for _, p in tests_of_row)))
    page_notes = (
        "comparisons depend on the systems compared; gainful compare without --papers has pairs that do not",
        *found.signatures,
    )
    header: dict[str, object] = {
        "systems": list(first.systems),
        "measures": [row.measure for row in found.papers],
        "queries": first.queries,
    }
    return Page("compare", (means, Table(tests, overall, "Overall tests")), page_notes, header)
