"""The weight of the highest level from light to heavy, and at which weights systems change places."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.notation import number_text, read_number
from gainful.sensitivity.cells import Cell, is_tie
from gainful.sensitivity.levels import GradeLevels

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


def sweep_measures(
    parameter: str, levels: GradeLevels, weights: Iterable[float], setting: Measure, *, up_to_1: bool
) -> dict[float, Measure]:
    """The measure at every weight; ``up_to_1`` if it takes no gains above 1."""
    return {weight: setting.replace(**{parameter: levels.top_weighing(weight, up_to_1=up_to_1)}) for weight in weights}


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


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _sign(one: float | None, other: float | None, lower_is_better: bool) -> int:
    """1 if the first is ahead, -1 if the second is, 0 if neither (or one has no mean)."""
    x, y = _number(one), _number(other)
    if math.isnan(x) or math.isnan(y) or is_tie(x, y):
        return 0
    return 1 if (x < y) == lower_is_better else -1
