"""`gainful eval`: from two files to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import input_options
from gainful.cli.options import measure_options, measures_from, output_from, output_options, policy_from, policy_options
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Collection, Inputs, named_runs, no_such_run
from gainful.notation import read_number
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.evaluation.results import Evaluation

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
    files = named_runs(runs, options["names"], beside=[qrels])
    evaluations = _evaluations(qrels, files, inputs, policy, options)
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
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    with ProgressBar("reading runs", wanted=not options["quiet"]) as progress:
        collection = Collection(qrels, runs, policy, inputs, scale=scale, threads=options["threads"], progress=progress)
        measures = measures_from(options["measures"], options["rel"])
        from gainful.evaluation.evaluate import evaluate_judged

        judged = collection.judged
        _check_baseline(options["baseline"], collection.runs)
        return evaluate_judged(judged, collection.runs, measures, threads=collection.threads, progress=progress)


def _check_baseline(wanted: str | None, names: Iterable[str]) -> None:
    names = list(names)
    if wanted is not None and wanted not in names:
        raise no_such_run(wanted, names, "--baseline")
