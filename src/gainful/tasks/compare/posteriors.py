"""The test bayes: probabilities of worse, equivalent and better, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping

from gainful.errors import UsageError, option
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.stats.bayes import Posterior, posterior
from gainful.tasks.compare.compare_options import OF_TABLES, OF_TESTS, CompareOptions
from gainful.tasks.compare.system_pairs import asked_pairs


def posteriors_of(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> dict[str, tuple[Posterior, ...]]:
    """The posteriors of the pairs asked for, by measure."""
    how.refuse("the test bayes", *OF_TESTS, *OF_TABLES)
    if how.margin is None:
        raise UsageError(
            "margin: expected with the test bayes the difference below which systems count as equal, found none",
            f"{option('margin', 0.01)} says which differences matter: that means are exactly equal has no probability",
        )
    margin = how.margin
    return {
        name: tuple(
            posterior(
                matrix.column(a),
                matrix.column(b),
                margin,
                names=(a, b),
                measure=name,
                better=matrix.better,
                alpha=how.alpha,
                left_out=len(matrix.left_out),
                unit=matrix.unit,
            )
            for a, b in asked_pairs(matrix, how)
        )
        for name, matrix in matrices.items()
    }
