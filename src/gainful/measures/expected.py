"""Closed forms of the mean score over all orders of documents with equal scores (``ties=expected``).

In a group of n tied documents each is equally likely at each of the n ranks, and each pair at each pair of ranks. Sums
of gains need only the first fact, AP and Q the second one; RR, Success and ERR need the probability that the first x
documents of a group are all of some kind, which is a ratio of binomial coefficients (or of elementary symmetric
polynomials) computed as a running product. docs/explanation/ties.md has the derivations.

Reference: F. McSherry and M. Najork, Computing information retrieval performance measures efficiently in the presence
of tied scores, ECIR 2008.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from gainful.data.lists import GainLists, TiedGainLists, in_columns, sum_by
from gainful.kernel.arrays import Floats, Ints

_NAMES = (
    "CG DCG nCG nDCG NDCNG RBP P R F Rprec RprecMult RelP Success Complete SetP SetR SetF SetAP SetRelP AP GMAP muAP "
    "RR ERR nERR Q Judged Unjudged Leak NumQ NumRet NumRel NumRelRet"
)
#: The measures that have a closed form.
AVERAGED_OVER_TIES = frozenset(_NAMES.split())
#: Measures whose scores lie between those with the lowest and with the highest grades of each group first.
BOUNDED_BY_GRADE = AVERAGED_OVER_TIES - {"GMAP", "Judged", "Unjudged"}

#: Measures that sum gains rank by rank, so that their arithmetic can be shown.
EXPLAINED_OVER_TIES = frozenset(("CG", "DCG", "nCG", "nDCG", "NDCNG", "RBP"))

#: Arrays of groups x documents have at most this many cells.
_CELLS = 1 << 18


class TieGroups(NamedTuple):
    """The groups of equal scores that hold documents of interest, by row, then by rank."""

    row: Ints
    first: Ints  # rank of the group's first document
    size: Ints  # number of documents in the group
    held: Ints  # number of documents of interest in the group, and ``before`` it
    before: Ints
    of: Ints  # the group of each document of interest

    @classmethod
    def of_documents(cls, row: Ints, first: Ints, last: Ints) -> TieGroups:
        """Group documents by the bounds of their ties."""
        starts = np.ones(row.size, bool)
        starts[1:] = (row[1:] != row[:-1]) | (first[1:] != first[:-1])
        begin = np.flatnonzero(starts)
        # Documents of interest before the group: those before it in all rows, less those of other rows.
        of_row = np.searchsorted(row, row[begin])
        held = np.diff(begin, append=row.size)
        return cls(row[begin], first[begin], (last - first + 1)[begin], held, begin - of_row, np.cumsum(starts) - 1)

    def ranks(self, chosen: Ints) -> tuple[Ints, Ints]:
        """Return group and position (from 0) of every rank of some groups."""
        size = self.size[chosen]
        group = np.repeat(chosen, size)
        return group, np.arange(group.size) - np.repeat(np.cumsum(size) - size, size)


def expected_counts(groups: TieGroups, cutoff: Ints | Floats | float, size: int) -> Floats:
    """Return the expected number of documents down to the cutoff, of each row or of all."""
    at = np.broadcast_to(cutoff, size)[groups.row]
    return sum_by(groups.row, groups.held * np.clip((at - groups.first + 1) / groups.size, 0.0, 1.0), size)


def expected_precisions(groups: TieGroups, cutoff: int | None, size: int) -> Floats:
    """Return the expected sum of the precisions at the ranks of relevant documents."""
    # Given a relevant document at a rank, each other place of the group is relevant with probability (r - 1)/(n - 1).
    share, other = groups.held / groups.size, (groups.held - 1) / np.maximum(groups.size - 1, 1)
    # The sum over a group that begins at rank 1, such as a whole list in random order, needs only the sum of 1 / rank.
    top = np.flatnonzero(groups.first == 1)
    seen = np.minimum(groups.size[top], cutoff or groups.size[top])
    reciprocals = np.append(0.0, np.cumsum(1.0 / np.arange(1.0, int(seen.max(initial=0)) + 1.0)))[seen]
    of_top = share[top] * (reciprocals + other[top] * (seen - reciprocals))
    group, place = groups.ranks(np.flatnonzero(groups.first > 1))
    rank = groups.first[group] + place
    terms = share[group] * (groups.before[group] + 1 + place * other[group]) / rank
    later = sum_by(groups.row[group], np.where(rank <= (cutoff or rank), terms, 0.0), size)
    return sum_by(groups.row[top], of_top, size) + later


def _none_in_first(groups: TieGroups, chosen: Ints) -> Floats:
    """Return, for chosen groups, the probability that the first x = 0, 1, ... documents hold none of interest."""
    size, held = groups.size[chosen, None], groups.held[chosen, None]
    place = np.arange(int(size.max(initial=0)))
    steps = np.clip((size - held - place) / np.maximum(size - place, 1), 0.0, 1.0)
    return np.cumprod(np.concatenate([np.ones((chosen.size, 1)), steps], axis=1), axis=1)


def _none_among(groups: TieGroups, chosen: Ints, ranks: Ints, size: int) -> Floats:
    """Return the probability that some ranks of a row's chosen group hold none of interest; 1 without a group."""
    found = np.ones(size)
    found[groups.row[chosen]] = _none_in_first(groups, chosen)[np.arange(chosen.size), ranks]
    return found


