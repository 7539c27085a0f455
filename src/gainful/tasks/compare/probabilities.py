"""Probabilities of worse, equivalent and better, as a page: a sentence, a table of pairs, and the posterior drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from gainful.errors import UsageError, option, warns
from gainful.evaluation.scores import Scores
from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Column, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.stats.bayes import Posterior, posterior
from gainful.tasks.compare import (
    FEW_PAIRS,
    Comparison,
    common_baseline,
    compared_pairs,
    interval_chart,
    paired_matrices,
)
from gainful.tasks.compare.compare_words import direction_text, interval_text, level_text, places_for, units_text
from gainful.tasks.score_questions import BeliefOptions

_POINTS, _REACH = 121, 4.5
_NO_SPREAD = "all differences are equal"


@dataclass(frozen=True, eq=False, repr=False)
class BeliefComparison(Comparison):
    """The posteriors of pairs of systems, by measure; ``is_whole``: all of many pairs are printed."""

    posteriors: Mapping[str, tuple[Posterior, ...]]
    is_whole: bool

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | str] = []
        for results in self.posteriors.values():
            sentence = posterior_sentence(results[0]) if len(results) == 1 else _belief_conclusion(results)
            parts += [sentence, _probabilities(results, places, self.is_whole)]
        primary = self.posteriors[self.primary]
        if len(primary) == 1 and primary[0].probabilities:
            parts.append(_density(primary[0]))
        elif any(result.probabilities for result in primary):
            rules = tuple(Rule(number_text(end), x=end) for end in (-primary[0].margin, primary[0].margin))
            chances = ["" if each.probabilities is None else chance_text(each.probabilities.better) for each in primary]
            lines = f"{level_text(primary[0].interval)} credible intervals"
            parts.append(interval_chart(primary, chances, "better", rules, lines))
        everything = [result for results in self.posteriors.values() for result in results]
        parts.append(
            Table.of(
                _posterior_record("baseline" if common_baseline(everything) else "other"),
                everything,
                title="posteriors",
            )
        )
        notes = ["probabilities hold under the prior; the share of wrong verdicts is not bounded as by a test"]
        if len(everything) > 1:
            many = count_of(len(everything), "comparison")
            notes.append(f"{many}, each by itself; nothing is corrected for their number")
        header: dict[str, object] = {
            "test": "bayes",
            "prior": "p(mean, sd) ~ 1 / sd",
            "primary": self.primary,
            "alpha": primary[0].alpha,
            "margin": primary[0].margin,
            "queries_left_out": {name: results[0].left_out for name, results in self.posteriors.items()},
        }
        return Page("compare", tuple(parts), (*notes, *self.scores.conventions), header)


@warns
@question(BeliefOptions)
def compare_beliefs(asked: BeliefOptions) -> BeliefComparison:
    """The probabilities that a system is worse, equivalent within ``margin``, and better, in place of a p.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]})
    >>> [found] = compare_beliefs(scores, margin=0.01).posteriors["P@5"]
    >>> round(found.probabilities.better, 2)
    0.96
    """
    scores = Scores.of(asked.scores)
    margin = asked.margin
    if margin is None:
        raise UsageError(
            "margin: expected with the test bayes the difference below which systems count as equal, found none",
            f"{option('margin', 0.01)} says which differences matter: that means are exactly equal has no probability",
        )
    matrices = paired_matrices(scores)
    if any(matrix.weights is not None for matrix in matrices.values()):
        raise UsageError("weights: have no meaning with bayes", "maxt has them")
    found = {
        name: tuple(posterior(matrix, a, b, margin, asked.alpha) for a, b in compared_pairs(matrix, asked))
        for name, matrix in matrices.items()
    }
    return BeliefComparison(scores, found, asked.all_pairs or bool(asked.pairs))


def posterior_sentence(found: Posterior) -> str:
    """The answer with its probability, then the other two, then what they are made of."""
    a, b = (printable(name, 40) for name in found.names)
    queries = units_text(found.n, found.left_out, found.unit)
    if found.probabilities is None:
        if not found.difference:
            return f"{a} and {b} have the same {found.measure} on every one of {queries}: there is nothing to compare."
        return (
            f"{a} and {b} differ by {found.difference:g} {found.measure} on every one of {queries}: no spread to go by."
        )
    by = f"{number_text(found.margin)} {found.measure}"
    worse, equivalent, better = map(chance_text, found.probabilities)
    more = f"by more than {by}"
    claims = {
        "better": f"{a} is better than {b} {more} with probability {better} (equivalent: {equivalent}, worse: {worse})",
        "worse": f"{a} is worse than {b} {more} with probability {worse} (equivalent: {equivalent}, better: {better})",
        "equivalent": f"{a} and {b} are equivalent within {by} with probability {equivalent} "
        f"(better: {better}, worse: {worse})",
        "cannot tell": f"Undecided whether {a} and {b} differ {more}: {a} is better with "
        f"probability {better}, equivalent with {equivalent}, worse with {worse}",
    }
    places = places_for(found.difference)
    interval = f"{level_text(found.interval)} credible interval {interval_text(found.interval, places)}"
    return f"{claims[found.verdict]}; mean difference {found.difference:.{places}f}, {interval}, {queries}."


def chance_text(probability: float) -> str:
    """A probability with two places; what is not certain is never printed as 0 or 1.

    >>> chance_text(0.971), chance_text(0.0004), chance_text(0.9996)
    ('0.97', '< 0.01', '> 0.99')
    """
    if probability < 0.005:
        return "< 0.01"
    return "> 0.99" if probability > 0.995 else f"{probability:.2f}"


def _belief_conclusion(results: tuple[Posterior, ...]) -> str:
    first = results[0]
    counts = Counter(result.verdict for result in results)
    decided, equivalent, open_ = counts["better"] + counts["worse"], counts["equivalent"], counts["cannot tell"]
    baseline = common_baseline(results)
    of = f"comparisons with {printable(baseline, 40)}" if baseline else "pairs"
    level = f"probability {number_text(round(1 - first.alpha, 12))} or more"
    return (
        f"{first.measure}: in {decided:,} of {len(results):,} {of} one system is better by more than "
        f"{number_text(first.margin)} with {level} ({units_text(first.n, first.left_out, first.unit)})"
        + (f"; in {equivalent:,} they are equivalent within it" if equivalent else "")
        + (f"; {open_:,} are undecided" if open_ else "")
        + "."
    )


def _probabilities(results: tuple[Posterior, ...], places: int, is_whole: bool) -> Table:
    first = results[0]

    def chance(name: str, found: Posterior) -> str:
        return "-" if found.probabilities is None else chance_text(getattr(found.probabilities, name))

    columns = (
        *head(f"system ← names.0 | against ← names.1 | difference .{places}"),
        Column(
            f"{level_text(first.interval)} interval",
            get=lambda r: interval_text(r.interval, places) if r.probabilities else "-",
        ),
        *(Column(name, get=partial(chance, name)) for name in ("worse", "equivalent", "better")),
        Column("verdict", get=lambda r: r.verdict if r.probabilities else _NO_SPREAD),
    )
    margin, level = number_text(first.margin), number_text(round(1 - first.alpha, 12))
    notes = (
        f"worse, better: by more than {margin}; equivalent: within {margin}; verdict: what has {level} or more",
        f"posterior: Student's t, {first.df} degrees of freedom, prior p(mean, sd) ~ 1 / sd",
    )
    title = f"Probabilities, {first.measure}{direction_text(first.better)}"
    most = None if is_whole else FEW_PAIRS
    return Table.of(columns, results, title=title, notes=notes, most=most, for_people=True)


def _density(found: Posterior) -> Plot:
    a, b = (printable(name, 40) for name in found.names)
    reach = _REACH * found.scale
    x = [found.difference + reach * (2 * i / (_POINTS - 1) - 1) for i in range(_POINTS)]
    line = Line("posterior", tuple(x), tuple(found.density(value) for value in x))
    margin = number_text(found.margin)
    rules = (Rule(f"-{margin}", x=-found.margin), Rule(margin, x=found.margin))
    title = f"{found.measure}: the mean difference {a} - {b}"
    caption = f"Between the lines at -{margin} and {margin}: equivalent."
    return Plot(title, Axis("difference"), Axis("density", 0.0), (line,), rules=rules, caption=caption)


def _posterior_record(role: str) -> tuple[Column, ...]:
    names = f"measure | system | {role} ← baseline | better | verdict | queries # ← n | difference ."
    numbers = (
        "alpha . | margin . | probability_worse . ← probabilities.worse | probability_equivalent . ← "
        "probabilities.equivalent | probability_better . ← probabilities.better | scale . | df #"
    )
    return (
        *head(names, for_machines=True),
        Column("low", "number", for_machines=True, get=lambda found: found.interval.low if found.sd else math.nan),
        Column("high", "number", for_machines=True, get=lambda found: found.interval.high if found.sd else math.nan),
        *head(numbers, for_machines=True),
    )
