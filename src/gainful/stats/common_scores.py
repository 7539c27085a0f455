"""Scores of several measures on the systems and queries that all of them have, and what that leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from gainful.arrays import Floats
from gainful.errors import InputError, UsageError
from gainful.notation import count_of, printable
from gainful.stats.scores import ScoreMatrix, aligned

#: Matrices by the name of their measure, several of them that have a measure each, or one.
MatricesLike: TypeAlias = Mapping[str, ScoreMatrix] | Iterable[ScoreMatrix] | ScoreMatrix

_SHOWN = 5


def on_common(scores: MatricesLike) -> tuple[dict[str, ScoreMatrix], list[str]]:
    """The matrices on what all have, by name and id, and a line for each kind of thing that is left out.

    >>> one = ScoreMatrix.of("P@5", {"a": {"q1": 1, "q2": 0}, "b": {"q1": 0, "q2": 0}})
    >>> both, lines = on_common([one, ScoreMatrix.of("RR", {"b": {"q2": 0.5}, "a": {"q2": 1}})])
    >>> both["RR"].systems, both["P@5"].queries, lines
    (('a', 'b'), ('q2',), ['1 query that not all measures score, left out: q1'])
    """
    matrices = matrices_of(scores)
    common = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    first = next(iter(common.values()))
    lines = []
    for singular, plural, kept, names in (
        ("system", "systems", first.systems, [matrix.systems for matrix in matrices.values()]),
        ("query", "queries", first.queries, [matrix.queries for matrix in matrices.values()]),
    ):
        lost = sorted({name for each in names for name in each}.difference(kept))
        if lost:
            shown = ", ".join(map(printable, lost[:_SHOWN])) + (", ..." if len(lost) > _SHOWN else "")
            lines.append(f"{count_of(len(lost), singular, plural)} that not all measures score, left out: {shown}")
    return common, lines


def matrices_of(scores: MatricesLike) -> dict[str, ScoreMatrix]:
    """Matrices by the name of their measure, which has to be one of its own."""
    if isinstance(scores, Mapping):
        found = dict(scores)
    else:
        given = [scores] if isinstance(scores, ScoreMatrix) else list(scores)
        found = {matrix.measure: matrix for matrix in given}
        if len(found) < len(given):
            twice = next(matrix.measure for i, matrix in enumerate(given) if given[i] is not found[matrix.measure])
            raise UsageError(
                f"scores: expected a measure of its own for every matrix, found '{twice}' twice", "a dict gives names"
            )
    if not found:
        raise UsageError("scores: expected at least one matrix, found none")
    return found


def upward(matrix: ScoreMatrix) -> Floats:
    """Its values, turned round where lower is better, so that higher always is.

    >>> upward(ScoreMatrix.of("rank", {"a": [3.0], "b": [1.0]}, better="lower")).tolist()
    [[-3.0, -1.0]]
    """
    return matrix.values if matrix.better == "higher" else -matrix.values


def check_size(matrices: Sequence[ScoreMatrix], *, queries: int = 1, systems: int = 2) -> None:
    """Refuses scores that have too few queries or systems."""
    first = matrices[0]
    for least, found, one, several in (
        (systems, len(first.systems), "system", "systems"),
        (queries, len(first.queries), "query", "queries"),
    ):
        if found < least:
            raise InputError(
                f"{first.origin}: expected at least {count_of(least, one, several)}, found {found}",
                "one system alone has no order" if one == "system" else None,
            )
