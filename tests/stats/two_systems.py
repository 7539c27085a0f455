"""Two systems' scores as arrays, compared as a matrix of two columns, and a family with its plan in keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import numbered
from gainful.stats.families import FamilyResult, SystemsPlan, families_of
from gainful.stats.paired import PairResult, compare_pair as compare_two
from gainful.stats.paired_tests import PairPlan


class TwoSystems(ScoreMatrix):
    """The systems A and B; ``weights`` are in the order of the queries given."""

    own_weights: Floats | None = None

    @property
    def weights(self) -> Floats | None:
        return self.own_weights


def two_systems(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    queries: Sequence[str] | None = None,
    *,
    weights: Floats | None = None,
    measure: str = "",
    better: Any = "higher",
) -> TwoSystems:
    ids = numbered(len(a)) if queries is None else list(queries)
    made = TwoSystems(measure, better, tuple(ids), ("A", "B"), np.column_stack([a, b]))
    if weights is not None:
        by_id = dict(zip(ids, weights.tolist(), strict=True))
        object.__setattr__(made, "own_weights", np.array([by_id[query] for query in made.queries]))
    return made


def compare_pair(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    queries: Sequence[str] | None = None,
    *,
    weights: Floats | None = None,
    measure: str = "",
    better: Any = "higher",
    **plan: Any,
) -> PairResult:
    """System A compared with B; ``plan`` are the fields of a :class:`PairPlan`."""
    matrix = two_systems(a, b, queries, weights=weights, measure=measure, better=better)
    return compare_two(matrix, "A", "B", PairPlan(**plan))


def compare_family(matrix: ScoreMatrix, **plan: Any) -> FamilyResult:
    """All pairs of a matrix; ``plan`` are the fields of a :class:`SystemsPlan`."""
    [found] = families_of([matrix], SystemsPlan(**plan))
    return found
