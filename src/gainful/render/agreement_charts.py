"""The charts of an agreement: coefficients between measures as a map, and two measures' means against each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gainful.notation import count_of
from gainful.render.charts import Axis, HeatMap, Plot, Points, shortened
from gainful.stats.agreement_report import COEFFICIENTS

if TYPE_CHECKING:
    from gainful.stats.agreement_report import AgreementReport

#: How many systems have their names in a scatter.
_MOST_NAMED = 8


def coefficient_map(report: AgreementReport, coefficient: str) -> HeatMap:
    """One coefficient between all measures, as colours and numbers."""
    measures, values = report.found.measures, report.matrix(coefficient)
    known = [value for row in values for value in row if value is not None]
    name = COEFFICIENTS[coefficient]
    captions = {
        "tau_ap": "A row's order is read against a column's.",
        "rbo": f"Two random orders have {report.found.agreements[0].rbo_by_chance:.2f} on average.",
    }
    return HeatMap(
        f"{name} between the orders of {count_of(len(report.found.systems), 'system')}",
        measures,
        measures,
        tuple(tuple(math.nan if value is None else value for value in row) for row in values),
        tuple(tuple("" if value is None else f"{value:.2f}" for value in row) for row in values),
        value_label=name,
        low=min(0.0, *known),
        high=1.0,
        caption=captions.get(coefficient, ""),
        has_table=True,
    )


def scatter(report: AgreementReport, a: str, b: str) -> Plot:
    """Every system by its means under two measures; those that swap most clearly have their names."""
    one, other = report.matrices[a], report.matrices[b]
    swaps = [swap for swap in report.swaps if {swap.a, swap.b} == {a, b}]
    named: list[str] = []
    for swap in swaps:
        new = [name for name in (swap.better, swap.worse) if name not in named]
        if len(named) + len(new) > _MOST_NAMED:
            break
        named += new
    swapping = {name for swap in swaps for name in (swap.better, swap.worse)}
    groups = {
        "swaps most clearly": named,
        "swaps with another": [name for name in one.systems if name in swapping and name not in named],
        "swaps with none": [name for name in one.systems if name not in swapping],
    }
    value = report.value(a, b)
    said = f"{COEFFICIENTS[report.coefficients[0]]} {'undefined' if value is None else f'{value:.4f}'}"
    pairs = report.found.of(a, b).pairs
    return Plot(
        f"Means by {shortened(a)} and by {shortened(b)}",
        Axis(_axis(a, one.better)),
        Axis(_axis(b, other.better)),
        points=tuple(
            Points(
                name,
                tuple(float(one.means[one.place(system)]) for system in systems),
                tuple(float(other.means[other.place(system)]) for system in systems),
                tuple(system if system in named else "" for system in systems) if named else (),
            )
            for name, systems in groups.items()
            if systems
        ),
        caption=f"{said}; {len(swaps):,} of {count_of(pairs, 'pair')} of systems swap.",
    )


def _axis(measure: str, better: str) -> str:
    return f"{shortened(measure)} (mean)" if better == "higher" else f"{shortened(measure)} (mean, lower is better)"
