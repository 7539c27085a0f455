"""How far two sets of judgments agree, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.pages.page import Cell, Column, Page, Table
from gainful.tasks.judgments.description import (
    MOST_SHOWN,
    about_relevance,
    conventions,
    levels_table,
    oddities,
    recall_bases,
    spread_table,
)

if TYPE_CHECKING:
    from gainful.tasks.judgments.description import JudgmentDescription
    from gainful.tasks.judgments.judges import Estimate, JudgmentComparison
    from gainful.tasks.judgments.orders import OrderComparison, SystemOrders

_MOST_SWAPS = 20

#: How the statistics of a comparison are called in its table.
_NAMES = {
    "agreement": "exact agreement",
    "one_level_apart": "one level apart",
    "further_apart": "further apart",
    "kappa": "Cohen's kappa",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "alpha, ordinal",
    "alpha_interval": "alpha, interval",
    "mean_difference": "mean difference, B - A",
    "mean_absolute_difference": "mean absolute difference",
    "higher": "B grades higher",
    "lower": "B grades lower",
    "relevant_a": "relevant by A",
    "relevant_b": "relevant by B",
    "relevance_difference": "difference in relevant, B - A",
    "relevance_agreement": "agreement on relevance",
    "relevance_kappa": "kappa on relevance",
}


def comparison_page(found: JudgmentComparison, by_query: bool = False) -> Page:
    """Sentences, the cross-table with column per cent, all coefficients, and the queries (all, or their spread)."""
    parts: list[Table | str] = [*sentences(found)]
    if _is_scale(found):
        parts.append(cross_table(found))
    parts.append(_coefficients(found))
    if by_query:
        parts.append(_queries(found))
    elif found.queries > 1:
        parts.append(_query_spread(found))
    header = {
        "a": found.a,
        "b": found.b,
        "documents": found.documents,
        "queries": found.queries,
        "only_a": found.only_a,
        "only_b": found.only_b,
        "draws": found.draws,
        "seed": found.seed,
    }
    one, other = map(conventions, found.policies)
    return Page("judgments", tuple(parts), (one,) if one == other else (f"A: {one}", f"B: {other}"), header)


def _is_scale(found: JudgmentComparison) -> bool:
    """Whether grades are levels of a scale rather than measurements."""
    return max(len(found.levels_a), len(found.levels_b)) <= MOST_SHOWN


def sentences(found: JudgmentComparison) -> Iterator[str]:
    """What a person wants to know first."""
    alone = [f"{name} alone judges {n:,} more" for name, n in (("A", found.only_a), ("B", found.only_b)) if n]
    only = "".join(f"; {part}" for part in alone)
    documents = f"{count_of(found.documents, 'document')} of {count_of(found.queries, 'query', 'queries')}"
    yield f"A is {printable(found.a, 80)}, B is {printable(found.b, 80)}. Both judge {documents}{only}."
    if found.scale_a != found.scale_b:
        yield (
            f"A goes up to grade {number_text(found.scale_a)}, B to {number_text(found.scale_b)}. If these are "
            "different scales, equal grades mean different things, and only relevance can be compared; "
            "--scale says they are one."
        )
    one_scale = found.scale_a == found.scale_b
    yield " ".join([_agreement(found), *([_direction(found)] if one_scale else [])])
    shares = [_per_cent(share.value) for share in (found.relevance_agreement, found.relevant_a, found.relevant_b)]
    line = f"On relevance ({_relevant(found)}) they agree in {shares[0]}: A calls {shares[1]} relevant, B {shares[2]}."
    yield line if one_scale else f"{line} {_direction_of_relevance(found)}"


def _relevant(found: JudgmentComparison) -> str:
    return "grade above 0" if found.rel is None else f"grade {number_text(found.rel)} or more"


def _agreement(found: JudgmentComparison) -> str:
    line = f"The judges agree exactly on {_per_cent(found.agreement.value)} of {count_of(found.documents, 'document')}"
    if not _is_scale(found):
        return f"{line}; their grades are {found.mean_absolute_difference.value:.4f} apart on average."
    one, more = _per_cent(found.one_level_apart.value), _per_cent(found.further_apart.value)
    return f"{line}; {one} differ by one level, {more} by more."


def _direction(found: JudgmentComparison) -> str:
    """Which judge is stricter, if the interval of the mean difference leaves no doubt."""
    lower, higher = _per_cent(found.lower.value), _per_cent(found.higher.value)
    if not found.lower.value and not found.higher.value:
        return "No grade differs."
    verdict = _verdict(found.mean_difference)
    if verdict is None:
        return f"Neither is clearly stricter: B grades {lower} lower and {higher} higher."
    if (found.mean_difference.value or 0.0) < 0:
        return f"{verdict}: it grades {lower} lower and {higher} higher."
    return f"{verdict}: it grades {higher} higher and {lower} lower."


def _direction_of_relevance(found: JudgmentComparison) -> str:
    """Which judge is stricter where grades of different scales cannot say it."""
    verdict = _verdict(found.relevance_difference)
    return "Neither is clearly stricter." if verdict is None else f"{verdict}."


def _verdict(difference: Estimate) -> str | None:
    """What a difference, B - A, says of B, if its interval leaves no doubt."""
    value, low, high = difference
    if not value or (low is not None and high is not None and low <= 0 <= high):
        return None
    # Without an interval these documents are all that can be spoken of.
    where = "" if low is not None else " on these documents"
    return f"B is {'stricter' if value < 0 else 'more generous'}{where}"


def _per_cent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.1f} %"


def cross_table(found: JudgmentComparison) -> Table:
    """One row a level of B, one column a level of A with its per cent, and the totals."""
    table = found.cross_table()
    of_a = [sum(column) for column in zip(*table, strict=True)]
    names = [f"A {number_text(level)}" for level in found.levels_a]
    columns = [Column("B")]
    for name in (*names, "total"):
        columns += [Column(name, "count"), Column(f"% of {name}", "share")]
    sums = (*of_a, found.documents)
    rows = [
        _cross_row(number_text(level), (*row, sum(row)), sums) for level, row in zip(found.levels_b, table, strict=True)
    ]
    return Table(tuple(columns), (*rows, _cross_row("total", sums, sums)), "What B made of each level of A")


def _cross_row(name: str, counts: Sequence[int], sums: Sequence[int]) -> tuple[Cell, ...]:
    row: list[Cell] = [name]
    for count, total in zip(counts, sums, strict=True):
        row += [count, count / total if total else None]
    return tuple(row)


def _coefficients(found: JudgmentComparison) -> Table:
    columns = (Column("statistic"), *(Column(name, "number") for name in ("value", "low", "high")))
    # Steps between levels mean nothing where almost every grade is a level of its own.
    left_out = () if _is_scale(found) else ("one_level_apart", "further_apart")
    rows = tuple((name, *getattr(found, field)) for field, name in _NAMES.items() if field not in left_out)
    notes = ["weights: by how much the grades differ, or the square of that", f"relevant: {_relevant(found)}"]
    if found.agreement.low is not None:
        notes.insert(0, f"low, high: 95 % interval, {found.draws:,} resamples of the queries, seed {found.seed}")
    if found.kappa.value is None:
        notes.append("undefined (-): there is only one level")
    elif found.relevance_kappa.value is None:
        notes.append("undefined (-): both call all documents relevant, or both none")
    return Table(columns, rows, "Agreement", tuple(notes))


def _queries(found: JudgmentComparison) -> Table:
    columns = (
        Column("query"),
        Column("documents", "count"),
        Column("agreement", "share"),
        Column("mean difference", "number"),
        Column("mean absolute difference", "number"),
    )
    return Table(columns, tuple(found.by_query), "Agreement by query")


def _query_spread(found: JudgmentComparison) -> Table:
    columns = list(zip(*found.by_query, strict=True))
    names = ("agreement", "mean difference", "mean absolute difference")
    return spread_table("Agreement by query", "statistic", columns[0], dict(zip(names, columns[2:], strict=True)), 4)


def side_parts(a: JudgmentDescription, b: JudgmentDescription, by_query: bool) -> Iterator[Table | str]:
    """What is in either set: levels side by side, relevant documents (by query, if wanted), what is odd."""
    if max(len(a.levels), len(b.levels)) > MOST_SHOWN:
        yield from (levels_table(side, f"Grades of {name}") for name, side in (("A", a), ("B", b)))
    else:
        yield _levels_of_both(a, b)
    for name, side in (("A", a), ("B", b)):
        if by_query:
            yield recall_bases(side, f"Documents of {name} by query")
        yield about_relevance(side, name)
        yield from oddities(side, name)


def _levels_of_both(a: JudgmentDescription, b: JudgmentDescription) -> Table:
    sides = [{level.grade: level for level in side.levels} for side in (a, b)]
    columns = [Column("grade")]
    for name in ("A", "B"):
        columns += [Column(name, "count"), Column(f"% of {name}", "share")]
    rows: list[tuple[Cell, ...]] = []
    for grade in sorted({*sides[0], *sides[1]}):
        row: list[Cell] = [number_text(grade)]
        for side in sides:
            row += [side[grade].documents, side[grade].share] if grade in side else [0, 0.0]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), "All documents by level")


def signatures(orders: SystemOrders) -> tuple[str, ...]:
    """The conventions of the evaluations: one line, or one for A and one for B where they differ."""
    one, other = (side[0].signature().short() for side in (orders.evaluations_a, orders.evaluations_b))
    return (one,) if one == other else (f"A: {one}", f"B: {other}")


def order_parts(found: OrderComparison) -> Iterator[Table | str]:
    """The systems by either judgments, whether they change places, and which do."""
    columns = (
        Column("run"),
        Column("mean by A", "number"),
        Column("mean by B", "number"),
        Column("rank by A", "count"),
        Column("rank by B", "count"),
    )
    moved = frozenset((i, 4) for i, system in enumerate(found.systems) if system.rank_a != system.rank_b)
    notes = [f"means over {count_of(found.queries, 'query', 'queries')} that both judge"]
    if moved:
        notes.append("* another place than by A")
    yield Table(columns, tuple(found.systems), f"Systems by {found.measure}", tuple(notes), moved)
    yield _order_sentence(found)
    if found.swaps:
        names = (
            Column("better by A"),
            Column("better by B"),
            Column("lead by A", "number"),
            Column("lead by B", "number"),
        )
        rest = len(found.swaps) - _MOST_SWAPS
        more = (f"the clearest of {len(found.swaps):,}",) if rest > 0 else ()
        yield Table(names, tuple(found.swaps[:_MOST_SWAPS]), f"Systems that change places by {found.measure}", more)


def _order_sentence(found: OrderComparison) -> str:
    if found.pairs == 0:
        return "One system alone has no order."
    tau = "undefined, since one of the judges scores all alike" if found.tau is None else f"{found.tau:.4f}"
    changing = "No two systems change"
    if found.swaps:
        verb = "changes" if len(found.swaps) == 1 else "change"
        changing = f"{len(found.swaps):,} of {count_of(found.pairs, 'pair')} of systems {verb}"
    return f"{changing} places by {found.measure}: Kendall's tau is {tau}."
