"""`gainful eval`: from two files to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from gainful.cli.inputs import Inputs, input_options, run_names
from gainful.cli.options import (
    INPUT,
    Output,
    measure_options,
    measures_from,
    names_option,
    places_option,
    quiet_option,
    scale_option,
    takes,
    takes_output,
    takes_policy,
    threads_option,
)
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import ReadAhead
from gainful.data.run import ReadRun
from gainful.kernel.core import default_threads
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.io.rows import RunFile


@click.command("eval")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@measure_options
@takes_output
@click.option("--by-query", is_flag=True, help="Every query's value, too.")
@places_option("Decimal places in tables.")
@click.option("--baseline", metavar="RUN", help="Add every run's difference to this one.")
@names_option
@scale_option
@takes("inputs", input_options, Inputs.taken_from)
@takes_policy
@threads_option
@quiet_option("No notices, no progress bar.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rel: str | None,
    output: Output,
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
    by_name = dict(zip(run_names(runs, names), runs, strict=True))
    threads = threads or default_threads()
    if inputs.features is None:
        _check_baseline(baseline, by_name)
    with ProgressBar("reading runs", wanted=not quiet) as progress:
        ahead = None
        if inputs.features is None:
            ahead = ReadAhead.start(qrels, runs, policy, threads, progress, inputs.is_trec)
        wanted = measures_from(measures, rel)
        # Loaded late, as is all that needs NumPy: by now the core has long been reading.
        from gainful.data.judged import Judged
        from gainful.evaluation.evaluate import evaluate_judged
        from gainful.evaluation.notices import notices
        from gainful.evaluation.report import Report

        if ahead:
            judged = ahead.judged(policy, scale)
            sources: Mapping[str, ReadRun | RunFile] = dict(zip(by_name, ahead.runs(), strict=True))
        else:
            judged = Judged(inputs.read_qrels(qrels, scale=scale, threads=threads), policy)
            sources = inputs.runs(by_name)
            _check_baseline(baseline, sources)
        evaluations = evaluate_judged(judged, sources, wanted, threads=threads, progress=progress)
    output.write(Report(evaluations, by_query, places, baseline))
    if not quiet:
        sys.stdout.flush()
        sys.stderr.writelines(f"notice: {line}\n" for line in notices(evaluations.values()))


def _check_baseline(wanted: str | None, names: Iterable[str]) -> None:
    names = list(names)
    if wanted is not None and wanted not in names:
        from gainful.data.collection import no_such_run

        raise no_such_run(wanted, names, "--baseline")
