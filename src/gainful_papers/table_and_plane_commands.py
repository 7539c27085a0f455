"""`gainful papers table`, `plane` and `sweep`: tables and charts of the papers for any judgments and runs."""

from __future__ import annotations

from dataclasses import dataclass

import click

from gainful.cli import flags, help_groups, inputs, options, score_inputs
from gainful.errors import UsageError
from gainful.notation import some_of
from gainful.question import number, setting


@help_groups.command("table")
@score_inputs.scores_argument
@flags.takes(
    shown=options.Places,
    output=options.Output,
    wanted=options.measures_of(("nDCG@10",)),
    scores=score_inputs.ScoreOptions,
)
def table_command(
    shown: options.Places, output: options.Output, wanted: options.MeasureOptions, scores: score_inputs.ScoreOptions
) -> None:
    """Print means and significant differences by Friedman's test, as in Järvelin and Kekäläinen.

    Example: gainful papers table qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    """
    found = scores.require(scores.found(wanted, output))
    from gainful_papers.significance import friedman_table

    output.show(friedman_table(found.matrices, places=shown.places, signatures=found.conventions), found.notices)


@dataclass(frozen=True, kw_only=True)
class _PlaneOptions(options.Places):
    queries: tuple[str, ...] = setting((), "Query to draw (repeatable).", flag="--query", metavar="ID", repeatable=True)
    measure: str = options.measure_setting("ADM")
    threshold: float = number(0.5, "Lowest relevant score, on both axes.", "T")


@help_groups.command("plane")
@click.argument("qrels", type=flags.INPUT)
@click.argument("runs", type=flags.INPUT, nargs=-1, required=True)
@flags.takes(asked=_PlaneOptions, output=options.FigureOutput, reading=inputs.CollectionOptions)
def plane_command(
    qrels: str,
    runs: tuple[str, ...],
    asked: _PlaneOptions,
    output: options.FigureOutput,
    reading: inputs.CollectionOptions,
) -> None:
    """Plot documents by user and system score, as Della Mea and Mizzaro do for ADM.

    Example: gainful papers plane qrels.txt bm25.run --query q003 --figure plane.svg
    """
    collection = reading.opened(qrels, runs, ahead=False)
    from gainful_papers.dellamea2004.plane import score_planes

    judged = collection.judged
    if not asked.queries:
        few = some_of(judged.qrels.query_ids, 3)
        raise UsageError("missing option --query", f"judged queries are {few}")
    with output.waiting("reading runs", in_bytes=False):
        planes = score_planes(
            judged.qrels, collection.runs, asked.queries, asked.measure, threshold=asked.threshold, policy=judged.policy
        )
    output.show(planes.page(asked.places), planes.notices)


@dataclass(frozen=True, kw_only=True)
class _SweepOptions:
    measure: str = options.measure_setting("nDCG@10")
    sweep: str = setting("1-1000", "Range of the weight of the highest grade.", metavar="LOW-HIGH")


@help_groups.command("sweep")
@click.argument("qrels", type=flags.INPUT)
@click.argument("runs", type=flags.INPUT, nargs=-1, required=True)
@flags.takes(asked=_SweepOptions, output=options.FigureOutput, reading=inputs.CollectionOptions)
def sweep_command(
    qrels: str,
    runs: tuple[str, ...],
    asked: _SweepOptions,
    output: options.FigureOutput,
    reading: inputs.CollectionOptions,
) -> None:
    """Find the weight of the highest grade at which systems change places; others weigh 1.

    Example: gainful papers sweep qrels.txt bm25.run dense.run -m nDCG@100 --sweep 1-100
    """
    collection = reading.opened(qrels, runs)
    from gainful_papers import sweep_weight

    with output.waiting("reading runs"):
        data, threads = (collection.judged, collection.runs), collection.threads
        found = sweep_weight(*data, asked.measure, asked.sweep, threads=threads)
    output.show(found, found.notices)
