"""Figures 1 to 4 of jarvelin2002: gain by rank, as it is and beside the ideal, and what is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from gainful import Gain, GainCurves
from gainful.pages.charts import Axis, Line, Plot, shortened
from gainful.pages.page import Table, head
from gainful.tasks.curves.averages import table_ranks
from gainful.tasks.curves.gain_curves import GainCurve
from gainful_papers.claims import Case, Claim, Ordered, Section, claims_tables, table, with_few_names
from gainful_papers.jarvelin2002.setting import Weights, measure

#: The last rank of the figures.
DEPTH = 100


class Panel:
    """One half of a figure: the curves of all runs, and the ideal's, under one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: Gain) -> None:
        self.letter, self.kind, self.gain = letter, kind, str(gain)
        self.curves = curves
        self.measure = curves.measure(measure(kind, gain, DEPTH))
        self.runs = [curves.curve(run, self.measure) for run in curves.runs]
        self.ideal = None if kind.startswith("n") else curves.ideal(self.measure)

    @property
    def all(self) -> list[GainCurve]:
        """The ideal's curve, where it is not 1 everywhere, and the runs'."""
        return [*([self.ideal] if self.ideal else []), *self.runs]

    def at(self, rank: int) -> list[float]:
        """The runs' values at a rank."""
        return [float(curve.values[rank - 1]) for curve in self.runs]

    @property
    def has_gain(self) -> bool:
        """Whether any run gains anything at all."""
        return max(self.at(DEPTH)) > 0

    @property
    def best(self) -> GainCurve:
        """The run that has the most at the last rank."""
        values = self.at(DEPTH)
        return self.runs[values.index(max(values))]

    @cached_property
    def ordered(self) -> Ordered:
        """The runs at the last rank. Average vectors over the average ideal have the order of the vectors themselves:
        of shares, too, the test is of gains."""
        plain = measure(self.kind.removeprefix("n"), self.measure.gain, DEPTH)
        return Ordered.of(self.curves.evaluations, plain)

    def below_ideal(self) -> list[float]:
        """How far the best run is below the ideal, by rank."""
        assert self.ideal is not None
        return [float(value) for value in (self.ideal.values - self.best.values).tolist()]

    def below_best(self) -> list[float]:
        """How far the other runs are below the best one, at all ranks."""
        best = self.best
        others = [curve for curve in self.runs if curve.run != best.run]
        return [float(value) for curve in others for value in (best.values - curve.values).tolist()]

    def widest(self) -> float:
        """The largest distance between two runs at any rank."""
        return max(max(self.at(rank)) - min(self.at(rank)) for rank in range(1, DEPTH + 1))


_ROUNDING = 1e-12
#: The most letters of a run's name.
_NAME = 16
#: Where the best run is read, to see how much further the worst one has to be read.
_READ_AT = (5, 10, 20)
#: What a run that finds nothing leaves to be said.
_NOTHING = "no run gains anything"


def said_of_gain(a: Panel, b: Panel) -> tuple[Claim, ...]:
    """Figure 1 (section 3.4): distances to the ideal, and how far one has to read for what it gives."""
    assert b.ideal is not None
    by_50 = float(b.ideal.values[49] / b.ideal.values[-1])
    return (
        _other_order("runs at rank 100, (a) and (b)", "weights change the curves' places", a, b),
        Claim.remark(
            "(b) ideal at rank 50, of that at 100",
            "most of the higher levels found",
            f"{100 * by_50:.0f} % of the gain",
            by_50 > 0.5,
            "it holds where that is more than half",
        ),
        *_distance_claims(a, "0 to 39", "0 to 6"),
        *_distance_claims(b, "70 to 894", "0 to 197"),
        _greatest_distance(a, b),
        *_reach_claims(a, 10, "30", "90"),
        *_reach_claims(b, 5, "35", "not within 100"),
    )


