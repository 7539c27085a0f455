"""Contrasts such as ``new = mean(a, b)``: a mean of systems, query by query, is compared like a system."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import printable
from gainful.tasks.compare.system_pairs import check_known


def contrasted(
    matrices: Mapping[str, ScoreMatrix], contrasts: Sequence[str]
) -> tuple[dict[str, ScoreMatrix], tuple[tuple[str, str], ...]]:
    """Matrices whose systems are the sides of contrasts, and the pairs of sides to compare."""
    sides = [read_contrast(text, next(iter(matrices.values())).systems) for text in contrasts]
    once = [frozenset(map(side_text, contrast)) for contrast in sides]
    twice = next((contrasts[i] for i, both in enumerate(once) if both in once[:i]), None)
    if twice is not None:
        raise UsageError(f"contrast: expected every contrast once, found '{printable(twice)}' again")
    columns = {side_text(side): side for contrast in sides for side in contrast}
    made = {
        name: replace(
            matrix,
            systems=tuple(columns),
            values=np.column_stack([_mean_of([matrix.column(system) for system in side]) for side in columns.values()]),
        )
        for name, matrix in matrices.items()
    }
    return made, tuple((side_text(one), side_text(other)) for one, other in sides)


def _mean_of(columns: Sequence[Floats]) -> Floats:
    """The mean of some systems' scores, query by query, correctly rounded."""
    return np.array([math.fsum(scores) / len(columns) for scores in zip(*columns, strict=True)])


def side_text(side: Sequence[str]) -> str:
    """A side of a contrast as people write it."""
    return side[0] if len(side) == 1 else f"mean({', '.join(side)})"


def read_contrast(text: str, systems: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems on either side of a contrast such as ``new = mean(a, b)``.

    >>> read_contrast("new = mean(a, b)", ["a", "b", "new"])
    (('new',), ('a', 'b'))
    """
    one, equals, other = text.partition("=")
    if not equals:
        raise UsageError(f"contrast: expected something like 'new = mean(a, b)', found '{printable(text)}'")
    sides = tuple(_side_of(part.strip()) for part in (one, other))
    for system in (*sides[0], *sides[1]):
        check_known(system, systems, "contrast")
    both = set(sides[0]) & set(sides[1])
    if both:
        raise UsageError(f"contrast: expected other systems on either side, found '{printable(min(both))}' on both")
    return sides[0], sides[1]


def _side_of(text: str) -> tuple[str, ...]:
    if not (text.startswith("mean(") and text.endswith(")")):
        return (text,)
    members = tuple(part.strip() for part in text[5:-1].split(","))
    if not all(members):
        raise UsageError(f"contrast: expected systems like mean(a, b), found '{printable(text)}'")
    if len(set(members)) < len(members):
        raise UsageError(f"contrast: expected every system once, found one twice in '{printable(text)}'")
    return members
