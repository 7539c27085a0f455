"""`gainful sensitivity`: whether other gains, discounts and depths would change the order of systems."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups, options
from gainful.cli.asking import flags_of, given
from gainful.cli.inputs import CollectionOptions, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.tasks.curve_questions import SensitivityOptions


@help_groups.command("sensitivity")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.measure_option("nDCG")
@flags_of(SensitivityOptions)
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_collection()
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    reading: CollectionOptions,
    **asked: Any,
) -> None:
    """Ask whether other gains, discounts and depths would change the order of RUNS judged by QRELS.

    Every combination is evaluated: who wins where, what changes the winner, and how alike the orders are (Kendall's
    tau). What -m sets, as in nDCG(gain=exp2)@20, stays.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg
    """
    wanted = given(SensitivityOptions, asked)
    collection = reading.opened(qrels, runs)
    import gainful

    with ProgressBar("reading runs", wanted=not collection.quiet):
        found = gainful.assess_sensitivity(
            collection.judged, collection.runs, measure=measure, threads=collection.threads, **wanted
        )
    page = found.page(places)
    figure.write(page)
    collection.notices.extend(found.notices)
    output.write(page, collection.notices)
    collection.print_notices()
