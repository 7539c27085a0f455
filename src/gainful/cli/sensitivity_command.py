"""`gainful sensitivity`: whether other gains, discounts and depths would change the order of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import FigureOutput, Places, measure_setting
from gainful.tasks.run_questions import SensitivityOptions


@dataclass(frozen=True, kw_only=True)
class _Measure:
    measure: str = measure_setting("nDCG")


@help_groups.command("sensitivity")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(of=_Measure)
@flags_of(SensitivityOptions)
@takes(shown=Places, output=FigureOutput, reading=CollectionOptions)
def command(
    qrels: str,
    runs: tuple[str, ...],
    of: _Measure,
    shown: Places,
    output: FigureOutput,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Ask whether other gains, discounts and depths would change the order of RUNS judged by QRELS.

    Every combination is evaluated: who wins where, what changes the winner, and how alike the orders are (Kendall's
    tau). What -m sets, as in nDCG(gain=exp2)@20, stays.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg
    """
    wanted = given(SensitivityOptions, params)
    collection = reading.opened(qrels, runs)
    import gainful

    with output.waiting("reading runs"):
        found = gainful.assess_sensitivity(
            collection.judged, collection.runs, measure=of.measure, threads=collection.threads, **wanted
        )
    output.show(found.page(shown.places), found.notices)
