"""Correlations of session measures with user ratings, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.notation import count_of, percent_text, printable, some_of
from gainful.pages.page import Table, head
from gainful.stats.paired_tests import mid_ranks
from gainful.stats.repeatable import settle

#: Up to this many values, all pairs are compared directly.
_SMALL = 64


class Correlation(NamedTuple):
    """A coefficient (None if undefined) with its interval, computed from ``n`` pairs."""

    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def correlate(x: Sequence[float], y: Sequence[float], confidence: float = 0.95) -> tuple[Correlation, ...]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of paired values, each with an interval.

    Intervals use Fisher's z: atanh(r) plus or minus z times a standard error, which is sqrt(1 / (n - 3)) for Pearson's
    r, sqrt((1 + rho^2 / 2) / (n - 3)) for Spearman's rho (Bonett and Wright 2000), and sqrt(0.437 / (n - 4)) for
    Kendall's tau (Fieller, Hartley and Pearson 1957). All are undefined if either side is constant. Values that differ
    only by rounding are equal.

    >>> [(each.coefficient, round(each.value, 4)) for each in correlate([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])]
    [('Pearson', 0.8), ('Spearman', 0.8), ('Kendall', 0.6)]
    """
    if len(x) != len(y):
        raise UsageError(f"correlate: {len(x)} and {len(y)} values cannot be paired")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    n = a.size
    if n < 2 or _is_constant(x) or _is_constant(y):
        return tuple(Correlation(name, None, None, None, n) for name in ("Pearson", "Spearman", "Kendall"))
    equal_a, equal_b = settle(a), settle(b)
    rho = _pearson(mid_ranks(equal_a), mid_ranks(equal_b))
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    found = []
    for name, value, variance, freedom in (
        ("Pearson", _pearson(a, b), 1.0, n - 3),
        ("Spearman", rho, 1.0 + rho * rho / 2.0, n - 3),
        ("Kendall", kendall(equal_a, equal_b), 0.437, n - 4),
    ):
        ends: tuple[float | None, float | None] = (None, None)
        if freedom >= 1 and abs(value) < 1.0:
            middle, width = math.atanh(value), z * math.sqrt(variance / freedom)
            ends = math.tanh(middle - width), math.tanh(middle + width)
        elif freedom >= 1:
            ends = value, value
        found.append(Correlation(name, value, *ends, n))
    return tuple(found)


def _is_constant(values: Sequence[float]) -> bool:
    return not np.ptp(settle(np.asarray(values, np.float64)))


def _pearson(x: Floats, y: Floats) -> float:
    a, b = ((each - math.fsum(each) / each.size).tolist() for each in (x, y))
    above = math.fsum(p * q for p, q in zip(a, b, strict=True))
    below = math.sqrt(math.fsum(p * p for p in a)) * math.sqrt(math.fsum(q * q for q in b))
    return min(1.0, max(-1.0, above / below))


def kendall(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-b; neither side is constant. Counts exactly, without a matrix of all pairs.

    >>> round(kendall(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])), 4)
    0.6667
    """

    def ties(values: Floats | Ints) -> tuple[Ints, int]:
        """Return the dense ranks of the values and the number of tied pairs."""
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        return places.reshape(-1), sum(count * (count - 1) // 2 for count in counts.tolist())

    (a, tied_a), (b, tied_b) = ties(x), ties(y)
    _, tied = ties(a * (int(b.max()) + 1) + b)
    pairs = x.size * (x.size - 1) // 2
    # Within ties of a, b ascends, so tied pairs are never counted as inversions.
    discordant = _inversions(b[np.lexsort((b, a))])[0]
    concordant = pairs - tied_a - tied_b + tied - discordant
    return (concordant - discordant) / math.sqrt((pairs - tied_a) * (pairs - tied_b))


def _inversions(values: Ints) -> tuple[int, Ints]:
    """Return the number of inversions and the sorted values."""
    if values.size <= _SMALL:
        return int(np.count_nonzero(np.triu(values[:, None] > values[None, :]))), np.sort(values)
    half = values.size // 2
    (before, left), (after, right) = _inversions(values[:half]), _inversions(values[half:])
    across = int((half - np.searchsorted(left, right, "right")).sum())
    return before + after + across, np.sort(values)


@dataclass(frozen=True)
class RatingCorrelations:
    """Correlations of measures with a rating.

    ``unrated`` are the scored sessions without a rating, by system; ``constant`` gives the reason for undefined
    coefficients, by system and measure.
    """

    rating: str
    confidence: float
    found: Mapping[tuple[str, Measure], tuple[Correlation, ...]]
    unrated: Mapping[str, tuple[str, ...]]
    constant: Mapping[tuple[str, Measure], str]

    def table(self, places: int) -> Table:
        """Return one row per system, measure and coefficient."""
        per_cent = percent_text(self.confidence)
        columns = head(f"run | measure | coefficient | value .{places} | low .{places} | high .{places} | sessions #")
        rows = tuple((name, str(measure), *each) for (name, measure), found in self.found.items() for each in found)
        notes = [f"low, high: {per_cent} CI from Fisher's z (Spearman: Bonett and Wright; Kendall: Fieller)"]
        lower = dict.fromkeys(str(measure) for _, measure in self.found if measure.better == "lower")
        if lower:
            notes.append(f"lower is better: {', '.join(lower)}")
        notes += [f"undefined for {printable(name, 80)}: {why}" for (name, _), why in self.constant.items()]
        return Table(columns, rows, f"Correlation with {self.rating}", tuple(dict.fromkeys(notes)))

    def notices(self) -> list[str]:
        """Return one line per system that has sessions without a rating."""
        without = f"without {printable(self.rating)}, not in the correlation"
        unrated = ((printable(name, 80), sessions) for name, sessions in self.unrated.items() if sessions)
        return [f"{name}: {count_of(len(each), 'session')} {without}: {some_of(each)}" for name, each in unrated]


def correlate_ratings(
    evaluations: Mapping[str, Evaluation],
    ratings: Mapping[str, Mapping[str, float]],
    rating: str,
    confidence: float = 0.95,
) -> RatingCorrelations:
    """Correlate every measure with a rating over the sessions that have both; ``ratings`` are by system and session.

    Scores follow the policy. Missing sessions are never included.
    """
    found: dict[tuple[str, Measure], tuple[Correlation, ...]] = {}
    constant: dict[tuple[str, Measure], str] = {}
    unrated: dict[str, tuple[str, ...]] = {}
    for name, evaluation in evaluations.items():
        of_system, missing = ratings[name], set(evaluation.missing)
        unrated[name] = tuple(s for s in evaluation.queries if s not in of_system and s not in missing)
        for measure in evaluation.measures:
            pairs = [
                (score.value, of_system[score.query])
                for score in evaluation.scores(measure)
                if score.value is not None and score.status != "missing" and score.query in of_system
            ]
            sides = [value for value, _ in pairs], [rated for _, rated in pairs]
            found[name, measure] = correlate(*sides, confidence)
            if len(pairs) < 2:
                constant[name, measure] = f"{len(pairs)} of the sessions {'has' if len(pairs) == 1 else 'have'} both"
                continue
            for what, values in zip((str(measure), rating), sides, strict=True):
                if _is_constant(values):
                    constant.setdefault((name, measure), f"{what} is {values[0]:g} for all {len(values)} sessions")
    return RatingCorrelations(rating, confidence, found, unrated, constant)
