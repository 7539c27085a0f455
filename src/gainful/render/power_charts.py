"""Power curves: by the number of queries for some differences, and by the difference for some numbers of queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gainful.notation import number_text
from gainful.render.charts import Axis, Line, Plot, Rule, shortened
from gainful.stats.power import power_of_pair

if TYPE_CHECKING:
    from gainful.stats.power_report import Basis, PowerReport

_POINTS, _MOST_LINES = 60, 6
#: From here on numbers of queries are so far apart that a log axis shows more.
_FAR_APART = 4


def by_queries(report: PowerReport, basis: Basis) -> Plot:
    """Power by number of queries, a line for each difference asked for."""
    needed = report.needed(basis)[:_MOST_LINES]
    most = max(each.queries for each in needed)
    is_log = most > _FAR_APART * min(each.queries for each in needed)
    sizes = report.sizes_of(basis)
    places = _numbers(2, max([1.5 * most, *(1.1 * n for n in sizes if n <= 4 * most)]), is_log)
    lines = tuple(
        Line(
            f"difference {number_text(each.difference)}",
            tuple(map(float, places)),
            tuple(power_of_pair(n, each.difference, basis.sd, alpha=report.alpha) for n in places),
        )
        for each in needed
    )
    # A longer label would run into the line of the power.
    marks = tuple(Rule(f"n = {n:,}", x=float(n)) for n in sizes if n <= places[-1])
    return Plot(
        f"Power by number of queries{_of(basis)}",
        Axis("queries", float(places[0]), float(places[-1]), is_log=is_log),
        Axis("power", 0.0, 1.0),
        lines,
        rules=(Rule(f"power {number_text(report.power)}", y=report.power), *marks),
        caption=_caption(report, basis),
    )


def by_difference(report: PowerReport, basis: Basis) -> Plot:
    """Power by the true difference, a line for each number of queries: what there are, or were asked for."""
    sizes = report.sizes_of(basis)[:_MOST_LINES]
    if len(sizes) == 1:
        sizes = (sizes[0], 2 * sizes[0], 4 * sizes[0])
    shown = max(found.difference for found in report.shown(basis))
    end = max([2 * shown, *(1.1 * each for each in report.differences if each <= 4 * shown)])
    places = tuple(end * i / _POINTS for i in range(_POINTS + 1))
    lines = tuple(
        Line(
            f"{n:,} queries",
            places,
            tuple(report.alpha if not d else power_of_pair(n, d, basis.sd, alpha=report.alpha) for d in places),
        )
        for n in sizes
    )
    return Plot(
        f"Power by true difference{_of(basis)}",
        Axis("difference that there is", 0.0, end),
        Axis("power", 0.0, 1.0),
        lines,
        rules=(Rule(f"power {number_text(report.power)}", y=report.power),),
        caption=_caption(report, basis),
    )


def _of(basis: Basis) -> str:
    return f", {shortened(basis.measure)}" if basis.measure else ""


def _caption(report: PowerReport, basis: Basis) -> str:
    return f"Paired t test at {number_text(report.alpha)}; sd of a difference {basis.sd:.4f} ({basis.kind})."


def _numbers(low: int, high: float, is_log: bool) -> list[int]:
    """Whole numbers from low to high, evenly spread."""
    steps = [i / (_POINTS - 1) for i in range(_POINTS)]
    spread = [low * (high / low) ** step if is_log else low + (high - low) * step for step in steps]
    return sorted({math.ceil(value - 1e-9) for value in spread})
