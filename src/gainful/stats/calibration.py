"""Scores made into estimates of what they stand for, by isotonic regression, and how far they are from it."""

from __future__ import annotations

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints

#: Bins of equal width from 0 to 1 for reliability curves and their error.
_BINS = 10


def cross_calibrated(scores: Floats, truth: Floats, fold: Ints) -> Floats:
    """What scores are worth by an isotonic regression of ``truth`` on the scores of all other folds.

    Between two known scores it goes straight; beyond them it is level.

    >>> scores, fold = np.array([0.1, 0.5, 0.9, 0.2, 0.5, 0.8]), np.array([0, 0, 0, 1, 1, 1])
    >>> cross_calibrated(scores, np.array([0.0, 0, 1, 0, 1, 1]), fold).round(6).tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0, 0.75]
    """
    from scipy.optimize import isotonic_regression

    found = np.empty(scores.size)
    for each in np.unique(fold).tolist():
        others = fold != each
        if not others.any():
            raise UsageError("fold: expected several folds to calibrate by, found one")
        known, place, times = np.unique(scores[others], return_inverse=True, return_counts=True)
        means = np.bincount(place, truth[others]) / times
        fitted = isotonic_regression(means, weights=times).x
        found[~others] = np.interp(scores[~others], known, fitted)
    return found


def reliability(scores: Floats, truth: Floats) -> tuple[Floats, Floats, Ints]:
    """Ten bins of scores from 0 to 1: the mean score and the mean truth of those that hold some, and how many.

    >>> reliability(np.array([0.05, 0.95, 1.0]), np.array([0.0, 1.0, 0.5]))[1].tolist()
    [0.0, 0.75]
    """
    place = np.minimum((scores * _BINS).astype(np.int64), _BINS - 1)
    count = np.bincount(place, minlength=_BINS)
    some = count > 0
    means = [np.bincount(place, values, _BINS)[some] / count[some] for values in (scores, truth)]
    return means[0], means[1], count[some]


def calibration_error(scores: Floats, truth: Floats) -> float:
    """The mean distance of both means over all bins, by how many each holds: 0 where scores mean what they say.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.1]), np.array([1.0, 0.0, 0.1])), 4)
    0.2667
    """
    mean_score, mean_truth, count = reliability(scores, truth)
    return float(np.average(np.abs(mean_score - mean_truth), weights=count))
