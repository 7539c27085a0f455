"""`gainful power`: what a number of queries can show, and how many are needed."""

from __future__ import annotations

from gainful.cli import help_groups, options
from gainful.cli.score_inputs import OF_RUNS, OF_SCORES, ScoreOptions, read_numbers, read_pair, refuse, takes_scores
from gainful.errors import UsageError
from gainful.notation import NUMBER, read_number
from gainful.stats.catalogues import VARIANCES

_MEASURES = ("nDCG@10",)


def _whole(text: str, option: str) -> list[int]:
    numbers = read_numbers(text, option)
    if any(number != int(number) for number in numbers):
        raise UsageError(f"{option}: expected whole numbers, found '{text}'")
    return [int(number) for number in numbers]


def _variance(text: str, option: str) -> str | float:
    if text in VARIANCES:
        return text
    if not NUMBER.fullmatch(text.strip()):
        raise UsageError(f"{option}: expected {' | '.join(VARIANCES)} or a number, found '{text}'")
    return read_number(text, option)


@help_groups.command("power")
@options.read_option("--pair", "Plan for these two.  [default: if there are just two]", "SYSTEM,SYSTEM", read_pair)
@options.read_option("--queries", "What so many queries show.  [default: as many as there are]", "N,...", _whole)
@options.read_option("--difference", "How many queries a difference that would matter needs.", "D,...", read_numbers)
@options.read_option("--width", "How many queries make the interval so wide, end to end.", "W,...", read_numbers)
@options.whole_option("--systems", 2, "Analysis of variance and Tukey HSD of so many.  [default: as many as there are]")
@options.number_option("--power", "The power wanted.", "P", "0.8")
@options.number_option("--alpha", "The level of the test.", "A", "0.05")
@options.read_option(
    "--variance",
    "Of the difference of two systems on a query: pair (of the two systems), residual (two-way, all systems), "
    "sakai2016 (one-way: larger, because the difficulty of queries counts), or a number.  [default: pair for two "
    "systems, else residual]",
    "KIND|V",
    _variance,
)
@options.number_option("--sd", "Without scores: the standard deviation of the difference of two systems.", "S")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_scores(_MEASURES)
def command(
    pair: tuple[str, str] | None,
    queries: list[int] | None,
    difference: list[float] | None,
    width: list[float] | None,
    systems: int | None,
    power: float,
    alpha: float,
    variance: str | float | None,
    sd: float | None,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    scores: ScoreOptions,
) -> None:
    """Say which difference a number of queries can detect, and how many queries a difference needs.

    For two systems by the paired t test, for several by analysis of variance and Tukey's HSD; from the scores of RUNS
    judged by QRELS, from scores that exist, or from --sd alone. There is no power of the difference that was found
    ("observed power"): it is the p in other words, and says nothing new. Ask for a difference that would matter.

    Example: gainful power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.05,0.02

    Example: gainful power --sd 0.2 --queries 50,100 --width 0.1 --figure power.pdf
    """
    inputs = None
    if sd is not None or isinstance(variance, float):
        if scores.files:
            flag = "--sd" if sd is not None else "--variance"
            raise UsageError(f"{flag}: expected scores, or the spread of a difference, found both: {scores.files[0]}")
        why = "has no meaning with --sd or a number of --variance, where no scores are read"
        refuse((*OF_RUNS, *OF_SCORES, "measures"), why)
    elif scores.files:
        inputs = scores.found()
    else:
        raise UsageError(
            "power: expected scores, or the spread of a difference, found neither",
            "gainful power QRELS RUN RUN, --from FILE, or --sd 0.2",
        )
    from gainful.tasks.power import assess_power

    report = assess_power(
        inputs and inputs.matrices,
        pair=pair,
        variance=variance,
        sd=sd,
        queries=queries or [],
        differences=difference or [],
        widths=width or [],
        systems=systems,
        power=power,
        alpha=alpha,
    )
    if inputs:
        inputs.show(report, places, output, figure)
        return
    page = report.page(places)
    output.write(page)
    figure.write(page)
