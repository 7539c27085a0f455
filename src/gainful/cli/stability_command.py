"""`gainful stability`: whether the order of systems would be the same on other queries or documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.options import figure_from, figure_options, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import input_files, page_notes, read_numbers, score_options, scores_from
from gainful.errors import UsageError
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.cli.score_inputs import ScoreInputs
    from gainful.tasks.stability import DocumentStability

_MEASURES = ("nDCG@10",)


@click.command("stability")
@click.option(
    "--topics",
    type=click.Choice(["random", "first"]),
    default="random",
    show_default=True,
    help="Which queries make a subset; first is one subset, by number if all ids are numbers, else in byte order.",
)
@click.option("--shares", metavar="S,...", default="0.5,0.2", show_default=True, help="How large subsets are.")
@click.option("--draws", type=click.IntRange(1), default=1000, show_default=True, help="Random subsets of queries.")
@click.option("--documents", is_flag=True, help="Also with parts of the judged documents; needs QRELS and RUNS.")
@click.option(
    "--document-draws",
    type=click.IntRange(1),
    help="Random parts of the judgments; runs are scored again for each.  [default: 20]",
)
@click.option(
    "--coefficient",
    type=click.Choice(["tau-b", "tau-ap-b", "rbo", "pearson"]),
    default="tau-b",
    show_default=True,
    help="What orders are compared by.",
)
@click.option("--set-size", type=click.IntRange(1), help="Queries in a set for swap rates.  [default: half of all]")
@click.option(
    "--fuzziness", metavar="F", default="0.05", show_default=True, help="Tied below this share of the higher mean."
)
@click.option(
    "--swaps", metavar="RATE", default="0.05", show_default=True, help="Name the difference with at most so many swaps."
)
@click.option(
    "--test",
    type=click.Choice(["t", "rthsd"]),
    default="t",
    show_default=True,
    help="Discriminative power by the paired t test, or by randomised Tukey HSD.",
)
@click.option("--alpha", metavar="A", default="0.05", show_default=True, help="Discriminative power: told apart at.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other draws.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@score_options(_MEASURES)
def command(**options: Any) -> None:
    """Ask whether the order of systems would be the same on other queries, or with fewer judged documents.

    Systems are RUNS judged by QRELS, or come with scores that exist. The order is made again on subsets, against the
    whole (part-whole, which is inflated) and against another subset (split-half); then how often two systems swap, the
    difference needed for few swaps, and how many pairs a test tells apart.

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m RR

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m ADM --documents --topics first
    """
    files = input_files(options)
    output, figure = output_from(options, *files), figure_from(options, *files)
    shares = read_numbers(options.pop("shares"), "--shares")
    fuzziness, swaps, alpha = (read_number(options.pop(name), f"--{name}") for name in ("fuzziness", "swaps", "alpha"))
    wants_documents, document_draws = options.pop("documents"), options.pop("document_draws")
    if document_draws and not wants_documents:
        raise UsageError("--document-draws: has no meaning without --documents")
    if wants_documents and options["score_files"]:
        raise UsageError(
            "--documents: expected judgments and runs to score again, found --from",
            "scores that exist cannot be made again with fewer judgments",
        )
    if wants_documents:
        _check_rereadable(options["inputs"][1:])
    coefficient = options.pop("coefficient").replace("-", "_")
    topics, draws, set_size, test, seed, places = (
        options.pop(name) for name in ("topics", "draws", "set_size", "test", "seed", "places")
    )
    inputs = scores_from(options, _MEASURES)
    documents = _documents(inputs, shares, coefficient, document_draws or 20, seed) if wants_documents else None
    from gainful.tasks.stability import assess_stability

    with ProgressBar("drawing queries", wanted=not inputs.quiet, in_bytes=False) as progress:
        report = assess_stability(
            inputs.matrices,
            shares=shares,
            topics=topics,
            draws=draws,
            seed=seed,
            coefficient=coefficient,
            documents=documents,
            set_size=set_size,
            fuzziness=fuzziness,
            most_swaps=swaps,
            test=test,
            alpha=alpha,
            threads=inputs.threads,
            progress=progress,
        )
    page = report.page(places, *page_notes(inputs))
    output.write(page)
    figure.write(page)
    inputs.notices.extend(report.notices)
    inputs.print_notices()


def _check_rereadable(runs: Sequence[str]) -> None:
    from gainful.io.sources import is_stream

    for run in runs:
        if is_stream(run):
            raise UsageError(f"--documents: expected runs that can be read twice, found {run}, which is a stream")


def _documents(
    inputs: ScoreInputs, shares: Sequence[float], coefficient: str, draws: int, seed: int
) -> Mapping[str, DocumentStability]:
    from gainful.measures.catalog import parse_all
    from gainful.tasks.stability import assess_judged_documents

    collection = inputs.collection
    if collection is None:
        raise UsageError("--documents: expected judgments and runs, found none")
    with ProgressBar("scoring with fewer judgments", wanted=not inputs.quiet, in_bytes=False) as progress:
        return assess_judged_documents(
            collection.judged,
            collection.runs,
            parse_all(list(inputs.matrices)),
            shares,
            draws=draws,
            seed=seed,
            coefficient=coefficient,
            threads=collection.threads,
            progress=progress,
        )
