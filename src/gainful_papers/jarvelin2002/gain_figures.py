"""Figures 1 to 4 of jarvelin2002: gain by rank, absolute and relative to the ideal, and their readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from gainful import Gain, GainCurves
from gainful.pages.charts import shortened
from gainful.tasks.sensitivity.sensitivity_grid import Cell, cell_of
from gainful_papers.claims import Case, Claim, Floats, Section, claims_tables, table
from gainful_papers.gain_panels import GainPanel, needed_text, panel_plots
from gainful_papers.jarvelin2002.setting import Weights

_KINDS = {"Figure 1": "CG", "Figure 2": "DCG", "Figure 3": "nCG", "Figure 4": "nDCG"}

_ROUNDING = 1e-12
_LONGEST_NAME = 16
#: Ranks of the best run at which the documents needed with the worst run are read.
_READ_AT = (5, 10, 20)
_NOTHING = "no run gains anything"


class Panel(GainPanel):
    """Half of a figure: the curves of all runs and of the ideal for one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: Gain, weights: Weights) -> None:
        super().__init__(curves, weights.measure(kind, gain), weights.depth, f"{letter} {kind}, {gain}")
        self.letter, self.gained = letter, weights.measure(kind.removeprefix("n"), gain)
        #: Shape (runs, ranks).
        self.values = np.array([curve.values for curve in self.runs])
        self.best = self.runs[int(self.values[:, -1].argmax())]
        self.has_gain = bool(self.values[:, -1].max() > 0)

    @cached_property
    def ordered(self) -> Cell:
        """Order of runs at the last rank. Gains are tested even for shares: dividing by one ideal keeps their order."""
        return cell_of("", self.gained, (), self.curves.evaluations, tested=True)

    @property
    def below_ideal(self) -> Floats:
        """Distance of the best run from the ideal, by rank."""
        assert self.ideal is not None
        return np.asarray(self.ideal.values - self.best.values)

    def behind_the_best(self, at: int) -> list[int | None]:
        """Return the documents each run needs for the best run's gain at a rank; empty if that gain is 0."""
        values = self.at(at)
        return self.needed(at, max(values, key=values.__getitem__)) if max(values.values()) else []


def figure_sections(case: Case, weights: Weights) -> Iterator[Section]:
    """Yield Figures 1 to 4; normalised curves are ratios of means, as in the article."""
    gains = list(dict.fromkeys((weights.a, weights.b)))
    curves = case.gain_curves(
        [weights.measure(kind, gain) for kind in _KINDS.values() for gain in gains], average="means"
    )
    panels = [
        (Panel(curves, "(a)", kind, weights.a, weights), Panel(curves, "(b)", kind, weights.b, weights))
        for kind in _KINDS.values()
    ]
    one, two, three, four = panels
    claims = (
        _gain_claims(*one),
        _discounted_claims(*two, one),
        _share_claims(*three),
        _discounted_share_claims(*four, three),
    )
    for (name, kind), figure, said in zip(_KINDS.items(), panels, claims, strict=True):
        averaged = "means over queries, with the ideal"
        if kind.startswith("n"):
            averaged = "ratios of means: the average vector divided by the average ideal vector"
        every_value = table(
            "",
            "panel | measure | average | run | rank # | value .",
            ((each.letter, *row[1:3], row[0], *row[3:]) for each in figure[: len(gains)] for row in each.rows()),
            for_machines=True,
        )
        yield Section.of(
            name,
            f"{kind} by rank, {averaged}. (a) is {weights.a}, (b) is {weights.b}.",
            panel_plots(figure[: len(gains)]),
            claims_tables(f"Statements about {name}", said),
            every_value,
        )


