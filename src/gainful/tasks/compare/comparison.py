"""What comparisons have in common: their scores, which pairs they are about, and tables of means with marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.errors import InputError, UsageError, option
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import ScoreReport, Scores, SessionScores
from gainful.notation import choose, count_of, letter, nearest, printable
from gainful.pages.charts import Axis, IntervalRow, Intervals, Rule
from gainful.pages.page import Column, Table
from gainful.render import Page
from gainful.stats.catalogues import MOST_WITH_LETTERS
from gainful.stats.paired_tests import PairPlan
from gainful.tasks.score_questions import MARKS, ORDERS, TABLES, PairOptions, ShowOptions, SystemsOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.stats.bayes import Posterior
    from gainful.stats.sequential import ConfidenceSequence
    from gainful.stats.unpaired import UnpairedResult
    from gainful.tasks.score_questions import BeliefOptions, SequenceOptions, UnpairedOptions


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreReport):
    """What was found of systems, by measure; the first measure is the primary one."""

    def __repr__(self) -> str:
        systems = count_of(len(self.scores.systems), "system")
        return f"<{type(self).__name__} of {systems} by {', '.join(self.scores.measures)}>"

    @property
    def primary(self) -> str:
        """The first measure."""
        return self.scores.measures[0]

    def secondary_notes(self, more: str = "") -> list[str]:
        """Which measures are secondary, if there are any."""
        by_measure: Mapping[str, ScoreMatrix | SessionScores] = self.scores.sessions or self.scores.queries
        primary, *others = (each.measure for each in by_measure.values())
        return [f"{primary} is the primary measure; {', '.join(others)}: secondary{more}"] if others else []

    def page(self, *, places: int = 4) -> Page:
        """The page in full."""
        raise NotImplementedError

    def plot(self, chart: str | None = None, columns: int | None = None) -> Figure:
        """The charts as a figure of matplotlib, ``columns`` of a paper wide; needs gainful[plot]."""
        return self.figure(columns)


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
    scores: ScoreMatrix | SessionScores, asked: UnpairedOptions | BeliefOptions | SequenceOptions
) -> list[tuple[str, str]]:
    """The pairs named, each system and the baseline, or all; of two systems the first is the baseline."""
    systems, baseline = scores.systems, asked.baseline
    check_known(baseline, systems, "baseline")
    if asked.pairs:
        if baseline is not None:
            raise UsageError("pairs: expected pairs or a baseline, found both")
        check_pairs(asked.pairs, systems)
        return list(asked.pairs)
    if baseline is None and len(systems) == 2:
        baseline = systems[0]
    if baseline is None:
        return list(combinations(scores.best_first, 2))
    return [(system, baseline) for system in scores.best_first if system != baseline]


def pair_plan(asked: PairOptions | SystemsOptions, **own: Any) -> PairPlan:
    """How one pair is compared, in all of its groups of queries alike, but for what they have of their ``own``."""
    most = asked.most if isinstance(asked, PairOptions) else None
    how = {"test": asked.test, "alpha": asked.alpha, "draws": asked.draws, "seed": asked.seed, "margin": asked.margin}
    return PairPlan(**{**how, "most": most, **own})


#: The pairs that are printed unless more are asked for.
FEW_PAIRS = 15


def common_baseline(results: Sequence[Posterior | ConfidenceSequence | UnpairedResult]) -> str | None:
    """The system that all others were compared with, if there is one."""
    names = {result.names[1] for result in results}
    return names.pop() if len(names) == 1 else None


def role_of_other(results: Sequence[Posterior | ConfidenceSequence | UnpairedResult]) -> str:
    """What machines call the second system of every pair."""
    return "other" if common_baseline(results) is None else "baseline"


def interval_chart(
    results: Sequence[Posterior | ConfidenceSequence | UnpairedResult],
    texts: Sequence[str],
    side: str,
    rules: tuple[Rule, ...],
    lines: str,
) -> Intervals:
    """Differences of pairs with their intervals, and a text beside each."""
    baseline = common_baseline(results)
    rows = tuple(
        IntervalRow(
            result.names[0] if baseline else " - ".join(result.names),
            result.difference,
            result.interval.low,
            result.interval.high,
            text,
        )
        for result, text in zip(results[:FEW_PAIRS], texts, strict=False)
    )
    to = f" to {printable(baseline, 40)}" if baseline else ""
    cut = f" The first {FEW_PAIRS} of {len(results):,}." if len(results) > FEW_PAIRS else ""
    title = f"{results[0].measure}: difference{to}"
    return Intervals(title, Axis("difference"), rows, side, rules, f"Lines: {lines}.{cut}")


BETTER, WORSE = "†", "‡"
_LETTERS = "letters: systems that share one are not significantly different, which does not make them equal"
_BEATEN = "raised: the systems that this one is significantly better than, by their letters"

#: The table for machines that has what one for people has.
_FOR_MACHINES = {"leaderboard": "systems", "means": "systems", "pairs": "pairs"}


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
        page = self.whole_page(show)
        if only is None:
            return page
        tables = [means_table(self, show)] if only == "means" else self.tables_of(only, page, show)
        if only != "pairs":
            tables = [replace(table, notes=(*table.notes, *self.tested())) for table in tables]
        for_machines = (t for t in page.tables if not t.for_people and t.title == _FOR_MACHINES[only])
        return replace(page, parts=(*tables, *for_machines))

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

    def whole_page(self, show: ShowOptions) -> Page:
        """The page with all of its tables."""
        raise NotImplementedError

    def best_first(self, measure: str) -> list[str]:
        """The systems, the best first."""
        return self.matrices[measure].best_first

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


class Marks(NamedTuple):
    """What stands beside the mean of each system, and what it says; ``names`` are letters that systems go by."""

    of: Callable[[str], str]
    note: str
    names: dict[str, str]

    def columns(self, name: str) -> tuple[Column, ...]:
        """The column of marks."""
        return (Column(name, "marks", get=self.of),)

    @property
    def letters(self) -> tuple[Column, ...]:
        """The column of what systems are called, if they are."""
        return (Column("#", get=self.names.__getitem__),) if self.names else ()


def rows_of(found: PairedComparison, measure: str, sort: str) -> list[str]:
    """The systems in the order that is wanted."""
    return list(found.matrices[measure].systems) if sort == "given" else found.best_first(measure)


def marks_of(found: PairedComparison, measure: str, rows: Sequence[str], wanted: str | None) -> Marks | None:
    """The marks that are wanted: against a baseline daggers, among all letters, unless others are asked for."""
    baseline = found.baseline_of(measure)
    if wanted == "beaten":
        names = {system: letter(i) for i, system in enumerate(rows)}

        def beaten_by(one: str) -> Iterator[str]:
            return (other for other in rows if baseline in (None, one, other) and found.beats(measure, one, other))

        return Marks(lambda one: "".join(map(names.__getitem__, beaten_by(one))), _BEATEN, names)
    if wanted == "daggers" or (wanted is None and baseline is not None):
        if baseline is None:
            raise UsageError(
                "marks: expected a baseline with daggers, found none", f"name it: {option('baseline', 'SYSTEM')}"
            )
        note = f"{BETTER} better, {WORSE} worse than {printable(baseline, 40)}"

        def dagger(one: str) -> str:
            if found.beats(measure, one, baseline):
                return BETTER
            return WORSE if found.beats(measure, baseline, one) else ""

        return Marks(dagger, f"{note}, after correction" if found.is_corrected else note, {})
    letters = found.letters_of(measure)
    if letters:
        return Marks(letters.__getitem__, _LETTERS, {})
    if wanted is not None:
        raise UsageError(
            f"marks: expected all pairs of 3 to {MOST_WITH_LETTERS} systems with letters, found "
            + ("more systems" if baseline is None else f"pairs with {printable(baseline, 40)} only"),
            f"{option('marks', 'beaten')} names the systems that each one is better than",
        )
    return None


def means_table(found: PairedComparison, show: ShowOptions) -> Table:
    """Systems by all measures: marks after correction, the best emphasised."""
    rows = rows_of(found, found.primary, show.sort)
    marks = {measure: marks_of(found, measure, rows, show.marks) for measure in found.matrices}
    columns = [*next((each.letters for each in marks.values() if each is not None), ())]
    columns.append(Column("system", get=lambda name: name))
    bests: dict[int, float] = {}
    for measure, matrix in found.matrices.items():
        means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
        bests[len(columns)] = (max if matrix.better == "higher" else min)(means.values())
        columns.append(Column(matrix.measure, "number", show.places, get=means.__getitem__))
        beside = marks[measure]
        if beside is not None:
            columns += beside.columns(f"{matrix.measure} marks")
    notes = ["* best of its column", *dict.fromkeys(each.note for each in marks.values() if each is not None)]
    if not any(marks.values()) and len(rows) > MOST_WITH_LETTERS:
        notes.append(f"no marks with more than {MOST_WITH_LETTERS} systems: {option('marks', 'beaten')} gives some")
    table = Table.of(columns, rows, title="Means", notes=tuple(notes), for_people=True)
    marked = {(i, column) for i, row in enumerate(table.rows) for column, best in bests.items() if row[column] == best}
    return replace(table, marked=frozenset(marked))
