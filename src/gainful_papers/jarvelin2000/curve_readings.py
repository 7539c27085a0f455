"""jarvelin2000, Figures 2 and 3: gain by rank when only higher levels count, and the paper's readings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from gainful import Evaluation, GainCurves, Measure, parse
from gainful.notation import number_text
from gainful.stats.repeatable import settled_differences
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels, cell_of
from gainful_papers.claims import MOST_LEVELS, Claim, Section, claims_tables, highest, numbers, table
from gainful_papers.gain_panels import GainPanel, needed_text, panel_plots

#: Length of the paper's vectors, and the last ranks of its figures.
DEPTH, CG_DEPTH, DCG_DEPTH = 200, 100, 50

#: Bases of the logarithm, from impatient to persistent users.
BASES = ("2", "e", "10")

_WIDEST = 30
_NO_GAIN = "no run gains anything"


class Weights(NamedTuple):
    """Levels that count, in the paper's words, with their gains; ``panel`` is the letter in its figures."""

    panel: str
    label: str
    gain: str

    def __str__(self) -> str:
        return f"{self.label} ({self.gain})"

    def measure(self, base: str | None = None, depth: int = DEPTH) -> Measure:
        """Return CG with these gains or, given a base, DCG with the paper's discount."""
        if base is None:
            return parse(f"CG(gain={self.gain})@{depth}")
        return parse(f"DCG(gain={self.gain}, discount=jarvelin2000, base={base})@{depth}")


def drawn_weights(levels: GradeLevels, occurring: Sequence[float] = ()) -> tuple[Weights, ...]:
    """Return 0-0-2-3 and 0-0-0-3 on the paper's scale; otherwise all but the lowest level, and the highest alone.

    If these are equal for the occurring grades, only the second is returned; with many grades, all grades count.

    >>> [str(weights) for weights in drawn_weights(GradeLevels.of_grades([1, 2, 3]))]
    ['levels 2&3 (0-0-2-3)', 'level 3 (0-0-0-3)']
    >>> [str(weights) for weights in drawn_weights(GradeLevels.of_grades([1, 3]), [1, 3])]
    ['level 3 (0-0-0-3)']
    """
    grades, top = levels.levels, number_text(levels.levels[-1])
    if len(grades) > MOST_LEVELS:
        return (Weights("A", "all grades", "linear"),)
    b = Weights("B", f"level {top}", str(levels.weighted([*[0.0] * (len(grades) - 1), grades[-1]])))
    if not set(grades[1:-1]).intersection(occurring or grades):
        return (b,)
    label = f"levels {number_text(grades[1])}{'&' if len(grades) == 3 else ' to '}{top}"
    return Weights("A", label, str(levels.weighted([0.0, *grades[1:]]))), b


class Panel(GainPanel):
    """Curves of CG or of DCG with a base, their readings, and the best and worst run at the last rank."""

    def __init__(self, curves: GainCurves, weights: Weights, base: str | None = None, depth: int | None = None) -> None:
        name, number, first, last = ("CG", 2, 20, CG_DEPTH) if base is None else ("DCG", 3, 10, DCG_DEPTH)
        last = last if depth is None else depth
        self.weights, self.figure = weights, f"{number}{weights.panel}"
        title = f"{self.figure}: {name}{f', base {base}' if base else ''}, {weights}"
        super().__init__(curves, weights.measure(base), last, title)
        self.reading = curves.sideways(self.measure, regions=[(first, last)])
        self.ends = self.at(self.depth)
        self.best, self.worst = highest(self.ends), highest({run: -end for run, end in self.ends.items()})
        #: Difference between the best and the worst run at the last rank.
        ends = np.array([self.ends[self.best]]), np.array([self.ends[self.worst]])
        self.spread = float(settled_differences(*ends)[0])

    def below_ideal(self, run: str) -> str:
        """Format the distance of a run from the ideal in the region, in points and percentages."""
        found = next(each for each in self.reading.distances if each.run == run)
        shares = f"{_percentage(found.least_share)} to {_percentage(found.most_share)}%"
        return f"{found.least:.1f} to {found.most:.1f} points ({shares})"


