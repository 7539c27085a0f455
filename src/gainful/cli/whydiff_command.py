"""`gainful whydiff`: the conventions that explain a reported score."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import Output, measure_setting
from gainful.frozen import dataclass
from gainful.question import setting
from gainful.tasks.run_questions import ConventionOptions


@dataclass(frozen=True, kw_only=True)
class _Reported:
    mine: str | None = setting(None, "Your number.", metavar="X")
    theirs: str | None = setting(None, "The other reported number.", metavar="X")
    measure: str = measure_setting("nDCG@10")


@help_groups.command("whydiff")
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@takes(reported=_Reported)
@flags_of(ConventionOptions)
@takes(output=Output, reading=CollectionOptions)
def command(
    qrels: str, run: str, reported: _Reported, output: Output, reading: CollectionOptions, **params: Any
) -> int:
    """Find the conventions with which RUN, judged by QRELS, gets the reported numbers.

    The search starts from the measure and policy given and varies gains, discounts, ideal lists, tie-breaking etc.
    Numbers match at the precision given: 0.785 matches whatever rounds to it. Results are listed by number of changed
    conventions; a known tool's conventions count as one change. Numbers outside a measure's range, such as 46.4 for a
    measure that ends at 1, are also tried as percentages.

    The exit code is 1 if a number cannot be reproduced.

    Example: gainful whydiff qrels.txt bm25.run --mine 0.961 --theirs 0.785 -m nDCG@6
    """
    from gainful.tasks.whydiff import find_conventions

    numbers = {"mine": reported.mine, "theirs": reported.theirs}
    with output.waiting("trying conventions", in_bytes=False):
        judgments = reading.inputs.read_qrels(qrels, scale=reading.scale, threads=reading.threads)
        figures = {name: text for name, text in numbers.items() if text is not None}
        asked = {**given(ConventionOptions, params), "policy": reading.policy, "threads": reading.threads}
        findings = find_conventions(judgments, reading.inputs.single_run(run), figures, reported.measure, **asked)
    output.show(findings)
    return 0 if findings.reproduced else 1