def _gain_claims(a: Panel, b: Panel) -> Iterator[Claim]:
    """Figure 1 (section 3.4): distances from the ideal, and documents needed for its gain."""
    assert b.ideal is not None
    yield _other_order(f"runs at rank {a.depth}, (a) and (b)", "weights change the order of curves", a, b)
    half, last = a.depth // 2, a.depth
    by_50 = float(b.ideal.values[half - 1] / b.ideal.values[-1])
    what, says = f"(b) ideal at rank {half}, share of rank {last}", "most of the higher levels found"
    finds, note = f"{100 * by_50:.0f}% of the gain", "holds if more than half"
    yield Claim.remark(what, says, finds, by_50 > 0.5, note)
    yield from _distance_claims(a, "0 to 39", "0 to 6")
    yield from _distance_claims(b, "70 to 894", "0 to 197")
    what, says = "rank of the greatest distance from the ideal", f"often before {last}"
    if not a.has_gain:
        yield Claim.undecided(what, says, _NOTHING)
    elif min(panel.below_ideal.max() for panel in (a, b)) < _ROUNDING:
        yield Claim.undecided(what, says, "the best run is never below the ideal")
    else:
        greatest = [int(panel.below_ideal.argmax()) + 1 for panel in (a, b)]
        note = f"of the best run at rank {last}; holds if both are before rank {last}"
        yield Claim.remark(what, says, f"(a) {greatest[0]}, (b) {greatest[1]}", max(greatest) < last, note)
    yield _reach_claim(a, 10, "30 to 90")
    yield _reach_claim(b, 5, "35 to not within 100")


def _discounted_claims(a: Panel, b: Panel, figure_1: tuple[Panel, Panel]) -> Iterator[Claim]:
    """Figure 2 (section 3.5): the same with a discount, and the effect of the discount."""
    what, says = "widest gap between two runs, Figures 1 and 2", "discounting seems to narrow it"
    both = list(zip(figure_1, (a, b), strict=True))
    gaps = [[float(np.ptp(panel.values, axis=0).max()) for panel in pair] for pair in both]
    # Runs that differ only in grades are equal with flat weights, so that panel has no gap to narrow.
    open_gaps = [(one, two) for one, two in gaps if one > _ROUNDING]
    if not open_gaps:
        yield Claim.undecided(what, says, "no two runs differ")
    else:
        lettered = zip(("(a)", "(b)"), gaps, strict=True)
        finds = "; ".join(f"{letter} {_short(one)}, {_short(two)}" for letter, (one, two) in lettered)
        note = "points between the two most distant runs; holds if smaller in Figure 2, in (a) and in (b)"
        yield Claim.remark(what, says, finds, all(two < one * (1 - _ROUNDING) for one, two in open_gaps), note)
    yield _other_order(
        f"runs at rank {a.depth}, Figures 1(a) and 2(b)", "discount and weights change it", figure_1[0], b
    )
    yield from _distance_claims(a, "0.5 to 10", "0.25 to 1")
    yield from _distance_claims(b, "71 to 408", "13 to 40")
    yield _reach_claim(a, 5, "40 to about 95")
    yield _reach_claim(b, 5, "none within 100")
    ranks = b.behind_the_best(10)
    finds = needed_text(ranks, b.depth) if ranks else f"{_NOTHING} by rank 10"
    claim = Claim.comparison if ranks else Claim.undecided
    yield claim("(b) documents for the best run's gain at 10", "10 to 50", finds)
    yield _more_to_read((*figure_1, a, b))


def _share_claims(a: Panel, b: Panel) -> Iterator[Claim]:
    """Figure 3 (section 3.6): first values of the curves, and whether they reach the ideal."""
    # Only runs with gain at rank 1 can start lower.
    starts = zip(a.values[:, 0].tolist(), b.values[:, 0].tolist(), strict=True)
    lower = [two < one * (1 - _ROUNDING) for one, two in starts if one]
    finds = f"{sum(lower)} of {len(lower)}" if lower else f"{_NOTHING} at rank 1"
    note = "of the runs with gain at rank 1; holds if all start lower" if lower else ""
    yield Claim.remark("curves that start lower in (b)", "all", finds, bool(lower) and all(lower), note)
    one, other = (float(panel.values[:, -1].max()) for panel in (a, b))
    finds, is_1 = f"(a) {one:.3f}, (b) {other:.3f}", max(one, other) > 1 - _ROUNDING
    yield Claim.remark(f"highest value at rank {a.depth}", "1 in due course", finds, is_1)


