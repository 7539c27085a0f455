"""`gainful eval`: from two files to a table."""

from __future__ import annotations

import sys
from typing import Any

import click

from gainful.cli.names import run_names
from gainful.cli.options import measure_options, measures_from, policy_from, policy_options
from gainful.cli.progress import ProgressBar
from gainful.data.qrels import Qrels
from gainful.errors import UsageError
from gainful.evaluation import evaluate_runs
from gainful.notation import nearest, read_number
from gainful.notices import notices
from gainful.render import FORMATS, Report

_PATH = click.Path(allow_dash=True)


@click.command("eval")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@measure_options
@click.option(
    "--format", "format_", type=click.Choice(list(FORMATS)), default="table", show_default=True, help="Output."
)
@click.option("--by-query", is_flag=True, help="Every query's value, too.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@click.option("--baseline", metavar="RUN", help="Add every run's difference to this one.")
@click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@policy_options
@click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]")
@click.option("--quiet", "-q", is_flag=True, help="No notices, no progress bar.")
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> None:
    """Score RUNS against the judgments QRELS and print a table, best values marked.

    Files are TREC text, plain or compressed (gz, bz2, xz, zst); `-` is standard input. Judgments are lines
    `query subtopic document grade`, runs are lines `query Q0 document rank score tag`.

    Example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP
    """
    policy = policy_from(options)
    measures = measures_from(options["measures"], options["rel"])
    _check_standard_input(qrels, runs)
    names = run_names(runs, options["names"])
    baseline = _baseline(options["baseline"], names)
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    judgments = Qrels.read(qrels, scale=scale, threads=options["threads"])
    with ProgressBar("reading runs", wanted=not options["quiet"]) as progress:
        evaluations = evaluate_runs(
            judgments,
            dict(zip(names, runs, strict=True)),
            measures,
            policy=policy,
            threads=options["threads"],
            progress=progress,
        )
    report = Report(
        list(evaluations.values()),
        list(runs),
        by_query=options["by_query"],
        places=options["places"],
        baseline=baseline,
    )
    if not options["quiet"]:
        for line in notices(evaluations.values()):
            sys.stderr.write(f"notice: {line}\n")
    FORMATS[options["format_"]](report, sys.stdout)


def _check_standard_input(qrels: str, runs: tuple[str, ...]) -> None:
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input (-) can be read once, found it twice")


def _baseline(wanted: str | None, names: list[str]) -> str | None:
    if wanted is not None and wanted not in names:
        raise UsageError(
            f"--baseline: no run is called '{wanted}'; there are {', '.join(names)}", nearest(wanted, names)
        )
    return wanted
