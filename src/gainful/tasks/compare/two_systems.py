"""Comparison of two systems on the same queries: a sentence, the test, the deciding queries, and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import stdev
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.queries import Queries
from gainful.errors import UsageError, option, warns
from gainful.evaluation.beside import KINDS, Beside
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass, field, replace
from gainful.notation import count_of, grouped, listed, percent_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, Line, Plot, Points, Rule
from gainful.pages.page import Cell, Column, Detail, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats.anova import system_by_query
from gainful.stats.paired import FEW_QUERIES, PairResult, compare_pair
from gainful.stats.paired_tests import PairPlan
from gainful.stats.prediction_powered import judging_noise
from gainful.stats.repeatable import settled_differences
from gainful.tasks.compare import PairedComparison, Standing, check_known, compare_words as words, paired_matrices
from gainful.tasks.score_questions import CHARTS_OF_PAIRS, PairOptions, ShowOptions

if TYPE_CHECKING:
    from gainful.evaluation.score_matrix import ScoreMatrix
    from gainful.measures.base import Measure
    from gainful.stats.paired import Decider
    from gainful.stats.unpaired import UnpairedResult
    from gainful.tasks.compare.pair_bounds import PairBounds

_TEXT = 40  # characters of a query's text
#: More points would look like a line; with more queries, a line of shares with these steps is drawn instead.
_MOST_POINTS, _STEPS = 1000, 401


@dataclass(frozen=True, eq=False, repr=False)
class PairComparison(PairedComparison):
    """The comparison of two systems, by measure; ``segments`` are results for groups of queries."""

    charts: ClassVar = CHARTS_OF_PAIRS
    pairs: Mapping[str, PairResult]
    segments: Segments | None = None
    bounds: Mapping[str, PairBounds] = field(default_factory=dict)
    #: The parts of 1 - score by the primary measure, and the noise of its judge, each with a sentence as note.
    loss: tuple[Table, ...] = ()
    judge_noise: tuple[Table, ...] = ()

    def whole_page(self, show: ShowOptions) -> Page:
        results, places = list(self.pairs.values()), show.places
        first, several = results[0], len(results) > 1
        a, b = first.names
        all_units = plural_of(first.unit)

        def verdict(result: PairResult) -> str:
            if not result.nonzero:
                return "identical scores"
            if result.margin is not None and result.verdict == "equivalent":
                return f"equivalent within {result.margin.margin:g}"
            return result.verdict

        columns = (
            Column("measure", get=lambda r: r.measure + words.direction_text(r.better)),
            Column(b, "number", places, get=lambda r: r.mean_baseline),
            Column(a, "number", places, get=lambda r: r.mean_system),
            *head(f"difference +{places}"),
            words.interval_column(first.interval, places),
            *head("p ← test.p_cell"),
            Column("wins/ties/losses", get=lambda r: f"{r.wins}/{r.ties}/{r.losses}"),
            Column("verdict", get=verdict),
        )
        below = tuple(dict.fromkeys(line for result in results for line in notes_of_test(result)))
        more = [
            *(each.sentence for each in self.bounds.values()),
            *(each.notes[0] for each in self.loss + self.judge_noise),
        ]
        parts: list[Table | Chart | Detail | str] = [
            "\n".join([*map(pair_conclusion, results), *more]),
            Table.of(columns, results, title=f"Result ({a} - {b})", notes=below, for_people=True),
        ]
        for name, result in self.pairs.items():
            parts += table_of_runs(self.matrices[name], places)
            parts += _deciders(result, places, several, self.matrices[name])
        drawn = [difference_plot(self.matrices[self.primary], first.names, first.difference)] if first.nonzero else []
        parts += drawn if show.chart else []
        columns = (
            Column("measure"),
            Column("relative difference", get=lambda r: words.relative_text(r.practical)),
            *head(f"d_z .{places} ← effect.d_z"),
            Column("CI of d_z", get=lambda r: words.limits_or_none(r.effect.d_z_interval, places)),
            *head(f"g_z .{places} ← effect.g_z | d_av .{places} ← effect.d_av"),
            *head(f"rank-biserial .{places} ← effect.rank_biserial"),
            Column("CI of rank-biserial", get=lambda r: words.limits_or_none(r.effect.rank_biserial_interval, places)),
            *head(f"{all_units} won % ← effect.share_won"),
            Column("minimum detectable difference", "number", places, get=lambda r: r.detectable),
        )
        below = (
            f"Relative difference: difference / mean of {b}; marginal if the whole CI is below 5%, noticeable from 5% "
            "to 10%, substantial above.",
            "d_z: mean / SD of differences; g_z: d_z corrected for bias; d_av: mean difference / root mean variance of "
            "both systems.",
            *dict.fromkeys(f"H0: {result.test.hypothesis}." for result in results),
        )
        sizes = Table.of(columns, results, title="Effect sizes", notes=below, for_people=True)
        parts.append(Detail((sizes, *(() if show.chart else drawn))))
        parts.append(Table.of(_RECORD, results, title="pairs"))
        if self.bounds:
            columns = head("measure | lowest . ← low | highest . ← high | is_exact | unjudged #", for_machines=True)
            parts.append(Table.of(columns, list(self.bounds.values()), title="bounds"))
            found = [(name, *each) for name, of in self.bounds.items() for each in of.reversing]
            parts.append(Table(head("measure | query | document | grade .", for_machines=True), found, "reversing"))
        parts += [replace(each, notes=()) for each in self.loss + self.judge_noise]
        rows: list[tuple[Cell, ...]] = []
        for measure, result in self.pairs.items():
            matrix = self.matrices[measure]
            one, other = (matrix.column(name) for name in result.names)
            lists = (one.tolist(), other.tolist(), settled_differences(one, other).tolist())
            rows += list(zip([measure] * result.n, matrix.queries, *lists, strict=True))
        columns = head(f"measure | {first.unit} | system . | baseline . | difference .", for_machines=True)
        parts.append(Table(columns, rows, all_units))
        if self.segments is not None:
            parts += self.segments.parts(places)
        of = "{0.measure}: " if several else ""
        notes = [f"note: {of.format(result)}{warning}" for result in results for warning in result.warnings]
        if several:
            notes += self.secondary_notes()
            tests_text = count_of(len(results), "test")
            notes.append(f"{tests_text}, not corrected for each other; --family all corrects for all measures")
        tests = {}
        for measure, result in self.pairs.items():
            names = "test ← name | hypothesis | statistic | draws | enumerated ← is_enumerated | monte_carlo_error"
            null = result.test.null and values_of(result.test.null, "sd | critical")
            tests[measure] = values_of(result.test, names) | {"null": null, "interval": result.interval.method}
        header = values_of(first, "system | baseline") | {"primary": self.primary}
        header |= values_of(first, "alpha | seed") | {"tests": tests}
        return Page("compare", tuple(parts), (*notes, *self.scores.conventions), header)

    def standing(self, measure: str, sort: str) -> Standing:
        result, matrix = self.pairs[measure], self.matrices[measure]
        winner = {"better": 0, "superior": 0, "worse": 1, "inferior": 1}.get(result.verdict)

        def beats(one: str, other: str) -> bool:
            return one != other and winner is not None and one == result.names[winner]

        return Standing(matrix.systems if sort == "given" else matrix.best_first, result.names[1], beats)

    def tested(self) -> list[str]:
        pair = next(iter(self.pairs.values()))
        return [f"significant: {pair.test.test.noun.removeprefix('the ')}, {percent_text(pair.alpha)}"]

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        if only == "leaderboard":
            raise UsageError("only: 'leaderboard' cannot be used with two systems", "use pairs or means")
        return [next(page.tables)]


@warns
@question(PairOptions)
def compare_two(asked: PairOptions) -> PairComparison:
    """Compare two systems on the same queries by each measure: the second with the first, or with ``baseline``.

    >>> from gainful import ScoreMatrix
    >>> found = compare_two(ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]}))
    >>> found.pairs["P@5"].wins, found.pairs["P@5"].p
    (3, 0.25)
    """
    scores = Scores.of(asked.scores)
    matrices = paired_matrices(scores)
    if len(scores.systems) != 2:
        raise UsageError(f"compare_two: expected two systems, found {len(scores.systems)}")
    check_known(asked.baseline, scores.systems, "baseline")
    one, other = scores.systems
    a, b = (one, other) if asked.baseline == other else (other, one)
    plan = PairPlan(asked.test, asked.interval, asked.alpha, asked.draws, asked.seed, asked.margin, asked.most)
    found = {name: compare_pair(matrix, a, b, plan) for name, matrix in matrices.items()}
    segments = None
    if asked.by is not None:
        segments = compare_segments(matrices, replace(plan, interval=None), asked.baseline, asked.by)
    bounds = {}
    if asked.bounds:
        from gainful.tasks.compare.pair_bounds import pair_bounds  # loaded late: rarely needed

        bounds = {name: pair_bounds(scores, matrix, (a, b)) for name, matrix in matrices.items()}
    first = matrices[scores.measures[0]]
    loss = (pair_loss(scores, first, (a, b), plan),) if asked.loss else ()
    noise = (judge_noise(scores, first, (a, b), asked.judged_again, plan.alpha),) if asked.judged_again else ()
    return PairComparison(scores, found, segments, bounds, loss, noise)


def judge_noise(
    scores: Scores, matrix: ScoreMatrix, names: tuple[str, str], again: Sequence[QrelsLike], alpha: float
) -> Table:
    """Estimate the difference of two systems' means below which the judge's noise decides, from further judgings."""
    judged, runs = scores.judged_and_runs(option("judged_again"))
    sets, chosen, rows = [judged.qrels, *map(Qrels.of, again)], {name: runs[name] for name in names}, []
    for qrels in sets:
        same = Judged(replace(qrels, scale=max(each.scale for each in sets)), judged.policy)
        values = [each.by_query(matrix.measure) for each in evaluate_runs(same, chosen, matrix.measure).values()]
        rows.append([[of_queries.get(query) for query in matrix.queries] for of_queries in values])
    first, other = np.array(rows, np.float64).swapaxes(0, 1)
    differences, has_all = first - other, ~np.isnan(first - other).any(axis=0)
    if not has_all.any():
        raise UsageError(f"{option('judged_again')}: no query has judgments in all sets")
    weights = None if matrix.weights is None else matrix.weights[has_all]
    noise, means = judging_noise(differences[:, has_all], alpha, weights), differences[:, has_all].mean(axis=1).tolist()
    count, below = len(sets), f"Differences in {matrix.measure} below {noise:.{words.places_for(noise)}f}"
    sentence = f"{below} may be due to the noise of the judge ({percent_text(1 - alpha)}, {count} judgings)."
    columns = head("measure | judgings # | queries # | noise . | lowest . | highest .", for_machines=True)
    row = (matrix.measure, count, int(has_all.sum()), noise, min(means), max(means))
    return Table(columns, [row], "judge noise", (sentence,))


def pair_loss(scores: Scores, matrix: ScoreMatrix, names: tuple[str, str], plan: PairPlan) -> Table:
    """Split the difference of two systems' means, first minus second, into finding and ordering relevant documents."""
    judged, runs = scores.judged_and_runs(option("loss"))
    measure: Measure = next(iter(scores.evaluations.values()))._measure(matrix.measure)
    about, chosen = replace(matrix.about or Queries(), only=matrix.queries), {name: runs[name] for name in names}
    found = evaluate_runs(judged, chosen, [measure], queries=about, beside=Beside(loss=True))
    one, other = (found[name].beside("loss", measure) for name in names)
    if not one:
        raise UsageError(f"{option('loss')}: the loss of {measure} cannot be split exactly")
    lost = [found[name].besides["loss"][str(measure)] for name in matrix.systems]
    first, *later = {**one, **other}
    plan = PairPlan(alpha=plan.alpha, draws=plan.draws, seed=plan.seed)

    def gained(*parts: str) -> PairResult:
        kept = [np.ones(len(matrix.queries)) - sum(each.get(part, 0.0) for part in parts) for each in lost]
        return compare_pair(replace(matrix, values=np.stack(kept, axis=1)), *names, plan)

    pairs = {**{part: gained(part) for part in (first, *later)}, "finding": gained(*later)}
    digits = words.places_for(pairs["finding"].difference + pairs[first].difference)

    def clause(pair: PairResult, how: str) -> str:
        interval = f"{percent_text(1 - plan.alpha)} CI {words.interval_text(pair.interval, digits)}"
        return f"{'gains' if pair.difference >= 0 else 'loses'} {abs(pair.difference):.{digits}f} {how} ({interval})"

    finding = clause(pairs["finding"], f"{measure} by finding relevant documents")
    ordering = clause(pairs[first], f"by ordering its top {measure.rank_cutoff or first.rpartition('-')[2]}")
    sentence = f"{words.name_text(names[0], names)} {finding} and {ordering}."
    if one == other:
        both = " and ".join(words.name_text(name, names) for name in names)
        sentence = f"{both} lose the same {measure} in every part."
    worth = KINDS["loss"].note(measure, {names[0]: one, names[1]: other})
    columns = head("measure | part | system . | baseline . | gain . | low . | high .", for_machines=True)
    rows = [
        (matrix.measure, part, 1.0 - each.mean_system, 1.0 - each.mean_baseline, each.difference, *limits)
        for part, each in pairs.items()
        for limits in [(each.interval.low, each.interval.high)]
    ]
    return Table(columns, rows, "loss", (sentence if worth is None else f"{sentence[:-1]}; {worth}.",))


