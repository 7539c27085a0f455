"""`gainful check`: problems in judgments and runs, found before scoring."""

from __future__ import annotations

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import Output
from gainful.data.collection import Collection, named_runs
from gainful.policy import lenient


@help_groups.command("check")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(output=Output, reading=CollectionOptions)
def command(qrels: str, runs: tuple[str, ...], output: Output, reading: CollectionOptions) -> int:
    """Find problems in the judgments QRELS and in RUNS before scoring.

    Repeated documents, IDs without a match (and what would make them match), missing queries, ranks that contradict
    scores, ties, constant and reversed scores, unjudged documents, odd grades, different depths and more: each with a
    count, an example, its effect on scores and what to do. Exits with 1 if a problem is serious. Set the policy
    options as for the evaluation itself.

    Example: gainful check qrels.txt bm25.run dense.run.gz
    """
    with output.waiting("reading runs"):
        files, policy, inputs = named_runs(runs, reading.names), lenient(reading.policy), reading.inputs
        collection = Collection(qrels, files, policy, inputs, threads=reading.threads, want_facts=True)
        # Loaded late, like everything that needs NumPy: the core is already reading.
        from gainful.tasks.check.examination import examine

        examination = examine(
            collection.judged, collection.runs, policy=reading.policy, scale=reading.scale, threads=collection.threads
        )
    output.show(examination.without("note") if output.quiet else examination)
    return 1 if examination.is_serious else 0
