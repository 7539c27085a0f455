"""How large a difference is: standardised, by ranks, by queries won, and relative to the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.stats.paired_tests import Interval, PairedScores
from gainful.stats.power import noncentrality_interval
from gainful.stats.rank_tests import rank_biserial
from gainful.stats.resampling import percentile_limits, resampled_rows

_DRAWS = 2_000  # of a description, not of a test

#: What people call a relative difference (Spärck Jones 1974, Järvelin & Kekäläinen 2002), and from where on.
LABELS = ("marginal", "noticeable", "essential")
_NOTICEABLE, _ESSENTIAL = 0.05, 0.10


@dataclass(frozen=True)
class EffectSizes:
    """Sizes of a difference that do not depend on the measure's unit. None where one is undefined.

    ``d_z``            mean / standard deviation of the differences: what the t test sees
    ``g_z``            d_z without its bias in small samples (Hedges 1981, exact factor)
    ``d_av``           mean / root of the mean of both variances: comparable with unpaired studies
    ``rank_biserial``  (W+ - W-) / (W+ + W-) of the signed ranks (Kerby 2014), its interval from resampled queries
    ``share_won``      (wins + ties / 2) / queries
    """

    d_z: float | None
    d_z_interval: Interval | None
    g_z: float | None
    d_av: float | None
    rank_biserial: float | None
    rank_biserial_interval: Interval | None
    share_won: float


@dataclass(frozen=True)
class PracticalSize:
    """A difference relative to the baseline's mean, in words; ``also`` are the other words that the interval allows.

    ``either_way`` says that the interval also allows the opposite sign.
    """

    relative: float
    label: str
    also: tuple[str, ...]
    either_way: bool


def effect_sizes(scores: PairedScores, share_won: float, alpha: float, seed: int) -> EffectSizes:
    """All effect sizes of the differences of two systems."""
    n, mean, t = scores.n, scores.mean, scores.t
    d_z = limits = None
    if scores.sd and t is not None:
        d_z = mean / scores.sd
        low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(t, n - 1, alpha))
        limits = Interval(low, high, alpha, "noncentral t")
    by_ranks = rank_biserial(scores.differences)
    return EffectSizes(
        d_z,
        limits,
        None if d_z is None or n < 3 else d_z * hedges_factor(n - 1),
        _d_av(scores.a, scores.b, mean),
        by_ranks,
        None if by_ranks is None else _rank_biserial_interval(scores.differences, alpha, seed),
        share_won,
    )


def hedges_factor(df: int) -> float:
    """Gamma(v/2) / (sqrt(v/2) Gamma((v-1)/2)), which takes the bias out of a standardised difference.

    >>> round(hedges_factor(49), 6)
    0.984602
    """
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def practical_size(difference: float, baseline_mean: float, interval: Interval) -> PracticalSize | None:
    """The words for a difference and its interval; None where the baseline's mean is no ground for a ratio.

    >>> practical_size(0.25, 2.0, Interval(0.125, 0.375, 0.05, "t"))
    PracticalSize(relative=0.125, label='essential', also=('noticeable',), either_way=False)
    """
    if baseline_mean <= 0:
        return None
    label = _label(abs(difference) / baseline_mean)
    either_way = interval.low < 0 < interval.high
    sizes = sorted(abs(limit) / baseline_mean for limit in (interval.low, interval.high))
    least, most = (LABELS.index(_label(size)) for size in (0.0 if either_way else sizes[0], sizes[1]))
    also = tuple(word for word in LABELS[least : most + 1] if word != label)
    return PracticalSize(difference / baseline_mean, label, also, either_way)


def _label(relative: float) -> str:
    # Ratios of printed scores that are 5 or 10 % are so but for rounding.
    relative = round(relative, 12)
    return LABELS[(relative >= _NOTICEABLE) + (relative > _ESSENTIAL)] if relative < math.inf else LABELS[-1]


def _d_av(a: Floats, b: Floats, mean: float) -> float | None:
    if a.size < 2:
        return None
    spread = math.sqrt((_variance(a) + _variance(b)) / 2)
    return mean / spread if spread else None


def _variance(values: Floats) -> float:
    if values.min() == values.max():
        return 0.0
    mean = math.fsum(values) / values.size
    return math.fsum((values - mean) ** 2) / (values.size - 1)


def _rank_biserial_interval(differences: Floats, alpha: float, seed: int) -> Interval:
    """Percentiles over resampled queries: the ranks of a sample follow from how often it has each size."""
    sizes = np.abs(differences)
    ordered = np.sort(sizes[sizes > 0])
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    groups = distinct.size
    # A size's place, after all places for those that are negative; zeros after everything.
    code = np.where(sizes > 0, np.searchsorted(distinct, sizes) + groups * (differences < 0), 2 * groups)
    values = []
    for rows in resampled_rows(differences.size, _DRAWS, seed):
        width = 2 * groups + 1
        cells = code[rows] + width * np.arange(len(rows))[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=width * len(rows)).reshape(len(rows), width)
        positive, negative = counts[:, :groups], counts[:, groups : 2 * groups]
        both = positive + negative
        ranks = np.cumsum(both, axis=1) - (both - 1) / 2
        ranked = (ranks * both).sum(axis=1)
        apart = (ranks * (positive - negative)).sum(axis=1)
        values.append(np.divide(apart, ranked, out=np.zeros(len(rows)), where=ranked > 0))
    low, high = percentile_limits(np.concatenate(values), alpha)
    return Interval(low, high, alpha, "percentile")
