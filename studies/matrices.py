"""The published matrices, and samples of their queries."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from gainful import ScoreMatrix
from gainful.kernel.arrays import Floats


@cache
def read(folder: Path, name: str) -> ScoreMatrix:
    """A published matrix by the name of its file."""
    return ScoreMatrix.read(folder / f"{name}.csv")


@cache
def distinct_systems(folder: Path, name: str, closest: float = 0.03) -> Floats:
    """Scores of systems no two of which are nearly the same: queries x systems."""
    scores = read(folder, name).values
    kept: list[int] = []
    for system in range(scores.shape[1]):
        if all(np.std(scores[:, system] - scores[:, other]) > closest for other in kept):
            kept.append(system)
    return scores[:, kept]


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *rows])


def share(hits: int, of: int) -> str:
    """Format a share as a percentage."""
    return f"{100 * hits / of:.1f}%"
