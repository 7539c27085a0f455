"""The tables of several systems: leaderboard, pairs, analysis of variance, Friedman, groups; and all for machines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.notation import printable
from gainful.pages.page import Cell, Column, Kind, Table
from gainful.tasks.compare.compare_charts import p_floor, p_words

if TYPE_CHECKING:
    from gainful.stats.anova import Effect
    from gainful.stats.groups import GroupComparison, PairVerdict
    from gainful.stats.procedures import SystemsResult
    from gainful.tasks.compare import Comparison

_LETTERS = "letters: sharing a letter means not told apart, not equal"
_BETTER, _WORSE = "†", "‡"


def leaderboard(result: SystemsResult, places: int) -> Table:
    """Systems, the best first, with the places that each may have."""
    family, ranks = result.family, result.friedman is not None
    columns = [Column("system"), Column(f"mean {family.measure}", "number", places)]
    if result.letters:
        columns.append(Column("letters", "marks"))
    if ranks:
        columns.insert(1, Column("mean rank", "number", places))
    columns += [Column("places"), Column("may be the best")]
    rows: list[tuple[Cell, ...]] = []
    for place, i in enumerate(family.order):
        interval = family.rank_intervals[i]
        row: list[Cell] = [family.systems[i], *([float(family.means[i])] if ranks else [])]
        row += [float(result.scores.means[i]), *([result.letters[place]] if result.letters else [])]
        row += [_span(interval.best, interval.worst), "yes" if interval.best == 1 else ""]
        rows.append(tuple(row))
    together = "all of them together" if family.is_simultaneous else "each by itself: some may well be wrong"
    notes = [f"places: from the systems that are told to be better to those told to be worse, {together}"]
    if result.letters:
        notes.append(_LETTERS)
    return Table(tuple(columns), rows, f"Leaderboard, {family.measure}", tuple(notes), for_people=True)


def _span(best: int, worst: int) -> str:
    return f"{best}-{worst}" if best < worst else str(best)


def baseline_table(result: SystemsResult, places: int) -> Table:
    """Every system beside the baseline."""
    family, floor = result.family, p_floor(result)
    baseline = family.baseline or ""
    columns = (
        Column("system"),
        Column(f"mean {family.measure}", "number", places),
        Column("", "marks"),
        Column("difference", "number", places),
        Column("simultaneous interval"),
        Column("p"),
        Column("adjusted p"),
        Column("verdict"),
    )
    rows: list[tuple[Cell, ...]] = []
    for i in family.order:
        mean = float(result.scores.means[i])
        if family.systems[i] == baseline:
            rows.append((baseline, mean, "", None, "", "", "", "the baseline"))
            continue
        pair = family.pair(family.systems[i], baseline)
        own = _own_floor(result)
        rows.append(
            (
                pair.a,
                mean,
                _mark(pair),
                pair.difference,
                _limits(pair, places),
                p_words(pair.p, own),
                p_words(pair.adjusted, floor),
                pair.verdict,
            )
        )
    note = f"{_BETTER} better, {_WORSE} worse than {printable(baseline, 40)}, after correction"
    return Table(columns, rows, f"{family.measure} against {printable(baseline, 40)}", (note,), for_people=True)


def _mark(pair: PairVerdict) -> str:
    return {"better": _BETTER, "worse": _WORSE}.get(pair.verdict, "")


def _limits(pair: PairVerdict, places: int) -> str:
    if pair.low is None or pair.high is None:
        return "-"
    if not math.isfinite(pair.low):
        return "without limits"
    low, high = (round(end, places) + 0.0 for end in (pair.low, pair.high))
    return f"{low:.{places}f} to {high:.{places}f}"


def _own_floor(result: SystemsResult) -> float | None:
    family = result.family
    return None if family.draws is None or family.is_enumerated else 1 / family.draws


def pair_table(result: SystemsResult, shown: Sequence[tuple[str, str]] | None, places: int) -> Table:
    """Pairs, the better system first: difference, interval, p alone and adjusted, verdict."""
    family, floor, own = result.family, p_floor(result), _own_floor(result)
    pairs = [family.pair(a, b) for a, b in (_pairs_in_order(result) if shown is None else shown)]
    is_ranks = result.conover is not None
    columns = [
        Column("system"),
        Column("other"),
        Column("difference of mean ranks" if is_ranks else "difference", "number", places),
    ]
    if family.half_width is not None:
        columns.append(Column("simultaneous interval"))
    columns += [Column("p alone"), Column(f"p {family.correction}")]
    if is_ranks:
        columns += [Column("p Conover"), Column("with Holm")]
    columns.append(Column("told apart"))
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        row: list[Cell] = [pair.a, pair.b, pair.difference]
        row += [_limits(pair, places)] if family.half_width is not None else []
        row += [p_words(pair.p, own), p_words(pair.adjusted, floor)]
        if result.conover is not None:
            place = _place(result, pair.a, pair.b)
            row += [p_words(float(result.conover.p[place])), p_words(float(result.conover.adjusted_p[place]))]
        row.append(_told_apart(result, pair))
        rows.append(tuple(row))
    alone = f"p alone: {family.test}"
    return Table(tuple(columns), rows, f"Pairs, {family.measure}", (alone,), for_people=True)


def _told_apart(result: SystemsResult, pair: PairVerdict) -> str:
    """Whether a pair differs, and who is better where that is not the one with the better mean."""
    family = result.family
    if pair.verdict == "cannot tell":
        return "cannot tell"
    leads = (pair.difference > 0) == (family.better == "higher")
    if pair.difference and leads == (pair.verdict == "better"):
        return "yes"
    return f"yes: {printable(pair.a if pair.verdict == 'better' else pair.b, 40)} is better"


def _pairs_in_order(result: SystemsResult) -> Iterator[tuple[str, str]]:
    family = result.family
    names = [family.systems[i] for i in family.order]
    if family.baseline is not None:
        yield from ((name, family.baseline) for name in names if name != family.baseline)
        return
    yield from ((names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names)))


def _place(result: SystemsResult, a: str, b: str) -> int:
    """The place of a pair among all of them, whichever comes first."""
    i, j = sorted(result.family.systems.index(name) for name in (a, b))
    m = len(result.family.systems)
    return i * (2 * m - i - 1) // 2 + j - i - 1


def anova_table(result: SystemsResult, places: int) -> Table:
    """The two-way table, with what holds if pairs do not vary alike."""
    table = result.anova
    if table is None:
        raise ValueError("no analysis of variance")
    columns = (
        Column("source"),
        Column("sum of squares", "number", places),
        Column("df", "count"),
        Column("mean square", "number", places + 2),
        Column("F", "number", 3),
        Column("p"),
        Column("p value", "number", for_machines=True),
    )

    def row(name: str, effect: Effect) -> tuple[Cell, ...]:
        p = "" if effect.p is None else p_words(effect.p)
        return (name, effect.sum_of_squares, effect.df, effect.mean_square, effect.f, p, effect.p)

    notes = []
    if table.corrected_p is not None:
        notes.append(f"Greenhouse-Geisser: epsilon {table.epsilon:.3f}, p of the systems {p_words(table.corrected_p)}")
    spread = table.spread
    if spread is not None:
        notes.append(
            f"sd of paired differences: {spread.low:.4f} to {spread.high:.4f} (5 to 95 % of the pairs), "
            f"median {spread.median:.4f}; the model takes all for {spread.pooled:.4f}"
        )
    notes.append("what a query does to one system only is in the residual")
    rows = [row("systems", table.systems), row("queries", table.queries), row("residual", table.residual)]
    return Table(columns, rows, f"Two-way analysis of variance of {result.family.measure}", tuple(notes))


def friedman_table(result: SystemsResult) -> Table:
    """Friedman's test in both forms, and how far queries agree."""
    found = result.friedman
    if found is None:
        raise ValueError("no ranks")
    exact = Column("p value", "number", for_machines=True)
    columns = (Column("test"), Column("statistic", "number"), Column("df"), Column("p"), exact)
    df, rest = found.df
    rows: list[tuple[Cell, ...]] = [
        ("Friedman chi2", found.chi2, str(df), p_words(found.chi2_p), found.chi2_p),
        ("Iman-Davenport F", found.f, f"{df}, {rest}", p_words(found.p), found.p),
    ]
    note = f"Kendall's W {found.w:.4f}: 0 if queries order systems at random, 1 if all alike; corrected for ties"
    return Table(columns, rows, f"Ranks within queries, {result.family.measure}", (note,))


