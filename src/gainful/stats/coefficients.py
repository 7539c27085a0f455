"""Coefficients of agreement between two judges, from how often which two grades met.

Everything here works on many weightings of the same cells at once: one for the estimates, one a draw for the bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gainful.kernel.arrays import Bools, Floats, Ints


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
    in_a, in_b = is_relevant[cells.a], is_relevant[cells.b]
    relevant = np.stack([summed(in_a), summed(in_b)])
    relevant_a, relevant_b = (np.stack([total - count, count], axis=1) for count in relevant)
    only_one = np.count_nonzero(relevant_a + relevant_b, axis=1) == 1
    return {
        "agreement": summed(steps == 0) / total,
        "one_level_apart": summed(steps == 1) / total,
        "further_apart": summed(steps > 1) / total,
        "kappa": _chance_corrected(disagreement, _expected_nominal(by_a, by_b), one_level),
        "kappa_linear": _chance_corrected(summed(np.abs(difference)), _expected_linear(by_a, by_b, levels), one_level),
        "kappa_quadratic": _chance_corrected(summed(difference**2), _expected_quadratic(by_a, by_b, levels), one_level),
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


def _expected_linear(by_a: Floats, by_b: Floats, levels: Floats) -> Floats:
    """The sum over all pairs of levels of how often they would meet times how far they are apart.

    The way from one level to another is made of gaps between neighbours; a gap is crossed when one judge stays below it
    and the other does not. So the sum over pairs of levels is one over gaps.
    """
    total = by_a.sum(axis=1, keepdims=True)
    below_a, below_b = np.cumsum(by_a, axis=1)[:, :-1], np.cumsum(by_b, axis=1)[:, :-1]
    crossed = below_a * (total - below_b) + below_b * (total - below_a)
    return np.asarray((crossed * np.diff(levels)).sum(axis=1) / total[:, 0])


def _expected_quadratic(by_a: Floats, by_b: Floats, levels: Floats) -> Floats:
    """As the sum of three squares, so that nothing large cancels: both variances, and the means' distance."""
    (mean_a, spread_a), (mean_b, spread_b) = _mean_and_spread(by_a, levels), _mean_and_spread(by_b, levels)
    return np.asarray(spread_a + spread_b + by_a.sum(axis=1) * (mean_a - mean_b) ** 2)


def _expected_alpha(pooled: Floats, values: Floats) -> Floats:
    grades = pooled.sum(axis=1)
    return np.asarray(grades * _mean_and_spread(pooled, values)[1] / (grades - 1))


def _mean_and_spread(counts: Floats, values: Floats) -> tuple[Floats, Floats]:
    mean = (counts * values).sum(axis=1) / counts.sum(axis=1)
    return np.asarray(mean), np.asarray((counts * (values - mean[:, np.newaxis]) ** 2).sum(axis=1))
