"""Order of systems under other gains, discounts and depths: `gainful sensitivity`.

Every cell of a grid is a measure, and all are evaluated in one pass. Scenarios are named cells with a justification,
such as "very busy users" (Järvelin and Kekäläinen, TOIS 2002, section 4). The two scenarios of that article are built
in; others are read from a TOML file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.discounts import DISCOUNTS, read_base
from gainful.errors import InputError, UsageError, for_asker, warns
from gainful.evaluation.evaluate import check_measures, evaluate_runs
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices as notices_of
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import choose, count_of, nearest, number_text, printable, read_whole
from gainful.question import question
from gainful.tasks.run_questions import SensitivityOptions, SessionSensitivityOptions
from gainful.tasks.sensitivity.sensitivity_grid import BASES_TRIED, GAIN_WORDS, SCENARIOS, Axis, Grid, Scenario, cell_of
from gainful.tasks.sensitivity.sensitivity_page import Sensitivity
from gainful.tasks.sessions import study_sessions
from gainful.tasks.sessions.session_evaluation import session_measures


@warns
@question(SensitivityOptions)
def assess_sensitivity(asked: SensitivityOptions) -> Sensitivity:
    """Test whether other gains, discounts and depths would change the order of systems.

    Evaluates every combination of ``gain`` (weights, named maps, or the words flat, tenfold and top), ``discount`` with
    ``base``, ``at`` (depths) and the parameters in ``vary``. With ``scenario`` (names or objects), evaluates these
    instead; names may come from ``scenarios``, a TOML file, all of whose scenarios are used by default. Parameters set
    in ``measure`` are not varied.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    >>> runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    >>> found = assess_sensitivity(qrels, runs, gain=["flat", "tenfold"], at=[3], discount=["none"])
    >>> [(cell.label, cell.winners) for cell in found.cells]
    [('0-1-1, none, @3', ('many',)), ('0-1-10, none, @3', ('top',))]
    """
    require_runs(asked.runs)
    judged, base = Judged.of(asked.qrels, asked.policy), parse(asked.measure)
    if base.budget is not None:
        raise UsageError(f"{base}: depths cannot be varied under a budget", f"name {base.name} without it")
    chosen = _chosen_scenarios(asked)
    axes: tuple[Axis, ...] = ()
    planned: list[tuple[str, tuple[int, ...], Measure]] = []
    usual: Measure | None = None  # the measure at its default, if its discount is not in the grid
    notices: list[str] = []
    if chosen:
        for name in ("gain", "discount", "base", "at", "vary"):
            if getattr(asked, name) is not None:
                what = for_asker(f"--{name}", name)
                raise UsageError(f"{what}: cannot be used with scenarios")
        planned = [(each.name, (), each.measure_for(judged, base)) for each in chosen]
        for _, _, measure in planned:
            if measure.better == "neither":
                raise UsageError(f"{measure}: the measure cannot order systems")
    else:
        grid = Grid(base, judged, asked.gain, asked.discount, asked.base, asked.at, asked.vary)
        axes, notices = grid.axes, grid.notices
        planned = [(grid.label(place), place, measure) for place, measure in grid.measures.items()]
        discount = getattr(base, "discount", None)
        if discount not in {None, *(getattr(measure, "discount", None) for _, _, measure in planned)}:
            usual = base.replace(cutoff=getattr(planned[0][2], "cutoff", None)) if asked.discount is None else None
    # Several cells may have the same measure.
    measures = {str(each): each for each in (*(measure for _, _, measure in planned), *([usual] if usual else []))}
    check_measures(list(measures.values()), judged)
    evaluations = evaluate_runs(judged, asked.runs, list(measures.values()), threads=asked.threads)
    cells = tuple(
        cell_of(label, measures[str(measure)], place, evaluations, tested=True) for label, place, measure in planned
    )
    if usual is not None:
        winners = cell_of("", usual, (), evaluations).winners
        if winners not in {cell.winners for cell in cells}:
            notices.append(
                f"{usual}, with its default discount {discount}, is not in the grid and would rank "
                f"{' and '.join(winners)} first; add it with --discount {discount}"
            )
    notices += _about_evaluations(evaluations, [cell.measure for cell in cells])
    return Sensitivity(base, axes, cells, tuple(chosen), evaluations, tuple(notices))


@warns
@question(SessionSensitivityOptions)
def assess_session_sensitivity(asked: SessionSensitivityOptions) -> Sensitivity:
    """Test whether other gains, bases of the discounts by rank and by query, and depths change the order of systems.

    ``systems`` are sessions by system; sessions that name their systems are grouped by these. Parameters set in
    ``measure`` are not varied; ``vary`` adds other parameters, and other values of query_base.
    """
    judged, [measure] = Judged.of(asked.qrels, asked.policy), session_measures([parse(asked.measure)])
    own = measure.parameters()
    tried = {"base": BASES_TRIED, "query_base": (2, 4, 10)}.items()
    varied: dict[str, Any] = {name: each for name, each in tried if name in own and getattr(measure, name) == own[name]}
    varied |= {**({} if asked.base is None else {"base": asked.base}), **(asked.vary or {})}
    depths = asked.at or ((5, 10, 20) if getattr(measure, "cutoff", 0) is None else None)
    grid = Grid(measure, judged, asked.gain, None, None, depths, varied)
    how: Any = {"judged_by": asked.judged_by, "topics": asked.topics, "threads": asked.threads}
    study = study_sessions(judged, asked.systems, list(dict.fromkeys(grid.measures.values())), by_system=True, **how)
    cells = tuple(
        cell_of(grid.label(place), each, place, study.evaluations, tested=True) for place, each in grid.measures.items()
    )
    notices = *grid.notices, *_about_evaluations(study.evaluations, [cell.measure for cell in cells])
    return Sensitivity(measure, grid.axes, cells, (), study.evaluations, notices)


def _about_evaluations(evaluations: Mapping[str, Evaluation], measures: Sequence[Measure]) -> list[str]:
    """Return the notices for one of the measures, and the number of settings with more undefined queries."""
    first = next(iter(evaluations.values()))
    undefined = {measure: len(first.undefined(measure)) for measure in measures}
    plain = min(undefined, key=lambda measure: undefined[measure])
    row = first.measures.index(plain)
    raw = (np.ascontiguousarray(each.raw[row : row + 1]) for each in evaluations.values())
    alone = (replace(each, measures=(plain,), raw=of) for each, of in zip(evaluations.values(), raw, strict=True))
    more = [(measure, count) for measure, count in undefined.items() if count > undefined[plain]]
    if not more:
        return notices_of(alone)
    worst, count = max(more, key=lambda pair: pair[1])
    done = {"zero": "given the worst score", "skip": "omitted"}.get(first.policy.undefined, "")
    line = f"{count_of(len(more), 'setting has', 'settings have')} more undefined queries, {done} "
    line += f"(undefined={first.policy.undefined}): up to {number_text(count)}, for {worst}"
    return [line, *notices_of(alone)]


def read_scenarios(path: str | os.PathLike[str]) -> dict[str, Scenario]:
    """Read the scenarios of a TOML file, each a table ``[name]`` of gain, discount, base, depth, measure, about."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: invalid TOML: {error}") from None
    if not content:
        raise InputError(f"{name}: the file has no scenarios", "for example [hurried], and in the next line depth = 10")
    scenarios = {}
    for key, values in content.items():
        where = f"{name}: {printable(key)}"
        if not isinstance(values, dict):
            hint = "write [name], and in the next lines depth = 10, gain = ..."
            raise InputError(f"{where}: expected a table, found {values!r}", hint)
        if key in SCENARIOS:
            raise InputError(f"{where}: the name of a built-in scenario is reserved")
        for each in values:
            if each not in _READERS:
                message = f"{where}.{printable(each)}: unknown key; a scenario has {', '.join(_READERS)}"
                raise InputError(message, nearest(each, _READERS))
        try:
            read = {each: _READERS[each](value, f"{where}.{each}") for each, value in values.items()}
        except UsageError as error:
            raise InputError(error.message, error.hint) from None
        scenarios[key] = Scenario(key, where=where, **read)
    return scenarios


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: expected a string, found {value!r}")
    return value


