"""What every comparison has in common: its scores, how it is shown, and which pairs of systems it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from gainful.errors import InputError, UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.notation import choose, count_of, nearest, printable
from gainful.pages.page import Table
from gainful.render import Page, Showable
from gainful.tasks.score_questions import MARKS, ORDERS, TABLES, ShowOptions

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


@dataclass(frozen=True, eq=False, repr=False)
class PairedComparison(Comparison):
    """Systems that answered the same queries: their means can be shown in a table, with marks where they differ."""

    def page(
        self,
        *,
        places: int = 4,
        only: str | None = None,
        marks: str | None = None,
        sort: str = "best",
        chart: Sequence[str] | str = (),
    ) -> Page:
        """The page in full, or ``only`` one of its tables (leaderboard, pairs, means).

        ``marks`` chooses what is printed beside means (letters, daggers, or the systems beaten), ``sort`` the order
        of systems (best or given), ``chart`` what is drawn.
        """
        for value, known, what in ((only, TABLES, "only"), (marks, MARKS, "marks"), (sort, ORDERS, "sort")):
            if value is not None:
                choose(value, known, what)
        charts = (chart,) if isinstance(chart, str) else tuple(chart)
        for each in charts:
            choose(each, self.charts, "chart")
        show = ShowOptions(places=places, only=only, marks=marks, sort=sort, chart=charts)
        if only is None:
            return self.whole_page(show)
        from gainful.tasks.compare.mean_tables import single_table

        return single_table(self, self.whole_page(show), show)

    def table(self, only: str = "means", *, places: int = 4, marks: str | None = None, sort: str = "best") -> Page:
        """One table: ``comparison.table(marks="daggers").save("means.tex")``."""
        return self.page(places=places, only=only, marks=marks, sort=sort)

    def plot(self, chart: str | None = None, columns: int | None = None) -> Figure:
        """A chart of this comparison as a figure of matplotlib; needs gainful[plot]."""
        return self.page(chart=chart or self.charts[0]).figure(columns)

    @property
    def charts(self) -> tuple[str, ...]:
        """The charts that can be drawn."""
        raise NotImplementedError

    @property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        """The scores that were compared."""
        return self.scores.matrices

    def whole_page(self, show: ShowOptions) -> Page:
        """The page with all of its tables."""
        raise NotImplementedError

    def best_first(self, measure: str) -> list[str]:
        """The systems, the best first."""
        matrix = self.matrices[measure]
        sign = -1 if matrix.better == "higher" else 1
        return [matrix.systems[i] for i in (sign * matrix.means).argsort(kind="stable").tolist()]

    def baseline_of(self, measure: str) -> str | None:
        """The system that others were compared with."""
        raise NotImplementedError

    def beats(self, measure: str, one: str, other: str) -> bool:
        """Whether a system is significantly better than another one."""
        raise NotImplementedError

    def letters_of(self, measure: str) -> dict[str, str]:
        """The letters that systems share unless they differ; none where there are none."""
        return {}

    @property
    def is_corrected(self) -> bool:
        """Whether p are corrected for the number of pairs."""
        return False

    def tested(self) -> list[str]:
        """By what systems were found to differ: a table by itself has no sentence that says so."""
        raise NotImplementedError

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        """The leaderboards or the tables of pairs, measure by measure."""
        raise NotImplementedError


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
