"""Two factors of systems, as a page: what each does, what they do together, the means of their levels, and a plot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gainful.notation import count_of, listed, plural_of, printable
from gainful.pages.charts import Axis, Chart, Line, Plot
from gainful.pages.page import Table, head
from gainful.render import Page
from gainful.tasks.compare.compare_words import p_words, units_text

if TYPE_CHECKING:
    from gainful.stats.factorial import Cell, FactorialResult
    from gainful.tasks.compare.comparison import Comparison


def factorial_page(found: Comparison) -> Page:
    """Measure by measure, the primary one first."""
    parts: list[Table | Chart | str] = []
    for result in found.factorial.values():
        parts += [_sentence(result), _effects(result, found.places), _means(result, found.places), _plot(result)]
    first = found.factorial[found.primary]
    notes = [f"{count_of(3 * len(found.factorial), 'test')}, not corrected for each other", *found.signatures]
    header: dict[str, object] = {
        "factors": list(first.factors),
        "primary": found.primary,
        "alpha": first.alpha,
        "draws": first.draws,
        "enumerated": first.is_enumerated,
        "seed": first.seed,
    }
    return Page("compare", tuple(parts), tuple(notes), header)


def _sentence(result: FactorialResult) -> str:
    """Which effects are significant by flips; whether one factor's effect depends on the other comes first."""
    both = result.effects[2]
    over = units_text(result.n, result.left_out, result.unit)
    one, other = (printable(name, 40) for name in result.factors)
    systems = sum(len(cell.systems) for cell in result.cells)
    begin = f"{result.measure} of {count_of(systems, 'system')} by {one} and {other}, {over}. "
    if both.p < result.alpha:
        together = (
            f"The effect of {one} depends on {other} (interaction p {_p(result, both.p)}): read the means of their "
            "combinations, not those of one factor."
        )
    else:
        together = f"No interaction of {one} and {other} was shown (p {_p(result, both.p)})."
    return begin + " ".join([together, *(_main(result, factor) for factor in (0, 1))])


def _main(result: FactorialResult, factor: int) -> str:
    effect, name = result.effects[factor], printable(result.factors[factor], 40)
    means = {level: result.mean(factor, level) for level in result.levels[factor]}
    ordered = sorted(means, key=lambda level: -means[level] if result.better == "higher" else means[level])
    best, worst = (printable(level, 40) for level in (ordered[0], ordered[-1]))
    if effect.p >= result.alpha:
        return f"No effect of {name} was shown (p {_p(result, effect.p)})."
    by = abs(means[ordered[0]] - means[ordered[-1]])
    return f"{name} matters (p {_p(result, effect.p)}): {best} is {by:.3f} ahead of {worst} on average."


def _p(result: FactorialResult, p: float) -> str:
    text = p_words(p, result.least_p)
    return text if text.startswith("<") else f"= {text}"


def _effects(result: FactorialResult, places: int) -> Table:
    columns = head(
        f"source | sum of squares .{places} | df # | mean square .{places + 2} | F .3 | p by F | p by flips | share .3"
    )
    exact = head("p_f . | p_flips .", for_machines=True)

    def lines() -> Iterator[tuple[object, ...]]:
        for name, effect, p, share in result.effects:
            shown = ("", "") if effect.p is None else (p_words(effect.p), p_words(p, result.least_p))
            yield name, *effect[:4], *shown, share, effect.p, p
        if result.within.df:
            within = result.within
            text = "" if within.p is None else p_words(within.p)
            yield "systems of one combination", *within[:4], text, "", None, within.p, None
        yield "residual", *result.residual[:3], None, "", "", None, None, None

    draws = f"all {result.draws:,} flips" if result.is_enumerated else f"{result.draws:,} flips, seed {result.seed}"
    notes = (
        f"p by F: against the residual of systems and {plural_of(result.unit)}, which are blocks",
        f"p by flips of their contrasts: {draws}; the sentences go by it",
        "each factor after the other, the interaction after both; share: partial eta squared",
    )
    return Table((*columns, *exact), tuple(lines()), f"Effects, {result.measure}", notes)  # type: ignore[arg-type]


def _means(result: FactorialResult, places: int) -> Table:
    cells: dict[tuple[str, str], Cell] = {cell.levels: cell for cell in result.cells}
    rows = [
        (one, other, listed(list(cells[one, other].systems), most=3), cells[one, other].mean)
        for one in result.levels[0]
        for other in result.levels[1]
        if (one, other) in cells
    ]
    for factor, levels in enumerate(result.levels):
        rows += [
            (*((level, "(all)") if factor == 0 else ("(all)", level)), "", result.mean(factor, level))
            for level in levels
        ]
    names = [*result.factors, "systems", f"mean {result.measure} .{places}"]
    notes = ["(all): the mean of the combinations, each counted once"]
    if result.is_averaged:
        notes.append("combinations have more and fewer systems: the tests, too, are of each combination's mean")
    return Table(head(names), tuple(rows), f"Means, {result.measure}", tuple(notes))


def _plot(result: FactorialResult) -> Plot:
    """The interaction plot: lines that are not parallel are an interaction."""
    means = {cell.levels: cell.mean for cell in result.cells}
    lines = []
    for other in result.levels[1]:
        points = [(float(i), means[one, other]) for i, one in enumerate(result.levels[0], 1) if (one, other) in means]
        lines.append(Line(other, tuple(x for x, _ in points), tuple(y for _, y in points)))
    count = len(result.levels[0])
    ticks = tuple((float(i), printable(level, 20)) for i, level in enumerate(result.levels[0], 1))
    x = Axis(result.factors[0], 0.75, count + 0.25, ticks=ticks)
    title = f"{result.measure} by {result.factors[0]}, a line for each {result.factors[1]}"
    return Plot(title, x, Axis(f"mean {result.measure}"), tuple(lines), caption="Parallel lines: no interaction.")