def measures_table(found: Comparison) -> Table:
    """Systems by all measures, as papers print them: marks after correction, the best emphasised."""
    results = list(found.systems.values())
    first = results[0]
    columns = [Column("system")]
    has_marks = [bool(result.letters) or result.family.baseline is not None for result in results]
    for result, marks in zip(results, has_marks, strict=True):
        columns.append(Column(result.scores.measure, "number", found.places))
        columns += [Column(f"{result.scores.measure} marks", "marks")] if marks else []
    names = [first.family.systems[i] for i in first.family.order]
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        row: list[Cell] = [name]
        for result, marks in zip(results, has_marks, strict=True):
            row.append(float(result.scores.means[result.scores.place(name)]))
            row += [_marks_of(result, name)] if marks else []
        rows.append(tuple(row))
    marked = set()
    for result in results:
        column = next(i for i, each in enumerate(columns) if each.name == result.scores.measure)
        means = [row[column] for row in rows]
        best = (max if result.scores.better == "higher" else min)(float(mean or 0.0) for mean in means)
        marked |= {(i, column) for i, mean in enumerate(means) if mean == best}
    notes = ["* best of its column"]
    if first.family.baseline is not None:
        notes.append(f"{_BETTER} better, {_WORSE} worse than {printable(first.family.baseline, 40)}, after correction")
    elif first.letters:
        notes.append(_LETTERS)
    return Table(tuple(columns), rows, "Means", tuple(notes), frozenset(marked), for_people=True)


