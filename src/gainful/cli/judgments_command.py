"""`gainful judgments`: what is in judgments, and how far two sets of them agree."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import print_notices, takes_inputs
from gainful.data.collection import Inputs, named_runs
from gainful.errors import UsageError


@help_groups.command("judgments")
@click.argument("a", type=options.INPUT)
@click.argument("b", type=options.INPUT, required=False)
@click.option("--run", "runs", type=options.INPUT, multiple=True, help="A run to be scored by both; may be repeated.")
@options.several_measures_option(("nDCG@10",))
@options.text_option("--rel", "Relevant from grade G on.  [default: any grade above 0]", "G")
@options.takes_output
@click.option("--by-query", is_flag=True, help="Every query by itself, not only how they are spread.")
@options.whole_option("--draws", 0, "Resamples for the intervals.", default=1000)
@options.whole_option("--seed", 0, "Another seed, other resamples.", default=0)
@options.names_option
@options.scale_option
@takes_inputs
@options.takes_policy
@options.quiet_option("No notices.")
def command(
    a: str,
    b: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rel: str | None,
    output: options.Output,
    by_query: bool,
    names: tuple[str, ...],
    inputs: Inputs,
    quiet: bool,
    **asked: Any,
) -> None:
    """Describe the judgments A: levels, recall bases, what is odd. With B, say how far the two agree.

    A and B are two assessors, people and a language model, old and new. On the documents that both judge: a table of
    their grades with the per cent of each level of A, agreement exact and by distance, Cohen's kappa, Krippendorff's
    alpha and bias, with bootstrap intervals over queries. With --run: whether the order of systems changes.

    Example: gainful judgments human.txt model.txt --run bm25.run --run dense.run
    """
    if not runs and inputs.exclude is not None:
        raise UsageError("--exclude: expected runs to leave documents out of, found none", "--run names one")
    files = named_runs(runs, names)
    from gainful.tasks.judgments.description import describe_judgments
    from gainful.tasks.judgments.judges import compare_judgments

    if b is None and not files and not measures:
        how = {name: asked[name] for name in ("policy", "scale")}
        output.write(describe_judgments(inputs.read_qrels(a), rel=rel, **how).page(by_query))
        return
    found = compare_judgments(
        inputs.read_qrels(a),
        None if b is None else inputs.read_qrels(b),
        runs=inputs.runs(files),
        measures=options.measures_from(measures or ("nDCG@10",), rel) if files or measures else None,
        rel=rel,
        **asked,
    )
    output.write(found.page(by_query))
    print_notices(found.notices, quiet)