def pair_conclusion(result: PairResult) -> str:
    """Return the conclusion, preceded by the minimum detectable difference if queries are few."""
    sentence = words.difference_sentence(result)
    if result.effective < FEW_QUERIES and result.detectable is not None:
        over = words.units_text(result.n, 0, result.unit, effective=result.effective)
        return (
            f"With {over}, {words.detectable_text(result, 'the minimum detectable difference is {:.3f}')}. {sentence}"
        )
    return sentence


def notes_of_test(result: PairResult | UnpairedResult) -> list[str]:
    """Describe the test, the interval and the minimum detectable difference."""
    test, method = result.test, result.interval.method
    how = ", Student's t for many sessions" if test.name == "labels" else ""
    if test.draws is not None:
        drawn = count_of(test.draws, f"sign {test.test.draws}" if test.test.draws == "flip" else test.test.draws)
        how = f", all {drawn}" if test.is_enumerated else f", {drawn}, seed {result.seed}"
    noun = test.test.noun.removeprefix("the ")
    note = f"{noun[0].upper()}{noun[1:]}{' and CI' if method == test.name else how}"
    note += how if method == test.name else f"; CI: {method}"
    if isinstance(result, PairResult) and result.unit == "session":
        note += f"; paired on {'sessions that both systems have' if result.left_out else 'the same sessions'}"
    notes = [f"{note}."]
    if isinstance(result, PairResult) and result.detectable is not None and math.isfinite(result.detectable):
        by = "Yuen's test" if test.test.of == "trimmed mean" else "paired t test"
        notes.append(f"Minimum detectable difference: 80% power, {by}.")
    return notes


