"""Which of two systems a test shows to be ahead, and where two settings show the opposite.

An order of means changes with every setting, mostly between systems that nobody could tell apart. What counts as a
change here is shown twice: one system significantly ahead in one setting, the other one in the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gainful.kernel.arrays import Bools, Floats
from gainful.stats.anova import pairs_of, t_of_all_pairs
from gainful.stats.catalogues import corrected
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
        found = t_of_all_pairs(scores)
        return cls(corrected(found.p, "holm") < alpha, found.difference > 0)

    @property
    def number(self) -> int:
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
        ahead, behind = np.where(self.first_leads, (first, second), (second, first))[:, self.shown]
        return np.bincount(ahead, minlength=systems).tolist(), np.bincount(behind, minlength=systems).tolist()
