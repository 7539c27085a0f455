"""The tables of Järvelin and Kekäläinen (2000, 2002): means of systems, and who beats whom after Friedman's test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gainful.arrays import Floats
from gainful.stats.anova import OneWayAnova, TwoWayAnova, one_way, two_way
from gainful.stats.friedman import Friedman, friedman, stars_text
from gainful.stats.scores import ScoreMatrix


@dataclass(frozen=True, eq=False)
class PaperRow:
    """A measure: the systems' means, Friedman's test, who beats whom as text, and both analyses of variance beside."""

    measure: str
    systems: tuple[str, ...]
    queries: int
    means: Floats
    friedman: Friedman
    verdict: str
    one_way: OneWayAnova
    two_way: TwoWayAnova

    @property
    def friedman_p(self) -> float | None:
        """That of Friedman's F; None where there is nothing to test, as of the analyses of variance."""
        return None if self.friedman.f is None else self.friedman.p


def paper_rows(matrices: Mapping[str, ScoreMatrix]) -> tuple[PaperRow, ...]:
    """One row a measure. Comparisons are Conover's without correction, protected by Friedman's test in its F form.

    >>> [row] = paper_rows({"RR": ScoreMatrix.of("RR", {"A": [0.1] * 6, "B": [0.2] * 6, "C": [0.3] * 6})})
    >>> row.verdict
    'B,C > A**; C > B**'
    """
    rows = []
    for measure, matrix in matrices.items():
        overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
        rows.append(
            PaperRow(
                measure,
                matrix.systems,
                len(matrix.queries),
                matrix.means,
                overall,
                stars_text(overall, matrix.systems),
                one_way(matrix.values),
                two_way(matrix.values),
            )
        )
    return tuple(rows)
