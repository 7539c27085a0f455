"""What if gains, discounts or depths were others: `gainful sensitivity`.

From judgments and runs to a grid of orders: every cell is a measure, all are evaluated in one go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.errors import UsageError, for_asker, warns
from gainful.evaluation.evaluate import check_measures, evaluate_graded, join_each
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices as notices_of
from gainful.kernel.parallel import Progress, current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text
from gainful.question import question, settings_of
from gainful.tasks.sensitivity.scenarios import Scenario, choose_scenarios, read_scenarios
from gainful.tasks.sensitivity.sensitivity_findings import Cell, cell_of
from gainful.tasks.sensitivity.sensitivity_grid import Grid, Setting, Wanted
from gainful.tasks.sensitivity.sensitivity_page import Sensitivity
from gainful.tasks.sensitivity.weight_sweep import PlannedSweep, plan_sweep
from gainful.tasks.sensitivity_question import SensitivityOptions


@warns
@question(SensitivityOptions)
def assess_sensitivity(asked: SensitivityOptions) -> Sensitivity:
    """Whether other gains, discounts and depths would change the order of systems.

    Every combination of ``gains`` (weights, named maps, or the words flat, tenfold and top), ``discounts`` with
    ``bases``, ``depths`` and whatever else ``vary`` names is evaluated. ``sweep`` lets the weight of the highest level
    grow from one number to another (True: from 1 to 1000; a text such as "1-100"), at the first value of every other
    axis. With ``scenarios`` (names, objects, or a TOML file) just these are evaluated; names may be those that a TOML
    ``scenario_file`` defines, all of which are evaluated if none is named. What ``measure`` itself sets is not varied.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    >>> runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    >>> found = assess_sensitivity(qrels, runs, gains=["flat", "tenfold"], depths=[3], discounts=["none"])
    >>> [(cell.label, cell.winners) for cell in found.cells]
    [('0-1-1, none, @3', ('many',)), ('0-1-10, none, @3', ('top',))]
    >>> [(change.overtaking, change.overtaken, change.low < 2 <= change.high) for change in found.sweep.changes]
    [('top', 'many', True)]
    """
    require_runs(asked.runs)
    judged, base = Judged.of(asked.qrels, asked.policy), parse(asked.measure)
    chosen = _chosen_scenarios(asked.scenarios, asked.scenario_file)
    sweep = True if asked.sweep is None else asked.sweep
    planned: PlannedSweep | None = None
    notices: list[str] = []
    if chosen:
        for name, (_, how) in settings_of(SensitivityOptions).items():
            if name in _OF_THE_GRID and getattr(asked, name) not in (None, True, False):
                what = for_asker(how.flag or f"--{name}", name)
                raise UsageError(f"{what}: has no meaning with scenarios, which say everything themselves")
        grid = _of_scenarios(base, judged, chosen)
        labels = [each.name for each in chosen]
    else:
        wanted = Wanted(asked.gains, asked.discounts, asked.bases, asked.depths, asked.vary)
        grid = Grid.of(base, judged, wanted)
        planned, notices = plan_sweep(grid, judged, sweep)
        labels = [grid.label(setting) for setting in grid.settings]
    measures = {str(each): each for each in (setting.measure for setting in grid.settings)}
    if planned:
        measures.update({str(each): each for each in planned.measures(planned.span.points()).values()})
    graded, evaluations = _evaluated(judged, asked.runs, list(measures.values()), asked.threads, current_progress())
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
            *([] if chosen or asked.discounts is not None else _about_usual_discount(base, cells, graded)),
            *_about_evaluations(evaluations, [cell.measure for cell in cells]),
        ),
    )


#: The options that scenarios set themselves.
_OF_THE_GRID = ("gains", "discounts", "bases", "depths", "vary", "sweep")


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


def _chosen_scenarios(
    value: Iterable[str | Scenario] | str | os.PathLike[str] | None, file: str | os.PathLike[str] | None
) -> list[Scenario]:
    """Scenarios from names, built in or of a TOML file (anything that ends in .toml), or themselves."""
    if isinstance(value, os.PathLike) or (isinstance(value, str) and value.endswith(".toml")):
        value, file = None, value
    defined = {} if file is None else read_scenarios(file)
    given = [value] if isinstance(value, str) else list(value or ())
    if not given:
        return list(defined.values())
    # Names that are given twice count once.
    unique = dict.fromkeys(given)
    return [each if isinstance(each, Scenario) else choose_scenarios([each], defined)[0] for each in unique]


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
