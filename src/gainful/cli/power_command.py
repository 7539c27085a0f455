"""`gainful power`: what a number of queries can show, and how many are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from gainful.cli.options import figure_from, figure_options, output_from, output_options
from gainful.cli.score_inputs import input_files, page_notes, read_numbers, score_options, scores_from
from gainful.errors import UsageError
from gainful.notation import NUMBER, read_number
from gainful.stats.power import VARIANCES
from gainful.tasks.power import assess_power

_MEASURES = ("nDCG@10",)


@dataclass(frozen=True)
class PowerOptions:
    """What is to be planned, and how to show it."""

    queries: list[int]
    differences: list[float]
    widths: list[float]
    systems: int | None
    power: float
    alpha: float
    pair: tuple[str, str] | None
    variance: str | float | None
    sd: float | None
    places: int

    @classmethod
    def of(cls, options: dict[str, Any]) -> PowerOptions:
        """Takes these out of the command's options."""
        return cls(
            queries=_whole(options.pop("queries")),
            differences=_numbers(options.pop("difference"), "--difference"),
            widths=_numbers(options.pop("width"), "--width"),
            systems=options.pop("systems"),
            power=read_number(options.pop("power"), "--power"),
            alpha=read_number(options.pop("alpha"), "--alpha"),
            pair=_pair(options.pop("pair")),
            variance=_variance(options.pop("variance")),
            sd=None if (sd := options.pop("sd")) is None else read_number(sd, "--sd"),
            places=options.pop("places"),
        )

    @property
    def needs_no_scores(self) -> bool:
        """Whether the spread of a difference is given as a number."""
        return self.sd is not None or isinstance(self.variance, float)


@click.command("power")
@click.option("--pair", metavar="SYSTEM,SYSTEM", help="Plan for these two.  [default: if there are just two]")
@click.option("--queries", metavar="N,...", help="What so many queries show.  [default: as many as there are]")
@click.option("--difference", metavar="D,...", help="How many queries a difference that would matter needs.")
@click.option("--width", metavar="W,...", help="How many queries make the interval so wide, end to end.")
@click.option(
    "--systems", type=click.IntRange(2), help="Analysis of variance of so many.  [default: as many as there are]"
)
@click.option("--power", metavar="P", default="0.8", show_default=True, help="The power wanted.")
@click.option("--alpha", metavar="A", default="0.05", show_default=True, help="The level of the test.")
@click.option(
    "--variance",
    metavar="KIND|V",
    help="Of the difference of two systems on a query: pair (of the two systems), residual (two-way, all systems), "
    "sakai2016 (one-way: larger, because the difficulty of queries counts), or a number.  [default: pair for two "
    "systems, else residual]",
)
@click.option("--sd", metavar="S", help="Without scores: the standard deviation of the difference of two systems.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@score_options(_MEASURES)
def command(**options: Any) -> None:
    """Say which difference a number of queries can show, and how many queries a difference needs.

    For two systems by the paired t test, for several by analysis of variance; from the scores of RUNS judged by QRELS,
    from scores that exist, or from --sd alone. There is no power of the difference that was found ("observed power"):
    it is the p in other words, and says nothing new. Ask for a difference that would matter.

    Example: gainful power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.05,0.02

    Example: gainful power --sd 0.2 --queries 50,100 --width 0.1 --figure power.pdf
    """
    files = input_files(options)
    output, figure = output_from(options, *files), figure_from(options, *files)
    asked = PowerOptions.of(options)
    if asked.needs_no_scores and files:
        flag = "--sd" if asked.sd is not None else "--variance"
        raise UsageError(f"{flag}: expected scores, or the spread of a difference, found both: {files[0]}")
    if asked.needs_no_scores:
        _refuse_others(options)
    elif not files:
        raise UsageError(
            "power: expected scores, or the spread of a difference, found neither",
            "gainful power QRELS RUN RUN, --from FILE, or --sd 0.2",
        )
    inputs = None if asked.needs_no_scores else scores_from(options, _MEASURES)
    report = assess_power(
        inputs and inputs.matrices,
        pair=asked.pair,
        variance=asked.variance,
        sd=asked.sd,
        queries=asked.queries,
        differences=asked.differences,
        widths=asked.widths,
        systems=asked.systems,
        power=asked.power,
        alpha=asked.alpha,
    )
    page = report.page(asked.places, *(page_notes(inputs) if inputs else ()))
    output.write(page)
    figure.write(page)
    if inputs:
        inputs.notices.extend(report.notices)
        inputs.print_notices()


def _refuse_others(options: dict[str, Any]) -> None:
    """Without scores, what says how they are read or made has no meaning, and is not ignored."""
    for name, value in options.items():
        if name not in ("quiet", "threads") and value not in (None, (), "", False):
            flag = {"measures": "measure", "names": "name"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag}: has no meaning with --sd or a number of --variance, where no scores are read")


def _numbers(text: str | None, option: str) -> list[float]:
    return [] if text is None else read_numbers(text, option)


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise UsageError(f"--pair: expected two systems like bm25,dense, found '{text}'")
    return parts[0], parts[1]


def _whole(text: str | None) -> list[int]:
    numbers = _numbers(text, "--queries")
    if any(number != int(number) for number in numbers):
        raise UsageError(f"--queries: expected whole numbers, found '{text}'")
    return [int(number) for number in numbers]


def _variance(text: str | None) -> str | float | None:
    if text is None or text in VARIANCES:
        return text
    if not NUMBER.fullmatch(text.strip()):
        raise UsageError(f"--variance: expected {' | '.join(VARIANCES)} or a number, found '{text}'")
    return read_number(text, "--variance")