def _discounted_share_claims(a: Panel, b: Panel, figure_3: tuple[Panel, Panel]) -> Iterator[Claim]:
    """Figure 4 (section 3.6): effect of the discount and the weights on the order of runs."""
    for one, two in zip(figure_3, (a, b), strict=True):
        what = f"runs at rank {a.depth}, Figures 3{one.letter} and 4{one.letter}"
        yield _other_order(what, "the order changes", one, two)
    what, highest = f"highest value at ranks 2 to {a.depth}", [float(panel.values[:, 1:].max()) for panel in (a, b)]
    if a.has_gain:
        finds, note = f"(a) {highest[0]:.3f}, (b) {highest[1]:.3f}", "holds if no run has 1 at any of these ranks"
        yield Claim.remark(what, "never 1", finds, max(highest) < 1 - _ROUNDING, note)
    else:
        yield Claim.undecided(what, "never 1", _NOTHING)
    yield _other_order(f"runs at rank {a.depth}, (a) and (b)", "weighting affects the order", a, b)


def _other_order(what: str, says: str, one: Panel, other: Panel) -> Claim:
    return Claim.order(what, says, one.ordered, other.ordered, changes=True)


def _distance_claims(panel: Panel, ideal: str, best: str) -> Iterator[Claim]:
    whats = f"{panel.letter} best run below the ideal, points", f"{panel.letter} others below the best run, points"
    if not panel.has_gain:
        yield from (Claim.undecided(what, says, _NOTHING) for what, says in zip(whats, (ideal, best), strict=True))
        return
    below_best = [panel.best.values - curve.values for curve in panel.runs if curve.run != panel.best.run]
    run = shortened(str(panel.best.run), _LONGEST_NAME)
    yield Claim.comparison(whats[0], ideal, f"{_span(panel.below_ideal.tolist())} ({run})")
    yield Claim.comparison(whats[1], best, _span(np.concatenate(below_best).tolist()))


def _reach_claim(panel: Panel, at: int, says: str) -> Claim:
    what = f"{panel.letter} documents for the ideal's gain at {at}"
    return Claim.comparison(what, says, needed_text(panel.needed(at), panel.depth))


def _more_to_read(panels: Sequence[Panel]) -> Claim:
    more: list[float] = []
    what, says, never = "more documents with the worst run", "100 to 500%", 0
    for panel, at in ((panel, at) for panel in panels for at in _READ_AT):
        ranks = panel.behind_the_best(at)
        reached = [rank for rank in ranks if rank is not None]
        if len(reached) < len(ranks):
            never += 1
        elif reached:
            # The first rank with the highest gain: it is before ``at`` if the curves are level.
            highest = panel.values[:, :at].max(axis=0)
            first = int(np.argmax(highest >= highest[-1] * (1 - _ROUNDING))) + 1
            more.append(100 * (max(reached) / first - 1))
    if not more and not never:
        return Claim.undecided(what, says, _NOTHING)
    found = [f"{_span(more, '.0f')}%"] if more else []
    found += [f"{never} of {never + len(more)} not in {panels[0].depth}"] if never else []
    note = f"for the best run's gain at ranks {', '.join(map(str, _READ_AT))}, in Figures 1 and 2 (section 4)"
    return Claim.comparison(what, says, ", ".join(found), note)


def _span(values: Sequence[float], form: str = "") -> str:
    low, high = (format(value, form) if form else _short(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if float(text) == 0 else text
