"""Agreement of two scorings on the order of systems, and of two judges on grades.

Higher scores are better throughout. Coefficients for judges are vectorised over weightings of the same grades: one for
the estimates, one per bootstrap resample.
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

#: Persistence of RBO: the probability of going on to the next system.
PERSISTENCE = 0.9


class Swap(NamedTuple):
    """Two systems that two scorings order differently, and the lead of the better one in each scoring."""

    better_by_a: str
    better_by_b: str
    lead_a: float
    lead_b: float


def kendall_tau_b(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """Return Kendall's tau-b of two scorings; None if either is constant.

    (C - D) / sqrt((P - Tx) (P - Ty)) with C pairs in the same order, D in opposite order, P pairs in total, and Tx and
    Ty pairs tied in either scoring (Kendall 1945).

    >>> kendall_tau_b([1, 2, 3, 4], [2, 1, 3, 4])
    0.6666666666666666
    """
    if len(x) < 2:
        return None
    first, second = _signs(x), _signs(y)
    untied = np.count_nonzero(first) * np.count_nonzero(second)
    # Every pair is counted from both ends; the square root of exact products keeps 1 exactly 1.
    return float((first * second).sum() / math.sqrt(untied)) if untied else None


def kendall_tau_a(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """Return Kendall's tau-a of two scorings, without a correction for ties.

    (C - D) / P with C pairs in the same order, D in opposite order, P pairs in total (Kendall 1938). A tied pair counts
    as neither, so a scoring with ties has less than 1 even with itself.

    >>> kendall_tau_a([1, 2, 3, 4], [2, 1, 3, 4]), kendall_tau_a([1, 2, 2], [1, 2, 3])
    (0.6666666666666666, 0.6666666666666666)
    """
    return float((_signs(x) * _signs(y)).sum() / (len(x) * (len(x) - 1))) if len(x) > 1 else None


def _signs(values: Sequence[float] | Floats) -> Floats:
    """Compare all items: 1 if the row's value is above the column's, -1 if below, 0 if tied."""
    return np.asarray(np.sign(np.subtract.outer(np.asarray(values, float), np.asarray(values, float))))


def tau_ap(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """Return the AP correlation (Yilmaz, Aslam & Robertson 2008) of an estimated order; None with any tie.

    2 / (N - 1) sum_{i=2..N} C(i) / (i - 1) - 1, with the estimate read from its best system and C(i) the number of
    systems above i that the reference also ranks above it. Changes at the top weigh more. It is not symmetric.

    >>> tau_ap([3, 4, 2, 1], [4, 3, 2, 1])  # B A C D instead of A B C D
    0.33333333333333326
    """
    est, ref = _two(estimate, reference)
    return tau_ap_a(est, ref) if np.unique(est).size == est.size else None


def tau_ap_a(estimate: Sequence[float] | Floats, reference: Sequence[float] | Floats) -> float | None:
    """Return the AP correlation averaged over all orders of tied estimates; None if the reference has ties.

    In a group of tied systems below p others, each is equally likely at rank k of the group: C is then on average the
    group's share of the p concordant systems, plus k / 2 (Urbano & Marrero 2017).

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
    """Return the AP correlation of two orders that may both have ties, the mean of both directions; None if constant.

    As :func:`tau_ap`, but tied systems are not above each other, C(i) is divided by the number of systems above i, and
    the best group, which has none above it, is left out (Urbano & Marrero 2017).

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
    """Return the extrapolated rank-biased overlap of two complete orders (Webber, Moffat & Zobel 2010).

    X_k / k p^k + (1 - p) / p sum_d X_d / d p^d, with X_d the number of systems in both top d. Ties share their ranks
    with equal probability, which averages over tie orders: X_d is a sum of products (RBO^a of Corsi & Urbano 2024).

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
    """Return the mean rank-biased overlap of two random orders, far above 0 if there are few systems.

    >>> round(rbo_by_chance(5), 2), round(rbo_by_chance(129), 2)
    (0.82, 0.08)
    """
    return p**systems + (1 - p) / p * math.fsum(d / systems * p**d for d in range(1, systems + 1))


