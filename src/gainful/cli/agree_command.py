"""`gainful agree`: how far measures put the same systems into the same order."""

from __future__ import annotations

from collections.abc import Container

import click

from gainful.cli import help_groups, options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, takes_scores
from gainful.errors import UsageError
from gainful.measures.catalog import parse
from gainful.stats.catalogues import COEFFICIENTS

_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


@help_groups.command("agree")
@options.choice_option(
    "--coefficient",
    [name.replace("_", "-") for name in COEFFICIENTS],
    "Shown as a matrix and a heat map, the first in sentences, too; may be repeated.  [default: tau-b]",
    multiple=True,
    name="coefficients",
)
@click.option(
    "--scatter",
    "scatters",
    nargs=2,
    multiple=True,
    metavar="MEASURE MEASURE",
    help="Draw the means by these two against each other; may be repeated.  [default: the least agreeing two]",
)
@options.number_option("--persistence", "How far down RBO looks, between 0 and 1.", "P", "0.9")
@options.whole_option("--draws", 0, "Resamples for the intervals, 0 for none.", default=1000)
@options.whole_option("--seed", 0, "Another seed, other resamples.", default=0)
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_scores(_MEASURES)
def command(
    coefficients: tuple[str, ...],
    scatters: tuple[tuple[str, str], ...],
    persistence: float,
    draws: int,
    seed: int,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    scores: ScoreOptions,
) -> None:
    """Say how far measures agree on the order of systems, of RUNS judged by QRELS or of scores that exist.

    Kendall's tau-b and tau-a, AP correlation both ways and with ties, rank-biased overlap beside its chance level, and
    Pearson's correlation of the means, with intervals or standard errors from resampled queries; which systems swap,
    and by how much.

    Example: gainful agree qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP -m RR

    Example: gainful agree --from ap.csv --from ndcg.csv --coefficient tau-ap-b --figure scatter.pdf
    """
    inputs = scores.found()
    from gainful.tasks.agree import assess_agreement

    with ProgressBar("comparing measures", wanted=not inputs.quiet, in_bytes=False) as progress:
        report = assess_agreement(
            inputs.matrices,
            coefficients=[name.replace("-", "_") for name in coefficients] or ["tau_b"],
            scatters=[_named(pair, inputs.matrices) for pair in scatters],
            persistence=persistence,
            draws=draws,
            seed=seed,
            progress=progress,
        )
    inputs.show(report, places, output, figure)


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
