"""Ranks of chosen cells of score matrices, found by sorting only the scores of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.kernel.arrays import Bools, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray


def by_text(size: int) -> Ints:
    """Return the numbers below ``size`` in the order of their decimal texts.

    >>> by_text(12).tolist()
    [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return np.argsort(np.arange(size).astype("S20"))


class RowRanks:
    """Rows of scores, NaN if a cell is not ranked; ``tie`` orders the columns among equal scores.

    >>> ranks = RowRanks(np.array([[0.5, 0.9, np.nan, 0.5]]), np.array([3, 2, 1, 0]))
    >>> ranks.of(np.arange(4)).tolist(), ranks.tied, ranks.among(2).tolist()
    ([3, 1, 0, 2], 2, [[True, True, False, True]])
    """

    def __init__(self, score: NDArray[Any], tie: Ints) -> None:
        self._score, self._tie, self._ordered = score, tie, np.sort(score, axis=1)  # NaN last
        some = np.isnan(self._ordered[:, -1]).any()  # otherwise all cells are ranked
        self._counts = np.count_nonzero(~np.isnan(score), axis=1) if some else np.full(score.shape[0], score.shape[1])
        same = self._ordered[:, 1:] == self._ordered[:, :-1]
        #: Number of cells that share their score: all but the first of each group, plus one per group.
        self.tied = int(
            np.count_nonzero(same) + np.count_nonzero(same[:, :1]) + np.count_nonzero(same[:, 1:] > same[:, :-1])
        )

    def among(self, first: int) -> Bools:
        """Return which cells are among the first of their rows, or tied with the last of these."""
        return self._score >= np.take_along_axis(self._ordered, np.maximum(self._counts - first, 0)[:, None], 1)

    def of(self, cell: Ints) -> Ints:
        """Return the ranks of cells by index, row by row; 0 if a cell is not ranked."""
        width, ordered, score = self._score.shape[1], self._ordered.reshape(-1), self._score.reshape(-1)[cell]
        row, column = np.divmod(cell, width)
        low = row * width
        high = end = low + self._counts[row]
        for _ in range(width.bit_length()):  # bisect until low is the first position with this score
            middle = np.minimum((low + high) >> 1, ordered.size - 1)
            is_lower = ordered[middle] < score
            low, high = np.where(is_lower, middle + 1, low), np.where(is_lower, high, middle)
        rank = np.where(np.isnan(score), 0, end - low)
        tied = np.flatnonzero((low + 1 < end) & (ordered[np.minimum(low + 1, ordered.size - 1)] == score))
        rows, place = np.unique(row[tied], return_inverse=True)
        order = np.lexsort((np.broadcast_to(self._tie, (rows.size, width)), -self._score[rows]), axis=1)
        rank[tied] = np.argsort(order, axis=1)[place, column[tied]] + 1
        return rank
