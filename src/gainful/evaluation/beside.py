"""Further values of each score, such as its bounds. A kind is a setting below and a function of the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gainful.errors import UsageError, for_asker, option
from gainful.frozen import dataclass
from gainful.notation import printable, read_ranks, whole_number
from gainful.question import setting

if TYPE_CHECKING:
    from gainful.data.graded import GradedRun
    from gainful.evaluation.results import Parts, ScoredRun
    from gainful.kernel.arrays import Floats
    from gainful.measures.base import Measure


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The further values of each score that are wanted."""

    bounds: bool = setting(False, "Add the lowest and highest scores possible if unjudged documents had any grades.")
    chance: bool = setting(False, "Add the expected scores of the same documents in random order.")
    loss: bool = setting(False, "Split 1 - score into order, relevant documents at later ranks and not retrieved.")
    loss_ranks: Sequence[int] = setting((100, 1000), "Ranks at which --loss splits.", metavar="R,...", read=read_ranks)

    def __post_init__(self) -> None:
        ranks: object = self.loss_ranks
        if not isinstance(ranks, Iterable) or isinstance(ranks, str):
            raise UsageError(f"{option('loss_ranks')}: expected a list of ranks, found {ranks!r}")
        if not self.loss and (*ranks,) != (100, 1000):
            raise UsageError(f"{option('loss_ranks')} needs {for_asker('--loss', 'loss=True')}")
        object.__setattr__(self, "loss_ranks", [whole_number(rank, "loss_ranks") for rank in ranks])

    def values(self, graded: GradedRun, evaluation: ScoredRun) -> dict[str, dict[str, Parts]]:
        """Return the values that are wanted, by kind, then by measure."""
        measures = [measure for measure in evaluation.measures if measure.budget is None]
        return {
            name: {str(m): parts for m in measures if (parts := kind.find(graded, m, evaluation, self))}
            for name, kind in KINDS.items()
            if getattr(self, name)
        }


class Kind(NamedTuple):
    """A kind of further values: its title, the values of a measure, if any, and a note, given each run's aggregates."""

    title: str
    find: Callable[[GradedRun, Measure, ScoredRun, Beside], Parts]
    note: Callable[[Measure, Mapping[str, Mapping[str, float]]], str | None]


# Modules that need NumPy are loaded late: declaring the options should not take time.
def _bounds(graded: GradedRun, measure: Measure, evaluation: ScoredRun, wanted: Beside) -> Parts:
    import numpy as np

    from gainful.measures.holes import refuse_undefined, score_bounds

    refuse_undefined(measure, evaluation.settled_scores(measure), graded.answered)
    ends = score_bounds(graded, measure)
    if not np.isfinite([*measure.bounds]).all() and np.isinf(ends).any():
        return {}
    return with_ends(evaluation, measure, *ends)


def with_ends(evaluation: ScoredRun, measure: Measure, low: Floats, high: Floats) -> Parts:
    """Return the bounds of each score under the policy; the score itself, also if it is undefined, is possible."""
    import numpy as np

    value = evaluation.settled_scores(measure)
    low, high = (evaluation.settled(measure, each) for each in (low, high))
    return {
        "lowest": np.where(np.isnan(value), np.nan, np.fmin(low, value)),
        "highest": np.where(np.isnan(value), np.nan, np.fmax(high, value)),
    }


def _chance(graded: GradedRun, measure: Measure, evaluation: ScoredRun, wanted: Beside) -> Parts:
    from gainful.measures.block import raw_scores
    from gainful.measures.expected import AVERAGED_OVER_TIES

    if measure.name not in AVERAGED_OVER_TIES:
        return {}
    return {"chance": evaluation.settled(measure, raw_scores(graded.shuffled(), [measure])[0])}


def _loss(graded: GradedRun, measure: Measure, evaluation: ScoredRun, wanted: Beside) -> Parts:
    from gainful.measures.loss import best_scores, is_split

    if not is_split(measure) or graded.policy.ties == "expected":
        return {}
    best = best_scores(graded, measure, wanted.loss_ranks)
    return loss_of(evaluation, measure, best, best.pop("not retrieved"))


def loss_of(evaluation: ScoredRun, measure: Measure, best: Parts, ideal: Floats) -> Parts:
    """Return the parts of the loss from the raw scores of the best orders and of the ideal lists."""
    import numpy as np

    from gainful.evaluation.results import settled

    score, policy = evaluation.settled_scores(measure), evaluation.policy
    ideal = settled(ideal, np.array(True), measure, policy.missing, policy.undefined)
    steps = [score, *(evaluation.settled(measure, raw) for raw in best.values())]
    # Sums in another order may differ in their last bits.
    steps += [np.where(ideal > 1.0 - 1e-12, 1.0, ideal), np.ones(score.size)]
    reached = np.fmax.accumulate(steps)
    if np.any(reached > 1.0 + 1e-9):  # grades in a log that the judgments lack
        return {}
    found = dict(zip([*best, "not retrieved", "out of reach"], np.diff(reached, axis=0) + 0.0 * score, strict=True))
    return {name: part for name, part in found.items() if name[:5] not in ("after", "out o") or np.any(part > 0)}


def _bounds_note(measure: Measure, of_runs: Mapping[str, Mapping[str, float]]) -> str | None:
    from gainful.measures.holes import has_exact_bounds

    if not any(of_runs.values()):
        return "no bounds"
    return None if has_exact_bounds(measure) else "the range of the measure, not of these lists"


def _chance_note(measure: Measure, of_runs: Mapping[str, Mapping[str, float]]) -> str | None:
    return None if any(of_runs.values()) else "no closed form"


def _loss_note(measure: Measure, of_runs: Mapping[str, Mapping[str, float]]) -> str | None:
    from gainful.measures.loss import is_split

    if not is_split(measure):
        return "no exact split"
    if not any(of_runs.values()):
        return "no exact split of means over orders (ties=expected), or of scores above 1"
    names = [*next(iter(of_runs.values()))]
    count = 2 if names[0] == "order" and names[1][0].isdigit() else 1
    top = names[count - 1].rpartition("-")[2].replace("order", str(measure.rank_cutoff))
    worth = {run: sum([*parts.values()][:count]) for run, parts in of_runs.items()}
    shown = ", ".join(f"{value:+.4f} ({printable(run, 80)})" for run, value in worth.items())
    return f"a perfect reranker of the top {top} is worth {shown}" if any(worth.values()) else None


KINDS = {
    "bounds": Kind("Bounds: unjudged documents of the lists may have any grade", _bounds, _bounds_note),
    "chance": Kind("Chance: the same documents in random order", _chance, _chance_note),
    "loss": Kind("Loss: the parts of 1 - score", _loss, _loss_note),
}
