"""Ranks of values among each other."""

from __future__ import annotations

import numpy as np

from gainful.arrays import Floats


def mid_ranks(values: Floats) -> Floats:
    """The ranks along each row, 1 for the lowest; equals share the mean of their ranks.

    >>> mid_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    rows = np.atleast_2d(values)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    place = np.arange(rows.shape[1])
    changes = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((rows.shape[0], 1), bool)
    first = np.maximum.accumulate(np.where(np.hstack((edge, changes)), place, 0), axis=1)
    is_last = np.hstack((changes, edge))
    last = np.minimum.accumulate(np.where(is_last, place, rows.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks.reshape(values.shape)
