"""How far measures agree on the order of systems, and how sure one can be of that with these queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.errors import UsageError
from gainful.progress import Progress
from gainful.stats.agreement import PERSISTENCE, pearson, rbo, rbo_by_chance, swaps, tau_ap, tau_ap_a, tau_ap_b
from gainful.stats.anova import checked, column_means
from gainful.stats.draws import check_draws, stream
from gainful.stats.grid import on_grid
from gainful.stats.orders import Swap, kendall_tau_b
from gainful.stats.settled import settle

_Z_95 = 1.959963984540054
_AT_ONCE = 1 << 20  # cells of drawn queries

Coefficient = Callable[[Floats, Floats], float | None]


class OrderEstimate(NamedTuple):
    """A coefficient, its 95 % interval, and how far the bootstrap's draws lie from it on average.

    ``value`` is None where it is undefined; interval and bias are None where no draws were asked for or none of them
    has a value. The interval is value +- 1.96 sd of the draws on Fisher's z scale: around the value, not around the
    draws, because resampled queries agree less than all of them do.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    bias: float | None = None


@dataclass(frozen=True, eq=False)
class OrderAgreement:
    """How two measures order the same systems on the same queries.

    ``tau_ap`` reads B's order against A's, ``tau_ap_reverse`` A's against B's; both are None with ties, and so is
    either ``tau_ap_a`` where the order that it is read against has some. ``rbo_by_chance`` is what random orders have.
    """

    a: str
    b: str
    systems: tuple[str, ...]
    means_a: Floats  # settled
    means_b: Floats
    tau_b: OrderEstimate
    tau_ap: float | None
    tau_ap_reverse: float | None
    tau_ap_a: float | None
    tau_ap_a_reverse: float | None
    tau_ap_b: OrderEstimate
    rbo: OrderEstimate
    rbo_by_chance: float
    pearson: OrderEstimate
    swaps: tuple[Swap, ...]

    @property
    def pairs(self) -> int:
        return math.comb(len(self.systems), 2)


@dataclass(frozen=True, eq=False)
class MeasureAgreement:
    """Every two measures compared, and what it was made with."""

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    queries: int
    agreements: tuple[OrderAgreement, ...]  # (0, 1), (0, 2), ..., (1, 2), ...
    persistence: float
    draws: int
    seed: int

    def of(self, a: str, b: str) -> OrderAgreement:
        """The comparison of two measures, in either order."""
        return next(found for found in self.agreements if {found.a, found.b} == {a, b})

    def matrix(self, coefficient: str = "tau_b") -> tuple[tuple[float | None, ...], ...]:
        """Measures x measures: one of ``tau_b``, ``tau_ap_b``, ``rbo`` and ``pearson``; 1 on the diagonal."""
        value = {frozenset((x.a, x.b)): getattr(x, coefficient).value for x in self.agreements}
        return tuple(tuple(1.0 if a == b else value[frozenset((a, b))] for b in self.measures) for a in self.measures)


