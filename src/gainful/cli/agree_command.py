"""`gainful agree`: how closely measures agree on the order of systems."""

from __future__ import annotations

from gainful.cli.score_inputs import score_command
from gainful.tasks.score_questions import AgreeOptions

_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


@score_command("agree", AgreeOptions, "assess_agreement", default=_MEASURES, waiting="comparing measures")
def command() -> None:
    """Measure how closely measures agree on the order of systems.

    Systems are RUNS judged by QRELS, or come with existing scores (--from). Reports Kendall's tau-b and tau-a, AP
    correlation (both directions and with ties), rank-biased overlap with its chance level, and Pearson's correlation of
    the means, with intervals or standard errors from resampled queries; then which systems swap, and by how much.

    Example: gainful agree qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP -m RR

    Example: gainful agree --from ap.csv --from ndcg.csv --coefficient tau-ap-b --figure scatter.pdf
    """