def said_of_discounted(a: Panel, b: Panel, figure_1: tuple[Panel, Panel]) -> tuple[Claim, ...]:
    """Figure 2 (section 3.5): the same with a discount, and what the discount changes."""
    return (
        _narrower_gaps((a, b), figure_1),
        _other_order("runs at rank 100, Figures 1(a) and 2(b)", "discount and weights change it", figure_1[0], b),
        *_distance_claims(a, "0.5 to 10", "0.25 to 1"),
        *_distance_claims(b, "71 to 408", "13 to 40"),
        *_reach_claims(a, 5, "40", "about 95"),
        *_reach_claims(b, 5, "not within 100", "not within 100"),
        _catching_up(b, 10, "50"),
        _more_to_read((*figure_1, a, b)),
    )


def said_of_shares(a: Panel, b: Panel) -> tuple[Claim, ...]:
    """Figure 3 (section 3.6): where curves start, and whether they reach the ideal."""
    one, other = (max(panel.at(DEPTH)) for panel in (a, b))
    finds, is_1 = f"(a) {one:.3f}, (b) {other:.3f}", max(one, other) > 1 - _ROUNDING
    return _lower_starts(a, b), Claim.remark("highest value at rank 100", "1 in due course", finds, is_1)


def said_of_discounted_shares(a: Panel, b: Panel, figure_3: tuple[Panel, Panel]) -> tuple[Claim, ...]:
    """Figure 4 (section 3.6): what discount and weights do to the order of runs."""
    highest = {each.letter: max(max(each.at(rank)) for rank in range(2, DEPTH + 1)) for each in (a, b)}
    what, finds = "highest value at ranks 2 to 100", ", ".join(f"{name} {most:.3f}" for name, most in highest.items())
    is_below, note = max(highest.values()) < 1 - _ROUNDING, "it holds where no run has 1 at any of these ranks"
    return (
        *(
            _other_order(f"runs at rank 100, Figures 3{one.letter} and 4{one.letter}", "the order changes", one, two)
            for one, two in zip(figure_3, (a, b), strict=True)
        ),
        Claim.statement(what, "never 1", finds, is_below, note)
        if a.has_gain
        else Claim.undecided(what, "never 1", _NOTHING),
        _other_order("runs at rank 100, (a) and (b)", "weighting affects the order", a, b),
    )


def _other_order(what: str, says: str, one: Panel, other: Panel) -> Claim:
    return Claim.order(what, says, one.ordered, other.ordered, changes=True)


def _greatest_distance(a: Panel, b: Panel) -> Claim:
    what, says = "rank of the greatest distance to the ideal", "often before 100"
    distances = [panel.below_ideal() for panel in (a, b)]
    if not a.has_gain or min(map(max, distances)) < _ROUNDING:
        return Claim.undecided(what, says, "the best run is never below it" if a.has_gain else _NOTHING)
    greatest = [of_panel.index(max(of_panel)) + 1 for of_panel in distances]
    note = f"of the best run at rank {DEPTH}; it holds where both are before rank {DEPTH}"
    return Claim.remark(what, says, f"(a) {greatest[0]}, (b) {greatest[1]}", max(greatest) < DEPTH, note)


def _narrower_gaps(figure_2: tuple[Panel, Panel], figure_1: tuple[Panel, Panel]) -> Claim:
    what, says = "widest gap between two runs, Figures 1 and 2", "discounting seems to narrow it"
    gaps = [(one.widest(), two.widest()) for one, two in zip(figure_1, figure_2, strict=True)]
    # Runs that differ in grades only are level with flat weights: there is nothing to narrow in that panel.
    open_gaps = [(one, two) for one, two in gaps if one > _ROUNDING]
    if not open_gaps:
        return Claim.undecided(what, says, "no two runs differ")
    curves = [zip(one.runs, two.runs, strict=True) for one, two in zip(figure_1, figure_2, strict=True)]
    if not any((x.values != y.values).any() for of_panel in curves for x, y in of_panel):
        return Claim.undecided(what, says, "the discount changes nothing")
    found = "; ".join(f"{p.letter} {_short(x)}, {_short(y)}" for p, (x, y) in zip(figure_2, gaps, strict=True))
    return Claim.statement(
        what,
        says,
        found,
        all(two < one * (1 - _ROUNDING) for one, two in open_gaps),
        "points where two runs are furthest apart; it holds where these are fewer in Figure 2, in (a) and in (b)",
    )


