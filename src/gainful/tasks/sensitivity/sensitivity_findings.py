"""The order of systems by one measure, and how far two orders agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix, upward
from gainful.measures.base import Measure
from gainful.notation import printable
from gainful.stats.agreement import kendall_tau_b
from gainful.stats.leads import Leads

#: Means that are closer are equal: the difference is what adding up in another order makes. Of large means (sums of
#: large gains) it is this share.
TOLERANCE = 1e-12


class RunScore(NamedTuple):
    """A system's mean, and its place: 1 is best, equals share a place. None: no query counts."""

    run: str
    value: float | None
    rank: int | None


@dataclass(frozen=True)
class Cell:
    """The order of systems by one measure: a cell of the grid, or a scenario.

    ``place`` is its place on every axis (empty for scenarios), ``label`` what people call it; ``scores`` are in the
    order in which the runs were given; ``leads`` says of every pair whether a test shows it to differ.
    """

    label: str
    measure: Measure
    place: tuple[int, ...]
    scores: tuple[RunScore, ...]
    leads: Leads | None = field(default=None, repr=False, compare=False)

    @cached_property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """The systems, best first; those that share a place together, by name. Systems without a mean are left out."""
        by_rank: dict[int, list[str]] = {}
        for score in self.scores:
            if score.rank is not None:
                by_rank.setdefault(score.rank, []).append(score.run)
        return tuple(tuple(sorted(by_rank[rank])) for rank in sorted(by_rank))

    @property
    def winners(self) -> tuple[str, ...]:
        """The best system, or several that share the first place."""
        return self.order[0] if self.order else ()

    @property
    def value(self) -> float | None:
        """The winner's mean."""
        return next((score.value for score in self.scores if score.rank == 1), None)

    @property
    def lead(self) -> float | None:
        """By how much the winner is ahead of the next one: 0 where several win, None where there is no next one."""
        values = {score.rank: score.value for score in self.scores if score.rank is not None}
        if len(self.winners) > 1:
            return 0.0
        if len(values) < 2 or (best := self.value) is None:
            return None
        following = values[min(rank for rank in values if rank > 1)]
        return abs(best - (following or 0.0))

    @property
    def relative_lead(self) -> float | None:
        """The lead as a share of the larger of the two means."""
        if not self.lead:
            return self.lead
        ranked = sorted((s for s in self.scores if s.rank is not None), key=lambda s: s.rank or 0)
        return self.lead / max(abs(score.value or 0.0) for score in ranked[:2])

    @cached_property
    def ranks(self) -> tuple[int | None, ...]:
        """Every system's place, in the order of the runs."""
        return tuple(score.rank for score in self.scores)


def cell_of(
    label: str, measure: Measure, place: tuple[int, ...], evaluations: Mapping[str, Evaluation], *, tested: bool = False
) -> Cell:
    """The cell that evaluations have for a measure; ``tested`` also tests all pairs of systems."""
    values = [mean_of(evaluation, measure) for evaluation in evaluations.values()]
    ranks = ranks_of(values, lower_is_better=measure.better == "lower")
    leads = _leads(measure, evaluations) if tested and len(values) > 1 else None
    return Cell(label, measure, place, tuple(map(RunScore, evaluations, values, ranks)), leads)


def _leads(measure: Measure, evaluations: Mapping[str, Evaluation]) -> Leads | None:
    """Which pairs differ; None where no query has a score of every system, or scores are not averaged."""
    try:
        return Leads.by_means(upward(ScoreMatrix.from_evaluations(evaluations, measure)))
    except (InputError, UsageError):
        return None


def mean_of(evaluation: Evaluation, measure: Measure) -> float | None:
    """What a table prints; None where no query counts."""
    value = evaluation.aggregate(measure)
    return None if math.isnan(value) else value


def is_tie(one: float, other: float) -> bool:
    """Whether two means differ by rounding alone."""
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))


def ranks_of(values: Sequence[float | None], *, lower_is_better: bool = False) -> list[int | None]:
    """The place of every value: 1 is best, what differs by rounding alone shares one; None stays None.

    >>> ranks_of([0.5, 0.7, None, 0.1 + 0.4, 0.2])
    [2, 1, None, 2, 4]
    """
    present = [i for i, value in enumerate(values) if value is not None]
    ordered = sorted(present, key=lambda i: values[i] or 0.0, reverse=not lower_is_better)
    ranks: list[int | None] = [None] * len(values)
    for position, i in enumerate(ordered):
        before = ordered[position - 1] if position else None
        tied = before is not None and is_tie(values[before] or 0.0, values[i] or 0.0)
        ranks[i] = ranks[before] if tied and before is not None else position + 1
    return ranks


def tau_of_ranks(one: Sequence[int | None], other: Sequence[int | None]) -> float | None:
    """Kendall's tau-b of two orders; systems without a place in either are left out. None: one has only ties."""
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    return kendall_tau_b([x for x, _ in both], [y for _, y in both])


#: How wide an order is.
_WIDEST_ORDER = 50


def order_text(order: Sequence[Sequence[str]], *, whole: bool = False) -> str:
    """An order in one line, as far as it fits or whole; what shares a place is joined by =.

    >>> order_text([("a",), ("b", "c"), ("d",)])
    'a > b = c > d'
    """
    shown: list[str] = []
    left = sum(map(len, order))
    for names in order:
        text = " = ".join(printable(name, 40) for name in names)
        if not whole and shown and left > 1 and len(" > ".join([*shown, text])) > _WIDEST_ORDER:
            return " > ".join([*shown, f"{left} more"])
        shown.append(text)
        left -= len(names)
    return " > ".join(shown)
