"""What curves of precision by recall share: their recall points, and how runs are compared with a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gainful.errors import UsageError
from gainful.named_runs import no_such_run, require_runs
from gainful.notation import read_number
from gainful.results import Evaluation

_MOST_POINTS = 1001


class Difference(NamedTuple):
    """How far a value in [0, 1] is from the baseline's: in points (hundredths), and in per cent of the baseline's.

    Either is None where there is no such number: a value is missing, or the baseline's is 0.
    """

    points: float | None
    per_cent: float | None

    @classmethod
    def of(cls, value: float, baseline: float) -> Difference:
        """The difference of two values.

        >>> Difference.of(0.75, 0.5), Difference.of(0.25, 0.0)
        (Difference(points=25.0, per_cent=50.0), Difference(points=25.0, per_cent=None))
        """
        if math.isnan(value) or math.isnan(baseline):
            return cls(None, None)
        points = 100 * (value - baseline)
        return cls(points, points / baseline if baseline else None)


def recall_points(count: int) -> tuple[float, ...]:
    """So many recall levels from 0 to 1, as far from each other.

    >>> recall_points(5)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    number = read_number(count, "points")
    if number != int(number) or not 2 <= number <= _MOST_POINTS:
        raise UsageError(f"points: expected a whole number from 2 to {_MOST_POINTS}, found {count}")
    return tuple(i / (int(number) - 1) for i in range(int(number)))


def checked_baseline(runs: Mapping[str, object], wanted: str | None) -> str:
    """The run that others are compared with: the wanted one, else the first."""
    require_runs(runs)
    if wanted is not None and wanted not in runs:
        raise no_such_run(wanted, runs, "baseline")
    return next(iter(runs)) if wanted is None else wanted


def evaluation_of(evaluations: Sequence[Evaluation], run: str) -> Evaluation:
    """The evaluation of a run by its name."""
    for evaluation in evaluations:
        if evaluation.run == run:
            return evaluation
    raise no_such_run(run, [evaluation.run for evaluation in evaluations])
