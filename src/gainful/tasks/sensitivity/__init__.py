"""What if gains, discounts or depths were others: `gainful sensitivity`.

From judgments and runs to a grid of orders: every cell is a measure, all are evaluated in one go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunLike
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import check_measures, evaluate_graded, join_each
from gainful.evaluation.notices import notices as notices_of
from gainful.evaluation.results import Evaluation
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text
from gainful.policy import Policy
from gainful.tasks.sensitivity.scenarios import SCENARIOS, Scenario, choose_scenarios, read_scenarios
from gainful.tasks.sensitivity.sensitivity_findings import (
    Cell,
    Sensitivity,
    Sweep,
    Values,
    WeightRange,
    cell_of,
    find_changes,
    mean_of,
)
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels, Grid, Setting, Wanted, gain_parameter, takes_up_to_1


@warns
def assess_sensitivity(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    *,
    measure: str | Measure = "nDCG",
    gains: Sequence[object] | None = None,
    discounts: Sequence[str] | None = None,
    bases: Sequence[object] | None = None,
    depths: Sequence[object] | None = None,
    vary: Mapping[str, Sequence[object]] | None = None,
    sweep: tuple[float, float] | bool = True,
    scenarios: Iterable[str | Scenario] | str | os.PathLike[str] | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Whether other gains, discounts and depths would change the order of systems.

    Every combination of ``gains`` (weights, named maps, or the words flat, tenfold and top), ``discounts`` with
    ``bases``, ``depths`` and whatever else ``vary`` names is evaluated. ``sweep`` lets the weight of the highest level
    grow from one number to another (True: from 1 to 1000), at the first value of every other axis. With ``scenarios``
    (names, objects, or a TOML file) just these are evaluated. What ``measure`` itself sets is not varied.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    >>> runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    >>> found = assess_sensitivity(qrels, runs, gains=["flat", "tenfold"], depths=[3], discounts=["none"])
    >>> [(cell.label, cell.winners) for cell in found.cells]
    [('0-1-1, none, @3', ('many',)), ('0-1-10, none, @3', ('top',))]
    >>> [(change.overtaking, change.overtaken, change.low < 2 <= change.high) for change in found.sweep.changes]
    [('top', 'many', True)]
    """
    require_runs(runs)
    judged, base, chosen = Judged.of(qrels, policy), parse(measure), _scenarios_of(scenarios)
    wanted = Wanted(gains, discounts, bases, depths, vary)
    planned: _PlannedSweep | None = None
    notices: list[str] = []
    if chosen:
        if any(values is not None for values in wanted):
            raise UsageError("scenarios: expected scenarios or a grid, found values to vary beside scenarios")
        grid = _of_scenarios(base, judged, chosen)
        labels = [each.name for each in chosen]
    else:
        grid = Grid.of(base, judged, wanted)
        planned, notices = _planned(grid, judged, sweep)
        labels = [grid.label(setting) for setting in grid.settings]
    measures = {str(each): each for each in (setting.measure for setting in grid.settings)}
    if planned:
        measures.update({str(each): each for each in planned.measures(planned.span.points()).values()})
    graded, evaluations = _evaluated(judged, runs, list(measures.values()), threads, progress)
    cells = tuple(
        cell_of(label, measures[str(setting.measure)], setting.place, evaluations, tested=True)
        for label, setting in zip(labels, grid.settings, strict=True)
    )
    return Sensitivity(
        base,
        grid.axes,
        cells,
        tuple(chosen),
        planned.carried_out(graded, evaluations, measures) if planned else None,
        evaluations,
        (
            *grid.notices,
            *notices,
            *([] if chosen or discounts is not None else _about_usual_discount(base, cells, graded)),
            *_about_evaluations(evaluations, [cell.measure for cell in cells]),
        ),
    )


def _about_usual_discount(base: Measure, cells: Sequence[Cell], graded: Mapping[str, GradedRun]) -> list[str]:
    """Whether another system is first by the measure as it is without settings, whose discount is not among them."""
    discount = getattr(base, "discount", None)
    if discount is None or any(getattr(cell.measure, "discount", None) == discount for cell in cells):
        return []
    usual = base.replace(cutoff=getattr(cells[0].measure, "cutoff", None))
    winners = cell_of("", usual, (), {name: evaluate_graded(one, [usual]) for name, one in graded.items()}).winners
    if winners in {cell.winners for cell in cells}:
        return []
    return [
        f"{usual} with its default discount, {discount}, is not among these settings and has {' and '.join(winners)} "
        f"first; --discount {discount} takes it"
    ]


