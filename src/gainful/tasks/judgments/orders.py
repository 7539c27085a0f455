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
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.measures.base import Measure
from gainful.notation import count_of, printable
from gainful.pages.page import Conventions, Table, head
from gainful.stats.agreement import Swap, kendall_tau_b

#: Means closer than this are equal: the difference is what adding up in another order makes. So many swaps are shown.
_PLACES, _MOST_SWAPS = 12, 20


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

    signatures: tuple[Conventions, ...] = ()  # one where A and B have the same

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return math.comb(len(self.systems), 2)

    def parts(self) -> Iterator[Table | str]:
        """The systems by either judgments, whether they change places, and which do."""
        columns = head("run | mean by A . | mean by B . | rank by A # | rank by B #")
        moved = frozenset((i, 4) for i, system in enumerate(self.systems) if system.rank_a != system.rank_b)
        notes = [f"means over {count_of(self.queries, 'query', 'queries')} that both judge"]
        notes += ["* another place than by A"] if moved else []
        yield Table(columns, self.systems, f"Systems by {self.measure}", tuple(notes), moved)
        tau = "undefined, since one of the judges scores all alike" if self.tau is None else f"{self.tau:.4f}"
        changing = "No two systems change"
        if self.swaps:
            verb = "changes" if len(self.swaps) == 1 else "change"
            changing = f"{len(self.swaps):,} of {count_of(self.pairs, 'pair')} of systems {verb}"
        sentence = f"{changing} places by {self.measure}: Kendall's tau is {tau}."
        yield sentence if self.pairs else "One system alone has no order."
        if self.swaps:
            names = head("better by A | better by B | lead by A . | lead by B .")
            more = (f"the clearest of {len(self.swaps):,}",) if len(self.swaps) > _MOST_SWAPS else ()
            yield Table(names, self.swaps[:_MOST_SWAPS], f"Systems that change places by {self.measure}", more)


class SystemOrders(NamedTuple):
    """What :func:`compare_orders` found: a comparison for each measure, and what is suspicious of the runs."""

    comparisons: tuple[OrderComparison, ...]
    notices: tuple[str, ...]


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
    by_side = (("A", by_a), ("B", by_b))
    signatures: tuple[Conventions, ...] = ()
    if by_a:
        signatures = tuple(side[0].signature().note(f"{name}: ") for name, side in by_side)
        if by_a[0].signature() == by_b[0].signature():
            signatures = (by_a[0].signature().note(),)
    suspicious = tuple(f"by {name}: {line}" for name, side in by_side for line in notices(side))
    return SystemOrders(tuple(_compared(measure, by_a, by_b, signatures) for measure in measures), suspicious)


def _compared(
    measure: Measure, by_a: Sequence[Evaluation], by_b: Sequence[Evaluation], signatures: tuple[Conventions, ...]
) -> OrderComparison:
    means, goodness, ranks = [], [], []
    for side in (by_a, by_b):
        values = [evaluation.aggregate(measure) for evaluation in side]
        means.append([None if math.isnan(value) else value for value in values])
        # Higher is better, for any measure; -inf for what has no mean.
        signed = [-value if measure.better == "lower" else value for value in values]
        good = [-math.inf if math.isnan(value) else round(value, _PLACES) for value in signed]
        goodness.append(good)
        places = [1 + sum(other > value for other in good) for value in good]
        ranks.append([None if math.isnan(value) else place for value, place in zip(values, places, strict=True)])
    rows = zip([evaluation.run for evaluation in by_a], *means, *ranks, strict=True)
    systems = [(SystemScores(*row), *good) for row, *good in zip(rows, *goodness, strict=True)]
    # In A's order, so that of two the first is never the worse one by A.
    systems.sort(key=lambda each: (each[0].rank_a is None, each[0].rank_a))
    scored = [(each.name, a, b) for each, a, b in systems if each.mean_a is not None and each.mean_b is not None]
    swaps = [
        Swap(one, other, by_one - by_other, others_lead - ones_lead)
        for (one, by_one, ones_lead), (other, by_other, others_lead) in combinations(scored, 2)
        if by_one > by_other and ones_lead < others_lead
    ]
    return OrderComparison(
        measure,
        len(by_a[0].query_ids) if by_a else 0,
        tuple(each[0] for each in systems),
        kendall_tau_b([a for _, a, _ in scored], [b for _, _, b in scored]) if scored else None,
        tuple(sorted(swaps, key=lambda swap: -min(swap.lead_a, swap.lead_b))),
        signatures,
    )
