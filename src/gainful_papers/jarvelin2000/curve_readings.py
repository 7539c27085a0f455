"""jarvelin2000, sections 3.6 and 3.7: what the paper reads off its curves, upwards and sideways."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from gainful import Evaluation, GainCurves, Measure
from gainful.notation import count_of, printable
from gainful.pages.page import Table, head
from gainful.stats.repeatable import settled_differences
from gainful.tasks.curves.sideways import Distance, Sideways
from gainful_papers.claims import Claim, Ordered, Part, Section, claims_tables, highest, numbers, table
from gainful_papers.jarvelin2000.case_study import BASES, CG_DEPTH, DCG_DEPTH, DEPTH, Weightings, Weights

#: The ranks of the ideal that runs have to catch up with, and the ranks over which distances to it are read.
_AT = (5, 10)
_CG_REGION, _DCG_REGION = (20, CG_DEPTH), (10, DCG_DEPTH)

_WIDEST = 30

_TIED = "equal values decide nothing"
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
    """The curves of one measure, read: sideways, what runs have at the end of the figure, and which have most and least
    there."""

    curves: GainCurves
    weights: Weights
    reading: Sideways
    depth: int
    ends: dict[str, float]
    all_best: tuple[str, ...]
    all_worst: tuple[str, ...]

    @classmethod
    def of(cls, curves: GainCurves, weights: Weights, measure: Measure, region: tuple[int, int]) -> _Panel:
        reading, depth = curves.sideways(measure, at=_AT, regions=[region]), region[1]
        ends = {run: float(curves.curve(run, reading.measure).values[depth - 1]) for run in curves.runs}
        worst = highest({run: -end for run, end in ends.items()})
        return cls(curves, weights, reading, depth, ends, highest(ends), worst)

    @property
    def figure(self) -> str:
        return self.weights.in_figure(self.reading.measure)

    @property
    def best(self) -> str:
        return self.all_best[0]

    @property
    def worst(self) -> str:
        return self.all_worst[0]

    @property
    def spread(self) -> float:
        """By how much the best run is ahead of the worst at the end."""
        ends = np.array([self.ends[self.best]]), np.array([self.ends[self.worst]])
        return float(settled_differences(*ends)[0])

    def distance(self, run: str) -> Distance:
        """How far a run is below the ideal in the region."""
        return next(each for each in self.reading.distances if each.run == run)

    def apart(self) -> tuple[float, int]:
        """By how much the best run is ahead of the worst at most, and at which rank."""
        best, worst = (
            self.curves.curve(run, self.reading.measure).values[: self.depth] for run in (self.best, self.worst)
        )
        rank = int(np.argmax(settled_differences(best, worst)))
        return float(best[rank] - worst[rank]), rank + 1


def section_3_6(curves: GainCurves, weightings: Weightings) -> Section:
    """Section 3.6: CG read upwards and sideways."""
    panels = [_Panel.of(curves, weights, weights.cumulated, _CG_REGION) for weights in weightings.drawn]
    claims = [*_claims(panels), *_highest_level_alone(panels)]
    all_levels = _Panel.of(curves, weightings.all_levels, weightings.all_levels.cumulated, _CG_REGION)
    said = claims_tables("What the paper reads off its Figure 2", claims)
    about = (
        "How far users read for what the best possible list gives in 5 or 10 documents, and how far below it they are."
    )
    return Section.of("Section 3.6", about, _parts(panels, all_levels), said)


def section_3_7(curves: GainCurves, weightings: Weightings, ends: Mapping[str, Evaluation]) -> Section:
    """Section 3.7: DCG with base 2 read the same way, and how far the base drives the runs apart.

    ``ends`` are the scores at the end of the figure, by :func:`ends_of_figure_3`.
    """
    by_base = [
        [_Panel.of(curves, weights, weights.discounted(base), _DCG_REGION) for base in BASES]
        for weights in weightings.drawn
    ]
    panels = [of_bases[0] for of_bases in by_base]
    claims = [*_claims(panels), *_highest_level_alone(panels)]
    claims += [claim for of_bases in by_base for claim in _base_claims(of_bases, ends)]
    all_levels = _Panel.of(curves, weightings.all_levels, weightings.all_levels.discounted("2"), _DCG_REGION)
    rows = []
    for base, panel in ((base, panel) for of_bases in by_base for base, panel in zip(BASES, of_bases, strict=True)):
        high, low, apart = panel.ends[panel.best], panel.ends[panel.worst], panel.spread
        names = (_of_tied(panel.all_best), _of_tied(panel.all_worst)) if apart else (None, None)
        rows.append((str(panel.weights), base, *names, high, low, apart, 100 * apart / low if low else None))
    return Section.of(
        "Section 3.7",
        "The same of discounted gain (base 2), and what the base of the logarithm changes.",
        _parts(panels, all_levels),
        table(
            f"DCG at rank {DCG_DEPTH} by the base of the logarithm",
            "levels | base | best | worst | DCG of best .2 | of worst .2 | difference .2 | of worst, per cent ±1",
            rows,
            "difference in points, and in parentheses in per cent of what the worst run has",
        ),
        claims_tables("What the paper reads off its Figure 3", claims),
    )


def ends_of_figure_3(weightings: Weightings) -> list[Measure]:
    """What Figure 3 has at its last rank, by every base."""
    return [_at_the_end(weights, base) for weights in weightings.drawn for base in BASES]


def _at_the_end(weights: Weights, base: str) -> Measure:
    return weights.discounted(base).replace(cutoff=DCG_DEPTH)


def _parts(panels: Sequence[_Panel], all_levels: _Panel) -> Iterator[Part]:
    """A table for each panel; of all levels sentences, and the table for machines."""
    for panel in panels:
        yield _table(panel)
    reading = all_levels.reading
    yield "\n".join([f"The paper also counted all levels. By {reading.measure}:", *reading.sentences()])
    yield _table(all_levels, for_machines=True)


def _table(panel: _Panel, for_machines: bool = False) -> Table:
    reading = panel.reading
    never = f"not within {reading.depth}"
    columns = (
        *head("run", for_machines=for_machines),
        *head("measure", for_machines=True),
        *head("documents for 5 # | for 10 #", none=never, for_machines=for_machines),
        *head("x best .2 | below ideal: least .1 | most .1 | least share % | most share %", for_machines=for_machines),
    )
    times = {reach.run: reach.times_best for reach in reading.reaches if reach.at == _AT[1]}
    rows = (
        (
            *(each.run, str(reading.measure), *(reading.rank(each.run, at) for at in _AT), times[each.run]),
            *(each.least, each.most, each.least_share, each.most_share),
        )
        for each in reading.distances
    )
    first, last = reading.distances[0].first, reading.distances[0].last
    letter = f"{panel.figure}: " if panel.weights.panel else ""
    return table(
        f"{letter}{reading.measure.name}, {panel.weights}",
        columns,
        rows,
        "documents for 5, for 10: how many gain what the ideal gives in 5, in 10",
        "x best: times as many as the run that needs fewest for 10",
        f"below ideal: points at ranks {first} to {last}, and shares of what the ideal has there",
    )


def _claims(panels: Sequence[_Panel]) -> Iterator[Claim]:
    """What the paper reads, beside the same of these runs."""
    for panel in panels:
        read, label = _PAPER[panel.reading.measure.name, panel.weights.panel], f"{panel.figure}: "
        yield Claim.beside(f"{label}documents for 10", read.needed, _needed(panel, 10))
        if read.needed_for_5:
            yield Claim.beside(f"{label}documents for 5", read.needed_for_5, _needed(panel, 5))
        ranks = f"{panel.reading.distances[0].first} to {panel.depth}"
        if read.best:
            best, worst = panel.distance(panel.best), panel.distance(panel.worst)
            yield Claim.beside(f"{label}best below ideal, {ranks}", read.best, _below(best), _TWO_TYPES)
            yield Claim.beside(f"{label}others below ideal, {ranks}", read.others, _below(worst), _FOUR_TYPES)
        points, rank = panel.apart()
        finds = f"{points:.1f} at rank {rank}" if panel.spread else f"no run is ahead at rank {panel.depth}"
        yield Claim.beside(f"{label}best - worst, points", read.apart, finds, read.apart_of)
        if read.horizontal:
            last = panel.reading.stopping_rank
            finds = f"after {DEPTH}" if last is None else str(last)
            yield Claim.beside(f"{label}ideal horizontal from rank", read.horizontal, finds)


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
    shares = f"{_per_cent(distance.least_share)} to {_per_cent(distance.most_share)} %"
    return f"{distance.least:.1f} to {distance.most:.1f} points ({shares})"


def _per_cent(share: float) -> str:
    """A share of what the ideal has; a dash where that is nothing."""
    return "-" if math.isnan(share) else f"{100 * share:.0f}"


def _highest_level_alone(panels: Sequence[_Panel]) -> Iterator[Claim]:
    """Of the highest level alone "the absolute differences [are] smaller. However, the proportional differences are
    larger": of the largest distances to the ideal, averaged over runs."""
    if len(panels) < 2:
        return
    names = f"{panels[1].figure}, not {panels[0].figure}"
    points = [fmean(each.most for each in panel.reading.distances) for panel in panels]
    shares = [fmean(each.most_share for each in panel.reading.distances) for panel in panels]
    absolute, proportional = f"{names}: distance to ideal", f"{names}: the same, proportional"
    found = f"{points[1]:.1f}, not {points[0]:.1f} points", f"{_per_cent(shares[1])}, not {_per_cent(shares[0])} %"
    note = "the largest distance of each run in these ranks, averaged over runs"
    if not any(end for panel in panels for end in panel.ends.values()):
        yield Claim.undecided(absolute, "smaller", _NO_GAIN)
        yield Claim.undecided(proportional, "larger", _NO_GAIN)
        return
    ideal = max(float(panel.curves.ideal(panel.reading.measure).values[panel.depth - 1]) for panel in panels)
    yield _larger(absolute, "smaller", found[0], points[::-1], ideal, note)
    yield _larger(proportional, "larger", found[1], shares, 1.0)