def _measure(value: object, where: str) -> Measure:
    text = _text(value, where)
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", error.hint) from None


#: Parser of each key of a scenario.
_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "about": _text,
    "measure": _measure,
    "gain": lambda value, where: value if value in (*GAIN_WORDS, "linear") else Gain.of(value, where),
    "discount": lambda value, where: choose(value, DISCOUNTS, where),
    "base": read_base,
    "depth": read_whole,
}


def _chosen_scenarios(asked: SensitivityOptions) -> list[Scenario]:
    """Return the requested scenarios, by name or as objects; by default, all scenarios of the TOML file."""
    if asked.scenarios is not None and not isinstance(asked.scenarios, (str, os.PathLike)):
        raise UsageError(f"scenarios: expected a TOML file, found {asked.scenarios!r}", "use scenario= for names")
    defined = {} if asked.scenarios is None else read_scenarios(asked.scenarios)
    known = {**SCENARIOS, **defined}
    given = dict.fromkeys([asked.scenario] if isinstance(asked.scenario, str) else asked.scenario or ())
    chosen = []
    for each in given or defined:
        if isinstance(each, str) and each not in known:
            message = f"scenario: expected {' | '.join(known)}, found '{each}'"
            raise UsageError(message, nearest(each, known) or "define other scenarios in a TOML file (--scenarios)")
        chosen.append(known[each] if isinstance(each, str) else each)
    names = [scenario.name for scenario in chosen]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"scenarios: duplicate scenario '{name}'")
    return chosen