def gain_figure(name: str, about: str, panels: Sequence[Panel]) -> Section:
    """Build the section of a figure."""
    note = ""
    if len(panels) == 1:
        note = f"No document has a level between the lowest and the highest, so A and B are equal: {panels[0].weights}."
    elif panels[0].weights.gain != "0-0-2-3":
        note = "The paper's weights are 0-0-2-3 (A) and 0-0-0-3 (B); these judgments have other levels."
    every_value = table(
        "Average gain by rank",
        "run | measure | rank # | value .",
        ((run, measure, rank, value) for panel in panels for run, measure, _, rank, value in panel.rows()),
        for_machines=True,
    )
    return Section.of(name, about, note, panel_plots(panels), every_value)


class _Read(NamedTuple):
    """The paper's readings from one panel, each empty if there is none."""

    needed: str = ""  # documents for the gain of the ideal at rank 10, best and other query types
    needed_for_5: str = ""
    best: str = ""  # distance from the ideal
    others: str = ""
    apart: str = ""  # greatest difference between query types
    apart_of: str = ""
    horizontal: str = ""  # rank at which the ideal plateaus


_OF_BEST_AND_OTHERS = "in the paper, the two best query types and the others; here, the best and the worst run"
_TWO_TYPES = "in the paper, the two best query types; here, the best run"
_FOUR_TYPES = "in the paper, the four other query types; here, the worst run"

_PAPER = {
    "2A": _Read(
        needed="20 and 26",
        best="18 to 27 points (35 to 39%)",
        others="23 to 38 points (50%)",
        apart="5 to 15 at ranks 40 to 100",
        apart_of=_OF_BEST_AND_OTHERS,
        horizontal="about 100",
    ),
    "2B": _Read("34 and 62", apart="6 to 8 at ranks 40 to 60", apart_of=_OF_BEST_AND_OTHERS),
    "3A": _Read(
        needed="35 and 70",
        best="5 to 9 points (35 to 36%)",
        others="7 to 13 points (47 to 50%)",
        apart="4 at rank 50",
        horizontal="90",
    ),
    "3B": _Read("never", "50 and never", apart="3 at ranks 40 to 50", apart_of=_OF_BEST_AND_OTHERS),
}


def section_3_6(panels: Sequence[Panel]) -> Section:
    """Build section 3.6: readings from the curves of CG."""
    claims = [*_read_claims(panels), *_highest_level_alone(panels)]
    about = "Documents needed for the gain of the ideal list at ranks 5 and 10, and distances from the ideal."
    return Section("Section 3.6", about, claims_tables("Readings from Figure 2", claims))


def section_3_7(by_base: Mapping[str, Sequence[Panel]], ends: Mapping[str, Evaluation]) -> Section:
    """Build section 3.7: the same readings for DCG, and the effect of the base on ``ends``, scores at the last rank."""
    panels = next(iter(by_base.values()))
    claims = [*_read_claims(panels), *_highest_level_alone(panels)]
    for of_bases in zip(*by_base.values(), strict=True):
        claims += _base_claims(of_bases, list(by_base), ends)
    about = f"The same readings for discounted gain (base {next(iter(by_base))}), and the effect of the base."
    return Section("Section 3.7", about, claims_tables("Readings from Figure 3", claims))


