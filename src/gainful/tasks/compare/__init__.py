"""Comparison of systems: :func:`compare` reads or computes scores and calls the comparison that fits them.

All comparisons share the result type, the selection of pairs, and tables of means with significance marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from gainful.data.collection import runs_apart
from gainful.errors import InputError, UsageError, for_asker, option, warns
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import ScoreReport, Scores, SessionScores
from gainful.frozen import dataclass, fields, replace
from gainful.measures.base import Measure
from gainful.notation import choose, letter, nearest, printable
from gainful.pages.charts import Axis, IntervalRow, Intervals, Rule
from gainful.pages.page import Column, Detail, Table, head
from gainful.question import checked_choices, differs, question, settings_of
from gainful.render import Page
from gainful.stats.catalogues import BAYES, MOST_WITH_LETTERS, UNPAIRED_TESTS
from gainful.tasks.compare.compare_words import units_text
from gainful.tasks.score_questions import FEW_PAIRS, CompareOptions, ShowOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.render.figure_style import Size
    from gainful.stats.unpaired import UnpairedResult
    from gainful.stats.without_p import ConfidenceSequence, Posterior
    from gainful.tasks.score_questions import BeliefOptions, SequenceOptions, UnpairedOptions

    PairResults: TypeAlias = Sequence[Posterior | ConfidenceSequence | UnpairedResult]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreReport):
    """The result of a comparison by one or more measures, of which the first is the primary one."""

    @property
    def primary(self) -> str:
        return self.scores.measures[0]

    def secondary_notes(self, more: str = "") -> list[str]:
        by_measure: Mapping[str, ScoreMatrix | SessionScores] = self.scores.sessions or self.scores.queries
        primary, *others = (each.measure for each in by_measure.values())
        return [f"primary measure: {primary}; secondary: {', '.join(others)}{more}"] if others else []

    def page(self, *, places: int = 4) -> Page:
        raise NotImplementedError

    def table(self, *, places: int = 4) -> Page:
        """Return the main table: ``comparison.table().save("pairs.tex")``; csv and jsonl include all its numbers."""
        page = self.page(places=places)
        main, *others = page.tables
        return replace(page, parts=(main, *(each for each in others if all(c.for_machines for c in each.columns))))


_READING = ("policy", "exclude", "items", "training", "intents", "columns")


@warns
@question(CompareOptions)
def compare(asked: CompareOptions) -> Comparison:
    """Compare systems: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures`` and ``policy`` to ``queries`` are as in :func:`gainful.evaluate`; the default measure
    is nDCG@10. Existing scores can replace judgments and runs: results of :func:`gainful.evaluate` or
    :func:`gainful.evaluate_sessions` for several systems, :class:`gainful.Scores`, a :class:`gainful.ScoreMatrix`, or a
    dict of these by measure; ``compare(results, "AP")`` then selects measures. The first measure is the primary one.

    The scores and options determine the comparison. Each comparison is also a function with its own result, and
    rejects options of the others:

    - two systems: :func:`gainful.compare_two`;
    - several, or two with a ``procedure``, ``correction``, ``groups`` or one ``family``:
      :func:`gainful.compare_several`;
    - sessions that belong to one system each: :func:`gainful.compare_unpaired`;
    - ``factors`` of systems: :func:`gainful.compare_factors`;
    - the ``cost`` of systems per query: :func:`gainful.compare_cost`;
    - ``test="bayes"``: :func:`gainful.compare_beliefs`;
    - ``sequential=True``: :func:`gainful.compare_sequentially`.

    A list of runs, ``{"llm": ["seed1.run", "seed2.run"]}``, repeats one system: systems are then compared by a t test
    that accounts for noise between runs. ``by`` is a column of the ``queries`` table: two systems, or each system and
    the baseline, are also compared in every group of queries.

    >>> judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> runs = {"old": {"q1": ["d2", "d1"], "q2": ["d1"]}, "new": {"q1": ["d1"], "q2": ["d1"]}}
    >>> found = compare(judgments, runs, "RR")
    >>> found.pairs["RR"].system, found.pairs["RR"].difference
    ('new', 0.25)
    """
    scores = _scores_of(asked)
    if len(scores.systems) < 2 and not scores.sessions:
        scores_one = for_asker("gainful eval QRELS RUN scores one", "evaluate scores one")
        raise UsageError(f"compare: expected at least two systems, found {len(scores.systems)}", scores_one)
    kind = _kind_of(scores, asked)
    if scores.has_repeats and kind not in ("two systems", "several systems"):
        raise UsageError(f"several runs of one system cannot be used with {kind}", "give one run of each system")
    module, function, chosen_by = _COMPARISONS[kind]
    # Imported late, because each module loads different statistics.
    answer: Any = getattr(import_module(f"gainful.tasks.compare.{module}"), function)
    known = {each.name for each in fields(answer.options)} - {"scores"}
    for name, (field, _) in settings_of(CompareOptions).items():
        if name not in known and name != chosen_by and differs(getattr(asked, name), field.default):
            raise UsageError(f"{for_asker(option(name), name)} cannot be used with {kind}")
    found: Comparison = answer(scores, **{name: getattr(asked, name) for name in known})
    return found


#: The module and function of each comparison, and the option that only selects it.
_COMPARISONS = {
    "two systems": ("two_systems", "compare_two", ""),
    "several systems": ("several_systems", "compare_several", ""),
    "unpaired sessions": ("unpaired_systems", "compare_unpaired", ""),
    "factors": ("factors", "compare_factors", ""),
    "test bayes": ("beyond_p", "compare_beliefs", "test"),
    "a frontier of cost": ("frontier", "compare_cost", ""),
    "a sequential comparison": ("beyond_p", "compare_sequentially", "sequential"),
}


def _kind_of(scores: Scores, asked: CompareOptions) -> str:
    if scores.sessions and _is_unpaired(next(iter(scores.sessions.values())), asked.test):
        return "unpaired sessions"
    if asked.cost is not None:
        return "a frontier of cost"
    if asked.sequential:
        return "a sequential comparison"
    if asked.test == BAYES.name:
        return "test bayes"
    if asked.factors is not None:
        return "factors"
    of_several = asked.procedure or asked.correction or asked.groups or asked.family == "all"
    return "two systems" if len(scores.systems) == 2 and not of_several else "several systems"


def _is_unpaired(scores: SessionScores, test: str | None) -> bool:
    """Whether the test or, without one, the sessions require an unpaired comparison."""
    needs_unpaired = None if test is None else test in UNPAIRED_TESTS
    if scores.pairing == "none" and needs_unpaired is False:
        hint = f"tests for unpaired sessions: {' | '.join(UNPAIRED_TESTS)}"
        raise UsageError(f"test {test}: no two systems have sessions in common", hint)
    if scores.pairing == "some" and needs_unpaired is None:
        raise InputError(
            f"{scores.source or scores.measure}: systems share some of their sessions, but not all "
            f"({len(scores.common):,} in common)",
            "--test randomisation compares these, --test labels compares all sessions unpaired",
        )
    return scores.pairing == "none" if needs_unpaired is None else needs_unpaired


def _scores_of(asked: CompareOptions) -> Scores:
    """Read or compute the scores to compare, on the selected queries."""
    given, runs, measures, queries = asked.scores, asked.runs, asked.measures, asked.queries
    reading = {name: getattr(asked, name) for name in _READING if getattr(asked, name) is not None}
    existing = runs if _holds(runs, Evaluation) else given
    if isinstance(existing, (Scores, ScoreMatrix)) or _holds(existing, Evaluation) or _holds(existing, ScoreMatrix):
        if reading:
            raise UsageError(f"{next(iter(reading))} cannot be used with existing scores")
        if existing is given and runs is not None:
            if isinstance(runs, Mapping) or measures is not None:
                raise UsageError("runs cannot be used with existing scores")
            measures = runs
        scores = Scores.of(existing, None if measures is None else _listed(measures))  # type: ignore[arg-type]
        if queries is None:
            return scores
        from gainful.data.queries import Queries

        return scores.chosen(Queries.of(queries))
    hint = 'compare(qrels, {"old": run, "new": run}, "AP"), or evaluations by name, or a ScoreMatrix'
    if runs is None:
        raise UsageError(f"compare: expected judgments and runs, or scores, found only {type(given).__name__}", hint)
    if asked.by is not None and queries is None:
        from gainful.data.queries import judgments_about_queries
        from gainful.io.columns import columns_by_side

        queries = judgments_about_queries(given, columns_by_side(asked.columns)["qrels"])
    wanted = _listed("nDCG@10" if measures is None else measures)
    evaluations: Any = None
    runs_of: dict[str, list[str]] = {}
    if isinstance(runs, Mapping) and not isinstance(measures, Mapping):
        runs, runs_of = runs_apart(runs)
        evaluations = evaluate(given, runs, wanted, queries=queries, threads=asked.threads, **reading)
    if not isinstance(evaluations, Evaluations):
        one = "runs as separate arguments" if isinstance(runs, Mapping) else type(runs).__name__
        raise UsageError(f"compare: expected a dict of runs by name, found {one}", hint)
    scores = Scores.of(evaluations, wanted).with_repeats(runs_of)
    return replace(scores, notices=(*evaluations.notices, *scores.notices))


def _holds(value: object, kind: type) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(each, kind) for each in value.values())


def _listed(measures: Any) -> list[str | Measure]:
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)


def paired_matrices(scores: Scores) -> Mapping[str, ScoreMatrix]:
    """Return the score matrices by measure, which must have the same systems."""
    first, *others = scores.matrices.values()
    for other in others:
        if only := sorted(set(first.systems).symmetric_difference(other.systems)):
            one = printable(only[0])
            raise InputError(f"{other.origin}: expected the same systems as {first.origin}, found '{one}' only in one")
    return scores.matrices


def check_known(system: str | None, systems: Sequence[str], what: str) -> None:
    """Raise UsageError for an unknown system, given as the option ``what``."""
    if system is not None and system not in systems:
        known = ", ".join(map(printable, systems[:20]))
        message = f"{what}: unknown system '{printable(system)}'; the systems are {known}"
        raise UsageError(message, nearest(system, systems))


def check_pairs(pairs: Sequence[tuple[str, str]], systems: Sequence[str]) -> None:
    """Raise UsageError for a pair with an unknown system or of a system with itself."""
    for pair in pairs:
        for system in pair:
            check_known(system, systems, "pairs")
        if pair[0] == pair[1]:
            raise UsageError(f"pairs: expected two systems, found '{printable(pair[0])}' twice")


def compared_pairs(
    scores: ScoreMatrix | SessionScores, asked: UnpairedOptions | BeliefOptions | SequenceOptions
) -> list[tuple[str, str]]:
    """Return the pairs named, each system with the baseline, or all pairs; the first of two systems is the baseline."""
    systems, baseline = scores.systems, asked.baseline
    check_known(baseline, systems, "baseline")
    if asked.pairs:
        if baseline is not None:
            raise UsageError("pairs cannot be used with a baseline")
        check_pairs(asked.pairs, systems)
        return list(asked.pairs)
    if baseline is None and len(systems) == 2:
        baseline = systems[0]
    if baseline is None:
        return list(combinations(scores.best_first, 2))
    return [(system, baseline) for system in scores.best_first if system != baseline]


def common_baseline(results: PairResults) -> str | None:
    """Return the system that all others were compared with, or None."""
    names = {result.names[1] for result in results}
    return names.pop() if len(names) == 1 else None


def table_of_pairs(
    kind: str, results: PairResults, columns: Iterable[Column], notes: tuple[str, ...], places: int, most: int | None
) -> Table:
    """Return a table of pairs: both systems, their difference, and ``columns``."""
    first = results[0]
    every = (*head(f"system ← names.0 | vs ← names.1 | difference .{places}"), *columns)
    title = f"{kind} ({first.measure}{', lower is better' if first.better == 'lower' else ''})"
    return Table.of(every, results, title=title, notes=notes, most=most, for_people=True)


def interval_chart(
    results: PairResults, texts: Sequence[str], side: str, rules: tuple[Rule, ...], lines: str
) -> Intervals:
    """Draw the difference of each pair with its interval and a text."""
    baseline = common_baseline(results)
    names = [each.names[0] if baseline else " - ".join(each.names) for each in results]
    rows = tuple(
        IntervalRow(name, each.difference, each.interval.low, each.interval.high, text)
        for name, each, text in zip(names, results[:FEW_PAIRS], texts, strict=False)
    )
    source = f" from {printable(baseline, 40)}" if baseline else ""
    cut = f" The first {FEW_PAIRS} of {len(results):,}." if len(results) > FEW_PAIRS else ""
    title = f"{results[0].measure}: difference{source}"
    return Intervals(title, Axis("difference"), rows, side, rules, f"Lines: {lines}.{cut}")


BETTER, WORSE = "†", "‡"
#: The machine-readable counterpart of each printed table.
_FOR_MACHINES = {"leaderboard": "systems", "means": "systems", "pairs": "pairs"}


class Standing(NamedTuple):
    """The systems of a table in order, the baseline if any, and the relation "significantly better".

    Systems that do not differ significantly share ``letters``, if there are any.
    """

    systems: Sequence[str]
    baseline: str | None
    beats: Callable[[str, str], bool]
    letters: Mapping[str, str] = {}
    is_corrected: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class PairedComparison(Comparison):
    """A comparison on the same queries; means can be shown in a table with significance marks."""

    charts: ClassVar[tuple[str, ...]]

    def page(
        self,
        *,
        places: int = 4,
        only: str | None = None,
        marks: str | None = None,
        sort: str = "best",
        chart: Sequence[str] | str = (),
    ) -> Page:
        """Return the full page, or ``only`` one of its tables (leaderboard, pairs, means).

        ``marks`` selects the symbols after each mean (letters, daggers, or the systems beaten), ``sort`` the order of
        systems (best or given), ``chart`` the charts.
        """
        given = {"places": places, "only": only, "marks": marks, "sort": sort, "chart": chart}
        show = ShowOptions(**checked_choices(ShowOptions, given))
        for each in show.chart:
            choose(each, self.charts, "chart")
        page = self.whole_page(show)
        if only is None:
            return page
        tables = [means_table(self, show)] if only == "means" else self.tables_of(only, page, show)
        matrix, below = self.matrices[self.primary], [] if only == "pairs" else self.tested()
        if matrix.unanswered:
            below.append(units_text(len(matrix.queries), 0, matrix.unit, matrix.unanswered.items()))
        tables = [replace(table, notes=(*table.notes, *below)) for table in tables]
        for_machines = (t for t in page.tables if not t.for_people and t.title == _FOR_MACHINES[only])
        return replace(page, parts=(*tables, *for_machines, Detail(tuple(page.charts))))

    def table(self, only: str = "means", *, places: int = 4, marks: str | None = None, sort: str = "best") -> Page:
        """Return one table: ``comparison.table(marks="daggers").save("means.tex")``."""
        return self.page(places=places, only=only, marks=marks, sort=sort)

    def plot(self, chart: str | None = None, size: Size | None = None) -> Figure:
        """Return a chart as a matplotlib figure; needs gainful[plot]."""
        return self.page(chart=chart or self.charts[0]).figure(size)

    def whole_page(self, show: ShowOptions) -> Page:
        raise NotImplementedError

    def standing(self, measure: str, sort: str) -> Standing:
        raise NotImplementedError

    def tested(self) -> list[str]:
        raise NotImplementedError

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        raise NotImplementedError


class Marks(NamedTuple):
    """The mark printed after the mean of each system, if any, notes, and the letters that denote systems."""

    of: Callable[[str], str] | None = None
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = {}

    def columns(self, name: str) -> tuple[Column, ...]:
        return () if self.of is None else (Column(name, "marks", get=self.of),)

    @property
    def letters(self) -> tuple[Column, ...]:
        return (Column("#", get=self.names.__getitem__),) if self.names else ()


def marks_of(standing: Standing, wanted: str | None) -> Marks:
    """Return the marks wanted; by default daggers with a baseline and letters without."""
    systems, baseline, beats, letters, is_corrected = standing
    if wanted == "beaten":
        names = {system: letter(i) for i, system in enumerate(systems)}

        def beaten(one: str) -> str:
            others = (other for other in systems if baseline in (None, one, other) and beats(one, other))
            return "".join(map(names.__getitem__, others))

        return Marks(beaten, ("Letters after a mean: systems that are significantly worse.",), names)
    if wanted == "daggers" or (wanted is None and baseline is not None):
        if baseline is None:
            raise UsageError("marks: daggers require a baseline", f"{option('baseline', 'SYSTEM')} names it")

        def dagger(one: str) -> str:
            return BETTER if beats(one, baseline) else WORSE if beats(baseline, one) else ""

        adjusted = " (adjusted p)" if is_corrected else ""
        note = f"{BETTER} significantly better, {WORSE} significantly worse than {printable(baseline, 40)}{adjusted}."
        return Marks(dagger, (note,))
    if letters:
        note = "Systems sharing a letter do not differ significantly; equality is not shown."
        return Marks(letters.__getitem__, (note,))
    if wanted is not None:
        raise UsageError(
            f"marks: letters require all pairs of 3 to {MOST_WITH_LETTERS} systems; "
            + ("there are more" if baseline is None else f"only pairs with {printable(baseline, 40)} were compared"),
            f"{option('marks', 'beaten')} lists the systems that each one beats",
        )
    return Marks()


def means_table(found: PairedComparison, show: ShowOptions) -> Table:
    """Return the mean of each system by each measure, with marks and with the best of each column emphasised."""
    rows = found.standing(found.primary, show.sort).systems
    standings = [found.standing(measure, show.sort)._replace(systems=rows) for measure in found.matrices]
    marks = [marks_of(standing, show.marks) for standing in standings]
    columns = [*marks[0].letters, Column("system", get=lambda name: name)]
    bests: dict[int, float] = {}
    for matrix, mark in zip(found.matrices.values(), marks, strict=True):
        means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
        bests[len(columns)] = (max if matrix.better == "higher" else min)(means.values())
        columns.append(Column(matrix.measure, "number", show.places, get=means.__getitem__))
        columns += mark.columns(f"{matrix.measure} marks")
    notes = ["* best in column", *dict.fromkeys(note for each in marks for note in each.notes)]
    if len(notes) == 1 and len(rows) > MOST_WITH_LETTERS:
        notes.append(f"More than {MOST_WITH_LETTERS} systems: no letters; {option('marks', 'beaten')} prints marks.")
    table = Table.of(columns, rows, title="Means", notes=tuple(notes), for_people=True)
    marked = {(i, column) for i, row in enumerate(table.rows) for column, best in bests.items() if row[column] == best}
    return replace(table, marked=frozenset(marked))
