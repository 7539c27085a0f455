"""`gainful power`: what a number of queries can show, and how many are needed."""

from __future__ import annotations

from gainful.cli.score_inputs import score_command
from gainful.tasks.score_questions import PowerOptions


@score_command("power", PowerOptions, "assess_power", default=("nDCG@10",), waiting="planning")
def command() -> None:
    """Say which difference a number of queries can detect, and how many queries a difference needs.

    For two systems by the paired t test, for several by analysis of variance and Tukey's HSD; from the scores of RUNS
    judged by QRELS, from scores that exist, or from --sd alone. There is no power of the difference that was found
    ("observed power"): it is the p in other words, and says nothing new. Ask for a difference that would matter.

    Example: gainful power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.05,0.02

    Example: gainful power --sd 0.2 --queries 50,100 --width 0.1 --figure power.pdf
    """
