"""Further values of each score, such as its bounds. A kind is a setting below and a function of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gainful.frozen import dataclass
from gainful.question import setting

if TYPE_CHECKING:
    from gainful.data.graded import GradedRun
    from gainful.evaluation.results import Parts, ScoredRun
    from gainful.measures.base import Measure


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The further values of each score that are wanted."""

    bounds: bool = setting(False, "Add the lowest and highest scores possible if unjudged documents had any grades.")
    chance: bool = setting(False, "Add the expected scores of the same documents in random order.")

    def values(self, graded: GradedRun, evaluation: ScoredRun) -> dict[str, dict[str, Parts]]:
        """Return the values that are wanted, by kind, then by measure."""
        return {
            name: {str(m): parts for m in evaluation.measures if (parts := kind.find(graded, m, evaluation))}
            for name, kind in KINDS.items()
            if getattr(self, name)
        }


class Kind(NamedTuple):
    """A kind of further values: its title, and a function that finds the values of a measure, or none."""

    title: str
    find: Callable[[GradedRun, Measure, ScoredRun], Parts]
    note: Callable[[Measure], str | None]


# Modules that need NumPy are loaded late: declaring the options should not take time.
def _bounds(graded: GradedRun, measure: Measure, evaluation: ScoredRun) -> Parts:
    import numpy as np

    from gainful.measures.holes import score_bounds

    value, (low, high) = evaluation.settled_scores(measure), score_bounds(graded, measure)
    if not np.isfinite([*measure.bounds]).all() and np.isinf([low, high]).any():
        return {}
    # Undefined scores count as the policy says, and the score itself is possible.
    low, high = (evaluation.settled(measure, each) for each in (low, high))
    left_out = np.isnan(value)
    return {
        "lowest": np.where(left_out, np.nan, np.fmin(low, value)),
        "highest": np.where(left_out, np.nan, np.fmax(high, value)),
    }


def _chance(graded: GradedRun, measure: Measure, evaluation: ScoredRun) -> Parts:
    from gainful.measures.block import raw_scores
    from gainful.measures.expected import AVERAGED_OVER_TIES

    if measure.name not in AVERAGED_OVER_TIES:
        return {}
    return {"chance": evaluation.settled(measure, raw_scores(graded.shuffled(), [measure])[0])}


def _bounds_note(measure: Measure) -> str | None:
    from gainful.measures.holes import has_exact_bounds

    return None if has_exact_bounds(measure) else "the range of the measure, not of these lists"


def _chance_note(measure: Measure) -> str | None:
    from gainful.measures.expected import AVERAGED_OVER_TIES

    return None if measure.name in AVERAGED_OVER_TIES else "no closed form"


KINDS = {
    "bounds": Kind("Bounds: unjudged documents of the lists may have any grade", _bounds, _bounds_note),
    "chance": Kind("Chance: the same documents in random order", _chance, _chance_note),
}