def _lower_starts(a: Panel, b: Panel) -> Claim:
    """Of the runs that can start lower: nothing is lower than nothing."""
    what, says = "curves that start lower in (b)", "all"
    lower = [two < one * (1 - _ROUNDING) for one, two in zip(a.at(1), b.at(1), strict=True) if one]
    if not lower:
        return Claim.undecided(what, says, "no run gains anything at rank 1")
    note = "of the runs that gain something at rank 1; it holds where all do"
    return Claim.statement(what, says, f"{sum(lower)} of {len(lower)}", all(lower), note)


def _distance_claims(panel: Panel, ideal: str, best: str) -> tuple[Claim, ...]:
    whats = (f"{panel.letter} best run below the ideal, points", f"{panel.letter} others below the best run, points")
    if not panel.has_gain:
        return Claim.undecided(whats[0], ideal, _NOTHING), Claim.undecided(whats[1], best, _NOTHING)
    run = shortened(str(panel.best.run), _NAME)
    return (
        Claim.beside(whats[0], ideal, f"{_span(panel.below_ideal())} ({run})"),
        Claim.beside(whats[1], best, _span(panel.below_best())),
    )


def _reach_claims(panel: Panel, at: int, first: str, last: str) -> tuple[Claim, ...]:
    """How many documents the quickest and the slowest run need for what the ideal gives by a rank."""
    reading = panel.curves.sideways(panel.measure, at=[at])
    what = f"{panel.letter} documents for the ideal's gain at {at}"
    ranks = {run: reading.rank(run, at) for run in reading.runs}
    there = [rank for rank in ranks.values() if rank is not None]
    quickest, slowest = (_by(ranks, min(there)), _slowest(ranks)) if there else ("not within 100", "not within 100")
    return Claim.beside(f"{what}, best run", first, quickest), Claim.beside(f"{what}, worst run", last, slowest)


def _slowest(ranks: Mapping[str, int | None]) -> str:
    """The last rank at which a run is there, or how many never are."""
    there = [rank for rank in ranks.values() if rank is not None]
    if len(there) == len(ranks):
        return _by(ranks, max(there))
    return f"not within 100 ({len(ranks) - len(there)} of {len(ranks)})"


def _behind_the_best(panel: Panel, at: int) -> dict[str, int | None]:
    """By run, at which rank it has what the run that is best by a rank gives there; empty if that gives nothing."""
    values = panel.at(at)
    if not max(values):
        return {}
    best = str(panel.runs[values.index(max(values))].run)
    reading = panel.curves.sideways(panel.measure, reference=best, at=[at])
    return {run: reading.rank(run, at) for run in reading.runs}


def _more_to_read(panels: Sequence[Panel]) -> Claim:
    """How much further than with the best run a user has to read with the worst one (section 4)."""
    more: list[float] = []
    what, says, never = "more documents by the worst run", "100 to 500 %", 0
    for panel in panels:
        for at in _READ_AT:
            ranks = list(_behind_the_best(panel, at).values())
            reached = [rank for rank in ranks if rank is not None]
            if len(reached) < len(ranks):
                never += 1
            elif reached:
                # Where the most that any run gives by a rank is there first: before it where curves are level.
                goal = max(panel.at(at)) * (1 - _ROUNDING)
                first = next(rank for rank in range(1, at + 1) if max(panel.at(rank)) >= goal)
                more.append(100 * (max(reached) / first - 1))
    if not more and not never:
        return Claim.undecided(what, says, _NOTHING)
    found = f"{_span(more, '.0f')} %" if more else ""
    if never:
        found += f"{', ' if found else ''}{never} of {never + len(more)} not in {DEPTH}"
    ranks_read = ", ".join(map(str, _READ_AT))
    note = f"for what the best run gives by ranks {ranks_read}, in Figures 1 and 2 (section 4)"
    return Claim.beside(what, says, found, note)


def _catching_up(panel: Panel, at: int, says: str) -> Claim:
    """How many documents the slowest run needs for what the best one gives by a rank."""
    what = f"{panel.letter} documents for the best run's gain at {at}, worst run"
    ranks = _behind_the_best(panel, at)
    return (
        Claim.beside(what, says, _slowest(ranks)) if ranks else Claim.undecided(what, says, f"{_NOTHING} by rank {at}")
    )


