"""How far two scorings put the same systems into the same order, and how sure one can be of that with these queries;
and how far two judges give the same grades.

Higher scores are better throughout. Coefficients of judges work on many weightings of the same grades at once: one for
the estimates, one a draw for the bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.parallel import Progress
from gainful.stats.anova import column_means
from gainful.stats.catalogues import COEFFICIENTS, SYMMETRIC, Coefficient
from gainful.stats.distributions import t_quantile
from gainful.stats.repeatable import check_draws, counts_of_draws, on_grid, settle, stream

#: How far down an order RBO looks: the chance of going on to the next system.
PERSISTENCE = 0.9


class Swap(NamedTuple):
    """Two systems that change places, and by how much the one that is better by A is ahead by A, and by B behind."""

    better_by_a: str
    better_by_b: str
    lead_a: float
    lead_b: float


def kendall_tau_b(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """Kendall's tau-b of two scorings of the same things; None where either scores all alike.

    (C - D) / sqrt((P - Tx) (P - Ty)) with C pairs in the same order, D in opposite order, P pairs in all, Tx and Ty of
    them tied in one scoring (Kendall 1945).

    >>> kendall_tau_b([1, 2, 3, 4], [2, 1, 3, 4])
    0.6666666666666666
    """
    if len(x) < 2:
        return None
    first, second = _signs(x), _signs(y)
    untied = np.count_nonzero(first) * np.count_nonzero(second)
    # Every pair is counted from both its ends, above and below; the roots of exact products keep 1 exactly 1.
    return float((first * second).sum() / math.sqrt(untied)) if untied else None


def kendall_tau_a(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """Kendall's tau-a of two scorings of the same things: without a correction for ties.

    (C - D) / P with C pairs in the same order, D in opposite order, P pairs in all (Kendall 1938). A tied pair is in
    neither order, so that even a scoring with ties and itself have less than 1.

    >>> kendall_tau_a([1, 2, 3, 4], [2, 1, 3, 4]), kendall_tau_a([1, 2, 2], [1, 2, 3])
    (0.6666666666666666, 0.6666666666666666)
    """
    return float((_signs(x) * _signs(y)).sum() / (len(x) * (len(x) - 1))) if len(x) > 1 else None


def _signs(values: Sequence[float] | Floats) -> Floats:
    """Things x things: 1 where a row's is above a column's, -1 where below, 0 where tied."""
    return np.asarray(np.sign(np.subtract.outer(np.asarray(values, float), np.asarray(values, float))))


def tau_ap(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """AP correlation (Yilmaz, Aslam & Robertson 2008) of an estimated order with a reference; None with any tie.

    2 / (N - 1) sum_{i=2..N} C(i) / (i - 1) - 1: the estimate is read from its best, C(i) are the systems above i that
    the reference puts above it, too. What changes at the top weighs more. The two directions differ.

    >>> tau_ap([3, 4, 2, 1], [4, 3, 2, 1])  # B A C D, where A B C D would be right
    0.33333333333333326
    """
    est, ref = _two(estimate, reference)
    return tau_ap_a(est, ref) if np.unique(est).size == est.size else None


def tau_ap_a(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """AP correlation with an estimate that may have ties: its mean over the orders of these; None if the reference has.

    At place k of a group of equals below p others, each of the group stands equally often: C is on average what the
    group has of p, and half of k (Urbano & Marrero 2017).

    >>> tau_ap_a([2, 2, 1], [3, 2, 1])  # the mean of 1 and 0
    0.5
    """
    est, ref = _two(estimate, reference)
    if est.size < 2 or np.unique(ref).size < ref.size:
        return None
    total = 0.0
    for score in np.unique(est)[::-1]:
        group, above = ref[est == score], ref[est > score]
        kept = float(np.count_nonzero(above[:, np.newaxis] > group)) / group.size
        total += math.fsum((kept + k / 2) / (above.size + k) for k in range(group.size) if above.size + k)
    return 2 * total / (est.size - 1) - 1


def tau_ap_b(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """AP correlation of two orders that may both have ties, the mean of both directions; None if one is all ties.

    As :func:`tau_ap`, but a system tied with another is not above it: C(i) over the number of systems that are above i,
    and the best group, which has none above it, does not count (Urbano & Marrero 2017). Without ties it is the mean of
    :func:`tau_ap` in both directions.

    >>> tau_ap_b([2, 2, 1], [2, 2, 1]), round(tau_ap_b([4, 3, 2, 1], [3, 2, 4, 1]), 12)
    (1.0, 0.166666666667)
    """
    is_above = [each > each[:, np.newaxis] for each in _two(x, y)]
    kept = np.count_nonzero(is_above[0] & is_above[1], axis=1)
    directions = []
    for each in is_above:
        above = np.count_nonzero(each, axis=1)
        counted = above > 0
        if not counted.any():
            return None
        directions.append(2 * math.fsum(kept[counted] / above[counted]) / int(np.count_nonzero(counted)) - 1)
    return sum(directions) / 2


def rbo(x: Sequence[float] | Floats, y: Sequence[float] | Floats, p: float = PERSISTENCE) -> float | None:
    """Rank-biased overlap of two whole orders, extrapolated (Webber, Moffat & Zobel 2010); the mean over tie orders.

    X_k / k p^k + (1 - p) / p sum_d X_d / d p^d, X_d the systems that both have among their first d. Of equals each has
    the same chance to be among these: X_d is then the sum of products of chances (RBO^a of Corsi & Urbano 2024).

    >>> round(rbo([4, 3, 2, 1], [3, 4, 2, 1]), 12)
    0.9
    """
    one, other = _two(x, y)
    if not 0 < p < 1:
        raise UsageError(f"persistence: expected a number between 0 and 1, found {p!r}")
    size = one.size
    if not size:
        return None
    overlap = (_among_first(one) * _among_first(other)).sum(axis=1)
    depth = np.arange(1, size + 1)
    agreement = overlap / depth
    return float(agreement[-1] * p**size + (1 - p) / p * math.fsum(agreement * p**depth))


def rbo_by_chance(systems: int, p: float = PERSISTENCE) -> float:
    """The rank-biased overlap that two random orders have on average: it is far above 0 where systems are few.

    >>> round(rbo_by_chance(5), 2), round(rbo_by_chance(129), 2)
    (0.82, 0.08)
    """
    return p**systems + (1 - p) / p * math.fsum(d / systems * p**d for d in range(1, systems + 1))


def pearson(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """The linear correlation of two scorings; None where either scores all alike.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    one, other = (side - math.fsum(side) / max(side.size, 1) for side in _two(x, y))
    spread = math.fsum(one**2) * math.fsum(other**2)
    return max(-1.0, min(1.0, math.fsum(one * other) / math.sqrt(spread))) if spread > 0 else None