def _marks_of(result: SystemsResult, name: str) -> str:
    family = result.family
    if family.baseline is None:
        return result.letters[[family.systems[i] for i in family.order].index(name)]
    return "" if name == family.baseline else _mark(family.pair(name, family.baseline))


def group_tables(
    measure: str, found: GroupComparison, members: Mapping[str, Sequence[str]], places: int
) -> Iterator[Table]:
    """Groups of systems by the ranks of their means."""
    overall = found.overall
    columns = (
        Column("group"),
        Column("systems", "count"),
        Column("median", "number", places),
        Column("mean rank", "number", 2),
    )
    rows = list(zip(found.names, overall.sizes, overall.medians, overall.mean_ranks, strict=True))
    notes = (
        f"Kruskal-Wallis H {overall.h:.4f}, df {overall.df}, p {p_words(overall.p)}; rank 1 is the lowest mean",
        "descriptive: units are systems; groups that were chosen by a measure of the same runs differ anyway",
    )
    yield Table(columns, rows, f"Groups of systems, mean {measure}", notes)
    pairs: list[tuple[Cell, ...]] = [
        (one, other, test.u, p_words(test.p), "exact" if test.is_exact else "normal", test.p)
        for one, other, test in found.pairs
    ]
    of_pairs = (
        Column("group"),
        Column("other"),
        Column("Mann-Whitney U", "number", 1),
        Column("p"),
        Column("by"),
        Column("p value", "number", for_machines=True),
    )
    yield Table(of_pairs, pairs, f"Groups two by two, mean {measure}")


def machine_tables(found: Comparison) -> Iterator[Table]:
    """The leaderboard and every pair of every measure, in full."""
    kinds: dict[str, Kind] = {"measure": "text", "system": "text", "mean": "number", "place": "count"}
    kinds |= {"best_place": "count", "worst_place": "count", "letters": "text"}
    rows: list[tuple[Cell, ...]] = []
    for name, result in found.systems.items():
        family = result.family
        for place, i in enumerate(family.order):
            span = family.rank_intervals[i] if family.rank_intervals else (None, None)
            mark = result.letters[place] if result.letters else None
            rows.append((name, family.systems[i], float(result.scores.means[i]), place + 1, *span, mark))
    yield _machine(kinds, rows, "systems")
    kinds = {"measure": "text", "a": "text", "b": "text"}
    names = "difference low high p adjusted_p monte_carlo_error rank_difference conover_p conover_holm_p q effect "
    names += "adjusted_p_error"
    kinds |= dict.fromkeys(names.split(), "number")
    kinds |= {"verdict": "text"}
    rows = []
    for name, result in found.systems.items():
        means = dict(zip(result.scores.systems, result.scores.means.tolist(), strict=True))
        for a, b in _pairs_in_order(result):
            rows.append((name, *_pair_record(result, a, b, means[a] - means[b])))
    yield _machine(kinds, rows, "pairs")


def _pair_record(result: SystemsResult, a: str, b: str, difference: float) -> tuple[Cell, ...]:
    family, pair = result.family, result.family.pair(a, b)
    is_ranks = result.friedman is not None
    error = None
    if family.draws is not None and not family.is_enumerated:
        error = math.sqrt(pair.p * (1 - pair.p) / family.draws)
    by_rank: list[Cell] = [pair.difference if is_ranks else None, None, None]
    if result.conover is not None:
        place = _place(result, a, b)
        by_rank[1:] = [float(result.conover.p[place]), float(result.conover.adjusted_p[place])]
    return (
        a,
        b,
        difference if is_ranks else pair.difference,
        pair.low,
        pair.high,
        pair.p,
        pair.adjusted,
        error,
        *by_rank,
        *_of_tukey(result, a, b),
        pair.verdict,
    )


def _of_tukey(result: SystemsResult, a: str, b: str) -> tuple[Cell, Cell, Cell]:
    """Tukey's q and effect, a - b in units of the residual's standard deviation; the randomised test's error of p."""
    place = _place(result, a, b) if result.tukey or result.randomised else 0
    error = None if result.randomised is None else float(result.randomised.error[place])
    if result.tukey is None:
        return None, None, error
    sign = 1 if result.family.systems.index(a) < result.family.systems.index(b) else -1
    return float(result.tukey.q[place]), sign * float(result.tukey.effect[place]), error


def _machine(kinds: Mapping[str, Kind], rows: Sequence[tuple[Cell, ...]], title: str) -> Table:
    return Table(tuple(Column(name, kind, for_machines=True) for name, kind in kinds.items()), rows, title)
