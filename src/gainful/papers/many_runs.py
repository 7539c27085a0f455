"""Charts of many runs: the best and the worst have names and colours, the others are grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gainful.render.charts import Line, Plot

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
