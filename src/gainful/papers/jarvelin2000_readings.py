"""jarvelin2000, sections 3.6 and 3.7: what the paper reads off its curves, upwards and sideways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gainful.curves.gain_curves import GainCurves
from gainful.curves.sideways import Distance, Sideways
from gainful.measures.base import Measure
from gainful.notation import printable
from gainful.papers.claims import Claim, beside, claims_tables, statement, undecided
from gainful.papers.jarvelin2000_gains import BASES, CG_DEPTH, DCG_DEPTH, DEPTH, Weightings, Weights
from gainful.papers.sections import Section
from gainful.render.page import Cell, Column, Table
from gainful.render.sideways_page import sentences

#: The ranks of the ideal that runs have to catch up with, and the ranks over which distances to it are read.
_AT = (5, 10)
_CG_REGION, _DCG_REGION = (20, CG_DEPTH), (10, DCG_DEPTH)

_WIDEST = 30

_SAME, _NO_GAIN = "all runs gain the same", "no run gains anything"


class _Read(NamedTuple):
    """What the paper reads off one panel: documents needed by the best and by the other query types for what the ideal
    gives in 10 (or 5), distances to the ideal, the greatest difference of query types and of which it is, and where the
    ideal turns horizontal; empty: it does not say."""

    needed: str = ""
    needed_for_5: str = ""
    best: str = ""
    others: str = ""
    apart: str = ""
    apart_of: str = ""
    horizontal: str = ""


_OF_BEST_AND_OTHERS = (
    "the paper's is of the two best query types and the remaining ones, this of the best and the worst run"
)
_TWO_TYPES = "the paper's are its two best query types, this is the best run alone"
_FOUR_TYPES = "the paper's are its four other query types, this is the worst run alone"

_PAPER = {
    ("CG", "A"): _Read(
        needed="20 and 26",
        best="18 to 27 points (35 to 39 %)",
        others="23 to 38 points (50 %)",
        apart="5 to 15 at ranks 40 to 100",
        apart_of=_OF_BEST_AND_OTHERS,
        horizontal="about 100",
    ),
    ("CG", "B"): _Read("34 and 62", apart="6 to 8 at ranks 40 to 60", apart_of=_OF_BEST_AND_OTHERS),
    ("DCG", "A"): _Read(
        needed="35 and 70",
        best="5 to 9 points (35 to 36 %)",
        others="7 to 13 points (47 to 50 %)",
        apart="4 at rank 50",
        horizontal="90",
    ),
    ("DCG", "B"): _Read("never", "50 and never", apart="3 from rank 40 on", apart_of=_OF_BEST_AND_OTHERS),
}


class _Panel(NamedTuple):
    """The curves of one measure, read: sideways, and which runs have most and least at the end of the figure."""

    curves: GainCurves
    weights: Weights
    reading: Sideways
    depth: int

    @classmethod
    def of(cls, curves: GainCurves, weights: Weights, measure: Measure, region: tuple[int, int]) -> _Panel:
        return cls(curves, weights, curves.sideways(measure, at=_AT, regions=[region]), region[1])

    @property
    def name(self) -> str:
        return self.reading.measure.name

    @property
    def figure(self) -> str:
        return self.weights.in_figure(self.reading.measure)

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.weights.panel

    def at_the_end(self, run: str) -> float:
        return float(self.curves.curve(run, self.reading.measure).values[self.depth - 1])

    @property
    def best(self) -> str:
        return max(self.curves.runs, key=self.at_the_end)

    @property
    def worst(self) -> str:
        return min(self.curves.runs, key=self.at_the_end)

    @property
    def gains_nothing(self) -> bool:
        """Whether no run gains anything."""
        return all(self.at_the_end(run) == 0 for run in self.curves.runs)

    def distance(self, run: str) -> Distance:
        """How far a run is below the ideal in the region."""
        return next(each for each in self.reading.distances if each.run == run)

    def apart(self) -> tuple[float, int]:
        """By how much the best run is ahead of the worst at most, and at which rank."""
        best, worst = (
            self.curves.curve(run, self.reading.measure).values[: self.depth] for run in (self.best, self.worst)
        )
        rank = int(np.argmax(best - worst))
        return float(best[rank] - worst[rank]), rank + 1


def section_3_6(curves: GainCurves, weightings: Weightings) -> Section:
    """Section 3.6: CG read upwards and sideways."""
    panels = [_Panel.of(curves, weights, weights.cumulated, _CG_REGION) for weights in weightings.drawn]
    claims = [*_claims(panels), *_highest_level_alone(panels)]
    all_levels = _Panel.of(curves, weightings.all_levels, weightings.all_levels.cumulated, _CG_REGION)
    about = (
        "How far users read for what the best possible list gives in 5 or 10 documents, and how far below it they are."
    )
    return Section("Section 3.6", about, (*_parts(panels, all_levels), *_claims_of("Figure 2", claims)))


def section_3_7(curves: GainCurves, weightings: Weightings) -> Section:
    """Section 3.7: DCG with base 2 read the same way, and how far the base drives the runs apart."""
    panels = [_Panel.of(curves, weights, weights.discounted("2"), _DCG_REGION) for weights in weightings.drawn]
    by_base = {
        weights: [_Panel.of(curves, weights, weights.discounted(base), _DCG_REGION) for base in BASES]
        for weights in weightings.drawn
    }
    claims = [*_claims(panels), *_highest_level_alone(panels)]
    for of_bases in by_base.values():
        claims += _base_claims(of_bases)
    all_levels = _Panel.of(curves, weightings.all_levels, weightings.all_levels.discounted("2"), _DCG_REGION)
    parts = (
        *_parts(panels, all_levels),
        _base_table([panel for of_bases in by_base.values() for panel in of_bases]),
        *_claims_of("Figure 3", claims),
    )
    about = "The same of discounted gain (base 2), and what the base of the logarithm changes."
    return Section("Section 3.7", about, parts)


def _claims_of(figure: str, claims: Sequence[Claim]) -> tuple[Table, ...]:
    return claims_tables(f"What the paper reads off its {figure}", claims)


def _parts(panels: Sequence[_Panel], all_levels: _Panel) -> Iterator[Table | str]:
    """A table for each panel; of all levels sentences, and the table for machines."""
    for panel in panels:
        yield _table(panel)
    reading = all_levels.reading
    yield "\n".join([f"The paper also counted all levels. By {reading.measure}:", *sentences(reading)])
    yield _table(all_levels, for_machines=True)


def _table(panel: _Panel, for_machines: bool = False) -> Table:
    reading = panel.reading
    never = f"not within {reading.depth}"
    columns = (
        Column("run", for_machines=for_machines),
        Column("measure", for_machines=True),
        Column("documents for 5", "count", none=never, for_machines=for_machines),
        Column("for 10", "count", none=never, for_machines=for_machines),
        Column("x best", "number", 2, for_machines=for_machines),
        Column("below ideal: least", "number", 1, for_machines=for_machines),
        Column("most", "number", 1, for_machines=for_machines),
        Column("least share", "share", for_machines=for_machines),
        Column("most share", "share", for_machines=for_machines),
    )
    times = {reach.run: reach.times_best for reach in reading.reaches if reach.at == _AT[1]}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(each.run, str(reading.measure), *(reading.rank(each.run, at) for at in _AT), times[each.run]),
            *(each.least, each.most, each.least_share, each.most_share),
        )
        for each in reading.distances
    )
    first, last = reading.distances[0].first, reading.distances[0].last
    notes = (
        "documents for 5, for 10: how many gain what the ideal gives in 5, in 10",
        "x best: times as many as the run that needs fewest for 10",
        f"below ideal: points at ranks {first} to {last}, and shares of what the ideal has there",
    )
    letter = f"{panel.figure}: " if panel.weights.panel else ""
    return Table(columns, rows, f"{letter}{panel.name}, {panel.weights}", notes)


def _claims(panels: Sequence[_Panel]) -> Iterator[Claim]:
    """What the paper reads, beside the same of these runs."""
    for panel in panels:
        read, label = _PAPER[panel.key], f"{panel.figure}: "
        yield beside(f"{label}documents for 10", read.needed, _needed(panel, 10))
        if read.needed_for_5:
            yield beside(f"{label}documents for 5", read.needed_for_5, _needed(panel, 5))
        ranks = f"{panel.reading.distances[0].first} to {panel.depth}"
        if read.best:
            best, worst = panel.distance(panel.best), panel.distance(panel.worst)
            yield beside(f"{label}best below ideal, {ranks}", read.best, _below(best), _TWO_TYPES)
            yield beside(f"{label}others below ideal, {ranks}", read.others, _below(worst), _FOUR_TYPES)
        points, rank = panel.apart()
        yield beside(f"{label}best - worst, points", read.apart, f"{points:.1f} at rank {rank}", read.apart_of)
        if read.horizontal:
            last = panel.reading.stopping_rank
            finds = f"after {DEPTH}" if last is None else str(last)
            yield beside(f"{label}ideal horizontal from rank", read.horizontal, finds)


def _needed(panel: _Panel, at: int) -> str:
    """The fewest and the most documents that runs need."""
    ranks = [panel.reading.rank(run, at) for run in panel.reading.runs]
    there = [rank for rank in ranks if rank is not None]
    never = len(ranks) - len(there)
    if not there:
        return f"none within {panel.reading.depth}"
    most = f"not within {panel.reading.depth}" if never else str(max(there))
    return f"{min(there)} to {most}" if never or len(set(there)) > 1 else most


def _below(distance: Distance) -> str:
    shares = f"{100 * distance.least_share:.0f} to {100 * distance.most_share:.0f} %"
    return f"{distance.least:.1f} to {distance.most:.1f} points ({shares})"


def _highest_level_alone(panels: Sequence[_Panel]) -> Iterator[Claim]:
    """Of the highest level alone "the absolute differences [are] smaller. However, the proportional differences are
    larger": of the largest distances to the ideal, averaged over runs."""
    if len(panels) < 2:
        return
    names = f"{panels[1].figure}, not {panels[0].figure}"
    points, shares = [], []
    for panel in panels:
        points.append(float(np.mean([each.most for each in panel.reading.distances])))
        shares.append(float(np.mean([each.most_share for each in panel.reading.distances])))
    absolute, proportional = f"{names}: distance to ideal", f"{names}: the same, proportional"
    found = f"{points[1]:.1f}, not {points[0]:.1f} points", f"{100 * shares[1]:.0f}, not {100 * shares[0]:.0f} %"
    note = "the largest distance of each run in these ranks, averaged over runs"
    if all(panel.gains_nothing for panel in panels):
        yield undecided(absolute, "smaller", _NO_GAIN)
        yield undecided(proportional, "larger", _NO_GAIN)
        return
    yield statement(absolute, "smaller", found[0], points[1] < points[0], note)
    yield statement(proportional, "larger", found[1], shares[1] > shares[0])


