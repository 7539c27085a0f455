"""Two systems compared, as a page: a sentence, the numbers, how large it is, and the queries that decide it.

The papers' table: systems as columns, measures as rows, and who beats whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gainful.notation import count_of
from gainful.pages.charts import Chart
from gainful.pages.page import Cell, Column, Kind, Page, Table
from gainful.stats.paired import FEW_QUERIES
from gainful.stats.settled import settled_differences
from gainful.tasks.compare.compare_charts import (
    difference_plot,
    difference_sentence,
    interval_text,
    level_text,
    p_words,
)

if TYPE_CHECKING:
    from gainful.stats.effects import Decider, PairResult
    from gainful.tasks.compare import Comparison


def pair_page(found: Comparison) -> Page:
    """The primary measure decides; others are beside it."""
    results = list(found.pairs.values())
    first, places = results[0], found.places
    parts: list[Table | Chart | str] = ["\n".join(_beginning(result) for result in results)]
    parts += [_differences(results, places), _sizes(results, places)]
    for result in results:
        parts += _deciders(result, places, len(results) > 1)
    if first.nonzero:
        parts += [difference_plot(found.scores[found.primary], first)]
    parts += _for_machines(found)
    return Page("compare", tuple(parts), (*_notes(results), *found.signatures), _header(found))


def _beginning(result: PairResult) -> str:
    sentence = difference_sentence(result)
    if result.n < FEW_QUERIES and result.detectable is not None:
        queries = count_of(result.n, "query", "queries")
        return f"With {queries} a difference is detectable from {result.detectable:.3f} on. {sentence}"
    return sentence


def _differences(results: list[PairResult], places: int) -> Table:
    a, b = results[0].names
    columns = (
        Column("measure"),
        Column(b, "number", places),
        Column(a, "number", places),
        Column("difference", "number", places),
        Column(f"{level_text(results[0].interval)} interval"),
        Column("p"),
        Column("detectable", "number", places),
        Column("better, tied, worse"),
        Column("verdict"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            result.measure + (" (lower is better)" if result.better == "lower" else ""),
            result.mean_b,
            result.mean_a,
            result.difference,
            interval_text(result.interval, places) + (" (a guide)" if result.interval.is_stopgap else ""),
            result.test.p_text.removeprefix("p ").removeprefix("= "),
            result.detectable,
            f"{result.wins}, {result.ties}, {result.losses}",
            _verdict(result),
        )
        for result in results
    ]
    notes = [f"difference: {a} - {b}; detectable: what as many queries show in 80 % of cases (t test)"]
    notes += list(dict.fromkeys(note for result in results for note in _test_notes(result)))
    return Table(columns, rows, "The difference", tuple(notes), for_people=True)


def _verdict(result: PairResult) -> str:
    if not result.nonzero:
        return "identical scores"
    if result.verdict is None:
        return "needs a margin"
    if result.margin is None:
        return result.verdict
    beside = ", not inferior" if result.margin.is_not_inferior and result.verdict == "cannot tell" else ""
    return (
        f"equivalent within {result.margin.margin:g}" if result.verdict == "equivalent" else result.verdict
    ) + beside


def _test_notes(result: PairResult) -> tuple[str, str]:
    test = result.test
    how = ""
    if test.draws is not None:
        drawn = count_of(test.draws, "sample" if test.name == "bootstrap" else "flip")
        how = f", all there are ({drawn})" if test.is_enumerated else f", {drawn}, seed {result.seed}"
    return f"test: {test.name}{how}; interval: {result.interval.method}", f"H0: {test.hypothesis}"


def _sizes(results: list[PairResult], places: int) -> Table:
    columns = (
        Column("measure"),
        Column("relative"),
        Column("d_z", "number", places),
        Column("interval of d_z"),
        Column("g_z", "number", places),
        Column("d_av", "number", places),
        Column("rank-biserial", "number", places),
        Column("interval of it"),
        Column("queries won", "share"),
    )
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        effect, practical = result.effect, result.practical
        rows.append(
            (
                result.measure,
                "-" if practical is None else f"{100 * practical.relative:+.1f} % ({practical.label})",
                effect.d_z,
                "-" if effect.d_z_interval is None else interval_text(effect.d_z_interval, places),
                effect.g_z,
                effect.d_av,
                effect.rank_biserial,
                "-" if (of_ranks := effect.rank_biserial_interval) is None else interval_text(of_ranks, places),
                effect.share_won,
            )
        )
    notes = (
        f"relative: to the mean of {results[0].names[1]}; under 5 % marginal, to 10 % noticeable, above essential",
        "d_z: mean / sd of the differences; g_z: without its bias; d_av: by the spread of both systems' scores",
    )
    return Table(columns, rows, "How large it is", notes, for_people=True)


def _deciders(result: PairResult, places: int, several: bool) -> Iterator[Table]:
    a, b = result.names
    of = f", {result.measure}" if several else ""
    columns = (
        Column("query"),
        Column(b, "number", places),
        Column(a, "number", places),
        Column("difference", "number", places),
        Column("of all differences", "share"),
    )
    for name, rows in ((a, result.for_a), (b, result.for_b)):
        if rows:
            yield Table(columns, tuple(map(_row, rows)), f"Queries that speak most for {name}{of}", for_people=True)


def _row(decider: Decider) -> tuple[Cell, ...]:
    return (decider.query, decider.b, decider.a, decider.difference, decider.share)


def _notes(results: list[PairResult]) -> list[str]:
    several = len(results) > 1
    found = [
        f"note: {f'{result.measure}: ' if several else ''}{warning}"
        for result in results
        for warning in result.warnings
    ]
    if several:
        others = ", ".join(result.measure for result in results[1:])
        found.append(f"{results[0].measure} is the primary measure; {others}: secondary, each with a test of its own")
        found.append(f"{count_of(len(results), 'test')} in all, not corrected for each other; --family all does that")
    return found


def _header(found: Comparison) -> dict[str, object]:
    tests = {}
    for measure, result in found.pairs.items():
        test = result.test
        tests[measure] = {
            "test": test.name,
            "hypothesis": test.hypothesis,
            "statistic": test.statistic,
            "draws": test.draws,
            "enumerated": test.is_enumerated,
            "monte_carlo_error": test.monte_carlo_error,
            "null": None if test.null is None else {"sd": test.null.sd, "critical": test.null.critical},
            "interval": result.interval.method,
        }
    first = next(iter(found.pairs.values()))
    return {
        "a": first.names[0],
        "b": first.names[1],
        "primary": found.primary,
        "alpha": first.alpha,
        "seed": first.seed,
        "tests": tests,
    }


def _for_machines(found: Comparison) -> Iterator[Table]:
    """All numbers of every measure, and every query's scores."""
    records = [_record(result) for result in found.pairs.values()]
    columns = tuple(Column(name, kind, for_machines=True) for name, (kind, _) in records[0].items())
    yield Table(columns, [tuple(value for _, value in record.values()) for record in records], "pairs")
    rows: list[tuple[Cell, ...]] = []
    for measure, result in found.pairs.items():
        matrix = found.scores[measure]
        a, b = (matrix.column(name) for name in result.names)
        lists = (a.tolist(), b.tolist(), settled_differences(a, b).tolist())
        rows += list(zip([measure] * result.n, matrix.queries, *lists, strict=True))
    columns = (
        *(Column(name, for_machines=True) for name in ("measure", "query")),
        *(Column(name, "number", for_machines=True) for name in ("a", "b", "difference")),
    )
    yield Table(columns, rows, "queries")


