"""`gainful curves`: gain by rank, precision by recall; each kind is a question of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from gainful.cli import help_groups, options
from gainful.cli.asking import flag_name, flags_of, given
from gainful.cli.inputs import CollectionOptions, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError
from gainful.question import settings_of
from gainful.tasks.curve_questions import (
    GainCurveOptions,
    GeneralisedRecallOptions,
    RecallLevelOptions,
    SidewaysOptions,
)

#: The kinds of curve: its options, the function that answers it, and what it shows.
KINDS = {
    "gain": (GainCurveOptions, "gain_curves", "what a user has gained by each rank: CG, DCG, nCG, nDCG, and the ideal"),
    "recall": (
        RecallLevelOptions,
        "recall_levels",
        "precision at recall, for every grade level (always with undefined=skip)",
    ),
    "generalised": (GeneralisedRecallOptions, "generalised_recall", "generalised precision at generalised recall"),
}


@dataclass(frozen=True)
class _EveryKind(GeneralisedRecallOptions, RecallLevelOptions, GainCurveOptions, SidewaysOptions):
    """The options of all kinds, each once."""


@help_groups.command("curves")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.choice_option(
    "--kind",
    KINDS,
    "What to draw: " + "; ".join(f"{name}: {about}" for name, (*_, about) in KINDS.items()) + ".",
    default="gain",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=options.complete_measure,
    help="gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; with parameters.",
)
@flags_of(_EveryKind)
@options.text_option("--query", "Only this query; may be repeated.", "ID", multiple=True, name="queries")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_collection()
def command(
    qrels: str,
    runs: tuple[str, ...],
    kind: str,
    measures: tuple[str, ...],
    queries: tuple[str, ...],
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    reading: CollectionOptions,
    **asked: Any,
) -> None:
    """Draw curves of RUNS judged by QRELS: as text, as data, as a figure, and in sentences.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    wanted = {**given(_EveryKind, asked), **({"measures": measures} if measures else {})}
    show = {name: wanted.pop(name) for name in settings_of(SidewaysOptions) if name in wanted and kind == "gain"}
    asks, function, _ = KINDS[kind]
    for name in wanted:
        if name not in {each.name for each in fields(asks)}:
            flag = "--measure" if name == "measures" else flag_name(name, settings_of(_EveryKind)[name][1])
            raise UsageError(f"{flag}: has no meaning with --kind {kind}", "gainful curves --help says what has")
    collection = reading.opened(qrels, runs, ahead=not queries).of_queries(queries)
    import gainful

    with ProgressBar("reading runs", wanted=not collection.quiet):
        found = getattr(gainful, function)(collection.judged, collection.runs, threads=collection.threads, **wanted)
    page = found.page(places, **show)
    figure.write(page)
    output.write(page, found.notices)
    collection.notices.extend(found.notices)
    collection.print_notices()