def table_of_runs(matrix: ScoreMatrix, places: int) -> list[Table]:
    """Return a table of the variation between runs of each system; none if no system has several runs."""
    rows: list[tuple[Cell, ...]] = []
    counted = matrix.times_weights().repeats
    for name, mean in zip(matrix.systems, matrix.means.tolist(), strict=True):
        means = [math.fsum(run) / run.size for run in counted[name].T] if name in counted else []
        spread = (min(means), max(means), stdev(means)) if means else (None, None, None)
        rows.append((name, len(means) or 1, mean, *spread))
    notes = ["Lowest, highest, SD: of the means of single runs; test and CI account for noise between runs."]
    single = [printable(name, 40) for name in matrix.systems if name not in counted]
    if single:
        notes.append(f"Single run, assumed to be free of noise: {', '.join(single)}.")
    elif len(matrix.queries) > 1 and (found := system_by_query(matrix.values, list(matrix.repeats.values()))):
        effect, noise = found
        share = max(0.0, 1 - 1 / effect.f) if effect.f else 0.0
        notes.append(
            f"System-{matrix.unit} interaction: F({effect.df:,}, {noise.df:,}) = {effect.f:.2f}, p = {effect.p:.2g}. "
            f"{100 * share:.0f}% of the variance of per-{matrix.unit} differences comes from the systems, the rest "
            "from noise between runs."
        )
    columns = head(f"system | runs # | mean .{places} | lowest .{places} | highest .{places} | sd .{places + 1}")
    return [Table(columns, rows, f"Runs, {matrix.measure}", tuple(notes))] if counted else []


