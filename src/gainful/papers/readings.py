"""The grade levels of judgments, for papers that need several.

Charts of many runs: the best and the worst have names and colours, the others are grey.
Numbers compared as in exact arithmetic: rounding decides nothing, and equals are told from what rises or falls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from gainful.data.judged import Judged
from gainful.errors import InputError
from gainful.notation import count_of, number_text
from gainful.pages.charts import Line, Plot
from gainful.stats.settled import settle
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels

#: More levels than these have no place in a paper's tables.
_MOST_LEVELS = 9


def graded_levels(judged: Judged, paper: str) -> GradeLevels:
    """The grade levels above 0 of whole grades 1, 2, ..., at least two; judgments of another kind are refused.

    The papers weigh four levels, 0 to 3. On another scale ``named("flat")`` is what 0-1-1-1 is there,
    ``named("tenfold")`` what 0-1-10-100 is, and ``named("top")`` what 0-0-0-1 is.
    """
    name = judged.qrels.name
    levels = GradeLevels.of(judged)
    if not levels.is_whole and levels.levels:
        strange = next((level for level in levels.levels if not level.is_integer()), levels.levels[-1])
        raise InputError(
            f"{name}: {paper} expects grades 0, 1, 2 and so on, found {number_text(strange)}",
            "its weights are by level: 0-1-10-100; gainful curves takes any grades",
        )
    if not 2 <= len(levels.levels) <= _MOST_LEVELS:
        raise InputError(
            f"{name}: {paper} expects 2 to {_MOST_LEVELS} grade levels above 0, "
            f"found {count_of(len(levels.levels), 'level')}",
            "the paper's judgments have the grades 0, 1, 2 and 3",
        )
    return levels


#: Of more runs than these only the best and the worst of each panel are named.
MOST_NAMED, BEST, WORST = 8, 3, 1


def named_runs(panels: Sequence[Mapping[str, float]]) -> frozenset[str]:
    """The runs that have a name: all, or of many the best three and the worst of every panel, by these values.

    >>> sorted(named_runs([{f"run {i}": float(i) for i in range(10)}]))
    ['run 0', 'run 7', 'run 8', 'run 9']
    """
    if all(len(values) <= MOST_NAMED for values in panels):
        return frozenset(run for values in panels for run in values)
    chosen: set[str] = set()
    for values in panels:
        ordered = sorted(values, key=lambda run: -values[run])
        chosen.update((*ordered[:BEST], *ordered[-WORST:]))
    return frozenset(chosen)


def with_few_names(plots: Sequence[Plot], panels: Sequence[Mapping[str, float]]) -> list[Plot]:
    """The plots, in which of many runs only the best and the worst have names; ``panels`` are the runs' values."""
    named = named_runs(panels)
    return [_with_few_names(plot, named) for plot in plots]


def _with_few_names(plot: Plot, named: frozenset[str]) -> Plot:
    others = [line for line in plot.lines if line.role == "system" and line.name not in named]
    if not others:
        return plot
    grey = [Line("", line.x, line.y, "guide") for line in others]
    kept = [line for line in plot.lines if line not in others]
    about = f"in grey: {len(others)} other runs"
    return replace(plot, lines=(*grey, *kept), caption=f"{plot.caption}; {about}" if plot.caption else about)


Course: TypeAlias = Literal["rises", "falls", "ties"]


def settled(values: Sequence[float], scale: float | None = None) -> list[float]:
    """The values, equal where they are equal but for rounding. ``scale`` is how large what they were made of is.

    >>> settled([0.1 + 0.2, 0.3])
    [0.3, 0.3]
    """
    # + 0.0 makes -0.0 a 0.0, which prints without a sign.
    return [float(value) + 0.0 for value in settle(np.array(values, np.float64), scale)]


def course(values: Sequence[float], scale: float | None = None) -> Course:
    """Whether values rise from each to the next, fall somewhere, or, if they never fall, are somewhere equal.

    >>> course([1, 2, 3]), course([1, 3, 2]), course([0.3, 0.1 + 0.2, 1])
    ('rises', 'falls', 'ties')
    """
    steps = list(pairwise(settled(values, scale)))
    if any(after < before for before, after in steps):
        return "falls"
    return "rises" if all(before < after for before, after in steps) else "ties"


def highest(values: Mapping[str, float], scale: float | None = None) -> tuple[str, ...]:
    """The names that share the highest value.

    >>> highest({"a": 0.3, "b": 0.1, "c": 0.1 + 0.2})
    ('a', 'c')
    """
    known = dict(zip(values, settled(list(values.values()), scale), strict=True))
    most = max(known.values())
    return tuple(name for name, value in known.items() if value == most)
