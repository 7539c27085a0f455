"""`gainful compare`: is the difference real?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from gainful.cli import help_groups, options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, read_pair, takes_scores
from gainful.io.sources import open_source
from gainful.notation import text_of_id
from gainful.stats.catalogues import ASKED_AS_TESTS, CORRECTIONS, INTERVALS, PROCEDURES
from gainful.tasks.compare.compare_options import CHARTS, DEFAULT_MEASURES, MARKS, ORDERS, TABLES, CompareOptions


def _titles(catalogue: Mapping[str, Any]) -> str:
    """All members of a catalogue as a list for people."""
    *first, last = (member.title for member in catalogue.values())
    return f"{', '.join(first)}, or {last}"


def _asked(given: dict[str, Any]) -> CompareOptions:
    """What to do with the scores, checked as far as it can be before they are read."""
    pairs = tuple(read_pair(text, "--pairs") for text in given.pop("pairs"))
    given |= {"pairs": None if given.pop("all_pairs") else pairs, "chart": given.pop("charts")}
    return options.made_of(CompareOptions, groups=None, arrival=None, threads=None)(given)


@help_groups.command("compare")
@click.option("--baseline", metavar="SYSTEM", help="What others are compared with.  [default: of two, the first]")
@click.option(
    "--test",
    type=click.Choice(list(ASKED_AS_TESTS)),
    help=f"The test of a pair: {_titles(ASKED_AS_TESTS)}.  "
    "[default: randomisation; beyond 5,000 queries of two systems t]",
)
@click.option(
    "--interval",
    type=click.Choice(list(INTERVALS)),
    help=f"Two systems: the interval: {_titles(INTERVALS)}.  [default: the test's own]",
)
@options.number_option(
    "--margin", "Differences below D count as equal: verdicts are superior, equivalent and so on.", "D"
)
@click.option(
    "--procedure",
    type=click.Choice(list(PROCEDURES)),
    help=f"Several systems: {_titles(PROCEDURES)}.  [default: maxt]",
)
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help=f"Several systems: the correction for their number: {_titles(CORRECTIONS)}.  "
    "[default: maxt, of other tests holm]",
)
@click.option("--family", type=click.Choice(["each", "all"]), default="each", help="all: one family of all measures.")
@options.number_option("--alpha", "The level.", "P", "0.05")
@click.option(
    "--draws",
    type=click.IntRange(1),
    help="Flips, samples or permutations.  [default: 100,000 flips, 10,000 samples or permutations]",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Another seed, other draws.  [default: 0]")
@click.option("--pairs", multiple=True, metavar="A,B", help="Several systems: print this pair; may be repeated.")
@click.option("--all", "all_pairs", is_flag=True, help="Several systems: print every pair.")
@click.option(
    "--groups",
    type=options.INPUT,
    multiple=True,
    metavar="NAME=A,B,...",
    help="Groups of systems to compare; or a FILE of such lines.",
)
@click.option(
    "--contrast",
    "contrasts",
    multiple=True,
    metavar="'A = mean(B, C)'",
    help="Several systems: compare A with the mean of B and C instead of all pairs; may be repeated.",
)
@click.option("--papers", is_flag=True, help="The papers' table: measures by systems, who beats whom by Friedman.")
@click.option(
    "--sequential",
    is_flag=True,
    help="Look after every query: intervals that hold however often one looks; of bounded measures.",
)
@click.option(
    "--arrival",
    type=options.INPUT,
    metavar="FILE",
    help="--sequential: the order of queries, a line each that begins with its id, such as QRELS.  [default: of ids]",
)
@click.option("--chart", "charts", multiple=True, type=click.Choice(CHARTS), help="What to draw; may be repeated.")
@click.option("--only", type=click.Choice(TABLES), help="Print this table and nothing else.")
@click.option(
    "--marks",
    type=click.Choice(MARKS),
    help="Beside means: letters that systems share, daggers for better or worse than --baseline, or the systems "
    "beaten.  [default: daggers with --baseline, else letters]",
)
@click.option(
    "--sort", type=click.Choice(ORDERS), default="best", help="Rows: best first, or as given.  [default: best]"
)
@click.option("--most", type=click.IntRange(1), help="Two systems: how many queries for each.  [default: 5]")
@options.detail_option("Two systems: effect sizes, H0 and a chart, too.")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@options.takes(asked=_asked)
@takes_scores(DEFAULT_MEASURES)
def command(
    groups: tuple[str, ...],
    arrival: str | None,
    output: options.Output,
    figure: options.FigureOutput,
    asked: CompareOptions,
    scores: ScoreOptions,
) -> None:
    """Ask whether systems differ: RUNS judged by QRELS, or scores --from files.

    Two systems: the second is compared with the first, in one sentence and then in numbers. More: all pairs, or each
    with --baseline, corrected for their number.

    Example: gainful compare qrels.txt bm25.run dense.run

    Example: gainful compare qrels.txt *.run -m nDCG@10 -m AP --baseline bm25 --format latex

    Example: gainful compare --from scores.csv --rows systems --figure leaderboard.pdf
    """
    inputs = scores.found()
    from gainful.stats.flips import FLIPS
    from gainful.tasks.compare.comparison import compare_matrices
    from gainful.tasks.compare.system_groups import read_groups

    if groups:
        systems = next(iter(inputs.matrices.values())).systems
        asked = replace(asked, groups=read_groups(_group_lines(groups), systems))
    if arrival is not None:
        asked = replace(asked, arrival=_first_fields(arrival))
    with ProgressBar("flipping signs", wanted=not inputs.quiet, in_bytes=False) as progress:
        progress.total = (asked.draws or FLIPS) * (len(inputs.matrices) if asked.family == "each" else 1)
        found = compare_matrices(inputs.matrices, replace(asked, threads=inputs.threads), progress)
    found = replace(found, signatures=inputs.page_notes()[0])
    output.write(found)
    figure.write(found)
    inputs.print_notices()


def _first_fields(path: str) -> list[str]:
    """The ids with which the lines of a file begin."""
    lines = bytes(open_source(path).data).splitlines()
    return [text_of_id(line.replace(b",", b" ").split(None, 1)[0]) for line in lines if line.strip(b" \t,")]


def _group_lines(texts: Sequence[str]) -> list[str]:
    """The groups named, and those in files: a line each, ``#`` begins a comment."""
    lines: list[str] = []
    for text in texts:
        if "=" not in text or os.path.isfile(text):
            content = bytes(open_source(text).data).decode("utf-8", "surrogateescape")
            lines += [line.strip() for line in content.splitlines() if line.strip() and not line.startswith("#")]
        else:
            lines.append(text)
    return lines