def _deciders(result: PairResult, places: int, several: bool, matrix: ScoreMatrix) -> Iterator[Table]:
    (a, b), about, missing = result.names, matrix.about, matrix.missing
    of = f", {result.measure}" if several else ""

    def text_of(decider: Decider) -> str | None:
        text = None if about is None else about.text(decider.query)
        return None if text is None else printable(text, _TEXT)

    def lacking(decider: Decider) -> str:
        return " and ".join(printable(name, 40) for name in (b, a) if (name, decider.query) in missing)

    columns = (
        *head(f"{result.unit} ← query"),
        *((Column("text", get=text_of),) if about is not None and about.has_texts else ()),
        Column(b, "number", places, get=lambda decider: decider.baseline),
        Column(a, "number", places, get=lambda decider: decider.system),
        *head(f"difference +{places} | share of total |difference| % ← share"),
    )
    for name, deciders in ((a, result.for_system), (b, result.for_baseline)):
        if deciders:
            title = f"{plural_of(result.unit).capitalize()} that favour {name}{of}"
            marked = (Column("not answered by", get=lacking),) if any(map(lacking, deciders)) else ()
            yield Table.of((*columns, *marked), deciders, title=title, for_people=True)


#: A result for machines.
_RECORD = head(
    "measure | system | baseline | better | verdict | test ← test.name | enumerated ← test.is_enumerated | "
    "interval ← interval.method | stopgap ← interval.is_stopgap | label ← practical.label | "
    "not_inferior ← margin.is_not_inferior | queries # ← n | effective_queries . ← effective | left_out # | "
    "unanswered_system # ← unanswered.0 | unanswered_baseline # ← unanswered.1 | "
    "nonzero # | wins # | ties # | losses # | "
    "draws # ← test.draws | seed # | mean_system . | mean_baseline . | difference . | sd . | low . ← interval.low | "
    "high . ← interval.high | alpha . | p . ← test.p | statistic . ← test.statistic | "
    "monte_carlo_error . ← test.monte_carlo_error | detectable . | relative . ← practical.relative | "
    "relative_low . ← practical.low | relative_high . ← practical.high | d_z . ← effect.d_z | "
    "d_z_low . ← effect.d_z_interval.low | d_z_high . ← effect.d_z_interval.high | g_z . ← effect.g_z | "
    "d_av . ← effect.d_av | rank_biserial . ← effect.rank_biserial | "
    "rank_biserial_low . ← effect.rank_biserial_interval.low | "
    "rank_biserial_high . ← effect.rank_biserial_interval.high | share_won . ← effect.share_won | "
    "margin . ← margin.margin | margin_low . ← margin.interval.low | margin_high . ← margin.interval.high",
    for_machines=True,
)


