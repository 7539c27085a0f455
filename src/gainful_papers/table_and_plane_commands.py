"""`gainful papers table`, `plane` and `sweep`: a paper's table and papers' charts of any judgments and runs."""

from __future__ import annotations

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, print_notices, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, takes_scores
from gainful.errors import UsageError
from gainful.notation import some_of


@help_groups.command("table")
@options.places_option("Decimal places in tables.")
@options.takes_output
@takes_scores(("nDCG@10",))
def table_command(places: int, output: options.Output, scores: ScoreOptions) -> None:
    """Print the table of Järvelin and Kekäläinen: systems as columns, measures as rows, who beats whom by Friedman.

    Example: gainful papers table qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    """
    found = scores.require(scores.found())
    from gainful_papers.significance import friedman_table

    output.write(friedman_table(found.matrices, places=places, signatures=found.conventions), found.notices)
    print_notices(found.notices, scores.reading.quiet)


@help_groups.command("plane")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.text_option("--query", "The query to draw; may be repeated.", "ID", multiple=True, name="queries")
@options.measure_option("ADM")
@options.number_option("--threshold", "Relevant from this on, on both axes.", "T", "0.5")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_collection()
def plane_command(
    qrels: str,
    runs: tuple[str, ...],
    queries: tuple[str, ...],
    measure: str,
    threshold: float,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    reading: CollectionOptions,
) -> None:
    """Draw the documents of a query by the user's and by the system's score, as Della Mea and Mizzaro do for ADM.

    Example: gainful papers plane qrels.txt bm25.run --query q003 --figure plane.svg
    """
    collection = reading.opened(qrels, runs, ahead=False)
    from gainful_papers.dellamea2004.plane import score_planes

    judged = collection.judged
    if not queries:
        few = some_of(judged.qrels.query_ids, 3)
        raise UsageError("--query: expected at least one query, found none", f"judged are {few}")
    with ProgressBar("reading runs", wanted=not collection.quiet, in_bytes=False) as progress:
        planes = score_planes(
            judged.qrels,
            collection.runs,
            queries,
            measure,
            threshold=threshold,
            policy=judged.policy,
            progress=progress,
        )
    collection.notices.extend(planes.notices)
    page = planes.page(places)
    figure.write(page)
    output.write(page, collection.notices)
    collection.print_notices()


@help_groups.command("sweep")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.measure_option("nDCG@10")
@options.text_option("--sweep", "The weight of the highest grade.", "LOW-HIGH", default="1-1000")
@options.takes_output_and_figure
@takes_collection()
def sweep_command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    sweep: str,
    output: options.Output,
    figure: options.FigureOutput,
    reading: CollectionOptions,
) -> None:
    """Find the weight of the highest grade at which systems change places, all other grades weighing 1.

    Example: gainful papers sweep qrels.txt bm25.run dense.run -m nDCG@100 --sweep 1-100
    """
    collection = reading.opened(qrels, runs)
    from gainful_papers import sweep_weight

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        data, threads = (collection.judged, collection.runs), collection.threads
        found = sweep_weight(*data, measure, sweep, threads=threads, progress=progress)
    page = found.page()
    figure.write(page)
    collection.notices.extend(found.notices)
    output.write(page, collection.notices)
    collection.print_notices()
