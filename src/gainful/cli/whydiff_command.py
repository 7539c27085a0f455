"""`gainful whydiff`: from a reported number back to the conventions that made it."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import takes_inputs
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Inputs


@help_groups.command("whydiff")
@click.argument("qrels", type=options.INPUT)
@click.argument("run", type=options.INPUT)
@options.text_option("--mine", "The number that you have.", "X")
@options.text_option("--theirs", "The number that others have.", "X")
@options.measure_option("nDCG@10")
@options.text_option("--query", "The numbers are of this query.  [default: of all]", "ID")
@options.whole_option(
    "--departures",
    1,
    "In how many conventions at once a combination may differ from the start; known tools are tried anyway.",
    default=3,
)
@options.whole_option("--most", 1, "How many ways to show of a number.", default=5)
@options.takes_output
@options.scale_option
@takes_inputs
@options.takes_policy
@options.threads_option
@options.quiet_option("No progress bar.")
def command(
    qrels: str,
    run: str,
    mine: str | None,
    theirs: str | None,
    measure: str,
    output: options.Output,
    scale: float | None,
    inputs: Inputs,
    threads: int | None,
    quiet: bool,
    **searched: Any,
) -> int:
    """Find the conventions that turn RUN, judged by QRELS, into reported numbers.

    The search starts from the measure and the policy given and tries other gains, discounts, ideal lists, ways to break
    ties and so on. A number counts as exactly as it is written: 0.785 is whatever rounds to it. Ways are listed by how
    many conventions they change; what a known tool does counts as one change. A number that the measure cannot have,
    such as 46.4 where values end at 1, is tried as a per cent.

    The exit code is 1 if a number cannot be reproduced.

    Example: gainful whydiff qrels.txt bm25.run --mine 0.961 --theirs 0.785 -m nDCG@6
    """
    from gainful.tasks.whydiff.conventions import find_conventions

    with ProgressBar("trying conventions", wanted=not quiet, in_bytes=False) as progress:
        findings = find_conventions(
            inputs.read_qrels(qrels, scale=scale, threads=threads),
            inputs.single_run(run),
            {name: text for name, text in (("mine", mine), ("theirs", theirs)) if text is not None},
            measure,
            threads=threads,
            progress=progress,
            **searched,
        )
    output.write(findings)
    return 0 if findings.reproduced else 1
