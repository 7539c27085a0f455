"""Analysis of variance of scores or ranks: two-way without replication, one-way, and by factors.

Two factors of systems, such as query formulation and expansion, are tested twice with queries as blocks: by analysis of
variance against the interaction of systems and queries, and by random sign flips of each query's contrasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats, Ints
from gainful.notation import grouped, printable
from gainful.stats.distributions import LEAST_P
from gainful.stats.paired_tests import SystemScores
from gainful.stats.repeatable import FLIPS, Flips, on_flip_grid, settle

#: Above this ratio of the largest to the pooled sd of paired differences, a pooled spread misjudges some pairs.
UNEVEN_SPREAD = 1.5

_CELLS = 1 << 20  # differences per batch
_DUST = 1e-12  # relative to the scale of the scores
_MOST_LEVELS = 2_000  # total over factors; more take minutes


class Effect(NamedTuple):
    """A line of the table; ``f`` and ``p`` are None if there is nothing to test."""

    sum_of_squares: float
    df: int
    mean_square: float  # 0 without degrees of freedom
    f: float | None = None
    p: float | None = None

    @classmethod
    def of(cls, sum_of_squares: float, df: int, against: Effect | None = None) -> Effect:
        own = cls(sum_of_squares, df, sum_of_squares / df if df else 0.0)
        if against is None or not df or not against.df:
            return own
        f = math.inf if own.mean_square else 0.0
        if against.mean_square:
            f = own.mean_square / against.mean_square
        return own._replace(f=f, p=_p_of_f(f, df, against.df))


class PairSpread(NamedTuple):
    """The distribution over pairs of systems of the sd of paired differences, and the pooled sd of the model."""

    lowest: float
    low: float  # 5th percentile
    median: float
    high: float  # 95th percentile
    highest: float
    pooled: float  # sqrt(2 MSE)

    @property
    def is_uneven(self) -> bool:
        return self.highest > UNEVEN_SPREAD * self.pooled > 0


@dataclass(frozen=True, eq=False)
class TwoWayAnova:
    """Two-way analysis with one score per system and query; the interaction is part of the residual."""

    means: Floats  # of the systems
    residuals: Floats  # queries x systems
    #: Effect whose p requires that all pairs of systems have the same variance; ``corrected_p`` does not.
    systems: Effect
    queries: Effect
    residual: Effect
    #: Variation within systems, including the difficulty of queries; ``one_way`` is tested against it, as if each
    #: system had its own queries.
    within: Effect
    total: Effect

    @property
    def one_way(self) -> Effect:
        return Effect.of(self.systems.sum_of_squares, self.systems.df, self.within)

    @cached_property
    def epsilon(self) -> float:
        """Greenhouse and Geisser's (1959) correction of both degrees of freedom: tr(C)^2 / ((m - 1) sum C_ij^2), with C
        the doubly centred covariance of systems, from 1 for equal variances down to 1 / (m - 1)."""
        # Residuals are doubly centred already. Not a matrix product: its order of addition depends on the linear
        # algebra library.
        products = np.einsum("qi,qj->ij", self.residuals, self.residuals)
        squares = math.fsum((products**2).ravel())
        if not squares:
            return 1.0
        lowest = 1 / self.systems.df
        return min(1.0, max(lowest, math.fsum(np.diag(products)) ** 2 * lowest / squares))

    @property
    def corrected_p(self) -> float | None:
        return _p_of_f(self.systems.f, self.epsilon * self.systems.df, self.epsilon * self.residual.df)

    @cached_property
    def spread(self) -> PairSpread | None:
        """The variation between pairs of systems; None with one query or one system."""
        if min(self.residuals.shape) < 2:
            return None
        sd = np.sqrt(pair_variances(self.residuals))
        lowest, low, median, high, highest = np.quantile(sd, [0, 0.05, 0.5, 0.95, 1]).tolist()
        return PairSpread(lowest, low, median, high, highest, math.sqrt(2 * self.residual.mean_square))


def two_way(scores: Floats) -> TwoWayAnova:
    """Return the analysis of variance of a matrix of queries x systems.

    Sums of squares: systems n sum (mean_s - g)^2, queries m sum (mean_q - g)^2, residual sum (y - mean_s - mean_q +
    g)^2, within systems sum (y - mean_s)^2. F is a ratio of mean squares, to the residual or (one-way) to within
    systems. If the denominator is 0 and the effect is not, F is infinite and p the smallest number.

    >>> table = two_way(np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 6.0]]))
    >>> [round(effect.sum_of_squares, 6) for effect in (table.systems, table.queries, table.residual, table.total)]
    [2.666667, 16.333333, 0.333333, 19.333333]
    >>> round(table.systems.f, 6), table.residual.df, round(table.one_way.f, 6), table.within.df
    (16.0, 2, 0.64, 4)
    """
    n, m = scores.shape
    scale = _scale(scores)
    grand = math.fsum(scores.ravel()) / scores.size
    # Means of systems and queries relative to the grand mean.
    of_system, of_query = (_without_dust(column_means(each) - grand, scale) for each in (scores, scores.T))
    residuals = _without_dust(scores - (of_system + grand) - of_query[:, np.newaxis], scale)
    residual = Effect.of(_sum_of_squares(residuals), (n - 1) * (m - 1))
    return TwoWayAnova(
        of_system + grand,
        residuals,
        Effect.of(n * _sum_of_squares(of_system), m - 1, residual),
        Effect.of(m * _sum_of_squares(of_query), n - 1, residual),
        residual,
        Effect.of(_sum_of_squares(_without_dust(scores - (of_system + grand), scale)), m * (n - 1)),
        Effect.of(_sum_of_squares(_without_dust(scores - grand, scale)), n * m - 1),
    )


def system_by_query(means: Floats, repeats: Sequence[Floats]) -> tuple[Effect, Effect] | None:
    """Return the interaction of systems and queries, and its error term, the noise between runs; None without noise.

    ``means`` are queries x systems, ``repeats`` queries x runs per system. Effects of a run on all queries are in
    neither: F = residual mean square of the means / (mean square within queries and runs x mean of 1 / runs).
    """
    within, cells = [two_way(each).residual for each in repeats], two_way(means).residual
    share = math.fsum(1 / each.shape[1] for each in repeats) / len(repeats)
    noise = Effect.of(share * math.fsum(each.sum_of_squares for each in within), sum(each.df for each in within))
    return (Effect.of(cells.sum_of_squares, cells.df, noise), noise) if noise.mean_square else None


@dataclass(frozen=True, eq=False)
class FactorAnova:
    """The effect of each factor or interaction, adjusted for all others."""

    effects: Mapping[str, Effect]
    residual: Effect
    total: Effect


def by_factors(values: Floats, factors: Mapping[str, Sequence[object]], crossed: Sequence[str] = ()) -> FactorAnova:
    """Return the analysis of scores grouped by several factors, balanced or not (sums of squares of type II).

    The effect of a factor is the loss from leaving it out of the model. ``crossed`` factors also have an interaction,
    added after both; their own effects exclude it. A factor determined by others has no degrees of freedom.

    >>> table = by_factors(np.array([1.0, 2.0, 4.0, 6.0, 5.0]), {"system": "aabbb", "topic": "xyxyy"})
    >>> {name: (round(effect.sum_of_squares, 4), effect.df) for name, effect in table.effects.items()}
    {'system': (12.5952, 1), 'topic': (1.9286, 1)}
    """
    codes = {name: np.unique(np.array(list(map(str, each))), return_inverse=True)[1] for name, each in factors.items()}
    terms: dict[str, tuple[str, ...]] = {name: (name,) for name in factors}
    if crossed:
        name = " x ".join(crossed)
        terms[name] = tuple(crossed)
        codes[name] = np.unique(np.stack([codes[each] for each in crossed]), axis=1, return_inverse=True)[1].reshape(-1)
    levels = sum(int(each.max()) + 1 for each in codes.values())
    if levels > _MOST_LEVELS:
        raise UsageError(f"factors: {levels:,} levels in total; at most {_MOST_LEVELS:,} are supported")

    def left(names: Iterable[str]) -> tuple[float, int]:
        groups = [np.eye(int(codes[name].max()) + 1)[codes[name]] for name in names]
        design = np.concatenate((np.ones((values.size, 1)), *groups), axis=1)
        fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
        return _sum_of_squares(_without_dust(values - design @ fitted, _scale(values))), int(rank)

    whole, rank = left(terms)
    residual = Effect.of(whole, values.size - rank)
    effects = {}
    for name, members in terms.items():
        others = [other for other, of in terms.items() if not set(members) <= set(of)]
        (without, below), (within, above) = left(others), left([*others, name])
        effects[name] = Effect.of(max(0.0, without - within), above - below, residual)
    return FactorAnova(effects, residual, Effect.of(left(())[0], values.size - 1))


def column_means(scores: Floats) -> Floats:
    """Return the exact means of the columns, rounded once: independent of the order of rows."""
    return np.array([math.fsum(column) / scores.shape[0] for column in scores.T.tolist()])


def pairs_of(systems: int) -> tuple[Ints, Ints]:
    """Return the columns of the first and second system of every pair: (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.triu_indices(systems, 1)
    return first, second


@dataclass(frozen=True, eq=False)
class PairComparisons:
    """A joint test of every pair of systems, in the order of :func:`pairs_of`; it depends on the systems compared.

    ``difference`` is between means or rank sums, above 0 if the first system is better. Means (or mean ranks) at least
    ``critical`` apart differ significantly; infinite if none can.
    """

    difference: Floats
    statistic: Floats
    p: Floats
    critical: float


def pair_variances(scores: Floats) -> Floats:
    """Return the variance (n - 1) of the paired differences of every pair of systems, in the order of :func:`pairs_of`.

    >>> pair_variances(np.array([[0.0, 1.0, 0.5], [0.0, 3.0, 0.5]])).tolist()
    [2.0, 0.0, 2.0]
    """
    n, m = scores.shape
    first, second = pairs_of(m)
    scale, means = _scale(scores), column_means(scores)
    found = np.zeros(first.size)
    at_once = max(1, _CELLS // n)
    for start in range(0, first.size, at_once):
        i, j = first[start : start + at_once], second[start : start + at_once]
        centred = _without_dust(scores[:, i] - scores[:, j] - (means[i] - means[j]), scale)
        found[start : start + at_once] = np.square(centred).sum(axis=0)
    return np.asarray(found / max(n - 1, 1))


def t_of_all_pairs(scores: Floats) -> PairComparisons:
    """Return the paired t test of every pair of systems; identical systems have t = 0 and p = 1.

    >>> found = t_of_all_pairs(np.array([[0.0, 1.0], [0.0, 3.0]]))  # differences -1 and -3
    >>> found.statistic.tolist(), found.p.round(4).tolist()
    ([-2.0], [0.2952])
    """
    from scipy.special import stdtr

    n, m = scores.shape
    first, second = pairs_of(m)
    means = column_means(scores)
    difference = settle(means[first] - means[second], float(np.max(np.abs(scores))))
    error = np.sqrt(pair_variances(scores) / n)
    # A single query has no spread to compare with; several equal differences leave no doubt.
    beyond = np.where(difference != 0, math.inf if n > 1 else 0.0, 0.0)
    t = np.copysign(np.divide(np.abs(difference), error, out=beyond, where=error > 0), difference)
    return PairComparisons(difference, t, np.clip(2 * stdtr(max(n - 1, 1), -np.abs(t)), LEAST_P, 1.0), math.nan)


def _scale(scores: Floats) -> float:
    """Return the range plus a thousandth of the largest score, because subtracting large scores loses precision."""
    return float(np.ptp(scores) + np.abs(scores).max() / 1000)


def _without_dust(values: Floats, scale: float) -> Floats:
    """Set values to 0 that are only rounding error, so that F is never computed from it."""
    return np.where(np.abs(values) > _DUST * scale, values, 0.0)


def _sum_of_squares(values: Floats) -> float:
    return math.fsum(np.square(values).ravel())


def _p_of_f(f: float | None, df: float, df_against: float) -> float | None:
    if f is None:
        return None
    from scipy.special import fdtrc

    return max(float(fdtrc(df, df_against, f)), LEAST_P) if math.isfinite(f) else LEAST_P


class FactorEffect(NamedTuple):
    """An effect with its analysis of variance, the p of sign flips, and partial eta squared (``share``)."""

    name: str
    anova: Effect
    p: float
    share: float | None


class Cell(NamedTuple):
    """A combination of levels: its systems and their mean over all queries."""

    levels: tuple[str, str]
    systems: tuple[str, ...]
    mean: float


@dataclass(frozen=True, eq=False)
class FactorialResult:
    """The effects of two factors and their interaction on scores."""

    scores: SystemScores
    factors: tuple[str, str]
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    cells: tuple[Cell, ...]
    effects: tuple[FactorEffect, ...]  # the first factor, the second, and their interaction
    within: Effect  # between systems of the same cell
    residual: Effect
    alpha: float
    flips: Flips
    #: Combinations have different numbers of systems, so each was averaged to one before the tests, which then test the
    #: means shown.
    is_averaged: bool = False

    def mean(self, factor: int, level: str) -> float:
        found = [cell.mean for cell in self.cells if cell.levels[factor] == level]
        return math.fsum(found) / len(found)

    @property
    def least_p(self) -> float | None:
        """A bound on the smallest p that sign flips can give; None if they are exact."""
        return None if self.flips.enumerated else 1 / self.flips.count


def compare_factors(
    matrix: SystemScores,
    factors: Mapping[str, Mapping[str, str]],
    *,
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int = 0,
) -> FactorialResult:
    """Compare systems by two factors, each with a level per system.

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
        # Rounding errors become 0.
        contrasts = settle(scores @ _contrasts(of_systems, names, name), float(np.abs(scores).max()))
        columns = on_flip_grid(contrasts)
        total = columns.steps.sum(axis=0)
        # p is the share of flips whose summed contrasts have at least the observed sum of squares. Sums that are equal
        # in exact arithmetic count as extreme; rounding to the grid moves a sum by at most one step per query.
        slack = 2 * columns.slack * (np.abs(total).sum() + columns.slack * total.size)
        least, extreme = float((total**2).sum()) - slack, 0
        for piece in flips.sums(columns.steps):
            extreme += int(np.count_nonzero(((total - 2 * piece) ** 2).sum(axis=1) >= least))
        share = scaled.sum_of_squares / whole if whole else None
        effects.append(FactorEffect(name, scaled, float(flips.p(np.array(extreme))), share))
    cells = []
    for pair, inside in members.items():
        of_cell = table.means[[i for i, each in enumerate(pairs) if each == pair]]
        cells.append(Cell(pair, tuple(systems[i] for i in inside), math.fsum(of_cell.tolist()) / of_cell.size))
    levels = tuple(dict.fromkeys(of_systems[first])), tuple(dict.fromkeys(of_systems[second]))
    within = Effect.of(n * of_means.residual.sum_of_squares, of_means.residual.df, table.residual)
    found = matrix, names, levels, tuple(cells), tuple(effects), within, table.residual
    return FactorialResult(*found, alpha, flips, is_averaged)


def _combinations(factors: Mapping[str, Mapping[str, str]], systems: Sequence[str]) -> dict[tuple[str, str], list[int]]:
    """Return the systems of each combination of levels."""
    if len(factors) != 2:
        raise UsageError(f"factors: there are {len(factors)}, not two", "a table has a column system and two others")
    for name, level_of in factors.items():
        without = next((system for system in systems if system not in level_of), None)
        if without is not None:
            raise UsageError(f"factors: system '{without}' has no level of '{name}'")
        if len({level_of[system] for system in systems}) < 2:
            raise UsageError(f"factors: '{name}' has one level only; at least two are needed")
    first, second = factors
    members = grouped(((factors[first][each], factors[second][each]), i) for i, each in enumerate(systems))
    # Otherwise the means of two levels would be over different levels of the other factor.
    for one, other in product(*(dict.fromkeys(levels) for levels in zip(*members, strict=True))):
        if (one, other) not in members:
            raise UsageError(
                f"factors: no system has {first} {printable(one)} and {second} {printable(other)}",
                "every combination needs a system: add one, or leave a level out",
            )
    return members


def _contrasts(of_systems: Mapping[str, Sequence[str]], names: tuple[str, str], effect: str) -> Floats:
    """Return orthonormal contrasts, systems x degrees of freedom, of an effect adjusted for those it is not part of."""
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
