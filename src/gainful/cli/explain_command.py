"""`gainful explain`: what a measure means, and where a number comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import input_options
from gainful.cli.options import (
    complete_measure,
    measures_from,
    output_from,
    output_options,
    policy_from,
    policy_options,
    rel_option,
)
from gainful.data.collection import Inputs, named_runs
from gainful.errors import UsageError
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.evaluation.explanation import Explanation
    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation
    from gainful.policy import Policy

_PATH = click.Path(allow_dash=True)


@click.command("explain")
@click.argument("measures", nargs=-1, required=True, metavar="MEASURE...", shell_complete=complete_measure)
@click.option("--qrels", type=_PATH, metavar="QRELS", help="The judgments.")
@click.option("--run", "runs", type=_PATH, multiple=True, metavar="RUN", help="A run; several stand side by side.")
@click.option("--query", "queries", multiple=True, metavar="ID", help="A query; may be repeated.")
@click.option("--all", "all_ranks", is_flag=True, help="Every rank, those that add nothing, too.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places.")
@click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
@rel_option
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@output_options
@input_options
@policy_options
@click.option("--quiet", "-q", is_flag=True, help="No notices.")
def command(measures: tuple[str, ...], **options: Any) -> None:
    """Say what MEASURE means; with judgments, runs and a query show its arithmetic, rank by rank.

    Example: gainful explain nDCG@10

    Example: gainful explain nDCG@10 --qrels qrels.txt --run bm25.run --run dense.run --query 301
    """
    policy, inputs = policy_from(options), Inputs.taken_from(options)
    output = output_from(options, options["qrels"], *options["runs"])
    wanted = _translated(measures, options["rel"])
    given = {name: options[key] for name, key in (("--qrels", "qrels"), ("--run", "runs"), ("--query", "queries"))}
    missing = [name for name, value in given.items() if not value]
    if 0 < len(missing) < len(given):
        raise UsageError(
            f"expected --qrels, --run and --query together, found no {' and no '.join(missing)}",
            "without any of them the measure is defined; with all of them its arithmetic is shown",
        )
    from gainful.evaluation.explained_page import explanation_page
    from gainful.evaluation.explanation import Explanation

    explanations = [Explanation(measure) for measure in wanted]
    if not missing:
        explanations = _of_queries(list(wanted), inputs, policy, options)
    for explanation in explanations:
        explanation.translations = wanted[explanation.measure]
    output.write(explanation_page(explanations, options["all_ranks"], options["places"]))


def _translated(texts: tuple[str, ...], rel: str | None) -> dict[Measure, tuple[Translation, ...]]:
    """The measures that were asked for, each with the names of other tools that stand for it."""
    from gainful.measures.catalog import translation_of

    wanted: dict[Measure, tuple[Translation, ...]] = {}
    for text in texts:
        translation = translation_of(text)
        for measure in measures_from((text,), rel):
            known = wanted.setdefault(measure, ())
            wanted[measure] = known if translation is None or translation in known else (*known, translation)
    return wanted


def _of_queries(measures: list[Measure], inputs: Inputs, policy: Policy, options: dict[str, Any]) -> list[Explanation]:
    qrels = options["qrels"]
    files = named_runs(options["runs"], options["names"], beside=[qrels])
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    from gainful.data.run import Run
    from gainful.evaluation.explanation import explain_runs

    judgments = inputs.read_qrels(qrels, scale=scale)
    lists = {name: Run.of(file) for name, file in inputs.runs(files).items()}
    queries = dict.fromkeys(options["queries"])
    return [explain_runs(measure, judgments, lists, query, policy) for measure in measures for query in queries]
