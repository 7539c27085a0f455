"""`gainful curves`: gain by rank, precision by recall, system by user."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from gainful.cli.collection import collection_from, collection_options
from gainful.cli.options import complete_measure, figure_from, figure_options, output_from, output_options
from gainful.errors import UsageError

_PATH = click.Path(allow_dash=True)

#: The kinds of curve. Each has a module ``gainful.cli.curves_<kind>`` with ``page(collection, options)`` and with
#: ``DEFAULTS``: the options that it takes, and what they are if not given.
KINDS = {
    "gain": "what a user has gained by each rank: CG, DCG, nCG, nDCG, and the ideal",
    "recall": "precision at recall, for every grade level (always with undefined=skip)",
    "generalised": "generalised precision at generalised recall",
    "plane": "one query's documents by the user's and by the system's score (ADM)",
}

_OF_KINDS: tuple[str, ...] = (
    "measures",
    "average",
    "reference",
    "at",
    "regions",
    "draws",
    "seed",
    "confidence",
    "levels",
    "by",
    "points",
    "baseline",
    "threshold",
    "queries",
    "by_query",
)


@click.command("curves")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="gain",
    show_default=True,
    help="; ".join(f"{name}: {about}" for name, about in KINDS.items()) + ".",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; plane: ADM; with parameters.",
)
@click.option(
    "--average",
    type=click.Choice(["ratios", "means", "both"]),
    help="gain: how nCG and nDCG are averaged.  [default: ratios]",
)
@click.option("--reference", metavar="RUN", help="gain: the run that others have to catch up with.  [default: ideal]")
@click.option("--at", metavar="R,...", help="gain: the reference's ranks to catch up with.  [default: 5,10,20]")
@click.option(
    "--regions",
    metavar="R-R,...",
    help="gain: ranks for the distance to the ideal.  [default: 1-10, 11-50, 51-100, ...]",
)
@click.option("--draws", type=click.IntRange(0), help="gain: resamples for the bands, 0 for none.  [default: 1000]")
@click.option("--seed", type=click.IntRange(0), help="gain: another seed, other resamples.  [default: 0]")
@click.option("--confidence", metavar="PERCENT", help="gain: what the bands hold.  [default: 95]")
@click.option("--levels", metavar="G,...", help="recall: the grade levels.  [default: all above 0]")
@click.option(
    "--by",
    type=click.Choice(["level", "rel", "both"]),
    help="recall: a level alone, or it and all above.  [default: both]",
)
@click.option("--points", type=click.IntRange(2), help="recall, generalised: how many recall levels.  [default: 11]")
@click.option("--baseline", metavar="RUN", help="recall, generalised: the run that others are compared with.")
@click.option("--threshold", metavar="T", help="plane: relevant from this on, on both axes.  [default: 0.5]")
@click.option("--query", "queries", multiple=True, metavar="ID", help="Only this query; may be repeated.")
@click.option("--by-query", is_flag=True, default=None, help="Every query's curve, too (jsonl and csv).")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@collection_options
def command(qrels: str, runs: tuple[str, ...], kind: str, **options: Any) -> None:
    """Draw curves of RUNS judged by QRELS: as text, as data, as a figure, and in sentences.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    output, figure = output_from(options, qrels, *runs), figure_from(options, qrels, *runs)
    module = importlib.import_module(f"gainful.cli.curves_{kind}")
    settled = _settled(kind, module.DEFAULTS, options)
    collection = collection_from(qrels, runs, options)
    page = module.page(collection, {**options, **settled})
    figure.write(page)
    output.write(page)
    collection.print_notices()


def _settled(kind: str, defaults: Mapping[str, object], options: dict[str, Any]) -> dict[str, object]:
    """The options of a kind; one that belongs to another kind is refused, not ignored."""
    given = {name: options.pop(name) for name in _OF_KINDS}
    for name, value in given.items():
        if value not in (None, ()) and name not in defaults:
            flag = {"queries": "query", "measures": "measure"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag}: has no meaning with --kind {kind}", "gainful curves --help says what has")
    return {name: default if given[name] in (None, ()) else given[name] for name, default in defaults.items()}
