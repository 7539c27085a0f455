"""Figures 1 to 4 of jarvelin2002: gain by rank, as it is and beside the ideal, and what is read off them."""

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
#: The ranks of the best run from which it is read how much further the worst one has to be read.
_READ_AT = (5, 10, 20)
_NOTHING = "no run gains anything"


class Panel(GainPanel):
    """One half of a figure: the curves of all runs, and the ideal's, under one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: Gain, weights: Weights) -> None:
        super().__init__(curves, weights.measure(kind, gain), weights.depth, f"{letter} {kind}, {gain}")
        self.letter, self.gained = letter, weights.measure(kind.removeprefix("n"), gain)
        #: Runs x ranks.
        self.values = np.array([curve.values for curve in self.runs])
        self.best = self.runs[int(self.values[:, -1].argmax())]
        self.has_gain = bool(self.values[:, -1].max() > 0)

    @cached_property
    def ordered(self) -> Cell:
        """The runs at the last rank. Average vectors over the average ideal have the order of the vectors themselves:
        of shares, too, the test is of gains."""
        return cell_of("", self.gained, (), self.curves.evaluations, tested=True)

    @property
    def below_ideal(self) -> Floats:
        """How far the best run is below the ideal, by rank."""
        assert self.ideal is not None
        return np.asarray(self.ideal.values - self.best.values)

    def behind_the_best(self, at: int) -> list[int | None]:
        """By run how many documents give what the best run gives by a rank; empty if that gives nothing."""
        values = self.at(at)
        return self.needed(at, max(values, key=values.__getitem__)) if max(values.values()) else []


def figure_sections(case: Case, weights: Weights) -> Iterator[Section]:
    """Figures 1 to 4; normalised curves are ratios of means, as the article has them."""
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
            averaged = "ratios of means: the average vector over the average ideal one"
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
            claims_tables(f"Said of {name}", said),
            every_value,
        )


def _gain_claims(a: Panel, b: Panel) -> Iterator[Claim]:
    """Figure 1 (section 3.4): distances to the ideal, and how far one has to read for what it gives."""
    assert b.ideal is not None
    yield _other_order(f"runs at rank {a.depth}, (a) and (b)", "weights change the curves' places", a, b)
    half, last = a.depth // 2, a.depth
    by_50 = float(b.ideal.values[half - 1] / b.ideal.values[-1])
    what, says = f"(b) ideal at rank {half}, of that at {last}", "most of the higher levels found"
    finds, note = f"{100 * by_50:.0f}% of the gain", "it holds where that is more than half"
    yield Claim.remark(what, says, finds, by_50 > 0.5, note)
    yield from _distance_claims(a, "0 to 39", "0 to 6")
    yield from _distance_claims(b, "70 to 894", "0 to 197")
    what, says = "rank of the greatest distance to the ideal", f"often before {last}"
    if not a.has_gain:
        yield Claim.undecided(what, says, _NOTHING)
    elif min(panel.below_ideal.max() for panel in (a, b)) < _ROUNDING:
        yield Claim.undecided(what, says, "the best run is never below it")
    else:
        greatest = [int(panel.below_ideal.argmax()) + 1 for panel in (a, b)]
        note = f"of the best run at rank {last}; it holds where both are before rank {last}"
        yield Claim.remark(what, says, f"(a) {greatest[0]}, (b) {greatest[1]}", max(greatest) < last, note)
    yield _reach_claim(a, 10, "30 to 90")
    yield _reach_claim(b, 5, "35 to not within 100")


def _discounted_claims(a: Panel, b: Panel, figure_1: tuple[Panel, Panel]) -> Iterator[Claim]:
    """Figure 2 (section 3.5): the same with a discount, and what the discount changes."""
    what, says = "widest gap between two runs, Figures 1 and 2", "discounting seems to narrow it"
    both = list(zip(figure_1, (a, b), strict=True))
    gaps = [[float(np.ptp(panel.values, axis=0).max()) for panel in pair] for pair in both]
    # Runs that differ in grades only are level with flat weights: there is nothing to narrow in that panel.
    open_gaps = [(one, two) for one, two in gaps if one > _ROUNDING]
    if not open_gaps:
        yield Claim.undecided(what, says, "no two runs differ")
    else:
        lettered = zip(("(a)", "(b)"), gaps, strict=True)
        finds = "; ".join(f"{letter} {_short(one)}, {_short(two)}" for letter, (one, two) in lettered)
        note = "points where two runs are furthest apart; it holds where these are fewer in Figure 2, in (a) and in (b)"
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
    claim = Claim.beside if ranks else Claim.undecided
    yield claim("(b) documents for the best run's gain at 10", "10 to 50", finds)
    yield _more_to_read((*figure_1, a, b))


def _share_claims(a: Panel, b: Panel) -> Iterator[Claim]:
    """Figure 3 (section 3.6): where curves start, and whether they reach the ideal."""
    # Nothing is lower than nothing: these are the runs that can start lower.
    starts = zip(a.values[:, 0].tolist(), b.values[:, 0].tolist(), strict=True)
    lower = [two < one * (1 - _ROUNDING) for one, two in starts if one]
    finds = f"{sum(lower)} of {len(lower)}" if lower else f"{_NOTHING} at rank 1"
    note = "of the runs that gain something at rank 1; it holds where all do" if lower else ""
    yield Claim.remark("curves that start lower in (b)", "all", finds, bool(lower) and all(lower), note)
    one, other = (float(panel.values[:, -1].max()) for panel in (a, b))
    finds, is_1 = f"(a) {one:.3f}, (b) {other:.3f}", max(one, other) > 1 - _ROUNDING
    yield Claim.remark(f"highest value at rank {a.depth}", "1 in due course", finds, is_1)


def _discounted_share_claims(a: Panel, b: Panel, figure_3: tuple[Panel, Panel]) -> Iterator[Claim]:
    """Figure 4 (section 3.6): what discount and weights do to the order of runs."""
    for one, two in zip(figure_3, (a, b), strict=True):
        what = f"runs at rank {a.depth}, Figures 3{one.letter} and 4{one.letter}"
        yield _other_order(what, "the order changes", one, two)
    what, highest = f"highest value at ranks 2 to {a.depth}", [float(panel.values[:, 1:].max()) for panel in (a, b)]
    if a.has_gain:
        finds, note = f"(a) {highest[0]:.3f}, (b) {highest[1]:.3f}", "it holds where no run has 1 at any of these ranks"
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
    yield Claim.beside(whats[0], ideal, f"{_span(panel.below_ideal.tolist())} ({run})")
    yield Claim.beside(whats[1], best, _span(np.concatenate(below_best).tolist()))


def _reach_claim(panel: Panel, at: int, says: str) -> Claim:
    """How many documents the quickest and the slowest run need for what the ideal gives by a rank."""
    what = f"{panel.letter} documents for the ideal's gain at {at}"
    return Claim.beside(what, says, needed_text(panel.needed(at), panel.depth))


def _more_to_read(panels: Sequence[Panel]) -> Claim:
    """How much further than with the best run a user has to read with the worst one (section 4)."""
    more: list[float] = []
    what, says, never = "more documents by the worst run", "100 to 500%", 0
    for panel, at in ((panel, at) for panel in panels for at in _READ_AT):
        ranks = panel.behind_the_best(at)
        reached = [rank for rank in ranks if rank is not None]
        if len(reached) < len(ranks):
            never += 1
        elif reached:
            # Where the most that any run gives by a rank is there first: before it where curves are level.
            highest = panel.values[:, :at].max(axis=0)
            first = int(np.argmax(highest >= highest[-1] * (1 - _ROUNDING))) + 1
            more.append(100 * (max(reached) / first - 1))
    if not more and not never:
        return Claim.undecided(what, says, _NOTHING)
    found = [f"{_span(more, '.0f')}%"] if more else []
    found += [f"{never} of {never + len(more)} not in {panels[0].depth}"] if never else []
    note = f"for what the best run gives by ranks {', '.join(map(str, _READ_AT))}, in Figures 1 and 2 (section 4)"
    return Claim.beside(what, says, ", ".join(found), note)


def _span(values: Sequence[float], form: str = "") -> str:
    low, high = (format(value, form) if form else _short(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if float(text) == 0 else text
