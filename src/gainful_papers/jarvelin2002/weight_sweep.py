"""Weight sweep: the order of systems as the weight of the highest level increases (Voorhees 2001)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import NamedTuple

from gainful import Evaluation, Evaluations, GradedRun, Measure, Policy, QrelsLike, RunLike, UsageError, parse
from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.errors import warns
from gainful.evaluation.evaluate import check_measures, evaluate_graded, join_each
from gainful.notation import count_of, number_text, printable, read_number
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Table, head
from gainful.render import Page, Showable
from gainful.tasks.sensitivity.sensitivity_grid import (
    Cell,
    GradeLevels,
    cell_of,
    gain_parameter,
    order_text,
    takes_up_to_1,
)

#: Steps of the sweep, and subdivisions of a step in which systems change places: below 1% for weights from 1 to 1000.
_STEPS, _PARTS = 24, 32
#: Limits: changes in sentences and in the table, lines and rules in the chart.
_MOST_TOLD, _MOST_CHANGES, _MOST_LINES, _MOST_RULES = 5, 20, 12, 5


class Overtaking(NamedTuple):
    """``overtaken`` leads up to weight ``low``, ``overtaking`` leads at ``high``; ``for_first`` if for first place."""

    overtaken: str
    overtaking: str
    low: float
    high: float
    for_first: bool


@dataclass(frozen=True, eq=False)
class WeightSweep(Showable):
    """Order of systems as the weight of the highest level increases; all other levels have weight 1.

    ``points`` are the orders at ``weights``, which are evenly spaced by ratio; ``changes`` are exact to about 1%. A
    change that is reversed between two points is not detected.
    """

    measure: Measure
    grade: float
    weights: tuple[float, ...]
    points: tuple[Cell, ...] = field(repr=False)
    changes: tuple[Overtaking, ...]
    evaluations: Mapping[str, Evaluation] = field(repr=False)

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the runs, one per line."""
        first = [replace(each, measures=each.measures[:1], raw=each.raw[:1]) for each in self.evaluations.values()]
        return Evaluations(zip(self.evaluations, first, strict=True)).notices

    def page(self) -> Page:
        """Return a sentence, the order by weight, all changes of places, and a chart of means."""
        grade, start, end = (number_text(value) for value in (self.grade, self.weights[0], self.weights[-1]))
        places = 2 if self.weights[0] >= 1 else 4
        told = [
            f"{printable(new, 80)} overtakes {printable(old, 80)} for first place at {(low * high) ** 0.5:.3g}"
            for old, new, low, high, for_first in self.changes
            if for_first
        ]
        conclusion = "no two systems change places."
        if len(self.evaluations) == 1:
            conclusion = "a single system has no order."
        elif told:
            conclusion = f"{'; '.join(told[:_MOST_TOLD])}."
        elif self.changes:
            conclusion = f"the winner is the same, {count_of(len(self.changes), 'pair')} of other systems swap places."
        setting = f"Weight of grade {grade} from {start} to {end}, lower grades 1 ({self.measure})"
        parts: list[Table | Chart | str] = [f"{setting}: {conclusion}"]
        if len(self.evaluations) > 1:
            stretches: list[tuple[float, float, str]] = []  # ranges of weights with the same order
            for weight, cell in zip(self.weights, self.points, strict=True):
                text = order_text(cell.order)
                if stretches and stretches[-1][2] == text:
                    stretches[-1] = (stretches[-1][0], weight, text)
                else:
                    stretches.append((weight, weight, text))
            columns = head(f"from weight .{places} | to weight .{places} | order of systems")
            notes = ("from, to: evaluated weights",) if len(stretches) > 1 else ()
            parts.append(Table(columns, stretches, f"Order by weight of grade {grade}", notes, for_people=True))
        if self.changes:
            changes, notes = list(self.changes), ()
            if len(changes) > _MOST_CHANGES:
                changes.sort(key=lambda change: not change.for_first)
                notes = (f"{_MOST_CHANGES} of {len(changes):,}, changes of first place first",)
            weights = f"above weight .{places} ← low | by weight .{places} ← high"
            columns = (*head(f"overtaking | overtaken | {weights}"), *head("first place ← for_first", none=""))
            title = f"Changes by weight of grade {grade}"
            parts.append(Table.of(columns, changes, title=title, notes=notes, most=_MOST_CHANGES))
        rows = [
            (weight, str(cell.measure), *score)
            for weight, cell in zip(self.weights, self.points, strict=True)
            for score in cell.scores
        ]
        columns = head("weight . | measure | run | value . | rank #", for_machines=True)
        parts += [self._plot(), Table(columns, rows, "Sweep")]
        signature = next(iter(self.evaluations.values())).signature()
        header = {"kind": "sweep", "measure": str(self.measure), "grade": self.grade, "signature": str(signature)}
        return Page("papers", tuple(parts), (signature.note(),), header)

    def _plot(self) -> Plot:
        """Plot means by weight, for unbounded measures as shares of the best; of many systems, the highest."""
        runs, grade = list(self.evaluations), number_text(self.grade)
        best_rank = [min(cell.ranks[i] or len(runs) for cell in self.points) for i in range(len(runs))]
        shown = sorted(sorted(range(len(runs)), key=best_rank.__getitem__)[:_MOST_LINES])
        is_open = not math.isfinite(self.measure.bounds[1])
        lines = []
        for i in shown:
            means = [(cell.scores[i].value, cell.value if is_open else 1.0) for cell in self.points]
            values = [math.nan if value is None or not best else value / best for value, best in means]
            lines.append(Line(runs[i], self.weights, tuple(values)))
        rules = [
            Rule(f"{printable(each.overtaking, 20)} takes the lead", x=(each.low * each.high) ** 0.5)
            for each in self.changes
            if each.for_first
        ]
        some = f"{len(lines)} of {len(runs)} systems, by highest rank"
        return Plot(
            f"{self.measure} by weight of grade {grade}",
            Axis(f"weight of grade {grade}, others 1", self.weights[0], self.weights[-1], is_log=True),
            Axis(f"{self.measure}, relative to best" if is_open else str(self.measure)),
            tuple(lines),
            rules=tuple(rules[:_MOST_RULES]),
            caption=some if len(lines) < len(runs) else "",
        )


