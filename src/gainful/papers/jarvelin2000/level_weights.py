"""jarvelin2000, Figures 2 and 3: gain by rank with and without a discount, when only the higher levels count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import number_text
from gainful.pages.charts import Axis, Plot
from gainful.pages.page import Table
from gainful.papers.claims import Section, head, settled, table, with_few_names
from gainful.tasks.curves.gain_curves import GainCurves
from gainful.tasks.curves.gain_page import gain_line
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels

#: The paper's vectors have 200 components; its figures go to ranks 100 (CG) and 50 (DCG).
DEPTH, CG_DEPTH, DCG_DEPTH = 200, 100, 50

#: The bases of the logarithm: from impatient users to persistent ones.
BASES = ("2", "e", "10")

_SOME_RANKS = (5, 10, 20, 50, 100)


class Weights(NamedTuple):
    """Which levels count, as the paper says it, with their gains. ``panel`` is the letter in its figures."""

    panel: str
    label: str
    gain: str

    @property
    def cumulated(self) -> Measure:
        """CG with these gains."""
        return parse(f"CG(gain={self.gain})@{DEPTH}")

    def discounted(self, base: str) -> Measure:
        """DCG with these gains and the paper's discount."""
        return parse(f"DCG(gain={self.gain}, discount=jarvelin2000, base={base})@{DEPTH}")

    def in_figure(self, measure: Measure) -> str:
        """The number and letter of the paper's figure: 2A."""
        return f"{'2' if measure.name == 'CG' else '3'}{self.panel}"

    def __str__(self) -> str:
        return f"{self.label} ({self.gain})"


class Weightings(NamedTuple):
    """The weights that are drawn, A and B, and those of all levels, of which the paper draws nothing."""

    drawn: tuple[Weights, ...]
    all_levels: Weights

    @classmethod
    def of(cls, levels: GradeLevels, occurring: Sequence[float] = ()) -> Weightings:
        """On the paper's scale 0-0-2-3 and 0-0-0-3; on others all but the lowest level, and the highest alone.

        Where these are the same for all grades that occur, the highest is drawn alone.

        >>> [str(weights) for weights in Weightings.of(GradeLevels.of_grades([1, 2, 3])).drawn]
        ['levels 2&3 (0-0-2-3)', 'level 3 (0-0-0-3)']
        >>> [str(weights) for weights in Weightings.of(GradeLevels.of_grades([1, 2])).drawn]
        ['level 2 (0-0-2)']
        >>> [str(weights) for weights in Weightings.of(GradeLevels.of_grades([1, 3]), [1, 3]).drawn]
        ['level 3 (0-0-0-3)']
        """
        grades, highest = levels.levels, number_text(levels.levels[-1])
        upper = str(levels.weighted([0.0, *grades[1:]]))
        top = Weights("B", f"level {highest}", str(levels.weighted([*[0.0] * (len(grades) - 1), grades[-1]])))
        all_levels = Weights("", f"levels 1 to {highest}", str(levels.weighted(grades)))
        if not set(grades[1:-1]).intersection(occurring or grades):
            return cls((top,), all_levels)
        between = "&" if len(grades) == 3 else " to "
        return cls((Weights("A", f"levels 2{between}{highest}", upper), top), all_levels)

    @property
    def measures(self) -> list[Measure]:
        """All that is to be cumulated."""
        every = (*self.drawn, self.all_levels)
        return [
            *(weights.cumulated for weights in every),
            *(weights.discounted("2") for weights in every),
            *(weights.discounted(base) for base in BASES[1:] for weights in self.drawn),
        ]

    @property
    def note(self) -> str:
        """What is to be said where the paper's weights are others, or fewer are drawn."""
        if len(self.drawn) == 1:
            return (
                f"No document is of a level between the lowest and the highest: {self.drawn[0]} is both A and B, "
                "and is drawn once."
            )
        if self.drawn[0].gain != "0-0-2-3":
            return "The paper weighs its levels by 0-0-2-3 (A) and 0-0-0-3 (B); here there are other levels."
        return ""


