"""Is the difference real? :func:`compare` reads or computes scores and asks the question that fits them.

Here stands what its questions have in common: the result, which pairs they are about, and tables of means with marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gainful.data.queries import Queries, judgments_about_queries
from gainful.errors import InputError, UsageError, for_asker, option, warns
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import ScoreReport, Scores, SessionScores
from gainful.io.columns import columns_by_side
from gainful.measures.base import Measure
from gainful.notation import choose, count_of, letter, nearest, printable
from gainful.pages.charts import Axis, IntervalRow, Intervals, Rule
from gainful.pages.page import Column, Table
from gainful.question import differs, question, settings_of
from gainful.render import Page
from gainful.stats.catalogues import BAYES, MOST_WITH_LETTERS, UNPAIRED_TESTS
from gainful.tasks.score_questions import (
    MARKS,
    ORDERS,
    TABLES,
    BeliefOptions,
    CompareOptions,
    FactorOptions,
    PairOptions,
    SequenceOptions,
    ShowOptions,
    SystemsOptions,
    UnpairedOptions,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.stats.bayes import Posterior
    from gainful.stats.sequential import ConfidenceSequence
    from gainful.stats.unpaired import UnpairedResult


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreReport):
    """What was found of systems, by measure; the first measure is the primary one."""

    def __repr__(self) -> str:
        systems = count_of(len(self.scores.systems), "system")
        return f"<{type(self).__name__} of {systems} by {', '.join(self.scores.measures)}>"

    @property
    def primary(self) -> str:
        return self.scores.measures[0]

    def secondary_notes(self, more: str = "") -> list[str]:
        """Which measures are secondary, if there are any."""
        by_measure: Mapping[str, ScoreMatrix | SessionScores] = self.scores.sessions or self.scores.queries
        primary, *others = (each.measure for each in by_measure.values())
        return [f"{primary} is the primary measure; {', '.join(others)}: secondary{more}"] if others else []

    def page(self, *, places: int = 4) -> Page:
        raise NotImplementedError

    def plot(self, chart: str | None = None, columns: int | None = None) -> Figure:
        """The charts as a figure of matplotlib, ``columns`` of a paper wide; needs gainful[plot]."""
        return self.figure(columns)


_RUNS_IN_A_DICT = "expected the runs in a dict by their names"
_READING = ("policy", "exclude", "items", "training", "columns")


@warns
@question(CompareOptions)
def compare(asked: CompareOptions) -> Comparison:
    """Compare systems: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures``, ``policy``, ``exclude``, ``items``, ``training``, ``columns`` and ``queries`` are as
    :func:`gainful.evaluate` takes them; without measures it is nDCG@10. Existing scores stand in the place of judgments
    and runs: what :func:`gainful.evaluate` or :func:`gainful.evaluate_sessions` returned of several systems,
    :class:`gainful.Scores`, a :class:`gainful.ScoreMatrix`, or a dict of these by measure; ``compare(results, "AP")``
    then says by which of their measures, else by all. The first measure is the primary one.

    The scores and options decide which question is asked; each is also a function of its own, with its own result:

    - two systems: :func:`gainful.compare_two`;
    - several, or two with a ``procedure``, ``correction``, ``groups`` or one ``family``:
      :func:`gainful.compare_several`;
    - sessions that belong to one system each: :func:`gainful.compare_unpaired`;
    - ``factors`` of systems: :func:`gainful.compare_factors`;
    - ``test="bayes"``: :func:`gainful.compare_beliefs`;
    - ``sequential=True``: :func:`gainful.compare_sequentially`.

    An option that the chosen question lacks is refused. ``by`` is a column of the table of ``queries``, by which two
    systems, or each and the baseline, are also compared group by group.

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
    module, function, options, chosen_by = _QUESTIONS[kind]
    known, chosen = {each.name for each in fields(options)}, {}
    for name, (field, _) in settings_of(CompareOptions).items():
        value = getattr(asked, name)
        if differs(value, field.default) and name != chosen_by:
            if name not in known:
                raise UsageError(f"{name}: has no meaning with {kind}")
            chosen[name] = value
    if "threads" in known:
        chosen["threads"] = asked.threads
    # Loaded here: each has statistics of its own, and one is asked.
    answer: Callable[..., Comparison] = getattr(import_module(f"gainful.tasks.compare.{module}"), function)
    return answer(scores, **chosen)


#: By name of each question: where it is answered, its options, and the option that only chooses it.
_QUESTIONS: Mapping[str, tuple[str, str, type, str]] = {
    "two systems": ("two_systems", "compare_two", PairOptions, ""),
    "several systems": ("several_systems", "compare_several", SystemsOptions, ""),
    "sessions that are not paired": ("unpaired_systems", "compare_unpaired", UnpairedOptions, ""),
    "factors": ("factors", "compare_factors", FactorOptions, ""),
    "the test bayes": ("probabilities", "compare_beliefs", BeliefOptions, "test"),
    "sequential": ("sequences", "compare_sequentially", SequenceOptions, "sequential"),
}