def _scenarios_of(value: Iterable[str | Scenario] | str | os.PathLike[str] | None) -> list[Scenario]:
    """Scenarios from names, from a TOML file (anything that ends in .toml), or themselves."""
    if value is None:
        return []
    if isinstance(value, os.PathLike) or (isinstance(value, str) and value.endswith(".toml")):
        return list(read_scenarios(value).values())
    given = [value] if isinstance(value, str) else list(value)
    return [each if isinstance(each, Scenario) else choose_scenarios([each], SCENARIOS)[0] for each in given]


def _of_scenarios(measure: Measure, judged: Judged, scenarios: Sequence[Scenario]) -> Grid:
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"scenarios: expected each once, found '{name}' twice")
    settings = tuple(Setting((), scenario.measure_for(judged, measure)) for scenario in scenarios)
    for setting in settings:
        if setting.measure.better == "neither":
            raise UsageError(f"{setting.measure}: expected a measure that can order systems")
    return Grid(measure, (), settings, ())


def _evaluated(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    threads: int | None,
    progress: Progress | None,
) -> tuple[dict[str, GradedRun], dict[str, Evaluation]]:
    """Every run meets the judgments once; what it then is is kept, because a sweep asks for more measures later."""
    check_measures(measures, judged)
    needed = frozenset(need for measure in measures for need in measure.needed())

    def use(name: str, graded: GradedRun) -> tuple[GradedRun, Evaluation]:
        return graded, evaluate_graded(graded, measures)

    found = join_each(judged, runs, use, needed, threads=threads, progress=progress)
    return {name: one for name, (one, _) in found.items()}, {name: other for name, (_, other) in found.items()}


@dataclass(frozen=True)
class _PlannedSweep:
    """A sweep before it is carried out: at which setting; ``up_to_1`` if the measure takes no gains above 1."""

    span: WeightRange
    parameter: str
    levels: GradeLevels
    setting: Measure
    label: str
    up_to_1: bool

    def measures(self, weights: Iterable[float]) -> dict[float, Measure]:
        """The measure at every weight."""
        gains = {weight: self.levels.top_weighing(weight, up_to_1=self.up_to_1) for weight in weights}
        return {weight: self.setting.replace(**{self.parameter: gain}) for weight, gain in gains.items()}

    def carried_out(
        self, graded: Mapping[str, GradedRun], evaluations: Mapping[str, Evaluation], by_text: Mapping[str, Measure]
    ) -> Sweep:
        weights = self.measures(self.span.points())
        points = tuple(cell_of(self.label, by_text[str(each)], (), evaluations) for each in weights.values())

        def means(wanted: Mapping[float, Sequence[str]]) -> Values:
            found: dict[tuple[float, str], float | None] = {}
            # Weight by weight, so that all runs share the ideal lists before others take their place.
            for weight, measure in self.measures(wanted).items():
                for name in wanted[weight]:
                    found[weight, name] = mean_of(evaluate_graded(graded[name], [measure]), measure)
            return found

        changes = find_changes(points, self.span, means, lower_is_better=self.setting.better == "lower")
        return Sweep(self.levels.levels[-1], tuple(weights), points, changes)


def _planned(grid: Grid, judged: Judged, sweep: tuple[float, float] | bool) -> tuple[_PlannedSweep | None, list[str]]:
    """The sweep that was asked for, and why there is none where it was not asked for but is usual."""
    if sweep is False:
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
    span = WeightRange() if sweep is True else WeightRange.of(*sweep)
    first = grid.settings[0].measure
    has_threshold = any("rel" in option.parameters for option in grid.axes[0].options)
    setting = first.replace(**({"rel": None} if has_threshold else {}))
    others = [axis.label(0) for axis in grid.axes if axis.name != parameter]
    up_to_1 = takes_up_to_1(grid.measure, judged)
    return _PlannedSweep(span, parameter, levels, setting, ", ".join(others), up_to_1), []


def _about_evaluations(evaluations: Mapping[str, Evaluation], measures: Sequence[Measure]) -> list[str]:
    """What an evaluation by one of the measures gives notice of, and how many settings leave queries undefined."""
    first = next(iter(evaluations.values()))
    undefined = {measure: len(first.undefined(measure)) for measure in measures}
    plain = min(undefined, key=lambda measure: undefined[measure])
    lines = notices_of(_only(evaluation, plain) for evaluation in evaluations.values())
    more = [(measure, count) for measure, count in undefined.items() if count > undefined[plain]]
    if more:
        worst, count = max(more, key=lambda pair: pair[1])
        done = {"zero": "given the worst score", "skip": "left out"}.get(first.policy.undefined, "")
        lines.insert(
            0,
            f"{count_of(len(more), 'setting')} leave more queries undefined, {done} "
            f"(undefined={first.policy.undefined}): up to {number_text(count)}, by {worst}",
        )
    return lines


def _only(evaluation: Evaluation, measure: Measure) -> Evaluation:
    place = evaluation.measures.index(measure)
    return replace(evaluation, measures=(measure,), raw=np.ascontiguousarray(evaluation.raw[place : place + 1]))
