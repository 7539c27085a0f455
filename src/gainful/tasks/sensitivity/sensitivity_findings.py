"""The order of systems in every cell of a grid, who wins where, what changes that, and how far orders agree.

A sweep lets the weight of the highest level grow from light to heavy, and finds the weights at which systems change
places.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

from gainful.errors import InputError, UsageError
from gainful.evaluation.results import Evaluation, Signature
from gainful.evaluation.score_matrix import ScoreMatrix, upward
from gainful.measures.base import Measure
from gainful.notation import number_text, read_number
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.agreement import kendall_tau_b
from gainful.stats.leads import Leads
from gainful.tasks.sensitivity.scenarios import Scenario
from gainful.tasks.sensitivity.sensitivity_grid import Axis

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


def moved_pairs(one: Sequence[int | None], other: Sequence[int | None]) -> int:
    """How many pairs of systems stand the other way round in two orders; ties are in neither.

    >>> moved_pairs([1, 2, 3], [2, 1, 3]), moved_pairs([1, 1], [1, 2])
    (1, 0)
    """
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    return sum((a - b) * (c - d) < 0 for (a, c), (b, d) in combinations(both, 2))


#: Steps between the points that are evaluated, and into how many each is divided where systems change places: from 1 to
#: 1000 these steps are less than one per cent.
_STEPS, _PARTS = 24, 32
_WIDEST = 1e12


#: The means of some systems (by name) at some weights.
Values: TypeAlias = Mapping[tuple[float, str], float | None]


Means: TypeAlias = Callable[[Mapping[float, Sequence[str]]], Values]


class WeightRange(NamedTuple):
    """Where the sweep begins and ends."""

    low: float = 1.0
    high: float = 1000.0

    @classmethod
    def of(cls, low: object, high: object) -> WeightRange:
        """Two weights above 0, the lower one first."""
        read = cls(read_number(low, "sweep"), read_number(high, "sweep"))
        found = f"{number_text(read.low)} and {number_text(read.high)}"
        if not 0 < read.low < read.high:
            raise UsageError(
                f"sweep: expected two weights above 0, the lower one first, found {found}", "such as 1-1000"
            )
        if read.high / read.low > _WIDEST:
            raise UsageError(f"sweep: expected weights that differ at most by a factor of 1e12, found {found}")
        return read

    def weight(self, place: int) -> float:
        """The weight at a place of the fine scale, 0 to 768, evenly by ratio; four digits."""
        exact = self.low * (self.high / self.low) ** (place / (_STEPS * _PARTS))
        return exact if place in (0, _STEPS * _PARTS) else float(f"{exact:.4g}")

    def points(self) -> list[float]:
        """The weights that are evaluated in any case."""
        return [self.weight(place) for place in range(0, _STEPS * _PARTS + 1, _PARTS)]


class Overtaking(NamedTuple):
    """``overtaken`` is ahead at the weight ``low`` and no longer at ``high``; further on ``overtaking`` leads.

    ``for_first`` if the one wins before and the other one after.
    """

    overtaken: str
    overtaking: str
    low: float
    high: float
    for_first: bool

    @property
    def weight(self) -> float:
        """About where they change places."""
        return float((self.low * self.high) ** 0.5)


@dataclass(frozen=True)
class Sweep:
    """The order of systems while the weight of the highest level grows; all levels below it have weight 1.

    ``points`` are evenly spaced by ratio; ``changes`` say where two systems change places, to about one per cent. What
    changes and changes back between two points is not seen.
    """

    grade: float
    weights: tuple[float, ...]
    points: tuple[Cell, ...]
    changes: tuple[Overtaking, ...]

    @property
    def setting(self) -> str:
        """What the other axes are set to."""
        return self.points[0].label

    def values(self, run: int) -> tuple[float, ...]:
        """The means of the system at a place among the runs, weight by weight; NaN where no query counts."""
        return tuple(_number(cell.scores[run].value) for cell in self.points)

    def shares_of_best(self, run: int) -> tuple[float, ...]:
        """The same as shares of the winner's means."""
        best = (_number(cell.value) for cell in self.points)
        return tuple(value / top if top else math.nan for value, top in zip(self.values(run), best, strict=True))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def find_changes(
    points: Sequence[Cell], span: WeightRange, means: Means, *, lower_is_better: bool
) -> tuple[Overtaking, ...]:
    """Where two systems change places, from light to heavy; every change is closed in on between two points."""
    brackets = _brackets(points, lower_is_better)
    known: dict[tuple[float, str], float | None] = {}
    while open_ones := [bracket for bracket in brackets if bracket.high - bracket.low > 1]:
        needed: dict[float, list[str]] = {}
        for bracket in open_ones:
            weight = span.weight(bracket.middle)
            names = needed.setdefault(weight, [])
            names += [run for run in bracket.runs if (weight, run) not in known and run not in names]
        known.update(means({weight: runs for weight, runs in needed.items() if runs}))
        for bracket in open_ones:
            one, other = (known[span.weight(bracket.middle), run] for run in bracket.runs)
            if _sign(one, other, lower_is_better) == 1:
                bracket.low = bracket.middle
            else:
                bracket.high = bracket.middle
    found = [
        Overtaking(*bracket.runs, span.weight(bracket.low), span.weight(bracket.high), bracket.for_first)
        for bracket in brackets
    ]
    return tuple(sorted(found, key=lambda change: (change.low, not change.for_first)))


