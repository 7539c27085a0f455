"""A band around a mean curve that holds at all its places at once: paired differences by rank.

The band is the mean +- c standard errors. c is the quantile, at the confidence, of the largest |t| over all places when
the signs of the queries' deviations from the mean curve are flipped, each query as a whole, so that places stay as
correlated as they are.
"""

from __future__ import annotations

import math

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.repeatable import BLOCK, on_grid, settle, stream


def simultaneous_reach(differences: Floats, draws: int, seed: int, confidence: float) -> Floats | None:
    """How far the band reaches on either side of the mean at every place, of queries x places.

    0 where all queries have the same value. None where there is no band: a single query, or so few that flips alone
    make any t.

    >>> simultaneous_reach(np.array([[0.1, 0.3]] * 8), 1000, 0, 0.95).tolist()
    [0.0, 0.0]
    """
    queries = differences.shape[0]
    if queries < 2:
        return None
    scale = float(np.max(np.abs(differences), initial=0.0))
    deviations = settle(differences - differences.mean(axis=0), scale)
    # Whole multiples of a power of 2: their sums are the same in any order, and so on any machine.
    grid = on_grid(deviations, queries)
    squares: Floats = np.square(grid.steps).sum(axis=0) / queries
    varying = squares > 0
    error: Floats = np.sqrt(squares / (queries - 1)) * grid.unit
    if not varying.any():
        return error
    steps, squares = grid.steps[:, varying], squares[varying]
    largest = []
    for block, first in enumerate(range(0, draws, BLOCK)):
        flipped = stream(seed, block).integers(0, 2, (min(BLOCK, draws - first), queries))
        means = ((2.0 * flipped.astype(np.float64) - 1.0) @ steps) / queries
        left = np.maximum(squares - np.square(means), 0.0)  # flips do not change the squares
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(means) * math.sqrt(queries - 1) / np.sqrt(left)
        largest.append(np.where(means == 0, 0.0, t).max(axis=1))
    place = min(math.ceil((draws + 1) * confidence), draws) - 1
    critical = float(np.sort(np.concatenate(largest))[place])
    return np.asarray(critical * error) if math.isfinite(critical) else None
