"""`gainful compare`: is the difference real?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.options import figure_from, figure_options, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreInputs, input_files, score_options, scores_from
from gainful.errors import UsageError
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.tasks.compare import Comparison

#: The measure that is compared by if none is named.
DEFAULT = ("nDCG@10",)

_TESTS = ("randomisation", "t", "wilcoxon", "sign", "bootstrap")
_INTERVALS = ("randomisation", "t", "percentile", "bca", "bootstrap-t")
_PROCEDURES = ("maxt", "tukey", "rthsd", "friedman", "anova")
_CORRECTIONS = ("maxt", "holm", "bh", "by", "bonferroni", "none")
_CHARTS = ("differences", "leaderboard", "critical", "p")


@click.command("compare")
@click.option("--baseline", metavar="SYSTEM", help="What others are compared with.  [default: of two, the first]")
@click.option(
    "--test",
    type=click.Choice(_TESTS),
    help="The test of a pair.  [default: randomisation; beyond 5,000 queries of two systems t]",
)
@click.option("--interval", type=click.Choice(_INTERVALS), help="Two systems: the interval.  [default: the test's own]")
@click.option("--margin", metavar="D", help="Two systems: differences below D count as equal; makes a verdict of it.")
@click.option(
    "--procedure",
    type=click.Choice(_PROCEDURES),
    help="Several systems: step-down maxT, Tukey HSD, randomised Tukey HSD, Friedman with Nemenyi and Conover, or "
    "two-way ANOVA.  [default: maxt]",
)
@click.option(
    "--correction",
    type=click.Choice(_CORRECTIONS),
    help="Several systems: the correction for their number.  [default: maxt, of other tests holm]",
)
@click.option("--family", type=click.Choice(["each", "all"]), default="each", help="all: one family of all measures.")
@click.option("--alpha", metavar="P", default="0.05", help="The level.  [default: 0.05]")
@click.option(
    "--draws",
    type=click.IntRange(1),
    help="Flips, samples or permutations.  [default: 100,000 for two systems, 10,000 for several or a bootstrap]",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Another seed, other draws.  [default: 0]")
@click.option("--pairs", multiple=True, metavar="A,B", help="Several systems: print this pair; may be repeated.")
@click.option("--all", "all_pairs", is_flag=True, help="Several systems: print every pair.")
@click.option(
    "--groups", multiple=True, metavar="NAME=A,B,...", help="Groups of systems to compare; or a FILE of such lines."
)
@click.option("--papers", is_flag=True, help="The papers' table: measures by systems, who beats whom by Friedman.")
@click.option("--chart", "charts", multiple=True, type=click.Choice(_CHARTS), help="What to draw; may be repeated.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@score_options(DEFAULT)
def command(**options: Any) -> None:
    """Ask whether systems differ: RUNS judged by QRELS, or scores --from files.

    Two systems: the second is compared with the first, in one sentence and then in numbers. More: all pairs, or each
    with --baseline, corrected for their number.

    Example: gainful compare qrels.txt bm25.run dense.run

    Example: gainful compare qrels.txt *.run -m nDCG@10 -m AP --baseline bm25 --format latex

    Example: gainful compare --from scores.csv --rows systems --figure leaderboard.pdf
    """
    files = input_files(options)
    output, figure = output_from(options, *files), figure_from(options, *files)
    asked = _asked(options)
    inputs = scores_from(options, DEFAULT)
    found = _compared(inputs, asked)
    output.write(found)
    figure.write(found)
    inputs.print_notices()


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """What to do with the scores, checked as far as it can be before they are read."""
    names = ("baseline", "test", "interval", "procedure", "correction", "family", "draws", "seed", "papers", "places")
    asked: dict[str, Any] = {name: options.pop(name) for name in names}
    margin = options.pop("margin")
    asked["margin"] = None if margin is None else read_number(margin, "--margin")
    asked["alpha"] = read_number(options.pop("alpha"), "--alpha")
    pairs, all_pairs = options.pop("pairs"), options.pop("all_pairs")
    asked["pairs"] = None if all_pairs else tuple(_pair(text) for text in pairs)
    asked["chart"] = options.pop("charts") or None
    asked["groups"] = options.pop("groups")
    return asked


def _pair(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise UsageError(f"--pairs: expected two systems like bm25,dense, found '{text}'")
    return parts[0], parts[1]


def _compared(inputs: ScoreInputs, asked: dict[str, Any]) -> Comparison:
    from dataclasses import replace

    from gainful.stats.procedures import read_groups
    from gainful.tasks.compare import compare

    systems = next(iter(inputs.matrices.values())).systems
    texts = asked.pop("groups")
    groups = read_groups(_group_lines(texts), systems) if texts else None
    with ProgressBar("flipping signs", wanted=not inputs.quiet, in_bytes=False) as progress:
        progress.total = (asked["draws"] or 10_000) * (len(inputs.matrices) if asked["family"] == "each" else 1)
        found = compare(inputs.matrices, **asked, groups=groups, threads=inputs.threads, progress=progress)
    return replace(found, signatures=_signatures(inputs))


def _group_lines(texts: Sequence[str]) -> list[str]:
    """The groups named, and those in files: a line each, ``#`` begins a comment."""
    from gainful.io.sources import open_source

    lines: list[str] = []
    for text in texts:
        if "=" not in text or os.path.isfile(text):
            content = bytes(open_source(text).data).decode("utf-8", "surrogateescape")
            lines += [line.strip() for line in content.splitlines() if line.strip() and not line.startswith("#")]
        else:
            lines.append(text)
    return lines


def _signatures(inputs: ScoreInputs) -> tuple[str, ...]:
    if not inputs.evaluations:
        return ()
    first = next(iter(inputs.evaluations.values()))
    return (first.signature().short(),)