@dataclass
class _Bracket:
    """Two systems of which the first leads at the fine scale's place ``low``, and the second at ``high``."""

    runs: tuple[str, str]
    low: int
    high: int
    for_first: bool

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2


def _brackets(points: Sequence[Cell], lower_is_better: bool) -> list[_Bracket]:
    runs = [score.run for score in points[0].scores]
    values = [[score.value for score in cell.scores] for cell in points]
    found = []
    for i, j in combinations(range(len(runs)), 2):
        signs = [_sign(row[i], row[j], lower_is_better) for row in values]
        told_apart = [k for k, sign in enumerate(signs) if sign]
        for before, after in pairwise(told_apart):
            if signs[before] != signs[after]:
                pair = (runs[i], runs[j]) if signs[before] > 0 else (runs[j], runs[i])
                first = points[before].winners == pair[:1] and pair[1] in points[after].winners
                found.append(_Bracket(pair, before * _PARTS, after * _PARTS, first))
    return found


def _sign(one: float | None, other: float | None, lower_is_better: bool) -> int:
    """1 if the first is ahead, -1 if the second is, 0 if neither (or one has no mean)."""
    if one is None or other is None or is_tie(one, other):
        return 0
    return 1 if (one < other) == lower_is_better else -1


class WinnerChange(NamedTuple):
    """Two cells that are neighbours on one axis, with different winners."""

    axis: Axis
    before: Cell
    after: Cell


class AxisEffect(NamedTuple):
    """What one axis does while the others stay: of so many pairs of neighbours on it, how many have another winner, how
    many another order, and how many an order in which a pair of systems is significantly reversed; mean and lowest tau
    between them (None: no pair has one)."""

    axis: Axis
    neighbours: int
    winner_changes: int
    order_changes: int
    supported_changes: int
    mean_tau: float | None
    lowest_tau: float | None


class Reversal(NamedTuple):
    """Two systems that change places: in how many cells the first is ahead and behind, and significantly so."""

    system: str
    other: str
    ahead: int
    behind: int
    shown_ahead: int
    shown_behind: int

    @property
    def is_supported(self) -> bool:
        """Whether a test shows both orders, each in some cell."""
        return min(self.shown_ahead, self.shown_behind) > 0


