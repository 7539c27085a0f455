"""`gainful power`: detectable differences, and queries needed."""

from __future__ import annotations

from gainful.cli.score_inputs import score_command
from gainful.tasks.score_questions import PowerOptions


@score_command("power", PowerOptions, "assess_power", default=("nDCG@10",), waiting="planning")
def command() -> None:
    """Estimate the differences that a number of queries can detect, and the queries that a difference needs.

    Two systems: paired t test. Several: analysis of variance and Tukey's HSD. Variances come from the scores of RUNS
    judged by QRELS, from existing scores (--from), or from --sd alone. The power of the observed difference ("observed
    power") is not offered: it only restates p. Choose a difference that would matter.

    Example: gainful power qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.05,0.02

    Example: gainful power --sd 0.2 --queries 50,100 --width 0.1 --figure power.pdf
    """
