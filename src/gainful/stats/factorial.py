"""Two factors of systems, such as how queries are built and whether they are expanded, with queries as blocks.

Each effect is looked at twice: by analysis of variance, against what is left of systems and queries, and by flips of
signs. What a query says of an effect is a few numbers, its contrasts; without the effect they might as well have had
the other sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import printable
from gainful.stats.anova import Effect, by_factors, two_way
from gainful.stats.paired_tests import SystemScores
from gainful.stats.repeatable import FLIPS, Flips, on_flip_grid, settle


class FactorEffect(NamedTuple):
    """An effect: its line of the analysis of variance, the p of flips, and the share of it and the residual that it is
    (partial eta squared)."""

    name: str
    anova: Effect
    p: float
    share: float | None


class Cell(NamedTuple):
    """A combination of levels: its systems, and their mean over all queries."""

    levels: tuple[str, str]
    systems: tuple[str, ...]
    mean: float


@dataclass(frozen=True, eq=False)
class FactorialResult:
    """What two factors and their interaction do to scores; ``within`` is what systems of one cell differ by.

    ``effects`` are those of the first factor, the second, and both together. ``is_averaged``: combinations have more
    and fewer systems, so that each was first averaged to one; what is tested is then what the means show.
    """

    measure: str
    better: str
    factors: tuple[str, str]
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    cells: tuple[Cell, ...]
    effects: tuple[FactorEffect, ...]
    within: Effect
    residual: Effect
    n: int
    alpha: float
    draws: int
    is_enumerated: bool
    seed: int
    unit: str = "query"
    left_out: int = 0
    is_averaged: bool = False

    def mean(self, factor: int, level: str) -> float:
        found = [cell.mean for cell in self.cells if cell.levels[factor] == level]
        return math.fsum(found) / len(found)

    @property
    def least_p(self) -> float | None:
        """What the least p of flips is below; None where these are exact."""
        return None if self.is_enumerated else 1 / self.draws


def compare_factors(
    matrix: SystemScores,
    factors: Mapping[str, Mapping[str, str]],
    *,
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int = 0,
) -> FactorialResult:
    """Two factors, each with a level by system.

    >>> from gainful import ScoreMatrix
    >>> scores = {"a": [0.1, 0.2, 0.0], "b": [0.2, 0.3, 0.1], "c": [0.5, 0.5, 0.3], "d": [0.9, 0.8, 0.7]}
    >>> levels = {"structure": dict(a="weak", b="weak", c="strong", d="strong"), "expanded": dict(zip("abcd", "nyny"))}
    >>> found = compare_factors(ScoreMatrix.of("RR", scores), levels)
    >>> [(each.name, round(each.anova.f, 2), each.p) for each in found.effects]
    [('structure', 261.33, 0.25), ('expanded', 65.33, 0.25), ('structure x expanded', 21.33, 0.25)]
    """
    scores, systems = matrix.values, matrix.systems
    members = _combinations(factors, systems)
    first, second = factors
    names = first, second
    is_averaged = len({len(inside) for inside in members.values()}) > 1
    if is_averaged:
        scores = np.stack([scores[:, inside].mean(axis=1) for inside in members.values()], axis=1)
        pairs = list(members)
    else:
        pairs = [(factors[first][system], factors[second][system]) for system in systems]
    of_systems = {name: [pair[i] for pair in pairs] for i, name in enumerate(names)}
    n, table = len(scores), two_way(scores)
    of_means = by_factors(table.means, of_systems, crossed=names)
    flips = Flips(n, draws or FLIPS, seed)
    effects = []
    for name, effect in of_means.effects.items():
        scaled = Effect.of(n * effect.sum_of_squares, effect.df, table.residual)
        whole = scaled.sum_of_squares + table.residual.sum_of_squares
        # What is 0 but for rounding is 0.
        contrasts = settle(scores @ _contrasts(of_systems, names, name), float(np.abs(scores).max()))
        share = scaled.sum_of_squares / whole if whole else None
        effects.append(FactorEffect(name, scaled, _flipped_p(contrasts, flips), share))
    cells = []
    for pair, inside in members.items():
        of_cell = table.means[[i for i, each in enumerate(pairs) if each == pair]]
        mean = math.fsum(of_cell.tolist()) / of_cell.size
        cells.append(Cell(pair, tuple(systems[i] for i in inside), mean))
    return FactorialResult(
        matrix.measure,
        matrix.better,
        names,
        (tuple(dict.fromkeys(of_systems[first])), tuple(dict.fromkeys(of_systems[second]))),
        tuple(cells),
        tuple(effects),
        Effect.of(n * of_means.residual.sum_of_squares, of_means.residual.df, table.residual),
        table.residual,
        n,
        alpha,
        flips.count,
        flips.enumerated,
        seed,
        matrix.unit,
        len(matrix.left_out),
        is_averaged,
    )


def _combinations(factors: Mapping[str, Mapping[str, str]], systems: Sequence[str]) -> dict[tuple[str, str], list[int]]:
    """The systems of each combination of levels."""
    if len(factors) != 2:
        raise UsageError(f"factors: expected two, found {len(factors)}", "a table has a column system and two others")
    for name, level_of in factors.items():
        without = next((system for system in systems if system not in level_of), None)
        if without is not None:
            raise UsageError(f"factors: expected a level of '{name}' for every system, found none for '{without}'")
        if len({level_of[system] for system in systems}) < 2:
            raise UsageError(f"factors: expected at least two levels of '{name}', found one")
    first, second = factors
    members: dict[tuple[str, str], list[int]] = {}
    for i, system in enumerate(systems):
        members.setdefault((factors[first][system], factors[second][system]), []).append(i)
    # Without a system of some combination, the means of two levels would be of different levels of the other factor.
    for one, other in product(*(dict.fromkeys(levels) for levels in zip(*members, strict=True))):
        if (one, other) not in members:
            raise UsageError(
                f"factors: expected a system of every combination, found none of {first} {printable(one)}, {second} "
                f"{printable(other)}",
                "add such a system, or leave a level out",
            )
    return members


def _contrasts(of_systems: Mapping[str, Sequence[str]], names: tuple[str, str], effect: str) -> Floats:
    """Systems x degrees of freedom: orthonormal contrasts of an effect after all others that it is no part of."""
    pairs = list(zip(*(of_systems[name] for name in names), strict=True))
    columns = {name: _indicators(of_systems[name]) for name in names} | {" x ".join(names): _indicators(pairs)}
    others = [name for name in names if name != effect]
    before = np.concatenate([np.ones((len(pairs), 1)), *(columns[name] for name in others)], axis=1)
    outside = columns[effect] - before @ np.linalg.lstsq(before, columns[effect], rcond=None)[0]
    basis, sizes, _ = np.linalg.svd(outside, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * max(1.0, float(sizes.max(initial=0.0)))])


def _indicators(levels: Sequence[object]) -> Floats:
    known = list(dict.fromkeys(levels))
    return np.array([[float(level == each) for each in known] for level in levels])


def _flipped_p(contrasts: Floats, flips: Flips) -> float:
    """The share of flips whose summed contrasts are as far from 0 as the observed ones, in squares."""
    columns = on_flip_grid(contrasts)
    whole = columns.steps.sum(axis=0)
    observed = float((whole**2).sum())
    # What is equal in exact arithmetic counts as extreme: rounding to the grid moves a sum by a step a query at most.
    slack = 2 * columns.slack * (np.abs(whole).sum() + columns.slack * whole.size)
    extreme = 0
    for piece in flips.sums(columns.steps):
        extreme += int(np.count_nonzero(((whole - 2 * piece) ** 2).sum(axis=1) >= observed - slack))
    return float(flips.p(np.array(extreme)))
