"""Is the difference real? :func:`compare` reads or computes scores and asks the question that fits them.

Here stands what its questions have in common: the result, which pairs they are about, and tables of means with marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreReport):
    """What was found of systems, by measure; the first measure is the primary one."""

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

    def table(self, *, places: int = 4) -> Page:
        """The main table alone: ``comparison.table().save("pairs.tex")``; csv and jsonl have every number of it."""
        page = self.page(places=places)
        main, *others = page.tables
        return replace(page, parts=(main, *(each for each in others if all(c.for_machines for c in each.columns))))

    def plot(self, chart: str | None = None, size: Size | None = None) -> Figure:
        """The charts as a figure of matplotlib, one or two columns of a paper wide, or a slide; needs gainful[plot]."""
        if chart is not None:
            raise UsageError(f"chart: expected none, as there is one kind only, found '{printable(chart)}'")
        return self.figure(size)


_READING = ("policy", "exclude", "items", "training", "intents", "columns")


@warns
@question(CompareOptions)
def compare(asked: CompareOptions) -> Comparison:
    """Compare systems: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures`` and ``policy`` to ``queries`` are as :func:`gainful.evaluate` takes them; without
    measures it is nDCG@10. Existing scores stand in the place of judgments and runs: what :func:`gainful.evaluate` or
    :func:`gainful.evaluate_sessions` returned of several systems, :class:`gainful.Scores`, a
    :class:`gainful.ScoreMatrix`, or a dict of these by measure; ``compare(results, "AP")`` then says by which of their
    measures, else by all. The first measure is the primary one.

    The scores and options decide which question is asked; each is also a function of its own, with its own result:

    - two systems: :func:`gainful.compare_two`;
    - several, or two with a ``procedure``, ``correction``, ``groups`` or one ``family``:
      :func:`gainful.compare_several`;
    - sessions that belong to one system each: :func:`gainful.compare_unpaired`;
    - ``factors`` of systems: :func:`gainful.compare_factors`;
    - ``test="bayes"``: :func:`gainful.compare_beliefs`;
    - ``sequential=True``: :func:`gainful.compare_sequentially`.

    A list of runs, ``{"llm": ["seed1.run", "seed2.run"]}``, is a system that was run several times: two or several
    systems are then compared by the t test, in which noise between runs is.

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
    if scores.has_repeats and kind not in ("two systems", "several systems"):
        raise UsageError(f"several runs of one system: cannot be combined with {kind}", "give one run of each system")
    module, function, chosen_by = _QUESTIONS[kind]
    # Loaded here: each has statistics of its own, and one is asked.
    answer: Any = getattr(import_module(f"gainful.tasks.compare.{module}"), function)
    known = {each.name for each in fields(answer.options)} - {"scores"}
    for name, (field, _) in settings_of(CompareOptions).items():
        if name not in known and name != chosen_by and differs(getattr(asked, name), field.default):
            raise UsageError(f"{name}: has no meaning with {kind}")
    found: Comparison = answer(scores, **{name: getattr(asked, name) for name in known})
    return found


