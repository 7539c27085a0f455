"""Comparison of systems by two factors: main effects, interaction, means of levels, and an interaction plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike

from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass
from gainful.io.records import read_records
from gainful.notation import count_of, listed, plural_of, printable
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats import anova
from gainful.stats.anova import FactorialResult
from gainful.tasks.compare import Comparison, check_known, paired_matrices
from gainful.tasks.compare.compare_words import p_words, units_text
from gainful.tasks.score_questions import FactorOptions


@dataclass(frozen=True, eq=False, repr=False)
class FactorComparison(Comparison):
    """The effects of two factors of systems and their interaction, by measure."""

    factorial: Mapping[str, FactorialResult]

    def page(self, *, places: int = 4) -> Page:
        parts = [part for result in self.factorial.values() for part in _parts_of(result, places)]
        first = self.factorial[self.primary]
        tests = f"{count_of(3 * len(self.factorial), 'test')}, not corrected for each other"
        header: dict[str, object] = {"factors": list(first.factors), "primary": self.primary}
        header |= values_of(first, "alpha | draws ← flips.count | enumerated ← flips.enumerated | seed ← flips.seed")
        return Page("compare", tuple(parts), (tests, *self.scores.conventions), header)


@warns
@question(FactorOptions)
def compare_factors(asked: FactorOptions) -> FactorComparison:
    """Test the effects of two ``factors`` of systems, given as levels by system or as a table.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("RR", {"a": [1, 0.5, 0.2], "b": [0.5, 0.2, 0.1], "c": [1, 1, 0.2], "d": [0.2, 0.1, 0]})
    >>> levels = {"stemmer": {"a": "yes", "b": "no", "c": "yes", "d": "no"},
    ...           "model": {"a": "old", "b": "old", "c": "new", "d": "new"}}
    >>> compare_factors(scores, factors=levels).factorial["RR"].factors
    ('stemmer', 'model')
    """
    if asked.factors is None:
        raise UsageError("factors: two factors of systems are required")
    scores = Scores.of(asked.scores)
    factors = asked.factors if isinstance(asked.factors, Mapping) else read_factors(asked.factors)
    found = {}
    for name, matrix in paired_matrices(scores).items():
        for system in dict.fromkeys(system for levels in factors.values() for system in levels):
            check_known(system, matrix.systems, "factors")
        found[name] = anova.compare_factors(matrix, factors, alpha=asked.alpha, draws=asked.draws, seed=asked.seed)
    return FactorComparison(scores, found)


def read_factors(source: object) -> dict[str, dict[str, str]]:
    """Read the level of each system by factor, from a table whose first column names systems."""
    path = source if isinstance(source, (str, PathLike)) else "factors"
    records = read_records(source, str(path), ("system", "run", "name"))
    names = [next(iter(record.values.values()), "") for record in records]
    if not records or any(len(record.values) < 2 or not all(record.values.values()) for record in records):
        raise InputError(f"{path}: expected a table with a header: the system, then the factors", "fill every cell")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{path}: duplicate system '{printable(str(twice))}'")
    return {
        factor: {str(name): str(each.values[factor]) for name, each in zip(names, records, strict=True)}
        for factor in list(records[0].values)[1:]
    }


def _parts_of(result: FactorialResult, places: int) -> Iterator[Table | Chart | str]:
    """Yield the parts for one measure: sentences, effects, means of levels and combinations, and a plot."""

    def p_text(p: float) -> str:
        text = p_words(p, result.least_p)
        return f"p {text}" if text.startswith("<") else f"p = {text}"

    one, other = (printable(name, 40) for name in result.factors)
    systems = count_of(sum(len(cell.systems) for cell in result.cells), "system")
    scores, flips, both = result.scores, result.flips, result.effects[2].p
    over = units_text(len(scores.queries), len(scores.left_out), scores.unit, scores.unanswered.items())
    sentences = [f"{scores.measure} of {systems} by {one} and {other}, {over}."]
    if both < result.alpha:
        sentences.append(
            f"The effect of {one} depends on {other} (interaction {p_text(both)}): compare the means of combinations, "
            "not of single factors."
        )
    else:
        sentences.append(f"No interaction between {one} and {other} was shown ({p_text(both)}).")
    for factor, name in enumerate((one, other)):
        p = result.effects[factor].p
        by_level = [(result.mean(factor, level), printable(level, 40)) for level in result.levels[factor]]
        by_level.sort(key=lambda each: each[0], reverse=scores.better == "higher")
        (highest, best), (lowest, worst) = by_level[0], by_level[-1]
        sentences.append(
            f"No effect of {name} was shown ({p_text(p)})."
            if p >= result.alpha
            else f"{name} matters ({p_text(p)}): {best} is {abs(highest - lowest):.3f} ahead of {worst} on average."
        )
    yield " ".join(sentences)
    sums = f"source | sum of squares .{places} | df # | mean square .{places + 2} | F .3"
    effects: list[tuple[Cell, ...]] = []
    for source, effect, p, share in result.effects:
        shown = ("", "") if effect.p is None else (p_words(effect.p), p_words(p, result.least_p))
        effects.append((source, *effect[:4], *shown, share, effect.p, p))
    within = result.within
    if within.df:
        text = "" if within.p is None else p_words(within.p)
        effects.append(("systems of one combination", *within[:4], text, "", None, within.p, None))
    effects.append(("residual", *result.residual[:3], None, "", "", None, None, None))
    draws = f"all {flips.count:,}" if flips.enumerated else f"{flips.count:,}, seed {flips.seed}"
    notes = [
        f"p by F: tested against the interaction of systems and {plural_of(scores.unit)} (blocks).",
        f"p by flips: random sign flips of per-{scores.unit} contrasts ({draws}); the sentences use this p.",
        "Each factor is adjusted for the other, the interaction for both; share: partial eta squared.",
    ]
    columns = (*head(f"{sums} | p by F | p by flips | share .3"), *head("p_f . | p_flips .", for_machines=True))
    yield Table(columns, effects, f"Effects, {scores.measure}", tuple(notes))
    cells = {cell.levels: cell for cell in result.cells}
    means: list[tuple[Cell, ...]] = [
        (one, other, listed(list(cells[one, other].systems), most=3), cells[one, other].mean)
        for one in result.levels[0]
        for other in result.levels[1]
        if (one, other) in cells
    ]
    means += [(level, "(all)", "", result.mean(0, level)) for level in result.levels[0]]
    means += [("(all)", level, "", result.mean(1, level)) for level in result.levels[1]]
    notes = ["(all): mean of the combinations, each counted once."]
    if result.is_averaged:
        notes.append("Combinations differ in their number of systems: the tests also use the mean of each combination.")
    columns = (*map(Column, (*result.factors, "systems")), Column(f"mean {scores.measure}", "number", places))
    yield Table(columns, means, f"Means, {scores.measure}", tuple(notes))
    numbered = list(enumerate(result.levels[0], 1))
    lines = []
    for other in result.levels[1]:
        points = [(float(i), cells[one, other].mean) for i, one in numbered if (one, other) in cells]
        lines.append(Line(other, tuple(x for x, _ in points), tuple(y for _, y in points)))
    ticks = tuple((float(i), printable(level, 20)) for i, level in numbered)
    x = Axis(result.factors[0], 0.75, len(numbered) + 0.25, ticks=ticks)
    title = f"{scores.measure} by {result.factors[0]}, one line per {result.factors[1]}"
    yield Plot(title, x, Axis(f"mean {scores.measure}"), tuple(lines), caption="Parallel lines: no interaction.")
