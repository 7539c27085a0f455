"""`gainful stability`: whether the order of systems would be the same on other queries or documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import click

from gainful.cli.options import figure_from, figure_options, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreInputs, input_files, page_notes, read_numbers, score_options, scores_from
from gainful.errors import UsageError
from gainful.io.sources import is_stream
from gainful.measures.catalog import parse_all
from gainful.notation import read_number
from gainful.stats.agreement import SYMMETRIC
from gainful.stats.stability import TOPICS
from gainful.tasks.stability import TESTS, DocumentStability, assess_documents, assess_stability

_MEASURES = ("nDCG@10",)
_DOCUMENT_DRAWS = 20


@dataclass(frozen=True)
class StabilityOptions:
    """What is asked of the scores, and how to show it."""

    shares: list[float]
    fuzziness: float
    swaps: float
    alpha: float
    documents: bool
    document_draws: int | None
    coefficient: str
    topics: str
    draws: int
    set_size: int | None
    test: str
    seed: int
    places: int

    @classmethod
    def of(cls, options: dict[str, Any]) -> StabilityOptions:
        """Takes these out of the command's options."""
        given = {field.name: options.pop(field.name) for field in fields(cls)}
        given["shares"] = read_numbers(given["shares"], "--shares")
        given |= {name: read_number(given[name], f"--{name}") for name in ("fuzziness", "swaps", "alpha")}
        return cls(**{**given, "coefficient": given["coefficient"].replace("-", "_")})


@click.command("stability")
@click.option(
    "--topics",
    type=click.Choice(TOPICS),
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
    type=click.Choice([name.replace("_", "-") for name in SYMMETRIC]),
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
    type=click.Choice(TESTS),
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
    asked = StabilityOptions.of(options)
    if asked.document_draws and not asked.documents:
        raise UsageError("--document-draws: has no meaning without --documents")
    if asked.documents and options["score_files"]:
        raise UsageError(
            "--documents: expected judgments and runs to score again, found --from",
            "scores that exist cannot be made again with fewer judgments",
        )
    if asked.documents:
        _check_rereadable(options["inputs"][1:])
    inputs = scores_from(options, _MEASURES)
    documents = _documents(inputs, asked) if asked.documents else None
    with ProgressBar("drawing queries", wanted=not inputs.quiet, in_bytes=False) as progress:
        report = assess_stability(
            inputs.matrices,
            shares=asked.shares,
            topics=asked.topics,
            draws=asked.draws,
            seed=asked.seed,
            coefficient=asked.coefficient,
            documents=documents,
            set_size=asked.set_size,
            fuzziness=asked.fuzziness,
            most_swaps=asked.swaps,
            test=asked.test,
            alpha=asked.alpha,
            threads=inputs.threads,
            progress=progress,
        )
    page = report.page(asked.places, *page_notes(inputs))
    output.write(page)
    figure.write(page)
    inputs.notices.extend(report.notices)
    inputs.print_notices()


def _check_rereadable(runs: Sequence[str]) -> None:
    for run in runs:
        if is_stream(run):
            raise UsageError(f"--documents: expected runs that can be read twice, found {run}, which is a stream")


def _documents(inputs: ScoreInputs, asked: StabilityOptions) -> Mapping[str, DocumentStability]:
    collection = inputs.collection
    if collection is None:
        raise UsageError("--documents: expected judgments and runs, found none")
    with ProgressBar("scoring with fewer judgments", wanted=not inputs.quiet, in_bytes=False) as progress:
        return assess_documents(
            collection.judged,
            collection.runs,
            parse_all(list(inputs.matrices)),
            asked.shares,
            draws=asked.document_draws or _DOCUMENT_DRAWS,
            seed=asked.seed,
            coefficient=asked.coefficient,
            threads=collection.threads,
            progress=progress,
        )
