"""Comparisons of pairs without p: posterior probabilities, and sequential intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from gainful.data.queries import read_ids
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.score_matrix import ScoreMatrix, bounds_of
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass
from gainful.notation import count_of, number_text, plural_of, printable
from gainful.pages.charts import Axis, Band, Chart, Line, Plot, Rule
from gainful.pages.page import Cell, Column, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats.without_p import ConfidenceSequence, Posterior, confidence_sequence, posterior
from gainful.tasks.compare import (
    Comparison,
    common_baseline,
    compare_words as words,
    compared_pairs,
    interval_chart,
    paired_matrices,
    table_of_pairs,
)
from gainful.tasks.score_questions import BeliefOptions, SequenceOptions

_POINTS, _REACH = 121, 4.5
_CHECKPOINTS = 10
_MOST_PAIRS = 100  # of a sequential comparison
_VALID = "valid however often you look"


@dataclass(frozen=True, eq=False, repr=False)
class BeliefComparison(Comparison):
    """The posterior distributions of pairs of systems, by measure."""

    asked: BeliefOptions
    posteriors: Mapping[str, tuple[Posterior, ...]]

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | str] = []
        primary = self.posteriors[self.primary]
        margin, level = primary[0].margin, number_text(round(1 - primary[0].alpha, 12))
        within = number_text(margin)

        def chance(name: str, found: Posterior) -> str:
            return "-" if found.probabilities is None else chance_text(getattr(found.probabilities, name))

        for name, results in self.posteriors.items():
            first, lacking = results[0], self.matrices[name].unanswered.items()
            if len(results) == 1:
                parts.append(posterior_sentence(first))
            else:
                counts, baseline = Counter(result.verdict for result in results), common_baseline(results)
                decided = counts["better"] + counts["worse"]
                of = f"comparisons with {printable(baseline, 40)}" if baseline else "pairs"
                others = [f"{counts[each]:,} are {each}" for each in ("equivalent", "inconclusive") if counts[each]]
                claim = (
                    f"{first.measure}: in {decided:,} of {len(results):,} {of}, one system is better by more than "
                    f"{within} with probability {level} or more "
                    f"({words.units_text(first.n, first.left_out, first.unit, lacking)})"
                )
                parts.append("; ".join([claim, *others]) + ".")
            columns = (
                Column(
                    f"{words.level_text(first.interval)} credible interval",
                    get=lambda each: words.interval_text(each.interval, places) if each.probabilities else "-",
                ),
                *(Column(name, get=partial(chance, name)) for name in ("worse", "equivalent", "better")),
                Column("verdict", get=lambda each: each.verdict if each.probabilities else "all differences are equal"),
            )
            notes = (
                f"Worse, better: by more than {within}; equivalent: within {within}; verdict: probability {level} or "
                "more.",
                f"Posterior: Student's t, {first.df} degrees of freedom, prior p(mean, sd) ~ 1 / sd.",
            )
            parts.append(table_of_pairs("Probabilities", results, columns, notes, places, self.asked.most_shown))
        rules = Rule(f"-{within}", x=-margin), Rule(within, x=margin)
        if len(primary) == 1 and primary[0].probabilities:
            found = primary[0]
            a, b = (printable(name, 40) for name in found.names)
            reach = _REACH * found.scale
            x = [found.difference + reach * (2 * i / (_POINTS - 1) - 1) for i in range(_POINTS)]
            line = Line("posterior", tuple(x), tuple(found.density(value) for value in x))
            title = f"{found.measure}: mean difference {a} - {b}"
            caption = f"Between the lines at -{within} and {within}: equivalent."
            parts.append(Plot(title, Axis("difference"), Axis("density", 0.0), (line,), rules=rules, caption=caption))
        elif any(result.probabilities for result in primary):
            chances = [chance("better", each) if each.probabilities else "" for each in primary]
            lines = f"{words.level_text(primary[0].interval)} credible intervals"
            parts.append(interval_chart(primary, chances, "better", rules, lines))
        everything = [result for results in self.posteriors.values() for result in results]
        role = "baseline" if common_baseline(everything) else "other"
        names = f"measure | system | {role} ← baseline | better | verdict | queries # ← n | difference ."
        numbers = (
            "alpha . | margin . | probability_worse . ← probabilities.worse | probability_equivalent . ← "
            "probabilities.equivalent | probability_better . ← probabilities.better | scale . | df #"
        )
        record = (
            *head(names, for_machines=True),
            Column("low", "number", for_machines=True, get=lambda each: each.interval.low if each.sd else math.nan),
            Column("high", "number", for_machines=True, get=lambda each: each.interval.high if each.sd else math.nan),
            *head(numbers, for_machines=True),
        )
        parts.append(Table.of(record, everything, title="posteriors"))
        caveats = ["probabilities depend on the prior; unlike a test, they do not bound the share of wrong verdicts"]
        if len(everything) > 1:
            caveats.append(f"{count_of(len(everything), 'comparison')}, not corrected for their number")
        header: dict[str, object] = {
            "test": "bayes",
            "prior": "p(mean, sd) ~ 1 / sd",
            "primary": self.primary,
            **values_of(primary[0], "alpha | margin"),
            "queries_left_out": {name: results[0].left_out for name, results in self.posteriors.items()},
        }
        return Page("compare", tuple(parts), (*caveats, *self.scores.conventions), header)


@warns
@question(BeliefOptions)
def compare_beliefs(asked: BeliefOptions) -> BeliefComparison:
    """Estimate the probabilities that systems are worse, equivalent within ``margin``, and better.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]})
    >>> [found] = compare_beliefs(scores, margin=0.01).posteriors["P@5"]
    >>> round(found.probabilities.better, 2)
    0.96
    """
    scores = Scores.of(asked.scores)
    margin = asked.margin
    if margin is None:
        hint = f"{option('margin', 0.01)} sets it; exactly equal means would have probability 0"
        raise UsageError("test bayes requires a margin, within which systems are equivalent", hint)
    found = {
        name: tuple(posterior(matrix, a, b, margin, asked.alpha) for a, b in compared_pairs(matrix, asked))
        for name, matrix in _unweighted(scores, "test bayes").items()
    }
    return BeliefComparison(scores, asked, found)


def _unweighted(scores: Scores, comparison: str) -> Mapping[str, ScoreMatrix]:
    """Return the score matrices by measure; weights are refused."""
    matrices = paired_matrices(scores)
    if any(matrix.weights is not None for matrix in matrices.values()):
        raise UsageError(f"weights cannot be used with {comparison}", "maxt supports them")
    return matrices


def posterior_sentence(found: Posterior) -> str:
    """Summarise a posterior: the verdict with all probabilities, the difference and its interval."""
    a, b = (printable(name, 40) for name in found.names)
    queries = words.units_text(found.n, found.left_out, found.unit, zip(found.names, found.unanswered, strict=True))
    if found.probabilities is None:
        if not found.difference:
            return f"{a} and {b} have the same {found.measure} on each of {queries}: there is nothing to compare."
        return f"{a} and {b} differ by {found.difference:g} {found.measure} on each of {queries}, without variation."
    by = f"{number_text(found.margin)} {found.measure}"
    worse, equivalent, better = map(chance_text, found.probabilities)
    more = f"by more than {by}"
    claims = {
        "better": f"{a} is better than {b} {more} with probability {better} (equivalent: {equivalent}, worse: {worse})",
        "worse": f"{a} is worse than {b} {more} with probability {worse} (equivalent: {equivalent}, better: {better})",
        "equivalent": f"{a} and {b} are equivalent within {by} with probability {equivalent} "
        f"(better: {better}, worse: {worse})",
        "inconclusive": f"It is inconclusive whether {a} and {b} differ {more}: {a} is better with probability "
        f"{better}, equivalent with {equivalent}, worse with {worse}",
    }
    places = words.places_for(found.difference)
    interval = f"{words.level_text(found.interval)} credible interval {words.interval_text(found.interval, places)}"
    return f"{claims[found.verdict]}; mean difference {found.difference:.{places}f}, {interval}, {queries}."


def chance_text(probability: float) -> str:
    """Format a probability with two decimals, never as 0 or 1.

    >>> chance_text(0.971), chance_text(0.0004), chance_text(0.9996)
    ('0.97', '< 0.01', '> 0.99')
    """
    if probability < 0.005:
        return "< 0.01"
    return "> 0.99" if probability > 0.995 else f"{probability:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class SequenceComparison(Comparison):
    """The sequential comparisons of pairs of systems, by measure."""

    asked: SequenceOptions
    sequences: Mapping[str, tuple[ConfidenceSequence, ...]]

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | str] = []
        primary, all_units = self.sequences[self.primary], plural_of(self.unit)
        columns = (
            Column("interval", get=lambda each: words.interval_text(each.interval, places)),
            *head("significant after # ← significant_after | verdict"),
        )
        charts: list[Table | Chart | str] = []  # only the first, of the primary measure, is shown
        note = f"Significant after: number of {all_units} until the interval first excluded 0."
        for name, results in self.sequences.items():
            first, count = results[0], sum(each.verdict != "inconclusive" for each in results)
            if len(results) == 1:
                sentence, steps, path = _watched(first, places)
                parts += [sentence, steps]
                charts.append(path)
                continue
            baseline, rest, lacking = common_baseline(results), len(results) - count, self.matrices[name].unanswered
            of = count_of(len(results), "system" if baseline else "pair")
            of += f" from {printable(baseline, 40)}" if baseline else ""
            shown = f"; for the other{'' if rest == 1 else 's'} no difference was shown yet" if rest else ""
            parts.append(
                f"{first.measure} after {words.units_text(first.n, first.left_out, first.unit, lacking.items())}. "
                f"Significantly different: {count:,} of {of} "
                f"(simultaneous {words.level_text(first.interval)} intervals, {_VALID}){shown}."
            )
            parts.append(table_of_pairs("Differences", results, columns, (note,), places, self.asked.most_shown))
        if len(primary) == 1:
            parts.append(charts[0])
        else:
            texts = ["" if each.significant_after is None else str(each.significant_after) for each in primary]
            lines = f"limits after all {all_units}"
            parts.append(interval_chart(primary, texts, "significant after", (Rule("", x=0.0),), lines))
        everything = [each for results in self.sequences.values() for each in results]
        role = "baseline" if common_baseline(everything) else "other"
        names = (
            f"measure | system | {role} ← baseline | better | verdict | queries # ← n | "
            "significant_after # | difference . | low . ← interval.low | high . ← interval.high | alpha ."
        )
        parts.append(Table.of(head(names, for_machines=True), everything, title="sequences"))
        names = f"measure | system | {role} | query | queries # | difference . | low . | high ."
        every_step: list[tuple[Cell, ...]] = [
            (each.measure, *each.names, each.queries[look - 1], look, *numbers)
            for each in everything
            for look, *numbers in zip(each.looks, each.means, each.lows, each.highs, strict=True)
        ]
        parts.append(Table(head(names, for_machines=True), every_step, "steps"))
        first = primary[0]
        notes = [f"{all_units} in order of --arrival, by default of IDs; the order must not depend on the scores"]
        if first.pairs > 1:
            level = number_text(float(f"{first.alpha / first.pairs:.3g}"))
            notes.append(f"{first.pairs:,} pairs, each at level {level}: all intervals hold simultaneously")
        notes += self.secondary_notes(" (not corrected)")
        header: dict[str, object] = {
            "sequential": True,
            "primary": self.primary,
            **values_of(first, "alpha | pairs"),
            "queries_left_out": {name: results[0].left_out for name, results in self.sequences.items()},
        }
        return Page("compare", tuple(parts), (*notes, *self.scores.conventions), header)


@warns
@question(SequenceOptions)
def compare_sequentially(asked: SequenceOptions) -> SequenceComparison:
    """Compare systems by intervals that are valid after every query, however often one looks, for bounded measures.

    ``arrival`` is the order of queries, or a file with it; by default the order of their IDs.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]})
    >>> [found] = compare_sequentially(scores).sequences["P@5"]
    >>> found.looks, found.verdict
    ((1, 2, 3, 4), 'inconclusive')
    """
    scores = Scores.of(asked.scores)
    arrival = read_ids(asked.arrival, "arrival") if isinstance(asked.arrival, str) else asked.arrival
    places = {query: place for place, query in enumerate(dict.fromkeys(arrival or ()))}
    found = {}
    for name, matrix in _unweighted(scores, "sequential").items():
        bounds, pairs, rows = bounds_of(matrix), compared_pairs(matrix, asked), list(range(len(matrix.queries)))
        if arrival is not None:
            for query in matrix.queries:
                if query not in places:
                    hint = "each line begins with a query ID, as in judgments"
                    raise InputError(f"arrival: query '{printable(query)}' of {matrix.origin} is missing", hint)
            rows.sort(key=[places[query] for query in matrix.queries].__getitem__)
        if len(pairs) > _MOST_PAIRS:
            hint = f"each pair widens all intervals; select pairs with {option('baseline')} or {option('pairs')}"
            raise UsageError(f"sequential: expected at most {_MOST_PAIRS} pairs, found {len(pairs):,}", hint)
        found[name] = tuple(
            confidence_sequence(matrix, a, b, bounds, rows=rows, alpha=asked.alpha, pairs=len(pairs)) for a, b in pairs
        )
    return SequenceComparison(scores, asked, found)


def _watched(found: ConfidenceSequence, places: int) -> Iterator[Table | Plot | str]:
    """Yield the conclusion for one pair, a table of intermediate steps, and a plot."""
    a, b = (printable(name, 40) for name in found.names)
    lacking, digits = zip(found.names, found.unanswered, strict=True), words.places_for(found.difference)
    queries = words.units_text(found.n, found.left_out, found.unit, lacking)
    level, all_units = words.level_text(found.interval), plural_of(found.unit)
    interval = f"{level} interval {words.interval_text(found.interval, digits)}, {_VALID}"
    limits = f"{interval}; mean difference {found.difference:.{digits}f}"
    if found.is_empty:
        yield (
            f"After {queries}, every difference between {a} and {b} is excluded, so there is no verdict: the order of "
            f"the {all_units} depends on the scores, or the interval missed (probability {number_text(found.alpha)})."
        )
    elif found.significant_after is None:
        yield f"{a} and {b} are not yet significantly different in {found.measure}: after {queries} {limits}."
    else:
        verb = "is ahead of" if found.verdict == "better" else "is behind"
        since = f"significant since {found.unit} {found.significant_after:,}"
        yield f"{a} {verb} {b} in {found.measure} after {queries} ({since}): {limits}."
    count = len(found.looks)
    wanted = {max(1, round(count * tenth / _CHECKPOINTS)) - 1 for tenth in range(1, _CHECKPOINTS + 1)}
    if found.significant_after is not None:
        wanted.add(found.looks.index(found.significant_after))
    rows: list[tuple[Cell, ...]] = []
    for i in sorted(wanted):
        excludes_0 = found.lows[i] > 0 or found.highs[i] < 0
        between = words.limits_text(found.lows[i], found.highs[i], places)
        rows.append((found.looks[i], found.means[i], between, "yes" if excludes_0 else ""))
    columns = head(f"{all_units} # | difference .{places} | {level} interval | excludes 0")
    measure = f"{found.measure}{words.direction_text(found.better)}"
    title = f"{found.unit.capitalize()} by {found.unit}: {' - '.join(found.names)}, {measure}"
    yield Table(columns, rows, title, for_people=True)
    # The first intervals are too wide to be informative.
    widest = found.highs[0] - found.lows[0]
    begin = next((i for i, low in enumerate(found.lows) if found.highs[i] - low <= widest / 2), 0)
    x = tuple(float(look) for look in found.looks[begin:])
    lows, highs = found.lows[begin:], found.highs[begin:]
    lines = (
        Line("mean difference", x, found.means[begin:], band=Band(x, lows, highs)),
        # Lines, because only figures draw a band.
        Line(f"{level} limits", x, lows, "guide"),
        Line("", x, highs, "guide"),
    )
    axes = Axis(all_units, 0.0, float(found.n), is_whole=True), Axis("difference")
    caption = f"Limits are {_VALID}."
    yield Plot(f"{found.measure}: {a} - {b}", *axes, lines, rules=(Rule("", y=0.0),), caption=caption)
