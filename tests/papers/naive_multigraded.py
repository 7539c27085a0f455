"""Measures of scheel2011 by definition, by code that knows nothing of gainful's."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Of a ranked list of grades in which everything judged is retrieved; None where nothing is relevant.


def average_precision(grades: Sequence[float], threshold: float) -> float | None:
    hits = [rank for rank, grade in enumerate(grades, 1) if grade >= threshold]
    return math.fsum(found / rank for found, rank in enumerate(hits, 1)) / len(hits) if hits else None


def mu_ap(grades: Sequence[float]) -> float | None:
    levels = sorted({grade for grade in grades if grade > 0})
    terms = [
        (level - below) * (average_precision(grades, level) or 0.0)
        for below, level in zip([0.0, *levels], levels, strict=False)
    ]
    return math.fsum(terms) / levels[-1] if levels else None


def ndcg(grades: Sequence[float]) -> float | None:
    def dcg(ranked: Sequence[float]) -> float:
        return math.fsum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(ranked, 1))

    best = dcg(sorted(grades, reverse=True))
    return dcg(grades) / best if best else None


def ndcng(grades: Sequence[float]) -> float | None:
    highest = max(grades)
    return ndcg([grade / highest for grade in grades]) if highest else None


def mean(values: Sequence[float | None]) -> float:
    """Without those that are undefined."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined)
