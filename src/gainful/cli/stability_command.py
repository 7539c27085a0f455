"""`gainful stability`: whether the order of systems would be the same on other queries or documents."""

from __future__ import annotations

from gainful.cli.score_inputs import score_command
from gainful.tasks.score_questions import StabilityOptions


@score_command("stability", StabilityOptions, "assess_stability", default=("nDCG@10",), waiting="drawing queries")
def command() -> None:
    """Ask whether the order of systems would be the same on other queries, or with fewer judged documents.

    Systems are RUNS judged by QRELS, or come with scores that exist. The order is made again on subsets, against the
    whole (part-whole, which is inflated) and against another subset (split-half); then how often two systems swap, the
    difference needed for few swaps, and how many pairs a test finds significantly different.

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m RR

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m ADM --documents --topics first
    """