def _larger(what: str, says: str, finds: str, values: Sequence[float], scale: float, note: str = "") -> Claim:
    return Claim.rising(what, says, finds, values, scale, note, tied=_TIED, missing="-: the ideal gains nothing")


def _base_claims(of_bases: Sequence[_Panel], ends: Mapping[str, Evaluation]) -> Iterator[Claim]:
    """Of the figure with all but the lowest level the paper has numbers; they are of base 2 and of base 10."""
    differences = [panel.spread for panel in of_bases]
    last, figure = of_bases[-1], of_bases[0].figure
    is_a = of_bases[0].weights.panel == "A"
    grows = f"{figure}: best - worst at {DCG_DEPTH}, base {', '.join(BASES)}"
    says = "grows: 4 to 13 points" if is_a else "grows"
    first, *others = (Ordered.of(ends, _at_the_end(of_bases[0].weights, base)) for base in BASES)
    for base, other in zip(BASES[1:], others, strict=True):
        what = f"{figure}: order of runs, bases {BASES[0]} and {base}"
        yield Claim.order(what, "findings are similar", first, other, changes=False)
    if not any(differences):
        yield Claim.undecided(grows, says, _SAME)
        return
    yield _larger(grows, says, numbers(differences, 1), differences, max(panel.ends[panel.best] for panel in of_bases))
    if is_a:
        best, worst = last.ends[last.best], last.ends[last.worst]
        of_both = [f"{100 * differences[-1] / end:.0f} %" if end else "-" for end in (best, worst)]
        yield Claim.beside(
            f"{figure}: the same in base {BASES[-1]}, per cent",
            "13 points (or 27 %)",
            f"{differences[-1]:.1f} points ({' or '.join(of_both)})",
            "of what the best and of what the worst run has; the paper does not say of which",
        )


def _of_tied(runs: Sequence[str]) -> str:
    """A run, and how many others share its place.

    >>> _of_tied(["a"]), _of_tied(["a", "b"])
    ('a', 'a and 1 other')
    """
    first, *others = runs
    return printable(first, _WIDEST) + (f" and {count_of(len(others), 'other')}" if others else "")