def expected_successes(groups: TieGroups, cutoff: int | None, size: int) -> Floats:
    """Return the probability that a relevant document is among the first ranks."""
    first = np.flatnonzero(groups.before == 0)
    above = np.clip((cutoff or sys.maxsize) - groups.first[first] + 1, 0, groups.size[first])
    return np.asarray(1.0 - _none_among(groups, first, above, size))


def expected_completions(groups: TieGroups, cutoff: int | None, size: int) -> Floats:
    """Return the probability that all relevant documents of a list are among the first ranks."""
    # Earlier groups end above the last one, so only this one can be cut. Its last ranks are like its first ones.
    last = np.flatnonzero(np.diff(groups.row, append=-1))
    below = np.clip(groups.first[last] + groups.size[last] - 1 - (cutoff or sys.maxsize), 0, groups.size[last])
    return _none_among(groups, last, below, size)


def expected_reciprocals(groups: TieGroups, cutoff: int | None, size: int) -> Floats:
    """Return the expected reciprocal rank of the first relevant document."""
    first = np.flatnonzero(groups.before == 0)
    none = _none_in_first(groups, first)
    rank = groups.first[first, None] + np.arange(none.shape[1] - 1)
    terms = (none[:, :-1] - none[:, 1:]) / rank
    found = np.zeros(size)
    found[groups.row[first]] = np.where(rank <= (cutoff or rank), terms, 0.0).sum(axis=1)
    return found


def expected_blended(lists: TiedGainLists, ideal: GainLists, beta: float, cutoff: int | None) -> Floats:
    """Return the expected sum of blended ratios at the ranks of relevant documents, for the Q-measure."""
    groups = TieGroups.of_documents(lists.row, lists.first, lists.last)
    gain = sum_by(groups.of, lists.gain, groups.row.size)
    gained = np.cumsum(gain) - gain
    gained -= gained[np.searchsorted(groups.row, groups.row)]
    group, place = groups.ranks(np.arange(groups.size.size))
    rank, count, held, gain = groups.first[group] + place, groups.size[group], groups.held[group], gain[group]
    share, others = held / count, place * (held - 1) / np.maximum(count - 1, 1)
    found = share * (groups.before[group] + 1 + others)
    # The document itself, those of earlier groups, and those before it in its own.
    gains = gain / count + share * gained[group] + others * gain / count
    best = np.cumsum(ideal.dense(int(rank.max(initial=1))), axis=1)[groups.row[group], rank - 1]
    terms = np.where(rank <= (cutoff or rank), (found + beta * gains) / (rank + beta * best), 0.0)
    return sum_by(groups.row[group], terms, lists.size)


def expected_cascade(lists: TiedGainLists, divisor: float, cutoff: int | None) -> Floats:
    """Return the expected sum over ranks of (probability to stop there) / rank, for ERR.

    Of a group of n documents, m_j is the mean over all choices of j of them of the probability that none satisfies; the
    user stops at its rank j with probability m_(j-1) - m_j. Adding a document that fails to satisfy with probability q
    to t - 1 others turns m_j into (1 - j/t) m_j + (j/t) q m_(j-1).
    """
    groups = TieGroups.of_documents(lists.row, lists.first, lists.last)
    fails = 1.0 - lists.gain / divisor
    passes = np.ones(groups.row.size)
    np.multiply.at(passes, groups.of, fails)
    by_row, column = in_columns(groups.row, passes, lists.size)
    reaches = np.where(column == 0, 1.0, np.cumprod(by_row, axis=1)[groups.row, np.maximum(column, 1) - 1])
    is_single = (groups.size == 1) & (groups.first <= (cutoff or groups.first))
    stops = np.where(is_single, reaches * (1.0 - passes) / groups.first, 0.0)
    several = np.flatnonzero(groups.size > 1)
    order = several[np.argsort(groups.size[several], kind="stable")]
    while order.size:
        # Groups of similar size together, so that few cells are empty.
        widths = groups.size[order]
        some = order[: max(1, int(np.searchsorted(np.arange(1, order.size + 1) * (widths + 1), _CELLS, "right")))]
        order = order[some.size :]
        some = some[np.argsort(groups.held[some], kind="stable")]
        size, held, begin = groups.size[some], groups.held[some], np.searchsorted(groups.of, some)
        place = np.arange(1, int(size.max()) + 1)
        means = np.ones((some.size, place.size + 1))
        for nth in range(int(held[-1])):
            at = slice(int(np.searchsorted(held, nth, "right")), None)  # the groups with more documents
            share = np.minimum(place / ((size - held)[at, None] + nth + 1), 1.0)
            added = share * fails[begin[at] + nth, None] * means[at, :-1]
            means[at, 1:] = (1.0 - share) * means[at, 1:] + added
        rank = groups.first[some, None] + place - 1
        counts = (place <= size[:, None]) & (rank <= (cutoff or rank))
        terms = np.where(counts, (means[:, :-1] - means[:, 1:]) / rank, 0.0).sum(axis=1)
        stops[some] = reaches[some] * terms
    return sum_by(groups.row, stops, lists.size)
