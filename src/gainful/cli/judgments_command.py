"""`gainful judgments`: what is in judgments, and how far two sets of them agree."""

from __future__ import annotations

from dataclasses import replace

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import print_notices, takes_inputs
from gainful.data.collection import Inputs, named_runs
from gainful.errors import UsageError
from gainful.notation import read_number
from gainful.policy import Policy

_MEASURES = ("nDCG@10",)


@help_groups.command("judgments")
@click.argument("a", type=options.INPUT)
@click.argument("b", type=options.INPUT, required=False)
@click.option("--run", "runs", type=options.INPUT, multiple=True, help="A run to be scored by both; may be repeated.")
@options.several_measures_option(_MEASURES)
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
    draws: int,
    seed: int,
    names: tuple[str, ...],
    scale: float | None,
    inputs: Inputs,
    policy: Policy,
    quiet: bool,
) -> None:
    """Describe the judgments A: levels, recall bases, what is odd. With B, say how far the two agree.

    A and B are two assessors, people and a language model, old and new. On the documents that both judge: a table of
    their grades with the per cent of each level of A, agreement exact and by distance, Cohen's kappa, Krippendorff's
    alpha and bias, with bootstrap intervals over queries. With --run: whether the order of systems changes.

    Example: gainful judgments human.txt model.txt --run bm25.run --run dense.run
    """
    if runs and b is None:
        raise UsageError(
            "--run: expected two sets of judgments that may order systems differently, found one",
            "gainful judgments A B --run RUN; gainful eval scores runs by one set",
        )
    if not runs and inputs.exclude is not None:
        raise UsageError("--exclude: expected runs to leave documents out of, found none", "--run names one")
    if not runs and measures:
        raise UsageError("--measure: expected runs to be scored, found none", "--run names one")
    level = None if rel is None else read_number(rel, "--rel")
    wanted, files = options.measures_from(measures or _MEASURES, rel), named_runs(runs, names)
    from gainful.data.judged import Judged
    from gainful.evaluation.notices import notices
    from gainful.tasks.judgments.description import describe_judgments, description_page, side_parts
    from gainful.tasks.judgments.judges import agreement_page, compare_judgments
    from gainful.tasks.judgments.orders import compare_orders, order_parts, signatures

    if b is None:
        found = describe_judgments(inputs.read_qrels(a), policy=policy, rel=level, scale=scale)
        output.write(description_page(found, by_query))
        return
    # Grades that exceed the scale that was given are found odd, not refused.
    read = [inputs.read_qrels(path) for path in (a, b)]
    on_scale = [side if scale is None or scale < side.scale else replace(side, scale=scale) for side in read]
    judged_a, judged_b = (Judged(side, policy) for side in on_scale)
    page = agreement_page(compare_judgments(judged_a, judged_b, rel=level, draws=draws, seed=seed), by_query)
    of_a, of_b = (describe_judgments(side, rel=level, scale=scale) for side in (judged_a, judged_b))
    page = replace(page, parts=(*page.parts, *side_parts(of_a, of_b, by_query)))
    if not files:
        output.write(page)
        return
    orders = compare_orders(judged_a, judged_b, inputs.runs(files), wanted)
    parts = [part for comparison in orders.comparisons for part in order_parts(comparison)]
    output.write(replace(page, parts=(*page.parts, *parts), notes=signatures(orders)))
    by_side = (("A", orders.evaluations_a), ("B", orders.evaluations_b))
    print_notices((f"by {side}: {line}" for side, found in by_side for line in notices(found)), quiet)