@warns
def sweep_weight(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measure: str | Measure = "nDCG@10",
    sweep: tuple[float, float] | str = (1.0, 1000.0),
    *,
    policy: Policy | str | None = None,
    threads: int | None = None,
) -> WeightSweep:
    """Find the weights of the highest level at which systems change places.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    >>> runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    >>> found = sweep_weight(qrels, runs, "nDCG(discount=none)@3", "1-100")
    >>> [(change.overtaking, change.overtaken, change.low < 2 <= change.high) for change in found.changes]
    [('top', 'many', True)]
    """
    require_runs(runs)
    judged, base, (lightest, heaviest) = Judged.of(qrels, policy), parse(measure), _read_weights(sweep)
    if base.better == "neither":
        raise UsageError(f"{base}: this measure cannot order systems: neither high nor low values are better")
    parameter, levels = gain_parameter(base), GradeLevels.of(judged)
    reason = None
    if parameter is None:
        reason = f"{base} takes no gain"
    elif getattr(base, parameter) != base.parameters()[parameter]:
        reason = f"{base} sets the gains of grades"
    elif not levels.can_be_weighed:
        reason = f"the judgments have {count_of(len(levels.levels), 'grade')} above 0, too many for weights by level"
    elif len(levels.levels) < 2:
        reason = "the judgments have only one level above 0"
    if reason is not None:
        raise UsageError(f"sweep: the weight of the highest level cannot be varied: {reason}")
    up_to_1 = takes_up_to_1(base, judged)

    def weight_at(place: int) -> float:
        """Return the weight at a place of the fine scale, 0 to 768, spaced by ratio, to four digits."""
        exact = lightest * (heaviest / lightest) ** (place / (_STEPS * _PARTS))
        return exact if place in (0, _STEPS * _PARTS) else float(f"{exact:.4g}")

    def measure_at(place: int) -> Measure:
        gain = levels.weighted([*([1.0] * (len(levels.levels) - 1)), weight_at(place)])
        return base.replace(**{str(parameter): levels.up_to_1(gain) if up_to_1 else gain})

    coarse = range(0, _STEPS * _PARTS + 1, _PARTS)
    measures = {place: measure_at(place) for place in coarse}
    check_measures(list(measures.values()), judged)

    def evaluated(_: str, run: GradedRun) -> tuple[GradedRun, Evaluation]:
        return run, evaluate_graded(run, list(measures.values()))

    found = join_each(judged, runs, evaluated, frozenset(base.needed()), threads=threads)
    evaluations = {run: evaluation for run, (_, evaluation) in found.items()}
    points = {place: cell_of("", each, (), evaluations) for place, each in measures.items()}
    finer: dict[tuple[str, int], Evaluation] = {}

    def is_ahead(one: str, other: str, place: int) -> bool:
        for run in (one, other):
            if (run, place) not in finer:
                finer[run, place] = evaluate_graded(found[run][0], [measure_at(place)])
        both = {run: finer[run, place] for run in (one, other)}
        return cell_of("", measure_at(place), (), both).winners == (one,)

    changes = []
    for (i, one), (j, other) in combinations(enumerate(evaluations), 2):
        # The leader at each point where both are ranked and differ.
        ranks = {place: (cell.ranks[i] or 0, cell.ranks[j] or 0) for place, cell in points.items()}
        leaders = {place: one if a < b else other for place, (a, b) in ranks.items() if a and b and a != b}
        for start, end in pairwise(leaders):
            before, after, low, high = leaders[start], leaders[end], start, end
            if before == after:
                continue
            for_first = points[start].winners == (before,) and after in points[end].winners
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if is_ahead(before, after, middle) else (low, middle)
            changes.append(Overtaking(before, after, weight_at(low), weight_at(high), for_first))
    changes.sort(key=lambda change: (change.low, not change.for_first))
    weights = tuple(map(weight_at, coarse))
    return WeightSweep(base, levels.levels[-1], weights, tuple(points.values()), tuple(changes), evaluations)


def _read_weights(value: str | tuple[object, object]) -> tuple[float, float]:
    """Read two positive weights, the lower one first, from numbers or a text."""
    if isinstance(value, str):
        parts = value.split("-")
        if len(parts) != 2:
            raise UsageError(f"sweep: expected two weights like 1-1000, found '{value}'")
        value = parts[0], parts[1]
    low, high = (read_number(weight, "sweep") for weight in value)
    found = f"{number_text(low)} and {number_text(high)}"
    if not 0 < low < high:
        raise UsageError(f"sweep: expected two weights above 0, the lower one first, found {found}", "such as 1-1000")
    if high / low > 1e12:
        raise UsageError(f"sweep: expected weights that differ by a factor of at most 1e12, found {found}")
    return low, high