_DIFFERENCE = Axis("difference")


#: Queries labelled on each side of a difference plot.
_LABELLED = 3


def difference_plot(matrix: ScoreMatrix, names: tuple[str, str], mean: float, axis: Axis = _DIFFERENCE) -> Plot:
    """Plot the difference on each query, largest first; of very many queries, their cumulative distribution."""
    (a, b), count, unit = names, len(matrix.queries), matrix.unit
    differences = settled_differences(matrix.column(a), matrix.column(b))
    if differences.size > _MOST_POINTS:
        ordered = np.sort(differences)
        steps = np.linspace(0, count - 1, _STEPS).round().astype(np.int64)
        better = differences if matrix.better == "higher" else -differences
        shares = (f"{100 * np.count_nonzero(which) / count:.1f}%" for which in (better > 0, better == 0, better < 0))
        caption = "{} is better on {}, equal on {} and worse on {} of {}."
        return Plot(
            f"{matrix.measure}: {printable(a, 40)} - {printable(b, 40)}, {units(count, unit)}",
            axis,
            Axis(f"cumulative share of {plural_of(unit)}", 0.0, 1.0),
            (Line("", tuple(ordered[steps].tolist()), tuple(((steps + 1) / count).tolist())),),
            rules=(Rule("", x=0.0), *((Rule("mean", x=mean),) if mean else ())),
            caption=caption.format(printable(a, 40), *shares, plural_of(unit)),
        )
    order = np.argsort(-differences, kind="stable").tolist()
    values = [float(differences[i]) for i in order]
    # Label the most extreme queries of both sides; figures drop labels that do not fit.
    first, last = (differences[order[:_LABELLED]] > 0).sum(), count - (differences[order[-_LABELLED:]] < 0).sum()
    labels = [matrix.queries[i] if place < first or place >= last else "" for place, i in enumerate(order)]
    favoured = ("", a, b) if matrix.better == "higher" else ("", b, a)  # by the sign of the difference
    sides = grouped((favoured[int(np.sign(value))], place) for place, value in enumerate(values))
    points = []
    for system, places in sides.items():
        places.sort(key=lambda place: -abs(values[place]))  # labels are placed in this order
        x, y, texts = zip(*((place + 1.0, values[place], labels[place]) for place in places), strict=True)
        name = f"{printable(system, 40)} is better" if system else "equal"
        points.append(Points(name, x, y, texts, "system" if system else "guide", system))
    return Plot(
        f"{matrix.measure}: {printable(a, 40)} - {printable(b, 40)} per {unit}",
        Axis(f"{plural_of(unit)}, largest difference first", 0.0, count + 1.0),
        axis,
        points=tuple(points),
        rules=(Rule("", y=0.0), *((Rule("mean", y=mean),) if mean else ())),
    )