def _read_claims(panels: Sequence[Panel]) -> Iterator[Claim]:
    for panel in panels:
        read, label = _PAPER.get(panel.figure), f"{panel.figure}: "
        if read is None:
            continue
        yield Claim.comparison(f"{label}documents for 10", read.needed, needed_text(panel.needed(10), DEPTH))
        if read.needed_for_5:
            yield Claim.comparison(f"{label}documents for 5", read.needed_for_5, needed_text(panel.needed(5), DEPTH))
        ranks = f"{panel.reading.distances[0].first} to {panel.depth}"
        if read.best:
            best, worst = panel.below_ideal(panel.best), panel.below_ideal(panel.worst)
            yield Claim.comparison(f"{label}best below ideal, {ranks}", read.best, best, _TWO_TYPES)
            yield Claim.comparison(f"{label}others below ideal, {ranks}", read.others, worst, _FOUR_TYPES)
        finds = f"no run is ahead at rank {panel.depth}"
        if panel.spread:
            by_run = {str(curve.run): curve.values for curve in panel.runs}
            rank = int(np.argmax(settled_differences(by_run[panel.best], by_run[panel.worst])))
            finds = f"{by_run[panel.best][rank] - by_run[panel.worst][rank]:.1f} at rank {rank + 1}"
        yield Claim.comparison(f"{label}best - worst, points", read.apart, finds, read.apart_of)
        if read.horizontal:
            last = panel.reading.stopping_rank
            finds = f"after {DEPTH}" if last is None else str(last)
            yield Claim.comparison(f"{label}ideal plateaus at rank", read.horizontal, finds)


def _percentage(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f}"


def _highest_level_alone(panels: Sequence[Panel]) -> Iterator[Claim]:
    """Check the statement that with the highest level alone "the absolute differences [are] smaller. However, the
    proportional differences are larger", for the largest distances from the ideal, averaged over runs."""
    if len(panels) < 2:
        return
    names = f"{panels[1].figure}, not {panels[0].figure}"
    points = [fmean(each.most for each in panel.reading.distances) for panel in panels]
    shares = [fmean(each.most_share for each in panel.reading.distances) for panel in panels]
    absolute, proportional = f"{names}: distance from ideal", f"{names}: the same, proportional"
    found = f"{points[1]:.1f}, not {points[0]:.1f} points", f"{_percentage(shares[1])}, not {_percentage(shares[0])}%"
    note = "largest distance of each run at these ranks, averaged over runs"
    if not any(end for panel in panels for end in panel.ends.values()):
        yield Claim.undecided(absolute, "smaller", _NO_GAIN)
        yield Claim.undecided(proportional, "larger", _NO_GAIN)
        return
    ideal = max(float(panel.ideal.values[-1]) for panel in panels if panel.ideal is not None)
    yield Claim.rising(absolute, "smaller", found[0], points[::-1], ideal, note)
    yield Claim.rising(proportional, "larger", found[1], shares, 1.0)


def _base_claims(of_bases: Sequence[Panel], bases: Sequence[str], ends: Mapping[str, Evaluation]) -> Iterator[Claim]:
    # The paper prints numbers only for panel A, with bases 2 and 10.
    differences = [panel.spread for panel in of_bases]
    last, figure, weights = of_bases[-1], of_bases[0].figure, of_bases[0].weights
    grows = f"{figure}: best - worst at {last.depth}, base {', '.join(bases)}"
    says = "grows: 4 to 13 points" if weights.panel == "A" else "grows"
    first, *others = (cell_of("", weights.measure(base, last.depth), (), ends, tested=True) for base in bases)
    for base, other in zip(bases[1:], others, strict=True):
        what = f"{figure}: order of runs, bases {bases[0]} and {base}"
        yield Claim.order(what, "findings are similar", first, other, changes=False)
    most = max(panel.ends[panel.best] for panel in of_bases)
    yield Claim.rising(grows, says, numbers(differences, 1), differences, most)
    if weights.panel == "A":
        worst = last.ends[last.worst]
        share = f"{100 * differences[-1] / worst:.0f}%" if worst else "-"
        what, finds = f"{figure}: the same in base {bases[-1]}", f"{differences[-1]:.1f} points ({share})"
        yield Claim.comparison(what, "13 points (or 27%) better than the remaining", finds)