def _base_claims(of_bases: Sequence[_Panel]) -> Iterator[Claim]:
    """Of the figure with all but the lowest level the paper has numbers; they are of base 2 and of base 10."""
    differences = [panel.at_the_end(panel.best) - panel.at_the_end(panel.worst) for panel in of_bases]
    last, figure = of_bases[-1], of_bases[0].figure
    is_a = of_bases[0].weights.panel == "A"
    grows = f"{figure}: best - worst at {DCG_DEPTH}, base {', '.join(BASES)}"
    says, similar = "grows: 4 to 13 points" if is_a else "grows", f"{figure}: findings with other bases"
    if not any(differences):
        yield undecided(grows, says, _SAME)
        yield undecided(similar, "similar", _SAME)
        return
    finds = ", ".join(f"{difference:.1f}" for difference in differences)
    yield statement(grows, says, finds, all(before < after for before, after in pairwise(differences)))
    if is_a:
        best, worst = last.at_the_end(last.best), last.at_the_end(last.worst)
        of_both = [f"{100 * differences[-1] / end:.0f} %" if end else "-" for end in (best, worst)]
        yield beside(
            f"{figure}: the same in base {BASES[-1]}, per cent",
            "13 points (or 27 %)",
            f"{differences[-1]:.1f} points ({' or '.join(of_both)})",
            "of what the best and of what the worst run has; the paper does not say of which",
        )
    others = [
        what
        for what, runs in (
            ("best", {panel.best for panel in of_bases}),
            ("worst", {panel.worst for panel in of_bases}),
        )
        if len(runs) > 1
    ]
    yield statement(
        similar,
        "similar",
        f"another {' and '.join(others)} run" if others else "same best and worst run",
        not others,
    )


def _base_table(panels: Sequence[_Panel]) -> Table:
    columns = (
        Column("levels"),
        Column("base"),
        Column("best"),
        Column("worst"),
        Column("DCG of best", "number", 2),
        Column("of worst", "number", 2),
        Column("difference", "number", 2),
        Column("of worst, per cent", "difference", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for i, panel in enumerate(panels):
        high, low = panel.at_the_end(panel.best), panel.at_the_end(panel.worst)
        share = 100 * (high - low) / low if low else None
        names = (printable(panel.best, _WIDEST), printable(panel.worst, _WIDEST))
        rows.append((str(panel.weights), BASES[i % len(BASES)], *names, high, low, high - low, share))
    notes = ("difference in points, and in parentheses in per cent of what the worst run has",)
    return Table(columns, rows, f"DCG at rank {DCG_DEPTH} by the base of the logarithm", notes)