def figure_2(curves: GainCurves, weightings: Weightings) -> Section:
    """Figure 2: CG to rank 100."""
    about = (
        "Cumulated gain by rank, averaged over queries; the best possible list has the recall base's gains in order."
    )
    shown = [(weights, weights.cumulated) for weights in weightings.drawn]
    return _figure("Figure 2", about, curves, shown, CG_DEPTH, weightings.note)


def figures_3(curves: GainCurves, weightings: Weightings) -> Iterator[Section]:
    """Figure 3: DCG to rank 50 with base 2, and the same with the other bases that the paper tried."""
    for base in BASES:
        shown = [(weights, weights.discounted(base)) for weights in weightings.drawn]
        if base == "2":
            name, about = "Figure 3", "Cumulated gain by rank, divided by the logarithm (base 2) of the rank."
        else:
            name = f"Figure 3, base {base}"
            boosted = "Rank 2 counts" if base == "e" else f"Ranks 2 to {int(base) - 1} count"
            about = (
                f"The same with base {base}, of which the paper shows no figure. {boosted} for more than rank 1, so a "
                "list can have more than the ideal one."
            )
        yield _figure(name, about, curves, shown, DCG_DEPTH, weightings.note)


def _figure(
    name: str, about: str, curves: GainCurves, shown: Sequence[tuple[Weights, Measure]], depth: int, note: str
) -> Section:
    measures = [curves.measure(measure) for _, measure in shown]
    ends = [{run: float(curves.curve(run, each).values[depth - 1]) for run in curves.runs} for each in measures]
    plots = with_few_names((_plot(curves, weights, measure, depth) for weights, measure in shown), ends)
    tables = [_some_ranks(curves, weights, measure, depth) for weights, measure in shown]
    every_value = table(
        "Average gain by rank",
        "run | measure | rank # | value .",
        (
            ("(ideal)" if curve.run is None else curve.run, str(curve.measure), rank, value)
            for measure in measures
            for curve in curves.curves
            if curve.measure == measure
            for rank, value in enumerate(curve.values[:depth].tolist(), 1)
        ),
        for_machines=True,
    )
    return Section.of(name, about, note, plots, tables, every_value)


def _plot(curves: GainCurves, weights: Weights, measure: Measure, depth: int) -> Plot:
    cut = [curve.cut(depth) for curve in curves.curves if curve.measure == curves.measure(measure)]
    x, y = Axis("rank", 1.0, float(depth), is_whole=True), Axis(measure.name, 0.0)
    return Plot(_title(weights, measure), x, y, tuple(map(gain_line, cut)))


def _title(weights: Weights, measure: Measure) -> str:
    base = getattr(measure, "base", None) if measure.name == "DCG" else None
    with_base = f", base {base if isinstance(base, str) else number_text(base)}" if base else ""
    return f"{weights.in_figure(measure)}: {measure.name}{with_base}, {weights}"


def _some_ranks(curves: GainCurves, weights: Weights, measure: Measure, depth: int) -> Table:
    """The curves at a few ranks; with many runs a chart cannot show who is who."""
    ranks = [rank for rank in _SOME_RANKS if rank <= depth]
    found = curves.measure(measure)
    every = [curves.ideal(found), *(curves.curve(run, found) for run in curves.runs)]
    rows = [[float(curve.values[rank - 1]) for rank in ranks] for curve in every]
    # Equals are all best, whatever rounding makes of them.
    at_ranks = [settled(at_rank) for at_rank in zip(*rows[1:], strict=True)]
    marked = frozenset(
        (row, column)
        for column, at_rank in enumerate(at_ranks, 1)
        for row, value in enumerate(at_rank, 1)
        if value == max(at_rank) > 0
    )
    return table(
        f"{_title(weights, measure)}, at some ranks",
        (*head("run"), *head(f"at {rank} .2" for rank in ranks)),
        ((curve.run or "(ideal)", *values) for curve, values in zip(every, rows, strict=True)),
        *(("* best of its column",) if marked else ()),
        marked=marked,
        for_people=True,
    )
