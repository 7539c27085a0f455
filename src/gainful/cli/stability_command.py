"""`gainful stability`: whether the ranking of systems holds on other queries or documents."""

from __future__ import annotations

from gainful.cli.score_inputs import score_command
from gainful.tasks.score_questions import StabilityOptions


@score_command("stability", StabilityOptions, "assess_stability", default=("nDCG@10",), waiting="drawing queries")
def command() -> None:
    """Test whether the ranking of systems holds on other queries or with fewer judged documents.

    Systems are RUNS judged by QRELS, or come with existing scores (--from). Rankings of subsets are compared with the
    full ranking (part-whole, which is inflated) and with each other (split-half). Also reported: how often two systems
    swap, the difference needed for few swaps, and how many pairs differ significantly.

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m RR

    Example: gainful stability qrels.txt bm25.run dense.run hybrid.run -m ADM --documents --topics first
    """
