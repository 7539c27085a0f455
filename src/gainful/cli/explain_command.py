"""`gainful explain`: what a measure means, and where a number comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import takes_inputs
from gainful.data.collection import Inputs, named_runs
from gainful.errors import UsageError
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation


@help_groups.command("explain")
@click.argument("measures", nargs=-1, required=True, metavar="MEASURE...", shell_complete=options.complete_measure)
@click.option("--qrels", type=options.INPUT, metavar="QRELS", help="The judgments.")
@click.option(
    "--run", "runs", type=options.INPUT, multiple=True, metavar="RUN", help="A run; several stand side by side."
)
@click.option("--query", "queries", multiple=True, metavar="ID", help="A query; may be repeated.")
@click.option("--all", "all_ranks", is_flag=True, help="Every rank, those that add nothing, too.")
@options.detail_option("What other tools do differently, too.")
@options.places_option("Decimal places.")
@options.names_option
@options.rel_option
@options.scale_option
@options.takes_output
@takes_inputs
@options.takes_policy
@options.quiet_option("No notices.")
def command(
    measures: tuple[str, ...],
    qrels: str | None,
    runs: tuple[str, ...],
    queries: tuple[str, ...],
    all_ranks: bool,
    places: int,
    names: tuple[str, ...],
    rel: str | None,
    scale: float | None,
    output: options.Output,
    inputs: Inputs,
    policy: Policy,
    quiet: bool,
) -> None:
    """Say what MEASURE means; with judgments, runs and a query show its arithmetic, rank by rank.

    Example: gainful explain nDCG@10

    Example: gainful explain nDCG@10 --qrels qrels.txt --run bm25.run --run dense.run --query 301
    """
    wanted = _translated(measures, rel)
    missing = [flag for flag, given in (("--qrels", qrels), ("--run", runs), ("--query", queries)) if not given]
    if len(missing) in (1, 2):
        raise UsageError(
            f"expected --qrels, --run and --query together, found no {' and no '.join(missing)}",
            "without any of them the measure is defined; with all of them its arithmetic is shown",
        )
    from gainful.data.run import Run
    from gainful.evaluation.explained_page import explanation_page
    from gainful.evaluation.explanation import Explanation, explain_runs

    if qrels:
        files = named_runs(runs, names)
        judgments = inputs.read_qrels(qrels, scale=scale)
        lists = {name: Run.of(file) for name, file in inputs.runs(files).items()}
        explanations = [
            explain_runs(measure, judgments, lists, query, policy)
            for measure in wanted
            for query in dict.fromkeys(queries)
        ]
    else:
        explanations = [Explanation(measure) for measure in wanted]
    for explanation in explanations:
        explanation.translations = wanted[explanation.measure]
    output.write(explanation_page(explanations, all_ranks, places))


def _translated(texts: tuple[str, ...], rel: str | None) -> dict[Measure, tuple[Translation, ...]]:
    """The measures that were asked for, each with the names of other tools that stand for it."""
    from gainful.measures.catalog import translation_of

    wanted: dict[Measure, tuple[Translation, ...]] = {}
    for text in texts:
        translation = translation_of(text)
        for measure in options.measures_from((text,), rel):
            known = wanted.setdefault(measure, ())
            wanted[measure] = known if translation is None or translation in known else (*known, translation)
    return wanted
