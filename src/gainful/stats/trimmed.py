"""Yuen's test: the mean of the differences without the largest and the smallest fifth of them.

With few queries one or two that fail altogether can decide a mean, and widen its interval until nothing can be told. A
trimmed mean looks at the middle, and still has a unit and an interval, which ranks have not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gainful.stats.paired_tests import Finding, Interval, PairedScores, t_finding, t_interval

#: The share of differences that is left out at either end.
TRIMMED = 0.2


class TrimmedMean(NamedTuple):
    """The trimmed mean of differences, its standard error (None where there is none), and of how many it is."""

    mean: float
    error: float | None
    kept: int


def trimmed_mean(scores: PairedScores) -> TrimmedMean:
    """The mean of the h = n - 2 g middle differences, g = floor(n / 5), and its error (Tukey & McLaughlin 1963).

    error = sqrt(SSD_w / (h (h - 1))), SSD_w being the sum of squared deviations of the winsorised differences, those
    left out put in the place of the nearest that is kept, from their own mean. With less than 5 queries: the mean.

    >>> found = trimmed_mean(PairedScores(np.array([0.1, 0.2, 0.3, 0.5, 9.0]), np.zeros(5)))
    >>> round(found.mean, 6), round(found.error, 6), found.kept
    (0.333333, 0.123828, 3)
    """
    ordered = np.sort(scores.differences)
    cut = math.floor(round(TRIMMED * scores.n, 9))
    kept = ordered[cut : scores.n - cut]
    winsorised = np.clip(scores.differences, kept[0], kept[-1])
    spread = scores.spread_of(winsorised, math.fsum(winsorised.tolist()) / scores.n, kept.size - 1)
    # That many are equal says nothing of the spread of those that are not.
    error = None if spread is None or (not spread and scores.sd) else spread / math.sqrt(kept.size)
    return TrimmedMean(math.fsum(kept.tolist()) / kept.size, error, int(kept.size))


def yuen(scores: PairedScores) -> Finding:
    """t = trimmed mean / error on h - 1 degrees of freedom (Yuen 1974, of one sample of differences)."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Finding(1.0, direction=mean)
    return t_finding(mean / error if error else None, kept - 1)._replace(direction=mean)


def yuen_interval(scores: PairedScores, alpha: float) -> Interval:
    """trimmed mean +- t error on h - 1 degrees of freedom: the shifts that the test does not reject."""
    mean, error, kept = scores.once(trimmed_mean)
    if error is None:
        return Interval(-math.inf, math.inf, alpha, "yuen")
    return replace(t_interval(mean, error * math.sqrt(kept), kept, alpha), method="yuen")


def without_middle_spread(scores: PairedScores) -> str:
    """Where Yuen's test has nothing to go by."""
    if scores.once(trimmed_mean).error is not None or scores.n < 2:
        return ""
    return "all differences that trimming leaves are equal: Yuen's test has no spread to go by; take another one"