def _kind_of(scores: Scores, asked: CompareOptions) -> str:
    if scores.sessions and _is_unpaired(next(iter(scores.sessions.values())), asked.test):
        return "sessions that are not paired"
    if asked.sequential:
        return "sequential"
    if asked.test == BAYES.name:
        return "the test bayes"
    if asked.factors is not None:
        return "factors"
    of_several = asked.procedure or asked.correction or asked.groups or asked.family == "all"
    return "two systems" if len(scores.systems) == 2 and not of_several else "several systems"


def _is_unpaired(scores: SessionScores, test: str | None) -> bool:
    """Whether the test, or else the sessions that systems share, call for a comparison without pairs."""
    is_asked = None if test is None else test in UNPAIRED_TESTS
    if scores.pairing == "none" and is_asked is False:
        raise UsageError(
            f"test {test}: expected the same sessions under all systems, found none that two of them have",
            f"of systems with sessions of their own there is {' | '.join(UNPAIRED_TESTS)}",
        )
    if scores.pairing == "some" and is_asked is None:
        raise InputError(
            f"{scores.source or scores.measure}: expected the same sessions under all systems, or none under two, "
            f"found {len(scores.common):,} that all have",
            "--test randomisation compares on these, --test labels takes all sessions for the systems' own",
        )
    return scores.pairing == "none" if is_asked is None else is_asked


def _scores_of(asked: CompareOptions) -> Scores:
    """Read or compute the scores to compare, on the queries that are wanted."""
    given, runs, measures = asked.scores, asked.runs, asked.measures
    reading = {name: getattr(asked, name) for name in _READING if getattr(asked, name) is not None}
    existing = runs if _holds(runs, Evaluation) else given
    if isinstance(existing, (Scores, ScoreMatrix)) or _holds(existing, Evaluation) or _holds(existing, ScoreMatrix):
        if reading:
            raise UsageError(f"{next(iter(reading))}: has no meaning with scores that exist already")
        if existing is given and runs is not None:
            if isinstance(runs, Mapping) or measures is not None:
                raise UsageError("runs: expected none beside scores that exist already, found some")
            measures = runs
        scores = Scores.of(existing, None if measures is None else _listed(measures))  # type: ignore[arg-type]
        return scores if asked.queries is None else scores.chosen(Queries.of(asked.queries))
    hint = 'compare(qrels, {"old": run, "new": run}, "AP"), or evaluations by name, or a ScoreMatrix'
    if runs is None:
        raise UsageError(f"compare: expected judgments and runs, or scores, found only {type(given).__name__}", hint)
    if not isinstance(runs, Mapping):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found {type(runs).__name__}", hint)
    if isinstance(measures, Mapping):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found one run after the other", hint)
    queries: Any = asked.queries
    if asked.by is not None and queries is None:
        queries = judgments_about_queries(given, columns_by_side(asked.columns)["qrels"])
    wanted = _listed("nDCG@10" if measures is None else measures)
    evaluations: Any = evaluate(given, runs, wanted, queries=queries, threads=asked.threads, **reading)
    if not isinstance(evaluations, Evaluations):
        raise UsageError(f"compare: {_RUNS_IN_A_DICT}, found one run after the other", hint)
    scores = Scores.of(evaluations, wanted)
    return replace(scores, notices=(*evaluations.notices, *scores.notices))


def _holds(value: object, kind: type) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(each, kind) for each in value.values())


def _listed(measures: Any) -> list[str | Measure]:
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)


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


#: The pairs that are printed unless more are asked for.
FEW_PAIRS = 15


def common_baseline(results: Sequence[Posterior | ConfidenceSequence | UnpairedResult]) -> str | None:
    """The system that all others were compared with, if there is one."""
    names = {result.names[1] for result in results}
    return names.pop() if len(names) == 1 else None


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

    charts: ClassVar[tuple[str, ...]]
    is_corrected: ClassVar[bool] = False

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

    def whole_page(self, show: ShowOptions) -> Page:
        raise NotImplementedError

    def best_first(self, measure: str) -> list[str]:
        return self.matrices[measure].best_first

    def rows(self, measure: str, sort: str) -> list[str]:
        """The systems in the order that is wanted."""
        return list(self.matrices[measure].systems) if sort == "given" else self.best_first(measure)

    def baseline_of(self, measure: str) -> str | None:
        raise NotImplementedError

    def beats(self, measure: str, one: str, other: str) -> bool:
        raise NotImplementedError

    def letters_of(self, measure: str) -> dict[str, str]:
        """The letters that systems share unless they differ; empty without letters."""
        return {}

    def tested(self) -> list[str]:
        """The test and its level, for a table without the sentences that say so."""
        raise NotImplementedError

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        """The leaderboards or the tables of pairs, measure by measure."""
        raise NotImplementedError


class Marks(NamedTuple):
    """The marks beside the mean of each system, and what they say; ``names`` are letters that systems go by."""

    of: Callable[[str], str]
    note: str
    names: dict[str, str]

    def columns(self, name: str) -> tuple[Column, ...]:
        return (Column(name, "marks", get=self.of),)

    @property
    def letters(self) -> tuple[Column, ...]:
        return (Column("#", get=self.names.__getitem__),) if self.names else ()


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
    rows = found.rows(found.primary, show.sort)
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
