"""Whether other judgments would put systems into another order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from gainful.data.judged import Judged
from gainful.data.run import RunLike, RunSource
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.results import Evaluation
from gainful.measures.base import Measure
from gainful.notation import count_of, printable
from gainful.pages.page import Table, head
from gainful.stats.agreement import Swap, kendall_tau_b

#: Means closer than this are equal: the difference is what adding up in another order makes.
_PLACES = 12


class SystemScores(NamedTuple):
    """A system's mean by either judgments, and its place: 1 is best, equals share a place. None: no query counts."""

    name: str
    mean_a: float | None
    mean_b: float | None
    rank_a: int | None
    rank_b: int | None


@dataclass(frozen=True)
class OrderComparison:
    """How two sets of judgments order the same systems by one measure, on the queries that both judge.

    ``systems`` stand in A's order; ``tau`` is Kendall's tau-b of the means, None where either judges all systems alike;
    ``swaps`` are the pairs that change places, clearest first.
    """

    measure: Measure
    queries: int
    systems: tuple[SystemScores, ...]
    tau: float | None
    swaps: tuple[Swap, ...]

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return math.comb(len(self.systems), 2)


@dataclass(frozen=True, eq=False)
class SystemOrders:
    """What :func:`compare_orders` found: a comparison for each measure, and the evaluations it was made from."""

    comparisons: tuple[OrderComparison, ...]
    evaluations_a: tuple[Evaluation, ...]
    evaluations_b: tuple[Evaluation, ...]


def compare_orders(
    a: Judged, b: Judged, runs: Mapping[str, RunLike], measures: Sequence[Measure], *, threads: int | None = None
) -> SystemOrders:
    """Scores runs by two sets of judgments, on the queries that both judge, and compares the orders of systems.

    Each set is taken whole for these queries, also where it judges a document that the other does not.

    >>> from gainful import Policy, Qrels, parse
    >>> a, b = (Judged(Qrels.from_dict({"q": {"d": x, "e": 1 - x}}), Policy()) for x in (0, 1))
    >>> runs = {"one": {"q": ["d", "e"]}, "two": {"q": ["e", "d"]}}
    >>> [found] = compare_orders(a, b, runs, [parse("RR")]).comparisons
    >>> found.tau, found.swaps
    (-1.0, (Swap(better_by_a='two', better_by_b='one', lead_a=0.5, lead_b=0.5),))
    """
    for measure in measures:
        if measure.better == "neither":
            raise UsageError(f"{measure}: expected a measure that can order systems, found one without a better side")
    common = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))
    if not common:
        raise InputError(
            f"{b.qrels.name}: expected queries that {a.qrels.name} judges too, found none: {a.qrels.name} has "
            f"'{printable(a.qrels.query_ids[0])}', {b.qrels.name} has '{printable(b.qrels.query_ids[0])}'"
        )
    kept = {name: RunSource.of(run, name=name).at_hand() for name, run in runs.items()}
    by_a, by_b = (
        tuple(evaluate_runs(Judged(side.qrels.select(common), side.policy), kept, measures, threads=threads).values())
        for side in (a, b)
    )
    return SystemOrders(tuple(_compared(measure, by_a, by_b) for measure in measures), by_a, by_b)


def _compared(measure: Measure, by_a: Sequence[Evaluation], by_b: Sequence[Evaluation]) -> OrderComparison:
    names = [evaluation.run for evaluation in by_a]
    means = [[_mean(evaluation, measure) for evaluation in side] for side in (by_a, by_b)]
    ranks = [_ranks(side, measure) for side in means]
    systems = [SystemScores(*row) for row in zip(names, *means, *ranks, strict=True)]
    in_order = sorted(systems, key=lambda system: (system.rank_a is None, system.rank_a))
    scored = [system for system in in_order if system.mean_a is not None and system.mean_b is not None]
    goodness = [[_goodness(mean, measure) for mean in side] for side in zip(*(s[1:3] for s in scored), strict=True)]
    return OrderComparison(
        measure,
        len(by_a[0].query_ids) if by_a else 0,
        tuple(in_order),
        kendall_tau_b(*goodness) if goodness else None,
        _swaps([system.name for system in scored], *goodness) if goodness else (),
    )


def _mean(evaluation: Evaluation, measure: Measure) -> float | None:
    value = evaluation.aggregate(measure)
    return None if math.isnan(value) else value


def _goodness(mean: float | None, measure: Measure) -> float:
    """Higher is better, for any measure; -inf for what has no mean."""
    if mean is None:
        return -math.inf
    return round(-mean if measure.better == "lower" else mean, _PLACES)


def _ranks(means: Sequence[float | None], measure: Measure) -> list[int | None]:
    values = [_goodness(mean, measure) for mean in means]
    return [
        None if mean is None else 1 + sum(other > value for other in values)
        for mean, value in zip(means, values, strict=True)
    ]


def _swaps(names: Sequence[str], by_a: Sequence[float], by_b: Sequence[float]) -> tuple[Swap, ...]:
    """Names stand in A's order, so that of two the first is never the worse one by A."""
    found = [
        Swap(names[i], names[j], by_a[i] - by_a[j], by_b[j] - by_b[i])
        for i, j in combinations(range(len(names)), 2)
        if by_a[i] > by_a[j] and by_b[i] < by_b[j]
    ]
    return tuple(sorted(found, key=lambda swap: -min(swap.lead_a, swap.lead_b)))


_MOST_SWAPS = 20


def signatures(orders: SystemOrders) -> tuple[str, ...]:
    """The conventions of the evaluations: one line, or one for A and one for B where they differ."""
    one, other = (side[0].signature() for side in (orders.evaluations_a, orders.evaluations_b))
    return (one.note(),) if one == other else (one.note("A: "), other.note("B: "))


def order_parts(found: OrderComparison) -> Iterator[Table | str]:
    """The systems by either judgments, whether they change places, and which do."""
    columns = head("run | mean by A . | mean by B . | rank by A # | rank by B #")
    moved = frozenset((i, 4) for i, system in enumerate(found.systems) if system.rank_a != system.rank_b)
    notes = [f"means over {count_of(found.queries, 'query', 'queries')} that both judge"]
    if moved:
        notes.append("* another place than by A")
    yield Table(columns, tuple(found.systems), f"Systems by {found.measure}", tuple(notes), moved)
    yield _order_sentence(found)
    if found.swaps:
        names = head("better by A | better by B | lead by A . | lead by B .")
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
