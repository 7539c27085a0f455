"""Table of means with significant differences by Friedman's test, as in Järvelin and Kekäläinen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from gainful import Evaluation, ScoreMatrix, UsageError
from gainful.evaluation.score_matrix import aligned
from gainful.notation import plural_of
from gainful.pages.page import Column, Table, head
from gainful.render import Page, Showable
from gainful.stats.anova import TwoWayAnova, two_way
from gainful.stats.rank_tests import Friedman, conover, friedman
from gainful.stats.stability import Leads
from gainful.tasks.compare.compare_words import p_words, units_text
from gainful_papers.claims import Bools, Floats

TEST = "Friedman test (F form, mean ranks for ties); if significant, Conover's pairwise tests without correction"
STARS = "stars: one for p < 0.05, two for p < 0.01; rank sums decide which system is better"
_LEVELS, _STARS = (0.01, 0.05), ("**", "*")


def protected(found: Friedman, p: Floats, alpha: float) -> Bools:
    """Return the pairs that differ as in the papers: ``p`` and that of the overall test are below ``alpha``."""
    return np.asarray((p < alpha) & (found.p < alpha))


def leads_by_ranks(found: Friedman, alpha: float = 0.05) -> Leads:
    """Apply Conover's comparisons, uncorrected, if Friedman's test is significant, as in the papers."""
    comparisons = conover(found)
    return Leads(protected(found, comparisons.p, alpha), comparisons.difference > 0)


def also_in(one: Leads, other: Leads) -> Bools:
    """Return the pairs that differ significantly in both, with the same system ahead."""
    return np.asarray(one.shown & other.shown & (one.first_leads == other.first_leads))


def stars_text(found: Friedman, names: Sequence[str]) -> str:
    """Format significant pairs as in Table 2 of Järvelin and Kekäläinen (2002): ``D,E > A**``; empty if none.

    Conover's comparisons are used without correction, and only at levels that the overall test reaches. Rank sums
    decide which system is better; means may differ. Winners over the same loser with the same stars are joined.

    >>> scores = np.array([[0.1, 0.2, 0.3]] * 6)
    >>> stars_text(friedman(scores), ["A", "B", "C"])
    'B,C > A**; C > B**'
    """
    comparisons = conover(found)
    first, second = np.triu_indices(len(names), 1)
    winners: dict[tuple[int, int], list[int]] = {}
    marked = np.zeros(comparisons.p.size, bool)
    for level, alpha in enumerate(_LEVELS):
        for pair in np.flatnonzero(protected(found, comparisons.p, alpha) & ~marked).tolist():
            marked[pair] = True
            i, j = int(first[pair]), int(second[pair])
            winner, loser = (i, j) if comparisons.difference[pair] > 0 else (j, i)
            winners.setdefault((loser, level), []).append(winner)
    return "; ".join(
        f"{','.join(names[winner] for winner in sorted(winners[loser, level]))} > {names[loser]}{_STARS[level]}"
        for loser, level in sorted(winners)
    )


@dataclass(frozen=True, eq=False)
class FriedmanRow:
    """Results of a measure: means, Friedman's test, significant pairs as text, and the analysis of variance."""

    measure: str
    systems: tuple[str, ...]
    queries: int
    means: Floats
    friedman: Friedman
    verdict: str
    anova: TwoWayAnova
    left_out: int = 0

    @property
    def friedman_p(self) -> float | None:
        """P of Friedman's F; None if there is nothing to test."""
        return None if self.friedman.f is None else self.friedman.p