def swaps(names: Sequence[str], x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Swap, ...]:
    """The pairs of systems that two scorings put into opposite order, clearest first.

    Leads are compared as shares of each scoring's range, because the scorings may be of different measures.

    >>> swaps(["a", "b", "c"], [3, 2, 1], [2, 3, 1])
    (Swap(better_by_a='a', better_by_b='b', lead_a=1.0, lead_b=1.0),)
    """
    one, other = _two(x, y)
    lead_a, lead_b = (side[:, np.newaxis] - side for side in (one, other))
    first, second = np.nonzero((lead_a > 0) & (lead_b < 0))
    if not first.size:
        return ()
    clearness = np.minimum(lead_a[first, second] / np.ptp(one), -lead_b[first, second] / np.ptp(other))
    found = [
        (-clear, Swap(names[i], names[j], float(lead_a[i, j]), float(-lead_b[i, j])))
        for clear, i, j in zip(clearness.tolist(), first.tolist(), second.tolist(), strict=True)
    ]
    return tuple(swap for _, swap in sorted(found))


def _two(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise UsageError(f"agreement: expected two scores a system, found {one.size} and {other.size} in all")
    return one, other


def _among_first(values: Floats) -> Floats:
    """Depths x systems: the chance of each system to be among the first d."""
    above = np.count_nonzero(values > values[:, np.newaxis], axis=1)
    equal = np.count_nonzero(values == values[:, np.newaxis], axis=1)
    depth = np.arange(1, values.size + 1)[:, np.newaxis]
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


kendall_tau = kendall_tau_b

_AT_ONCE = 1 << 20  # cells of drawn queries


def errors_of_interval(queries: int) -> float:
    """How many standard errors a 95% interval of a coefficient reaches to either side: Student's t of 99%.

    Resamples neither know all of the bias that an order by few queries has, nor vary as much as it does; so many is
    what holds the order by all queries in 95% of samples (docs/how-to/agree.md).
    """
    return t_quantile(0.995, queries - 1)


class OrderEstimate(NamedTuple):
    """A coefficient, its 95% interval, its standard error, and how far the bootstrap's draws lie from it on average.

    ``value`` is None where it is undefined; the others are None where no draws were asked for or none of them has a
    value. The interval is value +- t sd of the draws: around the value, not around the draws, because resampled queries
    agree less than all of them do. Coefficients of which none holds 95% have no interval.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    error: float | None = None
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
    tau_a: OrderEstimate
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
        return next(found for found in self.agreements if {found.a, found.b} == {a, b})


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
    matrices = {name: np.asarray(matrix, np.float64) for name, matrix in scores.items()}
    [(queries, _)] = {matrix.shape for matrix in matrices.values()}
    means = {name: settle(column_means(each), float(np.max(np.abs(each)))) for name, each in matrices.items()}
    # One query, drawn again and again, would seem to leave no doubt at all.
    drawn = _drawn_means(matrices, draws if queries > 1 else 0, seed)
    progress = progress or Progress()
    progress.total = math.comb(len(matrices), 2)
    formulas: dict[str, Coefficient] = {name: each.formula for name, each in SYMMETRIC.items()}
    formulas["rbo"] = partial(rbo, p=persistence)
    agreements = []
    for a, b in combinations(matrices, 2):
        first, second = means[a], means[b]
        estimates = {}
        for name, formula in formulas.items():
            # Ranks of the drawn means are all that any coefficient but the linear one asks of them.
            of_draws = [drawn[each][0 if name == "pearson" else 1] for each in (a, b)]
            has_interval = COEFFICIENTS[name].has_interval
            estimates[name] = estimate(formula, (first, second), of_draws, queries if has_interval else None)
        agreements.append(
            OrderAgreement(
                a,
                b,
                tuple(systems),
                first,
                second,
                tau_ap=tau_ap(second, first),
                tau_ap_reverse=tau_ap(first, second),
                tau_ap_a=tau_ap_a(second, first),
                tau_ap_a_reverse=tau_ap_a(first, second),
                rbo_by_chance=rbo_by_chance(len(systems), persistence),
                swaps=swaps(systems, first, second),
                **estimates,
            )
        )
        progress.advance(1)
    return MeasureAgreement(tuple(matrices), tuple(systems), queries, tuple(agreements), persistence, draws, seed)


def _drawn_means(matrices: Mapping[str, Floats], draws: int, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Draws x systems for every measure: the settled means over queries drawn with replacement, and their ranks, how
    many different means of the draw are below each."""
    [(queries, _)] = {matrix.shape for matrix in matrices.values()}
    grids = {name: on_grid(matrix, queries) for name, matrix in matrices.items()}
    parts: dict[str, list[Floats]] = {name: [np.zeros((0, matrix.shape[1]))] for name, matrix in matrices.items()}
    generator, at_once = stream(seed), max(1, _AT_ONCE // queries)
    for times in counts_of_draws(generator, draws, queries, at_once):
        for name, grid in grids.items():
            # Whole numbers below 2^53: exact, however the machine's linear algebra adds them up.
            scale = float(np.max(np.abs(matrices[name])))
            parts[name].append(settle((times.astype(np.float64) @ grid.steps) * grid.unit / queries, scale))
    found = {}
    for name, each in parts.items():
        means = np.concatenate(each)
        order = np.argsort(means, axis=1)
        rises = np.diff(np.take_along_axis(means, order, axis=1), axis=1, prepend=-np.inf) > 0
        ranks = np.empty(means.shape)
        np.put_along_axis(ranks, order, np.cumsum(rises, axis=1) - 1.0, axis=1)
        found[name] = means, ranks
    return found


def estimate(
    coefficient: Coefficient, means: tuple[Floats, Floats], drawn: Sequence[Floats], queries: int | None
) -> OrderEstimate:
    """A coefficient between -1 and 1, what draws say of it, and its interval if it is told the number of queries."""
    value = coefficient(*means)
    if value is None:
        return OrderEstimate(None)
    # Few systems have few orders: most draws have been seen before.
    known: dict[bytes, float | None] = {}
    draws = []
    for x, y in zip(*drawn, strict=True):
        key = x.tobytes() + y.tobytes()
        if key not in known:
            known[key] = coefficient(x, y)
        draws.append(known[key])
    found = np.array([draw for draw in draws if draw is not None])
    if not found.size:
        return OrderEstimate(value)
    error = float(found.std(ddof=1)) if found.size > 1 else 0.0
    bias = math.fsum(found) / found.size - value
    if queries is None:
        return OrderEstimate(value, None, None, error, bias)
    half = errors_of_interval(queries) * error
    return OrderEstimate(value, max(-1.0, value - half), min(1.0, value + half), error, bias)


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The pairs of grades that occur: cell i has level ``a[i]`` of A and level ``b[i]`` of B; by a, then by b."""

    levels: Floats  # ascending; of both judges together
    a: Ints
    b: Ints

    @cached_property
    def differences(self) -> Floats:
        return np.asarray(self.levels[self.b] - self.levels[self.a])

    def totals(self, weights: Floats, grades: Ints) -> Floats:
        """Weightings x levels: how often a judge, whose grades these are, gave each level."""
        order = np.argsort(grades, kind="stable")
        ends = np.searchsorted(grades[order], np.arange(self.levels.size + 1))
        # Weights are whole numbers: their running sums are exact, and so are the differences of these.
        sums = np.zeros((weights.shape[0], weights.shape[1] + 1))
        np.cumsum(weights[:, order], axis=1, out=sums[:, 1:])
        return np.asarray(np.diff(sums[:, ends], axis=1))


def coefficients(cells: Cells, weights: Floats, is_relevant: Bools) -> dict[str, Floats]:
    """Every coefficient for every weighting; NaN where it is undefined.

    ``weights`` are whole numbers, weightings x cells; ``is_relevant`` says of each level whether it counts as relevant.

    Cohen's kappa is 1 - observed / expected disagreement, where expected is what two judges would have who gave each
    grade as often as these two do, but by chance (Cohen 1960; weighted 1968). A disagreement weighs 1, or as much as
    the two *grades* differ (linear), or the square of that (quadratic); for equally spaced levels these are the usual
    weights. Fleiss' kappa (1971; of two judges it is Scott's pi) expects what two would have who gave each grade as
    often as both together do. Krippendorff's alpha (2004) expects what two would have who drew from the grades of both
    without putting them back; its ordinal distance is between mid-ranks. All are undefined with one level only.
    """

    def summed(values: Floats | Bools) -> Floats:
        # Not a product of matrices: its order of addition would depend on the machine's linear algebra.
        return np.asarray((weights * values).sum(axis=1))

    steps, difference, levels = np.abs(cells.b - cells.a), cells.differences, cells.levels
    total = weights.sum(axis=1)
    by_a, by_b = cells.totals(weights, cells.a), cells.totals(weights, cells.b)
    pooled = by_a + by_b
    grades = pooled.sum(axis=1)
    one_level = np.count_nonzero(pooled, axis=1) == 1
    disagreement = summed(steps > 0)
    mid_ranks = np.cumsum(pooled, axis=1) - pooled / 2
    # The way from one level to another is made of gaps between neighbours; a gap is crossed when one judge stays below
    # it and the other does not. So the sum over pairs of levels is one over gaps.
    below_a, below_b = (np.cumsum(each, axis=1)[:, :-1] for each in (by_a, by_b))
    crossed = below_a * (total[:, np.newaxis] - below_b) + below_b * (total[:, np.newaxis] - below_a)
    linear = (crossed * np.diff(levels)).sum(axis=1) / total
    # As the sum of three squares, so that nothing large cancels: both variances, and the means' distance.
    (mean_a, spread_a), (mean_b, spread_b) = (_mean_and_spread(each, levels) for each in (by_a, by_b))
    quadratic = spread_a + spread_b + total * (mean_a - mean_b) ** 2
    in_a, in_b = is_relevant[cells.a], is_relevant[cells.b]
    relevant = np.stack([summed(in_a), summed(in_b)])
    relevant_a, relevant_b = (np.stack([total - count, count], axis=1) for count in relevant)
    only_one = np.count_nonzero(relevant_a + relevant_b, axis=1) == 1
    return {
        "agreement": summed(steps == 0) / total,
        "one_level_apart": summed(steps == 1) / total,
        "further_apart": summed(steps > 1) / total,
        "kappa": _chance_corrected(disagreement, _expected_nominal(by_a, by_b), one_level),
        "kappa_linear": _chance_corrected(summed(np.abs(difference)), linear, one_level),
        "kappa_quadratic": _chance_corrected(summed(difference**2), quadratic, one_level),
        "kappa_fleiss": _chance_corrected(disagreement, _expected_nominal(pooled / 2, pooled / 2), one_level),
        "alpha_nominal": _chance_corrected(
            disagreement, (grades**2 - (pooled**2).sum(axis=1)) / (2 * (grades - 1)), one_level
        ),
        "alpha_ordinal": _chance_corrected(
            summed((mid_ranks[:, cells.a] - mid_ranks[:, cells.b]) ** 2),
            _expected_alpha(pooled, mid_ranks),
            one_level,
        ),
        "alpha_interval": _chance_corrected(
            summed(difference**2), _expected_alpha(pooled, levels[np.newaxis]), one_level
        ),
        "mean_difference": summed(difference) / total,
        "mean_absolute_difference": summed(np.abs(difference)) / total,
        "higher": summed(cells.b > cells.a) / total,
        "lower": summed(cells.b < cells.a) / total,
        "relevant_a": relevant[0] / total,
        "relevant_b": relevant[1] / total,
        "relevance_difference": (relevant[1] - relevant[0]) / total,
        "relevance_agreement": (total - summed(in_a != in_b)) / total,
        "relevance_kappa": _chance_corrected(summed(in_a != in_b), _expected_nominal(relevant_a, relevant_b), only_one),
    }


def _chance_corrected(observed: Floats, expected: Floats, undefined: Bools) -> Floats:
    ratio = np.divide(observed, expected, out=np.full(observed.size, np.nan), where=~undefined)
    return np.asarray(1 - ratio)


def _expected_nominal(by_a: Floats, by_b: Floats) -> Floats:
    total = by_a.sum(axis=1)
    return np.asarray(total - (by_a * by_b).sum(axis=1) / total)


def _expected_alpha(pooled: Floats, values: Floats) -> Floats:
    grades = pooled.sum(axis=1)
    return np.asarray(grades * _mean_and_spread(pooled, values)[1] / (grades - 1))


def _mean_and_spread(counts: Floats, values: Floats) -> tuple[Floats, Floats]:
    mean = (counts * values).sum(axis=1) / counts.sum(axis=1)
    return np.asarray(mean), np.asarray((counts * (values - mean[:, np.newaxis]) ** 2).sum(axis=1))
