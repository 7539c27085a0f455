"""Which pairs of systems a comparison is about, and which of them are printed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import nearest, printable
from gainful.tasks.compare.compare_options import CompareOptions


def check_known(system: str | None, systems: Sequence[str], what: str) -> None:
    """Refuses a system that is not there; ``what`` it was named for."""
    if system is not None and system not in systems:
        raise UsageError(
            f"{what}: no system is called '{printable(system)}'; there are {', '.join(map(printable, systems[:20]))}",
            nearest(system, systems),
        )


def asked_pairs(matrix: ScoreMatrix, how: CompareOptions) -> list[tuple[str, str]]:
    """The pairs named, each system and the baseline, or all; of two systems the first is the baseline."""
    return pairs_of_systems(matrix.systems, matrix.means.tolist(), matrix.better, how)


def pairs_of_systems(
    systems: Sequence[str], means: Sequence[float], better: str, how: CompareOptions
) -> list[tuple[str, str]]:
    """The same of systems by their means."""
    if how.pairs:
        if how.baseline is not None:
            raise UsageError("pairs: expected pairs or a baseline, found both")
        return list(shown_pairs(how.pairs, None, systems) or ())
    sign = -1 if better == "higher" else 1
    best_first = sorted(systems, key=lambda system: sign * means[systems.index(system)])
    baseline = systems[0] if len(systems) == 2 and how.baseline is None else how.baseline
    if baseline is None:
        return list(combinations(best_first, 2))
    return [(system, baseline) for system in best_first if system != baseline]


def rows_shown(how: CompareOptions) -> tuple[tuple[str, str], ...] | None:
    """None, all rows, where pairs were asked for; else the page decides."""
    return None if how.pairs is None or how.pairs else ()


def shown_pairs(
    pairs: Sequence[tuple[str, str]] | None, of: str | None, systems: Sequence[str]
) -> tuple[tuple[str, str], ...] | None:
    """The pairs to print: those named, or all with one system; None for all."""
    if pairs is None:
        return None
    for pair in pairs:
        for system in pair:
            check_known(system, systems, "pairs")
        if pair[0] == pair[1]:
            raise UsageError(f"pairs: expected two systems, found '{printable(pair[0])}' twice")
    if of is not None and not pairs:
        return tuple((system, of) for system in systems if system != of)
    return tuple(pairs)