def _by(ranks: Mapping[str, int | None], rank: int) -> str:
    runs = [run for run, reached in ranks.items() if reached == rank]
    return f"{rank} ({shortened(runs[0], _NAME)})" if len(runs) == 1 else f"{rank} ({len(runs)} runs)"


def _span(values: Sequence[float], form: str = "") -> str:
    low, high = (format(value, form) if form else _short(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if float(text) == 0 else text


#: The measure of each figure.
KINDS = {"Figure 1": "CG", "Figure 2": "DCG", "Figure 3": "nCG", "Figure 4": "nDCG"}


def figure_curves(case: Case, weights: Weights) -> GainCurves:
    """The curves of all four figures; normalised ones as ratios of means, as the article has them."""
    wanted = [measure(kind, gain, DEPTH) for kind in KINDS.values() for gain in (weights.flat, weights.tenfold)]
    return case.gain_curves(wanted, average="means")


def figure_sections(curves: GainCurves, weights: Weights) -> tuple[Section, ...]:
    """Figures 1 to 4."""
    panels = {
        name: (Panel(curves, "(a)", kind, weights.flat), Panel(curves, "(b)", kind, weights.tenfold))
        for name, kind in KINDS.items()
    }
    one, two, three, four = panels.values()
    said = (said_of_gain(*one), said_of_discounted(*two, one), said_of_shares(*three))
    claims = (*said, said_of_discounted_shares(*four, three))
    return tuple(
        _section(name, figure, weights, each) for (name, figure), each in zip(panels.items(), claims, strict=True)
    )


def _section(name: str, panels: tuple[Panel, Panel], weights: Weights, said: Sequence[Claim]) -> Section:
    is_share = panels[0].ideal is None
    averaged = "ratios of means: the average vector over the average ideal one" if is_share else _MEANS
    last = [{str(curve.run): float(curve.values[-1]) for curve in panel.runs} for panel in panels]
    every_value = table(
        "",
        "panel | measure | average | run | rank # | value .",
        (
            (panel.letter, str(panel.measure), curve.average, curve.run or "(ideal)", rank, value)
            for panel in panels
            for curve in panel.all
            for rank, value in enumerate(curve.values.tolist(), 1)
        ),
        for_machines=True,
    )
    return Section.of(
        name,
        f"{panels[0].kind} by rank, {averaged}. (a) is {weights.flat}, (b) is {weights.tenfold}.",
        with_few_names(map(_plot, panels), last),
        map(_some_ranks, panels),
        claims_tables(f"Said of {name}", said),
        every_value,
    )


_MEANS = "means over queries, with the ideal"


def _plot(panel: Panel) -> Plot:
    ranks = tuple(float(rank) for rank in range(1, DEPTH + 1))
    lines = tuple(
        Line(curve.run or "ideal", ranks, tuple(curve.values.tolist()), "system" if curve.run else "ideal")
        for curve in panel.all
    )
    x, y = Axis("rank", 1.0, float(DEPTH), is_whole=True), Axis(panel.kind, 0.0, 1.0 if panel.ideal is None else None)
    return Plot(f"{panel.letter} {panel.kind}, {panel.gain}", x, y, lines)


def _some_ranks(panel: Panel) -> Table:
    ranks = table_ranks(DEPTH)
    highest = max(float(curve.values[-1]) for curve in panel.all)
    places = 3 if highest <= 1 else 2 if highest < 100 else 1
    first = len(panel.all) - len(panel.runs)
    marked = frozenset(
        (first + i, column)
        for column, rank in enumerate(ranks, 1)
        for i, value in enumerate(panel.at(rank))
        if value == max(panel.at(rank)) > 0
    )
    return table(
        f"{panel.letter} {panel.kind} at some ranks, {panel.gain}",
        (*head("run"), *head(f"{rank} .{places}" for rank in ranks)),
        ((curve.run or "(ideal)", *(float(curve.values[rank - 1]) for rank in ranks)) for curve in panel.all),
        "* best of its column",
        marked=marked,
        for_people=True,
    )
