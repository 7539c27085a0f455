"""`gainful check`: everything suspicious about files, before they are scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import input_options
from gainful.cli.options import output_from, output_options, policy_from, policy_options
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Collection, Inputs, named_runs
from gainful.notation import read_number
from gainful.policy import Policy, lenient

if TYPE_CHECKING:
    from gainful.tasks.check.check_findings import Examination

_PATH = click.Path(allow_dash=True)


@click.command("check")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@output_options
@click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@input_options
@policy_options
@click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]")
@click.option("--quiet", "-q", is_flag=True, help="No notes, no progress bar.")
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> int:
    """Look for everything suspicious in the judgments QRELS and in RUNS before they are scored.

    Repeated documents, ids that match nowhere (and what would make them match), missing queries, ranks against scores,
    ties, constant and reversed scores, unjudged documents, odd grades, different depths and more: each with a count, an
    example, what it does to the numbers, and what to do. Exits with 1 if something is serious. The options of the
    policy say how the files are going to be evaluated.

    Example: gainful check qrels.txt bm25.run dense.run.gz
    """
    policy, output, inputs = policy_from(options), output_from(options, qrels, *runs), Inputs.taken_from(options)
    files = named_runs(runs, options["names"], beside=[qrels])
    examination = _examination(qrels, files, inputs, policy, options)
    output.write((examination.without("note") if options["quiet"] else examination).page())
    return 1 if examination.is_serious else 0


def _examination(
    qrels: str, runs: Mapping[str, str], inputs: Inputs, policy: Policy, options: Mapping[str, Any]
) -> Examination:
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    with ProgressBar("reading runs", wanted=not options["quiet"]) as progress:
        collection = Collection(
            qrels, runs, lenient(policy), inputs, threads=options["threads"], progress=progress, want_facts=True
        )
        # Loaded late, as is all that needs NumPy: by now the core has long been reading.
        from gainful.tasks.check.examination import examine_judged

        return examine_judged(
            collection.judged, collection.runs, policy, scale=scale, threads=collection.threads, progress=progress
        )
