"""What if gains, discounts or depths were others: `gainful sensitivity`.

From judgments and runs to a grid of orders: every cell is a measure, all are evaluated in one go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.errors import UsageError, for_asker, warns
from gainful.evaluation.evaluate import check_measures, evaluate_runs
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices as notices_of
from gainful.kernel.parallel import current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text
from gainful.question import question, settings_of
from gainful.tasks.sensitivity.scenarios import Scenario, choose_scenarios, read_scenarios
from gainful.tasks.sensitivity.sensitivity_findings import cell_of
from gainful.tasks.sensitivity.sensitivity_grid import Grid, Setting, Wanted
from gainful.tasks.sensitivity.sensitivity_page import Sensitivity
from gainful.tasks.sensitivity_question import SensitivityOptions


@warns
@question(SensitivityOptions)
def assess_sensitivity(asked: SensitivityOptions) -> Sensitivity:
    """Whether other gains, discounts and depths would change the order of systems.

    Every combination of ``gains`` (weights, named maps, or the words flat, tenfold and top), ``discounts`` with
    ``bases``, ``depths`` and whatever else ``vary`` names is evaluated. With ``scenarios`` (names, objects, or a TOML
    file) just these are evaluated; names may be those that a TOML ``scenario_file`` defines, all of which are evaluated
    if none is named. What ``measure`` itself sets is not varied.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    >>> runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    >>> found = assess_sensitivity(qrels, runs, gains=["flat", "tenfold"], depths=[3], discounts=["none"])
    >>> [(cell.label, cell.winners) for cell in found.cells]
    [('0-1-1, none, @3', ('many',)), ('0-1-10, none, @3', ('top',))]
    """
    require_runs(asked.runs)
    judged, base = Judged.of(asked.qrels, asked.policy), parse(asked.measure)
    chosen = _chosen_scenarios(asked.scenarios, asked.scenario_file)
    if chosen:
        for name, (_, how) in settings_of(SensitivityOptions).items():
            if name in _OF_THE_GRID and getattr(asked, name) is not None:
                what = for_asker(how.flag or f"--{name}", name)
                raise UsageError(f"{what}: has no meaning with scenarios, which say everything themselves")
        grid = _of_scenarios(base, judged, chosen)
        labels = [each.name for each in chosen]
    else:
        grid = Grid.of(base, judged, Wanted(asked.gains, asked.discounts, asked.bases, asked.depths, asked.vary))
        labels = [grid.label(setting) for setting in grid.settings]
    measures = {str(each): each for each in (setting.measure for setting in grid.settings)}
    usual = None if chosen or asked.discounts is not None else _usual_measure(base, list(measures.values()))
    if usual is not None:
        measures.setdefault(str(usual), usual)
    check_measures(list(measures.values()), judged)
    evaluations = evaluate_runs(
        judged, asked.runs, list(measures.values()), threads=asked.threads, progress=current_progress()
    )
    cells = tuple(
        cell_of(label, measures[str(setting.measure)], setting.place, evaluations, tested=True)
        for label, setting in zip(labels, grid.settings, strict=True)
    )
    notices = list(grid.notices)
    if usual is not None:
        winners = cell_of("", usual, (), evaluations).winners
        if winners not in {cell.winners for cell in cells}:
            discount = getattr(usual, "discount", None)
            notices.append(
                f"{usual} with its default discount, {discount}, is not among these settings and has "
                f"{' and '.join(winners)} first; --discount {discount} takes it"
            )
    notices += _about_evaluations(evaluations, [cell.measure for cell in cells])
    return Sensitivity(base, grid.axes, cells, tuple(chosen), evaluations, tuple(notices))


def _usual_measure(base: Measure, measures: Sequence[Measure]) -> Measure | None:
    """The measure as it is without settings, if its discount is not among them."""
    discount = getattr(base, "discount", None)
    if discount is None or any(getattr(each, "discount", None) == discount for each in measures):
        return None
    return base.replace(cutoff=getattr(measures[0], "cutoff", None))


#: The options that scenarios set themselves.
_OF_THE_GRID = ("gains", "discounts", "bases", "depths", "vary")


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
