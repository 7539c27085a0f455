"""Which of two systems a test shows to be ahead, and where two settings show the opposite.

An order of means changes with every setting, mostly between systems that nobody could tell apart. What counts as a
change here is shown twice: one system significantly ahead in one setting, the other one in the other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.stats.anova import checked, column_means, pair_variances, pairs_of
from gainful.stats.corrections import corrected
from gainful.stats.distributions import LEAST_P
from gainful.stats.rank_tests import Friedman, conover, protected


class Leads(NamedTuple):
    """Every pair of systems, in the order of :func:`pairs_of`: whether they differ significantly, and who is ahead."""

    shown: Bools
    first_leads: Bools

    @classmethod
    def by_ranks(cls, found: Friedman, alpha: float = 0.05) -> Leads:
        """Conover's comparisons without correction, where Friedman's test reaches the level, as the papers have it."""
        comparisons = conover(found)
        return cls(protected(found, comparisons, alpha), comparisons.difference > 0)

    @classmethod
    def by_means(cls, scores: Floats, alpha: float = 0.05) -> Leads:
        """Paired t tests of all pairs, corrected by Holm; of queries x systems, higher is better.

        >>> scores = np.array([[0.1, 0.5, 0.2], [0.2, 0.7, 0.1], [0.1, 0.6, 0.3], [0.2, 0.6, 0.2]])
        >>> found = Leads.by_means(scores)
        >>> found.shown.tolist(), found.first_leads.tolist()
        ([True, False, True], [False, False, True])
        """
        from scipy.special import stdtr

        queries, systems = checked(scores).shape
        first, second = pairs_of(systems)
        means = column_means(scores)
        difference = means[first] - means[second]
        if queries < 2 or not difference.size:
            return cls(np.zeros(difference.size, bool), difference > 0)
        error = np.sqrt(pair_variances(scores) / queries)
        t = np.divide(difference, error, out=np.where(difference, math.inf, 0.0), where=error > 0)
        p = np.clip(2 * stdtr(queries - 1, -np.abs(t)), LEAST_P, 1.0)
        return cls(corrected(p, "holm") < alpha, difference > 0)

    @property
    def number(self) -> int:
        """How many pairs differ significantly."""
        return int(self.shown.sum())

    def also_in(self, other: Leads) -> Bools:
        """The pairs that differ here and there, with the same system ahead."""
        return np.asarray(self.shown & other.shown & (self.first_leads == other.first_leads))

    def not_in(self, other: Leads) -> Bools:
        """The pairs that differ here and no longer there, or the other way round."""
        return np.asarray(self.shown & ~self.also_in(other))

    def reversed_in(self, other: Leads) -> Bools:
        """The pairs that differ here and there, with the other system ahead."""
        return np.asarray(self.shown & other.shown & (self.first_leads != other.first_leads))

    def wins_and_losses(self, systems: int) -> tuple[list[int], list[int]]:
        """How many others each system is significantly ahead of, and behind.

        >>> Leads(np.array([True, False, True]), np.array([True, True, False])).wins_and_losses(3)
        ([1, 0, 1], [0, 2, 0])
        """
        first, second = pairs_of(systems)

        def counted(places: Ints) -> list[int]:
            found: list[int] = np.bincount(places[self.shown], minlength=systems).tolist()
            return found

        ahead = self.first_leads
        return counted(np.where(ahead, first, second)), counted(np.where(ahead, second, first))
