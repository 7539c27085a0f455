"""A sweep: the weight of the highest level grows from light to heavy, and systems change places."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.errors import UsageError, option
from gainful.evaluation.evaluate import evaluate_graded
from gainful.evaluation.evaluations import Evaluation
from gainful.measures.base import Measure
from gainful.notation import count_of, number_text, printable, read_number
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Table, head
from gainful.tasks.sensitivity.sensitivity_findings import Cell, cell_of, is_tie, mean_of, order_text
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels, Grid, gain_parameter, takes_up_to_1

#: Steps between the points that are evaluated, and into how many each is divided where systems change places: from 1 to
#: 1000 these steps are less than one per cent.
_STEPS, _PARTS = 24, 32
_WIDEST = 1e12
#: Changes in sentences and in the table, lines and rules in the chart.
_MOST_TOLD, _MOST_CHANGES, _MOST_LINES, _MOST_RULES = 5, 20, 12, 5


class WeightRange(NamedTuple):
    """Where the sweep begins and ends."""

    low: float = 1.0
    high: float = 1000.0

    @classmethod
    def of(cls, value: str | tuple[object, object]) -> WeightRange:
        """Two weights above 0, the lower one first; or a text of both.

        >>> WeightRange.of("1-100")
        WeightRange(low=1.0, high=100.0)
        """
        if isinstance(value, str):
            match = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*-\s*([\d.]+(?:e\d+)?)\s*", value)
            if not match:
                what = option("sweep").removesuffix("=")
                raise UsageError(f"{what}: expected two weights like 1-1000, or none, found '{value}'")
            value = match[1], match[2]
        read = cls(*(read_number(weight, "sweep") for weight in value))
        found = f"{number_text(read.low)} and {number_text(read.high)}"
        if not 0 < read.low < read.high:
            raise UsageError(
                f"sweep: expected two weights above 0, the lower one first, found {found}", "such as 1-1000"
            )
        if read.high / read.low > _WIDEST:
            raise UsageError(f"sweep: expected weights that differ at most by a factor of 1e12, found {found}")
        return read

    def weight(self, place: int) -> float:
        """The weight at a place of the fine scale, 0 to 768, evenly by ratio; four digits."""
        exact = self.low * (self.high / self.low) ** (place / (_STEPS * _PARTS))
        return exact if place in (0, _STEPS * _PARTS) else float(f"{exact:.4g}")

    def points(self) -> list[float]:
        """The weights that are evaluated in any case."""
        return [self.weight(place) for place in range(0, _STEPS * _PARTS + 1, _PARTS)]


class Overtaking(NamedTuple):
    """``overtaken`` is ahead at the weight ``low`` and no longer at ``high``; further on ``overtaking`` leads.

    ``for_first`` if the one wins before and the other one after.
    """

    overtaken: str
    overtaking: str
    low: float
    high: float
    for_first: bool

    @property
    def weight(self) -> float:
        """About where they change places."""
        return float((self.low * self.high) ** 0.5)


@dataclass(frozen=True)
class Sweep:
    """The order of systems while the weight of the highest level grows; all levels below it have weight 1.

    ``points`` are evenly spaced by ratio; ``changes`` say where two systems change places, to about one per cent. What
    changes and changes back between two points is not seen.
    """

    measure: Measure
    grade: float
    weights: tuple[float, ...]
    points: tuple[Cell, ...]
    changes: tuple[Overtaking, ...]

    @property
    def setting(self) -> str:
        """What the other axes are set to."""
        return self.points[0].label

    def parts(self) -> list[Table | Chart | str]:
        """A sentence, the order from weight to weight, who overtakes whom where, and the values as lines."""
        grade, places = number_text(self.grade), 2 if self.weights[0] >= 1 else 4
        start, end = (number_text(self.weights[i]) for i in (0, -1))
        setting = f" ({self.setting})" if self.setting else ""
        told = [
            f"{printable(each.overtaking, 80)} takes the first place from {printable(each.overtaken, 80)} at "
            f"{each.weight:.3g}"
            for each in self.changes
            if each.for_first
        ]
        conclusion = "no two systems change places."
        if len(self.points[0].scores) == 1:
            conclusion = "one system alone has no order."
        elif told:
            conclusion = f"{'; '.join(told[:_MOST_TOLD])}."
        elif self.changes:
            conclusion = f"the winner stays, {count_of(len(self.changes), 'pair')} of systems below change places."
        parts: list[Table | Chart | str] = [
            f"The weight of grade {grade} from {start} to {end}, all grades below it weighing 1{setting}: {conclusion}"
        ]
        if len(self.points[0].scores) > 1:
            stretches: list[tuple[float, float, str]] = []  # from which weight to which the order reads the same
            for weight, cell in zip(self.weights, self.points, strict=True):
                text = order_text(cell.order)
                if stretches and stretches[-1][2] == text:
                    stretches[-1] = (stretches[-1][0], weight, text)
                else:
                    stretches.append((weight, weight, text))
            columns = head(f"from weight .{places} | to weight .{places} | order of systems")
            note = ("from, to: of the weights that were evaluated",) if len(stretches) > 1 else ()
            title = f"The order by the weight of grade {grade}"
            parts.append(Table(columns, stretches, title, note, for_people=True))
        if self.changes:
            changes = list(self.changes)
            more: tuple[str, ...] = ()
            if len(changes) > _MOST_CHANGES:
                changes.sort(key=lambda change: not change.for_first)
                more = (f"{_MOST_CHANGES} of {len(changes):,}, those for the first place first",)
            weights = f"above weight .{places} ← low | by weight .{places} ← high"
            columns = (*head(f"overtaking | overtaken | {weights}"), *head("first place ← for_first", none=""))
            title = f"Changes by the weight of grade {grade}"
            parts.append(Table.of(columns, changes, title=title, notes=more, most=_MOST_CHANGES))
        return [*parts, self.plot()]

    def plot(self) -> Plot:
        """Every system's value by the weight of the highest level; of sums of gains, which grow with it, the share of
        the best. Of many systems those that get furthest up."""
        runs = [score.run for score in self.points[0].scores]
        best_rank = [min(cell.ranks[i] or len(runs) for cell in self.points) for i in range(len(runs))]
        shown = sorted(sorted(range(len(runs)), key=best_rank.__getitem__)[:_MOST_LINES])
        is_open = not math.isfinite(self.measure.bounds[1])
        lines = []
        for i in shown:
            values = [_number(cell.scores[i].value) for cell in self.points]
            if is_open:
                best = [_number(cell.value) for cell in self.points]
                values = [value / top if top else math.nan for value, top in zip(values, best, strict=True)]
            lines.append(Line(runs[i], self.weights, tuple(values)))
        grade = number_text(self.grade)
        rules = [
            Rule(f"{printable(change.overtaking, 20)} takes the lead", x=change.weight)
            for change in self.changes
            if change.for_first
        ]
        some = f"{len(lines)} of {len(runs)} systems: those that get furthest up"
        return Plot(
            f"{self.measure} by the weight of grade {grade}" + (f" ({self.setting})" if self.setting else ""),
            Axis(f"weight of grade {grade}, others 1", self.weights[0], self.weights[-1], is_log=True),
            Axis(f"{self.measure}, share of the best" if is_open else str(self.measure)),
            tuple(lines),
            rules=tuple(rules[:_MOST_RULES]),
            caption=some if len(lines) < len(runs) else "",
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


@dataclass(frozen=True)
class PlannedSweep:
    """A sweep before it is carried out: at which setting; ``up_to_1`` if the measure takes no gains above 1."""

    span: WeightRange
    grid: Grid
    parameter: str
    levels: GradeLevels
    up_to_1: bool

    def measures(self, weights: Iterable[float]) -> dict[float, Measure]:
        """The measure at every weight."""
        first = self.grid.settings[0].measure
        if any("rel" in value.parameters for value in self.grid.axes[0].options):
            first = first.replace(rel=None)
        gains = {weight: self.levels.top_weighing(weight, up_to_1=self.up_to_1) for weight in weights}
        return {weight: first.replace(**{self.parameter: gain}) for weight, gain in gains.items()}

    def carried_out(
        self, graded: Mapping[str, GradedRun], evaluations: Mapping[str, Evaluation], by_text: Mapping[str, Measure]
    ) -> Sweep:
        """The order at every point, and between points where two systems change places."""
        others = ", ".join(axis.label(0) for axis in self.grid.axes if axis.name != self.parameter)
        weights = self.measures(self.span.points())
        points = tuple(cell_of(others, by_text[str(each)], (), evaluations) for each in weights.values())
        lower_is_better = self.grid.measure.better == "lower"
        known: dict[tuple[str, int], float | None] = {
            (score.run, i * _PARTS): score.value for i, cell in enumerate(points) for score in cell.scores
        }

        def sign(pair: tuple[str, str], place: int) -> int:
            """1 if the first is ahead at a place of the fine scale, -1 if the second is, 0 if neither."""
            for run in pair:
                if (run, place) not in known:
                    [measure] = self.measures([self.span.weight(place)]).values()
                    known[run, place] = mean_of(evaluate_graded(graded[run], [measure]), measure)
            one, other = known[pair[0], place], known[pair[1], place]
            if one is None or other is None or is_tie(one, other):
                return 0
            return 1 if (one < other) == lower_is_better else -1

        changes = []
        for pair in combinations(graded, 2):
            signs = {place * _PARTS: sign(pair, place * _PARTS) for place in range(len(points))}
            for start, end in pairwise(place for place, told_apart in signs.items() if told_apart):
                if signs[start] == signs[end]:
                    continue
                ahead = pair if signs[start] > 0 else pair[::-1]
                before, after = points[start // _PARTS], points[end // _PARTS]
                for_first = before.winners == ahead[:1] and ahead[1] in after.winners
                low, high = start, end
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (middle, high) if sign(ahead, middle) == 1 else (low, middle)
                changes.append(Overtaking(*ahead, self.span.weight(low), self.span.weight(high), for_first))
        changes.sort(key=lambda change: (change.low, not change.for_first))
        return Sweep(self.grid.measure, self.levels.levels[-1], tuple(weights), points, tuple(changes))


def plan_sweep(
    grid: Grid, judged: Judged, sweep: tuple[float, float] | str | bool
) -> tuple[PlannedSweep | None, list[str]]:
    """The sweep that was asked for, and why there is none where it was not asked for but is usual."""
    if sweep is False or sweep == "none":
        return None, []
    parameter, levels = gain_parameter(grid.measure), GradeLevels.of(judged)
    is_fixed = parameter is not None and getattr(grid.measure, parameter) != grid.measure.parameters()[parameter]
    reason = None
    if parameter is None or is_fixed:
        reason = f"{grid.measure} {'says what grades are worth' if is_fixed else 'takes no gain'}"
    elif not levels.can_be_weighed:
        reason = f"the judgments have {count_of(len(levels.levels), 'grade')} above 0, too many for weights by level"
    elif len(levels.levels) < 2:
        reason = "the judgments have one level above 0"
    if reason is not None or parameter is None:
        if sweep is not True:
            raise UsageError(f"sweep: there is no weight of the highest level to vary, {reason}")
        # Without gains, and with a single level, the grid has said so already.
        return None, [f"no sweep: {reason}"] if levels.levels and not levels.can_be_weighed else []
    span = WeightRange() if isinstance(sweep, bool) else WeightRange.of(sweep)
    return PlannedSweep(span, grid, parameter, levels, takes_up_to_1(grid.measure, judged)), []
