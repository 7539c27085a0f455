"""Pairs watched query by query: intervals that hold after every one, however often one looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.errors import InputError, UsageError, option
from gainful.evaluation.score_matrix import ScoreMatrix, bounds_of
from gainful.notation import printable
from gainful.stats.sequential import ConfidenceSequence, confidence_sequence
from gainful.tasks.compare.compare_options import OF_TABLES, OF_TESTS, CompareOptions
from gainful.tasks.compare.system_pairs import asked_pairs

#: So many pairs are watched at once.
MOST_IN_SEQUENCE = 100


def sequences_of(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> dict[str, tuple[ConfidenceSequence, ...]]:
    """The confidence sequences of the pairs asked for, by measure."""
    how.refuse("sequential", "test", "margin", *OF_TESTS, *OF_TABLES)
    found = {}
    for name, matrix in matrices.items():
        bounds, rows, pairs = bounds_of(matrix), _in_order(matrix, how.arrival), asked_pairs(matrix, how)
        if len(pairs) > MOST_IN_SEQUENCE:
            raise UsageError(
                f"sequential: expected at most {MOST_IN_SEQUENCE} pairs, found {len(pairs):,}",
                f"each makes the others' intervals wider; {option('baseline')} or {option('pairs')} chooses",
            )
        found[name] = tuple(
            confidence_sequence(
                matrix.column(a)[rows],
                matrix.column(b)[rows],
                [matrix.queries[row] for row in rows],
                bounds,
                names=(a, b),
                measure=name,
                better=matrix.better,
                alpha=how.alpha,
                pairs=len(pairs),
                left_out=len(matrix.left_out),
                unit=matrix.unit,
            )
            for a, b in pairs
        )
    return found


def _in_order(matrix: ScoreMatrix, arrival: Sequence[str] | None) -> list[int]:
    """The rows of a matrix as their queries arrived; all of them have to be there, and more may be."""
    if arrival is None:
        return list(range(len(matrix.queries)))
    places = {query: place for place, query in enumerate(dict.fromkeys(arrival))}
    for query in matrix.queries:
        if query not in places:
            raise InputError(
                f"arrival: expected every query of {matrix.origin}, found no '{printable(query)}'",
                "a file has a line a query, its id first, as judgments do, too",
            )
    return sorted(range(len(matrix.queries)), key=lambda row: places[matrix.queries[row]])
