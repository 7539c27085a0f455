"""`gainful eval`: from two files to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import Inputs, input_options, run_names
from gainful.cli.options import measure_options, measures_from, output_from, output_options, policy_from, policy_options
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import ReadAhead
from gainful.data.run import ReadRun
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.notation import read_number
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.evaluation.results import Evaluation
    from gainful.io.rows import RunFile

_PATH = click.Path(allow_dash=True)


@click.command("eval")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@measure_options
@output_options
@click.option("--by-query", is_flag=True, help="Every query's value, too.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@click.option("--baseline", metavar="RUN", help="Add every run's difference to this one.")
@click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@input_options
@policy_options
@click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]")
@click.option("--quiet", "-q", is_flag=True, help="No notices, no progress bar.")
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> None:
    """Score RUNS against the judgments QRELS and print a table, best values marked.

    Files are TREC text (judgments `query subtopic document grade`, runs `query Q0 document rank score tag`), CSV or
    TSV with a header, JSON, JSON lines, MS MARCO, LETOR, NTCIR or parquet, recognised by their content; plain or
    compressed (gz, bz2, xz, zst); `-` is standard input.

    Example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP
    """
    policy, output, inputs = policy_from(options), output_from(options, qrels, *runs), Inputs.taken_from(options)
    _check_standard_input(qrels, runs)
    names = run_names(runs, options["names"])
    evaluations = _evaluations(qrels, dict(zip(names, runs, strict=True)), inputs, policy, options)
    # Loaded late, as is all that needs NumPy: by now the core has long been reading.
    from gainful.evaluation.notices import notices
    from gainful.evaluation.report import Report

    output.write(Report(evaluations, options["by_query"], options["places"], options["baseline"]))
    if not options["quiet"]:
        sys.stdout.flush()
        sys.stderr.writelines(f"notice: {line}\n" for line in notices(evaluations.values()))


def _evaluations(
    qrels: str, runs: Mapping[str, str], inputs: Inputs, policy: Policy, options: Mapping[str, Any]
) -> Mapping[str, Evaluation]:
    if inputs.features is None:
        _check_baseline(options["baseline"], runs)
    threads = options["threads"] or default_threads()
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    with ProgressBar("reading runs", wanted=not options["quiet"]) as progress:
        ahead = None
        if inputs.features is None:
            ahead = ReadAhead.start(qrels, list(runs.values()), policy, threads, progress, inputs.is_trec)
        measures = measures_from(options["measures"], options["rel"])
        from gainful.evaluation.evaluate import evaluate_judged

        if ahead:
            judged = ahead.judged(policy, scale)
            sources: Mapping[str, ReadRun | RunFile] = dict(zip(runs, ahead.runs(), strict=True))
        else:
            judged = _judged(qrels, inputs, policy, scale, threads)
            sources = inputs.runs(runs)
            _check_baseline(options["baseline"], sources)
        return evaluate_judged(judged, sources, measures, threads=threads, progress=progress)


def _judged(qrels: str, inputs: Inputs, policy: Policy, scale: float | None, threads: int) -> Judged:
    from gainful.data.judged import Judged

    return Judged(inputs.read_qrels(qrels, scale=scale, threads=threads), policy)


def _check_standard_input(qrels: str, runs: tuple[str, ...]) -> None:
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input (-) can be read once, found it twice")


def _check_baseline(wanted: str | None, names: Iterable[str]) -> None:
    names = list(names)
    if wanted is not None and wanted not in names:
        from gainful.data.collection import no_such_run

        raise no_such_run(wanted, names, "--baseline")
