"""`gainful whydiff`: from a reported number back to the conventions that made it."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli.inputs import input_options
from gainful.cli.options import measure_option, output_from, output_options, policy_from, policy_options
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Inputs, read_once
from gainful.errors import UsageError
from gainful.notation import read_number
from gainful.tasks.whydiff.conventions import Figure

_PATH = click.Path(allow_dash=True)


@click.command("whydiff")
@click.argument("qrels", type=_PATH)
@click.argument("run", type=_PATH)
@click.option("--mine", metavar="X", help="The number that you have.")
@click.option("--theirs", metavar="X", help="The number that others have.")
@measure_option("nDCG@10")
@click.option("--query", metavar="ID", help="The numbers are of this query.  [default: of all]")
@click.option(
    "--departures",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="In how many conventions at once a combination may differ from the start; known tools are tried anyway.",
)
@click.option("--most", type=click.IntRange(1), default=5, show_default=True, help="How many ways to show of a number.")
@output_options
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@input_options
@policy_options
@click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
def command(qrels: str, run: str, **options: Any) -> int:
    """Find the conventions that turn RUN, judged by QRELS, into reported numbers.

    The search starts from the measure and the policy given and tries other gains, discounts, ideal lists, ways to break
    ties and so on. A number counts as exactly as it is written: 0.785 is whatever rounds to it. Ways are listed by how
    many conventions they change; what a known tool does counts as one change. A number that the measure cannot have,
    such as 46.4 where values end at 1, is tried as a per cent.

    The exit code is 1 if a number cannot be reproduced.

    Example: gainful whydiff qrels.txt bm25.run --mine 0.961 --theirs 0.785 -m nDCG@6
    """
    policy, output, inputs = policy_from(options), output_from(options, qrels, run), Inputs.taken_from(options)
    figures = {name: options[name] for name in ("mine", "theirs") if options[name] is not None}
    if not figures:
        raise UsageError(
            "expected --mine, --theirs or both, found neither", "give a number as it was reported: --theirs 0.785"
        )
    read_once(qrels, run)
    for name, text in figures.items():
        Figure.of(f"--{name}", text)
    # Loaded late, as is all that needs NumPy.
    from gainful.tasks.whydiff.conventions import find_conventions

    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    with ProgressBar("trying conventions", wanted=not options["quiet"], in_bytes=False) as progress:
        findings = find_conventions(
            inputs.read_qrels(qrels, scale=scale, threads=options["threads"]),
            inputs.single_run(run),
            figures,
            options["measure"],
            policy=policy,
            query=options["query"],
            departures=options["departures"],
            most=options["most"],
            threads=options["threads"],
            progress=progress,
        )
    output.write(findings)
    return 0 if findings.reproduced else 1