class Agreement(NamedTuple):
    """Kendall's tau-b between the orders of two cells; None where one of them ties all systems."""

    one: Cell
    other: Cell
    tau: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Showable):
    """The order of systems in every cell of a grid, or in scenarios.

    ``cells`` stand in the order of the grid, the last axis fastest; of scenarios there are no axes. ``evaluations``
    hold every score behind them, by run.
    """

    measure: Measure
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    scenarios: tuple[Scenario, ...]
    sweep: Sweep | None
    evaluations: Mapping[str, Evaluation]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.measure}: {len(self.cells)} settings, {len(self.runs)} systems>"

    @property
    def runs(self) -> tuple[str, ...]:
        """The systems, in the order in which they were given."""
        return tuple(self.evaluations)

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return len(self._first.query_ids)

    @property
    def policy(self) -> Policy:
        return self._first.policy

    def signature(self) -> Signature:
        """The conventions behind all numbers; the measures say the rest."""
        return self._first.signature()

    @property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    def wins(self) -> dict[tuple[str, ...], int]:
        """How many cells each system wins, most first; systems that share first places count together."""
        counts = Counter(cell.winners for cell in self.cells if cell.winners)
        # Of equal counts the one that wins first stands first: a counter keeps that order.
        return dict(counts.most_common())

    @property
    def usual_winners(self) -> tuple[str, ...] | None:
        """Who wins most cells; None where two win equally many."""
        [*counts] = self.wins().items()
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return None
        return counts[0][0]

    @cached_property
    def _neighbours(self) -> tuple[tuple[Axis, Cell, Cell], ...]:
        """Pairs of cells that are one step apart on one axis and the same on all others."""
        by_place = {cell.place: cell for cell in self.cells}
        pairs = []
        for i, axis in enumerate(self.axes):
            for place, cell in by_place.items():
                following = by_place.get((*place[:i], place[i] + 1, *place[i + 1 :]))
                if following is not None:
                    pairs.append((axis, cell, following))
        return tuple(pairs)

    def winner_changes(self) -> tuple[WinnerChange, ...]:
        """All neighbours with different winners, axis by axis."""
        return tuple(
            WinnerChange(axis, before, after)
            for axis, before, after in self._neighbours
            if before.winners != after.winners
        )

    def effects(self) -> tuple[AxisEffect, ...]:
        """What every axis with more than one value does."""
        return tuple(self._effect(axis) for axis in self.axes if len(axis.options) > 1)

    def _effect(self, axis: Axis) -> AxisEffect:
        pairs = [(before, after) for each, before, after in self._neighbours if each is axis]
        taus = [self.tau(*pair) for pair in pairs]
        return AxisEffect(
            axis,
            len(pairs),
            sum(before.winners != after.winners for before, after in pairs),
            sum(before.ranks != after.ranks for before, after in pairs),
            sum(self.reversed_pairs(*pair) > 0 for pair in pairs),
            _mean(taus),
            min((tau for tau in taus if tau is not None), default=None),
        )

    def reversed_pairs(self, one: Cell, other: Cell) -> int:
        """How many pairs of systems differ significantly in both cells, with another one ahead."""
        return 0 if one.leads is None or other.leads is None else int(one.leads.reversed_in(other.leads).sum())

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """Every pair of systems that changes places somewhere, by means or significantly, the most supported first.

        ``supported`` has cells that significantly put the first ahead and others the second; where there are none, the
        change is within noise.
        """
        cells = [cell for cell in self.cells if cell.leads is not None]
        found = []
        for pair, (i, j) in enumerate(combinations(range(len(self.runs)), 2)):
            signs = [_sign_of_ranks(cell.ranks[i], cell.ranks[j]) for cell in self.cells]
            ahead, behind = signs.count(1), signs.count(-1)
            if ahead and behind:
                shown = [cell.leads.first_leads[pair] for cell in cells if cell.leads and cell.leads.shown[pair]]
                first = sum(map(bool, shown))
                found.append(Reversal(self.runs[i], self.runs[j], ahead, behind, first, len(shown) - first))
        return tuple(sorted(found, key=lambda each: (-min(each.shown_ahead, each.shown_behind), -min(each[2:4]))))

    @cached_property
    def _taus(self) -> dict[tuple[object, object], float | None]:
        return {}

    def tau(self, one: Cell, other: Cell) -> float | None:
        """Kendall's tau-b between the orders of two cells."""
        # Many cells have the same order: each pair of different orders is compared once.
        key = (one.ranks, other.ranks)
        if key not in self._taus:
            self._taus[key] = self._taus[key[1], key[0]] = tau_of_ranks(*key)
        return self._taus[key]

    def agreements(self) -> list[Agreement]:
        """Every pair of cells and their tau."""
        return [
            Agreement(one, other, self.tau(one, other))
            for i, one in enumerate(self.cells)
            for other in self.cells[i + 1 :]
        ]

    def levels_tau(self, axis: Axis) -> list[list[float | None]]:
        """Between all values of an axis the mean tau of the cells that differ in nothing else."""
        i = self.axes.index(axis)
        lines: dict[tuple[int, ...], dict[int, Cell]] = {}
        for cell in self.cells:
            lines.setdefault((*cell.place[:i], *cell.place[i + 1 :]), {})[cell.place[i]] = cell
        count = range(len(axis.options))
        return [[_mean(self.tau(line[a], line[b]) for line in lines.values()) for b in count] for a in count]

    def page(self) -> Page:
        from gainful.tasks.sensitivity.sensitivity_page import sensitivity_page

        return sensitivity_page(self)


def _sign_of_ranks(one: int | None, other: int | None) -> int:
    """1 if the first stands before the second, -1 behind, 0 if they share a place or one has none."""
    if one is None or other is None or one == other:
        return 0
    return 1 if one < other else -1


def _mean(taus: Iterable[float | None]) -> float | None:
    known: Sequence[float] = [tau for tau in taus if tau is not None]
    return sum(known) / len(known) if known else None
