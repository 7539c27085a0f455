"""`gainful agree`: how far measures put the same systems into the same order."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, fields
from typing import Any

import click

from gainful.cli.options import figure_from, figure_options, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import input_files, page_notes, score_options, scores_from
from gainful.errors import UsageError
from gainful.measures.catalog import parse
from gainful.notation import read_number
from gainful.stats.agreement import COEFFICIENTS
from gainful.tasks.agree import assess_agreement

_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


@dataclass(frozen=True)
class AgreeOptions:
    """What is asked of the scores, and how to show it."""

    coefficients: tuple[str, ...]
    scatters: tuple[tuple[str, str], ...]
    persistence: float
    draws: int
    seed: int
    places: int

    @classmethod
    def of(cls, options: dict[str, Any]) -> AgreeOptions:
        """Takes these out of the command's options."""
        given = {field.name: options.pop(field.name) for field in fields(cls)}
        names = tuple(name.replace("-", "_") for name in given["coefficients"])
        persistence = read_number(given["persistence"], "--persistence")
        return cls(**{**given, "coefficients": names or ("tau_b",), "persistence": persistence})


@click.command("agree")
@click.option(
    "--coefficient",
    "coefficients",
    type=click.Choice([name.replace("_", "-") for name in COEFFICIENTS]),
    multiple=True,
    help="Shown as a matrix and a heat map, the first in sentences, too; may be repeated.  [default: tau-b]",
)
@click.option(
    "--scatter",
    "scatters",
    nargs=2,
    multiple=True,
    metavar="MEASURE MEASURE",
    help="Draw the means by these two against each other; may be repeated.  [default: the least agreeing two]",
)
@click.option(
    "--persistence", metavar="P", default="0.9", show_default=True, help="How far down RBO looks, between 0 and 1."
)
@click.option(
    "--draws", type=click.IntRange(0), default=1000, show_default=True, help="Resamples for the intervals, 0 for none."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other resamples.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@score_options(_MEASURES)
def command(**options: Any) -> None:
    """Say how far measures agree on the order of systems, of RUNS judged by QRELS or of scores that exist.

    Kendall's tau-b, AP correlation both ways and with ties, rank-biased overlap beside its chance level, and Pearson's
    correlation of the means, with intervals from resampled queries; which systems swap, and by how much.

    Example: gainful agree qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP -m RR

    Example: gainful agree --from ap.csv --from ndcg.csv --coefficient tau-ap-b --figure scatter.pdf
    """
    files = input_files(options)
    output, figure = output_from(options, *files), figure_from(options, *files)
    asked = AgreeOptions.of(options)
    inputs = scores_from(options, _MEASURES)
    with ProgressBar("comparing measures", wanted=not inputs.quiet, in_bytes=False) as progress:
        report = assess_agreement(
            inputs.matrices,
            coefficients=asked.coefficients,
            scatters=[_named(pair, inputs.matrices) for pair in asked.scatters],
            persistence=asked.persistence,
            draws=asked.draws,
            seed=asked.seed,
            progress=progress,
        )
    page = report.page(asked.places, *page_notes(inputs))
    output.write(page)
    figure.write(page)
    inputs.notices.extend(report.notices)
    inputs.print_notices()


def _named(pair: tuple[str, str], known: Container[str]) -> tuple[str, str]:
    """Two measures as they are called here: as they stand, or as the catalogue writes them."""

    def name(text: str) -> str:
        if text in known:
            return text
        try:
            return str(parse(text))
        except UsageError:
            return text

    return name(pair[0]), name(pair[1])
