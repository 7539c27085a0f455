"""Stability of the order of systems across queries, judged documents and settings.

An order of means changes with every setting, mostly between systems that do not differ significantly. A change between
settings therefore counts only if one system is significantly ahead in one setting and the other in the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.notation import choose
from gainful.stats.agreement import kendall_tau
from gainful.stats.anova import column_means, pairs_of, t_of_all_pairs
from gainful.stats.catalogues import DISCRIMINATING, TOPICS, Coefficient, corrected
from gainful.stats.repeatable import check_draws, on_grid, settle, stream
from gainful.stats.tukey import randomised_tukey
from gainful.stats.unpaired import TwoGroups, welch


class Spread(NamedTuple):
    """Summary of a coefficient over samples: mean, sd and extremes; ``undefined`` counts samples without a value."""

    mean: float
    sd: float  # 0 for one sample
    lowest: float
    highest: float
    draws: int
    undefined: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        found = [value for value in values if value is not None]
        if not found:
            return None
        mean = math.fsum(found) / len(found)
        spread = math.fsum((value - mean) ** 2 for value in found)
        sd = math.sqrt(spread / (len(found) - 1)) if len(found) > 1 else 0.0
        return cls(mean, sd, min(found), max(found), len(found), len(values) - len(found))


@dataclass(frozen=True)
class SubsetStability:
    """The order of systems on a subset of queries or judged documents, compared with others."""

    share: float
    size: float  # queries, or judged documents on average
    part_whole: Spread | None  # with the whole, which contains the subset and so flatters it
    split_half: Spread | None  # with a disjoint subset of the same size; None if there is none


def stability_over_queries(
    scores: Floats,
    shares: Sequence[float] = (0.5, 0.2),
    *,
    topics: str = "random",
    draws: int = 1000,
    seed: int = 0,
    coefficient: Coefficient = kendall_tau,
) -> tuple[SubsetStability, ...]:
    """Recompute the order of systems on subsets of the queries (rows, in the order of their ids), for every share.

    ``topics="first"`` takes the first queries, as Della Mea and Mizzaro (2004), against all queries and against the
    next ones: one comparison each. ``topics="random"`` samples without replacement.

    >>> scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.9, 0.5, 0.4], [0.1, 0.2, 0.3]])
    >>> [found] = stability_over_queries(scores, [0.5], topics="first")
    >>> found.size, found.part_whole.mean, round(found.split_half.mean, 4)
    (2, 0.3333333333333333, -0.8165)
    """
    queries = scores.shape[0]
    whole = settled_means(scores)
    is_random = choose(topics, TOPICS, "topics") == "random"
    found = []
    for share in shares:
        if not 0 < share <= 1:
            raise UsageError(f"share: expected a number above 0 and up to 1, found {share!r}")
        size = max(1, math.floor(share * queries + 0.5))
        orders = random_orders(queries, draws, seed) if is_random else np.arange(queries)[np.newaxis]
        parts = [settled_means(scores[order[:size]]) for order in orders]
        others = [settled_means(scores[order[size : 2 * size]]) for order in orders] if 2 * size <= queries else []
        part_whole = Spread.of([coefficient(part, whole) for part in parts])
        split_half = Spread.of([coefficient(part, other) for part, other in zip(parts, others, strict=False)])
        found.append(SubsetStability(share, size, part_whole, split_half))
    return tuple(found)


def order_of_topics(queries: Sequence[str]) -> tuple[Ints, bool]:
    """Return the order of queries for "first", and whether it is numeric, as it is if all ids are whole numbers.

    >>> order_of_topics(["1", "10", "2"])[0].tolist(), order_of_topics(["q1", "q10", "q2"])[0].tolist()
    ([0, 2, 1], [0, 1, 2])
    """
    are_numbers = all(query.isascii() and query.isdigit() for query in queries)
    # Ties such as 7 and 07 stay in byte order, the order of the matrix.
    key = (lambda i: int(queries[i])) if are_numbers else (lambda i: i)
    return np.array(sorted(range(len(queries)), key=key), np.int64), are_numbers


def settled_means(scores: Floats) -> Floats:
    """Return the means of the systems, with ties made exact."""
    return settle(column_means(scores), float(np.max(np.abs(scores), initial=0.0)))


def random_orders(queries: int, draws: int, seed: int) -> Ints:
    """Return random orders of the queries; consecutive parts of an order are disjoint random subsets."""
    check_draws(draws, seed)
    return np.argsort(stream(seed).random((draws, queries)), axis=1, kind="stable")


#: Upper ends of the bins of differences (Voorhees and Buckley); the last bin is open.
BINS = tuple(step / 100 for step in range(1, 21))
#: Minimum systems, and comparisons per bin, for a required difference. Two systems on many subsets of the same queries
#: only show how these two compare.
LEAST_SYSTEMS, LEAST_COMPARISONS = 5, 20


class SwapBin(NamedTuple):
    """Pairs of systems with a difference from ``low`` to below ``high`` on one set of queries.

    ``swaps`` of them have the opposite order on another set.
    """

    low: float
    high: float
    comparisons: int
    swaps: int

    @property
    def rate(self) -> float | None:
        return self.swaps / self.comparisons if self.comparisons else None


@dataclass(frozen=True)
class SwapRates:
    """Reliability of an order of systems based on ``queries`` queries.

    ``error_rate`` and ``tie_rate`` are Buckley and Voorhees's (2000): two systems are tied on a set of queries if they
    differ by less than ``fuzziness`` of the higher mean; otherwise, the rarer order over many sets is the error.
    ``bins`` are Voorhees and Buckley's (2002), from disjoint sets and without fuzziness.
    """

    systems: int
    queries: int
    draws: int
    fuzziness: float
    error_rate: float
    tie_rate: float
    bins: tuple[SwapBin, ...]
    seed: int

    def difference_for(self, rate: float = 0.05) -> float | None:
        """Return the difference above which swaps are rarer than ``rate`` in all bins with enough comparisons.

        None if there is no such difference, or too few systems.
        """
        found = None
        for each in reversed(self.bins if self.systems >= LEAST_SYSTEMS else ()):
            if each.comparisons < LEAST_COMPARISONS:
                continue
            if each.swaps > rate * each.comparisons:
                break
            found = each.low
        return found


def swap_rates(
    scores: Floats,
    *,
    queries: int | None = None,
    fuzziness: float = 0.05,
    draws: int = 1000,
    bins: Sequence[float] = BINS,
    seed: int = 0,
) -> SwapRates:
    """Return error rate, ties and swaps over random sets of ``queries`` queries (by default half of all).

    Every draw makes two disjoint sets. Error rate = sum of min(A > B, B > A) over the sum of all comparisons; tie rate
    likewise.

    >>> found = swap_rates(np.array([[0.1, 0.5], [0.2, 0.6], [0.1, 0.4], [0.5, 0.9]]), draws=10)
    >>> found.queries, found.error_rate, found.tie_rate, found.difference_for()
    (2, 0.0, 0.0, None)
    """
    n, m = scores.shape
    size = n // 2 if queries is None else queries
    if not 1 <= size <= n // 2:
        raise UsageError(f"queries: expected 1 to {n // 2} (half of all {n}), found {size}")
    if not 0 <= fuzziness < 1:
        raise UsageError(f"fuzziness: expected at least 0 and below 1, found {fuzziness!r}")
    if m < 2:
        raise UsageError(f"swap rates: at least 2 systems are needed, not {m}")
    first, second = pairs_of(m)
    edges = np.array([0.0, *sorted(bins), math.inf])
    better, worse = np.zeros(first.size, np.int64), np.zeros(first.size, np.int64)
    compared, swapped = np.zeros(edges.size - 1, np.int64), np.zeros(edges.size - 1, np.int64)
    orders, grid, scale = random_orders(n, draws, seed), on_grid(scores, n), float(np.max(np.abs(scores)))
    for order in orders:
        leads = []
        for part in (order[:size], order[size : 2 * size]):
            means = grid.steps[part].sum(axis=0) * (grid.unit / size)
            apart, higher = means[first] - means[second], np.maximum(np.abs(means[first]), np.abs(means[second]))
            lead, counts = settle(apart, scale), settle(np.abs(apart) - fuzziness * higher, scale) >= 0
            better += counts & (lead > 0)
            worse += counts & (lead < 0)
            leads.append(lead)
        lead, later = leads
        bin_of = np.searchsorted(edges, np.abs(lead), side="right") - 1
        compared += np.bincount(bin_of[lead != 0], minlength=compared.size)
        swapped += np.bincount(bin_of[lead * later < 0], minlength=compared.size)
    comparisons = 2 * draws * first.size
    error_rate = float(np.minimum(better, worse).sum()) / comparisons
    tie_rate = float(comparisons - better.sum() - worse.sum()) / comparisons
    counted = map(SwapBin, edges[:-1].tolist(), edges[1:].tolist(), compared.tolist(), swapped.tolist())
    return SwapRates(m, size, draws, fuzziness, error_rate, tie_rate, tuple(counted), seed)


@dataclass(frozen=True, eq=False)
class DiscriminativePower:
    """The pairs of systems that a measure separates significantly (Sakai 2006), by definition uncorrected."""

    test: str
    alpha: float
    pairs: int
    significant: int
    curve: Floats  # all p, ascending
    threshold: float | None  # means further apart always differ significantly; None if the furthest apart do not

    @property
    def share(self) -> float:
        return self.significant / self.pairs if self.pairs else 0.0


def discriminative_power(
    scores: Floats, test: str = "t", *, alpha: float = 0.05, seed: int = 0, threads: int | None = None
) -> DiscriminativePower:
    """Return the share of pairs of systems with p of at most ``alpha``, by paired t test or randomised Tukey HSD.

    >>> found = discriminative_power(np.array([[0.1, 0.5, 0.5], [0.2, 0.7, 0.7], [0.1, 0.4, 0.4]]))
    >>> found.significant, found.pairs, round(found.threshold, 3)
    (2, 3, 0.4)
    """
    if choose(test, DISCRIMINATING, "test") == "t":
        name, found = "paired t", t_of_all_pairs(scores)
    else:
        name, found = "randomised Tukey HSD", randomised_tukey(scores, seed=seed, alpha=alpha, threads=threads)
    significant, apart = found.p <= alpha, np.abs(found.difference)
    beyond = apart[significant & (apart > apart[~significant].max(initial=-1.0))]
    threshold = float(beyond.min()) if beyond.size else None
    return DiscriminativePower(name, alpha, found.p.size, int(significant.sum()), np.sort(found.p), threshold)


class Leads(NamedTuple):
    """Significance and leader of every pair of systems, in the order of :func:`pairs_of`."""

    shown: Bools
    first_leads: Bools

    @classmethod
    def by_means(cls, scores: Floats, alpha: float = 0.05) -> Leads:
        """Apply paired t tests with Holm's correction to queries x systems, higher is better.

        >>> scores = np.array([[0.1, 0.5, 0.2], [0.2, 0.7, 0.1], [0.1, 0.6, 0.3], [0.2, 0.6, 0.2]])
        >>> found = Leads.by_means(scores)
        >>> found.shown.tolist(), found.first_leads.tolist()
        ([True, False, True], [False, False, True])
        """
        found = t_of_all_pairs(scores)
        return cls(corrected(found.p, "holm") < alpha, found.difference > 0)

    @classmethod
    def by_groups(cls, groups: Sequence[Floats], alpha: float = 0.05) -> Leads:
        """Apply Welch's t tests with Holm's correction to systems with different queries or sessions."""
        found = [welch(TwoGroups(one, other)) for one, other in combinations(groups, 2)]
        p = np.nan_to_num([each.p for each in found], nan=1.0)
        return cls(corrected(p, "holm") < alpha, np.array([each.effect > 0 for each in found]))

    def reversed_in(self, other: Leads) -> Bools:
        """Return the pairs that differ significantly in both, with opposite systems ahead."""
        return np.asarray(self.shown & other.shown & (self.first_leads != other.first_leads))