def pearson(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | None:
    """Return the linear correlation of two scorings; None if either is constant.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    one, other = (side - math.fsum(side) / max(side.size, 1) for side in _two(x, y))
    spread = math.fsum(one**2) * math.fsum(other**2)
    return max(-1.0, min(1.0, math.fsum(one * other) / math.sqrt(spread))) if spread > 0 else None


def swaps(names: Sequence[str], x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Swap, ...]:
    """Return the pairs of systems that two scorings order differently, clearest first.

    Leads are compared relative to each scoring's range, because the measures may differ.

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
        raise UsageError(f"agreement: the two scorings have {one.size} and {other.size} values; lengths must match")
    return one, other


def _among_first(values: Floats) -> Floats:
    """Return, depths x systems, the probability that each system is in the top d."""
    above = np.count_nonzero(values > values[:, np.newaxis], axis=1)
    equal = np.count_nonzero(values == values[:, np.newaxis], axis=1)
    depth = np.arange(1, values.size + 1)[:, np.newaxis]
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


kendall_tau = kendall_tau_b

_AT_ONCE = 1 << 20  # cells of resampled queries


def errors_of_interval(queries: int) -> float:
    """Return the half-width of a 95% interval of a coefficient, in bootstrap standard errors: Student's t of 99%.

    Resamples underestimate the bias and the variance of an order based on few queries; this multiple contains the order
    based on all queries in 95% of samples (docs/how-to/agree.md).
    """
    return t_quantile(0.995, queries - 1)


class OrderEstimate(NamedTuple):
    """A coefficient (None if undefined) with its bootstrap statistics, None without any defined resample.

    ``bias`` is the mean of the resamples minus the value. The interval is value +- t sd of the resamples. It is centred
    on the value because orders agree less on resampled queries. Coefficients that cannot reach 95% coverage have none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    bias: float | None = None


@dataclass(frozen=True, eq=False)
class OrderAgreement:
    """Agreement of two measures on the order of systems, for the same queries.

    ``tau_ap`` uses A's order as the reference, ``tau_ap_reverse`` B's; both are None with ties. Either ``tau_ap_a`` is
    None if its reference has ties. ``rbo_by_chance`` is the RBO expected by chance.
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
    """Agreement of every pair of measures, and the settings."""

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
    """Compare every two measures' orders of systems; scores are queries x systems per measure, higher is better.

    Rows are the same queries in the same order. The bootstrap uses the same resamples for all measures.

    >>> found = agreement_of_measures({"P": [[0.3, 0.2, 0.1]], "AP": [[0.2, 0.3, 0.1]]}, ["a", "b", "c"], draws=0)
    >>> round(found.of("P", "AP").tau_b.value, 4), found.of("P", "AP").swaps[0].better_by_b
    (0.3333, 'b')
    """
    check_draws(draws, seed, least=0)
    matrices = {name: np.asarray(matrix, np.float64) for name, matrix in scores.items()}
    [(queries, _)] = {matrix.shape for matrix in matrices.values()}
    means = {name: settle(column_means(each), float(np.max(np.abs(each)))) for name, each in matrices.items()}
    # Resamples of a single query would have no variance, as if nothing were uncertain.
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
            # All coefficients except Pearson's depend on ranks only.
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
    """Return settled means of resampled queries, resamples x systems, and their dense ranks, for every measure."""
    [(queries, _)] = {matrix.shape for matrix in matrices.values()}
    grids = {name: on_grid(matrix, queries) for name, matrix in matrices.items()}
    parts: dict[str, list[Floats]] = {name: [np.zeros((0, matrix.shape[1]))] for name, matrix in matrices.items()}
    generator, at_once = stream(seed), max(1, _AT_ONCE // queries)
    for times in counts_of_draws(generator, draws, queries, at_once):
        for name, grid in grids.items():
            # Whole numbers below 2^53: exact in any order of addition.
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
    """Return a coefficient between -1 and 1 with its bootstrap statistics, and its interval if ``queries`` is given."""
    value = coefficient(*means)
    if value is None:
        return OrderEstimate(None)
    # Few systems have few orders: cache their coefficients.
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
    """The pairs of grades that occur: cell i has level ``a[i]`` of A and ``b[i]`` of B; sorted by a, then b."""

    levels: Floats  # ascending, from both judges
    a: Ints
    b: Ints

    @cached_property
    def differences(self) -> Floats:
        return np.asarray(self.levels[self.b] - self.levels[self.a])

    def totals(self, weights: Floats, grades: Ints) -> Floats:
        """Count how often a judge with these grades gave each level, weightings x levels."""
        order = np.argsort(grades, kind="stable")
        ends = np.searchsorted(grades[order], np.arange(self.levels.size + 1))
        # Weights are whole numbers, so running sums and their differences are exact.
        sums = np.zeros((weights.shape[0], weights.shape[1] + 1))
        np.cumsum(weights[:, order], axis=1, out=sums[:, 1:])
        return np.asarray(np.diff(sums[:, ends], axis=1))


def coefficients(cells: Cells, weights: Floats, is_relevant: Bools) -> dict[str, Floats]:
    """Return every coefficient for every weighting; NaN if undefined.

    ``weights`` are whole numbers, weightings x cells; ``is_relevant`` is per level.

    Cohen's kappa is 1 - observed / expected disagreement, with the disagreement expected by chance if each judge keeps
    the frequencies of their grades (Cohen 1960; weighted 1968). A disagreement weighs 1, the difference between the two
    *grades* (linear), or its square (quadratic); for equally spaced levels these are the usual weights. Fleiss' kappa
    (1971; for two judges it is Scott's pi) uses the pooled frequencies of both judges. Krippendorff's alpha (2004) uses
    pairs drawn from the pooled grades without replacement; its ordinal distance is between mid-ranks. All are undefined
    with a single level.
    """

    def summed(values: Floats | Bools) -> Floats:
        # Not a matrix product: its order of addition depends on the linear algebra library.
        return np.asarray((weights * values).sum(axis=1))

    steps, difference, levels = np.abs(cells.b - cells.a), cells.differences, cells.levels
    total = weights.sum(axis=1)
    by_a, by_b = cells.totals(weights, cells.a), cells.totals(weights, cells.b)
    pooled = by_a + by_b
    grades = pooled.sum(axis=1)
    one_level = np.count_nonzero(pooled, axis=1) == 1
    disagreement = summed(steps > 0)
    mid_ranks = np.cumsum(pooled, axis=1) - pooled / 2
    # The distance between two levels is the sum of the gaps between them. A gap counts if one judge stays below it and
    # the other does not, so the sum over pairs of levels becomes a sum over gaps.
    below_a, below_b = (np.cumsum(each, axis=1)[:, :-1] for each in (by_a, by_b))
    crossed = below_a * (total[:, np.newaxis] - below_b) + below_b * (total[:, np.newaxis] - below_a)
    linear = (crossed * np.diff(levels)).sum(axis=1) / total
    # The sum of both variances and the squared distance between the means, which avoids cancellation.
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
            summed((mid_ranks[:, cells.a] - mid_ranks[:, cells.b]) ** 2), _expected_alpha(pooled, mid_ranks), one_level
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
    return np.asarray(1 - np.divide(observed, expected, out=np.full(observed.size, np.nan), where=~undefined))


def _expected_nominal(by_a: Floats, by_b: Floats) -> Floats:
    total = by_a.sum(axis=1)
    return np.asarray(total - (by_a * by_b).sum(axis=1) / total)


def _expected_alpha(pooled: Floats, values: Floats) -> Floats:
    grades = pooled.sum(axis=1)
    return np.asarray(grades * _mean_and_spread(pooled, values)[1] / (grades - 1))


def _mean_and_spread(counts: Floats, values: Floats) -> tuple[Floats, Floats]:
    mean = (counts * values).sum(axis=1) / counts.sum(axis=1)
    return np.asarray(mean), np.asarray((counts * (values - mean[:, np.newaxis]) ** 2).sum(axis=1))