def _record(result: PairResult) -> dict[str, tuple[Kind, Cell]]:
    """Every number of a result under a name, with what it is."""
    test, effect, practical, margin = result.test, result.effect, result.practical, result.margin
    of_d_z, of_ranks = effect.d_z_interval, effect.rank_biserial_interval
    texts: dict[str, Cell] = {
        "measure": result.measure,
        "a": result.names[0],
        "b": result.names[1],
        "better": result.better,
        "verdict": result.verdict,
        "test": test.name,
        "enumerated": _yes(test.is_enumerated),
        "interval": result.interval.method,
        "stopgap": _yes(result.interval.is_stopgap),
        "label": None if practical is None else practical.label,
        "not_inferior": None if margin is None else _yes(margin.is_not_inferior),
    }
    counts: dict[str, Cell] = {
        "queries": result.n,
        "nonzero": result.nonzero,
        "wins": result.wins,
        "ties": result.ties,
        "losses": result.losses,
        "draws": test.draws,
        "seed": result.seed,
    }
    numbers: dict[str, Cell] = {
        "mean_a": result.mean_a,
        "mean_b": result.mean_b,
        "difference": result.difference,
        "sd": result.sd,
        "low": result.interval.low,
        "high": result.interval.high,
        "alpha": result.alpha,
        "p": test.p,
        "statistic": test.statistic,
        "monte_carlo_error": test.monte_carlo_error,
        "detectable": result.detectable,
        "relative": None if practical is None else practical.relative,
        "d_z": effect.d_z,
        "d_z_low": None if of_d_z is None else of_d_z.low,
        "d_z_high": None if of_d_z is None else of_d_z.high,
        "g_z": effect.g_z,
        "d_av": effect.d_av,
        "rank_biserial": effect.rank_biserial,
        "rank_biserial_low": None if of_ranks is None else of_ranks.low,
        "rank_biserial_high": None if of_ranks is None else of_ranks.high,
        "share_won": effect.share_won,
        "margin": None if margin is None else margin.margin,
        "margin_low": None if margin is None else margin.interval.low,
        "margin_high": None if margin is None else margin.interval.high,
    }
    record: dict[str, tuple[Kind, Cell]] = {name: ("text", value) for name, value in texts.items()}
    record |= {name: ("count", value) for name, value in counts.items()}
    return record | {name: ("number", value) for name, value in numbers.items()}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


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
