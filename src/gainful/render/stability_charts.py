"""The charts of a stability: swaps by the difference of two systems, and sorted p of all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text
from gainful.render.charts import Axis, Line, Plot, Rule

if TYPE_CHECKING:
    from gainful.stats.stability_report import StabilityReport
    from gainful.stats.swap_rates import SwapBin

#: The smallest p that is drawn, and how many points a curve of p has.
_LEAST_P, _MOST_POINTS = 1e-6, 300


def swap_plot(report: StabilityReport) -> Plot:
    """How often pairs of systems swap, by how much they differ; one line a measure."""
    lines = []
    for measure, found in report.swaps.items():
        known = _closed(found.bins)
        lines.append(
            Line(
                measure,
                tuple(_middle(each) for each in known),
                tuple(100 * (each.rate or 0.0) for each in known),
            )
        )
    first = next(iter(report.swaps.values()))
    needed = report.most_swaps
    return Plot(
        "Swaps by the difference of two systems",
        Axis("difference on one set of queries", 0.0),
        Axis("swaps on another set (per cent)", 0.0),
        tuple(lines),
        rules=(Rule(f"{number_text(round(100 * needed, 6))} %", y=100 * needed),),
        caption=f"Two sets of {count_of(first.queries, 'query', 'queries')} without a common one, "
        f"{count_of(first.draws, 'draw')}.",
    )


def _closed(bins: Sequence[SwapBin]) -> list[SwapBin]:
    """The bins with pairs in them, without the open one, which has no middle, unless there is no other."""
    known = [each for each in bins if each.rate is not None]
    return [each for each in known if math.isfinite(each.high)] or known


def _middle(each: SwapBin) -> float:
    return (each.low + each.high) / 2 if math.isfinite(each.high) else each.low


def p_plot(report: StabilityReport) -> Plot:
    """The p of all pairs of systems, ascending, on a log axis; one line a measure."""
    first = next(iter(report.power.values()))
    places = _thinned(first.pairs)
    lines = tuple(
        Line(measure, tuple(float(i + 1) for i in places), tuple(max(float(found.curve[i]), _LEAST_P) for i in places))
        for measure, found in report.power.items()
    )
    alpha = number_text(first.alpha)
    least = min((y for line in lines for y in line.y), default=_LEAST_P)
    return Plot(
        f"Sorted p of {count_of(first.pairs, 'pair')} of systems",
        Axis("pairs of systems", 1.0),
        Axis(f"p ({first.test})", _LEAST_P if least <= _LEAST_P else None, 1.0, is_log=True),
        lines,
        rules=(Rule(f"{alpha}", y=first.alpha),),
        caption=f"Not corrected for the number of pairs. A p below {_LEAST_P:g} stands at the lower end.",
    )


def _thinned(count: int) -> list[int]:
    """Places from first to last, at most so many."""
    if count <= _MOST_POINTS:
        return list(range(count))
    return sorted({round(i * (count - 1) / (_MOST_POINTS - 1)) for i in range(_MOST_POINTS)})