def agreement_of_measures(
    scores: Mapping[str, Floats],
    systems: Sequence[str],
    *,
    persistence: float = PERSISTENCE,
    draws: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> MeasureAgreement:
    """Compares the orders of systems by every two measures; each has its matrix of queries x systems, higher is better.

    Rows are the same queries in the same order. The bootstrap draws queries, the same ones for all measures.

    >>> found = agreement_of_measures({"P": [[0.3, 0.2, 0.1]], "AP": [[0.2, 0.3, 0.1]]}, ["a", "b", "c"], draws=0)
    >>> round(found.of("P", "AP").tau_b.value, 4), found.of("P", "AP").swaps[0].better_by_b
    (0.3333, 'b')
    """
    check_draws(draws, seed, least=0)
    matrices = {name: checked(matrix) for name, matrix in scores.items()}
    shapes = {matrix.shape for matrix in matrices.values()}
    if len(matrices) < 2 or len(shapes) != 1:
        raise UsageError(f"agreement: expected two or more matrices of one shape, found {len(matrices)} of {shapes}")
    [(queries, width)] = shapes
    if width != len(systems):
        raise UsageError(f"agreement: expected a column a system, {len(systems)}, found {width}")
    means = {name: _settled(column_means(matrix), matrix) for name, matrix in matrices.items()}
    # One query, drawn again and again, would seem to leave no doubt at all.
    drawn = drawn_means(matrices, draws if queries > 1 else 0, seed)
    progress = progress or Progress()
    progress.total = math.comb(len(matrices), 2)
    agreements = []
    for a, b in combinations(matrices, 2):
        agreements.append(_agreement(a, b, systems, (means[a], means[b]), (drawn[a], drawn[b]), persistence))
        progress.advance(1)
    return MeasureAgreement(tuple(matrices), tuple(systems), queries, tuple(agreements), persistence, draws, seed)


def drawn_means(matrices: Mapping[str, Floats], draws: int, seed: int) -> dict[str, Floats]:
    """Draws x systems for every measure: the settled means over queries drawn with replacement."""
    if not draws:
        return {name: np.zeros((0, matrix.shape[1])) for name, matrix in matrices.items()}
    queries = next(iter(matrices.values())).shape[0]
    grids = {name: on_grid(matrix, queries) for name, matrix in matrices.items()}
    parts: dict[str, list[Floats]] = {name: [] for name in matrices}
    for times in _times_drawn(queries, draws, seed):
        for name, grid in grids.items():
            # Whole numbers below 2^53: exact, however the machine's linear algebra adds them up.
            parts[name].append(_settled((times @ grid.steps) * grid.unit / queries, matrices[name]))
    return {name: np.concatenate(found) for name, found in parts.items()}


def _times_drawn(queries: int, draws: int, seed: int) -> Iterator[Floats]:
    """How often each query is drawn, some draws at a time."""
    generator = stream(seed)
    at_once = max(1, _AT_ONCE // queries)
    for first in range(0, draws, at_once):
        rows = min(at_once, draws - first)
        taken: Ints = generator.integers(0, queries, (rows, queries)) + np.arange(rows)[:, np.newaxis] * queries
        yield np.bincount(taken.ravel(), minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def _settled(means: Floats, matrix: Floats) -> Floats:
    return settle(means, float(np.max(np.abs(matrix))))


def _agreement(
    a: str,
    b: str,
    systems: Sequence[str],
    means: tuple[Floats, Floats],
    drawn: tuple[Floats, Floats],
    persistence: float,
) -> OrderAgreement:
    first, second = means
    pairs = math.comb(len(systems), 2)
    # A draw that agrees wholly is taken as half a pair away from that, or its z would be infinite.
    nearest = 1 - 1 / pairs if pairs else 0.0

    def overlap(x: Floats, y: Floats) -> float | None:
        return rbo(x, y, persistence)

    return OrderAgreement(
        a,
        b,
        tuple(systems),
        first,
        second,
        estimate(kendall_tau, means, drawn, nearest),
        tau_ap(second, first),
        tau_ap(first, second),
        tau_ap_a(second, first),
        tau_ap_a(first, second),
        estimate(tau_ap_b, means, drawn, nearest),
        estimate(overlap, means, drawn, nearest, lowest=0.0),
        rbo_by_chance(len(systems), persistence),
        estimate(pearson, means, drawn, 1 - 1e-9),
        swaps(systems, first, second),
    )


def kendall_tau(x: Floats, y: Floats) -> float | None:
    """Kendall's tau-b, of arrays."""
    return kendall_tau_b(x, y)  # type: ignore[arg-type]


def estimate(
    coefficient: Coefficient,
    means: tuple[Floats, Floats],
    drawn: tuple[Floats, Floats],
    nearest: float,
    lowest: float = -1.0,
) -> OrderEstimate:
    """A coefficient with its interval; ``lowest`` to 1 is what it can be, ``nearest`` the most that z is taken of."""
    value = coefficient(*means)
    if value is None:
        return OrderEstimate(None)
    draws = [coefficient(x, y) for x, y in zip(*drawn, strict=True)]
    found = np.array([draw for draw in draws if draw is not None])
    if not found.size:
        return OrderEstimate(value)

    def z_of(values: Floats) -> Floats:
        return np.asarray(np.arctanh(np.clip(2 * (values - lowest) / (1 - lowest) - 1, -nearest, nearest)))

    def back(z: float) -> float:
        return lowest + (math.tanh(z) + 1) * (1 - lowest) / 2

    centre, half = float(z_of(np.array([value]))[0]), _Z_95 * float(z_of(found).std(ddof=1)) if found.size > 1 else 0.0
    low, high = (back(centre - half), back(centre + half)) if half else (value, value)
    return OrderEstimate(value, min(low, value), max(high, value), math.fsum(found) / found.size - value)
