"""Whether measures agree with what users say: correlations over sessions, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.results import Evaluation

#: Pieces of so many values are compared all with all.
_SMALL = 64


class Correlation(NamedTuple):
    """A coefficient with its interval: None where it is undefined. ``n`` is how many pairs it is from."""

    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class RatingCorrelations:
    """What ratings have to do with measures: for every system and measure the coefficients.

    ``unrated`` are, by system, the sessions with a score but without a rating; ``constant`` says of a system and
    measure why coefficients are undefined.
    """

    rating: str
    confidence: float
    found: Mapping[tuple[str, Measure], tuple[Correlation, ...]]
    unrated: Mapping[str, tuple[str, ...]]
    constant: Mapping[tuple[str, Measure], str]


def correlate(x: Sequence[float], y: Sequence[float], confidence: float = 0.95) -> tuple[Correlation, ...]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of pairs, each with an interval.

    Intervals are Fisher's: atanh(r) plus or minus z times a standard error, which is sqrt(1 / (n - 3)) of Pearson's r,
    sqrt((1 + rho^2 / 2) / (n - 3)) of Spearman's rho (Bonett and Wright 2000), and sqrt(0.437 / (n - 4)) of Kendall's
    tau (Fieller, Hartley and Pearson 1957). Where either side is constant nothing is defined.

    >>> [(each.coefficient, round(each.value, 4)) for each in correlate([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])]
    [('Pearson', 0.8), ('Spearman', 0.8), ('Kendall', 0.6)]
    """
    if len(x) != len(y):
        raise UsageError(f"correlate: expected as many values on both sides, found {len(x)} and {len(y)}")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    n = a.size
    if n < 2 or a.min() == a.max() or b.min() == b.max():
        return tuple(Correlation(name, None, None, None, n) for name in ("Pearson", "Spearman", "Kendall"))
    rho = _pearson(_mid_ranks(a), _mid_ranks(b))
    found = (
        ("Pearson", _pearson(a, b), 1.0, 3),
        ("Spearman", rho, 1.0 + rho * rho / 2.0, 3),
        ("Kendall", kendall(a, b), 0.437, 4),
    )
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    return tuple(
        Correlation(name, value, *_interval(value, z, variance, n - lost), n) for name, value, variance, lost in found
    )


def _interval(value: float, z: float, variance: float, freedom: int) -> tuple[float | None, float | None]:
    if freedom < 1:
        return None, None
    if abs(value) >= 1.0:
        return value, value
    middle, width = math.atanh(value), z * math.sqrt(variance / freedom)
    return math.tanh(middle - width), math.tanh(middle + width)


def _pearson(x: Floats, y: Floats) -> float:
    a, b = ((each - math.fsum(each) / each.size).tolist() for each in (x, y))
    above = math.fsum(p * q for p, q in zip(a, b, strict=True))
    below = math.sqrt(math.fsum(p * p for p in a)) * math.sqrt(math.fsum(q * q for q in b))
    return min(1.0, max(-1.0, above / below))


def _mid_ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equals share the mean of theirs."""
    level, counts = _levels(values)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[level])


def _levels(values: Floats | Ints) -> tuple[Ints, Ints]:
    """For every value its place among the different ones, and how often each of these is there."""
    _, level, counts = np.unique(values, return_inverse=True, return_counts=True)
    return level.reshape(-1), counts


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of many pairs, neither side constant; counted exactly.

    >>> round(kendall(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])), 4)
    0.6667
    """
    (a, ties_a), (b, ties_b) = _levels(x), _levels(y)
    _, ties_both = _levels(a * ties_b.size + b)
    pairs, tied_a, tied_b, tied = (_pairs(each) for each in (np.array([x.size]), ties_a, ties_b, ties_both))
    # Where one side is tied the other ascends: there is nothing out of order.
    discordant = _inversions(b[np.lexsort((b, a))])[0]
    concordant = pairs - tied_a - tied_b + tied - discordant
    return (concordant - discordant) / math.sqrt((pairs - tied_a) * (pairs - tied_b))


def _pairs(counts: Ints) -> int:
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def _inversions(values: Ints) -> tuple[int, Ints]:
    """How many pairs are in descending order, and the values in ascending one."""
    if values.size <= _SMALL:
        return int(np.count_nonzero(np.triu(values[:, None] > values[None, :]))), np.sort(values)
    half = values.size // 2
    (before, left), (after, right) = _inversions(values[:half]), _inversions(values[half:])
    across = int((half - np.searchsorted(left, right, "right")).sum())
    return before + after + across, np.sort(values)


def correlate_ratings(
    evaluations: Mapping[str, Evaluation],
    ratings: Mapping[str, Mapping[str, float]],
    rating: str,
    confidence: float = 0.95,
) -> RatingCorrelations:
    """Correlates every measure with a rating, over the sessions that have both. ``ratings`` are by system and session.

    Scores are those after the policy; sessions that it leaves out do not count, and sessions that are not there have
    no part.
    """
    found: dict[tuple[str, Measure], tuple[Correlation, ...]] = {}
    constant: dict[tuple[str, Measure], str] = {}
    unrated: dict[str, tuple[str, ...]] = {}
    for name, evaluation in evaluations.items():
        of_system = ratings[name]
        missing = set(evaluation.missing)
        unrated[name] = tuple(s for s in evaluation.queries if s not in of_system and s not in missing)
        for measure in evaluation.measures:
            pairs = [
                (score.value, of_system[score.query])
                for score in evaluation.scores(measure)
                if score.value is not None and score.status != "missing" and score.query in of_system
            ]
            values, said = [value for value, _ in pairs], [given for _, given in pairs]
            found[name, measure] = correlate(values, said, confidence)
            why = _why_undefined(values, said, str(measure), rating)
            if why:
                constant[name, measure] = why
    return RatingCorrelations(rating, confidence, found, unrated, constant)


def _why_undefined(values: Sequence[float], said: Sequence[float], measure: str, rating: str) -> str:
    if len(values) < 2:
        return f"{len(values)} of the sessions {'has' if len(values) == 1 else 'have'} both"
    for what, each in ((measure, values), (rating, said)):
        if min(each) == max(each):
            return f"{what} is {each[0]:g} for all {len(each)} sessions"
    return ""