_MOST_NAMED = 5


@dataclass(frozen=True)
class SegmentResult:
    """The result for a group of queries, at the level of one of ``tests`` comparisons: all intervals hold at once."""

    measure: str
    segment: str
    result: PairResult
    tests: int

    @property
    def p(self) -> float:
        return min(1.0, self.tests * self.result.p)  # Bonferroni

    @property
    def is_too_small(self) -> bool:
        """Whether no difference could be significant: with k nonzero differences, p is at least 2^(1-k)."""
        return 2.0 ** (1 - self.result.nonzero) >= self.result.alpha

    @property
    def verdict(self) -> str:
        if not self.result.nonzero:
            return "identical scores"
        return "too few queries" if self.is_too_small else self.result.verdict


@dataclass(frozen=True)
class Segments:
    """Results for the groups of queries defined by the column ``by``, by measure."""

    by: str
    alpha: float
    found: Mapping[str, tuple[SegmentResult, ...]]

    def __getitem__(self, measure: str) -> tuple[SegmentResult, ...]:
        return self.found[measure]

    def parts(self, places: int) -> Iterator[Table | str]:
        by, level = self.by, percent_text(1 - self.alpha)
        for measure, results in self.found.items():
            pairs = dict.fromkeys(each.result.names for each in results)
            yield "\n".join(_segment_sentence(pair, results, by) for pair in pairs)
            first, several = results[0].result, len(pairs) > 1
            columns = (
                Column("measure", for_machines=True),
                *head(["system ← result.system"] if several else []),
                Column(by, get=lambda each: each.segment),
                *head("queries # ← result.n"),
                Column(first.baseline, "number", places, get=lambda each: each.result.mean_baseline),
                Column("mean" if several else first.system, "number", places, get=lambda each: each.result.mean_system),
                *head(f"difference .{places} ← result.difference"),
                Column(f"simultaneous {level} CI", get=lambda each: words.interval_text(each.result.interval, places)),
                *head("low . ← result.interval.low | high . ← result.interval.high", for_machines=True),
                Column("p adj.", get=lambda each: replace(each.result.test, p=each.p).p_cell),
                *head("p value . ← p", for_machines=True),
                Column("verdict"),
            )
            note = f"p adj. and CI: Bonferroni correction for {count_of(results[0].tests, 'comparison')}."
            yield Table.of(columns, results, title=f"{measure} by {by}", notes=(note,))


def compare_segments(matrices: Mapping[str, ScoreMatrix], plan: PairPlan, baseline: str | None, by: str) -> Segments:
    """Compare two systems, or each system with the baseline, in every group of queries by each measure."""
    found = {}
    for name, matrix in matrices.items():
        if matrix.about is None:
            raise UsageError("by requires a table of queries", "--queries FILE (queries= in Python)")
        if len(matrix.systems) > 2 and baseline is None:
            raise UsageError("by requires a baseline for more than two systems", "--baseline names one")
        segments = matrix.about.segments(by, matrix.queries)
        against = baseline or matrix.systems[0]
        pairs = [(system, against) for system in matrix.best_first if system != against]
        tests = len(pairs) * len(segments)
        parts = {group: matrix.select(queries=[matrix.queries[i] for i in rows]) for group, rows in segments.items()}
        one_of_all = replace(plan, alpha=plan.alpha / tests)
        found[name] = tuple(
            SegmentResult(name, segment, compare_pair(part, *pair, one_of_all), tests)
            for pair in pairs
            for segment, part in parts.items()
        )
    return Segments(by, plan.alpha, found)


def _segment_sentence(names: tuple[str, str], results: Sequence[SegmentResult], by: str) -> str:
    own = [each for each in results if each.result.names == names]
    system, baseline = (printable(name, 40) for name in names)
    clauses = []
    for word, verdicts in (("better", ("better", "superior")), ("worse", ("worse", "inferior"))):
        groups = [printable(each.segment, 40) for each in own if each.verdict in verdicts]
        if groups:
            of = f"{len(groups)} of {count_of(len(own), 'group')}"
            clauses.append(f"significantly {word} than {baseline} in {of} ({listed(groups, most=_MOST_NAMED)})")
    small = sum(each.verdict == "too few queries" for each in own)
    rest = f"; {count_of(small, 'group')} too small to test" if small else ""
    nothing = f"not significantly different from {baseline} in any of {count_of(len(own), 'group')}"
    return f"By {by}, {system} is {' and '.join(clauses) or nothing}{rest}."
