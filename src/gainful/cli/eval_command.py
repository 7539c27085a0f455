"""`gainful eval`: from two files to a table."""

from __future__ import annotations

from collections.abc import Iterable

import click

from gainful.cli import options
from gainful.cli.inputs import print_notices, takes_inputs
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Collection, Inputs, named_runs, no_such_run
from gainful.policy import Policy


@click.command("eval")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.measure_options
@options.takes_output
@click.option("--by-query", is_flag=True, help="Every query's value, too.")
@options.places_option("Decimal places in tables.")
@click.option("--baseline", metavar="RUN", help="Add every run's difference to this one.")
@options.names_option
@options.scale_option
@takes_inputs
@options.takes_policy
@options.threads_option
@options.quiet_option("No notices, no progress bar.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rel: str | None,
    output: options.Output,
    by_query: bool,
    places: int,
    baseline: str | None,
    names: tuple[str, ...],
    scale: float | None,
    inputs: Inputs,
    policy: Policy,
    threads: int | None,
    quiet: bool,
) -> None:
    """Score RUNS against the judgments QRELS and print a table, best values marked.

    Files are TREC text (judgments `query subtopic document grade`, runs `query Q0 document rank score tag`), CSV or
    TSV with a header, JSON, JSON lines, MS MARCO, LETOR, NTCIR or parquet, recognised by their content; plain or
    compressed (gz, bz2, xz, zst); `-` is standard input.

    Example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP
    """
    files = named_runs(runs, names)
    if inputs.features is None:
        _check_baseline(baseline, files)
    with ProgressBar("reading runs", wanted=not quiet) as progress:
        collection = Collection(qrels, files, policy, inputs, scale=scale, threads=threads, progress=progress)
        wanted = options.measures_from(measures, rel)
        # Loaded late, as is all that needs NumPy: by now the core has long been reading.
        from gainful.evaluation.evaluate import evaluate_judged
        from gainful.evaluation.notices import notices
        from gainful.evaluation.report import Report

        judged = collection.judged
        _check_baseline(baseline, collection.runs)
        evaluations = evaluate_judged(judged, collection.runs, wanted, threads=collection.threads, progress=progress)
    output.write(Report(evaluations, by_query, places, baseline))
    print_notices(notices(evaluations.values()), quiet)


def _check_baseline(wanted: str | None, names: Iterable[str]) -> None:
    names = list(names)
    if wanted is not None and wanted not in names:
        raise no_such_run(wanted, names, "--baseline")
