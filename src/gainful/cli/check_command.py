"""`gainful check`: everything suspicious about files, before they are scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from gainful.cli.inputs import Inputs, input_options, run_names
from gainful.cli.options import (
    INPUT,
    Output,
    names_option,
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
from gainful.tasks.check import lenient

if TYPE_CHECKING:
    from gainful.io.rows import RunFile


@click.command("check")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes_output
@names_option
@scale_option
@takes("inputs", input_options, Inputs.taken_from)
@takes_policy
@threads_option
@quiet_option("No notes, no progress bar.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    output: Output,
    names: tuple[str, ...],
    scale: float | None,
    inputs: Inputs,
    policy: Policy,
    threads: int | None,
    quiet: bool,
) -> int:
    """Look for everything suspicious in the judgments QRELS and in RUNS before they are scored.

    Repeated documents, ids that match nowhere (and what would make them match), missing queries, ranks against scores,
    ties, constant and reversed scores, unjudged documents, odd grades, different depths and more: each with a count, an
    example, what it does to the numbers, and what to do. Exits with 1 if something is serious. The options of the
    policy say how the files are going to be evaluated.

    Example: gainful check qrels.txt bm25.run dense.run.gz
    """
    by_name = dict(zip(run_names(runs, names), runs, strict=True))
    threads = threads or default_threads()
    with ProgressBar("reading runs", wanted=not quiet) as progress:
        reading = lenient(policy)
        ahead = None
        if inputs.features is None:
            ahead = ReadAhead.start(qrels, runs, reading, threads, progress, inputs.is_trec, want_facts=True)
        # Loaded late, as is all that needs NumPy: by now the core has long been reading.
        from gainful.data.judged import Judged
        from gainful.tasks.check.examination import examine_judged

        if ahead:
            judged = ahead.judged(reading, None)
            sources: Mapping[str, ReadRun | RunFile] = dict(zip(by_name, ahead.runs(), strict=True))
        else:
            judged = Judged(inputs.read_qrels(qrels, threads=threads), reading)
            sources = inputs.runs(by_name)
        examination = examine_judged(judged, sources, policy, scale=scale, threads=threads, progress=progress)
    output.write(examination.without("note") if quiet else examination)
    return 1 if examination.is_serious else 0