@dataclass(frozen=True, eq=False, repr=False)
class FriedmanTable(Showable):
    """Result of :func:`friedman_table`, one row per measure."""

    rows: tuple[FriedmanRow, ...]
    unit: str = "query"
    places: int = 4
    signatures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        measures = ", ".join(row.measure for row in self.rows)
        return f"<FriedmanTable of {len(self.rows[0].systems)} systems by {measures}>"

    def tables(self) -> tuple[Table, Table]:
        """Return the means with significant pairs, and the overall tests."""
        first, units = self.rows[0], plural_of(self.unit)
        is_even = len({row.queries for row in self.rows}) == 1
        means = Table(
            (
                *head("measure" if is_even else f"measure | {units} #"),
                *(Column(system, "number", self.places) for system in first.systems),
                *head("statistical significance", none=""),
            ),
            tuple(
                (row.measure, *(() if is_even else (row.queries,)), *map(float, row.means), row.verdict or "none")
                for row in self.rows
            ),
            f"Means over {units_text(first.queries, first.left_out, self.unit) if is_even else units}",
            (TEST, STARS, "none: no pair differs significantly, which does not show equality"),
        )
        rows = []
        for row in self.rows:
            fs = row.friedman.f, row.anova.systems.f, row.anova.one_way.f
            ps = row.friedman_p, row.anova.systems.p, row.anova.one_way.p
            words = (None if p is None else p_words(p) for p in ps)
            rows.append((row.measure, *chain(*zip(fs, words, strict=True)), *ps))
        tests = (
            *head("measure | Friedman F . | p | two-way ANOVA F . | two-way p | one-way ANOVA F . | one-way p"),
            *head("Friedman p value . | two-way p value . | one-way p value .", for_machines=True),
        )
        return means, Table(tests, tuple(rows), "Overall tests")

    def page(self) -> Page:
        header: dict[str, object] = {
            "systems": list(self.rows[0].systems),
            "measures": [row.measure for row in self.rows],
            "queries": self.rows[0].queries,
            "queries_left_out": {row.measure: row.left_out for row in self.rows},
        }
        note = "p depends on the set of systems compared; for pairs that do not, use gainful compare"
        return Page("papers", self.tables(), (note, *self.signatures), header)


def friedman_rows(matrices: Mapping[str, ScoreMatrix]) -> tuple[FriedmanRow, ...]:
    """Return one row per measure, with Conover's comparisons protected by Friedman's test in its F form.

    >>> [row] = friedman_rows({"RR": ScoreMatrix.of("RR", {"A": [0.1] * 6, "B": [0.2] * 6, "C": [0.3] * 6})})
    >>> row.verdict
    'B,C > A**; C > B**'
    """
    rows = []
    for measure, matrix in matrices.items():
        overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
        verdict, anova = stars_text(overall, matrix.systems), two_way(matrix.values)
        queries, left_out = len(matrix.queries), len(matrix.left_out)
        rows.append(FriedmanRow(measure, matrix.systems, queries, matrix.means, overall, verdict, anova, left_out))
    return tuple(rows)


def friedman_table(
    scores: Mapping[str, Evaluation] | Mapping[str, ScoreMatrix], *, places: int = 4, signatures: tuple[str, ...] = ()
) -> FriedmanTable:
    """Compute means, Friedman's test with Conover's comparisons, and analyses of variance, over common queries.

    ``scores`` are results of :func:`gainful.evaluate` for two or more runs, or one matrix per measure.

    >>> import gainful
    >>> qrels = {f"q{i}": {"a": 1} for i in range(6)}
    >>> runs = {"good": {q: ["a", "b"] for q in qrels}, "bad": {q: ["b", "a"] for q in qrels}}
    >>> friedman_table(gainful.evaluate(qrels, runs, "RR")).rows[0].verdict
    'good > bad*'
    """
    matrices = {name: each for name, each in scores.items() if isinstance(each, ScoreMatrix)}
    evaluations = {name: each for name, each in scores.items() if isinstance(each, Evaluation)}
    if evaluations:
        first = next(iter(evaluations.values()))
        signatures = signatures or (first.signature().note(),)
        matrices = {str(measure): ScoreMatrix.from_evaluations(evaluations, measure) for measure in first.measures}
    if len(next(iter(matrices.values())).systems) < 2:
        raise UsageError("table: expected two or more systems, found one")
    matrices = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    return FriedmanTable(friedman_rows(matrices), next(iter(matrices.values())).unit, places, signatures)