#: By what is compared: the module and function that answer, and the option that only chooses them.
_QUESTIONS = {
    "two systems": ("two_systems", "compare_two", ""),
    "several systems": ("several_systems", "compare_several", ""),
    "sessions that are not paired": ("unpaired_systems", "compare_unpaired", ""),
    "factors": ("factors", "compare_factors", ""),
    "the test bayes": ("beyond_p", "compare_beliefs", "test"),
    "sequential": ("beyond_p", "compare_sequentially", "sequential"),
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
    given, runs, measures, queries = asked.scores, asked.runs, asked.measures, asked.queries
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
        one = "one run after the other" if isinstance(runs, Mapping) else type(runs).__name__
        raise UsageError(f"compare: expected the runs in a dict by their names, found {one}", hint)
    scores = Scores.of(evaluations, wanted).with_repeats(runs_of)
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


def common_baseline(results: Sequence[Posterior | ConfidenceSequence | UnpairedResult]) -> str | None:
    """The system that all others were compared with, if there is one."""
    names = {result.names[1] for result in results}
    return names.pop() if len(names) == 1 else None


def table_of_pairs(
    kind: str,
    results: Sequence[Posterior | ConfidenceSequence | UnpairedResult],
    columns: Iterable[Column],
    notes: tuple[str, ...],
    places: int,
    most: int | None,
) -> Table:
    """A row for each pair: the two systems, their difference, and what else is known of them."""
    first = results[0]
    every = (*head(f"system ← names.0 | against ← names.1 | difference .{places}"), *columns)
    title = f"{kind}, {first.measure}{' (lower is better)' if first.better == 'lower' else ''}"
    return Table.of(every, results, title=title, notes=notes, most=most, for_people=True)


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
#: The table for machines that has what one for people has.
_FOR_MACHINES = {"leaderboard": "systems", "means": "systems", "pairs": "pairs"}


class Standing(NamedTuple):
    """The systems of a table in their order, the baseline if there is one, and who is significantly better than whom.

    Systems that are not significantly different share ``letters``, where there are some.
    """

    systems: Sequence[str]
    baseline: str | None
    beats: Callable[[str, str], bool]
    letters: Mapping[str, str] = {}
    is_corrected: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class PairedComparison(Comparison):
    """Systems that answered the same queries: their means can be shown in a table, with marks where they differ."""

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
        """The page in full, or ``only`` one of its tables (leaderboard, pairs, means).

        ``marks`` chooses what is printed beside means (letters, daggers, or the systems beaten), ``sort`` the order
        of systems (best or given), ``chart`` what is drawn.
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
        """One table: ``comparison.table(marks="daggers").save("means.tex")``."""
        return self.page(places=places, only=only, marks=marks, sort=sort)

    def plot(self, chart: str | None = None, size: Size | None = None) -> Figure:
        """A chart of this comparison as a figure of matplotlib; needs gainful[plot]."""
        return self.page(chart=chart or self.charts[0]).figure(size)

    def whole_page(self, show: ShowOptions) -> Page:
        raise NotImplementedError

    def standing(self, measure: str, sort: str) -> Standing:
        raise NotImplementedError

    def tested(self) -> list[str]:
        """The test and its level, for a table without the sentences that say so."""
        raise NotImplementedError

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        """The leaderboards or the tables of pairs, measure by measure."""
        raise NotImplementedError


class Marks(NamedTuple):
    """The marks beside the mean of each system, if any, and their note; ``names`` are letters that systems go by."""

    of: Callable[[str], str] | None = None
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = {}

    def columns(self, name: str) -> tuple[Column, ...]:
        return () if self.of is None else (Column(name, "marks", get=self.of),)

    @property
    def letters(self) -> tuple[Column, ...]:
        return (Column("#", get=self.names.__getitem__),) if self.names else ()


def marks_of(standing: Standing, wanted: str | None) -> Marks:
    """The marks that are wanted: against a baseline daggers, among all letters, unless others are asked for."""
    systems, baseline, beats, letters, is_corrected = standing
    if wanted == "beaten":
        names = {system: letter(i) for i, system in enumerate(systems)}

        def beaten(one: str) -> str:
            others = (other for other in systems if baseline in (None, one, other) and beats(one, other))
            return "".join(map(names.__getitem__, others))

        note = "raised: the systems that this one is significantly better than, by their letters"
        return Marks(beaten, (note,), names)
    if wanted == "daggers" or (wanted is None and baseline is not None):
        if baseline is None:
            raise UsageError(
                "marks: expected a baseline with daggers, found none", f"name it: {option('baseline', 'SYSTEM')}"
            )

        def dagger(one: str) -> str:
            return BETTER if beats(one, baseline) else WORSE if beats(baseline, one) else ""

        note = f"{BETTER} better, {WORSE} worse than {printable(baseline, 40)}"
        return Marks(dagger, (f"{note}, after correction" if is_corrected else note,))
    if letters:
        note = "Systems sharing a letter do not differ significantly; equality is not shown."
        return Marks(letters.__getitem__, (note,))
    if wanted is not None:
        raise UsageError(
            f"marks: expected all pairs of 3 to {MOST_WITH_LETTERS} systems with letters, found "
            + ("more systems" if baseline is None else f"pairs with {printable(baseline, 40)} only"),
            f"{option('marks', 'beaten')} names the systems that each one is better than",
        )
    return Marks()


def means_table(found: PairedComparison, show: ShowOptions) -> Table:
    """Systems by all measures: marks after correction, the best emphasised."""
    rows = found.standing(found.primary, show.sort).systems
    marks = [
        marks_of(found.standing(measure, show.sort)._replace(systems=rows), show.marks) for measure in found.matrices
    ]
    columns = [*marks[0].letters, Column("system", get=lambda name: name)]
    bests: dict[int, float] = {}
    for matrix, beside in zip(found.matrices.values(), marks, strict=True):
        means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
        bests[len(columns)] = (max if matrix.better == "higher" else min)(means.values())
        columns.append(Column(matrix.measure, "number", show.places, get=means.__getitem__))
        columns += beside.columns(f"{matrix.measure} marks")
    notes = ["* best of its column", *dict.fromkeys(note for each in marks for note in each.notes)]
    if len(notes) == 1 and len(rows) > MOST_WITH_LETTERS:
        notes.append(f"no marks with more than {MOST_WITH_LETTERS} systems: {option('marks', 'beaten')} gives some")
    table = Table.of(columns, rows, title="Means", notes=tuple(notes), for_people=True)
    marked = {(i, column) for i, row in enumerate(table.rows) for column, best in bests.items() if row[column] == best}
    return replace(table, marked=frozenset(marked))
