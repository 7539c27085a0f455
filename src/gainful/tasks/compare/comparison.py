"""What every comparison has in common: its scores, how it is shown, and which pairs of systems it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from gainful.errors import InputError, UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.notation import count_of, nearest, printable
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Showable):
    """What was found of systems, by measure; the first measure is the primary one."""

    scores: Scores

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {count_of(len(self.scores.systems), 'system')} by {self._measures}>"

    @property
    def _measures(self) -> str:
        return ", ".join(self.scores.measures)

    @property
    def primary(self) -> str:
        """The first measure."""
        return self.scores.measures[0]

    @property
    def unit(self) -> str:
        """What scores are of: queries, or sessions."""
        return "session" if self.scores.sessions else self.scores.queries[self.primary].unit

    @property
    def notices(self) -> tuple[str, ...]:
        """Everything suspicious about the scores, one line each."""
        return self.scores.notices

    def page(self, *, places: int = 4) -> Page:
        """The page in full."""
        raise NotImplementedError

    def plot(self, chart: str | None = None, columns: int | None = None) -> Figure:
        """The charts as a figure of matplotlib, ``columns`` of a paper wide; needs gainful[plot]."""
        return self.figure(columns)


class ChoosesPairs(Protocol):
    """Options that say which pairs of systems are compared."""

    @property
    def baseline(self) -> str | None:
        """The system that others are compared with."""
        ...

    @property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The pairs named."""
        ...

    @property
    def all_pairs(self) -> bool:
        """Whether all are printed."""
        ...


def paired_matrices(scores: Scores) -> Mapping[str, ScoreMatrix]:
    """The matrices of at least two systems, the same ones by every measure."""
    first, *others = scores.matrices.values()
    for other in others:
        only = sorted(set(first.systems).symmetric_difference(other.systems))
        if only:
            raise InputError(
                f"{other.origin}: expected the same systems as {first.origin} has, "
                f"found '{printable(only[0])}' in one of them only"
            )
    return scores.matrices


def check_known(system: str | None, systems: Sequence[str], what: str) -> None:
    """Refuse a system that is not there; ``what`` it was named for."""
    if system is not None and system not in systems:
        raise UsageError(
            f"{what}: no system is called '{printable(system)}'; there are {', '.join(map(printable, systems[:20]))}",
            nearest(system, systems),
        )


def check_pairs(pairs: Sequence[tuple[str, str]], systems: Sequence[str]) -> None:
    """Refuse pairs of unknown systems, and a system with itself."""
    for pair in pairs:
        for system in pair:
            check_known(system, systems, "pairs")
        if pair[0] == pair[1]:
            raise UsageError(f"pairs: expected two systems, found '{printable(pair[0])}' twice")


def compared_pairs(
    systems: Sequence[str], means: Sequence[float], better: str, asked: ChoosesPairs
) -> list[tuple[str, str]]:
    """The pairs named, each system and the baseline, or all; of two systems the first is the baseline."""
    check_known(asked.baseline, systems, "baseline")
    if asked.pairs:
        if asked.baseline is not None:
            raise UsageError("pairs: expected pairs or a baseline, found both")
        check_pairs(asked.pairs, systems)
        return list(asked.pairs)
    sign = -1 if better == "higher" else 1
    best_first = sorted(systems, key=lambda system: sign * means[systems.index(system)])
    baseline = systems[0] if len(systems) == 2 and asked.baseline is None else asked.baseline
    if baseline is None:
        return list(combinations(best_first, 2))
    return [(system, baseline) for system in best_first if system != baseline]
