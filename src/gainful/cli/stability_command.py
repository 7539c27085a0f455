"""`gainful stability`: whether the order of systems would be the same on other queries or documents."""

from __future__ import annotations

import click

from gainful.cli import help_groups, options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, read_numbers, takes_scores
from gainful.errors import UsageError
from gainful.io.sources import is_stream
from gainful.measures.catalog import parse_all
from gainful.stats.catalogues import DISCRIMINATING, SYMMETRIC, TOPICS

_MEASURES = ("nDCG@10",)
_DOCUMENT_DRAWS = 20


@help_groups.command("stability")
@options.choice_option(
    "--topics",
    TOPICS,
    "Which queries make a subset; first is one subset, by number if all ids are numbers, else in byte order.",
    default="random",
)
@options.read_option("--shares", "How large subsets are.", "S,...", read_numbers, "0.5,0.2")
@options.whole_option("--draws", 1, "Random subsets of queries.", default=1000)
@click.option("--documents", is_flag=True, help="Also with parts of the judged documents; needs QRELS and RUNS.")
@options.whole_option(
    "--document-draws", 1, "Random parts of the judgments; runs are scored again for each.  [default: 20]"
)
@options.choice_option(
    "--coefficient", [name.replace("_", "-") for name in SYMMETRIC], "What orders are compared by.", default="tau-b"
)
@options.whole_option("--set-size", 1, "Queries in a set for swap rates.  [default: half of all]")
@options.number_option("--fuzziness", "Tied below this share of the higher mean.", "F", "0.05")
@options.number_option("--swaps", "Name the difference with at most so many swaps.", "RATE", "0.05")
@options.choice_option(
    "--test", DISCRIMINATING, "Discriminative power by the paired t test, or by randomised Tukey HSD.", default="t"
)
@options.number_option("--alpha", "Discriminative power: the level.", "A", "0.05")
@options.whole_option("--seed", 0, "Another seed, other draws.", default=0)
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_scores(_MEASURES)
def command(
    topics: str,
    shares: list[float],
    draws: int,
    documents: bool,
    document_draws: int | None,
    coefficient: str,
    set_size: int | None,
    fuzziness: float,
    swaps: float,
    test: str,
    alpha: float,
    seed: int,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    scores: ScoreOptions,
) -> None:
    """Ask whether the order of systems would be the same on other queries, or with fewer judged documents.

    Systems are RUNS judged by QRELS, or come with scores that exist. The order is made again on subsets, against the
    whole (part-whole, which is inflated) and against another subset (split-half); then how often two systems swap, the
    difference needed for few swaps, and how many pairs a test finds significantly different.

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m RR

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m ADM --documents --topics first
    """
    if document_draws and not documents:
        raise UsageError("--document-draws: has no meaning without --documents")
    if documents and scores.score_files:
        raise UsageError(
            "--documents: expected judgments and runs to score again, found --from",
            "scores that exist cannot be made again with fewer judgments",
        )
    for run in scores.qrels_and_runs[1:] if documents else ():
        if is_stream(run):
            raise UsageError(f"--documents: expected runs that can be read twice, found {run}, which is a stream")
    coefficient = coefficient.replace("-", "_")
    inputs = scores.found()
    from gainful.tasks.stability import assess_documents, assess_stability

    by_documents = None
    if documents and (collection := inputs.collection):
        with ProgressBar("scoring with fewer judgments", wanted=not inputs.quiet, in_bytes=False) as progress:
            by_documents = assess_documents(
                collection.judged,
                collection.runs,
                parse_all(list(inputs.matrices)),
                shares,
                draws=document_draws or _DOCUMENT_DRAWS,
                seed=seed,
                coefficient=coefficient,
                threads=collection.threads,
                progress=progress,
            )
    with ProgressBar("drawing queries", wanted=not inputs.quiet, in_bytes=False) as progress:
        report = assess_stability(
            inputs.matrices,
            shares=shares,
            topics=topics,
            draws=draws,
            seed=seed,
            coefficient=coefficient,
            documents=by_documents,
            set_size=set_size,
            fuzziness=fuzziness,
            most_swaps=swaps,
            test=test,
            alpha=alpha,
            threads=inputs.threads,
            progress=progress,
        )
    inputs.show(report, places, output, figure)
