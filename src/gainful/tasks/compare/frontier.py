"""Gain against cost: the systems on the frontier, and those that are dominated with confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gainful.errors import UsageError, warns
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass, replace
from gainful.notation import listed, percent_text, printable, units
from gainful.pages.charts import Axis, Line, Plot, Points
from gainful.pages.page import Table, head
from gainful.question import question
from gainful.render import Page
from gainful.tasks.compare import Comparison, paired_matrices
from gainful.tasks.compare.several_systems import SystemsComparison, compare_several
from gainful.tasks.score_questions import CostOptions


@dataclass(frozen=True, eq=False, repr=False)
class CostComparison(Comparison):
    """Systems by gain and cost.

    Attributes:
        tested: All pairs by gain and by cost, each at half the level ``alpha``, so that all findings hold jointly.
        means: The mean gain and mean cost of each system, cheapest first.
        frontier: The systems without another that has at least their mean gain for at most their mean cost.
        dominators: For each system, those with a significantly higher gain and a significantly lower cost.
    """

    tested: SystemsComparison
    alpha: float
    means: Mapping[str, tuple[float, float]]
    frontier: tuple[str, ...]
    dominators: Mapping[str, tuple[str, ...]]

    def page(self, *, places: int = 4) -> Page:
        gain, cost = (each.family for each in self.tested.systems.values())
        by, level = f"{gain.measure} against {cost.measure}", percent_text(1 - self.alpha)
        sure = [name for name in self.means if self.dominators[name]]
        rest = [name for name in self.means if name not in (*self.frontier, *sure)]
        groups = {
            f"On the frontier of {by}": self.frontier,
            f"Dominated with {level} confidence": sure,
            f"Not settled by {units(gain.n, gain.unit)}": rest,
        }
        texts = [f"{what}: {listed(list(map(printable, names)))}." for what, names in groups.items() if names]
        rows = [
            (name, *self.means[name], "yes" if name in self.frontier else "", ", ".join(map(printable, better)))
            for name, better in self.dominators.items()
        ]
        columns = head(f"system | {gain.measure} .{places} | {cost.measure} .{places} | frontier | dominated by")
        note = f"dominated by: significantly more gain for significantly less cost; {level} for all pairs jointly."
        up, along = (math.nan if each.threshold is None else each.threshold / 2 for each in (gain, cost))
        lines = [
            Line(name, (c - along, c + along, math.nan, c, c), (g, g, math.nan, g - up, g + up))
            for name, (g, c) in self.means.items()
        ]
        y, x = zip(*map(self.means.__getitem__, self.frontier), strict=True)
        points = tuple(Points(name, (c,), (g,)) for name, (g, c) in self.means.items())
        axes = Axis(f"mean {cost.measure}"), Axis(f"mean {gain.measure}")
        caption = "Lines that do not overlap in a direction: significantly different; some that overlap also are."
        chart = Plot(by, *axes, (*lines, Line("frontier", x, y, "guide")), points, caption=caption)
        header: dict[str, object] = {"gain": gain.measure, "cost": cost.measure, "alpha": self.alpha, "seed": gain.seed}
        parts = ("\n".join(texts), Table(columns, rows, by, (note,)), chart)
        return Page("compare", parts, self.scores.conventions, header)


@warns
@question(CostOptions)
def compare_cost(asked: CostOptions) -> CostComparison:
    """Compare the gain of systems with their ``cost``: a table, a dict by system, or a :class:`gainful.ScoreMatrix`.

    >>> gains = {"small": [0.2, 0.4, 0.3], "large": [0.6, 0.7, 0.4], "slow": [0.5, 0.6, 0.4]}
    >>> seconds = {"small": [1, 1, 2], "large": [3, 2, 4], "slow": [9, 8, 9]}
    >>> compare_cost(ScoreMatrix.of("nDCG@10", gains), cost=seconds).frontier
    ('small', 'large')
    """
    given, cost = Scores.of(asked.scores), asked.cost
    if cost is None:
        raise UsageError("cost: the cost of each system per query is required")
    if isinstance(cost, Mapping):
        cost = ScoreMatrix.of("cost", cost, better="lower")
    elif not isinstance(cost, ScoreMatrix):
        cost = ScoreMatrix.read(cost, better="lower")
    matrix = given.matrices[given.measures[0]]
    if (matrix.better, cost.better) != ("higher", "lower"):
        raise UsageError(f"cost: expected a gain and a cost, found {matrix.measure} and {cost.measure}")
    scores = replace(given, queries={matrix.measure: matrix, cost.measure: cost}, sessions={})
    paired_matrices(scores)
    scores, level = scores.on_common(), asked.alpha / 2
    tested = compare_several(scores, alpha=level, draws=asked.draws, seed=asked.seed, threads=asked.threads)
    gains, costs = (each.family for each in tested.systems.values())
    both = zip(gains.systems, gains.means.tolist(), costs.means.tolist(), strict=True)
    means = {name: (g, c) for name, g, c in sorted(both, key=lambda each: each[2])}

    def is_ahead(one: str, other: str) -> bool:
        (gain, spent), (least, most) = means[one], means[other]
        return gain >= least and spent <= most and means[one] != means[other]

    def is_surely_ahead(one: str, other: str) -> bool:
        return one != other and gains.pair(one, other).tested == costs.pair(one, other).tested == "better"

    frontier = tuple(name for name in means if not any(is_ahead(each, name) for each in means))
    dominators = {name: tuple(each for each in means if is_surely_ahead(each, name)) for name in means}
    return CostComparison(scores, tested, asked.alpha, means, frontier, dominators)
